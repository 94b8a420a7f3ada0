"""A part of a budget that is spent at once, for many answers that come later.

`release` returns no answer here. It returns what the later answers need: the data that the
mechanism has read, if any, and the generator of random bits. The caller has to ensure that all
later answers together cost no more than the allocation.
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
