"""Missing rows follow the field: dropped where the number of rows is private, else an error.

And counts of missing rows, with an audit by the exact law of the noise.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, DataError
from dpfast.extend import Feature, prepare
from dpfast.measurement import linear, statistic
from dpfast.measurement.statistic import Terms
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals.count import Count

from ..support.battery import CASES
from ..support.pairwise import quick_rows
from .test_choice import law, law_of_one, shifted

pa = pytest.importorskip("pyarrow")
N = 400
X = np.where(np.arange(N) % 4 == 1, math.nan, np.arange(N) % 10)
Y = np.where(np.arange(N) % 5 == 1, math.nan, np.arange(N) % 7)
XY = np.stack([X, Y], axis=1)
IDS = np.arange(N) // 2
#: A case of the battery for each statistic that says what it does with a missing number.
SAYS = 'nan : {"raise", "lower", "upper", "drop"} or float, optional'
EVERY = {
    name: next(case for case in CASES.values() if case.call is one.function and not case.rows)
    for name, one in dp.STATISTICS.items()
    if SAYS in str(one.function.__doc__)
}


def call(name, data=None, **more):
    case = EVERY[name]
    data = (XY if case.form == "table" else X) if data is None else data
    return case(data, case.losses[0], rng=InsecureGenerator(3), **more)


def same(a, b):
    np.testing.assert_array_equal(np.array(a, object), np.array(b, object))


@quick_rows(6)
@pytest.mark.parametrize("name", EVERY)
def test_missing_rows_are_dropped_where_their_number_is_private(name):
    """Of two columns a row is dropped with either, but for a quotient of sums of each."""
    relation, two = {"neighbors": "add-remove"}, EVERY[name].form == "table"
    same(call(name, **relation), call(name, nan="drop", **relation))
    kept = XY[~np.isnan(XY).any(axis=1)] if two else X[X == X]
    if name != "ratio":
        same(call(name, **relation), call(name, data=kept, nan="raise", **relation))
    with pytest.raises(DataError, match="nan='raise'"):
        call(name, neighbors="replace")
    with pytest.raises(ArgumentError, match="nan must be"):
        call(name, nan="drop", neighbors="replace")


@quick_rows(4)
@pytest.mark.parametrize("name", EVERY)
def test_so_they_are_of_people_and_under_masks(name):
    for neighbors in ("add-remove", "replace"):
        for more in ({"ids": IDS, "max_rows": 2}, {"where": np.arange(N) % 3 > 0}):
            if name.startswith("ptr") and "where" in more:
                continue
            same(*(call(name, nan=nan, neighbors=neighbors, **more) for nan in (None, "drop")))


CELLS = (0.0, 1.0, math.nan)


def moved_too_far(name, neighbors, masked=False, **more):
    """Return the neighbors whose exact sums are farther apart than the noise is for.

    A number of rows that is used as public has to be the same.
    """
    kw = {"bounds": (0, 1), "axis": 0, "epsilon": 1, "neighbors": neighbors, **more}
    found, base = [], [(0.0, 1.0), (math.nan, 1.0), (1.0, math.nan)]
    for new in itertools.product(CELLS, CELLS):
        sums, rows = [], []
        for data in (base, [*base, new] if neighbors == "add-remove" else [*base[1:], new]):
            mask = {"where": np.ones(len(data), bool)} if masked else {}
            prepared = prepare(getattr(dp, name), np.array(data), **kw, **mask)
            made = prepared.mechanism
            summary = made.reduce(prepared.source)
            plan = made.plan(summary[0].rows)
            sums.append(np.array(plan.totals(summary)))
            rows.append([one.rows for one in summary] if made.has_public_rows else 0)
        if rows[0] != rows[1] or (abs(sums[0] - sums[1]) > np.array(plan.sizes)).any():
            found.append(new)
    return found


@pytest.mark.parametrize("name", ["sum", "mean", "variance"])
def test_no_neighbor_moves_sums_by_more_than_their_noise_is_for(name, monkeypatch):
    """Under "replace" a mask makes the number of rows private."""
    assert not moved_too_far(name, "add-remove")
    assert not moved_too_far(name, "replace", masked=True)
    assert not moved_too_far(name, "replace", nan="upper")
    # Planted: rows that are dropped though their number is used as public.
    monkeypatch.setattr(Terms, "missing_rule", lambda self, nan: "drop")
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    assert name == "sum" or moved_too_far(name, "replace")


def test_counts_of_missing_rows_by_definition():
    def missing(data, **more):
        return dp.count(data, nan="only", epsilon=400, **more)

    where = np.arange(N) % 3 > 0
    assert missing(X) == missing(X, neighbors="replace") == np.isnan(X).sum()
    assert missing(XY, axis=0).tolist() == np.isnan(XY).sum(axis=0).tolist()
    assert missing(X, where=where) == np.isnan(X[where]).sum()
    assert missing(X, ids=IDS, max_rows=2) == np.isnan(X).sum()
    four = np.arange(N) // 8  # of eight rows of each, two are missing
    for most, due in ((1, 1), (2, 2), (9, 2)):
        assert abs(missing(X, ids=four, max_rows=most) - due * N // 8) < 1 + most
    assert missing(np.arange(9)) == 0
    for form in (pa.array(X, from_pandas=True), X.tolist(), [None, 3.0, math.nan, None] * 25):
        rows = pa.array(form).to_pylist()
        assert missing(form) == sum(one is None or one != one for one in rows)


def moves_of_counts(columns, neighbors):
    cells = list(itertools.product((0.0, math.nan), repeat=columns))
    base, found = [cells[0], cells[-1]], set()

    def sums(rows):
        kw = {"axis": 0} if columns > 1 else {}
        data = np.array(rows) if columns > 1 else np.array(rows)[:, 0]
        prepared = prepare(dp.count, data, nan="only", neighbors=neighbors, **LAW, **kw)
        made = prepared.mechanism
        return made.plan, np.array(made.plan.totals(made.reduce(prepared.source)))

    plan, before = sums(base)
    for new in cells:
        other = [*base, new] if neighbors == "add-remove" else [base[0], new]
        found.add(tuple((sums(other)[1] - before).tolist()))
    return plan.noise, {*found, *(tuple(-x for x in move) for move in found)}


LAW = {"epsilon": 0.75}


def worst(noise, moves):
    found = law_of_one(noise, 40) if isinstance(noise, IntegerNoise) else law(noise, 16)
    pairs = (shifted(found, move, 4) for move in moves)
    return max(float(np.log(p / q).max()) for p, q in pairs)


@pytest.mark.parametrize("neighbors", ["add-remove", "replace"])
@pytest.mark.parametrize("columns", [1, 2])
def test_the_exact_loss_of_a_count_of_missing_rows(columns, neighbors, monkeypatch):
    """It is reached, or nearly; the planted fault counts a missing row twice."""
    noise, moves = moves_of_counts(columns, neighbors)
    assert 0.9 * 0.75 < worst(noise, moves) <= 0.75 * (1 + 1e-9)
    twice = Feature((0, 0, 0), 0, 1, missing=2)
    monkeypatch.setattr(Count, "features", {**Count.features, "only": twice})
    monkeypatch.setattr(linear, "plan", linear.plan.__wrapped__)
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    noise, moves = moves_of_counts(columns, neighbors)
    assert worst(noise, moves) > 1.1 * 0.75
