"""SmartNoise SQL, on a pandas table. Its loss is for each column of a query; here all sum to 1."""

import numpy as np
import pandas as pd
import snsql
import workloads as ask
from snsql import Privacy

NAME, DISTRIBUTION = "SmartNoise SQL", "smartnoise-sql"
OFFERS = dict.fromkeys(
    ("count", "sum", "mean", "variance", "histogram", "private_groups"), (ask.ADD,)
)
ABSENT = {
    "database": "DuckDB is none of its readers",
    "marginals": "counts by private keys, one table after another: not asked",
    "tpch_1": "by private keys and rows of one table: not asked",
    "tpch_6": "by private keys and rows of one table: not asked",
    "tpch_14": "by private keys and rows of one table: not asked",
    "median": "no quantiles",
    "quantiles": "no quantiles",
    "selection": "no mechanism of selection",
    "noise": "no noise on numbers of a user",
    "groups": "keys come from the data, behind a threshold",
    "people": "with private keys only",
    **dict.fromkeys(ask.MODELS, "no models in this package"),
    "stream": "no counter of a stream",
}


def prepare(data, workload):
    if workload == "histogram":
        width = (ask.HIGH - ask.LOW) / 100
        bins = ((data["value"].clip(*ask.BOUNDS) - ask.LOW) / width).astype(int).clip(0, 99)
        return pd.DataFrame({"bin": bins})
    if "key" in data:
        return pd.DataFrame({"value": data["value"], "key": np.array(ask.KEYS)[data["key"]]})
    return pd.DataFrame(data)


def asking(data, query, columns):
    """A reader of one table, with a part of the loss for each column that the query needs."""
    table = {"rows": len(data), "row_privacy": True, **columns}
    metadata = {"": {"": {"data": table}}}
    whole = snsql.from_df(data, privacy=Privacy(epsilon=ask.EPSILON), metadata=metadata)
    cost = float(whole.get_privacy_cost(query)[0])
    privacy = Privacy(epsilon=ask.EPSILON / cost * ask.EPSILON, delta=ask.DELTA)
    reader = snsql.from_df(data, privacy=privacy, metadata=metadata)
    return lambda: reader.execute(query)[1:]


VALUE = {"value": {"type": "float", "lower": ask.LOW, "upper": ask.HIGH}}


def count(data, neighbors):
    query = f"SELECT COUNT(*) AS n FROM data WHERE value > {ask.HIGH_VALUE}"
    answers = asking(data, query, VALUE)
    return lambda: answers()[0][0]  # too few rows are no answer


def sum(data, neighbors):
    answers = asking(data, "SELECT SUM(value) AS s FROM data", VALUE)
    return lambda: answers()[0][0]  # too few rows are no answer


def mean(data, neighbors):
    answers = asking(data, "SELECT AVG(value) AS m FROM data", VALUE)
    return lambda: answers()[0][0]  # too few rows are no answer


def variance(data, neighbors):
    answers = asking(data, "SELECT VARIANCE(value) AS v FROM data", VALUE)
    return lambda: answers()[0][0]  # too few rows are no answer


def histogram(data, neighbors):
    query = "SELECT bin, COUNT(*) AS n FROM data GROUP BY bin"
    answers = asking(data, query, {"bin": {"type": "int", "lower": 0, "upper": 99}})

    def answer():
        found = dict(map(tuple, answers()))
        return [found.get(i, 0) for i in range(100)]

    return answer


def private_groups(data, neighbors):
    query = "SELECT key, SUM(value) AS s FROM data GROUP BY key"
    answers = asking(data, query, VALUE | {"key": {"type": "string"}})
    return lambda: dict(map(tuple, answers()))
