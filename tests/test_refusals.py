"""What can be no argument of dp.noise, dp.sensitivity and dp.privacy is refused, and named."""

import math

import numpy as np
import pytest

from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.privacy import Pure

from .support.battery import BAD
from .support.surface import CALLS

NAN, INF = math.nan, math.inf
KINDS = ["1", None, True, 1j, object()]  # that are no number
COUNT = [-1, 1.5, "1", True]
POSITIVE = [0, -1.0, NAN, INF, *KINDS]
SCALE = [*POSITIVE, 1e300, 1e-300, [1.0, 0.0], [[1.0], [2.0, 3.0]]]
LOSS = [0.5, "0.1", None, True]
#: By the name of the parameter; what is right for one function must not be among them.
WRONG = {
    **{name: BAD[name] for name in ("bounds", "neighbors", "assume_sorted", "rng", "size")},
    **{name: BAD[name] for name in ("proportion", "q", "ddof")}, "nan": [*BAD["nan"], "drop"],
    "beta": POSITIVE, "n": COUNT, "at_distance": COUNT, "nodes": COUNT,
    "data": [np.ones((2, 2)), np.array([1j])], "edges": [[(0, 0)], [(0, -1)], [0, 1]],
    "weights": [[1, 2], [[1.0, 2.0, 3.0]], ["x"] * 3], "local_at_distance": [3.0, None],
    "stop": COUNT, "most": [-1, NAN, "1", True], "scale": SCALE,
    "sigma": [*SCALE, 2.0**41, 2.0**-41],
    "granularity": [0.0, -0.5, 0.3, NAN, INF, 2.0**-53, 5e-324, "x"],
    "df": [1.5, 0, INF, 1e7, *KINDS], "gamma": [1, 101, 2.5, *KINDS],
    "shape": [1.0, NAN, 1e7, *KINDS], "epsilon": [0, -1, NAN, INF, "x", True],
    "rho": [0, -1, NAN, INF, "0.1", True, [0.1], Pure(1)], "delta": [1, -0.1, NAN, "0.1", True],
    "amount": [*LOSS[1:], NAN], "draws": [0, 1.5, True, "1"], "cells": COUNT,
    "categories": [0, "3"], "times": [0, 1.5, "1", True], "limit": LOSS, "loss": LOSS,
    "given": ["swap", None], "wanted": ["both", None], "parts": ["places", None],
}  # fmt: skip


ROOMS = ("dp.noise.", "dp.sensitivity.", "dp.privacy.")


#: What a generator takes is what NumPy's takes, such as a scale of 0; see `test_generator`.
NAMES = [n for n in CALLS if n.startswith(ROOMS) and not n.startswith("dp.noise.generator")]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_wrong_is_refused_by_name(name):
    call = CALLS[name]
    other_losses = {"epsilon", "rho"} - set(call.make())
    for parameter in set(call.parameters) & set(WRONG) - other_losses:
        rule = rf"^{parameter}\b.* must "
        for bad in WRONG[parameter]:
            with pytest.raises((ArgumentError, ArgumentTypeError), match=rule):
                call.function(**{**call.make(), parameter: bad})
