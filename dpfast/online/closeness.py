"""Whether a query is easy, by the test of the paper: how close the candidates are on the whole.

Roth and Roughgarden (STOC 2010) call a query easy if the mean r over all candidates S of
``exp(-|f(D) - f(S)| / accuracy)``, with noise, is above about 3/4, and after a hard answer a they
keep the candidates with ``|f(S) - a| <= accuracy / 50``. Here 1 - r, the doubt, is what the sparse
vector technique compares with the threshold T = 9/32, in integers of 2**-24, and its noise is
bounded by G <= 1/32 but for a small probability. Then:

* At least half of the candidates are at least as far from the data as the median is, so an error x
  of the median makes the doubt ``(1 - exp(-x / accuracy)) / 2`` at least. An easy query has a doubt
  of less than T + G = 5/16, so x is below ``ln(8 / 3) accuracy < accuracy``.
* A hard query has a doubt of T - G = 1/4 at least. Let the noise of the answer be at most
  accuracy / 50, too. Candidates that are kept are within w = accuracy / 25 of the data; if the
  others are a part p of all, the doubt is at most ``p + (1 - p) (1 - exp(-w / accuracy))``, so p is
  at least 1 - (3/4) exp(1/25) > 0.219: each hard answer leaves less than 0.781 of the candidates.

What moves: f(D) by 1 / n, so a closeness by at most ``1 / (n accuracy)``. It is rounded down to
2**-24, which is one unit, from a float64 that is off by far less than a unit; and so is the mean.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .plan import Doubt

BITS = 24
THRESHOLD = 9 << (BITS - 5)
#: What the noise of the comparison must not exceed.
MARGIN = 1 / 32
#: The part of the accuracy within which candidates are kept.
KEPT = 50


def doubt_of(rows: int, accuracy: float) -> Doubt:
    """By how much neighbours move it, in units."""
    slope = Fraction(1 << BITS) / (rows * Fraction(accuracy))
    return Doubt(math.ceil(slope) + 4, float(1 << BITS), accuracy / KEPT / MARGIN)


def hard_answers(candidates: int) -> int:
    """After so many none of the candidates is left, but for the one that is like the data."""
    each = -math.log(0.75 * math.exp(2 / KEPT))
    return int(math.log(candidates) / each) + 1


def doubt(
    found: NDArray[np.int32], exact: int, *, size: int, rows: int, bits: int, accuracy: float
) -> int:
    """One less the mean closeness, in units. `found` are sums of the query over candidates."""
    distances = np.abs(exact * size - found.astype(np.int64) * rows).astype(np.float64)
    distances *= -1.0 / (float(size * rows << bits) * accuracy)
    np.exp(distances, out=distances)
    distances *= float(1 << BITS)
    total = int(distances.astype(np.int64).sum())
    return (1 << BITS) - total // len(found)


def near(
    found: NDArray[np.int32], told: int, *, size: int, rows: int, bits: int, accuracy: float
) -> NDArray[Any]:
    """Which candidates agree with a hard answer."""
    limit = math.floor(Fraction(accuracy) * (size * rows << bits) / KEPT)
    # A number that is far from all of them is as good as one beyond all sums.
    told = min(max(told, -(rows << bits)), 2 * (rows << bits))
    kept: NDArray[Any] = np.abs(told * size - found.astype(np.int64) * rows) <= limit
    return kept
