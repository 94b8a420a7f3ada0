"""Tables where a column was: rows that are counted, quantiles of each column, lists of columns."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator

from ..support.views import quoted


def forms(table, folder):
    """A table in every form that has one, with the file that is scanned."""
    arrow = pa.table(table)
    pq.write_table(arrow, folder / "table.parquet")
    pacsv.write_csv(arrow, folder / "table.csv")
    yield "mapping", table
    yield "lists", {key: column.tolist() for key, column in table.items()}
    yield "pandas", pd.DataFrame(table)
    yield "Polars", pl.DataFrame(table)
    yield "lazy", pl.DataFrame(table).lazy()
    yield "Arrow", arrow
    yield "records", pd.DataFrame(table).select_dtypes("number").to_records(index=False)
    yield "Parquet", dp.scan(folder / "table.parquet", column=list(table))
    yield "CSV", dp.scan(folder / "table.csv", column=list(table))
    yield "text of CSV", dp.scan(folder / "table.csv", column="town")


TOWNS = np.array(["Ulm", "Bonn", "Kiel"] * 40)
TABLE = {"age": np.arange(120.0), "town": TOWNS, "who": np.arange(120) // 2}


def test_the_rows_of_a_table_are_counted_in_any_form(tmp_path):
    for name, table in forms(TABLE, tmp_path):
        kw = {"epsilon": 100, "rng": InsecureGenerator(3)}
        assert abs(dp.count(table, **kw) - 120) < 2, name
        assert dp.count(table, neighbors="replace", **kw) == 120, name
        assert abs(dp.count(table, where=TOWNS == "Ulm", **kw) - 40) < 2, name
        if name not in ("records", "text of CSV"):
            assert abs(dp.count(table, ids="who", max_rows=1, **kw) - 60) < 3, name


def test_what_is_counted_may_hold_anything_and_an_axis_asks_for_numbers():
    assert dp.count(TOWNS, neighbors="replace", epsilon=1) == 120
    assert dp.count(pd.Series(TOWNS), neighbors="replace", epsilon=1) == 120
    assert dp.count(np.ones((5, 3)), neighbors="replace", epsilon=1) == 5
    assert dp.count(np.ones((5, 3)), axis=0, neighbors="replace", epsilon=1).tolist() == [5] * 3
    budget = dp.Budget(epsilon=1)
    for wrong, said in (
        (lambda **kw: dp.count(pd.DataFrame(TABLE), axis=0, **kw), "column 'town'"),
        (lambda **kw: dp.count(pd.DataFrame(TABLE), nan="drop", **kw), "or pass axis=0"),
        (lambda **kw: dp.count_nonzero(pd.DataFrame(TABLE), **kw), "or pass axis=0"),
        (lambda **kw: dp.count({}, **kw), "a table with a column"),
        (lambda **kw: dp.count(np.ones((2, 2, 2)), **kw), "one or two dimensions"),
        (lambda **kw: dp.count("table.csv", **kw), "dpfast.scan"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=said):
            wrong(epsilon=1, budget=budget)
    assert not budget.history
    with pytest.raises(DataError, match="as many rows each"):  # which may be private
        dp.count({"a": [1.0], "b": [1.0, 2.0]}, epsilon=1, budget=budget)
    assert len(budget.history) == 1


@pytest.mark.parametrize("loss", [{"epsilon": 60}, {"epsilon": 60, "delta": 1e-6}, {"rho": 90}])
@pytest.mark.parametrize("method", ["exponential", "smooth"])
def test_medians_of_columns_are_those_of_each_for_equal_parts_of_the_loss(loss, method):
    array = np.stack([np.arange(1001.0), 50 + np.arange(1001.0) / 10], axis=1)
    limits = [(0, 2000), (0, 300)]
    budget = dp.Budget(neighbors="add-remove", **loss)
    found = dp.median(array, axis=0, bounds=limits, method=method, budget=budget, **loss)
    assert found.shape == (2,) and found.dtype == np.float64
    # Cauchy noise of scale 3e-7 at most: off by 20 with a chance of 1e-8.
    np.testing.assert_allclose(found, np.median(array, axis=0), atol=20)
    for name in ("epsilon", "rho"):
        if name in loss:
            assert budget.spent[name] == loss[name]
    part = {name: value / 2 for name, value in loss.items()}
    kw = {"bounds": limits[0], "method": method, **part}
    two = quoted(dp.median, array[:, 0], **kw)
    each = quoted(dp.median, array, axis=0, bounds=limits, method=method, **loss).columns
    assert each[0] == two and len(each) == 2
    frame = pd.DataFrame(array, columns=["a", "b"])
    kw = {"axis": 0, "bounds": limits, "method": method, **loss}
    for other in (frame, pl.DataFrame(frame), {"a": array[:, 0], "b": array[:, 1]}, array.tolist()):
        np.testing.assert_array_equal(
            dp.median(other, rng=InsecureGenerator(5), **kw),
            dp.median(array, rng=InsecureGenerator(5), **kw),
        )
    np.testing.assert_array_equal(
        dp.percentile(array, 50, rng=InsecureGenerator(5), **kw),
        dp.median(array, rng=InsecureGenerator(5), **kw),
    )


def test_columns_without_an_axis_and_an_axis_without_columns_are_refused():
    frame, x = pd.DataFrame({"a": [1.0, 2], "b": [1.0, 2]}), np.arange(9.0)
    for wrong, said in (
        (lambda **kw: dp.median(frame, **kw), "or pass axis=0"),
        (lambda **kw: dp.median(frame.to_numpy(), **kw), "or pass axis=0"),
        (lambda **kw: dp.median(x, axis=0, **kw), "axis must be left out"),
        (lambda **kw: dp.quantile(frame, 0.5, axis=1, **kw), "axis must be 0"),
        (lambda **kw: dp.percentile(frame, [5, 50], **kw), "or pass axis=0"),
        (lambda **kw: dp.median([frame.a, frame.b], axis=0, **kw), "does not say what its columns"),
    ):
        budget = dp.Budget(epsilon=1)
        with pytest.raises((ArgumentError, ArgumentTypeError), match=said):
            wrong(bounds=(0, 9), epsilon=1, budget=budget)
        assert not budget.history
    with pytest.raises(DataError, match="for rows of several, pass an array or a table"):
        dp.median([frame.a, frame.b], bounds=(0, 9), epsilon=1)
