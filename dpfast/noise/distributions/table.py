"""Tables of a distribution's quantile function with a proved error bound, for `csrc/noise/grid.h`.

Let p = (k + theta) 2**-64, and let m be the midpoint of a segment of half width h, both in units of
k. With t = (m - d) / h in [-1, 1], Q is a power series in t with nonnegative coefficients c_j,
because the distribution is absolutely monotone towards the tail (see `Distribution`). A row of the
table has a polynomial of degree 6 and an error bound, which is the sum of:

1. *Truncation.* If |Q| <= M at distance r = h / rho towards the tail then c_j <= M rho**j, so
   that the remainder after degree ORDER = 8 is at most M rho**9 / (1 - rho).
2. *Economizing.* t**8 and t**7 are replaced by the polynomials of lower degree that are nearest to
   them on [-1, 1]; the error is at most c_8 / 128 + c_7 / 64.
3. *Coefficients.* c_0 has the error bound of `_centers`, and is rounded once. For j > 0, c_j has
   the relative error that `Positive` has counted. Economizing adds a rounding and a half to each.
4. *Horner's rule* without fused operations, which is off by at most
   sum over j of (2 j + 1) u |c_j| (and 2 j for the last), u = 2**-53 (Higham, Accuracy and
   Stability of Numerical Algorithms, 5.1).
5. *The argument.* d is within 2**(e - 53) of k in octave e, and theta is within 1: the error is
   at most that times the largest slope, which is at t = 1 and is at most sum j c_j / h plus
   9 M rho**9 / (1 - rho)**2 / h.
6. *A corner.* The rows on its two sides have the same value and slope at the corner. The wrong side
   is chosen only within the error of the argument (below a relative 2**-40). This adds an error
   of less than 2**-75 times the sum of the coefficients.

The sum is multiplied by SAFETY, which covers second-order terms and the roundings of this
computation. A further 1e-200 covers underflow. `tests/noise/test_distributions.py` compares every
bound with mpmath.
"""

from __future__ import annotations

import os
import threading
from functools import lru_cache
from typing import Any

import numpy as np

from ..._core.types import Integers
from ..._kernels.noise import OCTAVE, ROWS, SPLIT, WIDTH, Table
from .base import Branch, Distribution, Floats, context

ORDER = 8
SAFETY = 1 + 2.0**-10
_CENTER_ORDER = 14  # order of the series that extend from one segment to its neighbors
_U = 2.0**-53

# The terms of degrees 7 and 8 by Chebyshev polynomials, t**7 = T7/64 + ... and t**8 = T8/128 + ...:
# T7 and T8 are dropped, and these are the remaining terms, of degrees 0 to 6.
_ECONOMY = ((7, {1: 7 / 64, 3: -7 / 8, 5: 7 / 4}), (8, {0: -1 / 128, 2: 1 / 4, 4: -5 / 4, 6: 2.0}))


class Prepared:
    """A distribution with the table of its quantiles, as rows and in the format of the kernel."""

    __slots__ = ("distribution", "knee", "rows", "table")

    def __init__(self, distribution: Distribution, rows: Floats, knee: float) -> None:
        self.distribution = distribution
        self.rows = rows
        self.knee = knee
        self.table = Table(rows, knee)

    def evaluate(self, k: int) -> tuple[float, float]:
        """Return the kernel's approximation of Q at one k, and its error bound, slowly."""
        d = float(k)
        if d < 2.0**OCTAVE:
            return 0.0, np.inf
        d = min(d, 2.0**63 - 1024)
        octave = int(np.frexp(d)[1]) - 1
        part = int((d / 2.0**octave - 1) * 2**SPLIT)
        row = self.rows[1 + ((octave - OCTAVE) << SPLIT) + part + (d >= self.knee)].tolist()
        x = 2.0**octave * (1 + (part + 0.5) / 2**SPLIT) - d
        z = row[WIDTH - 2]
        for c in row[WIDTH - 3 :: -1]:
            z = z * x + c
        return z, row[WIDTH - 1]


def _centers(
    branch: Branch, mp: Any, octave: Integers, part: Integers, middle: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return Q at the midpoints as a sum of two doubles, and an error bound of that sum.

    In each octave, the branch computes every fifth segment to 2**-60. The neighbors of such a
    segment follow from its Taylor series, if that is accurate to about an ulp. Otherwise the branch
    computes them, too.
    """
    p = np.ldexp(middle, -64)
    first = part - part % 5
    anchor = np.minimum(first + 2, 62)
    nodes, where = np.unique((octave << SPLIT) + anchor, return_inverse=True)
    node_octave, node_part = nodes >> SPLIT, nodes & ((1 << SPLIT) - 1)
    at = np.ldexp(1 + (node_part + 0.5) / (1 << SPLIT), node_octave - 64)
    h = np.ldexp(1.0, node_octave - 64 - SPLIT - 1)
    high, low = _split(mp, branch.centers(mp, at))
    terms = branch.expand(mp, at, h, high, _CENTER_ORDER)
    t = 2.0 * (anchor - part)
    head, tail = high[where], low[where]
    with np.errstate(all="ignore"):
        most, rho = _reach(branch, mp, at, 4 * h)
        error = np.abs(most * rho ** (_CENTER_ORDER + 1) / (1 - rho))[where] * (t != 0)
        further = np.zeros_like(t)
        for j in range(_CENTER_ORDER, 0, -1):
            value = np.broadcast_to(terms[j - 1].value, at.shape)[where] * t**j
            slack = np.broadcast_to(np.asarray(terms[j - 1].slack), at.shape)[where]
            error += np.abs(value) * ((slack + 2 + j) * _U)
            further += value
        tail = tail + further
        error += np.abs(head) * 2.0**-60
        poor = ~(error <= _U * (np.abs(head + tail) + 2.0**-4))
    if poor.any():
        head, tail = head.copy(), tail.copy()
        head[poor], tail[poor] = _split(mp, branch.centers(mp, p[poor]))
        error[poor] = np.abs(head[poor]) * 2.0**-60
    total = head + tail
    return total, tail - (total - head), error


def _split(mp: Any, exact: list[Any]) -> tuple[Floats, Floats]:
    high = np.array([float(z) for z in exact])
    low = [float(z - mp.mpf(q)) for z, q in zip(exact, high.tolist(), strict=True)]
    return high, np.array(low)


def _reach(branch: Branch, mp: Any, p: Floats, h: Floats) -> tuple[Floats, Floats]:
    radius, most = branch.reach(mp, p)
    rho = h / radius
    return most, np.where((rho > 0) & (rho < 0.95), rho, np.inf)


def _rows(branch: Branch, mp: Any, octave: Integers, part: Integers, middle: Floats) -> Floats:
    """Return the table rows of one branch for segments with the given midpoints (in units of k)."""
    p = np.ldexp(middle, -64)
    half = np.ldexp(1.0, octave - SPLIT - 1)
    h = np.ldexp(half, -64)
    head, tail, center_error = _centers(branch, mp, octave, part, middle)
    terms = branch.expand(mp, p, h, head, ORDER)
    c = np.array([tail, *(np.broadcast_to(t.value, p.shape) for t in terms)])
    with np.errstate(all="ignore"):
        most, rho = _reach(branch, mp, p, h)
        truncated = most * rho**9 / (1 - rho)
        steeper = 9 * most * rho**9 / (1 - rho) ** 2
        size = np.abs(c)
        size[0] = np.abs(head)
        error = np.abs(truncated) + size[7] / 64 + size[8] / 128 + center_error
        for j, term in enumerate(terms, 1):
            error += size[j] * ((np.asarray(term.slack) + 3) * _U)
        for degree, parts in _ECONOMY:
            for j, factor in parts.items():
                c[j] += factor * c[degree]
                size[j] += abs(factor) * size[degree]
        c[0] += head
        error += size[0] * _U
        for j in range(WIDTH - 1):
            error += size[j] * ((2 * j + 1) * _U)
        slope = sum(j * size[j] for j in range(1, ORDER + 1)) + np.abs(steeper)
        argument = 1 + np.ldexp(1.0, octave - 53)
        argument[middle == middle.max()] += 512  # because d is kept below 2**63
        error += slope * argument / half
        error += size.sum(0) * 2.0**-75 + 1e-200
    error = np.where(np.isfinite(error) & np.isfinite(c).all(0), error * SAFETY, np.inf)
    rows = np.empty((len(p), WIDTH))
    for j in range(WIDTH - 1):
        rows[:, j] = c[j] / half**j
    rows[:, WIDTH - 1] = error
    rows[~np.isfinite(error), : WIDTH - 1] = 0.0
    return rows


#: A lock, held while a table is computed, so that one thread computes it and the others wait.
_MAKING = threading.RLock()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_MAKING.acquire, after_in_parent=_MAKING.release, after_in_child=_MAKING.release
    )


def prepare(distribution: Distribution) -> Prepared:
    """Return the quantile table of a distribution, from a cache after the first time."""
    with _MAKING:
        return _prepared(distribution)


@lru_cache(maxsize=64)
def _prepared(distribution: Distribution) -> Prepared:
    mp = context(90)
    octave = np.repeat(np.arange(OCTAVE, 63), 1 << SPLIT)
    part = np.tile(np.arange(1 << SPLIT), 63 - OCTAVE)
    middle = np.ldexp(1 + (part + 0.5) / (1 << SPLIT), octave)
    nothing = np.zeros((1, WIDTH))
    nothing[0, -1] = np.inf
    corner = distribution.knee(mp)
    if corner is None:
        knee = np.inf
        (branch,) = distribution.branches()
        parts = [nothing, _rows(branch, mp, octave, part, middle)]
    else:
        knee = float(mp.ldexp(corner, 64))
        half = np.ldexp(1.0, octave - SPLIT - 1)
        tail, center = distribution.branches()
        below, above = middle - half < knee, middle + half >= knee
        parts = [
            nothing,
            _rows(tail, mp, octave[below], part[below], middle[below]),
            _rows(center, mp, octave[above], part[above], middle[above]),
        ]
    parts.append(nothing)
    rows = np.concatenate(parts)[:ROWS]
    rows = np.concatenate([rows, np.repeat(nothing, ROWS - len(rows), 0)])
    rows.setflags(write=False)
    return Prepared(distribution, np.ascontiguousarray(rows), knee)
