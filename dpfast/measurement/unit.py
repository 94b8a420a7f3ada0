"""The privacy unit that a loss holds for: a row, or all rows of one id.

With ids, at most k rows of each person count. Noise covers k rows at once, or follows from group
privacy.

*Neighbors* differ in all rows of one person, who is added or removed (add-remove), or is replaced
by a person with other rows and a new id (replace).

*Sums* of rows are counts, sums, means, variances, covariances, histograms and statistics that are
computed from these. They choose no rows: a person with more than k rows counts in part
(`summaries.units` has the proof). A person who is added changes the exact sums by at most k times
as much as a row, in every norm. So the noise is calibrated to the sensitivity of k rows at once.
The loss is the loss of one person: one step, or two steps if a person is replaced.

*Other statistics* read at most k rows of each person. These are chosen uniformly, by a fresh secret
key (`tables.bounding`), among the rows that have an id and that `where` keeps. Then the mechanism
runs on the chosen rows, with a row's part of the loss. It runs under "add-remove" for both
relations of people, because the number of chosen rows is private.

*Loss of other statistics.* Let the rows of a person be added.

1. The numbers of all later rows change. But hashes of different numbers are independent and
   uniform. So the chosen rows of all other people have the same distribution as before, and the two
   choices can be coupled so that the same rows of all other people are chosen.
2. In this coupling, the chosen rows differ by at most k rows that are added or removed. These are k
   steps of the mechanism, or 2 k steps if a person is replaced. The order of rows has no effect on
   the mechanism.
3. For fixed choices, k steps cost what `privacy.group` returns (Dwork, McSherry, Nissim and Smith,
   TCC 2006; for rho Bun and Steinke, TCC 2016).
4. The mixture over choices costs no more. All three kinds of loss are bounds on divergences that
   are jointly convex or, for Renyi divergences, quasi-convex (van Erven and Harremoes, 2014).

A row's part is the largest loss for which group privacy of k rows stays within the whole loss
(`privacy.group_within`): epsilon / k, or rho / k^2.

*Under add-remove, group privacy needs no more noise.* k rows of L1 norm at most c change a sum by k
c, so Laplace noise for all k rows has the scale k c / epsilon. k rows of L2 norm at most c change
it by k c in L2, so Gaussian noise has the deviation k c / sqrt(2 rho). Both are also the noise for
one row with its part of the loss. The rate of an exponential mechanism in epsilon is the same, too:
k rows change the utility of a quantile by k max(q, 1 - q).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from .. import privacy
from .._core import checks, nan_policy
from .._core.attributes import same_as
from .._core.error_bars import ErrorBar
from .._core.types import Auto, Neighbors
from .._kernels.tables import Key
from ..errors import ArgumentError
from ..noise.additive import MOST, amount
from ..privacy import Loss
from ..privacy.composition import steps
from ..rng import Generator
from ..tables.base import Feature, Units
from ..tables.batches import refuse_beside
from ..tables.bounding import UNBOUNDED
from ..tables.intake import View
from ..tables.key_words import secret
from ..tables.sql.store import SqlRows
from .around import Around
from .columns_by_name import Noted

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Unit:
    """The privacy unit, whose presence a loss hides: a row, or all rows of one id.

    Parameters
    ----------
    neighbors : {"add-remove", "replace"}, default "add-remove"
        Whether neighboring datasets differ in a unit that is added or removed, or that is replaced.
    ids : str, optional
        The name of the column of ids; all rows of one id are a unit. "" stands for ids without a
        name. By default a row is a unit.
    max_rows : int or "auto", optional
        With `ids` only: the largest number of rows of a unit that count. "auto" draws the bound for
        a quarter of the loss. Leave it out if the statistic bounds the total of a unit
        (``per_unit=``).

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.Mean(bounds=(0, 120)).measure(epsilon=1, unit=dp.Unit(ids="who", max_rows=3)).ids
    'who'
    """

    neighbors: Neighbors = "add-remove"
    ids: str | None = None
    max_rows: int | Auto | None = None

    def __post_init__(self) -> None:
        checks.neighbors(self.neighbors)
        if self.ids is None:
            if self.max_rows is not None:
                rule = "left out without ids: it limits the rows of one id"
                checks.fail("max_rows", rule, self.max_rows)
            return
        if type(self.ids) is not str or self.ids:
            checks.text("ids", self.ids)
        if self.max_rows is not None and not checks.is_auto(self.max_rows):
            object.__setattr__(self, "max_rows", checks.rows_each(self.max_rows))

    @property
    def of_rows(self) -> Neighbors:
        """The neighboring relation of rows: always "add-remove" if rows have ids.

        The reason is that the number of rows of a person is private under both relations.
        """
        return self.neighbors if self.ids is None else "add-remove"

    def part(self, loss: Loss, at_once: bool) -> tuple[Loss, int]:
        """Return the loss that protects several rows together, and the number of these rows.

        A mechanism with the returned loss, for so many added or removed rows, has the loss `loss`
        for a person. If it protects one row, this follows from group privacy. Otherwise it protects
        all rows of a person at once.

        Parameters
        ----------
        loss : Loss
            The loss for a person.
        at_once : bool
            Whether the mechanism has noise for all rows of a person at once.

        Returns
        -------
        Loss, int

        Raises
        ------
        ArgumentError
            If the loss for one row is too small to sample its noise.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.Unit(ids="who", max_rows=4).part(dp.privacy.Pure(1), at_once=True)
        (Pure(epsilon=1), 4)
        """
        assert isinstance(self.max_rows, int)
        # A larger epsilon is refused for noise on one integer, but may be the loss of many rows
        # together.
        is_one = at_once and (isinstance(loss, privacy.ZCDP) or loss.epsilon <= MOST)
        rows = self.max_rows if is_one else 1
        return one_row(loss, self.neighbors, self.max_rows // rows), rows


def one_row(loss: Loss, people: Neighbors, max_rows: int) -> Loss:
    """Return the loss of one added or removed row, for a loss of a unit of at most `max_rows` rows.

    Raises
    ------
    ArgumentError
        If the loss of one row is too small to sample its noise.
    """
    size = steps("add-remove", people, max_rows)
    assert size is not None
    try:
        part = privacy.group_within(loss, size)
        amount(part)
    except ArgumentError as error:  # its text states a loss that the caller did not pass
        raise ArgumentError(f"{error}, a row's part of the loss (max_rows divides it)") from None
    return part


def added_units(
    rows: SqlRows, features: Sequence[Feature], source: View, nan: Any, kept: Sequence[Any] = ()
) -> list[int]:
    """Return the sum of each feature over rows of a database, with each unit bounded.

    Parameters
    ----------
    rows : SqlRows
    features : sequence of Feature
    source : View
        The view of the rows, with their ids.
    nan : str or float
    kept : sequence of integer
        For each column an expression that is 0 for a row without a number.
    """
    assert source.ids is not None
    missing = [Feature(rows.counted(1 - row), 0, 1) for row in kept if nan == "raise"]
    groups = rows.groups({}, [*features, *missing], Units(source.ids.column))
    sums = [int(total[0]) for total in groups.sums]
    nan_policy.refuse(nan, sum(sums[len(features) :]))
    return sums[: len(features)]


class AddsUnits(ABC):
    """A mechanism of sums of rows, in which units can be bounded without choosing rows."""

    __slots__ = ()

    @abstractmethod
    def of_units(self, source: View, most: int, key: Key) -> Any:
        """Return the summary of rows, with each unit bounded to at most `most` rows.

        Parameters
        ----------
        source : View
            Rows with ids.
        most : int
        key : Key
            Fresh and secret.

        Returns
        -------
        Any
            The argument of `finish`.
        """


@dataclass(frozen=True, slots=True)
class OfUnits(Around[Value]):
    """A mechanism for privacy units of several rows, made of a mechanism of rows by bounding units.

    Parameters
    ----------
    inner : Mechanism
        Under "add-remove", for a row's part of the loss, or for all rows of a person.
    unit : Unit
    steps : int
        The number of steps, each of which costs the loss of `inner`, that a unit consists of. It is
        `max_rows`, or 1 if that loss covers all rows of a unit at once. It is 0 if `inner` is about
        totals of units. The error bar is for the rows that count.
    """

    unit: Unit
    steps: int

    neighbors = same_as("unit.neighbors")

    #: The name of the column of ids, for budgets that count their loss; "" if ids have no name.
    ids = same_as("unit.ids")

    @property
    def loss(self) -> Loss:
        """The loss of all rows of a unit together."""
        inner = self.inner.loss
        if not self.steps:
            return inner
        loss = privacy.convert(inner, "add-remove", self.neighbors, max_rows=self.steps)
        assert loss is not None
        return loss

    @property
    def passes(self) -> int | None:
        """The passes over the data: one more than `inner` needs if rows of units are chosen."""
        passes = self.inner.passes
        return passes if passes is None or isinstance(self.inner, AddsUnits) else passes + 1

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        bar = self.inner.error(rows, confidence)
        return bar if bar.half_width is bar.ranks is None else self._noted(bar)

    def _noted(self, bar: ErrorBar) -> ErrorBar:
        return replace(bar, note=f"{bar.note}; {self.note}") if self.note else bar

    @property
    def note(self) -> str:
        """The note of error bars on the rows that bounding drops; "" without a bound."""
        most, unit = self.unit.max_rows, repr(self.unit.ids) if self.unit.ids else "person"
        if most is None:
            return ""
        return f"of rows that count, at most {most} of each {unit}; bias unknown"

    def reduce(self, source: View) -> View:
        """Return the rows as they are: the key for their ids is random."""
        return source

    def finish(self, summary: View, generator: Generator) -> Value:
        return self._about(self.inner.finish(self._kept(summary, generator), generator))

    def answered(
        self, summary: View, generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Value, ErrorBar]:
        kept = self._kept(summary, generator)
        answer, bar = self.inner.answered(kept, generator, None, confidence)
        return self._about(answer), self._noted(bar)

    def _about(self, answer: Value) -> Value:
        if isinstance(answer, Noted):
            answer.note = self.note
        return answer

    @property
    def _most(self) -> int:
        most = self.unit.max_rows
        assert not isinstance(most, str)
        return UNBOUNDED if most is None else most

    def _kept(self, summary: View, generator: Generator) -> Any:
        """NOT PRIVATE. Return the exact summary of the rows of each unit that count."""
        assert summary.ids is not None
        most, stream = self._most, generator.stream()
        if isinstance(self.inner, AddsUnits):
            return self.inner.of_units(summary, most, secret(stream))
        # Takes as many random bits as the selection of rows in memory, so that the noise is the
        # same.
        if summary.adds:
            rows = summary.chosen(most, bytes(stream.take(32)).hex())
        else:
            kept = summary.ids.kept(summary.where, most, secret(stream))
            if summary.length not in (None, len(kept)):
                refuse_beside()
            rows = replace(summary, where=kept)
        return self.inner.reduce(rows)
