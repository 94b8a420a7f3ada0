"""The sparse vector technique on integers: which values of a stream exceed their thresholds.

Let D be the sensitivity of every value, and c the number of positives that may be found.

*One threshold noise for all* (Lyu, Su and Li, VLDB 2017, algorithm 7). A value q with threshold T
is found above if ``q + nu >= T + rho``. Here rho has scale D / e1 and is drawn once, and nu has
scale 2 c D / e2 and is drawn for each value. After c positives the stream is over. This is (e1 +
e2)-DP:

* All negative answers together cost e1. If rho is shifted by D, which costs e1, every value that
  was below on one dataset is below on its neighbor.
* Each positive then costs e2 / c, because q - rho changes by at most 2 D.
* If all values change in the same direction (monotone), q - rho changes by at most D, and nu may
  have half that scale.

The argument only needs a distribution for which a shift by D costs e1 (and a shift by 2 D costs e2
/ c). Discrete Laplace noise on integers has this property exactly.

*A threshold noise for each positive.* This is c times the above with c = 1, each time for a loss
e0. In pure privacy it costs c e0 and is never better. In zCDP it costs c e0 tanh(e0 / 2), and needs
less noise by a factor of about sqrt(c).

(In zCDP either form is charged like any pure loss, because no proof of less is known. For one
positive after up to 500 values, all answers were enumerated for some thousand patterns of values.
The worst pattern uses .12 of the charge at an epsilon of .1 to 1, .15 at 2 and .38 at 5.)

The shares e1 : e2 are 1 : (m c)^(2/3), where m is 1 if monotone and 2 if not, and c is 1 in the
second form. They minimize the variance of nu - rho (same source, section 4).
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

#: The largest scale that the sampler of integers supports.
MOST_SCALE = 1 << 40
#: Values and thresholds are clamped to this absolute value. Then sums with noise fit in 64 bits.
#: Clamping does not raise the sensitivity.
MOST_CELLS = 1 << 60
#: Values that are processed together.
STRETCH = 1 << 14


@dataclass(frozen=True, slots=True)
class Scales:
    """The noise scales of the sparse vector technique, and the number of positives.

    `threshold` and `query` are the scales of rho and nu. `renewed` says whether a new rho is drawn
    after each positive.
    """

    threshold: Fraction
    query: Fraction
    positives: int
    renewed: bool

    @property
    def variance(self) -> float:
        """The variance of query noise minus threshold noise, approximately."""
        return 2.0 * (float(self.threshold) ** 2 + float(self.query) ** 2)


def threshold_share(positives: int, monotone: bool) -> Fraction:
    """Return the share of the loss for the threshold's noise: 1 / (1 + (m c)^(2/3))."""
    reach = float((1 if monotone else 2) * positives)
    return Fraction(1.0 / (1.0 + reach ** (2.0 / 3.0)))


def scales_within(
    epsilon: Fraction, sensitivity: int, positives: int, monotone: bool, renewed: bool
) -> Scales:
    """Return the noise scales for a loss epsilon: of each positive if `renewed`, else of all."""
    together = 1 if renewed else positives
    threshold = epsilon * threshold_share(together, monotone)
    reach = (1 if monotone else 2) * together * sensitivity
    return Scales(sensitivity / threshold, reach / (epsilon - threshold), positives, renewed)


_approx_of_zcdp = lru_cache(maxsize=256)(Approx.of_zcdp)


@lru_cache(maxsize=1024)
def allocate(
    loss: Loss, sensitivity: int, positives: int, monotone: bool, answers: Fraction
) -> tuple[Scales, Loss, Loss | None]:
    """Choose the variant of the technique with less noise for a loss, from public numbers.

    `answers` is the share of the loss that pays for the numbers returned with positives.

    Returns
    -------
    scales : Scales
    spent : Loss
        The loss of all answers together.
    of_answer : Loss or None
        The loss of the number that is returned with one positive.
    """
    size = amount(loss)
    shape = sensitivity, positives, monotone
    candidates: list[tuple[Scales, Loss, Loss]] = []

    def one_for_all(epsilon: Fraction, spent: Loss) -> None:
        scales = scales_within(epsilon * (1 - answers), *shape, renewed=False)
        candidates.append((scales, spent, Pure(epsilon)))

    def one_for_each(rho: Fraction, spent: Loss) -> None:
        epsilon = pure_within(rho * (1 - answers) / positives)
        candidates.append((scales_within(epsilon, *shape, renewed=True), spent, ZCDP(rho)))

    if isinstance(loss, ZCDP):
        one_for_all(pure_within(size), loss)
        one_for_each(size, loss)
    else:
        one_for_all(size, Pure(size))
        if isinstance(loss, Approx):
            loss = _approx_of_zcdp(loss)
            one_for_each(loss.rho, loss)
    candidates = [c for c in candidates if max(c[0].threshold, c[0].query) <= MOST_SCALE]
    if not candidates:
        rule = "smaller, or the loss larger, so that no noise scale is above 2**40 units"
        checks.fail("sensitivity", rule, sensitivity)
    scales, spent, whole = min(candidates, key=lambda c: c[0].variance)
    if not answers:
        return scales, spent, None
    part = answers / positives
    of_answer = ZCDP(whole.rho * part) if isinstance(whole, ZCDP) else Pure(whole.epsilon * part)
    return scales, spent, of_answer


class NoisyComparison:
    """A noisy comparison of values with thresholds: secret noise, and the positives left."""

    def __init__(self, scales: Scales, generator: Generator) -> None:
        self.scales, self.left = scales, scales.positives
        self.rho = self._fresh(generator.stream())

    def _fresh(self, stream: BitStream) -> int:
        return int(_noise(1, self.scales.threshold, stream)[0])

    def ask(
        self, values: NDArray[np.int64], thresholds: NDArray[np.int64], generator: Generator
    ) -> NDArray[np.bool_]:
        """Return in order which values exceed their thresholds, up to the last positive.

        Values and thresholds are at most `MOST_CELLS` in absolute value. A single threshold is for
        all values.
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
        """Mark values above their thresholds, and return the index of the last positive, or -1."""
        if not self.scales.renewed:
            positives = np.flatnonzero(margin >= self.rho)[: self.left]
            self.left -= len(positives)
            above[positives] = True
            return int(positives[-1]) if len(positives) else -1
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
    """Return the first index from `start` on with a margin of at least `bar`, or -1."""
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
