"""diffprivlib: the exponential mechanism over the gaps of the sorted data (replace)."""

from functools import partial

import numpy as np
from diffprivlib import tools
from diffprivlib.mechanisms import Binary, Exponential, Laplace

NAME, DISTRIBUTION = "diffprivlib", "diffprivlib"
#: A histogram has noise for one row more or less; a number of rows changes by one in either case.
OFFERS = {
    "quantile": ["replace"],
    "sum": ["replace"],
    "mean": ["replace"],
    "variance": ["replace"],
    "count": ["replace", "add-remove"],
    "histogram": ["add-remove"],
}


def median(data, bounds, epsilon):
    return tools.median(data, epsilon=epsilon, bounds=bounds)


def laplace(scale, size):
    mechanism = Laplace(epsilon=1.0, sensitivity=scale)
    return [mechanism.randomise(0.0) for _ in range(size)]


def noisy_max(scores, sensitivity, epsilon):
    """The exponential mechanism, which wants a list and keeps a list of probabilities."""
    utility = scores.tolist()
    return Exponential(epsilon=epsilon, sensitivity=sensitivity, utility=utility).randomise()


def sum(data, bounds, epsilon):
    return tools.sum(data, epsilon=epsilon, bounds=bounds)


def mean(data, bounds, epsilon):
    return tools.mean(data, epsilon=epsilon, bounds=bounds)


def variance(data, bounds, epsilon):
    return tools.var(data, epsilon=epsilon, bounds=bounds)


def std(data, bounds, epsilon):
    return tools.std(data, epsilon=epsilon, bounds=bounds)


def count_nonzero(data, bounds, epsilon):
    return tools.count_nonzero(data, epsilon=epsilon)


def percentile(data, bounds, epsilon):
    return tools.percentile(data, 90, epsilon=epsilon, bounds=bounds)


def histogram(data, bounds, epsilon):
    return tools.histogram(data, epsilon=epsilon, bins=100, range=bounds)


def response(bits, epsilon):
    """One answer a call, of text."""
    mechanism = Binary(epsilon=epsilon, value0="0", value1="1")
    return [mechanism.randomise("1" if bit else "0") for bit in bits]


def count(data, bounds, epsilon):
    return tools.count_nonzero(data, epsilon=epsilon)


def draws(kind, rows, bounds, epsilon, neighbors, **given):
    if kind == "quantile":
        return quantile_draws(rows, bounds, epsilon, **given)
    if kind == "histogram":
        return lambda: histogram(rows, bounds, epsilon)[0]
    return partial(globals()[kind], rows, bounds, epsilon)


def quantile_draws(rows, bounds, epsilon, q, step=None):
    """`tools.quantile`, whose table of probabilities is made once instead of for each draw."""
    edges = np.sort(np.append(np.clip(rows, *bounds), bounds))
    utility, sizes = -np.abs(np.arange(len(rows) + 1) - q * len(rows)), np.diff(edges)
    law = Exponential._find_probabilities(epsilon, 1, utility.tolist(), False, sizes.tolist())
    if np.isnan(law[-1]):
        raise RuntimeError("all probabilities are 0")
    random = np.random.default_rng()

    def draw():
        gap = np.searchsorted(law, random.random() * law[-1])
        return edges[gap] + random.random() * sizes[gap]

    return draw
