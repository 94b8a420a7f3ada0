"""A reader of Arrow batches that come from the beginning in each pass."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from .._core import checks
from .._core.extras import extra
from ..errors import DataError, DpfastError
from .arrow import guarded, kind_of, legible
from .files import Convert, SchemaReader, Want
from .forms import pyarrow_for

T = TypeVar("T")

RULE = "a function without arguments that returns Arrow batches"
#: What errors call it.
NAME = Path("the stream")
#: Rows of a batch of a lazy frame.
LAZY = 1 << 17


class StreamReader(SchemaReader):
    """What is read from the beginning in each pass, in one thread of its own.

    Parameters
    ----------
    factory : callable
        ``factory(names)`` opens columns of those names, or all.
    schema : pyarrow.Schema, optional
        Of all columns; else that of what `factory` opens.
    path : Path
        What errors call it.
    """

    def __init__(
        self, factory: Callable[[Sequence[str] | None], Any], schema: Any = None, path: Path = NAME
    ) -> None:
        pyarrow_for("data")
        self._factory = factory
        self._counted: int | None = None
        super().__init__([], None)
        self.paths = [path]
        self.schemas = [legible(self._schema() if schema is None else schema)]

    def check_unchanged(self) -> None:
        """Nothing can be told before a pass; `_batches` compares what comes."""

    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        return [guarded(self.paths[0], self._pieces(want.names, convert))]

    def _pieces(self, names: Sequence[str], convert: Convert[T]) -> Iterator[T]:
        at = 0
        for batch in self._batches(names):
            arrays = [batch.column(batch.schema.get_field_index(name)) for name in names]
            yield from convert(at, arrays)
            at += batch.num_rows
        if self._counted is None:
            self._counted = at
        if self._counted != at:
            raise DataError(
                f"{self.paths[0]} must have the same rows whenever it is read, and has not"
            )

    def _batches(self, names: Sequence[str]) -> Iterator[Any]:
        import pyarrow as pa

        kinds = {name: self.schemas[0].field(name).type for name in names}
        for batch in _opened(self._factory(names)):
            found = {name: batch.schema.get_field_index(name) for name in names}
            if any(i < 0 or batch.schema.field(i).type != kinds[name] for name, i in found.items()):
                raise DataError(
                    f"{self.paths[0]} must have the types that it had first, and has not"
                )
            yield from batch.to_batches() if isinstance(batch, pa.Table) else [batch]

    def _schema(self) -> Any:
        """Return the types of the columns, or the error that these are no batches."""
        error = ""
        try:
            opened = _opened(self._factory(None))
            schema = getattr(opened, "schema", None)
            if schema is None:
                schema = next(iter(opened)).schema
        except DpfastError:
            raise
        except Exception as problem:  # whose message may quote a row
            error = kind_of(problem)
        if error:
            checks.fail_kind("factory", RULE, self._factory, f", which fails ({error})")
        return schema


def _opened(given: Any) -> Any:
    """Return what was given as a reader, or as an iterator of batches."""
    import pyarrow as pa

    if isinstance(given, (pa.RecordBatch, pa.Table)):
        return pa.RecordBatchReader.from_batches(
            given.schema, given.to_batches() if isinstance(given, pa.Table) else [given]
        )
    if hasattr(given, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(given)
    return map(_batch, iter(given))


def _batch(given: Any) -> Any:
    """Return one of some batches: of Arrow, or a frame that speaks Arrow."""
    import pyarrow as pa

    return given if isinstance(given, (pa.RecordBatch, pa.Table)) else pa.table(given)


def lazy_reader(frame: Any) -> StreamReader:
    """Return what reads a lazy frame of Polars, by its schema: batch by batch, in order."""
    pa, pl = pyarrow_for("data"), extra("polars", "a lazy frame")
    schema = pa.table(pl.DataFrame(schema=frame.collect_schema())).schema

    def factory(names: Sequence[str] | None) -> Any:
        chosen = frame if names is None else frame.select(names)
        return chosen.collect_batches(chunk_size=LAZY, maintain_order=True)

    return StreamReader(factory, schema)
