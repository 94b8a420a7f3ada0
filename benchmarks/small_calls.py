"""What small releases cost: time in turn with OpenDP's mean of a list, calls and fractions made.

    python benchmarks/small_calls.py [--rows 100] [--rounds 30]

Times are minima of rounds in which every case has its turn. Calls are those that cProfile counts,
and fractions those that are made, of a call that was made before. "ratio" is the time over that of
OpenDP's mean of a list of as many numbers, or, of a median, over that of a partition and 20 us.
"""

import argparse
import cProfile
import timeit
from fractions import Fraction

import numpy as np

import dpfast as dp
from benchmarks import rivals

EACH = 100
BOUNDS = {"bounds": (0, 120)}


def cases(rows):
    data = np.random.default_rng(1).uniform(0, 100, rows)
    listed, rival, measured = data.tolist(), rivals.load("opendp"), dp.Mean(**BOUNDS)
    mean, budget = measured.measure(epsilon=1), dp.Budget(epsilon=10**9)
    yield "np.mean", lambda: np.mean(data)
    yield "np.partition", lambda: np.partition(data, rows // 2)
    if rival is not None:
        yield "OpenDP", lambda: rival.mean(listed, (0, 120), 1.0)
    yield "count", lambda: dp.count(data, epsilon=1)
    yield "sum", lambda: dp.sum(data, **BOUNDS, epsilon=1)
    yield "mean", lambda: dp.mean(data, **BOUNDS, epsilon=1)
    yield "measured mean", lambda: mean(data)
    yield "mean of a list", lambda: dp.mean(listed, **BOUNDS, epsilon=1)
    yield "mean with a budget", lambda: dp.mean(data, **BOUNDS, epsilon=1, budget=budget)
    yield "variance", lambda: dp.variance(data, **BOUNDS, epsilon=1)
    yield "histogram", lambda: dp.histogram(data, bins=10, **BOUNDS, epsilon=1)
    yield "median", lambda: dp.median(data, **BOUNDS, epsilon=1)


def profiled(call):
    """Return how many calls a call makes, and how many fractions."""
    profile = cProfile.Profile()
    profile.runcall(call)
    entries, made = profile.getstats(), Fraction.__new__.__code__
    fractions = sum(entry.callcount for entry in entries if entry.code is made)
    return sum(entry.callcount for entry in entries), fractions


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=30)
    asked = parser.parse_args()
    calls = dict(cases(asked.rows))
    best = dict.fromkeys(calls, np.inf)
    for _ in range(asked.rounds):
        for name, call in calls.items():
            best[name] = min(best[name], timeit.timeit(call, number=EACH) / EACH * 1e6)
    print(f"{asked.rows} rows{'':12}      us  ratio  calls  fractions")
    for name, call in calls.items():
        floor = best["np.partition"] + 20 if name == "median" else best.get("OpenDP", np.nan)
        made = "{:6d} {:10d}".format(*profiled(call)) if name[:3] not in ("np.", "Ope") else ""
        print(f"{name:20} {best[name]:9.2f} {best[name] / floor:6.3f} {made}")


if __name__ == "__main__":
    main()
