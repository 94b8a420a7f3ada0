"""Private decision trees: what a row moves in a round, how choices fall, what is kept."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import BudgetError, DataError
from dpfast.learn import ID3Classifier, id3
from dpfast.learn.id3 import Nodes, Tree, pruned
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.privacy import ZCDP, Approx, Draws, Pure
from dpfast.rng import InsecureGenerator
from dpfast.sulq import parts as round_parts
from dpfast.sulq import rounds as _rounds

from ..reference.learn import decision_tree as reference
from ..support.lazy import chi2
from ..support.learners import rounds_of

VALUES = [[0, 1, 2], [0, 1], [0, 1, 2, 3]]


class Script:
    """Stands in for all that is random: it answers exactly."""

    def __init__(self):
        self.values = []

    def noise(self, loss, sensitivity, distribution=None):
        script = self

        class Silent(IntegerNoise):
            def add(self, values, generator):
                script.values.append(list(values))
                return list(values)

        return Silent("laplace", Fraction(1, 8), 0, loss)

    def rows(self, table, c):
        best = np.array(table.array).argmax(axis=1)[:, None]
        return SimpleNamespace(draw=lambda size, stream: best)

    def fit(self, X, y, **kw):
        kw = {"categories": VALUES, "classes": [0, 1], "rho": 1, **kw}
        silent = patch.object(round_parts, "integer_noise", self.noise)
        with silent, patch.object(_rounds, "Rows", self.rows):
            return ID3Classifier(**kw).fit(X, y)


def planted(n=6000, seed=0, wrong=0.05):
    g = np.random.default_rng(seed)
    X = np.stack([g.integers(0, len(own), n) for own in VALUES], axis=1)
    y = np.where(X[:, 0] == 1, X[:, 2] % 2, X[:, 0] == 2)
    return X, np.where(g.uniform(size=n) < wrong, 1 - y, y)


def compared(tree, i, expected):
    """How many divisions a tree has in common with the definition's; it may have undone others."""
    counts, attribute, children = expected
    assert tree.counts[i].tolist() == counts
    if tree.feature[i] < 0:
        return 0
    assert tree.feature[i] == attribute and tree.values[i] == len(children) - 1
    first = tree.children[i]
    return 1 + sum(compared(tree, first + k, child) for k, child in enumerate(children))


@pytest.mark.full
@pytest.mark.parametrize("splits", ["exponential", "counts"])
@pytest.mark.parametrize("criterion", id3.CRITERIA)
def test_without_noise_it_is_id3(splits, criterion):
    X, y = planted()
    odd = X.astype(float)
    odd[::50, 0], odd[::70, 2] = np.nan, 7.5
    made = Script().fit(odd, y, splits=splits, criterion=criterion, max_depth=2, most_rows=len(X))
    rows = [reference.coded(row, VALUES) for row in odd.tolist()]
    expected = reference.grown(rows, y.tolist(), [3, 2, 4], 2, 2, criterion)
    assert compared(made.tree_, 0, expected) >= 2
    assert made.tree_.feature[0] == 0 and made.tree_.depth == 2
    assert made.score(X, y) > 0.93


@pytest.mark.parametrize("criterion", id3.CRITERIA)
def test_the_worth_of_an_attribute_is_that_of_its_definition(criterion):
    g, unit = np.random.default_rng(0), 1 if criterion == "max" else 2**20
    counts = g.integers(0, 40, (4, 5, 3)) * g.integers(0, 2, (4, 5, 3))
    counts[:, 2] = 0
    counts[0, 3] = 2**33  # too large for squares in 64 bits
    result = id3.score(criterion, counts)
    rough = id3.noisy_score(criterion, counts.astype(float))
    for s in range(5):
        expected = reference.gains(criterion, counts[:, s].tolist())
        assert abs(result[s] - expected * unit) < (5 if s != 3 else 1e-5 * 2**34 * unit)
        less = counts[:, s].sum() if criterion == "max" else 0
        assert rough[s] == pytest.approx(float(expected - int(less)), abs=1e-6 * (1 + 2**34))


def test_labels_and_values_of_no_category():
    X, y = planted(2000)
    for odd in (5, -1, np.nan):
        labels, keep = y.astype(float), np.arange(2000) % 3 > 0
        labels[~keep] = odd
        one, other = Script(), Script()
        one.fit(X, labels, splits="counts", max_depth=1)
        other.fit(X[keep], y[keep], splits="counts", max_depth=1)
        assert one.values == other.values
    strange = np.full((3, 3), np.nan)
    assert Script().fit(X, y).predict(strange).shape == (3,)  # by the classes of all rows


@pytest.mark.parametrize("criterion", id3.CRITERIA)
def test_scores_move_in_one_direction_by_no_more_than_is_said(criterion):
    most, reached, least = 6, 0, -3 if criterion == "entropy" else 0

    def score(counts):
        return int(id3.score(criterion, np.array(counts)[None, None])[0])

    few = (c for c in itertools.product(range(most), repeat=3) if sum(c) < most)
    for counts, more in itertools.product(few, np.eye(3, dtype=int)):
        step = (score(more + counts) - score(counts)) * (1 if criterion == "max" else -1)
        assert least <= step <= id3.spread(criterion, most)
        reached = max(reached, step)
    assert reached > 0.7 * id3.spread(criterion, most)


@pytest.mark.parametrize("others", [1 << 20, 1 << 24])
def test_entropy_moves_most_by_a_row_among_many_of_another_class(others):
    """By all that is said, but for what rounding may add."""
    before, after = (int(id3.score("entropy", np.array([[[others, own]]]))[0]) for own in (0, 1))
    said = id3.spread("entropy", others + 1)
    assert said - 12 < before - after <= said


def test_choices_are_distributed_as_the_exponential_mechanism_says():
    scores, spread, loss = np.array([[0, 3, 5], [9, 9, 2]]), 2, ZCDP(Fraction(1, 2))
    c, n, result = rounds_of(loss).sharpness(spread), 4000, np.zeros((2, 3))
    made = rounds_of(loss, count=n)
    made.rounds = 2  # for the loss of a draw
    for i in range(n):
        made._used = i % 2
        result[[0, 1], made.choose(lambda source: scores, spread)] += 1

    def fit(sharp):
        weights = np.exp(sharp * (scores - scores.max(axis=1, keepdims=True)))
        expected = n * weights / weights.sum(axis=1, keepdims=True)
        return chi2.sf(((result - expected) ** 2 / expected).sum(), 4)

    assert fit(c) > 1e-4 > 1e-6 > fit(1.3 * c)  # too sharp is caught


def test_how_sharp_choices_may_be():
    for relation, steps in (("add-remove", 1), ("replace", 2)):
        assert rounds_of(Pure(3), relation).sharpness(5) == pytest.approx(3 / 2 / 5 / steps)
        rho = rounds_of(ZCDP(Fraction(1, 4)), relation).sharpness(5)
        assert float(Draws(rho * 5 * steps, 1, True).to_zcdp().rho) == pytest.approx(1 / 8)
        delta = rounds_of(Approx(1, 1e-6), relation).sharpness(5) * 5 * steps
        assert 0.1 < delta < 1  # beside 1 / 2 of epsilon alone
    for loss, power in ((Pure(3), 1.0), (ZCDP(Fraction(1, 4)), 0.5), (Approx(1, 1e-6), 0.5)):
        made = rounds_of(loss, count=12)  # of which several may be as sharp as all of these
        assert made.sharpness(5, 6) == pytest.approx(6**power * made.sharpness(5), rel=0.02)
        assert made.sharpness(5, 6) <= rounds_of(loss, count=2).sharpness(5) * (1 + 1e-12)
        made.choose(lambda source: np.array([[0, 1]]), 1, 5)
        assert made.remaining == 7
        assert made.choose(lambda source: np.array([[0, 10**9]]), 1, 7) == [1]
        with pytest.raises(BudgetError, match="all 12 rounds"):
            made.choose(lambda source: pytest.fail("read"), 1)


def test_how_deep_a_tree_is_depends_on_the_noisy_number_of_rows(monkeypatch):
    """And on the loss and the values. The first round counts the rows, the last the leaves."""
    g, asked, ask = np.random.default_rng(0), [], _rounds.Rounds.ask

    def seen(self, *of):
        asked.append((of[1][0].share, *of[2:]))
        return ask(self, *of)

    monkeypatch.setattr(_rounds.Rounds, "ask", seen)
    for n, epsilon, depth, uses in (40_000, 1, 3, 3), (5000, 1, 2, 4), (150, 1, 1, 6), (1, 1, 1, 6):
        x = g.integers(0, 8, (n, 4)).astype(float)
        made = ID3Classifier(range(8), classes=[0, 1], epsilon=epsilon)
        made.fit(x, x[:, 0] > 3, rng=InsecureGenerator(1))
        assert made.tree_.depth <= depth  # divisions that noise explains are undone
        assert asked == [(1,), (1, uses)]
        asked.clear()


def test_what_noise_explains_is_undone():
    """Five leaves, whose counts differ by 10 and 5 rows from those of so many rows in equal parts.

    The upper two differ by nothing, so all that parts the nodes below the root is in the lower.
    """
    nodes = Nodes()
    nodes.divide(0, 0, 2)
    nodes.divide(1, 1, 2)
    assert nodes.leaves() == [2, 3, 4, 5, 6]
    leaves = np.array([[4.0, 4], [0, 0], [10, 0], [0, 10], [0, 0]])
    # p = (1/2, 1/2); squares of 4 times 5**2 and of noise 3 (2 - 2 + 2 / 2) deviations squared
    kept = pruned(nodes, leaves, math.sqrt(100 / 3) * 0.999)
    assert kept.leaves == 5 and pruned(nodes, leaves, math.sqrt(100 / 3) * 1.001).leaves == 1
    assert kept.deviation / kept.deviation[-1] == pytest.approx(np.sqrt([5, 3, 1, 1, 1, 1, 1]))


def test_leaves_are_drawn_to_their_parent_as_far_as_noise_parts_them():
    own, leaf = np.array([1, -1, -1, -1]), np.array([2, 0, 0, 0])
    counts = np.array([[60.0, 40], [50, 20], [13, 20], [-3, 0]])
    like = np.array([[42, 28], [19.8, 13.2]])  # as many rows, in shares of .6 and .4
    parts = np.array([[8, -8], [-6.8, 6.8], [-1.2, 1.2]])
    for deviation in (1e-9, 2.0, 5.0, 100.0):
        # of noise alone, on average: 3 leaves of (2 - 2 + 2 (.36 + .16)) squared deviations each
        kept = max(0.0, 1 - 3 * 1.04 * deviation**2 / (parts**2).sum())
        made = Tree(own, own, leaf, counts, deviation * np.sqrt([3.0, 1, 1, 1])).chances()
        expected = like + kept * parts[:2]
        assert made[1:3] == pytest.approx(expected / expected.sum(axis=1, keepdims=True))
        assert made[[0, 3]] == pytest.approx(np.array([[0.6, 0.4]] * 2))  # one has no rows


def test_more_rows_than_was_said():
    X, y = planted(100)
    kw = {"classes": [0, 1], "epsilon": 1, "criterion": "entropy"}
    budget = dp.Budget(epsilon=3)
    with pytest.raises(DataError, match="is not refunded"):
        ID3Classifier(VALUES, most_rows=99, **kw).fit(X, y, budget=budget)
    ID3Classifier(VALUES, most_rows=100, **kw).fit(X, y, budget=budget)
    assert len(budget.history) == 2
    ID3Classifier(VALUES, neighbors="replace", **kw).fit(X, y)  # n is public


def test_rounds_that_are_not_needed_are_for_the_leaves():
    X, y = planted(0)
    script = Script()
    script.fit(X, y, splits="counts", max_depth=3)  # nobody is there to be divided
    assert [len(v) for v in script.values] == [24, 2]
    real = ID3Classifier(VALUES, classes=[0, 1], splits="counts", max_depth=3, rho=1)
    real.fit(X, y, rng=InsecureGenerator(1))
    # One of four rounds has a deviation of sqrt(4 / (2 rho)); at least two are left here.
    assert (real.tree_.deviation < 0.72 * math.sqrt(2)).all()
