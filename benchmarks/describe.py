"""`dpfast.describe` of a wide table: its time, and its errors beside those with public bounds.

    python -m benchmarks.describe [--runs N] [--errors | --time]

*Time.* 1e6 rows of 300 columns of float64 in memory, the best of three rounds, with the threads
that there are.

*Errors.* Of 1e5 rows and a loss of the whole table, mean absolute errors of each statistic over
those of the same call with public bounds at the .001 and .999 quantiles of each column, and for the
same loss, over columns of one law and runs. The standard error of a ratio is that of a ratio of two
means of runs. Both calls have the same seeds (`SEED`). A quartile of whole numbers is often exact,
and then there is no ratio.
"""

import argparse
import time

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator

SEED, ROWS, LARGE, WIDE = 2026, 100_000, 1_000_000, 300
STATISTICS = ("count", "mean", "std", "25%", "50%", "75%")
#: Columns and losses of the errors.
CALLS = (
    (6, {"epsilon": 1}),
    (30, {"epsilon": 1}),
    (30, {"epsilon": 1, "delta": 1e-6}),
    (300, {"epsilon": 1, "delta": 1e-6}),
    (300, {"epsilon": 1}),
)


def laws(random, n):
    """Columns of six laws, by name."""
    return {
        "normal around 0": random.normal(0, 1, n),
        "normal around 50": random.normal(50, 10, n),
        "lognormal": random.lognormal(10, 0.6, n),
        "exponential": random.exponential(30, n),
        "whole, 18 to 90": random.integers(18, 91, n),
        "a third missing": np.where(random.random(n) < 1 / 3, np.nan, random.normal(5, 30, n)),
    }


def table(columns, n, seed):
    """Columns of each law, in turns."""
    random = np.random.default_rng(seed)
    found = {}
    while len(found) < columns:
        for law, column in laws(random, n).items():
            found[f"{law} {len(found)}"] = column
    return dict(list(found.items())[:columns])


def truth(column):
    """What is told of a column, exactly."""
    held = column[~np.isnan(column)] if column.dtype.kind == "f" else column
    return [len(held), held.mean(), held.std(), *np.quantile(held, [0.25, 0.5, 0.75])]


def ratios(columns, loss, runs):
    """The ratio of mean errors, and its standard error, by law and statistic."""
    data = table(columns, ROWS, SEED)
    public = {name: tuple(np.nanquantile(x, [0.001, 0.999])) for name, x in data.items()}
    exact = np.array([truth(x) for x in data.values()])
    names = [name.rpartition(" ")[0] for name in data]
    errors = np.empty((2, runs, *exact.shape))
    for way, bounds in enumerate((None, public)):
        for run in range(runs):
            rng = InsecureGenerator(SEED + run)
            answer = dp.describe(data, bounds=bounds, rng=rng, **loss)
            found = np.array([answer[name] for name in STATISTICS]).T
            errors[way, run] = abs(found - exact)
    for law in dict.fromkeys(names):
        own = errors[:, :, [name == law for name in names]].mean(axis=2)
        mean, deviation = own.mean(axis=1), own.std(axis=1, ddof=1) / runs**0.5
        with np.errstate(divide="ignore", invalid="ignore"):  # of errors that are all 0
            ratio = mean[0] / mean[1]
            yield law, ratio, ratio * np.hypot(*(deviation / mean))


def print_errors(runs):
    for columns, loss in CALLS:
        print(f"{columns} columns, {ROWS:,} rows, {loss}, {runs} runs, seed {SEED}")
        print(f"  {'':18}" + "".join(f"{name:>14}" for name in STATISTICS))
        for law, ratio, error in ratios(columns, loss, runs):
            cells = (
                f"{a:.2f} ± {b:.2f}" if np.isfinite(b) else "-"
                for a, b in zip(ratio, error, strict=True)
            )
            print(f"  {law:18}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def print_time():
    data, best = table(WIDE, LARGE, SEED), float("inf")
    data = {name: column.astype(float) for name, column in data.items()}
    for _ in range(3):
        start = time.perf_counter()
        dp.describe(data, epsilon=1)
        best = min(best, time.perf_counter() - start)
    print(f"{LARGE:,} x {WIDE} float64: {best:.2f} s, {dp.threads()} threads")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--errors", action="store_true", help="no time")
    parser.add_argument("--time", action="store_true", help="no errors")
    given = parser.parse_args()
    if not given.errors:
        print_time()
    if not given.time:
        print_errors(given.runs)
