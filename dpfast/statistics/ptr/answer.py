"""`NO_ANSWER`: what a propose-test-release function returns if its test fails."""

from __future__ import annotations

from typing import Final


class NoAnswer:
    """The type of `dpfast.NO_ANSWER`, which is its only instance, also after a copy or a pickle.

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
