"""Private bounds of a column: one draw of the exponential mechanism over pairs of public numbers.

    DrawnBounds(share, neighbors, nan, each)

*What is drawn.* For a public number o, let A(o) be the number of rows above it, and B(o) the number
of rows below it (`tails.beyond`). Let o- and o+ be the public numbers next to o. Let n be the
number of rows that are numbers, and q <= 1/4 the share of these rows that may lie beyond each
bound, by default 0. A pair ``lo < hi`` is drawn with probability proportional to

    w(hi) w(-lo) exp(-r (u(hi) + v(lo))),      r = c if q = 0, and otherwise c / 2,
    u(hi) = max(A(hi) - q n, q n - A(hi-), 0),      v(lo) = max(B(lo) - q n, q n - B(lo+), 0).

So u is 0 if the row of rank q n from above lies between hi- and hi; if q = 0, u is A(hi).

The prior w is public. Beyond 2^-4 it falls by a factor of e^2.5 in each octave. No row contradicts
a bound that is far too wide, so the prior has to make such bounds improbable. If q = 0, about 1 / c
rows lie beyond a bound, for any n. The noise for a wider bound would do more harm than clamping
these rows (Amin, Kulesza, Munoz and Vassilvitskii, ICML 2019).

*Loss, q = 0.* An added row raises A(hi) by 1 if it lies above hi, and B(lo) by 1 if it lies below
lo. It never does both, because lo < hi. So u + v changes by 0 to 1.

*Loss, q > 0.* Let a row be added. T = q n grows by q, for all pairs. There are three cases for u:

* The row is above hi. A(hi) and A(hi-) grow by 1, and u changes by -(1 - q) to 1 - q.
* The row is between hi- and hi. Only A(hi-) grows, and u changes by -(1 - q) to 0.
* The row is below hi-. Neither grows, and u changes by -q to q.

The cases for v are the same. If one of u and v is in the third case, u + v changes by -1 to 1.

As lo < hi, both can be in another case only if hi- is lo and the row lies between them. Then u and
v do not grow. Every row is above lo or below hi, so A(hi-) + B(lo+) >= n >= 2 T. Hence T - A(hi-)
and T - B(lo+) are not both above 0. So one of u and v falls by no more than A(hi) - T or B(lo) - T
does, which is q. So u + v changes by -1 to 0.

In all cases the exponents change by numbers of an interval of length c. So a draw is c-DP (McSherry
and Talwar, FOCS 2007). It has bounded range c, which costs less than c^2 / 8 in zCDP (Cesar and
Rogers, ALT 2021; exactly: `privacy.Draws`). Two draws, one for each bound, would cost twice that. A
replaced row is one that is removed and one that is added. That costs 2 c, so c is half as large
under "replace". This also covers rows that enter or leave by a mask.

*Draw.* Let a_i and b_j be the logarithms of the weights of the numbers as lower and as upper
bounds. Let G_j be a float64 above the logarithm of the sum of exp(a_i) over i < j, by about 3/4.

1. j is drawn with probability proportional to exp(b_j + G_j).
2. j is kept with probability sum / exp(G_j), where sum is the sum of exp(a_i) over i < j. This is
   about one half. In the same step i is drawn with probability proportional to exp(a_i): integers
   W_i above exp(a_i) propose i, one coin corrects for W_i, and another one for the sum of all W_i.

All of these steps are exact (`noise.choice`). So rounding in G determines how often a draw is
repeated, and nothing else.

Then the pair is widened on each side by an eighth of its distance, but not across 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from .._core.error_bars import ROWS_BEYOND
from ..budget.mechanism import Mechanism
from ..noise.additive import several
from ..noise.choice import Stream, Weights, decide
from ..privacy import ZCDP, Draws, Loss, float_down, range_within
from ..rng import Generator
from ..tables.intake import View
from .equal_parts import part
from .tails import LEAST, MISSING, NUMBERS, PER_OCTAVE, Counts, beyond, counts, rows, with_missing

Floats = NDArray[np.float64]

#: The largest q: the share of the rows that may lie beyond a bound.
MOST_SHARE = Fraction(1, 4)
#: How fast minus the logarithm of the prior grows, for each step of a sixteenth of an octave: by
#: GENTLE up to 2**NEAR, and by STEEP beyond. On the other side of 0 it is constant up to 2**LAST,
#: and grows by STEEP beyond.
GENTLE, STEEP, NEAR, LAST = 1 / 256, 5 / 32, -4, 24
#: The part of its width by which a pair is widened on each side.
WIDER = 1 / 8
#: The smallest and the largest rate in use. A larger one would only be spent on ties, and a smaller
#: one times a rank would leave float64.
RATES = 2.0**-900, 2.0**10
#: Added to the logarithm of a computed sum of weights, so that it is an upper bound.
LOOSE = 0.75


def _prior(gentle: float, steep: float, near: int) -> Floats:
    """Return minus the logarithm of the prior w of each public number, in exact 256ths."""
    step = np.arange(1, len(NUMBERS) // 2 + 1, dtype=np.float64)
    turn, flat = ((e - LEAST) * PER_OCTAVE for e in (near, LAST))
    outwards = np.minimum(step, turn) * gentle + np.maximum(step - turn, 0) * steep
    inwards = np.maximum(step - flat, 0) * STEEP
    return np.concatenate([inwards[::-1], [0.0], outwards])


#: The prior of `bounds`, and two priors that fewer rows outweigh (`statistics.describe`): for
#: numbers of any size, and for numbers of about 1 in size.
PRIOR = _prior(GENTLE, STEEP, NEAR)
PRIORS = {"": PRIOR, "any size": _prior(1 / 256, 1 / 8, 0), "about 1": _prior(1 / 256, 1 / 2, 0)}


class Side:
    """The weights of the public numbers as candidates for the lower or the upper bound.

    Parameters
    ----------
    outside, inside : int64 array
        The number of rows beyond each public number, and beyond the next public number inwards.
    prior : float64 array
    target : Fraction
    c : float
    """

    def __init__(
        self, outside: Counts, inside: Counts, prior: Floats, target: Fraction, c: float
    ) -> None:
        near = float(target)
        ranks = np.maximum(np.maximum(outside - near, near - inside), 0.0)
        #: Minus the logarithms of the weights, and a bound on their error.
        self.about = ranks * (c / 2) + prior
        self.slack = 2.0**-48 * (1 + float(self.about.max()) + c * near)
        self.outside, self.inside, self.prior, self.target = outside, inside, prior, target
        self.half = Fraction(c) / 2

    def exact(self, i: int) -> Fraction:
        """Return minus the logarithm of the weight of a public number, exactly."""
        outside, inside = int(self.outside[i]), int(self.inside[i])
        ranks = max(outside - self.target, self.target - inside, Fraction(0))
        return self.half * ranks + Fraction(float(self.prior[i]))


class Draw:
    """Exact draws of one of the first `stop` public numbers, in proportion to their weights.

    With `more`, the logarithm of each weight increases by `more`, and the first number is left out.
    """

    def __init__(self, side: Side, stop: int, more: Floats | None = None) -> None:
        about = side.about[:stop] if more is None else side.about[:stop] - more
        slack = side.slack + 2.0**-48 * float(np.abs(about).max())
        #: The zero point of distances, which are minus the logarithms of weights.
        self.best = float(about.min()) - slack
        self.distance = np.maximum(about - self.best, 0.0)
        if more is not None:
            self.distance[0] = -1.0  # the first number cannot be an upper bound: none lies below it
        self.side, self.more, self.slack = side, more, 2 * slack
        self.weights = Weights(self.distance, 1.0, None, self.slack)

    def exact(self, i: int) -> Fraction:
        """Return minus the logarithm of the weight of a public number, less `best`, exactly."""
        more = 0 if self.more is None else Fraction(float(self.more[i]))
        return self.side.exact(i) - more - Fraction(self.best)

    def draw(self, size: int, stream: Stream) -> NDArray[np.int64]:
        """Return the indices of `size` independent draws."""
        return self.weights.draw(size, self.exact, stream)

    def attempts(self, size: int, level: float, stream: Stream) -> NDArray[np.int64]:
        """Return the kept ones of `size` draws: each with probability sum(weights) / exp(level)."""
        proposed = self.weights.propose(size, stream)
        distance = self.distance[proposed]
        keep = self.weights.keep(
            proposed, distance, lambda k: self.exact(int(proposed[k])), stream, self.slack
        )
        total, shift = int(self.weights.bound.sum()), self.weights.shift
        over = Fraction(level) + Fraction(self.best)
        for k in np.flatnonzero(keep).tolist():
            keep[k] = decide(stream.word(), 1.0, over, stream, count=total, shift=-shift)
        return np.asarray(proposed[keep])


def sides(summary: Counts, share: Fraction, c: float, prior: Floats = PRIOR) -> tuple[Side, Side]:
    """Return the weights of the public numbers as lower and as upper bounds."""
    n = rows(summary)
    allowed, c = share * n, c if share else 2 * c
    above, below = beyond(summary, above=True), beyond(summary, above=False)
    upper = Side(above, np.append(n, above[:-1]), prior, allowed, c)
    lower = Side(below, np.append(below[1:], n), prior[::-1], allowed, c)
    return lower, upper


def draw(
    summary: Counts, share: Fraction, c: float, stream: Stream, size: int = 0, prior: Floats = PRIOR
) -> NDArray[np.int64]:
    """Draw a lower and an upper bound, and return their indices among the public numbers.

    With `size`, draw that many independent pairs.
    """
    lower, upper = sides(summary, share, c, prior)
    sums = np.logaddexp.accumulate(-lower.about) + (LOOSE + 8 * lower.slack)
    levels = np.append(0.0, sums[:-1])
    ends = Draw(upper, len(NUMBERS), levels)
    pairs, wanted = np.empty((0, 2), np.int64), size or 1
    while len(pairs) < wanted:
        uppers = ends.draw(wanted - len(pairs), stream)
        for j, times in zip(*np.unique(uppers, return_counts=True), strict=True):
            low = Draw(lower, int(j)).attempts(int(times), float(levels[j]), stream)
            pairs = np.concatenate([pairs, np.stack([low, np.full(len(low), j)], 1)])
    return pairs if size else pairs[0]


def widened(lo: float, hi: float) -> tuple[float, float]:
    """Return bounds that are a little further apart, on the same side of 0."""
    more = (hi - lo) * WIDER
    low = lo - more if lo < 0 else max(lo - more, 0.0)
    high = hi + more if hi > 0 else min(hi + more, 0.0)
    return low, high


#: A pair that contains every pair that can be drawn.
WIDEST = widened(float(NUMBERS[0]), float(NUMBERS[-1]))


@dataclass(frozen=True, slots=True)
class DrawnBounds(Mechanism[Any]):
    """Bounds that hold all but a few rows of a column, or of each of several; see `dpfast.bounds`.

    All columns are read at once, and each draw has an equal part of the loss.

    Parameters
    ----------
    share : Fraction
        The share of the rows that may lie beyond each bound.
    neighbors : {"add-remove", "replace"}
    nan : str or float
    loss_of_column : Draws or ZCDP
        The loss of a column.
    columns : int, optional
        The number of columns. By default the answer is a single pair, not an array of pairs.
    prior : {"", "any size", "about 1"}, default ""
        The distribution of the public numbers.
    """

    share: Fraction
    neighbors: str
    nan: str | float
    loss_of_column: Draws | ZCDP
    columns: int | None = None
    prior: str = ""
    _no_bar: ClassVar[str] = ROWS_BEYOND

    @property
    def loss(self) -> Loss:
        width = self.columns or 1
        if isinstance(self.loss_of_column, ZCDP):
            return ZCDP(self.loss_of_column.rho * width)
        return several(self.loss_of_column, width)

    @property
    def name(self) -> str:
        return "bounds of each column" if (self.columns or 1) > 1 else "bounds"

    @property
    def missing(self) -> str | float:
        return self.nan

    @property
    def noise_parameters(self) -> dict[str, Any]:
        return {"rate": self.rate}

    @property
    def rate(self) -> float:
        """The rate c of the exponential mechanism, rounded down."""
        loss = self.loss_of_column
        whole = range_within(loss.rho) if isinstance(loss, ZCDP) else loss.epsilon
        steps = 2 if self.neighbors == "replace" else 1
        return min(float_down(whole / steps), RATES[1])

    def reduce(self, source: View) -> Counts:
        return counts(source.source, source.where, self.columns or 1)

    def finish(self, summary: Counts, generator: Generator) -> Any:
        pairs = self.pairs(summary, generator)
        return pairs[0] if self.columns is None else np.array(pairs)

    def pairs(self, summary: Counts, generator: Generator) -> list[tuple[float, float]]:
        """Draw a lower and an upper bound for each column."""
        return [self._pair(column, generator) for column in summary]

    def _pair(self, summary: Counts, generator: Generator) -> tuple[float, float]:
        nan_policy.refuse(self.nan, int(summary[MISSING]))
        if not isinstance(self.nan, str):
            summary = with_missing(summary, self.nan)
        stream, prior = generator.stream(), PRIORS[self.prior]
        pair = NUMBERS[draw(summary, self.share, self.rate, stream, prior=prior)]
        return widened(*pair.tolist())


def drawn_bounds(
    loss: Loss,
    columns: int | None,
    neighbors: str,
    nan: str | float,
    share: Fraction = Fraction(0),
    prior: str = "",
) -> DrawnBounds:
    """Return the mechanism that draws bounds of one or several columns, for a total loss of `loss`.

    Raises
    ------
    ArgumentError
        If the loss is too small for so many columns.
    """
    of_column: Any = part(loss, Fraction(1, columns or 1))
    if not isinstance(of_column, ZCDP):
        of_column = Draws(of_column.epsilon, 1, bounded_range=True)
    bounds = DrawnBounds(share, neighbors, nan, of_column, columns, prior)
    if bounds.rate < RATES[0]:
        name = "rho" if isinstance(loss, ZCDP) else "epsilon"
        checks.fail(
            name, "larger: float64 cannot resolve ranks at one column's part of the loss", loss
        )
    return bounds
