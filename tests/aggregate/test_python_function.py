"""Any Python callable as an estimator: what is refused, and what a missing answer does."""

import functools
import math
import sys
import threading
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate.blocks.layout import laid_out
from dpfast.aggregate.blocks.partition import ContiguousLabels, Partition, RandomLabels
from dpfast.aggregate.estimators import resolve
from dpfast.aggregate.estimators.base import Job
from dpfast.aggregate.estimators.functions import PythonFunction
from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.rng import InsecureGenerator
from dpfast.tables.data import as_rows
from dpfast.tables.key_words import secret

from ..reference.aggregate import python_function as reference
from ..support import faults
from ..support.pairwise import every_value, quick_rows

EXECUTORS = ["threads", "processes"]


def outputs(
    function, rows, blocks, width=None, executor="auto", limit=None, job=None, partition=None
):
    source = as_rows(rows)
    bound = PythonFunction(function, executor, limit).bind(source, width)
    if partition is None:
        partition = Partition(ContiguousLabels(blocks, len(rows)))
    return bound.outputs(source, partition, Job() if job is None else job)


def expected(function, rows, blocks, d=1, partition=None):
    source = as_rows(rows)
    if partition is None:
        partition = Partition(ContiguousLabels(blocks, len(rows)))
    with laid_out(source, partition) as made:
        (window,) = made
        return reference.call_blocks(function, window.rows, window.offsets, d)


def coded(codes):
    """A block of five rows for each code."""
    rows = np.random.default_rng(0).normal(50, 10, 5 * len(codes))
    rows[::5] = codes
    return rows


@every_value
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("blocks", [1, 7, 250])
def test_equals_a_plain_loop(executor, blocks):
    rows = np.random.default_rng(blocks).normal(size=200)  # some of 250 blocks are empty
    labels = RandomLabels(blocks, secret(InsecureGenerator(blocks).stream()))
    partition = Partition(labels)
    found = outputs(faults.median, rows, blocks, executor=executor, partition=partition)
    assert found.shape == (blocks, 1)
    assert np.isnan(found).any() == (blocks == 250)
    one_by_one = expected(faults.median, rows, blocks, partition=partition)
    np.testing.assert_array_equal(found, one_by_one)


@quick_rows(1)
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_every_executor_and_number_of_workers_gives_the_same(workers):
    codes = np.random.default_rng(1).integers(0, 30, 120)
    rows = coded(np.where(codes > 10, 0, codes))
    found = {
        outputs(faults.by_code, rows, 120, None, executor, limit, job).tobytes()
        for executor, limit, job in [
            *[("threads", None, job) for job in (None, Job(workers))],
            ("processes", None, Job(workers)),
            *[("auto", limit, Job(workers)) for limit in (60.0, 1e300)],
        ]
    }
    assert len(found) == 1


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
    assert bound.name == name
    assert outputs(function, np.arange(9.0), 3)[:, 0].tolist() == [1, 4, 7]
