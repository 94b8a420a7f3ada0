"""MWEM: multiplicative weights with the exponential mechanism, for queries fixed beforehand."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Number
from .._kernels.online import weights_products as products
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, payer_of, releases
from ..noise.additive import amount
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import ZCDP, Approx, Draws, Loss, Pure, float_down, range_within
from ..rng import Generator
from ..selection.exponential_race import Race
from ..selection.scores.stored import Stored
from .linear_stream import Answer, Arguments
from .public_distribution import HasDistribution, PublicDistribution
from .queries import ENOUGH, Counted, Query, spread
from .session import A, Opening, facts, once, record

#: The most rounds.
MOST = 1 << 16
#: The most replays of all measurements in one round.
MOST_REPLAYS = 1 << 20
#: The step length of the first replay, as a multiple of a difference. It is 1 in the last replay.
LONGEST = 1000.0
#: Numbers that are converted together.
BLOCK = 1 << 14


class _Queries:
    """Linear queries as integers in units of ``2**-bits``, up to ``2**24`` so float32 is exact."""

    def __init__(self, queries: ArrayLike | None, universe: int, bits: int) -> None:
        rule = f"a matrix of numbers from 0 to 1, with {universe} columns"
        matrix = checks.array("queries", queries, rule)
        if matrix.dtype.kind not in "iufb" or matrix.ndim != 2:
            checks.fail_kind("queries", rule, queries)
        if matrix.shape[1] != universe or not len(matrix):
            checks.fail("queries", rule, matrix.shape)
        self.bits = bits
        self.units: NDArray[np.float32] = np.empty(matrix.shape, np.float32)
        for row, units in zip(matrix, self.units, strict=True):
            for at in range(0, universe, BLOCK):
                numbers = row[at : at + BLOCK]
                # Comparisons with NaN are false.
                if not (numbers.min() >= 0 and numbers.max() <= 1):
                    checks.fail("queries", "numbers from 0 to 1", "other numbers")
                numbers = np.multiply(numbers, float(1 << bits), dtype=np.float64)
                units[at : at + BLOCK] = np.rint(numbers, out=numbers)

    def __len__(self) -> int:
        return len(self.units)

    def sensitivity(self) -> Sensitivity:
        """Return the joint sensitivity of all queries when one row is replaced."""
        l1: NDArray[np.float64] = np.zeros(len(self.units[0]))
        l2_squared = l1.copy()
        for units in self.units:
            coefficients = units.astype(np.float64)
            l1 += coefficients
            l2_squared += coefficients * coefficients
        # The relative rounding error of these sums is below 2**-30.
        both = [2 * math.ceil(float(x.max()) * (1 + 2.0**-30)) for x in (l1, l2_squared)]
        return Sensitivity(len(self), both[0], both[1], 1 << self.bits)

    def sums(self, over: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of each query over a distribution, or exactly over integer counts.

        Sums over counts are exact below ``2**53``.
        """
        out = np.empty(len(self))
        enough = max(1, ENOUGH // len(over))
        spread(len(self), lambda a, b: products(self.units, over, out, a, b), 4, enough)
        return out


class _Fit:
    """A distribution fitted to noisy measurements of queries: post-processing."""

    def __init__(self, queries: _Queries, rows: int, universe: int, replays: int) -> None:
        self.current, self.mean = PublicDistribution(universe), np.zeros(universe)
        self.measured_queries: list[int] = []
        self.noisy: list[int] = []
        self.queries, self.rows, self._replays = queries, rows, replays
        self._values: dict[int, float] = {}
        self._vectors: dict[int, NDArray[np.float64]] = {}

    def learn_all(self, noisy: list[int]) -> None:
        """Learn from one measurement of each query, replayed several times.

        A step of the first replay is large enough to correct a query of zeros and ones in one step.
        Noise makes measurements contradict each other, and only short steps average such
        contradictions. So steps get shorter from one replay to the next. In the last replay a step
        is the difference itself.
        """
        bits, every = self.queries.bits, range(len(self.queries))
        self.measured_queries, self.noisy = [*every], noisy
        values = [value / float(self.rows << bits) for value in noisy]

        def vector(query: int) -> NDArray[np.float64]:
            numbers: NDArray[np.float64] = self.queries.units[query].astype(np.float64)
            return np.ldexp(numbers, -bits)

        expected = self.current.sums(vector(0), bits).mean
        for replay in range(self._replays):
            longest = LONGEST ** (1 - replay / self._replays)
            for turn in every:
                mean = math.ldexp(expected, -bits)
                step = (values[turn] - mean) * min(1 / max(mean * (1 - mean), 1e-6), longest)
                following = vector((turn + 1) % len(values))
                expected = self.current.move(step, vector(turn), bits, following)
        self.mean += self.current.distribution

    def learn(self, query: int, noisy: int) -> None:
        """Learn from one more measurement of a query, then replay all measurements so far."""
        bits = self.queries.bits
        self.measured_queries.append(query)
        self.noisy.append(noisy)
        # Several measurements of one query are averaged in the order of their rounds.
        seen = self.measured_queries.count(query)
        before = self._values.get(query, 0.0) * (1 - 1 / seen)
        self._values[query] = before + noisy / float(self.rows << bits) / seen
        if query not in self._vectors:
            self._vectors[query] = np.ldexp(self.queries.units[query].astype(np.float64), -bits)
        turns = list(self._values) * self._replays
        expected = self.current.sums(self._vectors[turns[0]], bits).mean
        for turn, later in itertools.zip_longest(turns, turns[1:]):
            step = (self._values[turn] - math.ldexp(expected, -bits)) / 2
            following = None if later is None else self._vectors[later]
            expected = self.current.move(step, self._vectors[turn], bits, following)
        self.mean += self.current.distribution


@dataclass(frozen=True, slots=True)
class _Measurements(Mechanism[_Fit]):
    """The mechanism of MWEM: all rounds, or if `rounds` is None one measurement of each query.

    A round chooses a query by the exponential mechanism, whose scores are multiplied by `choice`.
    """

    name: str
    fit: _Fit
    rounds: int | None
    choice: float
    noise: IntegerNoise
    loss: Loss
    read: Callable[[Counted], NDArray[np.int64]]
    neighbors: str = "replace"

    def reduce(self, source: Counted) -> NDArray[np.int64]:
        return self.fit.queries.sums(self.read(source).astype(np.float64)).astype(np.int64)

    def finish(self, exact: NDArray[np.int64], generator: Generator) -> _Fit:
        if self.rounds is None:
            self.fit.learn_all(self.noise.add(exact.tolist(), generator))
            return self.fit
        for _ in range(self.rounds):
            expected = self.fit.queries.sums(self.fit.current.distribution) * self.fit.rows
            wrong = np.abs(exact - np.rint(expected).astype(np.int64))
            worst = int(Race(Stored(wrong), self.choice).draw(1, generator.stream())[0])
            (noisy,) = self.noise.add([int(exact[worst])], generator)
            self.fit.learn(worst, noisy)
        return self.fit


@dataclass(frozen=True, slots=True)
class _Fitting(Opening[A]):
    """The release of all rounds of MWEM, or a replay of rounds that the ledger has recorded."""

    again: Callable[[list[list[int]]], _Fit] | None = None

    def run(self) -> A:
        assert self.again is not None and self.after is not None
        past = None if self.kept is None else self.kept.find()
        if past is not None:
            return self.after(self.again(past))
        rounds: Prepared[Any] = Prepared(self.mechanism, self.source, self.budget, self.rng)
        with once(self.kept, self.budget):
            fit = rounds.run()
        past = measured = [fit.measured_queries, fit.noisy]
        if self.kept is not None:
            past = self.kept.begin(measured, None)
        return self.after(fit if past == measured else self.again(past))


class MWEM(HasDistribution):
    """Fit a public distribution to the data that answers many linear queries, fixed beforehand.

    A linear query gives each element of a public list, the universe, a number from 0 to 1, and asks
    for the mean of this number over all rows. In each round the exponential mechanism finds a query
    whose mean under the distribution is far from its mean over the rows. The query is measured with
    noise, and the distribution is updated to agree with all measurements.

    Privacy
    -------
    Neighbors are datasets with the same number of rows, which is public, that differ in one row.
    The result satisfies the requested loss (Hardt, Ligett and McSherry, NeurIPS 2012). Each of the
    `rounds` gets an equal share: half of it pays for the choice of a query, and half for its
    measurement.

    With ``rounds="all"`` nothing is chosen, and all queries are measured by one vector with noise.
    A row adds to this vector the values of its element, one for each query. If a row is replaced,
    the vector changes in L1 norm by at most the sum of the L1 norms of two such vectors of values.
    In squared L2 norm it changes by at most the sum of their squared norms, because no value is
    negative.

    The choice has bounded range, so its zCDP loss is less than epsilon**2 / 8
    (`dpfast.privacy.Draws`). A budget in rho that pays for an epsilon pays in each round for the
    choice and for the measurement. Scores and measurements are exact integers, with integer noise.

    Parameters
    ----------
    histogram : array_like of int, shape (N,), optional
        The number of rows for each element of the universe.
    queries : array_like of shape (k, N)
        Numbers from 0 to 1: a row for each query, a column for each element of the universe.
    rounds : int or "all"
        The number of rounds, each of which measures one query; or "all", to measure all queries at
        once. "all" is best for up to some thousand queries. The distribution is then nearer to the
        data than the noisy answers are. With very many queries it is enough to measure those with
        the largest errors.
    data : column of n rows, optional
        The rows, instead of the histogram: an array, a column of a table, or a source.
    universe : array_like of shape (N,), optional
        The public elements in order: distinct numbers, or distinct texts. Needed with `data`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    replays : int, optional
        How often a round goes through all measurements to update the distribution. By default 3
        times, or 30 times with ``rounds="all"``.
    average : bool, default False
        True for the average of the distributions after each round, for which the theorem of the
        paper holds. False for the last distribution, which is usually nearer to the data.
    name : str, optional
        Keep the measurements in the file of the budget under this name. If any process calls this
        again with the same arguments, the result is the same and is not paid for again.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Attributes
    ----------
    distribution : ndarray of float64, shape (N,)
        The public probabilities of the elements.
    measured : tuple of int
        The queries that were measured, in order, by their row numbers in `queries`.
    spent : Pure, Approx or ZCDP
        The privacy loss of all rounds.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.
    DataError
        If a row is not an element of the universe. The spent budget is not refunded.

    Notes
    -----
    Cost: in each round a product of the query matrix with the distribution. Then the distribution
    is updated up to ``replays * rounds**2 / 2`` times in all, or with ``rounds="all"`` `replays`
    times for each query. Memory: the queries as float32.

    References
    ----------
    Hardt, Ligett and McSherry, "A simple and practical algorithm for differentially private data
    release", NeurIPS 2012.

    Examples
    --------
    Measure the share of each of four elements, and ask for the share of the last two, which is
    0.15:

    >>> import numpy as np, dpfast as dp
    >>> histogram = [13_000, 4_000, 2_000, 1_000]
    >>> fitted = dp.online.MWEM(histogram, np.eye(4), rounds=6, epsilon=1)
    >>> bool(abs(fitted.answer([0, 0, 1, 1]) - 0.15) < 0.1)
    True
    """

    @releases
    def __init__(  # type: ignore[misc]
        self,
        histogram: ArrayLike | None = None,
        queries: ArrayLike | None = None,
        *,
        rounds: int | Literal["all"],
        data: Any = None,
        universe: ArrayLike | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        replays: int | None = None,
        average: bool = False,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        args = Arguments.of((epsilon, delta, rho), 1, 1, 0.5, histogram, data, universe)
        count = None
        if not isinstance(rounds, str):
            count = checks.whole("rounds", rounds, 1, MOST)
        else:
            checks.choice("rounds", rounds, ("all",))
        bits = min(24, 52 - args.rows.bit_length())
        held = _Queries(queries, args.universe.size, bits)
        title, usual, choice = f"MWEM, {len(held)} queries, all at once", 30, 0.0
        if count is None:
            noise = integer_noise(args.loss, held.sensitivity())
            self.spent = noise.loss
        else:
            title, usual = f"MWEM, {len(held)} queries, {count} rounds", 3
            choice, noise, self.spent = _shares(args.loss, count, 1 << bits)
        times = usual if replays is None else checks.whole("replays", replays, 1, MOST_REPLAYS)
        mean = checks.flag("average", average)
        self._universe, self._bits, self._rows = args.universe, bits, args.rows
        fit = _Fit(held, args.rows, args.universe.size, times)
        measurements = _Measurements(title, fit, count, choice, noise, self.spent, args.read)
        kept = None
        if name is not None:
            public = facts(
                what=title,
                loss=args.loss,
                rows=args.rows,
                universe=args.universe.facts,
                queries=hashlib.sha256(held.units.tobytes()).hexdigest(),
                replays=times,
                choice=choice,
                noise=noise,
            )
            budget = payer_of(budget)
            kept = record(name, budget, public)

        def again(past: list[list[int]]) -> _Fit:
            fit = _Fit(held, args.rows, args.universe.size, times)
            if count is None:
                fit.learn_all(past[1])
            else:
                for query, noisy in zip(*past, strict=True):
                    fit.learn(query, noisy)
            return fit

        def fitted(fit: _Fit) -> None:
            self._distribution: NDArray[np.float64] = (
                fit.mean / (count or 1) if mean else fit.current.distribution
            )
            self.measured = tuple(fit.measured_queries)

        return _Fitting(measurements, args.source, budget, rng, fitted, kept=kept, again=again)

    @property
    def distribution(self) -> NDArray[np.float64]:
        """The public probabilities of the elements."""
        return self._distribution

    def answer(self, query: Query) -> Answer:
        """Return the mean of a query under the public distribution. This costs nothing.

        Parameters
        ----------
        query : array_like of shape (N,), or callable
            As for `MedianMechanism.answer`.

        Returns
        -------
        Answer
            The mean. Its `hard` is False, because the data are not read.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad query.
        """
        weights = self._universe.weights(self._universe.values(query), self._bits)
        values = np.ldexp(weights, -self._bits)
        mean = float(values @ self.distribution)
        return Answer(min(max(mean, 0.0), 1.0), False, 0, self.spent)


def _shares(loss: Loss, rounds: int, unit: int) -> tuple[float, IntegerNoise, Loss]:
    """Return the factor of scores, the noise of measurements, and the loss of all rounds."""
    size = amount(loss)
    part = Fraction(1, 2 * rounds)

    def shares(
        choice: Fraction, measurement: Loss, spent: Loss
    ) -> tuple[float, IntegerNoise, Loss]:
        laplace = "laplace" if isinstance(measurement, Pure) else None
        noise = integer_noise(measurement, Sensitivity.of_one(unit), laplace)
        return float_down(choice / (2 * unit)), noise, spent

    def in_rho(rho: Fraction) -> tuple[float, IntegerNoise, Loss]:
        return shares(range_within(rho * part), ZCDP(rho * part), loss)

    if isinstance(loss, ZCDP):
        return in_rho(size)
    spent = Draws(size, draws=2 * rounds)  # a selection and a measurement in each round
    forms = [shares(size * part, Pure(size * part), spent)]
    if isinstance(loss, Approx):
        loss = loss.of_zcdp()
        forms.append(in_rho(loss.rho))
    return max(forms, key=lambda choice: choice[0])
