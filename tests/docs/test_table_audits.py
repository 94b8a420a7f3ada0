"""Audits of each statistic by its noise: none is left out, and each fault is found."""

import functools
from dataclasses import replace

import numpy as np
import pytest

import dpfast as dp
from benchmarks.audited import __main__ as command
from benchmarks.audited import of_table
from benchmarks.audited.mechanisms import OURS
from dpfast.measurement import choice, linear, statistic
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.statistics.quantiles import exponential
from dpfast.statistics.table import TABLE, Entry
from dpfast.statistics.totals import api

from ..support.pages import FIGURES, ROOT, figures
from ..support.pairwise import quick_rows
from .test_audited_page import half

KEPT = figures("audited")
CASES = dict(of_table.cases())


def without_audit(table, kept):
    """The cases of a table that a file of audits does not have, or has seen no noise of."""
    rows = kept["table"]
    return [
        f"{name} has no audit"
        for name, _ in of_table.cases(table)
        if name not in rows or not all(claim["seen"] for claim in rows[name]["claims"].values())
    ]


def test_every_statistic_is_audited_in_each_of_its_ways():
    assert without_audit(TABLE, KEPT) == []
    mechanisms = {name.partition(" (")[0] for name in OURS}
    audited = {row["statistic"] for row in KEPT["table"].values()} | mechanisms
    assert {entry.word for entry in TABLE} - audited == set()
    assert {name.partition(" (")[0] for name in of_table.ELSEWHERE.values()} <= mechanisms
    ways = {row["way"] for row in KEPT["table"].values()}
    assert {"rows", "some rows", "people", "columns", "weights", "by group", "SQL"} <= ways


def test_a_statistic_without_an_audit_is_named(monkeypatch):
    """Planted: a new statistic. It is audited without a line anywhere, but no audit has run."""

    @functools.wraps(dp.mean)
    def new_mean(*data, **given):
        return dp.mean(*data, **given)

    monkeypatch.setattr(api, "new_mean", new_mean, raising=False)
    entry = Entry("new_mean", "statistics.totals.api", "Mean", "a mean", by_group=False)
    missing = without_audit((*TABLE, entry), KEPT)
    assert "new_mean has no audit" in missing and len(missing) >= 4
    assert all(name.startswith("new_mean") for name in missing)
    assert worst(dict(of_table.cases((entry,), {}))["new_mean"]).ratio >= 0.95
    less = {**KEPT, "table": {n: row for n, row in KEPT["table"].items() if n != "std of people"}}
    assert without_audit(TABLE, less) == ["std of people has no audit"]


def test_no_claim_is_exceeded_and_each_is_shown_or_explained():
    for name, row in KEPT["table"].items():
        assert row["p_value"] > 1e-6, name
        for words, claim in row["claims"].items():
            assert claim["ratio"] <= 1 and claim["seen"], (name, words)
            assert claim["ratio"] >= 0.95 or claim["note"], (name, words)
            assert claim["ratio"] > 0.02 or claim["note"] == of_table.PUBLIC, (name, words)


def test_the_badge_is_made_from_the_audits_and_stands_in_the_readme():
    shown = (FIGURES / "audited.svg").read_text(encoding="utf-8")
    assert shown == command.badge(KEPT)
    assert "(docs/figures/audited.svg)" in (ROOT / "README.md").read_text(encoding="utf-8")
    number = command.counted(KEPT)
    assert number["refuted"] == 0 and number["claims"] == number["shown"] + number["explained"]
    other = {**KEPT, "ours": {**KEPT["ours"], "sum": {**KEPT["ours"]["sum"], "refuted": True}}}
    assert command.badge(other) != shown and "1 refuted" in command.badge(other)


# ---- Faults: half of the noise, rows beside the noise, noise that is not recorded. ----


def worst(case, loss=None, relation="add-remove"):
    return of_table.worst(case, loss or {"epsilon": 2.0}, relation)


@quick_rows(2)
@pytest.mark.parametrize("name", ["mean", "sum of people", "count of nonzero", "variance"])
def test_half_of_the_noise_is_found(monkeypatch, name):
    assert 0.95 <= worst(CASES[name]).ratio <= 1 + 1e-9
    monkeypatch.setattr(linear, "plan", linear.plan.__wrapped__)
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    monkeypatch.setattr(choice, "integer_noise", half(choice.integer_noise))
    assert worst(CASES[name]).ratio > 1.9


@pytest.mark.parametrize("name", ["median", "quantile by rank"])
def test_a_draw_at_twice_the_rate_is_found(monkeypatch, name):
    monkeypatch.setattr(
        exponential, "rate_of", lambda *given, right=exponential.rate_of: 2 * right(*given)
    )
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    assert worst(CASES[name]).ratio > 1.2


def test_an_answer_that_reads_rows_beside_the_noise_is_found():
    """Planted: a mean to which a billionth of the largest row is added."""
    case = CASES["mean"]
    assert worst(case).same

    def leaks(data, **given):
        return case.call(data, **given) + 1e-9 * np.max(data)

    assert not worst(replace(case, call=leaks)).same


def test_noise_that_no_tap_sees_is_no_audit():
    """Planted: a release whose noise is drawn in another way than those that are known."""
    case = CASES["count of nonzero"]

    def other(data, *, rng, **given):
        case.call(data, rng=rng, **given)
        return np.count_nonzero(data) + int(rng.bytes(1)[0])

    assert not worst(replace(case, call=other)).same


def test_noise_that_is_not_as_said_is_found(monkeypatch):
    """Planted: a sampler of half of the noise, whose scale says otherwise."""
    case = CASES["count of nonzero"]
    data, kw = worst(case).pair[0]
    turns = of_table.run(case, (data, kw), {"epsilon": 0.1}, "add-remove")[1]
    assert of_table.drawn_as_said(turns) > 1e-6
    right = IntegerNoise.draw
    monkeypatch.setattr(IntegerNoise, "draw", lambda *given: right(*given) // 2)
    assert of_table.drawn_as_said(turns) <= 1e-6
