"""DuckDB's privacy extension in its mode of elastic sensitivity (dp_elastic)."""

import in_duckdb
import workloads as ask

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
    **dict.fromkeys(ask.MODELS, "no models"),
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
MORE = in_duckdb.extension
count, histogram, groups = in_duckdb.count, in_duckdb.histogram, in_duckdb.groups
database, marginals = in_duckdb.groups, in_duckdb.marginals
tpch_1, tpch_6 = in_duckdb.tpch_1, in_duckdb.tpch_6


def prepare(data, workload):
    connection = in_duckdb.protected(data, workload, "dp_elastic")
    of_tpch = workload.startswith("tpch")
    loss = ask.EPSILON / 3 if workload == "marginals" else ask.EPSILON
    bound = ask.CHARGE if workload == "tpch_1" else ask.REVENUE if of_tpch else BOUND
    connection.execute(f"SET dp_epsilon = {loss}")
    connection.execute(f"SET dp_delta = {ask.DELTA if of_tpch or workload == 'database' else 0}")
    connection.execute(f"SET dp_sum_bound = {bound}")
    return connection


def sum(data, neighbors):
    return lambda: data.sql("SELECT sum(value) FROM data").fetchone()[0]


def mean(data, neighbors):
    return lambda: data.sql("SELECT avg(value) FROM data").fetchone()[0]
