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

    The vector z is the row x, shortened to length `radius` if it is longer, and divided by
    `radius`. With `intercept`, a constant 1 is appended, and the vector is divided by ``sqrt(2)``.
    So the length of z is at most 1.

    Parameters
    ----------
    weights : tuple of float
        A vector of length at most 1. With `intercept`, the last entry is the weight of the
        constant.
    features : tuple
        The columns of the data without the label, in order.
    radius : float
        The length to which rows are shortened.
    intercept : bool
        Whether there is a constant.
    error : float
        The fraction of rows that are predicted wrongly, as the oracle answered it.
    tolerance : float
        The oracle's tolerance: a bound on the error of `error`.
    excess : float
        Any vector w of length at most 1 has a mean hinge loss ``max(0, 1 - y <w, z> / margin)``.
        The true error is at most this loss plus `excess`, if the oracle's answers are within its
        tolerance.

    Examples
    --------
    A row is on the positive side if its first number outweighs its second:

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
    """Return the function that is y z for rows with y <w, z> below the margin, and 0 for others.

    It is the negative gradient of the hinge loss, times the margin. Its length is at most 1.
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
    """Return arguments of an oracle with which `learn_halfspace` reaches a given error.

    Parameters
    ----------
    columns : int
        The number of columns, without the label.
    error : float
        The fraction of rows that may be predicted wrongly, if some halfspace predicts all rows
        correctly with this margin. It is the `excess` of the result.
    margin, intercept : float, bool
        As in `learn_halfspace`.

    Returns
    -------
    dict
        The arguments `tolerance`, `queries`, `l2` and `size`. `size` is k = `columns`, or one more
        with `intercept`, and `l2` is 1. With ``s = error * margin / 4``, `tolerance` is ``s /
        sqrt(k)``, and `queries` is ``((1 + s) / (2 s))**2``, rounded up, plus 1.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.

    Notes
    -----
    Cost: none. The `rho` of an oracle with these arguments is proportional to ``columns / (n**2
    (error margin)**4)``, up to a logarithm. This number of queries is proved to be enough. Often
    fewer are enough.

    Examples
    --------
    The arguments for four columns, and an error and a margin of 0.25:

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

    The result predicts a label that says yes or no. It says yes for rows whose columns have a
    weighted sum above 0. The rows are read through an oracle alone.

    Privacy
    -------
    The oracle determines neighbors and loss. Only its answers are used, and everything that is
    computed from them is post-processing. An `ExactOracle` is not private.

    *Algorithm.* Each row has a vector z, as in `Halfspace`, and a label y that is 1 or -1. In each
    of T rounds the oracle answers the mean of y z over the rows with y <w, z> below the margin m;
    other rows count as 0. Then w moves in this direction by 1 / ((1 + s) sqrt(T)), and is shortened
    to length 1 if it is longer. The result is the mean of all w. This is gradient descent on the
    hinge loss (Zinkevich, "Online convex programming", ICML 2003) by statistical queries (Kearns,
    STOC 1993). With m = 0 it would be the perceptron of Blum, Dwork, McSherry and Nissim, PODS
    2005.

    *Error.* Let there be k weights, and let each number of an answer be within t of the mean. Then
    a direction is within s = t sqrt(k). Compare the mean hinge loss over the given rows with the
    loss of any w of length at most 1. The loss of the result is larger by at most ::

        excess = ((1 + s) / sqrt(T) + 2 s) / m

    The share of wrong predictions is at most the mean hinge loss. So if some w of length at most 1
    predicts all rows correctly with the margin, the share of wrong predictions is at most the
    excess. If there is no such w, the attribute `error` of the result tells the error. All this is
    about the given rows, not about a population.

    Parameters
    ----------
    oracle : StatisticalQueryOracle, ExactOracle, or any object with the same methods
        The oracle that answers queries about the data. It needs `rounds` + 1 queries, for vectors
        of length at most 1: `halfspace_needs` returns its arguments.
    margin : float
        The margin m, above 0 and at most 1, in units in which rows have length at most 1. It must
        not come from the data.
    radius : float
        A public length, in the units of the data. Longer rows are shortened to this length.
    rounds : int, optional
        The number T of rounds. By default the number of queries that the oracle has left, less 1.
    intercept : bool, default False
        True if the hyperplane need not go through 0.
    label : column, optional
        The name or number of the column of labels, by default the last column. y is 1 if the label
        is greater than 0, else -1.

    Returns
    -------
    Halfspace
        The learned rule, with its error.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or if the oracle has too few queries left. No query was made.
    DataError
        If a value is NaN, and the oracle has ``nan="raise"``.

    Notes
    -----
    Cost: one read of the data for each round, and one more.

    Examples
    --------
    Points of the unit circle, whose label is 1 in the upper half. The second weight is by far
    larger:

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
