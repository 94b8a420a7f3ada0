"""Public categories of randomized response, and the index of each row's category.

The type and dtype of data decide how they are read: no row is read before the spend.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import statistics as _native
from ..tables.arrow import arrow_values, family
from ..tables.forms import (
    chunked,
    converted,
    is_arrow,
    is_untyped,
    unmasked,
    untyped_rows,
    unwrapped,
)
from ..tables.public_values import listed
from ..tables.words import Words

Label: TypeAlias = int | str | bytes | np.integer
#: Public categories: their number, or a list of different values.
Labels: TypeAlias = int | Sequence[int] | Sequence[str] | Sequence[bytes] | NDArray[Any]

_LARGEST = (1 << 63) - 1


def as_array(name: str, data: Any, kinds: str, rule: str) -> NDArray[Any]:
    array: NDArray[Any] = converted(data, name, rule, np.asarray)
    if array.dtype.kind == "O" or array.dtype.kind not in kinds:
        if array.size == 0 and not checks.has(data, "dtype"):
            return array.astype(np.int64)  # an empty list
        checks.fail_kind(name, rule, data, f" of dtype {array.dtype}")
    return array


def rows_of(name: str, data: Any, kinds: str, rule: str) -> Any:
    """Return data as an array of a dtype in `kinds`, an Arrow column, or else an array of objects.

    The type and the dtype of the data alone decide what is returned; no row is read.
    """
    data, text = unwrapped(data), kinds in "US"
    if is_untyped(data):
        return _objects(untyped_rows(data, name))
    if is_arrow(data):
        column = chunked(data, name, rule)
        if family(column.type) not in (("text", "bytes", "nothing") if text else ("integers",)):
            checks.fail_kind(name, rule, data, f" of Arrow type {column.type}")
        return column
    if not checks.has(data, "dtype") and isinstance(data, (str, bytes) if text else numbers.Real):
        return _objects([data]).reshape(())
    array: NDArray[Any] = converted(data, name, rule, np.asarray)
    if text and array.dtype.kind == "T":
        array = array.astype(object)
    objects = array.dtype.kind == "O" and array.ndim > 0
    if not objects and array.dtype.kind not in kinds:
        checks.fail_kind(name, rule, data, f" of dtype {array.dtype}")
    return unmasked(data) if isinstance(data, np.ma.MaskedArray) else array


def _objects(rows: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(rows, object, len(rows))


def each_row(array: Any, of: Callable[[Any], NDArray[Any]], none: int) -> NDArray[Any]:
    """Apply `of` to each row of an Arrow array; put `none` for a null or an invalid code."""
    from pyarrow import types

    if types.is_dictionary(array.type):
        codes = each_row(array.dictionary, of, none)
        indices, present = arrow_values(array.indices)
        inside = (indices >= 0) & (indices < len(codes))
        if present is not None:
            inside &= present
        out = np.full(len(indices), none, codes.dtype)
        out[inside] = codes[indices[inside]]
        return out
    if family(array.type) != "integers":
        return of(array)
    values, present = arrow_values(array.cast("uint8") if types.is_boolean(array.type) else array)
    out = of(values)
    if present is not None:
        out[~present] = none
    return out


def _integer(row: Any) -> int | None:
    """Return a row as an integer, or None if the row is not a whole number."""
    if type(row) is int:
        return row
    exact: Any = row
    if not isinstance(row, (numbers.Real, Decimal, np.bool_)) or isinstance(row, np.timedelta64):
        return None
    try:
        integer = int(exact)
        return integer if integer == exact else None
    except Exception:  # an infinite number, or an object whose conversion raises an error
        return None


class Categories:
    """Public categories: 0 .. k - 1, or k labels."""

    def __init__(self, categories: Any) -> None:
        rule = "a number of categories of at least 1, or a list of different labels"
        categories = listed("categories", categories)
        self.labels: NDArray[Any] | None = None
        self._words: Words | None = None
        if checks.is_whole(categories):
            self.count = checks.whole("categories", categories, 1)
        else:
            for label in categories if isinstance(categories, (list, tuple)) else ():
                checks.keeps_end("categories", label)
            labels = as_array("categories", categories, "biuUS", rule)
            kind = {"U": str, "S": bytes}.get(labels.dtype.kind, object)
            is_list = labels.ndim == 1 and all(isinstance(label, kind) for label in categories)
            if not is_list or not 0 < labels.size == len(np.unique(labels)):
                checks.fail("categories", rule, categories)
            self.labels, self.count = labels, labels.size
            if labels.dtype.kind in "biu":
                if int(labels.max()) > _LARGEST:
                    checks.fail("categories", f"at most {_LARGEST} each", categories)
                labels = labels.astype(np.int64)
            self._order = np.argsort(labels, kind="stable")
            self._sorted = labels[self._order]
            self._indices = {label: index for index, label in enumerate(labels.tolist())}
            if labels.dtype.kind in "US":
                self._words = Words(labels.tolist())
        if self.count > _native.MOST:
            checks.fail("categories", f"at most {_native.MOST} categories", categories)

    def rows(self, name: str, data: Any) -> Any:
        """Return data in a representation that `codes` accepts, without reading a row."""
        if self.labels is None or self._words is None:
            return rows_of(name, data, "biu", "an array of integers")
        kind = self.labels.dtype.kind
        words = "text" if kind == "U" else "bytes"
        return rows_of(name, data, kind, f"an array of {words}, as the categories are")

    def number(self, name: str, label: Any) -> int:
        """Return the index of a label among the categories, or raise an error."""
        kind = "i" if self.labels is None else self.labels.dtype.kind
        kinds: Any = {"U": str, "S": bytes}.get(kind, (int, np.integer, np.bool_))
        index = int(self.codes(_objects([label]))[0]) if isinstance(label, kinds) else -1
        if index < 0:
            checks.fail(name, "one of the categories", label)
        return index

    def codes(self, data: Any) -> NDArray[np.int64]:
        """Return the index of each row's category, or -1 for a row that is in no category."""
        if not isinstance(data, np.ndarray):
            codes_of_chunks = [each_row(array, self._of_arrow, -1) for array in data.chunks]
            return np.concatenate([np.empty(0, np.int64), *codes_of_chunks])
        if data.dtype.kind == "O":
            return self._of_objects(data.ravel().tolist()).reshape(data.shape)
        if self.labels is None:
            codes = data.astype(np.int64)
            codes[(data < 0) | (data >= self.count)] = -1
            return codes
        beyond = np.zeros((), np.bool_)
        # Convert to one type, because NumPy compares mixed integers as floats.
        if data.dtype.kind in "biu":
            beyond, data = data > _LARGEST, data.astype(np.int64)
        at = np.minimum(np.searchsorted(self._sorted, data), self.count - 1)
        is_category = (self._sorted[at] == data) & ~beyond
        return np.where(is_category, self._order[at], -1).astype(np.int64)

    def _of_arrow(self, array: Any) -> NDArray[np.int64]:
        """Return the category indices of a NumPy array of integers, or an Arrow array of text."""
        if isinstance(array, np.ndarray):
            return self.codes(array)
        if self._words is None:
            return np.full(len(array), -1)
        return _whole(self._words.of_arrow(array))

    def _of_objects(self, rows: list[Any]) -> NDArray[np.int64]:
        """Return the category indices of rows without a dtype, which are read one by one."""
        if self._words is not None:
            return _whole(self._words.of_objects(rows))
        if {int, bool}.issuperset(map(type, rows)):
            try:
                return self.codes(np.array(rows, np.int64))
            except OverflowError:
                pass
        return np.fromiter(map(self._index, rows), np.int64, len(rows))

    def _index(self, row: Any) -> int:
        integer = _integer(row)
        if self.labels is not None:
            return self._indices.get(integer, -1)
        return -1 if integer is None or not 0 <= integer < self.count else integer

    def answers(self, codes: NDArray[Any]) -> NDArray[Any]:
        return codes if self.labels is None else np.asarray(self.labels[codes])


def _whole(numbers: Any) -> NDArray[np.int64]:
    codes = np.asarray(numbers, np.float64)
    return np.where(np.isnan(codes), -1, codes).astype(np.int64)
