"""A source: pay that is kept as amounts, each with how many payslips have it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from typing import Any, TypeVar

import numpy as np

import dpfast as dp

S = TypeVar("S")
#: The most rows of a chunk.
MOST = 1 << 12


class Payslips:
    """A column of float64 numbers, in runs of equal ones."""

    dtype, nulls = np.dtype(np.float64), 0

    def __init__(self, runs: Iterable[tuple[float, int]]) -> None:
        self.runs = [(float(pay), int(many)) for pay, many in runs]
        self.length = sum(many for _, many in self.runs)

    def chunks(self) -> Iterator[dp.extend.Chunk]:
        start = 0
        for pay, many in self.runs:
            for first in range(0, many, MOST):
                values = np.full(min(MOST, many - first), pay)
                yield dp.extend.Chunk(values, start)
                start += len(values)
        if not start:
            yield dp.extend.Chunk(np.zeros(0), 0)

    def reduce(self, summarise: Callable[[dp.extend.Chunk], S], merge: Callable[[S, S], S]) -> S:
        return reduce(merge, map(summarise, self.chunks()))

    def sample(self, count: int, words: Any) -> None:
        """No cheap look at places at random."""
