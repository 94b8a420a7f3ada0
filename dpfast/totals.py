"""Counts, sums, means and variances with noise for their global sensitivity.

Everything is computed on integers: a row is a cell of a public grid, u of 0 .. s (`_cells`), sums
of cells are exact, noise is an exact integer (`_whole_noise`), and dividing comes last. So the
sensitivities below are those of the code, not of an ideal that it approximates.

*n is public* (a row is replaced, no `where`). A sum of cells moves by at most s. The sum of all
squared distances of pairs, V = n sum(u^2) - sum(u)^2 = sum_(i<j) (u_i - u_j)^2, moves by at most
(n - 1) s^2, since n - 1 of its terms change, each between 0 and s^2.

*n is private.* A sum of the cells themselves (c = first + u) moves by max |c| when a row comes or
goes. A mean needs the number of rows as well. Instead of that and the sum, each with a share of the
loss, release the pair A = sum(u) and B = sum(s - u): a row adds (u, s - u), whose l1 norm is s and
whose l2 norm is at most s, so noise for s on either costs what noise for s on one number does, and
(A + B) / s is the number of rows. With m = A / (A + B), the mean's place between the bounds, and
noise of variance v in units of s, the error of m is ((1 - m) e_A - m e_B) / n to first order, of
variance v ((1 - m)^2 + m^2) / n^2: between v / 2 and v. For comparison, the sum centred at the
middle with a share 1 - a of epsilon and the count with a share a have

    v (1 / (1 - a)^2 + (2 m - 1)^2 / a^2) / (4 n^2),

which in the worst case, m = 0 or 1, is least for a = 1/2: 2 v / n^2. That is twice the variance of
the pair, for every m. (With Gaussian noise the best split of rho is as good as the pair.)

A variance needs sum(u^2) too: a row adds the three numbers (u^2, 2 u (s - u), (s - u)^2), whose
sum, and so whose l1 norm, is s^2, and whose l2 norm is at most that. Sums of them give n, sum(u)
and sum(u^2) back.

Under "replace" with `where`, a row may also leave or enter. Two such vectors differ by at most
twice the l1 norm of one and, being nonnegative, by at most the square root of two times its l2
norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import _check, privacy
from ._additive import amount
from ._cells import SQUARES, Cells, cells, nearest
from ._totals import Totals, settled, totals
from ._weighted import WeightedMean, WeightedSum
from ._whole_noise import whole_noise
from .budget import Budget
from .privacy import Loss
from .release import release
from .rng import Generator
from .sources import Source, as_source
from .sources.table import as_rows

__all__ = ["Count", "Mean", "Sum", "Variance", "count", "mean", "sum", "variance"]


@dataclass(frozen=True, slots=True)
class Count:
    """How many rows, or how many of those that `where` keeps; see `dpfast.count`."""

    neighbors: str
    loss: Loss
    present: bool
    where: NDArray[np.bool_] | None

    name: ClassVar[str] = "count"

    @property
    def sensitivity(self) -> int:
        """A row that is replaced stays one row, unless something asks what it holds."""
        return int(self.neighbors == "add-remove" or self.where is not None or self.present)

    def reduce(self, source: Source) -> int:
        if not self.present and self.where is None and source.length is not None:
            return source.length
        found = totals(source, None, self.where)
        return found.rows + (0 if self.present else found.missing)

    def finish(self, summary: int, generator: Generator) -> int:
        sensitivity = self.sensitivity
        noise = whole_noise(self.loss, sensitivity, sensitivity)
        return noise.add([summary], generator)[0]


@dataclass(frozen=True, slots=True)
class _OfCells:
    """What the statistics of one column of cells share."""

    lo: float
    hi: float
    neighbors: str
    nan: str | float
    loss: Loss
    where: NDArray[np.bool_] | None
    cells: Cells

    squares: ClassVar[bool] = False

    @property
    def known(self) -> bool:
        """Whether the number of rows is public."""
        return self.neighbors == "replace" and self.where is None

    @property
    def vectors(self) -> int:
        """How many rows' vectors a neighbour differs by, where the number of rows is private."""
        return 2 if self.neighbors == "replace" else 1

    def reduce(self, source: Source) -> Totals:
        found = totals(source, self.cells, self.where, self.squares)
        return settled(found, self.nan, self.lo, self.hi, self.cells)

    def place(self, m: Fraction) -> float:
        """The number at a place between the bounds, 0 for the lower and 1 for the upper."""
        m = min(max(m, Fraction(0)), Fraction(1))
        found = nearest(Fraction(self.cells.grid) * (self.cells.first + m * self.cells.span))
        return min(max(found, self.lo), self.hi)


@dataclass(frozen=True, slots=True)
class Sum(_OfCells):
    """The sum of the clamped rows; see `dpfast.sum`."""

    name: ClassVar[str] = "sum"

    @property
    def sensitivity(self) -> int:
        """In cells."""
        first, last = self.cells.first, self.cells.last
        if self.known:
            return last - first
        if self.neighbors == "replace":
            return max(last, 0) - min(first, 0)
        return max(abs(first), abs(last))

    def finish(self, summary: Totals, generator: Generator) -> float:
        value = summary.sum + summary.rows * self.cells.first
        noise = whole_noise(self.loss, self.sensitivity, self.sensitivity**2)
        if self.known and self.lo == self.hi:
            return nearest(Fraction(self.lo) * summary.rows)
        return nearest(Fraction(self.cells.grid) * noise.add([value], generator)[0])


@dataclass(frozen=True, slots=True)
class Mean(_OfCells):
    """The mean of the clamped rows; see `dpfast.mean`."""

    name: ClassVar[str] = "mean"

    def finish(self, summary: Totals, generator: Generator) -> float:
        span, n = self.cells.span, summary.rows
        if not span:
            return self.lo
        if self.known:
            noise = whole_noise(self.loss, span, span**2)
            total = noise.add([summary.sum], generator)[0]
            return self.place(Fraction(total, n * span) if n else Fraction(1, 2))
        noise = whole_noise(self.loss, self.vectors * span, self.vectors * span**2, 2)
        upper, lower = noise.add([summary.sum, n * span - summary.sum], generator)
        both = upper + lower
        return self.place(Fraction(upper, both) if both > 0 else Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class Variance(_OfCells):
    """The variance of the clamped rows; see `dpfast.variance`."""

    ddof: int

    name: ClassVar[str] = "variance"
    squares: ClassVar[bool] = True

    def finish(self, summary: Totals, generator: Generator) -> float:
        span, n = self.cells.span, summary.rows
        if not span:
            return 0.0
        if self.known:
            if n <= max(1, self.ddof):
                return 0.0
            sensitivity = (n - 1) * span**2
            noise = whole_noise(self.loss, sensitivity, sensitivity**2)
            pairs = noise.add([n * summary.squares - summary.sum**2], generator)[0]
            return self._within(Fraction(pairs, n * (n - self.ddof)), Fraction(n, n - self.ddof))
        square = span**2
        noise = whole_noise(self.loss, self.vectors * square, self.vectors * square**2, 3)
        high = summary.squares
        middle = 2 * (span * summary.sum - summary.squares)
        high, middle, low = noise.add([high, middle, n * square - high - middle], generator)
        rows = Fraction(high + middle + low, square)
        if rows <= max(1, self.ddof):
            return self._within(Fraction(square, 8), Fraction(1))
        first, second = (high + Fraction(middle, 2)) / (rows * span), Fraction(high) / rows
        grown = rows / (rows - self.ddof)
        return self._within((second - first**2) * grown, grown)

    def _within(self, found: Fraction, grown: Fraction) -> float:
        """In the data's units, within what a variance can be."""
        found = min(max(found, Fraction(0)), Fraction(self.cells.span**2, 4) * grown)
        return nearest(found * Fraction(self.cells.grid) ** 2)


def count(
    data: Any,
    *,
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    neighbors: str = "add-remove",
    where: Any = None,
    nan: str = "keep",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> int:
    """Release the number of rows of a column, or of some of its rows.

    Privacy
    -------
    Neighbours are datasets that differ in one row, added or removed, or replaced. The call
    satisfies the loss that it is asked for. A row changes the count by at most 1; the noise is an
    exact integer for that (discrete Laplace, Ghosh, Roughgarden and Sundararajan, STOC 2009;
    discrete Gaussian, Canonne, Kamath and Steinke, NeurIPS 2020). The number of all rows does not
    change when one is replaced: it is public then, and released as it is.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        As in `quantile`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighbouring relation.
    where : array_like of bool, shape (n,), optional
        The rows to count, each a function of that row alone.
    nan : {"keep", "drop"}, default "keep"
        Whether rows that are NaN or null are counted.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Returns
    -------
    int
        The private count. It is unbiased, so it may be negative.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.

    Notes
    -----
    Cost: none where the length is known and nothing is left out, else one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 10_300 < dp.count(ages, where=ages >= 65, epsilon=1.0) < 10_500
    True
    """
    loss = privacy.loss(epsilon, delta, rho)
    relation = _check.neighbors(neighbors)
    present = _check.choice("nan", nan, ("keep", "drop")) == "drop"
    amount(loss)
    source = as_source(data)
    made = Count(relation, _spent(loss), present, _check.mask(where, source.length))
    return release(source, made, budget=budget, rng=rng, prepare=_as_it_is)


def sum(
    data: Any,
    *,
    bounds: tuple[float, float],
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    neighbors: str = "replace",
    where: Any = None,
    weights: Any = None,
    weight_bounds: tuple[float, float] | None = None,
    nan: str | float = "raise",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float:
    """Release the sum of a column, each row clamped to public bounds.

    Privacy
    -------
    Neighbours are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call satisfies the loss that it is asked for. Rows are clamped and put on
    a public grid, and their sum is an exact integer of known sensitivity: ``hi - lo`` for a
    replaced row, ``max(|lo|, |hi|)`` for one that comes or goes, and
    ``max(hi, 0) - min(lo, 0)`` for one that is replaced where only some rows are summed. The noise
    is an exact integer too (discrete Laplace or Gaussian, or a rounded Gaussian for `delta`).

    Parameters
    ----------
    data : array_like, shape (n,), or source
        As in `quantile`. Integers beyond 2**53 count as the float64 nearest to them.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clipped. They must not
        come from the data.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"replace", "add-remove"}, default "replace"
        The neighbouring relation.
    where : array_like of bool, shape (n,), optional
        The rows to use, each a function of that row alone. How many they are is private.
    weights : array_like of shape (n,), optional
        A factor for each row, a function of that row alone; the data are then held in memory.
    weight_bounds : (float, float), optional
        Public limits of the weights, with `weights`; others are clipped, and a NaN among them is
        treated as one among the data. The sensitivity is that of the products.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN and null, as in `quantile`.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Returns
    -------
    float
        The private sum. It is unbiased up to the grid, half a cell a row at most, and not clamped.
        A cell is about ``2**-40`` of ``hi - lo``, or of ``max(|lo|, |hi|)`` if that is more and `n`
        is private.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.
    DataError
        NaN or null under ``nan="raise"``.

    Notes
    -----
    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> hours = np.tile([35.0, 40.0, 45.0], 1000)
    >>> 119_000 < dp.sum(hours, bounds=(0, 100), epsilon=1.0) < 121_000
    True
    """
    interval = _check.bounds(bounds)
    rest = (epsilon, delta, rho), neighbors, where, nan
    source, made = (
        _make(Sum, data, interval, *rest)
        if weights is None and weight_bounds is None
        else _weighted(WeightedSum, data, interval, weights, weight_bounds, *rest)
    )
    found: float = release(source, made, budget=budget, rng=rng, prepare=_as_it_is)
    return found


def mean(
    data: Any,
    *,
    bounds: tuple[float, float],
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    neighbors: str = "replace",
    where: Any = None,
    weights: Any = None,
    weight_bounds: tuple[float, float] | None = None,
    nan: str | float = "raise",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float:
    """Release the mean of a column, each row clamped to public bounds.

    Privacy
    -------
    Neighbours are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call satisfies the loss that it is asked for. With a public `n`, noise for
    a sensitivity of ``(hi - lo) / n`` is added to the exact mean. With a private one, two exact
    integers get noise: how much of the rows lies towards the upper, and how much towards the lower
    bound; a row adds 1 to the two together, so they cost as much as one. Their sum is a noisy
    count. (The variance is half of that of a noisy sum over a noisy count with half the loss each;
    ``dpfast/totals.py`` has the derivation.)

    Parameters
    ----------
    data : array_like, shape (n,), or source
    bounds : (float, float)
    epsilon, delta, rho, neighbors, where, weights, nan, budget, rng
        As in `sum`.
    weight_bounds : (float, float), optional
        Public limits of the weights, not negative.

    Returns
    -------
    float
        The private mean, within `bounds`; their middle if the noisy count is not positive.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    Cost: one read of the data.

    References
    ----------
    Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis",
    TCC 2006.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 53 < dp.mean(ages, bounds=(0, 120), epsilon=1.0, neighbors="add-remove") < 55
    True
    """
    interval = _check.bounds(bounds)
    rest = (epsilon, delta, rho), neighbors, where, nan
    source, made = (
        _make(Mean, data, interval, *rest)
        if weights is None and weight_bounds is None
        else _weighted(WeightedMean, data, interval, weights, weight_bounds, *rest)
    )
    found: float = release(source, made, budget=budget, rng=rng, prepare=_as_it_is)
    return found


def variance(
    data: Any,
    *,
    bounds: tuple[float, float],
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    neighbors: str = "replace",
    ddof: int = 0,
    where: Any = None,
    nan: str | float = "raise",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float:
    """Release the variance of a column, each row clamped to public bounds.

    Privacy
    -------
    Neighbours are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call satisfies the loss that it is asked for. With a public `n`, noise for
    the sensitivity ``(hi - lo)**2 (n - 1) / n**2`` of the variance is added to it. With a private
    one, three exact integers get noise, from which the number of rows, their sum and the sum of
    their squares follow; a row adds 1 to the three together, so they cost as much as one
    (``dpfast/totals.py`` has the derivation).

    Parameters
    ----------
    data : array_like, shape (n,), or source
    bounds : (float, float)
    epsilon, delta, rho, neighbors, where, nan, budget, rng
        As in `sum`.
    ddof : int, default 0
        The sum of squared deviations is divided by ``n - ddof``.

    Returns
    -------
    float
        The private variance, within what the bounds allow, 0 to ``(hi - lo)**2 / 4`` (times
        ``n / (n - ddof)``). With a public `n` of at most 1 or `ddof` it is 0. Rows count as the
        nearest of about ``2**30`` values between the bounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `sum`.

    Notes
    -----
    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 435 < dp.variance(ages, bounds=(0, 120), epsilon=1.0) < 455
    True
    """
    interval = _check.bounds(bounds)
    _check.whole("ddof", ddof)
    source, made = _make(
        Variance, data, interval, (epsilon, delta, rho), neighbors, where, nan, ddof
    )
    found: float = release(source, made, budget=budget, rng=rng, prepare=_as_it_is)
    return found


def _make(
    kind: type[Any],
    data: Any,
    interval: tuple[float, float],
    loss: tuple[Any, Any, Any],
    neighbors: Any,
    where: Any,
    nan: Any,
    *more: Any,
) -> tuple[Source, Any]:
    """The source and the mechanism, from arguments that are checked here."""
    lo, hi = interval
    relation = _check.neighbors(neighbors)
    policy = _check.nan_policy(nan, relation)
    found = privacy.loss(*loss)
    amount(found)
    source = as_source(data)
    keep = _check.mask(where, source.length)
    if kind is Variance:
        grid = cells(lo, hi, SQUARES)
    elif kind is Sum and (relation == "add-remove" or keep is not None):
        grid = cells(lo, hi, width=max(hi - lo, abs(lo), abs(hi)))
    else:
        grid = cells(lo, hi)
    both = kind is not Sum and relation == "replace" and keep is not None
    spent = _spent(found, 2 if both else 1)
    return source, kind(lo, hi, relation, policy, spent, keep, grid, *more)


def _weighted(
    kind: type[Any],
    data: Any,
    interval: tuple[float, float],
    weights: Any,
    weight_bounds: Any,
    loss: tuple[Any, Any, Any],
    neighbors: Any,
    where: Any,
    nan: Any,
) -> tuple[Any, Any]:
    """The same for a column and its weights, as two columns of a table."""
    if weights is None or weight_bounds is None:
        _check.fail("weight_bounds", "given with weights, and only then", weight_bounds)
    limits = _check.bounds(weight_bounds, "weight_bounds")
    if kind is WeightedMean and not 0 <= limits[0] <= limits[1] != 0:
        _check.fail("weight_bounds", "not negative, and not both 0", weight_bounds)
    relation = _check.neighbors(neighbors)
    policy = _check.nan_policy(nan, relation)
    found = privacy.loss(*loss)
    amount(found)
    source = as_rows({"data": data, "weights": weights})
    keep = _check.mask(where, source.length)
    grids = cells(*interval, SQUARES), cells(*limits, SQUARES)
    both = kind is WeightedMean and relation == "replace"
    spent = _spent(found, 2 if both else 1)
    return source, kind((interval, limits), relation, policy, spent, keep, grids)


def _spent(loss: Loss, vectors: int = 1) -> Loss:
    """What is spent of a loss: no delta where noise without it is smaller.

    That is decided by the loss alone, for a sensitivity so large that the grid plays no part.
    """
    large = 1 << 32
    return whole_noise(loss, vectors * large, vectors * large**2).loss


def _as_it_is(source: Any) -> Any:
    return source
