"""Learn a halfspace from statistical queries alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Floats, Number
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
from .row_functions import Function, MaskedChunk, shortened


@dataclass(frozen=True, slots=True)
class Halfspace(Hypothesis):
    """A learned halfspace: it predicts yes for rows with ``<weights, z> > 0``.

    z is x, cut to the length `radius` and divided by it; with `intercept`, ``(z, 1) / sqrt(2)``.
    The length of z is at most 1.

    Parameters
    ----------
    weights : tuple of float
        A vector of length at most 1; with `intercept` the last entry is the weight of the constant.
    features : tuple
        The columns of x, in their order.
    radius : float
    intercept : bool
    error : float
        The fraction of the rows with another label than the prediction, as answered by the oracle.
    tolerance : float
        A bound on the error of `error`, as the oracle promised.
    excess : float
        An upper bound on the difference between the true error and the mean hinge loss ``max(0, 1 -
        y <w, z> / margin)`` of any w of length at most 1, if the oracle kept its promise.

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
        """Return the scaled vector z of each row, and a mask of rows with a NaN."""
        z, absent = shortened(np.array(columns, np.float64).T, self.radius)
        z /= self.radius
        if self.intercept:
            z = np.concatenate([z, np.ones((len(z), 1))], axis=1) * math.sqrt(0.5)
        return z, absent


def pull(plane: Halfspace, margin: float, label: Column) -> Function:
    """Return the function y z for rows with y <w, z> below a margin, else 0; length at most 1.

    It is the negative gradient of the hinge loss, times the margin.
    """

    def values(chunk: MaskedChunk) -> Floats:
        y = chunk.column(label)
        z, absent = plane._lifted([chunk.column(column) for column in plane.features])
        sign = np.where(y > 0, 1.0, -1.0)
        near = sign * _product(z, plane.weights) < margin
        z *= (sign * near)[:, None]
        z[absent] = np.nan
        if y.dtype.kind == "f":
            z[np.isnan(y)] = np.nan
        return z

    return Function(values, len(plane.weights), frozenset([*plane.features, label]))


def halfspace_needs(
    columns: int, *, error: Number, margin: Number, intercept: bool = False
) -> dict[str, Any]:
    """Return the arguments of an oracle that suffices for `learn_halfspace`.

    Parameters
    ----------
    columns : int
        Number of columns of x, without the label.
    error : float
        The required `excess`: the fraction of the rows that may be misclassified if there is a
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
    up to a logarithm. This number of rounds is proved to be enough; often fewer are.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sulq.halfspace_needs(4, error=0.25, margin=0.25)
    {'tolerance': 0.0078125, 'queries': 1058, 'l2': 1.0, 'size': 4}
    """
    size = checks.whole("columns", columns, 1, MOST_COLUMNS) + checks.flag("intercept", intercept)
    s = fraction_of_one("error", error) * fraction_of_one("margin", margin) / 4
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
    The oracle sets neighbors and loss: only its answers are used, and everything computed from its
    answers is post-processing. An `ExactOracle` is not private.

    Each of T rounds queries the mean of y z over the rows whose y <w, z> is below the margin m,
    with z as in `Halfspace` and y = 1 or -1; then w moves in that direction by 1 / ((1 + s)
    sqrt(T)), and is scaled to length 1 if it is longer. The result is the mean of all w: gradient
    descent on the hinge loss (Zinkevich, "Online convex programming", ICML 2003), made of
    statistical queries (Kearns, STOC 1993; the perceptron of Blum, Dwork, McSherry and Nissim, PODS
    2005, is the case m = 0). With k weights and answers within t, so directions within s = t
    sqrt(k), the mean hinge loss of the result over these rows exceeds the mean hinge loss of any w
    of length at most 1 by at most ::

        excess = ((1 + s) / sqrt(T) + 2 s) / m

    The share of misclassified rows is at most the hinge loss. So if some w of length at most 1
    classifies all rows with the margin, the share of misclassified rows is at most the excess. If
    there is no such w, `error` of the result is the error that was reached. All this is about the
    given rows, not about a population.

    Parameters
    ----------
    oracle : StatisticalQueryOracle, ExactOracle, or any object with the same methods
        With `rounds` + 1 queries left, for vectors of length at most 1; see `halfspace_needs`.
    margin : float
        m, in units in which rows have length at most 1: above 0 and at most 1. It must not come
        from the data.
    radius : float
        The public length that x is shortened to, in the data's units.
    rounds : int, optional
        T; by default the number of queries that the oracle has left, less 1.
    intercept : bool, default False
        Whether the hyperplane need not go through 0.
    label : column, optional
        The name or number of the column of labels, by default the last. y is 1 where the label is
        greater than 0, and -1 elsewhere.

    Returns
    -------
    Halfspace

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or an oracle with too few queries left; no query was made.
    DataError
        For NaN under the oracle's ``nan="raise"``.

    Notes
    -----
    Cost: one read of the data for each round, and one more.

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
    m, r = fraction_of_one("margin", margin), checks.scale("radius", radius)
    checks.flag("intercept", intercept)
    features, label = split_columns(oracle, label)
    size = len(features) + intercept
    times = checks.whole("rounds", max(oracle.remaining - 1, 1) if rounds is None else rounds, 1)
    tolerance = tolerance_for(oracle, times + 1)
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


def _product(z: Floats, weights: Sequence[float]) -> Floats:
    """Return the product <w, z> of each row z with the weights, summed column by column."""
    products = np.zeros(len(z))
    for column, weight in zip(z.T, weights, strict=True):
        products += column * weight
    return products
