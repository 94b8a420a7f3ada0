"""Numbers of the caller's with noise: cells, sensitivities in cells, and what is charged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.privacy import ZCDP, Pure
from dpfast.statistics import additive_release as module
from dpfast.statistics.additive_release import in_cells, width_of_cells

from ..support.views import quoted


def made(values=0.5, **kw):
    return quoted(dp.additive_release, values, **{"sensitivity": 0.3, "epsilon": 1, **kw})


def farthest(size, norm, grid, whole, planted=0):
    """What L1, L2 squared and L-infinity norms of differences of cells exceed, by enumeration."""
    steps = range(-4, 5) if whole else [k / 4 for k in range(-8, 9)]
    sensitivity = Fraction(3 if whole else 1)
    limit = in_cells(sensitivity, norm, size, grid, whole)
    over = []
    for first, second in itertools.product(itertools.product(steps, repeat=size), repeat=2):
        moved = [Fraction(a) - Fraction(b) for a, b in zip(first, second, strict=True)]
        length = sum(map(abs, moved)) if norm == "l1" else sum(x * x for x in moved)
        if length > (sensitivity if norm == "l1" else sensitivity**2):
            continue
        cells = [
            math.floor(a / grid) - math.floor(b / grid) for a, b in zip(first, second, strict=True)
        ]
        if (
            sum(map(abs, cells)) > limit.l1 - planted
            or sum(c * c for c in cells) > limit.l2_squared
            or max(map(abs, cells)) > limit.largest
            or sum(c != 0 for c in cells) > limit.l0
        ):
            over.append(cells)
    return over


@pytest.mark.full
@pytest.mark.parametrize("norm", ["l1", "l2"])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("whole", [False, True])
def test_no_numbers_are_further_apart_than_noise_is_made_for(norm, size, whole):
    assert farthest(size, norm, 1.0 if whole else 0.5, whole) == []


def test_a_sensitivity_that_is_too_small_is_caught():
    """Planted: one cell less in L1."""
    assert farthest(1, "l1", 1.0, True) == [] != farthest(1, "l1", 1.0, True, planted=1)


def test_the_grid_is_public_and_noise_is_on_it():
    assert made().grid == made(1e300).grid == width_of_cells(Fraction(3, 10))
    found = [dp.additive_release(0.7, sensitivity=0.3, epsilon=1) for _ in range(20)]
    assert all(Fraction(x) % Fraction(made().grid) == 0 for x in found)
    assert len(set(found)) == 20  # two alike by chance: 190 / (4 * 1.3e9) < 4e-8
    answer = dp.additive_release(np.arange(6).reshape(2, 3), sensitivity=1, epsilon=400)
    assert answer.shape == (2, 3) and np.abs(answer - np.arange(6).reshape(2, 3)).max() < 0.5
    assert isinstance(dp.additive_release(3, sensitivity=1, epsilon=1, whole=True), int)


def test_what_noise_is_made():
    assert made().noise.distribution == "laplace"
    assert made(epsilon=5).noise.distribution == "staircase"
    assert made(epsilon=5, noise="laplace").noise.distribution == "laplace"
    assert made(epsilon=None, rho=0.1).noise.distribution == "gaussian"
    assert made(delta=1e-2, noise="gaussian").noise.distribution == "rounded-gaussian"
    ball = made(np.zeros(100), norm="l2", delta=1e-5).noise
    assert ball.deviation < made(np.zeros(100), norm="l2").noise.deviation
    # One number of sensitivity D has the noise of D / epsilon, to a part in 2**29.
    ratio = made().noise.deviation * made().grid / (math.sqrt(2) * 0.3)
    assert 1 <= ratio < 1 + 2**-28
    budget = dp.Budget(rho=1, neighbors="replace")
    of_two = {"sensitivity": 1, "norm": "l2", "rho": 0.25, "neighbors": "replace"}
    dp.additive_release([1.0, 2.0], **of_two, budget=budget)
    assert budget.history[0].loss == ZCDP(0.25) and budget.neighbors == "replace"
    assert made(noise="laplace", epsilon=2).loss.epsilon == Pure(2).epsilon


def test_large_and_small_values():
    for value in (1e300, -1e300, 5e-324, 2**80, np.float32(3), np.uint64(2**63), Fraction(1, 3)):
        found = dp.additive_release(value, sensitivity=1e-3, epsilon=100)
        assert found == pytest.approx(float(value), abs=1e-3)
    wide = dp.additive_release([1e300, 1.0], sensitivity=1e-3, epsilon=100)
    assert wide == pytest.approx([1e300, 1.0], abs=1e-2)
    whole = dp.additive_release(2**90 + 1, sensitivity=1, epsilon=500, whole=True)
    assert whole == 2**90 + 1
    huge = dp.additive_release(1.7e308, sensitivity=1e300, epsilon=1)
    assert math.isfinite(huge)


@pytest.mark.full
def test_the_distribution_of_an_answer():
    """Half of the answers are within ln(2) scales, and not so for a planted scale."""
    answers = dp.additive_release(np.zeros(4000), sensitivity=1, epsilon=0.5, noise="laplace")
    share, spread = np.mean(np.abs(answers) < 2 * math.log(2)), 5 * math.sqrt(0.25 / 4000)
    assert abs(share - 0.5) < spread < abs(np.mean(np.abs(answers) < 1) - 0.5)


def test_what_is_refused():
    for value in (math.nan, math.inf, [1.0, math.nan]):
        budget = dp.Budget(epsilon=2)
        with pytest.raises(DataError, match="none is shown"):
            dp.additive_release(value, sensitivity=1, epsilon=1, budget=budget)
        assert len(budget.history) == 1
    with pytest.raises(DataError, match="whole"):
        dp.additive_release(0.5, sensitivity=1, epsilon=1, whole=True)
    for value in (None, "7654321", 1j, [], object()):
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            dp.additive_release(value, sensitivity=1, epsilon=1)
        assert "7654321" not in str(caught.value)
    for kw in ({"noise": "staircase", "rho": 1, "epsilon": None}, {"noise": "gaussian"},
               {"whole": True}, {"noise": "staircase", "values": [1, 2]}):  # fmt: skip
        with pytest.raises(ArgumentError):
            made(**kw)
    assert module.NORMS == ("l1", "l2")
