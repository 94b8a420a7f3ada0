"""Trees of bins, and consistent estimates of bins by least squares from noisy counts of nodes.

The bins are the leaves. On each level, every `fan_out` adjacent nodes have a parent on the next
level; the last parent may have fewer children. The top is the first level of at most `fan_out`
nodes. The count of each node has independent noise of equal variance. Of all unbiased linear
estimates of a sum of bins, least squares has the least variance (Gauss and Markov). It is computed
in two sweeps (Hay, Rastogi, Miklau and Suciu, VLDB 2010, for trees whose nodes all have the same
number of children).

*Up.* Let y be the noisy count of a node, z the best estimate of its count from the noisy counts at
the node and below it, and U the variance of z in units of the variance of y. For a leaf z = y and U
= 1. For a node let S be the sum of its children's z, and T the sum of their U. Then

    U = T / (1 + T),    z = U (y + S / T).

*Down.* Let x be the best estimate from all noisy counts. At the top it is z. For a child of v it is
z + U (x_v - S_v) / T_v: the difference is shared among the children in proportion to their
variances.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..._core.types import Floats


def level_sizes(bins: int, fan_out: int) -> list[int]:
    """Return the number of nodes of each level of the tree, the top first and the bins last."""
    sizes = [bins]
    while sizes[0] > fan_out:
        sizes.insert(0, -(-sizes[0] // fan_out))
    return sizes


def level_sums(leaves: NDArray[np.int64], fan_out: int) -> list[NDArray[np.int64]]:
    """Return the counts of the nodes of each level, the top first, from counts of the bins."""
    levels = [leaves]
    while len(levels[0]) > fan_out:
        levels.insert(0, np.add.reduceat(levels[0], np.arange(0, len(levels[0]), fan_out)))
    return levels


def consistent(levels: Sequence[NDArray[np.generic]], fan_out: int) -> Floats:
    """Return the estimates of the bins by least squares, from noisy counts of all nodes."""
    z, variance = levels[-1].astype(np.float64), np.ones(len(levels[-1]))
    below = []
    for y in reversed(levels[:-1]):
        starts = np.arange(0, len(z), fan_out)
        total, spread = np.add.reduceat(z, starts), np.add.reduceat(variance, starts)
        below.append((z, variance, total, spread))
        variance = spread / (1 + spread)
        z = variance * (y + total / spread)
    for children, variance, total, spread in reversed(below):
        missing = np.repeat((z - total) / spread, fan_out)[: len(children)]
        z = children + variance * missing
    return z


def shares(bins: int, first: float, stop: float) -> Floats:
    """Return the share of each bin that lies between two offsets, which count bins."""
    indices = np.arange(bins)
    return np.asarray(np.clip(stop - indices, 0, 1) - np.clip(first - indices, 0, 1))


def weights(bins: int, fan_out: int, first: float, stop: float) -> Floats:
    """Return the weight of each node's noise in the estimate of a range of bins.

    A range that ends within a bin takes a share of the bin. Let q be the vector of the shares of
    all bins, and M the matrix that says which bins each node has. The estimate of q'x is q'
    (M'M)^-1 M'y. (M'M)^-1 q is the estimate for counts q at the bins and 0 at all other nodes. The
    weights of y are M times this estimate.
    """
    sizes = level_sizes(bins, fan_out)
    leaves = shares(bins, first, stop)
    levels = [consistent([*map(np.zeros, sizes[:-1]), leaves], fan_out)]
    while len(levels[0]) > fan_out:
        levels.insert(0, np.add.reduceat(levels[0], np.arange(0, len(levels[0]), fan_out)))
    return np.concatenate(levels)


def kinds_of_bins(bins: int, fan_out: int) -> list[int]:
    """Return some bins, such that every bin has the noise weights of one of these, permuted.

    A path from the top follows the last nodes of the levels, which may have fewer children, and
    then leaves them for nodes that all have the same number of children.
    """
    sizes, width, kinds = level_sizes(bins, fan_out), 1, {0, bins - 1}
    for size in reversed(sizes):
        kinds.add((size - 1) * width)
        width *= fan_out
    return sorted(kinds)


def spread_of_prefixes(bins: int, fan_out: int) -> float:
    """Return the mean variance of all prefix sums' estimates, in units of a node's variance.

    All nodes of the tree have b = `fan_out` children, except the top, which may have fewer; the
    tree has k bins in all, at least `bins`. Let a prefix end within node v, after j whole children
    and within another child. If the sum x_v were known, the children would have covariances U (1{i
    = i'} - 1 / b), and the estimate of the prefix would be a x_v plus a term of variance w that
    does not depend on x_v. With a' and w' for the child in which the prefix ends,

        a = (j + a') / b,    w = w' + U (j + a'^2 - (j + a')^2 / b),

    and at the top, whose sum is not known, w' + U (j + a'^2). The code takes means of these over
    all j, which are independent at different levels.
    """
    top, *lower = level_sizes(bins, fan_out)
    b, variance = fan_out, 1.0
    a = square = spread = 0.0
    for _ in lower:
        j, jj = (b - 1) / 2, (b - 1) * (2 * b - 1) / 6
        both = jj + 2 * j * a + square
        spread += variance * (j + square - both / b)
        a, square = (j + a) / b, both / b**2
        variance = b * variance / (1 + b * variance)
    return spread + variance * ((top - 1) / 2 + square)


def fan_outs(bins: int) -> list[int]:
    """Return the candidate fan-outs: the least fan-out for each number of levels."""
    candidates = [max(bins, 2)]
    for levels in range(2, bins.bit_length() + 1):
        least = max(2, round(bins ** (1 / levels)) - 1)
        while least**levels < bins:
            least += 1
        if least < candidates[-1]:
            candidates.append(least)
    return candidates
