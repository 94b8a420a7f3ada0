"""Draws from the exponential mechanism with one read of the scores: a race of exponential clocks.

``c score + Gumbel`` is minus the logarithm of the first arrival of a Poisson process of rate
``exp(c score)``. So the drawn candidate is the one that arrives first.

Candidates are in blocks. One pass finds how far the best score of each block is below the best of
all. A block is proposed at the rate at which its candidates would arrive if all had the best score
of the block. A proposal is a uniform candidate of the block, and a coin accepts it with probability
``exp(-c (best of the block - score))``. The accepted proposals arrive exactly as in the full race,
without noise for each candidate. Further arrivals are further independent draws. New candidates
arrive in the order of the noisy scores, so the first k different ones are the top k.

Later arrivals do not depend on earlier ones, so the rates may change between two batches of
proposals. A block whose proposals are often rejected is opened: each of its candidates then races
separately and is hardly ever rejected. Candidates that are already among the top k are removed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._kernels.rng import BitStream
from ..noise.choice import Weights
from .scores import PlainScores, Scores

#: With at most this many candidates, each one races separately from the start.
SMALL = 4096
#: The largest and the smallest number of candidates in a block.
LONGEST, SHORTEST = 256, 16
#: The largest number of blocks, because their maxima and bounds are in memory.
BLOCKS = 1 << 22
#: The number of proposals in the first batch, and in the largest batch.
FIRST, LARGEST = 32, 1 << 13
#: How many candidates have their scores read together.
LOOK = 1 << 16
#: New rates are worth their cost after one rejected proposal for so many runs (blocks and
#: candidates).
PATIENCE = 16
#: Blocks are opened until one in `PART` candidates races separately, or `ENOUGH` candidates if that
#: is more.
PART, ENOUGH = 16, 1 << 14


def block_length(count: int, draws: int) -> int:
    """Return the number of candidates in a block, a power of two, from public numbers only.

    If scores differ a lot, each block has one good candidate. Then a draw takes about as many
    proposals as a block has candidates, until the block is opened. By measurement a proposal costs
    about as much as 10 blocks, so the sum of ``count / length`` and ``10 draws length`` should be
    small.
    """
    if count <= SMALL:
        return 1
    length = LONGEST
    while length > SHORTEST and length * length * draws * 10 > count:
        length //= 2
    while length * BLOCKS < count:
        length *= 2
    return length


class Race:
    """Exponential clocks of candidates, whose scores are read here: the first to ring is drawn.

    Parameters
    ----------
    scores : Scores
    c : float
        Candidate j arrives at the rate ``exp(-c distance(j))``.
    draws : int
        About the number of draws, which determines the length of a block.

    Raises
    ------
    ArgumentError
        As for ``scores.peaks``.
    """

    def __init__(self, scores: Scores, c: float, draws: int = 1) -> None:
        self.scores = scores
        self.c = c
        self.block = block_length(scores.count, draws)
        self.peaks = scores.peaks(self.block)
        self._gone = np.empty(0, np.int64)
        self._single = np.empty(0, np.int64)  # candidates that race separately
        self._opened = np.empty(0, np.int64)
        # The runs (blocks or candidates) whose proposals were rejected.
        self._vain: list[NDArray[np.int64]] = []
        self._waste = 0
        self._weigh()

    def draw(self, size: int, stream: BitStream) -> NDArray[np.int64]:
        """Return `size` independent draws from the exponential mechanism."""
        if self.block == 1 and not self.scores.slack:
            return self.weights.draw(size, self.scores.exact, stream)
        out = np.empty(size, np.int64)
        have, proposals = 0, FIRST
        while True:
            arrived = self._arrivals(proposals, stream)[: size - have]
            out[have : have + len(arrived)] = arrived
            have += len(arrived)
            if have == size:
                return out
            proposals = self._next(proposals, len(arrived), size - have)

    def _next(self, proposals: int, arrived: int, wanted: int) -> int:
        """Return the size of the next batch of proposals, and open blocks if this saves time."""
        needed = 32 + 5 * wanted * proposals // (4 * arrived) if arrived else LARGEST
        if min(self._waste, needed) * PATIENCE > max(self._runs, SMALL):
            self._open()
        return min(2 * proposals, needed, LARGEST)

    def _weigh(self) -> None:
        """Set the rates of the runs: of blocks with all their candidates, then of single ones."""
        distance, count = self.peaks, None
        if len(self._single):
            distance = np.concatenate([distance, self.scores.distance(self._single)])
            count = np.ones(len(distance), np.int64)
            count[: len(self.peaks)] = self.block
        self.weights = Weights(distance, self.c, count, self.scores.slack)
        self._runs = len(distance)

    def _arrivals(self, proposals: int, stream: BitStream) -> NDArray[np.int64]:
        """Return the candidates that arrive next, in order: the accepted proposals."""
        runs = self.weights.propose(proposals, stream)
        index = runs
        if self.block > 1:
            index = runs * self.block + _slots(self.block, proposals, stream)
            if len(self._single):
                single = np.flatnonzero(runs >= len(self.peaks))
                index[single] = self._single[runs[single] - len(self.peaks)]
        none = index >= self.scores.count
        if len(self._gone):
            at = np.searchsorted(self._gone, index)
            at[at == len(self._gone)] = 0
            none |= self._gone[at] == index
        distance = self.scores.distance(np.where(none, 0, index))
        distance[none] = -1
        exact = self.scores.exact
        kept = self.weights.keep(
            runs, distance, lambda i: exact(int(index[i])), stream, self.scores.slack
        )
        arrived: NDArray[np.int64] = index[kept]
        if self.block > 1:
            vain = runs[~kept]
            self._waste += len(vain)
            self._vain.append(vain[vain < len(self.peaks)])
        return arrived

    def _open(self) -> None:
        """Open the blocks with the most rejections: their candidates then race separately."""
        vain = np.concatenate(self._vain)
        self._vain, self._waste = [], 0
        blocks, times = np.unique(vain, return_counts=True)
        most = max(self.scores.count // PART, ENOUGH) - len(self._single)
        room = min(most, max(self._runs, SMALL)) // self.block
        if room < 1 or not len(blocks):
            return
        chosen = np.sort(blocks[np.argsort(-times, kind="stable")[:room]])
        index = (chosen[:, None] * self.block + np.arange(self.block)).ravel()
        index = index[index < self.scores.count]
        self.peaks[chosen] = -1
        self._opened = np.concatenate([self._opened, chosen])
        self._single = np.concatenate([self._single, index])
        self._leave()
        self._weigh()

    def _leave(self) -> None:
        """Remove drawn candidates from those that race separately."""
        self._single = self._single[~np.isin(self._single, self._gone)]


class Top(Race):
    """A race that ends after `k` different candidates have arrived; it can be run once."""

    scores: PlainScores

    def __init__(self, scores: PlainScores, c: float, k: int) -> None:
        super().__init__(scores, c, k)
        self.k = k

    def candidates(self) -> int:
        """Count the candidates that are not excluded, up to `k`."""
        blocks = np.flatnonzero(self.peaks >= 0)
        if self.block == 1 or len(blocks) >= self.k:
            return min(len(blocks), self.k)
        allowed, step = 0, max(1, LOOK // self.block)
        for at in range(0, len(blocks), step):
            slots = blocks[at : at + step, None] * self.block + np.arange(self.block)
            index = slots[slots < self.scores.count]
            allowed += int(np.count_nonzero(self.scores.distance(index) >= 0))
            if allowed >= self.k:
                return self.k
        return allowed

    def first(self, stream: BitStream) -> NDArray[np.int64]:
        """Return the first `k` candidates in the order of arrival; at least `k` must be allowed."""
        k = self.k
        order: dict[int, None] = {}
        proposals = FIRST
        while True:
            arrived = self._arrivals(proposals, stream)
            before = len(order)
            order.update(dict.fromkeys(arrived.tolist()))
            if len(order) >= k:
                return np.fromiter(order, np.int64, len(order))[:k]
            if 4 * (len(order) - before) < len(arrived):
                # Most arrivals are repeated ones: remove these candidates, so that the others race
                # without them.
                self._remove(np.fromiter(order, np.int64, len(order)))
            else:
                proposals = self._next(proposals, len(order) - before, k - len(order))

    def _remove(self, gone: NDArray[np.int64]) -> None:
        gone.sort()
        self._gone = gone
        self.peaks = self.scores.without(gone)
        self.peaks[self._opened] = -1
        self._leave()
        self._weigh()


def _slots(block: int, count: int, stream: BitStream) -> NDArray[np.int64]:
    """Draw uniform integers below `block`, a power of two of at most 2**32."""
    words = np.empty(count, "<u4")
    stream.fill(words.view(np.uint8))
    return (words & np.uint32(block - 1)).astype(np.int64)
