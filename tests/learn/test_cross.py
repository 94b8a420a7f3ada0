"""Codes, trees and joint counts: the kernels against one row at a time, and their refusals."""

from __future__ import annotations

import numpy as np
import pytest

from dpfast._kernels import learn as cross

from ..reference.learn import decision_tree as reference
from ..support.paths import on_every_path, run

SPECIAL = [np.nan, np.inf, -np.inf, 1e300, -1e300, 0.5, 1e-20, 3.0 - 2**-50, 2.0**31, -(2.0**31)]


def u4(values):
    return np.array(values, np.uint32)


@pytest.mark.parametrize("n", [0, 1, 7, 64, 1000])
@pytest.mark.parametrize("width", [1, 3, 8, 21])
def test_codes(n, width):
    g = np.random.default_rng(n + width)
    first = g.integers(-3, 4, width).astype(float)
    count = g.integers(1, 6, width)
    rows = g.integers(-5, 10, (n, width)).astype(float)
    odd = g.uniform(size=rows.shape) < 0.2
    rows[odd] = g.choice(SPECIAL, int(odd.sum()))
    values = [[f + k for k in range(c)] for f, c in zip(first, count, strict=True)]
    expected = [reference.coded(row, values) for row in rows.tolist()]
    for side in (1, 5):
        out = np.full((n, width), 77, np.uint32)
        limits = [np.tile(x.astype(float), (side, 1)) for x in (first, count)]
        cross.codes(rows, *limits, out)
        assert out.tolist() == expected


CODES = """
import numpy as np
from dpfast._kernels.learn import codes
g = np.random.default_rng(0)
rows = g.integers(-2, 9, (10_007, 11)).astype(float)
rows[g.uniform(size=rows.shape) < 0.1] = np.nan
out = np.empty(rows.shape, np.uint32)
codes(rows, np.full((3, 11), 1.0), np.full((3, 11), 4.0), out)
print(out.tobytes().hex())
"""


@pytest.mark.full
def test_every_instruction_set_has_the_same_codes():
    assert len(on_every_path(CODES)) == 10_007 * 11 * 8


COUNTS = """
import numpy as np
from dpfast._kernels import learn as cross
g = np.random.default_rng(0)
n, values = 5_003, g.integers(1, 9, 70).astype(np.uint32)
codes, key = g.integers(0, 10, (n, 70), np.uint32), g.integers(0, 14, n).astype(np.uint32)
counts = np.zeros(cross.cells(values, 12)[1], np.int64)
cross.count(codes, key, 12, values, counts)
print(counts.tobytes().hex())
"""


@pytest.mark.full
def test_every_instruction_set_counts_the_same():
    counts = np.frombuffer(bytes.fromhex(on_every_path(COUNTS)), np.int64)
    assert counts.sum() == 5_003 * 70


def test_a_wrong_wish_is_an_error():
    for code in (CODES, COUNTS):
        done = run(code, "sse9")
        assert done.returncode != 0 and "DPFAST_ISA" in done.stderr


#: A root of two values, whose second child has three, and what is none of them.
NODES = [(0, 1, 2), (0, 1, 0), (1, 4, 3), (0, 3, 0), *((0, i, 0) for i in range(4, 8))]


@pytest.mark.parametrize("n", [0, 1, 500])
def test_rows_walk_down_a_tree(n):
    g = np.random.default_rng(n)
    codes = u4(g.integers(0, 5, (n, 2)))
    if n:
        codes[0] = 2**32 - 1
    made = cross.Tree(*(u4(x) for x in zip(*NODES, strict=True)), 2)
    label, slot = u4(g.integers(0, 4, n)), u4([cross.NONE, 0, cross.NONE, 1, 2, 3, 4, cross.NONE])
    for steps in range(4):
        node = np.full(n, 7, np.uint32)
        made.walk(codes, steps, node)
        assert node.tolist() == [reference.walked(c, NODES, steps) for c in codes.tolist()]
        key = np.empty(n, np.uint32)
        made.keys(node, label, slot, 3, key)
        expected = [
            int(slot[i]) * 3 + c if slot[i] != cross.NONE and c < 3 else cross.NONE
            for i, c in zip(node.tolist(), label.tolist(), strict=True)
        ]
        assert key.tolist() == expected


@pytest.mark.parametrize("width", [1, 2, 5, 256, 300])  # more than 256 are counted by turns
def test_joint_counts(width):
    g = np.random.default_rng(width)
    values, keys, n = g.integers(1, 5, width), 6, 700
    codes, key = u4(g.integers(0, 7, (n, width))), u4(g.integers(0, 9, n))
    codes[3], key[5] = 2**32 - 1, cross.NONE
    at, size = cross.cells(u4(values), keys)
    counts = np.ones(size, np.int64)  # they are added to
    cross.count(codes, key, keys, u4(values), counts)
    expected = reference.crossed(codes.tolist(), key.tolist(), values.tolist(), keys)
    for a, v in enumerate(values.tolist()):
        own = counts[at[a] : at[a] + (v + 1) * (keys + 1)].reshape(v + 1, keys + 1) - 1
        assert own.tolist() == expected[a]


def test_what_is_refused_for_its_size():
    values, keys = u4([1, 2**29]), 1
    with pytest.raises(ValueError, match="too many cells"):
        cross.count(np.zeros((1, 2), np.uint32), u4([0]), keys, values, np.zeros(8, np.int64))


def test_what_is_refused():
    rows, out = np.zeros((4, 2)), np.zeros((4, 2), np.uint32)
    one = np.ones((1, 2))
    for bad in (
        lambda: cross.codes(rows, one[:, :1], one[:, :1], out),
        lambda: cross.codes(rows, one, np.ones((2, 2)), out),
        lambda: cross.codes(rows, one, one, out[:3]),
        lambda: cross.codes(rows, one, one * 2.0**31, out),
        lambda: cross.codes(rows, one, one * np.nan, out),
        lambda: cross.Tree(u4([]), u4([]), u4([]), 1),
        lambda: cross.Tree(u4([1]), u4([0]), u4([0]), 1),  # no such attribute
        lambda: cross.Tree(u4([0]), u4([0]), u4([1]), 1),  # no such child
        lambda: cross.Tree(u4([0]), u4([0, 0]), u4([0]), 1),
        lambda: cross.count(out, u4([0] * 3), 2, u4([1, 1]), np.zeros(12, np.int64)),
        lambda: cross.count(out, u4([0] * 4), 2, u4([1, 1]), np.zeros(11, np.int64)),
        lambda: cross.count(out, u4([0] * 4), 2**31, u4([1, 1]), np.zeros(12, np.int64)),
    ):
        with pytest.raises(ValueError, match=r"must|many"):
            bad()
    made = cross.Tree(u4([0]), u4([0]), u4([0]), 2)
    with pytest.raises(ValueError, match="code"):
        made.walk(out, 1, np.zeros(5, np.uint32))
    for node, slot in ((u4([1]), u4([0])), (u4([0]), u4([2**31])), (u4([0]), u4([0, 0]))):
        with pytest.raises(ValueError, match=r"must|many"):
            made.keys(node, u4([0]), slot, 1, np.zeros(1, np.uint32))
