"""Where the lines of a budget are kept: in memory, or in a file that survives the process."""

from __future__ import annotations

from .entries import Amounts, Entry, Memory, Spend, State, Storage

__all__ = ["Amounts", "Entry", "Memory", "Spend", "State", "Storage"]
