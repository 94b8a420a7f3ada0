"""One answer for each of several columns, each for an equal part of the loss.

A row may change the answers of all its columns. Without a joint mechanism, each of d columns is
released for a d-th of the loss. Together these are one release of the whole loss, because epsilon,
delta and rho add up (basic composition, Dwork, McSherry, Nissim and Smith, TCC 2006; Bun and
Steinke, TCC 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core.error_bars import ErrorBar
from ..budget.mechanism import Mechanism
from ..errors import ArgumentError
from ..noise.additive import several
from ..privacy import ZCDP, Approx, Loss, Pure
from ..rng import Generator
from ..tables.intake import View


@dataclass(frozen=True, slots=True)
class EqualParts(Mechanism[NDArray[np.float64]]):
    """A mechanism made of one mechanism for each column, all of one kind and of equal loss."""

    columns: tuple[Mechanism[Any], ...]

    @property
    def loss(self) -> Loss:
        return together(self.columns[0].loss, len(self.columns))

    @property
    def neighbors(self) -> str:
        return self.columns[0].neighbors

    @property
    def name(self) -> str:
        return f"{self.columns[0].name} of each column"

    @property
    def missing(self) -> Any:
        return self.columns[0].missing

    def reduce(self, source: View) -> list[Any]:
        alone = replace(source, by_column=False, width=1)
        views = [replace(alone, source=column) for column in source.columns]
        pairs = zip(self.columns, views, strict=True)
        return [mechanism.reduce(view) for mechanism, view in pairs]

    def finish(self, summary: list[Any], generator: Generator) -> NDArray[np.float64]:
        pairs = zip(self.columns, summary, strict=True)
        return _last([mechanism.finish(part, generator) for mechanism, part in pairs])

    def answered(
        self, summary: list[Any], generator: Generator, rows: int | None, confidence: float
    ) -> tuple[NDArray[np.float64], ErrorBar]:
        pairs = zip(self.columns, summary, strict=True)
        every = [mechanism.answered(part, generator, rows, confidence) for mechanism, part in pairs]
        bars = _bars(confidence, [bar for _, bar in every])
        return _last([answer for answer, _ in every]), bars

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        return _bars(confidence, [mechanism.error(rows, confidence) for mechanism in self.columns])


def _last(answers: list[Any]) -> NDArray[np.float64]:
    """Return the answers of all columns as one array, with the columns in the last axis."""
    return np.moveaxis(np.array(answers, np.float64), 0, -1)


def _bars(confidence: float, bars: list[ErrorBar]) -> ErrorBar:
    """Return one error bar for all columns. If one is unknown, return the first unknown one."""
    for bar in bars:
        if bar.half_width is None and bar.ranks is None:
            return bar
    note = next((bar.note for bar in bars if bar.note), "")
    widths, ranks = [bar.half_width for bar in bars], [bar.ranks for bar in bars]
    return ErrorBar(confidence, side_by_side(widths), side_by_side(ranks), note)


def together(loss: Loss, times: int) -> Loss:
    """Return the joint loss of several releases, each of which costs `loss`."""
    return several(loss, times) if isinstance(loss, Pure) else privacy.compose(*[loss] * times)


def part(loss: Loss, share: Fraction) -> Loss:
    """Return a share of a loss."""
    if isinstance(loss, ZCDP):
        return ZCDP(loss.rho * share)
    if isinstance(loss, Approx):
        return Approx(loss.epsilon * share, loss.delta * share)
    return Pure(loss.epsilon * share)


def side_by_side(numbers: list[Any]) -> Any:
    """Return the numbers of all columns as one list, columns last; None if one has no number."""
    if any(number is None for number in numbers):
        return None
    return np.array(np.broadcast_arrays(*numbers)).T.tolist()


def equal_parts(loss: Loss, makers: Sequence[Callable[[Loss], Mechanism[Any]]]) -> EqualParts:
    """Return one mechanism for several columns, each answered for an equal part of the loss."""
    share = part(loss, Fraction(1, len(makers)))
    try:
        return EqualParts(tuple(make(share) for make in makers))
    except ArgumentError as error:  # its text may state a loss that the caller did not pass
        raise ArgumentError(f"{error} (the part of the loss for one column)") from None
