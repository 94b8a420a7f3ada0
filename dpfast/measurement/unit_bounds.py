"""``max_rows="auto"``: a quarter of the loss for a bound on rows of a unit, the rest within it.

*What is drawn.* Each unit has one integer c, its number of rows. For a public number v > 1 let A(v)
be how many units have c >= v. A number is drawn with probability proportional to

    w(v) exp(-r A(v)),      w(v) = v^(-2.9), about,

and the bound m is the largest integer below v: A(v) units have more than m rows. The numbers are
those of `tails`, sixteen in each octave, up to 2^40.

*Why.* Noise for m rows of a unit has a scale of about m / epsilon, and m more rows lose the rows
beyond it, so the least sum of both has about 1 / epsilon units beyond m, however many units there
are (Amin, Kulesza, Munoz and Vassilvitskii, ICML 2019). The prior w is the price of a bound that is
too large; `benchmarks/contribution_bounds.py` has measured it, and the share of the loss.

*Loss.* Let a unit come, or get other rows, or be replaced by another one. All that changes for the
draw is one integer, from c to c' (0 for a unit that is not there). So A(v) changes for the numbers
between c and c' alone, by 1 and for all of them in the same direction. All exponents change by
numbers of an interval of length r, then: a draw is r-DP (McSherry and Talwar, FOCS 2007), and of
bounded range r, at less than r^2 / 8 in zCDP (Cesar and Rogers, ALT 2021), under both relations.

What is released next is what it would be had the bound been given, and losses add up; see
`automatic_bounds`. The integers are those of all rows of a unit that a mask keeps, so they do not
depend on a bound, nor on what is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core.error_bars import Expected
from .._kernels.tables import Key
from ..budget.mechanism import Mechanism
from ..privacy import Loss
from ..rng import Generator
from ..summaries.units import unit_rows
from ..tables import Chunk
from ..tables.intake import View
from ..tables.key_words import secret
from ..tables.sql.store import SqlRows
from .around import Around
from .automatic_bounds import divided, no_error_bar, trial, with_bounds
from .outer_bounds import Draw, Side, drawn_bounds
from .tails import LARGEST, NUMBERS, PER_OCTAVE, Counts, beyond, of_chunk

Value = TypeVar("Value")

#: Octaves of numbers that are drawn from, where noise is made for all rows of a unit, and else.
AT_ONCE, APART = 40, 16
_FIRST = -(LARGEST * PER_OCTAVE) - 1  # that of 1 among `NUMBERS`
NO_UNITS = of_chunk(Chunk(np.empty(0), 0))
#: Minus the logarithm of w, exactly: an eighth for each sixteenth of an octave.
PRIOR = np.arange(AT_ONCE * PER_OCTAVE) / 8


def candidates(numbers: NDArray[Any], octaves: int) -> NDArray[Any]:
    """Return those of some numbers that belong to the public numbers above 1."""
    return numbers[_FIRST + 1 : _FIRST + 1 + octaves * PER_OCTAVE]


def unit_tails(source: View, key: Key) -> Counts:
    """Return how many units have how many rows, of those that count."""
    assert source.ids is not None
    if isinstance(source.source, SqlRows):
        sizes, many = source.source.unit_sizes(source.ids.column)
        each = (of_chunk(Chunk(size.astype(np.float64), 0)) for size in sizes.reshape(-1, 1))
        return reduce(add, (one * units for one, units in zip(each, many, strict=True)), NO_UNITS)
    units, _ = unit_rows(source.ids, key, source.where)
    parts = (of_chunk(Chunk(rows.reshape(-1).astype(np.float64), 0)) for (rows,) in units.parts())
    return reduce(add, parts)


@dataclass(frozen=True, slots=True)
class WithMaxRows(Around[Value]):
    """A mechanism of units of which so many rows count as is drawn first, for a part of its loss.

    Parameters
    ----------
    inner : Mechanism
        The mechanism for another bound, of which all is public but its noise.
    make : callable
        ``make(max_rows)`` returns the mechanism for a bound.
    offered : Loss
        What is charged.
    rate : float
        r.
    octaves : int
        Of the numbers that are drawn from.
    """

    make: Callable[[int], Mechanism[Value]]
    offered: Loss
    rate: float
    octaves: int

    @property
    def loss(self) -> Loss:
        return self.offered

    @property
    def ids(self) -> str | None:
        """Return whose loss it is, for the budget."""
        return self.inner.ids

    @property
    def name(self) -> str:
        return with_bounds(self.inner.name, "max_rows")

    @property
    def passes(self) -> int | None:
        """Return one more, which counts the rows of units."""
        passes = self.inner.passes
        return passes if passes is None else passes + 1

    @property
    def parts(self) -> dict[str, Loss]:
        """Return what the loss is made of."""
        return {"max_rows": divided(self.offered)[0], **self.inner.parts}

    @property
    def integer_noise(self) -> None:
        """Return no noise, which depends on the bound."""

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"rate": self.rate}

    def reduce(self, source: View) -> View:
        """Return the rows as they are: the key for their ids is random."""
        return source

    def finish(self, summary: View, generator: Generator) -> Value:
        tails = unit_tails(summary, secret(generator.stream()))
        inner = self.make(self.bound(tails, generator))
        return inner.finish(inner.reduce(summary), generator)

    def weighed(self, tails: Counts) -> Side:
        """Return what the numbers weigh, for units of so many rows."""
        above = candidates(beyond(tails, above=True), self.octaves)
        return Side(above, above, PRIOR[: len(above)], Fraction(0), 2 * self.rate)

    def bound(self, tails: Counts, generator: Generator) -> int:
        """Return the bound that is drawn for units of so many rows."""
        numbers = candidates(NUMBERS, self.octaves)
        (place,) = Draw(self.weighed(tails), len(numbers)).draw(1, generator.stream())
        return ceil(float(numbers[place])) - 1

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return no error bar."""
        return no_error_bar(confidence)


def with_max_rows(
    loss: Loss, make: Callable[[int, Loss], Mechanism[Value]], at_once: bool
) -> WithMaxRows[Value]:
    """Return the mechanism of units whose bound on rows is drawn first.

    Parameters
    ----------
    loss : Loss
    make : callable
        ``make(max_rows, loss)`` returns the mechanism for a bound.
    at_once : bool
        Whether noise is made for all rows of a unit at once.

    Raises
    ------
    ArgumentError
        If an argument breaks a rule, or a part of the loss is too small.
    """
    first, rest = divided(loss)
    octaves = AT_ONCE if at_once else APART

    def of(max_rows: int) -> Mechanism[Value]:
        return make(max_rows, rest)

    inner = trial(of, (1, 1 << octaves))
    rate = drawn_bounds(first, None, "add-remove", "drop").rate
    return WithMaxRows(inner, of, loss, rate, octaves)
