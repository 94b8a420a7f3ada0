"""Any Python callable as an estimator: what is refused, and what a missing answer does."""

import functools
import sys
import threading

import numpy as np
import pytest

import dpfast as dp
from dpfast.aggregate.blocks.layout import laid_out
from dpfast.aggregate.blocks.partition import ContiguousLabels, Partition, RandomLabels, secret
from dpfast.aggregate.estimators import resolve
from dpfast.aggregate.estimators.base import Job
from dpfast.aggregate.estimators.functions import PythonFunction
from dpfast.errors import ArgumentError, ArgumentTypeError, MissingExtraError
from dpfast.rng import InsecureGenerator
from dpfast.sources.table import as_rows

from ..reference.aggregate import python_function as reference
from ..support import faults
from ..support.pairwise import quick_rows

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


@pytest.mark.parametrize("executor", EXECUTORS)
def test_vectors_of_a_matrix(executor):
    rows = np.random.default_rng(3).normal(size=(500, 3))
    found = outputs(faults.slopes, rows, 10, 2, executor)
    np.testing.assert_allclose(found, expected(faults.slopes, rows, 10, 2), rtol=1e-9)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_column_by_name(executor):
    rows = np.zeros(40, [("age", np.float64), ("pay", np.float64)])
    rows["age"] = np.arange(40)
    found = outputs(faults.mean_age, rows, 4, executor=executor)
    assert found[:, 0].tolist() == [4.5, 14.5, 24.5, 34.5]


def logistic(block):
    """A model fitted by Newton's method: the slope of a logistic regression."""
    x = np.column_stack([np.ones(len(block)), block[:, 0]])
    y = block[:, 1]
    beta = np.zeros(2)
    for _ in range(8):
        p = 1 / (1 + np.exp(-x @ beta))
        beta += np.linalg.solve(x.T @ (x * (p * (1 - p))[:, None]), x.T @ (y - p))
    return beta[1]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_model_is_released(executor):
    random = np.random.default_rng(5)
    x = random.normal(size=40_000)
    y = random.random(40_000) < 1 / (1 + np.exp(-(0.5 + 2 * x)))
    found = dp.sample_and_aggregate(
        np.column_stack([x, y]), logistic, blocks=100, bounds=(0, 4), epsilon=5, executor=executor
    )
    assert abs(found - 2) < 0.2


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


# --- faults -------------------------------------------------------------------------------------


def test_a_fault_changes_the_output_of_its_block_alone():
    sound = outputs(faults.by_code, coded(np.zeros(12)), 12)
    for b, code in enumerate(faults.BY_CODE):
        codes = np.zeros(12)
        codes[b] = code
        found = outputs(faults.by_code, coded(codes), 12)
        assert np.isnan(found[b, 0])
        assert np.array_equal(np.delete(found, b), np.delete(sound, b))


def test_so_do_faults_in_processes():
    codes = np.array([0, *faults.BY_CODE, 0, 0])
    found = outputs(faults.by_code, coded(codes), len(codes), executor="processes")
    sound = outputs(faults.by_code, coded(0 * codes), len(codes))
    assert np.array_equal(np.isnan(found[:, 0]), codes > 0)
    assert np.array_equal(found[codes == 0], sound[codes == 0])


@pytest.mark.full
def test_so_do_crashes_and_calls_that_hang():
    codes = np.zeros(30)
    codes[[2, 9, 15, 16, 23, 29]] = 11, 12, 13, 14, 15, 16
    sound = outputs(faults.by_code, coded(np.zeros(30)), 30, None, "threads")
    found = outputs(faults.by_code, coded(codes), 30, None, "auto", 0.2, Job(2))
    assert np.array_equal(np.isnan(found[:, 0]), codes > 0)
    assert np.array_equal(found[codes == 0], sound[codes == 0])


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("partition", ["contiguous", "random"])
def test_data_and_other_blocks_survive_an_estimator_that_mutates(executor, partition):
    rows = np.random.default_rng(7).normal(size=1000)
    before = rows.copy()
    found = dp.sample_and_aggregate(
        rows,
        faults.mutates,
        blocks=10,
        bounds=(-1, 1),
        epsilon=1,
        partition=partition,
        executor=executor,
    )
    assert np.isfinite(found)
    assert np.array_equal(rows, before)
    if partition == "contiguous":
        found = outputs(faults.mutates, rows, 10, executor=executor)
        np.testing.assert_array_equal(found, expected(faults.mutates, rows, 10))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_estimator_that_never_answers_releases_the_default(executor):
    found = dp.sample_and_aggregate(
        np.arange(1000.0),
        faults.raises,
        blocks=100,
        bounds=(0, 10),
        default=7,
        epsilon=400,
        executor=executor,
    )
    assert abs(found - 7) < 0.02


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


@pytest.mark.parametrize("executor", EXECUTORS)
def test_progress_reaches_the_number_of_blocks(executor):
    done, lock = [], threading.Lock()

    def tick(more):
        with lock:
            done.append(more)

    rows = coded(np.zeros(90))
    outputs(faults.median, rows, 90, executor=executor, job=Job(2, tick))
    assert sum(done) == 90
