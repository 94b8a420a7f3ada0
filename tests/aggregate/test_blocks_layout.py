"""Rows block by block, from any source and through any memory, beside a dict of lists."""

from __future__ import annotations

import errno
import itertools
import mmap
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels import aggregate as native
from dpfast._kernels.tables import Key
from dpfast.aggregate.blocks import (
    counting_sort,
    external_sort,
    layout,
)
from dpfast.aggregate.blocks.layout import laid_out
from dpfast.aggregate.blocks.partition import (
    TILE,
    ContiguousLabels,
    KeyedLabels,
    Partition,
    RandomLabels,
    missing,
    tiles,
)
from dpfast.errors import ArgumentError, ArgumentTypeError, SourceError
from dpfast.tables import row_files
from dpfast.tables.available_memory import available
from dpfast.tables.base import RowChunk

from ..reference.aggregate import blocks as twin
from ..support.memory import peak
from ..support.pairwise import quick_rows
from ..support.rows import Rows

ROOT = Path(__file__).parents[2]
KEY = Key(bytes(range(32)))
STRUCT = np.dtype([("age", "f8"), ("weight", "f4"), ("sex", "i1")])


@pytest.fixture
def small(monkeypatch):
    """Runs and windows of a few hundred rows, groups of blocks for small data."""
    monkeypatch.setattr(layout, "LEAST", 1 << 11)
    monkeypatch.setattr(layout, "LITTLE", -1)
    monkeypatch.setattr(layout, "RUN", 1 << 12)
    monkeypatch.setattr(layout, "WINDOW", 1 << 12)
    monkeypatch.setattr(layout, "FEW", 1 << 40)
    monkeypatch.setattr(external_sort, "FEW_BLOCKS", 1)
    monkeypatch.setattr(counting_sort, "SMALL", 0)


def labels_of(kind, blocks, n):
    if kind == "random":
        return RandomLabels(blocks, KEY)
    return ContiguousLabels(blocks, n) if kind == "contiguous" else KeyedLabels(blocks, KEY)


def table(name, n, seed=0):
    """Some rows, NaN among them where they can be."""
    rng = np.random.default_rng(seed)
    if name == "struct":
        rows = np.zeros(n, STRUCT)
        rows["age"], rows["weight"] = rng.normal(size=n), rng.normal(size=n)
        rows["sex"] = rng.integers(0, 2, n)
        rows["age"][::7] = rows["weight"][::11] = np.nan
        return rows
    if name == "matrix":
        rows = rng.normal(size=(n, 3))
        rows[::7, 0] = rows[::11, 2] = np.nan
        return rows
    rows = (rng.normal(size=n) * 100).astype(name)
    if rows.dtype.kind == "f":
        rows[::7] = np.nan
    return rows


def plain(rows):
    return rows.tolist()


def blocks_of(windows, count, shared=False):
    """The blocks as lists, with what must hold of every window checked on the way."""
    found = []
    for window in windows:
        assert window.first == len(found)
        assert window.offsets[0] == 0 and window.offsets[-1] == len(window.rows)
        assert (window.file is not None) == shared
        if window.file is not None:
            assert window.ours
            size = window.rows.nbytes
            with mmap.mmap(window.file.fd, max(1, size), access=mmap.ACCESS_READ) as other:
                assert other[:size] == window.rows.tobytes()
        for a, b in itertools.pairwise(window.offsets.tolist()):
            found.append(plain(window.rows[a:b]))
        if window.ours:
            window.rows.view(np.uint8)[...] = 255  # nobody else's
    assert len(found) == count
    return found


def same(found, expected):
    """Equal, NaN with NaN."""
    assert repr(found) == repr(expected)


NAMES = ["f8", "f4", "i8", "u1", "matrix", "struct"]


@quick_rows(2)
@pytest.mark.parametrize("kind", ["random", "contiguous", "key"])
@pytest.mark.parametrize("name, blocks", [*itertools.product(NAMES, [1, 40, 2049]), ("f8", 70_001)])
@pytest.mark.parametrize("drop", [False, True])
def test_equals_a_dict_of_lists(small, tmp_path, kind, name, drop, blocks):
    n = 3000 if blocks != 40 else 2999
    rows, labels = table(name, n), labels_of(kind, blocks, n)
    ids = np.random.default_rng(1).integers(0, 500, n) if kind == "key" else None
    named = labels.read(ids) if kind == "key" else labels.read(0, n)
    expected = twin.laid_out(plain(rows), named, blocks, drop)
    before = rows.copy()
    for memory, spill, workers, shared, length in [
        (True, None, 1, False, n),
        (True, None, 3, True, n),
        (True, tmp_path, 2, False, n),
        (False, None, 1, True, None),
        (False, None, 2, False, n),
        (False, None, 1, True, n),
        (False, tmp_path, 3, False, None),
        (False, tmp_path, 1, True, n),
    ]:
        source = Rows(rows, ids, [5, 6, 1000, 1001, 2500], workers, memory, length)
        with laid_out(source, Partition(labels, drop), workers, spill, shared=shared) as found:
            if memory and kind == "contiguous" and not drop and not shared:
                (window,) = found
                assert window.rows is rows and not window.ours
                same(blocks_of([window], blocks), expected)
            else:
                same(blocks_of(found, blocks, shared), expected)
                assert source.passes <= 1
    assert rows.tobytes() == before.tobytes()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
@given(st.data())
def test_chunks_and_workers_change_nothing(data):
    n, k = data.draw(st.integers(0, 300)), data.draw(st.sampled_from([1, 3, 50, 5000]))
    kind = data.draw(st.sampled_from(["random", "contiguous", "key"]))
    drop, length = data.draw(st.booleans()), data.draw(st.sampled_from([None, n]))
    cuts = data.draw(st.sets(st.integers(0, n), max_size=9))
    rows = table("f8", n)
    rows.sort()
    ids = [f"person {i % 17}" for i in range(n)] if kind == "key" else None
    labels = labels_of(kind, k, n)
    named = labels.read(ids) if kind == "key" else labels.read(0, n)
    source = Rows(rows, ids, cuts, data.draw(st.integers(0, 99)), length=length)
    sizes = external_sort.Sizes(
        data.draw(st.sampled_from([1, 64, 500, 10**6])),
        data.draw(st.sampled_from([1, 100, 10**6])),
        data.draw(st.sampled_from([0, 800, 10**6])),
        data.draw(st.sampled_from([0, 300, 10**6])),
        data.draw(st.sampled_from([0, 2**62])),
        data.draw(st.sampled_from([1, 2, 4])),
        data.draw(st.sampled_from([1, 8, 12])),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_sizes", lambda *rest: sizes)
        if data.draw(st.booleans()):
            patch.setattr(layout, "available", lambda: 0)
            patch.setattr(layout, "LITTLE", -1)
        workers = data.draw(st.sampled_from([1, 2]))
        with laid_out(source, Partition(labels, drop), workers) as found:
            same(blocks_of(found, k), twin.laid_out(plain(rows), named, k, drop))


@pytest.mark.full
def test_chunks_from_several_threads(small):
    n, k = 40_000, 300
    rows = table("f8", n)
    for workers, drop, length in [(1, True, None), (4, True, n), (2, False, None), (2, False, n)]:
        expected = twin.laid_out(plain(rows), RandomLabels(k, KEY).read(0, n), k, drop)
        source = Rows(rows, None, range(0, n, 777), length=length, team=4)
        with laid_out(source, Partition(RandomLabels(k, KEY), drop), workers) as found:
            same(blocks_of(found, k), expected)


def test_a_source_with_other_rows_than_its_length_is_noticed():
    for wrong, kind in itertools.product((999, 1001), ("random", "contiguous")):
        source = Rows(np.zeros(1000), None, [9, 500], length=wrong)
        with (
            pytest.raises(RuntimeError, match="not those that were counted"),
            laid_out(source, Partition(labels_of(kind, 3, wrong))),
        ):
            pass


def test_a_chunk_that_follows_none_counts_its_way(monkeypatch):
    monkeypatch.setattr(counting_sort, "SPAN", 1000)
    rows = np.arange(5000.0)
    for blocks in (7, 3000):
        expected = twin.laid_out(plain(rows), RandomLabels(blocks, KEY).read(0, 5000), blocks)
        for order in range(3):
            source = Rows(rows, None, [1, 999, 1000, 1001, 3333, 4000], order, length=5000)
            with laid_out(source, Partition(RandomLabels(blocks, KEY)), 2) as found:
                same(blocks_of(found, blocks), expected)


@pytest.mark.parametrize("memory", [False, True])
@pytest.mark.parametrize("kind", ["random", "contiguous", "key"])
def test_no_rows(memory, kind):
    rows = np.empty((0, 2))
    for shared, workers, length in itertools.product((False, True), (1, 2), (0, None)):
        source = Rows(rows, np.empty(0, np.int64), memory=memory, length=length)
        with laid_out(source, Partition(labels_of(kind, 5, 0)), workers, shared=shared) as found:
            assert blocks_of(found, 5, shared) == [[]] * 5


@pytest.mark.full
def test_more_blocks_than_a_window_holds(monkeypatch):
    monkeypatch.setattr(external_sort, "MOST_BLOCKS", 1 << 12)
    k = 1 << 17
    rows = np.arange(1000.0)
    with laid_out(Rows(rows), Partition(RandomLabels(k, KEY))) as found:
        assert len([window.first for window in found]) == 32
    with laid_out(Rows(rows), Partition(RandomLabels(k, KEY))) as found:
        expected = twin.laid_out(plain(rows), RandomLabels(k, KEY).read(0, 1000), k)
        same(blocks_of(found, k), expected)


def test_one_id_with_nearly_all_rows(small):
    """Groups are of no use then, and a block beyond a window is a window."""
    n, k = 20_000, 5000
    rows, ids = np.arange(float(n)), np.where(np.arange(n) % 50 == 0, np.arange(n), 7)
    named = KeyedLabels(k, KEY).read(ids)
    expected = twin.laid_out(plain(rows), named, k)
    wide = np.repeat(rows[:, None], 4, axis=1)
    found, offsets = counting_sort.scatter(wide, named, k)
    assert [found[a:b, 0].tolist() for a, b in itertools.pairwise(offsets)] == expected
    source, partition = Rows(rows, ids, [9, 99]), Partition(KeyedLabels(k, KEY))
    with laid_out(source, partition) as blocks:
        sizes = [len(window.rows) for window in blocks]
        assert max(sizes) > 19_000 and len(sizes) > 2
    with laid_out(source, partition) as blocks:
        same(blocks_of(blocks, k), expected)


# --- partitions -----------------------------------------------------------------------------------


def test_tiles_agree_with_split():
    n = 2 * TILE + 99
    rows, ids = table("f8", n), np.arange(n) % 1234
    for kind, drop in itertools.product(["random", "contiguous", "key"], [False, True]):
        partition = Partition(labels_of(kind, 60, n + 5), drop)
        chunk = RowChunk(rows, 3, ids)
        labels, kept = partition.split(chunk)
        pieces = [partition.split(piece) for piece in tiles(chunk)]
        assert [len(piece.rows) for piece in tiles(chunk)] == [TILE, TILE, 99]
        np.testing.assert_array_equal(np.concatenate([p[0] for p in pieces]), labels)
        np.testing.assert_array_equal(np.concatenate([p[1] for p in pieces]), kept)


@pytest.mark.parametrize("shape", [(50,), (50, 3), (50, 70), (50, 2, 3)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "c16"])
def test_which_rows_miss_a_number(shape, dtype):
    rows = np.ones(shape, dtype)
    assert missing(rows) is None
    if rows.dtype.kind != "i":
        rows.reshape(50, -1)[7, -1] = rows.reshape(50, -1)[9, 0] = np.nan
        found = missing(rows)
        assert found is not None and np.flatnonzero(found).tolist() == [7, 9]


# --- what the kernels refuse ----------------------------------------------------------------------


def test_rows_that_were_not_counted_are_refused_and_nothing_is_overrun():
    x = np.arange(50.0)
    labels = (np.arange(50) % 4).astype(np.uint32)
    first = np.array([0, 13, 26, 38])
    room = np.full(58, 7.0)
    out = room[4:54]
    native.place(labels, x, first.copy(), out)
    assert out.tolist() == [float(i) for b in range(4) for i in range(b, 50, 4)]
    with pytest.raises(RuntimeError, match="not those that were counted"):
        native.place(np.full(50, 3, np.uint32), x, first.copy(), out)
    with pytest.raises(RuntimeError, match="not those that were counted"):
        native.place_random(KEY, 4, 0, x, np.full(4, 49), out)
    with pytest.raises(RuntimeError, match="not those that were counted"):
        native.place_runs(np.array([0, 20, 50]), x, np.array([0, 21]), out)
    with pytest.raises(RuntimeError, match="not those that were counted"):
        native.place_runs(np.array([0, 50]), x, np.array([-1]), out)
    low = np.full(50, 3, np.uint8)
    with pytest.raises(RuntimeError, match="not those that were counted"):
        native.refine(low, 2, x, np.array([0, 50]), np.zeros(4, np.int64), out)
    assert (room[:4] == 7).all() and (room[54:] == 7).all()


def test_what_does_not_fit_together_is_refused():
    x, out = np.arange(50.0), np.empty(50)
    labels, at = np.zeros(50, np.uint32), np.zeros(4, np.int64)
    low = np.empty(50, np.uint8)
    for wrong, why in [
        (lambda: native.place(labels, x, at, np.empty(50, "f4")), "one dtype"),
        (lambda: native.place(labels[:9], x, at, out), "lengths must agree"),
        (lambda: native.place(labels + 16, x, at, out, 2, low), "labels must be below 16"),
        (lambda: native.place(labels, x, at, out, 2), "low must be 50 unsigned"),
        (lambda: native.place(labels, x, at, out, 9, low), "that just hold 9 bits"),
        (lambda: native.place(labels, x, at, out, 0, low), "only where shift is above 0"),
        (lambda: native.place(labels, x, at, out, 17, low), "shift must be at most 16|low must"),
        (lambda: native.place_random(KEY, 17, 0, x, at, out, 2, low), "a cursor for each group"),
        (lambda: native.count_random(KEY, 5, 0, 9, at), "room for all blocks"),
        (lambda: native.place_runs(np.array([0, 49]), x, at[:1], out), "span 50 rows"),
        (lambda: native.place_runs(np.array([0, 51, 50]), x, at[:2], out), "must not fall"),
        (lambda: native.refine(low, 2, x, np.array([0, 50]), at, x), "out another array"),
        (lambda: native.refine(low, 1, x, np.array([0, 50]), at, out), "those of the blocks"),
    ]:
        with pytest.raises(ValueError, match=why):
            wrong()


def test_rows_that_change_between_the_passes_are_noticed():
    class Changing:
        blocks = 3
        times = 0

        def read(self, start, n):
            self.times += 1
            return np.full(n, self.times % 3, np.uint32)

    class Moving:
        """A row goes from block 0 to block 1, whose rows then reach into block 2."""

        blocks = 3
        counted = False

        def read(self, start, n):
            labels = np.arange(n, dtype=np.uint32) % 3
            labels[0] = int(self.counted)
            self.counted = True
            return labels

    for rows, kind in itertools.product((np.zeros(900), np.zeros((900, 2))), (Changing, Moving)):
        with pytest.raises(RuntimeError, match="not those that were counted"):
            counting_sort.scatter(rows, kind(), 3)


# --- files ----------------------------------------------------------------------------------------


def open_files(where):
    """Descriptors of this process that point below a directory, deleted files among them."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            continue
        if target.startswith(str(where)) or "memfd:dpfast" in target:
            found.append((int(fd), target))
    return found


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@linux
@pytest.mark.parametrize("way", ["end", "error", "interrupt", "close", "source"])
@pytest.mark.parametrize("shared", [False, True])
def test_files_have_no_name_and_are_gone(small, tmp_path, way, shared):
    rows, before = table("f8", 5000), set(threading.enumerate())

    class Broken(Rows):
        def reduce(self, summarise, merge):
            super().reduce(summarise, merge)
            raise SourceError("damaged")

    def use():
        source = (Broken if way == "source" else Rows)(rows, None, range(0, 5000, 100))
        partition = Partition(RandomLabels(50, KEY))
        with laid_out(source, partition, 2, tmp_path, shared=shared) as found:
            for window in found:
                held = open_files(tmp_path)
                assert held and list(tmp_path.iterdir()) == []
                for fd, target in held:
                    assert os.fstat(fd).st_nlink == 0
                    assert os.fstat(fd).st_mode & 0o077 == 0 or "memfd" in target
                if way == "error":
                    raise KeyError(window.first)
                if way == "interrupt":
                    raise KeyboardInterrupt
                yield window.first

    if way in ("end", "close"):
        windows = use()
        next(windows)
        assert open_files(tmp_path)
        if way == "end":
            assert len(list(windows)) > 3
        windows.close()
    else:
        kinds = {"error": KeyError, "interrupt": KeyboardInterrupt, "source": SourceError}
        with pytest.raises(kinds[way]):
            list(use())
    assert open_files(tmp_path) == [] and list(tmp_path.iterdir()) == []
    assert not [t for t in set(threading.enumerate()) - before if "ThreadPool" in t.name]


@pytest.mark.parametrize("shared", [False, True])
def test_a_full_disk_is_one_clear_error(small, tmp_path, monkeypatch, shared):
    secret = 123456.75

    def full(*rest):
        raise OSError(errno.ENOSPC, f"no room for {secret}")

    if shared:
        monkeypatch.setattr(row_files, "_reserve", full)
    else:
        monkeypatch.setattr(row_files.Spill, "_write", full)
    source = Rows(np.full(5000, secret), None, range(0, 5000, 100))
    for workers in (1, 2):
        with (
            pytest.raises(SourceError, match=r"cannot be kept in .*: No space left") as caught,
            laid_out(
                source, Partition(RandomLabels(9, KEY)), workers, tmp_path, shared=shared
            ) as b,
        ):
            list(b)
        assert str(secret) not in str(caught.value) and caught.value.__context__ is None
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_lost_bytes_is_an_error(tmp_path):
    spill = row_files.Spill(str(tmp_path))
    at = spill.append(np.arange(10.0))
    out = np.empty(10)
    spill.read(at, out)
    assert out.tolist() == list(range(10))
    with pytest.raises(SourceError, match="cannot be kept"):
        spill.read(at + 8, out)
    spill.close()


def test_directories(tmp_path):
    assert row_files.directory(None) and row_files.directory(tmp_path) == str(tmp_path)
    for wrong in (tmp_path / "none", __file__, b"x"):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="spill must be a directory"):
            row_files.directory(wrong)
    with pytest.raises(ArgumentTypeError, match="spill must be a directory"):
        row_files.directory(3)


# --- memory ---------------------------------------------------------------------------------------


N = 1 << 21


@quick_rows(1)
@pytest.mark.parametrize("kind", ["random", "key"])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("blocks", [100, 50_000])
@pytest.mark.parametrize("name", ["f8", "matrix"])
def test_extra_memory(kind, drop, blocks, name, monkeypatch):
    """At most 1.3 of the data in memory, beside the 8 bytes a block that say where it begins."""
    rows = table(name, N)
    ids = np.arange(N) % 99_991 if kind == "key" else None
    source = Rows(rows, ids, memory=True)
    source.reduce = lambda f, merge: f(RowChunk(rows, 0, ids))

    def work():
        with laid_out(source, Partition(labels_of(kind, blocks, N), drop)) as found:
            for window in found:
                assert len(window.rows)

    limit = 1.3 * rows.nbytes + 3 * 8 * blocks
    used = peak(work)[0]
    assert 0.7 * rows.nbytes < used < limit
    # The same measurement catches one more copy.
    plain_split = Partition.split
    monkeypatch.setattr(layout, "scatter", lambda x, *a, **k: counting_sort.scatter(+x, *a, **k))
    monkeypatch.setattr(Partition, "split", lambda s, c: (rows.copy(), plain_split(s, c))[1])
    assert peak(work)[0] > limit


def test_extra_memory_where_one_id_has_all_rows():
    """A group that is most of the data is not sorted by way of a copy."""
    rows, ids = table("matrix", N), np.zeros(N, np.int64)
    source = Rows(rows, ids, memory=True)
    source.reduce = lambda f, merge: f(RowChunk(rows, 0, ids))

    def work():
        with laid_out(source, Partition(labels_of("key", 50_000, N))) as found:
            for window in found:
                assert len(window.rows) == N  # one window: the rows were sorted in memory

    assert peak(work)[0] < 1.3 * rows.nbytes + 3 * 8 * 50_000


@pytest.mark.full
def test_chunked_rows_beyond_memory_stay_on_disk(tmp_path, monkeypatch):
    rows = table("f8", N)
    monkeypatch.setattr(layout, "RUN", 1 << 18)
    monkeypatch.setattr(layout, "WINDOW", 1 << 19)
    monkeypatch.setattr(external_sort, "FEW_BLOCKS", 1)
    source = Rows(rows, None, range(0, N, 10_000))

    def work(spill=None):
        with laid_out(source, Partition(RandomLabels(100, KEY)), 1, spill) as found:
            for window in found:
                assert len(window.rows)

    assert peak(lambda: work(tmp_path))[0] < rows.nbytes / 2
    monkeypatch.setattr(layout, "available", lambda: 3 << 20)
    assert peak(work)[0] < rows.nbytes / 2 + (3 << 20)
    for module in (layout, external_sort):
        monkeypatch.setattr(module, "available", lambda: 1 << 40)
    assert peak(work)[0] > rows.nbytes
    source.length = N  # then there is no copy of a window either
    assert rows.nbytes < peak(work)[0] < 1.05 * rows.nbytes


@pytest.mark.parametrize("length", [None, 1000])
def test_the_machine_is_not_asked_for_room_for_little(monkeypatch, length):
    asked = []
    monkeypatch.setattr(layout, "available", lambda: asked.append(1) or 1 << 30)
    for n in (1000, layout.LITTLE // 8 + 1):
        source = Rows(table("f8", n), None, [9], length=n if length else None)
        with laid_out(source, Partition(RandomLabels(10, KEY))) as found:
            assert sum(len(window.rows) for window in found) == n
    assert len(asked) == (1 if length else 2)


def test_how_much_memory_is_available(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    assert 0 < available() < sys.maxsize
    assert available(tmp_path) > 0
    write("proc/meminfo", "MemTotal: 900 kB\nMemAvailable:  500 kB\n")
    assert available(tmp_path) == 500 << 10
    write("proc/self/cgroup", "0::/a/b\n")
    write("sys/fs/cgroup/a/b/memory.max", "max\n")
    assert available(tmp_path) == 500 << 10
    write("sys/fs/cgroup/a/memory.max", "300000\n")
    write("sys/fs/cgroup/a/memory.current", "200000\n")
    assert available(tmp_path) == 100_000
    write("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 50000\n")
    assert available(tmp_path) == 150_000
    write("proc/self/cgroup", "4:cpu,memory:/old\n1:cpu:/old\n")
    write("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "9000\n")
    write("sys/fs/cgroup/memory/old/memory.usage_in_bytes", "9500\n")
    assert available(tmp_path) == 0


LIMITED = """
import resource, sys
import numpy as np
import pyarrow as pa, pyarrow.parquet as pq
import dpfast as dp
from dpfast.aggregate.blocks.partition import RandomLabels
from dpfast.aggregate.blocks.partition import Partition
from dpfast.aggregate.blocks.layout import laid_out
from dpfast._kernels.tables import Key
from dpfast.tables import row_files
from dpfast.tables.available_memory import available
from dpfast.tables.base import RowChunk

path, kind, to = sys.argv[1:4]
rows, blocks, spare = map(int, sys.argv[4:])
column = dp.scan(path, "x")

class Rows:
    array, width, dtype, length = None, None, column.dtype, column.length
    def reduce(self, summarise, merge):
        return column.reduce(lambda c: summarise(RowChunk(c.values, c.start)), merge)

column.reduce(lambda c: 0, lambda a, b: a)  # what pyarrow takes for itself
counted = {"RLIMIT_AS": "VmSize:", "RLIMIT_DATA": "VmData:"}[kind]
used = next(int(s.split()[1]) for s in open("/proc/self/status") if s.startswith(counted))
limit = (used << 10) + spare
which = getattr(resource, kind)
resource.setrlimit(which, (limit, limit))
try:
    np.ones(rows)
except MemoryError:
    pass
else:
    raise SystemExit("the limit does not bind")
found = np.empty(blocks)
with laid_out(Rows(), Partition(RandomLabels(blocks, Key(bytes(range(32)))))) as laid:
    for window in laid:
        for j, (a, b) in enumerate(zip(window.offsets, window.offsets[1:])):
            found[window.first + j] = np.median(window.rows[a:b])
np.save(to, found)
"""


def limited(tmp_path, rows, spare, kind):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "big.parquet"
    rng = np.random.default_rng(0)
    schema = pa.schema([("x", pa.float64())])
    parts = []
    with pq.ParquetWriter(path, schema, use_dictionary=False, compression="none") as out:
        for _ in range(rows >> 20):
            part = rng.normal(size=1 << 20)
            out.write_table(pa.table({"x": part}))
            parts.append(part)
    data = np.concatenate(parts)
    args = [path, kind, tmp_path / "found.npy", len(data), 999, spare]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *map(str, args)],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    labels = RandomLabels(999, KEY).read(0, len(data))
    order = np.argsort(labels.astype(np.uint16), kind="stable")  # a radix sort
    cuts = np.cumsum(np.bincount(labels, minlength=999))[:-1]
    expected = [np.median(block) for block in np.split(data[order], cuts)]
    np.testing.assert_array_equal(np.load(tmp_path / "found.npy"), expected)
    return path.stat().st_size


@pytest.mark.full
@linux
def test_a_parquet_file_beyond_the_address_space_that_is_left(tmp_path):
    assert limited(tmp_path, 9 << 20, 60 << 20, "RLIMIT_AS") > 60 << 20


@linux
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_parquet_file_several_times_as_large_as_what_is_left(tmp_path, kind):
    assert limited(tmp_path, 60 << 20, 150 << 20, kind) > 450 << 20
