"""The figures of the page on audits: no mechanism exceeds its claim, each fault is found."""

import math
from dataclasses import replace

import numpy as np
import pytest

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
from ..support.lazy import stats
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
    *(f"response.estimate_{name}" for name in ("binary", "kary", "unary")),
    *(f"selection.{name}" for name in ("expected_error", "probabilities", "utility_bound")),
    "smooth_beta", "suggest_blocks", "learn.cross_validate", "sulq.oracle_cost",
}  # fmt: skip


def test_every_mechanism_has_a_row():
    rows = {name.partition(" ")[0] for name in OURS}
    rows |= {row["statistic"] for row in KEPT["table"].values()}
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
    """All noise has the seed of the program, so a row that is right stays so."""
    again = figures("audited", quick)
    assert len(again["ours"]) <= 100
    for part in ("ours", "faults"):
        for name, row in again[part].items():
            assert row["refuted"] == KEPT[part][name]["refuted"], name
            assert part == "faults" or row["ratio"] <= 1
    for name, row in again["table"].items():
        assert row["claims"] == KEPT["table"][name]["claims"], name
    assert command.table(again).count("\n") == 3 + len(OURS) + len(faults.FAULTS) + 1


# ---- Half of the noise, found in each of the three ways. ----


def row(audit, pair, claim):
    return command.audited(ways.Row(audit, pair, claim), 20_000)


def half(right):
    """A maker of integer noise that makes half of it, at the same price."""

    def made(*arguments):
        noise = right(*arguments)
        return replace(noise, scale=noise.scale / 2)

    return made


@quick_rows(1)
@pytest.mark.parametrize("name", ["count", "sum", "mean", "variance"])
def test_half_of_the_noise_of_a_release_is_found(monkeypatch, name):
    """Drawn ahead for many answers."""
    assert not command.audited(OURS[name], 20_000)["refuted"]
    monkeypatch.setattr(linear, "plan", linear.plan.__wrapped__)
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    monkeypatch.setattr(choice, "integer_noise", half(choice.integer_noise))
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
    monkeypatch.setattr(round_parts, "integer_noise", half(round_parts.integer_noise))
    found = command.audited(OURS[name], 4_000)
    assert found["refuted"] and found["ratio"] > 3.9


def early(right):
    """A distance test that passes one row too early."""
    return lambda self, distance, generator: right(self, distance + 1, generator)


def twice(right):
    """A draw at twice the rate."""
    return lambda column, node, aim, *more, **given: right(
        column, node, aim._replace(rate=2 * aim.rate), *more, **given
    )


def quieter(right):
    """A hard answer with half of its noise."""

    def answer(kind, asked, data, **given):
        place, told = right(kind, asked, data, **given)
        exact = (data * asked[0]).sum()
        return place, exact + (told - exact) / 2

    return answer


SMOOTH = laws, "cells_of", lambda right: lambda noise, at, scale: right(noise, at, scale / 2)
EARLY = proposal.DistanceTest, "passes", early
TWICE = exponential, "draw", twice
COMPARED = noisy_comparison, "_noise", lambda right: lambda n, scale, s: right(n, scale / 2, s)
HARD = "online.PrivateMultiplicativeWeights"
#: Another law than that of the answers: each by day of one mechanism, of others by night.
PLANTED = [
    *(pytest.param(fault, name, marks=pytest.mark.slow if later else pytest.mark.full)
        for fault, *names in (
            (SMOOTH, "trimmed_mean", "median (smooth)", "iqr", "smooth_release"),
            (EARLY, "ptr.mean", "ptr.quantile", "ptr.iqr", "ptr.release"),
            (TWICE, "median", "sample_and_aggregate (exponential-median)"),
            (COMPARED, "online.AboveThreshold", "online.SparseVector", HARD),
            ((laws, "first_hard", quieter), HARD),
        ) for later, name in enumerate(names)),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "name"), PLANTED)
def test_a_fault_is_found_as_another_law(monkeypatch, fault, name):
    honest, size = OURS[name], 120_000 if name == HARD else 20_000
    assert not command.audited(honest, size)["refuted"]
    home, word, planted = fault
    monkeypatch.setattr(home, word, planted(getattr(home, word)))
    found = command.audited(honest, size)
    assert found["p_value"] <= 1e-6 and (fault is not SMOOTH or found["refuted"])


@pytest.mark.full
def test_a_claim_that_is_too_small_is_found():
    less = command.audited(replace(OURS[HARD], claim={"epsilon": 1.9}), 20_000)
    assert less["refuted"] and less["ratio"] > 1
