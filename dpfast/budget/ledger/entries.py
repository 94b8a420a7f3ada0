"""Ledger entries, and their storage in memory."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..._core.types import Neighbors
from ..._kernels.rng import witnesses
from ...errors import BudgetError
from ...privacy import ZCDP, Loss, Pure

#: The calendar periods after which a limit can renew, in UTC.
PERIODS = ("day", "week", "month", "year")
#: The zero of amounts that a ledger does not use; it is shared, so that no new fraction is made.
ZERO = Pure.delta


def plus(a: Fraction, b: Fraction) -> Fraction:
    """Return the sum of two amounts, without an addition if one of them is `ZERO`."""
    return a if b is ZERO else b if a is ZERO else a + b


@dataclass(frozen=True, slots=True)
class Amounts:
    """Exact sums of losses: epsilon and delta, or rho, as the ledger needs."""

    epsilon: Fraction = ZERO
    delta: Fraction = ZERO
    rho: Fraction = ZERO

    @staticmethod
    def of(loss: Loss) -> Amounts:
        """Return the amounts of a loss in a ledger of its kind."""
        if isinstance(loss, ZCDP):
            return Amounts(rho=loss.rho)
        return Amounts(loss.epsilon, loss.delta)

    def __add__(self, other: Amounts) -> Amounts:
        return Amounts(
            plus(self.epsilon, other.epsilon),
            plus(self.delta, other.delta),
            plus(self.rho, other.rho),
        )

    def __sub__(self, other: Amounts) -> Amounts:
        return Amounts(self.epsilon - other.epsilon, self.delta - other.delta, self.rho - other.rho)

    def fits(self, limit: Amounts) -> bool:
        pairs = (self.epsilon, limit.epsilon), (self.delta, limit.delta), (self.rho, limit.rho)
        return not [amount for amount, most in pairs if amount is not ZERO and amount > most]

    def named(self, limit: Loss) -> dict[str, Fraction]:
        """Return the amounts that a ledger with this limit uses, by name."""
        if isinstance(limit, ZCDP):
            return {"rho": self.rho}
        return {"epsilon": self.epsilon, "delta": self.delta}


@dataclass(frozen=True, slots=True)
class Unit:
    """The privacy unit of a loss: a row, or a person with all rows of one id."""

    ids: str | None = None

    def __str__(self) -> str:
        return "rows" if self.ids is None else f"the people of {self.ids!r}"


@dataclass(frozen=True, slots=True)
class Spend:
    """One ledger entry: the loss, its unit and relation, and its purpose.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        The loss of the call, under the relation `neighbors`.
    neighbors : {"replace", "add-remove"}
        The relation that `loss` is for.
    what : str
        A public description of the release.
    note : str
        A note of the user; see `Budget.noted`.
    time : str
        In UTC (ISO 8601), by the clock of the machine. Entries are in the order of the spends,
        whatever the clock shows.
    process : str
        The process and its machine, as ``number@name``.
    counted : Amounts
        The amounts that the ledger charged; its relation or kind of loss may differ from the
        call's.
    answer : object
        The answer, if the user recorded it with `Budget.record`; else None.
    ids : str or None
        The name of the column of ids if the privacy unit is a person; None if it is a row.
    record : mapping or None
        All public facts about the release, in the types of JSON. None in entries without a record.
    """

    loss: Loss
    neighbors: Neighbors
    what: str
    note: str = ""
    time: str = field(default="", compare=False)
    process: str = field(default="", compare=False)
    counted: Amounts = field(default=Amounts(), compare=False)
    answer: Any = field(default=None, compare=False)
    ids: str | None = None
    record: Mapping[str, Any] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class State:
    """The state of a ledger, on which the decision about the next spend depends."""

    spent: Amounts
    neighbors: Neighbors | None
    entries: int
    ids: str | None = None
    #: The time of the last entry.
    time: str = ""

    def at(self, period: str, time: str) -> State:
        """Return the state at a time: in a new period nothing is spent yet.

        If the clock was set back, the time of the last entry is used until the clock has passed it.
        """
        time = max(time, self.time)
        is_new = self.time and began(period, self.time) < began(period, time)
        return replace(self, time=time, spent=Amounts() if is_new else self.spent)

    @property
    def unit(self) -> Unit | None:
        """The privacy unit of the limit; None until the creator or the first spend declares it."""
        return Unit(self.ids) if self.entries or self.ids is not None else None


#: A function that returns the entry to be added and the state after it, or raises an error.
Decide = Callable[[State], tuple[Spend, State]]


def now() -> str:
    """Return the time now, in UTC, for an entry."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def began(period: str, time: str) -> date:
    """Return the first day of the period that a time is in; weeks begin on Monday."""
    day = date.fromisoformat(time[:10])
    if period == "week":
        return day - timedelta(day.weekday())
    return (
        day if period == "day" else day.replace(day=1, month=1 if period == "year" else day.month)
    )


def process() -> str:
    """Return the number and the machine of this process, as entries show them."""
    return f"{os.getpid()}@{machine()}"


@lru_cache(maxsize=1)
def machine() -> str:
    return platform.node()


@dataclass(frozen=True, slots=True)
class _Step:
    """A step of a ledger in memory: an entry with its key, and the state after the entry."""

    state: State
    spend: Spend | None = None
    key: str | None = None


class Memory:
    """Ledger entries in memory, which end with the process.

    An entry is added by `dict.setdefault`, which Python never interrupts half way. If several
    threads, or a thread and its signal handler, decide from the same state, one of them adds its
    entry, and the others decide again. So there is no lock, which a fork could copy in a locked
    state.
    """

    def __init__(self, neighbors: Neighbors | None, ids: str | None) -> None:
        self._process = witnesses()
        self._steps = {0: _Step(State(Amounts(), neighbors, 0, ids))}
        self._keys: dict[str, int] = {}
        self._answers: dict[int, tuple[Any]] = {}

    def state(self) -> State:
        return self._last().state

    def append(self, decide: Decide, key: str | None = None) -> int:
        """Add an entry and return its number; if an entry has the key, only return its number."""
        self._refuse_fork()
        while True:
            state = self._last().state
            if key in self._keys:
                return self._keys[key]
            spend, after = decide(state)
            step = _Step(after, spend, key)
            if self._steps.setdefault(after.entries, step) is step:
                return after.entries

    def find(self, key: str) -> tuple[int, Any] | None:
        """Return the number and the recorded answer, or None, of the entry with a key."""
        self._last()
        number = self._keys.get(key)
        return None if number is None else (number, *self._answers.get(number, (None,)))

    def history(self) -> tuple[Spend, ...]:
        spends = [step.spend for step in self._steps.copy().values() if step.spend is not None]
        for number, (answer,) in self._answers.copy().items():
            if number <= len(spends):
                spends[number - 1] = replace(spends[number - 1], answer=answer)
        return tuple(spends)

    def settle(self, number: int, answer: Any) -> tuple[bool, Any]:
        """Record an answer if the entry has none; return whether, and the answer of the entry."""
        self._refuse_fork()
        mine = (answer,)
        kept = self._answers.setdefault(number, mine)
        return kept is mine, kept[0]

    def _last(self) -> _Step:
        """Return the last step, after its key was added to the known keys."""
        number = len(self._steps) - 1
        step = self._steps[number]
        if step.key is not None:
            self._keys.setdefault(step.key, number)
        return step

    def _refuse_fork(self) -> None:
        if self._process != witnesses():
            raise BudgetError(
                "budget refused the spend: this process is a fork, and its parent would not "
                "see it; spend in the parent, or share a budget in a file (path=...)"
            )
