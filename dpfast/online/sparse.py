"""Which of a stream of values are above a threshold: the sparse vector technique."""

from __future__ import annotations

import hashlib
import math
import sys
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import privacy
from .._core import checks
from ..budget.allocation import Allocation
from ..budget.budget import Budget
from ..errors import DataError
from ..noise.integer import IntegerNoise, integer_noise
from ..noise.sensitivity import Sensitivity
from ..privacy import Loss
from ..rng import Generator
from .gate import FAR, Gate, divided
from .session import Draft, Session, facts, opened, record

#: Positives of one stream.
MOST = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    """What is released of one value. It is true if the value was found above.

    Attributes
    ----------
    above : bool
    value : int or float, or None
        The value with fresh noise, where it was found above and numbers were paid for.
    remaining : int
        How many positives are left.
    spent : Pure, Approx or ZCDP
        What the whole stream costs: paid at its beginning, whatever is asked.
    """

    above: bool
    value: int | float | None
    remaining: int
    spent: Loss

    def __bool__(self) -> bool:
        return self.above


class Findings(NamedTuple):
    """What is released of many values.

    Attributes
    ----------
    above : ndarray of bool
        One for each value, in order. It is shorter than the values if the last positive was among
        them: what comes after it has not been looked at.
    values : ndarray of int64 or float64, or None
        The positives with fresh noise, if numbers were paid for.
    """

    above: NDArray[np.bool_]
    values: NDArray[Any] | None


class _Question(NamedTuple):
    """Values, which are secret, and thresholds, which are public; one of them, or many."""

    cells: NDArray[np.int64]
    bars: NDArray[np.int64]
    one: bool


class SparseVector(Session[_Question, Finding | Findings]):
    """Tell which values of a stream are above a threshold; only the positives cost.

    The loss is paid when the stream is opened and does not grow with the number of values that are
    below. After `positives` of them were found above it halts.

    Privacy
    -------
    Neighbours are datasets on which every value moves by at most `sensitivity`; each value, and
    its threshold, may depend on the answers before it. All answers together satisfy the loss that
    is asked for (Dwork, Naor, Reingold, Rothblum and Vadhan, STOC 2009; the version of Lyu, Su and
    Li, VLDB 2017, algorithm 7, with its shares; for `rho` and `delta` the better of that and of a
    threshold noise for each positive, whose losses add up in zCDP). The noise is discrete Laplace
    noise on integers, exactly, and numbers beside positives have noise of their own (`answers`):
    that of the comparison is never released. Thresholds may depend on earlier answers, but in no
    other way on the data.

    Parameters
    ----------
    positives : int
        How many values may be found above.
    threshold : int or float, default 0
        The public threshold, in the units of the values; each question may bring its own.
    sensitivity : int, float, Fraction or Decimal, default 1
        By how much one value can change between neighbours; an integer for integer values.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The loss of all answers: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    monotone : bool, default False
        Between any two neighbours all values move in the same direction, as counts do when one row
        is added or removed. The comparison then needs about half the noise.
    answers : bool or number, default False
        Whether positives come with a number, for which half of the loss is kept; or that share.
    granularity : float, optional
        For values that are no integers: a public power of two, to whose multiples they are rounded
        down. About 1e-4 of the sensitivity serves well.
    neighbors : {"replace", "add-remove"}, optional
        The relation for which `sensitivity` and `monotone` hold; a budget is told. By default
        "replace", and "add-remove" for monotone values.
    name : str, optional
        Keep the stream in the file of the budget under this name. Opened again with the same
        arguments, by any process, it goes on after its last answer and is not paid again. The file
        then holds all answers and, until the stream is over, the noise of its threshold, which is
        secret: protect it as you protect the data (see ``docs/streams.md``).
    budget : Budget, optional
        Pays for the stream, once, before randomness is touched.
    rng : Generator, optional
        By default the secure one. `InsecureGenerator` is for tests; a budget refuses it.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument; nothing has been spent.
    BudgetError
        When the budget has too little left; nothing has been spent.
    LedgerError
        When the file of the budget cannot be used.

    See Also
    --------
    AboveThreshold : For the first positive.

    Notes
    -----
    Cost: some nanoseconds a value in `answer_many`, some ten microseconds in `answer`. A stream
    belongs to one process, whose threads may share it; it can be neither pickled nor copied.

    Whoever times single answers may learn a little of the noise, as with every release here.

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

    def __init__(
        self,
        *,
        positives: int,
        threshold: Any = 0,
        sensitivity: Any = 1,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        monotone: bool = False,
        answers: Any = False,
        granularity: Any = None,
        neighbors: str | None = None,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> None:
        asked = privacy.loss(epsilon, delta, rho)
        count = checks.whole("positives", positives, 1)
        if count > MOST:
            checks.fail("positives", "at most 2**30", positives)
        self._unit = (
            None if granularity is None else checks.power_of_two("granularity", granularity)
        )
        cells = self._cells(sensitivity)
        self._threshold = self._bar(threshold)
        alike = checks.flag("monotone", monotone)
        share = _share(answers)
        scales, self._spent, each = divided(asked, cells, count, alike, share)
        self._noise: IntegerNoise | None = None
        if each is not None:
            self._noise = integer_noise(each, Sensitivity.of_one(cells))
        usual = "add-remove" if alike else "replace"
        relation = checks.neighbors(usual if neighbors is None else neighbors)
        title = f"sparse vector, {count} positive{'s' * (count > 1)}"
        super().__init__()
        told = facts(
            what=title,
            loss=asked,
            relation=relation,
            unit=self._unit,
            threshold=self._threshold,
            sensitivity=cells,
            scales=scales,
            noise=self._noise,
        )
        kept = record(name, budget, told)
        allocation = Allocation(title, self._spent, relation)
        _, self._generator = opened(allocation, None, budget, rng, kept)
        self._gate = Gate(scales, self._generator)
        self._begin(kept)
        self._resume()

    @property
    def remaining(self) -> int:
        """How many positives are left."""
        return self._gate.left

    @property
    def spent(self) -> Loss:
        """What the stream costs, all answers together."""
        return self._spent

    def answer(self, value: Any, threshold: Any = None, number: int | None = None) -> Finding:
        """Whether a value is above.

        Parameters
        ----------
        value : int, or float with a granularity
            The exact value on the data.
        threshold : int or float, optional
            By default that of the stream.
        number : int, optional
            For a stream with a name: which call this is, from 0 on. If it has been answered, the
            answer of the record comes back, whatever the value is now; else it has to be the next.

        Returns
        -------
        Finding

        Raises
        ------
        ArgumentError, ArgumentTypeError
            For a bad argument. No message shows the value.
        DataError
            The value is NaN, which depends on the data.
        StreamError
            The stream has halted, or this is a forked copy of it.
        """
        real = checks.real(value) is not None
        if not real or (self._unit is None and not checks.is_whole(value)):
            checks.fail_kind("value", self._rule("a number"), value)
        bar = self._threshold if threshold is None else self._bar(threshold)
        cell = np.array([self._cell(value)], np.int64)
        found = self._ask(_Question(cell, np.array([bar], np.int64), True), number)
        assert isinstance(found, Finding)
        return found

    def answer_many(
        self, values: Any, thresholds: Any = None, number: int | None = None
    ) -> Findings:
        """Which values are above: the same as one `answer` for each, in order.

        Parameters
        ----------
        values : array_like of shape (n,)
            Integers, or floats with a granularity: the exact values on the data.
        thresholds : array_like of shape (n,), optional
            By default that of the stream for all.
        number : int, optional
            As for `answer`.

        Returns
        -------
        Findings

        Raises
        ------
        ArgumentError, ArgumentTypeError, DataError, StreamError
            As `answer`; none of the values has been judged then.
        """
        array = _array("values", values, self._rule("numbers"))
        kinds = "iu" if self._unit is None else "iuf"
        if array.dtype.kind not in kinds and array.size:
            checks.fail_kind("values", self._rule("numbers"), values)
        if array.dtype.kind == "f" and np.isnan(array).any():
            _refuse()
        bars = np.array([self._threshold], np.int64)
        if thresholds is not None:
            given = _array("thresholds", thresholds, self._rule("numbers"))
            if given.shape != array.shape:
                checks.fail("thresholds", f"as many as the values, {len(array)}", given.shape)
            if (given.size and given.dtype.kind not in "iuf") or not np.isfinite(given).all():
                checks.fail("thresholds", self._rule("finite numbers"), thresholds)
            if self._unit is None and given.dtype.kind == "f":
                bars = np.array([self._bar(one) for one in given.tolist()], np.int64)
            else:
                bars = self._floors(given)
        found = self._ask(_Question(self._floors(array), bars, False), number)
        assert isinstance(found, Findings)
        return found

    # --- cells of the grid ----------------------------------------------------------------------

    def _rule(self, what: str) -> str:
        return what if self._unit is not None else f"{what} without fraction (or give granularity)"

    def _cells(self, sensitivity: Any) -> int:
        """The sensitivity on the grid. Two numbers d apart are at most d rounded up after that."""
        checks.positive("sensitivity", sensitivity)
        exact = checks.fraction("sensitivity", sensitivity)
        if self._unit is None:
            if exact.denominator != 1:
                rule = "an integer for values that are integers (or give granularity)"
                checks.fail("sensitivity", rule, sensitivity)
            return int(exact)
        # The number that is written or the float that the values move by, whichever is larger.
        return math.ceil(max(exact, Fraction(float(sensitivity))) / Fraction(self._unit))

    def _bar(self, threshold: Any) -> int:
        """A threshold is public, so 7.0 may stand for 7; what a value is, its type says alone."""
        number = checks.number("threshold", threshold, self._rule("a finite number"))
        if self._unit is None and not (number.is_integer() and checks.ratio(threshold) % 1 == 0):
            checks.fail("threshold", self._rule("a number"), threshold)
        return self._cell(threshold)

    def _cell(self, value: Any) -> int:
        if self._unit is None:
            return min(max(int(value), -FAR), FAR)
        if isinstance(value, Decimal):
            if value.is_nan():
                _refuse()
            value = min(max(value, Decimal("-1e400")), Decimal("1e400"))
            if value and value.adjusted() < -400:  # below all units, and it might fill the memory
                return -1 if value < 0 else 0
        else:
            try:
                number = float(value)
            except OverflowError:
                number = math.inf if value > 0 else -math.inf
            if math.isnan(number):
                _refuse()
            if math.isinf(number):
                return FAR if number > 0 else -FAR
        place = math.floor(checks.ratio(value) / Fraction(self._unit))
        return min(max(place, -FAR), FAR)

    def _floors(self, array: NDArray[Any]) -> NDArray[np.int64]:
        if self._unit is None or array.dtype.kind in "iu":
            if self._unit not in (None, 1.0):
                return np.array([self._cell(x) for x in array.tolist()], np.int64)
            if array.dtype == np.uint64:
                array = np.minimum(array, np.uint64(FAR))
            return np.clip(array.astype(np.int64, copy=False), -FAR, FAR)
        # Division by a power of two is exact but for overflow, to infinity, and underflow, where
        # the floor is that of the sign.
        with np.errstate(over="ignore", under="ignore"):
            wide = array.astype(np.float64, copy=False)
            places = np.floor(wide / self._unit)
            places[(places == 0) & (wide < 0)] = -1.0
        whole: NDArray[np.int64] = np.clip(places, -float(FAR), float(FAR)).astype(np.int64)
        return whole

    # --- answers --------------------------------------------------------------------------------

    def _draft(self, question: _Question) -> Draft:
        if not self._gate.left:
            self._halted("all its positives have been found")
        above = self._gate.ask(question.cells, question.bars, self._generator)
        noisy: list[int] | None = None
        if self._noise is not None:
            exact = question.cells[: len(above)][above].tolist()
            noisy = self._noise.add(exact, self._generator)
        answer = {
            "judged": len(above),
            "above": np.flatnonzero(above).tolist(),
            "values": noisy,
            "left": self._gate.left,
            "one": question.one,
        }
        return Draft(answer, b"", not self._gate.left, _nothing)

    def _told(self, answer: dict[str, Any]) -> Finding | Findings:
        above = np.zeros(answer["judged"], np.bool_)
        above[answer["above"]] = True
        noisy, values = answer["values"], None
        if noisy is not None and self._unit is None:
            values = _integers(noisy)
        elif noisy is not None:
            assert self._unit is not None
            values = np.array([_nearest(Fraction(self._unit) * cell) for cell in noisy])
        if not answer["one"]:
            return Findings(above, values)
        number = None if values is None or not len(values) else values[0].item()
        return Finding(bool(above[0]), number, answer["left"], self._spent)

    def _digest(self, question: _Question) -> str:
        """The thresholds, and how many values there are: the values are secret."""
        count = "one" if question.one else str(len(question.cells))
        return f"{count} {hashlib.sha256(question.bars.astype('<i8').tobytes()).hexdigest()}"

    def _replay(self, answer: dict[str, Any], body: bytes) -> None:
        self._gate.left = answer["left"]


def _nothing() -> None:
    """The gate is all that changes."""


class AboveThreshold(SparseVector):
    """Tell which value of a stream is the first above a threshold, and halt.

    This is `SparseVector` with one positive.

    Privacy
    -------
    As of `SparseVector` (Dwork, Naor, Reingold, Rothblum and Vadhan, STOC 2009): neighbours are
    datasets on which every value moves by at most `sensitivity`, and all answers together satisfy
    the loss that is asked for.

    Parameters
    ----------
    threshold, sensitivity, epsilon, delta, rho, monotone, answers, granularity
        As of `SparseVector`.
    neighbors, name, budget, rng
        As of `SparseVector`.

    Raises
    ------
    ArgumentError, ArgumentTypeError, BudgetError
        As `SparseVector`.

    Notes
    -----
    Cost: as of `SparseVector`.

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

    def __init__(
        self,
        *,
        threshold: Any = 0,
        sensitivity: Any = 1,
        epsilon: Any = None,
        delta: Any = 0.0,
        rho: Any = None,
        monotone: bool = False,
        answers: Any = False,
        granularity: Any = None,
        neighbors: str | None = None,
        name: str | None = None,
        budget: Budget | None = None,
        rng: Generator | None = None,
    ) -> None:
        super().__init__(
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


def _share(answers: Any) -> Fraction:
    if isinstance(answers, bool):
        return Fraction(int(answers), 2)
    share = checks.fraction("answers", answers)
    if not 0 < share < 1:
        checks.fail("answers", "True, False or a share between 0 and 1", answers)
    return share


def _array(name: str, values: Any, rule: str) -> NDArray[Any]:
    array = checks.array(name, values, rule)
    plain = array.dtype.kind in "iuf" and array.dtype.itemsize <= 8
    if array.ndim != 1 or not (plain or not array.size):
        checks.fail_kind(name, f"one-dimensional: {rule}", values)
    return array


def _refuse() -> None:
    raise DataError("value must be a number, not NaN; nothing was answered, and the spend stands")


def _nearest(noisy: Fraction) -> float:
    """The nearest finite float: noise may lead beyond."""
    limit = Fraction(sys.float_info.max)
    return float(min(max(noisy, -limit), limit))


def _integers(noisy: list[int]) -> NDArray[np.int64]:
    limits = np.iinfo(np.int64)
    return np.array([min(max(x, limits.min), limits.max) for x in noisy], np.int64)
