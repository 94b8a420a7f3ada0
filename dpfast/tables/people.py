"""The ids of rows, and the choice of the rows of each unit that count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.tables import Key
from .batches import IDS, WHERE, Batch, Batches, refuse_beside
from .bounding import UNBOUNDED, Bounding, marks_of
from .columns import Columns, Table
from .data import form_of, once
from .engine import of_engine
from .forms import Values
from .ids import no_names
from .in_memory import named
from .key_words import key_kind
from .sql.store import Database
from .table import RULE as DATA


class IdColumn(NamedTuple):
    """The ids of rows, as a column of a table.

    `original` holds the ids as `data.as_rows` takes them.
    """

    rows: Batches
    column: str
    original: Any

    def with_mask(
        self, where: NDArray[np.bool_] | None, key: Key
    ) -> tuple[Batches, tuple[str, ...]]:
        """Return the rows with `where` as an additional column, and that column's name, if any.

        Raises
        ------
        DataError
            If `where` does not have one entry for each row.
        """
        rows = self.rows
        rows.tie([self.column], key)
        if where is None:
            return rows, ()
        if rows.length not in (None, len(where)):
            refuse_beside()
        return rows.with_beside(WHERE, Values(where, where)), (WHERE,)

    def kept(self, where: NDArray[np.bool_] | None, max_rows: int, key: Key) -> NDArray[np.bool_]:
        """Return a mask of rows that count: at most `max_rows` that `where` keeps of each unit.

        If a unit has more rows, a fresh secret key chooses uniformly among them; see `Bounding`. A
        row without an id does not count. Concurrent releases of one grouping share the choice.

        Raises
        ------
        DataError
            If `where` does not have one entry for each row.
        """
        rows, columns = self.with_mask(where, key)

        def codes(batch: Batch) -> NDArray[np.int32]:
            codes = np.zeros(batch.rows, np.int32)
            if where is not None:
                codes[~where[batch.start : batch.start + batch.rows]] = -1
            return codes

        def choose() -> NDArray[np.bool_]:
            bounding = Bounding(1, min(max_rows, UNBOUNDED), key)
            return marks_of(rows, self.column, bounding, codes, columns)

        return rows.alike(("kept", self.column, max_rows), choose) if where is None else choose()


def split_units(
    data: Any,
    ids: Any,
    axis: Any = None,
    name: str = "data",
    positional: Sequence[Any] = (),
    relation: str = "add-remove",
) -> tuple[Any, IdColumn | None]:
    """Return data without the column of ids, if `ids` names one, and the ids of the rows.

    `ids` are as `ids.checked` returns them. If one other column remains, and `axis` does not
    request separate answers, the data are this column. `positional` holds other arguments with an
    entry for each row.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError
        If there is no such column, if it cannot hold ids, or if there is no other column. No row is
        read.
    """
    data = once(data, (ids, *positional), relation)
    if ids is None:
        return data, None
    table = form_of(data, name, DATA)
    is_database = isinstance(table, Columns) and isinstance(table.store, Database)
    if of_engine(table) and not (is_database and isinstance(ids, str)):
        rule = "left out for data of an engine (pass ids to dpfast.group_by instead)"
        checks.fail_kind("ids", "the name of a column" if is_database else rule, ids)
    if not isinstance(ids, str):
        return table, IdColumn(Batches(named({IDS: ids})), IDS, ids)
    if not isinstance(table, Columns):
        no_names(ids)
    store = table.store
    column = store.name_of(ids, "ids")
    id_column = IdColumn(
        Batches(store.table([column])), column, store.held_columns.get(column, column)
    )
    names = [other for other in table.names if other != column]
    if not names:
        rule = "one of several columns, because no other column would be left as data"
        checks.fail("ids", rule, ids)
    key_kind(id_column.rows.typed(column, "ids", True), "ids", is_id=True)
    is_one = len(names) == 1 and (axis is None or not isinstance(table, Table))
    return store.column(names[0]) if is_one else store.table(names), id_column
