"""Errors of queries that are known beforehand: a workload's, a tree's, a histogram's, a stream's.

    python -m benchmarks.workloads [--bins 64 256 1024 4096] [--runs 200] [--rho 0.1]

prints for all ranges and for all prefix sums of so many bins, under add-remove,

    certificate   the mean squared error of `dp.workload` over a bound that no strategy with
                  Gaussian noise is below, and the root of it
    over tree     its root mean square error over that of `dp.tree_histogram`
    over bins     the same over `dp.histogram`
    over stream   the same over `dp.online.RunningCount`, of prefix sums: the square root of their
                  matrix, which needs no plan
    over its tree the same with a tree of fan-out 2, which a stream in a file has
    measured      its root mean square error in runs on no rows, each with a seed of its own, over
                  the one that is said, with the standard error; and the same of the tree
    seconds       of the plan, by itself

Errors of ranges are all of them: e'Ve for errors e of the bins. 4,096 bins take some minutes and
2 GB. Where other programs run, OPENBLAS_NUM_THREADS=1 is faster.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator
from dpfast.statistics.tree.consistency import level_sizes
from dpfast.statistics.workload.queries import queries_of
from dpfast.statistics.workload.strategy import best_strategy


def tree_covariance(bins, fan_out):
    """The covariance of the counts of a tree for noise of variance 1, by definition."""
    width, gram = 1, np.zeros((bins, bins))
    for _ in level_sizes(bins, fan_out):
        node = np.arange(bins) // width
        gram += node[:, np.newaxis] == node
        width *= fan_out
    return np.linalg.inv(gram)


def measured(statistic, gram, said, runs, rho):
    """The root mean square error of some runs over the one that is said, with a standard error."""
    ask = statistic.measure(rho=rho)
    errors = [ask([], rng=InsecureGenerator(seed)).counts for seed in range(runs)]
    squares = np.array([error @ gram @ error for error in errors]) / said
    return f"{np.sqrt(squares.mean()):.3f}±{squares.std() / 2 / np.sqrt(runs):.3f}"


def row(word, bins, runs, rho):
    """The columns of a line."""
    queries, how = queries_of(word), {"bins": bins, "bounds": (0, bins)}
    gram = queries.gram(bins)
    best_strategy.cache_clear()
    start = time.perf_counter()
    plan = best_strategy(queries, bins)
    seconds = time.perf_counter() - start
    ours = dp.Workload(queries=word, **how)
    noise = ours.measure(rho=rho).inner.noise
    error = noise.deviation**2 * float((gram @ plan.inverse * plan.inverse).sum())
    made = dp.TreeHistogram(**how).measure(rho=rho)
    tree = made.inner.noise.deviation**2 * float(
        (gram * tree_covariance(bins, made.inner.statistic.fan_out)).sum()
    )
    flat = dp.Histogram(**how).measure(rho=rho).inner.noise.deviation ** 2 * gram.trace()
    streams = [np.nan, np.nan]
    if word == "prefix":
        opened = [dp.online.RunningCount(bins, rho=rho, fan_out=b) for b in (None, 2)]
        streams = [sum(one.add(0).deviation ** 2 for _ in range(bins)) for one in opened]
    runs = max(10, runs // max(1, bins // 256))
    return [
        f"{word:7}{bins:6}",
        f"{plan.certificate:.4f} {plan.certificate**0.5:.4f}",
        *(f"{np.sqrt(error / other):.3f}" for other in (tree, flat, *streams)),
        measured(ours, gram, error, runs, rho),
        measured(made.statistic, gram, tree, runs, rho),
        f"{seconds:7.2f}",
    ]


def main(argv=None):
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bins", type=int, nargs="+", default=[64, 256, 1024, 4096])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rho", type=float, default=0.1)
    asked = parser.parse_args(argv)
    print("queries  bins  certificate  tree  bins  stream  its tree  measured, tree's  seconds")
    for word in ("ranges", "prefix"):
        for bins in asked.bins:
            print("  ".join(row(word, bins, asked.runs, asked.rho)), flush=True)


if __name__ == "__main__":
    main()
