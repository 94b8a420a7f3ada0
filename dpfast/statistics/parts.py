"""A loss in parts: for each column, or for either of two steps.

*Columns.* A row may change the answers of all its columns. Where nothing serves them better
together, d releases of a d-th of the loss each, of the same rows, are one release of all of it:
epsilon, delta and rho add up (basic composition, Dwork, McSherry, Nissim and Smith, TCC 2006; Bun
and Steinke, TCC 2016).

*Two steps.* To replace a row, of which a mask may keep the old one, the new one, both or neither,
is at most to remove a row and to add one. So a mechanism that costs `one_step(loss)` for one of
these steps costs `loss` for the change (group privacy; `privacy.convert`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from .. import privacy
from .._core.error_bars import SECRET, Expected, expected, unknown
from ..budget.release import Mechanism
from ..errors import ArgumentError
from ..measurement.around import Around, OfKept
from ..noise.additive import several
from ..noise.smooth import calibrate
from ..privacy import ZCDP, Approx, Loss, Pure
from ..rng import Generator
from ..sources.intake import View, read_each
from .arguments import Arguments, Floats, settled

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class EqualParts:
    """One mechanism a column, all of one kind and of the same loss."""

    columns: tuple[Mechanism[Any], ...]

    @property
    def loss(self) -> Loss:
        each, width = self.columns[0].loss, len(self.columns)
        return several(each, width) if isinstance(each, Pure) else privacy.compose(*[each] * width)

    @property
    def neighbors(self) -> str:
        return self.columns[0].neighbors

    @property
    def name(self) -> str:
        return f"{self.columns[0].name} of each column"

    def reduce(self, source: View) -> list[Any]:
        columns = [replace(source, source=one, each=False, width=1) for one in source.columns]
        each = zip(self.columns, columns, strict=True)
        return [mechanism.reduce(column) for mechanism, column in each]

    def finish(self, summary: list[Any], generator: Generator) -> Floats:
        each = zip(self.columns, summary, strict=True)
        return np.array([mechanism.finish(part, generator) for mechanism, part in each], np.float64)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar of each column, or why the first one without has none."""
        each = [expected(mechanism, rows, confidence) for mechanism in self.columns]
        for one in each:
            if one.half_width is None and one.ranks is None:
                return one
        note = next((one.note for one in each if one.note), "")
        widths, ranks = [one.half_width for one in each], [one.ranks for one in each]
        return Expected(confidence, side_by_side(widths), side_by_side(ranks), note)


def side_by_side(numbers: list[Any]) -> Any:
    """Return numbers of each column, or lists of some, with the columns last; None if one lacks."""
    if any(one is None for one in numbers):
        return None
    return np.array(np.broadcast_arrays(*numbers)).T.tolist()


def released(
    data: Any, asked: Arguments, make: Callable[[Arguments], Mechanism[float]]
) -> float | Floats:
    """Release a statistic of the data, or of each of their columns.

    `make` checks the arguments of one column and returns their mechanism, of the rows that count.
    """
    view = read_each(data, asked.relation, asked.axis, asked.columns, asked.where, asked.ids)
    found: float | Floats = of_view(view, asked, make)
    return found


def of_view(view: View, asked: Arguments, make: Callable[[Arguments], Mechanism[Any]]) -> Any:
    """Release a statistic of a column that was read, or of each of several."""

    def kept(part: Arguments) -> Mechanism[Any]:
        return OfKept(make(part))

    if not view.each:
        return asked.release(view, settled(asked, kept))
    _ = asked.loss
    each = asked.of_columns(view.width)
    try:
        columns = tuple(settled(one, kept) for one in each)
    except ArgumentError as error:  # it may show a number that nobody has written
        raise ArgumentError(f"{error} (for a column and its part)") from None
    return asked.release(view, EqualParts(columns))


def one_step(loss: Loss) -> Loss:
    """Return the loss of each of two steps that cost `loss`: half of epsilon, a quarter of rho."""
    if isinstance(loss, ZCDP):
        return ZCDP(loss.rho / 4)
    half = loss.epsilon / 2
    if isinstance(loss, Approx):
        grown = 1 + Fraction(math.exp(float(half))) * (1 + Fraction(1, 2**40))
        return Approx(half, loss.delta / grown)
    return Pure(half)


def two_steps(loss: Loss) -> Loss:
    """Return the loss of two steps."""
    together = privacy.convert(loss, "add-remove", "replace")
    assert together is not None
    return together


def calibrated(asked: Arguments, make: Callable[..., Mechanism[Value]]) -> Mechanism[Value]:
    """Return the mechanism that a class makes of bounds, a relation of rows, and a calibration.

    Where a mask keeps only some rows, these can differ by two steps, and either gets its part.
    """
    noise, interval, policy = asked.noise, asked.interval, asked.policy
    calibration = calibrate(noise, epsilon=asked.epsilon, delta=asked.delta, rho=asked.rho)
    if not asked.two_steps:
        return make(*interval, asked.relation, calibration, nan=policy)
    loss = one_step(asked.loss)
    try:
        if isinstance(loss, ZCDP):
            calibration = calibrate(noise, rho=loss.rho)
        else:
            part = loss.delta if isinstance(loss, Approx) else 0
            calibration = calibrate(noise, epsilon=loss.epsilon, delta=part)
    except ArgumentError as error:  # it shows a number that nobody has written
        raise ArgumentError(f"{error}, the part of either of two steps (see `where`)") from None
    return TwoSteps(make(*interval, "add-remove", calibration, nan=policy))


class TwoSteps(Around[Value]):
    """A mechanism under "add-remove" as one under "replace", with the loss of two steps."""

    __slots__ = ()

    @property
    def neighbors(self) -> str:
        return "replace"

    @property
    def loss(self) -> Loss:
        return two_steps(self.inner.loss)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return no error bar: the scale of noise in two steps depends on the data."""
        return unknown(confidence, SECRET)
