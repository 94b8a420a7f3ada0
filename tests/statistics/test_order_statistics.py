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
from dpfast.statistics.quantiles.exponential import ExponentialExtreme, ExponentialQuantile
from dpfast.statistics.quantiles.joint import spread
from dpfast.summaries.cells import cells
from dpfast.tables import as_source
from dpfast.tables.intake import one_column, read

from ..reference.statistics import exponential_quantiles as exact
from ..reference.statistics import joint_quantiles as joint
from ..reference.statistics import recursive_quantiles as recursive
from ..reference.summaries import quantise
from ..support.pairwise import pairwise, quick_rows
from ..support.views import innermost
from .test_replay_smooth import loss

EPSILON = 0.7
SHARE = Fraction(1, 4)
MEANS = ["trimmed", "winsorized"]
STATISTICS = {
    "minimum": dp.Minimum, "maximum": dp.Maximum, "iqr": dp.Iqr,
    "trimmed": partial(dp.TrimmedMean, proportion=SHARE),
    "winsorized": partial(dp.WinsorizedMean, proportion=SHARE),
    "quantile": partial(dp.Quantile, q=Fraction(3, 10)),
}  # fmt: skip


def smooth(name, neighbors="replace", some=False, nan="lower", bounds=(0, 10), epsilon=EPSILON):
    """The mechanism with Cauchy noise."""
    statistic = STATISTICS[name](bounds=bounds, nan=nan, noise="cauchy")
    return statistic.measure(epsilon=epsilon, unit=neighbors, where=some).inner


def outcome(made, rows, kept=None):
    """The value and the scale of the noise."""
    where = None if kept is None else np.array(kept, bool)
    value, S = made.reduce(
        read(np.array(rows, float), one_column, relation=made.neighbors, where=where)
    )
    return value, S / innermost(made).calibration.alpha


def datasets(domain, sizes):
    domain = sorted(domain, key=str)
    return [r for n in sizes for r in itertools.combinations_with_replacement(domain, n)]


@pytest.mark.parametrize("name", MEANS)
def test_what_rounding_moves_is_covered(name):
    """Cells so coarse that the rounded means differ by more than the rows let them."""
    made = innermost(smooth(name))
    coarse = OfKept(dataclasses.replace(made, cells=cells(0.0, 10.0, 2)))
    grid, alpha = coarse.inner.cells.grid, made.calibration.alpha
    assert grid == 2
    # 4.9 and 5.1 are on cells 2 apart.
    found = [outcome(coarse, (4.9,) * (60 - j) + (5.1,) * j) for j in range(61)]
    assert max(loss(a, b) for a, b in itertools.pairwise(found)) <= EPSILON
    # The planted fault: the bound of the rows as they are.
    bare = [(f, s - grid / alpha) for f, s in found]
    assert max(loss(a, b) for a, b in itertools.pairwise(bare)) > EPSILON


def extreme(q, epsilon=EPSILON, neighbors="replace", last=4.0):
    """With cells 0, 1, 2, ... and few enough ranks inside."""
    loss = Pure(Fraction(str(epsilon)))
    made = ExponentialExtreme(0.0, last, neighbors, "raise", loss, q=Fraction(q))
    object.__setattr__(made, "grid", 1.0)
    object.__setattr__(made, "base", Base(0, int(last)))
    return made


def log_pmf(made, rows, rate=None):
    """Of the cells, all alike."""
    target, rate = Fraction(made.target(len(rows)), RANK), made.rate if rate is None else rate
    return exact.leaf([(x, 1) for x in rows], (0, 4), target, rate, made.params.share)


def most_lost(pmfs, neighbors, some=False):
    """The largest loss of datasets of kept rows; with `some` kept rows may leave or enter too."""
    most = 0.0
    for rows in pmfs:
        for rest in (rows[:i] + rows[i + 1 :] for i in range(len(rows))):
            around = [rest] if neighbors == "add-remove" or some else []
            if neighbors == "replace":
                around += [tuple(sorted((*rest, v))) for v in range(5)]
            most = max(most, *(float(np.abs(pmfs[rows] - pmfs[other]).max()) for other in around))
    return most


@quick_rows(2)
@pytest.mark.parametrize("inside", [0.3, 0.7, 14])
@pytest.mark.parametrize("q", [0, 1])
@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_extremes_lose_no_more_than_epsilon(q, neighbors, some, inside, monkeypatch):
    monkeypatch.setattr(exponential, "INSIDE", inside)
    made = extreme(q, neighbors=neighbors)
    every = datasets(range(5), range(7))
    pmfs = {rows: log_pmf(made, rows) for rows in every}
    assert most_lost(pmfs, neighbors, some) <= EPSILON + 1e-12
    if inside < 14:
        # The planted fault: the rate of the target T = 0.
        doubled = {rows: log_pmf(made, rows, 2 * made.rate) for rows in every}
        assert most_lost(doubled, neighbors) > EPSILON


@quick_rows(1)
@pytest.mark.parametrize("q", [0, Fraction(1, 3), Fraction(1, 2), 1])
def test_quantiles_of_some_rows_cost_no_more(q):
    """A row that is replaced may leave the kept rows or enter: the same rate covers that."""
    statistic = dp.Quantile(q=q, bounds=(0, 4), method="exponential")
    made = statistic.measure(epsilon=EPSILON, unit="replace", where=True).inner.inner
    assert type(made) is ExponentialQuantile
    for factor, private in ((1, True), (2, False)):
        pmfs = {
            r: exact.column(r, q, factor * made.rate, 4, made.params.share)
            for r in datasets(range(5), range(7))
        }
        assert (most_lost(pmfs, "replace", some=True) <= EPSILON + 1e-12) == private


@pytest.mark.parametrize("qs", [(SHARE, Fraction(3, 4)), (0, Fraction(1, 2), Fraction(2, 3))])
@pytest.mark.parametrize("kind", ["pure", "zcdp"])
def test_recursive_quantiles_of_some_rows_cost_no_more(kind, qs):
    loss, every = recursive.Loss(kind, 0.5, "replace"), datasets(range(3), range(4))
    pmfs = {r: recursive.recursive(r, list(qs), loss, range(3), 2) for r in every}
    less = ((pmfs[r], pmfs[r[:i] + r[i + 1 :]]) for r in every for i in range(len(r)))
    for a, b in (pair[::way] for pair in less for way in (1, -1)):
        if kind == "pure":
            assert recursive.losses(a, b)[-1] <= loss.amount + 1e-9
        else:
            for order in (1.5, 2, 8):
                assert recursive.renyi(a, b, order) <= loss.amount * order + 1e-9


def test_joint_quantiles_of_some_rows_cost_no_more():
    qs, every = (SHARE, Fraction(2, 3)), datasets(range(3), range(5))
    for factor, private in ((1, True), (3, False)):
        c, pmfs = factor * EPSILON / float(spread(qs, "replace")), {}
        for rows in every:
            pmf = joint.pmf(rows, 0, 2, qs, c)
            pmfs[rows] = np.log([float(pmf[cells]) for cells in sorted(pmf)])
        left = (pmfs[r] - pmfs[r[:i] + r[i + 1 :]] for r in every for i in range(len(r)))
        assert (max(np.abs(one).max() for one in left) <= EPSILON + 1e-12) == private


@pairwise
@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("name", MEANS)
@pytest.mark.parametrize("n", [1, 2, 5, 11, 40])
def test_robust_means_are_those_of_cells_to_the_last_bit(n, name, neighbors):
    rng = np.random.default_rng(n)
    for rows in (rng.normal(0, 3, n), rng.integers(-3, 4, n), np.full(n, 0.1)):
        proportion = Fraction(1, 5)
        mean = dp.WinsorizedMean if name == "winsorized" else dp.TrimmedMean
        statistic = mean(proportion=proportion, bounds=(-1.0, 2.5))
        made = innermost(statistic.measure(epsilon=1, unit=neighbors).inner)
        grid = made.cells
        ascending = sorted(quantise.cells(rows.tolist(), grid.grid, grid.first, grid.span))
        cut = math.floor(proportion * n)
        kept = ascending[cut : n - cut]
        if name == "winsorized":
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
        with pytest.raises(ArgumentError, match="the part of the loss for each of two steps"):
            dp.trimmed_mean(rows, noise="auto", **bad, **own)
    assert not budget.history
    dp.trimmed_mean(rows, epsilon=1, delta=1e-6, noise="gaussian", **asked)
    (line,) = budget.history
    assert isinstance(line.loss, Approx) and line.loss.epsilon == 1
    assert Fraction(999_999, 10**12) < line.loss.delta <= Fraction(1, 10**6)
