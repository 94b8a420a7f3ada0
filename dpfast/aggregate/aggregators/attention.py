"""The center of attention (Nissim, Raskhodnikova and Smith, STOC 2007, section 5), exactly.

The center of k points is the middle of the smallest ball that contains t0 = floor((k + 1) / 2) + 1
of them. If one of these points is removed, the ball still contains more than half of the other k -
1 points. On the line, every real number may be a center. For vectors, centers are a public set of
candidates, and the distance is summed over coordinates (l1).

Let r(t) be the least radius of a ball around an allowed center that contains t of the points. For t
> k let it be the least radius of a ball that contains every point within the bounds.

Theorem. S = max over t >= 0 of e^(-beta t) (r(t0 + t) + r(t0 + t + 1)) is a beta-smooth bound on
how far the center moves when one point is replaced.

Proof. Let z, z' be neighbors. The ball of z contains at least t0 - 1 of the k - 1 common points,
and so does the ball of z'. Because 2 (t0 - 1) > k - 1, one point is in both balls. So the centers
are at most r_z(t0) + r_z'(t0) apart. A ball with t + 1 points of z contains at least t points of
z', so r_z'(t) <= r_z(t + 1). By the convention this also holds for t >= k. So the center moves by
at most A_z(0), where A_z(t) = r_z(t0 + t) + r_z(t0 + t + 1). Also A_z(t) <= A_z'(t + 1), so the
largest e^(-beta t) A_z(t) is beta-smooth. If several balls are smallest, any of them may be taken.

(If centers had to be data points, r_z' could be twice as large as r_z, and the bound would not be
smooth. The bound here is at most the bound of the paper, with 2 r(t0 + t + 1).)

Noise for vectors. Z has independent coordinates of density exp(-phi). Move from one output
distribution to the other: the location is mu = s x and the logarithm of the scale is ln sigma = l
x, for x from 0 to 1, where |s|_1 <= alpha in units of the smaller scale, and l <= beta. The
log-density changes at a rate of at most sum_i |s_i| |phi'(y_i)| + l sum_i |y_i phi'(y_i) - 1|. For
Cauchy noise phi' = 2 y / (1 + y^2), so |phi'| and |y phi' - 1| are at most 1. So the release is
epsilon-DP if alpha + d beta <= epsilon. With alpha = epsilon / 2 and beta = epsilon / (2 d), the
product alpha beta is largest. Other distributions and metrics are not proved here, so they cannot
be chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise.additive import amount, without_delta
from ...noise.distributions import Cauchy
from ...noise.smooth.calibration import MARGIN, SLACK
from ...privacy import ZCDP, Loss, float_down, pure_within
from ...rng import Generator
from .output_grid import (
    OutputGrid,
    SmoothAggregator,
    check_blocks,
    noisy,
    outputs,
    smooth_span,
)

#: How many distances are computed at a time, so that they stay in a cache.
_AT_ONCE = 1 << 16


def majority(blocks: int) -> int:
    """Return t0: balls of t0 points on two neighbors have an unchanged point in common."""
    return (blocks + 1) // 2 + 1


def _shortest(x: NDArray[np.int64], t: int) -> tuple[int, int]:
    """Return the length and index of the shortest interval that holds `t` of the points x[1:-1]."""
    k = len(x) - 2
    if t > k:
        return int(x[-1]), 0
    lengths = x[t : k + 1] - x[1 : k - t + 2]
    at = int(np.argmin(lengths))
    return int(lengths[at]), at + 1


def attention_span(x: NDArray[np.int64], beta: float) -> float:
    """NOT PRIVATE. Return twice the smooth bound of the center of attention, in cells."""
    k, span = len(x) - 2, int(x[-1])
    first = majority(k)

    def at(t: int) -> int:
        return _shortest(x, first + t)[0] + _shortest(x, first + t + 1)[0]

    return smooth_span(at, max(1, k - first + 2), 2 * span, beta)


@dataclass(frozen=True, slots=True)
class Attention(SmoothAggregator):
    """The middle of the shortest interval that holds a majority of block outputs, plus noise.

    Privacy: as for `SmoothAggregator`, with the beta-smooth bound of the theorem above. Unlike the
    median, the center stays inside a cluster that holds a majority, wherever the other outputs are.
    """

    spans: ClassVar[int] = 2

    def statistic(self, x: NDArray[np.int64]) -> tuple[int, int]:
        length, at = _shortest(x, majority(self.blocks))
        return 2 * int(x[at]) + length, 2

    def sensitivity(self, x: NDArray[np.int64]) -> float:
        return attention_span(x, self.calibration.beta)


def _candidates(centres: Any, bounds: tuple[tuple[float, float], ...]) -> NDArray[np.float64]:
    """Return the checked public candidates for the center as a new array."""
    rule = f"a finite array of shape (c, {len(bounds)}), c > 0, within the bounds"
    try:
        centers = np.array(centres, np.float64)
    except (TypeError, ValueError, OverflowError):
        checks.fail_type("centres", rule, centres)
    if centers.ndim != 2 or centers.shape[1] != len(bounds) or not len(centers):
        checks.fail("centres", rule, f"shape {centers.shape}")
    lo, hi = np.array(bounds).T
    if not ((lo <= centers) & (centers <= hi)).all():  # comparisons with NaN are false
        checks.fail("centres", rule, centres)
    return centers


def _distances(columns: NDArray[np.int64], centers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the L1 distance of each center from each point, shape (centers, points)."""
    distances = np.zeros((len(centers), columns.shape[1]), np.int64)
    step = np.empty_like(distances)
    for column, coordinate in zip(columns, centers.T, strict=True):
        np.subtract(column, coordinate[:, None], out=step)
        np.abs(step, out=step)
        distances += step
    return distances


@dataclass(frozen=True, slots=True, eq=False)  # eq=False, because == of arrays has no truth value
class VectorAttention:
    """The public candidate with the smallest ball that contains a majority, plus Cauchy noise.

    Privacy: neighbors differ in one of the `blocks` output vectors, which is replaced. By the
    theorem above, the bound is beta-smooth for l1 distances in cells of the grid. Every coordinate
    has between 2**40 and 2**41 cells (fewer for very many blocks), so coordinates count about
    equally. Independent Cauchy noise with alpha + d beta <= epsilon is epsilon-DP, by the path
    above. For rho, epsilon is the number with epsilon tanh(epsilon / 2) = rho.

    Parameters
    ----------
    blocks : int
        The public number of block outputs, at least 1.
    bounds : tuple of pairs of float
        Public bounds of each of the d coordinates.
    candidates : array_like, shape (c, d)
        The public candidates for the center, within the bounds. They must not come from the data.
    loss : Pure, Approx or ZCDP
        The loss that the release may use; afterwards without delta, which it does not need.
    """

    blocks: int
    bounds: tuple[tuple[float, float], ...]
    candidates: NDArray[np.float64]
    loss: Loss
    grids: tuple[OutputGrid, ...] = field(init=False)
    centres: NDArray[np.int64] = field(init=False)
    farthest: int = field(init=False)
    alpha: float = field(init=False)
    beta: float = field(init=False)

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks)
        d = len(self.bounds)
        size = amount(self.loss)
        loss = without_delta(self.loss)
        epsilon = float_down(pure_within(size) if isinstance(loss, ZCDP) else size)
        beta = epsilon / (2 * d) - SLACK
        if not beta > SLACK:
            checks.fail("epsilon", f"larger for {d} coordinates", epsilon)
        grids = tuple(OutputGrid(lo, hi, blocks) for lo, hi in self.bounds)
        candidates = _candidates(self.candidates, self.bounds)
        centres = np.stack([g.cells(candidates[:, i]) for i, g in enumerate(grids)], axis=1)
        distances = np.maximum(centres, np.array([g.span for g in grids]) - centres).sum(axis=1)
        checks.assign(
            self,
            candidates=candidates,
            loss=loss,
            grids=grids,
            centres=centres,
            farthest=int(distances.min()),
            alpha=epsilon / 2 * (1.0 - MARGIN),
            beta=beta,
        )

    def radii(self, cells: NDArray[np.int64]) -> tuple[int, list[int]]:
        """NOT PRIVATE. Return the best candidate's index, and r(t) for t0 <= t <= `blocks` + 2."""
        first = majority(self.blocks)
        least = np.full(max(0, self.blocks - first + 1), np.iinfo(np.int64).max)
        center = 0
        if len(least):
            columns = np.ascontiguousarray(cells.T)
            at_once = max(1, _AT_ONCE // self.blocks)
            for start in range(0, len(self.centres), at_once):
                distances = _distances(columns, self.centres[start : start + at_once])
                distances.partition(first - 1, axis=1)  # the nearer half is not sorted
                upper = distances[:, first - 1 :]
                upper.sort(axis=1)
                nearest = int(np.argmin(upper[:, 0]))
                if upper[nearest, 0] < least[0]:
                    center = start + nearest
                np.minimum(least, upper.min(axis=0), out=least)
        return center, [*least.tolist(), self.farthest, self.farthest]

    def release(self, z: NDArray[np.float64], generator: Generator) -> NDArray[np.float64]:
        """Return the noisy center of the rows of `z`, shape (blocks, d), within the bounds.

        Cost: O(blocks (d + log blocks)) for each candidate.
        """
        outputs(z, self.blocks, len(self.grids))
        cells = np.stack([g.cells(z[:, i]) for i, g in enumerate(self.grids)], axis=1)
        center, r = self.radii(cells)
        most = 2 * max(self.farthest, 1)
        span = smooth_span(lambda t: r[t] + r[t + 1], len(r) - 1, most, self.beta)
        noises = [
            noisy(Cauchy(), int(at), span / self.alpha, 2.0 * most / self.alpha, generator)
            for at in self.centres[center]
        ]
        return np.array([g.number(x) for g, x in zip(self.grids, noises, strict=True)])
