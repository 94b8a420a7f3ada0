"""Private least squares from noisy sums; noisy answers choose which sums the next rounds query.

All products of d features are d^2 numbers, which need much noise: too much for few rows. So the
first of four rounds queries fewer sums: the number of rows, the sums and squares of columns, and
the products of columns with the target (`normal_equations.Moments`). The other three rounds are
used in one of three ways, which the answers of the first round and the noise of the other rounds
decide:

* All products (`normal_equations.Normal`), if there are many more rows than noise hides. If there
  are only somewhat more rows, one column is added: the position of a row along the line that the
  first answers suggest. The sums of this column are more accurate. So if noise hides all other
  sums, this line is learned.
* A line. Two further rounds repeat the query of the first round. The answers determine the
  direction along which features predict the target. The last round determines the slope along this
  direction: it queries the products of the position along the line and the target, which are three
  numbers for any d. This is the first step of partial least squares (Wold 1966; conjugate
  gradients), with columns of equal scale.
* The mean of the target, if nothing in the first answers exceeds the noise, and the last round
  alone would measure the mean too inaccurately.

*Ridge.* Noise may change the matrix of products by its own size in any direction. So half of this
size is added to each eigenvalue. If there is one column, the whole size is added, because the sum
of squares of this column might be nothing but noise. (AdaSSP, Wang 2018, pays for the least
eigenvalue, and adds what it lacks to the size of the noise.)

*Shrinking.* Let the slopes explain a sum of squares S of the target. If the products were only
noise, they would explain E on average. E is computed from public numbers and the noisy means: it
includes the noise of the products with the target, and of the sums and the count that are
subtracted from them. Slopes are multiplied by 1 - E / S (after James and Stein). If E is at least
S, the prediction is the noisy mean.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, Literal, NamedTuple, TypeVar

import numpy as np

from .._core import checks
from .._core.error_bars import normal
from .._core.types import Auto, Bounds, BoundsEach, NanPolicy, Number
from ..errors import DataError
from ..privacy import Loss, Pure
from ..sulq.parts import Some
from ..sulq.rounds import Rounds
from .columns import Floats, column_bounds, expect_size
from .estimator import Training, Weighted
from .normal_equations import LINE_REACH, REACH, Moments, Normal, Products
from .rows import Rows
from .scored import Regressor

Sums = TypeVar("Sums", Moments, Normal)

#: The number of rounds of a fit that chooses its queries.
ROUNDS = 4
#: All products are queried if there are at least this many rows, in units of the size of the noise:
#: with a line, and without a line.
ENOUGH, MANY = 10.0, 20.0
#: Products with the target exceed the noise if they exceed BEYOND standard deviations. The noise of
#: the mean matters if it exceeds MATTERS half widths of the bounds.
BEYOND, MATTERS = 3.0, 0.1


@dataclass(eq=False, repr=False, kw_only=True)
class LinearRegression(Weighted, Regressor):
    """Fit linear least squares by noisy sums.

    With enough rows, the sums are products of all features and the target. With fewer rows, the
    sums determine one direction in the space of features, and the slope along this direction. If
    noise hides this direction too, the prediction is the noisy mean of the target. Noisy answers
    choose between these three cases.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its target: added or removed, or replaced
    (`neighbors`). All rounds together satisfy the requested loss (``dpfast/sulq/rounds.py`` has the
    proof). All attributes are computed from their answers.

    Rows are rounded to a public grid between their bounds, so all sums are exact integers. The
    noise in products is as in "Analyze Gauss" (Dwork, Talwar, Thakurta and Zhang, STOC 2014), but
    the noise off the diagonal has half of the variance, for the same loss.
    ``dpfast/learn/normal_equations.py`` has the proof for the sums of the earlier rounds.

    Parameters
    ----------
    bounds : (float, float), or a pair for each column
        Public limits of the features, as in `KMeans`.
    y_bounds : (float, float)
        Public limits of the target. Values outside are clamped.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    fit_intercept : bool, default True
        Whether the model has an intercept. Without an intercept, the prediction at 0 is 0.
    ridge : "noise" or float, default "noise"
        What is added to the sum of squares of each feature, to make the solution stable. A number
        acts like so many additional rows at a bound of the feature; then all products are released
        in one round. "noise" adds the amount that the noise may hide, according to its public
        standard deviation, and removes from the slopes the part that noise explains.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN in features and target is treated: "raise" is an error after the spend, "lower" and
        "upper" replace NaN by that bound, a number replaces NaN by that number, and "drop" leaves
        out the whole row.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    coef_ : float64 array of shape (d,)
        The slope of each feature.
    intercept_ : float
        The prediction where all features are 0.
    coef_standard_error_ : float64 array of shape (d,) or None
        Standard errors of the coefficients, from the noise and from the sampling of rows, to first
        order (derived in ``dpfast/learn/normal_equations.py``). They do not include the bias of the
        ridge. None if they are unknown. This is so if not all products were released, because then
        noise chose the sums. It is so with a numeric `ridge` and no intercept, because no number of
        rows is released. It is also so with `ids` or weights, because rows are then not
        independent, or do not count equally.
    n_rows_ : float
        The number of rows, with noise; only if there is an intercept.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: two or three reads of the data, or one with a numeric `ridge`. Each takes about as long as
    ``X.T @ X``. The units of the columns do not matter. A negative eigenvalue of the noisy matrix
    counts as 0.

    Arguments can be read and set as in scikit-learn. For this reason the budget is an argument of
    `fit`.

    Examples
    --------
    A target with the slopes 3 and -1, and the intercept 5:

    >>> import numpy as np, dpfast as dp
    >>> x = np.stack([np.linspace(0, 10, 20_001), np.arange(20_001) % 7], axis=1)
    >>> y = 3 * x[:, 0] - x[:, 1] + 5
    >>> line = dp.learn.LinearRegression(bounds=(0, 10), y_bounds=(-10, 40), rho=0.5).fit(x, y)
    >>> line.coef_.round()
    array([ 3., -1.])
    >>> line.score(x, y) > 0.99
    True
    >>> bool(abs(line.predict([[5.0, 2.0]])[0] - 18) < 1)
    True
    """

    _name = "linear regression"

    bounds: BoundsEach | Auto = field()
    y_bounds: Bounds
    fit_intercept: bool = True
    ridge: Literal["noise"] | Number = "noise"
    nan: NanPolicy = "raise"

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        centered = checks.flag("fit_intercept", self.fit_intercept)
        ridge = self._ridge()
        # This keeps squares from overflowing, also the squares of targets.
        pairs = column_bounds(self._bounds, rows.width, 500)
        target = checks.bounds(self.y_bounds, "y_bounds")
        expect_size([target], 500, "y_bounds", self.y_bounds)
        walk = _Walk(
            [*pairs, target], checks.nan_policy(self.nan, relation), centered, loss, relation
        )

        def learn(rounds: Rounds) -> None:
            learned = walk.fixed(rounds, ridge) if ridge is not None else walk.chosen(rounds)
            if centered:
                self.n_rows_ = learned.rows
            alone = rows.ids is None and rows.kept is None and rows.weights is None
            self._keep(*walk.in_units(learned), walk.errors_in_units(learned) if alone else None)

        if ridge is not None:
            return Training(1, walk.fixed_ridge.parts, learn)
        return Training(ROUNDS, walk.parts(), learn)

    def _keep(self, coef: Floats, intercept: float, errors: Floats | None) -> None:
        """Set the learned coefficients, intercept and standard errors."""
        self.coef_, self.intercept_, self.coef_standard_error_ = coef, intercept, errors

    def conf_int(self, confidence: float = 0.95) -> Floats:
        """Return a normal confidence interval for each coefficient, from its standard error.

        Parameters
        ----------
        confidence : float, default 0.95
            The approximate probability that the interval contains the coefficient of the
            population.

        Returns
        -------
        ndarray of float64, shape (d, 2)
            The lower and the upper end for each coefficient.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If the standard errors are unknown.

        Examples
        --------
        The interval of a slope of 3:

        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> line = dp.learn.LinearRegression(bounds=(0, 10), y_bounds=(0, 40), rho=0.5)
        >>> low, high = line.fit(x, 3 * x[:, 0] + 5).conf_int()[0]
        >>> bool(2.9 < low < high < 3.1)
        True
        """
        share = checks.share("confidence", confidence)
        self._check_fitted()
        if self.coef_standard_error_ is None:
            raise DataError(
                "standard errors are unknown: the docstring lists when coef_standard_error_ is None"
            )
        width = normal(1 - share) * self.coef_standard_error_
        return np.stack([self.coef_ - width, self.coef_ + width], axis=1)

    def _numbers(self) -> Callable[[Floats], Floats]:
        return lambda rows: (rows @ self.coef_ + self.intercept_)[:, None]

    def _ridge(self) -> float | None:
        """Return the checked ridge, or None to choose the ridge by the noise."""
        if isinstance(self.ridge, str):
            checks.choice("ridge", self.ridge, ("noise",))
            return None
        rule = "'noise', 0, or a finite number of at least 2**-100"
        ridge = checks.number("ridge", self.ridge, rule)
        if ridge and ridge < 2.0**-100:
            checks.fail("ridge", rule, self.ridge)
        return ridge


class _Learned(NamedTuple):
    """The learned row count, the slopes in units of the bounds, and the value at their middle.

    `errors` are the standard errors of the slopes, or None.
    """

    rows: float
    slopes: Floats
    value: float
    errors: Floats | None = None


@dataclass(frozen=True, slots=True)
class _Question(Generic[Sums]):
    """A query for sums over the rows, with the number of rounds that it uses."""

    sums: Sums
    parts: Sequence[Some]
    uses: int = 1

    def deviations(self, rounds: Rounds) -> Sequence[float]:
        return self.sums.deviations(rounds, self.parts, self.uses)

    def ask(self, rounds: Rounds, total: Callable[[Rows], list[int]] | None = None) -> Products:
        noisy = rounds.ask(total or self.sums.total, self.parts, self.uses)
        return self.sums.products(noisy, self.deviations(rounds))


class _Walk:
    """The rounds of a linear regression: query sums of products, and solve for coefficients.

    Parameters
    ----------
    bounds : list of pairs
        The last pair is the bounds of the target.
    nan : str or float
    centered : bool
        Whether there is an intercept.
    loss : Loss
    relation : str
    """

    def __init__(
        self,
        bounds: list[tuple[float, float]],
        nan: str | float,
        centered: bool,
        loss: Loss,
        relation: str,
    ) -> None:
        def normal(bounds: list[tuple[float, float]], uses: int, line: bool) -> _Question[Normal]:
            sums = Normal(bounds, nan, centered, line)
            return _Question(sums, sums.gram.parts_within(loss, relation), uses)

        self.centered, line_bounds, remaining = centered, (-1.0, 1.0), ROUNDS - 1
        self.moments = moments = Moments(bounds, nan, centered)
        self.fixed_ridge = normal(bounds, 1, line=False)
        self.first, self.again = (
            _Question(moments, moments.parts_within(loss, relation, Fraction(ROUNDS, uses)), uses)
            for uses in (1, remaining - 1)
        )
        self.mean = _Question(moments, moments.parts(relation, targets=True), remaining)
        self.all = normal(bounds, remaining, line=False)
        #: The sums with the coordinate along a line as an additional column, and the sums with this
        #: column only.
        self.with_line = normal([line_bounds, *bounds], remaining, line=True)
        self.line = normal([line_bounds, bounds[-1]], 1, line=False)
        self._scale, self._middle = moments.limits.scale, moments.limits.middle
        # This keeps coefficients from overflowing.
        *features, last = np.where(self._scale > 0, self._scale / REACH, 0.0).tolist()
        if last and max(features) > 2.0**800 * last:
            rule = "at most 2**800 times as wide as the bounds of any feature"
            checks.fail("y_bounds", rule, bounds[-1])

    def parts(self) -> list[Some]:
        """Return the parts of all queries that may be made."""
        moments = (self.first, self.again, self.mean)
        normals = (self.with_line, self.all, self.line)
        return [part for question in (*moments, *normals) for part in question.parts]

    def fixed(self, rounds: Rounds, ridge: float) -> _Learned:
        """Learn from all products in one round, with a fixed ridge."""
        products, sides = self.fixed_ridge.ask(rounds), self.fixed_ridge.sums.sides
        return _Learned(
            float(products.values[0, 0]), *products.solve(0.0, ridge, sides, self.centered)
        )

    def chosen(self, rounds: Rounds) -> _Learned:
        """Run a first round, then choose the next queries by its noisy answers."""
        first = self.first.ask(rounds)
        d, rows = len(self.moments.live), max(float(first.values[0, 0]), 1.0)
        if d and rows >= MANY * self._noise(rounds, self.all):
            return self._solved(rounds, first.joined(self.all.ask(rounds)), self.all)
        if d and rows >= ENOUGH * self._noise(rounds, self.with_line):
            return self._along(rounds, first, self.with_line)
        # The variance of the squared noise of one product, in units of its squared variance.
        kurtosis = 5.0 if isinstance(rounds.loss, Pure) else 2.0
        nothing = first.shown(self.centered) < BEYOND * math.sqrt(kurtosis * d)
        # If nothing exceeds the noise: would the last round alone measure the mean too
        # inaccurately?
        if self.centered and nothing:
            off = self.line.sums.of_mean(self.line.deviations(rounds))
            nothing = off > MATTERS * rows
        if not d or (self.centered and nothing):
            total = functools.partial(self.moments.total, targets=True)
            products = first.joined(self.mean.ask(rounds, total))
            _, mean = products.means(self.centered)
            return _Learned(float(products.values[0, 0]), np.zeros(d), float(mean[-1]))
        return self._along(rounds, first.joined(self.again.ask(rounds)), self.line)

    def _noise(self, rounds: Rounds, question: _Question[Normal]) -> float:
        """Return the size (norm) of the noise in the matrix of products of features."""
        return question.sums.noise(question.deviations(rounds))

    def _along(self, rounds: Rounds, before: Products, question: _Question[Normal]) -> _Learned:
        """Learn from products with the coordinate of rows along the best line."""
        line = self.moments.line(before, self.centered)
        alone = len(question.sums.live) == 1

        def columns(x: Floats) -> Floats:
            along = line.coordinates(x)[:, None]
            return along if alone else np.hstack([along, x])

        products = question.ask(rounds, functools.partial(question.sums.total, columns=columns))
        products_before = before.ends() if alone else before
        size = len(products.values)
        products = products.joined(products_before.only([0, *range(2, size)], size))
        number, slopes, value, _ = self._solved(rounds, products, question)
        along_slope, *others = slopes.tolist()
        whole = along_slope * line.slopes[self.moments.live] + np.array(others or [0.0])
        return _Learned(number, whole, value - along_slope * line.middle / LINE_REACH)

    def _solved(self, rounds: Rounds, products: Products, question: _Question[Normal]) -> _Learned:
        """Return the solution of the noisy normal equations, with a ridge for their noise."""
        normal = question.sums
        noise = self._noise(rounds, question) / min(2, len(normal.live))
        solved = products.solve(noise, None, normal.sides, self.centered)
        return _Learned(float(products.values[0, 0]), *solved)

    def errors_in_units(self, learned: _Learned) -> Floats | None:
        """Return standard errors of the coefficients in the units of the rows, or None.

        The standard error for a feature with only one value is 0.
        """
        errors = learned.errors
        return None if errors is None else np.abs(self.in_units(learned._replace(slopes=errors))[0])

    def in_units(self, learned: _Learned) -> tuple[Floats, float]:
        """Return the coefficients and the intercept in the units of the rows."""
        scale, middle = self._scale, self._middle
        coef: Floats = np.zeros(len(scale) - 1)
        if not scale[-1]:
            return coef, float(middle[-1])
        coef[self.moments.live] = learned.slopes * (scale[self.moments.live] / scale[-1])
        if not self.centered:
            return coef, 0.0
        return coef, float(middle[-1] + learned.value * (REACH / scale[-1]) - coef @ middle[:-1])
