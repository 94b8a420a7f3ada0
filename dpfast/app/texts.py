"""Losses, answers and error bars as text for readers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from ..extend import ErrorBar

#: The amounts of losses.
AMOUNTS = ("epsilon", "delta", "rho")


def data_text(name: str) -> str:
    """Return the content of a text file in the folder `dpfast/data`."""
    return files("dpfast").joinpath("data", name).read_text("utf-8")


def loss_text(loss: Mapping[str, Any]) -> str:
    """Return a loss as text such as "epsilon=1", without a delta of 0; amounts may be ratios."""
    amounts = {name: amount_of(loss[name]) for name in AMOUNTS if name in loss}
    shown = {name: amount for name, amount in amounts.items() if amount or name != "delta"}
    return ", ".join(f"{name}={amount:g}" for name, amount in shown.items())


def amount_of(amount: float | str) -> float:
    """Return an amount of a loss as a float; records have amounts as texts of exact ratios."""
    if isinstance(amount, str):
        above, _, below = amount.partition("/")
        return int(above, 0) / int(below or "1", 0)
    return amount


def unit_text(release: Mapping[str, Any]) -> str:
    """Return the contribution bounds in a release's record as text; nothing if there are none."""
    ids, parameters = release["unit"]["ids"], release["parameters"]
    if ids is None:
        return ""
    sizes = {name: parameters.get(name) for name in ("max_rows", "max_groups")}
    rows, groups = ("a drawn number of" if size == "auto" else size for size in sizes.values())
    parts = [f"{rows} rows"] if rows else []
    parts += [f"{groups} group{'s' * (groups != 1)}"] if groups else []
    return f"at most {' in each of '.join(parts)} of each {ids or 'person'}" if parts else ""


def number_text(value: Any) -> str:
    """Return a number, a time (a text) or a list of these as one text; None as an empty text."""
    if isinstance(value, list):
        return f"[{', '.join(map(number_text, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def error_text(error: Mapping[str, Any]) -> str:
    """Return the error bar in a record or row as text; an empty text if none is known."""
    size, ranks = error.get("half_width"), error.get("ranks")
    if error.get("low") is not None:
        return f"{number_text(error['low'])} to {number_text(error['high'])}"
    if isinstance(size, Mapping):  # an error bar for each of several statistics
        return ", ".join(f"{name} ± {bar:.6g}" for name, bar in size.items() if bar is not None)
    return "" if size is ranks is None else str(ErrorBar(0, size, ranks))
