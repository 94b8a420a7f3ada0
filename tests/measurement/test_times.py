"""Dates, times and durations: the answers of their counts, in their own kind, by type alone."""

import datetime as dt
import zoneinfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError
from dpfast.measurement import times
from dpfast.rng import InsecureGenerator
from dpfast.tables.time_columns import time_column

N = 4000
LO, HI = dt.date(2020, 1, 1), dt.date(2022, 1, 1)
DAYS = np.datetime64(LO) - 30 + np.random.default_rng(1).integers(0, 800, N)
SPANS = np.random.default_rng(2).integers(-100, 4000, N).astype("m8[s]")
HOUR = dt.timedelta(hours=1)
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")
ROWS = np.arange(N) % 3 > 0

POINTS = {
    "median": dp.median,
    "mean": dp.mean,
    "quantile": lambda x, **k: dp.quantile(x, 0.9, **k),
    "quantiles": lambda x, **k: dp.quantiles(x, [0.1, 0.5], **k),
    "minimum": dp.minimum,
    "maximum": dp.maximum,
    "trimmed mean": lambda x, **k: dp.trimmed_mean(x, proportion=0.1, **k),
    "winsorized mean": lambda x, **k: dp.winsorized_mean(x, proportion=0.1, **k),
    "mean of some": lambda x, **k: dp.mean(x, where=ROWS, **k),
    "mean of people": lambda x, **k: dp.mean(x, ids=np.arange(N) // 2, max_rows=2, **k),
    "mean with weights": lambda x, **k: dp.mean(
        x, weights=np.linspace(0, 1, N), weight_bounds=(0, 1), **k
    ),
}


def rng():
    return InsecureGenerator(4)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", POINTS)
def test_an_answer_is_that_of_the_counts(name, relation):
    call, more = POINTS[name], {"epsilon": 1, "neighbors": relation}
    lo, hi = np.datetime64(LO), np.datetime64(HI)
    span = int((hi - lo).astype(int))
    due = call((DAYS - lo).astype(int), bounds=(0, span), rng=rng(), **more)
    found = call(DAYS, bounds=(LO, HI), rng=rng(), **more)
    np.testing.assert_array_equal(found, lo + np.rint(due).astype(int))
    assert found.dtype == "M8[D]" and np.ndim(found) == np.ndim(due)
    due = call(SPANS.astype(int), bounds=(0, 3600), rng=rng(), **more)
    found = call(SPANS, bounds=(0 * HOUR, HOUR), rng=rng(), **more)
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


def forms(tmp_path):
    """The same days, in every form, with the type of an answer of theirs."""
    ns = DAYS.astype("M8[ns]")
    table = pa.table({"d": DAYS, "s": pa.array(ns), "x": range(N)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=999)
    yield pd.Series(ns), "M8[ns]"
    yield DAYS.astype(">M8[s]")[::1], "M8[s]"
    yield np.ma.array(DAYS, mask=False), "M8[D]"
    yield pl.Series(DAYS), "M8[D]"
    yield pl.Series(ns).cast(pl.Datetime("us")), "M8[us]"
    yield pa.array(DAYS), "M8[D]"
    yield pa.chunked_array([pa.array(ns[:9]), pa.array(ns[9:])]), "M8[ns]"
    yield pa.array(DAYS).cast(pa.date64()), "M8[ms]"
    yield dp.scan(tmp_path / "t.parquet", "d"), "M8[D]"
    yield dp.scan(tmp_path / "t.parquet", "s"), "M8[ns]"
    yield dp.stream(lambda: table, "d"), "M8[D]"
    dd = pytest.importorskip("dask.dataframe")
    yield dd.from_pandas(pd.DataFrame({"d": ns, "x": 1}), npartitions=3)["d"], "M8[ns]"


def test_time_zones():
    days = pd.Series(DAYS.astype("M8[ns]")).dt.tz_localize("UTC")
    bounds = dt.datetime(2020, 1, 1, tzinfo=BERLIN), dt.datetime(2022, 1, 1, tzinfo=BERLIN)
    for data in (days, days.dt.tz_convert("Asia/Tokyo"), pl.from_pandas(days), pa.array(days)):
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
    for data in (gaps, pd.Series(gaps.astype("M8[ns]")), pl.Series(gaps), pa.array(gaps)):
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


@pytest.mark.parametrize(
    "data, bounds, error, words",
    [
        (DAYS, (0, 1), ArgumentTypeError, "bounds must be a date or time"),
        (DAYS, (LO, HOUR), ArgumentTypeError, "bounds must be a date or time"),
        (SPANS, (LO, HI), ArgumentTypeError, "bounds must be a duration"),
        (SPANS, (0, 60), ArgumentTypeError, "bounds must be a duration"),
        (DAYS, LO, ArgumentError, "bounds must be a pair of dates or times"),
        (DAYS, (HI, LO), ArgumentError, "the lower one first"),
        (DAYS, (LO, np.datetime64("NaT", "D")), ArgumentError, "bounds must be a date or time"),
        (DAYS, (LO, dt.datetime(2022, 1, 1, 12)), ArgumentError, "a whole number of the data's"),
        (DAYS.astype("M8[ns]"), (dt.date(1, 1, 1), HI), ArgumentError, "that int64 holds"),
        (DAYS, (LO, "2022-01-01"), ArgumentTypeError, "bounds must be a date or time"),
        (np.arange(9.0), (LO, HI), ArgumentTypeError, "bounds"),
        ([LO, HI], (LO, HI), ArgumentTypeError, "bounds"),
        (DAYS.reshape(2, -1), (LO, HI), ArgumentTypeError, "bounds"),
    ],
)
def test_other_bounds_are_refused_before_the_spend(data, bounds, error, words):
    budget = dp.Budget(epsilon=1)
    for call in (dp.median, dp.mean, dp.maximum):
        with pytest.raises(error, match=words):
            call(data, bounds=bounds, epsilon=1, budget=budget)
    assert budget.spent["epsilon"] == 0


def types_of_answers(call):
    """Of rows of one declared type: many, none, and none that is a time."""
    for rows in (DAYS, DAYS[:0], np.full(5, np.datetime64("NaT"), "M8[D]")):
        found = call(rows, bounds=(LO, HI), epsilon=1, nan="lower")
        assert found.dtype == "M8[D]" and LO <= found.item() <= HI


@pytest.mark.parametrize("call", [dp.median, dp.mean])
def test_no_row_decides_the_type_of_an_answer(call):
    types_of_answers(call)


@pytest.mark.parametrize("call", [dp.median, dp.mean])
def test_a_reading_that_looks_at_rows_is_caught(call, monkeypatch):
    """A column without a time is taken for one of numbers."""

    def looks(data, beside):
        given, column = time_column(data, beside)
        return given, column if len(data) and not np.isnat(data).all() else None

    monkeypatch.setattr(times, "time_column", looks)
    with pytest.raises((AssertionError, ArgumentTypeError)):
        types_of_answers(call)


def with_names(tmp_path):
    """A table of days, of the numbers of days, of ids and of weights, by what reads its columns."""
    days = np.where(np.arange(N) % 7 > 0, DAYS, np.datetime64("NaT"))
    counts = pa.array((DAYS - np.datetime64(LO)).astype(int), mask=np.isnat(days))
    ids = np.arange(N) // 3
    table = pa.table({"d": days, "x": counts, "id": ids, "w": np.linspace(0, 1, N)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=999)
    feather.write_feather(table, tmp_path / "t.arrow", chunksize=999)
    yield lambda names: dp.scan(tmp_path / "t.parquet", names)
    yield lambda names: dp.scan(tmp_path / "t.arrow", names)
    yield lambda names: dp.stream(lambda: table, names)


def test_ids_and_weights_by_name_beside_times_that_are_scanned(tmp_path):
    """They are found by name as beside a column of numbers, with the answers of these."""
    lo = np.datetime64(LO)
    people = {"ids": "id", "max_rows": 2}
    weighted = {"weights": "w", "weight_bounds": (0, 1)}
    calls = [(dp.mean, people), (dp.median, people), (dp.mean, weighted)]
    for read in with_names(tmp_path):
        for call, beside in calls:
            more = {**beside, "epsilon": 1, "nan": "drop"}
            name = beside.get("ids", "w")
            due = call(read("x"), bounds=(0, 731), rng=rng(), **more)
            for names in ("d", ["d", name]):
                found = call(read(names), bounds=(LO, HI), rng=rng(), **more)
                assert found == lo + np.rint(due).astype(int)
        edges = [LO, dt.date(2021, 1, 1), HI]
        found, _ = dp.histogram(read("d"), bins=edges, epsilon=1, rng=rng(), **people)
        due, _ = dp.histogram(read("x"), bins=[0, 366, 731], epsilon=1, rng=rng(), **people)
        np.testing.assert_array_equal(found, due)
        with pytest.raises((ArgumentError, SourceError), match="'none'"):
            dp.mean(read("d"), bounds=(LO, HI), epsilon=1, ids="none", max_rows=1)


def test_a_partition_of_other_times_is_refused():
    dd, dask = pytest.importorskip("dask.dataframe"), pytest.importorskip("dask")
    parts = [pd.DataFrame({"d": DAYS.astype(f"M8[{unit}]"), "w": 1.0}) for unit in ("s", "ms")]
    held = dd.from_delayed(list(map(dask.delayed, parts)), meta=parts[0], verify_meta=False)
    with pytest.raises(DataError, match="other types than its table declares"):
        dp.mean(held, bounds=(LO, HI), epsilon=1, weights="w", weight_bounds=(0, 1))
