"""Options that several commands have, and the parser of their numbers."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Annotated, Any

import typer


def number(text: str) -> Any:
    """Return the number as it is written: 0.1 is one tenth. The library checks its range."""
    power = re.search(r"e[+-]?0*(\d{4,})\s*$", text, re.IGNORECASE)
    try:
        if power:  # as a float infinite or zero; as a fraction it might fill the memory
            return float(text)
        exact = Fraction(text)
    except (ValueError, ZeroDivisionError):
        try:
            return float(text)  # "nan" and "inf", which the library refuses by name
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a number") from None
    try:
        plain = float(text)  # reads better in messages, where it means the same
    except ValueError:
        return exact
    return plain if math.isfinite(plain) and Fraction(repr(plain)) == exact else exact


def _amount(help: str) -> Any:
    return typer.Option(parser=number, metavar="NUMBER", show_default=False, help=help)


Epsilon = Annotated[Any, _amount("Privacy loss; smaller is safer.")]
Delta = Annotated[Any, _amount("For an (epsilon, delta) loss, with --epsilon.")]
Rho = Annotated[Any, _amount("For a zero-concentrated loss, instead of --epsilon.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
