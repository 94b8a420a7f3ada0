"""Statistical queries: means of functions of a row, each within a tolerance that is stated before.

Kearns, "Efficient noise-tolerant learning from statistical queries", JACM 1998. What learns from
such answers learns from private ones (Blum, Dwork, McSherry and Nissim, PODS 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NoReturn

from .._core import checks
from ..budget.budget import Budget
from ..errors import DataError
from ..noise.additive import MOST
from ..privacy import Loss
from ..rng import Generator
from ..sources.row_source import RowSource
from ..sources.table import as_rows
from .oracle_base import Oracle, rows_and_totals, split
from .questions import Questions, cost_of
from .rounds import Rounds, loss_of
from .sums import totals
from .tolerance import COUNTING, Answer, Mean


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
    if checks.choice("loss", loss, ("rho", "epsilon")) == "rho":
        offered = loss_of(None, delta, MOST)
    else:
        offered = loss_of(MOST, delta, None)
    questions = Questions(tolerance, queries, confidence, bounds, l2, size, neighbors, "raise")
    return cost_of(questions, checks.whole("rows", rows), offered)[1]


class StatisticalQueryOracle(Oracle):
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
        When there are not as many rows as `rows` says; the spent budget is not refunded. (With
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
        questions = Questions(tolerance, queries, confidence, bounds, l2, size, neighbors, nan)
        source = as_rows(data)
        known = _known_rows(rows, source.length, neighbors)
        self._plan, self.cost = cost_of(questions, known, offered)
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
                "be within its tolerance"
            )
        return found

    def _check(self, means: Sequence[Mean], first: int) -> None:
        for i, mean in enumerate(means):
            if not self._plan.holds(self.cost, mean, first + i):
                own = self._questions
                kind = f"bounds={own.bounds!r}"
                if own.l2 is not None:
                    kind = f"l2={own.l2!r}, size={own.reference.size}"
                checks.fail(
                    "f",
                    f"no larger than what the oracle was made for ({kind}), as its answer might "
                    "be off by more than the tolerance",
                    f"a function of {mean.size} numbers" if mean.size > 1 else "wider bounds",
                )

    def _answers(self, means: Sequence[Mean], first: int) -> list[Answer]:
        parts = [self._plan.asking(mean, first + i) for i, mean in enumerate(means)]
        total = rows_and_totals(means, self._questions)
        known = self._rows if self._questions.neighbors == "replace" else None

        def checked(source: RowSource) -> list[int]:
            rows, *found = total(source)
            if known is not None and rows != known:
                raise DataError(f"there are not as many rows as rows={self._rows} says")
            return found

        return split(means, self._rounds.ask(checked, parts, len(means)), self._rows)


class ExactOracle(Oracle):
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
        questions = Questions(tolerance, queries, 0.5, bounds, l2, size, "replace", nan)
        super().__init__(as_rows(data), questions)

    def __repr__(self) -> str:
        return f"ExactOracle(not private, {self.remaining} of {self.queries} left)"

    def _answers(self, means: Sequence[Mean], first: int) -> list[Answer]:
        rows, *found = rows_and_totals(means, self._questions)(self._source)
        if not rows:
            raise DataError("there are no rows, and so no mean")
        return split(means, found, Fraction(rows))


def _known_rows(rows: Any, length: int | None, neighbors: str) -> int:
    """The public number of rows, or the public lower bound."""
    if neighbors == "add-remove":
        if rows is None:
            checks.fail(
                "rows", "given with neighbors='add-remove': a public lower bound of them", rows
            )
        return checks.whole("rows", rows, 1)
    if rows is None:
        if length is None:
            checks.fail("rows", "given, for data of a length that is not known", rows)
        return length
    given = checks.whole("rows", rows, 1)
    if length is not None and given != length:
        checks.fail("rows", f"{length}, as many as there are, or left out", rows)
    return given
