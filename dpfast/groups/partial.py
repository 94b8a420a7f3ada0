"""Summaries by group of the partitions of an engine, and how summaries are merged.

A worker summarizes each partition as if it were a whole table. In every summary a public key has
the same index. A private key is sent together with its sums, and gets a common code when two
summaries are merged. If rows belong to people, the engine first brings all rows of a person into
one partition. The worker then chooses which of them count, by a fresh key, as for a table in
memory.

No secret key and no generator is sent: each worker makes its own key. Summaries do not change after
they are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import rng as _rng
from .._kernels.rng import BitStream
from .._kernels.tables import Key
from ..errors import DataError
from ..summaries.sparse import Sparse
from ..tables.batches import Batch, Batches
from ..tables.columns import chosen
from ..tables.engine import Engine, Task
from ..tables.forms import Readable, column_form
from ..tables.key_words import secret
from .automatic_bounds import Tails
from .keys import Coder, PrivateCoder, PrivateKeys, PublicKeys
from .rows import Packed, Rows

S = TypeVar("S")


class Partial(NamedTuple):
    """The summary of a partition: sums by group of each statistic, and the keys, if private."""

    groups: int
    keys: Mapping[str, NDArray[Any]] | None
    rooms: Mapping[str | None, Any]
    missing: Mapping[str | None, int]


class Whole(NamedTuple):
    """The table of a partition, summarized as a single chunk."""

    rows: int
    table: Batches

    def reduce(self, summarise: Callable[[Whole], S], merge: Callable[[S, S], S]) -> S:
        return summarise(self)


@dataclass(frozen=True)
class AsWhole:
    """A function that makes one table of some columns of a partition."""

    names: Sequence[str]

    def __call__(self, table: Readable) -> Whole:
        batches = Batches(chosen(table, self.names))
        return Whole(batches.length or 0, batches)


class Summable(Protocol):
    """The interface of a mechanism whose sums by group are computed in partitions."""

    @property
    def keys(self) -> PublicKeys | PrivateKeys: ...
    @property
    def persons(self) -> Any: ...
    @property
    def counted(self) -> Mapping[str | None, Any]: ...
    @property
    def reads(self) -> tuple[str, ...]: ...
    def summed(self, source: Batches, stream: BitStream) -> tuple[Coder, Any]: ...


@dataclass(frozen=True)
class Summarise:
    """A function that summarizes a partition: the sums by group of each statistic."""

    table: Summable

    def __call__(self, whole: Whole) -> Partial:
        coder, summary = self.table.summed(whole.table, _rng.check(None).stream())
        keys = None
        if isinstance(coder, PrivateCoder):
            keys = coder.columns(np.arange(coder.groups))
        rooms = {
            name: room[: coder.groups + 1] if isinstance(room, np.ndarray) else room.packed()
            for name, room in summary.rooms.items()
        }
        return Partial(coder.groups, keys, rooms, summary.missing)


@dataclass(frozen=True)
class Merge:
    """A function that merges the summaries of two partitions into a third summary."""

    table: Summable

    def __call__(self, a: Partial, b: Partial) -> Partial:
        _, both = put_together(self.table, [a, b], secret(_rng.check(None).stream()))
        return both


def put_together(table: Summable, parts: Sequence[Partial], key: Key) -> tuple[Coder, Partial]:
    """Return the coder of the groups of all summaries, and the summary that merges them."""
    coder, keys = table.keys.coder(key), None
    codes_of_parts = [np.arange(part.groups, dtype=np.int32) for part in parts]
    if isinstance(coder, PrivateCoder):
        codes_of_parts = [coder.codes(as_rows(part)) for part in parts]
        for part, codes in zip(parts, codes_of_parts, strict=True):
            if len(np.unique(codes[codes >= 0])) < part.groups:
                raise DataError("two groups of a partition have the same key: use different keys")
        keys = coder.columns(np.arange(coder.groups))
    rooms: dict[str | None, Any] = {}
    for name, statistic in table.counted.items():
        coded_parts = zip(parts, codes_of_parts, strict=True)
        moved_rooms = [_moved(part.rooms[name], at, coder.groups) for part, at in coded_parts]
        rooms[name] = moved_rooms[0]
        for more in moved_rooms[1:]:
            if isinstance(more, Packed):
                rooms[name] = Packed(*map(np.concatenate, zip(rooms[name], more, strict=True)))
            else:
                statistic.merge(rooms[name], more)
    names = parts[0].missing
    missing = {name: sum(part.missing[name] for part in parts) for name in names}
    return coder, Partial(coder.groups, keys, rooms, missing)


def gathered(table: Summable, engine: Engine, stream: BitStream) -> tuple[Coder, Partial]:
    """Return the coder of groups, and the merged summary of all partitions, by one engine pass."""
    names = list(table.reads)
    if table.persons is not None:
        names = list(dict.fromkeys([*names, table.persons.column]))
        engine = engine.together(table.persons.column, names)
    task = Task(AsWhole(names), Summarise(table), Merge(table))
    coder, summary = put_together(table, [engine.reduce(task, names)], secret(stream))
    if table.persons is not None:
        # Takes as many random bits as a table in memory, so that the noise is the same.
        secret(stream)
    for name, room in summary.rooms.items():
        if isinstance(room, Packed):
            summary.rooms[name] = rows = Rows()  # type: ignore[index]
            rows.add(*room)
    return coder, summary


def as_rows(part: Partial) -> Batch:
    """Return the keys of a partition's summary as a batch, with a row for each group."""
    assert part.keys is not None
    columns = {name: column_form(keys, "keys", "keys") for name, keys in part.keys.items()}
    return Batch(0, part.groups, columns)


def _moved(room: Any, new_codes: NDArray[np.int32], groups: int) -> Any:
    """Return a copy of a statistic's sums (its accumulator) in which groups have new codes."""
    if isinstance(room, (Sparse, Tails)):
        return room.moved(new_codes)
    if isinstance(room, Packed):
        return Packed(new_codes[room.codes], room.cells)
    out = np.zeros((groups + 1, *room.shape[1:]), room.dtype)
    out[new_codes] = room[: len(new_codes)]
    return out
