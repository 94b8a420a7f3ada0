"""Rows of features with a label or a target each: an array beside them, or one of their columns.

Labels keep their place beside the rows, so whoever brings or changes a row does so with its label.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import ArgumentError
from ..sources.base import RowChunk, RowSource, WithRows, width_of
from ..sources.data import feature_rows, form_of, with_column
from ..sources.engine import of_engine, refuse_array
from ..sources.forms import as_column, column_form, is_distributed
from ..sources.intake import Public, declared, expect_numbers
from ..sources.labels import aligned, labels_of
from ..sources.memory import Column
from ..sources.table import RULE as ROWS
from ..sources.words import Words, words_column
from ..summaries.side_by_side import beside_of, flat, refuse_length
from .row_matrices import matrices
from .weights import Places, WeightedRows, Weights

S = TypeVar("S")

#: Features of some rows, (r, width) float64 in C order, and their labels, (r,) in a dtype that
#: kernels read. Valid until the next ones are asked for.
Piece = tuple[NDArray[np.float64], NDArray[Any]]

#: Rows that are looked at together.
BLOCK = 1 << 14

RULE = "one number for each row, or the name of a column"


@dataclass(frozen=True, slots=True)
class LabeledRows:
    """Rows and their labels.

    Attributes
    ----------
    source : RowSource
        The features, and the labels as the last column unless they are `beside`.
    beside : Column or None
    width : int
        Number of features.
    names : tuple of str or None
        Names of the features, if they have some.
    weights : Weights or None
        How often each row counts in `reduce` and in `counted`, if it is not once.
    """

    source: RowSource
    beside: Column | None
    width: int
    names: tuple[str, ...] | None
    weights: Weights | None = None

    @property
    def length(self) -> int | None:
        """Number of rows; None when that is not known without reading."""
        return self.source.length

    @property
    def counted(self) -> RowSource:
        """The source, for sums of rows."""
        return self.source if self.weights is None else WeightedRows(self.source, self.weights)

    def reduce(
        self,
        summarize: Callable[[Iterator[Piece]], S],
        merge: Callable[[S, S], S],
        most: int = BLOCK,
    ) -> S:
        """Summarize every chunk, `most` rows at a time, and merge the summaries.

        Raises
        ------
        DataError
            If there are more or fewer labels than rows, where their number was not known before.
        """

        beside, width = self.beside, self.width  # and not self, which does not travel

        def some(chunk: RowChunk, places: Places | None = None) -> S:
            return summarize(_pieces(chunk, beside, width, most, places))

        def each(chunk: RowChunk) -> tuple[S, int]:
            return some(chunk), len(chunk.rows)

        if self.weights is None:
            summary, read = self.source.reduce(each, lambda a, b: (merge(a[0], b[0]), a[1] + b[1]))
        else:
            summary, read = self.weights.reduce(self.source, some, merge)
        if self.beside is not None and read != self.beside.length:
            refuse_length("y")
        return summary


def _pieces(
    chunk: RowChunk,
    beside: Column | None,
    width: int,
    most: int,
    places: Places | None = None,
) -> Iterator[Piece]:
    """Yield the features and the labels of a chunk, or of some rows of it, `most` at a time."""
    rows, labels = chunk.rows, None
    if beside is None:
        *names, last = rows.dtype.names or ()
        rows, labels = rows[names], rows[last]
    if places is not None:
        if beside is not None:
            labels = beside_of(beside, chunk.start, chunk.start + len(rows), "y")
        assert labels is not None
        rows, labels, beside = rows.take(places, 0), labels.take(places), None
    at = chunk.start
    for features in matrices(chunk._replace(rows=rows), width, most):
        stop = at + len(features)
        if beside is not None:
            y = beside_of(beside, at, stop, "y")
        else:
            assert labels is not None
            y = labels[at - chunk.start : stop - chunk.start]
        yield features, flat(y)
        at = stop


def labeled_rows(
    X: Any,
    y: Any,
    words: Sequence[Words | None] = (),
    classes: Words | None = None,
    width: int | None = None,
    relation: str = "replace",
    numbers: Sequence[Public | None] = (),
    labels: Public | None = None,
) -> LabeledRows:
    """Return the rows of X with the labels y.

    Parameters
    ----------
    X : array_like of shape (n, d), structured array, table, or source
    y : array_like of shape (n,), or str
        An array beside the rows. Where X has columns with names, the name of one, which then is no
        feature; of a file that is scanned, of any of its columns.
    words : sequence of Words or None, optional
        For each feature, in order: those that are text are read as the numbers of these words.
    classes : Words, optional
        The same for the labels.
    width : int, optional
        Number of features that the caller states, if it does. A list does not say how many it has.
    numbers, labels : optional
        Public numbers that are looked for in the features, and in the labels.
    relation : {"replace", "add-remove"}, default "replace"
        Where rows come and go their number is private, and the pass finds another one of labels.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        For what cannot be read, and labels of another number than the rows. Nothing has been read:
        what the rows hold decides nothing.
    """
    expect_dense(X)
    if y is None:
        checks.fail("y", f"{RULE} (this requires y to be passed, but the target y is None)", y)
    X, y = _expect_numbers(X, y, numbers, labels)
    if isinstance(y, str):
        source = with_column(X, y, "y", "X", words, classes)
        width = width_of(source) - 1
        if not width:
            checks.fail("y", "a column beside those of X", y)
        return LabeledRows(source, None, width, (names_of(X, source) or ())[:-1])
    source = feature_rows(X, width, words)
    if of_engine(source):
        refuse_array("y", y)
    beside = as_column(y, "y", RULE) if classes is None else words_column(y, classes, "y")
    if beside.width is not None:
        checks.fail_kind("y", RULE, y)
    checks.entries("y", beside.length, source.length, relation)
    rows: RowSource = aligned(source, labels_of(source, y))
    return LabeledRows(rows, beside, width_of(source), names_of(X, source))


def _expect_numbers(
    X: Any, y: Any, numbers: Sequence[Public | None], labels: Public | None = None
) -> tuple[Any, Any]:
    """Refuse public numbers that can equal nothing; return the rows, which may be read once."""
    name = y if isinstance(y, str) else None
    if any(numbers) or (labels is not None and name is not None):
        X = form_of(X, "X", ROWS)
        columns = declared(X.beside(name) if name and isinstance(X, WithRows) else X)
        many = len(columns) if len(numbers) == 1 else 1  # one list stands for all columns
        expect_numbers([*numbers] * many, X, name)
        for own, typed in columns:
            if labels is not None and own == name is not None:
                expect_numbers([labels], typed)
    if labels is not None and name is None and not is_distributed(y):
        y = column_form(y, "y", RULE)
        expect_numbers([labels], y)
    return X, y


def unlabeled_rows(
    X: Any,
    width: int | None,
    words: Sequence[Words | None] = (),
    numbers: Sequence[Public | None] = (),
) -> LabeledRows:
    """Return rows without labels; arguments and errors as in `labeled_rows`."""
    expect_dense(X)
    X, _ = _expect_numbers(X, None, numbers)
    source = feature_rows(X, width, words)
    return LabeledRows(source, None, width_of(source), names_of(X, source))


def expect_dense(X: Any) -> None:
    """Refuse sparse matrices and complex numbers, by their type, in the words of scikit-learn."""
    sparse = sys.modules.get("scipy.sparse")
    if sparse is not None and sparse.issparse(X):
        why = ": sparse input is not supported, but what its toarray() returns is"
        checks.fail_kind("X", "dense rows of numbers", X, why)
    if checks.attribute(checks.attribute(X, "dtype"), "kind") == "c":
        checks.fail("X", "real numbers (Complex data not supported)", X.dtype)


def names_of(X: Any, source: RowSource) -> tuple[str, ...] | None:
    """Return the names of the columns of X, which `source` reads; None for a plain array."""
    if isinstance(X, np.ndarray) and X.dtype.names is None:
        return None
    return source.dtype.names


def expect_same(
    width: int,
    names: Sequence[str] | None,
    learned: int,
    known: Sequence[str] | None,
    argument: str = "X",
    learner: str = "it",
) -> None:
    """Refuse columns that are not `learned` many, or not `known`, where both have names.

    The hints are those that scikit-learn gives.
    """
    if width != learned:
        words = f"{argument} must be of {learned} columns, as in fit, got '{width} of them'"
        hint = f"{width} features, but {learner} is expecting {learned} features as input"
        row = "; Reshape your data if they are one row" if width == 1 else ""
        raise ArgumentError(f"{words} ({argument} has {hint}{row})")
    if names is not None and known is not None and list(names) != list(known):
        order = ", ".join(known)
        checks.fail(argument, f"of the columns {order} in this order, as in fit", names)
