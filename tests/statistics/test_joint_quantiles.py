"""JointExp: the table of sums, the draw, and what they mean for privacy."""

import itertools
import math
from collections import Counter
from fractions import Fraction as F

import mpmath
import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.noise import Script
from dpfast.errors import DataError
from dpfast.privacy import ZCDP, Draws, Pure, range_within
from dpfast.statistics.quantiles import joint
from dpfast.statistics.quantiles.joint import JointQuantiles

from ..reference.statistics import joint_quantiles as reference
from ..support.noise import p_value
from ..support.pairwise import quick_rows
from ..support.refused import refused
from .test_exponential_quantiles import LEVEL, near_pairs


def stream(seed=0):
    return dp.rng.InsecureGenerator(seed).stream()


def wide(number):
    return mpmath.ldexp(mpmath.mpf(number[0]), joint.BITS * number[1])


def summary(rows, last, qs, c):
    """Rows are cells of 0 .. last, of which 1 .. last are in the grid."""
    return joint.summary(np.array(sorted(rows), np.int64), (1, last), tuple(qs), c)


def probability(found, cells):
    """The probability with which `joint.draw` gives these cells, from the numbers it draws by."""
    table, m = found.table, len(cells)
    runs = [int(np.searchsorted(found.first, cell, side="right")) - 1 for cell in cells]
    step, stop, position, p = m + 1, len(found.at), found.n, mpmath.mpf(1)
    while step > 1:
        i, last = runs[step - 2], step - 1
        r = runs[:last].count(i)
        table.look(step, stop, position)
        weights = [wide(table.weight(step, position, k)) for k in range(stop)]
        terms = [wide(term) for term in table.terms(last, i)]
        p *= weights[i] / mpmath.fsum(weights) * terms[r - 1] / mpmath.fsum(terms)
        p /= mpmath.binomial(int(found.length[i]) + r - 1, r)
        step, stop, position = last - r + 1, i, int(found.at[i])
    return p


def pmf(rows, last, qs, c):
    found = summary(rows, last, qs, c)
    cells = itertools.combinations_with_replacement(range(1, last + 1), len(qs))
    return {each: probability(found, each) for each in cells}


CASES = np.random.default_rng(4)


def some_case():
    m, last = int(CASES.integers(1, 5)), int(CASES.integers(1, 7))
    qs = sorted(F(int(CASES.integers(0, 13)), 12) for _ in range(m))
    rows = CASES.integers(0, last + 1, int(CASES.integers(0, 9))).tolist()
    return rows, last, qs, float(CASES.choice([1e-3, 0.3, 2.0, 40.0, 250.0]))


@pytest.mark.parametrize("case", [some_case() for _ in range(60)], ids=repr)
def test_the_distribution_is_the_definition_within_the_rounding_that_is_paid_for(case):
    rows, last, qs, c = case
    with mpmath.workprec(200):
        got, want = pmf(*case), reference.pmf(rows, 1, last, qs, c)
        assert got.keys() == want.keys() and abs(sum(got.values()) - 1) < 1e-40
        worst = max(abs(mpmath.log(got[k] / p)) for k, p in want.items())
    assert worst < float(joint.rounding(len(qs)))


def fit(case, draws, c=None):
    rows, last, qs, rate = case
    want = {k: float(p) for k, p in reference.pmf(rows, 1, last, qs, rate).items()}
    found, bits = summary(rows, last, qs, rate if c is None else c), stream(3)
    return p_value(Counter(tuple(joint.draw(found, len(qs), bits)) for _ in range(draws)), want)


FITS = [
    ([1, 2, 2, 5], 6, [F(1, 4), F(1, 2), F(9, 10)], 0.4), ([], 4, [F(1, 2), F(1, 2)], 1.0),
    ([3, 3, 3, 3, 3], 5, [F(1, 5), F(4, 5)], 0.7), ([0, 1, 6, 7, 7], 7, [F(1, 3)], 1.3),
]  # fmt: skip


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("case", FITS, ids=repr)
def test_draws_follow_the_distribution(case):
    assert fit(case, 12_000) > LEVEL


@pytest.mark.full
def test_the_fit_catches_a_wrong_exponent_and_powers_instead_of_multisets(monkeypatch):
    assert fit(FITS[0], 12_000, c=0.5) < LEVEL

    def powers(length, r, bits):  # r independent cells, sorted: pairs of equals come half as often
        return sorted(joint.below(length, bits) for _ in range(r))

    monkeypatch.setattr(joint, "together", powers)
    assert fit(FITS[1], 12_000) < LEVEL


def test_a_coin_far_below_one_word_can_still_land():
    small, one = (2.0**-88, -1), (1.0, 0)  # 2**-600 and 1
    assert joint._coin(small, one, 1 << 60, Script([0] * 9 + [(1 << 40) - 1, 0]))
    assert not joint._coin(small, one, 1 << 60, Script([0] * 9 + [(1 << 40) + 1]))
    assert not joint._coin(small, one, 1 << 60, Script([0] * 8 + [1]))


def datasets(last, most):
    sizes, cells = range(most), range(last + 1)
    return [rows for n in sizes for rows in itertools.combinations_with_replacement(cells, n)]


def utilities(rows, last, qs):
    cells = itertools.combinations_with_replacement(range(1, last + 1), len(qs))
    return np.array([float(reference.utility(each, rows, qs)) for each in cells])


QS = [
    [F(1, 2)], [F(1, 10)], [F(19, 20)], [F(0)], [F(1)], [F(0), F(0)], [F(0), F(1)], [F(0), F(1, 2)],
    [F(1, 4), F(1, 2)], [F(1, 2), F(9, 10)], [F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)],
    [F(1, 5), F(2, 5), F(9, 10)],
]  # fmt: skip


@quick_rows(4)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("qs", QS, ids=str)
def test_the_range_by_enumeration(qs, relation):
    """The longest interval of changes of utilities over all neighbors: at the ends it is reached,
    and elsewhere half of it or more by the few rows that can be enumerated."""
    last, bound = 3, float(joint.spread(tuple(qs), relation))
    of = {rows: utilities(rows, last, qs) for rows in datasets(last, 5)}
    worst = max(np.ptp(of[a] - of[b]) for a, b in near_pairs(of, relation, range(last + 1)))
    assert bound / 2 - 1e-12 <= worst <= bound + 1e-12
    assert worst == bound or not all(q in (0, 1) for q in qs)


@quick_rows(1)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("loss", [Pure(F(1)), Pure(F(4)), ZCDP(F(1, 2))], ids=repr)
def test_neighbors_on_a_small_domain(loss, relation):
    last = 3
    for qs in ([F(1, 2)], [F(1, 4), F(9, 10)]):
        made = JointQuantiles(0.0, 1.0, relation, "raise", loss, False, qs=tuple(qs))
        epsilon = float(loss.epsilon if isinstance(loss, Pure) else range_within(loss.rho))
        rho = float(made.loss.to_zcdp().rho if isinstance(loss, Pure) else loss.rho)
        worst, curve = told_apart(last, 5, relation, qs, made.c)
        assert 0.4 * epsilon < worst <= epsilon
        assert curve <= rho
        # The control: with the exponent of monotone scores both bounds are broken.
        worst, curve = told_apart(last, 5, relation, qs, 2 * made.c)
        assert worst > epsilon
        assert curve > rho


def told_apart(last, most, relation, qs, c):
    """The largest log-ratio, and the largest Renyi divergence over its order, of all neighbors.

    Where rows are replaced, kept ones may come or go as well.
    """
    worst = curve = 0.0
    near = "both" if relation == "replace" else relation
    law = {
        rows: np.array([float(x) for x in pmf(list(rows), last, qs, c).values()])
        for rows in datasets(last, most)
    }
    for a, b in near_pairs(law, near, range(last + 1)):
        ratio = np.log(law[a] / law[b])
        worst = max(worst, np.abs(ratio).max())
        for order in (1.0001, 2.0, 8.0, 64.0):
            for r, base in ((ratio, law[b]), (-ratio, law[a])):
                divergence = math.log((base * np.exp(order * r)).sum()) / (order - 1)
                curve = max(curve, divergence / order)
    return worst, curve


def test_rounding_is_paid_out_of_epsilon():
    def made(loss, *qs):
        return JointQuantiles(0.0, 1.0, "replace", "raise", loss, False, qs=qs)

    for m in (1, 9, 99):
        own = made(Pure(F(1)), *(F(k, m + 1) for k in range(1, m + 1)))
        paid = 1 - 4 * F(own.c)
        assert paid >= 4 * F(8 * (m + 2) ** 2, 2**53) and paid < 1e-9
        assert own.loss == Draws(1, bounded_range=True)
    own, exact = made(ZCDP(F(1, 8)), F(1, 2)), range_within(F(1, 8))
    assert 1 < exact < 1.01 and F(own.c) * 4 < exact
    assert own.c == pytest.approx(float(exact) / 4, rel=1e-12)


def test_too_small_a_loss_is_refused_before_the_spend():
    given = {"data": [1.0], "qs": [0.5], "bounds": (0, 1), "method": "joint"}
    refused(dp.quantiles, r"epsilon must be at least .*rounding", **given, epsilon=1e-15)
    refused(dp.quantiles, "rho must be at least", budget=dp.Budget(rho=1), **given, rho=1e-30)


def test_too_many_rows_is_an_answer(monkeypatch):
    monkeypatch.setattr(joint, "MOST_ROWS", 3)
    asked = {"qs": [0.5], "bounds": (0, 1), "method": "joint", "epsilon": 1}
    with pytest.raises(DataError, match="recursive"):
        dp.quantiles([0.1, 0.2, 0.3, 0.4], **asked)
    assert dp.quantiles([0.1, 0.2, 0.3], **asked).shape == (1,)
