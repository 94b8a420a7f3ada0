"""MOSTLY AI's engine: what it keeps of columns, before it trains a model.

Only its modules for text and numbers are read: the package needs Torch.
"""

import importlib
import importlib.metadata
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd

NAME, DISTRIBUTION = "MOSTLY AI engine", "mostlyai-engine"
COUNT, LENGTH = 2_000, 10


def encoding(name):
    """A module of the package, whose own first lines are not run."""
    package = Path(importlib.metadata.distribution(DISTRIBUTION).locate_file("mostlyai"))
    for parent, path in (("mostlyai", package), ("mostlyai.engine", package / "engine")):
        sys.modules.setdefault(parent, types.ModuleType(parent)).__path__ = [str(path)]
    return importlib.import_module(f"mostlyai.engine._encoding_types.tabular.{name}")


def people(values):
    return pd.Series(values, name="value"), pd.Series(range(len(values)), name="person")


def each_position(control):
    """The positions of a text in which a letter is kept: each spends the epsilon of the column.

    The control gives each position its share.
    """
    text = encoding("character")
    epsilon = 1 / LENGTH if control else 1.0

    def answers(rare):
        kept = text.analyze_character(*people(["b" * LENGTH] * rare + ["a" * LENGTH] * 40))

        def once():
            found = text.analyze_reduce_character([kept], True, epsilon)
            return sum("b" in codes for codes in found["codes"].values())

        return np.array([once() for _ in range(COUNT)])

    return {"epsilon": 1.0}, answers(6), answers(5)


def fewer_than_twenty(control):
    """Whether a column of numbers has limits: of 19 rows it has none, and of 20 they are noisy.

    The control has noisy limits in either case.
    """
    numbers = encoding("numeric")
    numbers.ANALYZE_REDUCE_MIN_MAX_N = 0 if control else numbers.ANALYZE_REDUCE_MIN_MAX_N
    kind = numbers.ModelEncodingType.tabular_numeric_binned

    def answers(rows):
        kept = numbers.analyze_numeric(*people([3.0] * rows))

        def once():
            return len(numbers.analyze_reduce_numeric([kept], True, 1.0, kind)["bins"]) > 1

        return np.array([once() for _ in range(COUNT)], int)

    return {"epsilon": 1.0}, answers(20), answers(19)
