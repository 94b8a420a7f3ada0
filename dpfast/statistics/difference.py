"""The difference of a statistic between two groups of rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._core import checks
from ..measurement.disjoint import Disjoint, Groups, of_groups
from ..measurement.functions import public
from ..measurement.statistic import Automatic, Statistic, Terms
from ..tables.base import NO_ROWS
from ..tables.intake import View, read, whole_rows
from .histogram import two_categories
from .words import statistic_of


@dataclass(frozen=True, kw_only=True)
class Difference(Statistic[Any]):
    """The difference of a statistic between two groups of rows, as a statistic to measure.

    The last column of the data holds the group of each row: a truth value, a number or a text. In
    `dpfast.expected_error`, `rows` is the number of rows in each group.

    Privacy
    -------
    Neighbors are datasets that differ in one row, which is added or removed, or is replaced. A row
    is in at most one group, so both answers together cost as much as one answer (McSherry, SIGMOD
    2009). A replaced row may leave one group and enter the other. This counts as two steps: a
    removed and an added row (Dwork, McSherry, Nissim and Smith, TCC 2006).

    Parameters
    ----------
    of : Statistic, or mapping
        The statistic of each group, such as ``dp.Mean(bounds=(0, 9))``. In a job file it is written
        ``{statistic = "mean", bounds = [0, 9]}``.
    keys : pair of bool, float or str, default (True, False)
        The last column's values for the two groups. The answer of the second group is subtracted
        from the answer of the first. Numbers are compared as float64.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> late = {"late": [5.0, 25.0] * 999, "carrier": ["UA", "AA"] * 999}
    >>> 18 < dp.difference(late, of=dp.Mean(bounds=(0, 60)), keys=("AA", "UA"), epsilon=1) < 22
    True
    """

    column: None = field(init=False, default=None)
    of: Any
    keys: Any = (True, False)

    name: ClassVar[str] = "difference"
    subtracts: ClassVar[bool] = False
    leaves_out: ClassVar[tuple[str, ...]] = ("axis",)

    def __post_init__(self) -> None:
        of = statistic_of("of", self.of)
        if not of.subtracts or (isinstance(of, Automatic) and of.is_auto) or of.limits is not None:
            checks.fail_kind(
                "of", "a statistic of numbers with public bounds and without weights", of
            )
        checks.assign(self, of=of, keys=two_categories(self.keys, "keys"))

    @property
    def only_adds(self) -> bool:  # type: ignore[override]
        return bool(self.of.only_adds)

    @property
    def groups(self) -> Groups:
        """The two groups of rows, by group key."""
        return Groups(self.of, self.keys)

    def read(self, data: Any, *, relation: str, where: Any, ids: Any, **others: Any) -> View:
        words, public = self.groups.columns()
        how = "of, keys", len(words), words, False, public
        view = read(data, whole_rows, *how, relation=relation, where=where, ids=ids)
        if view.adds and ids is not None:
            checks.fail_kind("data", NO_ROWS, data)
        self.groups.views(view)  # refuses data of a type that the statistic does not read
        return view

    def mechanism(self, terms: Terms) -> Disjoint:
        return of_groups(self.groups, terms, self.name)


difference = public(Difference)
