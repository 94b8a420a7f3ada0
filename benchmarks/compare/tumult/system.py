"""Tumult Analytics, on a local Spark (which needs Java)."""

import os
import sys

import numpy as np
import pandas as pd
import workloads as ask
from pyspark.sql import SparkSession
from tmlt.analytics import (
    AddOneRow,
    AddRowsWithID,
    ApproxDPBudget,
    BinningSpec,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    PureDPBudget,
    QueryBuilder,
    Session,
)

NAME, DISTRIBUTION = "Tumult Analytics", "tmlt.analytics"
ROWS = "count", "sum", "mean", "variance", "histogram", "median", "quantiles"
OFFERS = dict.fromkeys((*ROWS, "groups", "private_groups", "people"), (ask.ADD,))
ABSENT = {
    "database": "tables of Spark",
    "marginals": "not asked",
    "tpch_1": "not asked: 3 public joins of Spark",
    "tpch_6": "not asked: 3 public joins of Spark",
    "tpch_14": "not asked: 3 public joins of Spark",
    "selection": "no mechanism of selection in its interface",
    "noise": "no noise on numbers of a user in its interface",
    **dict.fromkeys(ask.MODELS, "no models"),
    "stream": "no counter of a stream",
}
os.environ["PYSPARK_PYTHON"] = sys.executable


def prepare(data, workload):
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    table = pd.DataFrame(data)
    if "key" in table:
        table["key"] = np.array(ask.KEYS)[table["key"]]
    return spark.createDataFrame(table).cache()


def evaluate(data, query, budget, unit):
    session = Session.from_dataframe(budget, "data", data, protected_change=unit)
    return session.evaluate(query, budget).toPandas()


def number(data, query):
    budget = PureDPBudget(ask.EPSILON)
    return lambda: float(evaluate(data, query, budget, AddOneRow()).iloc[0, 0])


def count(data, neighbors):
    return number(data, QueryBuilder("data").filter(f"value > {ask.HIGH_VALUE}").count())


def sum(data, neighbors):
    return number(data, QueryBuilder("data").sum("value", *ask.BOUNDS))


def mean(data, neighbors):
    return number(data, QueryBuilder("data").average("value", *ask.BOUNDS))


def variance(data, neighbors):
    return number(data, QueryBuilder("data").variance("value", *ask.BOUNDS))


def histogram(data, neighbors):
    edges = BinningSpec(ask.EDGES.tolist(), names=list(range(100)))
    query = QueryBuilder("data").histogram("value", edges)
    budget = PureDPBudget(ask.EPSILON)

    def answer():
        found = evaluate(data, query, budget, AddOneRow())
        counts = dict(zip(found["value_binned"], found["count"], strict=True))
        return [counts.get(i, 0) for i in range(100)]

    return answer


def median(data, neighbors):
    return number(data, QueryBuilder("data").quantile("value", 0.5, *ask.BOUNDS))


def quantiles(data, neighbors):
    each = PureDPBudget(ask.EPSILON / len(ask.QS))

    def answer():
        whole = PureDPBudget(ask.EPSILON)
        session = Session.from_dataframe(whole, "data", data, protected_change=AddOneRow())
        queries = [QueryBuilder("data").quantile("value", q, *ask.BOUNDS) for q in ask.QS]
        return [float(session.evaluate(q, each).toPandas().iloc[0, 0]) for q in queries]

    return answer


def groups(data, neighbors):
    keys = KeySet.from_dict({"key": list(ask.KEYS)})
    query = QueryBuilder("data").groupby(keys).sum("value", *ask.BOUNDS, name="sum")

    def answer():
        found = evaluate(data, query, PureDPBudget(ask.EPSILON), AddOneRow())
        return dict(zip(found["key"], found["sum"], strict=True))

    return answer


def private_groups(data, neighbors):
    half = ask.EPSILON / 2

    def answer():
        budget = ApproxDPBudget(ask.EPSILON, ask.DELTA)
        session = Session.from_dataframe(budget, "data", data, protected_change=AddOneRow())
        shown = session.evaluate(
            QueryBuilder("data").get_groups(["key"]), ApproxDPBudget(half, ask.DELTA)
        )
        query = QueryBuilder("data").groupby(KeySet.from_dataframe(shown))
        query = query.sum("value", *ask.BOUNDS, name="sum")
        found = session.evaluate(query, ApproxDPBudget(half, 0)).toPandas()
        return dict(zip(found["key"], found["sum"], strict=True))

    return answer


def people(data, neighbors):
    keys = KeySet.from_dict({"key": list(ask.KEYS)})
    bounded = QueryBuilder("data").enforce(MaxGroupsPerID("key", ask.MAX_GROUPS))
    bounded = bounded.enforce(MaxRowsPerGroupPerID("key", ask.MAX_ROWS))
    query = bounded.groupby(keys).sum("value", *ask.BOUNDS, name="sum")

    def answer():
        found = evaluate(data, query, PureDPBudget(ask.EPSILON), AddRowsWithID("person"))
        return dict(zip(found["key"], found["sum"], strict=True))

    return answer
