"""Percentiles of a partition in the place of a quantile tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...groups.percentiles import of_partition
from ...rng import Generator

#: Values in pieces, the shorter ones first, each about half as long as the next or less.
Pieces: TypeAlias = tuple[NDArray[np.float64], ...]


def accumulated(values: Sequence[Any]) -> Pieces:
    """Return the accumulator of some values."""
    numbers = [checks.real(value) for value in values]  # None becomes NaN, which does not count
    return (np.array(numbers, np.float64),) if numbers else ()


def merged(one: Pieces, other: Pieces) -> Pieces:
    """Merge two accumulators; neither changes, and a value is copied log n times at most."""
    pieces: list[NDArray[np.float64]] = []
    for piece in sorted((*one, *other), key=len):
        if pieces and len(piece) < 2 * len(pieces[-1]):
            pieces[-1] = np.concatenate((pieces[-1], piece))
        else:
            pieces.append(piece)
    return tuple(pieces)


def computed(combiner: Any, pieces: Pieces, rng: Generator | None) -> list[float]:
    """Return the percentiles that a combiner of PipelineDP is made for."""
    params, spec = combiner._params.aggregate_params, combiner._params.mechanism_spec
    if spec.standard_deviation_is_set:
        rule = "a NaiveBudgetAccountant for percentiles: their draws have no standard deviation"
        checks.fail_kind("budget_accountant", rule, spec)
    most = params.max_contributions
    return of_partition(
        np.concatenate(pieces) if pieces else np.empty(0),
        combiner._quantiles_to_compute,
        bounds=(float(params.min_value), float(params.max_value)),
        epsilon=float(spec.eps),
        delta=float(spec.delta) if params.noise_kind.value == "gaussian" else 0.0,
        max_groups=1 if most else params.max_partitions_contributed,
        max_rows=most or params.max_contributions_per_partition,
        rng=rng,
    )
