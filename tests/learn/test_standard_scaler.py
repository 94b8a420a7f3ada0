"""Means and variances of columns, and rows that are scaled by them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpfast.learn import StandardScaler, standard_scaler
from dpfast.learn.design import REACH
from dpfast.rng import InsecureGenerator

from ..support.learners import recorded

G = np.random.default_rng(0)
ROWS = np.column_stack([G.uniform(1, 5, 4000), G.normal(-2, 0.3, 4000), np.full(4000, 7.0)])
BOUNDS = [(0, 8), (-4, 1), (7, 7)]


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_integers_are_those_of_the_definition(neighbors):
    rows = np.concatenate([ROWS[:50], [[-3.0, np.inf, 0.0], [9.0, -9.0, 8.0]]])
    _, values, _ = recorded(StandardScaler, rows, bounds=BOUNDS, neighbors=neighbors)
    expected = [0] * 7
    for row in rows.tolist():
        for j, (x, (lo, hi)) in enumerate(zip(row, BOUNDS, strict=True)):
            half = (hi - lo) / 2
            z = round((min(max(x, lo), hi) - (lo + hi) / 2) / half * REACH) if half else 0
            expected[1 + j] += z
            expected[4 + j] += (REACH**2 - z * z) // REACH
        expected[0] += REACH
    assert [int(x) for part in values for x in part] == expected


def test_means_and_variances_are_those_of_the_rows():
    made = StandardScaler(bounds=BOUNDS, rho=500).fit(ROWS, rng=InsecureGenerator(1))
    assert made.mean_ == pytest.approx(ROWS.mean(axis=0), abs=1e-3)
    assert made.var_ == pytest.approx(ROWS.var(axis=0), abs=1e-2)
    assert made.scale_[2] == 1 and made.n_rows_ == pytest.approx(4000, abs=2)
    scaled = made.transform(ROWS)
    assert scaled[:, :2].std(axis=0) == pytest.approx([1, 1], abs=0.02)
    assert made.inverse_transform(scaled) == pytest.approx(ROWS)
    plain = StandardScaler(bounds=BOUNDS, with_mean=False, with_std=False, rho=500).fit(ROWS)
    assert (plain.transform(ROWS) == ROWS).all()


def test_names_stay():
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    made = StandardScaler(bounds=BOUNDS, rho=1).fit(table)
    assert made.get_feature_names_out().tolist() == ["a", "b", "c"]
    assert list(made.set_output(transform="pandas").transform(table)) == ["a", "b", "c"]
    bare = StandardScaler(bounds=BOUNDS, rho=1).fit(ROWS)
    assert bare.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert bare.get_feature_names_out(["u", "v", "w"]).tolist() == ["u", "v", "w"]


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_row_changes_sums_by_no_more_than_is_said(relation):
    places = [-1.0, -0.7, -0.5, 0.0, 0.5, 0.71, 1.0]
    rows = [(x, y) for x in places for y in (-1.0, 0.3, 1.0)]

    def sums(row):
        kw = {"bounds": (-1, 1), "neighbors": "add-remove"}
        _, values, _ = recorded(StandardScaler, np.array([row]), **kw)
        return np.array([int(x) for part in values for x in part], object)

    *count, part = standard_scaler._parts(2, relation)
    added = [sums(row) for row in rows]
    moves = added
    if relation == "replace":
        assert count[0].l1 == 0
        moves = [a - b for a in added for b in added]
        assert not any(move[0] for move in moves)
    squares = max(sum(x * x for x in move) for move in moves)
    assert 0.99 * part.l2_squared < squares <= part.l2_squared
    assert max(sum(abs(x) for x in move) for move in moves) <= part.l1
    each = np.max(np.abs([move[-part.size :] for move in moves]), axis=0)
    assert (each <= part.sizes).all() and (each > 0.9 * np.array(part.sizes)).all()
