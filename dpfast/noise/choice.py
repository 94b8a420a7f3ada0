"""Exact random choices: among weighted runs, by row, and uniform.

A run `b` represents `count[b]` equal candidates at distance ``d[b]`` below the best, and has the
weight ``count[b] exp(-c d[b])``. Runs are drawn by rejection. A run is proposed with a probability
proportional to an integer ``W[b]``, which is at least its weight (integers are added exactly). A
coin of probability weight / W then accepts it. So rounding does not affect the distribution, and W
may be a loose bound. This is the race behind the Gumbel trick: ``-ln`` of the first arrival of a
Poisson process of rate w is ``ln w`` plus a Gumbel variable. Proposals are arrivals, and the coin
thins them to the required rate.

The coin compares an interval of 64 random bits with float64 bounds on the probability
(``csrc/noise/choice.c``). If the two overlap, it is decided here with arbitrary precision and
further bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import noise as _native
from .._kernels.noise import Script
from .._kernels.rng import BitStream
from .distributions.exact import Tail

Exact = Callable[[int], Fraction]
ExactCell = Callable[[int, int], Fraction]
Stream = BitStream | Script


def below(n: int, stream: Stream) -> int:
    """Draw a uniform integer of 0 .. n - 1."""
    if n < 1 << 63:
        return _native.below(n, stream)
    bits = (n - 1).bit_length()
    while True:
        k, have = 0, 0
        while have < bits:
            k, have = k << 64 | stream.word(), have + 64
        k >>= have - bits
        if k < n:
            return k


def slots(limit: NDArray[np.int64], stream: Stream) -> NDArray[np.int64]:
    """Draw independent uniform integers of 0 .. limit[i] - 1."""
    out = np.empty(len(limit), np.int64)
    _native.slots(limit, out, stream)
    return out


def weighted(weights: Sequence[int], draws: int, replace: bool, stream: Stream) -> list[int]:
    """Return indices drawn in exact proportion to integer weights.

    Without replacement, at least as many weights as draws must be above 0.
    """
    left, indices = list(weights), []
    sums = list(accumulate(left))
    for _ in range(draws):
        indices.append(bisect_right(sums, below(sums[-1], stream)))
        if not replace:
            left[indices[-1]] = 0
            sums = list(accumulate(left))
    return indices


def uniform(n: int, size: int, stream: Stream) -> NDArray[np.int64]:
    """Return `size` independent uniform integers of 0 .. n - 1, n below 2**63."""
    out = np.empty(size, np.int64)
    _native.slots(np.array([n]), out, stream)
    return out


def orders(rows: int, n: int, k: int, stream: Stream) -> NDArray[np.int64]:
    """Draw for each row `k` different integers of 0 .. n - 1, all orders equally likely."""
    out = np.empty((rows, n), np.int64)
    _native.orders(out, k, stream)
    return out[:, :k]


def decide(
    word: int,
    c: float,
    distance: Fraction,
    stream: Stream,
    count: int = 1,
    bound: int = 1,
    shift: int = 0,
) -> bool:
    """Return whether U < count exp(-c distance) 2**shift / bound, for uniform U of bits `word`.

    Further bits of U come from `stream`.
    """
    x = Fraction(c) * distance
    # Bits before the binary point of x: an absolute error of x is a relative error of exp(-x).
    extra = (x.numerator // x.denominator).bit_length()

    def probability(mp: Any) -> Any:
        with mp.extraprec(extra):
            power = mp.exp(-mp.mpf(x.numerator) / x.denominator)
        return mp.ldexp(power, shift) * count / bound

    return Tail(word, stream.word).below(probability)


class Weights:
    """An exact sampler of runs of `count` equal candidates, with weights ``count exp(-c d)``.

    Parameters
    ----------
    distance : float64 array, shape (m,)
        The distances of the runs, with errors of at most a relative 2**-50 and an absolute `slack`.
        Exact distances are at least 0. A negative number excludes a run. Infinity means "beyond
        float64".
    c : float
        Positive; it is used without rounding.
    count : int64 array, shape (m,), optional
        At least 1, at most 2**53; 1 if left out.
    slack : float

    Raises
    ------
    ValueError
        If every run is excluded, or if the nearest run has ``c d > 2**30``.

    Notes
    -----
    Cost: about 1 ns and 8 bytes a run. The arrays are kept, not copied.
    """

    def __init__(
        self,
        distance: NDArray[np.float64],
        c: float,
        count: NDArray[np.int64] | None = None,
        slack: float = 0.0,
    ) -> None:
        self.c = c
        self.count = count
        self.distance = distance
        self._runs = _native.Runs(distance, c, count, slack)

    @property
    def bound(self) -> NDArray[np.uint64]:
        """The bound ``W`` of each run's weight: at least ``count exp(-c d) 2**shift``."""
        total = np.empty(len(self.distance), np.uint64)
        self._runs.total(total)
        return np.diff(total, prepend=np.uint64(0))

    @property
    def shift(self) -> int:
        return self._runs.shift

    def propose(self, k: int, stream: Stream) -> NDArray[np.int64]:
        """Draw `k` independent runs with probability proportional to their bounds."""
        out = np.empty(k, np.int64)
        self._runs.propose(out, stream)
        return out

    def _settle(self, word: int, run: int, distance: Fraction, stream: Stream) -> bool:
        count = 1 if self.count is None else int(self.count[run])
        bound = self._runs.bound(run)
        return decide(word, self.c, distance, stream, count, bound, self._runs.shift)

    def keep(
        self,
        runs: NDArray[np.int64],
        distance: NDArray[np.float64],
        exact: Exact,
        stream: Stream,
        slack: float = 0.0,
    ) -> NDArray[np.bool_]:
        """Return which proposed runs are kept, each with probability ``count exp(-c d) / W``.

        `distance` has the form of the constructor's argument. It is the distance of the run, or of
        a candidate that the caller has chosen in the run, which is at least as large. A run of
        negative distance is never kept. ``exact(i)`` is the exact number that ``distance[i]``
        approximates.
        """
        kept = np.empty(len(runs), np.uint8)
        at = 0
        while True:
            at, word = self._runs.keep(runs, distance, slack, kept, at, stream)
            if at == len(kept):
                return kept.view(np.bool_)
            kept[at] = self._settle(word, int(runs[at]), exact(at), stream)
            at += 1

    def draw(self, size: int, exact: Exact, stream: Stream) -> NDArray[np.int64]:
        """Draw `size` independent runs, exactly; ``exact(b)`` is the distance of run b."""
        out = np.empty(size, np.int64)
        at = 0
        while True:
            at, word = self._runs.draw(out, at, stream)
            if at == size:
                return out
            run = int(out[at])
            at += self._settle(word, run, exact(run), stream)


def rows(
    values: NDArray[np.float64],
    best: NDArray[np.float64],
    c: float,
    exact: ExactCell,
    stream: Stream,
    slack: float = 0.0,
    draws: int | None = None,
) -> NDArray[np.int64]:
    """Draw a column in each row with probability proportional to ``exp(-c (best - value))``.

    Parameters
    ----------
    values : float64 array, shape (r, n), C-contiguous
        Scores that are neither NaN nor plus infinity, in fewer than 2**20 columns. Minus infinity
        excludes a candidate, but at least one of each row must remain.
    best : float64 array, shape (r,)
        The greatest score of each row.
    c : float
    exact : callable
        ``exact(row, column)`` is the exact distance below the best score of the row. The float64
        difference approximates it, as in `Weights`.
    stream : BitStream
    slack : float
    draws : int, optional
        Independent draws from each row.

    Returns
    -------
    int64 array, shape (r,), or (r, draws) if `draws` is given

    Raises
    ------
    ValueError
        If all candidates of a row are excluded.
    """
    scratch = np.empty(values.shape[1], np.uint64)
    per_row = 1 if draws is None else draws
    out = np.empty((len(values), per_row), np.int64)
    flat = out.reshape(-1)
    at = 0
    while True:
        at, bound, word = _native.rows(values, best, c, slack, scratch, out, at, stream)
        if at == len(flat):
            return flat if draws is None else out
        distance = exact(at // per_row, int(flat[at]))
        at += decide(word, c, distance, stream, bound=bound, shift=_native.ROWS_SHIFT)


def subset_rows(
    values: NDArray[np.float64],
    best: NDArray[np.float64],
    c: float,
    exact: ExactCell,
    stream: Stream,
) -> NDArray[np.int64]:
    """Draw a column in each row by permute-and-flip.

    A coin of probability ``exp(-c (best - value))`` is flipped for each column. One of the columns
    with heads is drawn uniformly; the best column always has heads. The parameters are as for
    `rows`, without slack.

    Returns
    -------
    int64 array, shape (r,)
    """
    n = values.shape[1]
    drawn, heads = np.empty(n, np.uint64), np.empty(n, np.uint8)
    out = np.empty(len(values), np.int64)
    row = _native.subset(values, best, c, drawn, heads, False, out, 0, stream)
    while row < len(out):
        for j in np.flatnonzero(heads == _native.OPEN).tolist():
            heads[j] = decide(int(drawn[j]), c, exact(row, j), stream)
        row = _native.subset(values, best, c, drawn, heads, True, out, row, stream)
    return out
