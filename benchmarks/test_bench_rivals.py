"""Releases of a million rows, and noise, beside other libraries; those not installed are skipped.

pytest benchmarks/test_bench_rivals.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp

from . import rivals
from .conftest import rows

pytest.importorskip("pytest_benchmark")

N, FEW = rows(1_000_000), 2000
BOUNDS = (0.0, 100.0)
LOSS = {"bounds": BOUNDS, "epsilon": 1.0, "neighbors": "replace"}
#: What dpfast does, by the name of what a rival does: of all rows, and one by one.
ALL = {
    "median": lambda x: dp.median(x, **LOSS),
    "sum": lambda x: dp.sum(x, **LOSS),
    "mean": lambda x: dp.mean(x, **LOSS),
    "variance": lambda x: dp.variance(x, **LOSS),
    "std": lambda x: dp.std(x, **LOSS),
    "count_nonzero": lambda x: dp.count_nonzero(x, epsilon=1.0, neighbors="replace"),
    "percentile": lambda x: dp.percentile(x, 90, **LOSS),
    "histogram": lambda x: dp.histogram(x, bins=100, **LOSS)[0],
}
EACH = {
    "laplace": lambda x: dp.noise.laplace(1.0, len(x)),
    "response": lambda x: dp.response.binary(x > 50, epsilon=1.0),
}
EXACT = {
    **{"median": np.median, "sum": np.sum, "mean": np.mean, "variance": np.var, "std": np.std},
    **{"count_nonzero": np.count_nonzero, "percentile": lambda x: np.percentile(x, 90)},
}


@pytest.fixture(scope="module")
def data():
    return np.random.default_rng(2).normal(50.0, 12.0, N)


def rival(name, kind):
    found = rivals.load(name)
    if not hasattr(found, kind):
        pytest.skip(f"{name} is not installed" if found is None else f"{name} has no {kind}")
    return getattr(found, kind)


def check(kind, found, data):
    if kind in EXACT:
        assert found == pytest.approx(EXACT[kind](data), rel=0.1)
    else:
        assert len(found) in (2, 100, 101, FEW, N)  # counts, with edges or not, or answers


@pytest.mark.parametrize("kind", [*ALL, *EACH])
def test_dpfast(benchmark, data, kind):
    benchmark.group = kind
    check(kind, benchmark((ALL | EACH)[kind], data), data)


@pytest.mark.parametrize("name", rivals.NAMES)
@pytest.mark.parametrize("kind", ALL)
def test_rival(benchmark, data, kind, name):
    benchmark.group = kind
    call = rival(name, kind)
    check(kind, benchmark.pedantic(call, (data, BOUNDS, 1.0), rounds=2, warmup_rounds=1), data)


@pytest.mark.parametrize("name", rivals.NAMES)
@pytest.mark.parametrize("kind", EACH)
def test_rival_one_by_one(benchmark, data, kind, name):
    benchmark.group = kind
    call = rival(name, kind)
    given = (1.0, FEW) if kind == "laplace" else (data[:FEW] > 50, 1.0)
    assert len(benchmark.pedantic(call, given, rounds=2, warmup_rounds=1)) == FEW
