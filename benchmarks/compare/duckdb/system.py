"""DuckDB, without privacy: the exact answers, as a floor of time."""

import duckdb
import in_duckdb
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

count, sum, mean = in_duckdb.count, in_duckdb.sum, in_duckdb.mean
groups, marginals = in_duckdb.groups, in_duckdb.marginals
tpch_1, tpch_6 = in_duckdb.tpch_1, in_duckdb.tpch_6


def prepare(data, workload):
    """Tables in its own storage."""
    return in_duckdb.fill(duckdb.connect(), in_duckdb.tables(data, workload))


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


database = people


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
