"""Private least squares: one noisy matrix of exact sums of products of features and target.

Coordinates of features are in [-1, 1], those of the target in [-b, b], beside a constant c; a row's
products have the norm c^2 + d + b^2 at most, with c^2 a quarter of the rest (see `gram_matrix`),
and so has the noise. A coefficient of size 1 is off by the noise of its own product over b, and by
that of all others: in all (A + b^2)^2 (1 / b^2 + |coefficients|^2), A = c^2 + d. For coefficients
of length 1 that is least for b^2 = (sqrt(1 + 8 A) - 1) / 4, with c held fixed.

*Ridge.* A matrix of noise of deviation s on the diagonal, and s / sqrt(2) beside it, has
eigenvalues of about sqrt(2 d) s. So much may be missing in any direction, so some of that is added
to each eigenvalue. Slopes then explain a sum of squares S, and of noise alone they would explain E
on average, which public numbers and the noisy means tell: that of the products with the target, and
of the sums and the count that are taken off them. What noise explains is left out (after James and
Stein): slopes keep the part 1 - E / S, and where E is as much as S the prediction is the noisy
mean.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.types import Auto, Bounds, BoundsEach, NanPolicy, Neighbors, Number
from .._kernels.sulq import PAIRS_MOST_ROWS as MOST_PAIRS
from .._kernels.sulq import pairs_add as pairs
from ..privacy import Loss
from .coordinates import limits
from .estimator import Regressor, Training
from .gram_matrix import GramMatrix
from .labeled_rows import LabeledRows, Piece
from .rounds import Rounds
from .row_matrices import Floats, carry, column_bounds, expect_size, refuse_nan, wholes

#: c^2, as a part of the largest squared length of a row.
CONSTANT = 0.25


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(Regressor):
    """Least squares, from one noisy release of the number of rows, sums and products.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its target, added or removed, or replaced
    (`neighbors`). The release satisfies the loss that is asked for, and all attributes are computed
    from it. Rows are put on a public grid between their bounds, so all sums are exact integers;
    noise is that of "Analyze Gauss" (Dwork, Talwar, Thakurta and Zhang, STOC 2014) with half of the
    variance off the diagonal, which costs the same.

    Parameters
    ----------
    bounds : (float, float), or a pair for each column
        Public limits of the features, as in `KMeans`.
    y_bounds : (float, float)
        Public limits of the target.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    fit_intercept : bool, default True
        Whether there is a constant beside the features; else the prediction at 0 is 0.
    ridge : "noise" or float, default "noise"
        What is added to the sum of the squares of each feature, in units of half of the width of
        its bounds, so that the solution is stable: as much as that many rows at a bound would.
        "noise" takes as much as the noise may hide, by its public deviation, and leaves out of
        the slopes what noise explains.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN, of features and target, as in `quantile`; "drop" leaves out the row.

    Attributes
    ----------
    coef_ : float64 array of shape (d,)
    intercept_ : float
    n_rows_ : float
        Number of rows, with noise; only if there is an intercept.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data, at about the speed of ``X.T @ X``. Columns of any units count alike.
    Where the noisy matrix has a negative eigenvalue, it counts as 0.

    Parameters can be read and set as in scikit-learn; a budget is therefore an argument of `fit`.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.stack([np.linspace(0, 10, 20_001), np.arange(20_001) % 7], axis=1)
    >>> y = 3 * x[:, 0] - x[:, 1] + 5
    >>> line = dp.sulq.LinearRegression(bounds=(0, 10), y_bounds=(-10, 40), rho=0.5).fit(x, y)
    >>> line.coef_.round()
    array([ 3., -1.])
    >>> line.score(x, y) > 0.99
    True
    """

    _name = "linear regression"

    bounds: BoundsEach | Auto
    y_bounds: Bounds
    epsilon: Number | None = None
    delta: Number = 0.0
    rho: Number | None = None
    neighbors: Neighbors | None = None
    fit_intercept: bool = True
    ridge: Literal["noise"] | Number = "noise"
    nan: NanPolicy = "raise"

    coef_: Floats = field(init=False)
    intercept_: float = field(init=False)
    n_rows_: float = field(init=False)

    def _training(self, rows: LabeledRows, loss: Loss, relation: str) -> Training:
        centered = checks.flag("fit_intercept", self.fit_intercept)
        ridge = self._ridge()
        pairs = column_bounds(self._bounds, rows.width, 500)  # squares, of targets too, are numbers
        target = checks.bounds(self.y_bounds, "y_bounds")
        expect_size([target], 500, "y_bounds", self.y_bounds)
        normal = _Normal([*pairs, target], checks.nan_policy(self.nan, relation), centered)
        parts = normal.gram.parts(relation)

        def learn(rounds: Rounds) -> None:
            deviation = rounds.noise(parts[1 if centered else 0]).deviation
            matrix = normal.gram.matrix(rounds.ask(normal.total, parts))
            vars(self).pop("n_rows_", None)
            if centered:
                self.n_rows_ = float(matrix[0, 0])
            self.coef_, self.intercept_ = normal.solve(matrix, deviation, ridge)

        return Training(1, parts, learn)

    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row.

        NOT PRIVATE: an answer is a function of its row. Do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            Not clipped.

        Returns
        -------
        float64 array of shape (n,)

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        DataError
            For NaN.
        """
        return self._apply(X, 1, lambda rows: self._predicted(rows)[:, None]).reshape(-1)

    def _predicted(self, rows: Floats) -> Floats:
        numbers: Floats = rows @ self.coef_ + self.intercept_
        refuse_nan(numbers)
        return numbers

    def _ridge(self) -> float | None:
        """Return the ridge, or None for what the noise asks for."""
        if isinstance(self.ridge, str):
            checks.choice("ridge", self.ridge, ("noise",))
            return None
        rule = "'noise', 0, or a finite number of at least 2**-100"
        ridge = checks.number("ridge", self.ridge, rule)
        if ridge and ridge < 2.0**-100:
            checks.fail("ridge", rule, self.ridge)
        return ridge


class _Normal:
    """The normal equations in integer coordinates.

    Parameters
    ----------
    bounds : list of pairs
        The last pair is that of the target.
    nan : str or float
    centered : bool
        Whether there is an intercept.
    """

    def __init__(self, bounds: list[tuple[float, float]], nan: str | float, centered: bool) -> None:
        self.nan, self.centered = nan, centered
        live = [lo != hi or not (centered or lo == 0) for lo, hi in bounds]
        d = sum(live[:-1])
        most = (1.0 + CONSTANT) * d if centered else float(d)
        b = math.sqrt((math.sqrt(1.0 + 8.0 * max(most, 1.0)) - 1.0) / 4.0)
        sides = [1.0] * (len(bounds) - 1) + [b]
        box = [(-side, side) if on else (0.0, 0.0) for side, on in zip(sides, live, strict=True)]
        self.gram = GramMatrix(box, "raise", centered, CONSTANT)
        self.reach = self.gram.reach
        self._limits = limits(bounds, nan, centered, self.reach)
        *each, last = (self._limits.scale / np.maximum(self.reach, 1.0)).tolist()
        if last and max(each) > 2.0**800 * last:  # and coefficients are numbers
            rule = "at most 2**800 times as wide as those of a feature"
            checks.fail("y_bounds", rule, bounds[-1])

    def total(self, rows: LabeledRows) -> list[int]:
        """Return the integers in the order of the parts of `gram`."""
        size = self.gram.width
        columns, skip = self._limits

        def summarize(pieces: Iterator[Piece]) -> NDArray[np.int64]:
            halves = np.zeros((2, 2 + size + size * (size + 1) // 2), np.int64)
            counts, sums, products = np.split(halves[1], [2, 2 + size])
            for x, y in pieces:
                missing = pairs(x, np.asarray(y, np.float64), columns, skip, sums, products)
                counts += len(x), missing
                carry(halves)
            return halves

        integers = wholes(rows.reduce(summarize, np.add, MOST_PAIRS))
        read, missing = integers[:2]
        nan_policy.refuse(self.nan, missing)
        kept = read - missing if skip else read
        return self.gram.in_parts(kept, integers[2 : 2 + size], integers[2 + size :])

    def solve(self, matrix: Floats, deviation: float, ridge: float | None) -> tuple[Floats, float]:
        """Return the coefficients and the constant.

        `deviation` is that of the noise in the squares of the noisy matrix.
        """
        scale, middle = self._limits.scale, self._limits.middle
        coef: Floats = np.zeros(len(scale) - 1)
        if not scale[-1]:
            return coef, float(middle[-1])
        live = np.flatnonzero(self.reach[:-1] > 0)
        kept = np.append(live, len(coef))
        reach, at = self.reach[kept], kept + int(self.centered)
        whole, mean = matrix[np.ix_(at, at)], np.zeros(len(at))
        if self.centered:
            rows = max(float(matrix[0, 0]), 1.0)
            mean = np.clip(matrix[0, at] / rows, -reach, reach)
            whole = whole - rows * np.outer(mean, mean)
        whole = whole / np.outer(reach, reach)
        d = len(live)
        noise = deviation if ridge is None else 0.0
        if ridge is None:
            ridge = deviation / float(reach[:-1].max(initial=1.0)) ** 2 * math.sqrt(d)
        values, vectors = np.linalg.eigh(whole[:d, :d])
        values = np.maximum(values, 0.0) + ridge
        inverse = np.where(values > 0, 1.0 / np.where(values > 0, values, 1.0), 0.0)
        along = vectors.T @ whole[:d, d]
        explained = float(inverse @ along**2)
        by_noise = float(inverse.sum()) * self._variance(reach, mean / reach, noise)
        share = max(0.0, 1.0 - by_noise / explained) if explained > 0 else 0.0
        slopes = vectors @ (share * along * inverse)
        unit = reach[-1] / scale[-1]  # half of the width of the target's bounds
        coef[live] = slopes * (scale[live] / reach[:-1]) * unit
        place = middle[kept] + mean / scale[kept]
        return coef, float(place[-1] - coef[live] @ place[:-1]) if self.centered else 0.0

    def _variance(self, reach: Floats, place: Floats, deviation: float) -> float:
        """Return the mean variance of the noise in the products of features with the target.

        They are measured from the means, which lie at `place`, in units of the reaches.
        """
        if len(reach) == 1:
            return 0.0
        features, target, c = reach[:-1], reach[-1], self.gram.constant
        variance = 0.5 * (deviation / (features * target)) ** 2
        if c:
            x, y = place[:-1], place[-1]
            of_sums = (y / features) ** 2 + (x / target) ** 2
            variance += 0.5 * (deviation / c) ** 2 * of_sums + (deviation / c**2 * x * y) ** 2
        return float(variance.mean())
