"""How well an attribute splits rows: what it leaves unknown of the class of a row.

N[v, c] rows have the value v and the class c, N[v] the value v. The score of an attribute is minus

* entropy: the sum of N[v, c] log2(N[v] / N[v, c]), the length of a code of the classes;
* gini: the sum over v of N[v] - sum of N[v, c]^2 / N[v], the rows that are expected to be guessed
  wrong by a guess that follows the classes of the same value;
* max: the rows that are not of the commonest class of their value. (It is counted from the other
  side, the rows that are.)

*Sensitivity.* A row that comes adds to one N[v, c]. None of the three falls then, for each is
concave in N[v, .], grows in proportion to it, and is 0 for one class alone, so it is at least as
large for two sets of rows together as for both. And it grows by no more than

* entropy: (m + 1) log2(m + 1) - m log2 m < log2(m + 1) + 1 / ln 2 for the m other rows, most where
  they are all of one other class (Friedman and Schuster, KDD 2010);
* gini: 1 - ((S + 2 k + 1) / (N + 1) - S / N), S the sum of the N[v, c]^2 and k rows of the class,
  most for k = 0 and S = N^2: 2 N / (N + 1), less than 2;
* max: 1.

So all scores change in one direction, by numbers of an interval of that length.

Here they are integers, in units of 2^-20 for the first two. For gini each v is rounded down by
itself, and the numbers on either side of a change by less than 2 units of 2^20 differ by no more
than 2^21. For entropy four rounded numbers n log2 n change, by 1 / 2 each and by less than another
1 / 2 all together where the logarithms are not exact: by 3 more at most, in either direction.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..noise.distributions.base import context

CRITERIA = ("entropy", "gini", "max")
_UNIT = 20
_BITS = 120


@lru_cache(maxsize=1 << 16)
def _information(n: int) -> int:
    """Return n log2 n in units, rounded."""
    if n < 2:
        return 0
    mp = context(_BITS)
    return int(mp.nint(mp.ldexp(n * mp.log(n, 2), _UNIT)))


def _each(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same for many numbers, each looked up once."""
    distinct, place = np.unique(counts, return_inverse=True)
    values = np.array([_information(n) for n in distinct.tolist()], np.int64)
    return values[place].reshape(counts.shape)


def spread(criterion: str, rows: int) -> int:
    """Return the length of the interval of changes by a row, among at most `rows` rows."""
    if criterion == "max":
        return 1
    if criterion == "gini":
        return 2 << _UNIT
    mp = context(_BITS)
    return int(mp.ceil(mp.ldexp(mp.log(rows, 2) + 1 / mp.log(2), _UNIT))) + 6


def score(criterion: str, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the exact score of an attribute in each set.

    Counts have the shape (values, sets, classes).
    """
    if criterion == "max":
        right: NDArray[np.int64] = counts.max(axis=2).sum(axis=0)
        return right
    total = counts.sum(axis=2)
    if criterion == "gini":
        # In int64 as long as squares fit; N itself is far below 2**31 elsewhere.
        exact = counts if total.max(initial=0) < 1 << 31 else counts.astype(object)
        n = exact.sum(axis=2)
        safe = np.maximum(n, 1)
        wrong = n * n - (exact * exact).sum(axis=2)
        whole, rest = wrong // safe, wrong % safe
        units = whole * (1 << _UNIT) + rest * (1 << _UNIT) // safe
        rows: NDArray[np.int64] = -units.sum(axis=0).astype(np.int64)
        return rows
    bits: NDArray[np.int64] = _each(counts).sum(axis=(0, 2)) - _each(total).sum(axis=0)
    return bits


def noisy_score(criterion: str, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the score from noisy counts, those below 0 being 0; in rows or in bits."""
    n = np.maximum(counts, 0.0)
    total = n.sum(axis=2)
    if criterion == "max":
        wrong: NDArray[np.float64] = n.max(axis=2).sum(axis=0) - total.sum(axis=0)
        return wrong
    if criterion == "gini":
        right = (n * n).sum(axis=2) / np.where(total > 0, total, 1.0)
        rows: NDArray[np.float64] = (right - total).sum(axis=0)
        return rows
    bits: NDArray[np.float64] = _plogp(n).sum(axis=(0, 2)) - _plogp(total).sum(axis=0)
    return bits


def _plogp(n: NDArray[np.float64]) -> NDArray[np.float64]:
    return n * np.log2(np.where(n > 0, n, 1.0))
