"""Linear queries over a public universe, as integer weights; data as counts of its elements.

A query f gives each element a number from 0 to 1. It is rounded to multiples of ``2**-bits``, and
the rounded query is what is answered. Then the sum of its weights over the rows is an exact
integer, and a replaced row moves it by at most ``2**bits``.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.jit import QueryLoop, is_compiled
from ..errors import DataError
from ..sources import Chunk, Source, as_source
from ..sources.row_source import RowChunk, RowSource
from ..sources.table import coded_rows
from ..sources.words import Words
from ..summaries.side_by_side import flat, stretches

#: Rows for which weights of 15 bits still have exact sums: fewer than that.
MOST_ROWS = 1 << 36

#: Elements that are handled together: half a megabyte.
STRETCH = 1 << 16

_RULE = "a vector of numbers between 0 and 1, one for each element of the universe"
_OF_ONE = "a function of one element whose values are between 0 and 1"


class Universe:
    """The elements that rows can be: numbers or texts, or without names, numbered 0 .. size - 1."""

    def __init__(self, elements: Any, size: int | None) -> None:
        self.elements: NDArray[Any] | None = None
        self.words: Words | None = None
        if elements is None:
            assert size is not None
            self.size = size
            return
        rule = "distinct finite numbers, or distinct texts, in one dimension"
        # A number among texts would be made one by NumPy.
        some = list(elements) if isinstance(elements, (list, tuple)) else None
        found = checks.array("universe", elements, rule)
        if found.ndim == 1 and found.dtype.kind in "UOT":
            some = found.tolist() if some is None else some
            if not all(isinstance(one, str) for one in some):
                checks.fail_kind("universe", rule, elements)
            self.words = Words([checks.text("universe", one) for one in some])
            found = np.array(some, np.str_)
        elif found.ndim != 1 or found.dtype.kind not in "iufb":
            checks.fail_kind("universe", rule, elements)
        elif found.dtype.kind == "f":
            found = found.astype(np.float64)
        else:
            found = found.astype(found.dtype.newbyteorder("="))
        finite = self.words is not None or np.isfinite(found).all()
        if not len(found) or not finite or len(np.unique(found)) < len(found):
            checks.fail("universe", rule, elements)
        if size is not None and size != len(found):
            checks.fail("universe", f"as long as the histogram, {size}", len(found))
        self.elements, self.size = found, len(found)

    @property
    def facts(self) -> list[Any]:
        """What tells it from others."""
        if self.elements is None:
            return [self.size]
        return [self.elements.dtype.str, hashlib.sha256(self.elements.tobytes()).hexdigest()]

    def values(self, query: Any) -> NDArray[np.float64]:
        """The numbers of a query, which still have to be looked at."""
        return self._called(query) if callable(query) else self._vector(query)

    def weights(self, values: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
        """The query in units of ``2**-bits``: integers. An error unless it is between 0 and 1."""
        out = np.empty(self.size)
        for at in range(0, self.size, STRETCH):
            part, units = values[at : at + STRETCH], out[at : at + STRETCH]
            if not (part.min() >= 0 and part.max() <= 1):  # NaN is neither
                rule = "between 0 and 1 for every element of the universe"
                checks.fail("query", rule, part[~((part >= 0) & (part <= 1))][0].item())
            np.multiply(part, float(1 << bits), out=units)
            np.rint(units, out=units)
        return out

    def _vector(self, query: Any) -> NDArray[np.float64]:
        found = checks.array("query", query, _RULE)
        if found.dtype.kind not in "iufb" or found.ndim != 1:
            checks.fail_kind("query", _RULE, query)
        if len(found) != self.size:
            checks.fail("query", f"as long as the universe, {self.size}", f"{len(found)} numbers")
        return np.ascontiguousarray(found, np.float64)

    def _called(self, query: Callable[[Any], Any]) -> NDArray[np.float64]:
        elements = np.arange(self.size) if self.elements is None else self.elements
        if is_compiled(query):
            return QueryLoop(query).values(elements)
        found = np.empty(self.size)
        for i, element in enumerate(elements.tolist()):
            try:
                value = query(element)
                if isinstance(value, (str, bytes)):  # which NumPy would read
                    raise TypeError
                found[i] = value
            except Exception as error:
                checks.fail_kind("query", _OF_ONE, query, f" ({type(error).__name__})")
        return found

    def rows(self, data: Any) -> tuple[Source | RowSource, int]:
        """A column that is to be counted, and its public number of rows."""
        # Of texts, several columns are refused there.
        source = as_source(data) if self.words is None else coded_rows(data, [self.words])
        if source.length is None:
            checks.fail_kind("data", "of a known number of rows", data)
        if not source.length:
            checks.fail("data", "a row at least", "none")
        rows = int(source.length)
        if rows >= MOST_ROWS:
            checks.fail("data", "fewer than 2**36 rows", rows)
        return source, rows

    def count(self, source: Any) -> NDArray[np.int64]:
        """How many rows of a column are each element, which each of them has to be."""
        assert self.elements is not None
        elements = self.elements if self.words is None else np.arange(float(self.size))
        order = np.argsort(elements, kind="stable")
        ranked = elements[order]

        def counted(values: NDArray[Any]) -> NDArray[np.int64]:
            places = np.searchsorted(ranked, values)
            places[places == len(ranked)] = 0
            known = ranked[places] == values
            counts = np.bincount(places[known], minlength=len(ranked) + 1)
            counts[-1] += int((~known).sum())
            return counts.astype(np.int64)

        def numbers(chunk: Chunk) -> NDArray[np.int64]:
            counts = counted(chunk.values)
            counts[-1] += chunk.nulls
            return counts

        def texts(chunk: RowChunk) -> NDArray[np.int64]:
            parts = [counted(flat(own)) for (own,), _ in stretches(chunk, None)]
            counts: NDArray[np.int64] = np.sum(parts, axis=0, dtype=np.int64)
            return counts

        summarise: Any = numbers if self.words is None else texts
        found: NDArray[np.int64] = source.reduce(summarise, np.add)
        if found[-1]:
            raise DataError("data must be elements of the universe; how many are none is not shown")
        counts = np.empty(len(order), np.int64)
        counts[order] = found[:-1]
        return counts


def counts_of(histogram: Any) -> tuple[NDArray[np.int64], int]:
    """A histogram, checked, and its sum. Its length and its sum are public, its numbers are not."""
    rule = "counts of rows, integers of at least 0, one for each element of the universe"
    found = checks.array("histogram", histogram, rule)
    if found.dtype.kind not in "iu" or found.ndim != 1 or not len(found) or (found < 0).any():
        checks.fail_kind("histogram", rule, histogram)
    rows = int(found.sum(dtype=np.float64))  # exact below 2**53, and never beyond its end
    if not rows:
        checks.fail("histogram", "that of a row at least", rows)
    if rows >= MOST_ROWS:
        checks.fail("histogram", "that of fewer than 2**36 rows", rows)
    return found.astype(np.int64), rows


def digest(weights: NDArray[np.float64]) -> str:
    """What tells integer weights below ``2**31`` from others."""
    return hashlib.sha256(weights.astype("<i4").tobytes()).hexdigest()


def coded(weights: NDArray[np.float64], bits: int) -> bytes:
    """Weights of a query as few bytes: a bit each where the query is 0 or 1."""
    ones = weights == 1 << bits
    if (ones | (weights == 0)).all():
        return b"b" + zlib.compress(np.packbits(ones).tobytes(), 1)
    return b"w" + zlib.compress(weights.astype("<i4").tobytes(), 1)


def decoded(body: bytes, bits: int, size: int) -> NDArray[np.float64]:
    """What `coded` wrote."""
    plain = zlib.decompress(body[1:])
    if body[:1] == b"b":
        ones = np.unpackbits(np.frombuffer(plain, np.uint8), count=size)
        return np.ldexp(ones.astype(np.float64), bits)
    return np.frombuffer(plain, "<i4").astype(np.float64)
