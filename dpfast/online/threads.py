"""A pass over many elements, by several threads where that pays."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..sources.array import threads

#: Elements for which a thread is worth while.
ENOUGH = 1 << 17


def spread(
    count: int, work: Callable[[int, int], Any], multiple: int = 1, enough: int = ENOUGH
) -> list[Any]:
    """What `work` makes of stretches that make up all elements, in order.

    All but the last are multiples of `multiple` long, and no shorter than `enough`.
    """
    workers = min(threads(), count // enough)
    if workers < 2:
        return [work(0, count)]
    from concurrent.futures import ThreadPoolExecutor  # not everybody who imports needs it

    inner = {count * i // workers // multiple * multiple for i in range(workers)}
    ends = [*sorted(inner), count]
    with ThreadPoolExecutor(workers) as pool:
        parts = itertools.pairwise(ends)
        return [one.result() for one in [pool.submit(work, a, b) for a, b in parts]]
