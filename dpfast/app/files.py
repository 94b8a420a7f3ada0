"""Files other than data: of public group keys, ledgers, and files to write to."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from .. import Budget
from ..errors import LedgerMissingError, SourceError
from ..extend import Files, checks
from .words import unquoted

#: The words of messages for kinds of keys.
KINDS = {"integers": "integers", "times": "dates or times"}
MAKERS: dict[str, Callable[[str], Any]] = {
    "integers": int,
    "times": np.datetime64,
    "bytes": str.encode,
}


@dataclass(frozen=True, slots=True)
class KeyTexts:
    """Public group keys as written, in rows: one text for each column of group keys.

    Parameters
    ----------
    rows : tuple of tuple of str
    file : Path, optional
        The place where the keys are written, for messages.
    """

    rows: tuple[tuple[str, ...], ...]
    file: Path | None = field(default=None, repr=False, compare=False)

    def of(self, files: Files, by: Sequence[str]) -> Any:
        """Return the group keys by column, in the types that the files declare for the columns."""
        if any(len(row) != len(by) for row in self.rows):
            rule = f"rows of {len(by)} keys, one for each column of by"
            checks.fail("keys", rule, self.rows[0])
        columns = zip(by, zip(*self.rows, strict=True), strict=True) if self.rows else ()
        return {name: _typed(texts, name, files) for name, texts in columns} or []


def _typed(texts: Sequence[str], name: str, files: Files) -> list[Any]:
    """Return the group keys of a column, converted from text to the column's type."""
    kind = files.key_kind(name)
    make: Callable[[str], Any] = MAKERS.get(kind, str)
    keys = []
    for text in texts:
        try:
            keys.append(make(text))
        except ValueError:
            checks.fail("keys", f"{KINDS[kind]}, as the column {name!r} is", text)
    return keys


def read_keys(file: Path, by: Sequence[str]) -> KeyTexts:
    """Read public group keys from a file: one a line, or the columns `by` of a .csv with a header.

    Blanks around a line do not count. Text in quotes is kept exactly.

    Raises
    ------
    SourceError
        If it cannot be read, or does not have these columns.
    """
    name = file.name
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"keys file {name!r} cannot be read: {error.strerror}") from None
    except ValueError:
        raise SourceError(f"keys file {name!r} must be text in UTF-8") from None
    if file.suffix.lower() != ".csv":
        if len(by) > 1:
            checks.fail("keys", "a .csv file with a header, because by names several columns", name)
        lines = map(str.strip, text.replace("\r\n", "\n").split("\n"))
        return KeyTexts(tuple((unquoted(line),) for line in lines if line), file)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise SourceError(f"keys file {name!r} must be a table of text: {error}") from None
    header = rows[0] if rows else []
    for column in by:
        if column not in header:
            raise SourceError(f"keys file {name!r} must have a column {column!r}; it has {header}")
    if any(len(row) != len(header) for row in rows):
        raise SourceError(f"keys file {name!r} must have rows with as many cells as its header")
    indices = [header.index(column) for column in by]
    return KeyTexts(tuple(tuple(row[index] for index in indices) for row in rows[1:]), file)


def combined(texts: Sequence[Sequence[str]]) -> KeyTexts:
    """Return all combinations of the group keys of several columns."""
    return KeyTexts(tuple(product(*texts)))


def existing(path: str | os.PathLike[str], **about: Any) -> Budget | None:
    """Return the budget of the ledger at a path, or None if there is no ledger or a blank one."""
    try:
        return Budget(path=path, **about)
    except LedgerMissingError:
        return None


def other_file(name: str, file: str | os.PathLike[str], others: Iterable[tuple[Any, str]]) -> None:
    """Refuse to write to a file that is one of `others`, pairs of a path and its description."""
    for other, what in others:
        same = os.path.realpath(file) == os.path.realpath(other)
        with suppress(OSError, ValueError):
            same = same or os.path.samefile(file, other)
        if same:
            checks.fail(name, f"another file than {what}", str(file))
