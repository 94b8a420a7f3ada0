"""Boolean combinations of conditions on the columns of a row. JSON can write and read them."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from .._core import checks

#: The deepest nesting of a condition that `read` accepts.
DEEPEST = 100


class Condition(ABC):
    """A condition on the columns of a row; combine conditions by ``&``, ``|``, ``^``, ``~``.

    Examples
    --------
    Everybody of 60 or more years who does not smoke:

    >>> import dpfast as dp
    >>> old = dp.sulq.Attribute("age", low=60)
    >>> isinstance(old & ~dp.sulq.Attribute("smokes"), dp.sulq.Condition)
    True
    """

    __slots__ = ()

    def __and__(self, other: Condition) -> Condition:
        return _pair("and", self, other)

    def __or__(self, other: Condition) -> Condition:
        return _pair("or", self, other)

    def __xor__(self, other: Condition) -> Condition:
        return _pair("xor", self, other)

    def __invert__(self) -> Condition:
        return Combined("not", (self,))

    def __bool__(self) -> NoReturn:
        raise TypeError("a condition is not true or false by itself: combine with &, |, ^ and ~")

    @abstractmethod
    def columns(self) -> frozenset[int | str | None]:
        """Return the columns that this condition reads.

        Returns
        -------
        frozenset of int, str or None
            The names or numbers of the columns. None stands for the only column of the data.

        Examples
        --------
        The condition reads two columns:

        >>> import dpfast as dp
        >>> sorted((dp.sulq.Attribute("age", low=60) & dp.sulq.Attribute("smokes")).columns())
        ['age', 'smokes']
        """

    @abstractmethod
    def holds(self, column: Callable[[Any], NDArray[Any]]) -> NDArray[np.bool_]:
        """Return whether this condition holds for each row. It may be any value for a row with NaN.

        Parameters
        ----------
        column : callable
            A function that returns the values of a column by its name or number.

        Returns
        -------
        bool array of shape (n,)
            Whether the condition holds, for each row.

        Examples
        --------
        Only the second person is 60 or older:

        >>> import numpy as np, dpfast as dp
        >>> people = {"age": np.array([30, 70])}
        >>> dp.sulq.Attribute("age", low=60).holds(people.__getitem__)
        array([False,  True])
        """

    @abstractmethod
    def written(self) -> dict[str, object]:
        """Return this condition as a dict that `json` can write.

        Returns
        -------
        dict
            The condition in the format of JSON.

        Examples
        --------
        The condition as a dict:

        >>> import dpfast as dp
        >>> dp.sulq.Attribute("age", low=60).written()
        {'column': 'age', 'low': 60.0}
        """


@dataclass(frozen=True, slots=True)
class Attribute(Condition):
    """The condition that a column is not 0, or that its value lies between two numbers.

    `NoisySums.sum` counts the rows where a condition holds. Conditions can be combined by ``&``
    (and), ``|`` (or), ``^`` (exclusive or) and ``~`` (not). A row with a NaN in one of these
    columns counts as a missing value.

    Parameters
    ----------
    column : int or str, optional
        The name or number of the column, if rows have several columns.
    low, high : float, optional
        Public limits: the condition holds if ``low <= value <= high``. Either may be left out.
        Without both, the condition holds if the value is not 0.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For limits that are not numbers, or if `low` is above `high`. `NoisySums.sum` raises them
        for a column that the rows do not have.

    Notes
    -----
    Cost: none.

    Examples
    --------
    Count the people of 60 or more years who do not smoke, which are 180:

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
        holds: NDArray[np.bool_]
        if self.low is None:
            holds = values != 0 if self.high is None else values <= self.high
        else:
            holds = values >= self.low
            if self.high is not None:
                holds &= values <= self.high
        return holds

    def written(self) -> dict[str, object]:
        fields = {"column": self.column, "low": self.low, "high": self.high}
        return {name: value for name, value in fields.items() if value is not None}


#: The operator for each word that joins conditions or negates one.
_OPERATIONS: dict[str, Callable[..., Any]] = {
    "not": operator.invert,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


@dataclass(frozen=True, slots=True)
class Combined(Condition):
    """The negation of a condition, or two conditions combined by "and", "or" or "xor"."""

    word: str
    parts: tuple[Condition, ...]

    def columns(self) -> frozenset[int | str | None]:
        return frozenset[int | str | None]().union(*(part.columns() for part in self.parts))

    def holds(self, column: Callable[[Any], NDArray[Any]]) -> NDArray[np.bool_]:
        return np.asarray(_OPERATIONS[self.word](*(part.holds(column) for part in self.parts)))

    def written(self) -> dict[str, object]:
        parts = [part.written() for part in self.parts]
        return {self.word: parts[0] if self.word == "not" else parts}


def _pair(word: str, a: Condition, b: Any) -> Condition:
    if not isinstance(b, Condition):
        checks.fail_type("a condition", "combined with another condition", b)
    return Combined(word, (a, b))


def read(text: Any, depth: int = 0) -> Condition:
    """Return the condition that `written` encoded, and refuse any other (untrusted) input.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `text` does not encode a condition.
    """
    rule = "a condition"
    if not isinstance(text, Mapping) or depth > DEEPEST:
        checks.fail("f", rule, text)
    (word,) = text if len(text) == 1 else (None,)
    if word in _OPERATIONS:
        parts = [text[word]] if word == "not" else text[word]
        if not isinstance(parts, list) or len(parts) != (1 if word == "not" else 2):
            checks.fail("f", rule, text)
        return Combined(word, tuple(read(part, depth + 1) for part in parts))
    if not set(text) <= {"column", "low", "high"}:
        checks.fail("f", rule, text)
    return Attribute(**text)
