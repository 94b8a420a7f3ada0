"""The verbs of `dpfast.sensitivity` for a statistic that is made of its public arguments."""

import dpfast as dp

#: How much larger than the exact number a smooth bound may be.
EXCESS = 1 + 2.0**-41


def close(got, want):
    """Equal but for the stated excess and the rounding of the reference."""
    return want * (1 - 1e-13) <= got <= want * (1 + 1e-12)


def global_of(kind, rows=None, *, neighbors="add-remove", **public):
    return dp.sensitivity.global_(kind(**public), rows=rows, neighbors=neighbors)


def local_of(kind, data, *, at_distance=0, neighbors="add-remove", **public):
    statistic = kind(**public)
    return dp.sensitivity.local(statistic, data, at_distance=at_distance, neighbors=neighbors)


def smooth_of(kind, data, *, beta, neighbors="add-remove", **public):
    return dp.sensitivity.smooth(kind(**public), data, beta=beta, neighbors=neighbors)
