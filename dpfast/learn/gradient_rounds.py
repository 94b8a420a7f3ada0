"""Rounds of noisy gradients: learn the weights of a `Design` from noisy sums over rows.

A row is a vector z with m = 1 + p + c coordinates that are not 0, none above 1 in size. p of them
are numbers, and 1 + c of them are 1 (see `design`).

*The first round* has no weights yet. A row divides 1 among some answers: all of it for its class,
or a and 1 - a for a target that is a part a of the way through its bounds. To the sums of each
answer, the row adds its part times z. To a sum for each of the numbers, it adds 1 - z_j^2.

*Sensitivity for an added row.* In square, its parts contribute at most 1 together, times m - p for
the coordinates that are 1. Each number contributes z_j^2 + (1 - z_j^2)^2 <= 1. So the L2
sensitivity is at most m in square. The L1 sensitivity is m + p / 4, because z + 1 - z^2 <= 5 / 4.

*Sensitivity for a replaced row.* The L1 sensitivity is twice that. In square, let t and t' be a
number before and after.

* Within one answer the change is (t - t')^2 (1 + (t + t')^2) <= 4 for each number (see
  `class_sums`), 2 for each of the c, and 0 for the constant.
* Between two answers it is 2 for each of the 1 + c, and t^2 + t'^2 + (t^2 - t'^2)^2 <= 2 for each
  number: this is convex in the two squares, and at most 2 if they are 0 or 1.

So in both cases it is at most 4 p + 2 c + 2. For parts the bound is the same, because the distance
is convex in the parts of either row. (1 - z^2 is rounded down, which adds less than one unit to a
difference. So 4 becomes 4 times the square of one unit more.)

*Each later round* has weights. The error of a row is a multiple of its vector: r in -1 .. 1. With K
classes it is r_1 .. r_K, the probabilities, less 1 for the row's class. Probabilities are rounded
down to integers that add up to at most 1. So |r_1| + .. + |r_K| <= 2, and the squares add up to at
most 2. The row adds r z to the gradient. For one multiple this changes by at most m in L1 and m in
square, and for K of them by at most 2 m and 2 m. If rows are replaced, it changes by twice that in
L1, and by four times that in square. No number of the gradient changes by more than 1, or 2. So for
epsilon alone, the noise is that of the box of all these numbers if it is less, which it is if
columns are numeric.

It is the gradient of the log-likelihood. For targets, r is limited to half of the width of their
bounds, so that it is the gradient of Huber's loss. K classes cost the square root of 2 of what two
cost; K separate classifiers would cost the square root of K.

*A step.* All that follows is post-processing. Let n be the noisy number of rows, and let mean and
variance of a coordinate be those computed from the first round. In coordinates around these means,
the loss has a curvature of n times the variance along each, for probabilities times 1 / 4 or less.
A step is the gradient divided by the sum of this and `RIDGE` standard deviations of its noise.

If columns are correlated, the curvature is larger along some directions. One bound of it is known
before the first step. Sum the squared gradient over n times the variance, along all coordinates.
This is at most n times the variance of what is to be explained, times the largest eigenvalue of the
correlations. Later, each step shows the curvature along it. If either is larger than noise
explains, all further steps are shorter. The weights are the mean of the last ones.

*Why not objective perturbation* (Chaudhuri, Monteleoni and Sarwate, JMLR 2011; Kifer, Smith and
Thakurta, COLT 2012): it is proved for the exact minimum of a perturbed sum of functions of real
numbers. Here every answer is an integer sum with noise on a public grid, so the proof covers the
bits that are released.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from ..sulq.parts import Part
from ..sulq.rounds import Rounds
from .columns import Classes, Floats
from .design import FINE, REACH, ROWS, SCALE, Design, Vectors, whole
from .rows import Rows

#: The integer that represents 1 in sums.
UNIT = REACH * SCALE
#: A curvature is increased by RIDGE standard deviations of its noise. The weights of the last
#: AVERAGED part of the rounds are averaged.
RIDGE, AVERAGED = 6.0, 0.3
#: Logarithms of likelihoods are rounded to multiples of STEP, and are at least -LEAST.
STEP, LEAST = 2.0**-10, 16

#: The most rounds of a fit: with more, the noise of each would be too large.
MOST_ROUNDS = 10_000


def times_of(max_iter: Any) -> int:
    """Return the checked number of rounds, `max_iter`."""
    times = checks.whole("max_iter", max_iter, 2)
    if times > MOST_ROUNDS:
        checks.fail("max_iter", f"from 2 to {MOST_ROUNDS}", max_iter)
    return times


class ClassAnswers:
    """Class labels as answers to learn: each row is in one class, or in none and is ignored.

    Attributes
    ----------
    parts, outputs : int
        Answers among which a row divides 1; and scores of a row.
    curvature : float
        The largest curvature of the loss of a score.
    """

    curvature = 0.25

    def __init__(self, classes: Classes) -> None:
        self._classes, self.parts = classes, len(classes)
        if self.parts < 2:
            checks.fail("classes", "two labels or more", classes.labels)
        self.outputs = 1 if self.parts == 2 else self.parts

    def read(self, labels: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return each row's class indicators, in units of 1 / SCALE, and which rows have a NaN."""
        codes = self._classes.codes(labels)
        parts = np.zeros((len(codes), self.parts + 1))
        parts[np.arange(len(codes)), np.minimum(codes, self.parts)] = SCALE
        return np.ascontiguousarray(parts[:, :-1]), np.zeros(len(codes), np.bool_)

    def wrong(self, parts: Floats, scores: Floats) -> Floats:
        """Return the residuals of rows, shape (rows, outputs), in units of 1 / SCALE."""
        left = parts - chances(scores)
        return np.asarray(left[:, 1:] if self.outputs == 1 else left)

    def first(self, sums: Floats) -> Floats:
        """Return the gradient at weights of 0, from the sums of the first round."""
        left: Floats = sums - sums.mean(axis=0)
        return left[1:] if self.outputs == 1 else left

    def variance(self, shares: Floats) -> float:
        """Return the variance of a row's gradient at weights of 0, from the shares of classes."""
        variances = shares * (1.0 - shares)
        return float(variances[1] if self.outputs == 1 else variances.sum())


class TargetAnswers:
    """Targets as answers to learn: a row's target is divided between the ends of public bounds.

    Attributes and methods are those of `ClassAnswers`.
    """

    parts, outputs, curvature = 2, 1, 1.0

    def __init__(self, bounds: tuple[float, float], nan: str | float) -> None:
        self.bounds = bounds
        self._fill = nan_policy.replacement(nan, *bounds)

    @property
    def middle(self) -> float:
        return self.bounds[0] / 2 + self.bounds[1] / 2

    @property
    def half(self) -> float:
        """Half of the width of the target's bounds, the unit of scores."""
        return self.bounds[1] / 2 - self.bounds[0] / 2

    def read(self, labels: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
        y = np.asarray(labels, np.float64)
        absent = np.isnan(y)
        fill = self.middle if isinstance(self._fill, str) else self._fill
        y = np.clip(np.where(absent, fill, y), *self.bounds)
        part = np.rint((y - self.middle) * (SCALE // 2 / self.half if self.half else 0.0))
        part = np.clip(part + SCALE // 2, 0, SCALE)
        return np.column_stack([SCALE - part, part]), absent

    def wrong(self, parts: Floats, scores: Floats) -> Floats:
        target = parts[:, 1:] - parts[:, :1]
        return np.clip(target - np.rint(scores * (FINE / REACH * SCALE)), -SCALE, SCALE)

    def first(self, sums: Floats) -> Floats:
        return sums[1:] - sums[:1]

    def variance(self, shares: Floats) -> float:
        return float(4.0 * shares[0] * shares[1])


#: The kinds of labels, each with the errors that a model makes on them.
Answers: TypeAlias = ClassAnswers | TargetAnswers


@functools.cache
def _powers() -> Floats:
    """Return the table of e**-(STEP i) in units of 2**-30, equal on every machine."""
    exact = Context(prec=40)
    fine, coarse = (
        [int((Decimal(-i * times) / 1024).exp(exact).scaleb(24, exact)) for i in range(128)]
        for times in (1, 128)
    )
    bits = [a * b * 2**30 // 10**48 for a in coarse for b in fine]
    return np.array([*bits, math.floor(math.exp(-LEAST) * 2**30)], np.float64)


def chances(scores: Floats) -> Floats:
    """Return the probability of each class from `scores`, in units of 1 / SCALE, rounded down.

    With two classes there is one score, that of the second minus that of the first.
    """
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    below = (scores.max(axis=1, keepdims=True) - scores) * (FINE / REACH / STEP)
    likely = _powers()[np.minimum(np.rint(below), LEAST / STEP).astype(np.intp)]
    total = np.zeros(len(scores))
    for column in likely.T:
        total += column
    return np.asarray(np.floor(likely * SCALE / total[:, None]))


def _parts(design: Design, answers: Answers, relation: str) -> list[Part]:
    """Return the sensitivity of the first round, and that of each later round."""
    p, m, size = len(design.numbers), 1 + design.columns, design.size
    sums, gradient = answers.parts * size + p, answers.outputs * size
    wrong = m if answers.outputs == 1 else 2 * m
    l1 = m * UNIT + p * UNIT // 4
    steps = 2 if relation == "replace" else 1
    l2_squared = m * UNIT**2
    if relation == "replace":
        l2_squared = 4 * p * (UNIT + SCALE) ** 2 + 2 * (m - p) * UNIT**2
    # For more sums joint noise would not be smaller.
    most, few = steps * UNIT, gradient <= 3 * wrong
    sizes = (most,) * gradient if few else ()
    gradient_part = Part(gradient, wrong * most, wrong * most**2, gradient, sizes=sizes)
    return [Part(sums, steps * l1, l2_squared, sums), gradient_part]


class Gradients:
    """The integer sums over rows of each round, with their sensitivity.

    Parameters
    ----------
    design : Design
    answers : Answers
    nan : str or float
    relation : str
    """

    def __init__(self, design: Design, answers: Answers, nan: str | float, relation: str) -> None:
        self.design, self.answers, self.nan = design, answers, nan
        self.parts = _parts(design, answers, relation)

    def totals(self, rows: Rows) -> list[int]:
        """Return the exact integer sums of the first round."""

        def integers(vectors: Vectors, parts: Floats) -> NDArray[np.int64]:
            sums = self.design.sums(vectors, parts)
            return np.append(sums, (parts.sum(axis=1) @ vectors.less_squares).astype(np.int64))

        return self._sums(rows, integers, self.parts[0].size)

    def gradient(self, rows: Rows, weights: Floats) -> list[int]:
        """Return the exact integer gradient at weights that are `whole`."""

        def integers(vectors: Vectors, parts: Floats) -> NDArray[np.int64]:
            wrong = self.answers.wrong(parts, self.design.scores(vectors, weights))
            wrong[~parts.any(axis=1)] = 0.0
            return self.design.sums(vectors, wrong).ravel()

        return self._sums(rows, integers, self.parts[1].size)

    def _sums(
        self, rows: Rows, integers: Callable[[Vectors, Floats], NDArray[np.int64]], size: int
    ) -> list[int]:
        """Return sums over rows of what `integers` computes; rows left out count as 0."""

        def add(x: Floats, labels: NDArray[Any], sums: NDArray[np.int64]) -> int:
            vectors = self.design.vectors(x)
            parts, absent = self.answers.read(labels)
            absent |= vectors.absent
            if self.nan in ("raise", "drop"):
                parts[absent] = 0.0
            sums += integers(vectors, parts)
            return int(np.count_nonzero(absent))

        return rows.sums(size, add, self.nan, ROWS)


class Learned(NamedTuple):
    """The learned weights, shape (size, outputs), and the noisy facts of the first round.

    `rows` are the noisy numbers of rows of each answer, and `means` those of the coordinates.
    """

    weights: Floats
    rows: Floats
    means: Floats


def learned(rounds: Rounds, gradients: Gradients, *, constant: bool = True) -> Learned:
    """Ask all rounds of noisy gradients and return the weights, with or without a constant."""
    answers, numbers = gradients.answers, gradients.design.numbers
    noisy = _noisy(rounds, gradients.totals, gradients.parts[0])
    sums = noisy[: answers.parts * gradients.design.size].reshape(answers.parts, -1)
    total = sums.sum(axis=0)
    rows = max(float(total[0]), 1.0)
    means = np.clip(total / rows, 0.0, 1.0)
    means[numbers] = np.clip(total[numbers] / rows, -1.0, 1.0)
    squares = means.copy()
    squares[numbers] = np.clip(1.0 - noisy[len(noisy) - len(numbers) :] / rows, 0.0, 1.0)
    middle = means.copy() if constant else np.zeros_like(means)
    middle[0], squares[0] = 0.0, 1.0
    noise = rounds.deviation(gradients.parts[1]) / UNIT
    curvature = answers.curvature * rows * np.maximum(squares - middle**2, 0.0) + RIDGE * noise
    walk = _Walk(curvature[:, None], noise)
    variance = answers.variance(np.clip(sums[:, 0] / rows, 0.0, 1.0))

    def around(gradient: Floats) -> Floats:
        gradient = gradient - np.outer(middle, gradient[0])
        gradient[0] *= constant
        return gradient

    def placed(weights: Floats) -> Floats:
        moved = weights.copy()
        moved[0] -= middle @ weights
        return whole(moved)

    start = around(answers.first(sums).T)
    beyond_noise = (start[1:] ** 2 - noise**2) / curvature[1:, None]
    walk.limit(rows * variance, answers.curvature * float(beyond_noise.sum()))
    walk.step(start)
    while rounds.remaining:
        total_of = functools.partial(gradients.gradient, weights=placed(walk.at))
        gradient = _noisy(rounds, total_of, gradients.parts[1])
        walk.step(around(gradient.reshape(answers.outputs, -1).T))
    last = walk.path[int((1.0 - AVERAGED) * len(walk.path)) :]
    return Learned(placed(np.mean(last, axis=0)) * FINE, sums[:, 0], means)


class _Walk:
    """A gradient descent whose steps are noisy gradients divided by curvatures."""

    def __init__(self, curvature: Floats, noise: float) -> None:
        self._curvature, self._noise, self._length = curvature, noise, 1.0
        self.at: Floats = np.zeros((1, 1))
        self.path: list[Floats] = []
        self._moved: Floats | None = None
        self._before: Floats | None = None

    def limit(self, expected: float, measured: float) -> None:
        """Shorten steps if the measured curvature is larger than expected."""
        if measured > 0 and expected > 0:
            self._length = min(self._length, expected / measured)

    def step(self, gradient: Floats) -> None:
        """Take one step by a noisy gradient, shorter if the last step met a larger curvature."""
        if self._moved is not None and self._before is not None:
            noise = 2.0 * self._noise * math.sqrt(2.0 * float((self._moved**2).sum()))
            measured = float(((self._before - gradient) * self._moved).sum()) - noise
            self.limit(float((self._curvature * self._moved**2).sum()), measured)
        self._moved = self._length * gradient / self._curvature
        self._before = gradient
        self.at = self.at + self._moved
        self.path.append(self.at)


def _noisy(rounds: Rounds, total: Callable[[Any], list[int]], part: Part) -> Floats:
    """Run one round, and return the noisy sums in units of coordinates."""
    return np.array(rounds.ask(total, [part]), np.float64) / UNIT
