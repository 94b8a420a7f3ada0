"""Dask arrays, series and dataframes as data.

Collections are recognised by their attributes, and Dask is imported only if there is a collection.
A pass is a task for each partition, and a tree of tasks that merge the results. The tasks run on
the current client, or without one on the scheduler of the collection.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import call
from typing import Any

import numpy as np

from .._core import checks
from .._core.extras import extra
from .base import S
from .columns import Rows, Table, TableColumn, TableRows
from .engine import (
    TREE,
    Engine,
    Moved,
    Part,
    Task,
    destinations_of,
    expect_types,
    types_of,
)
from .forms import column_form
from .in_memory import local_form

#: The column with the destination of each row, for the shuffle that brings the rows of an id
#: together.
DESTINATION = "\0destination"


class DaskEngine(Engine):
    """The partitions of a Dask collection, as an engine that runs tasks on them."""

    name, engine = "the Dask collection", "dask"

    def __init__(self, collection: Any, like: Any, lengths: Sequence[int] | None = None) -> None:
        self._collection, self.lengths = collection, lengths
        self.like = local_form(like, "data", "a table or an array of Dask")

    def run(self, task: Task[S], columns: Sequence[str] | None) -> Part[S] | None:
        dask = extra("dask", "data of Dask")
        # So that it is sent once, and not with each partition.
        shared = dask.delayed(task, traverse=False)
        level, join = self._tasks(call, shared, columns), dask.delayed(Task.join, pure=False)
        while len(level) > 1:
            level = [join(shared, level[i : i + TREE]) for i in range(0, len(level), TREE)]
        return dask.compute(*level)[0] if level else None

    def _tasks(self, work: Any, shared: Any, columns: Sequence[str] | None) -> list[Any]:
        """Return the call of `work` on each partition, as Dask's delayed objects."""
        delayed = extra("dask", "data of Dask").delayed(work, pure=False)
        kept = self._collection if columns is None else self._collection[list(columns)]
        partitions = np.asarray(kept.to_delayed()).ravel().tolist()
        return [delayed(shared, number, part) for number, part in enumerate(partitions)]

    def exchange(self, task: Task[list[Moved]], columns: Sequence[str] | None) -> Engine:
        dask, frames = extra("dask", "data of Dask"), extra("dask.dataframe", "blocks of Dask")
        shared = dask.delayed(task, traverse=False)
        like = _frame([])
        parts = self._tasks(_cut, shared, columns) or [dask.delayed(like)]
        table = frames.from_delayed(parts, meta=like, verify_meta=False)
        return DaskEngine(table.shuffle(on="destination", npartitions=len(parts)), like)

    def together(self, column: str, columns: Sequence[str]) -> Engine:
        kept = self._collection[list(columns)]
        parts = kept.npartitions
        like = kept._meta.assign(**{DESTINATION: np.empty(0, np.int64)})
        types = types_of(self.like, columns)
        marked = kept.map_partitions(_with_destinations, column, parts, types, meta=like)
        return DaskEngine(marked.shuffle(on=DESTINATION, npartitions=parts), like)


def _cut(task: Task[list[Moved]], number: int, partition: Any) -> Any:
    return _frame(task(number, partition).summary)


def _frame(moved: Sequence[Moved]) -> Any:
    """Return moved rows as a dataframe for a Dask shuffle, which keeps the type of their bytes."""
    pd, pa = extra("pandas", "blocks of Dask"), extra("pyarrow", "blocks of Dask")
    kinds = {"destination": pa.int64(), "number": pa.int64(), "rows": pa.large_binary()}
    columns = zip(kinds.items(), zip(*moved, strict=True) if moved else [()] * 3, strict=True)
    return pd.DataFrame(
        {name: pd.array(list(cells), pd.ArrowDtype(kind)) for (name, kind), cells in columns}
    )


def _with_destinations(frame: Any, column: str, parts: int, types: Mapping[str | None, Any]) -> Any:
    """Return the rows of a partition that have an id, with the partition to which each moves."""
    expect_types(frame, types)
    destinations, present = destinations_of(frame[column], parts)
    return frame.assign(**{DESTINATION: destinations})[present]


def dask_form(data: Any, name: str) -> TableColumn | Table | TableRows:
    """Return a Dask collection as data for a release, by its type alone.

    Raises
    ------
    ArgumentTypeError
        For a collection that is neither an array of one or two dimensions nor a series or table.
    """
    rule = "a Dask array of one or two dimensions, a series or a dataframe"
    if hasattr(data, "_meta") and hasattr(data, "npartitions") and hasattr(data, "to_delayed"):
        like = data._meta
        if hasattr(like, "columns"):
            engine = DaskEngine(data, like)
            assert isinstance(engine.like, Table)
            return Table(engine, engine.like.names)
        if hasattr(like, "dtype") and hasattr(data, "to_frame"):
            column_form(like, name, rule)
            title = like.name if isinstance(like.name, str) else "data"
            return TableColumn(
                DaskEngine(data.to_frame(name=title), like.to_frame(name=title)), title
            )
    dimensions = getattr(data, "ndim", None)
    if hasattr(data, "rechunk") and isinstance(dimensions, int) and dimensions in (1, 2):
        if any(math.isnan(length) for length in data.shape[1:]):
            more = " of an unknown number of columns (call compute_chunk_sizes first)"
            checks.fail_kind(name, rule, data, more)
        like = np.empty((0, *data.shape[1:]), data.dtype)
        if isinstance(data._meta, np.ma.MaskedArray):
            like = np.ma.array(like)
            data = data.map_blocks(np.ma.asarray, dtype=data.dtype, meta=data._meta)
        chunks = data.chunks[0]
        has_known_lengths = not any(math.isnan(length) for length in chunks)
        lengths = [int(length) for length in chunks] if has_known_lengths else None
        if data.ndim == 1:
            return TableColumn(DaskEngine(data, like, lengths), None)
        if len(data.chunks[1]) > 1:
            data = data.rechunk({1: -1})
        return TableRows(DaskEngine(data, like, lengths), Rows(None))
    checks.fail_kind(name, rule, data)
