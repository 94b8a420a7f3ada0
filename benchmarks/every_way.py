"""Error against epsilon for every way to release a median and a mean.

    python benchmarks/every_way.py [--repeats 300] [--quick] [--out docs/figures]

writes `every-way.json` and draws it into `every-way-median.png` and `every-way-mean.png`. The
columns are those of the embedded Adult table, so truth may be known and errors be printed: the
ages (heavy ties), the capital gains above 0 (heavy tail, few rows), the sampling weights for
medians (hardly a tie), and the ages with careless bounds for means. All releases are for a row that
is replaced, unless their name says otherwise, and cost epsilon, or (epsilon, `DELTA`); those that
want rho get the largest one within that. Errors are distances from the median or the mean of all
rows, so what a trimmed mean leaves out counts as error.

Each figure has a seed of its own: it can be drawn again, to the last bit, by itself.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks.published import offered

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: About 1 / n**2 for the ages. Public.
DELTA = 1e-9
QUICK = 5
AGGREGATORS = (
    "mean",
    "smooth-median",
    "exponential-median",
    "trimmed-mean",
    "winsorized-mean",
    "attention",
)
#: Where errors of a median are drawn that are less, or nothing.
FOOT = {"ages": 1e-4, "capital gains above 0": 1e-2, "sampling weights": 1e-2}
LOSSES = {"pure": "epsilon", "approx": f"(epsilon, {DELTA:g})"}


@dataclass(frozen=True)
class Column:
    """Rows, and what is public about them."""

    rows: Any
    bounds: tuple[float, float]
    blocks: int
    statistics: tuple[str, ...] = ("median", "mean")

    @property
    def width(self):
        return self.bounds[1] - self.bounds[0]

    def truth(self, statistic):
        if statistic == "mean":
            return self.rows.mean()
        return np.sort(self.rows)[(len(self.rows) - 1) // 2]


def columns():
    import pyarrow.parquet as pq

    adult = Path(dp.__file__).parent / "data" / "adult.parquet"
    table = pq.read_table(adult, columns=["age", "capital_gain", "fnlwgt"])
    # As numbers of any size: columns of whole numbers would be answered with these.
    ages, gains, weights = (table[name].to_numpy().astype(float) for name in table.column_names)
    return {
        "ages": Column(ages, (0.0, 100.0), 600),
        "capital gains above 0": Column(gains[gains > 0], (0.0, 100_000.0), 100),
        "sampling weights": Column(weights, (0.0, 2e6), 600, ("median",)),
        "ages, careless bounds": Column(ages, (0.0, 100_000.0), 600, ("mean",)),
    }


@cache
def within(epsilon):
    """The largest rho within (epsilon, DELTA)."""
    return dp.privacy.ZCDP.largest(epsilon, DELTA).rho


@dataclass(frozen=True)
class Way:
    """One way to release a statistic: `call(column, loss, rng)` gives an answer."""

    statistic: str
    loss: str
    name: str
    call: Callable[..., Any]
    concentrated: bool = False

    def errors(self, title, column, epsilon, repeats):
        """Distances from the truth; infinite where there is no answer."""
        loss = {"epsilon": epsilon}
        if self.concentrated:
            loss = {"rho": within(epsilon)}
        elif self.loss == "approx":
            loss["delta"] = DELTA
        words = f"{title}; {self.statistic}; {self.loss}; {self.name}; {epsilon}"
        rng = InsecureGenerator(crc32(words.encode()))
        truth = column.truth(self.statistic)
        found = [self.call(column, loss, rng) for _ in range(repeats)]
        return np.array([math.inf if x is dp.NO_ANSWER else abs(x - truth) for x in found])


REPLACE = {"neighbors": "replace"}


def _median(**more):
    more = REPLACE | more
    return lambda c, loss, rng: dp.median(c.rows, bounds=c.bounds, rng=rng, **loss, **more)


def _published_median(c, loss, rng):
    with offered():
        return _median(noise="laplace-nrs")(c, loss, rng)


def _proposed_median(c, loss, rng):
    asked = {"bounds": c.bounds, "proposed": c.width / 10_000} | REPLACE
    return dp.ptr.quantile(c.rows, 0.5, rng=rng, **asked, **loss)


def _mean(neighbors):
    return lambda c, loss, rng: dp.mean(
        c.rows, bounds=c.bounds, neighbors=neighbors, rng=rng, **loss
    )


def _proposed_mean(c, loss, rng):
    # The textbook's 0.005 for ages up to 100; as much beyond what is needed for the others.
    proposed = 0.005 / 100 * 32_561 * c.width / len(c.rows)
    return dp.ptr.mean(c.rows, bounds=c.bounds, proposed=proposed, rng=rng, **loss)


def _cut(statistic, proportion, **more):
    release, more = getattr(dp, f"{statistic}_mean"), REPLACE | more
    return lambda c, loss, rng: release(
        c.rows, proportion=proportion, bounds=c.bounds, rng=rng, **loss, **more
    )


def _blocks(estimator, aggregator):
    return lambda c, loss, rng: dp.sample_and_aggregate(
        c.rows,
        estimator,
        blocks=c.blocks,
        bounds=c.bounds,
        aggregator=aggregator,
        rng=rng,
        **REPLACE,
        **loss,
    )


def ways():
    """All of them, in the order of the legend."""
    pure = ("polyplace", "polyplace-finite-variance", "cauchy", "student-t", "generalized-cauchy")
    found = [Way("median", "pure", f"smooth, {n}", _median(noise=n)) for n in pure]
    found.append(Way("median", "pure", "exponential", _median(method="exponential")))
    for name in ("smooth", "exponential"):
        call = _median(method=name, neighbors="add-remove")
        found.append(Way("median", "pure", f"{name}, add-remove", call))
    found.append(Way("median", "approx", "smooth, laplace-nrs", _published_median))
    for name in ("laplace", "gaussian"):
        found.append(Way("median", "approx", f"smooth, {name}", _median(noise=name)))
    found += [
        Way("median", "approx", "smooth, arsinh-normal", _median(noise="arsinh-normal"), True),
        Way("median", "approx", "exponential", _median(method="exponential"), True),
        Way("median", "approx", "propose-test-release", _proposed_median),
    ]
    for loss in LOSSES:
        for relation in ("replace", "add-remove"):
            found.append(Way("mean", loss, f"dp.mean, {relation}", _mean(relation)))
    found.append(Way("mean", "approx", "propose-test-release, add-remove", _proposed_mean))
    for loss in LOSSES:
        for statistic in ("trimmed", "winsorized"):
            for percent in (1, 10):
                name = f"{statistic} by {percent} %"
                found.append(Way("mean", loss, name, _cut(statistic, percent / 100)))
            call = _cut(statistic, 0.01, neighbors="add-remove")
            found.append(Way("mean", loss, f"{statistic} by 1 %, add-remove", call))
    for statistic in ("median", "mean"):
        for loss in LOSSES:
            for name in AGGREGATORS:
                call = _blocks(statistic, name)
                found.append(Way(statistic, loss, f"blocks, {name}", call))
    return found


def _short(x):
    return None if math.isinf(x) else float(f"{x:.4g}")


def measure(epsilons, repeats):
    """One entry for each column and way, with a figure for each epsilon."""
    table = []
    for title, column in columns().items():
        for way in ways():
            if way.statistic not in column.statistics:
                continue
            errors = [way.errors(title, column, e, repeats) for e in epsilons]
            entry = {
                "column": title,
                "statistic": way.statistic,
                "loss": way.loss,
                "way": way.name,
                "q10": [_short(np.quantile(e, 0.1, method="lower")) for e in errors],
                "median": [_short(np.quantile(e, 0.5, method="lower")) for e in errors],
                "q90": [_short(np.quantile(e, 0.9, method="higher")) for e in errors],
                "answered": [float(np.isfinite(e).mean()) for e in errors],
            }
            table.append(entry)
            print(title, way.statistic, way.loss, way.name, entry["median"], sep="\t", flush=True)
    return {"epsilon": epsilons, "delta": DELTA, "repeats": repeats, "ways": table}


def write(result, path):
    """One line an entry."""
    head = ",\n".join(f' "{k}": {json.dumps(v)}' for k, v in result.items() if k != "ways")
    lines = ",\n".join(f"  {json.dumps(entry)}" for entry in result["ways"])
    path.write_text(f'{{\n{head},\n "ways": [\n{lines}\n ]\n}}\n')


def draw(result, statistic, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    table = [entry for entry in result["ways"] if entry["statistic"] == statistic]
    titles = list(dict.fromkeys(entry["column"] for entry in table))
    names = list(dict.fromkeys(entry["way"] for entry in table))
    families = {"smooth": "-", "blocks": ":", "trimmed": "-", "winsorized": "-"}
    colours = plt.get_cmap("tab20").colors
    figure, axes = plt.subplots(len(LOSSES), len(titles), figsize=(12, 8), sharex=True)
    figure.subplots_adjust(0.07, 0.19, 0.99, 0.96, 0.18, 0.12)
    for row, (loss, words) in zip(axes, LOSSES.items(), strict=True):
        for axis, title in zip(row, titles, strict=True):
            foot = FOOT.get(title, 0.0) if statistic == "median" else 0.0
            for entry in table:
                if (entry["column"], entry["loss"]) != (title, loss):
                    continue
                number = names.index(entry["way"])
                axis.plot(
                    result["epsilon"],
                    [math.nan if x is None else max(x, foot) for x in entry["median"]],
                    ls=families.get(entry["way"].split(",")[0].split(" ")[0], "--"),
                    color=colours[number % len(colours)],
                    lw=1.4,
                    marker=".",
                    ms=5,
                    label=entry["way"],
                )
            axis.set(xscale="log", yscale="log", title=f"{title}: {words}")
            axis.grid(alpha=0.3)
        row[0].set_ylabel(f"median absolute error of the {statistic}")
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    legend = {}
    for axis in axes.flat:
        legend |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    figure.legend(legend.values(), legend, loc="lower center", ncols=5, fontsize=8)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help=f"a third of it, {QUICK} times")
    parser.add_argument("--out", type=Path, default=FIGURES, help="where the files go")
    given = parser.parse_args(arguments)
    result = measure(EPSILONS[1::4], QUICK) if given.quick else measure(EPSILONS, given.repeats)
    write(result, given.out / "every-way.json")
    for statistic in ("median", "mean"):
        draw(result, statistic, given.out / f"every-way-{statistic}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
