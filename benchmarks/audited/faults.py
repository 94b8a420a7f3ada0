"""Planted faults, each with the claim that it breaks."""

import math

import numpy as np

import dpfast as dp

from .ways import (
    CHANGED,
    GENERATOR,
    GONE,
    ONE,
    SEED,
    with_noise,
)


def plain():
    return np.random.default_rng(SEED)


def on_grid(values, step):
    return np.round(values / step) * step


def keys(threshold):
    """The count of a key if it is above a threshold, else 0: (1, delta)-private for the right one.

    A key that one row has is on x only.
    """

    def mechanism(data, size):
        count = int(np.count_nonzero(data == 1))
        noisy = count + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        return np.where((count > 0) & (noisy > threshold), noisy, 0)

    return mechanism


#: Of the largest delta of a key: P(1 + noise > threshold).
THRESHOLD = 7
DELTA = math.exp(-THRESHOLD) / (1 + math.exp(-1))
ALONE = (np.array([0.0, 1.0]), np.array([0.0]))
RNG = plain()

FAULTS = {
    "half of the noise": (with_noise(dp.noise.discrete_laplace, 0.5), GONE, ONE),
    "a sensitivity that is twice as large": (
        lambda data, size: (
            int((2 * data - 1).sum()) + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        ),
        CHANGED,
        ONE,
    ),
    "the low bits of floats (Laplace of NumPy)": (
        lambda data, size: data.sum() + RNG.laplace(0, 1, size),
        GONE,
        ONE,
    ),
    "the low bits of floats, one at a time": (
        lambda data: float(data.sum() + RNG.laplace(0, 1)),
        GONE,
        ONE,
    ),
    "a threshold that is off by one": (
        keys(THRESHOLD - 1),
        ALONE,
        {"epsilon": 1, "delta": DELTA},
    ),
    "one seed for all calls": (lambda data: data.sum() + plain().laplace(0, 1), GONE, ONE),
    "a seed of the data": (
        lambda data: data.sum() + np.random.default_rng(len(data)).laplace(0, 1),
        GONE,
        ONE,
    ),
    "a grid from the data": (
        lambda data, size: on_grid(RNG.laplace(0, 3, size), data.mean() / 10),
        GONE,
        ONE,
    ),
    "a count that leaks": (
        lambda data, size: (
            int(data.sum()) + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        ) / len(data),
        GONE,
        ONE,
    ),
    "an error for some data": (lambda data: 1 / (len(data) - 2), GONE, ONE),
}  # fmt: skip
