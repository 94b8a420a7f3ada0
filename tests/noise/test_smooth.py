"""Every calibration against an independent audit of the worst pair, with negative controls."""

import functools
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest

from dpfast._core.types import NoiseName
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.noise import distributions, numeric
from dpfast.noise.smooth import NOISES, arsinh_normal, calibrate, gaussian, polyplace
from dpfast.noise.smooth.algebraic import cauchy, generalized_cauchy, student_t
from dpfast.noise.smooth.calibration import pure_epsilon
from dpfast.noise.smooth.pair import weight

from ..reference.noise import smooth_calibration as audit
from ..reference.sensitivity import quantile as quantiles
from ..support.pages import program
from ..support.pairwise import every_value, quick_rows

EPSILONS = (1e-3, 0.05, 0.3, 1.0, 3.0, 8.0, 20.0)
EXACT = ("polyplace", "polyplace-finite-variance", "cauchy", "student-t", "generalized-cauchy")
LOOSE = (
    "polyplace-hladik-tetek",
    "cauchy-nrs",
    "cauchy-lecture",
    "student-t-bun-steinke",
    "generalized-cauchy-nrs",
)
published = program("published")
# numeric error of the audit: cancellation in log p/q of order 1e-13, and the search between points
TOLERANCE = 1e-9


def slack(c):
    return c.beta + 2.0**-40


# ---- pure losses ---------------------------------------------------------------------------------


@every_value
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("noise", EXACT + LOOSE)
def test_pure_loss_is_never_above_epsilon(noise, epsilon):
    c = (published.calibrate if noise in LOOSE else calibrate)(noise, epsilon=epsilon)
    loss = audit.worst_loss(c.distribution, c.alpha, slack(c))
    assert loss <= epsilon * (1 + TOLERANCE) + 1e-13
    assert (c.epsilon, c.rho) == (pytest.approx(epsilon), None)
    if noise in EXACT:
        assert loss > 0.9999 * epsilon


@every_value
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("noise", EXACT)
def test_the_audit_catches_an_alpha_or_a_beta_that_is_too_large(noise, epsilon):
    c = calibrate(noise, epsilon=epsilon)
    assert audit.worst_loss(c.distribution, 1.03 * c.alpha, slack(c)) > epsilon * (1 + 1e-6)
    if noise != "cauchy" or epsilon < 1:  # alone beta is not always binding: then the tails are
        assert audit.worst_loss(c.distribution, c.alpha, 1.05 * c.beta) > epsilon * (1 + 1e-6)


def test_the_audit_catches_the_lecture_constants_at_gamma_ten():
    for epsilon, ratio in ((0.1, 1.046), (1.0, 1.038), (3.0, 1.019)):
        kind = distributions.GeneralizedCauchy(10)
        loss = audit.worst_loss(kind, epsilon / 40, epsilon / 10)
        assert loss / epsilon == pytest.approx(ratio, abs=6e-4)
    for gamma, good in ((2, 0.509), (3, 0.703), (4, 0.811), (6, 0.930)):
        loss = audit.worst_loss(distributions.GeneralizedCauchy(gamma), 1 / (4 * gamma), 1 / gamma)
        assert loss == pytest.approx(good, abs=6e-4)


def test_the_audit_catches_scaling_by_epsilon_alone():
    # "Multiply the smooth sensitivity by 1/epsilon": nothing is left for the dilation.
    assert audit.worst_loss(distributions.Cauchy(), 0.1, 0.07) > 0.115
    # Laplace noise has no finite loss under a dilation.
    assert audit.worst_loss(distributions.Laplace(), 0.5, 0.01) > 1e6


def test_cauchy_and_student_closed_forms_as_printed():
    for epsilon in (0.01, 0.7, 5.0):
        for share in (0.1, 0.6, 0.95):
            b = share * epsilon
            alpha = min(
                2 * math.sinh(epsilon / 2),
                math.sqrt(2 * math.exp(b) * (math.cosh(epsilon) - math.cosh(b))),
            )
            assert cauchy.alpha_of_beta(epsilon, b) == pytest.approx(alpha, rel=1e-10)
            for df in (1, 3, 7):
                b = share * epsilon / df
                e = (2 * epsilon - (df - 1) * b) / (df + 1)
                alpha = math.sqrt(df) * min(
                    2 * math.sinh(epsilon / (df + 1)),
                    math.sqrt(2 * math.exp(b) * (math.cosh(e) - math.cosh(b))),
                )
                assert student_t(df).alpha_of_beta(epsilon, b) == pytest.approx(alpha, rel=1e-10)


@pytest.mark.full
@quick_rows(14)
@pytest.mark.parametrize("shape", [1.05, 1.5, 2.5, 4.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.02, 0.5, 2.0, 6.0])
def test_polyplace_exact_alpha_for_any_shape_and_beta(shape, epsilon):
    kind = distributions.PolyPlace(shape)
    for part in (0.3, 0.999999):
        beta = part * epsilon / shape
        alpha = polyplace.alpha_of_beta(shape, epsilon, beta)
        loss = audit.worst_loss(kind, alpha, beta)
        assert 0.9999 * epsilon < loss <= epsilon * (1 + TOLERANCE)
    assert polyplace.alpha_of_beta(shape, epsilon, 1.01 * epsilon / shape) == 0.0


@pytest.mark.full
def test_algebraic_alpha_for_any_beta_and_gamma():
    for gamma, epsilon, part in itertools.product((2, 3, 5, 8, 12), (0.1, 2.0), (0.2, 0.9)):
        beta = part * epsilon / (gamma - 1)
        alpha = generalized_cauchy(gamma).alpha_of_beta(epsilon, beta)
        loss = audit.worst_loss(distributions.GeneralizedCauchy(gamma), alpha, beta)
        assert 0.9999 * epsilon < loss <= epsilon * (1 + TOLERANCE)
    assert generalized_cauchy(4).alpha_of_beta(1.0, 0.34) == 0.0
    assert student_t(3).alpha_of_beta(1.0, 0.34) == 0.0


def test_the_best_beta_is_the_best():
    for family in (cauchy, student_t(), generalized_cauchy()):
        for epsilon in (0.01, 0.4, 1.0, 2.5):
            best = family.draft(epsilon)
            most = best.alpha * weight(best.beta) * (1 + 1e-6)
            for beta in np.linspace(0.002, 0.999, 500) * epsilon:
                assert family.alpha_of_beta(epsilon, beta) * weight(beta) <= most
    small = calibrate("cauchy", epsilon=1e-3)
    assert small.beta / 1e-3 == pytest.approx(math.sqrt(0.5), abs=2e-3)
    large = calibrate("cauchy", epsilon=6.0)
    assert large.alpha == pytest.approx(2 * math.sinh(3.0), rel=1e-9)  # what a pure shift allows


def test_gains_over_the_published_constants():
    def gain(noise, old, epsilon):
        a, b = calibrate(noise, epsilon=epsilon), published.calibrate(old, epsilon=epsilon)
        return a.alpha * a.beta / (b.alpha * b.beta)

    assert gain("cauchy", "cauchy-lecture", 0.1) == pytest.approx(8.3, abs=0.05)
    assert gain("cauchy", "cauchy-nrs", 0.1) == pytest.approx(18.7, abs=0.1)
    assert gain("student-t", "student-t-bun-steinke", 0.1) == pytest.approx(2.3, abs=0.05)
    assert gain("generalized-cauchy", "generalized-cauchy-nrs", 0.1) == pytest.approx(4.7, abs=0.05)


# ---- (epsilon, delta) ----------------------------------------------------------------------------


@quick_rows(2)
@pytest.mark.parametrize(
    "epsilon, delta",
    [
        *((1e-6, 1e-9), (1e-3, 1e-12), (0.1, 1e-30), (1.0, 1e-6), (1.0, 1e-100), (2.0, 1e-299)),
        *((3.0, 0.01), (1.0, 0.3), (20.0, 1e-10), (200.0, 1e-20), (500.0, 1e-300)),
    ],
)
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_hockey_stick_in_high_precision(noise, epsilon, delta):
    c = calibrate(noise, epsilon=epsilon, delta=delta)
    digits = 700 if delta < 1e-20 else 90  # 1 - sf cancels down to delta
    beta = slack(c)
    worst = audit.exact_deltas(c.distribution, epsilon, c.alpha, beta, digits)
    assert max(worst) <= delta
    # tight, except where the side conditions of the proof bind
    ceiling = epsilon - beta if noise == "laplace" else gaussian._ceiling(epsilon, beta)
    if c.alpha < 0.999 * ceiling:
        assert max(worst) > delta * (1 - 1e-4)
    for part in (1e-3, 0.3, 0.7):
        assert (
            max(audit.exact_deltas(c.distribution, epsilon, c.alpha, part * beta, digits)) <= delta
        )
    over = audit.exact_deltas(c.distribution, epsilon, 1.05 * c.alpha, 1.05 * beta, digits)
    if delta < 0.01:
        assert max(over) > delta


@quick_rows(3)
@pytest.mark.parametrize("epsilon, delta", [(0.1, 1e-6), (1.0, 1e-6), (3.0, 1e-3), (1.0, 0.2)])
@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_full_dilation_is_the_worst(noise, epsilon, delta):
    """The monotonicity that the proofs claim, on a fine grid."""
    c = calibrate(noise, epsilon=epsilon, delta=delta)
    lams = np.linspace(0, slack(c), 101)[1:]
    first, second = zip(
        *(audit.exact_deltas(c.distribution, epsilon, c.alpha, lam, 40) for lam in lams),
        strict=True,
    )
    assert all(x <= y for x, y in itertools.pairwise(second))
    if noise == "laplace":
        assert max(first) == 0
    else:
        assert all(x >= y for x, y in itertools.pairwise(first))
    assert max(first) <= second[-1]


def test_published_approximate_constants_are_refused_where_they_break():
    assert published.calibrate("laplace-nrs", epsilon=10, delta=1e-6).alpha == pytest.approx(5)
    with pytest.raises(ValueError, match="published constants"):
        published.calibrate("laplace-nrs", epsilon=20, delta=1e-6)
    # and they do break there
    deltas = audit.exact_deltas(distributions.Laplace(), 20.0, 10.0, 10 / math.log(2e6))
    assert max(deltas) > 2e-6
    with pytest.raises(ValueError, match="published constants"):
        published.calibrate("gaussian-nrs", epsilon=200, delta=1e-6)
    pair = 200 / (5 * math.sqrt(2 * math.log(2e6))), 50 / (1 + math.log(2e6))
    assert max(audit.exact_deltas(distributions.Gaussian(), 200.0, *pair)) > 1e-6


@quick_rows(2)
@pytest.mark.parametrize(
    "epsilon, alpha, beta",
    [
        *((1e-6, 1e-7, 3e-8), (1e-3, 2e-4, 1e-5), (0.1, 0.01, 0.004), (1.0, 0.3, 0.05)),
        *((1.0, 0.0, 0.03), (1.0, 0.01, 0.9), (3.0, 1.2, 0.4), (20.0, 5.0, 1.0)),
        *((1.0, 0.02, 7e-4), (100.0, 3.0, 0.1)),
    ],
)
def test_divergences_to_full_precision(epsilon, alpha, beta):
    import mpmath as mp

    _, second = audit.exact_deltas(distributions.Gaussian(), epsilon, alpha, beta, 800)
    with mp.workdps(60):
        error = gaussian.log_delta_of_pair(epsilon, alpha, beta) - mp.log(second)
        assert abs(error) < 1e-11


def test_mills_ratio():
    import mpmath as mp

    def exact(x):
        x = mp.mpf(x)
        return mp.sqrt(mp.pi / 2) * mp.exp(x * x / 2) * mp.erfc(x / mp.sqrt(2))

    with mp.workdps(40):
        for x in [*np.linspace(0, 12, 97), 4.999999, 5.000001, 20, 37, 100, 1e3, 1e8]:
            assert abs(numeric.mills(x) / exact(x) - 1) < 1e-14
            for width in (1e-9, 1e-3, 0.2499, 0.2501, 2.0):
                if x < 50:
                    drop = exact(x) - exact(mp.mpf(x) + mp.mpf(width))
                    assert abs(numeric.mills_drop(x, width) / drop - 1) < 2e-12


# ---- rho -----------------------------------------------------------------------------------------

ORDERS = np.concatenate([1 + np.geomspace(1e-3, 1, 12), np.geomspace(2.1, 900, 60)])


@quick_rows(1)
@pytest.mark.parametrize("e", [0.05, 0.13, 0.4, 1.0, 2.1, 4.0])
def test_renyi_divergence_of_arsinh_normal(e):
    c = calibrate("arsinh-normal", rho=e * e / 2)
    orders = ORDERS[60 / e + 5 > ORDERS]
    beta = slack(c)
    worst = max(
        audit.renyi_rho(c.distribution.sigma, c.alpha, lam, orders)
        for lam in np.linspace(0, beta, 4)
    )
    assert 0.94 * e * e / 2 < worst <= e * e / 2  # table spacing and safety factor
    wider = (0, 1.05 * beta)
    over = max(audit.renyi_rho(c.distribution.sigma, 1.08 * c.alpha, lam, orders) for lam in wider)
    assert over > e * e / 2


def test_the_renyi_audit_catches_orders_near_one():
    """At e = 4 the worst order tends to 1; a search from order 1.01 on gave 3.452379."""
    orders = ORDERS[ORDERS < 20]
    assert audit.renyi_rho(0.9, 4 * 3.452379, 0.0, orders) > 8.03
    assert audit.renyi_rho(0.9, 4 * 3.452379, 0.0, orders[orders > 1.05]) < 8.0


@pytest.mark.full
def test_arsinh_small_budgets():
    """The limit of the divergence for a vanishing budget: cumulants of the score."""
    kind = calibrate("arsinh-normal", rho=1e-6).distribution
    shift = arsinh_normal.TINY_SHIFT
    assert 0.99 < audit.renyi_limit(kind.sigma, shift, arsinh_normal.SHARE) <= 1.0
    assert audit.renyi_limit(kind.sigma, 1.02 * shift, arsinh_normal.SHARE) > 1.0
    for rho in (1e-11, 1e-8, 1e-6, 1e-4):
        e = math.sqrt(2 * rho)
        c = calibrate("arsinh-normal", rho=rho)
        assert c.alpha / e > 0.98 * shift
        assert 0.59 < c.beta / e < 0.6
    with pytest.raises(ArgumentError, match=r"rho must be at least 2\*\*-41"):
        calibrate("arsinh-normal", rho=1e-13)


@pytest.mark.slow
def test_every_entry_of_the_arsinh_table():
    for e, shift in arsinh_normal._ENTRIES[1:]:
        orders = ORDERS[60 / e + 5 > ORDERS]
        worst = max(
            audit.renyi_rho(arsinh_normal.SIGMA, e * shift, lam, orders, 0.02)
            for lam in (0, 0.5 * e * arsinh_normal.SHARE, e * arsinh_normal.SHARE)
        )
        assert 0.99 < worst / (e * e / 2) <= 1.0


def test_arsinh_published_leaves_the_divergence_below_rho():
    for e in (0.1, 1.0, 3.0):
        c = published.calibrate("arsinh-normal-bun-steinke", rho=e * e / 2)
        worst = max(
            audit.renyi_rho(c.distribution.sigma, c.alpha, lam, ORDERS[60 / e + 5 > ORDERS], 0.02)
            for lam in (0, slack(c))
        )
        assert worst <= e * e / 2
        tight = calibrate("arsinh-normal", rho=e * e / 2)
        assert tight.alpha * weight(tight.beta) > 2 * c.alpha * weight(c.beta)


def test_group_steps_stay_below_rho():
    """k steps of an entry cost at most k^2 of its rho: the rule behind multiples of an entry."""
    for e, k in ((0.1, 3), (0.5, 2), (1.0, 4)):
        entry = min(arsinh_normal._ENTRIES, key=lambda x: abs(x[0] - e))
        s, t = k * entry[0] * entry[1], k * entry[0] * arsinh_normal.SHARE
        worst = max(audit.renyi_rho(0.9, s, lam, ORDERS[ORDERS < 100], 0.02) for lam in (0, t))
        assert worst <= (k * entry[0]) ** 2 / 2


def test_pure_distributions_serve_rho():
    for rho in (1e-10, 1e-4, 0.4621171572600097, 2.0, 60.0, 500.0):
        epsilon = pure_epsilon(rho)
        assert epsilon * math.tanh(epsilon / 2) == pytest.approx(rho, rel=1e-12)
        assert Fraction(epsilon) * Fraction(math.tanh(epsilon / 2)) <= Fraction(rho)
        c = calibrate("cauchy", rho=rho)
        same = calibrate("cauchy", epsilon=min(epsilon, 500.0))
        assert (c.alpha, c.beta) == pytest.approx((same.alpha, same.beta), rel=1e-9)
        assert (c.epsilon, c.rho) == (None, pytest.approx(rho))


# ---- end to end on tiny domains ------------------------------------------------------------------

GRID, LO, HI, HALF = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0), 0.0, 6.0, Fraction(1, 2)


def replacements(n):
    for x in itertools.combinations_with_replacement(GRID, n):
        for i, g in itertools.product(range(n), GRID):
            yield x, tuple(sorted((*x[:i], g, *x[i + 1 :])))


def additions(n):
    for x in itertools.combinations_with_replacement(GRID, n):
        for g in GRID:
            yield x, tuple(sorted((*x, g)))


def worst_cauchy(c, smooth, pairs):
    """The largest loss of medians with Cauchy noise."""

    @functools.cache
    def answer(x):
        return quantiles.quantile(x, HALF, LO, HI), smooth(x, c.beta) / c.alpha

    return max(audit.hyperbolic(*answer(x), *answer(y)) for x, y in pairs)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_every_replacement_on_a_tiny_domain(epsilon):
    c = calibrate("cauchy", epsilon=epsilon)

    def worst(formula, n):
        return worst_cauchy(c, lambda x, beta: formula(x, HALF, beta, LO, HI), replacements(n))

    assert all(worst(quantiles.smooth_replace, n) <= epsilon * (1 + 1e-12) for n in (1, 3, 4))
    assert worst(quantiles.smooth_replace, 3) > 0.9 * epsilon
    if epsilon < 1:  # the slide formula with the same noise is not private
        assert worst(quantiles.lecture_formula, 3) > 1.15 * epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_every_addition_on_a_tiny_domain(epsilon):
    steps = [quantiles.pair_distances(HALF, n) for n in range(6)]

    def smooth(x, beta):
        return quantiles.smooth_add_remove(x, steps[len(x)], beta, LO, HI)

    pairs = itertools.chain.from_iterable(additions(n) for n in range(5))
    worst = worst_cauchy(calibrate("cauchy", epsilon=epsilon), smooth, pairs)
    assert 0.9 * epsilon < worst <= epsilon * (1 + 1e-12)


@quick_rows(1)
@pytest.mark.parametrize("noise", ["polyplace", "student-t", "generalized-cauchy"])
def test_every_replacement_with_other_distributions(noise):
    c = calibrate(noise, epsilon=1.0)
    pairs = set()
    for x, y in replacements(3):
        a, b = (quantiles.smooth_replace(v, HALF, c.beta, LO, HI) / c.alpha for v in (x, y))
        if a <= b:
            pairs.add((round(abs(x[1] - y[1]) / a, 12), round(math.log(b / a), 12)))
    assert max(s for s, _ in pairs) <= c.alpha * (1 + 1e-11)
    assert max(t for _, t in pairs) <= c.beta * (1 + 1e-11)
    worst = max(audit.loss_of_pair(c.distribution, s, t, False) for s, t in pairs)
    assert 0.9 < worst <= 1 + TOLERANCE


# ---- auto ----------------------------------------------------------------------------------------


def _error(noise, **loss):
    """Median error over the spacing of evenly spread data, with the discrete smooth sensitivity."""
    c = calibrate(noise, **loss)
    k = np.arange(int(60 / c.beta) + 2)
    return (
        audit.median_size(c.distribution) / c.alpha * float(np.max((k + 1) * np.exp(-c.beta * k)))
    )


def test_the_crossovers_of_auto():
    from dpfast.noise.smooth import CAUCHY_FROM_EPSILON, CAUCHY_FROM_RHO

    for e in (0.01, 0.1, 0.5, 0.8, 0.9, 1.0, 1.5, 2.0, 3.0, 0.9 * CAUCHY_FROM_EPSILON):
        assert calibrate("auto", epsilon=e).noise == "polyplace"
        most = 1.07 if 0.8 <= e <= 1.0 else 1.0
        assert _error("polyplace", epsilon=e) < most * _error("cauchy", epsilon=e)
    for e in (1.1 * CAUCHY_FROM_EPSILON, 5.0, 8.0, 20.0):
        assert calibrate("auto", epsilon=e, delta=1e-6).noise == "cauchy"
        assert _error("cauchy", epsilon=e) < _error("polyplace", epsilon=e)
    for rho in (1e-6, 0.1, 1.0, 0.9 * CAUCHY_FROM_RHO):
        assert calibrate("auto", rho=rho).noise == "arsinh-normal"
        assert _error("arsinh-normal", rho=rho) < _error("cauchy", rho=rho)
    for rho in (1.1 * CAUCHY_FROM_RHO, 20.0, 400.0):
        assert calibrate("auto", rho=rho).noise == "cauchy"
        assert _error("cauchy", rho=rho) < _error("arsinh-normal", rho=rho)
    for e, delta in ((0.1, 1e-6), (1.0, 1e-6), (3.0, 1e-9)):
        pure = _error("auto", epsilon=e)
        assert pure < _error("laplace", epsilon=e, delta=delta)
        assert pure < _error("gaussian", epsilon=e, delta=delta)


# ---- arguments and rounding ----------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
def test_every_name_serves_a_budget(noise):
    if noise.startswith(("laplace", "gaussian")):
        calls = [{"epsilon": 1, "delta": 1e-6}, {"epsilon": 1e-5, "delta": 1e-6}]
    elif noise.startswith("arsinh"):
        calls = [{"rho": 1e-3}, {"rho": 10}, {"rho": 500}]
    else:
        calls = [{"epsilon": 1e-6}, {"epsilon": 500}, {"epsilon": 1, "delta": 1e-9}]
        calls += [{"rho": 1e-6}, {"rho": 500}]
    for loss in calls:
        c = calibrate(noise, **loss)
        assert 0 < c.alpha < math.inf and 0 < c.beta < math.inf
        assert c.noise in NOISES and c.noise != "auto" and c.theorem
        assert calibrate(noise, **loss) is c
        assert hash(c) == hash(calibrate(noise, **loss))


def test_floats_are_rounded_down_and_exact_kinds_agree():
    for value in (0.1, Decimal("0.1"), Fraction(1, 10), np.float64(0.1), np.float32(0.1)):
        c = calibrate("cauchy", epsilon=value, delta=Fraction(1, 10**6))
        assert Fraction(c.epsilon) <= Fraction(1, 10) < Fraction(np.nextafter(c.epsilon, 1))
        assert Fraction(c.delta) <= Fraction(1, 10**6)
    assert calibrate("cauchy", epsilon=1).epsilon == 1.0


def test_alpha_and_beta_grow_with_the_budget():
    grid = np.geomspace(1e-6, 400, 60)
    for noise in ("cauchy", "polyplace", "generalized-cauchy", "arsinh-normal"):
        name = "rho" if noise == "arsinh-normal" else "epsilon"
        found = [calibrate(noise, **{name: float(x)}) for x in grid]
        merits = [c.alpha * weight(c.beta) for c in found]
        assert all(x <= y for x, y in itertools.pairwise(merits))


@pytest.mark.parametrize(
    "noise, loss, message",
    [
        ("cauchy", {}, "epsilon must be given"),
        ("cauchy", {"epsilon": 1, "rho": 1}, "rho must be left out"),
        ("cauchy", {"epsilon": 500.5}, "epsilon must be at least 2.* and at most 500"),
        ("cauchy", {"epsilon": 1e-13}, "epsilon must be at least"),
        ("cauchy", {"epsilon": 1e-320}, "epsilon must be at least"),
        ("cauchy", {"rho": 1e-320}, "rho must be at least"),
        ("laplace", {"epsilon": 1e-320, "delta": 1e-9}, "epsilon must be at least"),
        ("gaussian", {"epsilon": 1e-320, "delta": 1e-9}, "epsilon must be at least"),
        ("gaussian", {"epsilon": 1e-9, "delta": 1e-300}, "epsilon must be large enough"),
        ("laplace", {"epsilon": 1, "delta": 1e-301}, "delta must be 0, or at least"),
        ("laplace", {"epsilon": 1}, "delta must be greater than 0"),
        ("gaussian", {"rho": 1}, "delta must be greater than 0"),
        ("arsinh-normal", {"epsilon": 1, "delta": 1e-6}, "rho must be given"),
        ("arsinh-normal", {"rho": 1, "delta": 1e-6}, "delta must be left out when rho"),
        ("uniform", {"epsilon": 1}, "noise must be one of"),
        (None, {"epsilon": 1}, "noise must be one of"),
        (["cauchy"], {"epsilon": 1}, "noise must be one of"),
    ],
)
def test_bad_arguments(noise, loss, message):
    with pytest.raises(ArgumentError, match=message):
        calibrate(noise, **loss)


@pytest.mark.parametrize("value", [True, "1", [1.0], 1j, np.array([1.0, 2.0])])
def test_kinds_that_are_no_number(value):
    calibrate("cauchy", epsilon=1)  # the cache must not take True for 1
    with pytest.raises(ArgumentTypeError, match="epsilon must be"):
        calibrate("cauchy", epsilon=value)
    with pytest.raises(ArgumentTypeError, match="rho must be"):
        calibrate("arsinh-normal", rho=value)


def test_the_names_that_a_type_checker_knows_are_those_that_are_calibrated():
    assert set(get_args(NoiseName)) == set(NOISES)
