"""Mechanisms around another one, whose rows, loss or relation they change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from .._core.error_bars import Expected
from ..budget.mechanism import Mechanism
from ..privacy import Loss
from ..rng import Generator
from ..tables.intake import View

Value = TypeVar("Value", covariant=True)


@dataclass(frozen=True, slots=True)
class Around(Mechanism[Value]):
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

    @property
    def of_parts(self) -> bool:
        return self.inner.of_parts

    @property
    def has_public_rows(self) -> bool:
        return self.inner.has_public_rows

    @property
    def passes(self) -> int | None:
        return self.inner.passes

    @property
    def of_ranks(self) -> bool:
        return self.inner.of_ranks

    @property
    def missing(self) -> Any:
        return self.inner.missing

    @property
    def algorithm(self) -> str:
        return self.inner.algorithm

    @property
    def parts(self) -> dict[str, Loss]:
        return self.inner.parts

    @property
    def integer_noise(self) -> Any:
        return self.inner.integer_noise

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return self.inner.noise_parameters

    def reduce(self, source: Any) -> Any:
        return self.inner.reduce(source)

    def finish(self, summary: Any, generator: Generator) -> Value:
        return self.inner.finish(summary, generator)

    def error(self, rows: int | None, confidence: float) -> Expected:
        return self.inner.error(rows, confidence)


class OfKept(Around[Value]):
    """A mechanism of a column as one of the rows of a view that its mask keeps.

    What a mechanism of rows that come or go costs is a fact about the rows that it is shown. A row
    that a mask keeps or not, as a function of that row alone, comes and goes with it. Where a row
    is replaced, it may also leave or enter, which a mechanism has to cover (as `TwoSteps` does).
    """

    __slots__ = ()

    @property
    def has_public_rows(self) -> bool:
        return False

    def reduce(self, source: View) -> Any:
        return self.inner.reduce(source.kept)
