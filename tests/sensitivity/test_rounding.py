"""Rounding: no smooth bound is below the exact number, nor above it by more than is stated.

Exact numbers are fractions times exponentials in 60 digits. The bounds of sums (winsorized mean,
interquartile range) are compared with the exact sums of their parts.
"""

import itertools
import math
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest
from mpmath.libmp import from_float, mpf_exp, mpf_mul, mpf_shift, mpf_sub, to_float

import dpfast as dp
from dpfast import sensitivity
from dpfast._kernels.sensitivity import exp_product, inverse_expm1_product
from dpfast.sensitivity import TreeCost, generic, mean

from ..reference.sensitivity import graphs
from ..support.pairwise import quick_rows
from ..support.sensitivities import global_of, local_of, smooth_of

EXCESS = 1 + mpmath.mpf(2) ** -41


def weighed(at, beta, last):
    with mpmath.workdps(60):
        each = ((k, Fraction(at(k))) for k in range(last + 1))
        b = mpmath.mpf(beta)
        return max(mpmath.mpf(a.numerator) / a.denominator * mpmath.exp(-b * k) for k, a in each)


def fits(got, want):
    with mpmath.workdps(60):
        return want <= got <= want * EXCESS


def instances(count):
    rng = np.random.default_rng(11)
    for t in range(count):
        n = int(rng.integers(2, 12))
        lo = float(rng.normal() * 10.0 ** rng.integers(-3, 4))
        hi = lo + float(rng.exponential() * 10.0 ** rng.integers(-3, 4))
        data = rng.uniform(lo, hi, n) if t % 2 else rng.choice([lo, hi, (lo + hi) / 2], n)
        yield np.sort(data), lo, hi, float(10 ** rng.uniform(-2, 0.8))


def exact_mean(data, lo, hi, beta):
    n, width = len(data), Fraction(hi) - Fraction(lo)
    reach = max(Fraction(hi) - Fraction(data[0]), Fraction(data[-1]) - Fraction(lo))
    return weighed(lambda k: (width if k else reach) / n, beta, 2)


def exact_moving_mean(data, lo, hi, beta):
    n, width = len(data), Fraction(hi) - Fraction(lo)
    return weighed(lambda k: width / max(n - k, 2), beta, n + 1)


def exact_trimmed(data, lo, hi, beta):
    n = len(data)
    cut = n // 5
    x = [Fraction(v) for v in (lo, *data, hi)]

    def at(k):
        pairs = itertools.product(range(cut + 2), range(n - cut, n + 2))
        spans = [x[j] - x[i] for i, j in pairs if 0 <= j - i - (n - 2 * cut) <= k]
        return max(spans) / (n - 2 * cut)

    return weighed(at, beta, 2 * cut + 1)


def exact_variance(data, lo, hi, beta):
    n = len(data)

    def at(k):
        best = Fraction(0)
        for x, low, high in (
            ([Fraction(v) for v in data], Fraction(lo), Fraction(hi)),
            ([-Fraction(v) for v in reversed(data)], -Fraction(hi), -Fraction(lo)),
        ):
            for i, u in enumerate(x if k < n else []):
                rest = x[:i] + x[i + 1 :]
                kept = rest[: n - 1 - k]
                c = (sum(kept) + k * low) / (n - 1)
                best = max(best, (high - c) ** 2 - (u - c) ** 2, (u - c) ** 2 if u > c else 0)
            if k:
                kept = x[: max(n - k, 0)]
                c = (sum(kept) + (n - 1 - len(kept)) * low) / (n - 1)
                best = max(best, (high - c) ** 2)
        return best * Fraction(n - 1, n * n)

    return weighed(at, beta, n)


def exact_own(data, lo, hi, beta):
    return weighed(lambda k: Fraction(data[k]) - Fraction(lo), beta, len(data) - 1)


def own(data, beta, bounds):
    local = lambda k: math.nextafter(data[k] - bounds[0], math.inf)  # noqa: E731
    return sensitivity.smooth(local, beta=beta, stop=len(data) - 1)


MOVING, REPLACED = {"neighbors": "add-remove"}, {"neighbors": "replace"}
FIFTH = {"proportion": 0.2, **REPLACED}
#: The exact bound, the computed one, and the module whose last rounding a test takes away.
CASES = {
    "mean": (exact_mean, partial(smooth_of, dp.Mean, **REPLACED), None),
    "mean, add-remove": (exact_moving_mean, partial(smooth_of, dp.Mean, **MOVING), mean),
    "trimmed mean": (exact_trimmed, partial(smooth_of, dp.TrimmedMean, **FIFTH), None),
    "variance": (exact_variance, partial(smooth_of, dp.Variance, **REPLACED), None),
    "one's own": (exact_own, own, generic),
}


def always_fits(name):
    exact, computed, _ = CASES[name]
    return all(
        fits(computed(x, beta=beta, bounds=(lo, hi)), exact(x, lo, hi, beta))
        for x, lo, hi, beta in instances(150)
    )


@quick_rows(2)
@pytest.mark.parametrize("name", list(CASES))
def test_rounded_towards_more_noise_and_no_more_than_stated(name):
    assert always_fits(name)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2] is not None])
def test_a_result_that_is_rounded_to_nearest_fails_the_same_test(name, monkeypatch):
    monkeypatch.setattr(CASES[name][2], "inflated", lambda amount: amount)
    assert not always_fits(name)


FIFTH = {"proportion": 0.2, **REPLACED}
#: What is called with a number of rows or without one, and the exact number of n and the range.
GLOBAL = {
    **{kind.__name__: (kind, {}, False, lambda n, r: r)
       for kind in (dp.Median, dp.Minimum, dp.Maximum, dp.Iqr)},
    "tree cost": (partial(TreeCost, []), REPLACED, False, lambda n, r: r),
    "sum": (dp.Sum, REPLACED, True, lambda n, r: r),
    "mean": (dp.Mean, REPLACED, True, lambda n, r: r / n),
    "mean, add-remove": (dp.Mean, MOVING, False, lambda n, r: r / 2),
    "trimmed mean": (dp.TrimmedMean, FIFTH, True, lambda n, r: r / (n - 2 * (n // 5))),
    "winsorized mean": (dp.WinsorizedMean, FIFTH, True, lambda n, r: r * (n // 5 + 1) / n),
    "variance": (dp.Variance, REPLACED, True, lambda n, r: r**2 * Fraction(n - 1, n**2)),
}  # fmt: skip


@pytest.mark.parametrize("name", GLOBAL)
def test_global_sensitivities_are_rounded_up_too(name):
    kind, kw, of_rows, exact = GLOBAL[name]
    control = False
    for x, lo, hi, _ in instances(60):
        n = 2 * len(x) + 1
        want = exact(n, Fraction(hi) - Fraction(lo))
        got = Fraction(global_of(kind, n if of_rows else None, bounds=(lo, hi), **kw))
        assert want <= got <= want * (1 + Fraction(1, 2**51))
        control |= float(want) < want  # the nearest number would not do
    assert control


@pytest.mark.full
def test_local_sensitivities_are_rounded_up_too():
    with mpmath.workdps(60):
        for x, lo, hi, _ in instances(100):
            for call, exact in (
                (partial(local_of, dp.Mean, **REPLACED), exact_mean),
                (partial(local_of, dp.Variance, **REPLACED), exact_variance),
                (partial(local_of, dp.TrimmedMean, **FIFTH), exact_trimmed),
            ):
                assert fits(call(x, bounds=(lo, hi)), exact(x, lo, hi, 1e9))


def test_trees_are_rounded_up():
    rng, edges = np.random.default_rng(5), [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    tree, kw = TreeCost(edges, bounds=(0, 1)), {"neighbors": "replace"}
    for _ in range(20):
        weights, beta = rng.random(5), float(rng.uniform(0.05, 2))
        at = partial(graphs.tree_at_distance, 4, edges, [Fraction(w) for w in weights], Fraction(1))
        assert fits(sensitivity.smooth(tree, weights, beta=beta, **kw), weighed(at, beta, 5))
        local = sensitivity.local(tree, weights, at_distance=1, **kw)
        assert fits(local, weighed(lambda k, at=at: at(1), 1.0, 0))


PRECISION = 120


def errors_in_ulp(got, a, b):
    """(got - e^(a b)) / ulp, with an ulp of 2^-1074 where the answer is subnormal."""
    out = np.empty(len(got))
    for t, (g, left, right) in enumerate(zip(got.tolist(), a.tolist(), b.tolist(), strict=True)):
        exact = mpf_exp(mpf_mul(from_float(left), from_float(right)), PRECISION)
        ulp = max(math.frexp(to_float(exact))[1] - 53, -1074)
        # Shifted while it is exact: the difference itself may be less than any float64.
        out[t] = to_float(mpf_shift(mpf_sub(from_float(g), exact, PRECISION), -ulp))
    return out


def points(count, seed):
    rng, part = np.random.default_rng(seed), count // 5
    plain, tiny = -rng.uniform(0, 709, part), -(10.0 ** rng.uniform(-300, 0, part))
    small, step = -rng.uniform(708, 747, part), np.log(2) / 64
    edges = (rng.integers(0, 65_000, part) + 0.5) * step
    edges = -np.nextafter(edges, rng.choice([0.0, 1e3], part))
    beta = 10.0 ** rng.uniform(-8, 0.5, count - 4 * part)
    k = np.floor(rng.uniform(0, 700, beta.size) / beta)
    return np.concatenate([plain, tiny, small, edges, -beta]), np.append(np.ones(4 * part), k)


def check_exp(function, count):
    a, b = points(count, 0)
    got = function(a, b)
    error = np.abs(errors_in_ulp(got, a, b))
    normal = got >= 2.0**-1022
    return error[normal].max() < 0.53 and error[~normal].max() < 1.03


@pytest.mark.full
@pytest.mark.parametrize("count", [100_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_exp_on_many_points(count):
    assert check_exp(exp_product, count)


def test_a_rounded_product_is_caught():
    """The control: rounding beta k before the exponential fails the same check."""
    assert not check_exp(lambda a, b: exp_product(a * b, np.ones_like(a)), 5_000)


def test_special_arguments():
    x = np.array([0.0, -0.0, -745.2, -746.0, -np.inf, -5e-324, -(2.0**-60)])
    assert exp_product(x, np.ones_like(x)).tolist() == [1, 1, 0, 0, 0, 1, 1]
    assert inverse_expm1_product(np.array([710.0, 5e-324]), np.ones(2)).tolist() == [0, np.inf]


def inverse_error(a, b):
    got = inverse_expm1_product(a, b)
    with mpmath.workprec(PRECISION + 1100):
        return max(
            abs(float(mpmath.mpf(g) * mpmath.expm1(mpmath.mpf(s) * mpmath.mpf(t)) - 1))
            for g, s, t in zip(got.tolist(), a.tolist(), b.tolist(), strict=True)
        )


@pytest.mark.full
@pytest.mark.parametrize("count", [6_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_inverse_expm1(count):
    rng = np.random.default_rng(1)
    a = 10.0 ** rng.uniform(-290, 2, count)
    a[: count // 2] = rng.uniform(1e-4, 2, count // 2)
    b = np.maximum(1, np.floor(rng.uniform(0, 300, count) / np.maximum(a, 0.5)))
    assert inverse_error(a, b) < 2.0**-50
    near = np.nextafter((np.arange(0, 60_000, 12) + 0.5) * np.log(2) / 64, 1e3)
    assert inverse_error(near, np.ones_like(near)) < 2.0**-50
