"""DuckDB's privacy extension in its mode of PAC: a bound on information, and no loss.

It is set up as in its other mode, and noise is as its setting `pac_mi` says by default, 1/128.
"""

import importlib.util
from pathlib import Path

import workloads as ask

FILE = Path(__file__).parents[1] / "duckdb_elastic" / "system.py"
SPEC = importlib.util.spec_from_file_location("duckdb_elastic", FILE)
elastic = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(elastic)

NAME, DISTRIBUTION, MORE = "DuckDB privacy, PAC (not DP)", "duckdb", elastic.MORE
OFFERS = {
    **dict.fromkeys(("count", "sum", "mean", "histogram", "groups", "database"), (ask.ADD,)),
    **dict.fromkeys(("marginals", "tpch_1", "tpch_6", "tpch_14"), (ask.ADD,)),
}
ABSENT = {
    "variance": "no variance among its aggregates",
    "median": "no quantiles",
    "quantiles": "no quantiles",
    "selection": "no mechanism of selection",
    "noise": "no noise on numbers of a user",
    "private_groups": "all keys are shown: the row of public keys",
    "people": "its tables are in a database: the next question",
    "clusters": "no models",
    "components": "no models",
    "regression": "no models",
    "trees": "no models",
    "stream": "no counter of a stream",
}


def prepare(data, workload):
    return elastic.prepare(data, workload, "pac")


def count(data, neighbors):
    return elastic.count(data, neighbors)


def sum(data, neighbors):
    query = f"SELECT sum(greatest({ask.LOW}, least({ask.HIGH}, value))) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def mean(data, neighbors):
    query = f"SELECT avg(greatest({ask.LOW}, least({ask.HIGH}, value))) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def histogram(data, neighbors):
    return elastic.histogram(data, neighbors)


def groups(data, neighbors):
    return elastic.groups(data, neighbors)


def database(data, neighbors):
    return elastic.database(data, neighbors)


def marginals(data, neighbors):
    return elastic.marginals(data, neighbors)


def tpch_1(data, neighbors):
    return elastic.tpch_1(data, neighbors)


def tpch_6(data, neighbors):
    return elastic.tpch_6(data, neighbors)


def tpch_14(data, neighbors):
    query = """
        SELECT sum(CASE WHEN p_type = 'PROMO' THEN l_extendedprice * (1 - l_discount) ELSE 0 END),
            sum(l_extendedprice * (1 - l_discount))
        FROM lineitem JOIN part ON l_partkey = p_partkey
        WHERE l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'
    """

    def answer():
        promo, price = data.sql(query).fetchone()
        return 100 * float(promo) / float(price)

    return answer
