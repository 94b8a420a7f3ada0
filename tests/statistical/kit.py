"""What `dp.audit` shows of the loss of a release by its answers on two neighbors."""

from __future__ import annotations

import numpy as np

import dpfast as dp


def lower_bound(a, b, delta=0.0, by="epsilon"):
    """A bound of epsilon at delta, or of rho, wrong in one of a million runs.

    That it exceeds an epsilon that holds takes both of its limits to be off at once: less than
    1e-10 for an epsilon of at most 1, and 2e-8 for one of 2.

    Answers are numbers; others, as transcripts, get numbers of their own.
    """
    if not isinstance(a, np.ndarray):
        numbers = {}
        a, b = ([numbers.setdefault(one, len(numbers)) for one in found] for found in (a, b))
    claim = {"rho": 1} if by == "rho" else {"epsilon": 1, "delta": delta}
    return getattr(dp.audit.measure_answers(a, b, **claim), by)
