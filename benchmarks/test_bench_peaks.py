"""The pass for peaks, and permute-and-flip over it, beside the floor: `np.max` over the scores.

pytest benchmarks/test_bench_peaks.py --benchmark-sort=fullname
DPFAST_BENCH_SMOKE=1 makes it a smoke run; the default is 1e7 scores.
"""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels.selection import ABOVE, block_peaks
from dpfast.selection import permute
from dpfast.selection.scores.stored import Stored

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N = rows(10_000_000)


@pytest.fixture(
    scope="module",
    params=["float64", "float32", "int64", "int32", "int16", "int8", "uint8"],
    ids=str,
)
def scores(request):
    made = np.random.default_rng(0).standard_normal(N) * 20 + 60
    return np.clip(made, 0, 120).astype(request.param)


def expected(scores, block):
    return np.maximum.reduceat(scores, np.arange(0, len(scores), block))


def test_floor_max(benchmark, scores):
    assert benchmark(scores.max) == scores.max()


@pytest.mark.parametrize("block", [256, 100, 10])
def test_block_peaks(benchmark, scores, block):
    out = np.empty(-(-N // block), scores.dtype)
    assert benchmark(block_peaks, scores, block, out) == ABOVE
    np.testing.assert_array_equal(out, expected(scores, block))


@pytest.mark.parametrize("block", [256, 100, 10])
def test_rival_reduceat(benchmark, scores, block):
    index = np.arange(0, N, block)
    found = benchmark.pedantic(np.maximum.reduceat, (scores, index), rounds=5)
    assert len(found) == -(-N // block)


def test_distances_of_peaks(benchmark, scores):
    found = benchmark(lambda: Stored(scores).peaks(256))
    whole = expected(scores, 256).astype(np.float64)
    np.testing.assert_allclose(found, whole.max() - whole, rtol=1e-12)


@pytest.mark.parametrize("form", ["strided", "swapped", "mapped", "float16"])
def test_not_in_place(benchmark, form, tmp_path):
    made = np.random.default_rng(0).standard_normal(N)
    if form == "strided":
        view = made.repeat(2)[::2]
    elif form == "swapped":
        view = made.astype(">f8")
    elif form == "float16":
        view = made.astype(np.float16)
    else:
        np.save(tmp_path / "scores.npy", made)
        view = np.load(tmp_path / "scores.npy", mmap_mode="r")
    found = benchmark.pedantic(lambda: Stored(view).peaks(256), rounds=5)
    assert found.min() == 0 and len(found) == -(-N // 256)


PATTERNS = {
    "normal": lambda z: z * 10,
    "all equal": lambda z: z * 0,
    "sorted": lambda z: np.sort(z * 10),
    "heavy winner": lambda z: np.append(z[1:], 100.0),
    "sum of p 100": lambda z: np.append(np.full(N - 1, -2 * np.log(N / 100)), 0.0),
    "sum of p 1000": lambda z: np.append(z[1:] * 4, 2 * np.log(np.exp(2 * z).sum() / 1000)),
}


@pytest.fixture(scope="module", params=PATTERNS)
def candidates(request):
    return PATTERNS[request.param](np.random.default_rng(0).standard_normal(N))


def test_floor_max_of_candidates(benchmark, candidates):
    assert benchmark(candidates.max) == candidates.max()


def test_permute_and_flip(benchmark, candidates):
    """Epsilon 1, sensitivity 1: c = 1 / 2."""
    stream = dp.rng.InsecureGenerator(1).stream()
    found = benchmark(lambda: permute.Flips(Stored(candidates), 0.5).draw(stream))
    assert candidates.max() - candidates[found] < 50  # else a chance of 1e7 * exp(-25)


def test_rival_exponential_noise(benchmark, candidates):
    """The same distribution up to rounding: argmax of c w + Exp(1) with all noise drawn."""
    rng = np.random.default_rng(2)
    found = benchmark.pedantic(
        lambda: np.argmax(0.5 * candidates + rng.standard_exponential(N)), rounds=3
    )
    assert candidates.max() - candidates[found] < 50
