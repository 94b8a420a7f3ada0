"""Standardized symmetric distributions, one file each, with one engine: `table` and `exact`."""

from .arsinh_normal import ArsinhNormal
from .base import Distribution
from .gaussian import Gaussian
from .generalized_cauchy import Cauchy, GeneralizedCauchy
from .laplace import Laplace
from .polyplace import PolyPlace
from .student_t import StudentT

__all__ = [
    "ArsinhNormal",
    "Cauchy",
    "Distribution",
    "Gaussian",
    "GeneralizedCauchy",
    "Laplace",
    "PolyPlace",
    "StudentT",
]
