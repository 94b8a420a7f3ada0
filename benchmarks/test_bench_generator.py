"""`dp.rng.generator` beside NumPy's generator, which is neither exact nor secure.

Run with `pytest benchmarks/test_bench_generator.py`. `extra_info` has nanoseconds a number of the
fastest round, and the ratio to NumPy's own, timed in the same test.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp

from .conftest import beside, rows

N = rows(1_000_000)
P = np.full(4, 0.25)

DRAWS = {
    "normal": lambda g: g.normal(0.0, 3.0, N),
    "laplace": lambda g: g.laplace(0.0, 3.0, N),
    "logistic": lambda g: g.logistic(0.0, 3.0, N),
    "gumbel": lambda g: g.gumbel(0.0, 3.0, N),
    "exponential": lambda g: g.exponential(3.0, N),
    "random": lambda g: g.random(N),
    "uniform": lambda g: g.uniform(1.0, 2.0, N),
    "integers": lambda g: g.integers(0, 1000, N),
    "geometric": lambda g: g.geometric(0.1, N),
    "choice": lambda g: g.choice(4, N, p=P),
    "permutation": lambda g: g.permutation(N),
}


@pytest.mark.parametrize("name", DRAWS)
def test_generator(benchmark, name):
    ours, theirs = dp.rng.generator(), np.random.default_rng(1)
    drawn = benchmark.pedantic(lambda: DRAWS[name](ours), rounds=3, iterations=1, warmup_rounds=1)
    beside(benchmark, {"NumPy (neither)": lambda: DRAWS[name](theirs)}, each=N)
    assert abs(drawn.mean() / DRAWS[name](theirs).mean() - 1) < 0.5 or abs(drawn.mean()) < 0.5


@pytest.mark.parametrize("law", ["random", "normal"])
def test_secure_bits_below_numpys_laws(benchmark, law):
    ours, theirs = (
        np.random.Generator(bits) for bits in (dp.rng.SecureBitGenerator(), np.random.PCG64(1))
    )
    drawn = benchmark.pedantic(
        lambda: getattr(ours, law)(size=N), rounds=3, iterations=1, warmup_rounds=1
    )
    beside(benchmark, {"PCG64 (not secure)": lambda: getattr(theirs, law)(size=N)}, each=N)
    assert abs(drawn.mean()) < 0.6
