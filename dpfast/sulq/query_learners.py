"""Two learners that know nothing of the rows but what an oracle for statistical queries tells.

They work with any answers within the tolerance, so with exact ones, private ones, and the worst.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..sources.table import feature_rows
from ..summaries.side_by_side import width_of
from .labeled_rows import expect_same, names_of
from .learner_queries import Broken, Oracle, Pull, Wrong, fitting, lifted, product, split_columns
from .row_matrices import each_row
from .terms import Term


class _Hypothesis(ABC):
    """What was learned: a public rule that says yes or no of a row."""

    __slots__ = ()

    features: tuple[Any, ...]

    @abstractmethod
    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        """Which rows it says yes to; a column for each of `features`."""

    def predict(self, X: Any) -> NDArray[np.bool_]:
        """Which rows it says yes to: NOT PRIVATE.

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
        features = self.features
        width = len(features)
        source = feature_rows(X, width)
        known = features if all(isinstance(one, str) for one in features) else None
        expect_same(width_of(source), names_of(X, source), width, known)

        def inside(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            made = np.array(self.of(list(rows.T)), np.float64)
            made[np.isnan(rows).any(axis=1)] = np.nan
            return made[:, None]

        return each_row(source, width, 1, inside)[:, 0] > 0


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
        For which share of the rows it says something else than their label, as the oracle answered.
    tolerance : float
        How far `error` may be off, as the oracle promised.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> found = dp.sulq.Conjunction(((0, True), (2, False)), (0, 1, 2), 0.01, 0.02)
    >>> found.predict(np.array([[1, 0, 0], [1, 0, 1]]))
    array([ True, False])
    """

    literals: tuple[tuple[Any, bool], ...]
    features: tuple[Any, ...]
    error: float
    tolerance: float

    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        """Which rows it says yes to; a column for each of `features`."""
        place = {column: at for at, column in enumerate(self.features)}
        found = np.ones(len(columns[0]), np.bool_)
        for column, wanted in self.literals:
            found &= (columns[place[column]] > 0) == wanted
        return found


@dataclass(frozen=True, slots=True)
class Halfspace(_Hypothesis):
    """The rows on one side of a hyperplane: those with ``<weights, z> > 0``.

    z is x, cut to the length `radius` and divided by it; with `intercept`, ``(z, 1) / sqrt(2)``. It
    is no longer than 1.

    Parameters
    ----------
    weights : tuple of float
        No longer than 1; with `intercept` the last one is that of the constant.
    features : tuple
        The columns of x, in their order.
    radius : float
    intercept : bool
    error : float
        For which share of the rows it says something else than their label, as the oracle answered.
    tolerance : float
        How far `error` may be off, as the oracle promised.
    excess : float
        By how much the true error may be larger than the mean hinge loss ``max(0, 1 - y <w, z> /
        margin)`` of any w no longer than 1, if the oracle kept its promise.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> found = dp.sulq.Halfspace((0.8, -0.6), (0, 1), 1.0, False, 0.01, 0.02, 0.1)
    >>> found.predict(np.array([[1, 0], [0, 1]]))
    array([ True, False])
    """

    weights: tuple[float, ...]
    features: tuple[Any, ...]
    radius: float
    intercept: bool
    error: float
    tolerance: float
    excess: float

    def of(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.bool_]:
        """Which rows it says yes to; a column for each of `features`."""
        z, _ = lifted(np.array(columns, np.float64).T, self.radius, self.intercept)
        return product(z, self.weights) > 0


def conjunction_needs(columns: int, error: float) -> dict[str, Any]:
    """What `learn_conjunction` needs of an oracle, as arguments for one.

    Parameters
    ----------
    columns : int
        Of x, without the label.
    error : float
        Which share of the rows the conjunction may get wrong.

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
    Cost: none. In an oracle for `rho` it leads to a loss in proportion to ``columns**3 / (error
    n)**2``, up to a logarithm.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sulq.conjunction_needs(10, 0.1)
    {'tolerance': 0.0025, 'queries': 21, 'bounds': (0, 1)}
    """
    d = _columns(columns)
    share = _share("error", error)
    return {"tolerance": share / (4 * d), "queries": 2 * d + 1, "bounds": (0, 1)}


def learn_conjunction(oracle: Oracle, *, label: Any = None) -> Conjunction:
    """Learn a conjunction of literals from statistical queries alone.

    Privacy
    -------
    That of the oracle: the answers are all that is looked at, and what is made of them is
    post-processing. Neighbours and loss are the oracle's; an `ExactOracle` is not private.

    For each literal l the oracle is asked how large the share of rows is whose label says yes and
    which have l false. Those with an answer of at most the tolerance t stay, and their conjunction
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
    oracle : StatisticalQueryOracle, ExactOracle, or what has the same methods
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
        For an oracle with too few questions left and a label that is no column; nothing was asked.
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
    >>> found = dp.sulq.learn_conjunction(oracle)
    >>> found.literals
    ((0, True), (2, False))
    >>> abs(found.error) < found.tolerance
    True
    """
    features, label = split_columns(oracle, label)
    literals = [(column, wanted) for column in features for wanted in (True, False)]
    tolerance = fitting(oracle, len(literals) + 1)
    shares = oracle.batch([Term(Broken(one, label), (0, 1)) for one in literals])
    kept = tuple(
        one for one, share in zip(literals, shares, strict=True) if float(share) <= tolerance
    )
    made = Conjunction(kept, features, math.nan, tolerance)
    error = float(oracle.ask(Wrong(made, label), bounds=(0, 1)))
    return Conjunction(kept, features, error, tolerance)


def halfspace_needs(
    columns: int, *, error: float, margin: float, intercept: bool = False
) -> dict[str, Any]:
    """What `learn_halfspace` needs of an oracle, as arguments for one.

    Parameters
    ----------
    columns : int
        Of x, without the label.
    error : float
        The `excess` that is wanted: which share of the rows may be wrong when there is a halfspace
        with the margin.
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
    Cost: none. In an oracle for `rho` it leads to a loss in proportion to ``columns / (n**2 (error
    margin)**4)``, up to a logarithm. Fewer rounds than these are often enough; they are what is
    proved.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sulq.halfspace_needs(4, error=0.25, margin=0.25)
    {'tolerance': 0.0078125, 'queries': 1058, 'l2': 1.0, 'size': 4}
    """
    size = _columns(columns) + checks.flag("intercept", intercept)
    s = _share("error", error) * _share("margin", margin) / 4
    rounds = math.ceil(((1 + s) / (2 * s)) ** 2)
    return {"tolerance": s / math.sqrt(size), "queries": rounds + 1, "l2": 1.0, "size": size}


def learn_halfspace(
    oracle: Oracle,
    *,
    margin: float,
    radius: float,
    rounds: int | None = None,
    intercept: bool = False,
    label: Any = None,
) -> Halfspace:
    """Learn a halfspace from statistical queries alone.

    Privacy
    -------
    That of the oracle: the answers are all that is looked at, and what is made of them is
    post-processing. Neighbours and loss are the oracle's; an `ExactOracle` is not private.

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
    oracle : StatisticalQueryOracle, ExactOracle, or what has the same methods
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
    >>> found = dp.sulq.learn_halfspace(oracle, margin=0.2, radius=1.0)
    >>> found.weights[1] > 10 * abs(found.weights[0]), found.error < 0.05
    (True, True)
    >>> found.predict(np.array([[0.5, 0.5], [0.5, -0.5]]))
    array([ True, False])
    """
    m, r = _share("margin", margin), checks.positive("radius", radius)
    if not 2.0**-900 <= r <= 2.0**900:
        checks.fail("radius", "between 2**-900 and 2**900", radius)
    checks.flag("intercept", intercept)
    features, label = split_columns(oracle, label)
    size = len(features) + intercept
    times = checks.whole("rounds", max(oracle.remaining - 1, 1) if rounds is None else rounds, 1)
    tolerance = fitting(oracle, times + 1)
    s = tolerance * math.sqrt(size)
    step = 1 / ((1 + s) * math.sqrt(times))
    w, total = np.zeros(size), np.zeros(size)
    for _ in range(times):
        total += w
        asked = Pull(tuple(w.tolist()), m, features, label, r, intercept)
        w = w + step * np.asarray(oracle.ask(asked, l2=1.0))
        w /= max(1.0, float(np.linalg.norm(w)))
    weights = tuple((total / times).tolist())
    excess = ((1 + s) / math.sqrt(times) + 2 * s) / m
    made = Halfspace(weights, features, r, intercept, math.nan, tolerance, excess)
    error = float(oracle.ask(Wrong(made, label), bounds=(0, 1)))
    return Halfspace(weights, features, r, intercept, error, tolerance, excess)


def _share(name: str, value: Any) -> float:
    rule = "greater than 0 and at most 1, and no less than 2**-200"
    found = checks.number(name, value, rule)
    if not 2.0**-200 <= found <= 1:
        checks.fail(name, rule, value)
    return found


def _columns(value: Any) -> int:
    found = checks.whole("columns", value, 1)
    if found > 1 << 32:
        checks.fail("columns", "at most 2**32", value)
    return found
