"""A user's compiled function ``f(row)`` on every row.

The value of a row must be a function of that row alone, to the last bit, otherwise an added row
would change the cells of other rows. A compiler that vectorises several rows might give a row
another value inside a vector than at the end of the loop, so an empty instruction that claims to
access all memory stands between any two rows: nothing is merged across it, and it costs no time.
The state of a random generator would also pass from one row to the next: a function that draws
random numbers is refused.

Rows are copied first, a stretch at a time: a function that writes to its row writes to the copy.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import fail_kind
from .blocks import _intrinsics, compiled
from .numba import REMEMBERED, compiling, load, returned

#: Rows that are copied at a time.
STRETCH = 1 << 12

_lock = threading.Lock()


@functools.cache
def _barrier() -> Any:
    numba = load()
    from llvmlite import ir

    @numba.extending.intrinsic
    def barrier(typingctx):  # type: ignore[no-untyped-def]
        """Keep the compiler from merging work before this call with work after it."""

        def code(context, builder, signature, args):  # type: ignore[no-untyped-def]
            builder.asm(ir.FunctionType(ir.VoidType(), []), "", "~{memory}", [], True)
            return context.get_dummy_value()

        return numba.types.void(), code

    return barrier


@functools.lru_cache(maxsize=REMEMBERED)
def _loop(function: Any, layout: str) -> Any:
    _, _, writers = _intrinsics()
    write, barrier = writers[layout], _barrier()

    @load().njit(nogil=True)
    def fill(rows, out):  # type: ignore[no-untyped-def]
        for i in range(len(out)):
            try:
                answer = function(rows[i])
                if answer is not None:
                    write(answer, out[i])
            except Exception:
                pass
            barrier()

    return fill


@functools.lru_cache(maxsize=REMEMBERED)
def _draws(compiled: Any, row: Any) -> bool:
    """Tell whether a compiled call draws random numbers, whose state all rows of a thread share."""
    code = compiled.inspect_llvm((row,))
    return any(f"numba_get_{kind}_random_state" in code for kind in ("np", "py"))


class RowLoop:
    """The compiled loop of a function over rows of one dtype and width.

    Parameters
    ----------
    function : Numba dispatcher
        ``f(row)``, giving a real number, a 1-D array of them or a tuple of them. A row is a number;
        a 1-D array, where rows have several; or a record, where they have names.
    dtype : dtype
        The dtype of the rows; structured for named columns.
    width : int or None
        Columns of a matrix.

    Attributes
    ----------
    length : int or None
        Numbers that it returns: None for a single number, -1 for an array, whose length Numba does
        not know.

    Raises
    ------
    ArgumentTypeError
        Numba cannot compile the function for such rows, it returns something else, calls the
        interpreter, or draws random numbers.
    """

    def __init__(self, function: Any, dtype: np.dtype[Any], width: int | None) -> None:
        numba = load()
        item = numba.from_dtype(dtype)
        row = item if width is None else numba.types.Array(item, 1, "C")
        on_rows, layout, self.length = compiled("f", "one of these rows", function, row)
        if _draws(on_rows, row):
            fail_kind("f", "a function of its row alone, without random numbers", function)
        with _lock:
            self._fill = _loop(function, layout)
        with compiling("f", "a function that Numba can call for each row", function):
            rows = numba.types.Array(item, 1 if width is None else 2, "C")
            returned(self._fill, (rows, numba.types.Array(numba.float64, 2, "C")))

    def values(self, rows: NDArray[Any], size: int) -> NDArray[np.float64]:
        """Return the `size` numbers of the function for each row: an array of shape (rows, size).

        A row for which the function raises, or returns None or an array of another length, is NaN.
        """
        out = np.full((len(rows), size), np.nan)
        block = np.empty((min(STRETCH, len(rows)), *rows.shape[1:]), rows.dtype)
        for at in range(0, len(rows), STRETCH):
            part = rows[at : at + STRETCH]
            block[: len(part)] = part
            self._fill(block[: len(part)], out[at : at + STRETCH])
        return out
