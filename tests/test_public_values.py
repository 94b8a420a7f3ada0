"""Public values that nothing can equal: every route refuses them, and is not paid. Routes are found
by their signatures: whatever takes `categories`, `classes`, `keys`, `groups` or `equal`, or
conditions. Each of them is given every kind of value that its column cannot hold, by the declared
type or by the format of its file."""

import inspect
import json
import sys

import numpy as np
import pytest

import dpfast as dp
from dpfast.app.cli.main import run as cli
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.groups import stat

from .support.pairwise import quick_rows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")

#: A value of each type of column that is there, and values that cannot be.
TYPES = {
    "c": ("US", ["NA", "", "null"]),
    "text": ("US", ["\ud800"]),
    "i8": (5, [300, -129, 1.5, 1e30]),
    "u64": (5, [-1, 0.5]),
    "bool": (True, [2, 0.5]),
    "f4": (0.5, [0.1]),
}  # fmt: skip
LOSS = {"epsilon": 400.0}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same rows of each type in memory, in a file, and cells of text."""
    folder = tmp_path_factory.mktemp("t")
    table = pa.table({
        "text": ["US", "DE"], "i8": pa.array([5, 7], pa.int8()), "bool": [True, False],
        "u64": pa.array([5, 7], pa.uint64()), "f4": pa.array([0.5, 1.0], pa.float32()),
        "y": pa.array([1, 0], pa.int8()),
    })  # fmt: skip
    pq.write_table(table, folder / "t.parquet")
    (folder / "t.csv").write_text("c,y\nUS,1\nNA,0\n")
    return folder, table


def columns_of(tables, column):
    folder, table = tables
    if column == "c":
        return [dp.scan(folder / "t.csv", ["c", "y"])]
    return [dp.scan(folder / "t.parquet", [column, "y"]), table.select([column, "y"])]


def file_of(data):
    return None if isinstance(data, pa.Table) else data.store.paths[0]


def one(data, column):
    file = file_of(data)
    if file is not None:
        return dp.scan(file, column)
    return data.select(column) if isinstance(column, list) else data[column]


def grouped(data, column):
    return dp.group_by(data, "y", keys=["0", "1"] if column == "c" else [0, 1])


def learned(name):
    kind = getattr(dp.learn, name)
    loss = {"epsilon": 8.0}
    of_labels = {"classes": [0, 1]} if "classes" in takes(kind) else {"y_bounds": (0, 1)}
    of_rows = {"bounds": [(0, 1)]} | ({"bins": 2} if "bins" in takes(kind) else {})
    if "categories" in takes(kind):
        yield (f"learn.{name}", "categories"), lambda data, column, values, **pay: kind(
            categories=[values], **of_labels, **loss).fit(data, "y", **pay)  # fmt: skip
    if "classes" in takes(kind):
        yield (f"learn.{name}", "classes"), lambda data, column, values, **pay: kind(
            **of_rows, classes=values, **loss
        ).fit(one(data, ["y", column]), column, **pay)  # fmt: skip


def job(text):
    def run(data, column, values, budget):
        file = file_of(data)
        path = file.with_name("job.toml")
        release = text.format(column=column, value=json.dumps(values[1]), values=json.dumps(values))
        path.write_text(
            f'[data]\npath = "{file.name}"\n[budget]\nepsilon = 9\n[[release]]\n{release}\n'
        )
        dp.job.run(path)

    return run


WHERE = 'statistic = "count"\ncolumn = "y"\nwhere = {{column = "{column}", '
#: Every argument of a public function that lists values, and how it is called.
ROUTES = {
    ("group_by", "keys"): lambda data, column, values, **pay:
        dp.group_by(data, column, keys=values).count(**LOSS, **pay),
    ("GroupBy.histogram", "categories"): lambda data, column, values, **pay:
        grouped(data, column).histogram(column, categories=values, **LOSS, **pay),
    ("stat.histogram", "categories"): lambda data, column, values, **pay: grouped(data, column).agg(
        {"h": dp.stat.histogram(column, categories=values)}, **LOSS, **pay),
    ("Budget.parallel", "groups"): lambda data, column, values, budget:
        budget.parallel(one(data, column), values).__enter__(),
    ("histogram", "categories"): lambda data, column, values, **pay:
        dp.histogram(one(data, column), categories=values, **LOSS, **pay),
    ("histogram", "categories of several"): lambda data, column, values, **pay:
        dp.histogram(data, categories=[values, [0, 1]], **LOSS, **pay),
    ("tree_histogram", "categories"): lambda data, column, values, **pay:
        dp.tree_histogram(one(data, column), categories=values, **LOSS, **pay),
    ("marginals", "categories"): lambda data, column, values, **pay:
        dp.marginals(data, ways=1, categories={column: values}, **LOSS, delta=1e-6, **pay),
    ("workload", "categories"): lambda data, column, values, **pay:
        dp.workload(one(data, column), "prefix", categories=values, **LOSS, delta=1e-6, **pay),
    ("difference", "keys"): lambda data, column, values, **pay: dp.difference(
        one(data, ["y", column]), of=dp.Sum(bounds=(0, 1)), keys=values, **LOSS, **pay),
    ("proportion", "equal"): lambda data, column, values, **pay:
        dp.proportion(one(data, column), equal=values[1], **LOSS, **pay),
    ("proportion", "equal of a measurement"): lambda data, column, values, **pay:
        dp.Proportion(equal=values[1]).measure(**LOSS)(one(data, column), **pay),
    ("GroupBy.proportion", "equal"): lambda data, column, values, **pay:
        grouped(data, column).proportion(column, equal=values[1], **LOSS, **pay),
    ("stat.proportion", "equal"): lambda data, column, values, **pay: grouped(data, column).agg(
        {"share": dp.stat.proportion(column, equal=values[1])}, **LOSS, **pay),
    ("a job", "equal"): job('statistic = "proportion"\ncolumn = "{column}"\nequal = {value}'),
    ("a job", "where in"): job(WHERE + "in = {values}}}"),
    ("a job", "where not_in"): job(WHERE + "not_in = {values}}}"),
    ("a job", "where equal"): job(WHERE + "equal = {value}}}"),
}  # fmt: skip


def takes(function):
    try:
        return {*inspect.signature(function).parameters}
    except (TypeError, ValueError):
        return set()


for _name in dp.learn.__all__:
    ROUTES |= dict(learned(_name)) if inspect.isclass(getattr(dp.learn, _name)) else {}
#: What lists values and looks for none in a column: randomized response answers with any of them,
#: `describe` has words of text alone, and the values measure what the functions of their names do.
OTHERS = {
    "response.kary", "response.unary", "response.estimate_kary", "describe", "Describe",
    "Difference", "Histogram", "Marginals", "Proportion", "TreeHistogram", "Workload",
}  # fmt: skip


def test_every_route_is_known():
    listed = {"categories", "classes", "keys", "groups", "equal"}
    owners = {"": dp, "stat.": stat, "learn.": dp.learn, "response.": dp.response}
    owners |= {"GroupBy.": type(dp.group_by({"k": [1]}, "k", keys=[1])), "Budget.": dp.Budget}
    for prefix, owner in owners.items():
        for name in getattr(owner, "__all__", [one for one in dir(owner) if one[0] != "_"]):
            function = getattr(owner, name)
            if not callable(function) or f"{prefix}{name}" in OTHERS:
                continue
            for argument in listed & takes(function):
                assert (f"{prefix}{name}", argument) in ROUTES, (prefix, name, argument)


def tries(tables, route):
    argument = route[1]
    for column, (there, wrong) in TYPES.items():
        if column == "f4" and argument in ("keys", "groups"):
            continue  # which floats are not
        for data in columns_of(tables, column):
            is_file = file_of(data) is not None
            if (argument == "groups" and is_file) or (route[0] == "a job" and not is_file):
                continue
            if argument == "classes" and column == "c":
                continue  # of numbers in one pass with features
            for value in wrong:
                if route[0] == "a job" and value == "\ud800":
                    continue  # no TOML
                values = [there, value]
                is_number = not isinstance(value, str) and argument in ("categories", "classes")
                yield column, data, sorted(values) if is_number else values


def error_of(route, data, column, values):
    """Return the error of a call, which must not be paid."""
    budget = dp.Budget(epsilon=10_000, delta=1e-3)
    try:
        ROUTES[route](data, column, values, budget=budget)
    except (ArgumentError, ArgumentTypeError) as error:
        assert not budget.history
        return str(error)
    return None


@pytest.mark.parametrize("route", ROUTES, ids=".".join)
def test_a_value_that_nothing_can_equal_is_refused(tables, route):
    tried = 0
    for column, data, values in tries(tables, route):
        error = error_of(route, data, column, values)
        assert error is not None, (column, values)
        assert " must be " in error and "got" in error
        tried += 1
    assert tried >= 5


@quick_rows(5)
@pytest.mark.parametrize("route", ROUTES, ids=".".join)
def test_a_route_that_does_not_ask_is_caught(tables, route, monkeypatch):
    """The fault: nobody asks the function. Some of its values are then answered with 0."""
    for name, module in list(sys.modules.items()):
        if name.startswith("dpfast.") and hasattr(module, "expect_matches"):
            monkeypatch.setattr(module, "expect_matches", lambda *_, **__: None)
    errors = [
        error_of(route, data, column, values) for column, data, values in tries(tables, route)
    ]
    assert None in errors


@pytest.mark.parametrize("column", TYPES)
def test_a_value_that_is_there_is_found(tables, column):
    there, _ = TYPES[column]
    for data in columns_of(tables, column):
        if column != "f4":
            found = dp.group_by(data, column, keys=[there]).count(**LOSS)
            assert found["count"].tolist() == [1]
        counts, _ = dp.histogram(one(data, column), categories=[there], **LOSS)
        assert counts.tolist() == [1]


def test_a_column_without_a_type_can_hold_anything():
    for values in (["NA"], [1.5], [300]):
        assert dp.histogram([1, 2], categories=values, **LOSS)[0].tolist() == [0]


@pytest.mark.parametrize(
    ("dtype", "equal"),
    [("i4", 2**70), ("i4", 2**40), ("i4", 0.5), ("?", 300), ("?", 0.5), ("u1", -1), ("f4", 0.1)],
)
def test_plain_arrays_are_asked_as_all_others(dtype, equal):
    rows, budget, loss = np.zeros(6, dtype), dp.Budget(epsilon=10), {"epsilon": 1}
    ask = {"equal": equal, **loss, "budget": budget}
    pair, weights = np.zeros((3, 2), dtype), {"weights": np.ones(6), "weight_bounds": (0, 1)}
    for call in (
        lambda: dp.proportion(rows, **ask),
        lambda: dp.proportion(np.ma.array(rows), **ask),
        lambda: dp.proportion(pa.array(rows), **ask),
        lambda: dp.proportion({"x": rows}, axis=0, **ask),
        lambda: dp.proportion(pair, axis=0, **ask),
        lambda: dp.proportion(np.asfortranarray(pair), axis=0, **ask),
        lambda: dp.proportion(rows, **weights, **ask),
        lambda: dp.proportion(rows, where=np.ones(6, bool), ids=np.arange(6), max_rows=1, **ask),
        lambda: dp.Proportion(equal=equal).measure(**loss)(rows, budget=budget),
        lambda: dp.mechanism(dp.proportion, dtype=np.dtype(dtype).name, equal=equal, **loss),
    ):
        with pytest.raises(ArgumentError, match=r"^equal must be .* as the column is, got "):
            call()
    assert not budget.history


def test_weights_of_a_table_need_not_hold_the_value():
    table = {"x": np.array([300, 5]), "w": np.array([True, False])}
    own = {"weights": "w", "weight_bounds": (0, 1), "equal": 300, **LOSS}
    assert dp.proportion(table, **own) == 1.0


def test_the_command_line_refuses_it(tables, capsys):
    path = str(tables[0] / "t.parquet")
    ask = ["proportion", path, "--column", "bool", "--equal", "300", "--epsilon", "1"]
    assert cli(ask) != 0
    assert "equal must be booleans, or 0 and 1" in "".join(capsys.readouterr())


CUT = "a\0"  # as NumPy has it, "a"
CUT_ROWS = {"x": [1.0, 2.0, 3.0], "k": ["a", CUT, "b"], "b": [b"a", b"a\0", b"b"]}


def by(keys, name="k"):
    return lambda: dp.group_by(CUT_ROWS, name, keys=keys)


CUT_WORDS = {
    "categories": lambda: dp.histogram(CUT_ROWS["k"], categories=["b", CUT], **LOSS),
    "equal": lambda: dp.proportion(CUT_ROWS["k"], equal=CUT, **LOSS),
    "difference": lambda: dp.difference(CUT_ROWS, of=dp.Sum(bounds=(0, 1)), keys=("b", CUT),
        **LOSS),
    "keys": by(["b", CUT]),
    "keys of bytes": by([b"a\0"], "b"),
    "keys of objects": by(np.array(["b", CUT], object)),
    "keys of Arrow": by(pa.array(["b", CUT])),
    "a table of keys": by({"k": ["b", CUT]}),
    "keys of two columns": lambda: dp.group_by(CUT_ROWS, ["k", "b"], keys=[(CUT, b"a")]),
    "answers": lambda: dp.response.kary(["b"], categories=["b", CUT], epsilon=1),
    "parts": lambda: dp.Budget(epsilon=1).parallel(CUT_ROWS["k"], ["b", CUT]).__enter__(),
    "universe": lambda: dp.online.MedianMechanism(data=CUT_ROWS["k"], universe=["b", CUT],
        epsilon=2, queries=20, accuracy=0.1, size=12),
    "classes": lambda: dp.learn.NaiveBayes(classes=["b", CUT], bounds=[(0, 3)],
        **LOSS).fit([[1.0]], ["b"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CUT_WORDS)
def test_a_word_that_an_array_cuts_is_refused(name):
    with pytest.raises(ArgumentError, match="without a null character at its end"):
        CUT_WORDS[name]()


@pytest.mark.parametrize("asked", [
    'statistic = "count"\nby = "k"\nkeys = ["b", "a\\u0000"]',
    'statistic = "histogram"\ncolumn = "k"\ncategories = ["b", "a\\u0000"]',
    'statistic = "proportion"\ncolumn = "k"\nequal = "a\\u0000"',
])  # fmt: skip
def test_a_job_refuses_it(asked, tmp_path):
    pq.write_table(pa.table({"x": CUT_ROWS["x"], "k": CUT_ROWS["k"]}), tmp_path / "t.parquet")
    job = f'[data]\npath = "t.parquet"\n[budget]\nepsilon = 9\n[[release]]\n{asked}\n'
    (tmp_path / "job.toml").write_text(job)
    with pytest.raises(ArgumentError, match="without a null character at its end"):
        dp.job.run(tmp_path / "job.toml")
