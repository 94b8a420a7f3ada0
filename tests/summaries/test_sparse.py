"""Bins of people: what counts of each, by definition, and how far a person moves all bins."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import trunc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.shared import SharedNoise
from dpfast.rng import InsecureGenerator
from dpfast.statistics import histogram
from dpfast.summaries import sparse
from dpfast.summaries.sparse import Sparse

from ..support.pairwise import quick_rows
from ..support.views import quoted

RNG = np.random.default_rng(33)
N, BINS = 600, 6
DATA = {
    "who": RNG.integers(0, 40, N),
    "x": RNG.integers(0, BINS + 2, N) + 0.5,  # some are in no bin
    "w": RNG.integers(-4, 9, N) / 4,
    "shop": RNG.integers(0, 3, N),
}
EDGES = {"bins": np.arange(BINS + 1)}
WEIGHTS = {"weights": "w", "weight_bounds": (-0.5, 1)}


@pytest.fixture
def silent(monkeypatch):
    """No noise."""
    for noise in (IntegerNoise, SharedNoise):
        monkeypatch.setattr(noise, "draw", lambda self, size, generator: np.zeros(size, np.int64))


def due(most, where=True, weights=None):
    found = [Fraction(0)] * BINS
    w = np.ones(N) if weights is None else np.clip(DATA["w"], -0.5, 1)
    for who in set(DATA["who"].tolist()):
        own = (DATA["who"] == who) & (DATA["x"] < BINS) & where
        for b in range(BINS):
            if own.any():
                total = Fraction(float(w[own & (DATA["x"] == b + 0.5)].sum()))
                found[b] += total * min(int(own.sum()), most) / int(own.sum())
    return np.array(found, float)


@quick_rows(2)
@pytest.mark.parametrize("most", [1, N, 3])
def test_bins_are_what_counts_of_each_person(silent, most, tmp_path):
    table = {name: DATA[name] for name in ("who", "x")}
    pq.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=100)
    kw = {"ids": "who", "max_rows": most, "epsilon": 1, **EDGES}
    for where in (None, DATA["w"] > 0):
        own = due(most, True if where is None else where)
        for data in (table, dp.scan(tmp_path / "t.parquet", ["who", "x"])):
            counts, edges = dp.histogram(data, where=where, **kw)
            assert counts.dtype == np.int64 and edges.tolist() == EDGES["bins"].tolist()
            assert (abs(counts - own) <= 0.5 + 1e-4).all()
            tree = dp.tree_histogram(data, where=where, **kw)
            np.testing.assert_allclose(tree.counts, own, atol=1e-4)
            if most == N:  # nothing is rounded
                assert (counts == own).all() and (tree.counts == own).all()
    found, _ = dp.histogram(table | {"w": DATA["w"]}, **WEIGHTS, **kw)
    np.testing.assert_allclose(found, due(most, weights="w"), atol=1e-4)
    ids = {"ids": "who", "max_groups": 3, "max_rows": most}
    bins = dp.stat.histogram("x", **EDGES), dp.stat.histogram("x", **EDGES, **WEIGHTS)
    public, private = (
        dp.group_by(DATA, "shop", keys=keys, **ids).agg(dict(zip("ns", bins, strict=True)), **loss)
        for keys, loss in (([0, 1, 2], {"epsilon": 50}), (None, {"epsilon": 50, "delta": 1e-9}))
    )
    assert public["shop"].tolist() == private["shop"].tolist() == [0, 1, 2]
    for shop in range(3):
        counts, sums = due(most, DATA["shop"] == shop), due(most, DATA["shop"] == shop, "w")
        for name in public:
            assert public[name][shop] == private[name][shop] or name.endswith("error")
        own = [[public[f"{k} {b}"][shop] for b in range(BINS)] for k in "ns"]
        assert (abs(own[0] - counts) <= 0.5 + 1e-4).all()
        np.testing.assert_allclose(own[1], sums, atol=1e-4)


def test_cells_that_are_put_together_often_are_the_same(monkeypatch):
    table = {"who": np.tile(DATA["who"], 60), "x": np.tile(DATA["x"], 60)}
    kw = {"ids": "who", "max_rows": 2, "epsilon": 1, **EDGES}
    due = dp.histogram(table, rng=InsecureGenerator(1), **kw)[0].tolist()
    monkeypatch.setattr(sparse, "PENDING", 0)
    assert dp.histogram(table, rng=InsecureGenerator(1), **kw)[0].tolist() == due


def moved(most, rows, weights, first, rule=trunc):
    """What all bins move by, of one person whose rows are in some bins: each as `Sparse` counts."""
    own, c = Sparse(3, 2), len(rows)

    def fill(codes, room):
        for code, cell in zip(codes.tolist(), weights, strict=True):
            room[code] += np.array([cell, 1], np.uint64)

    own.add(np.zeros(c, np.int32), np.array(rows, np.uint32), fill)
    cells, words = own.of_units(most, first).total()
    found = dict(zip(cells.tolist(), words[:, 0].tolist(), strict=True))
    each = list(zip(weights, rows, strict=True))
    due = [Fraction(sum(w + first for w, r in each if r == b) * min(c, most), c) for b in range(3)]
    assert [found.get(b, 0) for b in range(3)] == [trunc(part) for part in due]
    return [rule(part) for part in due]


def away(exact):
    """Planted: rounded away from zero."""
    return -((-exact) // 1) if exact > 0 else exact // 1


def test_nobody_moves_all_bins_by_more_than_so_many_rows():
    """Every person of few rows, in three bins, with cells of two sizes."""
    worst = {trunc: 0, away: 0}
    for c in range(1, 6):
        for rows in itertools.combinations_with_replacement(range(3), c):
            for most, first, weights in (
                (1, 4, [0] * c), (2, 4, [0] * c), (2, -3, [0, 4] * 3), (1, -3, [5, 0] * 3),
            ):  # fmt: skip
                largest = max(abs(first), abs(first + max(weights)))
                for rule in worst:
                    change = moved(most, rows, weights[:c], first, rule)
                    worst[rule] = max(worst[rule], sum(map(abs, change)) / (most * largest))
                    if rule is trunc:
                        assert sum(x * x for x in change) <= (most * largest) ** 2
    assert worst[trunc] == 1 < worst[away]


def test_noise_covers_parts_of_rows_in_all_bins():
    """No staircase noise of a single move, where a person may move many bins a little."""
    table = {name: DATA[name] for name in ("who", "x")}
    for loss in ({"epsilon": 9}, {"rho": 2}, {"epsilon": 9, "delta": 1e-9}):
        kw = {"ids": "who", "max_rows": 2, **loss}
        plain = quoted(dp.histogram, table, **EDGES, **kw).inner
        assert plain.noise.distribution != "staircase"
        one = quoted(dp.histogram, table, bins=[0, 9], **kw).inner
        assert one.noise.deviation <= plain.noise.deviation
        assert plain.noise_parameters["deviation"] * 2**histogram.PARTS == plain.noise.deviation
    groups = dp.group_by(DATA, "shop", keys=[0, 1, 2], ids="who", max_groups=3, max_rows=2)
    alone = groups.histogram("x", **EDGES, epsilon=9)["histogram error"][0]
    assert alone >= groups.count(epsilon=9)["count error"][0]


@pytest.mark.parametrize("kind", [np.uint64, np.int64])
def test_sums_that_carry(kind):
    """Words of rows and carries, and integers of two words with a sign, put together in parts."""
    carry, rng = 1 << 40 if kind == np.uint64 else 1, np.random.default_rng(5)
    own, due = Sparse(1, 2), {}
    for _ in range(4):
        cells = np.flatnonzero(rng.integers(0, 2, 9))
        words = rng.integers(2**63, 2**64, (len(cells), 2), np.uint64, endpoint=False)
        words[:, 1] = rng.integers(0, 50, len(cells))
        words = words.view(kind) - np.array([0, 25 * (carry == 1)], kind)
        own.append(cells, words)
        for cell, (low, more) in zip(cells.tolist(), words.tolist(), strict=True):
            due[cell] = due.get(cell, 0) + low % 2**64 + (2**64 * more if carry == 1 else 0)
    cells, sums = own.total()
    assert cells.tolist() == sorted(due)
    for cell, (low, more) in zip(cells.tolist(), sums.tolist(), strict=True):
        carries = more if carry == 1 else more // carry
        assert low % 2**64 + 2**64 * carries == due[cell]
