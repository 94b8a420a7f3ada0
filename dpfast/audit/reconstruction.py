"""Reconstruction of secret bits from noisy answers about subsets of the bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dpfast import rng as _rng
from dpfast.extend import Number, Numbers, checks, extra

Matrix = NDArray[np.float64]

#: The most entries of a random matrix of queries: 4 GB.
MOST = 1 << 32


def reconstruct(
    answer: Callable[[NDArray[Any]], Number] | Numbers,
    n: int,
    *,
    queries: int | Numbers,
    method: Literal["lp", "lp-max", "least-squares"] = "lp",
    rng: _rng.Generator | None = None,
) -> NDArray[np.bool_]:
    """Recover secret bits from noisy sums of them: an attack that tests an interface.

    Each of n rows holds a secret bit. An answer is the number of ones in a subset of the rows, with
    an error. The attack finds the numbers that explain all answers best, one number for each bit,
    and rounds them to bits. For linear programming these numbers are between 0 and 1.

    NOT PRIVATE: the result shows the secret bits, as far as the attack succeeds. If the interface
    has a privacy loss, the expected fraction of correct bits is at most `recovery_bound`.

    Parameters
    ----------
    answer : callable or array_like of shape (m,)
        The interface: ``answer(query)`` is called once for each query, in order. It returns an
        approximate sum of the bits in the query, or NaN if it gives no answer. Or the m answers, as
        an array.
    n : int
        The number of bits.
    queries : int, or array_like of shape (m, n)
        The number of random subsets; each subset contains each row with probability 1/2. Or the
        subsets as a matrix of bool, one subset in each row. A matrix of numbers asks for weighted
        sums, ``queries @ bits``. `answer` is called with each row of the matrix.
    method : {"lp", "lp-max", "least-squares"}, default "lp"
        The quantity to minimize. "lp" is the sum of absolute errors: nearly a quarter of the
        answers may be arbitrarily wrong. "lp-max" is the largest absolute error, for bounded
        errors. "least-squares" is the sum of squares, for normal noise; it is the fastest method.
    rng : Generator, optional
        The source of the random subsets. By default the secure one.

    Returns
    -------
    bool array of shape (n,)
        The recovered bits.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or an answer is not a number.
    MissingExtraError
        If linear programming is requested and SciPy is missing.

    See Also
    --------
    recovery_bound : The largest fraction that differential privacy allows.
    expected_recovery : The expected fraction for "least-squares" and normal noise.

    Notes
    -----
    Answers with errors o(sqrt(n)) reveal almost all bits (Dinur and Nissim, PODS 2003). With "lp"
    this also holds if a fraction below 0.239 of the answers is arbitrary (Dwork, McSherry and
    Talwar, STOC 2007). If several solutions are optimal, any of them may be returned.

    Cost: for "least-squares" about ``m * n**2`` operations, which are some milliseconds for 200
    bits and 1600 queries. Linear programming, by HiGHS, takes a hundred times as long.

    Examples
    --------
    An interface adds errors of at most 1. The attack recovers more than 90 % of 40 bits:

    >>> import numpy as np, dpfast as dp
    >>> secret = np.arange(40) % 3 == 0
    >>> def careless(subset):  # 40 people, 320 questions, errors of at most 1
    ...     return secret[subset].sum() + np.flatnonzero(subset).sum() % 3 - 1
    >>> guess = dp.audit.reconstruct(careless, 40, queries=320)
    >>> bool((guess == secret).mean() > 0.9)
    True
    """
    bits = checks.whole("n", n, 1)
    checks.choice("method", method, METHODS)
    generator = _rng.check(rng)
    matrix = _queries(queries, bits, generator if callable(answer) else None)
    answers = _answers(answer, matrix)
    is_answered = ~np.isnan(answers)
    weights = matrix[is_answered].astype(np.float64)
    # Bits are centered at 1/2. Without information, neither value of a bit is then preferred.
    return METHODS[method](weights, answers[is_answered] - weights.sum(axis=1) / 2) > 0


def _queries(queries: Any, n: int, generator: _rng.Generator | None) -> NDArray[Any]:
    rule = f"a number of subsets, or a matrix with {n} columns of numbers from -2**40 to 2**40"
    matrix = checks.array("queries", queries, rule)
    if matrix.ndim == 0:
        if generator is None:
            checks.fail("queries", "the matrix of queries, because answer is an array", queries)
        m = checks.whole("queries", queries, 1)
        if m * n > MOST:
            checks.fail("queries", f"at most 2**32 / {n}, for 2**32 bits in all", queries)
        drawn = np.frombuffer(generator.bytes(m * (-(-n // 8))), np.uint8).reshape(m, -1)
        return np.unpackbits(drawn, axis=1, count=n).view(np.bool_)
    if matrix.dtype.kind not in "biuf":
        checks.fail_kind("queries", rule, queries)
    if matrix.ndim != 2 or matrix.shape[1] != n or not (np.abs(matrix) <= 2.0**40).all():
        checks.fail("queries", rule, queries)
    return matrix


def _answers(answer: Any, matrix: NDArray[Any]) -> NDArray[np.float64]:
    rule = f"a function of a query, or an array of {len(matrix)} numbers, one for each query"
    answers = [answer(query) for query in matrix] if callable(answer) else answer
    array = checks.array("answer", answers, rule, "biuf")
    if array.shape != (len(matrix),) or (np.abs(array.astype(np.float64)) > 2.0**60).any():
        checks.fail("answer", rule + " (NaN, or from -2**60 to 2**60)", array)
    return array.astype(np.float64)


# --- vectors z with entries in [-1/2, 1/2] such that A z is near y, in three norms ---------------


def least_squares(a: Matrix, y: Matrix) -> Matrix:
    """Minimize the sum of squared errors, without limits for z; return the shortest best z."""
    return np.asarray(np.linalg.lstsq(a, y, rcond=None)[0], np.float64)


def sum_of_errors(a: Matrix, y: Matrix) -> Matrix:
    """Minimize the sum of absolute errors, by a linear program with two variables per error."""
    sparse = _scipy("sparse")
    m, n = a.shape
    identity = sparse.identity(m, format="csr")
    equal = sparse.hstack([sparse.csr_array(a), identity, -identity], format="csr")
    cost = np.concatenate([np.zeros(n), np.ones(2 * m)])
    limits = np.concatenate([np.tile([-0.5, 0.5], (n, 1)), np.tile([0.0, np.inf], (2 * m, 1))])
    return _minimize(cost, limits, n, A_eq=equal, b_eq=y)


def largest_error(a: Matrix, y: Matrix) -> Matrix:
    """Minimize the largest absolute error, by a linear program with a variable that bounds all."""
    m, n = a.shape
    ones = np.ones((m, 1))
    above = np.block([[a, -ones], [-a, -ones]])
    cost = np.concatenate([np.zeros(n), [1.0]])
    limits = np.concatenate([np.tile([-0.5, 0.5], (n, 1)), [[0.0, np.inf]]])
    return _minimize(cost, limits, n, A_ub=above, b_ub=np.concatenate([y, -y]))


def _minimize(cost: Matrix, limits: Matrix, n: int, **rows: Any) -> Matrix:
    result = _scipy("optimize").linprog(cost, bounds=limits, method="highs", **rows)
    if result.x is None:  # cannot happen: every such program has a solution
        raise RuntimeError(f"HiGHS found no solution: {result.message}")
    return np.asarray(result.x[:n])


def _scipy(name: str) -> Any:
    return extra(f"scipy.{name}", "linear programming")


METHODS = {"lp": sum_of_errors, "lp-max": largest_error, "least-squares": least_squares}
