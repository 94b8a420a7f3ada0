"""What known distributions cost in rho: beside their Renyi divergences, order by order."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.noise.calibrated_integer import IntegerNoise, integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import Draws, Pure, convert, group
from dpfast.privacy.prices import rho_of_laplace, rho_of_range, rho_of_response
from dpfast.statistics.totals.count import CountMeasurement

from ..reference.privacy import losses as plain
from ..support.pairwise import every_value, quick_rows

EPSILONS = ["1e-6", "1e-3", "0.1", "0.5", "1", "2", "5", "10", "50"]
#: Orders 1 + t, from next to 1 to where D_a / a is next to nothing.
TIMES = np.concatenate([np.geomspace(1e-6, 1, 40), np.geomspace(1, 1e7, 120)])


def used(p, loss, times=TIMES):
    """The largest D_a / a of a pair, of which the log-ratios `loss` have probabilities `p`.

    The Kullback-Leibler divergence, which is the limit for orders to 1, is among them; for orders
    to infinity the limit is 0.
    """
    p, loss = np.array(p, np.float64), np.array(loss, np.float64)
    best = math.fsum(p * loss)
    for t in times:
        top = t * loss.max()
        if top < 500:
            log = math.log1p(math.fsum(p * np.expm1(t * loss)))
        else:
            with np.errstate(divide="ignore"):
                log = top + math.log(math.fsum(p * np.exp(t * loss - top)))
        best = max(best, log / t / (1 + t))
    return best


def held(price, p, loss, times=TIMES):
    """The price is not passed at any order, and the control: a thousandth less is."""
    assert float(price) * 0.999 < used(p, loss, times) <= float(price) * (1 + 1e-9)


def discrete_laplace(epsilon, cells, moved):
    """Return the distribution of the log-ratio; each tail, where it is constant, is one event."""
    h = float(epsilon) / cells
    k = np.arange(1, moved)
    p = [1.0, *(-math.expm1(-h) * np.exp(-h * k)), math.exp(-h * moved)]
    return np.array(p) / (1 + math.exp(-h)), h * np.array([moved, *(moved - 2 * k), -moved])


@every_value
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", [1, 2, 3, 10, 400])
def test_integer_laplace_noise(epsilon, cells):
    price = rho_of_laplace(F(epsilon), cells)
    held(price, *discrete_laplace(F(epsilon), cells, cells))
    for moved in {1, cells // 2, cells - 1} - {0, cells}:
        worst = used(*discrete_laplace(F(epsilon), cells, moved))
        assert worst <= float(price) * moved / cells * (1 + 1e-9)  # so vectors cost no more


def exact_prices(epsilon):
    e = plain.number(epsilon)
    x = mpmath.expm1(e) / e
    yield rho_of_range(epsilon), mpmath.log(x) - 1 + 1 / x
    for cells in (0, 1, 2, 37, 10**20):
        h = e / cells if cells else mpmath.mpf(0)
        factor = h / mpmath.sinh(h) if cells else 1
        yield rho_of_laplace(epsilon, cells), e + mpmath.expm1(-e) * factor
    for k in (2, 3, 4):
        wanted = e * mpmath.expm1(e) / (mpmath.exp(e) + k - 1)
        yield rho_of_response(epsilon, k), wanted


@pytest.mark.parametrize("epsilon", ["1e-25", "1e-15", "1e-6", "0.3", "1", "7", "50", "900", "1e8"])
def test_prices_are_the_formulas_rounded_up(epsilon):
    with mpmath.workdps(120):
        for got, exact in exact_prices(F(epsilon)):
            # Where it is plain epsilon or half its square, that is no more than a little larger.
            slack = mpmath.mpf(1e-4 if F(epsilon) > 10**6 else 1e-13)
            least = exact * (1 - mpmath.mpf(10) ** -60)
            assert least <= plain.number(got) <= exact * (1 + slack)


def moments(kind, e):
    """E[exp(t L)] under the first of a pair of the worst loss L, as a function of t."""
    exp = mpmath.exp
    if kind == "continuous":
        return lambda t: ((1 + t) * exp(t * e) + t * exp(-(1 + t) * e)) / (1 + 2 * t)
    if kind[0] == "cells":
        m = kind[1]
        h = e / m
        q = exp(-h)
        cells = [((1 - q) * q**k, h * (m - 2 * k)) for k in range(1, m)]
        points = [(1, e), *cells, (q**m, -e)]
        points = [(p / (1 + q), loss) for p, loss in points]
    elif kind[0] == "answers":
        whole = mpmath.expm1(e) + kind[1]
        points = [(exp(e) / whole, e), (1 / whole, -e), ((kind[1] - 2) / whole, mpmath.mpf(0))]
    else:  # two points e apart, of which the mean is the largest
        x = mpmath.log(mpmath.expm1(e) / e)
        p = mpmath.expm1(x - e) / mpmath.expm1(-e)
        points = [(p, x), (1 - p, x - e)]
    return lambda t: mpmath.fsum(p * exp(t * loss) for p, loss in points)


def supremum(moment):
    """The largest D_a / a over orders a = 1 + t: a search in a bracket about the best of a grid."""

    def used(x):
        t = mpmath.mpf(10) ** x
        return mpmath.log(moment(t)) / t / (1 + t)

    grid = [mpmath.mpf(x) / 2 for x in range(-50, 11)]
    best = max(range(len(grid)), key=lambda i: used(grid[i]))
    low, high = grid[max(0, best - 1)], grid[min(len(grid) - 1, best + 1)]
    for _ in range(90):
        one, two = (2 * low + high) / 3, (low + 2 * high) / 3
        low, high = (one, high) if used(one) < used(two) else (low, two)
    return max(used(low), used(grid[best]))


PRICES = {
    "continuous": lambda e: rho_of_laplace(e, 0),
    **{("cells", m): lambda e, m=m: rho_of_laplace(e, m) for m in (1, 2, 7)},
    **{("answers", k): lambda e, k=k: rho_of_response(e, k) for k in (2, 3, 5, 40, 10**6)},
    "range": rho_of_range,
}


@every_value
@pytest.mark.parametrize("kind", PRICES, ids=str)
@pytest.mark.parametrize("epsilon", ["1", "0.01", "4", "25"])
def test_prices_are_the_suprema_to_many_digits(kind, epsilon):
    """In 60 digits: no order costs more, and the control, a hundred-millionth less, is passed."""
    price = PRICES[kind](F(epsilon))
    with mpmath.workdps(60):
        worst = supremum(moments(kind, plain.number(F(epsilon))))
        said = plain.number(price)
        assert said * (1 - mpmath.mpf(10) ** -8) < worst <= said * (1 + mpmath.mpf(10) ** -30)
        if epsilon == "1":
            # The planted fault: what is right for noise of many cells, or for more answers.
            wrong = {"continuous": F("0.36"), "range": F("0.12")}
            least = min(p(F(1)) for p in PRICES.values()) * F(999, 1000)
            assert worst > plain.number(wrong.get(kind) or least)


def vectors(l1, most):
    for cut in itertools.combinations_with_replacement(range(most, -1, -1), l1):
        if sum(cut) <= l1:
            yield [m for m in cut if m]


VECTORS = [(1, 1), (2, 1), (2, 2), (4, 2), (5, 2), (5, 3), (6, 4), (7, 3)]


@quick_rows(5)
@pytest.mark.parametrize("l1, most", VECTORS)
@pytest.mark.parametrize("epsilon", ["0.01", "1", "6"])
def test_what_noise_for_a_vector_is_charged(epsilon, l1, most):
    """Enumerated: all ways to divide a move, each coordinate with noise of scale l1 / epsilon."""
    noise = integer_noise(Pure(F(epsilon)), Sensitivity(l1 // most + 1, l1, l1**2, most))
    assert noise.distribution == "laplace" and noise.scale == l1 / F(epsilon)
    price = noise.loss.to_zcdp().rho
    h, worst = F(epsilon) / l1, 0.0
    for moves in vectors(l1, most):
        p, loss = np.ones(1), np.zeros(1)
        for m in moves:
            own, other = discrete_laplace(h * m, m, m)
            p, loss = np.outer(p, own).ravel(), np.add.outer(loss, other).ravel()
        worst = max(worst, used(p, loss))
    assert worst <= float(price) * (1 + 1e-9)
    assert l1 % most or worst > 0.999 * float(price)  # else a bound
    assert price <= Pure(F(epsilon)).to_zcdp().rho


@pytest.mark.parametrize("loss", [Draws(1, cells=0), Draws(3, 2, cells=4), Draws(0.1, 3, True)])
def test_groups(loss):
    """The same distribution for so many times the move, never more than zCDP says of any."""
    for size in (2, 3, 5):
        found = group(loss, size)
        assert found.epsilon == size * loss.epsilon and found.draws == loss.draws
        assert found.to_zcdp().rho <= size**2 * loss.to_zcdp().rho
        if loss.cells:
            pair = discrete_laplace(loss.epsilon / loss.draws, loss.cells, size * loss.cells)
            held(float(found.to_zcdp().rho / loss.draws), *pair)
            assert used(*pair) > size * float(loss.to_zcdp().rho / loss.draws)  # the control
    assert convert(loss, "add-remove", "replace") == group(loss, 2)


def two_points(epsilon, t):
    """Log-ratios t and t - epsilon, with the probabilities that make them a pair."""
    p = math.expm1(t - epsilon) / math.expm1(-epsilon)
    return [p, 1 - p], [t, t - epsilon]


@quick_rows(1)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_draws_of_bounded_range(epsilon):
    e, price = float(F(epsilon)), rho_of_range(F(epsilon))
    places = {*np.linspace(1e-3, 0.999, 60), *(1 - np.geomspace(1e-6, 1, 40))} - {0}
    best = math.log(math.expm1(e) / e) / e
    worst = max(used(*two_points(e, t * e)) for t in [*places, best])
    assert 0.999 * float(price) < worst <= float(price) * (1 + (1e-3 if e < 1e-5 else 1e-6))
    assert price <= min(F(epsilon) ** 2 / 8, Pure(F(epsilon)).to_zcdp().rho)


def answers(epsilon, k):
    """The distribution of the log-ratio of two true answers, the k - 2 others as one event."""
    whole = math.expm1(epsilon) + k
    p = np.array([math.exp(epsilon), 1.0, k - 2.0]) / whole
    return p[p > 0], np.array([epsilon, -epsilon, 0.0])[p > 0]


@quick_rows(6)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7, 8, 9, 12, 100, 10**4, 10**8])
def test_one_of_k_answers(epsilon, k):
    price = float(rho_of_response(F(epsilon), k))
    p, loss = answers(float(F(epsilon)), k)
    assert abs(p.sum() - 1) < 1e-12
    # Orders where it is looked for: between those of `used`, as fine as the control needs.
    held(price, p, loss, np.geomspace(1e-3, 200, 500) / float(F(epsilon)))
    assert used(p, loss) <= price * (1 + 1e-9)


@quick_rows(2)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 8.0])
def test_unary_encoding(epsilon):
    """The bits of three categories, each pattern by itself, for all pairs of values or of none."""
    charged = dp.Budget(epsilon=100).cost(dp.response.unary, [0, 1], categories=3, epsilon=epsilon)
    price, q = float(charged.to_zcdp().rho), 1 / (math.exp(epsilon) + 1)
    rates = [np.where(np.arange(3) == i, 0.5, q) for i in range(4)]  # the last is of no value
    bits = np.array([*itertools.product((0, 1), repeat=3)])
    kinds = [np.where(bits, rate, 1 - rate).prod(axis=1) for rate in rates]
    worst = max(used(p, np.log(p / r)) for p, r in itertools.permutations(kinds, 2))
    assert 0.8 * price < worst <= price * (1 + 1e-9)
    assert price < 0.6 * float(Pure(F(epsilon)).to_zcdp().rho) or epsilon > 2


X = np.linspace(0, 9, 40)
WHERE = X > 3
TABLE = np.stack([X, X], axis=1)

MOVING, REPLACED = {"neighbors": "add-remove"}, {"neighbors": "replace"}
LIMITS = {"bounds": (0, 9), **REPLACED}
SOME, BINS = {"where": WHERE, **LIMITS}, {"bins": [0, 3, 9], **REPLACED}
WEIGHED = {"weights": X, "weight_bounds": (0, 9), **LIMITS}
BLOCKS = {"estimator": "mean", "blocks": 10, "aggregator": "mean", **LIMITS}
DRAWN = {"method": "exponential", **LIMITS}
RECURSIVE = LIMITS | {"qs": [0.1, 0.5, 0.9, 0.95], "method": "recursive"}
CHARGED = {
    "count": (dp.count, MOVING, Pure(1)),
    "sum": (dp.sum, LIMITS, "one number"),
    "sum of some": (dp.sum, {**SOME, "bounds": (-9, 9)}, "one number"),
    "mean": (dp.mean, LIMITS, "one number"),
    "mean, n private": (dp.mean, LIMITS | MOVING, "one number"),
    "mean of some": (dp.mean, SOME, Pure(1)),
    "variance": (dp.variance, LIMITS, "one number"),
    "variance of some": (dp.variance, SOME, Pure(1)),
    "weighted sum": (dp.sum, WEIGHED, "one number"),
    "covariance of one": (dp.covariance, {"bounds": [(0, 9), (1, 1)], **REPLACED}, Pure(1)),
    "histogram": (dp.histogram, BINS, Draws(1, 2, cells=1)),
    "histogram, n private": (dp.histogram, BINS | MOVING, Pure(1)),
    "sums of columns": (dp.sum, LIMITS | {"axis": 0}, Pure(1)),
    "median": (dp.median, DRAWN, Draws(1, 1, True)),
    "minimum": (dp.minimum, DRAWN, Draws(1, 1, True)),
    "quantiles": (dp.quantiles, RECURSIVE, Draws(1, 3, True)),
    "joint": (dp.quantiles, LIMITS | {"qs": [0.1, 0.9], "method": "joint"}, Draws(1, 1, True)),
    "aggregate": (dp.sample_and_aggregate, BLOCKS, Draws(1, cells=0)),
    "k-ary": (dp.response.kary, {"categories": 5}, Draws(1, categories=5)),
}


@pytest.mark.parametrize("name", CHARGED)
def test_a_budget_in_rho_is_charged_the_price(name):
    call, kw, wanted = CHARGED[name]
    data = X.astype(np.int64) if name == "k-ary" else X
    if "columns" in name or "covariance" in name:
        data = TABLE
    budget = dp.Budget(rho=2)
    cost = dp.Budget(epsilon=1).cost(call, data, epsilon=1, **kw)
    assert budget.cost(call, data, epsilon=1, **kw) == cost.to_zcdp()
    call(data, epsilon=1, budget=budget, **kw)
    assert budget.history[0].loss == cost and cost.epsilon == 1
    if isinstance(wanted, Pure):
        assert cost == wanted
    else:
        assert cost == Draws(1, cells=cost.cells) and cost.cells > 2**20
    assert budget.spent["rho"] == cost.to_zcdp().rho
    assert budget.spent["rho"] <= Pure(1).to_zcdp().rho
    other = dp.Budget(epsilon=1)
    call(data, epsilon=1, budget=other, **kw)
    assert other.remaining["epsilon"] == 0
    # A release under add-remove counts for replace as a move of twice the length.
    if cost != Pure(1) and kw.get("neighbors") == "add-remove":
        moved = dp.Budget(rho=9, neighbors="replace")
        call(data, epsilon=1, budget=moved, **kw)
        assert moved.spent["rho"] == rho_of_laplace(F(2), 2 * cost.cells)


def drawn(name, monkeypatch):
    """What the noise that a call draws costs, and what the call is charged, in rho."""
    (call, kw, _), seen, own, budget = CHARGED[name], [], IntegerNoise.draw, dp.Budget(rho=2)

    def draw(self, size, generator):
        seen.append(self.loss.to_zcdp().rho)
        return own(self, size, generator)

    with monkeypatch.context() as patch:
        patch.setattr(IntegerNoise, "draw", draw)
        call(X, epsilon=1, budget=budget, **kw)
    (cost,) = seen
    return cost, budget.spent["rho"]


LAPLACE = ["count", "sum", "sum of some", "mean", "mean, n private", "variance", "weighted sum"]


@pytest.mark.parametrize("name", [*LAPLACE, "histogram", "histogram, n private"])
def test_noise_costs_no_more_than_is_charged(name, monkeypatch):
    cost, charged = drawn(name, monkeypatch)
    assert cost <= charged
    if name == "count":
        # The planted fault: the loss by which the distribution is chosen, for cells without number.
        monkeypatch.setattr(CountMeasurement, "loss", property(lambda _: Draws(1, cells=2**32)))
        cost, charged = drawn(name, monkeypatch)
        assert cost > charged


def test_draws_have_one_distribution():
    for other in ({"bounded_range": True}, {"categories": 3}):
        with pytest.raises(ArgumentError, match="draws must be of one kind"):
            Draws(1, cells=0, **other)
