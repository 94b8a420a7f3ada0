"""The optimal rule for private keys, step by step from its definition."""

from fractions import Fraction


def probabilities(epsilon, delta, most, mp):
    """pi(0) .. pi(most), by recursion, at the precision of an mpmath context."""
    e = mp.exp(mp.mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
    d = mp.mpf(Fraction(delta).numerator) / Fraction(delta).denominator
    found = [mp.zero]
    for _ in range(most):
        p = found[-1]
        found.append(min(e * p + d, 1 - (1 - p - d) / e, mp.one))
    return found


def divergence(p, q, order, mp):
    """The Renyi divergence of a coin of probability p from one of probability q."""
    a = mp.mpf(order)
    whole = p**a * q ** (1 - a) + (1 - p) ** a * (1 - q) ** (1 - a)
    return mp.log(whole) / (a - 1)


def by_divergence(epsilon, delta, groups, touched, order, most, mp):
    """r, and pi(0) .. pi(most), as large as a divergence of at most r either way allows."""
    a, e = mp.mpf(order), mp.mpf(epsilon.numerator) / epsilon.denominator
    d = mp.mpf(delta.numerator) / delta.denominator

    def cost(whole):
        return mp.exp((a - 1) * (whole - e)) / a * (1 - 1 / a) ** (a - 1)

    whole = e + mp.log(d / cost(e)) / (a - 1)
    r = whole / touched
    hidden = cost(whole - groups * r)
    found = [mp.zero, 1 - ((1 - d) / (1 - hidden)) ** (mp.one / groups)]
    while len(found) <= most:
        q, low, high = found[-1], found[-1], mp.one
        for _ in range(mp.prec):
            middle = (low + high) / 2
            worst = max(divergence(middle, q, a, mp), divergence(q, middle, a, mp))
            low, high = (middle, high) if worst <= r else (low, middle)
        found.append(low)
    return r, found
