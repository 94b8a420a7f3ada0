"""Times of PipelineDP's mechanisms and of the adapter's, as the page has them.

python benchmarks/pipelinedp.py [--rows 1000000]
"""

import argparse
import statistics
import time

import numpy as np
import pipeline_dp as pdp
from pydp.algorithms import partition_selection

from dpfast.adapters.pipelinedp import ColumnarEngine, create_partition_strategy, installed

METRICS = pdp.Metrics.COUNT, pdp.Metrics.SUM, pdp.Metrics.MEAN, pdp.Metrics.PRIVACY_ID_COUNT
KINDS = pdp.aggregate_params


def seconds(run, repeats=5):
    """The median time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def each(run, times=5000):
    """The time of one of many calls."""
    return seconds(lambda: [run() for _ in range(times)]) / times


def both(run, measure=seconds):
    """The times of a call by PyDP and by dpfast."""
    theirs = measure(run)
    with installed():
        run()
        return theirs, measure(run)


def number():
    """Noise on one number, by a mechanism that is there."""
    mechanism = pdp.dp_computations.LaplaceMechanism.create_from_epsilon(1.0, 1.0)
    return each(lambda: mechanism.add_noise(3.0))


def numbers():
    theirs = number()
    with installed():
        return theirs, number()


def vector(noise):
    norm = KINDS.NormKind.L1 if noise.name == "LAPLACE" else KINDS.NormKind.L2
    own = pdp.dp_computations.AdditiveVectorNoiseParams(1.0, 1e-6, 1.0, 1, None, norm, noise)
    values = np.arange(100_000.0)
    return both(lambda: pdp.dp_computations.add_noise_vector(values, own))


def partition(name):
    asked = name, 1.0, 1e-5, 3
    theirs = partition_selection.create_partition_strategy(*asked)
    ours = create_partition_strategy(*asked)
    return each(lambda: theirs.should_keep(30)), each(lambda: ours.should_keep(30))


def percentiles(rows):
    """A median of a partition, and of one whose values come a hundred at a time."""
    values = np.random.default_rng(1).uniform(0, 100, rows).tolist()
    params = pdp.AggregateParams(
        metrics=[pdp.Metrics.PERCENTILE(50)],
        min_value=0,
        max_value=100,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
    )
    accountant = pdp.NaiveBudgetAccountant(1, 1e-6)
    (own,) = pdp.combiners.create_compound_combiner(params, accountant)._combiners
    accountant.compute_budgets()

    def merged():
        found = own.create_accumulator(values[:100])
        for i in range(100, rows, 100):
            found = own.merge_accumulators(found, own.create_accumulator(values[i : i + 100]))
        return own.compute_metrics(found)

    once = both(
        lambda: own.compute_metrics(own.create_accumulator(values)), lambda f: seconds(f, 3)
    )
    return once, both(merged, lambda f: seconds(f, 1))


def tables(rows):
    """One aggregation of a table."""
    rng = np.random.default_rng(1)
    table = {
        "who": rng.integers(0, rows // 10, rows),
        "day": rng.integers(0, 100, rows),
        "spent": rng.uniform(0, 50, rows),
    }
    listed = list(zip(*(column.tolist() for column in table.values()), strict=True))
    params = pdp.AggregateParams(
        metrics=list(METRICS),
        min_value=0,
        max_value=50,
        max_partitions_contributed=5,
        max_contributions_per_partition=2,
    )

    def run(make, data, extractors):
        accountant = pdp.NaiveBudgetAccountant(1, 1e-6)
        result = make(accountant).aggregate(data, params, extractors)
        accountant.compute_budgets()
        assert len(dict(result)) == 100

    def theirs():
        entries = pdp.DataExtractors(*(lambda row, i=i: row[i] for i in range(3)))
        run(lambda own: pdp.DPEngine(own, pdp.LocalBackend()), listed, entries)

    def ours():
        run(ColumnarEngine, table, pdp.DataExtractors(*table))

    ours()
    slow, fast = both(theirs, lambda f: seconds(f, 1))
    return slow, fast, seconds(ours)


def line(name, theirs, ours):
    print(f"| {name} | {shown(theirs)} | {shown(ours)} | {theirs / ours:.2g} |")


def shown(s):
    return f"{s * 1e6:.3g} µs" if s < 1e-3 else f"{s * 1e3:.3g} ms" if s < 1 else f"{s:.3g} s"


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rows", type=int, default=1_000_000)
    rows = options.parse_args().rows
    line("noise on a number, Laplace", *numbers())
    for noise in KINDS.NoiseKind:
        line(f"noise on 100,000 numbers, {noise.name.capitalize()}", *vector(noise))
    for name in ("truncated_geometric", "laplace"):
        line(f"a partition, {name}", *partition(name))
    once, pieces = percentiles(rows)
    line(f"median of {rows:,} values", *once)
    line(f"the same, merged from {rows // 100:,} accumulators", *pieces)
    slow, fast, table = tables(rows)
    line(f"table of {rows:,} rows, `installed`", slow, fast)
    line(f"table of {rows:,} rows, `ColumnarEngine`", slow, table)


if __name__ == "__main__":
    main()
