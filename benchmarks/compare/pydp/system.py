"""PyDP: Google's building blocks for lists of numbers."""

import workloads as ask
from pydp.algorithms.laplacian import (
    BoundedMean,
    BoundedSum,
    BoundedVariance,
    Count,
    Median,
    Percentile,
)
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

NAME, DISTRIBUTION = "PyDP", "python-dp"
OFFERS = dict.fromkeys(
    ("count", "sum", "mean", "variance", "median", "quantiles", "noise", "groups"), (ask.ADD,)
)
ABSENT = {
    "database": "no tables in a database",
    "marginals": "no tables of counts",
    "tpch_1": "no tables, and no people",
    "tpch_6": "no tables, and no people",
    "tpch_14": "no tables, and no people",
    "histogram": "no histogram; a count for each bin is a loop of the user",
    "selection": "no mechanism of selection",
    "private_groups": "a strategy that keeps or drops one group, no answers by group",
    "people": "bounds on contributions are arguments; to enforce them is left to the user",
    **dict.fromkeys(ask.MODELS, "no models"),
    "stream": "no counter of a stream",
}
#: What hides a part of the loss from who sees the answer alone: how many parts of equal loss there
#: are at least, and which.
HIDES = {
    "mean": (2, "the quotient of a noisy sum and a noisy count, half of epsilon each"),
    "variance": (3, "made of three noisy sums, a third of epsilon each"),
    "median": (10, "a search of noisy comparisons, each with a tenth of epsilon at most"),
    "quantiles": (90, "nine searches, each with a ninth of epsilon for ten comparisons or more"),
}


def prepare(data, workload):
    values = data["value"].tolist()
    if "key" not in data:
        return values
    found = {key: [] for key in ask.KEYS}
    for key, value in zip(data["key"].tolist(), values, strict=True):
        found[ask.KEYS[key]].append(value)
    return found


def count(data, neighbors):
    high = [value for value in data if value > ask.HIGH_VALUE]
    return lambda: Count(epsilon=ask.EPSILON, dtype="float").quick_result(high)


def sum(data, neighbors):
    lo, hi = ask.BOUNDS
    return lambda: BoundedSum(
        epsilon=ask.EPSILON, lower_bound=lo, upper_bound=hi, dtype="float"
    ).quick_result(data)


def mean(data, neighbors):
    lo, hi = ask.BOUNDS
    return lambda: BoundedMean(
        epsilon=ask.EPSILON, lower_bound=lo, upper_bound=hi, dtype="float"
    ).quick_result(data)


def variance(data, neighbors):
    lo, hi = ask.BOUNDS
    return lambda: BoundedVariance(
        epsilon=ask.EPSILON, lower_bound=lo, upper_bound=hi, dtype="float"
    ).quick_result(data)


def median(data, neighbors):
    lo, hi = ask.BOUNDS
    return lambda: Median(
        epsilon=ask.EPSILON, lower_bound=lo, upper_bound=hi, dtype="float"
    ).quick_result(data)


def quantiles(data, neighbors):
    lo, hi = ask.BOUNDS
    return lambda: [
        Percentile(
            epsilon=ask.EPSILON / len(ask.QS),
            percentile=q,
            lower_bound=lo,
            upper_bound=hi,
            dtype="float",
        ).quick_result(data)
        for q in ask.QS
    ]


def noise(data, neighbors):
    mechanism = LaplaceMechanism(epsilon=ask.EPSILON, sensitivity=ask.NOISE_SCALE)
    return lambda: [mechanism.add_noise(value) for value in data]


def groups(data, neighbors):
    lo, hi = ask.BOUNDS

    def answer():
        found = {}
        for key, values in data.items():
            total = BoundedSum(epsilon=ask.EPSILON, lower_bound=lo, upper_bound=hi, dtype="float")
            found[key] = total.quick_result(values)
        return found

    return answer
