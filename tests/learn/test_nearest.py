"""The kernel of a step of k-means: against one row at a time, on every path, and its refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpfast._kernels.learn import NEAREST_MOST_ROWS as MOST_ROWS
from dpfast._kernels.learn import NearestColumns as Columns
from dpfast.summaries.cells import SQUARES, cells

from ..reference.learn import nearest as reference
from ..support.paths import on_every_path

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e300, -1e300, 5e-324, 0.5, -7.25]


def case(seed, n, d, k):
    """Rows, centers, what is known of the columns, and the same for the kernel."""
    g = np.random.default_rng(seed)
    bounds = [(a, a + w) for a, w in zip(g.normal(0, 3, d), g.uniform(0.1, 5, d), strict=True)]
    rows = g.normal(0, 4, (n, d))
    odd = g.uniform(size=(n, d)) < 0.03
    rows[odd] = g.choice(SPECIAL, int(odd.sum()))
    own = [cells(lo, hi, SQUARES) for lo, hi in bounds]
    middle = [(c.first + c.span / 2) * c.grid for c in own]
    fill = g.normal(0, 3, d).tolist()
    columns = [
        (c.first * c.grid, c.last * c.grid, m, c.grid, f)
        for c, m, f in zip(own, middle, fill, strict=True)
    ]
    at = g.integers(-4, 5, (k, d)) / 4  # coarse, so that there are ties
    at[k // 2] = at[0]
    return rows, at, columns, own, np.array(middle), np.array(fill)


def kernel(rows, at, own, middle, fill, unit, skip, step=10**6):
    columns = Columns(
        np.array([1 / c.grid for c in own]),
        np.array([c.first for c in own]),
        np.array([c.span for c in own]),
        middle,
        fill,
        unit,
        skip,
    )
    half = np.array([0.5 * math.fsum(c * c for c in row) for row in at.tolist()])
    k, d = at.shape
    labels = np.empty(len(rows), np.int64)
    counts, sums = np.zeros(k + 1, np.uint64), np.zeros((k + 1, d), np.uint64)
    for i in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[i : i + step])
        columns.labels(part, at, half, labels[i : i + step])
        columns.totals(part, at, half, counts, sums)
    return labels.tolist(), counts.tolist(), sums.tolist()


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(
    ("n", "d", "k"),
    [
        (0, 2, 3),
        (1, 1, 1),
        (63, 3, 2),
        (64, 8, 4),
        (65, 5, 5),
        (200, 1, 7),
        (130, 17, 19),
        (37, 33, 6),
        (40, 70, 3),
    ],
)
def test_one_row_at_a_time(n, d, k, skip):
    rows, at, columns, own, middle, fill = case(n, n, d, k)
    expected = reference.step(rows.tolist(), at.tolist(), columns, 0.25, skip)
    assert kernel(rows, at, own, middle, fill, 0.25, skip) == expected
    if n:
        assert kernel(rows, at, own, middle, fill, 0.25, skip, step=37) == expected


def test_the_first_of_equal_centers_is_taken():
    rows, at, _, own, middle, fill = case(9, 500, 3, 8)
    at[5] = at[1]
    labels, _, _ = kernel(rows, at, own, middle, fill, 0.25, False)
    assert 5 not in labels and 1 in labels
    swapped = at[::-1].copy()  # and it would show if it were the last
    again, _, _ = kernel(rows, swapped, own, middle, fill, 0.25, False)
    assert [7 - j for j in again] != labels


def test_the_order_of_the_rows_changes_no_sum():
    rows, at, _, own, middle, fill = case(4, 1000, 6, 5)
    mixed = rows[np.random.default_rng(1).permutation(1000)]
    assert (
        kernel(rows, at, own, middle, fill, 1.0, True)[1:]
        == (kernel(mixed, at, own, middle, fill, 1.0, True)[1:])
    )


@pytest.mark.full
def test_every_path_gives_the_same_bits():
    code = """
import sys, hashlib
sys.path.insert(0, ".")
from tests.learn.test_nearest import case, kernel
for d, k in (1, 1), (2, 16), (8, 16), (13, 21), (41, 7):
    rows, at, _, own, middle, fill = case(d, 1003, d, k)
    print(hashlib.sha256(repr(kernel(rows, at, own, middle, fill, 0.3, True)).encode()).hexdigest())
"""
    assert len(set(on_every_path(code).split())) == 5


def test_what_does_not_fit_is_refused():
    one, whole = np.ones(2), np.zeros(2, np.int64)
    made = Columns(one, whole, whole + 5, one, one, 1.0, True)
    at, half = np.zeros((3, 2)), np.zeros(3)
    counts, sums = np.zeros(4, np.uint64), np.zeros((4, 2), np.uint64)
    rows = np.zeros((5, 2))
    made.totals(rows, at, half, counts, sums)
    assert counts[0] == 5
    bad = [
        (np.zeros((5, 3)), at, half, counts, sums),
        (rows, np.zeros((3, 3)), half, counts, sums),
        (rows, np.zeros((0, 2)), np.zeros(0), counts[:1], sums[:1]),
        (rows, at, np.zeros(2), counts, sums),
        (rows, at, half, counts[:3], sums),
        (rows, at, half, counts, sums[:3]),
        (np.zeros((MOST_ROWS + 1, 2)), at, half, counts, sums),
    ]
    for arguments in bad:
        with pytest.raises(ValueError):
            made.totals(*arguments)
    with pytest.raises(ValueError):
        made.labels(rows, at, half, np.zeros(4, np.int64))
    for columns in (
        (one, whole, whole - 1, one, one),
        (one, whole, whole + (1 << 42), one, one),
        (one, whole + (1 << 52), whole, one, one),
        (one * 0, whole, whole, one, one),
        (one, whole, whole, one, one * np.nan),
        (one, whole, whole[:1], one, one),
        (one[:0], whole[:0], whole[:0], one[:0], one[:0]),
    ):
        with pytest.raises(ValueError):
            Columns(*columns, 1.0, True)
