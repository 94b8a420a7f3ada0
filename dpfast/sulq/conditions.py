"""Boolean combinations of attributes of a row, which can be written down and sent to somebody."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core import checks

#: How deep a condition may be nested that somebody else has written.
DEEPEST = 100


class Condition(ABC):
    """Whether something holds of a row; conditions are combined by ``&``, ``|``, ``^``, ``~``."""

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return _pair("and", self, other)

    def __or__(self, other: Condition) -> Condition:
        return _pair("or", self, other)

    def __xor__(self, other: Condition) -> Condition:
        return _pair("xor", self, other)

    def __invert__(self) -> Condition:
        return Not(self)

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition is not true or false by itself: combine with &, |, ^ and ~")

    @abstractmethod
    def columns(self) -> frozenset[int | str | None]:
        """The columns that it looks at."""

    @abstractmethod
    def holds(self, column: Callable[[Any], NDArray[Any]]) -> NDArray[np.bool_]:
        """Of each row; of a row with a NaN in these columns, anything."""

    @abstractmethod
    def written(self) -> dict[str, Any]:
        """In terms that JSON has."""


@dataclass(frozen=True, slots=True)
class Attribute(Condition):
    """That a column is not 0, or lies between two numbers. By itself it computes nothing.

    Attributes are combined by ``&`` (and), ``|`` (or), ``^`` (one of the two) and ``~`` (not), and
    `NoisySums.sum` counts the rows where the combination holds. A row with a NaN in one of its
    columns has no value.

    Parameters
    ----------
    column : int or str, optional
        Which column, where rows have several.
    low, high : float, optional
        Public limits: it holds where ``low <= value <= high``. Without either, where the value is
        not 0.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For limits that are no numbers or out of order; by `NoisySums.sum`, for a column that the
        rows do not have.

    Notes
    -----
    Cost: none.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> people = {"age": np.arange(1000) % 80, "smokes": np.arange(1000) % 4 == 0}
    >>> sums = dp.sulq.NoisySums(people, rho=0.5, queries=1)
    >>> old = dp.sulq.Attribute("age", low=60)
    >>> 150 < sums.sum(old & ~dp.sulq.Attribute("smokes")) < 210
    True
    """

    column: int | str | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        column, low, high = self.column, self.low, self.high
        if checks.is_whole(column):
            object.__setattr__(self, "column", checks.whole("column", column, -(1 << 62)))
        elif column is not None and not isinstance(column, str):
            checks.fail_type("column", "the number or the name of a column", column)
        for name, value in (("low", low), ("high", high)):
            if value is not None:
                object.__setattr__(self, name, checks.number(name, value))
        if self.low is not None and self.high is not None and self.low > self.high:
            checks.fail("low", f"at most high, {high}", low)

    def columns(self) -> frozenset[int | str | None]:
        return frozenset([self.column])

    def holds(self, column: Callable[[Any], NDArray[Any]]) -> NDArray[np.bool_]:
        values = column(self.column)
        if self.low is None and self.high is None:
            found: NDArray[np.bool_] = values != 0
        elif self.low is None:
            found = values <= self.high
        else:
            found = values >= self.low
            if self.high is not None:
                found &= values <= self.high
        return found

    def written(self) -> dict[str, Any]:
        own = {"column": self.column, "low": self.low, "high": self.high}
        return {name: value for name, value in own.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """That another does not hold."""

    other: Condition

    def columns(self) -> frozenset[int | str | None]:
        return self.other.columns()

    def holds(self, column: Callable[[Any], NDArray[Any]]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = ~self.other.holds(column)
        return found

    def written(self) -> dict[str, Any]:
        return {"not": self.other.written()}


_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


@dataclass(frozen=True, slots=True)
class Pair(Condition):
    """Two conditions and a word between them."""

    word: str
    a: Condition
    b: Condition

    def columns(self) -> frozenset[int | str | None]:
        return self.a.columns() | self.b.columns()

    def holds(self, column: Callable[[Any], NDArray[Any]]) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = _OPERATIONS[self.word](
            self.a.holds(column), self.b.holds(column)
        )
        return found

    def written(self) -> dict[str, Any]:
        return {self.word: [self.a.written(), self.b.written()]}


def _pair(word: str, a: Condition, b: Any) -> Condition:
    if not isinstance(b, Condition):
        checks.fail_type("a condition", "combined with another one", b)
    return Pair(word, a, b)


def read(text: Any, depth: int = 0) -> Condition:
    """What `written` gave, from somebody who may have written anything.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If it is no condition.
    """
    rule = "a condition"
    if not isinstance(text, Mapping) or depth > DEEPEST:
        checks.fail("f", rule, text)
    if set(text) == {"not"}:
        return Not(read(text["not"], depth + 1))
    (word,) = text if len(text) == 1 else (None,)
    if word in _OPERATIONS:
        if not isinstance(text[word], list) or len(text[word]) != 2:
            checks.fail("f", rule, text)
        a, b = (read(part, depth + 1) for part in text[word])
        return Pair(word, a, b)
    if not set(text) <= {"column", "low", "high"}:
        checks.fail("f", rule, text)
    return Attribute(**text)
