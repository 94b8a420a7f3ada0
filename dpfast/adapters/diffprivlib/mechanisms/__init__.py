"""diffprivlib's mechanisms: one number, label or choice a call, with a stated sensitivity."""

from .additive import (
    Gaussian,
    GaussianAnalytic,
    GaussianDiscrete,
    Geometric,
    Laplace,
    Staircase,
)
from .base import (
    DPMachine,
    DPMechanism,
    TruncationAndFoldingMixin,
)
from .choices import (
    Binary,
    Bingham,
    Exponential,
    ExponentialCategorical,
    ExponentialHierarchical,
    LaplaceBoundedNoise,
    PermuteAndFlip,
    Uniform,
    Vector,
)
from .limited import (
    GeometricFolded,
    GeometricTruncated,
    LaplaceBoundedDomain,
    LaplaceFolded,
    LaplaceTruncated,
    Snapping,
)

__all__ = [
    "Binary",
    "Bingham",
    "DPMachine",
    "DPMechanism",
    "Exponential",
    "ExponentialCategorical",
    "ExponentialHierarchical",
    "Gaussian",
    "GaussianAnalytic",
    "GaussianDiscrete",
    "Geometric",
    "GeometricFolded",
    "GeometricTruncated",
    "Laplace",
    "LaplaceBoundedDomain",
    "LaplaceBoundedNoise",
    "LaplaceFolded",
    "LaplaceTruncated",
    "PermuteAndFlip",
    "Snapping",
    "Staircase",
    "TruncationAndFoldingMixin",
    "Uniform",
    "Vector",
]
