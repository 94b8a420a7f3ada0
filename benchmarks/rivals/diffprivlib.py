"""diffprivlib: the exponential mechanism over the gaps of the sorted data (replace)."""

from diffprivlib import tools
from diffprivlib.mechanisms import Binary, Exponential, Laplace

NAME, DISTRIBUTION = "diffprivlib", "diffprivlib"


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
