"""Events that distinguish two distributions of answers: tails, single values, unions of bins.

Candidate events are built from one half of the earlier answers, and ranked by the other half. The
best events are then counted among new answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .answers import Matrix, Statistic, statistics
from .binomial import Claim

#: The number of bins of a statistic. The largest number of repeated values that get a bin each. The
#: largest number of intervals that are compared individually.
BINS, ATOMS, FEW = 64, 1 << 14, 6
#: To rank events, estimated probabilities are lowered or raised by this many standard deviations.
CAREFUL = 4.0

Counts = NDArray[np.float64]


@dataclass(frozen=True)
class Event:
    """An event: a statistic of the answer lies in one of some intervals ``[lo, hi)``."""

    statistic: Statistic
    intervals: Matrix
    #: Whether the event is more probable on the second dataset than on the first.
    swapped: bool

    def count(self, rows: Matrix) -> int:
        """Return the number of answers (rows) in which the event happens."""
        values = self.statistic.of(rows)
        if len(self.intervals) <= FEW:
            inside = np.zeros(len(values), bool)
            for lo, hi in self.intervals:
                if lo == -np.inf:
                    inside |= (values < hi) if hi < np.inf else (values == values)
                elif hi == np.inf:
                    inside |= values >= lo
                else:
                    inside |= (values >= lo) & (values < hi)
            return int(np.count_nonzero(inside))
        index = np.searchsorted(self.intervals.ravel(), values, side="right")
        return int(np.count_nonzero((index % 2 == 1) & (values == values)))

    def __str__(self) -> str:
        if self.statistic.names:
            held = [
                name
                for i, name in enumerate(self.statistic.names)
                if any(lo <= i < hi for lo, hi in self.intervals)
            ]
            return f"{self.statistic.words} is {' or '.join(held[:4]) or 'new'}"
        parts = [_interval(lo, hi) for lo, hi in self.intervals[:3]]
        more = len(self.intervals) - len(parts)
        return f"{self.statistic.words} is {' or '.join(parts)}" + (
            f" or in {more} more intervals" if more else ""
        )


def _interval(lo: float, hi: float) -> str:
    if hi == np.nextafter(lo, np.inf):
        return f"{lo:.17g}"
    if lo == -np.inf:
        return f"below {hi:.6g}"
    return f"at least {lo:.6g}" if hi == np.inf else f"from {lo:.6g} to {hi:.6g}"


@dataclass(frozen=True)
class Score:
    """A score of events: the loss that an event would show in `later` answers."""

    claim: Claim
    later: int

    def __call__(self, likely: Counts, rare: Counts, size: int, later: int) -> Counts:
        """Return the loss that counts of events show, with limits `CAREFUL` deviations away."""
        k, m, z = likely * (later / size), rare * (later / size), CAREFUL
        low = np.fmax(0.0, k + z * z / 2 - z * np.sqrt(k + z * z / 4)) / later
        high = np.fmin(1.0, (m + z * z / 2 + z * np.sqrt(m + z * z / 4)) / later)
        return np.asarray(self.claim.between(low, high))


def choose(
    a: Matrix, b: Matrix, kinds: Sequence[str], most: int, score: Score, support: bool = False
) -> list[Event]:
    """Return the events that best distinguish answers `a` and `b`, at most one per statistic."""
    half = len(a) // 2
    scored = []
    for stat in statistics(a[:half], b[:half], tuple(kinds)):
        if support and not stat.support:
            events = list(_atoms_only(stat, stat.of(a), stat.of(b), half, score))
        else:
            events = list(_events(stat, stat.of(a), stat.of(b), half, score))
        ranked = [(_rank(event, a[half:], b[half:], score), event) for event in events]
        if ranked:
            scored.append(max(ranked, key=lambda pair: pair[0]))
    scored.sort(key=lambda pair: -pair[0])
    return [event for _, event in scored[:most]]


def _rank(event: Event, a: Matrix, b: Matrix, score: Score) -> float:
    k, m = event.count(a), event.count(b)
    likely, rare = (m, k) if event.swapped else (k, m)
    counts = np.array([likely], np.float64), np.array([rare], np.float64)
    return float(score(*counts, len(a), score.later)[0])


def _events(stat: Statistic, x: Matrix, y: Matrix, half: int, score: Score) -> Iterator[Event]:
    """Yield candidate events of a statistic, from the first half of the answers, both ways."""
    first, second = _numbers(x[:half]), _numbers(y[:half])
    pooled = np.concatenate([first, second])
    if not len(pooled):
        return
    cuts = np.unique(np.quantile(pooled, np.linspace(0, 1, BINS + 1), method="nearest"))
    cuts = np.concatenate([cuts, np.nextafter(cuts, np.inf)])
    yield from _of_cuts(stat, first, second, cuts, half, score)
    yield from _atoms_only(stat, x, y, half, score)


def _atoms_only(stat: Statistic, x: Matrix, y: Matrix, half: int, score: Score) -> Iterator[Event]:
    """Yield candidate events of a statistic that are sets of values that occur more than once."""
    first, second = _numbers(x[:half]), _numbers(y[:half])
    values, times = np.unique(np.concatenate([first, second]), return_counts=True)
    again = times > 1
    atoms = values[again][np.argsort(-times[again], kind="stable")[:ATOMS]]
    if len(atoms):
        cuts = np.concatenate([atoms, np.nextafter(atoms, np.inf)])
        yield from _of_cuts(stat, first, second, cuts, half, score, tails=False)


def _numbers(values: Matrix) -> Matrix:
    return values[~np.isnan(values)]


def _of_cuts(
    stat: Statistic,
    first: Matrix,
    second: Matrix,
    cuts: Matrix,
    size: int,
    score: Score,
    tails: bool = True,
) -> Iterator[Event]:
    """Yield the best tails, and the best unions of bins with a large likelihood ratio."""
    cuts = np.unique(cuts[np.isfinite(cuts)])
    counts = [
        np.bincount(np.searchsorted(cuts, v, side="right"), minlength=len(cuts) + 1)
        for v in (first, second)
    ]
    for swapped in (False, True):
        likely, rare = (n.astype(np.float64) for n in (counts[::-1] if swapped else counts))
        order = np.argsort(-(likely + 0.5) / (rare + 0.5), kind="stable")
        orders = [order]
        if tails:
            orders += [np.arange(len(order)), np.arange(len(order))[::-1]]
        for some in orders:
            sums = np.cumsum(likely[some]), np.cumsum(rare[some])
            for later in {size, score.later}:
                best = int(np.argmax(score(*sums, size, later)))
                yield Event(stat, _joined(np.sort(some[: best + 1]), cuts), swapped)


def _joined(bins: NDArray[np.int64], cuts: Matrix) -> Matrix:
    """Return the intervals of bins, with adjacent bins joined."""
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    starts = np.flatnonzero(np.diff(bins, prepend=-2) != 1)
    stops = np.append(starts[1:], len(bins)) - 1
    return np.stack([ends[bins[starts]], ends[bins[stops] + 1]], axis=1)
