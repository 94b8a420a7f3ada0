"""Private principal components: exact products, what a row moves by enumeration, what is kept."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast.learn import PCA, TruncatedSVD
from dpfast.learn.gram_matrix import GramMatrix

from ..reference.sulq import noisy_sums as reference
from ..support import learners

RELATIONS = ["replace", "add-remove"]
KINDS = [PCA, TruncatedSVD]


def recorded(kind, data, bounds=(0, 1), **kw):
    return learners.recorded(kind, data, bounds=bounds, **kw)


def table(n=4000, d=3, seed=0):
    g = np.random.default_rng(seed)
    return np.clip(g.normal(0.5, 0.1, (n, d)) @ g.normal(0, 0.5, (d, d)) + 0.5, 0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_integers_are_those_of_the_definition(kind):
    data = table(700).tolist()
    data[3] = [math.inf, -math.inf, 0.5]
    bounds = [(0.1, 0.9), (0.0, 1.0), (0.25, 0.75)]
    gram = GramMatrix(bounds, "raise", kind is PCA, 0.5 / math.sqrt(3))
    w = [
        [gram.constant]
        * (kind is PCA)
        + [
            round(reference.clipped(x, *b, gram.grid) / Fraction(gram.grid)) - int(m)
            for x, b, m in zip(row, bounds, gram.middle, strict=True)
        ]
        for row in data
    ]  # fmt: skip
    size = len(w[0])
    expected = [sum(v[i] * v[i] for v in w) for i in range(size)]
    expected += [sum(v[i] * v[j] for v in w) for i, j in itertools.combinations(range(size), 2)]
    _, values, _ = recorded(kind, np.array(data), bounds)
    assert list(itertools.chain(*values)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_without_noise_they_are_those_of_numpy(kind):
    data = table()
    _, _, made = recorded(kind, data)
    if kind is PCA:
        cov = np.cov(data.T, bias=True)
        assert made.covariance_ == pytest.approx(cov, abs=1e-7)
        assert made.mean_ == pytest.approx(data.mean(axis=0), abs=1e-6)
        assert made.n_rows_ == len(data) and made.explained_variance_ratio_.sum() == pytest.approx(
            1
        )
        values = made.explained_variance_
        matrix = cov
    else:
        matrix, values = data.T @ data, made.singular_values_**2
    assert values == pytest.approx(np.linalg.eigvalsh(matrix)[::-1], rel=1e-5)
    v = made.components_
    assert v @ matrix @ v.T == pytest.approx(np.diag(values), abs=1e-5 * values.max())
    assert (v[np.arange(3), abs(v).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_row_changes_the_matrix_by_more_than_is_said(kind, relation):
    gram = GramMatrix([(-1.0, 1.0)] * 2, "raise", kind is PCA, 0.5)
    asked = gram.whole(relation)
    grid = np.linspace(-1, 1, 9)
    rows = [
        np.r_[[gram.constant] * (kind is PCA), np.rint(np.array(z) / gram.grid)]
        for z in itertools.product(grid, repeat=2)
    ]
    others = rows if relation == "replace" else [np.zeros_like(rows[0])]
    most = 0.0
    for one, other in itertools.product(rows, others):
        change = np.outer(one, one) - np.outer(other, other)
        most = max(most, np.abs(np.linalg.eigvalsh(change)).sum())
        assert not change[0, 0] or not asked.public_squares
    # With a constant beside them no two rows are at right angles and as long as can be.
    least = 0.75 if relation == "replace" and kind is PCA else 0.999
    assert least * asked.trace < most <= asked.trace * (1 + 1e-12)
    assert most > asked.trace / 2  # the planted fault: what a row moves is taken for half
