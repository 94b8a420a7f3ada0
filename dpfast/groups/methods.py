"""The methods of `GroupBy` that release one statistic, made of the table of statistics.

A method takes the arguments of its statistic in `stat`, and the arguments of `GroupBy.agg`. It
returns the same answer as `agg`. `tools/stubs.py` writes `methods.pyi`, which declares the methods
for type checkers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import Parameter, Signature, cleandoc, signature
from typing import Any

from .._core.types import Number
from ..budget.budget import Budget
from ..budget.release import Prepared, releases
from ..errors import ArgumentTypeError
from ..measurement.columns_by_name import Answer
from ..measurement.functions import refuse_call
from ..rng import Generator
from ..statistics.table import TABLE, Entry
from . import stat

#: Arguments that exist only for whole columns, because by group each quantile is drawn.
OF_ROWS = ("method", "noise", "assume_sorted")
#: The arguments that are required.
NEEDED = ("column", "other", "q", "qs")
#: For an annotation of a function of whole columns, the annotation by group.
OF_ONE_COLUMN = {"str | None": "str", "BoundsEach | Auto": "Bounds | Auto"}


class Methods(ABC):
    """Base of `GroupBy`, with a method for each statistic that can be released by group."""

    __slots__ = ()

    @abstractmethod
    def _single(
        self, name: str, statistic: object, loss: Any, where: Any, budget: Any, rng: Any
    ) -> Prepared[Answer]:
        """Prepare the release of one statistic under a name."""


def of_agg(
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    where: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> tuple[Any, Any, Any, Any]:
    """Return the arguments that each method shares with `agg`: the loss, where, budget and rng."""
    return (epsilon, delta, rho), where, budget, rng


OF_AGG = signature(of_agg).parameters


def method(entry: Entry) -> Callable[..., Answer]:
    """Return the method of `GroupBy` that releases a statistic, under the statistic's name."""
    name = entry.name
    of: Callable[..., object] = getattr(stat, name)

    def prepare(self: Methods, *positional: Any, **named: Any) -> Prepared[Answer]:
        call = {parameter: named.pop(parameter) for parameter in OF_AGG if parameter in named}
        try:
            statistic = of(*positional, **named)
        except ArgumentTypeError:
            raise
        except TypeError as error:
            refuse_call(name, str(error).partition("() ")[2], named, signature(prepare))
        return self._single(name, statistic, *of_agg(**call))

    needs = entry.kind.needs_column
    taken = signature(of).parameters.values() if needs or entry.options else ()
    taken = [parameter for parameter in taken if parameter.name not in OF_ROWS]
    specific = [_of_one_column(parameter) if needs else parameter for parameter in taken]
    arguments = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD), *specific, *OF_AGG.values()]
    described = f"{', '.join(p.name for p in specific)}\n    As in `dpfast.stat.{name}`."
    prepare.__name__, prepare.__qualname__ = name, f"GroupBy.{name}"
    vars(prepare)["__signature__"] = Signature(arguments, return_annotation="Answer")
    prepare.__annotations__ = {parameter.name: parameter.annotation for parameter in arguments[1:]}
    prepare.__annotations__["return"] = "Prepared[Answer]"
    prepare.__doc__ = cleandoc(DOC).format(
        what=entry.what, own=f"{described}\n" if specific else "", name=name
    )
    return releases(prepare)


DOC = """
    Release {what}, in each group.

    Parameters
    ----------
    {own}epsilon, delta, rho, where, budget, rng
        As in `agg`.

    Returns
    -------
    Answer
        The keys, and for each group what `dpfast.{name}` returns, in the column `{name}`. Error
        bars are as in `agg`.
    """


def _of_one_column(parameter: Parameter) -> Parameter:
    """Return a parameter of a statistic with the annotation for a single, required column."""
    kind = OF_ONE_COLUMN.get(str(parameter.annotation), str(parameter.annotation))
    if parameter.name in NEEDED:
        return parameter.replace(annotation=kind.removesuffix(" | None"), default=Parameter.empty)
    return parameter if parameter.name == "weights" else parameter.replace(annotation=kind)


for _entry in TABLE:
    if _entry.by_group:
        setattr(Methods, _entry.name, method(_entry))
