"""Answers by group: those of pandas for a large loss; forms of data; what is refused."""

from __future__ import annotations

import datetime
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError, DpfastError
from dpfast.groups import arrays
from dpfast.measurement.columns_by_name import Answer
from dpfast.rng import InsecureGenerator
from dpfast.statistics import histogram
from dpfast.tables import batches, in_memory
from dpfast.tables.bounding import Bounding

from ..support.battery import of_dask
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

# ---- Beside pandas. ----


def lower(q):
    """The order statistic at or below a quantile, as the draw has it in the limit."""
    return lambda rows: np.sort(rows)[max(0, int(np.ceil(q * len(rows))) - 1)]


def nonzero(rows):
    return np.count_nonzero(FRAME["x"][rows.index])


#: The release, and the same of a clamped column of pandas; how far they may be apart.
STATISTICS = {
    "count": (lambda g, kw: g.count(**kw), lambda x: x.size(), 0),
    "sum": (lambda g, kw: g.sum("x", **BOUNDS, **kw), lambda x: x.sum(), 2.0),
    "mean": (lambda g, kw: g.mean("x", **BOUNDS, **kw), lambda x: x.mean(), 0.01),
    "variance": (
        lambda g, kw: g.variance("x", **BOUNDS, **kw),
        lambda x: x.var(ddof=0),
        0.1,
    ),
    "sample variance": (
        lambda g, kw: g.variance("x", **BOUNDS, ddof=1, **kw),
        lambda x: x.var(ddof=1),
        0.1,
    ),
    "std": (lambda g, kw: g.std("x", **BOUNDS, ddof=1, **kw), lambda x: x.std(), 0.1),
    "count nonzero": (lambda g, kw: g.count_nonzero("x", **kw), lambda x: x.agg(nonzero), 0),
    "percentile": (
        lambda g, kw: g.percentile("x", 90, **BOUNDS, **kw),
        lambda x: x.agg(lower(0.9)),
        0.3,
    ),
    "median": (lambda g, kw: g.median("x", **BOUNDS, **kw), lambda x: x.agg(lower(0.5)), 0.3),
    "quantile": (
        lambda g, kw: g.quantile("x", 0.2, **BOUNDS, **kw),
        lambda x: x.agg(lower(0.2)),
        0.3,
    ),
    "minimum": (lambda g, kw: g.minimum("x", **BOUNDS, **kw), lambda x: x.min(), 0.3),
    "maximum": (lambda g, kw: g.maximum("x", **BOUNDS, **kw), lambda x: x.max(), 0.3),
}
BY = {
    "text": ("city", ["Como", "Oslo", "Aix", "Bonn"]),
    "integers": ("year", [2019, 2020, 2021, 2022]),
    "years far apart": ("year", [2021, 1789, 2019, 2020]),
    "dates": ("day", np.array(["2021-01-01", "2020-02-29", "2020-02-01"], "M8[D]")),
    "truths": ("yes", [True, False]),
    "two, all combinations": (["city", "year"], [["Bonn", "Aix", "Oslo"], [2020, 2019]]),
    "two, some": (["city", "year"], [("Bonn", 2020), ("Oslo", 2020), ("Aix", 2019)]),
    "two, of a table": (
        ["year", "city"],
        pd.DataFrame({"city": ["Aix", "Aix", "Bonn"], "year": [2021, 2019, 2020]}),
    ),
    "two dates and truths": (["yes", "day"], [[False, True], ["2020-02-01", "2021-01-01"]]),
}
BY["two dates and truths"] = (
    ["yes", "day"],
    [[False, True], np.array(["2020-02-01", "2021-01-01"], "M8[D]")],
)


def listed(by, keys):
    """The keys in the order in which they are answered, as tuples."""
    if isinstance(by, str):
        return [(key,) for key in (keys.tolist() if isinstance(keys, np.ndarray) else keys)]
    if isinstance(keys, pd.DataFrame):
        return list(keys[by].itertuples(index=False, name=None))
    if isinstance(keys[0], tuple):
        return keys
    return list(itertools.product(*(np.asarray(one).tolist() for one in keys)))


def of_pandas(by, how):
    names = [by] if isinstance(by, str) else by
    frame = FRAME.assign(x=FRAME["x"].clip(0, 50))
    found = how(frame.groupby(names)["x"])
    return {
        tuple(
            k.date() if isinstance(k, pd.Timestamp) else k
            for k in (key if isinstance(key, tuple) else (key,))
        ): value
        for key, value in found.items()
    }


@quick_rows(18)
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


def test_people_and_bins_are_those_of_pandas():
    groups = dp.group_by(TABLE, "city", keys=["Bonn", "Aix"], ids="who", max_groups=3, max_rows=50)
    found = groups.agg({"people": dp.stat.count_distinct(), "rows": dp.stat.count()}, epsilon=500)
    due = FRAME.groupby("city")
    assert np.abs(found["people"] - due["who"].nunique()[["Bonn", "Aix"]].to_numpy()).max() <= 1
    assert np.abs(found["rows"] - due.size()[["Bonn", "Aix"]].to_numpy()).max() <= 40
    plain = dp.group_by(TABLE, "city", keys=["Bonn", "Aix"])
    edges = [0, 10, 25.5, 50]
    found = plain.histogram("x", bins=edges, **LARGE)
    for key, *counts in zip(*(found[name] for name in list(found)[:4]), strict=True):
        x = X[key == CITY]
        assert [int(n) for n in counts] == np.histogram(x, edges)[0].tolist()
    found = plain.histogram("year", categories=[2019, 2021], **LARGE)
    assert found["histogram 2019"].tolist() == [
        int(((key == CITY) & (YEAR == 2019)).sum()) for key in found["city"]
    ]
    words = dp.group_by(TABLE, "year", keys=[2020]).histogram("city", categories=["Como"], **LARGE)
    assert words["histogram Como"].tolist() == [int(((YEAR == 2020) & (CITY == "Como")).sum())]


HUGE = {"city": ["Aix"] * 3, "x": [0.0, 1e308, 1e300], "one": [1.0] * 3}
SATURATED = {
    "sum": lambda g, kw: g.sum("x", bounds=(0, 1e308), **kw),
    "mean": lambda g, kw: g.mean("x", bounds=(-8e307, 8e307), **kw),
    "variance": lambda g, kw: g.variance("x", bounds=(0, 1e308), **kw),
    "std": lambda g, kw: g.std("x", bounds=(0, 1e308), ddof=1, **kw),
    "weighted sum": lambda g, kw: g.sum(
        "one", bounds=(0, 1), weights="x", weight_bounds=(0, 1e308), **kw
    ),
    "weighted bins": lambda g, kw: g.histogram(
        "one", bins=[0, 2, 3], weights="x", weight_bounds=(0, 1e308), **kw
    ),
    "weighted bins of all": lambda g, kw: {
        "histogram": dp.histogram(
            HUGE["one"], bins=[0, 2, 3], weights=HUGE["x"], weight_bounds=(0, 1e308), **kw
        )[0]
    },
}


@pytest.mark.parametrize("name", SATURATED)
@pytest.mark.parametrize("loss", [{"epsilon": 1e-6}, {"epsilon": 1}, {"rho": 1e-6}], ids=str)
def test_answers_and_bars_beyond_float64_are_the_largest_number(name, loss):
    """As a sum without groups is: no infinity, no warning of NumPy."""
    groups = dp.group_by(HUGE, "city", keys=["Aix", "Bonn"])
    for column in list(SATURATED[name](groups, loss).values()):
        assert column.dtype.kind == "U" or np.isfinite(column).all()


def test_a_product_that_overflows_is_found(monkeypatch):
    for module in (arrays, histogram):
        monkeypatch.setattr(module, "in_units", lambda cells, width: cells * width)
    for name in ("sum", "variance", "weighted bins of all"):
        with pytest.raises((RuntimeWarning, AssertionError)):
            test_answers_and_bars_beyond_float64_are_the_largest_number(name, {"epsilon": 1e-6})


def test_several_quantiles_ascend():
    qs = [0.9, 0.1, 0.5]
    groups = dp.group_by(TABLE, "city", keys=["Aix", "Oslo"])
    for loss in ({"epsilon": 500}, {"epsilon": 0.01}, {"rho": 0.001}):
        found = groups.quantiles("x", qs, **BOUNDS, **loss)
        names = ["quantiles 0.9", "quantiles 0.1", "quantiles 0.5", "quantiles error in ranks"]
        assert list(found)[1:] == names
        bar = dp.expected_error(groups.quantiles, "x", qs, **BOUNDS, **loss)
        assert set(found["quantiles error in ranks"]) == {bar.ranks} and bar.confidence == 0.95
        every = [found[f"quantiles {q}"] for q in sorted(qs)]
        assert (every[0] <= every[1]).all() and (every[1] <= every[2]).all()


def test_a_mask_leaves_out_rows_and_whole_numbers_stay_whole():
    groups = dp.group_by(TABLE, "city", keys=["Aix", "Bonn"])
    assert groups.count(where=SOME, **LARGE)["count"].tolist() == [
        int((SOME & (key == CITY)).sum()) for key in ("Aix", "Bonn")
    ]
    found = groups.median("n", bounds=(-9.5, 99), where=SOME, epsilon=1)["median"]
    assert (found == np.round(found)).all()


# ---- Forms. ----


def forms(folder):
    """The table in all its forms; in files of text, all that can be written there."""
    yield "lists", {name: column.tolist() for name, column in TABLE.items()}
    yield "records", np.rec.fromarrays(list(TABLE.values()), names=list(TABLE))
    yield "pandas", FRAME
    yield "nullable", FRAME.convert_dtypes()
    yield "categories", FRAME.astype({"city": "category", "year": "category"})
    yield "Arrow strings", FRAME.astype({"city": "string[pyarrow]", "who": "int64[pyarrow]"})
    yield "times", FRAME.astype({"day": "datetime64[ns]"})
    table = pa.table(TABLE)
    yield "Arrow", table
    chunks = pa.concat_tables([table[:1], table[1:1], table[1:3333], table[3333:]])
    yield "Arrow in chunks", chunks
    coded = table.set_column(0, "city", table["city"].combine_chunks().dictionary_encode())
    yield "dictionaries", coded
    yield "Polars", pl.from_arrow(table)
    yield (
        "Polars categories",
        pl.from_arrow(table).with_columns(pl.col("city").cast(pl.Categorical)),
    )
    for name, one in (("x", table), ("coded", coded)):
        pq.write_table(one, folder / f"{name}.parquet", row_group_size=1000)
        yield f"Parquet, {name}", dp.scan(folder / f"{name}.parquet", "x")
    for i in range(3):
        pq.write_table(table[i * 2000 : (i + 1) * 2000], folder / f"part{i}.parquet")
    yield "parts", dp.scan(folder / "part*.parquet", "x")
    with pa.ipc.new_file(folder / "x.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=700)
    yield "IPC", dp.scan(folder / "x.arrow", "x")
    np.save(folder / "x.npy", np.rec.fromarrays(list(TABLE.values()), names=list(TABLE)))
    yield "npy", dp.scan(folder / "x.npy", "x")
    pa.csv.write_csv(table, folder / "x.csv")
    yield "CSV", dp.scan(folder / "x.csv", "x")
    kinds = {"city": pd.CategoricalDtype(["Aix", "Bonn", "Como", "Oslo"]), "year": "Int64"}
    yield "Dask", of_dask([FRAME[:4000], FRAME[4000:].astype(kinds)])


ASKED = {
    "n": dp.stat.count(),
    "mean": dp.stat.mean("x", **BOUNDS),
    "median": dp.stat.median("x", **BOUNDS),
    "people": dp.stat.count_distinct(),
    "automatic": dp.stat.mean("x", bounds="auto"),
}


def released(table, by=("city", "year"), keys=(["Como", "Aix"], [2020, 2021, 9]), **kw):
    keys = None if keys is None else list(keys)
    given = {"ids": "who", "max_groups": 2, "max_rows": 3, **kw}
    groups = dp.group_by(table, list(by), keys=keys, **given)
    return groups.agg(ASKED, epsilon=3, delta=1e-4, rng=InsecureGenerator(4))


def same(a, b):
    """The same numbers; keys may be of other types."""
    return list(a) == list(b) and all(
        x.tolist() == y.tolist()
        if x.dtype.kind in "iuf"
        else list(map(str, x)) == list(map(str, y))
        for x, y in zip(a.values(), b.values(), strict=True)
    )


def plain(table, keys):
    """Without people, whose ids are text in a file of text, and so others."""
    asked = {name: one for name, one in ASKED.items() if name != "people"}
    groups = dp.group_by(table, "city", keys=keys)
    return groups.agg(asked, epsilon=3, delta=1e-4, rng=InsecureGenerator(4))


@pytest.mark.full
def test_all_forms_give_the_same_bits(tmp_path):
    public, private = released(TABLE), released(TABLE, keys=None, by=["city"])
    assert len(public["n"]) == 6 and private["city"].tolist() == ["Aix", "Bonn", "Como"]
    days = released(TABLE, by=["day"], keys=DAY[:1])
    for form, table in forms(tmp_path):
        for keys in (["Como"], None):
            assert same(plain(table, keys), plain(TABLE, keys)), form
        if form not in ("CSV", "Dask"):  # where partitions choose rows by numbers of their own
            assert same(released(table), public), form
            assert same(released(table, keys=None, by=["city"]), private), form
            assert same(released(table, by=["day"], keys=DAY[:1]), days), form
    whole = dp.group_by(dp.scan(tmp_path / "x.csv", "x"), "year", keys=[2020, 1789])
    assert whole.count(**LARGE)["count"].tolist() == [int((YEAR == 2020).sum()), 0]


@pytest.mark.full
def test_any_cut_any_number_of_threads_and_ids_beside_give_the_same_bits(monkeypatch, tmp_path):
    asks = (
        lambda: released(TABLE),
        lambda: released(TABLE, keys=None),
        lambda: released(TABLE, ids=WHO),
        lambda: released(TABLE, ids=WHO.tolist()),
    )
    due = [ask() for ask in asks]
    assert same(due[0], due[2]) and same(due[0], due[3])
    for rows, threads in ((7, 1), (1000, 3), (N, 2)):
        monkeypatch.setattr(in_memory, "ROWS", rows)
        monkeypatch.setattr(in_memory, "split", lambda rows, threads=threads: threads)
        assert [same(ask(), one) for ask, one in zip(asks[:2], due, strict=False)] == [True] * 2


def test_numbers_of_rows_that_a_cut_changes_are_found(monkeypatch):
    """Planted: rows are numbered within their batch."""
    add, due = Bounding.add, released(TABLE)

    def within(self, low, high, codes, start, present=None):
        add(self, low, high, codes, 0, present)

    monkeypatch.setattr(Bounding, "add", within)
    assert same(released(TABLE), due)
    monkeypatch.setattr(in_memory, "ROWS", 1000)
    assert not same(released(TABLE), due)


# ---- Answers. ----


def test_answers_go_into_tables_of_others():
    answer = released(TABLE)
    frame = pd.DataFrame(answer)
    assert list(frame) == list(answer) and len(frame) == 6
    assert pl.DataFrame(answer).columns == list(answer)
    assert pa.table(answer).column_names == list(answer)
    private = dp.group_by(TABLE, ["city", "day"]).count(epsilon=9, delta=1e-6)
    for table in (pd.DataFrame(private), pl.DataFrame(private), pa.table(private).to_pandas()):
        assert len(table) == private.groups == 9
    assert isinstance(answer, Answer) and isinstance(answer, dict)


def test_private_keys_ascend_column_by_column():
    found = dp.group_by(TABLE, ["year", "city", "yes"]).count(epsilon=9, delta=1e-6)
    keys = list(zip(*(found[name].tolist() for name in ("year", "city", "yes")), strict=True))
    assert keys == sorted(keys) and len(keys) == 18
    mixed = dp.select_keys(["b", 2, b"a", "a", 1] * 99, epsilon=9, delta=1e-6)
    assert mixed.tolist() == [1, 2, "a", "b", b"a"]


def test_what_is_shown_is_escaped_and_cut():
    table = {"<b>": ["<i>&", "b"] * 99}
    answer = dp.group_by(table, "<b>", keys=["<i>&", "b"]).count(**LARGE)
    shown = answer._repr_html_()
    assert "&lt;b&gt;" in shown and "&lt;i&gt;&amp;" in shown and "<b>" not in shown
    assert repr(answer).splitlines()[1].startswith("<i>&") and "(2 groups)" in repr(answer)
    long = dp.group_by({"k": [1]}, "k", keys=range(1000)).count(**LARGE)
    assert len(repr(long).splitlines()) == 23 and "..." in repr(long)
    groups = dp.group_by(TABLE, ["city", "year"], ids="who", max_groups=2)
    assert repr(groups) == "GroupBy('city', 'year'; private keys, people of 'who')"


# ---- What is refused: one clear sentence, before anything is spent or read. ----


GROUPS = {"data": TABLE, "by": "city", "keys": ["Aix"]}
PEOPLE = {**GROUPS, "ids": "who", "max_groups": 2, "max_rows": 3}
PRIVATE = {"data": TABLE, "by": "city"}
EPSILON, DELTA = {"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}
COUNT = {"n": dp.stat.count()}
MEAN = {"m": dp.stat.mean("x", **BOUNDS)}


def agg(given, statistics=COUNT, loss=EPSILON, **kw):
    return lambda budget: dp.group_by(**given).agg(statistics, **loss, budget=budget, **kw)


REFUSED = {
    "no such key column": (agg({**GROUPS, "by": "citty"}), "by", "city"),
    "no such id column": (agg({**PEOPLE, "ids": "whoo"}), "ids", "who"),
    "no such column": (agg(GROUPS, {"m": dp.stat.mean("xx", **BOUNDS)}), "column", "x"),
    "the same column twice": (agg({**GROUPS, "by": ["city", "city"]}), "by", "different"),
    "no columns": (agg({**GROUPS, "by": []}), "by", "name"),
    "keys twice": (agg({**GROUPS, "keys": ["Aix", "Aix"]}), "keys", "different"),
    "one key in two forms": (agg({**GROUPS, "keys": ["Aix", "Aix\0"]}), "keys", "null character"),
    "a missing key": (agg({**GROUPS, "keys": ["Aix", None]}), "keys", "missing"),
    "no keys": (agg({**GROUPS, "keys": []}), "keys", "at least one"),
    "numbers for text": (agg({**GROUPS, "keys": [1, 2]}), "keys", "text"),
    "text for numbers": (agg({**GROUPS, "by": "year", "keys": ["2020"]}), "keys", "integers"),
    "floats for keys": (agg({**GROUPS, "by": "year", "keys": [2020.0]}), "keys", "integers"),
    "a column of floats": (agg({**GROUPS, "by": "x", "keys": [1]}), "column 'x'", "integers"),
    "one text": (agg({**GROUPS, "keys": "Aix"}), "keys", "list"),
    "short tuples": (
        agg({**GROUPS, "by": ["city", "year"], "keys": [("Aix",)]}),
        "keys",
        "tuples of 2",
    ),
    "three lists for two": (
        agg({**GROUPS, "by": ["city", "year"], "keys": [["Aix"], [1], [2]]}),
        "keys",
        "2 columns",
    ),
    "a table without the column": (agg({**GROUPS, "keys": {"town": ["Aix"]}}), "keys", "city"),
    "no table": (agg({**GROUPS, "data": X}), "data", "table"),
    "no delta": (agg(PRIVATE), "delta", "greater than 0"),
    "rho and private keys": (agg(PRIVATE, loss={"rho": 1}), "delta", "rho"),
    "private keys of people": (agg({**PRIVATE, "ids": "who"}, loss=DELTA), "max_groups", "given"),
    "max_groups of rows": (agg({**GROUPS, "max_groups": 2}), "max_groups", "without ids"),
    "max_rows of rows": (agg({**GROUPS, "max_rows": 2}), "max_rows", "without ids"),
    "no max_rows": (agg({**GROUPS, "ids": "who"}, MEAN), "max_rows", "given"),
    "no people": (agg(GROUPS, {"n": dp.stat.count_distinct()}), "ids", "people"),
    "max_groups 0": (agg({**PEOPLE, "max_groups": 0}), "max_groups", "1"),
    "ids of floats": (agg({**PEOPLE, "ids": "x"}), "ids", "integers"),
    "no statistics": (agg(GROUPS, {}), "statistics", "mapping"),
    "a list of statistics": (agg(GROUPS, [dp.stat.count()]), "statistics", "mapping"),
    "what is none": (agg(GROUPS, {"n": np.mean}), "statistics", "dpfast.stat"),
    "the name of the keys": (agg(GROUPS, {"city": dp.stat.count()}), "statistics", "one name"),
    "private keys' weight": (agg(PRIVATE, {"keys": dp.stat.count()}, DELTA), "statistics", "keys"),
    "a weight of nothing": (agg(GROUPS, weights={"m": 1}), "weights", "'n'"),
    "a weight of public keys": (agg(GROUPS, weights={"keys": 1}), "weights", "'n'"),
    "a weight of 0": (agg(GROUPS, weights={"n": 0}), "weights", "greater than 0"),
    "text for a mean": (agg(GROUPS, {"m": dp.stat.mean("city", **BOUNDS)}), "column", "numbers"),
    "a mask of numbers": (agg(GROUPS, where=X), "where", "bool"),
    "words of numbers": (
        agg(GROUPS, {"h": dp.stat.histogram("x", categories=["a"])}),
        "categories",
        "numbers, as the column 'x' is",
    ),
    "too many for top": (
        lambda budget: dp.group_by(**GROUPS).top_k(2, epsilon=1, budget=budget),
        "k",
        "at most",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_costs_nothing_and_reads_nothing(name, monkeypatch):
    def read(*_):
        raise AssertionError("the rows are read")

    call, argument, rule = REFUSED[name]
    monkeypatch.setattr(batches.Batches, "reduce", read)
    budget = dp.Budget(epsilon=10, delta=0.1) if "rho" not in name else dp.Budget(rho=10)
    with pytest.raises(DpfastError) as caught:
        call(budget)
    text = str(caught.value)
    assert isinstance(caught.value, (ArgumentError, ArgumentTypeError))
    assert text.startswith(argument) and "must be" in text and rule in text, text
    assert "\n" not in text and len(text) < 300 and not budget.history
    assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_a_budget_of_rows_pays_for_no_people_and_the_other_way():
    rows, people = dp.Budget(epsilon=9), dp.Budget(epsilon=9, ids="who")
    agg(GROUPS)(rows)
    agg(PEOPLE)(people)
    for call, budget in ((agg(PEOPLE), rows), (agg(GROUPS), people)):
        with pytest.raises(BudgetError):
            call(budget)
        assert len(budget.history) == 1
    with pytest.raises(BudgetError):
        agg({**PEOPLE, "ids": "year"})(people)
    agg({**PEOPLE, "neighbors": "add-remove"})(people)
    assert len(people.history) == 2


@pytest.mark.parametrize("keys", [["Aix"], None])
@pytest.mark.parametrize("name", ["mean", "median", "variance"])
def test_missing_rows_are_dropped_and_refused_where_that_is_asked_for(name, keys):
    table = {**TABLE, "x": np.where(np.arange(N) == 77, np.nan, X)}
    groups = dp.group_by(table, "city", keys=keys)
    call = getattr(groups, name)
    budget = dp.Budget(epsilon=10, delta=0.1)
    with pytest.raises(DataError, match="is not refunded"):
        call("x", **BOUNDS, nan="raise", **DELTA, budget=budget)
    assert len(budget.history) == 1
    for policy in (None, "drop", "lower", 7.0):
        call("x", **BOUNDS, nan=policy, **DELTA, budget=budget)
    # In no group it is no matter.
    table["city"] = np.where(np.arange(N) == 77, "Oslo", CITY)
    if keys is not None:
        getattr(dp.group_by(table, "city", keys=keys), name)("x", nan="raise", **BOUNDS, **DELTA)


def test_numbers_that_are_not_0_and_missing_ones():
    table = {"key": [1, 1, 1, 2, 2], "x": np.array([0, 3, np.nan, 0, -0.0])}
    groups = dp.group_by(table, "key", keys=[1, 2])
    for nan, due in (("keep", [2, 0]), ("drop", [1, 0])):
        found = groups.count_nonzero("x", nan=nan, **LARGE)
        np.testing.assert_array_equal(found["count_nonzero"], due)
    several = groups.percentile("x", [50, 99.9], bounds=(0, 4), nan="drop", **LARGE)
    assert list(several) == [
        "key",
        "percentile 0.5",
        "percentile 0.999",
        "percentile error in ranks",
    ]
    for wrong, error in (([], ArgumentError), (101, ArgumentError), ("x", ArgumentTypeError)):
        with pytest.raises(error, match=r"q(\[0\])? must be"):
            dp.stat.percentile("x", wrong, bounds=(0, 1))
    with pytest.raises(ArgumentError, match="nan must be one of"):
        dp.stat.count_nonzero("x", nan="raise")


@pytest.mark.parametrize("ddof", [1, 2**31, 2**62, 10**400])
def test_more_than_all_rows_may_be_left_out_of_the_number(ddof):
    """Numbers of rows that float64 cannot tell from one more than they are."""
    rows = {"k": np.array(["a", "b"] * 50), "x": np.arange(100.0)}
    groups = dp.group_by(rows, "k", keys=["a", "b", "c"])
    answer = groups.variance("x", bounds=(0, 100), ddof=ddof, epsilon=1)
    assert np.isfinite(answer["variance"]).all() and np.isfinite(answer["variance error"]).all()


# ---- A count of a column is about the rows with a value, as in pandas. ----


@pytest.mark.parametrize("form", ["memory", "arrow", "duckdb"])
def test_a_count_of_a_column_leaves_out_missing_values(form):
    days = [datetime.datetime(2024, 2, 29), None, None, datetime.datetime(2024, 3, 1)] * 20
    kinds = {"k": "string", "who": "int64", "x": "float64", "day": "timestamp(6)"}
    data = {"k": ["a", "b"] * 40, "who": [*range(80)], "x": [1.0, None, 2.0, 3.0] * 20, "day": days}
    rows = {**data, "x": np.array(data["x"], float), "day": np.array(days, "M8[us]")}
    if form == "arrow":
        rows = pytest.importorskip("pyarrow").table(data)
    elif form == "duckdb":
        from ..support.databases import connect, table

        rows = table(connect(form), {name: (kinds[name], data[name]) for name in kinds})
    for people in ({}, {"ids": "who", "max_rows": 1}):
        groups = dp.group_by(rows, "k", keys=["a", "b"], **people)
        assert groups.count("x", epsilon=400)["count"].tolist() == [40, 20]
        assert groups.count("day", epsilon=400)["count"].tolist() == [20, 20]
        assert groups.count("x", nan="keep", epsilon=400)["count"].tolist() == [40, 40]
        assert groups.count(epsilon=400)["count"].tolist() == [40, 40]
    assert dp.stat.count("x") == dp.stat.count("x", nan="drop") != dp.stat.count("x", nan="keep")
    assert dp.count([1.0, np.nan], epsilon=400) == 2


TEXTS = ["x", None, "", "y"] * 20
FORMS = {
    "list": lambda: TEXTS,
    "objects": lambda: pd.Series(TEXTS, dtype=object),
    "text": lambda: pd.Series(TEXTS, dtype="str"),
    "arrow": lambda: pa.array(TEXTS),
    "dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "masked": lambda: np.ma.masked_array(["x", "", "", "y"] * 20, [False, True, False, False] * 20),
    "days": lambda: [None if text is None else datetime.date(2024, 1, 1) for text in TEXTS],
    "mixed": lambda: [1.5, np.nan, "x", pd.NaT] * 10 + [pd.NA, None, b"y", ()] * 10,
}


@pytest.mark.parametrize("name", FORMS)
def test_a_count_of_a_column_may_be_of_text(name):
    table = {"k": ["a", "b"] * 40, "t": FORMS[name](), "x": np.arange(80.0)}
    known = {"a": 40, "b": 20} if name != "mixed" else {"a": 30, "b": 10}
    own = {"nan": "drop", "bounds": (0, 80)}
    groups = dp.group_by(table, "k", keys=["a", "b"])
    found = groups.agg({"n": dp.stat.count("t"), "m": dp.stat.mean("x", **own)}, epsilon=400)
    assert found["n"].tolist() == list(known.values())
    missing = groups.count("t", nan="only", epsilon=400)["count"]
    assert missing.tolist() == [40 - n for n in known.values()]
    if name in ("text", "arrow"):
        with pytest.raises(ArgumentTypeError, match="must be numbers"):
            groups.count_nonzero("t", epsilon=1)


def test_a_count_of_cells_of_a_file_of_text_is_of_text_or_of_numbers(tmp_path):
    frame = pd.DataFrame({"k": ["a", "b"] * 40, "t": ["x", None, "y", "z"] * 20, "x": range(80)})
    frame.loc[:7, "x"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    groups = dp.group_by(dp.scan(tmp_path / "t.csv"), "k", keys=["a", "b"])
    counts = {"t": dp.stat.count("t"), "x": dp.stat.count("x"), "k": dp.stat.count("k")}
    found = groups.agg({f"n of {name}": one for name, one in counts.items()}, epsilon=400)
    assert [found[f"n of {name}"].tolist() for name in counts] == [[40, 20], [36, 36], [40, 40]]
    own = {"nan": "drop", "bounds": (0, 80)}
    found = groups.agg({"n": counts["x"], "m": dp.stat.mean("x", **own)}, epsilon=400)
    assert found["n"].tolist() == [36, 36]


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_count_of_text_in_a_database(engine):
    from ..support.databases import connect, table

    texts, keys = ["x", None, "", "y"] * 20, ["a", "b"] * 40
    kinds = {"k": ("string", keys), "t": ("string", texts), "who": ("int64", [*range(80)])}
    rows = table(connect(engine), kinds)
    for people in ({}, {"ids": "who", "max_rows": 2}):
        groups = dp.group_by(rows, "k", keys=["a", "b"], **people)
        assert groups.count("t", epsilon=400)["count"].tolist() == [40, 20]
        assert groups.count("t", nan="only", epsilon=400)["count"].tolist() == [0, 20]
        if engine != "sqlite":  # where each row has a type of its own
            with pytest.raises(ArgumentTypeError, match="numbers"):
                groups.count_nonzero("t", epsilon=1)
