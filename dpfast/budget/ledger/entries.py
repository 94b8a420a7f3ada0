"""What a line of the ledger says, and the storage that has nothing but memory."""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Protocol

from ..._core import checks
from ..._core.types import Neighbors
from ..._kernels.rng import witnesses
from ...errors import BudgetError
from ...privacy import Loss


@dataclass(frozen=True, slots=True)
class Amounts:
    """Three exact sums, of which a ledger uses epsilon and delta, or rho."""

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    def plus(self, other: Amounts) -> Amounts:
        return Amounts(self.epsilon + other.epsilon, self.delta + other.delta, self.rho + other.rho)


@dataclass(frozen=True, slots=True)
class Spend:
    """One line of the ledger: what was asked, under which relation, for what.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        What the call cost under its own relation.
    neighbors : str
        That relation.
    what : str
        The mechanism, in the library's words.
    note : str
        The user's words; see `Budget.noted`.
    time : str
        When, in UTC (ISO 8601), by the clock of the machine. The order of lines is that of the
        spends, whatever the clock did.
    process : str
        Which process on which machine, as ``number@name``.
    counted : Amounts
        What it took from the ledger, which may speak of another relation or kind of loss.
    answer : object
        None, unless the user called `Budget.record`.
    """

    loss: Loss
    neighbors: Neighbors
    what: str
    note: str = ""
    time: str = field(default="", compare=False)
    process: str = field(default="", compare=False)
    counted: Amounts = field(default=Amounts(), compare=False)
    answer: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class State:
    """All that the decision about the next spend may depend on."""

    spent: Amounts
    neighbors: Neighbors | None
    lines: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A line, and the relation that the ledger speaks of from now on."""

    line: Spend
    neighbors: Neighbors


class Storage(Protocol):
    """Keeps lines. Only `append` adds any, and its decision and its line are one step."""

    def state(self) -> State: ...
    def append(self, decide: Callable[[State], Entry]) -> int:
        """Number of the line that `decide` made of the state, which it may also refuse."""
        ...

    def once(self, key: str, decide: Callable[[State], Entry]) -> int:
        """Number of the line that bears `key`: one that is there, or else as by `append`."""
        ...

    def found(self, key: str) -> tuple[int, Any] | None:
        """Number and recorded answer (or None) of the line that bears `key`, if there is one."""
        ...

    def history(self) -> tuple[Spend, ...]: ...
    def record(self, number: int, answer: Any) -> None: ...
    def settle(self, number: int, answer: Any) -> Any:
        """The answer recorded with a line, which is `answer` if there was none before."""
        ...


def now() -> str:
    """The time of a line. Nothing but the eye of the reader depends on it."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def process() -> str:
    """The process of a line."""
    return f"{os.getpid()}@{platform.node()}"


def already(number: int, answer: Any) -> None:
    """Refuse a second answer."""
    checks.fail("answer", f"recorded once: line {number} has one", answer)


class Memory:
    """Lines that end with the process."""

    def __init__(self, neighbors: Neighbors | None) -> None:
        self.lock = threading.Lock()
        self._process = witnesses()
        self._state = State(Amounts(), neighbors, 0)
        self._lines: list[Spend] = []
        self._keys: dict[str, int] = {}

    def state(self) -> State:
        with self.lock:
            return self._state

    def append(self, decide: Callable[[State], Entry]) -> int:
        self._refuse_copies()
        with self.lock:
            return self._append(decide)

    def once(self, key: str, decide: Callable[[State], Entry]) -> int:
        self._refuse_copies()
        with self.lock:
            if key not in self._keys:
                self._keys[key] = self._append(decide)
            return self._keys[key]

    def found(self, key: str) -> tuple[int, Any] | None:
        with self.lock:
            number = self._keys.get(key)
            return None if number is None else (number, self._lines[number - 1].answer)

    def _refuse_copies(self) -> None:
        if self._process != witnesses():  # before the lock, which may have been copied closed
            raise BudgetError(
                "budget refused the spend: it belongs to the process that was forked, which would "
                "not see it; spend there, or give each process a budget of its own, or keep it in "
                "a file that they share (path=...)"
            )

    def _append(self, decide: Callable[[State], Entry]) -> int:
        entry = decide(self._state)
        self._lines.append(entry.line)
        spent = self._state.spent.plus(entry.line.counted)
        self._state = State(spent, entry.neighbors, len(self._lines))
        return len(self._lines)

    def history(self) -> tuple[Spend, ...]:
        with self.lock:
            return tuple(self._lines)

    def record(self, number: int, answer: Any) -> None:
        with self.lock:
            line = self._lines[number - 1]
            if line.answer is not None:
                already(number, answer)
            self._lines[number - 1] = replace(line, answer=answer)

    def settle(self, number: int, answer: Any) -> Any:
        with self.lock:
            line = self._lines[number - 1]
            if line.answer is None:
                line = self._lines[number - 1] = replace(line, answer=answer)
            return line.answer
