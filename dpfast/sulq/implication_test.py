"""Test whether one attribute makes another likelier, by votes of public random sets of rows.

Look for a set with an excess x of sqrt(|S| a (1 - a)), sqrt(2) deviations, which every
thirteenth set has. Does beta have an excess of slope times x there? That tells little more than a
coin would: y strays about as far as x does. So many sets vote. With noise of variance R in x, the
expected true excess is V / (V + R) of the noisy one, V = Var x, however the set was chosen. The
slope is multiplied by that here, so the vote is a fair one.
`parties` has the moments.
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
    """The result of `implication_test`: votes of row sets, which test any other strength for free.

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
    tried : int
        Number of sets that the first party was asked about.
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

        Binary search in the answers at hand finds that strength, since votes only fall as it grows.

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
    noise = 1.25 * a.deviation**2  # of the sum, and half of the error of the number of all rows
    return ImplicationTest(
        alpha=fraction,
        beta=other,
        excesses=tuple(excesses),
        answers=tuple(answers),
        reliability=spread / (spread + noise),
        tried=tried,
        strength=wanted,
    )
