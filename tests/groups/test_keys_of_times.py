"""Public keys of columns of times: a date is a whole day, and zones and moments are not mixed."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.tables import key_words

from ..support.lazy import pl
from ..support.pairwise import quick_rows

MOMENTS = ["2024-01-01T08:00", "2024-01-01T23:59:59.999999", "2024-01-02", "1969-12-31T05:00"]
NAIVE = pd.Series(np.array(MOMENTS, "M8[us]"))
ZONED = NAIVE.dt.tz_localize("America/New_York")
DAYS = [dt.date(2024, 1, 1), dt.date(2024, 1, 2), dt.date(1969, 12, 31)]
#: Every form of a table of one column.
TABLES = {
    "pandas": lambda column: pd.DataFrame({"k": column}),
    "Arrow": lambda column: pa.table({"k": pa.array(column)}),
    "Polars": lambda column: pl.DataFrame({"k": pl.Series(column)}),
    "dictionary": lambda column: pa.table({"k": pa.array(column).dictionary_encode()}),
}
#: Times as keys that declare whether they have a zone.
LISTS = {
    "objects": lambda column: column.tolist(),
    "series": lambda column: column,
    "Arrow": lambda column: pa.array(column),
    "Polars": lambda column: pl.Series(column),
}


def counts(table, keys):
    return dp.group_by(table, "k", keys=keys).count(epsilon=400)["count"].tolist()


@pytest.mark.parametrize("form", TABLES)
def test_a_date_is_a_whole_day(form):
    table = TABLES[form](NAIVE)
    for keys, rows in (
        (DAYS, [2, 1, 1]), (np.array(DAYS, "M8[D]"), [2, 1, 1]), (pa.array(DAYS), [2, 1, 1]),
        (np.array(["2024-01", "1969-12"], "M8[M]"), [3, 1]),
        (np.array(["2024-01-01T08", "2024-01-01T09"], "M8[h]"), [1, 0]),
        ([dt.datetime(2024, 1, 2), dt.datetime(2024, 1, 1, 8)], [1, 1]),
    ):  # fmt: skip
        assert counts(table, keys) == rows
    assert counts(TABLES[form](NAIVE.dt.floor("D")), DAYS) == [2, 1, 1]


def test_a_date_is_a_whole_day_everywhere():
    rows = {"k": NAIVE.dt.to_pydatetime().tolist()}
    assert counts(rows, DAYS) == [2, 1, 1]
    users = pd.DataFrame({"k": NAIVE, "user": ["a", "a", "a", "b"]})
    people = dp.group_by(users, "k", keys=DAYS, ids="user", max_groups=3)
    assert people.count_distinct(epsilon=450)["count_distinct"].tolist() == [1, 1, 1]
    pairs = dp.group_by(users, ["k", "user"], keys=[DAYS, ["a", "b"]])
    assert pairs.count(epsilon=400)["count"].tolist() == [2, 0, 1, 0, 0, 1]
    with dp.Budget(epsilon=2000).parallel(NAIVE, DAYS) as parts:
        found = [parts[day](dp.count, np.arange(4), epsilon=400) for day in DAYS]
    assert found == [2, 1, 1]


def test_days_that_are_not_looked_for_are_noticed(monkeypatch):
    """The fault: words of rows are left as they are, so that midnight alone counts."""
    monkeypatch.setattr(key_words.KeyWords, "_spanned", lambda self, words: words)
    assert counts(TABLES["pandas"](NAIVE), DAYS) == [0, 1, 0]


@quick_rows(6)
@pytest.mark.parametrize("form", TABLES)
@pytest.mark.parametrize("listed", LISTS)
def test_zones_are_not_mixed(form, listed):
    make = LISTS[listed]
    assert counts(TABLES[form](ZONED), make(ZONED)) == [1, 1, 1, 1]
    assert counts(TABLES[form](NAIVE), make(NAIVE)) == [1, 1, 1, 1]
    for column, keys in ((ZONED, NAIVE), (NAIVE, ZONED)):
        with pytest.raises(ArgumentError, match=r"keys must be .* a time zone"):
            counts(TABLES[form](column), make(keys))
        with pytest.raises(ArgumentError, match=r"groups must be .* a time zone"):
            dp.Budget(epsilon=1).parallel(column, make(keys)).__enter__()


def test_a_day_has_no_zone_and_times_of_numpy_are_in_utc():
    for keys in (
        DAYS, np.array(DAYS, "M8[D]"), pd.Series(np.array(DAYS, "M8[s]")),
        [dt.datetime(2024, 1, 1, tzinfo=dt.UTC), dt.datetime(2024, 1, 2)],
    ):  # fmt: skip
        with pytest.raises(ArgumentError, match="keys must be times with a time zone"):
            counts(TABLES["Arrow"](ZONED), keys)
    utc = ZONED.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    for keys in (utc, list(utc)):
        assert counts(TABLES["pandas"](ZONED), keys) == [1, 1, 1, 1]


def test_a_moment_is_no_date():
    days = pa.table({"k": pa.array(DAYS)})
    assert counts(days, [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 5)]) == [1, 0]
    seconds = pa.table({"k": pa.array(NAIVE).cast(pa.timestamp("s"), safe=False)})
    for table, keys, words in (
        (days, [dt.datetime(2024, 1, 1, 8)], "whole units of D"),
        (seconds, [dt.datetime(2024, 1, 1, 8, 0, 0, 5)], "whole units of s"),
        (TABLES["pandas"](NAIVE), [DAYS[0], dt.datetime(2024, 1, 2, 3)], "all dates or all times"),
    ):
        with pytest.raises(ArgumentError, match=words):
            counts(table, keys)
