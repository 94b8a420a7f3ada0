"""Events and losses: what comes back is what was told, and no total is below what is exact."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.privacy import ZCDP, Approx, Draws, Pure

from ..support.lazy import Lazy

theirs, events = Lazy("dp_accounting"), Lazy("dp_accounting.dp_event")
pld, ours = Lazy("dp_accounting.pld"), Lazy("dpfast.adapters.dp_accounting")
from_dp_event, to_dp_event, total = (
    Lazy(f"dpfast.adapters.dp_accounting:{name}")
    for name in ("from_dp_event", "to_dp_event", "total")
)

DELTA = 1e-6


def delta_of(event, epsilon):
    return (
        pld.PLDAccountant(theirs.NeighboringRelation.ADD_OR_REMOVE_ONE)
        .compose(event)
        .get_delta(epsilon)
    )


@pytest.mark.parametrize(
    ("loss", "back"),
    [
        (ZCDP(0.125), ZCDP(0.125)),
        (Pure(0.5), Draws(0.5, cells=1)),
        (Draws(0.75, draws=3, cells=0), Draws(0.75, draws=3, cells=0)),
        (Draws(2, cells=4), Draws(2, cells=4)),
        (Draws(2, draws=2, cells=4), Draws(2, cells=1)),
        (Draws(2, cells=1 << 20), Draws(2, cells=1)),
        (Draws(1, draws=4, bounded_range=True), Draws(1, draws=4, cells=1)),
    ],
)
def test_a_loss_comes_back(loss, back):
    assert from_dp_event(to_dp_event(loss)) == back


@pytest.mark.full
def test_rounding_is_towards_more_loss():
    for k in range(1, 300):
        pure, rho = Pure(Fraction(k, 7)), ZCDP(Fraction(k, 7))
        assert from_dp_event(to_dp_event(pure)).epsilon >= pure.epsilon
        assert from_dp_event(to_dp_event(rho)).rho >= rho.rho
        each = Draws(Fraction(k, 7), draws=3, cells=0)
        assert from_dp_event(to_dp_event(each)).epsilon >= each.epsilon
        assert from_dp_event(to_dp_event(each)).epsilon < each.epsilon * (1 + Fraction(1, 2**50))


@pytest.mark.full
def test_a_pure_event_is_randomized_response():
    """The exact hockey-stick divergence of two answers; Laplace noise, planted, is below it."""
    e, at = 1.5, 0.7
    p = math.exp(e) / (1 + math.exp(e))
    exact = p - math.exp(at) * (1 - p)
    assert delta_of(to_dp_event(Pure(e)), at) == pytest.approx(exact, rel=1e-3)
    assert delta_of(to_dp_event(Pure(e)), at) >= exact
    assert delta_of(theirs.LaplaceDpEvent(1 / e), at) < exact * 0.9


@pytest.mark.full
@pytest.mark.parametrize("loss", [Pure(0.7), Draws(0.9, draws=3, cells=0), Draws(2, cells=4)])
def test_totals_are_those_of_distributions(loss):
    """The same as of `LossDistribution`, which is told the distribution itself."""
    same = {
        Pure(0.7): lambda: dp.privacy.LossDistribution.of(loss),
        Draws(0.9, draws=3, cells=0): lambda: dp.privacy.LossDistribution.laplace(10 / 3).times(3),
        Draws(2, cells=4): lambda: dp.privacy.LossDistribution.discrete_laplace(2, sensitivity=4),
    }
    found, known = total(loss, DELTA), same[loss]().to_approx(DELTA)
    assert found.delta == Fraction("1e-6") and found.epsilon <= loss.epsilon
    assert float(found.epsilon) == pytest.approx(float(known.epsilon), rel=1e-3)


def test_a_total_is_the_least_of_three():
    gaussian = theirs.SelfComposedDpEvent(theirs.GaussianDpEvent(20.0), 100)
    by_rho = from_dp_event(gaussian).to_approx(DELTA)
    assert from_dp_event(gaussian) == ZCDP(Fraction(100, 800))
    found = total(gaussian, DELTA)
    assert found.epsilon < by_rho.epsilon
    exact = theirs.get_epsilon_gaussian(2.0, DELTA)  # 100 of 20 are one of 2
    assert exact <= found.epsilon < exact * 1.001
    assert total(ZCDP(0.125), DELTA).epsilon <= by_rho.epsilon  # which has no distribution


@pytest.mark.full
def test_a_replaced_value_moves_twice_as_far():
    event = theirs.GaussianDpEvent(2.0)
    assert from_dp_event(event, neighbors="replace") == ZCDP(0.5)
    assert total(event, DELTA, neighbors="replace").epsilon >= total(ZCDP(0.5), 0.5).epsilon
    one, other = (total(event, DELTA, neighbors=n) for n in ("add-remove", "replace"))
    assert one.epsilon < other.epsilon
    response = theirs.RandomizedResponseDpEvent(0.5, 4)
    loss = from_dp_event(response, neighbors="replace")
    assert loss.categories == 4 and math.log(5) <= loss.epsilon < math.log(5) * (1 + 1e-12)
    with pytest.raises(ArgumentError, match="'replace' for a RandomizedResponseDpEvent"):
        from_dp_event(response)


@pytest.mark.full
def test_a_budget_is_its_history_as_the_ledger_counts_it():
    budget = dp.Budget(epsilon=3, delta=1e-5, neighbors="replace")
    ages = np.arange(90)
    dp.count(ages, epsilon=0.5, neighbors="add-remove", budget=budget)
    dp.median(ages, bounds=(0, 120), epsilon=1, budget=budget)
    event = to_dp_event(budget)
    assert [float(from_dp_event(one).epsilon) for one in event.events] == [1.0, 1.0]
    found = total(budget, DELTA)
    assert found.epsilon < budget.spent["epsilon"] == 2
    alone = total(Draws(1, bounded_range=True), DELTA)
    assert alone.epsilon < found.epsilon
    budget.spend(Approx(0.1, 1e-6), neighbors="replace")  # of no known distribution
    with pytest.raises(ArgumentError, match="that an event of dp-accounting can represent"):
        to_dp_event(budget)


@pytest.mark.full
def test_gaussian_noise_that_is_rounded_has_its_own_event():
    many = dp.mechanism(dp.tree_histogram, bins=64, bounds=(0, 1), epsilon=0.1, delta=1e-3)
    assert isinstance(to_dp_event(many), theirs.GaussianDpEvent)
    spent = total(many, 1e-3)
    assert spent.epsilon == pytest.approx(0.1, rel=1e-3)
    less = theirs.GaussianDpEvent(to_dp_event(many).noise_multiplier * 0.9)  # planted
    assert total(less, 1e-3).epsilon > 0.105


def test_an_event_pays():
    budget = dp.Budget(rho=1)
    run = theirs.ComposedDpEvent([theirs.GaussianDpEvent(2.0), theirs.NoOpDpEvent()])
    budget.spend(from_dp_event(run), neighbors="add-remove", what="trained elsewhere")
    assert budget.spent["rho"] == Fraction(1, 8)
    mixed = theirs.ComposedDpEvent(
        [run, theirs.LaplaceDpEvent(1.0), events.DiscreteLaplaceDpEvent(1, 1)]
    )
    assert from_dp_event(mixed).rho > Fraction(1, 8)


@pytest.mark.full
def test_what_has_no_loss_is_named():
    for event in (
        theirs.PoissonSampledDpEvent(0.1, theirs.GaussianDpEvent(1.0)),
        theirs.UnsupportedDpEvent(),
        theirs.ZCDpEvent(1.0, 0.5),
        events.MixtureOfGaussiansDpEvent(1.0, [1.0], [1.0]),
        theirs.NonPrivateDpEvent(),
        theirs.NoOpDpEvent(),
    ):
        with pytest.raises(ArgumentError, match=type(event).__name__):
            from_dp_event(theirs.ComposedDpEvent([event]) if "NoOp" not in str(event) else event)


@pytest.mark.full
@pytest.mark.parametrize("call", [from_dp_event, partial(total, delta=DELTA)])
def test_bad_events_are_one_clear_error(call):
    for event in (
        theirs.GaussianDpEvent(0),
        theirs.LaplaceDpEvent(math.nan),
        theirs.ComposedDpEvent([None]),
        theirs.SelfComposedDpEvent(theirs.GaussianDpEvent(1.0), 2.5),
        theirs.RandomizedResponseDpEvent(1.5, 3),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError)) as caught:
            call(event, neighbors="replace")
        assert "\n" not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.full
def test_an_accountant_that_rounds_down_would_be_caught(monkeypatch):
    """Planted: an accountant that loses a thousandth."""
    exact = theirs.get_epsilon_gaussian(2.0, DELTA)
    assert total(theirs.GaussianDpEvent(2.0), DELTA).epsilon >= exact
    planted = pld.privacy_loss_distribution.PrivacyLossDistribution
    own = planted.get_epsilon_for_delta
    monkeypatch.setattr(planted, "get_epsilon_for_delta", lambda *a: own(*a) * 0.999)
    assert total(theirs.GaussianDpEvent(2.0), DELTA).epsilon < exact
    assert ours.RELATIONS["replace"] is theirs.NeighboringRelation.REPLACE_ONE
