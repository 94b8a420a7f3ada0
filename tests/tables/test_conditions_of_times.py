"""Conditions on dates, times and durations, of files and of `scan`; and who may keep some rows."""

import datetime as dt
import operator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError

from ..support.pairwise import every_value

FIRST = dt.datetime(2024, 1, 1, 12)
MOMENTS = [FIRST + dt.timedelta(days=i, milliseconds=i) for i in range(-200, 200)] + [None] * 3
SIGNS = {
    "above": operator.gt, "at_least": operator.ge, "below": operator.lt, "at_most": operator.le,
    "equal": operator.eq,
}  # fmt: skip


def mapped(function):
    return [None if moment is None else function(moment) for moment in MOMENTS]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("times") / "times.parquet"
    columns = {
        "day": pa.array(mapped(dt.datetime.date), pa.date32()),
        "at": pa.array(MOMENTS, pa.timestamp("us")),
        "utc": pa.array(mapped(lambda x: x.replace(tzinfo=dt.UTC)), pa.timestamp("ms", "UTC")),
        "span": pa.array(mapped(lambda x: x - FIRST), pa.duration("ms")),
        "x": pa.array(np.arange(len(MOMENTS), dtype=float)),
        "word": pa.array(["2024-01-01"] * len(MOMENTS)),
    }
    pq.write_table(pa.table(columns), path, row_group_size=100)
    return path


def kept(path, **where):
    """The rows that a condition keeps, told apart by a histogram of so many bins with no noise."""
    rows = dp.scan(path, "x", where=where)
    edges = np.arange(len(MOMENTS) + 1) - 0.5
    counts = rows.reduce(lambda chunk: np.histogram(chunk.values, edges)[0], np.add)
    return np.flatnonzero(counts).tolist()


@every_value(drop=True)
@pytest.mark.parametrize("test", SIGNS)
@pytest.mark.parametrize("at", [-201, -7, 0, 7, 201])
def test_comparisons_are_those_of_python(path, test, at):
    moment = FIRST + dt.timedelta(days=at, milliseconds=at)
    utc = lambda x: x.replace(tzinfo=dt.UTC)  # noqa: E731
    for column, of, texts in (
        ("day", dt.datetime.date, [str(moment.date()), np.datetime64(moment.date())]),
        ("at", lambda x: x, [moment.isoformat(), np.datetime64(moment)]),
        ("utc", utc, [f"{moment.isoformat()}+00:00"]),
        ("span", lambda x: x - FIRST, [np.timedelta64(moment - FIRST)]),
    ):
        value, sign = of(moment), SIGNS[test]
        passes = [i for i, x in enumerate(mapped(of)) if x is not None and sign(x, value)]
        for written in (value, *texts):
            assert kept(path, column=column, **{test: written}) == passes, (column, written)


def test_dates_of_a_text_file_as_they_are_declared(tmp_path):
    rows = "".join(f"{day:%d.%m.%Y},{i}\n" for i, day in enumerate(MOMENTS[:400]))
    (tmp_path / "days.csv").write_text("day,x\n" + rows + ",7\n")
    options = {"dates": {"day": "%d.%m.%Y"}, "where": {"column": "day", "below": "2023-06-17"}}
    some = dp.scan(tmp_path / "days.csv", "x", **options)
    assert some.reduce(lambda chunk: len(chunk.values), operator.add) == 2


def test_one_clear_error(path):
    for kind, says, where in (
        (ArgumentTypeError, "with a time zone", {"column": "utc", "above": "2024-01-01"}),
        (ArgumentTypeError, "without a", {"column": "at", "above": "2024-01-01T00:00+00:00"}),
        (ArgumentError, "a whole number of", {"column": "day", "above": "2024-01-01T12:00"}),
        (ArgumentError, "a whole number of", {"column": "day", "equal": "2024-01-01T12:00"}),
        (ArgumentTypeError, "a date or time", {"column": "day", "equal": "monday"}),
        (ArgumentTypeError, "a date or time", {"column": "day", "above": 3}),
        (ArgumentTypeError, "a duration", {"column": "span", "above": "2024-01-01"}),
        (ArgumentTypeError, "real number", {"column": "x", "above": "2024-01-01"}),
        (ArgumentTypeError, "real number", {"column": "x", "above": dt.date(2024, 1, 1)}),
        (ArgumentTypeError, "real number", {"column": "word", "above": "b"}),
        (ArgumentTypeError, "a list of", {"column": "day", "in": [dt.date(2024, 1, 1), 3]}),
    ):
        with pytest.raises(kind, match=says) as caught:
            dp.scan(path, "x", where=where)
        assert len(str(caught.value).split()) < 30


X = {"bounds": (0, 500), "epsilon": 1}
RELEASES = {
    "count": lambda rows, **call: dp.count(rows["x"], epsilon=1, **call),
    "median": lambda rows, **call: dp.median(rows["x"], **X, **call),
    "covariance": lambda rows, **call: dp.covariance(
        rows[["x"]], **{**X, "bounds": [(0, 500)]}, **call
    ),
    "blocks": lambda rows, **call: dp.sample_and_aggregate(
        rows["x"], "mean", blocks=10, **X, **call
    ),
    "learner": lambda rows, **call: dp.learn.StandardScaler(**X, **call).fit(rows[["x"]]),
    "sums": lambda rows, **call: dp.sulq.NoisySums(rows[["x"]], queries=1, epsilon=1, **call),
}


@pytest.mark.parametrize("name", RELEASES)
def test_no_row_may_be_replaced_where_conditions_keep_some(path, name):
    """It might enter what is kept, or leave it: the number of rows would tell."""
    rows = dp.scan(path, ["x"], where={"column": "day", "at_least": "2024-01-01"})
    RELEASES[name](rows, neighbors="add-remove")
    with pytest.raises(ArgumentError, match="'add-remove' for rows that conditions keep"):
        RELEASES[name](rows, neighbors="replace")
    RELEASES[name](dp.scan(path, ["x"]), neighbors="replace")


def test_people_and_groups_may_be_replaced(path):
    """How many rows they have is private anyhow."""
    rows = dp.scan(path, where={"column": "day", "at_least": "2024-01-01"})
    call = {"bounds": (0, 500), "epsilon": 1, "neighbors": "replace"}
    dp.mean(rows["x"], ids="word", max_rows=3, **call)
    del call["neighbors"]
    groups = dp.group_by(rows, "word", keys=["2024-01-01"], neighbors="replace")
    assert len(groups.mean("x", **call)["mean"]) == 1
