"""`pytest --repeat-noise N`: tests that draw noise are run again, and the others are not."""

import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = """
import pytest
import dpfast as dp

runs = {"seeded": 0, "fresh": 0}


@pytest.fixture(autouse=True)
def fresh():
    runs["fresh"] += 1
    yield
    runs["fresh"] -= 1
    assert runs["fresh"] == 0


def test_one_in_twenty():
    assert dp.rng.default_generator().random_raw() % 20


def test_of_a_seed():
    runs["seeded"] += 1
    dp.rng.InsecureGenerator(1).random_raw()


def test_that_a_test_of_a_seed_has_run_once():
    assert runs["seeded"] == 1
"""


@pytest.mark.full
def test_a_test_that_fails_once_in_twenty_runs_is_caught(tmp_path):
    """Of 400 runs none would fail with a probability of 1.3e-9."""
    conftest = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
    (tmp_path / "conftest.py").write_text(conftest, encoding="utf-8")
    (tmp_path / "test_planted.py").write_text(PLANTED, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir",
        tmp_path]  # fmt: skip
    found = subprocess.run(
        [*command, "--repeat-noise", "400", tmp_path], capture_output=True, text=True, check=False
    )
    assert "1 failed, 2 passed" in found.stdout, found.stdout
    assert "test_planted.py::test_one_in_twenty" in found.stdout
    assert "of 400" in found.stdout
