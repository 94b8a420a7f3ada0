"""The one door. Check, spend, reduce, finish: nothing else spends a budget or draws noise.

A mechanism is an object with a `loss`, the `neighbors` it speaks of, a name for the ledger, a
`reduce(source)` that makes a noise-free summary, and a `finish(summary, generator)` that turns the
summary into the one value that leaves. Its constructor has checked every argument, so whatever goes
wrong inside the door depends on the data and comes after the spend. Only what `prepare` refuses
comes before it: by default data of a kind that cannot be read at all; for a selection also scores
that are no scores. `reduce` and `finish` may call functions of the user's; where one forks, the
child is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from .. import rng as _rng
from .._core import checks
from .._kernels.rng import witnesses
from ..errors import BudgetError
from ..privacy import Loss
from .budget import Budget, _Probe

Value = TypeVar("Value", covariant=True)


class Mechanism(Protocol[Value]):
    """What the door needs to know."""

    @property
    def loss(self) -> Loss: ...
    @property
    def neighbors(self) -> str: ...
    @property
    def name(self) -> str: ...
    def reduce(self, source: Any) -> Any: ...
    def finish(self, summary: Any, generator: _rng.Generator) -> Value: ...


def release(
    data: Any,
    mechanism: Mechanism[Value],
    *,
    budget: Budget | None,
    rng: _rng.Generator | None,
    prepare: Callable[[Any], Any] | None = None,
) -> Value:
    """Spend the mechanism's loss, then run it on `data`, which have been read already.

    Only a selection has something to `prepare` before the spend: it passes over public scores.
    """
    generator = _rng.check(rng)
    if budget is not None:
        if not isinstance(budget, (Budget, _Probe)):
            checks.fail_type("budget", "a dpfast.Budget or None", budget)
        if not generator.private:
            raise BudgetError(f"a budget pays for private noise only, got rng={generator!r}")
    source = data if prepare is None else prepare(data)
    if isinstance(budget, _Probe):
        budget.quote(mechanism)
    here = witnesses()
    if budget is not None:
        relation = checks.neighbors(mechanism.neighbors)
        budget.spend(mechanism.loss, neighbors=relation, what=mechanism.name)
    summary = mechanism.reduce(source)
    _refuse_copies(here, mechanism.name)
    answer = mechanism.finish(summary, generator)
    _refuse_copies(here, mechanism.name)
    return answer


def _refuse_copies(here: tuple[int, int], name: str) -> None:
    """A function of the user's that forks comes back twice: two releases for one spend."""
    if witnesses() != here:
        raise BudgetError(
            f"{name}: the release belongs to the process that was forked, which has paid for it "
            "and has its answer"
        )
