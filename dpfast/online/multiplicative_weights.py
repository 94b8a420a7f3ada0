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

#: The gaps that are tried are the powers of this factor, from 1 on.
FINER = 0.9
#: Counts have 32 bits if there are fewer rows than this.
NARROW = 1 << 31
#: The most hard answers.
MOST = 1 << 24


class PrivateMultiplicativeWeights(HasDistribution, LinearStream):
    """Answer a stream of linear queries from a public distribution, updated after hard queries.

    A linear query gives each element of a public list, the universe, a number from 0 to 1, and asks
    for the mean of this number over all rows.

    The stream keeps a public distribution over the universe, which is uniform at first. The mean of
    a query under this distribution is the guess. If the guess is nearly right for the data, the
    query is easy: the guess is the answer, and costs nothing. Otherwise the query is hard: the
    answer is computed from the data with noise. Then the weights of the elements change, so that
    the mean of the query moves towards this answer. Each hard query brings the distribution nearer
    to the data. So at most ``ln(N) / (2 gap**2)`` queries are hard, for a universe of N elements.

    Privacy
    -------
    Neighbors are datasets with the same number of rows, which is public, that differ in one row.
    All answers together satisfy the requested loss (Hardt and Rothblum, FOCS 2010). A query may
    depend on earlier answers.

    The sparse vector technique (Lyu, Su and Li, VLDB 2017) decides whether a query is hard: it
    compares the distance between the data's exact answer and the guess with a threshold. The noise
    of hard answers is drawn separately. The distribution is computed from queries and released
    answers alone. Privacy always holds; `accuracy` holds except with the failure probability.

    Parameters
    ----------
    histogram : array_like of int, shape (N,), optional
        The number of rows for each element of the universe.
    data : column of n rows, optional
        The rows, instead of the histogram: an array, a column of a table, or a source.
    universe : array_like of shape (N,), optional
        The public elements in order: distinct numbers, or distinct texts. Needed with `data`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    queries : int
        The largest number of queries that the stream answers.
    accuracy : float
        The largest error of an answer, as a fraction of the rows.
    failure : float, default 0.05
        The largest probability that any answer has a larger error, or that the stream halts early.
    name : str, optional
        Keep the stream in the file of the budget under this name, as in `MedianMechanism`.
    budget : Budget, optional
        The budget that pays for all answers, before rows are read or random bits are drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Attributes
    ----------
    gap : float
        A query is hard only if the error of its guess is at least `gap`, except with probability
        `failure`.
    hard, remaining : int
        The number of hard answers in all, and how many of them are left.
    left : int
        How many queries are left.
    distribution : ndarray of float64, shape (N,)
        The public probabilities of the elements, learned from the hard answers. Any mean under them
        costs nothing.
    accuracy, spent, past
        As in `MedianMechanism`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or an accuracy that is impossible with this loss; the message says which
        accuracy is possible. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.
    DataError
        If a row is not an element of the universe. The spent budget is not refunded.
    LedgerError
        If the file of the budget cannot be used.

    Notes
    -----
    Cost: each query reads the universe once. A hard query reads it once more, and computes an
    exponential for each element. Memory: 16 bytes for each element.

    A hard answer changes the logarithms of weights by up to ``4 gap``. This lowers the divergence
    of the data from the distribution by at least ``2 gap**2``, by Hoeffding's lemma. So an eighth
    of the number of hard answers in the paper is enough.

    References
    ----------
    Hardt and Rothblum, "A multiplicative weights mechanism for privacy-preserving data analysis",
    FOCS 2010.

    Examples
    --------
    A thousand queries for the share of the first of four elements, which is 0.65:

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
            checks.fail("accuracy", "at most 1, because it is a fraction of the rows", accuracy)
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
        # The divergence can fall this often less one. One further answer is needed with probability
        # `failure` at most.
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
