"""Release numbers that the caller computed, with noise for the sensitivity that the caller states.

A number is rounded down to a cell of a public grid, and integer noise is added to the cell. Let d
numbers differ by D between neighbors, and let cells have the width g. Rounding adds less than one
cell to each number. So the cells differ by at most ceil(D / g) for one number. For d numbers they
differ by at most ceil(D / g) + d in L1, and by at most D / g + sqrt(d) in L2. Whole numbers are
cells themselves, so rounding adds nothing.

From L2 to L1: a vector of d numbers with the L2 norm D has an L1 norm of at most sqrt(d) D, and of
at most D^2 if the numbers are whole. An L1 norm is never below the L2 norm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import NOISE, ErrorBar
from .._core.roots import root_up
from .._core.types import Neighbors, Number, Numbers
from ..budget.budget import Budget
from ..budget.release import Prepared, relation_of_proof, releases
from ..budget.watched import OfNumbers
from ..errors import ArgumentError, DataError
from ..noise.additive import amount
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Approx, Loss, Pure
from ..privacy import loss as loss_of
from ..rng import Generator
from ..summaries.cells import in_units, nearest

NORMS, NOISES = ("l1", "l2"), ("auto", "laplace", "gaussian", "staircase")
#: The sensitivity is about 2**FINE cells of the grid.
FINE = 30
#: Arrays of cells below this size are added as machine integers.
_NEAR = 2.0**61
_RULE = "values must be finite numbers{}, not NaN; none is shown"


@dataclass(frozen=True, slots=True)
class AdditiveRelease(OfNumbers[Any]):
    """The mechanism of `additive_release`: numbers as cells of a public grid, with integer noise.

    Parameters
    ----------
    shape : tuple of int
        The shape of the numbers; () for a single number.
    grid : float
        The width of a cell, a power of two.
    whole : bool
        Whether the numbers are integers.
    neighbors : str
    noise : IntegerNoise
    sensitivity : Fraction
        The sensitivity of the numbers.
    norm : {"l1", "l2"}
        The norm of the sensitivity.
    """

    shape: tuple[int, ...]
    grid: float
    whole: bool
    neighbors: str
    noise: IntegerNoise
    sensitivity: Fraction
    norm: str

    name: ClassVar[str] = "additive release"

    @property
    def loss(self) -> Loss:
        """The privacy loss of the release: the loss of its noise."""
        return self.noise.loss

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise, in the units of the numbers."""
        return self.noise.deviation * self.grid

    def reduce(self, source: Any) -> Any:
        """Return the number, or each number of an array, rounded down to a cell of the grid."""
        if self.shape == ():
            number = source if type(source) is float else _plain(source, self.whole)
            if type(number) is int:
                return number
            if not math.isfinite(number) or (self.whole and number != int(number)):
                raise DataError(_RULE.format(" that are whole" if self.whole else ""))
            if self.whole:
                return int(number)
            cell = number / self.grid  # this division is exact unless it overflows or underflows
            if 2.0**-1000 < abs(cell) < math.inf:
                return math.floor(cell)
            return math.floor(Fraction(number) / Fraction(self.grid))
        if not np.isfinite(source).all() or (self.whole and (source != np.floor(source)).any()):
            raise DataError(_RULE.format(" that are whole" if self.whole else ""))
        if self.whole and source.dtype.kind in "biu":
            return source
        with np.errstate(over="ignore", under="ignore"):
            numbers = source.astype(np.float64)
            cells = np.floor(numbers / self.grid)
        # For quotients that underflow to 0.
        cells = np.where(numbers < 0, np.minimum(cells, -1.0), cells)
        if (np.abs(cells) < _NEAR).all():
            return cells.astype(np.int64)
        unit = Fraction(self.grid)
        exact = [math.floor(Fraction(x) / unit) for x in numbers.ravel().tolist()]
        return np.array(exact, object).reshape(self.shape)

    def finish(self, summary: Any, generator: Generator) -> Any:
        if self.shape == ():
            (cell,) = self.noise.add([summary], generator)
            return cell if self.whole else nearest(Fraction(self.grid) * cell)
        cells = self.noise.add(summary.ravel().tolist(), generator)
        if self.whole:
            most = np.iinfo(np.int64).max
            clipped = [min(max(cell, -most), most) for cell in cells]
            return np.array(clipped, np.int64).reshape(self.shape)
        if summary.dtype == object:
            unit = Fraction(self.grid)
            return np.array([nearest(unit * cell) for cell in cells]).reshape(self.shape)
        # The integer is rounded to the nearest float64; the grid is a power of two and adds no
        # error.
        return in_units(np.array(cells, np.float64), self.grid).reshape(self.shape)

    def excess(self, source: Any, other: Any) -> str:
        first, second = np.asarray(source, np.float64), np.asarray(other, np.float64)
        moved, order = math.inf, 1 if self.norm == "l1" else 2
        if first.shape == second.shape:
            moved = float(np.linalg.norm((second - first).ravel(), order))
        share = moved / float(self.sensitivity)
        is_covered = share <= 1 + 1e-9
        return "" if is_covered else f"the numbers moved by {share:.4g} times their sensitivity"

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of each number, which covers the noise alone."""
        width = self.noise.half_width(1 - confidence)
        return ErrorBar(confidence, nearest(Fraction(self.grid) * width), note=NOISE)


def _plain(value: Any, whole: bool) -> float | int:
    """Return a number as an int or a float, or NaN for a value that is no number."""
    if whole and checks.is_whole(value):
        return int(value)
    number = float(value) if isinstance(value, (np.bool_, bool)) else checks.real(value)
    return math.nan if number is None else number


def in_cells(sensitivity: Fraction, norm: str, size: int, grid: float, whole: bool) -> Sensitivity:
    """Return the sensitivity of `size` numbers in cells; the module's docstring has the proof."""
    change, root = sensitivity / Fraction(grid), root_up(Fraction(size))
    if whole:
        square, largest = math.floor(change**2), math.floor(change)
        if size == 1 or norm == "l1":
            l1 = largest
            return Sensitivity(min(size, l1), l1, l1**2, largest)
        l1 = math.floor(min(root * change, Fraction(square)))
        return Sensitivity(min(size, square), l1, square, largest)
    largest = math.ceil(change)
    if size == 1:
        return Sensitivity.of_one(largest)
    l1 = math.ceil(change if norm == "l1" else root * change) + size
    return Sensitivity(size, l1, (change + root) ** 2, largest)


def width_of_cells(sensitivity: Fraction) -> float:
    """Return the cell width of the grid, a public power of two far below the sensitivity."""
    return math.ldexp(1.0, max(math.frexp(float(sensitivity))[1] - 1 - FINE, -1000))


def _distribution(noise: Any, loss: Loss, size: int) -> str | None:
    """Return the name of a distribution in `integer_noise`, None for "auto", or raise an error."""
    kind = checks.choice("noise", noise, NOISES)
    if kind == "staircase" and not (isinstance(loss, Pure) and size == 1):
        checks.fail("noise", "'auto': a staircase is for one number and epsilon alone", kind)
    if kind == "gaussian" and isinstance(loss, Pure):
        checks.fail("noise", "'auto' or 'laplace' for epsilon without delta", kind)
    if kind == "gaussian" and isinstance(loss, Approx):
        return "rounded-gaussian"
    return None if kind == "auto" else kind


def _shape(values: Any) -> tuple[Any, tuple[int, ...]]:
    """Return the numbers with their shape, checked by type alone: no value is read."""
    if type(values) is float or type(values) is int:
        return values, ()
    rule = "a number, or an array of numbers"
    array = checks.array("values", values, rule)
    number = array.ndim == 0 and array.dtype == object and isinstance(values, checks._REAL)
    if not number and array.dtype.kind not in "biuf":
        checks.fail_kind("values", rule, values)
    if not array.size:
        raise ArgumentError(f"values must be at least one number, got shape {array.shape}")
    return (values if number else array if array.ndim else array[()]), array.shape


@overload
def additive_release(
    values: Number,
    *,
    sensitivity: Number,
    norm: Literal["l1", "l2"] = "l1",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    noise: Literal["auto", "laplace", "gaussian", "staircase"] = "auto",
    whole: bool = False,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def additive_release(
    values: Numbers,
    *,
    sensitivity: Number,
    norm: Literal["l1", "l2"] = "l1",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    noise: Literal["auto", "laplace", "gaussian", "staircase"] = "auto",
    whole: bool = False,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float | NDArray[Any]: ...
@releases
def additive_release(
    values: Numbers,
    *,
    sensitivity: Number,
    norm: Literal["l1", "l2"] = "l1",
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    noise: Literal["auto", "laplace", "gaussian", "staircase"] = "auto",
    whole: bool = False,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[Any]:
    """Release numbers that you computed, with noise for their global sensitivity.

    Privacy
    -------
    The call satisfies the requested loss if the numbers of neighboring datasets differ by at most
    `sensitivity` in `norm`, which the caller has to prove. Numbers are rounded down to a public
    grid, and the noise covers the rounding, too. The noise is an exact integer: discrete Laplace
    (Dwork, McSherry, Nissim and Smith, TCC 2006; Ghosh, Roughgarden and Sundararajan, STOC 2009),
    for `rho` discrete Gaussian (Canonne, Kamath and Steinke, NeurIPS 2020), with `delta` rounded
    Gaussian (Balle and Wang, ICML 2018), or for one number staircase (Geng and Viswanath, ISIT
    2014).

    Parameters
    ----------
    values : float or array_like of numbers
        The exact numbers on the data. Their shape is public.
    sensitivity : float, Fraction or Decimal
        The largest difference between neighbors, as the norm of the differences of all numbers.
    norm : {"l1", "l2"}, default "l1"
        The norm of `sensitivity`: the sum of absolute differences, or the root of the sum of
        squares. For one number both are the same.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The relation for which the loss is proved: by default "add-remove"; in a budget for
        "replace" it must be given. `sensitivity` must hold for this relation.
    noise : {"auto", "laplace", "gaussian", "staircase"}, default "auto"
        The distribution: by default the one with the least standard deviation.
    whole : bool, default False
        Whether the numbers and the answers are integers.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float, int, or array of float64 or int64
        The private numbers, in the shape of `values`, on a public grid of about ``2**-30`` of the
        sensitivity. With `whole`, numbers in an array that exceed int64 become the nearest int64.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        For a bad argument, or too small a budget; nothing has been spent.
    DataError
        If a value is infinite or NaN, or, with `whole`, not an integer. The message does not show
        the value, and the spent budget is not refunded.

    See Also
    --------
    dpfast.bounded_release : For a number that must stay within public bounds.

    Notes
    -----
    Cost: a sample of noise for each number.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> found = dp.additive_release(1234.5, sensitivity=2, epsilon=1)
    >>> 1150 < found < 1320
    True
    >>> dp.additive_release([10, 20, 30], sensitivity=1, epsilon=1, whole=True).dtype
    dtype('int64')
    """
    loss = loss_of(epsilon, delta, rho)
    amount(loss)
    checks.positive("sensitivity", sensitivity)
    checks.choice("norm", norm, NORMS)
    relation = relation_of_proof(neighbors, budget)
    exact = checks.flag("whole", whole)
    numbers, shape = _shape(values)
    size = math.prod(shape)
    kind = _distribution(noise, loss, size)
    # The number as written, or the float64 by which values change, whichever is larger.
    change = max(checks.fraction("sensitivity", sensitivity), Fraction(float(sensitivity)))
    if exact and change < 1:
        checks.fail("sensitivity", "at least 1 with whole=True", sensitivity)
    grid = 1.0 if exact else width_of_cells(change)
    drawn = integer_noise(loss, in_cells(change, norm, size, grid, exact), kind)
    mechanism = AdditiveRelease(shape, grid, exact, relation, drawn, change, norm)
    return Prepared(mechanism, numbers, budget, rng)
