"""Two parties, each with one attribute of the same rows: does one make the other more likely?

One party knows for which of n common rows alpha holds, and the other party for which beta holds.
Neither party sees a row of the other. Both answer, with noise, how many rows of public random sets
have their attribute (Dwork and Nissim, CRYPTO 2004). Let a be the fraction of rows with alpha, and
b the fraction with beta. Let S be a random set that contains each row with probability 1/2,
independently. Then

    x = |S and alpha| - a |S|,  y = |S and beta| - b |S|

have mean 0, Var x = n a (1 - a) / 4, Var y = n b (1 - b) / 4, and E x y = n (P[alpha beta] - a b) /
4. So the regression of y on x has the slope P[beta | alpha] - P[beta | not alpha]. The strength
P[beta | alpha] - P[beta] is (1 - a) times this slope. These moments are exact. By the central limit
theorem, x and y are approximately normal.
"""

from __future__ import annotations

from typing import Any

from .._core import checks
from ..errors import BudgetError
from .conditions import Condition
from .noisy_sums import NoisySums
from .remote_sums import RemoteSums

#: A party in this process, or at the other end of a connection.
Party = NoisySums | RemoteSums


def inside(fraction: float, n: int) -> float:
    """Return `fraction` clamped to ``1 / n .. 1 - 1 / n``, so that its variance is not 0."""
    return min(max(fraction, 1.0 / n), 1.0 - 1.0 / n)


def spread_of(fraction: float, n: int) -> float:
    """Return the variance of the number of rows with an attribute in a random half of n rows."""
    part = inside(fraction, n)
    return n * part * (1.0 - part) / 4.0


def common_rows(a: Party, alpha: Any, b: Party, beta: Any) -> int:
    """Return the number of rows that both parties share, after checking parties and conditions."""
    for name, party in (("a", a), ("b", b)):
        if not checks.has(party, "contrasts"):
            checks.fail_kind(name, "the noisy sums of a party", party)
        if party.neighbors != "replace":
            checks.fail(
                name,
                "noisy sums with neighbors='replace', so that both parties have the same rows",
                party,
            )
        if party.rows is None:
            checks.fail(name, "noisy sums over data of known length", party)
    for name, condition in (("alpha", alpha), ("beta", beta)):
        if not isinstance(condition, Condition):
            checks.fail_kind(name, "a condition made of dpfast.sulq.Attribute", condition)
    n = a.rows
    assert n is not None
    if b.rows != n:
        checks.fail("b", f"noisy sums over as many rows as a has, {n}", f"{b.rows} rows")
    if n < 2:
        checks.fail("a", "noisy sums over at least 2 rows", f"{n} rows")
    return n


def expect_questions(party: Party, questions: int, name: str) -> None:
    if party.remaining < questions:
        raise BudgetError(
            f"{name} may have to answer {questions} queries, but has {party.remaining} left: "
            "no query was made"
        )
