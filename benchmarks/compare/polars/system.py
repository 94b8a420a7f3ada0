"""Polars, without privacy: the exact answers, as a floor of time."""

import numpy as np
import polars as pl
import workloads as ask

NAME, DISTRIBUTION = "Polars (not private)", "polars"
ROWS = "count", "sum", "mean", "variance", "histogram", "median", "quantiles"
OFFERS = {
    **dict.fromkeys((*ROWS, "groups", "people"), (ask.ADD,)),
    **dict.fromkeys(("selection", "stream"), (ask.REPLACE,)),
}
ABSENT = {
    "database": "no tables in a database",
    "marginals": "not asked",
    "tpch_1": "not asked",
    "tpch_6": "not asked",
    "tpch_14": "not asked",
    "noise": "no Laplace noise",
    "private_groups": "all keys are shown: the row of public keys",
    "clusters": "no models",
    "components": "no models",
    "regression": "no least squares of several features",
    "trees": "no models",
}


def prepare(data, workload):
    if "key" in data:
        data = data | {"key": np.array(ask.KEYS)[data["key"]]}
    return pl.DataFrame(data)


def count(data, neighbors):
    return lambda: data.select((pl.col("value") > ask.HIGH_VALUE).sum()).item()


def sum(data, neighbors):
    return lambda: data.select(pl.col("value").clip(*ask.BOUNDS).sum()).item()


def mean(data, neighbors):
    return lambda: data.select(pl.col("value").clip(*ask.BOUNDS).mean()).item()


def variance(data, neighbors):
    return lambda: data.select(pl.col("value").clip(*ask.BOUNDS).var(ddof=0)).item()


def histogram(data, neighbors):
    bins = ask.EDGES.tolist()
    return lambda: data["value"].clip(*ask.BOUNDS).hist(bins)["count"].to_list()


def median(data, neighbors):
    return lambda: data.select(pl.col("value").median()).item()


def quantiles(data, neighbors):
    wanted = [pl.col("value").quantile(q, "linear").alias(str(q)) for q in ask.QS]
    return lambda: data.select(wanted).row(0)


def selection(data, neighbors):
    return lambda: data.select(pl.col("score").arg_max()).item()


def groups(data, neighbors):
    return lambda: dict(data.group_by("key").agg(pl.col("value").sum()).iter_rows())


def people(data, neighbors):
    def answer():
        pairs = data.group_by("person", "key").agg(pl.col("value").head(ask.MAX_ROWS).sum())
        kept = pairs.filter(pl.int_range(pl.len()).over("person") < ask.MAX_GROUPS)
        return dict(kept.group_by("key").agg(pl.col("value").sum()).iter_rows())

    return answer


def stream(data, neighbors):
    return lambda: data.select(pl.col("bit").cum_sum()).to_series().to_list()
