"""Statistics of each column, each released for an equal part of the loss.

A row may change the answers of all its columns. Where nothing serves them better together, d
releases of a d-th of the loss each, of the same rows, are one release of all of it: epsilon, delta
and rho add up (basic composition, Dwork, McSherry, Nissim and Smith, TCC 2006; Bun and Steinke, TCC
2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import privacy
from ..budget.release import Mechanism, release
from ..errors import ArgumentError
from ..noise.additive import several
from ..privacy import Loss, Pure
from ..rng import Generator
from ..sources import Source
from ..sources.forms import form_of
from ..sources.intake import has_axis, read_column, read_each
from ..sources.table import RULE
from .arguments import Arguments, Floats


@dataclass(frozen=True, slots=True)
class EqualParts:
    """One mechanism a column, all of one kind and of the same loss."""

    columns: tuple[Mechanism[float], ...]

    @property
    def loss(self) -> Loss:
        each, width = self.columns[0].loss, len(self.columns)
        return several(each, width) if isinstance(each, Pure) else privacy.compose(*[each] * width)

    @property
    def neighbors(self) -> str:
        return self.columns[0].neighbors

    @property
    def name(self) -> str:
        return f"{self.columns[0].name} of each column"

    def reduce(self, sources: Sequence[Source]) -> list[Any]:
        each = zip(self.columns, sources, strict=True)
        return [mechanism.reduce(source) for mechanism, source in each]

    def finish(self, summary: list[Any], generator: Generator) -> Floats:
        each = zip(self.columns, summary, strict=True)
        return np.array([mechanism.finish(part, generator) for mechanism, part in each], np.float64)


def released(
    data: Any, asked: Arguments, make: Callable[[Arguments], Mechanism[float]]
) -> float | Floats:
    """Release a statistic of the data, or of each of their columns.

    `make` checks the arguments of one column and returns their mechanism.
    """
    form = form_of(data, "data", RULE)
    if not has_axis(asked.axis, form):
        mechanism = make(asked)
        source = read_column(form, mechanism.neighbors, asked.where).kept
        return release(source, mechanism, budget=asked.budget, rng=asked.rng)
    _ = asked.loss
    sources = read_each(form, asked.relation, asked.columns, asked.where)
    each = asked.of_columns(len(sources))
    try:
        columns = tuple(map(make, each))
    except ArgumentError as error:  # it may show a number that nobody has written
        raise ArgumentError(f"{error} (for each column, and a part of the loss)") from None
    return release(sources, EqualParts(columns), budget=asked.budget, rng=asked.rng)
