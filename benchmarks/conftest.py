"""Sizes of the benchmark cases: full by default, tiny with DPFAST_BENCH_SMOKE=1."""

import os

import numpy as np
import pytest

SMOKE = os.environ.get("DPFAST_BENCH_SMOKE") == "1"


def rows(full: int, smoke: int = 20_000) -> int:
    return smoke if SMOKE else full


@pytest.fixture(scope="session")
def unsorted_floats():
    """Five times ten to the seventh unsorted float64 values."""
    return np.random.default_rng(0).normal(50.0, 12.0, rows(50_000_000))
