"""One mechanism on the rows of each of two groups: parallel composition.

A row is in at most one group, which depends on the row alone. Under "add-remove" neighbors have the
same rows in one group and differ by one row in the other. So both answers together cost as much as
one (McSherry, SIGMOD 2009). A replaced row may leave one group and enter the other, which is two
steps (`around`). For a person, each row is one step (`unit`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._core import checks
from .._core.error_bars import BOUND, ErrorBar, sum_of_two
from ..budget.mechanism import Mechanism
from ..rng import Generator
from ..tables.intake import Public, View
from ..tables.keyed import keyed
from ..tables.words import Words
from .around import Around, in_two_steps
from .statistic import Bounded, Layout, Statistic, Terms


@dataclass(frozen=True, slots=True)
class Groups:
    """Two groups of rows, by the key in the last column, and the statistic of each."""

    statistic: Statistic[Any]
    keys: tuple[Any, Any]

    def columns(self) -> tuple[list[Words | None], list[Public | None]]:
        """Return the public words and the public numbers that each column is compared with."""
        of, keys, is_text = self.statistic, self.keys, isinstance(self.keys[0], str)
        others = [None] * (((isinstance(of, Bounded) and of.width) or 1) - 1)
        words = [None, *others, Words(keys, "keys") if is_text else None]
        return words, [of.sought, *others, None if is_text else ("keys", keys)]

    def views(self, view: View) -> list[View]:
        """Return a view of the rows of each group."""
        plain: Any = {
            **dict.fromkeys(("axis", "where", "ids", "weights")),
            "relation": "add-remove",
        }
        codes = (0.0, 1.0) if isinstance(self.keys[0], str) else self.keys
        sources = (
            view.source.keyed(code) if view.adds else keyed(view.source, code, view.where)
            for code in codes
        )
        return [self.statistic.read(rows, **plain) for rows in sources]


def difference(first: Any, second: Any) -> Any:
    """Return the first answer minus the second answer: a number or an array."""
    answer = np.asarray(first) - np.asarray(second)
    return answer if answer.ndim else answer.item()


@dataclass(frozen=True, slots=True)
class Disjoint(Around[Any]):
    """The mechanism of a difference: the first group's answer minus the second group's answer.

    Parameters
    ----------
    inner : Mechanism
        The mechanism of one group, whose number of rows is private.
    groups : Groups
    title : str
    alone : Mechanism
        The mechanism of one group without the second step for a replaced row. Its error bar is
        used.
    """

    groups: Groups
    title: str
    alone: Mechanism[Any]

    of_parts = True

    @property
    def name(self) -> str:
        return f"{self.title} of {self.inner.name}"

    def reduce(self, source: View) -> list[Any]:
        return [self.inner.reduce(view) for view in self.groups.views(source)]

    def finish(self, summary: list[Any], generator: Generator) -> Any:
        return difference(*(self.inner.finish(part, generator) for part in summary))

    def answered(
        self, summary: list[Any], generator: Generator, rows: int | None, confidence: float
    ) -> tuple[Any, ErrorBar]:
        """Return the difference of two answers, whose error bar is the sum of their error bars."""
        shared = 1 - (1 - confidence) / 2
        pairs = [self.inner.answered(part, generator, rows, shared) for part in summary]
        answers, bars = zip(*pairs, strict=True)
        widths = [bar.half_width for bar in bars]
        half_width = None if None in widths else np.add(*widths).tolist()
        bar = ErrorBar(confidence, half_width, note=bars[0].note)
        return difference(*answers), bar

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of the difference between two groups of `rows` rows each."""
        failure, widths = 1 - confidence, []
        shares = np.geomspace(1, failure / 200, 65)
        for share in shares[1:]:
            bar = self.alone.error(rows, 1 - share)
            if bar.half_width is None:
                break
            widths.append(np.array(bar.half_width))
        shares = shares[: len(widths) + 1]
        if 2 * shares[-1] > failure:
            return replace(bar, confidence=confidence, ranks=None)
        columns = np.maximum.accumulate(np.array(widths)).reshape(len(widths), -1).T
        sums = [sum_of_two(column, column, shares, failure) for column in columns]
        return ErrorBar(confidence, np.reshape(sums, widths[0].shape).tolist(), note=BOUND)


def of_groups(groups: Groups, terms: Terms, title: str) -> Disjoint:
    """Return the mechanism of the difference between two groups."""
    columns = terms.layout.columns
    if columns is not None:
        checks.fail("columns", "left out, because a difference has one answer", columns)
    terms_of_group = replace(terms, neighbors="add-remove", layout=Layout(masked=True))

    def make(loss: Any) -> Mechanism[Any]:
        alone = replace(terms_of_group, loss=loss)
        return groups.statistic.chosen(alone).mechanism(alone)

    if terms.neighbors == "replace":
        both = in_two_steps(terms.loss, make)
        return Disjoint(both, groups, title, both.inner)
    alone = make(terms.loss)
    return Disjoint(alone, groups, title, alone)
