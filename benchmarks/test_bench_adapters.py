"""What the adapters cost, beside OpenDP's own noise and median and beside a call without them.

pytest benchmarks/test_bench_adapters.py --benchmark-only --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp
from dpfast.privacy import ZCDP

from .conftest import rows

pytest.importorskip("pytest_benchmark")
theirs = pytest.importorskip("opendp.prelude")
theirs.enable_features("contrib", "honest-but-curious")

from dpfast.adapters import mbi  # noqa: E402
from dpfast.adapters import opendp as ours  # noqa: E402

N, MANY, FEW = rows(1_000_000), rows(100_000, 1000), 100
BOUNDS = (0.0, 100.0)
FLOATS = theirs.vector_domain(theirs.atom_domain(T=float, nan=False))
SPACES = {
    "laplace": (FLOATS, theirs.l1_distance(T=float)),
    "gaussian": (FLOATS, theirs.l2_distance(T=float)),
    "geometric": (theirs.vector_domain(theirs.atom_domain(T=theirs.i64)), None),
}
SPACES["geometric"] = (SPACES["geometric"][0], theirs.l1_distance(T=theirs.i64))
SYMMETRIC = theirs.symmetric_distance()


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(2).normal(50.0, 12.0, N)


def known(benchmark, name, call, *args, **pedantic):
    """Time a call in the group of its name."""
    benchmark.group = name
    if not pedantic:
        return benchmark(call, *args)
    return benchmark.pedantic(call, args, warmup_rounds=1, **pedantic)


@pytest.mark.parametrize("way", ["opendp", "adapter", "dpfast"])
@pytest.mark.parametrize("kind", SPACES)
def test_noise_on_a_vector(benchmark, kind, way):
    values = np.zeros(MANY, int if kind == "geometric" else float)
    call = {
        "opendp": lambda: getattr(theirs.m, f"make_{kind}")(*SPACES[kind], scale=3.0),
        "adapter": lambda: getattr(ours, f"make_{kind}")(*SPACES[kind], scale=3.0),
        "dpfast": lambda: {
            "laplace": lambda x: x + dp.noise.laplace(3.0, len(x)),
            "gaussian": lambda x: x + dp.noise.gaussian(3.0, len(x)),
            "geometric": lambda x: x + dp.noise.discrete_laplace(3.0, len(x)),
        }[kind],
    }[way]()
    found = known(benchmark, f"{kind} on {MANY}", call, values, rounds=3)
    assert len(found) == MANY and 1 < np.std(found) < 6


@pytest.mark.parametrize("way", ["opendp", "vector", "array", "dpfast"])
def test_median(benchmark, data, way):
    if way == "opendp":
        points = np.linspace(*BOUNDS, 1001)
        given = {"candidates": points, "alpha": 0.5, "scale": 2.0}
        call = theirs.m.make_private_quantile(FLOATS, SYMMETRIC, theirs.max_divergence(), **given)
    elif way == "dpfast":
        call = lambda x: dp.median(x, bounds=BOUNDS, epsilon=1)  # noqa: E731
    else:
        domain = FLOATS if way == "vector" else ours.array_domain()
        call = ours.make_median(domain, SYMMETRIC, BOUNDS, epsilon=1)
    assert known(benchmark, f"median of {N}", call, data, rounds=3) == pytest.approx(50, abs=1)


@pytest.mark.parametrize("way", ["opendp", "vector", "array", "dpfast"])
def test_a_call_on_few_rows(benchmark, data, way):
    """The overhead of a call: a count of a hundred rows."""
    few = data[:FEW]
    if way == "opendp":
        noise = theirs.t.then_count() >> theirs.m.then_laplace(scale=1.0)
        call = (FLOATS, SYMMETRIC) >> noise
    elif way == "dpfast":
        call = lambda x: dp.count(x, epsilon=1)  # noqa: E731
    else:
        domain = FLOATS if way == "vector" else ours.array_domain()
        call = ours.make_release(domain, SYMMETRIC, dp.count, epsilon=1)
    assert abs(known(benchmark, f"count of {FEW}", call, few) - FEW) < 99


@pytest.mark.parametrize("way", ["numpy", "generator", "measure"])
def test_a_marginal(benchmark, way):
    counts, rho = np.arange(N, dtype=float), 0.005
    call = {
        "numpy": lambda x: x + np.random.default_rng().normal(0, 10.0, len(x)),
        "generator": lambda x: x + dp.rng.generator().normal(0, 10.0, len(x)),
        "measure": lambda x: mbi.measure(x, ZCDP(rho)),
    }[way]
    found = known(benchmark, f"marginal of {N}", call, counts, rounds=9)
    assert 8 < np.std(found[2000:] - counts[2000:]) < 12
