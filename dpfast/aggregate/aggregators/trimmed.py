"""The trimmed mean of the block outputs, with noise scaled to its exact smooth sensitivity.

Let x_1 .. x_k be the block outputs, clipped and in ascending order. The statistic is f(x) =
(x_(m+1) + ... + x_(k-m)) / L with L = k - 2 m. Let x_i = lo for i < 1, and x_i = hi for i > k.

Theorem. The largest local sensitivity within t replacements of x is

    A(t) = max { x_j - x_i : i <= m + 1, j >= k - m, j - i <= L + t } / L,

so the smooth sensitivity is max_t A(t) e^(-beta t). (m = (k - 1) / 2 gives the median, m = 0 the
mean.)

Proof. Let y be within t replacements of x, and let y' be a neighbor of y. They have k - 1 rows w in
common: y = w + v, y' = w + v'. As a function of v, the trimmed sum of w + v is a constant plus v
clamped to [w_m, w_(k-m)]. So L |f(y) - f(y')| is the distance between the clamped v and the clamped
v'. The largest distance over all v' is the distance of the clamped v from the farther of the two
ends w_m and w_(k-m).

Upper bound. Let the farther end be w_(k-m), and v below it (otherwise mirror everything). Then
w_(k-m) is y_(k-m+1). The clamped v is at least y_(m+1), because m rows of w do not exceed it. Let p
of the t new rows of y have ranks up to m + 1, and let q of them have ranks from k - m + 1 on. So p
+ q <= t. The other m + 1 - p of the lowest ranks are rows of x, so x_(m+1-p) <= y_(m+1). The other
m - q of the highest ranks are rows of x too, so y_(k-m+1) <= x_(k-m+1+q). So the distance is at
most x_j - x_i with i = m + 1 - p, j = k - m + 1 + q and j - i = L + p + q.

The bound is attained. Let i <= m + 1, j >= k - m and j - i = L + t. Let j > k - m (otherwise mirror
everything; i = m + 1 and j = k - m together would need L + t = L - 1). Replace t rows of x with
ranks strictly between i and j by m + 1 - i copies of lo and j - (k - m) - 1 copies of hi. These
numbers add up to t, and there are L + t - 1 >= t such rows. Then y_(m+1) = x_i, and y_(k-m+1) =
x_j. Replacing v = y_(m+1) by hi changes the trimmed sum by y_(k-m+1) - y_(m+1) = x_j - x_i. For i <
1 or j > k the same holds with lo or hi.

(The formula is that of Bun and Steinke, NeurIPS 2019; tests compare it with the definition.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .output_grid import SmoothAggregator, smooth_span


def trimmed_span(x: NDArray[np.int64], trim: int, beta: float) -> float:
    """NOT PRIVATE. Return L times the smooth sensitivity of the trimmed mean, in cells.

    Cost: one vector operation over at most ``trim + 2`` pairs for each distance that can give the
    maximum. There are about ``ln(span / result) / beta`` such distances.
    """
    k = len(x) - 2
    kept = k - 2 * trim

    def at(t: int) -> int:
        # i is 0 to trim + 1, and j = i + kept + t is at most k + 1 and at least k - trim.
        first, last = max(0, trim - t), min(trim + 1, 2 * trim + 1 - t)
        i = np.arange(first, last + 1)
        return int((x[i + kept + t] - x[i]).max())

    return smooth_span(at, 2 * trim + 2, int(x[-1]), beta)


@dataclass(frozen=True, slots=True)
class TrimmedMean(SmoothAggregator):
    """The mean of the middle block outputs, plus noise scaled to its smooth sensitivity.

    Privacy: as for `SmoothAggregator`, with the exact smooth sensitivity of the theorem above. A
    quarter of the outputs is left out at each end.
    """

    @property
    def cut(self) -> int:
        """The public number of outputs that are left out at each end."""
        return self.blocks // 4

    def statistic(self, x: NDArray[np.int64]) -> tuple[int, int]:
        kept = x[self.cut + 1 : self.blocks - self.cut + 1]
        return int(kept.sum()), len(kept)

    def sensitivity(self, x: NDArray[np.int64]) -> float:
        return trimmed_span(x, self.cut, self.calibration.beta)
