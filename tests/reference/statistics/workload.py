"""The least error of strategies for linear queries, by plain descent, and bounds of it, exactly."""

from fractions import Fraction

import numpy as np


def least_error(gram, rounds=2000):
    """tr(V (A'A)^-1) for the best A with columns of length 1, by steps along the gradient."""
    strategy = np.eye(len(gram)) + 0.3 * np.random.default_rng(1).normal(size=gram.shape)
    strategy, step, error = strategy / np.linalg.norm(strategy, axis=0), 1e-3, np.inf
    for _ in range(rounds):
        inverse = np.linalg.inv(strategy.T @ strategy)
        along = strategy @ inverse @ gram @ inverse
        along -= strategy * (strategy * along).sum(axis=0)
        tried = strategy + step * along / np.abs(along).max()
        tried /= np.linalg.norm(tried, axis=0)
        less = np.trace(gram @ np.linalg.inv(tried.T @ tried))
        strategy, step, error = (
            (tried, 1.5 * step, less) if less < error else (strategy, step / 2, error)
        )
        if step < 1e-12:
            break
    return error


def exact_inverse(matrix):
    """The inverse of a matrix of fractions."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for i in range(size):
        pivot = next(k for k in range(i, size) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [entry / rows[i][i] for entry in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[size:] for row in rows]


def product(a, b):
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, one, strict=True)) for one in columns] for row in a]


def exact_error(sums, queries):
    """The longest squared column of integers times the error of the queries for noise of one."""
    s = [[Fraction(int(entry)) for entry in row] for row in sums]
    w = [[Fraction(entry) for entry in row] for row in queries]
    ways = product(w, exact_inverse(s))
    longest = max(sum(entry**2 for entry in column) for column in zip(*s, strict=True))
    return longest * sum(entry**2 for row in ways for entry in row)


def exact_bound(queries, roots):
    """What no strategy errs by less than, for roots of weights, in fractions alone. (tr(Y' W
    L^1/2))^2 / sum l for Y with singular values of at most 1, which elimination shows."""
    w = np.array(queries, float) * np.array(roots, float)
    left, _, right = np.linalg.svd(w, full_matrices=False)
    y = [[Fraction(float(entry)) * Fraction(999_999, 1_000_000) for entry in row]
         for row in left @ right]  # fmt: skip
    size = len(roots)
    gram = product([list(column) for column in zip(*y, strict=True)], y)
    rest = [[Fraction(i == j) - gram[i][j] for j in range(size)] for i in range(size)]
    for i in range(size):  # 1 - Y'Y has positive pivots
        assert rest[i][i] > 0
        for k in range(i + 1, size):
            factor = rest[k][i] / rest[i][i]
            rest[k] = [a - factor * b for a, b in zip(rest[k], rest[i], strict=True)]
    weighted = [[Fraction(entry) * root for entry, root in zip(row, roots, strict=True)]
                for row in queries]  # fmt: skip
    trace = sum(a * b for x, z in zip(y, weighted, strict=True) for a, b in zip(x, z, strict=True))
    return trace**2 / sum(root**2 for root in roots)
