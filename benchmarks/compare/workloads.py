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
#: The names of columns for marginals, and how many categories each has.
SHAPE = {"a": 5, "b": 8, "c": 10}
#: Of TPC-H's specification: the last day of a shipment in query 1, limits of columns, lines of a
#: customer that count in each of its groups, lines of a customer on average.
LAST_SHIP, CURRENT = np.datetime64("1998-09-02"), np.datetime64("1995-06-17")
PRICE, CHARGE, QUANTITY, DISCOUNT, REVENUE = 105_000.0, 113_400.0, 50.0, 0.1, 10_500.0
LINES = {"tpch_1": 30, "tpch_6": 4, "tpch_14": 3}
FLAGS = ("A", "F"), ("N", "F"), ("N", "O"), ("R", "F")
PER_CUSTOMER, TPCH_ROWS = 40, 300_000

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

    def error(answer: Any, data: Data) -> float:
        truth = np.asarray(function(data), float)
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
    error_rows : int
        The rows of the data that errors are measured on; 0 for as many as of most questions.
    """

    title: str
    data: Callable[[int], Data]
    error: Callable[[Any, Data], float] | None
    measure: str
    pairs: dict[str, tuple[Data, Data]] = field(default_factory=dict)
    delta: float = 0.0
    error_rows: int = 0


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


def a_customer(bought: int, day: str) -> dict[str, tuple[Data, Data]]:
    """The last customer is there, or is not."""
    return {ADD: (customers(bought, day, True), customers(bought, day, False))}


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
    "database": Workload(
        "the same, of a table in DuckDB",
        groups,
        by_key,
        "value a group",
        {ADD: (people(1), {k: v[:1] for k, v in people(1).items()})},
    ),
    "marginals": Workload(
        "counts of 3 pairs of columns",
        cells,
        lambda answer, data: gap(answer, pairs_of_columns(data)),
        "rows a cell",
        {ADD: tuple({name: np.zeros(rows, int) for name in SHAPE} for rows in (3, 2))},
        DELTA,
    ),
    "tpch_1": Workload(
        "TPC-H 1, for the loss of a customer",
        tpch,
        relative(query_1),
        "percent of each number",
        a_customer(60, "1994-05-05"),
        0.0,
        TPCH_ROWS,
    ),
    "tpch_6": Workload(
        "TPC-H 6, for the loss of a customer",
        tpch,
        relative(query_6),
        "percent",
        a_customer(20, "1994-05-05"),
        0.0,
        TPCH_ROWS,
    ),
    "tpch_14": Workload(
        "TPC-H 14, for the loss of a customer",
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
