"""A release is the answer of its measurement, with what is public and nothing else."""

import json
import pickle
from contextlib import suppress

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import BudgetError

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
    answer = measurement(ROWS, rng=seeded())
    np.testing.assert_equal(release.value, answer)
    shown = json.loads(json.dumps(release.to_dict(), allow_nan=False))
    assert shown["what"] == measurement.name and shown["entry"] is release.entry is None
    assert measurement.name in repr(release)
    again = pickle.loads(pickle.dumps(release))
    assert repr(again) == repr(release) and again.to_dict() == release.to_dict()


def test_only_a_public_number_of_rows_is_told():
    public = dp.Mean(bounds=(0, 100)).measure(epsilon=1, unit=REPLACE).release(ROWS)
    assert public.rows == 300
    assert public.error() == public.measurement.error(300, 0.95)
    assert f"± {public.error().half_width:.3g} (95%)" in repr(public)
    private = dp.Mean(bounds=(0, 100)).measure(epsilon=1).release(ROWS)
    assert private.rows is None and private.error().half_width is None
    assert private.error(300, 0.5) == private.measurement.error(300, 0.5)
    masked = dp.Mean(bounds=(0, 100)).measure(epsilon=1, unit=REPLACE, where=True)
    assert masked.release(ROWS, where=ROWS > 50).rows is None
    people = dp.Mean(bounds=(0, 100)).measure(epsilon=1, unit=dp.Unit("replace", "who", 2))
    assert people.release(ROWS, ids=np.arange(300) // 3).rows is None


def test_it_names_its_entry_of_the_ledger():
    budget = dp.Budget(epsilon=1)
    count = dp.Count().measure(epsilon=0.5)
    assert [count.release(ROWS, budget=budget).entry for _ in range(2)] == [1, 2]
    with pytest.raises(BudgetError):
        count.release(ROWS, budget=budget)
    assert len(budget.history) == 2 and budget.last_entry is None


def test_a_number_is_a_float_and_a_vector_is_none():
    assert float(dp.Count().measure(epsilon=1).release(ROWS, rng=seeded())).is_integer()
    with pytest.raises(TypeError):
        float(dp.Histogram(bins=4, bounds=(0, 100)).measure(epsilon=1).release(ROWS))


def test_a_release_names_the_engine_that_read_the_rows(tmp_path):
    np.save(tmp_path / "rows.npy", ROWS)
    mean = dp.Mean(bounds=(0, 100)).measure(epsilon=1)
    engines = {"memory": ROWS, "files": dp.scan(tmp_path / "rows.npy")}
    with suppress(ImportError):
        import dask.array

        engines["dask"] = dask.array.from_array(ROWS, chunks=100)
    with suppress(ImportError):
        import ibis

        engines["duckdb"] = ibis.memtable({"x": ROWS})["x"]
    for engine, data in engines.items():
        assert mean.release(data).to_dict()["engine"] == engine
    assert mean.release(ROWS, where=ROWS > 50).engine == "memory"
