"""Linear queries as integer weights over a public universe, and data as counts of elements.

A query gives each element a number from 0 to 1. These numbers are rounded to multiples of
``2**-bits``, and the rounded query is answered. So the sum of its weights over the rows is an exact
integer. If a row is replaced, the sum changes by at most ``2**bits``.
"""

from __future__ import annotations

import hashlib
import itertools
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.threads import run_in_threads, threads
from .._core.types import Number
from .._kernels.jit import QueryLoop, is_compiled
from ..errors import DataError
from ..summaries.side_by_side import flat, stretches
from ..tables.base import Chunk, RowChunk, RowSource, Source
from ..tables.intake import one_column, read, whole_rows
from ..tables.public_values import listed
from ..tables.words import Words

#: A query: a number from 0 to 1 for each element of the universe, or a function that returns it.
Query: TypeAlias = ArrayLike | Callable[[Any], Number | np.bool_]
#: The data of a stream: counts, or the rows to be counted.
Counted: TypeAlias = NDArray[np.int64] | Source | RowSource
#: If there are fewer rows than this, sums of weights of 15 bits are exact.
MOST_ROWS = 1 << 36

#: How many elements are processed together: half a megabyte of float64.
STRETCH = 1 << 16
#: A second thread pays from this number of elements on.
ENOUGH = 1 << 17

_RULE = "a vector of numbers between 0 and 1, one for each element of the universe"
_OF_ONE = "a function of one element whose values are between 0 and 1"


def spread(
    count: int, work: Callable[[int, int], Any], multiple: int = 1, enough: int = ENOUGH
) -> None:
    """Call ``work(start, stop)`` for ranges that cover all elements, in threads if that pays.

    The length of each range, except the last, is a multiple of `multiple` and at least `enough`.
    """
    workers = max(1, min(threads(), count // enough))
    cuts = {count * i // workers // multiple * multiple for i in range(workers)}
    run_in_threads(
        lambda span: work(*span), list(itertools.pairwise([*sorted(cuts), count])), workers
    )


class Universe:
    """The public elements that rows can be: numbers, texts, or by default 0 .. size - 1."""

    def __init__(self, elements: ArrayLike | None, size: int | None) -> None:
        self.elements: NDArray[Any] | None = None
        self.words: Words | None = None
        if elements is None:
            assert size is not None
            self.size = size
            return
        rule = "distinct finite numbers, or distinct texts, in one dimension"
        elements = listed("universe", elements)
        array = checks.array("universe", elements, rule)
        if array.ndim == 1 and array.dtype.kind in "UOT":
            # NumPy would convert a number among texts to text, so look at the list itself.
            texts = list(elements) if isinstance(elements, (list, tuple)) else array.tolist()
            if not all(isinstance(text, str) for text in texts):
                checks.fail_kind("universe", rule, elements)
            for text in texts:
                checks.keeps_end("universe", text)
            self.words = Words([checks.text("universe", text) for text in texts])
            array = np.array(texts, np.str_)
        elif array.ndim != 1 or array.dtype.kind not in "iufb":
            checks.fail_kind("universe", rule, elements)
        else:
            native = array.dtype.newbyteorder("=")
            array = array.astype(np.float64 if array.dtype.kind == "f" else native)
        finite = self.words is not None or np.isfinite(array).all()
        if not len(array) or not finite or len(np.unique(array)) < len(array):
            checks.fail("universe", rule, elements)
        if size is not None and size != len(array):
            checks.fail("universe", f"as long as the histogram, {size}", f"{len(array)} elements")
        self.elements, self.size = array, len(array)

    @property
    def facts(self) -> list[Any]:
        """The public facts that identify this universe, for `session.facts`."""
        if self.elements is None:
            return [self.size]
        return [self.elements.dtype.str, hashlib.sha256(self.elements.tobytes()).hexdigest()]

    def values(self, query: Query) -> NDArray[np.float64]:
        """Return the values of a query on all elements. Their range is not checked yet."""
        if callable(query):
            return self._called(query)
        vector = checks.array("query", query, _RULE)
        if vector.dtype.kind not in "iufb" or vector.ndim != 1:
            checks.fail_kind("query", _RULE, query)
        if len(vector) != self.size:
            checks.fail("query", f"as long as the universe, {self.size}", f"{len(vector)} numbers")
        return np.ascontiguousarray(vector, np.float64)

    def weights(self, values: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
        """Return a query as integers in units of ``2**-bits``; refuse values outside 0 to 1."""
        out = np.empty(self.size)
        for at in range(0, self.size, STRETCH):
            part, units = values[at : at + STRETCH], out[at : at + STRETCH]
            if not (part.min() >= 0 and part.max() <= 1):  # comparisons with NaN are false
                rule = "between 0 and 1 for every element of the universe"
                checks.fail("query", rule, part[~((part >= 0) & (part <= 1))][0].item())
            np.multiply(part, float(1 << bits), out=units)
            np.rint(units, out=units)
        return out

    def _called(self, query: Callable[[Any], Any]) -> NDArray[np.float64]:
        elements = np.arange(self.size) if self.elements is None else self.elements
        if is_compiled(query):
            return QueryLoop(query).values(elements)
        values = np.empty(self.size)
        for i, element in enumerate(elements.tolist()):
            try:
                value = query(element)
                if isinstance(value, (str, bytes)):  # NumPy would parse text as a number
                    raise TypeError
                values[i] = value
            except Exception as error:
                checks.fail_kind("query", _OF_ONE, query, f" ({type(error).__name__})")
        return values

    def rows(self, data: Any) -> tuple[Counted, int]:
        """Return the column of data to count, and its public number of rows."""
        if self.words is None:
            view = read(data, one_column, relation="replace")
        else:
            view = read(data, whole_rows, "universe", 1, [self.words], relation="replace")
        source: Source | RowSource = view.kept
        if source.length is None:
            checks.fail_kind("data", "data with a known number of rows", data)
        if not source.length:
            checks.fail("data", "at least one row", "no rows")
        rows = int(source.length)
        if rows >= MOST_ROWS:
            checks.fail("data", "fewer than 2**36 rows", rows)
        return source, rows

    def count(self, source: Source | RowSource) -> NDArray[np.int64]:
        """Return the number of rows of each element; refuse rows outside the universe."""
        assert self.elements is not None
        elements = self.elements if self.words is None else np.arange(float(self.size))
        order = np.argsort(elements, kind="stable")
        ranked = elements[order]

        def summarize(chunk: Chunk | RowChunk) -> NDArray[np.int64]:
            counts = np.zeros(len(ranked) + 1, np.int64)
            if isinstance(chunk, Chunk):
                counts[-1], parts = chunk.nulls, [chunk.values]
            else:
                parts = [flat(column) for (column,), _ in stretches(chunk, None)]
            for values in parts:
                indices = np.searchsorted(ranked, values)
                indices[indices == len(ranked)] = 0
                is_element = ranked[indices] == values
                counts += np.bincount(indices[is_element], minlength=len(ranked) + 1)
                counts[-1] += np.count_nonzero(~is_element)
            return counts

        ranked_counts: NDArray[np.int64] = source.reduce(summarize, np.add)
        if ranked_counts[-1]:
            raise DataError("data must hold elements of the universe only, got other rows")
        counts = np.empty(len(order), np.int64)
        counts[order] = ranked_counts[:-1]
        return counts


def counts_of(histogram: ArrayLike | None) -> tuple[NDArray[np.int64], int]:
    """Return the checked counts of a histogram, and their sum. Only length and sum are public."""
    rule = "counts of rows, integers of at least 0, one for each element of the universe"
    counts = checks.array("histogram", histogram, rule)
    if counts.dtype.kind not in "iu" or counts.ndim != 1 or not len(counts) or (counts < 0).any():
        checks.fail_kind("histogram", rule, histogram)
    # Exact below 2**53, and it cannot overflow like integers.
    rows = int(counts.sum(dtype=np.float64))
    if not rows:
        checks.fail("histogram", "counts with a sum of at least 1", rows)
    if rows >= MOST_ROWS:
        checks.fail("histogram", "counts with a sum below 2**36", rows)
    return counts.astype(np.int64), rows


def digest(weights: NDArray[np.float64]) -> str:
    """Return a SHA-256 digest of integer weights below ``2**31``."""
    return hashlib.sha256(weights.astype("<i4").tobytes()).hexdigest()


def coded(weights: NDArray[np.float64], bits: int) -> bytes:
    """Return the weights of a query in few bytes: one bit each if all are 0 or 1."""
    ones = weights == 1 << bits
    if (ones | (weights == 0)).all():
        return b"b" + zlib.compress(np.packbits(ones).tobytes(), 1)
    return b"w" + zlib.compress(weights.astype("<i4").tobytes(), 1)


def decoded(body: bytes, bits: int, size: int) -> NDArray[np.float64]:
    """Return the weights that `coded` has encoded."""
    plain = zlib.decompress(body[1:])
    if body[:1] == b"b":
        ones = np.unpackbits(np.frombuffer(plain, np.uint8), count=size)
        return np.ldexp(ones.astype(np.float64), bits)
    return np.frombuffer(plain, "<i4").astype(np.float64)
