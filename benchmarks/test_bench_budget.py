"""The ledger: a spend in memory and in a file, beside one small write that waits for the disk.

Run with `pytest benchmarks/test_bench_budget.py`. Files are in the directory for temporary files;
point TMPDIR at the disk in question.
"""

from __future__ import annotations

import os
from fractions import Fraction

import pytest

import dpfast as dp
from benchmarks.conftest import rows
from dpfast.budget.ledger import Spend
from dpfast.privacy import Pure

COST = Pure(Fraction(1, 10**6))
LONG = rows(100_000, 50)
RECORD = {"statistic": "median", "parameters": "x" * 560}


def spends(benchmark, budget, rounds):
    benchmark.group = "one spend"
    benchmark.pedantic(
        budget.spend, (COST,), {"neighbors": "replace"}, rounds=rounds, warmup_rounds=2
    )
    made = len(budget.history)
    assert made >= 1 and budget.spent["epsilon"] == made * COST.epsilon


def test_memory(benchmark):
    spends(benchmark, dp.Budget(epsilon=1), rows(2000, 10))


def test_file(benchmark, tmp_path):
    spends(benchmark, dp.Budget(epsilon=1, path=tmp_path / "study.db"), rows(200, 5))


def test_floor_write_and_sync(benchmark, tmp_path):
    benchmark.group = "one spend"
    lines = os.open(tmp_path / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def append():
        os.write(lines, b"x" * 256)
        os.fsync(lines)

    benchmark.pedantic(append, rounds=rows(200, 5), warmup_rounds=2)
    os.close(lines)
    assert (tmp_path / "lines").stat().st_size % 256 == 0


@pytest.fixture(scope="module")
def long_ledger(tmp_path_factory):
    """1e5 entries with records, written without waiting for the disk between them."""
    path = tmp_path_factory.mktemp("ledger") / "study.db"
    budget = dp.Budget(epsilon=1, path=path)
    file = budget._file
    line = Pure(COST.epsilon)

    def fill(db):
        for _ in range(LONG):
            state = file._state(db)
            spend = Spend(line, "replace", "quantile 1/2", record=RECORD)
            file._write(db, *budget._decide(state, spend))

    file._run(fill, "write")
    return path


def test_open_a_long_ledger(benchmark, long_ledger):
    benchmark.group = "open a ledger"
    budget = benchmark.pedantic(dp.Budget, kwargs={"path": long_ledger}, rounds=rows(10, 2))
    made = len(budget.history)
    assert made >= LONG and budget.spent["epsilon"] == made * COST.epsilon


def test_check_all_of_a_long_ledger(benchmark, long_ledger):
    benchmark.group = "open a ledger"
    budget = dp.Budget(path=long_ledger)
    assert len(benchmark.pedantic(lambda: budget.history, rounds=rows(3, 2))) >= LONG


def test_spend_from_a_long_ledger(benchmark, long_ledger):
    benchmark.group = "one spend"
    budget = dp.Budget(path=long_ledger)
    before = budget.spent["epsilon"]
    words = {"neighbors": "replace", "record": RECORD}
    benchmark.pedantic(budget.spend, (COST,), words, rounds=rows(50, 3))
    assert budget.spent["epsilon"] > before
