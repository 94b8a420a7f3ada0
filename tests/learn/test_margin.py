"""The kernels of a perceptron's step and of sums of products: against one row at a time, on every
path, and what they refuse.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpfast._kernels.learn import MARGIN_MOST_ROWS as MOST_ROWS
from dpfast._kernels.learn import MARGIN_REACH as REACH
from dpfast._kernels.learn import PAIRS_MOST_ROWS as MOST_PAIRS
from dpfast._kernels.learn import PAIRS_REACH as REACH_PAIRS
from dpfast._kernels.learn import PAIRS_STRETCH as STRETCH
from dpfast._kernels.learn import margin_wrong as wrong
from dpfast._kernels.learn import pairs_add as pairs

from ..reference.learn import margin as reference
from ..support.pairwise import pairwise
from ..support.paths import on_every_path

SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e300, -1e300, 5e-324, 0.5, -7.25]


def case(seed, n, d):
    """Rows, labels, what is known of the columns, and a hyperplane."""
    g = np.random.default_rng(seed)
    middle, half = g.normal(0, 3, d), g.uniform(0.1, 5, d)
    rows = g.normal(0, 4, (n, d))
    odd = g.uniform(size=(n, d)) < 0.03
    rows[odd] = g.choice(SPECIAL, int(odd.sum()))
    labels = np.where(g.uniform(size=n) < 0.5, 1.0, -1.0)
    columns = np.array([middle - half, middle + half, middle, REACH / half, g.normal(0, 3, d)])
    w = g.integers(-3, 4, d) / 4
    return rows, labels, columns, w


def kernel(rows, labels, columns, w, bias, length, skip, step=10**6):
    sums = np.zeros(len(w))
    found = np.zeros(3, object)
    for i in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[i : i + step])
        found += wrong(part, labels[i : i + step], columns, w, bias, length, skip, sums)
    return (*found.tolist(), [int(one) for one in sums])


@pairwise
@pytest.mark.parametrize("length", [0.0, float(REACH), REACH / 3])
@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(
    ("n", "d"), [(0, 2), (1, 1), (63, 3), (64, 8), (65, 5), (200, 1), (130, 17)]
)
def test_one_row_at_a_time(n, d, skip, length):
    given = case(n, n, d)
    expected = reference.step(
        given[0].tolist(), given[1].tolist(), given[2].T.tolist(), given[3].tolist(),
        REACH / 4, length, skip,
    )  # fmt: skip
    assert kernel(*given, REACH / 4, length, skip) == expected
    if n:
        assert kernel(*given, REACH / 4, length, skip, step=37) == expected


def test_a_row_on_the_hyperplane_is_wrong():
    rows, columns = np.array([[1.0], [-1.0], [0.5]]), np.array([[-1.0], [1], [0], [REACH], [0]])
    labels = np.array([1.0, -1.0, -1.0])
    assert kernel(rows, labels, columns, np.zeros(1), 0.0, 0.0, False)[0] == 3
    assert kernel(rows, labels, columns, np.ones(1), 0.0, 0.0, False)[0] == 1
    assert kernel(rows, labels, columns, np.ones(1), -REACH / 2, 0.0, False)[0] == 1
    assert kernel(rows, labels, columns, np.ones(1), -REACH / 2 - 1.0, 0.0, False)[0] == 0
    assert kernel(rows, labels, columns, np.full(1, math.nan), 0.0, 0.0, False)[0] == 3


def test_no_row_is_longer_than_it_may_be():
    """Whatever the numbers: the sums of one row are its coordinates."""
    rows, labels, columns, w = case(7, 400, 5)
    for row, label in zip(rows, labels, strict=True):
        for length in (0.0, float(REACH)):
            one = row[None].copy(), np.array([label * 1e9])  # of a label only the sign counts
            *_, sums = kernel(*one, columns, 0 * w, 0.0, length, False)
            assert max(map(abs, sums)) <= REACH
            if length:
                assert math.sqrt(sum(x * x for x in sums)) <= REACH + math.sqrt(5) / 2 + 1


def test_sums_stay_exact_at_the_edge():
    rows = np.ones((MOST_ROWS, 1))
    columns = np.array([[-1.0], [1], [0], [REACH], [0]])
    labels = np.ones(MOST_ROWS)
    labels[0] = -1
    found = kernel(rows, labels, columns, np.zeros(1), 0.0, 0.0, False)
    assert found == (MOST_ROWS, MOST_ROWS - 2, 0, [(MOST_ROWS - 2) * REACH])
    assert MOST_ROWS * REACH <= 2**53


def test_the_order_of_the_rows_changes_nothing():
    rows, labels, columns, w = case(4, 1000, 6)
    mixed = np.random.default_rng(1).permutation(1000)
    for length in (0.0, float(REACH)):
        found = kernel(rows, labels, columns, w, 0.5, length, True)
        assert found == kernel(rows[mixed], labels[mixed], columns, w, 0.5, length, True)


@pytest.mark.full
def test_every_path_gives_the_same_bits():
    code = """
import sys
sys.path.insert(0, ".")
from tests.learn.test_margin import REACH, case, kernel, products, with_target
for d in 1, 2, 8, 13:
    print(products(*with_target(d, 1003, d), True))
    for length in 0.0, float(REACH):
        print(kernel(*case(d, 1003, d), REACH / 3, length, True))
"""
    assert len(set(on_every_path(code).split("\n"))) == 11  # of one column, a ball is a cube


def test_what_does_not_fit_is_refused():
    rows, labels, w, sums = np.zeros((5, 2)), np.ones(5), np.zeros(2), np.zeros(2)
    columns = np.array([[-1.0] * 2, [1.0] * 2, [0.0] * 2, [REACH] * 2, [0.0] * 2])
    assert wrong(rows, labels, columns, w, 0.0, 0.0, False, sums)[0] == 5
    assert wrong(rows[:0], labels[:0], columns, w, 0.0, 0.0, False, sums) == (0, 0, 0)
    wide, late, none, reverse = (columns.copy() for _ in range(4))
    wide[3, 1] *= 2
    late[2, 0] = 1.0
    none[4, 0] = math.nan
    reverse[:2] = reverse[1::-1]
    for bad in (
        (rows[:, :1].copy(), labels, columns, w, sums),
        (rows, labels[:4], columns, w, sums),
        (rows, labels, columns[:4], w, sums),
        (rows, labels, columns, w[:1], sums),
        (rows, labels, columns, w, sums[:1]),
        (np.zeros((MOST_ROWS + 1, 2)), np.ones(MOST_ROWS + 1), columns, w, sums),
        (rows, labels, wide, w, sums),
        (rows, labels, late, w, sums),
        (rows, labels, none, w, sums),
        (rows, labels, reverse, w, sums),
        (rows[:, :0].copy(), labels, columns[:, :0].copy(), w[:0], sums[:0]),
    ):
        with pytest.raises(ValueError):
            wrong(*bad[:4], 0.0, 0.0, False, bad[4])


# --- sums of products -----------------------------------------------------------------------------


def products(rows, labels, columns, skip, step=MOST_PAIRS):
    size = columns.shape[1]
    sums, both = np.zeros(size, np.int64), np.zeros(size * (size + 1) // 2, np.int64)
    missing = 0
    for i in range(0, len(rows), step):
        part = np.ascontiguousarray(rows[i : i + step])
        missing += pairs(part, labels[i : i + step], columns, skip, sums, both)
    return sums.tolist(), both.tolist(), missing


def with_target(seed, n, d):
    rows, _, columns, _ = case(seed, n, d + 1)
    columns[3] *= REACH_PAIRS / REACH
    return rows[:, :d].copy(), rows[:, d].copy(), columns


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize(
    ("n", "d"), [(0, 2), (1, 1), (63, 3), (64, 8), (65, 5), (200, 1), (130, 17)]
)
def test_products_of_one_row_at_a_time(n, d, skip):
    rows, labels, columns = with_target(n, n, d)
    joined = np.column_stack([rows, labels]).tolist()
    expected = reference.pairs(joined, columns.T.tolist(), skip)
    assert products(rows, labels, columns, skip) == expected
    assert products(rows, labels, columns, skip, step=37) == expected


def test_products_stay_exact_at_the_edge():
    """The largest integers there can be, in more rows than a float64 can sum, and a small one."""
    n, size = 2 * STRETCH + 3, 10
    assert REACH_PAIRS**2 * STRETCH == 2**53
    columns = np.array([[x] * size for x in (-1.0, 1.0, 0.0, REACH_PAIRS, 0.0)])
    ones = np.ones((n, size))
    ones[-1] = 3 / REACH_PAIRS
    sums, both, _ = products(ones[:, 1:].copy(), -ones[:, 0], columns, False)
    plain, squares = (n - 1) * REACH_PAIRS + 3, (n - 1) * REACH_PAIRS**2 + 9
    assert sums == [plain] * 9 + [-plain]
    at = itertools.combinations_with_replacement(range(size), 2)
    assert both == [-squares if i < j == size - 1 else squares for i, j in at]


@pytest.mark.parametrize("d", [1, 2, 4, 5, 7, 8, 9, 11, 14, 24])
def test_products_where_nothing_is_missing(d):
    rows, labels, columns = with_target(d, 300, d)
    rows, labels = np.nan_to_num(rows, nan=0.5), np.nan_to_num(labels, nan=0.5)
    rows[170, d // 2] = math.nan  # but one number
    expected = reference.pairs(np.column_stack([rows, labels]).tolist(), columns.T.tolist(), True)
    assert products(rows, labels, columns, True) == expected and expected[2] == 1


def test_products_that_do_not_fit_are_refused():
    rows, labels, sums, both = np.zeros((5, 1)), np.ones(5), np.zeros(2, int), np.zeros(3, int)
    columns = np.array([[-1.0] * 2, [1.0] * 2, [0.0] * 2, [REACH_PAIRS] * 2, [0.0] * 2])
    assert pairs(rows, labels, columns, False, sums, both) == 0
    assert pairs(rows[:0], labels[:0], columns, False, sums, both) == 0
    wide = columns * 2
    for bad in (
        (rows, labels[:4], columns, sums, both),
        (rows, labels, columns[:4], sums, both),
        (rows, labels, columns[:, :1].copy(), sums[:1], both[:1]),
        (rows, labels, columns, sums[:1], both),
        (rows, labels, columns, sums, both[:2]),
        (rows, labels, wide, sums, both),
        (np.zeros((MOST_PAIRS + 1, 1)), np.ones(MOST_PAIRS + 1), columns, sums, both),
    ):
        with pytest.raises(ValueError):
            pairs(*bad[:3], False, *bad[3:])
