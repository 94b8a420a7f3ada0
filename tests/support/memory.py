"""How much memory a call takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

#: Measurements of which the least counts: other threads, and what is imported once, only add.
TIMES = 3


def peak(call: Callable[[], Any]) -> tuple[int, Any]:
    """Return the most bytes of arrays and objects that a call holds at one time, and its answer."""
    found = []
    for _ in range(TIMES):
        tracemalloc.start()
        try:
            answer = call()
            found.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(found), answer
