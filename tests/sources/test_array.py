"""Arrays and columns in memory: every row once, no copy of the whole, what is refused."""

from __future__ import annotations

import tracemalloc
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.sources import CHUNK_DTYPES, Source, as_source, memory
from dpfast.summaries.order import Ranks

from ..support.names import shown

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


def words(count):
    return np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)


def read(source):
    """All values in row order, nulls, and rows; checks what a chunk promises."""

    def summarise(chunk):
        assert chunk.values.ndim == 1
        assert chunk.values.dtype == source.dtype
        assert chunk.values.dtype.isnative
        assert chunk.values.flags.c_contiguous
        return [(chunk.start, chunk.values.tolist(), chunk.nulls)]

    chunks = sorted(source.reduce(summarise, lambda a, b: a + b))
    at = 0
    for start, values, nulls in chunks:
        assert start == at
        at += len(values) + nulls
    assert source.length in (None, at)
    nulls = sum(c[2] for c in chunks)
    assert source.nulls in (None, nulls)
    return [v for c in chunks for v in c[1]], nulls, at


def check(data, values, nulls=0):
    source = as_source(data)
    assert isinstance(source, Source)
    assert source.dtype in CHUNK_DTYPES
    assert read(source) == (list(values), nulls, len(values) + nulls)
    sample = source.sample(50, words)
    assert sample is not None
    assert sample.dtype == source.dtype
    assert set(sample.tolist()) <= set(values)


@pytest.mark.parametrize("dtype", [d.str for d in CHUNK_DTYPES] + ["<f2", "|b1"])
def test_numpy_arrays_of_every_form(dtype, monkeypatch):
    monkeypatch.setattr(memory, "BLOCK", 16)
    base = (np.random.default_rng(0).integers(0, 2, 101) * 3).astype(dtype)
    values = [v * 1 for v in base.tolist()]
    check(base, values)
    check(base.astype(base.dtype.newbyteorder()), values)
    check(base.repeat(3)[::3], values)
    check(base[::-1], values[::-1])
    check(np.stack([base, base], axis=1)[:, 1], values)
    check(np.broadcast_to(base[:1], (40,)), values[:1] * 40)
    check(base[:0], [])
    locked = base.copy()
    locked.flags.writeable = False
    check(locked, values)
    raw = np.zeros(base.nbytes + 1, np.uint8)
    odd = raw[1:].view(dtype)  # not aligned
    odd[:] = base
    check(odd, values)


def test_memory_maps(tmp_path):
    data = np.random.default_rng(1).normal(size=200_000)
    np.save(tmp_path / "a.npy", data)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    check(mapped, data.tolist())
    check(mapped[5::7], data[5::7].tolist())
    found = Ranks(mapped).window(lambda n: n // 2, 50)
    np.testing.assert_array_equal(found.values, np.sort(data)[99_949:100_050])
    ordered = np.sort(data)
    np.save(tmp_path / "b.npy", ordered)  # pages are as unlike each other as they can be
    mapped = np.load(tmp_path / "b.npy", mmap_mode="r")
    found = Ranks(mapped).window(lambda n: n // 2, 50)
    np.testing.assert_array_equal(found.values, ordered[99_949:100_050])


def test_masked_arrays():
    data = np.arange(100_000)
    mask = data % 3 == 0
    check(np.ma.array(data, mask=mask), data[~mask].tolist(), int(mask.sum()))
    check(np.ma.array([1.0, 2.0]), [1.0, 2.0])
    check(np.ma.array([1, 2], mask=True), [], 2)


def test_lists_and_series():
    check([3, 1, 2], [3, 1, 2])
    check((0.5, 1.5), [0.5, 1.5])
    check([], [])
    check(range(4), [0, 1, 2, 3])
    check(deque([1, True]), [1, 1])
    check(pd.Series([1.0, 2.0]), [1.0, 2.0])
    assert np.shares_memory(as_source(series := pd.Series([1.0, 2.0])).array, series.to_numpy())
    check(pd.Series([4, None, 6], dtype="Int64"), [4, 6], 1)
    check(pd.Series([2**62 + 1, None], dtype="Int64"), [2**62 + 1], 1)
    check(pd.Series([1, 2, None], dtype="int64[pyarrow]"), [1, 2], 1)


def test_arrow_columns(monkeypatch):
    monkeypatch.setattr(memory, "BLOCK", 4)
    check(pa.array([1, None, 3]), [1, 3], 1)
    check(pa.array([], pa.int16()), [])
    check(pa.array([None, None]), [], 2)
    check(pa.array([True, None, False]), [1, 0], 1)
    check(pa.array(np.float16([1, 2]), pa.float16()), [1.0, 2.0])
    check(pa.chunked_array([[1.5, None], [], [2.5] * 9, [None]]), [1.5] + [2.5] * 9, 2)
    check(pa.chunked_array([], pa.int32()), [])
    check(pa.array(range(100)).slice(7, 60), list(range(7, 67)))
    check(pa.array([5, None] * 30).slice(1, 58), [5] * 29, 29)
    check(pa.array([1, 2, 1]).dictionary_encode().cast(pa.int64()), [1, 2, 1])


class Stream:
    """Someone else's column: nothing but the protocol."""

    def __init__(self, column):
        self.column = column

    def __arrow_c_stream__(self, requested_schema=None):
        return self.column.__arrow_c_stream__(requested_schema)


def test_the_arrow_protocol():
    check(Stream(pa.chunked_array([[1, None], [3]])), [1, 3], 1)
    with pytest.raises(ArgumentTypeError, match="one column, not a table"):
        as_source(Stream(pa.table({"a": [1]})))


class Capsule:
    """Nothing but DLPack."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_dlpack():
    check(Capsule(np.arange(5.0)), [0.0, 1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    "data",
    [
        np.array(["a", "b"]),
        np.array([1j]),
        np.array(["2020-01-01"], "M8[D]"),
        np.array([1], "m8[s]"),
        np.zeros(2, [("a", "f8")]),
        np.zeros(2, np.longdouble),
        pa.array(["a"]),
        pa.array([1], pa.timestamp("s")),
        pd.Series(["a"]),
    ],
    ids=shown,
)
def test_other_types_are_refused(data):
    with pytest.raises(ArgumentTypeError, match=r"^column must be"):
        as_source(data, "column")


@pytest.mark.parametrize("data", [np.zeros((2, 2)), np.float64(1), 3, np.zeros((0, 0))])
def test_other_shapes_are_refused(data):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=r"data must be .*one-dim"):
        as_source(data)


class Unreadable:
    """A column on another device, or one that needs a gradient: NumPy cannot have it."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("secret 4711")


class UnreadableCapsule(Capsule):
    def __dlpack__(self, **options):
        raise BufferError("secret 4711")


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame({"a": [4711]}),
        pd.DataFrame({"a": [4711], "b": ["x"]}),
        pa.table({"a": [4711]}),
        pa.record_batch({"a": [4711]}),
        {4711: 4711},
        {4711},
        (value for value in [4711]),
        "4711.csv",
        None,
        np.full((2, 4711), 4711),
        Unreadable(),
        UnreadableCapsule(np.arange(3.0)),
    ],
    ids=lambda data: type(data).__name__,
)
def test_an_error_about_data_repeats_none_of_them(data):
    """It comes before a spend, so a value in it would be an answer for nothing."""
    budget = dp.Budget(epsilon=1)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^data must be ") as caught:
        dp.median(data, bounds=(0, 1), epsilon=1, budget=budget)
    assert "4711" not in str(caught.value) + repr(caught.value.__context__)
    assert not budget.history


def test_a_file_name_is_not_data():
    with pytest.raises(ArgumentTypeError, match=r"type str; for a file, dpfast\.scan"):
        as_source("salaries.csv")


def test_a_source_is_taken_as_it_is():
    source = as_source(np.arange(3.0))
    assert as_source(source) is source


def test_no_copy_of_the_whole():
    data = np.arange(4_000_000.0)
    for form in (data, data[::2], data.astype(">f8"), np.ma.array(data, mask=data < 5)):
        source = as_source(form)
        tracemalloc.start()
        try:
            total = source.reduce(lambda chunk: chunk.values.size, lambda a, b: a + b)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert total == source.length - source.nulls
        assert peak < 4 * memory.BLOCK * 8


def test_threads_see_every_row_once(monkeypatch):
    monkeypatch.setattr(memory, "SLICE", 10)
    monkeypatch.setenv("DPFAST_NUM_THREADS", "3")
    assert memory.threads() == 3
    check(np.arange(1001.0), np.arange(1001.0).tolist())
    check(np.arange(1001.0)[::-1], np.arange(1001.0)[::-1].tolist())
    check(np.arange(15.0), np.arange(15.0).tolist())
    for bad in ("0", "-1", "1.5", "two", "99999"):
        monkeypatch.setenv("DPFAST_NUM_THREADS", bad)
        with pytest.raises(ArgumentError, match="DPFAST_NUM_THREADS"):
            as_source(np.arange(1001.0))


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
