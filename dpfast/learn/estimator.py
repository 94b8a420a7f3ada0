"""The common shape of all learners, as scikit-learn expects it, without scikit-learn.

`fit` is the same for all of them: check the arguments, pay for all rounds at once, ask them, and
keep what was computed from the answers. A learner says in `_training` what it asks.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Concatenate,
    Literal,
    NamedTuple,
    ParamSpec,
    Self,
    TypeAlias,
    TypeVar,
)

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.extras import extra
from .._core.html import facts
from .._core.types import Auto, Bounds, BoundsEach, NanPolicy, Neighbors, Number
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.record import Parameters
from ..budget.release import Prepared, paid, prepare, relation_of, release, releases
from ..errors import DpfastError
from ..measurement.around import Around
from ..measurement.automatic_bounds import ANY, divided, with_bounds
from ..measurement.outer_bounds import drawn_bounds
from ..measurement.statistic import Layout, Offer, Statistic, mechanism_of
from ..measurement.unit import OfUnits, Unit, one_row
from ..privacy import Loss
from ..rng import Generator
from ..statistics.histogram import Bins, Categories
from ..statistics.totals.moments import Mean
from ..sulq.parts import Some
from ..sulq.rounds import Rounds, loss_of
from ..tables.ids import checked, id_name
from ..tables.intake import View
from ..tables.labels import aligned, labels_of
from ..tables.people import split_units
from .columns import Classes, Columns, Floats, NumberColumn, attributes, columns_of
from .rows import Block, Rows, answers, expect_same, labeled_rows, unlabeled_rows
from .weights import weights_of

if TYPE_CHECKING:
    from pandas import DataFrame

Compared = TypeVar("Compared")
Learner = TypeVar("Learner", bound="Estimator")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Value = TypeVar("Value", covariant=True)

#: What a transformer returns; see `Transformer.set_output`.
Transformed: TypeAlias = "Floats | DataFrame"

#: The public values of every column, or of each one that is no column of numbers.
CategoriesEach: TypeAlias = (
    Categories | Sequence[Categories | NDArray[np.generic] | None] | NDArray[np.generic]
)
#: Public limits of all columns, or of each one that is a column of numbers.
BoundsOfSome: TypeAlias = BoundsEach | Auto | Sequence[Bounds | None]

#: Arrays of more numbers are shown by type and shape.
LARGE = 12
#: Forms of the answers of a transformer.
FORMS = ("default", "pandas")


class NotFittedError(DpfastError, ValueError, AttributeError):
    """The estimator has learned nothing yet; call `fit` first."""


class Training(NamedTuple):
    """What `fit` is about to do with the rows, known before it pays and before a row is read.

    Parameters
    ----------
    rounds : int
    parts : sequence of Part, Matrix or Boxes
        What will be asked for, as far as it is known. See `Rounds`.
    learn : callable
        Asks the rounds, and keeps what is computed from the answers.
    """

    rounds: int
    parts: Sequence[Some]
    learn: Callable[[Rounds], None]


def _shaped(value: Any) -> Any:
    """Return what is shown of a value: of a large array its type and shape."""
    large = isinstance(value, np.ndarray) and value.size > LARGE
    return f"{value.dtype} of shape {value.shape}" if large else value


def without_ids(X: Any, ids: Any) -> Any:
    """Return rows without the column of ids, if that is one of theirs."""
    return split_units(X, ids, 0, "X")[0] if isinstance(ids, str) else X


def as_fitted(
    method: Callable[Concatenate[Learner, Arguments], Answer],
) -> Callable[Concatenate[Learner, Arguments], Answer]:
    """Run a method of what is fitted, with the arguments that `fit` had, whatever they are now.

    What was learned belongs to those: classes, bounds and categories that are set later do not.
    """

    @functools.wraps(method)
    def run(self: Learner, /, *args: Arguments.args, **kw: Arguments.kwargs) -> Answer:
        self._check_fitted()
        had = vars(self).get("_fitted_with", {})
        if any(getattr(self, name) is not value for name, value in had.items()):
            self = copy.copy(self)
            vars(self).update(had)
        return method(self, *args, **kw)

    return run


@dataclass(eq=False, repr=False, kw_only=True)
class Estimator(ABC):
    """Learn from noisy sums.

    A learner is a dataclass. Its fields are the arguments of the constructor, kept as they are, and
    `fit` checks them. What was learned, and is private, is in attributes that end in ``_``.
    """

    #: Arguments of a learner. Those with ``init=False`` are arguments of the learners that say so.
    bounds: Any = field(default=None, init=False)
    epsilon: Number | None = None
    delta: Number = 0.0
    rho: Number | None = None
    neighbors: Neighbors | None = None
    nan: NanPolicy = field(default="raise", init=False)
    weight_bounds: Bounds | None = field(default=None, init=False)

    #: Kind of estimator in scikit-learn's words; name in the ledger; classifiers of two classes;
    #: whether it learns labels or targets, and from rows with NaN, whatever `nan` says.
    _estimator_type: ClassVar[str]
    _name: ClassVar[str]
    _two_classes: ClassVar[bool] = False
    _supervised: ClassVar[bool] = False
    _takes_nan: ClassVar[bool] = False

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the arguments of the constructor by name.

        Parameters
        ----------
        deep : bool, default True
            Without effect: no argument is an estimator. It is there for scikit-learn.

        Returns
        -------
        dict

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.learn.PCA(1, bounds=(0, 1), epsilon=0.5).get_params()["epsilon"]
        0.5
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: object) -> Self:
        """Change arguments of the constructor.

        Parameters
        ----------
        **params
            New values by name. They count from the next `fit` on.

        Returns
        -------
        The estimator itself.

        Raises
        ------
        ArgumentError
            If there is no such argument. None has been changed then.

        Examples
        --------
        >>> import dpfast as dp
        >>> dp.learn.PCA(1, bounds=(0, 1), epsilon=0.5).set_params(epsilon=0.25).epsilon
        0.25
        """
        for name in params:
            checks.choice("the name of a parameter", name, self._names())
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({arguments})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the arguments, and what was learned."""
        learned = {name: _shaped(value) for name, value in self._learned().items()}
        state = "fitted" if learned else "not fitted"
        return facts(f"{type(self).__name__} ({state})", {**self.get_params(), **learned})

    def _learned(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[-1] == "_" != name[0]}

    @releases
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        ids: Any = None,
        max_rows: int | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[Self]:
        """Learn from rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
        y : array_like of shape (n,), or str
            The label or the target of each row. Where the columns of X have names, it may be the
            name of one, which then is no feature. Clusters and components ignore it.
        ids : array_like of shape (n,), or str, optional
            Whose row each row is, or the name of the column that says so, which then is no feature.
            The loss is one of people then: for neighbors that differ in all rows of one person
            (`sulq.rounds` has the proof).
        max_rows : int, optional
            With `ids`, and only then: how many rows of a person count at most. Which of more is a
            uniform choice by a fresh secret key, made once for the whole fit.
        budget : Budget, optional
            Pays before data or randomness are touched; by default the budget of the ``with`` block.
        rng : Generator, optional
            The secure one by default. `InsecureGenerator` is for tests; a budget refuses it.

        Returns
        -------
        Estimator
            This object.
        """
        return self._fit(X, y, None, ids, max_rows, budget, rng)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        ids: Any,
        max_rows: int | None,
        budget: Budget | None,
        rng: Generator | None,
    ) -> Prepared[Self]:
        """Learn in a copy: what was learned before stays until everything is learned anew."""
        loss, fresh = loss_of(self.epsilon, self.delta, self.rho), self._fresh()
        rows, unit = self._taken(X, y, sample_weight, ids, max_rows, budget)

        def keep(_: None) -> Any:
            for name in self._learned():
                delattr(self, name)
            vars(self).update(fresh._learned(), _fitted_with=fresh.get_params())
            return self

        question = partial(Parameters, self._name, fresh.get_params())
        return replace(fresh._prepared(rows, unit, loss, budget, rng).then(keep), question=question)

    def _fresh(self) -> Self:
        """Return a copy that has learned nothing."""
        fresh = copy.copy(self)
        for name in self._learned():
            delattr(fresh, name)
        return fresh

    def _taken(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        ids: Any,
        max_rows: int | None,
        budget: Budget | None,
        width: int | None = None,
    ) -> tuple[Rows, Unit]:
        """Check the data of a call, by types alone; `width` columns were learned from before."""
        id_column, name = (None, None) if ids is None else (checked(ids), id_name(ids))
        if ids is not None and max_rows is None:
            checks.fail("max_rows", "given with ids: how many rows of a person count at most", None)
        most = None if max_rows is None else checks.rows_each(max_rows)  # which is not "auto"
        unit = Unit(relation_of(self.neighbors, budget), name, most)
        relation = unit.of_rows
        X, row_ids = split_units(X, id_column, 0, "X", (y, sample_weight), relation)
        rows = self._read(X, y, relation, width)
        source = aligned(rows.source, labels_of(rows.source, sample_weight, ids))
        rows = replace(rows, source=source, ids=row_ids)
        if sample_weight is not None:
            weights = weights_of(sample_weight, self.weight_bounds, source, relation, self.nan)
            rows = replace(rows, weights=weights)
        return rows, unit

    def _prepared(
        self, rows: Rows, unit: Unit, loss: Loss, budget: Budget | None, rng: Generator | None
    ) -> Prepared[None]:
        """Check all other arguments; rows with weights come and go, as `weights` has it."""
        relation, most = unit.neighbors, checks.rows_each(unit.max_rows or 1)
        of_rows = "add-remove" if rows.weights else unit.of_rows
        weights = rows.weights and (rows.weights.most, rows.weights.unit)

        def learned(rows: Rows, part: Loss, **payment: Any) -> Prepared[None]:
            number, parts, learn = self._training(rows, part, of_rows)
            options: Any = {"weights": weights, "ids": unit.ids, "max_rows": most, **payment}
            rounds = prepare(Rounds, rows, part, relation, number, self._name, parts, **options)
            return rounds.then(learn)

        def keep(_: None) -> None:
            self.loss_, self.n_features_in_ = loss, rows.width
            if rows.names is not None:
                self.feature_names_in_ = np.array(rows.names, object)

        if not checks.is_auto(self.bounds):
            return learned(rows, loss, budget=budget, rng=rng).then(keep)
        first, remaining = divided(loss)
        learned(rows, remaining, budget=None, rng=rng)  # refuses what cannot be had
        of_row = first if unit.ids is None else one_row(first, relation, most)
        missing_rule = checks.nan_policy(self.nan, unit.of_rows)
        limits = drawn_bounds(of_row, rows.width, unit.of_rows, missing_rule)

        def learn(allotted: tuple[None, Generator]) -> None:
            _, generator = allotted
            kept = rows.bounded(most, generator)
            columns = View(rows.source, True, rows.width, kept.kept)
            self.bounds_ = release(columns, limits, budget=None, rng=generator)
            with paid():
                learned(kept, remaining, budget=None, rng=generator).run()

        allocation = Allocation(with_bounds(self._name), loss, relation, ids=unit.ids)
        allocated: Prepared[None] = Prepared(allocation, rows, budget, rng, learn)
        return allocated.then(keep)

    @property
    def _bounds(self) -> Any:
        """Public limits of the columns, or those that were found, or any before that."""
        return vars(self).get("bounds_", ANY) if checks.is_auto(self.bounds) else self.bounds

    @abstractmethod
    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        """Check all arguments, and return what `fit` will ask; no row is read."""

    def _columns(self) -> Columns[Any]:
        """Return public facts about the columns, by default how many the arguments are for."""
        return Columns((), None if self.bounds is None else checks.pairs_given(self.bounds))

    def _read(self, X: Any, y: Any, relation: str, width: int | None = None) -> Rows:
        """Return the rows that are learned from; to score them, of the `width` that was learned."""
        return unlabeled_rows(X, self._columns(), width)

    def _check_fitted(self) -> None:
        """Refuse what has learned nothing, by scikit-learn's error too where that is in use."""
        if "n_features_in_" in vars(self):
            return
        kind: type[Exception] = NotFittedError
        if "sklearn" in sys.modules:
            from sklearn.exceptions import NotFittedError as Theirs

            kind = type("NotFittedError", (NotFittedError, Theirs), {})
        raise kind(f"this {type(self).__name__} is not fitted yet: call fit first")

    def _rows(self, X: Any) -> Rows:
        """Return rows of the columns that were learned from."""
        rows = unlabeled_rows(X, self._columns(), self.n_features_in_)
        self._expect(rows.width, rows.names)
        return rows

    def _expect(self, width: int, names: Sequence[str] | None, argument: str = "X") -> None:
        """Refuse columns that are not those that were learned from."""
        names_learned, learner = vars(self).get("feature_names_in_"), type(self).__name__
        expect_same(width, names, self.n_features_in_, names_learned, argument, learner)

    def _apply(self, X: Any, size: int, function: Callable[[Floats], Floats]) -> Floats:
        """Return `size` numbers for each row. This is not private."""
        return self._rows(X).computed(size, function)

    def __sklearn_tags__(self) -> object:
        from sklearn import utils

        kind = self._estimator_type
        tags = utils.Tags(
            estimator_type=kind,
            target_tags=utils.TargetTags(required=self._supervised),
            input_tags=utils.InputTags(allow_nan=self._takes_nan or self.nan != "raise"),
            non_deterministic=True,
        )
        if isinstance(self, Transformer):
            tags.transformer_tags = utils.TransformerTags(preserves_dtype=[])
        if kind == "classifier":
            tags.classifier_tags = utils.ClassifierTags(multi_class=not self._two_classes)
        if kind == "regressor":
            tags.regressor_tags = utils.RegressorTags()
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class Weighted(Estimator):
    """An estimator of rows that may have weights."""

    weight_bounds: Bounds | None = None

    @releases
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        max_rows: int | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[Self]:
        """Learn from rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
        y : array_like of shape (n,), or str
            The label or the target of each row. Where the columns of X have names, it may be the
            name of one, which then is no feature. Clusters and components ignore it.
        sample_weight : array_like of shape (n,), optional
            A number for each row, a function of that row alone: how many rows it stands for. It is
            clipped to `weight_bounds`, and noise is for a row of the largest weight.
        ids : array_like of shape (n,), or str, optional
            Whose row each row is, or the name of the column that says so, which then is no feature.
            The loss is one of people then: for neighbors that differ in all rows of one person
            (`sulq.rounds` has the proof).
        max_rows : int, optional
            With `ids`, and only then: how many rows of a person count at most. Which of more is a
            uniform choice by a fresh secret key, made once for the whole fit.
        budget : Budget, optional
            Pays before data or randomness are touched; by default the budget of the ``with`` block.
        rng : Generator, optional
            The secure one by default. `InsecureGenerator` is for tests; a budget refuses it.

        Returns
        -------
        Estimator
            This object.
        """
        return self._fit(X, y, sample_weight, ids, max_rows, budget, rng)


@dataclass(eq=False, repr=False, kw_only=True)
class Transformer(Weighted):
    """An estimator that computes other numbers from each row."""

    #: What was said to `set_output`, where and as scikit-learn copies it to a clone.
    _sklearn_output_config: dict[str, str] = field(init=False)

    @abstractmethod
    def _transformed(self) -> tuple[int, Callable[[Floats], Floats]]:
        """Return how many numbers `transform` computes from a row, and the function of rows."""

    @as_fitted
    def transform(self, X: Any) -> Transformed:
        """Return the coordinates of the rows: distances from centers, along components, or scaled.

        NOT PRIVATE: an answer is a function of its row. Do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            Not clipped.

        Returns
        -------
        float64 array of shape (n, columns)
            One column for each center, component or column; or a DataFrame, as `set_output` has it.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        DataError
            For NaN, whatever `nan` says.

        Examples
        --------
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
        """Call `fit`, then `transform`, which is not private.

        Parameters
        ----------
        X, y, sample_weight, ids, max_rows, budget, rng
            As for `fit`.

        Returns
        -------
        array or table
            NOT PRIVATE, as that of `transform`.

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> scaled = dp.learn.StandardScaler(bounds=(0, 10), rho=0.5).fit_transform(x)
        >>> bool(abs(scaled.mean()) < 0.1), bool(abs(scaled.std() - 1) < 0.1)
        (True, True)
        """
        self._container()  # refused, if it cannot be had, before anything is spent
        people = {"ids": ids, "max_rows": max_rows}
        fitted = prepare(self.fit, X, None, sample_weight, **people, budget=budget, rng=rng)
        return fitted.then(lambda learned: learned.transform(without_ids(X, ids)))

    def set_output(self, *, transform: Literal["default", "pandas"] | None = None) -> Self:
        """Choose the form of what `transform` and `fit_transform` return.

        Parameters
        ----------
        transform : {"default", "pandas"}, optional
            An array, or a DataFrame of pandas with the index of the rows, if they have one. If left
            out, nothing changes. If nothing was chosen, scikit-learn's ``transform_output`` counts.

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
        """Return names for the columns of `transform`: the name of the class, and a number.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns that were learned from. They are only compared.

        Returns
        -------
        array of str

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For other columns than those that were learned from.

        Examples
        --------
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
        """Return what `transform` returns by `set_output`, or else by scikit-learn's setting.

        Raises
        ------
        ArgumentError
            If scikit-learn is set to another form.
        MissingExtraError
            If it is "pandas", which is not installed.
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
        """Return the numbers as an array, or a DataFrame if `set_output` says so."""
        if self._container() == "default":
            return numbers
        pandas, labels = extra("pandas", "transform='pandas'"), labels_of(X)
        index = labels[0] if labels else None
        return pandas.DataFrame(numbers, index, self.get_feature_names_out())


@dataclass(eq=False, repr=False, kw_only=True)
class Invertible(Transformer):
    """A transformer whose numbers lead back to rows."""

    @abstractmethod
    def _inverted(self) -> tuple[int, Callable[[Floats], Floats]]:
        """Return how many numbers a row has, and the function from transformed rows to rows."""

    @as_fitted
    def inverse_transform(self, X: Any) -> Floats:
        """Return rows from what `transform` makes of them.

        NOT PRIVATE: an answer is a function of its row. Do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, columns of `transform`), structured array, table, or source

        Returns
        -------
        float64 array of shape (n, d)

        Raises
        ------
        NotFittedError, ArgumentError, DataError
            As in `transform`.

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> x = np.outer(np.linspace(-1, 1, 20_001), [3, 4])
        >>> pca = dp.learn.PCA(1, bounds=(-4, 4), rho=0.5).fit(x)
        >>> bool(np.abs(pca.inverse_transform(pca.transform([[3, 4]])) - [[3, 4]]).max() < 0.2)
        True
        """
        width, (size, function) = self._transformed()[0], self._inverted()
        rows = unlabeled_rows(X, width=width)
        if rows.width != width:
            checks.fail("X", f"rows of {width} columns, as those of transform", rows.width)
        return rows.computed(size, function)


class Score(NamedTuple):
    """What a private score is made of.

    Parameters
    ----------
    statistic : Statistic
        Sums or means of numbers between public limits.
    numbers : callable
        ``numbers(x, y)`` returns them, (r, width) float64, of some rows and their labels.
    answer : callable
        Returns the score, of the answers for all columns of numbers.
    """

    statistic: Statistic[Any]
    numbers: Callable[[Floats, NDArray[Any]], Floats]
    answer: Callable[[Floats], float]
    width: int = 1


@dataclass(frozen=True, slots=True)
class _Scoring(Around[Value]):
    """A statistic of rows that were made for a score, and have no ids: those of people are chosen.

    It has noise for all rows of a person at once, whichever these are.
    """

    title: str

    @property
    def name(self) -> str:
        return self.title


class Scored(Estimator):
    """An estimator that tells how well it describes rows."""

    @abstractmethod
    def _score(self) -> Score:
        """Return what a private score is made of."""

    @abstractmethod
    def _exact_score(self, X: Any, y: Any) -> float:
        """Return the score of rows, which is not private."""

    @as_fitted
    def score(
        self,
        X: Any,
        y: Any = None,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        ids: Any = None,
        max_rows: int | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> float:
        """Return how well rows are described: of classes the share that is predicted.

        Of targets it is the coefficient of determination, R squared, at most 1; of clusters minus
        the sum of the squared distances to the nearest center.

        Without a loss this is scikit-learn's score, and NOT PRIVATE: it is an exact statistic of
        these rows. Do not publish that of secret rows.

        Privacy
        -------
        With a loss it is made of `dpfast.mean` (of clusters `dpfast.sum`) of numbers of each row,
        which satisfies that loss by the theorem there, for neighbors that differ in a row, or, with
        `ids`, in all rows of a person, as `neighbors` of the learner and the budget say. Targets,
        predictions and features are clamped to their public bounds first. What was learned is
        public: rows that it was learned from pay for both.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`.
        y : array_like of shape (n,), or str
            Labels or targets, as in `fit`; clusters ignore it.
        epsilon, delta, rho : float, Fraction or Decimal, optional
            The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
        ids : array_like of shape (n,), or str, optional
            Whose row each row is, as in `fit`. The loss is one of people then.
        max_rows : int, optional
            With `ids`, and only then: how many rows of a person count at most, as in `fit`.
        budget : Budget, optional
            Pays before data or randomness are touched; by default the budget of the ``with`` block.
        rng : Generator, optional
            By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

        Returns
        -------
        float
            NaN without rows, and for R squared where noise hides how targets differ.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError, ArgumentTypeError, BudgetError
            For a bad argument, rows of another number of columns, or too small a budget; nothing
            has been spent.
        DataError
            For NaN that leads to no answer; a spent budget is not refunded.

        Notes
        -----
        Cost: a read of the data. Rows that were learned from flatter what was learned, if little
        where that is private: keep some split_units, or see `cross_validate`.

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> late, old = (x[:, 0] > 7).astype(int), np.arange(20_001) % 5 > 0
        >>> model = dp.learn.LogisticRegression(bounds=(0, 10), classes=[0, 1], epsilon=1)
        >>> model = model.fit(x[old], late[old])
        >>> model.score(x[~old], late[~old], epsilon=0.5) > 0.9
        True
        """
        private = (epsilon, rho, ids, max_rows, budget, rng)
        if all(argument is None for argument in private) and type(delta) is float and not delta:
            return self._exact_score(X, y)
        loss = loss_of(epsilon, delta, rho)
        rows, unit = self._taken(X, y, None, ids, max_rows, budget, self.n_features_in_)
        self._expect(rows.width, rows.names)
        return self._scored(rows, unit, loss, budget, rng).run()

    def _scored(
        self, rows: Rows, unit: Unit, loss: Loss, budget: Budget | None, rng: Generator | None
    ) -> Prepared[float]:
        """Return the private score of the rows that are kept."""
        statistic, numbers, answer, width = self._score()
        mechanism = mechanism_of(statistic, Offer(loss, unit), Layout(width, rows.kept is not None))
        title = f"score of {self._name}"
        if isinstance(mechanism, OfUnits):
            mechanism = replace(mechanism, inner=_Scoring(mechanism.inner, title))
        else:
            mechanism = _Scoring(mechanism, title)
        view = View(rows.mapped(width, numbers), True, width, rows.kept, ids=rows.ids)
        scored: Prepared[Any] = Prepared(mechanism, view, budget, rng)
        return scored.then(lambda answers: answer(np.asarray(answers, np.float64)))


class Supervised(Scored):
    """An estimator that learns a label or a target of each row."""

    _supervised = True

    @abstractmethod
    def _numbers(self) -> Callable[[Floats], Floats]:
        """Return the function that computes the numbers of each row that its prediction follows."""

    @abstractmethod
    def _predicted(self, numbers: Floats) -> NDArray[Any]:
        """Return the prediction for some rows, to be compared with labels as they are read."""

    def _labels(self) -> Bins | None:
        """Return the public labels, if there are some."""
        return None

    def _read(self, X: Any, y: Any, relation: str, width: int | None = None) -> Rows:
        return labeled_rows(X, y, self._columns(), self._labels(), width, relation)

    def _compared(
        self,
        X: Any,
        y: Any,
        compare: Callable[[NDArray[Any], NDArray[Any]], Compared],
    ) -> list[Compared]:
        """Return what `compare` makes of predictions and labels, block by block."""
        rows = self._read(X, y, "replace", self.n_features_in_)
        self._expect(rows.width, rows.names)
        numbers = self._numbers()

        def summarize(blocks: Iterator[Block]) -> list[Compared]:
            with np.errstate(invalid="ignore"):  # of infinite numbers
                return [compare(self._predicted(answers(numbers(x))), y) for x, y in blocks]

        return rows.reduce(summarize, lambda a, b: a + b)


def _agreements(predicted: NDArray[Any], labels: NDArray[Any]) -> tuple[int, int]:
    """Return how many predictions are the labels, and how many there are."""
    return int(np.count_nonzero(predicted == labels)), len(labels)


@dataclass(eq=False, repr=False, kw_only=True)
class Classifier(Supervised):
    """An estimator that learns which of some classes a row belongs to."""

    _estimator_type = "classifier"
    classes_: NDArray[np.generic] = field(init=False)

    def _class_indices(self, numbers: Floats) -> NDArray[Any]:
        """Return the place of the class of each row among `classes_`."""
        return np.asarray(numbers.argmax(axis=1))

    def _predicted(self, numbers: Floats) -> NDArray[Any]:
        return np.asarray(self.classes_[self._class_indices(numbers)])

    @as_fitted
    def predict(self, X: Any) -> NDArray[np.generic]:
        """Return the class of each row: the likeliest one, and the first of several.

        NOT PRIVATE: an answer is a function of its row. Do not publish those of secret rows.

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
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        DataError
            For NaN that leads to no answer.
        """
        numbers = self._numbers()
        indices = self._apply(
            X, 1, lambda rows: self._class_indices(answers(numbers(rows)))[:, None] + 0.0
        )
        return self.classes_[indices[:, 0].astype(np.intp)]

    def _score(self) -> Score:
        numbers = self._numbers()

        def right(x: Floats, y: NDArray[Any]) -> Floats:
            return np.asarray((self._predicted(answers(numbers(x))) == y)[:, None] + 0.0)

        return Score(Mean(bounds=(0.0, 1.0)), right, lambda shares: float(shares[0]))

    def _exact_score(self, X: Any, y: Any) -> float:
        parts = self._compared(X, y, _agreements)
        right, rows = (sum(part) for part in zip(*parts, strict=True)) if parts else (0, 0)
        return right / rows if rows else math.nan


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(Supervised):
    """An estimator that learns a number of each row."""

    _estimator_type = "regressor"
    y_bounds: Bounds = field(init=False)

    @as_fitted
    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row.

        NOT PRIVATE: an answer is a function of its row. Do not publish those of secret rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            As in `fit`, without targets.

        Returns
        -------
        float64 array of shape (n,)
            Within the bounds of the target, if the learner says so.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            For rows of another number of columns.
        DataError
            For NaN that leads to no answer.

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> model = dp.learn.LinearRegression(bounds=(0, 10), y_bounds=(0, 20), rho=0.5)
        >>> model.fit(x, 2 * x[:, 0]).predict([[5.0]]).round()
        array([10.])
        """
        return self._apply(X, 1, self._numbers()).reshape(-1)

    def _predicted(self, numbers: Floats) -> Floats:
        return numbers.reshape(-1)

    def _score(self) -> Score:
        """Return the means of t, t**2 and e**2, targets t in -1 .. 1 and e half of what is left."""
        lo, hi = checks.bounds(self.y_bounds, "y_bounds")
        middle, half, numbers = (lo + hi) / 2, (hi - lo) / 2 or 1.0, self._numbers()

        def moments(x: Floats, y: NDArray[Any]) -> Floats:
            both = self._predicted(answers(numbers(x))), np.asarray(y, np.float64)
            predicted, target = ((np.clip(values, lo, hi) - middle) / half for values in both)
            return np.stack([target, target**2, ((target - predicted) / 2) ** 2], axis=1)

        def determined(means: Floats) -> float:
            mean, square, left = means.tolist()
            whole = square - mean**2
            return 1.0 - 4.0 * left / whole if whole > 0 else math.nan

        return Score(Mean(bounds=[(-1.0, 1.0), (0.0, 1.0), (0.0, 1.0)]), moments, determined, 3)

    def _exact_score(self, X: Any, y: Any) -> float:
        def compare(predicted: Floats, y: NDArray[Any]) -> tuple[int, float, float, float]:
            target = np.asarray(y, np.float64)
            mean = float(target.mean())
            left = float(((target - predicted) ** 2).sum())
            return len(target), mean, float(((target - mean) ** 2).sum()), left

        parts = self._compared(X, y, compare)
        rows = sum(n for n, _, _, _ in parts)
        mean = sum(n * m for n, m, _, _ in parts) / rows if rows else math.nan
        whole = sum(v + n * (m - mean) ** 2 for n, m, v, _ in parts)
        left = sum(squares for _, _, _, squares in parts)
        return float(1.0 - left / whole) if whole else math.nan


@dataclass(eq=False, repr=False, kw_only=True)
class ProbabilisticClassifier(Classifier):
    """A classifier of public classes, by numbers that say how likely each is for a row."""

    classes: ArrayLike = field(init=False)

    @abstractmethod
    def _columns(self) -> Columns[Any]:
        """Return public facts about the columns, each of numbers, bins or categories."""

    def _labels(self) -> Bins:
        return Classes(self.classes).axis

    @as_fitted
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class for each row, as learned.

        NOT PRIVATE: an answer is a function of its row. Do not publish those of secret rows.

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

        Examples
        --------
        >>> import numpy as np, dpfast as dp
        >>> x = np.linspace(0, 10, 20_001)[:, None]
        >>> late = (x[:, 0] > 7).astype(int)
        >>> model = dp.learn.LogisticRegression(bounds=(0, 10), classes=[0, 1], epsilon=1)
        >>> model = model.fit(x, late)
        >>> model.predict_proba([[1.0], [9.0]]).argmax(axis=1)
        array([0, 1])
        """
        return self._apply(X, len(self.classes_), self._numbers())

    def _predicted(self, numbers: Floats) -> NDArray[Any]:
        return self._class_indices(numbers) if self._labels().words else super()._predicted(numbers)


@dataclass(eq=False, repr=False, kw_only=True)
class MixedClassifier(Weighted, ProbabilisticClassifier):
    """A classifier of rows with columns of numbers and of categories."""

    bounds: BoundsOfSome | None = None
    categories: CategoriesEach | None = None
    classes: ArrayLike = field()
    nan: NanPolicy = "raise"

    def _columns(self) -> Columns[NumberColumn | Bins]:
        return columns_of(self._bounds, self.categories)


@dataclass(eq=False, repr=False, kw_only=True)
class Binned(Estimator):
    """An estimator that learns from bins of numbers and from categories, and takes NaN for none."""

    categories: CategoriesEach | None = field(default=None, kw_only=False)
    bins: int | Sequence[Number | Sequence[Number] | None] | NDArray[np.generic] | None = None
    bounds: BoundsOfSome | None = None

    def _columns(self) -> Columns[Bins]:
        return attributes(self.bins, self._bounds, self.categories)
