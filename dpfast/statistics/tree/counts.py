"""The answer of a tree histogram, whose methods are post-processing of noisy counts."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from ..._core.html import facts, table
from ..._core.types import Floats
from ...noise.calibrated_integer import IntegerNoise
from ..range_counts import SHOWN, RangeCounts
from .consistency import weights


class _Fields(NamedTuple):
    counts: Floats
    edges: NDArray[Any]
    fan_out: int
    noise: IntegerNoise
    unit: float = 1.0


class TreeCounts(_Fields, RangeCounts):
    """The answer of `dpfast.tree_histogram`: private counts of bins, for sums over ranges.

    Attributes
    ----------
    counts : ndarray of float64, shape (bins,)
        The private number of rows in each bin, by least squares from all nodes of the tree. They
        are unbiased, so they may be negative. Use them for sums of adjacent bins, whose errors are
        small.
    edges : ndarray
        The edges or the categories, as in `dpfast.histogram`.
    fan_out : int
        How many children a node has at most.
    noise : IntegerNoise
        The noise of each node.
    unit : float
        The unit of the noise: a row, or with `ids` a small part of a row.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> tree = dp.tree_histogram(ages, bins=120, bounds=(0, 120), epsilon=1.0)
    >>> abs(tree.range(20, 65) - 18_000) < 200, tree.half_width(20, 65) < 50
    (True, True)
    >>> abs(tree.cdf(65) - 18_800 / 29_200) < 0.01, abs(tree.quantile(0.5) - 54.5) < 2
    (True, True)
    """

    __slots__ = ()

    def _factors(self, first: float, stop: float) -> Floats:
        return weights(len(self.counts), self.fan_out, first, stop)

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the first counts with their edges, and the noise."""
        deviation = self.unit * self.noise.deviation
        about = {
            "rows, estimated": f"{self.total:,.0f}",
            "fan out": self.fan_out,
            "noise of a node": f"{self.noise.distribution}, deviation {deviation:.4g}",
        }
        rows = (
            [str(edge), f"{count:,.1f}"]
            for edge, count in zip(self.edges, self.counts[:SHOWN], strict=False)
        )
        return facts(f"Counts of {len(self.counts):,} bins", about, table(["from", "rows"], rows))
