"""What answers within a tolerance cost: how many rows, for how many questions, at which loss.

A question is the mean of a function over n rows. q answers are all within their tolerances with
probability 1 - b if each is with probability 1 - b / q, which is a matter of the tail of its noise.
The noise of a question with tolerance t may be n t in size, so with Gaussian noise the question
takes a part of the loss in proportion to 1 / t^2, and with Laplace noise to 1 / t. Then all have
the least total, rho = z^2 / (2 n^2) times the sum of (D / t)^2, where a row moves a sum by D and
a normal variable exceeds z with probability b / (2 q): z^2 <= 2 log(2 q / b).

*Where rows come and go* n is not public. It is counted once, with noise of size B at most, and only
`rows`, a public lower bound of it, is known beforehand. Functions are centred: a row adds the
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
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentError
from ..noise.additive import LEAST
from ..privacy import ZCDP, Approx, Loss, Pure, float_down
from ..summaries.cells import nearest
from .rounds import Part, round_noise
from .row_functions import Columns, Count, Exact, Piece

Answer = float | NDArray[np.float64]
#: Of the largest share, what all shares are at least that hardly count, together.
_LEAST = Fraction(1, 1 << 13)
#: Of the narrowest tolerance, what is as good as any wider one.
_MOST = 1e100


@dataclass(frozen=True, slots=True)
class Mean:
    """A function whose mean is asked for; what is summed is `times` its integer less `shift`."""

    own: Exact
    times: int
    shift: int
    part: Part

    @classmethod
    def of(cls, own: Exact, neighbors: str) -> Mean:
        limits = own.limits
        if neighbors == "replace" or limits is None:
            return cls(own, 1, 0, own.part(neighbors))
        span = limits[1] - limits[0]
        return cls(own, 2, sum(limits), Part(1, span, span**2, 1))

    @property
    def size(self) -> int:
        return self.own.size

    @property
    def columns(self) -> Columns:
        """Which columns of a row it looks at."""
        return self.own.columns

    @property
    def unit(self) -> Fraction:
        """What one of the integers that are summed stands for."""
        return self.own.unit / self.times

    @property
    def half(self) -> Fraction:
        """h, where rows come and go: what a row adds to a number, at most."""
        return self.unit * math.isqrt(self.part.l2_squared)

    def tally(self, piece: Piece) -> tuple[list[int], int]:
        """The integers for some rows, none of which are left out."""
        found, missing = self.own.tally(piece)
        rows = self.shift * piece.count
        return [self.times * x - rows for x in found], missing

    def mean(self, found: Sequence[int], rows: Fraction) -> Answer:
        """The answer, the float64 nearest to it."""
        each = [nearest(self.unit * (x / rows + self.shift)) for x in found]
        return each[0] if self.own.limits is not None else np.array(each)


#: The count of all rows, in units so small that their noise has hardly a scale of whole ones.
COUNTING = Mean(Count(), 1 << 20, 0, Part(1, 1 << 20, 1 << 40, 1))


@dataclass(frozen=True, slots=True)
class Plan:
    """How questions with tolerances share one slice.

    Parameters
    ----------
    rows : int
        How many there are, or a public lower bound.
    tolerances, shares : tuple of Fraction
        Of each question, and its share in rounds, which all together are no more than `rounds`.
    miss : float
        How likely an answer may be off by more.
    count : Fraction, optional
        The share of the count of all rows.
    """

    rows: int
    tolerances: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]
    miss: float
    count: Fraction | None

    @property
    def rounds(self) -> int:
        return len(self.shares) + (self.count is not None)

    @property
    def counting(self) -> Part:
        """What the count of all rows is to `Rounds`."""
        assert self.count is not None
        return replace(COUNTING.part, share=self.count)

    def asking(self, mean: Mean, question: int) -> Part:
        """What a question is to `Rounds`."""
        return replace(mean.part, share=self.shares[question])

    def off(self, loss: Loss) -> Fraction:
        """B, by how much the count of all rows may be off."""
        if self.count is None:
            return Fraction(0)
        noise = round_noise(loss, self.rounds, self.counting)
        return COUNTING.unit * noise.within(self.miss)

    def holds(self, loss: Loss, mean: Mean, question: int) -> bool:
        """Whether the answer will be within its tolerance."""
        try:
            noise, off = round_noise(loss, self.rounds, self.asking(mean, question)), self.off(loss)
        except ArgumentError:  # noise that nobody can draw
            return False
        size = mean.unit * noise.within(self.miss / mean.size)
        tolerance = self.tolerances[question]
        if off:
            size += (mean.half + tolerance) * off
        return size <= tolerance * self.rows

    def distinct(self) -> list[int]:
        """A question of each tolerance, from the narrowest to the widest."""
        each = {t: i for i, t in enumerate(self.tolerances)}
        return [each[t] for t in sorted(each)]

    def ends(self) -> list[int]:
        """The narrowest and the widest: all others hold when these do, but for rounding."""
        every = self.distinct()
        return [every[0], every[-1]]


def planned(
    rows: int, tolerances: tuple[Fraction, ...], mean: Mean, miss: float, neighbors: str, pure: bool
) -> Plan:
    """The plan of least loss for questions about means like this one."""
    power = 1 if pure else 2
    part, unit = mean.part, float(mean.unit)
    moved = unit * (part.l1 if pure else math.sqrt(part.l2_squared))
    counted = neighbors == "add-remove"
    miss = miss / (len(tolerances) + counted)
    times: Counter[Fraction | None] = Counter(tolerances)
    each = {t: float(t) for t in dict.fromkeys(tolerances)}
    if counted:
        half = float(mean.half)
        off = _off(each.values(), [times[t] for t in each], moved, half, power)
        each = {t: own * (1.0 - off) - half * off for t, own in each.items()}
    least = min(each.values())  # all sizes as parts of `rows`
    weights: dict[Fraction | None, Fraction] = {
        t: Fraction((least / own) ** power) for t, own in each.items()
    }
    if counted:
        times[None], weights[None] = 1, (Fraction(least) / Fraction(off * moved)) ** power
    shares = _shares(weights, times)
    return Plan(rows, tolerances, tuple(shares[t] for t in tolerances), miss, shares.get(None))


def _off(
    tolerances: Iterable[float], times: Sequence[int], moved: float, half: float, power: int
) -> float:
    """By how much the count may be off, as a part of the rows, so that the total is least."""
    t = np.fromiter(tolerances, np.float64)
    least = float(t.min())
    t, h = np.minimum(t, least * _MOST) / least, half / least
    weight = np.array(times) * (moved / least) ** power * (t + h)
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
    """As many rounds as there are questions, in proportion to weights, rounded down.

    What is wanted so loosely that its weight hardly counts has a small one, too: its noise has to
    be drawn.
    """
    least = max(weights.values()) * _LEAST / times.total()
    weights = {t: max(w, least) for t, w in weights.items()}
    each = times.total() / sum((w * times[t] for t, w in weights.items()), Fraction(0))
    return {t: Fraction(float_down(w * each)) for t, w in weights.items()}


def _kind(offered: Loss, rounds: int) -> tuple[Callable[[Fraction], Loss], Fraction, Fraction]:
    """Losses of the same kind, the least of them for so many rounds, and the size of this one."""
    if isinstance(offered, ZCDP):
        return ZCDP, LEAST["rho"] * rounds, offered.rho
    if isinstance(offered, Approx):
        delta, root = offered.delta, math.isqrt(rounds - 1) + 1
        return lambda size: Approx(size, delta), LEAST["epsilon"] * root, offered.epsilon
    assert isinstance(offered, Pure)
    return Pure, LEAST["epsilon"] * rounds, offered.epsilon


@lru_cache(maxsize=256)
def least_loss(plan: Plan, mean: Mean, offered: Loss) -> Loss | None:
    """The least loss up to one with which the plan holds, rounded up to four digits."""
    make, least, most = _kind(offered, plan.rounds)
    least = min(least, most)
    every, ends = plan.distinct(), plan.ends()

    def enough(size: Fraction, questions: Sequence[int] = ends) -> bool:
        return _enough(plan, mean, make(size), questions)

    if not enough(most, every):
        return None
    low, high = math.log(least), math.log(most)
    for _ in range(30):
        middle = (low + high) / 2
        if enough(_within(math.exp(middle), least, most)):
            high = middle
        else:
            low = middle
    size = _within(math.exp(high), least, most)
    while not enough(size, every):
        size = _within(1.001 * float(size), least, most)
    return make(size)


def _within(value: float, least: Fraction, most: Fraction) -> Fraction:
    """A number of four digits that is not less, but for the limits."""
    power = Fraction(10) ** (3 - math.floor(math.log10(value)))
    return min(max(Fraction(math.ceil(Fraction(value) * power)) / power, least), most)


def _enough(plan: Plan, mean: Mean, loss: Loss, questions: Sequence[int]) -> bool:
    return all(plan.holds(loss, mean, i) for i in questions)


def least_rows(plan: Plan, mean: Mean, loss: Loss) -> int | None:
    """How many rows would do, if those of the plan do not. Shares are the same for any number."""

    def enough(questions: Sequence[int], rows: int) -> bool:
        return _enough(replace(plan, rows=rows), mean, loss, questions)

    found = _first(partial(enough, plan.ends()), plan.rows + 1)  # close, and soon tried
    return None if found is None else _first(partial(enough, plan.distinct()), found)


def _first(enough: Callable[[int], bool], least: int) -> int | None:
    """The least number from `least` on that is enough, as all larger ones are, up to 2**62."""
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
