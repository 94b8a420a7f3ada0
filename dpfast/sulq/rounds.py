"""Composition of a fixed number of rounds, each a noisy vector of exact integers.

One allocation of a budget pays for all rounds. The query of a round may depend on all earlier
answers. Let D_t be the L2 sensitivity of round t, and T the number of rounds. Round t gets noise of
deviation sqrt(T) D_t / s or more:

* zCDP, s^2 = 2 rho: discrete Gaussian noise costs rho / T for each round, and rho adds up under
  adaptive composition (Bun and Steinke, TCC 2016).
* (epsilon, delta), s as in `noise.additive`: with Gaussian noise a round reveals no more than
  whether a standard normal variable was shifted by s / sqrt(T). T such rounds, chosen one after the
  other, reveal no more than whether one was shifted by s (Dong, Roth and Su, "Gaussian differential
  privacy", JRSS B 2022). Rounding to integers is post-processing.
* epsilon alone: discrete Laplace noise for epsilon / T and the L1 norm.

So a round is noise for one joint release of a vector of L2 sensitivity sqrt(T) D_t (L1 sensitivity
T D_t). `noise.calibrated_integer` has this noise. For epsilon alone there are two more kinds of
noise:

* For the matrix of the products of some columns: noise for its nuclear norm, T / epsilon times that
  (`noise.wishart`). It costs epsilon / T.
* For vectors of integers all of which a row may change at once, each by its size at most: joint
  noise of `measurement.choice` for epsilon / T. Its deviation is about sqrt(d^2 / 3) for d
  integers; that of Laplace noise on each is sqrt(2) d. If there are many such vectors, a row may
  change a few of them. Let it change all of them in so many `steps`, each of which changes one
  vector within the box of all sizes. Then independent noise on each vector for epsilon / (T steps)
  is enough: one step costs at most that, and a vector that no step changes costs nothing.

*Parts.* A round may consist of parts with noise of different scales. Part p has the share a_p of
the round, and noise for D_p / sqrt(a_p). If the shares add up to 1, this is always enough: the cost
is the sum of a_p over the parts that change. Larger shares may be enough if a row cannot change all
parts by their sensitivities.

*Several rounds at once.* One query may use several of the T rounds, u_1, u_2 and so on, with the
noise of that many: a share of u_t. These numbers may depend on earlier answers, as long as they add
up to T:

* epsilon: the part u_t / T of the loss. For every sequence of answers, the logarithm of the ratio
  of probabilities is a sum of parts that add up to at most epsilon.
* zCDP: the part u_t / T of the loss, too. Let r_t be the rho that remains before answer t. Claim:
  at each order a of the Renyi divergence, the mean power of what the answers from t on add is at
  most exp(a (a - 1) r_t). It holds for the last answer. If it holds for t + 1, it holds for t,
  because r_t - r_(t + 1) is fixed when query t is chosen, and its answer adds at most exp(a (a - 1)
  (r_t - r_(t + 1))). (Rogers, Roth, Ullman and Vadhan, NeurIPS 2016; Feldman and Zrnic, NeurIPS
  2021.)
* (epsilon, delta): before rounding, such an answer is the mean of the answers of u_t rounds with
  the same query. So all answers can be computed from those of T rounds, each chosen by the answers
  before it. This is the case above. (For parts of any size: Smith and Thakurta, "Fully adaptive
  composition for Gaussian differential privacy", 2022.)

*Selections.* A round may also consist of selections by the exponential mechanism with weights exp(c
q), one for each of some disjoint sets of rows. Let a row that is added or removed change the scores
q of its own set by numbers of an interval of length r. Then the logarithm of the ratio of two
probabilities lies in an interval of length h = c r ("bounded range"), and

* the selection is h-DP, and h^2 / 8 zCDP (Cesar and Rogers, ALT 2021);
* a normal variable shifted by m reveals no less, if m = 2 F^-1(L(h / 2)), where F and L are the
  normal and the logistic distribution functions. Proof: a ratio that lies in an interval and has
  the mean 1 is most spread out if it is always at one of its ends. Then it reveals most (Blackwell,
  1951). It is a coin with log-odds of x + h / 2 or x - h / 2. The difference of the deviates
  F^-1(L) of these two is largest for x = 0, because F^-1(L) is odd, and concave above 0 (van Zwet,
  1964).

A replaced row is one that is removed and one that is added. It has a range of 2 h in one set, or of
h in each of two sets. The latter costs no more: h + h is 2 h, h^2 / 8 + h^2 / 8 is less than (2
h)^2 / 8, and the square of m for 2 h is more than twice that for h.

*People.* With ids, the rows of each person are bounded once, before all rounds. At most k are kept,
by a fresh secret key, with the distribution and the coupling of `measurement.unit`. Then the kept
rows of neighbors differ by k rows that are added or removed, or by 2 k if a person is replaced. All
rounds have noise for this many rows at once: for k times the sensitivity of one row in L1, L2 and
nuclear norm. For epsilon and rho this is the noise of one row for its part of the loss. For
(epsilon, delta) it is less. A vector in a box reaches its neighbor in k steps.

For selections, k rows in several sets have ranges of k h together. Ranges h_1, h_2 and so on that
add up to H cost no more than a single range of H:

* They add up to H-DP.
* The sum of h_i^2 is at most H^2.
* The sum of m(h_i)^2 is at most m(H)^2, because m(h)^2 / h increases with h.

Proof of the last: let y = m / 2, and f and F the normal density and distribution function. Then h =
2 ln(F(y) / F(-y)) is the integral of 2 r(t) over t from 0 to y, where r = f / (F(t) F(-t)). r(t) /
t decreases, since r' / r = -t + f / F(-t) - f / F is below 1 / t by Mills' bound f / F(-t) < t + 1
/ t. So h(y) is at least y r(y), and y times the derivative of ln h is at most 2. So y^2 / h
increases.
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
    """A round of noisy integers: pairs of a noise and the number of integers with this noise."""

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
    """A round of choices by the exponential mechanism, one from each row of a table of scores."""

    c: float

    def finish(self, summary: NDArray[np.int64], generator: Generator) -> list[int]:
        return list(Rows(Table(summary), self.c).draw(1, generator.stream())[:, 0].tolist())


class Rounds:
    """A fixed number of adaptive rounds of noisy answers about one source, paid for in advance.

    Parameters
    ----------
    source : object
        The argument of each round's `total`.
    loss : Loss
        The loss of all rounds together.
    neighbors : str
    rounds : int
    name : str
        Name of the ledger entry.
    parts : sequence of Part, optional
        The queries, as far as they are known. Noise that cannot be drawn is refused now.
    weights : (int, float), optional
        The largest weight of a row in units, and the unit, if the source counts rows by weight
        (`learn.weights`). Then parts are calibrated to added or removed rows, for any `neighbors`,
        and answers are sums of weights.
    ids : str, optional
        The name of the ids, "" for ids without a name: then the privacy unit is a person, and of
        the source, a `learn.rows.Rows`, at most `max_rows` rows of each person are read. Parts are
        calibrated to added or removed rows.
    max_rows : int, default 1
    budget, rng
        As in `release`.

    Raises
    ------
    ArgumentError
        If the loss is too small for so many rounds; nothing has been spent.
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
        raise TypeError("rounds can be neither pickled nor copied: both copies could answer")

    @property
    def remaining(self) -> int:
        """The number of rounds that are left."""
        return self.rounds - self._used

    def noise(self, part: Some, uses: int = 1) -> Noise:
        """Return the noise of a part that uses `uses` rounds, for the rows of a privacy unit."""
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

        With weights they are numbers, in units of these. They may be the parts of several rounds,
        `uses` of them, in one pass, whose shares are of all these rounds. The number may depend on
        earlier answers.

        Raises
        ------
        ArgumentError
            If the loss is too small for noise in these parts. The round has not been used.
        BudgetError
            If fewer rounds are left, or in a forked process. The data were not touched.
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

        Each row of the table is about a separate set of rows. A row that is added or removed
        changes the scores of its set by numbers of an interval of length `spread`. They may be
        choices of several rounds, as in `ask`.

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
        # Before the lock: a fork may have copied it while it was held.
        if self._process != witnesses():
            raise BudgetError(
                f"{self.name}: the rounds belong to the parent of this forked process, which does "
                "not see that one was used; use them there, or pay for rounds of this process"
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

    It is 2 ln(F(x) / F(-x)), x = shift / 2, F the normal distribution function, rounded down.
    """
    x = shift / math.sqrt(8.0)
    if x < 0.5:
        width = 4.0 * math.atanh(math.erf(x))
    else:
        width = 2.0 * (math.log1p(math.erf(x)) - math.log(math.erfc(x)))
    return width * (1.0 - 2.0**-40)


def _enough(loss: Loss, rounds: int, max_rows: int) -> None:
    """Refuse a loss per round, rho / T or epsilon / T, that is too small to make noise for.

    For (epsilon, delta) it has about epsilon / sqrt(T). Each of `max_rows` rows has a part of it.
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
    """Return the loss of these arguments; refuse a size that noise cannot be made for."""
    loss = privacy.loss(epsilon, delta, rho)
    amount(loss)
    return loss
