"""Shared by several commands: options, the parser of numbers, and tables for the terminal."""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...errors import printable
from ..texts import data_text, number_text


def number(text: str) -> Any:
    """Read a number exactly: 0.1 is one tenth. The library checks its range."""
    power = re.search(r"e[+-]?0*(\d{4,})\s*$", text, re.IGNORECASE)
    try:
        if power:  # a huge exponent: as a fraction, the number might not fit in memory
            return float(text)
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError):
        try:
            return float(text)  # "nan" or "inf", which the library refuses
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a number") from None
    try:
        plain = float(text)  # if it is equal, a float is easier to read in messages
    except ValueError:
        return exact
    return plain if math.isfinite(plain) and Fraction(repr(plain)) == exact else exact


#: The options of statistics and their examples, as texts.
ABOUT = tomllib.loads(data_text("options.toml"))
#: Names of options by their types; others are what a parser returns.
NAMES: dict[Any, str] = {
    **{bool: "interval nonnegative no_quotes as_json as_csv", int: "k fan_out"},
    int | None: "rows_limit rows",
    str: "of categories other columns noise method",
    str | None: "column ledger neighbors ids missing delimiter encoding decimal thousands symbols",
    list[str]: "files where by keys other_key dates storage_options",
    list[Any]: "qs",
}
TYPES = {name: kind for kind, names in NAMES.items() for name in names.split()}


def described(name: str, parser: Any = None) -> Any:
    """Return Typer's declaration of an option, or of the argument `files`, from options.toml."""
    about = {"show_default": False, **ABOUT["options"][name]}
    if name == "files":
        return typer.Argument(**about)
    return typer.Option(*about.pop("flags", ()), parser=parser, **about)


def option(name: str, parser: Any = None) -> Any:
    """Return the annotation of an option of a command: its type and Typer's declaration."""
    return Annotated[TYPES.get(name, Any), described(name, parser)]


def shown(metavar: str, words: str) -> Any:
    """Return Typer's declaration of an option whose help shows a metavar and no default."""
    return typer.Option(metavar=metavar, show_default=False, help=words)


def named(metavar: str, words: str) -> Any:
    """Return Typer's declaration of an argument whose help shows a metavar and no default."""
    return typer.Argument(metavar=metavar, show_default=False, help=words)


Epsilon = Annotated[Any, described("epsilon", number)]
Delta = Annotated[Any, described("delta", number)]
Rho = Annotated[Any, described("rho", number)]
Json = Annotated[bool, described("as_json")]
#: The options about the format of text files and about where files are.
TEXT = {
    name: option(name)
    for name in (
        *("no_quotes", "missing", "delimiter", "encoding", "decimal", "thousands", "symbols"),
        *("dates", "storage_options"),
    )
}
#: The defaults of the options in `TEXT`.
TEXT_DEFAULTS = {**dict.fromkeys(TEXT), "no_quotes": False, "dates": (), "storage_options": ()}


def set_options(
    command: Callable[..., Any], options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    """Set a command's signature: an option for each of the defaults, in their order."""
    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=options[name], default=default)
        for name, default in defaults.items()
    ]
    vars(command).update(__signature__=Signature(parameters))


def text_options(options: dict[str, Any]) -> Any:
    """Remove the options of text files (`TEXT`) and return them as arguments of `Files`."""
    from ..words import items, unquoted

    text = {name: options.pop(name) for name in TEXT if options.get(name) not in (None, ())}
    if text.pop("no_quotes", False):
        text["quotes"] = False
    for name in ("missing", "symbols"):
        if name in text:
            text[name] = [unquoted(item) for item in items(text[name], name)]
    if "delimiter" in text:
        text["delimiter"] = text["delimiter"].replace(r"\t", "\t")
    if "dates" in text:
        text["dates"] = dict(word.partition("=")[::2] for word in text["dates"])
    if "storage_options" in text:
        text["storage_options"] = dict(map(_storage_option, text["storage_options"]))
    return text


def _storage_option(word: str) -> tuple[str, Any]:
    """Read NAME=VALUE as a pair; the value is JSON, or else text. No error shows the value."""
    name, sign, value = word.partition("=")
    if not (name and sign):
        raise typer.BadParameter("storage-options must be NAME=VALUE, such as anon=true")
    with suppress(ValueError):
        return name, json.loads(value)
    return name, value


class Terminal(Console):
    """A console that shows text as it is: without markup, and with no control of the terminal."""

    def __init__(self, **more: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **more)

    def render_str(self, text: str, **more: Any) -> Text:
        """Return a cell, heading, title or line as Rich's text with control characters escaped."""
        return super().render_str(printable(text), **more)


def table_of(*headings: str) -> Table:
    """Return a terminal table with these headings and no rows."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


#: The number of groups that a terminal shows, half of them from either end.
SHOWN = 40


def groups_table(columns: Mapping[str, Sequence[object]]) -> Table:
    """Return a terminal table of groups; of more than `SHOWN`, the first and the last."""
    table = table_of()
    for name, column in columns.items():
        are_numbers = all(isinstance(cell, (int, float)) for cell in column)
        table.add_column(name, overflow="fold", justify="right" if are_numbers else "left")
    rows = list(zip(*columns.values(), strict=True))
    for number, row in enumerate(rows):
        if len(rows) <= SHOWN or not SHOWN // 2 <= number < len(rows) - SHOWN // 2:
            table.add_row(*map(number_text, row))
        elif number == SHOWN // 2:
            table.add_row(*["..."] * len(row))
    return table


def groups_of(columns: Mapping[str, Sequence[object]]) -> str:
    """Return the number of groups as text, such as "3 groups"."""
    groups = len(next(iter(columns.values()), ()))
    return f"{groups:,} group{'' if groups == 1 else 's'}"


def print_pairs(pairs: Iterable[tuple[str, object]], bold: int = 0) -> None:
    """Print a line for each name and value, the first `bold` in bold; skip None and empty text."""
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column()
    table.add_column(overflow="fold")
    for number, (name, value) in enumerate(pairs):
        if value not in (None, ""):
            text = printable(str(value))
            table.add_row(name, Text(text, style="bold") if number < bold else text)
    Terminal(soft_wrap=True).print(table)
