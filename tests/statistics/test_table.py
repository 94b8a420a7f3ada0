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
PAIRS = {"bounds": [(0, 100), (0, 2)]}
PTR = {"bounds": (0, 100), "proposed": 10}

#: The function, the statistic, the arguments of both, the data, what comes with the rows, the loss.
AUTO = {"bins": 4, "bounds": "auto"}
BY_WEIGHT, LIMITS = {"weights": WEIGHTS}, {"weight_bounds": (0, 2)}
CASES = {
    "count": (dp.count, dp.Count, {}, X, {}, PURE),
    "count of numbers": (dp.count, dp.Count, {"nan": "drop"}, X, {}, APPROX),
    "count of days": (dp.count, dp.Count, {"nan": "drop"}, DAYS, {}, PURE),
    "count nonzero": (dp.count_nonzero, dp.CountNonzero, {}, X, {}, PURE),
    "histogram": (dp.histogram, dp.Histogram, BINS, X, {}, PURE),
    "edges": (dp.histogram, dp.Histogram, {"bins": [0, 20, 90]}, X, {}, PURE),
    "automatic": (dp.histogram, dp.Histogram, AUTO, X, {}, PURE),
    "weights": (dp.histogram, dp.Histogram, {**BINS, **LIMITS}, X, BY_WEIGHT, PURE),
    "automatic with weights": (dp.histogram, dp.Histogram, {**AUTO, **LIMITS}, X, BY_WEIGHT, PURE),
    "days": (dp.histogram, dp.Histogram, {"bins": EDGES}, DAYS, {}, PURE),
    "tree": (dp.tree_histogram, dp.TreeHistogram, BINS, X, {}, PURE),
    "automatic tree": (dp.tree_histogram, dp.TreeHistogram, AUTO, X, {}, PURE),
    "workload": (dp.workload, dp.Workload, {"queries": "ranges", **BINS}, X, {}, APPROX),
    "automatic workload": (dp.workload, dp.Workload, {"queries": np.eye(4), **AUTO}, X, {}, APPROX),
    "covariance": (dp.covariance, dp.Covariance, PAIRS, np.stack([X, WEIGHTS], 1), {}, PURE),
    "bounds": (dp.bounds, dp.OuterBounds, {"q": 0.1}, X, {}, PURE),
    "proposed mean": (dp.ptr.mean, dp.ptr.Mean, PTR, X, {}, APPROX),
    "proposed quantile": (dp.ptr.quantile, dp.ptr.Quantile, {**PTR, "q": 0.5}, X, {}, APPROX),
    "proposed iqr": (dp.ptr.iqr, dp.ptr.Iqr, PTR, X, {}, APPROX),
    "automatic proposed mean": (dp.ptr.mean, dp.ptr.Mean, {**PTR, "bounds": "auto"}, X, {}, APPROX),
}


def flat(answer):
    """An answer as numbers and times, for comparison."""
    parts = answer[:2] if isinstance(answer, tuple) else [answer]
    return [np.asarray(part).tolist() for part in parts]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("ids", [False, True])
def test_a_measurement_is_the_function_of_its_name(name, ids):
    function, kind, kw, data, rows, loss = CASES[name]
    unit = dp.Unit(ids="", max_rows=2) if ids else dp.Unit()
    more = {"ids": np.arange(900) // 3} if ids else {}
    dtype = data.dtype if data.dtype.kind == "M" else None
    columns = data.shape[1] if data.ndim == 2 else None
    measurement = kind(**kw).measure(**loss, unit=unit, columns=columns, dtype=dtype)
    found = measurement(data, **rows, **more, rng=InsecureGenerator(1))
    limit = {"max_rows": 2} if ids else {}
    due = function(data, **kw, **rows, **more, **limit, **loss, rng=InsecureGenerator(1))
    assert flat(found) == flat(due)
    assert measurement.loss == quoted(function, data, **kw, **rows, **more, **limit, **loss).loss


def test_distinct_values_are_measured_for_units():
    """So many values of each count as rows of others do."""
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
        (lambda: dp.ptr.Iqr(bounds=(0, 1)).measure(**APPROX), "number of rows"),
        (lambda: dp.ptr.Mean(**PTR).measure(epsilon=1), "delta must be"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            call()
