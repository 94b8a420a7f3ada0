"""NumPy's own format, memory-mapped: an array in a file is read like an array in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ArgumentTypeError, SourceError
from ._base import Source, chunk_dtype
from ._columns import as_column
from ._ids import as_ids, no_column
from ._memory import MemoryRows
from ._pick import Pick, distinct, picker
from ._rows import RowSource, Table, Text, WithRows
from .array import ArraySource
from .table import table_rows
from .words import Words, matched

__all__ = ["holds_text", "npy_columns", "npy_numbers", "npy_source"]


def _mapped(path: Path) -> NDArray[Any]:
    """The array of a file, mapped; an empty one, which cannot be, is read."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:
        # NumPy evaluates the header, so a damaged one may raise nearly anything.
        try:
            with path.open("rb") as file:
                version = np.lib.format.read_magic(file)
                read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                    version, np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = read(file)
                if 0 in shape and not dtype.hasobject:
                    return np.empty(shape, dtype)
        except Exception:
            pass
        raise SourceError(f"{path.name} cannot be read as .npy: {error}") from None
    if not isinstance(array, np.ndarray):
        raise SourceError(f"{path.name} is an archive of arrays (.npz), not one array")
    return array


class NpySource(ArraySource, WithRows):
    """One column of a file, which remembers the others."""

    __slots__ = ("columns", "name", "path")

    def __init__(self, columns: dict[str, NDArray[Any]], name: str, path: Path) -> None:
        super().__init__(npy_numbers(columns[name], path), name=path.name)
        self.columns = columns
        self.name = name
        self.path = path

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        column = as_column(self.array, self.name, "numbers")
        if isinstance(ids, str):
            others = {name: some for name, some in self.columns.items() if name != self.name}
            ids = others[ids] if ids in others else no_column(ids, others)
        return MemoryRows(column, None if ids is None else as_ids(ids), workers)

    def beside(self, column: str) -> Table:
        name = picker(column)(list(self.columns), self.path)
        return NpyTable(self.columns, distinct([self.name, name]), self.path)

    def coded(self, words: Sequence[Words | None]) -> RowSource:
        return NpyTable(self.columns, [self.name], self.path).coded(words)


class NpyTable(Table):
    """Some columns of a file."""

    def __init__(self, columns: dict[str, NDArray[Any]], names: list[str], path: Path) -> None:
        self.columns = columns
        self.path = path
        self.names = tuple(names)
        self.length = len(next(iter(columns.values())))
        for name in names:
            if not holds_text(columns[name]):  # what that is good for is for a release to say
                npy_numbers(columns[name], path)

    def rows(self, ids: Any = None, workers: int | None = None) -> RowSource:
        chosen = {name: self.columns[name] for name in self.names if name != ids}
        for column in chosen.values():
            npy_numbers(column, self.path)
        if isinstance(ids, str):
            ids = self.columns[ids] if ids in self.columns else no_column(ids, self.columns)
        return table_rows(chosen, ids, workers, "data")

    def beside(self, column: str) -> Table:
        name = picker(column)(list(self.columns), self.path)
        return NpyTable(self.columns, [*(n for n in self.names if n != name), name], self.path)

    def columns_alone(self) -> list[Source]:
        return [NpySource(self.columns, name, self.path) for name in self.names]

    def coded(self, words: Sequence[Words | None]) -> RowSource:
        chosen = {name: self.columns[name] for name in self.names}
        coded = matched(self.names, words)
        for name, column in chosen.items():
            if name not in coded:
                npy_numbers(column, self.path)
            elif not holds_text(column):
                raise SourceError(
                    f"{self.path.name} must hold text in column {name!r}, for it has categories "
                    f"that are text, got {column.dtype}"
                )
        return table_rows(chosen, None, None, "data", coded)


def holds_text(array: NDArray[Any]) -> bool:
    """Whether a column is one of text."""
    return array.ndim == 1 and array.dtype.kind in "US"


def npy_columns(path: Path) -> dict[str, NDArray[Any]]:
    """The columns of a file by name: of records by field, of a matrix by place."""
    array = _mapped(path)
    if array.dtype.names is not None and array.ndim == 1:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim == 2:
        return {str(number): array[:, number] for number in range(array.shape[1])}
    if array.ndim == 1:
        return {"0": array}
    raise SourceError(
        f"{path.name} must hold an array of one or two dimensions, got shape {array.shape}"
    )


def npy_source(path: Path, pick: Pick | list[Pick]) -> NpySource | NpyTable | Text:
    """The columns of a table, the fields of records, or the one column of a flat array."""
    columns = npy_columns(path)
    names = list(columns)
    if isinstance(pick, list):
        return NpyTable(columns, distinct([one(names, path) for one in pick]), path)
    name = pick(names, path)
    if holds_text(columns[name]):
        return Text(NpyTable(columns, [name], path))
    return NpySource(columns, name, path)


def npy_numbers(array: NDArray[Any], path: Path) -> NDArray[Any]:
    """The array of a column, once it is known to hold one number a row."""
    try:
        chunk_dtype(array.dtype)
    except ArgumentTypeError:
        raise SourceError(
            f"{path.name} must hold integers, floats or booleans, got {array.dtype}"
        ) from None
    if array.ndim != 1:
        raise SourceError(f"{path.name} must hold one number a row in each of its columns")
    return array
