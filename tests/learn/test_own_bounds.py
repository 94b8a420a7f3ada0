"""Learners whose bounds are found first, for a part of their loss."""

from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

RANDOM = np.random.default_rng(2)
X = np.concatenate(
    [RANDOM.normal([100, 3], [5, 0.2], (3_000, 2)), RANDOM.normal([200, 6], 1, (3_000, 2))]
)
Y = np.repeat([-1, 1], 3_000)

LEARNERS = {
    "k-means": lambda **kw: dp.learn.KMeans(2, **kw),
    "PCA": lambda **kw: dp.learn.PCA(1, **kw),
    "SVD": lambda **kw: dp.learn.TruncatedSVD(1, **kw),
    "bayes": lambda **kw: dp.learn.NaiveBayes(classes=[-1, 1], **kw),
    "ID3": lambda **kw: dp.learn.ID3Classifier(bins=8, classes=[-1, 1], **kw),
    "scaling": lambda **kw: dp.learn.StandardScaler(**kw),
    "logistic": lambda **kw: dp.learn.LogisticRegression(classes=[-1, 1], **kw),
    "forest": lambda **kw: dp.learn.RandomForestClassifier(classes=[-1, 1], **kw),
    "boosting": lambda **kw: dp.learn.AdditiveBoostingClassifier(bins=8, classes=[-1, 1], **kw),
    "boosting of numbers": lambda **kw: dp.learn.AdditiveBoostingRegressor(
        bins=8, y_bounds=(-2, 2), **kw
    ),
    "perceptron": lambda **kw: dp.learn.Perceptron(**kw),
    "regression": lambda **kw: dp.learn.LinearRegression(y_bounds=(-2, 2), **kw),
}


@quick_rows(2)
@pytest.mark.parametrize("name", LEARNERS)
def test_one_spend_pays_for_bounds_and_learning(name):
    budget = dp.Budget(epsilon=8)
    made = LEARNERS[name](bounds="auto", epsilon=4).fit(X, Y, budget=budget)
    (entry,) = budget.history
    assert entry.what.endswith("a quarter of it for bounds")
    assert budget.spent["epsilon"] == 4
    assert made.loss_.epsilon == 4
    assert made.bounds == "auto"
    lo, hi = made.bounds_.T
    assert made.bounds_.shape == (2, 2)
    # Bounds hold all rows as a rule; a tenth is 600 of them, where noise is of some dozens.
    assert np.all(np.mean((lo <= X) & (hi >= X), axis=0) > 0.9)
    if hasattr(made, "predict") and name in ("bayes", "ID3", "forest"):
        assert np.mean(made.predict(X) == Y) > 0.9
    made.fit(X[:, :1], Y, budget=budget)  # of another width
    assert made.bounds_.shape == (1, 2)


@quick_rows(1)
@pytest.mark.parametrize("name", LEARNERS)
def test_what_is_left_of_the_loss_is_what_the_rounds_cost(name, monkeypatch):
    from dpfast.learn import estimator

    seen = []
    prepare = estimator.prepare

    def watched(rounds, source, loss, *args, **kw):
        seen.append((loss, kw["budget"]))
        return prepare(rounds, source, loss, *args, **kw)

    monkeypatch.setattr(estimator, "prepare", watched)
    LEARNERS[name](bounds="auto", epsilon=4).fit(X, Y, rng=InsecureGenerator(1))
    assert [(loss.epsilon, budget) for loss, budget in seen] == [(Fraction(3), None)] * 2


def test_nothing_is_spent_for_bad_arguments():
    budget = dp.Budget(epsilon=1)
    for bad in (
        dp.learn.KMeans(0, bounds="auto", epsilon=1),
        dp.learn.KMeans(2, bounds="automatic", epsilon=1),
        dp.learn.PCA(1, bounds="auto", epsilon=1, nan="sideways"),
        dp.learn.PCA(1, bounds="auto", epsilon=2.0**-31),
    ):
        with pytest.raises((dp.errors.ArgumentError, dp.errors.ArgumentTypeError)):
            bad.fit(X, budget=budget)
    assert not budget.history


@pytest.mark.parametrize("name", LEARNERS)
def test_what_was_learned_stays_until_it_is_learned_anew(name):
    """Also the bounds: asking for a price, or for what is refused, is no fit."""
    made = LEARNERS[name](bounds="auto", epsilon=4).fit(X, Y)
    before = dict(vars(made))
    dp.Budget(epsilon=8).cost(made.fit, X, Y)
    with pytest.raises(dp.errors.ArgumentTypeError):
        made.fit(np.zeros((2, 2, 2)), Y)
    bad = X.copy()
    bad[7] = np.nan
    if name not in ("ID3", "boosting", "boosting of numbers"):  # to which NaN is no value
        with pytest.raises(dp.errors.DataError):
            made.set_params(bounds=(0, 300)).fit(bad, Y)
    made.set_params(bounds="auto")
    assert vars(made) == before
