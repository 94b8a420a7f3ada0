"""Sources made of other sources, whose chunks are changed one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .base import Choosing, Chunk, RandomWords, RowSource, S, size_of

#: The first row and the length of each chunk of a pass.
Spans: TypeAlias = Sequence[tuple[int, int]]


class Mapped:
    """A source that changes each chunk of another source separately.

    Parameters
    ----------
    base : Source or RowSource
    change : callable, optional
        A function that returns the changed chunk for a chunk of the base. It can be sent to an
        engine. By default chunks do not change.
    before : callable, optional
        A function that is called before each pass, after the spend.
    after : callable, optional
        A function that is called after each pass, with the `Spans` of the base.
    **public
        Attributes that differ from the attributes of the base.
    """

    #: The index of a pandas table.
    row_index: Any = None
    dtype: np.dtype[Any]
    length: int | None

    def __init__(
        self,
        base: Any,
        change: Callable[[Any], Any] | None = None,
        before: Callable[[], None] = lambda: None,
        after: Callable[[Spans], None] | None = None,
        **public: Any,
    ) -> None:
        self.base, self._change, self._before, self._after = base, change, before, after
        self.dtype, self.length = base.dtype, base.length
        vars(self).update(public)

    def reduce(self, summarise: Callable[[Any], S], merge: Callable[[S, S], S]) -> S:
        change, after = self._change, self._after
        seen: list[tuple[int, int]] = []  # list.append is safe from several threads

        def read(chunk: Any) -> S:
            changed = chunk if change is None else change(chunk)
            if after is not None:
                seen.append((chunk.start, size_of(chunk)))
            return summarise(changed)

        self._before()
        total: S = self.base.reduce(read, merge)
        if after is not None:
            after(seen)
        return total


class MappedColumn(Mapped):
    """A one-column source, made of another column or of rows."""

    @property
    def nulls(self) -> int | None:
        """The number of nulls of the base, if its chunks are not changed; else None."""
        return self.base.nulls if self._change is None else None

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """Return a sample of the base, changed as a chunk is; None if the base is rows."""
        self._before()
        values = None if isinstance(self.base, RowSource) else self.base.sample(count, words)
        if values is not None and self._change is not None:
            values = self._change(Chunk(values, 0)).values
        return values


class MappedRows(Mapped, Choosing):
    """A source of rows, made of other rows or of a column."""

    width: int | None = None
    #: The rows as an array, for readers that make no pass; None if a pass is needed.
    array: NDArray[Any] | None = None

    def only(self, columns: Collection[Any] | None) -> RowSource:
        if self._change is not None or not isinstance(self.base, Choosing):
            return self
        public = {"row_index": self.row_index, "length": self.length, "width": self.width}
        return MappedRows(self.base.only(columns), None, self._before, self._after, **public)


def expect_rows(many: int, refuse: Callable[[], NoReturn]) -> Callable[[Spans], None]:
    """Return a check that calls `refuse` after a pass if it did not have `many` rows."""

    def check(seen: Spans) -> None:
        if sum(rows for _, rows in seen) != many:
            refuse()

    return check
