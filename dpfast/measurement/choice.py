"""The choice of noise for sums that are released together, from one table of all families of noise.

Sums are released together. `Moves` describes how neighboring sums differ: D_i is the largest
difference of sum i. An error of D_i in sum i causes an error in the estimate, whose square is the
weight c_i. The families of noise, in units of the D_i:

* *alike*: the same noise on each sum, by the norms of a difference (`noise.calibrated_integer`):
  Laplace by L1, Gaussian by L2, a staircase if only one sum differs.
* *divided*: separate noise on each sum, for a part p_i of the loss. Gaussian noise has the variance
  1 / (2 rho p_i), so the error is least for p_i in proportion to sqrt(c_i). Laplace noise has the
  variance 2 / (epsilon p_i)^2, so p_i is in proportion to the cube root of c_i.
* *box*, *stairs*: joint noise for the box of all sizes (`noise.box`, `noise.stairs`).
* *ellipsoid*: Gaussian noise in proportion to the axes of an ellipsoid that contains all
  differences (`noise.box`).
* *apart*: separate noise on the number of rows for a part p of epsilon, and joint noise on all
  other sums for the rest. The error is 2 c_0 / p^2 + V C / (1 - p)^2 in units of 1 / epsilon^2,
  where V is the variance of the joint noise and C the sum of the other weights. It is least for p /
  (1 - p) = (2 c_0 / (V C))^(1/3).

The family of the least error is taken. A less simple family is taken only if its error is less by a
twentieth. The choice depends on public numbers alone: the loss, the weights and the number of sums.

*Centering.* A row adds a number x_i between lo_i and hi_i to each sum i of d. Noise is added to the
number of rows n and to A_i = sum(2 x_i - lo_i - hi_i), which an added or removed row changes by at
most hi_i - lo_i. The sum is then (A_i + (lo_i + hi_i) n) / 2 (`features.Feature.centered`). For
counts, where x_i is 0 or 1, the least variance with Gaussian noise is (sqrt(d) + 1)^2 / (8 rho).
Independent noise has d / (2 rho). So the standard deviation is .61 of that for 20 counts and .55
for 100 (Lebeda, arXiv 2408.06853, has the same constant). Noise on A_i is over all integers: A_i =
2 q_i - n has the parity of n, which noise over even integers would reveal.

*Groups.* Each of many groups has such sums. The difference between neighbors is made of n moves,
each of which changes the sums of one group (`groups.step`). A staircase for the box of one move
costs epsilon / n for each move, whatever groups the moves are in. In rho it costs at most as much
as one draw of a pure loss for each group that is moved. Independent noise is for the norm of all
groups together.

*Units in few of many groups.* A unit has up to r rows in each of at most k of d groups, and counts
once in the number n of units. It adds a vector v to the counts q_i, with at most k entries that are
not 0, each at most r. To the numbers A_i = q_i - a r n it adds v - a r. The squared length of this
is convex in v, so it is largest at a corner, where j entries of v are r. There it is r^2 (j (1 - 2
a) + d a^2), and j = k is the worst case for a <= 1/2. The L1 norm is at most r (j (1 - 2 a) + d a).
`centered_groups` has these moves.

A group may have m sums that a unit only increases, by at most r together, such as the two sums of a
mean. Then v has m d entries, and the corners have r in one sum of each of j groups. So the same
holds with m d in place of d. The deviation of Gaussian noise is then multiplied by .71 for two sums
in each of many groups, and by .82 for three.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeAlias

from ..noise.additive import LEAST, amount, of_gaussian
from ..noise.box import BoxNoise, ellipsoid_noise
from ..noise.calibrated_integer import WORTH, IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..noise.shared import SharedNoise
from ..noise.stairs import JointStaircase, best_cores
from ..privacy import ZCDP, Draws, Loss, Pure, float_down, pure_within
from ..rng import Generator

#: Sensitivities that are so large that rounding to integers does not matter; the largest ratio of
#: two parts of a loss.
_LARGE, _MANY, _MOST = 1 << 32, 1 << 30, 1 << 20
#: The largest standard deviation of noise that groups share: its tails must fit in an int64.
_WIDE = 1 << 50


class Groups(NamedTuple):
    """The numbers of groups in which the sums of neighbors can differ at once.

    Parameters
    ----------
    moves : int
        The number of moves, each of the sums of one group, that make up a difference.
    draws : int
        The number of draws of a pure loss that are charged in rho.
    every : int, default 0
        The number of sums of all groups, if a unit only increases sums, and the sums of one group
        together by at most the size of `Moves`. 0 if the number is private, or if sums may differ
        in both directions.
    """

    moves: int
    draws: int
    every: int = 0


@dataclass(frozen=True, slots=True)
class Moves:
    """The largest differences between neighboring sums, and the weights of their errors.

    Attributes
    ----------
    sizes : tuple of int
        The largest difference of each sum.
    weights : tuple of float, optional
        The weight of each sum's squared error in the squared error of the estimate. By default all
        are equal.
    counts : int, default 0
        How many of the sums are numbers of rows or units. These come first.
    norm : Sensitivity, optional
        The joint sensitivity of the other sums. By default they fill the box of their sizes.
    for_all_sizes : bool, default False
        Whether one distribution must be used for every size, for a single sum.
    groups : Groups, optional
        Given if each of many groups has such sums. Then `norm` is the norm of all groups together.
    axes : tuple of Fraction, optional
        The axes, above 0, of an ellipsoid that contains all differences of the sums.

    Examples
    --------
    >>> import dpfast as dp
    >>> moves = dp.extend.Moves((1, 0, 100), (0.5, 0.0, 0.5))
    >>> moves.moving, moves.weight(2), moves.total
    ([0, 2], 0.5, 1.0)
    """

    sizes: tuple[int, ...]
    weights: tuple[float, ...] = ()
    counts: int = 0
    norm: Sensitivity | None = None
    for_all_sizes: bool = False
    groups: Groups | None = None
    axes: tuple[Fraction, ...] = ()

    @property
    def moving(self) -> list[int]:
        """The indices of the sums that can differ between neighbors."""
        return [i for i, size in enumerate(self.sizes) if size]

    def weight(self, i: int) -> float:
        """Return the weight of the noise of a sum in the squared error of the estimate.

        Parameters
        ----------
        i : int
            The index of the sum.

        Returns
        -------
        float
        """
        return self.weights[i] if self.weights else 1.0

    @property
    def total(self) -> float:
        """The sum of the weights of the sums that can differ between neighbors."""
        return math.fsum(self.weight(i) for i in self.moving)

    @property
    def others(self) -> Moves:
        """The moves of all sums except the numbers of rows."""
        return Moves(self.sizes[self.counts :], self.weights[self.counts :], norm=self.norm)


def centered_groups(sums: int, most: int, rows: int, shift: Fraction) -> Moves:
    """Return the moves of centered sums of groups, for units that are in at most `most` groups.

    Parameters
    ----------
    sums, most : int
        The number of sums of all groups, and the largest number of groups that a unit is in.
    rows : int
        The largest amount that a unit adds to the sums of a group together. For counts this is its
        number of rows in the group.
    shift : Fraction
        The part a of this amount that is subtracted from every sum for each unit, at most 1/2. A
        sum is A_i + a r n, in units of a's denominator. One sum represents all sums, which are
        equal. If a is not 0, the number of units comes first.
    """
    unit, off = shift.denominator, shift.numerator
    largest, others = unit - off, sums - most
    norm = Sensitivity(
        sums if shift else most,
        rows * (most * largest + others * off),
        rows**2 * (most * largest**2 + others * off**2),
        rows * largest,
    )
    counts = 1 if shift else 0
    weights = (float(shift * rows) ** 2,) * counts + ((rows * largest / unit) ** 2,)
    return Moves((1,) * counts + (rows * largest,), weights, counts, norm)


class SumNoise(Protocol):
    """Noise for integers that are released together."""

    @property
    def distribution(self) -> str:
        """The name of the distribution."""

    @property
    def loss(self) -> Loss:
        """The loss of the release of all integers together."""

    @property
    def deviations(self) -> list[float]:
        """The standard deviation of the noise of each integer."""

    def add(self, values: Sequence[int], generator: Generator) -> list[int]:
        """Return the values with noise.

        Parameters
        ----------
        values : sequence of int
        generator : Generator
            The source of the noise.

        Returns
        -------
        list of int
        """

    def sum_half_width(self, failure: float, factors: Mapping[int, Fraction]) -> Fraction:
        """Return a bound that a weighted sum of the noise rarely exceeds in absolute value.

        Parameters
        ----------
        failure : float
            The probability that the bound is exceeded, at most.
        factors : mapping of int to Fraction
            The factors of some of the integers, by their indices.

        Returns
        -------
        Fraction
            An upper bound.
        """


class NoiseCandidate(NamedTuple):
    """A candidate in the choice of noise: its error, and a function that makes the noise.

    Attributes
    ----------
    error : float
        The root of a sum over all sums that move: each adds its weight times the squared standard
        deviation of its noise, in units of its size.
    noise : callable
        A function without arguments that returns an `IntegerNoise` or a `SumNoise`.

    Examples
    --------
    >>> import dpfast as dp
    >>> noise = dp.extend.integer_noise(dp.privacy.Pure(1), 100, l0=1)
    >>> round(dp.extend.NoiseCandidate(noise.deviation / 100, lambda: noise).error, 3)
    1.414
    """

    error: float
    noise: Callable[[], Any]


#: A noise family: a function of the loss, its epsilon or rho, and the moves, which yields
#: candidates.
NoiseFamily: TypeAlias = Callable[[Loss, Fraction, Moves], Iterable[NoiseCandidate]]
#: A noise family; the factor by which it must reduce the least error of the families before it to
#: be chosen; whether its noise is drawn for many groups at once.
Listed: TypeAlias = tuple[NoiseFamily, float, bool]


def choose_noise(loss: Loss, moves: Moves) -> NoiseCandidate:
    """Return the noise of the least error, over all families, for sums released together.

    Parameters
    ----------
    loss : Pure, Approx or ZCDP
        The loss of all sums together. The loss of the noise may be smaller.
    moves : Moves
    """
    least = least_noise(loss, moves, (*FAMILIES, *OF_USERS))
    assert least is not None, "each loss has noise for sums of one row"
    return least


def least_noise(
    loss: Loss, moves: Moves, families: Iterable[Listed] | None = None
) -> NoiseCandidate | None:
    """Return the noise of the least error, or None if no family has noise for sums of groups.

    By default only the families of dpfast are tried.
    """
    size = amount(loss)
    least: NoiseCandidate | None = None
    for family, margin, is_by_group in FAMILIES if families is None else families:
        for candidate in family(loss, size, moves) if is_by_group or not moves.groups else ():
            if least is None or candidate.error < margin * least.error:
                least = candidate
    return least


def least_error(ways: Iterable[NoiseCandidate | None]) -> NoiseCandidate:
    """Return the candidate of the least error; the candidates begin with the simplest.

    A candidate replaces an earlier candidate only if its error is less by a twentieth.
    """
    least: NoiseCandidate | None = None
    for way in ways:
        if way is not None and (least is None or way.error < WORTH * least.error):
            least = way
    assert least is not None, "the first way has noise for any loss"
    return least


def _alike(loss: Loss, _: Fraction, moves: Moves) -> Iterator[NoiseCandidate]:
    if moves.norm is not None and not moves.counts:
        many = integer_noise(loss, Sensitivity.of_one(_MANY)) if moves.for_all_sizes else None
        noise = integer_noise(loss, moves.norm, many and many.distribution)
        parts = [moves.weight(i) / moves.sizes[i] ** 2 for i in moves.moving]
        yield NoiseCandidate(noise.deviation * math.sqrt(math.fsum(parts)), lambda: noise)
    elif len(moves.moving) < 2 and not moves.groups:
        most = max(moves.sizes, default=0)
        noise = integer_noise(loss, Sensitivity.of_one(most))
        noises = tuple(noise if size else None for size in moves.sizes)
        deviation = noise.deviation / max(1, most)
        joint = BoxNoise(noise.distribution, moves.sizes, noise.loss, deviation, noises)
        yield NoiseCandidate(deviation * math.sqrt(moves.total), lambda: joint)


def _box_noise(loss: Loss, size: Fraction, moves: Moves) -> Iterator[NoiseCandidate]:
    k = len(moves.moving)
    if moves.norm is not None or k < 2:
        return
    epsilon = pure_within(size) if isinstance(loss, ZCDP) else size
    deviation = math.sqrt((k + 1) * (k + 2) / 3.0) / float(epsilon)
    spent = loss if isinstance(loss, ZCDP) else Pure(size)

    def noise() -> BoxNoise:
        return BoxNoise("box", moves.sizes, spent, deviation, epsilon=epsilon)

    yield NoiseCandidate(deviation * math.sqrt(moves.total), noise)


def _ellipsoid(loss: Loss, _: Fraction, moves: Moves) -> Iterator[NoiseCandidate]:
    if moves.axes and not isinstance(loss, Pure):
        noise = ellipsoid_noise(loss, moves.sizes, moves.axes)
        deviations = [noise.deviations[i] / moves.sizes[i] for i in moves.moving]
        parts = [moves.weight(i) for i in moves.moving]
        error = math.fsum(part * off**2 for part, off in zip(parts, deviations, strict=True))
        yield NoiseCandidate(math.sqrt(error), lambda: noise)


def _divided(loss: Loss, size: Fraction, moves: Moves) -> Iterator[NoiseCandidate]:
    if len(moves.moving) < 2 or (moves.norm is not None and not moves.counts):
        return
    yield _of_parts(loss, size, moves, "laplace")
    if not isinstance(loss, Pure):
        gaussian = "gaussian" if isinstance(loss, ZCDP) else "rounded-gaussian"
        yield _of_parts(loss, size, moves, gaussian)


def _of_parts(loss: Loss, size: Fraction, moves: Moves, distribution: str) -> NoiseCandidate:
    """Return independent noise for each sum, each for a part of the loss."""
    is_laplace = distribution == "laplace"
    parts = _parts(moves, is_laplace)
    deviations: dict[tuple[bool, Fraction], float] = {}

    def noise_of(i: int, most: int) -> IntegerNoise:
        norm = moves.norm if i >= moves.counts else None
        sensitivity = Sensitivity.of_one(most) if norm is None else norm
        return integer_noise(loss, sensitivity.divided(parts[i]), distribution)

    def deviation(i: int) -> float:
        """Return the standard deviation of the noise of a sum, in units of the size of the sum."""
        key = i < moves.counts, parts[i]
        if key not in deviations:
            unit = _LARGE if moves.norm is None or i < moves.counts else moves.sizes[i]
            deviations[key] = noise_of(i, unit).deviation / unit
        return deviations[key]

    squares = {i: deviation(i) ** 2 for i in moves.moving}

    def noise() -> BoxNoise:
        noises = tuple(noise_of(i, most) if most else None for i, most in enumerate(moves.sizes))
        spent = Pure(size) if is_laplace and not isinstance(loss, ZCDP) else of_gaussian(loss)
        mean = math.fsum(squares.values()) / len(squares)
        return BoxNoise(distribution, moves.sizes, spent, math.sqrt(mean), noises)

    error = math.sqrt(math.fsum(moves.weight(i) * square for i, square in squares.items()))
    return NoiseCandidate(error, noise)


def _parts(moves: Moves, is_laplace: bool) -> dict[int, Fraction]:
    """Return the part of the loss for each sum that can differ between neighbors, by index.

    The ratio of the numbers of rows together to the other sums together is rounded to a whole
    number. The ratios among the other sums are rounded to 10 bits.
    """
    power, norm = (1 / 3, moves.norm) if is_laplace else (1 / 2, moves.norm)
    heads = [i for i in moves.moving if i < moves.counts]
    others = [i for i in moves.moving if i >= moves.counts]

    def roots(indices: Sequence[int]) -> list[int]:
        most = max((moves.weight(i) for i in indices), default=0.0)
        if not most or norm is not None:
            return [1 << 10] * len(indices)
        return [max(1, round(1024 * (moves.weight(i) / most) ** power)) for i in indices]

    if norm is None:
        of_rest = math.fsum(moves.weight(i) ** power for i in others)
    else:
        length = float(norm.l1) ** 2 if is_laplace else float(norm.l2_squared)
        of_rest = (math.fsum(moves.weight(i) for i in others) * length / norm.largest**2) ** power
    of_heads = math.fsum(moves.weight(i) ** power for i in heads)
    of_head, of_others = _ratio(of_heads, of_rest) if heads and others else (1, 1)
    whole = (of_head if heads else 0) + (of_others if others else 0)
    parts: dict[int, Fraction] = {}
    for indices, share in ((heads, of_head), (others, of_others)):
        weights = roots(indices)
        for i, root in zip(indices, weights, strict=True):
            together = norm is not None and i >= moves.counts
            parts[i] = Fraction(share, whole) * (1 if together else Fraction(root, sum(weights)))
    return parts


def _ratio(a: float, b: float) -> tuple[int, int]:
    """Return two whole numbers, one of them 1, in nearly the ratio of two given numbers."""
    if a <= b:
        return 1, max(1, min(_MOST, round(b / a))) if a else _MOST
    return max(1, min(_MOST, round(a / b))) if b else _MOST, 1


def _staircase(loss: Loss, size: Fraction, moves: Moves) -> Iterator[NoiseCandidate]:
    sizes = [moves.sizes[i] for i in moves.moving]
    others = sum(1 for most in sizes if most > 1)
    k, total, groups = len(sizes), moves.total, moves.groups or Groups(1, 1)
    of_move, draws = size / groups.moves, groups.draws
    spent = Pure(size) if draws == 1 else Draws(size, draws=draws)
    if moves.norm is not None or isinstance(loss, ZCDP) or not (1 < k <= 2 * of_move and others):
        return
    share = None
    if len({moves.weight(i) for i in moves.moving}) > 1:
        of_counts = math.fsum(moves.weight(i) for i in moves.moving if moves.sizes[i] == 1)
        share = round(of_counts / total, 6)
    part, deviation = best_cores(float_down(of_move), k - others, others, share)

    def noise() -> BoxNoise:
        staircase = JointStaircase.of(of_move, sizes, part)
        return BoxNoise("stairs", moves.sizes, spent, deviation, (), of_move, staircase)

    yield NoiseCandidate(deviation * math.sqrt(total), noise)


def _shared(loss: Loss, size: Fraction, moves: Moves) -> Iterator[NoiseCandidate]:
    groups = moves.groups
    if groups is None or groups.every < 2 or groups.moves < 2 or not 0 < moves.sizes[0] <= _WIDE:
        return
    most = moves.sizes[0]
    if moves.norm is not None and moves.norm.largest > most:
        return  # the sums of a group can change by more than this size if the norm is larger
    for shift in (Fraction(1, 2), Fraction(1, 4)):
        of_units = centered_groups(groups.every, groups.moves, most, shift)
        parts = min(_divided(loss, size, of_units), key=lambda candidate: candidate.error)
        noise = SharedNoise(parts.noise(), shift.numerator * most, shift.denominator)
        if noise.deviation < _WIDE and not any(z.shift for z in noise.parts.independent if z):
            error = noise.deviation * math.sqrt(moves.total) / most
            yield NoiseCandidate(error, lambda noise=noise: noise)  # type: ignore[misc]


def _head_and_others(loss: Loss, size: Fraction, moves: Moves) -> Iterator[NoiseCandidate]:
    others, c = moves.others, moves.weights[0] if moves.weights else 1.0
    m = len(others.moving)
    if isinstance(loss, ZCDP) or moves.norm is not None or moves.counts != 1 or m < 2:
        return
    if not moves.sizes[0] or not c or not others.total:
        return
    of_head = (2 * c) ** (1 / 3)
    of_rest = ((m + 1) * (m + 2) / 3 * others.total) ** (1 / 3)
    a, b = _ratio(of_head, of_rest)
    first, left = size * Fraction(a, a + b), size * Fraction(b, a + b)
    if min(first, left) < LEAST["epsilon"]:
        return
    head = integer_noise(Pure(first), Sensitivity.of_one(moves.sizes[0]))
    noise_of_others = least_noise(Pure(left), others)
    assert noise_of_others is not None, "each loss has noise for sums of one row"

    def noise() -> BoxNoise:
        joint: BoxNoise = noise_of_others.noise()
        parameters = joint.distribution, moves.sizes, Pure(size), joint.deviation
        return BoxNoise(*parameters, (head, *joint.independent), joint.epsilon, joint.staircase)

    yield NoiseCandidate(
        math.hypot(math.sqrt(c) * head.deviation / moves.sizes[0], noise_of_others.error), noise
    )


#: The noise families of dpfast.
FAMILIES: tuple[Listed, ...] = (
    (_alike, 1.0, True),
    (_box_noise, 1.0, False),
    (_ellipsoid, 1.0, False),
    (_divided, 1.0, False),
    (_staircase, WORTH, True),
    (_head_and_others, WORTH, False),
    (_shared, WORTH, True),
)
#: The noise families that other packages have added with `noise_families`.
OF_USERS: list[Listed] = []
