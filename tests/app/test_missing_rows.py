"""How missing rows are treated is said by files, jobs, commands, reports and the ledger."""

import math

import numpy as np
import pytest

import dpfast as dp

pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")

X = np.where(np.arange(400) % 4 == 1, math.nan, np.arange(400) % 10)
MISSING = int(np.isnan(X).sum())
JOB = """
[data]
path = "t.parquet"
[budget]
epsilon = 400
path = "study.db"
[output]
path = "answers.html"
[[release]]
statistic = "count"
column = "x"
nan = "only"
[[release]]
statistic = "mean"
column = "x"
bounds = [0, 9]
[[release]]
statistic = "count"
name = "by key"
column = "x"
by = "key"
keys = [0, 1]
nan = "only"
"""
WHAT = ["count, nan=only", "mean, nan=drop", "count by key, nan=only"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a file that has missing numbers."""
    columns = {"x": pa.array(X, from_pandas=True), "key": np.arange(400) % 2}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands(told, shell, folder):
    words = ("t.parquet", "--column", "x", "--epsilon", 400)
    for nan, due in (("only", MISSING), ("drop", 400 - MISSING), ("keep", 400)):
        found = told("count", *words, "--nan", nan)
        assert (found["value"], found["parameters"]["nan"]) == (due, nan)
    by = ("--by", "key", "--keys", "0,1", "--nan", "only")
    assert told("count", *words, *by)["groups"]["count"] == [0, MISSING]
    mean = ("mean", *words, "--bounds", 0, 9)
    assert told(*mean)["parameters"]["nan"] == "drop"
    assert ["nan", "drop"] in [line.split() for line in shell(*mean)[1].splitlines()]
    code, out, err = shell(*mean, "--neighbors", "replace")
    assert (code, out) == (5, "") and "nan='raise'" in err


def nans(releases):
    """How each treats what is missing; by group it is said of the statistic."""
    asked = [one["parameters"] for one in releases]
    return [one.get("statistics", {}).get("count", one)["nan"] for one in asked]


def test_jobs_reports_and_the_ledger(shell, folder):
    (folder / "job.toml").write_text(JOB)
    explained = dp.job.explain("job.toml")["releases"]
    assert [one["what"] for one in explained] == WHAT
    assert nans(explained) == ["only", "drop", "only"]
    results = dp.job.run("job.toml")
    assert results["count of x"] == MISSING and results["by key"]["count"] == [0, MISSING]
    assert nans(dp.job.report(results)["releases"]) == ["only", "drop", "only"]
    assert "nan=only" in (folder / "answers.html").read_text()
    code, out, _ = shell("explain", "job.toml")
    assert code == 0 and "nan=only" in out
    budget = dp.Budget(path="study.db")
    assert sorted(one.what for one in budget.history) == sorted(WHAT)  # releases run side by side
    assert "nan=only" in budget._repr_html_()
