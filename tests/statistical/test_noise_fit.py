"""Goodness of fit of a million samples of all noise; a scale slightly off is the control."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest

from dpfast import noise
from dpfast.rng import InsecureGenerator

from ..support.lazy import special
from ..support.pairwise import quick_rows

N = 1_000_000
ALPHA = 1e-9


def polyplace_cdf(a):
    c = a / 2 / (1 + 2 / a * (1 - 1 / a) ** (a - 1))
    c_tail = c * (1 - 1 / a) ** (a - 1) * (1 + 1 / a) ** (a + 1)

    def within(z):
        centre = 2 * c / a * (1 - np.maximum(1 - z, 0) ** a)
        return np.where(z * a <= 1, centre, 1 - 2 * c_tail / a * (1 + z) ** -a)

    return within


# P(|Z| <= z) of the standardized distribution, beside the sampler.
CASES = {
    "laplace": (noise.laplace, lambda z: -np.expm1(-z)),
    "gaussian": (noise.gaussian, lambda z: special.erf(z / math.sqrt(2))),
    "cauchy": (noise.cauchy, lambda z: 2 / math.pi * np.arctan(z)),
    "arsinh_normal 0.9": (partial(noise.arsinh_normal, 0.9),
        lambda z: special.erf(np.arcsinh(0.9 * z) / 0.9 / math.sqrt(2))),
    **{f"student_t {df}": (partial(noise.student_t, df),
        lambda z, df=df: 2 * special.stdtr(df, z) - 1) for df in (3.0, 2.5)},
    **{f"generalized_cauchy {g}": (partial(noise.generalized_cauchy, g),
        lambda z, g=g: special.betainc(1 / g, 1 - 1 / g, z**g / (1 + z**g))) for g in (4, 3)},
    **{f"polyplace {a:.2g}": (partial(noise.polyplace, a), polyplace_cdf(a))
        for a in (10 / 3, 5 / 3)},
}  # fmt: skip


def kolmogorov(z: np.ndarray, cdf) -> float:
    """Return the Kolmogorov-Smirnov distance of |z|, in units of the rejection limit at ALPHA."""
    u = np.sort(cdf(np.abs(z)))
    n = len(u)
    distance = max((np.arange(1, n + 1) / n - u).max(), (u - np.arange(n) / n).max())
    return distance / math.sqrt(-math.log(ALPHA / 2) / (2 * n))


def signs(z: np.ndarray) -> float:
    """Distance of the number of positive signs from half, in units of the limit at ALPHA."""
    z = z[z != 0]
    return abs((z > 0).sum() - len(z) / 2) / (math.sqrt(len(z)) / 2 * special.ndtri(1 - ALPHA / 2))


@quick_rows(1)
@pytest.mark.parametrize("name", CASES)
def test_fit(name):
    sampler, cdf = CASES[name]
    z = sampler(3.0, N, rng=InsecureGenerator(sum(map(ord, name)))) / 3.0
    assert kolmogorov(z, cdf) < 1
    assert signs(z) < 1
    # The sign says nothing about the size: either half has the distribution.
    assert kolmogorov(z[z > 0], cdf) < 1
    # Neighboring samples are independent.
    u = cdf(np.abs(z)) - 0.5
    assert abs(np.mean(u[1:] * u[:-1])) < 7 / 12 / math.sqrt(N)
    # Controls: a scale that is off by 3 % either way, and a lost sign, are rejected.
    assert kolmogorov(z * 1.03, cdf) > 1
    assert kolmogorov(z / 1.03, cdf) > 1
    assert signs(np.abs(z)) > 1


@quick_rows(1)
@pytest.mark.parametrize("name", CASES)
def test_tails(name):
    """Counts beyond probabilities down to 1e-4, where Kolmogorov-Smirnov sees nothing."""
    sampler, cdf = CASES[name]
    u = 1 - cdf(np.abs(sampler(1.0, N, rng=InsecureGenerator(99))))

    def off(u, q):
        spread = math.sqrt(N * q) * special.ndtri(1 - ALPHA / 2)
        return abs((u < q).sum() - N * q) / spread

    assert max(off(u, q) for q in (1e-2, 1e-3, 1e-4)) < 1
    assert off(np.minimum(1, u + 2e-4), 1e-4) > 1  # control: a tail that ends too early


def test_rounding_to_a_coarse_grid():
    """On a grid as coarse as the scale the frequencies are the masses of the cells."""
    z = noise.laplace(1.0, N, granularity=1.0, rng=InsecureGenerator(4))
    counts = np.bincount(np.minimum(np.abs(z), 12).astype(np.int64), minlength=13)

    def off(edges):
        mass = -np.diff(np.exp(-np.append(edges, np.inf)))
        return ((counts - N * mass) ** 2 / (N * mass)).sum() / special.chdtri(12, ALPHA)

    assert off(np.append(0.0, np.arange(12) + 0.5)) < 1
    assert off(np.arange(13.0)) > 1  # control: truncation in place of rounding moves half a cell


# --- integers -------------------------------------------------------------------------------------


def chi_square(k: np.ndarray, weight) -> float:
    """Return chi-square of integers against ~ weight(|k|), in units of the limit at ALPHA."""
    span = int(np.abs(k).max()) + 2
    mass = weight(np.abs(np.arange(-4 * span, 4 * span + 1)))
    mass = mass[3 * span : 5 * span + 1] / mass.sum()
    counts = np.bincount(k + span, minlength=2 * span + 1)
    common = mass * len(k) >= 25
    seen = np.append(counts[common], len(k) - counts[common].sum())
    due = np.append(mass[common] * len(k), len(k) * (1 - mass[common].sum()))
    due = np.maximum(due, 1e-3)
    return ((seen - due) ** 2 / due).sum() / special.chdtri(common.sum(), ALPHA)


DISCRETE = {
    "laplace": (noise.discrete_laplace, lambda s: lambda k: np.exp(-k / s)),
    "gaussian": (noise.discrete_gaussian, lambda s: lambda k: np.exp(-(k**2) / (2 * s * s))),
}


@quick_rows(3)
@pytest.mark.parametrize("name", DISCRETE)
@pytest.mark.parametrize("width", [0.4, 1.0, 3.7, 60.0])
def test_discrete_fit(name, width):
    sampler, weight = DISCRETE[name]
    k = sampler(width, N, rng=InsecureGenerator(17))
    assert chi_square(k, weight(width)) < 1
    assert abs(np.mean(k[1:] * k[:-1].astype(float))) < 7 * k.var() / math.sqrt(N)
    assert chi_square(k, weight(width * 1.03)) > 1
    assert chi_square(k, weight(width / 1.03)) > 1
