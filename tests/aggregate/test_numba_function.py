"""Numba functions as estimators of sample and aggregate."""

import os

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
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator
from dpfast.tables.data import as_rows
from dpfast.tables.key_words import secret

from ..reference.aggregate.numba_function import answers
from ..support.pairwise import quick_rows

RNG = np.random.default_rng(8)
N = 700
BLOCKS = 40


number = numba.njit(lambda b: b[0])


@numba.njit
def peak(block):
    """Of one number a row; changes its block, and fails on some."""
    block.sort()
    if block[0] < -3:
        raise ValueError("too low")
    return block[len(block) - 1]


@numba.njit
def columns(block):
    return block[0]


@numba.njit
def oldest(block):
    return block["age"].max(), len(block)


def people():
    rows = np.zeros(N, [("age", "f8"), ("kind", "i4")])
    rows["age"], rows["kind"] = RNG.normal(40, 12, N), RNG.integers(0, 9, N)
    return rows


CASES = {
    "numbers": (RNG.normal(0, 2, N), peak, None),
    "matrix": (RNG.normal(size=(N, 3)).astype("f4"), columns, 3),
    "records": (people(), oldest, 2),
}


def partitions():
    key = secret(InsecureGenerator(1).stream())
    yield ContiguousLabels(BLOCKS, N), None
    yield RandomLabels(BLOCKS, key), None
    yield KeyedLabels(BLOCKS, key), np.arange(N) // 3


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("name", CASES)
def test_as_python_calls_it(name):
    """For every partition and number of workers; the caller's rows stay as they are."""
    data, function, d = CASES[name]
    before = data.tobytes()
    for labels, ids in partitions():
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
        bound = resolve(array).bind(source, 3)
        assert np.isnan(bound.outputs(source, partition, Job())).all()


array = numba.njit(lambda b: b[:2])
pair = numba.njit(lambda b: (b[0], 1))


@quick_rows(1)
@pytest.mark.parametrize(
    ("function", "bounds", "error", "text"),
    [
        (number, [(0, 1), (0, 1)], ArgumentError, "bounds must be one pair .* got '2 pairs'"),
        (number, [(0, 1)], ArgumentError, "bounds must be one pair .* got '1 pairs'"),
        (array, (0, 1), ArgumentError, "bounds must be a pair for each number.* got 'one pair'"),
        (pair, [(0, 1)] * 3, ArgumentError, "bounds must be 2 pairs .* got '3 pairs'"),
        (numba.njit(lambda b: 1j), (0, 1), ArgumentTypeError, "returns complex128"),
        (numba.njit(lambda b: b["age"]), (0, 1), ArgumentTypeError, "Numba can compile"),
    ],
)
def test_errors_come_before_the_spend(function, bounds, error, text):
    kw = {"blocks": 2, "bounds": bounds, "epsilon": 1.0}
    budget = dp.Budget(epsilon=1.0, neighbors="replace")
    with pytest.raises(error, match=text):
        dp.sample_and_aggregate(np.arange(10.0), function, budget=budget, **kw)
    assert budget.remaining["epsilon"] == 1


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
