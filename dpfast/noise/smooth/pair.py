"""The worst pair of output distributions, and the largest shift that a pure epsilon allows.

A release is ``value + (S / alpha) Z``. Between neighbors the value changes by at most the smaller
of the two bounds S, and the bounds differ by a factor of at most e^beta. After rescaling, the two
distributions of the output are, with ``phi = -log density`` of Z,

    P = Z    and    Q = s + e^lam Z,    |s| <= alpha,  0 <= lam <= beta,

and both directions of the loss count (Nissim, Raskhodnikova and Smith 2007, section 2; the shift is
measured in units of the smaller scale).

Theorem. Let Z be symmetric, phi non-decreasing and differentiable on (0, inf) with a piecewise
second derivative, and t -> phi(e^t) convex. Then no such pair, with 0 <= s <= alpha, loses more
than epsilon if and only if s = alpha satisfies, for both lam = 0 and lam = beta,

    s <= gap(epsilon + lam, lam)    and    s <= e^lam gap(epsilon - lam, -lam),
    gap(c, log k) = inf over y >= 0 of  phi^-1(c + phi(y)) - k y.

Proof. log p/q at z is lam + phi((z - s) e^-lam) - phi(z). For a given |z| it is largest at
z = -|z|, and log q/p is, for a given |y| with z = s + y e^lam, largest at y = |y|, because phi
grows with |z|. So the two losses are
    A(lam) =  lam + sup over x >= 0 of  phi((x + s) e^-lam) - phi(x),
    B(lam) = -lam + sup over y >= 0 of  phi(s + y e^lam) - phi(y).
In A every term is convex in lam since phi(e^t) is convex in t. In B, with u = s + y e^lam >= s, the
second derivative is (u - s) [phi'(u) + (u - s) phi''(u)]; where phi'' >= 0 it is not negative, and
elsewhere the bracket is at least phi'(u) + u phi''(u), which is not negative because phi(e^t) is
convex. So A and B are convex in lam and largest at lam = 0 or lam = beta. Both grow with s, and
solving A <= epsilon and B <= epsilon for s at a given point gives the two bounds.

If c + phi can outrun every k y the infimum is positive; otherwise the pair is not admissible and
`gap` is 0 or less.
"""

from __future__ import annotations

import math
from collections.abc import Callable


def log_expm1(x: float) -> float:
    """Return log(e^x - 1) for x > 0, without overflow."""
    if x > 30.0:
        return x + math.log1p(-math.exp(-x))
    return math.log(math.expm1(x))


def largest_shift(gap: Callable[[float, float], float], epsilon: float, beta: float) -> float:
    """Return the largest alpha that is admissible with `beta` for `epsilon`, by the theorem."""
    return min(
        gap(epsilon, 0.0), gap(epsilon + beta, beta), math.exp(beta) * gap(epsilon - beta, -beta)
    )
