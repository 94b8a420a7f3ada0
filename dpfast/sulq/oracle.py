"""Statistical queries: means of functions of a row, each within a tolerance that is stated before.

An oracle is asked for means, and answers with exact sums (`ExactOracle`) or noisy ones
(`StatisticalQueryOracle`). Both count their questions. What an answer costs is below.

Kearns, "Efficient noise-tolerant learning from statistical queries", JACM 1998. What learns from
such answers learns from private ones (Blum, Dwork, McSherry and Nissim, PODS 2005).

*What an answer costs.*
A question is the mean of a function over n rows. q answers are all within their tolerances with
probability 1 - b if each is with probability 1 - b / q, which is a matter of the tail of its noise.
The noise of a question with tolerance t may be n t in size, so with Gaussian noise the question
takes a part of the loss in proportion to 1 / t^2, and with Laplace noise to 1 / t. Then all have
the least total, rho = z^2 / (2 n^2) times the sum of (D / t)^2, where D is the sensitivity of a sum
and a normal variable exceeds z with probability b / (2 q): z^2 <= 2 log(2 q / b).

*Where rows come and go* n is not public. It is counted once, with noise of size B at most, and only
`rows`, a public lower bound of it, is known beforehand. Functions are centered: a row adds the
distance from the middle of its bounds, at most h in size, which halves D. Let V be the exact sum,
and z and n + y what noise makes of it and of n. Since |V| <= h n,

    |(V + z) / (n + y) - V / n| <= (|z| + h |y|) / (n + y),

which is no more than t if |z| + (h + t) B <= t rows. How large may B be? With noise that costs
1 / size^p and o = B / rows, a question costs (D / (t - (h + t) o))^p, and the count 1 / o^p. Each
is convex in o, so the total is least where its derivative is 0, which is found by bisection. (For Q
questions with one t, far below h, the count takes the part a of t with
a : 1 - a = 1 : Q^(1 / (p + 1)).)
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np

from .._core import checks
from .._core.types import Bounds, Neighbors, Number
from ..budget.budget import Budget
from ..budget.release import Prepared, prepare, relation_of, releases
from ..errors import ArgumentError, BudgetError, DataError
from ..noise.additive import LEAST, MOST, amount
from ..privacy import ZCDP, Approx, Loss, Pure, float_down
from ..rng import Generator
from ..tables.base import RowSource
from ..tables.data import as_rows, once
from .noisy_sums import Total, totals
from .rounds import Part, Rounds, loss_of
from .row_functions import NONE, ONES, split
from .terms import COUNT, Answer, Exact, Term, exact, listed

#: Questions of an oracle, each of which has a share of its own, and numbers of an answer, at most.
MOST_QUESTIONS = MOST_NUMBERS = 1 << 20
#: The fraction of the largest share that is left to all shares that hardly count, together.
_LEAST = Fraction(1, 1 << 13)
#: Times the narrowest tolerance: as good as any wider one.
_MOST = 1e100


#: The count of all rows, in units so small that the scale of noise is hardly rounded.
COUNTING = Exact(
    1, NONE, Fraction(1, 1 << 20), lambda piece: ([piece.count << 20], 0), (1 << 20, 1 << 20)
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How questions with tolerances share one allocation of a budget.

    Parameters
    ----------
    rows : int
        Number of rows, or a public lower bound.
    tolerances, shares : tuple of Fraction
        Tolerance of each question, and its share in rounds. The shares are no more than `rounds`
        together.
    failure : float
        The probability that an answer is off by more.
    neighbors : str
    count : Fraction, optional
        The share of the count of all rows, where these come and go.
    """

    rows: int
    tolerances: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]
    failure: float
    neighbors: str
    count: Fraction | None

    @property
    def rounds(self) -> int:
        return len(self.shares) + (self.count is not None)

    @property
    def counting(self) -> Part:
        """Return the count of all rows as a part of a round."""
        assert self.count is not None
        return replace(COUNTING.sensitivity(self.neighbors), share=self.count)

    def asking(self, function: Exact, question: int) -> Part:
        """Return a question about the mean of a function as a part of a round."""
        return replace(function.sensitivity(self.neighbors), share=self.shares[question])

    def off(self, loss: Loss) -> Fraction:
        """Return B, how far the count of all rows may be off."""
        if self.count is None:
            return Fraction(0)
        return COUNTING.unit * self.counting.noise(loss, self.rounds).within(self.failure)

    def distinct(self) -> list[int]:
        """Return a question of each tolerance, from the narrowest to the widest.

        All hold when the first and the last do, but for rounding.
        """
        each = {t: i for i, t in enumerate(self.tolerances)}
        return [each[t] for t in sorted(each)]

    def hold(self, loss: Loss, function: Exact, questions: Iterable[int]) -> bool:
        """Return whether all these answers will be within their tolerances."""
        half = function.unit * math.isqrt(function.sensitivity(self.neighbors).l2_squared)

        def holds(question: int) -> bool:
            noise = self.asking(function, question).noise(loss, self.rounds)
            size, tolerance = noise.within(self.failure / function.size), self.tolerances[question]
            return function.unit * size + (half + tolerance) * off <= tolerance * self.rows

        try:
            off = self.off(loss)
            return all(map(holds, questions))
        except ArgumentError:  # noise that nobody can draw
            return False


def planned(questions: Questions, rows: int, pure: bool) -> Plan:
    """Return the plan of least loss for questions about means like the reference."""
    power = 1 if pure else 2
    tolerances, neighbors = questions.tolerances, questions.neighbors
    part, unit = questions.reference.sensitivity(neighbors), questions.reference.unit
    size = part.l1 if pure else math.sqrt(part.l2_squared)
    sensitivity = float(unit) * size
    counted = neighbors == "add-remove"
    failure = questions.failure / (len(tolerances) + counted)
    times: Counter[Fraction | None] = Counter(tolerances)
    each = {t: float(t) for t in dict.fromkeys(tolerances)}
    if counted:
        half = float(unit * math.isqrt(part.l2_squared))
        off = _off(each.values(), [times[t] for t in each], sensitivity, half, power)
        each = {t: size * (1.0 - off) - half * off for t, size in each.items()}
    least = min(each.values())  # all sizes as parts of `rows`
    weights: dict[Fraction | None, Fraction] = {
        t: Fraction((least / size) ** power) for t, size in each.items()
    }
    if counted:
        times[None], weights[None] = 1, (Fraction(least) / Fraction(off * sensitivity)) ** power
    of = _shares(weights, times)
    shares = tuple(of[t] for t in tolerances)
    return Plan(rows, tolerances, shares, failure, neighbors, of.get(None))


def _off(
    tolerances: Iterable[float], times: Sequence[int], sensitivity: float, half: float, power: int
) -> float:
    """Return how far the count may be off, as a fraction of the rows, for the least total."""
    t = np.fromiter(tolerances, np.float64)
    least = float(t.min())
    t, h = np.minimum(t, least * _MOST) / least, half / least
    weight = np.array(times) * (sensitivity / least) ** power * (t + h)
    low, high = 0.0, 1.0 / (1.0 + h)  # where nothing is left for the narrowest
    for _ in range(60):
        middle = (low + high) / 2.0
        size = t * (1.0 - middle) - h * middle
        if size.min() > 0.0 and (weight * (middle / size) ** (power + 1)).sum() < 1.0:
            low = middle
        else:
            high = middle
    return low


def _shares(
    weights: dict[Fraction | None, Fraction], times: Counter[Fraction | None]
) -> dict[Fraction | None, Fraction]:
    """Share as many rounds as there are questions in proportion to weights, rounded down.

    A question whose tolerance is so wide that its weight hardly counts has a small one, too: its
    noise has to be drawn.
    """
    least = max(weights.values()) * _LEAST / times.total()
    weights = {t: max(w, least) for t, w in weights.items()}
    each = times.total() / sum((w * times[t] for t, w in weights.items()), Fraction(0))
    return {t: Fraction(float_down(w * each)) for t, w in weights.items()}


@lru_cache(maxsize=256)
def least_loss(plan: Plan, function: Exact, offered: Loss) -> Loss | None:
    """Return the least loss up to `offered` that the plan holds with, rounded up to four digits."""
    most, every = amount(offered), plan.distinct()
    name = "rho" if isinstance(offered, ZCDP) else "epsilon"
    times = math.isqrt(plan.rounds - 1) + 1 if isinstance(offered, Approx) else plan.rounds
    least = min(LEAST[name] * times, most)

    def sized(size: Fraction) -> Loss:
        changed: Any = {name: size}
        return replace(offered, **changed)

    def enough(size: Fraction, questions: Sequence[int]) -> bool:
        return plan.hold(sized(size), function, questions)

    if not enough(most, every):
        return None
    low, high = math.log(least), math.log(most)
    for _ in range(30):
        middle = (low + high) / 2
        if enough(_within(math.exp(middle), least, most), [every[0], every[-1]]):
            high = middle
        else:
            low = middle
    size = _within(math.exp(high), least, most)
    while not enough(size, every):
        size = _within(1.001 * float(size), least, most)
    return sized(size)


def _within(value: float, least: Fraction, most: Fraction) -> Fraction:
    """Return a number of four digits that is not less, but for the limits."""
    power = Fraction(10) ** (3 - math.floor(math.log10(value)))
    return min(max(Fraction(math.ceil(Fraction(value) * power)) / power, least), most)


def least_rows(plan: Plan, function: Exact, loss: Loss) -> int | None:
    """Return how many rows are enough, if those of the plan are not. Shares do not depend on it."""
    every, enough = plan.distinct(), plan.rows + 1
    for questions in ([every[0], every[-1]], every):  # the first are soon tried, and close

        def holds(rows: int, questions: Sequence[int] = questions) -> bool:
            return replace(plan, rows=rows).hold(loss, function, questions)

        least = _first(holds, enough)
        if least is None:
            return None
        enough = least
    return enough


def _first(enough: Callable[[int], bool], least: int) -> int | None:
    """Return the least number from `least` to 2**62 that is enough, as all larger ones are."""
    step = 1
    while not enough(least + step - 1):
        least, step = least + step, 2 * step
        if least > 1 << 62:
            return None
    return least + bisect_left(range(least, least + step - 1), True, key=enough)


class Questions:
    """The promise of an oracle: tolerances, and the kind of function that may be asked about.

    The cost is calculated for the function `reference`.
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
        level = checks.positive("confidence", confidence)
        if level >= 1:
            checks.fail("confidence", "greater than 0 and less than 1", confidence)
        self.failure = float(1 - checks.fraction("confidence", confidence))
        self.neighbors = checks.neighbors(neighbors)
        self.nan = checks.nan_policy(nan, neighbors)
        if nan == "drop":
            checks.fail("nan", "'raise', 'lower', 'upper' or a number, since every row counts", nan)
        if l2 is None and size is not None:
            checks.fail("size", "left out without l2", size)
        if l2 is None and bounds is None:
            bounds = (0, 1)
        self.bounds, self.l2 = bounds, l2
        width = 1 if size is None else checks.whole("size", size, 1, MOST_NUMBERS)
        term = Term(replace(ONES, size=width), bounds, l2)
        function = exact(term, as_rows([]), self.nan, neighbors)
        self.reference = self._summed(function)
        if not self.reference.sensitivity(neighbors).l1:
            checks.fail("bounds", "a pair (lo, hi) with lo < hi", bounds)
        least = 1024 * function.unit  # of a cell, which is rounded to
        if min(self.tolerances) < least:
            checks.fail("tolerance", f"at least {float(least):.3g} for such functions", tolerance)

    def _summed(self, function: Exact) -> Exact:
        """Return what is summed of a function: it is centered where rows come and go."""
        return function if self.neighbors == "replace" else function.centered()

    def functions(self, terms: Sequence[Term], source: RowSource) -> list[Exact]:
        """Return what is asked, once everything about it has been checked."""
        functions = []
        for term in terms:
            if term.bounds is None and term.l2 is None and not isinstance(term.f, str):
                term = replace(term, bounds=self.bounds, l2=self.l2)
            functions.append(self._summed(exact(term, source, self.nan, self.neighbors)))
        return functions


def _tolerances(tolerance: Any, queries: Any) -> tuple[Fraction, ...]:
    if queries is None:
        rule = "one for each question, or a number with queries"
        try:
            each = [] if isinstance(tolerance, str) else list(tolerance)
        except TypeError:
            each = []
        if not each:
            checks.fail("tolerance", rule, tolerance)
        return tuple(_positive(t) for t in each)
    count = checks.whole("queries", queries, 1, MOST_QUESTIONS)
    return (_positive(tolerance),) * count


def _positive(tolerance: Any) -> Fraction:
    checks.positive("tolerance", tolerance)
    return checks.fraction("tolerance", tolerance)


def cost_of(questions: Questions, rows: int, offered: Loss) -> tuple[Plan, Loss]:
    """Return the plan and the least loss that keeps the promise, or raise one error."""
    plan = planned(questions, rows, isinstance(offered, Pure))
    loss = least_loss(plan, questions.reference, offered) if rows else None
    if loss is None:
        enough = least_rows(plan, questions.reference, offered)
        rule = f"at least {enough}" if enough else "more than any data have"
        checks.fail("rows", f"{rule} for these tolerances to cost no more than {offered!r}", rows)
    return plan, loss


def oracle_cost(
    rows: int,
    *,
    tolerance: Number | Sequence[Number],
    queries: int | None = None,
    confidence: Number = 0.95,
    bounds: Bounds | None = None,
    l2: Number | None = None,
    size: int | None = None,
    loss: Literal["rho", "epsilon"] = "rho",
    delta: Number = 0.0,
    neighbors: Neighbors = "add-remove",
) -> Loss:
    """Return the loss of a `StatisticalQueryOracle`, which depends on public numbers alone.

    Parameters
    ----------
    rows : int
        Number of rows, or a public lower bound.
    tolerance, queries, confidence, bounds, l2, size, neighbors : optional
        As in `StatisticalQueryOracle`.
    loss : {"rho", "epsilon"}, default "rho"
        The kind of loss.
    delta : float, Fraction or Decimal, default 0
        With "epsilon" only.

    Returns
    -------
    Pure, Approx or ZCDP
        The least loss that is enough, its four digits rounded up. With Gaussian noise it is in
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


class Oracle(ABC):
    """The common part of both oracles: questions, and how many are left."""

    _name: ClassVar[str]

    def __init__(self, source: RowSource, questions: Questions) -> None:
        self._source, self._questions = source, questions
        self._used, self._lock = 0, threading.Lock()

    @property
    def queries(self) -> int:
        """Number of questions that may be asked in all."""
        return len(self._questions.tolerances)

    @property
    def remaining(self) -> int:
        """Number of questions that are left."""
        return self.queries - self._used

    @property
    def tolerance(self) -> float:
        """How far an answer may be off: the largest of all tolerances."""
        return float(max(self._questions.tolerances))

    @property
    def columns(self) -> tuple[str, ...] | tuple[int, ...]:
        """Names of the columns of a row, or their numbers."""
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
        """Return the mean of a function over all rows, within the tolerance of the question.

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
        """Ask several questions in one read of the data.

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
            As in `ask`.

        Examples
        --------
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
                    f"{self._name}: {self.remaining} of {self.queries} questions are left, not "
                    f"{len(functions)}"
                )
            parts = self._parts(functions, first)
            self._used += len(functions)
        sums, rows = self._sums(totals([COUNT, *functions], self._questions.nan), parts)
        return [function.answer(integers, rows) for function, integers in split(sums, functions)]

    @abstractmethod
    def _parts(self, functions: Sequence[Exact], first: int) -> list[Part]:
        """Return the parts of questions from `first` on, or refuse what is beyond tolerance."""

    @abstractmethod
    def _sums(self, total: Total, parts: list[Part]) -> tuple[list[int], int | Fraction]:
        """Return the integers of all functions, and the number of rows, by a pass for both."""


class StatisticalQueryOracle(Oracle):
    """Answer statistical queries, all within their tolerances with a stated probability.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced (`neighbors`).
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
        Number of questions, where all have the same tolerance; at most 2**20.
    confidence : float, default 0.95
        The probability that all answers are within their tolerances.
    bounds : (float, float), default (0, 1)
        Public limits of the functions that will be asked about.
    l2 : float, optional
        Instead of `bounds`, for vectors: their largest length.
    size : int, optional
        With `l2`: the largest number of entries of a vector, at most 2**20.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The most that may be spent: `epsilon` alone, `epsilon` with `delta`, or `rho` alone. What is
        spent is `cost`.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default that of the budget, else "add-remove". With "replace"
        the number of rows is public.
    rows : int, optional
        Number of rows, for "replace" where a source does not know it. With "add-remove" it must
        be given: a public lower bound.
    nan : {"raise", "lower", "upper"} or float, default "raise"
        What a value of a function counts as that is NaN, as in `NoisySums`.
    budget : Budget, optional
        Pays for all answers, before data or randomness are touched. What it pays is `cost`.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Attributes
    ----------
    cost : Pure, Approx or ZCDP
        The loss of all answers together: the least that is enough; see `oracle_cost`.
    tolerance : float
        The largest of all tolerances.
    queries, remaining : int
        Number of questions in all, and of those that are left.
    columns : tuple
        Names or numbers of the columns of a row.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, and for too few rows (the message says how many would be enough);
        nothing has been spent.
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
    functions are centered between their bounds, which halves their sensitivity.

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
        known = _known_rows(rows, source.length, neighbors)
        self._plan, self.cost = cost_of(questions, known, offered)
        super().__init__(source, questions)

        def after(rounds: Rounds) -> None:
            self._rounds = rounds
            self._rows = self._counted(known) if neighbors == "add-remove" else Fraction(known)

        number, asked = self._plan.rounds, {"budget": budget, "rng": rng}
        made = prepare(Rounds, source, self.cost, neighbors, number, self._name, **asked)
        return made.then(after)

    def __reduce__(self) -> NoReturn:
        raise TypeError("an oracle can be neither pickled nor copied: both copies could be asked")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.cost!r}, {self.remaining} of {self.queries} left)"

    def _counted(self, least: int) -> Fraction:
        """Return the number of rows with noise."""
        (units,) = self._rounds.ask(totals([COUNTING], "raise"), [self._plan.counting])
        count: Fraction = COUNTING.unit * units
        if count < least - self._plan.off(self.cost):
            raise DataError(
                f"there are fewer rows than rows={least}, the public lower bound: no answer would "
                "be within its tolerance"
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
                    f"no larger than what the oracle was made for ({kind}), as its answer might "
                    "be off by more than the tolerance",
                    f"a function of {size} numbers" if size > 1 else "wider bounds",
                )
        parts = [self._plan.asking(function, i) for i, function in enumerate(functions, first)]
        return [replace(part, share=part.share / len(parts)) for part in parts]  # of all rounds

    def _sums(self, total: Total, parts: list[Part]) -> tuple[list[int], int | Fraction]:
        def checked(source: RowSource) -> list[int]:
            rows, *sums = total(source)
            if self._questions.neighbors == "replace" and rows != self._rows:
                raise DataError(f"the number of rows is not rows={self._rows}")
            return sums

        return self._rounds.ask(checked, parts, len(parts)), self._rows


class ExactOracle(Oracle):
    """NOT PRIVATE: exact answers, to compare a `StatisticalQueryOracle` with.

    A learner that asks a `StatisticalQueryOracle` can ask this one, to see what noise does.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), structured array, table, or source
    tolerance : float, or one for each question
        What a learner is told. Answers are exact.
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
        As in `StatisticalQueryOracle`.

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
            raise DataError("data without rows have no mean")
        return sums, rows


def _known_rows(rows: Any, length: int | None, neighbors: str) -> int:
    """Return the public number of rows, or the public lower bound."""
    if rows is None and neighbors == "add-remove":
        checks.fail("rows", "given with neighbors='add-remove', as a public lower bound", rows)
    if rows is None and length is None:
        checks.fail("rows", "given for data of unknown length", rows)
    given = length if rows is None else checks.whole("rows", rows, 1)
    assert given is not None
    if neighbors == "replace" and length not in (None, given):
        checks.fail("rows", f"{length}, the number of rows, or left out", rows)
    return given
