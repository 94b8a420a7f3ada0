"""What every statistic has on the command line: conditions, people, ledgers, several files, CSV."""

import csv
import inspect
import io
import os
import re
from dataclasses import asdict

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import dpfast as dp  # noqa: E402
from dpfast.app.cli import main  # noqa: E402
from dpfast.app.cli.shared import TEXT  # noqa: E402
from dpfast.app.functions import BY_GROUP, OF_ROWS, encoded  # noqa: E402
from dpfast.rng import InsecureGenerator, SecureGenerator  # noqa: E402
from dpfast.statistics.table import STATISTICS  # noqa: E402

from ..support.names import shown  # noqa: E402
from ..support.pages import GUIDE  # noqa: E402
from ..support.pairwise import quick_rows  # noqa: E402
from .conftest import ROWS, releases  # noqa: E402

SURE = ("--epsilon", 400)
DELAY = ("--column", "delay", "--bounds", -60, 300, "--nan", 0)
BETWEEN = ("--by", "carrier", "--keys", "AA,UA", "--column", "delay")
#: Arguments of the functions that a command has no option for.
NOT_HERE = {*("data", "axis", "ddof", "assume_sorted", "weights", "weight_bounds", "budget", "rng")}


def commands():
    named = {one.name: one.callback for one in main.app.registered_commands}
    others = {"demo", None, "run", "explain", "audit", "check", "label"}
    return {name: inspect.signature(named[name]).parameters for name in named.keys() - others}


def test_a_command_has_the_options_of_its_functions():
    own = {"files", "ledger", "as_json", "as_csv", "column", "rows", *TEXT}
    own |= {"columns", "other", "interval"}
    kinds = [one.kind for one in STATISTICS.values() if one.kind is not None]
    known = set().union(*(inspect.signature(kind).parameters for kind in kinds))
    for name, options in commands().items():
        statistic = name.replace("-", "_")
        functions = [f[statistic] for f in (OF_ROWS, BY_GROUP) if statistic in f]
        takes = set().union(*(inspect.signature(f).parameters for f in functions))
        if statistic == "top_k":  # of the rows of all groups, and so of no column of their own
            takes |= {"ids", "max_rows"}
        if statistic == "difference":  # and what it compares
            assert set(options) - own - takes <= known | {"by", "max_groups", "rows_limit"}
            continue
        if statistic == "describe":  # mappings by name, for jobs
            takes -= {"bounds", "categories"}
        assert set(options) - own == takes - NOT_HERE - {"column", "other"}, name
        of_column = inspect.signature(OF_ROWS.get(statistic, functions[0])).parameters
        for option in {"nan", "noise", "method"} & set(options) & set(of_column):
            assert options[option].default == of_column[option].default
    words = {entry.word for entry in STATISTICS.values() if entry.options is not None}
    assert set(commands()) == {*(word.replace("_", "-") for word in words), "top-k"}
    text = (GUIDE / "command-line.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^The commands are (.*?)\. Each", text, re.M | re.S)
    assert set(re.findall(r"`([\w-]+)`", listed)) == set(commands())


def test_bounds_of_dates(told, folder, frame):
    got = told("median", "t.parquet", "--column", "day", "--bounds=2024-01-01,2024-03-01", *SURE)
    assert got["parameters"]["bounds"] == ["2024-01-01", "2024-03-01"]
    assert got["value"][:10] == str(np.sort(frame["day"].to_numpy())[ROWS // 2 - 1])[:10]


def test_people(told, folder):
    own = ("--ids", "tail", "--max-rows", 20)
    got = told("count", "t.parquet", "--column", "day", "--nan", "keep", *own, "--epsilon", 4000)
    assert abs(got["value"] - ROWS) < 5
    assert (got["unit"]["ids"], got["parameters"]["max_rows"]) == ("tail", 20)


def test_several_files_are_one(told, folder):
    got = told("count", "a.parquet", "b.parquet", "--column", "tail", *SURE)
    assert got["value"] == ROWS and got["file"] == ["a.parquet", "b.parquet"]
    by = ("--by", "carrier", "--keys", "UA,AA,DL")
    parts = told("count", "b.parquet", "a.parquet", *by, *SURE)["groups"]
    assert parts == told("count", "t.parquet", *by, *SURE)["groups"]


def test_histogram(shell, folder, frame):
    rows, words = frame.to_pandas(), ("--column", "delay", "--bins=-60,0,300", *SURE)
    code, out, err = shell("histogram", "t.parquet", *words, "--csv")
    lo, hi, count, bar = np.loadtxt(io.StringIO(out), delimiter=",", skiprows=1, unpack=True)
    assert (code, err) == (0, "") and out.startswith('"lo","hi","count","half_width"')
    assert (list(lo), list(hi), bar[0]) == ([-60, 0], [0, 300], bar[1])
    assert count[0] == (rows.delay < 0).sum()
    assert shell("histogram", "t.parquet", *words)[1].split()[:3] == ["lo", "hi", "count"]
    words = ("covariance", "t.parquet", "--columns", "delay,tail", "--bounds=-60,300,0,150")
    out = shell(*words, "--nan", 0, *SURE, "--csv")[1]
    assert [line.count(",") for line in out.splitlines()] == [2] * 3
    assert out.splitlines()[0] == '"column","delay","tail"'
    assert shell("bounds", "t.parquet", *DELAY[:2], *SURE, "--csv")[1].startswith('"lo","hi"\n')


def test_quantiles_between_two_ends(told, shell, folder, frame):
    median = frame["delay"].to_pandas().fillna(0).median()
    words = ("t.parquet", *DELAY, "--epsilon", 20)
    interval = told("quantile-interval", *words, "--q", 0.5, "--coverage", 0.9)
    for got in (told("median", *words, "--interval"), interval):
        low, high = got["error"]["low"], got["error"]["high"]
        assert low <= got["value"] <= high and abs(low - median) < 5 > high - median
        assert got["statistic"] == "quantile_interval" and got["is_noise"] is False
    assert (interval["error"]["confidence"], interval["parameters"]["coverage"]) == (0.9, 0.9)
    several = shell("quantiles", *words, "--q", 0.1, "--q", 0.9, "--interval", "--csv")[1]
    lines = list(csv.DictReader(io.StringIO(several)))
    assert list(lines[0]) == ["q", "value", "low", "high"] and len(lines) == 2
    code, _, err = shell("percentile", *words, "--q", 101, "--interval")
    assert code == 2 and "q must be a number between 0 and 100" in err
    out = shell("median", *words, "--interval")[1]
    assert re.search(r"error \(95%\) +\S+ to \S+, by two private ends", out)
    groups = told("minimum", *words, "--by", "carrier", "--keys", "UA,AA", "--interval")["groups"]
    ends = (groups[f"quantile_interval{end}"] for end in (" low", "", " high"))
    assert all(low <= value <= high for low, value, high in zip(*ends, strict=True))


def test_csv_is_a_table_of_the_answer(shell, folder):
    words = ("quantiles", "t.parquet", *DELAY, "--q", 0.25, "--q", 0.5, *SURE, "--csv")
    code, out, err = shell(*words)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, err) == (0, "") and [row["q"] for row in rows] == ["0.25", "0.5"]
    assert float(rows[0]["value"]) < float(rows[1]["value"])
    (folder / "keys.txt").write_text('A,"B\n')
    code, out, err = shell("count", "t.parquet", "--by", "carrier", "--keys", "@keys.txt", *SURE,
                           "--csv")  # fmt: skip
    assert (code, err) == (0, "")
    assert next(csv.DictReader(io.StringIO(out)))["carrier"] == 'A,"B'


def test_a_ledger_pays(told, shell, folder):
    told("budget", "create", "study.db", "--epsilon", 1, "--neighbors", "replace")
    got = told("mean", "t.parquet", *DELAY, "--epsilon", "0.6", "--ledger", "study.db")
    assert got["ledger"] == os.path.realpath("study.db") and got["entry"] == 1
    assert got["unit"]["neighbors"] == "replace"
    assert got["remaining"] == {"epsilon": 0.4, "delta": 0}
    budget = dp.Budget(path="study.db")
    (entry,) = budget.history
    assert (entry.what, entry.note, entry.answer) == ("mean, nan=0.0", "delay", None)
    shown = {name: got[name] for name in entry.record}
    assert {**entry.record, "error": None} == {**shown, "error": None}
    words = ("count", "t.parquet", "--by", "carrier", "--keys", "UA", "--where", "delay > 0")
    for epsilon, code, said in ("0.5", 4, "0.4"), ("0.4", 0, "epsilon=0, delta=0"), ("0.4", 4, ""):
        got, out, err = shell(*words, "--ledger", "study.db", "--epsilon", epsilon)
        assert (got, bool(out)) == (code, not code) and err.count("\n") == (code > 0)
        assert said in out + err
    assert budget.history[1].note == "t.parquet where delay > 0" and budget.spent["epsilon"] == 1


@quick_rows(21)
@pytest.mark.parametrize(
    "words, code, said",
    [
        (("sum", *DELAY, "--where", "delay"), 2, "where must be a column, one of =, ==, !=, in,"),
        (("sum", *DELAY, "--where", "tail in 1,"), 2, "where must be a list such as"),
        (("sum", *DELAY, "--where", "tail = 1", "--neighbors", "replace"), 2,
         "where must be left out without by if neighbors is 'replace'"),
        (("count", "--keys", "UA"), 2, "keys must be left out, because by is not given"),
        (("mean", "--by", "month", "--keys", "UA", *DELAY), 2,
         "keys must be integers, as the column 'month' is, got 'UA'"),
        (("mean", "--by", "day", "--by", "month", "--keys", "1", *DELAY), 2,
         "keys must be given once for each of the 2 columns of by, or be @FILE"),
        (("median", "--by", "month", "--keys", "1", "--noise", "cauchy", *DELAY), 2,
         "noise must be one of the arguments of median: by, "),
        (("mean", "--by", "moth", "--keys", "1", *DELAY), 3, "(did you mean 'month'"),
        (("count-distinct", "--by", "month", "--keys", "1", "--column", "day"), 2,
         "column must be one of the arguments of count_distinct: by, "),
        (("mean", "--by", "month", "--bounds", 0, 1), 2,
         "column must be given, because mean needs it"),
        (("mean", "--by", "month", "--keys", "1", "--column", "delay", "--bounds",
          0, 1, "--nan", "raise"), 5, "not refunded"),
        (("sum", *DELAY, "--json", "--csv"), 2, "csv must be left out, because json is given"),
        (("sum", *DELAY, "--ledger", "no.db"), 3, "no.db does not exist"),
        (("sum", *DELAY, "--ledger", "t.parquet"), 3, "is not a ledger"),
        (("sum", *DELAY[:2], "--nan", 0, "--bounds=1,2,3"), 2, "it must be two numbers"),
        (("sum", *DELAY, "--max-groups", 3), 2,
         "max_groups must be left out, because the release has no groups"),
        (("top-k", "--k", 2), 2, "by must be given, because top_k needs groups of rows"),
        (("top-k", "--by", "carrier"), 2, "k must be given, because top_k needs it"),
        (("histogram", "--column", "delay", "--bins", "a"), 2, "'a' is not a number"),
        (("median", *DELAY, "--epsilon", "0"), 2,
         "epsilon must be a finite number greater than 0, got"),
        (("median", *DELAY, "--epsilon", "1e999999999"), 2, "epsilon must be"),
        (("median", *DELAY, "--epsilon", "1e-999999999"), 2, "epsilon must be"),
        (("median", *DELAY, "--epsilon", "1/0"), 2, "'1/0' is not a number"),
        (("median", *DELAY[:5], "--nan", "drop", "--neighbors", "replace"), 2, "nan must be"),
        (("median", *DELAY[:2], "--bounds", "0", "x"), 2, "'--bounds'"),
        (("median", *DELAY[:2]), 2, "bounds must be given"),
        (("median", *DELAY[:2], "--bounds", 1, 0), 2, "bounds must be"),
        (("median", *DELAY, "--colour", "red"), 2, "No such option"),
        (("median", "--column", "dely", "--bounds", 0, 1), 3,
         "column 'dely' is not in t.parquet (did you mean 'delay'?)"),
        (("median", "--column", "carrier", "--bounds", 0, 1), 3, "must hold integers, floats"),
        (("median", "--bounds", 0, 1), 3, "column must be named for t.parquet, which has: delay,"),
        (("median", *DELAY[:5], "--nan", "raise"), 5, "NaN or null"),
        (("mean", *DELAY, "--where", "dely > 0"), 3, "did you mean 'delay'"),
        (("count", "none.parquet"), 3, "none.parquet' does not exist"),
        (("difference", "--of", "meen", *BETWEEN), 2, "of.statistic must be one of"),
        (("difference", "--of", "mean", *BETWEEN), 2, "the arguments in of must be those of mean"),
        (("difference", *BETWEEN, "--bounds", 0, 1), 2,
         "bounds must be one of the arguments of difference"),
        (("difference", "--of", "mean", "--column", "delay", "--bounds", 0, 1), 2, "must be"),
    ],
    ids=str,
)  # fmt: skip
def test_every_error_is_one_line_and_a_code_and_costs_nothing(shell, folder, words, code, said):
    """What the data do not allow comes after the spend, which stands."""
    dp.Budget(epsilon=1, path="study.db")
    loss = () if "--epsilon" in words else ("--epsilon", 1)
    pays = () if "--ledger" in words else ("--ledger", "study.db")
    got, out, err = shell(words[0], "t.parquet", *words[1:], *loss, *pays)
    assert (got, out, err.count("\n")) == (code, "", 1)
    assert err.startswith("dpfast: error: ") and said in err
    assert len(dp.Budget(path="study.db").history) == (code == 5)


def test_an_answer_has_its_error_bar_or_a_reason(told, shell, folder):
    mean = ("mean", "t.parquet", *DELAY, "--epsilon", 1)
    assert told(*mean)["error"]["half_width"] > 0  # by the noisy number of rows
    assert told(*mean, "--neighbors", "replace")["error"]["half_width"] > 0  # of the file
    due = dp.mechanism(dp.mean, bounds=(-60, 300), nan=0, epsilon=1)
    assert told(*mean, "--rows", 40)["error"] == asdict(due.expected_error(rows=40))
    code, out, err = shell(*mean, "--rows", 40)
    assert (code, err) == (0, "") and "error (95%)" in out and "±" in out
    code, out, err = shell(*mean, "--rows", 0)
    assert code == 2 and "rows must" in err
    assert "not known" in shell("trimmed-mean", *mean[1:-1], "200")[1]  # of a secret scale


def test_a_count_of_a_file_needs_no_column(told, shell, folder, frame):
    assert told("count", "t.parquet", *SURE)["value"] == len(frame)
    some = int((frame["carrier"].to_pandas() == "UA").sum())
    assert told("count", "t.parquet", "--where", "carrier = UA", *SURE)["value"] == some
    code, _, err = shell("count", "t.parquet", "--nan", "drop", *SURE)
    assert code == 3 and "column must be named" in err


LISTS = {
    "'Smith, J', DE": ["Smith, J", "DE"],
    "US, DE": ["US", "DE"],
    " US ,DE ": ["US", "DE"],
    '"Smith, J",DE': ["Smith, J", "DE"],
    "O'Hare, ' DE'": ["O'Hare", " DE"],
}


@quick_rows(1)
@pytest.mark.parametrize("text", LISTS)
def test_lists_are_written_alike_everywhere(told, tmp_path, text):
    """The fault: a route that splits at commas finds no group of two words."""
    rows = [word for number, word in enumerate(LISTS[text], 1) for _ in range(number)]
    file, keys, job = (tmp_path / name for name in ("t.parquet", "keys.txt", "job.toml"))
    pq.write_table(pa.table({"k": [*rows, "other"], "v": range(4)}), file)
    keys.write_text("".join(f' "{word}" \n' for word in LISTS[text]))
    asked = {"statistic": "count", "column": "v", "name": "n", "where": f"k in {text} "}
    job.write_text(f'[data]\npath = "t.parquet"\n[budget]\nepsilon = 400\n{releases(asked)}')
    groups, bins = ("count", file, "--by", "k", *SURE), ("histogram", file, "--column", "k", *SURE)
    found = {
        "where": [told("count", file, "--where", f"k in {text}", *SURE)["value"]],
        "keys": told(*groups, "--keys", text)["groups"]["count"],
        "@file": told(*groups, "--keys", f"@{keys}")["groups"]["count"],
        "categories": told(*bins, "--categories", text)["counts"],
        "job": [dp.job.run(job)["n"]],
    }
    assert {name: sum(counts) for name, counts in found.items()} == dict.fromkeys(found, 3)
    assert found["keys"] == found["@file"] == found["categories"] == [1, 2]
    assert text.split(",") != LISTS[text]  # the fault would be seen


def test_no_list_is_one_error(shell, tmp_path):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"k": ["US"], "v": [1]}), file)
    for text in ("US,,DE", "US,", ",US", "'US' DE", "'US", ""):
        for options in ("--by", "k", "--keys", text), ("--column", "k", "--categories", text):
            statistic = "count" if "--by" in options else "histogram"
            code, _, error = shell(statistic, file, *options, "--epsilon", 1)
            assert code == 2 and "a list such as UA, 'A, B'" in error


def test_without_quotes_each_line_is_a_row(told, shell, folder):
    (folder / "q.csv").write_text('k,v\n"5" pipe",1\n"a,2\nb,3\n')
    asked = ("count", "q.csv", "--column", "v", *SURE)
    assert shell(*asked)[0] == 5  # a quote is open
    assert told(*asked, "--no-quotes")["value"] == 3
    job = '[data]\npath = "q.csv"\nquotes = false\n[budget]\nepsilon = 400\n'
    (folder / "job.toml").write_text(job + '[[release]]\nstatistic = "count"\ncolumn = "v"\n')
    assert told("run", "job.toml")["releases"][0]["value"] == 3


def groups(name):
    """A release by group, of the column of delays or of none."""
    return lambda groups, **given: getattr(groups, name)(**given)


D, B, BY = {"bounds": (-60, 300), "nan": 0}, {"bounds": (-60, 300)}, ("--by", "carrier")
QS, UNITS = {"qs": [0.9, 0.25]}, {"ids": "tail", "max_rows": 20}
COLUMN, TAIL, PUBLIC = ("--column", "delay"), ("--column", "tail"), (*BY, "--keys", "UA,AA")
PAIR = {"bounds": [(-60, 300), (0, 150)], "nan": 0}
#: A command, the function, its columns (none of groups), and its arguments.
SAME = [
    *((("mean", *COLUMN, "--nan", 0, *words), dp.mean, "delay", D)
        for words in (("--bounds=-60,300",), ("--bounds", "-60,300"), ("--bounds", -60, 300))),
    *((("median", *COLUMN, *DELAY[2:5], "--nan", nan), dp.median, "delay", {**B, "nan": due})
        for nan, due in ((-60, -60.0), ("upper", "upper"), ("drop", "drop"))),
    (("median", *DELAY, "--delta", "1e-6", "--noise", "laplace"), dp.median, "delay",
        {**D, "delta": 1e-6, "noise": "laplace"}),
    *((("quantiles", *DELAY, "--q", "0.9", "--q", "1/4", "--method", method), dp.quantiles,
        "delay", {**D, **QS, "method": method}) for method in ("recursive", "joint")),
    (("percentile", *DELAY, "--q", 50), dp.percentile, "delay", {**D, "q": 50}),
    (("trimmed-mean", *DELAY), dp.trimmed_mean, "delay", D),
    (("winsorized-mean", *DELAY), dp.winsorized_mean, "delay", D),
    (("count-distinct", *TAIL), dp.count_distinct, "tail", {}),
    (("count", "--ids", "tail", "--per-unit=1,2"), dp.count, "month",
        {"ids": "tail", "per_unit": (1, 2), "nan": "keep"}),
    (("kept-whole", "--ids", "tail", "--max-rows", 20), dp.kept_whole, "month", UNITS),
    *((("histogram", *COLUMN, *words), dp.histogram, "delay", given) for words, given in (
        (("--bins", 4, "--bounds=-60,300"), {**B, "bins": 4}),
        (("--bins=-60,0,300",), {"bins": [-60, 0, 300]}))),
    (("histogram", *TAIL, "--categories", "3,4"), dp.histogram, "tail", {"categories": [3, 4]}),
    (("tree-histogram", *DELAY[:5], "--bins", 4), dp.tree_histogram, "delay", {**B, "bins": 4}),
    (("covariance", "--columns", "delay,tail", "--bounds=-60,300,0,150", "--nan", 0),
        dp.covariance, ["delay", "tail"], PAIR),
    (("bounds", *TAIL, "--q", "0.01"), dp.bounds, "tail", {"q": 0.01}),
    *(((name, *TAIL, *words), getattr(dp, name), "tail", {"bounds": "auto"}) for name, words in (
        ("mean", ["--bounds=auto"]), *((name, ["--bounds", "auto"])
            for name in ("mean", "median", "sum", "variance")))),
    (("difference", *BETWEEN, "--of", "mean", *DELAY[2:]), dp.difference, ["delay", "carrier"],
        {"keys": ("AA", "UA"), "of": dp.Mean(**D)}),
    (("difference", *BETWEEN, "--of", "quantile", "--q", "3/4", *DELAY[2:]), dp.difference,
        ["delay", "carrier"], {"keys": ("AA", "UA"), "of": dp.Quantile(q=0.75, **D)}),
    (("histogram", *COLUMN, "--bins", 4, "--bounds=-60,300", *PUBLIC), groups("histogram"), None,
        {"column": "delay", **B, "bins": 4}),
    (("mean", *COLUMN, "--bounds=auto", *PUBLIC), groups("mean"), None,
        {"column": "delay", "bounds": "auto"}),
    (("top-k", "--k", 1, *PUBLIC), groups("top_k"), None, {"k": 1}),
    (("top-k", "--k", 2, *BY, "--delta", "1e-6"), groups("top_k"), False, {"k": 2, "delta": 1e-6}),
]  # fmt: skip


@quick_rows(12)
@pytest.mark.parametrize("words, function, columns, given", SAME, ids=shown)
def test_a_command_is_the_call_of_its_function(
    told, folder, monkeypatch, words, function, columns, given
):
    """The same bits of an answer from the same random bits."""
    monkeypatch.setattr(SecureGenerator, "stream", lambda self: InsecureGenerator(5).stream())
    found = told(words[0], "t.parquet", *words[1:], "--epsilon", 4)
    if columns:
        due = encoded(function(dp.scan("t.parquet", columns), **given, epsilon=4))
        value = found.get("value", found.get("values", found.get("counts")))
        np.testing.assert_array_equal(value, due["value"])
        ends = found.get("edges", found.get("categories", []))
        np.testing.assert_array_equal(ends, due.get("edges", []))
    else:
        keys = ["UA", "AA"] if columns is None else None
        by_group = dp.group_by(dp.scan("t.parquet"), "carrier", keys=keys)
        assert found["groups"] == function(by_group, **given, epsilon=4).to_dict()


def test_a_job_has_the_words_of_commands(folder, frame):
    kinds = {"statistic": "difference", "keys": ["AA", "UA"]}
    text = '[data]\npath = "t.parquet"\n[budget]\nepsilon = 800\nneighbors = "add-remove"\n'
    text += '[defaults]\nnan = 0\nbounds = [-60, 300]\ncolumn = "delay"\n' + releases(
        {**kinds, "of": "mean", "by": "carrier"},
        {**kinds, "name": "in the words of Python", "columns": ["delay", "carrier"]},
        {"statistic": "bounds", "nan": "drop"},
        {"statistic": "ratio", "other": "tail", "bounds": [[-60, 300], [0, 150]]},
    )
    python = 'of = {statistic = "mean", bounds = [-60, 300], nan = 0}\nname = "in'
    (folder / "job.toml").write_text(text := text.replace('name = "in', python))
    rows = frame.to_pandas().fillna({"delay": 0})
    first, second = (rows[rows.carrier == one].delay for one in ("AA", "UA"))
    results = dp.job.run(folder / "job.toml")
    results.check()
    for name in ("difference of delay, carrier", "in the words of Python"):
        assert abs(results[name] - first.mean() + second.mean()) < 0.5
    lo, hi = results["bounds of delay"]
    assert lo < -20 < 40 < hi
    assert abs(results["ratio of delay, tail"] - rows["delay"].sum() / rows["tail"].sum()) < 0.05
    facts = dp.job.explain(folder / "job.toml")["releases"]
    assert facts[0]["what"] == facts[1]["what"] == "difference of mean, nan=0.0"
    (folder / "job.toml").write_text(text.replace('by = "carrier"', 'by = ["carrier", "tail"]'))
    with pytest.raises(dp.errors.ArgumentError, match=r"release 1: by must be one column"):
        dp.job.explain(folder / "job.toml")
