"""diffprivlib: noise with a seed, data that a model changes, limits and labels of models."""

import numpy as np
from diffprivlib import BudgetAccountant, models, tools

NAME, DISTRIBUTION = "diffprivlib", "diffprivlib"
COUNT = 3_000
#: Answers are rounded to it, so that they differ by what is shown here alone.
GRID = 2.0**-10


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


def upper_bound(control):
    """The slope of a line through the origin, whose sum of squares gets noise for the lower bound.

    This is 0, and so is the noise. The control has the limits -1 and 1.
    """

    def answers(last):
        rows, zeros = np.array([[0.0]] * 9 + [[last]]), np.zeros(10)

        def once():
            limits = {"bounds_X": (-1 if control else 0, 1), "bounds_y": (0, 1)}
            model = models.LinearRegression(
                epsilon=1.0, fit_intercept=False, accountant=BudgetAccountant(), **limits
            )
            return model.fit(rows, zeros).coef_[0]

        return GRID * np.rint(np.array([once() for _ in range(COUNT // 3)]) / GRID)

    return {"epsilon": 1.0}, answers(1.0), answers(0.1)


def labels(control):
    """The number of classes of a model, which are those that rows have.

    The control adds a public row of each class.
    """
    rng = np.random.default_rng(1)
    rows, known = rng.uniform(-1, 1, (30, 2)), np.arange(3)

    def answers(last):
        x, y = rows, np.array([0, 1] * 14 + [0, last])
        if control:
            x, y = np.concatenate([x, np.zeros((3, 2))]), np.concatenate([y, known])

        def once():
            model = models.LogisticRegression(
                epsilon=1.0, data_norm=2.0, max_iter=5, accountant=BudgetAccountant()
            )
            return len(model.fit(x, y).classes_)

        return np.array([once() for _ in range(256)])

    return {"epsilon": 1.0}, answers(2), answers(1)


def not_a_number(control):
    """Whether a mean is NaN, which it is if one of the rows is. The control is `nanmean`."""
    mean = tools.nanmean if control else tools.mean

    def answers(last):
        rows = np.array([0.5] * 9 + [last])
        given = {"epsilon": 1.0, "bounds": (0, 1), "accountant": BudgetAccountant()}
        return np.array([np.isnan(mean(rows, **given)) for _ in range(COUNT)], int)

    return {"epsilon": 1.0}, answers(np.nan), answers(0.5)
