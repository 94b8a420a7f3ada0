"""dpmm: models for which nobody states the domain."""

import copy

import numpy as np
import pandas as pd
from dpmm.models.aim import AIM
from dpmm.models.priv_bayes import PrivBayes

NAME, DISTRIBUTION = "dpmm", "dpmm"
COUNT, DELTA = 256, 1e-5
#: What a column may hold.
DOMAIN = {"a": 4, "b": 2}


def inferred(model):
    """The cells of the noisy marginals, of which there are as many as the largest value says."""
    low = pd.DataFrame({"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10})
    high = low.copy()
    high.loc[0, "a"] = 3

    def answers(rows):
        def once():
            fitted = copy.deepcopy(model)
            fitted.fit(rows, marginals_only=True)
            return sum(noisy.size for _, noisy, _, columns in fitted.measures if "a" in columns)

        return np.array([once() for _ in range(COUNT)])

    return {"epsilon": 1.0, "delta": DELTA}, answers(high), answers(low)


def domain_of_aim(control):
    """The control is told the domain."""
    given = {"rounds": 1, "n_iters": 1, "n_jobs": 1}
    return inferred(AIM(epsilon=1.0, delta=DELTA, domain=DOMAIN if control else None, **given))


def domain_of_privbayes(control):
    """The control is told the domain, and which column has no parent."""
    prng = np.random.RandomState(1) if control else None
    given = {"n_jobs": 1, "prng": prng, "domain": DOMAIN if control else None}
    return inferred(PrivBayes(epsilon=1.0, delta=DELTA, **given))
