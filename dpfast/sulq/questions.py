"""What is promised about the questions of an oracle, and the least loss that keeps the promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from .._core import checks
from ..privacy import Loss, Pure
from ..sources.row_source import RowSource
from ..sources.table import as_rows
from .row_functions import Piece, RowFunction
from .terms import Term, exact
from .tolerance import Mean, Plan, least_loss, least_rows, planned

#: Questions of an oracle, each of which has a share of its own, and numbers of an answer, at most.
MOST_QUESTIONS = MOST_NUMBERS = 1 << 20


@dataclass(frozen=True, slots=True)
class _Any(RowFunction):
    """Stands for whatever will be asked."""

    size: int = 1

    def values(self, piece: Piece) -> NoReturn:
        raise AssertionError("no question")


class Questions:
    """What is promised about the questions: tolerances, and what kind of function they are about.

    `reference` is the kind of function that the cost is calculated for.
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
        self.miss = float(1 - checks.fraction("confidence", confidence))
        self.neighbors = checks.neighbors(neighbors)
        self.nan = checks.nan_policy(nan, neighbors)
        if nan == "drop":
            checks.fail("nan", "'raise', 'lower', 'upper' or a number, for every row counts", nan)
        if l2 is None and size is not None:
            checks.fail("size", "left out without l2", size)
        if l2 is None and bounds is None:
            bounds = (0, 1)
        self.bounds, self.l2 = bounds, l2
        width = 1 if size is None else checks.whole("size", size, 1)
        if width > MOST_NUMBERS:
            checks.fail("size", f"at most {MOST_NUMBERS}", size)
        term = Term(_Any(width), bounds, l2)
        self.reference = Mean.of(exact(term, as_rows([]), self.nan, neighbors), neighbors)
        if not self.reference.part.l1:
            checks.fail("bounds", "a pair (lo, hi) with lo < hi", bounds)
        least = 1024 * self.reference.times * self.reference.unit  # of a cell, which is rounded to
        if min(self.tolerances) < least:
            checks.fail("tolerance", f"at least {float(least):.3g} for such functions", tolerance)

    def plan(self, rows: int, pure: bool) -> Plan:
        return planned(rows, self.tolerances, self.reference, self.miss, self.neighbors, pure)

    def means(self, terms: Sequence[Term], source: RowSource) -> list[Mean]:
        """What is asked, once everything about it has been checked."""
        found = []
        for term in terms:
            if term.bounds is None and term.l2 is None and not isinstance(term.f, str):
                term = Term(term.f, self.bounds, self.l2, term.size, term.column)
            own = exact(term, source, self.nan, self.neighbors)
            found.append(Mean.of(own, self.neighbors))
        return found


def _tolerances(tolerance: Any, queries: Any) -> tuple[Fraction, ...]:
    if queries is None:
        rule = "one for each question, or a number with queries"
        try:
            each = list(tolerance)
        except TypeError:
            checks.fail("tolerance", rule, tolerance)
        if isinstance(tolerance, str) or not each:
            checks.fail("tolerance", rule, tolerance)
        return tuple(_positive(one) for one in each)
    count = checks.whole("queries", queries, 1)
    if count > MOST_QUESTIONS:
        checks.fail("queries", f"at most {MOST_QUESTIONS}", queries)
    return (_positive(tolerance),) * count


def _positive(tolerance: Any) -> Fraction:
    checks.positive("tolerance", tolerance)
    return checks.fraction("tolerance", tolerance)


def cost_of(questions: Questions, rows: int, offered: Loss) -> tuple[Plan, Loss]:
    """The least loss that does, or one error."""
    made = questions.plan(rows, isinstance(offered, Pure))
    found = least_loss(made, questions.reference, offered) if rows else None
    if found is None:
        enough = least_rows(made, questions.reference, offered)
        checks.fail(
            "rows",
            f"at least {enough} for these tolerances to cost no more than {offered!r}"
            if enough
            else f"more than any data have for these tolerances to cost no more than {offered!r}",
            rows,
        )
    return made, found
