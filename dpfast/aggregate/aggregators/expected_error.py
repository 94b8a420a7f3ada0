"""The expected error of an aggregator for normal block outputs, from public numbers alone.

Block outputs are assumed to be normal with the standard deviation `deviation`, about the middle of
bounds that are `width` apart. An aggregator computes with a sample. Here the same computations are
done with expected order statistics, x_i = deviation * Q((i - 3/8) / (k + 1/4)), where Q is the
normal quantile function. So a smooth sensitivity takes a few hundred evaluations and no sample. The
gaps between expected order statistics are even, but the gaps of a sample are not. `UNEVEN` corrects
for this at the median, where single gaps matter.

An error is a standard deviation. Heavy-tailed noise may have no standard deviation: then the error
is the median absolute error, divided by that of a standard normal variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from ...noise.distributions import Distribution
from ...noise.distributions.base import context
from ...noise.smooth import Calibration, calibrate_loss
from ...privacy import Loss
from .attention import majority
from .mean import deviation_of
from .median import ExponentialMedian
from .winsorized import WIDENING, WidenedWinsorizedMean

_NORMAL = NormalDist()
#: The median absolute value of a standard normal variable.
_PROBABLE = _NORMAL.inv_cdf(0.75)
#: The smooth sensitivity of the median of a random sample is 1.2 to 1.5 times as large as for
#: evenly spaced outputs.
UNEVEN = 1.4
#: For the median and the quarter-trimmed mean of k normal outputs: k times their variance, divided
#: by the variance of one output.
_MEDIAN, _QUARTER_TRIMMED = math.pi / 2, 1.19
#: The same for the center of the shortest half, which converges as the cube root of k.
_SHORTEST_HALF = 1.25

#: A function of the number of blocks, the width, the loss and the deviation that returns the error.
_Error: TypeAlias = Callable[[int, float, Loss, float], float]


def expected_error(name: str, blocks: int, width: float, loss: Loss, deviation: float) -> float:
    """Return the expected distance of an answer from the center of normal block outputs."""
    return _ERRORS[name](blocks, width, loss, deviation)


def _mean(k: int, width: float, loss: Loss, deviation: float) -> float:
    return math.hypot(deviation / math.sqrt(k), deviation_of(loss) * width / k)


def _ordered(trim_of: Callable[[int], float], uneven: float, variance: float) -> _Error:
    """Return the error function of a mean that leaves out ``trim_of(k)`` outputs at each end."""

    def error(k: int, width: float, loss: Loss, deviation: float) -> float:
        trim = trim_of(k)
        windows = _windows(k, trim, uneven * deviation, width)
        noise = _smooth(windows, calibrate_loss("auto", loss)) / (k - 2 * trim)
        return math.hypot(math.sqrt(variance / k) * deviation, noise)

    return error


def _attention(k: int, width: float, loss: Loss, deviation: float) -> float:
    first = majority(k)

    def length(points: float) -> float:
        return 2.0 * _at_rank((k + points) / 2, k, deviation, width) if points <= k else width

    def at(t: float) -> float:
        return 0.5 * (length(first + t) + length(first + t + 1))

    noise = _smooth((at, (k - first, k - first + 1)), calibrate_loss("auto", loss))
    return math.hypot(_SHORTEST_HALF * deviation / math.cbrt(k), noise)


def _exponential(k: int, width: float, loss: Loss, deviation: float) -> float:
    rate = ExponentialMedian(k, 0.0, 1.0, loss).mechanism(0.0, 1.0).rate
    noise, _ = _exponential_error(0.5, rate, k, deviation, width)
    return math.hypot(math.sqrt(_MEDIAN / k) * deviation, noise)


def _winsorized(k: int, width: float, loss: Loss, deviation: float) -> float:
    aggregator = WidenedWinsorizedMean(k, 0.0, 1.0, loss)
    _, off = _exponential_error(0.25, aggregator.quartiles[0].rate, k, deviation, width)
    distance = math.hypot(2.0 * _PROBABLE * deviation, math.sqrt(2.0) * off)
    window = min(width, 2.0 * WIDENING * distance)
    return math.hypot(deviation / math.sqrt(k), aggregator.noise.deviation * window / k)


_ERRORS: dict[str, _Error] = {
    "mean": _mean,
    "smooth-median": _ordered(lambda k: (k - 1) / 2, UNEVEN, _MEDIAN),
    "exponential-median": _exponential,
    "trimmed-mean": _ordered(lambda k: k // 4, 1.0, _QUARTER_TRIMMED),
    "winsorized-mean": _winsorized,
    "attention": _attention,
}


# ---- Smooth sensitivities of expected order statistics ----

#: A(t), and the distances near which A jumps.
Windows = tuple[Callable[[float], float], tuple[float, ...]]


def _at_rank(rank: float, k: int, deviation: float, width: float) -> float:
    """Return the expected order statistic of a rank from 1 to k, else an end of the bounds."""
    part = (rank - 0.375) / (k + 0.25)
    if not 0.0 < part < 1.0:
        return math.copysign(width / 2, part)
    return min(max(deviation * _NORMAL.inv_cdf(part), -width / 2), width / 2)


def _windows(k: int, trim: float, deviation: float, width: float) -> Windows:
    """Return A(t), L times the local sensitivity at distance t by `trimmed`, and its jumps.

    The quantile function of a normal distribution is convex above the middle and concave below it.
    So among all windows of some length, the widest is as far to one side as the bounds allow.
    """

    def at(t: float) -> float:
        top = min(k - trim + 1 + t, k + 1)
        bottom = top - (k - 2 * trim + t)
        return _at_rank(top, k, deviation, width) - _at_rank(bottom, k, deviation, width)

    return at, (trim, 2 * trim + 1)


def _smooth(windows: Windows, calibrated: Calibration) -> float:
    """Return the typical size of noise whose scale is the largest ``e^(-beta t) A(t)``."""
    at, jumps = windows
    last = min(max(jumps), 60.0 / calibrated.beta)  # farther terms are below 1e-26 of the width
    steps = {0.0, *(float(math.floor(t)) for t in np.geomspace(1.0, max(last, 1.0), 200).tolist())}
    for jump in jumps:
        steps |= {math.floor(jump), math.ceil(jump)}
    span = max(at(t) * math.exp(-calibrated.beta * t) for t in steps if 0 <= t <= max(jumps))
    return span / calibrated.alpha * _typical(calibrated.distribution)


@lru_cache(maxsize=256)
def _typical(distribution: Distribution) -> float:
    mp = context(64)
    return float(distribution.quantile(mp, mp.mpf(0.25))) / _PROBABLE


# ---- The exponential mechanism ----


def _exponential_error(
    q: float, rate: float, k: int, deviation: float, width: float
) -> tuple[float, float]:
    """Return the typical distance of an exponential-mechanism draw from the q-quantile, and RMS.

    The draw has the density ``exp(-rate k |F(x) - q|)``.
    """
    half = width / (2.0 * deviation)
    center = min(max(_NORMAL.inv_cdf(q), -half), half)
    middle = _NORMAL.cdf(center)  # q, unless the quantile is clipped
    # The density may fall off at any scale. So there are points at all scales down to 2**-40.
    away = np.append(0.0, np.geomspace(half * 2.0**-40, half + abs(center), 160))

    def density(x: float) -> float:
        return math.exp(-rate * k * abs(_NORMAL.cdf(x) - middle)) if abs(x) <= half else 0.0

    folded = np.array([density(center - y) + density(center + y) for y in away.tolist()])
    parts = 0.5 * (folded[1:] + folded[:-1]) * np.diff(away)
    mass = np.append(0.0, np.cumsum(parts))
    typical = float(np.interp(0.5 * mass[-1], mass, away)) / _PROBABLE
    square = float(parts @ (0.5 * (away[1:] + away[:-1])) ** 2 / mass[-1])
    return deviation * typical, deviation * math.sqrt(square)
