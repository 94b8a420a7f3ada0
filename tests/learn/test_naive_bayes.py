"""Private naive Bayes: exact sums, what a row moves, what is learned from them, what is refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpfast.learn import NaiveBayes, naive_bayes
from dpfast.learn.columns import Classes, columns_of
from dpfast.learn.naive_bayes import ClassSums
from dpfast.privacy import ZCDP, Pure
from dpfast.sulq import parts as round_parts

from ..reference.learn import decision_tree as reference
from ..reference.sulq import noisy_sums as neighborly
from ..support import learners
from ..support.pairwise import every_value

RELATIONS = ["replace", "add-remove"]
recorded = partial(learners.recorded, NaiveBayes, classes=[0, 1])
MIXED = {"bounds": [(0, 1), None, (-10, 30)], "categories": [None, [0, 1, 2], None]}


def people(n=6000, seed=0):
    """Two classes, a column of categories between two of numbers."""
    g = np.random.default_rng(seed)
    y = (g.uniform(size=n) < 0.3).astype(int)
    X = np.stack(
        [
            np.clip(g.normal(0.3 + 0.3 * y, 0.1), 0, 1),
            np.where(g.uniform(size=n) < 0.6, y, 2),
            g.normal(5 + 10 * y, 4),
        ],
        axis=1,
    )
    return X, y


def test_without_noise_it_is_naive_bayes():
    X, y = people()
    _, values, made = recorded(X, y, **MIXED)
    assert values[0] == [int((y == c).sum()) for c in (0, 1)]
    clipped = np.clip(X, [0, 0, -10], [1, 2, 30])
    for c in (0, 1):
        expected = reference.spreads(clipped.tolist(), y.tolist(), c)
        for j in (0, 2):
            width = [1, None, 40][j]
            assert made.theta_[c, j] == pytest.approx(expected[j][0], abs=1e-5 * width)
            assert made.var_[c, j] == pytest.approx(expected[j][1], abs=1e-5 * width**2)
        counts = [int(((y == c) & (X[:, 1] == v)).sum()) + 1 for v in range(3)]
        shares = np.exp(made.category_log_prob_[1][c])
        assert shares == pytest.approx(np.array(counts) / sum(counts))
    assert np.isnan(made.theta_[:, 1]).all() and made.category_log_prob_[0] is None
    assert made.class_prior_ == pytest.approx([1 - y.mean(), y.mean()])
    assert made.score(X, y) > 0.95


def test_chances_are_those_of_the_definition():
    X, y = people(500)
    made = NaiveBayes(**MIXED, classes=[0, 1], rho=5).fit(X, y)
    rows = np.array([[0.4, 1.0, 3.0], [5.0, 9.0, 31.0], [np.nan, 0.0, np.nan]])
    expected = []
    for row in np.clip(rows, [0, -9, -10], [1, 9, 30]).tolist():
        one = []
        for c in (0, 1):
            p = math.log(made.class_prior_[c])
            for j in (0, 2):
                if row[j] == row[j]:
                    z = (row[j] - made.theta_[c, j]) ** 2 / made.var_[c, j]
                    p -= 0.5 * (z + math.log(made.var_[c, j]))
            if row[1] in (0, 1, 2):
                p += made.category_log_prob_[1][c][int(row[1])]
            one.append(p)
        expected.append(np.exp(one - np.logaddexp(*one)))
    assert made.predict_proba(rows) == pytest.approx(np.array(expected))
    assert (made.predict(rows) == np.argmax(expected, axis=1)).all()


def test_missing_categories_and_labels():
    X, y = people(600)
    odd, labels = X.copy(), y.astype(float)
    odd[::5, 1], labels[::7] = np.nan, 3.0  # categories need no policy, labels none either
    _, values, _ = recorded(odd, labels, **MIXED)
    assert sum(values[0]) == np.count_nonzero(labels != 3)
    assert sum(values[2]) == np.count_nonzero((labels != 3) & ~np.isnan(odd[:, 1]))


POINTS = [0.0, 0.25, 0.5, 0.75, 1.0]
SPOTS = {
    "numbers": ({"bounds": (0, 1)}, [(a, b) for a in POINTS for b in (0.0, 0.5, 1.0)]),
    "both": (
        {"bounds": [(0, 1), None], "categories": [None, [0, 1]]},
        [(a, b) for a in POINTS for b in (0.0, 1.0, 5.0)],
    ),
    "categories": ({"categories": [0, 1, 2]}, [(a, b) for a in (0, 1, 9) for b in (0, 2)]),
}


def used(kind, relation, loss):
    """The largest part of the round that a row takes."""
    public, spots = SPOTS[kind]
    each = columns_of(public.get("bounds"), public.get("categories")).for_width(2)
    own = ClassSums(each, Classes([0, 1]), "raise")
    parts = own.parts(relation, loss)
    domain = [(*spot, label) for spot in spots for label in (0, 1, 7)]
    kw = {**public, "neighbors": relation, "rho": None}
    kw["rho" if isinstance(loss, ZCDP) else "epsilon"] = 1

    def integers(rows):
        table = np.array(rows, float).reshape(-1, 3)
        return recorded(table[:, :2], table[:, 2], **kw)[1]

    alone, worst = {row: integers([row]) for row in domain}, 0.0
    if relation == "replace":
        pairs = itertools.combinations(alone.values(), 2)
    else:
        nothing = [[0] * part.size for part in parts]
        pairs = ((a, nothing) for a in alone.values())
    for a, b in pairs:
        total = 0.0
        for part, x, y in zip(parts, a, b, strict=True):
            l1, l2_squared, many = neighborly.moves(x, y)
            assert many <= part.l0
            share = l1 / part.l1 if isinstance(loss, Pure) else l2_squared / part.l2_squared
            total += float(part.share) * share
        worst = max(worst, total)
    return worst


@every_value
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", list(SPOTS))
@pytest.mark.parametrize("loss", [ZCDP(1), Pure(1)], ids=["rho", "epsilon"])
def test_no_row_uses_more_than_the_loss(kind, relation, loss, monkeypatch):
    assert 0.9 < used(kind, relation, loss) <= 1 + 1e-6
    right = ClassSums.parts

    def generous(self, relation, loss):  # the planted fault: counts for nothing where they are not
        counts, *columns = right(self, relation, loss)
        part = round_parts.Part(counts.size, counts.l1, counts.l2_squared, counts.l0, Fraction(1))
        return [part, *columns]

    monkeypatch.setattr(naive_bayes.ClassSums, "parts", generous)
    assert used(kind, relation, loss) > 1.1


def test_what_noise_may_have_made_is_not_believed():
    """Few rows of a class spread evenly, and no variance is below its noise."""
    sums = ClassSums(columns_of((0, 10), None).for_width(1), Classes([0, 1, 2]), "raise")
    column = sums.layout.numbers[0]
    square, half = column.reach**2, column.reach * column.grid
    counts = [29, 31, 1000]  # with noise of deviation 10, all rows at the upper end
    made = NaiveBayes(bounds=(0, 10), classes=[0, 1, 2], rho=1)
    noisy = [np.array(counts, float), np.array([*(square * n for n in counts), 0, 0, 0], float)]
    made._learn(sums, noisy, [10.0, 20.0 * square], 1.0)
    assert made.theta_[:, 0] == pytest.approx([5, 10, 10], rel=1e-4)
    assert made.var_[:, 0] == pytest.approx([half**2 / 3, half**2 / 3, 0.02 * half**2])
    assert made.class_prior_ == pytest.approx(np.array(counts) / 1060)


def test_alpha_is_added_to_each_count():
    X, y = people(2000)
    made = recorded(X[:, 1:2], y, categories=[[0, 1, 2]], alpha=250)[2]
    counts = [[np.count_nonzero((X[:, 1] == v) & (y == c)) + 250 for v in range(3)] for c in (0, 1)]
    expected = np.array(counts) / np.sum(counts, axis=1, keepdims=True)
    assert np.exp(made.category_log_prob_[0]) == pytest.approx(expected)
