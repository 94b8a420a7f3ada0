"""Fuzzing of what reads bytes of others: text tables, job files, ledgers, lists of labels."""
