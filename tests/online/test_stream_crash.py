"""A stream that is kept in a ledger neither loses nor repeats an answer, whoever is killed when."""

import os

import pytest

from ..support.crashes import crash

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork or kill")


@pytest.mark.full
@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_pairs_of_processes_killed_at_random_moments(kills):
    found = crash("stream_crash", "random", "none", kills, 1)
    assert found["violations"] == [] and found["kills"] >= kills


@pytest.mark.full
@pytest.mark.parametrize("stride", [61, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_before_a_statement(stride):
    found = crash("stream_crash", "steps", "none", 0, stride)
    assert found["violations"] == [] and found["steps"] > 100


@pytest.mark.full
@pytest.mark.parametrize(("fault", "word"), [
    ("told", "two answers to one question"), ("fresh", "two answers to one question"),
    ("rho", "two noises of one threshold")
])  # fmt: skip
def test_a_planted_fault_is_caught(fault, word):
    assert word in crash("stream_crash", "random", fault, 60, 2)["violations"]
