"""Standardised symmetric laws: one small file each, one engine (`table`, `exact`) for all."""

from .arsinh_normal import ArsinhNormal
from .base import Law
from .gaussian import Gaussian
from .generalized_cauchy import Cauchy, GeneralizedCauchy
from .laplace import Laplace
from .polyplace import PolyPlace
from .student_t import StudentT

__all__ = [
    "ArsinhNormal",
    "Cauchy",
    "Gaussian",
    "GeneralizedCauchy",
    "Laplace",
    "Law",
    "PolyPlace",
    "StudentT",
]
