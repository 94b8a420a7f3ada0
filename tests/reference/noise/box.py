"""The plain slow twin of the norm of `dpfast.noise.box`: the distribution by its definition."""

import itertools
import math
from fractions import Fraction


def norm(z, moves, steps):
    """The least r with |z_i| <= floor(r D_i / M) for all i."""
    r = 0
    while any(abs(x) > math.floor(Fraction(r * d, steps)) for x, d in zip(z, moves, strict=True)):
        r += 1
    return r


def points(reach):
    return itertools.product(*(range(-b, b + 1) for b in reach))


def radii(moves, steps, epsilon, most):
    """The probabilities of the radii below `most`, beyond which next to nothing lies."""
    weights = [math.exp(-epsilon * r / steps) * math.prod(2 * math.floor(Fraction(r * d, steps)) + 1
        for d in moves) for r in range(most)]  # fmt: skip
    return [w / sum(weights) for w in weights]


def first(moves, steps, epsilon, most):
    """Return the distribution of the first coordinate, over points whose norm is below `most`."""
    found = {}
    for z in points([math.floor(Fraction(most * d, steps)) for d in moves]):
        r = norm(z, moves, steps)
        if r < most:
            found[z[0]] = found.get(z[0], 0.0) + math.exp(-epsilon * r / steps)
    total = sum(found.values())
    return {k: p / total for k, p in found.items()}
