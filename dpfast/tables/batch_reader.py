"""A reader of Arrow batches, such as a query, that each pass reads from the first row."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any, Self

from .._core import checks
from .._core.extras import extra
from .._core.owner_log import hide_error
from .._kernels.tables import Key
from ..errors import DataError, DpfastError
from .arrow import guarded, legible
from .columns import Want
from .digest import PUBLIC, digest
from .files import Rowed, SchemaReader
from .forms import Arrow, converted, pyarrow_for

RULE = "a function without arguments that returns Arrow batches"
#: The name of a stream in errors, unless it has a path.
NAME = Path("the stream")
#: Rows of a batch of a lazy frame.
LAZY = 1 << 17


class StreamReader(SchemaReader):
    """A stream of Arrow batches, read from the first row in each pass, in a separate thread.

    Only the owner of a stream can guarantee that two passes have the same rows in the same order.
    So each pass computes a digest of each column that it reads, and all digests of a column must be
    equal.

    Parameters
    ----------
    factory : callable
        ``factory(names)`` opens the columns of these names, or all columns.
    schema : pyarrow.Schema, optional
        The schema of all columns. By default, the stream that `factory` opens has it.
    path : Path
        The name of the stream in errors.
    """

    #: Whether another reader provides the rows in their order.
    in_order = False

    def __init__(
        self, factory: Callable[[Sequence[str] | None], Any], schema: Any = None, path: Path = NAME
    ) -> None:
        pyarrow_for("data")
        self._factory = factory
        self._counted: int | None = None
        # The first batches, if the factory must not return the same object again.
        self._first: Callable[[], Any] = lambda: None
        self._digests: dict[str, int] = {}
        self._always: tuple[str, ...] = ()
        self._key, self._twice = PUBLIC, False
        super().__init__([], None)
        self.paths = [path]
        self.schemas = [self._schema() if schema is None else legible(schema)]

    def check_unchanged(self) -> None:
        """Do nothing: a stream shows a change only in a pass, where `_batches` compares."""

    def once(self, twice: bool) -> Self:
        """Return a reader of this stream for one release, whose passes must agree on row order.

        With `twice`, one more pass is made first, and the other passes are compared with it.
        """
        if self.in_order:
            return self
        some = copy(self)
        some._digests, some._twice = {}, twice
        return some

    def tie(self, names: Sequence[str], key: Key) -> None:
        """Have each pass also read and compare the columns `names`, which choose rows.

        `key` is secret, so nobody can find other rows with the same digests.
        """
        if not self.in_order:
            self._always, self._key, self._digests = tuple(names), key, {}

    def batches(
        self, want: Want, rows: int, workers: int | None = None
    ) -> Sequence[Generator[Rowed]]:
        return [guarded(self.paths[0], self._row_batches(want.names))]

    def _row_batches(self, names: Sequence[str]) -> Iterator[Rowed]:
        if self._twice:
            self._twice = False
            for _ in self._row_batches(names):
                pass
        every = list(dict.fromkeys([*names, *self._always]))
        digests = {} if self.in_order else dict.fromkeys(every, 0)
        at = 0
        for batch in self._batches(every):
            columns = {name: batch.column(batch.schema.get_field_index(name)) for name in every}
            for name in digests:
                digests[name] = (digests[name] + digest(self._key, columns[name], at)) % 2**64
            yield at, [Arrow.of(columns[name]) for name in names]
            at += batch.num_rows
        if self._counted is None:
            self._counted = at
        if self._counted != at:
            raise DataError(
                f"the rows of {self.paths[0]} changed between two reads: pass unchanging data"
            )
        if any(self._digests.setdefault(name, sum_) != sum_ for name, sum_ in digests.items()):
            raise DataError(
                f"{self.paths[0]} must have the same rows in the same order in each pass, but "
                "differs: sort it by a column of distinct values, or collect it first"
            )

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        kinds = {name: {kind for kind, _ in self._kinds(name)} for name in names}
        batches = self._factory(names)
        if batches is not None and batches is self._first():
            raise DataError(
                f"{self.paths[0]} must start at its first row in each pass: return a new iterator"
            )
        for batch in _opened(batches):
            indices = {name: batch.schema.get_field_index(name) for name in names}
            if any(
                i < 0 or batch.schema.field(i).type not in kinds[name]
                for name, i in indices.items()
            ):
                raise DataError(
                    f"the types of {self.paths[0]} changed between two reads: pass unchanging data"
                )
            yield from batch.to_batches() if isinstance(batch, pa.Table) else [batch]

    def _schema(self) -> Any:
        """Return the schema of the stream, or refuse a `factory` that returns no Arrow batches."""
        error = ""
        try:
            batches = self._factory(None)
            opened = _opened(batches)
            if isinstance(batches, Iterator):
                self._first = _kept(batches)
            schema = getattr(opened, "schema", None)
            if schema is None:
                schema = next(iter(opened)).schema
            schema = legible(schema)
        except DpfastError:
            raise
        except Exception as problem:  # the message may quote a row
            error = hide_error(problem)
        if error:
            checks.fail_kind("factory", RULE, self._factory, f", which fails with {error}")
        return schema


def _kept(batches: Any) -> Callable[[], Any]:
    """Return a function that returns `batches`, by a weak reference if possible."""
    try:
        return weakref.ref(batches)
    except TypeError:
        return lambda: batches


def _opened(batches: Any) -> Any:
    """Return the output of a `factory` as a pyarrow reader, or as an iterator of batches."""
    import pyarrow as pa

    if isinstance(batches, (pa.RecordBatch, pa.Table)):
        return pa.RecordBatchReader.from_batches(
            batches.schema, batches.to_batches() if isinstance(batches, pa.Table) else [batches]
        )
    if hasattr(batches, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(batches)
    return map(_batch, iter(batches))


def _batch(batch: Any) -> Any:
    """Return a batch as a pyarrow batch or table, converted from a data frame if needed."""
    import pyarrow as pa

    return batch if isinstance(batch, (pa.RecordBatch, pa.Table)) else pa.table(batch)


def lazy_reader(frame: Any) -> StreamReader:
    """Return a reader of a lazy frame of Polars, which yields its batches in order."""
    pa, pl = pyarrow_for("data"), extra("polars", "a lazy frame")
    rule = "a lazy frame whose columns are known"
    schema = converted(frame.collect_schema, "data", rule, lambda collect: collect())
    empty = pa.table(pl.DataFrame(schema=schema)).schema

    def factory(names: Sequence[str] | None) -> Any:
        # Select by name, because Polars would read a text like "^x$" as a pattern.
        chosen = frame if names is None else frame.select(pl.selectors.by_name(*names))
        return chosen.collect_batches(chunk_size=LAZY, maintain_order=True)

    reader = StreamReader(factory, empty)
    reader.original = frame
    return reader
