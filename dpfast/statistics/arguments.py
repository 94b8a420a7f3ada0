"""The arguments that statistics share: one record of them, and their types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, TypeAlias, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from .._core.types import Bounds, NanPolicy, Neighbors, NoiseName, Number
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, relation_of
from ..errors import ArgumentError
from ..measurement.automatic_bounds import ANY, SHARE, WithBounds, divided
from ..measurement.outer_bounds import drawn_bounds
from ..measurement.unit import OfUnits, Unit, one_row
from ..noise.additive import MOST
from ..noise.grid import Lattice, lattice
from ..privacy import Approx, Loss
from ..rng import Generator
from ..sources.ids import id_name
from ..sources.intake import View
from ..sources.people import checked

Floats: TypeAlias = NDArray[np.float64]
Value = TypeVar("Value")


class Keywords(TypedDict, total=False):
    """Keyword arguments of every release of columns, for overloads on `axis`."""

    epsilon: Number | None
    delta: Number
    rho: Number | None
    neighbors: Neighbors | None
    where: Any
    ids: Any
    max_rows: int | None
    budget: Budget | None
    rng: Generator | None


class NanKeywords(Keywords, total=False):
    """The same with what becomes of missing numbers."""

    nan: NanPolicy


class WeightKeywords(NanKeywords, total=False):
    """The same with a weight for each row."""

    weights: Any
    weight_bounds: Bounds | None


class NoiseKeywords(NanKeywords, total=False):
    """The same with the distribution of noise for a smooth sensitivity."""

    noise: NoiseName


@dataclass(frozen=True, slots=True)
class Arguments:
    """Arguments of a call: each property checks its part and returns it.

    The neighboring relation is settled when the record is made. With `ids` the call is one of
    people: `people` is their relation then, and the loss and the relation are those of a row of
    theirs, as `people.one_row` derives them. So whoever makes a mechanism of them knows of rows
    alone, but for those who can make noise for all `rows` of a person `at_once`.
    """

    bounds: Any
    epsilon: Any
    delta: Any
    rho: Any
    neighbors: Any
    axis: Any = None
    nan: Any = "raise"
    where: Any = None
    ids: Any = None
    max_rows: Any = None
    budget: Budget | None = None
    rng: Generator | None = None
    granularity: Any = None
    people: Neighbors | None = None
    id_name: str = ""
    at_once: bool = False
    rows: int = 1

    def __post_init__(self) -> None:
        if self.granularity is not None and self.automatic:
            rule = "left out with bounds='auto', which need not hold any of its multiples"
            checks.fail("granularity", rule, self.granularity)
        relation = relation_of(self.neighbors, self.budget)
        settled = {"neighbors": relation}
        if self.people is None:  # else this is a copy of a record for which it was done
            settled |= self._of_people(relation)
        for name, value in settled.items():
            object.__setattr__(self, name, value)

    def _of_people(self, relation: Neighbors) -> dict[str, Any]:
        """Return what is another thing for people; nothing without ids."""
        if self.ids is None:
            if self.max_rows is not None:
                rule = "left out without ids, which say whose rows they are"
                checks.fail("max_rows", rule, self.max_rows)
            return {}
        ids = checked(self.ids)
        if self.max_rows is None:
            rule = "given with ids: how many rows of a person count at most"
            checks.fail("max_rows", rule, None)
        most, loss = checks.rows_each(self.max_rows), self.loss
        rows = 1
        if self.at_once and not self.automatic and not isinstance(loss, privacy.ZCDP):
            # A larger epsilon is refused for one integer, and may be many rows' together.
            rows = most if loss.epsilon <= MOST else 1
        part = one_row(loss, relation, most // rows)
        parts = {"epsilon": None, "delta": 0, "rho": None}
        parts |= {one.name: getattr(part, one.name) for one in fields(part)}
        return {
            "neighbors": "add-remove",
            "people": relation,
            "ids": ids,
            "id_name": id_name(self.ids),
            "max_rows": most,
            "rows": rows,
            **parts,
        }

    @property
    def interval(self) -> tuple[float, float]:
        """Return the bounds of one column."""
        return checks.bounds(self.bounds)

    @property
    def loss(self) -> Loss:
        """Return the privacy loss that is asked for."""
        return privacy.loss(self.epsilon, self.delta, self.rho)

    @property
    def relation(self) -> str:
        """Return the neighboring relation."""
        return checks.neighbors(self.neighbors)

    @property
    def policy(self) -> str | float:
        """Return what becomes of missing numbers."""
        return checks.nan_policy(self.nan, self.relation)

    @property
    def lattice(self) -> Lattice | None:
        """Return the candidates within the bounds, if they are told."""
        if self.granularity is None:
            return None
        step = checks.fraction("granularity", self.granularity)
        if step <= 0:
            checks.fail("granularity", "None or a positive number", self.granularity)
        return lattice(*self.interval, step)

    def prepared(self, view: View, mechanism: Mechanism[Value]) -> Prepared[Value]:
        """Return the release of a statistic of the rows of a view."""
        if self.people is not None:
            steps = self.max_rows // self.rows
            mechanism = OfUnits(mechanism, Unit(self.people, self.id_name, self.max_rows), steps)
        return Prepared(mechanism, view, self.budget, self.rng)

    def pairs(self, width: int) -> tuple[Any, ...]:
        """Return the bounds of each of some columns."""
        if self.automatic:
            return (self.bounds,) * width
        pairs, several = checks.pairs(self.bounds)
        if several and len(pairs) != width:
            rule = f"one pair, or one for each column of the data, {width}"
            checks.fail("bounds", rule, f"{len(pairs)} of them")
        return pairs if several else pairs * width

    @property
    def automatic(self) -> bool:
        """Tell whether a part of the loss is for the bounds."""
        return checks.is_auto(self.bounds)

    def part(self, share: Fraction, of_delta: Fraction) -> Arguments:
        """Return the same arguments for a part of the loss."""
        loss = self.loss
        if isinstance(loss, privacy.ZCDP):
            return replace(self, rho=loss.rho * share)
        delta = loss.delta * of_delta if isinstance(loss, Approx) else 0
        return replace(self, epsilon=loss.epsilon * share, delta=delta)


def settled(
    asked: Arguments,
    make: Callable[[Arguments], Mechanism[Value]],
    columns: int | None = None,
) -> Mechanism[Value]:
    """Return the mechanism that `make` makes of arguments, whose bounds may be "auto".

    Parameters
    ----------
    asked : Arguments
    make : callable
        Checks arguments and returns a mechanism, whose loss is no more than theirs.
    columns : int, optional
        How many columns have bounds of their own, where there is one for each of several.
    """
    if not asked.automatic:
        return make(asked)
    first, rest = divided(asked.loss)
    part = asked.part(1 - SHARE, Fraction(1))
    try:
        trial = make(replace(part, bounds=ANY))
    except ArgumentError as error:  # it may show a number that nobody has written
        raise ArgumentError(f"{error} (for 3/4 of the loss)") from None
    bounds = drawn_bounds(first, columns, asked.relation, asked.policy)

    def of(pairs: Any) -> Mechanism[Value]:
        return make(replace(part, bounds=pairs))

    return WithBounds(bounds, of, asked.loss, rest, trial.name)
