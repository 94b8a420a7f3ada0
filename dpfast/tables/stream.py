"""Streams of Arrow batches as data: queries, services and lazy frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import checks
from .base import Source
from .batch_reader import RULE, StreamReader
from .columns import Table
from .pick import wanted_columns
from .scan import Columns, data_of


def stream(
    factory: Callable[[], Any], column: str | int | Columns | None = None
) -> Source | Table | Any:
    """Return columns of a repeatable stream of Arrow batches as data for a release.

    Parameters
    ----------
    factory : callable
        ``factory()`` returns the rows from the first one on. It may return a
        `pyarrow.RecordBatchReader`, an object with ``__arrow_c_stream__`` (DuckDB, ADBC, Arrow
        Flight, Polars), or an iterator of record batches or tables. The factory is called once now,
        for the types of the columns, and once in each pass. A median makes two passes.
    column : str, int, or list of these, optional
        As in `dpfast.scan`.

    Returns
    -------
    Source or Table
        As of `dpfast.scan`.

    Raises
    ------
    ArgumentTypeError
        If `factory` is not a function, or returns no batches.
    SourceError
        If a column does not exist, or has a type that cannot be read. These errors depend on the
        schema only. If reading rows fails, the error comes after the spend.

    Notes
    -----
    During a release, every call of the factory must return the same rows in the same order. So sort
    a query whose order is not fixed, and do not sample in it. If the number, the order or the types
    of the rows change, the release fails after the spend. To notice a change, each pass computes a
    digest of each column, which costs about 8 ns a value. If an argument is an array with an entry
    for each row (``where=``, ``ids=``, ``weights=``), one more pass is made for the comparison.

    An iterator has no schema. Its first batch is taken for the types, and no row of it is read.

    Examples
    --------
    >>> import pyarrow as pa, dpfast as dp
    >>> table = pa.table({"pay": [float(i) for i in range(20_000)]})
    >>> pay = dp.stream(lambda: table.to_reader(max_chunksize=1000), "pay")
    >>> 9_900 < dp.median(pay, bounds=(0, 1e6), epsilon=1.0) < 10_100
    True
    """
    if not callable(factory):
        checks.fail_type("factory", RULE, factory)
    wanted_columns(column)
    return data_of(StreamReader(lambda _names: factory()), column)
