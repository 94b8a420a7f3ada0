"""Error against epsilon of what is learned from noisy sums.

    python benchmarks/learned.py [--repeats 60] [--quick] [--out docs/figures]

writes `learned.json` and draws it into `learned.png`. Data are public, or made here, so errors may
be printed. Each fit costs epsilon, or (epsilon, `DELTA`), for rows that come and go. A line at the
foot of a panel is what the same method reaches without privacy.

Each figure has a seed of its own: it can be made again, to the last bit, by itself.
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

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
#: Public, and below 1 / n for all tables here.
DELTA = 1e-6
QUICK = 5
LOSSES = {"pure": "epsilon", "approx": f"(epsilon, {DELTA:g})"}


@dataclass(frozen=True)
class Learner:
    """What is fitted: `error(loss, rng)` of one fit, and what is possible without noise."""

    name: str
    measure: str
    exact: float
    error: Callable[..., float]

    def errors(self, kind: str, epsilon: float, repeats: int) -> Any:
        """Of so many fits, in increasing order."""
        rng = InsecureGenerator(crc32(f"{self.name}; {kind}; {epsilon}".encode()))
        loss = {"epsilon": epsilon, **({"delta": DELTA} if kind == "approx" else {})}
        return np.sort([self.error(loss, rng) for _ in range(repeats)])


def _inertia(rows: Any, centres: Any) -> float:
    """The mean squared distance from the nearest centre."""
    least = np.full(len(rows), np.inf)
    for centre in centres:
        np.minimum(least, ((rows - centre) ** 2).sum(axis=1), out=least)
    return float(least.mean())


@cache
def _mixture() -> tuple[Any, Any]:
    """20,000 rows around six centres, no two of which are near."""
    g = np.random.default_rng(7)
    centres = np.array([[x, y, z] for x in (0.2, 0.8) for y in (0.25, 0.75) for z in (0.3, 0.7)])[
        :6
    ]
    rows = centres[g.integers(0, 6, 20_000)] + g.normal(0, 0.05, (20_000, 3))
    return np.clip(rows, 0, 1), centres


@cache
def _digits() -> tuple[Any, Any]:
    """1,797 pictures of 8 x 8 points, 0 to 16, and which digit each is."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return np.asarray(found.data), np.asarray(found.target)


@cache
def _adult() -> Any:
    """Six columns of the embedded table between -1 and 1, as in `docs/gallery/components.md`."""
    import pyarrow.parquet as pq

    table = pq.read_table(Path(dp.__file__).parent / "data" / "adult.parquet")

    def says(column: str, word: str) -> Any:
        return np.where(table[column].to_numpy(zero_copy_only=False) == word, 1.0, -1.0)

    return np.column_stack(
        [
            (table["age"].to_numpy() - 50) / 50,
            (table["education_num"].to_numpy() - 8.5) / 7.5,
            (table["hours_per_week"].to_numpy() - 50) / 50,
            says("marital_status", "Married-civ-spouse"),
            says("sex", "Male"),
            says("income", ">50K"),
        ]
    )


def _clusters(name: str, rows: Any, k: int, bounds: Any) -> Learner:
    from sklearn.cluster import KMeans

    best = KMeans(k, n_init=10, random_state=0).fit(rows).cluster_centers_
    least = _inertia(rows, best)

    def error(loss: Any, rng: Any) -> float:
        made = dp.learn.KMeans(k, bounds=bounds, **loss).fit(rows, rng=rng)
        return _inertia(rows, made.cluster_centers_) / least

    return Learner(name, "inertia / that of scikit-learn", 1.0, error)


def _centres(name: str) -> Learner:
    rows, centres = _mixture()

    def off(found: Any) -> float:
        distance = np.sqrt(((centres[:, None] - found) ** 2).sum(axis=2))
        return float(distance.min(axis=1).mean())

    def error(loss: Any, rng: Any) -> float:
        return off(dp.learn.KMeans(6, bounds=(0, 1), **loss).fit(rows, rng=rng).cluster_centers_)

    nearest = ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    means = np.array([rows[nearest == j].mean(axis=0) for j in range(6)])
    return Learner(name, "mean distance of a true centre", off(means), error)


def _components(name: str, rows: Any, count: int, bounds: Any) -> Learner:
    covariance = np.cov(rows.T, bias=True)
    best = np.linalg.eigvalsh(covariance)[-count:].sum()

    def error(loss: Any, rng: Any) -> float:
        made = dp.learn.PCA(count, bounds=bounds, **loss).fit(rows, rng=rng).components_
        return max(float(1 - np.trace(made @ covariance @ made.T) / best), 0.0)

    return Learner(name, "variance not explained, of what can be", 0.0, error)


@cache
def _sides() -> tuple[Any, Any]:
    """20,000 rows of four columns on the two sides of a plane."""
    rows = np.random.default_rng(11).uniform(-1, 1, (20_000, 4))
    return rows, np.where(rows @ [0.6, -0.5, 0.4, 0.3] > 0.1, 1, -1)


def _classifier(name: str, rows: Any, labels: Any, make: Callable[..., Any]) -> Learner:
    """What the learner gets wrong, of the rows that it learns from."""

    def error(loss: Any, rng: Any) -> float:
        return float(np.mean(make(**loss).fit(rows, labels, rng=rng).predict(rows) != labels))

    without = error({"epsilon": 500}, InsecureGenerator(0))
    return Learner(name, "rows told wrongly", without, error)


def _plane(name: str) -> Learner:
    rows, labels = _sides()
    return _classifier(name, rows, labels, lambda **p: dp.learn.Perceptron(bounds=(-1, 1), **p))


def _tree(name: str) -> Learner:
    age, education, hours, married, male, income = _adult().T
    codes = [50 + 50 * age, 8.5 + 7.5 * education, 50 + 50 * hours, married > 0, male > 0]
    decade, *_ = columns = [np.rint(x).astype(int) for x in codes]
    columns[0], columns[2] = decade // 10, columns[2] // 10
    public = [range(10), range(1, 17), range(10), range(2), range(2)]
    public = [[float(x) for x in one] for one in public]

    def make(**p: Any) -> Any:
        return dp.learn.ID3Classifier(public, classes=[-1, 1], **p)

    return _classifier(name, np.column_stack(columns), income.astype(int), make)


def _bayes(name: str) -> Learner:
    rows, income = _adult()[:, :5], _adult()[:, 5].astype(int)

    def make(**p: Any) -> Any:
        return dp.learn.NaiveBayes(bounds=(-1, 1), classes=[-1, 1], **p)

    return _classifier(name, rows, income, make)


def _regression(name: str) -> Learner:
    """Hours of work from age, education, marriage and sex."""
    table = _adult()
    rows, target = table[:, [0, 1, 3, 4]], table[:, 2]
    ones = np.column_stack([np.ones(len(rows)), rows])
    best = np.mean((target - ones @ np.linalg.lstsq(ones, target, rcond=None)[0]) ** 2)

    def error(loss: Any, rng: Any) -> float:
        made = dp.learn.LinearRegression(bounds=(-1, 1), y_bounds=(-1, 1), **loss)
        off = np.mean((target - made.fit(rows, target, rng=rng).predict(rows)) ** 2)
        return max(float(off / best - 1), 0.0)

    return Learner(name, "squared error above the least, of the least", 0.0, error)


@cache
def learners() -> tuple[Learner, ...]:
    """In the order of the panels."""
    return (
        _centres("k-means, mixture"),
        _clusters("k-means, digits", _digits()[0], 10, (0, 16)),
        _components("PCA, Adult", _adult(), 2, (-1, 1)),
        _components("PCA, digits", _digits()[0], 5, (0, 16)),
        _plane("perceptron, two sides"),
        _tree("ID3, Adult"),
        _bayes("naive Bayes, Adult"),
        _regression("regression, Adult"),
    )


def measure(epsilons: Any, repeats: int) -> dict[str, Any]:
    """Quantiles of all errors."""
    table = []
    for learner in learners():
        lines: dict[str, dict[str, list[float]]] = {}
        for kind in LOSSES:
            errors = [learner.errors(kind, epsilon, repeats) for epsilon in epsilons]
            lines[kind] = {
                name: [float(f"{np.quantile(e, q):.3g}") for e in errors]
                for name, q in (("q10", 0.1), ("median", 0.5), ("q90", 0.9))
            }
        exact = float(f"{learner.exact:.3g}")
        table.append({"learner": learner.name, "measure": learner.measure, "exact": exact, **lines})
    return {
        "epsilon": list(epsilons),
        "delta": DELTA,
        "repeats": repeats,
        "learners": table,
    }


def draw(result: dict[str, Any], path: Path) -> None:
    """One panel a learner."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    table, across = result["learners"], 2
    down = math.ceil(len(table) / across)
    figure, axes = plt.subplots(
        down, across, figsize=(4.5 * across, 3.3 * down), layout="constrained", squeeze=False
    )
    for axis, entry in zip(axes.flat, table, strict=False):
        for kind, colour in zip(LOSSES, ("C3", "C2"), strict=True):
            line, foot = entry[kind], 1e-9
            low, middle, high = (np.maximum(line[q], foot) for q in ("q10", "median", "q90"))
            axis.fill_between(result["epsilon"], low, high, color=colour, alpha=0.2, lw=0)
            axis.plot(result["epsilon"], middle, "o-", c=colour, ms=3.5, label=LOSSES[kind])
        if entry["exact"]:
            axis.axhline(entry["exact"], c="C0", lw=1, label="without privacy")
        axis.set(xscale="log", yscale="log", title=entry["learner"], ylabel=entry["measure"])
        axis.yaxis.label.set_size(8)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(table) :]:
        axis.set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("epsilon")
    axes[0, 0].legend(fontsize=8)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help=f"a third of it, {QUICK} times")
    parser.add_argument("--out", type=Path, default=FIGURES, help="where the files go")
    given = parser.parse_args(arguments)
    result = measure(EPSILONS[1::3], QUICK) if given.quick else measure(EPSILONS, given.repeats)
    words = json.dumps(result, indent=1)
    (given.out / "learned.json").write_text(words + "\n", encoding="utf-8")
    draw(result, given.out / "learned.png")


if __name__ == "__main__":
    main(sys.argv[1:])
