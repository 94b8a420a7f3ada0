"""Learn a conjunction of literals from statistical queries alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Number
from .hypothesis import (
    MOST_COLUMNS,
    Column,
    Hypothesis,
    Oracle,
    fraction_of_one,
    split_columns,
    tolerance_for,
    wrong,
)
from .row_functions import Function, MaskedChunk, with_nan
from .terms import Term


@dataclass(frozen=True, slots=True)
class Conjunction(Hypothesis):
    """A learned conjunction of literals: it predicts yes where all literals hold.

    A literal says that a column is greater than 0, or that it is not.

    Parameters
    ----------
    literals : tuple of (column, bool)
        The literals; without any, the prediction is always yes.
    features : tuple
        The columns of x, in their order.
    error : float
        The fraction of the rows with another label than the prediction, as answered by the oracle.
    tolerance : float
        A bound on the error of `error`, as the oracle promised.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> rule = dp.sulq.Conjunction(((0, True), (2, False)), (0, 1, 2), 0.01, 0.02)
    >>> rule.predict(np.array([[1, 0, 0], [1, 0, 1]]))
    array([ True, False])
    """

    literals: tuple[tuple[Column, bool], ...]
    features: tuple[Column, ...]
    error: float
    tolerance: float

    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        index = {column: at for at, column in enumerate(self.features)}
        holds = np.ones(len(columns[0]), np.bool_)
        for column, wanted in self.literals:
            holds &= (columns[index[column]] > 0) == wanted
        return holds


def broken(literal: tuple[Column, bool], label: Column) -> Function:
    """Return the function that is 1 for a row with a positive label and a false literal, else 0."""
    column, wanted = literal

    def values(chunk: MaskedChunk) -> NDArray[Any]:
        x, y = chunk.column(column), chunk.column(label)
        return with_nan((x <= 0 if wanted else x > 0) & (y > 0), (x, y))

    return Function(values, columns=frozenset([column, label]))


def conjunction_needs(columns: int, error: Number) -> dict[str, Any]:
    """Return the arguments of an oracle that suffices for `learn_conjunction`.

    Parameters
    ----------
    columns : int
        Number of columns of x, without the label.
    error : float
        The fraction of the rows that the conjunction may misclassify.

    Returns
    -------
    dict
        ``tolerance = error / (4 columns)``, ``queries = 2 columns + 1`` and ``bounds = (0, 1)``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: none. The `rho` of the oracle is in proportion to ``columns**3 / (error n)**2``, up to a
    logarithm.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sulq.conjunction_needs(10, 0.1)
    {'tolerance': 0.0025, 'queries': 21, 'bounds': (0, 1)}
    """
    d = checks.whole("columns", columns, 1, MOST_COLUMNS)
    return {
        "tolerance": fraction_of_one("error", error) / (4 * d),
        "queries": 2 * d + 1,
        "bounds": (0, 1),
    }


def learn_conjunction(oracle: Oracle, *, label: Column | None = None) -> Conjunction:
    """Learn a conjunction of literals from statistical queries alone.

    Privacy
    -------
    The oracle sets neighbors and loss: only its answers are used, and everything computed from its
    answers is post-processing. An `ExactOracle` is not private.

    For each literal l the query is the share of rows whose label says yes and for which l is false.
    Literals with an answer of at most the tolerance t are kept, and their conjunction is the
    result. (Kearns, "Efficient noise-tolerant learning from statistical queries", STOC 1993.) If
    the oracle kept its promise, then for these rows and d columns

    * whatever the labels are, the share of rows whose label says yes, and the conjunction no, is at
      most 4 d t, because no literal that stayed has a share above 2 t;
    * if some conjunction has these labels, all its literals stayed, because their shares are 0.
      Then the result says no to every row whose label says no, so the error is at most 4 d t.

    If no conjunction has these labels, `error` of the result is the error that was reached. All
    this is about the given rows; for n independent rows of a population, every conjunction has the
    same error there up to ``sqrt(log(2 (3**d + 1) / b) / (2 n))`` with probability 1 - b
    (Hoeffding; there are ``3**d + 1`` conjunctions).

    Parameters
    ----------
    oracle : StatisticalQueryOracle, ExactOracle, or any object with the same methods
        With 2 d + 1 queries left, for functions within (0, 1); see `conjunction_needs`.
    label : column, optional
        The name or number of the column of labels, by default the last. A label says yes where it
        is greater than 0.

    Returns
    -------
    Conjunction

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For an oracle with too few queries left, or a label that is not a column; no query was made.
    DataError
        For NaN under the oracle's ``nan="raise"``.

    Notes
    -----
    Cost: two reads of the data, for 2 d + 1 queries.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = (np.arange(40_000)[:, None] // 2 ** np.arange(4)) % 2
    >>> rows = np.column_stack([x, x[:, 0] & (1 - x[:, 2])])
    >>> oracle = dp.sulq.StatisticalQueryOracle(
    ...     rows, rho=0.1, neighbors="replace", confidence=1 - 1e-9,
    ...     **dp.sulq.conjunction_needs(4, 0.1))
    >>> rule = dp.sulq.learn_conjunction(oracle)
    >>> rule.literals
    ((0, True), (2, False))
    >>> abs(rule.error) < rule.tolerance
    True
    """
    features, label = split_columns(oracle, label)
    literals = [(column, wanted) for column in features for wanted in (True, False)]
    tolerance = tolerance_for(oracle, len(literals) + 1)
    shares = oracle.batch([Term(broken(literal, label), (0, 1)) for literal in literals])
    kept = tuple(x for x, share in zip(literals, shares, strict=True) if float(share) <= tolerance)
    rule = Conjunction(kept, features, math.nan, tolerance)
    return replace(rule, error=float(oracle.ask(wrong(rule, label), bounds=(0, 1))))
