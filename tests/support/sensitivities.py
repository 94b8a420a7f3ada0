"""The verbs of `dpfast.sensitivity` for a statistic that is made of its public arguments."""

import dpfast as dp


def global_of(kind, rows=None, *, neighbors="add-remove", **public):
    return dp.sensitivity.global_(kind(**public), rows=rows, neighbors=neighbors)


def local_of(kind, data, *, at_distance=0, neighbors="add-remove", **public):
    statistic = kind(**public)
    return dp.sensitivity.local(statistic, data, at_distance=at_distance, neighbors=neighbors)


def smooth_of(kind, data, *, beta, neighbors="add-remove", **public):
    return dp.sensitivity.smooth(kind(**public), data, beta=beta, neighbors=neighbors)
