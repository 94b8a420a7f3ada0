"""What learns from sums, against hostile arguments and data: refused for nothing, or exact."""

import inspect
import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.learn import PCA, KMeans, LinearRegression, NaiveBayes, Perceptron, TruncatedSVD, scored
from dpfast.privacy import Pure
from dpfast.sulq import NoisySums, Term
from dpfast.sulq.parts import Part

from ..support import battery, surface
from ..support.learners import rounds_of
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused

LOSSES = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 1}]
ROWS = np.random.default_rng(0).uniform(0, 1, (100, 2))


@pytest.mark.parametrize("kind", surface.LEARNERS, ids=lambda kind: kind.__name__)
def test_bad_arguments_that_all_have_cost_nothing(kind):
    """What is special to a learner is tried in its own file."""
    budget = dp.Budget(epsilon=100, delta=0.5)
    right = {**surface.LEARNERS[kind], "epsilon": 2, "X": surface.ROWS, "budget": budget}
    bad = [{"rho": 1}, {"rho": 1, "epsilon": None, "delta": 0.1}]
    own = {*right, *inspect.signature(kind).parameters, "rng"}
    common = own & {"bounds", "epsilon", "delta", "rho", "neighbors", "nan", "budget", "rng"}
    bad += [{name: value} for name in sorted(common) for value in battery.BAD[name]]
    bad += [{"X": value} for value in battery.BAD_DATA["table"]]
    if set(right) & {"y_bounds", "classes"} or kind is Perceptron:
        right["y"] = surface.LABELS
        bad.append({"y": None})
    if "y_bounds" in right:
        bad.append({"y_bounds": None})

    def fit(**given):
        fitted = {name: given.pop(name) for name in ("y", "budget", "rng") if name in given}
        kind(**{name: given[name] for name in given if name != "X"}).fit(given["X"], **fitted)

    for change in bad:
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            fit(**{**right, **change})
    assert budget.history == ()
    fit(**right)
    assert len(budget.history) == 1


def test_shares_of_integers_that_are_divided_first_are_exact():
    """Divided by 2**k and rounded down, moves are as large as they get; the share pays for them."""
    draw, divided = random.Random(1), 0
    for _ in range(200):
        l1, many, rounds = draw.randint(2**36, 2**42), draw.choice([1, 4, 64]), draw.randint(1, 9)
        share, epsilon = Fraction(draw.randint(1, 9), 9), Fraction(draw.randint(1, 99), 1000)
        part = Part(64, l1, l1**2, many, share)
        noise = rounds_of(Pure(epsilon), "replace", rounds).noise(part)
        unit = 1 << noise.shift
        # All integers but one move by 1 to the next multiple of the unit, and one by all the rest.
        worst = many - 1 + -(-(l1 - many + 1) // unit)
        assert worst / noise.scale <= share * epsilon / rounds
        divided += noise.shift > 0
    assert divided > 40


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("rounds", [2**62, 10**400, 10**5000], ids=["many", "more", "most"])
def test_a_loss_too_small_for_so_many_rounds_costs_nothing(loss, rounds):
    budget = dp.Budget(**loss)
    with pytest.raises(ArgumentError, match="number of rounds"):
        NoisySums(ROWS, queries=rounds, budget=budget, **loss)
    with pytest.raises(ArgumentError, match="number of rounds"):
        KMeans(2, bounds=(0, 1), max_iter=rounds, **loss).fit(ROWS, budget=budget)
    assert budget.history == ()


@every_value
@pytest.mark.parametrize("kind", [Perceptron, NaiveBayes, dp.learn.ID3Classifier])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_noise_that_cannot_be_had_is_refused_before_it_is_paid_for(kind, relation):
    budget = dp.Budget(epsilon=1, neighbors=relation)
    kw = {
        Perceptron: {"bounds": (0, 1), "max_iter": 2},
        NaiveBayes: {"bounds": (0, 1), "classes": [-1, 1]},
    }.get(kind, {"categories": [0, 1], "classes": [-1, 1], "splits": "counts", "max_depth": 1})
    made = kind(**kw, epsilon=1.9e-9, neighbors=relation)
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        made.fit(np.zeros((3, 1500)), [1, -1, 1], budget=budget)
    sums = NoisySums(ROWS, epsilon=2.0**-29, queries=1, neighbors=relation)
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        sums.batch([Term(ROWS, l2=1.0)] * 1500)
    assert budget.history == () and sums.remaining == 1


ENDS = [
    *((0, 2.0**400), (-(2.0**400), 2.0**400), [(0, 2.0**400), (0, 2.0**-400)]),
    *([(0, 2.0**40), (0, 1)], [(0, 0), (0, 1)], [(0, 0), (5, 5)], (1e5, 1e5 + 1)),
]
#: Squares of these are no numbers; those of centers are not needed.
LARGE = [(0, 2.0**900), [(0, 1), (1e200, 1.1e200)], (1e270, 2.0**900)]
LARGE += [[(-1e270, 1e270), (0, 1e-300)]]
WIDE = [*ENDS, (0, 2.0**500), [(-(2.0**500), 2.0**500), (0, 2.0**-290)]]
TARGETS = [(-1, 1), (-(2.0**500), 2.0**500), (0, 2.0**-500), (3, 3)]
ALONG = [{"y_bounds": y, "fit_intercept": c} for y in TARGETS for c in (True, False)]
SIDES, SIDED = np.where(ROWS[:, 0] > 0.5, 1, -1), {"classes": [-1, 1]}


@quick_rows(24)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(
    ("kind", "kw", "bounds"),
    [
        *itertools.product((KMeans, PCA, TruncatedSVD), [{}], ENDS),
        *itertools.product([KMeans], [{}], LARGE),
        *itertools.product([NaiveBayes], [SIDED], WIDE),
        *itertools.product([Perceptron], [{}], WIDE),
        *itertools.product([LinearRegression], ALONG, WIDE[-3:]),
    ],
)
def test_bounds_at_the_ends_have_finite_answers(kind, kw, bounds, loss):
    for relation in ("replace", "add-remove"):
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            made = kind(bounds=bounds, neighbors=relation, **kw, **loss).fit(ROWS, SIDES)
        for name, value in vars(made).items():
            if name.endswith("_") and name not in ("loss_", "category_log_prob_"):
                assert value is None or np.isfinite(value).all(), name
        call = made.predict if hasattr(made, "predict") else made.transform
        assert kind is KMeans or np.isfinite(call(ROWS)).all()


NARROW = {"y_bounds": (0, 2.0**400), "fit_intercept": False}


@pytest.mark.parametrize(("kind", "bounds", "kw", "power"), [
    *((PCA, pair, {}, 400) for pair in ((0, 1e300), (0, 2.0**401), (1e308, 1.7e308))),
    *((TruncatedSVD, pair, {}, 400)
        for pair in ([(0, 1), (1e200, 1.1e200)], [(-1e160, 0), (0, 1)])),
    (KMeans, (-1e300, 1), {}, 900), (NaiveBayes, (0, 1e300), SIDED, 500),
    (NaiveBayes, [(0, 1), (-1e160, 0)], SIDED, 500),
    (LinearRegression, (0, 1e200), {"y_bounds": (-1, 1)}, 500),
    (LinearRegression, (0, 1), {"y_bounds": (0, 1e308)}, 500),
    (LinearRegression, [(0, 1), (0, 2.0**-800)], {"y_bounds": (0, 2.0**400)}, 800),
    (LinearRegression, [(0, 1), (2.0**-800,) * 2], NARROW, 800),
])  # fmt: skip
def test_bounds_whose_answers_are_no_numbers_cost_nothing(kind, bounds, kw, power):
    made, words = kind(bounds=bounds, rho=1, **kw), rf"bounds must be at most 2\*\*{power}"
    refused(made.fit, words, budget=dp.Budget(rho=1), X=ROWS, y=SIDES)


def kind(given):
    return type(given).__name__


@pytest.mark.parametrize("odd", [None, 3, np.array([0, 1]), np.True_, "x", {}], ids=kind)
def test_what_is_no_oracle_is_refused(odd):
    sums = NoisySums(ROWS > 0.5, rho=1, queries=9, neighbors="replace")
    bit = dp.sulq.Attribute(0)
    for name, call in (
        ("oracle", lambda: dp.sulq.learn_conjunction(odd)),
        ("oracle", lambda: dp.sulq.learn_halfspace(odd, margin=0.5, radius=1)),
        ("a", lambda: dp.sulq.implication_test(odd, bit, sums, bit, 0.5)),
        ("b", lambda: dp.sulq.implication_strength(sums, bit, odd, bit)),
    ):
        with pytest.raises(ArgumentTypeError, match=f"^{name} must be"):
            call()
    assert sums.remaining == 9


@pytest.mark.parametrize("terms", [None, 3, 0.5, np.array(1), np.True_, object()], ids=kind)
def test_a_batch_is_a_sequence(terms):
    oracle = dp.sulq.ExactOracle(ROWS, tolerance=0.1, queries=1)
    for one in (NoisySums(ROWS, rho=1, queries=1), oracle):
        with pytest.raises(ArgumentTypeError, match="terms must be a sequence of functions"):
            one.batch(terms)
        assert one.remaining == 1


#: What a label may be, one of all others being as it should be.
LABELS = [None, float("nan"), "7654321", 10**400, 2, True, [1, 2]]


def outcome(kind, X, y, epsilon):
    budget = dp.Budget(epsilon=epsilon)
    try:
        kind(**{**surface.LEARNERS[kind], "epsilon": 1}).fit(X, y, budget=budget)
    except (ArgumentError, ArgumentTypeError, BudgetError, DataError) as error:
        assert "7654321" not in str(error) and "\n" not in str(error)
        return type(error), len(budget.history)
    return None, len(budget.history)


def check_before_the_spend(kind, label):
    X, y = ROWS[:40], [label, -1, *[1, -1] * 19]
    for form in ((X, y), ({"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "y": y}, "y")):
        assert outcome(kind, *form, epsilon=0.5) == (BudgetError, 0)
        error, spent = outcome(kind, *form, epsilon=1)
        assert spent == 1 and error in (None, DataError)


@every_value
@pytest.mark.parametrize("label", LABELS, ids=repr)
@pytest.mark.parametrize("kind", [Perceptron, dp.learn.ID3Classifier, NaiveBayes, LinearRegression])
def test_no_label_decides_anything_before_the_spend(kind, label):
    """It is not known to whoever has not paid; of features `test_one_row` tells the same."""
    check_before_the_spend(kind, label)


def test_labels_that_are_looked_at_before_the_spend_are_caught(monkeypatch):
    """Planted: a label that is none of the classes is refused where labels are read."""
    right = scored.labeled_rows

    def labels_read(X, y, *rest, **kw):
        made = right(X, y, *rest, **kw)
        ok = made.reduce(lambda some: all((np.abs(y) == 1).all() for _, y in some), min)
        if not ok:
            raise ArgumentError("y must be -1 or 1")
        return made

    monkeypatch.setattr(scored, "labeled_rows", labels_read)
    for label in (2, float("nan"), None, 10**400):
        with pytest.raises(AssertionError):
            check_before_the_spend(Perceptron, label)
    check_before_the_spend(Perceptron, 1)
