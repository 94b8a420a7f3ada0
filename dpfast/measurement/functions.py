"""Public functions of statistics: `dpfast.mean` of `dpfast.Mean`, and so on.

A function takes data, what its class takes, and what `Statistic.prepare` takes of a call. So only
its docstring is written; or that of the class alone, of which `public` makes the function's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import fields
from functools import cache
from inspect import Parameter, Signature, cleandoc, formatannotation, get_annotations, signature
from typing import Any, NoReturn, TypeVar, get_args, get_type_hints

from ..errors import ArgumentTypeError
from ..tables.pick import listed, nearest
from .statistic import OF_CALLS, Statistic, Weighted, measures_once, snake_case

#: Fields of a statistic that are the names of columns, where it is one of several by group.
OF_TABLES = ("column", "other", "weights")
#: What every call takes.
CALL = [one for one in signature(Statistic.prepare).parameters.values() if one.name in OF_CALLS]

CALL_HINTS = get_type_hints(Statistic.prepare)


@cache
def _type_of(module: str, annotation: Any) -> Any:
    """Return the type that an annotation of a module says: most are those of a few bases."""
    is_text = isinstance(annotation, str)
    return eval(annotation, vars(sys.modules[module])) if is_text else annotation


def signature_of(kind: type[Statistic[Any]]) -> Signature:
    """Return the arguments of the public function of a class."""
    own = [one for one in fields(kind) if one.init and one.name not in OF_TABLES]
    placed = [one.name for one in own if not one.kw_only]
    required = signature(kind).parameters
    asked = [
        Parameter(
            one.name,
            Parameter.KEYWORD_ONLY if one.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
            default=required[one.name].default if one.kw_only else Parameter.empty,
            annotation=str(one.type).removesuffix(" | None") if one.name in placed else one.type,
        )
        for one in sorted(own, key=lambda one: bool(one.kw_only))
    ]
    left_out = {*kind.leaves_out, *(() if issubclass(kind, Weighted) else ("weights",))}
    call = [one for one in CALL if one.name not in left_out]
    data = Parameter("data", Parameter.POSITIONAL_OR_KEYWORD, annotation="Any")
    answer = formatannotation(answer_of(kind)).replace("numpy.", "np.")
    return Signature([data, *asked, *call], return_annotation=answer)


def answer_of(kind: type[Statistic[Any]]) -> Any:
    """Return the type of the answers of a class: of one column, or of each of several."""
    for base in kind.__mro__:
        for of in vars(base).get("__orig_bases__", ()):
            for argument in get_args(of):
                if not isinstance(argument, TypeVar):
                    return argument
    return Any


def refuse_call(name: str, error: str, arguments: Iterable[str], taken: Signature) -> NoReturn:
    """Raise the error of a call that gives other arguments than it takes, with the mend."""
    known = [parameter for parameter in taken.parameters if parameter != "self"]
    unknown = [argument for argument in arguments if argument not in known]
    more = f"; it takes: {listed(known)}" if unknown or "positional" in error else ""
    near = nearest(unknown[0], known) if unknown else ""
    raise ArgumentTypeError(f"{name}() {error}{near or more}") from None


def function_of(
    kind: type[Statistic[Any]], make: Callable[..., Statistic[Any]] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return what makes a declaration, with its docstring, the public function of a class.

    Parameters
    ----------
    kind : type
        The class, which has the arguments.
    make : callable, optional
        What makes the statistic of the arguments; by default the class.
    """
    taken = signature_of(kind)
    made = kind if make is None else make
    by_name = {name: one for name, one in taken.parameters.items() if one.kind is one.KEYWORD_ONLY}
    placed = [name for name in taken.parameters if name not in by_name]
    hints = {**CALL_HINTS}
    for base in reversed(kind.__mro__):
        own = {name: one for name, one in get_annotations(base).items() if name in taken.parameters}
        hints |= {name: _type_of(base.__module__, one) for name, one in own.items()}
    needed = {name for name, one in by_name.items() if one.default is one.empty}

    def of(declared: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*args: Any, **kwargs: Any) -> Statistic[Any]:
            given = dict(zip(placed, args, strict=False)) | kwargs
            if len(args) != len(placed) or not needed <= kwargs.keys() <= by_name.keys():
                try:
                    given = taken.bind(*args, **kwargs).arguments
                except TypeError as error:
                    refuse_call(declared.__name__, str(error), kwargs, taken)
            del given["data"]
            return made(**{name: given[name] for name in given.keys() - OF_CALLS})

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(ask, name, getattr(declared, name))
        ask.__annotations__ = {name: hints.get(name, Any) for name in taken.parameters}
        ask.__annotations__["return"] = Statistic[answer_of(kind)]  # type: ignore[misc]
        vars(ask).update(__signature__=taken, __wrapped__=declared)
        return measures_once(ask)

    return of


#: What a function says that its class does not.
DOC = """\
Release {what}

{details}

Parameters
----------
data : array_like, table, file or source
{own}
{call}
    As in `dpfast.mean`.

Returns
-------
float or ndarray
    The answer, about the clamped rows.

Raises
------
ArgumentError, ArgumentTypeError, BudgetError, DataError
    As `dpfast.mean`.

Notes
-----
Cost: one read of the data{more}.

Examples
--------
{examples}
"""


def public(kind: type[Statistic[Any]]) -> Callable[..., Any]:
    """Return the public function of a class, with the docstring of both."""
    head, _, doc = cleandoc(kind.__doc__ or "").partition("\n\n")
    details, _, doc = doc.partition("\n\nParameters\n----------\n")
    entries, *_ = doc.partition("\n\n")
    own = {entry.partition(" :")[0]: entry for entry in re.split(r"\n(?=\w)", entries)}
    what, taken = head.replace(", as a statistic to measure", ""), signature_of(kind).parameters

    def declared(data: Any, **arguments: Any) -> Any:
        """Replace this docstring."""

    declared.__name__ = declared.__qualname__ = snake_case(kind)
    declared.__module__ = kind.__module__
    declared.__doc__ = DOC.format(
        what=what[0].lower() + what[1:],
        details=details,
        own="\n".join(entry for name, entry in own.items() if name in taken),
        more="" if kind.at_once else ", or two with `ids`",
        call=", ".join(name for name in taken if name in OF_CALLS),
        examples=doc.partition("\n\nExamples\n--------\n")[2],
    )
    return function_of(kind)(declared)
