"""Statistics of each column of a table: exact answers, equal parts of the loss, errors."""

from fractions import Fraction
from functools import partial
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import DataError
from dpfast.measurement import linear, statistic
from dpfast.privacy import ZCDP, Approx, Draws
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals import api

from ..support.lazy import pl
from ..support.noise import Recorder
from ..support.pairwise import every_value, pairwise
from ..support.refused import refused
from .test_totals import RELATIONS, STATISTICS, expected
from .test_totals import recorded as of_one_column

BOUNDS = [(-1.0, 2.5), (0.0, 1000.0), (-7.0, -3.0)]


def test_a_count_of_all_rows_is_drawn_once():
    data, rng = np.zeros((50, 3)), InsecureGenerator(1)
    for kw in [{}, {"where": np.arange(50) < 20}]:
        found = api.count(data, axis=0, epsilon=0.1, rng=rng, **kw)
        assert found.shape == (3,) and len(set(found.tolist())) == 1
    assert api.count(data, axis=0, epsilon=1, neighbors="replace").tolist() == [50] * 3
    spread = [api.count(data, axis=-2, epsilon=0.1, rng=rng)[0] for _ in range(2000)]
    assert np.var(spread) == pytest.approx(200, rel=0.2)


@pairwise
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ["sum", "mean", "variance"])
@pytest.mark.parametrize("masked", [False, True])
def test_without_noise_it_is_the_statistic_of_each_column(name, relation, masked):
    data = np.random.default_rng(0).normal(0, 1, (300, 3)) * [1, 500, 2] - [0, 0, 5]
    where = data[:, 0] > 0 if masked else None
    kw = {"neighbors": relation, "where": where}
    with (
        patch.object(linear, "plan", linear.plan.__wrapped__),
        patch.object(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__),
        patch.object(linear, "choose_noise", Recorder()),
    ):
        found = STATISTICS[name](data, epsilon=1, axis=0, bounds=BOUNDS, **kw)
    assert found.dtype == np.float64
    for j, bounds in enumerate(BOUNDS):
        alone = of_one_column(name, data[:, j], bounds=bounds, **kw)[2]
        assert found[j] == alone == expected(name, data[:, j], relation, where, bounds)


MATRIX = np.zeros((3, 2))
OF_TWO, W = {"a": [1.0], "w": [1.0]}, {"weights": "w"}


@pytest.mark.parametrize(("name", "kw", "words"), [
    *((name, *case) for name in ("count", "mean") for case in (
        ({"axis": None}, "got 2 columns: choose one, as data.*, or pass axis=0 for each"),
        ({"axis": 1}, "axis must be 0 .or -2., for an answer of each column, or .* got 1"),
        ({"axis": (0, 1)}, "axis must be 0"), ({"data": np.zeros(3)}, "left out for one"),
        ({"data": [1.0, 2.0, 3.0]}, "does not declare its columns"),
        ({"data": {"a": [1.0], "b": np.array(["x"])}}, "column 'b' of data"),
        ({"data": {}}, "one column of numbers"), ({"data": np.zeros((3, 0))}, "without columns"),
        ({"data": np.zeros((3, 2), complex, order="F")}, "real numbers"),
        ({"data": np.zeros((3, 2), complex)}, "complex"),
        ({"data": np.zeros((3, 2, 2))}, "axis must be 0|dimensions"))),
    ("mean", {"bounds": [(0, 1)] * 3}, "one for each column of the data, 2"),
    ("mean", {"bounds": [(0, 1)] * 2, "data": np.zeros(3), "axis": None}, "bounds"),
    ("mean", {"data": {**OF_TWO, "b": [2.0]}, **W, "axis": None}, "axis must be 0"),
    ("mean", {"data": OF_TWO, "weights": "x"}, "name of a column"),
    ("mean", {"data": {"w": [1.0]}, **W}, "one of several columns"),
    ("mean", W, "name of a column"), ("mean", {"weights": MATRIX}, "one number for each row"),
    ("mean", {"data": np.zeros(3), **W, "axis": None}, "name of a column"),
    ("mean", {"weights": np.ones(2)}, "weights must be as long as the data, 3 rows"),
    ("mean", {"weights": np.ones(3), "axis": None}, "or pass axis=0"),
])  # fmt: skip
def test_bad_arguments_cost_nothing(name, kw, words):
    given = {"data": MATRIX, "axis": 0, "epsilon": 0.5, "neighbors": "replace", **kw}
    if "weights" in kw:
        given["weight_bounds"] = (0, 1)
    if name == "mean":
        given = {"bounds": (0, 5), **given}
    elif given["axis"] is None:
        given["nan"] = "drop"  # else rows are counted
    refused(STATISTICS[name], words, **given)


def test_weights_of_rows_that_are_counted_when_they_are_read(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n2\n3\n")
    kw = {"weight_bounds": (0, 1), "bounds": (0, 1), "epsilon": 1}
    for count in (2, 4):
        with pytest.raises(DataError, match="weights must have one entry for each row"):
            api.sum(dp.scan(tmp_path / "t.csv", "a"), weights=np.ones(count), **kw)


N = 3000
ROWS = np.random.default_rng(3).normal([[40, 1.5, -7]], [[10, 0.5, 2]], (N, 3)).round(2)
PAIRS = [(0.0, 120.0), (-10.0, 10.0), (-50.0, 50.0)]
RELEASES = {
    "minimum": dp.minimum, "maximum": partial(dp.maximum, method="smooth"), "iqr": dp.iqr,
    "trimmed": partial(dp.trimmed_mean, proportion=0.2), "winsorized": dp.winsorized_mean,
}  # fmt: skip
#: What is asked, and a column's part of it, for three columns.
LOSSES = {
    "pure": ({"epsilon": 3}, {"epsilon": 1}),
    "approximate": ({"epsilon": 3, "delta": 3e-6}, {"epsilon": 1, "delta": Fraction("1e-6")}),
    "rho": ({"rho": 1.5}, {"rho": 0.5}),
}


@pairwise
@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("masked", [False, True])
def test_a_column_is_answered_and_charged_as_if_alone(name, loss, relation, masked):
    function, (whole, part) = RELEASES[name], LOSSES[loss]
    where = np.arange(N) % 3 > 0 if masked else None
    rest = {"neighbors": relation, "where": where}
    got = function(ROWS, bounds=PAIRS, axis=0, rng=InsecureGenerator(5), **whole, **rest)
    stream, columns = InsecureGenerator(5), [np.array(column) for column in ROWS.T]
    each = zip(columns, PAIRS, strict=True)
    alone = [function(x, bounds=pair, rng=stream, **part, **rest) for x, pair in each]
    assert got.dtype == np.float64 and got.tolist() == alone
    limits = {"rho": 9} if loss == "rho" else {"epsilon": 9, "delta": 1e-3}
    budget = dp.Budget(neighbors=relation, **limits)
    together = budget.cost(function, ROWS, bounds=PAIRS, axis=0, **whole, where=where)
    one = budget.cost(function, columns[0], bounds=PAIRS[0], **part, where=where)
    if loss == "rho":
        assert isinstance(together, ZCDP) and together.rho == 3 * one.rho <= Fraction(3, 2)
        return
    assert together.epsilon == 3 * one.epsilon == 3
    if isinstance(one, Approx):
        assert together.delta == 3 * one.delta <= Fraction("3e-6")
    else:
        assert isinstance(together, Draws)
        assert together.draws == 3 * getattr(one, "draws", 1)
        assert together.to_zcdp().rho == 3 * one.to_zcdp().rho


def test_a_budget_in_rho_adds_draws_up_one_by_one():
    budget = dp.Budget(rho=1)
    dp.minimum(ROWS, bounds=PAIRS, axis=0, epsilon=0.3, budget=budget)
    alone = ZCDP.of_pure(Draws(Fraction(1, 10), bounded_range=True)).rho
    assert alone * 2 < budget.spent["rho"] <= alone * 3 * (1 + Fraction(1, 10**9))


@every_value
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("method", ["auto", "recursive", "joint"])
@pytest.mark.parametrize("whole", [{"epsilon": 3}, {"rho": 1.5}], ids=str)
def test_several_quantiles_of_a_column_are_those_of_it_alone(relation, method, whole):
    """An answer is as NumPy's: a row for each quantile and a column for each column."""
    qs, rows, rest = [0.9, 0.25, 0.5], ROWS[:40], {"neighbors": relation, "method": method}
    given = {"bounds": PAIRS, "axis": 0, **whole, **rest}
    got = dp.quantiles(rows, qs, rng=InsecureGenerator(5), **given)
    assert got.shape == np.quantile(rows, qs, axis=0).shape == (3, 3)
    stream, part = InsecureGenerator(5), {name: number / 3 for name, number in whole.items()}
    for j, pair in enumerate(PAIRS):
        alone = dp.quantiles(np.array(rows[:, j]), qs, bounds=pair, rng=stream, **part, **rest)
        assert got[:, j].tolist() == alone.tolist()
    named = dp.percentile(rows, [90, 25, 50], rng=InsecureGenerator(5), **given)
    assert named.tolist() == got.tolist()
    # Planted: the columns in another order have other answers.
    turned = dp.quantiles(rows[:, ::-1], qs, rng=InsecureGenerator(5), **given)
    assert turned.tolist() != got.tolist()


TOWNS = np.array(["Ulm", "Bonn", "Kiel"] * 40)
TABLE = {"age": np.arange(120.0), "town": TOWNS, "who": np.arange(120) // 2}


def test_the_rows_of_a_table_are_counted_in_any_form(tmp_path):
    arrow, frame = pa.table(TABLE), pd.DataFrame(TABLE)
    pq.write_table(arrow, tmp_path / "t.parquet")
    pacsv.write_csv(arrow, tmp_path / "t.csv")
    whole = [TABLE, {key: column.tolist() for key, column in TABLE.items()}, frame, arrow,
             pl.DataFrame(TABLE), pl.DataFrame(TABLE).lazy(),
             *(dp.scan(tmp_path / file, [*TABLE]) for file in ("t.parquet", "t.csv"))]  # fmt: skip
    others = [frame[["age"]].to_records(index=False), dp.scan(tmp_path / "t.csv", column="town")]
    for table in whole + others:
        kw = {"epsilon": 100, "rng": InsecureGenerator(3)}
        assert abs(dp.count(table, **kw) - 120) < 2
        assert dp.count(table, neighbors="replace", **kw) == 120
        assert abs(dp.count(table, where=TOWNS == "Ulm", **kw) - 40) < 2
        if not any(table is other for other in others):
            assert abs(dp.count(table, ids="who", max_rows=1, **kw) - 60) < 3


def test_tables_where_a_column_should_be_and_columns_where_a_table_should_be():
    kw = {"neighbors": "replace", "epsilon": 1}
    assert dp.count(TOWNS, **kw) == dp.count(pd.Series(TOWNS), **kw) == 120
    assert dp.count(np.ones((5, 3)), **kw) == 5
    towns, frame = pd.DataFrame(TABLE), pd.DataFrame({"a": [1.0, 2], "b": [1.0, 2]})
    median = partial(dp.median, bounds=(0, 9))
    for call, text in (
        (partial(dp.count, towns, axis=0), "column 'town'"),
        *((partial(call, towns), "or pass axis=0")
          for call in (partial(dp.count, nan="drop"), dp.count_nonzero)),
        (partial(dp.count, {}), "a table with at least one column"),
        (partial(dp.count, np.ones((2, 2, 2))), "one or two dimensions"),
        (partial(median, np.arange(9.0), axis=0), "axis must be left out"),
        (partial(dp.quantile, frame, 0.5, axis=1, bounds=(0, 9)), "axis must be 0"),
        (partial(dp.percentile, frame, [5, 50], bounds=(0, 9)), "or pass axis=0"),
        (partial(median, [frame.a, frame.b], axis=0), "does not declare its columns"),
    ):  # fmt: skip
        refused(call, text, epsilon=1)
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="for several columns, pass an array or a table"):
        median([frame.a, frame.b], epsilon=1)
    with pytest.raises(DataError, match="have the same number of rows"):  # which may be private
        dp.count({"a": [1.0], "b": [1.0, 2.0]}, epsilon=1, budget=budget)
    assert len(budget.history) == 1
