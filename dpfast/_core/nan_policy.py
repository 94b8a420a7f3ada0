"""The policy for NaN and null."""

from __future__ import annotations

from typing import Any

from ..errors import DataError
from . import checks


def checked(nan: Any) -> str | float | None:
    """Return a checked policy for NaN and null, or None, for which `of_rows` chooses."""
    return None if nan is None else checks.nan_policy(nan, "add-remove")


def of_rows(nan: Any, *, is_private: bool) -> str | float:
    """Return the policy for NaN and null of rows whose number is private or public.

    By default missing rows are dropped, as in SQL and data frames, if the number of remaining rows
    is private in any case. If the number of rows is public, missing rows are an error.
    """
    if nan is None:
        return "drop" if is_private else "raise"
    return checks.nan_policy(nan, "add-remove" if is_private else "replace")


def replacement(nan: str | float, lo: float, hi: float) -> str | float:
    """Return the number that replaces a missing value under a policy, or "drop".

    Under "raise" missing rows are dropped and counted. Whether there are missing rows is an answer,
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
