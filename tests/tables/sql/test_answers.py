"""Answers about a table of a database are those about the same rows in memory, bit by bit."""

import math
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator
from tests.support.databases import ENGINES, Server, connect, ibis, table

from ...support.pairwise import quick_rows

ROWS = 400
DRAW = np.random.default_rng(5)
X = DRAW.normal(50, 40, ROWS)
X[::37], X[3], X[5], X[8], X[9] = math.nan, math.inf, -math.inf, 5e-324, -0.0
Y, WEIGHTS = DRAW.normal(5, 4, ROWS), DRAW.random(ROWS)
KEYS = DRAW.integers(-2, 5, ROWS)
TEXT = DRAW.choice(["a", "a ", "A", "\u00e9", "e\u0301", "\u00df", "ss", "'; --"], ROWS)
NAMES = {"x": X, "y": Y, "w": WEIGHTS, "k": KEYS, "s": TEXT, 'a"; DROP TABLE t; --': Y}
HERE = pa.table({name: pa.array(column) for name, column in NAMES.items()})


def table_of(engine):
    kinds = dict.fromkeys(NAMES, "float64") | {"k": "int64", "s": "string"}
    columns = {name: (kinds[name], column.tolist()) for name, column in NAMES.items()}
    return table(connect(engine), columns)


@pytest.fixture(params=ENGINES)
def there(request):
    return table_of(request.param)


def expect_same(ask, there, loss=(("epsilon", 1),)):
    """Compare the answers of one question about the table there and here."""
    answers = [ask(rows, **dict(loss), rng=InsecureGenerator(7)) for rows in (HERE, there)]
    assert np.array_equal(*(np.asarray(answer) for answer in answers), equal_nan=True)


X_ALONE = {"bounds": (0, 100), "nan": "drop"}
EACH = {"bounds": [(0, 100), (-1, 9)], "nan": "drop", "axis": 0}
BOTH = {"bounds": [(0, 100), (-1, 9)], "nan": "drop"}

MARGINALS = {
    "categories": {"s": ["a", "A", "\u00e9"], "k": [-2, 0, 3, 9]},
    "bins": {"y": 3},
    "bounds": {"y": (0, 9)},
}

QUESTIONS = {
    "count": lambda t, **how: dp.count(t, **how),
    "count of numbers": lambda t, **how: dp.count(t["x"], nan="drop", **how),
    "missing": lambda t, **how: dp.count(t["x"], nan="only", **how),
    "nonzero": lambda t, **how: dp.count_nonzero(t["k"], **how),
    "sum": lambda t, **how: dp.sum(t["x"], **X_ALONE, **how),
    "mean": lambda t, **how: dp.mean(t["x"], **X_ALONE, **how),
    "variance": lambda t, **how: dp.variance(t["x"], **X_ALONE, **how),
    "of integers": lambda t, **how: dp.sum(t["k"], bounds=(-1, 3), **how),
    "upper": lambda t, **how: dp.mean(t["x"], bounds=(0, 100), nan="upper", **how),
    "a number": lambda t, **how: dp.std(t["x"], bounds=(0, 100), nan=17.3, **how),
    "each": lambda t, **how: dp.mean(two(t), **EACH, **how),
    "weights": lambda t, **how: dp.mean(three(t), weights="w", weight_bounds=(0, 1), **EACH, **how),
    "covariance": lambda t, **how: dp.covariance(two(t), **BOTH, **how),
    "correlation": lambda t, **how: dp.correlation(two(t), **BOTH, **how),
    "ratio": lambda t, **how: dp.ratio(two(t), **BOTH, **how),
    "proportion": lambda t, **how: dp.proportion(t["k"], equal=3, **how),
    "histogram": lambda t, **how: dp.histogram(t["x"], bins=7, bounds=(-10, 90), **how)[0],
    "of numbers": lambda t, **how: dp.histogram(t["k"], categories=[-2, 0, 3, 9], **how)[0],
    "of text": lambda t, **how: dp.histogram(t["s"], categories=["a ", "\u00e9", "A"], **how)[0],
    "of two": lambda t, **how: dp.histogram(
        t.select(["s", "y"]), categories=[["a", "A", "b"], None], bins=[None, [0, 2, 9]], **how
    )[0],
    "weighted": lambda t, **how: dp.histogram(
        t.select(["y", "x"]), bins=3, bounds=(0, 9), weights="x", weight_bounds=(-5, 9), **how
    )[0],
    "tree": lambda t, **how: dp.tree_histogram(t["x"], bins=9, bounds=(0, 90), **how).counts,
    "workload": lambda t, epsilon, **how: (
        dp.workload(t["x"], "ranges", bins=9, bounds=(0, 90), rho=epsilon, **how).counts
    ),
    "bounds": lambda t, **how: dp.bounds(t["x"], **how),
    "automatic": lambda t, **how: dp.mean(two(t), axis=0, bounds="auto", **how),
    "automatic pairs": lambda t, **how: dp.covariance(two(t), bounds="auto", **how),
    "automatic weights": lambda t, **how: dp.sum(
        t.select(["x", "w"]), bounds="auto", weights="w", weight_bounds=(0, 1), **how
    ),
    "marginals": lambda t, epsilon, **how: dp.marginals(
        t, **MARGINALS, epsilon=epsilon, delta=0.1, **how
    ).counts("s", "k"),
    "marginal": lambda t, epsilon, **how: dp.marginals(
        t, ways=[("y",)], **MARGINALS, rho=epsilon, **how
    ).counts("y"),
    "share of text": lambda t, **how: dp.proportion(t["s"], equal="a ", **how),
    "a name that is SQL": lambda t, **how: dp.mean(t['a"; DROP TABLE t; --'], bounds=(0, 9), **how),
}


def two(rows):
    return rows.select(["x", "y"])


def three(rows):
    return rows.select(["x", "y", "w"])


QUICK = [("duckdb", question) for question in QUESTIONS]
QUICK += [("sqlite", question) for question in ("mean", "each", "weights", "histogram", "of text")]
QUICK += [
    pytest.param(engine, question, marks=pytest.mark.full)
    for engine in ("sqlite", "postgres")
    for question in QUESTIONS
]


@quick_rows(12)
@pytest.mark.parametrize(("engine", "question"), QUICK)
def test_answers_are_those_of_memory(engine, question):
    expect_same(QUESTIONS[question], table_of(engine))


@quick_rows(2)
@pytest.mark.parametrize("statistic", [dp.sum, dp.mean, dp.variance])
def test_where_the_number_of_rows_is_public(statistic, there):
    loss = {"rho": 0.1, "neighbors": "replace"}
    ask = lambda t, **how: statistic(t["x"], bounds=(0, 100), nan="lower", **how)  # noqa: E731
    expect_same(ask, there, loss.items())


def test_where(there):
    kept = there.k > 1
    mask = KEYS > 1
    unknown = kept.nullif(there.k == 3)  # which counts as False
    for where, here, column in (
        (kept, mask, "x"), (kept, mask, None), (unknown, mask & (KEYS != 3), None)
    ):  # fmt: skip
        release, more = (dp.mean, X_ALONE) if column else (dp.count, {})
        answers = (
            release(data, where=rows, **more, epsilon=1, rng=InsecureGenerator(1))
            for data, rows in ((there[column] if column else there, where), (X, here))
        )
        assert len(set(answers)) == 1


def test_where_of_the_table_that_columns_are_chosen_from():
    there = table_of("duckdb")
    right = dp.mean(two(HERE), where=KEYS > 1, **EACH, epsilon=1, rng=InsecureGenerator(1))
    for chosen in (two(there), there.select(x=there.x * 1, y="y")):
        found = dp.mean(chosen, where=there.k > 1, **EACH, epsilon=1, rng=InsecureGenerator(1))
        assert np.array_equal(found, right)
    centered = there.mutate(x=there.x - there.y.mean())
    with pytest.raises(ArgumentError):
        dp.mean(centered["x"], bounds=(0, 1), where=there.k > 1, epsilon=1)


def test_queries_of_the_users(there):
    """What is computed in the database before: filters, columns, joins."""
    ask = {"bounds": (0, 300), "epsilon": 1}
    kept = there.filter(there.k > 1).mutate(y=lambda rows: rows.k.clip(-9, 9))
    names = there.select("k").distinct().mutate(name=ibis.literal("a"))
    joined = kept.join(names, "k").filter(lambda rows: rows.name == "a")
    columns = [3 * KEYS[KEYS > 1], kept["y"] * 3, joined["y"] * 3]
    assert len({dp.sum(one, **ask, rng=InsecureGenerator(2)) for one in columns}) == 1


@pytest.mark.parametrize("statistic", [dp.sum, dp.variance])
def test_chance_that_only_sqlite_sees_is_caught(statistic):
    connection = connect("sqlite")
    connection.con.execute("DROP VIEW IF EXISTS drawn")
    numbers = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 300)"
    query = f"{numbers} SELECT abs(random()) % 1000000000000 AS x FROM t"
    connection.con.execute(f"CREATE VIEW drawn AS {query}")
    with pytest.raises(DataError, match="the rows changed between two statements"):
        statistic(connection.table("drawn")["x"], bounds=(0, 1e12), epsilon=1)


def test_no_rows(there):
    none = there.filter(there.k > 99)
    assert abs(dp.sum(none["x"], bounds=(0, 1), epsilon=1)) < 100
    assert dp.mean(none["x"], bounds=(0, 1), nan="drop", epsilon=100) == 0.5


REFUSED = {
    "a mask": lambda t, **how: dp.sum(t["x"], where=[True] * ROWS, **how),
    "another table": lambda t, **how: dp.sum(t["x"], where=t.view().k > 1, **how),
    "other rows": lambda t, **how: dp.sum(t["x"], where=t.x > t.x.mean(), **how),
    "rows of a query": lambda t, **how: dp.sum(t["x"], where=t.x.isin(t.filter(t.k > 1).x), **how),
    "a column of a query": lambda t, **how: dp.sum(
        t.x.isin(t.filter(t.k > 1).x).cast("int8"), **how
    ),
    "no condition": lambda t, **how: dp.sum(t["x"], where=t.x + 1, **how),
    "chance": lambda t, **how: dp.sum(t["x"], where=t.x > ibis.random(), **how),
    "a table of chance": lambda t, **how: dp.sum(t.mutate(z=ibis.random())["x"], **how),
    "a column of chance": lambda t, **how: dp.sum(t["x"] * ibis.random(), **how),
    "centered": lambda t, **how: dp.sum(t["x"] - t["x"].mean(), **how),
    "a number": lambda t, **how: dp.sum(t["x"].sum(), **how),
    "a table": lambda t, **how: dp.sum(t, **how),
    "automatic by group": lambda t, **how: dp.group_by(t, "k", keys=[0]).mean(
        "x", **{**how, "bounds": "auto"}
    ),
    "weights": lambda t, **how: dp.mean(t["x"], weights=WEIGHTS, weight_bounds=(0, 1), **how),
    "no weights": lambda t, **how: dp.mean(t["x"], weights="v", weight_bounds=(0, 1), **how),
    "no connection": lambda t, **how: dp.sum(ibis.table({"x": "int"}, name="t")["x"], **how),
    "a mask in a database": lambda t, **how: dp.sum(X, where=t.k > 1, **how),
    "ids": lambda t, **how: dp.sum(t["x"], ids=KEYS, max_rows=1, **how),
    "joint": lambda t, **how: dp.quantiles(t["x"], [0.1, 0.9], method="joint", **how),
    "learner": lambda t, budget, **how: dp.learn.KMeans(2, **how).fit(
        t.select("x", "y"), budget=budget
    ),
    "aggregate": lambda t, **how: dp.sample_and_aggregate(t["x"], "mean", blocks=9, **how),
}


def test_what_is_refused_costs_nothing(there):
    budget = dp.Budget(epsilon=1)
    for question in REFUSED.values():
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            question(there, bounds=(0, 1), epsilon=1, budget=budget)
        assert len(str(caught.value).split()) < 35
    rows, unit = two(there), {"ids": "s", "max_rows": 1, "epsilon": 1, "budget": budget}
    rows = there[["s", "x", "k"]]
    with pytest.raises(ArgumentTypeError, match="rows stay in a database"):
        dp.difference(rows, of=dp.Mean(bounds=(0, 1)), keys=(0, 1), **unit)
    assert not budget.history


FIRST, LAST = datetime(2019, 12, 30), datetime(2020, 1, 5, 12, 0, 0, 1)
AT = {"bounds": (FIRST, LAST)}
OF_DAYS = {"bounds": (date(2019, 5, 1), date(2022, 1, 1))}


DAYS = [*(date(2020, 1, 1) + timedelta(int(day)) for day in DRAW.integers(-400, 400, 200)), None]
MOMENTS = [
    *(FIRST + timedelta(0, int(x), int(y)) for x, y in DRAW.integers(-(10**6), 10**6, (200, 2))),
    *(datetime(2020, 1, 1), datetime(1, 1, 1), None),
]
EDGES = [date(2019, 6, 1), date(2020, 3, 1), date(2022, 1, 1)]
OF_TIMES = {
    "mean of days": ("d", dp.mean, OF_DAYS),
    "count of days": ("d", dp.count, {"nan": "drop"}),
    "histogram of days": ("d", dp.histogram, {"bins": EDGES}),
    "mean of moments": ("m", dp.mean, AT),
    "deviation": ("m", dp.std, {**AT, "nan": "drop"}),
    "histogram of moments": ("m", dp.histogram, {**AT, "bins": 4}),
}


@quick_rows(2)
@pytest.mark.parametrize("question", OF_TIMES)
@pytest.mark.parametrize("engine", ["duckdb", pytest.param("postgres", marks=pytest.mark.full)])
def test_times(engine, question):
    """Days and moments without a zone."""
    name, release, asked = OF_TIMES[question]
    values = {"d": DAYS, "m": MOMENTS}[name]
    kind, of_arrow = {"d": ("date", pa.date32()), "m": ("timestamp(6)", pa.timestamp("us"))}[name]
    there = table(connect(engine), {"x": (kind, values)})["x"]
    here = pa.chunked_array([pa.array(values, of_arrow)])
    answers = [release(x, **asked, epsilon=1, rng=InsecureGenerator(3)) for x in (here, there)]
    if release is dp.histogram:
        answers = [counts for counts, _ in answers]
    assert np.array_equal(*map(np.asarray, answers))


def test_infinite_times_are_missing_and_others_refused():
    days = ["infinity", "-infinity", "2020-01-01"]
    query = " UNION ALL ".join(f"SELECT '{day}'::DATE AS x" for day in days)
    there = connect("duckdb").sql(query)["x"]
    one, found = (
        dp.count(data, nan="drop", epsilon=1, rng=InsecureGenerator(3)) for data in ([1.0], there)
    )
    assert one == found
    off = dp.mean(there, **OF_DAYS, epsilon=400) - np.datetime64("2020-01-01")
    assert abs(off) < np.timedelta64(9, "D")
    days = table(connect("sqlite"), {"d": ("date", DAYS)})["d"]
    zoned = table(connect("duckdb"), {"z": ("timestamp('UTC')", [datetime(2020, 1, 1)])})["z"]
    for column, asked in ((days, OF_DAYS), (zoned, AT)):
        with pytest.raises(ArgumentTypeError):
            dp.mean(column, **asked, epsilon=1)


DIFFERENCES = {
    "mean": (["x", "s"], dp.Mean(bounds=(0, 100)), ("a", "a ")),
    "count": (["x", "k"], dp.Count(nan="drop"), (0, 3)),
    "median": (["x", "k"], dp.Median(bounds=(0, 100)), (-1, 2)),
    "covariance": (["x", "y", "s"], dp.Covariance(bounds=[(0, 100), (0, 9)]), ("A", "ss")),
}


@quick_rows(1)
@pytest.mark.parametrize("name", DIFFERENCES)
def test_differences_between_two_groups(there, name):
    columns, of, keys = DIFFERENCES[name]
    asked = {"of": of, "keys": keys}
    for near in ("add-remove", "replace"):
        difference = lambda data, **kw: dp.difference(data.select(columns), **asked, **kw)  # noqa: E731
        expect_same(difference, there, (("epsilon", 1), ("neighbors", near)))


def test_a_database_that_fails_in_a_pass(there):
    """One spend, and one error without a word of the database; SQL is the user's to know."""
    budget, connection = dp.Budget(epsilon=1), there.get_backend()
    rows = table(connection, {"x": ("int64", [1, -(2**63)])})
    view = connection.create_view(f"absolute_{connection.name}", rows.mutate(x=rows.x.abs()))
    with pytest.raises(DataError, match="the database failed while it read") as caught:
        dp.sum(view["x"], bounds=(0, 1), epsilon=0.75, budget=budget)
    assert caught.value.__context__ is None and caught.value.__cause__ is None
    assert budget.remaining["epsilon"] == 0.25


@pytest.mark.full
def test_a_database_that_is_killed():
    budget, server = dp.Budget(epsilon=1), Server()
    rows = table(server.connect(), {"x": ("int64", [1, 2])})
    assert dp.sum(rows["x"], bounds=(0, 9), epsilon=0.25, budget=budget) < 1000
    server.kill()
    with pytest.raises(DataError, match="the database failed while it read"):
        dp.sum(rows["x"], bounds=(0, 9), epsilon=0.25, budget=budget)
    assert budget.remaining["epsilon"] == 0.5
