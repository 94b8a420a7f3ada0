"""The tool that runs the tests of others: what passes, fails, is refused, or does not apply."""

import os
import subprocess
import sys

import pytest

from ..support.pages import ROOT

DIFFPRIVLIB = """
from diffprivlib import tools
from diffprivlib.tools.utils import mean
def test_passes():
    assert 0 <= tools.mean([1.0, 2.0], epsilon=1, bounds=(0, 3)) <= 3
def test_seed():
    assert tools.median([1.0], bounds=(0, 3), random_state=1) <= 3
def test_same_random_state():
    assert tools.mean([1.0], bounds=(0, 3), random_state=1) == 7
def test_fails():
    assert tools.count_nonzero([1, 2], epsilon=400) == 3
def test_bounds():
    tools.mean([1.0])
def test_private():
    tools._mean
def test_of_something_else():
    assert 1 + 1 == 2
"""
OPENDP = """
import opendp.prelude as dp
dp.enable_features("contrib", "honest-but-curious")
SPACE = dp.atom_domain(T=int), dp.absolute_distance(T=int)
def test_passes():
    assert (SPACE >> dp.m.then_laplace(1.0)).map(1) == 1
def test_fails():
    assert "dpfast" not in dp.m.make_laplace.__module__ and dp.m.make_laplace(*SPACE, 1.0).map(1)
def test_granularity():
    dp.m.make_laplace(*SPACE, 1.0, k=-9, MO="MaxDivergence")
def test_fails_alone():
    assert dp.m.make_laplace(*SPACE, 1.0).map(1) == 7
def test_of_something_else():
    assert dp.t.make_identity(*SPACE).map(1) == 1
"""


def run(folder, tool, text):
    """Return what the tool prints for a checkout with one file of tests, and a helper."""
    folder.mkdir(parents=True)
    (folder / "test_few.py").write_text(text)
    (folder / "test_helper.py").write_text(f"from {tool}.accuracy_ import _wrap_axis\n")
    command = [sys.executable, str(ROOT / "tools" / "foreign_suites.py"), str(folder.parents[1])]
    done = subprocess.run(
        [*command, "--tool", tool, "--list", "fails"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.full
def test_each_kind_of_a_test_is_counted(tmp_path):
    """Planted: a test of each kind, for an adapter that has the names of a tool."""
    found = run(tmp_path / "tests" / "tools", "diffprivlib", DIFFPRIVLIB)
    assert "| tests/tools | 2 | 1 | 2 | 3 |" in found, found
    assert "| all | 2 | 1 | 2 | 3 |" in found and "66.7 % of 3 that apply pass" in found
    assert "test_fails: AssertionError" in found
    assert "refused: bounds" in found and "refused: seeded" in found
    assert "1 does not apply: does not reach dpfast" in found


@pytest.mark.full
def test_a_test_that_fails_without_the_adapter_too_does_not_apply(tmp_path):
    """Planted: one that fails only with it, which must count."""
    pytest.importorskip("opendp")
    found = run(tmp_path / "python" / "test", "opendp", OPENDP)
    assert "| all | 1 | 1 | 1 | 3 |" in found, found
    assert "test_fails: AssertionError" in found and "test_fails_alone" not in found
    assert "1 does not apply: fails without dpfast too" in found
    assert "1 does not apply: does not reach dpfast" in found
