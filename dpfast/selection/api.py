"""The public functions of private selection."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from ..budget.budget import Budget
from ..budget.release import release
from ..rng import Generator
from . import race as _race
from .arguments import Prepared, candidates_last, log_weights, selection
from .permute import Flips
from .scores.based import Based
from .scores.stored import Stored
from .table import Rows, Table

#: Draws of one call: their indices fill eight tebibytes.
MOST = 2**40


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    lengths = size if isinstance(size, tuple) else (size,)
    shape = tuple(checks.whole("size", length, 1) for length in lengths)
    if math.prod(shape) > MOST:
        checks.fail("size", "at most 2**40 draws", size)
    return shape


def _formed(drawn: NDArray[np.int64], shape: tuple[int, ...], lead: tuple[int, ...]) -> Any:
    """What is returned of draws that came as (rows, size)."""
    if not shape and not lead:
        return int(drawn[0, 0])
    return drawn.T.reshape(shape + lead)


def _each(rows: int, make: Callable[[int], Prepared]) -> Prepared:
    """Rows one after the other, where ``make(row)`` prepares a row to be drawn from.

    Several are passed over once to refuse what is bad and once more to draw: only one is held.
    """
    if rows == 1:
        only = make(0)
        return lambda stream: np.array([only(stream)], np.int64)
    for row in range(rows):
        make(row)
    return lambda stream: np.array([make(row)(stream) for row in range(rows)], np.int64)


def exponential(
    scores: Any,
    *,
    sensitivity: Any,
    epsilon: Any = None,
    rho: Any = None,
    monotone: bool = False,
    base: Any = None,
    size: Any = None,
    axis: int = -1,
    neighbors: str | None = None,
    data: Any = None,
    candidates: Any = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Any:
    """Draw a candidate from the exponential mechanism.

    Candidate j is drawn with probability in proportion to ``exp(c score[j] + base[j])``, where `c`
    is epsilon / (2 sensitivity), or epsilon / sensitivity for monotone scores. No far candidate
    loses its probability, however small, and none is drawn by rounding: the law is exactly that of
    the float64 number `c` (rounded down).

    Privacy
    -------
    Neighbours are datasets on which every score moves by at most `sensitivity`. A draw is
    epsilon-differentially private (McSherry and Talwar, FOCS 2007). It also has epsilon-bounded
    range (Cesar and Rogers, ALT 2021), of which the exact price in zCDP, at most epsilon**2 / 8, is
    what a budget in rho is charged (`dpfast.privacy.Draws`); `rho` asks for the epsilon of which
    that is the price (`dpfast.privacy.range_within`). Each draw is charged: `size` draws
    cost `size` times the loss that is asked for, and a draw for each of some rows as many times as
    there are rows. (Rows about disjoint people need not be added up: give such rows a call and a
    budget of their own.)

    Parameters
    ----------
    scores : array_like of real numbers, or callable
        Scores along `axis`: integers, floats or booleans of at most 64 bits, in any layout, with
        nothing lost in conversion. What has no dtype of its own (a list, a tuple, an array of
        objects) may also hold a `Fraction` and integers of any size beside floats: each counts as
        the number that it is. ``-inf`` excludes a candidate, which must follow from a public rule.
        Or a function ``score(data, candidate)``, best compiled by Numba, whose values are
        looked at block by block and never stored.
    sensitivity : float, Fraction or Decimal
        By how much one score can change between neighbours; greater than 0.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss of one draw: one of the two.
    monotone : bool, default False
        Between any two neighbours all scores move in the same direction, as counts do when one row
        is added or removed. The draw is then twice as sharp for the same loss.
    base : array_like, optional
        Public log-weights of the candidates: a shape that broadcasts to that of the scores with
        the candidates last. ``-inf`` excludes; otherwise at most ``2**40`` in size.
    size : int or tuple of int, optional
        So many independent draws.
    axis : int, default -1
        Where the candidates are; there is one draw for each place along the other axes.
    neighbors : {"replace", "add-remove"}, optional
        The relation for which `sensitivity` and `monotone` hold; a budget is told. By default
        "replace", and "add-remove" for monotone scores: counts are monotone under it alone.
    data : object, optional
        First argument of a score function.
    candidates : int, optional
        Number of candidates of a score function.
    budget : Budget, optional
        Pays for the call before randomness is touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Returns
    -------
    int or ndarray of int64
        The index along `axis`: a single one, or an array of shape ``size`` followed by the shape of
        the scores without `axis`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument: no candidates, a score that is NaN or plus infinity, all candidates of a
        row excluded. Nothing has been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.

    See Also
    --------
    permute_and_flip : Better for a single draw that is paid in epsilon.
    utility_bound : How far from the best the answer may be.

    Notes
    -----
    Cost: one read of the scores, which finds the best of each block of up to 256 candidates; then
    a few draws from those by rejection (at most about 256 tries are expected for a draw). Memory
    about ``n / 10`` bytes for one draw. Rows of up to 4096 candidates are read twice, and so are
    several longer ones: scores must not change during the call.

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
    shape = _shape(size)
    draws = math.prod(shape)
    if callable(scores):
        if base is not None:
            checks.fail("base", "left out where scores is a function: add it there", base)
        if checks.whole("axis", axis, -1) > 0:
            checks.fail("axis", "-1 or 0 where scores is a function", axis)
        plan = selection(
            "exponential", True, sensitivity, epsilon, rho, monotone, neighbors, 1, draws
        )
        return release(
            scores, plan, budget=budget, rng=rng, prepare=_computed(data, candidates, plan.c, shape)
        )
    for name, value in (("data", data), ("candidates", candidates)):
        if value is not None:
            checks.fail_kind(name, "left out unless scores is a function", value)
    moved = candidates_last(scores, axis)
    lead = moved.shape[:-1]
    rows = math.prod(lead)
    plan = selection(
        "exponential", True, sensitivity, epsilon, rho, monotone, neighbors, 1, draws * rows
    )
    weights = None if base is None else log_weights(base, moved)

    def prepare(moved: NDArray[Any]) -> Prepared:
        table = Table(moved if lead else moved[None])
        tilts = None if weights is None else Table(weights if lead else weights[None])
        if table.count <= _race.SMALL:
            together = Rows(table, plan.c, tilts)
            return lambda stream: _formed(together.draw(draws, stream), shape, lead)

        def make(i: int) -> Prepared:
            stored = Stored(table.row(i))
            if tilts is None:
                race = _race.Race(stored, plan.c, draws)
            else:
                race = _race.Race(Based(stored, tilts.row(i), plan.c), 1.0, draws)
            return lambda stream: race.draw(draws, stream)

        drawn = _each(rows, make)
        return lambda stream: _formed(drawn(stream), shape, lead)

    return release(moved, plan, budget=budget, rng=rng, prepare=prepare)


def _computed(
    data: Any, candidates: Any, c: float, shape: tuple[int, ...]
) -> Callable[[Any], Prepared]:
    """How a score function is prepared."""
    count = checks.whole("candidates", candidates, 1)

    def prepare(function: Any) -> Prepared:
        from .scores.computed import Computed  # Numba takes long to load

        draws = math.prod(shape)
        race = _race.Race(Computed(function, data, count), c, draws)
        return lambda stream: _formed(race.draw(draws, stream)[None], shape, ())

    return prepare


def permute_and_flip(
    scores: Any,
    *,
    sensitivity: Any,
    epsilon: Any = None,
    rho: Any = None,
    monotone: bool = False,
    size: Any = None,
    axis: int = -1,
    neighbors: str | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Any:
    """Draw a candidate by permute-and-flip.

    Candidates are visited in a random order, and each is taken with probability
    ``exp(c (score - best))`` until one is. That is the law of the largest of ``score + Exp(1) / c``
    too. For the same epsilon its error is nowhere larger than that of `exponential` and up to half
    of it.

    Privacy
    -------
    Neighbours are datasets on which every score moves by at most `sensitivity`. A draw is
    epsilon-differentially private (McKenna and Sheldon, NeurIPS 2020). It does not have bounded
    range, so in a budget in rho it is charged the conversion that holds for everything pure,
    epsilon tanh(epsilon / 2), and `rho` asks for the epsilon of which that is the price. There
    `exponential` is the better choice.

    Parameters
    ----------
    scores : array_like of real numbers
        As in `exponential`.
    sensitivity, epsilon, rho, monotone, size, axis, neighbors, budget, rng
        As in `exponential`.

    Returns
    -------
    int or ndarray of int64
        As of `exponential`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `exponential`.

    Notes
    -----
    Cost: one read of the scores; then for each draw about ``n / 64`` random bytes and a look at
    some thousands of candidates.

    References
    ----------
    McKenna and Sheldon, "Permute-and-flip", NeurIPS 2020.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.selection.permute_and_flip([0.0, 3.5, 1e3], sensitivity=1, epsilon=1.0)
    2
    """
    shape = _shape(size)
    draws = math.prod(shape)
    moved = candidates_last(scores, axis)
    lead = moved.shape[:-1]
    rows = math.prod(lead)
    plan = selection(
        "permute-and-flip", False, sensitivity, epsilon, rho, monotone, neighbors, 1, draws * rows
    )

    def prepare(moved: NDArray[Any]) -> Prepared:
        table = Table(moved if lead else moved[None])
        if table.count <= _race.SMALL:
            together = Rows(table, plan.c)
            return lambda stream: _formed(together.flip(draws, stream), shape, lead)

        def make(i: int) -> Prepared:
            flips = Flips(Stored(table.row(i)), plan.c)
            return lambda stream: [flips.draw(stream) for _ in range(draws)]

        drawn = _each(rows, make)
        return lambda stream: _formed(drawn(stream), shape, lead)

    return release(moved, plan, budget=budget, rng=rng, prepare=prepare)


def top_k(
    scores: Any,
    k: int,
    *,
    sensitivity: Any,
    epsilon: Any = None,
    rho: Any = None,
    monotone: bool = False,
    axis: int = -1,
    neighbors: str | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> NDArray[np.int64]:
    """Draw `k` different candidates, the best of them about first.

    The law is that of `k` draws from the exponential mechanism, each among the candidates that are
    left, or of the `k` largest of the scores with one Gumbel variable added to each.

    Privacy
    -------
    Neighbours are datasets on which every score moves by at most `sensitivity`. The loss that is
    asked for is that of the whole answer, order included: each of the `k` draws has epsilon / k
    and bounded range, so the answer is epsilon-differentially private (Durfee and Rogers, NeurIPS
    2019) and epsilon**2 / (8 k) zCDP (Cesar and Rogers, ALT 2021); `rho` gives each draw rho / k.
    A table of rows is charged that for each row.

    Parameters
    ----------
    scores : array_like of real numbers
        As in `exponential`.
    k : int
        From 1 to the number of candidates that are not excluded.
    sensitivity, monotone, axis, neighbors, budget, rng
        As in `exponential`.
    epsilon, rho : float, Fraction or Decimal, optional
        The loss of all `k` draws together: one of the two.

    Returns
    -------
    ndarray of int64
        Indices in the order in which they were drawn, along `axis`, the best about first.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `exponential`, and for a `k` above the number of candidates.

    Notes
    -----
    Cost: one read of the scores, and some draws by rejection (`exponential`) from those that are
    left. Rows of a table are read twice.

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
    moved = candidates_last(scores, axis)
    count = moved.shape[-1]
    k = checks.whole("k", k, 1)
    if k > count:
        checks.fail("k", f"at most the number of candidates, {count}", k)
    lead = moved.shape[:-1]
    rows = math.prod(lead)
    plan = selection(f"top-{k}", True, sensitivity, epsilon, rho, monotone, neighbors, k, rows)

    def prepare(moved: NDArray[Any]) -> Prepared:
        table = Table(moved if lead else moved[None])

        def make(i: int) -> Prepared:
            race = _race.Top(Stored(table.row(i)), plan.c, k)
            left = race.candidates()
            if left < k:
                checks.fail("k", f"at most the number of candidates not excluded, {left}", k)
            return race.first

        drawn = _each(rows, make)
        return lambda stream: np.moveaxis(drawn(stream).reshape((*lead, k)), -1, axis)

    found: NDArray[np.int64] = release(moved, plan, budget=budget, rng=rng, prepare=prepare)
    return found


def noisy_max(
    scores: Any,
    *,
    sensitivity: Any,
    epsilon: Any = None,
    rho: Any = None,
    monotone: bool = False,
    size: Any = None,
    axis: int = -1,
    neighbors: str | None = None,
    noise: str = "auto",
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Any:
    """Report the noisy maximum: the candidate whose score is the largest once noise is added.

    The name by which other libraries know these mechanisms. No noise is added here: with
    exponential noise the law is that of `permute_and_flip`, with Gumbel noise that of
    `exponential`, and that function is called.

    Privacy
    -------
    Neighbours and loss as of that function (McSherry and Talwar, FOCS 2007; McKenna and Sheldon,
    NeurIPS 2020); that
    exponential noise gives the law of permute-and-flip is from Ding et al., 2021.

    Parameters
    ----------
    scores : array_like of real numbers
        As in `exponential`.
    sensitivity, epsilon, rho, monotone, size, axis, neighbors, budget, rng
        As in `exponential`.
    noise : {"auto", "exponential", "gumbel"}, default "auto"
        "auto" is exponential for a loss in epsilon and Gumbel for one in rho.

    Returns
    -------
    int or ndarray of int64
        As of `exponential`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `exponential`.

    Notes
    -----
    Cost: as of the function that is called.

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
    draw = exponential if gumbel else permute_and_flip
    return draw(
        scores,
        sensitivity=sensitivity,
        epsilon=epsilon,
        rho=rho,
        monotone=monotone,
        size=size,
        axis=axis,
        neighbors=neighbors,
        budget=budget,
        rng=rng,
    )
