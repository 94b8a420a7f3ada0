"""The private perceptron: what a row moves in each round, replayed; what is kept, refused, paid."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast._kernels.sulq import MARGIN_REACH as REACH
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.sources import memory
from dpfast.sulq import NotFittedError, Perceptron, perceptron
from dpfast.sulq import rounds as _rounds
from dpfast.sulq.coordinates import Coordinates

from ..reference.sulq import margin as plain
from ..reference.sulq import noisy_sums as reference
from ..support.names import shown
from ..support.pairwise import quick_rows
from .test_noisy_sums import Recorder

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
    """Each round's calibration and integers, part by part, and the fitted object."""
    recorder = Recorder() if recorder is None else recorder
    given = {"rho": 1, **kw}
    if "radius" not in given:
        given.setdefault("bounds", (-1, 1))
    with patch.object(_rounds, "integer_noise", recorder):
        made = Perceptron(**given).fit(x, y)
    return recorder.asked[-len(recorder.values) :], recorder.values, made


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


@pytest.mark.parametrize("kw", [{"bounds": (-8, 8)}, {"radius": 9.5}], ids=["cube", "ball"])
@pytest.mark.parametrize("form", ["f4", "i8", ">f8", "fortran", "table", "named", "records"])
def test_every_form_of_data_has_the_same_rounds(form, kw):
    x, y = classes(9000, noise=0.2)
    x = np.rint(x * 8)
    names = ["a", "b", "c"]
    records = zip(x[:, 0], y, x[:, 1], x[:, 2], strict=True)
    forms = {
        "fortran": lambda: (np.asfortranarray(x), y.astype("i1")),
        "table": lambda: (pd.DataFrame(x, columns=names), pd.Series(y)),
        "named": lambda: (pd.DataFrame({**dict(zip(names, x.T, strict=True)), "y": y}), "y"),
        "records": lambda: (
            np.array(list(records), [("a", "f8"), ("y", "i4"), ("b", "f4"), ("c", "f8")]), "y"
        ),
    }  # fmt: skip
    other = forms[form]() if form in forms else (x.astype(form), y.astype(float).tolist())
    expected = recorded(x, y, **kw)[1]
    assert len(expected) == 19 and recorded(*other, **kw)[1] == expected


def test_chunks_and_threads_do_not_change_a_bit(monkeypatch):
    x, y = classes(3 << 18, 2, noise=0.2)
    for kw in {"bounds": (-1, 1)}, {"radius": 1}:
        found = []
        for threads, direct in ("1", 1 << 23), ("1", 160_016), ("3", 1 << 23):
            monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
            monkeypatch.setattr(memory.MemoryRows, "DIRECT", direct)
            found.append(recorded(x, y, max_iter=3, **kw)[1])
        assert found[0] == found[1] == found[2]


def test_rows_outside_the_bounds_are_clipped():
    x, y = classes()
    wild = np.where(x > 0.6, np.inf, np.where(x < -0.3, -1e300, x))
    inside = np.where(x > 0.6, 1.0, np.where(x < -0.3, -1.0, x))
    assert recorded(wild, y)[1] == recorded(inside, y)[1]
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
    """The largest share of a round's loss that a row takes, over all neighbours and rounds."""
    answers = script(kw.get("fit_intercept", True))
    kw = {"max_iter": TIMES, "neighbors": relation, "rho": None, **loss, **kw}
    seen = {}

    def replayed(data):
        key = tuple(sorted(data))
        if key not in seen:
            table = np.array(data).reshape(-1, 3)
            asked, values, made = recorded(table[:, :2], table[:, 2], Replay(answers), **kw)
            assert made.n_iter_ == TIMES
            seen[key] = list(zip(asked, values, strict=True))
        return seen[key]

    worst = [0.0] * TIMES
    which = 0 if loss == LOSSES["epsilon"] else 1
    for data in itertools.combinations_with_replacement(DOMAIN, 2):
        before = replayed(list(data))
        for other in reference.neighbours(list(data), DOMAIN, relation):
            used = [
                reference.moves(a, b)[which] / claim[which]
                for (claim, a), (_, b) in zip(before, replayed(other), strict=True)
            ]
            for t in range(TIMES):
                worst[t] = max(worst[t], sum(used[2 * t : 2 * t + 2]) * TIMES)
    return worst


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
    worst = worst_round(relation, LOSSES[loss], **FORMS[form])
    assert max(worst) <= 1
    if form != "ball" or loss != "epsilon":  # the l1 norm of a ball is reached in a corner
        assert max(worst[:-1]) > 0.9 and worst[-1] > 0.9
    right = perceptron._parts

    def generous(*arguments):  # the planted fault: counts for nothing, in any relation
        _, sums = right(*arguments)
        part = _rounds.Part(sums.size, sums.l1, sums.l2_squared, sums.l0, Fraction(1))
        return [_rounds.Part(1, 1, 1, 1, Fraction(1)), part]

    monkeypatch.setattr(perceptron, "_parts", generous)
    assert max(worst_round(relation, LOSSES[loss], **FORMS[form])) > 1


def test_a_replaced_row_is_not_one_that_comes(monkeypatch):
    """The planted fault: a row that is replaced is taken for one that comes."""
    right = perceptron._parts
    monkeypatch.setattr(
        perceptron, "_parts", lambda a, b, relation, loss: right(a, b, "add-remove", loss)
    )
    assert max(worst_round("replace", LOSSES["rho"], bounds=(-1, 1))) > 1


def test_integers_too_large_for_the_samplers_are_divided_by_enough():
    """Standardised, with the unit that rounding down adds to each integer."""
    place = Coordinates([(-1.0, 1.0)] * 3, None, "raise", True)
    for relation in RELATIONS:
        for loss in (ZCDP(Fraction(1, 10**9)), Pure(Fraction(1, 10**6))):
            counts, sums = perceptron._parts(place, True, relation, loss)
            made = _rounds.Rounds(
                None, loss=loss, neighbors=relation, rounds=5, name="", budget=None,
                rng=InsecureGenerator(1),
            )  # fmt: skip
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
    """The same noise on a neighbour: as many rounds, and a hyperplane that hardly differs."""
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
    found = set()
    for seed, n in (0, 0), (1, 1), (2, 500):
        x, y = classes(n, 2, seed)
        made = recorded(x, y, Replay(answers), max_iter=TIMES)[2]
        found.add((made.coef_.tobytes(), made.intercept_.tobytes(), made.mistakes_, made.n_iter_))
    assert len(found) == 1


# --- what is found --------------------------------------------------------------------------------


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


def test_more_loss_finds_more():
    x, y = classes(3000, 4, noise=0.1)

    def found(**loss):
        made = [
            Perceptron(bounds=(-1, 1), **loss).fit(x, y, rng=InsecureGenerator(s)) for s in range(8)
        ]
        return np.mean([m.score(x, y) for m in made])

    assert found(rho=1) > 0.85 > 0.75 > found(rho=1e-5)
    assert found(epsilon=5) > 0.85
    assert found(epsilon=3, delta=1e-6) > 0.85


def test_accuracy_on_digits_grows_with_the_loss():
    """Even digits against odd ones, 1,797 rows of 64 columns."""
    digits = pytest.importorskip("sklearn.datasets").load_digits()
    y = np.where(digits.target % 2 == 0, 1, -1)

    def found(rho):
        made = [
            Perceptron(bounds=(0, 16), rho=rho).fit(digits.data, y, rng=InsecureGenerator(s))
            for s in range(6)
        ]
        return np.mean([m.score(digits.data, y) for m in made])

    scores = [found(rho) for rho in (1e-4, 1e-2, 1.0)]
    assert scores[0] < 0.65 < 0.7 < scores[1] < scores[2] and scores[2] > 0.82


def test_a_radius_has_less_noise_than_bounds():
    x, y = classes(2000, 30, noise=0.05)
    x /= np.sqrt((x**2).sum(axis=1, keepdims=True))

    def found(**kw):
        made = [Perceptron(rho=0.02, **kw).fit(x, y, rng=InsecureGenerator(s)) for s in range(8)]
        return np.mean([m.score(x, y) for m in made])

    assert found(radius=1) > found(bounds=(-1, 1)) + 0.05


def test_mistakes_are_those_of_what_is_kept():
    x, y = classes(5000, noise=0.3)
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y, rng=InsecureGenerator(1))
    wrong = np.count_nonzero(made.predict(x) != y)
    assert made.mistakes_ == pytest.approx(wrong, abs=100)
    assert made.score(x, y) == pytest.approx(1 - wrong / len(x))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_few_rows_are_no_error(n):
    x, y = classes(n)
    for relation in RELATIONS:
        made = Perceptron(bounds=(-1, 1), rho=0.01, neighbors=relation).fit(x, y)
        assert np.isfinite(made.coef_).all() and made.coef_.shape == (1, 3)


# --- what is kept and what is refused -------------------------------------------------------------


def test_nothing_exact_is_kept():
    x, y = classes()
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y)
    learned = {name for name in vars(made) if name.endswith("_")}
    assert learned == {
        "coef_", "intercept_", "classes_", "mistakes_", "n_iter_", "n_features_in_", "loss_",
    }  # fmt: skip
    again = pickle.loads(pickle.dumps(made))
    assert (again.predict(x) == made.predict(x)).all() and len(pickle.dumps(made)) < 3000


def test_predictions():
    x, y = classes()
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y)
    sides = x @ made.coef_[0] + made.intercept_[0]
    assert made.decision_function(x) == pytest.approx(sides)
    assert (made.predict(pd.DataFrame(x)[[0, 1, 2]].to_numpy()) == np.where(sides > 0, 1, -1)).all()
    assert (made.classes_ == [-1, 1]).all()
    frame = pd.DataFrame({"a": x[:, 0], "y": y, "b": x[:, 1], "c": x[:, 2]})
    assert made.score(frame, "y") == made.score(x, y)
    assert math.isnan(made.score(x[:0], y[:0]))
    for answer in (made.predict, lambda rows: made.score(rows, [1])):
        with pytest.raises(DataError):
            answer(np.full((1, 3), np.nan))
        with pytest.raises(ArgumentError, match="columns"):
            answer(np.zeros((1, 2)))


def test_missing_values():
    x, y = classes(500)
    x[7, 1] = np.nan
    with pytest.raises(DataError, match="NaN"):
        Perceptron(bounds=(-1, 1), rho=1).fit(x, y)
    without = np.delete(x, 7, axis=0), np.delete(y, 7)
    assert recorded(x, y, nan="drop")[1] == recorded(*without)[1]
    assert recorded(x, y, nan=0.25)[1] == recorded(np.nan_to_num(x, nan=0.25), y)[1]
    assert recorded(x, y, nan="upper")[1] == recorded(np.nan_to_num(x, nan=1.0), y)[1]


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


@pytest.mark.parametrize("labels", [[True] * 10, ["a", "b"] * 5], ids=shown)
def test_labels_of_another_type_are_refused_before_anything_is_spent(labels):
    budget = dp.Budget(epsilon=1)
    made = Perceptron(bounds=(-1, 1), epsilon=1)
    with pytest.raises(ArgumentTypeError, match="must be"):
        made.fit(np.zeros((10, 2)), np.array(labels), budget=budget)
    assert not budget.history


@pytest.mark.parametrize(
    "given", [({"a": [0.5, "x"], "y": [1, -1]}, "y"), (np.full((2, 1), 0.5), [1, "x"])]
)
def test_what_cannot_be_read_is_told_after_the_spend(given):
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="is not refunded"):
        Perceptron(bounds=(-1, 1), epsilon=1).fit(*given, budget=budget)
    assert len(budget.history) == 1


@pytest.mark.parametrize(
    "kw",
    [
        {"radius": 1},
        {"bounds": None, "radius": 0},
        {"bounds": None, "radius": 2.0**-1000},
        {"bounds": [(0, 1)]},
        {"bounds": (0, 1e-300)},
        {"max_iter": 1},
        {"max_iter": 2.0},
        {"fit_intercept": 1},
        {"step": "fast"},
        {"nan": "drop", "neighbors": "replace"},
        {"y": np.ones(9), "neighbors": "replace"},
        {"y": np.ones((10, 2))},
    ],
    ids=shown,
)
def test_bad_arguments_cost_nothing(kw):
    budget = dp.Budget(epsilon=1)
    given = {"bounds": (0, 1), "epsilon": 1, **kw}
    x, y = given.pop("X", np.zeros((10, 2))), given.pop("y", np.ones(10))
    rng = given.pop("rng", None)
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        Perceptron(**given).fit(x, y, budget=budget, rng=rng)
    assert not budget.history


@pytest.mark.parametrize("spent", [Pure(0.5), Approx(0.5, 1e-6), ZCDP(0.1)], ids=str)
def test_one_line_in_the_ledger(spent):
    x, y = classes(200)
    kw = {"rho": 0.1} if isinstance(spent, ZCDP) else {"epsilon": 0.5}
    if isinstance(spent, Approx):
        kw["delta"] = 1e-6
    budget = dp.Budget(rho=0.15) if isinstance(spent, ZCDP) else dp.Budget(epsilon=0.6, delta=1e-6)
    made = Perceptron(bounds=(-1, 1), **kw).fit(x, y, budget=budget)
    (line,) = budget.history
    assert line.loss == spent == made.loss_ and line.what == "perceptron"
    with pytest.raises(BudgetError):
        made.fit(x, y, budget=budget)
    assert len(budget.history) == 1


def test_not_fitted():
    for ask in (lambda m: m.predict([[0.0]]), lambda m: m.score([[0.0]], [1])):
        with pytest.raises(NotFittedError, match="call fit first"):
            ask(Perceptron(bounds=(0, 1), rho=1))


def test_scikit_learn_can_clone_it_and_put_it_into_a_pipeline():
    base = pytest.importorskip("sklearn.base")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    x, y = classes(500)
    made = Perceptron(bounds=(-1, 1), rho=1).fit(x, y)
    again = base.clone(made)
    assert again.get_params() == made.get_params() and not hasattr(again, "coef_")
    budget = dp.Budget(rho=1)
    line = make_pipeline(FunctionTransformer(np.cbrt), again)
    line.fit(x, y, perceptron__budget=budget)
    assert line.score(x, y) > 0.5 and len(budget.history) == 1
    assert base.is_classifier(made)
