"""Compare labels of rows: the indexes of pandas objects that are read side by side.

Rows are matched by position. Columns whose indexes are views of one index have equal labels. The
first pass compares all other indexes. This is done after the spend, because the index of a frame
depends on its rows. For example, a sort leaves the index unchanged if the rows were already sorted,
and `dropna` does so if nothing was missing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from .._core.owner_log import hide_error
from ..errors import DataError
from .base import Source, WithRows
from .forms import Values, index_of
from .mapped import MappedColumn, MappedRows

#: The indexes of the data, without views of the first one. If there are at least two, a pass
#: compares them.
Labels = Sequence[Any]


def labels_of(*data: Any) -> Labels:
    """Return the pandas indexes of columns and tables that a pass has to compare.

    These are the first index, and the other indexes that are not views of the first.
    """
    labels: list[Any] = []
    for index in _indexes(data):
        if not (labels and _is_view(labels[0], index)):
            labels.append(index)
    return labels


def _indexes(data: Collection[Any]) -> Iterator[Any]:
    for entry in data:
        if entry is None or type(entry) is np.ndarray:  # the most frequent types
            continue
        if type(entry) is not Values and isinstance(entry, (WithRows, Mapping)):
            yield from _indexes(
                (entry.held_columns if isinstance(entry, WithRows) else entry).values()
            )
        elif (index := index_of(entry)) is not None:
            yield index


def _is_view(index: Any, other: Any) -> bool:
    try:
        return index is other or bool(index.is_(other))
    except Exception:  # an object may raise any error here
        return False


def compare(labels: Labels) -> None:
    """Refuse pandas indexes that differ in any row, by their method `equals`."""
    if len(labels) < 2:
        return
    try:
        is_same = all(bool(labels[0].equals(other)) for other in labels[1:])
    except Exception as error:
        # The message may quote a label, so the error must not be the context of another one.
        hide_error(error)
        is_same = False
    if not is_same:
        raise DataError(
            "pandas objects must have equal indexes, but these differ: sort them in the same way, "
            "or pass .to_numpy()"
        )


def aligned(source: Any, labels: Labels) -> Any:
    """Return a source, or a list of sources, whose passes first compare `labels`."""
    if len(labels) < 2:
        return source
    if isinstance(source, list):
        return [aligned(column, labels) for column in source]
    check, index = partial(compare, labels), labels[0]
    if isinstance(source, Source):
        return MappedColumn(source, None, check, row_index=index)
    return MappedRows(source, None, check, width=source.width, row_index=index)
