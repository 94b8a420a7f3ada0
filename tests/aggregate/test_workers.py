"""A user's function on one block after another: in threads, and in processes that it may ruin."""

import decimal
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from contextlib import ExitStack
from unittest.mock import Mock

import numpy as np
import pytest

from dpfast.aggregate.workers import pool, worker_main, worker_process
from dpfast.aggregate.workers.calls import attempt
from dpfast.aggregate.workers.pool import BlockQueue, Board, WorkerPool
from dpfast.aggregate.workers.threads import call_blocks
from dpfast.errors import ArgumentError, MissingExtraError, WorkerError
from dpfast.tables.row_files import File

from ..reference.aggregate import python_function as reference
from ..reference.aggregate.python_function import blocks, in_file
from ..support import faults
from ..support.pairwise import every_value, quick_rows


def in_processes(function, rows, offsets, d=1, workers=2, limit=None, tick=None):
    out = np.full((len(offsets) - 1, d), np.inf)
    with in_file(rows) as file, WorkerPool(function, limit, "f") as crew:
        crew.call_blocks(rows, file, offsets, out, workers, tick)
    return out


def in_threads(function, rows, offsets, d=1, workers=1, tick=None):
    out = np.full((len(offsets) - 1, d), np.nan)
    call_blocks(function, rows, offsets, out, workers, tick)
    return out


def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(
    ("values", "due"),
    [
        (faults.NUMBERS.values(), [1.5]),
        ([True, 1, np.True_, np.uint8(1), np.array([True]), [1]], [1]),
        ([np.inf, np.longdouble("inf")], [np.inf]),
        ([np.array([1, 2, 3]), [1, 2.0, 3], (decimal.Decimal(1), 2, np.float32(3))], [1, 2, 3]),
        ([np.array([[1.0, 2.0, 3.0]]), np.array([[1], [2], [3]], np.int8)], [1, 2, 3]),
        ([np.ma.array([1.0, 2.0, 3.0])], [1, 2, 3]),
        ([np.ma.array([1.0, 2.0], mask=[False, True])], [1, np.nan]),
        *[(faults.NO_ANSWERS.values(), [np.nan] * d) for d in (1, 3)],
    ],
)
def test_answers(values, due):
    for value in values:
        row = np.full(len(due), -1.0)
        attempt(faults.returns(value), np.zeros(1), row)
        np.testing.assert_array_equal(row, due, str(type(value)))
    # All rows of one id meet in one block: how large it is, the data decide.
    huge = np.broadcast_to(np.float64(1), 1 << 55)  # of no memory, and of too much once copied
    attempt(faults.returns(1.0), huge, row)
    assert np.isnan(row).all()


@quick_rows(2)
@pytest.mark.parametrize("workers", [2, 1, 5])
@pytest.mark.parametrize("run", [in_threads, in_processes])
@pytest.mark.parametrize("d, function", [(2, faults.two_by_code), (1, faults.by_code)])
def test_equal_to_a_plain_loop(d, function, run, workers):
    """Sound blocks, and as many faults that a thread can survive."""
    codes = np.random.default_rng(workers).integers(0, 2 * len(faults.BY_CODE), 300)
    codes, ticks = np.where(codes > len(faults.BY_CODE), 0, codes), []
    rows, offsets = blocks(codes)
    found = run(function, rows, offsets, d, workers, tick=ticks.append)
    np.testing.assert_array_equal(found, reference.call_blocks(function, rows, offsets, d))
    assert np.array_equal(np.isnan(found[:, 0]), np.isin(codes, list(faults.BY_CODE)))
    assert sum(ticks) == len(codes) and min(ticks) > 0


@pytest.mark.parametrize("function", [faults.mutates, faults.keeps])
@pytest.mark.parametrize("planted", [False, True])
def test_a_block_is_the_functions_own(function, planted):
    """It changes neither the caller's rows nor another block; with views instead, it does."""
    faults.KEPT.clear()
    rows, offsets = blocks(range(50))
    before = rows.copy()
    if planted:
        reference.call_blocks(function, rows, offsets, 1, copy=False)
    else:
        found = in_threads(function, rows, offsets)
        faults.KEPT.clear()
        alone = [function(block.copy()) for block in np.split(before, offsets[1:-1])]
        assert found[:, 0].tolist() == alone
    assert np.array_equal(rows, before) != planted


@every_value
@pytest.mark.parametrize("kind", ["structured", "none", "1-D", "2-D", "map"])
@pytest.mark.parametrize("run", [in_processes, in_threads])
def test_every_kind_of_rows(kind, run, tmp_path):
    rows = {
        "none": np.empty(0),
        "1-D": np.arange(12.0),
        "2-D": np.arange(12, dtype=np.int16).reshape(6, 2),
        "structured": np.zeros(12, [("age", np.float64), ("b", np.float64)]),
        "map": np.memmap(tmp_path / "rows", np.float64, "w+", shape=8),
    }[kind]
    due = [[1, sum(rows[a : a + 3].tobytes())] if len(rows) else [np.nan] * 2 for a in (0, 3)]

    def look(block):
        return [faults.own_rows(block), sum(block.tobytes())]

    offsets, ticks = np.array([0, 3, 3, 6]) * (len(rows) > 0), []
    found = run(look, rows, offsets, d=2, tick=ticks.append)  # an empty block is not called
    np.testing.assert_array_equal(found, [due[0], [np.nan] * 2, due[1]])
    assert sum(ticks) == 3


@pytest.mark.parametrize("workers", [1, 3])
def test_warnings_and_numpy_settings_of_the_caller_change_nothing(workers):
    rows, offsets = blocks([0.0, 1.0, 0.0])
    with np.errstate(all="raise"), warnings.catch_warnings(), decimal.localcontext() as context:
        warnings.simplefilter("error")
        context.prec = 3
        filters = list(warnings.filters)
        found = in_threads(faults.warns, rows, offsets, workers=workers)
        assert warnings.filters == filters and np.geterr()["divide"] == "raise"
        assert (in_threads(faults.digits, rows, offsets, workers=workers) == 0.333).all()
    assert found[:, 0].tolist() == [1.0, np.inf, 1.0]


@pytest.mark.parametrize("workers", [1, 2])
def test_calls_that_overlap_are_silent_and_leave_filters_as_they_were(workers):
    begun, ended, found = threading.Event(), threading.Event(), []
    rows, offsets = blocks([-1, -1], per=1)

    def run(is_second):
        def work(block):
            if is_second:
                begun.set()
            assert (ended if is_second else begun).wait(30)
            return faults.warns(block)

        found.append(in_threads(work, rows, offsets, 1, workers))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        filters = list(warnings.filters)
        one, two = (threading.Thread(target=run, args=(is_second,)) for is_second in (0, 1))
        one.start()
        time.sleep(0.1)
        two.start()
        one.join()
        ended.set()
        two.join()
        assert warnings.filters == filters
    assert np.array_equal(np.ravel(found), np.ones(4))


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("where", ["function", "tick"])
def test_ctrl_c_or_an_error_of_tick_stops_the_threads(workers, where):
    rows, offsets = blocks(range(2000 if where == "function" else 20))
    calls = []

    def f(block):
        calls.append(1)
        if where == "function" and block[0] == 5:
            raise KeyboardInterrupt
        time.sleep(0.001)
        return 1.0

    def tick(done):
        raise LookupError

    with pytest.raises(LookupError if where == "tick" else KeyboardInterrupt):
        in_threads(f, rows, offsets, 1, workers, tick if where == "tick" else None)
    assert len(calls) < 1900


class Simulated:
    def __init__(self, blocks, workers, seed):
        self.board, self.ticks = Board(workers, np.arange(blocks + 1), 1), []
        self.ranges = BlockQueue(self.board, None, self.ticks.append)
        self.random = np.random.default_rng(seed)
        self.held, self.answered, self.failed = {}, [], []

    def run(self, forget_the_rest=False):
        while not self.ranges.over:
            slot = int(self.random.integers(len(self.board.slots)))
            if slot not in self.held:
                if self.ranges.waiting:
                    self.held[slot] = self.ranges.take(slot)
            else:
                self.step(slot, forget_the_rest)
            self.ranges.look(slot)
        self.board.file.close()

    def step(self, slot, forget_the_rest):
        last = self.held[slot][1]
        state = int(self.board.slots[slot, 0])
        b = state >> 1
        if b == last:
            self.ranges.done(slot)
            del self.held[slot]
        elif self.random.random() < 0.1:  # it dies
            if state & 1:
                self.failed.append(b)
            if forget_the_rest:
                self.board.slots[slot, 0] = 2 * last
            self.ranges.lost(slot)
            del self.held[slot]
        elif state & 1:
            self.board.out[b] = b
            self.answered.append(b)
            self.board.slots[slot, 0] = 2 * b + 2
        else:
            self.board.slots[slot] = 2 * b + 1, 1


@pytest.mark.parametrize("seed", range(30))
def test_every_block_is_called_once(seed):
    """Whatever workers die: a block is answered once, or it was in work when its worker died."""
    size = int(np.random.default_rng(seed).integers(1, 200))
    simulated = Simulated(size, 1 + seed % 4, seed)
    simulated.run()
    assert sorted(simulated.answered + simulated.failed) == list(range(size))
    is_nan = np.isnan(simulated.board.out[:, 0])
    assert np.array_equal(is_nan, np.isin(range(size), simulated.failed))
    assert sum(simulated.ticks) == size and min(simulated.ticks) > 0


def test_a_forgotten_range_is_seen():
    simulated = Simulated(200, 3, 0)
    simulated.run(forget_the_rest=True)
    assert sorted(simulated.answered + simulated.failed) != list(range(200))


def test_a_worker_that_went_on_before_it_was_killed_fails_nothing():
    board = Board(1, np.arange(11), 1)
    ranges = BlockQueue(board, limit=100)
    first = ranges.take(0)[0]
    assert not ranges.late(0, 10**18)  # it is between calls
    board.slots[0] = 2 * first + 1, 1000
    assert not ranges.late(0, 1100) and ranges.late(0, 1101)
    board.slots[0] = 2 * first + 3, 1150  # by the time it is dead
    board.out[first] = 7.0
    assert ranges.lost(0, looked=1101)
    assert board.out[first] == 7.0 and ranges.take(0)[0] == first + 1
    board.slots[0] = 2 * first + 3, 2000
    assert ranges.lost(0, looked=2101)
    assert ranges.take(0)[0] == first + 2 and not ranges.lost(0)
    board.file.close()


def test_late_although_it_came_back():
    """The worker itself sees what was over before the parent looked."""
    offsets, out, slot = np.arange(4), np.zeros((3, 1)), memoryview(np.zeros(2, np.int64))
    window = np.arange(3.0), offsets, out, slot
    worker_main._run(np, attempt, faults.breathes, window, 0, 3, 1_000_000)
    assert np.isnan(out).all() and slot[0] == 6
    worker_main._run(np, attempt, faults.breathes, window, 0, 3, 10**12)
    assert out[:, 0].tolist() == [0, 1, 2]


@pytest.mark.full
@pytest.mark.parametrize(
    ("size", "codes", "limit", "workers"),
    [
        *[(60, {3: 11, 20: 12, 21: 13, 59: 12}, None, workers) for workers in (1, 2)],
        (40, {0: 14, 17: 15, 33: 16}, 0.2, 2),
    ],
    ids=["one dies", "two die", "hanging"],
)
def test_deadly_and_hanging_blocks_change_their_own_rows_only(size, codes, limit, workers):
    bad, ticks = np.array([codes.get(block, 0) for block in range(size)]), []
    rows, offsets = blocks(bad)
    found = in_processes(faults.by_code, rows, offsets, 1, workers, limit, ticks.append)
    sound = reference.call_blocks(np.sum, rows, offsets, 1)
    np.testing.assert_array_equal(found, np.where(bad[:, None] > 0, np.nan, sound))
    assert sum(ticks) == size


@pytest.mark.full
def test_a_crew_works_again_and_leaves_nothing_behind():
    rows, offsets = blocks(range(20, 30))
    with in_file(rows) as file:
        before, seen = len(os.listdir("/dev/fd")), set()
        crew = WorkerPool(faults.process, None, "f")
        for _ in range(3):
            out = np.zeros((10, 1))
            with crew:
                crew.call_blocks(rows, file, offsets, out, 2)
                crew.call_blocks(rows, file, offsets, out, 1)
            seen |= set(out[:, 0])
        assert len(seen) >= 3 and os.getpid() not in seen
        assert not any(running(int(pid)) for pid in seen)
        del crew
        assert len(os.listdir("/dev/fd")) == before


def ends_soon(pid):
    """Whether a process is dead, which somebody else has to wait for."""
    until = time.monotonic() + 10
    while running(pid) and "Z" not in _ps("-o", "stat=", "-p", str(pid)):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _ps(*options):
    return subprocess.run(["ps", *options], capture_output=True, text=True).stdout


def _group(leader):
    """Processes of a group that are not waiting for their parent to notice their end."""
    lines = [line.split() for line in _ps("-eo", "pid=,pgid=,stat=").splitlines()]
    return [int(pid) for pid, group, stat in lines if int(group) == leader and stat[0] != "Z"]


def spoils_messages(block):
    """Those to come: the worker hears nothing more."""

    def fails(control):
        raise ValueError

    sys.modules["__main__"]._receive = fails
    return 1.0


@quick_rows(1)
@pytest.mark.parametrize(
    ("function", "limit"),
    [(faults.writes_to_all_files, 5), (faults.comes_back_twice, None), (spoils_messages, 60)],
)
def test_a_function_that_spoils_its_worker_does_not_keep_the_parent(function, limit):
    """It may spoil answers; a fork of a worker is no worker."""
    rows, offsets = blocks(range(20, 23))
    found = in_processes(function, rows.copy(), offsets, workers=1, limit=limit)
    assert found.shape == (3, 1)
    if function is faults.comes_back_twice:
        assert np.array_equal(found, reference.call_blocks(np.sum, rows, offsets, 1))


def test_what_the_function_leaves_running_ends_with_its_worker():
    children = in_processes(faults.leaves_a_child, *blocks(range(20, 24)), workers=1)[:, 0]
    assert all(ends_soon(int(pid)) for pid in children)


def test_a_death_that_the_socket_does_not_tell():
    rows, offsets = blocks([0.0])
    out = np.zeros((1, 1))
    with in_file(rows) as file, WorkerPool(faults.dies_and_leaves_a_fork, None, "f") as crew:
        (worker,) = crew._workers
        crew.call_blocks(rows, file, offsets, out, 1)
        assert np.isnan(out).all()
        (left,) = _group(worker.process.pid) or (0,)
        assert left == 0 or ends_soon(left)


CUT = """
import sys
import numpy as np
from tests.support import faults
from tests.reference.aggregate.python_function import blocks
from tests.aggregate.test_workers import in_processes
if sys.argv[1] == "planted":  # memory that may be cut short
    from dpfast.tables import row_files
    row_files.seal = lambda fd, written: None
rows, offsets = blocks(range(20, 30))
found = in_processes(faults.cuts_all_files, rows, offsets)
assert np.array_equal(found[:, 0], np.add.reduceat(rows, offsets[:-1])), found
print("alive")
"""


@pytest.mark.full
@quick_rows(1)
@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="memory without a name is of Linux")
@pytest.mark.parametrize("fault", ["none", "planted"])
def test_a_function_that_cuts_shared_memory_short_is_not_the_end_of_the_parent(fault):
    code = ["-X", "faulthandler", "-c", CUT, fault]
    found = subprocess.run([sys.executable, *code], capture_output=True, text=True, timeout=60)
    if fault == "none":
        assert (found.returncode, found.stdout) == (0, "alive\n"), found.stderr
    else:
        assert found.returncode == -signal.SIGBUS


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="memory without a name is of Linux")
def test_a_worker_keeps_no_file_but_what_it_has_mapped():
    assert (in_processes(faults.sees_files, *blocks(range(20, 24)), workers=1) == 2).all()


def test_a_crew_ends_unused_after_an_error_of_tick_or_interrupted_as_it_begins(monkeypatch):
    crew = WorkerPool(faults.process, None, "f")
    (worker,) = crew._workers
    assert worker.process.poll() is None
    del crew
    assert worker.process.returncode is not None
    rows, offsets = blocks(range(200))
    with in_file(rows) as file, WorkerPool(faults.breathes, None, "f") as crew:
        (worker,) = crew._workers
        with pytest.raises(LookupError, match="mine"), crew:
            tick = Mock(side_effect=LookupError("mine"))
            crew.call_blocks(rows, file, offsets, np.zeros((200, 1)), 1, tick)
        assert worker.process.returncode is not None
    begun = []

    def interrupted(worker):
        begun.append(worker.process)
        raise KeyboardInterrupt

    monkeypatch.setattr(worker_process.Worker, "receive", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        WorkerPool(faults.process, None, "f")
    assert [one.returncode is not None for one in begun] == [True]
    del caught  # and with it all that the frames hold


def test_a_worker_knows_nothing_of_the_library(monkeypatch):
    """No generator, key or ledger can be where no module of dpfast is; nor is any sent."""
    sent, send = [], worker_process.Worker.send
    monkeypatch.setattr(
        worker_process.Worker, "send", lambda self, *of: (sent.append(of[0]), send(self, *of))
    )
    assert (in_processes(faults.dpfast_modules, *blocks(range(6)), workers=1) == 0).all()

    def plain(thing):
        inner = thing if isinstance(thing, (tuple, list)) else ()
        kinds = (int, str, tuple, list, type(None), np.dtype)
        return isinstance(thing, kinds) and all(plain(one) for one in inner)

    assert plain(sent)
    assert {order[0] for order in sent if isinstance(order[0], str)} == {"window", "range"}
    assert all(len(order) == 4 for order in sent if isinstance(order[0], list))  # where to begin


def test_what_a_worker_finds(monkeypatch):
    """One thread for linear algebra, an empty standard input, no warnings, memory in no dump."""
    for name in worker_process.THREADS:
        monkeypatch.delenv(name, raising=False)
    scale = 3.0

    def look(block):
        import ctypes
        import resource

        dumps = resource.getrlimit(resource.RLIMIT_CORE)[0]
        if sys.platform == "linux":
            dumps += ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)
        of_block = faults.standard_input(block), faults.warns(block)
        return [*of_block, dumps, scale, *faults.threads_allowed(block)]

    found = in_processes(look, *blocks([0.0, 1.0]), d=6, workers=1)
    assert found.tolist() == [[0, 1, 0, 3, 1, 1], [0, np.inf, 0, 3, 1, 1]]
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = in_processes(faults.threads_allowed, *blocks([0]), d=2)
    np.testing.assert_array_equal(found, [[3, np.nan]])


def test_what_cannot_be_sent(monkeypatch):
    lock, phantom = threading.Lock(), type(sys)("phantom")
    exec("def f(block):\n    return 1.0", phantom.__dict__)
    monkeypatch.setitem(sys.modules, "phantom", phantom)
    for function, match in [
        (lambda b: lock.locked(), "estimator must be a function that can be sent"),
        (phantom.f, r"load \(ModuleNotFoundError: No module named 'phan"),
    ]:
        with pytest.raises(ArgumentError, match=match):
            WorkerPool(function, None, "estimator")
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    assert not np.isnan(in_processes(faults.median, *blocks([1, 2]))).any()
    with pytest.raises(MissingExtraError, match="pip install cloudpickle"):
        WorkerPool(lambda b: 1.0, None, "estimator")


def test_no_room_for_a_second_worker(monkeypatch):
    rows, offsets = blocks(range(20, 40))
    out = np.zeros((20, 1))
    with in_file(rows) as file, WorkerPool(faults.by_code, None, "f") as crew:

        def full(self, slot):
            raise WorkerError("no room")

        monkeypatch.setattr(worker_process.Worker, "__init__", full)
        crew.call_blocks(rows, file, offsets, out, 3)
    assert np.array_equal(out, in_threads(faults.by_code, rows, offsets))


@pytest.mark.full
def test_rows_that_cannot_be_mapped():
    rows, offsets = blocks([0, 0])
    gone = File(8, open_to_all=False)  # shorter than the rows
    with (
        WorkerPool(faults.median, None, "f") as crew,
        pytest.raises(WorkerError, match=r"they started \(\w+Error: "),
    ):
        crew.call_blocks(rows, gone, offsets, np.zeros((2, 1)), 1)
    gone.close()


PROGRAM = """
    import signal, sys, time
    import numpy as np
    from dpfast.aggregate.workers.pool import BlockQueue, Board, WorkerPool
    from tests.reference.aggregate.python_function import blocks, in_file

    def f(block):
        {body}

    rows, offsets = blocks(range(4))
    out = np.zeros((4, 1))
    if __name__ == "__main__":  # a worker does not run this file
        # Programs that a shell runs in the background ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("begin", flush=True)
        with in_file(rows) as file, WorkerPool(f, {limit}, "f") as crew:
            crew.call_blocks(rows, file, offsets, out, 2)
        print(out[:, 0].tolist())
    else:
        print("run again", flush=True)
"""


@pytest.fixture
def start(tmp_path):
    """Start a program; whoever reads its output to the end waits for its workers too."""
    started = []

    def run(body, limit=None):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(PROGRAM).format(body=body, limit=limit), encoding="utf-8")
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-W", "error", str(path)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=env))
        return started[-1]

    yield run
    for one in started:
        one.kill()
        one.communicate()


def test_functions_of_the_main_module(start):
    out, err = start("print('block', int(block[0])); return block[0]").communicate(timeout=60)
    lines = out.split("\n")
    assert lines[0] == "begin" and "[0.0, 1.0, 2.0, 3.0]" in lines and err == ""
    assert sorted(line for line in lines if "block" in line) == [f"block {b}" for b in range(4)]
    assert "run again" not in out


HANG = "print('hangs', flush=True); time.sleep(3600)"
SLEEPS = "[sys.executable, '-c', 'import time; time.sleep(999)']"


@pytest.mark.full
@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_parent(start, signal_number):
    one = start(HANG)
    lines = [one.stdout.readline() for _ in range(3)]
    assert lines == ["begin\n", "hangs\n", "hangs\n"]  # two workers do
    one.send_signal(signal_number)
    out, err = one.communicate(timeout=30)
    assert out == ""
    if signal_number == signal.SIGINT:
        assert err.rstrip().endswith("KeyboardInterrupt") and err.count("Traceback") == 1


#: It never lets the interpreter go, so no thread of the worker learns that the parent is dead.
LEAVES = (
    f"import ctypes, subprocess; p = subprocess.Popen({SLEEPS}, stdout=subprocess.DEVNULL); "
    "print(p.pid, flush=True); ctypes.PyDLL(None).sleep(999)"
)


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="needs Linux")
@pytest.mark.parametrize("planted", [False, True])
def test_what_the_function_has_started_does_not_outlive_the_parent(start, planted):
    one = start(LEAVES)
    assert one.stdout.readline() == "begin\n"
    children = [int(one.stdout.readline()) for _ in range(2)]
    groups = [os.getpgid(pid) for pid in children]
    members = [pid for group in groups for pid in _group(group)]
    if planted:  # nobody watches
        for pid in set(members) - {*groups, *children}:
            os.kill(pid, signal.SIGKILL)
    one.kill()
    one.wait()
    if planted:
        assert all(running(pid) for pid in (*groups, *children))
        for group in groups:
            os.killpg(group, signal.SIGKILL)
    assert len(members) == 6 and all(ends_soon(pid) for pid in members)


@pytest.mark.parametrize("error", [MemoryError, ValueError, SystemExit, KeyboardInterrupt])
def test_a_thread_that_listens_no_more_is_the_end_of_its_worker(error, monkeypatch):
    class Ended(BaseException):
        pass

    monkeypatch.setattr(worker_main, "_receive", Mock(side_effect=error))
    monkeypatch.setattr(worker_main.os, "_exit", Mock(side_effect=Ended))
    with pytest.raises(Ended):
        worker_main._listen(None, None)


NO_FILES = Mock(side_effect=OSError(24, "Too many open files"))


@quick_rows(4)
@pytest.mark.parametrize(
    "late, module, name, value, words",
    [
        *[
            (late, module, name, NO_FILES, "Too many open files")
            for late, module, name in [
                (False, pool, "File"),
                (False, worker_process.socket, "socketpair"),
                (False, worker_process.subprocess, "Popen"),
                (True, pool, "File"),
                (True, pool.selectors, "DefaultSelector"),
            ]
        ],
        (False, sys, "executable", "/no/such", "no worker process can be started"),
        (False, worker_process, "PROGRAM", os.devnull, "ended right after"),
        (True, worker_process, "PROGRAM", os.devnull, "ended before they started"),
    ],
)
def test_what_cannot_be_had_is_one_error(late, module, name, value, words, monkeypatch):
    rows, offsets = blocks([0, 11, 0, 0])  # one block is the end of its worker
    with in_file(rows) as file, ExitStack() as stack:
        crew = stack.enter_context(WorkerPool(faults.by_code, None, "f")) if late else None
        monkeypatch.setattr(module, name, value)
        with pytest.raises(WorkerError, match=words):
            if late:
                crew.call_blocks(rows, file, offsets, np.zeros((4, 1)), 1)
            else:
                WorkerPool(faults.by_code, None, "f")
