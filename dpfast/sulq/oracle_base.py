"""How an oracle is asked, whoever answers: questions are counted, and means made of exact sums."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, ClassVar

from ..errors import BudgetError
from ..sources.row_source import RowSource
from .questions import Questions
from .row_functions import Count
from .sums import totals
from .terms import Term, listed
from .tolerance import Answer, Mean


class Oracle(ABC):
    """What both oracles have."""

    _name: ClassVar[str]
    _source: RowSource
    _questions: Questions

    def __init__(self, source: RowSource, questions: Questions) -> None:
        self._source, self._questions = source, questions
        self._used, self._lock = 0, threading.Lock()

    @property
    def queries(self) -> int:
        """How many questions may be asked in all."""
        return len(self._questions.tolerances)

    @property
    def remaining(self) -> int:
        """How many questions are left."""
        return self.queries - self._used

    @property
    def tolerance(self) -> float:
        """By how much an answer may be off: the largest of all tolerances."""
        return float(max(self._questions.tolerances))

    @property
    def columns(self) -> tuple[Any, ...]:
        """Names of the columns of a row, or their numbers."""
        names = self._source.dtype.names
        return tuple(names) if names else tuple(range(self._source.width or 1))

    def ask(
        self,
        f: Any,
        *,
        bounds: Any = None,
        l2: Any = None,
        size: int | None = None,
        column: Any = None,
    ) -> Answer:
        """The mean of a function over all rows, within the tolerance of the question.

        Parameters
        ----------
        f : str, Condition, Numba dispatcher or array_like
            p(x, c(x)): all that `NoisySums.sum` takes. The label c(x) is a column of the row like
            any other.
        bounds, l2, size, column : optional
            As in `NoisySums.sum`; a function that has no name, and neither `bounds` nor `l2`, gets
            those of the oracle.

        Returns
        -------
        float or float64 array of shape (size,)
            Each number is within the tolerance. Not clamped.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument, and for a function that may be larger than what was paid for; no
            question has been used.
        BudgetError
            After the last question.
        DataError
            A missing value under ``nan="raise"``; the question has been used.
        """
        return self.batch([Term(f, bounds, l2, size, column)])[0]

    def batch(self, terms: Sequence[Any]) -> list[Answer]:
        """As many questions in one read of the data.

        Parameters
        ----------
        terms : sequence
            Each a `Term`, or anything that `ask` takes for `f`.

        Returns
        -------
        list of float or array
            Answers that `ask` might have given to one after the other.

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError, DataError
            As `ask`.
        """
        made = listed(terms)
        means = self._questions.means(made, self._source)
        with self._lock:
            first = self._used
            if self.remaining < len(means):
                raise BudgetError(
                    f"{self._name}: {self.remaining} of {self.queries} questions are left, not "
                    f"{len(means)}"
                )
            self._check(means, first)
            self._used += len(means)
        return self._answers(means, first)

    def _check(self, means: Sequence[Mean], first: int) -> None:
        """Refuse what the tolerances do not hold for; `first` is the number of the first one."""
        return None

    @abstractmethod
    def _answers(self, means: Sequence[Mean], first: int) -> list[Answer]: ...


def rows_and_totals(
    means: Sequence[Mean], questions: Questions
) -> Callable[[RowSource], list[int]]:
    """A pass: how many rows, then the integers of all functions."""
    return totals([Count(), *means], None, questions.nan)


def split(means: Sequence[Mean], found: Sequence[int], rows: Fraction) -> list[Answer]:
    answers, at = [], 0
    for mean in means:
        answers.append(mean.mean(found[at : at + mean.size], rows))
        at += mean.size
    return answers
