"""Private principal components: exact products, what a row moves by enumeration, what is kept."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast.learn import PCA, TruncatedSVD
from dpfast.learn import gram_matrix as _gram
from dpfast.learn.gram_matrix import GramMatrix
from dpfast.privacy import ZCDP
from dpfast.rng import InsecureGenerator
from dpfast.sulq import parts as round_parts

from ..reference.sulq import noisy_sums as reference
from ..support import learners

RELATIONS = ["replace", "add-remove"]
KINDS = [PCA, TruncatedSVD]


def recorded(kind, data, bounds=(0, 1), **kw):
    return learners.recorded(kind, data, bounds=bounds, **kw)


def table(n=4000, d=3, seed=0):
    g = np.random.default_rng(seed)
    return np.clip(g.normal(0.5, 0.1, (n, d)) @ g.normal(0, 0.5, (d, d)) + 0.5, 0, 1)


# --- exact sums -----------------------------------------------------------------------------------


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


def test_ratios_are_parts_of_the_variance_along_all_components():
    data = table()
    _, _, made = recorded(PCA, data, n_components=1)
    values = np.linalg.eigvalsh(np.cov(data.T, bias=True))
    assert made.explained_variance_ratio_ == pytest.approx([values[-1] / values.sum()], rel=1e-5)


def test_partial_sums_stay_exact_at_the_edge():
    """The largest integers there can be, in a full stretch of rows."""
    gram = GramMatrix([(-1.0, 1.0)] * 2, "raise", False)
    most = int(gram._limits[1].max())
    assert most * most * _gram.WIDE <= 2**53
    data = np.full((3 * _gram.WIDE + 1, 2), 1.0)
    _, ((first, second), (both,)), _ = recorded(TruncatedSVD, data, (-1, 1))
    assert first == second == both == len(data) * most**2


# --- what a row moves -----------------------------------------------------------------------------

DOMAIN = [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.3, 0.6)]


def worst(kind, relation, loss):
    """The largest part of the loss that a row takes, over all neighbors."""
    kw = {"neighbors": relation, "rho": None, **loss}

    def integers(data):
        return recorded(kind, np.array(data).reshape(-1, 2), **kw)[:2]

    return reference.worst(integers, DOMAIN, relation, 0 if "epsilon" in loss else 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_row_uses_more_than_the_loss(kind, relation, monkeypatch):
    loss = {"rho": 1}
    # A replaced row reaches the bound where two rows are at right angles, seen from the origin.
    least = 0.99 if relation == "add-remove" else 0.4
    assert least < worst(kind, relation, loss) <= 1
    right = GramMatrix.parts

    def less(self, neighbors):  # the planted fault: what a row moves is taken from another relation
        parts = right(self, neighbors)
        return [
            round_parts.Part(p.size, p.l1 // 3, p.l2_squared // 3, p.l0, Fraction(1)) for p in parts
        ]

    monkeypatch.setattr(GramMatrix, "parts", less)
    assert worst(kind, relation, loss) > 1


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


@pytest.mark.parametrize("relation", RELATIONS)
def test_integers_too_large_for_the_samplers_are_divided_by_enough(relation):
    gram = GramMatrix([(0.0, 1.0)] * 3, "raise", True)
    loss = ZCDP(Fraction(1, 10**7))
    made = learners.rounds_of(loss, relation, 1)
    times = math.sqrt(2) if relation == "replace" else 1.0
    noises = [made.noise(part) for part in gram.parts(relation) if part.l1]
    assert all(n.shift for n in noises)
    scales = [math.ldexp(float(n.scale), n.shift) for n in noises]
    # Squares and products of a row, by the noise of each, and what rounding down adds to all.
    size = 4
    rounded = math.sqrt(
        sum(
            (k * 2.0 ** (2 * n.shift)) / s**2
            for k, n, s in zip((size, size * (size - 1) / 2), noises[-2:], scales[-2:], strict=True)
        )
    )
    assert (times * gram.most / scales[-2] + rounded) ** 2 / 2 <= 1e-7 * (1 + 1e-12)
    assert scales[-2] / scales[-1] == pytest.approx(math.sqrt(2), rel=1e-6)


def test_noise_is_that_of_the_matrix():
    """Covariances of a fixed table, from many releases: the deviation that the proof allows."""
    data = np.array([[0.2, 0.8], [0.7, 0.4]] * 50)
    gram = GramMatrix([(0.0, 1.0)] * 2, "raise", True)
    deviation = gram.most / math.sqrt(2 * 0.5) * gram.grid**2
    generator = InsecureGenerator(2)
    _, _, exact = recorded(PCA, data)
    result = np.array(
        [
            PCA(bounds=(0, 1), rho=0.5).fit(data, rng=generator).covariance_ - exact.covariance_
            for _ in range(400)
        ]
    )
    # n is noisy too, but hardly shows in an entry whose place in the middle is near 0
    assert result[:, 0, 1].std() * 100 == pytest.approx(deviation / math.sqrt(2), rel=0.25)
    assert result[:, 0, 0].std() * 100 == pytest.approx(deviation, rel=0.25)
