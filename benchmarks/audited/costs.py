"""What a pair of neighbors loses by noise whose exact numbers are known, in epsilon or rho.

Independent noise adds up: for epsilon the logarithms of the largest ratios of probabilities, for
rho the Renyi divergences, for epsilon with delta the squares of Gaussian shifts.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

import dpfast as dp
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.distributions.base import context
from dpfast.noise.shared import SharedNoise
from dpfast.noise.stairs import JointStaircase
from dpfast.noise.wishart import MatrixNoise

from .recorded_noise import Choice, Pairs, Positions, RankDraw, Tuples

#: The orders at which Renyi divergences are added.
ORDERS = np.r_[1 + np.geomspace(1e-3, 1, 8), np.geomspace(2.4, 200, 12)]
#: The cells to which a long distribution is scaled.
FINE = 64


class Loss:
    """What the turns of a pair lose together."""

    def __init__(self, by_rho):
        self.by_rho = by_rho  # whether Renyi divergences are asked for
        self.pure, self.squares = 0.0, 0.0
        self.renyi = np.zeros(len(ORDERS))

    def shift(self, distance):
        """A Gaussian number moves by so many deviations."""
        self.squares += distance**2

    def law(self, p, q, pure=None):
        """An answer has one of two distributions on the same values."""
        with np.errstate(all="ignore"):
            seen = (p > 1e-250) & (q > 1e-250)
            ratio = np.log(p[seen]) - np.log(q[seen])
        self.pure += float(np.abs(ratio).max(initial=0.0)) if pure is None else pure
        if not self.by_rho:
            return
        both = [divergences(p[seen], q[seen], ratio), divergences(q[seen], p[seen], -ratio)]
        self.renyi += max(both, key=lambda one: float((one / ORDERS).max()))

    def amount(self, claim):
        """The loss in the units of a claim: rho, or epsilon at its delta."""
        if "rho" in claim:
            return self.squares / 2 + float((self.renyi / ORDERS).max())
        if not self.squares:
            return self.pure
        return self.pure + gaussian_epsilon(math.sqrt(self.squares), float(claim.get("delta", 0)))


def divergences(p, q, ratio):
    """The Renyi divergences of p from q at all orders."""
    more = ORDERS[:, None] - 1
    return special.logsumexp(more * ratio + np.log(p), axis=1) / more[:, 0]


def gaussian_epsilon(distance, delta):
    """The epsilon of a Gaussian number that moves by so many deviations (Balle and Wang, 2018)."""
    if not delta:
        return math.inf

    def over(epsilon):
        a, b = distance / 2 - epsilon / distance, -distance / 2 - epsilon / distance
        return math.exp(special.log_ndtr(a)) - math.exp(epsilon + special.log_ndtr(b)) - delta

    low, high = 0.0, 1.0
    while over(high) > 0:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if over(middle) > 0 else (low, middle)
    return low


def add(loss, noise, before, after):
    """Add what the turn of a noise loses."""
    if isinstance(noise, RankDraw):
        pairs = (
            [(before, after)] if isinstance(before, Positions) else zip(before, after, strict=True)
        )
        for one, other in pairs:
            rank(loss, noise, one, other)
    elif isinstance(noise, Choice):
        choice(loss, before, after)
    elif isinstance(noise, IntegerNoise):
        integers(loss, noise, np.ravel(difference(before, after)))
    elif isinstance(noise, BoxNoise):
        joint = [noise.sensitivities[i] for i in noise._joint]
        if noise.staircase is not None:
            stairs(loss, noise.staircase, difference(before, after)[:, None])
        else:
            sizes = np.abs(difference(before, after)) / np.array(joint, np.float64)
            box(loss, float(noise.epsilon) * float(sizes.max(initial=0.0)))
    elif isinstance(noise, JointStaircase):
        stairs(loss, noise, difference(before, after))
    elif isinstance(noise, SharedNoise):
        shared(loss, noise, np.ravel(difference(before, after)))
    elif isinstance(noise, MatrixNoise):
        matrix(loss, noise, difference(before, after))
    else:
        real(loss, noise, before, after)


def difference(before, after):
    """The differences of exact integers of any size."""
    return np.asarray(np.asarray(after, object) - np.asarray(before, object), np.float64)


def integers(loss, noise, moved):
    scale = float(noise.scale)
    for size, many in zip(*np.unique(np.abs(moved[moved != 0]), return_counts=True), strict=True):
        if noise.distribution in ("gaussian", "rounded-gaussian"):
            loss.squares += many * (size / scale) ** 2
            continue
        of_one = alone(noise.distribution, noise.staircase, scale, size, loss.by_rho)
        loss.pure += many * of_one.pure
        loss.renyi += many * of_one.renyi


@lru_cache(maxsize=4096)
def alone(distribution, stairs, scale, size, by_rho):
    """What one integer loses that moves by so much."""
    found = Loss(by_rho)
    if distribution == "laplace":
        if by_rho:
            found.law(*laplace(scale, size))
        found.pure = size / scale
    else:
        if by_rho:
            found.law(*staircase(stairs, size))
        found.pure = stairs.epsilon * math.ceil(size / stairs.step)
    return found


def laplace(scale, size):
    """Two discrete Laplace distributions; for a large scale cells of it."""
    unit = max(1.0, scale / FINE)
    rate, move = unit / scale, round(size / unit)
    most = math.ceil(45 / rate) + move
    z = np.arange(-most, most + 1.0)
    p, q = np.exp(-rate * np.abs(z)), np.exp(-rate * np.abs(z - move))
    return p / p.sum(), q / q.sum()


def staircase(noise, size):
    """Two staircase distributions; for a long stair cells of it."""
    unit = max(1.0, noise.step / FINE)
    step, core, move = (round(x / unit) for x in (noise.step, noise.core, size))
    most = core + step * math.ceil(45 / noise.epsilon) + move
    z = np.arange(-most, most + 1)

    def law(z):
        stair = np.maximum(0, -((core - np.abs(z)) // step))
        found = np.exp(-noise.epsilon * stair)
        return found / found.sum()

    return law(z), law(z - move)


def stairs(loss, noise, moved):
    """Joint staircases: the numbers of each column have one stair."""
    steps, cores = (np.array(x, np.float64)[:, None] for x in (noise.steps, noise.cores))
    crossed = np.ceil(np.abs(moved) / steps).max(axis=0)
    for column in np.flatnonzero(crossed):
        loss.pure += noise.epsilon * float(crossed[column])
        # The chance of each level, and of the boxes of either neighbor that overlap.
        if loss.by_rho:
            loss.renyi += boxes(noise, np.abs(moved[:, column]), steps[:, 0], cores[:, 0])


def boxes(noise, moved, steps, cores):
    """The Renyi divergences of uniform boxes, of all pairs of levels of the two neighbors."""
    levels = np.arange(math.ceil(45 / noise.epsilon) + 8)
    sides = cores + levels[:, None] * steps
    a, b = sides[:, None, :], sides[None, :, :]
    high, low = np.minimum(a, moved + b), np.maximum(-a, moved - b)
    within = np.maximum(0.0, high - low + 1).prod(axis=2)  # in both boxes, for each pair of levels
    ring = within - np.pad(within, ((1, 0), (0, 0)))[:-1]
    ring = ring - np.pad(ring, ((0, 0), (1, 0)))[:, :-1]
    whole = (2 * sides + 1).prod(axis=1)
    total = (np.exp(-noise.epsilon * levels) * np.diff(whole, prepend=0.0)).sum()
    keep = ring > 0
    log_p = np.broadcast_to(-noise.epsilon * levels[:, None], ring.shape)[keep] - math.log(total)
    log_q = np.broadcast_to(-noise.epsilon * levels[None, :], ring.shape)[keep] - math.log(total)
    more = ORDERS[:, None] - 1
    return (
        special.logsumexp(ORDERS[:, None] * log_p - more * log_q, b=ring[keep], axis=1) / more[:, 0]
    )


def box(loss, size):
    """The norm of a box: as Laplace noise of one number, whose sensitivity is many cells."""
    if size:
        loss.pure += size
        loss.renyi += alone(
            "laplace", None, 1.0 * FINE, float(round(size * FINE)), loss.by_rho
        ).renyi


def shared(loss, noise, moved):
    """Gaussian noise of each group, and some that all groups share."""
    alone, group = noise.parts.independent
    own = (float(group.scale) / noise.unit) ** 2
    common = (noise.times * float(alone.scale) / noise.unit) ** 2
    inverse = moved / own - common / (own * (own + len(moved) * common)) * moved.sum()
    loss.squares += float(moved @ inverse)


def matrix(loss, noise, moved):
    """The nuclear norm of a symmetric matrix, over the scale."""
    d = noise.size
    change = np.diag(moved[:d])
    change[np.triu_indices(d, 1)] = moved[d:]
    change = change + change.T - np.diag(np.diag(change))
    loss.pure += float(np.abs(np.linalg.eigvalsh(change)).sum() / noise.scale)


def rank(loss, noise, before, after):
    """A draw by rank: what all cells weigh, on ranges of cells."""
    if before.mark == after.mark:
        return
    starts = np.union1d(before.starts, after.starts)
    stops = np.append(starts[1:], before.last + 1) - 1
    with np.errstate(divide="ignore"):
        weights = np.log(before.base.mass(starts, stops).astype(np.float64))[:, None]
    laws = []
    if noise.flips:
        cells = np.arange(starts[0], before.last + 1)
        for one in (before, after):
            scores = -one.distances[np.searchsorted(one.starts, cells, "right") - 1, 0]
            given = {"sensitivity": 1, "epsilon": 2 * noise.rate, "mechanism": "permute-and-flip"}
            laws.append(dp.selection.probabilities(scores, **given))
        loss.law(*laws)
        return
    for one in (before, after):
        at = np.searchsorted(one.starts, starts, "right") - 1
        laws.append(special.softmax(weights - noise.rate * one.distances[at]).ravel())
    loss.law(*laws)


def choice(loss, before, after):
    """A draw of one of several answers, or of a pair of bounds."""
    if isinstance(before, Pairs):
        of_pairs(loss, before, after)
        return
    if isinstance(before, Tuples):
        of_tuples(loss, before, after)
        return
    loss.law(*(special.softmax(np.where(one < 0, -np.inf, -one)) for one in (before, after)))


def of_pairs(loss, before, after):
    """A lower bound and an upper one above it, which weigh the product of what each weighs."""
    low, high = after.lower - before.lower, after.upper - before.upper
    more = whole(-after.lower, -after.upper) - whole(-before.lower, -before.upper)
    ends = [(pick.accumulate(low)[:-1] + high[1:] + more) for pick in (np.maximum, np.minimum)]
    loss.pure += float(max(ends[0].max(), -ends[1].min()))
    if loss.by_rho:
        few, found = slice(None, None, 4), []
        for p, q in ((before, after), (after, before)):
            log = [
                whole(-a * p.lower + (a - 1) * q.lower, -a * p.upper + (a - 1) * q.upper)
                - a * whole(-p.lower, -p.upper)
                + (a - 1) * whole(-q.lower, -q.upper)
                for a in ORDERS[few].tolist()
            ]
            found.append(np.full(len(ORDERS), -np.inf))  # what other orders show is left out
            found[-1][few] = np.array(log) / (ORDERS[few] - 1)
        loss.renyi += max(found, key=lambda one: float((one / ORDERS).max()))


def of_tuples(loss, before, after):
    """Two cells at once, the second not below the first."""
    starts = np.union1d(before.starts, after.starts)
    cells = np.diff(np.append(starts, before.last + 1)).astype(np.float64)
    many = np.triu(np.outer(cells, cells), 1) + np.diag(cells * (cells + 1) / 2)
    with np.errstate(divide="ignore"):
        weights = np.log(many)
    laws = (special.softmax(weights - x.rate * x.distances(starts)) for x in (before, after))
    loss.law(*map(np.ravel, laws))


def whole(lower, upper):
    """The logarithm of the sum of the products of weights, of each lower with all above it."""
    return special.logsumexp(np.logaddexp.accumulate(lower)[:-1] + upper[1:])


def real(loss, distribution, before, after):
    """A number with noise that is scaled to the data."""
    (value, scale), (other, scale2) = before, after
    if before == after:
        return
    near = np.sinh(np.linspace(-36, 36, 1601)) * 1e-3
    x = np.unique(np.concatenate([value + scale * near, other + scale2 * near]))
    width = np.gradient(x)
    logs = [density(distribution, (x - v) / s) - math.log(s) for v, s in ((value, scale), after)]
    laws = [special.softmax(one + np.log(width)) for one in logs]
    loss.law(*laws, float(np.abs(logs[0] - logs[1]).max()))


def density(distribution, z):
    """The logarithm of a density, between points that are close to each other."""
    points, known = table(distribution)
    return np.interp(np.log1p(np.abs(z) * 1e3), points, known)


@lru_cache(maxsize=64)
def table(distribution):
    mp = context(128)
    points = np.linspace(0, 40, 4001)
    found = [mp.log(distribution.density(mp, mp.mpf(float(z)) / 1000)) for z in np.expm1(points)]
    return points, np.array([float(one) for one in found])
