"""A public distribution over a universe, updated by multiplicative weights; synthetic rows.

Weights are stored as logarithms, so that no update loses accuracy. To compute means of queries,
their exponentials, divided by a bound of the largest, are stored too. The distribution depends on
queries and answers alone, so nothing here is secret, and rounding costs accuracy (some 1e-8) but no
privacy. Sums are computed for each block and added in order. So they are the same for any number of
threads, and on every path of `csrc/online/weights.c`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import online as _native
from .queries import MOST_ROWS, Universe, spread

#: Elements of a block. Sums are computed for each block, and then added up.
BLOCK = 1 << 16

Floats = NDArray[np.float64]


class Sums(NamedTuple):
    """The mean of a query under a distribution, and its sum over counts, in units of ``2**-bits``.

    Attributes
    ----------
    mean : float
        The mean of the query under the distribution.
    exact : int
        The sum over counts, below ``2**53``.
    invalid : bool
        Whether some numbers of the query are not between 0 and 1.
    """

    mean: float
    exact: int
    invalid: bool


def _by_block(size: int, work: Callable[[int, int, Floats], None]) -> Floats:
    """Return three sums for each block of elements, which ``work(begin, end, sums)`` writes."""
    sums = np.empty((-(-size // BLOCK), 3))
    spread(size, lambda begin, end: work(begin, end, sums), BLOCK)
    return sums


class PublicDistribution:
    """A distribution over a universe, as weights that are uniform at first."""

    def __init__(self, universe: int) -> None:
        self._log = np.zeros(universe)
        self._part = np.ones(universe, np.float32)
        self._total = float(universe)
        self._top = 0.0

    def sums(self, query: Floats, bits: int, counts: NDArray[np.int32] | None = None) -> Sums:
        """Return the mean of a query under the distribution, and its exact sum over `counts`."""
        unit = float(1 << bits)

        def work(begin: int, end: int, sums: Floats) -> None:
            _native.compare(self._part, counts, query, unit, begin, end, BLOCK, sums)

        expected, exact, invalid = map(math.fsum, _by_block(len(query), work).T)
        return Sums(expected / self._total, int(exact), bool(invalid))

    def move(self, step: float, query: Floats, bits: int, later: Floats | None = None) -> float:
        """Multiply each weight by ``exp(step * value)``; return the new mean of `later`.

        This mean is in units, as in `sums`; it is 0 if there is no such query.
        """
        unit, bound = float(1 << bits), self._top + max(step, 0.0)

        def work(begin: int, end: int, sums: Floats) -> None:
            state = self._log, self._part
            _native.move(*state, query, unit, step, bound, later, begin, end, BLOCK, sums)

        totals, expected, tops = _by_block(len(query), work).T
        self._total, self._top = math.fsum(totals), float(tops.max())
        return math.fsum(expected) / self._total

    @property
    def distribution(self) -> Floats:
        """The probabilities of the elements, which add up to 1."""
        return self._part.astype(np.float64) / self._total


def rounded_counts(distribution: NDArray[np.float64], rows: int) -> NDArray[np.int64]:
    """Return integer counts with the sum `rows` that are nearest to a distribution.

    Counts are rounded down, except those with the largest remainders (the first of equal
    remainders): these are rounded up, so that the sum is right.
    """
    shares = distribution * rows
    counts = np.floor(shares).astype(np.int64)
    missing = rows - int(counts.sum())  # below the number of elements; negative only by rounding
    order = np.argsort(counts - shares, kind="stable")
    if missing < 0:
        order = order[counts[order] > 0][::-1]
    counts[order[: abs(missing)]] += 1 if missing > 0 else -1
    return counts


class HasDistribution:
    """A mechanism whose output includes a public distribution over a universe."""

    _universe: Universe
    _rows: int

    @property
    @abstractmethod
    def distribution(self) -> NDArray[np.float64]:
        """The public probabilities of the elements."""

    def synthetic(self, rows: int | None = None) -> NDArray[Any]:
        """Return synthetic rows whose frequencies are as near to the distribution as possible.

        Privacy
        -------
        The rows are computed from the public distribution, without randomness. So they cost
        nothing, and may be published.

        Parameters
        ----------
        rows : int, optional
            How many synthetic rows to return; by default as many as the data have.

        Returns
        -------
        ndarray, shape (rows,)
            Elements of the universe, in its order. Without a `universe` they are its numbers 0 .. N
            - 1. The mean of a query over these rows differs from its mean under the distribution by
            at most ``N / (4 * rows)``.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `rows` is not a positive integer, or is 2**36 or more.

        Examples
        --------
        About 0.65 of the synthetic rows are the first of four elements, as in the data:

        >>> import numpy as np, dpfast as dp
        >>> fitted = dp.online.MWEM([13_000, 4_000, 2_000, 1_000], np.eye(4), rounds=6, epsilon=1)
        >>> bool(abs(np.mean(fitted.synthetic(1000) == 0) - 0.65) < 0.2)
        True
        """
        count = self._rows if rows is None else checks.whole("rows", rows, 1)
        if count >= MOST_ROWS:
            checks.fail("rows", "fewer than 2**36", rows)
        universe, distribution = self._universe, self.distribution
        elements = np.arange(universe.size) if universe.elements is None else universe.elements
        return np.repeat(elements, rounded_counts(distribution, count))
