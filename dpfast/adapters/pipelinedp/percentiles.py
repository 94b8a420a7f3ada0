"""Percentiles of a partition by exponential mechanisms, in place of PyDP's quantile tree.

A privacy id is in at most L partitions, with at most k rows in each. Its rows together cost
epsilon, or (epsilon, delta):

* If quantiles are e-DP for a row, they are (k e)-DP for k rows, and (L k e)-DP in all partitions.
  So e = epsilon / (L k).
* If quantiles are r-zCDP for a row, they are (k**2 r)-zCDP for k rows, and (L k**2 r)-zCDP in all
  partitions (Bun and Steinke, TCC 2016, for groups of rows and composition). So r = rho / (L k**2),
  with the largest rho that implies (epsilon, delta)-DP.

Suppose that a privacy id has at most m rows in all partitions together, k_i of them in partition i.
Then sum k_i <= m and sum k_i**2 <= m**2, as for L = 1 and k = m.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import dpfast as dp
from dpfast.extend import checks
from dpfast.privacy import ZCDP
from dpfast.rng import Generator

from .mechanisms import MOST

#: Blocks of values in ascending order of length: each has at most about half as many values as the
#: next.
Blocks: TypeAlias = tuple[NDArray[np.float64], ...]


def accumulated(values: Sequence[Any]) -> Blocks:
    """Return the accumulator of a partition's values: the values as blocks."""
    numbers = [checks.real(value) for value in values]  # None becomes NaN, which is not counted
    return (np.array(numbers, np.float64),) if numbers else ()


def merged(first: Blocks, other: Blocks) -> Blocks:
    """Merge two accumulators; neither changes, and a value is copied log n times at most."""
    blocks: list[NDArray[np.float64]] = []
    for block in sorted((*first, *other), key=len):
        if blocks and len(block) < 2 * len(blocks[-1]):
            blocks[-1] = np.concatenate((blocks[-1], block))
        else:
            blocks.append(block)
    return tuple(blocks)


def computed(combiner: Any, blocks: Blocks, rng: Generator | None) -> list[float]:
    """Return the private percentiles that a combiner of PipelineDP requests, from blocks."""
    params, spec = combiner._params.aggregate_params, combiner._params.mechanism_spec
    if spec.standard_deviation_is_set:
        rule = "a NaiveBudgetAccountant, because percentiles have no standard deviation"
        checks.fail_kind("budget_accountant", rule, spec)
    most = params.max_contributions
    return of_partition(
        np.concatenate(blocks) if blocks else np.empty(0),
        combiner._quantiles_to_compute,
        bounds=(float(params.min_value), float(params.max_value)),
        epsilon=min(float(spec.eps), MOST),
        delta=float(spec.delta) if params.noise_kind.value == "gaussian" else 0.0,
        groups=1 if most else checks.whole("groups", params.max_partitions_contributed, 1),
        rows=checks.whole("rows", most or params.max_contributions_per_partition, 1),
        rng=rng,
    )


def of_partition(
    values: NDArray[np.float64],
    qs: list[float],
    *,
    bounds: tuple[float, float],
    epsilon: float,
    delta: float,
    groups: int,
    rows: int,
    rng: Generator | None,
) -> list[float]:
    """Return private quantiles of a partition's values; NaN does not count."""
    loss: dict[str, Any] = {"epsilon": checks.fraction("epsilon", epsilon) / (groups * rows)}
    if delta:
        loss = {"rho": ZCDP.largest(epsilon, delta).rho / (groups * rows**2)}
    shared: dict[str, Any] = {"neighbors": "add-remove", "nan": "drop", "rng": rng}
    return list(map(float, dp.quantiles(values, qs, bounds=bounds, **loss, **shared)))
