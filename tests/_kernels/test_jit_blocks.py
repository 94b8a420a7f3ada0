"""A compiled function on every block: its answers, whose memory it sees, how it is stopped."""

import _thread
import functools
import gc
import itertools
import signal
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from dpfast._kernels.jit import BlockLoop, blocks
from dpfast.errors import ArgumentTypeError

from ..reference.aggregate.numba_function import answers
from ..support.pairwise import quick_rows

RNG = np.random.default_rng(5)
PERSON = np.dtype([("age", "f8"), ("kind", "i4"), ("place", "f4", (2,))])


def people(n):
    rows = np.zeros(n, PERSON)
    rows["age"], rows["kind"] = RNG.normal(40, 12, n), RNG.integers(0, 5, n)
    rows["place"] = RNG.random((n, 2))
    return rows


def cut(n, count):
    """Borders of blocks of all sizes, some of them empty."""
    inner = np.sort(RNG.integers(0, n + 1, count - 3))
    return np.r_[0, 0, inner, n, n].astype(np.int64)


def outputs(function, rows, offsets, d=None, is_ours=False, workers=2, tick=None):
    loop = BlockLoop(function, rows.dtype, rows.ndim == 2)
    out = np.full((len(offsets) - 1, 1 if d is None else d), np.nan)
    loop.fill(rows, offsets, is_ours, out, workers, tick)
    return out


def middle(block):
    block *= 2
    return block[len(block) // 2]


def ends(block):
    return np.array([block[0], block.min(), block[len(block) - 1]])


def sometimes(block):
    return None if len(block) % 2 else block[0]


def strict(block):
    if block[0] < 0:
        raise ValueError("negative")
    if len(block) == 7:
        raise AssertionError
    return len(block) / (len(block) % 5)


FLOATS, MATRIX = RNG.normal(size=900), RNG.normal(size=(400, 3))
CALLS = {
    "changes": (FLOATS, middle, None),
    "NaN": (FLOATS, lambda b: np.nan if b[0] > 0 else np.inf, None),
    "sometimes": (FLOATS, sometimes, None),
    "strict": (FLOATS, strict, None),
    "array": (FLOATS, ends, 3),
    "truths": (FLOATS, lambda b: b[:2] > 0, 2),
    "lengths": (FLOATS, lambda b: np.arange(len(b) % 4), 3),
    "tuple": (FLOATS, lambda b: (b[0], len(b), b[0] > 0), 3),
    "integers": (np.full(300, 2**64 - 1, "u8"), lambda b: b[0], None),
    "matrix": (MATRIX, lambda b: b[:, 1].max(), None),
    "row": (MATRIX, lambda b: b[0], 3),
    "column": (MATRIX[:, :1].astype("f4"), lambda b: b.shape[1], None),
    "records": (people(400), lambda b: b["age"].max(), None),
    "record": (people(400), lambda b: (b[0]["age"], b[0]["kind"], b[0]["place"][1]), 3),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CALLS)
def test_as_python_calls_it(name):
    rows, function, d = CALLS[name]
    offsets, compiled = cut(len(rows), 60), numba.njit(function)
    expected = answers(function, rows, offsets, d)
    assert np.isnan(expected).any() and (name == "NaN" or not np.isnan(expected).all())
    for some, is_ours in ((rows, False), (rows.copy(), True)):
        np.testing.assert_array_equal(outputs(compiled, some, offsets, d, is_ours), expected)


@pytest.mark.full
def test_workers_and_places_do_not_matter():
    """Not even to functions whose sums the compiler may reorder."""

    def noisy(block):
        total = 0.0
        for x in block:
            total += np.exp(np.sin(x * len(block))) / 3
        return total

    rows, offsets = RNG.normal(size=5000), cut(5000, 700)
    for function in map(numba.njit(fastmath=True), (noisy, lambda b: np.sin(b[0]) / 3)):
        whole = outputs(function, rows, offsets, workers=1)
        for workers, is_ours in itertools.product((2, 3, 1000), (False, True)):
            again = outputs(function, rows, offsets, None, is_ours, workers)
            np.testing.assert_array_equal(again, whole)
        for b in range(0, 700, 13):
            found = outputs(function, rows, offsets[b : b + 2])
            np.testing.assert_array_equal(found[0], whole[b])


ANSWERS, UNKNOWN = "returns a real number, or a 1-D array", "must be a function that Numba can"
REFUSED = [
    *((ANSWERS, function) for function in (
        lambda b: 1j, lambda b: None, lambda b: "text", lambda b: b.reshape(-1, 1),
        lambda b: b + 1j, lambda b: (1.0, 1j), lambda b: (), lambda b: [1.0],
        lambda b: (1, 2) if len(b) > 2 else None)),
    *((UNKNOWN, function) for function in (
        lambda b: b.nothing, lambda b, c: 1.0, lambda b: b[0]["age"])),
]  # fmt: skip


@quick_rows(1)
@pytest.mark.parametrize("words, function", REFUSED)
def test_other_answers_and_what_does_not_compile_are_refused(words, function):
    with pytest.raises(ArgumentTypeError, match=words):
        BlockLoop(numba.njit(function), np.dtype("f8"), False)


@pytest.mark.full
def test_calls_of_the_interpreter_are_refused():
    """Numba would take an exception of the interpreter for an answer."""

    @numba.njit
    def inner(block):
        with numba.objmode(found="float64"):
            found = float(block[0])
        return found

    for function in (inner, numba.njit(lambda b: inner(b) + 1)):
        with pytest.raises(ArgumentTypeError, match="does not call the interpreter"):
            BlockLoop(function, np.dtype("f8"), False)


def past_read_only(block):
    block.flat[0] = -1.0
    same = np.ascontiguousarray(block)
    same[1] = -1.0
    for x in np.nditer(block[2:]):
        x[()] = -1.0
    return block.max()


def in_place(block):
    block[:] = -1.0
    return block[0]


@pytest.mark.full
@pytest.mark.parametrize("function", [past_read_only, in_place])
def test_the_callers_rows_are_not_written_to(function):
    """By no way that there is, and some lead past read-only arrays."""
    rows = RNG.random(100) + 1
    before, offsets = rows.tobytes(), np.array([0, 40, 100])
    compiled = numba.njit(function)
    for is_ours in (False, True):  # the control: the same rows given for ours
        assert outputs(compiled, rows, offsets, None, is_ours).tolist() == [[-1], [-1]]
        assert (rows.tobytes() == before) is not is_ours


@pytest.mark.full
def test_a_block_is_not_changed_by_another():
    @numba.njit
    def greedy(block):
        first = block[0]
        block[:] = -1.0
        return first

    for is_ours in (False, True):
        rows, offsets = np.arange(1000.0), np.arange(0, 1001, 4)
        found = outputs(greedy, rows, offsets, None, is_ours, 3)
        assert (found[:, 0] == np.arange(0, 1000, 4)).all()


def is_kept(function, is_ours):
    """Whether the rows stay in memory when nobody wants them."""
    rows = np.ones(400)
    found = outputs(function, rows, np.arange(0, 401, 4), None, is_ours)
    assert np.isnan(found).all()
    last = weakref.ref(rows)
    del rows
    gc.collect()
    return last() is not None


@numba.njit
def refuse(block):
    if block[0] > 0:
        raise ValueError("never")
    return block.sum()


@numba.njit
def fails(block):
    behind = block[::-1]
    return refuse(block) + behind.sum()


@pytest.mark.full
def test_failures_do_not_keep_the_rows(monkeypatch):
    """An exception keeps the references of the calls that it passes through."""
    assert not is_kept(fails, True)
    assert not is_kept(fails, False)
    add, _, writers = blocks._intrinsics()
    counted = numba.njit(lambda rows: rows)
    monkeypatch.setattr(blocks, "_intrinsics", lambda: (add, counted, writers))
    monkeypatch.setattr(blocks, "_loop", blocks._loop.__wrapped__)
    assert is_kept(fails, True)


@functools.cache
def waiting():
    """A function that waits until its block is 1; NaN if that takes for ever."""
    add = blocks._intrinsics()[0]

    @numba.njit
    def wait(block):
        for _ in range(400_000_000):
            if add(block, 0, 0) == 1:
                return 1.0
        return np.nan

    return wait


@pytest.mark.full
@pytest.mark.skipif(sys.platform == "win32", reason="signals are not simulated there")
def test_an_interrupt_stops_the_threads():
    rows = np.zeros(10_000, np.int64)
    loop, out = BlockLoop(waiting(), rows.dtype, False), np.full((10_000, 1), np.nan)
    seen = threading.Event()

    def stop(*_):
        seen.set()
        raise KeyboardInterrupt

    def press():
        time.sleep(0.2)
        _thread.interrupt_main()
        seen.wait()
        time.sleep(0.5)
        rows[:] = 1  # or the blocks that have begun would wait for ever

    before = signal.signal(signal.SIGINT, stop)
    finger = threading.Thread(target=press)
    try:
        with pytest.raises(KeyboardInterrupt):
            finger.start()
            loop.fill(rows, np.arange(10_001), True, out, 2)
    finally:
        finger.join()
        signal.signal(signal.SIGINT, before)
    assert 0 < (out == 1).sum() <= 2 * blocks.STEP


@pytest.mark.full
def test_threads_compile_one_loop():
    function = numba.njit(lambda b: b[0] * 2)
    with ThreadPoolExecutor(4) as team:
        made = team.map(lambda _: BlockLoop(function, np.dtype("f8"), False), range(4))
        loops = list(made)
    assert len({id(loop._fill) for loop in loops}) == 1 and len(loops) == 4
    assert len(loops[0]._fill.signatures) == 1
