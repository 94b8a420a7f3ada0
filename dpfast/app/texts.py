"""Losses, answers and error bars as text for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..extend import Expected


def loss_text(amounts: Mapping[str, float]) -> str:
    """Return a loss as text, without a delta of 0."""
    shown = {name: amount for name, amount in amounts.items() if amount or name != "delta"}
    return ", ".join(f"{name}={amount:g}" for name, amount in shown.items())


def number_text(value: Any, digits: int = 6) -> str:
    """Return numbers, or times, which are text, as one text; nothing for None."""
    if isinstance(value, list):
        return f"[{', '.join(number_text(number, digits) for number in value)}]"
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def error_text(half_width: Any, ranks: Any, digits: int = 6) -> str:
    """Return an error bar as text; nothing if it is not known."""
    if half_width is not None:
        return f"± {number_text(half_width, digits)}"
    return "" if ranks is None else str(Expected(0, ranks=ranks))
