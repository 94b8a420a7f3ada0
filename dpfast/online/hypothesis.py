"""A public distribution over a universe that is moved by multiplicative weights.

Weights are kept as logarithms, so that none is lost, however often it is moved; beside them their
exponentials, below a bound of the largest, for the means of queries. It is made of queries and
answers only, so nothing here is secret, and rounding costs accuracy (some 1e-8) but no privacy.
Sums are made block by block and put together in order, so that they are the same for any number of
threads and on every path of `csrc/online/weights.c`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import online as _native
from .threads import spread

#: Elements of a block, of whose sums all others are made.
BLOCK = 1 << 16

Floats = NDArray[np.float64]


class Sums(NamedTuple):
    """Of a query in units of ``2**-bits``.

    Attributes
    ----------
    mean : float
        Its expectation.
    exact : int
        Its sum over counts, which is below ``2**53``.
    odd : bool
        Whether it is no query: some of its numbers are not from 0 to 1.
    """

    mean: float
    exact: int
    odd: bool


def _places(size: int) -> Floats:
    """Three sums of each block."""
    return np.empty((-(-size // BLOCK), 3))


class Hypothesis:
    """Uniform at first."""

    def __init__(self, universe: int) -> None:
        self._log = np.zeros(universe)
        self._part = np.ones(universe, np.float32)
        self._total = float(universe)
        self._top = 0.0

    def sums(self, query: Floats, bits: int, counts: NDArray[np.int32] | None = None) -> Sums:
        """The expectation of a query, and its sum over counts."""
        unit = float(1 << bits)

        def work(begin: int, end: int) -> None:
            _native.compare(self._part, counts, query, unit, begin, end, BLOCK, found)

        found = _places(len(query))
        spread(len(query), work, BLOCK)
        told, exact, odd = (math.fsum(column) for column in found.T)
        return Sums(told / self._total, int(exact), bool(odd))

    def move(self, step: float, query: Floats, bits: int, later: Floats | None = None) -> float:
        """Multiply each weight by ``exp(step * value)``; the expectation of the query that is next.

        It is in units, as in `sums`, and 0 if there is none.
        """
        unit, bound = float(1 << bits), self._top + max(step, 0.0)

        def work(begin: int, end: int) -> None:
            _native.move(
                self._log, self._part, query, unit, step, bound, later, begin, end, BLOCK, found
            )

        found = _places(len(query))
        spread(len(query), work, BLOCK)
        totals, told, tops = found.T
        self._total, self._top = math.fsum(totals), float(tops.max())
        return math.fsum(told) / self._total

    @property
    def distribution(self) -> Floats:
        """Probabilities that add up to 1."""
        return self._part.astype(np.float64) / self._total
