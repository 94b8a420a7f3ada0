"""Rows of files that conditions keep: the same as one by one, in every format."""

import datetime as dt
import math
from copy import copy
from threading import Event

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

import dpfast as dp  # noqa: E402
from dpfast.app.words import where_of as conditions  # noqa: E402
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError  # noqa: E402
from dpfast.tables import filtered as module  # noqa: E402
from dpfast.tables import parquet  # noqa: E402
from dpfast.tables.arrow import BATCH  # noqa: E402
from dpfast.tables.batches import Batches, numbers  # noqa: E402
from dpfast.tables.columns import Columns, Want  # noqa: E402
from dpfast.tables.files import Reader  # noqa: E402
from dpfast.tables.filtered import filtered  # noqa: E402
from dpfast.tables.opened import Files  # noqa: E402
from dpfast.tables.scan import columns, reader  # noqa: E402
from dpfast.tables.shared_pass import SharedPasses  # noqa: E402

from ..reference.tables.conditions import kept  # noqa: E402
from ..support.pairwise import every_value, quick_rows  # noqa: E402

ROWS = 400
FIRST, STEP = dt.datetime(2024, 1, 1, 12), dt.timedelta(days=1, milliseconds=1)
SINGLE = float(np.float32(0.1))


@pytest.fixture(scope="module")
def frame():
    """Numbers of several types with nulls and NaN, text with nulls, a dictionary with a null; and
    times, each of them a day and a millisecond after the one before."""
    bits = np.random.default_rng(5)
    some = bits.random(ROWS) < 0.2
    small = bits.choice([0.1, 0.5, -1, np.nan], ROWS).astype(np.float32)
    words = bits.choice(["UA", "AA", "", "1", "01", "UA ", "ua", "\u00e9", "'--"], ROWS)
    wide = bits.choice([2**63 - 1, -(2**63), 2**53 + 1, 0, 1, -1, 7], ROWS)
    real = bits.choice([-1.5, 0.0, -0.0, 0.1, 0.3, 2.0, 1e300, math.nan, math.inf, -math.inf], ROWS)
    at = [FIRST + i * STEP if bits.random() < 0.9 else None for i in range(-200, 200)]
    spans = [one and one - FIRST for one in at]
    coded = pa.DictionaryArray.from_arrays(
        pa.array(bits.integers(0, 3, ROWS), mask=some), pa.array(["x", None, "y"])
    )
    return pa.table(
        {
            "row": np.arange(ROWS),
            "i": pa.array(bits.integers(-3, 4, ROWS), mask=some),
            "u": bits.choice(np.array([0, 2**63, 2**64 - 1], np.uint64), ROWS),
            "wide": pa.array(wide, mask=some),
            "f": pa.array(real, mask=some),
            "s": small,
            "b": bits.random(ROWS) < 0.5,
            "w": pa.array(words, mask=some[::-1].copy()),
            "d": coded,
            "day": pa.array(at, pa.timestamp("us")).cast(pa.date32(), safe=False),
            "at": pa.array(at, pa.timestamp("us")),
            "utc": pa.array(at, pa.timestamp("ms", "UTC")),
            "span": pa.array(spans, pa.duration("ms")),
        }
    )


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    from pyarrow import csv

    place = tmp_path_factory.mktemp("filtered")
    pq.write_table(frame.drop_columns("d"), place / "t.parquet", row_group_size=90)
    csv.write_csv(frame.select(["row", "i", "f", "w"]), place / "t.csv")
    at, words = frame.column_names.index("w"), frame["w"]
    coded, views = words.dictionary_encode(), words.cast(pa.string_view())
    feather.write_feather(frame.set_column(at, "w", coded), place / "t.arrow", chunksize=110)
    feather.write_feather(frame.set_column(at, "w", views), place / "v.arrow", chunksize=70)
    whole = frame.select(["row", "u", "s"]).to_pandas().to_records(index=False)
    np.save(place / "t.npy", whole)
    return place


def numbers_of(made):
    found = columns(made, "row").reduce(lambda c: c.values.tolist(), lambda a, b: a + b)
    return sorted(map(int, found))


def expected(file, where):
    if file.suffix == ".npy":
        table = np.load(file)
        rows = [dict(zip(table.dtype.names, row.tolist(), strict=True)) for row in table]
    elif file.suffix == ".csv":
        rows = feather.read_table(file.with_name("t.arrow")).to_pylist()
        rows = [row | {"w": row["w"] or None} for row in rows]  # an empty cell is missing
    else:
        rows = feather.read_table(file.with_name("t.arrow")).to_pylist()
    return kept(rows, where if isinstance(where, list) else [where])


NUMBERS = [
    {"column": "i", "above": 0}, {"column": "i", "above": 0.5, "at_most": 2.5},
    {"column": "i", "at_least": -0.5, "below": 1e300}, {"column": "i", "in": [0, 2.0, 10**12]},
    {"column": "i", "not_in": [0, 1]}, {"column": "f", "equal": 2},
    {"column": "f", "not_in": [0.0]}, {"column": "f", "at_least": 0},
    {"column": "f", "above": 0.1, "below": 1e300}, {"column": "f", "in": [0.1, 0.0]},
]  # fmt: skip
WIDE = [
    {"column": "wide", "above": 2**53}, {"column": "wide", "at_least": 2**63 - 1},
    {"column": "wide", "below": -(2**63) + 1, "at_most": 1e300},
    {"column": "wide", "above": 0.5, "below": 1e30}, {"column": "wide", "at_most": -0.5},
    {"column": "wide", "not_in": [0, 2**53 + 1]},
]  # fmt: skip
TEXT = [
    {"column": "w", "in": ["UA", "AA", "none"]}, {"column": "w", "not_in": ["UA"]},
    {"column": "w", "equal": "1"}, {"column": "w", "in": ["\u00e9", "'--"]},
    [{"column": "w", "in": ["1", "UA"]}, {"column": "i", "above": 0}, {"column": "i", "below": 3}],
]  # fmt: skip


def differing(file, wheres):
    wrong = []
    for where in wheres:
        made, found = filtered(reader(file), conditions(where)), expected(file, where)
        assert made.length is None and 0 < len(found) < ROWS
        wrong += [where] * (numbers_of(made) != found)
    return wrong


@quick_rows(2)
@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.arrow", "v.arrow"])
def test_the_rows_that_pass_one_by_one(folder, name):
    assert differing(folder / name, [*NUMBERS, *TEXT]) == []


def test_wide_integers_single_floats_and_dictionaries(folder):
    wide = [
        {"column": "u", "above": 2**63 - 1}, {"column": "u", "equal": 2**64 - 1},
        {"column": "u", "above": -1, "at_most": 2**63}, {"column": "u", "in": [2**64 - 1]},
        {"column": "s", "at_most": 0.1}, {"column": "s", "above": 0.1},
        {"column": "s", "equal": SINGLE},
    ]  # fmt: skip
    coded = [{"column": "d", test: ["x"]} for test in ("in", "not_in")]
    assert differing(folder / "t.npy", wide) == differing(folder / "t.arrow", [*WIDE, *coded]) == []
    assert differing(folder / "t.parquet", [*wide, *WIDE, {"column": "b", "equal": True}]) == []


@quick_rows(1)
@pytest.mark.parametrize("test", ["above", "at_least", "below", "at_most", "equal"])
@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_times_are_compared_as_python_compares_them(folder, name, test):
    for i in (-201, -7, 0, 7, 201):
        at, span = FIRST + i * STEP, i * STEP
        utc = at.replace(tzinfo=dt.UTC)
        for column, limit, *written in (
            ("day", at.date(), str(at.date()), np.datetime64(at.date())),
            ("at", at, at.isoformat(), np.datetime64(at)),
            ("utc", utc, utc.isoformat()),
            ("span", span, np.timedelta64(span)),
        ):
            due = expected(folder / name, {"column": column, test: limit})
            for one in (limit, *written):
                where = conditions({"column": column, test: one})
                assert numbers_of(filtered(reader(folder / name), where)) == due, (column, one)


def test_dates_of_a_text_file_as_they_are_declared(tmp_path):
    rows = "".join(f"{FIRST + i * STEP:%d.%m.%Y},{i}\n" for i in range(-200, 200))
    (tmp_path / "days.csv").write_text("day,row\n" + rows + ",7\n")
    declared = reader(tmp_path / "days.csv", dates={"day": "%d.%m.%Y"})
    where = conditions({"column": "day", "below": "2023-06-17"})
    assert numbers_of(filtered(declared, where)) == [-200, -199]


@every_value
@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.arrow"])
@pytest.mark.parametrize(
    "fault",
    [{"above": (lambda a, b: a >= b, math.floor)}, {"above": (lambda a, b: a > b, math.ceil)}],
)
def test_a_planted_fault_is_caught(folder, monkeypatch, name, fault):
    monkeypatch.setattr(module, "COMPARISONS", module.COMPARISONS | fault)
    wrong = differing(folder / name, NUMBERS)
    # Cells of text are floats, of which no limit is rounded.
    assert wrong or (name == "t.csv" and fault["above"][1] is math.ceil)


def spans(made, rows):
    """The numbers that a pass in pieces of so many rows gives to its rows, in its order."""

    def convert(start, pieces):
        yield from ((start + i, row) for i, row in enumerate(pieces[0].chunked.to_pylist()))

    return made.reduce(Want(("row",)), convert, lambda one: [one], lambda a, b: a + b, rows)


def misnumbered(made):
    """Pieces in which the rows that pass are not numbered from 0 on, in their order."""
    due = list(enumerate(numbers_of(made)))
    return [rows for rows in (1, 7, ROWS) if sorted(spans(made, rows)) != due]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "v.arrow", "t.csv"])
def test_rows_are_numbered_once_after_the_filter(folder, name):
    made = reader(folder / name)
    assert not misnumbered(made) and not misnumbered(filtered(made, conditions("i > 0")))


def test_numbers_by_where_a_piece_starts_are_caught(folder):
    made = filtered(reader(folder / "t.parquet"), conditions("i > 0"))
    faulty = copy(made)
    faulty.reduce = lambda want, convert, summarise, merge, rows=BATCH, *_: made.reduce(
        want, lambda start, p: convert(start - start % rows, p), summarise, merge, rows
    )
    assert misnumbered(faulty)


def test_releases_that_share_a_pass_number_rows_in_their_order(folder, monkeypatch):
    """Which rows of a person count is told by their numbers, which are those of every pass."""
    files, ahead, batches = Files(folder / "t.parquet"), Event(), parquet._batches
    files._reader._team = 2

    def late(opened, group, *more):
        """The first row group comes after the second, if there is a thread to read that."""
        ahead.wait(0.1) if group == 0 else ahead.set()
        return batches(opened, group, *more)

    monkeypatch.setattr(parquet, "_batches", late)
    where = conditions("i > 0")

    def rows(files):
        some = Batches(files.data([], by=["row"], where=where))
        found = some.reduce(["row"], [], lambda batch: [batch], lambda a, b: a + b)
        return [
            (b.start + i, row) for b in found for i, row in enumerate(numbers(b.columns["row"]))
        ]

    (found,) = SharedPasses(files, 2).run([rows])
    assert found == list(enumerate(numbers_of(filtered(files._reader, where))))


def test_a_row_that_is_dropped_decides_nothing(tmp_path):
    """Ids and numbers are read in pieces of different lengths, here more than one of each."""
    n, answers = BATCH + 4_000, []
    for flags in (np.ones(n, int), np.append(0, np.ones(n, int))):
        table = {"who": np.arange(len(flags)), "x": np.ones(len(flags)), "flag": flags}
        pq.write_table(pa.table(table), tmp_path / "f.parquet")
        made = filtered(reader(tmp_path / "f.parquet"), conditions("flag = 1"))
        people = {"ids": "who", "max_rows": 1, "epsilon": 50}
        answers.append(dp.sum(columns(made, "x"), bounds=(0, 1), **people))
    assert np.abs(np.subtract(answers, n)).max() < 10


def test_of_a_file_of_text_a_column_can_be_key_and_number(tmp_path):
    (tmp_path / "t.csv").write_text("k,x\n" + "".join(f"{i % 4}, {i} \n" for i in range(40)))
    where = [{"column": "k", "at_least": 2}, {"column": "x", "in": [" 2 ", " 3 ", " 6 "]}]
    read = filtered(reader(tmp_path / "t.csv"), conditions(where))
    groups = dp.group_by(Columns(read, ["k"]), "k", keys=[1, 2, 3])
    assert groups.count(epsilon=400)["count"].tolist() == [0, 2, 1]
    assert abs(dp.sum(columns(read, "x"), bounds=(0, 9), epsilon=400) - 11) < 0.5


def test_nothing_is_read_before_the_spend(folder, monkeypatch):
    for name in ("reduce", "sample_column"):
        monkeypatch.setattr(Reader, name, lambda *args: pytest.fail("a row was read"))
    read = filtered(reader(folder / "t.parquet"), conditions({"column": "i", "above": 0}))
    budget = dp.Budget(epsilon=1)
    assert (
        budget.cost(dp.mean, columns(read, "f"), bounds=(0, 1), nan=0, epsilon=0.5).epsilon == 0.5
    )
    assert BATCH and budget.spent["epsilon"] == 0
    groups = dp.group_by(Columns(read, ["w"]), "w", keys=["UA"])
    assert budget.cost(groups.mean, "i", bounds=(0, 1), nan=0, epsilon=0.5).epsilon == 0.5


@pytest.mark.parametrize(
    "text, table",
    [
        ("w = UA", {"column": "w", "equal": "UA"}),
        ("w==UA", {"column": "w", "equal": "UA"}),
        ("i=-3", {"column": "i", "equal": -3}),
        ("w = '01'", {"column": "w", "equal": "01"}),
        ('w = "a = b"', {"column": "w", "equal": "a = b"}),
        ('"a <= b" <= 1e3', {"column": "a <= b", "at_most": 1000.0}),
        ("arrival delay >= +.5", {"column": "arrival delay", "at_least": 0.5}),
        ("i < 9007199254740993", {"column": "i", "below": 9007199254740993}),
        ("i > 1.", {"column": "i", "above": 1.0}),
        ("w != UA", {"column": "w", "not_in": ["UA"]}),
        ("w in UA, 'A, A',DL", {"column": "w", "in": ["UA", "A, A", "DL"]}),
        ("i not  in 1,2", {"column": "i", "not_in": [1, 2]}),
        ("inn in in", {"column": "inn", "in": ["in"]}),
        ("w = nan", {"column": "w", "equal": "nan"}),
        ("w = big red", {"column": "w", "equal": "big red"}),
        ("w in AND, OR", {"column": "w", "in": ["AND", "OR"]}),
        ("w = 'red, AA and (c < 3)'", {"column": "w", "equal": "red, AA and (c < 3)"}),
    ],
)
def test_a_text_says_the_same_as_a_table(text, table):
    assert conditions(text) == conditions([text]) == conditions(table)


LIST = "where.in must be a list of numbers, times or texts"
WRONG = [
    *((text, "where must be a column, one of =, ==, !=, in, not in, >, >=, <, <=,")
      for text in ("i", "", "i =", "= 3", '"i > 3')),
    *((text, "where must be a list such as UA, 'A, B'") for text in ("i in 1,,2", "i in 1,")),
    *((text, "where must be one condition (put a value with signs") for text in (
        "w = UA and i > 3", "i > 3 OR i < 1", "w = UA,AA", "w in (UA, AA)",
        "w = 'UA' | w = 'AA'")),
    ("i > UA", "where.above must be a finite real"),
    (f"i > {'9' * 500}", "where.above must be a finite real"),
    ([3], "where must be a table such as"),
    ({"above": 0}, "where.column must be text"),
    ({"column": "i"}, "where must be a column with at least one test: above, at_least"),
    ({"column": "i", "over": 0}, "where.over must be one of above"),
    *(({"column": "i", "above": x}, "where.above must be a finite real") for x in ("0", math.nan)),
    *(({"column": "i", "in": some}, LIST) for some in ("UA", [], [1, "UA"])),
    ("i in 1, UA", LIST),
    ({"column": "i", "equal": [1]}, "where.equal must be a number, a time or a"),
    ({"column": "j", "above": 0}, "column 'j' is not in t.parquet"),
    ({"column": "w", "above": 0}, "must hold integers, floats"),
    ({"column": "i", "in": ["1"]}, "where must be integers, as the column"),
    *(({"column": "i", **test}, "where must be integers of int64, as")
      for test in ({"in": [1, 1.5]}, {"equal": 10**30}, {"not_in": [-1e30]})),
    ({"column": "utc", "above": "2024-01-01"}, "with a time zone"),
    ({"column": "at", "above": "2024-01-01T00:00+00:00"}, "without a"),
    *(({"column": "day", test: "2024-01-01T12:00"}, "a whole number of")
      for test in ("above", "equal")),
    ({"column": "day", "equal": "monday"}, "a date or time"),
    ({"column": "day", "above": 3}, "a date or time"),
    ({"column": "span", "above": "2024-01-01"}, "a duration"),
    *(({"column": "f", "above": limit}, "real number")
      for limit in ("2024-01-01", dt.date(2024, 1, 1))),
    ({"column": "w", "above": "b"}, "real number"),
    ({"column": "day", "in": [dt.date(2024, 1, 1), 3]}, "a list of"),
]  # fmt: skip


def test_one_clear_error(folder):
    for where, said in WRONG:
        with pytest.raises((ArgumentError, ArgumentTypeError, SourceError)) as caught:
            filtered(reader(folder / "t.parquet"), conditions(where))
        assert said in str(caught.value) and len(str(caught.value).split()) < 40


def test_words_are_told_apart_by_all_that_they_hold(tmp_path):
    words = ["a", "a", "b", "a\0", "a\0\0"]
    pq.write_table(pa.table({"row": range(5), "w": words}), tmp_path / "t.parquet")
    for word, rows in (("a", [0, 1]), ("a\0", [3]), ("a\0\0", [4])):
        others = [i for i in range(5) if i not in rows]
        for test, due in (({"equal": word}, rows), ({"not_in": [word]}, others)):
            where = conditions({"column": "w", **test})
            assert sorted(numbers_of(filtered(reader(tmp_path / "t.parquet"), where))) == due


def test_a_cell_that_is_no_number_is_not_quoted(tmp_path):
    (tmp_path / "t.csv").write_text("k,x\na,1\nMary,2\n")
    read = filtered(reader(tmp_path / "t.csv"), conditions({"column": "k", "above": 0}))
    for by in ("k", "x"):
        with pytest.raises(DataError) as caught:
            dp.group_by(Columns(read, [by]), by, keys=["a"]).count(epsilon=1)
        assert "Mary" not in str(caught.value) and caught.value.__cause__ is None


X = {"bounds": (0, 500), "epsilon": 1}
RELEASES = {
    "count": lambda rows, **call: dp.count(rows["row"], epsilon=1, **call),
    "median": lambda rows, **call: dp.median(rows["row"], **X, **call),
    "covariance": lambda rows, **call: dp.covariance(
        rows[["row"]], **{**X, "bounds": [(0, 500)]}, **call
    ),
    "blocks": lambda rows, **call: dp.sample_and_aggregate(
        rows["row"], "mean", blocks=10, **X, **call
    ),
    "learner": lambda rows, **call: dp.learn.StandardScaler(**X, **call).fit(rows[["row"]]),
    "sums": lambda rows, **call: dp.sulq.NoisySums(rows[["row"]], queries=1, epsilon=1, **call),
}


@pytest.mark.parametrize("name", RELEASES)
def test_no_row_may_be_replaced_where_conditions_keep_some(folder, name):
    """It might enter what is kept, or leave it: the number of rows would tell."""
    rows = dp.scan(folder / "t.parquet", ["row"], where={"column": "day", "at_least": "2024-01-01"})
    RELEASES[name](rows, neighbors="add-remove")
    with pytest.raises(ArgumentError, match="'add-remove' if conditions keep rows"):
        RELEASES[name](rows, neighbors="replace")
    RELEASES[name](dp.scan(folder / "t.parquet", ["row"]), neighbors="replace")


def test_people_and_groups_may_be_replaced(folder):
    rows = dp.scan(folder / "t.parquet", where={"column": "day", "at_least": "2024-01-01"})
    call = {"bounds": (0, 500), "epsilon": 1, "neighbors": "replace"}
    dp.mean(rows["row"], ids="w", max_rows=3, **call)
    del call["neighbors"]
    groups = dp.group_by(rows, "w", keys=["UA"], neighbors="replace")
    assert len(groups.mean("row", **call)["mean"]) == 1
