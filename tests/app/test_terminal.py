"""What a terminal is shown: names that somebody else has chosen hold no control of it."""

import json
import os

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import dpfast as dp  # noqa: E402
from dpfast import errors  # noqa: E402
from dpfast.app.cli import shared  # noqa: E402

from ..support.pairwise import quick_rows  # noqa: E402

#: A title of a terminal, a bell, C1, a bidirectional override, a line, markup and an emoji's code.
HOSTILE = "\x1b]0;title\x07\x9b2J\u202egnp\r\n[bold]x[/] :+1:"
SHOWN = "\\x1b]0;title\\x07\\x9b2J\\u202egnp\\r\\n[bold]x[/] :+1:"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A table, a ledger and a job in which every name is hostile."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    table = pa.table({HOSTILE: [HOSTILE] * 500, "v": [1.0] * 500})
    pq.write_table(table, "t.parquet")
    budget = dp.Budget(epsilon=900, delta=0.5, path="study.db", name=HOSTILE)
    with budget.noted(HOSTILE):
        dp.group_by(table, HOSTILE).count(epsilon=9, delta=0.1, budget=budget)
    quoted = json.dumps(HOSTILE)
    (tmp_path / "job.toml").write_text(
        f'[data]\npath = "t.parquet"\n[budget]\nepsilon = 100\ndelta = 0.1\nname = {quoted}\n'
        f'[[release]]\nname = {quoted}\nstatistic = "count"\nby = {quoted}\n'
    )
    return tmp_path


BY, SOME = ("count", "t.parquet", "--by", HOSTILE), ("count", "t.parquet", "--column")
#: Commands that show names, and their exit codes.
COMMANDS = {
    "groups": ((*BY, "--epsilon", 9, "--delta", 0.1), 0),
    "a number": ((*SOME, HOSTILE, "--epsilon", 9), 0),
    "conditions": ((*SOME, "v", "--where", f"'{HOSTILE}' != x", "--epsilon", 9), 0),
    "a ledger": (("budget", "show", "study.db"), 0),
    "its entries": (("budget", "history", "study.db"), 0),
    "its report": (("budget", "report", "study.db"), 0),
    "its page": (("budget", "report", "study.db", "--html"), 0),
    "its label": (("label", "study.db"), 0),
    "its sheet": (("label", "study.db", "--sheet"), 0),
    "a job": (("run", "job.toml"), 0),
    "its cost": (("explain", "job.toml"), 0),
    "no such file": (("count", f"{HOSTILE}.csv", "--epsilon", 1), 3),
    "no such option": (("count", "t.parquet", "--epsilon", HOSTILE), 2),
    "no such ledger": (("budget", "show", HOSTILE), 3),
}


def printed(shell, name):
    command, expected = COMMANDS[name]
    code, out, err = shell(*command)
    assert code == expected, err
    return out + err


def controls(text):
    return [c for c in text if not c.isprintable() and c != "\n"]


@quick_rows(8)
@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_that_is_shown_controls_a_terminal(folder, shell, name):
    text = printed(shell, name)
    assert controls(text) == [] and "\\x1b" in text
    if name in ("groups", "a ledger", "a job"):
        assert SHOWN in text


def test_names_that_are_shown_as_they_are_are_noticed(folder, shell, monkeypatch):
    """The fault: a terminal that is given what there is."""
    monkeypatch.setattr(shared, "printable", lambda text: text)
    assert controls(printed(shell, "groups"))


def test_json_is_exact_and_ascii(folder, shell):
    for name in ("groups", "a job"):
        code, out, _ = shell(*COMMANDS[name][0], "--json")
        assert code == 0 and out.isascii() and controls(out) == []
        assert json.dumps(HOSTILE) in json.dumps(json.loads(out))


def test_an_error_of_any_kind_is_one_short_line():
    kinds = [one for one in vars(errors).values() if isinstance(one, type)]
    for kind in kinds:
        if issubclass(kind, errors.DpfastError):
            text = str(kind(f"column {HOSTILE} " + "x" * 400_000 + " must be y"))
            assert controls(text) == [] and "\n" not in text and len(text) < 2500
            assert "must be y" in text and text.startswith("column \\x1b")


JOB = """[data]
path = "t.parquet"
[budget]
epsilon = 100
[output]
path = "out.csv"
[[release]]
statistic = "count"
by = "k"
keys = "@keys.csv"
"""


@pytest.fixture
def job(tmp_path):
    pq.write_table(pa.table({"k": ["a", "b"]}), tmp_path / "t.parquet")
    (tmp_path / "keys.csv").write_text("k\na\nb\n")

    def make(name="job.toml", mark=""):
        path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
        with open(path, "wb") as file:
            file.write((mark + JOB).encode())
        return os.fsdecode(path)

    return make


def test_a_picture_does_not_take_the_place_of_a_ledger(tmp_path, shell):
    ledger = tmp_path / "study.png"
    dp.Budget(epsilon=1, path=ledger)
    (tmp_path / "soft.png").symlink_to(ledger)
    before = ledger.read_bytes()
    for picture in (ledger, f"{tmp_path}/./study.png", tmp_path / "soft.png"):
        for command in ("show", "history"):
            code, _, error = shell("budget", command, ledger, "--plot", picture)
            assert code == 2 and "plot must be another file than the ledger" in error
    assert ledger.read_bytes() == before


def test_a_job_of_any_name_and_with_a_mark_makes_a_report(job, tmp_path, shell):
    try:
        path = job(name=os.fsdecode(b"j\xff.toml"), mark="\ufeff")
    except OSError:
        pytest.skip("this file system has no such names")
    code, _, error = shell("run", path, "--report", tmp_path / "r.html")
    assert code == 0, error
    assert "j\\udcff.toml" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert dp.job.run(path)["count by k"]["k"] == ["a", "b"]
