"""Private keys by noise and a threshold: a key is shown if its people with noise are enough.

A person has at most L keys, each of which one person more or less moves by 1. For (epsilon, delta)
in all, Laplace noise has the scale L / epsilon, and Gaussian noise serves (epsilon, delta / 2) for
an L2 sensitivity of sqrt(L). The keys that nobody else has are shown with a probability of at most
delta, or delta / 2: each with at most d, 1 - (1 - d)^L = delta. So the threshold T is the least
with P(1 + noise >= T) <= d. What is shown of the other keys is post-processing of the noise.

With a public number p of people below which no key is shown, n people count as n - (p - 1): a key
that one person takes to p or away from it is then one that nobody else has.

Weights are taken as well as numbers of people, if a person's are at most 1 and at most 1 in L2.

The rules of `key_selection` show more keys for the same loss. These are for programs that ask for
the noisy numbers too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from .._core import checks
from .._core.error_bars import normal
from ..noise.added import Added, gaussian, laplace
from ..privacy import Approx, float_down
from ..rng import Generator
from .key_selection import part_of


@dataclass(frozen=True)
class Threshold:
    """Whether a key is shown, and its number of people with noise.

    Parameters
    ----------
    noise : Added
    least : float
        T, which `finish` compares with a number of people less `below`.
    below : int
        p - 1.
    loss : Approx
    """

    noise: Added
    least: float
    below: int
    loss: Approx

    name: ClassVar[str] = "keys by threshold"
    neighbors: ClassVar[str] = "add-remove"

    @property
    def threshold(self) -> float:
        """What a noisy number of people must reach."""
        return self.least + self.below

    def reduce(self, source: float) -> float:
        """Return the number of people that count."""
        return float(self.noise.reduce(source)) - self.below

    def finish(self, summary: float, generator: Generator) -> float | None:
        """Return the number with noise if the key is shown, else None."""
        if not summary > 0:
            return None
        found = self.noise.finish(self.noise.reduce(summary), generator)
        return None if found < self.least else found + self.below


@lru_cache(maxsize=64)
def threshold(
    law: str, epsilon: float, delta: float, max_groups: int, before: int | None = None
) -> Threshold:
    """Return the rule with Laplace or Gaussian noise.

    Parameters
    ----------
    law : {"laplace", "gaussian"}
    epsilon, delta : float
        Of all keys together.
    max_groups : int
        How many keys a person may have.
    before : int, optional
        The number of people below which no key is shown.
    """
    below = 0 if before is None else checks.whole("before", before, 1) - 1
    loss = Approx(epsilon, delta)
    if law == "laplace":
        noise, share = laplace(float(max_groups), epsilon), loss.delta
    else:
        root = math.nextafter(math.sqrt(max_groups), math.inf)
        noise, share = gaussian(root, epsilon, delta / 2), Fraction(delta) / 2
    failure = float_down(part_of(share, max_groups))
    if failure < 1e-300:
        checks.fail("delta", "at least 1e-300 for each key of a person", delta)
    # One grid covers the rounding of the noise; the factor, that of the logarithm or the quantile.
    far = noise.scale * quantile(law, failure)
    return Threshold(noise, 1.0 + far + abs(far) * 2.0**-40 + 2 * noise.grid, below, loss)


def quantile(law: str, failure: float) -> Any:
    """Return what standard noise exceeds with a probability."""
    if law == "laplace":
        return -math.log(2 * failure) if failure <= 0.5 else math.log(2 * (1 - failure))
    return normal(2 * failure)
