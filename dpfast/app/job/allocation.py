"""One loss divided by weights, exactly.

Epsilon, or rho, is divided among all releases. Delta is divided among those that use it: at first
all whose function takes a delta; then, as long as there is a mechanism that leaves its share
unspent (its noise is smaller without), again among the others. So the shares of epsilon, of rho,
and of delta, if anybody uses it, add up to the whole. What is asked and what is spent are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from ...privacy import ZCDP, Approx, Loss

#: The loss of one release, as arguments of its function.
Share = dict[str, Fraction]


def divided(loss: Loss, weights: Sequence[Fraction], delta: Sequence[bool]) -> list[Share]:
    """The shares, those of delta among the releases that are said to use it."""
    whole = sum(weights, Fraction(0))
    if isinstance(loss, ZCDP):
        return [{"rho": loss.rho * weight / whole} for weight in weights]
    shares = [{"epsilon": loss.epsilon * weight / whole} for weight in weights]
    if isinstance(loss, Approx):
        part = sum((w for w, uses in zip(weights, delta, strict=True) if uses), Fraction(0))
        for share, weight, uses in zip(shares, weights, delta, strict=True):
            if uses:
                share["delta"] = loss.delta * weight / part
    return shares


def settled(
    loss: Loss,
    weights: Sequence[Fraction],
    may: Sequence[bool],
    make: Callable[[int, Share], Any],
) -> tuple[list[Share], list[Any]]:
    """Shares, and the mechanisms that ``make(i, share)`` makes of them; `may` take a delta."""
    uses = list(may)
    while True:
        shares = divided(loss, weights, uses)
        made = [make(i, share) for i, share in enumerate(shares)]
        left = [
            "delta" in share and not isinstance(mechanism.loss, Approx)
            for share, mechanism in zip(shares, made, strict=True)
        ]
        if not any(left):
            return shares, made
        uses = [use and not out for use, out in zip(uses, left, strict=True)]
