"""What a source of one column is: it feeds chunks to a summary and merges what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .._core import checks

S = TypeVar("S")

#: ``words(k)`` gives `k` fresh random 64-bit words.
RandomWords = Callable[[int], NDArray[np.uint64]]

#: The dtypes that the kernels read. Everything else is refused or converted chunk by chunk.
CHUNK_DTYPES = tuple(
    np.dtype(t) for t in ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1")
)
_NATIVE = {(d.kind, d.itemsize): d for d in CHUNK_DTYPES}
_NATIVE["b", 1] = np.dtype(np.uint8)
_NATIVE["f", 2] = np.dtype(np.float32)


def chunk_dtype(dtype: np.dtype[Any], name: str = "data") -> np.dtype[Any]:
    """Return the dtype in which data of `dtype` are fed to the kernels, without loss.

    Itself in native byte order; uint8 for bool and float32 for float16. Any other dtype (complex,
    object, text, dates, long double) raises `ArgumentTypeError`.
    """
    native = _NATIVE.get((dtype.kind, dtype.itemsize))
    if native is None:
        checks.fail_type(
            name, "real numbers of a NumPy integer, bool or float type of at most 64 bits", dtype
        )
    return native


class Chunk(NamedTuple):
    """Some consecutive rows of a source.

    `values` are the rows that are not null: one-dimensional, C-contiguous, of the source's dtype,
    read-only by agreement, and valid only until `summarise` returns (the buffer may be used
    again). `start` is the row number of the first row, nulls counted; `nulls` rows were null.
    `present` says of each row of the chunk whether it is among the values; None if all are. What
    ignores nulls needs no more than their number, so a source may leave it out, but then its nulls
    have no place and it cannot be cut into blocks. A NaN is a value, not a null.
    """

    values: NDArray[Any]
    start: int
    nulls: int = 0
    present: NDArray[np.bool_] | None = None


@runtime_checkable
class Source(Protocol):
    """One column of numbers that can be passed over as often as asked."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of every chunk: one of `CHUNK_DTYPES`."""
        ...

    @property
    def length(self) -> int | None:
        """Rows, nulls included; None when that is not known without reading."""
        ...

    @property
    def nulls(self) -> int | None:
        """About how many rows are null, to place pivots by; None when nobody knows."""
        ...

    def reduce(self, summarise: Callable[[Chunk], S], merge: Callable[[S, S], S]) -> S:
        """Summarise every chunk and merge the summaries.

        `summarise` may be called from several threads at once, `merge` never. `merge` is
        associative and commutative, and may reuse its first argument. An empty source
        summarises one empty chunk. Every row is in exactly one chunk.
        """
        ...

    def sample(self, count: int, words: RandomWords) -> NDArray[Any] | None:
        """About `count` values at random from all over the column, nulls left out, cheaply.

        It only places pivots: a biased sample costs time and never correctness. None when a
        sample would cost about as much as a pass.
        """
        ...
