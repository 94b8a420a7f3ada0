"""Running totals of a stream of counts, on integers: by a tree, or by a matrix square root.

Steps 1 .. T are the leaves of trees of a public fan-out b. A node of level j represents b^j steps,
the last of which is a multiple of b^j. When these steps are over, their sum is released with noise.
Step t is in one node of each level 0 .. h - 1, where h is the number of levels with b^j <= T. A row
adds a value to one step. So it changes at most h sums, each by at most D: L1 is h D, and the square
of L2 is h D^2.

A replaced row leaves one step and enters another. If both steps are in one node, the sum of this
node changes by the difference of two numbers from 0 to D. The square of this difference is at most
the sum of their squares. So L1 is at most 2 h D, and the square of L2 is at most 2 h D^2.

*Values may depend on earlier answers* (Jain, Raskhodnikova, Sivakumar and Smith, ICML 2023). Fix
the released answers. Then the values on either dataset are fixed, with differences as above. The
density of all answers is a product over nodes, because each node has independent noise. A node
whose sum differs by d adds a factor of at most e^(epsilon d / L1). That is pure privacy. For rho
and delta the noise is Gaussian. There the differences may be chosen step by step: if their squares
add up to no more than a bound, they cost no more than fixed differences with this bound (Denisov,
McMahan, Rush, Smith and Thakurta, NeurIPS 2022).

*Estimates.* Let all nodes of a tree of level j have noise of the same variance. The best linear
unbiased estimate of the sum of the tree is the least-squares estimate W / B(j) (Honaker, 2015; see
`statistics.tree.consistency`). Here W adds up b^i y over all nodes, where i is the level of a node
and y its noisy sum, and B(j) = 1 + b + .. + b^j. For a proof: the nodes of level i add up to the
sum of the tree, with a variance of b^(j-i), so the weights are in proportion to b^i. The variance
of the estimate is b^j / B(j). The total of t steps is a sum of trees: as many of level j as the
digit j of t in base b says. The default b is the one for which the variance of the total, averaged
over all steps, is least.

*The square root.* For rho and delta there is another mechanism, which releases one noisy sum for
each step t: the sum of C_k x_(t-k) over k < t, where x are the values. Let c_k = (2k choose k) /
4^k. The matrix of prefix sums has ones on and below the diagonal. It is the square of the matrix
with c_k on the k-th diagonal below the main one. (Henzinger, Upadhyay and Upadhyay, SODA 2023, show
that the mean variance is nearly the least of all.) The C_k are the integers 2^20 c_k, rounded, and
the noise is Gaussian.

A row changes these sums by at most D times a column of integers, whose squared length is at most
sum(C_k^2). A replaced row changes them by a u - b v, for two such columns u and v and numbers a, b
from 0 to D. No entry is negative, so the squared length of a u - b v is at most the sum of the
squared lengths of a u and of b v. Values may depend on earlier answers, as above, because no sum
contains a later value. The total of t steps adds up b_k times the noisy sum of step t - k, where
b_k are the coefficients of the series (1 + z + z^2 + ..) / (C_0 + C_1 z + ..).

With the square root, all values remain in the state until the last step. So a stream that is kept
in a file uses a tree, and the file holds no more than one open sum of each level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._core.types import Neighbors, Number
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.release import Prepared, relation_of, releases
from ..noise.additive import amount
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss, Pure
from ..rng import Generator
from ..summaries.cells import nearest
from .noisy_comparison import MOST_CELLS
from .session import Draft, Session

#: The most steps of a stream, and the largest fan-out that is tried by default.
MOST, MOST_OUT = 1 << 40, 64
#: The square root is used for streams of at most MOST_VALUES steps only, because it keeps all
#: values. It is rounded to units of 2**-GRID.
MOST_VALUES, GRID = 1 << 14, 20


@dataclass(frozen=True, slots=True)
class Total:
    """The private total after one step of a stream.

    Attributes
    ----------
    step : int
        The number of steps so far, from 1 on.
    total : float
        The sum of the values of all steps so far, with noise. It is unbiased.
    deviation : float
        The standard deviation of the error of `total`. It is public.
    remaining : int
        How many steps are left.
    spent : Loss
        The privacy loss of the whole stream. It was paid when the stream was opened.

    Examples
    --------
    The first of 365 days:

    >>> import dpfast as dp
    >>> total = dp.online.RunningCount(365, epsilon=1).add(1000)
    >>> total.step, total.remaining, abs(total.total - 1000) < 20 * total.deviation
    (1, 364, True)
    """

    step: int
    total: float
    deviation: float
    remaining: int
    spent: Loss

    def __float__(self) -> float:
        return self.total


class _OpenSums:
    """The exact sums of the unfinished tree nodes, one for each level."""

    def __init__(self, steps: int, levels: int) -> None:
        self.left, self.rho = steps, [0] * levels


class _Root:
    """The square root of the matrix of prefix sums of `steps` steps, as integers."""

    def __init__(self, steps: int) -> None:
        numbers = np.arange(1.0, steps)
        column = np.cumprod(np.concatenate([np.ones(1), (numbers - 0.5) / numbers]))
        self.column = [round(math.ldexp(c, GRID)) for c in column]
        self.back, c = np.ones(steps), np.array(self.column, np.float64)
        for k in range(steps):
            self.back[k] = (1 - c[1 : k + 1] @ self.back[:k][::-1]) / c[0]

    def sensitivity(self, rows: int, most: int) -> Sensitivity:
        """Return the sensitivity of all sums to `rows` rows with values of at most `most`."""
        l1, l2_squared = rows * most * sum(self.column), sum(c * c for c in self.column)
        return Sensitivity(len(self.column), l1, rows * most**2 * l2_squared)

    @property
    def mean_variance(self) -> float:
        """The variance of a total, averaged over all steps, for noise of variance 1."""
        return float(self.back**2 @ np.arange(len(self.back), 0, -1)) / len(self.back)


class RunningCount(Session[int, Total]):
    """Count values that arrive step by step, and release the private total after each step.

    For example, count new patients each day, and publish the total after each day. The loss for all
    steps is paid when the stream is opened. The stream adds noise to sums over blocks of steps,
    which form a tree. So the error of a total grows only with the logarithm of the number of steps.
    With independent noise for each value it would grow with the square root of this number, and
    with fresh noise for each total in proportion to it.

    A stream uses no tree if it has at most 16,384 steps, no name and no `fan_out`, and its loss is
    `rho`, or `epsilon` with `delta`. Then its error is about half of the error with a tree.

    Privacy
    -------
    A row adds a whole number from 0 to `sensitivity` to the value of one step. Neighbors are
    streams that differ in one row: added or removed, which changes one step, or replaced, which may
    change two steps. All totals together satisfy the requested loss. A value may depend on earlier
    totals (``dpfast/online/running_count.py`` has the proof).

    With a tree this is the tree mechanism (Dwork, Naor, Pitassi and Rothblum, STOC 2010; Chan, Shi
    and Song, ACM TISSEC 2011). Without a tree it is the mechanism of the square root of the matrix
    of prefix sums (Henzinger, Upadhyay and Upadhyay, SODA 2023). The noise is exact integer noise:
    discrete Laplace for `epsilon`, discrete Gaussian for `rho`, and a rounded Gaussian for `delta`.

    Parameters
    ----------
    steps : int
        The largest number of steps. It is public.
    sensitivity : int, default 1
        The most that one row can add to the value of its step: 1 for a count.
    fan_out : int, optional
        The number of children of a tree node. By default the number for which the variance of a
        total, averaged over all steps, is least. It is computed from the number of steps, the loss
        and whether there is a name. The best choice may be to use no tree.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    name : str, optional
        Keep the stream in the file of the budget under this name. Any process may open it again
        with the same arguments: it continues after its last step and is not paid for again. The
        file then holds all totals. Until the last step it also holds the exact sums that are still
        open, so protect the file as you protect the data (see ``docs/guide/streams.md``). A stream
        with a name always uses a tree: then the file need not hold all values.
    budget : Budget, optional
        The budget that pays for all answers, before rows are read or random bits are drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

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
    dpfast.tree_histogram : Noisy sums of a tree for data that are complete at the start.

    Notes
    -----
    Cost: some tens of microseconds for each step, and memory for one integer for each level of the
    tree. Without a tree a step takes up to a millisecond, and memory grows with the number of
    steps.

    A person who adds to several steps counts as several rows: `dpfast.privacy.group` computes the
    loss of a person.

    References
    ----------
    Honaker, "Efficient use of differentially private binary trees", TPDP 2015.

    Examples
    --------
    Daily visits for up to a year, of which 100 days have passed:

    >>> import dpfast as dp
    >>> visits = dp.online.RunningCount(365, epsilon=1)
    >>> for day in range(100):
    ...     total = visits.add(1000 + day % 7)
    >>> total.step, abs(total.total - 100_295) < 250, total.remaining
    (100, True, 265)
    >>> visits.half_width(100) < 250
    True
    """

    @releases
    def __init__(  # type: ignore[misc]
        self,
        steps: int,
        *,
        sensitivity: int = 1,
        fan_out: int | None = None,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        neighbors: Neighbors | None = None,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        loss = privacy.loss(epsilon, delta, rho)
        amount(loss)
        self._steps = checks.whole("steps", steps, 1, MOST)
        most = checks.whole("sensitivity", sensitivity, 1, MOST_CELLS)
        relation = relation_of(neighbors, budget)
        sides = 2 if relation == "replace" else 1

        def noise_of(b: int) -> IntegerNoise:
            touched = sides * _level_count(self._steps, b)
            moved = Sensitivity(touched, touched * most, touched * most**2, most)
            return integer_noise(loss, moved)

        def cost(b: int) -> float:
            return noise_of(b).deviation ** 2 * _mean_variance(self._steps, b)

        if fan_out is None:
            # A fan-out above the number of steps makes no tree: each step gets independent noise.
            self._b = min(range(2, min(self._steps, MOST_OUT) + 2), key=cost)
        else:
            self._b = checks.whole("fan_out", fan_out, 2)
        self._noise = noise_of(self._b)
        self._root: _Root | None = None
        may_keep = fan_out is None and name is None and self._steps <= MOST_VALUES
        if may_keep and not isinstance(loss, Pure):
            root = _Root(self._steps)
            noise = integer_noise(loss, root.sensitivity(sides, most))
            if noise.deviation**2 * root.mean_variance < cost(self._b):
                self._root, self._noise = root, noise
        levels = 0 if self._root else _level_count(self._steps, self._b)
        #: For each level: the number of finished trees in a total, and the sum of W over these
        #: trees.
        self._done = [(0, 0)] * levels
        #: The noisy sums of the square-root mechanism.
        self._noisy: list[float] = []
        opening = self._opening(
            Allocation(f"running count, {self._steps} steps", self._noise.loss, relation),
            _OpenSums(self._steps, levels),
            (budget, rng, name),
            loss=loss,
            relation=relation,
            steps=self._steps,
            sensitivity=most,
            fan_out=self._b,
            noise=self._noise,
        )
        return opening.then(self._resume)

    def add(self, value: int, number: int | None = None) -> Total:
        """Add the value of the next step, and release the total of all steps so far.

        Parameters
        ----------
        value : int
            The exact value of the step, computed from the data.
        number : int, optional
            For a stream with a name: the number of this call in the stream, from 0 on. If the call
            with this number has been answered, its recorded total is returned, whatever the value
            is now. Otherwise it must be the number of the next call.

        Returns
        -------
        Total
            The private total of all steps so far.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument. No message shows the value.
        StreamError
            If all steps have been taken, or if this is a copy of the stream in a forked process.
        """
        if not checks.is_whole(value):
            checks.fail_kind("value", "a whole number, the value of one step", value)
        return self._ask(min(max(int(value), -MOST_CELLS), MOST_CELLS), number)

    def half_width(self, step: int, confidence: float = 0.95) -> float:
        """Return the half-width of the error bar of the total after a step.

        Parameters
        ----------
        step : int
            The number of the step, from 1 on.
        confidence : float, default 0.95
            The probability that the error of the total is at most the half-width.

        Returns
        -------
        float
            The half-width, computed from public numbers alone.
        """
        at = checks.whole("step", step, 1)
        if at > self._steps:
            checks.fail("step", f"at most the number of steps, {self._steps}", step)
        share = checks.share("confidence", confidence)
        weights, times = self._factors(at)
        return self._noise.weighted_half_width(weights, 1 - share, times)

    @property
    def remaining(self) -> int:
        """The number of steps left."""
        return super().remaining

    # --- answers --------------------------------------------------------------------------------

    def _factors(self, step: int) -> tuple[NDArray[np.float64], Any]:
        """Return the weights of noises in the total at a step, and how many have each weight."""
        return _weights(step, self._b) if self._root is None else (self._root.back[:step], 1.0)

    def _draft(self, question: int) -> Draft:
        state = self._comparison
        if not state.left:
            self._halted("all its steps have been taken")
        if self._root is not None:
            return self._of_root(self._root, question)
        step = self._steps - state.left + 1
        sums = [open_sum + question for open_sum in state.rho]
        over = [j for j in range(len(sums)) if not step % self._b**j]
        noisy = self._noise.add([sums[j] for j in over], self._generator)
        for j in over:
            sums[j] = 0
        state.left, state.rho = state.left - 1, sums
        done = _grown(self._done, noisy, self._b)
        answer = {"nodes": noisy, "total": _estimate(done, self._b), "left": state.left}

        def apply() -> None:
            self._done = done

        return Draft(answer, b"", not state.left, apply)

    def _of_root(self, root: _Root, question: int) -> Draft:
        state = self._comparison
        values = [question, *state.rho]  # in descending order of time
        (noisy,) = self._noise.add([sum(map(mul, root.column, values))], self._generator)
        state.left, state.rho = state.left - 1, values
        sums = [float(noisy), *self._noisy]
        answer = {"total": float(root.back[: len(sums)] @ sums), "left": state.left}
        return Draft(answer, b"", not state.left, lambda: self._noisy.insert(0, float(noisy)))

    def _formatted(self, answer: dict[str, Any]) -> Total:
        step = self._steps - answer["left"]
        weights, times = self._factors(step)
        deviation = self._noise.deviation * math.sqrt(float((weights**2 * times).sum()))
        return Total(step, answer["total"], deviation, answer["left"], self._spent)

    def _digest(self, question: int) -> str:
        """Return the constant "step", because the value of a step is not public."""
        return "step"

    def _replay(self, answer: dict[str, Any], body: bytes) -> None:
        self._done = _grown(self._done, answer["nodes"], self._b)


def _level_count(steps: int, b: int) -> int:
    """Return the number of levels of the tree of `steps` steps with fan-out b."""
    return len(_digits(steps, b))


def _digits(step: int, b: int) -> list[int]:
    """Return the digits of a number in base b, the lowest first."""
    digits = []
    while step:
        step, digit = divmod(step, b)
        digits.append(digit)
    return digits


def _whole(j: int, b: int) -> int:
    """Return B(j) of the derivation above: the number of nodes in a full tree of level j."""
    return int((b ** (j + 1) - 1) // (b - 1))


def _grown(done: list[tuple[int, int]], noisy: list[int], b: int) -> list[tuple[int, int]]:
    """Return each level's finished trees and their sums after new nodes of levels 0, 1, ..."""
    grown, tree = list(done), 0
    for j, y in enumerate(noisy):
        if j:  # the trees of lower levels become parts of the new tree
            tree += grown[j - 1][1]
            grown[j - 1] = 0, 0
        tree += y * b**j
    trees, total = grown[len(noisy) - 1]
    grown[len(noisy) - 1] = trees + 1, total + tree
    return grown


def _estimate(done: list[tuple[int, int]], b: int) -> float:
    """Return the private total, estimated from the noisy sums of the finished trees."""
    parts = (Fraction(w, _whole(j, b)) for j, (_, w) in enumerate(done))
    return nearest(sum(parts, Fraction(0)))


def _mean_variance(steps: int, b: int) -> float:
    """Return the variance of a total, averaged over all steps, for noise of variance 1."""
    total = 0.0
    for j in range(_level_count(steps, b)):
        whole, beyond = divmod(steps + 1, b ** (j + 1))
        last, more = divmod(beyond, b**j)
        digits = whole * b**j * (b * (b - 1) // 2) + b**j * (last * (last - 1) // 2) + last * more
        total += float(digits * b**j) / (steps * _whole(j, b))
    return total


def _weights(step: int, b: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights of node noises in the total at a step, and how many have each weight."""
    pairs = [
        (b**i / _whole(j, b), float(d * b ** (j - i)))
        for j, d in enumerate(_digits(step, b))
        for i in range(j + 1)
    ]
    weights, times = zip(*pairs, strict=True)
    return np.array(weights, np.float64), np.array(times, np.float64)
