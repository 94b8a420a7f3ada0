"""Check public values of a call: keys, categories, and values of conditions.

`expect_matches` refuses public values that no row of a column could equal. It uses the declared
type of the column, or the possible cells of a text file, and reads no row. A column without a
declared type, such as a list, can hold anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .._core import checks
from .._core.owner_log import hiding
from ..errors import ArgumentTypeError
from .arrow import arrow_numbers
from .forms import Arrow, Objects, Values, column_form
from .key_words import (
    FINER,
    SPANS,
    TIME,
    TIMES,
    ZONED,
    floored,
    key_kind,
    plain,
    text_key,
    unit_of,
    zone_of,
)

RULE = "a list of public values"
#: How errors describe what a column of each kind contains.
SAID = {TIMES: "dates or times without a time zone", ZONED: "times with a time zone"}


class Held(NamedTuple):
    """The values that a column can hold: their kind and a rule, in words and as tests."""

    kind: str
    is_kind: Callable[[Any], bool]
    rule: str
    holds: Callable[[Any], bool]


class Hidden(list[Any]):
    """A list that errors do not show, because it may be a private column passed by mistake."""

    def __repr__(self) -> str:
        return f"<{len(self)} values>"


def listed(name: str, value: Any) -> Any:
    """Return public values as a list, if a column holds them; anything else as it is.

    Columns in a list or a mapping become lists, too. A set is refused, because it has no order.

    Raises
    ------
    ArgumentTypeError
        For a set, a table, or groups.
    """
    refused = ArgumentTypeError(f"{name} must be {RULE}, but reading it fails")
    return hiding(lambda: _listed(name, value), lambda _: refused)


def _listed(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _listed(f"{name}[{key!r}]", entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        plain = str, float, int
        is_nested = any(
            not isinstance(entry, plain) and checks.has(entry, "__len__") for entry in value
        )
        entries = (
            [_listed(f"{name}[{i}]", entry) for i, entry in enumerate(value)]
            if is_nested
            else value
        )
        return tuple(entries) if isinstance(value, tuple) else entries
    is_array = isinstance(value, np.ndarray) and value.dtype.kind not in "OT"
    if is_array or not checks.has(value, "__len__") or isinstance(value, (str, bytes, range)):
        return value
    column = column_form(value, name, RULE)
    return Hidden(column.chunked.to_pylist() if isinstance(column, Arrow) else iter(value))


class CellTexts(NamedTuple):
    """The texts that the cells of a text file can be.

    Parameters
    ----------
    missing : frozenset of str
        Texts that mean a missing value.
    encoding : str
    breaks : str
        Characters that end a cell, where no quotes can hold them.
    """

    missing: frozenset[str] = frozenset()
    encoding: str = "utf-8"
    breaks: str = ""

    @property
    def rule(self) -> str:
        """The rule of `can_be`, in words."""
        return (
            f"text in {self.encoding.upper()}"
            + f" without the characters {self.breaks!r}" * bool(self.breaks)
        )

    def can_be(self, text: str) -> bool:
        """Tell whether a cell of the file can be `text`."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return not set(self.breaks).intersection(text)


def expect_matches(
    name: str,
    values: Iterable[Any],
    column: Objects | Values | Arrow,
    title: str,
    cells: CellTexts | None = None,
    *,
    is_key: bool = False,
    kind: str | None = None,
) -> None:
    """Refuse public values that, by the type of a column, can equal none of its rows.

    Parameters
    ----------
    name : str
        The argument that holds the values.
    values : iterable
    column : Objects, Values or Arrow
        Only its type is read.
    title : str
        The name of the column.
    cells : CellTexts, optional
        The possible cells, if the column is one of a text file.
    is_key : bool
        Whether the values are keys. A key that is text never equals a key that is bytes. Other
        bytes equal the text whose UTF-8 they are.
    kind : str, optional
        The kind of the values, if they are times of NumPy that were converted from another type,
        which declares a time zone or none. Other times of NumPy are in UTC if the column has a
        zone.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a value that the column cannot hold.
    """
    held = _held(column, title, is_key, kind)
    texts = cells or (CellTexts() if isinstance(column, Arrow) else None)
    for value in values:
        if is_key:
            checks.keeps_end(name, value)
        if held is None:
            continue
        if not held.is_kind(value):
            checks.fail_type(name, f"{held.kind}, as {title} is", value)
        if not held.holds(value):
            checks.fail(name, f"{held.rule}, as {title} is", value)
        if not (isinstance(value, str) and texts):
            continue
        if value in texts.missing:
            rule = f"words that the file of {title} does not read as missing values"
            checks.fail(name, rule, value)
        if not texts.can_be(value):
            checks.fail(name, f"{texts.rule}, as {title} is", value)


def _held(
    column: Objects | Values | Arrow, title: str, is_key: bool, kind: str | None
) -> Held | None:
    """Return the values that a column can hold; None if this does not follow from its type."""
    if isinstance(column, Objects):
        return None
    numbers = numbers_of(column)
    if numbers is not None and numbers.kind == "O":
        return None
    if numbers is not None:
        words = "numbers" if numbers.kind == "f" else "integers"
        types = _of(int, float, np.number, np.bool_, Decimal, Fraction)
        return Held(words, types, _rule(numbers), lambda x: _is_in(x, numbers))
    own_kind = key_kind(column, title)
    if own_kind in (TIMES, ZONED):
        unit = _unit(column)

        def is_time(value: Any) -> bool:
            of_numpy = isinstance(value, np.datetime64)
            alike = (kind or own_kind) == own_kind if of_numpy else zone_of(value) == own_kind
            is_span = own_kind == ZONED and unit_of(value) in SPANS
            return alike and not is_span and _is_whole(value, unit)

        rule = f"{SAID[own_kind]}, in whole units of {unit}"
        return Held("dates or times", _of(date, np.datetime64), rule, is_time)
    if own_kind == "bytes" and is_key:
        return Held("bytes", _of(bytes, bytearray), "", lambda _: True)

    def is_kind(value: Any) -> bool:
        # As keys, bytes stand for text that is not valid UTF-8.
        if is_key and isinstance(value, (bytes, bytearray)):
            return text_key(bytes(value)) == value
        return isinstance(value, str)

    return Held("text", is_kind, "", lambda _: True)


def _of(*types: type[Any]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, types)


def numbers_of(column: Values | Arrow) -> np.dtype[Any] | None:
    """Return the dtype of a column of numbers, object if unknown; None for other columns."""
    if isinstance(column, Values):
        return column.array.dtype if column.array.dtype.kind in "biufO" else None
    kind = column.chunked.type
    number_type = arrow_numbers(kind)
    if str(kind) == "null":
        return np.dtype(object)
    return np.dtype(np.bool_) if str(kind) == "bool" else number_type and number_type.dtype


def _rule(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "b":
        return "booleans, or 0 and 1"
    return f"{'numbers' if dtype.kind == 'f' else 'integers'} of {dtype}"


def _is_in(value: Any, dtype: np.dtype[Any]) -> bool:
    """Tell whether a column of `dtype` can hold a number; floats may equal integers."""
    if dtype.kind == "f":
        return dtype.itemsize >= 8 or float(np.float64(value).astype(dtype)) == float(value)
    lo, hi = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    is_float = isinstance(value, (float, np.floating))
    with suppress(ArithmeticError):  # comparing a signaling NaN raises an error
        return bool(lo <= value <= (float(hi) if is_float else hi) and value == int(value))
    return False


def _unit(column: Values | Arrow) -> str:
    """Return the unit in which a column counts dates or times."""
    if isinstance(column, Values):
        return np.datetime_data(column.array.dtype)[0]
    kind = column.chunked.type
    return str(getattr(getattr(kind, "value_type", kind), "unit", "D"))


def _is_whole(value: Any, unit: str) -> bool:
    """Tell whether a date or time is a whole number of a column's units."""
    words = plain(value)
    if not isinstance(words, tuple):
        return False
    finer = words[1] - TIME
    if unit in FINER:
        return finer % (10**9 // FINER[unit]) == 0
    low = np.array([words[0]], np.uint64)
    return not finer and bool((floored(low, unit) == low).all())
