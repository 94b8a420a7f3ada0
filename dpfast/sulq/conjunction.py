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
    """A learned conjunction of literals: it predicts yes for rows where all literals hold.

    A literal is a condition on one column: its value is greater than 0, or it is not.

    Parameters
    ----------
    literals : tuple of (column, bool)
        The literals: a column, and True if it must be greater than 0. Without literals, the
        prediction is always yes.
    features : tuple
        The columns of the data without the label, in order.
    error : float
        The fraction of rows that are predicted wrongly, as the oracle answered it.
    tolerance : float
        The oracle's tolerance: a bound on the error of `error`.

    Examples
    --------
    Column 0 must be greater than 0, and column 2 must not:

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
    """Return arguments of an oracle with which `learn_conjunction` reaches a given error.

    Parameters
    ----------
    columns : int
        The number of columns, without the label.
    error : float
        The fraction of rows that may be predicted wrongly, if some conjunction predicts all
        correctly.

    Returns
    -------
    dict
        The arguments `tolerance`, which is ``error / (4 columns)``, `queries`, which is ``2 columns
        + 1``, and `bounds`, which is ``(0, 1)``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: none. The `rho` of an oracle with these arguments is proportional to ``columns**3 / (error
    n)**2``, up to a logarithm.

    Examples
    --------
    The arguments for ten columns and an error of 0.1:

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

    The result predicts a label that says yes or no. It says yes for rows where all its literals
    hold. A literal is a condition on one column: its value is greater than 0, or it is not. The
    rows are read through an oracle alone.

    Privacy
    -------
    The oracle determines neighbors and loss. Only its answers are used, and everything that is
    computed from them is post-processing. An `ExactOracle` is not private.

    *Algorithm* (Kearns, "Efficient noise-tolerant learning from statistical queries", STOC 1993).
    For each literal the oracle answers: in which share of rows does the label say yes although the
    literal is false? A literal is kept if the answer is at most the tolerance t. The result is the
    conjunction of all literals that are kept.

    *Error.* Let all answers be within the tolerance, and let there be d columns. For the given
    rows:

    * The label says yes and the result says no in a share of at most 4 d t of the rows. The reason
      is that at most 2 d literals are kept, each with a share of at most 2 t. This holds for any
      labels.
    * If some conjunction has exactly these labels, all its literals are kept, because their shares
      are 0. Then the result says no to every row whose label says no. So the error is at most 4 d
      t.

    If no conjunction has these labels, the attribute `error` of the result tells the error on the
    given rows. If these are n independent rows of a population, the error of every conjunction in
    the population differs by at most ``sqrt(log(2 (3**d + 1) / b) / (2 n))``, with probability 1 -
    b (Hoeffding; there are ``3**d + 1`` conjunctions).

    Parameters
    ----------
    oracle : StatisticalQueryOracle, ExactOracle, or any object with the same methods
        The oracle that answers queries about the data. It needs 2 d + 1 queries, for functions
        within (0, 1): `conjunction_needs` returns its arguments.
    label : column, optional
        The name or number of the column of labels, by default the last column. A label says yes if
        it is greater than 0.

    Returns
    -------
    Conjunction
        The learned rule, with its error.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If the oracle has too few queries left, or `label` is not a column. No query was made.
    DataError
        If a value is NaN, and the oracle has ``nan="raise"``.

    Notes
    -----
    Cost: two reads of the data for all queries.

    Examples
    --------
    The label is yes if column 0 is 1 and column 2 is 0. These two literals are learned:

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
