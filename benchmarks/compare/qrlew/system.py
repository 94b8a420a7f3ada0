"""Qrlew: it rewrites SQL, and DuckDB runs what it writes. Its noise is Gaussian, for a delta."""

import itertools
import json
import math

import duckdb
import numpy as np
import pyarrow as pa
import pyqrlew
import sqlalchemy
import workloads as ask

NAME, DISTRIBUTION = "Qrlew", "pyqrlew"
DELTA = ask.DELTA
ROWS = "count", "sum", "mean", "histogram"
OFFERS = {
    **dict.fromkeys((*ROWS, "groups", "private_groups", "database", "marginals"), (ask.ADD,)),
    **dict.fromkeys(("tpch_1", "tpch_6", "tpch_14"), (ask.ADD,)),
}
ABSENT = {
    "variance": "its noise has the size of the largest float64: squares have no bounds",
    "median": "no quantiles",
    "quantiles": "no quantiles",
    "selection": "no mechanism of selection",
    "noise": "no noise on numbers of a user",
    "people": "its tables are in a database: the next question",
    **dict.fromkeys(ask.MODELS, "no models"),
    "stream": "no counter of a stream",
}
#: Of Gaussian noise for a delta of 1e-6 a row moves a number by a fifth of a standard deviation.
LITTLE = "Gaussian noise for a small delta: a row moves it by a fifth of a standard deviation"
HIDES = {
    **dict.fromkeys(("count", "sum", "histogram", "groups", "tpch_6"), (5, LITTLE)),
    "mean": (10, LITTLE + ", with half of the loss for the sum and the count each"),
    "private_groups": (10, LITTLE + ", with half of the loss for showing the group"),
    "database": (5, LITTLE),
    "marginals": (15, LITTLE + ", with a third of the loss for each table"),
    "tpch_1": (55, LITTLE + ", with a part of the loss for each of eleven sums"),
    "tpch_14": (10, LITTLE + ", with half of the loss for each of two sums"),
}
#: What it takes for the number of rows, which bounds its answers: public here, and the same for
#: both neighbors. By itself it counts the rows of the table.
SIZE = 10**10
#: Of columns: the type in the database that it reads types from.
TYPES = {"i": "bigint", "f": "float", "U": "text", "M": "timestamp"}
LIMITS = {
    "value": ask.BOUNDS,
    "l_quantity": (0, ask.QUANTITY),
    "l_extendedprice": (0, ask.PRICE),
    "l_discount": (0, ask.DISCOUNT),
    "l_tax": (0, 0.08),
}
PUBLIC = {
    "key": ask.KEYS,
    "bin": [str(i) for i in range(100)],
    "l_returnflag": ["A", "N", "R"],
    "l_linestatus": ["F", "O"],
    **{name: [str(i) for i in range(size)] for name, size in ask.SHAPE.items()},
}


def prepare(data, workload):
    """Tables of DuckDB, and what Qrlew has to know of them."""
    if workload == "histogram":
        width = (ask.HIGH - ask.LOW) / 100
        bins = np.clip((data["value"] - ask.LOW) / width, 0, 99).astype(int)
        data = {"bin": bins.astype(str)}
    if workload == "marginals":
        data = {name: column.astype(str) for name, column in data.items()}
    if "key" in data:
        data = data | {"key": np.array(ask.KEYS)[data["key"]]}
    tables = ask.tables(data) if workload.startswith("tpch") else {"data": data}
    connection = duckdb.connect()
    for name, columns in tables.items():
        connection.register("given", pa.table(dict(columns)))
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given")
        connection.unregister("given")
    return connection, described(tables, workload)


def described(tables, workload):
    """Types, limits and public values of all columns; those of private keys are left out."""
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as there:
        for name, columns in tables.items():
            types = [f"{column} {TYPES[x.dtype.kind]}" for column, x in columns.items()]
            there.execute(sqlalchemy.text(f"CREATE TABLE {name} ({', '.join(types)})"))
            there.execute(sqlalchemy.text(f"INSERT INTO {name} DEFAULT VALUES"))
    found = pyqrlew.Dataset.from_database("asked", engine)
    about = {"uuid": json.loads(found.schema)["dataset"], "name": "asked", "spec": {}}
    sizes = found.size.replace('"size": "1"', f'"size": "{SIZE}"')
    found = pyqrlew.Dataset.from_str(json.dumps(about), found.schema, sizes)
    for name, columns in tables.items():
        for column in columns:
            if column in LIMITS:
                found = found.with_range(None, name, column, *map(float, LIMITS[column]))
            elif column in PUBLIC and workload != "private_groups":
                found = found.with_possible_values(None, name, column, PUBLIC[column])
    return found


ROW = [("data", [], "_PRIVACY_UNIT_ROW_")]
PERSON = [("data", [], "person")]
CUSTOMER = [
    ("customer", [], "c_custkey"),
    ("orders", [], "o_custkey"),
    ("lineitem", [("l_orderkey", "orders", "o_orderkey")], "o_custkey"),
]


NUMBERS = itertools.count()


def asking(data, query, unit=ROW, rows=1, share=1, **more):
    """What asks a query, for a part of the loss: it is rewritten and prepared once."""
    connection, dataset = data
    loss = {"epsilon": ask.EPSILON / share, "delta": ask.DELTA / share}
    found = dataset.relation(query).rewrite_with_differential_privacy(
        dataset, unit, loss, max_multiplicity=float(rows), max_multiplicity_share=1.0, **more
    )
    text = found.relation().to_query(pyqrlew.Dialect.PostgreSql)
    name = f"asked_{next(NUMBERS)}"
    connection.execute(f"PREPARE {name} AS {text}")
    return lambda: connection.execute(f"EXECUTE {name}").fetchall()


def count(data, neighbors):
    answers = asking(data, f"SELECT COUNT(*) AS n FROM data WHERE value > {ask.HIGH_VALUE}")
    return lambda: answers()[0][0]


def sum(data, neighbors):
    answers = asking(data, "SELECT SUM(value) AS s FROM data")
    return lambda: answers()[0][0]


def mean(data, neighbors):
    answers = asking(data, "SELECT AVG(value) AS m FROM data")
    return lambda: answers()[0][0]


def histogram(data, neighbors):
    answers = asking(data, "SELECT bin, COUNT(*) AS n FROM data GROUP BY bin")

    def answer():
        found = dict(answers())
        return [found[str(i)] for i in range(100)]

    return answer


def groups(data, neighbors):
    answers = asking(data, "SELECT key, SUM(value) AS s FROM data GROUP BY key")
    return lambda: dict(answers())


def private_groups(data, neighbors):
    query = "SELECT key, SUM(value) AS s FROM data GROUP BY key"
    answers = asking(data, query, max_privacy_unit_groups=1)
    return lambda: dict(answers())


def database(data, neighbors):
    query = "SELECT key, SUM(value) AS s FROM data GROUP BY key"
    rows = math.ceil(ask.MAX_ROWS * math.sqrt(ask.MAX_GROUPS))  # it clips the norm over all groups
    answers = asking(data, query, PERSON, rows)
    return lambda: dict(answers())


def marginals(data, neighbors):
    names = list(ask.SHAPE)
    pairs = [(x, y) for i, x in enumerate(names) for y in names[i + 1 :]]
    queries = [f"SELECT {x}, {y}, COUNT(*) AS n FROM data GROUP BY {x}, {y}" for x, y in pairs]
    each = [asking(data, query, share=len(queries)) for query in queries]

    def answer():
        tables = [np.zeros((ask.SHAPE[x], ask.SHAPE[y])) for x, y in pairs]
        for table, answers in zip(tables, each, strict=True):
            for i, j, n in answers():
                table[int(i), int(j)] = n
        return np.concatenate([table.ravel() for table in tables])

    return answer


def tpch_1(data, neighbors):
    query = f"""
        SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS a, SUM(l_extendedprice) AS b,
            SUM(l_extendedprice * (1 - l_discount)) AS c,
            SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS d,
            AVG(l_quantity) AS e, AVG(l_extendedprice) AS f, AVG(l_discount) AS g, COUNT(*) AS h
        FROM lineitem WHERE l_shipdate <= '{ask.LAST_SHIP} 00:00:00'
        GROUP BY l_returnflag, l_linestatus
    """
    answers = asking(data, query, CUSTOMER, ask.LINES["tpch_1"])

    def answer():
        found = {(flag, status): numbers for flag, status, *numbers in answers()}
        return [float(x) for flag in ask.FLAGS for x in found[flag]]

    return answer


def tpch_6(data, neighbors):
    query = """
        SELECT SUM(l_extendedprice * l_discount) AS s FROM lineitem
        WHERE l_shipdate >= '1994-01-01 00:00:00' AND l_shipdate < '1995-01-01 00:00:00'
        AND l_discount >= 0.05 AND l_discount <= 0.07 AND l_quantity < 24
    """
    answers = asking(data, query, CUSTOMER, ask.LINES["tpch_6"])
    return lambda: float(answers()[0][0])


def tpch_14(data, neighbors):
    query = """
        SELECT SUM(CASE WHEN p_type = 'PROMO' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
            AS promo, SUM(l_extendedprice * (1 - l_discount)) AS price
        FROM lineitem JOIN part ON l_partkey = p_partkey
        WHERE l_shipdate >= '1995-09-01 00:00:00' AND l_shipdate < '1995-10-01 00:00:00'
    """
    answers = asking(data, query, CUSTOMER, ask.LINES["tpch_14"])

    def answer():
        promo, price = answers()[0]
        return 100 * promo / price

    return answer
