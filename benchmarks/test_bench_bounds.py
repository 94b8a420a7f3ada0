"""Private bounds beside `np.max`.

pytest benchmarks/test_bench_bounds.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

pytest.importorskip("pytest_benchmark")


@pytest.mark.parametrize("kind", ["float64", "float32", "int32"])
def test_bounds(benchmark, unsorted_floats, kind):
    rows = unsorted_floats.astype(kind)
    lo, hi = benchmark(lambda: dp.bounds(rows, epsilon=1.0, rng=InsecureGenerator(1)))
    assert lo < rows.mean() < hi


def test_rival(benchmark, unsorted_floats):
    assert benchmark(lambda: np.max(unsorted_floats)) > 50
