"""What each fuzzed reader may do with any bytes: answer, or refuse with an error of dpfast.

A target takes bytes and returns nothing. An `AssertionError` or an error of another library is a
finding. Errors must be one line that a terminal can show, and must not show a row.
"""

import datetime
import shutil
import tempfile
import traceback
from decimal import Decimal
from functools import cache
from pathlib import Path

import dpfast as dp
from dpfast.app import job
from dpfast.errors import DataError, DpfastError
from dpfast.tables.scan import scan

from ..support import ledger_damage
from ..support.crashes import MEMORY

MARKER = "HIV-positive"
ROWS = f'\n3,4,{MARKER}\n{MARKER},1\n"{MARKER}",2\n5,6,7\n'.encode()
#: Lines of job files, so that most of what bytes choose is TOML.
ENTRIES = """\
[data]
[budget]
[output]
[defaults]
[[release]]
[data.sql]
[release.agg.a]
path = "rows.csv"
path = ["rows.csv", "rows.csv"]
rows = 4
version = "1"
epsilon = 1
epsilon = -1
epsilon = 1e400
epsilon = nan
delta = 1e-9
rho = 0.5
neighbors = "replace"
neighbors = "add-remove"
ids = "id"
max_rows = 2
weight = 3
statistic = "mean"
statistic = "median"
statistic = "count"
statistic = "top_k"
column = "x"
columns = ["x", "id"]
bounds = [0, 9]
bounds = [9, 0]
interval = true
by = "id"
keys = ["a", "b"]
keys = []
where = {id = "a"}
q = 0.5
qs = [0.1, 0.9]
name = "a"
name = "${HOME}"
name = "$${"
path = "out.json"
connect = "duckdb://"
table = "t"
query = "SELECT 1"
blocks = 2
estimator = "mean"
bins = [0, 5, 9]
""".splitlines()


@cache
def folder() -> Path:
    """A folder in memory, with a table that jobs can name."""
    path = Path(tempfile.mkdtemp(dir=MEMORY, prefix="dpfast-fuzz-"))
    (path / "rows.csv").write_bytes(b"x,id\n1,a\n2,b\n3,a\n4,b\n")
    return path


def written(name: str, data: bytes) -> Path:
    """A file of these bytes."""
    path = folder() / name
    path.write_bytes(data)
    return path


def refused(call, *arguments):
    """What a call returns, or the error that it raises, which must be one line of text."""
    try:
        return call(*arguments), None
    except DpfastError as error:
        shown = str(error)
        assert shown and "\n" not in shown and shown.isprintable(), f"no line of text: {shown!r}"
        return None, error


def header(data: bytes) -> None:
    """A text table with these bytes as its first line: no byte of a row is shown."""
    line = data[1:400]
    if not line.decode("utf-8", "replace").strip("\ufeff\r\n"):
        line += b"v"  # else the first row is the header
    endings = ["csv", "tsv", "txt", "csv"]
    path = written(f"t.{endings[data[0] % 4] if data else 'csv'}", line + ROWS)
    for call in (
        lambda: scan(path),
        lambda: repr(scan(path, [0])),
        lambda: scan(path, "patient"),
        lambda: dp.median(scan(path, 0), nan=0, bounds=(0, 9), epsilon=1.0),
        lambda: dp.histogram(scan(path, 0), categories=["a"], epsilon=1.0),
    ):
        _, error = refused(call)
        shown = "".join(traceback.format_exception(error)) if error else ""
        assert MARKER not in shown, "a row is shown"


def array(data: bytes) -> None:
    """A NumPy file of these bytes: it is read as an array, or refused."""
    path = written("t.npy", data)
    refused(lambda: dp.mean(scan(path), bounds=(0, 9), epsilon=1.0))


def jobs(data: bytes) -> None:
    """A job file: it is explained, or refused.

    A first byte of 255 means that the others are the file. Otherwise each byte is a line of
    `ENTRIES`, or from 240 on a line of one character.
    """
    if data[:1] == b"\xff":
        text = data[1:]
    else:
        lines = (ENTRIES[b % len(ENTRIES)] if b < 240 else chr(b) for b in data[:60])
        text = "\n".join(lines).encode()
    refused(job.explain, written("job.toml", text))


@cache
def whole_ledger():
    """A ledger: its path, its bytes and what it says."""
    path = ledger_damage.made(folder())
    return path, path.read_bytes(), ledger_damage.told(path)


def ledger(data: bytes) -> None:
    """A ledger of which each four bytes change one: it is refused, or says what it said before."""
    path, whole, told = whole_ledger()
    damaged = bytearray(whole)
    for at in range(0, min(len(data), 40) - 3, 4):
        place = int.from_bytes(data[at : at + 3], "big") % len(damaged)
        damaged[place] = data[at + 3]
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(damaged)
    try:
        with ledger_damage.as_process({}):
            said, error = refused(ledger_damage.told, path)
    finally:
        shutil.copy(path.with_name("whole.db"), path)
    assert error or said == told, "a damaged ledger says something else"


def label(kind: int, more: bytes) -> object:
    """A label: a number, a text, a time, a missing value, or what no list of labels may have."""
    number = int.from_bytes(more, "big", signed=True)
    labels = [number, -number, number / 7, float("nan"), float("inf"), -0.0, 10**400]
    labels += [Decimal(number), True, None, b"a", more.decode("latin-1"), "a" * (number % 300)]
    labels += ["\ud800", "", datetime.date(2000, 1, 1), datetime.datetime(2000, 1, 1)]
    labels += [(1, 2), [1], {"a": 1}, object]
    return labels[kind % len(labels)]


def labels(data: bytes) -> None:
    """A list of labels: as many counts as labels, or an error before anything is spent.

    A `DataError` depends on the rows, so it comes after the spend, as an answer does.
    """
    chosen = [label(data[i], data[i + 1 : i + 3]) for i in range(1, min(len(data), 40), 3)]
    rows = [["a", "b", "a"], [1, 2, 2], [1.5, float("nan"), 0.0]][data[0] % 3 if data else 0]
    budget = dp.Budget(epsilon=1)

    def histogram():
        return dp.histogram(rows, categories=chosen, epsilon=0.5, budget=budget)[0]

    def groups():
        counts = dp.group_by({"k": rows}, "k", keys=chosen).count(epsilon=0.5, budget=budget)
        return counts.to_dict()["count"]

    for call in (histogram, groups):
        before = budget.spent
        answer, error = refused(call)
        if error is None:
            assert len(answer) == len(chosen), "other counts than labels"
        elif not isinstance(error, DataError):
            assert budget.spent == before, "a refused list was paid for"


TARGETS = {"header": header, "array": array, "jobs": jobs, "ledger": ledger, "labels": labels}
