"""Composition of a fixed number of rounds, each a noisy vector of exact integers.

One allocation of a budget pays for all rounds. The query of a round may depend on all earlier
answers. Let D_t be the L2 sensitivity of round t, and T the number of rounds. Round t gets noise of
deviation sqrt(T) D_t / s or more:

* zCDP, s^2 = 2 rho: discrete Gaussian noise costs rho / T a round, and rho adds up under adaptive
  composition (Bun and Steinke, TCC 2016).
* (epsilon, delta), s as in `noise.additive`: with Gaussian noise a round reveals no more than
  whether a standard normal variable was shifted by s / sqrt(T). T such rounds, chosen one after the
  other, reveal no more than whether one was shifted by s (Dong, Roth and Su, "Gaussian differential
  privacy", JRSS B 2022). Rounding to integers is post-processing.
* epsilon alone: discrete Laplace noise for epsilon / T of the L1 norm.

The matrix of the products of some columns may have noise for its nuclear norm instead, T / epsilon
times that (`noise.wishart`); then epsilon / T is what it costs.

Vectors of integers each of which a row may move at once, by its size at most, have joint noise of
`measurement.choice` for epsilon / T: about sqrt(d^2 / 3) for d of them, where Laplace noise on each
is sqrt(2) d. Of many vectors a row moves a few: where it is in all by so many `steps`, each of them
a vector within the box of all sizes, noise of its own on each vector for epsilon / (T steps) is
enough, since one step costs that at most, and a vector that no step moves costs nothing.

In all three a round is noise for one joint release of a vector of L2 sensitivity sqrt(T) D_t (L1
sensitivity T D_t), for which `noise.calibrated_integer` has the noise. A round may consist of
parts with noise of different scales; part p takes the share a_p of the round, noise for D_p /
sqrt(a_p). If the shares add up to 1 that is always enough: the sum of a_p over the parts that
change. It may be enough with larger shares where a row cannot change all parts as far as each goes.

One query may use several of the T rounds, u_1, u_2 and so on, with the noise of that many: a share
of u_t. The numbers may depend on earlier answers, as long as they add up to T:

* epsilon, and zCDP: the part u_t / T of the loss. On every path of answers the logarithm of a ratio
  of probabilities is a sum of parts that are no more than epsilon. And let r_t be what is left of
  rho before answer t. At each order a of the Renyi divergence the mean power of what the answers
  from t on add is at most exp(a (a - 1) r_t): so for the last, and if for t + 1, then for t, since
  r_t - r_(t + 1) is fixed when t is asked, and its answer adds exp(a (a - 1) (r_t - r_(t + 1))) at
  most. (Rogers, Roth, Ullman and Vadhan, NeurIPS 2016; Feldman and Zrnic, NeurIPS 2021.)
* (epsilon, delta): before rounding, such an answer is the mean of the answers of u_t rounds that
  ask the same. So all answers can be computed from those of T rounds, each chosen by the answers
  before it, which is the case above. (For parts of any size: Smith and Thakurta, "Fully adaptive
  composition for Gaussian differential privacy", 2022.)

A round may also be choices by the exponential mechanism, one for each of some disjoint sets of
rows, with weights exp(c q). Let a row that is added or removed change the scores q of its own set
by numbers of an interval of length r. The logarithm of the ratio of two probabilities then lies in
an interval of length h = c r, "bounded range", and

* that is h-DP and h^2 / 8 zCDP (Cesar and Rogers, ALT 2021);
* a normal variable shifted by m reveals no less if m = 2 F^-1(L(h / 2)), F and L the normal and the
  logistic distribution functions. For a ratio that lies in an interval and has the mean 1 is most
  spread out at the ends of it (Blackwell, 1951: then it is easiest to tell apart), where a coin has
  log-odds of x + h / 2 or of x - h / 2, and the deviate F^-1(L) of the one is largest above that of
  the other at x = 0, as it is odd, and concave beyond 0 (van Zwet, 1964).

A replaced row is removed and added: a range of 2 h in one set, or one of h in each of two sets,
which costs no more: h + h, h^2 / 8 + h^2 / 8, and the square of m for 2 h is over twice that for h.

*People.* With ids, the rows of each person are bounded once before all rounds: at most k are kept,
by a fresh secret key, with the distribution and the coupling of `measurement.unit`. The kept rows
of neighbors then differ by k rows that are added or removed, and by 2 k if a person is replaced.
All rounds have noise for so many rows at once: k times the sensitivity of one row in L1, L2 and
nuclear norm. For epsilon and rho this is the noise of one row for its part of the loss, and for
(epsilon, delta) it is less. A vector in a box reaches its neighbor in k steps. For choices, k rows
in several sets have ranges of k h together. Ranges h_1, h_2 and so on that add up to H cost no more
than one of H: they add up to H-DP, the sum of h_i^2 is at most H^2, and so is that of m(h_i)^2 at
most m(H)^2, since m(h)^2 / h rises with h. For y = m / 2 and f, F the normal density and
distribution, h = 2 ln(F(y) / F(-y)) is the integral of 2 r(t) over t from 0 to y, r = f / (F(t)
F(-t)). r(t) / t falls, since r' / r = -t + f / F(-t) - f / F is below 1 / t by Mills' bound f /
F(-t) < t + 1 / t. So h(y) is at least y r(y), y times the derivative of ln h is at most 2, and y^2
/ h rises.
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
