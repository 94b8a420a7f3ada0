"""Protocols of sources: one column, or rows, that can be read in passes as often as needed.

A source passes chunks of rows to a summary function, and merges the summaries. There are two kinds
of sources. A source of one column leaves nulls out, and counts them. A source of rows keeps the
position of every row, and a missing number is NaN.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .._core import checks

S = TypeVar("S")
T = TypeVar("T")

#: A function that returns a number of fresh random 64-bit words.
RandomWords = Callable[[int], NDArray[np.uint64]]

#: The dtypes that kernels read. Others are refused, or converted chunk by chunk.
CHUNK_DTYPES = tuple(
    np.dtype(t) for t in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
)
_NATIVE = {(d.kind, d.itemsize): d for d in CHUNK_DTYPES}
_NATIVE["b", 1] = np.dtype(np.uint8)
_NATIVE["f", 2] = np.dtype(np.float32)


def native_dtype(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """Return the dtype in which kernels read data of `dtype`; None if they cannot."""
    return _NATIVE.get((dtype.kind, dtype.itemsize))


def chunk_dtype(dtype: np.dtype[Any], name: str = "data") -> np.dtype[Any]:
    """Return the dtype in which kernels read data of `dtype` without loss, or raise an error.

    The result is `dtype` in native byte order, uint8 for bool, and float32 for float16. Other
    dtypes (complex, object, text, dates, long double) raise `ArgumentTypeError`.
    """
    native = native_dtype(dtype)
    if native is None:
        checks.fail_type(
            name, "real numbers of a NumPy integer, bool or float type of at most 64 bits", dtype
        )
    return native


class Chunk(NamedTuple):
    """Some consecutive rows of a one-column source: the values that are not null.

    Attributes
    ----------
    values : ndarray, shape (r,)
        The rows that are not null, C-contiguous and of the source's dtype. A NaN is a value. Do not
        change the array, and do not use it after `summarise` returns, because the source may reuse
        its memory.
    start : int
        The row number of the first row, with nulls counted.
    nulls : int, default 0
        How many rows of the chunk are null.
    present : ndarray of bool, optional
        For each row of the chunk, whether the row is among the values. None if all rows are. A
        source may leave the mask out, since most statistics need only the number of nulls. Then the
        source cannot be cut into blocks, because the positions of nulls are unknown.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> dp.extend.Chunk(np.array([1.0, 2.0]), 40).start
    40
    """

    values: NDArray[Any]
    start: int
    nulls: int = 0
    present: NDArray[np.bool_] | None = None


@runtime_checkable
class Source(Protocol):
    """One column of numbers that can be read in passes as often as needed."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of every chunk: one of `CHUNK_DTYPES`."""

    @property
    def length(self) -> int | None:
        """The number of rows, nulls included; None when that is not known without reading."""

    @property
    def nulls(self) -> int | None:
        """The approximate number of null rows, used to choose pivots; None if it is unknown."""

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        """Summarise every chunk of the column and merge the summaries.

        Every row is in exactly one chunk, and an empty source has one empty chunk. `summarise` may
        run in several threads at once; no two calls of `merge` may. `merge` is associative and
        commutative, and may reuse its first argument.

        Parameters
        ----------
        summarise : callable
            Makes a summary of a `Chunk`.
        merge : callable
            Makes one summary of two.

        Returns
        -------
        Any
            The summary of all rows.
        """

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """Return about `count` random values of the column, without nulls, at low cost.

        Order statistics use the sample for pivots only, so a biased sample costs time but no
        correctness. Return None if a sample would cost about as much as a pass.

        Parameters
        ----------
        count : int
            The wanted number of values. Somewhat more or fewer may be returned.
        words : callable
            The source of randomness: ``words(k)`` returns `k` random words of 64 bits.

        Returns
        -------
        ndarray or None
        """


class RowChunk(NamedTuple):
    """Some consecutive rows of a `RowSource`, with none left out.

    `rows` has the shape (r,), or (r, width) in C order. Nobody may change `rows`, or use it after
    `summarise` returns. `start` is the number of the first row in the whole data. `ids` are the ids
    of these rows, in any type that `KeyWords.of` accepts, or None if no ids were requested.
    """

    rows: NDArray[Any]
    start: int
    ids: Any = None


@runtime_checkable
class RowSource(Protocol):
    """Rows that can be read in passes as often as needed, always in the same chunks."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a row's number, in native byte order; structured for named columns."""

    @property
    def width(self) -> int | None:
        """The number of columns of a matrix; None for single numbers and for named columns."""

    @property
    def length(self) -> int | None:
        """The number of rows; None when that is not known without reading."""

    @property
    def array(self) -> NDArray[Any] | None:
        """All rows as an array in memory, of this dtype and in C order; else None."""

    def reduce(self, summarise: Callable[[RowChunk], S], merge: Callable[[S, S], S]) -> S:
        """Summarise every chunk of rows and merge the summaries, as `Source.reduce` does."""


def size_of(chunk: Any) -> int:
    """Return the number of rows of a chunk, nulls counted."""
    return len(chunk.rows) if isinstance(chunk, RowChunk) else len(chunk.values) + chunk.nulls


class Gridded(Protocol):
    """A public grid: cell c of ``first .. first + span`` represents the number ``c * grid``."""

    @property
    def grid(self) -> float: ...
    @property
    def first(self) -> int: ...
    @property
    def span(self) -> int: ...


#: How errors say where data must be to be read row by row.
NO_ROWS = "in memory or in files for this (rows stay in a database; .to_pyarrow() takes them out)"


class Term(NamedTuple):
    """An integer of each row of an `SqlRows`, from `least` to ``least + most``, to be summed."""

    integer: Any
    most: int
    least: int = 0


class Feature(NamedTuple):
    """A feature of each row of an `SqlRows`: an integer, missing for a row that does not count.

    Attributes
    ----------
    above : integer
        The feature minus `least`: from 0 to `most`, and less than 2**63.
    most : int
    least : int, default 0
    rows : int, optional
        How many rows of a unit count at most. By default all rows count.
    ends : (int, int), optional
        The limits to which the total of a unit with rows is clamped, both below 2**60 in size.
    """

    above: Any
    most: int
    least: int = 0
    rows: int | None = None
    ends: tuple[int, int] | None = None


class Units(NamedTuple):
    """The column of ids in a database, and how many groups of a unit count, chosen by a secret."""

    ids: str
    max_groups: int | None = None
    secret: str = ""


class Near(NamedTuple):
    """The rows of a group near a target rank, in the order of a number.

    Attributes
    ----------
    share : float
        The target rank, as a part of the rows of the group: 0.5 for the median.
    ranks : int
        How many ranks a row may be away from the target rank.
    """

    share: float
    ranks: int

    def ends(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first rank near the target rank of each group, and the one after the last."""
        middle = rows * self.share
        first = np.maximum(np.ceil(middle - self.ranks), 0)
        stop = np.minimum(np.floor(middle + self.ranks), rows)
        return first.astype(np.int64), stop.astype(np.int64)


class Groups(NamedTuple):
    """Group keys, column by column, with the bin of each group, and the exact sums of features."""

    keys: dict[str, Any]
    bins: NDArray[np.int64] | None
    sums: list[NDArray[np.object_]]


def named_dtype(names: tuple[str, ...]) -> np.dtype[Any]:
    """Return the dtype of a record of named columns: float64, in which numbers may be missing."""
    if not all(names):  # NumPy would replace an empty name
        checks.fail("the names of columns", "texts that are not empty", names)
    return np.dtype([(name, np.float64) for name in names])


class Choosing:
    """A `RowSource` that can skip the columns that a pass does not need."""

    @abstractmethod
    def only(self, columns: Collection[Any] | None) -> RowSource:
        """Return a source of these rows for a pass that reads only `columns`; None means all.

        Columns with other names may be absent. A matrix keeps all columns, in any memory order.
        """


class WithRows:
    """Named columns, whose rows can be read as one source, together with a column of ids."""

    names: tuple[str, ...]
    held_columns: Mapping[str, Any]

    @abstractmethod
    def source(self, name: str) -> Source:
        """Return the only column as a source of numbers, or refuse it as the argument `name`."""

    @abstractmethod
    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        """Return the rows; `ids` is the name of a column, or holds one id for each row."""

    @abstractmethod
    def with_column(self, column: str, argument: str = "weights") -> WithRows:
        """Return these columns with `column`, any of the table's, as the last one."""

    @abstractmethod
    def coded(self, words: Sequence[Any], ids: Any = None) -> RowSource:
        """Return the rows with each text replaced by its index in the public `words`."""


def width_of(source: RowSource) -> int:
    """Return how many columns a source of rows has, each of numbers that kernels can read."""
    names = source.dtype.names
    for kind in [source.dtype[field] for field in names] if names else [source.dtype]:
        chunk_dtype(kind)
    return len(names) if names else source.width or 1
