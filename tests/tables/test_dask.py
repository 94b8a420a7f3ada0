"""Collections of Dask as data: equal to what they hold, on every scheduler, and told by type."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError

from ..support.lazy import da, dask, dd
from ..support.pairwise import quick_rows
from . import test_engine as engine

TABLE, B, PAY, rng = engine.TABLE, engine.B, engine.PAY, engine.rng


def frame(parts=9):
    return dd.from_pandas(TABLE, npartitions=parts)


HELD = [
    "groups of people", "mean", "quantiles", "means of a matrix", "median", "histogram of words",
    "private groups", "blocks of people", "k-means",
]  # fmt: skip
SCHEDULERS = ["synchronous", "threads", pytest.param("processes", marks=pytest.mark.full)]


@quick_rows(4, full=9)
@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_dask_holds_is_what_it_would_hold_in_memory(scheduler, name):
    frame = dd.from_pandas(engine.TABLE, npartitions=9 if scheduler == "processes" else 4)
    there = (
        lambda names=None: frame[names] if names else frame,
        lambda name: frame[name],
        lambda names: da.from_array(engine.TABLE[names].to_numpy(), chunks=(1500, 1)),
    )
    with dask.config.set(scheduler=scheduler):
        found = engine.answer(name, *there)
    np.testing.assert_equal(found, engine.answer(name, *engine.in_memory()))


def test_what_is_no_data_is_refused_and_never_computed(monkeypatch):
    monkeypatch.setattr("dask.compute", None)
    for call in (
        lambda: dp.mean(da.zeros((3, 3, 3)), **B),
        lambda: dp.mean(dask.delayed(1), **B),
        lambda: dp.mean({"a": da.zeros(5)}, axis=0, bounds=[(0, 1)], epsilon=1),
        lambda: dp.mean(np.zeros(5), where=da.zeros(5, dtype=bool), **B),
        lambda: dp.mean(frame()["town"], **B),
        lambda: dp.group_by(frame()["age"], "age", ids=da.zeros(5)),
    ):
        with pytest.raises((ArgumentTypeError, ArgumentError)):
            call()


def test_importing_dpfast_imports_no_engine():
    code = "import dpfast, sys; print({'dask', 'distributed', 'pyspark'}.intersection(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def interrupting(part, folder):
    """A partition that says that it was read; one of the first interrupts the driver, once."""
    if len(part):
        open(os.path.join(folder, str(part.index[0])), "x").close()
        with suppress(FileExistsError):
            if len(os.listdir(folder)) >= 2:
                open(f"{folder}.interrupted", "x").close()
                os.kill(int(os.path.basename(folder)), signal.SIGINT)
        time.sleep(0.02)
    return part


def test_ctrl_c_ends_the_tasks_of_threads_and_the_spend_stands(tmp_path):
    folder = tmp_path / str(os.getpid())
    folder.mkdir()
    data = frame(40).map_partitions(interrupting, str(folder), meta=TABLE.iloc[:0])
    budget = dp.Budget(epsilon=2)
    # A shell starts background jobs with the signal ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with dask.config.set(scheduler="threads", num_workers=2), pytest.raises(KeyboardInterrupt):
        dp.sum(data["age"], **B, budget=budget)
    signal.signal(signal.SIGINT, before)
    time.sleep(0.2)
    assert len(os.listdir(folder)) <= 6 and budget.spent["epsilon"] == 1


@pytest.fixture
def cluster():
    dist = pytest.importorskip("distributed")
    workers = dist.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with workers as cluster, dist.Client(cluster) as client:
        yield client


def slow(part, flag):
    time.sleep(0.05)
    if flag is not None and len(part) and part["id"].iloc[0] % 3 == 0:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return part
        os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.mark.full
@pytest.mark.parametrize("passes", [1, 2])
def test_a_worker_that_is_killed_in_a_pass_changes_nothing(cluster, tmp_path, passes):
    """Its tasks run again on the other one: one spend, and the answer of the same rows."""
    flag = str(tmp_path / "killed")
    data = frame(20).map_partitions(slow, flag, meta=TABLE.iloc[:0])
    budget, release = dp.Budget(epsilon=1), dp.sum if passes == 1 else dp.median
    found, due = release(data["pay"], **PAY, **rng()), release(TABLE["pay"], **PAY, **rng())
    assert found == due and os.path.exists(flag)
    dp.count(data["age"], epsilon=1, budget=budget)
    assert budget.spent["epsilon"] == 1


@pytest.mark.parametrize("name", ["blocks of people", "groups of people"])
def test_ids_of_another_type_than_is_declared_are_an_error(name):
    """Or the rows of a person would be in two places; an id that is missing makes floats."""

    def odd(part):
        ids = part["id"].astype(float)
        return part.assign(id=ids.where(part.index != TABLE.index[-1]))

    bad = frame(2).map_partitions(odd, meta=TABLE[:0])
    match = pytest.raises(DataError, match="other types than its table declares")
    with dask.config.set(scheduler="synchronous"), match:
        engine.answer(name, lambda names=None: bad[names] if names else bad, None, None)


def test_masked_arrays_indices_and_records():
    with dask.config.set(scheduler="synchronous"):
        whole = da.ma.masked_equal(da.from_array(np.arange(400), chunks=200), 999)
        assert abs(dp.mean(whole, bounds=(0, 400), epsilon=300) - 199.5) < 1
        asked = {"blocks": 4, "bounds": (0, 400), "epsilon": 300}
        assert 100 < dp.sample_and_aggregate(whole, "median", **asked) < 300
        index = dd.from_pandas(pd.DataFrame({"x": np.arange(40.0)}), npartitions=2).index
        assert abs(dp.sum(index, bounds=(0, 39), epsilon=300) - 780) < 5
        rows = np.array([(i // 4, 2.0) for i in range(400)], [("a", "i4"), ("b", "f8")])
        asked |= {"bounds": (0, 4), "ids": "a"}
        middle = lambda block: float(block["b"].mean())  # noqa: E731
        found = dp.sample_and_aggregate(da.from_array(rows, chunks=200), middle, **asked)
        assert abs(found - 2) < 0.5
        columns = da.ones((8, 2), chunks=4)[:, da.from_array(np.array([True, False]), chunks=1)]
        with pytest.raises(ArgumentTypeError, match="an unknown number of columns"):
            dp.sum(columns, axis=0, bounds=(0, 1), epsilon=1)


def test_rows_are_counted_whatever_their_columns_hold():
    """A table of text or of times is not refused, and least of all after the spend."""
    every = {"pay": [1.0, np.nan] * 20, "text": ["a", None] * 20, "at": [pd.NaT] * 40}
    data = dd.from_pandas(pd.DataFrame(every).astype({"at": "datetime64[ns]"}), npartitions=2)
    for names in (["pay", "text"], "text", ["at"]):
        assert dp.count(data[names], epsilon=400) == 40
