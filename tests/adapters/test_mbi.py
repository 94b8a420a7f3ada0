"""Marginals and choices for programs that select, measure and generate."""

import math

import numpy as np
import pytest

import dpfast as dp
from dpfast.adapters import mbi as ours
from dpfast.adapters.mbi import deviation, exponential_mechanism, measure, measure_all
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator

COUNTS = np.array([[900.0, 30.0], [4.0, 66.0]])


def seeded(seed=1):
    return InsecureGenerator(seed)


@pytest.mark.parametrize("loss", [Pure(1), Approx(1, 1e-3), ZCDP(0.1)], ids=str)
def test_a_marginal_is_a_histogram(loss):
    """The noise of `dpfast.histogram`, bit by bit, for one marginal."""
    rows = np.repeat(np.arange(4.0), [900, 30, 4, 66])
    given = {"epsilon": loss.epsilon} if not isinstance(loss, ZCDP) else {"rho": loss.rho}
    given |= {"delta": loss.delta} if isinstance(loss, Approx) else {}
    for relation in ("add-remove", "replace"):
        known = dp.histogram(
            rows, bins=4, bounds=(0, 4), neighbors=relation, rng=seeded(), **given
        )[0]
        found = measure(COUNTS, loss, neighbors=relation, rng=seeded())
        assert found.shape == COUNTS.shape and np.array_equal(found.ravel(), known)


def test_a_budget_pays_first():
    budget = dp.Budget(rho=0.3)
    measure(COUNTS, ZCDP(0.1), budget=budget)
    measure_all([COUNTS, [1, 2]], ZCDP(0.1), budget=budget)
    assert float(budget.spent["rho"]) == 0.2 and budget.history[0].what == "marginals"
    with pytest.raises(BudgetError):
        measure(COUNTS, ZCDP(0.2), budget=budget)
    with pytest.raises(BudgetError):
        measure(COUNTS, ZCDP(0.1), neighbors="add-remove", budget=budget, rng=seeded())


@pytest.mark.full
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("marginals", [1, 7])
@pytest.mark.parametrize("loss", [Pure(0.5), Approx(0.5, 1e-4), ZCDP(0.02)], ids=str)
def test_the_noise_has_its_deviation(loss, relation, marginals):
    told = deviation(loss, neighbors=relation, marginals=marginals)
    some = [np.zeros(30_000)] * marginals
    noisy = np.concatenate(measure_all(some, loss, neighbors=relation, rng=seeded(5)))
    error = 6 * math.sqrt(5) / 2 / math.sqrt(noisy.size)
    # Counts cannot be below 0, and noise can.
    assert abs(np.sqrt(np.mean(noisy.astype(float) ** 2)) / told - 1) < error
    assert abs(noisy.mean()) < 6 * told / math.sqrt(noisy.size)


@pytest.mark.full
def test_deviations_are_those_of_the_theorems():
    for changes, relation in (1, "add-remove"), (2, "replace"):
        for k in (1, 3, 40):
            exact = math.sqrt(changes * k / (2 * 0.005) + 1 / 12)
            found = deviation(ZCDP(0.005), neighbors=relation, marginals=k)
            assert found == pytest.approx(exact, rel=1e-6) and found >= exact * (1 - 1e-12)
    assert deviation(Pure(0.01)) == pytest.approx(math.sqrt(2) / 0.01, rel=1e-3)
    assert deviation(ZCDP(0.5)) == pytest.approx(1.0)  # discrete, and not rounded
    planted = ours._noise(ZCDP(0.005), "add-remove", 2)  # planted: half of the marginals
    assert planted.deviation != pytest.approx(math.sqrt(4 / 0.01), rel=0.1)


@pytest.mark.full
def test_what_is_no_count_moves_nothing_apart():
    odd = np.array([1.999, -3.0, math.nan, math.inf, 1e300, 2.0**53 + 2])
    clean = np.array([1, 0, 0, 2**53, 2**53, 2**53])
    reduce = ours.Marginals((6,), "add-remove", Pure(1)).reduce
    assert np.array_equal(reduce([odd]), clean) and np.isnan(odd[2])  # which is not changed
    for kind in (np.int8, np.uint64, np.int64, bool, np.float16):
        some = np.array([0, 1, 1], kind)
        assert reduce_of(some) == [0, 1, 1]
    assert reduce_of(np.array([2**64 - 1, 5], np.uint64)) == [2**53, 5]
    assert reduce_of(np.array([-5, 2**62], np.int64)) == [0, 2**53]
    grid = np.linspace(0, 9, 4001)  # a row that counts for less than 1 moves no cell by more
    for weight in (0.1, 0.5, 1.0):
        moved = np.array(reduce_of(grid + weight)) - np.array(reduce_of(grid))
        assert moved.min() >= 0 and moved.max() <= 1
    assert (np.rint(grid + 1) - np.rint(grid)).max() == 2  # planted: rounding to even


def test_counts_of_any_size_are_no_error():
    for counts in ([10**400, 3], [[-(10**400), math.nan], [math.inf, 2]]):
        assert ours.measure(counts, Pure(1)).shape == np.shape(counts)


def reduce_of(values):
    return ours.Marginals((values.size,), "add-remove", Pure(1)).reduce([values]).tolist()


@pytest.mark.full
def test_a_choice_is_that_of_dpfast():
    for seed in range(50):
        scores = np.array([3.0, 1.0, 2.5])
        known = dp.selection.exponential(scores, sensitivity=2.0, epsilon=1.0, rng=seeded(seed))
        assert exponential_mechanism(scores, 1.0, 2.0, rng=seeded(seed)) == known
        named = dict(zip("abc", scores, strict=True))
        assert exponential_mechanism(named, 1.0, 2.0, rng=seeded(seed)) == "abc"[known]
    budget = dp.Budget(rho=1)
    exponential_mechanism({"a": 0.0, "b": 1.0}, epsilon=0.8, budget=budget)
    assert 0.079 < budget.spent["rho"] <= 0.8**2 / 8
    weights = {"a": 1.0, "b": 1e300, "c": 1.0}
    assert exponential_mechanism(named, 1.0, base_measure=weights) == "b"
    assert exponential_mechanism(scores, 1.0, base_measure=np.array([0.0, 0.0, 999.0])) == 2


BAD = {
    "no counts": (measure, [], Pure(1)),
    "none": (measure_all, [], Pure(1)),
    "part": (measure_all, [COUNTS, None], Pure(1)),
    "small": (measure_all, [[5]] * 5000, Pure(2.0**-29)),
    "no scores": (exponential_mechanism, {}, 1.0),
    "base": (exponential_mechanism, {"a": 1.0}, 1.0, {"b": 1.0}),
    "weights": (exponential_mechanism, {"a": 1.0}, 1.0, {"a": 0.0}),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments_are_one_clear_error(name):
    with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
        function, what, loss, *base = BAD[name]
        function(what, loss, **({"base_measure": base[0]} if base else {}))
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
