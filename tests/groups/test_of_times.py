"""Dates, times and durations by group: the answers of their counts, in their own kind."""

import datetime as dt
import zoneinfo

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from ..support.refused import refused

N = 3000
BITS = np.random.default_rng(5)
LO, HI = dt.date(2020, 1, 1), dt.date(2022, 1, 1)
START, WIDE = np.datetime64(LO), 731
DAYS = START - 30 + BITS.integers(0, 800, N)
SPANS = BITS.integers(-100, 4000, N).astype("m8[s]")
HOUR = dt.timedelta(hours=1)
TABLE = {"key": BITS.integers(0, 3, N), "day": DAYS, "span": SPANS, "w": BITS.random(N)}
COUNTS = {**TABLE, "day": (DAYS - START).astype(int), "span": SPANS.astype(int)}
WEIGHTS = {"weights": "w", "weight_bounds": (0, 1)}
LOSSES = [{"epsilon": 2}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.5}]
POINTS = {
    "mean": dp.stat.mean,
    "median": dp.stat.median,
    "quantile": lambda x, **k: dp.stat.quantile(x, 0.9, **k),
    "quantiles": lambda x, **k: dp.stat.quantiles(x, [0.1, 0.5], **k),
    "percentile": lambda x, **k: dp.stat.percentile(x, 99.5, **k),
    "minimum": dp.stat.minimum,
    "maximum": dp.stat.maximum,
    "mean with weights": lambda x, **k: dp.stat.mean(x, **WEIGHTS, **k),
}


def released(statistic, data=TABLE, **more):
    groups = dp.group_by(data, "key", keys=[0, 1, 2, 9])
    return groups.agg({"x": statistic}, rng=InsecureGenerator(3), **(more or LOSSES[0]))


@quick_rows(8)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", POINTS)
def test_an_answer_is_that_of_the_counts(name, loss):
    due = released(POINTS[name]("day", bounds=(0, WIDE)), COUNTS, **loss)
    found = released(POINTS[name]("day", bounds=(LO, HI)), **loss)
    assert list(found) == list(due)
    for column in list(due)[1:]:
        if column == "x error in ranks":
            np.testing.assert_array_equal(found[column], due[column])
            continue
        if column == "x error":  # in whole units, with what rounding the answer adds
            own = np.ceil(due[column] + 0.5).astype("m8[D]")
            np.testing.assert_array_equal(found[column], own)
            continue
        assert found[column].dtype == "M8[D]"
        np.testing.assert_array_equal(found[column], START + np.rint(due[column]).astype(int))
    due = released(POINTS[name]("span", bounds=(0, 3600)), COUNTS, **loss)
    found = released(POINTS[name]("span", bounds=(0 * HOUR, HOUR)), **loss)
    for column in [name for name in due if name not in ("key", "x error in ranks")]:
        own = np.ceil(due[column] + 0.5) if column == "x error" else np.rint(due[column])
        np.testing.assert_array_equal(found[column], own.astype("m8[s]"))


def test_bins_have_edges_that_are_times():
    edges = [LO, dt.date(2020, 6, 1), HI]
    whole = [(np.datetime64(edge) - START).astype(int) for edge in edges]
    due = released(dp.stat.histogram("day", bins=whole), COUNTS)
    for statistic in (
        dp.stat.histogram("day", bins=edges),
        dp.stat.histogram("day", bins=np.array(edges, "M8[D]")),
    ):
        found = released(statistic)
        assert list(found) == ["key", "x 2020-01-01", "x 2020-06-01", "x error"]
        for a, b in zip(list(found.values())[1:], list(due.values())[1:], strict=True):
            np.testing.assert_array_equal(a, b)
    found = released(dp.stat.histogram("day", bins=2, bounds=(LO, HI)))
    assert list(found)[1:3] == ["x 2020-01-01", "x 2020-12-31"]


def test_time_zones_and_rows_without_a_time():
    berlin = zoneinfo.ZoneInfo("Europe/Berlin")
    days = pd.Series(np.where(np.arange(N) % 5 > 0, DAYS, np.datetime64("NaT")).astype("M8[ns]"))
    frame = pd.DataFrame({"key": TABLE["key"], "day": days.dt.tz_localize("UTC")})
    bounds = tuple(dt.datetime(y, 1, 1, tzinfo=berlin) for y in (2020, 2022))
    with pytest.raises(DataError, match="NaN or null"):
        released(dp.stat.median("day", bounds=bounds, nan="raise"), frame)
    found = released(dp.stat.median("day", bounds=bounds), frame, epsilon=200)["x"]
    assert [one.tzinfo for one in found] == [berlin] * 4
    due = frame.groupby("key")["day"].median()
    assert all(abs(a - b) < dt.timedelta(days=3) for a, b in zip(found[:3], due, strict=True))
    low = released(dp.stat.quantile("day", 0.1, bounds=bounds, nan=bounds[0]), frame, epsilon=200)
    assert all(abs(one - bounds[0]) < dt.timedelta(days=1) for one in low["x"][:3])
    with pytest.raises(ArgumentTypeError, match="with a time zone"):
        released(dp.stat.median("day", bounds=(LO, HI)), frame)


REFUSED = [
    (lambda: dp.stat.mean("day", bounds=(0, 1)), "bounds must be a date"),
    (lambda: dp.stat.median("day", bounds=(HOUR, HOUR)), "a date or time"),
    (lambda: dp.stat.mean("span", bounds=(LO, HI)), "a duration"),
    (lambda: dp.stat.mean("day", bounds=(HI, LO)), "the lower one first"),
    (lambda: dp.stat.mean("w", bounds=(LO, HI)), "bounds must be numbers"),
    (lambda: dp.stat.sum("day", bounds=(LO, HI)), "dates have no sum"),
    (lambda: dp.stat.variance("day", bounds=(0, 1)), "must be numbers"),
    (lambda: dp.stat.mean("day", bounds=(LO, HI), nan=3), "nan must be"),
    (lambda: dp.stat.mean("w", bounds=(0, 1), nan=LO), "nan"),
    (lambda: dp.stat.histogram("w", bins=[LO, HI]), "hold no times"),
    (lambda: dp.stat.histogram("day", bins=[HI, LO]), "in ascending order"),
]


@pytest.mark.parametrize("statistic, words", REFUSED)
def test_bounds_of_another_kind_are_refused_before_the_spend(statistic, words):
    groups = dp.group_by(TABLE, "key", keys=[0])
    refused(lambda **loss: groups.agg({"x": statistic()}, **loss), words, epsilon=1)
