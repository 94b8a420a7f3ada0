"""Groups and conditions in jobs and on the command line: what is answered, kept and paid."""

import json

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import dpfast as dp  # noqa: E402
from dpfast import job  # noqa: E402
from dpfast.app.functions import BY_GROUP  # noqa: E402
from dpfast.app.job.plan import plan  # noqa: E402
from dpfast.errors import ArgumentError, DpfastError, SourceError  # noqa: E402
from dpfast.groups.api import GroupBy  # noqa: E402

from ..support.pairwise import quick_rows  # noqa: E402
from .conftest import ROWS, read, releases  # noqa: E402


@pytest.fixture
def write(folder):
    """A job about the table."""

    def make(*asked, budget="epsilon = 900", data="t.parquet", output="", defaults=""):
        text = f'[data]\npath = "{data}"\n[budget]\n{budget}\npath = "study.db"\n'
        text += f'[output]\npath = "{output}"\n' if output else ""
        text += f"[defaults]\n{defaults}\n" if defaults else ""
        text += "".join(one if isinstance(one, str) else releases(one) for one in asked)
        (folder / "job.toml").write_text(text)
        return folder / "job.toml"

    return make


BOUNDS = {"bounds": [-60, 300]}
UA = {"by": "carrier", "keys": ["UA"]}
FOUR = (
    {"statistic": "mean", "column": "delay", **UA, "keys": ["UA", "WN"], "nan": 0, **BOUNDS},
    {"statistic": "count", "by": ["month", "carrier"], "keys": [[1, 2], ["UA", "AA"]]},
    {"statistic": "count_distinct", "by": "carrier", "keys": ["DL"], "ids": "tail"},
    {"statistic": "top_k", "k": 2, "by": "month", "keys": [1, 2, 3], "name": "most"},
)
#: The same of rows.
ROWS_OF_FOUR = (*FOUR[:2], {"statistic": "count", "name": "people", **UA}, FOUR[3])


@quick_rows(1)
@pytest.mark.parametrize("data", ["t.parquet", "t.csv"])
def test_the_answers_of_group_by(write, frame, data):
    rows = frame.to_pandas()
    path = write(*FOUR, budget='epsilon = 900\nids = "tail"\nmax_rows = 30', data=data)
    dp.Budget(epsilon=90_000, ids="tail", max_rows=30, path=path.with_name("study.db"))
    results = job.run(path)
    results.check()
    found = results["mean of delay by carrier"]
    assert found["carrier"] == ["UA", "WN"] and list(found) == ["carrier", "mean", "mean error"]
    truth = rows["delay"].fillna(0)[rows["carrier"] == "UA"].mean()
    assert abs(found["mean"][0] - truth) < 0.1
    found = results["count by month, carrier"]
    pairs = list(zip(found["month"], found["carrier"], strict=True))
    assert pairs == [(1, "UA"), (1, "AA"), (2, "UA"), (2, "AA")]
    sizes = rows.groupby(["month", "carrier"]).size()
    assert found["count"] == [sizes[pair] for pair in pairs]
    assert found["count error"] == [0] * 4 and type(found["count"][0]) is int
    people = rows[rows["carrier"] == "DL"]["tail"].nunique()
    assert abs(results["count_distinct by carrier"]["count_distinct"][0] - people) <= 3
    most = rows.groupby("month").size().sort_values(ascending=False).index[:2]
    assert results["most"] == {"month": list(most)}
    assert job.explain(path)["passes"] == 1


AGG = """
[[release]]
name = "late"
by = "day"
weights = {keys = 2, mean = 3}
[release.agg.n]
statistic = "count"
[release.agg.mean]
statistic = "mean"
column = "delay"
[release.agg.q]
statistic = "quantiles"
column = "delay"
qs = [0.25, 0.75]
nan = 9
"""


def test_several_statistics_of_private_keys_for_one_loss(write, frame):
    some, loss = "bounds = [-60, 300]\nnan = 0", "epsilon = 280\ndelta = 1e-6"
    path = write(AGG, budget=loss, output="out.json", defaults=some)
    found = job.run(path)["late"]
    names = ["n", "n error", "mean", "mean error", "q 0.25", "q 0.75", "q error in ranks"]
    assert list(found) == ["day", *names]
    days = ["2024-01-30", "2024-01-31", "2024-02-01", "2024-02-02"]
    assert found["day"] == days
    # Each of the four has noise of epsilon 40, not 0 by chance 2 exp(-40): together 4e-17.
    assert found["n"] == frame.to_pandas()["day"].value_counts().sort_index().tolist()
    (made,) = plan(path).releases
    shares = {name: one.loss.epsilon for name, one in made.mechanism.statistics.items()}
    assert shares["mean"] == 3 * shares["n"] == 3 * shares["q"] == 120
    nans = {name: one.nan for name, one in made.mechanism.statistics.items()}
    assert nans == {"n": "keep", "mean": 0, "q": 9} == made.mechanism.missing
    (told,) = job.explain(path)["releases"]
    assert told["parameters"]["by"] == ["day"] and "n" in told["error"]["half_width"]
    budget = dp.Budget(path=path.with_name("study.db"))
    assert budget.history[0].what.startswith("agg by day, nan={") and budget.spent["epsilon"] == 280


def test_answered_groups_are_kept_and_other_keys_are_another_question(write, folder):
    path = write(*ROWS_OF_FOUR)
    first = job.run(path)
    answers = [line.answer["value"] for line in dp.Budget(path=folder / "study.db").history]
    assert first["most"] in answers and job.run(path).passes == 0
    keys = []
    for lines in ("1\n2\n", "1\n3\n", "1\n2\n"):  # of a file that is named alike
        (folder / "keys.txt").write_text(lines)
        asked = {"statistic": "count", "by": "month", "keys": "@keys.txt"}
        keys.append(plan(write(asked, budget="epsilon = 1")).releases[0].key)
    assert keys[0] == keys[2] != keys[1]


@quick_rows(1)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_row_of_the_output_for_each_number(write, folder, ending):
    bins = {"statistic": "histogram", "column": "delay", **UA, "bins": 2, **BOUNDS, "name": "bins"}
    results = job.run(write(*ROWS_OF_FOUR, bins, output=f"out.{ending}"))
    by = {}
    for row in read(folder / f"out.{ending}"):
        by.setdefault(row["name"], []).append(row)
    means, found = by["mean of delay by carrier"], results["mean of delay by carrier"]
    at = [(row["group"], row["at"], row["index"]) for row in means]
    assert at == [("UA", "mean", "0"), ("WN", "mean", "1")] and "noise" in means[0]["note"]
    for name, values in ("value", found["mean"]), ("half_width", found["mean error"]):
        assert [float(row[name]) for row in means] == values
    assert found["mean error"][0] > 0
    pairs = by["count by month, carrier"]
    assert [json.loads(row["group"]) for row in pairs][1:3] == [[1, "AA"], [2, "UA"]]
    assert [row["at"] for row in by["bins"]] == ["histogram -60", "histogram 120"]
    assert {float(row["half_width"]) for row in pairs + by["bins"]} == {0.0}
    assert [int(row["group"]) for row in by["most"]] == results["most"]["month"]
    assert not any(row["value"] for row in by["most"])


@quick_rows(1)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_ends_of_a_quantile_are_its_error_bar(write, folder, ending):
    """Not what a category or a statistic calls itself."""
    of = 'column = "delay"\nbounds = [-60, 300]\ninterval = true\n'
    text = f'[release.agg.m]\nstatistic = "median"\ncoverage = 0.9\n{of}'
    text += f'[release.agg.q]\nstatistic = "quantiles"\nqs = [0.25, 0.75]\n{of}'
    text += '[release.agg.h]\nstatistic = "histogram"\ncolumn = "carrier"\n'
    asked = {"name": "x", **UA, "keys": ["UA", "AA"]}
    text += 'categories = ["low", "UA"]\n'
    job.run(write(asked, text, budget="epsilon = 90", output=f"out.{ending}"))
    rows = read(folder / f"out.{ending}")
    assert [row["at"] for row in rows[::2]] == ["m", "q 0.25", "q 0.75", "h low", "h UA"]
    assert all(float(row["low"]) <= float(row["value"]) <= float(row["high"]) for row in rows)
    assert [float(row["confidence"]) for row in rows] == [0.9] * 2 + [0.95] * 8
    assert all(" to " in row["bar"] and row["note"].startswith("ends") for row in rows[:6])


def test_keys_of_files_have_the_types_of_their_columns(write, folder):
    (folder / "days.txt").write_text("2024-01-30\n2024-03-01\n")
    count = {"statistic": "count"}
    results = job.run(
        write(
            {**count, "by": "month", "keys": "@keys.txt"},
            {**count, "by": ["carrier", "month"], "keys": "@both.csv"},
            {**count, "by": "month", "keys": "@both.csv", "name": "c"},
            {**count, "by": "day", "keys": "@days.txt"},
            releases({**count, "by": "day", "name": "d"}) + "keys = [2024-01-30]\n",
        )
    )
    results.check()
    assert results["count by month"]["month"] == [2, 3]
    found = results["count by carrier, month"]
    assert (found["carrier"], found["month"]) == (["UA", "AA"], [1, 3])
    assert results["c"]["month"] == [1, 3]
    counts = results["count by day"]["count"]
    assert counts[0] > 500 and counts[1] == 0 and results["d"]["count"] == counts[:1]


WHERE = """
bounds = [-60, 300]
nan = 0
where = [{column = "carrier", in = ["UA", "AA"]}, {column = "month", at_most = 2}]
"""
MONTHS = {"statistic": "count", "column": "month", "nan": "keep"}
SOME = (
    {"statistic": "mean", "column": "delay"},
    MONTHS,
    {**MONTHS, "where": [], "name": "all"},
    {"statistic": "count", "by": "carrier", "keys": ["UA", "DL"]},
    {"statistic": "median", "column": "delay", "where": "month = 3"},
)


@quick_rows(1)
@pytest.mark.parametrize("data", ["t.parquet", "t.csv"])
def test_only_rows_that_pass(write, frame, data):
    rows = frame.to_pandas()
    some = rows[rows["carrier"].isin(["UA", "AA"]) & (rows["month"] <= 2)]
    path = write(*SOME, data=data, defaults=WHERE)
    results = job.run(path)
    results.check()
    assert results["count of month"] == len(some) and results["all"] == ROWS
    assert abs(results["mean of delay"] - some["delay"].fillna(0).mean()) < 0.1
    found = results["count by carrier"]["count"]
    assert found == [(some["carrier"] == "UA").sum(), 0]
    third = rows[rows["month"] == 3]["delay"].fillna(0)
    assert abs(results["median of delay"] - np.median(third)) < 3
    assert job.report(results)["releases"][0]["error"]["half_width"] > 0
    assert job.explain(path)["releases"][0]["error"]["half_width"] is None


@pytest.mark.parametrize("data, passes", [("t.parquet", 1), ("t.csv", 2)])
def test_a_column_that_is_key_here_and_number_there(write, frame, data, passes):
    """In a file of text its cells are read twice, as text and as numbers."""
    rows = frame.to_pandas()
    total = {"statistic": "sum", "column": "month", "bounds": [0, 9], "where": "month > 1"}
    results = job.run(
        write({"statistic": "count", "by": "month", "keys": [1, 3]}, total, data=data)
    )
    results.check()
    sizes = rows.groupby("month").size()
    assert results["count by month"]["count"] == sizes[[1, 3]].tolist()
    assert abs(results["sum of month"] - rows["month"][rows["month"] > 1].sum()) < 2
    assert results.passes == passes


COUNT = {"statistic": "count", "by": "month", "keys": [1]}
MEAN = {"statistic": "mean", "column": "delay", **UA}
PART = "by = 'month'\nkeys = [1]\n"
N = "agg = {n = {statistic = 'count'}}\n"


@quick_rows(14)
@pytest.mark.parametrize(
    "one, said",
    [
        ({"keys": [1], "statistic": "count", "column": "month"}, "keys must be left out"),
        (COUNT | {"by": []}, "release 1: by must be the name of a column, or a list of"),
        (COUNT | {"by": "mont", "name": "x"},
         (SourceError, "release 'x': column 'mont' is not in t.parquet (did you mean 'month'?)")),
        (COUNT | {"statistic": "iqr"}, "'iqr by month': statistic must be one of agg, cor"),
        (COUNT | {"max_rows": 3}, "'count by month': max_rows must be left out without ids"),
        (COUNT | {"keys": "UA"}, "keys must be a list of keys, or a file of keys such as"),
        (COUNT | {"keys": "@no.txt"}, (SourceError, "keys file 'no.txt' cannot be read: No such")),
        (COUNT | {"keys": "@both.csv", "by": ["month", "day"]},
         (SourceError, "keys file 'both.csv' must have a column 'day'; it has ['x', 'mont")),
        (COUNT | {"keys": "@keys.txt", "by": ["month", "day"]}, "keys must be a .csv file wit"),
        (COUNT | {"keys": ["UA"]}, "keys must be integers, as the column 'month' is"),
        ({"statistic": "count", "by": "month"},
         "delta must be greater than 0, with epsilon, because keys are private"),
        (MEAN, "'mean of delay by carrier': bounds must be given, because mean needs it"),
        (PART + "agg = {n = 3}", "agg.n must be a table, [release.agg.n]"),
        (PART + "agg = {n = {statistic = 'iqr'}}", "agg.n.statistic must be one of 'cor"),
        (PART + "agg = {n = {statistic = 'sum', column = 'delay'}}",
         "agg.n.bounds must be given, because sum needs it"),
        (PART + N + "statistic = 'count'",
         "agg must be left out, unless statistic is 'agg', which needs"),
        ("agg = {}\ncolumn = 'a'", "by must be given, because agg needs groups of rows"),
        (PART + N + "weights = {m = 1}",
         "'agg by month': weights must be given only for 'n', got 'm'"),
        (COUNT | {"where": [True]}, (TypeError, "where must be a table such as")),
        (PART + "statistic = 'count'\nwhere = {column = 'delay', over = 1}",
         "where.over must be one of above,"),
        (COUNT | {"where": "dela > 1"}, (SourceError, "column 'dela' is not")),
    ],
    ids=str,
)  # fmt: skip
def test_one_clear_error_before_anything_is_spent(write, folder, one, said):
    kind, said = said if isinstance(said, tuple) else (ArgumentError, said)
    path = write("[[release]]\n" + one if isinstance(one, str) else one, budget="epsilon = 1")
    for run in (job.run, job.explain):
        with pytest.raises((kind, TypeError)) as caught:
            run(path)
        assert said in str(caught.value) and isinstance(caught.value, DpfastError)
        assert str(caught.value).startswith("release ") and "\n" not in str(caught.value)
    assert not (folder / "study.db").exists()


def test_every_method_of_groups_is_a_statistic():
    methods = {name for name in dir(GroupBy) if callable(getattr(GroupBy, name)) and name[0] != "_"}
    assert methods == {*BY_GROUP, "keys"}  # which a job has for each release


def test_a_table_of_groups_for_people(shell, folder):
    words = ("sum", "t.parquet", "--by", "carrier", "--keys", "UA,[b]", "--column", "delay")
    code, out, err = shell(*words, "--bounds", -60, 300, "--nan", 0, "--epsilon", 200)
    assert (code, err) == (0, "") and out.split()[:4] == ["carrier", "sum", "sum", "error"]
    lines = [line.split() for line in out.splitlines()]
    assert ["by", "carrier"] in lines and any(line[:1] == ["[b]"] for line in lines)
    many = ",".join(map(str, range(60)))
    code, out, _ = shell("count", "t.parquet", "--by", "tail", "--keys", many, "--epsilon", 1)
    shown = [line.split()[0] for line in out.splitlines() if line.strip()]
    assert code == 0 and shown.count("...") == 1 and {"19", "40"} < set(shown) > {"59"}
    assert not {"20", "39"} & set(shown)


def test_other_keys_have_a_group(write, told, frame):
    two = {"by": ["month", "carrier"], "keys": [[1, 2], ["UA"]], "other_key": [0, "rest"]}
    pairs = job.run(write({"statistic": "count", **two}, budget="epsilon = 400"))
    (pairs,) = pairs.values()
    assert sum(pairs["count"]) == frame.num_rows
    assert pairs["month"][-1] == 0 and pairs["carrier"][-1] == "rest"
    alone = {"statistic": "count", **UA, "ids": "tail", "max_groups": 1, "max_rows": 1}
    path = write({**alone, "other_key": "rest"}, {**alone, "name": "alone"},
                 budget='epsilon = 900\nids = "tail"')  # fmt: skip
    path.with_name("study.db").unlink()
    results = job.run(path)
    tails = results["count by carrier"]
    assert sum(tails["count"]) == frame.to_pandas()["tail"].nunique() and len(tails["count"]) == 2
    assert len(results["alone"]["count"]) == 1  # with codes of its own, in the same pass
    words = ("--by", "month", "--keys", 2, "--other-key", 0)
    words += ("--by", "carrier", "--keys", "UA", "--other-key", "rest")
    for some, by, label in (words[:6], "month", 0), (words, "carrier", "rest"):
        got = told("count", "t.parquet", *some, "--epsilon", 400)["groups"]
        assert sum(got["count"]) == frame.num_rows and got[by][-1] == label


def test_run_and_history_show_groups(shell, write, folder):
    path = write(*ROWS_OF_FOUR)
    code, out, err = shell("run", path)
    assert (code, err) == (0, "") and "4 groups" in out and "1 group " in out
    assert ["WN"] in [line.split()[:1] for line in out.splitlines()]
    assert shell("explain", path)[1].count("paid already") == 1
    out = shell("budget", "history", folder / "study.db")[1]
    assert "mean by carrier" in out and "count by month, carrier" in out and "top-2 by" in out
    assert "2 groups: carrier, mean" in " ".join(out.split())
    assert "[[" not in out and '{"value"' not in out


@quick_rows(2)
@pytest.mark.parametrize("kind", ["csv", "html", "parquet", "json"])
def test_rows_lost_are_written_in_every_form(write, folder, kind):
    limits = {"max_groups": 2, "max_rows": 3, "rows_limit": 30, "ids": "tail"}
    asked = {"statistic": "count", **UA, **limits}
    results = job.run(write(asked, budget="epsilon = 9", output=f"out.{kind}"))
    assert (folder / f"out.{kind}").exists()
    assert "rows lost" in json.dumps(results.table(), default=str)
