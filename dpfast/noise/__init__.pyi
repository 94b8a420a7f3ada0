"""Made by tools/stubs.py."""

from typing import overload

from dpfast._core.types import Floats, Integers, Number, Numbers, Size
from dpfast.noise.additive import gaussian_scale as gaussian_scale
from dpfast.noise.generator import generator as generator
from dpfast.noise.samplers import draw as draw
from dpfast.noise.samplers import draw_array as draw_array
from dpfast.rng import Generator

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

@overload
def arsinh_normal(
    sigma: float,
    scale: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def arsinh_normal(
    sigma: float,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
@overload
def cauchy(
    scale: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def cauchy(
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
@overload
def discrete_gaussian(
    sigma: Number = 1.0,
    size: None = None,
    *,
    rng: Generator | None = None,
) -> int: ...
@overload
def discrete_gaussian(
    sigma: Numbers = 1.0,
    size: Size = None,
    *,
    rng: Generator | None = None,
) -> Integers: ...
@overload
def discrete_laplace(
    scale: Number = 1.0,
    size: None = None,
    *,
    rng: Generator | None = None,
) -> int: ...
@overload
def discrete_laplace(
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    rng: Generator | None = None,
) -> Integers: ...
@overload
def gaussian(
    scale: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def gaussian(
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
@overload
def generalized_cauchy(
    gamma: int,
    scale: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def generalized_cauchy(
    gamma: int,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
@overload
def laplace(
    scale: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def laplace(
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
@overload
def polyplace(
    shape: float,
    scale: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def polyplace(
    shape: float,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
@overload
def staircase(
    epsilon: Number,
    sensitivity: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def staircase(
    epsilon: Number,
    sensitivity: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
@overload
def student_t(
    df: float,
    scale: Number = 1.0,
    size: None = None,
    *,
    granularity: Number | None = None,
    rng: Generator | None = None,
) -> float: ...
@overload
def student_t(
    df: float,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> Floats: ...
