"""What each fuzzed reader may do with any bytes: answer, or refuse with an error of dpfast.

A target takes bytes and returns nothing; an `AssertionError`, or an error of another library, is a
finding. The errors themselves must be one line that a terminal can show, and must not show a row.
"""

import datetime
import shutil
import tempfile
import traceback
from decimal import Decimal
from pathlib import Path

import dpfast as dp
from dpfast.app import job
from dpfast.errors import DataError, DpfastError
from dpfast.tables.scan import scan

from ..support import ledger_damage
from ..support.crashes import MEMORY

MARKER = "HIV-positive"
ROWS = f'\n3,4,{MARKER}\n{MARKER},1\n"{MARKER}",2\n5,6,7\n'.encode()
#: Pieces of job files, so that most of what is made from bytes is TOML.
ENTRIES = [
    "[data]", "[budget]", "[output]", "[defaults]", "[[release]]", "[data.sql]", "[release.agg.a]",
    'path = "rows.csv"', 'path = ["rows.csv", "rows.csv"]', "rows = 4", 'version = "1"',
    "epsilon = 1", "epsilon = -1", "epsilon = 1e400", "epsilon = nan", "delta = 1e-9", "rho = 0.5",
    'neighbors = "replace"', 'neighbors = "add-remove"', 'ids = "id"', "max_rows = 2", "weight = 3",
    'statistic = "mean"', 'statistic = "median"', 'statistic = "count"', 'statistic = "top_k"',
    'column = "x"', 'columns = ["x", "id"]', "bounds = [0, 9]", "bounds = [9, 0]", "q = 0.5",
    "interval = true", 'by = "id"', 'keys = ["a", "b"]', "keys = []", 'where = {id = "a"}',
    "qs = [0.1, 0.9]",
    'name = "a"', 'name = "${HOME}"', 'name = "$${"', 'path = "out.json"', 'connect = "duckdb://"',
    'table = "t"', 'query = "SELECT 1"', "blocks = 2", 'estimator = "mean"', "bins = [0, 5, 9]",
]  # fmt: skip


class Places:
    """A folder in memory for the files of a target, with what never changes in it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=MEMORY, prefix="dpfast-fuzz-"))
        (self.folder / "rows.csv").write_bytes(b"x,id\n1,a\n2,b\n3,a\n4,b\n")

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path


_places = None


def places() -> Places:
    global _places
    _places = _places or Places()
    return _places


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
    kinds = ["t.csv", "t.tsv", "t.txt", "t.csv"]
    line = data[1:400]
    if not line.decode("utf-8", "replace").strip("\ufeff\r\n"):
        line += b"v"  # else the first row is the header
    path = places().file(kinds[data[0] % 4] if data else "t.csv", line + ROWS)
    options = {"bounds": (0, 9), "epsilon": 1.0}
    for call in (
        lambda: scan(path),
        lambda: repr(scan(path, [0])),
        lambda: scan(path, "patient"),
        lambda: dp.median(scan(path, 0), nan=0, **options),
        lambda: dp.histogram(scan(path, 0), categories=["a"], epsilon=1.0),
    ):
        _, error = refused(call)
        shown = "".join(traceback.format_exception(error)) if error else ""
        assert MARKER not in shown, "a row is shown"


def array(data: bytes) -> None:
    """A NumPy file of these bytes: it is read as an array, or refused."""
    path = places().file("t.npy", data)
    refused(lambda: dp.mean(scan(path), bounds=(0, 9), epsilon=1.0))


def job_text(data: bytes) -> str:
    """Bytes as a job file: below 128 the number of an entry, else a character of its own."""
    if data[:1] == b"\xff":
        return data[1:].decode("utf-8", "replace")
    return "\n".join(
        ENTRIES[byte % len(ENTRIES)] if byte < 240 else chr(byte) for byte in data[:60]
    )


def jobs(data: bytes) -> None:
    """A job file: it is explained, or refused in one line."""
    path = places().file("job.toml", job_text(data).encode("utf-8", "replace"))
    refused(job.explain, path)


_ledger = None


def ledger(data: bytes) -> None:
    """A ledger with some bytes changed: it is refused, or says what it said before."""
    global _ledger
    if _ledger is None:
        path = ledger_damage.made(places().folder)
        _ledger = path, path.read_bytes(), ledger_damage.told(path)
    path, whole, told = _ledger
    damaged = bytearray(whole)
    for at in range(0, min(len(data), 40) - 3, 4):
        start = int.from_bytes(data[at : at + 3], "big") % len(damaged)
        damaged[start] = data[at + 3]
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes(damaged)
    try:
        with ledger_damage.as_process({}):
            said, error = refused(ledger_damage.told, path)
    finally:
        shutil.copy(path.with_name("whole.db"), path)
    assert error or said == told, "a damaged ledger says something else"


def value_of(byte: int, more: bytes) -> object:
    """A label: a number, a text, a time, what is missing, or what no list of labels may have."""
    number = int.from_bytes(more, "big", signed=True)
    kinds = [
        number, -number, number / 7, float("nan"), float("inf"), -0.0, True, None, b"a",
        more.decode("latin-1"), "a" * (number % 300), "\ud800", "", Decimal(number), 10**400,
        datetime.date(2000, 1, 1), datetime.datetime(2000, 1, 1), (1, 2), [1], {"a": 1}, object,
    ]  # fmt: skip
    return kinds[byte % len(kinds)]


def labels(data: bytes) -> None:
    """A list of labels: as many counts as labels, or an error before anything is spent.

    A `DataError` depends on the rows, so it comes after the spend, as an answer does.
    """
    chosen = [value_of(data[i], data[i + 1 : i + 3]) for i in range(1, min(len(data), 40), 3)]
    rows = [["a", "b", "a"], [1, 2, 2], [1.5, float("nan"), 0.0]][data[0] % 3 if data else 0]
    budget = dp.Budget(epsilon=1)
    for call in (
        lambda: dp.histogram(rows, categories=chosen, epsilon=0.5, budget=budget)[0],
        lambda: (
            dp.group_by({"k": rows}, "k", keys=chosen)
            .count(epsilon=0.5, budget=budget)
            .to_dict()["count"]
        ),
    ):
        before = budget.spent
        answer, error = refused(call)
        if error is None:
            assert len(answer) == len(chosen), "other counts than labels"
        elif not isinstance(error, DataError):
            assert budget.spent == before, "a refused list was paid for"


TARGETS = {"header": header, "array": array, "jobs": jobs, "ledger": ledger, "labels": labels}
