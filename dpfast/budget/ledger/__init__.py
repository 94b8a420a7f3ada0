"""Storage of ledger entries: in memory, or in a file that survives the process."""

from __future__ import annotations

from .entries import Amounts, Memory, Spend, State, Unit

__all__ = ["Amounts", "Memory", "Spend", "State", "Unit"]
