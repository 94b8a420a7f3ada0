"""Releases of dpfast as OpenDP measurements, and OpenDP measurements under a budget of dpfast.

    import opendp.prelude as dp
    from dpfast.adapters.opendp import from_opendp, then_laplace, then_median

    dp.enable_features("contrib", "honest-but-curious")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    median = space >> then_median(bounds=(0.0, 120.0), epsilon=0.5)
    median.map(1), median(ages)

Each ``make_`` function takes a domain and a metric first, and ``then_`` is its variant for ``>>``,
as in OpenDP; `register` adds them to its Context. `from_opendp` is the other way.

A metric defines the neighbors: SymmetricDistance is add-remove, ChangeOneDistance is replace. A
privacy map is the loss of dpfast for one step, converted to a group of `d_in` steps, and rounded
up. OpenDP's accountant pays for a measurement, and a budget of dpfast is not used.
"""

from .install import installed
from .measurements import (
    make_gaussian,
    make_geometric,
    make_histogram,
    make_kmeans,
    make_laplace,
    make_median,
    make_quantiles,
    make_release,
    make_top_k,
    register,
    then_gaussian,
    then_geometric,
    then_histogram,
    then_kmeans,
    then_laplace,
    then_median,
    then_quantiles,
    then_release,
    then_top_k,
)
from .mechanisms import Measured, from_opendp
from .spaces import array_domain

__all__ = [
    "Measured", "array_domain", "from_opendp", "installed", "make_gaussian", "make_geometric",
    "make_histogram", "make_kmeans", "make_laplace", "make_median", "make_quantiles",
    "make_release", "make_top_k", "register", "then_gaussian", "then_geometric",
    "then_histogram", "then_kmeans", "then_laplace", "then_median", "then_quantiles",
    "then_release", "then_top_k",
]  # fmt: skip
