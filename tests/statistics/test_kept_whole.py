"""The share of people of whom all rows count: by definition, its law, and what is refused."""

from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.measurement.linear import LinearMeasurement
from dpfast.rng import InsecureGenerator

from ..support.databases import connect, table
from ..support.pairwise import every_value

SIZES = np.arange(400) % 7 + 1
WHO = np.repeat(np.arange(400), SIZES)
LOUD = {"epsilon": 40, "ids": "who"}


def data_of(kind):
    if kind == "table":
        return {"who": WHO, "x": WHO / 2}
    columns = {"who": ("int64", WHO.tolist()), "x": ("float64", (WHO / 2).tolist())}
    return table(connect(kind), columns)


@every_value
@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", ["table", "duckdb", "sqlite"])
def test_it_is_the_share_by_definition(kind, neighbors):
    for most in (1, 4, 7):
        asked = {**LOUD, "max_rows": most, "neighbors": neighbors, "rng": InsecureGenerator(1)}
        assert dp.kept_whole(data_of(kind), **asked) == pytest.approx(
            np.mean(most >= SIZES), abs=1e-2
        )


def test_only_rows_that_count_are_rows():
    where = np.arange(len(WHO)) % 2 == 0
    sizes = np.bincount(WHO[where])
    due = np.mean(sizes[sizes > 0] <= 2)
    answer = dp.kept_whole(WHO, ids=WHO, max_rows=2, where=where, epsilon=40)
    assert answer == pytest.approx(due, abs=1e-2)


def test_a_person_is_one_number_whatever_rows_there_are():
    """What is summed up moves as the mean of one number more: also for a person of 1,000 rows."""
    seen, finish = [], LinearMeasurement.finish

    def watched(self, summary, generator):
        seen.append((summary[0].rows, summary[0].sum))
        return finish(self, summary, generator)

    for ids in (WHO, np.r_[WHO, np.full(1000, 999)], np.r_[WHO, [999]]):
        measured = dp.KeptWhole().measure(epsilon=1, unit=dp.Unit(ids="", max_rows=3))
        with patch.object(LinearMeasurement, "finish", watched):
            measured(ids, ids=ids, rng=InsecureGenerator(1))
    (rows, kept), large, small = seen
    assert large[0] == small[0] == rows + 1
    assert large[1] == kept and small[1] > kept


def test_the_loss_is_one_of_people():
    budget = dp.Budget(epsilon=1, ids="who")
    dp.kept_whole({"who": WHO, "x": WHO}, ids="who", max_rows=3, epsilon=1, budget=budget)
    with pytest.raises(BudgetError):
        dp.kept_whole({"who": WHO, "x": WHO}, ids="who", max_rows=3, epsilon=0.1, budget=budget)
    with pytest.raises(ArgumentError, match="ids must be given: whose rows they are"):
        dp.kept_whole(WHO, epsilon=1)
    with pytest.raises(ArgumentError, match="max_rows must be given with ids"):
        dp.kept_whole(WHO, ids=WHO, epsilon=1)
    for data in (data_of("table"), data_of("sqlite")):
        with pytest.raises(ArgumentTypeError, match="max_rows must be a whole number: people"):
            dp.kept_whole(data, ids="who", max_rows="auto", epsilon=1)


def test_a_number_of_rows_gives_no_bar():
    bar = dp.expected_error(dp.kept_whole, WHO, ids=WHO, max_rows=3, epsilon=1, rows=400)
    assert bar.half_width is None and "people" in bar.note


def test_a_job_names_no_column(tmp_path):
    parquet, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    parquet.write_table(pa.table({"who": WHO, "x": WHO}), tmp_path / "visits.parquet")
    job = tmp_path / "job.toml"
    job.write_text(
        """[data]
        path = "visits.parquet"
        [budget]
        epsilon = 40
        ids = "who"
        [[release]]
        statistic = "kept_whole"
        ids = "who"
        max_rows = 4"""
    )
    assert dp.job.run(job)["kept_whole"] == pytest.approx(np.mean(SIZES <= 4), abs=1e-2)
