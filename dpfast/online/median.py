"""The median mechanism: answer linear queries by the median over candidate databases."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Number
from ..budget.budget import Budget
from ..budget.release import Prepared, releases
from ..errors import ArgumentError
from ..rng import Generator, InsecureGenerator
from . import multisets
from .linear_stream import Arguments, LinearStream
from .plan import Plan, plan

#: The default limit on the number of candidates, and the largest possible limit.
USUAL, MOST = 500_000, 1 << 26
#: The most bytes of counts.
MOST_BYTES = 1 << 32


class MedianMechanism(LinearStream):
    """Answer a stream of linear queries with the median mechanism.

    A linear query gives each possible row a number from 0 to 1, and asks for the mean of this
    number over all rows. For example, 1 for rows from China and 0 for all others asks for the share
    of rows from China. Each row is an element of a public list, the universe.

    The stream keeps candidates for the data: at first all multisets of `size` elements of the
    universe. Each query is answered for every candidate, and the median of these answers is the
    guess. If the guess is nearly right for the data, the query is easy: the guess is the answer,
    and costs nothing. Otherwise the query is hard: the answer is computed from the data with noise,
    and the candidates on its wrong side, at least half of them, are removed. So the number of hard
    queries is at most about the logarithm (to base 2) of the number of candidates, for any number
    of queries.

    Privacy
    -------
    Neighbors are datasets with the same number of rows, which is public, that differ in one row.
    All answers together satisfy the requested loss. A query may depend on earlier answers.

    The sparse vector technique (Lyu, Su and Li, VLDB 2017) decides whether a query is hard: it
    compares the distance between the data's exact answer and the median with a threshold. The noise
    of hard answers is drawn separately. Candidates and medians are computed from queries and
    released answers alone. The mechanism is by Roth and Roughgarden (STOC 2010). Its constants are
    small here, because each hard query removes half of the candidates. Privacy always holds;
    `accuracy` holds except with the failure probability.

    Parameters
    ----------
    histogram : array_like of int, shape (N,), optional
        The number of rows for each element of the universe.
    data : column of n rows, optional
        The rows, instead of the histogram: an array, a column of a table, or a source.
    universe : array_like of shape (N,), optional
        The public elements in order: distinct numbers, or distinct texts. Needed with `data`.
        A query that is a function is called with each element. Without a `universe` the elements
        are 0 .. N - 1.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    queries : int
        The largest number of queries that the stream answers.
    accuracy : float
        The largest error of an answer, as a fraction of the rows.
    failure : float, default 0.05
        The largest probability that any answer of the stream has a larger error.
    size : int, optional
        The number of rows of a candidate, up to 255. By default the largest size with at most
        500,000 candidates.
    candidates : int, optional
        Take this many random candidates instead of all. If none of them is similar to the data, the
        stream halts early. Privacy holds in any case.
    test : {"distance", "closeness"}, default "distance"
        Which queries are hard. With "distance", a query is hard if the error of the median exceeds
        a threshold. A hard answer then removes the candidates on its wrong side. "closeness" is the
        test of the paper: a query is hard if the answers of all candidates, taken together, are not
        close to the answer of the data. A hard answer then removes all candidates whose answers are
        not near. For the same accuracy, "closeness" needs a multiple of the loss.
    name : str, optional
        Keep the stream in the file of the budget under this name. Any process may open it again
        with the same arguments: it continues after its last answer and is not paid for again. The
        file then holds all answers, the hard queries, and digests of all queries. Until the stream
        is over it also holds a secret, so protect the file as you protect the data (see
        ``docs/guide/streams.md``).
    budget : Budget, optional
        The budget that pays for all answers, before rows are read or random bits are drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Attributes
    ----------
    accuracy : float
        The `accuracy` that was requested.
    alive : int
        The number of candidates left.
    hard, remaining : int
        The number of hard answers in all, and how many of them are left.
    left : int
        How many queries are left.
    past : tuple of Answer
        For a stream with a name: its answers so far.
    net_error : float or None
        For any dataset, some candidate answers all queries with an error of at most `net_error`.
        None for random candidates. (For the queries of one stream, the error of some candidate is
        also at most ``sqrt(log(2 * queries) / (2 * size))``.)
    test : str
        The `test` that was requested.
    lasts : bool
        True if the stream answers all its queries, except with probability `failure`. False if it
        may halt earlier.
    spent : Pure, Approx or ZCDP
        The privacy loss of all answers together.

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
    Cost: each query reads all candidates that are left, N bytes for each, and selects the median of
    their answers. ``DPFAST_NUM_THREADS`` threads share this work. Memory: ``N + 4`` bytes for each
    candidate.

    References
    ----------
    Roth and Roughgarden, "Interactive privacy via the median mechanism", STOC 2010. Dwork and Roth,
    "The algorithmic foundations of differential privacy", 2014, section 5.

    Examples
    --------
    A thousand queries about students: which share comes from China? At most 9 answers are hard. The
    next query is refused:

    >>> import dpfast as dp
    >>> homes = ["China", "France", "Kenya", "Peru"]
    >>> students = [13_000, 4_000, 2_000, 1_000]
    >>> stream = dp.online.MedianMechanism(
    ...     students, universe=homes, epsilon=1, queries=1000, accuracy=0.1)
    >>> answers = [stream.answer(lambda home: home == "China") for _ in range(1000)]
    >>> max(abs(a - 0.65) for a in answers) <= 0.1, sum(a.hard for a in answers) <= 9
    (True, True)
    >>> stream.answer(lambda home: home == "Peru") <= 0.15
    Traceback (most recent call last):
    dpfast.errors.StreamError: the stream has halted: all its queries are answered; ...
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
        size: int | None = None,
        candidates: int | None = None,
        test: Literal["distance", "closeness"] = "distance",
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        loss = (epsilon, delta, rho)
        args = Arguments.of(loss, queries, accuracy, failure, histogram, data, universe)
        elements = args.universe.size
        self.size, count = _sizes(elements, size, candidates)
        self.test = checks.choice("test", test, ("distance", "closeness"))
        bits = 30 - self.size.bit_length()
        threshold = None
        if self.test == "closeness":
            noise, threshold = _by_closeness(args, count, bits), multisets.THRESHOLD
        else:
            # The candidates can be halved this many times less one. Then one candidate is left,
            # which may be wrong once.
            hard = count.bit_length()
            noise = plan(args.loss, args.rows, hard, args.queries, args.failure, bits)
            if not noise.least <= args.accuracy <= 1:
                args.refuse(noise.least, hard)
        self.net_error, near, columns = None, math.inf, None
        if candidates is None:
            self.net_error = multisets.net(elements, self.size)
            near = min(self.net_error, math.sqrt(math.log(2 * args.queries) / (2 * self.size)))
            columns = multisets.enumerated(elements, self.size)
        if self.test == "closeness":
            self.lasts = args.accuracy / multisets.KEPT >= near + noise.answer
        else:
            self.lasts = args.accuracy - 2 * noise.comparison >= max(near, noise.answer)
        self._closeness = multisets.Closeness(self.size, args.rows, noise.bits, args.accuracy)
        stream = self._stream(
            "median mechanism",
            args,
            noise,
            (budget, rng, name),
            threshold,
            size=self.size,
            candidates=None if candidates is None else count,
            test=self.test,
        )

        def opened(_: None) -> None:
            seed = self._begin(self._generator.stream().word() if columns is None else None)
            alive = columns
            if alive is None:  # the seed is public, as the candidates are
                generator = InsecureGenerator(seed)
                alive = multisets.sampled(elements, self.size, count, generator.stream())
            self._alive = multisets.Multisets(alive)
            self._catch_up()

        return stream.then(opened)

    @property
    def alive(self) -> int:
        """The number of candidate databases left."""
        return len(self._alive)

    def _compare(self, question: NDArray[np.float64]) -> tuple[int, int]:
        if not self.alive:
            self._halted("no candidate agrees with the hard answers")
        weights = self._weights(question)
        self._sums = self._alive.sums(weights)
        self._median = multisets.Multisets.median(self._sums)
        return self._median * self._rows // self.size, int(weights @ self._counts)

    def _doubt(self, guess: int, exact: int) -> int:
        if self.test == "distance":
            return super()._doubt(guess, exact)
        return self._closeness.doubt(self._sums, exact)

    def _learn(self, question: NDArray[np.float64], noisy: int, more: bool) -> None:
        if self.test == "closeness":
            self._alive.keep(self._closeness.near(self._sums, noisy))
        else:
            self._alive.keep(self._sums > self._median if more else self._sums < self._median)


def _by_closeness(args: Arguments, count: int, bits: int) -> Plan:
    """Return the noise plan for `test="closeness"`, or refuse an accuracy that is impossible."""
    hard = multisets.hard_answers(count)

    def kept(accuracy: float) -> Plan | None:
        doubt = multisets.doubt_of(args.rows, accuracy)
        try:
            noise = plan(args.loss, args.rows, hard, args.queries, args.failure, bits, doubt)
        except ArgumentError:  # noise too large for the samplers
            return None
        fine = noise.answer <= accuracy / multisets.KEPT
        return noise if fine and noise.comparison <= multisets.MARGIN else None

    noise = kept(args.accuracy) if args.accuracy <= 1 else None
    if noise is not None:
        return noise
    # The smallest possible noise is a few thousandths of a row.
    least = min(max(args.accuracy, 2.0**-10 / args.rows), 1.0)
    while least < 1e9 and kept(least) is None:
        least *= 1.1
    args.refuse(least, hard)


def _sizes(universe: int, size: int | None, candidates: int | None) -> tuple[int, int]:
    """Return the number of rows of a candidate database, and the number of candidates."""
    rows = multisets.largest(universe, USUAL)
    if size is not None:
        rows = checks.whole("size", size, 1, multisets.MOST_SIZE)
    if candidates is not None:
        count = checks.whole("candidates", candidates, 2)
    else:
        count = multisets.number(universe, rows)
    if count > MOST or count * universe > MOST_BYTES:
        rule = "smaller, for at most 67,108,864 candidates of 4 GiB in all"
        checks.fail("size", rule, rows, "; or pass candidates=500_000 for random candidates")
    if count < 2:
        checks.fail("universe", "at least two elements long", universe)
    return rows, count
