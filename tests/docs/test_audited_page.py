"""The figures of the page on audits: no mechanism exceeds its claim, each fault is found."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import dpfast as dp
from benchmarks.audited import __main__ as command
from benchmarks.audited import faults, laws, ways
from benchmarks.audited.mechanisms import OURS
from dpfast.measurement import choice, linear, statistic
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.online import noisy_comparison
from dpfast.rng import InsecureGenerator
from dpfast.statistics.ptr import proposal
from dpfast.statistics.quantiles import exponential
from dpfast.sulq import parts as round_parts

from ..support.battery import public
from ..support.pages import figures, quick_run
from ..support.pairwise import quick_rows

quick = quick_run(command)
KEPT = figures("audited")

#: What has an epsilon and no row of its own: it answers nothing, or what another row answers.
NO_ROWS = {
    "Budget",
    *(f"audit.{name}" for name in ("Audit", "claims", "measure", "one_run", "recovery_bound")),
    "audit.measure_answers", "audit.measure_pairs", "audit.support", "expected_error",
    "extend.Prepared", "extend.integer_noise", "extend.relation_of", "extend.release",
    "noise.gaussian_scale", "session",
    *(f"privacy.{name}" for name in ("Approx", "Draws", "Pure", "loss", "optimal_composition")),
    "marginals", *("correlation", "difference", "kept_whole", "proportion", "ratio"), "describe",
    "quantile_interval", *(f"response.estimate_{name}" for name in ("binary", "kary", "unary")),
    *(f"selection.{name}" for name in ("expected_error", "probabilities", "utility_bound")),
    "smooth_beta", "suggest_blocks", "learn.cross_validate", "sulq.oracle_cost", "workload",
}  # fmt: skip


def test_every_mechanism_has_a_row():
    rows = {name.partition(" ")[0] for name in OURS}
    names = {name.removeprefix("dp.") for name, _ in public()}
    assert names - rows - NO_ROWS == set()
    assert NO_ROWS & rows == set()


def test_kept_figures_are_of_all_mechanisms_and_faults():
    assert set(KEPT["ours"]) == set(OURS) and set(KEPT["faults"]) == set(faults.FAULTS)
    assert not KEPT["quick"]
    for name, row in KEPT["ours"].items():
        assert row["ratio"] <= 1 and not row["refuted"], name
        assert row["ratio"] >= 0.95 or OURS[name].note, name
    assert all(row["refuted"] and row["p_value"] <= 1e-6 for row in KEPT["faults"].values())


@pytest.mark.full
def test_a_quick_run_says_the_same(quick):
    """Each row is wrong in one of a million runs at most, so all of them in one of 10,000."""
    again = figures("audited", quick)
    assert len(again["ours"]) <= 100
    for part in ("ours", "faults"):
        for name, row in again[part].items():
            assert row["refuted"] == KEPT[part][name]["refuted"], name
            assert part == "faults" or row["ratio"] <= 1
    assert command.table(again).count("\n") == 3 + len(OURS) + len(faults.FAULTS) + 1


# ---- Half of the noise, found in each of the three ways. ----


def row(audit, pair, claim):
    return command.audited(ways.Row(audit, pair, claim), 20_000)


def halve(monkeypatch, module, name):
    """Let a function that makes integer noise make half of it, at the same price."""
    right = getattr(module, name)

    def half(*arguments):
        made = right(*arguments)
        return replace(made, scale=made.scale / 2)

    monkeypatch.setattr(module, name, half)


@quick_rows(1)
@pytest.mark.parametrize("name", ["count", "sum", "mean", "variance"])
def test_half_of_the_noise_of_a_release_is_found(monkeypatch, name):
    """Drawn ahead for many answers."""
    assert not command.audited(OURS[name], 20_000)["refuted"]
    monkeypatch.setattr(linear, "plan", linear.plan.__wrapped__)
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    halve(monkeypatch, choice, "integer_noise")
    found = command.audited(OURS[name], 20_000)
    assert found["refuted"] and found["ratio"] > 1


@quick_rows(2)
@pytest.mark.parametrize("loss,step,distribution", [
    (dp.privacy.Pure(2), 1, "laplace"),
    (dp.privacy.Pure(2), 1 << 20, "staircase"),
    (dp.privacy.ZCDP(0.5), 20, "gaussian"),
    (dp.privacy.Approx(1, 1e-6), 20, "rounded-gaussian"),
], ids=lambda given: given if isinstance(given, str) else "")  # fmt: skip
def test_one_integer_at_a_time_has_the_law_of_many(loss, step, distribution):
    """So an audit by many says what a release of one does; half of the noise is another law."""
    generator = InsecureGenerator(6)
    noise = integer_noise(loss, Sensitivity.of_one(step), distribution)
    assert noise.distribution == distribution
    alone = np.array([noise.draw(1, generator)[0] for _ in range(10_000)])
    many = noise.draw(100_000, generator)
    half = replace(noise, scale=noise.scale / 2).draw(100_000, generator)
    assert stats.ks_2samp(alone, many).pvalue > 1e-6
    assert stats.ks_2samp(alone, half).pvalue <= 1e-6


def test_half_of_the_noise_is_found_by_a_law():
    """As another law than that of the answers, and by the law itself."""
    generator = InsecureGenerator(3)

    def law(scale):
        def masses(center):
            found = np.exp(-np.abs(np.arange(-40, 41) - center) / scale)
            return found / found.sum()

        return masses

    def draw(scale):
        return lambda center, size: (
            40 + center + dp.noise.discrete_laplace(scale, size, rng=generator)
        )

    claim = {"epsilon": 2}
    assert not row(ways.by_law(law(0.5), draw(0.5)), (0, 1), claim)["refuted"]
    other = row(ways.by_law(law(0.5), draw(0.25)), (0, 1), claim)
    assert other["refuted"] and other["ratio"] <= 1 and other["p_value"] <= 1e-6
    less = row(ways.by_law(law(0.25), draw(0.25)), (0, 1), claim)
    assert less["refuted"] and math.isclose(less["ratio"], 2) and less["p_value"] > 1e-6


def test_half_of_the_noise_is_found_by_rounds(monkeypatch):
    name = "learn.NaiveBayes"
    assert not command.audited(OURS[name], 4_000)["refuted"]
    halve(monkeypatch, round_parts, "integer_noise")
    found = command.audited(OURS[name], 4_000)
    assert found["refuted"] and found["ratio"] > 3.9


@pytest.mark.full
@pytest.mark.parametrize("name", ["trimmed_mean", "median (smooth)", "iqr", "smooth_release"])
def test_half_of_smooth_noise_is_found(monkeypatch, name):
    """In the law, and as another law than that of the answers."""
    honest = OURS[name]
    assert not command.audited(honest, 20_000)["refuted"]
    right = laws.cells_of
    monkeypatch.setattr(laws, "cells_of", lambda noise, at, scale: right(noise, at, scale / 2))
    less = command.audited(honest, 20_000)
    assert less["refuted"] and less["p_value"] <= 1e-6


@pytest.mark.full
@pytest.mark.parametrize("name", ["ptr.mean", "ptr.quantile", "ptr.iqr", "ptr.release"])
def test_a_test_that_passes_one_row_too_early_is_found(monkeypatch, name):
    honest = OURS[name]
    assert not command.audited(honest, 20_000)["refuted"]
    right = proposal.DistanceTest.passes

    def early(self, distance, generator):
        return right(self, distance + 1, generator)

    monkeypatch.setattr(proposal.DistanceTest, "passes", early)
    assert command.audited(honest, 20_000)["p_value"] <= 1e-6


@pytest.mark.full
@pytest.mark.parametrize("name", ["median", "sample_and_aggregate (exponential-median)"])
def test_a_draw_at_twice_the_rate_is_found(monkeypatch, name):
    honest = OURS[name]
    assert not command.audited(honest, 20_000)["refuted"]
    right = exponential.draw

    def twice(column, node, aim, *more, **given):
        return right(column, node, aim._replace(rate=2 * aim.rate), *more, **given)

    monkeypatch.setattr(exponential, "draw", twice)
    assert command.audited(honest, 20_000)["p_value"] <= 1e-6


@pytest.mark.full
def test_half_of_the_noise_of_a_comparison_is_found(monkeypatch):
    honest = OURS["online.PrivateMultiplicativeWeights"]
    assert not command.audited(honest, 120_000)["refuted"]
    less = command.audited(replace(honest, claim={"epsilon": 1.9}), 20_000)
    assert less["refuted"] and less["ratio"] > 1
    right = noisy_comparison._noise
    monkeypatch.setattr(
        noisy_comparison, "_noise", lambda size, scale, stream: right(size, scale / 2, stream)
    )
    assert command.audited(honest, 120_000)["p_value"] <= 1e-6


@pytest.mark.full
@pytest.mark.parametrize("name", ["online.AboveThreshold", "online.SparseVector"])
def test_half_of_the_noise_of_a_stream_of_comparisons_is_found(name, monkeypatch):
    right = noisy_comparison._noise
    assert not command.audited(OURS[name], 20_000)["refuted"]
    monkeypatch.setattr(
        noisy_comparison, "_noise", lambda size, scale, stream: right(size, scale / 2, stream)
    )
    assert command.audited(OURS[name], 20_000)["p_value"] <= 1e-6


@pytest.mark.full
def test_half_of_the_noise_of_a_hard_answer_is_found(monkeypatch):
    honest = OURS["online.PrivateMultiplicativeWeights"]
    right = laws.first_hard

    def quieter(kind, asked, data, **given):
        place, told = right(kind, asked, data, **given)
        exact = (data * asked[0]).sum()
        return place, exact + (told - exact) / 2

    monkeypatch.setattr(laws, "first_hard", quieter)
    assert command.audited(honest, 120_000)["p_value"] <= 1e-6
