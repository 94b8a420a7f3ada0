"""`dp.audit`: what its methods minimise, when they recover bits, and how sharp the bound is."""

import itertools
import math
import sys
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import dpfast as dp
from dpfast.audit import reconstruction
from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.rng import InsecureGenerator

METHODS = ("lp", "lp-max", "least-squares")
ALL = pytest.mark.parametrize("method", METHODS)


def problem(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random(n) < 0.5, rng.random((m, n)) < 0.5, rng


OBJECTIVES = {
    "lp": lambda e: np.abs(e).sum(axis=-1),
    "lp-max": lambda e: np.abs(e).max(axis=-1),
    "least-squares": lambda e: (e**2).sum(axis=-1),
}


@ALL
@pytest.mark.parametrize("m", [3, 15])
def test_no_other_point_of_the_cube_does_better(method, m):
    """Against all corners, a grid of the whole cube, and points nearby."""
    rng = np.random.default_rng(m)
    a = rng.integers(0, 2, (m, 4)).astype(float)
    y = rng.normal(0, 1, m)
    z = reconstruction.METHODS[method](a, y)
    assert z.shape == (4,)
    cube = np.array(list(itertools.product(np.linspace(-0.5, 0.5, 11), repeat=4)))
    near = np.clip(z + rng.normal(0, 0.05, (5_000, 4)), -0.5, 0.5)
    if method != "least-squares":
        assert np.abs(z).max() <= 0.5 + 1e-9
    error = OBJECTIVES[method]
    for others in (cube, near):
        assert error(a @ z - y) <= error(others @ a.T - y).min() + 1e-9


@ALL
@pytest.mark.parametrize("way", ["sets", "single rows, again", "weights", "some without an answer"])
def test_exact_answers_give_all_bits_away(method, way):
    bits, queries, rng = problem(30, 200)
    if way == "single rows, again":
        queries = np.tile(np.eye(30, dtype=bool), (5, 1))
    if way == "weights":
        queries = rng.normal(0, 1, (60, 30))
    answers = queries @ (bits * 1.0)
    if way == "some without an answer":
        answers[rng.random(200) < 0.3] = np.nan
    found = dp.audit.reconstruct(answers, 30, queries=queries, method=method)
    assert found.dtype == bool and (found == bits).all()


def test_linear_programming_bears_with_answers_that_are_altogether_wrong():
    bits, sets, rng = problem(50, 500)
    answers = sets @ (bits * 1) + rng.normal(0, 0.5, 500)
    lies = rng.random(500) < 0.2
    answers[lies] = rng.choice([0, 1e3], lies.sum())
    correct = {
        method: (dp.audit.reconstruct(answers, 50, queries=sets, method=method) == bits).mean()
        for method in METHODS
    }
    assert correct["lp"] == 1.0
    assert correct["least-squares"] < 0.8 and correct["lp-max"] < 0.8


@pytest.mark.full
@pytest.mark.parametrize(("n", "m", "sigma"), [(60, 240, 3.0), (60, 600, 6.0), (40, 160, 2.0)])
def test_least_squares_does_as_well_as_is_expected(n, m, sigma):
    found = []
    for seed in range(30):
        bits, sets, rng = problem(n, m, seed)
        answers = sets @ (bits * 1) + rng.normal(0, sigma, m)
        guess = dp.audit.reconstruct(answers, n, queries=sets, method="least-squares")
        found.append((guess == bits).mean())
    expected = dp.audit.expected_recovery(n, queries=m, deviation=sigma)
    assert abs(np.mean(found) - expected) < 4 * np.std(found) / math.sqrt(30) + 0.5 / n
    wrong = dp.audit.expected_recovery(n, queries=m, deviation=2 * sigma)
    assert abs(np.mean(found) - wrong) > 4 * np.std(found) / math.sqrt(30) + 0.5 / n


def test_fewer_queries_than_bits_prefer_neither_value():
    """Of what is not asked about nothing is said; what is asked about is still found."""
    bits = np.array([True, False, True, False])
    sets = np.array([[1, 0, 0, 0], [0, 1, 0, 0]])
    found = dp.audit.reconstruct(sets @ bits, 4, queries=sets, method="least-squares")
    assert found.tolist() == [True, False, False, False]
    for method in METHODS:  # without answers
        found = dp.audit.reconstruct(lambda query: math.nan, 5, queries=3, method=method)
        assert found.tolist() == [False] * 5


def test_an_interface_is_asked_once_for_each_query_in_order():
    asked = []

    def answer(query):
        asked.append(query.copy())
        return query.sum()

    found = dp.audit.reconstruct(answer, 11, queries=50, rng=InsecureGenerator(1))
    assert found.all()
    assert np.shape(asked) == (50, 11) and asked[0].dtype == bool
    matrix = np.eye(11)
    asked.clear()
    dp.audit.reconstruct(answer, 11, queries=matrix, rng=InsecureGenerator(1))
    assert (np.array(asked) == matrix).all()


def drawn(n, m, rng):
    asked = []
    dp.audit.reconstruct(
        lambda query: asked.append(query) or 0, n, queries=m, method="least-squares", rng=rng
    )
    return np.array(asked)


def test_subsets_are_fair_and_independent():
    sets, again, other = (drawn(19, 4_000, InsecureGenerator(seed)) for seed in (8, 8, 9))
    assert (sets == again).all() and (sets != other).any()
    assert (drawn(19, 30, None) != drawn(19, 30, None)).any()
    assert np.abs(sets.mean(axis=0) - 0.5).max() < 5 * 0.5 / math.sqrt(4_000)
    signs = 2.0 * sets - 1
    together = signs.T @ signs / 4_000
    assert np.abs(together - np.eye(19)).max() < 5 / math.sqrt(4_000)
    assert abs((signs[1:] * signs[:-1]).mean()) < 5 / math.sqrt(19 * 4_000)


GOOD = {"answer": [1.0, 2.0], "n": 2, "queries": [[1, 0], [1, 1]]}


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        ({"n": 0}, "n"),
        ({"n": 3}, "queries"),
        ({"queries": 2}, "queries"),
        ({"queries": [["a", "b"]]}, "queries"),
        ({"queries": 1.5, "answer": sum}, "queries"),
        ({"queries": [[1, math.nan], [1, 1]]}, "queries"),
        ({"queries": [1, 0]}, "queries"),
        ({"queries": [[1, 0]]}, "answer"),
        ({"answer": [1.0, math.inf]}, "answer"),
        ({"answer": lambda query: "many"}, "answer"),
        ({"answer": lambda query: query}, "answer"),
        ({"method": "guess"}, "method"),
    ],
)
def test_bad_arguments_are_one_clear_error(bad, name):
    given = {**GOOD, **bad}
    expected, many = dp.audit.expected_recovery, {"n": 1, "queries": 9, "deviation": 1}
    for function, wrong in [
        *[(expected, {**many, k: v}) for k, v in [("n", 0), ("n", 9)]],
        *[(expected, {**many, "deviation": v}) for v in (math.inf, -1)],
        *[(dp.audit.recovery_bound, one) for one in ({}, {"rho": 1, "steps": 0})],
    ]:
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            function(**wrong)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=rf"^{name} must be ") as caught:
        dp.audit.reconstruct(given.pop("answer"), given.pop("n"), **given)
    error = caught.value
    assert error.__context__ is None or error.__suppress_context__
    assert "\n" not in str(error)


@pytest.mark.parametrize("method", ["lp", "lp-max"])
def test_without_scipy_the_message_says_how_to_get_it(method, monkeypatch):
    for name in ("scipy", "scipy.sparse", "scipy.optimize"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match="pip install scipy"):
        dp.audit.reconstruct([1.0], 1, queries=[[1]], method=method)
    assert dp.audit.reconstruct([1.0], 1, queries=[[1]], method="least-squares").tolist() == [True]


def test_the_bound_of_a_pure_loss_is_rounded_up():
    import mpmath

    drawn = np.random.default_rng(0).uniform(0, 4, 40)
    with mpmath.workprec(200):
        for epsilon in [1e-6, 0.1, 0.3, 1.0, 1.7, 3.0, 5.0, 20.0, 30.0, 600.0, 1e9, *drawn]:
            exact = 1 / (1 + mpmath.exp(-mpmath.mpf(float(epsilon))))
            bound = dp.audit.recovery_bound(epsilon=epsilon)
            assert min(exact, 1) <= bound <= min(1, exact * (1 + 1e-11))


def test_randomized_response_attains_it():
    """The coin that flips an answer shows heads with the rest of the probability."""
    from mpmath import mp

    told = 1 - dp.response.coin(Fraction(1), 1).probability(mp)
    assert dp.audit.recovery_bound(epsilon=1) == pytest.approx(float(told), rel=1e-11)
    rho = dp.privacy.Pure(1).to_zcdp().rho
    assert dp.audit.recovery_bound(rho=rho) == pytest.approx(float(told), rel=1e-9)


@pytest.mark.parametrize("rho", [1e-12, 1e-3, 0.1, 0.5, 2, 20])
def test_the_bound_of_rho_is_that_of_the_pure_loss_that_costs_it(rho):
    bound = dp.audit.recovery_bound(rho=rho)
    epsilon = math.log(bound / (1 - bound))
    assert epsilon * math.tanh(epsilon / 2) == pytest.approx(rho, rel=1e-3)
    # Gaussian noise tells less, and not much less.
    gaussian = NormalDist().cdf(math.sqrt(rho / 2))
    assert gaussian < bound and bound - 0.5 < 1.3 * (gaussian - 0.5)


@pytest.mark.full
def test_no_pair_of_distributions_tells_more():
    """All pairs of coins on a grid that satisfy a loss; some come near to the bound."""
    x, y = np.meshgrid(np.linspace(0.0005, 0.9995, 1000), np.linspace(0.0005, 0.9995, 1000))
    right = (1 + x - y) / 2
    e, delta = math.exp(0.8), 0.05
    pure = np.maximum.reduce([x / y, y / x, (1 - x) / (1 - y), (1 - y) / (1 - x)]) <= e
    rest = [x - e * y, y - e * x, (1 - x) - e * (1 - y), (1 - y) - e * (1 - x)]
    approx = np.maximum.reduce(rest) <= delta
    rho = 0.3
    concentrated = np.ones(x.shape, bool)
    for a in (1.0001, 1.5, 2, 4, 16, 64):
        for p, q in ((x, y), (y, x)):
            moment = np.exp(a * np.log(p) + (1 - a) * np.log(q))
            moment += np.exp(a * np.log(1 - p) + (1 - a) * np.log(1 - q))
            concentrated &= np.log(moment) / (a - 1) <= rho * a
    for allowed, loss in (
        (pure, {"epsilon": 0.8}),
        (approx, {"epsilon": 0.8, "delta": 0.05}),
        (concentrated, {"rho": 0.3}),
    ):
        bound = dp.audit.recovery_bound(**loss)
        assert bound - 0.002 < right[allowed].max() <= bound


def test_steps_are_groups():
    bound = dp.audit.recovery_bound
    assert bound(epsilon=0.5, steps=2) == bound(epsilon=1)
    assert bound(rho=0.25, steps=2) == bound(rho=1)
    own = dp.privacy.group(dp.privacy.Approx(0.5, 0.01), 2)
    assert bound(epsilon=0.5, delta=0.01, steps=2) == bound(epsilon=1, delta=own.delta)
    assert bound(epsilon=1, delta=0.3, steps=9) == 1.0
    assert bound(epsilon=1, delta=1e-9, steps=1) >= bound(epsilon=1)
    assert bound(epsilon=Fraction(1, 3)) == bound(epsilon=1 / 3)
    assert 0.5 <= bound(rho=1e-300) < 0.5 + 1e-9
    assert bound(rho=10**9) == bound(epsilon=10**9, delta=0.5) == 1.0


def test_what_an_allocation_of_rho_leaves_for_least_squares():
    """Noise for all answers together: more of them do not help."""
    assert dp.audit.expected_recovery(3, queries=4, deviation=0) == 1.0
    for m in (101, 1_000, 10**6):
        found = dp.audit.expected_recovery(100, queries=m, deviation=math.sqrt(m))
        assert found < NormalDist().cdf(math.sqrt(0.5 / 8)) < dp.audit.recovery_bound(rho=0.5)


@ALL
def test_a_bit_is_1_beyond_one_half(method):
    answers = [0.49, 0.51, 0.03, 0.97]
    found = dp.audit.reconstruct(answers, 4, queries=np.eye(4), method=method)
    assert found.tolist() == [False, True, False, True]
    pairs = dp.audit.reconstruct([0.98, 1.02], 4, queries=np.eye(4)[::2] + np.eye(4)[1::2],
                                 method="least-squares")  # fmt: skip
    assert pairs.tolist() == [False, False, True, True]


@ALL
@pytest.mark.parametrize("size", [1e308, 2.0**61, -1e300, np.inf])
def test_numbers_that_no_method_can_do_with_are_refused(method, size):
    queries, answers = np.eye(3), np.ones(3)
    with pytest.raises(ArgumentError, match="answer must be"):
        dp.audit.reconstruct(answers * [1, 1, size], 3, queries=queries, method=method)
    with pytest.raises(ArgumentError, match="queries must be"):
        dp.audit.reconstruct(answers, 3, queries=np.where(queries, size, 0), method=method)
    large = dp.audit.reconstruct(
        [2.0**60, -(2.0**60), np.nan], 3, queries=queries * 2.0**40, method=method
    )
    assert large[:2].tolist() == [True, False]
