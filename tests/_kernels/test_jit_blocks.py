"""A compiled function on every block: its answers, whose memory it sees, how it is stopped."""

import _thread
import functools
import gc
import signal
import sys
import threading
import time
import weakref

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


# -- answers ---------------------------------------------------------------------------------------


def middle(block):
    block *= 2
    return block[len(block) // 2]


def ends(block):
    return np.array([block[0], block.min(), block[len(block) - 1]])


def three(block):
    return block[0], len(block), block[0] > 0


def sometimes(block):
    return None if len(block) % 2 else block[0]


def arrays_sometimes(block):
    return None if len(block) % 2 else block[::-1][:2]


def strict(block):
    if block[0] < 0:
        raise ValueError("negative")
    if len(block) == 7:
        raise AssertionError
    return len(block) / (len(block) % 5)


def own_error(block):
    total = 0.0
    try:
        if block[0] > 0:
            raise RuntimeError("caught inside")
        total = 1.0
    except Exception:
        total = 2.0
    return total


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(
    ("function", "d"),
    [
        (middle, None),
        (lambda b: np.nan if b[0] > 0 else np.inf, None),
        (sometimes, None),
        (strict, None),
        (own_error, None),
        (ends, 3),
        (lambda b: b[:2] > 0, 2),
        (lambda b: np.arange(len(b) % 4), 3),
        (three, 3),
        (arrays_sometimes, 2),
    ],
)
def test_as_python_calls_it(function, d):
    rows = RNG.normal(size=900)
    offsets = cut(len(rows), 120)
    expected = answers(function, rows, offsets, d)
    assert np.isnan(expected).any()  # the empty blocks at least
    compiled = numba.njit(function)
    for some, is_ours in ((rows, False), (rows.copy(), True)):
        found = outputs(compiled, some, offsets, d, is_ours)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("dtype", ["f4", "i1", "u8", "?"], ids=str)
def test_every_kind_of_number(dtype):
    limit = 2 if dtype == "?" else 120
    rows = RNG.integers(0, limit, 300).astype(dtype)
    if dtype == "u8":
        rows[::7] = 2**64 - 1
    offsets = cut(300, 40)
    first = numba.njit(lambda b: b[0])
    expected = answers(first.py_func, rows, offsets, None)
    for is_ours in (False, True):
        np.testing.assert_array_equal(outputs(first, rows, offsets, None, is_ours), expected)


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(
    ("rows", "function", "d"),
    [
        (RNG.normal(size=(400, 3)), lambda b: b[:, 1].max(), None),
        (RNG.normal(size=(400, 3)), lambda b: b[0], 3),
        (RNG.normal(size=(400, 1)).astype("f4"), lambda b: b.shape[1], None),
        (people(400), lambda b: b["age"].max(), None),
        (people(400), lambda b: (b[0]["age"], b[0]["kind"], b[0]["place"][1]), 3),
    ],
    ids=["matrix", "row", "column", "records", "record"],
)
def test_rows_of_several_numbers(rows, function, d):
    offsets, compiled = cut(400, 60), numba.njit(function)
    expected = answers(function, rows, offsets, d)
    assert not np.isnan(expected).all()
    for is_ours in (False, True):
        found = outputs(compiled, rows, offsets, d, is_ours)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.full
def test_rows_that_lie_askew():
    rows = np.zeros(81, "u1")[1:].view("f8")
    rows[:] = np.arange(10)
    assert not rows.flags.aligned
    found = outputs(numba.njit(lambda b: b[0]), rows, np.array([0, 3, 10]), None, True)
    assert found.tolist() == [[0], [3]]


@pytest.mark.full
def test_mapped_rows(tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(50.0))
    first = numba.njit(lambda b: b[0])
    for mode in ("r", "r+"):
        rows = np.load(tmp_path / "rows.npy", mmap_mode=mode)
        assert outputs(first, rows, np.array([0, 9, 50]), None, True).tolist() == [[0], [9]]


@pytest.mark.full
def test_nothing_is_compiled_for_a_call():
    rows = np.arange(12.0)
    rows.flags.writeable = False
    offsets = np.array([0, 5, 12])
    offsets.flags.writeable = False
    loop = BlockLoop(numba.njit(lambda b: b[0]), rows.dtype, False)
    for given, is_ours in ((rows, False), (rows, True), (rows.copy(), True), (rows.copy(), False)):
        out = np.full((2, 1), np.nan)
        loop.fill(given, offsets, is_ours, out)
        assert out.tolist() == [[0], [5]]
    assert len(loop._fill.signatures) == 1


@pytest.mark.full
def test_workers_and_places_do_not_matter():
    """Not even to functions whose sums the compiler may reorder."""

    def noisy(block):
        total = 0.0
        for x in block:
            total += np.exp(np.sin(x * len(block))) / 3
        return total

    for function in (
        numba.njit(fastmath=True)(noisy),
        numba.njit(fastmath=True)(lambda b: np.sin(b[0]) / 3),
    ):
        rows = RNG.normal(size=5000)
        offsets = cut(5000, 700)
        whole = outputs(function, rows, offsets, workers=1)
        for workers in (2, 3, 1000):
            for is_ours in (False, True):
                again = outputs(function, rows, offsets, None, is_ours, workers)
                np.testing.assert_array_equal(again, whole)
        loop = BlockLoop(function, rows.dtype, False)
        for b in range(0, 700, 13):
            out = np.full((1, 1), np.nan)
            loop.fill(rows, offsets[b : b + 2], False, out)
            np.testing.assert_array_equal(out[0], whole[b])


@pytest.mark.full
def test_no_blocks_with_rows():
    zeros = np.zeros(5, np.int64)
    assert np.isnan(outputs(numba.njit(lambda b: b[0]), np.empty(0), zeros)).all()


@pytest.mark.full
def test_signatures_of_its_own():
    fixed = numba.njit("float64(float64[:])")(lambda b: b[0])
    assert outputs(fixed, np.arange(4.0), np.array([0, 3, 4])).tolist() == [[0], [3]]
    with pytest.raises(ArgumentTypeError, match=r"estimator must be .* Numba can compile"):
        BlockLoop(fixed, np.dtype("f8"), True)


@pytest.mark.full
def test_out_of_range_is_noticed_with_boundscheck():
    far = numba.njit(boundscheck=True)(lambda b: b[2])
    rows, offsets = np.arange(10.0), np.array([0, 1, 4, 6, 10])
    expected = answers(far.py_func, rows, offsets, None)
    np.testing.assert_array_equal(outputs(far, rows, offsets), expected)


# -- refusals --------------------------------------------------------------------------------------


@quick_rows(1)
@pytest.mark.parametrize(
    "function",
    [
        lambda b: 1j,
        lambda b: None,
        lambda b: "text",
        lambda b: b.reshape(-1, 1),
        lambda b: b + 1j,
        lambda b: (1.0, 1j),
        lambda b: (),
        lambda b: [1.0],
        lambda b: (1, 2) if len(b) > 2 else None,
    ],
)
def test_other_answers_are_refused(function):
    with pytest.raises(ArgumentTypeError, match="returns a real number, or a 1-D array"):
        BlockLoop(numba.njit(function), np.dtype("f8"), False)


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (lambda b: b.nothing, "f8"),
        (lambda b, c: 1.0, "f8"),
        (lambda b: b[0]["age"], "f8"),
        (lambda b: b[0], [("a", "O")]),
    ],
)
def test_functions_that_do_not_compile(function, dtype):
    with pytest.raises(ArgumentTypeError, match="estimator must be a function that Numba can"):
        BlockLoop(numba.njit(function), np.dtype(dtype), False)


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


@pytest.mark.full
def test_printing_and_linear_algebra_are_not(capfd):
    def loud(block):
        print("block of", len(block))
        return np.dot(block, block)

    assert outputs(numba.njit(loud), np.ones(4), np.array([0, 4])).tolist() == [[4]]
    assert "block of 4" in capfd.readouterr().out


# -- whose memory ----------------------------------------------------------------------------------


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


def through_record(block):
    block[0].age = -1.0
    return block[0].age


WRITERS = [past_read_only, in_place, through_record]


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("function", WRITERS)
def test_the_callers_rows_are_not_written_to(function):
    """By no way that there is, and some lead past read-only arrays."""
    rows = people(100) if function is through_record else RNG.random(100) + 1
    before, offsets = rows.tobytes(), np.array([0, 40, 100])
    compiled = numba.njit(function)
    assert outputs(compiled, rows, offsets).tolist() == [[-1], [-1]]
    assert rows.tobytes() == before
    # The control: the same rows given for ours.
    assert outputs(compiled, rows, offsets, None, True).tolist() == [[-1], [-1]]
    assert rows.tobytes() != before


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("is_ours", [False, True])
def test_a_block_is_not_changed_by_another(is_ours):
    @numba.njit
    def greedy(block):
        first = block[0]
        block[:] = -1.0
        return first

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
    add, _, writers = blocks._tools()
    counted = numba.njit(lambda rows: rows)
    monkeypatch.setattr(blocks, "_tools", lambda: (add, counted, writers))
    monkeypatch.setattr(blocks, "_loop", blocks._loop.__wrapped__)
    assert is_kept(fails, True)


# -- threads ---------------------------------------------------------------------------------------


@functools.cache
def waiting():
    """A function that waits until its block is 1; NaN if that takes for ever."""
    add = blocks._tools()[0]

    @numba.njit
    def wait(block):
        for _ in range(400_000_000):
            if add(block, 0, 0) == 1:
                return 1.0
        return np.nan

    return wait


@pytest.mark.full
def test_python_runs_meanwhile():
    rows = np.zeros(2, np.int64)
    loop, out = BlockLoop(waiting(), rows.dtype, False), np.full((2, 1), np.nan)
    offsets = np.array([0, 1, 2])
    worker = threading.Thread(target=loop.fill, args=(rows, offsets, True, out, 2))
    worker.start()
    while worker.is_alive():
        time.sleep(0.01)
        rows[:] = 1  # nobody could, if the loop held the interpreter
    assert (out == 1).all()


@pytest.mark.full
def test_a_slow_block_holds_up_no_other():
    """The first waits for all others, so one thread has to take all of them."""
    rows = np.ones(100, np.int64)
    rows[0] = 0
    done = []

    def tick(count):
        done.append(count)
        if sum(done) == 99:
            rows[0] = 1

    found = outputs(waiting(), rows, np.arange(101), None, True, 2, tick)
    assert (found == 1).all()
    assert sum(done) == 100


@pytest.mark.full
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_ticks_add_up(workers):
    rows, offsets = RNG.random(3000), cut(3000, 2000)
    done = []
    outputs(numba.njit(lambda b: b[0]), rows, offsets, None, False, workers, done.append)
    assert sum(done) == 2000 and min(done) >= 0


@pytest.mark.full
def test_an_error_of_the_progress_bar_passes():
    def tick(count):
        raise RuntimeError("no terminal")

    with pytest.raises(RuntimeError, match="no terminal"):
        outputs(numba.njit(lambda b: b[0]), np.ones(5), np.arange(6), tick=tick)


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


# -- what is remembered ----------------------------------------------------------------------------


@pytest.mark.full
def test_threads_compile_one_loop():
    function = numba.njit(lambda b: b[0] * 2)
    loops = []

    def use():
        loops.append(BlockLoop(function, np.dtype("f8"), False))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({id(loop._fill) for loop in loops}) == 1 and len(loops) == 4
    assert len(loops[0]._fill.signatures) == 1


@pytest.mark.full
def test_a_form_is_compiled_once():
    function = numba.njit(lambda b: b[0])
    rows = np.ones((4, 2))
    for _ in range(2):
        for some, d in ((rows, 2), (rows[:, 0].copy(), None)):
            outputs(function, some, np.array([0, 4]), d)
    assert len(blocks._one(function).signatures) == 2
    assert len(blocks._loop(function, "array").signatures) == 1


@pytest.mark.full
def test_functions_are_forgotten(monkeypatch):
    for name in ("_one", "_loop", "_interprets"):
        small = blocks.functools.lru_cache(maxsize=1)(getattr(blocks, name).__wrapped__)
        monkeypatch.setattr(blocks, name, small)

    def use(k):
        function = numba.njit(lambda b: b[0] + k)
        assert outputs(function, np.zeros(3), np.array([0, 3])).tolist() == [[k]]
        return weakref.ref(function)

    seen = [use(k) for k in range(3)]
    gc.collect()
    assert [r() is None for r in seen] == [True, True, False]


@pytest.mark.full
def test_functions_cached_on_disk(tmp_path):
    source = tmp_path / "kept_on_disk.py"
    source.write_text("import numba\n@numba.njit(cache=True)\ndef f(b):\n    return b[0] + 1\n")
    for hits in (0, 1):
        space = {"__name__": "kept_on_disk", "__file__": str(source)}
        exec(compile(source.read_text(), str(source), "exec"), space)
        assert outputs(space["f"], np.zeros(3), np.array([0, 3])).tolist() == [[1]]
        assert sum(space["f"].stats.cache_hits.values()) == hits
