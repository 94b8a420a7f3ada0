"""An answer to a linear query."""

from __future__ import annotations

from typing import Any

from ..privacy import Loss


class Answer(float):
    """A private answer: a number, and how it came about.

    Attributes
    ----------
    hard : bool
        Whether the data were asked with noise, which uses up one of the hard answers. An easy
        answer comes from what was public already. Which of the two it is, is public.
    remaining : int
        How many hard answers are left.
    spent : Pure, Approx or ZCDP
        What the whole stream costs: paid at its beginning, whatever is asked.

    Examples
    --------
    >>> import dpfast as dp
    >>> stream = dp.online.MedianMechanism(
    ...     [7000, 2000, 1000], epsilon=1, queries=10, accuracy=0.1)
    >>> share = stream.answer([1, 0, 0])
    >>> share.hard, share.remaining < stream.hard, abs(share - 0.7) <= 0.1
    (True, True, True)
    """

    __slots__ = ("hard", "remaining", "spent")

    hard: bool
    remaining: int
    spent: Loss

    def __new__(cls, value: float, hard: bool, remaining: int, spent: Loss) -> Answer:
        made = super().__new__(cls, value)
        made.hard, made.remaining, made.spent = hard, remaining, spent
        return made

    def __repr__(self) -> str:
        kind = "hard" if self.hard else "easy"
        return f"Answer({float(self)!r}, {kind}, {self.remaining} hard answers left)"

    def __reduce__(self) -> Any:
        return type(self), (float(self), self.hard, self.remaining, self.spent)
