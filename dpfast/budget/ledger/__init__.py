"""Storage of ledger entries: in memory, or in a file that survives the process."""

from __future__ import annotations

from .entries import Amounts, Decision, Memory, Spend, State, Storage

__all__ = ["Amounts", "Decision", "Memory", "Spend", "State", "Storage"]
