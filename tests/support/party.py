"""The other party, in a process of its own. It is told where its rows come from and who may ask."""

import numpy as np

import dpfast as dp
from dpfast.rng import InsecureGenerator


def table(who, n=6000):
    """The columns of each party: beta leans on alpha, and each has something of its own."""
    g = np.random.default_rng(7)
    alpha = g.random(n) < 0.3
    own = g.integers(0, 90, n)
    beta = g.random(n) < np.where(alpha & (own >= 40), 0.7, 0.2)
    return {"smokes": alpha, "age": own} if who == "a" else {"ill": beta, "weight": 40.0 + own}


def run(who, connection, ledger=None, seed=None, questions=1):
    """Answer until the other end hangs up. With a seed for tests there can be no budget."""
    budget = dp.Budget(rho=1, path=ledger) if ledger else None
    rng = None if seed is None else InsecureGenerator(seed)
    sums = dp.sulq.NoisySums(
        table(who), rho=0.5, queries=questions, neighbors="replace", budget=budget, rng=rng
    )
    dp.sulq.serve(sums, connection)
