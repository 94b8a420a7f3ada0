"""The adapter of diffprivlib: answers, refusals, who pays, and what is looked at before."""

import math
import pickle
import re
import warnings

import numpy as np
import pytest

import dpfast as dp
import dpfast.adapters.diffprivlib as ours
from dpfast.adapters.diffprivlib import mechanisms, tools
from dpfast.adapters.diffprivlib.refusals import REASONS, BudgetError, Refused
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, DpfastError

from ..noise import test_generator as hostile
from ..support.pages import GUIDE
from ..support.pairwise import pairwise

RNG = np.random.default_rng(2)
ROWS = RNG.random((400, 3))
STATISTICS = ["mean", "var", "std", "sum"]


@pytest.fixture(autouse=True)
def fresh():
    ours.BudgetAccountant.pop_default()
    yield
    ours.BudgetAccountant.pop_default()


@pytest.mark.full
@pairwise(drop=True)
@pytest.mark.parametrize("name", [*STATISTICS, *("nan" + name for name in STATISTICS)])
@pytest.mark.parametrize("axis", [None, 0, (0, 1), (), -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_statistics_are_those_of_numpy(name, axis, keepdims):
    expected = getattr(np, name)(ROWS, axis=axis, keepdims=keepdims)
    given = {"axis": axis, "keepdims": keepdims, "epsilon": 500, "bounds": (0, 1)}
    found = getattr(tools, name)(ROWS, **given)
    assert np.shape(found) == np.shape(expected)
    few = axis in (1, -1, ()) or np.ndim(expected) > 1
    if not few:
        assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


@pytest.mark.full
def test_quantiles_and_histograms_are_those_of_numpy():
    x, asked = np.repeat(ROWS[:, 0], 50), {"epsilon": 100, "bounds": (0, 1)}
    found = tools.quantile(x, [0.25, 0.5], **asked)
    assert np.abs(found - np.quantile(x, [0.25, 0.5])).max() < 0.02
    assert tools.quantile(ROWS, [0.1, 0.5, 0.9], bounds=(0, 1), axis=0).shape == (3, 3)
    half = tools.percentile(x, 50, **asked)
    assert half == pytest.approx(tools.median(x, **asked), abs=0.02)
    counts, edges = tools.histogram(x, epsilon=400, bins=4, range=(0, 1))
    plain, theirs = np.histogram(x, bins=4, range=(0, 1))
    assert counts.tolist() == plain.tolist() and edges.tolist() == theirs.tolist()
    square = {"bins": [2, 3], "range": [(0, 1), (0, 1)]}
    both = tools.histogram2d(*ROWS.T[:2], **square, epsilon=400)
    assert np.array_equal(both[0], np.histogram2d(*ROWS.T[:2], **square)[0])
    dense, _ = tools.histogramdd(ROWS[:, :2], **square, epsilon=400, density=True)
    assert dense.sum() / 6 == pytest.approx(1, abs=0.05)
    assert tools.count_nonzero(["a", "", "b"], epsilon=400) == 2


def test_a_call_is_paid_by_the_accountant_once():
    with ours.BudgetAccountant(1.5, 0) as payer:
        tools.mean(ROWS, bounds=(0, 1), axis=0)
        tools.sum(ROWS, epsilon=0.25, bounds=(0, 1), dtype=int)
        assert payer.total() == (1.25, 0) and len(payer) == 2
        assert payer.budget.neighbors == "replace"
        with pytest.raises(BudgetError):
            tools.median(ROWS, bounds=(0, 1))
        with pytest.raises(BudgetError):
            tools.nanmean(ROWS, bounds=(0, 1), axis=0)
    assert len(payer) == 2 and issubclass(BudgetError, (ValueError, DpfastError))


REFUSED = {
    "bounds": (tools.mean, (ROWS,), {}),
    "infinite": (tools.sum, (ROWS,), {"epsilon": math.inf, "bounds": (0, 1)}),
    "zero": (mechanisms.Laplace, (), {"epsilon": 0, "delta": 0.5, "sensitivity": 1}),
    "size": (mechanisms.Laplace, (), {"epsilon": 1e-12, "sensitivity": 1}),
    "fixed": (setattr, (mechanisms.Geometric(epsilon=1), "epsilon", 0.1), {}),
    "seeded": (tools.mean, (ROWS,), {"bounds": (0, 1), "random_state": 0}),
    "weights": (tools.histogram, (ROWS,), {"range": (0, 1), "weights": ROWS}),
    "slack": (ours.BudgetAccountant, (1, 0.1, 0.05), {}),
    "sampler": (mechanisms.Uniform, (), {"delta": 0.1, "sensitivity": 1}),
    "range": (
        mechanisms.LaplaceFolded,
        (),
        {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": math.inf},
    ),
    "scores": (mechanisms.Exponential, (), {"epsilon": 1, "sensitivity": 0, "utility": [1, 2]}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_refused_costs_nothing_and_says_why(reason):
    payer = ours.BudgetAccountant(5, 0).set_default()
    with pytest.raises(Refused, match=re.escape(REASONS[reason])) as caught:
        function, given, more = REFUSED[reason]
        function(*given, **more)
    assert caught.value.reason == reason and len(payer) == 0
    assert isinstance(caught.value, (ValueError, ArgumentError))


def test_the_page_lists_every_reason():
    page = (GUIDE / "backends" / "diffprivlib.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| (\w+) \| (.+) \|$", page, re.M)).items() >= REASONS.items()
    assert {*REASONS} >= {*REFUSED, "classes", "refit", "structure"}


def before_the_spend(monkeypatch, call):
    """The warnings and errors of a call on hostile rows whose spend is refused."""
    ours.BudgetAccountant(2.0**-29, 0).set_default()
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with pytest.raises(Exception) as caught:
            call()
    return [str(one.message) for one in shown], type(caught.value)


HOSTILE = np.array([1.0, np.nan, np.inf, 1e308])


@pytest.mark.parametrize("name", ["sum", "nansum", "mean", "nanmean", "std", "median"])
def test_rows_are_not_looked_at_before_the_spend(monkeypatch, name):
    """Neither a warning of a cast nor an error comes before the refusal of the budget."""
    kind = {} if name == "median" else {"dtype": int}
    call = getattr(tools, name)
    found = before_the_spend(monkeypatch, lambda: call(HOSTILE, bounds=(0, 9), **kind))
    assert found == ([], BudgetError)


def test_a_cast_of_rows_before_the_spend_is_caught(monkeypatch):
    """Planted: rows are cast to the dtype of the answer first."""
    call = lambda: tools.sum(HOSTILE.astype(int), bounds=(0, 9), dtype=int)  # noqa: E731
    assert before_the_spend(monkeypatch, call)[0] != []


def test_missing_values_and_objects():
    payer = ours.BudgetAccountant(900, 0).set_default()
    with pytest.raises(DataError, match="not refunded"):
        tools.mean(HOSTILE, bounds=(0, 9))
    assert len(payer) == 1
    assert 0 <= tools.nanmean(HOSTILE, bounds=(0, 9)) <= 9
    with pytest.raises(ArgumentTypeError) as caught:
        tools.mean(np.array(["7654321"]), bounds=(0, 9))
    assert "7654321" not in str(caught.value) and len(payer) == 2
    for odd in (None, "7654321", 10**400, object()):  # in a list it is an answer, as in dp.mean
        tools.nanmean([1, 2, odd], epsilon=0.1, bounds=(0, 9))
        before = len(payer)
        if odd != 10**400:
            with pytest.raises(DataError) as late:
                tools.mean([1, 2, odd], epsilon=0.1, bounds=(0, 9))
            assert "7654321" not in str(late.value) and len(payer) == before + 1
    assert tools.count_nonzero(["a", "", 0, 3, None], epsilon=400) == 2


ENDS = {"lower": 0, "upper": 9}
MADE = {
    "Geometric": {},
    "GeometricTruncated": ENDS,
    "GeometricFolded": {"lower": 0, "upper": 9.5},
    "GaussianDiscrete": {"delta": 1e-3},
    **{name: {"sensitivity": 1} for name in ("Laplace", "Staircase")},
    **{name: {"sensitivity": 1, "delta": 1e-3} for name in ("Gaussian", "GaussianAnalytic")},
    **{"Laplace" + name: {"sensitivity": 1, **ENDS} for name in ("Truncated", "Folded")},
    **{name: {"sensitivity": 1, **ENDS} for name in ("LaplaceBoundedDomain", "Snapping")},
}


@pytest.mark.full
@pytest.mark.parametrize("name", MADE)
def test_mechanisms_go_through_the_door(name, monkeypatch):
    """Each answer is one release, near the value, and within limits."""
    spent = []
    real = dp.extend.release

    def counted(*args, **kw):
        spent.append(args[1])
        return real(*args, **kw)

    monkeypatch.setattr(dp.extend, "release", counted)
    made = getattr(mechanisms, name)(epsilon=8, **MADE[name])
    found = [made.randomise(4) for _ in range(50)]
    assert len(spent) == 50 and len({type(one) for one in found}) == 1
    assert abs(np.median(found) - 4) < 1
    assert all(one.loss.epsilon == 8 and one.neighbors == "replace" for one in spent)
    if "upper" in MADE[name]:
        assert min(found) >= 0 and max(found) <= 9.5
    with pytest.raises(ArgumentTypeError):
        made.randomise("7654321")
    assert f".{name}(" in repr(made) and made.copy().randomise(4) is not None


@pytest.mark.parametrize("name", MADE)
def test_a_number_of_any_size_is_no_error(name):
    """Of the types that it takes: integers, or floats too."""
    made = getattr(mechanisms, name)(epsilon=8, **MADE[name])
    failing = {*hostile.raised_by(lambda value: 0 * made.randomise(value))}
    others = {name for name in hostile.HOSTILE if not re.match("-?[0-9]+[*]", name)}
    assert failing <= (others if made._whole else {"sNaN", "Decimal"})  # which are not Real


def test_the_noise_of_a_mechanism_is_for_its_sensitivity():
    wide, narrow = (mechanisms.Laplace(epsilon=1, sensitivity=s) for s in (3, 1))
    assert wide.variance(0) == pytest.approx(9 * narrow.variance(0))
    assert narrow.variance(0) == pytest.approx(2)
    assert mechanisms.Laplace(epsilon=1, sensitivity=0).randomise(5) == 5


def test_what_is_not_told_is_their_error_and_ours():
    made = mechanisms.LaplaceTruncated(epsilon=1, sensitivity=1, lower=0, upper=1)
    for ask in (made.bias, made.variance, made.mse):
        with pytest.raises(NotImplementedError, match="has no formula") as caught:
            ask(0)
        assert isinstance(caught.value, Refused) and caught.value.reason == "formula"


@pytest.mark.full
def test_choices():
    assert mechanisms.Binary(epsilon=100, value0="n", value1="y").randomise("y") == "y"
    far = {"epsilon": 400, "sensitivity": 1}
    assert mechanisms.Exponential(**far, utility=[0, 9]).randomise() == 1
    assert mechanisms.Exponential(**far, utility=[0, 0], measure=[0, 1]).randomise() == 1
    assert mechanisms.PermuteAndFlip(**far, utility=[9, 0], candidates=["x", "y"]).candidates
    tree = mechanisms.ExponentialHierarchical(epsilon=400, hierarchy=[["A", "B"], ["C"]])
    assert tree.randomise("B") == "B" and tree._distances["A", "C"] == 2
    with pytest.raises(ArgumentError, match="one of the labels"):
        tree.randomise("7654321")


CHOICES = {
    "Binary": {"value0": "n", "value1": "y"},
    "Exponential": {"sensitivity": 1, "utility": [0, 1]},
    "PermuteAndFlip": {"sensitivity": 1, "utility": [0, 1]},
    "ExponentialCategorical": {"utility_list": [["n", "y", 1]]},
}


@pytest.mark.full
@pytest.mark.parametrize("name", CHOICES)
def test_a_choice_is_prepared_once_and_each_answer_is_a_release(name, monkeypatch):
    spent = []
    real = dp.extend.Prepared.run
    monkeypatch.setattr(
        dp.extend.Prepared, "run", lambda one: spent.append(one.mechanism) or real(one)
    )
    made = getattr(mechanisms, name)(epsilon=1, **CHOICES[name])
    value = "y" if name in ("Binary", "ExponentialCategorical") else None
    found = [made.randomise(value) for _ in range(2000)]
    assert len(spent) == 2000 and len(set(map(id, spent))) == 1
    assert spent[0].loss.epsilon == 1 and spent[0].neighbors == "replace"
    half = name != "Binary"  # scores are halved, for a row may move both of them
    chance = 1 / (1 + math.exp(-0.5 if half else -1))
    if name == "PermuteAndFlip":
        chance = 1 - math.exp(-0.5) / 2
    shares = [np.mean([one in (1, "y") for one in found]) - p for p in (chance, chance - 0.12)]
    assert abs(shares[0]) < 0.06 < abs(shares[1])  # 5.5 deviations; planted: another probability
    again = pickle.loads(pickle.dumps(made))
    assert again.randomise(value) in found and made.copy().randomise(value) in found


def test_an_accountant_of_a_budget():
    payer = ours.BudgetAccountant(1, 1e-3)
    payer.spend(0.25, 1e-4)
    assert payer.spent_budget == [(0.25, 1e-4)] and payer.check(0.75, 0)
    assert payer.remaining(3)[0] == 0.25 and isinstance(payer.remaining(), ours.Budget)
    with pytest.raises(BudgetError):
        payer.check(0.76, 0)
    assert ours.BudgetAccountant(1, 0.1).check(1, 0.1)  # as a spend has it: one tenth
    assert ours.BudgetAccountant().remaining(5) == (float("inf"), 1.0)
    assert isinstance(payer.budget, dp.Budget)
