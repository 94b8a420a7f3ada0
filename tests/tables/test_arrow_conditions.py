"""Rows that an expression of pyarrow keeps: those for which it is true by itself, row by row."""

from datetime import date

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

import dpfast as dp  # noqa: E402
from dpfast.errors import ArgumentError, ArgumentTypeError  # noqa: E402
from dpfast.extend import Files, conditions  # noqa: E402
from dpfast.tables import filtered as module  # noqa: E402
from dpfast.tables.filtered import filtered  # noqa: E402
from dpfast.tables.scan import columns, reader  # noqa: E402

from ..support.pairwise import quick_rows  # noqa: E402

ROWS = 150
x, f, w, d, text = map(pc.field, ("x", "f", "w", "d", "text"))
ASK = {"epsilon": 400}

#: Expressions, of which the last ones fail on some values.
TESTS = {
    "comparison": x >= 3,
    "several": (x > 1) & ~(f < 0.5) | (w == "UA"),
    "NaN": f > 0,
    "not NaN": ~(f > 0),
    "null": x.is_null() | w.is_null(),
    "list": w.isin(["UA", "7"]),
    "time": d >= date(2024, 1, 20),
    "part of text": pc.starts_with(w, "U"),
    "part of a time": pc.day(d) == 3,
    "choice": pc.if_else(x > 3, f, 2.0) > 1,
    "cast": w.cast("int64") == 7,
    "division": pc.scalar(6) / x == 2,
    "sum": (x.cast("int8") + 100).cast("int8") > 0,
    "nowhere": (x / 0) > 1,
}


@pytest.fixture(scope="module")
def frame():
    bits = np.random.default_rng(3)
    some = bits.random(ROWS) < 0.2
    return pa.table(
        {
            "row": np.arange(ROWS),
            "x": pa.array(bits.integers(-1, 40, ROWS), mask=some),
            "f": bits.choice([-1.0, 0.0, 2.0, np.nan], ROWS),
            "w": pa.array(bits.choice(["UA", "7", "", "é"], ROWS), mask=some[::-1].copy()),
            "d": np.datetime64("2024-01-01") + (np.arange(ROWS) % 50).astype("m8[D]"),
        }
    )


def passes(row, expression):
    """Whether the expression is true of one row alone."""
    try:
        return row.filter(expression).num_rows == 1
    except pa.ArrowException:
        return False


@pytest.fixture(scope="module")
def kept(frame):
    """The numbers of the rows that pass each expression, one by one."""
    return {
        name: [i for i in range(ROWS) if passes(frame.slice(i, 1), test)]
        for name, test in TESTS.items()
    }


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("arrow")
    pq.write_table(frame, place / "t.parquet", row_group_size=35)
    coded = frame.set_column(3, "w", frame["w"].dictionary_encode())
    feather.write_feather(coded, place / "t.arrow", chunksize=50)
    views = frame.set_column(3, "w", frame["w"].cast(pa.string_view()))
    feather.write_feather(views, place / "v.arrow", chunksize=40)
    return place


def rows_of(file, where):
    some = filtered(reader(file), conditions(where))
    found = columns(some, "row").reduce(lambda c: c.values.tolist(), lambda a, b: a + b)
    return sorted(map(int, found))


@quick_rows(1)
@pytest.mark.parametrize("file", ["t.parquet", "t.arrow", "v.arrow"])
def test_the_rows_that_pass_one_by_one(folder, kept, file):
    assert {name: rows_of(folder / file, test) for name, test in TESTS.items()} == kept
    assert not kept["nowhere"] and all(kept[name] for name in kept if name != "nowhere")


def test_a_planted_fault_is_noticed(folder, kept, monkeypatch):
    """A batch that fails keeps none of its rows: one row would decide about others."""

    def passing(self, table):
        try:
            table.filter(self.expression)
        except pa.ArrowException:
            return np.zeros(len(table), np.bool_)
        return right(self, table)

    right = module.ArrowTest._passing

    monkeypatch.setattr(module.ArrowTest, "_passing", passing)
    assert rows_of(folder / "t.parquet", TESTS["cast"]) != kept["cast"]


def test_other_conditions_and_other_columns(folder, kept):
    both = [TESTS["cast"], {"column": "x", "above": 3}]
    found = rows_of(folder / "t.parquet", both)
    assert found == [i for i in rows_of(folder / "t.parquet", both[1]) if i in kept["cast"]]
    table = dp.scan(folder / "t.parquet", where={"column": "x", "above": 3})
    assert dp.count(table, where=TESTS["cast"], **ASK) == len(found)
    assert dp.count(table["f"], where=TESTS["cast"], nan="keep", **ASK) == len(found)
    data = Files(folder / "t.parquet").data(["row"], where=conditions(both))
    assert dp.count(data, **ASK) == len(found)


def test_releases_take_an_expression_where_they_take_an_array(folder, frame, kept):
    table = dp.scan(folder / "t.parquet")
    some = frame.take(kept["list"])
    ask = {"where": TESTS["list"], "bounds": (0, 300), **ASK}
    assert dp.mean(table["row"], **ask) == pytest.approx(pc.mean(some["row"]).as_py(), abs=1)
    assert dp.median(table["row"], **ask) == pytest.approx(np.median(some["row"].to_numpy()), abs=4)
    words = ["UA", "7", "é"]
    counts, _ = dp.histogram(table["w"], categories=words, where=TESTS["list"], **ASK)
    assert counts.tolist() == [some["w"].to_pylist().count(word) for word in words]
    grouped = dp.group_by(table, "w", keys=words).count(where=TESTS["list"], **ASK)
    assert list(grouped["count"]) == counts.tolist()
    people = dp.mean(table["row"], ids="x", max_rows=300, **ask)
    own = some.filter(pc.field("x").is_valid())
    assert people == pytest.approx(pc.mean(own["row"]).as_py(), abs=2)


def test_columns_of_text_are_text_and_arrays_have_their_types(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\nNA,z\n" * 10)
    table = dp.scan(tmp_path / "t.csv")
    a = pc.field("a")
    assert dp.count(table, where=a == "2", **ASK) == 10
    assert dp.count(table, where=a.cast("float64") >= 1, **ASK) == 20
    assert dp.count(table, where=a.is_null(), **ASK) == 10
    assert dp.mean(table["a"], where=a.isin(["2"]), bounds=(0, 4), **ASK) == pytest.approx(2, abs=1)
    with pytest.raises(ArgumentError):
        dp.count(table, where=a > 1, **ASK)
    records = np.array([(i, i / 2) for i in range(50)], [("i", ">i4"), ("f", "f4")])
    np.save(tmp_path / "t.npy", records)
    assert dp.count(dp.scan(tmp_path / "t.npy", where=pc.field("i") < 20), **ASK) == 20


WRONG = [
    pc.field("zz") > 1, pc.field(1) > 1,  # a column that is not there, one by its place
    w > 1, pc.scalar(True), x + 1,  # of another type, of no column, no truth value
    pc.sum(x) > 1, pc.cumulative_sum(x) > 1, pc.rank(x) > 1, pc.pairwise_diff(x) > 1,
    pc.fill_null_forward(x) > 1, pc.unique(x) > 1,  # of several rows
    pc.match_substring_regex(w, "("), x > pc.Expression._call("random", [], pc.RandomOptions()),
    pc.binary_repeat(w, x) == "UA",  # as much memory as a row says
]  # fmt: skip


def test_what_is_no_test_of_a_row_is_refused_before_the_spend(folder):
    budget, path = dp.Budget(epsilon=1), folder / "t.parquet"
    for wrong in WRONG:
        for call in (
            lambda: dp.scan(path, where=wrong),  # noqa: B023
            lambda: dp.count(dp.scan(path), where=wrong, epsilon=1, budget=budget),  # noqa: B023
        ):
            with pytest.raises(ArgumentError, match="where must be an expression") as caught:
                call()
            assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert not budget.history


def test_other_data_and_replaced_rows_are_refused(folder):
    for data in np.arange(4), [1, 2], {"x": [1, 2]}, pa.array([1, 2]):
        with pytest.raises(ArgumentTypeError, match="unless data are of"):
            dp.count(data, where=x > 1, axis=0 if isinstance(data, dict) else None, **ASK)
    table = dp.scan(folder / "t.parquet")
    with pytest.raises(ArgumentError, match="add-remove"):
        dp.count(table, where=x > 1, neighbors="replace", **ASK)
