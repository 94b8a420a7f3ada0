"""``bounds="auto"``: a quarter of the loss for the bounds, and the rest for what needs them.

The two are one release, which costs what is asked for: losses add up, also where what is asked
second depends on what was answered first (Dwork, McSherry, Nissim and Smith, TCC 2006; for rho Bun
and Steinke, TCC 2016; for (epsilon, delta), whose delta is for the statistic alone, Dwork and Roth,
2014). The bounds may be those of `mechanism`, which are numbers that no statistic refuses: so all
arguments are checked with other bounds before anything is spent, and what is charged does not
depend on the data.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from .._core.attributes import same_as
from .._core.error_bars import ErrorBar
from ..budget.mechanism import Mechanism
from ..errors import ArgumentError
from ..privacy import Approx, Loss, Pure
from ..rng import Generator
from ..tables.intake import View
from .equal_parts import part
from .outer_bounds import WIDEST, DrawnBounds
from .tails import Counts

Value = TypeVar("Value")
T = TypeVar("T")

#: The share of the loss that is for the bounds: least error of a mean of `benchmarks/bounds.py`.
SHARE = Fraction(1, 4)
#: What error bars within bounds that are drawn do not know.
DRAWN = "numbers beyond the bounds that were drawn count as these; bias unknown"
#: Bounds to check arguments with.
ANY = (0.0, 1.0)


def divided(loss: Loss) -> tuple[Loss, Loss]:
    """Return the loss that is for the bounds, and what is left of it."""
    if isinstance(loss, Approx):
        return Pure(loss.epsilon * SHARE), Approx(loss.epsilon * (1 - SHARE), loss.delta)
    return part(loss, SHARE), part(loss, 1 - SHARE)


def with_bounds(name: str, bounds: str = "bounds") -> str:
    """Return the name in the ledger of what has a part of its loss for bounds."""
    return f"{name}, a quarter of it for {bounds}"


def extremes(columns: int | None) -> Sequence[Any]:
    """Return bounds to check arguments with, for so many columns; None for one pair."""
    pairs = ANY, WIDEST  # products of the widest with weights are the largest
    return pairs if columns is None else [(pair,) * columns for pair in pairs]


def trial(make: Callable[[Any], T], bounds: Sequence[Any]) -> T:
    """Return what is made within bounds, so that no argument is refused once they are drawn.

    Parameters
    ----------
    make : callable
        ``make(bound)``.
    bounds : sequence
        Those that are tried. What is made of the first is returned.

    Raises
    ------
    ArgumentError
        If an argument breaks a rule, or what is left of the loss is too small.
    """
    try:
        every = [make(bound) for bound in bounds]
    except ArgumentError as error:  # it may show a number that nobody has written
        raise ArgumentError(f"{error} (for 3/4 of the loss)") from None
    return every[0]


#: Why there is no error bar: noise is in proportion to bounds that are not known yet.
NOT_DRAWN = "the bounds, and so the noise, depend on the data"


@dataclass(frozen=True, slots=True)
class WithBounds(Mechanism[Value]):
    """A statistic whose bounds are drawn first, for a part of its loss.

    Parameters
    ----------
    bounds : DrawnBounds
    make : callable
        ``make(pair)``, or ``make(pairs)`` for several columns, returns the statistic's mechanism.
    loss, remaining_loss : Loss
        What is charged, and the part of it that is the statistic's.
    named : str
        The statistic.
    """

    bounds: DrawnBounds
    make: Callable[[Any], Mechanism[Value]]
    loss: Loss
    remaining_loss: Loss
    named: str

    _no_bar: ClassVar[str] = NOT_DRAWN

    neighbors = same_as("bounds.neighbors")

    @property
    def name(self) -> str:
        return with_bounds(self.named)

    missing = same_as("bounds.nan")

    @property
    def parts(self) -> dict[str, Loss]:
        """Return what the loss is made of."""
        return {"bounds": divided(self.loss)[0], self.named: self.remaining_loss}

    def reduce(self, source: View) -> tuple[View, Counts]:
        """Return the rows as they are, too: how they are read next is random."""
        return source, self.bounds.reduce(source)

    def _drawn(
        self, summary: tuple[View, Counts], generator: Generator
    ) -> tuple[Mechanism[Value], Any]:
        """Return the mechanism within bounds that are drawn, and its summary."""
        source, tails = summary
        pairs = tuple(self.bounds.pairs(tails, generator))
        inner = self.make(pairs[0] if self.bounds.columns is None else pairs)
        return inner, inner.reduce(source)

    def finish(self, summary: tuple[View, Counts], generator: Generator) -> Value:
        inner, summary_within = self._drawn(summary, generator)
        return inner.finish(summary_within, generator)

    def answered(
        self,
        summary: tuple[View, Counts],
        generator: Generator,
        rows: int | None,
        confidence: float,
    ) -> tuple[Value, ErrorBar]:
        inner, summary_within = self._drawn(summary, generator)
        answer, bar = inner.answered(summary_within, generator, rows, confidence)
        return answer, replace(bar, note=f"{bar.note}; {DRAWN}")
