"""What learns from noisy sums beside diffprivlib: time, and error at equal epsilon over 20 runs.

    python benchmarks/learners.py [NAME ...] [--rows 200000] [--runs 20] [--epsilon 0.5 2]

One function a learner; names choose some. Both get the same rows, bounds and epsilon (no delta);
the relation is each one's default. Times are the best of a few calls on the same many rows, in one
thread and one process, in turn; errors are those of runs on fewer rows, measured on the data
themselves, which are public here. Nothing is asserted; the last line says what missed a target.
Where diffprivlib cannot be imported, dpfast stands alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("DPFAST_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from dpfast import learn

try:  # which some versions of scikit-learn are too new for
    from diffprivlib import models
except ImportError:
    models = None

#: How many times faster, and by how many standard errors of the difference of means an error may be
#: larger before it counts as larger.
FASTER, SPREAD = 10.0, 2.0


@dataclass(frozen=True)
class Case:
    """A learner of each side.

    Parameters
    ----------
    name : str
    large, small : tuple of arrays
        What is fitted: for the clock, and for errors.
    ours, theirs : callable
        ``ours(*small)`` is what was learned, a fresh draw each time.
    error : callable
        ``error(learned, *small)``, the less the better.
    measure : str
        What that is.
    """

    name: str
    large: tuple[Any, ...]
    small: tuple[Any, ...]
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    error: Callable[..., float]
    measure: str


def k_means(rows: int, epsilon: float) -> Iterator[Case]:
    """Eight clusters in five columns: the mean squared distance from the nearest centre, as a
    multiple of that from the true ones."""
    g = np.random.default_rng(0)
    k, d = 8, 5
    true = g.uniform(0.1, 0.9, (k, d))

    def mixture(n):
        return np.clip(true[g.integers(0, k, n)] + g.normal(0, 0.05, (n, d)), 0, 1)

    def inertia(centres, data):
        return float(((data[:, None] - centres) ** 2).sum(axis=2).min(axis=1).mean())

    yield Case(
        f"k-means, {k} clusters, {d} columns, epsilon {epsilon:g}",
        (mixture(rows),),
        (mixture(20_000),),
        lambda x: learn.KMeans(k, bounds=(0, 1), epsilon=epsilon).fit(x),
        lambda x: models.KMeans(k, bounds=(0, 1), epsilon=epsilon).fit(x),
        lambda made, x: inertia(made.cluster_centers_, x) / inertia(true, x),
        "inertia / inertia of the true centers",
    )


def digits(rows: int, epsilon: float) -> Iterator[Case]:
    """Ten clusters of 64 columns: as a multiple of the best of ten runs of scikit-learn's."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_digits

    data = load_digits().data / 16

    def inertia(centres, x):
        return float(np.min([((x - c) ** 2).sum(axis=1) for c in centres], axis=0).mean())

    best = inertia(KMeans(10, n_init=10, random_state=0).fit(data).cluster_centers_, data)
    yield Case(
        f"k-means, digits, epsilon {epsilon:g}",
        (np.repeat(data, max(1, rows // 10 // len(data)), axis=0),),
        (data,),
        lambda x: learn.KMeans(10, bounds=(0, 1), epsilon=epsilon).fit(x),
        lambda x: models.KMeans(10, bounds=(0, 1), epsilon=epsilon).fit(x),
        lambda made, x: inertia(made.cluster_centers_, x) / best,
        "inertia / inertia by scikit-learn",
    )


def pca(rows: int, epsilon: float) -> Iterator[Case]:
    """Three of eight components: the part of what they could explain that they do not."""
    g = np.random.default_rng(1)
    d, keep = 8, 3
    mix = g.normal(0, 0.1, (d, d)) * np.geomspace(1, 0.1, d)[:, None]

    def table(n):
        return np.clip(0.5 + g.normal(0, 1, (n, d)) @ mix, 0, 1)

    def lost(made, data):
        cov = np.cov(data.T, bias=True)
        best = np.linalg.eigvalsh(cov)[-keep:].sum()
        return float(1 - np.trace(made.components_ @ cov @ made.components_.T) / best)

    radius = float(np.sqrt(d) / 2)  # of the box around its middle: a public number
    yield Case(
        f"PCA, {keep} of {d} columns, epsilon {epsilon:g}",
        (table(rows),),
        (table(20_000),),
        lambda x: learn.PCA(keep, bounds=(0, 1), epsilon=epsilon).fit(x),
        lambda x: models.PCA(keep, bounds=(0, 1), data_norm=radius, epsilon=epsilon).fit(x),
        lost,
        "1 - explained / explainable variance",
    )


def least_squares(rows: int, epsilon: float) -> Iterator[Case]:
    """Eight features: the part of the target's variance that is left."""
    g = np.random.default_rng(2)
    d, reach = 8, 1.5
    slopes = g.normal(0, 0.4, d)

    def table(n):
        x = np.clip(g.normal(0, 0.4, (n, d)), -1, 1)
        return x, np.clip(x @ slopes + 0.1 + g.normal(0, 0.1, n), -reach, reach)

    limits = {"bounds_X": (-1, 1), "bounds_y": (-reach, reach)}
    yield Case(
        f"least squares, {d} columns, epsilon {epsilon:g}",
        table(rows),
        table(20_000),
        lambda x, y: learn.LinearRegression(
            bounds=(-1, 1), y_bounds=(-reach, reach), epsilon=epsilon
        ).fit(x, y),
        lambda x, y: models.LinearRegression(epsilon=epsilon, **limits).fit(x, y),
        lambda made, x, y: 1.0 - made.score(x, y),
        "1 - R squared",
    )


def regressions(rows: int, epsilon: float) -> Iterator[Case]:
    """Who earns more than 50,000 dollars, from 43 columns of Adult, and scikit-learn's diabetes:
    the mean squared error of a third of the rows that is held out, another one each time, in units
    of the target's variance. Their bounds are theirs to know, too."""
    from sklearn.datasets import load_diabetes

    (x, labels), (held, others), bounds, values = _adult()
    rows_of_adult, income = np.vstack([x, held]), np.concatenate([labels, others])
    columns, limits = [], []
    for column, pair, each in zip(rows_of_adult.T, bounds, values, strict=True):
        if pair is not None:
            columns.append(column[:, None])
            limits.append(pair)
        elif len(each) < 16:  # all but education, which is a number too, and the country
            missing = np.isnan(column).any()  # is a value then
            coded = np.nan_to_num(column, nan=-1.0)[:, None] == np.arange(
                0 if missing else 1, len(each)
            )
            columns.append(coded)
            limits += [(0, 1)] * coded.shape[1]
    wide = np.hstack(columns).astype(float)
    small, progress = load_diabetes(return_X_y=True)
    splits = np.random.default_rng(0)
    for name, x, y, box, target in (
        ("Adult", wide, income.astype(float), limits, (0, 1)),
        ("diabetes", small, progress, [(-0.2, 0.2)] * 10, (25, 346)),
    ):
        corners = tuple(np.array(box, float).T)

        def parted(fit, x, y):
            order = splits.permutation(len(x))
            cut = len(x) * 2 // 3
            return fit(x[order[:cut]], y[order[:cut]]), order[cut:]

        def ours(x, y, box=box, target=target):
            made = learn.LinearRegression(bounds=box, y_bounds=target, epsilon=epsilon)
            return parted(made.fit, x, y)

        def theirs(x, y, corners=corners, target=target):
            made = models.LinearRegression(epsilon=epsilon, bounds_X=corners, bounds_y=target)
            return parted(made.fit, x, y)

        def left(made, x, y):
            learned, held = made
            return float(np.mean((learned.predict(x[held]) - y[held]) ** 2) / np.var(y))

        large = np.resize(np.arange(len(x)), rows)
        yield Case(
            f"least squares, {name}, {x.shape[1]} columns, epsilon {epsilon:g}",
            (x[large], y[large]),
            (x, y),
            ours,
            theirs,
            left,
            "squared error held out / variance",
        )


def trees(rows: int, epsilon: float) -> Iterator[Case]:
    """Ten columns of four values, of which two say the class of most rows: rows told wrong, by a
    tree of the depth that is each one's default. (Theirs divides at random places.)"""
    g = np.random.default_rng(3)
    d, values, classes = 10, 4, 3

    def table(n):
        x = g.integers(0, values, (n, d)).astype(float)
        told = (x[:, 2] >= 2).astype(int) + (x[:, 7] >= 2)
        return x, np.where(g.uniform(size=n) < 0.1, g.integers(0, classes, n), told)

    every = list(range(classes))
    yield Case(
        f"decision tree, {d} columns, {classes} classes, epsilon {epsilon:g}",
        table(rows),
        table(20_000),
        lambda x, y: learn.ID3Classifier(range(values), classes=every, epsilon=epsilon).fit(x, y),
        lambda x, y: models.DecisionTreeClassifier(
            epsilon=epsilon, bounds=(0, values - 1), classes=every
        ).fit(x, y),
        lambda made, x, y: 1.0 - float(np.mean(made.predict(x) == y)),
        "share of wrong labels",
    )


def bayes(rows: int, epsilon: float) -> Iterator[Case]:
    """Four classes in eight columns, close to one another: rows told wrong."""
    g = np.random.default_rng(4)
    d, classes = 8, 4

    def table(n):
        y = g.integers(0, classes, n)
        return np.clip(g.normal(0.3, 0.1, (n, d)) + 0.08 * y[:, None], 0, 1), y

    yield Case(
        f"naive Bayes, {d} columns, {classes} classes, epsilon {epsilon:g}",
        table(rows),
        table(2000),
        lambda x, y: learn.NaiveBayes(bounds=(0, 1), classes=range(classes), epsilon=epsilon).fit(
            x, y
        ),
        lambda x, y: models.GaussianNB(epsilon=epsilon, bounds=(0, 1)).fit(x, y),
        lambda made, x, y: 1.0 - float(np.mean(made.predict(x) == y)),
        "share of wrong labels",
    )


def _adult() -> tuple[Any, ...]:
    """Adult's columns but the weight, who earns more than 50,000 dollars, and what is public: two
    thirds of the rows to learn from, the others to be told."""
    import pyarrow.parquet as pq

    numbers = {
        "age": (17, 90),
        "education_num": (1, 16),
        "hours_per_week": (1, 99),
        "capital_gain": (0, 20_000),
        "capital_loss": (0, 3_000),
    }
    table = pq.read_table(Path(learn.__file__).parent.parent / "data" / "adult.parquet").to_pandas()
    labels = (table.pop("income") == ">50K").to_numpy().astype(int)
    table = table.drop(columns="fnlwgt")
    codes, bounds, values = [], [], []
    for name in table:
        words = sorted(table[name].dropna().unique()) if name not in numbers else None
        column = table[name] if words is None else table[name].map(words.index, na_action="ignore")
        codes.append(column.astype(float).to_numpy())
        bounds.append(numbers.get(name))
        values.append(None if words is None else list(range(len(words))))
    rows = np.column_stack(codes)
    order = np.random.default_rng(0).permutation(len(rows))
    cut = len(rows) * 2 // 3
    parts = [(rows[part], labels[part]) for part in (order[:cut], order[cut:])]
    return *parts, bounds, values


def adult(rows: int, epsilon: float) -> Iterator[Case]:
    """Who earns more than 50,000 dollars, by all columns: held-out rows told wrong. Theirs has one
    column for each category and value, in a ball that just holds a row."""
    (x, y), held, bounds, values = _adult()
    known = {"bounds": bounds, "categories": values, "classes": [0, 1], "epsilon": epsilon}

    def coded(x):
        columns = []
        for column, pair, each in zip(x.T, bounds, values, strict=True):
            if pair is None:
                columns.append(column[:, None] == np.arange(len(each)))
            else:
                lo, hi = pair
                columns.append(np.clip((2 * column[:, None] - lo - hi) / (hi - lo), -1, 1))
        return np.hstack(columns).astype(float)

    def theirs(x, y):
        made = models.LogisticRegression(epsilon=epsilon, data_norm=len(bounds) ** 0.5)
        return made.fit(coded(x), y)

    def forest(x, y):
        made = models.RandomForestClassifier(
            epsilon=epsilon,
            bounds=(np.full(x.shape[1], -1), np.full(x.shape[1], 1)),
            classes=[0, 1],
        )
        return made.fit(x, y)

    def wrong(made, *_):
        own = made.n_features_in_ == len(bounds)
        return 1.0 - float(np.mean(made.predict(held[0] if own else coded(held[0])) == held[1]))

    boosting = known | {"bins": [8 if pair else None for pair in bounds]}
    for name, ours, other in (
        ("logistic regression", lambda x, y: learn.LogisticRegression(**known).fit(x, y), theirs),
        (
            "additive boosting (diffprivlib: logistic regression)",
            lambda x, y: learn.AdditiveBoostingClassifier(**boosting).fit(x, y),
            theirs,
        ),
        (
            "random forest",
            lambda x, y: learn.RandomForestClassifier(**known).fit(x, y),
            lambda x, y: forest(coded(x), y),
        ),
    ):
        large = np.resize(np.arange(len(x)), rows)
        yield Case(
            f"{name}, Adult, epsilon {epsilon:g}",
            (x[large], y[large]),
            (x, y),
            ours,
            other,
            wrong,
            "share of wrong labels, held-out rows",
        )


def small_tables(rows: int, epsilon: float) -> Iterator[Case]:
    """Forests on scikit-learn's iris and digits: rows told wrong."""
    from sklearn.datasets import load_digits, load_iris

    for name, load, bounds in (
        ("iris", load_iris, [(4, 8), (2, 4.5), (1, 7), (0, 2.6)]),
        ("digits", load_digits, [(0, 16)] * 64),
    ):
        x, y = load(return_X_y=True)
        classes = list(range(y.max() + 1))
        known = {"classes": classes, "epsilon": epsilon}
        corners = tuple(np.array(bounds, float).T)

        def theirs(x, y, known=known, corners=corners):
            return models.RandomForestClassifier(bounds=corners, **known).fit(x, y)

        def ours(x, y, known=known, bounds=bounds):
            return learn.RandomForestClassifier(bounds=bounds, **known).fit(x, y)

        large = np.resize(np.arange(len(x)), rows // 10)
        yield Case(
            f"random forest, {name}, epsilon {epsilon:g}",
            (x[large], y[large]),
            (x, y),
            ours,
            theirs,
            lambda made, x, y: 1.0 - float(np.mean(made.predict(x) == y)),
            "share of wrong labels",
        )


def scaling(rows: int, epsilon: float) -> Iterator[Case]:
    """Means and variances of five columns: how far off, in standard deviations."""
    g = np.random.default_rng(6)
    at = np.linspace(0.2, 0.8, 5)

    def table(n):
        return np.clip(g.normal(at, 0.1, (n, 5)), 0, 1)

    def off(made, x):
        means = np.abs(made.mean_ - x.mean(axis=0)) / x.std(axis=0)
        scales = np.abs(np.sqrt(made.var_) / x.std(axis=0) - 1)
        return float(np.mean(means + scales))

    yield Case(
        f"scaling, 5 columns, epsilon {epsilon:g}",
        (table(rows),),
        (table(2000),),
        lambda x: learn.StandardScaler(bounds=(0, 1), epsilon=epsilon).fit(x),
        lambda x: models.StandardScaler(epsilon=epsilon, bounds=(0, 1)).fit(x),
        off,
        "errors of mean and std, in std",
    )


#: In the order of the table.
CASES: dict[str, Callable[[int, float], Iterator[Case]]] = {
    "k-means": k_means,
    "digits": digits,
    "pca": pca,
    "least-squares": least_squares,
    "regressions": regressions,
    "trees": trees,
    "bayes": bayes,
    "adult": adult,
    "small": small_tables,
    "scaling": scaling,
}


def timed(function: Callable[..., Any], data: tuple[Any, ...], calls: int) -> float:
    """Seconds of the best of some calls, the first of which warms up."""
    best = np.inf
    for _ in range(calls):
        start = time.perf_counter()
        function(*data)
        best = min(best, time.perf_counter() - start)
    return best


def errors(case: Case, side: Callable[..., Any], runs: int) -> np.ndarray:
    """The errors of some fits of one side."""
    return np.array([case.error(side(*case.small), *case.small) for _ in range(runs)])


def compared(case: Case, runs: int) -> tuple[str, bool]:
    """A line of the table, and whether both targets were met."""
    sides = [case.ours] + ([case.theirs] if models is not None else [])
    times = [timed(side, case.large, 3 - k) for k, side in enumerate(sides)]
    found = []
    for side in sides:
        off = errors(case, side, runs)
        found.append((float(off.mean()), float(off.std(ddof=1) / np.sqrt(runs))))
    good, faster = True, "-"
    if len(sides) == 2:
        (ours, theirs), ((mine, a), (other, b)) = times, found
        good = theirs >= FASTER * ours and mine <= other + SPREAD * float(np.hypot(a, b))
        faster = f"{theirs / ours:.0f}"
    seconds, means = [f"{1e3 * t:.4g} ms" for t in times], [f"{m:.4g} ± {e:.1g}" for m, e in found]
    pairs = [[*each, "-"][:2] for each in (seconds, means)]
    cells = [*pairs[0], faster, *pairs[1], case.measure]
    return f"| {' | '.join([case.name, *cells])} |", good


def main(names: list[str], rows: int, runs: int, epsilons: list[float]) -> None:
    print(
        "| learner | dpfast | diffprivlib | times faster | error, dpfast | diffprivlib | of what |"
    )
    print("|---|---:|---:|---:|---:|---:|---|")
    missed = []
    for name in names or CASES:
        for epsilon in epsilons:
            for case in CASES[name](rows, epsilon):
                line, good = compared(case, runs)
                print(line, flush=True)
                if not good:
                    missed.append(case.name)
    print(f"\ntargets missed: {'; '.join(missed) or 'none'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.5, 2.0])
    options = parser.parse_args()
    if unknown := set(options.names) - set(CASES):
        parser.error(f"no such learner: {', '.join(sorted(unknown))}")
    warnings.simplefilter("ignore")
    main(options.names, options.rows, options.runs, options.epsilon)
