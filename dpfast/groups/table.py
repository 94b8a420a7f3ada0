"""Several statistics of groups of rows for one loss: the mechanism behind `group_by`.

The loss is the sum of the losses of the statistics and, where keys are private, of partition
selection. `step` has the sensitivity of each statistic, and the loss that each draw may have.

With ids, rows without a group or an id are left out first. Then contributions are bounded. Sums are
computed for each person in each group, and count in part (`summaries.units`), in the groups of the
person that bounding keeps (`unit_codes`). For ranks and drawn bounds, a first pass chooses the rows
of each person that are kept (`tables.bounding`). The choice depends only on the rows of this person
and on a fresh secret key. Then all statistics are computed in one pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock, local
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .. import rng as _rng
from .._core import nan_policy
from .._core.error_bars import CONFIDENCE, KEYS, ErrorBar, unknown
from .._kernels.rng import BitStream
from .._kernels.tables import Key
from ..budget.mechanism import Mechanism
from ..errors import DataError
from ..measurement.columns_by_name import Answer
from ..privacy import Loss
from ..rng import Generator
from ..selection.key_coins import PartitionSelection
from ..selection.key_selection import Round
from ..summaries.units import grown
from ..tables.batches import WHERE, Batch, Batches
from ..tables.bounding import Bounding, marks_of
from ..tables.filtered import is_expression
from ..tables.forms import Values, index_of
from ..tables.key_words import secret
from ..tables.masked import mask
from .added import added
from .automatic_bounds import WithBounds
from .keys import Coder, PrivateCoder, PrivateKeys, PublicKeys, ascending
from .lost import LOST, Lost
from .partial import Partial, as_rows, gathered
from .ranks import Quantiles
from .sums import Counted, Sums, bars_like
from .top import Top
from .unit_codes import RowFlags, UnitCodes

#: Why a statistic has no total over groups.
NO_TOTAL = "only counts and sums add up, where none is cut at 0"
ByGroup: TypeAlias = Sums | Quantiles | WithBounds


@dataclass(frozen=True, slots=True)
class Persons:
    """The column of ids, and the contribution bounds of a person.

    Parameters
    ----------
    column : str
        The column of ids.
    max_groups, max_rows : int, "auto" or None
        The largest number of groups of a person, and of rows in each group. None is no bound.
    rows_limit : int or None
        A public limit of the number of rows of a person in a group, or None.
    name : str
        The name of the ids for the budget; "" if the ids have no name.
    """

    column: str
    max_groups: Any
    max_rows: Any
    name: str = ""
    rows_limit: int | None = None

    def __str__(self) -> str:
        """Return the contribution bounds in words, with the bias that error bars cover."""
        id = repr(self.name) if self.name else "person"
        parts = [f"{self.max_rows} rows of each {id} in a group"] if self.max_rows else []
        plural = "" if self.max_groups == 1 else "s"
        parts += [f"{self.max_groups} group{plural} of each {id}"] if self.max_groups else []
        bias = "bias unknown"
        if self.rows_limit:
            bias = f"bars of counts and sums hold what is lost of up to {self.rows_limit} rows"
        return f"at most {' and '.join(parts)} count; {bias}" if parts else ""


@dataclass(frozen=True, slots=True)
class Table(Mechanism[Answer]):
    """The mechanism that releases several statistics by group for one loss.

    Parameters
    ----------
    name : str
    keys : PublicKeys or PrivateKeys
    statistics : mapping of names to Sums, Quantiles or WithBounds
        The statistics. In the pass that draws bounds: a GroupBounds for each of them.
    neighbors : str
    persons : Persons, optional
    rule : PartitionSelection, optional
        The rule, with its loss, by which private keys are shown.
    shown : Partial, optional
        In the second round in partitions of an engine: the keys that the first round has shown.
    """

    name: str
    keys: PublicKeys | PrivateKeys
    statistics: Mapping[str, Any]
    neighbors: str
    persons: Persons | None = None
    rule: PartitionSelection | None = None
    shown: Partial | None = None

    @property
    def ids(self) -> str | None:
        """Return the name of the ids, for the budget; None if the privacy unit is a row."""
        return None if self.persons is None else self.persons.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the public parameters, with public keys as a dict of columns."""
        fields = super(Table, self).parameters
        return fields | ({"keys": self.keys.columns()} if isinstance(self.keys, PublicKeys) else {})

    @property
    def loss(self) -> Loss:
        """Return the loss of all statistics and of partition selection together."""
        losses = [statistic.loss for statistic in self.statistics.values()]
        if self.rule is not None:
            losses.append(self.rule.loss)
        return losses[0] if len(losses) == 1 else privacy.compose(*losses)

    @property
    def parts(self) -> dict[str, Loss]:
        """Return the loss of each part by name, where one part is for drawn bounds."""
        drawn = self._drawn
        if not drawn:
            return super(Table, self).parts
        losses = {name: stat.loss for name, stat in self.statistics.items()}
        for name, stat in drawn.items():
            losses[f"bounds of {name}"], losses[name] = stat.parts
        return losses if self.rule is None else {**losses, "keys": self.rule.loss}

    @property
    def missing(self) -> Any:
        """Return how missing rows are treated: for all statistics, or by name if they differ."""
        stats = self.statistics.items()
        policies = {name: stat.nan for name, stat in stats if stat.nan is not None}
        every = {*policies.values()}
        return policies if len(every) > 1 else next(iter(every), None)

    @property
    def of_ranks(self) -> bool:
        """Tell whether any statistic draws quantiles, for which all rows are stored."""
        return any(isinstance(stat, Quantiles) for stat in self._likes)

    @property
    def passes(self) -> int:
        """Return the number of passes over the rows, with those that choose rows and bounds."""
        drawn = self._drawn.values()
        chosen = self.persons is not None and not all(stat.bounds.adds_units for stat in drawn)
        return 1 + self.chooses_rows + bool(drawn) + chosen

    @property
    def chooses_rows(self) -> bool:
        """Tell whether bounding chooses rows of each person, and does not only bound their sums."""
        return self.persons is not None and not all(stat.adds_units for stat in self._likes)

    @property
    def _likes(self) -> list[Any]:
        """The statistics, with placeholder bounds where bounds are still to be drawn."""
        every = self.statistics.values()
        return [stat.like if isinstance(stat, WithBounds) else stat for stat in every]

    @property
    def _drawn(self) -> dict[str, WithBounds]:
        """The statistics whose bounds are still to be drawn, by name."""
        every = self.statistics.items()
        return {name: stat for name, stat in every if isinstance(stat, WithBounds)}

    def reduce(self, source: Batches) -> Batches:
        """Return the rows unchanged: `finish` draws which rows of a person count."""
        return source

    def within_bounds(self, source: Batches, generator: Generator) -> Table:
        """Return this mechanism with its bounds drawn from all rows that count."""
        drawn = self._drawn
        if not drawn:
            return self
        bounds = {name: stat.bounds for name, stat in drawn.items()}
        first = replace(self, statistics=bounds, rule=None)
        _, sums = first.group_sums(source, generator.stream())
        bounded = {
            name: stat.make(stat.draw(sums.rooms[name], generator)) for name, stat in drawn.items()
        }
        return replace(self, statistics={**self.statistics, **bounded})

    def finish(self, summary: Batches, generator: Generator) -> Answer:
        return self.within_bounds(summary, generator).answer(summary, generator)

    def answer(self, summary: Batches, generator: Generator) -> Answer:
        """Release the answer of a mechanism whose bounds are all known."""
        stream = generator.stream()
        coder, summed = self.group_sums(summary, stream)
        kept = None
        columns: dict[str, NDArray[Any]] = {}
        if isinstance(coder, PrivateCoder):
            order = coder.order()
            kept = order[self._shown(summary, coder, summed, order, stream)]
            columns = coder.columns(kept)
            rise = ascending(columns)
            kept, columns = kept[rise], {name: keys[rise] for name, keys in columns.items()}
        elif isinstance(self.keys, PublicKeys):
            columns = self.keys.columns()
        return self._answer(summed, coder.groups, kept, columns, generator)

    def _shown(
        self,
        source: Batches,
        coder: PrivateCoder,
        summary: Summary | Partial,
        order: NDArray[np.int64],
        stream: BitStream,
    ) -> RowFlags:
        """Return which private keys partition selection shows, a flag for each in `order`."""
        assert self.rule is not None
        shown = self.rule.keep(summary.rooms[None][order].reshape(-1).view(np.int64), stream)
        if isinstance(self.rule.after, Round):
            if isinstance(summary, Summary):
                assert self.persons is not None
                before = np.empty(len(order), np.bool_)
                before[order] = shown
                room = summary.weights(self.rule.after, self.persons.max_groups, before)
            else:
                first_round = Partial(int(shown.sum()), coder.columns(order[shown]), {}, {})
                again = replace(self, statistics={}, rule=self.rule.after, shown=first_round)
                room = again._told_of(source, coder)
            shown |= self.rule.after.keep(room[order].reshape(-1).view(np.int64), stream)
        return shown

    def _told_of(self, source: Batches, coder: PrivateCoder) -> NDArray[np.uint64]:
        """Return the summed weights of people in each group, by a second pass of an engine."""
        assert source.of_engine is not None
        _, weights = gathered(self, source.of_engine, _rng.check(None).stream())
        room = np.zeros((coder.groups, 1), np.uint64)
        codes = coder.codes(as_rows(weights))
        if coder.groups > len(room):
            raise DataError("the keys changed between two passes: pass data that do not change")
        room[codes] = weights.rooms[None][: weights.groups]
        return room

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of a group of `rows` rows, by name for several statistics."""
        every: Mapping[str, ByGroup] = self.statistics
        bars = {name: stat.expected(rows, confidence) for name, stat in every.items()}
        about = filter(None, [str(self.persons or "")])
        if len(bars) == 1:
            (bar,) = bars.values()
            return replace(bar, note="; ".join(filter(None, [bar.note, *about])))
        if not bars:  # only private keys were requested
            return unknown(confidence, KEYS)
        notes = "; ".join([*(f"{name}: {bar.note}" for name, bar in bars.items()), *about])
        widths = {name: bar.half_width for name, bar in bars.items()}
        return ErrorBar(confidence, widths, {name: bar.ranks for name, bar in bars.items()}, notes)

    def totals(self, answer: Answer) -> Answer:
        """Return the sums of counts and sums over all groups, with their error bars."""
        totals, groups, every = Answer(), answer.groups, self.statistics.items()
        for name, statistic in every:
            if statistic.adds_up:
                *numbers, bars = statistic.names(name)
                totals |= {key: answer[key].sum(keepdims=True) for key in numbers}
                width = np.array([statistic.total_error(groups, 1 - CONFIDENCE)])
                totals[bars] = bars_like(answer[bars], width, statistic.units)
        lost = self.statistics.get(LOST)
        if isinstance(lost, Lost):
            lost.widen(totals, self.statistics, lambda stat, rare: stat.total_error(groups, rare))
        refused = ", ".join(repr(name) for name, statistic in every if not statistic.adds_up)
        notes = [answer.note, f"no totals of {refused}: {NO_TOTAL}" if refused else ""]
        totals.note = "; ".join(filter(None, notes))
        return totals

    # --- passes -----------------------------------------------------------------------------------

    @property
    def counted(self) -> dict[str | None, Any]:
        """Return the statistics, and under None the count of each key for partition selection."""
        counted: dict[str | None, Any] = dict(self.statistics.items())
        return counted if self.rule is None else {**counted, None: Counted()}

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the names of the columns of keys and of statistics."""
        columns = [name for stat in self.statistics.values() for name in stat.reads]
        return tuple(dict.fromkeys([*self.keys.by, *columns]))

    @property
    def noise_parameters(self) -> dict[str, Any]:
        """Return the noise parameters of the only statistic, or of several by name."""
        every = {name: stat.noise_parameters for name, stat in self.statistics.items()}
        return every if len(every) != 1 else next(iter(every.values()))

    def group_sums(self, source: Batches, stream: BitStream) -> tuple[Coder, Summary | Partial]:
        """Return the coder of groups and the exact sums, from memory, a database or an engine."""
        statistics = self.statistics.values()
        numbers = [name for kind in statistics if kind.adds_numbers for name in kind.reads]
        rows = source.adding(list(dict.fromkeys(numbers)))
        if rows is not None:
            return added(self, rows, stream)
        if source.of_engine is None:
            return self.summed(source, stream)
        return gathered(self, source.of_engine, stream)

    def summed(self, source: Batches, stream: BitStream) -> tuple[Coder, Summary]:
        """Return the coder of groups and the exact sums of the rows that count, read here."""
        if self.persons is None:
            grouped = Grouped(self.keys.coder(secret(stream)))
        else:
            key = (type(self.keys), self.keys.by, self.persons, self.chooses_rows)
            grouped = source.alike(key, partial(self._bounded, source, stream, self.persons))
        return grouped.coder, self._summed(source, grouped)

    def _bounded(self, source: Batches, stream: BitStream, persons: Persons) -> Grouped:
        """Return the coders of groups and people, and the rows of each person that are kept."""
        coder, key = self.keys.coder(secret(stream)), secret(stream)
        if self.shown is not None:  # so that shown groups get the first codes
            coder.codes(as_rows(self.shown))
        kept_rows = self._kept_rows(source, coder, persons, key) if self.chooses_rows else None
        return Grouped(coder, kept_rows, UnitCodes(key))

    def _kept_rows(self, source: Batches, coder: Coder, persons: Persons, key: Key) -> RowFlags:
        """Return which rows contribution bounding keeps."""
        bounding = Bounding(persons.max_groups, persons.max_rows, key)
        by = self.keys.by
        source.tie([persons.column, *by], key)
        extra = [*by, WHERE] if source.has(WHERE) else by
        codes = partial(_grouped, coder)
        return marks_of(source, persons.column, bounding, codes, extra, by, coder.names)

    def _summed(self, source: Batches, grouped: Grouped) -> Summary:
        """Return the exact sums, and the rows for quantiles, of all groups."""
        spare: list[Summary] = []
        lock, persons = Lock(), self.persons

        def summarise(batch: Batch) -> None:
            with lock:
                summary = spare.pop() if spare else Summary(self, grouped)
            if batch.rows:
                ids = None if persons is None else batch.columns[persons.column]
                summary.add(batch, *grouped.codes(batch, ids))
            with lock:
                spare.append(summary)

        text = [stat.column for stat in self.statistics.values() if stat.is_text and stat.column]
        mask_column = [WHERE] if source.has(WHERE) else []
        ids = [] if persons is None else [persons.column]
        columns = [*self.reads, *mask_column, *ids]
        source.reduce(columns, [*self.keys.by, *text, *ids], summarise, lambda a, b: None)
        total = spare.pop()
        for more in spare:
            total.merge(more)
        if persons is not None:
            total.bound(persons.max_groups)
            if isinstance(self.rule, Round):
                shown_before = self.shown and np.arange(grouped.coder.groups) < self.shown.groups
                total.rooms[None] = total.weights(self.rule, persons.max_groups, shown_before)
        return total

    # --- the answer -------------------------------------------------------------------------------

    def _answer(
        self,
        summed: Summary | Partial,
        groups: int,
        kept: NDArray[np.int64] | None,
        columns: dict[str, NDArray[Any]],
        generator: Generator,
    ) -> Answer:
        answer = Answer(columns)
        answer.by, answer.sum_groups = [*columns], self.totals
        for name, statistic in self.statistics.items():
            nan_policy.refuse(statistic.nan, summed.missing[name])
            statistic_columns = statistic.columns(name, summed.rooms[name], groups, kept, generator)
            if isinstance(statistic, Top):
                (chosen,) = statistic_columns.values()
                return Answer({name: column[chosen] for name, column in columns.items()})
            answer.update(statistic_columns)
        if self.persons is not None:
            answer.note, lost = str(self.persons), self.statistics.get(LOST)
            if isinstance(lost, Lost):
                lost.widen(answer, self.statistics, lambda stat, rare: stat.error(rare))
        return answer


@dataclass(frozen=True, slots=True)
class Grouped:
    """The coder of groups and the chosen rows of people, shared by concurrent releases.

    With ids there are codes of people in groups, and flags of rows if rows are chosen.

    *Proof.* The kept rows are a function of the rows, and of fresh secret keys that do not depend
    on rows. For each value of these keys, a release satisfies its loss. So for each value of the
    keys, releases that share them satisfy the sum of their losses. Hence the sum also holds on
    average over the keys.
    """

    coder: Coder
    kept_rows: RowFlags | None = None
    units: UnitCodes | None = None
    _last: local = field(default_factory=local)

    def codes(self, batch: Batch, ids: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the group of each row of a batch, and the code of its person in that group.

        If rows are chosen, all other rows have the group -1 in the first array. Callers may change
        neither array.
        """
        if self.units is None:
            codes = _grouped(self.coder, batch)
            return codes, codes
        last, rows = vars(self._last), (batch.start, batch.rows)
        # Computed once for each batch, because several statistics ask for it in turn.
        if last.get("rows") != rows:
            codes = _grouped(self.coder, batch)
            units = self.units.of(ids, codes)
            if self.kept_rows is not None:
                kept_rows = self.kept_rows[batch.start : batch.start + batch.rows]
                codes = np.where(kept_rows, codes, np.int32(-1))
            last.update(rows=rows, codes=codes, units=units)
        return last["codes"], last["units"]


class Summary:
    """The exact sums of all groups, in one accumulator (room) for each statistic.

    With private keys, one more accumulator has the number of people of each key. Until
    contributions are bounded, sums are stored for each person in each group.
    """

    def __init__(self, table: Table, grouped: Grouped) -> None:
        self._grouped, self.statistics = grouped, table.counted
        self.rooms: dict[str | None, Any] = {
            name: statistic.room(self._size(statistic))
            for name, statistic in self.statistics.items()
        }
        self.missing = dict.fromkeys(self.statistics, 0)

    def _size(self, statistic: Any) -> int:
        units = self._grouped.units
        in_units = units is not None and statistic.adds_units
        return len(units) if units is not None and in_units else self._grouped.coder.groups

    def grow(self) -> None:
        """Enlarge the accumulators to all groups and people seen so far."""
        for name, room in self.rooms.items():
            if isinstance(room, np.ndarray):
                self.rooms[name] = grown(room, self._size(self.statistics[name]))

    def add(self, batch: Batch, codes: NDArray[np.int32], units: NDArray[np.int32]) -> None:
        """Add the rows of a batch, by the codes of groups and of people in groups."""
        self.grow()
        read: dict[tuple[Any, ...], Any] = {}
        for name, statistic in self.statistics.items():
            way = statistic.reading
            if way not in read:
                read[way] = statistic.read(batch.columns)
            chosen = units if statistic.adds_units else codes
            self.missing[name] += statistic.add(self.rooms[name], chosen, read[way])

    def bound(self, max_groups: int | None) -> None:
        """Replace the sums of each person by bounded sums by group."""
        coder, units = self._grouped.coder, self._grouped.units
        assert units is not None
        codes = units.groups(max_groups, coder.names())
        for name, statistic in self.statistics.items():
            if statistic.adds_units:
                room = self.rooms[name]
                room = room[: len(codes)] if isinstance(room, np.ndarray) else room
                at = units.owners() if statistic.by_unit else codes
                self.rooms[name] = statistic.bound(room, at, coder.groups)

    def weights(
        self, rule: Round, max_groups: int | None, shown: RowFlags | None = None
    ) -> NDArray[np.uint64]:
        """Return the summed weights of people in each group; `shown` groups do not count."""
        coder, units = self._grouped.coder, self._grouped.units
        assert units is not None
        groups = units.groups(max_groups, coder.names(), shown)
        people, groups = units.owners()[groups >= 0], groups[groups >= 0]
        weights = rule.weights(np.bincount(people))[people]
        room = np.bincount(groups, weights, coder.groups + 1)  # exact, because sums are below 2**53
        return room.astype(np.uint64).reshape(-1, 1)

    def merge(self, other: Summary) -> None:
        """Add the sums of another summary."""
        self.grow()
        for name, room in self.rooms.items():
            self.missing[name] += other.missing[name]
            self.statistics[name].merge(room, other.rooms[name])


def used(batches: Batches, where: Any, relation: str) -> Batches:
    """Return the batches with the mask `where` of rows to use, for one release."""
    if where is None:
        return batches.once()
    if batches.adding([]) is not None or is_expression(where):
        return batches.filtered(where).once()
    row_mask = mask(where, batches.length, relation)
    assert row_mask is not None
    return batches.with_beside(WHERE, Values(row_mask, row_mask, row_index=index_of(where))).once()


def _grouped(coder: Coder, batch: Batch) -> NDArray[np.int32]:
    """Return the group code of each row of a batch, -1 for rows that are left out."""
    codes = coder.codes(batch)
    if WHERE in batch.columns:
        codes[~batch.columns[WHERE].array] = -1  # type: ignore[union-attr]
    return codes
