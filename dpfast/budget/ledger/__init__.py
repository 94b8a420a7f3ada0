"""Where the lines of a budget are kept: in memory, or in a file that survives the process."""

from __future__ import annotations

from .entries import Amounts, Entry, Keeper, Memory, Spend, State

__all__ = ["Amounts", "Entry", "Keeper", "Memory", "Spend", "State"]
