"""The public functions of private selection."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.types import Neighbors, Number, Size
from .._kernels.rng import BitStream
from ..budget.budget import Budget
from ..budget.release import Prepared, releases
from ..rng import Generator
from .arguments import (
    PERMUTE,
    ReadScores,
    candidates_last,
    log_weights,
    relation_of_scores,
    selection,
)
from .exponential_race import SMALL, Race, Top
from .permute import Flips
from .scores import OneRow
from .scores.stored import Stored, TiltedScores
from .table import Rows, Table

#: The largest number of draws in one call; their indices take eight tebibytes.
MOST = 2**40

#: A score function of the data and the number of a candidate, and arrays of scores.
Function: TypeAlias = Callable[[Any, int], Number]
Scores: TypeAlias = ArrayLike | Sequence[Number] | Sequence[Sequence[Number]]
Indices: TypeAlias = NDArray[np.int64]
#: A function that draws an index from each row of a table.
Draws: TypeAlias = Callable[[BitStream], Indices]


def _shape(size: Size) -> tuple[int, ...]:
    if size is None:
        return ()
    lengths = size if isinstance(size, tuple) else (size,)
    shape = tuple(checks.whole("size", length, 1) for length in lengths)
    if math.prod(shape) > MOST:
        checks.fail("size", "at most 2**40 draws", size)
    return shape


def _formed(drawn: Indices, shape: tuple[int, ...], lead: tuple[int, ...]) -> int | Indices:
    """Return draws of shape (rows, size) in the shape of the answer."""
    return drawn.T.reshape(shape + lead) if shape or lead else int(drawn[0, 0])


def _draw_rows(rows: int, make: Callable[[int], Draws]) -> Draws:
    """Return the function that draws from each row, where ``make(row)`` prepares one row.

    Several rows are read twice: first to refuse bad scores, then to draw. So only one prepared row
    is in memory at a time.
    """
    if rows == 1:
        only = make(0)
        return lambda stream: np.array([only(stream)], np.int64)
    for row in range(rows):
        make(row)
    return lambda stream: np.array([make(row)(stream) for row in range(rows)], np.int64)


def _races(table: Table | OneRow, tilts: Table | None, c: float, draws: int) -> Draws:
    """Return the function that draws from the exponential mechanism for each row of scores."""
    if isinstance(table, Table) and table.count <= SMALL:
        return partial(Rows(table, c, tilts).draw, draws)

    def make(i: int) -> Draws:
        stored = table.stored(i)
        if tilts is None or not isinstance(stored, Stored):
            return partial(Race(stored, c, draws).draw, draws)
        return partial(Race(TiltedScores(stored, tilts.row(i), c), 1.0, draws).draw, draws)

    return _draw_rows(table.rows, make)


def _flips(table: Table | OneRow, c: float, draws: int) -> Draws:
    """Return the function that draws by permute-and-flip for each row of scores."""
    if isinstance(table, Table) and table.count <= SMALL:
        return partial(Rows(table, c).flip, draws)

    def make(i: int) -> Draws:
        flips = Flips(table.stored(i), c)
        return lambda stream: np.array([flips.draw(stream) for _ in range(draws)])

    return _draw_rows(table.rows, make)


def _release(
    name: str,
    scores: Scores | OneRow,
    terms: tuple[Any, ...],
    size: Size,
    axis: int,
    budget: Budget | None,
    rng: Generator | None,
    base: ArrayLike | None = None,
) -> Prepared[int | Indices]:
    """Prepare draws from the mechanism called `name`, for scores in an array or in one row."""
    shape = _shape(size)
    draws = math.prod(shape)
    array = scores if isinstance(scores, OneRow) else candidates_last(scores, axis)
    lead = array.shape[:-1]
    count = array.shape[-1] if base is None else None
    plan = selection(name, *terms, draws * math.prod(lead), 1, count)
    table = array if isinstance(array, OneRow) else Table(array)
    tilts = None if base is None else Table(log_weights(base, array))
    draw = _flips(table, plan.c, draws) if name == PERMUTE else _races(table, tilts, plan.c, draws)
    return Prepared(
        plan, ReadScores(array, draw), budget, rng, lambda drawn: _formed(drawn, shape, lead)
    )


@releases
def exponential(
    scores: Function | Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    base: ArrayLike | None = None,
    size: Size = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    data: Any = None,
    candidates: int | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[int | Indices]:
    """Draw a candidate from the exponential mechanism.

    Candidate j is drawn with a probability proportional to ``exp(c score[j] + base[j])``, where c
    is epsilon / (2 sensitivity), or epsilon / sensitivity for monotone scores. The probabilities
    are exact for the float64 number c, which is rounded down. So no rounding changes a draw, even
    for candidates with a tiny probability.

    Privacy
    -------
    Between neighbors every score may change by at most `sensitivity`. Then a draw is
    epsilon-differentially private (McSherry and Talwar, FOCS 2007). It also has epsilon-bounded
    range (Cesar and Rogers, ALT 2021). A budget in rho is charged the exact zCDP loss of such a
    draw, which is at most epsilon**2 / 8 (`dpfast.privacy.Draws`). With `rho`, epsilon is the
    largest number for which this loss is at most rho (`dpfast.privacy.range_within`).

    The requested loss is the loss of one draw: `size` draws cost `size` times as much, and a table
    of scores costs it once for each row of the table. (If the rows of the table are about disjoint
    people, their losses need not add up: then make one call with a separate budget for each row.)

    Parameters
    ----------
    scores : array_like of real numbers, or callable
        The scores, with the candidates along `axis`: integers, floats or booleans of at most 64
        bits, which are used without rounding. A list, a tuple or an array of objects may also have
        a `Fraction`, and integers of any size together with floats. A score of ``-inf`` excludes a
        candidate; which candidates are excluded must follow from a public rule. Or a function
        ``score(data, candidate)``, best compiled by Numba, whose values are computed in blocks and
        not stored.
    sensitivity : float, Fraction or Decimal
        The largest change of a score between neighbors; greater than 0.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss: one of the two arguments. It is the loss of one draw.
    monotone : bool, default False
        Whether all scores change in the same direction between any two neighbors, as counts do if
        one row is added or removed. Then c is twice as large for the same loss.
    base : array_like, optional
        Public log-weights of the candidates, in a shape that broadcasts to the shape of the scores
        with the candidates last. ``-inf`` excludes a candidate; other log-weights are between
        ``-2**40`` and ``2**40``.
    size : int or tuple of int, optional
        The number of independent draws, or the shape of an array of them.
    axis : int, default -1
        The axis of the candidates. There is one draw for each index along the other axes.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
        `sensitivity` and `monotone` must hold for this relation. If `monotone` is True and the
        budget is for "replace", `neighbors` must be given, because counts are monotone only under
        "add-remove".
    data : object, optional
        The first argument of a score function.
    candidates : int, optional
        The number of candidates of a score function, numbered from 0.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    int or ndarray of int64
        The index of the drawn candidate along `axis`. With `size` or a table of scores, an array of
        indices: its shape is `size`, followed by the shape of the scores without `axis`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, for instance if there are no candidates, if a score is NaN or plus
        infinity, or if all candidates are excluded. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.

    See Also
    --------
    permute_and_flip : Better for a single draw that is paid for in epsilon.
    utility_bound : How far the score of the answer may be below the best score.

    Notes
    -----
    Cost: one read of the scores, which finds the best score of each block of up to 256 candidates.
    Rejection sampling from the blocks then takes at most about 256 expected tries for each draw.
    Memory: about ``n / 10`` bytes for one draw. Rows of up to 4096 candidates, and tables with
    several rows, are read twice, so the scores must not change during the call.

    References
    ----------
    McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007. Cesar and Rogers,
    "Bounding, concentrating, and truncating", ALT 2021.

    Examples
    --------
    >>> import numpy as np, dpfast as dp
    >>> votes = [310, 12, 295, 8]
    >>> winner = dp.selection.exponential(votes, sensitivity=1, epsilon=1.0, monotone=True)
    >>> winner in (0, 2)
    True
    >>> table = np.array([[0, 900], [900, 0], [0, 900]])
    >>> dp.selection.exponential(table, sensitivity=1, epsilon=1.0)
    array([1, 0, 1])
    """
    terms = sensitivity, epsilon, rho, monotone, relation_of_scores(neighbors, monotone, budget)
    if not callable(scores):
        for name, value in (("data", data), ("candidates", candidates)):
            if value is not None:
                checks.fail_kind(name, "left out unless scores is a function", value)
        return _release("exponential", scores, terms, size, axis, budget, rng, base)
    if base is not None:
        checks.fail("base", "left out if scores is a function, which can add it", base)
    if checks.whole("axis", axis, -1) > 0:
        checks.fail("axis", "-1 or 0 if scores is a function", axis)
    from .scores.computed import Computed  # imported here, because Numba takes long to load

    computed = Computed(scores, data, candidates)
    return _release("exponential", computed, terms, size, axis, budget, rng)


@releases
def permute_and_flip(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: Size = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[int | Indices]:
    """Draw a candidate by permute-and-flip.

    The candidates are visited in random order. Each is chosen with probability ``exp(c (score -
    best))``, until one is chosen; c is as for `exponential`. The candidate with the largest ``score
    + Exp(1) / c`` has the same distribution. For the same epsilon the expected error is never
    larger than with `exponential`, and can be half as large.

    Privacy
    -------
    Between neighbors every score may change by at most `sensitivity`. Then a draw is
    epsilon-differentially private (McKenna and Sheldon, NeurIPS 2020). The draw does not have
    bounded range. So a budget in rho is charged like for any pure loss, epsilon tanh(epsilon / 2).
    With `rho`, epsilon is the largest number for which this charge is at most rho. With rho,
    `exponential` is the better choice.

    Parameters
    ----------
    scores : array_like of real numbers
        As for `exponential`.
    sensitivity, monotone, size
        As for `exponential`.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss: one of the two arguments.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : int, default -1
        As for `exponential`.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    int or ndarray of int64
        As for `exponential`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As for `exponential`.

    Notes
    -----
    Cost: one read of the scores. Then for each draw about ``n / 64`` random bytes and reads of some
    thousands of candidates.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip", NeurIPS 2020.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.selection.permute_and_flip([0.0, 3.5, 1e3], sensitivity=1, epsilon=1.0)
    2
    """
    terms = sensitivity, epsilon, rho, monotone, relation_of_scores(neighbors, monotone, budget)
    return _release(PERMUTE, scores, terms, size, axis, budget, rng)


@releases
def top_k(
    scores: Scores,
    k: int,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[Indices]:
    """Draw `k` different candidates, roughly the best first.

    Each of the `k` draws is from the exponential mechanism, among the candidates that are left. The
    answer has the same distribution as the order of the `k` largest scores after independent Gumbel
    noise is added to each score.

    Privacy
    -------
    Between neighbors every score may change by at most `sensitivity`. The requested loss covers the
    whole answer, including its order. Each of the `k` draws has bounded range and a loss of epsilon
    / k. So the answer is epsilon-differentially private (Durfee and Rogers, NeurIPS 2019) and
    (epsilon**2 / (8 k))-zCDP (Cesar and Rogers, ALT 2021). With `rho`, each draw has a loss of rho
    / k. A table of scores costs the requested loss once for each row.

    Parameters
    ----------
    scores : array_like of real numbers
        As for `exponential`.
    k : int
        From 1 to the number of candidates that are not excluded.
    sensitivity, monotone
        As for `exponential`.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : int, default -1
        As for `exponential`.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss of all answers: one of the two arguments.

    Returns
    -------
    ndarray of int64
        Indices along `axis` in the order in which they were drawn.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As for `exponential`, and if `k` is larger than the number of candidates.

    Notes
    -----
    Cost: one read of the scores (two for a table with several rows), and `k` draws as for
    `exponential`.

    References
    ----------
    Durfee and Rogers, "Practical differentially private top-k selection with pay-what-you-get
    composition", NeurIPS 2019.

    Examples
    --------
    >>> import dpfast as dp
    >>> words = {"the": 9100, "of": 4200, "and": 3900, "quixotic": 3, "zebra": 2}
    >>> order = dp.selection.top_k(list(words.values()), 3, sensitivity=1, epsilon=1.0)
    >>> [list(words)[i] for i in order]
    ['the', 'of', 'and']
    """
    array = candidates_last(scores, axis)
    count = array.shape[-1]
    k = checks.whole("k", k, 1)
    if k > count:
        checks.fail("k", f"at most the number of candidates, {count}", k)
    lead = array.shape[:-1]
    terms = sensitivity, epsilon, rho, monotone, relation_of_scores(neighbors, monotone, budget)
    plan = selection(f"top-{k}", *terms, math.prod(lead), k, count)
    table = array if isinstance(array, OneRow) else Table(array)

    def make(i: int) -> Draws:
        race = Top(table.stored(i), plan.c, k)
        left = race.candidates()
        if left < k:
            checks.fail("k", f"at most the number of candidates not excluded, {left}", k)
        return race.first

    def after(drawn: Indices) -> Indices:
        return np.moveaxis(np.reshape(drawn, (*lead, k)), -1, axis)

    return Prepared(plan, ReadScores(array, _draw_rows(table.rows, make)), budget, rng, after)


@releases
def noisy_max(
    scores: Scores,
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    rho: Number | None = None,
    monotone: bool = False,
    size: Size = None,
    axis: int = -1,
    neighbors: Neighbors | None = None,
    noise: Literal["auto", "exponential", "gumbel"] = "auto",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[int | Indices]:
    """Report the noisy maximum: the candidate whose score is the largest after noise is added.

    The name stands for two mechanisms. With exponential noise the answer has the same distribution
    as `permute_and_flip`, and with Gumbel noise the same as `exponential`. So this function adds no
    noise, and calls one of these two functions.

    Privacy
    -------
    Neighbors and loss are as for the function that is called (McSherry and Talwar, FOCS 2007;
    McKenna and Sheldon, NeurIPS 2020). Ding et al. (2021) show that permute-and-flip is the noisy
    maximum with exponential noise.

    Parameters
    ----------
    scores : array_like of real numbers
        As for `exponential`.
    sensitivity, monotone, size
        As for `exponential`.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss: one of the two arguments.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    axis : int, default -1
        As for `exponential`.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.
    noise : {"auto", "exponential", "gumbel"}, default "auto"
        "auto" is exponential noise for a loss in epsilon and Gumbel noise for a loss in rho.

    Returns
    -------
    int or ndarray of int64
        As for `exponential`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As for `exponential`.

    Notes
    -----
    Cost: as for the function that is called.

    References
    ----------
    Ding et al., "The permute-and-flip mechanism is identical to report-noisy-max with exponential
    noise", 2021.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.selection.noisy_max([0, 7, 200], sensitivity=1, epsilon=1.0)
    2
    """
    checks.choice("noise", noise, ("auto", "exponential", "gumbel"))
    gumbel = noise == "gumbel" or (noise == "auto" and rho is not None)
    terms = sensitivity, epsilon, rho, monotone, relation_of_scores(neighbors, monotone, budget)
    name = "exponential" if gumbel else PERMUTE
    return _release(name, scores, terms, size, axis, budget, rng)
