"""Ranks of a column that is only counted, by their definition."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast.errors import DataError
from dpfast.summaries import counted
from dpfast.summaries.counted import CountedRanks
from dpfast.summaries.floyd_rivest import Target


class Numbers:
    """Numbers in memory, counted by definition; each statement and each number is counted, too."""

    is_whole = False

    def __init__(self, numbers, lo, hi):
        self.lo, self.hi = lo, hi
        self.numbers = np.asarray(numbers, float)
        self.statements = self.sent = 0

    def within(self, first, last):
        self.statements += 1
        numbers = np.clip(self.numbers, self.lo, self.hi)
        return numbers[(numbers >= first) & (numbers <= last) | np.isnan(numbers)]

    def between(self, first, last):
        some = self.within(first, last)
        some = some[some == some]
        return len(some), min(some, default=None), max(some, default=None)

    def counts(self, first, last, step):
        some = self.within(first, last)
        if step:
            magic = 1.5 * 2.0**52 * step
            some = (some + magic) - magic
        numbers, counts = np.unique(some, return_counts=True)
        self.sent += len(numbers)
        return numbers, counts


def same(numbers, lo, hi, rank, width):
    column = Numbers(numbers, lo, hi)
    ranks = CountedRanks(column)
    known = ranks.known_ranks(Target(lambda n: rank, width, None))
    ordered = np.sort(np.clip(column.numbers[column.numbers == column.numbers], lo, hi))
    assert (known.n, known.nan) == (len(ordered), len(column.numbers) - len(ordered))
    first, last = max(1, rank - width), min(len(ordered), rank + width)
    assert known.covers(first, last)
    assert np.array_equal(known.ranks(first, last), ordered[first - 1 : max(last, first - 1)])
    for value in [lo, hi, (lo + hi) / 2, *ordered[:: max(1, len(ordered) // 5)].tolist(), 5e-324]:
        if lo < value <= hi:
            assert ranks.less(value) == np.count_nonzero(ordered < value)
    return column


@pytest.fixture
def narrow(monkeypatch):
    """Few cells, and few numbers that are read, so that few rows take many statements."""
    monkeypatch.setattr(counted, "CELLS", 8)
    monkeypatch.setattr(counted, "FEW", 4)


floats = st.floats() | st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.5, 1.0, 5e-324, 2.0**53])


@given(
    st.lists(floats, max_size=60),
    st.lists(floats.filter(math.isfinite), min_size=2, max_size=2).map(sorted),
    st.integers(1, 70),
    st.integers(0, 9),
)
@pytest.mark.usefixtures("narrow")
def test_windows_are_those_of_the_sorted_rows(numbers, bounds, rank, width):
    lo, hi = (min(max(bound, -(2.0**960)), 2.0**960) for bound in bounds)
    same(numbers, lo, hi, rank, width)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("rank", [1, 50, 100, 151, 300])
def test_ties_and_ends_of_cells_are_counted_once(rank):
    ends = np.arange(-8, 8.25, 0.25)
    same(np.concatenate([ends, np.zeros(120), np.full(120, 0.75)]), -8, 8, rank, 3)


def test_few_statements_and_numbers_are_enough():
    numbers = np.random.default_rng(3).normal(0, 1, 300_000)
    column = Numbers(numbers, -10, 10)
    known = CountedRanks(column).known_ranks(Target(lambda n: n // 2, 100, None))
    assert known.ranks(150_000, 150_000) == np.sort(numbers)[149_999]
    assert column.statements == 2 and column.sent < 20_000
    column = Numbers(np.arange(100_000) % 121, 0, 120)  # few whole numbers
    column.is_whole = True
    known = CountedRanks(column).known_ranks(Target(lambda n: n // 2, 0, None))
    assert known.ranks(50_000, 50_000) == 60 and column.statements == 1


class Changing(Numbers):
    """Numbers of which one more is there whenever they are asked for."""

    def within(self, first, last):
        self.numbers = np.append(self.numbers, self.numbers[:1])
        return super().within(first, last)


@pytest.mark.usefixtures("narrow")
def test_rows_that_change_between_statements_are_an_error():
    for numbers in (np.arange(100.0), np.full(100, 7.0)):
        with pytest.raises(DataError, match="the rows changed between two statements"):
            CountedRanks(Changing(numbers, 0, 100)).known_ranks(Target(lambda n: 1, 2, None))
