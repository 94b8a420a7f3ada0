"""PyDP: Google's bounded quantile tree (add-remove)."""

from pydp.algorithms.laplacian import Median
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

NAME, DISTRIBUTION = "PyDP", "python-dp"


def median(data, bounds, epsilon):
    lo, hi = bounds
    mechanism = Median(epsilon=epsilon, lower_bound=lo, upper_bound=hi, dtype="float")
    return mechanism.quick_result(data.tolist())


def laplace(scale, size):
    mechanism = LaplaceMechanism(epsilon=1.0, sensitivity=scale)
    return [mechanism.add_noise(0.0) for _ in range(size)]
