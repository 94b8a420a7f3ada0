"""What attacks recover: from noise that is too small, and from an allocation of a budget.

    python benchmarks/attacks.py [--runs 12]

writes `attacks.json` and draws it into `attacks.png`, both in `docs/figures`.

Secret bits are fair coins. On the left, an interface without privacy answers about random subsets
with normal noise, whose deviation is so many times sqrt(n). On the right, `dp.sulq.NoisySums`
answers at its full budget, in three ways, beside the bound for any interface with that loss; and
beside a faulty one, which charges for one question and answers eight for each bit.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
BITS = 128
TIMES = (4, 16)
FRACTIONS = tuple(round(0.0625 * 2**k, 4) for k in range(8))
METHODS = ("least-squares", "lp", "lp-max")
RHOS = (0.02, 0.1, 0.5, 2, 8)
SEED = 2003


def draw(rng, queries):
    return rng.random(BITS) < 0.5, rng.random((queries, BITS)) < 0.5


def without_privacy(fraction, times, method, runs):
    """The fraction that a method recovers of BITS bits, from noise of a multiple of sqrt(n)."""
    rng = np.random.default_rng([SEED, times, round(fraction * 10**4)])
    found = []
    for _ in range(runs):
        bits, sets = draw(rng, times * BITS)
        answers = sets @ (bits * 1) + rng.normal(0, fraction * math.sqrt(BITS), len(sets))
        guess = dp.audit.reconstruct(answers, BITS, queries=sets, method=method)
        found.append(float((guess == bits).mean()))
    return found


def sums(bits, generator, rho, queries):
    """So many noisy sums of bits, of which one may be another, for one slice."""
    return dp.sulq.NoisySums(
        bits * 1.0, rho=rho, queries=queries, neighbors="replace", rng=generator
    )


def halves(bits, rng, generator, rho):
    """Subsets at random, eight for each bit, and least squares."""
    _, sets = draw(rng, 8 * BITS)
    made = sums(bits, generator, rho, len(sets))
    answers = [made.sum("value", rows=one, bounds=(0, 1)) for one in sets]
    return dp.audit.reconstruct(answers, BITS, queries=sets, method="least-squares")


def every_bit(bits, rng, generator, rho):
    """All bits at once, a coordinate each: a row has one that is not 0, and the whole slice."""
    made = sums(bits, generator, rho, 1)
    answers = made.sum(np.diag(2.0 * bits - 1), l2=1.0)
    return answers > 0


def charged_once(bits, rng, generator, rho):
    """The fault: each question has the noise of one for the whole slice."""
    _, sets = draw(rng, 8 * BITS)
    noise = dp.noise.gaussian(math.sqrt(1 / (2 * rho)), len(sets), rng=generator)
    answers = sets @ (bits * 1) + noise
    return dp.audit.reconstruct(answers, BITS, queries=sets, method="least-squares")


WAYS = {
    "random subsets": halves,
    "every bit at once": every_bit,
    "charged for one question": charged_once,
}


def at_full_budget(way, rho, runs):
    rng = np.random.default_rng([SEED, round(rho * 10**4)])
    generator = InsecureGenerator(SEED)
    found = []
    for _ in range(runs):
        bits = rng.random(BITS) < 0.5
        found.append(float((WAYS[way](bits, rng, generator, rho) == bits).mean()))
    return found


def measure(runs, quick=False):
    """All figures, or some of them from two runs."""
    step, runs = (3, 2) if quick else (1, runs)
    small = [
        {
            "deviation_over_sqrt_n": fraction,
            "queries": times * BITS,
            "method": method,
            "recovered": float(np.mean(without_privacy(fraction, times, method, runs))),
            "expected": dp.audit.expected_recovery(
                BITS, queries=times * BITS, deviation=fraction * math.sqrt(BITS)
            ),
        }
        for times in TIMES
        for method in (METHODS if times == TIMES[0] else METHODS[:1])
        for fraction in FRACTIONS[::step]
    ]
    private = [
        {
            "rho": rho,
            "way": way,
            "recovered": float(np.mean(at_full_budget(way, rho, runs))),
            "bound": dp.audit.recovery_bound(rho=rho),
        }
        for way in WAYS
        for rho in RHOS[::step]
    ]
    return {"bits": BITS, "runs": runs, "without_privacy": small, "at_full_budget": private}


def plot(result, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    rows = result["without_privacy"]
    for times, colour in zip(TIMES, ("C0", "C1"), strict=True):
        x = np.geomspace(FRACTIONS[0], FRACTIONS[-1], 200)
        y = [
            dp.audit.expected_recovery(BITS, queries=times * BITS, deviation=f * math.sqrt(BITS))
            for f in x
        ]
        left.plot(x, y, color=colour, lw=1, label=f"{times} n queries, expected of least squares")
    for times, method, style in (
        (TIMES[0], "least-squares", "C0o"),
        (TIMES[0], "lp", "C2s"),
        (TIMES[0], "lp-max", "C3^"),
        (TIMES[1], "least-squares", "C1o"),
    ):
        own = [r for r in rows if (r["queries"], r["method"]) == (times * BITS, method)]
        left.plot(
            [r["deviation_over_sqrt_n"] for r in own],
            [r["recovered"] for r in own],
            style,
            ms=5,
            label=f"{times} n queries, {method}",
        )
    left.set(xscale="log", ylim=(0.48, 1.02), xlabel="deviation of the noise / sqrt(n)")
    left.set(ylabel="fraction of bits recovered", title=f"no privacy, n = {BITS}")
    x = np.geomspace(RHOS[0], RHOS[-1], 200)
    bound = [dp.audit.recovery_bound(rho=float(r)) for r in x]
    right.fill_between(x, bound, 1.02, color="0.9", label="no interface with this loss")
    gaussian = [NormalDist().cdf(math.sqrt(r / 2)) for r in x]
    right.plot(x, gaussian, color="0.4", lw=1, label="one bit in Gaussian noise")
    for way, style in zip(WAYS, ("C0o", "C2s", "C3x"), strict=True):
        own = [r for r in result["at_full_budget"] if r["way"] == way]
        label = f"{way} (a fault)" if way.startswith("charged") else way
        right.plot([r["rho"] for r in own], [r["recovered"] for r in own], style, label=label)
    right.set(xscale="log", ylim=(0.48, 1.02), xlabel="rho of all answers together")
    right.set(title="noisy sums at their full budget")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(0, -0.13), ncols=2)
    figure.savefig(path, dpi=90)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--quick", action="store_true", help="some figures, from two runs")
    parser.add_argument("--out", type=Path, default=FIGURES, help="where both files go")
    given = parser.parse_args(arguments)
    result = measure(given.runs, given.quick)
    (given.out / "attacks.json").write_text(json.dumps(result, indent=1) + "\n")
    plot(result, given.out / "attacks.png")


if __name__ == "__main__":
    main(sys.argv[1:])
