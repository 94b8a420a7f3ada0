"""Error of sample and aggregate against the number of blocks, for every aggregator.

    python benchmarks/block_count.py [--repeats 600]

writes `blocks.json` and draws it into `blocks.png`, both in `docs/figures`.

The statistic is the variance of n normal rows, the sum of squares over n, whose bias on a block of
m rows is -1 / m. Aggregators that look at the middle of the block outputs see their skewness beside
it, 2/3 of that again. What `dp.suggest_blocks` makes of these public numbers is marked on each
curve; what it expects of each number of blocks is the thin line. Truth is known here, so errors may
be printed.

Block outputs are drawn from their exact distribution, chi-square with m - 1 degrees of freedom
over m, and go to the aggregator as they would from blocks of rows.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import dpfast as dp
from dpfast.aggregate import aggregators
from dpfast.aggregate.block_count import Trade
from dpfast.rng import InsecureGenerator

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
ROWS = 32_768
BOUNDS = (0.0, 4.0)
TRUTH = 1.0
EPSILONS = (0.3, 2.0)
#: The standard deviation of the variance of all rows.
SPREAD = (2 / ROWS) ** 0.5
BIAS = {"mean": 1.0, "winsorized-mean": 1.0}
SKEWED = 1.0 + 2 / 3
NAMES = [name for name in aggregators.AGGREGATORS if name != "auto"]
#: The median absolute value of a standard normal variable.
PROBABLE = 0.6744897501960817
#: Figures with one seed each can be drawn again, to the last bit.
SEED = 2011


def error(name, k, epsilon, repeats):
    """The median absolute error of the private variance."""
    rng, generator = np.random.default_rng([SEED, k]), InsecureGenerator(SEED)
    made = aggregators.make(name, k, *BOUNDS, dp.privacy.Pure(epsilon))
    m = ROWS // k
    outputs = np.clip(rng.chisquare(m - 1, (repeats, k)) / m, *BOUNDS)
    return float(np.median([abs(made.release(z, generator) - TRUTH) for z in outputs]))


def measure(repeats):
    table = []
    counts = sorted({round(k) for k in np.geomspace(4, ROWS // 4, 23)})
    for epsilon in EPSILONS:
        for name in NAMES:
            bias = BIAS.get(name, SKEWED)
            public = {"bounds": BOUNDS, "epsilon": epsilon, "bias": bias, "spread": SPREAD}
            suggested = dp.suggest_blocks(ROWS, aggregator=name, smallest_block=4, **public)
            width = BOUNDS[1] - BOUNDS[0]
            trade = Trade(
                ROWS, dp.privacy.Pure(epsilon), (BOUNDS,), (bias / width,), (SPREAD / width,)
            )
            for k in sorted({*counts, suggested}):
                row = {
                    "aggregator": name,
                    "epsilon": epsilon,
                    "blocks": k,
                    "suggested": k == suggested,
                    "runs": repeats,
                    "median_absolute_error": error(name, k, epsilon, repeats),
                    "expected": PROBABLE * width * trade.squared(name, k) ** 0.5,
                }
                table.append(row)
                print(*row.values(), sep="\t", flush=True)
    return table


def draw(table, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        1, len(EPSILONS), figsize=(11, 5), sharey=True, layout="constrained"
    )
    for axis, epsilon in zip(axes, EPSILONS, strict=True):
        for i, name in enumerate(NAMES):
            line = [r for r in table if (r["epsilon"], r["aggregator"]) == (epsilon, name)]
            k = [r["blocks"] for r in line]
            axis.plot(k, [r["median_absolute_error"] for r in line], color=f"C{i}", label=name)
            axis.plot(k, [r["expected"] for r in line], color=f"C{i}", lw=0.7, ls="--")
            for r in line:
                if r["suggested"]:
                    axis.plot(r["blocks"], r["median_absolute_error"], "o", color=f"C{i}", ms=9)
        axis.axhline(PROBABLE * SPREAD, color="0.5", lw=1)
        axis.annotate("not private", (4, PROBABLE * SPREAD), va="bottom", color="0.4", fontsize=8)
        axis.set(xscale="log", yscale="log", ylim=(3e-3, 3))
        axis.set(title=f"epsilon = {epsilon:g}", xlabel="blocks")
        axis.grid(alpha=0.3, which="both")
    axes[0].set_ylabel(f"median absolute error of the variance of {ROWS:,} rows")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=600)
    parser.add_argument("--out", type=Path, default=FIGURES, help="where both files go")
    given = parser.parse_args(sys.argv[1:])
    result = measure(given.repeats)
    (given.out / "blocks.json").write_text(json.dumps(result, indent=1) + "\n")
    draw(result, given.out / "blocks.png")
