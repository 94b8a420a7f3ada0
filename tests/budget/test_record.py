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
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schema" / "release.json").read_text(encoding="utf-8")
)
#: Arguments that a record has elsewhere, or that come with rows.
ELSEWHERE = {"where", "ids", "weights", "axis", "neighbors", "by", "keys", "data", "assume_sorted"}
MEAN = dp.extend.prepare(dp.mean, [1, 2, 3], bounds=(0, 9), epsilon=1)


def prepared(case, **more):
    """A case that is prepared, with the first loss that it takes."""
    return dp.extend.prepare(case.call, case.data, **case.kw, **case.losses[0], **more)


@pytest.mark.parametrize("name", sorted(MADE))
def test_the_record_of_each_statistic_is_complete(name):
    """By construction: whatever its call says is in its record."""
    case = MADE[name]
    record = prepared(case).to_record().to_dict()
    jsonschema.validate(json.loads(json.dumps(record, allow_nan=False)), SCHEMA)
    assert record["statistic"].partition(" by ")[0] in {*dp.STATISTICS, "top-2"}
    assert case.kw.keys() - ELSEWHERE - set(case.rows) <= record["parameters"].keys() | {"column"}
    if case.form == "object":  # a table by group, which has its people
        return
    assert (record["unit"]["ids"] is None) == (case.kw.get("ids") is None)
    assert (record["data"]["where"] is None) == (case.kw.get("where") is None)


def test_a_record_that_lacks_something_fails_the_schema():
    """Planted: a record without bounds' place, and one with a field that nobody knows."""
    record = MEAN.to_record().to_dict()
    for wrong in ({**record, "unit": {}}, {**record, "rows": 3}, {**record, "schema": 2}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


def other(data):
    """As many rows of the same types with other values."""
    if isinstance(data, np.ndarray) and data.dtype.kind == "f":
        return 90 - data
    return data[::-1].copy() if isinstance(data, np.ndarray) else data


OF_ARRAYS = [name for name, case in CASES.items() if isinstance(case.data, np.ndarray)]


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_no_row_has_a_say_in_a_record(name):
    case = CASES[name]
    before = prepared(case).to_record().to_dict()
    after = prepared(replace(case, data=other(case.data))).to_record().to_dict()
    assert before == after
    json.dumps(before, allow_nan=False)


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
    table = {"age": np.arange(100.0), "who": np.arange(100) // 2}
    for budget in (dp.Budget(epsilon=3), dp.Budget(epsilon=3, path=tmp_path / "study.db")):
        with dp.session(budget, version="June") as s:
            release = s.mean(
                {"age": table["age"]}, axis=0, ids=table["who"], max_rows=2, bounds=(0, 99),
                epsilon=1,
            )  # fmt: skip
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
    budget = dp.Budget(rho=10)
    with budget:
        question = dp.extend.prepare(
            dp.mean, np.ones((9, 60)), axis=0, bounds=(0, 1), epsilon=1, delta=1e-6
        )
        released = question.release()
    assert isinstance(question.mechanism.loss, dp.privacy.Approx)
    (entry,) = budget.history
    assert released.loss == entry.loss and isinstance(entry.loss, dp.privacy.ZCDP)
    rho = {"kind": "ZCDP", "rho": dp.extend.exact(entry.loss.rho)}
    assert released.record["loss"] == entry.record["loss"] == rho
    assert question.to_record()["loss"]["kind"] == "Approx"  # nobody pays there


def test_many_public_values_are_a_digest():
    keys = np.arange(1000)
    groups = [dp.group_by({"k": keys}, "k", keys=list(ks)) for ks in (keys, keys[::-1])]
    first, second = (
        dp.extend.prepare(g.count, epsilon=1).to_record().parameters["keys"]["k"] for g in groups
    )
    assert first["length"] == second["length"] == 1000 and first["sha256"] != second["sha256"]


N, DRAWN = 300, np.random.default_rng(5)
COLUMN = DRAWN.normal(50, 15, N).clip(0, 100)
PAIR = np.stack([COLUMN, (COLUMN + DRAWN.normal(0, 10, N)).clip(0, 100)], axis=1)
GROUP = {"x": COLUMN, "g": (np.arange(N) % 3 > 0).astype(int)}
IDS = np.arange(N) // 2
BOUNDS = {"bounds": (0, 100)}
PAIRS = {"bounds": [(0, 100)] * 2}
BARS = {
    "mean": (dp.mean, COLUMN, BOUNDS, COLUMN.mean()),
    "mean of people": (dp.mean, COLUMN, {**BOUNDS, "ids": IDS, "max_rows": 2}, COLUMN.mean()),
    "means": (dp.mean, PAIR, {**PAIRS, "axis": 0}, PAIR.mean(axis=0)),
    "mean under replace": (dp.mean, COLUMN, {**BOUNDS, "neighbors": "replace"}, COLUMN.mean()),
    "variance": (dp.variance, COLUMN, BOUNDS, COLUMN.var()),
    "std": (dp.std, COLUMN, BOUNDS, COLUMN.std()),
    "proportion": (dp.proportion, GROUP["g"], {"equal": 1}, GROUP["g"].mean()),
    "ratio": (dp.ratio, PAIR, PAIRS, PAIR[:, 0].sum() / PAIR[:, 1].sum()),
    "covariance": (dp.covariance, PAIR, PAIRS, np.cov(PAIR.T, ddof=0)),
    "correlation": (dp.correlation, PAIR, PAIRS, np.corrcoef(PAIR.T)[0, 1]),
    "difference": (
        dp.difference,
        GROUP,
        {"of": dp.Mean(**BOUNDS), "keys": [0, 1]},
        COLUMN[GROUP["g"] == 0].mean() - COLUMN[GROUP["g"] == 1].mean(),
    ),
    "kept whole": (dp.kept_whole, COLUMN, {"ids": np.arange(N) // 2 % 99, "max_rows": 3}, 49 / 99),
    "kept whole under replace": (
        dp.kept_whole,
        COLUMN,
        {"ids": np.arange(N) // 2 % 99, "max_rows": 3, "neighbors": "replace"},
        49 / 99,
    ),
}


#: Those whose bars are sums of several noises.
SLOW = ("covariance", "correlation", "means")


def held(function, data, arguments, truth, runs, parts=(1, 1 / 16)):
    """How often a truth is within parts of its error bar, of the number that is least often."""
    within = [0.0] * len(parts)
    for seed in range(runs):
        rng = dp.rng.InsecureGenerator(seed)
        release = dp.extend.prepare(function, data, **arguments, epsilon=0.5, rng=rng).release()
        off, bar = np.abs(np.asarray(release.value) - truth), np.asarray(release.bar.half_width)
        within = [n + (off <= part * bar + 1e-6) for n, part in zip(within, parts, strict=True)]
    return [float(np.min(n)) / runs for n in within]


@pytest.mark.full
@pytest.mark.parametrize("name", sorted(BARS))
def test_the_bar_of_each_release_holds(name):
    """Planted: a sixteenth of the bar."""
    runs = 80 if name in SLOW else 300
    whole, part = held(*BARS[name], runs)
    assert part < fewest(runs) <= whole


def test_a_release_shows_its_bar():
    bar = dp.extend.ErrorBar(0.95, 0.0183)
    record = dp.extend.prepare(dp.sum, [1, 2, 3], bounds=(0, 9), epsilon=1).to_record()
    shown = {
        (38.5812, 0.02): "38.58 ± 0.02 (95 %)",
        (38.5812, 0.0183): "38.58 ± 0.02 (95 %)",
        (38.5812, 0.0213): "38.581 ± 0.022 (95 %)",
        (336_776.0, 849.0): "336,800 ± 900 (95 %)",
        (3, 0.0): "3 ± 0 (95 %)",
        (2e20, 1e20): "2e+20 ± 1e+20 (95 %)",
    }
    for (value, width), text in shown.items():
        release = dp.Release(value, dp.extend.ErrorBar(0.95, width), record, None, "")
        assert repr(release) == text and float(release) == value
    ends = dp.Release(40.0, bar, record, None, "", (38.0, 43.0))
    assert repr(ends) == "40, 38 to 43 (95 %)" and (ends.low, ends.high) == (38.0, 43.0)
    html = ends._repr_html_()
    assert "40, 38 to 43 (95 %)" in html and "<details>" in html and "bounds" in html


@pytest.mark.parametrize("name", [*sorted(MADE), "describe", "marginals"])
def test_each_answer_is_json(name):
    case = CASES[name]
    release = prepared(case).release()
    assert isinstance(repr(release), str) and isinstance(release._repr_html_(), str)
    written = json.loads(json.dumps(release.to_dict(), allow_nan=False))
    jsonschema.validate(written, SCHEMA)
    assert written["time"].endswith("Z") and "value" in written


def test_a_session_pays_from_its_budget():
    budget = dp.Budget(epsilon=1)
    s = dp.session(budget, confidence=0.9)
    with pytest.raises(AttributeError, match="has no method 'meen'"):
        s.meen  # noqa: B018
    with pytest.raises(dp.errors.ArgumentError):
        s.mean([1, 2], epsilon=0.5, bounds=(3, 1))
    assert not budget.history
    count = s.count([1, 2, 3], epsilon=0.5)
    groups = s.group_by({"k": [0, 1]}, "k", keys=[0, 1]).count(epsilon=0.5)
    assert count.bar.confidence == 0.9 and list(groups.value) == ["k", "count", "count error"]
    assert [count.entry, groups.entry] == [1, 2] and budget.remaining["epsilon"] == 0
    assert {"mean", "group_by", "release"} <= set(dir(s)) and "agg" in dir(
        s.group_by({"k": [0]}, "k")
    )
