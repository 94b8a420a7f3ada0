"""Several statistics of groups of rows for one loss: the mechanism behind `group_by`.

The loss is the sum of that of the statistics and, where keys are private, of the rule that shows
them. What the sensitivity of each is, and what its draws may cost, is said in `step`.

With ids sums are those of each person in each group, of which a part counts (`summaries.units`), in
the groups that a person keeps (`unit_codes`). For ranks and found bounds a first pass tells which
rows of a person are kept (`tables.bounding`): that is a function of this person's rows and of a
fresh secret key alone. Rows of no group and rows of nobody are left out before that. Then all
statistics are made in one pass.
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

#: Why a statistic has no total.
NO_TOTAL = "only counts and sums add up, where none is cut at 0"
ByGroup: TypeAlias = Sums | Quantiles | WithBounds


@dataclass(frozen=True, slots=True)
class Persons:
    """Whose row each row is, and how many rows of a person are kept.

    Parameters
    ----------
    column : str
        The column of ids.
    max_groups, max_rows : int, "auto" or None
        None for all.
    rows_limit : int or None
        What is public of the rows of a person in a group; None for nothing.
    name : str
        The name of the ids for the budget; "" if they have none.
    """

    column: str
    max_groups: Any
    max_rows: Any
    name: str = ""
    rows_limit: int | None = None

    def __str__(self) -> str:
        """Say what counts of a person, and what error bars know of it."""
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
    """Statistics by group.

    Parameters
    ----------
    name : str
    keys : PublicKeys or PrivateKeys
    statistics : mapping of names to Sums, Quantiles or WithBounds
        In the pass for bounds these alone, as GroupBounds.
    neighbors : str
    persons : Persons, optional
    rule : PartitionSelection, optional
        Of private keys.
    shown : Partial, optional
        In the partitions of an engine, in a second round: which keys the first one has shown.
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
        """Return whose loss it is, for the budget; None for rows."""
        return None if self.persons is None else self.persons.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Return the public parameters; of public keys, their columns."""
        fields = super(Table, self).parameters
        return fields | ({"keys": self.keys.columns()} if isinstance(self.keys, PublicKeys) else {})

    @property
    def loss(self) -> Loss:
        """Return what all of it costs."""
        losses = [statistic.loss for statistic in self.statistics.values()]
        if self.rule is not None:
            losses.append(self.rule.loss)
        return losses[0] if len(losses) == 1 else privacy.compose(*losses)

    @property
    def parts(self) -> dict[str, Loss]:
        """Return what the loss is made of, where a part of it is for bounds."""
        drawn = self._drawn
        if not drawn:
            return super(Table, self).parts
        losses = {name: stat.loss for name, stat in self.statistics.items()}
        for name, stat in drawn.items():
            losses[f"bounds of {name}"], losses[name] = stat.parts
        return losses if self.rule is None else {**losses, "keys": self.rule.loss}

    @property
    def missing(self) -> Any:
        """Return what becomes of missing rows, by name unless it is the same in all statistics."""
        stats = self.statistics.items()
        policies = {name: stat.nan for name, stat in stats if stat.nan is not None}
        every = {*policies.values()}
        return policies if len(every) > 1 else next(iter(every), None)

    @property
    def of_ranks(self) -> bool:
        """Return whether rows are kept until it is known which groups there are."""
        return any(isinstance(stat, Quantiles) for stat in self._likes)

    @property
    def passes(self) -> int:
        """Return 1, and one before that chooses rows of people; and both for bounds."""
        drawn = self._drawn.values()
        chosen = self.persons is not None and not all(stat.bounds.adds_units for stat in drawn)
        return 1 + self.chooses_rows + bool(drawn) + chosen

    @property
    def chooses_rows(self) -> bool:
        """Return whether rows of people are chosen, and not only bounded by their sums."""
        return self.persons is not None and not all(stat.adds_units for stat in self._likes)

    @property
    def _likes(self) -> list[Any]:
        """The statistics; in the place of one whose bounds are drawn, one within other bounds."""
        every = self.statistics.values()
        return [stat.like if isinstance(stat, WithBounds) else stat for stat in every]

    @property
    def _drawn(self) -> dict[str, WithBounds]:
        """The statistics whose bounds are drawn."""
        every = self.statistics.items()
        return {name: stat for name, stat in every if isinstance(stat, WithBounds)}

    def reduce(self, source: Batches) -> Batches:
        """Return the rows as they are: what is kept of them is random."""
        return source

    def within_bounds(self, source: Batches, generator: Generator) -> Table:
        """Return the same with bounds that are drawn from all rows that count."""
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
        """Return the answer, where all bounds are known."""
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
        """Return which private keys are shown, in an order of theirs."""
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
        """Return what people in an engine count for in each group, by codes that there are."""
        assert source.of_engine is not None
        _, weights = gathered(self, source.of_engine, _rng.check(None).stream())
        room = np.zeros((coder.groups, 1), np.uint64)
        codes = coder.codes(as_rows(weights))
        if coder.groups > len(room):
            raise DataError("the keys changed between two passes: pass data that do not change")
        room[codes] = weights.rooms[None][: weights.groups]
        return room

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of a group of so many rows; those of several statistics by name."""
        every: Mapping[str, ByGroup] = self.statistics
        bars = {name: stat.expected(rows, confidence) for name, stat in every.items()}
        about = filter(None, [str(self.persons or "")])
        if len(bars) == 1:
            (bar,) = bars.values()
            return replace(bar, note="; ".join(filter(None, [bar.note, *about])))
        if not bars:  # private keys alone
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
        """Return the statistics, and the number of people of each key where a rule asks for it."""
        counted: dict[str | None, Any] = dict(self.statistics.items())
        return counted if self.rule is None else {**counted, None: Counted()}

    @property
    def reads(self) -> tuple[str, ...]:
        """Return the columns of keys and of statistics."""
        columns = [name for stat in self.statistics.values() for name in stat.reads]
        return tuple(dict.fromkeys([*self.keys.by, *columns]))

    @property
    def noise_parameters(self) -> dict[str, Any]:
        """Return those of the only statistic, or of several by name."""
        every = {name: stat.noise_parameters for name, stat in self.statistics.items()}
        return every if len(every) != 1 else next(iter(every.values()))

    def group_sums(self, source: Batches, stream: BitStream) -> tuple[Coder, Summary | Partial]:
        """Return the sums of all rows that count, wherever they are, and the codes of groups."""
        statistics = self.statistics.values()
        numbers = [name for kind in statistics if kind.adds_numbers for name in kind.reads]
        rows = source.adding(list(dict.fromkeys(numbers)))
        if rows is not None:
            return added(self, rows, stream)
        if source.of_engine is None:
            return self.summed(source, stream)
        return gathered(self, source.of_engine, stream)

    def summed(self, source: Batches, stream: BitStream) -> tuple[Coder, Summary]:
        """Return the sums of the rows that count, and the codes of groups."""
        if self.persons is None:
            grouped = Grouped(self.keys.coder(secret(stream)))
        else:
            key = (type(self.keys), self.keys.by, self.persons, self.chooses_rows)
            grouped = source.alike(key, partial(self._bounded, source, stream, self.persons))
        return grouped.coder, self._summed(source, grouped)

    def _bounded(self, source: Batches, stream: BitStream, persons: Persons) -> Grouped:
        """Return the codes of groups and of people, and which rows of these are chosen."""
        coder, key = self.keys.coder(secret(stream)), secret(stream)
        if self.shown is not None:  # they have the first codes
            coder.codes(as_rows(self.shown))
        kept_rows = self._kept_rows(source, coder, persons, key) if self.chooses_rows else None
        return Grouped(coder, kept_rows, UnitCodes(key))

    def _kept_rows(self, source: Batches, coder: Coder, persons: Persons, key: Key) -> RowFlags:
        """Return which rows are kept."""
        bounding = Bounding(persons.max_groups, persons.max_rows, key)
        by = self.keys.by
        source.tie([persons.column, *by], key)
        extra = [*by, WHERE] if source.has(WHERE) else by
        codes = partial(_grouped, coder)
        return marks_of(source, persons.column, bounding, codes, extra, by, coder.names)

    def _summed(self, source: Batches, grouped: Grouped) -> Summary:
        """Return the sums and the rows of all groups."""
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
    """The codes of groups and, of people, which rows are kept; concurrent releases may share it.

    Of people there are codes in groups, and flags if rows of theirs are chosen.

    *Proof.* What is kept is a function of the rows and of fresh keys that depend on no row. For
    each value of these keys a release satisfies its loss. So releases that share the keys satisfy
    the sum of their losses given the keys, and hence on average over them.
    """

    coder: Coder
    kept_rows: RowFlags | None = None
    units: UnitCodes | None = None
    _last: local = field(default_factory=local)

    def codes(self, batch: Batch, ids: Any) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the codes of the rows of a batch, and those of people in groups.

        The first are of the rows that are chosen, where some are. Nobody may change either.
        """
        if self.units is None:
            codes = _grouped(self.coder, batch)
            return codes, codes
        last, rows = vars(self._last), (batch.start, batch.rows)
        if last.get("rows") != rows:  # the same rows for all that share them, one by one
            codes = _grouped(self.coder, batch)
            units = self.units.of(ids, codes)
            if self.kept_rows is not None:
                kept_rows = self.kept_rows[batch.start : batch.start + batch.rows]
                codes = np.where(kept_rows, codes, np.int32(-1))
            last.update(rows=rows, codes=codes, units=units)
        return last["codes"], last["units"]


class Summary:
    """What is added up of the rows of all groups, one room for each statistic.

    Where keys are private there is one more, for the number of people of each key. Until they are
    bounded, sums of people are those of each of them in each group.
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
        """Make room for all groups and people that there are."""
        for name, room in self.rooms.items():
            if isinstance(room, np.ndarray):
                self.rooms[name] = grown(room, self._size(self.statistics[name]))

    def add(self, batch: Batch, codes: NDArray[np.int32], units: NDArray[np.int32]) -> None:
        """Add the rows of a batch, whose codes are given, and those of people."""
        self.grow()
        read: dict[tuple[Any, ...], Any] = {}
        for name, statistic in self.statistics.items():
            way = statistic.reading
            if way not in read:
                read[way] = statistic.read(batch.columns)
            chosen = units if statistic.adds_units else codes
            self.missing[name] += statistic.add(self.rooms[name], chosen, read[way])

    def bound(self, max_groups: int | None) -> None:
        """Leave of sums of people what counts, by group."""
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
        """Return what people count for in each group, where those that are `shown` do not count."""
        coder, units = self._grouped.coder, self._grouped.units
        assert units is not None
        groups = units.groups(max_groups, coder.names(), shown)
        people, groups = units.owners()[groups >= 0], groups[groups >= 0]
        weights = rule.weights(np.bincount(people))[people]
        room = np.bincount(groups, weights, coder.groups + 1)  # exact below 2**53
        return room.astype(np.uint64).reshape(-1, 1)

    def merge(self, other: Summary) -> None:
        """Add what another has added up."""
        self.grow()
        for name, room in self.rooms.items():
            self.missing[name] += other.missing[name]
            self.statistics[name].merge(room, other.rooms[name])


def used(batches: Batches, where: Any, relation: str) -> Batches:
    """Return the rows with the mask of those that are used, for one release."""
    if where is None:
        return batches.once()
    if batches.adding([]) is not None or is_expression(where):
        return batches.filtered(where).once()
    row_mask = mask(where, batches.length, relation)
    assert row_mask is not None
    return batches.with_beside(WHERE, Values(row_mask, row_mask, row_index=index_of(where))).once()


def _grouped(coder: Coder, batch: Batch) -> NDArray[np.int32]:
    """Return the codes of the rows of a batch, -1 for those that are left out."""
    codes = coder.codes(batch)
    if WHERE in batch.columns:
        codes[~batch.columns[WHERE].array] = -1  # type: ignore[union-attr]
    return codes
