"""The sparse vector technique on integers: which values of a stream are above their thresholds.

Let every value move by at most D between neighbours, and let `c` be how many may be found above.

*One threshold noise for all* (Lyu, Su and Li, VLDB 2017, algorithm 7). A value q with threshold T
is found above if ``q + nu >= T + rho``; rho has scale D / e1 and is drawn once, nu has scale
2 c D / e2 and is drawn for each value; after c positives it is over. That is (e1 + e2)-DP. For the
answers below cost nothing together: move rho by D, which costs e1, and every value that was below
on one dataset is below on its neighbour. Each positive costs e2 / c then, since q - rho moves by at
most 2 D. Where all values move in the same direction (monotone), it moves by D, and nu may have
half that scale. The argument needs no more of a law than that a shift by D costs e1 (and by 2 D
costs e2 / c), which discrete Laplace noise has on integers, exactly.

*A threshold noise for each positive.* That is c times the above with c = 1, each with a budget e0
of its own: in pure privacy it costs c e0 and is never better, but in zCDP c e0 tanh(e0 / 2), and
then it is better by about sqrt(c).

(In zCDP either is charged as any pure loss, for lack of a proof of less. One positive after up to
500 values of the worst of some thousand patterns uses .12 of that charge at an epsilon of .1 to 1,
.15 at 2 and .38 at 5, by enumeration of all answers.)

The shares e1 : e2 are 1 : (m c)^(2/3), m = 2 or 1 if monotone, and c = 1 in the second form: they
make the variance of nu - rho the least (same source, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.rng import BitStream
from ..noise.additive import amount
from ..noise.distributions.discrete import laplace_integers
from ..privacy import ZCDP, Approx, Loss, Pure, pure_within
from ..rng import Generator

#: The largest scale that the sampler of integers takes.
MOST_SCALE = 1 << 40
#: Values and thresholds are clipped to this: no sum with noise leaves 64 bits, and differences
#: between neighbours do not grow.
FAR = 1 << 60
#: Values that are handled together.
STRETCH = 1 << 14


@dataclass(frozen=True, slots=True)
class Scales:
    """How much noise, for how many positives.

    `threshold` and `query` are the scales of rho and nu; `each` is what a new rho is drawn for:
    each positive, or all of them.
    """

    threshold: Fraction
    query: Fraction
    positives: int
    each: bool

    @property
    def variance(self) -> float:
        """About that of nu - rho."""
        return 2.0 * (float(self.threshold) ** 2 + float(self.query) ** 2)


def balance(positives: int, monotone: bool) -> Fraction:
    """The share of the threshold: 1 / (1 + (m c)^(2/3)), to float64."""
    reach = float((1 if monotone else 2) * positives)
    return Fraction(1.0 / (1.0 + reach ** (2.0 / 3.0)))


def fixed(
    epsilon: Fraction, sensitivity: int, positives: int, monotone: bool, share: Fraction
) -> Scales:
    """One threshold noise for all; `share` of epsilon goes to it."""
    own = epsilon * share
    reach = (1 if monotone else 2) * positives * sensitivity
    return Scales(sensitivity / own, reach / (epsilon - own), positives, False)


def refreshed(each: Fraction, sensitivity: int, positives: int, monotone: bool) -> Scales:
    """A threshold noise for each positive, each of which costs `each`."""
    one = fixed(each, sensitivity, 1, monotone, balance(1, monotone))
    return Scales(one.threshold, one.query, positives, True)


@lru_cache(maxsize=256)
def _within(loss: Approx) -> Fraction:
    return ZCDP.within(loss.epsilon, loss.delta).rho


@lru_cache(maxsize=1024)
def divided(
    loss: Loss, sensitivity: int, positives: int, monotone: bool, answers: Fraction
) -> tuple[Scales, Loss, Loss | None]:
    """The better form for a loss, a choice among public numbers.

    `answers` is the share that is kept for numbers beside the positives.

    Returns
    -------
    scales : Scales
    spent : Loss
        Of all together.
    each : Loss or None
        For the number beside one positive.
    """
    size = amount(loss)
    found: list[tuple[Scales, Loss, Loss]] = []

    def in_pure(epsilon: Fraction, spent: Loss) -> None:
        share = balance(positives, monotone)
        scales = fixed(epsilon * (1 - answers), sensitivity, positives, monotone, share)
        found.append((scales, spent, Pure(epsilon)))

    def in_rho(rho: Fraction, spent: Loss) -> None:
        each = pure_within(rho * (1 - answers) / positives)
        found.append((refreshed(each, sensitivity, positives, monotone), spent, ZCDP(rho)))

    if isinstance(loss, ZCDP):
        in_pure(pure_within(size), loss)
        in_rho(size, loss)
    else:
        in_pure(size, Pure(size))
        if isinstance(loss, Approx):
            in_rho(_within(loss), loss)
    found = [one for one in found if max(one[0].threshold, one[0].query) <= MOST_SCALE]
    if not found:
        rule = "small enough beside the loss that no noise has a scale above 2**40 units"
        checks.fail("sensitivity", rule, sensitivity)
    scales, spent, whole = min(found, key=lambda one: one[0].variance)
    if not answers:
        return scales, spent, None
    part = answers / positives
    return scales, spent, (
        ZCDP(whole.rho * part) if isinstance(whole, ZCDP) else Pure(whole.epsilon * part)
    )  # fmt: skip


class Gate:
    """The state: a secret threshold noise, and how many positives are left."""

    def __init__(self, scales: Scales, generator: Generator) -> None:
        self.scales = scales
        self.left = scales.positives
        self.rho = self._fresh(generator.stream())

    @property
    def state(self) -> tuple[int, int]:
        """How many positives are left, and the threshold noise, which is secret."""
        return self.left, self.rho

    @state.setter
    def state(self, state: tuple[int, int]) -> None:
        self.left, self.rho = state

    def _fresh(self, stream: BitStream) -> int:
        return int(_noise(1, self.scales.threshold, stream)[0])

    def ask(
        self, values: NDArray[np.int64], thresholds: NDArray[np.int64], generator: Generator
    ) -> NDArray[np.bool_]:
        """Whether each value is above, in order: up to the last positive that is left, if it comes.

        Values and thresholds are at most `FAR` in size; one threshold may serve for all.
        """
        stream = generator.stream()
        out = np.zeros(len(values), np.bool_)
        for at in range(0, len(values), STRETCH):
            part = values[at : at + STRETCH]
            margin = _noise(len(part), self.scales.query, stream)
            margin += part
            margin -= thresholds if len(thresholds) == 1 else thresholds[at : at + STRETCH]
            last = self._mark(margin, out[at : at + STRETCH], stream)
            if not self.left:
                return out[: at + last + 1]
        return out

    def _mark(self, margin: NDArray[np.int64], above: NDArray[np.bool_], stream: BitStream) -> int:
        """Marks what is above; the index of the last positive."""
        if not self.scales.each:
            found = np.flatnonzero(margin >= self.rho)[: self.left]
            self.left -= len(found)
            above[found] = True
            return int(found[-1]) if len(found) else -1
        last = -1
        while self.left:
            at = _first(margin, self.rho, last + 1)
            if at < 0:
                break
            self.left -= 1
            above[at] = True
            self.rho = self._fresh(stream)
            last = at
        return last


def _first(margin: NDArray[np.int64], bar: int, start: int) -> int:
    """The first index from `start` on with a margin of at least `bar`, or -1."""
    width = 64
    while start < len(margin):
        reached = margin[start : start + width] >= bar
        at = int(reached.argmax())
        if reached[at]:
            return start + at
        start, width = start + width, 2 * width
    return -1


def _noise(size: int, scale: Fraction, stream: BitStream) -> NDArray[np.int64]:
    out = np.empty(size, np.int64)
    laplace_integers(out, scale, stream, None, stream.word)
    return out
