"""The exponential mechanism on scores that a function computes, through the public function."""

import math

import numba
import numpy as np
import pytest
from scipy.stats import chisquare

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError, SlowWarning
from dpfast.selection.api import exponential
from dpfast.selection.scores import computed

from ..support.pairwise import quick_rows

DATA = np.random.default_rng(4).integers(0, 40, 500)


@numba.njit
def gap(data, candidate):
    """How far the number of values below the candidate is from half of them."""
    below = 0
    for x in data:
        below += x < candidate
    return -abs(2 * below - len(data))


@numba.njit
def gap_of_neighbor(data, candidate):
    return gap(data, candidate + 1)


def seeded(seed):
    return dp.rng.InsecureGenerator(seed)


def draws(function, n, epsilon, size, **kw):
    return exponential(
        function, data=DATA, candidates=n, sensitivity=2, epsilon=epsilon, size=size, **kw
    )


def pvalue(found, n, epsilon):
    score = np.array([gap.py_func(DATA, j) for j in range(n)])
    weight = np.exp(epsilon / 4 * (score - score.max()))
    expected = len(found) * weight / weight.sum()
    count = np.bincount(found, minlength=n)
    rare = expected < 5
    if rare.any():
        count = np.append(count[~rare], count[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return chisquare(count, expected).pvalue


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("short", [False, True], ids=["kept", "evaluated again"])
@pytest.mark.parametrize("block", [None, 16], ids=lambda b: f"block {b}")
def test_distribution(short, block, monkeypatch):
    from dpfast.selection import exponential_race as race

    if short:
        monkeypatch.setattr(computed, "STRETCH", 32)
    if block:
        monkeypatch.setattr(race, "block_length", lambda count, draws: block)
    found = draws(gap, 60, 0.05, 2500, rng=seeded(1))
    assert pvalue(found, 60, 0.05) > 1e-6
    shifted = draws(gap_of_neighbor, 60, 0.05, 2500, rng=seeded(1))
    assert pvalue(shifted, 60, 0.05) < 1e-6  # the planted fault


@pytest.mark.full
def test_the_same_draws_as_from_stored_scores():
    n = 70_000
    table = np.random.default_rng(0).standard_normal(n) * 30

    @numba.njit
    def read(data, candidate):
        return data[candidate]

    for size in (None, 50):
        found = exponential(
            read,
            data=table,
            candidates=n,
            sensitivity=1,
            epsilon=0.7,
            size=size,
            rng=seeded(3),
        )
        stored = exponential(table, sensitivity=1, epsilon=0.7, size=size, rng=seeded(3))
        assert np.array_equal(found, stored)
        assert type(found) is type(stored)


@pytest.mark.full
def test_a_plain_function_warns_once_and_draws_the_same():
    with pytest.warns(SlowWarning, match=r"numba\.njit") as seen:
        found = draws(gap.py_func, 40, 0.05, 20, rng=seeded(2))
    assert len(seen) == 1 and seen[0].filename == __file__
    assert np.array_equal(found, draws(gap, 40, 0.05, 20, rng=seeded(2)))


@numba.njit
def raises(data, candidate):
    if candidate == 30:
        raise ZeroDivisionError("candidate 30")
    return 0.0


@numba.njit
def bad(data, candidate):
    return data


@numba.njit
def pair(data, candidate):
    return (candidate, 0)


BAD = {
    "raises": (raises, None, 40, ZeroDivisionError),
    "NaN": (bad, math.nan, 40, ArgumentError),
    "inf": (bad, math.inf, 40, ArgumentError),
    "-inf": (bad, -math.inf, 40, ArgumentError),
    "no candidates": (gap, DATA, 0, ArgumentError),
    "count": (gap, DATA, 2.5, ArgumentTypeError),
    "no count": (gap, DATA, None, ArgumentTypeError),
    "no number": (pair, DATA, 40, ArgumentTypeError),
    "data": (gap, object(), 40, ArgumentTypeError),
}


@quick_rows(1)
@pytest.mark.parametrize("name", list(BAD))
def test_what_goes_wrong_in_the_pass_spends_nothing(name):
    function, data, count, error = BAD[name]
    budget = dp.Budget(epsilon=1, neighbors="replace")
    before = repr(budget)
    with pytest.raises(error):
        exponential(
            function, data=data, candidates=count, sensitivity=1, epsilon=0.5, budget=budget
        )
    assert repr(budget) == before


def test_the_warning_as_an_error_spends_nothing():
    budget = dp.Budget(epsilon=1, neighbors="replace")
    before = repr(budget)
    with pytest.raises(SlowWarning):  # warnings are errors in these tests
        draws(gap.py_func, 40, 0.5, None, budget=budget)
    assert repr(budget) == before


def test_a_draw_spends():
    budget = dp.Budget(epsilon=1, neighbors="replace")
    assert 0 <= draws(gap, 40, 0.75, None, budget=budget) < 40
    with pytest.raises(BudgetError):
        draws(gap, 40, 0.75, None, budget=budget)


def test_a_function_with_a_memory_is_found_out_after_the_spend(monkeypatch):
    monkeypatch.setattr(computed, "STRETCH", 64)
    state = np.zeros(1, np.int64)

    @numba.njit
    def score(data, candidate):
        data[0] += 1
        return data[0]

    budget = dp.Budget(epsilon=1, neighbors="replace")
    before = repr(budget)
    with pytest.raises(DataError, match="is not refunded"):
        exponential(score, data=state, candidates=10_000, sensitivity=1, epsilon=0.5, budget=budget)
    assert repr(budget) != before
