"""Replay of a program on a neighbor with the same private answers: what differs is a leak."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from dpfast.extend import Neighbors, checks
from dpfast.privacy import ZCDP, Draws, Loss, range_within

from ..budget.allocation import Allocation
from ..budget.release import TAPE
from ..sources.base import RowChunk
from ..sources.batches import WHERE, Batch, Batches
from ..sources.forms import Arrow, Objects, Values
from ..sources.intake import Apart, View
from ..sources.memory import Column
from ..sources.people import Ids
from .answers import heard


@dataclass(frozen=True)
class Replay:
    """What a program told of its data beside its private answers.

    Attributes
    ----------
    leaks : tuple of str
        A sentence for each difference between the two runs that privacy does not allow.
    releases : int
        The private answers of the first run.
    unchecked : tuple of str
        Releases whose data could not be compared, and the error with which both runs end.
    clean : bool
        Whether there are no leaks, and nothing is unchecked.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.audit.replay(lambda rows: dp.count(rows, epsilon=1), [1, 2], [1]).clean
    True
    """

    leaks: tuple[str, ...]
    releases: int
    unchecked: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Tell whether there are no leaks, and nothing is unchecked."""
        return not (self.leaks or self.unchecked)


def replay(
    function: Callable[[Any], Any], x: Any, x2: Any, *, neighbors: Neighbors = "add-remove"
) -> Replay:
    """Run a program on x, and on its neighbor x2 with the private answers of the first run.

    NOT PRIVATE: it is for data that are made up for the test. All that a private program says or
    does is a function of its private answers. So, if these are the same, all else must be: the
    releases and their public arguments, what is returned, printed, warned of or raised. And what
    each release is given must be neighbors: rows of which one differs (of one person, where there
    are ids), scores or numbers that move by no more than the sensitivity that was declared.

    Parameters
    ----------
    function : callable
        ``function(data)`` calls dpfast. It makes its own budgets: both runs spend.
    x, x2 : object
        Two neighbors. Each is passed on as it is.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        How they differ.

    Returns
    -------
    Replay
        Leaks, as sentences. It is deterministic if the program is.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or the program opens a session (`dpfast.online`, rounds of
        `dpfast.sulq`), whose answers are more than one release.

    Notes
    -----
    One pair of runs finds what this pair shows; try several of `dpfast.audit.neighbors`. Rows are
    compared as multisets, each with its entry of all that has as many (masks, weights, ids). Of
    scores, the spread of their moves is held to what was declared. Of functions that are handed to
    a release nothing is compared. Noise that a program draws itself (`dpfast.noise`) is not
    replayed, and a program with other randomness differs from run to run, which reads as a leak.

    Cost: two runs, and a sort of the rows of each release.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> def centered(x):  # the mean of the rows moves each of them
    ...     return dp.sum(x - np.mean(x), bounds=(-1, 1), epsilon=1)
    >>> dp.audit.replay(centered, np.array([0.0, 1, 1]), np.array([0.0, 1])).leaks
    ('release 1 (sum): 5 rows differ, where 1 may',)
    """
    if not callable(function):
        checks.fail_type("function", "a function of the data", function)
    relation = checks.neighbors(neighbors)
    tape = Tape(relation)
    first = _run(function, x, tape)
    tape.rewind()
    second = _run(function, x2, tape)
    if tape.sessions:
        rule = "a program whose releases answer at once"
        checks.fail("function", rule, f"a session: {tape.sessions[0]}")
    leaks = list(tape.leaks)
    if tape.at < len(tape.turns):
        leaks.append(f"{len(tape.turns)} releases on x, and {tape.at} on x2")
    for what, a, b in zip(("result", "output", "warnings", "error"), first, second, strict=True):
        if not same(a, b):
            leaks.append(f"the {what} differs: {_short(a)} on x, and {_short(b)} on x2")
    if first[-1] is not None and first[-1] == second[-1]:
        tape.unchecked.append(f"what comes after {first[-1]}")
    return Replay(tuple(leaks), len(tape.turns), tuple(tape.unchecked))


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # whatever an object thinks of being shown
        text = type(value).__name__
    return text if len(text) < 60 else text[:57] + "..."


def _run(function: Callable[[Any], Any], data: Any, tape: Tape) -> tuple[Any, ...]:
    """Return what a run returns, prints, warns of and raises."""
    result, raised = None, None
    token = TAPE.set(tape)
    try:
        with heard() as said:
            try:
                result = function(data)
            except Exception as error:
                raised = f"{type(error).__name__}: {error}"
    finally:
        TAPE.reset(token)
    return result, *said, raised


@dataclass
class Tape:
    """The releases of the first run, which the second is given the answers of."""

    relation: str
    turns: list[tuple[Any, Any, Any]] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    at: int = 0
    again: bool = False

    def rewind(self) -> None:
        """Begin the second run."""
        self.again = True

    def turn(self, mechanism: Any, data: Any, summary: Any, answer: Any) -> Any:
        """Keep a release, or compare it with that of the first run and return its answer."""
        if isinstance(mechanism, Allocation):
            self.sessions.append(mechanism.name)
            return answer
        given = _given(mechanism, data, summary)
        if not self.again:
            self.turns.append((mechanism, given, answer))
            return answer
        self.at += 1
        if self.at > len(self.turns):
            self.leaks.append(f"release {self.at} ({mechanism.name}) is on x2 only")
            return answer
        before, kept, recorded = self.turns[self.at - 1]
        name = f"release {self.at} ({mechanism.name})"
        if type(before) is not type(mechanism) or before.name != mechanism.name:
            self.leaks.append(f"{name} is of {before.name} on x")
            return answer
        beside = set()
        if given is not None and kept is not None and given[0] == kept[0] == "rows":
            beside = {
                id(kept[1].entries[place][0]) for place in kept[1].entries.keys() & given[1].entries
            }
        for part in _moved(before, mechanism, beside):
            self.leaks.append(f"{name}: {part} is not the same on x and x2")
        if given is None or kept is None:
            self.unchecked.append(name)
        else:
            self.leaks += [f"{name}: {leak}" for leak in _excess(mechanism, kept, given)]
        return recorded


@dataclass(frozen=True)
class Rows:
    """What a release is given of each row: the row, and what has an entry for each of them."""

    rows: list[Any]
    #: The ids of rows, where the release is of people.
    ids: list[Any] | None
    #: Entries by their place in the mechanism and the data, each with the object that holds them.
    entries: dict[str, tuple[Any, list[Any]]]

    def counted(self, places: list[str]) -> dict[Any, Counter[Any]]:
        """Return how often there is each row, with its entries, by person; by 0 without people."""
        each = zip(self.rows, *(self.entries[place][1] for place in places), strict=True)
        counts: dict[Any, Counter[Any]] = {}
        for person, row in zip(self.ids or [0] * len(self.rows), each, strict=True):
            counts.setdefault(person, Counter())[_key(row)] += 1
        return counts


def _given(mechanism: Any, source: Any, summary: Any) -> Any:
    """Return what can be compared of the data that a release is given, or None."""
    if isinstance(getattr(mechanism, "moved", None), int) and isinstance(summary, int):
        return "value", summary
    if hasattr(mechanism, "norm") and hasattr(mechanism, "sensitivity"):
        return "numbers", np.asarray(source, np.float64)
    if isinstance(getattr(mechanism, "c", None), float) and isinstance(source, np.ndarray):
        return "scores", source.astype(np.float64)
    data, ids = (source.source, source.ids) if isinstance(source, View) else (source, None)
    if isinstance(data, Batches):
        rows, people = _of_table(mechanism, data)
    else:
        rows, people = _rows(data)
    if ids is not None:
        engine = ids.rows.of_engine is not None
        people = None if engine else [one for (one,) in _read(ids.rows, [ids.column])]
        rows = None if people is None else rows
    if rows is None or (people is not None and len(people) != len(rows)):
        return None
    entries = _entries(mechanism, source, len(rows), data)
    return "rows", Rows(rows, people, entries)


def _entries(mechanism: Any, source: Any, n: int, data: Any) -> dict[str, tuple[Any, list[Any]]]:
    """Return all that has as many entries as there are rows, wherever a mechanism or a view has it.

    So an argument with an entry for each row is compared whatever its name is. A public array that
    happens to be as long is the same at each place of both runs, and moves nothing.
    """
    found: dict[str, tuple[Any, list[Any]]] = {}
    seen: dict[int, Any] = {id(data): data}
    left = [("", (mechanism, source))]
    while left:
        place, value = left.pop()
        if id(value) in seen or isinstance(value, Ids):
            continue
        seen[id(value)] = value
        listed: Any = None
        if isinstance(value, Column) and value.length == n:
            listed = np.empty((n,) if value.width is None else (n, value.width))
            value.fill(0, n, listed)
        elif hasattr(value, "reduce") and getattr(value, "length", None) == n:
            listed = _rows(value)[0]
        elif hasattr(value, "__array__") and np.shape(value)[:1] == (n,):
            listed = np.asarray(value)
        if listed is not None:
            found[place] = value, _listed(listed)
        else:
            left += [(f"{place}.{name}", one) for name, one in _parts(value).items()]
    return found


def _parts(value: Any) -> dict[Any, Any]:
    """Return what a mechanism is made of; functions of dpfast hold arguments, too."""
    if is_dataclass(value):
        return {one.name: getattr(value, one.name, None) for one in fields(value)}
    if isinstance(value, partial):
        return dict(enumerate((value.func, *value.args, *value.keywords.values())))
    if isinstance(value, FunctionType) and value.__module__.startswith("dpfast."):
        return {i: cell.cell_contents for i, cell in enumerate(value.__closure__ or ())}
    return dict(enumerate(value)) if isinstance(value, (tuple, list)) else {}


def _of_table(mechanism: Any, batches: Batches) -> tuple[Any, Any]:
    """Return the columns that a release by group reads, row by row, and whose rows they are."""
    table = getattr(mechanism, "table", mechanism)
    persons = table.persons
    names = [*table.columns, *([persons.column] if persons else [])]
    names += [WHERE] if batches.has(WHERE) else []
    if batches.of_engine is not None:
        return None, None
    rows = _read(batches, names)
    return rows, None if persons is None else [row[names.index(persons.column)] for row in rows]


def _read(batches: Batches, names: list[str]) -> list[tuple[Any, ...]]:
    """Return some columns of a table, row by row."""

    def rows(batch: Batch) -> list[tuple[Any, ...]]:
        return list(zip(*(_listed(batch.columns[name]) for name in names), strict=True))

    return batches.reduce(names, names, rows, lambda a, b: a + b)


def _listed(column: Any) -> list[Any]:
    """Return the entries of a column."""
    if isinstance(column, Values):
        column = column.array if column.mask is None else column.given
    elif isinstance(column, (Objects, Arrow)):
        column = column.rows if isinstance(column, Objects) else column.chunked
    for convert in ("to_pylist", "tolist"):
        if hasattr(column, convert):
            return list(getattr(column, convert)())
    return list(column)


def _rows(source: Any) -> tuple[Any, Any]:
    """Return the rows of data that are read in chunks, and whose they are; or None."""
    apart = source.columns if isinstance(source, Apart) else source
    if isinstance(apart, list):
        columns = [_rows(one)[0] for one in apart]
        whole = None not in columns and len({*map(len, columns)}) == 1
        return (list(zip(*columns, strict=True)) if whole else None), None
    if isinstance(source, np.ndarray):
        return source.tolist() if source.ndim else None, None
    if not hasattr(source, "reduce"):
        return None, None
    try:
        chunks = source.reduce(_of_chunk, lambda a, b: a + b)
    except Exception:  # an engine of which nothing comes here
        return None, None
    chunks.sort(key=lambda chunk: chunk[0])
    rows, ids = ([one for chunk in chunks for one in chunk[part] or ()] for part in (1, 2))
    return rows, ids or None


def _of_chunk(chunk: Any) -> list[tuple[int, list[Any], list[Any] | None]]:
    """Return the number of the first row, the rows, a null as None, and their ids."""
    if isinstance(chunk, RowChunk):
        ids = None if chunk.ids is None else _listed(chunk.ids)
        return [(chunk.start, chunk.rows.tolist(), ids)]
    rows = chunk.values.tolist()
    if chunk.nulls and chunk.present is not None:
        values = iter(rows)
        rows = [next(values) if there else None for there in chunk.present.tolist()]
    elif chunk.nulls:  # which have no place
        rows += [None] * chunk.nulls
    return [(chunk.start, rows, None)]


def _excess(mechanism: Any, before: tuple[str, Any], after: tuple[str, Any]) -> list[str]:
    """Return what moved by more than was declared."""
    (kind, a), (_, b) = before, after
    if kind == "value":
        if abs(a - b) <= mechanism.moved:
            return []
        return [f"the value moved by {abs(a - b) / mechanism.moved:.4g} times its sensitivity"]
    if kind == "numbers":
        order, limit = (1 if mechanism.norm == "l1" else 2), float(mechanism.sensitivity)
        moved = float(np.linalg.norm((b - a).ravel(), order)) if a.shape == b.shape else math.inf
        if moved <= limit * (1 + 1e-9):
            return []
        return [f"the numbers moved by {moved / limit:.4g} times their sensitivity"]
    if kind == "scores":
        if a.shape != b.shape:
            return [f"there are {a.shape} scores on x, and {b.shape} on x2"]
        with np.errstate(invalid="ignore"):
            moves = np.atleast_2d(np.where(a == b, 0.0, b - a))
        spread = float((moves.max(axis=-1) - moves.min(axis=-1)).max()) if moves.size else 0.0
        limit = _of_a_draw(mechanism.loss)
        if mechanism.c * spread <= limit * (1 + 1e-9):
            return []
        return [f"the scores moved by {mechanism.c * spread / limit:.4g} times what was declared"]
    relation = getattr(mechanism, "neighbors", "replace")  # randomized response: a row for a row
    most = 2 if relation == "replace" else 1
    if relation == "replace" and a.ids is None and len(a.rows) != len(b.rows):
        return [f"there are {len(a.rows)} rows on x and {len(b.rows)} on x2, under replace"]
    places = [place for place in a.entries if place in b.entries]
    first, second = a.counted(places), b.counted(places)
    if a.ids is not None:
        people = sum(first.get(one) != second.get(one) for one in {*first, *second})
        return [] if people <= most else [f"{people} people differ, where {most} may"]
    x, x2 = (counts.get(0, Counter()) for counts in (first, second))
    different = ((x - x2) + (x2 - x)).total()
    return [] if different <= most else [f"{different} rows differ, where {most} may"]


def _of_a_draw(loss: Loss) -> float:
    """Return the most that c times the scores may move for a draw of this loss."""
    if isinstance(loss, ZCDP):
        return float(range_within(loss.rho))
    draws = loss.draws if isinstance(loss, Draws) else 1
    return float(loss.epsilon / draws)


def _key(row: Any) -> Any:
    if isinstance(row, (list, tuple, np.ndarray)):
        return tuple(map(_key, row))
    return "NaN" if isinstance(row, float) and math.isnan(row) else row


def _moved(a: Any, b: Any, beside: set[int]) -> list[str]:
    """Return the names of the public fields in which two mechanisms differ."""
    names = [one.name for one in fields(a)] if is_dataclass(a) else []
    return [
        one for one in names if not _alike(getattr(a, one, None), getattr(b, one, None), beside)
    ]


def _alike(a: Any, b: Any, beside: set[int]) -> bool:
    """Return whether two public arguments are the same; functions and others pass.

    So do the objects `beside` the rows, which are compared with these.
    """
    if id(a) in beside:
        return True
    if all(hasattr(keys, "is_product") for keys in (a, b)):  # public keys
        return same(a.columns(), b.columns())
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_alike(a[key], b[key], beside) for key in a)
    if is_dataclass(a) and type(a) is type(b) and not isinstance(a, Loss):
        return not _moved(a, b, beside)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(lambda x, y: _alike(x, y, beside), a, b))
    return not (_plain(a) and _plain(b)) or same(a, b)


def _plain(value: Any) -> bool:
    """Return whether a public argument can be compared: functions cannot."""
    if isinstance(value, (tuple, list)):
        return all(map(_plain, value))
    return value is None or isinstance(value, (str, int, float, Fraction, np.ndarray, Loss))


def same(a: Any, b: Any) -> bool:
    """Return whether two values are of one type and equal; a NaN is equal to a NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and all(map(same, a.ravel().tolist(), b.ravel().tolist()))
        )
    if isinstance(a, float):
        return repr(a) == repr(b)
    try:
        return bool(a == b) or repr(a) == repr(b)
    except Exception:  # whatever an object thinks of being compared
        return False
