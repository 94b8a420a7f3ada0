"""Mechanisms that wrap another mechanism and change its rows, loss or neighboring relation.

*Masks of replaced rows.* A mask may keep a row's old value, its new value, both or neither. So
replacing the row at most removes a row and adds another row. A mechanism under "add-remove" that
has the loss `privacy.group_within(loss, 2)` for each of these two steps has at most `loss` for the
replacement (group privacy, Dwork, McSherry, Nissim and Smith, TCC 2006). Some mechanisms need no
second step, because their loss for a replaced row also covers a row that enters or leaves.
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

    Whether a mask keeps a row is a function of that row alone. So a row that is added or removed
    adds or removes at most one row for the inner mechanism, whose loss holds. A row that is
    replaced may also enter or leave the mask. A mechanism has to cover this, as `TwoSteps` does.
    """

    __slots__ = ()

    has_public_rows = False

    def reduce(self, source: View) -> Any:
        return self.inner.reduce(source.kept)


class TwoSteps(Around[Value]):
    """A mechanism under "replace", whose loss covers two steps of the inner "add-remove" one."""

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
    """Return a mechanism under "replace" for a loss, which covers two steps under "add-remove"."""
    try:
        return TwoSteps(make(privacy.group_within(loss, 2)))
    except ArgumentError as error:
        refused = error
    # If the whole loss is too small, too, this error states the epsilon that the caller passed.
    make(loss)
    raise ArgumentError(
        f"{refused}: a replaced row is two steps here, each for a part of the loss"
    ) from None
