"""Noisy sums of functions of a row: the queries of SuLQ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks, nan_policy
from .._core.types import BoundsEach, NanPolicy, Neighbors, Number
from ..budget.budget import Budget
from ..budget.release import Prepared, prepare, relation_of, releases
from ..privacy import Loss
from ..rng import Generator
from ..summaries.cells import cells
from ..tables.data import as_rows, once
from ..tables.engine import of_engine, refuse_array
from ..tables.labels import labels_of
from .parts import Part
from .rounds import Rounds, loss_of
from .row_functions import bits, side_by_side, split
from .row_sets import RowSets, contrast_part, contrasts_of
from .terms import Answer, Exact, Term, exact, joint, listed, shared, totals, vector


class NoisySums:
    """Answer a fixed number of queries by noisy sums of functions of a row, for one loss.

    The loss is spent when the object is created. It pays for `queries` queries, and query ``queries
    + 1`` is refused. `sum` answers one sum, `batch` several sums in one query.

    Privacy
    -------
    Neighbors are datasets that differ in one row, added or removed, or replaced (`neighbors`). All
    answers together satisfy the requested loss, for any queries. A query may depend on earlier
    answers. These are the noisy sums of SuLQ (Blum, Dwork, McSherry and Nissim, PODS 2005).

    *Sensitivity.* The value of each row is clamped and rounded to a public grid. So a sum is an
    exact integer of known sensitivity. For values from a to b it is ``max(|a|, |b|)`` if a row is
    added or removed, and ``b - a`` if a row is replaced. For vectors of length at most r it is r
    and 2 r.

    *Noise.* For `rho` it is discrete Gaussian, and for `epsilon` with `delta` a rounded Gaussian
    (composed exactly: Dong, Roth and Su, JRSS B 2022). For `epsilon` alone, vectors get discrete
    Laplace noise. Numbers get the noise with the least error: discrete Laplace, a staircase, or
    joint noise of a batch (Hardt and Talwar, STOC 2010).

    Parameters
    ----------
    data : array_like of shape (n,) or (n, d), structured array, table, or source
        The rows, as in `sample_and_aggregate`. A null in a table counts as NaN.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    queries : int
        The number of queries. The standard deviation of the noise is proportional to the square
        root of this number, or with `epsilon` alone to the number itself.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    nan : {"raise", "lower", "upper", "drop"} or float, default "raise"
        How missing values (NaN and null) are treated: "raise" is an error after the spend, "lower"
        and "upper" replace them by that bound, "drop" leaves out their rows, and a public number
        replaces them by that number. This applies to the values of the summed functions. "drop"
        counts a missing value as 0, under "add-remove" only. A vector with a missing value counts
        as 0, or with "raise" is an error.
    budget : Budget, optional
        The budget that pays for all answers, before rows are read or random bits are drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Attributes
    ----------
    rows : int or None
        Under "replace" the number of rows, which is public. Under "add-remove" None.
    remaining : int
        How many queries are left.
    deviation : float
        The standard deviation of the noise of a sum of values between 0 and 1.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument. Nothing has been spent.
    BudgetError
        If the budget has too little left. Nothing has been spent.

    Notes
    -----
    Cost: one read of the data for each query. A query that fails because of the rows (`DataError`)
    is used up. A query with a bad argument is not used up. The object can be neither pickled nor
    copied, and a forked process cannot use it.

    Examples
    --------
    Two of three queries: the number of rows, and the number of people who are 65 or older:

    >>> import numpy as np, dpfast as dp
    >>> ages = np.repeat(np.arange(18, 91), 400)
    >>> sums = dp.sulq.NoisySums(ages, rho=0.5, queries=3)
    >>> 29_100 < sums.sum("count") < 29_300
    True
    >>> old = sums.sum(ages >= 65)  # a function of each row, computed before
    >>> 10_300 < old < 10_500, sums.remaining
    (True, 1)

    The third query is a function compiled by Numba with two values. A fourth query is refused:

    >>> import numba
    >>> @numba.njit
    ... def decade(age):
    ...     return age // 10 == 3, age // 10 == 4
    >>> thirties, forties = sums.sum(decade, l2=1.0)
    >>> bool(abs(thirties - 4000) < 50), bool(abs(forties - 4000) < 50)
    (True, True)
    >>> sums.sum("count")
    Traceback (most recent call last):
    ...
    dpfast.errors.BudgetError: noisy sums: all 3 rounds are used: open more rounds
    >>> sums.contrast_deviation(sets=16) > sums.contrast_deviation(sets=1)
    True
    """

    @releases
    def __init__(  # type: ignore[misc]
        self,
        data: Any,
        *,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        queries: int,
        neighbors: Neighbors | None = None,
        nan: NanPolicy = "raise",
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        loss = loss_of(epsilon, delta, rho)
        rounds = checks.whole("queries", queries, 1)
        self._neighbors = relation_of(neighbors, budget)
        self._nan = checks.nan_policy(nan, self._neighbors)
        self._source = as_rows(
            once(data, [queries], self._neighbors)
        )  # data in which a set of rows may be given by a mask

        def after(rounds: Rounds) -> None:
            self._rounds = rounds

        payment: Any = {"budget": budget, "rng": rng}
        prepared = prepare(
            Rounds, self._source, loss, self._neighbors, rounds, "noisy sums", **payment
        )
        return prepared.then(after)

    def __reduce__(self) -> NoReturn:
        raise TypeError("noisy sums can be neither pickled nor copied: both copies could answer")

    def __repr__(self) -> str:
        return f"NoisySums({self.loss!r}, {self.remaining} of {self._rounds.rounds} left)"

    @property
    def loss(self) -> Loss:
        """The loss of all answers together."""
        return self._rounds.loss

    @property
    def neighbors(self) -> Neighbors:
        """The neighboring relation of the loss."""
        return self._neighbors

    @property
    def remaining(self) -> int:
        """The number of queries that are left."""
        return self._rounds.remaining

    @property
    def rows(self) -> int | None:
        """Under "replace" the number of rows, which is public; under "add-remove" None."""
        return self._source.length if self._neighbors == "replace" else None

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of a sum of values between 0 and 1."""
        span = cells(0.0, 1.0).span
        (part,) = shared([Part(1, span, span**2, 1)], self.loss)
        return self._rounds.deviation(part) / span

    def sum(
        self,
        f: Any,
        rows: ArrayLike | None = None,
        *,
        bounds: BoundsEach | None = None,
        l2: Number | None = None,
        size: int | None = None,
        column: int | str | Sequence[int | str] | None = None,
    ) -> Answer:
        """Return the noisy sum of a function over all rows or a public set of rows.

        Parameters
        ----------
        f : str, Numba dispatcher, condition or array_like
            * A name. "count": the number 1, so the sum is the number of rows. "value": a number of
              the row, clamped to `bounds`. "square": the square of this number. "product": the
              product of two columns. "row": the vector of all numbers of the row, shortened to
              length `l2`.
            * A function ``f(row)`` compiled by ``numba.njit`` that returns a real number, or an
              array or a tuple of real numbers. `row` is a number, or for a matrix an array, or for
              named columns a record. If the function raises an error, the value of the row is
              missing (see `nan`). The function must not draw random numbers. It must not read
              beyond the end of its row, which Numba checks only with ``boundscheck=True``.
            * A condition made of `Attribute`: the sum is the number of rows where it holds.
            * An array of values: one for each row (or `size` for each row), computed from this row
              alone.
        rows : array_like of bool or int, optional
            The public set of rows to sum over, by default all. It must not depend on the data. It
            is a mask with an entry for each row, or under "replace" row numbers. Under "add-remove"
            rows have no fixed numbers, and the entry of a mask is added or removed with its row.
        bounds : (float, float), optional
            Public limits of the function's values, by default (0, 1). Values outside are clamped.
            For "value", "square" and "product" the limits of the columns, which have no default.
        l2 : float, optional
            For vectors: their largest length. Longer vectors are shortened to this length.
        size : int, optional
            The number of entries of the array that a function returns.
        column : int, str or two of them, optional
            The number or name of the column, if rows have several columns; two columns for
            "product".

        Returns
        -------
        float or float64 array of shape (size,)
            The noisy sum, not clamped. It is unbiased, except for rounding values to the grid,
            whose cells are about ``2**-40`` of the bounds.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument. No query was used up.
        BudgetError
            If no query is left.
        DataError
            If a value is missing, with ``nan="raise"``. The query is used up.
        """
        return self._ask([Term(f, bounds, l2, size, column)], rows, None)[0]

    def batch(
        self, terms: Sequence[Any], rows: ArrayLike | None = None, *, l2: Number | None = None
    ) -> list[Answer]:
        """Answer several sums as one query, with noise for their joint sensitivity.

        The noise of each of m sums is proportional to its sensitivity, and sqrt(m) times as large
        as if it were the only sum. With `epsilon` alone it is at most sqrt((m + 1) (m + 2) / 6)
        times as large for numbers, and m times as large for vectors. There is less noise if the
        values of a row together form a vector of known length: then pass `l2`. For example, the
        length is 1 for disjoint predicates.

        Parameters
        ----------
        terms : sequence
            Each is a `Term`, or any value that `sum` takes for `f`.
        rows : array_like, optional
            As in `sum`.
        l2 : float, optional
            The largest length of the vector of all values of a row. Longer vectors are shortened to
            this length. With `l2`, terms must not have bounds.

        Returns
        -------
        list of float or array
            The sum of each term.

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError, DataError
            As in `sum`.

        Examples
        --------
        The mean age, which is 54, from one query:

        >>> import numpy as np, dpfast as dp
        >>> ages = np.repeat(np.arange(18, 91), 400)
        >>> sums = dp.sulq.NoisySums(ages, rho=0.5, queries=1)
        >>> n, total = sums.batch(["count", dp.sulq.Term("value", bounds=(0, 120))])
        >>> 53 < total / n < 55
        True
        """
        return self._ask(listed(terms), rows, l2)

    def contrasts(self, f: Any, sets: RowSets | ArrayLike) -> tuple[float, NDArray[np.float64]]:
        """Return the noisy number of rows where f holds, and a noisy contrast for each row set.

        The contrast of a set is half of the difference between the number of such rows inside the
        set and their number outside. All contrasts are one query. Their noise has a quarter of the
        variance of separate queries about sums over the sets. A row changes every contrast by 1/2,
        whether the row is in the set or not. So in L2 norm it changes r contrasts, and half of the
        total, by ``sqrt(r + 1) / 2``.

        Parameters
        ----------
        f : condition, Numba dispatcher or array_like
            A condition, or one number for each row, which counts as true if it is not 0.
        sets : RowSets, or array_like of bool of shape (sets, rows)
            Public sets of rows, which must not depend on the data. Under "add-remove", the bits of
            a row are added or removed with the row.

        Returns
        -------
        total : float
            The number of rows where f holds, with noise. The noise has twice the standard deviation
            of the noise of a contrast.
        contrasts : float64 array of shape (sets,)
            The noisy contrast of each set. The standard deviation of its noise is
            ``contrast_deviation(len(sets))``.

        Raises
        ------
        ArgumentError, ArgumentTypeError, BudgetError, DataError
            As in `sum`.

        Notes
        -----
        Cost: one read of the data and of the bits of all sets.

        Examples
        --------
        Of 2500 people who smoke, 1000 are in the first set. So its contrast is -250:

        >>> import numpy as np, dpfast as dp
        >>> smokes = np.arange(10_000) % 4 == 0
        >>> sums = dp.sulq.NoisySums(smokes, rho=0.5, queries=1)
        >>> first = np.arange(10_000) < 4_000
        >>> total, contrasts = sums.contrasts(dp.sulq.Attribute(), [first, ~first])
        >>> bool(abs(total - 2500) < 15), bool(abs(contrasts[0] - (1000 - 1500) / 2) < 8)
        (True, True)
        """
        if not isinstance(sets, RowSets):
            sets = RowSets(sets)
        checks.entries("sets", sets.rows, self._source.length, self._neighbors)
        function, nan = bits(f, self._source, self._neighbors), self._nan
        if not isinstance(nan, str) and nan not in (0.0, 1.0):
            checks.fail("nan", "0, 1, 'raise', 'lower', 'upper' or 'drop' for contrasts", nan)
        fill = nan_policy.replacement(nan, 0.0, 1.0)
        sums = totals([contrasts_of(function, sets, fill)], nan, length=sets.rows)
        total, *doubled = self._rounds.ask(sums, [contrast_part(len(sets))])
        return float(total), np.array(doubled, np.float64) / 2.0

    def contrast_deviation(self, sets: int) -> float:
        """Return the standard deviation of the noise of each contrast of `sets` row sets.

        Parameters
        ----------
        sets : int
            The number of sets in one query, at most 2**40.

        Returns
        -------
        float
            The standard deviation.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            If `sets` is not such a number.
        """
        count = checks.whole("sets", sets, 0, 1 << 40)
        return self._rounds.noise(contrast_part(count)).deviation / 2.0

    def _ask(self, terms: list[Term], rows: Any, l2: Any) -> list[Answer]:
        source, relation, nan = self._source, self._neighbors, self._nan
        if rows is not None and of_engine(source):
            refuse_array("rows", rows)
        where = _row_set(rows, source.length, relation)
        is_mask = rows is not None and np.asarray(rows).dtype == np.bool_  # not row numbers
        labels = labels_of(source, rows) if is_mask else ()
        functions: list[Exact]
        if l2 is None:
            functions = [exact(term, source, nan, relation) for term in terms]
        else:
            together = joint(terms, source, relation)
            functions = [vector(side_by_side(together), l2, nan)]
        parts = shared([function.sensitivity(relation) for function in functions], self.loss)
        sums = self._rounds.ask(totals(functions, nan, where, labels=labels), parts)
        answers = [function.answer(integers) for function, integers in split(sums, functions)]
        if l2 is None:
            return answers
        return [float(x[0]) if len(x) == 1 else x for _, x in split(answers[0], together)]


def _row_set(rows: Any, length: int | None, neighbors: str) -> NDArray[np.bool_] | None:
    """Return the public set of rows to sum over as a mask."""
    if rows is None:
        return None
    rule = "a mask with an entry for each row, or row numbers, each once"
    if neighbors != "replace":
        rule = "a mask with an entry for each row (or row numbers with neighbors='replace')"
    array = checks.array("rows", rows, rule)
    if array.dtype == np.bool_ and array.ndim == 1:
        checks.entries("rows", len(array), length, neighbors)
        return array
    if array.ndim != 1 or neighbors != "replace" or (array.size and array.dtype.kind not in "iu"):
        checks.fail_kind("rows", rule, rows)
    if length is None:
        checks.fail_kind("rows", "a mask, because the number of rows is unknown", rows)
    mask = np.zeros(length, np.bool_)
    numbers = array.astype(np.int64)
    if numbers.size and not 0 <= numbers.min() <= numbers.max() < length:
        checks.fail("rows", f"row numbers from 0 to {length - 1}", rows)
    mask[numbers] = True
    if int(np.count_nonzero(mask)) != numbers.size:
        checks.fail("rows", rule, rows)
    return mask
