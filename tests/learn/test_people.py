"""Learners of people: which rows of a person count, what they may change, and whose loss it is."""

from fractions import Fraction
from unittest.mock import Mock, patch

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.learn import estimator, rows
from dpfast.learn.estimator import Estimator
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator
from dpfast.sulq import rounds

from ..support.pairwise import every_value, quick_rows
from ..support.transcript import recorded, used
from . import test_replay as replay
from .test_learners import CASES, EVERY, NAMES, learned, table

MOST = 2
#: All rows of a person. Of the second any two may be kept.
PEOPLE = [[(4.0, 2.0)] * 5, [(4.0, 0.0)] * 3, [(4.0, 2.0), (0.0, 0.0), (1.7, 0.9)], [(np.nan, 2.0)]]
BASE = replay.DATA[2]
#: Those of more than four rows in all, too.
LEARNERS = sorted(set(replay.RUNS) - {"sums", "deep tree by choices"})


def fit_of_people(size, weight=None):
    """Return `fit` of rows of which the first `size` are of one person, and each other of one.

    With a weight that is the largest, and that of their rows.
    """
    right = Estimator._fit

    def fit(self, X, y, weights, ids, max_rows, budget, rng):
        ids = np.maximum(np.arange(len(X)) - size + 1, 0)
        if weight is not None:
            self.weight_bounds, weights = (0, weight), np.where(ids > 0, 1.0, weight)
        return right(self, X, y, weights, ids, MOST, budget, rng)

    return fit


def worst(name, relation, loss, weight=None):
    """The largest part of a loss that tells apart tables that differ in a person."""
    run, (claim, kw) = replay.RUNS[name], replay.LOSSES[loss]

    def again(person):
        with patch.object(Estimator, "_fit", fit_of_people(len(person), weight)):
            data = replay.table([*person, *BASE])
            return run(data, InsecureGenerator(1), neighbors=relation, **kw)

    result = 0.0
    for person in PEOPLE:
        lines = recorded(lambda person=person: again(person))
        for other in PEOPLE if relation == "replace" else [[]]:
            result = max(result, float(used(lines, lambda other=other: again(other), claim)))
    return result


@quick_rows(2)
@pytest.mark.parametrize("relation", replay.RELATIONS)
@pytest.mark.parametrize("loss", ["epsilon", "approx", "rho"])
@pytest.mark.parametrize("name", LEARNERS)
def test_a_person_costs_what_was_paid(name, relation, loss):
    assert 0.05 < worst(name, relation, loss) <= 1


@every_value
@pytest.mark.parametrize("relation", replay.RELATIONS)
@pytest.mark.parametrize("name", ["k-means", "pca", "bayes", "scaling"])
def test_a_person_with_heavy_rows_costs_what_was_paid(name, relation):
    assert 0.2 < worst(name, relation, "rho", weight=3) <= 1


def of_one(right):
    def run(self, *args):
        self._steps = 1
        return right(self, *args)

    return run


#: Planted: rows that are not bounded, and noise for one row of a person.
FAULTS = {
    "bounded": (rows.Rows, lambda _: lambda self, most, g: g.stream().take(32) and self),
    **{way: (rounds.Rounds, of_one) for way in ("noise", "sharpness")},
}


@quick_rows(8)
@pytest.mark.parametrize("name", ["k-means", "pca", "tree by choices", "bayes", "scaling"])
@pytest.mark.parametrize(
    ("ways", "loss"),
    [(["bounded"], "rho"), *((["noise", "sharpness"], x) for x in ("rho", "epsilon", "approx"))],
)
def test_too_little_noise_for_a_person_is_caught(name, ways, loss, monkeypatch):
    for way in ways:
        place, change = FAULTS[way]
        monkeypatch.setattr(place, way, change(getattr(place, way)))
    assert worst(name, "add-remove", loss) > 1.2


def fitted(name, X, y, ids):
    kind, own = CASES[name]
    made = kind(**{"rho": 1, **own})
    return made.fit(X, y, ids=ids, max_rows=MOST, rng=InsecureGenerator(1))


@quick_rows(3)
@EVERY
def test_the_same_as_of_the_rows_that_are_kept(name):
    X, y = table(1200)
    ids = np.random.default_rng(3).integers(0, 500, len(X))
    right, kept = rows.Rows.bounded, []

    def seen(self, *args):
        kept.append(right(self, *args))
        return kept[-1]

    with patch.object(rows.Rows, "bounded", seen):
        made = fitted(name, X, y, ids)
    (some,) = kept
    keep = some.kept
    assert (np.bincount(ids[keep], minlength=500) == np.minimum(np.bincount(ids), MOST)).all()
    assert learned(fitted(name, X[keep], y[keep], np.arange(keep.sum()))) == learned(made)
    frame = pd.DataFrame(X, columns=NAMES).assign(who=ids)
    frame, y = (frame.assign(y=y), "y") if made._supervised else (frame, None)
    named = fitted(name, frame, y, "who")
    assert learned(named) == learned(made) and named.feature_names_in_.tolist() == NAMES


AUTO = {"ids": "who", "max_rows": "auto"}


@quick_rows(6)
@EVERY
def test_the_loss_is_of_people(name):
    (kind, own), (X, y) = CASES[name], table(200)
    made = kind(**own, epsilon=0.5)
    budget = dp.Budget(epsilon=1, ids="who", neighbors="add-remove")
    frame = pd.DataFrame(X, columns=NAMES).assign(who=np.arange(200) // 4)
    made.fit(frame, pd.Series(y), ids="who", max_rows=3, budget=budget)
    (entry,) = budget.history
    assert entry.ids == "who" and entry.loss.epsilon == 0.5
    for bad in {"ids": "who"}, {"max_rows": 3}, {"ids": "nobody", "max_rows": 3}, AUTO:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=r"max_rows|nobody"):
            made.fit(frame, y, **bad, budget=budget)
    with pytest.raises(ArgumentError, match=r"2\*\*-30 times rounds times max_rows"):
        made.fit(frame, y, ids="who", max_rows=2**40, budget=budget)
    assert len(budget.history) == 1


@pytest.mark.parametrize("relation", replay.RELATIONS)
def test_bounds_are_drawn_from_the_rows_that_are_kept_for_their_part_of_the_loss(relation):
    budget = dp.Budget(epsilon=4, neighbors=relation)
    made = dp.learn.StandardScaler(bounds="auto", epsilon=4, neighbors=relation)
    drawn, released = Mock(wraps=estimator.drawn_bounds), Mock(wraps=estimator.release)
    with patch.multiple(estimator, drawn_bounds=drawn, release=released):
        made.fit(table(900)[0], ids=np.arange(900) // 3, max_rows=MOST, budget=budget)
    steps = 2 * MOST if relation == "replace" else MOST
    loss, width, of_rows, _ = drawn.call_args.args
    assert loss == Pure(Fraction(1, steps)) and (width, of_rows) == (3, "add-remove")
    assert released.call_args.args[0].where.sum() == 600
    (entry,) = budget.history
    assert entry.loss == Pure(4) and entry.ids == "ids"
