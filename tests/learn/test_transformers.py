"""Components and scaled columns: exact sums, and without noise what NumPy finds."""

import numpy as np
import pandas as pd
import pytest

from dpfast.learn import PCA, StandardScaler, TruncatedSVD
from dpfast.learn.design import REACH
from dpfast.rng import InsecureGenerator

from ..support.learners import recorded

G = np.random.default_rng(0)
ROWS = np.column_stack([G.uniform(1, 5, 4000), G.normal(-2, 0.3, 4000), np.full(4000, 7.0)])
BOUNDS = [(0, 8), (-4, 1), (7, 7)]


@pytest.mark.parametrize("kind", [PCA, TruncatedSVD])
def test_without_noise_components_are_those_of_numpy(kind):
    data = np.clip(G.normal(0.5, 0.1, (4000, 3)) @ G.normal(0, 0.5, (3, 3)) + 0.5, 0, 1)
    _, _, made = recorded(kind, data, bounds=(0, 1))
    if kind is PCA:
        matrix, values = np.cov(data.T, bias=True), made.explained_variance_
        assert made.covariance_ == pytest.approx(matrix, abs=1e-7)
        assert made.mean_ == pytest.approx(data.mean(axis=0), abs=1e-6)
        assert made.n_rows_ == len(data)
        assert made.explained_variance_ratio_.sum() == pytest.approx(1)
    else:
        matrix, values = data.T @ data, made.singular_values_**2
    assert values == pytest.approx(np.linalg.eigvalsh(matrix)[::-1], rel=1e-5)
    v = made.components_
    assert v @ matrix @ v.T == pytest.approx(np.diag(values), abs=1e-5 * values.max())
    assert (v[np.arange(3), abs(v).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_sums_of_scaling_are_those_of_the_definition(neighbors):
    rows = np.concatenate([ROWS[:50], [[-3.0, np.inf, 0.0], [9.0, -9.0, 8.0]]])
    _, values, _ = recorded(StandardScaler, rows, bounds=BOUNDS, neighbors=neighbors)
    expected = [REACH * len(rows)] + [0] * 6
    for row in rows.tolist():
        for j, (x, (lo, hi)) in enumerate(zip(row, BOUNDS, strict=True)):
            half = (hi - lo) / 2
            z = round((min(max(x, lo), hi) - (lo + hi) / 2) / half * REACH) if half else 0
            expected[1 + j] += z
            expected[4 + j] += (REACH**2 - z * z) // REACH
    assert [int(x) for part in values for x in part] == expected


def test_columns_are_scaled_by_their_means_and_variances_and_keep_their_names():
    made = StandardScaler(bounds=BOUNDS, rho=500).fit(ROWS, rng=InsecureGenerator(1))
    assert made.mean_ == pytest.approx(ROWS.mean(axis=0), abs=1e-3)
    assert made.var_ == pytest.approx(ROWS.var(axis=0), abs=1e-2)
    assert made.scale_[2] == 1 and made.n_rows_ == pytest.approx(4000, abs=2)
    scaled = made.transform(ROWS)
    assert scaled[:, :2].std(axis=0) == pytest.approx([1, 1], abs=0.02)
    assert made.inverse_transform(scaled) == pytest.approx(ROWS)
    plain = StandardScaler(bounds=BOUNDS, with_mean=False, with_std=False, rho=500).fit(ROWS)
    assert (plain.transform(ROWS) == ROWS).all()
    assert plain.get_feature_names_out().tolist() == ["x0", "x1", "x2"]
    assert plain.get_feature_names_out(["u", "v", "w"]).tolist() == ["u", "v", "w"]
    table = pd.DataFrame(ROWS, columns=["a", "b", "c"])
    plain.fit(table).set_output(transform="pandas")
    assert list(plain.transform(table)) == ["a", "b", "c"] == [*plain.get_feature_names_out()]
