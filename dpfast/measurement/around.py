"""Mechanisms around another one, whose rows, loss or relation they change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from .._core.error_bars import Expected, expected
from ..budget.release import Mechanism
from ..privacy import Loss
from ..rng import Generator
from ..sources.intake import View

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Around(Generic[Value]):
    """Base of a mechanism around another one, which it is like but for what it says itself.

    Parameters
    ----------
    inner : Mechanism
    """

    inner: Mechanism[Value]

    @property
    def loss(self) -> Loss:
        return self.inner.loss

    @property
    def neighbors(self) -> str:
        return self.inner.neighbors

    @property
    def name(self) -> str:
        return self.inner.name

    def reduce(self, source: Any) -> Any:
        return self.inner.reduce(source)

    def finish(self, summary: Any, generator: Generator) -> Value:
        return self.inner.finish(summary, generator)

    def error(self, rows: int | None, confidence: float) -> Expected:
        return expected(self.inner, rows, confidence)


class OfKept(Around[Value]):
    """A mechanism of a column as one of the rows of a view that its mask keeps.

    What a mechanism of rows that come or go costs is a fact about the rows that it is shown. A row
    that a mask keeps or not, as a function of that row alone, comes and goes with it. Where a row
    is replaced, it may also leave or enter, which a mechanism has to cover (as `TwoSteps` does).
    """

    __slots__ = ()

    def reduce(self, source: View) -> Any:
        return self.inner.reduce(source.kept)


def innermost(mechanism: Any) -> Any:
    """Return the mechanism that others are around."""
    while isinstance(mechanism, Around):
        mechanism = mechanism.inner
    return mechanism
