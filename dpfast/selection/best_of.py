"""The best of a random number of runs of a private mechanism: private candidates."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, NamedTuple

from .._core import checks
from .._core.owner_log import hide_error
from .._core.types import Neighbors, Number
from .._kernels.rng import BitStream
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, paid, relation_of_proof, releases
from ..errors import DataError
from ..noise.distributions.base import ratio
from ..noise.distributions.exact import Tail
from ..privacy import Loss
from ..privacy.repetition import repeated_selection, run_parameters
from ..rng import Generator

RULE = "run must return a pair of a score, which is a real number, and an answer"
#: Extra bits of precision, because each term adds an error of a few units to the probability.
GUARD = 96


class Best(NamedTuple):
    """The result of `best_of`: the highest score of all runs, and the answer of the run with it.

    Attributes
    ----------
    score : int or float
        The highest score.
    answer : object
        The answer of the run with this score.
    """

    score: Any
    answer: Any


@dataclass(frozen=True, slots=True)
class RunCount:
    """The random number of runs, truncated negative binomial; see `dpfast.privacy.repetition`."""

    gamma: Fraction
    eta: Fraction

    def draw(self, stream: BitStream) -> int:
        """Draw a number of runs exactly: the least k with U < P(K <= k), for a uniform U."""
        tail = Tail(stream.word(), stream.word)
        sums: dict[int, Iterator[Any]] = {}
        by_precision: dict[int, list[Any]] = {}

        def up_to(k: int, mp: Any) -> Any:
            """Return P(K <= k) at the precision of an mpmath context."""
            terms = sums.setdefault(mp.prec, self._sums(mp))
            totals = by_precision.setdefault(mp.prec, [])
            while len(totals) < k:
                totals.append(next(terms))
            return totals[k - 1]

        return next(k for k in itertools.count(1) if tail.below(partial(up_to, k)))

    def _sums(self, mp: Any) -> Iterator[Any]:
        """Yield P(K <= k) for k = 1, 2, ..."""
        k, term, total = 0, None, 0
        while True:
            with mp.workprec(mp.prec + GUARD):
                less, eta = ratio(mp, 1 - self.gamma), ratio(mp, self.eta)
                if term is None:
                    bits = -mp.log(ratio(mp, self.gamma))
                    term = less * (eta / mp.expm1(eta * bits) if self.eta else 1 / bits)
                else:
                    term = term * less * (k + eta) / (k + 1)
                total, k = total + term, k + 1
            yield total


@dataclass(frozen=True, slots=True)
class BestOf(Mechanism[Any]):
    """The mechanism that releases the best of a random number of runs; see `best_of`."""

    runs: RunCount
    loss: Loss
    neighbors: str
    _no_bar: ClassVar[str] = "only the author of run knows the error of its answer"

    name: ClassVar[str] = "best of a random number of runs"

    def reduce(self, source: Callable[[], Any]) -> Callable[[], Any]:
        return source

    def finish(self, summary: Callable[[], Any], generator: Generator) -> Best:
        """Return the best run, or raise an error that shows nothing about earlier runs."""
        best = self._best(summary, generator)
        if isinstance(best, str):
            raise DataError(best)
        return best

    def _best(self, run: Callable[[], Any], generator: Generator) -> Best | str:
        """Return the run with the best score, or the error message of a run that failed.

        An exception would keep references to frames that know the number of runs, so a message is
        returned.
        """
        best, highest = None, -math.inf
        for _ in range(self.runs.draw(generator.stream())):
            try:
                with paid():
                    scored = run()
                is_pair = isinstance(scored, tuple) and len(scored) == 2
                number = checks.real(scored[0]) if is_pair else None
            except Exception as error:
                return f"run failed ({hide_error(error)})"
            if number is None:
                return RULE
            rank = -math.inf if math.isnan(number) else number  # NaN ranks lowest
            if best is None or rank > highest:
                best, highest = Best(*scored), rank
        assert best is not None
        return best


@releases
def best_of(
    run: Callable[[], Any],
    *,
    run_loss: Loss,
    gamma: Number,
    eta: Number = 1,
    delta: Number | None = None,
    neighbors: Neighbors | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[Best]:
    """Release the best of a random number of runs of a private mechanism.

    Use it if each candidate is itself a private answer, for instance a model that is trained
    privately with random hyperparameters. All runs together cost two or three times the loss of one
    run, for any number of candidates.

    Privacy
    -------
    Neighbors are datasets that differ in one row, under the relation for which the caller has
    proved `run_loss`. The number of runs is drawn exactly from a truncated negative binomial
    distribution. If `run_loss` is pure, the call costs ``(2 + eta)`` times as much;
    `dpfast.privacy.repeated_selection` computes the loss (Liu and Talwar, STOC 2019; Papernot and
    Steinke, "Hyperparameter tuning with Renyi differential privacy", ICLR 2022; all proofs are in
    ``dpfast/privacy/repetition.py``).

    Publish only the best run. The number of runs must remain secret too, because it reveals
    something about all runs.

    A failed run counts as an answer with the highest score: the first failure ends the call with an
    error that names the class of the run's error. So whether and how a run fails is part of its
    answer, and the proof for `run_loss` has to cover it.

    Parameters
    ----------
    run : callable
        ``run()`` returns a pair ``(score, answer)``, a private answer and its score. The score must
        be private too: compute it from the answer alone, or spend a share of `run_loss` on it. Runs
        must be independent, draw their own secure noise, and take no budget, because `best_of`
        pays.
    run_loss : Pure or ZCDP
        The loss of one run, score and answer together.
    gamma : float, Fraction or Decimal
        From 1e-6 to below 1. A smaller gamma means more runs.
    eta : float, Fraction or Decimal, default 1
        Greater than -1. With 1 the number of runs is geometric, with the mean ``1 / gamma``. With 0
        it is logarithmic, with the mean ``(1 / gamma - 1) / ln(1 / gamma)``, and the call costs two
        thirds as much.
    delta : float, Fraction or Decimal, optional
        The delta of a loss (epsilon, delta). It is required if `run_loss` is in rho. With a pure
        `run_loss` it may give a smaller epsilon.
    neighbors : {"add-remove", "replace"}, optional
        The relation for which the loss is proved: by default "add-remove"; in a budget for
        "replace" it must be given.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it. The number of runs is drawn from this source.

    Returns
    -------
    Best
        A pair of ``score`` and ``answer``. Of several runs with the highest score it is the first.
        NaN counts as the lowest score.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        For a bad argument, or too small a budget; nothing has been spent.
    DataError
        If a run fails, or does not return a pair of a real number and an answer. Interrupts, and
        runs that end the process, are not caught.

    See Also
    --------
    dpfast.selection.exponential : For public candidates, whose scores are computed from the data.

    Notes
    -----
    Cost: the time of the runs. There is at least one run, and no upper limit: about one in e**t
    calls has more than ``t / gamma`` runs.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> share = {"bounds": (0, 120), "epsilon": 0.05, "neighbors": "add-remove"}
    >>> def guess():
    ...     q = int.from_bytes(dp.rng.default_generator().bytes(1)) / 255
    ...     answer = dp.quantile(ages, q, **share)
    ...     off = dp.count(ages, where=ages <= answer, epsilon=0.05) - 0.9 * len(ages)
    ...     return -abs(off), answer
    >>> best = dp.selection.best_of(guess, run_loss=dp.privacy.Pure(0.1), gamma=0.02)
    >>> best.score <= 0, 0 <= best.answer <= 120
    (True, True)
    """
    if not callable(run):
        checks.fail_type("run", "a function without arguments", run)
    loss = repeated_selection(run_loss, gamma=gamma, eta=eta, delta=delta)
    relation = relation_of_proof(neighbors, budget)
    mechanism = BestOf(RunCount(*run_parameters(gamma, eta)), loss, relation)
    return Prepared(mechanism, run, budget, rng)
