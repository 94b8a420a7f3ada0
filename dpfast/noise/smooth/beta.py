"""The choice of beta, by one rule for all families and from public parameters only.

The noise of a release is S_beta / alpha. On data with an even spacing g around the quantile the
smooth sensitivity is g max_k (k + 1) e^(-beta k), which over real k is g / w(beta) with
    w(beta) = beta e^(1 - beta) for beta < 1, and 1 from there on.
So the rule maximizes alpha(beta) w(beta); for small budgets that is alpha times beta. Where the
merit is flat the largest beta wins, because no smooth sensitivity grows with beta.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def weight(beta: float) -> float:
    """Return g / S_beta of the even-spacing model."""
    return beta * math.exp(1.0 - beta) if beta < 1.0 else 1.0


def best(
    alpha: Callable[[float], float], top: float, *, grid: int = 48, steps: int = 40
) -> tuple[float, float]:
    """Return (alpha, beta) with the greatest alpha(beta) * weight(beta), 0 < beta <= top."""

    def merit(beta: float) -> float:
        return alpha(beta) * weight(beta)

    points = [top * i / grid for i in range(1, grid + 1)]
    scores = [merit(beta) for beta in points]
    peak = max(scores)
    at = max(i for i, score in enumerate(scores) if score >= peak * (1.0 - 1e-13))
    low = points[at - 1] if at > 0 else points[0] / 64.0
    high = points[min(at + 1, grid - 1)]
    # Golden section; a tie moves right, to the larger beta.
    x1, x2 = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    f1, f2 = merit(x1), merit(x2)
    for _ in range(steps):
        if f2 >= f1 * (1.0 - 1e-13):
            low, x1, f1 = x1, x2, f2
            x2 = low + _GOLDEN * (high - low)
            f2 = merit(x2)
        else:
            high, x2, f2 = x2, x1, f1
            x1 = high - _GOLDEN * (high - low)
            f1 = merit(x1)
    beta = low if merit(low) >= scores[at] * (1.0 - 1e-13) else points[at]
    return alpha(beta), beta
