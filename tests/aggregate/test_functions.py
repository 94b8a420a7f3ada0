"""Functions as estimators, any of Python and those of Numba: answers, refusals, threads."""

import functools
import math
import os
import sys
import threading
from functools import partial

import numba
import numpy as np
import pytest

import dpfast as dp
from dpfast._kernels import jit
from dpfast.aggregate.blocks.layout import laid_out
from dpfast.aggregate.blocks.partition import ContiguousLabels, KeyedLabels, Partition, RandomLabels
from dpfast.aggregate.estimators import resolve
from dpfast.aggregate.estimators.base import Job
from dpfast.aggregate.estimators.functions import NumbaFunction, PythonFunction
from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.rng import InsecureGenerator
from dpfast.tables.data import as_rows
from dpfast.tables.key_words import secret

from ..reference.aggregate import python_function as reference
from ..reference.aggregate.numba_function import answers
from ..support import faults
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused


def outputs(function, rows, partition, executor="auto", limit=None, job=None):
    bound = PythonFunction(function, executor, limit).bind(as_rows(rows), None)
    return bound.outputs(as_rows(rows), partition, job or Job())


@every_value
@pytest.mark.parametrize(
    ("executor", "limit", "job"),
    [
        ("threads", None, None),
        *(("threads", None, Job(workers)) for workers in (1, 2, 4)),
        *(("processes", None, job) for job in (None, Job(2))),
        ("auto", 1e300, Job(4)),  # a limit beyond all clocks
    ],
)
@pytest.mark.parametrize("blocks", [250, 7, 1])
def test_equals_a_plain_loop(executor, limit, job, blocks):
    rng = np.random.default_rng(blocks)
    partition = Partition(RandomLabels(blocks, secret(InsecureGenerator(blocks).stream())))
    codes = np.repeat(rng.integers(0, 30, 40), 5)
    rows = rng.normal(50, 10, 200)  # some of 250 blocks are empty
    rows[::5] = np.where(codes > 10, 0, codes)[::5]
    for function in (faults.median, faults.by_code):
        found = outputs(function, rows, partition, executor, limit, job)
        assert found.shape == (blocks, 1) and (blocks < 250 or np.isnan(found).any())
        with laid_out(as_rows(rows), partition) as (window,):
            due = reference.call_blocks(function, window.rows, window.offsets, 1)
        np.testing.assert_array_equal(found, due)


def test_arguments_are_checked_before_the_spend(monkeypatch):
    lock = threading.Lock()
    a_time = "time_limit must be a finite"
    for error, match, kw in [
        (ArgumentError, "executor must be one of 'auto', 'threads', 'proc", {"executor": "x"}),
        (ArgumentError, "time_limit must be None", {"executor": "threads", "time_limit": 1}),
        *((ArgumentError, a_time, {"time_limit": x}) for x in (0, -1, math.nan, math.inf)),
        *((ArgumentTypeError, a_time, {"time_limit": x}) for x in ("1", True, [1])),
        (ArgumentError, "can be sent", {"f": lambda b: lock, "executor": "processes"}),
        (MissingExtraError, "pip install cloudpickle", {"f": lambda b: 1.0, "time_limit": 5}),
        (None, "", {}),  # the control
    ]:
        budget = dp.Budget(epsilon=1)
        kw = {"blocks": 10, "bounds": (0, 1), "epsilon": 1, "budget": budget, **kw}
        call = partial(dp.sample_and_aggregate, np.arange(100.0), kw.pop("f", faults.median), **kw)
        if error is None:
            call()
        else:
            if error is MissingExtraError:
                monkeypatch.setitem(sys.modules, "cloudpickle", None)
            with pytest.raises(error, match=match):
                call()
        assert budget.spent["epsilon"] == (error is None)


class Callable:
    def __call__(self, block):
        return block.mean()

    def bind(self):  # as an estimator's of ours
        raise AssertionError


@pytest.mark.parametrize(
    "function, name",
    [
        (faults.median, "median"),
        (np.median, "median"),
        (functools.partial(np.quantile, q=0.5), "partial"),
        (Callable(), "Callable"),
        (lambda b: b.mean(), "<lambda>"),
    ],
)
def test_its_name_stands_in_the_ledger(function, name):
    bound = resolve(function).bind(as_rows(np.arange(3.0)), None)
    partition = Partition(ContiguousLabels(3, 9))
    assert bound.name == name
    assert outputs(function, np.arange(9.0), partition)[:, 0].tolist() == [1, 4, 7]


RNG = np.random.default_rng(8)
N = 700
BLOCKS = 40
number = numba.njit(lambda b: b[0])
array = numba.njit(lambda b: b[:2])
pair = numba.njit(lambda b: (b[0], 1))
columns = numba.njit(lambda block: block[0])


@numba.njit
def peak(block):
    """Of one number a row; changes its block, and fails on some."""
    block.sort()
    if block[0] < -3:
        raise ValueError("too low")
    return block[len(block) - 1]


@numba.njit
def oldest(block):
    return block["age"].max(), len(block)


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "function", "d"),
    [("numbers", peak, None), ("matrix", columns, 3), ("records", oldest, 2)],
)
def test_as_python_calls_it(kind, function, d):
    """For every partition and number of workers; the caller's rows stay as they are."""
    records = np.zeros(N, [("age", "f8"), ("kind", "i4")])
    records["age"], records["kind"] = RNG.normal(40, 12, N), RNG.integers(0, 9, N)
    matrix = RNG.normal(size=(N, 3)).astype("f4")
    data = {"numbers": RNG.normal(0, 2, N), "matrix": matrix, "records": records}[kind]
    before, key = data.tobytes(), secret(InsecureGenerator(1).stream())
    for labels, ids in [
        (ContiguousLabels(BLOCKS, N), None),
        (RandomLabels(BLOCKS, key), None),
        (KeyedLabels(BLOCKS, key), np.arange(N) // 3),
    ]:
        source, partition = as_rows(data, ids), Partition(labels, False)
        bound = resolve(function).bind(source, d)
        with laid_out(source, partition) as blocks:
            due = np.concatenate([answers(function.py_func, w.rows, w.offsets, d) for w in blocks])
        for workers in (None, 1, 2, 7):
            done = []
            found = bound.outputs(source, partition, Job(workers, done.append))
            np.testing.assert_array_equal(found, due)
            assert sum(done) == BLOCKS
        assert data.tobytes() == before
    assert bound.name == function.__name__
    if d == 3:  # of another length than there are bounds for
        bound = resolve(numba.njit(lambda block: block[0][:2])).bind(source, 3)
        assert np.isnan(bound.outputs(source, partition, Job())).all()


@quick_rows(1)
@pytest.mark.parametrize(
    ("function", "bounds", "error", "text"),
    [
        (number, [(0, 1), (0, 1)], ArgumentError, "bounds must be one pair, .* got 2 pairs"),
        (number, [(0, 1)], ArgumentError, "bounds must be one pair, .* got 1 pairs"),
        (array, (0, 1), ArgumentError, "bounds must be a pair for each number, .* got one pair"),
        (pair, [(0, 1)] * 3, ArgumentError, "bounds must be 2 pairs, .* got 3 pairs"),
        (numba.njit(lambda b: 1j), (0, 1), ArgumentTypeError, "returns complex128"),
        (numba.njit(lambda b: b["age"]), (0, 1), ArgumentTypeError, "Numba can compile"),
    ],
)
def test_errors_come_before_the_spend(function, bounds, error, text):
    asked = {"data": np.arange(10.0), "estimator": function, "blocks": 2, "bounds": bounds}
    budget = dp.Budget(epsilon=1.0, neighbors="replace")
    refused(dp.sample_and_aggregate, text, error, budget, epsilon=1.0, **asked)


def test_who_calls_it():
    assert resolve(number) == NumbaFunction(number) == resolve(number, "threads")
    assert isinstance(resolve(number.py_func), PythonFunction)
    assert isinstance(resolve(number, "processes"), PythonFunction)
    assert isinstance(resolve(number, "auto", 2.0), PythonFunction)
    assert isinstance(resolve(number, "processes", 2.0), PythonFunction)
    with pytest.raises(ArgumentError, match="time_limit must be None with executor='threads'"):
        resolve(number, "threads", 2.0)
    with pytest.raises(ArgumentError, match="executor must be one of"):
        resolve(number, "fibres")


@pytest.mark.parametrize(
    ("is_parallel", "workers", "text", "due"),
    [
        *[(False, None, "", 3), (False, None, "2", 2), (False, None, "40", 3)],
        *[(False, 7, "", 7), (True, 7, "", 1)],
    ],
)
def test_how_many_threads(is_parallel, workers, text, due, monkeypatch):
    """By default the cores of the container, or fewer if asked; one where Numba starts its own,
    because it ends the process when some of its thread pools are entered twice."""
    monkeypatch.setenv("DPFAST_NUM_THREADS", text)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(6)), raising=False)
    monkeypatch.setattr("dpfast._core.threads._quota", lambda: 3)
    source, threads = as_rows(np.arange(20.0)), []
    resolve(number).bind(source, None)  # compiled without, for time's sake
    monkeypatch.setitem(number.targetoptions, "parallel", is_parallel)
    bound = resolve(number).bind(source, None)
    monkeypatch.setattr(jit.BlockLoop, "fill", lambda *args: threads.append(args[5]))
    bound.outputs(source, Partition(ContiguousLabels(4, 20), False), Job(workers))
    assert threads == [due]
