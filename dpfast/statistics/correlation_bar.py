"""Error bars of a noisy correlation, for columns with the variance of a uniform distribution.

Scale both columns so that their bounds are -1 and 1. Let both have the variance V, and let r = C /
V be the true correlation. The noisy entries of the covariance matrix are C + c, V + x and V + x'.
Uniform numbers have the variance 1/3, and columns with a larger variance have a smaller error. If
the noisy variances are positive, the answer is above a number t > r where C + c > t sqrt((V + x) (V
+ x')). The root, a geometric mean, is at most the mean of V + x and V + x', and at least that mean
minus V q^2 / (1 - q) if abs(x) and abs(x') are at most q V. So the answer is above t only where

    c - t (x + x') / 2 > (t - r) V, less t V q^2 / (1 - q) where t > 0,

and similarly for answers below a number. To first order the left side is a weighted sum of the
noise in the matrix (`OfSums.linear`), in which common errors cancel, such as the error of the
number of rows. The rest is at most 2 d^2, where d is the largest error of a mean.

The weights depend on r and on the means a and b of the columns, which lie between -m and m for m^2
= 1 - V. The code tries a grid of all a, b and r that numbers between -1 and 1 can have. It takes
the point where the weighted sum has the largest variance, and computes the distribution there. r >=
0 is enough, because the sign of a column can be changed. The covariance of numbers between -1 and 1
is at most min((1 - a) (1 + b), (1 + a) (1 - b)).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._core.error_bars import RARE, normal
from .covariance import OfSums

#: The variance of numbers that are evenly spread between -1 and 1.
EVEN = 1 / 3


def _grid() -> tuple[Any, Any, Any, Any]:
    """Return a grid of signs of errors, means of both columns, and correlations that can occur."""
    means = np.linspace(-1, 1, 17) * math.sqrt(1 - EVEN)
    side, a, b, r = np.meshgrid([-1.0, 1.0], means, means, np.linspace(0, 1, 17))
    can_be = r * EVEN <= np.minimum((1 - a) * (1 + b), (1 + a) * (1 - b)) + 1e-9
    return side[can_be], a[can_be], b[can_be], r[can_be]


def off_by(covariance: OfSums, rows: int, failure: float) -> float:
    """Return a bound that the error of a correlation exceeds with probability at most `failure`."""
    of_rows, of_mean = covariance.rare(rows, RARE * failure / 8)
    least, likely = float(rows - of_rows), (1 - RARE) * failure
    if least <= 1 or not all(covariance.spans):
        return 2.0
    m = math.sqrt(1 - EVEN)
    of_variance = covariance.half_width(rows, RARE * failure / 8, covariance.linear(0, m, m, 1.0))
    second = 2 * (float(of_mean) / least) ** 2 / EVEN
    q = float(of_variance) / least / EVEN + second
    bent = q**2 / (1 - q) if q < 1 else math.inf
    side, a, b, r = _grid()
    noise, scales = covariance.noise_of(rows).deviations, covariance.scales(rows)
    deviations = [wide / (scale or 1) for wide, scale in zip(noise, scales, strict=True)]

    def weights(t: Any) -> dict[int, Any]:
        """Return the weight of each noise in the event that the noisy correlation is beyond t."""
        weight_of: dict[int, Any] = {}
        entries = ((0, a, a, -t / 2), (1, a, b, 1.0), (2, b, b, -t / 2))
        for entry, x, y, times in entries:
            p = x * y + (r if entry == 1 else 1.0) * EVEN
            for k, weight in covariance.linear(entry, x, y, p).items():
                weight_of[k] = weight_of.get(k, 0.0) + times * weight
        return weight_of

    def wide_and_off(size: float) -> tuple[dict[int, Any], Any, Any]:
        """Return the weights, the deviation and the error of noise that is `size` deviations."""
        off = np.zeros_like(r)
        for _ in range(3):  # iterate, because the weights depend on the error
            t = np.clip(r + side * off, -1, 1)
            parts = weights(t)
            wide = np.sqrt(sum((part * deviations[k]) ** 2 for k, part in parts.items()))
            beyond = np.maximum(side * t, 0.0)
            bend = np.where(beyond > 0, bent, 0.0) * np.where(beyond > 0, beyond, 1.0)
            off = np.minimum(size * wide / least / EVEN + second + bend, 1 - side * r)
        return parts, wide, off

    parts, wide, _ = wide_and_off(normal(likely))
    worst, size = int(np.argmax(wide)), 0.0
    alone = covariance.linear(1, 0.0, 0.0, 0.0)  # the noise that every answer contains
    for factors in ({k: float((part + 0 * r)[worst]) for k, part in parts.items()}, alone):
        deviation = math.hypot(*(part * deviations[k] for k, part in factors.items()))
        smallest = deviation / 512
        some = {k: part for k, part in factors.items() if abs(part * deviations[k]) > smallest}
        size = max(size, float(covariance.half_width(rows, likely, some)) / deviation)
    off = float(wide_and_off(size)[2].max())
    return min(2.0, off if q < 1 else max(1.0, off))
