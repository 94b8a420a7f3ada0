"""Error of a private median against epsilon, beside the rivals that are installed.

    python benchmarks/accuracy.py [--repeats 300]

writes `accuracy.json` and draws it into `accuracy.png`, both in `docs/figures`.

Two columns: the ages of the embedded Adult table (integers, heavy ties) and a synthetic salary
column (log-normal, 10,000 rows). Truth is public here, so errors may be printed. A rival's relation
is its own: OpenDP and PyDP count one row added or removed, diffprivlib one row replaced; dpfast is
drawn under both, with the method that it chooses by the loss alone (thick), with each of the two
that it chooses from, and with the exponential mechanism that has no liking for round numbers
(thin). OpenDP gets integers as candidates for the ages and ten thousand steps for the salaries.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np

import dpfast as dp

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import rivals

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
# Ages are integers: an error below this is none, and is drawn here.
LEAST = 1e-4
DASHES = {"smooth": "-", "exponential": "--"}


def columns():
    import pyarrow.parquet as pq

    adult = Path(dp.__file__).parent / "data" / "adult.parquet"
    ages = pq.read_table(adult, columns=["age"])["age"].to_numpy().astype(float)
    salaries = np.random.default_rng(2026).lognormal(np.log(48_000), 0.6, 10_000)
    return {
        "Adult ages (32,561 rows)": (ages, (0.0, 120.0)),
        "Synthetic salaries (10,000 rows)": (salaries, (0.0, 1e6)),
    }


def methods():
    def own(neighbors="replace", **kw):
        kw["neighbors"] = neighbors
        return lambda data, bounds, epsilon: dp.median(data, bounds=bounds, epsilon=epsilon, **kw)

    found = {
        "dpfast, replace": own(),
        "dpfast, add-remove": own(neighbors="add-remove"),
        "smooth, replace": own(method="smooth"),
        "exponential, replace": own(method="exponential"),
        "smooth, add-remove": own(method="smooth", neighbors="add-remove"),
        "exponential, add-remove": own(method="exponential", neighbors="add-remove"),
        "smooth sensitivity, constants of 2007": own(noise="cauchy-nrs"),
    }
    for name in rivals.NAMES:
        rival = rivals.load(name)
        if rival is None:
            print(f"{name} is not installed: skipped", file=sys.stderr)
        else:
            found[rivals.version(rival)] = getattr(rival, "accurate_median", rival.median)
    return found


def measure(repeats):
    table = []
    for column, (data, bounds) in columns().items():
        truth = float(np.sort(np.clip(data, *bounds))[(len(data) - 1) // 2])
        for method, median in methods().items():
            ours = method.startswith(("dpfast,", "smooth", "exponential"))
            runs = repeats if ours else min(repeats, 60)
            for epsilon in EPSILONS:
                try:
                    error = [abs(float(median(data, bounds, epsilon)) - truth) for _ in range(runs)]
                except (
                    RuntimeError
                ) as crash:  # diffprivlib's quantile underflows for large n epsilon
                    print(f"{method} failed at epsilon={epsilon}: {crash}"[:120], file=sys.stderr)
                    continue
                row = {
                    "column": column,
                    "method": method,
                    "epsilon": epsilon,
                    "runs": runs,
                    "median_absolute_error": float(np.median(error)),
                    "q90_absolute_error": float(np.quantile(error, 0.9)),
                }
                table.append(row)
                print(*row.values(), sep="\t", flush=True)
    return table


def _style(method, others):
    """Thick lines for what is chosen, thin ones for what there is to choose from, dashes beside."""
    colour = {"replace": "C0", "add-remove": "C1"}.get(method.rpartition(", ")[2])
    if method.startswith("dpfast"):
        return {"color": colour, "lw": 5, "alpha": 0.4}
    if colour:
        return {"color": colour, "lw": 1, "ls": DASHES[method.rpartition(", ")[0]]}
    return {"lw": 1.2, "ls": "-.", "marker": ".", "ms": 5, "color": next(others)}


def draw(table, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(r["column"] for r in table))
    figure, axes = plt.subplots(1, len(names), figsize=(11, 5), layout="constrained")
    for axis, column in zip(axes, names, strict=True):
        rows = [r for r in table if r["column"] == column]
        others = (f"C{i}" for i in range(2, 10))
        for method in dict.fromkeys(r["method"] for r in rows):
            line = [r for r in rows if r["method"] == method]
            axis.plot(
                [r["epsilon"] for r in line],
                [max(r["median_absolute_error"], LEAST) for r in line],
                label=method,
                **_style(method, others),
            )
        axis.set(xscale="log", yscale="log", title=column, xlabel="epsilon")
        axis.grid(alpha=0.3, which="both")
    axes[0].set_ylabel("median absolute error")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    warnings.simplefilter("ignore")
    result = measure(parser.parse_args().repeats)
    (FIGURES / "accuracy.json").write_text(json.dumps(result, indent=1) + "\n")
    draw(result, FIGURES / "accuracy.png")
