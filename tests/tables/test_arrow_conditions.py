"""Rows that an expression of pyarrow keeps: those for which it is true by itself, row by row."""

from datetime import date

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")

import dpfast as dp  # noqa: E402
from dpfast.errors import ArgumentError, ArgumentTypeError  # noqa: E402
from dpfast.extend import Files, conditions  # noqa: E402
from dpfast.tables import filtered as module  # noqa: E402
from dpfast.tables.filtered import filtered  # noqa: E402
from dpfast.tables.scan import reader  # noqa: E402

from ..support.pairwise import quick_rows  # noqa: E402
from . import test_filtered as rows_of_files  # noqa: E402
from .test_filtered import numbers_of  # noqa: E402

f, i, w, day, row = map(pc.field, ("f", "i", "w", "day", "row"))
ASK = {"epsilon": 400}
frame, folder = rows_of_files.frame, rows_of_files.folder
FEW = 150  # as many rows are tried one by one
#: Expressions, of which the last ones fail on some values.
TESTS = {
    "comparison": i >= 1,
    "several": (i > 1) & ~(f < 0.5) | (w == "UA"),
    "NaN": f > 0,
    "not NaN": ~(f > 0),
    "null": i.is_null() | w.is_null(),
    "list": w.isin(["UA", "1"]),
    "time": day >= date(2023, 7, 20),
    "part of text": pc.starts_with(w, "U"),
    "part of a time": pc.day(day) == 3,
    "choice": pc.if_else(i > 1, f, 2.0) > 1,
    "cast": w.cast("int64") == 1,
    "division": pc.scalar(6) / i == 3,
    "sum": (row.cast("int8") + 100).cast("int8") > 0,
    "nowhere": (i / 0) > 1,
}


def passes(row, expression):
    try:
        return row.filter(expression).num_rows == 1
    except pa.ArrowException:
        return False


@pytest.fixture(scope="module")
def kept(frame):
    return {
        name: [n for n in range(FEW) if passes(frame.slice(n, 1), test)]
        for name, test in TESTS.items()
    }


def rows_of(file, where, rows=rows_of_files.ROWS):
    return [n for n in numbers_of(filtered(reader(file), conditions(where))) if n < rows]


@quick_rows(1)
@pytest.mark.parametrize("file", ["t.parquet", "t.arrow", "v.arrow"])
def test_the_rows_that_pass_one_by_one(folder, kept, file):
    assert {name: rows_of(folder / file, test, FEW) for name, test in TESTS.items()} == kept
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
    assert rows_of(folder / "t.parquet", TESTS["cast"], FEW) != kept["cast"]


def test_other_conditions_and_other_columns(folder):
    both = [TESTS["cast"], {"column": "i", "above": 0}]
    found, *each = (rows_of(folder / "t.parquet", where) for where in (both, *both))
    assert found == sorted(set(each[0]).intersection(each[1]))
    table = dp.scan(folder / "t.parquet", where=both[1])
    assert dp.count(table, where=TESTS["cast"], **ASK) == len(found)
    assert dp.count(table["f"], where=TESTS["cast"], nan="keep", **ASK) == len(found)
    data = Files(folder / "t.parquet").data(["row"], where=conditions(both))
    assert dp.count(data, **ASK) == len(found)


def test_releases_take_an_expression_where_they_take_an_array(folder, frame):
    table = dp.scan(folder / "t.parquet")
    some = frame.take(rows_of(folder / "t.parquet", TESTS["list"]))
    ask = {"where": TESTS["list"], "bounds": (0, 400), **ASK}
    assert dp.mean(table["row"], **ask) == pytest.approx(pc.mean(some["row"]).as_py(), abs=1)
    assert dp.median(table["row"], **ask) == pytest.approx(np.median(some["row"].to_numpy()), abs=4)
    words = ["UA", "1", "01"]
    counts, _ = dp.histogram(table["w"], categories=words, where=TESTS["list"], **ASK)
    assert counts.tolist() == [some["w"].to_pylist().count(word) for word in words]
    grouped = dp.group_by(table, "w", keys=words).count(where=TESTS["list"], **ASK)
    assert list(grouped["count"]) == counts.tolist()
    people = dp.mean(table["row"], ids="i", max_rows=400, **{**ask, "epsilon": 40_000})
    own = some.filter(i.is_valid())
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
    w > 1, pc.scalar(True), i + 1,  # of another type, of no column, no truth value
    pc.sum(i) > 1, pc.cumulative_sum(i) > 1, pc.rank(i) > 1, pc.pairwise_diff(i) > 1,
    pc.fill_null_forward(i) > 1, pc.unique(i) > 1,  # of several rows
    pc.match_substring_regex(w, "("), i > pc.Expression._call("random", [], pc.RandomOptions()),
    pc.binary_repeat(w, i) == "UA",  # as much memory as a row says
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
        with pytest.raises(ArgumentTypeError, match=r"is for data from dp\.scan"):
            dp.count(data, where=i > 1, axis=0 if isinstance(data, dict) else None, **ASK)
    table = dp.scan(folder / "t.parquet")
    with pytest.raises(ArgumentError, match="add-remove"):
        dp.count(table, where=i > 1, neighbors="replace", **ASK)
