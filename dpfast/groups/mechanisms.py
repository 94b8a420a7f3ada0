"""Mechanisms that release a statistic of all groups; equal public values share one object."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

from .._core import checks, nan_policy
from .._core.once import remembered
from ..measurement.equal_parts import part
from ..measurement.linear import Linear
from ..measurement.statistic import Offer, Weighted
from ..noise.additive import amount
from ..noise.grid import lattice
from ..statistics.correlation import Correlation
from ..statistics.histogram import Histogram
from ..statistics.quantiles import statistic as ranked
from ..statistics.ranked import OnGrid
from ..statistics.ratio import Ratio
from ..statistics.totals.count import Count
from ..statistics.totals.moments import Mean, Sum
from .counts import GroupHistogram, WeightedHistogram
from .distinct import CountDistinct
from .pairs import GroupCorrelation, GroupQuotient, GroupRatio
from .ranks import WIDEST, Quantiles
from .step import Step
from .sums import Counted, OfCount, OfLinear, OfPeople
from .top import Top
from .weighted import WeightedMean, WeightedSum

OfStatistic: TypeAlias = OfLinear | Counted | GroupQuotient

#: The mechanisms of counts, and of statistics of two columns. All other statistics are linear, or
#: drawn.
PLAIN: dict[type, type[OfStatistic]] = {
    Histogram: GroupHistogram,
    Count: OfCount,
    CountDistinct: OfPeople,
    Ratio: GroupRatio,
    Correlation: GroupCorrelation,
}
#: The mechanisms of statistics of weighted rows.
WEIGHTED: dict[type, type[OfStatistic]] = {
    Sum: WeightedSum,
    Mean: WeightedMean,
    Histogram: WeightedHistogram,
}

#: The statistics that are drawn: quantiles and extremes.
DRAWN = (ranked.OneQuantile, ranked.Quantiles, ranked.Extreme, ranked.QuantileInterval)


def is_by_group(statistic: object) -> bool:
    """Tell whether a statistic can be released by group."""
    kinds = (Linear, Top, *PLAIN, *DRAWN)
    return isinstance(statistic, kinds) and not isinstance(statistic, ranked.IqrInterval)


@remembered
def mechanism_of(statistic: Any, step: Step, offered: Offer) -> OfStatistic:
    """Return the mechanism that releases a statistic by group, calibrated to the offered loss."""
    limits = statistic.limits
    if limits is not None and isinstance(statistic, Weighted) and statistic.weights is None:
        checks.fail("weight_bounds", "given with weights, and only then", limits)
    kinds: dict[type, type[Any]] = PLAIN if limits is None else WEIGHTED
    kind = next((kind for of, kind in kinds.items() if isinstance(statistic, of)), OfLinear)
    return kind(statistic, step=step, loss=offered.loss).calibrated()


@remembered
def drawn(statistic: OnGrid[Any], step: Step, offered: Offer, is_whole: bool) -> Quantiles:
    """Return the mechanism that draws quantiles by group; `is_whole` says rows are integers."""
    if statistic.method not in ("auto", "exponential"):
        rule = "left out by group, because each group draws by the exponential mechanism"
        checks.fail("method", rule, statistic.method)
    bounds, size, numbers = checks.bounds(statistic.bounds), statistic.granularity, None
    if size is not None:
        numbers = lattice(*bounds, checks.fraction("granularity", size))
        if numbers.last - numbers.first > WIDEST:
            rule = f"larger, so that at most 2**{WIDEST.bit_length()} multiples lie within bounds"
            checks.fail("granularity", rule, size)
    nan = nan_policy.of_rows(statistic.nan, is_private=True)
    arguments: Any = {"column": statistic.column, "bounds": bounds, "nan": nan, "step": step}
    arguments |= {"loss": offered.loss, "whole": is_whole, "lattice": numbers}
    if isinstance(statistic, ranked.QuantileInterval):
        arguments["coverage"], statistic = statistic.coverage, statistic.point
    arguments["extreme"] = isinstance(statistic, ranked.Extreme)
    return Quantiles(qs=quantiles_of(statistic), **arguments).calibrated()


def quantiles_of(statistic: OnGrid[Any]) -> tuple[Fraction, ...]:
    """Return the quantiles that a statistic draws, as fractions; 0 or 1 for an extreme."""
    if isinstance(statistic, ranked.Quantiles):
        qs = ranked.several(statistic.qs)
        if len(set(qs)) < len(qs):
            checks.fail("qs", "different from one another", statistic.qs)
        return qs
    if isinstance(statistic, ranked.Extreme):
        return (statistic.end,)
    assert isinstance(statistic, ranked.OneQuantile)
    return (statistic.share_below,)


@remembered
def share(offered: Offer, size: Fraction) -> Offer:
    """Return the offer of a share of the loss, or refuse a share that is too small for noise."""
    amount(offered.loss)
    shared_offer = offered if size == 1 else Offer(part(offered.loss, size), offered.unit)
    amount(shared_offer.loss)
    return shared_offer
