"""Partition selection under the names of PyDP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..._core import checks
from ...budget.release import release
from ...groups.key_coins import KeyRule
from ...groups.key_selection import choose_rule
from ...groups.thresholds import Threshold, threshold
from ...noise.additive import MOST
from ...noise.samplers import saturated
from ...privacy import Approx, Loss
from ...rng import Generator

#: More privacy ids than that are that many.
_MOST = 2.0**53
STRATEGIES = {"truncated_geometric": "", "laplace": "laplace", "gaussian": "gaussian"}


@dataclass(frozen=True)
class Coin:
    """Whether a key is shown, by the coin of a rule."""

    rule: KeyRule
    below: int

    name: ClassVar[str] = "keys"
    neighbors: ClassVar[str] = "add-remove"

    @property
    def loss(self) -> Loss:
        return self.rule.loss

    def reduce(self, source: float) -> int:
        return max(0, int(min(max(float(saturated(source)), 0.0), _MOST)) - self.below)

    def finish(self, summary: int, generator: Generator) -> bool:
        return summary > 0 and self.rule.keep_one(summary, generator.stream())


class PartitionSelection:
    """Whether to keep a partition, by its number of privacy ids; `create_partition_strategy`."""

    #: The secure one where it is None.
    rng: ClassVar[Generator | None] = None

    def __init__(
        self,
        epsilon: float,
        delta: float,
        max_partitions: int,
        pre_threshold: int | None,
        own: Threshold | Coin,
    ) -> None:
        self.epsilon, self.delta, self.pre_threshold = epsilon, delta, pre_threshold
        self.max_partitions_contributed = max_partitions
        self._own = own

    def should_keep(self, num_users: float) -> bool:
        """Draw whether a partition of so many privacy ids is kept."""
        found = release(num_users, self._own, budget=None, rng=self.rng)
        return found is not None and found is not False

    def noised_value_if_should_keep(self, num_users: float) -> float | None:
        """Return the number of privacy ids with noise, or None where it is not kept."""
        if not isinstance(self._own, Threshold):
            checks.fail("strategy", "'laplace' or 'gaussian' for a noisy number", "truncated")
        return release(num_users, self._own, budget=None, rng=self.rng)

    def probability_of_keep(self, num_users: int) -> float:
        """Return how probable it is that a partition is kept; of coins alone."""
        if not isinstance(self._own, Coin):
            checks.fail("strategy", "'truncated_geometric' for a probability", "thresholding")
        return self._own.rule.probability(self._own.reduce(num_users))

    @property
    def threshold(self) -> float:
        """What a noisy number must reach; of noise alone."""
        if not isinstance(self._own, Threshold):
            checks.fail("strategy", "'laplace' or 'gaussian' for a threshold", "truncated")
        return self._own.threshold


def create_partition_strategy(
    strategy: str,
    epsilon: float,
    delta: float,
    max_partitions_contributed: int,
    pre_threshold: int | None = None,
) -> PartitionSelection:
    """Return a partition selection, as ``pydp.algorithms.partition_selection`` does.

    Privacy
    -------
    Neighbors differ in one privacy id that comes or goes, which is in `max_partitions_contributed`
    partitions at most. All partitions together are (`epsilon`, `delta`)-DP.
    "truncated_geometric" takes the coins of `dpfast.select_keys`, which for one partition are
    those (Desfontaines, Voss, Gipson and Mandayam, PoPETs 2022), and for more show partitions of
    fewer privacy ids; an epsilon above 500 is taken for 500. The others are noise and a threshold.

    Parameters
    ----------
    strategy : {"truncated_geometric", "laplace", "gaussian"}
    epsilon, delta : float
    max_partitions_contributed : int
    pre_threshold : int, optional
        Partitions of fewer privacy ids are never kept.

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
    law = STRATEGIES[checks.choice("strategy", strategy, STRATEGIES)]
    epsilon, delta = checks.positive("epsilon", epsilon), checks.positive("delta", delta)
    groups = checks.whole("max_partitions_contributed", max_partitions_contributed, 1)
    before = None if pre_threshold is None else checks.whole("pre_threshold", pre_threshold, 1)
    own: Any
    if law:
        own = threshold(law, epsilon, delta, groups, before)
    else:
        rule = choose_rule(Approx(min(epsilon, MOST), delta), groups, "add-remove")
        own = Coin(rule, 0 if before is None else before - 1)
    return PartitionSelection(epsilon, delta, groups, before, own)
