"""What every statistic has on the command line: conditions, people, ledgers, several files, CSV."""

import csv
import inspect
import io
import json
import os
import re
from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import dpfast as dp  # noqa: E402
from dpfast.app.cli import main  # noqa: E402
from dpfast.app.cli.shared import TEXT  # noqa: E402
from dpfast.app.functions import BY_GROUP, OF_ROWS  # noqa: E402
from dpfast.statistics.table import STATISTICS  # noqa: E402

from ..support.pages import GUIDE  # noqa: E402
from ..support.pairwise import quick_rows  # noqa: E402
from .conftest import ROWS  # noqa: E402

SURE = ("--epsilon", 400)
DELAY = ("--column", "delay", "--bounds", -60, 300, "--nan", 0)


#: Arguments of the functions that a command has no option for.
NOT_HERE = {*("data", "axis", "ddof", "assume_sorted", "weights", "weight_bounds", "budget", "rng")}


def commands():
    named = {one.name: one.callback for one in main.app.registered_commands}
    others = {"demo", None, "run", "explain", "audit", "check", "label"}
    return {name: inspect.signature(named[name]).parameters for name in named.keys() - others}


def test_a_command_has_the_options_of_its_functions():
    own = {"files", "ledger", "as_json", "as_csv", "column", "rows", *TEXT}
    own |= {"columns", "other", "interval"}
    for name, options in commands().items():
        statistic = name.replace("-", "_")
        functions = [f[statistic] for f in (OF_ROWS, BY_GROUP) if statistic in f]
        takes = set().union(*(inspect.signature(f).parameters for f in functions))
        if statistic == "top_k":  # of the rows of all groups, and so of no column of their own
            takes |= {"ids", "max_rows"}
        if statistic == "difference":  # and what it compares
            kinds = [one.kind for one in STATISTICS.values() if one.kind is not None]
            known = set().union(*(inspect.signature(kind).parameters for kind in kinds))
            assert set(options) - own - takes <= known | {"by", "max_groups", "rows_limit"}
            continue
        if statistic == "describe":  # mappings by name, for jobs
            takes -= {"bounds", "categories"}
        assert set(options) - own == takes - NOT_HERE - {"column", "other"}, name
    words = {entry.word for entry in STATISTICS.values() if entry.options is not None}
    assert set(commands()) == {*(word.replace("_", "-") for word in words), "top-k"}


def test_the_page_names_every_command():
    text = (GUIDE / "command-line.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^The commands are (.*?): the functions", text, re.M | re.S)
    assert set(re.findall(r"`([\w-]+)`", listed)) == set(commands())


def test_defaults_are_those_of_the_functions():
    for name, options in commands().items():
        function = (OF_ROWS | BY_GROUP)[name.replace("-", "_")]
        of_column = OF_ROWS.get(name, function)
        for option in ("nan", "noise", "method"):
            takes = inspect.signature(of_column).parameters
            if option in options and option in takes:
                default = takes[option].default
                assert options[option].default == default


@pytest.mark.parametrize("words", [("--bounds=-60,300",), ("--bounds", "-60,300")])
def test_bounds_in_one_word_and_of_dates(told, folder, frame, words):
    got = told("mean", "t.parquet", "--column", "delay", "--nan", 0, *words, *SURE)
    assert got["parameters"]["bounds"] == [-60, 300]
    got = told("median", "t.parquet", "--column", "day", "--bounds=2024-01-01,2024-03-01", *SURE)
    assert got["parameters"]["bounds"] == ["2024-01-01", "2024-03-01"]
    assert got["value"][:10] == str(np.sort(frame["day"].to_numpy())[ROWS // 2 - 1])[:10]


@pytest.mark.parametrize("some", ["carrier = UA", "carrier not in AA, DL"])
def test_only_rows_that_pass(told, folder, frame, some):
    rows = frame.to_pandas()
    truth = rows[(rows["carrier"] == "UA") & (rows["delay"] > 0)]
    where = ("--where", some, "--where", "delay > 0")
    got = told("count", "t.parquet", "--column", "tail", *where, *SURE)
    where_text = got["data"]["where"]
    assert got["value"] == len(truth) and "carrier" in where_text and "delay" in where_text
    got = told("mean", "t.parquet", *DELAY, *where, *SURE)
    assert abs(got["value"] - truth["delay"].mean()) < 0.5
    by = ("--by", "carrier", "--keys", "UA,AA")
    got = told("count", "t.parquet", *by, *where, *SURE)
    assert got["groups"]["count"] == [len(truth), 0]
    got = told("count", "t.parquet", *by, "--neighbors", "replace", *where, *SURE)
    assert got["groups"]["count"] == [len(truth), 0]


def test_people(told, folder, frame):
    own = ("--ids", "tail", "--max-rows", 20)
    got = told("count", "t.parquet", "--column", "day", "--nan", "keep", *own, "--epsilon", 4000)
    assert abs(got["value"] - ROWS) < 5
    assert (got["unit"]["ids"], got["parameters"]["max_rows"]) == ("tail", 20)
    got = told("median", "t.parquet", *DELAY, *own, "--epsilon", 900)
    truth = frame["delay"].to_pandas().fillna(0).median()
    assert abs(got["value"] - truth) < 2 and got["mechanism"] == "ExponentialQuantile"


def test_the_total_of_each_person(told, folder, frame):
    rows = frame.to_pandas()
    totals = (
        rows.assign(delay=rows["delay"].fillna(0).clip(-60, 300)).groupby("tail")["delay"].sum()
    )
    own = ("--ids", "tail", "--per-unit", 0, 100)
    got = told("sum", "t.parquet", *DELAY, *own, *SURE)
    assert got["value"] == pytest.approx(totals.clip(0, 100).sum(), abs=3)
    assert got["parameters"]["per_unit"] == [0, 100] and "bias" in got["error"]["note"]
    got = told("count", "t.parquet", "--ids", "tail", "--per-unit=1,2", *SURE)
    assert abs(got["value"] - rows.groupby("tail").size().clip(1, 2).sum()) <= 1


def test_several_files_are_one(told, folder):
    got = told("count", "a.parquet", "b.parquet", "--column", "tail", *SURE)
    assert got["value"] == ROWS and got["file"] == ["a.parquet", "b.parquet"]
    by = ("--by", "carrier", "--keys", "UA,AA,DL")
    parts = told("count", "b.parquet", "a.parquet", *by, *SURE)["groups"]
    assert parts == told("count", "t.parquet", *by, *SURE)["groups"]


def test_histogram(told, shell, folder, frame):
    delay = frame["delay"].to_pandas()
    bins = ("--bins", 4, "--bounds=-60,300")
    got = told("histogram", "t.parquet", "--column", "delay", *bins, *SURE)
    counts, edges = np.histogram(delay.dropna(), 4, (-60, 300))
    assert (got["counts"], got["edges"]) == (list(counts), list(edges))
    words = ("histogram", "t.parquet", "--column", "delay", "--bins=-60,0,300", *SURE)
    code, out, err = shell(*words, "--csv")
    lo, hi, count, bar = np.loadtxt(io.StringIO(out), delimiter=",", skiprows=1, unpack=True)
    assert (code, err) == (0, "") and out.startswith('"lo","hi","count","half_width"')
    assert (list(lo), list(hi), bar[0]) == ([-60, 0], [0, 300], bar[1])
    assert count[0] == (delay < 0).sum() and shell(*words)[1].split()[:3] == ["lo", "hi", "count"]
    sizes = frame["carrier"].to_pandas().value_counts()
    column = ("histogram", "t.parquet", "--column", "carrier", "--categories", "UA,DL,WN")
    got = told(*column, *SURE)
    assert got["categories"] == ["UA", "DL", "WN"]
    assert got["counts"] == [sizes["UA"], sizes["DL"], 0]
    got = told("histogram", "t.parquet", "--column", "tail", "--categories", "3,4", *SURE)
    assert got["counts"] == [20, 20] and got["categories"] == [3, 4]
    by = ("--by", "carrier", "--keys", "UA")
    got = told("histogram", "t.parquet", "--column", "delay", *bins, *by, *SURE)["groups"]
    some = np.histogram(delay[frame["carrier"].to_pandas() == "UA"].dropna(), 4, (-60, 300))[0]
    assert [got[f"histogram {edge}"][0] for edge in ("-60", "30", "120", "210")] == list(some)


def test_the_most_frequent(told, folder):
    words = ("top-k", "t.parquet", "--by", "carrier", "--k", 2)
    got = told(*words, "--keys", "DL,AA,UA,WN", "--epsilon", 20)
    assert got["groups"] == {"carrier": ["UA", "AA"]} and got["statistic"] == "top-2 by carrier"
    got = told(*words, "--epsilon", 20, "--delta", "1e-6")
    assert got["groups"] == {"carrier": ["UA", "AA"]}
    assert 0 < Fraction(got["loss"]["delta"]) <= Fraction("1e-6")


def test_bounds_of_a_column(told, shell, folder):
    words = ("bounds", "t.parquet", "--column", "tail", "--q", "0.01", *SURE)
    lo, hi = told(*words)["value"]
    assert -30 < lo < 5 and 140 < hi < 200
    code, out, err = shell(*words, "--csv")
    assert (code, err) == (0, "") and out.startswith('"lo","hi"\n')


def test_quantiles_between_two_ends(told, shell, folder, frame):
    rows = frame["delay"].to_pandas().fillna(0)
    words = ("t.parquet", *DELAY, "--epsilon", 20)
    interval = told("quantile-interval", *words, "--q", 0.5, "--coverage", 0.9)
    for got in (told("median", *words, "--interval"), interval):
        low, high = got["error"]["low"], got["error"]["high"]
        assert low <= got["value"] <= high and abs(low - rows.median()) < 5 > high - rows.median()
        assert got["statistic"] == "quantile_interval" and got["is_noise"] is False
    assert (interval["error"]["confidence"], interval["parameters"]["coverage"]) == (0.9, 0.9)
    several = ("quantiles", *words, "--q", 0.1, "--q", 0.9, "--interval")
    assert np.shape(told(*several)["values"]) == (2,)
    lines = list(csv.DictReader(io.StringIO(shell(*several, "--csv")[1])))
    assert list(lines[0]) == ["q", "value", "low", "high"] and len(lines) == 2
    assert told("percentile", *words, "--q", 99.9, "--interval")["parameters"]["q"] == 0.999
    code, _, err = shell("percentile", *words, "--q", 101, "--interval")
    assert code == 2 and "q must be a number between 0 and 100" in err
    out = shell("median", *words, "--interval")[1]
    assert re.search(r"error \(95%\) +\S+ to \S+, ends", out)
    by = ("--by", "carrier", "--keys", "UA,AA")
    groups = told("minimum", *words, *by, "--interval")["groups"]
    low, value, high = (groups[f"quantile_interval{end}"] for end in (" low", "", " high"))
    assert all(a <= b <= c for a, b, c in zip(low, value, high, strict=True))


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
    assert budget.spent["epsilon"] == Fraction(3, 5)
    (entry,) = budget.history
    assert (entry.what, entry.note, entry.answer) == ("mean, nan=0.0", "delay", None)
    assert {**entry.record, "error": None} == {name: got[name] for name in entry.record} | {
        "error": None
    }
    by = ("--by", "carrier", "--keys", "UA", "--where", "delay > 0")
    words = ("count", "t.parquet", *by, "--ledger", "study.db")
    code, out, err = shell(*words, "--epsilon", "0.5")
    assert (code, out, err.count("\n")) == (4, "", 1) and "0.4" in err
    code, out, err = shell(*words, "--epsilon", "0.4")
    assert (code, err) == (0, "") and "epsilon=0, delta=0" in out
    assert budget.history[1].note == "t.parquet where delay > 0"
    assert budget.spent["epsilon"] == 1
    code, out, err = shell(*words, "--epsilon", "0.4")
    assert (code, out) == (4, "")


def test_what_is_wrong_is_found_before_the_ledger_pays(shell, folder):
    dp.Budget(epsilon=1, path="study.db")
    for words in (
        ("mean", "t.parquet", "--column", "delay", "--bounds", 1, 0),
        ("mean", "t.parquet", "--column", "dely", "--bounds", 0, 1),
        ("mean", "t.parquet", *DELAY, "--where", "dely > 0"),
        ("count", "t.parquet", "--by", "carrier", "--keys", "UA,UA"),
        ("histogram", "t.parquet", "--column", "delay", "--bins", 0, "--bounds", 0, 1),
    ):
        code, out, err = shell(*words, "--epsilon", 1, "--ledger", "study.db")
        assert code in (2, 3) and (out, err.count("\n")) == ("", 1)
    assert dp.Budget(path="study.db").history == ()
    # What the data do not allow comes after the spend, which stands.
    words = ("mean", "t.parquet", "--column", "delay", "--bounds", 0, 1, "--epsilon", 1)
    assert shell(*words, "--nan", "raise", "--ledger", "study.db")[0] == 5
    assert len(dp.Budget(path="study.db").history) == 1


@quick_rows(9)
@pytest.mark.parametrize(
    "words, code, said",
    [
        (("sum", *DELAY, "--where", "delay"), 2, "where must be a column, one of =, ==, !=, in,"),
        (("sum", *DELAY, "--where", "tail in 1,"), 2, "where must be a list such as"),
        (("sum", *DELAY, "--where", "tail = 1", "--neighbors", "replace"), 2,
         "where must be left out under neighbors = 'replace' without by"),
        (("count", "--keys", "UA"), 2, "keys must be left out with"),
        (("mean", "--by", "month", "--keys", "UA", *DELAY), 2,
         "keys must be integers, as the column 'month' is, got 'UA'"),
        (("mean", "--by", "day", "--by", "month", "--keys", "1", *DELAY), 2,
         "keys must be given once for each of 2 columns (by), or @FILE"),
        (("median", "--by", "month", "--keys", "1", "--noise", "cauchy", *DELAY), 2,
         "noise must be an argument of median, which are by, "),
        (("mean", "--by", "moth", "--keys", "1", *DELAY), 3, "(did you mean 'month'"),
        (("count-distinct", "--by", "month", "--keys", "1", "--column", "day"), 2,
         "column must be an argument of count_distinct, which are by, "),
        (("mean", "--by", "month", "--bounds", 0, 1), 2,
         "column must be given: mean needs it"),
        (("mean", "--by", "month", "--keys", "1", "--column", "delay", "--bounds",
          0, 1, "--nan", "raise"), 5, "not refunded"),
        (("sum", *DELAY, "--json", "--csv"), 2, "csv must be left out with json"),
        (("sum", *DELAY, "--ledger", "no.db"), 3, "no.db does not exist"),
        (("sum", *DELAY, "--ledger", "t.parquet"), 3, "is not a ledger"),
        (("sum", *DELAY[:2], "--nan", 0, "--bounds=1,2,3"), 2, "it must be two numbers"),
        (("sum", *DELAY, "--max-groups", 3), 2, "max_groups must be left out without by"),
        (("top-k", "--k", 2), 2, "by must be given, for top_k is of groups"),
        (("top-k", "--by", "carrier"), 2, "k must be given: top_k needs it"),
        (("histogram", "--column", "delay", "--bins", "a"), 2, "'a' is not a number"),
    ],
    ids=str,
)  # fmt: skip
def test_every_error_is_one_line_and_a_code(shell, folder, words, code, said):
    loss = ("--epsilon", 1)
    got, out, err = shell(words[0], "t.parquet", *words[1:], *loss)
    assert (got, out, err.count("\n")) == (code, "", 1) and said in err


def test_files_that_are_no_table(shell, folder):
    (folder / "t.csv").write_text("delay\n1\n")
    code, out, err = shell("count", "t.parquet", "t.csv", *SURE)
    assert (code, out, err.count("\n")) == (3, "", 1)
    code, out, err = shell("count", "t.parquet", "none.parquet", *SURE)
    assert (code, out, err.count("\n")) == (3, "", 1)
    assert json.loads(shell("count", "t.csv", *SURE, "--json")[1])["value"] == 1


def test_an_answer_has_its_error_bar_or_a_reason(told, shell, folder):
    column = ("--column", "delay", "--bounds=-60,300", "--nan", 0)
    mean = ("mean", "t.parquet", *column, "--epsilon", 1)
    assert told(*mean)["error"]["half_width"] > 0  # by the noisy number of rows
    guessed = told(*mean, "--rows", 40)
    public = told(*mean, "--neighbors", "replace")
    assert public["error"]["half_width"] > 0  # as many as the file has
    due = dp.mechanism(dp.mean, bounds=(-60, 300), nan=0, epsilon=1)
    assert guessed["error"] == asdict(due.expected_error(rows=40))
    code, out, err = shell(*mean, "--rows", 40)
    assert (code, err) == (0, "") and "error (95%)" in out and "±" in out
    code, out, err = shell(*mean, "--rows", 0)
    assert code == 2 and "rows must" in err
    trimmed = ("trimmed-mean", *mean[1:-1], "200")  # whose noise has a secret scale
    assert told(*trimmed)["error"]["half_width"] is None
    assert "not known" in shell(*trimmed)[1]


def test_a_count_of_a_file_needs_no_column(told, shell, folder, frame):
    rows = len(frame)
    assert told("count", "t.parquet", *SURE)["value"] == rows
    some = int((frame["carrier"].to_pandas() == "UA").sum())
    assert told("count", "t.parquet", "--where", "carrier = UA", *SURE)["value"] == some
    code, _, err = shell("count", "t.parquet", "--nan", "drop", *SURE)
    assert code == 3 and "column must be named" in err
    whole = told("kept-whole", "t.parquet", "--ids", "tail", "--max-rows", 20, *SURE)
    assert abs(whole["value"] - 1) < 1e-3


LISTS = {
    "US, DE": ["US", "DE"],
    " US ,DE ": ["US", "DE"],
    "'Smith, J', DE": ["Smith, J", "DE"],
    '"Smith, J",DE': ["Smith, J", "DE"],
    "O'Hare, ' DE'": ["O'Hare", " DE"],
}


@pytest.mark.parametrize("text", LISTS)
def test_lists_are_written_alike_everywhere(told, tmp_path, text):
    """The fault: a route that splits at commas finds no group of two words."""
    rows = [word for number, word in enumerate(LISTS[text], 1) for _ in range(number)]
    file, keys = tmp_path / "t.parquet", tmp_path / "keys.txt"
    pq.write_table(pa.table({"k": [*rows, "other"], "v": range(4)}), file)
    keys.write_text("".join(f' "{word}" \n' for word in LISTS[text]))
    job = tmp_path / "job.toml"
    job.write_text(
        f'[data]\npath = "t.parquet"\n[budget]\nepsilon = 400\n[[release]]\nstatistic = "count"\n'
        f'column = "v"\nname = "n"\nwhere = """k in {text} """\n'
    )
    loss = ("--epsilon", 400)
    groups, bins = ("count", file, "--by", "k", *loss), ("histogram", file, "--column", "k", *loss)
    found = {
        "where": [told("count", file, "--where", f"k in {text}", *loss)["value"]],
        "keys": told(*groups, "--keys", text)["groups"]["count"],
        "@file": told(*groups, "--keys", f"@{keys}")["groups"]["count"],
        "categories": told(*bins, "--categories", text)["counts"],
        "job": [dp.job.run(job)["n"]],
    }
    assert {name: sum(counts) for name, counts in found.items()} == dict.fromkeys(found, 3)
    assert found["keys"] == found["@file"] == found["categories"] == [1, 2]
    assert text.split(",") != LISTS[text]  # the fault would be seen


@pytest.mark.parametrize("text", ["US,,DE", "US,", ",US", "'US' DE", "'US", ""])
def test_no_list_is_one_error(shell, tmp_path, text):
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"k": ["US"], "v": [1]}), file)
    for options in (
        ("count", "--by", "k", "--keys", text),
        ("histogram", "--column", "k", "--categories", text),
    ):
        code, _, error = shell(*options[:1], file, *options[1:], "--epsilon", 1)
        assert code == 2 and "a list such as UA, 'A, B'" in error


def test_without_quotes_each_line_is_a_row(told, shell, folder):
    (folder / "q.csv").write_text('k,v\n"5" pipe",1\n"a,2\nb,3\n')
    asked = ("count", "q.csv", "--column", "v", *SURE)
    assert shell(*asked)[0] == 5  # a quote is open
    assert told(*asked, "--no-quotes")["value"] == 3
    job = '[data]\npath = "q.csv"\nquotes = false\n[budget]\nepsilon = 400\n'
    (folder / "job.toml").write_text(job + '[[release]]\nstatistic = "count"\ncolumn = "v"\n')
    assert told("run", "job.toml")["releases"][0]["value"] == 3


def truth_of_two(frame):
    rows = frame.to_pandas().fillna({"delay": 0})
    return rows[rows.carrier == "AA"].delay, rows[rows.carrier == "UA"].delay


BETWEEN = ("--by", "carrier", "--keys", "AA,UA", "--column", "delay")


@pytest.mark.parametrize("of, q", [("mean", None), ("quantile", 0.75)])
def test_a_difference_of_a_statistic(told, folder, frame, of, q):
    first, second = truth_of_two(frame)
    due = first.quantile(q) - second.quantile(q) if q else first.mean() - second.mean()
    words = ("--of", of, *(("--q", "3/4") if q else ()), "--bounds", -60, 300, "--nan", 0, *SURE)
    got = told("difference", "t.parquet", *BETWEEN, *words)
    assert abs(got["value"] - due) < 1
    asked = got["parameters"]
    assert asked["of"]["bounds"] == [-60, 300] and asked["keys"] == ["AA", "UA"]


@pytest.mark.parametrize(
    "words, said",
    [
        (("--of", "meen", *BETWEEN), "of.statistic must be one of"),
        (("--of", "mean", *BETWEEN), "of must have the arguments of mean"),
        ((*BETWEEN, "--bounds", 0, 1), "bounds must be an argument of difference"),
        (("--of", "mean", "--column", "delay", "--bounds", 0, 1), "must be"),
    ],
    ids=str,
)
def test_bad_words_of_a_difference(shell, folder, words, said):
    code, out, err = shell("difference", "t.parquet", *words, "--epsilon", 1)
    assert (code, out, err.count("\n")) == (2, "", 1) and said in err


def test_what_else_the_table_has(told, folder, frame):
    delay, words = frame["delay"].to_pandas().fillna(0), ("t.parquet", *DELAY, *SURE)
    assert abs(told("percentile", *words, "--q", 50)["value"] - delay.median()) < 3
    for name in ("trimmed-mean", "winsorized-mean"):
        assert abs(told(name, *words)["value"] - delay.mean()) < 3
    assert told("count-distinct", "t.parquet", "--column", "tail", *SURE)["value"] == 150
    tree = told("tree-histogram", *words[:3], "--bins", 4, "--bounds", -60, 300, *SURE)
    assert len(tree["counts"]) == 4 and len(tree["edges"]) == 5


def test_covariances_are_a_table(shell, told, folder, frame):
    words = ("covariance", "t.parquet", "--columns", "delay,tail", "--bounds=-60,300,0,150")
    got = told(*words, "--nan", 0, *SURE)
    rows = frame.to_pandas().fillna({"delay": 0})[["delay", "tail"]]
    np.testing.assert_allclose(got["value"], np.cov(rows.T, ddof=0), rtol=0.05, atol=30)
    code, out, err = shell(*words, "--nan", 0, *SURE, "--csv")
    assert (code, err) == (0, "") and out.splitlines()[0] == '"column","delay","tail"'


JOB = """
[data]
path = "t.parquet"
[budget]
epsilon = 800
neighbors = "add-remove"
[defaults]
nan = 0
bounds = [-60, 300]
column = "delay"
[[release]]
statistic = "difference"
of = "mean"
by = "carrier"
keys = ["AA", "UA"]
[[release]]
name = "in the words of Python"
statistic = "difference"
columns = ["delay", "carrier"]
of = {statistic = "mean", bounds = [-60, 300], nan = 0}
keys = ["AA", "UA"]
[[release]]
statistic = "bounds"
nan = "drop"
[[release]]
statistic = "ratio"
other = "tail"
bounds = [[-60, 300], [0, 150]]
"""


def test_a_job_has_the_words_of_commands(folder, frame):
    (folder / "job.toml").write_text(JOB)
    first, second = truth_of_two(frame)
    results = dp.job.run(folder / "job.toml")
    results.check()
    for name in ("difference of delay, carrier", "in the words of Python"):
        assert abs(results[name] - first.mean() + second.mean()) < 0.5
    lo, hi = results["bounds of delay"]
    assert lo < -20 < 40 < hi
    rows = frame.to_pandas().fillna(0)
    assert abs(results["ratio of delay, tail"] - rows["delay"].sum() / rows["tail"].sum()) < 0.05
    facts = dp.job.explain(folder / "job.toml")["releases"]
    assert facts[0]["what"] == facts[1]["what"] == "difference of mean, nan=0.0"
    (folder / "job.toml").write_text(JOB.replace('by = "carrier"', 'by = ["carrier", "tail"]'))
    with pytest.raises(dp.errors.ArgumentError, match=r"release 1: by must be one column"):
        dp.job.explain(folder / "job.toml")
