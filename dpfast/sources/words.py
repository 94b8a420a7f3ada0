"""Columns of text as the numbers of public words, stretch by stretch.

A row is the number of the word that it equals, from 0 in the order of the list; NaN if it equals
none, which a missing row never does. Bytes equal a word if they are its UTF-8. Nothing is trimmed
or folded. A dictionary-encoded column is looked up once for each of its entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _check
from ._columns import F8, Column, chunked, is_arrow
from ._ids import family, looked_up
from .array import arrow_values

__all__ = ["Words", "is_text", "matched", "words_column"]

RULE = "a one-dimensional column of text"


class Words:
    """Public words and their numbers."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._numbers: dict[Any, float] = {}
        for i, word in enumerate(words):
            self._numbers[word] = self._numbers[word.encode()] = float(i)

    def of_objects(self, some: Sequence[Any]) -> list[float]:
        """The numbers of Python objects."""
        number = self._numbers.get
        try:
            return [number(one, math.nan) for one in some]
        except TypeError:  # one of them has no hash
            return [self._of_any(one) for one in some]

    def _of_any(self, one: Any) -> float:
        try:
            return self._numbers.get(one, math.nan)
        except TypeError:  # no word has none
            return math.nan

    def of_arrow(self, array: Any) -> NDArray[np.float64]:
        """The numbers of a `pyarrow.Array` of text, bytes or nulls, or of a dictionary of these."""
        import pyarrow as pa
        import pyarrow.compute as pc

        types = pa.types
        array = looked_up(array)
        out = np.full(len(array), math.nan)
        if types.is_null(array.type):
            return out
        if types.is_dictionary(array.type):
            if len(array.dictionary) <= len(array):
                return _picked(self.of_arrow(array.dictionary), array.indices)
            array = array.dictionary.take(array.indices)
        kind = array.type
        text = family(kind) == "text"
        if types.is_string_view(kind) or types.is_binary_view(kind):
            array = array.cast(pa.large_string() if text else pa.large_binary())
        elif types.is_fixed_size_binary(kind):
            array = array.cast(pa.binary())
        words = self.words if text else [word.encode() for word in self.words]
        found = pc.index_in(array, value_set=pa.array(words, array.type))
        return _picked(np.arange(len(words), dtype=F8), found)


def _picked(numbers: NDArray[np.float64], indices: Any) -> NDArray[np.float64]:
    """``numbers[i]`` for each of a `pyarrow.Array` of indices, NaN where one is null."""
    places, present = arrow_values(indices)
    if present is None:
        every: NDArray[np.float64] = numbers[places]
        return every
    out = np.full(len(places), math.nan)
    out[present] = numbers[places[present]]
    return out


def is_text(kind: Any) -> bool:
    """Whether a column of an Arrow type is text or bytes, or a dictionary of these."""
    return family(kind) in ("text", "bytes")


def words_column(data: Any, words: Words, name: str) -> Column:
    """The numbers of a column in memory.

    Raises
    ------
    ArgumentTypeError
        If it is of a type that holds no text. What the rows are decides nothing, but for Python
        objects none of which is text.
    """
    if isinstance(data, np.ma.MaskedArray):
        mask = np.ma.getmaskarray(data)
        return _objects(np.ma.getdata(data), mask, words, data, name)
    if isinstance(data, (np.ndarray, list, tuple)):
        return _objects(data, None, words, data, name)
    if is_arrow(data):
        whole = chunked(data, name, RULE)
        if not (is_text(whole.type) or family(whole.type) == "nothing"):
            _check.fail_kind(name, RULE, data, f" of Arrow type {whole.type}")

        def fill(start: int, stop: int, out: NDArray[Any]) -> None:
            for part in whole.slice(start, stop - start).chunks:
                out[: len(part)] = words.of_arrow(part)
                out = out[len(part) :]

        return Column(F8, len(whole), fill)
    if not hasattr(data, "__array__"):
        _check.fail_kind(name, RULE, data)
    return _objects(np.asarray(data), None, words, data, name)


class _Rows(NamedTuple):
    """Python objects, or a NumPy array of text, in memory."""

    rows: Any
    mask: NDArray[np.bool_] | None
    words: Words

    def fill(self, start: int, stop: int, out: NDArray[Any]) -> None:
        some = self.rows[start:stop]
        out[...] = self.words.of_objects(some.tolist() if isinstance(some, np.ndarray) else some)
        if self.mask is not None:
            out[self.mask[start:stop]] = np.nan


def _objects(
    rows: Any, mask: NDArray[np.bool_] | None, words: Words, given: Any, name: str
) -> Column:
    array = isinstance(rows, np.ndarray)
    if array and (rows.ndim != 1 or rows.dtype.kind not in "USTO"):
        _check.fail_kind(name, RULE, given, f" of {rows.ndim} dimensions and {rows.dtype}")
    if not array or rows.dtype.kind == "O":
        some = (one for one in rows if not _is_missing(one))
        first = next(some, "")
        if not isinstance(first, (str, bytes)) and not any(
            isinstance(one, (str, bytes)) for one in some
        ):
            _check.fail_kind(name, RULE, given, " that holds none")
    return Column(F8, len(rows), _Rows(rows, mask, words).fill)


def _is_missing(one: Any) -> bool:
    return one is None or (isinstance(one, float) and math.isnan(one))


def matched(names: Sequence[str], words: Sequence[Words | None]) -> dict[str, Words]:
    """The words of those columns that are of text; `words` are in the order of all columns."""
    _check.columns("categories", len(words), len(names))
    return {name: own for name, own in zip(names, words, strict=True) if own is not None}
