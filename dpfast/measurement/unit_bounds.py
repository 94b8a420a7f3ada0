"""A bound on the contribution of units that is "auto": it is drawn for a quarter of the loss.

*The drawn number.* Each unit has one integer c. It depends on which bound is drawn:

* `max_rows`: the unit's number of rows; in releases by group, its largest number of rows in a
  group.
* `max_groups`: the number of its groups.
* `per_unit`: the absolute value of its total, in 256ths of the largest row, rounded up; for several
  columns or by group, the largest of these numbers.

The candidates v_1 < v_2 < ... are public numbers above 1, from `tails`: sixteen in each octave, up
to 2^40. Let A(v) be the number of units with c >= v, and N(v) the number of units with v / 2 <= c <
v. A number v is drawn with probability proportional to

    w(v) exp(-r S(v) / D),      S(v_j) = 64 A(v_j) + sum over i <= j of min((N(v_i) - a)+, b).

Here w(v) is about v^(-2.9) or v^(-4.3), a = 16 / r and b = D / 2 r, rounded. The bound is m, the
largest integer below v. So A(v) is the number of units whose c is above the bound.

*Reason.* Noise for m rows of a unit has a scale of about m / epsilon. A bound of m leaves out all
further rows of a unit. The sum of both errors is least if about 1 / epsilon units exceed m, for any
number of units (Amin, Kulesza, Munoz and Vassilvitskii, ICML 2019). A draw finds the number of
units beyond a bound only to within 1 / r, which is more than 1 / epsilon. So there are two more
terms:

* The prior w makes bounds that are too large improbable, in proportion to their harm.
* If c is between v / 2 and v for many units, the largest c is likely not much larger. Then each
  further number is less probable, by a factor of down to exp(-1/2). If there are few such units,
  there is no such factor.

The second prior is for rho and for epsilon with delta. With these, a draw finds the number of units
beyond a bound more accurately, compared with the noise. `benchmarks/contribution_bounds.py`
measures both priors, both terms, and the share of the loss.

*Loss under add-remove.* A unit changes the draw by its integer c alone. If the unit is added, A(v)
grows by 1 for v <= c, and N(v) grows by 1 for the sixteen numbers v from c to 2 c. So S(v) grows by
64 for v <= c, and by 0 to 16 for larger v. All changes are in an interval of length D = 64. The
terms with N cost nothing.

*Loss under replace.* Let c be replaced by a larger c'. S(v) does not change for v <= c. From c to
c' it grows by 48 to 64. Beyond c' it changes by -16 to 16. So D = 80.

In both cases all exponents change by numbers of an interval of length r. So a draw is r-DP
(McSherry and Talwar, FOCS 2007). It has bounded range r, which costs less than r^2 / 8 in zCDP
(Cesar and Rogers, ALT 2021).

Then the statistic is released with this bound, and losses add up (`automatic_bounds`). The integers
count all rows of a unit that the mask keeps, so they do not depend on which rows are chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core.attributes import same_as
from .._core.error_bars import ErrorBar, unknown
from .._core.types import Neighbors
from ..budget.mechanism import Mechanism
from ..errors import ArgumentError
from ..privacy import Loss, Pure, float_down
from ..rng import Generator
from ..summaries.units import Units, unit_rows
from ..tables import Chunk
from ..tables.intake import View
from ..tables.key_words import secret
from ..tables.sql.store import SqlRows
from .around import Around
from .automatic_bounds import NOT_DRAWN, divided, trial, with_bounds
from .outer_bounds import Draw, Side, drawn_bounds
from .tails import LARGEST, NUMBERS, PER_OCTAVE, Counts, beyond, of_chunk, of_counts

Value = TypeVar("Value")

#: The octaves of the candidates. If a statistic refuses a row's part of the loss as too small for
#: the largest candidate, the next number of octaves is tried.
OCTAVES = 40, 16, 8
#: A bound on the totals of units is a whole number of these parts of the largest row.
PARTS = 256
_FIRST = -(LARGEST * PER_OCTAVE) - 1  # the index of 1 in `NUMBERS`
#: By how much minus the logarithm of w grows from each number to the next: for epsilon alone, and
#: for other losses.
PRIORS = 2 / 16, 3 / 16
#: BEYOND is the factor of A(v) in S(v), FEW / r is a, and STEEP D / r is b; see above.
BEYOND, FEW, STEEP = 64, 16, 1 / 2


class Parts(int):
    """A drawn bound on totals of units, in 256ths (`PARTS`) of the largest row of a column."""


def candidates(numbers: NDArray[Any], octaves: int) -> NDArray[Any]:
    """Return the entries for candidates from an array with an entry for each public number."""
    return numbers[_FIRST + 1 : _FIRST + 1 + octaves * PER_OCTAVE]


def tails_of(sizes: NDArray[Any], units: NDArray[np.int64] | None = None) -> Counts:
    """Return counts of units by their integer `sizes[i]`: one unit each, or `units[i]` units."""
    values = sizes.astype(np.float64)
    return of_chunk(Chunk(values, 0)) if units is None else of_counts(values, units)


def unit_sizes(source: View, count: Callable[[], Units]) -> tuple[NDArray[Any], Any]:
    """Return numbers of rows of units, and how many units have each of them.

    The second is None if the first has an entry for each unit. If rows are not in a database,
    `count` returns the numbers.
    """
    if isinstance(source.source, SqlRows):
        assert source.ids is not None
        return source.source.unit_sizes(source.ids.column)
    return np.concatenate([rows.reshape(-1) for (rows,) in count().parts()]), None


def rows_of_units(source: View, generator: Generator) -> Counts:
    """Return counts of units by their number of rows that a mask keeps."""
    key, ids = secret(generator.stream()), source.ids
    assert ids is not None
    return tails_of(*unit_sizes(source, lambda: unit_rows(ids, key, source.where)[0]))


@dataclass(frozen=True, slots=True)
class WithUnitBound(Around[Value]):
    """A mechanism whose bound on each unit's contribution is drawn first, for a part of the loss.

    Privacy: neighbors are datasets that differ in one unit, which is added or removed, or is
    replaced. The draw satisfies its part of the loss (McSherry and Talwar, FOCS 2007; Cesar and
    Rogers, ALT 2021; above), and the mechanism with this bound satisfies the remaining part, so
    both together satisfy the loss (Dwork, McSherry, Nissim and Smith, TCC 2006).

    Parameters
    ----------
    inner : Mechanism
        The mechanism for some other bound. All of it is public except the noise.
    make : callable
        ``make(bound)`` returns the mechanism for a bound.
    tails : callable
        ``tails(source, generator)`` returns how many units have each integer.
    argument : str
        The name of the bound.
    offered : Loss
        The loss that is charged for the bound and the answer together.
    rate : float
        r.
    span : int
        D.
    octaves : int
        The number of octaves of the candidates.
    prior : float
        The increase of minus the logarithm of w from each number to the next.
    """

    make: Callable[[int], Mechanism[Value]]
    tails: Callable[[Any, Generator], Counts]
    argument: str
    offered: Loss
    rate: float
    span: int
    octaves: int
    prior: float

    loss = same_as("offered")

    #: The name of the column of ids, for budgets that count their loss.
    ids = same_as("inner.ids")

    @property
    def name(self) -> str:
        return with_bounds(self.inner.name, self.argument)

    @property
    def passes(self) -> int | None:
        """The passes over the data: one more than `inner` needs, to count units' contributions."""
        passes = self.inner.passes
        return passes if passes is None else passes + 1

    @property
    def parts(self) -> dict[str, Loss]:
        """The parts of the loss, by name: for the bound, and of the inner mechanism."""
        return {self.argument: divided(self.offered)[0], **self.inner.parts}

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the public parameters of the draw, and of the mechanism for some other bound."""
        return self.inner.parameters | {"drawn": self.argument, **self.noise_parameters}

    @property
    def integer_noise(self) -> None:
        """None, because the noise depends on the bound that is drawn."""

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"rate": self.rate}

    def reduce(self, source: Any) -> Any:
        """Return the rows as they are: the key for their ids is random."""
        return source

    def finish(self, summary: Any, generator: Generator) -> Value:
        inner = self._drawn(summary, generator)
        return inner.finish(inner.reduce(summary), generator)

    def answered(
        self, summary: Any, generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Value, ErrorBar]:
        inner = self._drawn(summary, generator)
        return inner.answered(inner.reduce(summary), generator, rows, confidence)

    def _drawn(self, summary: Any, generator: Generator) -> Mechanism[Value]:
        """Draw a bound, and return the mechanism for that bound."""
        return self.make(self.bound(self.tails(summary, generator), generator))

    def weighed(self, tails: Counts) -> Side:
        """Return the weights of the candidates for the bound, from counts of units."""
        above = beyond(tails, above=True)
        beyond_bound = candidates(above, self.octaves)
        crowd = candidates(np.roll(above, PER_OCTAVE), self.octaves) - beyond_bound
        rate = float_down(Fraction(self.rate) / self.span)
        few, most = int(FEW / self.rate), int(STEEP / rate)
        score = BEYOND * beyond_bound + np.cumsum(np.clip(crowd - few, 0, most))
        prior = np.arange(len(beyond_bound), dtype=np.float64) * self.prior
        return Side(score, score, prior, Fraction(0), 2 * rate)

    def bound(self, tails: Counts, generator: Generator) -> int:
        """Draw a bound, from counts of units by their integer."""
        numbers = candidates(NUMBERS, self.octaves)
        (index,) = Draw(self.weighed(tails), len(numbers)).draw(1, generator.stream())
        return ceil(float(numbers[index])) - 1

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return no error bar, because the noise depends on the bound that is drawn."""
        return unknown(confidence, NOT_DRAWN)


def with_unit_bound(
    argument: str,
    loss: Loss,
    neighbors: Neighbors,
    make: Callable[[int, Loss], Mechanism[Value]],
    tails: Callable[[Any, Generator], Counts],
    octaves: Sequence[int] = OCTAVES,
) -> WithUnitBound[Value]:
    """Return a mechanism whose bound on each unit's contribution is drawn first.

    Parameters
    ----------
    argument, loss, tails
        As in `WithUnitBound`.
    neighbors : {"add-remove", "replace"}
        Whether a unit is added or removed, or is replaced.
    make : callable
        ``make(bound, loss)`` returns the mechanism for a bound.
    octaves : sequence of int
        Numbers of octaves of candidates. The first number that is not refused is taken.

    Raises
    ------
    ArgumentError
        If an argument breaks a rule, or a part of the loss is too small.
    """
    for_bound, for_answer = divided(loss)

    def of(bound: int) -> Mechanism[Value]:
        return make(bound, for_answer)

    rate = drawn_bounds(for_bound, None, "add-remove", "drop").rate
    span = BEYOND + PER_OCTAVE * (neighbors == "replace")
    prior = PRIORS[0] if isinstance(loss, Pure) else PRIORS[1]

    def with_octaves(size: int) -> WithUnitBound[Value]:
        inner = trial(of, (1, 1 << size))
        return WithUnitBound(inner, of, tails, argument, loss, rate, span, size, prior)

    *larger, least = octaves
    for size in larger:
        with suppress(ArgumentError):
            return with_octaves(size)
    return with_octaves(least)
