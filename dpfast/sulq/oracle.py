"""Statistical queries: the mean of a function of a row, within a tolerance stated beforehand.

An oracle answers queries for means: from noisy sums (`StatisticalQueryOracle`), or from exact sums
(`ExactOracle`). Both count their queries. `oracle_cost` computes the loss of all answers.

Kearns, "Efficient noise-tolerant learning from statistical queries", JACM 1998. An algorithm that
learns from answers within a tolerance also learns from private answers (Blum, Dwork, McSherry and
Nissim, PODS 2005).
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, NoReturn

from .._core import checks
from .._core.types import Bounds, Neighbors, Number
from ..budget.budget import Budget
from ..budget.release import Prepared, prepare, relation_of, releases
from ..errors import BudgetError, DataError
from ..rng import Generator
from ..tables.base import RowSource
from ..tables.data import as_rows, once
from .oracle_cost import COUNTING, cost_of
from .parts import Part
from .questions import Questions
from .rounds import Rounds, loss_of
from .row_functions import split
from .terms import COUNT, Answer, Exact, Term, Total, listed, totals


class Oracle(ABC):
    """The base of the private and the exact oracle. It checks and counts queries."""

    _name: ClassVar[str]

    def __init__(self, source: RowSource, questions: Questions) -> None:
        self._source, self._questions = source, questions
        self._used, self._lock = 0, threading.Lock()

    @property
    def queries(self) -> int:
        """The total number of queries."""
        return len(self._questions.tolerances)

    @property
    def remaining(self) -> int:
        """The number of queries that are left."""
        return self.queries - self._used

    @property
    def tolerance(self) -> float:
        """The largest error that an answer may have."""
        return float(max(self._questions.tolerances))

    @property
    def columns(self) -> tuple[str, ...] | tuple[int, ...]:
        """The names of the columns of the data, or their numbers if they have no names."""
        return self._source.dtype.names or tuple(range(self._source.width or 1))

    def ask(
        self,
        f: Any,
        *,
        bounds: Bounds | None = None,
        l2: Number | None = None,
        size: int | None = None,
        column: Any = None,
    ) -> Answer:
        """Return the mean of a function over all rows, within the tolerance of the query.

        Parameters
        ----------
        f : str, Condition, Numba dispatcher or array_like
            The function of a row, as in `NoisySums.sum`. A label is a column of the row
            like any other.
        bounds, l2, size, column : optional
            As in `NoisySums.sum`. By default, a compiled function, a condition or an array
            has the bounds or the `l2` of the oracle.

        Returns
        -------
        float or float64 array of shape (size,)
            The mean, not clamped. Each number is within the tolerance.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument, or a function with wider bounds than the oracle paid for. No query
            was used up.
        BudgetError
            If no query is left.
        DataError
            If a value is missing, with ``nan="raise"``. The query is used up.
        """
        return self.batch([Term(f, bounds, l2, size, column)])[0]

    def batch(self, terms: Sequence[Any]) -> list[Answer]:
        """Return the answers to several queries from one read of the data.

        Parameters
        ----------
        terms : sequence
            Each is a `Term`, or any value that `ask` takes for `f`.

        Returns
        -------
        list of float or array
            The answer to each query. They have the same distribution as answers of successive calls
            of `ask`.

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError, DataError
            As in `ask`.

        Examples
        --------
        Two shares of ten rows, as two of three queries:

        >>> import numpy as np, dpfast as dp
        >>> oracle = dp.sulq.ExactOracle(np.arange(10), tolerance=0.1, queries=3)
        >>> oracle.batch([np.arange(10) < 3, np.arange(10) < 5]), oracle.remaining
        ([0.3, 0.5], 1)
        """
        functions = self._questions.functions(listed(terms), self._source)
        with self._lock:
            first = self._used
            if self.remaining < len(functions):
                raise BudgetError(
                    f"{self._name}: {self.remaining} of {self.queries} queries are left, not "
                    f"{len(functions)}"
                )
            parts = self._parts(functions, first)
            self._used += len(functions)
        sums, rows = self._sums(totals([COUNT, *functions], self._questions.nan), parts)
        return [function.answer(integers, rows) for function, integers in split(sums, functions)]

    @abstractmethod
    def _parts(self, functions: Sequence[Exact], first: int) -> list[Part]:
        """Return the parts of queries from `first` on; refuse functions that are too wide."""

    @abstractmethod
    def _sums(self, total: Total, parts: list[Part]) -> tuple[list[int], int | Fraction]:
        """Return the sums of all functions as integers, and the number of rows, from one pass."""


class StatisticalQueryOracle(Oracle):
    """Answer statistical queries: means over the rows, within tolerances that you choose.

    A statistical query asks for the mean of a function over all rows. You state the largest error
    of each answer, `tolerance`, and the probability `confidence` that all errors stay below. The
    oracle computes the least loss that is enough, `cost`, and spends it.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced (`neighbors`). All
    answers together satisfy the loss `cost`, for any queries. A query may depend on earlier
    answers. The loss is computed before the data are read, and spent when the object is created. No
    query is answered after the last query. This is the oracle of Blum, Dwork, McSherry and Nissim,
    PODS 2005, with the noise of `NoisySums`.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), structured array, table, or source
        The rows, as in `NoisySums`. If there are labels, they are one of the columns.
    tolerance : float, or one for each question
        The largest error of an answer, in the units of the functions. Half of the tolerance costs
        four times as much, or with `epsilon` alone twice as much. A tolerance must be at least
        about ``2**-30`` of the bounds.
    queries : int, optional
        The number of queries, at most 2**20, if all have the same tolerance.
    confidence : float, default 0.95
        The probability that all answers are within their tolerances.
    bounds : (float, float), default (0, 1)
        Public limits of the values of functions.
    l2 : float, optional
        For vectors, instead of `bounds`: their largest length.
    size : int, optional
        With `l2`: the largest number of entries of a vector, at most 2**20.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The most that may be spent: `epsilon` alone, `epsilon` with `delta`, or `rho` alone. The
        oracle spends only `cost`.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove". Under
        "replace" the number of rows is public.
    rows : int, optional
        Under "replace" the number of rows, needed if the source does not know it. Under
        "add-remove" it is always needed: a public number that is at most the number of rows.
    nan : {"raise", "lower", "upper"} or float, default "raise"
        How a missing value of a function is treated, as in `NoisySums`.
    budget : Budget, optional
        The budget that pays for all answers, before rows are read or random bits are drawn. It pays
        `cost`.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Attributes
    ----------
    cost : Pure, Approx or ZCDP
        The loss of all answers together. It is the least loss that is enough for the tolerances
        (``dpfast/sulq/oracle_cost.py`` has the proof).
    tolerance : float
        The largest of all tolerances.
    queries, remaining : int
        The number of queries in all, and how many of them are left.
    columns : tuple
        The names or numbers of the columns of a row.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or too few rows for the loss; the message says how many rows would be
        enough. Nothing has been spent.
    BudgetError
        If the budget has too little left. Nothing has been spent.
    DataError
        If the number of rows contradicts `rows`. The spent budget is not refunded. Under
        "add-remove" this means that the noisy count is lower than noise explains. Noise alone can
        cause this; its probability is part of ``1 - confidence``.

    Notes
    -----
    Cost: one read of the data for each query, and under "add-remove" one more to count the rows.
    The object can be neither pickled nor copied, and a forked process cannot use it.

    *What the tolerance covers.* The tolerance is about the mean over these rows of the
    function, clamped and rounded to a grid of about ``2**-40`` of its bounds (``2**-30`` for
    the factors of "square" and "product"). It says nothing about the population of the rows.
    For q queries that were chosen without looking at these rows, add ``(hi - lo) sqrt(log(2 q /
    b) / (2 n))`` with probability 1 - b (Hoeffding). For adaptive queries the sampling error is
    larger, but not by much, because answers are private (Dwork et al., STOC 2015).

    *Noise.* A query that is repeated gets fresh noise, and the answers are not averaged: one
    query for the whole loss would be as accurate. Under "add-remove" the rows are counted once,
    with noise, and `cost` includes this. Functions are measured from the middle of their
    bounds, which halves their sensitivity.

    Examples
    --------
    The share of smokers and the share of people below 45, each within 0.01, as two of ten queries:

    >>> import numpy as np, dpfast as dp
    >>> age, smokes = np.arange(40_000) % 90, np.arange(40_000) % 5 == 0
    >>> people = {"age": age, "smokes": smokes}
    >>> budget = dp.Budget(rho=0.1)
    >>> oracle = dp.sulq.StatisticalQueryOracle(
    ...     people, tolerance=0.01, queries=10, confidence=1 - 1e-9, rho=0.1, rows=30_000,
    ...     budget=budget)
    >>> oracle.cost.rho == budget.spent["rho"]
    True
    >>> abs(oracle.ask("value", column="smokes", bounds=(0, 1)) - 0.2) < 0.01
    True
    >>> abs(oracle.ask(age < 45) - 0.5) < 0.01
    True
    >>> oracle
    StatisticalQueryOracle(ZCDP(rho=0.001855), 8 of 10 left)

    A loss that is too small for 30,000 rows is refused:

    >>> dp.sulq.StatisticalQueryOracle(age, tolerance=0.01, queries=10, rho=1e-4, rows=30_000)
    Traceback (most recent call last):
    ...
    dpfast.errors.ArgumentError: rows must be at least 56563 for ...
    """

    _name = "statistical queries"

    @releases
    def __init__(  # type: ignore[misc]
        self,
        data: Any,
        *,
        tolerance: Number | Sequence[Number],
        queries: int | None = None,
        confidence: Number = 0.95,
        bounds: Bounds | None = None,
        l2: Number | None = None,
        size: int | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        neighbors: Neighbors | None = None,
        rows: int | None = None,
        nan: Literal["raise", "lower", "upper"] | Number = "raise",
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        offered = loss_of(epsilon, delta, rho)
        neighbors = relation_of(neighbors, budget)
        questions = Questions(tolerance, queries, confidence, bounds, l2, size, neighbors, nan)
        source = as_rows(once(data, relation=neighbors))
        public_rows = _known_rows(rows, source.length, neighbors)
        self._plan, self.cost = cost_of(questions, public_rows, offered)
        super().__init__(source, questions)

        def after(rounds: Rounds) -> None:
            self._rounds = rounds
            self._rows = (
                self._counted(public_rows) if neighbors == "add-remove" else Fraction(public_rows)
            )

        number, payment = self._plan.rounds, {"budget": budget, "rng": rng}
        prepared = prepare(Rounds, source, self.cost, neighbors, number, self._name, **payment)
        return prepared.then(after)

    def __reduce__(self) -> NoReturn:
        raise TypeError("an oracle can be neither pickled nor copied: both copies could answer")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cost!r}, {self.remaining} of {self.queries} left)"

    def _counted(self, least: int) -> Fraction:
        """Return the noisy number of rows, which divides the sums."""
        (units,) = self._rounds.ask(totals([COUNTING], "raise"), [self._plan.counting])
        count: Fraction = COUNTING.unit * units
        if count < least - self._plan.off(self.cost):
            raise DataError(
                f"there are fewer rows than rows={least}, the public lower bound, so answers would "
                "not be within their tolerances"
            )
        return count

    def _parts(self, functions: Sequence[Exact], first: int) -> list[Part]:
        for question, function in enumerate(functions, first):
            if not self._plan.hold(self.cost, function, [question]):
                promise = self._questions
                kind = f"bounds={promise.bounds!r}"
                if promise.l2 is not None:
                    kind = f"l2={promise.l2!r}, size={promise.reference.size}"
                size = function.size
                checks.fail(
                    "f",
                    f"within the limits of the oracle ({kind}), so that its tolerance can hold",
                    f"a function of {size} numbers" if size > 1 else "wider bounds",
                )
        parts = [self._plan.asking(function, i) for i, function in enumerate(functions, first)]
        # Shares are fractions of all rounds together.
        return [replace(part, share=part.share / len(parts)) for part in parts]

    def _sums(self, total: Total, parts: list[Part]) -> tuple[list[int], int | Fraction]:
        def checked(source: RowSource) -> list[int]:
            rows, *sums = total(source)
            if self._questions.neighbors == "replace" and rows != self._rows:
                raise DataError(f"rows must be the number of rows of the data, got {self._rows}")
            return sums

        return self._rounds.ask(checked, parts, len(parts)), self._rows


def _known_rows(rows: Any, length: int | None, neighbors: str) -> int:
    """Return the public number of rows, or the public lower bound."""
    if rows is None and neighbors == "add-remove":
        rule = "given with neighbors='add-remove', as a public lower bound of the number of rows"
        checks.fail("rows", rule, rows)
    if rows is None and length is None:
        checks.fail("rows", "given for data of unknown length", rows)
    count = length if rows is None else checks.whole("rows", rows, 1)
    assert count is not None
    if neighbors == "replace" and length not in (None, count):
        checks.fail("rows", f"left out, or {length}, the number of rows", rows)
    return count


class ExactOracle(Oracle):
    """NOT PRIVATE: answer statistical queries exactly, to see what the noise of an oracle does.

    A learner for a `StatisticalQueryOracle` also accepts an `ExactOracle`. The difference of
    the results is the effect of noise.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), structured array, table, or source
        The rows, as in `NoisySums`.
    tolerance : float, or one for each question
        The tolerance that a learner sees. The answers are exact.
    queries : int, optional
    bounds : (float, float), default (0, 1)
    l2, size : optional
    nan : {"raise", "lower", "upper"} or float, default "raise"
        All as in `StatisticalQueryOracle`. Values are clamped to `bounds` or `l2`, which have no
        other effect.

    Attributes
    ----------
    tolerance : float
    queries, remaining : int
    columns : tuple
        All as in `StatisticalQueryOracle`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        For data without rows, which have no mean.

    Notes
    -----
    Cost: one read of the data for each query.

    Examples
    --------
    The share of three of ten rows:

    >>> import numpy as np, dpfast as dp
    >>> oracle = dp.sulq.ExactOracle(np.arange(10), tolerance=0.1, queries=3)
    >>> oracle.ask(np.arange(10) < 3), oracle.remaining
    (0.3, 2)
    """

    _name = "exact answers"

    def __init__(
        self,
        data: Any,
        *,
        tolerance: Number | Sequence[Number],
        queries: int | None = None,
        bounds: Bounds | None = None,
        l2: Number | None = None,
        size: int | None = None,
        nan: Literal["raise", "lower", "upper"] | Number = "raise",
    ) -> None:
        questions = Questions(tolerance, queries, 0.5, bounds, l2, size, "replace", nan)
        super().__init__(as_rows(data), questions)

    def __repr__(self) -> str:
        return f"ExactOracle(not private, {self.remaining} of {self.queries} left)"

    def _parts(self, functions: Sequence[Exact], first: int) -> list[Part]:
        return []

    def _sums(self, total: Total, parts: list[Part]) -> tuple[list[int], int | Fraction]:
        rows, *sums = total(self._source)
        if not rows:
            raise DataError("the mean of no rows is undefined")
        return sums, rows
