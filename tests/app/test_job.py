"""Jobs: what a file may say, how a loss is divided, shared passes, and what comes out."""

import json
import os
import re
import sys
import threading
import traceback
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import Mock
from xml.etree import ElementTree

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")
pa_csv = pytest.importorskip("pyarrow.csv")

import dpfast as dp  # noqa: E402
from dpfast import job  # noqa: E402
from dpfast.app.functions import encoded  # noqa: E402
from dpfast.app.job import output, runner  # noqa: E402
from dpfast.app.job.plan import allocated, divided, plan  # noqa: E402
from dpfast.errors import (  # noqa: E402
    ArgumentError,
    ArgumentTypeError,
    BudgetError,
    DataError,
    DpfastError,
    LedgerError,
    SourceError,
)
from dpfast.extend import Files, SharedPasses  # noqa: E402
from dpfast.privacy import ZCDP, Approx, Pure  # noqa: E402
from dpfast.rng import InsecureGenerator  # noqa: E402
from dpfast.tables import shared_pass  # noqa: E402
from dpfast.tables.files import Reader  # noqa: E402

from ..support.pairwise import quick_rows  # noqa: E402
from .conftest import read, releases  # noqa: E402

ROWS = 30_000


@pytest.fixture
def table(tmp_path):
    """Three columns of numbers, one of ids, one with missing numbers, one of text."""
    bits = np.random.default_rng(0)
    gap = bits.normal(0, 1, ROWS)
    columns = {
        "a": bits.normal(50, 10, ROWS),
        "b": bits.integers(0, 100, ROWS),
        "c": bits.uniform(0, 100, ROWS).astype(np.float32),
        "who": bits.integers(0, 5000, ROWS),
        "gap": pa.array(gap, mask=np.arange(ROWS) % 1000 == 0),
        "name": ["x"] * ROWS,
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2000)
    return tmp_path / "t.parquet"


RELEASES = releases(
    {"statistic": "mean", "column": "a"},
    {"statistic": "median", "column": "b", "weight": 2},
    {"statistic": "histogram", "column": "c", "bins": 4},
)


@pytest.fixture
def write(table):
    def make(budget="epsilon = 4", releases=RELEASES, output="", data='path = "t.parquet"', **more):
        relation = "" if "neighbors" in budget else 'neighbors = "replace"\n'
        text = f"[data]\n{data}\n[budget]\n{budget}\n{relation}"
        text += f"[output]\npath = {output!r}\n" if output else ""
        text += "[defaults]\n" + more.get("defaults", "bounds = [0, 100]") + "\n" + releases
        path = table.with_name(more.get("name", "job.toml"))
        path.write_text(text)
        return path

    return make


def counted(monkeypatch):
    seen, reduce = [], Reader.reduce

    def counting(self, *args):
        if self.share is None:
            seen.append(self)
        return reduce(self, *args)

    monkeypatch.setattr(Reader, "reduce", counting)
    return seen


def test_shares_add_up_exactly():
    weights = [Fraction(1), Fraction(2, 7), Fraction(1, 3)]
    for loss, name in (Pure(0.1), "epsilon"), (ZCDP(0.3), "rho"), (Approx(0.1, 1e-6), "epsilon"):
        shares = divided(loss, weights, [True, False, True])
        assert sum(share[name] for share in shares) == getattr(loss, name)
        assert shares[1][name] / shares[0][name] == weights[1]
    assert "delta" not in shares[1] and sum(s.get("delta", 0) for s in shares) == Fraction("1e-6")


def test_delta_goes_to_those_who_use_it():
    tried = []

    def make(i, share):
        tried.append((i, share.get("delta")))
        uses = i == 2 or (i == 1 and share.get("delta", 0) > Fraction(1, 2))
        loss = Approx(share["epsilon"], share["delta"]) if uses else Pure(share["epsilon"])
        return SimpleNamespace(loss=loss)

    made = allocated(Approx(1, Fraction(3, 4)), [Fraction(1)] * 3, [False, True, True], make)
    # 0 takes none; 1 leaves its 3/8 unspent, so 2 has it all.
    assert [delta for _, delta in tried[-3:]] == [None, None, Fraction(3, 4)]
    assert sum(mechanism.loss.epsilon for mechanism in made) == 1
    assert [type(mechanism.loss) for mechanism in made] == [Pure, Pure, Approx]


CALLS = [
    (dp.mean, "a", {"bounds": (0, 100)}),
    (dp.median, "a", {"bounds": (0, 100)}),
    (dp.median, "c", {"bounds": (0, 100), "method": "smooth"}),
    (dp.quantiles, "b", {"qs": [0.1, 0.5, 0.9], "bounds": (0, 100)}),
    (dp.histogram, "c", {"bins": 5, "bounds": (0, 100)}),
    (dp.covariance, ["a", "b", "c"], {"bounds": [(0, 100)] * 3}),
    (dp.ptr.quantile, "c", {"q": 0.5, "bounds": (0, 100), "proposed": 1, "delta": 1e-6}),
    (dp.sample_and_aggregate, ["c", "a"],
     {"estimator": "correlation", "blocks": 20, "bounds": (-1, 1)}),
    (dp.sample_and_aggregate, ["a", "b"],
     {"estimator": "correlation", "blocks": 20, "bounds": (-1, 1), "ids": "who"}),
    (dp.count, "gap", {"nan": "drop"}),
    (dp.variance, ["b", "a"], {"axis": 0, "bounds": (0, 100), "neighbors": "add-remove"}),
    (dp.sum, "a", {"bounds": (0, 100), "weights": "b", "weight_bounds": (0, 100)}),
    (dp.trimmed_mean, "a", {"proportion": 0.1, "bounds": (0, 100)}),
    (dp.iqr, "b", {"bounds": (0, 100)}),
    (dp.histogram, ["name", "b"], {"categories": [["x", "y"], None], "bins": [None, [0, 50, 100]]}),
]  # fmt: skip


def stored(frame, path):
    if path.suffix == ".parquet":
        pq.write_table(frame, path, row_group_size=2000)
    elif path.suffix == ".csv":
        pa_csv.write_csv(frame, path)
    elif path.suffix == ".arrow":
        feather.write_feather(frame, path)
    else:
        columns = {name: frame[name].to_numpy() for name in frame.column_names}
        columns["name"] = columns["name"].astype("U1")
        np.save(path, np.rec.fromarrays(list(columns.values()), names=list(columns)))
    return path


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "npy"])
def test_the_same_answers_as_alone_in_as_many_passes_as_the_longest(table, ending, monkeypatch):
    """With the same random bits, whatever the format; and each alone makes its own passes."""
    path = stored(pq.read_table(table), table.with_name(f"u.{ending}"))
    monkeypatch.setattr(shared_pass, "BATCH", 1 << 12)
    seen = counted(monkeypatch)

    def call(number, files):
        function, columns, arguments = CALLS[number]
        rng, is_table = InsecureGenerator(number), isinstance(columns, list)
        data = files.data(columns if is_table else [columns], table=is_table)
        return function(data, epsilon=1.0, rng=rng, **arguments)

    alone, each = [], []
    for number in range(len(CALLS)):
        alone.append(call(number, Files(path)))
        single = SharedPasses(Files(path), 4)
        single.run([lambda files, i=number: call(i, files)])
        each.append(single.passes)
    before = len(seen)
    together = SharedPasses(Files(path), 4)
    found = together.run([lambda files, i=i: call(i, files) for i in range(len(CALLS))])
    for one, other in zip(alone, found, strict=True):
        np.testing.assert_equal(other, one)
    assert together.passes == len(seen) - before
    # Ids are read in their own form: in a pass of their own where somebody else wants numbers.
    assert max(each) <= together.passes <= max(each) + 1
    assert together.passes < sum(each) / 3


def test_an_error_from_elsewhere_is_not_quoted(write, monkeypatch):
    def fails(*arguments):
        raise ValueError("could not convert 'Mary' to float")

    path = write('epsilon = 4\npath = "study.db"', output="out.csv")
    mean = type(plan(path).releases[0].mechanism)
    with monkeypatch.context() as patch:
        patch.setattr(mean, "answered", fails)
        results = job.run(path)
    assert json.dumps(job.report(results)).count("ValueError") == 1
    assert "Mary" not in json.dumps(job.report(results)) + path.with_name("out.csv").read_text()
    for look in (results.check, lambda: results["mean of a"]):
        with pytest.raises(DpfastError, match=r"(^|: )ValueError$") as caught:
            look()
        assert "Mary" not in "".join(traceback.format_exception(caught.value))
        assert caught.value.__cause__ is caught.value.__context__ is None
    job.run(path).check()


def test_a_bad_cell_stops_only_those_who_read_it(tmp_path, write):
    rows = "".join(f"{i},{i % 7},{i}\n" for i in range(9000))
    (tmp_path / "t.csv").write_text(f"x,y,z\n{rows}1,oops,2\n")
    three = releases(*({"statistic": "mean", "column": c} for c in "xyz"))
    path = write('epsilon = 3\npath = "study.db"', three, data='path = "t.csv"', output="out.csv")
    results = job.run(path)
    x, y, z = (outcome.error for outcome in results.outcomes)
    assert x is z is None and type(y) is DataError and "'y'" in str(y) and "oops" not in str(y)
    with pytest.raises(DataError, match="release 'mean of y': column 'y'") as caught:
        results.check()
    assert str(caught.value).count("not refunded") == 1
    with pytest.raises(DataError):
        results["mean of y"]
    first, second, _ = read(path.with_name("out.csv"))
    assert float(first["value"]) and second["error"] and not second["value"]
    again = job.run(path)  # the error is an answer, and is recorded
    assert again.passes == 0 and str(again.outcomes[1].error) == str(y)
    assert dp.Budget(path=tmp_path / "study.db").spent["epsilon"] == 3


def test_interrupted_it_stops_and_goes_on_later(write, monkeypatch):
    path, before = write('epsilon = 4\npath = "study.db"'), set(threading.enumerate())
    with monkeypatch.context() as patch:
        patch.setattr(shared_pass.SharedPasses, "_pass", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            job.run(path)
    assert set(threading.enumerate()) == before
    budget = dp.Budget(path=path.with_name("study.db"))
    assert budget.spent["epsilon"] == 4 and not any(line.answer for line in budget.history)
    job.run(path).check()
    assert budget.spent["epsilon"] == 4 and all(line.answer for line in budget.history)


def test_of_no_rows(table, write):
    pq.write_table(pq.read_table(table).slice(0, 0), table)
    ways = {"columns": ["a", "b"], "axis": 0}, {"column": "a"}
    means = ({"statistic": "mean", "bounds": [0, 1]} | way for way in ways)
    text = releases({"statistic": "count", "column": "a"}, *means)
    for neighbors in ("replace", "add-remove"):
        budget = f"epsilon = 4\nneighbors = {neighbors!r}"
        path = write(budget, text, defaults="", output="out.json")
        results = job.run(path)
        results.check()
        assert json.loads(path.with_name("out.json").read_text()) == job.report(results)


def test_the_relation_is_that_of_the_ledger_by_default(write, table):
    nothing = "epsilon = 1\n# neighbors: nothing is said"
    assert plan(write(nothing)).job.neighbors == "add-remove"
    damaged = f'path = "l.db"\n{nothing}'
    assert plan(write(damaged)).job.neighbors == "add-remove"
    for relation in ("replace", "add-remove"):
        ledger = table.with_name(f"{relation}.db")
        dp.Budget(epsilon=9, path=ledger, neighbors=relation)
        inherited = write(f"path = {ledger.name!r}\n{nothing}")
        assert plan(inherited).job.neighbors == relation
        said = write(f"epsilon = 1\npath = {ledger.name!r}\nneighbors = 'add-remove'")
        assert plan(said).job.neighbors == "add-remove"
    job.run(write("path = 'replace.db'\n" + nothing)).check()
    history = dp.Budget(path=table.with_name("replace.db")).history
    assert {line.neighbors for line in history} == {"replace"}
    table.with_name("l.db").write_text("no ledger")
    with pytest.raises(LedgerError):
        plan(write(damaged))


def test_progress_counts_the_rows_of_each_pass(write):
    seen = []
    job.run(write(), progress=lambda done, total: seen.append((done, total)))
    assert seen and seen[-1] == (ROWS, ROWS)
    with pytest.raises(TypeError, match="progress must be"):
        job.run(write(), progress=3)


def test_what_is_answered_is_neither_paid_nor_computed_again(write, monkeypatch):
    path = write('epsilon = 4\npath = "study.db"', output="out.json")
    first = job.run(path)
    out = path.with_name("out.json").read_text()
    path.with_name("out.json").unlink()
    seen = counted(monkeypatch)
    again = job.run(path)
    assert seen == [] and again.passes == 0
    assert [o.kept for o in again.outcomes] == [o.kept for o in first.outcomes]
    assert path.with_name("out.json").read_text() == out
    # Neither the order of the releases nor the words of the job matter; a name does.
    blocks = RELEASES.replace("weight = 2", "weight = 2.0  # twice").split("[[release]]")[1:]
    other = "".join("[[release]]" + block for block in reversed(blocks))
    third = job.run(write('epsilon = 4\npath = "study.db"', other, output="b.csv", name="b.toml"))
    assert third.passes == 0 and third["mean of a"] == first["mean of a"]
    ledger = dp.Budget(path=path.with_name("study.db"))
    assert len(ledger.history) == 3
    renamed = other.replace('column = "a"', 'column = "a"\nname = "again"')
    with pytest.raises(BudgetError, match="left epsilon=0"):
        job.run(write('epsilon = 4\npath = "study.db"', renamed))
    assert len(ledger.history) == 3


def test_a_version_tells_data_apart_whatever_touches_them(write, table):
    ledger = dp.Budget(epsilon=10, path=table.with_name("study.db"))
    path = write('epsilon = 4\npath = "study.db"')
    plain = path.read_text()

    def ran(version):
        path.write_text(plain.replace("[data]", f'[data]\nversion = "{version}"'))
        found = os.stat(table)
        os.utime(table, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
        results = job.run(path)
        results.check()
        return results["mean of a"], ledger.spent["epsilon"]

    first = ran("2024-06")
    assert ran("2024-06") == first and first[1] == 4
    assert ran("2024-07")[1] == 8
    assert ran("2024-06")[0] == first[0]  # the older answers are still there
    with pytest.raises(BudgetError, match="was paid for, but its arguments or its data changed"):
        ran("2024-08")
    for old, new, said in [
        ("", "", r"\(their path, size or time of change; \[data\] version"),
        ("epsilon = 4", "epsilon = 3", "was paid for, but its loss, so the shares changed"),
        ("[data]", "[data]\nversion = 3", r"data\.version must be text"),
    ]:
        path.write_text(plain.replace(old, new) if old else plain)
        with pytest.raises((BudgetError, ArgumentTypeError), match=said):
            job.run(path)
    assert ledger.spent["epsilon"] == 8


def test_data_are_a_list_of_paths_and_texts_have_variables(write, table, monkeypatch):
    monkeypatch.setenv("MONTH", "06")
    monkeypatch.setenv("FOLDER", str(table.parent))
    for name in ("t-06.parquet", "${MONTH}.parquet"):
        table.with_name(name).write_bytes(table.read_bytes())
    path = write(
        'epsilon = 4\npath = "${FOLDER}/${MONTH}.db"',
        data='path = ["t-${MONTH}.parquet", "$${MONTH}.parquet"]\nversion = "2024-${MONTH}"',
        output="out-${MONTH}.json",
    )
    results = job.run(path)
    results.check()
    assert abs(sum(results.outcomes[2].kept["value"]) - 2 * ROWS) < 100
    assert results.plan.job.version == "2024-06"
    assert table.with_name("06.db").exists() and table.with_name("out-06.json").exists()
    assert [os.path.basename(name) for name in job.explain(path)["data"]["paths"]] == [
        "t-06.parquet",
        "${MONTH}.parquet",
    ]


def test_each_part_of_a_question_is_in_its_key(write):
    """All but the weight and the defaults as such: only what they come to."""
    variants = {
        "mean": {},
        "bounds": {"defaults": "bounds = [0, 99]"},
        "nan": {"defaults": 'bounds = [0, 100]\nnan = "lower"'},
        "loss": {"budget": "epsilon = 2"},
        "relation": {"budget": 'epsilon = 4\nneighbors = "add-remove"'},
        **{
            key: {"releases": releases({"name": "x", "statistic": "mean", "column": "a", key: to})}
            for key, to in {"column": "b", "statistic": "sum", "name": "y"}.items()
        },
    }
    mean = releases({"name": "x", "statistic": "mean", "column": "a"})
    keys = [plan(write(**{"releases": mean, **kw})).releases[0].key for kw in variants.values()]
    assert len(set(keys)) == len(variants)
    # What means the same has the same key, so it is not paid for twice.
    for kw in {"releases": mean + "\nweight = 2"}, {"releases": mean + "\nbounds = [0, 100]"}:
        assert plan(write(**kw)).releases[0].key == keys[0]


def test_what_somebody_else_pays_in_the_meantime_is_no_refusal(write, monkeypatch):
    """He comes between the look for keys and the sum of what they would cost."""
    path = write('epsilon = 4\npath = "study.db"')
    afford, came = dp.Budget.left_after, []

    def late(self, lines):
        if not came:
            came.append(True)
            job.run(path).check()
        return afford(self, lines)

    monkeypatch.setattr(dp.Budget, "left_after", late)
    results = job.run(path)
    results.check()
    assert results.passes == 0
    assert dp.Budget(path=path.with_name("study.db")).spent["epsilon"] == 4


def test_nothing_is_spent_when_it_is_too_much_for_the_ledger(write):
    first, again = job.run(write()), job.run(write())  # without one, a budget in memory pays
    assert first["mean of a"] != again["mean of a"] and job.explain(write())["ledger"] is None
    ledger = write().with_name("study.db")
    dp.Budget(epsilon=3, path=ledger)
    path = write('epsilon = 4\npath = "study.db"')
    with pytest.raises(BudgetError, match="left epsilon"):
        job.run(path)
    assert "refused" in job.explain(path) and dp.Budget(path=ledger).history == ()


PEOPLE = releases(
    {"statistic": "sample_and_aggregate", "column": "a", "ids": "who", "estimator": "mean",
     "blocks": 20, "name": "blocks"},
    {"statistic": "count", "column": "b"},
)  # fmt: skip


def test_a_job_for_people_says_so_everywhere(write):
    """A count of rows costs a person of two rows twice."""
    budget = 'epsilon = 4\nneighbors = "add-remove"\nids = "who"\nmax_rows = 2\npath = "s.db"'
    path = write(budget, PEOPLE, output="out.csv")
    with pytest.raises(BudgetError, match=r"requested epsilon=2, .* counted as epsilon=4"):
        job.run(path)
    path.with_name("s.db").unlink()
    dp.Budget(epsilon=6, path=path.with_name("s.db"), ids="who", max_rows=2)
    for facts in (job.explain(path), job.report(job.run(path))):
        assert (facts["ids"], facts["max_rows"]) == ("who", 2)
        assert [release["unit"]["ids"] for release in facts["releases"]] == ["who", None]
    ledger = dp.Budget(path=path.with_name("s.db"))
    assert sorted(line.ids or "" for line in ledger.history) == ["", "who"]
    assert ledger.remaining["epsilon"] == 0
    assert [row["ids"] for row in read(path.with_name("out.csv"))] == ["who", ""]


def test_a_job_of_both_units_is_refused_before_anything_is_spent(write):
    path = write('epsilon = 4\nneighbors = "add-remove"\npath = "s.db"', PEOPLE)
    with pytest.raises(BudgetError, match="people of 'who' refused a loss of rows"):
        job.run(path)
    assert dp.Budget(path=path.with_name("s.db")).unit is None
    dp.Budget(path=path.with_name("s.db")).spend(Pure(1), neighbors="add-remove")
    whose = write('epsilon = 4\nids = "who"\npath = "s.db"', PEOPLE)
    for ask in (job.run, job.explain):
        with pytest.raises(ArgumentError, match=r"left out, or as in .*: it is for rows"):
            ask(whose)


HALVES = {"bounds": [[0, 100], [0, 100]]}
VECTORS = (
    {"name": "two", "statistic": "histogram", "columns": ["a", "b"], "bins": 2, **HALVES},
    {"statistic": "covariance", "columns": ["a", "b"], **HALVES},
    {"statistic": "quantiles", "column": "c", "qs": [0.25, 0.75], "bounds": [0, 100]},
    {"name": "none", "statistic": "ptr.mean", "column": "a", "bounds": [0, 100], "proposed": 1e-9},
    {"name": "words", "statistic": "histogram", "column": "name", "categories": ["x", "a, b"]},
    {"name": "both", "statistic": "histogram", "columns": ["name", "b"],
     "categories": [["x"], [1, 2]]},
    {"name": "near", "statistic": "histogram", "column": "b", "bins": 2,
     "bounds": [4611686018427387904, 4611686018427404288]},
    {"name": "ranks", "statistic": "quantiles", "column": "gap", "qs": [0.25], "bounds": [-3, 3]},
)  # fmt: skip


@quick_rows(1)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_row_for_each_number_and_one_where_there_is_none(write, ending):
    text, output = releases(*VECTORS), f"out.{ending}"
    path = write("epsilon = 900\ndelta = 1e-9", text, output=output, defaults="")
    results, by = job.run(path), {}
    for row in read(path.with_name(output)):
        by.setdefault(row["name"], []).append(row)
    at = {name: [row["at"] for row in rows] for name, rows in by.items()}
    halves = ["[0, 50)", "[50, 100]"]
    assert at["two"] == [f"{a} x {b}" for a in halves for b in halves]
    assert [row["index"] for row in by["two"]] == ["0,0", "0,1", "1,0", "1,1"]
    assert [float(row["value"]) for row in by["two"]] == np.ravel(results["two"]).tolist()
    assert at["covariance of a, b"] == ["a, a", "a, b", "b, a", "b, b"]
    widths = np.array(job.report(results)["releases"][1]["error"]["half_width"])
    assert widths.shape == (2, 2) and np.all(widths > 0)
    assert [float(row["half_width"]) for row in by["covariance of a, b"]] == widths.ravel().tolist()
    assert at["quantiles of c"] == ["0.25", "0.75"]
    assert all(row["ranks"] for row in by["quantiles of c"])
    assert at["words"] == ["x", "a, b"] and at["both"] == ["x x 1", "x x 2"]
    assert len(set(at["near"])) == 2 and "e+18, " in at["near"][0]
    (none,), (failed,) = by["none"], by["ranks"]
    assert not none["value"] and none["note"].startswith("no answer") and results["none"] is None
    assert failed["error"] and not (failed["value"] or failed["ranks"] or failed["half_width"])
    assert list(path.parent.glob(".out*")) == []


#: The keys of a job under several names, and files in a directory of data.
KEYED, INSIDE = ("keys", "./keys", "hard", "soft"), ("out.parquet", "a/x.parquet", "out.csv")


@quick_rows(5)
@pytest.mark.parametrize(
    "data, output, what",
    [
        ("t.parquet", "link.parquet", "another file than the data"),
        ("t.parquet", "t.parquet", "another file than the data"),
        ("t.parquet", "study.json", "another file than the ledger"),
        *[("t.parquet", f"{name}.csv", "another file than the k") for name in KEYED],
        *[("more", f"more/{name}", "outside the directory") for name in INSIDE],
        ("more/*.parquet", "more/out.parquet", "outside the directory"),
    ],
)
def test_an_output_takes_the_place_of_nothing_that_the_job_is_made_of(
    write, table, data, output, what
):
    folder, ledger = table.with_name("more"), "study.json"
    (folder / "a").mkdir(parents=True)
    (folder / "1.parquet").write_bytes(table.read_bytes())
    table.with_name("link.parquet").symlink_to(table)
    keys = table.with_name("keys.csv")
    keys.write_text("name\nx\n")
    table.with_name("hard.csv").hardlink_to(keys)
    table.with_name("soft.csv").symlink_to("keys.csv")
    before = table.read_bytes(), keys.read_bytes()
    asked = RELEASES + releases({"statistic": "count", "by": "name", "keys": "@keys.csv"})
    path = write(f"epsilon = 4\npath = {ledger!r}", asked, output, f"path = {data!r}")
    for run in (job.run, job.explain):
        with pytest.raises(ArgumentError, match=rf"output\.path must be {what}"):
            run(path)
    assert (table.read_bytes(), keys.read_bytes()) == before and not path.with_name(ledger).exists()
    job.run(write(releases=asked, data=f"path = {data!r}", output="more.parquet")).check()


def test_a_comparison_of_names_alone_is_noticed(write, table, monkeypatch):
    """Planted: an output is another file if it is called otherwise."""

    def by_name(name, file, others):
        if any(str(file) == str(other) for other, _ in others):
            raise ArgumentError(name)

    monkeypatch.setattr(sys.modules["dpfast.app.job.plan"], "other_file", by_name)
    test = test_an_output_takes_the_place_of_nothing_that_the_job_is_made_of
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test(write, table, "t.parquet", "hard.csv", "another file than the k")


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spent(write, monkeypatch):
    monkeypatch.chdir(write().parent)
    os.mkdir("d.csv")
    for place, report, said in [
        ("no/out.csv", None, "is not a directory"),
        ("d.csv", None, "cannot be written"),
        ("x" * 250 + ".csv", None, "cannot be written: File name too long"),
        ("out.html", "more.txt", "report must be a name that ends in one of .html"),
        ("out.html", "out.html", "report must be another file than output.path"),
        ("out.html", 3, "report must be"),
    ]:
        with pytest.raises(DpfastError, match=said):
            job.run(write('epsilon = 4\npath = "study.db"', output=place), report=report)
    assert not os.path.exists("study.db")


def test_a_failed_write_leaves_the_old_file_and_can_be_repeated(write, monkeypatch):
    path = write('epsilon = 4\npath = "study.db"', output="out.json")
    path.with_name("out.json").write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", Mock(side_effect=OSError(28, "No space left on device")))
        with pytest.raises(SourceError, match="No space left"):
            job.run(path)
    assert path.with_name("out.json").read_text() == "old"
    assert list(path.parent.glob(".out*")) == []
    assert job.run(path).passes == 0
    shown = json.loads(path.with_name("out.json").read_text())
    assert shown == job.report(job.run(path))


def test_error_bars_are_those_of_the_answers(write):
    """Of as many rows as the noise of the mean says; beforehand, of those that are guessed."""
    path = write("epsilon = 4\nneighbors = 'add-remove'\npath = 'study.db'")
    mean = job.report(job.run(path))["releases"][0]
    assert 0 < mean["error"]["half_width"] < 1 and mean["error"]["ranks"] is None
    assert job.report(job.run(path))["releases"][0] == mean  # from the ledger
    explained = job.explain(path)
    assert explained["rows"] is None
    assert explained["releases"][0]["error"]["half_width"] is None
    guessed = write(
        "epsilon = 4\nneighbors = 'add-remove'", RELEASES, data='path = "t.parquet"\nrows = 20000'
    )
    assert job.explain(guessed)["releases"][0]["error"]["half_width"] > 0


@quick_rows(1)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_quantiles_between_two_ends(write, ending):
    """As value, low and high, for what the plan says."""
    asked = (
        {"statistic": "median", "column": "a"},
        {"statistic": "quantiles", "column": "b", "qs": [0.2, 0.7], "coverage": 0.9},
        {"statistic": "maximum", "column": "c", "interval": False},
        {"statistic": "mean", "column": "a"},
    )
    defaults = "bounds = [0, 100]\ninterval = true"
    path = write("epsilon = 9", releases(*asked), f"out.{ending}", defaults=defaults)
    statistics = [release["statistic"] for release in job.explain(path)["releases"]]
    assert statistics == [*["quantile_interval"] * 2, "maximum", "mean"]
    results = job.run(path, report=path.with_name("out.html"))
    rows = read(path.with_name(f"out.{ending}"))
    ends = [[float(row[name]) for name in ("low", "value", "high")] for row in rows if row["low"]]
    assert all(low <= value <= high for low, value, high in ends) and len(ends) == 4
    assert [float(row["confidence"]) for row in rows] == [0.95, 0.9, 0.9, 0.95, 0.95]
    assert [row["at"] for row in rows[1:3]] == ["0.2", "0.7"]
    assert rows[0]["bar"].count(" to ") == 1 and rows[3]["bar"].startswith("within ")
    assert ends[0][1] == results["median of a"]
    lows = [release["error"].get("low") for release in job.report(results)["releases"]][:2]
    assert lows == [ends[0][0], [x[0] for x in ends[1:3]]]
    assert path.with_name("out.html").read_text(encoding="utf-8").count(" to ") == 3


def test_any_name_can_be_read_back(write):
    names = ["a\rb", "a\nb", "\r\n", 'a "b", c', " a ", "\u2028", "=1", "é"]
    text = releases(*({"statistic": "count", "column": "a", "name": name} for name in names))
    path = write(releases=text, output="out.csv", defaults="")
    job.run(path).check()
    assert [row["name"] for row in read(path.with_name("out.csv"))] == names


def test_explain_does_not_tell_how_many_rows_there_are_where_that_is_private(write, table):
    shown = []
    for groups in (20, 2):
        frame = pq.read_table(table).slice(0, 2000 * groups)
        pq.write_table(frame, table, row_group_size=1000)
        found = job.explain(write('epsilon = 4\nneighbors = "add-remove"'))
        shown.append([{**r, "error": None} for r in found["releases"]])
    assert shown[0] == shown[1] and [r["passes"] for r in shown[0]] == [1, 2, 1]


@quick_rows(2)
@pytest.mark.parametrize("ending", ["csv", "npy"])
@pytest.mark.parametrize(
    "asked",
    [
        {"statistic": "mean"},
        {"statistic": "median"},
        {"statistic": "trimmed_mean", "proportion": 0.1},
        {"statistic": "ptr.quantile", "q": 0.5, "proposed": 10},
        {"statistic": "ptr.iqr", "proposed": 10},
    ],
    ids=lambda asked: asked["statistic"],
)
def test_as_many_passes_as_explained(asked, ending, write, table):
    stored(pq.read_table(table), table.with_name(f"u.{ending}"))
    path = write("epsilon = 4\ndelta = 1e-6", releases({"column": "a", **asked}),
                 data=f'path = "u.{ending}"')  # fmt: skip
    assert job.explain(path)["passes"] == job.run(path).passes


def test_explain_reads_no_row_and_spends_nothing(write, monkeypatch):
    for name in ("reduce", "sample_column"):
        monkeypatch.setattr(Reader, name, lambda *args: pytest.fail("a row was read"))
    path = write('epsilon = 4\npath = "study.db"', RELEASES + releases(VECTORS[0]))
    found = job.explain(path)
    assert not path.with_name("study.db").exists()
    assert [r["share"] for r in found["releases"]] == ["1/5", "2/5", "1/5", "1/5"]
    assert [r["mechanism"] for r in found["releases"][:2]] == ["Mean", "ExponentialQuantile"]
    assert "a bound in ranks" in found["releases"][1]["error"]["note"]
    json.dumps(found)


def release(text, column='column = "a"\n'):
    return f"[[release]]\n{column}{text}\n"


MEAN = 'statistic = "mean"\n'
BLOCKS = 'statistic = "sample_and_aggregate"\nblocks = 9\n'


@quick_rows(20)
@pytest.mark.parametrize(
    "change, said",
    [
        ({"budget": ""}, "epsilon must be given"),
        ({"budget": 'epsilon = "1/0"'}, "budget.epsilon must be a number, or a"),
        ({"budget": "epsilon = 1\nneighbours = 'replace'"},
         "budget.neighbours must be one of epsilon, delta, rho, neighbors, ids, max_rows, period, "
         "path, name (did you mean 'neighbors'?), got 'neighbours'"),
        ({"budget": "epsilon = 1\npath = ''"}, "budget.path must be given"),
        ({"budget": "epsilon = 1\nmax_rows = 2"}, "budget.max_rows must be left out, because"),
        ({"budget": "epsilon = 1\nids = 'who'\nmax_rows = 0"}, "budget.max_rows must be an int"),
        ({"data": ""}, "data.path must be given"),
        ({"data": 'path = "${NOT_SET}.csv"'}, "data.path must be a text whose environment "
         "variables are set, got '${NOT_SET}'"),
        ({"data": "path = ['t.parquet', 2]"}, (TypeError, "data.path[1] must be text")),
        ({"data": "path = []"}, (TypeError, "data.path must be text")),
        ({"data": 'path = "t.parket"'}, (SourceError, "does not exist; did you mean")),
        ({"output": "out.xlsx"}, "output.path must be a name that ends in one of"),
        ("", "release must be at least one [[release]]"),
        ("[[relaese]]\nx = 1", "relaese must be one of data,"),
        ("= 1", "job file job.toml must be TOML: "),
        ("x = " + "9" * 5000, "job file job.toml must be TOML: Exc"),
        ("x = " + "[" * 9999, "must be TOML with fewer nested levels"),
        ({"data": 'path = "t.parquet"\n[output]\npath = "a\\u0000.csv"'},
         "output.path must be the name of a file"),
        (release(""), "release 1: statistic must be given"),
        (release('statistic = "meen"'), "(did you mean 'mean'?)"),
        (release('statistic = "selection.exponential"'), "one of "),
        (release(MEAN, ""),
         "release 1: column must be given (or columns, for several columns), got None"),
        (release(MEAN, 'columns = ["a", "a"]\n'), "different names"),
        (release(MEAN + 'columns = ["a"]'),
         "release 1: columns must be left out, because column is given, too, got ['a']"),
        (release(MEAN, 'column = "aa"\n'),
         (SourceError, "'mean of aa': column 'aa' is not in t.parquet (did you mean 'a'?)")),
        (release(MEAN) * 2, "release 2: name must be different"),
        (release(MEAN + "weight = 0"), "release 'mean of a': weight must be greater than 0, got 0"),
        (release(MEAN + "bound = [0, 1]"),
         "'mean of a': bound must be one of the arguments of mean (did you mean 'bounds'?): "),
        (release(MEAN + "epsilon = 1"), "divided by weight, got 1"),
        (release(MEAN + "interval = true"), "interval must be left out for statistics other than"),
        (release(MEAN + "rng = 1"), "rng must be left out"),
        (release(MEAN + "weights = 3\nweight_bounds = [0, 1]"),
         (TypeError, "release 'mean of a': weights must be text")),
        (release(BLOCKS + 'estimator = "mean"\nids = ["who"]'),
         (TypeError, "of a': ids must be text, got ['who']")),
        (release(MEAN + "weights = 'd'\nweight_bounds = [0, 1]"),
         (SourceError, "release 'mean of a': column 'd' is not in")),
        (release(MEAN + "where = [true]"), (TypeError, "where must be a table such as")),
        (release(MEAN + "nan = 'drop'"), "release 'mean of a': nan m"),
        (release('statistic = "quantile"'),
         "release 'quantile of a': q must be given, because quantile needs it"),
        ({"budget": "rho = 1", "releases": release('statistic = "ptr.mean"\nproposed = 1')},
         "release 'ptr.mean of a': statistic must be one that can spend rho"),
        (release(BLOCKS + 'estimator = {class = "Quantile"}'),
         "estimator.q must be given, because Quantile needs it"),
        (release(BLOCKS + 'estimator = {class = "os", q = 2}'), "estimator.class must be one of"),
        ({"defaults": "epsilon = 1"}, "defaults.epsilon must be left out"),
        ({"defaults": "bounds = [0, 1]\nblocks = 7"},
         "defaults.blocks must be an argument of one of the releases, got 7"),
    ],
    ids=lambda x: str(x)[:40],
)  # fmt: skip
def test_one_clear_error_before_anything_is_spent(write, change, said):
    change = {"releases": change} if isinstance(change, str) else change
    kind, said = said if isinstance(said, tuple) else (ArgumentError, said)
    budget = change.get("budget", "epsilon = 1") + '\npath = "study.db"'
    if "path" in change.get("budget", ""):
        budget = change["budget"]
    path = write(**{**change, "budget": budget})
    for run in (job.run, job.explain):
        with pytest.raises(kind) as caught:
            run(path)
        assert said in str(caught.value) and isinstance(caught.value, DpfastError)
        assert "\n" not in str(caught.value)
    assert not path.with_name("study.db").exists()
    path.write_bytes(b"\xff\xfe")
    for bad, kind, said in [
        (path.with_name("none.toml"), SourceError, r"job file .* cannot be read"),
        (path, ArgumentError, "must be TOML in UTF-8"),
        (3, TypeError, "path must be"),
    ]:
        with pytest.raises(kind, match=said):
            job.run(bad)


def test_what_is_refused_before_it_is_paid_is_no_answer(tmp_path):
    @dp.extend.releases
    def refused(source, budget):
        raise DataError("not yet paid")

    ask = SimpleNamespace(key="k", arguments={}, entry=SimpleNamespace(name="n", function=refused))
    budget = dp.Budget(epsilon=1, path=tmp_path / "study.db")
    with pytest.raises(DataError, match="not yet paid"):
        runner._answered(ask, None, budget, "", "")
    assert budget.entry("k") is None
    budget.spend(Pure(0.5), neighbors="replace")
    assert [line.answer for line in budget.history] == [None]
    assert encoded(dp.NO_ANSWER) == {"no_answer": True}
    assert encoded(([1], [2])) == {"value": [1], "edges": [2]}
    assert encoded(3) == {"value": 3} and encoded((0.5, 2.0)) == {"value": (0.5, 2.0)}


def test_marginals_are_a_table_each(write):
    text = """
        [[release]]
        statistic = "marginals"
        columns = ["b", "c"]
        ways = [["b", "c"], ["b"]]
        bins = {b = [0, 50, 99], c = 2}
        bounds = {c = [0, 1]}
    """
    path = write("rho = 60", text, output="out.csv")
    results = job.run(path)
    results.check()
    (answer,) = results.values()
    assert list(answer) == ["b, c", "b"] and list(answer["b"]) == ["b", "count", "error"]
    rows = read(path.with_name("out.csv"))
    assert [row["at"] for row in rows] == ["b, c"] * 4 + ["b"] * 2
    assert [row["group"] for row in rows[4:]] == ["[0.0]", "[50.0]"]
    assert [float(row["value"]) for row in rows[4:]] == answer["b"]["count"]
    assert float(rows[0]["half_width"]) == answer["b, c"]["error"][0]


@quick_rows(1)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_times_are_text_in_answers(tmp_path, ending):
    """Bounds of dates in the file ask for answers that are dates, over a directory of files."""
    days = np.datetime64("2020-01-01") + np.arange(ROWS) % 731
    (tmp_path / "parts").mkdir()
    for i in range(2):
        part = pa.table({"day": days[i::2], "who": np.arange(ROWS)[i::2]})
        feather.write_feather(part, str(tmp_path / "parts" / f"{i}.arrow"))
    quantiles = {"statistic": "quantiles", "qs": [0.1, 0.5]}
    ends = {"name": "ends", "statistic": "median", "interval": True}
    asked = {"statistic": "median"}, quantiles, {"statistic": "mean"}, ends
    path = tmp_path / "job.toml"
    path.write_text(
        f'[data]\npath = "parts"\n[budget]\nepsilon = 60\nids = "who"\n[output]\n'
        f'path = "out.{ending}"\n[defaults]\nbounds = [2020-01-01, 2022-01-01]\nids = "who"\n'
        'max_rows = 1\ncolumn = "day"\n' + releases(*asked)
    )
    results = job.run(path)
    results.check()
    assert results["median of day"] in ("2020-12-30", "2020-12-31", "2021-01-01")
    rows = read(path.with_name(f"out.{ending}"))
    assert [row["time"] for row in rows][1:3] == results["quantiles of day"]
    assert rows[3]["bar"].startswith("± ") and rows[3]["bar"].endswith(" days")
    low, high = rows[4]["bar"].split(" to ")
    assert low <= rows[4]["time"] == results["ends"] <= high
    assert not any(row["value"] for row in rows)


PAGE = releases(
    {"name": "a <b>mean</b> & more", "statistic": "mean", "column": "a", "bounds": [0, 100]},
    {"name": "bins", "statistic": "histogram", "column": "b", "bins": 5, "bounds": [0, 100]},
    {"name": "by group", "statistic": "mean", "column": "a", "bounds": [0, 100], "by": "name",
     "keys": ["x", "<y>"]},
    {"name": "fails", "statistic": "mean", "column": "gap", "bounds": [0, 1]},
)  # fmt: skip


def test_a_page_of_all_answers(write, tmp_path):
    """The width of each bar is its part of what the widest error bar reaches."""
    path = write("epsilon = 400", PAGE, output="out.html", defaults="")
    results = job.run(path, report=tmp_path / "more.html")
    text = (tmp_path / "out.html").read_text()
    assert (tmp_path / "more.html").read_text() == text
    alone = re.compile(r"<(meta|rect|path)([^>]*?)/?>")  # what nothing closes
    page = list(ElementTree.fromstring(alone.sub(r"<\1\2/>", text.split(">", 1)[1])).iter())
    tags = [one.tag for one in page]
    assert not {"src", "href", "srcset"} & {name for one in page for name in one.attrib}
    assert not {"script", "link", "img", "b", "y"} & set(tags)
    shown = {part.strip() for one in page for part in (one.text, one.tail) if part}
    assert {"a <b>mean</b> & more", "<y>", "[0, 20)", "[80, 100]"} <= shown
    rows = {}
    for row in output.rows(results):
        rows.setdefault(row["name"], []).append(row)
    assert f"{rows['a <b>mean</b> & more'][0]['value']:.6g}" in shown
    assert all(f"{row['value']:.6g}" in shown for row in rows["bins"])
    assert f"± {rows['bins'][0]['half_width']:.4g}" in shown
    assert tags.count("svg") == 5 + 2  # a bar for each number of several
    assert any("missing" in one or "NaN" in one for one in shown)  # why there is no answer
    most = max(row["value"] + row["half_width"] for row in rows["bins"])
    widths = re.findall(r'<rect x="0.0" y="2" width="([0-9.]+)"', text)
    expected = [row["value"] / most * 240 for row in rows["bins"]]
    assert [float(width) for width in widths[:5]] == pytest.approx(expected, abs=0.06)


DEFAULTS = 'column = "a"\nbounds = [0, 100]\nnan = "lower"\nqs = [0.5]\n'
GROUP = {"by": "name", "keys": ["x"]}
MIXED = releases(
    {"statistic": "count"},
    {"statistic": "mean"},
    {"statistic": "quantiles", "column": "b"},
    {"statistic": "covariance", "columns": ["a", "b"], **HALVES},
    {"statistic": "sum", **GROUP},
    {"statistic": "count", **GROUP},
)


def test_a_default_is_for_those_that_take_it(write):
    """Of one column, of all; a count has no bounds, and a release may name another column."""
    made = plan(write("epsilon = 4\nneighbors = 'add-remove'", MIXED, defaults=DEFAULTS))
    assert {release.entry.name: {*release.entry.arguments} for release in made.releases} == {
        "count of a": set(),  # whose `nan` has words of its own
        "mean of a": {"bounds", "nan"},
        "quantiles of b": {"bounds", "nan", "qs"},
        "covariance of a, b": {"bounds", "nan"},
        "sum of a by name": {"bounds", "nan", "by", "keys", "column"},
        "count by name": {"by", "keys"},  # of rows, whatever the column holds
    }
    with pytest.raises(ArgumentError, match="column must be given"):
        plan(write("epsilon = 4", MIXED, defaults=DEFAULTS.replace('column = "a"', "")))


GROUPS = releases(
    {"statistic": "mean", **GROUP},
    {"statistic": "count", **GROUP, "column": "b"},
    {"name": "both", **GROUP},
)  # fmt: skip
GROUPS += '[release.agg.n]\nstatistic = "count"\n[release.agg.mean]\nstatistic = "mean"\n'


def test_defaults_about_a_column_leave_counts_of_groups_to_rows(write):
    """Unless the table of the count names a column."""
    defaults = 'column = "a"\nbounds = [0, 100]\nnan = "drop"'
    made = plan(write("epsilon = 4\nneighbors = 'add-remove'", GROUPS, defaults=defaults))
    taken = {release.entry.name: release.entry.arguments for release in made.releases}
    for name, column in ("mean of a by name", "a"), ("count of b by name", "b"):
        assert (taken[name]["column"], taken[name]["nan"]) == (column, "drop")
    assert not {"column", "nan"} & {*taken["both"]}
    n, mean = taken["both"]["statistics"].values()
    assert (n.column, n.nan, mean.column, mean.nan) == (None, "keep", "a", "drop")
    count = releases({"statistic": "count", **GROUP})
    with pytest.raises(ArgumentError, match=r"defaults\.nan must be an argument of one of the rel"):
        plan(write("epsilon = 4", count, defaults='nan = "drop"'))


def test_results_are_a_mapping_with_a_table(write):
    text = release(BLOCKS.replace("9", "50") + 'estimator = {class = "Quantile", q = 0.9}')
    results = job.run(write("epsilon = 800", RELEASES + text))
    assert abs(results["sample_and_aggregate of a"] - 62.8) < 1.5
    assert list(results) == [o.release.entry.name for o in results.outcomes]
    assert len(results) == len(list(results)) and "none" not in results
    assert dict(results) == {name: results[name] for name in results}
    table = results.table()
    assert table.column_names == list(output.FIELDS)
    assert set(table["name"].to_pylist()) == set(results)
    wide = [row for row in table.to_pylist() if row["half_width"] or row["ranks"] or row["note"]]
    assert len(wide) == len(table)  # a bar, or a reason
    with pytest.raises(KeyError):
        results["none"]
    shown = results._repr_html_()
    assert all(name in shown for name in results) and shown.count("<tr>") == 1 + len(table)
    assert "±" in shown
