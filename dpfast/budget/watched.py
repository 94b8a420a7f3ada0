"""Show the releases of a program to a test that runs it on neighbors (`dpfast.audit.replay`).

The test compares what a release reads in two runs. If it reads rows, few enough rows may differ. A
row is compared together with its mask, its weight and its id, and with its entry in any other
argument of that length. If a release gets numbers that the program computed (`OfNumbers`), the
release itself tells how much two of them differ.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, partial
from types import FunctionType
from typing import Any, Protocol

import numpy as np

from .._core import checks
from ..tables.base import RowChunk, RowSource, Source
from ..tables.batches import WHERE, Batch, Batches
from ..tables.ids import as_list
from ..tables.intake import View
from ..tables.memory import Column
from ..tables.people import IdColumn
from .mechanism import Mechanism, Value
from .release import WATCHER


class OfNumbers(Mechanism[Value]):
    """Base of mechanisms that add noise to numbers of the user, with a stated sensitivity."""

    __slots__ = ()

    @abstractmethod
    def excess(self, source: Any, other: Any) -> str:
        """Return the reason why two sources cannot be neighbors, or "" if they can be."""


class Session(Mechanism[Value]):
    """Base of sessions: they spend once and then give many answers, which no watcher sees."""

    __slots__ = ()


@dataclass(frozen=True)
class WatchedRelease:
    """A release that a program ran, and its answer.

    Attributes
    ----------
    mechanism : Mechanism
    source : object
        The data that the mechanism read.
    answer : object
    name : str
    is_session : bool
        Whether the release is a session, whose answers come later.
    """

    mechanism: Any
    source: Any
    answer: Any

    @property
    def name(self) -> str:
        return str(self.mechanism.name)

    @property
    def is_session(self) -> bool:
        return isinstance(self.mechanism, Session)

    def differences(self, other: WatchedRelease) -> list[str] | None:
        """Return the reasons why the data of two releases are not neighbors; None if unknown."""
        if isinstance(self.mechanism, OfNumbers):
            words = self.mechanism.excess(self.source, other.source)
            return [words] if words else []
        if self.rows is None or other.rows is None:
            return None
        return self.rows.differences(other.rows, self.mechanism.neighbors)

    def compared_ids(self, other: WatchedRelease) -> set[int]:
        """Return the `id` of each argument with an entry for each row that is compared."""
        if self.rows is None or other.rows is None:
            return set()
        paths = self.rows.entries.keys() & other.rows.entries
        return {id(self.rows.entries[path][0]) for path in paths}

    @cached_property
    def rows(self) -> Rows | None:
        """The values of each row that the release reads; None if they cannot be listed."""
        if isinstance(self.mechanism, OfNumbers):
            return None
        source = self.source
        data, ids = (source.source, source.ids) if isinstance(source, View) else (source, None)
        if isinstance(data, Batches):
            rows, people = _of_table(self.mechanism, data, data is not source)
        else:
            rows, people = _rows(data)
        if ids is not None:
            engine = ids.rows.of_engine is not None
            people = None if engine else [person for (person,) in _read(ids.rows, [ids.column])]
            rows = None if people is None else rows
        if rows is None or (people is not None and len(people) != len(rows)):
            return None
        return Rows(rows, people, _entries(self.mechanism, source, len(rows), data))


class Watcher(Protocol):
    """An object that sees each release of a program after its run."""

    def turn(self, release: WatchedRelease) -> Any:
        """Return the answer that the program gets, for instance ``release.answer``.

        Parameters
        ----------
        release : WatchedRelease

        Returns
        -------
        object
        """


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Show each release of a ``with`` block to a watcher, which may replace the answer.

    NOT PRIVATE: the watcher sees rows. Use it in tests, with made-up data.

    Parameters
    ----------
    watcher : object
        After each release, ``watcher.turn(release)`` is called. Its return value is the answer that
        the program gets. ``release`` has the attributes `name`, `mechanism`, `source` and `answer`.
        ``release.differences(other)`` lists the reasons why the data of two releases are not
        neighbors.

    Returns
    -------
    context manager

    Raises
    ------
    ArgumentTypeError
        If `watcher` has no method `turn`.

    Examples
    --------
    >>> import dpfast as dp
    >>> class Printing:
    ...     def turn(self, release):
    ...         print(release.name)
    ...         return 7
    >>> with dp.extend.watched(Printing()):
    ...     dp.count([1, 2, 3], epsilon=1)
    count
    7
    """
    if not callable(checks.attribute(watcher, "turn")):
        checks.fail_type("watcher", "an object with a method turn(release)", watcher)
    token = WATCHER.set(lambda *release: watcher.turn(WatchedRelease(*release)))
    try:
        yield
    finally:
        WATCHER.reset(token)


@dataclass(frozen=True)
class Rows:
    """The rows that a release reads, each with its mask, weight and id."""

    rows: list[Any]
    #: The privacy unit ids of the rows, if the release has ids.
    ids: list[Any] | None
    #: By the path in the mechanism or the data: an argument with an entry for each row, and the
    #: entries.
    entries: dict[str, tuple[Any, list[Any]]]

    def counted(self, paths: list[str]) -> dict[Any, Counter[Any]]:
        """Count equal rows, with their entries, for each id. Without ids the only key is 0."""
        rows = zip(self.rows, *(self.entries[path][1] for path in paths), strict=True)
        counts: dict[Any, Counter[Any]] = {}
        for person, row in zip(self.ids or [0] * len(self.rows), rows, strict=True):
            counts.setdefault(person, Counter())[_key(row)] += 1
        return counts

    def differences(self, other: Rows, relation: str) -> list[str]:
        """Return the reasons why the rows of two releases are not neighbors."""
        most = 2 if relation == "replace" else 1
        if relation == "replace" and self.ids is None and len(self.rows) != len(other.rows):
            numbers = f"there are {len(self.rows)} rows on x and {len(other.rows)} on x2"
            return [f"{numbers}, under replace"]
        paths = [path for path in self.entries if path in other.entries]
        first, second = self.counted(paths), other.counted(paths)
        if self.ids is not None:
            people = sum(first.get(person) != second.get(person) for person in {*first, *second})
            return [] if people <= most else [f"{people} people differ, where {most} may"]
        x, x2 = (counts.get(0, Counter()) for counts in (first, second))
        different = ((x - x2) + (x2 - x)).total()
        return [] if different <= most else [f"{different} rows differ, where {most} may"]


def _entries(mechanism: Any, source: Any, n: int, data: Any) -> dict[str, tuple[Any, list[Any]]]:
    """Return each array or column, in a mechanism or a view, that has an entry for each row.

    So every argument with an entry for each row is compared, whatever its name is. A public array
    of this length is equal in both runs, so it adds no difference.
    """
    entries: dict[str, tuple[Any, list[Any]]] = {}
    seen: dict[int, Any] = {id(data): data}
    left = [("", (mechanism, source))]
    while left:
        path, value = left.pop()
        if id(value) in seen or isinstance(value, IdColumn):
            continue
        seen[id(value)] = value
        listed: Any = None
        if isinstance(value, Column) and value.length == n:
            listed = np.empty((n,) if value.width is None else (n, value.width))
            value.fill(0, n, listed)
        elif isinstance(value, (Source, RowSource)) and value.length == n:
            listed = _rows(value)[0]
        elif checks.has(value, "__array__") and np.shape(value)[:1] == (n,):
            listed = np.asarray(value)
        if listed is not None:
            entries[path] = value, as_list(listed)
        else:
            left += [(f"{path}.{name}", part) for name, part in _parts(value).items()]
    return entries


def _parts(value: Any) -> dict[Any, Any]:
    """Return the fields of a mechanism, and the arguments that its functions hold."""
    if is_dataclass(value):
        return {f.name: getattr(value, f.name, None) for f in fields(value)}
    if isinstance(value, partial):
        return dict(enumerate((value.func, *value.args, *value.keywords.values())))
    if isinstance(value, FunctionType) and value.__module__.startswith("dpfast."):
        return {i: cell.cell_contents for i, cell in enumerate(value.__closure__ or ())}
    return dict(enumerate(value)) if isinstance(value, (tuple, list)) else {}


def _of_table(mechanism: Any, batches: Batches, is_whole: bool) -> tuple[Any, Any]:
    """Return the columns that a release by group reads, row by row, and the id of each row.

    If the table is in a view, all columns are read, and the ids are in the view.
    """
    if is_whole:
        names = [*batches.names, *([WHERE] if batches.has(WHERE) else [])]
        return None if batches.of_engine is not None else _read(batches, names), None
    persons = mechanism.persons
    names = [*mechanism.reads, *([persons.column] if persons else [])]
    names += [WHERE] if batches.has(WHERE) else []
    if batches.of_engine is not None:
        return None, None
    rows = _read(batches, names)
    return rows, None if persons is None else [row[names.index(persons.column)] for row in rows]


def _read(batches: Batches, names: list[str]) -> list[tuple[Any, ...]]:
    """Return some columns of a table, row by row."""

    def rows(batch: Batch) -> list[tuple[Any, ...]]:
        return list(zip(*(as_list(batch.columns[name]) for name in names), strict=True))

    return batches.reduce(names, names, rows, lambda a, b: a + b)


def _rows(source: Any) -> tuple[Any, Any]:
    """Return the rows of data and their ids if any; None for rows that cannot be read."""
    if isinstance(source, list):
        columns = [_rows(table)[0] for table in source]
        whole = None not in columns and len({*map(len, columns)}) == 1
        return (list(zip(*columns, strict=True)) if whole else None), None
    if isinstance(source, np.ndarray):
        return source.tolist() if source.ndim else None, None
    if not isinstance(source, (Source, RowSource)):
        return None, None
    try:
        chunks = source.reduce(_of_chunk, lambda a, b: a + b)
    except Exception:  # an engine whose rows cannot be read here
        return None, None
    chunks.sort(key=lambda chunk: chunk[0])
    rows, ids = ([value for chunk in chunks for value in chunk[part] or ()] for part in (1, 2))
    return rows, ids or None


def _of_chunk(chunk: Any) -> list[tuple[int, list[Any], list[Any] | None]]:
    """Return the index of a chunk's first row, its rows with nulls as None, and the rows' ids."""
    if isinstance(chunk, RowChunk):
        ids = None if chunk.ids is None else as_list(chunk.ids)
        return [(chunk.start, chunk.rows.tolist(), ids)]
    rows = chunk.values.tolist()
    if chunk.nulls and chunk.present is not None:
        values = iter(rows)
        rows = [next(values) if there else None for there in chunk.present.tolist()]
    elif chunk.nulls:  # nulls without a position
        rows += [None] * chunk.nulls
    return [(chunk.start, rows, None)]


def _key(row: Any) -> Any:
    if isinstance(row, (list, tuple, np.ndarray)):
        return tuple(map(_key, row))
    return "NaN" if isinstance(row, float) and math.isnan(row) else row
