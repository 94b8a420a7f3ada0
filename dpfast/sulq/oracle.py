"""Statistical queries: means of functions of a row, each within a tolerance that is stated before.

Kearns, "Efficient noise-tolerant learning from statistical queries", JACM 1998. What learns from
such answers learns from private ones (Blum, Dwork, McSherry and Nissim, PODS 2005).
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

from .. import _check
from .._additive import MOST
from ..budget import Budget
from ..errors import BudgetError, DataError
from ..privacy import Loss, Pure
from ..rng import Generator
from ..sources.table import RowSource, as_rows
from ._exact import Count, Piece, RowFunction
from ._rounds import Rounds, loss_of
from ._terms import Term, exact, listed
from ._tolerance import COUNTING, Answer, Mean, Plan, least_loss, least_rows, planned
from .sums import totals

__all__ = ["ExactOracle", "StatisticalQueryOracle", "oracle_cost"]

#: Questions of an oracle, each of which has a share of its own, and numbers of an answer, at most.
MOST_QUESTIONS = MOST_NUMBERS = 1 << 20


@dataclass(frozen=True, slots=True)
class _Any(RowFunction):
    """Stands for whatever will be asked."""

    size: int = 1

    def values(self, piece: Piece) -> NoReturn:
        raise AssertionError("no question")


class _Questions:
    """What is promised about the questions: tolerances, and what kind of function they are about.

    `reference` is the kind of function that the cost is calculated for.
    """

    def __init__(
        self,
        tolerance: Any,
        queries: Any,
        confidence: Any,
        bounds: Any,
        l2: Any,
        size: Any,
        neighbors: Any,
        nan: Any,
    ) -> None:
        self.tolerances = _tolerances(tolerance, queries)
        level = _check.positive("confidence", confidence)
        if level >= 1:
            _check.fail("confidence", "greater than 0 and less than 1", confidence)
        self.miss = float(1 - _check.fraction("confidence", confidence))
        self.neighbors = _check.neighbors(neighbors)
        self.nan = _check.nan_policy(nan, neighbors)
        if nan == "drop":
            _check.fail("nan", "'raise', 'lower', 'upper' or a number, for every row counts", nan)
        if l2 is None and size is not None:
            _check.fail("size", "left out without l2", size)
        if l2 is None and bounds is None:
            bounds = (0, 1)
        self.bounds, self.l2 = bounds, l2
        width = 1 if size is None else _check.whole("size", size, 1)
        if width > MOST_NUMBERS:
            _check.fail("size", f"at most {MOST_NUMBERS}", size)
        term = Term(_Any(width), bounds, l2)
        self.reference = Mean.of(exact(term, as_rows([]), self.nan, neighbors), neighbors)
        if not self.reference.part.l1:
            _check.fail("bounds", "a pair (lo, hi) with lo < hi", bounds)
        least = 1024 * self.reference.times * self.reference.unit  # of a cell, which is rounded to
        if min(self.tolerances) < least:
            _check.fail("tolerance", f"at least {float(least):.3g} for such functions", tolerance)

    def plan(self, rows: int, pure: bool) -> Plan:
        return planned(rows, self.tolerances, self.reference, self.miss, self.neighbors, pure)

    def means(self, terms: Sequence[Term], source: RowSource) -> list[Mean]:
        """What is asked, once everything about it has been checked."""
        found = []
        for term in terms:
            if term.bounds is None and term.l2 is None and not isinstance(term.f, str):
                term = Term(term.f, self.bounds, self.l2, term.size, term.column)
            own = exact(term, source, self.nan, self.neighbors)
            found.append(Mean.of(own, self.neighbors))
        return found


def _tolerances(tolerance: Any, queries: Any) -> tuple[Fraction, ...]:
    if queries is None:
        rule = "one for each question, or a number with queries"
        try:
            each = list(tolerance)
        except TypeError:
            _check.fail("tolerance", rule, tolerance)
        if isinstance(tolerance, str) or not each:
            _check.fail("tolerance", rule, tolerance)
        return tuple(_positive(one) for one in each)
    count = _check.whole("queries", queries, 1)
    if count > MOST_QUESTIONS:
        _check.fail("queries", f"at most {MOST_QUESTIONS}", queries)
    return (_positive(tolerance),) * count


def _positive(tolerance: Any) -> Fraction:
    _check.positive("tolerance", tolerance)
    return _check.fraction("tolerance", tolerance)


def _cost(questions: _Questions, rows: int, offered: Loss) -> tuple[Plan, Loss]:
    """The least loss that does, or one error."""
    made = questions.plan(rows, isinstance(offered, Pure))
    found = least_loss(made, questions.reference, offered) if rows else None
    if found is None:
        enough = least_rows(made, questions.reference, offered)
        _check.fail(
            "rows",
            f"at least {enough} for these tolerances to cost no more than {offered!r}"
            if enough
            else f"more than any data have for these tolerances to cost no more than {offered!r}",
            rows,
        )
    return made, found


def oracle_cost(
    rows: int,
    *,
    tolerance: Any,
    queries: int | None = None,
    confidence: Any = 0.95,
    bounds: Any = None,
    l2: Any = None,
    size: int | None = None,
    loss: str = "rho",
    delta: Any = 0.0,
    neighbors: str = "add-remove",
) -> Loss:
    """What a `StatisticalQueryOracle` costs: a matter of public numbers alone.

    Parameters
    ----------
    rows : int
        How many rows there are, or a public lower bound.
    tolerance, queries, confidence, bounds, l2, size, neighbors : optional
        As in `StatisticalQueryOracle`.
    loss : {"rho", "epsilon"}, default "rho"
        The kind of loss.
    delta : float, Fraction or Decimal, default 0
        With "epsilon" only.

    Returns
    -------
    Pure, Approx or ZCDP
        The least loss that does, its four digits rounded up. With Gaussian noise it is in
        proportion to the sum of ``1 / tolerance**2`` over ``rows**2``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, and for too few rows at any loss.

    Notes
    -----
    Cost: some milliseconds.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.sulq.oracle_cost(100_000, tolerance=0.01, queries=100, neighbors="replace")
    ZCDP(rho=0.0006058)
    >>> dp.sulq.oracle_cost(100_000, tolerance=0.01, queries=100, loss="epsilon", delta=1e-6)
    Approx(epsilon=0.08406, delta=1e-06)
    """
    if _check.choice("loss", loss, ("rho", "epsilon")) == "rho":
        offered = loss_of(None, delta, MOST)
    else:
        offered = loss_of(MOST, delta, None)
    questions = _Questions(tolerance, queries, confidence, bounds, l2, size, neighbors, "raise")
    return _cost(questions, _check.whole("rows", rows), offered)[1]


class _Oracle(ABC):
    """What both oracles have."""

    _name: ClassVar[str]
    _source: RowSource
    _questions: _Questions

    def __init__(self, source: RowSource, questions: _Questions) -> None:
        self._source, self._questions = source, questions
        self._used, self._lock = 0, threading.Lock()

    @property
    def queries(self) -> int:
        """How many questions may be asked in all."""
        return len(self._questions.tolerances)

    @property
    def remaining(self) -> int:
        """How many questions are left."""
        return self.queries - self._used

    @property
    def tolerance(self) -> float:
        """By how much an answer may be off: the largest of all tolerances."""
        return float(max(self._questions.tolerances))

    @property
    def columns(self) -> tuple[Any, ...]:
        """Names of the columns of a row, or their numbers."""
        names = self._source.dtype.names
        return tuple(names) if names else tuple(range(self._source.width or 1))

    def ask(
        self,
        f: Any,
        *,
        bounds: Any = None,
        l2: Any = None,
        size: int | None = None,
        column: Any = None,
    ) -> Answer:
        """The mean of a function over all rows, within the tolerance of the question.

        Parameters
        ----------
        f : str, Condition, Numba dispatcher or array_like
            p(x, c(x)): all that `NoisySums.sum` takes. The label c(x) is a column of the row like
            any other.
        bounds, l2, size, column : optional
            As in `NoisySums.sum`; a function that has no name, and neither `bounds` nor `l2`, gets
            those of the oracle.

        Returns
        -------
        float or float64 array of shape (size,)
            Each number is within the tolerance. Not clamped.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument, and for a function that may be larger than what was paid for; no
            question has been used.
        BudgetError
            After the last question.
        DataError
            A missing value under ``nan="raise"``; the question has been used.
        """
        return self.batch([Term(f, bounds, l2, size, column)])[0]

    def batch(self, terms: Sequence[Any]) -> list[Answer]:
        """As many questions in one read of the data.

        Parameters
        ----------
        terms : sequence
            Each a `Term`, or anything that `ask` takes for `f`.

        Returns
        -------
        list of float or array
            Answers that `ask` might have given to one after the other.

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError, DataError
            As `ask`.
        """
        made = listed(terms)
        means = self._questions.means(made, self._source)
        with self._lock:
            first = self._used
            if self.remaining < len(means):
                raise BudgetError(
                    f"{self._name}: {self.remaining} of {self.queries} questions are left, not "
                    f"{len(means)}"
                )
            self._check(means, first)
            self._used += len(means)
        return self._answers(means, first)

    def _check(self, means: Sequence[Mean], first: int) -> None:
        """Refuse what the tolerances do not hold for; `first` is the number of the first one."""
        return None

    @abstractmethod
    def _answers(self, means: Sequence[Mean], first: int) -> list[Answer]: ...


class StatisticalQueryOracle(_Oracle):
    """Answers to statistical queries, all within their tolerances with a stated probability.

    Privacy
    -------
    Neighbours are datasets that differ in one row, added or removed, or replaced (`neighbors`).
    All answers together satisfy the loss `cost`, whatever is asked and however a question depends
    on earlier answers. It is known before the data are touched, spent when the object is made, and
    no question is answered after the last. (The oracle of Blum, Dwork, McSherry and Nissim, PODS
    2005, with the noise of `NoisySums`.)

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), structured array, table, or source
        As in `NoisySums`. Where there are labels, they are a column.
    tolerance : float, or one for each question
        How far an answer may be from the mean over the rows, in the units of the functions. A
        question with half the tolerance costs four times as much (twice, with `epsilon` alone). At
        least about ``2**-30`` of the bounds.
    queries : int, optional
        How many questions, where all have the same tolerance; at most 2**20.
    confidence : float, default 0.95
        The probability that all answers are within their tolerances.
    bounds : (float, float), default (0, 1)
        Public limits of the functions that will be asked about.
    l2 : float, optional
        Instead of `bounds`, for vectors: their largest length.
    size : int, optional
        With `l2`: how many numbers a vector has, at most; no more than 2**20.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The most that may be spent: `epsilon` alone, `epsilon` with `delta`, or `rho` alone. What is
        spent is `cost`.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighbouring relation. With "replace" the number of rows is public.
    rows : int, optional
        How many rows there are, where "replace" is meant and a source does not know. With
        "add-remove" it must be given: a public lower bound.
    nan : {"raise", "lower", "upper"} or float, default "raise"
        What a value of a function counts as that is NaN, as in `NoisySums`.
    budget : Budget, optional
        Pays `cost` now, before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Attributes
    ----------
    cost : Pure, Approx or ZCDP
        The loss of all answers together: the least that does; see `oracle_cost`.
    tolerance : float
        The largest of all tolerances.
    queries, remaining : int
        How many questions there are, and how many are left.
    columns : tuple
        Names or numbers of the columns of a row.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, and for too few rows (the message says how many would do); nothing has
        been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.
    DataError
        When there are not as many rows as `rows` says; what was spent stays spent. (With
        "add-remove" when the noisy count is below all that noise explains, which is otherwise
        among the events that `confidence` leaves.)

    Notes
    -----
    Cost: a read of the data a question, and one to count the rows with "add-remove".

    The promise is about the mean over these rows of the function as it is summed: clipped, and on
    a grid of about ``2**-40`` of its bounds (``2**-30`` for the factors of "square" and "product").
    It says nothing of the population that the rows are from. For questions that were
    chosen without looking at these rows, add ``(hi - lo) sqrt(log(2 q / b) / (2 n))`` with
    probability 1 - b (Hoeffding); for others the sampling error is larger, if not by much where
    answers are private (Dwork et al., STOC 2015).

    Answers are not averaged over repeated questions: that is the same as one question for the
    loss of all. With "add-remove" the rows are counted once, with noise, as part of the cost, and
    functions are centred between their bounds, so that they move by half as much.

    The object can be neither pickled nor copied, and a forked process is refused.

    Examples
    --------
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

    Too few rows for what may be spent:

    >>> dp.sulq.StatisticalQueryOracle(age, tolerance=0.01, queries=10, rho=1e-4, rows=30_000)
    Traceback (most recent call last):
    ...
    dpfast.errors.ArgumentError: rows must be at least 56563 for ...
    """

    _name = "statistical queries"

    def __init__(
        self,
        data: Any,
        *,
        tolerance: Any,
        queries: int | None = None,
        confidence: Any = 0.95,
        bounds: Any = None,
        l2: Any = None,
        size: int | None = None,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        neighbors: str = "add-remove",
        rows: int | None = None,
        nan: str | float = "raise",
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> None:
        offered = loss_of(epsilon, delta, rho)
        questions = _Questions(tolerance, queries, confidence, bounds, l2, size, neighbors, nan)
        source = as_rows(data)
        known = _known_rows(rows, source.length, neighbors)
        self._plan, self.cost = _cost(questions, known, offered)
        super().__init__(source, questions)
        self._rounds = Rounds(
            source,
            loss=self.cost,
            neighbors=neighbors,
            rounds=self._plan.rounds,
            name=self._name,
            budget=budget,
            rng=rng,
        )
        self._rows = Fraction(known)
        if neighbors == "add-remove":
            self._rows = self._counted(known)

    def __reduce__(self) -> NoReturn:
        raise TypeError("an oracle can be neither pickled nor copied: both copies could be asked")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cost!r}, {self.remaining} of {self.queries} left)"

    def _counted(self, least: int) -> Fraction:
        """The number of rows with noise."""
        (units,) = self._rounds.ask(totals([COUNTING], None, "raise"), [self._plan.counting])
        found = COUNTING.unit * units
        if found < least - self._plan.off(self.cost):
            raise DataError(
                f"there are fewer rows than rows={least}, the public lower bound: no answer would "
                "be within its tolerance. This depends on the data: what was spent stays spent"
            )
        return found

    def _check(self, means: Sequence[Mean], first: int) -> None:
        for i, mean in enumerate(means):
            if not self._plan.holds(self.cost, mean, first + i):
                own = self._questions
                kind = f"bounds={own.bounds!r}"
                if own.l2 is not None:
                    kind = f"l2={own.l2!r}, size={own.reference.size}"
                _check.fail(
                    "f",
                    f"no larger than what the oracle was made for ({kind}), as its answer might "
                    "be off by more than the tolerance",
                    f"a function of {mean.size} numbers" if mean.size > 1 else "wider bounds",
                )

    def _answers(self, means: Sequence[Mean], first: int) -> list[Answer]:
        parts = [self._plan.asking(mean, first + i) for i, mean in enumerate(means)]
        total = _rows_and_totals(means, self._questions)
        known = self._rows if self._questions.neighbors == "replace" else None

        def checked(source: RowSource) -> list[int]:
            rows, *found = total(source)
            if known is not None and rows != known:
                raise DataError(
                    f"there are not as many rows as rows={self._rows} says. This depends on the "
                    "data: what was spent stays spent"
                )
            return found

        return _split(means, self._rounds.ask(checked, parts, len(means)), self._rows)


class ExactOracle(_Oracle):
    """NOT PRIVATE: exact answers, to compare a `StatisticalQueryOracle` with.

    What learns by asking a `StatisticalQueryOracle` can be run on this one to see what noise does.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), structured array, table, or source
    tolerance : float, or one for each question
        What those that ask are told. Answers are exact.
    queries : int, optional
    bounds : (float, float), default (0, 1)
    l2, size : optional
    nan : {"raise", "lower", "upper"} or float, default "raise"
        All as in `StatisticalQueryOracle`; bounds and lengths clip, and do nothing else.

    Attributes
    ----------
    tolerance : float
    queries, remaining : int
    columns : tuple
        As there.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        For data without rows, which have no mean.

    Notes
    -----
    Cost: a read of the data a question.

    Examples
    --------
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
        tolerance: Any,
        queries: int | None = None,
        bounds: Any = None,
        l2: Any = None,
        size: int | None = None,
        nan: str | float = "raise",
    ) -> None:
        questions = _Questions(tolerance, queries, 0.5, bounds, l2, size, "replace", nan)
        super().__init__(as_rows(data), questions)

    def __repr__(self) -> str:
        return f"ExactOracle(not private, {self.remaining} of {self.queries} left)"

    def _answers(self, means: Sequence[Mean], first: int) -> list[Answer]:
        rows, *found = _rows_and_totals(means, self._questions)(self._source)
        if not rows:
            raise DataError("there are no rows, and so no mean")
        return _split(means, found, Fraction(rows))


def _rows_and_totals(
    means: Sequence[Mean], questions: _Questions
) -> Callable[[RowSource], list[int]]:
    """A pass: how many rows, then the integers of all functions."""
    return totals([Count(), *means], None, questions.nan)


def _split(means: Sequence[Mean], found: Sequence[int], rows: Fraction) -> list[Answer]:
    answers, at = [], 0
    for mean in means:
        answers.append(mean.mean(found[at : at + mean.size], rows))
        at += mean.size
    return answers


def _known_rows(rows: Any, length: int | None, neighbors: str) -> int:
    """The public number of rows, or the public lower bound."""
    if neighbors == "add-remove":
        if rows is None:
            _check.fail(
                "rows", "given with neighbors='add-remove': a public lower bound of them", rows
            )
        return _check.whole("rows", rows, 1)
    if rows is None:
        if length is None:
            _check.fail("rows", "given, for data of a length that is not known", rows)
        return length
    given = _check.whole("rows", rows, 1)
    if length is not None and given != length:
        _check.fail("rows", f"{length}, as many as there are, or left out", rows)
    return given
