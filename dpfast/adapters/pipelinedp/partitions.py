"""Partition selection under the names of PyDP.

A privacy id is in at most L partitions. If it is added or removed, the counts of these partitions
change by 1 each.

*Coins.* The probability that a partition is kept depends on its number of privacy ids only.
`dpfast.select_keys` draws with the same probabilities.

*Noise and a threshold.* The release of all partitions is (epsilon, delta)-DP. Laplace noise has the
scale L / epsilon. Gaussian noise satisfies (epsilon, delta / 2) for an L2 sensitivity of sqrt(L).
One privacy id may be alone in up to L partitions. Let q be delta, or delta / 2 with Gaussian noise.
The probability that any of these partitions is kept must be at most q. So each is kept with a
probability of at most d, where 1 - (1 - d)^L = q, and the threshold T is the least number with
P(1 + noise >= T) <= d. The answers about other partitions are post-processing of the noise. Sums of
weights can replace numbers of privacy ids, if each weight of a privacy id is at most 1 and the L2
norm of its weights is at most 1.

*A public minimum.* No partition with fewer than p privacy ids is kept. Then n ids count as n - (p -
1). So a partition that one privacy id brings to p, or takes below p, counts as a partition of this
id alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar, cast

import dpfast as dp
from dpfast.extend import Neighbors, checks
from dpfast.privacy import Approx, Loss
from dpfast.rng import Generator

from ..scaled_noise import ScaledNoise, finite
from .mechanisms import MOST, noise_of_gaussian, noise_of_laplace

#: Larger numbers of privacy ids count as this one.
_MOST = 2.0**53
STRATEGIES = {"truncated_geometric": "", "laplace": "laplace", "gaussian": "gaussian"}


@dataclass(frozen=True)
class Coin:
    """A random decision whether a partition is kept; `below` of its privacy ids do not count."""

    rule: Any  # from `dpfast.extend.key_rule`
    below: int

    name: ClassVar[str] = "partition selection"
    neighbors: ClassVar[Neighbors] = "add-remove"

    @property
    def loss(self) -> Loss:
        return cast(Loss, self.rule.loss)

    def reduce(self, source: float) -> int:
        return max(0, int(min(max(finite(source), 0.0), _MOST)) - self.below)

    def finish(self, summary: int, generator: Generator) -> bool:
        return summary > 0 and bool(self.rule.keep_one(summary, generator.stream()))


@dataclass(frozen=True)
class Threshold:
    """A rule that keeps a partition if its noisy number of privacy ids reaches a threshold."""

    noise: ScaledNoise
    least: float
    below: int
    loss: Loss

    name: ClassVar[str] = "partition selection by threshold"
    neighbors: ClassVar[Neighbors] = "add-remove"

    @classmethod
    def of(cls, distribution: str, loss: Approx, groups: int, below: int = 0) -> Threshold:
        """Return the threshold with Laplace or Gaussian noise, for a loss of all partitions."""
        epsilon, delta = dp.privacy.float_down(loss.epsilon), dp.privacy.float_down(loss.delta)
        if distribution == "laplace":
            noise = noise_of_laplace(float(groups), epsilon)
        else:
            delta /= 2
            root = math.nextafter(math.sqrt(groups), math.inf)
            noise = noise_of_gaussian(root, epsilon, delta)
        # The factors cover the rounding errors of the logarithms and of the quantile in float64.
        share = -math.expm1(math.log1p(-delta) / groups) * (1 - 2.0**-40)
        if share < 1e-300:
            checks.fail("delta", f"at least 1e-300 for each of {groups} partitions of an id", delta)
        tail = float(noise.scale) * quantile(distribution, share)
        least = 1.0 + tail + abs(tail) * 2.0**-40 + 2 * noise.grid  # noise is rounded to the grid
        return cls(noise, least, below, loss)

    def reduce(self, source: float) -> float:
        return finite(source) - self.below

    def finish(self, summary: float, generator: Generator) -> float | None:
        """Return the noisy number of privacy ids if the partition is kept, else None."""
        if not summary > 0:
            return None
        noisy_number: float = self.noise.finish(summary, generator)
        return None if noisy_number < self.least else noisy_number + self.below


def quantile(distribution: str, failure: float) -> float:
    """Return the number that noise of scale 1 exceeds with the probability `failure`."""
    if distribution == "gaussian":
        return -NormalDist().inv_cdf(failure)
    return -math.log(2 * failure) if failure <= 0.5 else math.log(2 * (1 - failure))


class PartitionSelection:
    """A partition selection by the number of privacy ids, from `create_partition_strategy`."""

    #: The generator of random bits; None for the secure one.
    rng: ClassVar[Generator | None] = None

    def __init__(
        self,
        epsilon: float,
        delta: float,
        max_partitions: int,
        pre_threshold: int | None,
        rule: Threshold | Coin,
    ) -> None:
        self.epsilon, self.delta, self.pre_threshold = epsilon, delta, pre_threshold
        self.max_partitions_contributed = max_partitions
        self._rule = rule

    def _released(self, num_users: float) -> float | None:
        return dp.extend.release(num_users, self._rule, read=False, rng=self.rng)

    def should_keep(self, num_users: float) -> bool:
        """Draw whether a partition of `num_users` privacy ids is kept."""
        return self._released(num_users) not in (None, False)

    def noised_value_if_should_keep(self, num_users: float) -> float | None:
        """Return the noisy number of privacy ids, or None if the partition is not kept."""
        if not isinstance(self._rule, Threshold):
            checks.fail(
                "strategy", "'laplace' or 'gaussian' for a noisy number", "truncated_geometric"
            )
        return self._released(num_users)

    def probability_of_keep(self, num_users: int) -> float:
        """Return the probability that a partition is kept, for "truncated_geometric" alone."""
        if not isinstance(self._rule, Coin):
            checks.fail("strategy", "'truncated_geometric' for a probability", "a threshold")
        return float(self._rule.rule.probability(self._rule.reduce(num_users)))

    @property
    def threshold(self) -> float:
        """The least noisy number of privacy ids that is kept, for "laplace" and "gaussian"."""
        if not isinstance(self._rule, Threshold):
            checks.fail("strategy", "'laplace' or 'gaussian' for a threshold", "truncated")
        return self._rule.least + self._rule.below


def create_partition_strategy(
    strategy: str,
    epsilon: float,
    delta: float,
    max_partitions_contributed: int,
    pre_threshold: int | None = None,
) -> PartitionSelection:
    """Return a private partition selection, as ``pydp.algorithms.partition_selection`` does.

    Privacy
    -------
    Neighbors differ in one privacy id, which is added or removed. A privacy id is in at most
    `max_partitions_contributed` partitions. The decisions about all partitions together are
    (`epsilon`, `delta`)-DP.

    "truncated_geometric" keeps a partition with the probabilities of `dpfast.select_keys`. If an id
    is in one partition, these are the probabilities of Desfontaines, Voss, Gipson and Mandayam
    (PoPETs 2022). If an id may be in several, partitions need fewer privacy ids than by that paper.
    An epsilon above 500 counts as 500. "laplace" and "gaussian" add noise to the number of privacy
    ids, and compare it with a threshold.

    Parameters
    ----------
    strategy : {"truncated_geometric", "laplace", "gaussian"}
    epsilon, delta : float
    max_partitions_contributed : int
    pre_threshold : int, optional
        A public number: partitions with fewer privacy ids are never kept.

    Returns
    -------
    PartitionSelection

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> from dpfast.adapters.pipelinedp import create_partition_strategy
    >>> selection = create_partition_strategy("truncated_geometric", 1.0, 1e-5, 1)
    >>> selection.should_keep(0), selection.should_keep(1000)
    (False, True)
    """
    distribution = STRATEGIES[checks.choice("strategy", strategy, STRATEGIES)]
    epsilon, delta = checks.positive("epsilon", epsilon), checks.positive("delta", delta)
    groups = checks.whole("max_partitions_contributed", max_partitions_contributed, 1)
    before = None if pre_threshold is None else checks.whole("pre_threshold", pre_threshold, 1)
    below = 0 if before is None else before - 1
    loss = Approx(epsilon if distribution else min(epsilon, MOST), delta)
    rule: Threshold | Coin
    if distribution:
        rule = Threshold.of(distribution, loss, groups, below)
    else:
        rule = Coin(dp.extend.key_rule(loss, groups), below)
    return PartitionSelection(epsilon, delta, groups, before, rule)
