"""Private scores and cross-validation: what they are by definition, and what they cost."""

from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.learn import cross_validate, cross_validation
from dpfast.learn.scored import Scored
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.tables.key_words import secret
from dpfast.tables.people import IdColumn

from ..reference.learn import scores as reference
from ..support.pairwise import every_value, quick_rows
from ..support.transcript import recorded, used
from .test_learners import CASES, NAMES, table

SCORED = [name for name, (kind, _) in CASES.items() if issubclass(kind, Scored)]
EVERY = pytest.mark.parametrize("name", SCORED)
#: One of each kind of score.
KINDS = pytest.mark.parametrize("name", ["k-means", "bayes", "regression", "perceptron in a ball"])
RELATIONS = ["add-remove", "replace"]
#: So much that nearly nothing is noise.
MUCH = 500
LOSSES = {"epsilon": (Pure(1), {"epsilon": 1}), "rho": (ZCDP(1), {"rho": 1})}


def fitted(name, n=900):
    (kind, own), (X, y) = CASES[name], table(n)
    return kind(**own, rho=10).fit(X, y, rng=InsecureGenerator(1)), X, y


@quick_rows(4)
@EVERY
@pytest.mark.parametrize("relation", RELATIONS)
def test_without_noise_it_is_the_score_by_definition(name, relation):
    made, X, y = fitted(name)
    made.set_params(neighbors=relation)
    X[:90], y[:9] = X[:90] * 3 - 8, 5  # beyond the bounds
    found = made.score(X, y, rho=MUCH, rng=InsecureGenerator(1))
    assert found == pytest.approx(reference.score(made, X, y), abs=2e-3, rel=2e-3)
    assert made.score(X, y) == pytest.approx(reference.score(made, X, y, clipped=False), rel=1e-9)


@contextmanager
def seen(place, name):
    right, found = getattr(place, name), []

    def told(*args):
        found.append(right(*args))
        return found[-1]

    with patch.object(place, name, told):
        yield found


@quick_rows(2)
@KINDS
def test_of_people_it_is_that_of_the_rows_that_are_kept(name):
    made, X, y = fitted(name)
    budget = dp.Budget(rho=2 * MUCH, ids="who")
    frame = pd.DataFrame(X, columns=NAMES).assign(who=np.arange(900) // 3)
    with seen(IdColumn, "kept") as kept:
        found = made.score(frame, y, rho=MUCH, ids="who", max_rows=2, budget=budget)
    (keep,) = kept
    assert keep.sum() == 600
    expected = reference.score(made, X[keep], y[keep])
    assert found == pytest.approx(expected, abs=2e-3, rel=2e-3)
    (entry,) = budget.history
    assert entry.ids == "who" and entry.what.startswith(f"score of {made._name}")


def test_squares_of_distances_that_are_no_numbers_are_clamped():
    budget = dp.Budget(epsilon=2)
    made, X = dp.learn.KMeans(2, bounds=(-1e160, 1e160), epsilon=1), np.ones((60, 2))
    with np.errstate(over="raise", invalid="raise"):
        assert np.isfinite(made.fit(X).score(X, epsilon=1, budget=budget))
        assert np.isfinite(cross_validate(made, X, epsilon=1, cv=2, budget=budget).scores).all()
    assert budget.remaining["epsilon"] == 0


def learner(name, relation="add-remove"):
    kind, own = CASES[name]
    return kind(**own, neighbors=relation)


@quick_rows(2)
@KINDS
def test_scores_are_those_of_fits_of_the_other_folds(name):
    """By the folds that were drawn, and with almost no noise."""
    X, y = table(1200)
    with seen(cross_validation, "fold_numbers") as drawn:
        answer = cross_validate(learner(name), X, y, rho=MUCH, cv=3, rng=InsecureGenerator(1))
    (folds,) = drawn
    assert (np.bincount(folds) > 300).all() and answer.loss == ZCDP(MUCH)
    assert answer.part == ZCDP(ZCDP(MUCH).rho / 3) and answer.mean == answer.scores.mean()
    for fold, score in enumerate(answer.scores):
        made, here = learner(name).set_params(rho=MUCH), folds == fold
        made.fit(X[~here], y[~here], rng=InsecureGenerator(fold))
        assert score == pytest.approx(reference.score(made, X[here], y[here]), abs=0.01, rel=0.03)


def test_folds_are_independent_and_uniform_and_no_row_moves_another():
    made, keys = learner("bayes"), InsecureGenerator(1)
    X, y = table(4)
    ids = ["p", "q", "p", "r"]
    rows, _ = made._taken(X, y, None, ids, 2, None)
    fewer, _ = made._taken(X[1:], y[1:], None, ids[1:], 2, None)
    alone, _ = made._taken(X, y, None, None, None, None)
    counts = np.zeros((2, 3, 3), int)
    for _ in range(1000):
        key = secret(keys.stream())
        p, q, again, r = cross_validation.fold_numbers(rows, 3, key)
        assert p == again and cross_validation.fold_numbers(fewer, 3, key).tolist() == [q, p, r]
        first, _, _, last = cross_validation.fold_numbers(alone, 3, key)
        counts[0, p, q] += 1
        counts[1, first, last] += 1
    assert (abs(counts - 1000 / 9) < 6 * (1000 * 8 / 81) ** 0.5).all()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", [Pure(1), ZCDP(1), Approx(1, 1e-6)], ids=str)
def test_it_is_one_entry_in_the_ledger_and_parts_are_what_they_say(loss, relation):
    X, y = table(300)
    kw = {"rho": 1} if isinstance(loss, ZCDP) else {"epsilon": 1}
    kw |= {"delta": 1e-6} if isinstance(loss, Approx) else {}
    budget = dp.Budget(**kw, neighbors=relation)
    answer = cross_validate(learner("bayes", relation), X, y, **kw, budget=budget)
    (entry,) = budget.history
    assert entry.loss == loss == answer.loss and entry.what == "cross-validation of naive Bayes"
    together = dp.privacy.group(answer.part, 2 if relation == "replace" else 1)
    together = dp.privacy.compose(*[together] * 5)
    if isinstance(loss, Approx):
        assert 0.999 < together.to_approx(1e-6).epsilon <= 1
    else:
        assert together == loss


BASE = table(12)


def worst(name, relation, loss, most=1, size=1):
    """The largest part of a loss that tells tables apart, which differ in their first person."""
    claim, kw = LOSSES[loss]

    def again(person, who=0):
        X = np.concatenate([np.reshape(person, (-1, 3)), BASE[0]])
        y = np.concatenate([[1] * len(person), BASE[1]])
        ids = np.maximum(np.arange(len(X)) - len(person) + 1, 0)
        ids[: len(person)] = who
        made = learner(name, relation)
        rng = InsecureGenerator(1)
        return cross_validate(made, X, y, cv=3, ids=ids, max_rows=most, **kw, rng=rng)

    lines = recorded(lambda: again([[8.0] * 3] * size))
    other = ([[0.0] * 3] * size, 99) if relation == "replace" else ([],)  # 99 is somebody else
    return float(used(lines, lambda: again(*other), claim))


@every_value
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(
    ("name", "loss"),
    [("bayes", "epsilon"), ("regression", "epsilon"), ("k-means", "rho"), ("tree", "rho")],
)
def test_a_person_costs_what_was_paid(name, loss, relation):
    for most, size in (1, 1), (2, 5):
        assert 0.1 < worst(name, relation, loss, most, size) <= 1


def by_row(rows, folds, key):
    """Planted: rows of one person in several folds."""
    numbers = cross_validation.WordPairs(np.arange(rows.source.length, dtype=np.uint64), None, None)
    out = np.empty(len(numbers.low), np.uint64)
    cross_validation.hashes(key, numbers.low, None, out)
    return (out % np.uint64(folds)).astype(np.int64)


@pytest.mark.parametrize(("way", "planted", "least"), [
    # By the number of the row, so who comes first moves all others.
    ("fold_numbers", lambda rows, folds, key: np.arange(rows.source.length) % folds, 1.2),
    ("fold_numbers", by_row, 1.2),
    ("_part", lambda whole, *_: whole, 2),
])  # fmt: skip
def test_folds_that_depend_on_others_or_divide_a_person_or_no_loss_are_caught(
    way, planted, least, monkeypatch
):
    monkeypatch.setattr(cross_validation, way, planted)
    people = () if way == "_part" else (2, 12)
    assert worst("bayes", "add-remove", "epsilon", *people) > least


def test_bad_arguments_are_refused_before_anything_is_spent():
    made, X, y = fitted("bayes", 60)
    budget = dp.Budget(epsilon=1)
    for bad in {}, {"epsilon": 0}, {"epsilon": 1, "max_rows": 2}, {"epsilon": 1, "rho": 1}:
        with pytest.raises(ArgumentError):
            made.score(X, y, **bad, budget=budget)
    with pytest.raises(ArgumentError, match="of 3 columns"):
        made.score(X[:, :2], y, epsilon=1, budget=budget)
    with pytest.raises(ArgumentTypeError, match="budget"):
        made.score(X, y, epsilon=1, budget=3)
    with pytest.raises(BudgetError):
        made.score(X, y, epsilon=2, budget=budget)
    made = learner("bayes")
    for bad in {"cv": 1}, {"cv": 1001}, {"cv": 2.5}, {"ids": np.arange(60)}, {"epsilon": 0}:
        argument = next(iter(bad)).replace("ids", "max_rows")
        with pytest.raises((ArgumentError, ArgumentTypeError), match=argument):
            cross_validate(made, X, y, **{"epsilon": 1, **bad}, budget=budget)
    with pytest.raises(ArgumentTypeError, match="estimator"):
        cross_validate(dp.learn.PCA(1, bounds=(0, 8)), X, epsilon=1, budget=budget)
    with pytest.raises(ArgumentError, match="classes"):
        cross_validate(made.set_params(classes=[1, 0]), X, y, epsilon=1, budget=budget)
    made.set_params(classes=[-1, 1])
    assert not budget.history
    assert budget.cost(cross_validate, made, X, y, epsilon=1) == Pure(1)
