"""Any Python callable as an estimator: what is refused, and what a missing answer does."""

import functools
import sys
import threading

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


# --- answers ------------------------------------------------------------------------------------


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
    codes[codes > 10] = 0
    rows = coded(codes)
    made = [
        outputs(faults.by_code, rows, 120, None, "threads"),
        outputs(faults.by_code, rows, 120, None, "threads", job=Job(workers)),
        outputs(faults.by_code, rows, 120, None, "processes", job=Job(workers)),
        outputs(faults.by_code, rows, 120, None, "auto", 60.0, Job(workers)),
    ]
    for other in made[1:]:
        assert other.tobytes() == made[0].tobytes()


# --- arguments ----------------------------------------------------------------------------------


def refused(error, match, function=faults.median, **arguments):
    """The error, and that nothing was spent before it."""
    budget = dp.Budget(epsilon=1)
    with pytest.raises(error, match=match):
        dp.sample_and_aggregate(
            np.arange(100.0),
            function,
            blocks=10,
            bounds=(0, 1),
            epsilon=1,
            budget=budget,
            **arguments,
        )
    assert budget.spent["epsilon"] == 0


def test_arguments_are_checked_before_the_spend(monkeypatch):
    refused(ArgumentError, "executor must be one of 'auto', 'threads', 'processes'", executor="x")
    refused(ArgumentError, "time_limit must be None with", executor="threads", time_limit=1)
    for limit in (0, -1, float("nan"), float("inf")):
        refused(ArgumentError, "time_limit must be a finite", time_limit=limit)
    for limit in ("1", True, [1]):
        refused(ArgumentTypeError, "time_limit must be a finite", time_limit=limit)
    lock = threading.Lock()
    refused(ArgumentError, "can be sent", lambda b: lock, executor="processes")
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    refused(MissingExtraError, "pip install cloudpickle", lambda b: 1.0, time_limit=5)


def test_the_refusal_is_not_a_matter_of_course():
    budget = dp.Budget(epsilon=1)
    dp.sample_and_aggregate(
        np.arange(100.0), faults.median, blocks=10, bounds=(0, 1), epsilon=1, budget=budget
    )
    assert budget.spent["epsilon"] == 1


def test_a_time_limit_beyond_all_clocks():
    found = outputs(faults.median, np.arange(10.0), 2, limit=1e300)
    assert found[:, 0].tolist() == [2, 7]


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
