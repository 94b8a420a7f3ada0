"""Read columns of text as indices in a list of public words.

A row is read as the index, from 0, of the word that it equals. A row that equals no word, or is
missing, is read as NaN. Bytes equal a word if they are the UTF-8 of the word. Nothing is trimmed or
case-folded. In a dictionary-encoded column, each entry of the dictionary is looked up once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..errors import DataError
from .arrow import arrow_values, family, looked_up, without_views
from .forms import Arrow, MemoryColumn, Objects, Values, column_form
from .memory import F8, Column
from .public_values import expect_matches
from .untyped import is_missing

RULE = "a one-dimensional column of text"


#: Types of text that need no conversion.
TEXT = frozenset([str, bytes, type(None)])
#: Held while a word of the rows is added.
_ADDS = Lock()
#: The dimensions and kinds of NumPy arrays of text.
TEXTS = [(1, kind) for kind in "USTO"]


class Words:
    """Public words, of text or bytes, and the number of each; `name` is their argument.

    With `others`, any other value gets the number after the last word, and only missing values are
    NaN. If `words` is None, the words of the rows are used, and numbered as they are read. This is
    NOT PRIVATE, and the list is complete only after a pass. Bytes that are not UTF-8 are no word.
    """

    def __init__(
        self, words: Sequence[str | bytes] | None, name: str = "categories", others: bool = False
    ) -> None:
        self.words, self.grows = list(words or ()), words is None
        self.name, self.others = name, others
        self._numbers: dict[Any, float] = {}
        for i, word in enumerate(self.words):
            self._numbers[word] = self._numbers[_utf8(word)] = float(i)

    def of(self, column: MemoryColumn) -> NDArray[np.float64]:
        """Return the word numbers of a column in memory, NaN for a row that is no word."""
        if isinstance(column, Arrow):
            parts = [self.of_arrow(chunk) for chunk in column.chunked.chunks]
            return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, F8), *parts])
        rows = column.rows if isinstance(column, Objects) else column.array.tolist()
        numbers = np.array(self.of_objects(rows), F8)
        if isinstance(column, Values) and column.mask is not None:
            numbers[column.mask] = np.nan
        return numbers

    def of_objects(self, some: Sequence[Any]) -> list[float]:
        """Return the word numbers of Python objects, NaN for an object that is no word."""
        if self.grows:
            self._add({text for text in map(plain_text, some) if text not in self._numbers})
        number = self._numbers.get
        texts = some if TEXT.issuperset(map(type, some)) else map(plain_text, some)
        numbers = [number(cell, math.nan) for cell in texts]
        if self.others:
            for i, cell in enumerate(some):
                if math.isnan(numbers[i]) and not is_missing(cell, or_nan=True):
                    numbers[i] = float(len(self.words))
        return numbers

    def of_arrow(self, array: Any) -> NDArray[np.float64]:
        """Return the word numbers of a `pyarrow.Array`, NaN for a row that is no word."""
        import pyarrow as pa
        import pyarrow.compute as pc

        types = pa.types
        array = looked_up(array)
        out = np.full(len(array), math.nan)
        if types.is_null(array.type):
            return out
        if types.is_dictionary(array.type):
            _check_places(array)
            if len(array.dictionary) <= len(array):
                return _picked(self.of_arrow(array.dictionary), array.indices)
            return self.of_arrow(array.dictionary.take(array.indices))
        if self.grows:
            rows = array.cast(pa.large_binary()).dictionary_encode()
            return _picked(np.array(self.of_objects(rows.dictionary.to_pylist()), F8), rows.indices)
        text, array = family(array.type) == "text", without_views(array)
        if types.is_fixed_size_binary(array.type):
            array = array.cast(pa.binary())
        words: list[Any] = [word for word in self.words if isinstance(word, str) or not text]
        words = words if text else list(map(_utf8, words))
        codes = pc.index_in(array, value_set=pa.array(words, array.type))
        numbers = _picked(np.arange(len(words), dtype=F8), codes)
        if self.others:
            present = array.is_valid().to_numpy(zero_copy_only=False)
            numbers[np.isnan(numbers) & present] = float(len(self.words))
        return numbers

    def _add(self, texts: set[Any]) -> None:
        """Add texts of rows as new words, and number them."""
        with _ADDS:
            for text in texts - {None}:
                with suppress(UnicodeError):  # the message quotes the row
                    raw = _utf8(text)
                    if raw not in self._numbers:
                        self._numbers[raw.decode()] = self._numbers[raw] = float(len(self.words))
                        self.words.append(raw.decode())


def _utf8(word: str | bytes) -> bytes:
    return word.encode() if isinstance(word, str) else word


def plain_text(value: Any) -> str | bytes | None:
    """Return the plain text or bytes of an object; None if the object is neither."""
    if isinstance(value, str):
        return str.__str__(value)
    return bytes.__getitem__(value, slice(None)) if isinstance(value, bytes) else None


def _picked(numbers: NDArray[np.float64], indices: Any) -> NDArray[np.float64]:
    """Return ``numbers[i]`` for each i of a `pyarrow.Array`, NaN where i is null."""
    codes, present = arrow_values(indices)
    if present is None:
        return np.asarray(numbers[codes])
    out = np.full(len(codes), math.nan)
    out[present] = numbers[codes[present]]
    return out


def _check_places(array: Any) -> None:
    """Refuse a dictionary array with an index outside of its dictionary."""
    import pyarrow.compute as pc

    low, high = (end.as_py() for end in pc.min_max(array.indices).values())
    if low is not None and not 0 <= low <= high < len(array.dictionary):
        rule = "a column of text must have only indices of its dictionary, but one is outside"
        raise DataError(rule)


def is_text(kind: Any) -> bool:
    """Tell whether an Arrow type is text, bytes, or a dictionary of these."""
    return family(kind) in ("text", "bytes")


def holds_words(column: MemoryColumn) -> bool:
    """Tell whether a column can hold words, by its type."""
    if isinstance(column, Arrow):
        return is_text(column.chunked.type)
    return isinstance(column, Objects) or (column.array.ndim, column.array.dtype.kind) in TEXTS


def words_column(data: Any, words: Words, name: str) -> Column:
    """Return the word numbers of a column in memory as a `Column`.

    Raises
    ------
    ArgumentTypeError
        If its type holds no text. The rows do not matter.
    """
    column = column_form(data, name, RULE)
    if isinstance(column, Arrow):
        kind = column.chunked.type
        if not (is_text(kind) or family(kind) == "nothing"):
            checks.fail_kind(name, RULE, column.chunked, f" of Arrow type {kind}")
        expect_matches(words.name, words.words, column, name)
    elif isinstance(column, Values) and not holds_words(column):
        wrong = f" of {column.array.ndim} dimensions and {column.array.dtype}"
        checks.fail_kind(name, RULE, column.original, wrong)

    def fill(start: int, stop: int, out: NDArray[Any]) -> None:
        out[...] = words.of(column.cut(start, stop))

    return Column(F8, column.length, fill)


def matched(names: Sequence[str], words: Sequence[Words | None]) -> dict[str, Words]:
    """Return the `words` of each text column by its name; None is for other columns."""
    argument = next(
        (column_words.name for column_words in words if column_words is not None), "categories"
    )
    checks.columns(argument, len(words), len(names))
    return {
        name: column_words
        for name, column_words in zip(names, words, strict=True)
        if column_words is not None
    }
