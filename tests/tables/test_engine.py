"""Data of an engine: the same answers as of the same rows in memory, whatever the engine does."""

import functools
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.groups import table as groups_table
from dpfast.rng import InsecureGenerator
from dpfast.tables import engine as engine_module
from dpfast.tables.columns import Rows, Table, TableColumn, TableRows
from dpfast.tables.engine import Part, Task

from ..support.battery import CASES, same
from ..support.hostile_engine import HostileEngine, sent
from ..support.pairwise import quick_rows

N = 4000
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "pay": RNG.normal(50, 20, N),
        "age": RNG.integers(0, 100, N),
        "share": RNG.random(N),
        "sex": RNG.choice(["F", "M"], N),
        "town": RNG.choice(["a", "bb", "a town of many letters", None], N),
        "id": RNG.integers(0, 600, N),
    }
)
TABLE.loc[::13, "pay"] = np.nan
B = {"bounds": (0, 100), "epsilon": 1.0}
TWO = {"bounds": [(0, 100), (0, 1)], "epsilon": 1.0}
PAY = {**B, "nan": "drop"}
TEXTS = {"sex", "town"}


def cut(data, parts, seed=1):
    edges = np.sort(np.random.default_rng(seed).integers(0, len(data) + 1, parts - 1))
    edges = np.concatenate([[0, 0], edges, [len(data), len(data)]])
    return [data[a:b] for a, b in pairwise(edges)]


def engine_of(data, parts=7, seed=1, **more):
    return HostileEngine(cut(data, parts, seed), seed, **more)


def table(names=None, **more):
    engine = engine_of(TABLE, **more)
    return Table(engine, list(names or TABLE.columns))


def column(name, **more):
    return TableColumn(engine_of(TABLE, **more), name)


def matrix(names, **more):
    return TableRows(engine_of(TABLE[names].to_numpy(), **more), Rows(None))


def fitted(learner, X, y=None, **r):
    vars_ = vars(learner.fit(X, y, **r))
    return {key: value for key, value in vars_.items() if isinstance(value, np.ndarray)}


def rng():
    return {"rng": InsecureGenerator(5)}


def oldest(block):
    return float(np.max(block["age"] if block.dtype.names else block))


def blocks(data, estimator, **more):
    return dp.sample_and_aggregate(data, estimator, blocks=9, **{**B, **more})


STAT = dp.stat
WIDE = ["age", "share"]
PAY_OF = {"bounds": (0, 100), "nan": "drop"}
CLASSES = {"bounds": [(0, 100)], "classes": ["F", "M"], "epsilon": 1}
HALF = {"categories": [["a", "bb"], None], "bins": [None, [0, 50, 99]]}
#: Releases, of data that are made by a function of what makes the parts of a table.
RELEASES = {
    "mean": lambda t, c, m, **r: dp.mean(c("pay"), **PAY, **r),
    "weighted mean": lambda t, c, m, **r: dp.mean(
        t(["pay", "share"]), weights="share", weight_bounds=(0, 1), **PAY, **r
    ),
    "means": lambda t, c, m, **r: dp.mean(t(WIDE), axis=0, **TWO, **r),
    "means of a matrix": lambda t, c, m, **r: dp.mean(m(WIDE), axis=0, **TWO, **r),
    "median": lambda t, c, m, **r: dp.median(c("pay"), **PAY, **r),
    "quantiles": lambda t, c, m, **r: dp.quantiles(c("pay"), [0.1, 0.5, 0.9], **PAY, **r),
    "histogram of words": lambda t, c, m, **r: dp.histogram(
        t(["town", "age"]), **HALF, epsilon=1, **r
    )[0],
    "k-means": lambda t, c, m, **r: fitted(dp.learn.KMeans(3, max_iter=2, **TWO), m(WIDE), **r),
    "linear regression": lambda t, c, m, **r: fitted(
        dp.learn.LinearRegression(bounds=[(0, 100)], y_bounds=(0, 1), epsilon=1),
        t(WIDE), "share", **r
    ),
    "random forest": lambda t, c, m, **r: fitted(
        dp.learn.RandomForestClassifier(max_depth=2, **CLASSES), t(["age", "sex"]), "sex", **r
    ),
    "groups": lambda t, c, m, **r: dp.group_by(
        t(), ["sex", "age"], keys=[["M", "F"], list(range(99))]
    ).agg({
        "n": STAT.count(), "variance": STAT.variance("pay", **PAY_OF),
        "bins": STAT.histogram("pay", bins=4, bounds=(0, 100)),
    }, epsilon=1, **r),
    "private groups": lambda t, c, m, **r: dp.group_by(t(), ["town", "sex"]).agg(
        {"n": STAT.count(), "sum": STAT.sum("pay", **PAY_OF)}, epsilon=5, delta=1e-6, **r
    ),
    "medians of groups": lambda t, c, m, **r: dp.group_by(t(), "sex", keys=["F", "M"]).median(
        "pay", **PAY, **r
    ),
    "groups of people": lambda t, c, m, **r: dp.group_by(
        t(), "sex", keys=["F", "M"], ids="id", max_groups=2, max_rows=N
    ).mean("pay", **PAY, **r),
    "drawn bounds of groups": lambda t, c, m, **r: dp.group_by(t(), "sex", keys=["F", "M"]).mean(
        "pay", bounds="auto", epsilon=1, **r
    ),
    "weights of groups": lambda t, c, m, **r: dp.group_by(t(), "sex", keys=["F"]).histogram(
        "age", bins=[0, 10, 50], weights="share", weight_bounds=(0, 1), epsilon=1, **r
    ),
    "keys": lambda t, c, m, **r: dp.select_keys(c("town"), epsilon=9, delta=1e-6, **r),
    "distinct values": lambda t, c, m, **r: dp.count_distinct(c("town"), epsilon=1, **r),
    "blocks of people": lambda t, c, m, **r: [
        blocks(t(["age", "id"]), estimator, ids="id", bounds=[(0, 100)], **r)
        for estimator in (oldest, "median", "var")
    ],
    "vectors of blocks of people": lambda t, c, m, **r: dp.sample_and_aggregate(
        t(["age", "pay", "id"]), "mean", ids="id", blocks=30, bounds=[(0, 100)] * 2, epsilon=1,
        nan="drop", **r
    ),
    "people": lambda t, c, m, **r: dp.group_by(
        t(), ["town", "age"], ids="id", max_groups=60, max_rows=N
    ).count_distinct(epsilon=6, delta=1e-3, **r),
}  # fmt: skip


def answer(name, *makers):
    return RELEASES[name](*makers, **rng())


def in_memory():
    return (
        lambda names=None: TABLE[names] if names else TABLE,
        lambda name: TABLE[name],
        lambda names: TABLE[names].to_numpy(),
    )


@quick_rows(13)
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("parts, seed", [(1, 0), (30, 2)])
def test_answers_are_those_of_the_same_rows_in_memory(name, parts, seed):
    there = [functools.partial(make, parts=parts, seed=seed) for make in (table, column, matrix)]
    np.testing.assert_equal(answer(name, *there), answer(name, *in_memory()))


#: The statistics whose rows may come in any order, with nothing beside the rows.
MERGED = [
    name
    for name, case in CASES.items()
    if case.form in ("column", "table") and case.unordered and not case.rows
]


@quick_rows(8)
@pytest.mark.parametrize("name", MERGED)
def test_summaries_of_every_statistic_are_merged_in_any_order(name):
    case = CASES[name]
    data = pd.DataFrame(case.data if case.form == "table" else {"a": case.data})
    data.columns = list("ab")[: data.shape[1]]
    engine = engine_of(data, 9, 3)
    held = Table(engine, ["a", "b"]) if case.form == "table" else TableColumn(engine, "a")
    answers = (case(rows, case.losses[0], **rng()) for rows in (held, case.data))
    assert same(*answers)


def test_keys_that_come_between_two_passes_are_an_error(monkeypatch):
    true, passes = groups_table.gathered, []

    def gathered(*given):
        coder, found = true(*given)
        passes.append(found)
        if len(passes) > 1:
            found = found._replace(keys=found.keys | {"age": found.keys["age"] + 1})
        return coder, found

    monkeypatch.setattr(groups_table, "gathered", gathered)
    with pytest.raises(DataError, match="the keys changed"):
        answer("people", lambda: table(parts=3, seed=0), None, None)
    assert len(passes) == 2 and "town" in passes[1].keys and "n" not in passes[1].rooms


def test_little_travels():
    """A sum sends under a kilobyte back; a task is a few kilobytes whatever the rows."""
    data = column("pay")
    dp.sum(data, **PAY)
    assert data.store.largest_summary < 1000 and data.store.largest_task < 4000
    data = column("pay")
    dp.median(data, **PAY)
    assert data.store.passes == 2 and data.store.largest_task < 8000


@quick_rows(1)
@pytest.mark.parametrize("form", ["column", "table", "matrix"])
def test_each_row_is_in_one_block(form):
    """And blocks are about as large as random ones."""
    data = {"column": column("age"), "table": table(["age"]), "matrix": matrix(["age"])}[form]
    expected = (N / 50) ** 2 + N / 50
    for power, most, due, off in ((1, 300, N / 50, 0.2), (2, 90_000, expected, 700)):
        loss = {"bounds": (0, most), "epsilon": 500, **rng()}
        found = dp.sample_and_aggregate(data, lambda b, p=power: len(b) ** p, blocks=50, **loss)
        assert abs(found - due) < off


@pytest.mark.parametrize(
    "lies, words", [("twice", "delivered the rows twice"), ("lost", "lost or duplicated rows")]
)
def test_pieces_that_are_lost_or_come_twice_are_an_error_after_the_spend(lies, words):
    data = TableColumn(HostileEngine(cut(TABLE, 7), lies=lies), "age")
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match=words):
        blocks(data, "median", budget=budget)
    assert budget.spent["epsilon"] == 1


def test_a_merge_in_place_is_caught():
    def in_place(a, b):
        a += b
        return a

    def total(merge, seed):
        data = column("age", seed=seed)
        return int(data.reduce(lambda chunk: np.array([chunk.values.sum()]), merge)[0])

    due = int(TABLE["age"].sum())
    assert [total(np.add, seed) for seed in range(5)] == [due] * 5
    assert [total(in_place, seed) for seed in range(5)] != [due] * 5


def test_a_partition_that_comes_twice_counts_once(monkeypatch):
    task = Task(None, None, lambda a, b: a + b)
    parts = [Part({i: 10 * i}, i) for i in range(4)]
    whole = task.join(parts)
    assert whole == Part({0: 0, 1: 10, 2: 20, 3: 30}, 6)
    assert task.join([whole, parts[2], whole]) == whole
    assert task.join([parts[1], whole]) == whole
    with pytest.raises(DataError, match="a partition in common"):
        task.join([task.join(parts[:2]), task.join(parts[1:])])

    def careless(self, a, b):
        return Part({**a.rows, **b.rows}, self.merge(a.summary, b.summary))

    monkeypatch.setattr(Task, "_joined", careless)
    with pytest.raises(AssertionError):
        test_answers_are_those_of_the_same_rows_in_memory("mean", 30, 2)


def test_rows_that_change_between_passes_are_an_error_after_the_spend():
    parts = cut(TABLE, 5)
    budget = dp.Budget(epsilon=1)
    data = TableColumn(HostileEngine(parts, lies=[*parts[:2], parts[2][1:], *parts[3:]]), "pay")
    with pytest.raises(DataError, match="changed between two reads"):
        dp.median(data, **PAY, budget=budget)
    assert budget.spent["epsilon"] == 1
    data = TableColumn(HostileEngine(parts, lengths=[1] * len(parts)), "pay")
    with pytest.raises(DataError, match="changed between two reads"):
        dp.mean(data, **PAY)


def of_other_types(part):
    """The same rows as an engine may have them where it guesses: ids with a gap as floats, say."""
    if isinstance(part, np.ndarray):
        return part.astype(np.float32)
    kinds = {"i": "float64", "f": "float32", "O": "category"}
    return part.astype({name: kinds[part[name].dtype.kind] for name in part})


@quick_rows(5)
@pytest.mark.parametrize("rows", [0, 40])
@pytest.mark.parametrize("name", RELEASES)
def test_the_type_of_a_partition_decides_whatever_its_rows_are(name, rows):
    """One partition of other types is one error after the spend, if it has rows or none."""

    def odd(data):
        if not isinstance(data, np.ndarray):
            data = data.astype(dict.fromkeys(TEXTS.intersection(data), object))
        return HostileEngine([*cut(data, 3), of_other_types(data[:rows])])

    makers = (
        lambda names=None: Table(odd(TABLE), list(names or TABLE.columns)),
        lambda name: TableColumn(odd(TABLE), name),
        lambda names: TableRows(odd(TABLE[names].to_numpy()), Rows(None)),
    )
    with pytest.raises(DataError, match="has other types than its table declares") as caught:
        answer(name, *makers)
    assert caught.value.__context__ is None


def test_a_type_that_is_not_compared_is_found(monkeypatch):
    monkeypatch.setattr(engine_module, "_type_of", lambda form: "any")
    for name in ("groups of people", "groups", "mean"):
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            test_the_type_of_a_partition_decides_whatever_its_rows_are(name, 40)


#: Forms of one column, as partitions have them, whose types are one.
@pytest.mark.parametrize(
    "column, kinds",
    [
        ("town", [pd.ArrowDtype(pa.string()), pd.ArrowDtype(pa.large_string())]),
        ("town", [pd.ArrowDtype(pa.string()), "category"]),
        ("age", ["int64", "Int64", pd.ArrowDtype(pa.int64())]),
    ],
)
def test_forms_of_one_type_are_one(column, kinds):
    parts = cut(TABLE[[column]], 5)
    parts = [part.astype({column: kinds[i % len(kinds)]}) for i, part in enumerate(parts)]
    if column == "age":
        parts[1] = parts[1].assign(age=pd.array([None] * len(parts[1]), "Int64"))
    whole = pd.concat([part.astype({column: kinds[1]}) for part in parts])
    groups = [dp.group_by(x, column) for x in (Table(HostileEngine(parts), [column]), whole)]
    np.testing.assert_equal(*(one.count(epsilon=5, delta=1e-6, **rng()) for one in groups))


def test_what_an_engine_says_of_a_row_is_not_told():
    class Broken(HostileEngine):
        def run(self, task, columns):
            raise ValueError(f"cannot read {TABLE['town'][0]!r}")

    with pytest.raises(DataError, match=r"failed while it read the rows \(ValueError\)") as caught:
        dp.count(TableColumn(Broken(cut(TABLE, 3)), "pay"), epsilon=1)
    assert caught.value.__context__ is None and "town" not in str(caught.value)


MASK, ONES = np.ones(N, bool), {"weights": np.ones(N), "weight_bounds": (0, 1)}
APART = {"partition": "contiguous", "neighbors": "replace"}
ORDERED = [
    (lambda: dp.mean(column("age"), where=MASK, **B), "where"),
    (lambda: dp.mean(column("age"), **ONES, **B), "weights"),
    (lambda: dp.mean(column("age"), ids=np.arange(N), max_rows=1, **B), "ids"),
    (lambda: dp.group_by(table(), "sex", ids=np.arange(N)), "ids"),
    (lambda: dp.group_by(table(), "sex", keys=["F"]).count(epsilon=1, where=MASK), "where"),
    (lambda: blocks(column("age"), "mean", **APART), "partition"),
    (lambda: blocks(column("age"), oldest, executor="processes"), "executor"),
    (lambda: blocks(column("age"), oldest, time_limit=9), "time_limit"),
    (lambda: blocks(column("age"), "median", spill="."), "spill"),
    (lambda: blocks(column("age"), "mean", ids=TABLE["id"]), "ids"),
    (lambda: dp.learn.StandardScaler(**TWO).fit(matrix(WIDE), sample_weight=np.ones(N)), ""),
]


def test_what_needs_the_order_of_rows_is_refused_before_the_spend():
    for call, words in ORDERED:
        with pytest.raises((ArgumentTypeError, ArgumentError), match=f"^{words} ?.*must be"):
            call()


def test_a_secret_that_would_travel_is_found():
    secret = InsecureGenerator(1)
    for value in ([dp.Budget(epsilon=1)], lambda: secret, column("pay")):
        with pytest.raises((AssertionError, TypeError), match=r"would travel|driver"):
            sent(value)


def test_people_are_together_whatever_their_ids_look_like():
    """Equal ids of other forms go to one place, as bounding compares them."""
    odd = np.array(["a", "a\0", 1, True, np.int8(1), b"a", None], object)
    found, present = engine_module.destinations_of(odd, 1 << 20)
    assert found[0] == found[1] and len(set(found[2:5])) == 1 and found[5] != found[0]
    assert present.tolist() == [True] * 6 + [False]


def test_bounds_of_people_bite_in_every_partition():
    groups = dp.group_by(table(), "sex", keys=["F", "M"], ids="id", max_groups=1, max_rows=2)
    found = groups.count(epsilon=400)["count"]
    per_person = TABLE.groupby("id")["sex"].value_counts().unstack(fill_value=0)
    most = per_person.clip(upper=2).max(axis=1).sum()
    assert abs(found.sum() - most) <= 0.15 * most and found.sum() <= 2 * len(per_person)


def test_a_partition_without_any_category_is_one_of_text():
    """Its rows alone would decide on its type, and so on an error."""
    nothing = pd.DataFrame({"town": pd.Series([None] * 9, dtype=object).astype("category")})
    parts = [TABLE[["town"]].astype("category"), nothing, nothing[:0]]
    for keys, delta in ((["a", "bb"], 0), (None, 1e-6)):
        answers = [
            dp.group_by(data, "town", keys=keys).count(epsilon=5, delta=delta, **rng())
            for data in (Table(HostileEngine(parts), ["town"]), TABLE)
        ]
        np.testing.assert_equal(*answers)
