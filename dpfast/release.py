"""The one door. Check, spend, reduce, finish: nothing else spends a budget or draws noise.

A mechanism is an object with a `loss`, the `neighbors` it speaks of, a name for the ledger, a
`reduce(source)` that makes a noise-free summary, and a `finish(summary, generator)` that turns the
summary into the one value that leaves. Its constructor has checked every argument, so whatever goes
wrong inside the door depends on the data and comes after the spend.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from . import _check
from . import rng as _rng
from .budget import Budget, _Probe
from .errors import BudgetError
from .privacy import Loss
from .sources import Source, as_source

__all__ = ["Mechanism", "release"]

Value = TypeVar("Value", covariant=True)


class Mechanism(Protocol[Value]):
    """What the door needs to know."""

    @property
    def loss(self) -> Loss: ...
    @property
    def neighbors(self) -> str: ...
    @property
    def name(self) -> str: ...
    def reduce(self, source: Source) -> Any: ...
    def finish(self, summary: Any, generator: _rng.Generator) -> Value: ...


def release(
    data: Any, mechanism: Mechanism[Value], *, budget: Budget | None, rng: _rng.Generator | None
) -> Value:
    """Spend the mechanism's loss, then run it on `data`."""
    generator = _rng.check(rng)
    source = as_source(data)
    if budget is not None:
        if not isinstance(budget, (Budget, _Probe)):
            _check.fail_type("budget", "a dpfast.Budget or None", budget)
        if not generator.private:
            raise BudgetError(f"a budget pays for private noise only, got rng={generator!r}")
        budget.spend(mechanism.loss, neighbors=mechanism.neighbors, what=mechanism.name)
    return mechanism.finish(mechanism.reduce(source), generator)
