"""Does the time of a call tell about its noise? Measure and print; nothing is asserted.

    python benchmarks/timing.py [--calls 200000]

For single releases of a fixed dataset: the rank correlation between the size of the noise and the
time of the call, with its standard error, and the median time. A sample reads a row of a table of
quantiles, so the same is measured for calls that read the whole table first, which leaves all rows
equally near in the cache. A planted sampler has a loop that runs longer for larger noise.
"""

import argparse
import functools
import time

import numpy as np

import dpfast as dp
from dpfast.noise.distributions import Gaussian, Laplace
from dpfast.noise.distributions.table import prepare


def ranks(x):
    place = np.empty(len(x))
    place[np.argsort(x, kind="stable")] = np.arange(len(x))
    return place


def correlation(size, spent):
    keep = spent <= np.quantile(spent, 0.99)  # without the interruptions of the machine
    return np.corrcoef(ranks(size[keep]), ranks(spent[keep]))[0, 1]


def measure(call, truth, calls):
    size, spent = np.empty(calls), np.empty(calls)
    clock = time.perf_counter_ns
    for i in range(calls):
        start = clock()
        value = call()
        spent[i] = clock() - start
        size[i] = abs(value - truth)
    return correlation(size, spent), np.median(spent) / 1e3


def after_the_table(call, distribution):
    rows = prepare(distribution).rows

    def called():
        rows.sum()
        return call()

    return called


def planted():
    """Counts steps until a stop, as a geometric sampler written as a loop does."""
    stream, steps = dp.rng.default_generator().stream(), 0
    while stream.word() & 7:
        steps += 1
    return float(steps)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=200_000)
    n = parser.parse_args().calls
    data = np.linspace(0, 1, 101)
    samples = {
        "one Laplace sample": (lambda: dp.noise.laplace(1.0), Laplace()),
        "one Gaussian sample": (lambda: dp.noise.gaussian(1.0), Gaussian()),
    }
    median = functools.partial(dp.median, data, bounds=(0, 1), epsilon=2.0, neighbors="replace")
    rows = {"median of 101 rows": (median, 0.5)}
    for name, (call, distribution) in samples.items():
        rows[name] = call, 0.0
        rows[f"{name}, table read"] = after_the_table(call, distribution), 0.0
    rows["planted loop"] = planted, 0.0
    print(f"rank correlation of noise and time, {n} calls, standard error {n**-0.5:.4f}")
    for name, (call, truth) in rows.items():
        measure(call, truth, n // 20)
        moved_together, spent = measure(call, truth, n)
        print(f"{name:32s} {moved_together:+.4f}  {spent:6.2f} us a call")
