"""What scikit-learn expects of an estimator, without scikit-learn."""

from __future__ import annotations

import inspect
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..budget.budget import Budget
from ..errors import DpfastError
from ..privacy import Loss
from ..rng import Generator
from ..sources.row_source import RowSource
from ..sources.table import feature_rows
from ..sources.words import Words
from ..summaries.side_by_side import width_of
from .output import FORMS, form_of, framed
from .targets import Labelled, Piece, expect_same, labelled, names_of

Own = TypeVar("Own", bound="Estimator")
Shaped = TypeVar("Shaped", bound="Transformer")


class NotFittedError(DpfastError, ValueError, AttributeError):
    """The estimator has learned nothing yet; call `fit` first."""


def _not_fitted() -> type[NotFittedError]:
    """The same error, but also scikit-learn's own where that is in use."""
    if "sklearn" not in sys.modules:
        return NotFittedError
    from sklearn.exceptions import NotFittedError as Theirs

    return type("NotFittedError", (NotFittedError, Theirs), {})


class Estimator(ABC):
    """Parameters are the arguments of the constructor, kept as they are and checked by `fit`.

    What was learned, and is private, is in attributes that end in ``_``.
    """

    #: Kind of estimator, as scikit-learn calls it; classifiers, which take two classes only.
    _estimator_type: str
    _two_classes = False

    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    loss_: Loss

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The arguments of the constructor by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Own, **params: Any) -> Own:
        """Change arguments of the constructor.

        Raises
        ------
        ArgumentError
            If there is no such argument; none has been changed then.
        """
        for name in params:
            checks.choice("the name of a parameter", name, self._names())
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({given})"

    def _fitted(self, name: str) -> Any:
        """What `fit` has learned."""
        if name not in vars(self):
            raise _not_fitted()(f"this {type(self).__name__} is not fitted yet: call fit first")
        return getattr(self, name)

    @abstractmethod
    def fit(
        self: Own,
        X: Any,
        y: Any = None,
        *,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Own:
        """Learn from rows."""

    def _learned(self, loss: Loss, width: int, names: tuple[str, ...] | None) -> None:
        """Note what was spent, and on which columns."""
        self.loss_, self.n_features_in_ = loss, width
        vars(self).pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, object)

    def _rows(self, X: Any, words: Sequence[Words | None] = ()) -> RowSource:
        """Rows of the columns that were learned from."""
        self._fitted("n_features_in_")
        source = feature_rows(X, self.n_features_in_, words)
        self._expect(width_of(source), names_of(X, source))
        return source

    def _expect(self, width: int, names: tuple[str, ...] | None) -> None:
        """Refuse columns that are not those that were learned from."""
        own: int = self._fitted("n_features_in_")
        expect_same(width, names, own, getattr(self, "feature_names_in_", None))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import (
            ClassifierTags,
            InputTags,
            RegressorTags,
            Tags,
            TargetTags,
            TransformerTags,
        )

        kind = self._estimator_type
        transforms = isinstance(self, Transformer)
        return Tags(
            estimator_type=kind,
            target_tags=TargetTags(required=kind in ("classifier", "regressor")),
            transformer_tags=TransformerTags(preserves_dtype=[]) if transforms else None,
            classifier_tags=(
                ClassifierTags(multi_class=not self._two_classes) if kind == "classifier" else None
            ),
            regressor_tags=RegressorTags() if kind == "regressor" else None,
            input_tags=InputTags(allow_nan=getattr(self, "nan", "raise") != "raise"),
            non_deterministic=True,
        )


class Transformer(Estimator):
    """One that makes other numbers of rows."""

    #: What `set_output` was told, if it was, where and as scikit-learn copies it to a clone.
    _sklearn_output_config: dict[str, str]

    @abstractmethod
    def _columns_out(self) -> int:
        """How many numbers it makes of a row."""

    @abstractmethod
    def transform(self, X: Any) -> Any:
        """Numbers for each row, which are not private."""

    def _form(self) -> str:
        return form_of(getattr(self, "_sklearn_output_config", {}).get("transform"))

    def _as_asked(self, found: NDArray[np.float64], X: Any) -> Any:
        """What was found for the rows of X, as `set_output` has it."""
        return framed(self._form(), found, self.get_feature_names_out(), X)

    def fit_transform(
        self, X: Any, y: Any = None, *, budget: Budget | None = None, rng: Generator | None = None
    ) -> Any:
        """`fit`, then `transform`, which is not private."""
        self._form()  # refused, if it cannot be had, before anything is spent
        return self.fit(X, budget=budget, rng=rng).transform(X)

    def set_output(self: Shaped, *, transform: str | None = None) -> Shaped:
        """Choose what `transform` and `fit_transform` answer with.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            An array, or a DataFrame of pandas with the index of the rows, if they have one. If left
            out, nothing changes. Nothing chosen, it is as scikit-learn's ``transform_output`` says.

        Returns
        -------
        Transformer
            This object.

        Raises
        ------
        ArgumentError
            For another form.

        Examples
        --------
        >>> import dpfast as dp
        >>> made = dp.sulq.PCA(1, bounds=[(0, 1)] * 2, rho=1).set_output(transform="pandas")
        >>> made.fit_transform([[0.1, 0.2], [0.3, 0.4]]).columns.tolist()
        ['pca0']
        """
        if transform is not None:
            form = checks.choice("transform", transform, FORMS)
            self._sklearn_output_config = {"transform": form}
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of `transform`: that of the class, and a number.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns that were learned from, which are only compared.

        Returns
        -------
        array of str

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For other columns than were learned from.
        """
        own: int = self._fitted("n_features_in_")
        if input_features is not None:
            names = [input_features] if isinstance(input_features, str) else list(input_features)
            known = getattr(self, "feature_names_in_", None)
            expect_same(len(names), names, own, known, "input_features")
        name = type(self).__name__.lower()
        return np.array([f"{name}{i}" for i in range(self._columns_out())], object)


class _Learner(Estimator):
    """One that learns what is beside rows."""

    @abstractmethod
    def _answers(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        """What was learned about each of some rows, compared with labels as they are read."""

    def _read(self, X: Any, y: Any) -> Labelled:
        """Rows with their labels, as `fit` reads them."""
        return labelled(X, y, width=self.n_features_in_)

    def _labelled(self, X: Any, y: Any) -> Labelled:
        """Rows of the columns that were learned from, with their labels."""
        self._fitted("n_features_in_")
        made = self._read(X, y)
        self._expect(made.width, made.names)
        return made


class Classifier(_Learner):
    """One that learns which of some classes a row belongs to."""

    _estimator_type = "classifier"
    classes_: NDArray[Any]

    def score(self, X: Any, y: Any) -> float:
        """The part of the rows whose class is found.

        NOT PRIVATE: it is an exact statistic of these rows, so do not publish that of secret ones.

        Parameters
        ----------
        X, y
            Rows and their labels, as in `fit`.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        """

        def summarise(pieces: Iterator[Piece]) -> tuple[int, int]:
            right, rows = 0, 0
            for x, y in pieces:
                right += int(np.count_nonzero(self._answers(x) == y))
                rows += len(x)
            return right, rows

        right, rows = self._labelled(X, y).reduce(
            summarise, lambda a, b: (a[0] + b[0], a[1] + b[1])
        )
        return right / rows if rows else math.nan


class Regressor(_Learner):
    """One that learns a number of each row."""

    _estimator_type = "regressor"

    def score(self, X: Any, y: Any) -> float:
        """1 less the part of the variance of y that is left, of at most 1.

        NOT PRIVATE: it is an exact statistic of these rows, so do not publish that of secret ones.

        Parameters
        ----------
        X, y
            Rows and what is to be found, as in `fit`; nothing is clipped.

        Returns
        -------
        float

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        """

        def summarise(pieces: Iterator[Piece]) -> list[tuple[int, float, float, float]]:
            found = []
            for x, y in pieces:
                own = np.asarray(y, np.float64)
                middle = float(own.mean())
                left = float(((own - self._answers(x)) ** 2).sum())
                found.append((len(x), middle, float(((own - middle) ** 2).sum()), left))
            return found

        parts = self._labelled(X, y).reduce(summarise, lambda a, b: a + b)
        rows = sum(n for n, _, _, _ in parts)
        mean = sum(n * m for n, m, _, _ in parts) / rows if rows else math.nan
        whole = sum(v + n * (m - mean) ** 2 for n, m, v, _ in parts)
        left = sum(one for _, _, _, one in parts)
        return 1.0 - left / whole if whole else math.nan
