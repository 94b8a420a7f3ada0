"""DuckDB's privacy extension: noise that equal values share, and units of many rows."""

import in_duckdb
import numpy as np

NAME, DISTRIBUTION = "DuckDB privacy, elastic", "duckdb"
COUNT = 1_000


def asking(statements, links, query, delta):
    """Answers to a query, as often as an audit needs them, with a table of units, `units`."""
    connection = in_duckdb.connect()
    for statement in (*statements, "SET dp_epsilon = 1.0", f"SET dp_delta = {delta}"):
        connection.execute(statement)
    in_duckdb.protect(connection, "units", "id", links)
    return [connection.execute(query).fetchall() for _ in range(COUNT)]


def of_keys(keys, query, delta):
    """Answers to a query about units with a key each."""
    rows = ", ".join(f"({i}, {key})" for i, key in enumerate(keys))
    table = ["CREATE TABLE units (id BIGINT, k BIGINT)", f"INSERT INTO units VALUES {rows}"]
    return asking(table, [], query, delta)


BY_KEY = "SELECT k, count(*) FROM units GROUP BY k"


def equal_groups(control):
    """Whether the counts of two groups are the same.

    Noise of a query is a function of the true value: groups of one size have the same. The control
    asks for each group by a query of its own.
    """

    def answers(last):
        keys = [0] * 50 + [1] * (50 if last else 49)
        if control:
            queries = [f"SELECT count(*) FROM units WHERE k = {k}" for k in (0, 1)]
            each = [of_keys(keys, query, 0) for query in queries]
            return np.array([x[0][0] == y[0][0] for x, y in zip(*each, strict=True)], int)
        found = of_keys(keys, BY_KEY, 0)
        return np.array([len({n for _, n in rows}) == 1 for rows in found], int)

    return {"epsilon": 1.0}, answers(True), answers(False)


def largest_unit(control):
    """A person of 100 rows, beside others of one.

    The most rows of a person are counted in the data, and smooth sensitivity lets one more row
    change this number by 1; a person who comes or goes changes it by 99. In the control each has 1.
    """

    def answers(last):
        many = 1 if control else 100
        persons = list(range(20)) + [20] * (many if last else 0)
        statements = [
            "CREATE TABLE units (id BIGINT)",
            f"INSERT INTO units SELECT range FROM range({20 + last})",
            "CREATE TABLE visits (person BIGINT)",
            "INSERT INTO visits VALUES " + ", ".join(f"({person})" for person in persons),
        ]
        links = ["visits ADD PRIVACY_LINK (person) REFERENCES units(id)"]
        found = asking(statements, links, "SELECT count(*) FROM visits", 1e-6)
        return np.array([rows[0][0] for rows in found])

    return {"epsilon": 1.0, "delta": 1e-6}, answers(True), answers(False)


def private_keys(control):
    """Whether a group is shown that one person is in. The control has another one in it."""

    def answers(last):
        found = of_keys([0] * 50 + [1] * (last + control), BY_KEY, 1e-6)
        return np.array([len(rows) for rows in found])

    return {"epsilon": 1.0, "delta": 1e-6}, answers(True), answers(False)
