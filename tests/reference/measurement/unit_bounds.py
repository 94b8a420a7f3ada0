"""The plain slow twin of the bound on rows of a unit: one by one, the law as it is defined."""

import math


def law(sizes, rate, octaves, prior=1 / 8, replaced=False):
    """How probable each bound is, for units of so many rows."""
    weights = {}
    span = 80 if replaced else 64
    few, most, crowds = int(16 / rate), int(span / 2 / rate), 0
    for k in range(1, 16 * octaves + 1):
        number = math.ldexp(1 + k % 16 / 16, k // 16)
        beyond = sum(size >= number for size in sizes)
        crowd = sum(number / 2 <= size < number for size in sizes)
        crowds += min(max(crowd - few, 0), most)
        bound = math.ceil(number) - 1
        assert beyond == sum(size > bound for size in sizes)
        weight = math.exp(-rate / span * (64 * beyond + crowds) - (k - 1) * prior)
        weights[bound] = weights.get(bound, 0.0) + weight
    whole = sum(weights.values())
    return {bound: weight / whole for bound, weight in weights.items()}
