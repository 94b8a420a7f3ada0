"""Quantiles by recursion, by definition: every output of a tiny domain, with its weight."""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .exponential_quantiles import HALF, divided, leaf


class Loss(NamedTuple):
    kind: str  # "pure" or "zcdp"
    amount: float
    neighbors: str


def divisor(loss, place, alone):
    """``k`` of a node, whose rate is ``e / (2 k)`` with e the epsilon of its level."""
    d = max(place, 1 - place)
    if loss.neighbors == "add-remove":
        return d
    if alone:
        return 1
    return 2 * d if loss.kind == "pure" else max(1, math.sqrt(2) * d)


def rate(loss, levels, place, alone):
    epsilon = loss.amount / levels
    if loss.kind == "zcdp":  # of one draw, or of two with half the square each
        nodes = 2 if loss.neighbors == "replace" and not alone else 1
        epsilon = math.sqrt(nodes) * range_of(loss.amount / levels / nodes)
    return epsilon / (2 * divisor(loss, place, alone))


def range_of(rho):
    """The range of which a draw costs rho, ln x - 1 + 1 / x with x = (e^range - 1) / range."""
    low, high = 0.0, math.sqrt(8 * rho) + 2 * rho + 10
    for _ in range(80):
        middle = (low + high) / 2
        x = math.expm1(middle) / middle
        low, high = (middle, high) if math.log(x) - 1 + 1 / x < rho else (low, middle)
    return low


def sizes(m):
    """Nodes on each level of the recursion over m quantiles."""
    found, level = [], [m]
    while level:
        found.append(len(level))
        level = [k for m in level for k in (m // 2, m - m // 2 - 1) if k]
    return found


def recursive(data, qs, loss, cells, parts, fault=None):
    """``{released cells: {transcript: log-probabilities}}`` of the whole recursion. A transcript
    holds what every node released, parts included; its log-probabilities are those of the levels,
    given the levels before, and add up. Faults: "both" counts the rows at a released cell in both
    children, "free" does not divide the loss by the levels, and those of positions."""
    widths = sizes(len(qs))
    levels = 1 if fault == "free" else len(widths)
    zero = np.zeros(len(widths))

    def node(rows, qs, low, high, outer, first, last, level):
        if not qs:
            yield (), (), zero
            return
        middle = len(qs) // 2
        q = qs[middle]
        place = (q - low) / (high - low)
        here = range(first, last + 1)
        if len(here) == 1:
            yield (first,) * len(qs), ("-",) * len(qs), zero
            return
        c = rate(loss, levels, place, widths[level] == 1)
        share = math.floor(2**19 / (1 + math.exp(c / 4)))
        shift = (outer[0] * (1 - place) - outer[1] * place) * HALF
        target = place * sum(mass for _, mass in rows) + shift
        alone = len(qs) == 1
        if alone:
            log_p = leaf(rows, (first, last), target, c, share, fault=fault)
        else:
            log_p = divided(rows, (first, last), target, c, share, parts, fault=fault)
        each = 1 if alone else parts
        for i, p in enumerate(log_p):
            o, j = here[i // each], i % each
            f = Fraction(2 * j + 1, 2 * parts)
            side = (1, 1) if fault == "both" else (f, 1 - f)
            left = [(x, s if x < o else s * side[0]) for x, s in rows if x <= o]
            right = [(x, s if x > o else s * side[1]) for x, s in rows if x >= o]
            for a, ta, pa in node(
                left, qs[:middle], low, q, (outer[0], False), first, o, level + 1
            ):
                for b, tb, pb in node(
                    right, qs[middle + 1 :], q, high, (False, outer[1]), o, last, level + 1
                ):
                    own = zero.copy()
                    own[level] = p
                    yield (*a, o, *b), (*ta, j, *tb), own + pa + pb

    result = {}
    rows, every = [(x, 1) for x in data], (True, True)
    for cells_, parts_, p in node(rows, qs, 0, 1, every, cells[0], cells[-1], 0):
        result.setdefault(cells_, {})[parts_] = p
    return result


def marginal(distribution):
    """Probability of each tuple of cells."""
    return {cells: math.fsum(math.exp(p.sum()) for p in inner.values())
        for cells, inner in distribution.items()}  # fmt: skip


def losses(a, b):
    """The largest privacy loss of each level and of the whole, over two sets of transcripts."""
    gaps = np.array([p - b[cells][t] for cells, inner in a.items() for t, p in inner.items()])
    return np.abs(gaps).max(axis=0), np.abs(gaps.sum(axis=1)).max()


def renyi(a, b, order):
    """Renyi divergence of the whole transcript."""
    pairs = [(p.sum(), b[cells][t].sum()) for cells, inner in a.items() for t, p in inner.items()]
    p, q = np.array(pairs).T
    return math.log(math.fsum(np.exp(order * p + (1 - order) * q))) / (order - 1)
