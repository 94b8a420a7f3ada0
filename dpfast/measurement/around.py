"""Mechanisms that wrap another mechanism and change its rows, loss or neighboring relation.

Masks of rows that are replaced: a mechanism under "add-remove" in two steps.

Replacing a row, whose old and new value a mask may keep or not, is at most removing a row and
adding one. So a mechanism that has the loss `privacy.group_within(loss, 2)` for one of these steps
has at most `loss` for the change (group privacy, Dwork, McSherry, Nissim and Smith, TCC 2006). A
mechanism whose loss for a replaced row also covers a row that enters or leaves needs none of this,
and gets all of the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import privacy
from .._core.attributes import same_as
from .._core.error_bars import SECRET, ErrorBar, unknown
from ..budget.mechanism import Mechanism, Value
from ..errors import ArgumentError
from ..privacy import Loss
from ..rng import Generator
from ..tables.intake import View


@dataclass(frozen=True, slots=True)
class Around(Mechanism[Value]):
    """Base of mechanisms that wrap an `inner` one, and use its members unless they override them.

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
    """A mechanism that runs its inner mechanism on the rows of a view that the mask keeps.

    The loss of a mechanism of added or removed rows holds for the rows that it is given. A row that
    a mask keeps or not, as a function of that row alone, is added or removed with it. If a row is
    replaced, it may also enter or leave the mask, which a mechanism has to cover (as `TwoSteps`
    does).
    """

    __slots__ = ()

    has_public_rows = False

    def reduce(self, source: View) -> Any:
        return self.inner.reduce(source.kept)


class TwoSteps(Around[Value]):
    """A mechanism under "replace", at the loss of two steps of one under "add-remove"."""

    __slots__ = ()

    neighbors = "replace"

    @property
    def loss(self) -> Loss:
        return privacy.group(self.inner.loss, 2)

    def answered(
        self, summary: Any, generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Value, ErrorBar]:
        return self.inner.answered(summary, generator, rows, confidence)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return no error bar: the scale of noise in two steps depends on the data."""
        return unknown(confidence, SECRET)


def in_two_steps(loss: Loss, make: Callable[[Loss], Mechanism[Value]]) -> TwoSteps[Value]:
    """Return a mechanism under "replace" for a loss: two steps of one made under "add-remove"."""
    try:
        return TwoSteps(make(privacy.group_within(loss, 2)))
    except ArgumentError as error:
        refused = error
    # If the whole loss is too small, too, this error states the epsilon that the caller passed.
    make(loss)
    raise ArgumentError(
        f"{refused}, the part of the loss for each of two steps (see `where`)"
    ) from None
