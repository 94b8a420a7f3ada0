"""The policy for NaN and null."""

from __future__ import annotations

from ..errors import DataError


def replacement(policy: str | float, lo: float, hi: float) -> str | float:
    """Return the number that replaces a missing value, or "drop".

    Under "raise" missing rows are dropped and counted. Whether there are any is an answer, so the
    error comes when the pass is over.
    """
    if not isinstance(policy, str):
        return policy
    if policy == "lower":
        return lo
    return hi if policy == "upper" else "drop"


def refuse(policy: str | float, missing: int) -> None:
    """Raise the error of ``nan="raise"`` if values are missing."""
    if policy == "raise" and missing:
        raise DataError(
            "data hold NaN or null, which nan='raise' does not allow; choose a policy with "
            "nan='lower', nan='upper', a public replacement number, or (with "
            "neighbors='add-remove') nan='drop'"
        )
