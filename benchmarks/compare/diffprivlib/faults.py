"""diffprivlib: noise with a seed, and data that a model changes."""

import numpy as np
from diffprivlib import BudgetAccountant, models, tools

NAME, DISTRIBUTION = "diffprivlib", "diffprivlib"
COUNT = 3_000


def same_seed(control):
    """The difference of two counts with noise of one seed, which is new and secret for each answer.

    Both counts have the same noise, so it is the difference of the true ones. The control gives no
    seed.
    """
    rng = np.random.default_rng()
    here, other = np.repeat([1, 0], 50), np.repeat([0, 1], 50)
    spent = BudgetAccountant()
    for _ in range(2):
        tools.count_nonzero(here, epsilon=0.5, accountant=spent)

    def answers(rows):
        def once():
            given = {"epsilon": 0.5, "random_state": None}
            if not control:
                given["random_state"] = int(rng.integers(2**31))
            unaccounted = {"accountant": BudgetAccountant()}
            first, second = (tools.count_nonzero(x, **given, **unaccounted) for x in (rows, other))
            return first - second

        return np.array([once() for _ in range(COUNT)])

    less = here.copy()
    less[0] = 0
    epsilon, delta = spent.total()
    return {"epsilon": epsilon, "delta": delta}, answers(here), answers(less)


def data_changed(control):
    """The rows before and after a fit of principal components, whose argument `copy` is true.

    The control fits a regression.
    """
    rows = np.random.default_rng(1).uniform(0, 1, (500, 4))
    kept = rows.copy()
    if control:
        model = models.LinearRegression(epsilon=1.0, bounds_X=(0, 1), bounds_y=(0, 1))
        model.fit(rows, rows[:, 0].copy())
    else:
        models.PCA(n_components=2, epsilon=1.0, bounds=(0, 1), data_norm=2.0, copy=True).fit(rows)
    return None, kept, rows
