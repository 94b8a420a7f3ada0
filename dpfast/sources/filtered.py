"""Some rows of files: those that public conditions on their columns keep.

A condition looks at one row alone. So of two files that differ in a row that came or went, what is
kept differs in that row, or not at all. A row that is *replaced* may enter what is kept, or leave
it: the number of rows that are kept is private under either relation, and is never said.

A condition is a table, ``{column = "delay", above = 0}``.

How a column is read is told by the condition and by the declared type, never by a row. Nothing is
read before a pass asks for rows.

No condition reaches the reader, as one that skips row groups by their statistics. What its writer
noted of a group may be wrong, or say nothing of NaN, so that a row that passes would be left out;
and a group that is damaged would be an error or none, as its rows are. pyarrow reads statistics of
a damaged file without a check.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .arrow import arrow_cast, arrow_numbers, arrow_present, arrow_values
from .columns import Want
from .files import Convert, Reader
from .forms import Arrow, Piece, Values
from .ids import entries
from .pick import picker
from .public_values import expect_matches
from .words import Words

T = TypeVar("T")

#: Tests against a number: the comparison, and what makes an integer of the number without changing
#: which integers pass.
COMPARISONS: dict[str, tuple[Any, Any]] = {
    "above": (operator.gt, math.floor),
    "at_least": (operator.ge, math.ceil),
    "below": (operator.lt, math.ceil),
    "at_most": (operator.le, math.floor),
}
#: Tests against a list, and against one value.
LISTS = ("in", "not_in", "equal")
TESTS = (*COMPARISONS, *LISTS)

RULE = 'a table such as {column = "delay", above = 0}, or a list of these'


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of one column; a missing value passes none.

    Parameters
    ----------
    column : str
    test : str
        One of `TESTS`.
    values : tuple
        One number for a comparison, else numbers or texts.
    """

    column: str
    test: str
    values: tuple[Any, ...]

    @property
    def is_text(self) -> bool:
        """Tell whether the column is compared with texts."""
        return isinstance(self.values[0], str)

    def check(self, reader: Reader) -> None:
        """Refuse a column of another type than the values."""
        reader.find(picker(self.column))
        if not self.is_text:
            reader.numbers(self.column)
        if self.test in LISTS:
            typed = reader.typed(self.column, self.is_text)
            title = f"the column {self.column!r}"
            expect_matches("where", self.values, typed, title, reader.cells(self.column))

    def keep(self, piece: Piece) -> NDArray[np.bool_]:
        """Tell which rows of the column pass."""
        if self.is_text:
            holds, present = _among_words(self.values, piece)
        else:
            holds, present = self._of_numbers(piece)
        return ~holds & present if self.test == "not_in" else holds & present

    def _of_numbers(self, piece: Piece) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        some = None
        if isinstance(piece, Arrow):
            how = arrow_numbers(piece.chunked.type)
            assert how is not None
            array = piece.array
            values, some = arrow_values(array if how.cast is None else arrow_cast(array, how.cast))
        else:
            values = entries(piece)
        is_whole = values.dtype.kind in "iu"
        if not is_whole:
            values = values.astype(np.float64, copy=False)  # float32 would round the limit
        present = values == values
        if some is not None:
            present &= some
        if self.test in COMPARISONS:
            compare, whole = COMPARISONS[self.test]
            (limit,) = self.values
            return compare(values, whole(limit) if is_whole else limit), present
        listed = list(self.values)
        if is_whole:
            ends = np.iinfo(values.dtype)
            listed = [int(v) for v in listed if v == int(v) and ends.min <= v <= ends.max]
        return np.isin(values, np.array(listed, values.dtype)), present


def conditions(where: Any, name: str = "where") -> tuple[Condition, ...]:
    """Return the conditions of a table, or of a list of tables, of which a row passes all.

    Parameters
    ----------
    where : dict, or list of dict
        A ``column``, and tests of it: numbers as ``above``, ``at_least``, ``below``, ``at_most``;
        a number or a text as ``equal``; lists of these as ``in``, ``not_in``.
    name : str, default "where"
        What messages call the argument.

    Returns
    -------
    tuple of Condition
        For `Files.data`; each has the ``column``, the ``test`` and the ``values`` of one test.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For anything else.

    Examples
    --------
    >>> import dpfast as dp
    >>> [test] = dp.extend.conditions({"column": "delay", "above": 0})
    >>> test.column, test.test, test.values
    ('delay', 'above', (0,))
    """
    found = []
    for table in where if isinstance(where, (list, tuple)) else [where]:
        if not isinstance(table, dict):
            checks.fail_type(name, RULE, where)
        tests = {key: value for key, value in table.items() if key != "column"}
        column = checks.text(f"{name}.column", table.get("column"))
        if not tests:
            checks.fail(name, f"tests, which are {', '.join(TESTS)}", where)
        for test, value in tests.items():
            if test not in TESTS:
                checks.fail(f"{name}.{test}", f"one of {', '.join(TESTS)}", test)
            found.append(Condition(column, test, _values(f"{name}.{test}", test, value)))
    return tuple(found)


def _values(name: str, test: str, value: Any) -> tuple[Any, ...]:
    """Return what a column is compared with: numbers of Python, or texts."""
    if test in COMPARISONS:
        checks.number(name, value)
        return (value,)
    rule = "a number or a text" if test == "equal" else "a list of numbers, or of texts"
    values = [value] if test == "equal" else value
    if not isinstance(values, (list, tuple)) or not values:
        checks.fail_type(name, rule, value)
    if all(isinstance(one, str) for one in values):
        return tuple(values)
    plain = [int(one) if isinstance(one, bool) else one for one in values]
    for one in plain:
        checks.number(name, one, rule)
    return tuple(plain)


def filtered(reader: Reader, where: Sequence[Condition]) -> Reader:
    """Return a reader of the rows that pass all conditions, whose number nobody knows.

    Where a file of text is asked for a column as text and as numbers at once, it is read as text,
    and cells that are kept become numbers.

    Raises
    ------
    SourceError, ArgumentTypeError
        For a column that is not there, or of a type that has nothing to do with what it is compared
        with. No row is looked at.
    """
    if not where:
        return reader
    for condition in where:
        condition.check(reader)
    assert reader.keep is None
    some = copy(reader)
    some.keep, some.length, some.samples = partial(_kept, tuple(where)), None, False
    return some


def _kept(
    where: Sequence[Condition], reader: Reader, want: Want, convert: Convert[T]
) -> tuple[Want, Convert[T]]:
    """Return what a pass wants, and what it makes of rows, for those that pass all conditions."""
    texts = frozenset(condition.column for condition in where if condition.is_text)
    more = dict.fromkeys(condition.column for condition in where)
    names = tuple(dict.fromkeys([*want.names, *more]))
    place = {name: i for i, name in enumerate(names)}
    number = 0  # of the next row that passes

    def kept(start: int, pieces: Sequence[Piece]) -> Iterator[T]:
        nonlocal number
        keep = np.ones(pieces[0].length, np.bool_)
        for condition in where:
            name, piece = condition.column, pieces[place[condition.column]]
            keep &= condition.keep(piece if condition.is_text else reader.numbers_of(name, piece))
        if len(keep) and not keep.any():
            return
        some = [_picked(pieces[place[name]], keep) for name in want.names]
        first, number = number, number + int(np.count_nonzero(keep))
        yield from convert(
            first,
            [
                piece if name in want.text else reader.numbers_of(name, piece)
                for name, piece in zip(want.names, some, strict=True)
            ],
        )

    return Want(names, want.text | texts, want.words | texts), kept


def _among_words(words: Sequence[str], piece: Piece) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which rows of a column of text are words, and which are there."""
    import pyarrow as pa

    is_word = ~np.isnan(Words(words).of(piece))
    if not isinstance(piece, Arrow):
        return is_word, np.ones(piece.length, np.bool_)
    array = piece.array
    if pa.types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.dictionary.take(array.indices)
    return is_word, arrow_present(array)


def _picked(piece: Piece, keep: NDArray[np.bool_]) -> Piece:
    """Return the rows of a column that are kept."""
    import pyarrow as pa

    if keep.all():
        return piece
    if not isinstance(piece, Arrow):
        array = entries(piece)[keep]
        return Values(array, array)
    array = piece.array
    if pa.types.is_string_view(array.type):  # which pyarrow cannot pick rows of
        array = array.cast(pa.large_string())
    elif pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    bits = pa.py_buffer(np.packbits(keep, bitorder="little"))
    return Arrow.of(array.filter(pa.Array.from_buffers(pa.bool_(), len(keep), [None, bits])))
