"""What classifiers share that know the public classes, and perhaps words, of their columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sources.words import Words
from .coded import Classes
from .estimator import Classifier
from .matrices import each_row
from .targets import Labelled, labelled


class PublicClassifier(Classifier):
    """Says how likely each class is for a row, by released numbers alone."""

    classes: Any

    @abstractmethod
    def _words(self) -> Sequence[Words | None]:
        """The public words of each column, for those that are text."""

    @abstractmethod
    def _ready(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """What says of some rows how likely each class is for each."""

    def _each(self, X: Any, size: int, function: Any) -> NDArray[np.float64]:
        self._fitted("n_features_in_")
        source = self._rows(X, self._words())
        return each_row(source, self.n_features_in_, size, function)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """How likely each class is for each row, as the released numbers have it.

        NOT PRIVATE: an answer is a function of its row, so do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`, without labels.

        Returns
        -------
        float64 array of shape (n, classes)
            Columns in the order of `classes_`.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        """
        many = len(self._fitted("classes_"))
        return self._each(X, many, self._ready())

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class of each row, the first one of several.

        NOT PRIVATE: an answer is a function of its row, so do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`, without labels.

        Returns
        -------
        array of shape (n,)
            Of the type of `classes_`.

        Raises
        ------
        NotFittedError, ArgumentError
            As `predict_proba`.
        """
        classes: NDArray[Any] = self._fitted("classes_")
        likely = self._ready()
        found = self._each(X, 1, lambda rows: likely(rows).argmax(axis=1)[:, None] + 0.0)
        chosen: NDArray[Any] = classes[found[:, 0].astype(np.intp)]
        return chosen

    def _answers(self, rows: NDArray[np.float64]) -> NDArray[Any]:
        classes = Classes(self.classes)
        place = self._ready()(rows).argmax(axis=1)
        found: NDArray[Any] = place if classes.axis.words is not None else classes.given[place]
        return found

    def _read(self, X: Any, y: Any) -> Labelled:
        classes = Classes(self.classes).axis.words
        return labelled(X, y, self._words(), classes, self.n_features_in_)
