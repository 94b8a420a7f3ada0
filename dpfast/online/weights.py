"""Private multiplicative weights: linear queries answered from a distribution that learns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..budget.budget import Budget
from ..rng import Generator
from .hypothesis import Hypothesis
from .linear import Asked, LinearStream
from .plan import Plan, plan
from .synthetic import Synthetic

#: Gaps that are tried: 1 and so on.
FINER = 0.9
#: Rows for which a count has 32 bits.
NARROW = 1 << 31
#: Hard answers at most.
MOST = 1 << 24


class PrivateMultiplicativeWeights(Synthetic, LinearStream):
    """Answer a stream of linear queries from a public distribution, which learns from hard ones.

    The distribution over the universe is uniform at first. A query is easy if its mean under the
    distribution is about right, and then that is the answer, which costs nothing; else it is hard:
    it is answered with noise, and weights of the elements on the side of the answer grow. Each hard
    query brings the distribution nearer to the data, so there are at most ``ln(N) / (2 gap**2)``.

    Privacy
    -------
    Neighbours are datasets of the same public number of rows that differ in one row. All answers
    together satisfy the loss that is asked for, however queries depend on earlier answers (Hardt
    and Rothblum, FOCS 2010): whether a query is hard is told by the sparse vector technique (Lyu,
    Su and Li, VLDB 2017) on the exact distance of the data's answer to the guess, and hard answers
    have noise of their own. The distribution is a function of queries and answers. Whether
    `accuracy` is kept depends on a probability; privacy never does.

    Parameters
    ----------
    histogram : array_like of int, shape (N,), optional
        How many rows are each element of the universe.
    data : column of n rows, optional
        Instead of the histogram: an array, a column of a table, or a source.
    universe : array_like of shape (N,), optional
        As for `MedianMechanism`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    queries : int
        How many queries are going to be asked, at most.
    accuracy : float
        By how much an answer may be off, as a fraction of the rows.
    failure : float, default 0.05
        With what probability at most any answer is off by more, or the stream halts early.
    name : str, optional
        As for `MedianMechanism`: keep the stream in the file of the budget.
    budget : Budget, optional
        Pays for the stream, once, before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Attributes
    ----------
    gap : float
        By how much the distribution is wrong at least where it learns, but for `failure`.
    hard, remaining : int
        How many hard answers there are in all, and how many are left.
    left : int
        How many queries may still be asked.
    distribution : ndarray of float64, shape (N,)
        What is known of the data: public, and the answer to any further question at no cost.
    accuracy, spent, past

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or an accuracy that cannot be kept with this loss: the message says what
        can. Nothing has been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.
    DataError
        A row is no element of the universe. The spend stands.
    LedgerError
        When the file of the budget cannot be used.

    Notes
    -----
    Cost: a query is one pass over the universe, an update another one that takes an exponential for
    each element. Memory 16 bytes an element.

    With the step 4 gap, a hard answer lowers the divergence of the data from the distribution by at
    least ``2 gap**2``: Hoeffding's lemma bounds what the normalisation takes back by a part of what
    is published, and an eighth of the published number of hard answers is enough.

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

    def __init__(
        self,
        histogram: Any = None,
        *,
        data: Any = None,
        universe: Any = None,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        queries: int,
        accuracy: float,
        failure: float = 0.05,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> None:
        loss = (epsilon, delta, rho)
        asked = Asked.of(loss, queries, accuracy, failure, histogram, data, universe)
        if asked.accuracy > 1:
            checks.fail("accuracy", "a fraction of the rows, at most 1", accuracy)
        self.gap, made = _gap(asked)
        title = "private multiplicative weights"
        super().__init__(title, asked, made, budget, rng, name, gap=self.gap)
        self._hypothesis = Hypothesis(asked.universe.size)
        self._begin(self._kept)
        self._resume()

    @property
    def distribution(self) -> NDArray[np.float64]:
        """What is known of the data: public probabilities of the elements."""
        with self._turn():
            return self._hypothesis.distribution

    def _held(self, counts: NDArray[np.int64]) -> NDArray[Any]:
        return counts.astype(np.int32 if self._rows < NARROW else np.float64)

    def _compare(self, question: NDArray[np.float64]) -> tuple[int, int, None]:
        bits = self._plan.bits
        narrow = self._rows < NARROW
        found = self._hypothesis.sums(question, bits, self._counts if narrow else None)
        if found.odd:
            self._weights(question)  # which says what is wrong
        exact = found.exact if narrow else int(self._weights(question) @ self._counts)
        mean = min(max(found.mean, 0.0), float(1 << bits))
        return math.floor(mean * self._rows), exact, None

    def _learn(self, question: NDArray[np.float64], basis: None, told: int, more: bool) -> None:
        step = 4.0 * self.gap
        self._hypothesis.move(step if more else -step, question, self._plan.bits)


def _gap(asked: Asked) -> tuple[float, Plan]:
    """The largest gap with which the accuracy is kept, and its plan."""
    least, fewest, gap = math.inf, 0, 1.0
    while True:
        # So many times the divergence can fall; one more is never needed, but for `failure`.
        hard = int(math.log(asked.universe.size) / (2 * gap * gap)) + 1
        if hard > MOST:
            break
        made = plan(asked.loss, asked.rows, hard, asked.queries, asked.failure, 24)
        needed, kept = max(gap, made.answer) + 2 * made.gate, made.answer <= gap
        if needed <= asked.accuracy and kept:
            return gap, made
        if needed < least and (kept or gap == 1.0):  # of a gap of 1 it is beyond 1 in any case
            least, fewest = needed, hard
        # The noise only grows with more hard answers, for which a smaller gap is.
        if 2 * made.gate > max(least, asked.accuracy) or made.answer > 8 * gap:
            break
        gap *= FINER
    asked.refuse(least, fewest)
