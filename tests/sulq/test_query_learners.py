"""Learners from statistical queries: planted targets, and the worst answers that are promised."""

import itertools
import math
import pickle

import numpy as np
import pandas as pd
import pytest

from dpfast import sulq
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.sulq.row_functions import MaskedChunk

from ..reference.sulq import noisy_sums as reference
from ..reference.sulq import query_learners as plain
from ..support.names import shown
from ..support.pairwise import quick_rows
from .test_noisy_sums import recorded

RELATIONS = ["replace", "add-remove"]


class Adversary(sulq.ExactOracle):
    """Answers off by some multiple of the tolerance, in the direction that hurts."""

    def __init__(self, data, hurts, times=1.0, **kw):
        super().__init__(data, **kw)
        self._hurts, self._times = hurts, times

    def batch(self, terms):
        exact = super().batch(terms)
        off = self._times * self.tolerance
        return [
            answer + off * np.asarray(self._hurts(term)) if np.ndim(answer) else
            float(answer + off * self._hurts(term))
            for term, answer in zip(terms, exact, strict=True)
        ]  # fmt: skip


def oracle_of(kind, rows, hurts, rho, **needs):
    """An oracle that is exact, as bad as it may be, or private under a relation."""
    if kind in RELATIONS:
        needs |= {"rows": len(rows), "confidence": 1 - 1e-9, "rng": InsecureGenerator(1)}
        return sulq.StatisticalQueryOracle(rows, rho=rho, neighbors=kind, **needs)
    return sulq.ExactOracle(rows, **needs) if kind == "exact" else Adversary(rows, hurts, **needs)


D = 6
TARGETS = [((0, True),), ((0, True), (3, False)), ((1, False), (2, False), (5, True)), ()]


def planted(target, n=20_000, seed=0, flipped=0.0):
    g = np.random.default_rng(seed)
    x = (g.uniform(size=(n, D)) < g.uniform(0.2, 0.9, D)).astype(np.int8)
    x[:, 4] = x[:, 2]  # columns that say the same
    y = np.array([plain.says_yes(target, row) for row in x.tolist()])
    return np.column_stack([x, y ^ (g.uniform(size=n) < flipped)]).astype(np.int8)


def exact_errors(result, rows):
    said, label = result.predict(rows[:, :-1]), rows[:, -1] > 0
    return (~said & label).mean(), (said & ~label).mean()


def hurting(target):
    """Target literals look worse than they are, all others better."""
    return lambda term: 1 if literal_of(term.f) in target else -1


def literal_of(function):
    """The literal that is asked about by `broken`, seen by what it is for a row that says yes."""
    if len(function.columns) != 2:
        return None
    column = min(function.columns)
    return column, not function.values(MaskedChunk(np.ones((1, D + 1)), 0))[0]


@pytest.mark.full
@quick_rows(5)
@pytest.mark.parametrize("target", TARGETS, ids=shown)
@pytest.mark.parametrize("kind", ["exact", "worst", *RELATIONS])
def test_a_conjunction_is_found(target, kind):
    rows = planted(target)
    oracle = oracle_of(kind, rows, hurting(target), rho=1, **sulq.conjunction_needs(D, 0.2))
    rule = sulq.learn_conjunction(oracle)
    assert set(target) <= set(rule.literals) and oracle.remaining == 0
    lost, wrong = exact_errors(rule, rows)
    assert wrong == 0 and lost <= 4 * D * rule.tolerance <= 0.2 * (1 + 1e-9)
    assert abs(rule.error - lost) <= rule.tolerance * (1 + 1e-9)


@pytest.mark.full
def test_answers_beyond_the_tolerance_do_harm():
    """The planted fault: the bound rests on the promise, and the worst answers use all of it."""
    rows, needs = planted(TARGETS[1]), sulq.conjunction_needs(D, 0.2)
    result = sulq.learn_conjunction(Adversary(rows, hurting(TARGETS[1]), 1.01, **needs))
    assert not set(result.literals) & set(TARGETS[1])
    assert sum(exact_errors(result, rows)) > 0.2
    rows, needs = planted_plane(W, M), sulq.halfspace_needs(3, error=E, margin=M)
    result = sulq.learn_halfspace(Adversary(rows, against(W), 50, **needs), margin=M, radius=1)
    assert wrong_share(result, rows) > E


@pytest.mark.parametrize("seed", range(4))
def test_whatever_the_labels_are_few_that_say_yes_are_missed(seed):
    rows = planted(TARGETS[seed], seed=seed, flipped=0.3)
    for hurt in (-1, 0, 1):
        oracle = Adversary(rows, lambda term, hurt=hurt: hurt, **sulq.conjunction_needs(D, 0.2))
        result = sulq.learn_conjunction(oracle)
        missed, wrong = exact_errors(result, rows)
        assert missed <= 0.2
        assert result.error == pytest.approx(missed + wrong, abs=1.001 * result.tolerance)


@pytest.mark.parametrize("label", ["yes", 0])
def test_columns_with_names_and_a_label_anywhere(label):
    rows, names = planted(TARGETS[1], 2000), [f"c{j}" for j in range(D)]
    data, features, x = np.roll(rows, 1, axis=1), [*range(1, D + 1)], rows[:, :-1]
    if label == "yes":
        x, features = pd.DataFrame(x, columns=names), names
        data = x.assign(yes=rows[:, -1])
    oracle = sulq.ExactOracle(data, **sulq.conjunction_needs(D, 0.05))
    with pytest.raises(ArgumentError, match="label must be one of the columns"):
        sulq.learn_conjunction(oracle, label=-1)
    result = sulq.learn_conjunction(oracle, label=label)
    assert result.error == 0 and list(result.features) == features
    assert set(result.literals) >= {(features[0], True), (features[3], False)}
    assert (result.predict(x) == (rows[:, -1] > 0)).all()
    assert pickle.loads(pickle.dumps(result)) == result
    with pytest.raises(ArgumentError, match=f"X must be rows of {D} columns, got"):
        result.predict(data)
    if label == "yes":
        with pytest.raises(ArgumentError, match=r"a table with the columns c0, .* in this order"):
            result.predict(x[names[::-1]])


def planted_plane(w, margin, n=2000, seed=0, flipped=0.0, shift=0.0):
    g = np.random.default_rng(seed)
    x = g.normal(size=(4 * n, len(w)))
    x *= (g.uniform(size=4 * n) ** (1 / len(w)) / np.linalg.norm(x, axis=1))[:, None]
    side = x @ w + shift
    x, side = x[abs(side) >= margin][:n], side[abs(side) >= margin][:n]
    y = np.where(side > 0, 1, -1) * np.where(g.uniform(size=len(side)) < flipped, -1, 1)
    return np.column_stack([x, y])


W = np.array([0.6, 0.0, -0.8])
M, E = 0.3, 0.25


def wrong_share(result, rows):
    return float((result.predict(rows[:, :-1]) != (rows[:, -1] > 0)).mean())


def against(w):
    """Every direction is off, away from w."""
    return lambda term: -np.sign(w) - (w == 0) if term.l2 is not None else 1


@quick_rows(1)
@pytest.mark.parametrize("kind", ["exact", "worst", *RELATIONS])
@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_a_halfspace_is_found(kind, scale):
    rows, needs = planted_plane(W, M), sulq.halfspace_needs(3, error=E, margin=M)
    rows[:, :-1] *= scale
    oracle = oracle_of(kind, rows, against(W), rho=500, **needs)
    result = sulq.learn_halfspace(oracle, margin=M, radius=scale)
    assert result.excess == pytest.approx(E, rel=1e-3) and result.excess <= E * (1 + 1e-9)
    assert oracle.remaining == 0
    assert np.linalg.norm(result.weights) <= 1 + 1e-12
    error = wrong_share(result, rows)
    assert error <= result.excess and error < 0.02
    assert abs(result.error - error) <= result.tolerance * (1 + 1e-9)


@quick_rows(1)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("hurt", [0, 1])
def test_the_error_is_at_most_any_hinge_loss_and_the_excess(seed, hurt):
    """With labels that no halfspace has: against the planted one, shorter ones, and others."""
    rows = planted_plane(W, 0.0, n=500, seed=seed, flipped=0.1 * seed)
    hurts = against(hurt * W) if hurt else lambda term: 0
    oracle = Adversary(rows, hurts, tolerance=0.005, queries=501, l2=1, size=3)
    result = sulq.learn_halfspace(oracle, margin=0.5, radius=1.0)
    pairs = [(row[:-1], row[-1]) for row in rows.tolist()]
    error = wrong_share(result, rows)
    g = np.random.default_rng(seed)
    others = [W, 0.7 * W, 0 * W, *(v / np.linalg.norm(v) for v in g.normal(size=(5, 3)))]
    for w in others:
        assert error <= plain.hinge(w, 0.5, pairs) + result.excess
        assert plain.hinge(result.weights, 0.5, pairs) <= plain.hinge(w, 0.5, pairs) + result.excess


@pytest.mark.parametrize(("error", "margin"), [(0.2, 0.1), (1, 1), (0.05, 0.3)])
def test_what_is_needed_is_enough(error, margin):
    for columns in (1, 7):
        needs = sulq.halfspace_needs(columns, error=error, margin=margin)
        rounds, s = needs["queries"] - 1, needs["tolerance"] * math.sqrt(columns)
        assert ((1 + s) / math.sqrt(rounds) + 2 * s) / margin <= error * (1 + 1e-12)
        assert ((1 + s) / math.sqrt(rounds - 1) + 2 * s) / margin > error  # and one less is not


DOMAIN = list(itertools.product((0.0, 1.5, -2.0), (0.0, 0.25, math.nan), (1.0, 0.0, -1.0)))
PLANE = sulq.Halfspace((0.3, -0.4), (0, 1), 1.25, False, 0.0, 0.0, 0.0)
SHIFTED = sulq.Halfspace((0.3, -0.4, 0.1), (0, 1), 1.25, True, 0.0, 0.0, 0.0)
FUNCTIONS = {
    "broken": (sulq.conjunction.broken((1, True), 2), (0, 1)),
    "not broken": (sulq.conjunction.broken((0, False), 2), (0, 1)),
    "pull": (sulq.halfspace.pull(PLANE, 0.2, 2), None),
    "pull and shift": (sulq.halfspace.pull(SHIFTED, 0.2, 2), None),
    "wrong": (
        sulq.hypothesis.wrong(sulq.Conjunction(((0, True), (1, False)), (0, 1), 0.0, 0.0), 2),
        (0, 1),
    ),
    "wrong side": (sulq.hypothesis.wrong(PLANE, 2), (0, 1)),
}


def by_definition(name, a, b, y):
    if any(map(math.isnan, (a if name != "broken" else 0, b if name != "not broken" else 0, y))):
        return math.nan
    if "broken" in name:
        return plain.broken((0, False) if "not" in name else (1, True), (a, b), y)
    if name == "wrong":
        return int(plain.says_yes(((0, True), (1, False)), (a, b)) != (y > 0))
    z = plain.lifted((a, b), 1.25, name == "pull and shift")
    if name == "wrong side":
        return int((plain.margin_of((0.3, -0.4), z, 1) > 0) != (y > 0))
    plane = SHIFTED if name == "pull and shift" else PLANE
    return plain.pull(plane.weights, 0.2, z, y)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_what_is_asked_is_what_is_defined(name):
    function, _ = FUNCTIONS[name]
    matrix = np.array(DOMAIN)
    result = function.values(MaskedChunk(matrix, 0))
    for row, value in zip(DOMAIN, result, strict=True):
        expected = by_definition(name, *row)
        if np.ndim(expected):
            assert value == pytest.approx(expected, abs=1e-15)
        else:
            assert np.isnan(value).all() if math.isnan(expected) else value == expected
    for i in range(len(matrix)):  # and a row has one value wherever it stands
        alone = function.values(MaskedChunk(matrix[i : i + 1], 0)).astype(float)
        assert alone.tobytes() == result[i : i + 1].astype(float).tobytes()


@quick_rows(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_no_neighbor_moves_a_question_by_more_than_is_claimed(name, relation):
    function, bounds = FUNCTIONS[name]
    term = sulq.Term(function, bounds, None if bounds else 1.0)

    def one(data):
        rows = np.array(data).reshape(-1, 3)
        claims, (sums,), _ = recorded(rows, lambda o: o.batch([term]), neighbors=relation, nan=0.5)
        return claims[-1], sums

    worst = (0, 0, 0)
    for row in DOMAIN[::3]:
        data = [DOMAIN[1], row]
        claim, before = one(data)
        for other in reference.neighbors(data, DOMAIN, relation):
            worst = tuple(map(max, zip(worst, reference.moves(before, one(other)[1]), strict=True)))
    assert all(size <= most for size, most in zip(worst, claim, strict=True))
    assert worst[1] > claim[1] / 4  # and half of it would not do


def test_bad_arguments_ask_nothing():
    rows = planted(TARGETS[0], n=100)
    few = sulq.ExactOracle(rows, tolerance=0.1, queries=2 * D)
    half = sulq.ExactOracle(rows, tolerance=0.1, queries=10, l2=1, size=D)
    wrong = [
        *(("margin", {"margin": value}) for value in (0, 1.1)),
        *(("radius", {"radius": value}) for value in (-1, 1e-300)),
        ("oracle must be an oracle with 11 queries left", {"rounds": 10}),
        ("rounds", {"rounds": 0}),
        ("intercept", {"intercept": 1}),
        ("oracle must be an oracle with 13 queries left", {"oracle": few, "rounds": 12}),
        *(("label", {"label": value}) for value in ("y", True)),
    ]
    for words, kw in wrong:
        with pytest.raises((ArgumentError, ArgumentTypeError), match=f"^{words}"):
            sulq.learn_halfspace(**{"oracle": half, "margin": 0.1, "radius": 1, **kw})
    with pytest.raises(ArgumentError, match="13 queries left"):
        sulq.learn_conjunction(few)
    assert few.remaining == 2 * D and half.remaining == 10
    with pytest.raises(ArgumentTypeError, match="intercept"):
        sulq.halfspace_needs(3, error=0.1, margin=0.1, intercept=0)
    with pytest.raises(ArgumentError, match="at least one column other than the label"):
        sulq.learn_conjunction(sulq.ExactOracle(rows[:, 0], tolerance=0.1, queries=3))
    narrow = sulq.StatisticalQueryOracle(
        planted_plane(W, M), neighbors="replace", rho=100, tolerance=0.1, queries=9
    )
    with pytest.raises(ArgumentError, match="within the limits"):
        sulq.learn_halfspace(narrow, margin=M, radius=1)
    assert narrow.remaining == 9


def test_missing_labels_and_values():
    rows = planted(TARGETS[1]).astype(float)
    rows[::50, -1] = np.nan
    rows[1::50, 2] = np.nan
    with pytest.raises(DataError, match="NaN"):
        sulq.learn_conjunction(sulq.ExactOracle(rows, **sulq.conjunction_needs(D, 0.2)))
    result = sulq.learn_conjunction(
        sulq.ExactOracle(rows, nan="lower", **sulq.conjunction_needs(D, 0.2))
    )
    assert set(result.literals) == set(TARGETS[1])
    with pytest.raises(DataError, match="NaN"):
        result.predict(rows[:, :-1])
    for x in (rows, rows[:, :2]):
        with pytest.raises(ArgumentError, match="X must be rows of 6 columns"):
            result.predict(x)
