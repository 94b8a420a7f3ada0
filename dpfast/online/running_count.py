"""Running totals of a stream of counts: the binary tree mechanism on integers.

Steps 1 .. T are the leaves of binary trees. A node of level j stands for 2^j steps that end at a
multiple of 2^j; when they are over, their sum is released with noise. Step t is in one node of each
level 0 .. h - 1, h = floor(log2 T) + 1, so what a row adds to one step changes at most h sums, each
by at most D: L1 is h D, and the square of L2 is h D^2. A row that is replaced leaves one step and
enters another. Where both are in one node, that changes by the difference of two numbers of 0 .. D,
whose square is at most the sum of theirs: L1 is at most 2 h D, and the square of L2 is 2 h D^2.

*Values may depend on earlier answers* (Jain, Raskhodnikova, Sivakumar and Smith, ICML 2023). Fix
what is released. Then values on either dataset are fixed, with differences as above, and the
densities of what is released are products over nodes, each with independent noise: a factor of
e^(epsilon d / L1) for a node that differs by d. That is pure privacy. For rho and delta the noise
is Gaussian, where a difference chosen step by step, whose squares add up to no more than a bound,
costs no more than one that was fixed (Denisov, McMahan, Rush, Smith and Thakurta, NeurIPS 2022).

*Estimates.* With the noise of one variance in all nodes of a tree of level j, the best linear
unbiased estimate of its sum is that of least squares (Honaker, 2015; see
`statistics.tree.consistency`): W / (2^(j+1) - 1), where W adds up 2^i y over all nodes, i the level
and y the noisy sum. For each level of nodes adds up to the same sum, and of these the one of level
i has the variance 2^(j-i): weights in proportion to 2^i. Its variance is 2^j / (2^(j+1) - 1), about
one half. The total of t steps is made of one tree for each binary digit of t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._core.types import Neighbors, Number
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.release import relation_of
from ..noise.additive import amount
from ..noise.calibrated_integer import integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss
from ..rng import Generator
from ..summaries.cells import nearest
from .noisy_comparison import FAR
from .session import Draft, Session

#: Steps of one stream at most.
MOST = 1 << 40


@dataclass(frozen=True, slots=True)
class Total:
    """The answer after one step.

    Attributes
    ----------
    step : int
        How many steps there have been, from 1 on.
    total : float
        The private sum of the values of all of them. It is unbiased.
    deviation : float
        The standard deviation of its error, which is public.
    remaining : int
        How many steps are left.
    spent : Loss
        The privacy loss of the whole stream, paid when it was opened.
    """

    step: int
    total: float
    deviation: float
    remaining: int
    spent: Loss

    def __float__(self) -> float:
        return self.total


class _OpenSums:
    """The exact sums of the nodes that are not over yet, one of each level."""

    def __init__(self, steps: int) -> None:
        self.left, self.rho = steps, [0] * steps.bit_length()


class RunningCount(Session[int, Total]):
    """Count what comes in step by step, and tell the private total after each step.

    The loss is paid when the stream is opened, for all steps. The error grows with the logarithm of
    their number; noise for each step by itself would grow with the root, and fresh noise for each
    total with the number of steps.

    Privacy
    -------
    A row adds a whole number from 0 to `sensitivity` to the value of one step. Neighbors are
    streams that differ in one row, which comes or goes, or is replaced and may then change two
    steps. All totals together satisfy the loss that is asked for: the binary tree mechanism (Dwork,
    Naor, Pitassi and Rothblum, STOC 2010; Chan, Shi and Song, ACM TISSEC 2011) with exact integer
    noise, discrete Laplace or Gaussian, or a rounded Gaussian for `delta`. A value may depend on
    earlier totals (``dpfast/online/running_count.py`` has the proof).

    Parameters
    ----------
    steps : int
        How many steps there are at most: a public number.
    sensitivity : int, default 1
        The most that a row can add to the value of its step: 1 for a count.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all totals: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        By default that of the budget, else "add-remove".
    name : str, optional
        Keep the stream in the file of the budget under this name. Opened again with the same
        arguments, by any process, it goes on after its last step and is not paid for again. The
        file then holds all totals and, until the last step, the exact sums that are still open:
        protect it as you protect the data (see ``docs/guide/streams.md``).
    budget : Budget, optional
        Pays for the stream once, before any randomness is used.
    rng : Generator, optional
        The secure one by default. `InsecureGenerator` is for tests; a budget refuses it.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.
    LedgerError
        If the file of the budget cannot be used.

    See Also
    --------
    dpfast.tree_histogram : The same for data that are all there.

    Notes
    -----
    Cost: some ten microseconds a step; memory for one integer a level. A person in several steps is
    several rows here: `dpfast.privacy.group` tells what that costs.

    References
    ----------
    Honaker, "Efficient use of differentially private binary trees", TPDP 2015.

    Examples
    --------
    >>> import dpfast as dp
    >>> visits = dp.online.RunningCount(365, epsilon=1)
    >>> for day in range(100):
    ...     total = visits.add(1000 + day % 7)
    >>> total.step, abs(total.total - 100_295) < 250, total.remaining
    (100, True, 265)
    """

    def __init__(
        self,
        steps: int,
        *,
        sensitivity: int = 1,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        neighbors: Neighbors | None = None,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> None:
        asked = privacy.loss(epsilon, delta, rho)
        amount(asked)
        self._steps = checks.whole("steps", steps, 1)
        if self._steps > MOST:
            checks.fail("steps", "at most 2**40", steps)
        most = checks.whole("sensitivity", sensitivity, 1)
        if most > FAR:
            checks.fail("sensitivity", "at most 2**60", sensitivity)
        relation = relation_of(neighbors, budget)
        touched = self._steps.bit_length() * (2 if relation == "replace" else 1)
        moved = Sensitivity(touched, touched * most, touched * most**2, most)
        self._noise = integer_noise(asked, moved)
        #: The weighted sums W of the trees that a total is made of, None where there is none.
        self._done: list[int | None] = [None] * self._steps.bit_length()
        self._open(
            Allocation(f"running count, {self._steps} steps", self._noise.loss, relation),
            _OpenSums(self._steps),
            None,
            budget,
            rng,
            name,
            {
                "loss": asked,
                "relation": relation,
                "steps": self._steps,
                "sensitivity": most,
                "noise": self._noise,
            },
        )
        self._begin()
        self._catch_up()

    def add(self, value: int, number: int | None = None) -> Total:
        """Take the value of the next step, and tell the total of all steps so far.

        Parameters
        ----------
        value : int
            The exact value on the data.
        number : int, optional
            For a stream with a name: the number of the call, from 0 on. If it has been answered,
            the recorded total is returned, whatever the value is now; otherwise it must be the next
            call.

        Returns
        -------
        Total

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument. No message shows the value.
        StreamError
            If all steps have been taken, or if this is a forked copy of it.
        """
        if not checks.is_whole(value):
            checks.fail_kind("value", "a number without fraction", value)
        return self._ask(min(max(int(value), -FAR), FAR), number)

    def half_width(self, step: int, confidence: float = 0.95) -> float:
        """Return what the error of the total after a step does not exceed, with a probability.

        Parameters
        ----------
        step : int
            From 1 on.
        confidence : float, default 0.95

        Returns
        -------
        float
            A bound, from public numbers alone.
        """
        at = checks.whole("step", step, 1)
        if at > self._steps:
            checks.fail("step", f"at most the number of steps, {self._steps}", step)
        share = checks.number("confidence", confidence)
        if not 0 < share < 1:
            checks.fail("confidence", "a number between 0 and 1", confidence)
        weights, times = _weights(at)
        return self._noise.weighted_within(weights, 1 - share, times)

    @property
    def remaining(self) -> int:
        """The number of steps left."""
        return super().remaining

    # --- answers --------------------------------------------------------------------------------

    def _draft(self, question: int) -> Draft:
        state = self._comparison
        if not state.left:
            self._halted("all its steps have been taken")
        step = self._steps - state.left + 1
        sums = [open_sum + question for open_sum in state.rho]
        over = [j for j in range(len(sums)) if not step % (1 << j)]
        noisy = self._noise.add([sums[j] for j in over], self._generator)
        for j in over:
            sums[j] = 0
        state.left, state.rho = state.left - 1, sums
        done = _grown(self._done, noisy)
        answer = {"nodes": noisy, "total": _estimate(done), "left": state.left}

        def apply() -> None:
            self._done = done

        return Draft(answer, b"", not state.left, apply)

    def _told(self, answer: dict[str, Any]) -> Total:
        step = self._steps - answer["left"]
        deviation = self._noise.deviation * math.sqrt(_variance(step))
        return Total(step, answer["total"], deviation, answer["left"], self._spent)

    def _digest(self, question: int) -> str:
        """Return what is public of a question: that it is one."""
        return "step"

    def _replay(self, answer: dict[str, Any], body: bytes) -> None:
        self._done = _grown(self._done, answer["nodes"])


def _grown(done: list[int | None], noisy: list[int]) -> list[int | None]:
    """Return the weighted sums of trees once nodes of levels 0, 1, ... are over."""
    found, tree = list(done), 0
    for j, y in enumerate(noisy):
        if j:
            left = found[j - 1]
            assert left is not None
            tree, found[j - 1] = tree + left, None
        tree += y << j
    found[len(noisy) - 1] = tree
    return found


def _estimate(done: list[int | None]) -> float:
    """Return the total that trees tell."""
    parts = (Fraction(w, (2 << j) - 1) for j, w in enumerate(done) if w is not None)
    return nearest(sum(parts, Fraction(0)))


def _levels(step: int) -> list[int]:
    """Return the levels of the trees that a total is made of."""
    return [j for j in range(step.bit_length()) if step >> j & 1]


def _variance(step: int) -> float:
    """Return the variance of a total, in that of the noise of a node."""
    return sum((1 << j) / ((2 << j) - 1) for j in _levels(step))


def _weights(step: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what the noise of a node counts for in a total, and of how many nodes."""
    each = [((1 << i) / ((2 << j) - 1), 1 << (j - i)) for j in _levels(step) for i in range(j + 1)]
    weights, times = zip(*each, strict=True)
    return np.array(weights, np.float64), np.array(times, np.float64)
