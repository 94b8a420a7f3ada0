"""`pytest --repeat-noise N --repeat-seconds S`: tests that draw noise are run again, and the others
are not."""

import subprocess
import sys
from pathlib import Path

import pytest

PLANTED = """
import doctest
import pytest
import dpfast as dp

runs = {"seeded": 0, "fresh": 0, "drawn": 0}


@pytest.fixture(autouse=True)
def fresh():
    runs["fresh"] += 1
    yield
    runs["fresh"] -= 1
    assert runs["fresh"] == 0


def test_one_in_twenty():
    assert dp.rng.default_generator().random_raw() % 20


def test_example_of_a_docstring():
    example = ">>> dp.rng.default_generator().random_raw() % 20 > 0\\nTrue"
    test = doctest.DocTestParser().get_doctest(example, {"dp": dp}, "example", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_that_fails_in_its_second_run():
    runs["drawn"] += 1
    dp.rng.default_generator().random_raw()
    assert runs["drawn"] == 1


def test_of_a_seed():
    runs["seeded"] += 1
    dp.rng.InsecureGenerator(1).random_raw()


def test_that_a_test_of_a_seed_has_run_once():
    assert runs["seeded"] == 1
"""


def run(folder, *options):
    """What pytest says of the planted tests."""
    conftest = Path(__file__).with_name("conftest.py").read_text(encoding="utf-8")
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    (folder / "test_planted.py").write_text(PLANTED, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", folder]
    done = subprocess.run(
        [*command, "--repeat-noise", "400", *options, folder], capture_output=True, text=True
    )
    return done.stdout


@pytest.mark.full
def test_what_fails_once_in_twenty_runs_is_caught(tmp_path):
    """Of 400 runs none would fail with a probability of 1.3e-9."""
    said = run(tmp_path)
    assert "3 failed, 2 passed" in said, said
    for name in ("one_in_twenty", "example_of_a_docstring", "that_fails_in_its_second_run"):
        assert f"test_planted.py::test_{name}" in said
    assert said.count("of 400") == 3 and "in run 2 of 400" in said


@pytest.mark.full
def test_no_run_starts_after_the_last_second(tmp_path):
    said = run(tmp_path, "--repeat-seconds", "0", "-k", "not twenty and not docstring")
    assert "3 passed, 2 deselected" in said, said
