"""A release of few rows makes few calls: what each of them may make, as cProfile counts."""

import cProfile
import gc

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import forget

ROWS = np.random.default_rng(1).uniform(0, 100, 100)
KEYS = np.arange(100) % 4
CHOICE = {"bounds": (0, 120), "epsilon": 1}
MEASURED = dp.Mean(bounds=(0, 120)).measure(epsilon=1)
CASES = {
    "count": (42, lambda: dp.count(ROWS, epsilon=1)),
    "sum": (54, lambda: dp.sum(ROWS, **CHOICE)),
    "mean": (64, lambda: dp.mean(ROWS, **CHOICE)),
    "measurement": (55, lambda: MEASURED(ROWS)),
    "variance": (68, lambda: dp.variance(ROWS, **CHOICE)),
    "histogram": (49, lambda: dp.histogram(ROWS, bins=10, **CHOICE)),
    "median": (74, lambda: dp.median(ROWS, **CHOICE)),
    "mean after a count": (124, lambda: (dp.count(ROWS, epsilon=1), dp.mean(ROWS, **CHOICE))),
    "mean by group": (
        312,
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
    return profile.getstats()


def calls(call):
    return sum(entry.callcount for entry in profiled(call))


@pytest.mark.parametrize("name", CASES)
def test_a_small_release_makes_few_calls(name, pytestconfig):
    if pytestconfig.getoption("--repeat-noise") > 1:
        pytest.skip("draws are counted there, by a call more")
    most, call = CASES[name]
    forget()  # what equal calls of other tests have left
    call()  # what is remembered is made now
    fewest = min(calls(call) for _ in range(5))
    assert fewest <= most, "\n".join(f"{entry.callcount} {entry.code}" for entry in profiled(call))
