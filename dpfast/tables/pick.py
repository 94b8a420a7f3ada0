"""Find the column of a file that a call means: by name, by number, or the only one."""

from __future__ import annotations

import difflib
import numbers
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from .._core import checks
from ..errors import SourceError

#: The most names that an error lists.
LISTED = 30


def pick(column: str | int | None, names: Sequence[str], path: Path) -> str:
    """Return the name of the column of a file that is given by its name or number."""
    if column is None:
        if len(names) == 1:
            return names[0]
        raise SourceError(f"column must be named for {path.name}, which has: {listed(names)}")
    if not isinstance(column, str):
        if not 0 <= column < len(names):
            raise SourceError(
                f"column must be a name or a number from 0 to {len(names) - 1} in {path.name}, "
                f"got {column}"
            )
        column = names[int(column)]
    if column not in names:
        same = [name for i, name in enumerate(names) if name == _label(column, i)]
        if same:
            raise SourceError(
                f"column {column!r} occurs more than once in {path.name}: choose one by its "
                f"index, or as {same[0]!r}"
            )
        which = f"{nearest(column, names)}, which has: {listed(names)}"
        raise SourceError(f"column {column!r} is not in {path.name}{which}")
    if names.count(column) > 1:
        raise SourceError(f"column {column!r} occurs more than once in {path.name}")
    return column


def same_column(column: str | int | None, files: Sequence[tuple[Sequence[str], Path]]) -> str:
    """Return the name of a column, given by name or number, which all files must share."""
    (name, first), *others = [(pick(column, names, path), path) for names, path in files]
    for other, path in others:
        if other != name:
            raise SourceError(
                f"column {name!r} of {first.name} must be the same in every file, but in "
                f"{path.name} it is {other!r}"
            )
    return name


def labels(names: Sequence[str]) -> list[str]:
    """Return names of columns, each with its number if it occurs more than once."""
    count = Counter(names)
    return [name if count[name] == 1 else _label(name, i) for i, name in enumerate(names)]


def _label(name: str, index: int) -> str:
    return f"{name} (place {index})".strip()


def listed(names: Collection[str]) -> str:
    """Return the names of columns as a list for an error message."""
    more = f", ... ({len(names)} in all)" if len(names) > LISTED else ""
    return ", ".join(islice(names, LISTED)) + more


def nearest(name: str, names: Collection[str]) -> str:
    """Return a hint for an error message that lists names close to `name`; "" without any."""
    near = difflib.get_close_matches(name, names, 3, 0.6)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def wanted_columns(column: Any) -> list[Any]:
    """Return `column` as a list of names or numbers, or refuse it."""
    wanted: list[Any] = list(column) if isinstance(column, (list, tuple)) else [column]
    rule = "a name, an index from 0, a list of these, or None"
    for wanted_column in wanted:
        if isinstance(wanted_column, bool) or not isinstance(
            wanted_column, (str, numbers.Integral, type(None))
        ):
            checks.fail_type("column", rule, column)
        if wanted_column is None and column is not None:
            checks.fail_type("column", rule, column)
    if not wanted:
        checks.fail("column", "a list of at least one name", column)
    return wanted


def distinct(names: list[str]) -> list[str]:
    """Return the names of the columns of a table, or refuse them if two are equal."""
    if len(set(names)) < len(names):
        checks.fail("column", "a list of different columns", names)
    return names
