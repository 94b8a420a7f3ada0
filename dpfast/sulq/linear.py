"""Private least squares: one noisy matrix of exact sums of products of features and target.

Coordinates of features are in [-1, 1], those of the target in [-b, b], beside a constant c; a row's
products have the norm c^2 + d + b^2 at most, with c^2 half of the rest (see `gram`), and so have
all noises. In them a coefficient of size 1 is off by the noise of its own product over b, and by
that of all others: in all (A + b^2)^2 (1 / b^2 + |coefficients|^2), A = c^2 + d. For coefficients
of length 1 that is least for b^2 = (sqrt(1 + 8 A) - 1) / 4, with c held fixed.

*Ridge.* A matrix of noise of deviation s on the diagonal, and s / sqrt(2) beside it, has
eigenvalues of about sqrt(2 d) s. So much may be missing in any direction, so some of that is added
to each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._kernels.sulq import PAIRS_MOST_ROWS as MOST_PAIRS
from .._kernels.sulq import pairs_add as pairs
from ..budget.budget import Budget
from ..rng import Generator
from ..statistics.arguments import said
from .coordinates import Limits, limits
from .estimator import Regressor
from .gram import Gram
from .matrices import each_row, expect_size, refuse_nan
from .rounds import Rounds, loss_of
from .targets import Labelled, Piece, labelled
from .wide_sums import carry, wholes

Own = TypeVar("Own", bound="LinearRegression")


class LinearRegression(Regressor):
    """Least squares from one noisy release of the number of rows, sums and products.

    Privacy
    -------
    Neighbours are datasets that differ in one row with its target, added or removed, or replaced
    (`neighbors`). The release satisfies the loss that is asked for, and all attributes are computed
    from it. Rows are put on a public grid between their bounds, so all sums are exact integers;
    noise is that of "Analyze Gauss" (Dwork, Talwar, Thakurta and Zhang, STOC 2014) with half of the
    variance off the diagonal, which costs the same.

    Parameters
    ----------
    bounds : (float, float), or a pair for each column
        Public limits of the features, in the data's units; values outside are clipped. They must
        not come from the data.
    y_bounds : (float, float)
        The same for the target.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of `fit`: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighbouring relation.
    fit_intercept : bool, default True
        Whether there is a constant beside the features; else the answer at 0 is 0.
    ridge : "noise" or float, default "noise"
        What is added to the sum of the squares of each feature, so that the solution is stable, in
        units of half of the width of its bounds: a number is as so many rows at a bound. "noise"
        takes as much as the noise may hide, by its public deviation.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN, of features and target, as in `quantile`; "drop" leaves out the row.

    Attributes
    ----------
    coef_ : float64 array of shape (d,)
    intercept_ : float
    n_rows_ : float
        The number of rows, with noise; only if there is an intercept.
    n_features_in_ : int
    feature_names_in_ : array of str, if the columns have names
    loss_ : Pure, Approx or ZCDP
        What was spent.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        By `fit`, for a bad argument; nothing has been spent.
    BudgetError
        By `fit`, when the budget has too little left; nothing has been spent.
    DataError
        By `fit`, for NaN under ``nan="raise"``; the spent budget is not refunded.

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
    >>> found = dp.sulq.LinearRegression(bounds=(0, 10), y_bounds=(-10, 40), rho=0.5).fit(x, y)
    >>> found.coef_.round()
    array([ 3., -1.])
    >>> found.score(x, y) > 0.99
    True
    """

    coef_: NDArray[np.float64]
    intercept_: float
    n_rows_: float

    def __init__(
        self,
        *,
        bounds: Any,
        y_bounds: Any,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        neighbors: str = "add-remove",
        fit_intercept: bool = True,
        ridge: str | float = "noise",
        nan: str | float = "raise",
    ) -> None:
        self.bounds = bounds
        self.y_bounds = y_bounds
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.neighbors = neighbors
        self.fit_intercept = fit_intercept
        self.ridge = ridge
        self.nan = nan

    def fit(
        self: Own,
        X: Any,
        y: Any = None,
        *,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Own:
        """Learn the coefficients.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
        y : array_like of shape (n,), or str
            The target of each row; where X has columns with names, the name of one, which then is
            no feature.
        budget : Budget, optional
            Pays before data or randomness are touched.
        rng : Generator, optional
            By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

        Returns
        -------
        LinearRegression
            This object.
        """
        loss = loss_of(self.epsilon, self.delta, self.rho)
        relation = checks.neighbors(self.neighbors)
        centred = checks.flag("fit_intercept", self.fit_intercept)
        ridge = self._ridge()
        rows = labelled(X, y, width=said(self.bounds), relation=relation)
        normal = _Normal(self._bounds(rows.width), checks.nan_policy(self.nan, relation), centred)
        parts = normal.gram.parts(relation)
        rounds = Rounds(
            rows,
            loss=loss,
            neighbors=relation,
            rounds=1,
            name="linear regression",
            budget=budget,
            rng=rng,
            parts=parts,
        )
        deviation = rounds.noise(parts[1 if centred else 0]).deviation
        matrix = normal.gram.matrix(rounds.ask(normal.total, parts))
        vars(self).pop("n_rows_", None)
        if centred:
            self.n_rows_ = float(matrix[0, 0])
        self.coef_, self.intercept_ = normal.solve(matrix, deviation, ridge)
        self._learned(loss, rows.width, rows.names)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """What is to be expected of each row.

        NOT PRIVATE: an answer is a function of its row, so do not publish those of secret rows.

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
        source = self._rows(X)
        return each_row(
            source, self.n_features_in_, 1, lambda rows: self._line(rows)[:, None]
        ).reshape(-1)

    def _line(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = rows @ self.coef_ + self.intercept_
        return found

    def _answers(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(invalid="ignore"):
            found = self._line(rows)
        refuse_nan(found)
        return found

    def _bounds(self, width: int) -> list[tuple[float, float]]:
        """Of the features, then of the target."""
        own, is_vector = checks.pairs(self.bounds)
        own = own if is_vector else own * width
        checks.columns("bounds", len(own), width)
        target = checks.bounds(self.y_bounds, "y_bounds")
        expect_size(own, 500, "bounds", self.bounds)  # squares are numbers
        expect_size([target], 500, "y_bounds", self.y_bounds)
        return [*own, target]

    def _ridge(self) -> float | None:
        """None for what the noise asks for."""
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
        The last one is that of the target.
    nan : str or float
    centred : bool
        Whether there is an intercept.
    """

    def __init__(self, bounds: list[tuple[float, float]], nan: str | float, centred: bool) -> None:
        self.nan, self.centred = nan, centred
        live = [lo != hi or not (centred or lo == 0) for lo, hi in bounds]
        d = sum(live[:-1])
        most = 1.5 * d if centred else float(d)
        b = math.sqrt((math.sqrt(1.0 + 8.0 * max(most, 1.0)) - 1.0) / 4.0)
        sides = [1.0] * (len(bounds) - 1) + [b]
        own = [(-side, side) if on else (0.0, 0.0) for side, on in zip(sides, live, strict=True)]
        self.gram = Gram(own, "raise", centred)
        self.reach = self.gram.reach
        self._limits: Limits = limits(bounds, nan, centred, self.reach)
        *each, last = (self._limits.scale / np.maximum(self.reach, 1.0)).tolist()
        if last and max(each) > 2.0**800 * last:  # and coefficients are numbers
            rule = "at most 2**800 times as wide as those of a feature"
            checks.fail("y_bounds", rule, bounds[-1])

    def total(self, rows: Labelled) -> list[int]:
        """The integers in the order of the parts of `gram`."""
        size = self.gram.width
        columns, skip = self._limits

        def summarise(pieces: Iterator[Piece]) -> NDArray[np.int64]:
            found = np.zeros((2, 2 + size + size * (size + 1) // 2), np.int64)
            counts, sums, products = np.split(found[1], [2, 2 + size])
            for x, y in pieces:
                missing = pairs(x, np.asarray(y, np.float64), columns, skip, sums, products)
                counts += len(x), missing
                carry(found)
            return found

        found = wholes(rows.reduce(summarise, np.add, MOST_PAIRS))
        read, missing = found[:2]
        nan_policy.refuse(self.nan, missing)
        kept = read - missing if skip else read
        return self.gram.in_parts(kept, found[2 : 2 + size], found[2 + size :])

    def solve(
        self, matrix: NDArray[np.float64], deviation: float, ridge: float | None
    ) -> tuple[NDArray[np.float64], float]:
        """Coefficients and the constant, from the noisy matrix and the noise of its squares."""
        reach = np.where(self.reach > 0, self.reach, 1.0)
        whole = matrix[1:, 1:] if self.centred else matrix
        mean = np.zeros(len(reach))
        if self.centred:
            rows = max(float(matrix[0, 0]), 1.0)
            mean = np.clip(matrix[0, 1:] / rows, -reach, reach)
            whole = whole - rows * np.outer(mean, mean)
        whole = whole / np.outer(reach, reach)
        d = len(reach) - 1
        if ridge is None:
            ridge = deviation / float(reach[:-1].max()) ** 2 * math.sqrt(d)
        values, vectors = np.linalg.eigh(whole[:d, :d])
        values = np.maximum(values, 0.0) + ridge
        along = vectors.T @ whole[:d, d]
        slopes = vectors @ np.where(values > 0, along / np.where(values > 0, values, 1.0), 0.0)
        scale = self._limits.scale
        if not scale[-1]:
            return np.zeros(d), float(self._limits.middle[-1])
        unit = reach[-1] / scale[-1]  # half of the width of the target's bounds
        coef = slopes * (scale[:-1] / reach[:-1]) * unit
        place = self._limits.middle + mean / np.where(scale > 0, scale, 1.0)
        return coef, float(place[-1] - coef @ place[:-1]) if self.centred else 0.0
