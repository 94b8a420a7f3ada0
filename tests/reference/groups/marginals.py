"""Marginals by whole matrices over the cells of a small domain: workload, optimum, moves."""

import itertools
import math

import numpy as np


def rows_of(sizes, marginal):
    """Return the matrix that adds the cells of a domain up to those of a marginal."""
    matrix = np.ones((1, 1))
    for i, size in enumerate(sizes):
        matrix = np.kron(matrix, np.eye(size) if i in marginal else np.ones((1, size)))
    return matrix


def least_variance(sizes, weights, rho):
    """Return the least weighted sum of variances of all cells by Gaussian noise, under add-remove.
    No strategy does better than the square of the sum of the workload's singular values over the
    number of cells (Li and Miklau, "Optimal error of query sets under the differentially-private
    matrix mechanism", ICDT 2013), and one whose columns have one length reaches it. Categories may
    change places here, so the strategy of the singular vectors has such columns."""
    workload = np.concatenate([math.sqrt(w) * rows_of(sizes, one) for one, w in weights.items()])
    values = np.linalg.svd(workload, compute_uv=False)
    return float(values.sum() ** 2 / math.prod(sizes) / (2 * rho))


def residual(shape):
    """Return the matrix that takes the mean along each axis away, times the number of cells."""
    matrix = np.ones((1, 1), int)
    for size in shape:
        matrix = np.kron(matrix, size * np.eye(size, dtype=int) - np.ones((size, size), int))
    return matrix


def moves(shape, neighbors):
    """Return all by which a row moves the counts of a marginal, up to sign."""
    cells = np.eye(math.prod(shape), dtype=int)
    if neighbors == "add-remove":
        return list(cells)
    return [*cells, *(a - b for a, b in itertools.combinations(cells, 2))]
