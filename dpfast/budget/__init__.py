"""What may be spent: the budget, its ledger, and `release`, which spends before it reads data."""
