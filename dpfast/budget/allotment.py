"""A slice of a budget: paid for once, then used up by many answers that pay nothing more.

What the door releases here is no number but the right to ask: what a mechanism reads of the data
beforehand, if anything, and the randomness of its answers. The one that asks sees to it that all
answers together cost no more than the slice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..privacy import Loss
from ..rng import Generator
from .budget import Budget
from .release import release


def as_it_is(source: Any) -> Any:
    """For a source that needs no preparation."""
    return source


def _nothing(source: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Slice:
    """What the answers cost together. Data are read after the spend."""

    name: str
    loss: Loss
    neighbors: str
    read: Callable[[Any], Any] = _nothing

    def reduce(self, source: Any) -> Any:
        return self.read(source)

    def finish(self, summary: Any, generator: Generator) -> tuple[Any, Generator]:
        return summary, generator


def paid(
    slice_: Slice, source: Any, budget: Budget | None, rng: Generator | None
) -> tuple[Any, Generator]:
    """Pay for a slice; what was read of the data, and the randomness."""
    return release(source, slice_, budget=budget, rng=rng, prepare=as_it_is)
