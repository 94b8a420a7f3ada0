"""Labels that are a keyed hash of an id: all rows of one person meet in one block."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ..._kernels import aggregate as _native
from ...errors import DataError

#: Rows of a conversion buffer.
CHUNK = 1 << 16
RULE = "a one-dimensional column of integers, text or bytes"

#: How Python objects of a kind are tagged, and written as bytes.
ENCODED: dict[str, tuple[int, Callable[[Any], bytes]]] = {
    "text": (_native.TEXT, lambda text: text.encode("utf-8", "surrogatepass")),
    "bytes": (_native.BYTES, bytes),
    "none": (_native.NULL_ID, lambda _: b""),
}
#: The type and size of a unit of arrays of fixed width, and their kernel.
FIXED = {"S": (np.uint8, 1, _native.padded_labels), "U": (np.uint32, 4, _native.text_labels)}


class KeyedLabels:
    """The label of an id is SipHash-2-4 of it under a secret key, scaled to 0 .. blocks - 1.

    Equal ids have equal labels, in any chunk and in any form: an integer of any NumPy or Arrow
    type, text as NumPy's ``U``, Python strings or Arrow strings, bytes as NumPy's ``S``, Python
    bytes or Arrow binary. A number, the text of its digits, and the same bytes are three ids. A
    null (None, a masked row, NaN among Python objects) is an id of its own.

    Parameters
    ----------
    blocks : int
        At most 2**31.
    key : Key
        Secret: it determines the blocks. `secret` makes one.

    Notes
    -----
    About 2 ns for an integer with AVX-512, 20 ns for a short text. Text is hashed as UTF-8 without
    normalization: texts that look alike but have other code points are different ids. Zeros at the
    end of text and bytes do not count, because NumPy drops them.
    """

    def __init__(self, blocks: int, key: _native.Key) -> None:
        self.blocks = blocks
        self.key = key

    def read(self, ids: Any) -> NDArray[np.uint32]:
        """Return the labels of a column of ids.

        Raises
        ------
        ArgumentTypeError
            If the ids are of another kind, such as floats, where 0.1 + 0.2 is not 0.3.
        """
        if isinstance(ids, np.ndarray):
            return self._array(ids)
        if hasattr(ids, "__arrow_c_stream__") or hasattr(ids, "__arrow_c_array__"):
            with suppress(ImportError):  # a pandas column is an array too
                return self._arrow(ids)
        if not hasattr(ids, "__array__"):  # NumPy would make text of numbers beside a text
            objects = np.empty(len(ids), object)
            for i, each in enumerate(ids):
                objects[i] = each
            ids = objects
        return self._array(np.asarray(ids))

    def _array(self, ids: NDArray[Any]) -> NDArray[np.uint32]:
        kind = ids.dtype.kind
        if ids.ndim != 1 or kind not in "biuUSTO":
            checks.fail_kind("ids", RULE, ids, f" of {ids.ndim} dimensions and {ids.dtype}")
        if isinstance(ids, np.ma.MaskedArray) and np.ma.is_masked(ids):
            mask, ids, kind = np.ma.getmaskarray(ids), np.ma.getdata(ids).astype(object), "O"
            ids[mask] = None
        out = np.empty(len(ids), np.uint32)
        for at in range(0, len(ids), CHUNK):
            some, to = ids[at : at + CHUNK], out[at : at + CHUNK]
            if kind in "biu":
                self._integers(some, to)
            elif kind in "US" and ids.itemsize:
                self._fixed(some, to)
            else:
                self._objects(some.tolist(), to)
        return out

    def _integers(self, ids: NDArray[Any], out: NDArray[np.uint32]) -> None:
        is_signed = ids.dtype.kind == "i"
        plain = np.ascontiguousarray(ids, np.int64 if is_signed else np.uint64)
        _native.integer_labels(self.key, self.blocks, plain.view(np.uint64), is_signed, out)

    def _fixed(self, ids: NDArray[Any], out: NDArray[np.uint32]) -> None:
        plain = np.ascontiguousarray(ids, ids.dtype.newbyteorder("="))
        unit, size, label = FIXED[ids.dtype.kind]
        label(self.key, self.blocks, plain.view(unit), plain.itemsize // size, out)

    def _objects(self, ids: list[Any], out: NDArray[np.uint32]) -> None:
        """Label Python objects, kind by kind."""
        kinds = [_kind(each) for each in ids]
        for kind in set(kinds):
            where = [i for i, other in enumerate(kinds) if other == kind]
            some = [ids[i] for i in where]
            part = np.empty(len(some), np.uint32)
            if kind in ENCODED:
                tag, encode = ENCODED[kind]
                self._strings([encode(one) for one in some], tag, part)
            elif kind in ("int64", "uint64"):
                self._integers(np.array([int(i) for i in some], kind), part)
            else:
                raise DataError(
                    "ids must be integers of at most 64 bits, text or bytes, and are not"
                )
            out[where] = part

    def _strings(self, some: list[bytes], kind: int, out: NDArray[np.uint32]) -> None:
        first = np.zeros(len(some) + 1, np.int64)
        np.cumsum([len(text) for text in some], out=first[1:])
        _native.byte_labels(self.key, self.blocks, b"".join(some), first, kind, out)

    def _arrow(self, ids: Any) -> NDArray[np.uint32]:
        import pyarrow as pa

        column = ids if isinstance(ids, (pa.Array, pa.ChunkedArray)) else pa.chunked_array(ids)
        types = pa.types
        if types.is_dictionary(column.type):
            column = self._looked_up(column)
        if types.is_boolean(column.type):
            column = column.cast(pa.uint8())
        kind = column.type
        text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_binary_view(kind)
        if text or binary or types.is_fixed_size_binary(kind):
            column = column.cast(pa.large_string() if text else pa.large_binary())
        elif not (types.is_integer(kind) or types.is_null(kind)):
            checks.fail_kind("ids", RULE, ids, f" of Arrow type {kind}")
        out = np.empty(len(column), np.uint32)
        at = 0
        for array in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            part = out[at : at + len(array)]
            if types.is_null(kind):
                part[:] = self._null()
            elif types.is_integer(kind):
                filled = array.fill_null(0) if array.null_count else array
                self._integers(filled.to_numpy(zero_copy_only=False), part)
            else:
                self._buffers(array, _native.TEXT if text else _native.BYTES, part)
            if array.null_count and not types.is_null(kind):
                part[array.is_null().to_numpy(zero_copy_only=False)] = self._null()
            at += len(array)
        return out

    def _looked_up(self, column: Any) -> Any:
        """Return a column of the words that the rows of a dictionary column stand for."""
        import pyarrow as pa

        try:
            return column.cast(column.type.value_type)
        except pa.ArrowException:
            pass  # its message quotes a row, so it must not survive, not even as a context
        raise DataError("ids must stand in their dictionary, and do not")

    def _buffers(self, array: Any, kind: int, out: NDArray[np.uint32]) -> None:
        """Label a large string or binary array, from its buffers without a copy."""
        _, offsets, data = array.buffers()
        if not len(array):  # and perhaps no offsets
            return
        first = np.frombuffer(offsets, np.int64, len(array) + 1, 8 * array.offset)
        first = np.require(first, requirements="A")
        units = np.frombuffer(data, np.uint8) if data and data.size else np.empty(0, np.uint8)
        _native.byte_labels(self.key, self.blocks, units, first, kind, out)

    def _null(self) -> np.uint32:
        return np.uint32(self.read([None])[0])


def _kind(value: Any) -> str:
    """Return the kind of an id: each kind is hashed in its own way."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return "none"
    if isinstance(value, float) and value != value:  # how pandas writes a missing text
        return "none"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bytes, bytearray)):
        return "bytes"
    if isinstance(value, (int, np.integer, np.bool_)) and not isinstance(value, np.timedelta64):
        if -(2**63) <= int(value) < 2**63:
            return "int64"
        if 0 <= int(value) < 2**64:
            return "uint64"
    return "other"
