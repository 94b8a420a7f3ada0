"""Exact noise on a public grid.

Every sample of a continuous distribution is *correctly rounded*: the nearest multiple of
`granularity` to an ideal, real-valued sample, so that what is known of the ideal distribution (its
privacy above all) holds for what is returned, by post-processing. Float64 decides nearly all
samples with a proved error bound; the others are decided with arbitrary precision, from further
random bits where 64 are too few. Results are the same bits on every machine and instruction set for
the same stream of random bits.

NOT PRIVATE by themselves: these functions return noise. A release adds it to a statistic under a
calibrated scale; see `dpfast.median`.

The time that a call takes depends a little on the noise: one sample in a hundred thousand or so,
next to a rounding boundary, takes a tenth of a millisecond longer. Who can time single samples
learns that.
"""

from .samplers import (
    arsinh_normal,
    cauchy,
    discrete_gaussian,
    discrete_laplace,
    draw,
    draw_array,
    gaussian,
    generalized_cauchy,
    laplace,
    polyplace,
    student_t,
)

__all__ = [
    "arsinh_normal",
    "cauchy",
    "discrete_gaussian",
    "discrete_laplace",
    "draw",
    "draw_array",
    "gaussian",
    "generalized_cauchy",
    "laplace",
    "polyplace",
    "student_t",
]
