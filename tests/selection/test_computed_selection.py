"""The exponential mechanism on scores that a function computes, through the public function."""

import math

import numba
import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SlowWarning
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


def seeded(seed):
    return dp.rng.InsecureGenerator(seed)


def draws(function, n, epsilon, size, **kw):
    return exponential(
        function, data=DATA, candidates=n, sensitivity=2, epsilon=epsilon, size=size, **kw
    )


@pytest.mark.full
def test_the_same_draws_as_from_stored_scores():
    n = 70_000
    table = np.random.default_rng(0).standard_normal(n) * 30

    @numba.njit
    def read(data, candidate):
        return data[candidate]

    for size in (None, 50):
        found = exponential(
            read, data=table, candidates=n, sensitivity=1, epsilon=0.7, size=size, rng=seeded(3)
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
