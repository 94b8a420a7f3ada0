"""Read comma- or tab-separated text, compressed or not, with pyarrow's parser.

A column of a text file has no declared type. A type that is guessed from the rows would depend on
the data, and so would errors about it. So the call decides. If it needs numbers, a cell is a
float64, or missing, or a `DataError`. If its categories are text, cells are text.

The header is the first line that is not empty. A name in quotes that continues in the next line is
refused: without its closing quote, it would continue through the rows. The header is parsed here.

No row changes how another row is read. pyarrow's reader carries state from one block of bytes to
the next, so it never gets two blocks. The file is cut after whole records, and each block of
records is parsed alone. Columns are read by their index; names are only labels.
"""

from __future__ import annotations

import codecs
import csv
import re
import zipfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from .._kernels.tables import records
from ..errors import DataError, SourceError
from .arrow import guarded, opening
from .columns import Want
from .dataset import stamps
from .files import Reader, Rowed
from .forms import Arrow, MemoryColumn
from .pick import labels, same_column
from .public_values import CellTexts
from .text_format import TextFormat
from .threads import decoders

#: The most bytes of a header with its line break.
HEADER = 1 << 19
#: Bytes that are read at a time, and about as many as each thread parses.
BLOCK = 1 << 20
#: The most bytes of a row. A quote that is not closed makes one row of everything that follows.
LONGEST = 1 << 26
#: What errors say of the bytes after the last complete record.
OPEN = f"has a quote that is not closed, or a row of over {LONGEST >> 20} megabytes"
LINE_END = re.compile(rb"\r\n?|\n")


class TextReader(Reader):
    """A reader of text files with a header line, read one after the other as one table.

    Numbers are float64, columns of dates are as `text_format` declares them, and all other columns
    are text.
    """

    def __init__(
        self,
        files: Sequence[tuple[Path, str | None]],
        delimiter: str,
        format: TextFormat,
        system: Any = None,
    ) -> None:
        self._system = system  # pyarrow's file system for remote files
        self._declared = str(format.declared) if format.declared else None
        self.format = replace(format, delimiter=format.delimiter or delimiter)
        self.files = [self._opened(path, compression) for path, compression in files]
        self._team = decoders()  # called now, so that a bad setting raises before anything is spent
        super().__init__([file.path for file in self.files], None)
        for name in self.format.dates:
            self.find(name)

    def _opened(self, path: Path, compression: str | None) -> TextFile:
        """Return a text file after reading its header."""
        format = self.format

        def header() -> tuple[bytes, bytes, int]:
            with _bytes(path, compression, self._system) as read:
                block = bytes(format.reading(read)(HEADER))
            return block, *_first_line(block, path)

        block, line, start = opening(path, "a table of text", header)
        names = labels(_names(line, format, path))
        return TextFile(path, compression, names, start, line_ends(block[:start]))

    def find(self, column: str | int | None) -> str:
        return same_column(column, [(file.names, file.path) for file in self.files])

    def identity(self) -> list[tuple[str, int, int]]:
        files = super().identity()
        if self._system is not None:
            pairs = zip(self.paths, self._seen, strict=True)
            files = [(str(path), size, changed) for path, (_, _, size, changed) in pairs]
        return files + ([] if self._declared is None else [(self._declared, 0, 0)])

    def _stamped(self) -> list[tuple[int, int, int, int]]:
        if self._system is None:
            return super()._stamped()
        stamps_now = stamps(self._system, [str(path) for path in self.paths])
        return [(0, 0, size or 0, changed or 0) for _, size, changed in stamps_now]

    def _kind(self, name: str) -> Any:
        import pyarrow as pa

        return self.format.kind(name) or pa.float64()

    @property
    def names(self) -> Sequence[str]:
        return self.files[0].names

    def may_have_nulls(self, name: str) -> bool:
        return True

    def cells(self, name: str) -> CellTexts | None:
        return None if name in self.format.dates else self.format.cells

    def typed(self, name: str, is_text: bool = False) -> Arrow:
        import pyarrow as pa

        is_cell = is_text and name not in self.format.dates
        return Arrow(pa.chunked_array([], pa.string() if is_cell else self._kind(name)))

    def numbers_of(self, name: str, column: MemoryColumn) -> MemoryColumn:
        import pyarrow as pa

        if not isinstance(column, Arrow) or column.chunked.type != pa.string():
            return column
        try:
            return Arrow.of(self.format.numbers(column.array))
        except ValueError:
            # The message quotes the row, so the error must not even be the context of another one.
            pass
        raise self._wrong(self.paths[0], Want((name,)))

    def _wrong(self, path: Path, want: Want) -> DataError:
        """Return the error that a cell or a row cannot be read, without its contents."""
        kinds = dict.fromkeys(
            "a date in its format"
            if name in self.format.dates
            else f"text in {self.format.encoding.upper()}"
            if name in want.text
            else "a number"
            for name in want.names
        )
        plural = "s" if len(want.names) > 1 else ""
        return DataError(
            f"column{plural} {', '.join(map(repr, want.names))} of {path.name} "
            f"hold{'' if plural else 's'} a cell that is neither {', '.join(kinds)} "
            "nor a missing value, or a row has too few or too many cells; `dpfast check` shows "
            "where"
        )

    def _blocks(self) -> Generator[_Block]:
        """Yield blocks of whole records of all files, in their order."""
        start = 0
        for number, file in enumerate(self.files):
            for rows, data in self.records_of(file):
                if rows > 0:
                    yield _Block(number, start, rows, data)
                    start += rows

    def records_of(self, file: TextFile) -> Iterator[tuple[int, memoryview]]:
        """Yield blocks of whole records after a line break, each with its number of records."""
        unread, is_single, format = b"\n", len(file.names) == 1, self.format
        delimiter = ord(format.delimiter)
        with _bytes(file.path, file.compression, self._system) as raw:
            read = format.reading(raw)
            read(file.start)
            more = b"\n"
            while more and len(unread) <= LONGEST:
                more = read(max(BLOCK, len(unread)))
                block = b"".join((unread, more))
                end, rows = records(block, delimiter, format.quotes, is_single, not more)
                yield (
                    rows - is_single,
                    memoryview(block)[:end],
                )  # the line break before the records is not counted
                unread = b"\n" + block[end:]
        if len(unread) > 1:
            raise DataError(f"{file.path.name} {OPEN}")

    def parser(
        self, file: TextFile, kinds: Mapping[str, Any], skip: Callable[[Any], str] | None = None
    ) -> Callable[[memoryview], Any]:
        """Return a parser of whole records after a line break, to columns of the types `kinds`.

        pyarrow calls `skip` with each row that has too few or too many cells.
        """
        import pyarrow as pa
        from pyarrow import csv

        format = self.format
        labels_of_columns = [
            str(file.names.index(name)) for name in kinds
        ]  # columns are named by their number
        options = (
            csv.ReadOptions(
                use_threads=False,
                block_size=4 * LONGEST,  # so large that all records are in one block
                column_names=[str(index) for index in range(len(file.names))],
                # Skips the line break, which keeps pyarrow from looking for a byte order mark.
                skip_rows=1,
            ),
            csv.ParseOptions(
                delimiter=format.delimiter,
                quote_char='"' if format.quotes else False,
                newlines_in_values=format.quotes,
                # With a single column, an empty line is a row.
                ignore_empty_lines=len(file.names) > 1,
                invalid_row_handler=skip,
            ),
            csv.ConvertOptions(
                null_values=format.missing,
                strings_can_be_null=True,
                decimal_point=format.decimal,
                include_columns=labels_of_columns,
                column_types=dict(zip(labels_of_columns, kinds.values(), strict=True)),
            ),
        )
        return lambda data: csv.read_csv(pa.BufferReader(data), *options)

    def _convert(self, name: str, want: Want) -> Callable[[Any], Any] | None:
        """Return a converter of text cells to a column, if pyarrow's parser cannot read it."""
        if name in self.format.dates:
            return lambda cells: self.format.times(cells, name)
        return None if name in want.text or self.format.is_plain else self.format.numbers

    def batches(
        self, want: Want, rows: int, workers: int | None = None
    ) -> Sequence[Generator[Rowed]]:
        blocks, turn = self._blocks(), Lock()
        size = sum(size for _, _, size, _ in self._seen)
        team = min(self._team if workers is None else workers, 1 + size // BLOCK)
        return [guarded(self.paths[0], self._row_batches(blocks, turn, want)) for _ in range(team)]

    def _row_batches(self, blocks: Generator[_Block], turn: Lock, want: Want) -> Iterator[Rowed]:
        """Yield the columns of blocks taken from `blocks`, which several threads share."""
        import pyarrow as pa

        converts = {name: self._convert(name, want) for name in want.names}
        kinds = {
            name: pa.string() if name in want.text or convert else pa.float64()
            for name, convert in converts.items()
        }
        parsers = [self.parser(file, kinds) for file in self.files]
        path = self.paths[0]
        try:
            while True:
                with turn:
                    block = next(blocks, None)
                if block is None:
                    return
                path = self.paths[block.file]
                table = parsers[block.file](block.data)
                if table.num_rows != block.rows:
                    break
                for batch in table.to_batches():
                    columns = zip(converts.values(), batch.columns, strict=True)
                    yield (
                        block.start,
                        [Arrow.of(x if convert is None else convert(x)) for convert, x in columns],
                    )
        except (ValueError, OverflowError):
            # The message quotes the row, so the error must not even be the context of another one.
            pass
        finally:
            with turn:
                blocks.close()
        raise self._wrong(path, want)


class TextFile(NamedTuple):
    """A text file: its column names, the byte where its rows begin, and the lines before."""

    path: Path
    compression: str | None
    names: list[str]
    start: int
    lines: int


class _Block(NamedTuple):
    """A block of whole records after a line break, with its file, first row and row count."""

    file: int
    start: int
    rows: int
    data: memoryview


def line_ends(data: Any) -> int:
    """Return the number of line ends in some bytes of text."""
    return sum(1 for _ in LINE_END.finditer(data))


@contextmanager
def _bytes(
    path: Path, compression: str | None, system: Any = None
) -> Iterator[Callable[[int], Any]]:
    """Yield a function that reads the next bytes of a file, up to a number of bytes."""
    import pyarrow as pa

    with ExitStack() as held:
        name = str(path)
        file = held.enter_context(
            pa.OSFile(name) if system is None else system.open_input_file(name)
        )
        if compression == "zip":
            archive = held.enter_context(zipfile.ZipFile(file))
            member = held.enter_context(archive.open(_only_member(archive, path)))
            # Not wrapped by pyarrow, whose wrapper keeps blocks in memory if reading fails.
            yield member.read
        else:
            if compression is not None:
                file = held.enter_context(pa.CompressedInputStream(file, compression))
            yield file.read_buffer  # `read` would keep blocks in memory if it fails


def _first_line(block: bytes, path: Path) -> tuple[bytes, int]:
    """Return the first line of a file that is not empty, and the byte where the next begins.

    `block` is the beginning of the file, or all of it.
    """
    mark = len(codecs.BOM_UTF8) if block.startswith(codecs.BOM_UTF8) else 0
    line = re.compile(rb"[\r\n]*([^\r\n]*)(\r?\n?)").match(block, mark)
    assert line is not None
    if line.end() == len(block) >= HEADER:
        raise SourceError(
            f"the header of {path.name} must be one line of less than {HEADER:,} bytes, got a "
            "longer one"
        )
    if not line[1]:
        raise SourceError(f"{path.name} must begin with a header line, got an empty file")
    return line[1], line.end()


def _names(line: bytes, format: TextFormat, path: Path) -> list[str]:
    """Return the cells of a header line; quotes count only at the beginning of a cell."""
    names, why = [], f"its names are not {format.encoding.upper()}"
    quote = '"' if format.quotes else None
    try:
        row = [f"{line.decode()}\n"]
        names = next(csv.reader(row, delimiter=format.delimiter, quotechar=quote))
    except UnicodeDecodeError:
        pass
    except csv.Error:  # its message would name a limit of the csv module
        why = f"a column name has over {csv.field_size_limit():,} characters"
    if not names:
        raise SourceError(f"{path.name} cannot be read as a table of text: {why}")
    if names[-1].endswith("\n"):  # a line break within quotes
        raise SourceError(
            f"the header of {path.name} must be one line, but a quoted name in it "
            "does not end there"
        )
    return names


def _only_member(archive: zipfile.ZipFile, path: Path) -> zipfile.ZipInfo:
    members = [
        m for m in archive.infolist() if not m.is_dir() and not m.filename.startswith("__MACOSX")
    ]
    if len(members) != 1:
        raise SourceError(f"{path.name} must hold exactly one file, got {len(members)}")
    if members[0].flag_bits & 1:
        raise SourceError(f"{path.name} must not be encrypted")
    return members[0]
