"""The plain slow twin of private bounds: rows one by one, and the law as it is defined."""

import math
import struct

import numpy as np

#: The public numbers: a sixteenth of an octave apart, 2**-40 to 2**380, with either sign, and 0.
MAGNITUDES = [math.ldexp(1 + j / 16, e) for e in range(-40, 380) for j in range(16)] + [2.0**380]
NUMBERS = np.array([-x for x in reversed(MAGNITUDES)] + [0.0, *MAGNITUDES])


def cell(x):
    """The upper 16 bits of a float64; None for NaN."""
    return None if math.isnan(x) else struct.unpack(">H", struct.pack(">d", x)[:2])[0]


def above(rows):
    """How many rows are above each public number: at it, too, if it is positive."""
    x, o = np.array(rows, np.float64)[:, None], NUMBERS
    place = np.where(o == 0, MAGNITUDES[0], o)  # around 0 there is one place
    return np.where(o < 0, x > place, x >= place).sum(axis=0)


def prior(gentle=1 / 256, steep=5 / 32, turn=576):
    """Minus the logarithm of w: gentle up to so many numbers from 0, and steep from there on."""
    outwards = [
        min(k, turn) * gentle + max(k - turn, 0) * steep for k in range(1, len(MAGNITUDES) + 1)
    ]
    flat = [max(k - 1024, 0) * 5 / 32 for k in range(1, len(MAGNITUDES) + 1)]
    return np.array([*reversed(flat), 0.0, *outwards])


def one_end(rows, share, c):
    """Minus the logarithm of what each public number weighs as an upper bound."""
    n, beyond = len(rows), above(rows)
    inside = np.concatenate([[n], beyond[:-1]])
    ranks = np.maximum(np.maximum(beyond - share * n, share * n - inside), 0)
    return (c / 2 if share else c) * ranks + prior()


def both_ends(rows, share, c):
    """The same for the lower bound, which is that of the negated rows, and for the upper one."""
    return one_end([-x for x in rows], share, c)[::-1], one_end(rows, share, c)


def normalizer(lower, upper, apart):
    """The logarithm of what all pairs weigh whose places are so far apart; None for any pairs."""
    below = np.logaddexp.accumulate(-lower)
    if apart is None:
        return float(below[-1] + np.logaddexp.reduce(-upper))
    return float(np.logaddexp.reduce(below[: len(below) - apart] - upper[apart:]))


def loss(a, b, share, c, apart=1):
    """The largest logarithm of a ratio of probabilities of a pair, in either direction."""
    ends = [both_ends(rows, share, c) for rows in (a, b)]
    lower, upper = ends[1][0] - ends[0][0], ends[1][1] - ends[0][1]
    change = normalizer(*ends[0], apart) - normalizer(*ends[1], apart)
    first = 0 if apart is None else apart
    size = len(NUMBERS) - first
    low = [np.maximum.accumulate(lower)[:size], np.minimum.accumulate(lower)[:size]]
    if apart is None:
        low = [np.full(size, lower.max()), np.full(size, lower.min())]
    most, least = (one + upper[first:] - change for one in low)
    return float(max(most.max(), -least.min()))


def marginal(rows, share, c, apart=1):
    """The probability of each public number as the upper bound."""
    lower, upper = both_ends(rows, share, c)
    below = np.logaddexp.accumulate(-lower)
    weight = np.full(len(NUMBERS), -math.inf)
    weight[apart:] = below[: len(below) - apart] - upper[apart:]
    return np.exp(weight - np.logaddexp.reduce(weight))
