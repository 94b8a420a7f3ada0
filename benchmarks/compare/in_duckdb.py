"""Tables and queries in DuckDB, which several systems of the comparison ask in the same words.

It is read in the environment of each system, as `workloads` is, and needs NumPy alone. Who calls
it has DuckDB and PyArrow. The privacy extension of DuckDB is a community extension;
DPFAST_DUCKDB_PRIVACY names the file of one that is here already.
"""

import os
import sys

import numpy as np
import workloads as ask


def tables(data, workload):
    """The tables of a workload, with keys as texts."""
    if workload.startswith("tpch"):
        return ask.tables(data)
    return {"data": data | {"key": np.array(ask.KEYS)[data["key"]]} if "key" in data else data}


def fill(connection, tables):
    """Copy tables to a connection of DuckDB, and return it."""
    import pyarrow as pa

    for name, columns in tables.items():
        connection.register("given", pa.table(dict(columns)))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        connection.unregister("given")
    return connection


def connect(mode="dp_elastic"):
    """Connect to DuckDB with its privacy extension."""
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)  # the extension uses DuckDB's names
    import duckdb

    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    file = os.environ.get("DPFAST_DUCKDB_PRIVACY")
    if not file:
        connection.execute("INSTALL privacy FROM community")
    connection.execute(f"LOAD '{file}'" if file else "LOAD privacy")
    connection.execute(f"SET privacy_mode = '{mode}'")
    return connection


def extension():
    """The version of the extension."""
    names = "extension_name IN ('pac', 'privacy') AND loaded"
    query = f"SELECT extension_version FROM duckdb_extensions() WHERE {names}"
    return f"privacy {connect().sql(query).fetchone()[0]}"


def protected(data, workload, mode):
    """Connect to tables with the extension, which is told whose rows they are."""
    unit, key, links = "data", "id", []
    if workload == "histogram":
        width = (ask.HIGH - ask.LOW) / 100
        data = {"bin": np.clip((data["value"] - ask.LOW) / width, 0, 99).astype(int)}
    named = tables(data, workload)
    if workload.startswith("tpch"):
        unit, key = "customer", "c_custkey"
        links = [
            "orders ADD PRIVACY_LINK (o_custkey) REFERENCES customer(c_custkey)",
            "lineitem ADD PRIVACY_LINK (l_orderkey) REFERENCES orders(o_orderkey)",
        ]
    elif workload == "database":
        unit, key = "people", "person"
        named["people"] = {"person": np.unique(data["person"])}
        links = ["data ADD PRIVACY_LINK (person) REFERENCES people(person)"]
    else:
        named["data"] = {"id": np.arange(len(next(iter(data.values())))), **named["data"]}
    connection = fill(connect(mode), named)
    protect(connection, unit, key, links)
    return connection


def protect(connection, unit, key, links=()):
    """Say whose rows tables have: `key` is of the table of units, and links lead to it."""
    connection.execute(f"ALTER TABLE {unit} ADD PRIVACY_KEY ({key})")
    connection.execute(f"ALTER TABLE {unit} SET PU")
    connection.execute(f"ALTER PU TABLE {unit} ADD PROTECTED ({key})")
    for link in links:
        connection.execute(f"ALTER TABLE {link}")


def count(data, neighbors):
    query = f"SELECT count(*) FROM data WHERE value > {ask.HIGH_VALUE}"
    return lambda: data.sql(query).fetchone()[0]


def sum(data, neighbors):
    query = f"SELECT sum(greatest({ask.LOW}, least({ask.HIGH}, value))) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def mean(data, neighbors):
    query = f"SELECT avg(greatest({ask.LOW}, least({ask.HIGH}, value))) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def histogram(data, neighbors):
    query = "SELECT bin, count(*) FROM data GROUP BY bin"

    def answer():
        found = dict(data.sql(query).fetchall())
        return [found.get(i) or 0 for i in range(100)]

    return answer


def groups(data, neighbors):
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
