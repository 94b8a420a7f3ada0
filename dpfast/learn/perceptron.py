"""A private perceptron: rounds of noisy sums over the rows that a hyperplane misclassifies.

A round starts with a vector w. A row z, of length at most r, with label y is misclassified if y <w,
z> <= 0. A misclassified row adds 1 to a count and y z to a sum. So an added or removed row changes
the count by 1 and the sum by at most r if it is misclassified, and changes nothing otherwise.

*How a round is shared.* A step is v = sum / count. Let n rows be misclassified, and let a be the
part of rho for the count. The squared error of v is |v|^2 / a + d r^2 / (1 - a), divided by n^2 2
rho. With r^2 = d, as in a cube, and a v of half the length r, this is least for a : 1 - a = 1 : 2
sqrt(d).

With an epsilon alone, and bounds, the change of count and sum is a vector within a box with the
sides 1 and H. Joint noise for this box is chosen by the same error (`rounds`).

A replaced row changes the sum by 2 r and no count, if the old and the new row are misclassified. If
only one of them is, it changes the count by 1 and the sum by r. Let the sums use the whole round,
for changes of 2 r. In the second case the sum uses a quarter of the round (half of it, for losses
that add up), and the remaining part pays for the count.

*The last round* needs no step. All of it is for the count.

*Coordinates.* Coordinate j of a row is the distance of its number from the middle of the bounds, in
units of 2**-29 of the largest distance: an integer from -H to H, where H = 2**29. With a radius
instead of bounds, numbers are clipped to [-radius, radius], and longer rows are shortened to the
radius, which is H units. Rounding to integers then adds at most sqrt(d) / 2 to the length, and
inexact arithmetic less than 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Auto, BoundsEach, NanPolicy, Number
from .._kernels.learn import MARGIN_REACH as REACH
from .._kernels.learn import margin_wrong as add_wrong
from ..measurement.choice import Moves
from ..privacy import Loss, Pure
from ..sulq.parts import Boxes, Part, Some
from ..sulq.rounds import Rounds
from .columns import Floats, column_bounds, limits
from .estimator import Training, Weighted, as_fitted
from .rows import Rows
from .scored import Classifier

#: The part for the number of misclassified rows, which is counted in each round.
COUNT = Part(1, 1, 1, 1)


@dataclass(eq=False, repr=False, kw_only=True)
class Perceptron(Weighted, Classifier):
    """Learn a hyperplane between two classes from noisy sums over misclassified rows alone.

    In each round, the rows on the wrong side of the hyperplane are counted and summed with noise,
    and the hyperplane moves towards them. The labels are -1 and 1.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its label: added or removed, or replaced
    (`neighbors`). The hyperplane and the number of mistakes satisfy the requested loss, all rounds
    together, however many rounds are used. This is the perceptron of Blum, Dwork, McSherry and
    Nissim, PODS 2005, with noise for the joint sensitivity of a round, and exact composition.

    Parameters
    ----------
    bounds : (float, float), or a pair for each column
        Public limits of the values, as in `KMeans`. Pass either `bounds` or `radius`.
    radius : float
        A public limit on the length of a row as a vector. Numbers are clamped to -radius and
        radius, and longer rows are shortened to this length. The noise is smaller than with bounds
        by a factor of the square root of the number of columns.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    max_iter : int, default 10
        The largest number of rounds, 2 or more. The noise of each round is calibrated to this
        number, also if fewer rounds are used.
    fit_intercept : bool, default True
        Whether the hyperplane has an intercept. Without an intercept it goes through 0.
    step : {"shrinking", "constant"}, default "shrinking"
        "shrinking": step t is 1 / t times the mean of the misclassified rows. "constant": each step
        is the full mean, as in the paper.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN among the features is treated: "raise" is an error after the spend, "lower" and
        "upper" replace NaN by that bound, a number replaces NaN by that number, and "drop" leaves
        out the whole row.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    coef_ : float64 array of shape (1, d)
    intercept_ : float64 array of shape (1,)
        The hyperplane. The prediction for a row x is 1 if ``coef_ @ x + intercept_ > 0``, else -1.
    classes_ : int64 array
        The labels, -1 and 1.
    mistakes_ : float
        The noisy number of misclassified rows, in the round where it was least.
    n_iter_ : int
        The number of rounds that were used.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data for each round, about as long as ``X @ w``.

    *Labels.* A row whose label is neither -1 nor 1 is ignored, also if it is NaN or null. So
    convert labels 0 and 1 to -1 and 1 first.

    *Steps.* Coordinates are centered (unless `fit_intercept` is False) and divided by half of the
    width of their bounds, so the units of the columns do not matter. A step is the noisy sum of y z
    over the misclassified rows, where y is the label and z the row, divided by their noisy number.
    The hyperplane with the least noisy number of mistakes is kept. Training ends if this number is
    below three standard deviations of its noise.

    *Convergence.* Let the classes be separable with a margin g, and let rows be no longer than r.
    If the noise is small compared with g times the number of misclassified rows, constant steps end
    after at most ``32 r**2 / g**2`` rounds. If the classes are not separable, constant steps
    oscillate, and shrinking steps usually find a better hyperplane.

    *scikit-learn.* Arguments can be read and set as in scikit-learn. For this reason the budget is
    an argument of `fit`.

    Examples
    --------
    Rows are of class 1 if their first number is above 7:

    >>> import numpy as np, dpfast as dp
    >>> x = np.stack([np.linspace(0, 10, 20_001), np.full(20_001, 3.0)], axis=1)
    >>> y = np.where(x[:, 0] > 7, 1, -1)
    >>> budget = dp.Budget(rho=1)
    >>> plane = dp.learn.Perceptron(bounds=(0, 10), rho=0.5).fit(x, y, budget=budget)
    >>> plane.score(x, y) > 0.9
    True
    >>> plane.predict([[1, 3], [10, 3]])
    array([-1,  1])
    >>> plane.decision_function([[1, 3], [10, 3]]) > 0
    array([False,  True])
    """

    _name = "perceptron"
    _two_classes = True

    bounds: BoundsEach | Auto | None = None
    radius: Number | None = None
    max_iter: int = 10
    fit_intercept: bool = True
    step: Literal["shrinking", "constant"] = "shrinking"
    nan: NanPolicy = "raise"

    def _read(self, X: Any, y: Any, relation: str, width: int | None = None) -> Rows:
        # False would be 0, which is no label.
        if width is None and checks.attribute(y, "dtype") == np.bool_:
            checks.fail_kind("y", "-1 or 1 in every row", y, " of dtype bool")
        return super()._read(X, y, relation, width)

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        times = checks.whole("max_iter", self.max_iter, 2)
        centered = checks.flag("fit_intercept", self.fit_intercept)
        checks.choice("step", self.step, ("shrinking", "constant"))
        coordinates = self._coordinates(rows.width, relation, centered)
        parts = _parts(coordinates, centered, relation, loss)
        return Training(
            times, parts, lambda rounds: self._learn(rounds, coordinates, centered, parts)
        )

    def _learn(
        self, rounds: Rounds, coordinates: Coordinates, centered: bool, parts: Sequence[Some]
    ) -> None:
        """Learn the weights and the intercept from rounds of released numbers alone."""

        def total(w: Floats, last: bool, rows: Rows) -> list[int]:
            number, labels, *sums = coordinates.wrong(rows, w[:-1], float(w[-1]) * REACH)
            if last:
                return [number]
            return [number, *sums, labels * REACH] if centered else [number, *sums]

        enough = 3.0 * rounds.deviation(parts[0])
        w = kept = np.zeros(coordinates.width + 1)
        least = math.inf
        for t in range(rounds.rounds):
            last = t == rounds.rounds - 1
            count, *sums = rounds.ask(partial(total, w, last), [COUNT] if last else parts)
            # w = 0 misclassifies every row. So the second w is kept in any case.
            if t <= 1 or count < least:
                kept, least = w, float(count)
            if last or count <= enough:
                break
            mean = np.array(sums, np.float64) / (float(count) * REACH)
            if not centered:
                mean = np.append(mean, 0.0)
            w = w + (mean / (t + 1) if self.step == "shrinking" else mean)
        self.coef_ = (kept[:-1] * (coordinates.scale / REACH))[None]
        self.intercept_ = np.array([kept[-1] - math.fsum(self.coef_[0] * coordinates.middle)])
        self.classes_, self.mistakes_, self.n_iter_ = np.array([-1, 1]), least, t + 1

    @as_fitted
    def decision_function(self, X: Any) -> Floats:
        """Return the signed score of each row. It is above 0 on the side of class 1.

        NOT PRIVATE: a prediction is a function of its row. Do not publish predictions for secret
        rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            The rows, which are not clamped.

        Returns
        -------
        float64 array of shape (n,)
            The scores, proportional to the distance from the hyperplane.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the columns differ from the columns in `fit`.
        DataError
            If X contains NaN.
        """
        return self._apply(X, 1, self._numbers()).reshape(-1)

    def _numbers(self) -> Callable[[Floats], Floats]:
        return lambda rows: rows @ self.coef_.T + self.intercept_

    def _class_indices(self, numbers: Floats) -> NDArray[Any]:
        return (numbers[:, 0] > 0).astype(np.intp)

    def _coordinates(self, width: int, relation: str, centered: bool) -> Coordinates:
        missing_rule = checks.nan_policy(self.nan, relation)
        if (self.radius is None) == (self._bounds is None):
            rule = "public limits of the columns, or left out if radius is given"
            checks.fail("bounds", rule, self._bounds)
        if self.radius is None:
            return Coordinates(column_bounds(self._bounds, width), None, missing_rule, centered)
        radius = checks.scale("radius", self.radius)
        return Coordinates([(-radius, radius)] * width, radius, missing_rule, centered)


class Coordinates:
    """Integer coordinates of rows within public limits.

    Parameters
    ----------
    bounds : sequence of pairs
    radius : float or None
        The largest length of a row. With a radius, `bounds` are the bounds of each coordinate.
    nan : str or float
        The replacement of a NaN.
    centered : bool
        Whether coordinates are counted from the middle of the bounds; else from 0.

    Attributes
    ----------
    middle, scale : float64 array of shape (d,)
        As in `Limits`.
    l1, l2_squared : int
        Upper bounds on the L1 norm of a row, and on its squared L2 norm.
    sizes : list of int or None
        The largest absolute value of each coordinate, if a row may be anywhere in this box.
    """

    def __init__(
        self,
        bounds: Sequence[tuple[float, float]],
        radius: float | None,
        nan: str | float,
        centered: bool,
    ) -> None:
        self._nan, self.width = nan, len(bounds)
        self._limits = limits(bounds, nan, centered, [REACH] * len(bounds))
        self.middle, self.scale = self._limits.middle, self._limits.scale
        self._length = 0.0 if radius is None else float(REACH)
        count = int(np.count_nonzero(self.scale))
        self.sizes = None if radius is not None else [REACH * (s > 0) for s in self.scale.tolist()]
        self.l1, self.l2_squared = count * REACH, count * REACH**2
        if radius is not None:
            most = REACH + math.isqrt(self.width) // 2 + 2
            self.l1, self.l2_squared = most * (math.isqrt(self.width - 1) + 1), most**2

    def wrong(self, rows: Rows, w: Floats, bias: float) -> list[int]:
        """Sum 1, y, and each y z over the rows with ``y (w . z + bias) <= 0``.

        A row whose label y is neither -1 nor 1 is never misclassified.
        """
        columns, skip, length = self._limits.columns, self._limits.skip, self._length

        def add(x: Floats, labels: NDArray[Any], sums: NDArray[np.int64]) -> int:
            y = np.asarray(labels, np.float64)
            labeled = np.abs(y) == 1
            if not labeled.all():
                x, y = x[labeled], y[labeled]
            moved = np.zeros(len(sums) - 2)
            count, label_sum, missing = add_wrong(x, y, columns, w, bias, length, skip, moved)
            sums[:2] += count, label_sum
            sums[2:] += moved.astype(np.int64)
            return missing

        return rows.sums(2 + self.width, add, self._nan)


def _parts(
    coordinates: Coordinates, centered: bool, relation: str, loss: Loss
) -> list[Part] | list[Boxes]:
    """Return the parts of a round: the count of wrong rows, then sums of their coordinates."""
    size = coordinates.width + centered
    if isinstance(loss, Pure) and relation != "replace" and coordinates.sizes is not None:
        sizes = (1, *coordinates.sizes, *[REACH] * centered)
        return [Boxes(Moves(sizes, (size / 4, *[1.0] * size), 1))]
    l1, l2_squared = coordinates.l1 + centered * REACH, coordinates.l2_squared + centered * REACH**2
    if relation == "replace":
        # Integers that are divided and rounded down can change by 1 more. The first part gets twice
        # as much as it needs. Half of it is for this rounding.
        counts = Fraction(1, 2) if isinstance(loss, Pure) else Fraction(3, 4)
        return [replace(COUNT, share=counts), Part(size, 2 * l1, 4 * l2_squared, 4 * size)]
    counts = Fraction(1, 1 + math.isqrt(4 * size))
    return [replace(COUNT, share=counts), Part(size, l1, l2_squared, size, 1 - counts)]
