"""Find the cells of text files that would be errors, for the data owner. NOT PRIVATE.

Cells are read by the code that reads them for a release. If it fails on some cells, it is called on
each half of them, and so on, until the failing cells are found.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._kernels.tables import records
from ..errors import DataError
from .arrow import guarded
from .text import OPEN, TextFile, TextReader, line_ends

#: The most errors that are listed for each column, and the most rows of a wrong width for each
#: block.
MOST = 10


def check_text(reader: TextReader, names: Sequence[str], are_numbers: bool) -> dict[str, Any]:
    """Return the report of `Files.check` on some columns."""
    columns = [_Column(reader, name, are_numbers) for name in names]
    faults: list[dict[str, Any]] = []
    rows = sum(_check_file(reader, file, columns, faults) for file in reader.files)
    faults += [fault for column in columns for fault in column.faults]
    order = {str(path): index for index, path in enumerate(reader.paths)}
    return {
        "private": False,
        "rows": rows,
        "columns": [column.to_dict() for column in columns],
        "faults": sorted(faults, key=lambda fault: (order[fault["file"]], fault["line"])),
    }


@dataclass
class _Test:
    """A test of the cells of a column, and the first cells that fail the test."""

    column: str
    why: str
    convert: Callable[[Any], Any]
    has_good: bool = False
    faults: list[dict[str, Any]] = field(default_factory=list)

    def look(
        self, cells: Any, file: str, line_of: Callable[[int], int], rows: Sequence[int]
    ) -> None:
        """Test the cells of some rows; row r begins in the line ``line_of(r)``."""
        room = MOST - len(self.faults)
        row_numbers = faulty(cells, self.convert, room)
        seen = (
            cells
            if len(row_numbers) < room
            else cells[: row_numbers[-1] + 1]
            if room
            else cells[:0]
        )
        self.has_good |= len(seen) - seen.null_count > len(row_numbers)
        for row in row_numbers:
            cell = _shown(cells[row].as_py())
            where = {"file": file, "line": line_of(rows[row]), "column": self.column}
            self.faults.append({**where, "cell": cell, "why": self.why})


class _Column:
    """The results of checking a column: its kind, its missing cells and its faults."""

    def __init__(self, reader: TextReader, name: str, is_number: bool) -> None:
        import pyarrow as pa

        format, is_date = reader.format, name in reader.format.dates
        self.name, self.missing, self.kind = name, 0, "dates" if is_date else "numbers"
        self._may_be_text = not (is_date or is_number)

        def as_text(cells: Any) -> Any:
            return cells.cast(pa.string())

        def as_declared(cells: Any) -> Any:
            return format.times(as_text(cells), name) if is_date else format.numbers(as_text(cells))

        self._text = _Test(name, f"is not text in {format.encoding.upper()}", as_text)
        self._declared = _Test(name, f"is no {self.kind[:-1]} as declared", as_declared)

    def look(self, cells: Any, *where: Any) -> None:
        """Test some cells; `where` gives their file and lines, as `_Test.look` takes them."""
        self.missing += cells.null_count
        self._text.look(cells, *where)
        self._declared.look(cells, *where)

    @property
    def _is_text(self) -> bool:
        """Tell whether the column is taken for text: its first cells are no numbers."""
        declared = self._declared
        return self._may_be_text and bool(declared.faults) and not declared.has_good

    @property
    def faults(self) -> list[dict[str, Any]]:
        return self._text.faults if self._is_text else self._declared.faults

    def to_dict(self) -> dict[str, Any]:
        kind = "text" if self._is_text else self.kind
        many = len(self.faults)
        return {"column": self.name, "as": kind, "missing": self.missing, "faults": many}


def _check_file(
    reader: TextReader, file: TextFile, columns: Sequence[_Column], faults: list[dict[str, Any]]
) -> int:
    """Check all rows of a file, and return their number."""
    format, name, rows, line = reader.format, str(file.path), 0, 1 + file.lines
    names = [column.name for column in columns]
    try:
        for count, data in guarded(file.path, reader.records_of(file)):
            table, wide = _parsed(reader, file, names, data) if count > 0 else ([], {})
            body = data[1:]  # without the line break at its start
            whole_rows = [row for row in range(count) if row not in wide]
            line_of = _lines(body, line, format, len(file.names) == 1)
            for column, cells in zip(columns, table, strict=False):
                column.look(cells, name, line_of, whole_rows)
            for row, (why, cell) in list(wide.items())[:MOST]:
                where = {"file": name, "line": line_of(row), "column": None}
                faults.append({**where, "cell": cell, "why": why})
            line += line_ends(body)
            rows += count
    except DataError:  # after the last complete record
        faults.append({"file": name, "line": line, "column": None, "cell": None, "why": OPEN})
    return rows


def _parsed(
    reader: TextReader, file: TextFile, names: Sequence[str], data: Any
) -> tuple[list[Any], dict[int, tuple[str, str]]]:
    """Return the cells of columns as bytes, and the rows with too few or too many cells."""
    import pyarrow as pa

    kinds, wide = dict.fromkeys(names, pa.binary()), {}
    try:
        return [column.combine_chunks() for column in reader.parser(file, kinds)(data).columns], {}
    except pa.ArrowInvalid:
        pass

    def plain(text: str) -> bytes:
        return text.encode("latin-1")

    def skip(row: Any) -> str:
        why = f"has {row.actual_columns} cells, not {row.expected_columns}"
        wide[row.number - 2] = why, _shown(plain(row.text))  # row 1 is the line break
        return "skip"

    # pyarrow passes such rows to `skip` as text. So each byte is decoded as a letter, and encoded
    # again below.
    table = reader.parser(file, kinds, skip)(memoryview(bytes(data).decode("latin-1").encode()))
    missing = {None, *(word.encode() for word in reader.format.missing)}
    columns = []
    for column in table.columns:
        cells = [cell and plain(cell.decode()) for cell in column.to_pylist()]
        columns.append(pa.array([None if cell in missing else cell for cell in cells], pa.binary()))
    return columns, wide


def _shown(cell: bytes) -> str:
    return cell.decode(errors="backslashreplace")


def _lines(body: Any, first: int, format: Any, empty: bool) -> Callable[[int], int]:
    """Return a function that finds the line where a row of `body` begins; row 0 in `first`."""

    def before(stop: int) -> tuple[int, int]:
        """Return where the last whole record before the byte `stop` ends, and the record count."""
        is_last = stop == len(body)
        return records(body[:stop], ord(format.delimiter), format.quotes, empty, is_last)

    def line_of(row: int) -> int:
        stop = bisect_left(range(len(body)), row, key=lambda stop: before(stop)[1]) if row else 0
        start = before(stop)[0]
        while not empty and body[start : start + 1] in (b"\r", b"\n"):  # skips empty lines
            start += 1
        return first + line_ends(body[:start])

    return line_of


def faulty(cells: Any, convert: Callable[[Any], Any], most: int) -> list[int]:
    """Return the indices of the first cells that cannot be converted, at most `most`."""
    if not most:
        return []
    try:
        convert(cells)
        return []
    except (ValueError, OverflowError):
        if len(cells) == 1:
            return [0]
    half = len(cells) // 2
    first = faulty(cells[:half], convert, most)
    second = faulty(cells[half:], convert, most - len(first))
    return first + [half + row for row in second]
