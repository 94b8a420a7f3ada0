"""Round sensitivities up, and find the largest A(k) e^(-beta k).

The computed weight of a distance k has a relative error of at most (beta k + 2) units. A weight
that is not 0 has beta k < 746, so its relative error is below 2**-43. `inflated` raises the largest
candidate by 2**-42. So the result is at least the exact maximum, and at most 1 + 2**-41 times it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction


def float_up(amount: Fraction) -> float:
    """Return the least float64 that is not below an exact `amount`."""
    try:
        result = float(amount)
    except OverflowError:
        return math.inf
    return math.nextafter(result, math.inf) if Fraction(result) < amount else result


def rounded_up(amount: float) -> float:
    """Return an upper bound of an exact number that a few roundings have made `amount`."""
    return amount * (1.0 + 2.0**-50) if amount else 0.0


def inflated(amount: float) -> float:
    """Return an upper bound of the exact maximum of weighted candidates computed as `amount`."""
    return math.nextafter(amount * (1.0 + 2.0**-42), math.inf) if amount else 0.0


def largest(
    at: Callable[[int], float], *, beta: float, most: float, stop: int, least: float = 0.0
) -> float:
    """Return the largest ``at(k) e^(-beta k)`` for k = 0 .. `stop`, or `least` if that is larger.

    No ``at(k)`` is above `most`, so distances that cannot give the maximum are left out. The result
    is not `inflated`.
    """
    best = least
    for k in range(stop + 1):
        weight = math.exp(-beta * k)
        if most * weight <= best:
            break
        best = max(best, at(k) * weight)
    return best
