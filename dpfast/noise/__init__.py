"""Exact noise on a public grid.

Every sample of a continuous distribution is *correctly rounded*: it is the multiple of
`granularity` that is nearest to an ideal, real-valued sample. Rounding is post-processing, so all
proofs about the ideal distribution, above all of its privacy, hold for the returned number. Nearly
all samples are computed in float64, with a proved error bound. Where that bound does not decide how
a sample rounds, the sample is computed with more digits, and with further random bits if 64 are too
few. The same stream of random bits gives the same noise on every machine and instruction set.

NOT PRIVATE: these functions return noise alone. A release adds noise of a calibrated scale to a
statistic; see `dpfast.median`.

The time of a call depends a little on the noise. About one sample in a million of Laplace or
Gaussian noise, and one in thirty thousand of Cauchy noise, is so close to a rounding boundary that
it takes a tenth of a millisecond longer. Someone who can time single samples can see this.
"""

from .additive import gaussian_scale
from .api import (
    arsinh_normal,
    cauchy,
    discrete_gaussian,
    discrete_laplace,
    gaussian,
    generalized_cauchy,
    laplace,
    polyplace,
    staircase,
    student_t,
)
from .generator import generator
from .samplers import draw, draw_array

__all__ = [
    "arsinh_normal",
    "cauchy",
    "discrete_gaussian",
    "discrete_laplace",
    "draw",
    "draw_array",
    "gaussian",
    "gaussian_scale",
    "generalized_cauchy",
    "generator",
    "laplace",
    "polyplace",
    "staircase",
    "student_t",
]
