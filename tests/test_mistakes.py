"""Mistakes that analysts make: an error of one clear sentence, and a budget that is as it was."""

import functools
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, SourceError

from .support.lazy import pl

N = 60
AGES = np.arange(N) % 50 + 20.0
SEX = np.array(["f", "m"])[np.arange(N) % 2]
FRAME = pd.DataFrame({"age": AGES, "pay": 2 * AGES, "sex": SEX, "who": np.arange(N) // 2})
TABLES = {"pandas": FRAME, "Polars": pl.DataFrame(FRAME), "Arrow": pa.Table.from_pandas(FRAME),
    "dict": {name: FRAME[name] for name in FRAME},
    "records": FRAME.astype({"sex": object}).to_records(index=False)}  # fmt: skip
BOUNDS = {"bounds": (0, 100)}


class spmatrix:
    """What SciPy's sparse matrices look like, without SciPy."""

    shape = (N, 2)

    def toarray(self):
        raise AssertionError("rows were read")


#: What is no column, and words of the error about it.
NO_COLUMN = {
    "groups of pandas": (FRAME.groupby("sex"), "use dpfast.group_by"),
    "a column of groups": (FRAME.groupby("sex")["age"], "use dpfast.group_by"),
    "periods": (pd.Series(AGES, pd.date_range("2020", periods=N)).resample("ME"),
        "use dpfast.group_by"),
    "groups of Polars": (pl.DataFrame(FRAME).group_by("sex"), "use dpfast.group_by"),
    "groups of Arrow": (TABLES["Arrow"].group_by("sex"), "use dpfast.group_by"),
    "an expression": (pl.col("age"), "select"),
    "several levels": (pd.MultiIndex.from_product([[1, 2], [3]]), "get_level_values"),
    "a sparse matrix": (spmatrix(), r"\.toarray\(\)"),
    "a generator": ((x for x in AGES), "list"),
    "a map": (map(float, AGES), "list"),
    "a set": ({1.0, 2.0}, "sorted"),
    "a path": ("people.csv", "for a file, dpfast.scan; for a column, table"),
    "a path of pathlib": (Path("people.csv"), "dpfast.scan"),
    "a number": (3.5, "float"),
    "nothing": (None, "NoneType"),
    "a class": (pd.DataFrame, "type"),
    "a function": (len, "function"),
    "a budget": (dp.Budget(epsilon=1), "Budget"),
}  # fmt: skip
#: Tables where a column is meant.
SEVERAL = {
    "pandas": (FRAME, r"a DataFrame of 4 columns: choose one, as data\['age'\], or pass axis=0"),
    "one of pandas": (FRAME[["age"]], r"a DataFrame of 1 column: choose one, as data\['age'\]"),
    "Polars": (TABLES["Polars"], r"a DataFrame of 4 columns: choose one"),
    "a lazy frame": (TABLES["Polars"].lazy(), r"LazyFrame of 4 .* as data\.collect\(\)\['age'\]"),
    "Arrow": (TABLES["Arrow"], r"a Table of 4 columns: choose one"),
    "a dict": (TABLES["dict"], r"a dict of 4 columns: choose one"),
    "records": (TABLES["records"], r"of 4"),
    "a matrix": (FRAME[["age", "pay"]].to_numpy(),
    r"got 2 columns: choose one, as data\[:, 0\]")}  # fmt: skip
ROWS = ("ids", "where", "weights")


def of_data(function, **more):
    return lambda data, budget: function(data, **more, epsilon=0.1, budget=budget)


RELEASES = {
    "count": of_data(dp.count),
    "mean": of_data(dp.mean, **BOUNDS),
    "median": of_data(dp.median, **BOUNDS),
    "histogram": of_data(dp.histogram, bins=4, **BOUNDS),
    "maximum": of_data(dp.maximum, **BOUNDS),
    "describe": of_data(dp.describe),
    "count_distinct": of_data(dp.count_distinct),
    "select_keys": of_data(dp.select_keys, delta=1e-6),
    "blocks": of_data(dp.sample_and_aggregate, estimator="mean", blocks=9, **BOUNDS),
    "fit": lambda x, budget: dp.learn.KMeans(2, **BOUNDS, epsilon=0.1).fit(x, budget=budget),
    "groups": lambda x, budget: dp.group_by(x, "sex").count(epsilon=1, delta=1e-6, budget=budget),
    **{name: lambda x, budget, name=name: dp.sum(AGES, **BOUNDS, **{name: x},
        **{"ids": {"max_rows": 1}, "weights": {"weight_bounds": (0, 1)}}.get(name, {}),
        epsilon=0.1, budget=budget) for name in ROWS},
}  # fmt: skip


def costs_nothing(call, *errors, match="must"):
    """The message of what a call raises, which is short and comes before a spend."""
    budget = dp.Budget(epsilon=5, delta=1e-3)
    with pytest.raises(errors or (ArgumentError, ArgumentTypeError), match=match) as caught:
        call(budget)
    assert budget.history == ()
    message = str(caught.value)
    assert "\n" not in message and len(message.split()) < 30, message
    return message


@pytest.mark.parametrize("mistake", NO_COLUMN)
def test_what_is_no_column_costs_nothing(mistake):
    data, words = NO_COLUMN[mistake]
    for name, call in RELEASES.items():
        is_said = not (isinstance(data, str | None) and name in ROWS)  # a name, or none of them
        if data is not None or name not in ROWS:
            costs_nothing(functools.partial(call, data), match=words if is_said else "must")


@pytest.mark.parametrize("mistake", SEVERAL)
def test_a_table_for_a_column_costs_nothing_and_says_how_to_name_one(mistake):
    data, words = SEVERAL[mistake]
    for name in ("mean", "median", "maximum"):
        costs_nothing(functools.partial(RELEASES[name], data), match=words)
    is_table = mistake != "a matrix"
    costs_nothing(
        functools.partial(RELEASES["histogram"], data),
        match=r"not a table.*such as data.*\['age'\]" if is_table else "one-dimensional",
    )


MISSING = {
    "by": lambda t, n, b: dp.group_by(t, n, keys=["f"]).count(epsilon=1, budget=b),
    "column": lambda t, n, b: by_sex(t).mean(n, **BOUNDS, epsilon=1, budget=b),
    "other": lambda t, n, b: by_sex(t).ratio("age", other=n, bounds=[(0, 9)] * 2, epsilon=1,
        budget=b),
    "weights": lambda t, n, b: by_sex(t).mean("age", weights=n, weight_bounds=(0, 1), **BOUNDS,
        epsilon=1, budget=b),
    "ids": lambda t, n, b: dp.count(t, ids=n, max_rows=1, epsilon=1, budget=b),
    "categories": lambda t, n, b: dp.marginals(t, ways=1, categories={n: ["f"]}, rho=1, budget=b),
}  # fmt: skip


def by_sex(table):
    return dp.group_by(table, "sex", keys=["f", "m"])


@pytest.mark.parametrize("argument", MISSING)
def test_a_column_that_is_not_there_lists_those_that_are(argument, tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    call, listing = MISSING[argument], "has: age, pay, sex, who"
    for name, table in {**TABLES, "file": dp.scan(tmp_path / "t.csv")}.items():
        errors = SourceError if name == "file" else ArgumentError
        said = listing if name == "file" else f"^{argument} must be the name of a column.*{listing}"
        far = costs_nothing(functools.partial(call, table, "zzzzz"), errors, match=said)
        near = costs_nothing(functools.partial(call, table, "agee"), errors, match=listing)
        assert "did you mean 'age'?" in near and "mean" not in far


LISTS = {"list": list, "tuple": tuple, "NumPy": np.array,
    "objects": lambda labels: np.array(labels, object), "Index": pd.Index, "Series": pd.Series,
    "Categorical": pd.Categorical, "Polars": pl.Series, "Arrow": pa.array,
    "chunks": lambda labels: pa.chunked_array([labels]),
    "dictionary": lambda labels: pa.array(labels).dictionary_encode(),
    "keys of a dict": lambda labels: dict.fromkeys(labels).keys()}  # fmt: skip
TAKERS = {
    "keys": lambda x, b: dp.group_by(FRAME, "sex", keys=x).count(epsilon=1, budget=b)["sex"],
    "several keys": lambda x, b: dp.group_by(
        {"a": SEX, "b": SEX}, ["a", "b"], keys=(x, x)
    ).count(epsilon=1, budget=b)["b"],
    "categories": lambda x, b: dp.histogram(SEX, categories=x, epsilon=1, budget=b)[1],
    "axes": lambda x, b: dp.histogram(
        FRAME[["sex", "pay"]], categories=[x, None], bins=[None, [0, 9]], epsilon=1, budget=b
    )[1][0],
    "marginals": lambda x, b: dp.marginals(
        FRAME, ways=1, categories={"sex": x}, rho=0.1, budget=b
    )["sex",]["sex"],
    "words": lambda x, b: dp.describe(
        FRAME[["sex"]], categories={"sex": x}, epsilon=1, budget=b
    ) and ["f", "m"],
    "response": lambda x, b: np.unique(
        dp.response.kary(SEX, categories=x, epsilon=1e-3, budget=b)
    ),
    "parts": lambda x, b: parts_of(x, b),
    "classes": lambda x, b: dp.learn.LogisticRegression(**BOUNDS, classes=x, epsilon=1)
    .fit(FRAME[["age"]], SEX, budget=b)
    .classes_,
}  # fmt: skip


def parts_of(groups, budget):
    with budget.parallel(SEX, groups) as parts:
        return list(parts)


@pytest.mark.parametrize("taker", TAKERS)
def test_lists_of_labels_are_read_alike(taker):
    call = TAKERS[taker]
    for kind, make in LISTS.items():
        labels = list(call(make(["f", "m"]), dp.Budget(epsilon=5, delta=1e-3)))
        assert [str(label) for label in labels][:2] == ["f", "m"], kind
    costs_nothing(functools.partial(call, {"f", "m"}), match="a set|an order|set; sorted")
    for wrong in ("fm", ["f", 1], ["f", None], ["f", "f"], []):
        costs_nothing(functools.partial(call, wrong))


@pytest.mark.parametrize("make", [pd.Index, pd.Series, pd.Categorical, pl.Series, pa.array])
def test_a_column_of_the_data_that_is_given_for_labels_is_not_shown(make):
    column = make(["secret", "secret"])
    for name in ("keys", "categories", "axes", "marginals", "response"):
        said = costs_nothing(functools.partial(TAKERS[name], column), match="different|rows")
        assert "secret" not in said


@pytest.mark.parametrize("make", [pd.Index, pd.Series, pl.Series, pa.array, np.array, tuple])
def test_numbers_in_a_list_are_read_alike(make):
    counts, edges = dp.histogram(AGES, bins=make([0.0, 50.0, 90.0]), epsilon=1)
    assert len(counts) == 2 and edges.tolist() == [0, 50, 90]
    assert len(dp.quantiles(AGES, make([0.25, 0.5]), **BOUNDS, epsilon=1)) == 2
    assert len(dp.percentile(AGES, make([25.0, 50.0]), **BOUNDS, epsilon=1)) == 2


def fit(y, budget):
    model = dp.learn.LogisticRegression(**BOUNDS, classes=[0, 1], epsilon=1)
    return model.fit(FRAME[["age"]], y, budget=budget)


CALLS = [
    (lambda b: dp.mean(AGES, (0, 100), 0.1, budget=b), "it takes: data, bounds, nan"),
    (lambda b: dp.mean(AGES, **BOUNDS, eps_total=0.1, budget=b), "it takes: data, bounds"),
    (lambda b: by_sex(FRAME).mean("age", bound=(0, 9), epsilon=1, budget=b), "mean 'bounds'"),
    (lambda b: by_sex(FRAME).mean("age", epsilon=1, budget=b), r"^mean\(\) missing .*'bounds'"),
    (lambda b: by_sex(FRAME).agg({"age": "mean"}, epsilon=1, budget=b), "such as dpfast.stat."),
    (lambda b: dp.group_by(FRAME, "sex").count(epsilon=1, budget=b), "delta must be greater"),
    (lambda b: by_sex({"sex": [1, 2]}).count(epsilon=-1, budget=b), "epsilon must be"),
    (lambda b: fit(AGES[:, None], budget=b), "y must be one number for each row.*type ndarray"),
    (lambda b: fit(FRAME.groupby("sex")["age"], budget=b), "y must be .*use dpfast.group_by"),
    (lambda b: dp.selection.exponential(FRAME.groupby("sex"), sensitivity=1, epsilon=1, budget=b),
        "scores must be"),
    (lambda b: dp.additive_release({1.0}, sensitivity=1, epsilon=1, budget=b), "values must be"),
    (lambda b: dp.histogram(SEX, categories=[1, 2], epsilon=1, budget=b), "real numbers"),
    (lambda b: b.parallel(FRAME.groupby("sex"), ["f"]).__enter__(), "use dpfast.group_by"),
    (lambda b: dp.describe(FRAME, bounds={"agee": (0, 9)}, epsilon=1, budget=b), "mean 'age'"),
    (lambda b: dp.session(b).mean(FRAME, **BOUNDS, epsilon=1), "choose one, as data"),
    (lambda b: dp.session(b).mean(AGES, **BOUNDS, epsilon=1, budget=b), "budget must be left out"),
    (lambda b: b.cost("mean", AGES), "such as dpfast.median"),
    (lambda b: dp.mean(AGES, **BOUNDS, epsilom=0.1, budget=b), "did you mean 'epsilon'"),
    (lambda b: dp.mean(AGES, epsilon=0.1, budget=b), "missing a required argument: 'bounds'"),
    (lambda b: dp.mean(FRAME["sex"], **BOUNDS, epsilon=0.1, budget=b), "data must be a column"),
    (lambda b: dp.mean(AGES, **BOUNDS, ids=AGES / 3, max_rows=1, epsilon=1, budget=b), "ids must"),
    (lambda b: dp.mean(AGES, **BOUNDS, ids=SEX, epsilon=1, budget=b), "max_rows must be given"),
    (lambda b: dp.scan("nowhere.csv"), "does not exist"),
    (lambda b: by_sex(FRAME).mean(FRAME["age"], **BOUNDS, epsilon=1, budget=b), "column must be"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), CALLS)
def test_a_wrong_argument_costs_nothing(call, words):
    errors = ArgumentError, ArgumentTypeError, BudgetError, SourceError
    costs_nothing(call, *errors, match=words)
