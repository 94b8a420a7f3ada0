"""Dates, times and durations: the answers of their counts, in their own kind, by type alone."""

import datetime as dt
import zoneinfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError
from dpfast.measurement import times
from dpfast.rng import InsecureGenerator
from dpfast.tables.time_columns import time_column

from ..support.battery import CASES
from ..support.lazy import pl
from ..support.pairwise import every_value, quick_rows

N = 4000
LO, HI = dt.date(2020, 1, 1), dt.date(2022, 1, 1)
DAYS = np.datetime64(LO) - 30 + np.random.default_rng(1).integers(0, 800, N)
SPANS = np.random.default_rng(2).integers(-100, 4000, N).astype("m8[s]")
HOUR = dt.timedelta(hours=1)
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
ROWS = np.arange(N) % 3 > 0
FEW = 331
OF_POINTS = dp.median, dp.mean, dp.quantile, dp.quantiles, dp.percentile, dp.quantile_interval
OF_POINTS += dp.minimum, dp.maximum, dp.trimmed_mean, dp.winsorized_mean
#: Cases of the battery whose answers are times where the rows are.
POINTS = {
    name: (case.call, {word: value for word, value in case.kw.items() if word != "bounds"})
    for name, case in CASES.items()
    if case.call in OF_POINTS and case.form == "column" and case.kw["bounds"] == (0, 100)
}
POINTS["mean with weights"] = dp.mean, {"weights": np.linspace(0, 1, FEW), "weight_bounds": (0, 1)}


def rng():
    return InsecureGenerator(4)


@every_value
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", POINTS)
def test_an_answer_is_that_of_the_counts(name, relation):
    (call, more), days, spans = POINTS[name], DAYS[:FEW], SPANS[:FEW]
    more, lo, hi = {**more, "epsilon": 1, "neighbors": relation}, *np.array([LO, HI], "M8[D]")
    due = call((days - lo).astype(int), bounds=(0, int((hi - lo).astype(int))), rng=rng(), **more)
    found = call(days, bounds=(LO, HI), rng=rng(), **more)
    np.testing.assert_array_equal(found, lo + np.rint(due).astype(int))
    assert np.asarray(found).dtype == "M8[D]" and np.ndim(found) == np.ndim(due)
    due = call(spans.astype(int), bounds=(0, 3600), rng=rng(), **more)
    found = call(spans, bounds=(0 * HOUR, HOUR), rng=rng(), **more)
    np.testing.assert_array_equal(found, np.rint(due).astype("m8[s]"))


def test_differences_and_sums_are_durations():
    lo = np.datetime64(LO)
    due = dp.iqr((DAYS - lo).astype(int), bounds=(0, 731), epsilon=1, rng=rng())
    assert dp.iqr(DAYS, bounds=(LO, HI), epsilon=1, rng=rng()) == np.timedelta64(round(due), "D")
    due = dp.sum(SPANS.astype(int), bounds=(-60, 3600), epsilon=1, rng=rng())
    bounds = (dt.timedelta(minutes=-1), HOUR)
    found = dp.sum(SPANS, bounds=bounds, epsilon=1, rng=rng())
    assert found == np.timedelta64(round(due), "s")
    with pytest.raises(ArgumentTypeError, match="data must be numbers or durations"):
        dp.sum(DAYS, bounds=(LO, HI), epsilon=1)


def test_counts_and_histograms():
    gaps = np.where(np.arange(N) % 5 > 0, DAYS, np.datetime64("NaT"))
    assert dp.count(DAYS, epsilon=1, rng=rng()) == dp.count(np.zeros(N), epsilon=1, rng=rng())
    edges = np.array(["2020-01-01", "2020-06-01", "2021-01-01"], "M8[D]")
    due, _ = np.histogram(DAYS.astype(int), edges.astype(int))
    for bins in (edges, list(edges.tolist())):
        found, made = dp.histogram(DAYS, bins=bins, epsilon=400)
        np.testing.assert_array_equal(found, due)
        np.testing.assert_array_equal(made, edges)
    found, made = dp.histogram(gaps, bins=2, bounds=(LO, HI), epsilon=400)
    kept = gaps[~np.isnat(gaps)].astype(int)
    np.testing.assert_array_equal(found, np.histogram(kept, made.astype(int))[0])


def test_time_zones():
    days = pd.Series(DAYS.astype("M8[ns]")).dt.tz_localize("UTC")
    bounds = dt.datetime(2020, 1, 1, tzinfo=BERLIN), dt.datetime(2022, 1, 1, tzinfo=BERLIN)
    dask = pytest.importorskip("dask.dataframe")
    for data in (
        *(days, days.dt.tz_convert("Asia/Tokyo"), pl.from_pandas(days), pa.array(days)),
        days.astype(pd.ArrowDtype(pa.timestamp("us", "UTC"))),
        dask.from_pandas(days.to_frame("d"), npartitions=1)["d"],
    ):
        found = dp.median(data, bounds=bounds, epsilon=100)
        assert isinstance(found, dt.datetime) and found.tzinfo is BERLIN
        assert abs(found - days.median()) < dt.timedelta(days=1)
        several = dp.quantiles(data, [0.5, 0.9], bounds=bounds, epsilon=100)
        assert [one.tzinfo for one in several] == [BERLIN] * 2
        with pytest.raises(ArgumentTypeError, match="bounds must be a date or time with a time"):
            dp.median(data, bounds=(LO, HI), epsilon=1)
    with pytest.raises(ArgumentTypeError, match="bounds must be a date or time without a time"):
        dp.median(DAYS, bounds=bounds, epsilon=1)
    stamps = tuple(pd.Timestamp(bound) for bound in bounds)
    assert dp.mean(days, bounds=stamps, epsilon=1, rng=rng()) == dp.mean(
        days, bounds=bounds, epsilon=1, rng=rng()
    )


def test_rows_without_a_time_are_null():
    gaps = np.where(np.arange(N) % 5 > 0, DAYS, np.datetime64("NaT"))
    kept = gaps[~np.isnat(gaps)]
    series = pd.Series(gaps.astype("M8[ns]"))
    dask = pytest.importorskip("dask.dataframe").from_pandas(series.to_frame("d"), npartitions=2)
    for data in (gaps, series, pl.Series(gaps), pa.array(gaps), dask["d"]):
        budget = dp.Budget(epsilon=1)
        with pytest.raises(DataError, match="NaN or null"):
            dp.mean(data, bounds=(LO, HI), epsilon=1, nan="raise", budget=budget)
        assert budget.spent["epsilon"] == 1
        found = dp.mean(data, bounds=(LO, HI), epsilon=100).astype("M8[D]")
        due = np.clip(kept, np.datetime64(LO), np.datetime64(HI)).astype(int).mean()
        assert abs(found.astype(int) - due) <= 2
    low = dp.quantile(gaps, 0.15, bounds=(LO, HI), epsilon=100, nan=LO)
    assert abs((low - np.datetime64(LO)).astype(int)) <= 1
    for wrong in (0, HOUR, np.datetime64("NaT")):
        with pytest.raises((ArgumentTypeError, ArgumentError), match="nan must be a date"):
            dp.mean(gaps, bounds=(LO, HI), epsilon=1, nan=wrong)


class NoOffset(dt.tzinfo):
    """A zone that does not say when it is."""

    def utcoffset(self, moment):
        return None

    dst = utcoffset


UTC = pa.array(DAYS.astype("M8[us]")).cast(pa.timestamp("us", "UTC"))
EARLY = dt.datetime(1, 1, 1, tzinfo=dt.timezone(5 * HOUR))


@pytest.mark.parametrize("data, bounds, words", [
    (DAYS, (0, 1), "bounds must be a date or time"),
    (DAYS, (LO, HOUR), "bounds must be a date or time"),
    (SPANS, (LO, HI), "bounds must be a duration"),
    (SPANS, (0, 60), "bounds must be a duration"),
    (DAYS, LO, "bounds must be a pair of dates or times"),
    (DAYS, (HI, LO), "the lower one first"),
    (DAYS, (LO, np.datetime64("NaT", "D")), "bounds must be a date or time"),
    (DAYS, (LO, dt.datetime(2022, 1, 1, 12)), "a whole number of the data's"),
    (DAYS.astype("M8[ns]"), (dt.date(1, 1, 1), HI), "that int64 holds"),
    (DAYS, (LO, "2022-01-01"), "bounds must be a date or time"),
    (np.arange(9.0), (LO, HI), "bounds"),
    ([LO, HI], (LO, HI), "bounds"),
    (DAYS.reshape(2, -1), (LO, HI), "bounds"),
    *((DAYS, pair, "^bounds must be") for pair in (
        {LO, HI}, {LO: 1, HI: 2}, iter([LO, HI]), pd.Series([LO, HI], index=["a", "b"]))),
    *((UTC, (low, dt.datetime(2022, 1, 1, tzinfo=low.tzinfo)), "^bounds must be") for low in (
        dt.datetime(2020, 1, 1, tzinfo=NoOffset()), EARLY)),
])  # fmt: skip
def test_other_bounds_are_refused_before_the_spend(data, bounds, words):
    budget = dp.Budget(epsilon=1)
    for call in (dp.median, dp.mean, dp.maximum):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            call(data, bounds=bounds, epsilon=1, budget=budget)
    assert budget.spent["epsilon"] == 0


@pytest.mark.parametrize("call", [dp.median, dp.mean])
def test_no_row_decides_the_type_of_an_answer(call, monkeypatch):
    """Of rows of one declared type: many, none, and none that is a time."""

    def types_of_answers():
        for rows in (DAYS, DAYS[:0], np.full(5, np.datetime64("NaT"), "M8[D]")):
            found = call(rows, bounds=(LO, HI), epsilon=1, nan="lower")
            assert found.dtype == "M8[D]" and LO <= found.item() <= HI

    def looks(data, beside):
        """Planted: a column without a time is taken for one of numbers."""
        given, column = time_column(data, beside)
        return given, column if len(data) and not np.isnat(data).all() else None

    types_of_answers()
    monkeypatch.setattr(times, "time_column", looks)
    with pytest.raises((AssertionError, ArgumentTypeError)):
        types_of_answers()


def with_names(folder):
    days = np.where(np.arange(N) % 7 > 0, DAYS, np.datetime64("NaT"))
    counts = pa.array((DAYS - np.datetime64(LO)).astype(int), mask=np.isnat(days))
    table = pa.table({"d": days, "x": counts, "id": np.arange(N) // 3, "w": np.linspace(0, 1, N)})
    pq.write_table(table, folder / "t.parquet", row_group_size=999)
    feather.write_feather(table, folder / "t.arrow", chunksize=999)
    yield lambda names: dp.scan(folder / "t.parquet", names)
    yield lambda names: dp.scan(folder / "t.arrow", names)
    yield lambda names: dp.stream(lambda: table, names)


@quick_rows(1)
@pytest.mark.parametrize("number", range(3))
def test_ids_and_weights_by_name_beside_times_that_are_scanned(tmp_path, number):
    lo, read = np.datetime64(LO), [*with_names(tmp_path)][number]
    people = {"ids": "id", "max_rows": 2}
    weighted = {"weights": "w", "weight_bounds": (0, 1)}
    for call, beside in [(dp.mean, people), (dp.median, people), (dp.mean, weighted)]:
        more = {**beside, "epsilon": 1, "nan": "drop"}
        due = call(read("x"), bounds=(0, 731), rng=rng(), **more)
        for names in ("d", ["d", beside.get("ids", "w")]):
            found = call(read(names), bounds=(LO, HI), rng=rng(), **more)
            assert found == lo + np.rint(due).astype(int)
    edges = [LO, dt.date(2021, 1, 1), HI]
    found, _ = dp.histogram(read("d"), bins=edges, epsilon=1, rng=rng(), **people)
    due, _ = dp.histogram(read("x"), bins=[0, 366, 731], epsilon=1, rng=rng(), **people)
    np.testing.assert_array_equal(found, due)
    with pytest.raises((ArgumentError, SourceError), match="'none'"):
        dp.mean(read("d"), bounds=(LO, HI), epsilon=1, ids="none", max_rows=1)
