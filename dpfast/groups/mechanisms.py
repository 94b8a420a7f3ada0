"""What releases a statistic of all groups: one object for equal public values."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from .._core import checks
from ..measurement.statistic import Offer, Weighted
from ..noise.additive import amount
from ..statistics.histogram import Histogram
from ..statistics.totals.moments import Mean, Std, Sum, Variance
from .counts import GroupHistogram, WeightedHistogram
from .ranks import Quantiles
from .step import Step, part
from .sums import Count, GroupMean, GroupStd, GroupSum, GroupVariance, OfLinear, refuse_auto
from .weighted import WeightedMean, WeightedSum

OfStatistic: TypeAlias = OfLinear | GroupHistogram

#: What releases a statistic of rows that all count the same, and of rows with weights.
PLAIN: dict[type, type[OfStatistic]] = {
    Sum: GroupSum,
    Mean: GroupMean,
    Variance: GroupVariance,
    Std: GroupStd,
    Histogram: GroupHistogram,
}
WEIGHTED: dict[type, type[OfStatistic]] = {
    Sum: WeightedSum,
    Mean: WeightedMean,
    Histogram: WeightedHistogram,
}


def is_by_group(statistic: object) -> bool:
    """Tell whether a statistic is one by group."""
    return type(statistic) in PLAIN or isinstance(statistic, (Count, Quantiles))


@lru_cache(maxsize=1024)
def made(statistic: Any, step: Step, offered: Offer) -> OfStatistic:
    """Return the mechanism of a statistic of numbers, with the loss that it is charged for."""
    amount(offered.loss)
    if statistic.is_auto:
        refuse_auto(statistic.bounds)
    limits = statistic.limits
    if limits is not None and isinstance(statistic, Weighted) and statistic.weights is None:
        checks.fail("weight_bounds", "given with weights, and only then", limits)
    kinds = PLAIN if limits is None else WEIGHTED
    return kinds[type(statistic)](statistic, step=step, loss=offered.loss).charged()


@lru_cache(maxsize=1024)
def share(offered: Offer, size: Fraction) -> Offer:
    """Return a share of what is offered."""
    return offered if size == 1 else Offer(part(offered.loss, size), offered.unit)


@lru_cache(maxsize=1024)
def equal(parts: int) -> Fraction:
    """Return the share of each of so many."""
    return Fraction(1, parts)
