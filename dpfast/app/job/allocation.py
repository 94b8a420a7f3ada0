"""Division of one privacy loss among releases by their weights, exactly.

Epsilon, or rho, is divided among all releases. Delta is divided among those that use it. At first
these are all whose function takes a delta. As long as there is a mechanism that leaves its part
unspent (its noise is smaller without), delta is divided again among the others. So the allocations
of epsilon, of rho, and of delta, if any release uses it, add up to the whole, and each release
spends what it was allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

from ...privacy import ZCDP, Approx, Loss

#: The loss of one release, as arguments of its function.
Share = dict[str, Fraction]


class Costly(Protocol):
    """What has a privacy loss."""

    @property
    def loss(self) -> Loss: ...


T = TypeVar("T", bound=Costly)


def divided(loss: Loss, weights: Sequence[Fraction], delta: Sequence[bool]) -> list[Share]:
    """Return the allocations; a release has one of delta where `delta` says that it uses it."""
    whole = sum(weights, Fraction(0))
    name, size = ("rho", loss.rho) if isinstance(loss, ZCDP) else ("epsilon", loss.epsilon)
    shares = [{name: size * weight / whole} for weight in weights]
    if isinstance(loss, Approx):
        users = [i for i, uses in enumerate(delta) if uses]
        part = sum((weights[i] for i in users), Fraction(0))
        for i in users:
            shares[i]["delta"] = loss.delta * weights[i] / part
    return shares


def settled(
    loss: Loss,
    weights: Sequence[Fraction],
    takes_delta: Sequence[bool],
    make: Callable[[int, Share], T],
) -> tuple[list[Share], list[T]]:
    """Return the allocations and what ``make(i, share)`` makes of each, which has a `loss`."""
    uses = list(takes_delta)
    while True:
        shares = divided(loss, weights, uses)
        made = [make(i, share) for i, share in enumerate(shares)]
        unspent = [
            i
            for i, share in enumerate(shares)
            if "delta" in share and not isinstance(made[i].loss, Approx)
        ]
        if not unspent:
            return shares, made
        for i in unspent:
            uses[i] = False
