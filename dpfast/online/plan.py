"""How the loss of a stream of linear queries is divided, and what accuracy follows: public numbers.

A stream has `hard` answers with noise and a gate that decides which queries get one. Let G bound
``abs(rho - nu)`` of the gate for all queries together, and H the noise of all hard answers, each
but for a third of the probability `failure`. With the threshold ``T = accuracy - G``:

* an easy answer is off by less than T + G = accuracy;
* a hard one by at most H, which has to be at most the accuracy;
* a query is hard only if its easy answer would be off by more than T - G, which must be at least 0.

So accuracies down to max(2 G, H) can be kept. If moreover T - G is at least H, every hard answer is
on the side of the data. Privacy does not depend on any of this.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from .._core import checks
from ..errors import ArgumentError
from ..noise.additive import amount
from ..noise.integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss
from .gate import Scales, divided

#: Shares of the loss for the hard answers, of which the best is taken.
SHARES = [Fraction(i, 16) for i in range(1, 16)]
LEAST_BITS, MOST_BITS = 4, 24


@dataclass(frozen=True, slots=True)
class Plan:
    """Noise in units of ``2**-bits`` rows, and its bounds as fractions of the rows."""

    bits: int
    scales: Scales
    noise: IntegerNoise
    spent: Loss
    gate: float
    answer: float

    def threshold(self, accuracy: float, rows: int) -> int:
        """T, in units."""
        return math.ceil((accuracy - self.gate) * (rows << self.bits))

    @property
    def least(self) -> float:
        """The least accuracy that can be kept."""
        return max(2 * self.gate, self.answer)


@lru_cache(maxsize=256)
def plan(
    loss: Loss,
    rows: int,
    hard: int,
    queries: int,
    failure: float,
    bits: int,
    doubt: Doubt | None = None,
) -> Plan:
    """The division with which the least accuracy can be kept.

    `bits` is how fine queries may be rounded; they are rounded more where noise would be too large
    for the samplers. `doubt` is what the gate compares, if it is not the distance in rows.
    """
    amount(loss)
    bits = min(bits, MOST_BITS, 52 - rows.bit_length())  # sums are exact in float64
    while True:
        try:
            found = [_divided(loss, rows, hard, queries, failure, bits, s, doubt) for s in SHARES]
            if doubt is not None:
                return min(found, key=lambda one: one.gate * doubt.weight + one.answer)
            return min(found, key=lambda one: 2 * one.gate + one.answer)
        except ArgumentError:
            if bits <= LEAST_BITS:
                rule = f"larger for {hard} hard answers"
                checks.fail("epsilon or rho", rule, float(amount(loss)))
            bits -= 1


class Doubt(NamedTuple):
    """What a gate compares with its threshold: an integer, `one` of which is 1.

    `weight` is how much of a fraction of the rows one is worth, for the division of the loss.
    """

    sensitivity: int
    one: float
    weight: float


def _divided(
    loss: Loss,
    rows: int,
    hard: int,
    queries: int,
    failure: float,
    bits: int,
    share: Fraction,
    doubt: Doubt | None,
) -> Plan:
    unit = 1 << bits
    moves, one = (unit, float(rows << bits)) if doubt is None else (doubt.sensitivity, doubt.one)
    scales, spent, each = divided(loss, moves, hard, False, share)
    assert each is not None
    noise = integer_noise(each, Sensitivity.of_one(unit))
    rare = math.log(3) - math.log(failure)  # of one draw, for a third of the failures
    draws = hard if scales.each else 1
    gate = float(scales.threshold) * (math.log(draws) + rare)
    gate += float(scales.query) * (math.log(queries) + rare)
    width = math.ldexp(float(noise.scale), noise.shift)
    if noise.distribution == "laplace":
        answer = width * (math.log(hard) + rare)
    else:  # P(|Z| > t) <= 2 exp(-t^2 / (2 sigma^2)) for a discrete Gaussian
        answer = width * math.sqrt(2 * (math.log(2 * hard) + rare))
    whole = float(rows << bits)
    return Plan(bits, scales, noise, spent, gate / one, answer / whole)
