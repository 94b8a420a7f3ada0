"""Programs whose children are killed, apart from tests, which have threads; and the children."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: What a kill leaves is what the kernel has, on a disk or not; without a disk it is sooner there.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def crash(program: str, way: str, *arguments: Any, folder: str | None = MEMORY) -> dict[str, Any]:
    """What a program of this folder found, that was given a way, a place and the arguments."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        done = subprocess.run(
            [sys.executable, "-m", f"tests.support.{program}", way, place, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=1200,
            cwd=Path(__file__).parents[2],
        )
    assert done.returncode == 0, done.stderr
    return {"said": done.stderr, **json.loads(done.stdout)}


def start(life: Callable[..., int | None], *arguments: Any) -> int:
    """A child that leads this life, and ends with the code that it returns."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        code = life(*arguments) or 0
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
    finally:
        os._exit(code)
