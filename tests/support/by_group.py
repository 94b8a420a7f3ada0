"""Releases by group as functions of one table, for the battery of all releases."""

import numpy as np

import dpfast as dp
from dpfast.extend import prepare, releases

RNG = np.random.default_rng(21)
SIZE = 331
TABLE = {"key": RNG.integers(0, 5, SIZE),
    "word": np.array([f"w{i}" for i in RNG.integers(0, 30, SIZE) ** 2 // 40]),
    "x": np.round(4 * RNG.normal(40, 20, SIZE)) / 4, "who": np.arange(SIZE) // 3}  # fmt: skip
KEYS = [3, 0, 9, 1]


def of(name, own, **people):
    """The method of a name, with some arguments, as a function of the table."""

    @releases
    def released(data, *, epsilon=None, delta=0.0, rho=None, neighbors=None, where=None,
        budget=None, rng=None):  # fmt: skip
        groups = dp.group_by(data, "key", keys=KEYS, neighbors=neighbors, **people)
        given = {"epsilon": epsilon, "delta": delta, "rho": rho, "budget": budget, "rng": rng}
        return prepare(getattr(groups, name), **own, **given, where=where)

    released.__name__ = f"{name}_of_each_group"
    return released


count = of("count", {})
count.__name__ = "count"


@releases
def mean(data, *, bounds, epsilon=None, delta=0.0, rho=None, neighbors=None, nan="raise",
    budget=None, rng=None):  # fmt: skip
    groups = dp.group_by(data, "key", keys=KEYS, neighbors=neighbors)
    given = {"epsilon": epsilon, "delta": delta, "rho": rho, "budget": budget, "rng": rng}
    return prepare(groups.mean, "x", bounds=bounds, nan=nan, **given)


@releases
def quantiles(data, *, qs, bounds, epsilon=None, delta=0.0, rho=None, neighbors=None, budget=None,
    rng=None):  # fmt: skip
    groups = dp.group_by(data, "key", keys=KEYS, neighbors=neighbors)
    given = {"epsilon": epsilon, "delta": delta, "rho": rho, "budget": budget, "rng": rng}
    return prepare(groups.quantiles, "x", qs, bounds=bounds, **given)


@releases
def several_of_people(data, *, ids, max_groups, max_rows, weights, epsilon=None, delta=0.0,
    rho=None, neighbors=None, where=None, budget=None, rng=None):  # fmt: skip
    people = {"ids": ids, "max_groups": max_groups, "max_rows": max_rows}
    groups = dp.group_by(data, ["key"], keys=KEYS, neighbors=neighbors, **people)
    given = {"epsilon": epsilon, "delta": delta, "rho": rho, "budget": budget, "rng": rng}
    asked = {"people": dp.stat.count_distinct(), "sum": dp.stat.sum("x", bounds=(0, 100))}
    return prepare(groups.agg, asked, weights=weights, where=where, **given)


@releases
def top(data, *, k, epsilon=None, rho=None, neighbors=None, budget=None, rng=None):
    groups = dp.group_by(data, "who", keys=range(8), neighbors=neighbors)
    return prepare(groups.top_k, k, epsilon=epsilon, rho=rho, budget=budget, rng=rng)


@releases
def of_private_keys(data, *, epsilon, delta, neighbors=None, budget=None, rng=None):
    groups = dp.group_by(data, ["word", "key"], neighbors=neighbors)
    asked = {"n": dp.stat.count(), "low": dp.stat.quantile("x", 0.1, bounds=(0, 100))}
    return prepare(groups.agg, asked, epsilon=epsilon, delta=delta, budget=budget, rng=rng)
