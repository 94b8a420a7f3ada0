"""diffprivlib: the exponential mechanism over the gaps of the sorted data (replace)."""

from diffprivlib import tools
from diffprivlib.mechanisms import Exponential, Laplace

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
