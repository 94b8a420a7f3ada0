"""Test whether one attribute makes another more likely, by votes of public random sets of rows.

Look for a set with an excess x of sqrt(|S| a (1 - a)), sqrt(2) deviations, which every thirteenth
set has. Does beta have an excess of slope times x there? One set is little better than a coin: y
varies about as much as x does. So many sets vote. With noise of variance R in x, the expected true
excess is V / (V + R) of the noisy one, V = Var x, however the set was chosen. The slope is
multiplied by this fraction here, so the vote is unbiased. `parties` has the moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import rng as _rng
from .._core import checks
from .._core.types import Number
from ..rng import Generator
from .conditions import Condition
from .parties import Party, common_rows, expect_questions, inside, spread_of
from .row_sets import RowSets


@dataclass(frozen=True)
class ImplicationTest:
    """The result of `implication_test`: each row set votes for or against a strength.

    The votes test every other strength, too, at no cost.

    Attributes
    ----------
    alpha, beta : float
        Fractions of the rows where alpha and where beta hold, with noise.
    excesses : tuple of float
        For each set with clearly more rows than expected where alpha holds: the excess over the
        expected number.
    answers : tuple of float
        The excess of rows where beta holds, for the same sets.
    reliability : float
        The expected fraction of an excess that is not noise.
    tried : int
        Number of sets in queries to the first party.
    strength : float
        The strength that was tested.

    Examples
    --------
    See `dpfast.sulq.implication_test`, which returns one.

    >>> import dpfast as dp
    >>> found = dp.sulq.ImplicationTest(0.4, 0.5, (4.0,), (3.0,), 1.0, 9, 0.3)
    >>> found.tried
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
    tried: int
    strength: float

    @property
    def holds(self) -> bool:
        """Whether most sets vote for at least the tested strength; False without any set."""
        return self.votes(self.strength) > len(self.answers) / 2

    def votes(self, strength: Number) -> int:
        """Return the number of sets that vote for at least this strength of the implication.

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
        """Return the strength at which half of the votes are lost, or NaN without any votes.

        A binary search in the existing answers finds that strength, because fewer sets vote for a
        larger strength.

        Parameters
        ----------
        tolerance : float, default 1e-6
            The largest error of the result.

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
    Neighbors are databases of one party that differ in one row, replaced by another. The answers of
    each party satisfy the loss of its `NoisySums`, which was spent when the object was created;
    someone who knows the rows of one party learns no more about the rows of the other party than
    this loss allows. If one person's rows of both parties change, the losses add up. (Dwork and
    Nissim, CRYPTO 2004; the primitive of Blum, Dwork, McSherry and Nissim, PODS 2005.) Sets of rows
    are random and public; the next query depends on earlier answers alone.

    Parameters
    ----------
    a, b : NoisySums or RemoteSums
        The two parties: the same rows in the same order, "replace". `a` gets at most ``1 + trials``
        queries, `b` ``1 + votes``.
    alpha, beta : Condition
        Conditions on the columns of `a`, and of `b`.
    strength : float
        Between -1 and 1.
    votes : int, default 1
        Number of sets that vote; an odd number has no ties. If the true strength is near the tested
        strength, the vote of one set is hardly better than a coin.
    trials : int, default 64
        The largest number of sets to try; about one in 13 has a large excess.
    heavy : float, default 1.0
        The least excess of a set that votes, divided by ``sqrt(|S| a (1 - a))``, as published.
    rng : Generator, optional
        The source of the sets; by default the secure one.

    Returns
    -------
    ImplicationTest
        `holds` is the answer. It can also test other strengths, and search for one.

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
    Cost: a read of the data for each question. The noise of a query grows with the number of
    queries, and should be far below ``sqrt(n)``; `implication_strength` is more accurate for the
    same budget.

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
    >>> test.tried <= 100 and len(test.excesses) <= 9
    True
    """
    n, generator = common_rows(a, alpha, b, beta), _rng.check(rng)
    wanted = checks.number("strength", strength)
    if not -1 <= wanted <= 1:
        checks.fail("strength", "between -1 and 1", strength)
    most, enough = checks.whole("trials", trials, 1), checks.whole("votes", votes, 1)
    factor = checks.positive("heavy", heavy)
    expect_questions(a, 1 + most, "a")
    expect_questions(b, 1 + enough, "b")
    fraction = inside(a.sum(alpha) / n, n)
    other = b.sum(beta) / n
    excesses: list[float] = []
    answers: list[float] = []
    tried = 0
    while tried < most and len(answers) < enough:
        chosen = RowSets.random(n, 1, generator)
        size = int(chosen.sizes[0])
        excess = a.sum(alpha, chosen.mask(0)) - size * fraction
        tried += 1
        if excess >= factor * math.sqrt(size * fraction * (1.0 - fraction)):
            excesses.append(excess)
            answers.append(b.sum(beta, chosen.mask(0)) - size * other)
    spread = spread_of(fraction, n)
    # The variance of the sum's noise, and a fourth of it for the noise of the total.
    noise = 1.25 * a.deviation**2
    return ImplicationTest(
        alpha=fraction,
        beta=other,
        excesses=tuple(excesses),
        answers=tuple(answers),
        reliability=spread / (spread + noise),
        tried=tried,
        strength=wanted,
    )
