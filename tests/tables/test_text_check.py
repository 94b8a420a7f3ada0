"""`dpfast check`: the cells that it names are those at which a release fails."""

import gzip
import json
import random
import re

import numpy as np
import pytest

import dpfast as dp
from dpfast.app.cli import main
from dpfast.errors import ArgumentError, DataError, SourceError
from dpfast.tables import text, text_check
from dpfast.tables.text_format import text_format

from .test_text_options import all_rows, alone, declared, moment, number, pool, written

pytest.importorskip("pyarrow")


def expected(records, form, names, head):
    """The faults of records by definition, each record read alone by Python."""
    faults, before = [], head
    for record in records:
        line = 1 + len(re.findall("\r\n|\r|\n", before))
        before += record
        cells = alone(record, form)
        if not record.strip("\r\n"):
            continue
        if len(cells) != len(names):
            faults.append((line, None, record.rstrip("\r\n")))
            continue
        for name, cell in zip(names, cells, strict=True):
            if cell in form.missing:
                continue
            layout = form.dates.get(name)
            found = number(cell, form) if layout is None else moment(cell, layout)
            if found is None:
                faults.append((line, name, cell))
    return faults


def checked_files(folder, monkeypatch, count, first=0):
    names, faulty = ("a", "b", "c"), 0
    monkeypatch.setattr(text_check, "MOST", 1000)
    for seed in range(first, first + count):
        dice = random.Random(seed)
        options = declared(dice)
        form = text_format({"delimiter": ",", **options})
        end = dice.choice(["\n", "\r\n", "\r"])
        pools = [pool(name, "number", form) for name in names]
        rows = [[dice.choice(cells) for cells in pools] for _ in range(dice.randrange(1, 9))]
        for _ in range(dice.randrange(3)):
            dice.choice(rows)[dice.randrange(3)] = dice.choice(["x", "31.02.2024", "1.2.3"])
        if dice.random() < 0.3:
            row = dice.choice(rows)
            row[:] = dice.choice([["x"] * 2, ["x"] * 4, ["x"]])
        records = [written(row, form, dice) + end for row in rows]
        if dice.random() < 0.3:
            records.insert(dice.randrange(len(records)), end)
        head = form.delimiter.join(names) + end
        path = folder / "t.csv"
        path.write_bytes((head + "".join(records)).encode(form.encoding))
        monkeypatch.setattr(text, "BLOCK", dice.choice([1, 7, 33, 100, 1 << 20]))
        found = dp.extend.Files(path, **options).check(names)
        faults = [(one["line"], one["column"], one["cell"]) for one in found["faults"]]
        assert sorted(faults, key=str) == sorted(expected(records, form, names, head), key=str), (
            seed
        )
        faulty += bool(faults)
        if faults:
            with pytest.raises(DataError):
                all_rows(path, options, ())
        else:
            assert len(all_rows(path, options, ())) == found["rows"]
    return faulty


@pytest.mark.parametrize("count", [15, pytest.param(10_000, marks=pytest.mark.slow)])
def test_the_faults_are_those_at_which_a_release_fails(tmp_path, monkeypatch, count):
    assert count // 5 < checked_files(tmp_path, monkeypatch, count, first=60) < count


def test_a_check_that_misses_a_cell_is_seen(tmp_path, monkeypatch):
    faulty = text_check.faulty
    monkeypatch.setattr(text_check, "faulty", lambda *given: faulty(*given)[1:])
    with pytest.raises(AssertionError):
        checked_files(tmp_path, monkeypatch, 9)


@pytest.fixture
def path(tmp_path):
    lines = ["day;pay;town", "1.1.2024;12;Ulm", "31.02.2024;13;Bonn", "",
             '2.1.2024;"a\nb";K\u00f6ln', "3.1.2024;14", "4.1.2024;NA;x", "5.1.2024;15,5;\u00d6",
             '6.1.2024;"open;y']  # fmt: skip
    path = tmp_path / "t.csv"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    return path


FORM = {"delimiter": ";", "decimal": ",", "dates": {"day": "%d.%m.%Y"}}
FAULTS = [
    (3, "day", "31.02.2024", "is no date as declared"),
    (5, "pay", "a\nb", "is no number as declared"),
    (5, "town", "K\\xf6ln", "is not text in UTF-8"),
    (7, None, "3.1.2024;14", "has 2 cells, not 3"),
    (9, "town", "\\xd6", "is not text in UTF-8"),
    (10, None, None, "has a quote that is not closed, or a row of over 64 megabytes"),
]


def test_every_kind_of_fault(path):
    found = dp.extend.Files(path, **FORM).check()
    assert [tuple(one.values())[1:] for one in found["faults"]] == FAULTS
    assert {one["file"] for one in found["faults"]} == {str(path)} and found["rows"] == 6
    assert [(one["column"], one["as"], one["missing"]) for one in found["columns"]] == [
        ("day", "dates", 0),
        ("pay", "numbers", 1),
        ("town", "text", 0),
    ]
    named = dp.extend.Files(path, **FORM, encoding="latin-1").check(["town"])
    words = [one["cell"] for one in named["faults"] if one["column"]]
    assert words == ["Ulm", "Bonn", "K\u00f6ln", "x", "\u00d6"]


def test_the_command(path, capsys):
    given = ["check", str(path), "--delimiter", ";", "--decimal", ",", "--dates", "day=%d.%m.%Y"]
    assert main.run(given) == 5
    out = capsys.readouterr().out
    assert "NOT PRIVATE" in out and f"{path}, line 7: '3.1.2024;14' has 2 cells, not 3" in out
    assert f"{path}, line 5, column pay: 'a\\x0ab' is no number" in out.replace("\\n", "\\x0a")
    assert main.run([*given, "--json"]) == 5
    found = json.loads(capsys.readouterr().out)
    assert found["private"] is False and len(found["faults"]) == len(FAULTS)
    path.write_text("v\n1\n2\n")
    assert main.run(["check", str(path), "--columns", "v"]) == 0
    assert main.run(["check", str(path), "--columns", "w"]) == 3
    assert main.run(["check", str(path), "--missing", "NA,"]) == 2


def test_files_that_cannot_be_checked(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3.0))
    with pytest.raises(ArgumentError, match="path must be a text file"):
        dp.extend.Files(tmp_path / "a.npy").check()
    packed = gzip.compress(b"v\n" + b"1.5\n" * (1 << 18), mtime=0)
    path = tmp_path / "t.csv.gz"
    path.write_bytes(packed[:500] + bytes(50) + packed[550:])
    with pytest.raises(SourceError, match="cannot be read"):
        dp.extend.Files(path).check()


def test_ten_faults_of_a_column_are_shown(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v,w\n" + "".join(f"{'x' if i % 3 == 1 else i},a{i}\n" for i in range(99)))
    found = dp.extend.Files(path).check()
    assert [one["faults"] for one in found["columns"]] == [10, 0]
    assert [one["line"] for one in found["faults"]] == [3 * i + 3 for i in range(10)]
