"""Black-box lower bounds on the loss of one answer a column, with planted faults.

The bound is that of the kit, on a number that tells two neighbors apart as well as the
noise lets it: by how much the answer is nearer to the one exact answer than to the other, in the
norm of the noise. The fault forgets that a row moves all columns: each gets the noise that it would
need alone. The same bound on the same neighbors must catch it.
"""

from unittest.mock import patch

import numpy as np
import pytest

from dpfast.measurement import linear, statistic
from dpfast.measurement.choice import Moves, NoiseCandidate, choose_noise
from dpfast.rng import InsecureGenerator
from dpfast.statistics.totals import api

from ..support.pairwise import quick_rows
from .kit import lower_bound

LOW, HIGH = [0.0, 0.0, -5.0], [1.0, 100.0, 5.0]
BOUNDS = list(zip(LOW, HIGH, strict=True))
MIDDLE = [0.5, 50.0, 0.0]
REPLACED = [[LOW, MIDDLE], [HIGH, MIDDLE]]
LEFT = [[LOW, HIGH, MIDDLE], [HIGH, MIDDLE]]

#: name: the statistic, two neighbors, and their relation.
PAIRS = {
    "sum, replace": (api.sum, REPLACED, "replace"),
    "sum, add-remove": (api.sum, [[HIGH, MIDDLE], [MIDDLE]], "add-remove"),
    "mean, replace": (api.mean, REPLACED, "replace"),
    "mean, add-remove": (api.mean, LEFT, "add-remove"),
    "variance, replace": (api.variance, [[LOW] * 3, [HIGH, LOW, LOW]], "replace"),
    "variance, add-remove": (api.variance, LEFT, "add-remove"),
    "count, add-remove": (api.count, [[MIDDLE], []], "add-remove"),
}
NORMS = {
    "box": lambda z: np.abs(z).max(axis=1),
    "laplace": lambda z: np.abs(z).sum(axis=1),
    "gaussian": lambda z: (z**2).sum(axis=1),
}


def alone(loss, moves):
    """The fault: noise for each integer as if no other moved."""
    error, make = choose_noise(loss, moves)
    each = [choose_noise(loss, Moves((size,))).noise() for size in moves.sizes]

    class Each:
        def add(self, values, generator):
            pairs = zip(each, values, strict=True)
            return [noise.add([value], generator)[0] for noise, value in pairs]

    found = Each()
    found.loss = make().loss
    return NoiseCandidate(error, lambda: found)


def answers(name, size, generator, **loss):
    statistic, pair, relation = PAIRS[name]
    kw = {"nan": "drop"} if statistic is api.count else {"bounds": BOUNDS}
    given = {"axis": 0, "neighbors": relation, "rng": generator, **kw, **loss}
    return [
        np.array([statistic(np.array(data).reshape(-1, 3), **given) for _ in range(size)])
        for data in pair
    ]


def told(name, size, norm="box", **loss):
    """Samples of the number that tells the two apart."""
    generator = InsecureGenerator(8)
    a, b = answers(name, 1, generator, epsilon=500)
    samples = answers(name, size, generator, **loss)
    unit = np.where(a[0] == b[0], 1.0, np.abs(a[0] - b[0]))
    # Rounded, for many answers tell exactly as much as can be told.
    return [np.round(NORMS[norm]((x - a) / unit) - NORMS[norm]((x - b) / unit), 6) for x in samples]


def audit(name, size, **kw):
    return lower_bound(*told(name, size, **kw))


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("name", list(PAIRS))
def test_a_quick_audit(name):
    for norm in ["box", "laplace"]:
        assert audit(name, 500, norm=norm, epsilon=1.0) <= 1.0


@pytest.mark.full
@pytest.mark.parametrize("name", ["sum, replace", "sum, add-remove"])
def test_it_is_nearly_reached(name):
    """So that the bound is worth something: no noise is wasted."""
    assert audit(name, 2_500, epsilon=1.0) > 0.5


QUICK = ["sum, replace", "mean, add-remove", "count, add-remove"]


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in PAIRS]
)
def test_a_sensitivity_that_forgets_the_other_columns_is_caught(name):
    with (
        patch.object(linear, "plan", linear.plan.__wrapped__),
        patch.object(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__),
        patch.object(linear, "choose_noise", alone),
    ):
        assert audit(name, 2_500, norm="laplace", epsilon=1.0) > 1.0
