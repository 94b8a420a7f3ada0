"""Releases side by side bound people once for each grouping, within the memory that there is."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpfast.app import job
from dpfast.errors import DataError
from dpfast.groups import table as groups_table
from dpfast.tables import available_memory, bounding, shared_pass
from dpfast.tables.shared_pass import SharedPasses

from ..support.pairwise import quick_rows
from .conftest import releases as tables

ROWS = 3000
FLAG = {"by": "flag", "keys": ["A", "B"]}
X = {"column": "x", "bounds": [0, 10], **FLAG}
MEDIAN = {"statistic": "median", **X, "max_rows": 1}


@pytest.fixture
def write(tmp_path):
    """A job about a table in which each of 100 people has 10 rows of each of 3 flags."""
    i = np.arange(ROWS)
    table = {
        "who": i % 100, "flag": pa.array(np.array(["A", "B", "C"])[i // 100 % 3]), "x": i % 7.0,
        "half": i % 2,
    }  # fmt: skip
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=500)

    def make(*releases):
        text = f'[data]\npath = "t.parquet"\n[budget]\nepsilon = {400 * len(releases)}\n'
        text += '[defaults]\nids = "who"\nmax_groups = 3\n'
        text += tables(*({"name": f"r{i}", **release} for i, release in enumerate(releases)))
        (tmp_path / "job.toml").write_text(text)
        return tmp_path / "job.toml"

    return make


@pytest.fixture
def boundings(monkeypatch):
    made = []
    init = bounding.Bounding.__init__

    def counted(self, *args, **kwargs):
        init(self, *args, **kwargs)
        made.append(self._limit)

    monkeypatch.setattr(bounding.Bounding, "__init__", counted)
    return made


def counts(max_rows, **more):
    return {"statistic": "count", **FLAG, "max_rows": max_rows, **more}


def ran(path):
    results = job.run(path)
    results.check()
    return results


def test_one_grouping_is_bounded_once_and_another_apart(write, boundings):
    path = write(
        counts(4), counts(4), {"statistic": "sum", **X, "max_rows": 4},
        counts(2), counts(4, keys=["B", "C"]), counts(4, where="half = 1"),
    )  # fmt: skip
    results = ran(path)
    assert len(boundings) == 4 and results.passes == 1
    exact = [results[f"r{i}"]["count"] for i in (0, 1, 3, 4)]
    assert np.round(exact).tolist() == [[400, 400], [400, 400], [200, 200], [400, 400]]
    # Each person has one parity only.
    assert np.round(results["r5"]["count"]).tolist() == [200, 200]


def test_a_grouping_that_leaves_a_bound_out_is_noticed(write, monkeypatch):
    """Planted: bounds play no part in what is shared."""
    monkeypatch.setattr(sys.modules["dpfast.app.job.plan"], "BOUNDS", ("keys",))
    alike = shared_pass.SharedPasses._alike
    monkeypatch.setattr(
        SharedPasses, "_alike", lambda self, n, grouping, _, make: alike(self, n, grouping, 0, make)
    )
    path = write(counts(4), counts(4, max_groups=1))
    first, second = (round(sum(answer["count"])) for answer in ran(path).values())
    assert first == second  # those of the one that came first
    monkeypatch.undo()
    assert [round(sum(answer["count"])) for answer in ran(path).values()] == [800, 400]


@quick_rows(1)
@pytest.mark.parametrize("team", [3, 64])
def test_more_releases_than_threads(write, boundings, monkeypatch, team):
    monkeypatch.setattr(shared_pass, "TEAM", team)
    releases = [counts(1 + i % 2) for i in range(10)]
    results = ran(write(*releases, {"statistic": "count", "column": "x", "max_rows": 5}))
    assert len(boundings) == 2
    for i in range(10):
        assert np.round(results[f"r{i}"]["count"]).tolist() == [100 * (1 + i % 2)] * 2
    assert round(results["r10"]) == 500


def test_little_memory_makes_waves_which_explain_says(write, boundings, monkeypatch):
    monkeypatch.setattr(available_memory, "available", lambda: 2 * shared_pass.ENOUGH)
    path = write(
        counts(1), counts(2), counts(1), {"statistic": "median", **X, "max_rows": 3},
        {"statistic": "mean", "column": "x", "bounds": [0, 10], "max_rows": 1},
    )  # fmt: skip
    explained = job.explain(path)
    assert explained["memory"] == shared_pass.ENOUGH and explained["waves"] == 5
    results = ran(path)
    assert results.passes == explained["passes"]
    assert set(boundings) == {shared_pass.ENOUGH // 2}  # the other half is for what is summed up
    assert np.round(results["r2"]["count"]).tolist() == [100, 100]


def test_an_error_of_the_first_leaves_the_others(write, monkeypatch):
    marks_of, calls = groups_table.marks_of, []

    def failing(*args):
        calls.append(1)
        if len(calls) == 1:
            raise DataError("of the first alone")
        return marks_of(*args)

    monkeypatch.setattr(groups_table, "marks_of", failing)
    results = job.run(write(*[MEDIAN] * 5))
    failed = [outcome for outcome in results.outcomes if outcome.error is not None]
    assert len(failed) == 1 and "of the first alone" in str(failed[0].error) and len(calls) == 2
    assert sum(outcome.error is None for outcome in results.outcomes) == 4


def test_an_interrupt_ends_those_that_wait_for_another(write, monkeypatch):
    monkeypatch.setattr(shared_pass.SharedPasses, "_pass", interrupt)
    with pytest.raises(KeyboardInterrupt):
        job.run(write(*[MEDIAN] * 5))
    assert not available_memory._holders


def interrupt(self, requests):
    assert self._blocked  # four of five
    raise KeyboardInterrupt
