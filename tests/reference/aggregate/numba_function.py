"""The plain slow twin of the loop over blocks: Python's own call, one block after the other."""

import numpy as np


def answers(function, rows, offsets, d):
    """One row a block; NaN where there is no answer."""
    wanted = 1 if d is None else d
    out = np.full((len(offsets) - 1, wanted), np.nan)
    for b, row in enumerate(out):
        block = rows[offsets[b] : offsets[b + 1]].copy()
        if len(block) == 0:
            continue
        try:
            answer = function(block)
        except Exception:
            continue
        if answer is None:
            continue
        numbers = [answer] if d is None else list(answer)
        if len(numbers) == wanted:
            row[:] = [float(x) for x in numbers]
    return out
