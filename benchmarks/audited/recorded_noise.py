"""Records of what is random in a release: the exact numbers that noise is added to, and the draws.

A release runs twice. The first run notes each noise, the exact integers that it hides, and the
noisy ones. The second run, on a neighbor, gets the noisy numbers of the first. So both runs have to
answer the same: an answer that reads rows beside the noise is seen. What the answers cost is what
the differences of the exact numbers cost (`costs`).
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

from dpfast.groups import ranks as group_ranks
from dpfast.measurement import outer_bounds
from dpfast.noise import samplers
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.shared import SharedNoise
from dpfast.noise.stairs import JointStaircase
from dpfast.noise.wishart import MatrixNoise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.quantiles import exponential, joint, recursive
from dpfast.statistics.quantiles.draws import FARTHEST, PARTS, RANK, End
from dpfast.statistics.quantiles.draws import inside as target_inside


class UnseenError(Exception):
    """Noise is used in a way that cannot be recorded."""


@dataclass(frozen=True)
class Turn:
    """One use of noise: its distribution, the exact numbers that it hides, and the noisy ones."""

    noise: Any
    exact: Any
    noisy: Any


class Recorder:
    """The turns of a run; of the second run also those of the first, and how many were used."""

    def __init__(self, first: list[Turn] | None, seed: int) -> None:
        self.turns: list[Turn] = []
        self.first = first
        self.generator = InsecureGenerator(seed)
        self.inner = 0

    def note(self, noise: Any, exact: Any, draw: Any) -> Any:
        """Note a turn, and return its noisy numbers: those of the first run, or drawn ones."""
        at = len(self.turns)
        if self.first is None:
            with self.inside():
                noisy = draw(self.generator)
        elif at < len(self.first):
            noisy = self.first[at].noisy
        else:
            raise UnseenError("the second run has more noise than the first")
        self.turns.append(Turn(noise, exact, noisy))
        return noisy

    @contextmanager
    def inside(self):
        """Leave noise that other noise is made of as it is."""
        self.inner += 1
        try:
            yield
        finally:
            self.inner -= 1


class Drawn(np.ndarray):
    """Noise that was drawn before it is added: the sum shows what it is added to."""

    recorder: Recorder
    noise: Any

    def __array_finalize__(self, made: Any) -> None:
        self.recorder, self.noise = getattr(made, "recorder", None), getattr(made, "noise", None)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **more: Any):
        if ufunc is not np.add or method != "__call__" or len(inputs) != 2:
            raise UnseenError(f"noise is not added, but goes to {ufunc.__name__}")
        (noise,) = (x for x in inputs if isinstance(x, Drawn))
        (exact,) = (np.array(x) for x in inputs if not isinstance(x, Drawn))
        noisy = self.recorder.note(noise.noise, exact, lambda _: exact + noise.view(np.ndarray))
        if not out or isinstance(out[0], Drawn):
            return np.array(noisy)
        out[0][...] = noisy
        return out[0]


def drawn(recorder: Recorder, noise: Any, real: Any) -> Drawn:
    """Noise of an array, before it is added."""
    if recorder.first is None:
        with recorder.inside():
            found = real(recorder.generator)
    else:
        with recorder.inside():
            found = real(InsecureGenerator(0))
    found = np.asarray(found).view(Drawn)
    found.recorder, found.noise = recorder, noise
    return found


#: The fractions of a cell at which a draw that divides it is looked at.
FRACTIONS = (np.arange(32) + 0.5) / 32


@dataclass(frozen=True)
class Positions:
    """How far the cells of a node are from the target: ranges of cells, at fractions of a cell."""

    starts: np.ndarray
    distances: np.ndarray
    last: int
    base: Any

    @property
    def mark(self) -> tuple[bytes, bytes]:
        """The positions as bytes, which are the same for the same positions."""
        return self.starts.tobytes(), self.distances.tobytes()


def positions(cells, base, ends, params, target, divides=False):
    """The distances of all cells of a node from a target rank, as `exponential` defines them."""
    low, high = ends
    cells = np.sort(np.clip(np.asarray(cells, np.int64), base.first, base.last))
    within = cells[(cells > low.cell) & (cells < high.cell)]
    marks, counts = np.unique(within, return_counts=True)
    rank = int(np.count_nonzero(cells <= low.cell))
    at_low, at_high = (int(np.count_nonzero(cells == end.cell)) for end in ends)
    found = [(low.cell, rank - at_low + at_low * low.part / PARTS, float(rank))]
    gaps = [low.cell, *marks.tolist(), high.cell]
    for i, (a, b) in enumerate(itertools.pairwise(gaps)):
        width = min(params.share * (b - a) >> 20, (b - a - 1) // 2)
        for start, stop, move in (
            (a + 1, a + 1 + width, -0.5),
            (a + 1 + width, b - width, 0.0),
            (b - width, b, 0.5),
        ):
            if start < stop:
                found.append((start, rank + move, rank + move))
        if i < len(marks):
            k = int(counts[i])
            lacking = 0 if divides else min(params.ties, k - 1)
            first, last = (q * lacking // (PARTS // 2) / 2 for q in sides_of(params))
            found.append((b, rank + 0.5 + first, rank + k - 0.5 - last))
            rank += k
    found.append((high.cell, float(rank), rank + at_high * high.part / PARTS))
    starts, lows, highs = (np.array(x) for x in zip(*found, strict=True))
    goal = target / RANK
    if divides:
        places = lows[:, None] + (highs - lows)[:, None] * FRACTIONS
        distances = np.abs(places - goal)
    else:
        distances = np.maximum(0.0, np.maximum(lows - goal, goal - highs))[:, None]
    return Positions(starts.astype(np.int64), distances, high.cell, base)


def sides_of(params):
    """The quantile of a draw and what it lacks of 1, in parts."""
    return params.fraction, PARTS - params.fraction


@dataclass(frozen=True)
class Pairs:
    """Minus the logarithms of the weights of lower bounds, and of upper ones above them."""

    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True)
class Tuples:
    """A draw of two quantiles at once: runs of cells with one rank, and what is asked of them."""

    starts: np.ndarray
    ranks: np.ndarray
    last: int
    n: int
    qs: tuple[Any, ...]
    rate: float

    def distances(self, starts):
        """How many rows are in the wrong one of three parts, of each pair of runs."""
        first = self.ranks[np.searchsorted(self.starts, starts, "right") - 1]
        below, above = first[:, None], first[None, :]
        a, b = (float(q) * self.n for q in self.qs)
        return abs(below - a) + abs(above - below - (b - a)) + abs(above - b)


@dataclass(frozen=True)
class RankDraw:
    """A draw of a cell by its rank: the rate, and whether it is by permute-and-flip."""

    rate: float
    flips: bool = False


@dataclass(frozen=True)
class Choice:
    """A draw of one of several answers, of which minus the logarithms of the weights are known."""


@contextmanager
def recording(first: list[Turn] | None = None, seed: int = 1):
    """Record all noise and all draws by rank that run within."""
    recorder = Recorder(first, seed)
    add, draw, shared = IntegerNoise.add, IntegerNoise.draw, SharedNoise.draw
    in_box, draws, matrix = BoxNoise._add_joint, JointStaircase.draws, MatrixNoise.add
    summary_of, tuple_of, asked = joint.summary, joint.draw, {}
    bounds, choose = outer_bounds.draw, outer_bounds.Draw.draw
    rank, group, real = exponential.draw, group_ranks.draw_quantiles, samplers.draw

    def recorded_add(noise, values, generator):
        if recorder.inner or not noise.scale:
            return add(noise, values, generator)
        exact = np.array([value >> noise.shift for value in values], object)
        return list(recorder.note(noise, exact, lambda rng: add(noise, values, rng)))

    def recorded_draw(noise, size, generator):
        if recorder.inner or not noise.scale:
            return draw(noise, size, generator)
        return drawn(recorder, noise, lambda rng: draw(noise, size, rng))

    def recorded_shared(noise, size, generator):
        return drawn(recorder, noise, lambda rng: shared(noise, size, rng))

    def recorded_joint(noise, values, generator):
        exact = np.array(values, object)
        return list(recorder.note(noise, exact, lambda rng: in_box(noise, values, rng)))

    def recorded_draws(noise, size, generator):
        return drawn(recorder, noise, lambda rng: draws(noise, size, rng))

    def recorded_matrix(noise, values, generator):
        exact = np.array([value >> noise.shift for value in values], object)
        return list(recorder.note(noise, exact, lambda rng: matrix(noise, values, rng)))

    def recorded_real(distribution, *, value, scale, granularity, generator):
        if recorder.inner:
            return real(distribution, value=value, scale=scale, granularity=granularity,
                generator=generator)  # fmt: skip
        given = {"value": value, "scale": scale, "granularity": granularity}
        exact = value, scale
        return recorder.note(
            distribution, exact, lambda g: real(distribution, **given, generator=g)
        )

    def recorded_rank(column, ends, params, n, stream, *, divides=False, target=None, **more):
        low, high = ends
        given = {"divides": divides, "target": target, **more}
        if low.cell == high.cell:
            return rank(column, ends, params, n, stream, **given)
        goal = params.target(low, high) if target is None else target
        cells = column.look(lambda n: min(1, n), FARTHEST).values
        exact = positions(cells, column.base, ends, params, goal, divides)
        noise = RankDraw(params.rate, more.get("flips", False))
        end = recorder.note(
            noise, exact, lambda rng: rank(column, ends, params, n, rng.stream(), **given)
        )
        if divides and recorder.first is not None:  # the cell and its part, of other rows
            end = End(end.cell, *column.counts(end.cell, n), end.part)
        return end

    def recorded_group(rows, offsets, target, base, reach, stream, inside=0, others=None):
        given = rows, offsets, target, base, reach
        if base.first == base.last:
            return group(*given, stream, inside, others)
        exact = []
        for i, (start, stop) in enumerate(itertools.pairwise(offsets)):
            of_group = rows[start:stop] if others is None else others.whole(i)
            cells = np.asarray(of_group, np.int64) + base.first
            n = len(cells)
            ends = End(base.first, 0, -1, 0), End(base.last, -1, n, PARTS)
            goal = target.target(*ends)
            if inside:
                goal = target_inside(inside, n, target.fraction > 0)
            exact.append(positions(cells, base, ends, target, goal))
        noise = RankDraw(target.rate)
        return recorder.note(noise, exact, lambda rng: group(*given, rng.stream(), inside, others))

    def recorded_pair(summary, share, c, stream, size=0, prior=outer_bounds.PRIOR):
        lower, upper = outer_bounds.sides(summary, share, c, prior)
        exact = Pairs(lower.about, upper.about)
        return recorder.note(
            Choice(), exact, lambda rng: bounds(summary, share, c, rng.stream(), size, prior)
        )

    def recorded_choice(chosen, size, stream):
        if recorder.inner:
            return choose(chosen, size, stream)
        return recorder.note(
            Choice(), chosen.distance, lambda rng: choose(chosen, size, rng.stream())
        )

    def recorded_summary(rows, ends, qs, c):
        found = summary_of(rows, ends, qs, c)
        public = ends[1], len(rows), qs, c
        asked[id(found)] = found, Tuples(found.first, np.asarray(found.at), *public)
        return found

    def recorded_tuple(summary, m, stream):
        if m != 2:
            return tuple_of(summary, m, stream)
        _, exact = asked[id(summary)]
        return recorder.note(Choice(), exact, lambda rng: tuple_of(summary, m, rng.stream()))

    with ExitStack() as stack:
        for home, name, new in (
            (IntegerNoise, "add", recorded_add),
            (IntegerNoise, "draw", recorded_draw),
            (SharedNoise, "draw", recorded_shared),
            (BoxNoise, "_add_joint", recorded_joint),
            (JointStaircase, "draws", recorded_draws),
            (MatrixNoise, "add", recorded_matrix),
            (exponential, "draw", recorded_rank),
            (recursive, "draw", recorded_rank),
            (group_ranks, "draw_quantiles", recorded_group),
            (samplers, "draw", recorded_real),
            (joint, "summary", recorded_summary),
            (joint, "draw", recorded_tuple),
            (outer_bounds, "draw", recorded_pair),
            (outer_bounds.Draw, "draw", recorded_choice),
        ):
            stack.enter_context(patch.object(home, name, new))
        yield recorder
