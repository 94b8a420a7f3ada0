"""The plain slow twin of codes: a dictionary, one key at a time."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


class Codes:
    """Numbers of keys in the order in which they were first seen; None is no key."""

    def __init__(self) -> None:
        self.numbers: dict[Hashable, int] = {}

    def find(self, keys: Sequence[Hashable | None]) -> list[int]:
        return [-1 if key is None else self.numbers.get(key, -1) for key in keys]

    def add(self, keys: Sequence[Hashable | None]) -> tuple[list[int], list[int]]:
        """The codes, and the rows whose keys are new."""
        fresh = []
        for row, key in enumerate(keys):
            if key is not None and key not in self.numbers:
                self.numbers[key] = len(self.numbers)
                fresh.append(row)
        return self.find(keys), fresh


def dense(values: Sequence[int | None], first: int, count: int) -> list[int]:
    return [-1 if v is None or not 0 <= v - first < count else v - first for v in values]
