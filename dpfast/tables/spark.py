"""Spark dataframes as data, classic or over Spark Connect.

A pass is one `mapInArrow`: each partition returns a row with its number and its summary, and the
driver merges the summaries. No RDD, no accumulator, and nothing else of Spark is used. pyspark is
imported only if there is a dataframe.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from inspect import signature
from typing import Any, cast

from .._core import checks
from .._core.extras import extra
from ..errors import DpfastError
from .base import S
from .columns import Table
from .engine import Engine, Moved, Part, Task, destinations_of
from .forms import is_spark
from .in_memory import local_form

RULE = "a dataframe of Spark"
#: A task returns the number of its partition, and a pickled `Part` or error.
RETURNED = "partition long, part binary"
#: The columns of `Moved`.
MOVED = "destination long, number long, rows binary"
#: More destinations than there are partitions, among which Spark distributes them.
DESTINATIONS = 1 << 20


def spark(df: Any) -> Table:
    """Return a Spark dataframe as data for a release, without reading any row.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A dataframe of classic Spark or of Spark Connect. Spark computes the dataframe anew in each
        pass, and the rows must be the same each time. If the dataframe is random, or reads data
        that others write, write the dataframe to a table first.

    Returns
    -------
    table
        A table of the columns of the dataframe. ``dp.spark(df)["pay"]`` is one column of it, and a
        list of names in the brackets makes a smaller table.

    Raises
    ------
    ArgumentTypeError
        If `df` is not a dataframe of Spark.

    Notes
    -----
    Columns of structs, and columns of types that Arrow does not have, are left out. Each worker
    needs dpfast and pyarrow, and a partition must fit into the memory of its task. Noise is drawn
    in the driver only. A median takes two passes.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.spark([1, 2, 3])
    Traceback (most recent call last):
    ...
    dpfast.errors.ArgumentTypeError: df must be a dataframe of Spark, got an object of type list
    """
    if not is_spark(df):
        checks.fail_kind("df", RULE, df)
    return spark_form(df)


def spark_form(df: Any) -> Table:
    """Return a Spark dataframe as data for a release, by its schema alone."""
    engine = SparkEngine(df)
    assert isinstance(engine.like, Table)
    return Table(engine, engine.like.names)


class SparkEngine(Engine):
    """The partitions of a Spark dataframe, whose columns are renamed to c0, c1, ...

    With the names of the user, `mapInArrow` would read a dot as a field of a struct.
    """

    name, engine = "the Spark dataframe", "spark"

    def __init__(self, df: Any, names: Sequence[str] | None = None) -> None:
        self._names = list(df.columns if names is None else names)
        if len(set(self._names)) < len(self._names):
            checks.fail_kind("data", "a dataframe whose columns have different names", df)
        self._df = df.toDF(*(f"c{i}" for i in range(len(self._names))))
        self.like = local_form(_declared(df.schema, self._names), "data", RULE)

    def run(self, task: Task[S], columns: Sequence[str] | None) -> Part[S] | None:
        dump = extra("pyspark.cloudpickle", "data of Spark").dumps
        names = self._names if columns is None else list(columns)
        run = partial(_mapped, dump(task), names)
        done = self._select(names).mapInArrow(run, RETURNED).toArrow()
        parts = [pickle.loads(pickled) for pickled in done.column("part").to_pylist()]
        for part in parts:
            if isinstance(part, DpfastError):
                raise part
        return task.join(parts) if parts else None

    def exchange(self, task: Task[list[Moved]], columns: Sequence[str] | None) -> Engine:
        dump = extra("pyspark.cloudpickle", "data of Spark").dumps
        names = self._names if columns is None else list(columns)
        moved = self._select(names).mapInArrow(partial(_cut, dump(task), names), MOVED)
        return SparkEngine(moved.repartition(self._destinations(), "destination"), Moved._fields)

    def _destinations(self) -> int:
        """Return the number of partitions after a shuffle in this Spark session."""
        return int(self._df.sparkSession.conf.get("spark.sql.shuffle.partitions"))

    def together(self, column: str, columns: Sequence[str]) -> Engine:
        types = extra("pyspark.sql.types", "data of Spark")
        kept = self._select(columns)
        schema = types.StructType(
            [*kept.schema.fields, types.StructField("destination", types.LongType())]
        )
        send = partial(_with_destinations, list(columns).index(column))
        marked = kept.mapInArrow(send, schema)
        return SparkEngine(
            marked.repartition(self._destinations(), "destination").drop("destination"), columns
        )

    def _select(self, columns: Sequence[str]) -> Any:
        return self._df.select(*(f"c{self._names.index(name)}" for name in columns))


def _declared(schema: Any, names: Sequence[str]) -> Any:
    """Return a table without rows of the columns with Arrow types, except structs."""
    import pyarrow as pa

    convert = extra("pyspark.sql.pandas.types", "data of Spark").to_arrow_schema
    has_zone = "timezone" in signature(convert).parameters  # any zone will do, if one is required
    zone, types = {"timezone": "UTC"} if has_zone else {}, {}
    for name, field in zip(names, schema, strict=True):
        with suppress(TypeError):  # a type that Arrow does not have
            kind = convert(type(schema)([field]), **zone).field(0).type
            if not pa.types.is_struct(kind):
                types[name] = pa.array([], kind)
    return pa.table(types)


def _summarized(task: bytes, names: Sequence[str], batches: Iterator[Any]) -> Part[Any] | None:
    """Return the part that a task makes of a partition; None for one without rows."""
    import pyarrow as pa
    from pyspark import TaskContext

    rows = list(batches)
    if not rows:
        return None
    context: Any = TaskContext.get()
    table = pa.Table.from_batches(rows).combine_chunks().rename_columns(names)
    return cast("Part[Any]", pickle.loads(task)(context.partitionId(), table))


def _mapped(task: bytes, names: Sequence[str], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the summary of a partition, or its error, as a batch of one row."""
    import pyarrow as pa

    part: Any
    try:
        part = _summarized(task, names, batches)
    except DpfastError as error:  # raised here, it would reach the driver as text only
        part = error
    if part is not None:
        number = -1 if isinstance(part, DpfastError) else next(iter(part.rows))
        yield pa.RecordBatch.from_pydict({"partition": [number], "part": [pickle.dumps(part)]})


def _cut(task: bytes, names: Sequence[str], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the rows of a partition that a task moves, as a batch with their destinations."""
    import pyarrow as pa

    part = _summarized(task, names, batches)
    if part is not None and part.summary:
        columns = [pa.array(list(cells)) for cells in zip(*part.summary, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, list(Moved._fields))


def _with_destinations(column: int, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the rows of a partition that have an id, each with its destination."""
    import pyarrow as pa

    for batch in batches:
        numbers, present = destinations_of(pa.chunked_array([batch.column(column)]), DESTINATIONS)
        arrays = [*batch.columns, pa.array(numbers)]
        yield pa.RecordBatch.from_arrays(arrays, [*batch.schema.names, "destination"]).filter(
            pa.array(present)
        )
