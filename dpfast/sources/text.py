"""Comma- or tab-separated text, compressed or not, streamed through pyarrow's parser.

A column of text has no declared type. Guessing it from the rows would make the type, and errors
about it, depend on the data, so the rule is fixed: a cell is a float64, missing, or a `DataError`.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..errors import DataError, SourceError
from ._pick import Pick
from .array import Numbers
from .arrow import Convert, Reader, Want, guarded, opening

__all__ = ["COMPRESSIONS", "MISSING", "TextReader"]

T = TypeVar("T")

#: Cells that stand for "no value", as R, pandas, SQL tools and spreadsheets write them.
MISSING = (
    "", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan",
    "NULL", "Null", "null", "None", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND",
)  # fmt: skip
#: Endings of compressed files, and what pyarrow calls them.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".zip": "zip"}
#: Bytes parsed at a time; the longest row must fit. pyarrow reads some tens of them ahead.
BLOCK = 1 << 19


class TextReader(Reader):
    """A text table with a header line. Numbers are float64; ids are the bytes of their cells."""

    def __init__(self, path: Path, delimiter: str, compression: str | None) -> None:
        self._path = path
        self._delimiter = delimiter
        self._compression = compression
        self._above = 0
        self._is_alone = False
        self._names, self._first = opening(path, "a table of text", self._header)
        super().__init__([path], None)

    def find(self, pick: Pick) -> str:
        return pick(self._names, self._path)

    def numbers(self, name: str) -> Numbers:
        if self.holds_text(name):
            raise SourceError(
                f"column {name!r} of {self._path.name} must hold numbers, but its first rows "
                "hold text only"
            )
        return Numbers(np.dtype(np.float64), None)

    def may_have_nulls(self, name: str) -> bool:
        return True

    def holds_text(self, name: str) -> bool:
        """Whether its first rows hold text only, which is held to be public."""
        if self._first is None:
            return False
        return _only_text(self._first.column(self._names.index(name)))

    def text(self, name: str) -> None:
        """Cells are text before they are anything else."""

    def ids(self, name: str) -> None:
        """Every text is an id."""

    @contextmanager
    def _bytes(self) -> Iterator[Any]:
        import pyarrow as pa

        with ExitStack() as held:
            if self._compression == "zip":
                archive = held.enter_context(zipfile.ZipFile(self._path))
                member = held.enter_context(archive.open(_only_member(archive, self._path)))
                yield pa.PythonFile(member, mode="r")
            else:
                file = held.enter_context(pa.OSFile(str(self._path)))
                if self._compression is not None:
                    file = held.enter_context(pa.CompressedInputStream(file, self._compression))
                yield file

    def _reader(self, data: Any, **convert: Any) -> Any:
        from pyarrow import csv

        return csv.open_csv(
            data,
            csv.ReadOptions(block_size=BLOCK, skip_rows=self._above),
            csv.ParseOptions(
                delimiter=self._delimiter,
                newlines_in_values=True,
                ignore_empty_lines=not self._is_alone,
            ),
            csv.ConvertOptions(null_values=MISSING, strings_can_be_null=True, **convert),
        )

    def _header(self) -> tuple[list[str], Any]:
        """Column names, and the first rows as text; None when there are no rows."""
        import pyarrow as pa

        with self._bytes() as data:
            line = _first_line(data.read(BLOCK))
        # Of the header alone, so that no row decides whether the names can be read.
        names: list[str] = list(self._reader(pa.BufferReader(line)).schema.names)
        if len(set(names)) < len(names):
            return names, None
        if len(names) == 1:  # an empty line is a row whose only cell is empty
            self._is_alone = True
            self._above = _empty_lines(line)
        kinds = dict.fromkeys(names, pa.binary())
        try:
            with self._bytes() as data:
                reader = self._reader(data, column_types=kinds, check_utf8=False)
                return names, next(iter(reader), None)
        except pa.ArrowInvalid:
            return names, None  # a bad row: that is an answer, which the pass gives after the spend

    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        return [guarded(self._path, self._pieces(want, convert))]

    def _pieces(self, want: Want, convert: Convert[T]) -> Iterator[T]:
        import pyarrow as pa

        text = {want.ids, *want.text}
        kinds = {name: pa.binary() if name in text else pa.float64() for name in want.names}
        at = 0
        try:
            with self._bytes() as data:
                for batch in self._reader(
                    data, include_columns=list(want.names), column_types=kinds
                ):
                    yield from convert(at, batch.columns)
                    at += batch.num_rows
            return
        except pa.ArrowInvalid:
            pass  # its message quotes the row, so it must not survive, not even as a context
        plural = "s" if len(want.numbers) > 1 else ""
        raise DataError(
            f"column{plural} {', '.join(map(repr, want.numbers))} of {self._path.name} "
            f"hold{'' if plural else 's'} a cell that is neither a number "
            "nor a missing value, or a row has too few or too many cells. This answer depends on "
            "the data: what was spent stays spent"
        )


def _first_line(block: bytes) -> bytes:
    """The first line of `block` that is not empty; a line break between quotes does not end it."""
    quoted = False
    for found in re.finditer(rb'["\r\n]', block):
        if found[0] == b'"':
            quoted = not quoted
        elif not quoted and block[: found.start()].strip(b"\r\n"):
            return block[: found.end()]
    return block


def _empty_lines(block: bytes) -> int:
    """How many empty lines `block` begins with."""
    start = len(block) - len(block.lstrip(b"\r\n"))
    return len(re.findall(rb"\r\n|\r|\n", block[:start]))


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [
        m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX")
    ]
    if len(members) != 1:
        raise SourceError(f"{path.name} must hold exactly one file, got {len(members)}")
    if members[0].flag_bits & 1:
        raise SourceError(f"{path.name} must not be encrypted")
    return members[0]


def _only_text(cells: Any) -> bool:
    """Whether there are cells that are not missing, and none of them is a number."""
    if len(cells) == cells.null_count:
        return False
    return not any(map(_is_number, cells.drop_null()))


def _is_number(cell: Any) -> bool:
    try:
        float(cell.as_py())
    except ValueError:
        return False
    return True
