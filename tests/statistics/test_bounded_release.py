"""Numbers of the caller's within bounds: cells, methods, error bars and what is charged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, DataError
from dpfast.noise.calibrated_integer import integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.bounded_release import METHODS, folded

from ..support.pairwise import quick_rows
from ..support.views import quoted

GIVEN = {"bounds": (-1.0, 3.0), "sensitivity": 0.25}
LOSSES = [{"epsilon": 1.0}, {"rho": 0.3}, {"epsilon": 0.5, "delta": 1e-6}]


def made(value=0.5, **kw):
    return quoted(dp.bounded_release, value, **{**GIVEN, "epsilon": 1, **kw})


@quick_rows(3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_answers_lie_in_the_bounds_near_the_value(method, loss):
    given = {**GIVEN, **loss, "method": method}
    mechanism = quoted(dp.bounded_release, 0.5, **given)
    rng = InsecureGenerator(2)
    found = np.array([mechanism.finish(mechanism.reduce(0.5), rng) for _ in range(800)])
    assert found.min() >= -1 and found.max() <= 3
    grid = Fraction(mechanism.cells.grid)
    assert all(Fraction(one) % grid == 0 for one in found.tolist())
    bar = mechanism.error(None, 0.95).half_width
    limit = 0.05 + 5 * math.sqrt(0.05 / 800)
    off = np.abs(found - 0.5)
    assert np.mean(off > bar) <= limit < np.mean(off > 0.4 * bar)
    at_ends = np.mean((found == -1) | (found == 3))
    assert method == "truncated" or at_ends < 0.01


def test_no_value_moves_further_than_the_noise_is_made_for():
    """By enumeration of float64 values: as many cells as are said, and that is reached."""
    mechanism = made()
    values = np.unique(np.r_[np.linspace(-1.2, 3.2, 400), np.nextafter(0.5, [0, 1]), 0.25, 0.5])
    cells = np.array([mechanism.reduce(x) for x in values.tolist()])
    moves = [
        np.abs(cells[i] - cells[values <= x + 0.25][-1]) for i, x in enumerate(values.tolist())
    ]
    assert max(moves) <= mechanism.moved == math.ceil(0.25 / mechanism.cells.grid)
    assert mechanism.reduce(0.75) - mechanism.reduce(0.5) == mechanism.moved
    assert mechanism.moved > 0.2 / mechanism.cells.grid  # planted: a smaller sensitivity
    assert made(sensitivity=100).moved == mechanism.cells.span  # no more than there is


def test_which_noise_and_what_is_charged():
    unit = made().moved
    for method in METHODS[1:]:
        assert made(method=method).noise == integer_noise(Pure(1), Sensitivity.of_one(unit))
    domain = made().domain
    assert unit < domain.scale <= 2 * unit and domain.most == made().cells.span
    budget = dp.Budget(epsilon=3, delta=1e-6)
    dp.bounded_release(0.5, **GIVEN, epsilon=1, delta=1e-7, budget=budget)
    assert budget.spent == {"epsilon": 1, "delta": 0}
    ledger = dp.Budget(rho=1)
    dp.bounded_release(0.5, **GIVEN, rho=0.25, budget=ledger)
    assert ledger.spent["rho"] == Fraction(1, 4)
    part = dp.privacy.pure_within(0.25)
    assert made(epsilon=None, rho=0.25).domain == made(epsilon=part).domain
    assert made(epsilon=None, rho=0.25).loss == ZCDP(0.25)


def test_a_small_loss_and_the_grid():
    """Nearly even answers, at once; the grid depends on the bounds alone."""
    assert made(epsilon=1).cells == made(3.0, epsilon=Fraction(1, 2**28)).cells
    small = {**GIVEN, "epsilon": Fraction(1, 2**28)}
    found = np.array([dp.bounded_release(0.5, **small) for _ in range(200)])
    # Six deviations of a mean, and as many of a variance: by chance less than 4e-9.
    assert abs(found.mean() - 1) < 6 * 4 / math.sqrt(12 * 200) and found.std() > 0.9


def test_a_bound_and_beyond():
    for method in METHODS:
        given = {"sensitivity": 1e-9, "epsilon": 400, "method": method}
        for value in (-1e300, -math.inf, -1.0):
            assert dp.bounded_release(value, bounds=(-1, 3), **given) == pytest.approx(-1, abs=1e-6)
        assert dp.bounded_release(7, bounds=(2, 2), **given) == 2.0
        answers = [dp.bounded_release(3.0, **GIVEN, epsilon=1, method=method) for _ in range(99)]
        # Half of the truncated ones; of others one in 1e8, so two by chance less than 1e-12.
        assert (answers.count(3.0) > 1) == (method == "truncated") and max(answers) <= 3


def test_folding():
    line = [folded(u, 4) for u in range(-9, 10)]
    assert line == [1, 0, 1, 2, 3, 4, 3, 2, 1, 0, 1, 2, 3, 4, 3, 2, 1, 0, 1]
    steps = {abs(a - b) for a, b in itertools.pairwise(line)}
    assert steps == {1} and {folded(u, 1) for u in range(-3, 4)} == {0, 1}


def test_what_is_refused():
    for value in (math.nan, None, "x", True):
        budget = dp.Budget(epsilon=2)
        with pytest.raises(DataError, match="value must be a number, not NaN; its value is not"):
            dp.bounded_release(value, **GIVEN, epsilon=1, budget=budget)
        assert len(budget.history) == 1
    for kw in ({"sensitivity": 0}, {"method": "clamped"}, {"bounds": (1, 0)}):
        with pytest.raises(ArgumentError):
            dp.bounded_release(0.5, **{**GIVEN, "epsilon": 1, **kw})
