"""Blocks of rows of a query engine: its workers exchange rows until each has whole blocks.

Each partition cuts its rows into pieces, one for each block, and the engine's shuffle moves the
pieces. A task then has all pieces of its blocks and computes their answers. The key of the labels
is sent to the workers, because labels must be the same wherever a task runs, and however often.
"""

from __future__ import annotations

import itertools
import operator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._kernels.tables import Key
from ...errors import DataError
from ...tables.base import RowChunk
from ...tables.columns import TableRows
from ...tables.data import as_rows
from ...tables.engine import Arrived, Moved, exchanged
from ..estimators.base import Job
from .partition import KeyedLabels, Partition, RandomLabels

Floats = NDArray[np.float64]


class StoredLabels(KeyedLabels):
    """Labels of blocks that are stored in a column of the data."""

    def __init__(self, blocks: int) -> None:
        self.blocks = blocks

    def read(self, ids: Any) -> NDArray[np.uint32]:
        return np.asarray(ids, np.uint32)


def cut(blocks: int, key: bytes, by_id: bool, chunk: RowChunk) -> list[Moved]:
    """Return the rows of a chunk cut by block, ready to be sent to the tasks of the blocks.

    One more piece, with the destination `blocks`, holds the number of rows of the chunk.
    """
    labels = (KeyedLabels if by_id else RandomLabels)(blocks, Key(key))
    named = Partition(labels).named(chunk)
    order = np.argsort(named, kind="stable")
    rows, named = chunk.rows[order], named[order]
    cuts = np.flatnonzero(np.diff(named, prepend=-1, append=blocks)).tolist()
    total = Moved(blocks, chunk.start, np.int64(len(rows)).tobytes())
    return [total] + [
        Moved(int(named[i]), chunk.start, rows[i:j].tobytes()) for i, j in itertools.pairwise(cuts)
    ]


class Answered(NamedTuple):
    """The outputs of the blocks of one task, with a count of rows that detects lost rows.

    `rows` is the number of rows in these blocks, minus the rows of all cuts whose totals arrived at
    this task. Added up over all tasks it is 0 if no row was lost.
    """

    blocks: NDArray[np.int64]
    answers: Floats
    rows: int


def answered(
    count: int,
    bind: Any,
    dtype: np.dtype[Any],
    tail: tuple[int, ...],
    drop: bool,
    arrived: Arrived,
) -> tuple[Answered, ...]:
    """Compute the outputs of the blocks whose rows have arrived at this task.

    `bind` makes the estimator for rows of `dtype` and `tail`. The destination `count` is not a
    block.
    """
    shares = sorted(arrived.values)
    if any(a[:2] == b[:2] for a, b in itertools.pairwise(shares)):
        raise DataError(
            "the query engine delivered the rows twice, and the results cannot be distinguished"
        )
    whole = sum(int(np.frombuffer(p.rows, np.int64)[0]) for p in shares if p.destination == count)
    shares = [share for share in shares if share.destination < count]
    if not shares:
        return (Answered(np.empty(0, np.int64), np.empty((0, 1)), -whole),)
    numbers = np.array([share.destination for share in shares], np.int64)
    parts = [np.frombuffer(share.rows, dtype) for share in shares]
    rows = np.concatenate(parts).reshape(-1, *tail)
    lengths = np.array([len(part) for part in parts]) // max(1, int(np.prod(tail)))
    blocks, label = np.unique(numbers, return_inverse=True)
    source = as_rows(rows, np.repeat(label, lengths), 1)
    answers = bind(source).outputs(source, Partition(StoredLabels(len(blocks)), drop), Job(1))
    return (Answered(blocks, answers, len(rows) - whole),)


def outputs(
    source: TableRows, blocks: int, key: bytes, by_id: bool, bind: Any, drop: bool, width: int
) -> Floats:
    """Return the output of each block, NaN for a block without an answer.

    Raises
    ------
    DataError
        If rows were lost or duplicated on the way, as far as this can be noticed.
    """
    tail = () if source.width is None else (source.width,)
    parts = exchanged(
        source,
        partial(cut, blocks, key, by_id),
        partial(answered, blocks, bind, source.dtype, tail, drop),
        operator.add,
    )
    answers = np.full((blocks, width), np.nan)
    for part in parts:
        if len(part.blocks):
            answers[part.blocks] = part.answers
    numbers = np.concatenate([np.empty(0, np.int64), *(part.blocks for part in parts)])
    if len(np.unique(numbers)) < len(numbers) or sum(part.rows for part in parts):
        raise DataError("the query engine lost or duplicated rows when it sorted them by block")
    return answers
