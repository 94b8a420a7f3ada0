"""Releases of dpfast as OpenDP measurements, and OpenDP measurements under a budget of dpfast.

    import opendp.prelude as dp
    from dpfast.adapters.opendp import from_opendp, then_laplace, then_median

    dp.enable_features("contrib", "honest-but-curious")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    median = space >> then_median(bounds=(0.0, 120.0), epsilon=0.5)
    median.map(1), median(ages)

As in OpenDP, each ``make_`` function takes a domain and a metric first, and has a ``then_`` variant
for ``>>``. `register` adds the functions to OpenDP's Context. `from_opendp` turns a measurement of
OpenDP into a mechanism of dpfast.

A metric defines the neighbors: SymmetricDistance is add-remove, ChangeOneDistance is replace. The
privacy map returns the loss of dpfast for a group of `d_in` rows, rounded up. OpenDP's accountant
pays for a measurement, and no budget of dpfast does.
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
