"""Streams of linear queries: public guesses, noisy comparisons with the data, noisy answers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import privacy
from .._core import checks
from .._core.types import Number
from ..budget.allocation import Allocation
from ..budget.release import Prepared
from ..privacy import Loss
from .plan import Plan
from .queries import Counted, Query, Universe, coded, counts_of, decoded, digest
from .session import Draft, Payment, Session

#: The most queries of a stream.
MOST_QUERIES = 1 << 62


class Answer(float):
    """A private answer to a linear query: a float with the facts about how it was computed.

    Attributes
    ----------
    hard : bool
        True if the answer was computed from the data, with noise. This uses up one of the hard
        answers of the stream. False if the answer was computed from public information. The flag
        itself is public.
    remaining : int
        The number of hard answers left.
    spent : Pure, Approx or ZCDP
        The privacy loss of the whole stream. It was paid when the stream was opened.

    Examples
    --------
    The share of the first of three elements, which is 0.7:

    >>> import dpfast as dp
    >>> stream = dp.online.MedianMechanism(
    ...     [7000, 2000, 1000], epsilon=1, queries=10, accuracy=0.1)
    >>> share = stream.answer([1, 0, 0])
    >>> share.hard, share.remaining < stream.hard, abs(share - 0.7) <= 0.1
    (True, True, True)
    """

    __slots__ = ("hard", "remaining", "spent")

    hard: bool
    remaining: int
    spent: Loss

    def __new__(cls, value: float, hard: bool, remaining: int, spent: Loss) -> Answer:
        answer = super().__new__(cls, value)
        answer.hard, answer.remaining, answer.spent = hard, remaining, spent
        return answer

    def __repr__(self) -> str:
        kind = "hard" if self.hard else "easy"
        return f"Answer({float(self)!r}, {kind}, {self.remaining} hard answers left)"

    def __reduce__(self) -> tuple[type[Answer], tuple[float, bool, int, Loss]]:
        return type(self), (float(self), self.hard, self.remaining, self.spent)


class Arguments(NamedTuple):
    """The checked arguments that all streams of linear queries have in common."""

    loss: Loss
    queries: int
    accuracy: float
    failure: float
    universe: Universe
    rows: int
    source: Counted
    read: Callable[[Any], NDArray[np.int64]]

    @classmethod
    def of(
        cls,
        loss: tuple[Number | None, Number, Number | None],
        queries: int,
        accuracy: Number,
        failure: Number,
        histogram: ArrayLike | None,
        data: Any,
        universe: ArrayLike | None,
    ) -> Arguments:
        total = privacy.loss(*loss)
        count = checks.whole("queries", queries, 1, MOST_QUERIES)
        wanted = checks.positive("accuracy", accuracy)
        risk = checks.share("failure", failure)
        if (histogram is None) == (data is None):
            rule = "given if data is not given, and left out otherwise"
            checks.fail("histogram", rule, histogram)
        if data is None:
            counts, rows = counts_of(histogram)
            elements = Universe(universe, len(counts))
            return cls(total, count, wanted, risk, elements, rows, counts, lambda counts: counts)
        if universe is None:
            checks.fail("universe", "given with data", universe)
        elements = Universe(universe, None)
        source, rows = elements.rows(data)
        return cls(total, count, wanted, risk, elements, rows, source, elements.count)

    def refuse(self, least: float, hard: int) -> NoReturn:
        """Raise an error for an accuracy that is impossible with the loss."""
        setting = f"this loss, {self.rows} rows and {hard} hard answers"
        rule = f"at least {1.001 * least:.4g} with {setting}, and at most 1"
        checks.fail("accuracy", rule, self.accuracy)


class LinearStream(Session[NDArray[np.float64], Answer]):
    """The base of streams that answer a linear query by a public guess, or else with noise."""

    def _stream(
        self,
        title: str,
        args: Arguments,
        plan: Plan,
        paid: Payment,
        threshold: int | None = None,
        **more: Any,
    ) -> Prepared[None]:
        """Return the release that opens the stream, spends its loss and counts its rows."""
        self.accuracy, self.left = args.accuracy, args.queries
        self.hard = plan.scales.positives
        self._universe, self._rows, self._plan = args.universe, args.rows, plan
        self._threshold = threshold or plan.threshold(args.accuracy, args.rows)
        entry = f"{title}, {self.left} queries, {self.hard} hard"
        opening = self._opening(
            Allocation(entry, plan.spent, "replace", args.read),
            plan.scales,
            paid,
            args.source,
            loss=args.loss,
            accuracy=args.accuracy,
            failure=args.failure,
            rows=args.rows,
            universe=args.universe.facts,
            plan=plan,
            threshold=self._threshold,
            **more,
        )

        def opened(counts: NDArray[np.int64]) -> None:
            self._counts = self._held(counts)

        return opening.then(opened)

    def answer(self, query: Query, number: int | None = None) -> Answer:
        """Answer a linear query: return approximately its mean over all rows.

        Parameters
        ----------
        query : array_like of shape (N,), or callable
            A number from 0 to 1 for each element of the universe: a vector (also of booleans), or a
            function of one element, which is fastest if Numba compiles it. The numbers are rounded
            to multiples of a public power of two, and the rounded query is answered. The power is
            at most 2**-22 for fewer than 2**30 rows, and at most 2**-16 for more. Only for a very
            small loss is it larger. Then the least possible accuracy is more than ten times the
            rounding.
        number : int, optional
            For a stream with a name: the number of this query in the stream, from 0 on. If the
            query with this number has been answered, its recorded answer is returned. Otherwise it
            must be the number of the next query.

        Returns
        -------
        Answer
            A float that says whether the query was hard.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad query, or if `number` belongs to another query. The stream is unchanged.
        StreamError
            If the stream has halted: all its queries or all its hard answers are used, or no
            candidate is left. Also if an earlier call was interrupted while the stream learned from
            an answer (which a stream with a name has recorded), and in a forked process.
        LedgerError
            If the answer could not be recorded. The stream is unchanged.
        """
        return self._ask(self._universe.values(query), number)

    @property
    def _over(self) -> bool:
        return not self.left or super()._over

    def _draft(self, question: NDArray[np.float64]) -> Draft:
        if not self.left:
            self._halted("all its queries are answered")
        if not self.remaining:
            self._halted("all its hard answers are used")
        guess, exact = self._compare(question)
        doubt = np.array([self._doubt(guess, exact)], np.int64)
        hard = bool(self._comparison.ask(doubt, np.array([self._threshold]), self._generator)[0])
        noisy, body = guess, b""
        if hard:
            (noisy,) = self._plan.noise.add([exact], self._generator)
            if self._record is not None:
                body = coded(self._weights(question), self._plan.bits)
        more = noisy > guess
        answer = {"hard": hard, "more": more, "told": noisy, "left": self._comparison.left}

        def apply() -> None:
            if hard:
                self._learn(question, noisy, more)
            self.left -= 1

        return Draft(answer, body, self.left == 1 or not self._comparison.left, apply)

    def _formatted(self, answer: dict[str, Any]) -> Answer:
        share = min(max(answer["told"] / (self._rows << self._plan.bits), 0.0), 1.0)
        return Answer(share, answer["hard"], answer["left"], self.spent)

    def _digest(self, question: NDArray[np.float64]) -> str:
        return digest(self._weights(question))

    def _replay(self, answer: dict[str, Any], body: bytes) -> None:
        if answer["hard"]:
            weights = decoded(body, self._plan.bits, self._universe.size)
            question = np.ldexp(weights, -self._plan.bits)
            self._compare(question)
            self._learn(question, answer["told"], answer["more"])
        self.left -= 1

    def _weights(self, question: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._universe.weights(question, self._plan.bits)

    def _held(self, counts: NDArray[np.int64]) -> NDArray[Any]:
        """Return the counts of the data in the dtype that `_compare` needs."""
        return counts.astype(np.float64)

    @abstractmethod
    def _compare(self, question: NDArray[np.float64]) -> tuple[int, int]:
        """Return a public guess of the sum of a query over all rows, and the secret sum.

        Raise an error for a bad query.
        """

    def _doubt(self, guess: int, exact: int) -> int:
        """Return the secret integer that is compared with the threshold."""
        return abs(exact - guess)

    @abstractmethod
    def _learn(self, question: NDArray[np.float64], noisy: int, more: bool) -> None:
        """Update the state by a hard answer: the noisy sum of the last query over all rows.

        `more` says whether this noisy sum is above the public guess.
        """
