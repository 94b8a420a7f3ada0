"""The state of a stream of queries. One process answers them in turn; a ledger may record them.

A stream with a name is kept in the file of its budget (`budget/ledger/streams.py`). An answer is
first computed from the state in memory, without changing it. Then the answer is written to the
file, and then the state is changed. If another process has written an answer with the same number
before, the computed answer is discarded without being shown. The state is updated from the file,
and the query is answered again.
"""

from __future__ import annotations

import json
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import Field, dataclass, fields, is_dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, NoReturn, TypeAlias, TypeVar

from .._core import checks
from .._kernels.rng import witnesses
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.record import Parameters
from ..budget.release import Payer, Prepared, payer_of
from ..errors import StreamError
from ..privacy import Loss, Pure
from ..rng import Generator, check
from .noisy_comparison import NoisyComparison, Scales

if TYPE_CHECKING:
    from ..budget.ledger.streams import Record

#: The names of dataclasses in ledger files, if they differ from the names in the code.
WRITTEN = {"IntegerNoise": "WholeNoise"}

A = TypeVar("A")
Q = TypeVar("Q")


def facts(**values: Any) -> str:
    """Return public arguments as one text, which identifies a stream.

    The key of a recorded stream is computed from this text. So the names of dataclasses in the
    arguments, and the order of their fields, are part of the format of the file. `WRITTEN` maps
    renamed classes and fields to their old names. A field that was added later is marked in its
    metadata, and left out while it has its default.
    """

    def written(value: Any, field: Field[Any]) -> bool:
        return "later" not in field.metadata or getattr(value, field.name) != field.default

    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return f"{value.numerator}/{value.denominator}"
        # Other attributes do not affect answers, and later versions may add some.
        if isinstance(value, Pure):
            return ["Pure", plain(value.epsilon)]
        if is_dataclass(value) and not isinstance(value, type):
            name = type(value).__name__
            kept = [field.name for field in fields(value) if written(value, field)]
            return [WRITTEN.get(name, name), *[plain(getattr(value, field)) for field in kept]]
        return value.hex() if isinstance(value, float) else value

    return json.dumps({name: plain(value) for name, value in values.items()}, sort_keys=True)


def record(name: str | None, budget: Budget | None, public: str) -> Record | None:
    """Return the ledger record of a stream, None without a name; refuse a name in use."""
    if name is None:
        return None
    if not checks.text("name", name):
        checks.fail("name", "a text that is not empty", name)
    if budget is not None and not isinstance(budget, Budget):
        return None  # `release` refuses this budget
    if budget is None or budget.path is None:
        rule = "left out unless there is a budget with a path, whose file keeps the stream"
        checks.fail("name", rule, name)
    return budget._stream(name, public)


def once(kept: Record | None, budget: Payer | None) -> AbstractContextManager[None]:
    """Return a context in which a stream with a ledger record is paid for only once."""
    if kept is None or not isinstance(budget, Budget):
        return nullcontext()
    return budget.once(kept.key)


@dataclass(frozen=True, slots=True)
class Opening(Prepared[A]):
    """The release that opens a stream, paid for once in the life of its ledger."""

    kept: Record | None = None

    def run(self) -> A:
        with once(self.kept, self.budget):
            return Prepared.run(self)


#: The budget that pays for a stream, the generator of its noise, and the name of the stream.
Payment: TypeAlias = tuple[Budget | None, Generator | None, str | None]


class Draft(NamedTuple):
    """An answer that is computed, but not yet recorded or returned.

    `answer` holds the numbers to record, and `body` everything else that a replay needs. `over` is
    True if no query can follow. `apply` changes the state.
    """

    answer: dict[str, Any]
    body: bytes
    over: bool
    apply: Callable[[], None]


class Session(Generic[Q, A]):
    """The state of a stream, generic in the types of questions Q and answers A.

    Two copies of a stream would each give all answers, although only one stream is paid for. So a
    stream cannot be copied or pickled, and a forked child is refused. The secret part of the state
    is in the comparison.
    """

    def _opening(
        self, allocation: Allocation, secret: Any, paid: Payment, source: Any = None, **public: Any
    ) -> Opening[Any]:
        """Return the release that opens the stream: it pays once, and reads the data.

        `public` is everything that the answers depend on, except the data and randomness. `secret`
        has the attribute `left`, the number of turns that are left. It also has `rho`, which a file
        stores as JSON, and which is replaced but never modified. If `secret` is a `Scales`, a noisy
        comparison with both attributes is created from it.
        """
        budget, rng, name = payer_of(paid[0]), *paid[1:]
        self._lock = threading.Lock()
        self._home = witnesses()
        self._past: list[A] = []
        self._digests: list[str] = []
        self._half = False
        self._spent = allocation.loss
        check(rng)
        self._record = record(name, budget, facts(what=allocation.name, **public))

        def opened(answer: tuple[Any, Generator]) -> Any:
            read, self._generator = answer
            self._comparison: Any = secret
            if isinstance(secret, Scales):
                self._comparison = NoisyComparison(secret, self._generator)
            return read

        question = partial(Parameters, allocation.name, public)
        return Opening(allocation, source, budget, rng, opened, question, kept=self._record)

    def _resume(self, read: None) -> None:
        """Start the stream, or continue after the last recorded answer."""
        self._begin()
        self._catch_up()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Return a context that allows one query at a time, in the process that paid."""
        # This comes before the lock, because a fork may have copied the lock while it was held.
        if self._home != witnesses():
            raise StreamError(
                "the stream belongs to the parent of this fork: use it there, or open a new stream"
            )
        with self._lock:
            if self._half:
                advice = "open another stream" if self._record is None else "open it again"
                raise StreamError(
                    f"the stream was interrupted while it learned from an answer: {advice}"
                )
            yield

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Return a context for a change of the state. After an interruption the state is not used.

        If an interrupt or a lack of memory stops the change, the state may be half changed, so no
        query is answered from it.
        """
        self._half = True
        yield
        self._half = False

    @property
    def remaining(self) -> int:
        """How many positives are left, or for linear queries how many hard answers."""
        return int(self._comparison.left)

    @property
    def spent(self) -> Loss:
        """The privacy loss of all answers together."""
        return self._spent

    def __reduce__(self) -> NoReturn:
        raise TypeError("a stream can be neither pickled nor copied: both copies would answer")

    @staticmethod
    def _halted(why: str) -> NoReturn:
        raise StreamError(f"the stream has halted: {why}; open another stream for more queries")

    # --- what a stream is -----------------------------------------------------------------------

    @property
    def _over(self) -> bool:
        """Whether the stream has ended. Then no question can follow."""
        return not self._comparison.left

    @abstractmethod
    def _draft(self, question: Q) -> Draft:
        """Return a new answer as a draft, changing only the state of the comparison."""

    @abstractmethod
    def _formatted(self, answer: dict[str, Any]) -> A:
        """Return a recorded answer as the object that the user gets."""

    @abstractmethod
    def _digest(self, question: Q) -> str:
        """Return a digest of the public part of a question."""

    def _replay(self, answer: dict[str, Any], body: bytes) -> None:
        """Apply a recorded answer to the state, but not to the state of the comparison."""

    # --- questions ------------------------------------------------------------------------------

    @property
    def past(self) -> tuple[A, ...]:
        """The answers of a named stream so far, in order, from all processes."""
        with self._turn():
            self._catch_up()
            return tuple(self._past)

    def _begin(self, start: Any = None) -> Any:
        """Return the initial state of the stream: the recorded state if any, else `start`."""
        return start if self._record is None else self._record.begin(start, self._comparison.rho)

    def _catch_up(self) -> None:
        """Apply all recorded answers that this process has not seen."""
        if self._record is None:
            return
        turns, secret = self._record.later()
        with self._changing():
            for turn in turns:
                self._replay(turn.answer, turn.body)
                self._comparison.left = turn.answer["left"]
                self._past.append(self._formatted(turn.answer))
                self._digests.append(turn.question)
            if secret is not None:
                self._comparison.rho = secret
        if secret is None and not self._over:
            # Nothing was paid for another noisy threshold.
            self._record.damaged("the secret of a stream is missing")

    def _ask(self, question: Q, number: int | None) -> A:
        """Return the answer to a query: the recorded answer for its number, or a new one."""
        with self._turn():
            while True:
                answer = None if number is None else self._recorded(question, number)
                if answer is None:
                    answer = self._put(question)
                if answer is not None:
                    return answer
                self._catch_up()

    def _put(self, question: Q) -> A | None:
        """Return a new answer; None if another process has recorded an answer first."""
        before = self._comparison.left, self._comparison.rho
        written, is_recorded = None, False
        try:
            draft = self._draft(question)
            answer = self._formatted(draft.answer)
            if self._record is not None:
                from ..budget.ledger.streams import Turn

                digest = self._digest(question)
                turn = Turn(digest, draft.answer, draft.body)
                written = self._record.add(turn, None if draft.over else self._comparison.rho)
            is_recorded = self._record is None or written is not None
        finally:
            if not is_recorded:  # nobody has seen what was drawn
                self._comparison.left, self._comparison.rho = before
        if not is_recorded:
            return None
        # If an interrupt arrives here, the answer is read from the record later, like an answer of
        # another process.
        with self._changing():
            if self._record is not None and written is not None:
                self._record.passed(written)
                self._past.append(answer)
                self._digests.append(digest)
            draft.apply()
        return answer

    def _recorded(self, question: Q, number: int) -> A | None:
        """Return the recorded answer with this number; None if it is the number of a new query."""
        if self._record is None:
            checks.fail("number", "left out, because the stream has no name", number)
        at = checks.whole("number", number)
        if at > len(self._past):
            self._catch_up()
        if at > len(self._past):
            checks.fail(
                "number", f"at most {len(self._past)}, the number of the next query", number
            )
        if at == len(self._past):
            return None
        if self._digests[at] != self._digest(question):
            checks.fail("number", "the number of the same query, or of the next query", number)
        return self._past[at]
