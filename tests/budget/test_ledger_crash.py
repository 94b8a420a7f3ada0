"""Killed at any moment, a ledger in a file holds no less than what was released."""

import os

import pytest

from ..support.crashes import MEMORY, crash

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork or kill"),
    pytest.mark.full,
]


@pytest.mark.parametrize("folder", [None, pytest.param(MEMORY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kills", [8, pytest.param(200, marks=pytest.mark.slow)])
def test_four_processes_killed_at_random_moments(kills, folder):
    """Each of them spends in three threads, whose writes share transactions."""
    found = crash("ledger_crash", "random", "none", kills, 1, folder=folder)
    assert found["violations"] == []
    assert found["kills"] == kills and found["releases"] > kills / 50  # few on a busy machine


def test_killed_before_every_statement_and_after_every_commit():
    found = crash("ledger_crash", "steps", "none", 0, folder=MEMORY)
    assert found["violations"] == []
    # The only moments that cost more than was released: those after the two commits.
    assert found["kills"] > 60 and found["lost"] == 2


@pytest.mark.parametrize("first", [50, pytest.param(0, marks=pytest.mark.slow)])
def test_killed_before_every_statement_that_seals_a_ledger_of_before(first):
    found = crash("ledger_crash", "renew", "none", first, folder=MEMORY)
    assert found["violations"] == [] and found["kills"] > 40


def test_a_ledger_that_is_sealed_in_more_than_one_transaction_is_caught():
    found = crash("ledger_crash", "renew", "torn", 50, folder=MEMORY)
    # Half a seal is found by the next one who opens the file, and that may be another spender.
    assert found["violations"][0].startswith(("unreadable", "lines were lost", "a process failed"))


def test_a_thread_that_goes_on_before_the_commit_of_its_write_is_caught():
    assert crash("ledger_crash", "random", "early", 200, 1, folder=MEMORY)["violations"]


@pytest.mark.parametrize("fault", ["late", "torn"])
@pytest.mark.parametrize("how, numbers", [("random", (200, 1)), ("steps", (45,))])
def test_a_planted_fault_is_caught(fault, how, numbers):
    found = crash("ledger_crash", how, fault, *numbers, folder=MEMORY)
    # Half a spend is found by the next one who opens the file, and that may be another spender.
    wanted = {"late": ("more released than spent",), "torn": ("unreadable", "a process failed")}
    assert found["violations"] and found["violations"][0].startswith(wanted[fault])
