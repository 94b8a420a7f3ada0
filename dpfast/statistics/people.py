"""A loss of people: a mechanism on at most k rows of each person, by group privacy or at once.

*What is released.* Of each person at most k rows are kept: of those that `where` keeps and that
have an id, which of more is a uniform choice by a fresh secret key (`sources.bounding`). Then the
mechanism runs on what is kept, under "add-remove" and so with a private number of rows, for each
row's part of the loss. That holds whatever the relation of people is: how many rows are kept is a
fact about people.

*Neighbors* differ in all rows of one person, who comes or goes (add-remove), or is replaced by a
person with other rows and a new id (replace).

*Loss.* Let the rows of a person come. Rows that they stand before get other numbers. But hashes of
different numbers are independent and uniform, so what is kept of everybody else has the same law as
before, and there is a coupling of the two choices in which all others keep the same rows. In it the
kept rows differ by at most k rows that come or go: k steps of the mechanism, and 2 k if a person is
replaced. The mechanism does not look at the order of rows. For fixed choices k steps cost what
`privacy.group` says (Dwork, McSherry, Nissim and Smith, TCC 2006; for rho Bun and Steinke, TCC
2016), and the mixture over choices costs no more, since all three kinds of loss are bounds on
divergences that are jointly convex or, for Renyi divergences, quasi-convex (van Erven and
Harremoes, 2014). A row's part is the largest that group privacy brings back to the whole
(`privacy.group_within`): epsilon / k, rho / k^2.

*That this is no waste*, under add-remove. k rows of L1 norm at most c change a sum by k c, so
Laplace noise for it has the scale k c / epsilon; and k rows of L2 norm at most c by k c in L2, so
Gaussian noise has the deviation k c / sqrt(2 rho). Either is the noise for one row and its part of
the loss. So is the rate of an exponential mechanism in epsilon: k rows change the rank of a
quantile's utility by D = k max(q, 1 - q).

*All at once.* Counts, sums, means, variances and covariances are better calibrated to people
themselves: for (epsilon, delta), and where noise is a staircase. In the coupling above a person who
comes moves an exact sum by k times what a row adds, at most, in every coordinate and every norm. So
the mechanism has noise for the sensitivity of `rows` = k rows at once, and its loss is that of one
person: one step, or two if a person is replaced.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core.error_bars import Expected, expected
from .._core.types import Neighbors
from ..budget.release import Mechanism
from ..errors import ArgumentError
from ..noise.additive import amount
from ..privacy import Loss
from ..privacy.composition import steps
from ..rng import Generator
from ..sources.batches import refuse_beside
from ..sources.intake import View
from ..sources.key_words import secret

Value = TypeVar("Value")


def one_row(loss: Loss, people: Neighbors, max_rows: int) -> Loss:
    """Return what a row that comes or goes may cost, for a loss of people of so many rows.

    Raises
    ------
    ArgumentError
        If that is less than can be sampled.
    """
    size = steps("add-remove", people, max_rows)
    assert size is not None
    try:
        part = privacy.group_within(loss, size)
        amount(part)
    except ArgumentError as error:  # it shows a number that nobody has written
        raise ArgumentError(f"{error}, the part of a row (see max_rows)") from None
    return part


@dataclass(frozen=True, slots=True)
class People(Generic[Value]):
    """A mechanism of rows as one of people.

    Parameters
    ----------
    inner : Mechanism
        Under "add-remove", for a row's part of the loss, or for all rows of a person.
    neighbors : {"add-remove", "replace"}
        Of people.
    max_rows : int
        How many rows of a person count at most.
    steps : int
        How many rows cost as much as the loss of `inner` says, one after the other: `max_rows`, or
        1 where that is for all of them at once.
    ids : str
        Whose loss it is, for the budget; "" for ids without a name.
    """

    inner: Mechanism[Value]
    neighbors: Neighbors
    max_rows: int
    steps: int
    ids: str

    @property
    def loss(self) -> Loss:
        """Return what a person's rows cost together."""
        inner = self.inner.loss
        loss = privacy.convert(inner, "add-remove", self.neighbors, max_rows=self.steps)
        assert loss is not None
        return loss

    @property
    def name(self) -> str:
        return self.inner.name

    def reduce(self, source: View) -> View:
        """Return the rows as they are: what is kept of them is random."""
        return source

    def finish(self, summary: View, generator: Generator) -> Value:
        assert summary.ids is not None
        key = secret(generator.stream())
        kept = summary.ids.kept(summary.where, self.max_rows, key)
        if summary.length not in (None, len(kept)):
            refuse_beside()
        inner: Mechanism[Value]
        source: Any
        if hasattr(self.inner, "where"):
            inner, source = on_rows(self.inner, kept), summary.source
        else:
            inner, source = self.inner, replace(summary, where=kept).kept
        return inner.finish(inner.reduce(source), generator)

    def error(self, rows: int | None, confidence: float) -> Expected:
        """Return the error bar for so many rows that are kept.

        It is that of the mechanism, about the rows that are kept: what is not kept is in no bar.
        """
        return expected(self.inner, rows, confidence)


def on_rows(mechanism: Any, where: NDArray[np.bool_] | None) -> Any:
    """Return a mechanism, or one of several columns, that looks at the rows of a mask."""
    if any(one.name == "where" for one in fields(mechanism)):
        return replace(mechanism, where=where)
    columns = tuple(replace(column, where=where) for column in mechanism.columns)
    return replace(mechanism, columns=columns)
