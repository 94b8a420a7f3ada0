"""A statistic of each column, each released for an equal part of the loss.

A row may move the answers of all its columns. Where nothing serves them better together, d releases
of a d-th of the loss each, of the same rows, are one release of all of it: epsilon, delta and rho
add up (basic composition, Dwork, McSherry, Nissim and Smith, TCC 2006; Bun and Steinke, TCC 2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from ..budget.budget import Budget
from ..budget.release import Mechanism, release
from ..errors import ArgumentError
from ..noise.additive import several
from ..privacy import ZCDP, Approx, Loss, Pure
from ..rng import Generator
from ..sources import Source, masked
from ..sources.columns import each_alone
from .axis import each_column, pairs_for, said

Asked = tuple[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class EqualParts:
    """One mechanism a column, all of one kind and of the same loss."""

    columns: tuple[Mechanism[float], ...]

    @property
    def loss(self) -> Loss:
        return _together(self.columns[0].loss, len(self.columns))

    @property
    def neighbors(self) -> str:
        return self.columns[0].neighbors

    @property
    def name(self) -> str:
        return f"{self.columns[0].name} of each column"

    def reduce(self, sources: Sequence[Source]) -> list[Any]:
        return [own.reduce(one) for own, one in zip(self.columns, sources, strict=True)]

    def finish(self, summary: list[Any], generator: Generator) -> NDArray[np.float64]:
        each = zip(self.columns, summary, strict=True)
        return np.array([own.finish(one, generator) for own, one in each], np.float64)


def released(
    data: Any,
    bounds: Any,
    asked: Asked,
    axis: Any,
    where: Any,
    budget: Budget | None,
    rng: Generator | None,
    make: Callable[[Any, Asked], Mechanism[float]],
) -> Any:
    """What `make` releases of the data, or of each of its columns.

    `make` gives the mechanism for the bounds of a column and for (epsilon, delta, rho), and checks
    them.
    """
    if not each_column(axis, data):
        made = make(bounds, asked)
        return release(masked(data, where, made.neighbors), made, budget=budget, rng=rng)
    loss = privacy.loss(*asked)
    checks.pairs(bounds)
    sources = each_alone(data, said(bounds))
    part = _part(loss, len(sources))
    try:
        columns = tuple(make(pair, part) for pair in pairs_for(bounds, len(sources)))
    except ArgumentError as error:  # it may show a number that nobody has written
        raise ArgumentError(f"{error} (for each column, and a part of the loss)") from None
    kept = [masked(one, where, columns[0].neighbors) for one in sources]
    return release(kept, EqualParts(columns), budget=budget, rng=rng, prepare=lambda found: found)


def _part(loss: Loss, width: int) -> Asked:
    """Epsilon, delta and rho of one of `width` columns."""
    if isinstance(loss, ZCDP):
        return None, 0, loss.rho / width
    return loss.epsilon / width, loss.delta / width if isinstance(loss, Approx) else 0, None


def _together(each: Loss, width: int) -> Loss:
    """What `width` releases of this loss come to."""
    if isinstance(each, Pure):
        return several(each, width)
    return privacy.compose(*[each] * width)
