"""A release is the answer of its measurement, with what is public and nothing else."""

import json
import pickle

import numpy as np
import pytest

import dpfast as dp

ROWS = np.random.default_rng(3).uniform(0, 100, 300)
REPLACE = dp.Unit("replace")


def seeded():
    return dp.rng.InsecureGenerator(5)


@pytest.mark.parametrize(
    "statistic",
    [
        dp.Count(), dp.Mean(bounds=(0, 100)), dp.Median(bounds=(0, 100)),
        dp.Histogram(bins=4, bounds=(0, 100)), dp.Quantiles(qs=(0.2, 0.8), bounds=(0, 100)),
    ],
)  # fmt: skip
def test_the_value_is_that_of_a_call(statistic):
    measurement = statistic.measure(epsilon=1)
    release = measurement.release(ROWS, rng=seeded())
    whole = statistic.with_interval()
    answer = whole.measure(epsilon=1)(ROWS, rng=seeded())
    if whole is not statistic:
        low, answer, high = answer
        np.testing.assert_equal((release.low, release.high), (low, high))
    np.testing.assert_equal(release.value, answer)
    shown = json.loads(json.dumps(release.to_dict(), allow_nan=False))
    assert shown["statistic"] == statistic.word and shown["entry"] is release.entry is None
    again = pickle.loads(pickle.dumps(release))
    assert repr(again) == repr(release) and again.to_dict() == release.to_dict()


def test_columns_come_last_in_releases_too():
    two = np.stack([ROWS / 10, 90 + ROWS / 10], axis=1)  # of which no number is near the other
    asked = {"axis": 0, "bounds": (0, 100), "epsilon": 50, "rng": seeded()}
    for qs in ([0.1, 0.9], [0.1, 0.5, 0.9]):
        release = dp.extend.prepare(dp.quantiles, two, qs, **asked).release()
        assert release.value.shape == release.low.shape == (len(qs), 2)
        assert (release.value[:, 0] < 20).all() and (release.value[:, 1] > 80).all()
        assert (release.low <= release.value).all() and (release.value <= release.high).all()


@pytest.mark.parametrize("statistic", [dp.Mean, dp.Median])
def test_a_bar_within_drawn_bounds_says_what_it_does_not_know(statistic):
    release = statistic(bounds="auto").measure(epsilon=1).release(ROWS[:3])
    assert release.bar.half_width is not None and "drawn" in release.bar.note
    assert repr(release).endswith("bias unknown")
    people = statistic(bounds=(0, 100)).measure(epsilon=1, unit=dp.Unit(ids="who", max_rows=1))
    assert "at most 1 of each 'who'; bias unknown" in repr(people.release(ROWS, ids=np.arange(300)))


DAYS = np.datetime64("2020-01-01") + np.arange(300).astype("m8[D]")
SPANS = np.arange(300).astype("m8[h]")


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("name", ["mean", "std", "median", "quantiles", "iqr"])
def test_times_have_bars_and_records(name, zone):
    """Of days, of times in a zone, which are Python's own, and of durations."""
    pandas = pytest.importorskip("pandas")
    more = {"qs": [0.2, 0.6]} if name == "quantiles" else {}
    of_days = {"bounds": (DAYS[0], DAYS[-1]), "epsilon": 9, **more}
    of_spans = {**of_days, "bounds": (SPANS[0], SPANS[-1])}
    days = DAYS if zone is None else pandas.Series(DAYS).dt.tz_localize(zone)
    for data, asked in ((days, of_days), (SPANS, of_spans)):
        release = getattr(dp.session(rng=seeded()), name)(data, **asked)
        assert np.all(release.low <= release.value) and np.all(release.value <= release.high)
        assert "95 %" in repr(release) and "95 %" in release._repr_html_()
        json.dumps(release.to_dict(), allow_nan=False)


def test_only_a_public_number_of_rows_is_told():
    def rows(release):
        return release.to_dict()["data"]["rows"]

    mean = dp.Mean(bounds=(0, 100))
    public = mean.measure(epsilon=1, unit=REPLACE).release(ROWS)
    assert rows(public) == 300 and public.error() == public.error(300)
    private = mean.measure(epsilon=1).release(ROWS)
    assert rows(private) is None and private.error().half_width is None
    assert private.error(300, 0.5) == mean.measure(epsilon=1).error(300, 0.5)
    assert private.bar.half_width is not None  # by the noisy sums that are paid for
    masked = mean.measure(epsilon=1, unit=REPLACE, where=True)
    assert rows(masked.release(ROWS, where=ROWS > 50)) is None
    people = mean.measure(epsilon=1, unit=dp.Unit("replace", "who", 2))
    assert rows(people.release(ROWS, ids=np.arange(300) // 3)) is None
