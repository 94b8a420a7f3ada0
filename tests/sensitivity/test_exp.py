"""e^x and 1/(e^x - 1) against arbitrary precision."""

import math

import mpmath
import numpy as np
import pytest
from mpmath.libmp import from_float, mpf_exp, mpf_mul, mpf_shift, mpf_sub, to_float

from dpfast._kernels.sensitivity import exp_product, inverse_expm1_product

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
    """Plain arguments, exact products, tiny ones, subnormal and zero results, table boundaries."""
    rng = np.random.default_rng(seed)
    part = count // 5
    step = np.log(2) / 64
    plain = -rng.uniform(0, 709, part)
    tiny = -(10.0 ** rng.uniform(-300, 0, part))
    small = -rng.uniform(708, 747, part)
    edges = -np.nextafter(
        (rng.integers(0, 65_000, part) + 0.5) * step, rng.choice([0.0, 1e3], part)
    )
    beta = 10.0 ** rng.uniform(-8, 0.5, count - 4 * part)
    k = np.floor(rng.uniform(0, 700, beta.size) / beta)
    ones = np.ones(part)
    return (
        np.concatenate([plain, tiny, small, edges, -beta]),
        np.concatenate([ones, ones, ones, ones, k]),
    )


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
    got = exp_product(x, np.ones_like(x))
    assert got.tolist() == [1, 1, 0, 0, 0, 1, 1]


def inverse_error(a, b):
    got = inverse_expm1_product(a, b)
    with mpmath.workprec(PRECISION + 1100):
        return max(
            abs(float(mpmath.mpf(g) * mpmath.expm1(mpmath.mpf(s) * mpmath.mpf(t)) - 1))
            for g, s, t in zip(got.tolist(), a.tolist(), b.tolist(), strict=True)
        )


def check_inverse(count):
    rng = np.random.default_rng(1)
    a = 10.0 ** rng.uniform(-290, 2, count)
    a[: count // 2] = rng.uniform(1e-4, 2, count // 2)
    b = np.maximum(1, np.floor(rng.uniform(0, 300, count) / np.maximum(a, 0.5)))
    assert inverse_error(a, b) < 2.0**-50
    near = np.nextafter((np.arange(0, 60_000, 60_000 // 5000) + 0.5) * np.log(2) / 64, 1e3)
    assert inverse_error(near, np.ones_like(near)) < 2.0**-50


@pytest.mark.full
def test_inverse_expm1():
    check_inverse(6_000)


@pytest.mark.slow
def test_inverse_expm1_on_many_points():
    check_inverse(200_000)


def test_inverse_expm1_ends():
    assert inverse_expm1_product(np.array([710.0, 5e-324]), np.ones(2)).tolist() == [0, np.inf]
