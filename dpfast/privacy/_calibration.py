"""Parameters of mechanisms that are surely within a loss: rounded towards less."""

from __future__ import annotations

import math
from fractions import Fraction

from ._losses import ZCDP, Pure

__all__ = ["float_down", "pure_within", "range_within"]


def float_down(amount: Fraction) -> float:
    """The largest float64 that is not above a number.

    Parameters
    ----------
    amount : Fraction

    Returns
    -------
    float

    Raises
    ------
    OverflowError
        For a number beyond all float64.

    Notes
    -----
    Towards less loss, hence more noise.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfast as dp
    >>> Fraction(dp.privacy.float_down(Fraction(1, 10))) <= Fraction(1, 10)
    True
    """
    result = float(amount)
    return math.nextafter(result, -math.inf) if Fraction(result) > amount else result


def range_within(rho: Fraction) -> Fraction:
    """An epsilon such that epsilon**2 / 8 is at most rho, as large as some 64 bits can tell.

    Parameters
    ----------
    rho : Fraction

    Returns
    -------
    Fraction

    Raises
    ------
    ValueError
        For a negative number.

    Notes
    -----
    What a mechanism of bounded range costs (Cesar and Rogers, ALT 2021).

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfast as dp
    >>> dp.privacy.range_within(Fraction(1, 2))
    Fraction(2, 1)
    """
    square = 8 * rho
    shift = 2 * max(0, 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 1 << shift // 2)


def pure_within(rho: Fraction) -> Fraction:
    """An epsilon of which the pure loss is rho-zCDP, within 2**-40 of the largest there is.

    Parameters
    ----------
    rho : Fraction

    Returns
    -------
    Fraction

    Raises
    ------
    OverflowError
        For a number beyond all float64.

    Notes
    -----
    The inverse of `ZCDP.of_pure`, rounded down.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import dpfast as dp
    >>> found = dp.privacy.pure_within(Fraction(1, 2))
    >>> dp.privacy.Pure(found).to_zcdp().rho <= Fraction(1, 2), float(found) > 1.04
    (True, True)
    """
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
