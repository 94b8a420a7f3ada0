"""What aggregators with noise scaled to a smooth sensitivity share."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...noise.additive import amount
from ...noise.smooth import Calibration, calibrate
from ...privacy import ZCDP, Approx, Loss
from .lattice import Lattice

#: Covers the rounding of exp, of its argument (at most 64 here) and of the product: 2**-45 or less.
INFLATION = 1.0 + 2.0**-42


def calibration(noise: str, loss: Loss) -> Calibration:
    """The calibration of `noise` for a loss; its `loss` is without a delta that it cannot use."""
    amount(loss)
    if isinstance(loss, ZCDP):
        return calibrate(noise, rho=loss.rho)
    delta = loss.delta if isinstance(loss, Approx) else 0
    return calibrate(noise, epsilon=loss.epsilon, delta=delta)


def sorted_cells(lattice: Lattice, z: NDArray[np.float64]) -> NDArray[np.int64]:
    """Ascending cells x_1 .. x_k at places 1 .. k, with x_0 = 0 and x_(k+1) = span about them."""
    x = np.empty(len(z) + 2, np.int64)
    x[0], x[-1] = 0, lattice.span
    inside = x[1:-1]
    lattice.cells(z, out=inside)
    inside.sort()
    return x


def smooth_span(at: Callable[[int], int], steps: int, most: int, beta: float) -> float:
    """The largest of 1 and ``at(t) e^(-beta t)``, t = 0 .. steps - 1, with every at(t) <= `most`.

    Integers come in; what comes out is at least the exact number and exceeds it by a factor below
    1 + 2**-41, as `noise.smooth` asks. The floor of 1 unit is public, so it keeps smoothness. `at`
    is not asked for steps that cannot win.
    """
    best = 1.0
    for t in range(steps):
        weight = math.exp(-beta * t)
        if most * weight <= best:
            break
        best = max(best, at(t) * weight)
    return math.nextafter(best * INFLATION, math.inf)
