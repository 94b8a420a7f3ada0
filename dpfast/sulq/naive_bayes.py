"""Private naive Bayes: what the noisy sums of one round say of each class, column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._core import checks, nan_policy
from ..budget.budget import Budget
from ..rng import Generator
from ..sources.words import Words
from .class_sums import ByClass, Columns
from .classifier import PublicClassifier
from .coded import Classes
from .rounds import Rounds, loss_of
from .targets import Labelled, labelled

Own = TypeVar("Own", bound="NaiveBayes")

#: The least variance, in squares of half the distance of the bounds; and of all.
LEAST, TINY = 2.0**-40, float(np.finfo(np.float64).tiny)


class NaiveBayes(PublicClassifier):
    """Classes that spread in each column by themselves: as normal variables, or over categories.

    Privacy
    -------
    Neighbours are datasets that differ in one row, with its label, added or removed, or replaced
    (`neighbors`). Everything that is learned satisfies the loss that is asked for: one round of
    noisy sums (Blum, Dwork, McSherry and Nissim, PODS 2005) for their joint sensitivity. (The sums
    are those of Vaidya, Shafiq, Basu and Hong, WI 2013; noise is for all of a row at once.)

    Parameters
    ----------
    bounds : (float, float), or a pair for each column, optional
        Public limits of columns of numbers, in the data's units; values outside are clipped. They
        must not come from the data. None for a column of categories.
    categories : sequence of str, float or bool, or one such sequence a column, optional
        The public values of columns of categories, as in `dpfast.histogram`. With `bounds`, a
        sequence of one for each column, None for a column of numbers.
    classes : sequence of str, float or bool
        The public labels, in the same form.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of `fit`: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        The neighbouring relation.
    alpha : float, default 1
        Rows that are added to each value of a column of categories, in each class.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        What becomes of NaN in columns of numbers, as in `quantile`; "drop" leaves out the whole
        row. In a column of categories it is none of them, and says nothing.

    Attributes
    ----------
    class_count_, class_prior_ : float64 array of shape (classes,)
        Rows of each class with noise, and their shares, none of which is below 0.
    theta_, var_ : float64 array of shape (classes, d)
        Means and variances in columns of numbers; NaN elsewhere.
    category_log_prob_ : list of d arrays of shape (classes, values), or None
        Logarithms of the probability of each value in columns of categories.
    classes_ : ndarray
    n_features_in_ : int
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
    Cost: one read of the data. A row whose label is none of the classes counts nowhere.

    A class that seems to have less rows than three standard deviations of the noise is taken to
    spread evenly. A variance is at least the standard deviation of its noise.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> x = np.concatenate([np.linspace(0, 4, 5000), np.linspace(5, 9, 5000)])
    >>> y = np.repeat([0, 1], 5000)
    >>> made = dp.sulq.NaiveBayes(bounds=(0, 10), classes=[0, 1], epsilon=1)
    >>> made = made.fit(x[:, None], y, budget=dp.Budget(epsilon=1))
    >>> made.predict([[1.0], [8.0]])
    array([0, 1])
    >>> made.theta_.round()
    array([[2.],
           [7.]])
    """

    class_count_: NDArray[np.float64]
    class_prior_: NDArray[np.float64]
    theta_: NDArray[np.float64]
    var_: NDArray[np.float64]
    category_log_prob_: list[NDArray[np.float64] | None]

    def __init__(
        self,
        *,
        bounds: Any = None,
        categories: Any = None,
        classes: Any,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        neighbors: str = "add-remove",
        alpha: float = 1.0,
        nan: str | float = "raise",
    ) -> None:
        self.bounds = bounds
        self.categories = categories
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta
        self.rho = rho
        self.neighbors = neighbors
        self.alpha = alpha
        self.nan = nan

    def fit(
        self: Own,
        X: Any,
        y: Any = None,
        *,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Own:
        """Learn the classes.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
        y : array_like of shape (n,), or str
            The label of each row, or the name of the column of X that is.
        budget : Budget, optional
            Pays before data or randomness are touched.
        rng : Generator, optional
            By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

        Returns
        -------
        NaiveBayes
            This object.
        """
        loss = loss_of(self.epsilon, self.delta, self.rho)
        relation = checks.neighbors(self.neighbors)
        alpha = checks.positive("alpha", self.alpha)
        if not 2.0**-900 <= alpha <= 2.0**900:  # sums and parts of it are numbers
            checks.fail("alpha", "between 2**-900 and 2**900", self.alpha)
        policy = checks.nan_policy(self.nan, relation)
        classes = Classes(self.classes)
        public = Columns(self.bounds, self.categories)
        own = classes.axis.words
        source = labelled(X, y, public.words, own, public.said, relation)
        sums = ByClass(public.each(source.width), len(classes), policy)
        parts = sums.parts(relation, loss)
        rounds = Rounds(
            source,
            loss=loss,
            neighbors=relation,
            rounds=1,
            name="naive Bayes",
            budget=budget,
            rng=rng,
            parts=parts,
        )

        def total(source: Labelled) -> list[int]:
            found, missing = sums.total(source, classes)
            nan_policy.refuse(policy, missing)
            return found

        noisy = rounds.ask(total, parts)
        deviations = [rounds.noise(part).deviation for part in parts]
        self._learn(sums, noisy, deviations, alpha)
        self.classes_ = classes.given
        self._learned(loss, source.width, source.names)
        return self

    def _learn(
        self, sums: ByClass, noisy: list[int], deviations: list[float], alpha: float
    ) -> None:
        """Everything that is learned, from released numbers."""
        many, width = sums.classes, sums.width
        counts = np.array(noisy[:many], np.float64)
        live = counts > 3.0 * deviations[0]
        kept = np.maximum(counts, 0.0)
        self.class_count_ = counts
        self.class_prior_ = kept / kept.sum() if kept.sum() else np.full(many, 1.0 / many)
        self.theta_, self.var_ = np.full((many, width), np.nan), np.full((many, width), np.nan)
        self.category_log_prob_ = [None] * width
        at = many
        for j, deviation in enumerate(deviations[1:]):
            size = many * sums.values.get(j, 2)
            own = np.array(noisy[at : at + size], np.float64).reshape(-1, many)
            at += size
            if j in sums.values:
                table = np.maximum(own.reshape(many, -1), 0.0) + alpha
                self.category_log_prob_[j] = np.log(table / table.sum(axis=1, keepdims=True))
                continue
            column = sums.numbers[j]
            unit = np.where(live, counts, 1.0) * max(1.0, float(column.reach) ** 2)
            mean = np.where(live, np.clip(own[0] / unit, -1.0, 1.0), 0.0)
            least = np.minimum(np.maximum(deviation / unit, LEAST), 1 / 3)
            spread = np.where(live, np.maximum(1.0 - own[1] / unit - mean**2, least), 1 / 3)
            half = column.reach * column.grid
            self.theta_[:, j] = np.clip(column.middle * column.grid + mean * half, *column.bounds)
            self.var_[:, j] = np.maximum(np.minimum(spread, 1.0) * half**2, TINY)

    def _words(self) -> Sequence[Words | None]:
        return Columns(self.bounds, self.categories).words

    def _ready(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        each = Columns(self.bounds, self.categories).each(self.n_features_in_)
        sums = ByClass(each, len(self.class_prior_), "drop")
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        tables = [
            np.vstack([own.T, np.zeros(len(prior))])
            for own in self.category_log_prob_
            if own is not None
        ]

        def likely(rows: NDArray[np.float64]) -> NDArray[np.float64]:
            found = np.tile(prior, (len(rows), 1))
            for j, own in sums.numbers.items():
                x, mean, var = (
                    np.clip(rows[:, j, None], *own.bounds),
                    self.theta_[:, j],
                    self.var_[:, j],
                )
                one = -0.5 * (np.log(var) + (x - mean) ** 2 / var)
                found += np.where(np.isnan(x), 0.0, one)  # what is missing says nothing
            for table, codes in zip(tables, sums.codes(rows).T, strict=True):
                found += table[np.minimum(codes, len(table) - 1)]
            found -= found.max(axis=1, keepdims=True)
            np.exp(found, out=found)
            found /= found.sum(axis=1, keepdims=True)
            return found

        return likely
