"""`tree_histogram`: counts of an ordered domain at several levels, for ranges of any length.

A row is in at most one node of each level. A row that comes or goes changes one count of each by 1,
and one that is replaced two: with h levels the L1 sensitivity of all counts, and the square of the
L2 sensitivity, is h and 2 h.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._core.error_bars import SUMS, Expected
from ..._core.types import Bounds, Neighbors, Number
from ...budget.budget import Budget
from ...measurement.times import bins_times
from ...noise.additive import amount
from ...noise.calibrated_integer import IntegerNoise, integer_noise
from ...noise.sensitivity import Sensitivity
from ...privacy import Loss
from ...rng import Generator
from ...sources.intake import read_column, read_rows
from ..arguments import Arguments
from ..histogram import Categories, Histogram, axes_of
from .consistency import (
    consistent,
    fan_outs,
    kinds_of_bins,
    level_sizes,
    level_sums,
    spread_of_prefixes,
    weights,
)
from .counts import TreeCounts


@dataclass(frozen=True, slots=True)
class Tree(Histogram):
    """Counts of rows in public bins, and in parts of neighboring bins; see `dpfast.tree_histogram`.

    The loss is that of all levels together.
    """

    fan_out: int

    name: ClassVar[str] = "tree histogram"

    @property
    def bins(self) -> int:
        return self.axes[0].native.bins

    @property
    def noise(self) -> IntegerNoise:
        return level_noise(self.loss, self.neighbors, len(level_sizes(self.bins, self.fan_out)))

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> Any:
        """Return the noise as well: the answer needs it for its error bars."""
        levels, noise = level_sums(summary, self.fan_out), self.noise
        assert noise.shift == 0
        drawn = noise.draw(sum(map(len, levels)), generator)
        ends = np.cumsum([len(level) for level in levels])
        parts = np.split(drawn, ends[:-1])
        noisy = [level + own for level, own in zip(levels, parts, strict=True)]
        counts = consistent(noisy, self.fan_out)
        return TreeCounts(counts, self.axes[0].edges, self.fan_out, noise)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of the count of one bin, of whatever bin it is the longest."""
        noise, each = self.noise, kinds_of_bins(self.bins, self.fan_out)
        own = [weights(self.bins, self.fan_out, i, i + 1) for i in each]
        bar = max(noise.weighted_within(one, 1 - confidence) for one in own)
        return Expected(confidence, bar, note=SUMS)


def level_noise(loss: Loss, neighbors: str, levels: int) -> IntegerNoise:
    """Return the noise of a node."""
    changes = levels * (2 if neighbors == "replace" else 1)
    return integer_noise(loss, Sensitivity(changes, changes, changes, 1))


def best_fan_out(bins: int, loss: Loss, neighbors: str) -> int:
    """Return the fan-out of the least mean variance of cumulative counts, by public numbers."""

    def cost(fan_out: int) -> float:
        noise = level_noise(loss, neighbors, len(level_sizes(bins, fan_out)))
        return noise.deviation**2 * spread_of_prefixes(bins, fan_out)

    return min(fan_outs(bins), key=cost)


@bins_times
def tree_histogram(
    data: Any,
    *,
    bins: Any = None,
    bounds: Bounds | None = None,
    categories: Categories | None = None,
    fan_out: int | None = None,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    neighbors: Neighbors | None = None,
    where: Any = None,
    ids: Any = None,
    max_rows: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> TreeCounts:
    """Release counts of public bins in order, for ranges, a cumulative distribution and quantiles.

    Of a `histogram` the error of a range of k bins grows like the root of k. Here neighboring bins
    are counted together too, and so are those, up to a few large parts. A range is made of few
    nodes of this tree, so its error hardly depends on its length.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the loss that it is asked for, of all counts together: a row is in one node of each level, and
    noise is for as many counts as there are levels, twice as many if a row is replaced (Dwork,
    McSherry, Nissim and Smith, TCC 2006). The counts are exact, and so is the noise, as in
    `histogram`. All that follows is post-processing. Bins must not come from the data.

    Parameters
    ----------
    data : array_like of shape (n,), or source
        One column, as in `histogram`.
    bins : int or sequence of float, optional
        The number of equally wide bins between the `bounds`, or public edges, ascending.
    bounds : (float, float), optional
        Public limits, for bins that are given by number.
    categories : sequence of str, float or bool, optional
        Instead of `bins`, a public list, whose order is that of the ranges.
    fan_out : int, optional
        How many parts a node has. By default what makes the mean variance of a cumulative count
        least, by the number of bins and the loss alone.
    epsilon, delta, rho, neighbors, where, ids, max_rows, budget, rng
        As in `sum`.

    Returns
    -------
    TreeCounts
        ``counts`` of the bins by least squares from all nodes, and their ``edges``. Its methods
        ``range(lo, hi)``, ``half_width(lo, hi)``, ``cdf(x)`` and ``quantile(q)``, and
        ``cumulative``, cost nothing.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `histogram`.

    See Also
    --------
    dpfast.histogram : Smaller errors of single bins.
    dpfast.quantiles : Smaller errors of a few quantiles that are known beforehand.

    Notes
    -----
    Cost: one read of the data, and a sample of noise for each node.

    References
    ----------
    Hay, Rastogi, Miklau and Suciu, "Boosting the accuracy of differentially private histograms
    through consistency", VLDB 2010. Qardaji, Yang and Li, "Understanding hierarchical methods for
    differentially private histograms", VLDB 2013.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> tree = dp.tree_histogram(ages, bins=120, bounds=(0, 120), epsilon=1.0)
    >>> abs(tree.range(20, 65) - 18_000) < 200
    True
    >>> abs(tree.cdf(65) - 18_800 / 29_200) < 0.01
    True
    >>> abs(tree.quantile(0.5) - 54.5) < 2
    True
    """
    beside = {"where": where, "ids": ids, "max_rows": max_rows, "budget": budget, "rng": rng}
    asked = Arguments(bounds, epsilon, delta, rho, neighbors, **beside)
    loss, relation = asked.loss, asked.relation
    amount(loss)
    axes, several = axes_of(bins, bounds, categories)
    argument = "categories" if bins is None else "bins"
    if several:
        checks.fail(argument, "of one column, whose values are in order", categories or bins)
    size = axes[0].native.bins
    if fan_out is None:
        width = best_fan_out(size, loss, relation)
    else:
        width = checks.whole("fan_out", fan_out, 2)
    words = axes[0].words
    if words is not None:
        view = read_rows(data, argument, 1, relation, where, [words], asked.ids)
    else:
        view = read_column(data, relation, where, asked.ids, axes[0].numbers)
    made = Tree(axes, relation, loss, words is not None, width)
    found: TreeCounts = asked.release(view, replace(made, loss=made.noise.loss))
    return found
