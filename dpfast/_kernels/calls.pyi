"""Made by tools/stubs.py."""

from typing import Any

def public_part(
    args: tuple[Any, ...], kwargs: dict[str, Any], others: frozenset[str], plain: frozenset[type]
) -> tuple[tuple[Any, ...], tuple[str, ...], tuple[Any, ...], tuple[type, ...]] | None: ...
