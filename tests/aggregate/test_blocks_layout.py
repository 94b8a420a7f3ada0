"""Rows block by block, from any source and through any memory, beside a dict of lists."""

import errno
import itertools
import mmap
import os
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels import aggregate as native
from dpfast._kernels.tables import Key
from dpfast.aggregate.blocks import counting_sort, external_sort, layout
from dpfast.aggregate.blocks.layout import laid_out
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, Partition, RandomLabels
from dpfast.errors import SourceError
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
    own = {"LEAST": 1 << 11, "LITTLE": -1, "RUN": 1 << 12, "WINDOW": 1 << 12, "FEW": 1 << 40}
    for name, value in own.items():
        monkeypatch.setattr(layout, name, value)
    monkeypatch.setattr(external_sort, "FEW_BLOCKS", 1)
    monkeypatch.setattr(counting_sort, "SMALL", 0)


def split_of(kind, blocks, n, drop=False):
    if kind == "contiguous":
        return Partition(ContiguousLabels(blocks, n), drop)
    return Partition((RandomLabels if kind == "random" else KeyedLabels)(blocks, KEY), drop)


def definition(rows, split, ids=None):
    """The blocks as lists, by the plain twin, in words: so that NaN is NaN."""
    named = split.labels.read(0, len(rows)) if ids is None else split.labels.read(ids)
    return repr(twin.laid_out(rows.tolist(), named, split.blocks, split.drop))


def table(name, n, seed=0):
    """Some rows, NaN among them where they can be."""
    rng = np.random.default_rng(seed)
    if name == "struct":
        rows = np.zeros(n, STRUCT)
        rows["age"], rows["weight"] = rng.normal(size=(2, n))
        rows["sex"] = rng.integers(0, 2, n)
        rows["age"][::7] = rows["weight"][::11] = np.nan
        return rows
    rows = rng.normal(size=(n, 3)) if name == "matrix" else (rng.normal(size=n) * 100).astype(name)
    if rows.dtype.kind == "f":
        columns = rows.reshape(n, -1 if n else 3)
        columns[::7, 0] = columns[::11, 2:] = np.nan
    return rows


def blocks_of(windows, count, shared=False):
    """The blocks as lists, with what must hold of every window checked on the way."""
    found = []
    for window in windows:
        assert window.first == len(found)
        assert window.offsets[0] == 0 and window.offsets[-1] == len(window.rows)
        assert (window.file is not None) == shared
        if shared:
            assert window.ours
            size = window.rows.nbytes
            with mmap.mmap(window.file.fd, max(1, size), access=mmap.ACCESS_READ) as other:
                assert other[:size] == window.rows.tobytes()
        for a, b in itertools.pairwise(window.offsets.tolist()):
            found.append(window.rows[a:b].tolist())
        if window.ours:
            window.rows.view(np.uint8)[...] = 255  # nobody else's
    assert len(found) == count
    return repr(found)


@given(data=st.data())
def test_equals_a_dict_of_lists(tmp_path_factory, data):
    def draw(*values):
        return data.draw(st.sampled_from(values))

    n, k = data.draw(st.integers(0, 300)), draw(1, 3, 50, 2049, 5000)
    kind, drop = draw("random", "key", "contiguous"), draw(False, True)
    rows, split = (
        table(draw(*["f8", "f4", "i8", "u1", "matrix", "struct"]), n),
        split_of(kind, k, n, drop),
    )
    ids = [f"person {i % 17}" for i in range(n)] if kind == "key" else None
    expected, before = definition(rows, split, ids), rows.copy()
    cuts, order = data.draw(st.sets(st.integers(0, n), max_size=9)), data.draw(st.integers(0, 99))
    memory, shared, team = draw(False, True), draw(False, True), draw(1, 2, 3)
    source = Rows(rows, ids, cuts, order, memory, draw(None, n), team)
    sizes = external_sort.Sizes(
        draw(1, 64, 500, 10**6),
        draw(1, 100, 10**6),
        draw(0, 800, 10**6),
        draw(0, 300, 10**6),
        draw(0, 2**62),
        draw(1, 2, 4),
        draw(1, 8, 12),
    )
    spill = tmp_path_factory.getbasetemp() / "spill"
    spill.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_sizes", lambda *rest: sizes)
        patch.setattr(counting_sort, "SMALL", draw(0, counting_sort.SMALL))

        if draw(False, True):
            patch.setattr(layout, "available", lambda: 0)
            patch.setattr(layout, "LITTLE", -1)
        with laid_out(source, split, draw(1, 2, 3), draw(None, spill), shared=shared) as found:
            if memory and kind == "contiguous" and not drop and not shared:
                (window,) = found
                assert window.rows is rows and not window.ours
                found = [window]
            assert blocks_of(found, k, shared) == expected
    assert memory or source.passes <= 1
    assert rows.tobytes() == before.tobytes() and list(spill.iterdir()) == []


def test_a_source_with_other_rows_than_its_length_is_noticed():
    for wrong, kind in itertools.product((999, 1001), ("random", "contiguous")):
        source = Rows(np.zeros(1000), None, [9, 500], length=wrong)
        with pytest.raises(RuntimeError, match="not those that were counted"):
            laid_out(source, split_of(kind, 3, wrong)).__enter__()


def test_a_chunk_that_follows_none_counts_its_way(monkeypatch):
    monkeypatch.setattr(counting_sort, "SPAN", 1000)
    rows = np.arange(5000.0)
    for blocks, order in itertools.product((7, 3000), range(3)):
        split = split_of("random", blocks, 5000)
        source = Rows(rows, None, [1, 999, 1000, 1001, 3333, 4000], order, length=5000)
        with laid_out(source, split, 2) as found:
            assert blocks_of(found, blocks) == definition(rows, split)


@pytest.mark.full
def test_more_blocks_than_a_window_holds(monkeypatch):
    monkeypatch.setattr(external_sort, "MOST_BLOCKS", 1 << 12)
    rows, split = np.arange(1000.0), split_of("random", 1 << 17, 1000)
    with laid_out(Rows(rows), split) as found:
        assert len([window.first for window in found]) == 32
    with laid_out(Rows(rows), split) as found:
        assert blocks_of(found, 1 << 17) == definition(rows, split)


def test_one_id_with_nearly_all_rows(small):
    """Groups are of no use then, and a block beyond a window is a window."""
    n, k = 20_000, 5000
    rows, ids = np.arange(float(n)), np.where(np.arange(n) % 50 == 0, np.arange(n), 7)
    split = split_of("key", k, n)
    expected = definition(rows, split, ids)
    found, offsets = counting_sort.scatter(
        np.repeat(rows, 4).reshape(n, 4), split.labels.read(ids), k
    )
    assert repr([found[a:b, 0].tolist() for a, b in itertools.pairwise(offsets)]) == expected
    with laid_out(Rows(rows, ids, [9, 99]), split) as blocks:
        sizes = [len(window.rows) for window in blocks]
        assert max(sizes) > 19_000 and len(sizes) > 2
    with laid_out(Rows(rows, ids, [9, 99]), split) as blocks:
        assert blocks_of(blocks, k) == expected


def test_rows_that_were_not_counted_are_refused_and_nothing_is_overrun():
    x, room, first = np.arange(50.0), np.full(58, 7.0), np.array([0, 13, 26, 38])
    labels, out = (np.arange(50) % 4).astype(np.uint32), room[4:54]
    native.place(labels, x, first.copy(), out)
    assert out.tolist() == [float(i) for b in range(4) for i in range(b, 50, 4)]
    low = np.full(50, 3, np.uint8)
    for call, *of in [
        (native.place, np.full(50, 3, np.uint32), x, first.copy()),
        (native.place_random, KEY, 4, 0, x, np.full(4, 49)),
        (native.place_runs, np.array([0, 20, 50]), x, np.array([0, 21])),
        (native.place_runs, np.array([0, 50]), x, np.array([-1])),
        (native.refine, low, 2, x, np.array([0, 50]), np.zeros(4, np.int64)),
    ]:
        with pytest.raises(RuntimeError, match="not those that were counted"):
            call(*of, out)
    assert (room[:4] == 7).all() and (room[54:] == 7).all()


def test_what_does_not_fit_together_is_refused():
    x, out, low = np.arange(50.0), np.empty(50), np.empty(50, np.uint8)
    labels, at, all_rows = np.zeros(50, np.uint32), np.zeros(4, np.int64), np.array([0, 50])
    for call, of, why in [
        (native.place, (labels, x, at, np.empty(50, "f4")), "one dtype"),
        (native.place, (labels[:9], x, at, out), "lengths must agree"),
        (native.place, (labels + 16, x, at, out, 2, low), "labels must be below 16"),
        (native.place, (labels, x, at, out, 2), "low must be 50 unsigned"),
        (native.place, (labels, x, at, out, 9, low), "that just hold 9 bits"),
        (native.place, (labels, x, at, out, 0, low), "only where shift is above 0"),
        (native.place, (labels, x, at, out, 17, low), "shift must be at most 16|low must"),
        (native.place_random, (KEY, 17, 0, x, at, out, 2, low), "a cursor for each group"),
        (native.count_random, (KEY, 5, 0, 9, at), "room for all blocks"),
        (native.place_runs, (np.array([0, 49]), x, at[:1], out), "span 50 rows"),
        (native.place_runs, (np.array([0, 51, 50]), x, at[:2], out), "must not fall"),
        (native.refine, (low, 2, x, all_rows, at, x), "out another array"),
        (native.refine, (low, 1, x, all_rows, at, out), "those of the blocks"),
    ]:
        with pytest.raises(ValueError, match=why):
            call(*of)


class Changing:
    """Labels of which all, or the first, are others when they are read again."""

    blocks, reads = 3, 0

    def __init__(self, every):
        self.every = every

    def read(self, start, n):
        labels = np.arange(n, dtype=np.uint32) % 3
        labels[: n if self.every else 1] = self.reads
        self.reads += 1
        return labels


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("shape", [900, (900, 2)])
def test_rows_that_change_between_the_passes_are_noticed(shape, every):
    with pytest.raises(RuntimeError, match="not those that were counted"):
        counting_sort.scatter(np.zeros(shape), Changing(every), 3)


def open_files(where):
    """Descriptors of this process that point below a directory, deleted files among them."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{fd}")
            if target.startswith(str(where)) or "memfd:dpfast" in target:
                found.append((int(fd), target))
    return found


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@linux
@pytest.mark.parametrize("way", [KeyError, KeyboardInterrupt, SourceError, "end", "close"])
@pytest.mark.parametrize("shared", [False, True])
def test_files_have_no_name_and_are_gone(small, tmp_path, way, shared):
    before = set(threading.enumerate())

    class Source(Rows):
        def reduce(self, summarise, merge):
            super().reduce(summarise, merge)
            if way is SourceError:
                raise SourceError("damaged")

    def use():
        source, split = (
            Source(table("f8", 5000), None, range(0, 5000, 100)),
            split_of("random", 50, 0),
        )
        with laid_out(source, split, 2, tmp_path, shared=shared) as found:
            for window in found:
                held = open_files(tmp_path)
                assert held and list(tmp_path.iterdir()) == []
                for fd, target in held:
                    assert os.fstat(fd).st_nlink == 0
                    assert os.fstat(fd).st_mode & 0o077 == 0 or "memfd" in target
                if isinstance(way, type):
                    raise way
                yield window.first

    windows = use()
    if isinstance(way, type):
        with pytest.raises(way):
            list(windows)
    else:
        next(windows)
        assert open_files(tmp_path)
        assert way == "close" or len(list(windows)) > 3
        windows.close()
    assert open_files(tmp_path) == [] and list(tmp_path.iterdir()) == []
    assert not [t for t in set(threading.enumerate()) - before if "ThreadPool" in t.name]


@pytest.mark.parametrize("shared", [False, True])
def test_a_full_disk_is_one_clear_error(small, tmp_path, monkeypatch, shared):
    full = Mock(side_effect=OSError(errno.ENOSPC, "no room for 123456.75"))
    monkeypatch.setattr(*((row_files, "_reserve") if shared else (row_files.Spill, "_write")), full)
    source = Rows(np.full(5000, 123456.75), None, range(0, 5000, 100))
    for workers in (1, 2):
        with (
            pytest.raises(SourceError, match=r"cannot be kept in .*: No space left") as caught,
            laid_out(source, split_of("random", 9, 0), workers, tmp_path, shared=shared) as windows,
        ):
            list(windows)
        assert "123456" not in str(caught.value) and caught.value.__context__ is None
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


N = 1 << 20


@quick_rows(1)
@pytest.mark.parametrize("kind", ["random", "key"])
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("blocks", [100, 50_000])
@pytest.mark.parametrize("name", ["f8", "matrix"])
def test_extra_memory(kind, drop, blocks, name, monkeypatch):
    """At most 1.3 of the data in memory, beside the 8 bytes a block that say where it begins."""
    rows, ids = table(name, N), np.arange(N) % 99_991 if kind == "key" else None
    source, split = Rows(rows, ids, memory=True), split_of(kind, blocks, N, drop)
    source.reduce = lambda f, merge: f(RowChunk(rows, 0, ids))

    def used():
        return peak(lambda: walk(source, split))[0]

    limit = 1.3 * rows.nbytes + 3 * 8 * blocks
    assert 0.7 * rows.nbytes < used() < limit
    # The same measurement catches one more copy.
    plain_split = Partition.split
    monkeypatch.setattr(layout, "scatter", lambda x, *a, **k: counting_sort.scatter(+x, *a, **k))
    monkeypatch.setattr(Partition, "split", lambda s, c: (rows.copy(), plain_split(s, c))[1])
    assert used() > limit


def walk(source, split, *more):
    with laid_out(source, split, *more) as found:
        assert all(len(window.rows) for window in found)


@pytest.mark.full
def test_chunked_rows_beyond_memory_stay_on_disk(tmp_path, monkeypatch):
    rows, split = table("f8", 2 * N), split_of("random", 100, 2 * N)
    monkeypatch.setattr(layout, "RUN", 1 << 18)
    monkeypatch.setattr(layout, "WINDOW", 1 << 19)
    monkeypatch.setattr(external_sort, "FEW_BLOCKS", 1)
    source = Rows(rows, None, range(0, 2 * N, 10_000))

    def used(spill=None):
        return peak(lambda: walk(source, split, 1, spill))[0]

    assert used(tmp_path) < rows.nbytes / 2
    monkeypatch.setattr(layout, "available", lambda: 3 << 20)
    assert used() < rows.nbytes / 2 + (3 << 20)
    for module in (layout, external_sort):
        monkeypatch.setattr(module, "available", lambda: 1 << 40)
    assert used() > rows.nbytes
    source.length = 2 * N  # then there is no copy of a window either
    assert rows.nbytes < used() < 1.05 * rows.nbytes


def test_how_much_memory_is_available(tmp_path):
    assert 0 < available() < sys.maxsize and available(tmp_path) > 0
    for name, text, left in [
        ("proc/meminfo", "MemTotal: 900 kB\nMemAvailable:  500 kB\n", 500 << 10),
        ("proc/self/cgroup", "0::/a/b\n", 500 << 10),
        ("sys/fs/cgroup/a/b/memory.max", "max\n", 500 << 10),
        ("sys/fs/cgroup/a/memory.current", "200000\n", 500 << 10),
        ("sys/fs/cgroup/a/memory.max", "300000\n", 100_000),
        ("sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 50000\n", 150_000),
        ("sys/fs/cgroup/memory/old/memory.limit_in_bytes", "9000\n", 150_000),
        ("sys/fs/cgroup/memory/old/memory.usage_in_bytes", "9500\n", 150_000),
        ("proc/self/cgroup", "4:cpu,memory:/old\n1:cpu:/old\n", 0),
    ]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        assert available(tmp_path) == left, name


@linux
def test_a_limit_of_the_process_is_one_of_memory():
    code = """
import resource
from dpfast.tables.available_memory import available
for kind, field in [(resource.RLIMIT_DATA, "VmData:"), (resource.RLIMIT_AS, "VmSize:")]:
    used = open("/proc/self/status").read().split(field)[1].split()[0]
    limit = (int(used) << 10) + (60 << 20)
    resource.setrlimit(kind, (limit, -1))
    assert 30 << 20 < available() <= 60 << 20
    resource.setrlimit(kind, (-1, -1))
"""
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
