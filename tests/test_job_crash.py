"""Killed at any moment, a job is paid for once and answers once."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork or kill")

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def crash(way, *arguments, folder=MEMORY):
    with tempfile.TemporaryDirectory(dir=folder) as place:
        done = subprocess.run(
            [sys.executable, "-m", "tests.job_crash", way, place, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=1200,
            cwd=Path(__file__).parent.parent,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("kills", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_two_processes_killed_at_random_moments(kills):
    found, said = crash("random", "none", kills, 1)
    assert found["violations"] == [], said
    assert found["kills"] >= kills


@pytest.mark.parametrize("step, least", [(41, 4), pytest.param(1, 150, marks=pytest.mark.slow)])
def test_killed_before_statements_and_after_commits(step, least):
    found, said = crash("steps", "none", 0, step)
    assert found["violations"] == [], said
    assert found["kills"] >= least


@pytest.mark.parametrize(
    "fault, first, wanted",
    [("told", 205, "told what is not recorded"), ("paid", 115, "paid twice")],
)
def test_a_planted_fault_is_caught(fault, first, wanted):
    found, said = crash("steps", fault, first, 7)
    assert found["violations"] and found["violations"][0] == wanted, said
