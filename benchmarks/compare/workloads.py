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
#: The questions that only a library of learners answers.
MODELS = "clusters", "components", "regression", "trees"
#: The slope of the target is at most this in absolute value, and so is the target.
REACH = 3.0
#: The names of columns for marginals, and how many categories each has.
SHAPE = {"a": 5, "b": 8, "c": 10}
#: Of TPC-H's specification: the last day of a shipment in query 1, limits of columns, lines of a
#: customer that count in each of its groups, lines of a customer on average.
LAST_SHIP, CURRENT = np.datetime64("1998-09-02"), np.datetime64("1995-06-17")
PRICE, CHARGE, QUANTITY, DISCOUNT, REVENUE = 105_000.0, 113_400.0, 50.0, 0.1, 10_500.0
LINES = {"tpch_1": 30, "tpch_6": 4, "tpch_14": 3}
FLAGS = ("A", "F"), ("N", "F"), ("N", "O"), ("R", "F")
PER_CUSTOMER, TPCH_ROWS = 40, 100_000

Data = dict[str, np.ndarray]
Array = np.ndarray
Pair = tuple[Data, Data]


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


def cells(n: int) -> Data:
    """Three columns of categories, of which two depend on the first."""
    rng = np.random.default_rng([SEED, n, 5])
    a, b, c = (rng.geometric(0.3, n) % size for size in SHAPE.values())
    return {"a": a, "b": (a + b) % SHAPE["b"], "c": (a + c) % SHAPE["c"]}


def pairs_of_columns(data: Data) -> Array:
    """The counts of each pair of columns, one table after another."""
    names = list(SHAPE)
    made = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            code = data[first] * SHAPE[second] + data[second]
            made.append(np.bincount(code, minlength=SHAPE[first] * SHAPE[second]))
    return np.concatenate(made)


def tpch(n: int) -> Data:
    """About n lines of orders, by the laws of TPC-H's specification (4.2.3), without its texts."""
    rng = np.random.default_rng([SEED, n, 6])
    customers, day = max(3, n // PER_CUSTOMER), np.timedelta64(1, "D")
    buyers = np.arange(1, customers + 1)
    buyers = buyers[buyers % 3 != 0]  # a third of them never orders
    orders = 10 * customers
    o = {
        "o_orderkey": np.arange(1, orders + 1),
        "o_custkey": rng.choice(buyers, orders),
        "o_orderdate": np.datetime64("1992-01-01") + rng.integers(0, 2406, orders) * day,
    }
    of = np.repeat(np.arange(orders), rng.integers(1, 8, orders))
    parts, many = max(1, customers * 4 // 3), len(of)
    part = rng.integers(1, parts + 1, many)
    quantity = rng.integers(1, 51, many).astype(float)
    shipped = o["o_orderdate"][of] + rng.integers(1, 122, many) * day
    late = shipped + rng.integers(1, 31, many) * day > CURRENT
    lines = {
        "l_orderkey": o["o_orderkey"][of],
        "l_partkey": part,
        "l_quantity": quantity,
        "l_extendedprice": quantity * (90000 + part // 10 % 20001 + 100 * (part % 1000)) / 100,
        "l_discount": rng.integers(0, 11, many) / 100,
        "l_tax": rng.integers(0, 9, many) / 100,
        "l_returnflag": np.where(late, "N", rng.choice(["R", "A"], many)),
        "l_linestatus": np.where(shipped > CURRENT, "O", "F"),
        "l_shipdate": shipped,
    }
    key = np.arange(1, parts + 1)
    kind = np.where(rng.random(parts) < 1 / 6, "PROMO", "OTHER")
    return {
        "c_custkey": np.arange(1, customers + 1),
        **o,
        **lines,
        "p_partkey": key,
        "p_type": kind,
    }


def tables(data: Data) -> dict[str, Data]:
    """The columns of `tpch` by table."""
    names = {"c": "customer", "o": "orders", "l": "lineitem", "p": "part"}
    return {
        name: {column: x for column, x in data.items() if column.startswith(f"{first}_")}
        for first, name in names.items()
    }


def query_1(data: Data) -> Array:
    """By flag and status: sums of quantity, price, discounted price, charge; means; the count."""
    price, off = data["l_extendedprice"], data["l_discount"]
    columns = data["l_quantity"], price, price * (1 - off), price * (1 - off) * (1 + data["l_tax"])
    made = []
    for flag, status in FLAGS:
        rows = (data["l_returnflag"] == flag) & (data["l_linestatus"] == status)
        rows &= data["l_shipdate"] <= LAST_SHIP
        means = [np.mean(x[rows]) if rows.any() else 0.0 for x in (*columns[:2], off)]
        made += [*(np.sum(x[rows]) for x in columns), *means, np.sum(rows)]
    return np.array(made, float)


def query_6(data: Data) -> float:
    """What orders of 1994 with a small discount would have brought without it."""
    off, rows = data["l_discount"], data["l_quantity"] < 24
    rows = rows & (data["l_shipdate"].astype("datetime64[Y]") == np.datetime64("1994"))
    rows &= (off >= 0.05) & (off <= 0.07)
    return float(np.sum(data["l_extendedprice"][rows] * off[rows]))


def query_14(data: Data) -> float:
    """The share of promotions in the price of what was shipped in September 1995, in percent."""
    rows = data["l_shipdate"].astype("datetime64[M]") == np.datetime64("1995-09")
    price = (data["l_extendedprice"] * (1 - data["l_discount"]))[rows]
    promo = data["p_type"][data["l_partkey"][rows] - 1] == "PROMO"
    return float(100 * np.sum(price * promo) / np.sum(price))


def relative(function: Callable[[Data], Any]) -> Callable[[Any, Data], float]:
    """The median over all numbers of the error over the number, in percent."""
    known: list[Any] = [None, None]  # the truth of the last data, which takes long

    def error(answer: Any, data: Data) -> float:
        if known[0] is not data:
            known[:] = data, np.asarray(function(data), float)
        truth = known[1]
        return float(100 * np.median(np.abs(np.asarray(answer, float) - truth) / np.abs(truth)))

    return error


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


# Neighbors on which one row, or one person, spends all that it can.

#: Rows at the ends of the bounds, inside of bins, and in a heap between them.
LOW, HIGH = BOUNDS
LOW_BIN, HIGH_BIN, HEAP = LOW + 5, HIGH - 495, LOW + 0.3 * (HIGH - LOW)
REPLACE, ADD = "replace", "add-remove"


def rows(*numbers: float) -> Data:
    return {"value": np.array(numbers, float)}


def heaps(low: int, middle: int, high: int) -> Data:
    """Numbers below the heap are too low for a median if so many rows say it, or too high.

    A row that leaves the low end makes all numbers on one side of the heap better, and those on the
    other side worse. The heap is where an answer on one side of it is seldom, but not very seldom.
    """
    return rows(*[LOW] * low, *[HEAP] * middle, *[HIGH] * high)


def below_heap(pair: Pair, answers: Array) -> Array:
    """How many quantiles are below the heap: all of them speak alike."""
    return (answers < HEAP).sum(1)


def with_noise(exact: Callable[[Data], Array]) -> Callable[[Pair, Array], Array]:
    """The likelihood of numbers with Laplace noise of one scale.

    A number speaks for the nearer of two exact answers, in proportion to its distance from the
    middle of the two, and no more beyond them.
    """

    def lean(pair: Pair, answers: Array) -> Array:
        one, other = map(exact, pair)
        apart = one != other
        middle, gap = (one + other)[apart] / 2, (one - other)[apart]
        return np.clip((answers[:, apart] - middle) / gap, -0.5, 0.5).sum(1)

    return lean


def by_step(pair: Pair, answers: Array) -> Array:
    """The same for what noisy totals grow by at each step."""
    return with_noise(lambda data: data["bit"])(pair, np.diff(answers, prepend=0.0))


def counts(data: Data) -> Array:
    return np.histogram(data["value"], EDGES)[0].astype(float)


def sums(data: Data) -> Array:
    return np.bincount(data["key"], data["value"], len(KEYS))


def group(size: int) -> Data:
    """One group of so many people."""
    return {"value": np.full(size, HIGH), "key": np.zeros(size, int), "person": np.arange(size)}


def people(count: int) -> Data:
    """A person of one row, and one of as many groups and rows as one may have."""
    key = np.append(0, np.repeat(np.arange(count * MAX_GROUPS), MAX_ROWS))
    person = np.array([0] + [1] * (len(key) - 1))
    return {"value": np.full(len(key), HIGH), "key": key, "person": person}


def corners(*signs: float, target: float = 0.0, label: int = 0) -> Data:
    """Rows of which all numbers are 1, or -1; target and label are those of the last row.

    Of the other rows every second one has the label 1.
    """
    x, n = np.outer(signs, np.ones(COLUMNS)), len(signs)
    return {
        "x": x,
        "target": np.append(np.zeros(n - 1), target),
        "label": np.append(np.arange(n - 1) % 2, label),
        "centres": None,
    }


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
        By relation, pairs of neighbors for audits: the same for all systems. The audit takes the
        greatest bound of a pair.
    delta : float
        Of the claim.
    error_rows : int
        The rows of the data that errors are measured on; 0 for as many as of most questions.
    lean : callable or None
        ``lean(pair, answers)``: how much all numbers of each answer speak for one of two neighbors.
    """

    title: str
    data: Callable[[int], Data]
    error: Callable[[Any, Data], float] | None
    measure: str
    pairs: dict[str, tuple[Pair, ...]] = field(default_factory=dict)
    delta: float = 0.0
    error_rows: int = 0
    lean: Callable[[Pair, Array], Array] | None = None


def customers(bought: int, day: str, last: bool) -> Data:
    """Two customers of one line each, and a last one of many, if it is there."""
    of = np.repeat(np.arange(2 + last), [1, 1, bought][: 2 + last])
    keys, shipped = np.arange(1, 3 + last), np.datetime64(day)
    return {
        "c_custkey": keys,
        "o_orderkey": keys,
        "o_custkey": keys,
        "o_orderdate": np.full(len(keys), shipped - 1),
        "l_orderkey": keys[of],
        "l_partkey": np.ones(len(of), int),
        "l_quantity": np.full(len(of), 20.0),
        "l_extendedprice": np.full(len(of), PRICE),
        "l_discount": np.full(len(of), 0.07),
        "l_tax": np.full(len(of), 0.08),
        "l_returnflag": np.full(len(of), "A"),
        "l_linestatus": np.full(len(of), "F"),
        "l_shipdate": np.full(len(of), shipped),
        "p_partkey": np.array([1]),
        "p_type": np.array(["PROMO"]),
    }


def a_customer(bought: int, day: str) -> dict[str, tuple[Pair, ...]]:
    """The last customer is there, or is not."""
    return {ADD: ((customers(bought, day, True), customers(bought, day, False)),)}


ONE = {
    ADD: ((rows(HIGH, HIGH, HIGH), rows(HIGH, HIGH)),),
    REPLACE: ((rows(HIGH, HIGH), rows(HIGH, LOW)),),
}
#: A row that moves a noisy sum and a noisy count away from a quotient that is at its end.
AWAY = {**ONE, ADD: ((rows(*[HIGH] * 5), rows(*[HIGH] * 5, LOW)),)}
FAR = {**ONE, ADD: ((rows(*[LOW] * 10), rows(*[LOW] * 10, HIGH)),)}
BINS = {
    ADD: ((rows(LOW_BIN, LOW_BIN, LOW_BIN), rows(LOW_BIN, LOW_BIN)),),
    REPLACE: ((rows(LOW_BIN, LOW_BIN), rows(LOW_BIN, HIGH_BIN)),),
}
MIDDLE = {
    ADD: (
        (heaps(3, 3, 2), heaps(2, 3, 2)),
        (heaps(2, 0, 2), heaps(1, 0, 2)),
    ),
    REPLACE: ((heaps(3, 2, 2), heaps(2, 2, 3)),),
}
#: All deciles are in the heap.
DECILES = {
    ADD: ((heaps(1, 8, 0), heaps(0, 8, 0)),),
    REPLACE: ((heaps(1, 8, 0), heaps(0, 8, 1)),),
}
#: Four rows on one line, the last of which may be at a right angle to it.
ONES, HALVES = np.ones(COLUMNS), np.repeat([1.0, -1.0], COLUMNS // 2)
CROSSED = (
    corners(1, -1, 1, -1),
    corners(1, -1, 1, -1) | {"x": np.array([ONES, -ONES, ONES, HALVES])},
)
#: A group that is shown in about half of the answers, if it is private.
SHOWN = {ADD: ((group(26), group(25)),)}
WORKLOADS = {
    "count": Workload(
        "count of values above 250", columns, plain(lambda x: np.sum(x > HIGH_VALUE)), "rows", ONE
    ),
    "sum": Workload("sum", columns, plain(np.sum), "value", ONE),
    "mean": Workload("mean", columns, plain(np.mean), "value", AWAY),
    "variance": Workload("variance", columns, plain(np.var), "value squared", FAR),
    "histogram": Workload(
        "histogram of 100 bins",
        columns,
        plain(lambda x: np.histogram(np.clip(x, *BOUNDS), EDGES)[0]),
        "rows a bin",
        BINS,
        lean=with_noise(counts),
    ),
    "median": Workload("median", columns, plain(np.median), "value", MIDDLE),
    "quantiles": Workload(
        "nine deciles",
        columns,
        plain(lambda x: np.quantile(x, QS)),
        "value",
        DECILES,
        lean=below_heap,
    ),
    "selection": Workload(
        "best of 1e6 candidates",
        scores,
        lambda answer, data: float(data["score"].max() - data["score"][int(answer)]),
        "score below the best",
        {REPLACE: (({"score": np.array([1.0, 0.0, 0.0])}, {"score": np.array([0.0, 1.0, 1.0])}),)},
    ),
    "noise": Workload(
        "Laplace noise on 1e5 numbers", nothing, None, "", {ADD: ((rows(1.0), rows(0.0)),)}
    ),
    "groups": Workload(
        "sums of 100 public groups",
        groups,
        by_key,
        "value a group",
        {ADD: ((group(3), group(2)),)},
        lean=with_noise(sums),
    ),
    "private_groups": Workload(
        "sums of groups with private keys", groups, by_key, "value a group", SHOWN, DELTA
    ),
    "people": Workload(
        "sums of groups, unit: person",
        groups,
        by_key,
        "value a group",
        {ADD: ((people(1), people(0)),)},
        lean=with_noise(sums),
    ),
    "database": Workload(
        "sums of groups in DuckDB, unit: person",
        groups,
        by_key,
        "value a group",
        {ADD: ((people(1), people(0)),)},
        lean=with_noise(sums),
    ),
    "marginals": Workload(
        "counts of 3 pairs of columns",
        cells,
        lambda answer, data: gap(answer, pairs_of_columns(data)),
        "rows a cell",
        {ADD: (tuple({name: np.zeros(rows, int) for name in SHAPE} for rows in (3, 2)),)},
        DELTA,
        lean=with_noise(lambda data: np.ravel(pairs_of_columns(data)).astype(float)),
    ),
    "tpch_1": Workload(
        "TPC-H query 1, unit: customer",
        tpch,
        relative(query_1),
        "percent of each number",
        a_customer(60, "1994-05-05"),
        0.0,
        TPCH_ROWS,
    ),
    "tpch_6": Workload(
        "TPC-H query 6, unit: customer",
        tpch,
        relative(query_6),
        "percent",
        a_customer(20, "1994-05-05"),
        0.0,
        TPCH_ROWS,
    ),
    "tpch_14": Workload(
        "TPC-H query 14, unit: customer",
        tpch,
        relative(query_14),
        "percent",
        a_customer(20, "1995-09-05"),
        0.0,
        TPCH_ROWS,
    ),
    "clusters": Workload(
        "k-means, 8 clusters",
        table,
        inertia,
        "inertia over the best, less 1",
        {REPLACE: ((corners(*[1] * 8), corners(*[1] * 7, -1)),)},
    ),
    "components": Workload(
        "PCA, 3 of 8 components",
        table,
        unexplained,
        "variance not explained",
        {REPLACE: (CROSSED,)},
    ),
    "regression": Workload(
        "least squares, 8 features",
        table,
        excess,
        "squared error over the best, less 1",
        {REPLACE: ((corners(1, target=REACH), corners(1, target=-REACH)),)},
    ),
    "trees": Workload(
        "trees on 8 features",
        table,
        wrong,
        "share of wrong labels",
        {REPLACE: ((corners(*[1] * 11, label=0), corners(*[1] * 11, label=1)),)},
    ),
    "stream": Workload(
        "running count",
        bits,
        lambda answer, data: gap(answer, np.cumsum(data["bit"])),
        "steps",
        {REPLACE: (({"bit": np.array([1, 0])}, {"bit": np.array([0, 1])}),)},
        lean=by_step,
    ),
}
