"""What every system is asked: data, public parameters, errors, and neighbors for the audits.

It needs NumPy alone, for it is read in the environment of each system.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

SEED = 2026
EPSILON, DELTA = 1.0, 1e-6
#: Public bounds of values whose law is that of GovTech's study: skew-normal, scale 250, skew 5.
BOUNDS = -500.0, 1500.0
SCALE, SKEW = 250.0, 5.0
#: What a count counts is above this.
HIGH_VALUE = 250.0
EDGES = np.linspace(*BOUNDS, 101)
QS = tuple(k / 10 for k in range(1, 10))
KEYS = tuple(f"k{i:02d}" for i in range(100))
#: How many groups a person is in, and rows in each, at most.
MAX_GROUPS, MAX_ROWS = 5, 2
#: Rows that are made at once, so that the data of 1e9 need no more memory than they have.
BLOCK = 10_000_000
CANDIDATES, CLUSTERS, COMPONENTS, COLUMNS = 1_000_000, 8, 3, 8
NOISE_SIZE, NOISE_SCALE = 100_000, 1.0
#: The slope of the target is at most this in absolute value, and so is the target.
REACH = 3.0

Data = dict[str, np.ndarray]
Array = np.ndarray


def values(rng: np.random.Generator, n: int) -> Array:
    """Skew-normal numbers: of two normal ones, the share that the skew says is folded."""
    share = SKEW / math.sqrt(1 + SKEW * SKEW)
    made = np.empty(n)
    for start in range(0, n, BLOCK):
        part = made[start : start + BLOCK]
        folded, free = np.abs(rng.standard_normal(len(part))), rng.standard_normal(len(part))
        part[:] = SCALE * (share * folded + math.sqrt(1 - share * share) * free)
    return made


def columns(n: int) -> Data:
    """Values alone."""
    return {"value": values(np.random.default_rng([SEED, n]), n)}


def groups(n: int) -> Data:
    """Values of people in groups, whose sizes fall off as 1 / rank."""
    rng = np.random.default_rng([SEED, n, 1])
    weights = 1 / np.arange(1, len(KEYS) + 1)
    key = rng.choice(len(KEYS), n, p=weights / weights.sum())
    person = rng.integers(0, max(1, n // 10), n)
    return {"value": values(rng, n), "key": key, "person": person}


def table(n: int) -> Data:
    """Eight columns in clusters, a target that is linear in them, and a label by thresholds."""
    n = max(n // 10, 10_000)
    rng = np.random.default_rng([SEED, n, 2])
    centres = np.random.default_rng(SEED).uniform(-0.8, 0.8, (CLUSTERS, COLUMNS))
    spread = rng.normal(0, 0.1, (n, COLUMNS)) * np.geomspace(2, 0.2, COLUMNS)
    x = np.clip(centres[rng.integers(0, CLUSTERS, n)] + spread, -1, 1)
    slopes = np.random.default_rng(SEED + 1).uniform(-0.5, 0.5, COLUMNS)
    target = np.clip(x @ slopes + 0.2 + rng.normal(0, 0.1, n), -REACH, REACH)
    label = ((x[:, 0] > 0) ^ (x[:, 1] > 0.2)).astype(np.int64)
    label ^= rng.random(n) < 0.1
    return {"x": x, "target": target, "label": label, "centres": centres}


def bits(n: int) -> Data:
    """What comes at each step of a stream: 0 or 1."""
    n = max(n // 100, 1000)
    return {"bit": (np.random.default_rng([SEED, n, 3]).random(n) < 0.1).astype(np.int64)}


def scores(n: int) -> Data:
    """Counts of candidates, of which one row changes each by at most 1."""
    rng = np.random.default_rng([SEED, 4])
    return {"score": np.floor(rng.gumbel(50, 10, max(1000, CANDIDATES * n // 10**6)))}


def nothing(n: int) -> Data:
    """No data: the noise of a number that is 0."""
    return {"value": np.zeros(max(1000, NOISE_SIZE * n // 10**6))}


def gap(answer: Any, truth: Any) -> float:
    """The mean absolute error."""
    return float(np.mean(np.abs(np.asarray(answer, float) - truth)))


def plain(function: Callable[[Array], Any]) -> Callable[[Any, Data], float]:
    return lambda answer, data: gap(answer, function(data["value"]))


def by_key(answer: dict[str, float], data: Data) -> float:
    """The mean over all groups; one that is not shown counts as 0."""
    truth = np.bincount(data["key"], data["value"], len(KEYS))
    return gap([answer.get(key, 0.0) for key in KEYS], truth)


def inertia(answer: Any, data: Data) -> float:
    """The mean squared distance from the nearest centre, over that from the true ones, less 1."""

    def of(centres: Any) -> float:
        squares = [((data["x"] - c) ** 2).sum(1) for c in np.asarray(centres, float)]
        return float(np.min(squares, axis=0).mean())

    return of(answer) / of(data["centres"]) - 1


def unexplained(answer: Any, data: Data) -> float:
    """The part of the variance that so many components could explain, and these do not."""
    cov = np.cov(data["x"].T, bias=True)
    axes = np.asarray(answer, float)
    return float(1 - np.trace(axes @ cov @ axes.T) / np.linalg.eigvalsh(cov)[-COMPONENTS:].sum())


def excess(answer: Any, data: Data) -> float:
    """The mean squared error of a linear rule over that of least squares, less 1."""
    full = np.c_[data["x"], np.ones(len(data["x"]))]

    def of(rule: Any) -> float:
        return float(np.mean((full @ rule - data["target"]) ** 2))

    best = np.linalg.lstsq(full, data["target"], rcond=None)[0]
    return of(np.asarray(answer, float)) / of(best) - 1


def wrong(answer: Any, data: Data) -> float:
    """The share of wrong labels."""
    return float(np.mean(np.asarray(answer) != data["label"]))


#: Rows at the ends of the bounds, and which of them go or change.
LOW, HIGH = BOUNDS
REPLACE, ADD = "replace", "add-remove"


def rows(*numbers: float) -> Data:
    return {"value": np.array(numbers, float)}


def people(count: int) -> Data:
    """A person of as many groups as one may have, and one of one group."""
    key = np.arange(1 + count * MAX_GROUPS)
    person = np.array([0] + [1] * (len(key) - 1))
    return {"value": np.full(len(key), HIGH), "key": key, "person": person}


def one_more(make: Callable[[int], Data], **last: Any) -> dict[str, tuple[Data, Data]]:
    """A table whose last row is another one."""
    whole = make(1)
    few = {name: column[:40] for name, column in whole.items()} | {"centres": whole.get("centres")}
    other = {name: None if c is None else c.copy() for name, c in few.items()}
    for name, value in last.items():
        few[name][-1], other[name][-1] = value
    return {REPLACE: (few, other)}


@dataclass(frozen=True)
class Workload:
    """One question.

    Attributes
    ----------
    title : str
        What a table calls it.
    data : callable
        ``data(n)``: its columns, about n rows.
    error : callable or None
        ``error(answer, data)``, the less the better.
    measure : str
        What that is.
    pairs : dict
        Neighbors by relation, for audits; a system answers under those relations that it offers.
    delta : float
        Of the claim.
    """

    title: str
    data: Callable[[int], Data]
    error: Callable[[Any, Data], float] | None
    measure: str
    pairs: dict[str, tuple[Data, Data]] = field(default_factory=dict)
    delta: float = 0.0


ONE = {
    ADD: (rows(HIGH, HIGH, HIGH), rows(HIGH, HIGH)),
    REPLACE: (rows(HIGH, HIGH), rows(HIGH, LOW)),
}
MIDDLE = {
    ADD: (rows(LOW, LOW, HIGH, HIGH), rows(LOW, HIGH, HIGH)),
    REPLACE: (rows(LOW, LOW, LOW, HIGH, HIGH), rows(LOW, LOW, HIGH, HIGH, HIGH)),
}
GROUPS = {
    ADD: (
        {"value": np.full(3, HIGH), "key": np.array([0, 0, 0]), "person": np.arange(3)},
        {"value": np.full(2, HIGH), "key": np.array([0, 0]), "person": np.arange(2)},
    )
}
WORKLOADS = {
    "count": Workload(
        "count of high values", columns, plain(lambda x: np.sum(x > HIGH_VALUE)), "rows", ONE
    ),
    "sum": Workload("sum", columns, plain(np.sum), "value", ONE),
    "mean": Workload("mean", columns, plain(np.mean), "value", ONE),
    "variance": Workload("variance", columns, plain(np.var), "value squared", ONE),
    "histogram": Workload(
        "histogram of 100 bins",
        columns,
        plain(lambda x: np.histogram(np.clip(x, *BOUNDS), EDGES)[0]),
        "rows a bin",
        ONE,
    ),
    "median": Workload("median", columns, plain(np.median), "value", MIDDLE),
    "quantiles": Workload(
        "nine deciles", columns, plain(lambda x: np.quantile(x, QS)), "value", MIDDLE
    ),
    "selection": Workload(
        "best of 1e6 candidates",
        scores,
        lambda answer, data: float(data["score"].max() - data["score"][int(answer)]),
        "score below the best",
        {
            REPLACE: (
                {"score": np.array([1.0, 0.0, 0.0])},
                {"score": np.array([0.0, 1.0, 1.0])},
            )
        },
    ),
    "noise": Workload(
        "Laplace noise on 1e5 numbers", nothing, None, "", {ADD: (rows(1.0), rows(0.0))}
    ),
    "groups": Workload("sums of 100 public groups", groups, by_key, "value a group", GROUPS),
    "private_groups": Workload(
        "sums of groups with private keys", groups, by_key, "value a group", GROUPS, DELTA
    ),
    "people": Workload(
        "sums of groups, for the loss of a person",
        groups,
        by_key,
        "value a group",
        {ADD: (people(1), {k: v[:1] for k, v in people(1).items()})},
    ),
    "clusters": Workload(
        "k-means, 8 clusters",
        table,
        inertia,
        "inertia over the best, less 1",
        one_more(table, x=(np.ones(COLUMNS), -np.ones(COLUMNS))),
    ),
    "components": Workload(
        "PCA, 3 of 8",
        table,
        unexplained,
        "variance not explained",
        one_more(table, x=(np.ones(COLUMNS), np.zeros(COLUMNS))),
    ),
    "regression": Workload(
        "least squares, 8 features",
        table,
        excess,
        "squared error over the best, less 1",
        one_more(table, target=(REACH, -REACH)),
    ),
    "trees": Workload(
        "trees on 8 features", table, wrong, "share of wrong labels", one_more(table, label=(0, 1))
    ),
    "stream": Workload(
        "running count",
        bits,
        lambda answer, data: gap(answer, np.cumsum(data["bit"])),
        "steps",
        {REPLACE: ({"bit": np.ones(16, int)}, {"bit": np.r_[0, np.ones(15, int)]})},
    ),
}
