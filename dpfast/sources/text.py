"""Comma- or tab-separated text, compressed or not, streamed through pyarrow's parser.

A column of text has no declared type. Guessing it from the rows would make the type, and errors
about it, depend on the data, so what a call asks for decides: where it wants numbers, a cell is a
float64, missing, or a `DataError`; where its categories are text, cells are text.

The header is the first line that is not empty, and no more: a name that goes on in the next line
is refused, for without its closing quote it would go on through the rows. It is taken apart here.

How a row is read depends on no other row. pyarrow's reader keeps something from one block of bytes
to the next, so it is never shown two: the file is cut after whole records, and each block of them
is parsed alone. Columns are read by their places; names are labels.
"""

from __future__ import annotations

import codecs
import re
import zipfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from .._kernels.sources import records
from ..errors import DataError, SourceError
from .arrow import Numbers, guarded, opening
from .columns import Want
from .files import Reader, Rowed
from .forms import Arrow
from .pick import Pick, labels
from .threads import decoders

#: Cells that stand for "no value", as R, pandas, SQL tools and spreadsheets write them.
MISSING = (
    "", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan",
    "NULL", "Null", "null", "None", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND",
)  # fmt: skip
#: Endings of compressed files, and what pyarrow calls them.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".zip": "zip"}
#: Bytes of a header, line break included, at most.
HEADER = 1 << 19
#: Bytes read at a time, and about as many are parsed by each thread.
BLOCK = 1 << 20
#: Bytes of a row, at most: an open quote makes one of all that follows.
LONGEST = 1 << 26
#: A quoted name, in which a quote is written twice.
QUOTED = re.compile(r'"((?:[^"]|"")*)"(?!")')


class TextReader(Reader):
    """A text table with a header line. Numbers are float64; ids are the bytes of their cells."""

    missing = frozenset(MISSING)

    def __init__(
        self, path: Path, delimiter: str, compression: str | None, quotes: bool = True
    ) -> None:
        self._path = path
        self._delimiter = delimiter
        self._compression = compression
        self._quotes = quotes
        line, self._start = opening(path, "a table of text", self._read_header)
        self._names = labels(_names(line, delimiter, path, quotes))
        self._team = decoders()  # asked now, for a bad setting must show before a spend
        super().__init__([path], None)

    def find(self, pick: Pick) -> str:
        return pick(self._names, self._path)

    def identity(self) -> list[tuple[str, int, int]]:
        return super().identity() + ([] if self._quotes else [("without quotes", 0, 0)])

    def numbers(self, name: str) -> Numbers:
        return Numbers(np.dtype(np.float64), None)

    @property
    def names(self) -> Sequence[str]:
        return self._names

    def may_have_nulls(self, name: str) -> bool:
        return True

    def holds_text(self, name: str) -> bool:
        """No column is text until a call has categories for it."""
        return False

    def ids(self, name: str) -> None:
        """Every text is an id."""

    def typed(self, name: str, is_text: bool = False) -> Arrow:
        import pyarrow as pa

        return Arrow(pa.chunked_array([], pa.string() if is_text else pa.float64()))

    @contextmanager
    def _bytes(self) -> Iterator[Callable[[int], Any]]:
        """Yield what reads so many of the bytes that come next."""
        import pyarrow as pa

        with ExitStack() as held:
            if self._compression == "zip":
                archive = held.enter_context(zipfile.ZipFile(self._path))
                member = held.enter_context(archive.open(_only_member(archive, self._path)))
                yield member.read  # as it is: what pyarrow wraps keeps each block that fails
            else:
                file = held.enter_context(pa.OSFile(str(self._path)))
                if self._compression is not None:
                    file = held.enter_context(pa.CompressedInputStream(file, self._compression))
                yield file.read_buffer  # `read` keeps each block that fails

    def _read_header(self) -> tuple[bytes, int]:
        with self._bytes() as read:
            return _first_line(bytes(read(HEADER)), self._path)

    def _blocks(self) -> Generator[_Block]:
        """Yield whole records of the file, in their order."""
        start, rest, one = 0, b"\n", len(self._names) == 1
        with self._bytes() as read:
            read(self._start)
            more = b"\n"
            while more and len(rest) <= LONGEST:
                more = read(max(BLOCK, len(rest)))
                block = b"".join((rest, more))
                end, rows = records(block, ord(self._delimiter), self._quotes, one, not more)
                rows -= one  # the line break before them
                if rows:
                    yield _Block(start, rows, memoryview(block)[:end])
                start += rows
                rest = b"\n" + block[end:]
        if len(rest) > 1:
            raise DataError(
                f"{self._path.name} has a quote that is not closed, or a row of over "
                f"{LONGEST >> 20} megabytes"
            )

    def _parser(self, want: Want) -> Callable[[_Block], Any]:
        """Return what makes a table of a block, whose columns are called by their places."""
        import pyarrow as pa
        from pyarrow import csv

        places = [str(self._names.index(name)) for name in want.names]
        kinds = [pa.binary() if name in want.text else pa.float64() for name in want.names]
        options = (
            csv.ReadOptions(
                use_threads=False,
                block_size=4 * LONGEST,  # so that it is one
                column_names=[str(place) for place in range(len(self._names))],
                skip_rows=1,  # the line break, before which it would look for a byte order mark
            ),
            csv.ParseOptions(
                delimiter=self._delimiter,
                quote_char='"' if self._quotes else False,
                newlines_in_values=self._quotes,
                # of one column it is a row whose only cell is empty
                ignore_empty_lines=len(self._names) > 1,
            ),
            csv.ConvertOptions(
                null_values=MISSING,
                strings_can_be_null=True,
                include_columns=places,
                column_types=dict(zip(places, kinds, strict=True)),
            ),
        )
        return lambda block: csv.read_csv(pa.BufferReader(block.data), *options)

    def batches(
        self, want: Want, rows: int, workers: int | None = None
    ) -> Sequence[Generator[Rowed]]:
        blocks, turn, parse = self._blocks(), Lock(), self._parser(want)
        size = self._seen[0][2]
        team = min(self._team if workers is None else workers, 1 + size // BLOCK)
        return [guarded(self._path, self._pieces(blocks, turn, parse, want)) for _ in range(team)]

    def _pieces(
        self,
        blocks: Generator[_Block],
        turn: Lock,
        parse: Callable[[_Block], Any],
        want: Want,
    ) -> Iterator[Rowed]:
        """Yield the blocks that are left; several share them in turn."""
        import pyarrow as pa

        try:
            while True:
                with turn:
                    block = next(blocks, None)
                if block is None:
                    return
                table = parse(block)
                if table.num_rows != block.rows:
                    break
                for batch in table.to_batches():
                    yield block.start, list(map(Arrow.of, batch.columns))
        except pa.ArrowInvalid:
            pass  # its message quotes the row, so it must not survive, not even as a context
        finally:
            with turn:
                blocks.close()
        numbers = [name for name in want.names if name not in want.text] or want.names
        plural = "s" if len(numbers) > 1 else ""
        raise DataError(
            f"column{plural} {', '.join(map(repr, numbers))} of {self._path.name} "
            f"hold{'' if plural else 's'} a cell that is neither a number "
            "nor a missing value, or a row has too few or too many cells"
        )


class _Block(NamedTuple):
    """Whole records after a line break, and which rows they are."""

    start: int
    rows: int
    data: memoryview


def _first_line(block: bytes, path: Path) -> tuple[bytes, int]:
    """Return the first line that is not empty of a file, and the byte where the next one begins.

    `block` is what the file begins with, or all of it.
    """
    mark = len(codecs.BOM_UTF8) if block.startswith(codecs.BOM_UTF8) else 0
    found = re.compile(rb"[\r\n]*([^\r\n]*)(\r?\n?)").match(block, mark)
    assert found is not None
    if found.end() == len(block) >= HEADER:
        raise SourceError(
            f"the header of {path.name} must be one line of less than {HEADER:,} bytes, got a "
            "longer one"
        )
    if not found[1]:
        raise SourceError(f"{path.name} must begin with a header line, got an empty file")
    return found[1], found.end()


def _names(line: bytes, delimiter: str, path: Path, quotes: bool = True) -> list[str]:
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
        if quotes and text.startswith('"', at):
            match = QUOTED.match(text, at)
            if match is None:
                raise SourceError(
                    f"the header of {path.name} must be one line, got a quoted name in it "
                    "that does not end there"
                )
            name, at = match[1].replace('""', '"'), match.end()
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
