"""What a pass reads that looks at some columns only."""

from __future__ import annotations

import numpy as np
import pytest

import dpfast as dp
from dpfast.tables.data import as_rows
from dpfast.tables.table import only

X = np.random.default_rng(0).uniform(size=(5000, 3))
TABLE = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate("abc")}


def chunks(source):
    return source.reduce(lambda chunk: [chunk], lambda a, b: a + b)


@pytest.fixture
def parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(TABLE), tmp_path / "t.parquet", row_group_size=999)
    return dp.scan(tmp_path / "t.parquet", ["a", "b", "c"])


def test_one_column_of_a_table_is_read_where_it_lies():
    (chunk,) = chunks(only(as_rows(TABLE), {"b"}))
    assert chunk.rows.dtype.names == ("b",) and np.shares_memory(chunk.rows, TABLE["b"])
    (whole,) = chunks(only(as_rows(TABLE), None))
    assert whole.rows.dtype.names == ("a", "b", "c")


@pytest.mark.parametrize(("columns", "read"), [({"b"}, "b"), ({"c", "a"}, "ac"), (set(), "a")])
def test_columns_of_a_table_that_nobody_looks_at_are_not_read(columns, read, parquet):
    for data in (TABLE, parquet):
        found = chunks(only(as_rows(data), columns))
        assert all(chunk.rows.dtype.names == tuple(read) for chunk in found)
        for name in read:
            whole = np.concatenate([c.rows[name] for c in sorted(found, key=lambda c: c.start)])
            assert (whole == TABLE[name]).all()


def test_a_matrix_in_any_order_is_not_copied():
    for matrix in (np.asfortranarray(X), X[::2], X[:, ::-1], X):
        (chunk,) = chunks(only(as_rows(matrix), {1}))
        assert np.shares_memory(chunk.rows, matrix) and (chunk.rows == matrix).all()


def test_a_matrix_that_has_to_be_converted_is_one_as_before():
    for matrix in (np.ma.array(X, mask=X > 0.5), X.astype(">f8"), X > 0.5, X.astype(object)):
        source = as_rows(matrix)
        assert source.array is None or source.array.dtype == np.uint8
        found = np.concatenate([chunk.rows for chunk in chunks(only(source, {1}))])
        np.testing.assert_array_equal(
            found, np.ma.filled(np.ma.array(matrix, float), np.nan).astype(found.dtype)
        )


@pytest.mark.parametrize("wanted", [["t", "y"], ["y", "t"], ["t", "w"], ["w", "t"]])
def test_rows_are_counted_whatever_the_type_of_another_column(tmp_path, wanted):
    """`t` has a zone in one file and none in the other: only who asks for it is refused."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name, zone in (("a", None), ("b", "UTC")):
        times = pa.array(range(3), pa.timestamp("us", zone))
        table = pa.table({"t": times, "y": [1.0, 2.0, 3.0], "w": ["a", "b", "c"]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    files = dp.extend.Files(sorted(tmp_path.iterdir()))
    assert abs(dp.count(files.data(wanted, table=True), epsilon=99) - 6) <= 2
    budget = dp.Budget(epsilon=99)
    with pytest.raises(dp.errors.SourceError, match="must be the same in every file"):
        dp.count(files.data(["t"], table=True), epsilon=99, budget=budget)
    assert budget.remaining["epsilon"] == 99
