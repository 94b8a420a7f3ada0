"""`dpfast budget`: what it makes and shows, its pictures, and its exit codes."""

import json
import sys
from fractions import Fraction

import pytest

import dpfast as dp
from dpfast.app.cli import plot
from dpfast.privacy import Approx, Pure

from ..support.pairwise import quick_rows


@pytest.fixture
def shell(shell):
    return lambda *words: shell("budget", *words)


@pytest.fixture
def ledger(tmp_path):
    """Two thirds spent under two relations, with notes that look like markup."""
    path = tmp_path / "study.db"
    budget = dp.Budget(epsilon=1, delta=1e-6, path=path, name="[ages] größe $1 \U0001f4a5")
    budget.spend(Pure(0.1), neighbors="replace", what="median", note="[red]first[/]")
    budget.record(38.25)
    record = {"parameters": {"bounds": [0.0, 9.0]}}
    budget.spend(Approx(0.25, 1e-7), neighbors="replace", what="mean", record=record)
    budget.spend(Pure(0.05), neighbors="add-remove", what="count")
    return path


def test_create_and_show(shell, told, tmp_path):
    path = tmp_path / "new.db"
    words = ("--epsilon", "1/3", "--neighbors", "replace", "--name", "n")
    code, out, err = shell("create", path, *words)
    assert (code, err) == (0, "") and "0.3333333333333333 (exactly 1/3)" in out
    budget = dp.Budget(path=path)
    assert (budget.name, budget.neighbors) == ("n", "replace")
    assert budget.limit == {"epsilon": dp.privacy.Pure(1).epsilon / 3, "delta": 0}
    said = f"dpfast: error: ledger {path} exists already: choose another path\n"
    assert shell("create", path, "--epsilon", 1) == (3, "", said)
    assert dp.Budget(path=path).limit == budget.limit
    made = told("create", tmp_path / "rho.db", "--rho", "0.5")
    assert made["remaining"] == {"rho": {"value": 0.5, "exact": "1/2"}}


def test_move(shell, told, ledger, tmp_path):
    (tmp_path / "new").mkdir()
    moved = ledger.rename(tmp_path / "new" / "study.db")
    code, out, err = shell("show", moved)
    assert (code, out) == (3, "") and f"run dpfast budget move {moved}\n" in err
    assert told("move", moved)["spends"] == 3
    assert told("show", moved) == told("move", moved)
    code, out, err = shell("move", ledger)
    assert (code, out) == (3, "") and "does not exist" in err


def test_show(shell, told, ledger):
    code, out, err = shell("show", ledger)
    assert (code, err) == (0, "")
    shown = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert shown.pop("made").strip().endswith("UTC")
    assert {name: text.strip() for name, text in shown.items()} == {
        "name": "[ages] größe $1 \U0001f4a5",
        "file": str(ledger),
        "neighbors": "replace",
        "limit": "epsilon=1, delta=1e-06",
        "spent": "epsilon=0.45, delta=1e-07",
        "remaining": "epsilon=0.55, delta=9e-07",
        "spends": "3",
    }
    whole = json.loads(dp.Budget(path=ledger).export())
    del whole["lines"]
    assert told("show", ledger) == whole


def test_history(shell, told, ledger, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    code, out, err = shell("history", ledger)
    assert (code, err) == (0, "")
    rows = [" ".join(line.split()) for line in out.splitlines() if line.strip()]
    assert [row.split(None, 3)[3] for row in rows if row[0] in "123"] == [
        "epsilon=0.1 median",
        "epsilon=0.25, delta=1e-07 mean",
        "epsilon=0.05 (add-remove) count",
    ]
    assert rows[4:6] == ["[red]first[/]", "= 38.25"] and "bounds=(0, 9)" in rows
    assert told("history", ledger) == json.loads(dp.Budget(path=ledger).export())


def test_history_is_readable_in_eighty_columns(shell, tmp_path, monkeypatch):
    """A long loss, a long note and answers of many numbers take few lines, none of one letter."""
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / "long.db"
    budget = dp.Budget(epsilon=1, delta=1e-6, path=path)
    with budget.noted("the nightly job: " + "delay of flights " * 3):
        for answer in (
            {"value": list(range(1000)), "edges": list(range(1001))},
            {"value": {"carrier": ["UA", "AA"], "mean": [1.0, 2.5], "mean error": [0.1, 0.1]}},
            {"error": "data has NaN or null"},
            {"value": [[1.0, 0.123456789012345], [2.0, 3.0]]},
        ):
            budget.spend(Approx(Fraction(1, 7), Fraction(1, 10**8)), neighbors="add-remove",
                         what="tree histogram of groups")  # fmt: skip
            budget.record(answer)
    code, out, err = shell("history", path)
    assert (code, err) == (0, "")
    lines = [line for line in out.splitlines() if line.strip()]
    assert max(map(len, lines)) <= 80 and len(lines) < 40
    start = lines[0].index("what")
    said = " ".join(line[start:].strip() for line in lines[2:])
    assert "= 0, 1, 2, 3, 4, ... (1,000 in all) tree" in said and "groups the nightly job" in said
    assert "= 2 groups: carrier, mean, mean error" in said and "error: data has NaN" in said
    assert said.endswith("= [1.0, 0.123456789012345], [2.0, 3.0]")


def test_people(shell, told, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    path = tmp_path / "people.db"
    made = told("create", path, "--epsilon", 1, "--ids", "tailnum", "--max-rows", 2)
    assert (made["ids"], made["max_rows"]) == ("tailnum", 2)
    budget = dp.Budget(path=path)
    for ids in ("tailnum", None):
        budget.spend(Pure(0.25), neighbors="add-remove", what="count", ids=ids)
    shown = [line.split() for line in shell("show", path)[1].splitlines()]
    assert ["ids", "tailnum"] in shown and ["max_rows", "2"] in shown
    code, out, err = shell("history", path)
    assert (code, err) == (0, "") and "the people of 'tailnum'" in out
    rows = [line.split()[3:] for line in out.splitlines() if line.strip()[:1] in {"1", "2"}]
    assert rows == [["epsilon=0.25", "count"], ["epsilon=0.25", "(rows)", "count"]]
    assert [line.get("ids") for line in told("history", path)["lines"]] == ["tailnum", None]


@pytest.mark.full
def test_what_is_drawn(shell, ledger, monkeypatch):
    pytest.importorskip("matplotlib")
    for command in ("show", "history"):
        picture = ledger.with_name(f"{command}.png")
        code, _, err = shell(command, ledger, "--plot", picture)
        assert (code, err) == (0, "") and picture.read_bytes().startswith(b"\x89PNG")
    budget = dp.Budget(path=ledger)
    monkeypatch.setattr("dpfast.budget.budget.now", lambda: "1970-01-01T00:00:00.000000Z")
    budget.spend(Pure(0.5), neighbors="replace")
    panels = plot.figure(budget).axes
    assert [panel.get_ylabel() for panel in panels] == ["epsilon", "delta"]
    for panel, sums, limit in [
        (panels[0], [0, 0.1, 0.35, 0.45, 0.95, 0.95], 1),
        (panels[1], [0, 0, 1e-7, 1e-7, 1e-7, 1e-7], 1e-6),
    ]:
        steps, dots, line = panel.get_lines()
        assert list(steps.get_ydata()) == sums and list(dots.get_ydata()) == sums[1:-1]
        assert set(line.get_ydata()) == {limit}
        times = list(steps.get_xdata())
        assert times == sorted(times)  # though the clock was put back
    empty = dp.Budget(rho=1)
    assert [list(p.get_lines()[0].get_ydata()) for p in plot.figure(empty).axes] == [[0, 0]]


@quick_rows(2)
@pytest.mark.parametrize(
    "words, code, said",
    [
        (("show", "none.db"), 3, "does not exist"),
        (("create", "c.db", "--rho", "1", "--max-rows", "2"), 2, "max_rows must be left out"),
        (("create", "c.db"), 2, "epsilon must be given"),
        (("history", "text.db"), 3, "is not a ledger"),
        (("show", "study.db", "--plot", "no/a.png"), 3, "cannot be written"),
        (("show", "study.db", "--plot", "a.xyz"), 2, "plot must be a name that ends in one of"),
    ],
    ids=str,
)
def test_errors(shell, ledger, monkeypatch, words, code, said):
    monkeypatch.chdir(ledger.parent)
    if "--plot" in words:
        pytest.importorskip("matplotlib")
    (ledger.parent / "text.db").write_text("no database " * 99)
    got, out, err = shell(*words)
    assert (got, out, err.count("\n")) == (code, "", 1)
    assert err.startswith("dpfast: error: ") and said in err
    assert not (ledger.parent / "c.db").exists()


def test_without_matplotlib(shell, ledger, monkeypatch):
    for name in ("matplotlib", "matplotlib.dates", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    code, out, err = shell("show", ledger, "--plot", "a.png")
    assert (code, out) == (2, "") and "pip install matplotlib" in err
