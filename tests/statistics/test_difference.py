"""Differences between two groups: by definition, for rows and people, and what they cost."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator

RNG = np.random.default_rng(12)
SIZE = 3000
GROUP = RNG.random(SIZE) < 0.4
X = RNG.uniform(0, 0.5, SIZE) + 0.3 * GROUP
WORDS = np.array(["UA", "AA"])[GROUP * 1]
WHO = np.arange(SIZE) // 2
MEAN = dp.Mean(bounds=(0, 1))
#: So much that there is no noise.
LOUD = {"epsilon": 300}
UNITS = ["add-remove", "replace", dp.Unit(ids="", max_rows=2)]
KINDS = {
    "mean": (MEAN, np.mean),
    "sum": (dp.Sum(bounds=(0, 1)), np.sum),
    "std": (dp.Std(bounds=(0, 1)), np.std),
    "median": (dp.Median(bounds=(0, 1)), np.median),
}


def due(function, where=True):
    return function(X[GROUP & where]) - function(X[~GROUP & where])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", UNITS)
def test_it_is_the_difference_of_two_answers(kind, unit):
    statistic, function = KINDS[kind]
    people = {"ids": WHO} if isinstance(unit, dp.Unit) else {}
    measured = dp.Difference(of=statistic).measure(**LOUD, unit=unit)
    if kind != "median":  # whose rule of ranks is a function
        measured = pickle.loads(pickle.dumps(measured))
    generator = InsecureGenerator(3)
    for data in (np.stack([X, GROUP], axis=1), {"x": X, "g": GROUP}):
        found = measured(data, **people, rng=generator)
        assert found == pytest.approx(due(function), abs=2e-3)
    masked = dp.Difference(of=statistic).measure(**LOUD, unit=unit, where=True)
    found = masked({"x": X, "g": GROUP}, where=X > 0.3, **people, rng=generator)
    assert found == pytest.approx(due(function, X > 0.3), abs=2e-3)


def test_groups_of_words_and_of_files(tmp_path):
    table = {"x": X, "carrier": WORDS}
    keys = {"of": MEAN, "keys": ("AA", "UA"), **LOUD}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    for data in (table, pa.table(table), dp.scan(tmp_path / "t.parquet", ["x", "carrier"])):
        assert dp.difference(data, **keys) == pytest.approx(due(np.mean))
    few = {"x": X, "carrier": np.where(X > 0.6, "DL", WORDS)}
    assert dp.difference(few, **keys) == pytest.approx(due(np.mean, X <= 0.6))


def test_statistics_of_several_columns():
    rows = {"x": X, "y": 1 - X**2, "g": GROUP}
    found = dp.difference(rows, of=dp.Correlation(bounds=[(0, 1)] * 2), **LOUD)
    each = [np.corrcoef(X[one], 1 - X[one] ** 2)[0, 1] for one in (GROUP, ~GROUP)]
    assert found == pytest.approx(each[0] - each[1], abs=1e-4)


def test_both_answers_cost_one_and_a_replaced_row_two():
    for loss in ({"epsilon": 1}, {"rho": 0.1}):
        for unit in UNITS[:2]:
            alone = dp.Sum(bounds=(0, 1)).measure(**loss, unit="add-remove")
            both = dp.Difference(of=dp.Sum(bounds=(0, 1))).measure(**loss, unit=unit)
            assert all(getattr(both.loss, name) == getattr(alone.loss, name) for name in loss)
            more = both.error(9, 0.9).half_width / alone.error(9, 0.9).half_width
            assert more == pytest.approx(3.3 if unit == "replace" else 1.65, rel=0.1)


@pytest.mark.parametrize("unit", ["add-remove", "replace"])
def test_error_bars_hold_and_a_part_of_them_does_not(unit):
    measured, generator = dp.Difference(of=MEAN).measure(epsilon=1, unit=unit), InsecureGenerator(4)
    rows = np.stack([np.full(400, 0.5), np.arange(400) % 2], axis=1)
    bar = measured.error(200, 0.9).half_width
    errors = np.array([abs(measured(rows, rng=generator)) for _ in range(300)])
    # Of 300 with a chance of at most 1/10 each, 60 are exceeded less than once in 1e7 runs.
    assert np.count_nonzero(errors > bar) <= 60 < np.count_nonzero(errors > bar / 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dp.Difference(of=3),
        lambda: dp.Difference(of=MEAN, keys=(1, 1)),
        lambda: dp.Difference(of=dp.Mean(bounds="auto")),
        lambda: dp.difference(X, of=MEAN, epsilon=1),
        lambda: dp.difference({"x": WORDS, "g": GROUP}, of=MEAN, epsilon=1),
        lambda: dp.difference({"x": X, "g": GROUP}, of=MEAN, keys=("a", "b"), epsilon=1),
        lambda: dp.difference({"x": X, "g": GROUP}, of={"statistic": "m"}, epsilon=1),
    ],
)
def test_what_is_refused(call):
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        call()


def test_a_job_has_no_bar_for_rows_that_are_not_those_of_a_group(tmp_path):
    pq.write_table(pa.table({"x": X, "late": np.arange(SIZE) < 100}), tmp_path / "t.parquet")
    job = """
        [data]
        path = "t.parquet"
        ROWS
        [budget]
        epsilon = 1
        neighbors = "RELATION"
        [[release]]
        name = "r"
        statistic = "difference"
        columns = ["x", "late"]
        of = {statistic = "mean", bounds = [0, 1]OTHER}
    """
    path = tmp_path / "j.toml"
    for relation, rows in (("replace", ""), ("add-remove", f"rows = {SIZE}")):
        path.write_text(
            job.replace("RELATION", relation).replace("ROWS", rows).replace("OTHER", "")
        )
        assert dp.job.explain(path)["releases"][0]["error"]["half_width"] is None
    path.write_text(
        job.replace("RELATION", "replace").replace("ROWS", "").replace("OTHER", ", x=1")
    )
    with pytest.raises(ArgumentTypeError, match=r"release 'r': of: mean: .*unexpected.* 'x'"):
        dp.job.explain(path)
    said = dp.expected_error(
        dp.difference, {"x": X, "g": GROUP}, of=MEAN, epsilon=1, neighbors="replace", rows=SIZE
    )
    assert said.half_width > 0


@pytest.mark.parametrize("length", [0, SIZE - 1, SIZE + 1, 2 * SIZE])
def test_a_mask_has_an_entry_for_each_row(tmp_path, length):
    table = pa.table({"x": X, "g": GROUP})
    pq.write_table(table, tmp_path / "t.parquet")
    stream = dp.stream(lambda: table.to_reader(max_chunksize=1000), ["x", "g"])
    sources = {"x": X, "g": GROUP}, dp.scan(tmp_path / "t.parquet", ["x", "g"]), stream
    for data in sources:
        for of in (dp.Count(), MEAN, dp.Median(bounds=(0, 1))):
            with pytest.raises(DataError, match="one entry for each row"):
                dp.difference(data, of=of, where=np.ones(length, bool), **LOUD)


NUMBERS = {"x": GROUP, "g": GROUP}
DAYS = (datetime.date(2020, 1, 1), datetime.date(2030, 1, 1))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda b: dp.Difference(of=dp.Histogram(bins=3, bounds=(0, 1))), "of numbers"),
        (lambda b: dp.Difference(of=dp.TreeHistogram(bins=8, bounds=(0, 1))), "of numbers"),
        (lambda b: dp.Difference(of=dp.OuterBounds()), "of numbers"),
        (lambda b: dp.Difference(of=dp.ptr.Mean(bounds=(0, 1), proposed=0.1)), "of numbers"),
        (lambda b: dp.Difference(of=dp.Difference(of=MEAN)), "of numbers"),
        (lambda b: dp.Difference(of={"statistic": "mean"}), "of: mean: missing .*'bounds'"),
        (lambda b: dp.Difference(of={"statistic": "count", 3: 1}), "of: count: keywords"),
        (lambda b: dp.Difference(of=MEAN).measure(epsilon=1, columns=3), "columns must be left"),
        (
            lambda b: dp.Difference(of=MEAN).prepare(NUMBERS, axis=0, epsilon=1, budget=b).run(),
            "axis must be left out",
        ),
        (
            lambda b: dp.Ratio(bounds=[(0, 1)] * 2).prepare(NUMBERS, axis="a", epsilon=1),
            "axis must be left out",
        ),
        (
            lambda b: dp.difference(NUMBERS, of=dp.Proportion(equal=300), budget=b, epsilon=1),
            "equal must be booleans",
        ),
        (
            lambda b: dp.difference(
                {"x": X, "y": GROUP}, of=dp.Mean(bounds=DAYS), budget=b, epsilon=1
            ),
            "bounds",
        ),
        (
            lambda b: dp.difference(
                {"x": np.full(SIZE, np.datetime64("2021-01-01")), "g": GROUP},
                of=dp.Mean(bounds=DAYS),
                budget=b,
                epsilon=1,
            ),
            "column 'x' of data must be numbers",
        ),
        (
            lambda b: dp.difference(WORDS, of=dp.Count(), keys=("AA", "UA"), budget=b, epsilon=1),
            "^keys must be",
        ),
    ],
)
def test_what_is_refused_before_the_spend(call, words):
    budget = dp.Budget(epsilon=5)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
        call(budget)
    assert budget.spent["epsilon"] == 0
