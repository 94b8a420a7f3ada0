"""The rows that a learner reads: features, labels and weights, with exact sums over rows.

Labels are a separate array, or one of the columns. In both cases a row is added, removed or
replaced together with its label.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from ..errors import ArgumentError, DataError
from ..rng import Generator
from ..statistics.histogram import Bins
from ..summaries.side_by_side import beside_of, flat, refuse_length
from ..tables.base import RowChunk, RowSource, S, WithRows, width_of
from ..tables.data import as_rows, form_of
from ..tables.engine import of_engine, refuse_array
from ..tables.forms import Values, as_column, column_form, is_distributed
from ..tables.intake import Public, declared, expect_numbers
from ..tables.key_words import secret
from ..tables.labels import aligned, labels_of
from ..tables.mapped import MappedRows, expect_rows
from ..tables.masked import refuse_mask
from ..tables.memory import Column
from ..tables.people import IdColumn
from ..tables.table import RULE as ROWS
from ..tables.words import words_column
from .columns import ANY_COLUMNS, Columns, Floats
from .weights import RowIndices, Weights

#: The features of some rows, as float64 of shape (r, width) in C order. Their labels, of shape (r,)
#: in a dtype that kernels read, or of shape (0,) if there are no labels. The arrays are reused for
#: the next block.
Block: TypeAlias = tuple[Floats, NDArray[Any]]

#: The number of rows that are processed together, and the number that are converted together if
#: they are not float64 in memory.
BLOCK, CONVERTED = 1 << 14, 1 << 12

RULE = "one number for each row, or the name of a column"
F8 = np.dtype(np.float64)
NO_LABELS: NDArray[Any] = np.empty(0)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a fit, with optional labels, weights and ids.

    Attributes
    ----------
    source : RowSource
    width : int
        The number of features.
    names : tuple of str or None
        The names of the features, if they have names.
    labels : Column or None
        The labels, if they are a separate array.
    last_is_label : bool
        Whether the last column of `source` has the labels.
    weights : Weights or None
        How often each row counts in sums; None if each row counts once.
    ids : IdColumn or None
        The id of each row, if the privacy unit is a person and rows are not yet bounded.
    kept : ndarray of bool or None
        A mask of the rows that are read; None for all rows.
    """

    source: RowSource
    width: int
    names: tuple[str, ...] | None
    labels: Column | None = None
    last_is_label: bool = False
    weights: Weights | None = None
    ids: IdColumn | None = None
    kept: NDArray[np.bool_] | None = None

    @property
    def length(self) -> int | None:
        """The number of rows; None if it is unknown without reading."""
        return self.source.length

    def bounded(self, max_rows: int, generator: Generator) -> Rows:
        """Return at most `max_rows` of these rows for each person.

        If a person has more rows, a fresh secret key chooses among them uniformly, once for all
        rounds; see `measurement.unit`.
        """
        if self.ids is None:
            return self
        key = secret(generator.stream())
        return replace(self, ids=None, kept=self.ids.kept(self.kept, max_rows, key))

    def reduce(
        self,
        summarize: Callable[[Iterator[Block]], S],
        merge: Callable[[S, S], S],
        most: int = BLOCK,
    ) -> S:
        """Summarize every chunk, `most` rows at a time, and merge the summaries.

        Raises
        ------
        DataError
            If there are more or fewer labels than rows, and the number of rows was not known
            before.
        """
        weights, kept = self.weights, self.kept
        # The source of an engine stays with the driver. Without the source, this object can be sent
        # to workers.
        cut = replace(self, source=None, ids=None, kept=None)._blocks  # type: ignore[arg-type]

        def some(chunk: RowChunk, indices: RowIndices | None = None) -> S:
            return summarize(cut(chunk, most, indices))

        def summarize_chunk(chunk: RowChunk) -> tuple[S, int, int]:
            keep = None if kept is None else kept[chunk.start : chunk.start + len(chunk.rows)]
            if keep is not None and len(keep) != len(chunk.rows):
                refuse_mask()
            if weights is None:
                indices = None if keep is None else np.flatnonzero(keep)
                return some(chunk, indices), len(chunk.rows), 0
            summary, missing = weights.summarize(chunk, some, merge, keep)
            return summary, len(chunk.rows), missing

        def both(a: tuple[S, int, int], b: tuple[S, int, int]) -> tuple[S, int, int]:
            return merge(a[0], b[0]), a[1] + b[1], a[2] + b[2]

        summary, read, missing = self.source.reduce(summarize_chunk, both)
        if weights is not None:
            weights.check(read, missing)
        if self.labels is not None and read != self.labels.length:
            refuse_length("y")
        if kept is not None and read != len(kept):
            refuse_mask()
        return summary

    def sums(
        self,
        size: int,
        add: Callable[[Floats, NDArray[Any], NDArray[np.int64]], int],
        nan: str | float,
        most: int = BLOCK,
        room: int = 0,
    ) -> list[int]:
        """Return exact sums over the rows of `size` integers, of any magnitude.

        Parameters
        ----------
        size : int
            The number of integers of a row.
        add : callable
            ``add(features, labels, sums)`` adds the integers of some rows to an int64 array, and
            returns how many of these rows have a NaN.
        nan : str or float
            How NaN is treated. With "raise", a NaN is an error.
        most : int
            The largest number of rows in a call of `add`.
        room : int
            The number of rows whose integers add up to less than 2**62. By default `most`.

        Raises
        ------
        DataError
            If there is a NaN that is not allowed, and as in `reduce`.
        """

        def summarize(blocks: Iterator[Block]) -> NDArray[np.int64]:
            halves, fresh = np.zeros((2, 1 + size), np.int64), 0
            for features, labels in blocks:
                if fresh + len(features) > room:
                    carry(halves)
                    fresh = 0
                halves[1, 0] += add(features, labels, halves[1, 1:])
                fresh += len(features)
            carry(halves)
            return halves

        integers: list[int]
        missing, *integers = wholes(self.reduce(summarize, added, most)).tolist()
        nan_policy.refuse(nan, missing)
        return integers

    def computed(self, size: int, function: Callable[[Floats], Floats]) -> Floats:
        """Return `size` numbers for each row; refuse NaN. This is not private."""
        rows = self.mapped(size, lambda features, _: function(features))
        chunks = rows.reduce(lambda chunk: [(chunk.start, chunk.rows)], lambda a, b: a + b)
        blocks = [block for _, block in sorted(chunks, key=lambda chunk: chunk[0])]
        return answers(np.concatenate([np.empty((0, size)), *blocks]))

    def mapped(self, width: int, function: Callable[[Floats, NDArray[Any]], Floats]) -> RowSource:
        """Return rows of `width` numbers, computed from the features and label of each row."""
        cut = replace(self, source=None, ids=None, kept=None)._blocks  # type: ignore[arg-type]

        def change(chunk: RowChunk) -> RowChunk:
            with np.errstate(invalid="ignore"):  # infinite numbers cause no warning
                blocks = [function(*block) for block in cut(chunk, BLOCK)]
            return chunk._replace(rows=np.concatenate([np.empty((0, width)), *blocks]))

        after = None
        if self.labels is not None:
            after = expect_rows(self.labels.length, lambda: refuse_length("y"))
        return MappedRows(self.source, change, after=after, dtype=F8, width=width)

    def _blocks(
        self, chunk: RowChunk, most: int, indices: RowIndices | None = None
    ) -> Iterator[Block]:
        """Yield features and labels of a chunk, or of its rows `indices`, `most` at a time."""
        rows, labels = chunk.rows, NO_LABELS
        if self.last_is_label:
            *names, label = rows.dtype.names or ()
            rows, labels = rows[names], rows[label]
        elif self.labels is not None:
            labels = beside_of(self.labels, chunk.start, chunk.start + len(rows), "y")
        if indices is not None:
            rows, labels = rows.take(indices, 0), labels.take(indices) if len(labels) else labels
        at = 0
        for features in matrices(rows, self.width, most):
            yield features, flat(labels[at : at + len(features)])
            at += len(features)


def matrices(rows: NDArray[Any], width: int, most: int) -> Iterator[Floats]:
    """Yield rows as matrices of at most `most` rows; each matrix is reused for the next."""
    rows = _plain(rows)
    names = rows.dtype.names
    if names is None and rows.dtype == F8 and rows.flags.c_contiguous:
        matrix = rows.reshape(len(rows), width)
        for at in range(0, len(rows), most):
            yield matrix[at : at + most]
        return
    step = min(CONVERTED, most)
    buffer = np.empty((min(step, len(rows)), width))
    for at in range(0, len(rows), step):
        part = rows[at : at + step]
        matrix = buffer[: len(part)]
        if names is None:
            matrix[...] = part.reshape(len(part), width)
        else:
            for j, name in enumerate(names):
                matrix[:, j] = part[name]
        yield matrix


def _plain(rows: NDArray[Any]) -> NDArray[Any]:
    """Return records of float64 fields as a matrix without a copy, and other rows unchanged."""
    kind = rows.dtype
    size, extra = divmod(kind.itemsize, F8.itemsize)
    if kind.names is None or extra or not rows.flags.c_contiguous:
        return rows
    if any(kind.fields[name] != (F8, 8 * j) for j, name in enumerate(kind.names)):  # type: ignore[index]
        return rows
    matrix = rows.view(F8).reshape(len(rows), size)[:, : len(kind.names)]
    return matrix if matrix.flags.aligned else rows


def answers(numbers: Floats) -> Floats:
    """Return numbers computed from rows, or raise an error if one is NaN."""
    if np.isnan(numbers).any():
        raise DataError(
            "X contains NaN or infinite numbers, for which there is no prediction: drop these rows"
        )
    return numbers


# The sums below are sums of 64-bit integers, and may need more than 64 bits. Each sum is stored as
# two halves: a high half, in units of 2**32, and a low half, to which kernels add. An array of
# halves has one more dimension in front, for the two halves.


def carry(halves: NDArray[np.int64]) -> None:
    """Carry the low halves into the high halves, so that 2**62 can be added without overflow."""
    halves[0] += halves[1] >> 32
    halves[1] &= (1 << 32) - 1


def added(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of two arrays of halves, with the low halves carried."""
    halves = a + b
    carry(halves)
    return halves


def wholes(halves: NDArray[np.int64]) -> NDArray[Any]:
    """Return halves joined to exact Python integers."""
    high, low = halves
    if np.abs(high).max(initial=0) >= 1 << 30:
        high, low = high.astype(object), low.astype(object)
    return np.asarray(((high << 32) + low).astype(object))


def labeled_rows(
    X: Any,
    y: Any,
    columns: Columns[Any] = ANY_COLUMNS,
    classes: Bins | None = None,
    width: int | None = None,
    relation: str = "replace",
) -> Rows:
    """Return the rows of X with the labels or targets y.

    Parameters
    ----------
    X : array_like of shape (n, d), structured array, table, or source
    y : array_like of shape (n,), or str
        An array with a label for each row. If the columns of X have names, `y` may be the name of a
        column, which is then not a feature. For a scanned file it may be any of its columns.
    columns : Columns, optional
        The features. Text features are read as indices of their public words.
    classes : Bins, optional
        The public labels, if there are classes.
    width : int, optional
        The number of features, by default that of `columns`. For a list, the number of columns is
        unknown.
    relation : {"replace", "add-remove"}, default "replace"
        Under "add-remove" the number of rows is private, so a wrong number of labels is only
        noticed when the rows are read.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        If X or y cannot be read, or if there are more or fewer labels than rows. Nothing has been
        read, so these errors do not depend on values of rows.
    """
    expect_dense(X)
    if y is None:
        checks.fail("y", f"{RULE} (this requires y to be passed, but the target y is None)", y)
    words, width = columns.words, width or columns.width
    labels, numbers = (None, None) if classes is None else (classes.words, classes.numbers)
    X, y = _expect_numbers(X, y, columns.numbers, numbers)
    if isinstance(y, str):
        source = as_rows(X, name="X", last=y, argument="y", words=words, last_words=labels)
        width = width_of(source) - 1
        if not width:
            checks.fail("y", "one of several columns: X needs at least one more as a feature", y)
        return Rows(source, width, (names_of(X, source) or ())[:-1], last_is_label=True)
    source = as_rows(X, name="X", width=width, is_wide=True, words=words)
    if of_engine(source):
        refuse_array("y", y)
    column = as_column(y, "y", RULE) if labels is None else words_column(y, labels, "y")
    if column.width is not None:
        checks.fail_kind("y", RULE, y.original if isinstance(y, Values) else y)
    checks.entries("y", column.length, source.length, relation)
    rows: RowSource = aligned(source, labels_of(source, y))
    return Rows(rows, width_of(source), names_of(X, source), column)


def unlabeled_rows(X: Any, columns: Columns[Any] = ANY_COLUMNS, width: int | None = None) -> Rows:
    """Return rows without labels; arguments and errors as in `labeled_rows`.

    With a `width`, which has been learned, categories may be numbers that the columns cannot
    contain.
    """
    expect_dense(X)
    if width is None:
        X, _ = _expect_numbers(X, None, columns.numbers)
    source = as_rows(X, name="X", width=width or columns.width, is_wide=True, words=columns.words)
    return Rows(source, width_of(source), names_of(X, source))


def _expect_numbers(
    X: Any, y: Any, numbers: Sequence[Public | None], labels: Public | None = None
) -> tuple[Any, Any]:
    """Refuse categories that no value of X or y can equal; return X and y, to be read once more."""
    name = y if isinstance(y, str) else None
    if any(numbers) or (labels is not None and name is not None):
        X = form_of(X, "X", ROWS)
        columns = declared(X.with_column(name) if name and isinstance(X, WithRows) else X)
        many = len(columns) if len(numbers) == 1 else 1  # a single entry applies to all columns
        expect_numbers([*numbers] * many, X, name)
        for column, typed in columns:
            if labels is not None and column == name is not None:
                expect_numbers([labels], typed)
    if labels is not None and name is None and not is_distributed(y):
        y = column_form(y, "y", RULE)
        expect_numbers([labels], y)
    return X, y


def expect_dense(X: Any) -> None:
    """Refuse sparse matrices and complex numbers, with the messages of scikit-learn."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        why = ": sparse input is not supported; pass X.toarray()"
        checks.fail_kind("X", "dense rows of numbers", X, why)
    if checks.attribute(checks.attribute(X, "dtype"), "kind") == "c":
        checks.fail("X", "real numbers (Complex data not supported)", X.dtype)


def names_of(X: Any, source: RowSource) -> tuple[str, ...] | None:
    """Return the column names of X from its source; None for a plain array."""
    return None if isinstance(X, np.ndarray) and X.dtype.names is None else source.dtype.names


def expect_same(
    width: int,
    names: Sequence[str] | None,
    learned: int,
    names_learned: Sequence[str] | None,
    argument: str = "X",
    learner: str = "it",
) -> None:
    """Refuse columns that differ from the fitted columns in number, or in names if both have names.

    The hints are the messages of scikit-learn.
    """
    if width != learned:
        words = f"{argument} must be of {learned} columns, as in fit, got '{width} of them'"
        hint = f"{width} features, but {learner} is expecting {learned} features as input"
        row = "; Reshape your data if they are one row" if width == 1 else ""
        raise ArgumentError(f"{words} ({argument} has {hint}{row})")
    if names is not None and names_learned is not None and list(names) != list(names_learned):
        order = ", ".join(names_learned)
        checks.fail(argument, f"a table with the columns {order} in this order, as in fit", names)
