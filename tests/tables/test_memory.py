"""Columns and tables in memory: where they are read, their samples, and which columns are read."""

import random
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast.tables import as_source, memory
from dpfast.tables.arrow import nearest_floats, widened
from dpfast.tables.data import as_rows
from dpfast.tables.table import only

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pq = pytest.importorskip("pyarrow.parquet")
X = np.random.default_rng(0).uniform(size=(5000, 3))
TABLE = {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate("abc")}


def words(count):
    return np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)


def test_a_column_is_read_where_it_lies():
    series = pd.Series([1.0, 2.0])
    assert np.shares_memory(as_source(series).array, series.to_numpy())
    source = as_source(pd.Series([2**62 + 1, None], dtype="Int64"))  # exact, and not as float64
    assert source.reduce(lambda chunk: chunk.values.tolist(), lambda a, b: a + b) == [2**62 + 1]


@settings(deadline=None, max_examples=50)
@given(n=st.integers(1, 3000), count=st.integers(1, 300))
def test_places_of_a_sample(n, count):
    index = memory._strata(n, count, words)
    assert len(index) == min(n, count) and index.min() >= 0 and index.max() < n


def test_a_sample_reaches_every_row():
    """Every row can be drawn; with constant words the same check fails."""

    def seen(source):
        return len({row for _ in range(400) for row in memory._strata(103, 10, source).tolist()})

    rng = np.random.default_rng(2)
    assert seen(lambda k: rng.integers(0, 2**64, k, dtype=np.uint64)) == 103
    assert seen(lambda k: np.zeros(k, np.uint64)) < 103
    assert memory._strata(2**40, 2, words).max() < 2**40


def decimals(digits, scale):
    draw = random.Random(digits)
    with localcontext() as context:
        context.prec = 80
        sizes = [draw.randint(1, digits) for _ in range(500)]
        return [Decimal(draw.randint(1 - 10**k, 10**k - 1)).scaleb(-scale) for k in sizes]


KINDS = [(15, 2), (15, 15), (9, 4), (18, 2), (18, 18), (38, 10), (38, 0), (5, -3), (60, 20)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_decimals_are_rounded_once(kind):
    make = pa.decimal256 if kind[0] > 38 else pa.decimal128
    values = [*decimals(*kind), None, Decimal(0)]
    array = pa.array(values, make(*kind))
    right = [None if value is None else float(value) for value in values]
    assert nearest_floats(array).to_pylist() == right
    assert nearest_floats(array[7:]).to_pylist() == right[7:]
    assert widened(array, pa.float64()).to_pylist() == right
    source = as_rows(pa.chunked_array([array[:40], array[40:-2]]))
    assert source.reduce(lambda chunk: chunk.rows.tolist(), lambda a, b: a + b) == right[:-2]


def chunks(data, columns):
    return only(as_rows(data), columns).reduce(lambda chunk: [chunk], lambda a, b: a + b)


def test_one_column_of_a_table_is_read_where_it_lies():
    (chunk,) = chunks(TABLE, {"b"})
    assert chunk.rows.dtype.names == ("b",) and np.shares_memory(chunk.rows, TABLE["b"])
    (whole,) = chunks(TABLE, None)
    assert whole.rows.dtype.names == ("a", "b", "c")


@pytest.mark.parametrize(("columns", "read"), [({"b"}, "b"), ({"c", "a"}, "ac"), (set(), "a")])
def test_columns_of_a_table_that_nobody_looks_at_are_not_read(columns, read, tmp_path):
    pq.write_table(pa.table(TABLE), tmp_path / "t.parquet", row_group_size=999)
    for data in (TABLE, dp.scan(tmp_path / "t.parquet", ["a", "b", "c"])):
        found = sorted(chunks(data, columns), key=lambda c: c.start)
        assert all(chunk.rows.dtype.names == tuple(read) for chunk in found)
        for name in read:
            assert (np.concatenate([c.rows[name] for c in found]) == TABLE[name]).all()


def test_a_matrix_is_copied_only_where_it_has_to_be_converted():
    for matrix in (np.asfortranarray(X), X[::2], X[:, ::-1], X):
        (chunk,) = chunks(matrix, {1})
        assert np.shares_memory(chunk.rows, matrix) and (chunk.rows == matrix).all()
    for matrix in (np.ma.array(X, mask=X > 0.5), X.astype(">f8"), X > 0.5, X.astype(object)):
        source = as_rows(matrix)
        assert source.array is None or source.array.dtype == np.uint8
        found = np.concatenate([chunk.rows for chunk in chunks(matrix, {1})])
        due = np.ma.filled(np.ma.array(matrix, float), np.nan).astype(found.dtype)
        np.testing.assert_array_equal(found, due)


def test_rows_are_counted_whatever_the_type_of_another_column(tmp_path):
    """`t` has a zone in one file and none in the other: only who asks for it is refused."""
    for name, zone in (("a", None), ("b", "UTC")):
        times = pa.array(range(3), pa.timestamp("us", zone))
        table = pa.table({"t": times, "y": [1.0, 2.0, 3.0], "w": ["a", "b", "c"]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    files = dp.extend.Files(sorted(tmp_path.iterdir()))
    for wanted in (["t", "y"], ["y", "t"], ["t", "w"], ["w", "t"]):
        assert abs(dp.count(files.data(wanted, table=True), epsilon=99) - 6) <= 2
    budget = dp.Budget(epsilon=99)
    with pytest.raises(dp.errors.SourceError, match="must be the same in every file"):
        dp.count(files.data(["t"], table=True), epsilon=99, budget=budget)
    assert not budget.history
