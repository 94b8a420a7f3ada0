"""A release of few rows makes few calls: what each of them may make, as cProfile counts."""

import cProfile
import gc
import pstats

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import forget

ROWS = np.random.default_rng(1).uniform(0, 100, 100)
KEYS = np.arange(100) % 4
CHOICE = {"bounds": (0, 120), "epsilon": 1}
MEASURED = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
CASES = {
    "count": (40, lambda: dp.count(ROWS, epsilon=1)),
    "sum": (52, lambda: dp.sum(ROWS, **CHOICE)),
    "mean": (61, lambda: dp.mean(ROWS, **CHOICE)),
    "measurement": (53, lambda: MEASURED(ROWS)),
    "variance": (65, lambda: dp.variance(ROWS, **CHOICE)),
    "histogram": (48, lambda: dp.histogram(ROWS, bins=10, **CHOICE)),
    "median": (68, lambda: dp.median(ROWS, **CHOICE)),
    "mean after a count": (122, lambda: (dp.count(ROWS, epsilon=1), dp.mean(ROWS, **CHOICE))),
    "mean by group": (
        305,
        lambda: dp.group_by({"k": KEYS, "x": ROWS}, "k", keys=[0, 1, 2, 3]).mean("x", **CHOICE),
    ),
}


def profiled(call):
    profile = cProfile.Profile()
    gc.disable()  # a collection calls whoever asked to be told of it
    try:
        profile.runcall(call)
    finally:
        gc.enable()
    return pstats.Stats(profile)


def calls(call):
    return profiled(call).total_calls


@pytest.mark.parametrize("name", CASES)
def test_a_small_release_makes_few_calls(name, pytestconfig):
    if pytestconfig.getoption("--repeat-noise") > 1:
        pytest.skip("draws are counted there, by a call more")
    most, call = CASES[name]
    forget()  # what equal calls of other tests have left
    call()  # what is remembered is made now
    fewest = min((profiled(call) for _ in range(5)), key=lambda stats: stats.total_calls)
    listed = "\n".join(f"{times[1]} {name}" for (*_, name), times in fewest.stats.items())
    assert fewest.total_calls <= most, listed
