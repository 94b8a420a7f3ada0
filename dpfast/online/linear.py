"""What streams of linear queries share: a public guess, a gate that compares it with the data, and
an answer with noise where they are too far apart."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from ..budget.allocation import Allocation, as_it_is
from ..budget.budget import Budget
from ..privacy import Loss
from ..rng import Generator
from ..rng import check as _checked
from .answer import Answer
from .gate import Gate
from .plan import Plan
from .queries import Universe, coded, counts_of, decoded, digest
from .session import Draft, Session, facts, opened, record

#: Queries of one stream.
MOST_QUERIES = 1 << 62


class Asked(NamedTuple):
    """The arguments that all of these streams have, checked."""

    loss: Loss
    queries: int
    accuracy: float
    failure: float
    universe: Universe
    rows: int
    source: Any
    read: Callable[[Any], Any]

    @classmethod
    def of(
        cls,
        loss: tuple[Any, Any, Any],
        queries: Any,
        accuracy: Any,
        failure: Any,
        histogram: Any,
        data: Any,
        universe: Any,
    ) -> Asked:
        found = privacy.loss(*loss)
        count = checks.whole("queries", queries, 1)
        if count > MOST_QUERIES:
            checks.fail("queries", "at most 2**62", queries)
        wanted = checks.positive("accuracy", accuracy)
        risk = checks.positive("failure", failure)
        if risk >= 1:
            checks.fail("failure", "greater than 0 and less than 1", failure)
        if (histogram is None) == (data is None):
            checks.fail("histogram", "given, or data with a universe instead", histogram)
        if data is not None:
            if universe is None:
                checks.fail("universe", "given with data", universe)
            elements = Universe(universe, None)
            source: Any
            source, rows = elements.rows(data)
            read: Callable[[Any], Any] = elements.count
        else:
            (source, rows), read = counts_of(histogram), as_it_is
            elements = Universe(universe, len(source))
        return cls(found, count, wanted, risk, elements, rows, source, read)

    def refuse(self, least: float, hard: int) -> NoReturn:
        """The one error about an accuracy that cannot be kept."""
        given = f"this loss, {self.rows} rows and {hard} hard answers"
        rule = f"at least {1.001 * least:.4g} with {given}, and at most 1"
        checks.fail("accuracy", rule, self.accuracy)


class LinearStream(Session[NDArray[np.float64], Answer]):
    """A stream of linear queries that is paid for."""

    def __init__(
        self,
        title: str,
        asked: Asked,
        plan: Plan,
        budget: Budget | None,
        rng: Generator | None,
        name: str | None,
        threshold: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__()
        self.accuracy, self.left = asked.accuracy, asked.queries
        self.hard = plan.scales.positives
        self._universe, self._rows, self._plan = asked.universe, asked.rows, plan
        self._threshold = (
            plan.threshold(asked.accuracy, asked.rows) if threshold is None else threshold
        )
        what = f"{title}, {self.left} queries, {self.hard} hard"
        allocation = Allocation(what, plan.spent, "replace", asked.read)
        _checked(rng)
        told = facts(
            what=what,
            loss=asked.loss,
            accuracy=asked.accuracy,
            failure=asked.failure,
            rows=asked.rows,
            universe=asked.universe.facts,
            plan=plan,
            threshold=self._threshold,
            **more,
        )
        self._kept = record(name, budget, told)
        counts, self._generator = opened(allocation, asked.source, budget, rng, self._kept)
        self._counts = self._held(counts)
        self._gate = Gate(plan.scales, self._generator)

    @property
    def remaining(self) -> int:
        """How many hard answers are left."""
        return self._gate.left

    @property
    def spent(self) -> Loss:
        """What the stream costs, all answers together."""
        return self._plan.spent

    def answer(self, query: Any, number: int | None = None) -> Answer:
        """The mean of a query over all rows.

        Parameters
        ----------
        query : array_like of shape (N,), or callable
            A number from 0 to 1 for each element of the universe: as a vector (booleans, too), or
            as a function of one element, best compiled by Numba. The query that is answered has
            them rounded to multiples of a public power of two: at most 2**-22 for fewer than 2**30
            rows and 2**-16 for others; more only where the loss is so small that the least accuracy
            is more than ten times the rounding.
        number : int, optional
            For a stream with a name: which question this is, from 0 on. If it has been answered,
            the answer of the record comes back; else it has to be the next.

        Returns
        -------
        Answer
            A float, which says whether it was hard.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad query, or a number that is another question's; the stream is as it was.
        StreamError
            The stream has halted (all queries or all hard answers are used, or nothing public is
            left to guess from), it was interrupted while it learned from an answer (of a stream
            with a name the record has that answer), or this is a forked copy of it.
        LedgerError
            The answer could not be recorded; the stream is as it was.
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
        guess, exact, basis = self._compare(question)
        doubt = np.array([self._doubt(guess, exact, basis)], np.int64)
        hard = bool(self._gate.ask(doubt, np.array([self._threshold]), self._generator)[0])
        told, body = guess, b""
        if hard:
            (told,) = self._plan.noise.add([exact], self._generator)
            if self._record is not None:
                body = coded(self._weights(question), self._plan.bits)
        more = told > guess
        answer = {"hard": hard, "more": more, "told": told, "left": self._gate.left}

        def apply() -> None:
            if hard:
                self._learn(question, basis, told, more)
            self.left -= 1

        return Draft(answer, body, self.left == 1 or not self._gate.left, apply)

    def _told(self, answer: dict[str, Any]) -> Answer:
        share = min(max(answer["told"] / (self._rows << self._plan.bits), 0.0), 1.0)
        return Answer(share, answer["hard"], answer["left"], self.spent)

    def _digest(self, question: NDArray[np.float64]) -> str:
        return digest(self._weights(question))

    def _replay(self, answer: dict[str, Any], body: bytes) -> None:
        if answer["hard"]:
            weights = decoded(body, self._plan.bits, self._universe.size)
            question = np.ldexp(weights, -self._plan.bits)
            _, _, basis = self._compare(question)
            self._learn(question, basis, answer["told"], answer["more"])
        self._gate.left = answer["left"]
        self.left -= 1

    def _weights(self, question: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._universe.weights(question, self._plan.bits)

    def _held(self, counts: NDArray[np.int64]) -> NDArray[Any]:
        """The counts of the data as `_compare` wants them."""
        return counts.astype(np.float64)

    @abstractmethod
    def _compare(self, question: NDArray[np.float64]) -> tuple[int, int, Any]:
        """A public guess of the sum of a query over all rows, the sum, which is secret, and what
        the guess was made from. An error for a query that is none."""

    def _doubt(self, guess: int, exact: int, basis: Any) -> int:
        """What the gate compares with the threshold: secret."""
        return abs(exact - guess)

    @abstractmethod
    def _learn(self, question: NDArray[np.float64], basis: Any, told: int, more: bool) -> None:
        """The data have about `told`, more (or else less) than was guessed, as far as is known."""
