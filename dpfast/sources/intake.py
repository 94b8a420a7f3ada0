"""The one intake: what a public function is handed becomes one typed view, by types alone.

`read` is called once in a public function. No row is looked at, and everything behind it takes what
it is given.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .base import RowSource, Source, Table, WithRows, width_of
from .columns import Apart, by_column, each_alone
from .forms import Form, Named, Objects, Values, form_of
from .masked import MaskedSource, mask
from .memory import Column, as_column, as_source, source_of
from .table import RULE, as_rows, beside_of, coded_rows, features_of, rows_of
from .words import Words

RECORDS = (
    "0 (or -2) for data of several columns, and left out for one: a row is a record, so a column "
    "has an answer and a row has none"
)


@dataclass(frozen=True, slots=True)
class View:
    """What a release reads, and what stands beside it.

    Attributes
    ----------
    source : Source, Apart or RowSource
        One column; columns that lie apart; or whole rows.
    each : bool
        Whether each column has an answer of its own.
    width : int
        How many columns there are, the weights not counted.
    where : ndarray of bool or None
        The rows that are used.
    weights : Column or None
        The weights beside the rows. Weights that are a column of the data are the last one.
    """

    source: Source | Apart | RowSource
    each: bool
    width: int
    where: NDArray[np.bool_] | None
    weights: Column | None = None

    @property
    def length(self) -> int | None:
        """How many rows there are; None when that is not known without reading."""
        return self.source.length

    @property
    def kept(self) -> Any:
        """One column, or those of its rows that are used."""
        source: Any = self.source
        return source if self.where is None else MaskedSource(source, self.where)


def read(
    data: Any,
    *,
    relation: str,
    axis: Any = None,
    columns: int | None = None,
    where: Any = None,
    weights: Any = None,
    name: str = "data",
) -> View:
    """Read what data are, and what stands beside them, by their types alone.

    Parameters
    ----------
    data : array_like, table, file or source
    relation : {"replace", "add-remove"}
        Decides whether the number of rows is public, and so what may be refused here.
    axis : {None, 0}
        0 for data of several columns, each of which has an answer.
    columns : int, optional
        How many columns the call says that there are: a list does not say so itself.
    where : array_like of bool, optional
    weights : array_like or str, optional
        One number a row, or the name of a column of the data.
    name : str
        What messages call the data.

    Raises
    ------
    ArgumentTypeError, ArgumentError, SourceError
        For what cannot be read. Nothing depends on what the rows hold.
    """
    form = form_of(data, name, RULE)
    source: Source | Apart | RowSource
    beside, width = None, 1
    each = axis_of(axis, form, isinstance(weights, str))
    if isinstance(weights, str):
        source = beside_of(form, weights, "weights", name)
        width = width_of(source) - 1
        if not width:
            checks.fail("weights", "a column beside those of the data", weights)
        if axis is None and width > 1:
            checks.fail("axis", RECORDS, axis)
    elif weights is not None:
        source = features_of(form, columns, name) if each else rows_of(form, name=name)
        width = width_of(source)
        beside = as_column(weights, "weights", "one number for each row, or the name of a column")
        if beside.width is not None:
            checks.fail_kind("weights", "one number for each row", weights)
        checks.entries("weights", beside.length, source.length, relation)
    elif each:
        source = by_column(form, name, columns)
        width = len(source.columns) if isinstance(source, Apart) else width_of(source)
    else:
        source = source_of(form, name)
    return View(source, each, width, mask(where, source.length, relation), beside)


def read_rows(
    data: Any,
    argument: str,
    width: int,
    relation: str,
    where: Any = None,
    words: Sequence[Words | None] = (),
) -> View:
    """Read whole rows of `width` columns, as the `argument` of that name says.

    Columns with `words` are text, read as the numbers of these.
    """
    source = coded_rows(data, words) if any(words) else as_rows(data, width=width)
    checks.columns(argument, width, width_of(source))
    return View(source, False, width, mask(where, source.length, relation))


def read_column(data: Any, relation: str, where: Any = None) -> View:
    """Read one column."""
    source = as_source(data)
    return View(source, False, 1, mask(where, source.length, relation))


def read_each(data: Any, relation: str, columns: int | None, where: Any = None) -> list[Source]:
    """Read the columns of data one by one, or those of their rows that `where` keeps."""
    views = (
        View(source, True, 1, mask(where, source.length, relation))
        for source in each_alone(form_of(data, "data", RULE), columns)
    )
    return [view.kept for view in views]


def has_axis(axis: Any, data: Any) -> bool:
    """Tell whether each column of the data has an answer of its own."""
    return axis_of(axis, form_of(data, "data", RULE))


def axis_of(axis: Any, form: Form, weighted: bool = False) -> bool:
    """Tell whether each column of a form has an answer of its own.

    Data without a dtype, like a list, are of one column or of several as `axis` says. With a column
    of `weighted` rows there are several, of which one has an answer where `axis` is left out.
    """
    if axis is not None and (
        isinstance(axis, bool) or not isinstance(axis, numbers.Integral) or axis not in (0, -2)
    ):
        checks.fail("axis", RECORDS, axis)
    several = has_columns(form) or (axis is not None and isinstance(form, Objects))
    if several and axis is None and not weighted:
        checks.fail("axis", RECORDS, axis)
    if axis is not None and not several:
        source_of(form)  # what is no column at all says so itself
        checks.fail("axis", "left out for one column of data", axis)
    return several and axis is not None


def has_columns(form: Form) -> bool:
    """Tell whether data are rows of several numbers, or named columns, by their type."""
    if isinstance(form, WithRows):
        return isinstance(form, Table)
    if isinstance(form, Values):
        return form.array.ndim == 2 or form.array.dtype.names is not None
    if isinstance(form, RowSource) and not isinstance(form, Source):
        return form.dtype.names is not None or (form.width or 1) > 1
    return isinstance(form, Named)
