"""Plain slow twins of the noise functions: quantiles by other formulas, at hundreds of bits. A
sample is a function of a sequence of 64-bit words: bit 0 of the first is the sign, its other 63
bits and then all bits of the following words are p in (0, 1/2), most significant first."""

from fractions import Fraction

import mpmath

from dpfast.noise import distributions as kinds

mp = mpmath.MPContext()


def quantile(kind, p):
    """Upper-tail quantile at the context's precision, from textbook formulas."""
    if isinstance(kind, kinds.Laplace):
        return -mp.log(2 * p)
    if isinstance(kind, kinds.Logistic):
        return mp.log((1 - p) / p)
    if isinstance(kind, kinds.Cauchy):
        return mp.tan(mp.pi * (mp.mpf(1) / 2 - p))
    if isinstance(kind, kinds.Gaussian):
        return normal_quantile(p)
    if isinstance(kind, kinds.ArsinhNormal):
        return mp.sinh(kind.sigma * normal_quantile(p)) / mp.mpf(kind.sigma)
    if isinstance(kind, kinds.PolyPlace):
        a, mass = mp.mpf(kind.shape), mp.mpf(1) / 2 - p
        c = a / 2 / (1 + 2 / a * (1 - 1 / a) ** (a - 1))
        c_tail = c * (1 - 1 / a) ** (a - 1) * (1 + 1 / a) ** (a + 1)
        centre = c / a * (1 - (1 - 1 / a) ** a)
        if mass <= centre:
            return 1 - (1 - mass * a / c) ** (1 / a)
        return (p * a / c_tail) ** (-1 / a) - 1
    return solve(lambda z: tail(kind, z), p)


def normal_quantile(p):
    return solve(lambda z: mp.erfc(z / mp.sqrt(2)) / 2, p)


def tail(kind, z):
    """P(Z > z), by elementary functions where there are such."""
    if isinstance(kind, kinds.StudentT) and kind.df == 3:
        s = z / mp.sqrt(3)
        return mp.mpf(1) / 2 - (mp.atan(s) + s / (1 + s * s)) / mp.pi
    if isinstance(kind, kinds.StudentT) and kind.df == 4:
        s = z / mp.sqrt(4 + z * z)
        return mp.mpf(1) / 2 - (3 * s - s**3) / 4
    if isinstance(kind, kinds.StudentT):
        d = mp.mpf(kind.df)
        return mp.betainc(d / 2, mp.mpf(1) / 2, 0, d / (d + z * z), regularized=True) / 2
    if isinstance(kind, kinds.GeneralizedCauchy) and kind.gamma == 4:
        r = mp.sqrt(2)
        inside = mp.log((z * z + r * z + 1) / (z * z - r * z + 1)) / 2
        return mp.mpf(1) / 2 - (inside + mp.atan(r * z + 1) + mp.atan(r * z - 1)) / (2 * mp.pi)
    if isinstance(kind, kinds.GeneralizedCauchy):
        g = mp.mpf(kind.gamma)
        if z < 1:
            x = z**g / (1 + z**g)
            return mp.mpf(1) / 2 - mp.betainc(1 / g, 1 - 1 / g, 0, x, regularized=True) / 2
        return mp.betainc(1 - 1 / g, 1 / g, 0, 1 / (1 + z**g), regularized=True) / 2
    raise AssertionError(kind)


def solve(survival, p):
    """The root of survival(z) = p: bisection in z / (1 + z), finished by regula falsi in z."""
    low, high = mp.zero, mp.one
    for _ in range(40):
        middle = (low + high) / 2
        if survival(middle / (1 - middle)) > p:
            low = middle
        else:
            high = middle
    ends = (low / (1 - low), high / (1 - high))
    tolerance = mp.ldexp(1, -2 * mp.prec)
    return mp.findroot(
        lambda z: survival(z) - p, ends, solver="anderson", tol=tolerance, verify=False
    )


def exactly(x):
    sign, man, exponent, _ = x._mpf_
    value = Fraction(int(man)) * Fraction(2) ** exponent
    return -value if sign else value


def to_double(x):
    """Nearest double, infinite from 2^1024 - 2^970 on (IEEE 754, round to nearest)."""
    if abs(x) >= 2**1024 - 2**970:
        return float("inf") if x > 0 else -float("inf")
    return float(x)


def sample(kind, words, value, scale, granularity):
    """One sample by its definition: more bits and more precision until both ends agree."""
    first = next(words)
    k, bits = first >> 1, 64
    sign = -1 if first & 1 else 1
    while True:
        if k:
            mp.prec = 2 * bits + 160
            slack = Fraction(1, 2 ** (bits + 40))
            ends = []
            for at, side in ((k, 1), (k + 1, -1)):
                z = exactly(quantile(kind, mp.ldexp(at, -bits))) * (1 + side * slack)
                y = (Fraction(value) + sign * Fraction(scale) * z) / Fraction(granularity)
                ends.append(to_double((y + Fraction(1, 2)).__floor__() * Fraction(granularity)))
            if ends[0] == ends[1]:
                return ends[0]
        k = (k << 64) | next(words)
        bits += 64


def discrete_laplace(scale, words):
    """|K| is the number of m >= 1 with p < q^m / (1 + q), q = exp(-1 / scale)."""
    first = next(words)
    k, bits = first >> 1, 64
    while True:
        mp.prec = 2 * bits + 160
        s = mp.mpf(scale.numerator) / scale.denominator
        shift = -mp.log(1 + mp.exp(-1 / s))
        if k:
            ends = [
                int(mp.floor(s * (shift - mp.log(mp.ldexp(at, -bits))) + side))
                for at, side in ((k, mp.ldexp(1, -bits - 60)), (k + 1, -mp.ldexp(1, -bits - 60)))
            ]
            if max(ends[0], 0) == max(ends[1], 0):
                return -max(ends[0], 0) if first & 1 else max(ends[0], 0)
        k = (k << 64) | next(words)
        bits += 64


def exceeds(gamma, words):
    """Whether -ln(2 p) > gamma, for the p of the words (bit 0 of the first is not used)."""
    k, bits = next(words) >> 1, 64
    while True:
        mp.prec = 2 * bits + 160
        if k:
            g = mp.mpf(gamma.numerator) / gamma.denominator
            low, high = (-mp.log(mp.ldexp(at, 1 - bits)) - g for at in (k + 1, k))
            if low > mp.ldexp(1, -bits - 60) or high < -mp.ldexp(1, -bits - 60) or gamma == 0:
                return bool(low > 0) or gamma == 0
        k = (k << 64) | next(words)
        bits += 64


# Canonne, Kamath and Steinke (2020), literally: integers, coin flips, nothing else.
