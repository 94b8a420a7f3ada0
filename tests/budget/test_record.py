"""The record of a release: complete, a function of public values, and the same in all places."""

import gc
import json
import weakref
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import dpfast as dp

from ..support.bars import fewest
from ..support.battery import CASES, MADE

jsonschema = pytest.importorskip("jsonschema")
PLACE = Path(__file__).parents[2] / "docs" / "schema" / "release.json"
SCHEMA = json.loads(PLACE.read_text(encoding="utf-8"))
#: Made once: to check the schema takes longer than to use it.
VALID = jsonschema.validators.validator_for(SCHEMA)(SCHEMA).validate
#: Arguments that a record has elsewhere, or that come with rows.
ELSEWHERE = {"where", "ids", "weights", "axis", "neighbors", "by", "keys", "data", "assume_sorted"}
MEAN = dp.extend.prepare(dp.mean, [1, 2, 3], bounds=(0, 9), epsilon=1)


def prepared(case, **more):
    return dp.extend.prepare(case.call, case.data, **case.kw, **case.losses[0], **more)


@pytest.mark.parametrize("name", [*sorted(MADE), "describe", "marginals"])
def test_the_record_of_each_answer_is_complete(name):
    """By construction: whatever its call says is in its record."""
    case = CASES[name]
    release = prepared(case).release()
    assert isinstance(repr(release), str) and isinstance(release._repr_html_(), str)
    record, written = release.record.to_dict(), release.to_dict()
    for one in (record, written):
        VALID(json.loads(json.dumps(one, allow_nan=False)))
    assert written["time"].endswith("Z") and "value" in written
    if name not in MADE:
        return
    assert record["statistic"].partition(" by ")[0] in {*dp.STATISTICS, "top-2"}
    assert case.kw.keys() - ELSEWHERE - set(case.rows) <= record["parameters"].keys() | {"column"}
    if case.form != "object":  # a table by group, which has its people
        assert (record["unit"]["ids"] is None) == (case.kw.get("ids") is None)
        assert (record["data"]["where"] is None) == (case.kw.get("where") is None)


def test_a_record_has_a_deviation_where_one_number_says_it():
    """The noise of a variance is in two sums, of which one deviation says nothing."""
    noise = {
        name: dp.extend.prepare(call, [1, 2, 3], bounds=(0, 9), rho=1)
        .to_record()
        .to_dict()["noise"]
        for name, call in {"mean": dp.mean, "variance": dp.variance}.items()
    }
    assert noise["mean"]["deviation"] > 0 and noise["variance"] == {}


def test_a_record_that_lacks_something_fails_the_schema():
    """Planted: a record without bounds' place, and one with a field that nobody knows."""
    record = MEAN.to_record().to_dict()
    for wrong in ({**record, "unit": {}}, {**record, "rows": 3}, {**record, "schema": 2}):
        with pytest.raises(jsonschema.ValidationError):
            VALID(wrong)


OF_ARRAYS = [name for name, case in CASES.items() if isinstance(case.data, np.ndarray)]


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_no_row_has_a_say_in_a_record(name):
    data = CASES[name].data
    other = 90 - data if data.dtype.kind == "f" else data[::-1].copy()
    cases = CASES[name], replace(CASES[name], data=other)
    before, after = (prepared(case).to_record().to_dict() for case in cases)
    assert before == after


def test_a_ledger_in_memory_keeps_no_function_of_the_caller():
    budget = dp.Budget(epsilon=1)

    def spend():
        rows = np.arange(100.0)
        asked = {"blocks": 4, "bounds": (0, 99), "epsilon": 1, "budget": budget}
        dp.sample_and_aggregate(rows, lambda block: rows.sum(), **asked)
        return weakref.ref(rows)

    gone = spend()
    gc.collect()
    assert gone() is None and budget.history[0].record["parameters"]["blocks"] == 4


def test_a_ledger_in_memory_keeps_no_columns_that_are_read_later():
    """A mechanism that draws bounds of groups first knows the table."""
    polars, budget = pytest.importorskip("polars"), dp.Budget(epsilon=1)
    frame = polars.LazyFrame({"key": [0, 1], "x": [1.0, 2.0]})
    gone = weakref.ref(frame)
    groups = dp.group_by(frame, "key", keys=[0, 1])
    groups.mean("x", bounds="auto", epsilon=1, budget=budget)
    del frame, groups
    gc.collect()
    assert gone() is None and budget.history[0].record["data"]["engine"] == "files"


def test_the_ledger_has_the_record_of_the_release(tmp_path):
    table, who = {"age": np.arange(100.0)}, np.arange(100) // 2
    asked = {"axis": 0, "ids": who, "max_rows": 2, "bounds": (0, 99), "epsilon": 1}
    for budget in (dp.Budget(epsilon=3), dp.Budget(epsilon=3, path=tmp_path / "study.db")):
        with dp.session(budget, version="June") as s:
            release = s.mean(table, **asked)
        kept = dict(budget.history[0].record)
        assert kept == release.record.to_dict() and release.entry == 1
        assert kept["parameters"]["max_rows"] == 2 and kept["data"]["version"] == "June"
        assert kept["data"]["columns"] == ["age"]


def test_the_time_is_that_before_rows_are_read():
    """Later it would tell how long they take."""
    seen = []

    def look(block):
        seen.append(datetime.now(UTC))
        return float(block.mean())

    arguments = {"blocks": 4, "bounds": (0, 9), "epsilon": 1}
    release = dp.extend.prepare(dp.sample_and_aggregate, np.ones(100), look, **arguments).release()
    assert datetime.fromisoformat(release.time) <= min(seen)


def test_a_record_says_what_is_charged():
    """A loss of epsilon and delta is paid for in rho: entry, record and release say so."""
    asked = {"axis": 0, "bounds": (0, 1), "epsilon": 1, "delta": 1e-6}
    with dp.Budget(rho=10) as budget:
        question = dp.extend.prepare(dp.mean, np.ones((9, 60)), **asked)
        released = question.release()
    assert isinstance(question.mechanism.loss, dp.privacy.Approx)
    (entry,) = budget.history
    assert released.loss == entry.loss and isinstance(entry.loss, dp.privacy.ZCDP)
    rho = {"kind": "ZCDP", "rho": dp.extend.exact(entry.loss.rho)}
    assert released.record["loss"] == entry.record["loss"] == rho
    assert question.to_record()["loss"]["kind"] == "Approx"  # nobody pays there


def test_many_public_values_are_a_digest():
    def digest(keys):
        groups = dp.group_by({"k": keys}, "k", keys=list(keys))
        return dp.extend.prepare(groups.count, epsilon=1).to_record().parameters["keys"]["k"]

    first, second = map(digest, (np.arange(1000), np.arange(1000)[::-1]))
    assert first["length"] == second["length"] == 1000 and first["sha256"] != second["sha256"]


def test_a_release_shows_its_bar():
    record = dp.extend.prepare(dp.sum, [1, 2, 3], bounds=(0, 9), epsilon=1).to_record()

    def release(value, width, *ends):
        return dp.Release(value, dp.extend.ErrorBar(0.95, width), record, None, "", *ends)

    for value, width, text in (
        (38.5812, 0.0183, "38.58 ± 0.02 (95 %)"),
        (38.5812, 0.0213, "38.581 ± 0.022 (95 %)"),
        (336_776.0, 849.0, "336,800 ± 900 (95 %)"),
        (3, 0.0, "3 ± 0 (95 %)"),
        (2e20, 1e20, "2e+20 ± 1e+20 (95 %)"),
    ):
        assert repr(release(value, width)) == text and float(release(value, width)) == value
    ends = release(40.0, 0.0183, (38.0, 43.0))
    assert repr(ends) == "40, 38 to 43 (95 %)" and (ends.low, ends.high) == (38.0, 43.0)
    html = ends._repr_html_()
    assert "40, 38 to 43 (95 %)" in html and "<details>" in html and "bounds" in html


def test_a_session_pays_from_its_budget():
    budget = dp.Budget(epsilon=1)
    s = dp.session(budget, confidence=0.9)
    with pytest.raises(AttributeError, match="has no method 'meen'"):
        s.meen  # noqa: B018
    with pytest.raises(dp.errors.ArgumentError):
        s.mean([1, 2], epsilon=0.5, bounds=(3, 1))
    assert not budget.history
    count, by_group = s.count([1, 2, 3], epsilon=0.5), s.group_by({"k": [0, 1]}, "k", keys=[0, 1])
    groups = by_group.count(epsilon=0.5)
    assert count.bar.confidence == 0.9 and list(groups.value) == ["k", "count", "count error"]
    assert [count.entry, groups.entry] == [1, 2] and budget.remaining["epsilon"] == 0
    assert {"mean", "group_by", "release"} <= set(dir(s)) and "agg" in dir(by_group)


N, DRAWN = 300, np.random.default_rng(5)
X = DRAWN.normal(50, 15, N).clip(0, 100)
XY = np.stack([X, (X + DRAWN.normal(0, 10, N)).clip(0, 100)], axis=1)
G, IDS = (np.arange(N) % 3 > 0).astype(int), np.arange(N) // 2
BOUNDS, PAIRS, WHOLE = {"bounds": (0, 100)}, {"bounds": [(0, 100)] * 2}, {"ids": IDS % 99}
DIFFERENCE = {"of": dp.Mean(**BOUNDS), "keys": [0, 1]}
#: Truths, and how many runs; fewer where a bar is a sum of several noises.
BARS = {
    "mean": (dp.mean, X, BOUNDS, X.mean(), 300),
    "mean of people": (dp.mean, X, {**BOUNDS, "ids": IDS, "max_rows": 2}, X.mean(), 300),
    "means": (dp.mean, XY, {**PAIRS, "axis": 0}, XY.mean(axis=0), 80),
    "mean under replace": (dp.mean, X, {**BOUNDS, "neighbors": "replace"}, X.mean(), 300),
    "variance": (dp.variance, X, BOUNDS, X.var(), 300),
    "std": (dp.std, X, BOUNDS, X.std(), 300),
    "proportion": (dp.proportion, G, {"equal": 1}, G.mean(), 300),
    "ratio": (dp.ratio, XY, PAIRS, XY[:, 0].sum() / XY[:, 1].sum(), 300),
    "covariance": (dp.covariance, XY, PAIRS, np.cov(XY.T, ddof=0), 80),
    "correlation": (dp.correlation, XY, PAIRS, np.corrcoef(XY.T)[0, 1], 80),
    "difference": (
        *(dp.difference, {"x": X, "g": G}, DIFFERENCE),
        *(X[G == 0].mean() - X[G == 1].mean(), 300),
    ),
    **{
        f"kept whole under {of}": (
            *(dp.kept_whole, X, {**WHOLE, "max_rows": 3, "neighbors": of}, 49 / 99, 300),
        )
        for of in ("replace", "add-remove")
    },
}


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(BARS))
def test_the_bar_of_each_release_holds(name):
    """Of the number that is least often within it. Planted: a sixteenth of the bar."""
    function, data, asked, truth, runs = BARS[name]
    whole, part = 0.0, 0.0
    for seed in range(runs):
        rng = dp.rng.InsecureGenerator(seed)
        release = dp.extend.prepare(function, data, **asked, epsilon=0.5, rng=rng).release()
        off, bar = np.abs(np.asarray(release.value) - truth), np.asarray(release.bar.half_width)
        whole, part = whole + (off <= bar + 1e-6), part + (off <= bar / 16 + 1e-6)
    assert np.min(part) / runs < fewest(runs) <= np.min(whole) / runs
