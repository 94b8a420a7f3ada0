"""Replay of a program on neighboring data with the same private answers, to find leaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpfast as dp
from dpfast.extend import Neighbors, checks
from dpfast.privacy import Loss

from .answers import heard


@dataclass(frozen=True)
class Replay:
    """The result of a replay: what a program reveals about its data besides its private answers.

    Attributes
    ----------
    leaks : tuple of str
        A sentence for each difference between the two runs that privacy does not allow.
    releases : int
        The number of private answers in the first run.
    unchecked : tuple of str
        Releases whose data could not be compared, and code that did not run because both runs ended
        with the same error.
    clean : bool
        True if there are no leaks and nothing is unchecked.

    Examples
    --------
    A program that only counts rows with dpfast leaks nothing else:

    >>> import dpfast as dp
    >>> dp.audit.replay(lambda rows: dp.count(rows, epsilon=1), [1, 2], [1]).clean
    True
    """

    leaks: tuple[str, ...]
    releases: int
    unchecked: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether the replay found no leaks and left no release unchecked."""
        return not (self.leaks or self.unchecked)


def replay(
    function: Callable[[Any], Any], x: Any, x2: Any, *, neighbors: Neighbors = "add-remove"
) -> Replay:
    """Find leaks of a program: run it on x, and on the neighbor x2 with the same private answers.

    Everything that a private program shows is a function of its private answers. The second run
    gets the private answers of the first run. So it must do the same: make the same releases with
    the same public arguments, and return, print, raise and warn the same. Any difference is a leak.

    The data of each release must be neighbors as well. One row may differ; with ids, the rows of
    one person. Scores or numbers may differ by no more than the declared sensitivity.

    NOT PRIVATE: use data that are made up for the test.

    Parameters
    ----------
    function : callable
        The program: ``function(data)`` calls dpfast. It must create its own budgets, because both
        runs spend.
    x, x2 : object
        Two neighboring datasets. Each is passed to the function unchanged.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighboring relation of `x` and `x2`.

    Returns
    -------
    Replay
        The leaks, as sentences. They are the same in each call if the program is deterministic.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or the program opens an object that answers several times,
        such as a stream of `dpfast.online` or `dpfast.sulq.NoisySums`.

    Notes
    -----
    Cost: two runs, and a sort of the rows of each release.

    A leak may show on one pair of datasets and not on another, so try several pairs of
    `dpfast.audit.neighbors`. Rows are compared as multisets. A row includes its entries in
    arguments of the same length (masks, weights, ids). For scores, the range of their changes is
    compared with the declared sensitivity. Functions that are passed to a release are not compared.
    Noise that a program draws itself (`dpfast.noise`) is not replayed. If a program uses other
    randomness, its two runs differ, and this is reported as a leak.

    Examples
    --------
    This program subtracts the mean of all rows, so each row of the sum depends on all others:

    >>> import numpy as np, dpfast as dp
    >>> def centered(x):  # the mean of the rows moves each of them
    ...     return dp.sum(x - np.mean(x), bounds=(-1, 1), epsilon=1)
    >>> dp.audit.replay(centered, np.array([0.0, 1, 1]), np.array([0.0, 1])).leaks
    ('release 1 (sum): 5 rows differ, where 1 may',)
    """
    if not callable(function):
        checks.fail_type("function", "a function of the data", function)
    tape = Tape(checks.neighbors(neighbors))
    first = _run(function, x, tape)
    tape.rewind()
    second = _run(function, x2, tape)
    if tape.sessions:
        rule = "a program without objects that answer several times"
        checks.fail("function", rule, f"one with {tape.sessions[0]}")
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
    except Exception:  # an object may raise any error here
        text = type(value).__name__
    return text if len(text) < 60 else text[:57] + "..."


def _run(function: Callable[[Any], Any], data: Any, tape: Tape) -> tuple[Any, ...]:
    """Run a program on data; return its result, printed text, warnings and error."""
    result, raised = None, None
    with dp.extend.watched(tape), heard() as said:
        try:
            result = function(data)
        except Exception as error:
            raised = f"{type(error).__name__}: {error}"
    return result, *said, raised


@dataclass
class Tape:
    """The releases of the first run. The second run receives their answers."""

    relation: str
    turns: list[Any] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)
    at: int = 0
    again: bool = False

    def rewind(self) -> None:
        """Begin the second run: its releases are compared with the releases of the first run."""
        self.again = True

    def turn(self, release: Any) -> Any:
        """Record a release, or in the second run compare the releases; return the first answer."""
        if release.is_session:
            self.sessions.append(release.name)
            return release.answer
        release.rows  # noqa: B018  are listed now: the program may change them
        if not self.again:
            self.turns.append(release)
            return release.answer
        self.at += 1
        name = f"release {self.at} ({release.name})"
        if self.at > len(self.turns):
            self.leaks.append(f"{name} is on x2 only")
            return release.answer
        before = self.turns[self.at - 1]
        kinds = [(type(turn.mechanism), turn.mechanism.algorithm) for turn in (before, release)]
        if kinds[0] != kinds[1] or before.name != release.name:
            self.leaks.append(f"{name} is of {before.name} on x")
            return release.answer
        for part in _moved(before.mechanism, release.mechanism, before.compared_ids(release)):
            self.leaks.append(f"{name}: {part} is not the same on x and x2")
        differences = before.differences(release)
        if differences is None:
            self.unchecked.append(name)
        else:
            self.leaks += [f"{name}: {leak}" for leak in differences]
        return before.answer


def _moved(a: Any, b: Any, ignored: set[int]) -> list[str]:
    """Return the names of the public parameters in which two mechanisms differ."""
    first, second = _parameters(a), _parameters(b)
    return [name for name in first if not _alike(first[name], second.get(name), ignored)]


def _parameters(value: Any) -> dict[str, Any]:
    """Return the public parameters of a mechanism, or the fields of a dataclass."""
    if isinstance(value, dp.extend.Mechanism):
        return value.parameters
    return {f.name: getattr(value, f.name) for f in fields(value)}


def _alike(a: Any, b: Any, ignored: set[int]) -> bool:
    """Return whether two public arguments are equal, or cannot be compared (functions).

    Arguments whose Python ids are in `ignored` pass too, because they are compared with the rows.
    """
    if id(a) in ignored:
        return True
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(_alike(a[key], b[key], ignored) for key in a)
    if is_dataclass(a) and type(a) is type(b) and not isinstance(a, Loss):
        return not _moved(a, b, ignored)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(lambda x, y: _alike(x, y, ignored), a, b))
    return not (_plain(a) and _plain(b)) or same(a, b)


def _plain(value: Any) -> bool:
    """Return whether a public argument can be compared; functions cannot."""
    if isinstance(value, (tuple, list)):
        return all(map(_plain, value))
    return value is None or isinstance(value, (str, int, float, Fraction, np.ndarray, Loss))


def same(a: Any, b: Any) -> bool:
    """Return whether two values have the same type and are equal; NaN is equal to NaN."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, Mapping):
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
    except Exception:  # an object may raise any error here
        return False
