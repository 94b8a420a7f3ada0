"""The rows of all blocks, block by block, for estimators that need a whole block at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._core.threads import threads
from ...tables.available_memory import available
from ...tables.base import RowChunk, RowSource
from ...tables.row_files import File, directory, shared_file
from ...tables.threads import decoders, spans_of
from .counting_sort import Empty, is_little, low_type, placed, scatter, shift_of
from .external_sort import ExternalSort, Sizes
from .partition import ContiguousLabels, KeyedLabels, Partition

#: Bytes of a run and of a window if there is enough memory; the number of runs that is still small.
RUN, WINDOW, FEW = 1 << 25, 1 << 26, 512
#: Fractions of the available memory. SHARE is for rows. One run or window gets 1 / PART, because
#: there are several at a time, but at least LEAST bytes.
SHARE, PART, LEAST = 2 / 3, 16, 1 << 18
#: For at most LITTLE bytes of rows, ENOUGH bytes of memory are assumed to be available, because
#: asking the machine would take longer than everything else.
LITTLE, ENOUGH = 1 << 21, 1 << 23


class Window(NamedTuple):
    """Consecutive blocks of rows in memory.

    Block ``first + j`` is ``rows[offsets[j]:offsets[j + 1]]``. If `ours` is True, the rows are a
    copy and may be written to. Otherwise they are the caller's data. If it was requested, `file` is
    a file that begins with the rows, for other processes.
    """

    first: int
    rows: NDArray[Any]
    offsets: NDArray[np.int64]
    ours: bool
    file: File | None = None


@contextmanager
def laid_out(
    source: RowSource,
    partition: Partition,
    workers: int | None = None,
    spill: str | None = None,
    *,
    shared: bool = False,
) -> Iterator[Iterator[Window]]:
    """Yield the rows of `source` sorted by block, in windows, until the context ends.

    Rows of a block are in the order of their numbers, for any chunks and workers.

    Parameters
    ----------
    source : RowSource
    partition : Partition
    workers : int, optional
        Threads; ``DPFAST_NUM_THREADS`` if left out.
    spill : str, optional
        A directory for rows. If it is given, all rows are written there. Otherwise only rows that
        do not fit in memory are written, to the directory for temporary files.
    shared : bool
        Whether other processes will map the rows. Then every window has a `file`.

    Yields
    ------
    iterator of Window
        The windows. Every block is in exactly one window. A window is valid until the next window
        is requested.

    Raises
    ------
    SourceError
        If a file cannot be made, or its disk is full. The text does not depend on the rows.

    Notes
    -----
    Fixed ranges of rows in memory are not moved. Other rows in memory are sorted into one copy.
    There are also the labels of ids, and for more than 2048 blocks the low bits of labels: at most
    0.3 of the data. Other sources are read in one pass. If the number of rows is known, memory is
    large enough, and labels do not depend on ids or NaN, rows are written to their positions in one
    copy (`placed`). Otherwise runs of 32 MB are sorted and stored (`external_sort`), and one window
    at a time, of 64 MB or one block, is copied.
    """
    where = directory(spill)
    most = threads() if workers is None else workers
    left = _left(source)
    room = 0 if spill is not None else int(SHARE * left)
    part = max(left // PART, LEAST)
    with ExitStack() as stack:
        memory = _Memory(where, shared, stack)
        array, labels = source.array, partition.labels
        if array is not None and isinstance(labels, ContiguousLabels) and not partition.drop:
            yield _in_place(array, labels, min(WINDOW, part), memory)
            return
        if array is not None:
            named = _named(source, partition, array, room)
            if named is not None:
                blocks, drop, empty = partition.blocks, partition.drop, memory.empty
                rows = scatter(array, named, blocks, drop=drop, workers=workers, empty=empty)
                yield iter([Window(0, *rows, True, memory.file)])
                return
        elif source.length is not None and not partition.drop:
            size = source.length * _width(source)
            if size + size // 3 <= room and not isinstance(labels, KeyedLabels):
                n, tail = source.length, _tail(source)
                rows = placed(source, labels, n, tail, most, memory.empty)
                yield iter([Window(0, *rows, True, memory.file)])
                return
        sizes = _sizes(source, left, part, room)
        runs = ExternalSort(partition, source.dtype, _tail(source), sizes, where, most)
        stack.callback(runs.close)
        source.reduce(runs.add, lambda a, b: a)
        runs.done()
        windows = runs.windows(lambda rows: memory.room(rows, _width(source), sizes.window))
        yield (Window(first, *laid, True, memory.file) for first, laid in windows)


def _left(source: RowSource) -> int:
    """Return the bytes of memory that sorting may still take."""
    rows = source.length
    return ENOUGH if rows is not None and rows * _width(source) <= LITTLE else available()


def _tail(source: RowSource) -> tuple[int, ...]:
    """Return the shape of a row."""
    return () if source.width is None else (source.width,)


def _width(source: RowSource) -> int:
    """Return the number of bytes of a row."""
    return source.dtype.itemsize * (1 if source.width is None else source.width)


def _sizes(source: RowSource, left: int, part: int, room: int) -> Sizes:
    """Return the sizes of windows and buffers, a small part of the memory of all rows."""
    run, window, groups = RUN, WINDOW, 12
    if source.length is not None:
        total = source.length * _width(source)
        run = max(min(RUN, total // 64), total // FEW)
        window = min(WINDOW, total // 16)
        # So that a window contains several groups.
        groups = min(max(8, (total >> 23).bit_length()), groups)
    run, window = (min(max(size, LEAST), part) for size in (run, window))
    return Sizes(run, window, room, part, left - room, max(4, decoders()), groups)


class _Memory:
    """Storage for sorted rows: memory of this process, or a file that others can map."""

    def __init__(self, where: str, shared: bool, stack: ExitStack) -> None:
        self.where, self.shared, self.stack = where, shared, stack
        self.file: File | None = None

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return an uninitialized array, in shared memory if others can map it."""
        if not self.shared:
            return np.empty(shape, dtype)
        return self.reserve(int(np.prod(shape, dtype=np.int64)) * dtype.itemsize)(shape, dtype)

    def room(self, rows: int, width: int, usual: int) -> Empty:
        """Return an `Empty` for up to `rows` rows, on disk if that is much more than `usual`."""
        return self.reserve(rows * width, rows * width <= 4 * usual)

    def reserve(self, size: int, in_memory: bool = True) -> Empty:
        """Return an `Empty` whose arrays, of up to `size` bytes, all reuse one buffer."""
        if self.shared:
            file = shared_file(size, self.where, in_memory)
            self.stack.callback(file.close)
            self.file = file
            return lambda shape, dtype: np.ndarray(shape, dtype, file.map)
        held = np.empty(size, np.uint8)
        return lambda shape, dtype: np.ndarray(shape, dtype, held)


def _in_place(
    array: NDArray[Any], labels: ContiguousLabels, size: int, memory: _Memory
) -> Iterator[Window]:
    """Yield contiguous blocks of an array as windows, copied only if workers share memory."""
    offsets = labels.offsets()
    if not memory.shared:
        yield Window(0, array, offsets, False)
        return
    width = max(1, array.nbytes // max(1, len(array)))
    spans = list(spans_of(offsets, max(1, size // width)))
    rows = max(int(offsets[stop] - offsets[first]) for first, stop in spans)
    empty = memory.room(rows, width, size)
    for first, stop in spans:
        some = array[offsets[first] : offsets[stop]]
        copy = empty(some.shape, some.dtype)
        copy[...] = some
        cuts = offsets[first : stop + 1] - offsets[first]
        yield Window(first, copy, cuts, True, memory.file)


def _named(source: RowSource, partition: Partition, array: NDArray[Any], room: int) -> Any:
    """Return labels to sort an array in one copy; None if that takes too much memory.

    Labels of ids use as few bytes as possible. None if even these are many compared with the rows.
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
