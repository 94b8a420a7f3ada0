"""Estimate how much more likely one attribute makes another, by contrasts over random row sets.

`parties` explains x, y, a, b and their moments. Each party answers one query about all row sets:
the contrast of a set is half of the difference between the set and all other rows. This gives x and
y with a quarter of the noise variance (see `contrasts`). Var x and Var y are known from a and b, so
only the correlation of x and y has to be estimated. Let c be the correlation of noisy x and y over
r sets. Then sqrt(r) (c - E c) has the standard deviation 1 - c^2. With noise of variance R in x and
R' in y, and Vx = Var x, Vy = Var y:

    strength = c sqrt((Vx + R) (Vy + R')) (1 - a) / Vx.

The ratio of sum x y to (sum x^2 - r R) would have a larger error, because its denominator is near 0
if the noise is larger than x. A correlation is never more than 1. More sets give more products, but
of noisier answers. The best number of sets makes R equal to Vx; it is about sqrt(Vx Vy) divided by
the noise variance that one set adds.
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
#: The value of a (1 - a), and of b (1 - b), that is assumed before any query is answered.
USUAL = 0.2


@dataclass(frozen=True)
class Implication:
    """An estimate of ``P[beta | alpha] - P[beta]``.

    Attributes
    ----------
    strength : float
        The estimate. Because of noise it may be outside of [-1, 1].
    error : float
        The estimated standard error, due to the random sets and to noise.
    alpha, beta : float
        The fractions of rows where alpha holds and where beta holds, with noise.
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
    """Estimate how much more likely alpha makes beta, if two parties hold one each.

    The result is ``P[beta | alpha] - P[beta]``, with its standard error. For example, alpha is
    "smokes" in the data of one party, and beta is "coughs" in the data of another party, for the
    same people. Neither party sees a row of the other. Each answers, with noise, how many rows of
    public random sets fulfill its condition.

    Privacy
    -------
    Neighbors are databases of one party that differ in one row, which is replaced. The answers of
    each party satisfy the loss of its `NoisySums`, which was spent when the object was created. If
    the rows of one person change in the data of both parties, the losses add up. (Dwork and Nissim,
    CRYPTO 2004; with the noisy sums of Blum, Dwork, McSherry and Nissim, PODS 2005.) Row sets are
    random and public, and queries do not depend on answers.

    Parameters
    ----------
    a, b : NoisySums or RemoteSums
        The noisy sums of the two parties, over the same rows in the same order, for "replace". It
        is best if they have no more queries left than this call uses.
    alpha, beta : Condition
        Conditions: `alpha` on the columns of `a`, `beta` on the columns of `b`.
    sets : int, optional
        The number of row sets in each query, at least 8. By default about the number with the least
        error, at most 1000.
    questions : int, default 1
        The number of queries to each party. More queries need less memory, because only the sets of
        one query are in memory at a time. The noise is the same as in one query about all sets.
    rng : Generator, optional
        The source of the random sets, by default the secure one.

    Returns
    -------
    Implication
        `strength`, its standard `error`, and the fractions `alpha` and `beta`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument. No query was made.
    BudgetError
        If a party has too few queries left. No query was made.
    DataError
        If a value is NaN, and a party has ``nan="raise"``.

    Notes
    -----
    Cost: one read of the data of each party, and an eighth of a byte for each row and set.

    Let beta be about as frequent as alpha. With few sets the error is about ``(1 - alpha) /
    sqrt(sets)``. With the best number of sets and a loss `rho` it is about ``sqrt(2 (1 - alpha) /
    (alpha rho n))``. This is the error for the given rows. If the rows are a sample of a
    population, add the sampling error. The error includes the noise of `alpha` and `beta` to first
    order.

    Examples
    --------
    A quarter of all people cough, and half of the smokers. So the strength is 1 / 4:

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
