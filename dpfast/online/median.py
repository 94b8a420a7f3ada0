"""The median mechanism: linear queries answered by the median over candidate databases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..budget.budget import Budget
from ..errors import ArgumentError
from ..rng import Generator, InsecureGenerator
from . import closeness
from .linear import Asked, LinearStream
from .multisets import MOST_SIZE, Multisets, enumerated, largest, net, number, sampled
from .plan import Plan, plan

#: Candidates by default at most, and at all.
USUAL, MOST = 500_000, 1 << 26
#: Bytes of counts.
MOST_BYTES = 1 << 32


class MedianMechanism(LinearStream):
    """Answer a stream of linear queries, of which only those cost that teach something new.

    A linear query asks for the mean over all rows of a number between 0 and 1 that depends on the
    row: the share of rows of some kind, for instance. Rows are elements of a public universe. At
    the beginning every multiset of `size` elements is a candidate for what the data are like. A
    query is easy if the median of the candidates' answers is about right, and then that is the
    answer, which costs nothing; else it is hard: it is answered with noise, and the half of the
    candidates on the wrong side of the answer, at least, is given up. So there are hardly more hard
    queries than the logarithm (to base 2) of the number of candidates, however many queries there
    are.

    Privacy
    -------
    Neighbours are datasets of the same public number of rows that differ in one row. All answers
    together satisfy the loss that is asked for, however queries depend on earlier answers: whether
    a query is hard is told by the sparse vector technique (Lyu, Su and Li, VLDB 2017) on the exact
    distance of the data's answer to the median, and hard answers have noise of their own.
    Candidates and medians are functions of queries and answers. The mechanism is that of Roth and
    Roughgarden (STOC 2010) in the form in which it needs no astronomic constants: half of the
    candidates go with each hard query. Whether `accuracy` is kept depends on a probability; privacy
    never does.

    Parameters
    ----------
    histogram : array_like of int, shape (N,), optional
        How many rows are each element of the universe.
    data : column of n rows, optional
        Instead of the histogram: an array, a column of a table, or a source.
    universe : array_like of shape (N,), optional
        The public elements, in their order: distinct numbers, or distinct texts. Needed with
        `data`; queries that are functions are called with them (by default with 0 .. N - 1).
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    queries : int
        How many queries are going to be asked, at most.
    accuracy : float
        By how much an answer may be off, as a fraction of the rows.
    failure : float, default 0.05
        With what probability at most any answer of the stream is off by more than that.
    size : int, optional
        Size of the candidates, up to 255; by default the largest of which there are at most
        500,000.
    candidates : int, optional
        Take so many candidates at random instead of all. That may cost accuracy (none of them need
        be like the data, and the stream may halt early), never privacy.
    test : {"distance", "closeness"}, default "distance"
        What makes a query hard. "distance": the median is off by more than a threshold; a hard
        answer then gives up the half of the candidates on its wrong side. "closeness", as in the
        paper: the candidates are not close to the data on the whole; then all that are not near the
        answer are given up. It needs a multiple of the loss for the same accuracy.
    name : str, optional
        Keep the stream in the file of the budget under this name. Opened again with the same
        arguments, by any process, it goes on after its last answer and is not paid again. The file
        then holds the queries' digests, the hard queries, all answers, and, until the stream is
        over, a secret: protect it as you protect the data (see ``docs/streams.md``).
    budget : Budget, optional
        Pays for the stream, once, before data or randomness are touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Attributes
    ----------
    accuracy : float
        What was asked for.
    alive : int
        How many candidates are left.
    hard, remaining : int
        How many hard answers there are in all, and how many are left.
    left : int
        How many queries may still be asked.
    past : tuple of Answer
        The answers so far, of a stream with a name.
    net_error : float or None
        How far the data may be from the nearest of all candidates, over all queries at once; None
        for candidates at random. (For the queries of one stream alone it is also at most
        ``sqrt(log(2 * queries) / (2 * size))``.)
    test : str
        What makes a query hard.
    lasts : bool
        Whether the stream surely does not halt before its last query, but for `failure`.
    spent : Pure, Approx or ZCDP

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
    Cost: for a query one pass over the candidates, N bytes for each, and a selection among their
    answers. ``DPFAST_NUM_THREADS`` sets threads. Memory ``(N + 4)`` bytes a candidate.

    References
    ----------
    Roth and Roughgarden, "Interactive privacy via the median mechanism", STOC 2010. Dwork and Roth,
    "The algorithmic foundations of differential privacy", 2014, section 5.

    Examples
    --------
    What part of a class comes from where, asked a thousand times:

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
        size: int | None = None,
        candidates: int | None = None,
        test: str = "distance",
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> None:
        loss = (epsilon, delta, rho)
        asked = Asked.of(loss, queries, accuracy, failure, histogram, data, universe)
        elements = asked.universe.size
        self.size, count = _sizes(elements, size, candidates)
        self.test = checks.choice("test", test, ("distance", "closeness"))
        bits = 30 - self.size.bit_length()
        threshold = None
        if self.test == "closeness":
            made, threshold = _by_closeness(asked, count, bits), closeness.THRESHOLD
        else:
            # So many times the candidates can be halved; the last may still be wrong once.
            hard = count.bit_length()
            made = plan(asked.loss, asked.rows, hard, asked.queries, asked.failure, bits)
            if not made.least <= asked.accuracy <= 1:
                asked.refuse(made.least, hard)
        self.net_error = None if candidates is not None else net(elements, self.size)
        near = math.inf
        if self.net_error is not None:
            near = min(self.net_error, math.sqrt(math.log(2 * asked.queries) / (2 * self.size)))
        if self.test == "closeness":
            self.lasts = asked.accuracy / closeness.KEPT >= near + made.answer
        else:
            self.lasts = asked.accuracy - 2 * made.gate >= max(near, made.answer)
        columns = None if candidates is not None else enumerated(elements, self.size)
        super().__init__(
            "median mechanism",
            asked,
            made,
            budget,
            rng,
            name,
            threshold,
            size=self.size,
            candidates=None if candidates is None else count,
            test=self.test,
        )
        seed = self._begin(self._kept, self._generator.stream().word() if columns is None else None)
        if columns is None:  # the seed is public, as the candidates themselves are
            columns = sampled(elements, self.size, count, InsecureGenerator(seed).stream())
        self._alive = Multisets(columns)
        self._resume()

    @property
    def alive(self) -> int:
        """How many candidates are left."""
        return len(self._alive)

    def _compare(
        self, question: NDArray[np.float64]
    ) -> tuple[int, int, tuple[NDArray[np.int32], int]]:
        if not self.alive:
            self._halted("no candidate agrees with the hard answers")
        weights = self._weights(question)
        found = self._alive.sums(weights)
        median = Multisets.median(found)
        return median * self._rows // self.size, int(weights @ self._counts), (found, median)

    def _doubt(self, guess: int, exact: int, basis: tuple[NDArray[np.int32], int]) -> int:
        if self.test == "distance":
            return abs(exact - guess)
        return closeness.doubt(basis[0], exact, **self._units)

    @property
    def _units(self) -> dict[str, Any]:
        return {
            "size": self.size,
            "rows": self._rows,
            "bits": self._plan.bits,
            "accuracy": self.accuracy,
        }

    def _learn(
        self,
        question: NDArray[np.float64],
        basis: tuple[NDArray[np.int32], int],
        told: int,
        more: bool,
    ) -> None:
        found, median = basis
        if self.test == "closeness":
            self._alive.keep(closeness.near(found, told, **self._units))
            return
        self._alive.keep(found > median if more else found < median)


def _by_closeness(asked: Asked, count: int, bits: int) -> Plan:
    """The plan for the test of the paper, or the error about an accuracy that cannot be kept."""
    hard = closeness.hard_answers(count)

    def kept(accuracy: float) -> Plan | None:
        doubt = closeness.doubt_of(asked.rows, accuracy)
        try:
            found = plan(asked.loss, asked.rows, hard, asked.queries, asked.failure, bits, doubt)
        except ArgumentError:  # noise too large for the samplers
            return None
        fine = found.answer <= accuracy / closeness.KEPT
        return found if fine and found.gate <= closeness.MARGIN else None

    found = kept(asked.accuracy) if asked.accuracy <= 1 else None
    if found is not None:
        return found
    # The least noise of all is some thousandths of a row.
    least = min(max(asked.accuracy, 2.0**-10 / asked.rows), 1.0)
    while least < 1e9 and kept(least) is None:
        least *= 1.1
    asked.refuse(least, hard)


def _sizes(universe: int, size: Any, candidates: Any) -> tuple[int, int]:
    """The size of candidates, and their number."""
    found = largest(universe, USUAL) if size is None else checks.whole("size", size, 1)
    if found > MOST_SIZE:
        checks.fail("size", f"at most {MOST_SIZE}", size)
    if candidates is not None:
        count = checks.whole("candidates", candidates, 2)
    else:
        count = number(universe, found)
    if count > MOST or count * universe > MOST_BYTES:
        rule = "such that there are at most 2**26 candidates and 2**32 bytes of them, "
        checks.fail("size", rule + "or candidates= has to say how many at random", found)
    if count < 2:
        checks.fail("universe", "of two elements at least", universe)
    return found, count
