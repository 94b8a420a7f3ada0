"""What each cell weighs before the data are seen, by the text of `dpfast.noise.grid`."""

import math


def weights(base, first, last):
    """{cell: weight}, from the public numbers of a `Base`."""
    found = {}
    for cell in range(first, last + 1):
        weight = base.uniform + base.zero * (cell == 0)
        away = cell if cell >= 0 else -1 - cell
        octave = max(base.floor, (away + 1).bit_length() - 1)
        weight += (base.above if cell >= 0 else base.below) * 2 ** max(0, base.top - octave)
        found[cell] = weight
    for spacing, one in zip(base.round_steps.tolist(), base.weights.tolist(), strict=True):
        for m in range(math.floor(first / spacing), math.floor(last / spacing) + 2):
            if math.floor(m * spacing) in found:
                found[math.floor(m * spacing)] += one
    return found
