"""The worst pair of output distributions: the largest shift for a pure epsilon, the best beta.

A release is ``value + (S / alpha) Z``. Between neighbors the value changes by at most the smaller
of the two bounds S, and the bounds differ by a factor of at most e^beta. After rescaling, the two
distributions of the output are, with ``phi = -log density`` of Z,

    P = Z    and    Q = s + e^lam Z,    |s| <= alpha,  0 <= lam <= beta,

where the shift s is in units of the smaller scale, and both directions of the loss count (Nissim,
Raskhodnikova and Smith 2007, section 2).

Theorem. Let Z be symmetric, phi non-decreasing and differentiable on (0, inf) with a piecewise
second derivative, and t -> phi(e^t) convex. Then no such pair, with 0 <= s <= alpha, loses more
than epsilon if and only if s = alpha satisfies, for both lam = 0 and lam = beta,

    s <= gap(epsilon + lam, lam)    and    s <= e^lam gap(epsilon - lam, -lam),
    gap(c, log k) = inf over y >= 0 of  phi^-1(c + phi(y)) - k y.

Proof. log p/q at z is lam + phi((z - s) e^-lam) - phi(z). phi grows with |z|. So for a given |z|,
log p/q is largest at z = -|z|. Let z = s + y e^lam: for a given |y|, log q/p is largest at y = |y|.
So the two losses are
    A(lam) =  lam + sup over x >= 0 of  phi((x + s) e^-lam) - phi(x),
    B(lam) = -lam + sup over y >= 0 of  phi(s + y e^lam) - phi(y).
In A every term is convex in lam, because phi(e^t) is convex in t. In B let u = s + y e^lam >= s.
The second derivative of a term is (u - s) [phi'(u) + (u - s) phi''(u)]. If phi''(u) >= 0, it is not
negative. Otherwise the bracket is at least phi'(u) + u phi''(u), which is not negative, because
phi(e^t) is convex. So A and B are convex in lam, and largest at lam = 0 or lam = beta. Both grow
with s. The inequalities A <= epsilon and B <= epsilon, solved for s at each of these lam, are the
two bounds.

If the infimum `gap` is not positive, no alpha > 0 is admissible.

*The choice of beta* follows one rule for all families, from public parameters only. The noise of a
release has the scale S_beta / alpha. If the data have an even spacing g around the quantile, the
smooth sensitivity is g max_k (k + 1) e^(-beta k). Over real k this is g / w(beta) with
    w(beta) = beta e^(1 - beta) for beta < 1, and 1 from there on.
So the rule maximizes alpha(beta) w(beta), which is about alpha times beta for a small epsilon. Of
several maxima the largest beta is taken, because no smooth sensitivity grows with beta.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def largest_shift(gap: Callable[[float, float], float], epsilon: float, beta: float) -> float:
    """Return the largest alpha that is admissible with `beta` for `epsilon`, by the theorem."""
    return min(
        gap(epsilon, 0.0), gap(epsilon + beta, beta), math.exp(beta) * gap(epsilon - beta, -beta)
    )


def weight(beta: float) -> float:
    """Return w(beta) = g / S_beta, one over the smooth sensitivity of evenly spread data."""
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
    # Golden section search. Of equal values it keeps the larger beta.
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
