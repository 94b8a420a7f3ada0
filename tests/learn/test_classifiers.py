"""Perceptrons, naive Bayes and random forests: without noise what they are by definition."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.learn import NaiveBayes, Perceptron, RandomForestClassifier
from dpfast.learn.columns import Classes, columns_of
from dpfast.learn.naive_bayes import ClassSums
from dpfast.learn.random_forest import RandomSplits
from dpfast.rng import InsecureGenerator

from ..reference.learn import decision_tree as reference
from ..reference.learn import margin
from ..support.learners import recorded
from ..support.names import shown
from ..support.pairwise import every_value


def sides(n=3000, d=3, noise=0.0):
    g = np.random.default_rng(0)
    x, w = g.uniform(-1, 1, (n, d)), g.normal(size=d)
    return x, np.where(x @ w + 0.2 + noise * g.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize("step", ["shrinking", "constant"])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_noise_it_is_the_perceptron(step, intercept):
    """On a public grid that all coordinates are on."""
    x, y = sides(150, 2)
    x = np.rint(x * 8) / 8
    rows = [[Fraction(v) for v in row] + [Fraction(intercept)] for row in x.tolist()]
    path = margin.perceptron(rows, y.tolist(), 6, step == "shrinking", 4)
    kw = {"bounds": (-1, 1), "step": step, "fit_intercept": intercept, "max_iter": 6}
    _, values, made = recorded(Perceptron, x, y, **kw)
    assert [v[0] for v in values if len(v) == 1] == [n for _, n in path]
    w, least = min(path[1:], key=lambda one: one[1])
    assert made.mistakes_ == least and made.n_iter_ == len(path)
    assert made.coef_[0] == pytest.approx([float(v) for v in w[:2]])
    assert made.intercept_ == pytest.approx([float(w[2])])


def test_predictions_of_a_perceptron_and_its_mistakes():
    x, y = sides(5000, noise=0.3)
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y, rng=InsecureGenerator(1))
    place = x @ made.coef_[0] + made.intercept_[0]
    assert made.decision_function(x) == pytest.approx(place) and (made.classes_ == [-1, 1]).all()
    assert (made.predict(x) == np.where(place > 0, 1, -1)).all()
    wrong = np.count_nonzero(made.predict(x) != y)
    assert made.mistakes_ == pytest.approx(wrong, abs=100)
    assert made.score(x, y) == pytest.approx(1 - wrong / len(x))


@every_value
@pytest.mark.parametrize("other", [0.0, 2.0, -2.0, math.nan, math.inf, 1 + 2.0**-52], ids=shown)
@pytest.mark.parametrize("kw", [{"bounds": (-1, 1)}, {"radius": 1.5, "neighbors": "replace"}])
def test_a_row_with_another_label_counts_nowhere(other, kw):
    """Neither before the spend nor after it: all rounds are those of the rows that are left."""
    x, y = sides(500, noise=0.4)
    y = y.astype(np.float64)
    some = [0, 7, 499]
    y[some] = other
    x[7] = np.nan  # a row that counts nowhere is not missed either
    budget = dp.Budget(rho=1, neighbors=kw.get("neighbors", "add-remove"))
    Perceptron(rho=1, **kw).fit(x, y, budget=budget)
    assert len(budget.history) == 1
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    forms = (np.delete(x, some, axis=0), np.delete(y, some)), (x, y), (frame, "y")
    without, *others = (recorded(Perceptron, *form, **kw)[1] for form in forms)
    assert others == [without, without]


# ---- Naive Bayes. ----

MIXED = {"bounds": [(0, 1), None, (-10, 30)], "categories": [None, [0, 1, 2], None]}


def people(n):
    g = np.random.default_rng(0)
    y = (g.uniform(size=n) < 0.3).astype(int)
    first = np.clip(g.normal(0.3 + 0.3 * y, 0.1), 0, 1)
    middle = np.where(g.uniform(size=n) < 0.6, y, 2)
    return np.stack([first, middle, g.normal(5 + 10 * y, 4)], axis=1), y


def test_without_noise_it_is_naive_bayes():
    X, y = people(2000)
    _, values, made = recorded(NaiveBayes, X, y, classes=[0, 1], **MIXED)
    assert values[0] == [int((y == c).sum()) for c in (0, 1)]
    clipped = np.clip(X, [0, 0, -10], [1, 2, 30])
    for c in (0, 1):
        expected = reference.spreads(clipped.tolist(), y.tolist(), c)
        for j, width in (0, 1), (2, 40):
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


def test_missing_categories_and_labels_and_alpha():
    X, y = people(600)
    odd, labels = X.copy(), y.astype(float)
    odd[::5, 1], labels[::7] = np.nan, 3.0  # categories need no policy, labels none either
    _, values, _ = recorded(NaiveBayes, odd, labels, classes=[0, 1], **MIXED)
    assert sum(values[0]) == np.count_nonzero(labels != 3)
    assert sum(values[2]) == np.count_nonzero((labels != 3) & ~np.isnan(odd[:, 1]))
    given = {"categories": [[0, 1, 2]], "classes": [0, 1], "alpha": 250}
    made = recorded(NaiveBayes, X[:, 1:2], y, **given)[2]
    counts = [[np.count_nonzero((X[:, 1] == v) & (y == c)) + 250 for v in range(3)] for c in (0, 1)]
    expected = np.array(counts) / np.sum(counts, axis=1, keepdims=True)
    assert np.exp(made.category_log_prob_[0]) == pytest.approx(expected)


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


# ---- Random forests. ----

FOREST = {"bounds": [(0, 4), None, (-1, 1)], "categories": [None, [0.0, 1.0, 5.0], None]}
EACH = columns_of(*FOREST.values()).for_width(3)


def leaf_of(splits, tree, row):
    values, known = list(row), FOREST["categories"][1]
    values[1] = splits._ranks[0][tree][known.index(row[1]) if row[1] in known else 3]
    node = 0
    for _ in range(splits.depth):
        right = values[splits.feature[tree, node]] > splits.threshold[tree, node]
        node = 2 * node + 1 + int(right)
    return node - (2**splits.depth - 1)


def test_divisions_are_drawn_by_the_seed_within_what_has_come_to_a_node():
    splits = RandomSplits(EACH, 40, 6, 1)
    ends = np.array([(0.0, 4.0), (-0.5, 2.5), (-1.0, 1.0)])
    for feature, threshold in zip(splits.feature, splits.threshold, strict=True):
        boxes = {0: ends}
        for node in range(len(feature)):
            j, (lo, hi) = feature[node], boxes[node][feature[node]]
            assert lo <= threshold[node] <= hi
            for child, side in ((2 * node + 1, 1), (2 * node + 2, 0)):
                boxes[child] = boxes[node].copy()
                boxes[child][j, side] = threshold[node]
    first = splits.threshold[:, 0] - ends[splits.feature[:, 0], 0]
    part = first / np.ptp(ends[splits.feature[:, 0]], axis=1)
    assert 0.3 < part.mean() < 0.7 and set(splits.feature[:, 0]) == {0, 1, 2}
    for ranks in splits._ranks[0]:
        assert sorted(ranks[:3]) == [0, 1, 2] and ranks[3] == -1
    assert len({tuple(ranks) for ranks in splits._ranks[0]}) == 6
    assert (RandomSplits(EACH, 40, 6, 1).threshold == splits.threshold).all()
    assert (RandomSplits(EACH, 40, 6, 2).threshold != splits.threshold).any()


def test_counts_of_leaves_are_those_of_the_definition_in_one_round():
    g = np.random.default_rng(0)
    numbers, values = [g.uniform(-1, 5, 500), g.normal(0, 1, 500)], [0.0, 1.0, 5.0, 7.0]
    rows = np.column_stack([numbers[0], g.choice(values, 500), numbers[1]])
    labels = g.choice([0, 1, 2, 9], 500)
    kw = {"classes": [0, 1, 2], "n_estimators": 3, "max_depth": 2, "random_state": 4}
    used, found, _ = recorded(RandomForestClassifier, rows, labels, **FOREST, **kw)
    splits, counts = RandomSplits(EACH, 3, 2, 4), np.zeros((3, 4, 3), int)
    for tree in range(3):
        for row, label in zip(rows, labels, strict=True):
            if label < 3:
                counts[tree, leaf_of(splits, tree, row), label] += 1
    assert found == [counts.ravel().tolist()] and len(used) == 1
