"""Rounds of noisy gradients: learn the weights of a `Design` from noisy sums over rows.

A row is a vector z with m = 1 + p + c coordinates that are not 0, each from -1 to 1. p of them are
numbers, and 1 + c of them are 1 (see `design`).

*The first round* has no weights yet. A row divides 1 into parts, one for each answer. With classes,
the whole part is for the class of the row. With a target there are two answers, the ends of its
bounds, and the parts are a and 1 - a if the target is a fraction a of the way between the ends. To
the sums of each answer, the row adds its part times z. To one more sum for each number z_j, it adds
1 - z_j^2.

*Sensitivity for an added row.* The squares of its parts add up to at most 1. So the m - p
coordinates that are 1 contribute at most m - p to the squared L2 sensitivity. Each number
contributes z_j^2 + (1 - z_j^2)^2 <= 1. So the squared L2 sensitivity is at most m. The L1
sensitivity is m + p / 4, because z + 1 - z^2 <= 5 / 4.

*Sensitivity for a replaced row.* The L1 sensitivity is twice as large. For the squared L2
sensitivity, let t and t' be a number before and after.

* If the answer stays the same, the squared change is (t - t')^2 (1 + (t + t')^2) <= 4 for each
  number (see `class_sums`), 2 for each of the c columns, and 0 for the constant.
* If the answer changes, it is 2 for each of the 1 + c coordinates, and t^2 + t'^2 + (t^2 - t'^2)^2
  <= 2 for each number: this is convex in t^2 and t'^2, and at most 2 if these are 0 or 1.

So in both cases it is at most 4 p + 2 c + 2. For fractional parts the bound is the same, because
the distance is convex in the parts of either row. (1 - z^2 is rounded down, which adds less than
one unit to a difference. So instead of 4 the bound is 4 times the square of 1 plus one unit.)

*Each later round* has weights. A row adds r z to the gradient, where the residual r is from -1 to
1. With K classes there are K residuals: the probabilities, minus 1 for the class of the row.
Probabilities are rounded down to integers that add up to at most 1. So |r_1| + .. + |r_K| <= 2, and
the squares add up to at most 2. With one residual an added row changes the gradient by at most m in
L1 norm, and by m in squared L2 norm. With K residuals it is 2 m in both. A replaced row changes it
by twice this in L1 norm, and by four times this in squared L2 norm. No number of the gradient
changes by more than 1, or by 2 if a row is replaced. So for epsilon alone, noise for the box of all
these changes is used if it is less. It is less if columns are numeric.

This is the gradient of the log-likelihood. For targets, r is limited to half of the width of their
bounds, so it is the gradient of Huber's loss. The noise for K classes is larger than for two
classes by the square root of 2. For K separate classifiers it would be larger by the square root of
K.

*A step.* All that follows is post-processing. Let n be the noisy number of rows. The first round
also gives a mean and a variance of each coordinate. Measured from its mean, a coordinate has a
curvature of the loss function of n times its variance; for probabilities this is times 1 / 4 or
less. A step is the gradient, divided by the sum of this curvature and `RIDGE` standard deviations
of its noise.

If columns are correlated, the curvature is larger along some directions. One bound on it is known
before the first step: add up, over all coordinates, the squared gradient divided by n times the
variance. This sum is at most n times the variance of the label or target, times the largest
eigenvalue of the correlation matrix. Later, each step shows the curvature along its direction. If
either is larger than noise explains, all further steps are shorter. The final weights are the mean
of the weights of the last rounds.

*Why not objective perturbation* (Chaudhuri, Monteleoni and Sarwate, JMLR 2011; Kifer, Smith and
Thakurta, COLT 2012)? Its proof is about the exact minimum of a perturbed sum of functions of real
numbers. Here every answer is an integer sum with noise on a public grid. So the proof covers the
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
#: rounds, the fraction AVERAGED of all, are averaged.
RIDGE, AVERAGED = 6.0, 0.3
#: Logarithms of likelihoods are rounded to multiples of STEP, and clamped to at least -LEAST.
STEP, LEAST = 2.0**-10, 16

#: The most rounds of a fit. With more rounds, the noise of each would be too large.
MOST_ROUNDS = 10_000


def times_of(max_iter: Any) -> int:
    """Return the checked number of rounds, `max_iter`."""
    times = checks.whole("max_iter", max_iter, 2)
    if times > MOST_ROUNDS:
        checks.fail("max_iter", f"from 2 to {MOST_ROUNDS}", max_iter)
    return times


class ClassAnswers:
    """Class labels as answers to learn: a row is in one class; a row in no class is ignored.

    Attributes
    ----------
    parts, outputs : int
        The number of answers among which a row divides 1, and the number of scores of a row.
    curvature : float
        The largest curvature of the loss function of a score.
    """

    curvature = 0.25

    def __init__(self, classes: Classes) -> None:
        self._classes, self.parts = classes, len(classes)
        if self.parts < 2:
            checks.fail("classes", "two labels or more", classes.labels)
        self.outputs = 1 if self.parts == 2 else self.parts

    def read(self, labels: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return class indicators of rows, in units of 1 / SCALE, and a mask of rows with NaN."""
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
    """Targets as answers to learn: 1 is divided between the two ends of their public bounds.

    The attributes and methods are those of `ClassAnswers`.
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
        """Half of the width of the target's bounds: the unit of scores."""
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


#: The kinds of labels; each knows the residuals of a model.
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

    With two classes there is one score: the score of the second class minus that of the first.
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
    """Return the sensitivity of the first round, and of each later round."""
    p, m, size = len(design.numbers), 1 + design.columns, design.size
    sums, gradient = answers.parts * size + p, answers.outputs * size
    wrong = m if answers.outputs == 1 else 2 * m
    l1 = m * UNIT + p * UNIT // 4
    steps = 2 if relation == "replace" else 1
    l2_squared = m * UNIT**2
    if relation == "replace":
        l2_squared = 4 * p * (UNIT + SCALE) ** 2 + 2 * (m - p) * UNIT**2
    # For more sums, joint noise would not be smaller.
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
        """Return the sums over rows of the numbers of `integers`; dropped rows count as 0."""

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

    `rows` has the noisy number of rows of each answer, and `means` the noisy mean of each
    coordinate.
    """

    weights: Floats
    rows: Floats
    means: Floats


def learned(rounds: Rounds, gradients: Gradients, *, constant: bool = True) -> Learned:
    """Run all rounds of noisy gradients and return the weights, with or without a constant."""
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
