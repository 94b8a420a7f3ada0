"""Partition selection: draw whether each private key is shown, by its number of people.

A key of n people is shown with probability pi(n). For this, 64 random bits are compared with the
integer part of 2^64 pi(n). About one comparison in 2^64 is undecided, and then needs further bits
and more digits of pi(n). So no probability is rounded.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.rng import BitStream
from ..noise.distributions.base import context
from ..noise.distributions.exact import Tail
from ..privacy import Approx

_LEAST = (1 << 64) - 1
# If pi(n) is constant from at most this n on, counting the keys of each n is faster than sorting.
_COUNTED = 1 << 20


class PartitionSelection(ABC):
    """Base of partition selection rules: pi(n) is the probability that a key of n people is shown.

    Attributes
    ----------
    loss : Approx
        The loss of all keys together.
    most : int
        From this number of people on, pi does not change.
    after : PartitionSelection or None
        The rule of the next round, if there is one.
    """

    loss: Approx
    most: int
    after: PartitionSelection | None = None

    @abstractmethod
    def precise(self, people: int, mp: Any) -> Any:
        """Return pi(people), people <= most, with a relative error of at most 2**(20 - prec)."""

    def bits(self, people: Sequence[int]) -> list[int]:
        """Return the integer part of 2**64 pi(n) for each n in `people`; no n is above `most`."""
        return [self._whole(n) for n in people]

    def _whole(self, people: int) -> int:
        bits = 64 if people > 0 else 0
        while bits:
            mp = context(bits + 64)
            value = mp.ldexp(self.precise(people, mp), 64)
            error = mp.ldexp(1, 84 - mp.prec)
            low, high = (int(mp.floor(value + side)) for side in (-error, error))
            if low == high or value == mp.ldexp(1, 64):
                return high
            bits *= 2
        return 0

    def probability(self, people: int) -> float:
        """Return pi(people), the probability that a key of so many people is shown, as a float."""
        return float(self.precise(min(people, self.most), context(100)))

    @property
    def half(self) -> int:
        """The least number of people for which a key is shown with probability 1/2 or more."""
        low, high = 0, 1
        while high < self.most and self.probability(high) < 0.5:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.probability(middle) >= 0.5 else (middle, high)
        return high

    def keep(self, people: NDArray[np.int64], stream: BitStream) -> NDArray[np.bool_]:
        """Draw for each key whether it is shown.

        Parameters
        ----------
        people : int64 array
            The number of people of each key.
        stream : BitStream

        Returns
        -------
        bool array
            Which keys are shown. A key of no people is never shown.
        """
        present, which = self._distinct(people)
        bits = self.bits(present.tolist())
        always = np.array([b >> 64 for b in bits], np.bool_)[which]
        least = np.array([b & _LEAST for b in bits], np.uint64)[which]
        words = np.frombuffer(stream.take(8 * len(people)), "<u8")
        kept: NDArray[np.bool_] = always | (words < least)
        for i in np.flatnonzero(~always & (words == least)).tolist():
            near = partial(self.precise, int(min(people[i], self.most)))
            kept[i] = Tail(int(words[i]), stream.word).below(near)
        return kept

    def keep_one(self, people: int, stream: BitStream) -> bool:
        """Draw whether one key of `people` persons is shown; faster than `keep`."""
        capped = min(people, self.most)
        (bits,) = self.bits([capped])
        if bits >> 64:
            return True
        word = stream.word()
        if word != bits:
            return word < bits
        return Tail(word, stream.word).below(partial(self.precise, capped))

    def _distinct(self, people: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct values of `people`, capped at `most`, and each key's index."""
        capped = np.minimum(people, min(self.most, 1 << 62))
        if self.most > _COUNTED:
            present, which = np.unique(capped, return_inverse=True)
            return present, which
        occurs = np.bincount(capped) > 0
        return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[capped]
