"""Private quantiles by smooth sensitivity: one pass, one noise sample on a public grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from . import _check, _missing
from . import noise as _noise
from ._admissible import Calibration, calibrate
from .budget import Budget
from .errors import ArgumentError
from .order import Ranks
from .privacy import Loss
from .release import release
from .rng import Generator
from .sensitivity.quantile import smooth_from_ranks
from .sources import Source

__all__ = ["median", "quantile"]


def public_grid(lo: float, hi: float, widest: float) -> float:
    """The spacing of the output grid: a power of two made from public numbers only.

    About ``2**-40`` of the range; coarser where float64 could not hold the grid's multiples near
    the bounds, or where the widest possible noise `widest` could not be counted on it. (Were the
    grid to follow the secret noise scale, two neighbours whose scales straddle a power of two would
    have different supports.)
    """
    exponent = math.frexp(hi - lo)[1] - 1
    largest = math.frexp(max(abs(lo), abs(hi)))[1] - 1
    reach = math.frexp(widest)[1] - 1
    return math.ldexp(1.0, max(exponent - 40, largest - 52, reach - 48, -1000))


@dataclass(frozen=True, slots=True)
class SmoothQuantile:
    """The lower q-quantile plus noise scaled to its smooth sensitivity; see `quantile`."""

    q: Fraction
    lo: float
    hi: float
    neighbors: str
    nan: str | float
    loss: Loss
    calibration: Calibration
    grid: float
    assume_sorted: bool

    @property
    def name(self) -> str:
        return f"quantile {self.q}"

    def reduce(self, source: Source) -> tuple[float, float]:
        missing = _missing.replacement(self.nan, self.lo, self.hi)
        ranks = Ranks(source, missing=missing, assume_sorted=self.assume_sorted)
        found = smooth_from_ranks(
            ranks,
            self.q,
            beta=self.calibration.beta,
            lo=self.lo,
            hi=self.hi,
            neighbors=self.neighbors,
            floor=self.grid,
        )
        _missing.refuse(self.nan, found.missing)
        return found.value, found.sensitivity

    def finish(self, summary: tuple[float, float], generator: Generator) -> float:
        value, sensitivity = summary
        if self.lo == self.hi:
            return self.lo
        noisy = _noise.draw(
            self.calibration.law,
            value=value,
            scale=sensitivity / self.calibration.alpha,
            granularity=self.grid,
            generator=generator,
        )
        first = math.ceil(self.lo / self.grid) * self.grid
        last = math.floor(self.hi / self.grid) * self.grid
        return min(max(noisy, first), last)


def quantile(
    data: Any,
    q: Any,
    *,
    bounds: tuple[float, float],
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    neighbors: str = "replace",
    noise: str = "auto",
    nan: str | float = "raise",
    assume_sorted: bool = False,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float:
    """Release a quantile with noise scaled to its smooth sensitivity.

    The statistic is an order statistic, the value of rank ``min(max(1, ceil(q n)), n)`` of the data
    clipped to `bounds`; ``q = 0.5`` is the lower median. The answer is clamped to `bounds` and lies
    on a public grid of about ``2**-40`` of their distance.

    Privacy
    -------
    Neighbours are datasets that differ in one row, replaced (`n` is public) or added or removed
    (`n` is private). The call satisfies the loss that it is asked for: pure `epsilon`,
    (`epsilon`, `delta`), or `rho`-zCDP. The noise has scale ``S / alpha`` for a `beta`-smooth upper
    bound ``S`` on the local sensitivity (Nissim, Raskhodnikova and Smith, STOC 2007), with
    ``alpha`` and ``beta`` from the exact worst case over shifts and dilations of the chosen law;
    the sample is correctly rounded to the public grid, so it is a post-processing of the ideal
    mechanism. Nothing but the value leaves: neither ``S``, nor the scale, nor ``n``.

    Parameters
    ----------
    data : array_like, shape (n,), or source
        Any real dtype: NumPy arrays (strided, byte-swapped, read-only or memory-mapped too),
        pandas, Polars and Arrow columns, or what `dpfast.scan` returns.
    q : float or Fraction
        The quantile, 0 to 1, as the decimal that is written: ``0.9`` is nine tenths.
    bounds : (float, float)
        Public limits of the values, in the data's units; values outside are clipped. They must not
        come from the data.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"replace", "add-remove"}, default "replace"
        The neighbouring relation.
    noise : str, default "auto"
        The noise law. Pure laws serve every kind of loss: "polyplace",
        "polyplace-finite-variance", "cauchy", "student-t", "generalized-cauchy". For
        (`epsilon`, `delta`) there are also "laplace" and "gaussian", for `rho` "arsinh-normal".
        "auto" is PolyPlace below an epsilon of 4, arsinh-normal below a rho of 4, and Cauchy from
        there on. A pure law leaves `delta` unspent, and the budget is not charged for it. For
        comparison, the looser published constants: "polyplace-hladik-tetek", "cauchy-nrs",
        "cauchy-lecture", "student-t-bun-steinke", "generalized-cauchy-nrs", "laplace-nrs",
        "gaussian-nrs", "arsinh-normal-bun-steinke".
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN and null, found in the same pass: an error, the lower or upper bound, no
        row at all (add-remove only), or a public replacement number. The error of "raise" depends
        on the data; it comes after the spend, which stands.
    assume_sorted : bool, default False
        Take ascending data at its word and read only what is needed.
    budget : Budget, optional
        Pays for the call before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Returns
    -------
    float
        The private value, in the data's units.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.
    DataError
        NaN or null under ``nan="raise"``, or unsorted data under `assume_sorted`.

    Notes
    -----
    Cost: one read of the data and O(w) more, where the window ``w`` is about
    ``(2 / beta) ln(R / S)`` ranks; memory O(w) beside a pivot sample. The first call of a process
    also makes the table of its noise law, which takes some tens of milliseconds.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> salaries = np.arange(20_000, 120_000, dtype=np.float64)
    >>> top = dp.quantile(salaries, 0.9, bounds=(0, 1e6), epsilon=1.0)
    >>> 100_000 < top < 120_000
    True
    """
    return release(
        data,
        _mechanism(q, bounds, epsilon, delta, rho, neighbors, noise, nan, assume_sorted),
        budget=budget,
        rng=rng,
    )


def median(
    data: Any,
    *,
    bounds: tuple[float, float],
    epsilon: Any = None,
    delta: Any = 0.0,
    rho: Any = None,
    neighbors: str = "replace",
    noise: str = "auto",
    nan: str | float = "raise",
    assume_sorted: bool = False,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> float:
    """Release the lower median; the same as `quantile` at one half.

    Privacy
    -------
    As `quantile`: neighbours by `neighbors`, loss as asked, by smooth sensitivity (Nissim,
    Raskhodnikova and Smith, STOC 2007) and exactly rounded admissible noise.

    Parameters
    ----------
    data : array_like, shape (n,), or source
    bounds : (float, float)
    epsilon, delta, rho, neighbors, noise, nan, assume_sorted, budget, rng
        As in `quantile`.

    Returns
    -------
    float
        The private value, within `bounds`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `quantile`.

    Notes
    -----
    Cost: one read of the data.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> 50 < dp.median(ages, bounds=(0, 120), epsilon=1.0) < 58
    True
    """
    return release(
        data,
        _mechanism(_HALF, bounds, epsilon, delta, rho, neighbors, noise, nan, assume_sorted),
        budget=budget,
        rng=rng,
    )


_HALF = Fraction(1, 2)


def _mechanism(q: Any, bounds: Any, *rest: Any) -> SmoothQuantile:
    """The mechanism for some arguments, all public: made once, then remembered."""
    if type(bounds) is tuple and len(bounds) == 2:
        try:
            return _remembered(q, *bounds, *rest)
        except TypeError:  # unhashable, or the wrong type: said below
            pass
    return _make(q, bounds, *rest)


@lru_cache(maxsize=1024, typed=True)
def _remembered(q: Any, lo: Any, hi: Any, *rest: Any) -> SmoothQuantile:
    return _make(q, (lo, hi), *rest)


def _make(
    q: Any,
    bounds: Any,
    epsilon: Any,
    delta: Any,
    rho: Any,
    neighbors: Any,
    noise: Any,
    nan: Any,
    assume_sorted: Any,
) -> SmoothQuantile:
    """Check every argument and choose, from public numbers only, all that there is to choose."""
    rank = _check.quantile(q)
    lo, hi = _check.bounds(bounds)
    relation = _check.neighbors(neighbors)
    policy = _check.nan_policy(nan, relation)
    trusted = _check.flag("assume_sorted", assume_sorted)
    calibration = calibrate(noise, epsilon=epsilon, delta=delta, rho=rho)
    widest = (hi - lo) / calibration.alpha
    if not widest < 2.0**900:
        raise ArgumentError(
            f"bounds must be closer together for so small a privacy loss: noise of up to "
            f"(hi - lo) / {calibration.alpha:.3g} would pass 2**900, got {bounds!r}"
        )
    # S is secret and at least the grid: S / alpha is kept a normal float64, whatever the data.
    least = max(math.frexp(calibration.alpha)[1] - 1021, -1000)
    if hi > lo and hi - lo < 2.0**least:
        _check.fail("bounds", f"equal, or at least 2**{least} apart", bounds)
    grid = max(public_grid(lo, hi, widest), 2.0**least) if hi > lo else 1.0
    if hi > lo and hi - lo < grid:
        _check.fail("bounds", f"equal, or at least {grid:.3g} apart", bounds)
    return SmoothQuantile(
        rank, lo, hi, relation, policy, calibration.loss, calibration, grid, trusted
    )
