"""What units count for: by definition, by its slow twin, and by brute force on small inputs."""

from __future__ import annotations

import math
from functools import partial
from itertools import combinations_with_replacement, product

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast._kernels.tables import Key
from dpfast.errors import DataError
from dpfast.measurement import linear
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.noise.wishart import MatrixNoise
from dpfast.statistics import covariance
from dpfast.summaries import units
from dpfast.summaries.units import bounded

from ..reference.summaries import units as twin
from ..support.pairwise import quick_rows

RNG = np.random.default_rng(33)
BOUNDS = {"bounds": (0, 3)}
BOTH = {"bounds": [(0, 3), (-2, 1)]}
WEIGHTS = {"weight_bounds": (1, 2)}
#: Statistics of one column, and of two.
ONE = {
    "count": (dp.count, {}),
    "sum": (dp.sum, BOUNDS),
    "sum below 0": (dp.sum, {"bounds": (-1, 2)}),
    "mean": (dp.mean, BOUNDS),
    "variance": (dp.variance, BOUNDS),
    "std": (dp.std, BOUNDS),
    "proportion": (dp.proportion, {"equal": 2}),
}
TWO = {
    "sums": (dp.sum, {**BOTH, "axis": 0}),
    "means": (dp.mean, {**BOTH, "axis": 0}),
    "variances": (dp.variance, {**BOTH, "axis": 0}),
    "covariance": (dp.covariance, BOTH),
    "correlation": (dp.correlation, BOTH),
    "ratio": (dp.ratio, BOTH),
    "weighted sum": (dp.sum, {**BOUNDS, **WEIGHTS, "weights": "w"}),
    "weighted mean": (dp.mean, {**BOUNDS, **WEIGHTS, "weights": "w"}),
    "weighted proportion": (dp.proportion, {"equal": 2, **WEIGHTS, "weights": "w"}),
}
EVERY = {**ONE, **TWO}
#: Pure and approximate losses take other forms and noises.
LOSSES = {"epsilon": {"epsilon": 1}, "delta": {"epsilon": 1, "delta": 1e-6}, "rho": {"rho": 0.5}}


@pytest.fixture
def exact(monkeypatch):
    """What gets noise, of all units together; there is no noise."""
    sums: list[list[int]] = []

    def add(self, values, generator):
        sums.append(list(values))
        return list(values)

    for noise in (IntegerNoise, BoxNoise, MatrixNoise):
        monkeypatch.setattr(noise, "add", add)

    def of(call, data, **kw):
        sums.clear()
        call(data, **kw)
        return sums[0]

    return of


def data_of(name, rows):
    if name in ONE:
        return np.array([row[0] for row in rows], float)
    first, second = ([row[i] for row in rows] for i in (0, 1))
    return {"x": np.array(first, float), "w": np.array(second, float)}


@quick_rows(9)
@pytest.mark.parametrize(
    ("name", "loss"),
    [
        pytest.param(*pair, marks=[pytest.mark.full] * (pair[1] != "epsilon" and pair[0] in TWO))
        for pair in product(EVERY, LOSSES)
    ],
)
def test_a_unit_counts_as_its_definition_says(exact, name, loss):
    """A row alone is what it adds; the sums are those of units, each of which counts in part."""
    call, more = EVERY[name]
    rows = RNG.integers(-3, 5, (20, 2)) / 2
    ids = RNG.integers(0, 5, 20)
    for most in (1, 3, 20):
        kw = {**more, **LOSSES[loss], "max_rows": most, "neighbors": "add-remove"}
        each = [exact(call, data_of(name, [row]), ids=[0], **kw) for row in rows]
        due = [0] * len(each[0])
        for own in set(ids.tolist()):
            mine = [each[i] for i in np.flatnonzero(ids == own)]
            totals = map(sum, zip(*mine, strict=True))
            due = [a + twin.part(t, len(mine), most) for a, t in zip(due, totals, strict=True)]
        assert exact(call, data_of(name, rows), ids=ids, **kw) == due


def test_the_kernel_is_its_twin():
    for sums, squares in ((1, False), (1, True), (3, False)):
        room = RNG.integers(0, 2**63, (50, 4 if squares else 2 * sums), np.uint64, endpoint=True)
        rows = RNG.integers(0, 9, 50, np.uint64)
        rows[::7] = 2**40 - 1
        for j in range(1 if squares else sums):
            carries = RNG.integers(0, 2**20, 50, np.uint64)
            room[:, 2 * j + 1] = rows + (carries << np.uint64(40))
        if squares:
            room[:, 3] %= np.uint64(1 << 40)
        room[::3, 0] %= np.uint64(1 << 20)
        room[::3, 1] %= np.uint64(1 << 40)
        factors = RNG.integers(-(2**30), 2**30, (4, 1 + sums + squares)).tolist()
        factors.append([0] * (sums + squares) + [1])

        def features(own, factors=factors):
            return [sum(a * b for a, b in zip(row, own, strict=True)) for row in factors]

        for most, ends in product((1, 2, 5, 2**40, 10**30), ([], [(-(2**70), 2**33)])):
            due = twin.bounded(room, most, features, squares, *ends)
            assert bounded(room, most, features, squares, *ends) == due
        assert bounded(room[:0], 3, features, squares) == [0] * len(factors)


@pytest.mark.parametrize("width", [1, 2, 4, 6])
def test_sums_are_merged_with_what_they_carry(width):
    room = RNG.integers(0, 2**64, (9, width), np.uint64) >> np.uint64(width == 1)
    room[:, 1::2] >>= np.uint64(34)
    more, due = room[[3, 1, 2, 0, 4, 8]].copy(), room.copy()
    for i, j in product(range(5), range(0, width, 2)):
        total = int(room[i, j]) + int(more[i, j])
        due[i, j] = total % 2**64
        if width > 1:
            due[i, j + 1] += more[i, j + 1] + np.uint64(total >> 64 << 40)
    units.merge(room, more)
    assert (room == due).all()


def of_units(exact, name, loss, most, cells=4, longest=4):
    call, more = EVERY[name]
    values = list(range(cells)) if name in ONE else list(product(range(0, cells, 3), range(-2, 2)))
    rows = [(value, 0) for value in values] if name in ONE else values
    kw = {**more, **LOSSES[loss], "max_rows": most, "neighbors": "add-remove"}
    each = [exact(call, data_of(name, [row]), ids=[0], **kw) for row in rows]
    found = [
        exact(call, data_of(name, own), ids=[0] * length, **kw)
        for length in range(1, longest + 1)
        for own in combinations_with_replacement(rows, length)
    ]
    return each, found


def leaks(each, found, most):
    """Whether a unit moves the sums by more than `most` of its rows may, in any norm."""

    def norms(vectors):
        v = np.array(vectors, object)
        yield from abs(v).max(axis=0)
        yield from -np.minimum(v, 0).min(axis=0)
        yield abs(v).sum(axis=1).max()
        yield math.sqrt((v * v).sum(axis=1).max()) * (1 - 1e-12)

    return any(a > most * b for a, b in zip(norms(found), norms(each), strict=True))


AUDITED = [("mean", "epsilon"), ("variance", "epsilon"), ("sum below 0", "delta")]
AUDITED += [("proportion", "epsilon"), ("count", "rho")]
FULL = [pair for pair in product(EVERY, LOSSES) if pair not in AUDITED]


@quick_rows(4)
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize(
    ("name", "loss"), [*AUDITED, *(pytest.param(*one, marks=pytest.mark.full) for one in FULL)]
)
def test_no_unit_moves_the_sums_by_more_than_so_many_rows(exact, name, loss, most):
    each, found = of_units(exact, name, loss, most, longest=4 if name in ONE else 3)
    assert not leaks(each, found, most)


@pytest.mark.parametrize("rule", [twin.away, twin.whole])
def test_planted_faults_of_bounding_are_found(exact, monkeypatch, rule):
    for room in (linear, covariance):
        monkeypatch.setattr(room, "bounded", partial(twin.bounded, rule=rule))
    # A third of a row is no whole number of cells, of which there are 3.
    monkeypatch.setattr(linear, "cells", lambda lo, hi, *rest, **kw: units.Cells(1.0, 0, 3))
    found = [leaks(*of_units(exact, name, "epsilon", 1), 1) for name in ("mean", "variance")]
    assert any(found)


def test_too_many_units_for_the_memory():
    with pytest.raises(DataError, match="too many ids") as error:
        units.zeros((1 << 55, 17))
    assert "17" not in str(error.value)


@pytest.fixture
def tiny(monkeypatch):
    """No memory: sums are written after each chunk."""
    monkeypatch.setattr(units, "share", lambda: 0)
    monkeypatch.setattr(units, "STEP", 0)
    monkeypatch.setattr(units, "PARTS", 5)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_units_beyond_memory_count_alike(exact, tiny, threads, monkeypatch, tmp_path):
    monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
    runs, right = [], units.Units._write

    def write(self):
        runs.append(len(self._codes))
        right(self)

    monkeypatch.setattr(units.Units, "_write", write)
    path = tmp_path / "t.parquet"
    n = 800
    rng = np.random.default_rng(8)
    table = {
        "id": [None if i == 3 else f"{i}" * (i % 9) for i in rng.integers(0, 90, n).tolist()],
        "x": rng.integers(-1, 5, n) / 2.0,
        "y": rng.integers(1, 3, n) * 1.0,
    }
    pq.write_table(pa.table(table), path, row_group_size=100)
    for name, (call, more) in {**ONE, "covariance": TWO["covariance"]}.items():
        columns = ["x", "y"] if name == "covariance" else ["x"]
        whole = {"id": table["id"], **{one: table[one] for one in columns}}
        kw = {"ids": "id", "max_rows": 3, "epsilon": 1, **more}
        with monkeypatch.context() as plenty:
            plenty.setattr(units, "STEP", 1 << 40)
            due = exact(call, whole, **kw)
        assert not runs
        assert exact(call, dp.scan(path, ["id", *columns]), **kw) == due
        assert len(runs) > 3 and sum(runs) > 200
        runs.clear()


def test_units_that_are_not_put_together_are_caught(exact, tiny, monkeypatch, tmp_path):
    """Planted: what is in memory is bounded each time, so a unit counts again and again."""
    path = tmp_path / "t.parquet"
    table = {"id": np.tile(np.arange(10), 30), "x": np.full(300, 3.0)}
    pq.write_table(pa.table(table), path, row_group_size=20)
    kw = {"ids": "id", "max_rows": 2, "epsilon": 1, **BOUNDS}
    one = exact(dp.sum, {"id": np.arange(10), "x": np.full(10, 3.0)}, **kw)
    assert exact(dp.sum, dp.scan(path, ["id", "x"]), **kw) == [2 * total for total in one]
    held, parts = [], units.Units._merged

    def write(self):
        held.append(parts(self))
        self._begin()

    monkeypatch.setattr(units.Units, "_write", write)
    monkeypatch.setattr(units.Units, "parts", lambda self: iter([*held, parts(self)]))
    assert exact(dp.sum, dp.scan(path, ["id", "x"]), **kw)[0] > 2 * one[0]


def test_a_fault_of_one_thread_does_not_stop_others(tiny):
    """Who waits for sums to be written goes on when rows could not be added."""
    own = units.Units(Key(bytes(32)), [1])

    def wrong(codes, rooms):
        raise ValueError("no rows")

    def count(codes, rooms):
        rooms[0][codes] += np.uint64(1)
        return [0]

    own.add(np.arange(3), 3, None, count)
    with pytest.raises(ValueError, match="no rows"):
        own.add(np.arange(3), 3, None, wrong)
    own.add(np.arange(2), 2, None, count)
    assert own.added(lambda rooms: [[int(rooms[0].sum())], [len(rooms[0])]]) == [[5], [3]]
