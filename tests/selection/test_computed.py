"""Scores that a function computes: the same as if they were stored, and what can go wrong."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest

from dpfast.errors import ArgumentError, ArgumentTypeError, SlowWarning
from dpfast.selection.scores import computed
from dpfast.selection.scores.computed import Computed
from dpfast.selection.scores.stored import Stored

from ..support.pairwise import pairwise, quick_rows


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
    holes[rng.random(1000) < 0.5] = -np.inf
    holes[300:500] = -np.inf
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
    table = [2**200, 2**200 - 1, Fraction(1, 3), -math.inf, -(10**400), 0.5, True]
    with pytest.warns(SlowWarning):
        scores = Computed(read, table, len(table))
    assert scores.peaks(2).tolist() == [0, 2.0**200, 2.0**200, 2.0**200]
    assert scores.distance(np.arange(5)).tolist() == [0, 1, 2.0**200, -1, math.inf]
    assert scores.exact(4) == 2**200 + 10**400
    assert scores.exact(2) == 2**200 - Fraction(1, 3)


@pytest.mark.parametrize(
    "value", [np.float32(0.5), np.int64(7), np.uint64(2**64 - 1), np.array(2.5), np.bool_(True)]
)
def test_numpy_numbers_from_a_python_function(value):
    with pytest.warns(SlowWarning):
        scores = Computed(lambda d, c: value if c else -1, None, 2)
    scores.peaks(1)
    assert scores.exact(0) == Fraction(value.item()) + 1


@pytest.mark.parametrize("value", ["1", None, 1j, (1,), np.zeros(2), np.complex64(1)])
def test_other_things_from_a_python_function(value):
    with pytest.warns(SlowWarning):
        scores = Computed(lambda d, c: value, None, 2)
    with pytest.raises(ArgumentTypeError, match="scores must be a function that returns") as caught:
        scores.peaks(1)
    assert type(value).__name__ in str(caught.value)


@pairwise(drop=True)
@pytest.mark.parametrize("kind", ["compiled", "python"])
@pytest.mark.parametrize("place", [0, 63, 64, 199])
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_scores_are_refused_as_stored_ones(kind, place, bad, stretch):
    table = np.full(200, -np.inf)
    table[20] = 1
    table[place] = bad
    with pytest.raises(ArgumentError) as expected:
        Stored(table).peaks(16)
    with pytest.raises(ArgumentError) as caught:
        make(kind, table).peaks(16)
    assert str(caught.value) == str(expected.value)
    assert caught.value.args[0].startswith("scores must be")


@pytest.mark.parametrize("count", [0, -1, 2**53 + 1, 1.0, "3", None, True])
def test_bad_counts(count):
    with pytest.raises((ArgumentError, ArgumentTypeError), match="candidates must be"):
        Computed(from_table, None, count)


def fails_at_77(data, candidate):
    if candidate == 77:
        raise IndexError("77")
    return 0.0


@pytest.mark.filterwarnings("ignore::dpfast.errors.SlowWarning")
@quick_rows(2)
@pytest.mark.parametrize("score", [fails_at_77, numba.njit(fails_at_77)])
def test_what_a_function_raises_passes(score, stretch):
    with pytest.raises(IndexError, match="77"):
        Computed(score, None, 100).peaks(8)


def test_candidates_taken_away(stretch):
    table = np.array([5.0, 4, 3, -np.inf, 9, 9, 1, 2, 7, 6])
    scores = Computed(from_table, np.tile(table, 10), 100)
    scores.peaks(4)
    gone = np.flatnonzero(np.tile(table, 10) == 9)
    left = np.tile(table, 10)
    left[gone] = -np.inf
    expected = Stored(left).peaks(4)
    assert np.array_equal(scores.without(gone), expected)
    assert scores.best == 7
    assert scores.exact(0) == 2
    everything_of_a_block = np.arange(8, 12)
    got = scores.without(everything_of_a_block)
    assert got[2] < 0 and got[1] == 0
