"""The rows of all blocks, block by block, for estimators that need a whole block at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sources.array import threads
from ...sources.prefetch import decoders
from ...sources.row_source import RowChunk, RowSource
from .available_memory import available
from .counting_sort import Empty, is_little, low_type, scatter, shift_of, spans_of
from .direct_placement import DirectPlacement, InOrder
from .external_sort import ExternalSort, Sizes
from .ids import KeyedLabels
from .labels import ContiguousLabels, RandomLabels
from .partition import Partition
from .row_files import SharedMemory, SharedRows, directory

#: Bytes of a run and of a window, where there is memory enough, and how many runs are still few.
RUN, WINDOW, FEW = 1 << 25, 1 << 26, 512
#: Of the memory that is available, what may be taken for rows: two thirds; for one run or window,
#: of which there are several at a time, a sixteenth. Never less than `LEAST`.
SHARE, PART, LEAST = 2 / 3, 16, 1 << 18
#: Bytes of rows for which the machine is not asked, since that takes longer than all the rest, and
#: the memory that is taken to be there for them.
LITTLE, ENOUGH = 1 << 21, 1 << 23


class Window(NamedTuple):
    """Some consecutive blocks in memory.

    Block ``first + j`` is ``rows[offsets[j]:offsets[j + 1]]``. Where `ours` is true the rows are
    this library's own copy and may be written to; else they are the caller's data. `file` says
    where other processes find them, if that was asked for.
    """

    first: int
    rows: NDArray[Any]
    offsets: NDArray[np.int64]
    ours: bool
    file: SharedRows | None = None


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks 0 .. count - 1, in windows that fit in memory."""

    count: int
    make: Callable[[], Iterator[Window]]

    def windows(self) -> Iterator[Window]:
        """Every block is in exactly one window; a window is valid until the next is asked for."""
        return self.make()


@contextmanager
def laid_out(
    source: RowSource,
    partition: Partition,
    workers: int | None = None,
    spill: str | None = None,
    *,
    shared: bool = False,
) -> Iterator[Blocks]:
    """The rows of `source` block by block, until the context ends.

    Rows of a block stand in the order of their numbers, whatever the chunks and the workers.

    Parameters
    ----------
    source : RowSource
    partition : Partition
    workers : int, optional
        Threads; ``DPFAST_NUM_THREADS`` if left out.
    spill : str, optional
        A directory for rows that memory has no room for. All rows go there if it is given; else
        those for which there is none, and to the directory for temporary files.
    shared : bool
        Rows are to lie where other processes can map them: every window has its `file`.

    Yields
    ------
    Blocks

    Raises
    ------
    SourceError
        If a file cannot be made, or its disk is full. It tells nothing of the rows.

    Notes
    -----
    Fixed ranges of rows in memory stay where they are. Other rows in memory are sorted into one
    copy; what is kept beside it, labels of ids and low bits of labels where there are more than
    2048 blocks, is at most 0.3 of the data. Of other sources there is one pass. If their length is
    known, memory is large enough, and no id or NaN decides, rows go straight to such a copy; else
    sorted runs of 32 MB are kept, and there is a copy of one window, of 64 MB or one block, at a
    time.
    """
    where = directory(spill)
    most = threads() if workers is None else workers
    left = _left(source)
    room = 0 if spill is not None else int(SHARE * left)
    part = max(left // PART, LEAST)
    with ExitStack() as stack:
        array, labels = source.array, partition.labels
        if array is not None and isinstance(labels, ContiguousLabels) and not partition.drop:
            yield _where_they_are(array, partition, where, min(WINDOW, part), shared, stack)
            return
        if array is not None:
            named = _named(source, partition, array, room)
            if named is not None:
                yield _in_memory(array, named, partition, workers, where, shared, stack)
                return
        elif source.length is not None and not partition.drop:
            size = source.length * _width(source)
            if size + size // 3 <= room and not isinstance(labels, KeyedLabels):
                memory = _Room(where, shared, stack)
                yield _straight(source, source.length, labels, most, memory)
                return
        sizes = _sizes(source, left, part, room)
        yield _in_runs(source, partition, sizes, where, most, shared, stack)


def _left(source: RowSource) -> int:
    """Memory that may still be taken."""
    rows = source.length
    return ENOUGH if rows is not None and rows * _width(source) <= LITTLE else available()


def _width(source: RowSource) -> int:
    """Bytes of a row."""
    return source.dtype.itemsize * (1 if source.width is None else source.width)


def _sizes(source: RowSource, left: int, part: int, room: int) -> Sizes:
    """How much to do at once: for rows in memory little beside them, and no more than a part."""
    run, window, groups = RUN, WINDOW, 12
    if source.length is not None:
        total = source.length * _width(source)
        run = max(min(RUN, total // 64), total // FEW)
        window = min(WINDOW, total // 16)
        groups = min(max(8, (total >> 23).bit_length()), groups)  # a window is several groups
    run, window = (min(max(size, LEAST), part) for size in (run, window))
    return Sizes(run, window, room, part, left - room, max(4, decoders()), groups)


def _where_they_are(
    array: NDArray[Any],
    partition: Partition,
    where: str,
    size: int,
    shared: bool,
    stack: ExitStack,
) -> Blocks:
    """Fixed ranges of an array, which are copied only to be shared."""
    labels = partition.labels
    assert isinstance(labels, ContiguousLabels)
    count = partition.blocks
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(labels.count(0, len(array)), out=offsets[1:])

    def windows() -> Iterator[Window]:
        if not shared:
            yield Window(0, array, offsets, False)
            return
        width = max(1, array.nbytes // max(1, len(array)))
        spans = list(spans_of(offsets, max(1, size // width)))
        rows = max(int(offsets[stop] - offsets[first]) for first, stop in spans)
        memory = stack.enter_context(_shared(rows * width, where, rows * width <= 4 * size))
        for first, stop in spans:
            some = array[offsets[first] : offsets[stop]]
            copy = memory.array(some.shape, some.dtype)
            copy[...] = some
            cuts = offsets[first : stop + 1] - offsets[first]
            yield Window(first, copy, cuts, True, memory.rows)

    return Blocks(count, windows)


def _named(source: RowSource, partition: Partition, array: NDArray[Any], room: int) -> Any:
    """Labels for sorting an array into one copy; None if that would take too much memory.

    Labels of ids are kept in as few bytes as they need, unless that is much beside the rows.
    """
    labels = partition.labels
    if array.nbytes + array.nbytes // 3 > room:
        return None
    if not isinstance(labels, KeyedLabels):
        return labels
    kind = np.min_scalar_type(partition.blocks - 1)
    shift = shift_of(partition.blocks)
    more = kind.itemsize + (low_type(shift).itemsize if shift else 0)
    if not is_little(more, array.nbytes // max(1, len(array))):
        return None
    named = np.empty(len(array), kind)

    def read(chunk: RowChunk) -> None:
        named[chunk.start : chunk.start + len(chunk.rows)] = partition.named(chunk)

    source.reduce(read, lambda a, b: a)
    return named


def _in_memory(
    array: NDArray[Any],
    named: Any,
    partition: Partition,
    workers: int | None,
    where: str,
    shared: bool,
    stack: ExitStack,
) -> Blocks:
    """One sorted copy of an array."""
    room = _Room(where, shared, stack)
    rows, offsets = scatter(
        array, named, partition.blocks, drop=partition.drop, workers=workers, empty=room
    )
    return room.blocks(rows, offsets)


def _straight(
    source: RowSource, n: int, labels: ContiguousLabels | RandomLabels, workers: int, room: _Room
) -> Blocks:
    """The same of a source that comes in chunks."""
    tail = () if source.width is None else (source.width,)
    sort: InOrder | DirectPlacement
    if isinstance(labels, RandomLabels):
        sort = DirectPlacement(labels, n, source.dtype, tail, workers, room)
    else:
        sort = InOrder(labels, n, source.dtype, tail, room)
    source.reduce(sort.add, lambda a, b: a)
    return room.blocks(*sort.done())


class _Room:
    """Memory for all rows, an `Empty` that is used once."""

    def __init__(self, where: str, shared: bool, stack: ExitStack) -> None:
        self._where, self._shared, self._stack = where, shared, stack
        self._file: SharedRows | None = None

    def __call__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        if not self._shared:
            return np.empty(shape, dtype)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        memory = self._stack.enter_context(_shared(size, self._where))
        self._file = memory.rows
        return memory.array(shape, dtype)

    def blocks(self, rows: NDArray[Any], offsets: NDArray[np.int64]) -> Blocks:
        """One window of all blocks."""
        window = Window(0, rows, offsets, True, self._file)
        return Blocks(len(offsets) - 1, lambda: iter([window]))


def _in_runs(
    source: RowSource,
    partition: Partition,
    sizes: Sizes,
    where: str,
    workers: int,
    shared: bool,
    stack: ExitStack,
) -> Blocks:
    """Sorted runs of a source that comes in chunks."""
    tail = () if source.width is None else (source.width,)
    runs = ExternalSort(partition, source.dtype, tail, sizes, where, workers)
    stack.callback(runs.close)
    source.reduce(runs.add, lambda a, b: a)
    runs.done()

    def windows() -> Iterator[Window]:
        file: SharedRows | None = None

        def buffer(rows: int) -> Empty:
            nonlocal file
            if not shared:
                held = np.empty((rows, *tail), source.dtype)
                return lambda shape, dtype: held[: shape[0]]
            size = rows * _width(source)
            memory = stack.enter_context(_shared(size, where, size <= 4 * sizes.window))
            file = memory.rows
            return memory.array

        for first, rows, offsets in runs.windows(buffer):
            yield Window(first, rows, offsets, True, file)

    return Blocks(partition.blocks, windows)


@contextmanager
def _shared(size: int, where: str, in_memory: bool = True) -> Iterator[SharedMemory]:
    memory = SharedMemory(size, where, in_memory)
    try:
        yield memory
    finally:
        memory.close()
