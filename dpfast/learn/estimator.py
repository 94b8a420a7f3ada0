"""The base class of all learners. It follows scikit-learn's conventions and does not import it.

`fit` is the same for all learners: it checks the arguments, pays for all rounds at once, runs the
rounds, and stores the results. A learner defines its queries in `_training`.
"""

from __future__ import annotations

import copy
import functools
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import (
    Any,
    ClassVar,
    Concatenate,
    NamedTuple,
    ParamSpec,
    Self,
    TypeAlias,
    TypeVar,
)

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.html import facts
from .._core.types import Auto, Bounds, BoundsEach, NanPolicy, Neighbors, Number
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.record import Parameters
from ..budget.release import Prepared, paid, prepare, relation_of, release, releases
from ..errors import DpfastError
from ..measurement.automatic_bounds import ANY, divided, with_bounds
from ..measurement.outer_bounds import drawn_bounds
from ..measurement.unit import Unit, one_row
from ..privacy import Loss
from ..rng import Generator
from ..statistics.histogram import Bins, Categories
from ..sulq.parts import Some
from ..sulq.rounds import Rounds, loss_of
from ..tables.ids import checked, id_name
from ..tables.intake import View
from ..tables.labels import aligned, labels_of
from ..tables.people import split_units
from .columns import Columns, Floats, attributes
from .rows import Rows, expect_same, unlabeled_rows
from .weights import weights_of

Learner = TypeVar("Learner", bound="Estimator")
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

#: The public values of all columns, or of each column that is not numeric.
CategoriesEach: TypeAlias = (
    Categories | Sequence[Categories | NDArray[np.generic] | None] | NDArray[np.generic]
)
#: Public bounds of all columns, or of each column that is numeric.
BoundsOfSome: TypeAlias = BoundsEach | Auto | Sequence[Bounds | None]

#: Larger arrays are shown by type and shape only.
LARGE = 12


class NotFittedError(DpfastError, ValueError, AttributeError):
    """The learner has not been fitted yet; call `fit` first."""


class Training(NamedTuple):
    """The rounds that `fit` will run, planned before it pays or reads a row.

    Parameters
    ----------
    rounds : int
    parts : sequence of Part, Matrix or Boxes
        The queries, as far as they are known. See `Rounds`.
    learn : callable
        A function that runs the rounds, and stores the results.
    """

    rounds: int
    parts: Sequence[Some]
    learn: Callable[[Rounds], None]


def _shaped(value: Any) -> Any:
    """Return a value for display; of a large array only its type and shape."""
    large = isinstance(value, np.ndarray) and value.size > LARGE
    return f"{value.dtype} of shape {value.shape}" if large else value


def as_fitted(
    method: Callable[Concatenate[Learner, Arguments], Answer],
) -> Callable[Concatenate[Learner, Arguments], Answer]:
    """Run a method of a fitted learner with the arguments of `fit`, even if they changed later.

    Learned attributes belong to the classes, bounds and categories that `fit` used.
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
    """The base class of learners from noisy sums.

    A learner is a dataclass. Its fields are the arguments of the constructor, stored unchanged.
    `fit` checks them. The results that `fit` learns are private, and are in attributes that end in
    ``_``.
    """

    #: The arguments of all learners. A learner accepts those with ``init=False`` only if it
    #: declares them again.
    bounds: Any = field(default=None, init=False)
    epsilon: Number | None = None
    delta: Number = 0.0
    rho: Number | None = None
    neighbors: Neighbors | None = None
    nan: NanPolicy = field(default="raise", init=False)
    weight_bounds: Bounds | None = field(default=None, init=False)

    #: The kind of estimator, as scikit-learn names it. The name in the ledger. Whether a classifier
    #: has two classes only. Whether labels or targets are learned. Whether rows with NaN are
    #: allowed for any `nan`.
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
            This has no effect, because no argument is an estimator. It exists for scikit-learn.

        Returns
        -------
        dict
            The arguments.

        Examples
        --------
        Read the argument `epsilon`:

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
            New values by name. They take effect at the next `fit`.

        Returns
        -------
        The estimator itself.

        Raises
        ------
        ArgumentError
            If there is no such argument. No argument has been changed.

        Examples
        --------
        Change the argument `epsilon`:

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
        """Return HTML for notebooks: the arguments and the learned attributes."""
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
        """Learn from rows, and spend the privacy loss of this learner.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            The rows, with a column for each feature.
        y : array_like of shape (n,), or str
            The label or the target of each row. If the columns of X have names, `y` may be the name
            of a column, which is then not a feature. Learners of clusters and components ignore
            `y`.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, or the name of the column of ids, which
            is then not a feature. With ids the privacy unit is a person: neighbors differ in all
            rows of one person (``dpfast/sulq/rounds.py`` has the proof).
        max_rows : int, optional
            With `ids` only: the largest number of rows of a person that count. If a person has more
            rows, a uniformly random choice of so many rows counts. A fresh secret key makes this
            choice once for the whole fit.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

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
        """Learn in a copy, so that a failed fit does not change earlier attributes."""
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
        """Return a copy of this learner without learned attributes."""
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
        """Check the data arguments by type; return the rows and their privacy unit."""
        id_column, name = (None, None) if ids is None else (checked(ids), id_name(ids))
        if ids is not None and max_rows is None:
            checks.fail("max_rows", "given with ids, to bound the rows of a person", None)
        # "auto" is not allowed here.
        most = None if max_rows is None else checks.rows_each(max_rows)
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
        """Check all other arguments, and return the fit, which is ready to pay and run."""
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
        # This raises an error if the model cannot be fitted, before anything is spent.
        learned(rows, remaining, budget=None, rng=rng)
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
        """The public limits of the columns: the argument, or with "auto" those that `fit` found."""
        return vars(self).get("bounds_", ANY) if checks.is_auto(self.bounds) else self.bounds

    @abstractmethod
    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        """Check all arguments and return the rounds that `fit` will run; no row is read."""

    def _columns(self) -> Columns[Any]:
        """Return public facts about the columns; by default, only how many columns there are."""
        return Columns((), None if self.bounds is None else checks.pairs_given(self.bounds))

    def _read(self, X: Any, y: Any, relation: str, width: int | None = None) -> Rows:
        """Return the rows to learn from; with `width` the rows to score, checked for this width."""
        return unlabeled_rows(X, self._columns(), width)

    def _check_fitted(self) -> None:
        """Raise `NotFittedError` before `fit`; also as scikit-learn's error if that is imported."""
        if "n_features_in_" in vars(self):
            return
        kind: type[Exception] = NotFittedError
        if "sklearn" in sys.modules:
            from sklearn.exceptions import NotFittedError as Theirs

            kind = type("NotFittedError", (NotFittedError, Theirs), {})
        raise kind(f"this {type(self).__name__} is not fitted yet: call fit first")

    def _rows(self, X: Any) -> Rows:
        """Return the rows of X, and refuse columns other than those of `fit`."""
        rows = unlabeled_rows(X, self._columns(), self.n_features_in_)
        self._expect(rows.width, rows.names)
        return rows

    def _expect(self, width: int, names: Sequence[str] | None, argument: str = "X") -> None:
        """Refuse columns that differ in number or names from the columns of `fit`."""
        names_learned, learner = vars(self).get("feature_names_in_"), type(self).__name__
        expect_same(width, names, self.n_features_in_, names_learned, argument, learner)

    def _apply(self, X: Any, size: int, function: Callable[[Floats], Floats]) -> Floats:
        """Return `size` numbers for each row, computed by a function. This is not private."""
        return self._rows(X).computed(size, function)

    def __sklearn_tags__(self) -> Any:
        from sklearn import utils

        kind = self._estimator_type
        tags = utils.Tags(
            estimator_type=kind,
            target_tags=utils.TargetTags(required=self._supervised),
            input_tags=utils.InputTags(allow_nan=self._takes_nan or self.nan != "raise"),
            non_deterministic=True,
        )
        if kind == "classifier":
            tags.classifier_tags = utils.ClassifierTags(multi_class=not self._two_classes)
        if kind == "regressor":
            tags.regressor_tags = utils.RegressorTags()
        return tags


@dataclass(eq=False, repr=False, kw_only=True)
class Weighted(Estimator):
    """A learner that takes a weight for each row."""

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
        """Learn from rows with optional weights, and spend the privacy loss of this learner.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            The rows, with a column for each feature.
        y : array_like of shape (n,), or str
            The label or the target of each row. If the columns of X have names, `y` may be the name
            of a column, which is then not a feature. Learners of clusters and components ignore
            `y`.
        sample_weight : array_like of shape (n,), optional
            How many times each row counts. A weight must be a function of its row alone. Weights
            are clamped to `weight_bounds`, and noise is calibrated to a row of the largest weight.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, or the name of the column of ids, which
            is then not a feature. With ids the privacy unit is a person: neighbors differ in all
            rows of one person (``dpfast/sulq/rounds.py`` has the proof).
        max_rows : int, optional
            With `ids` only: the largest number of rows of a person that count. If a person has more
            rows, a uniformly random choice of so many rows counts. A fresh secret key makes this
            choice once for the whole fit.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

        Returns
        -------
        Estimator
            This object.
        """
        return self._fit(X, y, sample_weight, ids, max_rows, budget, rng)


@dataclass(eq=False, repr=False, kw_only=True)
class Binned(Estimator):
    """A learner on bins of numbers and on categories. A NaN is in no bin and no category."""

    categories: CategoriesEach | None = field(default=None, kw_only=False)
    bins: int | Sequence[Number | Sequence[Number] | None] | NDArray[np.generic] | None = None
    bounds: BoundsOfSome | None = None

    def _columns(self) -> Columns[Bins]:
        return attributes(self.bins, self._bounds, self.categories)
