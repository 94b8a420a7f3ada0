"""Numbers of the caller's with noise: cells, sensitivities in cells, and what is charged."""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.additive_release import in_cells, width_of_cells
from dpfast.statistics.bounded_release import METHODS, folded

from ..support.names import shown
from ..support.pairwise import quick_rows
from ..support.refused import refused
from ..support.sensitivities import smooth_of
from ..support.views import quoted


def made(values=0.5, **kw):
    return quoted(dp.additive_release, values, **{"sensitivity": 0.3, "epsilon": 1, **kw})


def farthest(size, norm, grid, whole, planted=0):
    """What L1, L2 squared and L-infinity norms of differences of cells exceed, by enumeration."""
    steps = [Fraction(k) for k in range(-4, 5)] if whole else [Fraction(k, 4) for k in range(-8, 9)]
    sensitivity = Fraction(3 if whole else 1)
    limit, grid = in_cells(sensitivity, norm, size, grid, whole), Fraction(grid)
    over = []
    for pair in itertools.product(itertools.product(steps, repeat=size), repeat=2):
        moved = [a - b for a, b in zip(*pair, strict=True)]
        length = sum(map(abs, moved)) if norm == "l1" else sum(x * x for x in moved)
        if length > (sensitivity if norm == "l1" else sensitivity**2):
            continue
        cells = [a // grid - b // grid for a, b in zip(*pair, strict=True)]
        sizes = list(map(abs, cells))
        found = sum(sizes), sum(c * c for c in cells), max(sizes), sum(c != 0 for c in cells)
        most = limit.l1 - planted, limit.l2_squared, limit.largest, limit.l0
        over += [cells] if any(x > y for x, y in zip(found, most, strict=True)) else []
    return over


@pytest.mark.parametrize(
    "size, norm, whole",
    [
        pytest.param(*one, marks=[pytest.mark.full] * (one != (1, "l1", True)))
        for one in itertools.product((1, 2), ("l1", "l2"), (True, False))
    ],
)
def test_no_numbers_are_further_apart_than_noise_is_made_for(size, norm, whole):
    """Planted: one cell less in L1."""
    given = size, norm, 1.0 if whole else 0.5, whole
    assert farthest(*given) == []
    assert (size, norm, whole) != (1, "l1", True) or farthest(*given, planted=1)


def test_the_grid_is_public_and_noise_is_on_it():
    assert made().grid == made(1e300).grid == width_of_cells(Fraction(3, 10))
    found = [dp.additive_release(0.7, sensitivity=0.3, epsilon=1) for _ in range(20)]
    assert all(Fraction(x) % Fraction(made().grid) == 0 for x in found)
    assert len(set(found)) == 20  # two alike by chance: 190 / (4 * 1.3e9) < 4e-8
    answer = dp.additive_release(np.arange(6).reshape(2, 3), sensitivity=1, epsilon=400)
    assert answer.shape == (2, 3) and np.abs(answer - np.arange(6).reshape(2, 3)).max() < 0.5
    assert isinstance(dp.additive_release(3, sensitivity=1, epsilon=1, whole=True), int)


def test_what_noise_is_made():
    for kw, distribution in (
        ({}, "laplace"),
        ({"epsilon": 5}, "staircase"),
        ({"epsilon": 5, "noise": "laplace"}, "laplace"),
        ({"epsilon": None, "rho": 0.1}, "gaussian"),
        ({"delta": 1e-2, "noise": "gaussian"}, "rounded-gaussian"),
    ):
        assert made(**kw).noise.distribution == distribution
    ball = made(np.zeros(100), norm="l2", delta=1e-5).noise
    assert ball.deviation < made(np.zeros(100), norm="l2").noise.deviation
    # One number of sensitivity D has the noise of D / epsilon, to a part in 2**29.
    ratio = made().noise.deviation * made().grid / (math.sqrt(2) * 0.3)
    assert 1 <= ratio < 1 + 2**-28
    of_two = {"sensitivity": 1, "norm": "l2", "rho": 0.25}
    assert made([1.0, 2.0], **of_two, epsilon=None).loss == ZCDP(0.25)
    # Half of the answers are within ln(2) scales, and not so for a planted scale.
    answers = dp.additive_release(np.zeros(4000), sensitivity=1, epsilon=0.5, noise="laplace")
    share, spread = np.mean(np.abs(answers) < 2 * math.log(2)), 5.5 * math.sqrt(0.25 / 4000)
    assert abs(share - 0.5) < spread < abs(np.mean(np.abs(answers) < 1) - 0.5)


def test_large_and_small_values():
    for value in (1e300, -1e300, 5e-324, 2**80, np.float32(3), np.uint64(2**63), Fraction(1, 3)):
        found = dp.additive_release(value, sensitivity=1e-3, epsilon=100)
        assert found == pytest.approx(float(value), abs=1e-3)
    wide = dp.additive_release([1e300, 1.0], sensitivity=1e-3, epsilon=100)
    assert wide == pytest.approx([1e300, 1.0], abs=1e-2)
    whole = dp.additive_release(2**90 + 1, sensitivity=1, epsilon=500, whole=True)
    assert whole == 2**90 + 1
    assert math.isfinite(dp.additive_release(1.7e308, sensitivity=1e300, epsilon=1))


def test_what_an_additive_release_refuses():
    one = {"sensitivity": 1, "epsilon": 1}
    for value in (math.nan, math.inf, [1.0, math.nan], 0.5):
        budget, kw = dp.Budget(epsilon=2), {"whole": True} if value == 0.5 else {}
        with pytest.raises(DataError, match="whole" if kw else "none is shown"):
            dp.additive_release(value, budget=budget, **one, **kw)
        assert len(budget.history) == 1
    for value in (None, "7654321", 1j, [], object()):
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            dp.additive_release(value, **one)
        assert "7654321" not in str(caught.value)
    of_rho = {"noise": "staircase", "rho": 1, "epsilon": None}
    of_two = {"noise": "staircase", "values": [1, 2]}
    for kw in (of_rho, of_two, {"noise": "gaussian"}, {"whole": True}):
        with pytest.raises(ArgumentError):
            made(**kw)


GIVEN = {"bounds": (-1.0, 3.0), "sensitivity": 0.25}
LOSSES = [{"epsilon": 1.0}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}]


def bounded(value=0.5, **kw):
    return quoted(dp.bounded_release, value, **{**GIVEN, "epsilon": 1, **kw})


@quick_rows(3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_answers_lie_in_the_bounds_near_the_value(method, loss):
    mechanism = quoted(dp.bounded_release, 0.5, **GIVEN, **loss, method=method)
    rng, grid = InsecureGenerator(2), Fraction(mechanism.cells.grid)
    found = np.array([mechanism.finish(mechanism.reduce(0.5), rng) for _ in range(800)])
    assert found.min() >= -1 and found.max() <= 3
    assert all(Fraction(one) % grid == 0 for one in found.tolist())
    bar, limit = mechanism.error(None, 0.95).half_width, 0.05 + 5 * math.sqrt(0.05 / 800)
    off = np.abs(found - 0.5)
    assert np.mean(off > bar) <= limit < np.mean(off > 0.4 * bar)
    assert method == "truncated" or np.mean((found == -1) | (found == 3)) < 0.01


def test_no_value_moves_further_than_the_noise_is_made_for():
    mechanism = bounded()
    values = np.unique(np.r_[np.linspace(-1.2, 3.2, 400), np.nextafter(0.5, [0, 1]), 0.25, 0.5])
    cells = np.array([mechanism.reduce(x) for x in values.tolist()])
    farthest = [cells[values <= x + 0.25][-1] for x in values.tolist()]
    assert np.abs(cells - farthest).max() <= mechanism.moved
    assert mechanism.moved == math.ceil(0.25 / mechanism.cells.grid)
    assert mechanism.reduce(0.75) - mechanism.reduce(0.5) == mechanism.moved
    assert mechanism.moved > 0.2 / mechanism.cells.grid  # planted: a smaller sensitivity
    assert bounded(sensitivity=100).moved == mechanism.cells.span  # no more than there is


def test_which_noise_and_what_is_charged():
    unit, domain = bounded().moved, bounded().domain
    for method in METHODS[1:]:
        assert bounded(method=method).noise == integer_noise(Pure(1), Sensitivity.of_one(unit))
    assert unit < domain.scale <= 2 * unit and domain.most == bounded().cells.span
    for limit, loss, spent in (
        ({"epsilon": 3, "delta": 1e-6}, {"epsilon": 1, "delta": 1e-7}, {"epsilon": 1, "delta": 0}),
        ({"rho": 1}, {"rho": 0.25}, {"rho": Fraction(1, 4)}),
    ):
        budget = dp.Budget(**limit)
        dp.bounded_release(0.5, **GIVEN, **loss, budget=budget)
        assert budget.spent == spent
    part = dp.privacy.pure_within(0.25)
    assert bounded(epsilon=None, rho=0.25).domain == bounded(epsilon=part).domain
    assert bounded(epsilon=None, rho=0.25).loss == ZCDP(0.25)
    assert bounded(epsilon=1).cells == bounded(3.0, epsilon=Fraction(1, 2**28)).cells


def test_a_bound_and_beyond():
    for method in METHODS:
        given = {"sensitivity": 1e-9, "epsilon": 400, "method": method}
        for value in (-1e300, -math.inf, -1.0):
            assert dp.bounded_release(value, bounds=(-1, 3), **given) == pytest.approx(-1, abs=1e-6)
        assert dp.bounded_release(7, bounds=(2, 2), **given) == 2.0
        answers = [dp.bounded_release(3.0, **GIVEN, epsilon=1, method=method) for _ in range(99)]
        # Half of the truncated ones; of others one in 1e8, so two by chance less than 1e-12.
        assert (answers.count(3.0) > 1) == (method == "truncated") and max(answers) <= 3
    line = [folded(u, 4) for u in range(-9, 10)]
    assert line == [1, 0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 3, 2, 1, 0, 1]
    assert {folded(u, 1) for u in range(-3, 4)} == {0, 1}


def test_what_a_bounded_release_refuses():
    for value in (math.nan, None, "x", True):
        budget = dp.Budget(epsilon=2)
        with pytest.raises(DataError, match="value must be a number, not NaN; its value is not"):
            dp.bounded_release(value, **GIVEN, epsilon=1, budget=budget)
        assert len(budget.history) == 1


DATA = np.random.default_rng(0).random(999)
MEDIAN = float(np.sort(DATA)[499])


def bound(beta):
    return smooth_of(dp.Median, DATA, beta=beta, bounds=(0, 1))


@pytest.mark.parametrize("loss", [*LOSSES, {"epsilon": 6}])
@pytest.mark.parametrize("noise", ["auto", "cauchy", "student-t"])
def test_it_is_the_median_that_the_package_releases(loss, noise):
    kw = dict(bounds=(0, 1), noise=noise, **loss)
    beta = dp.smooth_beta(noise=noise, **loss)
    for seed in range(5):
        want = dp.median(DATA, method="smooth", rng=InsecureGenerator(seed), **kw)
        called = dp.smooth_release(MEDIAN, bound, rng=InsecureGenerator(seed), **kw)
        given = dp.smooth_release(MEDIAN, bound(beta), beta=beta, rng=InsecureGenerator(seed), **kw)
        assert called == given == want


def test_the_noise_is_that_of_the_bound():
    """Twice the bound is twice the noise; a bound beyond the range counts as the range."""
    given = {"bounds": (0, 1000), "epsilon": 1}

    def noise(S, seed):
        return dp.smooth_release(500, lambda beta: S, **given, rng=InsecureGenerator(seed)) - 500

    one, two, wide, whole = np.array([[noise(S, i) for i in range(99)] for S in (1, 2, 1e9, 1e3)])
    inside = (abs(one) < 200) & (abs(one) > 0.1)
    assert np.allclose(two[inside], 2 * one[inside], rtol=1e-6) and inside.sum() > 66
    assert np.array_equal(wide, whole) and not np.allclose(two, one)


def test_values_are_clipped_and_bounds_have_a_floor():
    for value, want in ((-1e300, 0.0), (math.inf, 8.0), (10**400, 8.0), (Fraction(9, 2), 4.5)):
        got = dp.smooth_release(value, lambda beta: 0.0, bounds=(0, 8), epsilon=100)
        assert got == pytest.approx(want, abs=1e-6)
    assert dp.smooth_release(3, lambda beta: 1, bounds=(2, 2), epsilon=1) == 2
    assert 0 <= dp.smooth_release(Decimal(3), lambda beta: math.inf, bounds=(0, 8), epsilon=1) <= 8


class Odd(float):
    def __float__(self):
        raise ZeroDivisionError


#: What a statistic may answer with on some data, and is no number.
NONE = [
    math.nan, "77125", b"7", None, True, np.True_, 7 + 1j, [7.0], np.array([7.0]), object(),
    Decimal("NaN"), Decimal("sNaN"), np.timedelta64(7), Odd(7),
]  # fmt: skip


@pytest.mark.parametrize("what", ["value", "bound", "number"])
@pytest.mark.parametrize("bad", [-1.0, *NONE], ids=shown)
def test_what_is_no_value_or_no_bound_is_told_after_the_spend(bad, what):
    """Whether the bound is a function of beta, or was computed before."""
    if what == "value" and repr(bad) == "-1.0":
        return
    value, S = (bad, 1) if what == "value" else (1, bad)
    kw = {"beta": dp.smooth_beta(epsilon=1)} if what == "number" else {}
    budget, S = dp.Budget(epsilon=1), S if kw else lambda beta, S=S: S
    with pytest.raises(DataError, match="not shown") as error:
        dp.smooth_release(value, S, bounds=(0, 8), epsilon=1, budget=budget, **kw)
    assert len(budget.history) == 1 and error.value.__context__ is None
    assert "77125" not in str(error.value)


@pytest.mark.parametrize(("kw", "words"), [
    ({"beta": None}, "beta must be given"), ({"beta": 5}, "beta must be at most"),
    ({"smooth_sensitivity": lambda beta: 1}, "beta must be left out"),
])  # fmt: skip
def test_bad_arguments(kw, words):
    most = dp.smooth_beta(epsilon=1)
    given = {"value": 77.125, "smooth_sensitivity": 0.5, "bounds": (0, 8), "epsilon": 1}
    kw = {name: most * 1.001 if x == 5 else x for name, x in kw.items()}
    told = refused(dp.smooth_release, words, **{**given, "beta": most, **kw})
    assert "77.125" not in str(told)
    assert 0 <= dp.smooth_release(**given, beta=most / 2) <= 8
