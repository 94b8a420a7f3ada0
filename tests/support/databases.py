"""Databases for tests, as connections of Ibis: DuckDB, SQLite, PostgreSQL on a socket, and Spark.
`connect` returns one, and `table` makes a table of typed columns with any values. `ENGINES` are the
names to parametrize a test with: that of PostgreSQL is for the full tier. A test that kills
PostgreSQL starts a `Server` for that."""

import atexit
import functools
import itertools
import math
import os
import shutil
import signal
import subprocess
import tempfile
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from .lazy import ibis

ENGINES = ["duckdb", "sqlite", pytest.param("postgres", marks=pytest.mark.full)]

#: Columns of values by which an engine could differ from memory, as `table` takes them.
HOSTILE = {
    "float64": ("float64", [
        None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 2.5, 3.5, -2.5, 0.5, 0.1,
        1e308, -1e308, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e300, 100.0, 99.99999999999999, 50.0,
    ]),
    "float32": ("float32", [
        None, math.nan, math.inf, -math.inf, 0.0, -0.0, 2.0**-149, 0.5, 2.5, -2.5,
        float.fromhex("0x1.99999ap-4"), 3e38, -3e38, 16777216.0, 50.0,
    ]),
    "int64": ("int64", [
        None, 0, 1, -1, 50, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), 2**62, 99, 100, 101,
    ]),
    "int32": ("int32", [None, 0, 1, -1, 50, 2**31 - 1, -(2**31), 100]),
    "int16": ("int16", [None, 0, 1, -1, 50, 2**15 - 1, -(2**15), 100]),
    "boolean": ("boolean", [None, True, False, True]),
    "decimal": ("decimal(18, 4)", [
        None, *map(Decimal, ("0", "0.0001", "-0.0001", "50", "49.9999", "0.1", "2.5", "-2.5",
                             "99999999999999.9999", "-99999999999999.9999")),
    ]),
    "fraction": ("decimal(18, 18)", [
        None, *map(Decimal, ("0", "0.1", "0.3", "-0.7", "0.123456789012345678",
                             "0.999999999999999999", "-0.999999999999999999")),
    ]),
    "date": ("date", [
        None, date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(1, 1, 1),
        date(9999, 12, 31),
    ]),
    "timestamp": ("timestamp(6)", [
        None, datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999),
        datetime(2024, 2, 29, 12), datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999),
    ]),
    "string": ("string", [
        None, "", " ", "a", "a ", "A", "\u00e9", "e\u0301", "\u00df", "ss", "1", "01", "nan",
        "'; DROP TABLE t; --", '"', "%", "_", "\\", "\U0001f600", "a\tb\nc",
    ]),
}  # fmt: skip


@functools.cache
def connect(engine):
    """Return the connection to an engine that the tests of a process share."""
    if engine == "duckdb":
        made = ibis.duckdb.connect()
    elif engine == "sqlite":
        folder = tempfile.mkdtemp(prefix="dpfast-sqlite-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        made = ibis.sqlite.connect(f"{folder}/tests.sqlite")
    elif engine == "pyspark":
        made = _spark()
    else:
        made = Server().connect()
    atexit.register(made.disconnect)
    return made


def table(connection, columns):
    """Return a new table of columns, each a type in Ibis's words and as many values of Python."""
    import pyarrow as pa

    name = f"t{next(_NUMBERS)}"
    schema = ibis.schema({key: kind for key, (kind, _) in columns.items()})
    if connection.name in ("duckdb", "pyspark"):  # where rows one after another are slow
        arrays = [pa.array(v, schema[key].to_pyarrow()) for key, (_, v) in columns.items()]
        rows = pa.table(arrays, list(columns))
    if connection.name == "pyspark":
        connection._session.createDataFrame(rows).createOrReplaceTempView(name)
        return connection.table(name)
    made = connection.create_table(name, schema=schema)
    if connection.name == "duckdb":
        connection.con.register("arrow", rows)
        connection.con.execute(f"INSERT INTO {name} SELECT * FROM arrow")
        connection.con.unregister("arrow")
        return made
    rows = list(zip(*(values for _, values in columns.values()), strict=True))
    if connection.name == "sqlite":
        rows = [tuple(map(_stored, row)) for row in rows]
    mark = "?" if connection.name == "sqlite" else "%s"
    cursor = connection.con.cursor()
    cursor.executemany(f"INSERT INTO {name} VALUES ({', '.join([mark] * len(columns))})", rows)
    connection.con.commit()
    return made


def in_memory(engine, column):
    """Return a column in memory, an array of Arrow or NumPy, as ranks of an engine's are to it."""
    import pyarrow as pa

    column = pa.array(column)
    return column.cast(pa.float64(), safe=False) if engine == "sqlite" else column


def _stored(value):
    return str(value) if isinstance(value, (Decimal, date)) else value


_NUMBERS = itertools.count()


def _spark():
    """Return a connection to a Spark on two threads of this machine."""
    reason = "pyspark is not installed: pip install 'dpfast[spark]'"
    sql = pytest.importorskip("pyspark.sql", reason=reason)
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or newer")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return ibis.pyspark.connect(session)


def _programs():
    """Return the folder of PostgreSQL's programs, which Debian leaves out of PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = shutil.which("initdb")
    if on_path:
        folders.insert(0, Path(on_path).resolve().parent)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


class Server:
    """A PostgreSQL server of its own, in a folder of its own, on a socket in it."""

    def __init__(self):
        programs = _programs()
        if programs is None:
            pytest.skip("PostgreSQL's initdb and pg_ctl are not there")
        pytest.importorskip("psycopg", reason="no psycopg: pip install 'ibis-framework[postgres]'")
        self.folder = tempfile.mkdtemp(prefix="dpfast-pg-", dir="/tmp")
        self._data, self._as = f"{self.folder}/data", {}
        self._programs = programs
        if os.geteuid() == 0:  # as whom it refuses to run
            import pwd

            names = {user.pw_name for user in pwd.getpwall()}
            name = "postgres" if "postgres" in names else "nobody"
            user = pwd.getpwnam(name)
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        atexit.register(self.stop)
        options = ("-U", "dpfast", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        self._run("initdb", "-D", self._data, *options)
        self.start()

    def start(self):
        options = f"-F -k {self.folder} -c listen_addresses= -c max_connections=200"
        log = f"{self.folder}/log"
        self._run("pg_ctl", "-D", self._data, "-w", "-s", "-l", log, "-o", options, "start")

    def connect(self):
        return ibis.postgres.connect(host=self.folder, user="dpfast", database="postgres")

    def kill(self):
        """Kill it, as a machine that fails would; `start` starts it again."""
        first, *_ = Path(self._data, "postmaster.pid").read_text().split()
        os.kill(int(first), signal.SIGQUIT)

    def stop(self):
        if Path(self._data, "postmaster.pid").exists():
            self._run("pg_ctl", "-D", self._data, "-s", "-m", "immediate", "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, program, *arguments, check=True):
        subprocess.run([str(self._programs / program), *arguments], check=check,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}, **self._as)  # fmt: skip
