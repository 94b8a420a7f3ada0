"""Minimum, maximum, interquartile range, trimmed and winsorized mean, and masks for quantiles."""

import dataclasses
import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.measurement.around import OfKept
from dpfast.noise.grid import Base
from dpfast.privacy import Approx, Pure
from dpfast.statistics.quantiles import exponential
from dpfast.statistics.quantiles.draws import RANK
from dpfast.statistics.quantiles.exponential import ExponentialExtreme
from dpfast.summaries.cells import cells
from dpfast.tables import as_source
from dpfast.tables.intake import one_column, read

from ..reference.statistics import exponential_quantiles as exact
from ..reference.summaries import quantise
from ..support.pairwise import pairwise, quick_rows
from ..support.views import innermost
from .test_exponential_quantiles import near_pairs
from .test_replay_smooth import loss

EPSILON = 0.7
MEANS = [dp.TrimmedMean, dp.WinsorizedMean]


@pytest.mark.parametrize("mean", MEANS)
def test_what_rounding_moves_is_covered(mean):
    """Cells so coarse that the rounded means differ by more than the rows let them."""
    statistic = mean(proportion=Fraction(1, 4), bounds=(0, 10), nan="lower", noise="cauchy")
    made = innermost(statistic.measure(epsilon=EPSILON, unit="replace").inner)
    coarse = OfKept(dataclasses.replace(made, cells=cells(0.0, 10.0, 2)))
    grid, alpha = coarse.inner.cells.grid, made.calibration.alpha
    assert grid == 2
    found = []
    for j in range(61):  # 4.9 and 5.1 are on cells 2 apart
        rows = np.repeat([4.9, 5.1], [60 - j, j])
        value, bound = coarse.reduce(read(rows, one_column, relation="replace", where=None))
        found.append((value, bound / alpha))
    assert max(loss(a, b) for a, b in itertools.pairwise(found)) <= EPSILON
    # The planted fault: the bound of the rows as they are.
    bare = [(f, s - grid / alpha) for f, s in found]
    assert max(loss(a, b) for a, b in itertools.pairwise(bare)) > EPSILON


def extreme(q, neighbors="replace"):
    """With cells 0, 1, 2, ... and few enough ranks inside."""
    loss = Pure(Fraction(str(EPSILON)))
    made = ExponentialExtreme(0.0, 4.0, neighbors, "raise", loss, q=Fraction(q))
    object.__setattr__(made, "grid", 1.0)
    object.__setattr__(made, "base", Base(0, 4))
    return made


@quick_rows(2)
@pytest.mark.parametrize("inside", [0.3, 0.7, 14])
@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("near", ["both", "add-remove"])
def test_extremes_lose_no_more_than_epsilon(q, near, inside, monkeypatch):
    """Where rows are replaced, kept rows may leave or enter too."""
    monkeypatch.setattr(exponential, "INSIDE", inside)
    made = extreme(q, neighbors="replace" if near == "both" else near)
    every = [r for n in range(7) for r in itertools.combinations_with_replacement(range(5), n)]

    def lost(rate):
        pmfs = {}
        for rows in every:
            target, each = Fraction(made.target(len(rows)), RANK), [(x, 1) for x in rows]
            pmfs[rows] = exact.leaf(each, (0, 4), target, rate, made.params.share)
        pairs = near_pairs(pmfs, near, range(5))
        return max(float(np.abs(pmfs[a] - pmfs[b]).max()) for a, b in pairs)

    assert lost(made.rate) <= EPSILON + 1e-12
    assert inside == 14 or lost(2 * made.rate) > EPSILON  # planted: the rate of the target T = 0


@pytest.mark.parametrize("kind", [
    partial(dp.Quantile, q=0.3),
    *(partial(dp.Quantiles, qs=[0.2, 0.9], method=method) for method in ("joint", "recursive")),
])  # fmt: skip
def test_masked_quantiles_are_those_of_all_rows(kind):
    statistic, given = kind(bounds=(0, 4), nan="lower"), {"epsilon": EPSILON, "unit": "replace"}
    whole, some = (innermost(statistic.measure(**given, where=w).inner) for w in (False, True))
    assert whole == some and type(whole) is type(some)


@pairwise
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("n", [1, 2, 5, 11, 40])
def test_robust_means_are_those_of_cells_to_the_last_bit(n, mean, neighbors):
    rng = np.random.default_rng(n)
    for rows in (rng.normal(0, 3, n), rng.integers(-3, 4, n), np.full(n, 0.1)):
        proportion = Fraction(1, 5)
        statistic = mean(proportion=proportion, bounds=(-1.0, 2.5))
        made = innermost(statistic.measure(epsilon=1, unit=neighbors).inner)
        grid = made.cells
        ascending = sorted(quantise.cells(rows.tolist(), grid.grid, grid.first, grid.span))
        cut = math.floor(proportion * n)
        kept = ascending[cut : n - cut]
        if mean is dp.WinsorizedMean:
            kept += [kept[0]] * cut + [kept[-1]] * cut
        exact_mean = (grid.first + Fraction(sum(kept), len(kept))) * Fraction(grid.grid)
        value, _ = made.reduce(as_source(np.asarray(rows, float)))
        assert value == min(max(float(exact_mean), -1.0), 2.5)


def test_few_rows_have_the_middle_for_their_extremes():
    made = extreme(0)
    assert made.ranks == math.ceil(14 / Fraction(made.rate))
    assert made.target(10) == 5 * RANK == extreme(1).target(10)
    inside = made.ranks * RANK - RANK // 2
    assert made.target(1000) == inside and extreme(1).target(1000) == 1000 * RANK - inside


def test_two_steps_share_a_loss():
    """Either has as much of delta as two cost together; what is too small is said to be a part."""
    budget, rows = dp.Budget(epsilon=1, delta=1e-6), np.arange(50.0)
    asked = {"bounds": (0, 50), "where": rows > 3, "neighbors": "replace", "budget": budget}
    for bad in ({"rho": 1e-12}, {"epsilon": 1, "delta": 1e-300}):
        own = {**asked, "budget": dp.Budget(epsilon=1)} if "rho" in bad else asked
        with pytest.raises(ArgumentError, match="a replaced row is two steps here"):
            dp.trimmed_mean(rows, noise="auto", **bad, **own)
    assert not budget.history
    dp.trimmed_mean(rows, epsilon=1, delta=1e-6, noise="gaussian", **asked)
    (line,) = budget.history
    assert isinstance(line.loss, Approx) and line.loss.epsilon == 1
    assert Fraction(999_999, 10**12) < line.loss.delta <= Fraction(1, 10**6)
