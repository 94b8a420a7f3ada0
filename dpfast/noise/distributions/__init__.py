"""Standardized symmetric distributions, one in each file; `table` and `exact` draw from them."""

from .arsinh_normal import ArsinhNormal as ArsinhNormal
from .base import Distribution as Distribution
from .gaussian import Gaussian as Gaussian
from .generalized_cauchy import Cauchy as Cauchy
from .generalized_cauchy import GeneralizedCauchy as GeneralizedCauchy
from .laplace import Laplace as Laplace
from .logistic import Logistic as Logistic
from .polyplace import PolyPlace as PolyPlace
from .student_t import StudentT as StudentT
