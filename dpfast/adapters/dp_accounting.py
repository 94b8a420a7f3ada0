"""Conversion of losses of dpfast to events of dp-accounting, and back.

    event = to_dp_event(budget)                   # for any accountant of dp-accounting
    budget.spend(from_dp_event(event), neighbors="add-remove", what="trained elsewhere")
    total(event, delta=1e-6)                      # the least epsilon that an accountant proves

An event of dp-accounting describes a mechanism. A loss of dpfast is the price of a mechanism. An
event can represent a loss if its pair of distributions dominates every mechanism of that loss:

* Pure(e) is ``DiscreteLaplaceDpEvent(e, 1)``. For a shift by 1 the privacy loss of this noise has
  two values: e, with probability 1 / (1 + exp(-e)), and -e. So the pair belongs to randomized
  response with e, which dominates every e-DP mechanism (Kairouz, Oh and Viswanath, ICML 2015).
* A draw of Laplace noise (`dpfast.privacy.Draws` with `cells`) is the event of its distribution.
  The values may be vectors of the same L1 norm. Continuous noise on several numbers is several
  draws, and several choices are, too. Discrete noise on several numbers, or of more than `CELLS`
  cells, counts as one pure loss, because the bound by several draws is proved for Renyi divergences
  only.
* ZCDP(r) is ``ZCDpEvent(r)``. Discrete Gaussian noise is r-zCDP by theorem, but Gaussian noise does
  not dominate it. So it is not a ``GaussianDpEvent``.
* Gaussian noise that was calibrated to (epsilon, delta) and is rounded to integers is a
  ``GaussianDpEvent``, because an integer plus rounded noise is a rounded sum. Any other Approx has
  no event.

An event from `to_dp_event` contains the sensitivity under the relation of its loss. So use an
accountant with ``ADD_OR_REMOVE_ONE``, whatever the relation is. With another relation the
accountant would double the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Any

import dpfast as dp
from dpfast.errors import ArgumentError
from dpfast.extend import Neighbors, Number, checks, extra
from dpfast.privacy import ZCDP, Approx, Draws, Loss, Pure, compose, convert, float_down

_PURPOSE = "the adapter dpfast.adapters.dp_accounting"
_theirs: Any = extra("dp_accounting", _PURPOSE)
_events: Any = extra("dp_accounting.dp_event", _PURPOSE)
_ACCOUNTANTS = (
    extra("dp_accounting.pld.pld_privacy_accountant", _PURPOSE).PLDAccountant,
    extra("dp_accounting.rdp.rdp_privacy_accountant", _PURPOSE).RdpAccountant,
)
#: The names of dp-accounting for neighboring relations.
RELATIONS = {
    "add-remove": _theirs.NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace": _theirs.NeighboringRelation.REPLACE_ONE,
}
#: Discrete Laplace noise of at most this many cells has an event of its own, in which dp-accounting
#: keeps arrays of cells.
CELLS = 1 << 12
#: A bound on rounding errors of float64, absolute for delta and relative for epsilon; the least
#: epsilon.
_MARGIN, _LEAST = Fraction(1, 10**12), Fraction(1, 10**300)
OURS = "a loss, a dpfast.mechanism or a dpfast.Budget"


def to_dp_event(what: Any) -> Any:
    """Return the event of dp-accounting that represents a loss, a mechanism or a budget.

    Privacy
    -------
    Nothing is spent and no row is read. The event dominates the loss (Kairouz, Oh and Viswanath,
    ICML 2015, for pure losses). Every number in the event is rounded towards more loss.

    Parameters
    ----------
    what : Loss, dpfast.mechanism or Budget
        For a budget, the event composes the losses of all entries, under the relation and for the
        privacy unit of the budget. Releases about disjoint parts count as if each was about all
        rows, which is more than the ledger counts.

    Returns
    -------
    dp_accounting.DpEvent
        Give it to an accountant with ``ADD_OR_REMOVE_ONE``, whatever the relation of the loss is.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `what` is of another type, or has a delta without a known noise distribution.

    Examples
    --------
    >>> import dpfast as dp
    >>> from dpfast.adapters.dp_accounting import to_dp_event
    >>> to_dp_event(dp.privacy.Pure(0.5))
    DiscreteLaplaceDpEvent(noise_parameter=0.5, sensitivity=1)
    >>> to_dp_event(dp.mechanism(dp.count, epsilon=1, delta=1e-6))
    DiscreteLaplaceDpEvent(noise_parameter=1.0, sensitivity=1)
    >>> budget = dp.Budget(rho=1)
    >>> answer = dp.count([1, 2, 3], rho=0.125, budget=budget)
    >>> to_dp_event(budget)
    ComposedDpEvent(events=[ZCDpEvent(rho=0.125, xi=0.0)])
    """
    if isinstance(what, dp.Budget):
        return _theirs.ComposedDpEvent([_event(loss) for loss in _counted(what)])
    if isinstance(what, dp.mechanism):
        noise, loss = what.noise, what.loss
        return _event(loss, noise.distribution if noise and noise.loss == loss else "")
    if not isinstance(what, Loss):
        checks.fail_type("what", OURS, what)
    return _event(what)


def from_dp_event(event: Any, *, neighbors: Neighbors = "add-remove") -> Loss:
    """Return the loss of an event of dp-accounting, exactly or rounded up.

    Privacy
    -------
    The loss holds for the relation `neighbors`. Gaussian noise of multiplier m is (1 / (2
    m**2))-zCDP (Bun and Steinke, TCC 2016). Laplace noise of multiplier m is (1 / m)-DP (Dwork,
    McSherry, Nissim and Smith, TCC 2006). Randomized response that draws one of k answers uniformly
    with probability p is ln(1 + k (1 - p) / p)-DP. The loss of composed events is the composition
    of their losses.

    Parameters
    ----------
    event : dp_accounting.DpEvent
        Gaussian, Laplace or discrete Laplace noise, randomized response, zCDP without xi, or a
        composition of these.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation. Under "replace" the sensitivity of noise is twice as large,
        because in dp-accounting it is the norm of one value. Randomized response is for "replace"
        only.

    Returns
    -------
    Pure, Draws or ZCDP
        The loss, for `Budget.spend` with these neighbors.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `event` is not an event, or no loss of dpfast can represent it; the message names the
        event. (For such an event `total` may still have an epsilon.)

    Examples
    --------
    >>> import dp_accounting
    >>> from dpfast.adapters.dp_accounting import from_dp_event
    >>> from_dp_event(dp_accounting.GaussianDpEvent(2.0))
    ZCDP(rho=0.125)
    >>> from_dp_event(dp_accounting.SelfComposedDpEvent(dp_accounting.LaplaceDpEvent(4.0), 3))
    Draws(epsilon=0.75, draws=3, cells=0)
    """
    relation = checks.neighbors(neighbors)
    losses = [_times(_loss(leaf, relation), n) for leaf, n in _leaves(_checked(event), 1)]
    if not losses:
        checks.fail("event", "an event with a privacy loss", _name(event))
    return losses[0] if len(losses) == 1 else compose(*losses)


def total(
    what: Any, delta: Number, *, neighbors: Neighbors = "add-remove", interval: Number = 1e-4
) -> Approx:
    """Return the least proven epsilon at `delta` of an event, a loss, a mechanism or a budget.

    Privacy
    -------
    Nothing is spent. The result is the least of three bounds. Two are those of dp-accounting: by
    privacy-loss distributions (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, PoPETs 2022), and
    by Renyi divergences (Mironov, CSF 2017). Both get the margin of `privacy.LossDistribution` for
    rounding errors of float64. The third is the loss from `from_dp_event`, converted to `delta`.

    Parameters
    ----------
    what : dp_accounting.DpEvent, Loss, dpfast.mechanism or Budget
    delta : float, Fraction or Decimal
        A number above 1e-12 and less than 1. It must not depend on the rows.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation of an event. A loss, mechanism or budget has its own relation.
    interval : float, default 1e-4
        The grid of a privacy-loss distribution. A smaller grid gives a smaller epsilon, and takes
        more time.

    Returns
    -------
    Approx

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or no accountant accepts the event, which the message names.

    Examples
    --------
    >>> import dp_accounting as theirs
    >>> from dpfast.adapters.dp_accounting import total
    >>> step = theirs.PoissonSampledDpEvent(0.01, theirs.GaussianDpEvent(1.0))
    >>> round(float(total(theirs.SelfComposedDpEvent(step, 100), 1e-6).epsilon), 2)
    0.95
    """
    checks.choice("neighbors", neighbors, tuple(RELATIONS))
    if not isinstance(what, _theirs.DpEvent):
        what, neighbors = to_dp_event(what), "add-remove"
    step = checks.positive("interval", interval)
    bounds = [bound for bound in _bounds(what, delta, neighbors, step) if bound is not None]
    if not bounds:
        checks.fail("what", "an event that an accountant of dp-accounting accepts", _named(what))
    return min(bounds, key=lambda bound: bound.epsilon)


# ---- Losses of dpfast as events of dp-accounting. ----


def _counted(budget: dp.Budget) -> Iterator[Loss]:
    """Yield the loss of each entry of a ledger, under the ledger's relation and privacy unit."""
    wanted, ids = budget.neighbors, budget.ids
    for spend in budget.history:
        assert wanted is not None  # every ledger with an entry has a relation
        rows = budget.max_rows if ids is not None and spend.ids is None else None
        loss = convert(spend.loss, spend.neighbors, wanted, max_rows=rows)
        assert loss is not None  # otherwise the budget would have refused the spend
        yield loss


def _event(loss: Loss, distribution: str = "") -> Any:
    if isinstance(loss, ZCDP):
        return _theirs.ZCDpEvent(float(loss))
    if isinstance(loss, Approx):
        if distribution != "rounded-gaussian":
            checks.fail("what", "a loss that an event of dp-accounting can represent", loss)
        amounts = float_down(loss.epsilon), float_down(loss.delta)
        return _theirs.GaussianDpEvent(dp.noise.gaussian_scale(*amounts))
    draws, cells = (loss.draws, loss.cells) if isinstance(loss, Draws) else (1, None)
    if isinstance(loss, Draws) and not (loss.bounded_range or loss.categories or cells == 0):
        cells = cells if draws == 1 and cells is not None and cells <= CELLS else None
        draws = 1
    epsilon = loss.epsilon / draws
    if cells == 0:
        event = _theirs.LaplaceDpEvent(float_down(1 / epsilon))
    else:
        event = _events.DiscreteLaplaceDpEvent(float(Pure(epsilon / (cells or 1))), cells or 1)
    return event if draws == 1 else _theirs.SelfComposedDpEvent(event, draws)


# ---- Events of dp-accounting as losses of dpfast. ----


def _checked(event: Any) -> Any:
    if not isinstance(event, _theirs.DpEvent):
        checks.fail_kind("event", "a DpEvent of dp-accounting", event)
    return event


def _name(event: Any) -> str:
    return type(event).__name__


def _leaves(event: Any, times: int) -> Iterator[tuple[Any, int]]:
    """Yield each event that an event is composed of, with how many times it is composed."""
    if isinstance(event, _theirs.SelfComposedDpEvent):
        yield from _leaves(_checked(event.event), times * checks.whole("count", event.count))
    elif isinstance(event, _theirs.ComposedDpEvent):
        if not isinstance(event.events, (list, tuple)):
            checks.fail_kind("events", "a list of events", event.events)
        for part in event.events:
            yield from _leaves(_checked(part), times)
    elif times and not isinstance(event, _theirs.NoOpDpEvent):
        yield event, times


def _named(event: Any) -> str:
    """Return the names of the kinds of events that an event is composed of."""
    return ", ".join(sorted({_name(leaf) for leaf, _ in _leaves(_checked(event), 1)}))


def _times(loss: Loss, times: int) -> Loss:
    """Return the loss of `times` mechanisms of one loss, in a type that has a bound in rho."""
    if times == 1:
        return loss
    if isinstance(loss, ZCDP):
        return ZCDP(times * loss.rho)
    draws = loss if isinstance(loss, Draws) else Draws(loss.epsilon)
    return replace(draws, epsilon=times * draws.epsilon, draws=times * draws.draws)


def _loss(event: Any, neighbors: Neighbors) -> Loss:
    """Return the loss of an event that is not composed of others."""
    kind = _name(event)
    if kind == "ZCDpEvent" and not checks.number("xi", event.xi):
        return ZCDP(_exact("rho", event.rho))
    if kind == "RandomizedResponseDpEvent":
        if neighbors != "replace":
            checks.fail("neighbors", f"'replace' for a {kind}", neighbors)
        buckets = checks.whole("num_buckets", event.num_buckets, 2)
        return _of_response(_exact("noise_parameter", event.noise_parameter), buckets)
    loss: Loss
    if kind == "GaussianDpEvent":
        loss = ZCDP(1 / (2 * _exact("noise_multiplier", event.noise_multiplier) ** 2))
    elif kind == "LaplaceDpEvent":
        loss = Draws(1 / _exact("noise_multiplier", event.noise_multiplier), cells=0)
    elif kind == "DiscreteLaplaceDpEvent":
        cells = checks.whole("sensitivity", event.sensitivity, 1)
        loss = Draws(cells * _exact("noise_parameter", event.noise_parameter), cells=cells)
    else:
        checks.fail("event", "an event that a loss of dpfast can represent", kind)
    converted = convert(loss, "add-remove", neighbors)
    assert converted is not None
    return converted


def _of_response(uniform: Fraction, categories: int) -> Draws:
    """Return the loss of randomized response that draws uniformly with probability `uniform`.

    Otherwise the true answer is kept: its odds against another answer are 1 + k (1 - p) / p.
    """
    if not 0 < uniform < 1:
        checks.fail("noise_parameter", "greater than 0 and less than 1", float(uniform))
    odds = 1 + categories * (1 - uniform) / uniform
    digits = Context(prec=60, rounding=ROUND_CEILING)
    epsilon = digits.ln(digits.divide(Decimal(odds.numerator), Decimal(odds.denominator)))
    return Draws(digits.multiply(epsilon, 1 + Decimal("1e-30")), categories=categories)


def _exact(name: str, value: Any) -> Fraction:
    """Return a positive number as its exact fraction."""
    checks.positive(name, value)
    return checks.ratio(value)


def _least(accountant: Any, delta: Any) -> Approx | None:
    """Return an accountant's epsilon at `delta`, with margins for rounding errors of float64."""
    amount = checks.fraction("delta", delta)
    if not _MARGIN < amount < 1:
        checks.fail("delta", "greater than 1e-12, the margin for float64, and less than 1", delta)
    least = float(accountant.get_epsilon(float(amount - _MARGIN)))
    if not math.isfinite(least):
        return None
    return Approx(max(Fraction(least) * (1 + _MARGIN), _LEAST), amount)


def _bounds(event: Any, delta: Any, neighbors: Neighbors, step: float) -> Iterator[Approx | None]:
    """Yield the epsilon at `delta` by each accountant that takes an event, and by its loss."""
    names = _named(event)
    if "NonPrivateDpEvent" in names:
        checks.fail("what", "an event with a finite loss", names)
    for make in _ACCOUNTANTS:
        more = {"value_discretization_interval": step} if make is _ACCOUNTANTS[0] else {}
        accountant = make(neighboring_relation=RELATIONS[neighbors], **more)
        try:
            takes = accountant.supports(event)
            if takes:
                accountant.compose(event)
        except Exception:  # an event may contain any object, which may raise any error
            checks.fail("what", "an event whose numbers are in their ranges", names)
        if takes:
            yield _least(accountant, delta)
    try:
        loss = from_dp_event(event, neighbors=neighbors)
        yield loss if isinstance(loss, Approx) else loss.to_approx(delta)
    except ArgumentError:  # no loss of dpfast bounds this event, or only for a larger delta
        yield None
