"""Plain slow twins of the exact choices: every decision by big integers and mpmath, never float64.
All take their bits by ``stream.word()``, in the order in which the kernels do."""

from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate

import mpmath

mp = mpmath.MPContext()


def below(n, stream):
    bits = (n - 1).bit_length()
    while True:
        k, have = 0, 0
        while have < bits:
            k, have = k << 64 | stream.word(), have + 64
        k >>= have - bits
        if k < n:
            return k


def below_of(n, word, stream):
    """The same for 2 <= n < 2**63, where the first word is given."""
    bits = (n - 1).bit_length()
    while word >> 64 - bits >= n:
        word = stream.word()
    return word >> 64 - bits


def order(n, k, stream):
    """The first k of 0 .. n - 1, where each place gets any of those that are left."""
    left, places = list(range(n)), range(min(k, n - 1))
    for block in (places[at : at + 256] for at in range(0, len(places), 256)):
        words = [stream.word() for _ in block]
        for i, word in zip(block, words, strict=True):
            j = i + below_of(n - i, word, stream)
            left[i], left[j] = left[j], left[i]
    return left[:k]


def enclose(x, factor, bits):
    """Integers around factor exp(-x) 2**bits, for a Fraction x below 2**40."""
    mp.prec = bits + 100
    value = mp.exp(-mp.mpf(x.numerator) / x.denominator) * factor.numerator / factor.denominator
    value *= mp.mpf(2) ** bits
    slack = abs(value) * mp.mpf(2) ** (60 - mp.prec)
    return int(mp.floor(value - slack)), int(mp.ceil(value + slack))


def coin(c, distance, factor, stream):
    """Whether U < factor exp(-c distance)."""
    return settle(stream.word(), c, distance, factor, stream)


def settle(word, c, distance, factor, stream):
    """The same where `word` has the first bits of U."""
    k, bits = word, 64
    while True:
        low, high = enclose(Fraction(c) * distance, factor, bits)
        if k + 1 <= low:
            return True
        if k >= high:
            return False
        k, bits = k << 64 | stream.word(), bits + 64


def scale(count, bound, shift):
    return Fraction(int(count), int(bound)) * Fraction(2) ** shift


def propose(bounds, stream):
    total = list(accumulate(int(b) for b in bounds))
    return bisect_right(total, below(total[-1], stream))


def keep(c, distance, count, bound, shift, stream):
    return coin(c, distance, scale(count, bound, shift), stream)


def draw(c, distances, counts, bounds, shift, stream):
    """One run, with probability proportional to counts exp(-c distances)."""
    while True:
        b = propose(bounds, stream)
        if keep(c, distances[b], counts[b], bounds[b], shift, stream):
            return b


def draw_row(c, distances, bounds, stream):
    """One column of a row; the bounds are for weights times 2^40."""
    return draw(c, distances, [1] * len(bounds), bounds, 40, stream)


def subset(c, distances, stream):
    """Permute-and-flip on one row: all words first, then whatever open coins ask for."""
    words = [stream.word() for _ in distances]
    heads = [j for j, (d, word) in enumerate(zip(distances, words, strict=True)) if d == 0
        or (d is not None and settle(word, c, d, Fraction(1), stream))]  # fmt: skip
    return heads[below(len(heads), stream)]


def pmf(c, distances, counts=None):
    """Probabilities as floats, from 60 digits."""
    mp.prec = 200
    counts = [1] * len(distances) if counts is None else counts
    weight = [0 if d is None else int(k) * mp.exp(-mp.mpf(c) * mp.mpf(d.numerator) / d.denominator)
        for d, k in zip(distances, counts, strict=True)]  # fmt: skip
    whole = mp.fsum(weight)
    return [float(w / whole) for w in weight]
