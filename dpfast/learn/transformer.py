"""Learners that transform rows to other numbers, as an array or a pandas table."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeAlias,
)

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.extras import extra
from ..budget.budget import Budget
from ..budget.release import Prepared, prepare, releases
from ..rng import Generator
from ..tables.labels import labels_of
from ..tables.people import split_units
from .columns import Floats
from .estimator import Weighted, as_fitted
from .rows import unlabeled_rows

if TYPE_CHECKING:
    from pandas import DataFrame

#: The result of a transformer; see `Transformer.set_output`.
Transformed: TypeAlias = "Floats | DataFrame"
#: The possible types of the result of a transformer.
FORMS = ("default", "pandas")


def without_ids(X: Any, ids: Any) -> Any:
    """Return X without its column of ids, if `ids` names one."""
    return split_units(X, ids, 0, "X")[0] if isinstance(ids, str) else X


@dataclass(eq=False, repr=False, kw_only=True)
class Transformer(Weighted):
    """A learner that transforms each row to other numbers."""

    #: The argument of `set_output`, with the name under which scikit-learn copies it to a clone.
    _sklearn_output_config: dict[str, str] = field(init=False)

    def __sklearn_tags__(self) -> Any:
        from sklearn import utils

        tags = super().__sklearn_tags__()
        tags.transformer_tags = utils.TransformerTags(preserves_dtype=[])
        return tags

    @abstractmethod
    def _transformed(self) -> tuple[int, Callable[[Floats], Floats]]:
        """Return the number of output columns, and the function that transforms rows."""

    @as_fitted
    def transform(self, X: Any) -> Transformed:
        """Return transformed rows: distances from centers, component scores, or scaled columns.

        NOT PRIVATE: a prediction is a function of its row. Do not publish predictions for secret
        rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            The rows, which are not clamped.

        Returns
        -------
        float64 array of shape (n, columns)
            One column for each center, component or column. A DataFrame, if `set_output` has chosen
            it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the columns differ from the columns in `fit`.
        DataError
            If X contains NaN, for any `nan`.

        Examples
        --------
        The component of the row (3, 4), whose length is 5:

        >>> import numpy as np, dpfast as dp
        >>> x = np.outer(np.linspace(-1, 1, 20_001), [3, 4])
        >>> pca = dp.learn.PCA(1, bounds=(-4, 4), rho=0.5).fit(x)
        >>> bool(abs(abs(pca.transform([[3, 4]])[0, 0]) - 5) < 0.2)
        True
        """
        width, function = self._transformed()
        return self._in_form(self._apply(X, width, function), X)

    @releases
    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        max_rows: int | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[Transformed]:
        """Call `fit`, then `transform`. The returned rows are not private.

        Parameters
        ----------
        X, y, sample_weight, ids, max_rows, budget, rng
            As in `fit`.

        Returns
        -------
        array or table
            The transformed rows. NOT PRIVATE, like the result of `transform`.

        Examples
        --------
        Scaled rows have a mean of 0 and a standard deviation of 1, up to noise:

        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> scaled = dp.learn.StandardScaler(bounds=(0, 10), rho=0.5).fit_transform(x)
        >>> bool(abs(scaled.mean()) < 0.1), bool(abs(scaled.std() - 1) < 0.1)
        (True, True)
        """
        self._container()  # raises if the output type cannot be returned, before anything is spent
        people = {"ids": ids, "max_rows": max_rows}
        fitted = prepare(self.fit, X, None, sample_weight, **people, budget=budget, rng=rng)
        return fitted.then(lambda learned: learned.transform(without_ids(X, ids)))

    def set_output(self, *, transform: Literal["default", "pandas"] | None = None) -> Self:
        """Choose an array or a pandas table as the output of `transform` and `fit_transform`.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            "default": an array. "pandas": a DataFrame, with the index of the rows if they have an
            index. If left out, nothing changes. If this method is never called, scikit-learn's
            setting ``transform_output`` decides.

        Returns
        -------
        Transformer
            This object.

        Raises
        ------
        ArgumentError
            For any other value.

        Examples
        --------
        Transform to a pandas table:

        >>> import dpfast as dp
        >>> pca = dp.learn.PCA(1, bounds=[(0, 1)] * 2, rho=1).set_output(transform="pandas")
        >>> pca.fit_transform([[0.1, 0.2], [0.3, 0.4]]).columns.tolist()
        ['pca0']
        """
        if transform is not None:
            container = checks.choice("transform", transform, FORMS)
            self._sklearn_output_config = {"transform": container}
        return self

    @as_fitted
    def get_feature_names_out(
        self, input_features: Sequence[str] | None = None
    ) -> NDArray[np.object_]:
        """Return the column names of the output of `transform`: the class name and a number.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns that the learner learned from. They are only checked.

        Returns
        -------
        array of str
            The names.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the names differ from the names of the columns that the learner learned from.

        Examples
        --------
        The name of the only component:

        >>> import numpy as np, dpfast as dp
        >>> x = np.outer(np.linspace(-1, 1, 20_001), [3, 4])
        >>> dp.learn.PCA(1, bounds=(-4, 4), rho=0.5).fit(x).get_feature_names_out()
        array(['pca0'], dtype=object)
        """
        if input_features is not None:
            names = [input_features] if isinstance(input_features, str) else list(input_features)
            self._expect(len(names), names, "input_features")
        name = type(self).__name__.lower()
        return np.array([f"{name}{i}" for i in range(self._transformed()[0])], object)

    def _container(self) -> str:
        """Return the output format: that of `set_output`, or else that of scikit-learn's setting.

        Raises
        ------
        ArgumentError
            If scikit-learn's setting has another value.
        MissingExtraError
            If the format is "pandas", and pandas is not installed.
        """
        container = vars(self).get("_sklearn_output_config", {}).get("transform")
        if container is None:
            if "sklearn" not in sys.modules:
                return "default"
            from sklearn import get_config

            theirs = get_config().get("transform_output", "default")
            container = checks.choice("scikit-learn's transform_output", theirs, FORMS)
        if container == "pandas":
            extra("pandas", "transform='pandas'")
        return str(container)

    def _in_form(self, numbers: Floats, X: Any) -> Transformed:
        """Return the numbers as an array, or as a DataFrame if the output format is pandas."""
        if self._container() == "default":
            return numbers
        pandas, labels = extra("pandas", "transform='pandas'"), labels_of(X)
        index = labels[0] if labels else None
        return pandas.DataFrame(numbers, index, self.get_feature_names_out())


@dataclass(eq=False, repr=False, kw_only=True)
class Invertible(Transformer):
    """A transformer with an inverse: from transformed numbers back to rows."""

    @abstractmethod
    def _inverted(self) -> tuple[int, Callable[[Floats], Floats]]:
        """Return the number of input columns, and the function that inverts `transform`."""

    @as_fitted
    def inverse_transform(self, X: Any) -> Floats:
        """Return rows from transformed numbers: the inverse of `transform`.

        NOT PRIVATE: the result is a function of its row. Do not publish results for secret rows.

        Parameters
        ----------
        X : array_like of shape (n, columns of `transform`), structured array, table, or source
            Rows as `transform` returns them.

        Returns
        -------
        float64 array of shape (n, d)
            The rows.

        Raises
        ------
        NotFittedError, ArgumentError, DataError
            As in `transform`.

        Examples
        --------
        Transform a row and back:

        >>> import numpy as np, dpfast as dp
        >>> x = np.outer(np.linspace(-1, 1, 20_001), [3, 4])
        >>> pca = dp.learn.PCA(1, bounds=(-4, 4), rho=0.5).fit(x)
        >>> bool(np.abs(pca.inverse_transform(pca.transform([[3, 4]])) - [[3, 4]]).max() < 0.2)
        True
        """
        width, (size, function) = self._transformed()[0], self._inverted()
        rows = unlabeled_rows(X, width=width)
        if rows.width != width:
            checks.fail("X", f"rows of {width} columns, like the output of transform", rows.width)
        return rows.computed(size, function)
