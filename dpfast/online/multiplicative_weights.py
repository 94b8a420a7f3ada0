"""Private multiplicative weights: answer linear queries from a public distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Number
from ..budget.budget import Budget
from ..budget.release import Prepared, releases
from ..rng import Generator
from .linear_stream import Arguments, LinearStream
from .plan import Plan, plan
from .public_distribution import HasDistribution, PublicDistribution

#: The gaps that are tried are 1 and its powers with this factor.
FINER = 0.9
#: Counts have 32 bits if there are fewer rows than this.
NARROW = 1 << 31
#: The most hard answers.
MOST = 1 << 24


class PrivateMultiplicativeWeights(HasDistribution, LinearStream):
    """Answer a stream of linear queries from a public distribution, updated after hard queries.

    The distribution over the universe is uniform at first. A query is easy if its mean under the
    distribution is nearly right. That mean is then the answer and costs nothing. Otherwise the
    query is hard: it is answered with noise, and the weights of the elements in the direction of
    the answer grow. Each hard query brings the distribution nearer to the data, so there are at
    most ``ln(N) / (2 gap**2)`` hard queries.

    Privacy
    -------
    Neighbors are datasets of the same public number of rows that differ in one row. All answers
    together satisfy the requested loss, for queries that may depend on earlier answers (Hardt and
    Rothblum, FOCS 2010).

    The sparse vector technique (Lyu, Su and Li, VLDB 2017) decides whether a query is hard, from
    the exact distance of the data's answer to the guess, and hard answers have separate noise. The
    distribution is a function of queries and answers. `accuracy` holds except with a failure
    probability; privacy always holds.

    Parameters
    ----------
    histogram : array_like of int, shape (N,), optional
        The number of rows for each element of the universe.
    data : column of n rows, optional
        The rows, instead of the histogram: an array, a column of a table, or a source.
    universe : array_like of shape (N,), optional
        As for `MedianMechanism`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    queries : int
        The largest number of queries.
    accuracy : float
        The largest error of an answer, as a fraction of the rows.
    failure : float, default 0.05
        The largest probability that any answer has a larger error, or that the stream halts early.
    name : str, optional
        As for `MedianMechanism`: keep the stream in the file of the budget.
    budget : Budget, optional
        The budget that pays for all answers, before rows are read or random bits are drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Attributes
    ----------
    gap : float
        The least error of the distribution for which it is updated, except with probability
        `failure`.
    hard, remaining : int
        The total number of hard answers, and the number that is left.
    left : int
        The number of queries that are left.
    distribution : ndarray of float64, shape (N,)
        The public distribution that was learned from the data. It answers any further query at no
        cost.
    accuracy, spent, past
        As for `MedianMechanism`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or an accuracy that cannot be kept with this loss (the message says
        which can). Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.
    DataError
        If a row is not an element of the universe. The spent budget is not refunded.
    LedgerError
        If the file of the budget cannot be used.

    Notes
    -----
    Cost: a query is one pass over the universe, and an update another one with an exponential for
    each element. Memory: 16 bytes an element.

    With a step of 4 gap, a hard answer lowers the divergence of the data from the distribution by
    at least ``2 gap**2``: Hoeffding's lemma bounds the effect of the normalization better than the
    paper does, so an eighth of the published number of hard answers is enough.

    References
    ----------
    Hardt and Rothblum, "A multiplicative weights mechanism for privacy-preserving data analysis",
    FOCS 2010.

    Examples
    --------
    >>> import dpfast as dp
    >>> stream = dp.online.PrivateMultiplicativeWeights(
    ...     [130_000, 40_000, 20_000, 10_000], epsilon=1, queries=1000, accuracy=0.15)
    >>> answers = [stream.answer([1, 0, 0, 0]) for _ in range(1000)]
    >>> max(abs(a - 0.65) for a in answers) <= 0.15
    True
    >>> bool(abs(stream.distribution[0] - 0.65) <= 0.15)
    True
    """

    @releases
    def __init__(  # type: ignore[misc]
        self,
        histogram: ArrayLike | None = None,
        *,
        data: Any = None,
        universe: ArrayLike | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        queries: int,
        accuracy: Number,
        failure: Number = 0.05,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        loss = (epsilon, delta, rho)
        args = Arguments.of(loss, queries, accuracy, failure, histogram, data, universe)
        if args.accuracy > 1:
            checks.fail("accuracy", "a fraction of the rows, at most 1", accuracy)
        self.gap, noise = _gap(args)
        title = "private multiplicative weights"
        self._weighted = PublicDistribution(args.universe.size)
        stream = self._stream(title, args, noise, (budget, rng, name), gap=self.gap)
        return stream.then(self._resume)

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The public probabilities of the elements, learned from all hard answers so far."""
        with self._turn():
            return self._weighted.distribution

    def _held(self, counts: NDArray[np.int64]) -> NDArray[Any]:
        return counts.astype(np.int32 if self._rows < NARROW else np.float64)

    def _compare(self, question: NDArray[np.float64]) -> tuple[int, int]:
        bits = self._plan.bits
        narrow = self._rows < NARROW
        sums = self._weighted.sums(question, bits, self._counts if narrow else None)
        if sums.invalid:
            self._weights(question)  # this call raises the error
        exact = sums.exact if narrow else int(self._weights(question) @ self._counts)
        mean = min(max(sums.mean, 0.0), float(1 << bits))
        return math.floor(mean * self._rows), exact

    def _learn(self, question: NDArray[np.float64], noisy: int, more: bool) -> None:
        step = 4.0 * self.gap
        self._weighted.move(step if more else -step, question, self._plan.bits)


def _gap(args: Arguments) -> tuple[float, Plan]:
    """Return the largest gap with which the accuracy holds, and its noise plan."""
    least, fewest, gap = math.inf, 0, 1.0
    while True:
        # The divergence can fall this often. The one further answer is needed only with probability
        # `failure`.
        hard = int(math.log(args.universe.size) / (2 * gap * gap)) + 1
        if hard > MOST:
            break
        noise = plan(args.loss, args.rows, hard, args.queries, args.failure, 24)
        needed, kept = max(gap, noise.answer) + 2 * noise.comparison, noise.answer <= gap
        if needed <= args.accuracy and kept:
            return gap, noise
        # With a gap of 1, the accuracy is above 1 in any case.
        if needed < least and (kept or gap == 1.0):
            least, fewest = needed, hard
        # Smaller gaps allow more hard answers, so from here on the noise only grows.
        if 2 * noise.comparison > max(least, args.accuracy) or noise.answer > 8 * gap:
            break
        gap *= FINER
    args.refuse(least, fewest)
