"""Beside dp-accounting: our conversions, and its distributions through our names.

Needs the `accounting` extra (part of `test`).
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.privacy import ZCDP, Approx, LossDistribution, Pure, optimal_composition

from ..reference.privacy import losses as plain
from ..support.pairwise import quick_rows

DELTA = Fraction(1, 10**6)


@quick_rows(1)
@pytest.mark.parametrize("rho", [0.001, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 0.01])
def test_zcdp_to_approx_beside_dp_accounting(rho, delta):
    """Theirs minimises over a grid of orders, so it is never less, and with a fine grid as much."""
    from dp_accounting.rdp import compute_epsilon

    best = 1 + math.sqrt(math.log(1 / delta) / rho)
    orders = np.unique(np.concatenate([1 + np.geomspace(0.01, 10, 400) * (best - 1)]))
    theirs, _ = compute_epsilon(orders, rho * orders, delta)
    ours = float(ZCDP(rho).to_approx(delta).epsilon)
    assert ours <= theirs * (1 + 1e-12)
    assert theirs <= ours * (1 + 1e-3)


@quick_rows(3)
@pytest.mark.parametrize("each", [Pure(0.1), Approx(0.1, 1e-8), Pure(1)])
@pytest.mark.parametrize("times", [1, 10, 50])
def test_composition_of_equal_losses(each, times):
    """Two accounts of the same thing, the one exact, the other on a grid and pessimistic."""
    exact = float(optimal_composition(each, times, delta=DELTA).epsilon)
    found = float(LossDistribution.of(each).times(times).to_approx(DELTA).epsilon)
    assert exact * (1 - 1e-9) <= found <= exact + times * 1e-4


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_gaussian(scale):
    """k releases of scale s are one of s / sqrt(k), of which delta is known in closed form."""
    k = 16
    many = LossDistribution.gaussian(scale).times(k)
    rho = Fraction(k) / (2 * Fraction(scale) ** 2)
    for epsilon in (0.5, 2.0):
        with mpmath.workdps(plain.DIGITS):
            exact = float(plain.gaussian_delta(rho, epsilon))
        found = float(many.to_approx_delta(epsilon).delta)
        assert exact <= found <= exact * (1 + 1e-3) + 2e-12
    assert many.to_approx(DELTA).epsilon < ZCDP(rho).to_approx(DELTA).epsilon


def test_laplace_and_compose():
    one = LossDistribution.laplace(2.0)
    assert float(one.to_approx(DELTA).epsilon) <= 0.5 + 1e-6
    # delta of one Laplace release at epsilon: 1 - exp((epsilon - 1 / b) / 2).
    exact = -math.expm1((0.2 - 0.5) / 2)
    found = float(one.to_approx_delta(0.2).delta)
    assert exact <= found <= exact * (1 + 1e-3)
    both = one.compose(LossDistribution.of(Pure(0.5)))
    assert float(one.to_approx(DELTA).epsilon) < float(both.to_approx(DELTA).epsilon) <= 1 + 1e-3


def test_bad_arguments():
    kind, of = LossDistribution.of(Approx(1, 0.01)), LossDistribution
    for call in (
        lambda: kind.to_approx(1e-13),
        lambda: kind.to_approx(0.001),
        lambda: kind.times(0),
        lambda: of.gaussian(0),
        lambda: of.randomized_response(701),
        lambda: of.laplace(1, sensitivity=-1),
        lambda: of.of(Pure(1000)),
        lambda: of.gaussian(1e-3),
        lambda: of.gaussian(1e-300, sensitivity=1e300),
        lambda: of.laplace(1, interval=1e-12),
        lambda: of.discrete_laplace(1e-320),
        lambda: of.of(Pure(1), interval=1e-9),
        lambda: of.laplace(1).compose(of.laplace(1, interval=1e-3)),
    ):
        with pytest.raises(ArgumentError):
            call()
    for call in (lambda: of.of(ZCDP(1)), lambda: kind.compose(1)):
        with pytest.raises(ArgumentTypeError):
            call()


def test_a_missing_library_is_named(monkeypatch):
    library = "dp_accounting.pld.privacy_loss_distribution"
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match="pip install dp-accounting"):
        LossDistribution.gaussian(1.0)


@pytest.mark.parametrize("categories", [2, 5])
def test_randomized_response(categories):
    """Its delta at e is p - exp(e) q, with p for the truth and q for each other answer."""
    epsilon, wanted = 1.5, 0.7
    rest = math.exp(epsilon) + categories - 1
    exact = (math.exp(epsilon) - math.exp(wanted)) / rest
    kind = LossDistribution.randomized_response(epsilon, categories=categories)
    found = float(kind.to_approx_delta(wanted).delta)
    assert exact <= found <= exact * (1 + 1e-3)
    assert float(kind.to_approx(DELTA).epsilon) <= epsilon + 2e-4


def test_discrete_laplace():
    kind = LossDistribution.discrete_laplace(2.0)
    assert 0.49 < float(kind.to_approx(DELTA).epsilon) <= 0.5
