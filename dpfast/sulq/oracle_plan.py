"""What an oracle promises, and what it costs: rows, questions, tolerances and the least loss.

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
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from .._core import checks
from ..errors import ArgumentError
from ..noise.additive import LEAST, amount
from ..privacy import ZCDP, Approx, Loss, Pure, float_down
from ..sources.base import RowSource
from ..sources.data import as_rows
from .rounds import Part
from .row_functions import NONE, Function, Piece
from .terms import Exact, Term, exact

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
        noise = self.counting.noise(loss, self.rounds)
        return COUNTING.unit * noise.within(self.failure)

    def holds(self, loss: Loss, function: Exact, question: int) -> bool:
        """Return whether the answer will be within its tolerance."""
        part = self.asking(function, question)
        try:
            noise, off = part.noise(loss, self.rounds), self.off(loss)
        except ArgumentError:  # noise that nobody can draw
            return False
        size, tolerance = noise.within(self.failure / part.size), self.tolerances[question]
        half = function.unit * math.isqrt(part.l2_squared)
        return function.unit * size + (half + tolerance) * off <= tolerance * self.rows

    def distinct(self) -> list[int]:
        """Return a question of each tolerance, from the narrowest to the widest.

        All hold when the first and the last do, but for rounding.
        """
        each = {t: i for i, t in enumerate(self.tolerances)}
        return [each[t] for t in sorted(each)]

    def hold(self, loss: Loss, function: Exact, questions: Sequence[int]) -> bool:
        """Return whether all these answers will be within their tolerances."""
        return all(self.holds(loss, function, question) for question in questions)


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
    each = LEAST["rho" if isinstance(offered, ZCDP) else "epsilon"]
    times = math.isqrt(plan.rounds - 1) + 1 if isinstance(offered, Approx) else plan.rounds
    least = min(each * times, most)

    def enough(size: Fraction, questions: Sequence[int]) -> bool:
        return plan.hold(_sized(offered, size), function, questions)

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
    return _sized(offered, size)


def _sized(loss: Loss, size: Fraction) -> Loss:
    """Return the same kind of loss with another epsilon or rho."""
    if isinstance(loss, ZCDP):
        return ZCDP(size)
    return Approx(size, loss.delta) if isinstance(loss, Approx) else Pure(size)


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

        found = _first(holds, enough)
        if found is None:
            return None
        enough = found
    return enough


def _first(enough: Callable[[int], bool], least: int) -> int | None:
    """Return the least number from `least` to 2**62 that is enough, as all larger ones are."""
    low, step = least - 1, 1
    while not enough(low + step):
        low, step = low + step, 2 * step
        if low > 1 << 62:
            return None
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _anything(piece: Piece) -> NoReturn:
    """Stand for whatever will be asked."""
    raise AssertionError("no question")


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
        width = 1 if size is None else checks.whole("size", size, 1)
        if width > MOST_NUMBERS:
            checks.fail("size", f"at most {MOST_NUMBERS}", size)
        term = Term(Function(_anything, width), bounds, l2)
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
    count = checks.whole("queries", queries, 1)
    if count > MOST_QUESTIONS:
        checks.fail("queries", f"at most {MOST_QUESTIONS}", queries)
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
