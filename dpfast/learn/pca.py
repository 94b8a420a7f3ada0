"""Private principal components: the eigenvectors of one noisy matrix of exact sums of products.

*The constant c of `gram_matrix`.* Let r^2 be the largest squared length of a row. All noise is in
proportion to c^2 + r^2, also noise for the nuclear norm. Let s (c^2 + r^2) be its standard
deviation in the square of a column. Then the products have noise of a spectral norm of about s (c^2
+ r^2) sqrt(2 d). The sum of a column has noise of the standard deviation s (c^2 + r^2) / (sqrt(2)
c). If the mean has half the length r, the sums add noise of a norm of about s (c^2 + r^2) r sqrt(d
/ 2) / (2 c), along two directions.

With c^2 = r^2 / (2 sqrt(d)), this norm is that of the products times d^(1/4) / sqrt(8), which is at
most 1 for up to 64 columns. All noise has the factor 1 + c^2 / r^2, which is nearly 1. The error
was measured for the digits (64 columns) and for six columns of Adult: it is .7 of the error with
c^2 = r^2 / 2.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .._core import checks
from .._core.types import Auto, BoundsEach, NanPolicy
from ..privacy import Loss
from ..sulq.rounds import Rounds
from .columns import Floats, column_bounds
from .estimator import Training
from .gram_matrix import GramMatrix
from .rows import Rows
from .transformer import Invertible


@dataclass(eq=False, repr=False, kw_only=True)
class _Components(Invertible):
    """The common base of `PCA` and `TruncatedSVD`."""

    _estimator_type = "transformer"
    _centered: ClassVar[bool]

    n_components: int | None = field(default=None, kw_only=False)
    bounds: BoundsEach | Auto = field()
    nan: NanPolicy = "raise"

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        # This keeps noisy squares from overflowing.
        pairs = column_bounds(self._bounds, rows.width, 400)
        missing_rule = checks.nan_policy(self.nan, relation)
        gram = GramMatrix(pairs, missing_rule, self._centered, 0.5 / math.sqrt(rows.width))
        count = rows.width
        if self.n_components is not None:
            count = checks.whole("n_components", self.n_components, 1)
        if count > rows.width:
            rule = f"at most {rows.width}, the number of columns"
            checks.fail("n_components", rule, self.n_components)
        parts = gram.parts_within(loss, relation, alone=True)

        def learn(rounds: Rounds) -> None:
            noisy = rounds.ask(gram.total, parts)
            self.components_ = self._learn(gram, gram.matrix(noisy), count)

        return Training(1, parts, learn)

    @abstractmethod
    def _learn(self, gram: GramMatrix, noisy: Floats, count: int) -> Floats:
        """Set the learned attributes from the noisy matrix, and return the components."""

    def _middle(self) -> Floats | float:
        """Return the row whose coordinates are all 0: the mean, or 0."""
        return 0.0

    def _transformed(self) -> tuple[int, Callable[[Floats], Floats]]:
        components, mean = self.components_, self._middle()
        return len(components), lambda rows: (rows - mean) @ components.T

    def _inverted(self) -> tuple[int, Callable[[Floats], Floats]]:
        components, mean = self.components_, self._middle()
        return components.shape[1], lambda coordinates: coordinates @ components + mean


def _largest(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """Return all eigenvalues, clamped at 0, and the eigenvectors of the `count` largest.

    The largest entry of each vector is positive.
    """
    values, vectors = np.linalg.eigh(matrix)
    rows = vectors[:, ::-1].T
    signs = np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])
    return np.maximum(values[::-1], 0.0), np.ascontiguousarray(rows[:count] * signs[:count, None])


class PCA(_Components):
    """Learn principal components from one noisy release of row count, sums and products.

    Privacy
    -------
    Neighbors are datasets that differ in one row: added or removed, or replaced (`neighbors`). The
    release satisfies the requested loss, and all attributes are computed from it. Rows are rounded
    to a public grid around the middle of the bounds, so all sums are exact integers.

    With `epsilon` alone, the noise is the difference of two Wishart matrices
    (``dpfast/noise/wishart.py`` has the proof). With `rho` or `delta` it is Gaussian as in "Analyze
    Gauss" (Dwork, Talwar, Thakurta and Zhang, STOC 2014), but the noise off the diagonal has half
    of the variance, for the same loss. With `delta`, Wishart noise is used if it is smaller.

    Parameters
    ----------
    n_components : int, optional
        The number of components; by default the number of columns.
    bounds : (float, float), or a pair for each column
        Public limits of the values, in the units of the data. Values outside are clamped. The
        bounds must not come from the data. The noise of a covariance is proportional to the sum of
        the squared widths of all bounds.
    epsilon, delta, rho, neighbors, nan, weight_bounds
        As in `KMeans`.

    Attributes
    ----------
    components_ : float64 array of shape (n_components, d)
        The components, each of length 1. The largest entry of each is positive.
    explained_variance_, explained_variance_ratio_ : float64 array of shape (n_components,)
        The variance along each component (divided by n), and its fraction of the total.
    covariance_ : float64 array of shape (d, d)
        The covariance matrix, with noise. It may have negative eigenvalues, which count as 0 in all
        other attributes.
    mean_ : float64 array of shape (d,)
        The mean of each column, with noise.
    n_rows_ : float
        The number of rows, with noise.
    n_components_ : int
        The number of components.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data, about as long as ``X.T @ X``. The cells of the grid are about
    ``2**-19`` of the widest bounds.

    Examples
    --------
    Rows along the direction (3, 4, 0), whose unit vector is (0.6, 0.8, 0):

    >>> import numpy as np, dpfast as dp
    >>> t = np.linspace(-1, 1, 20_001)
    >>> x = np.stack([3 * t, 4 * t, 0 * t], axis=1)
    >>> pca = dp.learn.PCA(1, bounds=(-4, 4), rho=0.5).fit(x)
    >>> pca.components_.round(1) + 0.0
    array([[0.6, 0.8, 0. ]])
    """

    _centered, _name = True, "principal components"

    def _middle(self) -> Floats:
        return self.mean_

    def _learn(self, gram: GramMatrix, noisy: Floats, count: int) -> Floats:
        rows = max(float(noisy[0, 0]), 1.0)
        mean = noisy[0, 1:] / rows
        cov = (noisy[1:, 1:] / rows - np.outer(mean, mean)) * gram.grid**2
        values, components = _largest(cov, count)
        whole = values.sum()
        self.n_rows_, self.covariance_, self.n_components_ = float(noisy[0, 0]), cov, count
        self.mean_ = (gram.middle + mean) * gram.grid
        self.explained_variance_ = values[:count]
        self.explained_variance_ratio_ = values[:count] / (whole if whole > 0 else 1.0)
        return components


class TruncatedSVD(_Components):
    """Learn right singular vectors of rows from one noisy release of products.

    It is like `PCA` without centering: values are measured from 0 instead of the mean.

    Privacy
    -------
    As in `PCA`, but neither the number of rows nor the mean is released.

    Parameters
    ----------
    n_components : int, optional
        The number of components; by default the number of columns.
    bounds, epsilon, delta, rho, neighbors, nan, weight_bounds
        As in `PCA`. The noise depends on the largest distance of the bounds from 0.

    Attributes
    ----------
    components_ : float64 array of shape (n_components, d)
        The singular vectors, each of length 1.
    singular_values_ : float64 array of shape (n_components,)
        The singular value of each vector.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data, about as long as ``X.T @ X``.

    Examples
    --------
    Rows along the direction (3, 4), whose unit vector is (0.6, 0.8):

    >>> import numpy as np, dpfast as dp
    >>> x = np.outer(np.linspace(1, 2, 10_001), [3, 4])
    >>> svd = dp.learn.TruncatedSVD(1, bounds=(0, 8), rho=0.5).fit(x)
    >>> svd.components_.round(1)
    array([[0.6, 0.8]])
    """

    _centered, _name = False, "singular vectors"

    def _learn(self, gram: GramMatrix, noisy: Floats, count: int) -> Floats:
        values, components = _largest(noisy * gram.grid**2, count)
        self.singular_values_ = np.sqrt(values[:count])
        return components
