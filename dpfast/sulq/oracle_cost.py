"""The least loss with which all answers of an oracle are within their tolerances.

A query asks for the mean of a function over n rows. All q answers are within their tolerances with
probability 1 - b if each of them is with probability 1 - b / q. If a query has the tolerance t, the
noise of its sum may be n t in size. So with Gaussian noise the query takes a part of the loss in
proportion to 1 / t^2, and with Laplace noise in proportion to 1 / t. These parts have the least
total: rho = z^2 / (2 n^2) times the sum of (D / t)^2, where D is the sensitivity of a sum, and a
normal variable exceeds z with probability b / (2 q): z^2 <= 2 log(2 q / b).

*Under "add-remove"* n is not public. Only `rows`, a public lower bound of n, is known beforehand.
The rows are counted once, with noise of size at most B. Functions are centered: a row adds its
distance from the middle of the bounds, which is at most h in size. This halves D. Let V be the
exact sum, V + z its noisy value, and n + y the noisy count. Because |V| <= h n,

    |(V + z) / (n + y) - V / n| <= (|z| + h |y|) / (n + y),

which is at most t if |z| + (h + t) B <= t rows. How large may B be? Let noise cost 1 / size^p, and
let o = B / rows. Then a query costs (D / (t - (h + t) o))^p, and the count costs 1 / o^p. Both are
convex in o, so the total is least where its derivative is 0. Bisection finds this point. (For Q
queries with the same t, far below h, the count takes the part a of t with a : 1 - a = 1 : Q^(1 / (p
+ 1)).)
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from .._core import checks
from .._core.types import Bounds, Neighbors, Number
from ..errors import ArgumentError
from ..noise.additive import LEAST, MOST, amount
from ..privacy import ZCDP, Approx, Loss, Pure, float_down
from .parts import Part
from .questions import Questions
from .rounds import loss_of
from .row_functions import NONE
from .terms import Exact

#: The total share of all parts that need hardly any share, as a fraction of the largest share.
_LEAST = Fraction(1, 1 << 13)
#: Tolerances wider than this multiple of the narrowest get no smaller share.
_MOST = 1e100
#: The count of all rows. Its unit is so small that rounding the scale of its noise hardly matters.
COUNTING = Exact(
    1, NONE, Fraction(1, 1 << 20), lambda chunk: ([chunk.count << 20], 0), (1 << 20, 1 << 20)
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The shares of one privacy loss for queries with tolerances.

    Parameters
    ----------
    rows : int
        The number of rows, or a public lower bound.
    tolerances, shares : tuple of Fraction
        The tolerance of each query, and its share in rounds. All shares together are at most
        `rounds`.
    failure : float
        The probability that the error of an answer exceeds its tolerance.
    neighbors : str
    count : Fraction, optional
        Under "add-remove", the share of the count of all rows.
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
        """Return the row count as a part of a round, with its sensitivity and its share."""
        assert self.count is not None
        return replace(COUNTING.sensitivity(self.neighbors), share=self.count)

    def asking(self, function: Exact, question: int) -> Part:
        """Return a query for the mean of a function as a part of a round, with its share."""
        return replace(function.sensitivity(self.neighbors), share=self.shares[question])

    def off(self, loss: Loss) -> Fraction:
        """Return B, the bound on the error of the noisy row count."""
        if self.count is None:
            return Fraction(0)
        return COUNTING.unit * self.counting.noise(loss, self.rounds).half_width(self.failure)

    def distinct(self) -> list[int]:
        """Return the index of one query for each tolerance, from the narrowest to the widest.

        If the first and the last tolerance hold, all hold, except for rounding.
        """
        question_of = {t: i for i, t in enumerate(self.tolerances)}
        return [question_of[t] for t in sorted(question_of)]

    def hold(self, loss: Loss, function: Exact, questions: Iterable[int]) -> bool:
        """Return whether the answers to these queries are within their tolerances at this loss."""
        half = function.unit * math.isqrt(function.sensitivity(self.neighbors).l2_squared)

        def holds(question: int) -> bool:
            noise = self.asking(function, question).noise(loss, self.rounds)
            size, tolerance = (
                noise.half_width(self.failure / function.size),
                self.tolerances[question],
            )
            return function.unit * size + (half + tolerance) * off <= tolerance * self.rows

        try:
            off = self.off(loss)
            return all(map(holds, questions))
        except ArgumentError:  # no sampler can draw such noise
            return False


def planned(questions: Questions, rows: int, pure: bool) -> Plan:
    """Return the plan with the least loss for functions like `questions.reference`."""
    power = 1 if pure else 2
    tolerances, neighbors = questions.tolerances, questions.neighbors
    part, unit = questions.reference.sensitivity(neighbors), questions.reference.unit
    size = part.l1 if pure else math.sqrt(part.l2_squared)
    sensitivity = float(unit) * size
    counted = neighbors == "add-remove"
    failure = questions.failure / (len(tolerances) + counted)
    times: Counter[Fraction | None] = Counter(tolerances)
    widths = {t: float(t) for t in dict.fromkeys(tolerances)}
    if counted:
        half = float(unit * math.isqrt(part.l2_squared))
        off = _off(widths.values(), [times[t] for t in widths], sensitivity, half, power)
        widths = {t: size * (1.0 - off) - half * off for t, size in widths.items()}
    least = min(widths.values())  # from here on, sizes are fractions of `rows`
    weights: dict[Fraction | None, Fraction] = {
        t: Fraction((least / size) ** power) for t, size in widths.items()
    }
    if counted:
        times[None], weights[None] = 1, (Fraction(least) / Fraction(off * sensitivity)) ** power
    of = _shares(weights, times)
    shares = tuple(of[t] for t in tolerances)
    return Plan(rows, tolerances, shares, failure, neighbors, of.get(None))


def _off(
    tolerances: Iterable[float], times: Sequence[int], sensitivity: float, half: float, power: int
) -> float:
    """Return the error of the row count, as a fraction of the rows, for the least total loss."""
    t = np.fromiter(tolerances, np.float64)
    least = float(t.min())
    t, h = np.minimum(t, least * _MOST) / least, half / least
    weight = np.array(times) * (sensitivity / least) ** power * (t + h)
    low, high = 0.0, 1.0 / (1.0 + h)  # at the upper end nothing remains for the narrowest tolerance
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
    """Divide the rounds, as many as queries, in proportion to weights, rounded down.

    A query with a negligible weight, because its tolerance is very wide, gets a small weight: its
    noise must not be too large for the samplers.
    """
    least = max(weights.values()) * _LEAST / times.total()
    weights = {t: max(w, least) for t, w in weights.items()}
    share = times.total() / sum((w * times[t] for t, w in weights.items()), Fraction(0))
    return {t: Fraction(float_down(w * share)) for t, w in weights.items()}


@lru_cache(maxsize=256)
def least_loss(plan: Plan, function: Exact, offered: Loss) -> Loss | None:
    """Return the least loss up to `offered` that satisfies all tolerances, rounded up; or None."""
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
        if enough(_four_digits(math.exp(middle), least, most), [every[0], every[-1]]):
            high = middle
        else:
            low = middle
    size = _four_digits(math.exp(high), least, most)
    while not enough(size, every):
        size = _four_digits(1.001 * float(size), least, most)
    return sized(size)


def _four_digits(value: float, least: Fraction, most: Fraction) -> Fraction:
    """Return `value` rounded up to four digits, and clamped to ``least .. most``."""
    power = Fraction(10) ** (3 - math.floor(math.log10(value)))
    return min(max(Fraction(math.ceil(Fraction(value) * power)) / power, least), most)


def least_rows(plan: Plan, function: Exact, loss: Loss) -> int | None:
    """Return the least number of rows for which this loss satisfies all tolerances, or None.

    Only numbers above the number of rows of the plan are tried. The shares do not depend on it.
    """
    every, enough = plan.distinct(), plan.rows + 1
    # The first and the last tolerance are checked fast, and give nearly the answer.
    for questions in ([every[0], every[-1]], every):

        def holds(rows: int, questions: Sequence[int] = questions) -> bool:
            return replace(plan, rows=rows).hold(loss, function, questions)

        least = _first(holds, enough)
        if least is None:
            return None
        enough = least
    return enough


def _first(enough: Callable[[int], bool], least: int) -> int | None:
    """Return the least number from `least` to 2**62 where `enough` turns true, or None."""
    step = 1
    while not enough(least + step - 1):
        least, step = least + step, 2 * step
        if least > 1 << 62:
            return None
    return least + bisect_left(range(least, least + step - 1), True, key=enough)


def cost_of(questions: Questions, rows: int, offered: Loss) -> tuple[Plan, Loss]:
    """Return the plan and the least loss that satisfies all tolerances, or refuse `rows`."""
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
    """Return the loss that a `StatisticalQueryOracle` spends, from public numbers alone.

    Parameters
    ----------
    rows : int
        The number of rows, or a public lower bound.
    tolerance, queries, confidence, bounds, l2, size, neighbors : optional
        As in `StatisticalQueryOracle`.
    loss : {"rho", "epsilon"}, default "rho"
        The kind of loss to return.
    delta : float, Fraction or Decimal, default 0
        The delta of the loss, with "epsilon" only.

    Returns
    -------
    Pure, Approx or ZCDP
        The least loss that is enough, rounded up to four digits. With Gaussian noise it is
        proportional to ``1 / rows**2``, and to the sum of ``1 / tolerance**2`` over all queries.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or so few rows that no loss is enough.

    Notes
    -----
    Cost: some milliseconds.

    Examples
    --------
    The loss of 100 means over 100,000 rows, each within 0.01:

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
