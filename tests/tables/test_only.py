"""What a pass reads that looks at some columns only."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.learn.rows import matrices
from dpfast.rng import InsecureGenerator
from dpfast.sulq import Attribute, NoisySums, Term
from dpfast.sulq.row_functions import MaskedChunk, shortened, with_nan
from dpfast.tables.data import as_rows
from dpfast.tables.table import only

from ..support.pairwise import every_value

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


ASKED = [
    Term("count"),
    Term("value", (0, 1), column=1),
    Term("product", (0, 1), column=(0, 2)),
    Attribute(0, low=0.5) & ~Attribute(2, high=0.25),
    Term("row", l2=1.0),
    Term(X[:, 0] < 0.5),
]


@every_value
@pytest.mark.parametrize("some", [None, X[:, 2] < 0.3])
@pytest.mark.parametrize("asked", ASKED)
def test_sums_are_the_same_however_rows_lie(asked, some):
    found = []
    for matrix in (X, np.asfortranarray(X), X.astype(">f8"), X.astype(object)):
        sums = NoisySums(matrix, rho=1, queries=1, rng=InsecureGenerator(7))
        found.append(np.asarray(sums.batch([asked], some)[0]).tobytes())
    assert len(set(found)) == 1


def test_a_piece_is_the_rows_that_are_summed():
    keep = X[:, 0] < 0.5
    piece = MaskedChunk(X, 0, keep)
    assert piece.count == len(piece.summed) == keep.sum()
    assert (piece.column(1) == X[keep, 1]).all() and (piece.of(X[:, 2]) == X[keep, 2]).all()
    parts = list(MaskedChunk(np.repeat(X, 8, axis=0), 0, np.repeat(keep, 8)).blocks())
    assert len(parts) > 1 and sum(part.count for part in parts) == 8 * keep.sum()


def test_records_of_floats_are_a_matrix():
    (chunk,) = chunks(as_rows(TABLE))
    (matrix,) = matrices(chunk.rows, 3, 1 << 20)
    assert np.shares_memory(matrix, chunk.rows) and (matrix == X).all()


def test_what_holds_is_a_byte_unless_a_number_is_missing():
    x, y = np.array([0.0, np.nan, 2.0]), np.array([1, 1, 1])
    assert with_nan(y > 0, [y]).dtype == np.uint8 and with_nan(y > 0, [y, x[::2]]).tolist() == [
        1,
        1,
        1,
    ]
    np.testing.assert_array_equal(with_nan(x > 0, [x, y]), [0, np.nan, 1])


@pytest.mark.parametrize("width", [1, 2, 7])
def test_vectors_among_short_ones_are_cut_as_among_long_ones(width):
    """Where all are short, no length is looked at."""
    g = np.random.default_rng(width)
    radius = float(Fraction(3, 7))
    near = np.full((1, width), radius / width**0.5)
    rows = np.concatenate(
        [near * part for part in (1 - 2.0**-19, 1 - 2.0**-30, 1.0, 1 + 2.0**-30, 0.0, -1.0)]
        + [near * g.uniform(-1, 1, (50, width))]
    )
    among, _ = shortened(np.concatenate([rows, 9 * near]), radius)
    for row, told_of in zip(rows, among, strict=False):
        alone, absent = shortened(row[None], radius)
        assert alone[0].tobytes() == np.ascontiguousarray(told_of).tobytes() and not absent[0]
        assert np.linalg.norm(alone) <= radius * (1 + 1e-15)


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
