"""Digests of columns, which show whether two passes read equal rows in the same order.

A digest of a column is a sum over all rows, modulo 2**64: each row adds the keyed SipHash-2-4 of
(row number, value). With a fresh key, two reads that differ in any row have the same digest with a
probability of about 2**-64. The division into batches does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import tables as _native
from .._kernels.tables import Key
from .arrow import arrow_cast, arrow_numbers, arrow_present
from .forms import Arrow
from .key_words import KeyWords

#: The key of digests that need no secret, because the columns do not choose rows.
PUBLIC = Key(bytes(32))


def digest(key: Key, array: Any, start: int) -> int:
    """Return the keyed digest of a `pyarrow.Array` whose first row has the number `start`."""
    if not len(array):
        return 0
    values, present = _words(key, array)
    values[~present] = 0
    indices = 2 * np.arange(start, start + len(array)).astype(np.uint64) + present
    hashes = np.empty(len(array), np.uint64)
    _native.hashes(key, values, indices, hashes)
    return int(np.add.reduce(hashes))


def _words(key: Key, array: Any) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return a 64-bit word for each value of a column, and a mask of the rows that have one."""
    import pyarrow as pa

    how = arrow_numbers(array.type)
    if how is not None and how.cast is not None:
        array = arrow_cast(array, how.cast)
    if pa.types.is_primitive(array.type):
        size = array.type.bit_width // 8
        rows = array.buffers()[1]  # slicing keeps the whole buffer, and array.offset is the start
        raw = np.frombuffer(rows, f"u{size}", len(array), array.offset * size)
        return raw.astype(np.uint64), arrow_present(array)
    words = KeyWords(key).of(Arrow(pa.chunked_array([array])))
    out = np.empty(len(array), np.uint64)
    _native.hashes(key, words.low, words.highs(), out)
    return out, words.presence()
