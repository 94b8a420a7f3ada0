"""Noise: nanoseconds a sample beside NumPy's generators, which are neither exact nor secure.

Run with `pytest benchmarks/test_bench_noise.py`; DPFAST_ISA=avx2 or baseline forces a narrower
path. `extra_info` has nanoseconds a sample of the fastest round, and the ratio to NumPy's
`Generator.laplace`, timed in the same test.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast import noise
from dpfast.noise import distributions
from dpfast.noise.distributions.table import _prepared
from dpfast.rng import InsecureGenerator, SecureGenerator

from .conftest import beside, rows

N = rows(10_000_000)
MIDDLE = 20 / N**0.5  # a median is as near to 0, in scales

OURS = {
    "laplace": noise.laplace,
    "gaussian": noise.gaussian,
    "cauchy": noise.cauchy,
    "student_t 3": lambda *a, **k: noise.student_t(3.0, *a, **k),
    "generalized_cauchy 4": lambda *a, **k: noise.generalized_cauchy(4, *a, **k),
    "polyplace 10/3": lambda *a, **k: noise.polyplace(10 / 3, *a, **k),
    "polyplace 5/3": lambda *a, **k: noise.polyplace(5 / 3, *a, **k),
    "arsinh_normal 0.9": lambda *a, **k: noise.arsinh_normal(0.9, *a, **k),
}
DISCRETE = {
    "discrete_laplace 1000": lambda n, rng: noise.discrete_laplace(1000.0, n, rng=rng),
    "discrete_gaussian 1000": lambda n, rng: noise.discrete_gaussian(1000.0, n, rng=rng),
}
RIVALS = {
    "numpy laplace": lambda g: g.laplace(size=N),
    "numpy standard_normal": lambda g: g.standard_normal(N),
    "numpy standard_cauchy": lambda g: g.standard_cauchy(N),
    "numpy standard_t 3": lambda g: g.standard_t(3.0, N),
}


def timed(benchmark, sampler, rounds=5):
    benchmark.group = f"{N} samples"
    z = benchmark.pedantic(sampler, rounds=rounds, iterations=1, warmup_rounds=1)
    g = np.random.default_rng(1)
    beside(benchmark, {"`Generator.laplace` (neither)": lambda: g.laplace(size=N)}, each=N)
    assert z.shape == (N,)
    return z


@pytest.mark.parametrize("name", OURS)
def test_continuous(benchmark, name):
    sampler, rng = OURS[name], SecureGenerator()
    sampler(1.0, 10, rng=rng)  # the table is made once
    z = timed(benchmark, lambda: sampler(1.0, N, rng=rng))
    grid = z[:100_000] * 2.0**30
    assert np.array_equal(grid, np.rint(grid))
    assert abs(np.median(z)) < MIDDLE


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(benchmark, name):
    rng = SecureGenerator()
    k = timed(benchmark, lambda: DISCRETE[name](N, rng))
    assert k.dtype == np.int64
    assert abs(np.median(k)) < 1000 * MIDDLE + 1


@pytest.mark.parametrize("name", RIVALS)
def test_rival(benchmark, name):
    g = np.random.default_rng(1)
    z = timed(benchmark, lambda: RIVALS[name](g))
    assert abs(np.median(z)) < MIDDLE


def test_floor_random_bits(benchmark):
    """The secure bits alone: 8 bytes a sample."""
    stream, buffer = SecureGenerator().stream(), np.ones(8 * N, np.uint8)

    def fill():
        stream.fill(buffer)
        return buffer.view(np.uint64)

    words = timed(benchmark, fill)
    assert abs(np.mean(words >> np.uint64(63)) - 0.5) < MIDDLE


@pytest.mark.parametrize(
    "distribution", [distributions.Laplace(), distributions.PolyPlace(10 / 3)], ids=repr
)
def test_one_draw(benchmark, distribution):
    benchmark.group = "one sample"
    rng = InsecureGenerator(1)
    z = benchmark(
        lambda: noise.draw(distribution, value=10.0, scale=0.5, granularity=2.0**-20, generator=rng)
    )
    assert (z * 2**20).is_integer()


@pytest.mark.parametrize(
    "distribution",
    [
        distributions.Laplace(),
        distributions.Gaussian(),
        distributions.Cauchy(),
        distributions.StudentT(3.0),
    ],
    ids=repr,
)
def test_first_use_of_a_distribution(benchmark, distribution):
    benchmark.group = "table of a distribution"
    prepared = benchmark.pedantic(
        _prepared.__wrapped__, (distribution,), setup=lambda: None, rounds=3, warmup_rounds=1
    )
    assert np.isfinite(prepared.rows[1:-1, -1]).all()
