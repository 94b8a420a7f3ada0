"""Losses, neighbouring relations, and the arithmetic between them.

A loss is a statement about one neighbouring relation. Amounts are exact fractions: what the user
writes as ``0.1`` is one tenth, so ten of them are one. Whatever cannot be a fraction (a hyperbolic
tangent) is rounded towards more loss; whatever leaves for a float kernel (`float_down`) is rounded
towards less epsilon, so that a mechanism never spends more than was charged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from . import _check

__all__ = [
    "ZCDP",
    "Approx",
    "Draws",
    "Loss",
    "Pure",
    "convert",
    "float_down",
    "loss",
    "pure_within",
    "range_within",
]


def _positive(name: str, value: Any) -> Fraction:
    amount = _check.fraction(name, value)
    if amount <= 0:
        _check.fail(name, "a finite number greater than 0", value)
    return amount


def _show(amount: Fraction) -> str:
    """A decimal when it is exact and short, else a ratio with its value."""
    text = repr(float(amount))
    return text.removesuffix(".0") if Fraction(text) == amount else f"{amount} (about {text})"


@dataclass(frozen=True, slots=True)
class Pure:
    """Pure differential privacy: no event is more than exp(epsilon) times likelier on a neighbour.

    Parameters
    ----------
    epsilon : int, float, str-exact Decimal or Fraction
        Greater than 0. A float stands for the decimal it prints as.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.Pure(0.1)
    Pure(epsilon=0.1)
    """

    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _positive("epsilon", self.epsilon))

    def __repr__(self) -> str:
        return f"Pure(epsilon={_show(self.epsilon)})"


@dataclass(frozen=True, slots=True)
class Draws(Pure):
    """The pure loss of several draws together, each of epsilon / draws, which zCDP adds up better.

    Parameters
    ----------
    epsilon : int, float, Decimal or Fraction
        Of all the draws. Greater than 0.
    draws : int
        At least 1. Each may depend on the answers of those before it.
    bounded_range : bool
        Whether no draw has two events whose log-probabilities move, between neighbours, by amounts
        that differ by more than epsilon / draws. (Pure privacy alone promises twice that.) Such a
        draw is epsilon**2 / 8 zCDP (Cesar and Rogers, ALT 2021).

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.privacy.ZCDP.of_pure(dp.privacy.Draws(1, draws=2, bounded_range=True))
    ZCDP(rho=0.0625)
    """

    draws: int = 1
    bounded_range: bool = False

    def __post_init__(self) -> None:
        Pure.__post_init__(self)
        _check.whole("draws", self.draws, 1)
        _check.flag("bounded_range", self.bounded_range)

    def __repr__(self) -> str:
        return (
            f"Draws(epsilon={_show(self.epsilon)}, draws={self.draws}, "
            f"bounded_range={self.bounded_range})"
        )


@dataclass(frozen=True, slots=True)
class Approx:
    """Approximate differential privacy, (epsilon, delta).

    Parameters
    ----------
    epsilon, delta : int, float, Decimal or Fraction
        ``epsilon > 0`` and ``0 < delta < 1``.
    """

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _positive("epsilon", self.epsilon))
        delta = _positive("delta", self.delta)
        if delta >= 1:
            _check.fail("delta", "at least 0 and less than 1", self.delta)
        object.__setattr__(self, "delta", delta)

    def __repr__(self) -> str:
        return f"Approx(epsilon={_show(self.epsilon)}, delta={_show(self.delta)})"


@dataclass(frozen=True, slots=True)
class ZCDP:
    """Zero-concentrated differential privacy: every Renyi divergence of order a is at most rho a.

    Parameters
    ----------
    rho : int, float, Decimal or Fraction
        Greater than 0.
    """

    rho: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", _positive("rho", self.rho))

    def __repr__(self) -> str:
        return f"ZCDP(rho={_show(self.rho)})"

    @classmethod
    def of_pure(cls, pure: Pure) -> ZCDP:
        """The tight conversion rho = epsilon tanh(epsilon / 2), rounded up.

        Every epsilon-DP pair is a post-processing of randomised response with that epsilon, whose
        largest D_a / a is its Kullback-Leibler divergence, epsilon tanh(epsilon / 2). `Draws` are
        converted one by one and added up.
        """
        if isinstance(pure, Draws):
            each = pure.epsilon / pure.draws
            rho = cls.of_pure(Pure(each)).rho
            return cls(pure.draws * (min(rho, each**2 / 8) if pure.bounded_range else rho))
        epsilon = float(pure.epsilon)
        # Three roundings and a library tanh: a relative 2**-48 covers them many times over.
        bound = Fraction(epsilon * math.tanh(epsilon / 2)) * (1 + Fraction(1, 2**48))
        # So small a product has lost digits; tanh(x) <= x is all that is needed there.
        tiny = bound < Fraction(1, 2**1000)
        return cls(pure.epsilon**2 / 2 if tiny else min(bound, pure.epsilon**2 / 2))


Loss = Pure | Approx | ZCDP


def loss(epsilon: Any = None, delta: Any = 0, rho: Any = None) -> Loss:
    """The loss that a call asks for, from the three keyword arguments that every release has."""
    if epsilon is None and rho is None:
        _check.fail("epsilon", "given (or rho instead)", epsilon)
    if epsilon is not None and rho is not None:
        _check.fail("rho", "left out when epsilon is given: a call has one kind of loss", rho)
    amount = _check.fraction("delta", delta)
    if not 0 <= amount < 1:
        _check.fail("delta", "at least 0 and less than 1", delta)
    if rho is not None:
        if amount:
            _check.fail("delta", "left out when rho is given: a zCDP loss has no delta", delta)
        return ZCDP(rho)
    return Approx(epsilon, amount) if amount else Pure(epsilon)


def convert(amount: Loss, given: str, wanted: str) -> Loss | None:
    """The same loss under another neighbouring relation, or None where nothing can be derived.

    To replace a row is to remove one and add one, so a loss under add-remove holds for groups of
    two: (2 epsilon, delta (1 + e^epsilon)), or 4 rho. A loss under replace says nothing about
    datasets of different sizes.
    """
    if given == wanted:
        return amount
    if given != "add-remove":
        return None
    if isinstance(amount, Pure):
        return replace(amount, epsilon=2 * amount.epsilon)
    if isinstance(amount, ZCDP):
        return ZCDP(4 * amount.rho)
    try:
        # epsilon <= 709 here, so its rounding moves the exponential by less than 2**-40.
        grown = Fraction(math.exp(float(amount.epsilon))) * (1 + Fraction(1, 2**40))
    except OverflowError:
        return None
    delta = amount.delta * (1 + grown)
    return Approx(2 * amount.epsilon, delta) if delta < 1 else None


def float_down(amount: Fraction) -> float:
    """The largest float64 that is not above `amount`."""
    result = float(amount)
    return math.nextafter(result, -math.inf) if Fraction(result) > amount else result


def range_within(rho: Fraction) -> Fraction:
    """An epsilon such that epsilon**2 / 8 is at most `rho`, as large as some 64 bits can tell."""
    square = 8 * rho
    shift = 2 * max(0, 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 1 << shift // 2)


def pure_within(rho: Fraction) -> Fraction:
    """An epsilon of which the pure loss is `rho`-zCDP, within 2**-40 of the largest there is."""
    target = float_down(rho)
    if not target > 0:
        return rho  # tanh(x) <= 1
    epsilon = target
    if target < 64:  # beyond, 1 - tanh(epsilon / 2) is less than 2**-90
        # epsilon tanh(epsilon / 2) is convex then nearly linear; these start above the root.
        epsilon += math.sqrt(2 * target)
        for _ in range(64):
            tanh = math.tanh(epsilon / 2)
            slope = tanh + epsilon / 2 * (1 - tanh * tanh)
            epsilon = max(epsilon - (epsilon * tanh - target) / slope, target)
    found = Fraction(epsilon)
    step = Fraction(1, 2**47)
    while ZCDP.of_pure(Pure(found)).rho > rho:
        found *= 1 - step
        step *= 2
    return found
