"""Answers about a table of a database are those about the same rows in memory, bit by bit: those
of every release in the battery, without a line here."""

import math
from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.summaries import counted
from dpfast.tables.columns import Rows
from dpfast.tables.sql.store import Database
from dpfast.tables.sql.sums import answer
from tests.support.databases import ENGINES, HOSTILE, Server, connect, ibis, in_memory, table

from ...support.battery import CASES, same
from ...support.pairwise import quick_rows
from ..test_order_of_rows import IN_ONE_READ

ROWS = 400
DRAW = np.random.default_rng(5)
X, Y, WEIGHTS = DRAW.normal(50, 40, ROWS), DRAW.normal(5, 4, ROWS), 2 * DRAW.random(ROWS)
X[::37], X[250:350] = math.nan, 12.5
X[3:25] = [math.nan if one is None else one for one in HOSTILE["float64"][1]]
KEYS, MANY = DRAW.integers(-2, 5, ROWS), DRAW.integers(-3, 300, ROWS)
WORDS = ["tea", "tea ", "Tea", "ale", "\u00e9", "e\u0301", "\u00df", "ss", "'; --"]
TEXT, WHO = DRAW.choice(WORDS, ROWS), DRAW.integers(0, 120, ROWS)
NAMES = {"x": X, "y": Y, "w": WEIGHTS, "k": KEYS, "n": MANY, "s": TEXT, "who": WHO}
NAMES['a"; DROP TABLE t; --'] = Y
HERE = pa.table({name: pa.array(column) for name, column in NAMES.items()})


def table_of(engine):
    kinds = {"f": "float64", "i": "int64", "U": "string"}
    columns = {name: (kinds[own.dtype.kind], own.tolist()) for name, own in NAMES.items()}
    return table(connect(engine), columns)


@pytest.fixture(params=ENGINES)
def there(request):
    return table_of(request.param)


@pytest.fixture
def narrow(monkeypatch):
    """Few cells, and few numbers that are read, so that ranks of few rows take more statements."""
    monkeypatch.setattr(counted, "CELLS", 128)
    monkeypatch.setattr(counted, "FEW", 50)


def expect_same(ask, there, loss=(("epsilon", 1),), here=HERE):
    assert same(*(ask(rows, **dict(loss), rng=InsecureGenerator(7)) for rows in (here, there)))


EACH = {"bounds": [(0, 100), (-1, 9)], "nan": "drop", "axis": 0}
MARGINALS = {
    "categories": {"s": ["tea", "Tea", "\u00e9"], "k": [-2, 0, 3, 9]},
    "bins": {"y": 3},
    "bounds": {"y": (0, 9)},
}
B = {"bounds": (0, 100)}
#: What the battery does not ask.
QUESTIONS = {
    "of integers": lambda t, **how: dp.sum(t["k"], bounds=(-1, 3), **how),
    "upper": lambda t, **how: dp.mean(t["x"], **B, nan="upper", **how),
    "a number": lambda t, **how: dp.std(t["x"], **B, nan=17.3, **how),
    "of two": lambda t, **how: dp.histogram(
        t.select(["s", "y"]), categories=[["tea", "Tea", "b"], None], bins=[None, [0, 2, 9]], **how
    )[0],
    "automatic weights": lambda t, **how: dp.sum(
        t.select(["x", "w"]), bounds="auto", weights="w", weight_bounds=(0, 1), **how
    ),
    "marginals": lambda t, epsilon, **how: dp.marginals(
        t, **MARGINALS, epsilon=epsilon, delta=0.1, **how
    ).counts("s", "k"),
    "marginal": lambda t, epsilon, **how: dp.marginals(
        t, ways=[("y",)], **MARGINALS, rho=epsilon, **how
    ).counts("y"),
    "a name that is SQL": lambda t, **how: dp.mean(t['a"; DROP TABLE t; --'], bounds=(0, 9), **how),
    "a fine quantile": lambda t, **how: dp.quantile(t["x"], 0.9, **B, granularity=0.01, **how),
    "a median of a number": lambda t, **how: dp.median(t["x"], nan=17.25, **B, **how),
    "a high rank": lambda t, **how: dp.quantile(
        t["x"], 0.99, nan="upper", neighbors="replace", **B, **how
    ),
    "one bound": lambda t, **how: dp.median(t["x"], bounds=(3, 3), **how),
}
#: Cases of the battery that a database refuses, as they need all rows at once or in their order.
NOT_THERE = {
    *("aggregate", "joint iqr", "joint quantiles", "keys of people", "difference of people"),
    *("weighted histogram of some people", "ptr mean of people", "ptr mean", "ptr quantile"),
    *("ptr iqr", "ptr iqr without a scale"),
}


def of_case(name):
    case = CASES[name]
    number = "k" if getattr(case.data, "dtype", X.dtype).kind == "i" else "x"
    columns = {"words": ["s"], "table": ["x", "k" if case.call is dp.difference else "y"]}
    beside = {own: {"ids": "who", "weights": "w"}[own] for own in case.rows if own != "where"}
    names = [*columns.get(case.form, [number]), *beside.values()]
    if isinstance(case.kw.get("max_rows"), int) and case.call not in IN_ONE_READ:
        beside["max_rows"] = ROWS  # or chance says which of them count
    more = {name: 9 for name in case.kw if name == "max_groups"}

    def ask(rows, *, epsilon, **how):
        data = rows.select(names) if len(names) > 1 else rows[names[0]]
        if "where" in case.rows:
            how["where"] = KEYS > 1 if rows is HERE else rows.k > 1
        return case(data, case.losses[0], **beside, **more, **how)

    return ask


FED = [name for name, case in CASES.items() if case.form in ("column", "table", "words")]
QUESTIONS |= {name: of_case(name) for name in FED if name not in NOT_THERE}


def two(rows):
    return rows.select(["x", "y"])


@pytest.mark.usefixtures("narrow")
@quick_rows(30, full=90)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_memory(engine, question):
    expect_same(QUESTIONS[question], table_of(engine))


@quick_rows(2)
@pytest.mark.parametrize("statistic", [dp.sum, dp.mean, dp.variance])
def test_where_the_number_of_rows_is_public(statistic, there):
    loss = {"rho": 0.1, "neighbors": "replace"}
    ask = lambda t, **how: statistic(t["x"], bounds=(0, 100), nan="lower", **how)  # noqa: E731
    expect_same(ask, there, loss.items())


def test_a_condition_that_is_null_keeps_no_row(there):
    unknown, mask = (there.k > 1).nullif(there.k == 3), (KEYS > 1) & (KEYS != 3)
    ask = {"epsilon": 1, "rng": InsecureGenerator(1)}
    found = dp.count(there, where=unknown, **ask)
    assert found == dp.count(X, where=mask, **ask | {"rng": InsecureGenerator(1)})


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
    "learner": lambda t, budget, **how: dp.learn.KMeans(2, **how).fit(
        t.select("x", "y"), budget=budget
    ),
}


def test_what_is_refused_costs_nothing(there):
    budget = dp.Budget(epsilon=1)
    calls = [lambda q=q, **how: q(there, bounds=(0, 1), **how) for q in REFUSED.values()]
    calls += [lambda name=name, **how: of_case(name)(there, **how) for name in NOT_THERE]
    for call in calls:
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            call(epsilon=1, budget=budget)
        assert len(str(caught.value).split()) < 35
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
    "mean": (["x", "s"], dp.Mean(bounds=(0, 100)), ("tea", "tea ")),
    "count": (["x", "k"], dp.Count(nan="drop"), (0, 3)),
    "median": (["x", "k"], dp.Median(bounds=(0, 100)), (-1, 2)),
    "covariance": (["x", "y", "s"], dp.Covariance(bounds=[(0, 100), (0, 9)]), ("Tea", "ss")),
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


# ---- Ranks of a column. ----

KINDS = ["float64", "float32", "int64", "int32", "int16", "boolean", "decimal", "fraction"]
HARD = [("duckdb", kind) for kind in ("float64", "int64", "decimal")] + [("sqlite", "float64")]
HARD += [pytest.param("duckdb", kind, marks=pytest.mark.full) for kind in KINDS]
HARD += [pytest.param("sqlite", kind, marks=pytest.mark.full) for kind in KINDS[1:6]]
HARD += [pytest.param("postgres", kind, marks=pytest.mark.full) for kind in KINDS]


@pytest.mark.parametrize(("engine", "kind"), HARD)
def test_hostile_numbers(engine, kind):
    values = HOSTILE[kind][1]
    there = table(connect(engine), {"x": HOSTILE[kind]})
    numbers = pa.array(values, there["x"].type().to_pyarrow())
    memory = {"x": in_memory(engine, numbers)}
    for bounds in ((-3, 60), (0.25, 0.75), (-(2.0**40), 2.0**52)):
        ask = lambda t, **how: dp.quantiles(t["x"], [0.2, 0.7], bounds=bounds, **how)  # noqa: B023, E731
        expect_same(ask, there, here=memory)


def test_a_query_that_answers_differently_each_time_is_an_error():
    budget, connection = dp.Budget(epsilon=1), connect("duckdb")
    connection.raw_sql("CREATE OR REPLACE SEQUENCE numbers")
    rows = connection.sql("SELECT nextval('numbers') AS x FROM range(9999)")
    with pytest.raises(DataError, match="the rows changed between two statements"):
        dp.median(rows["x"], bounds=(0, 100_000), epsilon=0.75, budget=budget)
    assert budget.remaining["epsilon"] == 0.25


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_unit_are_chosen_by_its_own_rows_alone(engine):
    """Of each unit as many rows as may count, the same whatever rows others have; uniformly."""
    x = [1.0, 1.0, 2.0, None, 5.0, 5.0, 7.0, 8.0, 9.0, 10.0]
    who = [1, 1, 1, 1, 2, None, 3, 3, 3, 3]
    more = {"x": ("float64", [*x, 3.0, 7.0, 4.0]), "who": ("int64", [*who, 4, 4, 2])}
    base = {"x": ("float64", x), "who": ("int64", who)}

    def chosen(columns, secret):
        there = table(connect(engine), columns)
        rows = Database(there, engine, {}).rows(Rows(("x",))).chosen("who", 2, secret)
        found = answer(rows._rows)["value0"].to_pylist()
        return sorted(found, key=lambda value: (value is not None, value))

    seen = set()
    for secret in map(str, range(4)):
        few = chosen(base, secret)
        assert len(few) == 5 and few.count(5.0) == 1  # a row of nobody is none
        more_rows = chosen(more, secret)
        for value in few:
            more_rows.remove(value)
        assert sorted(more_rows) == [3.0, 4.0, 7.0]
        seen.add(tuple(few))
    assert len(seen) > 1
