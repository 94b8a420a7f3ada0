"""The sparse vector technique: which values of a stream exceed a threshold."""

from __future__ import annotations

import hashlib
import math
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import privacy
from .._core import checks
from .._core.types import Neighbors, Number
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..budget.release import Prepared, prepare, releases
from ..errors import DataError
from ..noise.calibrated_integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss
from ..rng import Generator
from ..selection.arguments import relation_of_scores
from .noisy_comparison import MOST_CELLS, allocate
from .session import Draft, Session

#: The most positive answers of a stream.
MOST = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer for one value, which is true if the value was found above its threshold.

    Attributes
    ----------
    above : bool
        Whether the value was found to be above.
    value : int or float, or None
        The value with fresh noise, if it was found above and numbers were paid for.
    remaining : int
        The number of positives left.
    spent : Pure, Approx or ZCDP
        The privacy loss of the whole stream, paid when it was opened.

    Examples
    --------
    >>> import dpfast as dp
    >>> gate = dp.online.SparseVector(threshold=500, sensitivity=1, positives=1, epsilon=1)
    >>> finding = gate.answer(10)
    >>> bool(finding), finding.remaining
    (False, 1)
    """

    above: bool
    value: int | float | None
    remaining: int
    spent: Loss

    def __bool__(self) -> bool:
        return self.above


class Findings(NamedTuple):
    """The answer for many values: which were found above their thresholds.

    Attributes
    ----------
    above : ndarray of bool
        One entry for each value, in order. It is shorter than the values if the last positive was
        among them: the values after it are not examined.
    values : ndarray of int64 or float64, or None
        The positives with fresh noise, if numbers were paid for.

    Examples
    --------
    >>> import dpfast as dp
    >>> gate = dp.online.SparseVector(threshold=500, sensitivity=1, positives=1, epsilon=1)
    >>> gate.answer_many([10, 990, 20]).above
    array([False,  True])
    """

    above: NDArray[np.bool_]
    values: NDArray[np.int64] | NDArray[np.float64] | None


class _Question(NamedTuple):
    """Secret values and public thresholds in cells, of `answer` (`is_single`) or `answer_many`."""

    cells: NDArray[np.int64]
    bars: NDArray[np.int64]
    is_single: bool


class SparseVector(Session[_Question, Finding | Findings]):
    """Tell which values of a stream exceed a threshold; only the positives cost.

    The loss is paid when the stream is opened and does not grow with the number of values below the
    threshold. The stream halts once `positives` values were found above.

    Privacy
    -------
    On neighboring datasets every value differs by at most `sensitivity`. All answers together
    satisfy the requested loss (Dwork, Naor, Reingold, Rothblum and Vadhan, STOC 2009), in the
    version of Lyu, Su and Li (VLDB 2017, algorithm 7) with its shares of the loss. For `rho` and
    `delta` the stream may use fresh threshold noise for each positive instead, whose losses add up
    in zCDP, if that is better.

    Each value and its threshold may depend on earlier answers. A threshold must not depend on the
    data in any other way. The noise is discrete Laplace noise on integers, exactly. Numbers that
    are returned with positives have separate noise (`answers`): the noise of the comparison is
    never released.

    Parameters
    ----------
    positives : int
        The number of values that may be found above.
    threshold : int or float, default 0
        The public threshold, in the units of the values. A call of `answer` may pass another one.
    sensitivity : int, float, Fraction or Decimal, default 1
        The most that one value can change between neighbors; an integer for integer values.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    monotone : bool, default False
        Whether all values change in the same direction between any two neighbors, as counts do when
        one row is added or removed. The comparison then needs about half the noise.
    answers : bool or number, default False
        Whether a noisy number is returned with each positive, for half of the loss; a number is the
        share of the loss instead of a half.
    granularity : float, optional
        For values that are not integers: a public power of two; values are rounded down to its
        multiples. About 1e-4 of the sensitivity works well.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
        `sensitivity` and `monotone` must hold for this relation. For monotone values the relation
        must be given in a budget for "replace".
    name : str, optional
        Keep the stream in the file of the budget under this name. Opened again with the same
        arguments, by any process, the stream continues after its last answer and is not paid for
        again. The file then holds all answers and, until the stream is over, its secret threshold
        noise: protect the file as you protect the data (see ``docs/guide/streams.md``).
    budget : Budget, optional
        The budget that pays for all answers, before rows are read or random bits are drawn.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument. Nothing has been spent.
    BudgetError
        If too little of the budget is left. Nothing has been spent.
    LedgerError
        If the file of the budget cannot be used.

    See Also
    --------
    AboveThreshold : For the first positive only.

    Notes
    -----
    Cost: some nanoseconds a value in `answer_many`, some ten microseconds in `answer`. A stream
    belongs to one process, whose threads may share it. It can be neither pickled nor copied.

    The time of a single answer may reveal a little about the noise, as with every release here.

    References
    ----------
    Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy", VLDB 2017.

    Examples
    --------
    >>> import dpfast as dp
    >>> budget = dp.Budget(epsilon=1)
    >>> alarms = dp.online.SparseVector(
    ...     positives=2, threshold=500, epsilon=1, monotone=True, answers=True, budget=budget)
    >>> visits = [3, 0, 12, 7, 1100, 2, 5, 0, 990, 4, 8]
    >>> above, values = alarms.answer_many(visits)
    >>> [visits[i] for i in above.nonzero()[0]], alarms.remaining
    ([1100, 990], 0)
    >>> budget.remaining["epsilon"]
    Fraction(0, 1)
    """

    @releases
    def __init__(  # type: ignore[misc]
        self,
        *,
        positives: int,
        threshold: Number = 0,
        sensitivity: Number = 1,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        monotone: bool = False,
        answers: bool | Number = False,
        granularity: Number | None = None,
        neighbors: Neighbors | None = None,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        total_loss = privacy.loss(epsilon, delta, rho)
        count = checks.whole("positives", positives, 1, MOST)
        self._unit: float | None = None
        if granularity is not None:
            self._unit = checks.power_of_two("granularity", granularity)
        cells = self._cells(sensitivity)
        self._threshold = self._bar(threshold)
        relation = relation_of_scores(neighbors, monotone, budget)
        scales, spent, of_answer = allocate(total_loss, cells, count, monotone, _share(answers))
        self._noise: IntegerNoise | None = None
        if of_answer is not None:
            # The distribution must not change between versions, so that a recorded stream can
            # continue.
            laplace = "laplace" if isinstance(of_answer, privacy.Pure) else None
            self._noise = integer_noise(of_answer, Sensitivity.of_one(cells), laplace)
        title = f"sparse vector, {count} positive{'s' * (count > 1)}"
        opening = self._opening(
            Allocation(title, spent, relation),
            scales,
            (budget, rng, name),
            loss=total_loss,
            relation=relation,
            unit=self._unit,
            threshold=self._threshold,
            sensitivity=cells,
            scales=scales,
            noise=self._noise,
        )
        return opening.then(self._resume)

    def answer(
        self, value: Number, threshold: Number | None = None, number: int | None = None
    ) -> Finding:
        """Tell whether a value is above its threshold.

        Parameters
        ----------
        value : int, or float with a granularity
            The exact value on the data.
        threshold : int or float, optional
            By default the threshold of the stream.
        number : int, optional
            For a stream with a name: the number of the call, from 0 on. If this call has been
            answered, the recorded answer is returned, whatever the value is now; otherwise it must
            be the next call.

        Returns
        -------
        Finding
            True if the value was found above.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument. No message shows the value.
        DataError
            If the value is NaN, which depends on the data.
        StreamError
            If the stream has halted, or if this is a copy of the stream in a forked process.

        Examples
        --------
        >>> import dpfast as dp
        >>> alarms = dp.online.SparseVector(positives=1, threshold=500, epsilon=1)
        >>> bool(alarms.answer(3)), bool(alarms.answer(1100)), alarms.remaining
        (False, True, 0)
        """
        real = checks.real(value) is not None
        if not real or (self._unit is None and not checks.is_whole(value)):
            checks.fail_kind("value", self._rule("a number"), value)
        bar = self._threshold if threshold is None else self._bar(threshold)
        cell = np.array([self._cell(value)], np.int64)
        finding = self._ask(_Question(cell, np.array([bar], np.int64), True), number)
        assert isinstance(finding, Finding)
        return finding

    def answer_many(
        self, values: ArrayLike, thresholds: ArrayLike | None = None, number: int | None = None
    ) -> Findings:
        """Tell which values are above their thresholds, as successive calls of `answer` would.

        Parameters
        ----------
        values : array_like of shape (n,)
            Integers, or floats with a granularity: the exact values on the data.
        thresholds : array_like of shape (n,), optional
            By default the threshold of the stream, for all values.
        number : int, optional
            As for `answer`.

        Returns
        -------
        Findings
            For the values up to the last positive.

        Raises
        ------
        ArgumentError, ArgumentTypeError, DataError, StreamError
            As for `answer`. Then no value has been compared.

        Examples
        --------
        >>> import dpfast as dp
        >>> alarms = dp.online.SparseVector(positives=1, threshold=500, epsilon=1)
        >>> alarms.answer_many([3, 0, 1100, 2])
        Findings(above=array([False, False,  True]), values=None)
        """
        array = _array("values", values, self._rule("numbers"))
        kinds = "iu" if self._unit is None else "iuf"
        if array.dtype.kind not in kinds and array.size:
            checks.fail_kind("values", self._rule("numbers"), values)
        if array.dtype.kind == "f" and np.isnan(array).any():
            _refuse()
        bars = np.array([self._threshold], np.int64)
        if thresholds is not None:
            levels = _array("thresholds", thresholds, self._rule("numbers"))
            if levels.shape != array.shape:
                checks.fail("thresholds", f"as many as the values, {len(array)}", levels.shape)
            if not np.isfinite(levels).all():
                checks.fail("thresholds", self._rule("finite numbers"), thresholds)
            if self._unit is None and levels.dtype.kind == "f":
                bars = np.array([self._bar(bar) for bar in levels.tolist()], np.int64)
            else:
                bars = self._floors(levels)
        findings = self._ask(_Question(self._floors(array), bars, False), number)
        assert isinstance(findings, Findings)
        return findings

    # --- cells of the grid ----------------------------------------------------------------------

    def _rule(self, kind: str) -> str:
        return kind if self._unit is not None else f"{kind} without fraction (or give granularity)"

    def _cells(self, sensitivity: Number) -> int:
        """Return the sensitivity in cells, rounded up to bound the change of rounded values."""
        checks.positive("sensitivity", sensitivity)
        exact = checks.fraction("sensitivity", sensitivity)
        if self._unit is None:
            if exact.denominator != 1:
                rule = "an integer for values that are integers (or give granularity)"
                checks.fail("sensitivity", rule, sensitivity)
            return int(exact)
        # The number as written, or the float64 by which values change, whichever is larger.
        return math.ceil(max(exact, Fraction(float(sensitivity))) / Fraction(self._unit))

    def _bar(self, threshold: Number) -> int:
        """Return the cell of a public threshold; unlike for a value, 7.0 is accepted for 7."""
        number = checks.number("threshold", threshold, self._rule("a finite number"))
        if self._unit is None and not (number.is_integer() and checks.ratio(threshold) % 1 == 0):
            checks.fail("threshold", self._rule("a number"), threshold)
        return self._cell(threshold)

    def _cell(self, value: Number) -> int:
        """Return the cell of a number: the multiple of the unit at or below the number, clamped."""
        if checks.is_whole(value) and self._unit is None:
            return min(max(int(value), -MOST_CELLS), MOST_CELLS)
        if isinstance(value, Decimal):
            if value.is_nan():
                _refuse()
            value = min(max(value, Decimal("-1e400")), Decimal("1e400"))
            if value and value.adjusted() < -400:  # far below one unit, and slow to divide
                return -1 if value < 0 else 0
        else:
            try:
                number = float(value)
            except OverflowError:
                number = math.inf if value > 0 else -math.inf
            if math.isnan(number):
                _refuse()
            if math.isinf(number):
                return MOST_CELLS if number > 0 else -MOST_CELLS
        cell = math.floor(checks.ratio(value) / Fraction(self._unit or 1))
        return min(max(cell, -MOST_CELLS), MOST_CELLS)

    def _floors(self, array: NDArray[Any]) -> NDArray[np.int64]:
        """Return the cell of each number of an array, as `_cell` does for one number."""
        if array.dtype.kind in "iu":
            if self._unit not in (None, 1.0):
                return np.array([self._cell(x) for x in array.tolist()], np.int64)
            if array.dtype == np.uint64:
                array = np.minimum(array, np.uint64(MOST_CELLS))
            return np.clip(array.astype(np.int64, copy=False), -MOST_CELLS, MOST_CELLS)
        # Division by a power of two is exact, except for overflow to infinity and for underflow.
        # Then the floor is 0 or -1, depending on the sign.
        with np.errstate(over="ignore", under="ignore"):
            wide = array.astype(np.float64, copy=False)
            cells = np.floor(wide / (self._unit or 1.0))
            cells[(cells == 0) & (wide < 0)] = -1.0
        return np.asarray(np.clip(cells, -float(MOST_CELLS), float(MOST_CELLS)).astype(np.int64))

    # --- answers --------------------------------------------------------------------------------

    def _draft(self, question: _Question) -> Draft:
        if not self._comparison.left:
            self._halted("all its positives have been found")
        above = self._comparison.ask(question.cells, question.bars, self._generator)
        noisy: list[int] | None = None
        if self._noise is not None:
            exact = question.cells[: len(above)][above].tolist()
            noisy = self._noise.add(exact, self._generator)
        answer = {
            "judged": len(above),
            "above": np.flatnonzero(above).tolist(),
            "values": noisy,
            "left": self._comparison.left,
            "one": question.is_single,
        }
        return Draft(answer, b"", not self._comparison.left, lambda: None)

    def _formatted(self, answer: dict[str, Any]) -> Finding | Findings:
        above = np.zeros(answer["judged"], np.bool_)
        above[answer["above"]] = True
        noisy = answer["values"]
        values = None if noisy is None else _released(noisy, self._unit)
        if not answer["one"]:
            return Findings(above, values)
        number = None if values is None or not len(values) else values[0].item()
        return Finding(bool(above[0]), number, answer["left"], self._spent)

    def _digest(self, question: _Question) -> str:
        """Return a digest of the thresholds and the number of values, which are public."""
        count = "one" if question.is_single else str(len(question.cells))
        return f"{count} {hashlib.sha256(question.bars.astype('<i8').tobytes()).hexdigest()}"


class AboveThreshold(SparseVector):
    """Tell which value of a stream is the first above a threshold, and halt.

    This is `SparseVector` with one positive.

    Privacy
    -------
    As for `SparseVector` (Dwork, Naor, Reingold, Rothblum and Vadhan, STOC 2009): on neighboring
    datasets every value differs by at most `sensitivity`, and all answers together satisfy the
    requested loss.

    Parameters
    ----------
    threshold, sensitivity, monotone, answers, granularity
        As for `SparseVector`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    name
        As for `SparseVector`.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As for `SparseVector`.

    Notes
    -----
    Cost: as for `SparseVector`.

    Examples
    --------
    >>> import dpfast as dp
    >>> stream = dp.online.AboveThreshold(threshold=1000, epsilon=1)
    >>> for day, cases in enumerate([4, 9, 31, 250, 2600, 9000]):
    ...     if stream.answer(cases):
    ...         break
    >>> day
    4
    """

    @releases
    def __init__(  # type: ignore[misc]
        self,
        *,
        threshold: Number = 0,
        sensitivity: Number = 1,
        epsilon: Number | None = None,
        delta: Number = 0.0,
        rho: Number | None = None,
        monotone: bool = False,
        answers: bool | Number = False,
        granularity: Number | None = None,
        neighbors: Neighbors | None = None,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> Prepared[None]:
        return prepare(
            super().__init__,
            positives=1,
            threshold=threshold,
            sensitivity=sensitivity,
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            monotone=monotone,
            answers=answers,
            granularity=granularity,
            neighbors=neighbors,
            budget=budget,
            rng=rng,
            name=name,
        )


def _share(answers: bool | Number) -> Fraction:
    """Return the share of the loss that pays for noisy values of the positives."""
    if isinstance(answers, bool):
        return Fraction(int(answers), 2)
    share = checks.fraction("answers", answers)
    if not 0 < share < 1:
        checks.fail("answers", "True, False or a share between 0 and 1", answers)
    return share


def _array(name: str, values: ArrayLike, rule: str) -> NDArray[Any]:
    array = checks.array(name, values, rule)
    if array.ndim == 1 and not array.size:
        return np.empty(0)  # an empty list, whatever NumPy converts it to
    if array.ndim != 1 or array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        checks.fail_kind(name, f"one-dimensional: {rule}", values)
    return array


def _refuse() -> NoReturn:
    raise DataError("value must be a number, got NaN")


def _released(noisy: list[int], unit: float | None) -> NDArray[np.int64] | NDArray[np.float64]:
    """Return noisy cells as int64 without a unit, else as the nearest floats."""
    if unit is None:
        limits = np.iinfo(np.int64)
        return np.array([min(max(x, limits.min), limits.max) for x in noisy], np.int64)
    limit = Fraction(sys.float_info.max)
    values = [float(min(max(Fraction(unit) * x, -limit), limit)) for x in noisy]
    return np.array(values, np.float64)
