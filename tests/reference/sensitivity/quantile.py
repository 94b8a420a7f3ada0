"""Sensitivities of the lower quantile by definition, and by double loops over pairs of ranks."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np


def rank(q, n):
    """The rank that the q-quantile of n rows has."""
    return min(max(1, math.ceil(Fraction(q) * n)), n)


def quantile(data, q, lo, hi):
    """The statistic itself; `data` is a sorted tuple within [lo, hi]."""
    if not data:
        return lo if Fraction(q) <= Fraction(1, 2) else hi
    return data[rank(q, len(data)) - 1]


def replaced(data, domain):
    """All datasets with one row replaced."""
    return {
        tuple(sorted((*data[:i], new, *data[i + 1 :]))) for i in range(len(data)) for new in domain
    }


def added_or_removed(data, domain):
    """All datasets with one row more or one less."""
    return {data[:i] + data[i + 1 :] for i in range(len(data))} | {
        tuple(sorted((*data, new))) for new in domain
    }


def distance(a, b, neighbors):
    """The number of rows by which two datasets differ."""
    common = sum((Counter(a) & Counter(b)).values())
    return len(a) - common if neighbors == "replace" else len(a) + len(b) - 2 * common


class Every:
    """All datasets over `domain` of `sizes` rows; the ball is cut at the largest size."""

    def __init__(self, statistic, domain, sizes, neighbors="replace", finer=None):
        lo, hi = domain[0], domain[-1]
        near = replaced if neighbors == "replace" else added_or_removed
        value = lambda d: statistic(d, lo, hi)  # noqa: E731
        self.lo, self.hi, self.most = lo, hi, max(sizes)
        self.datasets = [d for n in sizes for d in combinations_with_replacement(domain, n)]
        # The neighbor may have any value; where that matters, a finer domain says how far.
        values = domain if finer is None else finer
        self.value = [value(d) for d in self.datasets]
        self.local = np.array([float(max((abs(value(y) - f) for y in near(d, values)), default=0))
            for d, f in zip(self.datasets, self.value, strict=True)])  # fmt: skip
        index = {d: i for i, d in enumerate(self.datasets)}
        self.links = [
            np.array([index[y] for y in near(d, domain) if y in index], int) for d in self.datasets
        ]
        self.at_distance = [self.local]
        for _ in range(max(2 * max(sizes) + 2, 8)):
            last = self.at_distance[-1]
            self.at_distance.append(
                np.array([max([last[i], *last[link]]) for i, link in enumerate(self.links)])
            )

    def smooth(self, beta):
        weights = np.exp(-beta * np.arange(len(self.at_distance)))
        return np.max(np.array(self.at_distance) * weights[:, None], axis=0)


class Universe(Every):
    """All datasets, with the local sensitivities of a quantile."""

    def __init__(self, domain, sizes, q, neighbors):
        super().__init__(lambda d, lo, hi: quantile(d, q, lo, hi), domain, sizes, neighbors)
        self.neighbors = neighbors

    def smooth_literally(self, beta):
        """max over y of LS(y) e^(-beta d(x, y)), with d by counting rows."""
        return np.array([max(ls * math.exp(-beta * distance(x, y, self.neighbors))
            for y, ls in zip(self.datasets, self.local, strict=True))
            for x in self.datasets])  # fmt: skip


def extended(data, lo, hi):
    """x_0 = lo, the sorted clipped data, x_{n+1} = hi."""
    inner = np.clip(np.sort(np.asarray(data)).astype(np.float64), lo, hi)
    return np.concatenate([[lo], inner, [hi]])


def smooth_replace(data, q, beta, lo, hi):
    x = extended(data, lo, hi)
    n = len(x) - 2
    m = rank(q, n)
    i, j = np.arange(m + 1)[:, None], np.arange(m, n + 2)[None, :]
    with np.errstate(over="ignore"):
        value = (x[j] - x[i]) * np.exp(-beta * np.maximum(j - i - 1, 0))
    return float(value.max())


def lecture_formula(data, q, beta, lo, hi):
    """A formula of some lecture notes that moves the quantile but never merges gaps: too small."""
    x = extended(data, lo, hi)
    n = len(x) - 2
    gaps = np.diff(x)
    m = rank(q, n)
    distance = np.minimum(np.abs(np.arange(n + 1) - m), np.abs(np.arange(n + 1) + 1 - m))
    return float(np.max(gaps * np.exp(-beta * distance)))


def active(q, most):
    """All (rows up to the left end, rows from the right end) where one row moves the quantile over
    the gap between, for up to `most` rows."""
    m = lambda n: rank(q, n)  # noqa: E731
    found = {(0, 0)}
    for n in range(1, most):
        if m(n + 1) == m(n) + 1 or (n >= 2 and m(n - 1) == m(n)):
            found.add((m(n), n - m(n)))
        if m(n + 1) == m(n) or (n >= 2 and m(n - 1) == m(n) - 1):
            found.add((m(n) - 1, n - m(n) + 1))
    return np.array(sorted(found))


def pair_distances(q, n):
    """D(i, j) for 0 <= i < j <= n + 1: rows to add or remove until the gap (i, j) is active."""
    points = active(q, 3 * n + 12)
    D = np.full((n + 1, n + 2), np.iinfo(np.int64).max)
    for i in range(n + 1):
        for j in range(i + 1, n + 2):
            D[i, j] = j - i - 1 + np.min(np.abs(points - [i, n + 1 - j]).sum(axis=1))
    return D


def smooth_add_remove(data, D, beta, lo, hi):
    x = extended(data, lo, hi)
    i, j = np.triu_indices(len(x) - 1, 1, len(x))
    i, j = np.concatenate([i, np.arange(len(x) - 1)]), np.concatenate([j, np.arange(1, len(x))])
    return float(np.max((x[j] - x[i]) * np.exp(-beta * D[i, j])))


def local_add_remove(data, D, k, lo, hi):
    x = extended(data, lo, hi)
    return max((x[j] - x[i] for i in range(len(x) - 1) for j in range(i + 1, len(x))
        if D[i, j] <= k), default=0.0)  # fmt: skip
