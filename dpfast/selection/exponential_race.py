"""Draws from the exponential mechanism for one read of the scores: a race of exponential clocks.

``c score + Gumbel`` is minus the logarithm of the first arrival of a Poisson process of rate
``exp(c score)``, so the winner of the mechanism is the candidate that arrives first.

Candidates are taken in blocks. One pass finds the distance between the best of each block and the
best of all. A block is then proposed at the rate at which its candidates would arrive if each was
as good as the best of them. A proposal names a uniform slot of the block, and a coin keeps it with
probability ``exp(-c (best of the block - score))``. Accepted proposals arrive exactly as in the
full race, and no candidate's noise is ever drawn. Further arrivals are further independent draws.
The order in which new candidates turn up is the order of the noisy scores, so the first k are the
top k.

Later arrivals do not depend on earlier ones, so the rates may change between two batches of
proposals. A block whose proposals are often rejected is opened: each of its candidates then races
separately and is hardly ever rejected. Candidates that are already among the top k are taken away.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._kernels.rng import BitStream
from ..noise.choice import Weights
from .scores import PlainScores, Scores

#: Up to this many candidates, each one races separately from the start.
SMALL = 4096
#: The most and the fewest candidates of a block.
LONGEST, SHORTEST = 256, 16
#: The most blocks: only their maxima and bounds are in memory.
BLOCKS = 1 << 22
#: Proposals in the first batch, and in the largest.
FIRST, LARGEST = 32, 1 << 13
#: Candidates whose scores are read together.
LOOK = 1 << 16
#: New rates pay once one proposal was rejected for every so many runs (blocks and candidates).
PATIENCE = 16
#: Blocks are opened until one in `PART` candidates, or `ENOUGH` of them if that is more, races
#: separately.
PART, ENOUGH = 16, 1 << 14


def block_length(count: int, draws: int) -> int:
    """Return the number of candidates in a block, a power of two, from public numbers only.

    If scores differ a lot, a block has one good candidate, so a draw takes about as many proposals
    as a block has candidates, until the block is opened. As measured, a proposal costs about as
    much as 10 blocks: ``count / length`` and ``10 draws length`` must be small together.
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
    """Exponential clocks over scores, which are read here: the first clock to ring is drawn.

    Parameters
    ----------
    scores : Scores
    c : float
        Candidate j arrives at the rate ``exp(-c distance(j))``.
    draws : int
        The approximate number of draws: it determines the length of a block.

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
        """Return the size of the next batch of proposals, and open blocks if that pays."""
        needed = 32 + 5 * wanted * proposals // (4 * arrived) if arrived else LARGEST
        if min(self._waste, needed) * PATIENCE > max(self._runs, SMALL):
            self._open()
        return min(2 * proposals, needed, LARGEST)

    def _weigh(self) -> None:
        """Set the rates of the runs: blocks with all their slots, then single candidates."""
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
        """Open the blocks that were most often rejected: their candidates race separately."""
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
        """Remove candidates that were drawn already from those that race separately."""
        self._single = self._single[~np.isin(self._single, self._gone)]


class Top(Race):
    """A race until `k` different candidates have arrived, which can be run once."""

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
        """Return the first `k` candidates to arrive, in order; at least `k` must be allowed."""
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
