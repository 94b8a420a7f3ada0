"""Synthcity: PrivBayes.

Only its module of PrivBayes is read. The other modules of Synthcity, and pgmpy, need Torch. They
are for what comes after the last use of the data: a network with noise, and rows drawn from it.
"""

import functools
import importlib.util
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd

NAME, DISTRIBUTION = "Synthcity", "synthcity"
COUNT = 256
#: What the module imports and no method below uses.
UNUSED = {
    "pgmpy.factors.discrete.CPD": ("TabularCPD",),
    "pgmpy.models": ("BayesianNetwork",),
    "pgmpy.sampling": ("BayesianModelSampling",),
    "synthcity.logger": ("debug", "info"),
    "synthcity.plugins.core.dataloader": ("DataLoader",),
    "synthcity.plugins.core.distribution": ("Distribution",),
    "synthcity.plugins.core.plugin": ("Plugin",),
    "synthcity.plugins.core.schema": ("Schema",),
    "synthcity.plugins.core.serializable": ("Serializable",),
    "synthcity.utils.reproducibility": ("enable_reproducible_results",),
}


class Unused:
    def __init__(self, *given, **named):
        pass


@functools.cache
def privbayes():
    package = Path(importlib.util.find_spec("synthcity").origin).parent
    for name, parts in UNUSED.items():
        for parent in (name, *(name.rsplit(".", k)[0] for k in range(1, name.count(".") + 1))):
            sys.modules.setdefault(parent, types.ModuleType(parent))
        for part in parts:
            setattr(sys.modules[name], part, Unused)
    sys.modules["synthcity"].logger = sys.modules["synthcity.logger"]
    path = package / "plugins" / "privacy" / "plugin_privbayes.py"
    spec = importlib.util.spec_from_file_location("plugin_privbayes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.tqdm = iter
    return module.PrivBayes


def table(rows, columns=3):
    """Columns of which each splits the rows in another way."""
    bits = np.arange(rows)[:, None] >> np.arange(columns) & 1
    return pd.DataFrame(bits, columns=list("abcdefgh"[:columns]))


def rows_counted(control):
    """The most parents of a column, which `fit` chooses by the number of rows: of 64 it is 1.

    Of 65 it is 3. The control takes the public number for which the model was meant.
    """
    release = privbayes()

    def answers(rows):
        def once():
            model = release(epsilon=1.0)
            return model._compute_K(table(64 if control else rows))

        return np.array([once() for _ in range(COUNT)])

    return {"epsilon": 1.0}, answers(65), answers(64)


def zero_scale(control):
    """Counts of the rows of three columns: with as many parents, which is the default for 100 rows,
    the scale of their noise is 0.

    The control has the noise for a table of each column.
    """
    release = privbayes()

    def mended(model, rows, columns):
        return 2 * columns / model.epsilon

    def answers(data):
        def once():
            model = release(epsilon=1.0)
            model.K = model._compute_K(data)
            if control:
                model._laplace_noise_parameter = functools.partial(mended, model)
            return model._get_noisy_counts_for_attributes(data, list(data))["count"][0]

        return np.rint([once() for _ in range(COUNT)]).astype(int)

    here = table(100)
    other = here.copy()
    other.iloc[0] = 1
    return {"epsilon": 1.0}, answers(here), answers(other)


def weak_dependence(control):
    """Whether a column has a parent: it has none if their mutual information is below a threshold,
    which is compared with the true one.

    The control has a threshold that no column is below.
    """
    release = privbayes()

    def answers(both):
        data = pd.DataFrame({"a": np.repeat([1, 0], 20), "b": np.repeat([1, 0] * 2, both)})

        def once():
            model = release(epsilon=1.0, K=1, n_bins=4, mi_thresh=-1.0 if control else 0.01)
            return len(model._greedy_bayes(data)[1].parents)

        return np.array([once() for _ in range(COUNT)])

    return {"epsilon": 1.0}, answers([13, 7, 10, 10]), answers([12, 8, 10, 10])
