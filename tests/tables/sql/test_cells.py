"""Cells that a database computes are those of the kernel, bit by bit, and their sums are exact."""

import itertools
import math
import random
import struct
from decimal import Decimal, localcontext

import numpy as np
import pytest

from dpfast.errors import ArgumentTypeError, DataError
from dpfast.summaries.cells import cells
from dpfast.tables.sql import cells as sql
from dpfast.tables.sql.cells import cell, equal_bins
from dpfast.tables.sql.sums import BITS, Term, sums_by

from ...support.lazy import ibis
from ...support.pairwise import every_value, quick_rows

pa = pytest.importorskip("pyarrow")
INF, NAN = math.inf, math.nan
QUICK = [(0, 100), (3, 3)]
FULL = [
    (-1, 1), (-1e14, 1e13), (-1e3, 7.5), (0, 0), (1e-10, 3e-9), (1e-300, 1e-290),
    (1e15, 1e15 + 4), (0, 2.0**63), (-1e19, 1e19), (-1e300, 1e308), (1e300, 1.1e300),
    (-1e308, -1e300),
]  # fmt: skip
SOME = [cells(0.0, 100.0), cells(-1e19, 1e19, 30), cells(-5.0, 99.5), cells(-200.0, 1000.0, 30)]


def sums(table, terms):
    return [total[0] for total in sums_by(table, terms, ())[1]]


@pytest.fixture(scope="module")
def duckdb():
    return ibis.duckdb.connect()


@pytest.fixture(scope="module")
def sqlite():
    return ibis.sqlite.connect()


def table_of(con, values, kind):
    """A new table of numbered values: of an Arrow type in DuckDB, of a declared one in SQLite."""
    if con.name == "duckdb":
        arrow = pa.table({"n": range(len(values)), "x": pa.array(values, kind)})
        con.con.register("arrow", arrow)
        con.con.execute("create or replace table t as from arrow")
    else:
        con.con.execute("drop table if exists t")
        con.con.execute(f"create table t (n integer, x {kind})")
        con.con.executemany("insert into t values (?, ?)", list(enumerate(values)))
    return con.table("t")


def expect_cells(con, table, values, grid):
    u = cell(table.x, grid, con.name)
    question = ibis.to_sql(table.order_by("n").select(u=u), dialect=con.name)
    got = [row[0] for row in con.raw_sql(question).fetchall()]
    floats = [NAN if value is None else float(value) for value in values]
    right = [None if math.isnan(x) else grid.cell(x) for x in floats]
    assert got == right
    present = Term(u.notnull().cast("int64"), 1)
    whole = [x for x in right if x is not None]
    assert sums(table, [Term(u, grid.span), present]) == [sum(whole), len(whole)]
    if grid.span < 2**31:
        assert sums(table, [Term(u * u, grid.span**2)]) == [sum(x * x for x in whole)]


def hostile(grid, draw):
    """Numbers at and about the borders of cells, and of all magnitudes."""
    lo, hi = grid.first * grid.grid, grid.last * grid.grid
    numbers = [0.0, -0.0, INF, -INF, NAN, None, 5e-324, -5e-324, 2.3e-308, 1e308, -1e308]
    numbers += [2.0**53 + 2, -(2.0**63), lo, hi, math.nextafter(lo, -INF), math.nextafter(hi, INF)]
    for _ in range(40):
        middle = (grid.first + draw.randint(0, grid.span) + 0.5) * grid.grid
        numbers += [middle, math.nextafter(middle, INF), math.nextafter(middle, -INF)]
        numbers += struct.unpack("d", struct.pack("Q", draw.getrandbits(64)))
        numbers.append(draw.uniform(lo, hi))
    return numbers


@every_value
@pytest.mark.parametrize("database", ["duckdb", "sqlite"])
@pytest.mark.parametrize(
    ("lo", "hi"), [*QUICK, *(pytest.param(*pair, marks=pytest.mark.full) for pair in FULL)]
)
def test_floats(lo, hi, database, request):
    con = request.getfixturevalue(database)
    for bits in (40, 30):
        grid = cells(float(lo), float(hi), bits)
        numbers = hostile(grid, random.Random(1))
        table = table_of(con, numbers, pa.float64() if con.name == "duckdb" else "real")
        expect_cells(con, table, numbers, grid)


def decimals(digits, scale):
    draw = random.Random(digits)
    sizes = [draw.randint(1, digits) for _ in range(60)]
    with localcontext() as context:
        context.prec = 60
        return [Decimal(draw.randint(1 - 10**k, 10**k - 1)).scaleb(-scale) for k in sizes]


INTEGERS = [0, 1, -1, 99, 100, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 257, 2**63 - 1, -(2**63)]


@quick_rows(2)
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("int64", INTEGERS),
        ("int32", [0, 1, -1, 2**31 - 1, -(2**31)]),
        ("int8", [-128, -1, 0, 1, 127]),
        ("uint64", [0, 1, 2**53 + 1, 2**63, 2**64 - 1025, 2**64 - 1]),
        ("uint16", [0, 1, 2**16 - 1]),
        ("bool_", [True, False]),
        ("float32", [np.float32(x) for x in (0.1, 3.4e38, 1e-45, -0.0, INF, -INF, NAN, 7)]),
        ((15, 2), decimals(15, 2)),
        ((18, 18), decimals(18, 18)),
        ((38, 10), decimals(38, 10)),
        ((38, 0), decimals(38, 0)),
    ],
    ids=lambda x: None if isinstance(x, list) else str(x),
)
def test_types_of_duckdb(kind, values, duckdb):
    arrow = pa.decimal128(*kind) if isinstance(kind, tuple) else getattr(pa, kind)()
    values = [*values, None]
    table = table_of(duckdb, values, arrow)
    for grid in SOME:
        expect_cells(duckdb, table, values, grid)


MIXTURE = [1, 2.5, "3", "abc", b"7", None, 2**53 + 1, 2**63 - 1, -(2**63), INF, 0.1, 5e-324, True]
DECLARED = ["", "real", "integer", "numeric", "decimal(20, 5)", "boolean", "text", "blob"]


@quick_rows(1)
@pytest.mark.parametrize("declared", DECLARED)
def test_mixtures_of_types_in_sqlite(declared, sqlite):
    """What a row is decides, and neither what is declared nor what the first row is."""
    table = table_of(sqlite, MIXTURE, declared)
    stored = sqlite.con.execute("select x, typeof(x) from t order by n").fetchall()
    values = [x if kind in ("integer", "real") else None for x, kind in stored]
    for grid in SOME:
        expect_cells(sqlite, table, values, grid)


def test_sums_beyond_64_bits(duckdb, sqlite):
    numbers = [1.0] * 3000 + [None]
    grid = cells(0.0, 1.0, 30)
    square = grid.span**2
    for con, kind in ((duckdb, pa.float64()), (sqlite, "real")):
        table = table_of(con, numbers, kind)
        u = cell(table.x, grid, con.name)
        assert 3000 * square > 2**63
        assert sums(table, [Term(u * u, square)]) == [3000 * square]


def test_sums_by_group_and_of_no_rows(duckdb, sqlite):
    for con, kind in ((duckdb, pa.int64()), (sqlite, "integer")):
        table = table_of(con, [1, 2, 3, None], kind)
        group, term = table.mutate(g=table.n % 2), Term(table.x, 2**BITS)
        keys, (first, second) = sums_by(group, [term, Term(group.x, 3)], ["g"])
        found = dict(zip(keys["g"].to_pylist(), zip(first, second, strict=True), strict=True))
        assert found == {0: (4, 4), 1: (2, 2)}
        nothing = table.filter(table.n < 0)
        assert sums(nothing, [Term(nothing.x, 5)]) == [0]


def test_what_holds_no_numbers(duckdb):
    kinds = {"t": "string", "b": "binary", "d": "date", "n": "decimal"}
    table = ibis.table(kinds, name="t")
    for name in kinds:
        with pytest.raises(ArgumentTypeError, match="must be a column of numbers, got an obj"):
            cell(table[name], SOME[0], "duckdb")


def test_a_cast_before_the_clamp_is_caught(duckdb):
    """A planted fault: an expression that fails on some rows, and so tells that they are there."""
    numbers = hostile(SOME[0], random.Random(1))
    table = table_of(duckdb, numbers, pa.float64())
    careless = (table.x / SOME[0].grid).round().cast("int64").clip(0, SOME[0].span)
    with pytest.raises(DataError):
        sums(table, [Term(careless, SOME[0].span)])


BINS = [(0, 3000, 64), (0, 1, 10), (-1, 1, 16), (20, 80, 12), (-10, 90, 7), (0, 0.1, 30), (0, 9, 9)]


def placed(con, edges, last):
    """The bins of rows at edges by a distance, None if there is none; and by a search."""
    numbers = [0.0, -0.0, INF, -INF, NAN, None, 5e-324, -5e-324, 1e308, -1e308, 2.0**53]
    for edge in edges:
        middle = math.nextafter(edge, -INF)
        numbers += [edge, middle, math.nextafter(middle, -INF), math.nextafter(edge, INF)]
    table = table_of(con, numbers, pa.float64() if con.name == "duckdb" else "real")
    due = [
        min(int(np.searchsorted(edges, x, "right")) - 1, len(edges) - 2)
        if x is not None and edges[0] <= x <= last
        else None
        for x in numbers
    ]
    bins = equal_bins(table.x, edges[:-1], last)
    if bins is None:
        return None, due
    question = ibis.to_sql(table.order_by("n").select(bins=bins), dialect=con.name)
    return [row[0] for row in con.raw_sql(question).fetchall()], due


def test_bins_by_a_distance_are_those_of_their_edges(duckdb, sqlite):
    seen = 0
    for (lo, hi, bins), con in itertools.product(BINS, (duckdb, sqlite)):
        got, due = placed(con, np.linspace(lo, hi, bins + 1).tolist(), hi)
        assert got is None or got == due
        seen += got is not None
    assert seen >= 8
    assert equal_bins(ibis.table({"x": "float64"}).x, [0.0, 1.0, 3.0], 4.0) is None


def test_a_distance_that_is_wrong_at_an_edge_is_caught(duckdb, monkeypatch):
    """A planted fault: bins are not compared with their edges."""
    edges = np.linspace(0, 0.1, 51).tolist()
    assert placed(duckdb, edges, 0.1)[0] is None
    every = {"__sub__": lambda self, other: self, "__eq__": lambda self, other: True}
    equal_to_all = type("Same", (), {**every, "__hash__": None})()
    monkeypatch.setattr(sql.math, "floor", lambda x: equal_to_all)
    got, due = placed(duckdb, edges, 0.1)
    assert got != due
