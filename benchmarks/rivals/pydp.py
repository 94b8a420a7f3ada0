"""PyDP: Google's bounded quantile tree (add-remove)."""

import numpy as np
from pydp.algorithms.laplacian import (
    BoundedMean,
    BoundedSum,
    BoundedVariance,
    Count,
    Median,
    Percentile,
)
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

NAME, DISTRIBUTION = "PyDP", "python-dp"
KINDS = {
    "quantile": Percentile,
    "sum": BoundedSum,
    "mean": BoundedMean,
    "variance": BoundedVariance,
    "count": Count,
}
OFFERS = {kind: ["add-remove"] for kind in KINDS}


def median(data, bounds, epsilon):
    lo, hi = bounds
    mechanism = Median(epsilon=epsilon, lower_bound=lo, upper_bound=hi, dtype="float")
    return mechanism.quick_result(data.tolist())


def laplace(scale, size):
    mechanism = LaplaceMechanism(epsilon=1.0, sensitivity=scale)
    return [mechanism.add_noise(0.0) for _ in range(size)]


def draws(kind, rows, bounds, epsilon, neighbors, q=None, step=None):
    """Without bounds (None) it looks for some itself."""
    given = {"epsilon": float(epsilon), "dtype": "float"}
    if kind == "count":
        rows = rows[rows != 0]
    elif bounds is not None:
        given |= dict(zip(("lower_bound", "upper_bound"), bounds, strict=True))
    if q is not None:
        given["percentile"] = q
    values = np.asarray(rows, float).tolist()
    return lambda: KINDS[kind](**given).quick_result(values)
