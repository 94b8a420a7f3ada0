"""Answers by group: those of pandas for a large loss; forms of data; what is refused."""

import datetime
import inspect
import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast._core.once import forget
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.groups import arrays
from dpfast.groups.api import GroupBy
from dpfast.groups.methods import OF_ROWS
from dpfast.measurement import columns_by_name
from dpfast.rng import InsecureGenerator
from dpfast.statistics import histogram
from dpfast.tables import batches, in_memory
from dpfast.tables.bounding import Bounding

from ..support.pairwise import quick_rows

N = 6000
LARGE = {"epsilon": 500}
RNG = np.random.default_rng(12)
CITY = np.array(["Aix", "Bonn", "Como"])[RNG.integers(0, 3, N)]
YEAR = RNG.integers(2019, 2022, N)
WHO = RNG.integers(0, 900, N)
#: Quarters, which all forms hold, beyond the bounds too.
X = np.round(4 * RNG.normal(20, 15, N)) / 4
WHOLE = RNG.integers(-5, 40, N)
DAY = np.array(["2020-02-01", "2020-02-29", "2021-01-01"], "M8[D]")[RNG.integers(0, 3, N)]
YES = RNG.random(N) < 0.3
SOME = RNG.random(N) < 0.6
TABLE = {"city": CITY, "year": YEAR, "who": WHO, "x": X, "n": WHOLE, "day": DAY, "yes": YES}
FRAME = pd.DataFrame(TABLE)
BOUNDS = {"bounds": (0, 50)}


def lower(q):
    """The order statistic at or below a quantile, as the draw has it in the limit."""
    return lambda x: x.agg(lambda rows: np.sort(rows)[max(0, int(np.ceil(q * len(rows))) - 1)])


def nonzero(rows):
    return np.count_nonzero(FRAME["x"][rows.index])


def of(name, *args, **given):
    return lambda groups, loss: getattr(groups, name)("x", *args, **BOUNDS, **given, **loss)


#: The release, and the same of a clamped column of pandas; how far they may be apart.
STATISTICS = {
    "count": (lambda g, kw: g.count(**kw), lambda x: x.size(), 0),
    "sum": (of("sum"), lambda x: x.sum(), 2.0),
    "mean": (of("mean"), lambda x: x.mean(), 0.01),
    "variance": (of("variance"), lambda x: x.var(ddof=0), 0.1),
    "sample variance": (of("variance", ddof=1), lambda x: x.var(ddof=1), 0.1),
    "std": (of("std", ddof=1), lambda x: x.std(), 0.1),
    "count nonzero": (lambda g, kw: g.count_nonzero("x", **kw), lambda x: x.agg(nonzero), 0),
    "percentile": (of("percentile", 90), lower(0.9), 0.3),
    "median": (of("median"), lower(0.5), 0.3),
    "quantile": (of("quantile", 0.2), lower(0.2), 0.3),
    "minimum": (of("minimum"), lambda x: x.min(), 0.3),
    "maximum": (of("maximum"), lambda x: x.max(), 0.3),
}
COLUMNS = {"city": ["Aix", "Aix", "Bonn"], "year": [2021, 2019, 2020]}
BY = {
    "text": ("city", ["Como", "Oslo", "Aix", "Bonn"]),
    "years far apart": ("year", [2021, 1789, 2019, 2020]),
    "dates": ("day", np.array(["2021-01-01", "2020-02-29", "2020-02-01"], "M8[D]")),
    "truths": ("yes", [True, False]),
    "two, all combinations": (["city", "year"], [["Bonn", "Aix", "Oslo"], [2020, 2019]]),
    "two, some": (["city", "year"], [("Bonn", 2020), ("Oslo", 2020), ("Aix", 2019)]),
    "two, of a table": (["year", "city"], pd.DataFrame(COLUMNS)),
    "dates and truths": (["yes", "day"], [[False, True], DAY[:1]]),
}


def listed(by, keys):
    if isinstance(by, str):
        return [(key,) for key in (keys.tolist() if isinstance(keys, np.ndarray) else keys)]
    if isinstance(keys, pd.DataFrame):
        return list(keys[by].itertuples(index=False, name=None))
    if isinstance(keys[0], tuple):
        return keys
    return list(itertools.product(*(np.asarray(one).tolist() for one in keys)))


def of_pandas(by, how):
    frame = FRAME.assign(x=FRAME["x"].clip(0, 50))
    found = how(frame.groupby([by] if isinstance(by, str) else by)["x"])
    keys = (key if isinstance(key, tuple) else (key,) for key in found.index)
    plain = (tuple(k.date() if isinstance(k, pd.Timestamp) else k for k in key) for key in keys)
    return dict(zip(plain, found, strict=True))


@quick_rows(12)
@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_large_loss_gives_what_pandas_gives(by, statistic):
    names, keys = BY[by]
    release, how, near = STATISTICS[statistic]
    answer = release(dp.group_by(TABLE, names, keys=keys), LARGE)
    found = answer[list(answer)[len([names] if isinstance(names, str) else names)]]
    due, order = of_pandas(names, how), listed(names, keys)
    columns = list(answer.values())[: len(order[0])]
    assert [tuple(c[i].item() if hasattr(c[i], "item") else c[i] for c in columns)
            for i in range(len(found))] == order  # fmt: skip
    for key, value in zip(order, found.tolist(), strict=True):
        if key in due:
            assert abs(value - due[key]) <= near, key
        elif statistic in ("count", "count nonzero", "sum"):  # of an empty group
            assert abs(value) <= near
        else:
            assert 0 <= value <= 700


def test_bins_are_those_of_numpy():
    plain, edges = dp.group_by(TABLE, "city", keys=["Bonn", "Aix"]), [0, 10, 25.5, 50]
    found = plain.histogram("x", bins=edges, **LARGE)
    for key, *counts in zip(*list(found.values())[:4], strict=True):
        assert [int(n) for n in counts] == np.histogram(X[key == CITY], edges)[0].tolist()
    found = plain.histogram("year", categories=[2019, 2021], **LARGE)["histogram 2019"]
    assert found.tolist() == [((key == CITY) & (YEAR == 2019)).sum() for key in ("Bonn", "Aix")]
    words = dp.group_by(TABLE, "year", keys=[2020]).histogram("city", categories=["Como"], **LARGE)
    assert words["histogram Como"].tolist() == [((YEAR == 2020) & (CITY == "Como")).sum()]


HUGE = {"city": ["Aix"] * 3, "x": [0.0, 1e308, 1e300], "one": [1.0] * 3}
HEAVY = {"weights": "x", "weight_bounds": (0, 1e308)}
SATURATED = {
    "sum": lambda g, kw: g.sum("x", bounds=(0, 1e308), **kw),
    "mean": lambda g, kw: g.mean("x", bounds=(-8e307, 8e307), **kw),
    "variance": lambda g, kw: g.variance("x", bounds=(0, 1e308), **kw),
    "weighted sum": lambda g, kw: g.sum("one", bounds=(0, 1), **HEAVY, **kw),
    "weighted bins": lambda g, kw: g.histogram("one", bins=[0, 2, 3], **HEAVY, **kw),
    "weighted bins of all": lambda g, kw: {"n": dp.histogram(
        HUGE["one"], bins=[0, 2], weights=HUGE["x"], weight_bounds=(0, 1e308), **kw)[0]},
}  # fmt: skip


@pytest.mark.parametrize("name", SATURATED)
def test_answers_and_bars_beyond_float64_are_the_largest_number(name):
    groups = dp.group_by(HUGE, "city", keys=["Aix", "Bonn"])
    for loss in ({"epsilon": 1e-6}, {"epsilon": 1}, {"rho": 1e-6}):
        for column in SATURATED[name](groups, loss).values():
            assert column.dtype.kind == "U" or np.isfinite(column).all()


def test_a_product_that_overflows_is_found(monkeypatch):
    for module in (arrays, histogram):
        monkeypatch.setattr(module, "in_units", lambda cells, width: cells * width)
    for name in ("sum", "variance", "weighted bins of all"):
        with pytest.raises((RuntimeWarning, AssertionError)):
            test_answers_and_bars_beyond_float64_are_the_largest_number(name)


def test_several_quantiles_ascend():
    qs, groups = [0.9, 0.1, 0.5], dp.group_by(TABLE, "city", keys=["Aix", "Oslo"])
    for loss in ({"epsilon": 500}, {"epsilon": 0.01}, {"rho": 0.001}):
        found = groups.quantiles("x", qs, **BOUNDS, **loss)
        assert list(found)[1:] == [*(f"quantiles {q}" for q in qs), "quantiles error in ranks"]
        bar = dp.expected_error(groups.quantiles, "x", qs, **BOUNDS, **loss)
        assert set(found["quantiles error in ranks"]) == {bar.ranks} and bar.confidence == 0.95
        assert (np.diff([found[f"quantiles {q}"] for q in sorted(qs)], axis=0) >= 0).all()


ASKED = {
    "n": dp.stat.count(),
    "mean": dp.stat.mean("x", **BOUNDS),
    "median": dp.stat.median("x", **BOUNDS),
    "people": dp.stat.count_distinct(),
    "automatic": dp.stat.mean("x", bounds="auto"),
}


def released():
    people = {"ids": "who", "max_groups": 2, "max_rows": 3}
    keys = [["Como", "Aix"], [2020, 2021, 9]]
    groups = dp.group_by(TABLE, ["city", "year"], keys=keys, **people)
    found = groups.agg(ASKED, epsilon=3, delta=1e-4, rng=InsecureGenerator(4))
    return {name: column.tolist() for name, column in found.items()}


def test_numbers_of_rows_that_a_cut_changes_are_found(monkeypatch):
    """Planted: rows are numbered within their batch."""
    add, due = Bounding.add, released()

    def within(self, low, high, codes, start, present=None):
        add(self, low, high, codes, 0, present)

    monkeypatch.setattr(Bounding, "add", within)
    assert released() == due
    monkeypatch.setattr(in_memory, "ROWS", 1000)
    assert released() != due


def test_what_is_shown_is_cut():
    table = {"<b>": ["<i>&", "b"] * 99}
    answer = dp.group_by(table, "<b>", keys=["<i>&", "b"]).count(**LARGE)
    assert repr(answer).splitlines()[1].startswith("<i>&") and "(2 groups)" in repr(answer)
    long = dp.group_by({"k": [1]}, "k", keys=range(1000)).count(**LARGE)
    assert len(repr(long).splitlines()) == 23 and "..." in repr(long)
    groups = dp.group_by(TABLE, ["city", "year"], ids="who", max_groups=2)
    assert repr(groups) == "GroupBy('city', 'year'; private keys, people of 'who')"


NAMED = {"k": ["error", "b"] * 50, "n error": [1, 2] * 50, "x": np.arange(100.0)}
GROUPS = {"data": TABLE, "by": "city", "keys": ["Aix"]}
PEOPLE = {**GROUPS, "ids": "who", "max_groups": 2, "max_rows": 3}
PRIVATE = {"data": TABLE, "by": "city"}
EPSILON, DELTA = {"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}
COUNT = {"n": dp.stat.count()}
MEAN = {"m": dp.stat.mean("x", **BOUNDS)}


def agg(given, statistics=COUNT, loss=EPSILON, **kw):
    return lambda budget: dp.group_by(**given).agg(statistics, **loss, budget=budget, **kw)


def of_groups(statistics=COUNT, loss=EPSILON, **given):
    return agg({**GROUPS, **given}, statistics, loss)


def columns(statistics, by="k", keys=("b",)):
    """A call whose answer would have two columns of one name."""
    return agg({"data": NAMED, "by": by, "keys": keys}, statistics)


def heavy(name, most, weight):
    """A call about weights that no float holds."""
    given = {"bounds": (0, most), "weights": "n", "weight_bounds": (0, weight)}
    return lambda budget: getattr(dp.group_by(**GROUPS), name)("x", **given, epsilon=1)


BOTH, FAR = {"n": dp.stat.count(), **MEAN}, {"n": 1e300}
LABELS = {"h": dp.stat.histogram("k", categories=["error", "other"])}
QUANTILES = {"q 0.5": dp.stat.count(), "q": dp.stat.quantiles("x", [0.5, 0.1], **BOUNDS)}
TWO = ["city", "year"]
REFUSED = {
    "the same column twice": (of_groups(by=["city", "city"]), "by", "different"),
    "no columns": (of_groups(by=[]), "by", "name"),
    "numbers for text": (of_groups(keys=[1, 2]), "keys", "text"),
    "text and bytes": (of_groups(keys=[b"a", "b"]), "keys", "text"),
    "text for numbers": (of_groups(by="year", keys=["2020"]), "keys", "integers"),
    "floats for keys": (of_groups(by="year", keys=[2020.0]), "keys", "integers"),
    "dates for keys": (of_groups(by="year", keys=[datetime.date(2024, 1, 2)]), "keys", "integers"),
    "a column of floats": (of_groups(by="x", keys=[1]), "column 'x'", "integers"),
    "short tuples": (of_groups(by=TWO, keys=[("Aix",)]), "keys", "tuples of 2"),
    "three lists for two": (of_groups(by=TWO, keys=[["Aix"], [1], [2]]), "keys", "2 columns"),
    "a table without the column": (of_groups(keys={"town": ["Aix"]}), "keys", "city"),
    "rho and private keys": (agg(PRIVATE, loss={"rho": 1}), "delta", "rho"),
    "private keys of people": (agg({**PRIVATE, "ids": "who"}, loss=DELTA), "max_groups", "given"),
    "max_groups of rows": (of_groups(max_groups=2), "max_groups", "without ids"),
    "max_rows of rows": (of_groups(max_rows=2), "max_rows", "without ids"),
    "no max_rows": (of_groups(MEAN, ids="who"), "max_rows", "given"),
    "no people": (of_groups({"n": dp.stat.count_distinct()}), "ids", "people"),
    "max_groups 0": (agg({**PEOPLE, "max_groups": 0}), "max_groups", "1"),
    "ids of floats": (agg({**PEOPLE, "ids": "x"}), "ids", "integers"),
    "no statistics": (of_groups({}), "statistics", "mapping"),
    "a list of statistics": (of_groups([dp.stat.count()]), "statistics", "mapping"),
    "what is none": (of_groups({"n": np.mean}), "statistics", "dpfast.stat"),
    "the name of the keys": (of_groups({"city": dp.stat.count()}), "statistics", "the same name"),
    "private keys' weight": (agg(PRIVATE, {"keys": dp.stat.count()}, DELTA), "statistics", "keys"),
    "a weight of nothing": (agg(GROUPS, weights={"m": 1}), "weights", "'n'"),
    "a weight of 0": (agg(GROUPS, weights={"n": 0}), "weights", "greater than 0"),
    "text for a mean": (of_groups({"m": dp.stat.mean("city", **BOUNDS)}), "column", "numbers"),
    "words of numbers": (of_groups({"h": dp.stat.histogram("x", categories=["a"])}), "categories",
        "numbers, as the column 'x' is"),
    "weights without bounds": (lambda budget: dp.group_by(**GROUPS).sum("x", **BOUNDS, **EPSILON,
        weight_bounds=(0, 1)), "weight_bounds", "given with weights"),
    "the same quantile twice": (lambda budget: dp.group_by(**GROUPS).quantiles("x", [0.5, 0.5],
        **BOUNDS, **EPSILON), "qs", "different"),
    "too many for top": (lambda budget: dp.group_by(**GROUPS).top_k(2, epsilon=1, budget=budget),
        "k", "at most"),
    **{f"two columns of one name, {i}": (columns(*given), "statistics", "columns have the same")
        for i, given in enumerate([({"k": dp.stat.count()},), ({**COUNT, "n error": COUNT["n"]},),
            (COUNT, "n error", [1]), (QUANTILES,), (LABELS,)])},
    **{f"{name} of heavy rows {most}": (heavy(name, most, weight), "weight_bounds", "overflow")
        for name in ("sum", "mean") for most, weight in ((1e200, 1e200), (10, 1e308))},
    "a tiny share": (agg(GROUPS, BOTH, weights=FAR), "epsilon", "2**-30"),
    "a tiny share with delta": (agg(GROUPS, BOTH, DELTA, weights=FAR), "epsilon", "2**-30"),
    **{f"huge {name}": (of_groups(ids="who", **{name: 10**30}), name, "at most 2147483646")
        for name in ("max_groups", "max_rows")},
    "many bins": (lambda budget: dp.group_by(TABLE, "n", keys=range(1000)).histogram("x", **BOUNDS,
        bins=3_000_000, epsilon=1, budget=budget), "bins", "at most 2147483 for 1000 groups"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_costs_nothing_and_reads_nothing(name, monkeypatch):
    def read(*_):
        raise AssertionError("the rows are read")

    call, argument, rule = REFUSED[name]
    monkeypatch.setattr(batches.Batches, "reduce", read)
    budget = dp.Budget(epsilon=10, delta=0.1) if "rho" not in name else dp.Budget(rho=10)
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        call(budget)
    text = str(caught.value)
    assert text.startswith(argument) and "must be" in text and rule in text, text
    assert "\n" not in text and len(text) < 300 and not budget.history
    assert caught.value.__context__ is None or caught.value.__suppress_context__


@pytest.mark.parametrize("keys", [["Aix"], None])
@pytest.mark.parametrize("name", ["mean", "median", "variance"])
def test_missing_rows_are_dropped_and_refused_where_that_is_asked_for(name, keys):
    table = {**TABLE, "x": np.where(np.arange(N) == 77, np.nan, X)}
    call, budget = getattr(dp.group_by(table, "city", keys=keys), name), dp.Budget(**DELTA)
    with pytest.raises(DataError, match="is not refunded"):
        call("x", **BOUNDS, nan="raise", **DELTA, budget=budget)
    assert len(budget.history) == 1
    for replaced in (None, "drop", "lower", 7.0):
        call("x", **BOUNDS, nan=replaced, **DELTA)
    if keys is not None:  # a missing number in no group is no matter
        table["city"] = np.where(np.arange(N) == 77, "Oslo", CITY)
        getattr(dp.group_by(table, "city", keys=keys), name)("x", nan="raise", **BOUNDS, **DELTA)


@pytest.mark.parametrize("ddof", [1, 2**31, 2**62, 10**400])
def test_more_than_all_rows_may_be_left_out_of_the_number(ddof):
    """Numbers of rows that float64 cannot tell from one more than they are."""
    rows = {"k": np.array(["a", "b"] * 50), "x": np.arange(100.0)}
    groups = dp.group_by(rows, "k", keys=["a", "b", "c"])
    answer = groups.variance("x", bounds=(0, 100), ddof=ddof, epsilon=1)
    assert np.isfinite(answer["variance"]).all() and np.isfinite(answer["variance error"]).all()


TEXTS = ["x", None, "", "y"] * 20
DAYS = [None if text is None else datetime.datetime(2024, 2, 29) for text in TEXTS]
FORMS = {
    "numbers": lambda: np.array([1.0, np.nan, 2, 0] * 20),
    "moments": lambda: np.array(DAYS, "M8[us]"),
    "days": lambda: [None if day is None else day.date() for day in DAYS],
    "list": lambda: TEXTS,
    "objects": lambda: pd.Series(TEXTS, dtype=object),
    "text": lambda: pd.Series(TEXTS, dtype="str"),
    "arrow": lambda: pa.array(TEXTS),
    "dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "masked": lambda: np.ma.masked_array(["x", "", "", "y"] * 20, [False, True, False, False] * 20),
    "mixed": lambda: [1.5, np.nan, "x", pd.NaT] * 10 + [pd.NA, None, b"y", ()] * 10,
}


@pytest.mark.parametrize("name", FORMS)
def test_a_count_of_a_column_of_any_kind_leaves_out_missing_values(name):
    table = {"k": ["a", "b"] * 40, "t": FORMS[name](), "x": np.arange(80.0), "who": np.arange(80)}
    known, mean = [40, 20] if name != "mixed" else [30, 10], dp.stat.mean("x", bounds=(0, 80))
    for people in ({}, {"ids": "who", "max_rows": 1}):
        groups = dp.group_by(table, "k", keys=["a", "b"], **people)
        found = groups.agg({"n": dp.stat.count("t"), "m": mean}, epsilon=400)
        assert found["n"].tolist() == known
        for nan, counts in (("only", [40 - n for n in known]), ("keep", [40, 40])):
            assert groups.count("t", nan=nan, epsilon=400)["count"].tolist() == counts
    if name in ("text", "arrow"):
        with pytest.raises(ArgumentTypeError, match="must be numbers"):
            groups.count_nonzero("t", epsilon=1)
    assert dp.stat.count("x") == dp.stat.count("x", nan="drop") != dp.stat.count("x", nan="keep")


SMALL = {
    "k": np.arange(60) % 3,
    "t": np.array(["a", "b", "c"] * 20),
    "x": np.linspace(0, 1, 60),
    "id": np.arange(60) // 2,
}


def test_what_is_given_and_answered_is_nobody_elses():
    keys = np.array(["a", "b"])
    groups = dp.group_by(SMALL, "t", keys=keys)
    found = groups.count(epsilon=100)
    found["t"][0], keys[1] = "z", "a"
    assert groups.count(epsilon=100)["t"].tolist() == ["a", "b"]


def test_numbers_of_rows_are_not_told():
    own, masked = {"ids": "id", "neighbors": "replace"}, {"epsilon": 1, "where": np.ones(3, bool)}
    people = dp.group_by(SMALL, "k", keys=[0], max_groups=1, max_rows=1, **own)
    budget = dp.Budget(epsilon=9, **own)
    assert budget.cost(people.count, **masked).epsilon == 1
    with pytest.raises(DataError, match="one entry") as caught:
        people.count(**masked, budget=budget)
    assert "60" not in str(caught.value) and len(budget.history) == 1


def test_bounds_of_people_beyond_the_groups_cost_nothing():
    def error(most):
        groups = dp.group_by(SMALL, "k", keys=[0, 1, 2], ids="id", max_groups=most, max_rows=1)
        return groups.count(epsilon=1)["count error"][0]

    assert error(3) == error(1000) == error(None)


OF_NAMED = dp.group_by({**NAMED, "k": [1, 2] * 50}, "k", keys=[1, 2])


def edges():
    return list(OF_NAMED.histogram("x", bins=[1234567, 1234568, 1234569], epsilon=1))


def test_numbers_are_short_where_that_tells_them_apart(monkeypatch):
    assert edges() == ["k", "histogram 1234567.0", "histogram 1234568.0", "histogram error"]
    assert columns_by_name.labels([0.5, 18.0]) == ["0.5", "18"]
    for qs, shown in (
        ([1 / 3, 0.33333], ["0.333333", "0.33333"]),
        ([0.33333331, 0.33333332], ["0.33333331", "0.33333332"]),
    ):
        found = list(OF_NAMED.quantiles("x", qs, bounds=(0, 9), epsilon=1))[1:]
        assert found == [*(f"quantiles {q}" for q in shown), "quantiles error in ranks"]
    # Planted: a bin that another hides.
    monkeypatch.setattr("dpfast.groups.counts.labels", lambda some: [f"{x:g}" for x in some])
    forget()
    with pytest.raises(ArgumentError, match="no two columns have the same name"):
        edges()
    forget()


@pytest.mark.parametrize("name", dp.stat.__all__)
def test_a_method_takes_what_its_statistic_does_and_a_loss(name):
    method = getattr(GroupBy, name)
    own = [one for one in inspect.signature(getattr(dp.stat, name)).parameters]
    own = [one for one in own if one not in OF_ROWS and name != "count_distinct"]  # of all columns
    parameters = inspect.signature(method).parameters
    assert list(parameters) == ["self", *own, "epsilon", "delta", "rho", "where", "budget", "rng"]
    assert method.__name__ == name and method.__qualname__ == f"GroupBy.{name}"
    has_default = "column" in own and parameters["column"].default is None
    assert has_default == (name == "count")  # of all rows, or of those that are missing
    with pytest.raises(TypeError, match="unexpected keyword"):
        method(OF_NAMED, epsilon=1, sigma=1)


def test_a_file_of_text_holds_keys_and_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("i,x,w\n" + "1,2,a\n2,3,b\n" * 20)
    scanned, budget = dp.scan(tmp_path / "t.csv", ["x"]), dp.Budget(epsilon=9)
    for keys in ([1, 2], np.arange(1, 3), ["1", "2"]):
        groups = dp.group_by(scanned, "i", keys=keys)
        assert groups.count(epsilon=99)["count"].tolist() == [20, 20]
        assert groups.count("w", epsilon=99)["count"].tolist() == [20, 20]
    for by, keys, ids in (("i", [1, 2], {}), ("w", ["a"], {"ids": "i", "max_rows": 1})):
        groups = dp.group_by(scanned, by, keys=keys, **ids)
        with pytest.raises(ArgumentError, match="column must be used as numbers only"):
            groups.sum("i", bounds=(0, 9), epsilon=1, budget=budget)
    assert not budget.history


def test_the_record_has_the_noise_and_the_error_bar_of_the_most_frequent_keys():
    groups = dp.group_by(TABLE, "city", keys=["Aix"], other_key="rest")
    for statistics in (ASKED | {"people": dp.stat.count("x")}, {"m": ASKED["median"]}):
        record = dp.extend.prepare(groups.agg, statistics, epsilon=1).to_record()
        assert record.parameters["other_key"] == {"city": "rest"}

    def bar(call, *given, **kw):
        return dp.expected_error(call, *given, **kw).half_width

    public = dp.group_by(TABLE, "year", keys=[2019, 2020, 2021])
    assert bar(public.top_k, 2, epsilon=1) > bar(public.top_k, 2, rho=1) > 0
    assert bar(public.mean, "x", bounds="auto", epsilon=1) is None
    heavy = {**BOUNDS, "weights": "n", "epsilon": 1, "rows": 20}
    assert bar(public.mean, "x", **heavy, weight_bounds=(0.5, 2)) > 0
    assert bar(public.mean, "x", **heavy, weight_bounds=(0, 2)) is None
    assert bar(dp.count_distinct, [1], epsilon=1) > 0
    assert bar(dp.group_by(TABLE, "year").top_k, 1, **DELTA) is None
