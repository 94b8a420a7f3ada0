"""The private share of privacy units that contribution bounding keeps whole: all rows count.

Each unit has one number, 1 or 0, whatever its rows are. The share is the mean of these numbers. A
unit that is added, removed or replaced adds, removes or replaces one number. So the noise of
`dpfast.mean` for numbers between 0 and 1 satisfies the loss. The share of *rows* that count cannot
be released with so little noise, because one unit may hold nearly all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from .._core import checks
from .._core.error_bars import PEOPLE, ErrorBar, unknown
from ..budget.mechanism import Mechanism
from ..measurement.functions import public
from ..measurement.statistic import Layout, Statistic, Terms
from ..measurement.unit import OfUnits, Unit
from ..measurement.unit_bounds import unit_sizes
from ..rng import Generator
from ..tables.intake import View, plain, read, rows_alone
from ..tables.key_words import secret
from .totals.count import rows_of_each_unit
from .totals.moments import Mean


@dataclass(frozen=True, kw_only=True)
class KeptWhole(Statistic[float]):
    """The share of privacy units whose rows all count under `max_rows`, as a statistic to measure.

    With ids, at most `max_rows` rows of a privacy unit (all rows of one id) count. This is the
    share of the units that have no more rows than that, among all units with rows. A share near 1
    says that the bound affects hardly any unit.

    Privacy
    -------
    Neighbors are datasets that differ in all rows of one person, who is added or removed, or is
    replaced. Each person has one number, 0 or 1, and the share is the mean of these numbers. It
    gets the integer noise of `dpfast.mean`, which satisfies the requested loss (Ghosh, Roughgarden
    and Sundararajan, STOC 2009; Canonne, Kamath and Steinke, NeurIPS 2020).

    Parameters
    ----------
    column : None
        Must be left out: the values of rows are not used.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If it is measured for rows, without `ids`.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> who = np.repeat(np.arange(1000), np.arange(1000) % 10 + 1)  # of 1 to 10 rows each
    >>> 0.7 < dp.kept_whole(who, ids=who, max_rows=8, epsilon=1) < 0.9
    True
    """

    column: None = field(init=False, default=None)

    name: ClassVar[str] = "share of people with all rows counted"
    reads_numbers: ClassVar[bool] = False
    needs_column: ClassVar[bool] = False
    keeps_units: ClassVar[bool] = True
    draws_max_rows: ClassVar[bool] = False
    subtracts: ClassVar[bool] = False
    only_adds: ClassVar[bool] = True
    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)

    def read(self, data: Any, *, axis: Any, **rows: Any) -> View:
        return read(data, rows_alone, **rows)

    def mechanism(self, terms: Terms) -> ShareOfUnits:
        if terms.ids is None:
            checks.fail("ids", "given, with the id of each row", None)
        of_each = replace(terms, layout=Layout(masked=True), rows=1, ids=None)
        inner: Mechanism[Any] = Mean(bounds=(0.0, 1.0)).mechanism(of_each)
        unit = Unit(checks.neighbors(terms.neighbors), terms.ids, terms.rows)
        return ShareOfUnits(inner, unit, 0)


@dataclass(frozen=True, slots=True)
class ShareOfUnits(OfUnits[float]):
    """The mechanism of `kept_whole`: the mean, over units, of 1 if all rows count, else 0.

    Parameters
    ----------
    inner : Mechanism
        Numbers between 0 and 1.
    unit : Unit
    steps : int
        0, because all rows of a unit are one number.
    """

    note: ClassVar[str] = ""  # no unit is cut, so there is nothing to note

    name = KeptWhole.name

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return an unknown error bar: the number of rows does not give the number of units."""
        return unknown(confidence, PEOPLE)

    def _kept(self, summary: View, generator: Generator) -> Any:
        """NOT PRIVATE. Return the inner mean's summary of 1 or 0 for each privacy unit."""
        key = secret(generator.stream())
        sizes, many = unit_sizes(summary, lambda: rows_of_each_unit(summary, key))
        are_whole = np.repeat(sizes <= self.unit.max_rows, 1 if many is None else many)
        view = plain(are_whole.astype(np.float64))
        assert view is not None
        return self.inner.reduce(view)


kept_whole = public(KeptWhole)
