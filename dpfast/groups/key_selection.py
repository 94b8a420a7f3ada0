"""Which private keys to show: a coin for each, more probable the more people have it.

One key a person
----------------
A key that n people have is shown with probability pi(n), pi(0) = 0 and

    pi(n) = min(e^eps pi(n - 1) + delta, 1 - e^-eps (1 - pi(n - 1) - delta), 1),

which is as large as (epsilon, delta) allows: of all rules that look at a key's number of people
alone, none shows any key more often (Desfontaines, Voss, Gipson and Mandayam, PoPETs 2022). The
first limit holds up to some n1, the second from there to n2, and then every key is shown. In closed
form, with s = delta / (e^eps - 1),

    pi(n) = s (e^(n eps) - 1)                                              for n <= n1,
    pi(n1 + m) = 1 + s - e^(-m eps) (1 + s - pi(n1))                       up to 1.

A coin compares 64 bits with the integer part of 2^64 pi(n). One in about 2^64 needs further bits,
and pi(n) to more digits. So no rounding enters a probability.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels.rng import BitStream
from ..noise.distributions.base import context
from ..noise.distributions.exact import Tail

_MOST = (1 << 64) - 1


@dataclass(frozen=True)
class KeyRule:
    """The optimal rule for one key a person; `last` is n1 of the derivation."""

    epsilon: Fraction
    delta: Fraction
    last: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "last", _last(self.epsilon, self.delta))

    def probability(self, people: int, mp: Any) -> Any:
        """Return pi(people), good to a relative 2**(20 - prec)."""
        if people <= 0:
            return mp.zero
        # Where e^eps - 1 is small, or a difference of nearly equal numbers is taken, digits go.
        bits = 64 + self.epsilon.denominator.bit_length() + self.delta.denominator.bit_length()
        with mp.extraprec(bits + people.bit_length()):
            epsilon = mp.mpf(self.epsilon.numerator) / self.epsilon.denominator
            part = mp.mpf(self.delta.numerator) / self.delta.denominator / mp.expm1(epsilon)
            low = part * mp.expm1(min(people, self.last) * epsilon)
            if people <= self.last:
                return min(low, mp.one)
            more = people - self.last
            return min(1 + part - mp.exp(-more * epsilon) * (1 + part - low), mp.one)

    def keep(self, people: NDArray[np.int64], stream: BitStream) -> NDArray[np.bool_]:
        """Flip the coin of each key.

        Parameters
        ----------
        people : int64 array
            How many people have each key.
        stream : BitStream

        Returns
        -------
        bool array
            Which keys to show. Keys that nobody has are not shown.
        """
        counts, which = np.unique(people, return_inverse=True)
        bits = [self.bits(n) for n in counts.tolist()]
        always = np.array([b >> 64 for b in bits], np.bool_)[which]
        least = np.array([b & _MOST for b in bits], np.uint64)[which]
        words = np.frombuffer(stream.take(8 * len(people)), "<u8")
        kept: NDArray[np.bool_] = always | (words < least)
        for i in np.flatnonzero(~always & (words == least)).tolist():
            near = partial(self.probability, int(people[i]))
            kept[i] = Tail(int(words[i]), stream.word).below(near)
        return kept

    def bits(self, people: int) -> int:
        """Return the integer part of 2**64 pi(people)."""
        bits = 64 if people > 0 else 0
        while bits:
            mp = context(bits + 64)
            value = mp.ldexp(self.probability(people, mp), 64)
            error = mp.ldexp(1, 84 - mp.prec)
            low, high = (int(mp.floor(value + side)) for side in (-error, error))
            if low == high or value == mp.ldexp(1, 64):
                return high
            bits *= 2
        return 0


def _last(epsilon: Fraction, delta: Fraction) -> int:
    """Return n1: where the first limit is the lesser one for the last time.

    At equality both say the same, so a wrong choice there would change nothing.
    """
    mp = context(128 + epsilon.denominator.bit_length() + delta.denominator.bit_length())
    e = mp.exp(mp.mpf(epsilon.numerator) / epsilon.denominator)
    d = mp.mpf(delta.numerator) / delta.denominator
    x = mp.log((e + 2 * d - 1) / ((e + 1) * d)) * epsilon.denominator / epsilon.numerator
    return 1 + max(0, int(mp.floor(x)))
