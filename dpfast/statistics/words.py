"""Statistics from mappings, as jobs write them: the name in the table, and the arguments."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from .._core import checks
from ..errors import ArgumentTypeError
from ..measurement.statistic import Statistic
from .table import TABLE


def statistic_of(name: str, value: Any) -> Any:
    """Return the checked statistic, made from its name and arguments if given as a mapping."""
    if isinstance(value, Mapping):
        arguments = dict(value)
        kinds = [entry for entry in TABLE if entry.kind is not None]
        words = {entry.word: entry for entry in kinds if entry.kind.subtracts}
        word = checks.choice(f"{name}.statistic", arguments.pop("statistic", None), words)
        kind = words[word].kind
        try:
            signature(kind).bind(**arguments)
        except TypeError as error:
            raise ArgumentTypeError(
                f"the arguments in {name} must be those of {word}: {error}"
            ) from None
        return kind(**arguments)
    if not isinstance(value, Statistic):
        checks.fail_kind(name, "a statistic such as dpfast.Mean(bounds=(0, 9))", value)
    return value
