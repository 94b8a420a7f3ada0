"""What learns from sums, against hostile arguments and data: refused for nothing, or exact."""

from __future__ import annotations

import inspect
import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.learn import (
    PCA,
    ID3Classifier,
    KMeans,
    LinearRegression,
    NaiveBayes,
    Perceptron,
    TruncatedSVD,
    estimator,
)
from dpfast.learn.columns import Classes, columns_of
from dpfast.learn.naive_bayes import ClassSums
from dpfast.learn.rows import labeled_rows
from dpfast.privacy import Pure
from dpfast.rng import InsecureGenerator
from dpfast.sulq import NoisySums, Term
from dpfast.sulq.parts import Part
from dpfast.tables import Chunk

from ..sulq.test_noisy_sums import recorded
from ..support import battery, surface
from ..support.learners import rounds_of
from ..support.pairwise import every_value
from .test_pca import recorded as recorded_components

LOSSES = [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 1}]
ESTIMATORS = [KMeans, PCA, TruncatedSVD]
ROWS = np.random.default_rng(0).uniform(0, 1, (100, 2))


def untouched(loss):
    """A budget, and a check that nothing of it has been spent."""
    budget = dp.Budget(**loss)
    return budget, lambda: budget.history == ()


# --- what all learners take -----------------------------------------------------------------------


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


# --- shares of a loss -----------------------------------------------------------------------------


def test_shares_of_integers_that_are_divided_first_are_exact():
    """Divided by 2**k and rounded down, moves are as large as they get; the share pays for them."""
    draw, divided = random.Random(1), 0
    for _ in range(500):
        l1, many, rounds = draw.randint(2**36, 2**42), draw.choice([1, 4, 64]), draw.randint(1, 9)
        share, epsilon = Fraction(draw.randint(1, 9), 9), Fraction(draw.randint(1, 99), 1000)
        part = Part(64, l1, l1**2, many, share)
        noise = rounds_of(Pure(epsilon), "replace", rounds).noise(part)
        unit = 1 << noise.shift
        # All integers but one move by 1 to the next multiple of the unit, and one by all the rest.
        worst = many - 1 + -(-(l1 - many + 1) // unit)
        assert worst / noise.scale <= share * epsilon / rounds
        divided += noise.shift > 0
    assert divided > 100


# --- a loss too small for so many rounds ----------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("rounds", [2**62, 10**400, 10**5000], ids=["many", "more", "most"])
def test_a_loss_too_small_for_so_many_rounds_costs_nothing(loss, rounds):
    budget, unspent = untouched(loss)
    with pytest.raises(ArgumentError, match="number of rounds"):
        NoisySums(ROWS, queries=rounds, budget=budget, **loss)
    with pytest.raises(ArgumentError, match="number of rounds"):
        KMeans(2, bounds=(0, 1), max_iter=rounds, **loss).fit(ROWS, budget=budget)
    assert unspent()


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_very_many_rounds_have_very_much_noise(loss):
    few, many = (NoisySums(ROWS, queries=t, **loss) for t in (1, 2**30))
    power = 1.0 if loss == {"epsilon": 1} else 0.5
    assert many.deviation / few.deviation == pytest.approx(2.0 ** (30 * power), rel=0.5)
    assert np.isfinite(many.sum("count"))


@pytest.mark.full
def test_noise_that_cannot_be_had_is_refused_before_it_is_paid_for():
    """So little loss that already a move by 1 needs more noise than there is."""
    budget, unspent = untouched({"epsilon": 1e-4})
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        KMeans(2, bounds=[(0, 1), (0, 2000)] * 25, epsilon=1e-4, max_iter=10**5).fit(
            np.zeros((3, 50)), budget=budget
        )
    assert unspent()
    sums = NoisySums(ROWS, epsilon=2.0**-29, queries=1)
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        sums.batch([Term(ROWS, l2=1.0)] * 5000)
    assert sums.remaining == 1


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize(
    ("kind", "columns", "kw"),
    [
        (Perceptron, 1500, {"bounds": (0, 1), "max_iter": 2}),
        (NaiveBayes, 1500, {"bounds": (0, 1), "classes": [-1, 1]}),
        (NaiveBayes, 2500, {"categories": [0, 1], "classes": [-1, 1]}),
        (
            ID3Classifier,
            1500,
            {"categories": [0, 1], "classes": [-1, 1], "splits": "counts", "max_depth": 1},
        ),
    ],
)
def test_noise_for_too_many_columns_is_refused_before_it_is_paid_for(kind, columns, kw, relation):
    budget = dp.Budget(epsilon=1, neighbors=relation)
    with pytest.raises(ArgumentError, match="epsilon must be larger"):
        kind(**kw, epsilon=1.9e-9, neighbors=relation).fit(
            np.zeros((3, columns)), [1, -1, 1], budget=budget
        )
    assert budget.history == ()


# --- numbers at the end of their range ------------------------------------------------------------


ENDS = [
    *((0, 2.0**400), (-(2.0**400), 2.0**400), [(0, 2.0**400), (0, 2.0**-400)]),
    *([(0, 2.0**40), (0, 1)], [(0, 0), (0, 1)], [(0, 0), (5, 5)], (1e5, 1e5 + 1)),
]
#: Squares of these are no numbers; those of centers are not needed.
LARGE = [
    (0, 2.0**900),
    [(0, 1), (1e200, 1.1e200)],
    (1e270, 2.0**900),
    [(-1e270, 1e270), (0, 1e-300)],
]


@every_value
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize(
    ("kind", "bounds"),
    [*itertools.product(ESTIMATORS, ENDS), *((KMeans, bounds) for bounds in LARGE)],
)
def test_bounds_at_the_ends_have_finite_answers(kind, bounds, loss):
    for relation in ("replace", "add-remove"):
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            made = kind(2, bounds=bounds, neighbors=relation, **loss).fit(ROWS)
        for name, value in vars(made).items():
            if name.endswith("_") and name != "loss_":
                assert np.isfinite(value).all(), name


@pytest.mark.parametrize("loss", [{"rho": 2.0**-55}, {"epsilon": 2.0**-28}], ids=repr)
@pytest.mark.parametrize("kind", [PCA, TruncatedSVD])
def test_large_bounds_with_very_much_noise_have_finite_answers(kind, loss):
    for _ in range(10):
        made = kind(bounds=(-(2.0**400), 2.0**400), **loss).fit(ROWS[:5])
        assert np.isfinite(made.components_).all()


def with_labels(kind, bounds, **kw):
    """What learns from labels of -1 and 1."""
    kw |= {"classes": [-1, 1]} if kind is NaiveBayes else {}
    kw |= {"y_bounds": (-1, 1), **kw} if kind is LinearRegression else {}
    return kind(bounds=bounds, **kw)


SIDES = np.where(ROWS[:, 0] > 0.5, 1, -1)


NARROW = {"y_bounds": (0, 2.0**400), "fit_intercept": False}


@pytest.mark.parametrize(
    ("kind", "bounds", "kw", "power"),
    [
        *((PCA, pair, {}, 400) for pair in ((0, 1e300), (0, 2.0**401), (1e308, 1.7e308))),
        (TruncatedSVD, [(0, 1), (1e200, 1.1e200)], {}, 400),
        (TruncatedSVD, [(-1e160, 0), (0, 1)], {}, 400),
        (KMeans, (-1e300, 1), {}, 900),
        (NaiveBayes, (0, 1e300), {}, 500),
        (NaiveBayes, [(0, 1), (-1e160, 0)], {}, 500),
        (LinearRegression, (0, 1e200), {}, 500),
        (LinearRegression, (0, 1), {"y_bounds": (0, 1e308)}, 500),
        (LinearRegression, [(0, 1), (0, 2.0**-800)], {"y_bounds": (0, 2.0**400)}, 800),
        (LinearRegression, [(0, 1), (2.0**-800,) * 2], NARROW, 800),
    ],
)
def test_bounds_whose_answers_are_no_numbers_cost_nothing(kind, bounds, kw, power):
    budget, unspent = untouched({"rho": 1})
    with pytest.raises(ArgumentError, match=rf"bounds must be at most 2\*\*{power}"):
        with_labels(kind, bounds, rho=1, **kw).fit(ROWS, SIDES, budget=budget)
    assert unspent()


@pytest.mark.parametrize("kind", [NaiveBayes, Perceptron, LinearRegression])
@pytest.mark.parametrize(
    "bounds", [(0, 2.0**500), [(-(2.0**500), 2.0**500), (0, 2.0**-290)], [(0, 0), (1e5, 1e5 + 1)]]
)
def test_labels_within_bounds_at_the_ends_have_finite_answers(kind, bounds):
    cases = [{}]
    if kind is LinearRegression:
        targets = [(-(2.0**500), 2.0**500), (0, 2.0**-500), (3, 3)]
        cases = [{"y_bounds": y, "fit_intercept": c} for y in targets for c in (True, False)]
    for kw in cases:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            made = with_labels(kind, bounds, rho=1, **kw).fit(ROWS, SIDES)
        for name in ("theta_", "var_", "coef_", "intercept_"):
            assert np.isfinite(getattr(made, name, 0)).all(), name
        assert np.isfinite(made.predict(ROWS)).all()


class OneChunk:
    """A source of somebody else's that brings all rows at a time."""

    dtype, nulls = np.dtype(np.float64), 0

    def __init__(self, rows):
        self._rows, self.length = rows, len(rows)

    def reduce(self, summarise, merge):
        return summarise(Chunk(self._rows, 0))

    def sample(self, count, words):
        return None


def test_a_source_may_bring_any_number_of_rows_at_a_time():
    """2**23 and more squares of 40 bits are beyond an int64."""
    rows, bound = np.full((1 << 23) + 5000, 1.999999), 1.999999
    whole = recorded_components(TruncatedSVD, rows.reshape(-1, 1), (-bound, bound))[1]
    result = recorded_components(TruncatedSVD, OneChunk(rows), (-bound, bound))[1]
    assert result == whole and result[0][0] > 2**63


@pytest.mark.full
def test_sums_of_classes_may_be_of_any_number_of_rows_at_a_time():
    """2**25 and more squares of 38 bits are beyond an int64."""
    n, bound = (1 << 25) + 5000, 1.999999
    rows, classes = np.broadcast_to(bound, n), Classes([0, 1])
    sums = ClassSums(columns_of((-bound, bound), None).for_width(1), classes, "raise")
    result = sums.total(labeled_rows(OneChunk(rows), np.broadcast_to(np.uint8(1), n)))
    reach = sums.layout.numbers[0].reach
    assert n * reach**2 > 2**63
    assert result == [0, n, 0, n * reach**2, 0, 0]


# --- public sets of rows --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "relation"),
    [
        (np.ma.array([True, False, True], mask=[0, 1, 0]), "add-remove"),
        (np.ma.array([True, False, True], mask=[0, 1, 0]), "replace"),
        (np.ma.array([0, 1], mask=[0, 1]), "replace"),
    ],
)
def test_what_stands_behind_a_mask_is_no_set_of_rows(rows, relation):
    sums = NoisySums([1.0, 2.0, 3.0], rho=1, queries=1, neighbors=relation)
    with pytest.raises(ArgumentTypeError, match="rows must be"):
        sums.sum("count", rows)
    assert sums.remaining == 1


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_a_set_of_rows_moves_sums_no_further(relation):
    """The same integers as of the rows that are in the set, and none of the others."""
    data = np.array([0.1, 0.9, np.nan, 0.4])
    keep = np.array([True, False, False, True])
    _, result, _ = recorded(data, lambda s: s.sum("value", keep, bounds=(0, 1)), neighbors=relation)
    _, alone, _ = recorded(data[keep], lambda s: s.sum("value", bounds=(0, 1)), neighbors=relation)
    assert result == alone


# --- NaN policies ---------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1e308, -1e308, 0.3, "lower", "upper"])
def test_a_replacement_is_clipped_like_a_value(value):
    missing = np.array([[0.2, np.nan], [np.nan, 0.7], [np.nan, np.nan], [0.5, 0.5]])
    bounds = [(-1.0, 2.0), (0.25, 0.75)]
    for column, (lo, hi) in enumerate(bounds):
        number = {"lower": lo, "upper": hi}.get(value, value)
        filled = np.where(np.isnan(missing), np.clip(number, lo, hi), missing)

        def ask(sums, column=column, pair=(lo, hi)):
            return sums.sum("value", bounds=pair, column=column)

        assert recorded(missing, ask, nan=value)[1] == recorded(filled, ask)[1]
    lower, upper = np.transpose(bounds)
    number = {"lower": lower, "upper": upper}.get(value, value)
    filled = np.where(np.isnan(missing), np.clip(number, lower, upper), missing)
    for kind in (PCA, TruncatedSVD):
        assert (
            recorded_components(kind, missing, bounds, nan=value)[1]
            == recorded_components(kind, filled, bounds)[1]
        )
    one, other = (
        KMeans(2, bounds=bounds, nan=policy, rho=1).fit(data, rng=InsecureGenerator(1))
        for data, policy in ((missing, value), (filled, "raise"))
    )
    assert (one.cluster_centers_ == other.cluster_centers_).all()


# --- composition ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_the_ledger_has_one_exact_entry_for_each_and_no_more_is_had(loss, relation):
    third = {k: Fraction(str(v)) / 3 for k, v in loss.items()}
    budget = dp.Budget(**loss, neighbors=relation)
    sums = NoisySums(ROWS, queries=2, budget=budget, neighbors=relation, **third)
    KMeans(2, bounds=(0, 1), neighbors=relation, **third).fit(ROWS, budget=budget)
    PCA(1, bounds=(0, 1), neighbors=relation, **third).fit(ROWS, budget=budget)
    assert [entry.what for entry in budget.history] == [
        "noisy sums",
        "k-means",
        "principal components",
    ]
    assert all(budget.remaining[name] == 0 for name in loss)
    with pytest.raises(BudgetError):
        TruncatedSVD(1, bounds=(0, 1), neighbors=relation, **third).fit(ROWS, budget=budget)
    with pytest.raises(BudgetError):
        NoisySums(ROWS, queries=1, budget=budget, neighbors=relation, **third)
    assert sums.sum("count") is not None and len(budget.history) == 3  # asking costs nothing more


# --- arguments of the wrong kind ------------------------------------------------------------------


BITS = ROWS > 0.5


def kind(given):
    return type(given).__name__


ODD = [None, 3, np.array([0, 1]), np.True_, "x", {}, object()]


@pytest.mark.parametrize("odd", ODD, ids=kind)
def test_what_is_no_oracle_is_refused(odd):
    sums = NoisySums(BITS, rho=1, queries=9, neighbors="replace")
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


@pytest.mark.parametrize("label", [True, np.True_, np.array([0, 1]), 1.0, (0,), 5, "y"], ids=repr)
def test_a_label_that_is_no_column_uses_up_no_question(label):
    oracle = dp.sulq.ExactOracle(BITS, tolerance=0.1, queries=9, l2=1, size=1)
    with pytest.raises(ArgumentError, match="label must be one of the columns 0, 1"):
        dp.sulq.learn_halfspace(oracle, margin=0.5, radius=1, label=label)
    assert oracle.remaining == 9


@pytest.mark.parametrize("terms", [None, 3, 0.5, np.array(1), np.True_, object()], ids=kind)
def test_a_batch_is_a_sequence(terms):
    sums = NoisySums(ROWS, rho=1, queries=1)
    oracle = dp.sulq.ExactOracle(ROWS, tolerance=0.1, queries=9)
    for one in (sums, oracle):
        with pytest.raises(ArgumentTypeError, match="terms must be a sequence of functions"):
            one.batch(terms)
    assert sums.remaining == 1 and oracle.remaining == 9


def test_what_learners_need_is_a_number_or_an_error():
    for columns, error in ((10**400, 0.1), (0, 0.1), (2, 1e-320), (2, 0), (2, 1.5)):
        with pytest.raises(ArgumentError, match="must be"):
            dp.sulq.conjunction_needs(columns, error)
        for kw in ({"error": error, "margin": 0.1}, {"error": 0.1, "margin": error}):
            if columns != 2 or error != 0.1:
                with pytest.raises(ArgumentError, match="must be"):
                    dp.sulq.halfspace_needs(columns, **kw)


# --- labels that nobody expects -------------------------------------------------------------------

#: What a label may be, one of all others being as it should be.
LABELS = [None, float("nan"), "7654321", 10**400, 2, True, [1, 2]]


def outcome(kind, X, y, epsilon):
    """What a fit for an epsilon of 1 comes to with a budget of another, and what was spent."""
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


@pytest.mark.parametrize("label", LABELS, ids=repr)
@pytest.mark.parametrize("kind", [Perceptron, ID3Classifier, NaiveBayes, LinearRegression])
def test_no_label_decides_anything_before_the_spend(kind, label):
    """It is not known to whoever has not paid; of features `test_one_row` tells the same."""
    check_before_the_spend(kind, label)


def test_labels_that_are_looked_at_before_the_spend_are_caught(monkeypatch):
    """Planted: a label that is none of the classes is refused where labels are read."""
    right = estimator.labeled_rows

    def labels_read(X, y, *rest, **kw):
        made = right(X, y, *rest, **kw)
        ok = made.reduce(lambda some: all((np.abs(y) == 1).all() for _, y in some), min)
        if not ok:
            raise ArgumentError("y must be -1 or 1")
        return made

    monkeypatch.setattr(estimator, "labeled_rows", labels_read)
    for label in (2, float("nan"), None, 10**400):
        with pytest.raises(AssertionError):
            check_before_the_spend(Perceptron, label)
    check_before_the_spend(Perceptron, 1)
