"""Random bits: GB/s beside the memory's floor, NumPy's generators and the operating system.

Run with `pytest benchmarks/test_bench_rng.py`, and with DPFAST_ISA=avx2 or baseline for the
narrower paths. `extra_info` holds GB/s of the fastest round.
"""

from __future__ import annotations

import os
from itertools import islice

import numpy as np
import pytest

from dpfast._kernels.rng import BitStream, isa
from dpfast.rng import InsecureGenerator, SecureGenerator
from tests.reference import rng as chacha20

LARGE = 1 << 26
SMALL = 1 << 13
KEY = bytes(range(32))


def gigabytes(benchmark, size):
    if benchmark.stats:  # absent under --benchmark-disable
        benchmark.extra_info["GB/s"] = round(size / benchmark.stats.stats.min / 1e9, 2)
        benchmark.extra_info["isa"] = isa()


@pytest.fixture(params=[LARGE, SMALL], ids=["64MB", "8KB"])
def buffer(request, benchmark):
    benchmark.group = f"fill a buffer of {request.param >> 10} KB"
    return np.ones(request.param, np.uint8)


def fill_and_measure(benchmark, fill, buffer):
    benchmark.pedantic(
        fill, (buffer,), rounds=20, iterations=max(1, (1 << 24) // buffer.size), warmup_rounds=1
    )
    gigabytes(benchmark, buffer.size)


def test_chacha20(benchmark, buffer):
    fill_and_measure(benchmark, BitStream(KEY).fill, buffer)
    assert not (buffer == 1).all()
    expected = b"".join(islice(chacha20.stream(KEY), 2))
    fresh = np.ones_like(buffer)
    BitStream(KEY).fill(fresh)
    length = min(fresh.size, len(expected))
    assert fresh[:length].tobytes() == expected[:length]


def test_floor_memory_set(benchmark, buffer):
    fill_and_measure(benchmark, lambda to: to.fill(0), buffer)
    assert not buffer.any()


def test_rival_numpy_pcg64(benchmark, buffer):
    words, rival = buffer.view(np.uint64), np.random.PCG64(1)

    def fill(to):
        words[:] = rival.random_raw(words.size)

    fill_and_measure(benchmark, fill, buffer)
    assert np.unique(words[:1000]).size == min(1000, words.size)


def test_rival_numpy_bytes(benchmark, buffer):
    rival = np.random.default_rng(1)
    fill_and_measure(benchmark, lambda to: rival.bytes(to.size), buffer)
    assert len(set(rival.bytes(1000))) > 200


def test_rival_os_urandom(benchmark, buffer):
    fill_and_measure(benchmark, lambda to: os.urandom(to.size), buffer)
    assert len(set(os.urandom(1000))) > 200


@pytest.mark.parametrize(
    "make", [SecureGenerator, lambda: InsecureGenerator(1)], ids=["secure", "insecure"]
)
def test_stream(benchmark, make):
    benchmark.group = "one call of stream()"
    generator = make()
    first = generator.stream()
    assert benchmark(generator.stream) is first


@pytest.mark.parametrize("size", [8, 64])
def test_small_requests(benchmark, size):
    benchmark.group = f"a request of {size} bytes"
    buffer, stream = np.zeros(size, np.uint8), BitStream(KEY)
    stream.fill(buffer)
    assert buffer.tobytes() == next(chacha20.stream(KEY))[:size]
    benchmark(stream.fill, buffer)


@pytest.mark.parametrize("size", [8, 64])
def test_small_requests_rival_os_urandom(benchmark, size):
    benchmark.group = f"a request of {size} bytes"
    assert len(benchmark(os.urandom, size)) == size
