"""Statistics that are quotients of numbers in a noisy answer about several columns.

A computation that does not read the rows again costs nothing (Dwork and Roth, 2014, proposition
2.1). So a quotient has the loss and the noise of its `inner` statistic, for the same neighbors.

*Error bars.* Let the error of each number of the inner answer be at most its width, except with a
share of the failure probability. Let n be a noisy numerator of width w, and d > 0 a noisy
denominator, whose true value is between low and high. Then the error of the quotient is at most

    (abs(n) + w) / low - abs(n) / d.

This holds if the true quotient is larger in absolute value than the noisy quotient. If it is
smaller, the error is at most abs(n) / d - (abs(n) - w) / high, or, if w > abs(n), at most abs(n) /
d + (w - abs(n)) / low. Neither is larger than the bound above: 2 / d <= 1 / low + 1 / high, because
low high <= d^2. The same holds with the true and the noisy numbers exchanged.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.error_bars import BOUND, CONFIDENCE, ROWS, ErrorBar, unknown
from .._core.types import Auto, Bounds
from .._kernels.tables import Key
from ..budget.mechanism import Mechanism
from ..rng import Generator
from ..tables.intake import View, read, whole_rows
from .around import Around
from .statistic import Bounded, Statistic, Terms
from .unit import AddsUnits

Floats: TypeAlias = NDArray[np.float64]
#: Why a quotient may have no error bar.
MAY_BE_0 = "the denominator may be 0"


@dataclass(frozen=True, kw_only=True)
class Quotient(Bounded[Any]):
    """Base of statistics that are quotients of numbers in the noisy answer of an inner statistic.

    Parameters
    ----------
    bounds : sequence of (float, float), or "auto"
    other : str, optional
        The second column of a table, if the statistic is one of several by group.
    """

    bounds: Sequence[Bounds] | Auto
    other: str | None = None

    at_once: ClassVar[bool] = True
    only_adds: ClassVar[bool] = True
    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)
    #: The smallest and the largest possible answer.
    ends: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    #: The number of inner answers of which a quotient is made: all of their error bars must hold.
    together: ClassVar[int] = 2
    #: The answer is 0 if the denominator is below this many widths of its noise.
    near: ClassVar[float] = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.other is not None:
            checks.text("other", self.other)
        if not self.is_auto and (self.width or 0) < 2:
            checks.fail("bounds", "at least two pairs, one for each column", self.bounds)

    @property
    def bounded(self) -> tuple[str | None, ...]:
        return self.column, self.other

    @property
    @abstractmethod
    def inner(self) -> Statistic[Any]:
        """The inner statistic, from whose noisy answer the quotients are computed."""

    @abstractmethod
    def parts(self, answer: Floats, off: Floats) -> tuple[Floats, Floats]:
        """Return the numerators and the denominators of answers of the inner statistic.

        Each denominator is at least 0.

        Parameters
        ----------
        answer : ndarray
            A single answer of the inner statistic, or the answers of groups along the first axis.
        off : ndarray
            Numbers that are added to the denominators, of the shape of `answer`.

        Returns
        -------
        ndarray, ndarray
        """

    @abstractmethod
    def bar(self, inner: Mechanism[Any], rows: int, confidence: float) -> ErrorBar:
        """Return the error bar of quotients for a number of rows, infinite if it is not known.

        Parameters
        ----------
        inner : Mechanism
        rows : int
        confidence : float

        Returns
        -------
        ErrorBar
        """

    def value(self, answer: Floats, widths: Floats) -> Floats:
        """Return the quotients of inner answers.

        Parameters
        ----------
        answer, widths : ndarray
            Inner answers, and half the widths of their error bars.

        Returns
        -------
        ndarray
        """
        n, d = self.parts(answer, 0 * answer)
        is_there = self.parts(answer, -self.near * widths)[1] > 0
        with np.errstate(over="ignore"):
            quotient = np.clip(n / np.where(is_there, d, 1.0), *self.ends)
        return np.where(is_there, quotient, 0.0)

    def half_widths(self, answer: Floats, widths: Floats) -> Floats:
        """Return the half-widths of quotients, from bounds on the errors of inner answers.

        Parameters
        ----------
        answer, widths : ndarray
            Inner answers, and bounds on their errors.

        Returns
        -------
        ndarray
        """
        (n, d), low = self.parts(answer, 0 * answer), self.parts(answer, -widths)[1]
        n, w, is_there = np.abs(n), np.abs(self.parts(widths, 0 * widths)[0]), low > 0
        with np.errstate(over="ignore", invalid="ignore"):
            off = (n + w) / np.where(is_there, low, 1.0) - n / np.where(is_there, d, 1.0)
        return np.minimum(np.where(is_there, off, np.inf), self.ends[1] - self.ends[0])

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        view = read(data, whole_rows, "bounds", self.width, with_ids=self.adds_units, **rows)
        return replace(view, by_column=True)  # each column has bounds of its own

    def mechanism(self, terms: Terms) -> OfQuotient:
        layout = replace(terms.layout, columns=terms.layout.columns or self.width or 0)
        return OfQuotient(self.inner.mechanism(replace(terms, layout=layout)), self)


@dataclass(frozen=True)
class OfQuotient(Around[Any], AddsUnits):
    """The mechanism of the inner statistic, with the quotient as its answer."""

    statistic: Quotient

    @property
    def name(self) -> str:
        return self.statistic.name

    @cached_property
    def usual_widths(self) -> Floats:
        """The half-widths of an inner answer whose noise does not depend on the number of rows."""
        widths = np.array(self.inner.error(None, CONFIDENCE).half_width)
        widths.flags.writeable = False
        return widths

    def finish(self, summary: Any, generator: Generator) -> float | Floats:
        return self._quotients(self.inner.finish(summary, generator))

    def of_units(self, source: View, most: int, key: Key) -> Any:
        assert isinstance(self.inner, AddsUnits)
        return self.inner.of_units(source, most, key)

    def answered(
        self, summary: Any, generator: Generator, rows: int | None, confidence: float
    ) -> tuple[float | Floats, ErrorBar]:
        # So that all inner error bars hold with the given confidence.
        share = 1 - (1 - confidence) / self.statistic.together
        return self._with_bars(*self.inner.answered(summary, generator, rows, share), confidence)

    def _with_bars(
        self, answer: Floats, bar: ErrorBar, confidence: float
    ) -> tuple[float | Floats, ErrorBar]:
        """Return quotients with their error bars, from inner error bars that all hold at once."""
        value = self._quotients(answer)
        if bar.half_width is None:
            return value, replace(bar, confidence=confidence)
        widths = self.statistic.half_widths(answer, np.asarray(bar.half_width))
        width = widths.tolist() if np.isfinite(widths).all() else None
        note = BOUND if width is not None else MAY_BE_0
        return value, ErrorBar(confidence, width, note=note)

    def _quotients(self, answer: Floats) -> float | Floats:
        near = self.statistic.near > 0
        value = self.statistic.value(answer, self.usual_widths if near else 0 * answer)
        return value if value.ndim else float(value)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        if rows is None:
            return unknown(confidence, ROWS)
        bar = self.statistic.bar(self.inner, rows, confidence)
        if bar.half_width is not None and not np.isfinite(bar.half_width).all():
            return unknown(confidence, MAY_BE_0)
        return bar
