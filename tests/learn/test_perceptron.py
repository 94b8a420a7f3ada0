"""The private perceptron: what a row moves in each round, replayed; what is kept, refused, paid."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast._kernels.learn import MARGIN_REACH as REACH
from dpfast.learn import Perceptron, perceptron
from dpfast.learn.perceptron import Coordinates
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator
from dpfast.sulq import parts as round_parts

from ..reference.learn import margin as plain
from ..reference.sulq import noisy_sums as reference
from ..sulq.test_noisy_sums import Recorder
from ..support import learners, transcript
from ..support.names import shown
from ..support.pairwise import every_value, quick_rows

RELATIONS = ["replace", "add-remove"]
LOSSES = {"rho": {"rho": 1}, "epsilon": {"epsilon": 1}, "delta": {"epsilon": 1, "delta": 1e-6}}


class Replay(Recorder):
    """A recorder that answers as it was told, whatever the rows are."""

    def __init__(self, script):
        super().__init__()
        self.script = iter(script)

    def __call__(self, *arguments):
        noise = super().__call__(*arguments)
        right, script = type(noise).add, self.script

        class Scripted(type(noise)):
            def add(self, values, generator):
                right(self, values, generator)
                return next(script)

        return Scripted("laplace", Fraction(1), 0, noise.loss)


def recorded(x, y, recorder=None, **kw):
    kw = kw if "radius" in kw else {"bounds": (-1, 1), **kw}
    return learners.recorded(Perceptron, x, y, recorder, **kw)


def classes(n=3000, d=3, seed=0, noise=0.0):
    g = np.random.default_rng(seed)
    x, w = g.uniform(-1, 1, (n, d)), g.normal(size=d)
    return x, np.where(x @ w + 0.2 + noise * g.normal(size=n) > 0, 1, -1)


# --- exact rounds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["shrinking", "constant"])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_noise_it_is_the_perceptron(step, intercept):
    """On a public grid that all coordinates are on."""
    x, y = classes(150, 2)
    x = np.rint(x * 8) / 8
    rows = [[Fraction(v) for v in row] + [Fraction(intercept)] for row in x.tolist()]
    path = plain.perceptron(rows, y.tolist(), 6, step == "shrinking", 4)
    _, values, made = recorded(x, y, step=step, fit_intercept=intercept, max_iter=6)
    counts = [v[0] for v in values if len(v) == 1]
    assert counts == [n for _, n in path]
    w, least = min(path[1:], key=lambda one: one[1])
    assert made.mistakes_ == least and made.n_iter_ == len(path)
    assert made.coef_[0] == pytest.approx([float(v) for v in w[:2]])
    assert made.intercept_ == pytest.approx([float(w[2])])


def test_rows_outside_of_the_ball_are_shortened():
    x, y = classes()
    wild = np.where(x > 0.6, np.inf, np.where(x < -0.3, -1e300, x))
    lengths = np.sqrt((np.clip(wild, -1, 1) ** 2).sum(axis=1, keepdims=True))
    shorter = np.clip(wild, -1, 1) / np.maximum(lengths, 1)
    one, other = recorded(wild, y, radius=1)[2], recorded(shorter, y, radius=1)[2]
    assert one.coef_ == pytest.approx(other.coef_) and one.mistakes_ == other.mistakes_


def test_columns_of_any_units_count_alike():
    x, y = classes(noise=0.1)
    scale, shift = np.array([1.0, 10.0, 2.0**20]), np.array([0.0, -3.0, 2.0**23])
    bounds = [(b - a, a + b) for a, b in zip(scale, shift, strict=True)]
    one, other = recorded(x, y)[2], recorded(x * scale + shift, y, bounds=bounds)[2]
    assert other.coef_ * scale == pytest.approx(one.coef_, rel=1e-6)
    sides = one.decision_function(x)
    assert other.decision_function(x * scale + shift) == pytest.approx(sides, abs=1e-6)


def test_a_column_of_one_value_has_no_say():
    x, y = classes(noise=0.1)
    wide = np.column_stack([x, np.full(len(x), 7.0)])
    bounds = [(-1, 1)] * 3 + [(5, 5)]
    one, other = recorded(x, y)[2], recorded(wide, y, bounds=bounds)[2]
    assert other.coef_[0, 3] == 0 and (other.coef_[:, :3] == one.coef_).all()


# --- sensitivity ----------------------------------------------------------------------------------

PLACES = [(1.0, 1.0), (-1.0, 0.25), (0.5, -1.0)]
DOMAIN = [(*place, label) for place in PLACES for label in (-1.0, 1.0)]
TIMES = 4
#: What all datasets are answered, round by round: a walk over different sides of all the rows.
SCRIPT = [
    ([90], [40, -20, 15]),
    ([70], [-90, 80, -40]),
    ([60], [30, 90, -10]),
    ([50],),
]


def script(intercept):
    walk = [([*counts], *([x * REACH for x in one[: 2 + intercept]] for one in rest))
            for counts, *rest in SCRIPT]  # fmt: skip
    return list(itertools.chain(*walk))


def worst_round(relation, loss, **kw):
    """The largest share of a round's loss that a row takes, over all neighbors and rounds."""
    answers = script(kw.get("fit_intercept", True))
    kw = {"max_iter": TIMES, "neighbors": relation, "rho": None, **loss, **kw}

    @functools.cache
    def replayed(data):
        table = np.array(data).reshape(-1, 3)
        asked, values, made = recorded(table[:, :2], table[:, 2], Replay(answers), **kw)
        assert made.n_iter_ == TIMES
        return asked, values

    def worst(t):
        def integers(data):
            return [parts[2 * t : 2 * t + 2] for parts in replayed(tuple(data))]

        return TIMES * reference.worst(integers, DOMAIN, relation, int(loss != LOSSES["epsilon"]))

    return [worst(t) for t in range(TIMES)]


FORMS = {
    "cube": {"bounds": (-1, 1)},
    "ball": {"radius": math.sqrt(2)},
    "through 0": {"bounds": [(-1, 1), (-1, 1)], "fit_intercept": False},
}


@quick_rows(3)
@pytest.mark.parametrize("form", list(FORMS))
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", ["rho", "epsilon", "delta"])
def test_no_row_uses_more_than_the_loss_of_a_round(form, relation, loss, monkeypatch):
    if (loss, relation) == ("epsilon", "add-remove") and form != "ball":
        return  # joint noise, which is another test's
    worst = worst_round(relation, LOSSES[loss], **FORMS[form])
    assert max(worst) <= 1
    if form != "ball" or loss != "epsilon":  # the l1 norm of a ball is reached in a corner
        assert max(worst[:-1]) > 0.9 and worst[-1] > 0.9
    right = perceptron._parts

    def generous(*arguments):  # the planted fault: counts for nothing, in any relation
        _, sums = right(*arguments)
        part = round_parts.Part(sums.size, sums.l1, sums.l2_squared, sums.l0, Fraction(1))
        return [round_parts.Part(1, 1, 1, 1, Fraction(1)), part]

    monkeypatch.setattr(perceptron, "_parts", generous)
    assert max(worst_round(relation, LOSSES[loss], **FORMS[form])) > 1


@quick_rows(1)
@pytest.mark.parametrize("form", ["cube", "through 0"])
def test_no_row_moves_the_sum_out_of_its_box(form, monkeypatch):
    """With an epsilon alone, over all rounds: what the joint noise of wrong rows has cost."""
    kw = {"max_iter": TIMES, "epsilon": 1, "neighbors": "add-remove", **FORMS[form]}

    def fit(rows):
        table = np.array(rows, np.float64).reshape(-1, 3)
        Perceptron(**kw).fit(table[:, :2], table[:, 2], rng=InsecureGenerator(3))

    def worst():
        found = []
        for rows in itertools.combinations_with_replacement(DOMAIN, 2):
            many = [*rows, *[(0.5, 0.5, -1.0), (-0.5, 0.5, 1.0)] * 90]  # so that rounds go on
            lines = transcript.recorded(lambda many=many: fit(many))
            for other in reference.neighbors(list(rows), DOMAIN, "add-remove"):
                more = [*other, *many[2:]]
                found.append(transcript.used(lines, lambda more=more: fit(more), Pure(1)))
        return float(max(found))

    assert 0.3 < worst() <= 1
    right = perceptron._parts

    def narrow(*arguments):  # the planted fault: sums that go an eighth as far
        (part,) = right(*arguments)
        count, *sums = part.moves.sizes
        return [replace(part, moves=replace(part.moves, sizes=(count, *(s // 8 for s in sums))))]

    monkeypatch.setattr(perceptron, "_parts", narrow)
    assert worst() > 1


@pytest.mark.parametrize("d", [1, 2, 10])
def test_joint_noise_of_wrong_rows_is_less(d):
    place = Coordinates([(-1.0, 1.0)] * d, None, "raise", True)
    made, loss = learners.rounds_of(Pure(1)), Pure(1)
    (part,) = perceptron._parts(place, True, "add-remove", loss)
    count, *sums = made.deviations(part)
    share = 1 / (1 + math.isqrt(4 * (d + 1)))
    assert count < 0.8 * math.sqrt(8) / share
    assert max(sums) < 0.65 * math.sqrt(8) * (d + 1) * perceptron.REACH / (1 - share)


def test_a_replaced_row_is_not_one_that_comes(monkeypatch):
    """The planted fault: a row that is replaced is taken for one that comes."""
    right = perceptron._parts
    monkeypatch.setattr(
        perceptron, "_parts", lambda a, b, relation, loss: right(a, b, "add-remove", loss)
    )
    assert max(worst_round("replace", LOSSES["rho"], bounds=(-1, 1))) > 1


def test_integers_too_large_for_the_samplers_are_divided_by_enough():
    """Standardized, with the unit that rounding down adds to each integer."""
    place = Coordinates([(-1.0, 1.0)] * 3, None, "raise", True)
    for relation in RELATIONS:
        for loss in (ZCDP(Fraction(1, 10**9)), Pure(Fraction(1, 10**6))):
            if isinstance(loss, Pure) and relation == "add-remove":
                continue  # joint noise divides nothing
            counts, sums = perceptron._parts(place, True, relation, loss)
            made = learners.rounds_of(loss, relation, 5)
            one, many = made.noise(counts), made.noise(sums)
            assert many.shift > 0 and one.shift == 0
            unit, pure = 1 << many.shift, isinstance(loss, Pure)
            power, size = (1, 4) if pure else (2, 2)
            count = (1 / float(one.scale)) ** power
            share = 5 * (1 if pure else 0.5)
            budget = 1e-6 if pure else 1e-9
            row = (size * REACH / unit + size) / float(many.scale)
            if relation == "replace":
                twice = (2 * size * REACH / unit + size) / float(many.scale)
                assert twice**power * share <= budget * (1 + 1e-9)
            assert (row**power + count) * share <= budget * (1 + 1e-9)


def test_replayed_fits_go_the_same_way():
    """The same noise on a neighbor: as many rounds, and a hyperplane that hardly differs."""
    x, y = classes(4000, noise=0.3)
    kw = {"bounds": (-1, 1), "rho": 1, "max_iter": 6}
    one = Perceptron(**kw).fit(x, y, rng=InsecureGenerator(2))
    other = Perceptron(**kw).fit(
        np.vstack([x, [[1, 0, 1]]]), np.append(y, -1), rng=InsecureGenerator(2)
    )
    assert one.n_iter_ == other.n_iter_
    assert abs(one.coef_ - other.coef_).max() < 0.02


def test_what_is_done_depends_on_released_numbers_alone():
    """The same answers about any rows: the same rounds, and the same hyperplane to the last bit."""
    answers = script(True)
    result = set()
    for seed, n in (0, 0), (1, 1), (2, 500):
        x, y = classes(n, 2, seed)
        made = recorded(x, y, Replay(answers), max_iter=TIMES)[2]
        result.add((made.coef_.tobytes(), made.intercept_.tobytes(), made.mistakes_, made.n_iter_))
    assert len(result) == 1


# --- what is learned ------------------------------------------------------------------------------


def test_classes_with_a_margin_are_parted():
    x, y = classes(20_000, 2)
    w, b = np.linalg.lstsq(np.column_stack([x, np.ones(len(x))]), y, rcond=None)[0], 0.0
    keep = abs(x @ w[:2] + w[2]) > 0.2 + b
    x, y = x[keep], np.where(x[keep] @ w[:2] + w[2] > 0, 1, -1)
    for step in "shrinking", "constant":
        made = Perceptron(bounds=(-1, 1), rho=0.5, step=step, max_iter=20).fit(
            x, y, rng=InsecureGenerator(1)
        )
        assert made.score(x, y) > 0.99 and made.n_iter_ < 20  # it has stopped by itself


def test_accuracy_on_digits_grows_with_the_loss():
    """Even digits against odd ones, 1,797 rows of 64 columns."""
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    y = np.where(digits.target % 2 == 0, 1, -1)

    def result(rho):
        made = [
            Perceptron(bounds=(0, 16), rho=rho).fit(digits.data, y, rng=InsecureGenerator(s))
            for s in range(6)
        ]
        return np.mean([m.score(digits.data, y) for m in made])

    scores = [result(rho) for rho in (1e-4, 1e-2, 1.0)]
    assert scores[0] < 0.65 < 0.7 < scores[1] < scores[2] and scores[2] > 0.82


def test_a_radius_has_less_noise_than_bounds():
    x, y = classes(2000, 30, noise=0.05)
    x /= np.sqrt((x**2).sum(axis=1, keepdims=True))

    def result(**kw):
        made = [Perceptron(rho=0.02, **kw).fit(x, y, rng=InsecureGenerator(s)) for s in range(8)]
        return np.mean([m.score(x, y) for m in made])

    assert result(radius=1) > result(bounds=(-1, 1)) + 0.05


def test_mistakes_are_those_of_what_is_kept():
    x, y = classes(5000, noise=0.3)
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y, rng=InsecureGenerator(1))
    wrong = np.count_nonzero(made.predict(x) != y)
    assert made.mistakes_ == pytest.approx(wrong, abs=100)
    assert made.score(x, y) == pytest.approx(1 - wrong / len(x))


# --- what is kept and what is refused -------------------------------------------------------------


def test_predictions():
    x, y = classes()
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y)
    sides = x @ made.coef_[0] + made.intercept_[0]
    assert made.decision_function(x) == pytest.approx(sides)
    assert (made.predict(x) == np.where(sides > 0, 1, -1)).all()
    assert (made.classes_ == [-1, 1]).all()


@every_value
@pytest.mark.parametrize("other", [0.0, 2.0, -2.0, math.nan, math.inf, 1 + 2.0**-52], ids=shown)
@pytest.mark.parametrize("kw", [{"bounds": (-1, 1)}, {"radius": 1.5, "neighbors": "replace"}])
def test_a_row_with_another_label_counts_nowhere(other, kw):
    """Neither before the spend nor after it: all rounds are those of the rows that are left."""
    x, y = classes(500, noise=0.4)
    y = y.astype(np.float64)
    some = [0, 7, 499]
    y[some] = other
    x[7] = np.nan  # a row that counts nowhere is not missed either
    without = np.delete(x, some, axis=0), np.delete(y, some)
    budget = dp.Budget(rho=1, neighbors=kw.get("neighbors", "add-remove"))
    Perceptron(rho=1, **kw).fit(x, y, budget=budget)
    assert len(budget.history) == 1
    assert recorded(x, y, **kw)[1] == recorded(*without, **kw)[1]
    frame = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y})
    assert recorded(frame, "y", **kw)[1] == recorded(*without, **kw)[1]
