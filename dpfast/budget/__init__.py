"""Budgets, their ledgers, and `release`, which spends before anything is read."""
