"""Noise scaled to a smooth bound that the caller has."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.rng import InsecureGenerator

from ..support.names import shown
from ..support.sensitivities import smooth_of

DATA = np.random.default_rng(0).random(999)
MEDIAN = float(np.sort(DATA)[499])


def bound(beta):
    return smooth_of(dp.Median, DATA, beta=beta, bounds=(0, 1))


@pytest.mark.parametrize(
    "loss", [dict(epsilon=0.3), dict(epsilon=6), dict(epsilon=1, delta=1e-6), dict(rho=0.5)]
)
@pytest.mark.parametrize("noise", ["auto", "cauchy", "student-t"])
def test_it_is_the_median_that_the_package_releases(loss, noise):
    """Value and bound from outside: the same bits as `dp.median` with the same random bits."""
    kw = dict(bounds=(0, 1), noise=noise, **loss)
    beta = dp.smooth_beta(noise=noise, **loss)
    for seed in range(5):
        want = dp.median(DATA, method="smooth", rng=InsecureGenerator(seed), **kw)
        called = dp.smooth_release(MEDIAN, bound, rng=InsecureGenerator(seed), **kw)
        given = dp.smooth_release(MEDIAN, bound(beta), beta=beta, rng=InsecureGenerator(seed), **kw)
        assert called == given == want


def test_the_noise_is_that_of_the_bound():
    """Twice the bound is twice the noise; a bound beyond the range counts as the range."""

    def noise(S, seed, value=500):
        rng = InsecureGenerator(seed)
        return dp.smooth_release(value, lambda beta: S, bounds=(0, 1000), epsilon=1, rng=rng)

    seeds = range(300)
    one, two, wide, whole = (
        np.array([noise(S, s) - 500 for s in seeds]) for S in (1, 2, 1e9, 1000.0)
    )
    inside = (abs(one) < 200) & (abs(one) > 0.1)
    assert np.allclose(two[inside], 2 * one[inside], rtol=1e-6) and inside.sum() > 200
    assert np.array_equal(wide, whole)
    assert not np.allclose(two, one)


def test_values_are_clipped_and_bounds_have_a_floor():
    for value, want in ((-1e300, 0.0), (math.inf, 8.0), (10**400, 8.0), (Fraction(9, 2), 4.5)):
        got = dp.smooth_release(value, lambda beta: 0.0, bounds=(0, 8), epsilon=100)
        assert got == pytest.approx(want, abs=1e-6)
    assert dp.smooth_release(3, lambda beta: 1, bounds=(2, 2), epsilon=1) == 2
    assert 0 <= dp.smooth_release(Decimal(3), lambda beta: math.inf, bounds=(0, 8), epsilon=1) <= 8


def test_the_function_is_called_once_after_the_spend():
    budget = dp.Budget(epsilon=1)
    seen = []

    def asked(beta):
        seen.append((beta, len(budget.history)))
        return 0.5

    dp.smooth_release(1, asked, bounds=(0, 8), epsilon=1, budget=budget)
    assert seen == [(dp.smooth_beta(epsilon=1), 1)]
    with pytest.raises(BudgetError):
        dp.smooth_release(1, asked, bounds=(0, 8), epsilon=1, budget=budget)
    assert len(seen) == 1


class Odd(float):
    def __float__(self):
        raise ZeroDivisionError


#: What a statistic may answer with on some data, and is no number.
NONE = [
    math.nan, "77125", b"7", None, True, np.True_, 7 + 1j, [7.0], np.array([7.0]), object(),
    Decimal("NaN"), Decimal("sNaN"), np.timedelta64(7), Odd(7),
]  # fmt: skip


@pytest.mark.parametrize("bad", [-1.0, *NONE], ids=shown)
def test_what_is_no_bound_is_told_after_the_spend(bad):
    """Whether it is a function of beta, or was computed before."""
    for bound, kw in (lambda beta: bad, {}), (bad, {"beta": dp.smooth_beta(epsilon=1)}):
        budget = dp.Budget(epsilon=1)
        with pytest.raises(DataError, match="not shown") as error:
            dp.smooth_release(1, bound, bounds=(0, 8), epsilon=1, budget=budget, **kw)
        assert len(budget.history) == 1 and error.value.__context__ is None
        assert "77125" not in str(error.value)


@pytest.mark.parametrize("bad", NONE, ids=shown)
def test_what_is_no_value_is_told_after_the_spend(bad):
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="value must be a number") as error:
        dp.smooth_release(bad, lambda beta: 1, bounds=(0, 8), epsilon=1, budget=budget)
    assert len(budget.history) == 1 and error.value.__context__ is None
    assert "77125" not in str(error.value)


def test_bad_arguments():
    budget = dp.Budget(epsilon=1)
    most = dp.smooth_beta(epsilon=1)

    def call(value=77.125, S=0.5, **kw):
        kw = dict(bounds=(0, 8), beta=most, epsilon=1, budget=budget) | kw
        return dp.smooth_release(value, S, **kw)

    for kw, match in [
        (dict(beta=None), "beta must be given"),
        (dict(beta=most * 1.001), "beta must be at most"),
        (dict(S=lambda beta: 1), "beta must be left out"),
    ]:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=match) as error:
            call(**kw)
        assert "77.125" not in str(error.value)
    assert not budget.history
    assert 0 <= call(beta=most / 2) <= 8
