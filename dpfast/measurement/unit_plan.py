"""A table of the error and of how many rows count, for bounds on the rows of a unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .._core import checks
from .._core.error_bars import CONFIDENCE, ErrorBar
from .columns_by_name import Answer


class PlanOfBounds(Answer):
    """A table with a row for each bound on the rows of a unit."""

    unit: ClassVar[str] = "bound"


def unit_plan(
    bar: Callable[[int, int], ErrorBar], rows: Any, units: Any, max_rows: Sequence[int] | None
) -> PlanOfBounds:
    """Return a table of the error and of how many rows count by each bound: `Measurement.plan`.

    Parameters
    ----------
    bar : callable
        ``bar(max_rows, rows)`` returns the error bar if `max_rows` rows of a unit count, and `rows`
        rows count in all.
    rows, units : int
        Public or guessed numbers.
    max_rows : sequence of int, optional
    """
    n, many = checks.whole("rows", rows, 1), checks.whole("units", units, 1)
    if many > n:
        checks.fail("units", f"at most the number of rows, {n}", units)
    most = n - many + 1  # the rows of one unit if every other unit has one row
    if max_rows is None:
        max_rows = [1 << i for i in range((most - 1).bit_length() + 1)]
    elif not isinstance(max_rows, (list, tuple)) or not max_rows:
        checks.fail_type("max_rows", "a list of at least one whole number", max_rows)
    listed = [checks.rows_each(bound) for bound in max_rows]
    even = [min(n, many * bound) for bound in listed]
    bars = [bar(*pair).half_width for pair in zip(listed, even, strict=True)]
    errors = [np.nan if width is None else float(np.max(width)) for width in bars]
    least = [many - 1 + min(bound, most) for bound in listed]
    named = {f"error {CONFIDENCE:.0%}": errors, "rows at most": even, "rows at least": least}
    columns = {"max_rows": listed, **named}
    return PlanOfBounds({name: np.array(column) for name, column in columns.items()})
