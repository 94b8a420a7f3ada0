"""Test whether one attribute makes another more likely, by votes of public random sets of rows.

`parties` explains x, y, a, b and their moments. Look for a row set S with an excess x of at least
sqrt(|S| a (1 - a)), which is sqrt(2) standard deviations. About every thirteenth set has such an
excess. Then ask: does beta have an excess y of at least slope times x in this set? The answer for
one set is little better than a coin, because y varies about as much as x. So many sets vote.

With noise of variance R in x, the expected true excess is the fraction V / (V + R) of the noisy
excess, where V = Var x. This holds however the set was chosen. The slope is multiplied by this
fraction, so the vote is unbiased.
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

    The same answers test any other strength too (`votes`). This costs nothing.

    Attributes
    ----------
    alpha, beta : float
        The fractions of rows where alpha holds and where beta holds, with noise.
    excesses : tuple of float
        For each set that votes: by how much the number of rows where alpha holds exceeds its
        expectation. Sets vote if this excess is large.
    answers : tuple of float
        For the same sets: by how much the number of rows where beta holds exceeds its expectation.
    reliability : float
        The expected fraction of an excess that is not noise.
    tried : int
        The number of sets about which the first party was queried.
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
        """Whether most sets vote for at least the tested strength. False if there is no set."""
        return self.votes(self.strength) > len(self.answers) / 2

    def votes(self, strength: Number) -> int:
        """Return the number of sets that vote for at least this strength of the implication.

        Parameters
        ----------
        strength : float
            The strength to test, from -1 to 1.

        Returns
        -------
        int
            The number of votes.
        """
        slope = checks.number("strength", strength) * self.reliability / (1.0 - self.alpha)
        return sum(y >= slope * x for x, y in zip(self.excesses, self.answers, strict=True))

    def search(self, tolerance: Number = 1e-6) -> float:
        """Return the strength for which half of the sets vote, or NaN if there are no sets.

        The larger a strength, the fewer sets vote for it. So a binary search in the existing
        answers finds this strength. This costs nothing.

        Parameters
        ----------
        tolerance : float, default 1e-6
            The largest error of the result.

        Returns
        -------
        float
            The strength.

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
    """Test whether alpha makes beta more likely by a given strength, if two parties hold one each.

    The test is whether ``P[beta | alpha] >= P[beta] + strength``. For example, alpha is "smokes" in
    the data of one party, and beta is "coughs" in the data of another party, for the same people.
    Neither party sees a row of the other. The test looks for random row sets in which alpha is
    unusually frequent. Each of them votes by the frequency of beta in it (Dwork and Nissim).

    Privacy
    -------
    Neighbors are databases of one party that differ in one row, which is replaced. The answers of
    each party satisfy the loss of its `NoisySums`, which was spent when the object was created. So
    a person who knows the rows of one party learns no more about the rows of the other party than
    this loss allows. If the rows of one person change in the data of both parties, the losses add
    up. (Dwork and Nissim, CRYPTO 2004; with the noisy sums of Blum, Dwork, McSherry and Nissim,
    PODS 2005.) Row sets are random and public. Whether there is a next query depends on earlier
    answers alone.

    Parameters
    ----------
    a, b : NoisySums or RemoteSums
        The noisy sums of the two parties, over the same rows in the same order, for "replace". `a`
        answers at most ``1 + trials`` queries, and `b` at most ``1 + votes``.
    alpha, beta : Condition
        Conditions: `alpha` on the columns of `a`, `beta` on the columns of `b`.
    strength : float
        The strength to test, between -1 and 1.
    votes : int, default 1
        The number of sets that vote. An odd number has no ties. If the true strength is near the
        tested strength, the vote of one set is hardly better than a coin.
    trials : int, default 64
        The largest number of sets to try. About one set in 13 has a large excess, and votes.
    heavy : float, default 1.0
        The least excess with which a set S votes, as a multiple of ``sqrt(|S| a (1 - a))``. 1 is
        the value in the paper.
    rng : Generator, optional
        The source of the random sets, by default the secure one.

    Returns
    -------
    ImplicationTest
        The result, whose attribute `holds` is the answer. `votes` tests another strength, and
        `search` finds the strength with half of the votes.

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
    Cost: one read of the data for each query. The noise of a query grows with the number of
    queries. It should be far below ``sqrt(n)``. For the same budget, `implication_strength` is more
    accurate.

    Examples
    --------
    A quarter of all people cough, and half of the smokers. Test for a strength of 0.1 by nine
    votes:

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
