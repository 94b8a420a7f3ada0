"""One column in memory: where it is read, what is refused, its samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.tables import as_source, memory

pd = pytest.importorskip("pandas")


def words(count):
    return np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)


def test_a_column_is_read_where_it_lies():
    series = pd.Series([1.0, 2.0])
    assert np.shares_memory(as_source(series).array, series.to_numpy())
    source = as_source(pd.Series([2**62 + 1, None], dtype="Int64"))  # exact, and not as float64
    assert source.reduce(lambda chunk: chunk.values.tolist(), lambda a, b: a + b) == [2**62 + 1]


@settings(deadline=None)
@given(n=st.integers(1, 3000), count=st.integers(1, 300))
def test_places_of_a_sample(n, count):
    index = memory._strata(n, count, words)
    assert len(index) == min(n, count)
    assert index.min() >= 0
    assert index.max() < n


def test_a_sample_reaches_every_row():
    """Every row can be drawn; with constant words the same check fails."""

    def seen(source):
        rows = set()
        for _ in range(400):
            rows.update(memory._strata(103, 10, source).tolist())
        return len(rows)

    rng = np.random.default_rng(2)
    assert seen(lambda k: rng.integers(0, 2**64, k, dtype=np.uint64)) == 103
    assert seen(lambda k: np.zeros(k, np.uint64)) < 103
    assert memory._strata(2**40, 2, words).max() < 2**40
