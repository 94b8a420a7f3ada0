"""How much memory a call takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

__all__ = ["peak"]


def peak(call: Callable[[], Any]) -> tuple[int, Any]:
    """Return the most bytes of arrays and objects that a call holds at one time, and its answer."""
    tracemalloc.start()
    try:
        answer = call()
        return tracemalloc.get_traced_memory()[1], answer
    finally:
        tracemalloc.stop()
