"""DuckDB, without privacy: the exact answers, as a floor of time."""

import duckdb
import numpy as np
import pyarrow as pa
import workloads as ask

NAME, DISTRIBUTION = "DuckDB (not private)", "duckdb"
ROWS = "count", "sum", "mean", "variance", "histogram", "median", "quantiles"
OFFERS = {
    **dict.fromkeys((*ROWS, "groups", "people"), (ask.ADD,)),
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
    """A table in its own storage."""
    if "key" in data:
        data = data | {"key": np.array(ask.KEYS)[data["key"]]}
    given = pa.table(data)
    connection = duckdb.connect()
    connection.register("given", given)
    connection.execute("CREATE TABLE data AS SELECT * FROM given")
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


def stream(data, neighbors):
    query = "SELECT sum(bit) OVER (ORDER BY rowid) FROM data"
    return lambda: [row[0] for row in data.sql(query).fetchall()]
