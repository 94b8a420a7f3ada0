"""Composition of a fixed number of rounds: each releases a vector of exact integers with noise.

One allocation of a budget pays for all rounds. The query of a round may depend on all earlier
answers. Let T be the number of rounds, and D_t the L2 sensitivity of round t. The noise of round t
has a standard deviation of at least sqrt(T) D_t / s:

* zCDP, s^2 = 2 rho: discrete Gaussian noise costs rho / T for each round, and rho adds up under
  adaptive composition (Bun and Steinke, TCC 2016).
* (epsilon, delta), s as in `noise.additive`: with Gaussian noise a round reveals no more than
  whether a standard normal variable was shifted by s / sqrt(T). T such rounds, chosen one after the
  other, reveal no more than whether a standard normal variable was shifted by s (Dong, Roth and Su,
  "Gaussian differential privacy", JRSS B 2022). Rounding to integers is post-processing.
* epsilon alone: discrete Laplace noise for epsilon / T and the L1 norm.

So the noise of a round is the noise for one joint release of a vector whose L2 sensitivity is
sqrt(T) D_t (or whose L1 sensitivity is T D_t). It is in `noise.calibrated_integer`. For epsilon
alone there are two more kinds of noise:

* For the matrix of the products of some columns: noise in proportion to its nuclear norm, times T /
  epsilon (`noise.wishart`). It costs epsilon / T.
* For vectors of integers in which a row may change all integers at once, each by at most its own
  size: joint noise of `measurement.choice` for epsilon / T. For d integers its standard deviation
  is about sqrt(d^2 / 3), while Laplace noise on each integer has sqrt(2) d. If there are many such
  vectors, a row may change a few of them. Let the change consist of a number of `steps`, each of
  which changes one vector within the box of all sizes. Then independent noise on each vector for
  epsilon / (T steps) is enough: each step costs at most this much, and a vector that no step
  changes costs nothing.

*Parts.* A round may consist of parts with noise of different scales. Part p has the share a_p of
the round, and noise for D_p / sqrt(a_p). The cost is the sum of a_p over the parts that change. So
shares that add up to 1 are always enough. If a row cannot change all parts by their sensitivities
at once, the sum of the shares may be larger.

*Several rounds at once.* Query t may use several of the T rounds, u_t, and then its noise is for a
share of u_t. The numbers u_t may depend on earlier answers, as long as they add up to at most T:

* epsilon: answer t costs the part u_t / T of the loss. For every sequence of answers, the logarithm
  of the ratio of probabilities is a sum of parts that add up to at most epsilon.
* zCDP: answer t costs the part u_t / T of the loss, too. Let r_t be the rho that remains before
  answer t. For each order a of the Renyi divergence, consider the ratio of probabilities of all
  answers from t on, and its mean a-th power. Claim: this mean is at most exp(a (a - 1) r_t). It
  holds for the last answer. If it holds for t + 1, it holds for t: r_t - r_(t + 1) is fixed when
  query t is chosen, and answer t multiplies the mean by at most exp(a (a - 1) (r_t - r_(t + 1))).
  (Rogers, Roth, Ullman and Vadhan, NeurIPS 2016; Feldman and Zrnic, NeurIPS 2021.)
* (epsilon, delta): before rounding, answer t is the mean of the answers of u_t rounds with the same
  query. So all answers can be computed from the answers of T rounds, each chosen by the answers
  before it. This is the case above. (For parts of any size: Smith and Thakurta, "Fully adaptive
  composition for Gaussian differential privacy", 2022.)

*Selections.* A round may also consist of selections by the exponential mechanism with weights exp(c
q), where q are scores: one selection for each of some disjoint sets of rows. Let a row that is
added or removed change the scores of its own set by numbers from an interval of length r. Then the
logarithm of the ratio of two probabilities lies in an interval of length h = c r ("bounded range"),
and

* the selection is h-DP, and h^2 / 8 zCDP (Cesar and Rogers, ALT 2021);
* the selection reveals no more than a normal variable that is shifted by m = 2 F^-1(L(h / 2)),
  where F and L are the normal and the logistic distribution functions. Proof: the ratio of
  probabilities lies in an interval and has the mean 1. It is most spread out if it is always at one
  of the two ends of the interval, and then it reveals most (Blackwell, 1951). In this case the
  selection is a coin with log-odds of x + h / 2 or x - h / 2. The difference between the values of
  F^-1(L) for these two numbers is largest for x = 0, because F^-1(L) is odd, and concave above 0
  (van Zwet, 1964).

A replaced row is one row removed and another added. It has a range of 2 h in one set, or of h in
each of two sets. The second case costs no more. For epsilon, h + h is 2 h. For rho, h^2 / 8 + h^2 /
8 is less than (2 h)^2 / 8. For (epsilon, delta), the square of m for 2 h is more than twice the
square of m for h.

*People.* With ids, at most k rows of each person are used in all rounds. They are chosen once,
before all rounds, by a fresh secret key, with the distribution and the coupling of
`measurement.unit`. Then the used rows of neighbors differ by k added or removed rows, or by 2 k
rows if a person is replaced. All rounds have noise for this many rows at once: for k times the
sensitivity of one row in L1, L2 and nuclear norm. For epsilon and rho this is the noise of one row
for its part of the loss. For (epsilon, delta) it is less. A vector in a box changes to its neighbor
in k steps.

For selections, the ranges of k rows in several sets add up to k h. Ranges h_1, h_2 and so on that
add up to H cost no more than a single range of H:

* They add up to H-DP.
* The sum of h_i^2 is at most H^2.
* The sum of m(h_i)^2 is at most m(H)^2, because m(h)^2 / h increases with h.

Proof of the last line: let y = m / 2, and let f and F be the normal density and distribution
function. Then h = 2 ln(F(y) / F(-y)) is the integral of 2 r(t) over t from 0 to y, where r = f /
(F(t) F(-t)). Here r(t) / t decreases, because r' / r = -t + f / F(-t) - f / F is below 1 / t, by
Mills' bound f / F(-t) < t + 1 / t. So h(y) is at least y r(y), and y times the derivative of ln h
is at most 2. So y^2 / h increases.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._kernels.rng import witnesses
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, release, releases
from ..errors import BudgetError
from ..measurement.choice import Moves
from ..noise.additive import amount, analytic, of_gaussian
from ..privacy import ZCDP, Approx, Loss, Pure, float_down, range_within
from ..rng import Generator
from ..selection.table import Rows, Table
from .parts import Boxes, BoxesNoise, Matrix, Noise, Part, Some


@dataclass(frozen=True, slots=True)
class _Round(Mechanism[Any]):
    """One round of `Rounds`, which the allocation of all rounds has paid for."""

    loss: Loss
    neighbors: str
    name: str
    read: Callable[[Any], Any]

    def reduce(self, source: Any) -> Any:
        return self.read(source)


@dataclass(frozen=True, slots=True)
class _Sums(_Round):
    """A round of noisy integers: pairs of a noise and how many integers have it."""

    noises: tuple[tuple[Noise, int], ...]

    def finish(self, summary: list[int], generator: Generator) -> list[int]:
        noisy: list[int] = []
        for _, same in groupby(self.noises, lambda pair: id(pair[0])):
            (noise, size), *more = same  # adjacent parts with the same noise are drawn together
            end = len(noisy) + size + sum(other for _, other in more)
            noisy += noise.add(summary[len(noisy) : end], generator)
        return noisy


@dataclass(frozen=True, slots=True)
class _Choices(_Round):
    """A round of choices by the exponential mechanism: one for each row of a table of scores."""

    c: float

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> list[int]:
        return list(Rows(Table(summary), self.c).draw(1, generator.stream())[:, 0].tolist())


class Rounds:
    """A fixed number of adaptive rounds of noisy answers about one source, paid for in advance.

    Parameters
    ----------
    source : object
        The source: each round calls `total` with it.
    loss : Loss
        The loss of all rounds together.
    neighbors : str
    rounds : int
    name : str
        The name of the ledger entry.
    parts : sequence of Part, optional
        The queries, as far as they are known. Noise that cannot be drawn is refused at once.
    weights : (int, float), optional
        If the source counts rows by weight (`learn.weights`): the largest weight of a row in units,
        and the unit. Then parts are calibrated to added or removed rows, for any `neighbors`, and
        answers are sums of weights.
    ids : str, optional
        The name of the ids, or "" for ids without a name. Then the privacy unit is a person. At
        most `max_rows` rows of each person are read from the source, which is a `learn.rows.Rows`.
        Parts are calibrated to added or removed rows.
    max_rows : int, default 1
        With `ids`: the largest number of rows of a person.
    budget, rng
        As in `release`.

    Raises
    ------
    ArgumentError
        If the loss is too small for so many rounds. Nothing has been spent.
    """

    @releases
    def __init__(  # type: ignore[misc]
        self,
        source: Any,
        loss: Loss,
        neighbors: str,
        rounds: int,
        name: str,
        parts: Sequence[Some] = (),
        weights: tuple[int, float] | None = None,
        ids: str | None = None,
        max_rows: int = 1,
        *,
        budget: Budget | None,
        rng: Generator | None,
    ) -> Prepared[None]:
        _enough(loss, rounds, max_rows)
        if not any(isinstance(part, Matrix) for part in parts):
            loss = of_gaussian(loss)
        self.loss, self.neighbors, self.rounds, self.name = loss, neighbors, rounds, name
        self._weighted, self._of_more = weights is not None, weights is not None or ids is not None
        self._most, self._unit = weights or (1, 1.0)
        self._steps = max_rows * (2 if neighbors == "replace" else 1)
        if self._of_more:
            self.neighbors = "add-remove"
        self._source, self._lock, self._used = source, threading.Lock(), 0
        for part in parts:
            self.noise(part)

        def paid(answer: tuple[None, Generator]) -> None:
            _, self._generator = answer
            if ids is not None:
                self._source = source.bounded(max_rows, self._generator)
            self._process = witnesses()

        return Prepared(Allocation(name, loss, neighbors, ids=ids), source, budget, rng, paid)

    def __reduce__(self) -> NoReturn:
        raise TypeError("rounds can be neither pickled nor copied: both copies would answer")

    @property
    def remaining(self) -> int:
        """The number of rounds that are left."""
        return self.rounds - self._used

    def noise(self, part: Some, uses: int = 1) -> Noise:
        """Return the noise of a part that uses `uses` rounds, for all rows of a privacy unit."""
        if self._of_more:
            part = part.of_rows(self._most, self._steps)
        if isinstance(self.loss, Approx) and self.loss.rho and not isinstance(part, Part):
            checks.fail("parts", "given before the spend, unless their noise is Gaussian", part)
        rounds = Fraction(self.rounds, uses)
        noise = part.noise(self.loss, rounds)
        if isinstance(part, Part) and part.sizes and isinstance(self.loss, Pure):
            joint = Boxes(Moves(part.sizes), share=part.share).noise(self.loss, rounds)
            if max(joint.noise.deviations) < noise.deviation:
                return joint
        return noise

    def deviation(self, part: Some, uses: int = 1) -> float:
        """Return the standard deviation of the noise of a part that uses `uses` rounds."""
        return self.noise(part, uses).deviation * self._unit

    def deviations(self, part: Some, uses: int = 1) -> list[float]:
        """Return the standard deviation of the noise of each number of a part."""
        noise = self.noise(part, uses)
        if isinstance(noise, BoxesNoise):
            return [deviation * self._unit for deviation in noise.noise.deviations]
        return [self.deviation(part, uses)] * part.size

    def ask(
        self, total: Callable[[Any], list[int]], parts: Sequence[Some], uses: int = 1
    ) -> list[Any]:
        """Return the integers that `total` computes from the source, part by part, with noise.

        With weights, they are numbers in units of the weights. A query may use several rounds,
        `uses`, in one pass: then the shares of its parts are shares of all these rounds. The number
        `uses` may depend on earlier answers.

        Raises
        ------
        ArgumentError
            If the loss is too small for noise in these parts. The round has not been used.
        BudgetError
            If too few rounds are left, or in a forked process. The data were not read.
        """
        noises = tuple((self.noise(part, uses), part.size) for part in parts)
        self._use(uses)
        mechanism = _Sums(self.loss, self.neighbors, self.name, total, noises)
        noisy = release(self._source, mechanism, budget=None, rng=self._generator)
        return [x * self._unit for x in noisy] if self._weighted else noisy

    def sharpness(self, spread: int, uses: int = 1) -> float:
        """Return c, the factor of scores in `choose`, if a row changes scores by `spread`."""
        return float_down(self._range(uses) / (spread * self._most * self._steps))

    def choose(
        self, scores: Callable[[Any], NDArray[np.int64]], spread: int, uses: int = 1
    ) -> list[int]:
        """Choose a column from each row of the table that `scores` computes from the source.

        Each row of the table belongs to a separate set of rows of the data. A row of the data that
        is added or removed changes the scores of its set by numbers from an interval of length
        `spread`. The choices may use several rounds, as in `ask`.

        Raises
        ------
        BudgetError
            As in `ask`.
        """
        sharp = self.sharpness(spread, uses)
        self._use(uses)
        mechanism = _Choices(self.loss, self.neighbors, self.name, scores, sharp)
        return release(self._source, mechanism, budget=None, rng=self._generator)

    def _range(self, uses: int) -> Fraction:
        """Return the bounded range that `uses` rounds of choices may have together."""
        loss = self.loss
        if isinstance(loss, Pure):
            return uses * loss.epsilon / self.rounds
        if isinstance(loss, ZCDP):
            return range_within(uses * loss.rho / self.rounds)
        assert isinstance(loss, Approx)
        unit = analytic(float_down(loss.epsilon), float_down(loss.delta))
        return Fraction(range_of_normal(math.sqrt(uses / self.rounds) / unit * (1.0 - 2.0**-50)))

    def _use(self, uses: int) -> None:
        """Count some rounds as used, or refuse if too few are left or the process was forked."""
        # This comes before the lock, because a fork may have copied the lock while it was held.
        if self._process != witnesses():
            raise BudgetError(
                f"{self.name}: the rounds belong to the parent of this forked process: "
                "use them there, or pay for new rounds in this process"
            )
        with self._lock:
            if self._used == self.rounds:
                raise BudgetError(
                    f"{self.name}: all {self.rounds} rounds are used: open more rounds"
                )
            if self.remaining < uses:
                raise BudgetError(
                    f"{self.name}: {self.remaining} of {self.rounds} rounds are left, not {uses}"
                )
            self._used += uses


def range_of_normal(shift: float) -> float:
    """Return the bounded range that reveals no more than a shift of a standard normal variable.

    It is 2 ln(F(x) / F(-x)), rounded down, where x is shift / 2 and F is the normal distribution
    function.
    """
    x = shift / math.sqrt(8.0)
    if x < 0.5:
        width = 4.0 * math.atanh(math.erf(x))
    else:
        width = 2.0 * (math.log1p(math.erf(x)) - math.log(math.erfc(x)))
    return width * (1.0 - 2.0**-40)


def _enough(loss: Loss, rounds: int, max_rows: int) -> None:
    """Refuse a loss per round, rho / T or epsilon / T, for which the noise would be too large.

    With (epsilon, delta) a round has about epsilon / sqrt(T). Each of `max_rows` rows has a part of
    the loss of a round.
    """
    size, least = amount(loss), Fraction(max_rows, 2**30)
    name, times, power, enough = "epsilon", "2**-30 times", "", size >= rounds * least
    if isinstance(loss, ZCDP):
        name, times, power, enough = "rho", "2**-60 times", "**2", size >= rounds * least**2
    elif isinstance(loss, Approx):
        times, enough = "2**-30 times the root of", size**2 >= rounds * least**2
    if not enough:
        of = "the number of rounds" if max_rows == 1 else f"rounds times max_rows{power}"
        checks.fail(name, f"at least {times} {of}", float(size))


def loss_of(epsilon: Any, delta: Any, rho: Any) -> Loss:
    """Return the loss of these arguments; refuse a loss for which there is no noise."""
    loss = privacy.loss(epsilon, delta, rho)
    amount(loss)
    return loss
