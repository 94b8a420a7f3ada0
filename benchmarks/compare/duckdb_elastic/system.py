"""DuckDB's privacy extension in its mode of elastic sensitivity (dp_elastic).

It is a community extension; DPFAST_DUCKDB_PRIVACY names the file of one that is here already.
"""

import os
import sys

import numpy as np
import pyarrow as pa
import workloads as ask

sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)  # for an extension that uses this library's names
import duckdb  # noqa: E402

NAME, DISTRIBUTION = "DuckDB privacy, elastic", "duckdb"
#: The loss of one table is pure. Joins have smooth sensitivity, and so a delta.
DELTA = ask.DELTA
OFFERS = {
    **dict.fromkeys(("count", "sum", "mean", "histogram", "groups"), (ask.ADD,)),
    **dict.fromkeys(("database", "marginals", "tpch_1", "tpch_6"), (ask.ADD,)),
}
ABSENT = {
    "variance": "counts, sums and means only",
    "median": "counts, sums and means only",
    "quantiles": "counts, sums and means only",
    "selection": "no mechanism of selection",
    "noise": "no noise on numbers of a user, but an internal function",
    "private_groups": "all keys are shown, also one of one person: a fault of the page",
    "people": "its tables are in a database: the next question",
    "tpch_14": "refused: the part of a line is in no linear chain of keys",
    "clusters": "no models",
    "components": "no models",
    "regression": "no models",
    "trees": "no models",
    "stream": "no counter of a stream",
}
HIDES = {
    "mean": (2, "the quotient of a noisy sum and a noisy count, half of epsilon each"),
    "histogram": (1, "a bin of which the row is the last is left out"),
    "database": (10, "noise for the most rows of a person, among all groups"),
    "marginals": (3, "three tables, a third of epsilon each"),
    "tpch_1": (16, "eight numbers, with a part of epsilon each"),
    "tpch_6": (2, "smooth sensitivity: twice the noise"),
}
BOUND = max(-ask.LOW, ask.HIGH)


def MORE():
    """The version of the extension."""
    names = "extension_name IN ('pac', 'privacy') AND loaded"
    query = f"SELECT extension_version FROM duckdb_extensions() WHERE {names}"
    return f"privacy {connect().sql(query).fetchone()[0]}"


def connect(mode="dp_elastic"):
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    file = os.environ.get("DPFAST_DUCKDB_PRIVACY")
    if not file:
        connection.execute("INSTALL privacy FROM community")
    connection.execute(f"LOAD '{file}'" if file else "LOAD privacy")
    connection.execute(f"SET privacy_mode = '{mode}'")
    return connection


def prepare(data, workload, mode="dp_elastic"):
    """Tables, and whose rows they are."""
    connection = connect(mode)
    if workload == "histogram":
        width = (ask.HIGH - ask.LOW) / 100
        bins = np.clip((data["value"] - ask.LOW) / width, 0, 99).astype(int)
        data = {"bin": bins}
    if "key" in data:
        data = data | {"key": np.array(ask.KEYS)[data["key"]]}
    tables = ask.tables(data) if workload.startswith("tpch") else {"data": data}
    if workload == "database":
        tables["people"] = {"person": np.unique(data["person"])}
    elif "data" in tables:
        tables["data"] = {"id": np.arange(len(next(iter(data.values())))), **data}
    for name, columns in tables.items():
        connection.register("given", pa.table(dict(columns)))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        connection.unregister("given")
    unit, key = ("data", "id")
    if workload == "database":
        unit, key = "people", "person"
    elif workload.startswith("tpch"):
        unit, key = "customer", "c_custkey"
    connection.execute(f"ALTER TABLE {unit} ADD PRIVACY_KEY ({key})")
    connection.execute(f"ALTER TABLE {unit} SET PU")
    connection.execute(f"ALTER PU TABLE {unit} ADD PROTECTED ({key})")
    links = {
        "database": ["data ADD PRIVACY_LINK (person) REFERENCES people(person)"],
        "tpch": [
            "orders ADD PRIVACY_LINK (o_custkey) REFERENCES customer(c_custkey)",
            "lineitem ADD PRIVACY_LINK (l_orderkey) REFERENCES orders(o_orderkey)",
        ],
    }.get(workload.partition("_")[0], [])
    for link in links:
        connection.execute(f"ALTER TABLE {link}")
    if mode == "dp_elastic":
        loss = ask.EPSILON / 3 if workload == "marginals" else ask.EPSILON
        connection.execute(f"SET dp_epsilon = {loss}")
        connection.execute(f"SET dp_delta = {ask.DELTA if links else 0}")
        bound = ask.CHARGE if workload == "tpch_1" else ask.REVENUE if links else BOUND
        connection.execute(f"SET dp_sum_bound = {BOUND if workload == 'database' else bound}")
    return connection


def count(data, neighbors):
    query = f"SELECT count(*) FROM data WHERE value > {ask.HIGH_VALUE}"
    return lambda: data.sql(query).fetchone()[0]


def sum(data, neighbors):
    return lambda: data.sql("SELECT sum(value) FROM data").fetchone()[0]


def mean(data, neighbors):
    return lambda: data.sql("SELECT avg(value) FROM data").fetchone()[0]


def histogram(data, neighbors):
    query = "SELECT bin, count(*) FROM data GROUP BY bin"

    def answer():
        found = dict(data.sql(query).fetchall())
        return [found.get(i) or 0 for i in range(100)]

    return answer


def groups(data, neighbors):
    query = "SELECT key, sum(value) FROM data GROUP BY key"
    return lambda: dict(data.sql(query).fetchall())


def database(data, neighbors):
    query = "SELECT key, sum(value) FROM data GROUP BY key"
    return lambda: dict(data.sql(query).fetchall())


def marginals(data, neighbors):
    names = list(ask.SHAPE)
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    queries = [f"SELECT {x}, {y}, count(*) FROM data GROUP BY {x}, {y}" for x, y in pairs]

    def answer():
        tables = [np.zeros((ask.SHAPE[x], ask.SHAPE[y])) for x, y in pairs]
        for table, query in zip(tables, queries, strict=True):
            for i, j, n in data.sql(query).fetchall():
                table[i, j] = n
        return np.concatenate([table.ravel() for table in tables])

    return answer


def tpch_1(data, neighbors):
    query = f"""
        SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),
            sum(l_extendedprice * (1 - l_discount)),
            sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),
            avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
        FROM lineitem WHERE l_shipdate <= DATE '{ask.LAST_SHIP}' GROUP BY ALL
    """

    def answer():
        found = {(flag, status): numbers for flag, status, *numbers in data.sql(query).fetchall()}
        return [float(x or 0) for flag in ask.FLAGS for x in found.get(flag, [0.0] * 8)]

    return answer


def tpch_6(data, neighbors):
    query = """
        SELECT sum(l_extendedprice * l_discount) FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
        AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
    """
    return lambda: data.sql(query).fetchone()[0]
