"""Masks of rows that are replaced: a mechanism under "add-remove" in two steps.

To replace a row, of which a mask may keep the old one, the new one, both or neither, is at most to
remove a row and to add one. So a mechanism that costs `privacy.group_within(loss, 2)` for one of
these steps costs no more than `loss` for the change (group privacy, Dwork, McSherry, Nissim and
Smith, TCC 2006). A mechanism whose loss for a replaced row also covers one that leaves or enters
needs none of this, and gets all of the loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import privacy
from .._core.error_bars import SECRET, ErrorBar, unknown
from ..budget.mechanism import Mechanism
from ..errors import ArgumentError
from ..privacy import Loss
from ..rng import Generator
from .around import Around

Value = TypeVar("Value")


class TwoSteps(Around[Value]):
    """A mechanism under "add-remove" as one under "replace", with the loss of two steps."""

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
    """Return the mechanism that is made under "add-remove" for the loss of either step."""
    try:
        return TwoSteps(make(privacy.group_within(loss, 2)))
    except ArgumentError as error:
        refused = error
    make(loss)  # what is wrong with all of the loss shows the number that was written
    raise ArgumentError(f"{refused}, the part of either of two steps (see `where`)") from None
