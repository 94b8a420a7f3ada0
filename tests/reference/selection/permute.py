"""Plain slow twins of permute-and-flip and its coins, and the exact pmf."""

import mpmath
import numpy as np


def pmf(p, count=None):
    """The integral over the time of the winner. With `count`, each p stands for as many candidates
    and gets the chance of them all together."""
    count = [1] * len(p) if count is None else count

    def chance(i):
        def density(t):
            others = [n - (j == i) for j, n in enumerate(count)]
            return mpmath.fprod((1 - q * t) ** n for q, n in zip(p, others, strict=True))

        return count[i] * p[i] * mpmath.quad(density, [0, 0.01, 0.1, 0.5, 1])

    return [chance(i) for i in range(len(p))]


def flip(exponents, shift, take, fault=""):
    """The coins of csrc/selection/permute.c from the same bytes; `take(n)` yields the next n.
    Faults: "always" keeps every set, "alone" leaves the other coins of the block out."""

    def word():
        return int.from_bytes(take(8), "little")

    def coins(e):
        heads = 2**64 - 1
        for _ in range(e):
            if heads:
                heads &= word()
        return heads

    def coin(e):
        """The first e bits of words read from their high end; whole words first."""
        while e > 64:
            if word():
                return False
            e -= 64
        return e == 0 or word() < 2 ** (64 - e)

    def seldom(e):
        heads = 0 if fault == "alone" else coins(e)
        heads |= 1 << word() % 64
        members = heads.bit_count()
        if members == 1 or fault:
            return heads
        while (place := word() % 64) >= members:
            pass
        return heads if place == 0 else 0

    found = []
    for start in range(0, len(exponents), 64):
        run = take(64)
        for i, exponent in enumerate(exponents[start : start + 64]):
            e = exponent + shift
            if e < 6:
                heads = coins(e)
            elif run[i] % 2 ** min(e - 6, 8) or exponent == 255 or not coin(max(e - 14, 0)):
                heads = 0
            else:
                heads = seldom(e)
            found += [64 * (start + i) + slot for slot in range(64) if heads >> slot & 1]
    return found


def most_bits(c, distance):
    """The largest integer not above c d / ln 2 for any d that `distance` may stand for."""
    with mpmath.workprec(2400):
        d = mpmath.mpf(min(distance, np.finfo(np.float64).max))
        least = d / (1 + mpmath.mpf(2) ** -50)
        return int(mpmath.floor(min(mpmath.mpf(c) * least / mpmath.log(2), 10**6)))


def chance(c, distance, e, t):
    """The probability of the last coin: heads after t, given none before, times 2**e."""
    with mpmath.workprec(400):
        p = mpmath.exp(-mpmath.mpf(c) * distance.numerator / distance.denominator)
        return p * (1 - mpmath.mpf(t)) / (1 - p * t) * 2**e
