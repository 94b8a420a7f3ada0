"""`NO_ANSWER`, returned where the test refuses an answer."""

from __future__ import annotations

from typing import Final


class NoAnswer:
    """The type of `dpfast.NO_ANSWER`, of which there is one; copies and pickles are the same one.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.NO_ANSWER
    dpfast.NO_ANSWER
    >>> bool(dp.NO_ANSWER)
    False
    """

    __slots__ = ()
    _only: NoAnswer | None = None

    def __new__(cls) -> NoAnswer:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "dpfast.NO_ANSWER"

    def __reduce__(self) -> str:
        return "NO_ANSWER"


NO_ANSWER: Final = NoAnswer()
