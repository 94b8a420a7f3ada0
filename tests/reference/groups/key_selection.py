"""The optimal rule for private keys, step by step from its definition."""

import math
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


def weight(keys, grid, power):
    """The largest integer m with m <= grid * keys**-power, and at least 1."""
    p, q = power.as_integer_ratio()
    return max(1, max(m for m in range(grid + 1) if m**q * keys**p <= grid**q))


def by_weights(loss, groups, touched, order, grid, share, power, most):
    """pi(0) .. pi(most) of one round by weight, in float64: for all who may come, each by itself. A
    person with k keys may come to any weight that others make up, or be the only one of a key."""
    epsilon, delta, t = float(loss.epsilon), float(loss.delta), order - 1
    spare = delta / 2
    whole = t * epsilon + math.log(spare * order) - t * math.log(1 - 1 / order)
    people = [(weight(k, grid, power), k) for k in range(1, groups + 1)]
    least = min(m for m, _ in people)

    def far(p, q):
        return p**order * q**-t + (1 - p) ** order * (1 - q) ** -t

    found = [0.0] * least
    for n in range(least, most + 1):
        new = [1 - (1 - spare / (1 - spare)) ** (share / k) for m, k in people if m >= n]
        low, high = 0.0, min([*new, 1 - 1e-12])
        for _ in range(60):
            p = (low + high) / 2
            others = [(found[max(n - m, least)], k) for m, k in people] if n > least else []
            is_within = all(p <= q
                or max(far(p, q), far(q, p)) <= math.exp(whole * share * groups / touched / k)
                for q, k in others)  # fmt: skip
            low, high = (p, high) if is_within else (low, p)
        found.append(low)
    return found
