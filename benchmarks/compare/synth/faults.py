"""SmartNoise Synth: a covariance matrix.

Only its module of covariances is read, which needs NumPy and pandas alone: the package needs Torch.
"""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd

NAME, DISTRIBUTION = "SmartNoise Synth", "smartnoise-synth"
COUNT, ROWS = 2_000, 100
#: Answers are rounded to it, for the noise is float64, which is a fault of its own.
GRID = 2.0**-10


def covariances():
    package = Path(importlib.util.find_spec("snsynth").origin).parent
    path = package / "models" / "dp_covariance.py"
    spec = importlib.util.spec_from_file_location("dp_covariance", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.DPcovariance


def unclipped(control):
    """Rows of which one is far beyond the declared range, or is not: what is used is not clipped.

    The control clips the rows before the call.
    """
    release = covariances()

    def answers(last):
        rows = np.zeros((ROWS, 2))
        rows[-1] = last
        rows = rows.clip(0, 1) if control else rows

        def once():
            asked = release(ROWS, ["a", "b"], pd.DataFrame([[0.0, 0.0], [1.0, 1.0]]), 1.0)
            return asked.release(pd.DataFrame(rows, columns=["a", "b"]))

        return GRID * np.rint(np.array([once() for _ in range(COUNT)]) / GRID)

    return {"epsilon": 1.0}, answers(20.0), answers(0.0)
