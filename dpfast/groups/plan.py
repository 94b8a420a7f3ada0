"""The sums of a linear statistic that are released by group, and their noise.

*Joint noise.* For a large epsilon it is better to add staircase noise to the number of rows and to
centered sums together than to add noise to the first choice of sums (`sums`, `noise.stairs`). Let w
= 2 u - s. A row adds 1 to the number of rows, w between -s and s to the first centered sum, and 2
w^2 - s^2 between -s^2 and s^2 to the second. So k rows of a person change the vector of a group by
an element of the box with half-widths k times (1, s, s^2). Each move of `step` costs epsilon / n.

To compare both, the error of a mean at the bounds is used, times the number n of rows. Laplace
noise for k + 1 sums has the standard deviation d for each sum, in units of the largest amount that
a row adds; the error of the mean is d. If e is the root mean square of the deviations of joint
noise, the error of the mean is e / sqrt(2).

The loss of joint noise in rho is the loss of `Step.groups` draws of any pure loss. Under replace
the rows that leave a group are one move, and the rows that enter it are another move. Both moves
count as one draw.

A sum over many rows may exceed 64 bits. So it is first divided by a public power of two, and
rounded down; `Sensitivity.coarsened` covers this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from .._core.once import remembered
from ..measurement.choice import Moves, NoiseCandidate, least_error, least_noise
from ..measurement.features import Basis
from ..measurement.linear import Column, Linear
from ..noise.box import BoxNoise
from ..noise.calibrated_integer import IntegerNoise
from ..noise.sensitivity import Sensitivity
from ..noise.shared import SharedNoise
from ..privacy import Loss
from ..rng import Generator
from .step import Step

#: The log2 of the most rows of a group, and of the largest integer to which noise is added.
ROWS, LARGEST = 32, 61
#: The largest change of a sum by one row, in units, for joint noise.
LARGEST_MOVE = 1 << 40


def unit_of(largest: int) -> int:
    """Return the log2 of the unit in which a sum gets noise, by the most that a row adds."""
    return max(0, largest.bit_length() + ROWS - LARGEST)


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a release: its sums, their units (powers of two), and their noise."""

    linear: Basis
    shifts: tuple[int, ...]
    noise: IntegerNoise | SharedNoise | BoxNoise

    def draw(self, groups: int, generator: Generator) -> NDArray[np.int64]:
        """Draw the noise of each sum of `groups` groups, in the unit of the sum."""
        noise, kinds = self.noise, len(self.shifts)
        if not isinstance(noise, BoxNoise):
            return noise.draw(groups * kinds, generator).reshape(kinds, groups)
        assert noise.staircase is not None
        return noise.staircase.draws(groups, generator)

    def half_width(self, kind: int, failure: float) -> float:
        """Return the half-width of the noise of sum `kind`, with the rounding to the sum's unit."""
        noise, shift = self.noise, self.shifts[kind]
        if not isinstance(noise, BoxNoise):
            shift -= noise.shift
            return float((noise.half_width(failure) + bool(shift)) << shift)
        size = noise.half_width(failure, kind) * noise.sensitivities[kind]
        return math.ldexp(float(size + bool(shift)), shift)


def moves_alike(
    step: Step, norm: Sensitivity, largest: int, growing: int = 1, weight: float = 1.0
) -> tuple[Moves, int]:
    """Return how neighboring sums with one noise can differ, and the log2 of their unit.

    Parameters
    ----------
    step : Step
    norm : Sensitivity
        The sensitivity of all sums of all groups.
    largest : int
        The largest amount that a row adds to all sums of a group together.
    growing : int, default 1
        The number of sums of a group, or 0 if a row may decrease a sum. A sum that is rounded down
        may grow by nearly 1 more.
    weight : float, default 1
        The weight of a group's sums in the answer.
    """
    shift = unit_of(largest)
    size = -(-step.rows * largest >> shift)
    if shift:
        norm, size = norm.coarsened(1 << shift), size + max(0, growing - 1)
    return Moves((size,), (weight,), norm=norm, groups=step.groups_moved(growing)), shift


def moves_of(linear: Basis, step: Step) -> tuple[Moves, tuple[int, ...]]:
    """Return how neighboring sums can differ, in units, and the log2 of each unit."""
    most = [max(abs(feature.lo), abs(feature.hi)) for feature in linear.features]
    norm, (first, *more) = step.sensitivity(linear), linear.features
    if norm is not None:  # all sums get the same noise, for the norm of what a row adds to them
        most = [max(*most, linear.norm or 0)] * len(most)
    parts = zip(linear.squares, most, strict=True)
    weights = [float(square * (step.rows * size) ** 2) for square, size in parts]
    if norm is not None:
        growing = 0 if not more and first.lo < 0 < first.hi else len(most)
        moves, shift = moves_alike(step, norm, most[0], growing, sum(weights))
        return moves, (shift,) * len(most)
    shifts = tuple(unit_of(size) for size in most)
    sizes = tuple(-(-step.rows * size >> shift) for size, shift in zip(most, shifts, strict=True))
    return Moves(sizes, tuple(weights), groups=step.groups_moved()), shifts


@remembered
def plan(statistic: Linear, column: Column, step: Step, loss: Loss) -> Plan:
    """Choose the sums and the noise of a statistic by group, from public numbers alone.

    As in `measurement.linear.plan`, another choice than the first is made only if the error of the
    answers is then smaller by a twentieth.
    """

    def way(linear: Basis) -> NoiseCandidate | None:
        moves, shifts = moves_of(linear, step)
        if moves.norm is None and max(moves.sizes) > LARGEST_MOVE:
            return None
        noise = least_noise(loss, moves)
        if noise is None:
            return None
        return NoiseCandidate(noise.error, lambda: _plan(linear, shifts, noise.noise()))

    return cast(Plan, least_error(map(way, statistic.forms(column, False))).noise())


def _plan(
    linear: Basis, shifts: tuple[int, ...], noise: IntegerNoise | SharedNoise | BoxNoise
) -> Plan:
    if not isinstance(noise, BoxNoise):
        shifts = tuple(shift + noise.shift for shift in shifts)
    return Plan(linear, shifts, noise)
