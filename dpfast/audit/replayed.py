"""Replay of a program on a neighbor with the same private answers: what differs is a leak."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .._core import checks
from .._core.types import Neighbors
from ..budget.allocation import Allocation
from ..budget.release import TAPE
from ..privacy import ZCDP, Draws, Loss, range_within
from ..sources.batches import WHERE, Batch, Batches
from ..sources.forms import Arrow, Objects, Values
from ..sources.intake import Apart, View

#: Fields of mechanisms that come with the rows, and are no public arguments.
OF_ROWS = ("where", "weights", "ids")


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
        Whether there are no leaks.

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
        """Tell whether there are no leaks."""
        return not self.leaks


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
    compared as multisets. Of functions that are handed to a release nothing is compared. Noise that
    a program draws itself (`dpfast.noise`) is not replayed, and a program with other randomness
    differs from run to run, which reads as a leak.

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
    result, raised, said = None, None, io.StringIO()
    token = TAPE.set(tape)
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                try:
                    result = function(data)
                except Exception as error:
                    raised = f"{type(error).__name__}: {error}"
    finally:
        TAPE.reset(token)
    return result, said.getvalue(), [str(one.message) for one in warned], raised


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
        for part in _moved(before, mechanism):
            self.leaks.append(f"{name}: {part} is not the same on x and x2")
        if given is None or kept is None:
            self.unchecked.append(name)
        else:
            self.leaks += [f"{name}: {leak}" for leak in _excess(mechanism, kept, given)]
        return recorded


def _given(mechanism: Any, source: Any, summary: Any) -> tuple[str, Any] | None:
    """Return what can be compared of the data that a release is given, and how."""
    if isinstance(getattr(mechanism, "moved", None), int) and isinstance(summary, int):
        return "value", summary
    if hasattr(mechanism, "norm") and hasattr(mechanism, "sensitivity"):
        return "numbers", np.asarray(source, np.float64)
    if isinstance(getattr(mechanism, "c", None), float) and isinstance(source, np.ndarray):
        return "scores", source.astype(np.float64)
    if isinstance(source, Batches):
        return _of_table(mechanism, source)
    if isinstance(source, View):
        return _of_people(source)
    rows = source.copy() if isinstance(source, np.ndarray) else _rows(source)
    where = getattr(mechanism, "where", None)
    if rows is None or not isinstance(where, np.ndarray):
        return None if rows is None else ("rows", rows)
    # Whether a row is kept is a part of the row.
    return ("rows", np.column_stack([rows, where])) if len(where) == len(rows) else None


def _of_people(view: View) -> tuple[str, Any] | None:
    """Return the rows of each person; whether a row is kept, and its weight, are parts of it."""
    rows, ids = _rows(view.source), view.ids
    if rows is None or ids is None or ids.rows.of_engine is not None:
        return None
    columns = [rows]
    columns += [] if view.where is None else [view.where]
    if view.weights is not None:
        columns.append(np.empty(view.weights.length))
        view.weights.fill(0, view.weights.length, columns[-1])
    whose = [one for (one,) in _read(ids.rows, [ids.column])]
    return "people", _by_person(whose, np.column_stack(columns).tolist())


def _of_table(mechanism: Any, batches: Batches) -> tuple[str, Any] | None:
    """Return the columns that a release by group reads, row by row, or person by person."""
    table = getattr(mechanism, "table", mechanism)
    persons = table.persons
    names = [*table.columns, *([persons.column] if persons else [])]
    names += [WHERE] if batches.has(WHERE) else []
    if batches.of_engine is not None:
        return None
    found = _read(batches, names)
    if persons is None:
        return "rows", found
    at = names.index(persons.column)
    return "people", _by_person([row[at] for row in found], found)


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
    return list(column.to_pylist() if hasattr(column, "to_pylist") else column)


def _by_person(ids: list[Any], rows: list[Any]) -> dict[Any, Counter[Any]]:
    """Return the rows of each person."""
    found: dict[Any, Counter[Any]] = {}
    for one, row in zip(ids, rows, strict=True):
        found.setdefault(one, Counter())[_key(row)] += 1
    return found


def _rows(source: Any) -> Any:
    """Return the rows of data in memory, or of chunks, or None."""
    apart = source.columns if isinstance(source, Apart) else source
    if isinstance(apart, list):
        columns = [_rows(one) for one in apart]
        return None if any(one is None for one in columns) else np.column_stack(columns)
    for attribute in ("array", "values", "rows"):
        found = getattr(source, attribute, None)
        if isinstance(found, np.ndarray) and found.ndim in (1, 2):
            return found.copy()
    if hasattr(source, "reduce"):
        try:
            parts = source.reduce(lambda chunk: [np.array(chunk.values)], lambda a, b: a + b)
            return np.concatenate(parts)
        except Exception:  # it has no chunks of values
            return None
    return None


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
    if kind == "people":
        people = sum(a.get(one) != b.get(one) for one in {*a, *b})
        most = 2 if mechanism.neighbors == "replace" else 1
        return [] if people <= most else [f"{people} people differ, where {most} may"]
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
    different = _different(a, b)
    relation = getattr(mechanism, "neighbors", "replace")  # randomized response: a row for a row
    most = 2 if relation == "replace" else 1
    if relation == "replace" and len(a) != len(b):
        return [f"there are {len(a)} rows on x and {len(b)} on x2, under replace"]
    if different <= most:
        return []
    return [f"{different} rows differ, where {most} may"]


def _of_a_draw(loss: Loss) -> float:
    """Return the most that c times the scores may move for a draw of this loss."""
    if isinstance(loss, ZCDP):
        return float(range_within(loss.rho))
    draws = loss.draws if isinstance(loss, Draws) else 1
    return float(loss.epsilon / draws)


def _different(a: Any, b: Any) -> int:
    """Return how many rows are in one of two tables and not in the other."""
    counts = [Counter(map(_key, _listed(rows))) for rows in (a, b)]
    return sum(((counts[0] - counts[1]) + (counts[1] - counts[0])).values())


def _key(row: Any) -> Any:
    if isinstance(row, (list, tuple, np.ndarray)):
        return tuple(map(_key, row))
    return "NaN" if isinstance(row, float) and math.isnan(row) else row


def _moved(a: Any, b: Any) -> list[str]:
    """Return the names of the public fields in which two mechanisms differ."""
    names = [one.name for one in fields(a) if one.name not in OF_ROWS] if is_dataclass(a) else []
    return [one for one in names if not _alike(getattr(a, one, None), getattr(b, one, None))]


def _alike(a: Any, b: Any) -> bool:
    """Return whether two public arguments are the same; functions and others pass."""
    if all(hasattr(keys, "is_product") for keys in (a, b)):  # public keys
        return same(a.columns(), b.columns())
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_alike(a[key], b[key]) for key in a)
    if is_dataclass(a) and type(a) is type(b) and not isinstance(a, Loss):
        return not _moved(a, b)
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
