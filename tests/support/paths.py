"""Programs run in an interpreter of their own, on an instruction set of one's choice."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from dpfast._kernels.rng import isa_paths

ROOT = Path(__file__).parents[2]


def program(code, *arguments, text="", environment=None):
    """Run a program with `text` as its input."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        input=text, env=environment, cwd=ROOT, capture_output=True, text=True,
        timeout=300)  # fmt: skip


def run(code, path, text=""):
    """Run a program with `text` as its input; `path` forces an instruction set."""
    environment = {k: v for k, v in os.environ.items() if k != "DPFAST_ISA"}
    if path is not None:
        environment["DPFAST_ISA"] = path
    return program(code, text=text, environment=environment)


def quick_tests_hold(path, *files):
    """Check that tests pass on one instruction set."""
    code = f"""
        import pytest
        from dpfast._kernels.rng import isa
        assert isa() == {path!r}
        assert not pytest.main(["-q", "-m", "not full and not slow", *{files!r}])
    """
    done = run(code, path)
    assert done.returncode == 0, done.stdout + done.stderr


def on_every_path(code):
    """What a program prints, the same on each instruction set that this machine has."""
    printed = set()
    for path in isa_paths():
        done = run(code + "\nfrom dpfast._kernels.rng import isa\nprint(isa())\n", path)
        assert done.returncode == 0, done.stderr
        *lines, taken = done.stdout.splitlines()
        assert taken == path  # were all forced in vain, they would agree
        printed.add("\n".join(lines))
    (found,) = printed
    return found
