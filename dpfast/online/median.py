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

#: The default limit on candidates, and the largest one.
USUAL, MOST = 500_000, 1 << 26
#: The most bytes of counts.
MOST_BYTES = 1 << 32


class MedianMechanism(LinearStream):
    """Answer a stream of linear queries with the median mechanism.

    A linear query asks for the mean over all rows of a number between 0 and 1 that depends on the
    row: for instance, the share of rows of some kind. Rows are elements of a public universe.

    At first every multiset of `size` elements is a candidate for the data. A query is easy if the
    median of the candidates' answers is about right. That median is then the answer and costs
    nothing. Otherwise the query is hard: it is answered with noise, and the candidates on the wrong
    side of the answer, at least half of them, are removed. So the number of hard queries is at most
    about the logarithm (to base 2) of the number of candidates, for any number of queries.

    Privacy
    -------
    Neighbors are datasets of the same public number of rows that differ in one row. All answers
    together satisfy the requested loss, for queries that may depend on earlier answers.

    The sparse vector technique (Lyu, Su and Li, VLDB 2017) decides whether a query is hard, from
    the exact distance of the data's answer to the median, and hard answers have separate noise.
    Candidates and medians are functions of queries and answers. The mechanism is by Roth and
    Roughgarden (STOC 2010), in a form without astronomical constants: each hard query removes half
    of the candidates. `accuracy` holds except with a failure probability; privacy always holds.

    Parameters
    ----------
    histogram : array_like of int, shape (N,), optional
        The number of rows for each element of the universe.
    data : column of n rows, optional
        The rows, instead of the histogram: an array, a column of a table, or a source.
    universe : array_like of shape (N,), optional
        The public elements in order: distinct numbers, or distinct texts. Needed with `data`.
        Queries that are functions are called with these elements (by default with 0 .. N - 1).
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    queries : int
        The largest number of queries.
    accuracy : float
        The largest error of an answer, as a fraction of the rows.
    failure : float, default 0.05
        The largest probability that any answer of the stream has a larger error.
    size : int, optional
        The number of rows of a candidate, up to 255. By default the largest size with at most
        500,000 candidates.
    candidates : int, optional
        Take this many random candidates instead of all. This may cost accuracy (if no candidate is
        like the data, the stream halts early), but never privacy.
    test : {"distance", "closeness"}, default "distance"
        What makes a query hard. "distance": the error of the median exceeds a threshold. A hard
        answer then removes the half of the candidates on its wrong side. "closeness", as in the
        paper: the candidates as a whole are not close to the data. Then all candidates that are not
        near the answer are removed. This test needs a multiple of the loss for the same accuracy.
    name : str, optional
        Keep the stream in the file of the budget under this name. Opened again with the same
        arguments, by any process, the stream continues after its last answer and is not paid for
        again. The file then holds digests of the queries, the hard queries, all answers, and, until
        the stream is over, a secret: protect the file as you protect the data (see
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
        The total number of hard answers, and the number that is left.
    left : int
        The number of queries that are left.
    past : tuple of Answer
        The answers so far, of a stream with a name.
    net_error : float or None
        The largest distance of any dataset from the nearest candidate, over all queries at once;
        None for random candidates. (For the queries of one stream it is also at most ``sqrt(log(2 *
        queries) / (2 * size))``.)
    test : str
        What makes a query hard.
    lasts : bool
        Whether the stream lasts until its last query, except with probability `failure`.
    spent : Pure, Approx or ZCDP
        The privacy loss of all answers together.

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
    Cost: a query is one pass over the candidates, N bytes for each, and a selection among their
    answers, by ``DPFAST_NUM_THREADS`` threads. Memory: ``(N + 4)`` bytes a candidate.

    References
    ----------
    Roth and Roughgarden, "Interactive privacy via the median mechanism", STOC 2010. Dwork and Roth,
    "The algorithmic foundations of differential privacy", 2014, section 5.

    Examples
    --------
    The share of a class that comes from one country, in a thousand queries:

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
            # Candidates can be halved this many times, and then the last one may still be wrong
            # once.
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
        rule = "such that there are at most 2**26 candidates and 2**32 bytes of them"
        checks.fail("size", rule + " (or give candidates, a number of random ones)", rows)
    if count < 2:
        checks.fail("universe", "a list of at least two elements", universe)
    return rows, count
