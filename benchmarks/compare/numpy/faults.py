"""NumPy: noise in float64, and an algorithm of which no package is released."""

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


def joint_selection(control):
    """The exponential mechanism on how much more a model errs than public rows do, of each column.

    A row that is replaced changes either error by 2, and these in opposite directions, so scores
    change by 4; the noise is that for 2. The control has that for 4.
    """
    rng = np.random.default_rng()
    columns, ones, modelled, public = 40, 50, 20, 80
    sensitivity = 4 if control else 2

    def answers(value):
        true = ones + np.where(np.arange(columns) == 0, value, 1 - value)
        scores = 2 * abs(true - modelled) - 2 * abs(true - public)
        weights = np.exp((scores - scores.max()) / (2 * sensitivity))
        return (rng.choice(columns, 5 * COUNT, p=weights / weights.sum()) == 0).astype(int)

    return {"epsilon": 1.0}, answers(1), answers(0)
