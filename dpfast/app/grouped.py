"""What jobs and the command line read of a file, and statistics by group as functions of it.

    STATISTICS[name](columns, by=..., keys=..., ids=..., bounds=..., epsilon=...)

is ``group_by(columns, by, ...)`` and its method of that name. Public keys may be `KeyTexts`: texts
of a list or a file, which become keys of the types that their columns have.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from .. import group_by
from ..errors import SourceError
from ..extend import Prepared, checks, prepare, releases, statistics
from ..groups.api import GroupBy
from ..sources.base import Table
from ..sources.files import Columns, FileSource, Reader, Text
from ..sources.filtered import Condition, filtered, unquoted
from ..sources.key_words import key_kind, shown_key
from ..sources.pick import distinct, picker
from ..sources.scan import columns

#: What messages call keys that texts are made into.
KINDS = {"integers": "integers", "times": "dates or times"}
MAKERS: dict[str, Callable[[str], Any]] = {
    "integers": int,
    "times": np.datetime64,
    "bytes": str.encode,
}


@dataclass(frozen=True, slots=True)
class KeyTexts:
    """Public keys as somebody wrote them: one text for each column of keys.

    Parameters
    ----------
    rows : tuple of tuple of str
    file : Path, optional
        Where they stand.
    """

    rows: tuple[tuple[str, ...], ...]
    file: Path | None = field(default=None, repr=False, compare=False)

    def of(self, data: Columns, by: Sequence[str]) -> Any:
        """Return the keys in the types of the columns, which a file declares."""
        if any(len(row) != len(by) for row in self.rows):
            checks.fail("keys", f"one key for each of {len(by)} columns (by)", self.rows[0])
        columns = zip(by, zip(*self.rows, strict=True), strict=True) if self.rows else ()
        return {name: _typed(texts, name, data.reader) for name, texts in columns} or []


def _typed(texts: Sequence[str], name: str, reader: Reader) -> list[Any]:
    """Return the keys of a column."""
    kind = key_kind(reader.typed(reader.find(picker(name)), True), f"column {name!r}")
    make: Callable[[str], Any] = MAKERS.get(kind, str)
    found = []
    for text in texts:
        try:
            found.append(make(text))
        except ValueError:
            checks.fail("keys", f"{KINDS[kind]}, as the column {name!r} is", text)
    return found


def read_keys(file: Path, by: Sequence[str]) -> KeyTexts:
    """Return the keys of a file: one a line; of a .csv those in the columns `by`, under a header.

    Blanks around a line do not count. What is in quotes is as it is.

    Raises
    ------
    SourceError
        If it cannot be read, or does not have these columns.
    """
    name = file.name
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SourceError(f"keys {name!r} cannot be read: {error.strerror}") from None
    except ValueError:
        raise SourceError(f"keys {name!r} must be text in UTF-8") from None
    if file.suffix.lower() != ".csv":
        if len(by) > 1:
            checks.fail("keys", "a .csv file with a header, for several columns", name)
        lines = map(str.strip, text.replace("\r\n", "\n").split("\n"))
        return KeyTexts(tuple((unquoted(line),) for line in lines if line), file)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    except csv.Error as error:
        raise SourceError(f"keys {name!r} must be a table of text: {error}") from None
    header = rows[0] if rows else []
    for column in by:
        if column not in header:
            raise SourceError(f"keys {name!r} must have a column {column!r}, got {header}")
    if any(len(row) != len(header) for row in rows):
        raise SourceError(f"keys {name!r} must have as many cells in each row as in its header")
    places = [header.index(column) for column in by]
    return KeyTexts(tuple(tuple(row[place] for place in places) for row in rows[1:]), file)


def combined(texts: Sequence[Sequence[str]]) -> KeyTexts:
    """Return all combinations of the keys of several columns."""
    return KeyTexts(tuple(product(*texts)))


def source_of(
    reader: Reader,
    by: Sequence[str],
    names: Sequence[str | None],
    where: Sequence[Condition],
    is_table: bool = False,
) -> Columns | FileSource | Table | Text:
    """Return what a release reads of a file: its keys, its column or its table; of some rows."""
    reader = filtered(reader, where)
    if by:
        return Columns(reader, [reader.find(picker(name)) for name in by])
    found = [reader.find(picker(name)) for name in names]
    return columns(reader, distinct(found) if is_table else found[0])


def check_where(name: str, where: Any, by: Sequence[str], neighbors: str) -> None:
    """Refuse conditions of rows that are replaced, where nothing says what that changes."""
    if where and not by and neighbors == "replace":
        rule = "left out under neighbors = 'replace' without by: a replaced row may enter or leave"
        checks.fail(name, rule, where)


def _grouped(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of groups as a function of data, with the arguments of both."""
    groups = dict(signature(group_by).parameters)
    data = groups.pop("data")
    own = list(signature(method).parameters.values())[1:]

    @releases
    def released(data: Columns, **arguments: Any) -> Prepared[Any]:
        asked = {name: arguments.pop(name) for name in groups if name in arguments}
        if isinstance(asked.get("keys"), KeyTexts):
            asked["keys"] = asked["keys"].of(data, _names(asked["by"]))
        return prepare(method, group_by(data, **asked), **arguments)

    keywords = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*groups.values(), *own)]
    vars(released).update(__signature__=signature(method).replace(parameters=[data, *keywords]))
    return released


def _names(by: Any) -> list[str]:
    return [by] if isinstance(by, str) else list(by)


#: Whatever is released by group, by its name.
STATISTICS: dict[str, Callable[..., Any]] = {
    name: _grouped(getattr(GroupBy, name))
    for name in ("agg", *(entry.name for entry in statistics.values() if entry.by_group), "top_k")
}


def listed(answer: dict[str, Any]) -> dict[str, list[Any]]:
    """Return an answer as lists of what JSON has: times and bytes as text, no infinity."""
    return {name: [plain(one) for one in column] for name, column in answer.items()}


def plain(one: Any) -> Any:
    """Return a value in the types of JSON."""
    found = one.item() if isinstance(one, np.generic) and one.dtype.kind not in "Mm" else one
    if isinstance(found, (str, bytes)):
        return shown_key(found)
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return found if isinstance(found, (int, float)) else str(found)
