"""The loss that an audit shows of our own mechanisms, over their claims, and faults that it finds.

    python benchmarks/audited.py [--quick] [--out folder]

writes `audited.json` in `docs/figures`. Each of our mechanisms is called on a pair of neighbors on
which it spends what it claims, or nearly; a ratio above 1 would be a fault of dpfast. Each planted
fault is audited at the claim that it breaks.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
SEED = 2024
#: Neighbors: one of the rows is there or not, or has another value.
GONE = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0]))
CHANGED = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0]))
WIDER = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0]))
ASIDE = (np.array([0.0, 0.5, 0.5]), np.array([1.0, 0.5, 0.5]))
SCORES = (np.array([0.0, 0.0, 1.0]), np.array([1.0, 1.0, 0.0]))


def of_a_release(function, **given):
    def mechanism(data):
        return function(data, **given, rng=GENERATOR)

    return mechanism


def of_scores(function, **given):
    def mechanism(data, size):
        return function(data, sensitivity=1, epsilon=1, size=size, rng=GENERATOR, **given)

    return mechanism


def with_noise(function, *args):
    def mechanism(data, size):
        return int(data.sum()) + function(*args, size, rng=GENERATOR)

    return mechanism


GENERATOR = InsecureGenerator(SEED)
ONE = {"epsilon": 1}
REPLACE = {**ONE, "neighbors": "replace"}
#: Name, mechanism, neighbors, claim.
OURS = {
    "noise.discrete_laplace": (with_noise(dp.noise.discrete_laplace, 1), GONE, ONE),
    "noise.discrete_gaussian": (with_noise(dp.noise.discrete_gaussian, 1), GONE, {"rho": 0.5}),
    "noise.laplace": (with_noise(dp.noise.laplace, 1.0), GONE, ONE),
    "selection.exponential": (of_scores(dp.selection.exponential), SCORES, ONE),
    "selection.permute_and_flip": (of_scores(dp.selection.permute_and_flip), SCORES, ONE),
    "count": (of_a_release(dp.count, **ONE), GONE, ONE),
    "sum": (of_a_release(dp.sum, bounds=(0, 1), **ONE), GONE, ONE),
    "mean": (of_a_release(dp.mean, bounds=(0, 1), **REPLACE), CHANGED, ONE),
    "variance": (of_a_release(dp.variance, bounds=(0, 1), **REPLACE), WIDER, ONE),
    "median": (of_a_release(dp.median, bounds=(0, 1), **REPLACE), ASIDE, ONE),
    "histogram": (of_a_release(dp.histogram, bins=2, bounds=(0, 1), **ONE), GONE, ONE),
}


# --- faults ---------------------------------------------------------------------------------------


def plain():
    return np.random.default_rng(SEED)


def on_grid(values, step):
    return np.round(values / step) * step


def keys(threshold):
    """The count of a key if it is above a threshold, else 0: (1, delta)-private for the right one.

    A key that one row has is on x only.
    """

    def mechanism(data, size):
        count = int(np.count_nonzero(data == 1))
        noisy = count + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        return np.where((count > 0) & (noisy > threshold), noisy, 0)

    return mechanism


#: Of the largest delta of a key: P(1 + noise > threshold).
THRESHOLD = 7
DELTA = math.exp(-THRESHOLD) / (1 + math.exp(-1))
ALONE = (np.array([0.0, 1.0]), np.array([0.0]))
RNG = plain()

FAULTS = {
    "half of the noise": (with_noise(dp.noise.discrete_laplace, 0.5), GONE, ONE),
    "a sensitivity that is twice as large": (
        lambda data, size: (
            int((2 * data - 1).sum()) + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        ),
        CHANGED,
        ONE,
    ),
    "the low bits of floats (Laplace of NumPy)": (
        lambda data, size: data.sum() + RNG.laplace(0, 1, size),
        GONE,
        ONE,
    ),
    "the low bits of floats, one at a time": (
        lambda data: float(data.sum() + RNG.laplace(0, 1)),
        GONE,
        ONE,
    ),
    "a threshold that is off by one": (
        keys(THRESHOLD - 1),
        ALONE,
        {"epsilon": 1, "delta": DELTA},
    ),
    "one seed for all calls": (lambda data: data.sum() + plain().laplace(0, 1), GONE, ONE),
    "a seed of the data": (
        lambda data: data.sum() + np.random.default_rng(len(data)).laplace(0, 1),
        GONE,
        ONE,
    ),
    "a grid from the data": (
        lambda data, size: on_grid(RNG.laplace(0, 3, size), data.mean() / 10),
        GONE,
        ONE,
    ),
    "a count that leaks": (
        lambda data, size: (
            int(data.sum()) + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        ) / len(data),
        GONE,
        ONE,
    ),
    "an error for some data": (lambda data: 1 / (len(data) - 2), GONE, ONE),
}  # fmt: skip


def audited(mechanism, pair, claim, samples):
    """A row of a table."""
    begun = time.perf_counter()
    found = dp.audit.measure(mechanism, *pair, **claim, samples=samples)
    shown, asked = ("rho", claim["rho"]) if "rho" in claim else ("epsilon", claim["epsilon"])
    return {
        "claim": repr(found.claim) if len(claim) == 1 else "Approx(epsilon=1, delta=0.000667)",
        "shown": round(getattr(found, shown), 4),
        "ratio": round(getattr(found, shown) / asked, 3),
        "refuted": found.refuted,
        "p_value": float(f"{found.p_value:.2g}"),
        "samples": found.samples,
        "seconds": round(time.perf_counter() - begun, 2),
        "witness": found.witness,
    }


def measure(quick):
    global GENERATOR, RNG
    GENERATOR, RNG = InsecureGenerator(SEED), plain()
    many, few = (200_000, 3_000) if quick else (20_000_000, 60_000)
    ours = {}
    for name, (mechanism, pair, claim) in OURS.items():
        size = many if "." in name else few
        ours[name] = audited(mechanism, pair, claim, size)
    faults = {name: audited(*row, 2_000_000) for name, row in FAULTS.items()}
    return {"ours": ours, "faults": faults, "quick": quick}


def table(result):
    """The tables of the page, as Markdown."""
    lines = ["| mechanism | claim | shown | shown / claim | answers |", "|---|---|---:|---:|---:|"]
    for name, row in result["ours"].items():
        lines.append(
            f"| `{name}` | `{row['claim']}` | {row['shown']:.3f} | {row['ratio']:.2f} "
            f"| {row['samples']:,} |"
        )
    lines += ["", "| fault | answers | p-value | seconds |", "|---|---:|---:|---:|"]
    for name, row in result["faults"].items():
        lines.append(f"| {name} | {row['samples']:,} | {row['p_value']:.0e} | {row['seconds']} |")
    return "\n".join(lines)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer answers")
    parser.add_argument("--out", type=Path, default=FIGURES, help="where the file goes")
    given = parser.parse_args(arguments)
    result = measure(given.quick)
    (given.out / "audited.json").write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main(sys.argv[1:])
