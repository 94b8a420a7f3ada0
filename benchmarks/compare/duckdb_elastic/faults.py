"""DuckDB's privacy extension: noise that equal values share, and units of many rows."""

import importlib.util
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def loaded(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


loaded("workloads", HERE.parent / "workloads.py")
elastic = loaded("elastic", HERE / "system.py")

NAME, DISTRIBUTION = "DuckDB privacy, elastic", "duckdb"
COUNT = 1_000


def asking(statements, query, settings=()):
    """Answers to a query, as often as an audit needs them."""
    connection = elastic.connect()
    for statement in (*statements, *(f"SET {setting}" for setting in settings)):
        connection.execute(statement)
    return [connection.execute(query).fetchall() for _ in range(COUNT)]


def equal_groups(control):
    """Whether the counts of two groups are the same.

    Noise of a query is a function of the true value: groups of one size have the same. The control
    asks for each group by a query of its own.
    """

    def answers(last):
        rows = [0] * 50 + [1] * (50 if last else 49)
        unit = [
            "CREATE TABLE t (id BIGINT, k BIGINT)",
            "INSERT INTO t VALUES " + ", ".join(f"({i}, {k})" for i, k in enumerate(rows)),
            "ALTER TABLE t ADD PRIVACY_KEY (id)",
            "ALTER TABLE t SET PU",
            "ALTER PU TABLE t ADD PROTECTED (id)",
        ]
        given = ("dp_epsilon = 1.0", "dp_delta = 0")
        if control:
            each = [asking(unit, f"SELECT count(*) FROM t WHERE k = {k}", given) for k in (0, 1)]
            return np.array([x[0][0] == y[0][0] for x, y in zip(*each, strict=True)], int)
        found = asking(unit, "SELECT k, count(*) FROM t GROUP BY k", given)
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
            "CREATE TABLE people (id BIGINT)",
            f"INSERT INTO people SELECT range FROM range({20 + last})",
            "CREATE TABLE visits (person BIGINT)",
            "INSERT INTO visits VALUES " + ", ".join(f"({person})" for person in persons),
            "ALTER TABLE people ADD PRIVACY_KEY (id)",
            "ALTER TABLE people SET PU",
            "ALTER TABLE visits ADD PRIVACY_LINK (person) REFERENCES people(id)",
        ]
        given = ("dp_epsilon = 1.0", "dp_delta = 1e-6")
        found = asking(statements, "SELECT count(*) FROM visits", given)
        return np.array([rows[0][0] for rows in found])

    return {"epsilon": 1.0, "delta": 1e-6}, answers(True), answers(False)


def private_keys(control):
    """Whether a group is shown that one person is in. The control has another one in it."""

    def answers(last):
        groups = [0] * 50 + [1] * (last + control)
        statements = [
            "CREATE TABLE t (id BIGINT, k BIGINT)",
            "INSERT INTO t VALUES " + ", ".join(f"({i}, {k})" for i, k in enumerate(groups)),
            "ALTER TABLE t ADD PRIVACY_KEY (id)",
            "ALTER TABLE t SET PU",
            "ALTER PU TABLE t ADD PROTECTED (id)",
        ]
        given = ("dp_epsilon = 1.0", "dp_delta = 1e-6")
        found = asking(statements, "SELECT k, count(*) FROM t GROUP BY k", given)
        return np.array([len(rows) for rows in found])

    return {"epsilon": 1.0, "delta": 1e-6}, answers(True), answers(False)
