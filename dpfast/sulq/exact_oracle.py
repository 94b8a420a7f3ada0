"""An oracle whose answers are exact, to compare private ones with."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

from .._core.types import Bounds, Number
from ..errors import DataError
from ..tables.data import as_rows
from .oracle import Oracle
from .parts import Part
from .questions import Questions
from .terms import Exact
from .totals import Total


class ExactOracle(Oracle):
    """NOT PRIVATE: exact answers, to compare a `StatisticalQueryOracle` with.

    A learner that asks a `StatisticalQueryOracle` can ask this one, to see what noise does.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), structured array, table, or source
    tolerance : float, or one for each question
        What a learner is told. Answers are exact.
    queries : int, optional
    bounds : (float, float), default (0, 1)
    l2, size : optional
    nan : {"raise", "lower", "upper"} or float, default "raise"
        All as in `StatisticalQueryOracle`; bounds and lengths clip, and do nothing else.

    Attributes
    ----------
    tolerance : float
    queries, remaining : int
    columns : tuple
        As in `StatisticalQueryOracle`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument.
    DataError
        For data without rows, which have no mean.

    Notes
    -----
    Cost: a read of the data a question.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> oracle = dp.sulq.ExactOracle(np.arange(10), tolerance=0.1, queries=3)
    >>> oracle.ask(np.arange(10) < 3), oracle.remaining
    (0.3, 2)
    """

    _name = "exact answers"

    def __init__(
        self,
        data: Any,
        *,
        tolerance: Number | Sequence[Number],
        queries: int | None = None,
        bounds: Bounds | None = None,
        l2: Number | None = None,
        size: int | None = None,
        nan: Literal["raise", "lower", "upper"] | Number = "raise",
    ) -> None:
        questions = Questions(tolerance, queries, 0.5, bounds, l2, size, "replace", nan)
        super().__init__(as_rows(data), questions)

    def __repr__(self) -> str:
        return f"ExactOracle(not private, {self.remaining} of {self.queries} left)"

    def _parts(self, functions: Sequence[Exact], first: int) -> list[Part]:
        return []

    def _sums(self, total: Total, parts: list[Part]) -> tuple[list[int], int | Fraction]:
        rows, *sums = total(self._source)
        if not rows:
            raise DataError("data without rows have no mean")
        return sums, rows
