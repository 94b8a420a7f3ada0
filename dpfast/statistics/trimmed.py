"""Private trimmed and winsorized means: exact integer sums with smooth sensitivity noise.

Let x ascend. m = floor(proportion n) rows are cut off at each end, and a = x_(m+1) and b = x_(n-m)
are the outermost of the others. One pass reads the rows near these ranks, which give a, b and the
smooth bound. A second pass clamps all rows to a and b, rounds them to the cells of a public grid
(`summaries.cells`), and adds up the cells: an exact integer C. The m lowest rows count as a and the
m highest as b, because clamping and rounding are nondecreasing. So with the cells A and B of a and
b

    winsorized mean = C / n,        trimmed mean = (C - m (A + B)) / (n - 2 m).

Neither depends on the order of the rows or on how they are read.

*The effect of rounding.* Rounding to cells changes a mean by at most half a cell. So the statistics
of neighbors differ by at most the smooth bound plus one cell. The mean is then rounded to float64,
by at most half a step of the public grid of answers, which adds at most one step to this
difference. A smooth bound plus a public number is smooth. So noise is scaled to the bound plus a
cell and a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from .._core import checks
from .._core.types import Floats, NoiseName, Number
from ..budget.mechanism import Mechanism
from ..measurement.around import OfKept
from ..measurement.functions import function_of
from ..measurement.statistic import Terms
from ..measurement.times import Answer
from ..noise.smooth import NOISES, calibrate_loss
from ..sensitivity.column import share
from ..sensitivity.rounding import rounded_up
from ..sensitivity.trimmed import TrimmedSensitivity, from_ranks
from ..summaries.cells import Cells, cells, nearest
from ..summaries.totals import totals, with_missing
from ..tables import Source
from .quantiles.ends import smooth_interval
from .quantiles.smooth import Smooth
from .ranked import Ranked


@dataclass(frozen=True, slots=True)
class SmoothMean(Smooth):
    """The mechanism of a trimmed or winsorized mean with smooth sensitivity noise."""

    proportion: Fraction
    winsorized: bool
    cells: Cells

    passes: ClassVar[int] = 2

    @property
    def name(self) -> str:
        return f"{'winsorized' if self.winsorized else 'trimmed'} mean {self.proportion}"

    def reduce(self, source: Source) -> tuple[float, float]:
        beta = self.calibration.beta
        bound = from_ranks(self.clamped(source), self.proportion, beta, self.winsorized)
        covered = rounded_up(bound.sensitivity + self.cells.grid + self.grid)
        if not self.cells.span:
            return self.lo, covered
        if not bound.n:
            return nearest((Fraction(self.lo) + Fraction(self.hi)) / 2), covered
        first, last = self.cells.cell(bound.low), self.cells.cell(bound.high)
        clamped = Cells(self.cells.grid, self.cells.first + first, last - first)
        rows = with_missing(totals(source, clamped, None), self.nan, self.lo, self.hi, clamped)
        total = rows.sum + bound.n * first
        kept = bound.n
        if not self.winsorized:
            kept -= 2 * bound.cut
            total -= bound.cut * (first + last)
        value = nearest((self.cells.first + Fraction(total, kept)) * Fraction(self.cells.grid))
        return min(max(value, self.lo), self.hi), covered


@dataclass(frozen=True, kw_only=True)
class MeanOfRanks(Ranked[float | Floats], TrimmedSensitivity):
    """Base of means that leave out the lowest and highest rows, or clamp them to the other rows."""

    proportion: Number = 0.1
    noise: NoiseName = "auto"

    answer_of_times: ClassVar[Answer] = "point"
    winsorized: ClassVar[bool]

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "proportion", share(self.proportion))
        if not isinstance(self.noise, str):
            checks.choice("noise", self.noise, NOISES)
        object.__setattr__(self, "noise", str.__str__(self.noise))

    covers_masks: ClassVar[bool] = False

    def mechanism(self, terms: Terms) -> Mechanism[float]:
        column, calibration = self.column_of(terms), calibrate_loss(self.noise, terms.loss)
        mean = SmoothMean(
            **column,
            calibration=calibration,
            proportion=share(self.proportion),
            winsorized=self.winsorized,
            cells=cells(column["lo"], column["hi"]),
        )
        return OfKept(mean)

    with_interval = smooth_interval


@dataclass(frozen=True)
class TrimmedMean(MeanOfRanks):
    """The mean of a column without its lowest and highest rows, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    proportion : number, default 0.1
    bounds : (float, float), or sequence of d such pairs
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    noise : str, default "auto"
        As in `dpfast.trimmed_mean`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.trimmed_mean`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.TrimmedMean(bounds=(0, 120)).measure(epsilon=1).name
    'trimmed mean 1/10'
    """

    name: ClassVar[str] = "trimmed mean"
    winsorized: ClassVar[bool] = False


@dataclass(frozen=True)
class WinsorizedMean(MeanOfRanks):
    """The mean with its lowest and highest rows clamped to the others, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    proportion : number, default 0.1
    bounds : (float, float), or sequence of d such pairs
    nan : {"raise", "lower", "upper", "drop"} or float, optional
    noise : str, default "auto"
        As in `dpfast.winsorized_mean`, which has the theorem and the errors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.winsorized_mean`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.WinsorizedMean(bounds=(0, 120)).measure(epsilon=1).name
    'winsorized mean 1/10'
    """

    name: ClassVar[str] = "winsorized mean"
    winsorized: ClassVar[bool] = True


@function_of(TrimmedMean)
def trimmed_mean(data: Any, **arguments: Any) -> Any:
    """Release the trimmed mean of a column: the mean without its lowest and highest rows.

    Of n rows, ``floor(proportion n)`` are left out at each end. The noise is scaled to the spread
    of the other rows, and not to the width of the bounds. So wide bounds hardly increase the error.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed (the number `n` of rows is
    private), or replaced (`n` is public). The call satisfies the requested loss. Noise of scale ``S
    / alpha`` is added to the exact statistic, where S is a `beta`-smooth upper bound on its local
    sensitivity (Nissim, Raskhodnikova and Smith, STOC 2007; for trimmed means Bun and Steinke,
    NeurIPS 2019). ``alpha`` and ``beta`` come from the exact worst case over shifts and dilations
    of the noise distribution. S also covers all rounding (``dpfast/statistics/trimmed.py``).

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
        As in `quantile`.
    proportion : number, default 0.1
        The share that is left out at each end: at least 0 and less than 0.5; a decimal is taken
        exactly.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clamped. The bounds
        must not come from the data.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same. Each
        column has an equal part of the loss; `bounds` is then one pair, or one pair for each
        column.
    noise : str, default "auto"
        The noise distribution, as in `quantile`.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private. Under "replace" a replaced row may then enter or leave the mask. This
        counts as two steps, so noise is made for half of epsilon, or a quarter of rho.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private mean, within `bounds`, on a public grid of about ``2**-40`` of their distance.
        The mean of no rows is the middle of the bounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.
    DataError
        NaN or null under ``nan="raise"``, or a mask of another length than a file or than data with
        a private number of rows.

    Notes
    -----
    `dpfast.expected_error` cannot give an error bar, because the scale of the noise depends on the
    data. In a session, the answer is a `Release` with an error bar in the data's units: half of the
    loss pays for the mean, and half for the two ends of the error bar. `TrimmedMean.with_interval`
    releases the mean and these ends (``dpfast/statistics/quantiles/ends.py``).

    Cost: two reads of the data. A `mean` whose bounds are about as wide as the data has less noise.
    Under "add-remove" a trimmed mean needs about ``200 / epsilon`` rows. With fewer rows the noise
    is larger, because S also depends on datasets from which nearly all rows are removed
    (``benchmarks/crossings.py``).

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> loss = {"epsilon": 1.0, "delta": 1e-9, "noise": "laplace"}
    >>> 53 < dp.trimmed_mean(ages, proportion=0.2, bounds=(0, 1e6), **loss) < 55
    True
    """


@function_of(WinsorizedMean)
def winsorized_mean(data: Any, **arguments: Any) -> Any:
    """Release the winsorized mean of a column: the mean with its lowest and highest rows clamped.

    Of n rows, ``floor(proportion n)`` at each end are replaced by the nearest of the other rows.

    Privacy
    -------
    Neighbors are defined as in `trimmed_mean`. The call satisfies the requested loss by noise for a
    smooth upper bound on the local sensitivity (Nissim, Raskhodnikova and Smith, STOC 2007). This
    bound is the sum of the bounds for the two ends and for the rows between them.

    Parameters
    ----------
    data : array_like, shape (n,) or, with `axis`, (n, d), table, or source
    proportion : number, default 0.1
        The share of rows that are replaced at each end: at least 0 and less than 0.5.
    bounds : (float, float)
    noise
        As in `trimmed_mean`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
    nan : {"raise", "lower", "upper", "drop"} or float, optional
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. By default "drop" where the number of rows is private, and
        "raise" where it is public.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    float, or ndarray of float64 with `axis`
        The private mean, within `bounds`, as in `trimmed_mean`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `trimmed_mean`.

    Notes
    -----
    As for `trimmed_mean`, a `Release` has an error bar in the data's units, whose ends take half of
    the loss.

    Cost: two reads of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> loss = {"epsilon": 1.0, "delta": 1e-9, "noise": "laplace"}
    >>> 53 < dp.winsorized_mean(ages, proportion=0.2, bounds=(0, 1e6), **loss) < 55
    True
    """
