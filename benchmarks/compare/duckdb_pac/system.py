"""DuckDB's privacy extension in its mode of PAC: a bound on information, and no loss.

It is set up as in its other mode, and noise is as its setting `pac_mi` says by default, 1/128.
"""

import in_duckdb
import workloads as ask

NAME, DISTRIBUTION, MORE = "DuckDB privacy, PAC (not DP)", "duckdb", in_duckdb.extension
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
    **dict.fromkeys(ask.MODELS, "no models"),
    "stream": "no counter of a stream",
}


count, sum, mean = in_duckdb.count, in_duckdb.sum, in_duckdb.mean
histogram, groups, database = in_duckdb.histogram, in_duckdb.groups, in_duckdb.groups
marginals, tpch_1, tpch_6 = in_duckdb.marginals, in_duckdb.tpch_1, in_duckdb.tpch_6


def prepare(data, workload):
    return in_duckdb.protected(data, workload, "pac")


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
