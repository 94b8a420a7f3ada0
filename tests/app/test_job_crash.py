"""Killed at any moment, a job is paid for once and answers once."""

import os

import pytest

from ..support.crashes import crash

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork or kill")


@pytest.mark.full
@pytest.mark.parametrize("kills", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_two_processes_killed_at_random_moments(kills):
    found = crash("job_crash", "random", "none", kills, 1)
    assert found["violations"] == [], found["said"]
    assert found["kills"] >= kills


@pytest.mark.full
@pytest.mark.parametrize("step, least", [(150, 4), pytest.param(1, 150, marks=pytest.mark.slow)])
def test_killed_before_statements_and_after_commits(step, least):
    found = crash("job_crash", "steps", "none", 0, step)
    assert found["violations"] == [], found["said"]
    assert found["kills"] >= least


@pytest.mark.full
@pytest.mark.parametrize("step, least", [(9, 3), pytest.param(1, 30, marks=pytest.mark.slow)])
def test_killed_before_statements_of_the_making_of_its_ledger(step, least):
    found = crash("job_crash", "making", "none", 0, step)
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
