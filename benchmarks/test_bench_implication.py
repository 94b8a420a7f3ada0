"""Contrasts over public row sets beside the product of a matrix of signs and a column, which is
what they are, and beside one sum for each set.

pytest benchmarks/test_bench_implication.py --benchmark-sort=fullname
"""

from __future__ import annotations

import numpy as np
import pytest

from dpfast.rng import InsecureGenerator
from dpfast.sulq import Attribute, NoisySums, RowSets

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N, R = rows(1_000_000), 200


@pytest.fixture(scope="module")
def party():
    """Bits, sets of rows, and the contrasts."""
    bits = np.random.default_rng(0).random(N) < 0.3
    sets = RowSets.random(N, R, InsecureGenerator(1))
    exact = np.array([(sets.mask(i)[bits]).sum() - bits.sum() / 2 for i in range(R)])
    return bits, sets, exact


def sums(bits, monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")
    return NoisySums(bits, rho=10, queries=1 << 12, neighbors="replace", rng=InsecureGenerator(1))


def test_contrasts(benchmark, party, monkeypatch):
    bits, sets, exact = party
    asked = sums(bits, monkeypatch)
    _, found = benchmark.pedantic(lambda: asked.contrasts(Attribute(), sets), rounds=5)
    assert abs(found - exact).max() < 6 * asked.contrast_deviation(R)


def test_floor_reading_the_sets(benchmark, party):
    _, sets, _ = party
    assert benchmark(lambda: int(sets.sizes.sum())) == pytest.approx(N * R / 2, rel=0.01)


def test_one_sum_a_set(benchmark, party, monkeypatch):
    """A tenth of the sets: multiply by 10."""
    bits, sets, exact = party
    asked = sums(bits, monkeypatch)
    half = asked.sum(Attribute()) / 2
    found = benchmark.pedantic(
        lambda: [asked.sum(Attribute(), sets.mask(i)) - half for i in range(R // 10)], rounds=2
    )
    assert abs(np.array(found) - exact[: R // 10]).max() < 8 * asked.deviation


def test_rival_matrix_product(benchmark, party):
    """In float32, whose sums are exact only while they stay below 2**24, and from signs that take
    32 times the memory; a tenth of the sets."""
    bits, sets, exact = party
    signs = np.array([sets.mask(i) for i in range(R // 10)], np.float32) - np.float32(0.5)
    column = bits.astype(np.float32)
    found = benchmark(lambda: signs @ column)
    assert found == pytest.approx(exact[: R // 10], abs=1)
