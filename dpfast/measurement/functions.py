"""Public functions of statistics: `dpfast.mean` of `dpfast.Mean`, and so on.

A function takes data, the arguments of its class, and the arguments of `Statistic.prepare`. So its
signature follows from the class, and only its docstring is written by hand. `public` also makes the
docstring, from the docstring of the class.
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

#: The fields of a statistic by group that hold names of columns.
OF_TABLES = ("column", "other", "weights")
#: The parameters that every public function has.
PREPARED_BY = signature(Statistic.prepare).parameters
CALL = [parameter for name, parameter in PREPARED_BY.items() if name in OF_CALLS]

CALL_HINTS = get_type_hints(Statistic.prepare)


@cache
def _type_of(module: str, annotation: Any) -> Any:
    """Return the type that an annotation in a module names; cached, as most classes share it."""
    is_text = isinstance(annotation, str)
    return eval(annotation, vars(sys.modules[module])) if is_text else annotation


def signature_of(kind: type[Statistic[Any]]) -> Signature:
    """Return the signature of the public function of a class of statistics."""
    said = [field for field in fields(kind) if field.init and field.name not in OF_TABLES]
    required = signature(kind).parameters
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY if field.kw_only else Parameter.POSITIONAL_OR_KEYWORD,
            default=required[field.name].default if field.kw_only else Parameter.empty,
            annotation=field.type if field.kw_only else str(field.type).removesuffix(" | None"),
        )
        for field in sorted(said, key=lambda field: bool(field.kw_only))
    ]
    left_out = {*kind.leaves_out, *(() if issubclass(kind, Weighted) else ("weights",))}
    call = [parameter for parameter in CALL if parameter.name not in left_out]
    data = Parameter("data", Parameter.POSITIONAL_OR_KEYWORD, annotation="Any")
    answer = formatannotation(answer_of(kind)).replace("numpy.", "np.")
    return Signature([data, *parameters, *call], return_annotation=answer)


def answer_of(kind: type[Statistic[Any]]) -> Any:
    """Return the type of the answers of a class of statistics, as declared by its generic base."""
    for base in kind.__mro__:
        for of in vars(base).get("__orig_bases__", ()):
            for argument in get_args(of):
                if not isinstance(argument, TypeVar):
                    return argument
    return Any


def refuse_call(name: str, error: str, arguments: Iterable[str], taken: Signature) -> NoReturn:
    """Raise an error for a call with wrong arguments, with a hint at the arguments it takes."""
    names = [parameter for parameter in taken.parameters if parameter != "self"]
    unknown = [argument for argument in arguments if argument not in names]
    more = f"; it takes: {listed(names)}" if unknown or "positional" in error else ""
    near = nearest(unknown[0], names) if unknown else ""
    raise ArgumentTypeError(f"{name}() {error}{near or more}") from None


def function_of(
    kind: type[Statistic[Any]], make: Callable[..., Statistic[Any]] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a declared function the public function of a class.

    Parameters
    ----------
    kind : type
        The class, which has the arguments.
    make : callable, optional
        A function that makes the statistic from the arguments. By default it is the class.
    """
    taken = signature_of(kind)
    statistic_of: Callable[..., Statistic[Any]] = make or kind
    by_name = {name: p for name, p in taken.parameters.items() if p.kind is p.KEYWORD_ONLY}
    placed = [name for name in taken.parameters if name not in by_name]
    hints = {**CALL_HINTS}
    for base in reversed(kind.__mro__):
        for name in get_annotations(base).keys() & taken.parameters.keys():
            hints[name] = _type_of(base.__module__, get_annotations(base)[name])
    needed = {name for name, p in by_name.items() if p.default is p.empty}

    def of(declared: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*args: Any, **kwargs: Any) -> Statistic[Any]:
            arguments = dict(zip(placed, args, strict=False)) | kwargs
            if len(args) != len(placed) or not needed <= kwargs.keys() <= by_name.keys():
                try:
                    arguments = taken.bind(*args, **kwargs).arguments
                except TypeError as error:
                    refuse_call(declared.__name__, str(error), kwargs, taken)
            del arguments["data"]
            return statistic_of(**{name: arguments[name] for name in arguments.keys() - OF_CALLS})

        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(ask, name, getattr(declared, name))
        ask.__annotations__ = {name: hints.get(name, Any) for name in taken.parameters}
        ask.__annotations__["return"] = Statistic[answer_of(kind)]  # type: ignore[misc]
        vars(ask).update(__signature__=taken, __wrapped__=declared)
        return measures_once(ask)

    return of


#: The docstring of a public function; the docstring of its class fills it.
DOC = """\
Release {what}

{details}

Parameters
----------
data : array_like, table, file or source
    The rows, in a form that `dpfast.mean` takes.
{own}
{call}
    As in `dpfast.mean`.

Returns
-------
float or ndarray
    The private answer: a number, or an array of numbers if there are several answers.

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
    """Return the public function of a class of statistics, with a docstring made of the class's."""
    head, _, doc = cleandoc(kind.__doc__ or "").partition("\n\n")
    details, _, doc = doc.partition("\n\nParameters\n----------\n")
    entries, *_ = doc.partition("\n\n")
    described = {entry.partition(" :")[0]: entry for entry in re.split(r"\n(?=\w)", entries)}
    what, taken = head.replace(", as a statistic to measure", ""), signature_of(kind).parameters

    def declared(data: Any, **arguments: Any) -> Any:
        """A placeholder for the public function, whose name and docstring are set below."""

    declared.__name__ = declared.__qualname__ = snake_case(kind)
    declared.__module__ = kind.__module__
    declared.__doc__ = DOC.format(
        what=what[0].lower() + what[1:],
        details=details,
        own="\n".join(entry for name, entry in described.items() if name in taken),
        more="" if kind.at_once else ", or two with `ids`",
        call=", ".join(name for name in taken if name in OF_CALLS),
        examples=doc.partition("\n\nExamples\n--------\n")[2],
    )
    return function_of(kind)(declared)
