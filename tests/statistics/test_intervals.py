"""Intervals around a quantile hold it as often as they say, and cost what they say."""

import datetime as dt
import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from unittest.mock import Mock, patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.rng import InsecureGenerator
from dpfast.statistics import trimmed
from dpfast.statistics.quantiles import ends
from dpfast.statistics.quantiles.draws import PARTS
from dpfast.statistics.quantiles.ends import (
    MOST,
    ROUNDED,
    STEP,
    STEPS,
    Between,
    SmoothBetween,
    widths,
)
from dpfast.statistics.quantiles.exponential import rate_of
from dpfast.tables import as_source

from ..support.bars import fewest
from ..support.pairwise import quick_rows
from ..support.refused import refused
from ..support.views import innermost, prepared, quoted, replaced
from .test_exponential_quantiles import near_pairs

X = np.random.default_rng(1).normal(50, 10, 4000)
ASKED = {"bounds": (0, 100), "epsilon": 1}
CELLS = 5


def made_for(q, data=X, **asked):
    found = innermost(quoted(dp.quantile_interval, data, q, **{**ASKED, **asked}))
    assert isinstance(found, Between)
    return found


def widths_for(q, data=X, **asked):
    (found,) = made_for(q, data, **asked).widths
    return found


def normalised(exponents):
    weights = np.array([math.exp(-float(one)) for one in exponents])
    return weights / weights.sum()


def largest_loss(of, relation):
    law = {}
    for size in range(5):
        for rows in combinations_with_replacement(range(CELLS), size):
            sides = [of.side(cell, np.array(rows, np.int64), 0, size) for cell in range(CELLS)]
            steps = range(len(of.steps))
            law[rows] = np.array([normalised(map(side.exact, steps)) for side in sides])
    near = near_pairs(law, relation, range(CELLS))
    return max(float(np.abs(np.log(law[a] / law[b])).max()) for a, b in near)


@quick_rows(2)
@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 2), Fraction(9, 10)], ids=str)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_loss_of_the_distance(q, relation):
    epsilon = 1.5
    within = "replace" if q == 0 else relation  # as extremes have it
    rate = rate_of(dp.privacy.Pure(epsilon), 1, q, within, True)

    def lost(rate):
        return largest_loss(widths(int(q * PARTS), rate, (0, CELLS - 1), 0.5, True), relation)

    assert lost(rate) <= epsilon * (1 + 1e-9)
    # Planted: that of utilities which all change in one direction.
    assert lost(2 * rate) > epsilon * 1.1


def test_the_draw_has_its_law():
    of, stream = widths_for(0.4, X[:60]), InsecureGenerator(3).stream()
    cells = np.sort((X[:60] / 100 * of.last).astype(np.int64))
    side = of.side(int(cells[24]), cells, 0, 60)
    law = normalised([side.exact(j) for j in range(len(of.steps))])
    found = [of.draw(int(cells[24]), cells, 0, 60, stream) for _ in range(3000)]
    counts = np.array([found.count(step) for step in of.steps.tolist()])
    often = law * 3000 > 10
    off = (counts - law * 3000)[often] / np.sqrt(law * 3000)[often]
    assert sum(counts) == 3000 and (off**2).sum() < often.sum() + 8 * math.sqrt(2 * often.sum())


def test_both_parts_of_the_loss():
    budget = dp.Budget(epsilon=1)
    parts = budget.cost(dp.quantile_interval, X, 0.5, **ASKED, parts=True)
    assert [(name, one.epsilon) for name, one in parts.items()] == [
        ("quantile 1/2", Fraction(1, 2)), ("ends", Fraction(1, 2)),
    ]  # fmt: skip
    low, middle, high = dp.quantile_interval(X, 0.5, budget=budget, **ASKED)
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    assert 49 < low <= middle <= high < 51
    assert made_for(0.5, rho=0.1, epsilon=None).loss.rho == Fraction(1, 10)
    noisy = made_for(0.5, epsilon=1, delta=1e-6, noise="gaussian").loss
    assert (noisy.epsilon, noisy.delta) == (1, Fraction(1, 2_000_000))


def test_the_worst_failure_is_what_is_said():
    """For any cell that is far enough, all nearer ones together are as rare as they should be."""
    for failure in (0.2, 0.05, 1e-6):
        of = widths(PARTS // 2, 0.1, (0, 1 << 40), failure, True)
        weights = np.exp(STEP * np.arange(len(of.steps)))
        missed = [
            weights[:j].sum() * math.exp(-0.1 * of.margin / PARTS) / weights[j]
            for j in range(1, len(weights))
        ]
        assert failure * 0.99 < max(missed) <= failure * (1 + 1e-6)


def test_few_rows_have_the_bounds():
    rng = InsecureGenerator(2)
    for data in ([], [3.0], [40.0, 50.0]):
        asked = {"bounds": (0, 100), "epsilon": 0.1, "rng": rng}
        low, middle, high = np.transpose(
            [dp.quantile_interval(data, 0.5, **asked) for _ in range(50)]
        )
        assert ((low <= middle) & (middle <= high)).all()
        assert np.mean((low == 0) & (high == 100)) > 0.75
    assert dp.quantile_interval(X, 0.5, bounds=(0, 100), epsilon=1e-12)[::2].tolist() == [0, 100]
    assert widths_for(0.5, epsilon=1e-12).reach < MOST


def released(*args, **asked):
    return dp.quantile_interval(*args, rng=InsecureGenerator(1), **asked)


def test_ends_are_numbers_of_the_column():
    ages, loud = X.astype(int), {"bounds": (0, 120), "epsilon": 2}
    assert released(ages, 0.5, **loud).tolist() == [49, 49, 49] == [np.median(ages)] * 3
    # Of rows between the multiples, and of coarse ones.
    assert released(X, 0.5, **ASKED, granularity=1).tolist() == [49.5, 50, 50.5]
    assert released(ages, 0.5, **loud, granularity=5).tolist() == [47.5, 50, 52.5]
    low, _, high = released(np.full(999, 37.3), 0.5, bounds=(0, 100), epsilon=2)
    assert low <= 37.3 <= high < low + 1e-6
    assert released(X, 0.5, bounds=(3, 3), epsilon=1).tolist() == [3, 3, 3]


def test_extremes_have_one_end():
    low, middle, high = released(X, 0, **ASKED)
    assert low == 0 < X.min() < high and middle <= high
    largest = dp.Maximum(bounds=(0, 100)).with_interval()
    low, middle, high = largest.prepare(X, epsilon=1, rng=InsecureGenerator(1)).run()
    assert low <= middle and low < X.max() < high == 100


def test_columns_people_masks_and_times():
    both = released(np.c_[X, 2 * X], 0.5, bounds=(0, 200), epsilon=2, axis=0)
    assert both.shape == (3, 2) and (np.diff(both, axis=0) >= 0).all()
    assert (abs(both - [50, 100]) < [2, 4]).all()
    people = {"ids": np.arange(4000) // 2, "max_rows": 2}
    assert widths_for(0.5, **people).margin > widths_for(0.5).margin
    some = released(X, 0.5, where=X > 50, bounds="auto", epsilon=2)
    assert 50 < some[0] < np.median(X[X > 50]) < some[2] < 65
    days = np.datetime64("2020-01-01") + (X * 10).astype(int)
    limits = (dt.date(2020, 1, 1), dt.date(2022, 9, 1))
    found = released(days, 0.5, bounds=limits, epsilon=1)
    assert found.dtype.kind == "M" and found[0] <= np.sort(days)[2000] <= found[2]


@pytest.mark.parametrize("statistic", [
    dp.Quantile(q=0.3, bounds=(0, 100), granularity=0.5), dp.Minimum(bounds=(0, 100)),
    dp.Percentile(q=30, bounds=(0, 100), nan="lower"),
    dp.Median(bounds=(0, 100), method="smooth", assume_sorted=True),
], ids=lambda one: one.name)  # fmt: skip
def test_with_interval_is_the_same_statistic(statistic):
    found, mean = statistic.with_interval(0.9), dp.Mean(bounds=(0, 100))
    assert isinstance(found, dp.QuantileInterval) and found.coverage == 0.9
    half, whole = statistic.measure(epsilon=0.5), found.measure(epsilon=1)
    assert whole.loss.epsilon == 1 and whole.name == f"{half.name} with an interval"
    assert innermost(whole).inner == innermost(half) and innermost(whole).coverage == 0.9
    low, middle, high = whole(np.sort(X))
    assert low <= middle <= high
    assert found.with_interval().coverage == 0.95 and found.with_interval(0.8) == found
    assert mean.with_interval() is mean
    with pytest.raises(ArgumentError, match=r"^coverage must be"):
        statistic.with_interval(1)


def test_several_quantiles_and_their_distance():
    qs, rng, runs = [0, 0.25, 0.75, 0.5], InsecureGenerator(3), range(100)
    many = dp.Quantiles(qs=qs, bounds=(0, 100)).with_interval(0.9)
    range_ = dp.Iqr(bounds=(0, 100), granularity=0.5).with_interval(0.9)
    measured = many.measure(epsilon=1)
    assert measured.loss.epsilon == 1 and many.measure(rho=0.1).loss.rho == Fraction(1, 10)
    assert [one.epsilon for one in measured.parts.values()] == [Fraction(1, 2)] * 2
    true, spread = np.quantile(X, qs), np.subtract(*np.quantile(X, [0.75, 0.25]))
    found, ranges = (
        np.array([one.prepare(X, epsilon=1, rng=rng).run() for _ in runs]) for one in (many, range_)
    )
    assert found.shape == (100, 3, 4) and (np.diff(found, axis=1) >= 0).all()
    assert ((found[:, 0] <= true) & (true <= found[:, 2])).mean(axis=0).min() > 0.9 - 0.15
    low, middle, high = ranges.T
    assert ((low <= middle) & (middle <= high) & (low >= 0) & (high < 20)).all()
    assert np.mean((low <= spread + 0.25) & (spread - 0.25 <= high)) > 0.9 - 0.15
    assert dp.quantile_interval(X, qs, **ASKED, coverage=0.9).shape == (3, 4)
    both = {"bounds": (0, 100), "neighbors": "replace", "rho": 1, "axis": 0}
    assert dp.quantile_interval(np.c_[X, X][:50], qs[1:], **both).shape == (3, 3, 2)


@pytest.mark.parametrize(
    "given, named",
    [({"q": 1.5}, "q"), ({"coverage": 1}, "coverage"), ({"epsilon": None}, "epsilon"),
     ({"method": "recursive"}, "method")],
)  # fmt: skip
def test_what_is_refused_costs_nothing(given, named):
    refused(dp.quantile_interval, f"^{named} must be", data=X, **{"q": 0.5, **ASKED, **given})


COLUMN = np.random.default_rng(1).normal(50, 10, 4001).clip(0, 100)
VALUES = (0.0, 1.0, 60.0)
STATISTICS = {
    "trimmed": dp.TrimmedMean(bounds=(0, 100)),
    "winsorized": dp.WinsorizedMean(bounds=(0, 100)),
    "iqr": dp.Iqr(bounds=(0, 100), method="smooth"),
}
#: Of few rows, of which some are left out.
SMALL = STATISTICS | {
    name: replace(STATISTICS[name], proportion=0.4) for name in ("trimmed", "winsorized")
}


def between(statistic, data=COLUMN, **asked):
    whole = statistic.with_interval().prepare(data, **asked).mechanism
    while not isinstance(whole, SmoothBetween):
        whole = whole.inner
    return whole


def steps_of(whole, sensitivity):
    """The integer that is released for a smooth bound, as the shipped code makes it."""
    noise = Mock(add=Mock(side_effect=lambda values, generator: values))  # none
    with patch.object(ends, "reach", return_value=1.0):
        replace(whole, ends=(noise,)).finish((3.0, sensitivity), InsecureGenerator(1))
    return noise.add.call_args.args[0][0]


def largest_loss_of_scale(statistic, relation, epsilon):
    """The largest loss of what is released of the scale, over neighbors of up to five rows."""
    whole = between(statistic, np.array(VALUES), epsilon=epsilon, neighbors=relation)
    (noise,), made = whole.ends, {}
    assert noise.distribution == "laplace"  # of which a difference of d steps loses d / scale
    for size in range(6):
        for rows in combinations_with_replacement(VALUES, size):
            summary = whole.inner.reduce(as_source(np.array(rows)))
            made[rows] = steps_of(whole, summary[1])
    apart = [abs(made[a] - made[b]) for a, b in near_pairs(made, relation, VALUES)]
    return float(max(apart) / noise.scale)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", STATISTICS)
def test_the_loss_of_the_scale(name, relation):
    assert 0.6 < largest_loss_of_scale(SMALL[name], relation, 2) <= 1


def test_a_bound_that_is_less_smooth_is_found():
    """Planted: the bound is one for twice the beta of the noise."""
    shipped = trimmed.from_ranks

    def steep(ranks, share, beta, winsorized):
        return shipped(ranks, share, 2 * beta, winsorized)

    with replaced(trimmed, "from_ranks", steep):
        assert largest_loss_of_scale(SMALL["trimmed"], "replace", 2) > 1.1


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


def test_both_parts_of_the_loss_of_smooth_noise():
    budget, trimmed_mean = dp.Budget(epsilon=1), STATISTICS["trimmed"]
    release = dp.session(budget).trimmed_mean(COLUMN, bounds=(0, 100), epsilon=1)
    assert budget.remaining["epsilon"] == 0 and len(budget.history) == 1
    assert release.low <= release.value <= release.high and not release.is_noise
    whole = between(trimmed_mean, epsilon=1)
    assert [one.epsilon for one in whole.parts.values()] == [Fraction(1, 2)] * 2
    assert between(STATISTICS["iqr"], rho=0.1).loss.rho == Fraction(1, 10)
    assert between(trimmed_mean, epsilon=9).loss.epsilon == 9
    noisy = between(replace(trimmed_mean, noise="laplace"), epsilon=1, delta=1e-6).loss
    assert noisy.epsilon == 1 and noisy.delta <= Fraction(1, 10**6)
    # A plain function spends all on its answer.
    plain = innermost(prepared(dp.trimmed_mean, COLUMN, bounds=(0, 100), epsilon=1)[0])
    assert plain.loss.epsilon == 1 and not isinstance(plain, SmoothBetween)
    # Where nothing is known ends are the bounds.
    s = dp.session(rng=InsecureGenerator(1))
    few, same = (s.trimmed_mean([], bounds=(low, 3), epsilon=1) for low in (0, 3))
    assert (few.low, few.high) == (0, 3) and few.is_noise
    assert (same.low, same.value, same.high) == (3, 3, 3)


@pytest.mark.full
@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("loss", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
def test_ends_of_smooth_noise_hold(name, loss):
    """And are hardly longer than they have to be; an eighth of their distance is caught."""
    whole, runs = between(STATISTICS[name], **loss), 2000
    summary, rng = whole.inner.reduce(as_source(COLUMN)), InsecureGenerator(7)
    with patch.object(type(whole.inner), "limits", (-1e9, 1e9)):  # no end is cut off
        _, middle, high = np.transpose([whole.finish(summary, rng) for _ in range(runs)])
    off, length = abs(middle - summary[0]), high - middle
    assert fewest(runs) <= np.mean(off <= length) < 0.985
    assert np.mean(off <= length / 8) < fewest(runs)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("statistic", ["trimmed_mean", "winsorized_mean", "iqr"])
def test_noise_for_smooth_sensitivity_has_no_price_in_rho(statistic, noise):
    """Its ends may have one of the same (epsilon, delta), and lend it to nobody."""
    budget = dp.Budget(rho=1, neighbors="replace")
    asked = {"method": "smooth"} if statistic == "iqr" else {}
    with dp.session(budget) as s, pytest.raises(dp.errors.BudgetError, match="cannot count"):
        getattr(s, statistic)(
            COLUMN, bounds=(0, 100), noise=noise, epsilon=0.1, delta=0.01, **asked
        )
    assert not any(budget.spent.values())
