"""NumPy: noise in float64."""

import numpy as np

NAME, DISTRIBUTION = "NumPy", "numpy"
COUNT, GRID = 20_000, 2.0**-20


def low_bits(control):
    """Laplace noise on 1 and on 0: a sum near 0 has the last bit of the larger term.

    The control draws it on a grid, as the difference of two geometric numbers.
    """
    rng = np.random.default_rng()

    def answers(true):
        if not control:
            return true + rng.laplace(0, 1, COUNT)
        first, second = rng.geometric(-np.expm1(-GRID), (2, COUNT))
        return true + GRID * (first - second)

    return {"epsilon": 1.0}, answers(1.0), answers(0.0)
