"""What the tests of the command line share."""

import csv
import functools
import json

import numpy as np
import pytest

ROWS = 3000


def releases(*tables):
    return "".join(
        "[[release]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
        for table in tables
    )


def read(path):
    if path.suffix == ".parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def _programs_are_not_advised(monkeypatch):
    """The losses of tests are far above 10, of which a program would be told."""
    monkeypatch.setenv("PYTHONWARNINGS", "ignore:epsilon")


@pytest.fixture(scope="session")
def get_command():
    """Make the commands once: each call of the line makes them anew, which takes long."""
    return functools.cache(pytest.importorskip("typer.main").get_command)


@pytest.fixture
def shell(capfd, monkeypatch, get_command):
    pytest.importorskip("rich")
    monkeypatch.setattr("typer.main.get_command", get_command)
    from dpfast.app.cli import main

    def run(*arguments):
        code = main.run([*map(str, arguments)])
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def told(shell):
    def run(*arguments):
        code, out, err = shell(*arguments, "--json")
        assert (code, err, out.count("\n")) == (0, "", 1)
        return json.loads(out)

    return run


@pytest.fixture
def frame():
    """Delays with nulls, carriers, months, aircraft of 20 rows, days."""
    pa, bits = pytest.importorskip("pyarrow"), np.random.default_rng(3)
    return pa.table(
        {
            "delay": pa.array(bits.normal(10, 20, ROWS), mask=bits.random(ROWS) < 0.1),
            "carrier": bits.choice(["UA", "AA", "DL"], ROWS, p=[0.5, 0.3, 0.2]),
            "month": bits.choice([1, 2, 3], ROWS, p=[0.5, 0.3, 0.2]),
            "tail": np.arange(ROWS) % 150,
            "day": np.datetime64("2024-01-30") + bits.integers(0, 4, ROWS),
        }
    )


@pytest.fixture
def folder(frame, tmp_path, monkeypatch):
    """The table as a whole in two formats and in two parts, and files of keys."""
    text, pq = pytest.importorskip("pyarrow.csv"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(frame, tmp_path / "t.parquet", row_group_size=700)
    pq.write_table(frame.slice(0, 1000), tmp_path / "a.parquet")
    pq.write_table(frame.slice(1000), tmp_path / "b.parquet")
    text.write_csv(frame, tmp_path / "t.csv")
    (tmp_path / "keys.txt").write_text("2\r\n3\n\n")
    (tmp_path / "both.csv").write_text("x,month,carrier\n0,1,UA\n0,3,AA\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    return tmp_path
