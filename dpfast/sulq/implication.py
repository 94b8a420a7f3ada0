"""Test whether one attribute makes another likelier, where two parties hold one each.

One party knows for which of n common rows alpha holds, the other for which beta holds. Neither sees
a row of the other's. Both answer, with noise, how many rows of public random sets have their
attribute (Dwork and Nissim, CRYPTO 2004). Let a and b be the fractions of rows with alpha and with
beta. If each row is in S with probability 1/2, independently of the others, then

    x = |S and alpha| - a |S|,  y = |S and beta| - b |S|

have mean 0, Var x = n a (1 - a) / 4, Var y = n b (1 - b) / 4, and E x y = n (P[alpha beta] - a b) /
4. So the regression of y on x has the slope P[beta | alpha] - P[beta | not alpha], and the strength
P[beta | alpha] - P[beta] is (1 - a) times the slope. (Signs and scales are exact; that x and y are
about normal is the central limit theorem.)

*The test.* Look for a set with an excess x of sqrt(|S| a (1 - a)), sqrt(2) deviations, which every
thirteenth set has. Does beta have an excess of slope times x there? That tells little more than a
coin would: y strays about as far as x does. So many sets vote. With noise of variance R in x, the
expected true excess is V / (V + R) of the noisy one, V = Var x, however the set was chosen. The
slope is multiplied by that here, so the vote is a fair one.

*The estimate.* Asking for half of the difference between S and all other rows gives x and y with a
quarter of the noise (see `contrasts`), and all sets are asked about at once. Var x and Var y are
known from a and b, so of the products only their correlation has to be learned: with c the
correlation of noisy x and y over r sets, sqrt(r) (c - E c) has deviation 1 - c^2, and

    strength = c sqrt((Vx + R) (Vy + R')) (1 - a) / Vx.

That errs less than the ratio of sum x y to (sum x^2 - r R): the ratio has a denominator near 0
when noise is larger than x is, and a correlation is never more than 1. More sets are more products
of noisier answers; the best number, about sqrt(Vx Vy) over the noise that one set adds to the
variance, makes R equal to V.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import rng as _rng
from .._core import checks
from .._core.types import Number
from ..errors import BudgetError
from ..rng import Generator
from .conditions import Condition
from .noisy_sums import NoisySums
from .remote_sums import RemoteSums
from .row_sets import RowSets

#: The largest number of sets by default.
MOST = 1000
#: A guess of a (1 - a), and of b (1 - b), before anybody has been asked.
USUAL = 0.2


#: A party here, or at the other end of a connection.
Party = NoisySums | RemoteSums


@dataclass(frozen=True)
class ImplicationTest:
    """The votes of the sets that were found. Other strengths may be tested at no further cost.

    Attributes
    ----------
    alpha, beta : float
        Fractions of the rows where each holds, with noise.
    excesses : tuple of float
        For each set in which alpha holds for many rows: for how many more than expected.
    answers : tuple of float
        The same for beta.
    reliability : float
        The fraction of an excess that is expected not to be noise.
    asked : int
        Number of sets that the first party was asked about.
    strength : float
        The strength that was tested.

    Examples
    --------
    See `dpfast.sulq.implication_test`, which returns one.

    >>> import dpfast as dp
    >>> found = dp.sulq.ImplicationTest(0.4, 0.5, (4.0,), (3.0,), 1.0, 9, 0.3)
    >>> found.asked
    9
    >>> found.votes(0.2), found.votes(1.0)
    (1, 0)
    >>> round(found.search(), 3)
    0.45
    """

    alpha: float
    beta: float
    excesses: tuple[float, ...]
    answers: tuple[float, ...]
    reliability: float
    asked: int
    strength: float

    @property
    def holds(self) -> bool:
        """Whether most sets vote that the implication is that strong; False without any set."""
        return self.votes(self.strength) > len(self.answers) / 2

    def votes(self, strength: Number) -> int:
        """Return how many sets vote that the implication has at least that strength.

        Parameters
        ----------
        strength : float
            From -1 to 1.

        Returns
        -------
        int
        """
        slope = checks.number("strength", strength) * self.reliability / (1.0 - self.alpha)
        return sum(y >= slope * x for x, y in zip(self.excesses, self.answers, strict=True))

    def search(self, tolerance: Number = 1e-6) -> float:
        """Return the strength at which half of the votes are lost, or NaN without any.

        By binary search in the same answers: votes only fall as the strength grows.

        Parameters
        ----------
        tolerance : float, default 1e-6
            How far the strength may be off.

        Returns
        -------
        float

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `tolerance` is not above 0.
        """
        width = checks.positive("tolerance", tolerance)
        if not self.answers:
            return math.nan
        low, high = -1.0, 1.0
        while high - low > width:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if self.votes(middle) > len(self.answers) / 2:
                low = middle
            else:
                high = middle
        return (low + high) / 2


@dataclass(frozen=True)
class Implication:
    """An estimate of ``P[beta | alpha] - P[beta]``.

    Attributes
    ----------
    strength : float
        The estimate; noise may bring it outside of [-1, 1].
    error : float
        Its standard error, from sets and from noise; an estimate, too.
    alpha, beta : float
        Fractions of the rows where each holds, with noise.
    sets : int
        Number of sets that were asked about.

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


def implication_test(
    a: Party,
    alpha: Condition,
    b: Party,
    beta: Condition,
    strength: Number,
    *,
    votes: int = 1,
    trials: int = 64,
    heavy: Number = 1.0,
    rng: Generator | None = None,
) -> ImplicationTest:
    """Test whether ``P[beta | alpha] >= P[beta] + strength`` (Dwork and Nissim).

    Privacy
    -------
    Neighbors are databases of one party that differ in one row, replaced by another. Each party's
    answers satisfy the loss of its own `NoisySums`, which was spent when that was made; who knows
    one party's rows learns no more than that about the other's. Where one person's rows of both
    change, the losses of both add up. (Dwork and Nissim, CRYPTO 2004;
    the primitive of Blum, Dwork, McSherry and Nissim, PODS 2005.) Sets of rows are random and
    public; which is asked about next depends on the answers alone.

    Parameters
    ----------
    a, b : NoisySums or RemoteSums
        The two parties: the same rows in the same order, "replace". `a` is asked at most
        ``1 + trials`` questions, `b` ``1 + votes``.
    alpha, beta : Condition
        Of the columns of `a`, and of `b`.
    strength : float
        Between -1 and 1.
    votes : int, default 1
        Number of sets that decide; an odd number has no ties. One set decides little better than a
        coin does when the true strength is near.
    trials : int, default 64
        Number of sets to try, at most; about one in 13 is heavy.
    heavy : float, default 1.0
        How large an excess a set must have, over ``sqrt(|S| a (1 - a))``, as published.
    rng : Generator, optional
        Draws the sets; the secure one by default.

    Returns
    -------
    ImplicationTest
        `holds` is the answer. Other strengths can be asked of it, and searched for.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been asked.
    BudgetError
        If a party has too few questions left; nothing has been asked.
    DataError
        For NaN under ``nan="raise"``.

    Notes
    -----
    Cost: a read of the data for each question. The noise of a question grows with the number of
    questions, and should be far below ``sqrt(n)``; `implication_strength` makes more of a budget.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> rows = np.arange(400_000)
    >>> smokes = rows % 4 == 0
    >>> coughs = (rows % 8 == 0) | (rows % 8 == 3)  # half of those who smoke, a quarter of all
    >>> kw = {"rho": 1.0, "neighbors": "replace"}
    >>> a = dp.sulq.NoisySums(smokes, queries=101, **kw)
    >>> b = dp.sulq.NoisySums(coughs, queries=10, **kw)
    >>> yes = dp.sulq.Attribute()
    >>> test = dp.sulq.implication_test(a, yes, b, yes, 0.1, votes=9, trials=100)
    >>> test.asked <= 100 and len(test.excesses) <= 9
    True
    """
    n, generator = _common(a, alpha, b, beta), _rng.check(rng)
    wanted = checks.number("strength", strength)
    if not -1 <= wanted <= 1:
        checks.fail("strength", "between -1 and 1", strength)
    most, enough = checks.whole("trials", trials, 1), checks.whole("votes", votes, 1)
    factor = checks.positive("heavy", heavy)
    _expect(a, 1 + most, "a")
    _expect(b, 1 + enough, "b")
    fraction = _inside(a.sum(alpha) / n, n)
    other = b.sum(beta) / n
    excesses: list[float] = []
    answers: list[float] = []
    asked = 0
    while asked < most and len(answers) < enough:
        chosen = RowSets.random(n, 1, generator)
        size = int(chosen.sizes[0])
        excess = a.sum(alpha, chosen.mask(0)) - size * fraction
        asked += 1
        if excess >= factor * math.sqrt(size * fraction * (1.0 - fraction)):
            excesses.append(excess)
            answers.append(b.sum(beta, chosen.mask(0)) - size * other)
    spread = _spread(fraction, n)
    noise = 1.25 * a.deviation**2  # of the sum, and half of the error of the number of all rows
    return ImplicationTest(
        alpha=fraction,
        beta=other,
        excesses=tuple(excesses),
        answers=tuple(answers),
        reliability=spread / (spread + noise),
        asked=asked,
        strength=wanted,
    )


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
    Neighbors are databases of one party that differ in one row, replaced by another. Each party's
    answers satisfy the loss of its own `NoisySums`, which was spent when that was made; where one
    person's rows of both change, the losses of both add up. (Dwork and Nissim, CRYPTO 2004; the
    primitive of Blum, Dwork, McSherry and Nissim, PODS 2005.) Sets of rows are random
    and public, and no answer decides what is asked.

    Parameters
    ----------
    a, b : NoisySums or RemoteSums
        The two parties: the same rows in the same order, "replace". Best if they have no more
        questions than are asked.
    alpha, beta : Condition
        Of the columns of `a`, and of `b`.
    sets : int, optional
        Number of sets of rows in each question, at least 8; by default about as many as make the
        error least, at most 1000.
    questions : int, default 1
        Number of questions to each party. Noise is that of one question about all their
        sets, and one question's sets are held in memory at a time.
    rng : Generator, optional
        Draws the sets; the secure one by default.

    Returns
    -------
    Implication
        `strength`, its standard `error`, and the fractions `alpha` and `beta`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been asked.
    BudgetError
        If a party has too few questions left; nothing has been asked.
    DataError
        For NaN under ``nan="raise"``.

    Notes
    -----
    Cost: a read of the data of each party, and an eighth of a byte for each row and set.

    Where beta is about as frequent as alpha, the error is about ``(1 - alpha) / sqrt(sets)`` with
    few sets, and with the best number of them, for `rho`, ``sqrt(2 (1 - alpha) / (alpha rho n))``.
    It speaks of these rows; as an estimate for a population of which they are a sample it has that
    of the sample besides. The noise of `alpha` and `beta` is counted, what is of second order is
    not.

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
    >>> bool(abs(estimate.strength - 1 / 4) < 6 * estimate.error), bool(estimate.error < 0.04)
    (True, True)
    """
    n, generator = _common(a, alpha, b, beta), _rng.check(rng)
    r = _best(a, b, n) if sets is None else checks.whole("sets", sets, 8)
    times = checks.whole("questions", questions, 1)
    _expect(a, times, "a")
    _expect(b, times, "b")
    noises = a.contrast_deviation(r), b.contrast_deviation(r)
    totals, rows = np.zeros(2), []
    for _ in range(times):
        chosen = RowSets.random(n, r, generator)
        (total, x), (other, y) = a.contrasts(alpha, chosen), b.contrasts(beta, chosen)
        totals += total, other
        rows.append([x, y, chosen.sizes - n / 2])  # the excess of a set of more than half
    first, second = (totals / times / n).tolist()
    x, y, shift = np.concatenate(rows, axis=1)
    x, y = x - shift * first, y - shift * second
    c = float(x @ y / math.sqrt(max(float((x @ x) * (y @ y)), 5e-324)))

    def scale(alpha: float, beta: float) -> float:
        """Return the factor of the correlation where alpha and beta hold for these fractions."""
        x, y = _spread(alpha, n), _spread(beta, n)
        noisy = (x + noises[0] ** 2) * (y + noises[1] ** 2)
        return math.sqrt(noisy) * (1.0 - _inside(alpha, n)) / x

    u, v = (2.0 * noise / n / math.sqrt(times) for noise in noises)
    ends = (
        (scale(first + u, second), scale(first - u, second)),
        (scale(first, second + v), scale(first, second - v)),
    )
    slopes = [c * ((up - down) / 2.0) for up, down in ends]
    sampling = (1.0 - c * c) / math.sqrt(r * times) * scale(first, second)
    error = math.hypot(sampling, *slopes)
    return Implication(c * scale(first, second), error, first, second, sets=r * times)


def _inside(fraction: float, n: int) -> float:
    """Return a fraction of n rows that is neither none nor all of them."""
    return min(max(fraction, 1.0 / n), 1.0 - 1.0 / n)


def _spread(fraction: float, n: int) -> float:
    """Return the variance of the number of such rows in a random set of half of n rows."""
    part = _inside(fraction, n)
    return n * part * (1.0 - part) / 4.0


def _best(a: Party, b: Party, n: int) -> int:
    """Return about the number of sets that makes the error least, from public numbers alone."""

    def variance(r: int) -> float:
        spread = n * USUAL / 4.0
        x, y = (spread + party.contrast_deviation(r) ** 2 for party in (a, b))
        return x * y / r

    return min((round(MOST * 2 ** (-k / 4)) for k in range(28)), key=variance)


def _common(a: Party, alpha: Any, b: Party, beta: Any) -> int:
    """Return the number of rows that both parties have."""
    for name, party in (("a", a), ("b", b)):
        if not checks.has(party, "contrasts"):
            checks.fail_kind(name, "the noisy sums of a party", party)
        if party.neighbors != "replace":
            checks.fail(
                name,
                "noisy sums with neighbors='replace', since both parties know the rows by number",
                party,
            )
        if party.rows is None:
            checks.fail(name, "noisy sums of data of known length", party)
    for name, condition in (("alpha", alpha), ("beta", beta)):
        if not isinstance(condition, Condition):
            checks.fail_kind(name, "a condition, made of dpfast.sulq.Attribute", condition)
    n = a.rows
    assert n is not None
    if b.rows != n:
        checks.fail("b", f"noisy sums of as many rows as a has, {n}", f"{b.rows} rows")
    if n < 2:
        checks.fail("a", "noisy sums of at least 2 rows", f"{n} rows")
    return n


def _expect(party: Party, questions: int, name: str) -> None:
    if party.remaining < questions:
        raise BudgetError(
            f"{name} may have to answer {questions} questions and has {party.remaining} left; "
            "nothing has been asked"
        )
