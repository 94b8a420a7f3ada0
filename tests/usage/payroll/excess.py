"""How far all rows together lie above a public target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import dpfast as dp
from dpfast.extend import Feature, Form


@dataclass(frozen=True, kw_only=True)
class Excess(dp.extend.Linear):
    """The sum over clamped rows of what each is above a target; below it that is negative.

    A row adds its cell less that of the target. That is what it changes the sum by when it comes or
    goes, and the noise is for the largest size of it within the bounds.
    """

    target: float

    name: ClassVar[str] = "excess"
    needs_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "target", dp.extend.checks.number("target", self.target))

    def forms(self, column: Any, is_public: bool) -> list[Form]:
        shift = column.cells.first - round(Fraction(self.target) / column.unit)
        low, high = shift, shift + column.span
        if column.misses:  # a row that counts for nothing adds 0
            low, high = min(low, 0), max(high, 0)
        return [Form((Feature((1, shift, 0), low, high),), (Fraction(1),), (Fraction(1),))]

    def answer(self, column: Any, form: Form, sums: Sequence[Any], rows: int | None) -> Any:
        return column.total(form, sums)

    def bar(self, column: Any, noise: Any, rows: Any, is_public: bool) -> Any:
        return column.scaled(noise.total(noise.form.estimate))


@dp.extend.measures
def excess(
    data: Any,
    *,
    target: float,
    bounds: tuple[float, float],
    epsilon: float | None = None,
    delta: float = 0.0,
    where: Any = None,
    ids: Any = None,
    max_rows: int | None = None,
    budget: dp.Budget | None = None,
    rng: dp.rng.Generator | None = None,
) -> Excess:
    """Release how far all rows together lie above a public target."""
    return Excess(target=target, bounds=bounds)
