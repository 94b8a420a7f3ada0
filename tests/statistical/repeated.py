"""Many answers of one release whose data are read once."""

from __future__ import annotations

from unittest.mock import patch

from dpfast import rng as generators
from dpfast.budget.release import Prepared


def answers(call, size):
    """`size` answers of `call()`, a release.

    What it measures before its noise is the same each time, so it is measured once, and only what
    is drawn is drawn again.
    """
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
