"""One line in the table of statistics is all that a new statistic needs beside its file."""

import importlib
import inspect
import json
import subprocess
import sys
from unittest.mock import ANY

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator
from dpfast.statistics.table import STATISTICS, TABLE

from ..support import battery, planted
from ..support.views import quoted


def test_a_line_is_a_public_function_and_a_public_class():
    assert list(STATISTICS) == [entry.word for entry in TABLE]
    for entry in TABLE:
        home = dp
        for part in entry.word.split(".")[:-1]:
            home = getattr(home, part)
        assert getattr(home, entry.name) is entry.function and entry.name in home.__all__
        if entry.kind is not None:
            assert getattr(home, entry.statistic) is entry.kind and entry.statistic in home.__all__
            assert issubclass(entry.kind, dp.Statistic)


def test_every_public_statistic_has_a_line():
    kinds = {entry.kind for entry in TABLE}
    for home in (dp, dp.ptr):
        for name in home.__all__:
            found = getattr(home, name)
            if inspect.isclass(found) and issubclass(found, dp.Statistic):
                assert found in kinds or found is dp.Statistic, name


def test_what_statistics_are_of_is_loaded_when_it_is_asked_for():
    code = "import sys, dpfast; print([m for m in sys.modules if m.startswith('dpfast.stat')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['dpfast.statistics', 'dpfast.statistics.table']"


def test_a_line_has_cases_in_the_battery():
    line = STATISTICS["median"]
    cases = dict(battery.made([line], []))
    groups = (" of each group", " of each group within drawn bounds")
    more = ("", *battery.BESIDE.keys() - {" of weighted rows"}, *groups)
    assert set(cases) == {f"median{words}" for words in more}
    assert all(case.call is dp.median for name, case in cases.items() if "group" not in name)
    due = [(f"median{words}", ANY) for words in groups]
    assert list(battery.made([line], cases.values())) == due


@pytest.mark.full
def test_a_planted_line_is_seen_everywhere(tmp_path):
    for module in ("typer", "rich"):
        pytest.importorskip(module)
    command = [sys.executable, "-m", planted.__name__, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=planted.ROOT)
    assert done.returncode == 0, done.stderr
    answers, told = (json.loads(line) for line in done.stdout.splitlines())
    assert len(answers) == 7 and all(49 < answer < 51 for answer in answers.values()), answers
    assert 49 < told["value"] < 51 and told["statistic"] == "upper_decile"
    assert importlib.util.find_spec(planted.HOME) is None


RNG = np.random.default_rng(5)
X, WEIGHTS = RNG.normal(40, 20, 900), RNG.uniform(0, 2, 900)
DAYS = np.datetime64("2020-01-01") + X.astype(int)
EDGES = [np.datetime64("2020-01-01") + i for i in (0, 30, 60)]
PURE, APPROX = {"epsilon": 2}, {"epsilon": 2, "delta": 1e-6}
BINS = {"bins": 4, "bounds": (0, 100)}
PTR = {"bounds": (0, 100), "proposed": 10}
#: Cases of the battery whose function has a statistic of its name; others have tests of their own.
KINDS = {entry.function: entry.kind for entry in TABLE if entry.kind is not None}
OTHERS = {"per_unit", "max_groups", "ratio"}
MEASURED = [
    name
    for name, case in battery.CASES.items()
    if case.call in KINDS and case.form in battery.DATA | {"table": 0}
    if OTHERS.isdisjoint(case.kw)
]


@battery.each(MEASURED)
def test_a_measurement_is_the_function_of_its_name(name):
    case, rng = battery.CASES[name], InsecureGenerator
    loss, kind, rows = case.losses[0], KINDS[case.call], {row: case.kw[row] for row in case.rows}
    takes = inspect.signature(kind).parameters.keys() - rows
    unit = dp.Unit(ids="", max_rows=case.kw["max_rows"]) if "max_rows" in case.kw else dp.Unit()
    columns = 2 if case.form == "table" and kind is not dp.Difference else None
    measurement = kind(**{word: case.kw[word] for word in takes & case.kw.keys()}).measure(
        **loss, unit=unit, columns=columns, where="where" in rows
    )
    found = measurement(case.data, **rows, rng=rng(1))
    assert battery.same(found, case(case.data, loss, rng=rng(1)))
    assert measurement.loss == quoted(case.call, case.data, **case.kw, **loss).loss


def test_a_measurement_of_times_is_the_function_of_its_name():
    for statistic, function, kw in (
        (dp.Count(nan="drop"), dp.count, {"nan": "drop"}),
        (dp.Histogram(bins=EDGES), dp.histogram, {"bins": EDGES}),
    ):
        measurement = statistic.measure(**PURE, dtype=DAYS.dtype)
        found = measurement(DAYS, rng=InsecureGenerator(1))
        assert battery.same(found, function(DAYS, **kw, **PURE, rng=InsecureGenerator(1)))
        assert measurement.loss == quoted(function, DAYS, **kw, **PURE).loss


def test_distinct_values_are_measured_for_units():
    table = {"word": (X // 10).astype(int), "who": np.arange(900) // 3}
    distinct = dp.CountDistinct()
    for unit, more in (({}, {}), ({"ids": "who", "max_rows": 2}, {"ids": "who", "max_groups": 2})):
        measurement = distinct.measure(**PURE, unit=dp.Unit(**unit))
        call = {**PURE, **more, "rng": InsecureGenerator(1)}
        assert measurement(table, rng=InsecureGenerator(1)) == dp.count_distinct(table, **call)
        assert measurement.loss == quoted(dp.count_distinct, table, **PURE, **more).loss
    assert measurement.ids == "who" and measurement.integer_noise.scale == 1


def test_edges_of_an_answer_are_those_of_whoever_asked():
    for function in (dp.histogram, dp.tree_histogram):
        for _ in range(2):
            answer = function(X, epsilon=1, **BINS)
            edges = answer[1]
            assert edges.tolist() == [0, 25, 50, 75, 100]
            edges[:] = 0


def test_statistics_are_equal_by_what_they_count():
    assert dp.Histogram(**BINS) == dp.Histogram(**BINS)
    assert dp.Histogram(bins=[0, 1]) == dp.Histogram(bins=np.array([0.0, 1.0]))
    truths, numbers = dp.Histogram(categories=[False, True]), dp.Histogram(categories=[0, 1])
    assert truths != numbers  # though the values in them are
    assert [dp.histogram([1, 0], categories=each, epsilon=1)[1].dtype.kind
            for each in ([0, 1], [False, True])] == ["f", "b"]  # fmt: skip
    edges = [0.0, 1.0]
    statistic = dp.Histogram(bins=edges)
    edges[1] = 5.0
    assert statistic.bins == (0, 1)


def test_what_is_refused():
    for call, words in (
        (lambda: dp.TreeHistogram(bins=EDGES).measure(epsilon=1), "bins must be numbers"),
        (lambda: dp.ptr.Iqr(bounds=(0, 1)).measure(**APPROX), "n must be public"),
        (lambda: dp.ptr.Mean(**PTR).measure(epsilon=1), "delta must be"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            call()
