"""`tree_histogram`: counts of an ordered domain at several levels, for ranges of any length.

A row is in at most one node of each level. A row that is added or removed changes one count of each
level by 1, and a row that is replaced changes two counts. So with h levels the L1 sensitivity of
all counts and the square of the L2 sensitivity are h, or 2 h if a row is replaced. A unit adds at
most m to each level in all (`statistics.histogram`), so for units they are h m and h m^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...measurement.functions import function_of
from ...measurement.statistic import Terms
from ...measurement.times import Units
from ...noise.calibrated_integer import IntegerNoise, integer_noise
from ...noise.sensitivity import Sensitivity
from ...rng import Generator
from ..histogram import PARTS, BinCounts, Binned, of_people
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


@dataclass(frozen=True, kw_only=True)
class TreeHistogram(Binned[TreeCounts]):
    """Counts of public bins and of blocks of adjacent bins (a tree), as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    bins : int or sequence of float, optional
    bounds : (float, float) or "auto", optional
    categories : sequence of str, float or bool, optional
    fan_out : int, optional
        As in `dpfast.tree_histogram`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.tree_histogram`.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.TreeHistogram(bins=120, bounds=(0, 120)).measure(epsilon=1).name
    'tree histogram'
    """

    fan_out: int | None = None

    name: ClassVar[str] = "tree histogram"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_one_column()
        if self.fan_out is not None:
            object.__setattr__(self, "fan_out", checks.whole("fan_out", self.fan_out, 2))

    def mechanism(self, terms: Terms) -> BinCounts:
        if self.fan_out is not None:
            return super().mechanism(terms)
        return replace(self, fan_out=best_fan_out(self.shape[0], terms)).mechanism(terms)

    def sensitivity(self, terms: Terms) -> Sensitivity:
        return of_levels(terms, level_sizes(self.shape[0], self.width))

    def answer(
        self, counts: NDArray[np.int64], noise: IntegerNoise, parts: int, generator: Generator
    ) -> TreeCounts:
        """Return consistent noisy counts of the bins, with the noise that error bars need."""
        levels = [level >> noise.shift for level in level_sums(counts, self.width)]
        drawn = noise.draw(sum(map(len, levels)), generator)
        noise_of_levels = np.split(drawn, np.cumsum([len(level) for level in levels])[:-1])
        unit = 2.0 ** (noise.shift - parts)
        pairs = zip(levels, noise_of_levels, strict=True)
        noisy = [unit * (level + noise_of_level) for level, noise_of_level in pairs]
        return TreeCounts(consistent(noisy, self.width), self.edges, self.width, noise, 2.0**-parts)

    def bar(self, noise: IntegerNoise, parts: int, failure: float) -> float:
        """Return the half-width of the longest error bar among the counts of single bins."""
        bins = self.shape[0]
        factors = [weights(bins, self.width, i, i + 1) for i in kinds_of_bins(bins, self.width)]
        return 2.0**-parts * max(noise.weighted_half_width(of_bin, failure) for of_bin in factors)

    def in_times(self, answer: TreeCounts, units: Units) -> TreeCounts:
        return answer._replace(edges=units.edges)

    @property
    def width(self) -> int:
        """The fan-out of the tree, which has been chosen before a mechanism is made."""
        assert self.fan_out is not None
        return self.fan_out


def of_levels(terms: Terms, sizes: list[int]) -> Sensitivity:
    """Return the sensitivity of the counts of all levels of a tree together."""
    if terms.has_ids:
        return of_people(terms.rows << PARTS, sum(sizes), len(sizes))
    changes = len(sizes) * (2 if terms.neighbors == "replace" else 1)
    return Sensitivity(changes, changes, changes, 1)


def best_fan_out(bins: int, terms: Terms) -> int:
    """Return the fan-out with the least mean variance of cumulative counts, by public numbers."""

    def cost(fan_out: int) -> float:
        noise = integer_noise(terms.loss, of_levels(terms, level_sizes(bins, fan_out)))
        return noise.deviation**2 * spread_of_prefixes(bins, fan_out)

    return min(fan_outs(bins), key=cost)


@function_of(TreeHistogram)
def tree_histogram(data: Any, **arguments: Any) -> Any:
    """Release counts of ordered public bins, to compute ranges, cumulative shares and quantiles.

    With a `histogram` the error of a range of k bins grows like the square root of k. Here blocks
    of adjacent bins are also counted, and blocks of these blocks, up to a few large blocks. Bins
    and blocks are the nodes of a tree. Each range is a union of few nodes, so its error hardly
    depends on its length.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the requested loss, for all counts together. A row is in one node of each level. So noise is
    calibrated to as many changed counts as there are levels, or twice as many if a row is replaced
    (Dwork, McSherry, Nissim and Smith, TCC 2006). The counts are exact, and so is the noise, as in
    `histogram`. All results are post-processing of these noisy counts. Bins must not come from the
    data.

    Parameters
    ----------
    data : array_like of shape (n,), or source
        One column, as in `histogram`.
    bins : int or sequence of float, optional
        The number of equally wide bins between the `bounds`, or public edges, ascending.
    bounds : (float, float) or "auto", optional
        Public limits of the bins, if `bins` is a number. "auto" draws them as in `histogram`.
    categories : sequence of str, float or bool, optional
        Instead of `bins`, a public list of categories. A range has categories that are adjacent in
        this list.
    fan_out : int, optional
        The number of children of a node. By default the number for which cumulative counts have the
        least mean variance. It depends on the number of bins and the loss alone.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a person that count. "auto" draws the bound
        for a quarter of the loss (``dpfast/measurement/unit_bounds.py``).
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    TreeCounts
        It has the ``counts`` of the bins, estimated by least squares from the noisy counts of all
        nodes, and their ``edges``. Its methods ``range(lo, hi)``, ``half_width(lo, hi)``,
        ``cdf(x)`` and ``quantile(q)``, and its attribute ``cumulative``, cost nothing.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `histogram`.

    See Also
    --------
    dpfast.histogram : Smaller errors of single bins.
    dpfast.workload : Smaller errors for `rho` or with `delta`, for up to 4,096 bins.
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
