"""`workload`: private answers to linear queries about a histogram, with noise planned for them.

The noisy sums are an integer matrix, the strategy, times the counts of the bins (`strategy`). A row
adds one column of this matrix to the sums, and a replaced row also subtracts another column. A
person adds at most m rows in all, perhaps as fractions in several bins. So in each norm a person
changes the sums by at most m times the longest column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..._core import checks
from ...measurement.functions import function_of
from ...measurement.statistic import Terms
from ...measurement.times import Units
from ...noise.calibrated_integer import IntegerNoise
from ...noise.sensitivity import Sensitivity
from ...privacy import Pure
from ...rng import Generator
from ..histogram import PARTS, BinCounts, Binned
from .answer import WorkloadCounts
from .queries import MOST, queries_of
from .strategy import GRID, Strategy, best_strategy


@dataclass(frozen=True, kw_only=True)
class Workload(Binned[WorkloadCounts]):
    """Answers to linear queries about counts of public bins, as a statistic to measure.

    Parameters
    ----------
    column : str, optional
        The column of a table, for `GroupBy.agg`.
    queries : array_like of shape (m, bins), or {"prefix", "ranges"}
    bins : int, sequence of float, or sequence of d of these, optional
    bounds : (float, float), sequence of d such pairs, or "auto", optional
    categories : sequence of str, float or bool, or sequence of d of these, optional
        As in `dpfast.workload`, which has the theorem.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule of `dpfast.workload`.

    Examples
    --------
    >>> import dpfast as dp
    >>> ranges = dp.Workload(queries="ranges", bins=120, bounds=(0, 120)).measure(rho=0.1)
    >>> round(ranges([]).half_width(20, 65), 1)  # of no rows: what the error will be costs nothing
    11.8
    """

    queries: Any = field(default=None, kw_only=False)

    name: ClassVar[str] = "workload"
    grid: ClassVar[int] = GRID
    needs_delta: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        queries = queries_of(self.queries)
        object.__setattr__(self, "queries", queries)
        if queries.matrix is None:
            self.require_one_column()
        if not self.axes:
            return
        bins = prod(self.shape)
        if bins > MOST:
            name = "categories" if self.bins is None else "bins"
            checks.fail(name, f"at most {MOST} bins for a workload", bins)
        if queries.matrix is not None and queries.matrix.shape[1] != bins:
            rule = f"a number for each of {bins} bins in each row"
            checks.fail("queries", rule, f"shape {queries.matrix.shape}")

    def mechanism(self, terms: Terms) -> BinCounts:
        if isinstance(terms.loss, Pure):
            rule = (
                "above 0, or rho given instead of epsilon (for epsilon alone call tree_histogram)"
            )
            checks.fail("delta", rule, 0)
        return super().mechanism(terms)

    @cached_property
    def strategy(self) -> Strategy:
        """The sums of bins that get noise, planned for the least error of the queries."""
        return best_strategy(self.queries, prod(self.shape))

    def sensitivity(self, terms: Terms) -> Sensitivity:
        of_row = self.strategy.sensitivity(terms.neighbors)
        size = terms.rows << PARTS if terms.has_ids else 1
        # At least two numbers, so that the noise is not staircase noise, which has a pure loss.
        return Sensitivity(max(of_row.l0, 2), size * of_row.l1, size**2 * of_row.l2_squared)

    def answer(
        self, counts: NDArray[np.int64], noise: IntegerNoise, parts: int, generator: Generator
    ) -> WorkloadCounts:
        """Return noisy counts of the bins by least squares, with the noise that error bars need."""
        noisy, unit = noise.add(self.strategy.add(counts), generator), 2.0**-parts
        counts_of_bins = self.strategy.inverse @ np.array([unit * total for total in noisy])
        return WorkloadCounts(
            counts_of_bins.reshape(self.shape), self.edges, self.queries, self.strategy, noise, unit
        )

    def bar(self, noise: IntegerNoise, parts: int, failure: float) -> Any:
        """Return the half-width of the error bar of each bin's count."""
        widths = [noise.weighted_half_width(factors, failure) for factors in self.strategy.inverse]
        return (2.0**-parts * np.array(widths)).reshape(self.shape).tolist()

    def in_times(self, answer: WorkloadCounts, units: Units) -> WorkloadCounts:
        return answer._replace(edges=units.edges)


@function_of(Workload)
def workload(data: Any, *others: Any, **arguments: Any) -> Any:
    """Release answers to linear queries about counts of public bins, with noise planned for them.

    The queries are all prefix sums, all ranges, or a matrix. Each row of the matrix is a query: its
    answer is the sum, over the bins, of the row's number times the bin's count. Noise is added to
    weighted sums of the counts. These sums are chosen so that the total squared error of the
    answers is least.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced. The call satisfies
    the requested loss, for all answers together, by exact Gaussian noise for the L2 sensitivity of
    the noisy sums (Canonne, Kamath and Steinke, NeurIPS 2020; Balle and Wang, ICML 2018). For few
    bins Laplace noise may be smaller. It is then used, and costs no delta. The weights of the sums
    are rounded to integers, from which the sensitivity is computed exactly. The plan depends on
    queries and bins alone, and everything after the noise is post-processing. Bins and queries must
    not come from the data.

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), table, or source
        One column, or d of them, as in `histogram`.
    queries : array_like of shape (m, bins), or {"prefix", "ranges"}
        A matrix with one query in each row, and a number for each bin. For d columns the bins are
        in the order of the flattened array of counts. For one column also a word: "prefix" for all
        prefix sums (a cumulative distribution, all quantiles), or "ranges" for all ranges of
        adjacent bins.
    bins : int, sequence of float, or sequence of d of these, optional
        The number of equally wide bins between the `bounds`, or public edges, ascending; at most
        4,096 of them in all.
    bounds : (float, float), sequence of d such pairs, or "auto", optional
        Public limits of the bins, if `bins` is a number. "auto" draws them as in `histogram`.
    categories : sequence of str, float or bool, or sequence of d of these, optional
        Instead of `bins`, a public list of categories, as in `histogram`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone. Epsilon alone is refused,
        because the noise is Gaussian.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private.
    ids : array_like of shape (n,), or str, optional
        The id of the person that each row belongs to, or the name of the column of ids, which is
        then not part of the data. The privacy unit is a person: neighbors differ in all rows of one
        id.
    max_rows : int, optional
        With `ids` only: the largest number of rows of a person that count.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    WorkloadCounts
        It has the ``answers`` to the queries with their ``deviations`` and ``half_widths()``, and
        the ``counts`` of the bins with their ``edges`` and ``covariance``. For one column the
        methods ``range(lo, hi)``, ``half_width(lo, hi)``, ``cdf(x)`` and ``quantile(q)`` cost
        nothing.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `histogram`. Also for `epsilon` without `delta`, for more than 4,096 bins, and for
        queries that do not have a finite number for each bin.

    See Also
    --------
    dpfast.tree_histogram : Ranges for any loss and any number of bins, without a plan.
    dpfast.histogram : Smaller errors of single bins.

    Notes
    -----
    Cost: one read of the data. The plan takes a tenth of a second for 256 bins, one to four seconds
    for 1,024, and one to three minutes and 1.8 GB for 4,096. Equal queries are planned once in a
    process. Under add-remove, the mean squared error of all queries is within a hundredth of the
    least possible for Gaussian noise. ``strategy.certificate`` shows this ratio; for queries that
    distinguish few of many bins it may be larger. Plans are computed by LAPACK and may differ in
    their last bits between machines, so a seeded generator may give different answers on another
    machine.

    References
    ----------
    Li, Miklau, Hay, McGregor and Rastogi, "The matrix mechanism", VLDB Journal 2015. McKenna,
    Miklau, Hay and Machanavajjhala, "Optimizing error of high-dimensional statistical queries under
    differential privacy", VLDB 2018. Edmonds, Nikolov and Ullman, "The power of factorization
    mechanisms in local and central differential privacy", STOC 2020.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> prefix = dp.workload(ages, "prefix", bins=120, bounds=(0, 120), rho=0.1)
    >>> bool(abs(prefix.answers[-1] - 29_200) < 100), abs(prefix.quantile(0.5) - 54.5) < 2
    (True, True)
    >>> working = [[18 <= age < 65 for age in range(120)]]
    >>> known = dp.workload(ages, working, bins=120, bounds=(0, 120), rho=0.1)
    >>> bool(abs(known.answers[0] - 18_800) < 6 * known.deviations[0])
    True
    """
