"""Estimate how much more likely one attribute makes another, by contrasts over random sets.

Querying half of the difference between S and all other rows gives x and y with a quarter of the
noise (see `contrasts`), and all sets are in one query. Var x and Var y are known from a and b, so
of the products only their correlation has to be learned: with c the correlation of noisy x and y
over r sets, sqrt(r) (c - E c) has deviation 1 - c^2, and

    strength = c sqrt((Vx + R) (Vy + R')) (1 - a) / Vx.

This has a smaller error than the ratio of sum x y to (sum x^2 - r R): the ratio has a denominator
near 0 when noise is larger than x, while a correlation is never more than 1. More sets give more
products of noisier answers; the best number, about sqrt(Vx Vy) divided by the noise that one set
adds to the variance, makes R equal to V. `parties` has the moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .. import rng as _rng
from .._core import checks
from ..rng import Generator
from .conditions import Condition
from .parties import Party, common_rows, expect_questions, inside, spread_of
from .row_sets import RowSets

#: The most sets by default.
MOST = 1000
#: An assumed value of a (1 - a), and of b (1 - b), before any query is answered.
USUAL = 0.2


@dataclass(frozen=True)
class Implication:
    """An estimate of ``P[beta | alpha] - P[beta]``.

    Attributes
    ----------
    strength : float
        The estimate; noise may bring it outside of [-1, 1].
    error : float
        The estimated standard error, from sets and from noise.
    alpha, beta : float
        Fractions of the rows where alpha and where beta hold, with noise.
    sets : int
        The number of random row sets.

    Examples
    --------
    See `dpfast.sulq.implication_strength`, which returns one.

    >>> import dpfast as dp
    >>> found = dp.sulq.Implication(strength=0.3, error=0.02, alpha=0.4, beta=0.5, sets=100)
    >>> found.strength > 3 * found.error
    True
    """

    strength: float
    error: float
    alpha: float
    beta: float
    sets: int


def implication_strength(
    a: Party,
    alpha: Condition,
    b: Party,
    beta: Condition,
    *,
    sets: int | None = None,
    questions: int = 1,
    rng: Generator | None = None,
) -> Implication:
    """Estimate ``P[beta | alpha] - P[beta]``, with its standard error.

    Privacy
    -------
    Neighbors are databases of one party that differ in one row, replaced by another. The answers of
    each party satisfy the loss of its `NoisySums`, which was spent when the object was created; if
    one person's rows of both parties change, the losses add up. (Dwork and Nissim, CRYPTO 2004; the
    primitive of Blum, Dwork, McSherry and Nissim, PODS 2005.) Sets of rows are random and public,
    and queries do not depend on answers.

    Parameters
    ----------
    a, b : NoisySums or RemoteSums
        The two parties: the same rows in the same order, "replace". It is best if they have no more
        queries left than are used here.
    alpha, beta : Condition
        Conditions on the columns of `a`, and of `b`.
    sets : int, optional
        Number of row sets in each query, at least 8; by default about the number with the least
        error, at most 1000.
    questions : int, default 1
        Number of queries to each party. Noise is as in one query about all sets, and the sets of
        one query are held in memory at a time.
    rng : Generator, optional
        The source of the sets; by default the secure one.

    Returns
    -------
    Implication
        `strength`, its standard `error`, and the fractions `alpha` and `beta`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; no query was made.
    BudgetError
        If a party has too few queries left; no query was made.
    DataError
        For NaN under ``nan="raise"``.

    Notes
    -----
    Cost: a read of the data of each party, and an eighth of a byte for each row and set.

    If beta is about as frequent as alpha, the error is about ``(1 - alpha) / sqrt(sets)`` with few
    sets, and with the best number of them, for `rho`, ``sqrt(2 (1 - alpha) / (alpha rho n))``. This
    error is for these rows. If the rows are a sample of a population, add the sampling error. The
    error includes the noise of `alpha` and `beta` to first order.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> rows = np.arange(40_000)
    >>> smokes = rows % 4 == 0
    >>> coughs = (rows % 8 == 0) | (rows % 8 == 3)  # half of those who smoke, a quarter of all
    >>> kw = {"rho": 0.5, "queries": 1, "neighbors": "replace"}
    >>> a, b = dp.sulq.NoisySums(smokes, **kw), dp.sulq.NoisySums(coughs, **kw)
    >>> yes = dp.sulq.Attribute()
    >>> estimate = dp.sulq.implication_strength(a, yes, b, yes)
    >>> bool(abs(estimate.strength - 1 / 4) < 8 * estimate.error), bool(estimate.error < 0.04)
    (True, True)
    """
    n, generator = common_rows(a, alpha, b, beta), _rng.check(rng)
    r = _best(a, b, n) if sets is None else checks.whole("sets", sets, 8)
    times = checks.whole("questions", questions, 1)
    expect_questions(a, times, "a")
    expect_questions(b, times, "b")
    noises = a.contrast_deviation(r), b.contrast_deviation(r)
    totals, rows = np.zeros(2), []
    for _ in range(times):
        chosen = RowSets.random(n, r, generator)
        (total, x), (other, y) = a.contrasts(alpha, chosen), b.contrasts(beta, chosen)
        totals += total, other
        rows.append([x, y, chosen.sizes - n / 2])  # how far the size of each set exceeds n / 2
    first, second = (totals / times / n).tolist()
    x, y, shift = np.concatenate(rows, axis=1)
    x, y = x - shift * first, y - shift * second
    c = float(x @ y / math.sqrt(max(float((x @ x) * (y @ y)), 5e-324)))

    def scale(alpha: float, beta: float) -> float:
        """Return the ratio of strength to correlation, for given fractions of rows."""
        x, y = spread_of(alpha, n), spread_of(beta, n)
        noisy = (x + noises[0] ** 2) * (y + noises[1] ** 2)
        return math.sqrt(noisy) * (1.0 - inside(alpha, n)) / x

    u, v = (2.0 * noise / n / math.sqrt(times) for noise in noises)
    ends = (
        (scale(first + u, second), scale(first - u, second)),
        (scale(first, second + v), scale(first, second - v)),
    )
    slopes = [c * ((up - down) / 2.0) for up, down in ends]
    sampling = (1.0 - c * c) / math.sqrt(r * times) * scale(first, second)
    error = math.hypot(sampling, *slopes)
    return Implication(c * scale(first, second), error, first, second, sets=r * times)


def _best(a: Party, b: Party, n: int) -> int:
    """Return a number of sets with nearly the least error, from public numbers alone."""

    def variance(r: int) -> float:
        spread = n * USUAL / 4.0
        x, y = (spread + party.contrast_deviation(r) ** 2 for party in (a, b))
        return x * y / r

    return min((round(MOST * 2 ** (-k / 4)) for k in range(28)), key=variance)
