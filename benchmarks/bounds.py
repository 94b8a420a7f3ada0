"""Ways to spend the quarter of epsilon that finds bounds, by the error of the mean that follows.

    python benchmarks/bounds.py [runs]

They are the draw that is shipped, and the sparse vector over growing guesses (Durfee, NeurIPS 2023)
rebuilt here, with exponential noise and half of the loss for either end, for the best of several
thresholds, which it could not know. It is widened in the same way. Errors are mean absolute ones,
over those with the least and the largest row of each sample as public bounds. All have the same
samples and the same number of runs. `accuracy.py` has the errors of other statistics.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import dpfast as dp

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks import accuracy
from dpfast.measurement.automatic_bounds import SHARE
from dpfast.measurement.outer_bounds import widened

SEED = 2031
SAMPLES = 4
ROOT = Path(__file__).parents[1]

Floats = NDArray[np.float64]


def tables() -> dict[str, Callable[[int], Floats]]:
    """Return how to draw rows of each data set."""
    random = np.random.default_rng(SEED)
    parts = dp.scan(ROOT / "dpfast" / "data" / "adult.parquet", "age")
    ages = parts.reduce(lambda chunk: chunk.values.astype(float).copy(), lambda a, b: np.r_[a, b])
    delays = accuracy.delays()
    return {
        "ages": lambda n: random.choice(ages, n),
        "salaries": lambda n: random.lognormal(10.8, 0.6, n),
        "delays": lambda n: random.choice(delays, n),
        "unit": lambda n: random.random(n),
    }


def ratio(a: Floats, b: Floats) -> str:
    """Return a ratio of means with its standard error."""
    r = a.mean() / b.mean() if b.mean() else math.inf
    parts = [x.std() / x.mean() / math.sqrt(len(x)) if x.mean() else 0.0 for x in (a, b)]
    return f"{r:.3g} ± {r * math.hypot(*parts):.1g}"


def sparse_vector(
    x: Floats, epsilon: float, beyond: float, base: float, random: np.random.Generator
) -> tuple[float, float]:
    """Return bounds by two calls of AboveThreshold with exponential noise on monotone counts."""
    guesses = base ** np.arange(math.ceil(380 * math.log(2, base))) - 1

    def end(ascending: Floats) -> float:
        half = epsilon / 4  # of half of the loss for an end: for the threshold, and for the queries
        for side in (ascending, -ascending[::-1]):
            below = np.searchsorted(side, guesses)
            noisy = below + random.exponential(1 / half, len(guesses))
            over = noisy >= len(x) - beyond + random.exponential(1 / half)
            place = int(np.argmax(over)) if over.any() else len(guesses) - 1
            if side is ascending and (place or not over.any()):
                return float(guesses[place])
            return 0.0
        return 0.0

    ascending = np.sort(x)
    lo, hi = -end(-ascending[::-1]), end(ascending)
    return widened(min(lo, hi), max(lo, hi, lo + 1e-12))


def compare(runs: int, epsilon: float = 1.0) -> None:
    share = epsilon * float(SHARE)
    print(f"\nerror of the mean over that with tight public bounds, epsilon {epsilon}, add-remove")
    print("| data | n | dp.bounds | sparse vector, base 2 | base 2^(1/16) |\n" + "|---" * 5 + "|")
    rng, random = dp.rng.InsecureGenerator(SEED), np.random.default_rng(SEED)
    rest = {"epsilon": Fraction(epsilon) * (1 - SHARE), "rng": rng}
    for data, rows in tables().items():
        for n in (3_000, 30_000):
            samples = [rows(n) for _ in range(SAMPLES)]

            def mean_error(
                bounds: Callable[[Floats], object], loss: dict = rest, samples: list = samples
            ) -> Floats:
                found = []
                for x in samples:
                    answers = [dp.mean(x, bounds=bounds(x), **loss) for _ in range(runs)]
                    found.append(np.abs(np.array(answers) - x.mean()))
                return np.concatenate(found)

            tight = mean_error(lambda x: (x.min(), x.max()), {"epsilon": epsilon, "rng": rng})
            cells = [
                data,
                n,
                ratio(mean_error(lambda x: dp.bounds(x, epsilon=share, rng=rng)), tight),
            ]
            for base in (2.0, 2 ** (1 / 16)):
                best = min(
                    (
                        mean_error(
                            lambda x, b=b, t=t: sparse_vector(x, share, t / share, b, random)
                        )
                        for b, t in [(base, t) for t in (1, 2, 4, 8, 16)]
                    ),
                    key=lambda found: found.mean(),
                )
                cells.append(ratio(best, tight))
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    print(f"seed {SEED}")
    compare(runs)
