"""DuckDB, without privacy: the exact answers, as a floor of time."""

import duckdb
import numpy as np
import pyarrow as pa
import workloads as ask

NAME, DISTRIBUTION = "DuckDB (not private)", "duckdb"
ROWS = "count", "sum", "mean", "variance", "histogram", "median", "quantiles"
OFFERS = {
    **dict.fromkeys((*ROWS, "groups", "people", "database", "marginals"), (ask.ADD,)),
    **dict.fromkeys(("tpch_1", "tpch_6", "tpch_14"), (ask.ADD,)),
    **dict.fromkeys(("selection", "stream"), (ask.REPLACE,)),
}
ABSENT = {
    "noise": "no Laplace noise",
    "private_groups": "all keys are shown: the row of public keys",
    "clusters": "no models",
    "components": "no models",
    "regression": "no least squares of several features",
    "trees": "no models",
}


def prepare(data, workload):
    """Tables in its own storage."""
    if "key" in data:
        data = data | {"key": np.array(ask.KEYS)[data["key"]]}
    connection = duckdb.connect()
    tables = ask.tables(data) if workload.startswith("tpch") else {"data": data}
    for name, columns in tables.items():
        connection.register("given", pa.table(dict(columns)))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        connection.unregister("given")
    return connection


def count(data, neighbors):
    query = f"SELECT count(*) FROM data WHERE value > {ask.HIGH_VALUE}"
    return lambda: data.sql(query).fetchone()[0]


def sum(data, neighbors):
    query = f"SELECT sum(greatest({ask.LOW}, least({ask.HIGH}, value))) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def mean(data, neighbors):
    query = f"SELECT avg(greatest({ask.LOW}, least({ask.HIGH}, value))) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def variance(data, neighbors):
    query = f"SELECT var_pop(greatest({ask.LOW}, least({ask.HIGH}, value))) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def histogram(data, neighbors):
    width = (ask.HIGH - ask.LOW) / 100
    bins = f"least(99, greatest(0, floor((value - {ask.LOW}) / {width})::INT))"
    query = f"SELECT {bins} AS bin, count(*) FROM data GROUP BY bin"

    def answer():
        found = dict(data.sql(query).fetchall())
        return [found.get(i, 0) for i in range(100)]

    return answer


def median(data, neighbors):
    return lambda: data.sql("SELECT median(value) FROM data").fetchone()[0]


def quantiles(data, neighbors):
    query = f"SELECT quantile_cont(value, {list(ask.QS)}) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def selection(data, neighbors):
    query = "SELECT arg_max(rowid, score) FROM data"
    return lambda: data.sql(query).fetchone()[0]


def groups(data, neighbors):
    query = "SELECT key, sum(value) FROM data GROUP BY key"
    return lambda: dict(data.sql(query).fetchall())


def people(data, neighbors):
    query = f"""
        WITH per_group AS (
            SELECT *, row_number() OVER (PARTITION BY person, key ORDER BY random()) AS nth
            FROM data
        ), chosen AS (
            SELECT person, key, row_number() OVER (PARTITION BY person ORDER BY random()) AS nth
            FROM (SELECT DISTINCT person, key FROM data)
        )
        SELECT key, sum(value) FROM per_group JOIN chosen USING (person, key)
        WHERE per_group.nth <= {ask.MAX_ROWS} AND chosen.nth <= {ask.MAX_GROUPS} GROUP BY key
    """
    return lambda: dict(data.sql(query).fetchall())


def database(data, neighbors):
    return people(data, neighbors)


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
        return [x for flag in ask.FLAGS for x in found.get(flag, [0.0] * 8)]

    return answer


def tpch_6(data, neighbors):
    query = """
        SELECT sum(l_extendedprice * l_discount) FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
        AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24
    """
    return lambda: data.sql(query).fetchone()[0]


def tpch_14(data, neighbors):
    query = """
        SELECT 100 * sum(l_extendedprice * (1 - l_discount)) FILTER (p_type = 'PROMO')
            / sum(l_extendedprice * (1 - l_discount))
        FROM lineitem JOIN part ON l_partkey = p_partkey
        WHERE l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-10-01'
    """
    return lambda: data.sql(query).fetchone()[0]


def stream(data, neighbors):
    query = "SELECT sum(bit) OVER (ORDER BY rowid) FROM data"
    return lambda: [row[0] for row in data.sql(query).fetchall()]
