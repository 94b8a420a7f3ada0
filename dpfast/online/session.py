"""What all streams of queries share: one process, one question at a time, an end, and a record.

A stream with a name is kept in the file of its budget (`budget/ledger/streams.py`). An answer is
computed first, from the state in memory, which it does not change; then its turn is written; then
the state is changed. Where another process has written that turn before, the answer is thrown away
unseen, the state catches up with the file, and the question is put again.
"""

from __future__ import annotations

import json
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeVar

from .._core import checks
from .._kernels.rng import witnesses
from ..budget.allocation import Allocation, paid
from ..budget.budget import Budget
from ..errors import StreamError
from ..privacy import Pure
from ..rng import Generator
from .gate import Gate

if TYPE_CHECKING:
    from ..budget.ledger.streams import Record

A = TypeVar("A")
Q = TypeVar("Q")


def facts(**given: Any) -> str:
    """Public arguments as one text, the same for the same arguments."""

    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return f"{value.numerator}/{value.denominator}"
        if isinstance(value, Pure):  # what zCDP knows besides is of no answer, and may become more
            return ["Pure", plain(value.epsilon)]
        if is_dataclass(value) and not isinstance(value, type):
            return [type(value).__name__, *(plain(getattr(value, f.name)) for f in fields(value))]
        return value.hex() if isinstance(value, float) else value

    return json.dumps({name: plain(value) for name, value in given.items()}, sort_keys=True)


def record(name: Any, budget: Any, told: str) -> Record | None:
    """Where a stream is kept; None for one without a name. Other streams' names are refused."""
    if name is None:
        return None
    if not checks.text("name", name):
        checks.fail("name", "a text that is not empty", name)
    if budget is not None and not isinstance(budget, Budget):
        return None  # the door has its own word about that
    if budget is None or budget.path is None:
        checks.fail("name", "left out, or budget one with a path, in whose file it is kept", name)
    return budget._stream(name, told)


def once(kept: Record | None, budget: Budget | None) -> AbstractContextManager[None]:
    """A block in which what is kept is paid for once."""
    return nullcontext() if kept is None or budget is None else budget._once(kept.key)


def opened(
    allocation: Allocation,
    source: Any,
    budget: Budget | None,
    rng: Generator | None,
    kept: Record | None,
) -> tuple[Any, Generator]:
    """Pay for a stream, unless it is one that is kept and paid for already."""
    with once(kept, budget):
        return paid(allocation, source, budget, rng)


class Draft(NamedTuple):
    """An answer that nobody has seen yet.

    `answer` holds numbers as they are recorded, `body` what a replay of it needs besides; `over`
    says that no question can follow; `apply` changes the state.
    """

    answer: dict[str, Any]
    body: bytes
    over: bool
    apply: Callable[[], None]


class Session(Generic[Q, A]):
    """The state of a stream. Two copies of it would each give all answers, for which only one is
    paid, so it can be neither copied nor pickled, and a forked child is refused.

    Q is what a question is made of, A what is answered. The secret part of the state is the gate's.
    """

    _gate: Gate

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._home = witnesses()
        self._record: Record | None = None
        self._past: list[A] = []
        self._asked: list[str] = []
        self._half = False

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """One question at a time, in the process that paid."""
        if self._home != witnesses():  # before the lock, which may have been copied closed
            raise StreamError(
                "the stream belongs to the process that was forked: ask there, or open another one"
            )
        with self._lock:
            if self._half:
                rest = "nothing more is answered" if self._record is None else "open it again"
                raise StreamError(f"the stream was stopped while it learned from an answer: {rest}")
            yield

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """The state changes as a whole. Stopped half-way, by an interrupt or for want of memory, it
        would be neither that before the answer nor that after it, and is not used again."""
        self._half = True
        yield
        self._half = False

    def __reduce__(self) -> Any:
        raise TypeError("a stream can be neither pickled nor copied: both copies would answer")

    @staticmethod
    def _halted(why: str) -> NoReturn:
        raise StreamError(f"the stream has halted: {why}; nothing more is answered")

    # --- what a stream is -----------------------------------------------------------------------

    @property
    def _over(self) -> bool:
        """Whether no question can follow."""
        return not self._gate.left

    @abstractmethod
    def _draft(self, question: Q) -> Draft:
        """An answer. The state is as it was, but for the gate's."""

    @abstractmethod
    def _told(self, answer: dict[str, Any]) -> A:
        """The answer as it leaves."""

    @abstractmethod
    def _digest(self, question: Q) -> str:
        """The question, as far as it is public."""

    @abstractmethod
    def _replay(self, answer: dict[str, Any], body: bytes) -> None:
        """Change the state as an answer of the record did, but for the secret."""

    # --- questions ------------------------------------------------------------------------------

    @property
    def past(self) -> tuple[A, ...]:
        """The answers so far, in order, whichever process got them: of a stream with a name."""
        with self._turn():
            if self._record is not None:
                self._catch_up()
            return tuple(self._past)

    def _begin(self, kept: Record | None, start: Any = None) -> Any:
        """What the stream starts from: this, or what the record began with. `_resume` follows."""
        self._record = kept
        return start if kept is None else kept.begin(start, self._gate.rho)

    def _resume(self) -> None:
        """Go on from the last answer of the record."""
        if self._record is not None:
            self._catch_up()

    def _catch_up(self) -> None:
        assert self._record is not None
        turns, secret = self._record.later()
        with self._changing():
            for turn in turns:
                self._replay(turn.answer, turn.body)
                self._past.append(self._told(turn.answer))
                self._asked.append(turn.question)
            if secret is not None:
                self._gate.rho = secret
        if secret is None and not self._over:
            # Another noise of the threshold has not been paid for.
            self._record.damaged("the secret of a stream is missing")

    def _ask(self, question: Q, number: Any) -> A:
        """The answer to a question, or that of the record to the question of this number."""
        with self._turn():
            while True:
                if number is not None and (found := self._recorded(question, number)) is not None:
                    return found
                told = self._put(question)
                if told is not None:
                    return told
                self._catch_up()

    def _put(self, question: Q) -> A | None:
        """The answer to the next question; None if the record has one from elsewhere."""
        before, asked = self._gate.state, ""
        written: str | None = None
        try:
            draft = self._draft(question)
            told = self._told(draft.answer)
            if self._record is not None:
                from ..budget.ledger.streams import Turn

                asked = self._digest(question)
                turn = Turn(asked, draft.answer, draft.body)
                written = self._record.add(turn, None if draft.over else self._gate.rho)
        except BaseException:
            self._gate.state = before  # nobody has seen what was drawn
            raise
        if self._record is not None and written is None:
            self._gate.state = before
            return None
        # Interrupted before this, the turn is found in the record like that of another process.
        with self._changing():
            if written is not None:
                assert self._record is not None
                self._record.passed(written)
                self._past.append(told)
                self._asked.append(asked)
            draft.apply()
        return told

    def _recorded(self, question: Q, number: Any) -> A | None:
        """The answer of the record; None if this is the next question."""
        if self._record is None:
            checks.fail("number", "left out for a stream without a name", number)
        at = checks.whole("number", number)
        if at > len(self._past):
            self._catch_up()
        if at > len(self._past):
            checks.fail("number", f"at most {len(self._past)}, that of the next question", number)
        if at == len(self._past):
            return None
        if self._asked[at] != self._digest(question):
            checks.fail("number", "that of the same question, or of the next one", number)
        return self._past[at]
