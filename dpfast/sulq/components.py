"""Private principal components: the eigenvectors of one noisy matrix of exact sums of products."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..budget.budget import Budget
from ..rng import Generator
from ..sources.row_source import RowSource
from ..sources.table import feature_rows
from ..statistics.arguments import said
from ..summaries.side_by_side import width_of
from .estimator import Transformer
from .gram import Gram
from .matrices import column_bounds, each_row
from .rounds import Rounds, loss_of
from .targets import names_of

Own = TypeVar("Own", bound="_Components")


class _Components(Transformer):
    """What PCA and TruncatedSVD share."""

    _estimator_type = "transformer"
    _centred: bool
    _name: str

    components_: NDArray[np.float64]
    explained_variance_: NDArray[np.float64]

    def __init__(
        self,
        n_components: int | None = None,
        *,
        bounds: Any,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        neighbors: str = "add-remove",
        nan: str | float = "raise",
    ) -> None:
        self.n_components = n_components
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.neighbors = neighbors
        self.nan = nan

    def fit(
        self: Own,
        X: Any,
        y: Any = None,
        *,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Own:
        """Learn the components.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
        y : ignored
        budget : Budget, optional
            Pays before data or randomness are touched.
        rng : Generator, optional
            By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

        Returns
        -------
        PCA or TruncatedSVD
            This object.
        """
        loss = loss_of(self.epsilon, self.delta, self.rho)
        relation = checks.neighbors(self.neighbors)
        source = feature_rows(X, said(self.bounds))
        gram = self._gram(source, relation)
        d = gram.width
        if self.n_components is not None:
            checks.whole("n_components", self.n_components, 1)
            if self.n_components > d:
                checks.fail(
                    "n_components", f"at most {d}, the number of columns", self.n_components
                )
        parts = gram.parts(relation)
        rounds = Rounds(
            source,
            loss=loss,
            neighbors=relation,
            rounds=1,
            name=self._name,
            budget=budget,
            rng=rng,
            parts=parts,
        )
        found = gram.matrix(rounds.ask(gram.total, parts))
        self._learned(loss, d, names_of(X, source))
        self._learn(gram, found, d if self.n_components is None else self.n_components)
        return self

    @abstractmethod
    def _learn(self, gram: Gram, found: NDArray[np.float64], count: int) -> None:
        """Learn from the noisy matrix."""

    def _gram(self, source: RowSource, relation: str) -> Gram:
        pairs = column_bounds(self.bounds, source, 400)  # squares are numbers, with any noise
        return Gram(pairs, checks.nan_policy(self.nan, relation), self._centred)

    def transform(self, X: Any) -> Any:
        """The rows along the components.

        NOT PRIVATE: an answer is a function of its row, so do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            Not clipped.

        Returns
        -------
        float64 array of shape (n, n_components)
            Or a DataFrame of as many columns, as `set_output` has it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        DataError
            For NaN.
        """
        source = self._rows(X)
        components, shift = self.components_, self._shift()
        count, d = components.shape
        found = each_row(source, d, count, lambda rows: (rows - shift) @ components.T)
        return self._as_asked(found, X)

    def _columns_out(self) -> int:
        return len(self.components_)

    def _shift(self) -> NDArray[np.float64]:
        return np.zeros(self.n_features_in_)

    def inverse_transform(self, X: Any) -> NDArray[np.float64]:
        """Back from places along the components.

        NOT PRIVATE: an answer is a function of its place, so do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, n_components), structured array, table, or source

        Returns
        -------
        float64 array of shape (n, d)

        Raises
        ------
        NotFittedError, ArgumentError, DataError
            As `transform`.
        """
        components: NDArray[np.float64] = self._fitted("components_")
        count, d = components.shape
        source, shift = feature_rows(X, count), self._shift()
        if width_of(source) != count:
            checks.fail("X", f"of {count} columns, one a component", f"{width_of(source)} of them")
        return each_row(source, count, d, lambda places: places @ components + shift)


def _largest(
    matrix: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The largest eigenvalues, none below 0, and their vectors, whose largest entry is positive."""
    values, vectors = np.linalg.eigh(matrix)
    own = vectors[:, ::-1].T
    signs = np.sign(own[np.arange(len(own)), np.abs(own).argmax(axis=1)])
    found = np.maximum(values[::-1], 0.0)
    return found, np.ascontiguousarray(own[:count] * signs[:count, None])


class PCA(_Components):
    """Principal components from one noisy release of the number of rows, sums and products.

    Privacy
    -------
    Neighbours are datasets that differ in one row, added or removed, or replaced (`neighbors`). The
    release satisfies the loss that is asked for, and all attributes are computed from it. Rows are
    put on a public grid around the middle of the bounds, so all sums are exact integers; noise is
    that of "Analyze Gauss" (Dwork, Talwar, Thakurta and Zhang, STOC 2014) with half of the variance
    off the diagonal, which costs the same.

    Parameters
    ----------
    n_components : int, optional
        All by default.
    bounds : (float, float), or a pair for each column
        Public limits of the values, in the data's units; values outside are clipped. They must not
        come from the data. The noise of a covariance is in proportion to the squared diagonal of
        this box.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of `fit`: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighbouring relation.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN, as in `quantile`; "drop" leaves out the whole row.

    Attributes
    ----------
    components_ : float64 array of shape (n_components, d)
        Of length 1, the largest number of each positive.
    explained_variance_, explained_variance_ratio_ : float64 array of shape (n_components,)
        Variances along them (divided by n), and as parts of the sum of all.
    covariance_ : float64 array of shape (d, d)
        With noise; it may have negative eigenvalues, which count as 0 everywhere else.
    mean_ : float64 array of shape (d,)
    n_rows_ : float
        The number of rows, with noise.
    n_components_, n_features_in_ : int
    feature_names_in_ : array of str, if the columns have names
    loss_ : Pure, Approx or ZCDP
        What was spent.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        By `fit`, for a bad argument; nothing has been spent.
    BudgetError
        By `fit`, when the budget has too little left; nothing has been spent.
    DataError
        By `fit`, for NaN under ``nan="raise"``; the spent budget is not refunded.

    Notes
    -----
    Cost: one read of the data, and a product of matrices as in ``X.T @ X``. A cell is about
    ``2**-19`` of the widest bounds.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> t = np.linspace(-1, 1, 20_001)
    >>> x = np.stack([3 * t, 4 * t, 0 * t], axis=1)
    >>> found = dp.sulq.PCA(1, bounds=(-4, 4), rho=0.5).fit(x)
    >>> found.components_.round(1) + 0.0
    array([[0.6, 0.8, 0. ]])
    """

    _centred, _name = True, "principal components"

    covariance_: NDArray[np.float64]
    explained_variance_ratio_: NDArray[np.float64]
    mean_: NDArray[np.float64]
    n_rows_: float
    n_components_: int

    def _learn(self, gram: Gram, found: NDArray[np.float64], count: int) -> None:
        rows = max(float(found[0, 0]), 1.0)
        mean = found[0, 1:] / rows
        cov = (found[1:, 1:] / rows - np.outer(mean, mean)) * gram.grid**2
        values, self.components_ = _largest(cov, count)
        whole = values.sum()
        self.n_rows_, self.covariance_, self.n_components_ = float(found[0, 0]), cov, count
        self.mean_ = (gram.middle + mean) * gram.grid
        self.explained_variance_ = values[:count]
        self.explained_variance_ratio_ = values[:count] / (whole if whole > 0 else 1.0)

    def _shift(self) -> NDArray[np.float64]:
        return self.mean_


class TruncatedSVD(_Components):
    """Right singular vectors of the rows as they are, from one noisy release of their products.

    Privacy
    -------
    As in `PCA`; rows are counted from 0, and neither their number nor their mean is released.

    Parameters
    ----------
    n_components : int, optional
    bounds, epsilon, delta, rho, neighbors, nan
        As in `PCA`; what counts is how far the box reaches from 0.

    Attributes
    ----------
    components_ : float64 array of shape (n_components, d)
    singular_values_ : float64 array of shape (n_components,)
    n_features_in_ : int
    feature_names_in_ : array of str, if the columns have names
    loss_ : Pure, Approx or ZCDP

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        As `PCA`.

    Notes
    -----
    Cost: as `PCA`.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.outer(np.linspace(1, 2, 10_001), [3, 4])
    >>> found = dp.sulq.TruncatedSVD(1, bounds=(0, 8), rho=0.5).fit(x)
    >>> found.components_.round(1)
    array([[0.6, 0.8]])
    """

    _centred, _name = False, "singular vectors"

    singular_values_: NDArray[np.float64]

    def _learn(self, gram: Gram, found: NDArray[np.float64], count: int) -> None:
        values, self.components_ = _largest(found * gram.grid**2, count)
        self.singular_values_ = np.sqrt(values[:count])
