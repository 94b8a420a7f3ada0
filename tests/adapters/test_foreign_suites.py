"""The tool that runs the tests of others: what passes, fails, is refused, or does not apply."""

import os
import subprocess
import sys

import pytest

from ..support.pages import ROOT

TESTS = {
    "test_passes": "assert 0 <= tools.mean([1.0, 2.0], epsilon=1, bounds=(0, 3)) <= 3",
    "test_seed": "assert tools.median([1.0], bounds=(0, 3), random_state=1) <= 3",
    "test_same_random_state": "assert tools.mean([1.0], bounds=(0, 3), random_state=1) == 7",
    "test_fails": "assert tools.count_nonzero([1, 2], epsilon=400) == 3",
    "test_bounds": "tools.mean([1.0])",
    "test_private": "tools._mean",
}


@pytest.mark.full
def test_each_kind_of_a_test_is_counted(tmp_path):
    """Planted: a test of each kind, in a checkout of nothing else."""
    folder = tmp_path / "tests" / "tools"
    folder.mkdir(parents=True)
    lines = ["from diffprivlib import tools", "from diffprivlib.tools.utils import mean"]
    lines += [f"def {name}():\n    {body}" for name, body in TESTS.items()]
    (folder / "test_few.py").write_text("\n".join(lines))
    (folder / "test_helper.py").write_text("from diffprivlib.tools.utils import _wrap_axis\n")
    command = [sys.executable, str(ROOT / "tools" / "foreign_suites.py"), str(tmp_path)]
    done = subprocess.run(
        [*command, "--tool", "diffprivlib", "--list", "fails"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    for line in ("| 2 | passes |", "| 1 | fails |", "| 2 | refused |", "| 2 | does not apply |"):
        assert line in done.stdout, done.stdout
    assert "test_fails: AssertionError" in done.stdout
    assert "refused: bounds" in done.stdout and "refused: seeded" in done.stdout
    assert "66.7 % of 3 that apply pass" in done.stdout
