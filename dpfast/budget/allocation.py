"""An allocation of a budget: paid once, then used up by many answers that pay nothing more.

`release` returns no number here but the right to ask: the data that a mechanism has read, if any,
and the generator of its answers. The caller sees to it that all answers together cost no more than
the allocation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ..privacy import Loss
from ..rng import Generator
from .watched import Session


@dataclass(frozen=True, slots=True)
class Allocation(Session[tuple[Any, Generator]]):
    """A mechanism that spends the loss of many later answers at once, and then reads the data."""

    name: str
    loss: Loss
    neighbors: str
    read: Callable[[Any], Any] = lambda source: None
    ids: str | None = None
    _no_bar: ClassVar[str] = "its answers come later, from what is made"

    def reduce(self, source: Any) -> Any:
        return self.read(source)

    def finish(self, summary: Any, generator: Generator) -> tuple[Any, Generator]:
        return summary, generator
