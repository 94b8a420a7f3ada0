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
