"""How much of a loss so many answers can show.

The bounds of an audit are limits of two probabilities, so few answers show little of a loss that is
there. A mechanism that satisfies epsilon is post-processing of randomized response, which says the
truth with the probability e^epsilon / (1 + e^epsilon); one of k parts that satisfy epsilon / k each
is post-processing of k such responses (Kairouz, Oh and Viswanath, ICML 2015, theorem 3.3). So the
best event of k responses is the best for any mechanism of k parts. Many parts hide what all of them
spend: an answer in which each of them speaks for the same dataset is rare.
"""

from __future__ import annotations

import math
from functools import cache

from scipy import special

from dpfast.audit.binomial import at_least, at_most

#: An audit is wrong with this probability, which the limits of both probabilities of its events
#: share.
WRONG, EVENTS = 1e-6, 4
#: What an audit of a mechanism of epsilon 1 should show.
ENOUGH = 0.5
#: No event is as clear as the best one that there may be, so an audit may need so many times more.
MARGIN = 2
#: More answers than this are not worth their number.
MOST = 10**9


def tail(parts: int, p: float, least: int) -> float:
    """The probability of so many successes or more in as many trials as there are parts."""
    return float(special.betainc(least, parts - least + 1, p)) if least else 1.0


@cache
def shown(answers: int, parts: int = 1, pairs: int = 1, epsilon: float = 1.0) -> float:
    """The bound that so many answers show, if each event is as frequent as it is expected to be.

    Half of the answers of each pair of neighbors choose the events, and the rest count them.
    """
    size, level = answers // pairs // 4, WRONG / pairs / EVENTS / 2
    true, best = 1 / (1 + math.exp(-epsilon / parts)), 0.0
    for least in range(1, parts + 1):
        likely, rare = (round(size * tail(parts, p, least)) for p in (true, 1 - true))
        if likely:
            limits = at_least(likely, size, level), at_most(rare, size, level)
            best = max(best, math.log(limits[0] / limits[1]))
    return best


@cache
def needed(parts: int = 1, pairs: int = 1, epsilon: float = 1.0) -> int | None:
    """How many answers show half of the loss, or None if more than any audit can have."""
    low, high = 4 * pairs, 1024 * pairs
    while shown(high, parts, pairs, epsilon) < ENOUGH * epsilon:
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high > 1.01 * low:
        middle = (low + high) // 2
        enough = shown(middle, parts, pairs, epsilon) >= ENOUGH * epsilon
        low, high = (low, middle) if enough else (middle, high)
    return high
