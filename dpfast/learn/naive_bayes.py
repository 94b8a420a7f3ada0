"""Private naive Bayes: the distribution of each column in each class, from one noisy round.

A row of class c adds 1 to the count of class c. For each column it adds to sums of class c only.

*A column of numbers.* Let z be the distance of a cell from the public middle, |z| <= h. The sums of
h z and of h^2 - z^2 are released, with noise of one scale. For an added row, in units of h^2, let t
= z / h. The squared L2 norm of the change is t^2 + (1 - t^2)^2 = 1 - t^2 (1 - t^2) <= 1. So the
mean and the variance of a column together cost no more than one of them alone. (With z^2 instead of
h^2 - z^2 they would cost 2.) The L1 norm is |t| + 1 - t^2 <= 5 / 4.

Let a replaced row change t to t'. If its class stays the same, the two sums change by a = t - t'
and by a b, where b = t + t' and |a| + |b| <= 2. The squared L2 norm is a^2 (1 + b^2). This is at
most 4, because a^2 (1 + (2 - a)^2) increases with a. The L1 norm is at most a (3 - a) <= 9 / 4. If
its class changes, the squared L2 norm is at most 2, and the L1 norm at most 5 / 2.

*A column of categories.* A row adds 1 to the count of its value in its class. One count changes by
1 if a row is added or removed, and two counts if a row is replaced.

*How the round is shared.* Columns have equal parts of the round. Class counts have a part of about
1 / (1 + 2 sqrt(d)), as in k-means, or more. If rows are replaced and noise is Gaussian, counts may
cost nothing extra. If the class stays the same, a column of numbers uses its whole part, but counts
do not change. If the class changes, the column uses half of its part. So counts get what the
columns leave unused then: if all columns are numbers, half of the round. (If integers are too large
for the samplers, they are rounded down. This changes four numbers by 1 each, which is 2 in L2 norm.
Half of a part is enough for two classes if the whole part has room for 2 sqrt(2).)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Number
from .._kernels import learn as cross
from .._kernels.learn import class_totals as by_class
from .._kernels.statistics import tally
from ..privacy import Loss, Pure
from ..statistics.histogram import Bins
from ..sulq.parts import Part
from ..sulq.rounds import Rounds
from ..sulq.row_functions import split
from .columns import BLOCK, Classes, Floats, Layout, NumberColumn
from .estimator import Training
from .rows import Rows
from .scored import MixedClassifier

#: The least variance in units of the squared half width of the bounds, and the least variance in
#: any units.
LEAST, TINY = 2.0**-40, float(np.finfo(np.float64).tiny)
#: The most rows whose sums of squares fit in 64 bits.
MOST = 1 << 22


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveBayes(MixedClassifier):
    """Classify by independent columns, normal or categorical in each class, from noisy sums alone.

    Within each class the columns count as independent. A column of numbers has a normal
    distribution, whose mean and variance are learned. A column of categories has the frequencies of
    its values.

    Privacy
    -------
    Neighbors are datasets that differ in one row with its label: added or removed, or replaced
    (`neighbors`). Everything that `fit` learns satisfies the requested loss. It comes from one
    round of noisy sums (Blum, Dwork, McSherry and Nissim, PODS 2005), with noise for the joint
    sensitivity of all sums of a row. The sums are those of Vaidya, Shafiq, Basu and Hong, WI 2013.

    Parameters
    ----------
    bounds : (float, float), or a pair for each column, optional
        Public limits of columns of numbers, as in `KMeans`. None for a column of categories.
    categories : sequence of str, float or bool, or one such sequence a column, optional
        The public values of columns of categories, as in `dpfast.histogram`. If there are also
        columns of numbers: a sequence with an entry for each column, which is None for a column of
        numbers.
    classes : sequence of str, float or bool
        The public labels.
    epsilon, delta, rho, neighbors
        As in `KMeans`.
    alpha : float, default 1
        A number that is added to the count of each category in each class, so that no category has
        probability 0.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN in columns of numbers is treated: "raise" is an error after the spend, "lower" and
        "upper" replace NaN by that bound, a number replaces NaN by that number, and "drop" leaves
        out the whole row. In a column of categories, NaN is no category and is ignored.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, as in `KMeans`.

    Attributes
    ----------
    class_count_, class_prior_ : float64 array of shape (classes,)
        The number of rows of each class, with noise, and the fraction of each class, at least 0.
    theta_, var_ : float64 array of shape (classes, d)
        The mean and the variance of each column of numbers in each class. NaN for other columns.
    category_log_prob_ : list of d arrays of shape (classes, values), or None
        The logarithm of the probability of each category in each class. None for other columns.
    classes_ : ndarray
        The labels, in the order of `classes`.
    n_features_in_, feature_names_in_, loss_
        As in `KMeans`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        By `fit`, as in `KMeans`.

    Notes
    -----
    Cost: one read of the data. A row whose label is not a class is ignored.

    If the noisy number of rows of a class is below three standard deviations of the noise, its
    distributions are uniform. A variance is at least the standard deviation of its noise.

    Examples
    --------
    Class 0 has numbers from 0 to 4, and class 1 from 5 to 9:

    >>> import numpy as np, dpfast as dp
    >>> x = np.concatenate([np.linspace(0, 4, 5000), np.linspace(5, 9, 5000)])
    >>> y = np.repeat([0, 1], 5000)
    >>> bayes = dp.learn.NaiveBayes(bounds=(0, 10), classes=[0, 1], epsilon=1)
    >>> bayes = bayes.fit(x[:, None], y, budget=dp.Budget(epsilon=1))
    >>> bayes.predict([[1.0], [8.0]])
    array([0, 1])
    >>> bayes.theta_.round()
    array([[2.],
           [7.]])
    """

    _name = "naive Bayes"

    alpha: Number = 1.0

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        alpha = checks.scale("alpha", self.alpha)
        missing_rule = checks.nan_policy(self.nan, relation)
        sums = ClassSums(self._columns().for_width(rows.width), Classes(self.classes), missing_rule)
        parts = sums.parts(relation, loss)

        def learn(rounds: Rounds) -> None:
            deviations = [rounds.deviation(part) for part in parts]
            noisy = [np.array(x, float) for _, x in split(rounds.ask(sums.total, parts), parts)]
            self._learn(sums, noisy, deviations, alpha)

        return Training(1, parts, learn)

    def _learn(
        self, sums: ClassSums, noisy: list[Floats], deviations: list[float], alpha: float
    ) -> None:
        """Set all learned attributes from released numbers."""
        many, width = sums.classes, sums.layout.width
        counts, *columns = noisy
        live = counts > 3.0 * deviations[0]
        kept = np.maximum(counts, 0.0)
        self.class_count_, self.classes_ = counts, sums.labels.labels
        self.class_prior_ = kept / kept.sum() if kept.sum() else np.full(many, 1.0 / many)
        self.theta_, self.var_ = np.full((many, width), np.nan), np.full((many, width), np.nan)
        self.category_log_prob_: list[Floats | None] = [None] * width
        for j, numbers in enumerate(columns):
            if j in sums.layout.axes:
                table = np.maximum(numbers.reshape(many, -1), 0.0) + alpha
                self.category_log_prob_[j] = np.log(table / table.sum(axis=1, keepdims=True))
                continue
            first, second = numbers.reshape(2, many)
            column = sums.layout.numbers[j]
            unit = np.where(live, counts, 1.0) * max(1.0, float(column.reach) ** 2)
            mean = np.where(live, np.clip(first / unit, -1.0, 1.0), 0.0)
            least = np.minimum(np.maximum(deviations[1 + j] / unit, LEAST), 1 / 3)
            variance = np.maximum(1.0 - second / unit - mean**2, least)
            spread = np.where(live, variance, 1 / 3)
            half = column.reach * column.grid
            self.theta_[:, j] = np.clip(column.middle * column.grid + mean * half, *column.bounds)
            self.var_[:, j] = np.maximum(np.minimum(spread, 1.0) * half**2, TINY)

    def _numbers(self) -> Callable[[Floats], Floats]:
        layout = Layout(self._columns().for_width(self.n_features_in_), "drop")
        with np.errstate(divide="ignore"):
            prior = np.log(self.class_prior_)
        learned = [table for table in self.category_log_prob_ if table is not None]
        tables = [np.vstack([table.T, np.zeros(len(prior))]) for table in learned]

        def likelihood(rows: Floats) -> Floats:
            logs = np.tile(prior, (len(rows), 1))
            for j, column in layout.numbers.items():
                x, mean, var = rows[:, j, None], self.theta_[:, j], self.var_[:, j]
                x = np.clip(x, *column.bounds)
                density = -0.5 * (np.log(var) + (x - mean) ** 2 / var)
                logs += np.where(np.isnan(x), 0.0, density)  # a missing number has no influence
            for table, codes in zip(tables, layout.codes(rows).T, strict=True):
                logs += table[np.minimum(codes, len(table) - 1)]
            logs -= logs.max(axis=1, keepdims=True)
            np.exp(logs, out=logs)
            logs /= logs.sum(axis=1, keepdims=True)
            return logs

        return likelihood


class ClassSums:
    """The sums that naive Bayes queries: counts of classes, and for each column sums by class.

    Parameters
    ----------
    columns_known : sequence of NumberColumn or Bins
        The columns.
    labels : Classes
    nan : str or float
        The replacement of a NaN in a column of numbers.
    """

    def __init__(
        self, columns_known: Sequence[NumberColumn | Bins], labels: Classes, nan: str | float
    ) -> None:
        self.layout, self.labels, self.classes = Layout(columns_known, nan), labels, len(labels)
        self._nan = nan
        columns = self.layout.numbers.values()
        self._limits = np.array(
            [[1.0 / n.grid, n.first, n.last, n.middle] for n in columns]
        ).T.copy()

    def parts(self, relation: str, loss: Loss) -> list[Part]:
        """Return the parts of the round: counts of classes, then sums of each column."""
        layout = self.layout
        d = layout.width
        counts = Fraction(1, 1 + math.isqrt(4 * d))
        column = (1 - counts) / d
        replaced = relation == "replace"
        if replaced and not isinstance(loss, Pure):
            between = d - Fraction(len(layout.numbers), 2)
            column = min(Fraction(1, d), (1 - counts) / between)
            counts = 1 - column * between
        times = 2 if replaced else 1
        parts = [Part(self.classes, times, times, times, counts)]
        for j in range(d):
            if j in layout.axes:
                size = self.classes * layout.axes[j].native.bins
                parts.append(Part(size, times, times, times, column))
                continue
            square = layout.numbers[j].reach ** 2
            l1, l2_squared = -(-5 * square * times // 4), (times * square) ** 2
            parts.append(Part(2 * self.classes, l1, l2_squared, 8 if replaced else 2, column))
        return parts

    def total(self, rows: Rows) -> list[int]:
        """Return the exact integer sums of rows in the order of `parts`."""
        layout, many = self.layout, self.classes
        p, values = len(layout.numbers), layout.coder.values
        ends = np.cumsum([many + 1, 2 * many * p, cross.cells(values, many)[1]])

        def add(x: Floats, labels: NDArray[Any], sums: NDArray[np.int64]) -> int:
            counts, moments, table, _ = np.split(sums, ends)
            key = self.labels.codes(labels)
            missing = self._add_numbers(x, key, moments) if p else 0
            tally(key, counts)
            if layout.axes:
                cross.count(layout.codes(x), key, many, values, table)
            return missing

        sums = np.array(rows.sums(int(ends[-1]), add, self._nan, BLOCK, MOST), object)
        counts, moments, table, _ = np.split(sums, ends)
        counts = counts[:many]
        tables = iter(layout.coder.tables(table, many))
        numbers = iter(moments.reshape(many, 2, p).T)
        integers: list[int] = counts.tolist()
        for j in range(layout.width):
            if j in layout.axes:
                integers += next(tables)[:-1].T.ravel().tolist()
                continue
            (first, second), h = next(numbers), layout.numbers[j].reach
            integers += [*(h * first), *(h * h * counts - second)]
        return integers

    def _add_numbers(self, x: Floats, key: NDArray[np.uint32], moments: NDArray[np.int64]) -> int:
        """Add the sums of z and z^2 by class, and return how many rows have a NaN."""
        numbers, missing = [*self.layout.numbers], 0
        sums = np.zeros((self.classes + 1, 2, len(numbers)))
        every = len(numbers) == self.layout.width
        if by_class(x if every else np.ascontiguousarray(x[:, numbers]), self._limits, key, sums):
            filled, absent = self.layout.filled(x)
            missing = int(np.count_nonzero(absent))
            key[absent & self.layout.skip] = cross.NONE
            sums[...] = 0.0
            by_class(filled, self._limits, key, sums)
        moments += sums[:-1].ravel().astype(np.int64)
        return missing
