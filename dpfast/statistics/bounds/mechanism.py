"""Private bounds of a column: one draw of the exponential mechanism over pairs of public numbers.

    OuterBounds(share, neighbors, nan, loss)

*What is drawn.* For a public number o let A(o) be how many rows lie above it and B(o) how many lie
below (`tails.beyond`), n the rows that are numbers, and

    T = max(min(2 / c, n / 2), share n),      share <= 1/4,

the rows that may lie beyond either bound: so few that noise for a bound further out would do more
harm than clipping them does, whatever n is (Amin, Kulesza, Munoz and Vassilvitskii, ICML 2019, find
of the order of 1 / c rows, too). A pair ``lo < hi`` is drawn with probability proportional to

    w(hi) w(-lo) exp(-c (|A(hi) - T| + |B(lo) - T|) / 2).

The prior w is public: it falls by a factor of e^2 an octave beyond 2^-8, so that a bound that is
far too wide, which none of the rows speaks against, is as rare as it is harmful.

*Loss.* Let a row v come. It is above hi, or below lo, or neither, but never both: that is what
``lo < hi`` is for. And T grows by some t, at most 1/2 and the same for all pairs. So the exponent,
but for c / 2, changes by one of

    |A + 1 - T - t| - |A - T| + |B - T - t| - |B - T|     (v above hi, or the mirror image of it),
    |A - T - t| - |A - T| + |B - T - t| - |B - T|         (v between them).

The first lies between -(1 - t) - t and (1 - t) + t, the second between -2 t and 2 t, so either
between -1 and 1, and all changes lie in an interval of length c. A draw is c-DP then (McSherry and
Talwar, FOCS 2007), and of bounded range c, at less than c^2 / 8 in zCDP (Cesar and Rogers, ALT
2021; exactly: `privacy.Draws`). Two draws, one for each bound, would cost twice that. A row that is
replaced goes and another one comes: 2 c under "replace", where c is half as large. The same covers
rows that enter or leave by a mask.

*Draw.* Both bounds are drawn alone, exactly (`noise.choice`), until lo < hi: what is kept has the
law of the pair. It takes some hundred tries at most where there are hardly any rows, and mostly
one. Then the pair is widened by a sixteenth of its distance to either side, but not across 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks, nan_policy
from ..._core.error_bars import Expected, unknown
from ...noise.choice import Stream, Weights
from ...privacy import ZCDP, Draws, Loss, Pure, float_down, range_within
from ...rng import Generator
from ...sources import Source
from .tails import LEAST, MISSING, NUMBERS, PER_OCTAVE, Counts, beyond, counts, rows, with_missing

#: Rows beyond a bound, in units of 1 / c; the largest share of the rows.
ROWS, MOST_SHARE = 2, Fraction(1, 4)
#: What is charged for a step of a sixteenth of an octave: a little up to 2**-8, and then more; and
#: on the other side of 0, from 2**24 on.
GENTLE, STEEP, NEAR, FAR = 1 / 64, 1 / 8, -8, 24
#: By how much a pair is widened to either side.
WIDER = 1 / 16
#: A larger rate would only be spent on ties; a smaller one float64 could not hold beside ranks.
RATES = 2.0**-900, 2.0**20
#: Pairs that are drawn at a time.
BATCH = 32


def _prior() -> NDArray[np.float64]:
    """Return minus the logarithm of w, for each public number: multiples of 1/64, exactly."""
    size = len(NUMBERS) // 2
    step = np.arange(1, size + 1, dtype=np.float64)
    gentle, flat = ((e - LEAST) * PER_OCTAVE for e in (NEAR, FAR))
    outwards = np.minimum(step, gentle) * GENTLE + np.maximum(step - gentle, 0) * STEEP
    inwards = np.maximum(step - flat, 0) * STEEP
    return np.concatenate([inwards[::-1], [0.0], outwards])


PRIOR = _prior()


class Side:
    """The draw of one bound: `tail` says how many rows lie beyond each public number."""

    def __init__(
        self, tail: Counts, prior: NDArray[np.float64], target: Fraction, c: float
    ) -> None:
        far = np.abs(tail - float(target)) * (c / 2)
        distance = far + prior
        slack = 2.0**-48 * (1 + float(distance.max()))
        best = float(distance.min()) - slack
        self.tail, self.prior, self.target = tail, prior, target
        self.half, self.best = Fraction(c) / 2, Fraction(best)
        self.weights = Weights(np.maximum(distance - best, 0.0), 1.0, None, 2 * slack)

    def exact(self, i: int) -> Fraction:
        """Return how far a number is from the best, more or less: the same for all of them."""
        ranks = abs(int(self.tail[i]) - self.target)
        return self.half * ranks + Fraction(float(self.prior[i])) - self.best

    def draw(self, size: int, stream: Stream) -> NDArray[np.int64]:
        """Return the numbers of some independent draws."""
        return self.weights.draw(size, self.exact, stream)


def target(n: int, share: Fraction, c: float) -> Fraction:
    """Return T, how many rows may lie beyond a bound."""
    return max(min(ROWS / Fraction(c), Fraction(n, 2)), share * n)


def draw(
    summary: Counts, share: Fraction, c: float, stream: Stream, size: int | None = None
) -> NDArray[np.int64]:
    """Return the places of a lower and an upper bound among the public numbers.

    With `size`, so many independent pairs.
    """
    allowed = target(rows(summary), share, c)
    upper = Side(beyond(summary, above=True), PRIOR, allowed, c)
    lower = Side(beyond(summary, above=False), PRIOR[::-1], allowed, c)
    found, wanted = np.empty((0, 2), np.int64), 1 if size is None else size
    while len(found) < wanted:
        pairs = np.stack([side.draw(max(BATCH, wanted), stream) for side in (lower, upper)], 1)
        found = np.concatenate([found, pairs[pairs[:, 0] < pairs[:, 1]]])
    return found[0] if size is None else found[:size]


def widened(lo: float, hi: float) -> tuple[float, float]:
    """Return bounds that are a little further apart, on the same side of 0."""
    more = (hi - lo) * WIDER
    low = lo - more if lo < 0 else max(lo - more, 0.0)
    high = hi + more if hi > 0 else min(hi + more, 0.0)
    return low, high


@dataclass(frozen=True, slots=True)
class OuterBounds:
    """Bounds that hold all but a few rows of a column; see `dpfast.bounds`."""

    share: Fraction
    neighbors: str
    nan: str | float
    loss: Loss

    name: ClassVar[str] = "bounds"

    def __post_init__(self) -> None:
        if isinstance(self.loss, Pure):
            draws = Draws(self.loss.epsilon, 1, bounded_range=True)
            object.__setattr__(self, "loss", draws)
        if self.rate < RATES[0]:
            name = "rho" if isinstance(self.loss, ZCDP) else "epsilon"
            checks.fail(name, "larger: float64 cannot hold it beside ranks", self.loss)

    @property
    def rate(self) -> float:
        """Return c, rounded down."""
        loss = self.loss
        whole = range_within(loss.rho) if isinstance(loss, ZCDP) else loss.epsilon
        steps = 2 if self.neighbors == "replace" else 1
        return min(float_down(whole / steps), RATES[1])

    def reduce(self, source: Source) -> Counts:
        found: Counts = counts(source, None, 1)[0]
        return found

    def finish(self, summary: Counts, generator: Generator) -> tuple[float, float]:
        nan_policy.refuse(self.nan, int(summary[MISSING]))
        if not isinstance(self.nan, str):
            summary = with_missing(summary, self.nan)
        pair = NUMBERS[draw(summary, self.share, self.rate, generator.stream())]
        return widened(*pair.tolist())

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return no error bar: what a bound is off by depends on where the rows are."""
        return unknown(confidence, "no bound of public numbers is known")
