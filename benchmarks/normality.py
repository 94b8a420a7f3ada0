"""The utility theorem, shown: for many rows the private answer is distributed as the statistic.

    python benchmarks/normality.py [--repeats 6000]

writes `normality.json` and draws it into `normality.png`, both in `docs/figures`.

Smith (STOC 2011) proves that the widened winsorized mean of block outputs has the same limiting
normal distribution as the statistic on all rows. The statistic is the variance of n normal rows,
the sum of squares over n: biased by -1/n, skewed, and normal only in the limit, with standard
deviation sqrt(2 / n). Answers are standardised by that. The Kolmogorov distance to the standard
normal distribution is what the theorem says goes to 0.

* The winsorized mean keeps the distribution: both its noise and its bias vanish beside sqrt(2 / n).
* The trimmed mean keeps a normal distribution with 1.19 times the variance, and comes near
  to it earlier.
* The mean does not: its noise does not shrink with the outputs, and at the best number of blocks
  noise and bias are as large as the statistic's own deviation, for every n.

The number of blocks is that of `dp.suggest_blocks`, a public rule. Block outputs are drawn from
their exact distribution, chi-square, so n may be larger than any table.
"""

import argparse
import json
import math
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np

import dpfast as dp
from dpfast.aggregate import aggregators
from dpfast.rng import InsecureGenerator

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
ROWS = (10**4, 10**5, 10**6, 10**7, 10**8, 10**9, 10**10)
SHOWN = (10**4, 10**6, 10**8, 10**10)
BOUNDS = (0.0, 4.0)
EPSILON = 2.0
#: The bias of a block of m rows times m; for the trimmed mean with the skewness of the outputs.
BIAS = {"winsorized-mean": 1.0, "trimmed-mean": 1.5, "mean": 1.0}
#: Variance of the limit of the trimmed mean of normal outputs, a quarter off either end.
LIMIT = {"trimmed-mean": 1.19}
SEED = 2011


def statistic(n, repeats):
    """The statistic itself, standardised."""
    rng = np.random.default_rng([SEED, n])
    return (rng.chisquare(n - 1, repeats) / n - 1) / math.sqrt(2 / n)


def private(name, n, repeats):
    """The number of blocks, and private answers, standardised."""
    spread = math.sqrt(2 / n)
    k = dp.suggest_blocks(
        n,
        bounds=BOUNDS,
        epsilon=EPSILON,
        aggregator=name,
        bias=BIAS[name],
        spread=spread,
        smallest_block=4,
    )
    rng, generator = np.random.default_rng([SEED, k]), InsecureGenerator(SEED)
    made = aggregators.make(name, k, *BOUNDS, dp.privacy.Pure(EPSILON))
    m = n // k
    found = np.empty(repeats)
    for i in range(repeats):
        found[i] = made.release(np.clip(rng.chisquare(m - 1, k) / m, *BOUNDS), generator)
    return k, (found - 1) / spread


def distance(sample, variance=1.0):
    """The Kolmogorov distance of a sample to a normal distribution about 0."""
    distribution = NormalDist(0, math.sqrt(variance))
    exact = np.array([distribution.cdf(x) for x in np.sort(sample).tolist()])
    steps = np.arange(len(sample) + 1) / len(sample)
    return float(max(np.max(steps[1:] - exact), np.max(exact - steps[:-1])))


def measure(repeats):
    table = []
    for n in ROWS:
        for name in ("not private", *BIAS):
            if name == "not private":
                k, sample = None, statistic(n, repeats)
            else:
                k, sample = private(name, n, repeats)
            row = {
                "rows": n,
                "method": name,
                "epsilon": None if k is None else EPSILON,
                "blocks": k,
                "runs": repeats,
                "mean": float(np.mean(sample)),
                "standard_deviation": float(np.std(sample)),
                "kolmogorov_distance": distance(sample, LIMIT.get(name, 1.0)),
                "quantiles": np.quantile(sample, np.arange(1, 200) / 200).round(4).tolist(),
            }
            table.append(row)
            print(*list(row.values())[:-1], sep="\t", flush=True)
    return table


def draw(table, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
    distribution = NormalDist()
    x = np.linspace(-4, 4, 401)
    left.fill_between(
        x, [distribution.cdf(t) for t in x], color="0.9", label="limit: standard normal"
    )
    for i, n in enumerate(SHOWN):
        row = next(r for r in table if (r["rows"], r["method"]) == (n, "winsorized-mean"))
        parts = np.arange(1, 200) / 200
        label = f"n = 1e{round(math.log10(n))}, {row['blocks']:,} blocks"
        left.plot(row["quantiles"], parts, color=plt.cm.viridis(i / len(SHOWN)), label=label)
    left.set(xlim=(-4, 4), ylim=(0, 1), xlabel="(answer - truth) / sqrt(2 / n)")
    left.set(title=f"distribution of the winsorized mean, epsilon = {EPSILON:g}")
    left.legend(fontsize=8, loc="upper left")
    runs = table[0]["runs"]
    for name in dict.fromkeys(r["method"] for r in table):
        line = [r for r in table if r["method"] == name]
        style = {"color": "0.4", "ls": ":"} if name == "not private" else {"marker": "o", "ms": 4}
        label = f"{name} (to its own limit)" if name in LIMIT else name
        distances = [r["kolmogorov_distance"] for r in line]
        right.plot([r["rows"] for r in line], distances, label=label, **style)
    right.axhspan(1e-9, 1.36 / math.sqrt(runs), color="0.92")
    right.annotate(
        f"not told from 0 by {runs:,} draws", (1.2e4, 0.55 / math.sqrt(runs)), fontsize=8
    )
    right.set(xscale="log", yscale="log", ylim=(0.5 / math.sqrt(runs), 3), xlabel="rows")
    right.set(title="Kolmogorov distance to the limiting normal distribution")
    right.grid(alpha=0.3, which="both")
    right.legend(fontsize=8, loc="upper right", ncols=2)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=6000)
    parser.add_argument("--out", type=Path, default=FIGURES, help="where both files go")
    given = parser.parse_args(sys.argv[1:])
    result = measure(given.repeats)
    (given.out / "normality.json").write_text(json.dumps(result) + "\n")
    draw(result, given.out / "normality.png")
