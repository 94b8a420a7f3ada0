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
    """The answer for one value. Its truth value is `above`.

    Attributes
    ----------
    above : bool
        Whether the noisy comparison found the value above its threshold.
    value : int or float, or None
        The value with fresh noise, if it was found above and the stream has `answers`; else None.
    remaining : int
        How many positives the stream may still find.
    spent : Pure, Approx or ZCDP
        The privacy loss of the whole stream. It was paid when the stream was opened.

    Examples
    --------
    A value far below the threshold is no positive, so one positive is left:

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
    """The answer for many values: which of them were found above their thresholds.

    Attributes
    ----------
    above : ndarray of bool
        For each value, in order, whether it was found above. If the last positive of the stream is
        among the values, the array ends there: the values after it are not examined.
    values : ndarray of int64 or float64, or None
        The values that were found above, with fresh noise, if the stream has `answers`; else None.

    Examples
    --------
    The second of three values is above the threshold, so the third is not examined:

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
    """Tell which values of a stream are above a threshold, for one loss.

    A value that is found above the threshold is a positive. The loss pays for a fixed number of
    positives, `positives`, and for any number of values below the threshold. It is paid when the
    stream is opened. The stream halts after the last positive.

    Privacy
    -------
    On neighboring datasets every value differs by at most `sensitivity`. All answers together
    satisfy the requested loss (Dwork, Naor, Reingold, Rothblum and Vadhan, STOC 2009). The
    algorithm, and its shares of the loss, are algorithm 7 of Lyu, Su and Li (VLDB 2017). For `rho`
    and `delta` there is a second form, which draws fresh threshold noise after each positive and
    adds up the losses in zCDP. The form with less noise is used.

    Each value and its threshold may depend on earlier answers. A threshold must not depend on the
    data in any other way. The noise is exact discrete Laplace noise on integers. The noise of the
    comparison is never released: a number that is returned with a positive (`answers`) has separate
    noise.

    Parameters
    ----------
    positives : int
        How many values may be found above the threshold. Then the stream halts.
    threshold : int or float, default 0
        The public threshold, in the units of the values. A call of `answer` may pass another
        threshold.
    sensitivity : int, float, Fraction or Decimal, default 1
        The most that one value can change between neighbors. An integer, if values are integers.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    monotone : bool, default False
        True if, between any two neighbors, all values change in the same direction. Counts do so if
        one row is added or removed. The comparison then needs about half the noise.
    answers : bool or number, default False
        True to return with each positive its value with noise, for half of the loss. A number
        between 0 and 1 is the share of the loss for this purpose, instead of a half.
    granularity : float, optional
        For values that are not integers: a public power of two. Values are rounded down to its
        multiples. About 1e-4 of the sensitivity works well.
    neighbors : {"add-remove", "replace"}, optional
        The neighboring relation: by default the relation of the budget, else "add-remove".
        `sensitivity` and `monotone` must hold for this relation. With `monotone` and a budget for
        "replace", the relation must be given here.
    name : str, optional
        Keep the stream in the file of the budget under this name. Any process may open it again
        with the same arguments: it continues after its last answer and is not paid for again. The
        file then holds all answers. Until the stream is over it also holds the secret threshold
        noise, so protect the file as you protect the data (see ``docs/guide/streams.md``).
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
    AboveThreshold : A stream that halts after its first positive.

    Notes
    -----
    Cost: some nanoseconds for each value in `answer_many`, some ten microseconds in `answer`. A
    stream belongs to one process, whose threads may share it. It cannot be pickled or copied.

    The time that an answer takes may reveal a little about the noise, as in every release of
    dpfast.

    References
    ----------
    Lyu, Su and Li, "Understanding the sparse vector technique for differential privacy", VLDB 2017.

    Examples
    --------
    Find the first two days with more than 500 visits, and their noisy numbers of visits:

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
            # Versions must not change the distribution. Otherwise a recorded stream could not
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
            The exact value, computed from the data.
        threshold : int or float, optional
            The public threshold of this value. By default the threshold of the stream.
        number : int, optional
            For a stream with a name: the number of this call in the stream, from 0 on. If the call
            with this number has been answered, its recorded answer is returned, whatever the value
            is now. Otherwise it must be the number of the next call.

        Returns
        -------
        Finding
            True if the value was found above.

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument. No message shows the value.
        DataError
            If the value is NaN. This error depends on the data.
        StreamError
            If the stream has halted, or if this is a copy of the stream in a forked process.

        Examples
        --------
        The first value is below the threshold, and the second above it:

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
        """Tell which values are above their thresholds, like successive calls of `answer`.

        Parameters
        ----------
        values : array_like of shape (n,)
            Integers, or floats with a granularity: the exact values, computed from the data.
        thresholds : array_like of shape (n,), optional
            The public threshold of each value. By default the threshold of the stream, for all
            values.
        number : int, optional
            As in `answer`.

        Returns
        -------
        Findings
            The answers for the values up to the last positive of the stream.

        Raises
        ------
        ArgumentError, ArgumentTypeError, DataError, StreamError
            As in `answer`. If an error is raised, no value has been compared.

        Examples
        --------
        The third of four values is above the threshold:

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
                rule = f"an array of shape ({len(array)},), one for each value"
                checks.fail("thresholds", rule, levels.shape)
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
        return kind if self._unit is not None else f"{kind} without fraction (or pass granularity)"

    def _cells(self, sensitivity: Number) -> int:
        """Return the sensitivity in cells, rounded up because values are rounded."""
        checks.positive("sensitivity", sensitivity)
        exact = checks.fraction("sensitivity", sensitivity)
        if self._unit is None:
            if exact.denominator != 1:
                rule = "an integer (or pass granularity, for values that are floats)"
                checks.fail("sensitivity", rule, sensitivity)
            return int(exact)
        # The larger of the exact number and its float64, because values change by the latter.
        return math.ceil(max(exact, Fraction(float(sensitivity))) / Fraction(self._unit))

    def _bar(self, threshold: Number) -> int:
        """Return the cell of a public threshold, which may be a float like 7.0, unlike a value."""
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

    This is `SparseVector` with one positive. The loss does not grow with the number of values.

    Privacy
    -------
    As for `SparseVector` (Dwork, Naor, Reingold, Rothblum and Vadhan, STOC 2009). On neighboring
    datasets every value differs by at most `sensitivity`. All answers together satisfy the
    requested loss.

    Parameters
    ----------
    threshold, sensitivity, monotone, answers, granularity
        As in `SparseVector`.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    name
        As in `SparseVector`.
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
    Find the first day with more than 1000 cases:

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
        checks.fail("answers", "True, False or a number between 0 and 1", answers)
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
