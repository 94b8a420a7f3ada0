"""The parameters of mechanisms for a given loss, rounded so that the loss is not exceeded."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from .._core import checks
from .._core.roots import root_down
from .._core.types import Number
from .conversions import rho_of_pure
from .losses import _positive
from .prices import rho_of_laplace, rho_of_range

#: For a smaller rho, the first term of the series has 12 correct digits.
_FEW = Fraction(1, 10**25)


def float_down(amount: Number) -> float:
    """Return the largest float64 that is not above a number.

    Parameters
    ----------
    amount : int, float, Decimal or Fraction
        Between ``-2**1024`` and ``2**1024``.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `amount` is not such a number.

    Notes
    -----
    An epsilon that is rounded down has less loss and more noise.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfast as dp
    >>> Fraction(dp.privacy.float_down(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    exact = amount if type(amount) is Fraction else checks.fraction("amount", amount)
    try:
        result = float(exact)
    except OverflowError:
        checks.fail("amount", "a number of less than 2**1024 in size", amount)
    return math.nextafter(result, -math.inf) if Fraction(result) > exact else result


def range_within(rho: Number) -> Fraction:
    """Return the largest epsilon for which a draw of bounded range is rho-zCDP, rounded down.

    Parameters
    ----------
    rho : int, float, Decimal or Fraction
        Greater than 0.

    Returns
    -------
    Fraction

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `rho` is not above 0, or too large or too small for float64.

    Notes
    -----
    The relative rounding is at most 2**-40. With x = (exp(epsilon) - 1) / epsilon, the rho of such
    a draw is ln x - 1 + 1 / x, which is at most ``epsilon**2 / 8`` (see `Draws`).

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfast as dp
    >>> epsilon = dp.privacy.range_within(Fraction(1, 2))
    >>> dp.privacy.Draws(epsilon, bounded_range=True).to_zcdp().rho <= Fraction(1, 2), epsilon > 2
    (True, True)
    """
    return _inverse(_positive("rho", rho), rho_of_range, 8)


def pure_within(rho: Number) -> Fraction:
    """Return the largest epsilon for which a pure loss is rho-zCDP, rounded down.

    Parameters
    ----------
    rho : int, float, Decimal or Fraction
        Greater than 0.

    Returns
    -------
    Fraction

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `rho` is not above 0, or too large or too small for float64.

    Notes
    -----
    This is the inverse of `ZCDP.of_pure`. The relative rounding is at most 2**-40.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfast as dp
    >>> epsilon = dp.privacy.pure_within(Fraction(1, 2))
    >>> dp.privacy.Pure(epsilon).to_zcdp().rho <= Fraction(1, 2), float(epsilon) > 1.04
    (True, True)
    """
    return _inverse(_positive("rho", rho), rho_of_pure, 2)


def laplace_within(rho: Number, draws: int = 1, cells: int = 0) -> Fraction:
    """Return the largest epsilon for which draws of Laplace noise are rho-zCDP, rounded down.

    Parameters
    ----------
    rho : int, float, Decimal or Fraction
        The loss of all draws together; greater than 0.
    draws, cells : int
        As for `Draws`: the number of draws, and the sensitivity of the integer in each draw. 0
        cells mean continuous noise, rounded or not.

    Returns
    -------
    Fraction
        The epsilon of all draws together.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument is not such a number.

    Notes
    -----
    The relative rounding is at most 2**-40. Cost: half a millisecond; results are cached.

    Examples
    --------
    >>> import dpfast as dp
    >>> epsilon = dp.privacy.laplace_within(2)
    >>> dp.privacy.Draws(epsilon, cells=0).to_zcdp().rho <= 2, 2.9 < epsilon < 3
    (True, True)
    """
    limit, times = _positive("rho", rho), checks.whole("draws", draws, 1)
    return times * _laplace(limit / times, checks.whole("cells", cells))


@lru_cache(maxsize=1024)
def _laplace(rho: Fraction, cells: int) -> Fraction:
    return _inverse(rho, lambda epsilon: rho_of_laplace(epsilon, cells), 2)


def _inverse(rho: Fraction, price: Callable[[Fraction], Fraction], part: int) -> Fraction:
    """Return nearly the largest epsilon whose `price` is at most `rho`, by the secant method.

    The price is at most epsilon, and at most ``epsilon**2 / part``, which is its limit for small
    epsilon.
    """
    if rho < _FEW:
        return root_down(part * rho)
    goal = math.log(float_down(rho))

    def off(x: float) -> float:
        return math.log(price(Fraction(math.exp(x)))) - goal

    before, x = goal, max(goal, (goal + math.log(part)) / 2) + 0.125
    last, here = off(before), off(x)
    while abs(here) > 2.0**-43 and here != last:
        x, before, last = x - here * (x - before) / (here - last), x, here
        here = off(x)
    epsilon, step = Fraction(math.exp(x)), Fraction(1, 2**47)
    while price(epsilon) > rho:
        epsilon *= 1 - step
        step *= 2
    return epsilon
