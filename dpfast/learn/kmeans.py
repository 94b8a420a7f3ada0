"""Private k-means: a few rounds of noisy counts and sums of the rows nearest to each center.

*Sensitivity of a round.* A round starts with k centers, and each row belongs to the nearest center.
In column j let z_j be the distance of the row from the public middle of the column, in half cells
of the public grid. So |z_j| is at most a public number s_j. The row adds 1 to the count of its
center, and z_j to the sum of its center for column j. If

* a row is added or removed, one count changes by 1, and one sum of each column by at most s_j;
* a row is replaced and stays with its center, no count changes, and one sum of each column changes
  by at most 2 s_j;
* a row is replaced and changes its center, two counts change by 1, and two sums of each column by
  at most s_j each.

*The first round.* The sensitivity does not depend on k. So the first round may use more points than
there are clusters. The points are public and fill the box of the bounds; each stands for the cell
of all rows that are nearest to it. The release has a noisy count and a noisy mean for each cell.
Weighted k-means on these means computes the centers for the next round. It knows roughly where all
rows are, so it does not get stuck like k-means from poor starting centers. If three rounds or more
remain, it first computes 2 k centers. The next round counts and sums the rows of these, and
weighted k-means reduces them to k.

*How a round with Gaussian noise is shared.* Let w_j be the width of the bounds of column j, and W
the sum of all w_j. Counts get the share a of a round, and column j the share (1 - a) w_j / W. For a
round of rho, the noise in a sum of column j then has the variance w_j W / (8 rho (1 - a)). No other
way to share 1 - a among the columns has a smaller total of these variances. The total is in
proportion to W^2, while for equal noise in all d columns it is in proportion to d (w_1^2 + ... +
w_d^2).

To choose a, take a center with n rows at the distance q from the middle of the box. Its mean is a
noisy sum divided by a noisy count, with a squared error of about

    (W^2 / (4 (1 - a)) + q^2 / a) / (2 rho n^2).

This is least for a : 1 - a = 2 q : W. For q we take half of the half diagonal of the box. If all
columns have the same width, this is a : 1 - a = 1 : 2 sqrt(d), and this ratio is used for every
box. A much narrower column gets the share of a column of width `NARROW` times W: with a smaller
share, the other columns would gain hardly anything.

*Noise for epsilon alone.* The count and the sums of one center form a vector. An added or removed
row changes one such vector, by a vector in the box with the sides 1 and s_1, ..., s_d. A replaced
row is two steps of this kind. The vector gets the joint noise (`rounds`) with the least error of a
center. For this error, the sum of column j has the weight (w_j / 2)^2, and the count has the weight
q^2, as above.

*Replaced rows and Gaussian noise.* Here the counts cost nothing extra. Let the sums use the whole
round, with noise for changes by 2 s_j. A row that stays with its center uses up the round. A row
that changes its center changes two sums of each column by s_j, which is half as much in squared L2
norm. So it leaves half of the round for the counts, which change by sqrt(2) in L2 norm.

*How many rounds.* Let V be the variance of the noise in the sums of a center, added over all
columns. A mean of n / k rows then has noise of variance V / (n / k)^2. If this is a large fraction
of the variance within clusters, another round makes centers worse. For rows that are spread evenly
over the box, the variance within clusters is about

    B = (w_1^2 + ... + w_d^2) k^(-2/d) / 12.

So all `USUAL` rounds are used, one by one, if V / (n / k)^2 is at most `LITTLE` B. If at most k
points of the first round have a count above the noise, the limit is `LITTLE_BESIDE_POOR` B instead,
because further rounds can then improve much. Otherwise the rounds after the first are used in
pairs, if the noise of a pair is below the limit. If not, they are used all at once. The number n is
estimated by the sum of the noisy counts of the first round.

*Counts alone.* A row changes a count by 1, and a sum by up to half of a width. So counts of many
cells cost less than the sums of a few cells. Let there be so few columns d that 2^d is at most
`MOST_CELLS`. Then `COUNT` parts of the loss first pay for a noisy number of rows n, and `ROUND`
parts for each of five rounds. With n known, cells are counted without any sums if two conditions
hold:

* the noise V / (n / k)^2 of a round of sums is above `LITTLE_BESIDE_CELLS` B;
* at least 2^d cells are possible, so that each column is divided in two, and n rows that are spread
  evenly would give each cell a count of `FULL` standard deviations of its noise.

If they hold, centers are computed from the middles and the noisy counts of the cells. The counts
get half of the remaining loss, and the other half pays for one round of sums around these centers.
But if V / (n / k)^2 for this round is not below `COARSE` times the variance within cells, the
counts get all of the remaining loss. (Su, Cao, Li, Bertino and Jin, CODASPY 2016, also count rows
in a grid, which is finer for a larger loss or more rows.) A row is in one cell. So the noise of the
counts is for one change by 1, or for two changes if rows are replaced.

*Public points.* Starting centers, points that fill a box, and the centers of released weighted
points are computed without reading rows and without randomness: the same arguments give the same
points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Auto, BoundsEach, NanPolicy
from .._kernels.learn import NEAREST_MOST_ROWS as MOST_ROWS
from .._kernels.learn import NearestColumns as Columns
from ..budget.budget import Budget
from ..budget.release import Prepared, prepare, releases
from ..errors import DataError
from ..measurement.choice import Moves
from ..privacy import Loss, Pure
from ..rng import Generator
from ..statistics.totals.moments import Sum
from ..sulq.parts import Boxes, Part
from ..sulq.rounds import Rounds
from ..summaries.cells import SQUARES, cells
from .columns import Floats, column_bounds, nan_fills
from .estimator import Training, as_fitted
from .rows import Rows, answers
from .scored import Score, Scored
from .transformer import Transformer, without_ids

#: `spread` chooses each of its points among this many candidate points, and compares at most MOST
#: pairs of points.
CHOICE, MOST = 64, 1 << 26

#: The largest number of passes in `_exchange`, and of k-means steps in `_steps`.
PASSES, STEPS = 40, 30
#: An exchange must lower the cost by at least this fraction, or rounding might repeat it forever.
LEAST = 1e-9
#: The largest squared distance in a score. Noise for it is still a finite float64 number.
MOST_SQUARE = 2.0**1000


class Grid:
    """The public bounds of the columns, and the grid of cells between them.

    Attributes
    ----------
    lo, hi, middle : float64 array of shape (d,)
        The first and the last cell of each column, and the middle between them.
    cell_width : float64 array of shape (d,)
    span : list of int
        The number of the last cell of each column, if the first is number 0.
    nan : str or float
        The replacement of a NaN.
    """

    def __init__(self, bounds: Sequence[tuple[float, float]], nan: str | float) -> None:
        self.nan = nan
        columns = [cells(lo, hi, SQUARES) for lo, hi in bounds]
        self.cell_width = np.array([c.grid for c in columns])
        self.span = [c.span for c in columns]
        self.lo = np.array([c.first * c.grid for c in columns])
        self.hi = np.array([c.last * c.grid for c in columns])
        self.middle = np.array([(c.first + c.span / 2) * c.grid for c in columns])
        half = float((self.hi - self.middle).max())
        self.unit = math.ldexp(1.0, -math.frexp(half)[1]) if half else 1.0
        fills, skip = nan_fills(nan, bounds)
        self._columns = Columns(
            1.0 / self.cell_width,
            np.array([c.first for c in columns]),
            np.array(self.span),
            self.middle,
            np.array(fills),
            self.unit,
            skip,
        )

    @property
    def width(self) -> int:
        return len(self.span)

    def totals(self, rows: Rows, centers: Floats) -> list[list[int]]:
        """Return the row count of each center, and the sums of cells, column by column."""
        at, half = self._coordinates(centers)
        k, d = centers.shape

        def add(x: Floats, _: Any, sums: NDArray[np.int64]) -> int:
            counts, cells = np.zeros(k + 1, np.uint64), np.zeros((k + 1, d), np.uint64)
            self._columns.totals(x, at, half, counts, cells)
            sums.reshape(1 + d, k)[...] += np.vstack([counts, cells.T]).astype(np.int64)[:, :k]
            return int(counts[k])

        totals = rows.sums((1 + d) * k, add, self.nan, MOST_ROWS)  # each sum is below 2**62
        return [totals[i : i + k] for i in range(0, len(totals), k)]

    def labels(self, rows: Rows, centers: Floats) -> NDArray[np.int64]:
        """Return the number of the nearest center for each row, or k for a row with a NaN."""
        at, half = self._coordinates(centers)

        def nearest(x: Floats) -> Floats:
            labels = np.empty(len(x), np.int64)
            self._columns.labels(x, at, half, labels)
            # Exact, as there are fewer than 2**53 centers.
            return labels[:, None].astype(np.float64)

        return rows.computed(1, nearest)[:, 0].astype(np.int64)

    def _coordinates(self, centers: Floats) -> tuple[Floats, Floats]:
        """Return the coordinates of centers in the grid, and half of their squared lengths."""
        at = np.ascontiguousarray((centers - self.middle) * self.unit)
        return at, np.array([0.5 * math.fsum(squares) for squares in (at * at).tolist()])


def evenly(count: int, d: int) -> Floats:
    """Return points that fill the unit cube evenly, from a deterministic additive recurrence.

    Column j of point i is frac(1/2 + i / g**j) with g**(d + 1) = g + 1.
    """
    g = 2.0
    for _ in range(64):
        g = (1.0 + g) ** (1.0 / (d + 1))
    steps = g ** -np.arange(1.0, d + 1)
    points: Floats = 0.5 + np.arange(1, count + 1)[:, None] * steps
    points -= np.floor(points)  # exact, and much faster than a remainder
    return points


def spread(k: int, lo: Floats, hi: Floats) -> Floats:
    """Return k fixed points of a box, each as far as possible from the points before it.

    The distance of points from the walls is at least half of the distance between k points on a
    lattice. For large k, they are the first k points of `evenly`.
    """
    d = len(lo)
    margin = 0.5 * k ** (-1.0 / d)
    wide = hi - lo
    # This is a power of two, so that squares neither overflow nor underflow.
    unit = math.ldexp(1.0, -math.frexp(float(wide.max()))[1])
    choice = min(CHOICE, MOST // k**2)
    points_of_cube = margin + (1 - 2 * margin) * evenly(max(1, choice) * k, d)
    points: Floats = lo + points_of_cube * wide
    if choice < 2:
        return points
    inside = points_of_cube * (wide * unit)
    taken = [int(np.argmin(((inside - wide * unit / 2) ** 2).sum(axis=1)))]
    nearest = np.full(len(inside), np.inf)
    for _ in range(k - 1):
        np.minimum(nearest, ((inside - inside[taken[-1]]) ** 2).sum(axis=1), out=nearest)
        taken.append(int(np.argmax(nearest)))
    return points[taken]


def centers_of(points: Floats, weights: Floats, k: int) -> Floats:
    """Return at most k centers for weighted points: all points, if there are at most k.

    Centers are chosen greedily: the next center is the point that leaves the least sum of weighted
    squared distances. Then centers are exchanged for points as long as this decreases the sum.
    Steps of k-means follow.

    Parameters
    ----------
    points : float64 array of shape (m, d)
        The points. Their squared distances must not overflow.
    weights : float64 array of shape (m,)
        Positive weights.
    """
    if len(points) <= k:
        return points.copy()
    squares = squared_distances(points, points)
    chosen = _greedy(squares, weights, k)
    _exchange(squares, weights, chosen)
    return _steps(points, weights, points[chosen])


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Return the squared distance of each row of a from each row of b."""
    squares = np.zeros((len(a), len(b)))
    for x, y in zip(a.T, b.T, strict=True):
        squares += (x[:, None] - y) ** 2
    return squares


def _greedy(squares: Floats, weights: Floats, k: int) -> NDArray[np.int64]:
    chosen: list[int] = []
    nearest = np.full(len(squares), np.inf)
    for _ in range(k):
        left = np.minimum(squares, nearest) @ weights
        left[chosen] = np.inf
        chosen.append(int(np.argmin(left)))
        nearest = np.minimum(nearest, squares[chosen[-1]])
    return np.array(chosen)


def _exchange(squares: Floats, weights: Floats, chosen: NDArray[np.int64]) -> None:
    """Exchange centers for points, the best exchange first, until no exchange lowers the cost."""
    k, points = len(chosen), np.arange(len(squares))
    for _ in range(PASSES):
        distances = squares[chosen]
        first = distances.argmin(axis=0)
        least = distances[first, points]
        distances[first, points] = np.inf
        second = distances.min(axis=0)
        # The cost if point c becomes a center, and the increase if center j is then removed.
        left = np.minimum(squares, least)
        more = (np.minimum(squares, second) - left) * weights
        loss = more @ (first[:, None] == np.arange(k)) + (left @ weights)[:, None]
        loss[chosen] = np.inf
        c, j = np.unravel_index(int(np.argmin(loss)), loss.shape)
        if loss[c, j] >= (1 - LEAST) * float(least @ weights):
            return
        chosen[j] = c


def _steps(points: Floats, weights: Floats, centers: Floats) -> Floats:
    labels = np.full(len(points), -1)
    for _ in range(STEPS):
        now = squared_distances(points, centers).argmin(axis=1)
        if (now == labels).all():
            break
        labels = now
        rows = np.bincount(labels, weights, len(centers))
        sums = np.stack([np.bincount(labels, weights * x, len(centers)) for x in points.T], axis=1)
        live = rows > 0
        centers = np.where(live[:, None], sums / np.where(live, rows, 1.0)[:, None], centers)
    return centers


#: For cells that are counted without sums: the average count of a cell, which determines the number
#: of cells, and the least count with which a cell is used. Both are in standard deviations of the
#: noise of a count.
FULL, ALIVE = 1.0, 2.5
#: The largest noise in a last round of sums, as a fraction of the variance within cells.
COARSE = 0.03
#: Cells are counted without sums only if the noise of a round is above this fraction of B.
LITTLE_BESIDE_CELLS = 1 / 600

#: For the shares of the loss, the width of a column counts as at least this fraction of the sum of
#: all widths.
NARROW = Fraction(1, 1 << 10)

#: The most clusters.
MOST_CLUSTERS = 1 << 24

#: The first round has CELLS cells for each cluster, but at most MOST_CELLS.
CELLS, MOST_CELLS = 8, 512

#: If cells may be counted without sums: the parts of the loss for the number of rows and for each
#: round.
COUNT, ROUND = 5, 9

#: The number of rounds if `max_iter` is left out.
USUAL = 5
#: Rounds are used one by one if the noise of a round is at most this fraction of B.
LITTLE, LITTLE_BESIDE_POOR = 1 / 50, 1 / 10


@dataclass(eq=False, repr=False, kw_only=True)
class KMeans(Transformer, Scored):
    """Learn centers of clusters from noisy counts and sums alone.

    This is k-means. In each round every row belongs to its nearest center. The noisy count and the
    noisy sum of the rows of a center give its next position.

    Privacy
    -------
    Neighbors are datasets that differ in one row: added or removed, or replaced (`neighbors`). The
    centers and the counts satisfy the requested loss, all rounds together. This is the k-means of
    Blum, Dwork, McSherry and Nissim, PODS 2005, with noise for the joint sensitivity of a round,
    and exact composition. Neither labels nor the inertia of the data are stored.

    Parameters
    ----------
    n_clusters : int, default 8
        The number of clusters.
    bounds : (float, float), or a pair for each column
        Public limits of the values, in the units of the data. Values outside are clamped. The
        bounds must not come from the data.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of `fit`: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget of `fit`, else "add-remove".
    max_iter : int, optional
        The number of rounds, each with an equal part of the loss. It must not be chosen by looking
        at results. By default released answers decide the number. The first round has a fifth of
        the loss, and its answers decide whether the remaining loss pays for four, two or one round
        (one if there are few rows). With nine columns or fewer, a tenth of the loss first pays for
        the number of rows. If there are few rows, the remaining loss, or half of it, then pays for
        the counts of up to 512 cells.
    init : "cells", "spread", or array_like of shape (n_clusters, d), default "cells"
        The starting centers. "cells": they are computed from the first round, which counts and sums
        the rows of up to eight public cells for each cluster. With four rounds or more, the second
        round does the same with two cells for each cluster. "spread": public points far from one
        another and from the bounds. These are also used for a single round, and for more than 256
        clusters. An array must not come from the data.
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How NaN is treated: "raise" is an error after the spend, "lower" and "upper" replace NaN by
        that bound, a number replaces NaN by that number, and "drop" leaves out the whole row.
    weight_bounds : (float, float), optional
        Public limits of the weights in `fit`, at least 0. Weights outside are clamped. The limits
        must not come from the data. Noise is calibrated to a row of the largest weight
        (``dpfast/learn/weights.py`` has the proof). With weights, a number of rows is a sum of
        weights. Without weights, this argument has no effect.

    Attributes
    ----------
    cluster_centers_ : float64 array of shape (n_clusters, d)
        The centers, within the bounds.
    cluster_counts_ : float64 array of shape (n_clusters,)
        The number of rows of each center in the last round, with noise.
    n_iter_ : int
        The number of rounds, without the round for the number of rows.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of str, if the columns have names
        The names of the columns.
    loss_ : Pure, Approx or ZCDP
        The loss that was spent.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        By `fit`, for a bad argument. Nothing has been spent.
    BudgetError
        By `fit`, if the budget has too little left. Nothing has been spent.
    DataError
        By `fit`, if a value is NaN, with ``nan="raise"``. The spent budget is not refunded.

    Notes
    -----
    Cost: one read of the data for each round. A round takes about as long as an iteration of
    Lloyd's algorithm with as many centers as the round has cells.

    *Centers without enough rows.* If the noisy count of a center is below three standard deviations
    of the noise, its mean is not reliable. Such a center moves to the center with the most rows,
    and the two share these rows in the next round. After the last round it stays where it is. If
    all centers have such counts, all move half way to the mean of all rows. With three columns or
    more, means are shrunk towards one another by the part of their differences that noise explains
    (James and Stein). All decisions between rounds depend on released numbers only.

    *scikit-learn.* Arguments can be read and set as in scikit-learn, which can clone the object and
    put it into a pipeline. For this reason the budget is an argument of `fit`.

    Examples
    --------
    Two clusters of 5000 rows each, at 0.2 and 0.8:

    >>> import numpy as np, dpfast as dp
    >>> x = np.concatenate([np.full((5000, 2), 0.2), np.full((5000, 2), 0.8)])
    >>> budget = dp.Budget(rho=1)
    >>> clusters = dp.learn.KMeans(2, bounds=(0, 1), rho=0.5).fit(x, budget=budget)
    >>> np.sort(clusters.cluster_centers_, axis=0).round(1)
    array([[0.2, 0.2],
           [0.8, 0.8]])
    >>> len(set(clusters.predict(x[::5000])))
    2
    >>> bool((clusters.transform(x[::5000]).argmin(axis=1) == clusters.predict(x[::5000])).all())
    True
    """

    _estimator_type = "clusterer"
    _name = "k-means"

    n_clusters: int = field(default=8, kw_only=False)
    bounds: BoundsEach | Auto = field()
    max_iter: int | None = None
    init: Literal["cells", "spread"] | ArrayLike = "cells"
    nan: NanPolicy = "raise"

    def _training(self, rows: Rows, loss: Loss, relation: str) -> Training:
        k = checks.whole("n_clusters", self.n_clusters, 1, MOST_CLUSTERS)
        times = USUAL if self.max_iter is None else checks.whole("max_iter", self.max_iter, 1)
        if relation == "replace" and rows.length is not None and rows.length < k:
            checks.fail("n_clusters", f"at most the number of rows, {rows.length}", k)
        grid = self._grid(rows.width, relation)
        start, cells = self._start(grid, k, times)

        chosen = self.max_iter is None
        counted = chosen and cells is not None and 2.0**grid.width <= MOST_CELLS
        unit = ROUND if counted else 1

        def learn(rounds: Rounds) -> None:
            walk = _Walk(rounds, grid, k, chosen, unit)
            if counted and walk.count_rows():
                centers, counts = walk.count_cells(start)
            else:
                centers = start if cells is None else walk.summarize(cells, start)
            if rounds.remaining:
                centers, counts = walk.finish(centers)
            self.cluster_centers_, self.cluster_counts_ = centers, counts
            self.n_iter_ = walk.questions

        rounds = unit * times + COUNT * counted
        return Training(rounds, _parts(grid, k, relation, loss), learn)

    @as_fitted
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the number of the nearest center for each row.

        NOT PRIVATE: a prediction is a function of its row. Do not publish predictions for secret
        rows.

        Parameters
        ----------
        X : array_like of shape (n, d), structured array, table, or source
            The rows. They are clamped as in `fit`.

        Returns
        -------
        int64 array of shape (n,)
            The numbers of centers, from 0 on. With ``nan="drop"``, -1 for rows with a NaN.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ArgumentError
            If the columns differ from the columns in `fit`.
        DataError
            If a value is NaN, with ``nan="raise"``.
        """
        labels = self._grid(self.n_features_in_).labels(self._rows(X), self.cluster_centers_)
        missing = labels == len(self.cluster_centers_)
        if self.nan == "raise" and missing.any():
            raise DataError(
                "X contains NaN, which nan='raise' does not allow: fit with nan='drop' or a number"
            )
        labels[missing] = -1
        return labels

    @releases
    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        ids: Any = None,
        max_rows: int | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[NDArray[np.int64]]:
        """Call `fit`, then `predict`. The returned predictions are not private.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        ids : array_like of shape (n,), or str, optional
            The id of the person that each row belongs to, or the name of the column of ids, which
            is then not part of the data. The privacy unit is a person: neighbors differ in all rows
            of one id.
        max_rows : int, optional
            With `ids` only: the largest number of rows of a person that count.
        budget : Budget, optional
            The budget that pays, before rows are read or random bits are drawn; by default the
            budget of the ``with`` block.
        rng : Generator, optional
            The source of random bits, by default the secure one. `InsecureGenerator` is for tests;
            a budget refuses it.

        Returns
        -------
        int64 array of shape (n,)
            The numbers of the nearest centers. NOT PRIVATE, like the result of `predict`.

        Examples
        --------
        The first 5000 rows are in one cluster, and the last 5000 in the other:

        >>> import numpy as np, dpfast as dp
        >>> x = np.concatenate([np.full((5000, 2), 0.2), np.full((5000, 2), 0.8)])
        >>> labels = dp.learn.KMeans(2, bounds=(0, 1), rho=0.5).fit_predict(x)
        >>> bool(labels[0] == labels[4999] != labels[5000] == labels[9999])
        True
        """
        people = {"ids": ids, "max_rows": max_rows}
        fitted = prepare(self.fit, X, None, sample_weight, **people, budget=budget, rng=rng)
        return fitted.then(lambda learned: learned.predict(without_ids(X, ids)))

    def _transformed(self) -> tuple[int, Callable[[Floats], Floats]]:
        """Return the number of centers, and the function from rows to distances from centers."""
        centers = self.cluster_centers_
        return len(centers), lambda rows: np.sqrt(squared_distances(rows, centers))

    def _score(self) -> Score:
        centers, grid = self.cluster_centers_, self._grid(self.n_features_in_)
        fills, skip = nan_fills(grid.nan, zip(grid.lo, grid.hi, strict=True))

        def distances(x: Floats, _: NDArray[Any]) -> Floats:
            filled = x if skip else np.where(np.isnan(x), fills, x)
            with np.errstate(over="ignore"):  # infinite numbers are clamped
                nearest = squared_distances(np.clip(filled, grid.lo, grid.hi), centers).min(axis=1)
            if grid.nan == "drop":
                # A row with a missing number is in no cluster, and counts as 0.
                nearest = np.nan_to_num(nearest)
            return answers(nearest[:, None])

        # No row is farther from a center than the farthest corner of the grid.
        with np.errstate(over="ignore"):
            squares = np.maximum(centers - grid.lo, grid.hi - centers) ** 2
            farthest = squares.sum(axis=1).min()
        limits = 0.0, min(float(farthest), MOST_SQUARE)
        return Score(Sum(bounds=limits), distances, lambda total: -float(total[0]))

    def _exact_score(self, X: Any, y: Any) -> float:
        rows = self._rows(X).mapped(1, self._score().numbers)
        sums = rows.reduce(lambda chunk: np.array([chunk.rows.sum(), len(chunk.rows)]), np.add)
        return -float(sums[0]) if sums[1] else math.nan

    def _grid(self, width: int, relation: str = "add-remove") -> Grid:
        missing_rule = checks.nan_policy(self.nan, relation)
        # With bounds below 2**900, squares and their noisy sums do not overflow.
        return Grid(column_bounds(self._bounds, width, 900), missing_rule)

    def _start(self, grid: Grid, k: int, times: int) -> tuple[Floats, Floats | None]:
        """Return the initial centers, and the grid points for a first round of cells, or None."""
        if isinstance(self.init, str):
            name = checks.choice("init", self.init, ("cells", "spread"))
            spread_out = spread(k, grid.lo, grid.hi)
            count = min(CELLS * k, MOST_CELLS)
            if name == "spread" or times == 1 or count < 2 * k:
                return spread_out, None
            return spread_out, grid.lo + evenly(count, grid.width) * (grid.hi - grid.lo)
        rule = f"'cells', 'spread' or a finite array of shape {k, grid.width}"
        try:
            centers = np.array(self.init, np.float64)
        except Exception:  # an object may raise anything here
            checks.fail_kind("init", rule, self.init)
        if centers.shape != (k, grid.width) or not np.isfinite(centers).all():
            checks.fail("init", rule, self.init)
        return np.clip(centers, grid.lo, grid.hi), None


def _parts(grid: Grid, k: int, relation: str, loss: Loss) -> list[Part] | list[Boxes]:
    """Return the parts of a round: row counts of centers, then sums of each column.

    Adjacent columns with equal grids are one part, with their joint sensitivity and the sum of
    their shares. The noise is the same as with one part for each column.
    """
    # A replaced row changes the sums of two centers by s each, or the sum of one center by 2 s. If
    # integers are too large for the samplers, they are divided and rounded down. In L2 norm
    # rounding adds at most sqrt(2) to the first change, and at most 1 to the second. An `l0` of
    # f**2 allows for 2.
    f = 2 if relation == "replace" else 1
    if isinstance(loss, Pure):
        widths = (grid.hi - grid.lo) * grid.unit / 2
        weights = (float((widths**2).sum() / 4), *(widths**2).tolist())
        return [Boxes(Moves((1, *grid.span), weights, 1), k, f)]
    columns = groupby(zip(grid.span, grid.cell_width.tolist(), strict=True))
    alike = [(len(list(same)), s, s * Fraction(g)) for (s, g), same in columns]
    least = sum(m * w for m, _, w in alike) * NARROW
    alike = [(m, s, max(w, least) if w else w) for m, s, w in alike]
    whole = sum(m * w for m, _, w in alike)
    counts = Fraction(1, 1 + math.isqrt(4 * grid.width)) if f == 1 else Fraction(1, 2)
    if not whole:
        counts = Fraction(1)
    sums_share = 1 - counts if f == 1 else Fraction(1)
    parts = [Part(k, f, f, f, counts)]
    for m, s, w in alike:
        share = sums_share * w / whole if w else Fraction(1)
        parts.append(Part(k * m, m * f * s, m * (f * s) ** 2, m * f * f, m * share))
    return parts


def _noise(rounds: Rounds, grid: Grid, parts: Sequence[Part | Boxes], uses: int) -> float:
    """Return the variance of the noise in the sums of a center, added over columns."""
    _, *sums = (deviation for part in parts for deviation in rounds.deviations(part, uses))
    return float(((np.array(sums) * grid.cell_width / 2 * grid.unit) ** 2).sum())


class _Walk:
    """The rounds of a k-means fit, which depend on released numbers alone.

    Attributes
    ----------
    questions : int
        The number of queries so far.
    uses : int
        How many rounds the next query uses at once. With `chosen`, the answers of the first round
        decide this number.
    noise : float
        The variance of the noise in the sums of a center, added over columns.
    enough : float
        Counts above this number exceed the noise.
    cells, counted : int
        The number of cells for which only counts are queried, and the number of rounds that this
        query uses at once.
    rows : float or None
        The noisy number of rows, once it is known.
    full : float
        The variance within k cells that fill the grid.
    """

    def __init__(self, rounds: Rounds, grid: Grid, k: int, chosen: bool, unit: int = 1) -> None:
        self.rounds, self.grid, self.k, self.chosen, self.unit = rounds, grid, k, chosen, unit
        self.questions = self.cells = self.counted = 0
        self.rows: float | None = None
        squares = float((((grid.hi - grid.lo) * grid.unit) ** 2).sum())
        self.full = squares / 12 * k ** (-2 / grid.width)
        self.use(unit)

    def use(self, uses: int) -> None:
        """Set how many rounds each further query uses, and the resulting noise."""
        parts = self.parts(1)
        self.uses, self.noise = uses, _noise(self.rounds, self.grid, parts, uses)
        self.enough = 3.0 * self.rounds.deviation(parts[0], uses)

    def parts(self, k: int) -> list[Part] | list[Boxes]:
        """Return the parts of a round about k centers, with their sensitivity."""
        return _parts(self.grid, k, self.rounds.neighbors, self.rounds.loss)

    def ask(self, centers: Floats) -> _Answer:
        """Run a round about centers: return noisy counts, and noisy sums of shape (k, d)."""
        k, grid = len(centers), self.grid

        def total(rows: Rows) -> list[int]:
            """Return row counts, and sums of distances from the middle in half cells."""
            counts, *sums = self.grid.totals(rows, centers)
            integers = list(counts)
            for column, span in zip(sums, grid.span, strict=True):
                integers += [2 * u - span * n for u, n in zip(column, counts, strict=True)]
            return integers

        noisy = np.array(self.rounds.ask(total, self.parts(k), self.uses), np.float64)
        sums = noisy[k:].reshape(grid.width, k).T
        answer = _Answer(grid, noisy[:k], sums, self.noise, self.enough)
        self.questions += 1
        if self.questions == 1 and self.chosen:
            self.choose(answer)
        return answer

    def choose(self, first: _Answer) -> None:
        """Choose how many rounds each further query uses, from the first answer."""
        total = float(first.counts.sum()) if self.rows is None else self.rows
        rows = max(total, 0.0) / self.k
        most = (LITTLE if first.live.sum() > self.k else LITTLE_BESIDE_POOR) * self.full * rows**2
        for uses in (2 * self.unit, self.rounds.remaining):
            if self.noise <= most:
                break
            self.use(uses)

    def count_rows(self) -> bool:
        """Count all rows with noise, and return whether to count the rows of cells next.

        Cells are counted if there can be enough cells to divide each column, with counts above the
        noise. The number of rounds for the cells is chosen too.
        """
        grid, k, rounds = self.grid, self.k, self.rounds
        changes = 0 if rounds.neighbors == "replace" else 1
        part = Part(1, changes, changes, 1)
        middle = grid.middle[None]
        (noisy,) = rounds.ask(lambda rows: self.grid.totals(rows, middle)[0], [part], COUNT)
        self.rows = max(float(noisy), 0.0)
        squared = (self.rows / k) ** 2
        if self.noise <= LITTLE_BESIDE_CELLS * self.full * squared:
            return False
        for left in (rounds.remaining // 2, 0):  # the number of rounds that remain for sums
            self.counted = rounds.remaining - left
            noise = rounds.deviation(Part.of_counts(1, 1, rounds.neighbors), self.counted)
            self.cells = int(min(self.rows / (FULL * noise), MOST_CELLS))
            if self.cells < 2.0**grid.width:
                continue
            variance = self.full * (self.cells / k) ** (-2 / grid.width)
            if left:
                self.use(left)
            if not left or self.noise < COARSE * variance * squared:
                return True
        self.use(self.unit)
        return False

    def count_cells(self, centers: Floats) -> tuple[Floats, Floats]:
        """Return centers from noisy counts of cells alone, and the counts of the centers."""
        grid, points = self.grid, evenly(self.cells, self.grid.width)
        cells = grid.lo + points * (grid.hi - grid.lo)
        part, uses = Part.of_counts(self.cells, 1, self.rounds.neighbors), self.counted
        noisy = self.rounds.ask(lambda rows: grid.totals(rows, cells)[0], [part], uses)
        self.questions += 1
        counts, alive = np.array(noisy, np.float64), ALIVE * self.rounds.deviation(part, uses)
        points_alive, counts = (
            (cells - grid.middle)[counts > alive] * grid.unit,
            counts[counts > alive],
        )
        chosen, totals = centers_of(points_alive, counts, self.k), np.zeros(self.k)
        if len(chosen):
            totals += np.bincount(squared_distances(points_alive, chosen).argmin(1), counts, self.k)
        chosen = np.clip(chosen / grid.unit + grid.middle, grid.lo, grid.hi)
        return np.concatenate([chosen, centers[len(chosen) :]]), totals

    def summarize(self, cells: Floats, centers: Floats) -> Floats:
        """Return centers from noisy counts and means of more cells, in one or two rounds."""
        grid, count = self.grid, 0
        while count != self.k:
            answer = self.ask(cells)
            several = self.questions == 1 and self.rounds.remaining // self.uses >= 3
            count = 2 * self.k if several else self.k
            points = (answer.means(cells) - grid.middle) * grid.unit
            chosen = centers_of(points[answer.live], answer.counts[answer.live], count)
            chosen = np.clip(chosen / grid.unit + grid.middle, grid.lo, grid.hi)
            if not answer.live.any():
                centers = answer.means(centers)
            cells = np.concatenate([chosen, centers[len(chosen) :]])
        return cells

    def finish(self, centers: Floats) -> tuple[Floats, Floats]:
        """Return the centers after all remaining rounds, and the noisy counts of the last."""
        step = 0
        while self.rounds.remaining:
            answer = self.ask(centers)
            centers = answer.means(centers)
            if self.rounds.remaining:
                centers = answer.split(centers, step)
            step += 1
        return centers, answer.counts


class _Answer:
    """The noisy counts and sums of a round; `live` marks centers whose counts exceed the noise."""

    def __init__(
        self, grid: Grid, counts: Floats, sums: Floats, noise: float, enough: float
    ) -> None:
        self.grid, self.counts, self.sums = grid, counts, sums
        self.noise, self.enough, self.live = noise, enough, counts > enough

    def means(self, centers: Floats) -> Floats:
        """Return the noisy mean of the rows of each center; a center without rows stays.

        Means are shrunk toward the mean of all rows by the part of their differences that noise in
        the sums explains. If no center has a count above the noise, the mean of all rows is still
        known, and all centers move half way to it.
        """
        grid, live, noise = self.grid, self.live, self.noise
        counts, sums, shift = self.counts, self.sums, grid.cell_width / 2 * grid.unit
        if not live.any():
            whole = float(counts.sum())
            if whole <= self.enough * math.sqrt(len(counts)):
                return centers
            mean = sums.sum(axis=0) * (shift / whole)
            mean *= _kept(mean[None], len(counts) * noise / whole**2)[0]
            middle = np.clip(grid.middle + mean / grid.unit, grid.lo, grid.hi)
            return np.asarray(centers + (middle - centers) / 2)
        rows = counts[live, None]
        means, whole = sums[live] * shift / rows, rows.sum()
        mean = sums[live].sum(axis=0) * shift / whole
        mean *= _kept(mean[None], len(rows) * noise / whole**2)[0]
        parts = _kept(means - mean, noise / rows[:, 0] ** 2)
        moved = centers.copy()
        drawn = mean + parts * (means - mean)
        moved[live] = np.clip(grid.middle + drawn / grid.unit, grid.lo, grid.hi)
        return moved

    def split(self, centers: Floats, step: int) -> Floats:
        """Move each center with hardly any row next to a center with the most rows.

        The two centers are put on either side of the old position, in directions that vary and do
        not depend on the data.
        """
        grid, k = self.grid, len(centers)
        moved, weights = centers.copy(), np.where(self.live, self.counts, 0.0)
        reach = (grid.hi - grid.lo) * (0.25 * k ** (-1.0 / grid.width))
        sides = evenly(k * (step + 2), grid.width)[-k:] - 0.5
        for j in np.flatnonzero(~self.live).tolist():
            most = int(np.argmax(weights))
            if not weights[most]:
                break
            weights[most] = weights[j] = weights[most] / 2
            side = sides[j] / np.abs(sides[j]).max() * reach
            moved[j] = np.clip(moved[most] + side, grid.lo, grid.hi)
            moved[most] = np.clip(moved[most] - side, grid.lo, grid.hi)
        return moved


def _kept(distances: Floats, noise: Floats | float) -> Floats:
    """Return the James-Stein factors of vectors with noise of squared length `noise`."""
    d = distances.shape[1]
    squares = (distances**2).sum(axis=1)
    lost = max(d - 2, 0) / d * noise / np.where(squares > 0, squares, 1.0)
    return np.asarray(np.maximum(0.0, 1.0 - lost)[:, None])
