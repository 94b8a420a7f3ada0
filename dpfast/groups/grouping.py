"""The public arguments of a release by group: keys, ids, and the names and types of columns.

A mechanism is created from public values, and from columns without rows. So it does not depend on
rows, and calls with equal values share one mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from .. import privacy
from .._core import checks
from .._core.once import remembered
from .._core.types import Neighbors
from ..budget.mechanism import Mechanism
from ..measurement.columns_by_name import Answer
from ..measurement.equal_parts import part
from ..measurement.functions import OF_TABLES
from ..measurement.linear import Linear
from ..measurement.statistic import Automatic, Offer, Statistic
from ..measurement.unit_bounds import OCTAVES, with_unit_bound
from ..noise.additive import amount
from ..privacy import Approx, Loss
from ..rng import Generator
from ..selection.key_coins import PartitionSelection
from ..selection.key_selection import choose_rounds, choose_rule
from ..statistics.histogram import Histogram
from ..statistics.ranked import OnGrid
from ..statistics.totals.count import Count
from ..tables.batches import Batches, MemoryColumn
from ..tables.intake import Public
from ..tables.key_words import key_kind, kind_of
from ..tables.public_values import expect_matches
from ..tables.times import times_of
from ..tables.words import Words
from .automatic_bounds import UnitTails, WithBounds, with_bounds, with_limits
from .counts import GroupHistogram
from .distinct import CountDistinct
from .keys import KEYS, MOST, PrivateKeys, PublicKeys
from .lost import LOST, Lost
from .mechanisms import drawn, is_by_group, mechanism_of, share
from .step import Step
from .sums import Counted, CountOfText, OfCount, Sums
from .table import ByGroup, Persons, Table
from .top import Top

#: The most public keys that are remembered for the next call.
FEW = 1 << 10
RULE = "a mapping of names to statistics, such as dpfast.stat.count()"
#: The octaves of candidates, if a bound on groups is drawn.
FEW_GROUPS = 16, 8
#: Statistics by group, with their names.
Statistics = tuple[tuple[str, Any], ...]


def grouping(
    rows: Batches, by: tuple[str, ...], keys: Any, persons: Persons | None, other: Any = None
) -> Grouping:
    """Return the public arguments of a call; equal calls on data in memory may share one object."""
    columns, few = rows.like, None
    if type(keys) is list and len(keys) <= FEW and {*map(type, keys)} <= {int, str}:
        few = tuple(keys)
    is_few = few is not None or keys is None
    if columns is None or not is_few or type(other) not in (int, str, type(None)):
        return Grouping.of(rows if columns is None else columns, by, keys, persons, other)
    return _grouping(columns, by, few, persons, other)


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """The public arguments of a call by group: keys, ids and columns.

    Parameters
    ----------
    keys : PublicKeys or PrivateKeys
    persons : Persons or None
    columns : Batches
        The columns without rows, if the data are in memory.
    is_kept : bool
        Whether equal calls share one object.
    """

    keys: PublicKeys | PrivateKeys
    persons: Persons | None
    columns: Batches
    is_kept: bool = False

    @classmethod
    def of(
        cls, columns: Batches, by: tuple[str, ...], keys: Any, persons: Persons | None, other: Any
    ) -> Grouping:
        """Return the grouping, after checks of keys and ids against the types of columns."""
        shown: PublicKeys | PrivateKeys
        shown = PrivateKeys(by, columns) if keys is None else PublicKeys(by, keys, columns, other)
        if persons is not None:
            key_kind(columns.typed(persons.column, "ids", True), "ids", is_id=True)
            if persons.max_groups is None and keys is None:
                checks.fail("max_groups", "given with ids if keys are private", None)
            if persons.rows_limit is not None:
                if keys is None:
                    checks.fail("rows_limit", "left out if keys are private", persons.rows_limit)
                if checks.is_auto(persons.max_groups):
                    rule = "left out if max_groups is 'auto', which leaves out rows in no error bar"
                    checks.fail("rows_limit", rule, persons.rows_limit)
        return cls(shown, persons, columns)

    def parameters(
        self, statistics: Mapping[str, Any], weights: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """Return the public parameters of the release, by the names of arguments.

        Parameters
        ----------
        statistics : mapping of str to Statistic
        weights : mapping of str to number, optional

        Returns
        -------
        dict
        """
        keys, persons = self.keys, self.persons
        shown: Any = "private"
        other = None
        if isinstance(keys, PublicKeys):
            shown = {name: column.tolist() for name, column in keys.columns().items()}
            other = {name: column[0] for name, column in keys.others.items()} or None
        bounds = ("max_groups", "max_rows", "rows_limit")
        people = {} if persons is None else {name: getattr(persons, name) for name in bounds}
        return {
            "by": keys.by,
            "keys": shown,
            "other_key": other,
            "statistics": statistics,
            "weights": weights,
            **people,
        }

    def table(
        self,
        name: str,
        statistics: Statistics,
        offered: Offer,
        weights: Mapping[str, Any] | None = None,
    ) -> Mechanism[Answer]:
        """Return the mechanism that releases some statistics; `weights` give shares of the loss."""
        if self.is_kept and weights is None:
            return _table(self, name, statistics, offered)
        return self._table(name, statistics, offered, weights)

    def _table(
        self, name: str, statistics: Statistics, offered: Offer, weights: Any
    ) -> Mechanism[Answer]:
        persons = self.persons
        for argument in ("max_groups", "max_rows"):
            if persons is not None and checks.is_auto(getattr(persons, argument)):
                return self._with_unit_bound(argument, persons, name, statistics, offered, weights)
        for key, statistic in statistics:
            if not isinstance(key, str) or not is_by_group(statistic):
                checks.fail_kind("statistics", RULE, statistic)
            if key == KEYS and isinstance(self.keys, PrivateKeys):
                checks.fail("statistics", f"named differently from {KEYS!r}, the private keys", key)
            if key == LOST and self.persons is not None and self.persons.rows_limit is not None:
                checks.fail(
                    "statistics", f"named differently from {LOST!r}, which rows_limit adds", key
                )
        relation = offered.unit.neighbors
        shares = self._shares([key for key, _ in statistics], weights)
        rule = self._rule(offered.loss, shares.pop(KEYS), relation) if KEYS in shares else None
        mechanisms = {
            key: self._mechanism(statistic, share(offered, shares[key]), relation)
            for key, statistic in statistics
        }
        counts = {
            key: count
            for key, count in mechanisms.items()
            if isinstance(count, OfCount) and not count.statistic.cells
        }
        numbers = {name for key in mechanisms.keys() - counts for name in mechanisms[key].reads}
        # In a text file, columns that only counts read are left as text.
        for key, count in counts.items():
            if count.column and count.column not in numbers and self.columns.cells(count.column):
                mechanisms[key] = CountOfText(count.statistic, step=count.step, loss=count.loss)
        if LOST in shares:
            of_lost = share(offered, shares[LOST]).loss
            mechanisms[LOST] = self._lost(mechanisms.values(), of_lost, relation)
        self._check_names(mechanisms)
        title = f"{name} by {', '.join(self.keys.by)}" if statistics else KEYS
        if any(isinstance(stat, WithBounds) for stat in mechanisms.values()):
            title += ", a part of it for bounds"
        return Table(title, self.keys, mechanisms, relation, self.persons, rule)

    def _lost(self, mechanisms: Iterable[ByGroup], loss: Loss, relation: Neighbors) -> Lost:
        """Return the mechanism that releases numbers of rows lost to bounding, for error bars."""
        persons = self.persons
        assert persons is not None and persons.max_rows and persons.rows_limit
        if all(not isinstance(sums, Sums) or sums.lost_of_row is None for sums in mechanisms):
            rule = "left out, because only error bars of counts and sums of rows use it"
            checks.fail("rows_limit", rule, persons.rows_limit)
        step = replace(self._step(relation, Count()), rows=1)
        return Lost(
            step=step, loss=loss, most=persons.max_rows, limit=persons.rows_limit
        ).calibrated()

    def _with_unit_bound(
        self,
        argument: str,
        persons: Persons,
        name: str,
        statistics: Statistics,
        offered: Offer,
        weights: Any,
    ) -> Mechanism[Answer]:
        """Return the mechanism that draws a contribution bound, then releases the statistics."""
        if argument == "max_rows" and not any(map(_counts_rows, dict(statistics).values())):
            # No statistic needs a bound on rows.
            bounded = replace(self, persons=replace(persons, max_rows=None))
            return bounded._table(name, statistics, offered, weights)

        def bounded_by(bound: int, loss: Loss) -> Mechanism[Answer]:
            if argument == "max_rows" and persons.rows_limit is not None:
                bound = min(bound, persons.rows_limit - 1)
            if argument == "max_groups" and isinstance(self.keys, PublicKeys):
                bound = min(bound, max(1, self.keys.groups))
            drawn: dict[str, Any] = {argument: bound}
            bounded = replace(self, persons=replace(persons, **drawn))
            return bounded._table(name, statistics, Offer(loss, offered.unit), weights)

        everyone = replace(persons, max_groups=None, max_rows=None)
        counted = {"": UnitTails(argument == "max_groups", Counted())}
        table = Table("", self.keys, counted, "add-remove", everyone)

        def tails(source: Batches, generator: Generator) -> Any:
            return table.group_sums(source, generator.stream())[1].rooms[""].counts[0]

        octaves = FEW_GROUPS if argument == "max_groups" else OCTAVES
        relation = offered.unit.neighbors
        return with_unit_bound(argument, offered.loss, relation, bounded_by, tails, octaves)

    def _mechanism(self, statistic: Any, offered: Offer, relation: Neighbors) -> ByGroup:
        """Return the mechanism that releases one statistic of all groups for an offered loss."""
        step = self._step(relation, statistic)
        if isinstance(statistic, Statistic) and checks.is_auto(statistic.unit_limits):

            def clamped(bound: int, loss: Loss) -> ByGroup:
                limited = statistic.with_limit(bound)
                return self._mechanism(limited, Offer(loss, offered.unit), relation)

            return with_limits(offered.loss, relation, clamped)
        if isinstance(statistic, Top):
            mechanism: ByGroup = replace(statistic, step=step, loss=offered.loss).calibrated()
        elif statistic.column is None:
            if statistic.needs_column:
                checks.fail("column", "given for a statistic by group", None)
            mechanism = mechanism_of(statistic, step, offered)
        else:
            typed = self.columns.typed(statistic.column, "column", _reads_words(statistic))
            mechanism = self._of_column(statistic, typed, step, offered)
        self._check_columns(mechanism, statistic)
        rows = self.columns.adding(mechanism.reads if mechanism.adds_numbers else ())
        if rows is not None:
            mechanism.integers(rows)  # raises if a database cannot add up these values
        return mechanism

    def _of_column(
        self, statistic: Any, typed: MemoryColumn, step: Step, offered: Offer
    ) -> ByGroup:
        """Return the mechanism of a statistic of one column, whose type is given by `typed`."""
        times, units, column = times_of(typed), None, statistic.column or ""
        if isinstance(statistic, Histogram):
            for axis in statistic.axes:
                self._expect(axis.words, axis.numbers, column, typed)
        elif isinstance(statistic, Linear) and statistic.matches is not None:
            matches = statistic.matches
            self._expect(matches.words, matches.public, column, typed)
        in_units = None if times is None else statistic.in_units(times, column)
        if in_units is not None:
            statistic, units = in_units
        statistic.require_numbers()
        is_drawn = isinstance(statistic, OnGrid)
        is_whole = is_drawn and (units is not None or self.columns.is_whole(column))

        def make(statistic: Any, offered: Offer) -> ByGroup:
            mechanism: ByGroup
            mechanism = (
                drawn(statistic, step, offered, is_whole)
                if is_drawn
                else mechanism_of(statistic, step, offered)
            )
            if isinstance(mechanism, GroupHistogram):
                mechanism = self._in_bins(mechanism)
            return mechanism if units is None else replace(mechanism, units=units)

        is_count = isinstance(statistic, Count) and statistic.cells is None
        if is_count and statistic.looks and kind_of(typed) not in (None, "integers"):
            return CountOfText(statistic, step=step, loss=offered.loss).calibrated()
        if isinstance(statistic, Automatic) and statistic.is_auto:
            if statistic.unit_limits is not None:
                checks.fail("bounds", "numbers, because per_unit is given", "auto")
            return with_bounds(statistic, step, offered, units, make)
        return make(statistic, offered)

    def _in_bins(self, mechanism: GroupHistogram) -> GroupHistogram:
        """Return the mechanism of a histogram, sparse for private keys; refuse too many bins."""
        keys, bins = self.keys, mechanism.axis.native.bins
        if not isinstance(keys, PublicKeys):
            return replace(mechanism, sparse=True)
        if bins > MOST // keys.groups:
            rule = f"at most {MOST // keys.groups} for {keys.groups} groups"
            checks.fail("bins", rule, bins)
        return mechanism

    def _expect(
        self, words: Words | None, categories: Public | None, column: str, typed: MemoryColumn
    ) -> None:
        """Refuse public values that no row of a column of this type can equal."""
        if words is not None:
            categories = words.name, list(words.words)
        if categories is not None:
            cells = self.columns.cells(column)
            expect_matches(*categories, typed, f"the column {column!r}", cells)

    def _check_columns(self, mechanism: ByGroup, statistic: Any) -> None:
        """Refuse columns without numbers where the mechanism reads numbers."""
        named = [field.name for field in reversed(fields(statistic)) if field.name in OF_TABLES]
        arguments = {getattr(statistic, name): name for name in named}
        for name in mechanism.reads:
            is_first = name == mechanism.column
            if is_first and mechanism.is_text:
                continue
            if not (is_first and mechanism.units is not None):
                self.columns.numbers(name, arguments.get(name, "column"))

    def _check_names(self, mechanisms: Mapping[str, ByGroup]) -> None:
        """Refuse two answer columns of one name, and file columns read as text and as numbers."""
        taken, text = set(self.keys.by), set(self.keys.by)
        text |= {stat.column for stat in mechanisms.values() if stat.is_text and stat.column}
        if self.persons is not None:
            text.add(self.persons.column)
        for name, mechanism in mechanisms.items():
            names = mechanism.names(name)
            if not taken.isdisjoint(names) or len(set(names)) < len(names):
                checks.fail("statistics", "named so that no two columns have the same name", name)
            taken.update(names)
            for column in text.intersection(mechanism.reads):
                is_words = mechanism.is_text and column == mechanism.column
                if not is_words and self.columns.cells(column):
                    rule = "used as numbers only, and not also as keys, ids or text of a text file"
                    checks.fail("column", rule, column)
        # Bins of drawn bounds have names that are not known yet.
        for name, mechanism in mechanisms.items():
            if isinstance(mechanism, WithBounds) and mechanism.has_bins:
                others = taken.difference(mechanism.names(name))
                if any(other.startswith(f"{name} ") for other in others):
                    checks.fail("statistics", "named differently from all bins", name)

    def _shares(self, names: list[str], weights: Any) -> dict[str, Fraction]:
        """Return the share of the loss for each statistic, for private keys and for rows lost."""
        usual = dict.fromkeys(names, Fraction(1))
        if isinstance(self.keys, PrivateKeys):
            usual[KEYS] = Fraction(1)
        if names and self.persons is not None and self.persons.rows_limit is not None:
            usual[LOST] = Fraction(len(names), 3)
        names = list(usual)
        if weights is None:
            weights = {}
        rule = "a mapping of names to numbers greater than 0"
        if not isinstance(weights, Mapping):
            checks.fail_type("weights", rule, weights)
        for name in weights:
            if name not in names:
                checks.fail("weights", f"given only for {', '.join(map(repr, names))}", name)
        sizes = {}
        for name in names:
            value = weights.get(name, usual[name])
            checks.positive(f"weights[{name!r}]", value)
            sizes[name] = checks.fraction(f"weights[{name!r}]", value)
        total = sum(sizes.values(), Fraction(0))
        return {name: size / total for name, size in sizes.items()}

    def _rule(self, loss: Loss, share: Fraction, relation: Neighbors) -> PartitionSelection:
        """Return the partition selection rule of private keys, for a share of the loss."""
        amount(loss)
        if not isinstance(loss, Approx):
            rule = "greater than 0, with epsilon, because keys are private (or pass public keys)"
            checks.fail("delta", rule, 0 if isinstance(loss, privacy.Pure) else "rho")
        most = 1 if self.persons is None else self.persons.max_groups
        key_loss = part(loss, share)
        assert isinstance(key_loss, Approx) and most is not None
        in_database = self.columns.adding([]) is not None
        return (choose_rule if in_database else choose_rounds)(key_loss, most, relation)

    def _step(self, relation: Neighbors, statistic: Any) -> Step:
        """Return the groups and rows that a step between neighbors touches, for a statistic."""
        persons, per_person = self.persons, isinstance(statistic, CountDistinct)
        every = self.keys.groups if isinstance(self.keys, PublicKeys) else None
        limits = statistic.unit_limits if isinstance(statistic, Statistic) else None
        if persons is None:
            if per_person:
                checks.fail("ids", "given, because people are counted by their ids", None)
            if limits is not None:
                rule = "left out without ids, because it limits the total of one id"
                checks.fail("per_unit", rule, limits)
            return Step(relation, every=every)
        rows = persons.max_rows if _counts_rows(statistic) else 1
        if rows is None:
            checks.fail("max_rows", "given, because rows are counted and not only people", None)
        groups = min(persons.max_groups or MOST, every or MOST)
        return Step(relation, groups, rows, every, of_units=True)


def _counts_rows(statistic: Any) -> bool:
    """Tell whether a statistic depends on how many rows of a person count in a group."""
    is_clamped = isinstance(statistic, Statistic) and statistic.unit_limits is not None
    return not is_clamped and not isinstance(statistic, CountDistinct)


@remembered
def _grouping(
    columns: Batches,
    by: tuple[str, ...],
    keys: tuple[int | str, ...] | None,
    persons: Persons | None,
    other: int | str | None,
) -> Grouping:
    listed = None if keys is None else list(keys)
    return replace(Grouping.of(columns, by, listed, persons, other), is_kept=True)


@remembered
def _table(of: Grouping, name: str, statistics: Statistics, offered: Offer) -> Mechanism[Answer]:
    return of._table(name, statistics, offered, None)


def _reads_words(statistic: object) -> bool:
    """Tell whether a statistic reads a column as text."""
    if isinstance(statistic, Linear):
        return statistic.matches is not None and statistic.matches.words is not None
    return isinstance(statistic, Histogram) and any(axis.words for axis in statistic.axes)
