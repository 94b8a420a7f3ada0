"""The centre of attention (Nissim, Raskhodnikova and Smith, STOC 2007, section 5), exactly.

The centre of k points is the middle of the smallest ball that holds t0 = floor((k + 1) / 2) + 1 of
them, a bare majority and one more. On the line, centres are all real numbers; for vectors, a
public set of candidates, with the distance summed over coordinates (l1).

Let r(t) be the least radius of a ball, among all centres allowed, that holds t of the points; for
t > k let it be the least radius that holds every point within the bounds.

Theorem. S = max over t >= 0 of e^(-beta t) (r(t0 + t) + r(t0 + t + 1)) is a beta-smooth bound on
how far the centre moves when one point is replaced.

Proof. Let z, z' be neighbours. The ball of z holds t0 - 1 or more of the k - 1 points in common, so
does that of z'; 2 (t0 - 1) > k - 1, so one point is in both, and the centres are at most
r_z(t0) + r_z'(t0) apart. A ball with t + 1 points of z holds at least t of z', so
r_z'(t) <= r_z(t + 1) (for t >= k too, by the convention). So the centre moves by at most
A_z(0), where A_z(t) = r_z(t0 + t) + r_z(t0 + t + 1), and A_z(t) <= A_z'(t + 1): the largest
e^(-beta t) A_z(t) is beta-smooth. Which of several smallest balls is taken does not matter.

(Were the centres to be data points, r_z' could outgrow r_z by a factor of 2 and the bound would not
be smooth. The bound here is at most that of the paper with 2 r(t0 + t + 1).)

Noise for vectors. Z has independent coordinates of law exp(-phi). Move from the one output law to
the other along mu = s x, ln sigma = l x, x from 0 to 1, |s|_1 <= alpha in units of the smaller
scale, l <= beta. The log-density changes at a rate of at most
sum_i |s_i| |phi'(y_i)| + l sum_i |y_i phi'(y_i) - 1|. For Cauchy noise phi' = 2 y / (1 + y^2), so
|phi'| and |y phi' - 1| are at most 1, and alpha + d beta <= epsilon makes the release epsilon-DP.
alpha = epsilon / 2 and beta = epsilon / (2 d) make alpha beta largest. Other laws and other metrics
are not proved here, so there is no choice of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...noise.additive import amount, without_delta
from ...noise.distributions import Cauchy
from ...noise.smooth import Calibration
from ...noise.smooth.calibration import MARGIN, SLACK
from ...privacy import ZCDP, Loss, float_down, pure_within
from ...rng import Generator
from .lattice import Lattice, check_blocks, check_coordinates, noisy, outputs, vectors
from .smooth import calibration, smooth_span, sorted_cells

#: Distances that are held at a time, so that they stay in a cache.
_AT_ONCE = 1 << 16


def majority(blocks: int) -> int:
    """t0: so many points that two balls of neighbours must share one that did not change."""
    return (blocks + 1) // 2 + 1


def _shortest(x: NDArray[np.int64], t: int) -> tuple[int, int]:
    """Length and place of the shortest interval that holds `t` of the points x[1:-1]."""
    k = len(x) - 2
    if t > k:
        return int(x[-1]), 0
    lengths = x[t : k + 1] - x[1 : k - t + 2]
    at = int(np.argmin(lengths))
    return int(lengths[at]), at + 1


def attention_span(x: NDArray[np.int64], beta: float) -> float:
    """NOT PRIVATE. Twice the smooth bound, in cells; `x` as `sorted_cells` gives it."""
    k, span = len(x) - 2, int(x[-1])
    first = majority(k)

    def at(t: int) -> int:
        return _shortest(x, first + t)[0] + _shortest(x, first + t + 1)[0]

    return smooth_span(at, max(1, k - first + 2), 2 * span, beta)


@dataclass(frozen=True, slots=True)
class Attention:
    """The middle of the shortest interval that holds a majority, plus noise.

    Privacy: neighbours differ in one of the `blocks` outputs, replaced. The bound is beta-smooth by
    the theorem above, the noise that of `noise.smooth.calibrate` beside it. Unlike the median it
    stays inside the largest cluster of outputs, whatever lies about it.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    lo, hi : float
        Public bounds.
    loss : Pure, Approx or ZCDP
        What the release may cost; afterwards what it does cost, without a delta left unspent.
    noise : str
        A name that `noise.smooth.calibrate` knows.
    """

    blocks: int
    lo: float
    hi: float
    loss: Loss
    noise: str = "auto"
    lattice: Lattice = field(init=False)
    calibration: Calibration = field(init=False)

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks, 1)
        found = calibration(self.noise, self.loss)
        object.__setattr__(self, "lattice", Lattice(self.lo, self.hi, blocks))
        object.__setattr__(self, "calibration", found)
        object.__setattr__(self, "loss", found.loss)

    def release(self, z: NDArray[np.float64], generator: Generator) -> float:
        """The noisy centre of `z`, within the bounds.

        A sort, and O(blocks) for each of about ``ln(span) / beta`` sizes of balls.
        """
        span = self.lattice.span
        x = sorted_cells(self.lattice, outputs(z, self.blocks))
        if span == 0:
            return self.lattice.lo
        length, at = _shortest(x, majority(self.blocks))
        twice = 2 * int(x[at]) + length
        scale = attention_span(x, self.calibration.beta) / self.calibration.alpha
        widest = 4.0 * span / self.calibration.alpha
        return self.lattice.number(
            0.5 * noisy(self.calibration.distribution, twice, scale, widest, generator)
        )


def _candidates(given: Any, lo: tuple[float, ...], hi: tuple[float, ...]) -> NDArray[np.float64]:
    """The public centres as an array of their own."""
    rule = f"a finite array of shape (c, {len(lo)}), c > 0, within the bounds"
    try:
        found = np.array(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        checks.fail_type("centres", rule, given)
    if found.ndim != 2 or found.shape[1] != len(lo) or not len(found):
        checks.fail("centres", rule, f"shape {found.shape}")
    if not ((np.array(lo) <= found) & (found <= np.array(hi))).all():  # NaN is not within
        checks.fail("centres", rule, given)
    return found


def _distances(columns: NDArray[np.int64], centres: NDArray[np.int64]) -> NDArray[np.int64]:
    """The l1 distance of each centre from each point, shape (centres, points)."""
    found = np.zeros((len(centres), columns.shape[1]), np.int64)
    step = np.empty_like(found)
    for column, place in zip(columns, centres.T, strict=True):
        np.subtract(column, place[:, None], out=step)
        np.abs(step, out=step)
        found += step
    return found


@dataclass(frozen=True, slots=True, eq=False)  # arrays have no one equality
class VectorAttention:
    """The public candidate whose ball holds a majority at the least radius, plus Cauchy noise.

    Privacy: neighbours differ in one of the `blocks` output vectors, replaced. The bound is
    beta-smooth by the theorem above for l1 distances in cells of the grid, of which every
    coordinate has between 2**40 and 2**41 (fewer for very many blocks): so coordinates count about
    equally. Independent Cauchy noise with alpha + d beta <= epsilon is epsilon-DP, by the path
    above. For rho it is the epsilon with epsilon tanh(epsilon / 2) = rho.

    Parameters
    ----------
    blocks : int
        Number of block outputs, public, at least 1.
    lo, hi : tuple of float
        Public bounds of each of the d coordinates.
    candidates : array_like, shape (c, d)
        The centres, public, within the bounds; they must not have been chosen by a look at the
        data.
    loss : Pure, Approx or ZCDP
        What the release may cost; afterwards without delta, for which there is no use.
    """

    blocks: int
    lo: tuple[float, ...]
    hi: tuple[float, ...]
    candidates: NDArray[np.float64]
    loss: Loss
    lattices: tuple[Lattice, ...] = field(init=False)
    centres: NDArray[np.int64] = field(init=False)
    farthest: int = field(init=False)
    alpha: float = field(init=False)
    beta: float = field(init=False)
    joint: ClassVar[bool] = True

    def __post_init__(self) -> None:
        blocks = check_blocks(self.blocks, 1)
        d = check_coordinates(len(self.lo))
        if len(self.hi) != d:
            checks.fail("bounds", "one pair for each coordinate", (self.lo, self.hi))
        size = amount(self.loss)
        loss = without_delta(self.loss)
        epsilon = float_down(pure_within(size) if isinstance(loss, ZCDP) else size)
        beta = epsilon / (2 * d) - SLACK
        if not beta > SLACK:
            checks.fail("epsilon", f"larger for {d} coordinates", epsilon)
        lattices = tuple(Lattice(a, b, blocks) for a, b in zip(self.lo, self.hi, strict=True))
        given = _candidates(self.candidates, self.lo, self.hi)
        centres = np.stack([g.cells(given[:, i]) for i, g in enumerate(lattices)], axis=1)
        spans = np.array([g.span for g in lattices])
        object.__setattr__(self, "candidates", given)
        object.__setattr__(self, "loss", loss)
        object.__setattr__(self, "lattices", lattices)
        object.__setattr__(self, "centres", centres)
        far = np.maximum(centres, spans - centres).sum(axis=1)
        object.__setattr__(self, "farthest", int(far.min()))
        object.__setattr__(self, "alpha", epsilon / 2 * (1.0 - MARGIN))
        object.__setattr__(self, "beta", beta)

    def radii(self, cells: NDArray[np.int64]) -> tuple[int, list[int]]:
        """NOT PRIVATE. The centre's number, and r(t) for t = t0, ... up to two beyond `blocks`."""
        first = majority(self.blocks)
        least = np.full(max(0, self.blocks - first + 1), np.iinfo(np.int64).max)
        centre = 0
        if len(least):
            columns = np.ascontiguousarray(cells.T)
            at_once = max(1, _AT_ONCE // self.blocks)
            for start in range(0, len(self.centres), at_once):
                far = _distances(columns, self.centres[start : start + at_once])
                far.partition(first - 1, axis=1)  # the nearer half need not be in order
                upper = far[:, first - 1 :]
                upper.sort(axis=1)
                nearest = int(np.argmin(upper[:, 0]))
                if upper[nearest, 0] < least[0]:
                    centre = start + nearest
                np.minimum(least, upper.min(axis=0), out=least)
        return centre, [*least.tolist(), self.farthest, self.farthest]

    def release(self, z: NDArray[np.float64], generator: Generator) -> NDArray[np.float64]:
        """The noisy centre of the rows of `z`, shape (blocks, d), within the bounds.

        O(blocks (d + log blocks)) for each candidate.
        """
        vectors(z, self.blocks, len(self.lattices))
        cells = np.stack([g.cells(z[:, i]) for i, g in enumerate(self.lattices)], axis=1)
        centre, r = self.radii(cells)
        most = 2 * max(self.farthest, 1)
        span = smooth_span(lambda t: r[t] + r[t + 1], len(r) - 1, most, self.beta)
        noises = [
            noisy(Cauchy(), int(at), span / self.alpha, 2.0 * most / self.alpha, generator)
            for at in self.centres[centre]
        ]
        return np.array([g.number(x) for g, x in zip(self.lattices, noises, strict=True)])
