"""The command line: what it prints, what it never prints, and its exit codes."""

import json
import os
import re
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import dpfast as dp  # noqa: E402
from dpfast._core.error_bars import SECRET  # noqa: E402
from dpfast.app.cli import answer, demo  # noqa: E402
from dpfast.errors import BudgetError, EntropyError, NativeError  # noqa: E402

from ..support.pairwise import every_value, quick_rows  # noqa: E402
from ..support.paths import program  # noqa: E402

SURE = ["--epsilon", "200"]
AGE = ["--column", "age", "--bounds", 0, 120]


@pytest.fixture
def table(tmp_path):
    """Ten thousand ages and delays, of which every hundredth delay is missing."""
    bits = np.random.default_rng(0)
    delay = pa.array(bits.normal(-5, 20, 10_000), mask=np.arange(10_000) % 100 == 0)
    ages = bits.integers(17, 91, 10_000)
    frame = pa.table({"age": ages, "delay": delay, "name": ["x"] * 10_000})
    pq.write_table(frame, tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (SURE, {"epsilon": 200}),
        (("--rho", "2.5"), {"rho": 2.5}),
        (
            ("--epsilon", "4", "--delta", "1e-6", "--noise", "laplace", "--neighbors", "replace"),
            {"epsilon": 4, "delta": 1e-6, "noise": "laplace", "neighbors": "replace"},
        ),
    ],
)
def test_an_answer_as_json_has_the_record_of_its_call(told, table, words, arguments):
    got = told("median", table, *AGE, *words)
    truth = float(np.sort(pq.read_table(table)["age"].to_numpy())[4999])
    assert abs(got.pop("value") - truth) < 5 and got.pop("time").endswith("Z")
    data, arguments = dp.scan(table, "age"), {"bounds": (0, 120), **arguments}
    record = dp.extend.prepare(dp.median, data, **arguments).to_record().to_dict()
    assert got == {**record, "file": str(table), "entry": None, "is_noise": False}
    assert got["parameters"]["bounds"] == [0, 120] and got["data"]["columns"] == ["age"]
    if words is SURE:
        bar = {"confidence": 0.95, "half_width": None, "ranks": None, "note": SECRET}
        assert got["error"] == bar


def test_nothing_but_the_value_depends_on_the_rows(shell, tmp_path):
    """Different rows, numbers of rows, nulls and row groups: the same words."""
    seen, file = [], tmp_path / "t.parquet"
    for seed, n in (1, 10), (2, 5000):
        values = np.random.default_rng(seed).normal(50, 10, n)
        values[: n // 10] = np.nan
        rows = pa.table({"v": pa.array(values, mask=np.arange(n) % 7 == seed)})
        pq.write_table(rows, file, row_group_size=4 * seed**3)
        for more in [], ["--json"]:
            words = ("median", file, "--bounds", 0, 100, "--nan", 50, *SURE, *more)
            code, out, err = shell(*words)
            assert (code, err) == (0, "")
            value = json.loads(out)["value"] if more else out.splitlines()[0].split()[1]
            seen.append(re.sub('"time": "[^"]*"', "", out.replace(str(value), "VALUE")))
            assert "VALUE" in seen[-1]
    assert seen[:2] == seen[2:]


OURS = "a fault of dpfast or a library (DPFAST_LOG): RuntimeError"


@pytest.mark.parametrize(
    "error, code, said",
    [
        (BudgetError("too little left"), 4, "too little left"),
        (EntropyError("no bits"), 1, "no bits"),
        (NativeError("no"), 1, "no"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RuntimeError("a row"), 1, OURS),  # is named and quotes nothing
    ],
    ids=repr,
)
def test_what_a_release_may_raise(shell, table, monkeypatch, error, code, said):
    monkeypatch.setattr(answer.Files, "data", Mock(side_effect=error))
    assert shell("median", table, *AGE, *SURE) == (code, "", f"dpfast: error: {said}\n")


def test_help_and_version(shell):
    assert shell("--version") == (0, f"dpfast {dp.__version__}\n", "")
    code, out, _ = shell("--help")
    assert code == 0 and all(word in out for word in ("median", "quantile", "demo"))
    code, _, err = shell("medien")
    assert code == 2 and err.startswith("dpfast: error: No such command") and err.count("\n") == 1
    code, out, err = shell()
    assert (code, err) == (2, "") and "Usage: dpfast" in out


@quick_rows(3)
@pytest.mark.parametrize(
    "example",
    [
        *["median", "budget create study.db", "run job.toml", "quantile", "explain job.toml"],
        *["label study.db", *(f"budget {one} study.db" for one in ("show", "history", "report"))],
    ],
)
def test_help_of_a_command(shell, example):
    words = [word for word in example.split() if "." not in word]
    code, out, _ = shell(*words, "--help")
    said = [f"Example: dpfast {example}"]
    if example in ("median", "quantile"):
        said += ["--bounds", "LO HI", "--epsilon", "--nan", "--json", "Exit codes: 0 done"]
    assert code == 0 and all(word in " ".join(out.split()) for word in said)


def test_demo(shell):
    code, out, err = shell("demo")
    assert (code, err) == (0, "")
    assert "32,561 rows" in out and "doi:10.24432/C5XW20" in out and "CC BY 4.0" in out
    assert "this table is public" in out
    cells = [line.replace("│", " ").split() for line in out.splitlines() if line.startswith("│")]
    assert [float(row[0]) for row in cells] == list(demo.EPSILONS)
    for _, value, error, milliseconds in cells:
        assert 0 <= float(value) <= 120 and float(milliseconds) > 0
        assert abs(abs(float(value) - 37) - float(error)) < 2e-4  # the documented true median
    assert float(cells[-1][2]) < 2  # at the largest epsilon
    budget, ages = demo.allocated(), demo.load()
    assert len(list(demo.demo(ages, budget))) == len(demo.EPSILONS)
    assert budget.remaining["epsilon"] == 0
    with pytest.raises(BudgetError):  # it pays
        next(demo.demo(ages, budget))


@quick_rows(1)
@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_an_extra(missing):
    code = "import sys; sys.modules[sys.argv[1]] = None; from dpfast.__main__ import main; "
    done = program(code + "sys.exit(main())", missing)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"dpfast: error: the command line needs {missing}")
    assert done.stderr.endswith("pip install typer rich\n") and done.stderr.count("\n") == 1


WATCH = """
import sys
from dpfast.app.cli import answer, main as cli
answer.PATIENCE = float(sys.argv[1])
sys.exit(cli.run(sys.argv[2:]))
"""


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="opens a pseudo-terminal")
@every_value(drop=True)
@pytest.mark.parametrize("patience, seen", [("0", True), ("1e9", False)])
@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_a_bar_when_it_takes_long_and_only_on_a_terminal(table, name, patience, seen):
    import pty

    from pyarrow import csv

    csv.write_csv(pq.read_table(table), table.with_name("t.csv"))
    words = ["median", str(table.with_name(name)), "--column", "age", "--bounds", "0", "120", *SURE]
    run = [sys.executable, "-c", WATCH, patience, *words, "--json"]
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            run, stdout=subprocess.PIPE, stderr=slave, text=True, timeout=60,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
        )  # fmt: skip
        os.close(slave)
        shown = b""
        try:
            while part := os.read(master, 4096):
                shown += part
        except OSError:  # how Linux says that the other end is closed
            pass
    finally:
        os.close(master)
    assert done.returncode == 0 and json.loads(done.stdout)["data"]["columns"] == ["age"]
    assert (b"reading" in shown) == seen
    if seen:
        done = subprocess.run(run, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stderr == ""


@pytest.mark.full
def test_a_reader_that_leaves_early(table):
    words = [sys.executable, "-m", "dpfast", "median", str(table), *map(str, AGE), *SURE, "--json"]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    running.stdout.close()
    assert running.stderr.read() == b""
    running.stderr.close()
    assert running.wait(60) == 1


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full and a POSIX shell")
@pytest.mark.parametrize(
    "words, code, out, err",
    [
        ("median ok.csv {} --json > /dev/full", 1, "", "No space left"),
        ("demo > /dev/full", 1, "", "No space left"),
        ("median ok.csv {} --json >&-", 1, "", "is closed"),
        ("median ok.csv {} --json 2>&-", 0, '{"value": ', ""),
        ("median no.csv {} --json 2>&-", 3, "", ""),
        ("median no.csv {} 2> /dev/full", 3, "", ""),
        ("median '\u00fc \U0001f4a5.csv' {}", 0, "U0001f4a5.csv", ""),
    ],
)
def test_outputs_that_cannot_be_written(tmp_path, words, code, out, err):
    for name in ("ok.csv", "\u00fc \U0001f4a5.csv"):
        (tmp_path / name).write_text("a\n1\n2\n")
    root = os.path.dirname(os.path.dirname(dp.__file__))
    words = words.format("--bounds 0 9 --epsilon 1")
    done = subprocess.run(
        ["sh", "-c", f"exec {sys.executable} -m dpfast {words}"],
        capture_output=True, text=True, timeout=120, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": root, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert done.returncode == code and out in done.stdout and err in done.stderr
    assert bool(done.stdout) == bool(out) and done.stderr.count("\n") == bool(err)
