"""Black-box lower bounds on the loss of vector releases, where every coordinate moves at once.

All events are thresholds on one public statistic of the answer. The planted fault is noise for a
sensitivity of 1 where the vector has that in each coordinate; the same bound must catch it.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

from dpfast.aggregate.aggregators.vector import make_vector
from dpfast.audit.binomial import at_least, at_most
from dpfast.noise.additive import additive
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows
from .kit import lower_bound

BLOCKS, D = 50, 4
BOUNDS = ((0.0, 1.0), (-10.0, 10.0), (5.0, 5.5), (0.0, 300.0))
LO, HI = np.array(BOUNDS).T
LOSSES = {
    "pure": Pure(2),
    "approx": Approx(Fraction(1, 10), Fraction(1, 5)),
    "zcdp": ZCDP(Fraction(1, 8)),
}


def samples(made, size, pair):
    """Answers in units of the ranges of the coordinates."""
    generator = InsecureGenerator(11)
    return [
        (np.array([made.release(z, generator) for _ in range(size)]) - LO) / (HI - LO) for z in pair
    ]


def corners():
    """The outputs in the middle of the bounds, but for one at the lower or at the upper ends."""
    z = np.tile((LO + HI) / 2, (BLOCKS, 1))
    low, high = z.copy(), z.copy()
    low[0], high[0] = LO, HI
    return low, high


def bounds(likely, unlikely, size):
    """A lower bound of one probability and an upper bound of the other (Clopper and Pearson)."""
    return at_least(int(likely), size, 1e-6), at_most(int(unlikely), size, 1e-6)


def audit(kind, size, fault=False):
    """How much of the loss is seen to be spent, at least; above 1 it is broken."""
    loss = LOSSES[kind]
    made = make_vector("mean", BLOCKS, BOUNDS, loss)
    if fault:
        object.__setattr__(made, "noise", additive(loss))
    a, b = samples(made, size, corners())
    if kind == "pure":
        # The likeliest event with the whole loss: every coordinate on the far side of its average.
        far = 0.5 - 0.5 / BLOCKS
        low, high = bounds((a.max(axis=1) <= far).sum(), (b.max(axis=1) <= far).sum(), size)
        return math.log(low / high) / float(loss.epsilon)
    a, b = a.sum(axis=1), b.sum(axis=1)
    half = size // 2
    grown = math.exp(float(loss.epsilon)) if kind == "approx" else 1.0
    cuts = np.quantile(np.concatenate([a[:half], b[:half]]), np.linspace(0.01, 0.99, 99))
    seen = [np.mean(b[:half] > cut) - grown * np.mean(a[:half] > cut) for cut in cuts]
    cut = cuts[int(np.argmax(seen))]
    low, high = bounds((b[half:] > cut).sum(), (a[half:] > cut).sum(), size - half)
    # rho bounds the Kullback-Leibler divergence, so the variation by sqrt(rho / 2) (Pinsker).
    most = float(loss.delta) if kind == "approx" else math.sqrt(float(loss.rho) / 2)
    return (low - grown * high) / most


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("kind", list(LOSSES))
def test_the_joint_mean(kind):
    assert audit(kind, 6_000) <= 1


@pytest.mark.full
@quick_rows(1)
@pytest.mark.parametrize("kind", list(LOSSES))
def test_noise_for_one_coordinate_is_caught(kind):
    assert audit(kind, 6_000, fault=True) > 1


CENTRES = np.array([[1.0, 1.0], [0.0, 0.0]])


def attend(epsilon, size):
    """Where four of five outputs are together, one of them leaves, and the centre moves over."""
    made = make_vector("attention", 5, ((0.0, 1.0),) * 2, Pure(epsilon), CENTRES)
    z = np.array([[0.0, 0.0]] * 4 + [[1.0, 1.0]])
    y = np.array([[0.0, 0.0]] * 3 + [[1.0, 1.0]] * 2)
    generator = InsecureGenerator(3)
    return [np.array([made.release(w, generator) for _ in range(size)]).sum(axis=1) for w in (z, y)]


@pytest.mark.full
def test_vector_attention():
    assert lower_bound(*attend(1, 3_000)) <= 1


@pytest.mark.full
def test_too_little_noise_of_vector_attention_is_caught():
    """The planted fault: it claims 1 and spends 6."""
    assert lower_bound(*attend(6, 6_000)) > 1
