"""Ends around answers with noise for a smooth sensitivity: their loss, and how often they hold."""

import datetime as dt
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator
from dpfast.statistics import trimmed
from dpfast.statistics.quantiles import ends
from dpfast.statistics.quantiles.ends import ROUNDED, STEPS, SmoothBetween
from dpfast.tables import as_source

from ..support.bars import fewest
from ..support.views import innermost, prepared, replaced

X = np.random.default_rng(1).normal(50, 10, 4001).clip(0, 100)
VALUES = (0.0, 1.0, 60.0)
RUNS = 1000
STATISTICS = {
    "trimmed": dp.TrimmedMean(bounds=(0, 100)),
    "winsorized": dp.WinsorizedMean(bounds=(0, 100)),
    "iqr": dp.Iqr(bounds=(0, 100), method="smooth"),
}
#: Of few rows, of which some are left out.
SMALL = STATISTICS | {
    name: replace(STATISTICS[name], proportion=0.4) for name in ("trimmed", "winsorized")
}


def between(statistic, data=X, **asked):
    """The mechanism of a statistic between its ends."""
    whole = statistic.with_interval().prepare(data, **asked).mechanism
    while not isinstance(whole, SmoothBetween):
        whole = whole.inner
    return whole


# --- the loss -----------------------------------------------------------------------------------


@dataclass
class Spy:
    """Noise of nothing that remembers what it is added to."""

    k: int = 0

    def add(self, values, generator):
        (self.k,) = values
        return values


SPY = Spy()


def steps_of(whole, sensitivity):
    """The integer that is released for a smooth bound, as the shipped code makes it."""
    with patch.object(ends, "reach", return_value=1.0):
        replace(whole, ends=(SPY,)).finish((3.0, sensitivity), InsecureGenerator(1))
    return SPY.k


def largest_loss(statistic, relation, epsilon):
    """The largest loss of what is released of the scale, over neighbors of up to five rows."""
    asked = {"epsilon": epsilon, "neighbors": relation}
    whole = between(statistic, np.array(VALUES), **asked)
    (noise,), made = whole.ends, {}
    assert noise.distribution == "laplace"  # of which a difference of d steps loses d / scale
    for size in range(6):
        for rows in combinations_with_replacement(VALUES, size):
            summary = whole.inner.reduce(as_source(np.array(rows)))
            made[rows] = steps_of(whole, summary[1])
    apart = [0]
    for rows, i in product(made, range(5)):
        less = rows[:i] + rows[i + 1 :]
        others = [less] if i < len(rows) else []
        if relation == "replace" and others:
            others = [tuple(sorted((*less, row))) for row in VALUES]
        apart += [abs(made[rows] - made[other]) for other in others]
    return float(max(apart) / noise.scale)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", STATISTICS)
def test_the_loss_of_the_scale(name, relation):
    assert 0.6 < largest_loss(SMALL[name], relation, 2) <= 1


def test_a_bound_that_is_less_smooth_is_found():
    """Planted: the bound is one for twice the beta of the noise."""
    shipped = trimmed.from_ranks

    def steep(ranks, share, beta, winsorized):
        return shipped(ranks, share, 2 * beta, winsorized)

    with replaced(trimmed, "from_ranks", steep):
        assert largest_loss(SMALL["trimmed"], "replace", 2) > 1.1


def test_rounding_is_covered():
    """Of any size, bounds that differ by as much as they may are `STEPS` apart at most."""
    draw = np.random.default_rng(3)
    for epsilon in (0.001, 1, 300):
        whole = between(STATISTICS["trimmed"], epsilon=epsilon)
        beta, sizes = whole.inner.calibration.beta, np.exp(draw.uniform(-600, 600, 20))
        for size in sizes.tolist():
            larger = size * math.exp(beta) * (1 + 2.0**-41)
            assert STEPS - 1 <= steps_of(whole, larger) - steps_of(whole, size) <= STEPS
    # Planted: were nothing added to beta for rounding, some would be farther apart.
    assert ROUNDED > 2.0**-41 + 2 * 2.0**-42


def test_both_parts_of_the_loss():
    budget = dp.Budget(epsilon=1)
    release = dp.session(budget).trimmed_mean(X, bounds=(0, 100), epsilon=1)
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    assert release.low <= release.value <= release.high and not release.is_noise
    whole = between(STATISTICS["trimmed"], epsilon=1)
    assert [one.epsilon for one in whole.parts.values()] == [Fraction(1, 2)] * 2
    assert between(STATISTICS["iqr"], rho=0.1).loss.rho == Fraction(1, 10)
    assert between(STATISTICS["trimmed"], epsilon=9).loss.epsilon == 9
    noisy = between(dp.TrimmedMean(bounds=(0, 100), noise="laplace"), epsilon=1, delta=1e-6).loss
    assert noisy.epsilon == 1 and noisy.delta <= Fraction(1, 10**6)
    # A plain function spends all on its answer.
    plain = innermost(prepared(dp.trimmed_mean, X, bounds=(0, 100), epsilon=1)[0])
    assert plain.loss.epsilon == 1 and not isinstance(plain, SmoothBetween)


# --- how often it holds -------------------------------------------------------------------------

LOSSES = {
    "small": {"epsilon": 0.2},
    "usual": {"epsilon": 1},
    "large": {"epsilon": 8},
    "rho": {"rho": 0.1},
    "laplace": {"epsilon": 1, "delta": 1e-6},
}


def held(name, loss, part=1.0, runs=RUNS):
    """The share of seeded answers with the truth between the ends, or a part of the way to them."""
    statistic = STATISTICS[name]
    if loss == "laplace":
        statistic = replace(statistic, noise="laplace")
    whole = between(statistic, **LOSSES[loss])
    summary, rng = whole.reduce(as_source(X)), InsecureGenerator(7)
    with patch.object(type(whole.inner), "limits", (-1e9, 1e9)):  # no end is cut off
        _, middle, high = np.transpose([whole.finish(summary, rng) for _ in range(runs)])
    return np.mean(np.maximum(middle - summary[0], summary[0] - middle) <= part * (high - middle))


def test_ends_hold():
    """And are hardly longer than they have to be."""
    assert fewest(RUNS) <= held("trimmed", "usual") < 0.98
    # Planted: a quarter of their distance.
    assert held("trimmed", "usual", 1 / 4) < fewest(RUNS)


@pytest.mark.full
@pytest.mark.parametrize("name, loss", [*product(STATISTICS, LOSSES)])
def test_ends_of_each_loss_hold(name, loss):
    assert fewest(RUNS) <= held(name, loss) < 0.985
    assert held(name, loss, 1 / 8) < fewest(RUNS)


# --- where it is asked for ----------------------------------------------------------------------


def test_columns_people_masks_and_times():
    rng = InsecureGenerator(1)
    s = dp.session(rng=rng)
    both = s.trimmed_mean(np.c_[X, 2 * X], bounds=(0, 200), axis=0, epsilon=4)
    assert both.bar.half_width.shape == (2,) and (both.low < both.value).all()
    asked = {"bounds": (0, 100), "epsilon": 4}
    people = s.winsorized_mean(X, ids=np.arange(4001) // 2, max_rows=2, **asked)
    assert people.bar.half_width > s.winsorized_mean(X, **asked).bar.half_width
    assert people.bar.note.endswith("at most 2 of each person; bias unknown")
    some = s.trimmed_mean(X, where=X > 50, neighbors="replace", **asked)
    assert some.low <= some.value <= some.high
    auto = s.trimmed_mean(X, bounds="auto", epsilon=4)
    assert auto.low < auto.high and "bias unknown" in auto.bar.note
    days = np.datetime64("2020-01-01") + (X * 10).astype(int)
    limits = (dt.date(2020, 1, 1), dt.date(2022, 9, 1))
    found = s.trimmed_mean(days, bounds=limits, epsilon=8)
    assert found.low <= found.value <= found.high > found.low  # whole days, rounded outwards


def test_where_nothing_is_known_ends_are_the_bounds():
    s = dp.session(rng=InsecureGenerator(1))
    few = s.trimmed_mean([], bounds=(0, 3), epsilon=1)
    assert (few.low, few.high) == (0, 3) and few.is_noise
    same = s.trimmed_mean(X, bounds=(3, 3), epsilon=1)
    assert (same.low, same.value, same.high) == (3, 3, 3)


def test_with_interval_says_the_coverage():
    interval = STATISTICS["trimmed"].with_interval(0.9)
    assert interval.measure(epsilon=1).name == "trimmed mean 1/10 between two ends"
    low, middle, high = interval.prepare(X, epsilon=1).run()
    assert low <= middle <= high
    with pytest.raises(dp.errors.ArgumentError, match=r"^coverage must be"):
        STATISTICS["trimmed"].with_interval(1)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("statistic", ["trimmed_mean", "winsorized_mean", "iqr"])
def test_noise_for_smooth_sensitivity_has_no_price_in_rho(statistic, noise):
    """Its ends may have one of the same (epsilon, delta), and lend it to nobody."""
    budget = dp.Budget(rho=1, neighbors="replace")
    asked = {"method": "smooth"} if statistic == "iqr" else {}
    with dp.session(budget) as s, pytest.raises(dp.errors.BudgetError, match="no price"):
        getattr(s, statistic)(X, bounds=(0, 100), noise=noise, epsilon=0.1, delta=0.01, **asked)
    assert not any(budget.spent.values())
