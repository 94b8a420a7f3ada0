"""A study of accuracy that everybody can repeat: the errors of a mean and a median by epsilon.

python study.py SEED

The rows are made up and the generator is seeded, so nothing here is private, and a budget would
refuse it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

import dpfast as dp

Errors: TypeAlias = dict[str, list[float]]
EPSILONS = (0.01, 0.1, 1.0)
BOUNDS = (0.0, 100.0)


def errors(
    rows: NDArray[np.float64], seed: int, epsilons: Sequence[float] = EPSILONS, repeats: int = 40
) -> Errors:
    """The mean absolute errors of both statistics, one for each epsilon."""
    rng = dp.rng.InsecureGenerator(seed)
    found: Errors = {"mean": [], "median": []}
    for epsilon in epsilons:
        means = [
            dp.mean(rows, bounds=BOUNDS, epsilon=epsilon, neighbors="replace", rng=rng)
            for _ in range(repeats)
        ]
        medians = [
            dp.median(rows, bounds=BOUNDS, epsilon=epsilon, neighbors="replace", rng=rng)
            for _ in range(repeats)
        ]
        found["mean"].append(float(np.abs(np.array(means) - rows.mean()).mean()))
        found["median"].append(float(np.abs(np.array(medians) - np.median(rows)).mean()))
    return found


def main(seed: int) -> Errors:
    """Print the errors of one seed."""
    rows = np.random.default_rng(seed).normal(50, 15, 2_000).clip(*BOUNDS)
    found = errors(rows, seed)
    for statistic, own in found.items():
        shown = ", ".join(
            f"{epsilon:g}: {error:.3g}" for epsilon, error in zip(EPSILONS, own, strict=True)
        )
        print(f"{statistic:7} {shown}")
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]))
