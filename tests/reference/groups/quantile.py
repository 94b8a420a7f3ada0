"""The exponential mechanism for a quantile of one group, cell by cell."""

from fractions import Fraction


def probabilities(rows, q, c, first, last, mp, inside=0):
    """The probability of each cell first .. last."""
    target = Fraction(q) * len(rows)
    if inside:
        ranks = min(Fraction(inside), Fraction(len(rows), 2))
        target = len(rows) - ranks if q else ranks
    weights = []
    for cell in range(first, last + 1):
        less, leq = sum(r < cell for r in rows), sum(r <= cell for r in rows)
        u = max(Fraction(0), less - target, target - leq)
        weights.append(mp.exp(-mp.mpf(c) * u.numerator / u.denominator))
    total = mp.fsum(weights)
    return [weight / total for weight in weights]
