"""PipelineDP: aggregations of a collection by key, here with its local backend."""

import pipeline_dp as pdp
import workloads as ask

NAME, DISTRIBUTION = "PipelineDP", "pipeline-dp"
ROWS = "count", "sum", "mean", "variance", "histogram", "median", "quantiles"
OFFERS = dict.fromkeys((*ROWS, "groups", "private_groups", "people"), (ask.ADD,))
ABSENT = {
    "database": "no tables in a database but through Beam or Spark",
    "marginals": "counts by partition, one table after another: not asked",
    "tpch_1": "no joins",
    "tpch_6": "no joins",
    "tpch_14": "no joins",
    "selection": "no mechanism of selection in its interface",
    "noise": "no noise on numbers of a user in its interface",
    **dict.fromkeys(ask.MODELS, "no models"),
    "stream": "no counter of a stream",
}
#: What hides a part of the loss from who sees the answer alone: how many parts of equal loss there
#: are at least, and which.
TREE = "four levels of a tree, a quarter of epsilon each, and 16 noisy counts add up on each"
HIDES = {
    "mean": (2, "the quotient of a noisy sum and a noisy count, half of epsilon each"),
    "variance": (3, "made of three noisy sums, a third of epsilon each"),
    **dict.fromkeys(("median", "quantiles"), (4, TREE)),
    "private_groups": (2, "half of epsilon shows the group, half is for the noise of its sum"),
    "people": (5, "the sums of five groups, a fifth of epsilon each"),
}


def prepare(data, workload):
    """Tuples of a person, a key and a value; without persons, each row is one."""
    n = len(data["value"])
    who = data["person"].tolist() if "person" in data and workload == "people" else range(n)
    if "key" in data:
        keys = [ask.KEYS[i] for i in data["key"].tolist()]
    elif workload == "histogram":
        width = (ask.HIGH - ask.LOW) / 100
        keys = ((data["value"].clip(*ask.BOUNDS) - ask.LOW) / width).astype(int).clip(0, 99)
        keys = keys.tolist()
    else:
        keys = [0] * n
    return list(zip(who, keys, data["value"].tolist(), strict=True))


def aggregate(data, metrics, public, delta=0.0, groups=1, rows=1):
    accountant = pdp.NaiveBudgetAccountant(total_epsilon=ask.EPSILON, total_delta=delta)
    engine = pdp.DPEngine(accountant, pdp.LocalBackend())
    params = pdp.AggregateParams(
        noise_kind=pdp.NoiseKind.LAPLACE,
        metrics=metrics,
        max_partitions_contributed=groups,
        max_contributions_per_partition=rows,
        min_value=ask.LOW,
        max_value=ask.HIGH,
    )
    extractors = pdp.DataExtractors(lambda row: row[0], lambda row: row[1], lambda row: row[2])
    result = engine.aggregate(data, params, extractors, public_partitions=public)
    accountant.compute_budgets()
    return dict(result)


def count(data, neighbors):
    high = [row for row in data if row[2] > ask.HIGH_VALUE]
    return lambda: aggregate(high, [pdp.Metrics.COUNT], [0])[0].count


def sum(data, neighbors):
    return lambda: aggregate(data, [pdp.Metrics.SUM], [0])[0].sum


def mean(data, neighbors):
    return lambda: aggregate(data, [pdp.Metrics.MEAN], [0])[0].mean


def variance(data, neighbors):
    return lambda: aggregate(data, [pdp.Metrics.VARIANCE], [0])[0].variance


def histogram(data, neighbors):
    def answer():
        found = aggregate(data, [pdp.Metrics.COUNT], list(range(100)))
        return [found[i].count for i in range(100)]

    return answer


def median(data, neighbors):
    return lambda: aggregate(data, [pdp.Metrics.PERCENTILE(50)], [0])[0][0]


def quantiles(data, neighbors):
    metrics = [pdp.Metrics.PERCENTILE(100 * q) for q in ask.QS]
    return lambda: list(aggregate(data, metrics, [0])[0])


def groups(data, neighbors):
    def answer():
        found = aggregate(data, [pdp.Metrics.SUM], list(ask.KEYS))
        return {key: value.sum for key, value in found.items()}

    return answer


def private_groups(data, neighbors):
    def answer():
        found = aggregate(data, [pdp.Metrics.SUM], None, ask.DELTA)
        return {key: value.sum for key, value in found.items()}

    return answer


def people(data, neighbors):
    def answer():
        found = aggregate(
            data, [pdp.Metrics.SUM], list(ask.KEYS), 0.0, ask.MAX_GROUPS, ask.MAX_ROWS
        )
        return {key: value.sum for key, value in found.items()}

    return answer
