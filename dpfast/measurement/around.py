"""Mechanisms around another one, whose rows, loss or relation they change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._core.attributes import same_as
from .._core.error_bars import ErrorBar
from ..budget.mechanism import Mechanism, Value
from ..rng import Generator
from ..tables.intake import View


@dataclass(frozen=True, slots=True)
class Around(Mechanism[Value]):
    """Base of a mechanism around another one, which it is like but for what it says itself.

    Parameters
    ----------
    inner : Mechanism
    """

    inner: Mechanism[Value]

    loss = same_as("inner.loss")

    neighbors = same_as("inner.neighbors")
    name = same_as("inner.name")
    of_parts = same_as("inner.of_parts")
    has_public_rows = same_as("inner.has_public_rows")
    passes = same_as("inner.passes")
    of_ranks = same_as("inner.of_ranks")
    missing = same_as("inner.missing")
    algorithm = same_as("inner.algorithm")
    reads = same_as("inner.reads")
    parts = same_as("inner.parts")
    integer_noise = same_as("inner.integer_noise")
    noise_parameters = same_as("inner.noise_parameters")

    def reduce(self, source: Any) -> Any:
        return self.inner.reduce(source)

    def finish(self, summary: Any, generator: Generator) -> Value:
        return self.inner.finish(summary, generator)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        return self.inner.error(rows, confidence)


class OfKept(Around[Value]):
    """A mechanism of a column as one of the rows of a view that its mask keeps.

    What a mechanism of rows that are added or removed costs is a fact about the rows that it is
    shown. A row that a mask keeps or not, as a function of that row alone, comes and goes with it.
    Where a row is replaced, it may also leave or enter, which a mechanism has to cover (as
    `TwoSteps` does).
    """

    __slots__ = ()

    has_public_rows = False

    def reduce(self, source: View) -> Any:
        return self.inner.reduce(source.kept)
