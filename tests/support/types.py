"""What a strict type checker says of programs that use dpfast."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def strict(*programs):
    """The errors of some files, a line each."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary",
        "--hide-error-context"]  # fmt: skip
    more = ["--follow-imports=silent", "--cache-dir", str(programs[0].parent / "cache"), *programs]
    done = subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]
