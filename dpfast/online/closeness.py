"""The test for easy queries in the paper on the median mechanism: how close the candidates are.

Roth and Roughgarden (STOC 2010) call a query easy if the mean r over all candidates S of
``exp(-|f(D) - f(S)| / accuracy)``, with noise, is above about 3/4. After a hard answer a they keep
the candidates with ``|f(S) - a| <= accuracy / 50``. Here the sparse vector technique compares the
doubt 1 - r with the threshold T = 9/32, in integers of 2**-24, and its noise is bounded by
G <= 1/32 but for a small failure probability. Then:

* At least half of the candidates are at least as far from the data as the median is, so an error x
  of the median makes the doubt ``(1 - exp(-x / accuracy)) / 2`` at least. An easy query has a doubt
  of less than T + G = 5/16, so x is below ``ln(8 / 3) accuracy < accuracy``.
* A hard query has a doubt of T - G = 1/4 at least. Let the noise of the answer be at most
  accuracy / 50, too. Candidates that are kept are within w = accuracy / 25 of the data; if the
  others are a part p of all, the doubt is at most ``p + (1 - p) (1 - exp(-w / accuracy))``, so p is
  at least 1 - (3/4) exp(1/25) > 0.219: each hard answer leaves less than 0.781 of the candidates.

Sensitivity: f(D) changes by at most 1 / n, so a closeness by at most ``1 / (n accuracy)``. It is
rounded down to a unit of 2**-24, from a float64 that is off by far less than a unit; and so is the
mean.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .plan import Doubt

BITS = 24
THRESHOLD = 9 << (BITS - 5)
#: The bound that the noise of the comparison must keep.
MARGIN = 1 / 32
#: Candidates within ``accuracy / KEPT`` of a hard answer are kept.
KEPT = 50


def doubt_of(rows: int, accuracy: float) -> Doubt:
    """Return the doubt's sensitivity and unit, for the allocation of the loss."""
    slope = Fraction(1 << BITS) / (rows * Fraction(accuracy))
    return Doubt(math.ceil(slope) + 4, float(1 << BITS), accuracy / KEPT / MARGIN)


def hard_answers(candidates: int) -> int:
    """Return after how many hard answers only a candidate like the data can be left."""
    each = -math.log(0.75 * math.exp(2 / KEPT))
    return int(math.log(candidates) / each) + 1


class Closeness(NamedTuple):
    """The test for candidates of `size` rows, from the sums of a query over each of them.

    Sums are in units of ``2**-bits``; that over the data is of `rows` rows.
    """

    size: int
    rows: int
    bits: int
    accuracy: float

    def doubt(self, sums: NDArray[np.int32], exact: int) -> int:
        """Return one minus the mean closeness, in units."""
        distances = self._apart(sums, exact).astype(np.float64)
        distances *= -1.0 / (float(self.size * self.rows << self.bits) * self.accuracy)
        np.exp(distances, out=distances)
        distances *= float(1 << BITS)
        total = int(distances.astype(np.int64).sum())
        return (1 << BITS) - total // len(sums)

    def near(self, sums: NDArray[np.int32], answer: int) -> NDArray[np.bool_]:
        """Tell which candidates agree with a hard answer."""
        limit = math.floor(Fraction(self.accuracy) * (self.size * self.rows << self.bits) / KEPT)
        # An answer far from all sums is cut, so that the products fit into 64 bits.
        whole = self.rows << self.bits
        return self._apart(sums, min(max(answer, -whole), 2 * whole)) <= limit

    def _apart(self, sums: NDArray[np.int32], exact: int) -> NDArray[np.int64]:
        return np.abs(exact * self.size - sums.astype(np.int64) * self.rows)
