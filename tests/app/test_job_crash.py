"""Killed at any moment, a job is paid for once and answers once."""

import os

import pytest

from ..support.crashes import crash

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork or kill")


@pytest.mark.full
@pytest.mark.parametrize("way, numbers, least", [
    ("random", (5, 1), 5), pytest.param("random", (200, 1), 200, marks=pytest.mark.slow),
    ("steps", (0, 150), 4), pytest.param("steps", (0, 1), 150, marks=pytest.mark.slow),
    ("making", (0, 9), 3), pytest.param("making", (0, 1), 30, marks=pytest.mark.slow),
])  # fmt: skip
def test_killed_at_random_before_statements_or_while_its_ledger_is_made(way, numbers, least):
    found = crash("job_crash", way, "none", *numbers)
    assert found["violations"] == [], found["said"]
    assert found["kills"] >= least


@pytest.mark.full
def test_a_blank_ledger_that_counts_as_one_is_caught():
    found = crash("job_crash", "making", "blank", 0, 9)
    assert found["violations"] and "is empty: it needs a limit" in found["said"]


@pytest.mark.full
@pytest.mark.parametrize(
    "fault, first, wanted",
    [("told", 480, "told what is not recorded"), ("paid", 280, "paid twice")],
)
def test_a_planted_fault_is_caught(fault, first, wanted):
    found = crash("job_crash", "steps", fault, first, 7)
    assert found["violations"] and found["violations"][0] == wanted, found["said"]
