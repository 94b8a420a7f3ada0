"""A user's compiled function ``f(block)`` on every block, in threads that do not need Python.

Threads take blocks from one counter inside the compiled loop, a few at a time, so that blocks of
uneven cost keep all of them busy to the end. To stop the threads the counter is moved past the last
block.

The function gets a block as a writable array, in place if the rows are a copy made by this library.
Rows of the caller are copied first, one block at a time, into memory of the thread. Numba's
read-only arrays would not do: functions can write to them through ``flat``,
``np.ascontiguousarray``, ``np.nditer`` and the fields of a record.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import fail_kind
from .numba import REMEMBERED, compiling, is_real, load, returned

#: The most blocks that a thread takes at a time. More would slow down threads that write to
#: neighboring rows of the result.
STEP = 8
#: Each thread takes blocks at least this many times, if there are enough of them.
TURNS = 64
#: Seconds between two progress reports.
LOOK = 0.1
#: Counters are this many numbers of 8 bytes apart, so that no two share a cache line (or a pair of
#: lines, which some processors fetch together).
LINE = 16

_lock = threading.Lock()


@functools.cache
def _intrinsics() -> tuple[Any, Any, dict[str, Any]]:
    """Return compiled helpers: an atomic counter, rows without reference counts, answer writers."""
    numba = load()
    from numba import literal_unroll
    from numba.np import arrayobj

    make_array: Any = arrayobj.make_array

    @numba.extending.intrinsic
    def add(typingctx, counts, i, amount):  # type: ignore[no-untyped-def]
        """Add `amount` to ``counts[i]`` in one atomic step, and return the count before."""

        def code(context, builder, signature, args):  # type: ignore[no-untyped-def]
            array = make_array(signature.args[0])(context, builder, args[0])
            pointer = builder.gep(array.data, [args[1]])
            return builder.atomic_rmw("add", pointer, args[2], "monotonic")

        return numba.int64(counts, numba.int64, numba.int64), code

    @numba.extending.intrinsic
    def uncounted(typingctx, rows):  # type: ignore[no-untyped-def]
        """Return the array `rows` without a count of references.

        A call that an exception passes through never releases its references. A reference to a
        block would keep all rows in memory for ever.
        """

        def code(context, builder, signature, args):  # type: ignore[no-untyped-def]
            array = make_array(signature.return_type)(context, builder, args[0])
            for owner in ("meminfo", "parent"):
                setattr(array, owner, getattr(array, owner).type(None))
            return array._getvalue()

        return rows(rows), code

    @numba.njit
    def number(answer, row):  # type: ignore[no-untyped-def]
        row[0] = answer

    @numba.njit
    def array(answer, row):  # type: ignore[no-untyped-def]
        if len(answer) == len(row):
            for j in range(len(row)):
                row[j] = answer[j]

    @numba.njit
    def several(answer, row):  # type: ignore[no-untyped-def]
        j = 0
        for number in literal_unroll(answer):
            row[j] = number
            j += 1  # noqa: SIM113 (Numba unrolls no other form)

    return add, uncounted, {"number": number, "array": array, "tuple": several}


@functools.lru_cache(maxsize=REMEMBERED)
def _single_call(function: Any) -> Any:
    """Return one compiled call of a function, from which Numba infers the type of its answer."""

    @load().njit
    def call(block):  # type: ignore[no-untyped-def]
        return function(block)

    return call


@functools.lru_cache(maxsize=REMEMBERED)
def _interprets(on_block: Any, block: Any) -> bool:
    """Tell whether `_single_call`, compiled for a type of block, calls the interpreter."""
    return "PyObject_CallFunctionObjArgs" in on_block.inspect_llvm((block,))


@functools.lru_cache(maxsize=REMEMBERED)
def _loop(function: Any, layout: str) -> Any:
    """Return the compiled loop over blocks that each thread runs.

    Numba's options (fastmath, error_model, boundscheck) for the user's function are those that the
    user gave. A block is a part of `rows`; or of `source`, from which it is copied to the start of
    `target`, which shares its memory with `rows` but has one dimension, like `source`. The atomic
    step after each block also keeps the compiler from merging the work of several blocks in one
    vector, where a block's answer could depend on its position.
    """
    add, uncounted, writers = _intrinsics()
    write = writers[layout]

    @load().njit(nogil=True)
    def fill(  # type: ignore[no-untyped-def]
        source, target, rows, width, is_copied, offsets, counts, step, thread, out
    ):
        blocks, rows = len(offsets) - 1, uncounted(rows)
        while True:
            first = add(counts, 0, step)
            if first >= blocks:
                return
            for b in range(first, min(first + step, blocks)):
                start, stop = offsets[b], offsets[b + 1]
                if start < stop:
                    if is_copied:
                        block = source[start * width : stop * width]
                        for i in range(len(block)):
                            target[i] = block[i]
                        start, stop = 0, stop - start
                    try:
                        answer = function(rows[start:stop])
                        if answer is not None:
                            write(answer, out[b])
                    except Exception:
                        pass
                add(counts, thread, 1)

    return fill


def compiled(
    name: str, of: str, function: Any, taken: Any, mend: str = ""
) -> tuple[Any, str, int | None]:
    """Compile one call of a function for a Numba type, and infer the type of its result.

    Returns
    -------
    tuple
        The call; how its answer is written; and how many numbers that holds: None for a single
        number, -1 for an array.

    Raises
    ------
    ArgumentTypeError
        Numba cannot compile it, it returns something else, or it calls the interpreter.
    """
    numba = load()
    with compiling(name, f"a function that Numba can compile for {of}", function):
        with _lock:  # so that two threads do not compile loops for the same function
            single_call = _single_call(function)
        kind = returned(single_call, (taken,))
    if _interprets(single_call, taken):
        # An exception in the interpreter would leave Numba with an undefined answer, and the thread
        # with an error that nobody handles.
        fail_kind(
            name, "a compiled function that does not call the interpreter (objmode)", function
        )
    layout, length = _layout_of(numba, kind)
    if layout is None:
        rule = "a function that returns a real number, or a 1-D array or a tuple of them"
        fail_kind(name, rule, function, f" that returns {kind}")
    return single_call, layout, length


class BlockLoop:
    """The compiled loop of a function over blocks of one dtype and dimension.

    The first time for a function and a type of block it is compiled, which takes about a second.
    The GIL is released inside the loop.

    Parameters
    ----------
    function : Numba dispatcher
        ``f(block)``, giving a real number, a 1-D array of them, or a tuple of them; or, where it
        has no answer, None instead of a number or an array. A block is a C-contiguous array that
        it may write to, and never empty.
    dtype : dtype
        The dtype of the rows; structured for rows with named columns.
    is_matrix : bool
        Whether a block has two dimensions.

    Attributes
    ----------
    length : int or None
        Numbers that it returns: None for a single number, -1 for an array, whose length Numba does
        not know.

    Raises
    ------
    ArgumentTypeError
        Numba cannot compile the function for such blocks, it returns something else, or it calls
        the interpreter.

    Notes
    -----
    What the function raises is caught inside the compiled loop, where Numba does not give back the
    memory of the calls that an exception passed through: an ``np.linalg`` function that finds its
    matrix singular loses about 500 bytes and what temporary arrays it held.
    """

    def __init__(self, function: Any, dtype: np.dtype[Any], is_matrix: bool) -> None:
        numba = load()
        with compiling("estimator", "a function that Numba can compile for these rows", function):
            item = numba.from_dtype(dtype)
        block = numba.types.Array(item, 1 + is_matrix, "C")
        _, layout, self.length = compiled(
            "estimator", "a block of these rows", function, block, "; as a plain function it may"
        )
        with _lock:
            self._fill = _loop(function, layout)
        integers = numba.types.Array(numba.int64, 1, "C")
        with compiling("estimator", "a function that Numba can call for each block", function):
            returned(
                self._fill,
                (
                    numba.types.Array(item, 1, "C", readonly=True),
                    numba.types.Array(item, 1, "C"),
                    block,
                    numba.int64,
                    numba.boolean,
                    numba.types.Array(numba.int64, 1, "C", readonly=True),
                    integers,
                    numba.int64,
                    numba.int64,
                    numba.types.Array(numba.float64, 2, "C"),
                ),
            )

    def fill(
        self,
        rows: NDArray[Any],
        offsets: NDArray[np.int64],
        is_ours: bool,
        out: NDArray[np.float64],
        workers: int = 1,
        tick: Callable[[int], None] | None = None,
    ) -> None:
        """Write the answer for block b, ``rows[offsets[b]:offsets[b + 1]]``, to ``out[b]``.

        Outputs of blocks without an answer are not written: empty blocks, and blocks for which the
        function raises, or returns None or an array of another length. Rows are written to, by a
        function that does so, only if they are ours.

        An interrupt is passed on when every thread is done with the few blocks it is at.
        """
        # Imported here, because most programs do not need it.
        from concurrent.futures import ThreadPoolExecutor, wait

        blocks = len(out)
        workers = max(1, min(workers, blocks))
        step = max(1, min(STEP, blocks // (TURNS * workers)))
        counts = np.zeros((1 + workers) * LINE, np.int64)
        is_copied = not (is_ours and rows.flags.writeable and rows.flags.aligned)
        longest = int(np.diff(offsets).max(initial=0))
        width = int(np.prod(rows.shape[1:]))
        reported = 0

        def work(thread: int) -> None:
            buffer = np.empty((longest, *rows.shape[1:]), rows.dtype) if is_copied else rows
            buffer = buffer.view(np.ndarray)
            source = _frozen(rows).reshape(-1), buffer.reshape(-1), buffer, width, is_copied
            self._fill(*source, _frozen(offsets), counts, step, (1 + thread) * LINE, out)

        with ThreadPoolExecutor(workers) as pool:
            try:
                running = {pool.submit(work, thread) for thread in range(workers)}
                while running:
                    done, running = wait(running, LOOK, return_when="FIRST_EXCEPTION")
                    for is_done in done:
                        is_done.result()
                    if tick is not None:
                        now = int(counts[LINE::LINE].sum())
                        tick(now - reported)
                        reported = now
            finally:
                counts[0] = blocks  # so that no thread takes another block


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of an array, of the type that the loop is compiled for."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def _layout_of(numba: Any, kind: Any) -> tuple[str | None, int | None]:
    """Return how an answer of a Numba type is written, and how many numbers it holds."""
    types = numba.types
    if isinstance(kind, types.BaseTuple) and len(kind) and all(is_real(numba, k) for k in kind):
        return "tuple", len(kind)
    if isinstance(kind, types.Optional):  # Numba cannot unroll an optional tuple
        kind = kind.type
    if is_real(numba, kind):
        return "number", None
    if isinstance(kind, types.Array) and kind.ndim == 1 and is_real(numba, kind.dtype):
        return "array", -1
    return None, None
