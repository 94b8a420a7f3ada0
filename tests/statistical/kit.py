"""Many answers of a release whose data are read once, and what `dp.audit` shows of its loss."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np

import dpfast as dp
from dpfast import rng as generators
from dpfast.budget.release import Prepared


def lower_bound(a, b, delta=0.0, by="epsilon"):
    """A bound of epsilon at delta, or of rho, wrong in one of a million runs.

    That it exceeds an epsilon that holds takes both of its limits to be off at once: less than
    1e-10 for an epsilon of at most 1, and 2e-8 for one of 2. Transcripts get numbers of their own.
    """
    if not isinstance(a, np.ndarray):
        numbers = {}
        a, b = ([numbers.setdefault(one, len(numbers)) for one in found] for found in (a, b))
    claim = {"rho": 1} if by == "rho" else {"epsilon": 1, "delta": delta}
    with np.errstate(divide="ignore"):  # an event that one side never shows
        return getattr(dp.audit.measure_answers(a, b, **claim), by)


def repeated(call, size):
    """`size` answers of `call()`, a release: it is measured once, and noise is drawn again."""
    found = []

    def repeat(prepared):
        summary, after = prepared.mechanism.reduce(prepared.source), prepared.after
        for _ in range(size):
            answer = prepared.mechanism.finish(summary, generators.check(prepared.rng))
            found.append(answer if after is None else after(answer))
        return found[-1]

    with patch.object(Prepared, "run", repeat):
        call()
    assert len(found) == size
    return found
