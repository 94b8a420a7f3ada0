"""Common parts of learners by statistical queries: the oracle's protocol, and the learned rule.

Such learners access the rows only through an oracle. They work with any answers within the
tolerance: exact answers, private answers, and the worst possible answers. The label of a row is one
of its columns, and says yes if it is greater than 0. Every step of a queried function is one
operation on each number, column by column. So no value depends on the position of a row.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Bounds, Floats, Number
from ..errors import DataError
from ..tables.base import RowChunk
from ..tables.data import as_rows
from .row_functions import Function, MaskedChunk, whole_row, with_nan
from .terms import Term

#: The most columns.
MOST_COLUMNS = 1 << 32
#: A column, by name or number.
Column: TypeAlias = int | str


class Oracle(Protocol):
    """Anything that answers statistical queries within a tolerance: private, exact, or other."""

    @property
    def remaining(self) -> int: ...
    @property
    def tolerance(self) -> float: ...
    @property
    def columns(self) -> tuple[Column, ...]: ...
    def ask(
        self, f: Function, *, bounds: Bounds | None = None, l2: Number | None = None
    ) -> Any: ...
    def batch(self, terms: Sequence[Term]) -> Sequence[float | Floats]: ...


class Hypothesis(ABC):
    """A learned rule that predicts yes or no for each row."""

    __slots__ = ()

    features: tuple[Column, ...]

    @abstractmethod
    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        """Return whether this rule predicts yes for each row, given the columns `features`.

        Parameters
        ----------
        columns : sequence of array
            The values of the columns, in the order of `features`.

        Returns
        -------
        bool array of shape (n,)
            The predictions: True for yes.

        Examples
        --------
        Column 0 must be greater than 0, and column 2 must not:

        >>> import numpy as np, dpfast as dp
        >>> rule = dp.sulq.Conjunction(((0, True), (2, False)), (0, 2), 0.01, 0.02)
        >>> rule.of([np.array([1, 1]), np.array([0, 1])])
        array([ True, False])
        """

    def predict(self, X: Any) -> NDArray[np.bool_]:
        """Return whether this rule predicts yes for each row: NOT PRIVATE.

        Parameters
        ----------
        X : array_like of shape (n, d), table or source
            Rows without a label, with the columns `features`.

        Returns
        -------
        bool array of shape (n,)
            The predictions: True for yes.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If the columns of X differ in number or names from `features`.
        DataError
            If X contains NaN.
        """
        source = as_rows(X, name="X", width=len(self.features), is_wide=True)
        numbers, names = whole_row(source), source.dtype.names
        if numbers.size != len(self.features):
            checks.fail("X", f"rows of {len(self.features)} columns", numbers.size)
        if names and names != self.features and all(isinstance(x, str) for x in self.features):
            order = ", ".join(map(str, self.features))
            checks.fail("X", f"a table with the columns {order} in this order", names)

        def hold_in_chunk(chunk: RowChunk) -> list[tuple[int, NDArray[np.bool_], bool]]:
            rows = numbers.compute(MaskedChunk(chunk.rows, chunk.start))
            return [(chunk.start, self.of(list(rows.T)), bool(np.isnan(rows).any()))]

        chunks = sorted(source.reduce(hold_in_chunk, operator.add), key=lambda chunk: chunk[0])
        if any(has_nan for _, _, has_nan in chunks):
            raise DataError("X contains NaN, for which there is no prediction: drop these rows")
        return np.concatenate([np.empty(0, np.bool_), *(holds for _, holds, _ in chunks)])


def wrong(hypothesis: Hypothesis, label: Column) -> Function:
    """Return the function that is 1 for a row whose label the hypothesis predicts wrongly."""

    def values(chunk: MaskedChunk) -> NDArray[Any]:
        y = chunk.column(label)
        columns = [chunk.column(column) for column in hypothesis.features]
        return with_nan(hypothesis.of(columns) != (y > 0), (y, *columns))

    return Function(values, columns=frozenset([*hypothesis.features, label]))


def split_columns(oracle: Oracle, label: Column | None) -> tuple[tuple[Column, ...], Column]:
    """Return the feature columns and the label column, by default the last column."""
    if not all(checks.has(oracle, name) for name in ("columns", "remaining", "tolerance", "batch")):
        checks.fail_kind("oracle", "an oracle that answers statistical queries", oracle)
    columns = oracle.columns
    if label is None:
        label = columns[-1]
    named = isinstance(label, str) or checks.is_whole(label)
    if not named or label not in columns:
        checks.fail("label", "one of the columns " + ", ".join(map(repr, columns[:20])), label)
    features = tuple(column for column in columns if column != label)
    if not features:
        checks.fail("data", "rows with at least one column other than the label", columns)
    return features, label


def tolerance_for(oracle: Oracle, queries: int) -> float:
    """Return the tolerance of an oracle, or raise an error if too few queries are left."""
    if oracle.remaining < queries:
        checks.fail("oracle", f"an oracle with {queries} queries left", oracle)
    return oracle.tolerance


def fraction_of_one(name: str, value: Number) -> float:
    rule = "greater than 0 and at most 1, and no less than 2**-200"
    fraction = checks.number(name, value, rule)
    if not 2.0**-200 <= fraction <= 1:
        checks.fail(name, rule, value)
    return fraction
