"""The queries that an oracle promises to answer, and the largest error of each answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .._core import checks
from ..tables.base import RowSource
from ..tables.data import as_rows
from .row_functions import ONES
from .terms import Exact, Term, exact

#: The most queries of an oracle. It is also the largest number of numbers in an answer.
MOST_QUESTIONS = MOST_NUMBERS = 1 << 20


class Questions:
    """The queries that an oracle pays for: their tolerances, and the widest allowed function.

    The cost is computed for the function `reference`.
    """

    def __init__(
        self,
        tolerance: Any,
        queries: Any,
        confidence: Any,
        bounds: Any,
        l2: Any,
        size: Any,
        neighbors: Any,
        nan: Any,
    ) -> None:
        self.tolerances = _tolerances(tolerance, queries)
        level = checks.positive("confidence", confidence)
        if level >= 1:
            checks.fail("confidence", "greater than 0 and less than 1", confidence)
        self.failure = float(1 - checks.fraction("confidence", confidence))
        self.neighbors = checks.neighbors(neighbors)
        self.nan = checks.nan_policy(nan, neighbors)
        if nan == "drop":
            checks.fail("nan", "'raise', 'lower', 'upper' or a number: every row must count", nan)
        if l2 is None and size is not None:
            checks.fail("size", "left out, because l2 is left out", size)
        if l2 is None and bounds is None:
            bounds = (0, 1)
        self.bounds, self.l2 = bounds, l2
        width = 1 if size is None else checks.whole("size", size, 1, MOST_NUMBERS)
        term = Term(replace(ONES, size=width), bounds, l2)
        function = exact(term, as_rows([]), self.nan, neighbors)
        self.reference = self._summed(function)
        if not self.reference.sensitivity(neighbors).l1:
            checks.fail("bounds", "a pair (lo, hi) with lo < hi", bounds)
        least = 1024 * function.unit  # answers are rounded to cells of this unit
        if min(self.tolerances) < least:
            checks.fail("tolerance", f"at least {float(least):.3g} for such functions", tolerance)

    def _summed(self, function: Exact) -> Exact:
        """Return the function to sum: centered under "add-remove", else unchanged."""
        return function if self.neighbors == "replace" else function.centered()

    def functions(self, terms: Sequence[Term], source: RowSource) -> list[Exact]:
        """Return the checked functions of the terms, by default with the bounds of the oracle."""
        functions = []
        for term in terms:
            if term.bounds is None and term.l2 is None and not isinstance(term.f, str):
                term = replace(term, bounds=self.bounds, l2=self.l2)
            functions.append(self._summed(exact(term, source, self.nan, self.neighbors)))
        return functions


def _tolerances(tolerance: Any, queries: Any) -> tuple[Fraction, ...]:
    if queries is None:
        rule = "one number together with queries, or a list with a number for each query"
        try:
            tolerances = [] if isinstance(tolerance, str) else list(tolerance)
        except TypeError:
            tolerances = []
        if not tolerances:
            checks.fail("tolerance", rule, tolerance)
        return tuple(_positive(t) for t in tolerances)
    count = checks.whole("queries", queries, 1, MOST_QUESTIONS)
    return (_positive(tolerance),) * count


def _positive(tolerance: Any) -> Fraction:
    checks.positive("tolerance", tolerance)
    return checks.fraction("tolerance", tolerance)
