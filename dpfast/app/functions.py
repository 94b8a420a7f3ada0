"""The release functions by the names that commands and jobs use: of all rows, and by group.

    BY_GROUP[name](data, by=..., keys=..., ids=..., bounds=..., epsilon=...)

calls ``group_by(data, by, ...)`` and its method `name`, and returns the answer as lists.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from inspect import Parameter, signature
from typing import Any, get_type_hints

import numpy as np

from .. import STATISTICS, expected_error, group_by, ptr
from ..extend import ErrorBar, Mechanism, Prepared, checks, prepare, releases
from .words import plain

#: The confidence of error bars.
CONFIDENCE = 0.95


def error_of(mechanism: Mechanism[Any], rows: int | None) -> ErrorBar:
    """Return the expected error bar of a mechanism; `rows` is None if the number is unknown."""
    return expected_error(mechanism, rows=rows, confidence=CONFIDENCE)


def check_where(name: str, where: Any, by: Sequence[str], neighbors: str) -> None:
    """Refuse `where` without `by` under "replace": a replaced row may enter or leave `where`."""
    if where and not by and neighbors == "replace":
        rule = "left out without by if neighbors is 'replace': a replaced row may enter or leave"
        checks.fail(name, rule, where)


def _grouped(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of `GroupBy` as a function of data that also takes `group_by`'s arguments."""
    groups = dict(signature(group_by).parameters)
    data = groups.pop("data")
    of_method = list(signature(method).parameters.values())[1:]

    @releases
    def released(data: Any, **arguments: Any) -> Prepared[Any]:
        grouping = {name: arguments.pop(name) for name in groups if name in arguments}
        return prepare(method, group_by(data, **grouping), **arguments).then(_listed)

    parameters = *groups.values(), *of_method
    keywords = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in parameters]
    vars(released).update(__signature__=signature(method).replace(parameters=[data, *keywords]))
    return released


def _listed(answer: Any) -> dict[str, list[Any]]:
    return dict(answer.to_dict())


#: The release functions of all rows, by statistic.
OF_ROWS: dict[str, Callable[..., Any]] = {
    word: entry.function for word, entry in STATISTICS.items()
}
#: The release functions by group, by statistic.
BY_GROUP: dict[str, Callable[..., Any]] = {
    name: _grouped(getattr(get_type_hints(group_by)["return"], name))
    for name in ("agg", *(entry.name for entry in STATISTICS.values() if entry.by_group), "top_k")
}


def encoded(answer: Any) -> dict[str, Any]:
    """Return an answer as a dict for ledgers and output: its value, and edges of bins if any."""
    if isinstance(answer, ptr.NoAnswer):
        return {"no_answer": True}
    if isinstance(answer, Mapping) and not isinstance(answer, dict):  # a mapping of tables by name
        return {"value": _listed(answer)}
    if isinstance(answer, tuple) and np.ndim(answer[0]):
        return {"value": answer[0], "edges": answer[1]}
    # A cell of a description is blank if the column has, for example, no mean.
    if isinstance(answer, dict):
        return {"value": {name: list(map(_or_blank, column)) for name, column in answer.items()}}
    return {"value": answer}


def bar_of(bar: ErrorBar, ends: tuple[Any, Any] | None = None) -> dict[str, Any]:
    """Return the known fields of an error bar as a dict, with an interval's noisy ends if any."""
    facts = asdict(bar) | dict(zip(("low", "high"), ends or (), strict=False))
    return {name: plain(item) for name, item in facts.items() if item is not None}


def _or_blank(value: Any) -> Any:
    return "" if isinstance(value, float) and math.isnan(value) else value
