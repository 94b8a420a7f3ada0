"""Rows of a table in batches: some named columns of each, in the form in which they lie.

Whoever needs several columns of different kinds at once (keys, ids and numbers) reads them here. A
batch has a piece of each column that is asked for, and what a piece is made of is told by the type
of its column, as in `forms`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.once import remembered
from .._kernels.sources import Key
from ..errors import DataError
from .arrow import family
from .base import native_dtype
from .columns import Columns, Store, Want
from .data import form_of, once
from .engine import Engine, refuse_array
from .files import Reader
from .forms import Arrow, Form, Named, Objects, Values
from .forms import Piece as Piece
from .ids import no_column
from .labels import compare, different
from .memory import F8, in_place, split
from .table import refuse_columns
from .threads import in_parts

S = TypeVar("S")

RULE = "a table: columns with names"
#: Names of columns that stand beside the table's own.
IDS, WHERE = "\0ids", "\0where"
#: Rows of a batch in memory: enough that the calls for it cost little, few enough for a cache.
ROWS = 1 << 17


class Batch(NamedTuple):
    """Some consecutive rows, from number `start` on: a piece of each column, by name.

    It is valid until whoever is given it returns. An empty table makes one batch without columns.
    """

    start: int
    rows: int
    columns: Mapping[str, Piece]


class Batches:
    """The rows of a table in memory or in files, which can be passed over again and again.

    Parameters
    ----------
    data : table
        A mapping of names to columns, a structured array, a table of pandas, Polars or Arrow, or
        columns of files that `dpfast.scan` has found, beside which stand all others of the files.
    beside : mapping of names to columns, optional
        Columns that are no part of the table, one entry for each of its rows.

    Raises
    ------
    ArgumentTypeError
        For what is no table. No row is looked at.
    """

    def __init__(self, data: Any, beside: Mapping[str, Piece] | None = None) -> None:
        form: Form = form_of(data, "data", RULE)
        if not isinstance(form, (Named, Columns)):
            checks.fail_kind("data", RULE, data)
        self._form = form
        self._beside = {} if beside is None else dict(beside)
        for name, column in self._beside.items():
            if self.of_engine is not None:
                refuse_array(name.strip("\0"), column)
            _length(column, name.strip("\0"))
        columns = form.columns if isinstance(form, Named) else {}
        self._labels = different(
            column.row_index
            for column in chain(columns.values(), self._beside.values())
            if column.row_index is not None
        )
        if not isinstance(form, Named):
            self.length = form.length
            return
        lengths = {_length(column, f"column {name!r} of data") for name, column in columns.items()}
        if not lengths:
            checks.fail_kind("data", "a table with a column", data)
        self.length = lengths.pop() if len(lengths) == 1 else None

    @property
    def like(self) -> Batches | None:
        """Columns of the same names and types without rows: one object for all that are equal.

        None for columns that are not in memory.
        """
        form = self._form
        if not isinstance(form, Named):
            return None
        types = [(name, _type_of(column)) for name, column in form.columns.items()]
        beside = [(name, _type_of(column)) for name, column in self._beside.items()]
        return _of_types(tuple(types), tuple(beside))

    def with_beside(self, name: str, column: Piece) -> Batches:
        """Return the same rows with one more column beside them."""
        return Batches(self._form, {**self._beside, name: column})

    def once(self) -> Batches:
        """Return the same rows for one release: passes over a stream are compared in it."""
        if isinstance(self._form, Named):
            return self
        form = once(self._form, tuple(self._beside.values()))
        return self if form is self._form else Batches(form, self._beside)

    def tie(self, names: Sequence[str], key: Key) -> None:
        """Have every pass over a stream agree about these columns; see `StreamReader.tie`."""
        if isinstance(self._form, Columns):
            self._form.store.tie([name for name in names if name not in self._beside], key)

    @property
    def of_engine(self) -> Engine | None:
        """The engine that holds the columns: passes are then made in its partitions."""
        if isinstance(self._form, Named) or not isinstance(self._form.store, Engine):
            return None
        return self._form.store

    @property
    def names(self) -> list[str]:
        """The columns of the table."""
        form = self._form
        return list(form.columns if isinstance(form, Named) else form.names)

    def has(self, name: str) -> bool:
        """Tell whether there is a column of that name beside the table."""
        return name in self._beside

    def typed(self, name: str, argument: str, is_text: bool = False) -> Piece:
        """Return a column of no rows, which has the type of the one of that name.

        `is_text` asks for text where the column has no type of its own, as in a file of text.

        Raises
        ------
        ArgumentError, SourceError
            If there is no such column; `argument` is what names it.
        """
        if name in self._beside:
            return self._beside[name].cut(0, 0)
        form = self._form
        if isinstance(form, Named):
            if name not in form.columns:
                no_column(name, form.columns, argument)
            return form.columns[name].cut(0, 0)
        return form.store.typed(form.store.name_of(name, argument), is_text)

    def missing(self, name: str) -> frozenset[str]:
        """Return the words for a missing value in a column of cells of a file of text.

        There are none in other columns: those have a type of their own.
        """
        if isinstance(self._form, Columns) and name not in self._beside:
            return self._form.store.missing
        return frozenset()

    def is_text(self, name: str) -> bool:
        """Tell whether a column is cells of a file of text, which have no type of their own."""
        return bool(self.missing(name))

    def numbers(self, name: str) -> None:
        """Refuse a column that holds no numbers, by its type."""
        form = self._form
        if isinstance(form, Named):
            if name not in form.columns:
                no_column(name, form.columns, "column")
            form.columns[name].column(f"column {name!r} of data", "numbers")
        else:
            form.store.check_numbers(form.store.name_of(name, "column"))

    def is_whole(self, name: str) -> bool:
        """Tell whether a column holds integers, by its type."""
        typed = self.typed(name, "column")
        if isinstance(typed, Values):
            return typed.array.dtype.kind in "biu"
        return isinstance(typed, Arrow) and family(typed.chunked.type) == "integers"

    def reduce(
        self,
        names: Sequence[str],
        text: Sequence[str],
        summarise: Callable[[Batch], S],
        merge: Callable[[S, S], S],
    ) -> S:
        """Summarise every batch of some columns, and merge the summaries, as `Source.reduce` does.

        The columns of a file of text are text if they are named so, and numbers if not.
        """
        form = self._form
        compare(self._labels)
        beside = {name: self._beside[name] for name in names if name in self._beside}
        own = [name for name in dict.fromkeys(names) if name not in beside]
        if not isinstance(form, Named):
            return self._of_files(form.store, own, frozenset(text), beside, summarise, merge)
        columns, rows = {name: form.columns[name] for name in own} | beside, self.length
        if rows is None:
            refuse_columns()
        for column in beside.values():
            if _length(column) != rows:
                refuse_beside()

        def chunks(start: int, stop: int) -> Iterator[Batch]:
            for at in range(start, max(stop, start + 1), ROWS):
                end = min(at + ROWS, stop)
                pieces = columns
                if end - at < rows:
                    pieces = {name: column.cut(at, end) for name, column in columns.items()}
                yield Batch(at, end - at, pieces)

        return in_parts(rows, split(rows), chunks, summarise, merge)

    def _of_files(
        self,
        store: Store,
        names: list[str],
        text: frozenset[str],
        beside: Mapping[str, Piece],
        summarise: Callable[[Batch], S],
        merge: Callable[[S, S], S],
    ) -> S:
        assert isinstance(store, Reader)
        seen = 0
        kinds = {name: store.typed(name, True) for name in text.intersection(names)}

        def convert(start: int, pieces: Sequence[Piece]) -> Iterator[Batch]:
            for at in range(0, max(1, pieces[0].length), ROWS):
                rows = min(ROWS, pieces[0].length - at)
                columns = {
                    name: _piece(piece.cut(at, at + rows), kinds.get(name))
                    for name, piece in zip(names, pieces, strict=True)
                }
                yield Batch(start + at, rows, columns)

        def summed(batch: Batch) -> S:
            nonlocal seen
            seen += batch.rows
            end = batch.start + batch.rows
            if any(_length(column) < end for column in beside.values()):
                refuse_beside()
            more = {name: column.cut(batch.start, end) for name, column in beside.items()}
            return summarise(Batch(batch.start, batch.rows, {**batch.columns, **more}))

        want = Want(tuple(names), frozenset(kinds), frozenset(kinds))
        total = store.reduce(want, convert, summed, merge, ROWS)
        if any(_length(column) != seen for column in beside.values()):
            refuse_beside()
        return total


def refuse_beside() -> None:
    """Raise the error of entries that are not as many as the rows, whose number may be private."""
    raise DataError("there must be one entry of ids or where for each row, and there is not")


def numbers(piece: Piece) -> NDArray[Any]:
    """Return the numbers of a piece in a dtype that kernels read.

    They stay where they are if they can; else they are float64, NaN where one is missing.
    """
    if isinstance(piece, Values) and piece.mask is None and piece.array.ndim == 1:
        array = piece.array.view(np.uint8) if piece.array.dtype.kind == "b" else piece.array
        native = native_dtype(array.dtype)
        if native is not None and not isinstance(piece.given, np.ma.MaskedArray):
            found = in_place(array, native)
            return np.ascontiguousarray(array, native) if found is None else found
    if isinstance(piece, Arrow) and piece.chunked.num_chunks == 1:
        chunk = piece.chunked.chunk(0)
        if not chunk.null_count and chunk.type == "double":
            values: NDArray[Any] = np.require(chunk.to_numpy(), requirements="A")
            return values
    column = piece.column("data", "numbers")
    out = np.empty(column.length, F8)
    column.fill(0, column.length, out)
    return out


def _length(piece: Piece, name: str = "data") -> int:
    """Return how many rows a column has; refuse an array of several dimensions."""
    if isinstance(piece, Values) and piece.array.ndim != 1:
        checks.fail_kind(name, "one-dimensional, with one entry for each row", piece.given)
    return piece.length


def _type_of(piece: Piece) -> Any:
    """Return all that a column is without its rows."""
    if not isinstance(piece, Values):
        return piece.chunked.type if isinstance(piece, Arrow) else None
    is_masked = piece.mask is not None or isinstance(piece.given, np.ma.MaskedArray)
    return piece.array.dtype, is_masked, piece.aware


def _of_type(kind: Any) -> Piece:
    """Return a column of a type without rows."""
    if kind is None:
        return Objects([])
    if not isinstance(kind, tuple):
        import pyarrow as pa

        return Arrow(pa.chunked_array([], kind))
    dtype, is_masked, is_aware = kind
    array = np.empty(0, dtype)
    if is_masked:
        return Values(array, np.ma.MaskedArray(array), np.zeros(0, np.bool_), is_aware)
    return Values(array, array, None, is_aware)


@remembered
def _of_types(types: tuple[tuple[str, Any], ...], beside: tuple[tuple[str, Any], ...]) -> Batches:
    columns = {name: _of_type(kind) for name, kind in types}
    return Batches(Named(columns, columns), {name: _of_type(kind) for name, kind in beside})


def _piece(piece: Piece, typed: Piece | None) -> Piece:
    """Return a column as a reader makes it; cells of a file of text are read as their own type."""
    import pyarrow as pa

    is_text = isinstance(typed, Arrow) and typed.chunked.type == pa.string()
    if is_text and isinstance(piece, Arrow) and pa.types.is_binary(piece.chunked.type):
        return Arrow.of(piece.array.view(pa.string()))
    return piece
