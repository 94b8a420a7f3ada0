"""How many threads there are, that no answer depends on it, and what is shown of the progress."""

import math
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from unittest.mock import Mock

import numpy as np
import pytest

import dpfast as dp
from dpfast._core import progress as _progress
from dpfast._core import threads as module
from dpfast._core.extras import extra
from dpfast._core.progress import check, reporter
from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.noise import samplers
from dpfast.rng import InsecureGenerator
from dpfast.tables import memory
from dpfast.tables.threads import MOST_DECODERS, decoders

from ..support.pairwise import quick_rows


@pytest.fixture(autouse=True)
def nothing_is_said(monkeypatch):
    monkeypatch.delenv("DPFAST_NUM_THREADS", raising=False)
    monkeypatch.setattr(module, "_chosen", None)


def test_the_default_is_what_the_process_was_given(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr(module, "_quota", lambda: None)
    assert dp.threads() == 6 and decoders() == MOST_DECODERS
    monkeypatch.setattr(module, "_quota", lambda: 3)
    assert dp.threads() == decoders() == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert dp.threads() == 1


QUOTAS = [
    (["max 100000"], None), (["250000 100000"], 3), (["50000 100000"], 1), (["", "x", "1"], None),
    ([None, "-1", "100000"], None), ([None, "400000", "100000"], 4), ([None, None, None], None),
]  # fmt: skip


def test_the_quota_of_a_container(monkeypatch):
    names = [name for names in module.QUOTAS for name in names]
    for texts, quota in QUOTAS:
        found = {name: text for name, text in zip(names, texts, strict=False) if text is not None}

        def text(path, encoding, found=found):
            if str(path) not in found:
                raise FileNotFoundError
            return found[str(path)]

        monkeypatch.setattr(module.Path, "read_text", text)
        assert module._quota() == quota, texts


def test_a_call_holds_until_the_next_and_a_block_until_its_end(monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", "5")
    assert dp.threads() == 5
    with dp.threads(2):
        assert dp.threads() == 2
        with ThreadPoolExecutor(1) as pool:  # of the whole process
            assert pool.submit(dp.threads).result() == 2
        with dp.threads(None):
            assert dp.threads() == 5
        assert dp.threads() == 2
    assert dp.threads() == 5
    dp.threads(3)
    with pytest.raises(ZeroDivisionError), dp.threads(4):
        _ = 1 / 0
    assert dp.threads() == 3
    with module.alone():
        assert dp.threads() == 1
    assert dp.threads() == 3


def test_numbers_that_are_none(monkeypatch):
    for n in (0, -1, 1025, 10**30, 1.5, "2", True):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=r"^n must be an integer"):
            dp.threads(n)
    assert module._chosen is None
    for text in ("0", "1025", "two", "-1", "²"):
        monkeypatch.setenv("DPFAST_NUM_THREADS", text)
        with pytest.raises(ArgumentError, match=r"^DPFAST_NUM_THREADS must be"):
            dp.threads()


@pytest.mark.full
def test_a_worker_of_a_pool_has_one():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        assert pool.submit(dp.threads).result() == 1
    code = "import dpfast as dp; print(dp.threads(), dp._core.threads.cores())"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own, cores = ran.stdout.split()
    assert own == cores


#: Releases whose work is cut among threads, and large enough for that.
N = 50_000
X = np.random.default_rng(0).normal(size=N)
K = np.random.default_rng(1).integers(0, 9000, N)
B = {"bounds": (-3, 3), "epsilon": 1.0}
XY, KEYS = np.stack([X, X**2], axis=1), np.arange(9000)
RELEASES = {
    "laplace": lambda r: dp.noise.laplace(2.0, N, rng=r),
    "discrete gaussian": lambda r: dp.noise.discrete_gaussian(50.0, N, rng=r),
    "median": lambda r: dp.median(X, **B, rng=r),
    "histogram": lambda r: dp.histogram(X, bins=20_000, **B, rng=r)[0],
    "covariance": lambda r: dp.covariance(XY, bounds=[(-3, 3)] * 2, epsilon=1, rng=r),
    "k-means": lambda r: (
        dp.learn.KMeans(2, bounds=[(-3, 3)] * 2, epsilon=1, max_iter=2)
        .fit(XY, rng=r)
        .cluster_centers_
    ),
    "blocks": lambda r: dp.sample_and_aggregate(X, "mean", blocks=50, **B, rng=r),
    "groups": lambda r: dp.group_by({"k": K, "x": X}, "k", keys=KEYS).agg(
        {"m": dp.stat.mean("x", bounds=(-3, 3)), "q": dp.stat.median("x", bounds=(-3, 3))},
        epsilon=1,
        rng=r,
    ),
}


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(samplers, "CHUNK", 3000)
    monkeypatch.setattr(memory, "SLICE", 5000)


@quick_rows(4)
@pytest.mark.parametrize("name", RELEASES)
def test_the_same_bits_with_any_number_of_threads(name, small_pieces):
    found = []
    for n in (1, 2, 3, 7):
        with dp.threads(n):
            found.append(RELEASES[name](InsecureGenerator(3)))
        np.testing.assert_equal(found[-1], found[0])


def test_noise_that_is_cut_by_thread_is_caught(small_pieces, monkeypatch):
    def by_thread(size, stream, draw):
        n = dp.threads()
        cuts = [size * i // n for i in range(n + 1)]
        for i in range(n):
            draw(cuts[i], cuts[i + 1], samplers.branch(stream))

    monkeypatch.setattr(samplers, "in_chunks", by_thread)
    with pytest.raises(AssertionError):
        test_the_same_bits_with_any_number_of_threads("laplace", small_pieces)


def test_small_work_starts_no_thread(monkeypatch):
    monkeypatch.setattr("threading.Thread.start", None)
    with dp.threads(8):
        dp.noise.laplace(1.0, 100_000)
        dp.mean(X, **B)
        dp.median(X, **B)


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when the test says so."""
    now = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])
    return now


def test_what_cannot_be_called(monkeypatch):
    for progress in (1, "yes", 0):
        with pytest.raises(ArgumentTypeError, match="must be True, False, None or a function"):
            check(progress)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with pytest.raises(MissingExtraError, match="needs rich: pip install rich"):
        check(True)


def test_a_function_is_called_twenty_times_a_second_and_at_the_end(clock):
    seen = []
    with reporter(lambda done, total: seen.append((done, total)), 1000) as tick:
        for _ in range(500):  # half a second
            tick(2)
            clock[0] += 0.001
    assert seen[-1] == (1000, 1000)
    assert 9 <= len(seen) <= 11 and seen == sorted(seen)


def test_what_the_function_raises_passes_on(clock):
    with (
        pytest.raises(LookupError, match="mine"),
        reporter(Mock(side_effect=LookupError("mine")), 3) as tick,
    ):
        clock[0] = 1.0
        tick(1)


def test_ticks_from_many_threads_add_up(clock):
    seen = []
    with reporter(lambda done, _: seen.append(done), 2001) as tick:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(tick, [1] * 2000))
        clock[0] = 1.0
        tick(1)
    assert seen == [2001, 2001]


def test_a_bar_on_stderr(capsys):
    check(True)
    with reporter(True, 12) as tick:
        tick(12)
    out, err = capsys.readouterr()
    assert out == "" and "blocks" in err and "12/12" in err


@pytest.mark.parametrize("name", ["dp_accounting", "dp_accounting.pld"])
def test_what_is_missing_can_be_installed_as_the_message_says(name, monkeypatch):
    assert extra("math", "a test") is math
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as caught:
        extra(name, "a loss distribution")
    line = "a loss distribution needs dp-accounting: pip install dp-accounting"
    assert str(caught.value) == line
