"""Comma- or tab-separated text, compressed or not, streamed through pyarrow's parser.

A column of text has no declared type. Guessing it from the rows would make the type, and errors
about it, depend on the data, so what a call asks for decides: where it wants numbers, a cell is a
float64, missing, or a `DataError`; where its categories are text, cells are text.

The header is the first line that is not empty, and no more: a name that goes on in the next line
is refused, for without its closing quote it would go on through the rows. It is taken apart here;
pyarrow is shown what follows it.
"""

from __future__ import annotations

import codecs
import re
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import DataError, SourceError
from .arrow import Numbers, guarded, opening
from .files import Convert, Reader, Want
from .forms import Arrow
from .pick import Pick

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
#: A quoted name, in which a quote is written twice.
QUOTED = re.compile(r'"((?:[^"]|"")*)"(?!")')


class TextReader(Reader):
    """A text table with a header line. Numbers are float64; ids are the bytes of their cells."""

    missing = frozenset(MISSING)

    def __init__(self, path: Path, delimiter: str, compression: str | None) -> None:
        self._path = path
        self._delimiter = delimiter
        self._compression = compression
        self._header = opening(path, "a table of text", self._read_header)
        self._names = _names(self._header.line, delimiter, path)
        super().__init__([path], None)

    def find(self, pick: Pick) -> str:
        return pick(self._names, self._path)

    def numbers(self, name: str) -> Numbers:
        return Numbers(np.dtype(np.float64), None)

    def may_have_nulls(self, name: str) -> bool:
        return True

    def holds_text(self, name: str) -> bool:
        """No column is text until a call has categories for it."""
        return False

    def text(self, name: str) -> None:
        """Cells are text before they are anything else."""

    def ids(self, name: str) -> None:
        """Every text is an id."""

    def typed(self, name: str, is_text: bool) -> Arrow:
        import pyarrow as pa

        return Arrow(pa.chunked_array([], pa.string() if is_text else pa.float64()))

    @contextmanager
    def _bytes(self) -> Iterator[Any]:
        import pyarrow as pa

        with ExitStack() as held:
            if self._compression == "zip":
                archive = held.enter_context(zipfile.ZipFile(self._path))
                member = held.enter_context(archive.open(_only_member(archive, self._path)))
                yield member  # as it is: what pyarrow wraps keeps each block that fails
            else:
                file = held.enter_context(pa.OSFile(str(self._path)))
                if self._compression is not None:
                    file = held.enter_context(pa.CompressedInputStream(file, self._compression))
                yield file

    def _read_header(self) -> _Header:
        with self._bytes() as data:
            return _first_line(data.read(BLOCK), self._path)

    def _batches(self, want: Want) -> Iterator[Any]:
        """Yield the rows, whose columns are called by their places."""
        import pyarrow as pa
        from pyarrow import csv

        if self._header.is_last:
            return
        place = {name: str(i) for i, name in enumerate(self._names)}
        text = {want.ids, *want.text}
        kinds = {place[n]: pa.binary() if n in text else pa.float64() for n in want.names}
        with self._bytes() as data:
            data.read(self._header.end)
            yield from csv.open_csv(
                data,
                csv.ReadOptions(
                    block_size=BLOCK,
                    column_names=list(place.values()),
                    skip_rows=1,  # what is left of the header: its line break
                ),
                csv.ParseOptions(
                    delimiter=self._delimiter,
                    newlines_in_values=True,
                    # of one column it is a row whose only cell is empty
                    ignore_empty_lines=len(self._names) > 1,
                ),
                csv.ConvertOptions(
                    null_values=MISSING,
                    strings_can_be_null=True,
                    include_columns=[place[name] for name in want.names],
                    column_types=kinds,
                ),
            )

    def makers(
        self, want: Want, rows: int, convert: Convert[T], workers: int | None = None
    ) -> Sequence[Generator[T]]:
        return [guarded(self._path, self._pieces(want, convert))]

    def _pieces(self, want: Want, convert: Convert[T]) -> Iterator[T]:
        import pyarrow as pa

        at = 0
        try:
            for batch in self._batches(want):
                yield from convert(at, batch.columns)
                at += batch.num_rows
            return
        except pa.ArrowInvalid:
            pass  # its message quotes the row, so it must not survive, not even as a context
        plural = "s" if len(want.numbers) > 1 else ""
        raise DataError(
            f"column{plural} {', '.join(map(repr, want.numbers))} of {self._path.name} "
            f"hold{'' if plural else 's'} a cell that is neither a number "
            "nor a missing value, or a row has too few or too many cells"
        )


class _Header(NamedTuple):
    """The line of the names, the byte where it ends, and whether the file ends there."""

    line: bytes
    end: int
    is_last: bool


def _first_line(block: bytes, path: Path) -> _Header:
    """Return the first line that is not empty of a file that begins with `block`."""
    mark = len(codecs.BOM_UTF8) if block.startswith(codecs.BOM_UTF8) else 0
    start = len(block) - len(block[mark:].lstrip(b"\r\n"))
    found = re.search(rb"[\r\n]", block[start:])
    end = start + found.start() if found else len(block)
    line = block[start:end]
    if end == len(block) >= BLOCK:
        raise SourceError(
            f"the header of {path.name} must be one line of less than {BLOCK:,} bytes, got a "
            "longer one"
        )
    if not line:
        raise SourceError(f"{path.name} must begin with a header line, got an empty file")
    return _Header(line, end, end == len(block))


def _names(line: bytes, delimiter: str, path: Path) -> list[str]:
    """Return the cells of a line, in which quotes count only where a cell begins with one."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise SourceError(f"{path.name} cannot be read as a table of text: its names are not UTF-8")
    names, at = [], 0
    while True:
        name = ""
        if text.startswith('"', at):
            quoted = QUOTED.match(text, at)
            if quoted is None:
                raise SourceError(
                    f"the header of {path.name} must be one line, got a quoted name in it "
                    "that does not end there"
                )
            name, at = quoted[1].replace('""', '"'), quoted.end()
        stop = text.find(delimiter, at)
        names.append(name + (text[at:] if stop < 0 else text[at:stop]))
        if stop < 0:
            return names
        at = stop + 1


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [
        m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX")
    ]
    if len(members) != 1:
        raise SourceError(f"{path.name} must hold exactly one file, got {len(members)}")
    if members[0].flag_bits & 1:
        raise SourceError(f"{path.name} must not be encrypted")
    return members[0]
