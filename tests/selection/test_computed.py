"""Scores that a function computes: the same as if they were stored, and what can go wrong."""

import math
import warnings
from fractions import Fraction

import numba
import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SlowWarning
from dpfast.selection.api import exponential
from dpfast.selection.scores import computed
from dpfast.selection.scores.computed import Computed
from dpfast.selection.scores.stored import Stored

from ..support.pairwise import quick_rows
from ..support.refused import refused


@numba.njit
def from_table(table, candidate):
    return table[candidate]


def read(table, candidate):
    return table[candidate]


@pytest.fixture(params=[1 << 15, 64], ids=["one stretch", "stretches of 64"])
def stretch(request, monkeypatch):
    """With the short stretch the scores are not kept, so that every look evaluates again."""
    monkeypatch.setattr(computed, "STRETCH", request.param)
    return request.param


def tables():
    rng = np.random.default_rng(5)
    normal = rng.standard_normal(1000) * 10
    holes = normal.copy()
    holes[rng.random(1000) < 0.5] = holes[300:500] = -np.inf
    return {
        "float64": normal,
        "float32": normal.astype(np.float32),
        "holes": holes,
        "huge": np.clip(normal, -15, 15) * 1e307,
        "int64": rng.integers(-(2**63), 2**63, 1000),
        "close int64": 2**62 + rng.integers(0, 5, 1000),
        "uint64": rng.integers(0, 2**64, 1000, dtype=np.uint64),
        "int8": rng.integers(-128, 128, 1000).astype(np.int8),
        "bool": rng.random(1000) < 0.1,
        "equal": np.zeros(1000),
        "one": np.array([-3.25]),
        "33": np.arange(33),
    }


def make(kind, table):
    if kind == "compiled":
        return Computed(from_table, table, len(table))
    with pytest.warns(SlowWarning):
        return Computed(read, table, len(table))


@pytest.mark.full
@quick_rows(3)
@pytest.mark.parametrize("kind", ["compiled", "python"])
@pytest.mark.parametrize("name", list(tables()))
def test_the_same_as_stored(kind, name, stretch):
    table = tables()[name]
    scores, stored = make(kind, table), Stored(table)
    assert scores.count == len(table) and scores.slack == 0
    index = np.random.default_rng(1).integers(0, len(table), 300)
    for block in (1, 7, 16, 32, 100, 256, 1000, 1 << 20):
        assert np.array_equal(scores.peaks(block), stored.peaks(block))
        assert scores.best == stored.best
        assert np.array_equal(scores.distance(index), stored.distance(index))
        assert scores.distance(index[:0]).shape == (0,)
        for i in index[:20].tolist():
            if table[i] != -np.inf:
                assert scores.exact(i) == stored.exact(i)


def test_a_pass_evaluates_once(stretch):
    calls = np.zeros(200, np.int64)

    @numba.njit
    def score(data, candidate):
        data[candidate] += 1
        return -candidate

    scores = Computed(score, calls, 200)
    scores.peaks(16)
    assert (calls == 1).all()
    scores.distance(np.array([3, 70]))
    if stretch == 64:
        assert calls.tolist() == [2] * 32 + [1] * 32 + [2] * 32 + [1] * 104
    else:
        assert (calls == 1).all()


def test_integers_beyond_64_bits_and_fractions():
    table = [2**200, 2**200 - 1, Fraction(1, 3), -math.inf, -(10**400), np.float32(0.5)]
    table.append(np.array(1.5))
    with pytest.warns(SlowWarning):
        scores = Computed(read, table, len(table))
    assert scores.peaks(2).tolist() == [0, 2.0**200, 2.0**200, 2.0**200]
    assert scores.distance(np.arange(5)).tolist() == [0, 1, 2.0**200, -1, math.inf]
    assert scores.exact(4) == 2**200 + 10**400
    assert scores.exact(2) == 2**200 - Fraction(1, 3)


@numba.njit
def raises(data, candidate):
    if candidate == 30:
        raise ZeroDivisionError("candidate 30")
    return 0.0


@numba.njit
def pair(data, candidate):
    return (candidate, 0)


ONES = np.ones(9)
BAD = {
    "raises": (raises, None, 40, ZeroDivisionError, "candidate 30"),
    "NaN": (from_table, np.repeat([1.0, math.nan], 20), 40, ArgumentError, "scores.*got nan"),
    "inf": (from_table, np.repeat([1.0, math.inf], 20), 40, ArgumentError, "scores.*got inf"),
    "all excluded": (from_table, np.full(40, -math.inf), 40, ArgumentError, "scores must be"),
    "raises in Python": (raises.py_func, None, 40, ZeroDivisionError, "candidate 30"),
    "NaN in Python": (read, [math.nan] * 40, 40, ArgumentError, "scores must be.*got nan"),
    "no number": (pair, None, 40, ArgumentTypeError, "scores must be a function that returns"),
    "text in Python": (read, ["1"] * 9, 9, ArgumentTypeError, "a function that returns .*str"),
    "no candidates": (from_table, ONES, 0, ArgumentError, "candidates must be"),
    "count": (from_table, ONES, 2.5, ArgumentTypeError, "candidates must be"),
    "large count": (from_table, ONES, 2**53 + 1, ArgumentError, "candidates must be"),
    "no count": (from_table, ONES, None, ArgumentTypeError, "candidates must be"),
    "data": (from_table, object(), 40, ArgumentTypeError, "that Numba can compile"),
    "base": (from_table, ONES, 9, ArgumentError, "base must be", {"base": [0] * 9}),
    "axis": (from_table, ONES, 9, ArgumentError, "axis must be", {"axis": 1}),
    "a warning": (read, ONES, 9, SlowWarning, r"numba\.njit"),  # an error in these tests
}


@quick_rows(4)
@pytest.mark.parametrize("name", BAD)
def test_what_goes_wrong_in_the_pass_spends_nothing(name, stretch):
    function, data, count, error, words, *more = BAD[name]
    asked = {"data": data, "candidates": count, "sensitivity": 1, "epsilon": 0.5, **dict(*more)}
    with warnings.catch_warnings():
        warnings.simplefilter("error" if error is SlowWarning else "ignore", SlowWarning)
        refused(exponential, words, error, scores=function, **asked)


@pytest.mark.parametrize("n", [60, pytest.param(70_000, marks=pytest.mark.full)])
def test_draws_are_those_of_stored_scores_and_a_plain_function_warns_once(n):
    table, loss = np.random.default_rng(0).normal(0, 30, n), {"sensitivity": 1, "epsilon": 0.7}
    for size in (None, 50):
        stored = exponential(table, **loss, size=size, rng=dp.rng.InsecureGenerator(3))
        for function in (from_table, read):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                asked = {"data": table, "candidates": n, **loss, "size": size}
                found = exponential(function, **asked, rng=dp.rng.InsecureGenerator(3))
            assert np.array_equal(found, stored) and type(found) is type(stored)
            slow = [one.filename for one in seen if one.category is SlowWarning]
            assert slow == [__file__] * (function is read)


@numba.njit
def drifting(state, candidate):
    state[0] += 1
    return np.nan if state[0] > state[1] else state[0]


@pytest.mark.parametrize("healthy", [10_000, 10**9], ids=["NaN", "more"])
@pytest.mark.parametrize("function", [drifting, drifting.py_func], ids=["compiled", "python"])
@pytest.mark.filterwarnings("ignore::dpfast.errors.SlowWarning")
def test_a_function_with_a_memory_is_found_out_after_the_spend(function, healthy, monkeypatch):
    monkeypatch.setattr(computed, "STRETCH", 64)
    state, budget = np.array([0, healthy]), dp.Budget(epsilon=1, neighbors="replace")
    asked = {"candidates": 10_000, "sensitivity": 1, "epsilon": 0.5, "budget": budget}
    with pytest.raises(DataError, match=r"pure function.*is not refunded"):
        exponential(function, data=state, **asked)
    assert len(budget.history) == 1


def test_candidates_taken_away(stretch):
    table = np.array([5.0, 4, 3, -np.inf, 9, 9, 1, 2, 7, 6])
    scores = Computed(from_table, np.tile(table, 10), 100)
    scores.peaks(4)
    left = np.tile(table, 10)
    gone = np.flatnonzero(left == 9)
    left[gone] = -np.inf
    assert np.array_equal(scores.without(gone), Stored(left).peaks(4))
    assert scores.best == 7 and scores.exact(0) == 2
    got = scores.without(np.arange(8, 12))  # all of a block
    assert got[2] < 0 and got[1] == 0
