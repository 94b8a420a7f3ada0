"""Cells and their exact sums: beside the plain twin, in any order, cut and instruction set."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfast._kernels.summaries import MOST_REACH, MOST_SPAN, Grid, products
from dpfast.errors import ArgumentError
from dpfast.summaries.cells import FINE, SQUARES, cells, nearest
from dpfast.tables import CHUNK_DTYPES

from ..reference.summaries import quantise as reference
from ..support.pairwise import every_value, pairwise, quick_rows

DTYPES = [d.str for d in CHUNK_DTYPES]
#: grid, first, span
GRIDS = [(0.25, -400, 800), (1.0, 0, 127), (8.0, -(2**28), 2**29), (2.0**-20, -(2**30), 2**31)]
GRIDS += [(2.0**-30, 2**31, 1), (0.5, 7, 0), (2.0**-1000, -5, 9)]
GRIDS += [(2.0**970, -(2**31), 2**32 - 1), (2.0**990, -(2**31), 2**32 - 1)]
#: Bounds that are integers, in every position to the limits of the integer types.
WHOLE = [(0, 100), (-3, 3), (-128, 127), (-129, 300), (200, 70_000), (-(2**31), 2**31), (-7, -7)]
WHOLE += [(0, 2**40), (2**31 - 1, 2**32), (-(2**40), 0), (-(2**50), 2 - 2**50)]


def sample(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind != "f":
        info = np.iinfo(kind)
        small = rng.integers(max(info.min, -130), min(info.max, 130), n)
        wide = rng.integers(info.min, info.max, n, kind, endpoint=True)
        found = np.where(rng.random(n) < 0.7, small.astype(kind), wide)
        found[: min(n, 2)] = [info.min, info.max][: min(n, 2)]
        return found
    found = (rng.normal(0, 60, n) * 2.0 ** rng.integers(-3, 4, n)).astype(kind)
    found = np.where(rng.random(n) < 0.3, np.rint(found * 8) / 8, found).astype(kind)  # ties
    odd = [math.nan, math.inf, -math.inf, 0.0, -0.0, 0.125, 0.375, -0.125, 1.5, 2.5, -2.5]
    odd += [np.finfo(kind).max, np.finfo(kind).min, float(np.finfo(kind).smallest_subnormal)]
    where = rng.integers(0, max(n, 1), len(odd)) if n else []
    for place, value in zip(where, odd, strict=False):
        found[place] = value
    return found


@every_value
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("grid", GRIDS)
def test_beside_the_plain_twin(dtype, grid):
    native = Grid(1 / grid[0], *grid[1:])
    for n in [0, 1, 2, 7, 8, 9, 31, 515]:
        values = sample(n, dtype, n)
        nan, total, squares = reference.totals(values, *grid)
        assert native.totals(values) == (nan, total, 0)
        assert native.totals(values, True) == (nan, total, squares)
        out, missing = np.empty(n, np.uint32), np.empty(n, np.uint8)
        native.write_cells(values, out, missing)
        assert out.tolist() == reference.cells(values.tolist(), *grid)
        assert missing.tolist() == [int(x != x) for x in values.tolist()]


@quick_rows(22)
@pairwise(drop=True)
@pytest.mark.parametrize("dtype", [d for d in DTYPES if "f" not in d])
@pytest.mark.parametrize("bounds", WHOLE)
@pytest.mark.parametrize("scale", [1, 2, 64])
def test_integers_between_integers(dtype, bounds, scale):
    """Sums that need no float64: rows near the bounds, at the limits, and too large for a lane."""
    (lo, hi), limits = bounds, np.iinfo(dtype)
    first, span = lo * scale, (hi - lo) * scale
    if max(abs(first), abs(first + span)) > MOST_REACH or span > MOST_SPAN:
        return
    native = Grid(float(scale), first, span)
    edges = [lo, hi, limits.min, limits.max, 0, 2**60, -(2**60), 2**61, 2**62, 2**63]
    near = sorted({e + d for e in edges for d in (-1, 0, 1) if limits.min <= e + d <= limits.max})
    small = [x for x in near if abs(x) < 2**53]
    rng = np.random.default_rng(1)
    for some, n in [(small, 37), (near, 37), (small, (1 << 14) + 5), (near, (1 << 14) + 5)]:
        values = np.array(some, dtype)[rng.integers(0, len(some), n)]
        places = {x: reference.cell(x, 1 / scale, first, span) for x in some}
        want = sum(places[x] for x in values.tolist())
        assert native.totals(values) == (0, want, 0)


def test_a_planted_fault_is_caught():
    """Ties away from zero: the rows of the tests above tell them from ties to even."""
    values = sample(1025, "<f8")
    values = np.clip(values[np.isfinite(values)], -100, 100)
    away = np.floor(np.abs(values) * 4 + 0.5) * np.sign(values)
    even = Grid(4.0, -400, 800).totals(values)[1] - 400 * len(values)
    assert int(np.rint(values * 4).sum()) == even
    assert int(away.sum()) != even


def test_totals_beyond_64_bits():
    """More than one tile of the largest cells there may be."""
    n = (1 << 20) + 77
    for value in [-math.inf, 1e300, 5.0]:
        values = np.full(n, value)
        u = reference.cell(value, 1.0, -(2**40), MOST_SPAN)
        assert Grid(1.0, -(2**40), MOST_SPAN).totals(values)[1] == n * u
        v = reference.cell(value, 1.0, -(2**31), 2**32 - 1)
        assert Grid(1.0, -(2**31), 2**32 - 1).totals(values, True) == (0, n * v, n * v * v)
    assert 16 * n * MOST_SPAN > 2**64 and n * (2**32 - 1) ** 2 > 2**64  # the claim of the title


def test_many_products():
    rng = np.random.default_rng(0)
    for n in [0, 1, 15, 16, 17, 1000]:
        a, b = rng.integers(0, 2**32, (2, n), np.uint32)
        assert products(a, b) == reference.products(a.tolist(), b.tolist())
    n = (1 << 20) + 5
    full = np.full(n, 2**32 - 1, np.uint32)
    assert products(full, full) == n * (2**32 - 1) ** 2
    with pytest.raises(ValueError, match="equally long"):
        products(full, full[1:])


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite, finite, st.sampled_from([FINE, SQUARES, 3]))
def test_public_cells_lie_between_the_bounds(a, b, bits):
    lo, hi = min(a, b), max(a, b)
    if not math.isfinite(hi - lo):
        return
    try:
        found = cells(lo, hi, bits)
    except ArgumentError:
        # Closer than float64 can tell from so far away, or in the last corner of its range.
        assert hi - lo < 2.0**-990 or hi - lo < max(abs(lo), abs(hi)) * 2.0**-48
        return
    assert math.frexp(found.grid)[0] == 0.5
    assert found.span <= min(MOST_SPAN, 2 << bits)
    assert -MOST_REACH <= found.first <= found.last <= MOST_REACH
    if lo == hi:
        assert found.span == 0
        return
    grid = Fraction(found.grid)
    assert Fraction(lo) <= found.first * grid < found.last * grid <= Fraction(hi)
    assert found.cell(lo) == found.cell(-math.inf) == 0
    assert found.cell(hi) == found.cell(math.inf) == found.span
    assert 0 <= found.cell(lo + (hi - lo) / 2) <= found.span


def test_the_float_nearest_to_a_fraction():
    most, far = np.finfo(float).max, Fraction(10) ** 400
    assert (nearest(Fraction(1, 3)), nearest(far), nearest(-far)) == (1 / 3, most, -most)


def test_what_a_kernel_refuses():
    native, wide, one, two = Grid(1.0, 0, 10), Grid(1.0, 0, 2**32), np.zeros(1), np.zeros(2)
    cell, flag = np.zeros(1, np.uint32), np.zeros(1, np.uint8)
    for bad in [np.zeros(4)[::2], np.zeros((2, 2)), np.zeros(2, ">f8"), np.zeros(2, "f2")]:
        with pytest.raises(ValueError, match="contiguous native"):
            native.totals(bad)
    for call, words in (
        (lambda: Grid(1.0, 0, MOST_SPAN + 1), r"2\*\*41"),
        (lambda: Grid(1.0, MOST_REACH, 1), r"2\*\*51"),
        (lambda: wide.totals(one, True), "below"),
        (lambda: wide.write_cells(one, cell, flag), "below"),
        (lambda: native.write_cells(two, cell, np.zeros(2, np.uint8)), "as long as"),
    ):
        with pytest.raises(ValueError, match=words):
            call()
