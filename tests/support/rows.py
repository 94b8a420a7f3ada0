"""Rows of an array as a source that hands them out in any way that a source may."""

import itertools
import threading

import numpy as np

from dpfast.tables.base import RowChunk


class Rows:
    """A source that hands out an array in any chunks, in any order and from several threads."""

    def __init__(self, rows, ids=None, cuts=(), order=None, memory=False, length=None, team=1):
        self._rows, self._ids = rows, ids
        edges = sorted({0, len(rows), *cuts})
        self._chunks = list(itertools.pairwise(edges)) or [(0, 0)]
        if order is not None:
            np.random.default_rng(order).shuffle(self._chunks)
        self.array = rows if memory else None
        self.dtype, self.length = rows.dtype, len(rows) if memory else length
        self.width = rows.shape[1] if rows.ndim == 2 else None
        self.team, self.passes = team, 0

    def reduce(self, summarise, merge):
        self.passes += 1
        left, failed = list(reversed(self._chunks)), []

        def work():
            try:
                while left:
                    try:
                        start, stop = left.pop()
                    except IndexError:
                        return
                    rows = self._rows[start:stop].copy()
                    ids = None if self._ids is None else self._ids[start:stop]
                    summarise(RowChunk(rows, start, ids))
                    rows.view(np.uint8)[...] = 255  # memory of a chunk is used again
            except BaseException as error:
                failed.append(error)

        if self.team == 1:
            work()
        else:
            team = [threading.Thread(target=work) for _ in range(self.team)]
            for one in team:
                one.start()
            for one in team:
                one.join()
        if failed:
            raise failed[0]
