"""``bounds="auto"``: a quarter of the loss draws the bounds, the rest pays for the statistic.

Both together are one release of the requested loss: losses add up, even if the second query depends
on the first answer (Dwork, McSherry, Nissim and Smith, TCC 2006; for rho Bun and Steinke, TCC 2016;
for (epsilon, delta) Dwork and Roth, 2014). The whole delta is for the statistic. Bounds are drawn
from a public list of numbers (`tails`), and no statistic refuses any of them. So all arguments can
be checked with trial bounds before anything is spent, and the charged loss does not depend on the
data.
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

#: The share of the loss that draws the bounds. In `benchmarks/bounds.py` it gave the smallest error
#: of a mean.
SHARE = Fraction(1, 4)
#: The note on error bars of answers within drawn bounds: they leave out the bias of clamping.
DRAWN = "numbers beyond the bounds that were drawn count as these; bias unknown"
#: Bounds with which arguments are checked.
ANY = (0.0, 1.0)


def divided(loss: Loss) -> tuple[Loss, Loss]:
    """Return the part of a loss that pays for the bounds, and the part left for the statistic."""
    if isinstance(loss, Approx):
        return Pure(loss.epsilon * SHARE), Approx(loss.epsilon * (1 - SHARE), loss.delta)
    return part(loss, SHARE), part(loss, 1 - SHARE)


def with_bounds(name: str, bounds: str = "bounds") -> str:
    """Return the name that a statistic with drawn bounds has in the ledger."""
    return f"{name}, a quarter of it for {bounds}"


def extremes(columns: int | None) -> Sequence[Any]:
    """Return two trial bounds, ordinary and widest, each repeated for several columns."""
    pairs = ANY, WIDEST  # the widest bounds give the largest products with weights
    return pairs if columns is None else [(pair,) * columns for pair in pairs]


def trial(make: Callable[[Any], T], bounds: Sequence[Any]) -> T:
    """Call `make` with each of the trial bounds, to refuse bad arguments; return the first result.

    Parameters
    ----------
    make : callable
        ``make(bound)``.
    bounds : sequence
        The trial bounds. The result for the first of them is returned.

    Raises
    ------
    ArgumentError
        If an argument breaks a rule, or the rest of the loss is too small.
    """
    try:
        every = [make(bound) for bound in bounds]
    except ArgumentError as error:  # its text may state a loss that the caller did not pass
        raise ArgumentError(f"{error} (3/4 of the loss; bounds='auto' spends 1/4)") from None
    return every[0]


#: Why there is no error bar: the noise is in proportion to the bounds, which are not drawn yet.
NOT_DRAWN = "the bounds, and so the noise, depend on the data"


@dataclass(frozen=True, slots=True)
class WithBounds(Mechanism[Value]):
    """The mechanism of a statistic whose bounds are drawn first, for a part of its loss.

    Parameters
    ----------
    bounds : DrawnBounds
    make : callable
        ``make(pair)``, or ``make(pairs)`` for several columns, returns the statistic's mechanism.
    loss, remaining_loss : Loss
        The loss that is charged, and its part for the statistic.
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
        """The two parts of the loss, by name: for the bounds and for the statistic."""
        return {"bounds": divided(self.loss)[0], self.named: self.remaining_loss}

    def reduce(self, source: View) -> tuple[View, Counts]:
        """Return the view, to be read again with drawn bounds, and the counts to draw them from."""
        return source, self.bounds.reduce(source)

    def _drawn(
        self, summary: tuple[View, Counts], generator: Generator
    ) -> tuple[Mechanism[Value], Any]:
        """Draw bounds, and return the statistic's mechanism within these bounds and its summary."""
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
