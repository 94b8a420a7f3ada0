"""The columns of a table by their kinds, which types alone tell, and all of them as numbers.

A column of text is the numbers of public words, and one number more for any other text. Dates and
durations are numbers of their unit. So every column has a number or none in each row, a function of
that row alone; none is what is missing there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .arrow import arrow_numbers, looked_up
from .base import NO_ROWS, width_of
from .columns import Columns, Elsewhere, Rows, Table
from .data import form_of
from .forms import Objects, Piece, Values, source_of
from .intake import Beside, Chosen, all_columns, has_columns, uneven
from .memory import MemoryRows
from .sql.store import Database
from .table import only_column, rows_of
from .times import AsNumbers, Clipped, Numbering, Times, time_source, times_of
from .untyped import is_missing
from .words import Words, holds_words, words_column

RULE = "a table, or a matrix of numbers"


class WordsAndOthers(Words):
    """Public words, and one number more for any other value; NaN for what is missing."""

    def of_objects(self, some: Sequence[Any]) -> list[float]:
        numbers = super().of_objects(some)
        for i, one in enumerate(some):
            if math.isnan(numbers[i]) and not (is_missing(one) or _is_nan(one)):
                numbers[i] = float(len(self.words))
        return numbers

    def of_arrow(self, array: Any) -> NDArray[np.float64]:
        import pyarrow as pa

        numbers, whole = super().of_arrow(array), looked_up(array)
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary.take(whole.indices)
        present = whole.is_valid().to_numpy(zero_copy_only=False).astype(bool)
        numbers[np.isnan(numbers) & present] = float(len(self.words))
        return numbers


def _is_nan(one: Any) -> bool:
    return isinstance(one, float) and math.isnan(one)


class ColumnKind(NamedTuple):
    """What a column is by its type.

    Attributes
    ----------
    name : str
    kind : {"number", "whole", "truth", "text", "time"}
    times : Times, optional
    """

    name: str
    kind: str
    times: Times | None = None


def kinds_of(data: Any, without: Any = None) -> list[ColumnKind]:
    """Return the kinds of the columns of a table, but of one; no row is looked at.

    Columns without a type, as lists, are numbers; those of pandas' objects are text.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        If data are no table.
    """
    form = form_of(data, "data", RULE)
    if isinstance(form, Table):
        names = [name for name in form.names if name != without]
        here = form.pieces
        return [_kind_of(name, here.get(name) or form.store.typed(name)) for name in names]
    if not has_columns(form):
        checks.fail_kind("data", RULE, data)
    rows = rows_of(form)
    if rows.dtype.names is not None:
        return [ColumnKind(name, _of_dtype(rows.dtype[name])) for name in rows.dtype.names]
    kind = _of_dtype(form.array.dtype if isinstance(form, Values) else rows.dtype)
    return [ColumnKind(str(i), kind) for i in range(width_of(rows))]


def _kind_of(name: str, typed: Piece) -> ColumnKind:
    times = times_of(typed)
    if times is not None:
        return ColumnKind(name, "time", times)
    if isinstance(typed, Objects):
        return ColumnKind(name, "number" if typed.row_index is None else "text")
    if holds_words(typed):
        return ColumnKind(name, "text")
    if isinstance(typed, Values):
        return ColumnKind(name, _of_dtype(typed.array.dtype))
    numbers = arrow_numbers(typed.chunked.type)
    is_truth = str(typed.chunked.type) == "bool"
    dtype = np.dtype(np.float64) if numbers is None else numbers.dtype
    return ColumnKind(name, "truth" if is_truth else _of_dtype(dtype))


def _of_dtype(dtype: np.dtype[Any]) -> str:
    return {"b": "truth", "i": "whole", "u": "whole"}.get(dtype.kind, "number")


def as_numbers(
    data: Any,
    beside: Beside,
    words: Mapping[str, tuple[str, ...]],
    times: Mapping[str, tuple[Times, Numbering]],
) -> Chosen:
    """Choose all columns of a table as numbers: those of text by words, those of times by counts.

    It is what `intake.read` is given.
    """
    form = form_of(data, "data", RULE)
    if not isinstance(form, Columns):
        return all_columns(form, beside)
    store, names = form.store, form.names
    if isinstance(store, Database):
        checks.fail_kind("data", NO_ROWS, data)
    own = {name: WordsAndOthers(some) for name, some in words.items()}
    if isinstance(store, Elsewhere):
        for name, (kind, numbers) in times.items():
            store = store.with_numbers(name, AsNumbers(kind, numbers))
        return store.rows(Rows(names, None, own)), True, len(names)
    sources: list[Any] = []
    for name in names:
        piece, title = form.pieces[name], f"column {name!r} of data"
        if name in own:
            sources.append(only_column(MemoryRows(words_column(piece, own[name], title))))
        elif name in times:
            sources.append(time_source(piece, times[name][1]))
        else:
            sources.append(source_of(piece, title))
    is_even = len({source.length for source in sources}) == 1
    return sources if is_even else list(map(uneven, sources)), True, len(names)


#: How times are read of which nothing but their presence is asked.
PRESENT = Clipped(0, 0, 0)
