"""Contribution bounding: choose the rows of each unit that count, by groups and rows in each.

Notes
-----
A person keeps the groups with the least hash of (id, group), under a fresh secret key. In each of
these groups, the person keeps the rows with the least hash of the row's number
(`csrc/groups/bound.h`). So the kept rows of a person depend on the rows of this person, on their
numbers, and on the key. Rows of other people, the order of their rows, the chunks, the number of
threads and the memory limit do not matter.

The numbers of a person's rows may depend on other people, whose rows come before them. But hashes
of different numbers are independent and uniform, whatever the numbers are. So renumbering rows does
not change the distribution: each person has a uniform choice of groups, and of rows in each group.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from .._core.threads import run_in_threads, threads
from .._kernels import groups as _native
from .._kernels.tables import Key
from .available_memory import share
from .batches import Batch, Batches
from .key_words import KeyWords
from .row_files import Spill, directory
from .threads import spans_of

#: Rows that are marked at a time, and bytes that are written at a time.
AT_ONCE, WRITTEN = 1 << 13, 1 << 23
UNBOUNDED = 2**64 - 1


class Bounding:
    """A choice of the rows of each unit that count: add all rows, then ask which are kept.

    Rows with a negative code, or without an id, are left out before anything is bounded.

    Parameters
    ----------
    max_groups : int or None
        The largest number of groups that a person keeps; None for all groups.
    max_rows : int or None
        The largest number of rows that a person keeps in each group; None for all rows.
    key : Key
        A fresh secret key, which determines which rows are kept.
    memory : int, optional
        The bytes of memory for rows, which take 24 or 32 bytes each. By default the `share` of the
        available memory.
    spill : str, optional
        The directory for rows that do not fit. By default the directory for temporary files.

    Notes
    -----
    Bounding chooses rows, and spends nothing. It brings a bias that no error bar includes. A row
    that is added twice counts as two rows of one number. The rows of a 1024th of the people must
    fit in memory, and so must the rows of any one person.
    """

    def __init__(
        self,
        max_groups: int | None,
        max_rows: int | None,
        key: Key,
        *,
        memory: int | None = None,
        spill: str | None = None,
    ) -> None:
        self.max_groups = UNBOUNDED if max_groups is None else max_groups
        self.max_rows = UNBOUNDED if max_rows is None else max_rows
        self.key = key
        self._limit = share() if memory is None else memory
        self._where = directory(spill)
        self._lock = threading.Lock()
        self._blocks = _native.Blocks()
        self._held = 0
        self._sizes = np.zeros(_native.PARTS, np.int64)
        self._file: Spill | None = None
        self._runs: list[tuple[int, NDArray[np.int64], int]] = []

    def close(self) -> None:
        """Forget all rows, and delete the file that holds some of them."""
        self._blocks = _native.Blocks()
        if self._file is not None:
            self._file.close()

    def add(
        self,
        low: NDArray[np.uint64],
        high: NDArray[np.uint64] | None,
        codes: NDArray[np.int32],
        start: int,
        present: NDArray[np.bool_] | None = None,
    ) -> None:
        """Add rows numbered from `start` on: words of their ids, and codes of their groups.

        Several threads may call this.

        Raises
        ------
        SourceError
            If a file for them cannot be made or its disk is full. The text depends on no row.
        """
        records, cuts = _native.split(self.key, low, high, present, codes, start)
        with self._lock:
            self._blocks.add(records, cuts)
            self._sizes += np.diff(cuts)
            self._held += records.nbytes + cuts.nbytes
            if self._held > self._limit:
                self._spill()

    def _spill(self) -> None:
        """Write the records in memory to the file, part by part."""
        if self._file is None:
            self._file = Spill(self._where)
        step = max(1, _native.PARTS * WRITTEN // max(1, self._held))
        for words in (3, 4):
            starts, sizes = [], []
            for first in range(0, _native.PARTS, step):
                records, some = self._blocks.joined(first, min(first + step, _native.PARTS), words)
                # The lock is held, so these are written in order.
                starts.append(self._file.append(records))
                sizes.append(some)
            cuts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(sizes))])
            if cuts[-1]:
                self._runs.append((starts[0], cuts, words))
        self._blocks, self._held = _native.Blocks(), 0

    def kept_rows(
        self,
        n: int,
        workers: int | None = None,
        names: NDArray[np.int32] | None = None,
    ) -> NDArray[np.bool_]:
        """Return a mask of the rows 0 .. `n` - 1 that are kept; a row that was not added is not.

        Parameters
        ----------
        n : int
            More than any row's number.
        workers : int, optional
            Threads; ``DPFAST_NUM_THREADS`` if left out.
        names : int32 array, optional
            A different value for each code, which is hashed in its place. It is needed if codes
            depend on the order of rows.
        """
        out = np.zeros(n, np.uint8)
        cuts = np.concatenate([[0], np.cumsum(self._sizes)])

        def mark(span: tuple[int, int]) -> None:
            more = [self._read(*span, run) for run in self._runs]
            most = (self.max_groups, self.max_rows)
            self._blocks.mark(self.key, *span, *most, more, out, names=names)

        run_in_threads(
            mark, list(spans_of(cuts, AT_ONCE)), threads() if workers is None else workers
        )
        return out.view(np.bool_)

    def _read(
        self, first: int, stop: int, run: tuple[int, NDArray[np.int64], int]
    ) -> NDArray[np.uint64]:
        """Return the records of the parts `first` .. `stop` - 1 in one run of the file."""
        begins, cuts, words = run
        records = np.empty((int(cuts[stop] - cuts[first]), words), np.uint64)
        if self._file is not None and len(records):
            self._file.read(begins + 8 * words * int(cuts[first]), records)
        return records


def marks_of(
    rows: Batches,
    ids: str,
    bounding: Bounding,
    codes: Callable[[Batch], NDArray[np.int32]],
    other_columns: Sequence[str] = (),
    text: Sequence[str] = (),
    names: Callable[[], NDArray[np.int32] | None] = lambda: None,
) -> NDArray[np.bool_]:
    """Return a mask of the rows of a table that count after bounding, and close `bounding`.

    Parameters
    ----------
    rows : Batches
    ids : str
        The column of ids.
    bounding : Bounding
        A choice to which no rows were added yet. Its key is also used for the words of ids.
    codes : callable
        ``codes(batch)``, the groups of the rows of a batch.
    other_columns : sequence of str
        The columns that `codes` reads.
    text : sequence of str
        The names of columns that are read as text in a text file.
    names : callable
        Returns the value that is hashed for each code, and is called after all rows have a code;
        see `Bounding.kept_rows`.
    """
    words = KeyWords(bounding.key, "ids", is_id=True)

    def add(batch: Batch) -> int:
        if batch.rows:
            low, high, present = words.of(batch.columns[ids])
            bounding.add(low, high, codes(batch), batch.start, present)
        return batch.start + batch.rows

    with closing(bounding):
        return bounding.kept_rows(rows.reduce(other_columns, text, add, max, ids), names=names())
