"""Sums by class: the kernel against exact sums of one row at a time, and its refusals."""

from __future__ import annotations

import numpy as np
import pytest

from dpfast._kernels.learn import CLASSES_MOST_ROWS as MOST_ROWS
from dpfast._kernels.learn import CLASSES_REACH as REACH
from dpfast._kernels.learn import class_totals as totals

from ..support.paths import on_every_path, run

SPECIAL = [np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 0.5, 2.5]


def case(n, width, keys):
    g = np.random.default_rng(n + width)
    rows = g.normal(0, 30, (n, width))
    odd = g.uniform(size=rows.shape) < 0.05
    rows[odd] = g.choice(SPECIAL, int(odd.sum()))
    first = g.integers(-60, 0, width)
    last = first + g.integers(0, 90, width)
    limits = np.array([2.0 ** g.integers(-3, 4, width), first, last, (first + last) // 2])
    key = g.integers(0, keys + 3, n).astype(np.uint32)
    return rows, limits, key


def plain(rows, limits, key, keys):
    """Each number by itself, in Python's integers."""
    sums, missing = [[[0] * rows.shape[1] for _ in range(2)] for _ in range(keys + 1)], 0
    for row, k in zip(rows.tolist(), key.tolist(), strict=True):
        for j, (x, (scale, lo, hi, middle)) in enumerate(zip(row, limits.T.tolist(), strict=True)):
            missing += x != x
            z = round(lo if x != x else min(max(x * scale, lo), hi)) - int(middle)
            own = sums[min(k, keys)]
            own[0][j] += z
            own[1][j] += z * z
    return sums, missing


@pytest.mark.parametrize("n", [0, 1, 300])
@pytest.mark.parametrize("width", [1, 3, 8, 17])
def test_sums_are_those_of_the_definition(n, width):
    rows, limits, key = case(n, width, 3)
    sums = np.zeros((4, 2, width))
    assert (totals(rows, limits, key, sums), sums.tolist()) == plain(rows, limits, key, 3)[::-1]
    again = sums.copy()  # they are added to
    totals(rows, limits, key, again)
    assert (again == 2 * sums).all()


def test_the_largest_cells_add_up_exactly():
    n = MOST_ROWS
    limits = np.array([[1.0], [-REACH], [REACH], [0.0]])
    rows = np.where(np.arange(n) % 2, float(REACH), 1 - float(REACH))[:, None]
    sums = np.zeros((1, 2, 1))
    totals(rows, limits, np.zeros(n, np.uint32), sums)
    assert sums.ravel().tolist() == [n // 2, n // 2 * (REACH**2 + (REACH - 1) ** 2)]


SUMS = """
import numpy as np
from dpfast._kernels.learn import class_totals as totals
g = np.random.default_rng(0)
rows = g.normal(0, 2, (4001, 11))
limits = np.array([[2.0**18], [-(2.0**19)], [2.0**19], [3.0]]).repeat(11, axis=1)
sums = np.zeros((5, 2, 11))
print(totals(rows, limits, g.integers(0, 6, 4001).astype(np.uint32), sums), sums.tobytes().hex())
"""


@pytest.mark.full
def test_every_instruction_set_has_the_same_sums():
    assert on_every_path(SUMS).startswith("0 ")


def test_a_wrong_wish_is_an_error():
    done = run(SUMS, "sse9")
    assert done.returncode != 0 and "DPFAST_ISA" in done.stderr


def test_what_is_refused():
    rows, limits, key = case(5, 2, 1)
    sums = np.zeros((2, 2, 2))
    wide = limits.copy()
    wide[1, 0] = limits[3, 0] - REACH - 1
    for bad in (
        lambda: totals(rows, limits, key[:4], sums),
        lambda: totals(rows, limits[:3], key, sums),
        lambda: totals(rows, limits[:, :1].copy(), key, sums),
        lambda: totals(rows, limits, key, sums[:0]),
        lambda: totals(rows, limits, key, np.zeros((2, 1, 2))),
        lambda: totals(rows, limits, key, np.zeros((2, 2, 3))),
        lambda: totals(rows, wide, key, sums),
        lambda: totals(rows, wide * np.nan, key, sums),
        lambda: totals(np.zeros((MOST_ROWS + 1, 2)), limits, np.zeros(MOST_ROWS + 1, "u4"), sums),
    ):
        with pytest.raises(ValueError, match=r"must|many"):
            bad()
