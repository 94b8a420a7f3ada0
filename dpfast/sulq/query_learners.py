"""Two learners that know the rows only through an oracle for statistical queries.

They work with any answers within the tolerance: exact ones, private ones, and the worst. A row is
(x, c(x)): the label is one of its columns, and says yes where it is greater than 0. Every step of a
function that is asked about is one operation on each number, column by column, so no value depends
on the place of a row.
"""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Bounds, Floats, Number
from ..errors import DataError
from ..tables.base import RowChunk
from ..tables.data import as_rows
from .row_functions import Function, Piece, shortened, whole_row, with_nan
from .terms import Term

#: Columns, at most.
MOST_COLUMNS = 1 << 32
#: The name or the number of a column.
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


class _Hypothesis(ABC):
    """A rule that was learned, which says yes or no of a row."""

    __slots__ = ()

    features: tuple[Column, ...]

    @abstractmethod
    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        """Return which rows it says yes to, given a column for each of `features`.

        Parameters
        ----------
        columns : sequence of array
            Their values, in that order.

        Returns
        -------
        bool array of shape (n,)

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> rule = dp.sulq.Conjunction(((0, True), (2, False)), (0, 2), 0.01, 0.02)
        >>> rule.of([np.array([1, 1]), np.array([0, 1])])
        array([ True, False])
        """

    def predict(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows it says yes to: NOT PRIVATE.

        Parameters
        ----------
        X : array_like of shape (n, d), table or source
            Rows without a label.

        Returns
        -------
        bool array of shape (n,)

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For rows of another number of columns.
        DataError
            For NaN.
        """
        source = as_rows(X, name="X", width=len(self.features), is_wide=True)
        numbers, names = whole_row(source), source.dtype.names
        if numbers.size != len(self.features):
            checks.fail("X", f"rows of {len(self.features)} columns", numbers.size)
        if names and names != self.features and all(isinstance(x, str) for x in self.features):
            order = ", ".join(map(str, self.features))
            checks.fail("X", f"of the columns {order} in this order", names)

        def told(chunk: RowChunk) -> list[tuple[int, NDArray[np.bool_], bool]]:
            rows = numbers.compute(Piece(chunk.rows, chunk.start))
            return [(chunk.start, self.of(list(rows.T)), bool(np.isnan(rows).any()))]

        chunks = sorted(source.reduce(told, operator.add), key=lambda chunk: chunk[0])
        if any(has_nan for _, _, has_nan in chunks):
            raise DataError("X holds NaN, for which there is no answer")
        return np.concatenate([np.empty(0, np.bool_), *(holds for _, holds, _ in chunks)])


@dataclass(frozen=True, slots=True)
class Conjunction(_Hypothesis):
    """A conjunction of literals, each that a column is greater than 0, or that it is not.

    Parameters
    ----------
    literals : tuple of (column, bool)
        All that must hold; with none of them everything does.
    features : tuple
        The columns of x, in their order.
    error : float
        The fraction of the rows whose label it disagrees with, as the oracle answered.
    tolerance : float
        How far `error` may be off, as the oracle promised.

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
        place = {column: at for at, column in enumerate(self.features)}
        holds = np.ones(len(columns[0]), np.bool_)
        for column, wanted in self.literals:
            holds &= (columns[place[column]] > 0) == wanted
        return holds


@dataclass(frozen=True, slots=True)
class Halfspace(_Hypothesis):
    """The rows on one side of a hyperplane: those with ``<weights, z> > 0``.

    z is x, cut to the length `radius` and divided by it; with `intercept`, ``(z, 1) / sqrt(2)``. It
    is no longer than 1.

    Parameters
    ----------
    weights : tuple of float
        No longer than 1 as a vector; with `intercept` the last one is that of the constant.
    features : tuple
        The columns of x, in their order.
    radius : float
    intercept : bool
    error : float
        The fraction of the rows whose label it disagrees with, as the oracle answered.
    tolerance : float
        How far `error` may be off, as the oracle promised.
    excess : float
        By how much the true error may be larger than the mean hinge loss ``max(0, 1 - y <w, z> /
        margin)`` of any w no longer than 1, if the oracle kept its promise.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> plane = dp.sulq.Halfspace((0.8, -0.6), (0, 1), 1.0, False, 0.01, 0.02, 0.1)
    >>> plane.predict(np.array([[1, 0], [0, 1]]))
    array([ True, False])
    """

    weights: tuple[float, ...]
    features: tuple[Column, ...]
    radius: float
    intercept: bool
    error: float
    tolerance: float
    excess: float

    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        return _product(self._lifted(columns)[0], self.weights) > 0

    def _lifted(self, columns: Sequence[NDArray[Any]]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return z of each row, and which rows had a NaN, given a column for each of `features`."""
        z, absent = shortened(np.array(columns, np.float64).T, self.radius)
        z /= self.radius
        if self.intercept:
            z = np.concatenate([z, np.ones((len(z), 1))], axis=1) * math.sqrt(0.5)
        return z, absent


def broken(literal: tuple[Column, bool], label: Column) -> Function:
    """Return 1 where the label says yes and a literal is false: a column must be > 0, or not."""
    column, wanted = literal

    def values(piece: Piece) -> NDArray[Any]:
        x, y = piece.column(column), piece.column(label)
        return with_nan((x <= 0 if wanted else x > 0) & (y > 0), (x, y))

    return Function(values, columns=frozenset([column, label]))


def wrong(hypothesis: _Hypothesis, label: Column) -> Function:
    """Return 1 where a hypothesis disagrees with the label."""

    def values(piece: Piece) -> NDArray[Any]:
        y = piece.column(label)
        columns = [piece.column(column) for column in hypothesis.features]
        return with_nan(hypothesis.of(columns) != (y > 0), (y, *columns))

    return Function(values, columns=frozenset([*hypothesis.features, label]))


def pull(plane: Halfspace, margin: float, label: Column) -> Function:
    """Return y z for rows with y <w, z> below a margin, and 0 for others: no longer than 1.

    It is the negative gradient of the hinge loss, times the margin.
    """

    def values(piece: Piece) -> Floats:
        y = piece.column(label)
        z, absent = plane._lifted([piece.column(column) for column in plane.features])
        sign = np.where(y > 0, 1.0, -1.0)
        near = sign * _product(z, plane.weights) < margin
        z *= (sign * near)[:, None]
        z[absent] = np.nan
        if y.dtype.kind == "f":
            z[np.isnan(y)] = np.nan
        return z

    return Function(values, len(plane.weights), frozenset([*plane.features, label]))


def conjunction_needs(columns: int, error: Number) -> dict[str, Any]:
    """Return what `learn_conjunction` needs of an oracle, as arguments for one.

    Parameters
    ----------
    columns : int
        Number of columns of x, without the label.
    error : float
        The fraction of the rows that the conjunction may get wrong.

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
        "tolerance": _fraction("error", error) / (4 * d),
        "queries": 2 * d + 1,
        "bounds": (0, 1),
    }


def learn_conjunction(oracle: Oracle, *, label: Column | None = None) -> Conjunction:
    """Learn a conjunction of literals from statistical queries alone.

    Privacy
    -------
    That of the oracle: only its answers are looked at, and what is computed from them is
    post-processing. Neighbors and loss are the oracle's; an `ExactOracle` is not private.

    For each literal l the oracle is asked for the share of rows whose label says yes and for which
    l is false. Those with an answer of at most the tolerance t stay, and their conjunction
    is the result. (Kearns, "Efficient noise-tolerant learning from statistical queries", STOC
    1993.) If the oracle kept its promise, then for these rows and d columns

    * whatever the labels are, the share of rows whose label says yes, and the conjunction no, is at
      most 4 d t, for no literal that stayed has a share above 2 t;
    * if the labels are those of some conjunction, all its literals stayed, for their shares are 0.
      So no row is said yes to whose label says no, and the error is at most 4 d t.

    Where no conjunction has these labels, `error` of the result says what was reached. None of this
    is about rows that are not here; for n independent ones of a population, every conjunction has
    the same error there up to ``sqrt(log(2 (3**d + 1) / b) / (2 n))`` with probability 1 - b
    (Hoeffding; there are ``3**d + 1`` of them).

    Parameters
    ----------
    oracle : StatisticalQueryOracle, ExactOracle, or any object with the same methods
        With 2 d + 1 questions left, about functions within (0, 1); see `conjunction_needs`.
    label : column, optional
        The name or number of the column of labels, by default the last. A label says yes where it
        is greater than 0.

    Returns
    -------
    Conjunction

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For an oracle with too few questions left and a label that is not a column; nothing was
        asked.
    DataError
        For NaN under the oracle's ``nan="raise"``.

    Notes
    -----
    Cost: two reads of the data, for 2 d + 1 questions.

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
    features, label = _split_columns(oracle, label)
    literals = [(column, wanted) for column in features for wanted in (True, False)]
    tolerance = _tolerance_for(oracle, len(literals) + 1)
    shares = oracle.batch([Term(broken(literal, label), (0, 1)) for literal in literals])
    kept = tuple(x for x, share in zip(literals, shares, strict=True) if float(share) <= tolerance)
    rule = Conjunction(kept, features, math.nan, tolerance)
    return replace(rule, error=float(oracle.ask(wrong(rule, label), bounds=(0, 1))))


def halfspace_needs(
    columns: int, *, error: Number, margin: Number, intercept: bool = False
) -> dict[str, Any]:
    """Return what `learn_halfspace` needs of an oracle, as arguments for one.

    Parameters
    ----------
    columns : int
        Number of columns of x, without the label.
    error : float
        The `excess` that is wanted: the fraction of the rows that may be wrong when there is a
        halfspace with the margin.
    margin, intercept : float, bool
        As in `learn_halfspace`.

    Returns
    -------
    dict
        ``l2 = 1``, ``size``, which is k = `columns` and 1 more with `intercept`, and with s =
        error margin / 4, ``tolerance = s / sqrt(k)`` and ``queries`` of ``((1 + s) / (2 s))**2 +
        1``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: none. The `rho` of the oracle is in proportion to ``columns / (n**2 (error margin)**4)``,
    up to a logarithm. So many rounds are proved to be enough; fewer often are.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sulq.halfspace_needs(4, error=0.25, margin=0.25)
    {'tolerance': 0.0078125, 'queries': 1058, 'l2': 1.0, 'size': 4}
    """
    size = checks.whole("columns", columns, 1, MOST_COLUMNS) + checks.flag("intercept", intercept)
    s = _fraction("error", error) * _fraction("margin", margin) / 4
    rounds = math.ceil(((1 + s) / (2 * s)) ** 2)
    return {"tolerance": s / math.sqrt(size), "queries": rounds + 1, "l2": 1.0, "size": size}


def learn_halfspace(
    oracle: Oracle,
    *,
    margin: Number,
    radius: Number,
    rounds: int | None = None,
    intercept: bool = False,
    label: Column | None = None,
) -> Halfspace:
    """Learn a halfspace from statistical queries alone.

    Privacy
    -------
    That of the oracle: only its answers are looked at, and what is computed from them is
    post-processing. Neighbors and loss are the oracle's; an `ExactOracle` is not private.

    Each of T rounds asks for the mean of y z over the rows with y <w, z> below the margin m, z as
    in `Halfspace` and y = 1 or -1; w moves in that direction by 1 / ((1 + s) sqrt(T)), and back to
    length 1 where it is longer. The result is the mean of all w: gradient descent on the hinge loss
    (Zinkevich, "Online convex programming", ICML 2003), made of statistical queries (Kearns, STOC
    1993; the perceptron of Blum, Dwork, McSherry and Nissim, PODS 2005, asks the same for m = 0).
    With k weights and answers within t, so directions within s = t sqrt(k), its mean hinge loss
    over these rows is at most that of any w no longer than 1, and ::

        excess = ((1 + s) / sqrt(T) + 2 s) / m

    more. The share of rows that are wrong is no larger than the hinge loss. So if some w no longer
    than 1 has all rows on their side by the margin, that share is at most the excess. Where none
    has, `error` of the result says what was reached. None of this is about rows that are not here.

    Parameters
    ----------
    oracle : StatisticalQueryOracle, ExactOracle, or any object with the same methods
        With `rounds` + 1 questions left, about vectors no longer than 1; see `halfspace_needs`.
    margin : float
        m, in units in which rows are no longer than 1: above 0 and at most 1. It must not come from
        the data.
    radius : float
        Public length that x is cut to, in the data's units.
    rounds : int, optional
        T; by default as many as the oracle has questions left, less 1.
    intercept : bool, default False
        Whether the hyperplane need not go through 0.
    label : column, optional
        The name or number of the column of labels, by default the last. y = 1 where it is greater
        than 0, and -1 elsewhere.

    Returns
    -------
    Halfspace

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, and an oracle with too few questions left; nothing was asked.
    DataError
        For NaN under the oracle's ``nan="raise"``.

    Notes
    -----
    Cost: a read of the data a round, and one more.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> angle = np.arange(100_000) % 360 + 0.5
    >>> x = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    >>> rows = np.column_stack([x, np.where(angle < 180, 1, -1)])
    >>> oracle = dp.sulq.StatisticalQueryOracle(
    ...     rows, rho=0.1, rows=90_000, tolerance=0.01, queries=51, l2=1, size=2,
    ...     confidence=1 - 1e-9)
    >>> plane = dp.sulq.learn_halfspace(oracle, margin=0.2, radius=1.0)
    >>> plane.weights[1] > 10 * abs(plane.weights[0]), plane.error < 0.05
    (True, True)
    >>> plane.predict(np.array([[0.5, 0.5], [0.5, -0.5]]))
    array([ True, False])
    """
    m, r = _fraction("margin", margin), checks.scale("radius", radius)
    checks.flag("intercept", intercept)
    features, label = _split_columns(oracle, label)
    size = len(features) + intercept
    times = checks.whole("rounds", max(oracle.remaining - 1, 1) if rounds is None else rounds, 1)
    tolerance = _tolerance_for(oracle, times + 1)
    s = tolerance * math.sqrt(size)
    step = 1 / ((1 + s) * math.sqrt(times))
    excess = ((1 + s) / math.sqrt(times) + 2 * s) / m
    plane = Halfspace((), features, r, intercept, math.nan, tolerance, excess)
    w, total = np.zeros(size), np.zeros(size)
    for _ in range(times):
        total += w
        plane = replace(plane, weights=tuple(w.tolist()))
        w = w + step * np.asarray(oracle.ask(pull(plane, m, label), l2=1.0))
        w /= max(1.0, float(np.linalg.norm(w)))
    plane = replace(plane, weights=tuple((total / times).tolist()))
    return replace(plane, error=float(oracle.ask(wrong(plane, label), bounds=(0, 1))))


def _split_columns(oracle: Oracle, label: Column | None) -> tuple[tuple[Column, ...], Column]:
    """Return the columns of x, and that of the label, which is the last one if it is not named."""
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
        checks.fail("data", "rows with at least one column beside the label", columns)
    return features, label


def _tolerance_for(oracle: Oracle, queries: int) -> float:
    """Return the tolerance of an oracle, which must have so many questions left."""
    if oracle.remaining < queries:
        checks.fail("oracle", f"one with {queries} questions left", oracle)
    return oracle.tolerance


def _product(z: Floats, weights: Sequence[float]) -> Floats:
    """Return <w, z> for each row, one column after the other."""
    products = np.zeros(len(z))
    for column, weight in zip(z.T, weights, strict=True):
        products += column * weight
    return products


def _fraction(name: str, value: Number) -> float:
    rule = "greater than 0 and at most 1, and no less than 2**-200"
    fraction = checks.number(name, value, rule)
    if not 2.0**-200 <= fraction <= 1:
        checks.fail(name, rule, value)
    return fraction
