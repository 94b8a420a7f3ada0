"""How NaN and null are handled: the argument `nan`."""

from __future__ import annotations

from typing import Any

from ..errors import DataError
from . import checks


def checked(nan: Any) -> str | float | None:
    """Return a checked `nan` argument; None means that `of_rows` chooses."""
    return None if nan is None else checks.nan_policy(nan, "add-remove")


def of_rows(nan: Any, *, is_private: bool) -> str | float:
    """Return how to handle NaN and null, for a private or a public number of rows.

    By default, missing rows are dropped, as in SQL and data frames, if the number of rows is
    private. They are an error if the number of rows is public.
    """
    if nan is None:
        return "drop" if is_private else "raise"
    return checks.nan_policy(nan, "add-remove" if is_private else "replace")


def replacement(nan: str | float, lo: float, hi: float) -> str | float:
    """Return the number that replaces a missing value, or "drop".

    Under "raise" missing rows are dropped and counted. Whether there are any depends on the data,
    so the error comes after the pass.
    """
    if not isinstance(nan, str):
        return nan
    if nan == "lower":
        return lo
    return hi if nan == "upper" else "drop"


def refuse(nan: str | float | None, missing: int) -> None:
    """Raise the error of ``nan="raise"`` if values are missing."""
    if nan == "raise" and missing:
        raise DataError(
            "data hold NaN or null, which nan='raise' does not allow: choose nan='lower', "
            "nan='upper', a public number, or (with neighbors='add-remove') nan='drop'"
        )
