"""Mechanisms and sources of your own, released by one function that spends their loss.

A *source* is a column that can be read any number of times. Every function that takes an array also
takes an object with the attributes of `Source`. A *mechanism* is an object with the attributes of
`Mechanism`: `release` spends its loss and runs it. `integer_noise` returns exact noise for a
mechanism, and `key_rule` decides which private keys a mechanism may show. The functions of
`dpfast.sensitivity` accept a statistic that inherits `KnownSensitivity`. `checks` check arguments,
and `relation_of` returns the neighboring relation of a call. `Files` opens data files once, and
`SharedPasses` reads them once for many releases. A `DatabaseTable` is read where it is, in its
database. All names listed here are public and stable, as the page on stability says. The page on
extending dpfast has whole examples.

You have to prove the loss: `release` charges the `loss` that a mechanism states, and cannot check
whether it is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from . import privacy
from ._core import checks, html
from ._core.error_bars import UNKNOWN, ErrorBar, unknown
from ._core.extras import extra
from ._core.owner_log import hide_error
from ._core.types import Axis, Neighbors, Number, Numbers
from ._kernels.rng import isa, isa_paths
from .budget.budget import Budget
from .budget.history import fact_text
from .budget.ledger.text import exact
from .budget.mechanism import Mechanism, MechanismLike
from .budget.record import data_version
from .budget.release import Prepared, Preparing, prepare, relation_of, releases
from .budget.watched import watched
from .measurement.choice import Moves, NoiseCandidate, SumNoise
from .measurement.features import Basis, Feature
from .measurement.linear import Linear
from .measurement.noise_families import add_noise_family
from .measurement.statistic import measures
from .noise.calibrated_integer import IntegerNoise
from .noise.calibrated_integer import integer_noise as _integer_noise
from .noise.sensitivity import Sensitivity
from .rng import Generator
from .selection.key_coins import PartitionSelection
from .selection.key_selection import choose_rule
from .sensitivity.known import KnownSensitivity
from .tables import Chunk, Source
from .tables.filtered import conditions
from .tables.intake import each_column
from .tables.intake import read as read_view
from .tables.opened import Files
from .tables.shared_pass import SharedPasses
from .tables.sql.opened import DatabaseTable

__all__ = [
    "Basis",
    "Chunk",
    "DatabaseTable",
    "ErrorBar",
    "Feature",
    "Files",
    "IntegerNoise",
    "KnownSensitivity",
    "Linear",
    "Mechanism",
    "MechanismLike",
    "Moves",
    "Neighbors",
    "NoiseCandidate",
    "Number",
    "Numbers",
    "Prepared",
    "Preparing",
    "SharedPasses",
    "Source",
    "SumNoise",
    "add_noise_family",
    "checks",
    "conditions",
    "data_version",
    "exact",
    "extra",
    "fact_text",
    "hide_error",
    "html",
    "instruction_sets",
    "integer_noise",
    "key_rule",
    "measures",
    "prepare",
    "relation_of",
    "release",
    "releases",
    "watched",
]

Value = TypeVar("Value")


@releases
def release(
    data: Any,
    mechanism: MechanismLike[Value],
    *,
    axis: Axis | None = None,
    where: Any = None,
    read: bool = True,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[Value]:
    """Spend the loss of a mechanism, then run its `reduce` and `finish` on data.

    Privacy
    -------
    The answer satisfies ``mechanism.loss`` under ``mechanism.neighbors`` if, for all neighbors, the
    distributions of ``finish(reduce(source), generator)`` are as close as this loss requires. The
    author of the mechanism has to prove this. The loss is spent before a row is read or a bit is
    drawn; it is not refunded if something fails later. Losses of several calls add up (basic
    composition, Dwork, McSherry, Nissim and Smith, TCC 2006).

    Parameters
    ----------
    data : array_like, table, file or source
        As in `dpfast.sum`; a table needs an `axis`.
    mechanism : Mechanism or MechanismLike
        Its ``reduce`` gets one source. With `axis` it gets a list with one source for each column.
    axis : {None, 0, -2}, optional
        With 0 there is an answer for each column, and a row is one record; -2 means the same.
    where : array_like of bool, shape (n,), optional
        A mask of the rows to use; each entry must be a function of its row alone. The number of
        these rows is private. Under "replace", the old row may be in the mask and the new row not:
        the loss has to cover this.
    read : bool, default True
        If True, dpfast reads `data` as rows. If False, ``reduce`` gets `data` unchanged, for
        instance numbers that the caller computed, or an object that another library reads.
    budget : Budget, optional
        The budget that pays, before rows are read or random bits are drawn; by default the budget
        of the ``with`` block.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    The return value of ``mechanism.finish``.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If the data cannot be read, or the mechanism lacks a member; nothing has been spent.
    BudgetError
        If the budget has too little left; nothing has been spent.

    Notes
    -----
    Cost: the time of the mechanism's own functions.

    Examples
    --------
    >>> import operator
    >>> from dataclasses import dataclass
    >>> import numpy as np, dpfast as dp
    >>> @dataclass(frozen=True)
    ... class CountAbove:
    ...     threshold: float
    ...     loss: dp.privacy.Loss
    ...     neighbors: str = "add-remove"
    ...     name: str = "count above"
    ...
    ...     def reduce(self, source):
    ...         above = lambda chunk: int(np.count_nonzero(chunk.values > self.threshold))
    ...         return source.reduce(above, operator.add)
    ...
    ...     def finish(self, summary, generator):
    ...         return dp.extend.integer_noise(self.loss).add([summary], generator)[0]
    >>> budget = dp.Budget(epsilon=2)
    >>> mechanism = CountAbove(299, dp.privacy.Pure(2))
    >>> abs(dp.extend.release(np.arange(1000), mechanism, budget=budget) - 700) < 20
    True
    >>> budget.history[0].what
    'count above'
    """
    whole = adapted(mechanism)
    if checks.flag("read", read):
        data = read_view(data, each_column, relation=whole.neighbors, axis=axis, where=where).kept
    return Prepared(whole, data, budget, rng)


@dataclass(frozen=True, slots=True)
class Adapted(Mechanism[Value]):
    """A mechanism that wraps `inner`, an object with only the required parts of a mechanism."""

    inner: MechanismLike[Value]
    loss: privacy.Loss
    neighbors: Neighbors
    name: str
    ids: str | None

    @property
    def algorithm(self) -> str:
        return type(self.inner).__name__

    def reduce(self, source: Any) -> Any:
        return self.inner.reduce(source)

    def finish(self, summary: Any, generator: Generator) -> Value:
        return self.inner.finish(summary, generator)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar of the wrapped object, or an unknown one if it has none."""
        error = checks.attribute(self.inner, "error")
        return unknown(confidence, UNKNOWN) if error is None else error(rows, confidence)


def adapted(mechanism: MechanismLike[Value]) -> Mechanism[Value]:
    """Return a full mechanism for an object that has the required parts of a mechanism."""
    try:
        loss, relation, name = mechanism.loss, mechanism.neighbors, mechanism.name
        functions = {"reduce": mechanism.reduce, "finish": mechanism.finish}
        ids = getattr(mechanism, "ids", None)
    except Exception:  # a property may raise any error; its text is not ours to show
        rule = "an object with loss, neighbors, name, reduce and finish"
        checks.fail_type("mechanism", rule, mechanism)
    if not isinstance(loss, privacy.Loss):
        checks.fail_type("mechanism.loss", "a dpfast.privacy.Loss", loss)
    if not isinstance(name, str) or not name.isprintable():
        checks.fail("mechanism.name", "a text of one line", name)
    for part, function in functions.items():
        if not callable(function):
            checks.fail_type(f"mechanism.{part}", "a function", function)
    stated = checks.neighbors(relation)
    if isinstance(mechanism, Mechanism):
        return mechanism
    return Adapted(mechanism, loss, stated, name, ids)


def instruction_sets() -> dict[str, Any]:
    """Return the instruction set that the kernels use, and all that they are built for.

    Returns
    -------
    dict
        The name of the instruction set in use (``used``), and the list of all that are ``built``.

    Examples
    --------
    >>> import dpfast as dp
    >>> sets = dp.extend.instruction_sets()
    >>> sets["used"] in sets["built"]
    True
    """
    return {"used": isa(), "built": isa_paths()}


def integer_noise(
    loss: privacy.Loss,
    l1: int = 1,
    *,
    l2: Number | None = None,
    l0: int | None = None,
    linf: int | None = None,
) -> IntegerNoise:
    """Return exact noise for integers whose sensitivity is known.

    The distribution is discrete Laplace, staircase or Gaussian: the one with the least standard
    deviation for the loss. Staircase noise is used only if it saves more than 5 percent.

    Parameters
    ----------
    loss : Loss
        The loss of the whole list of integers.
    l1 : int, default 1
        The L1 sensitivity of the list: the largest sum of absolute differences between neighbors.
    l2 : float, Fraction or Decimal, optional
        The L2 sensitivity of the list; by default the largest that `l1` and `linf` allow.
    l0 : int, optional
        The largest number of integers that differ between neighbors; by default `l1`. Give 1 for a
        single integer.
    linf : int, optional
        The largest difference of a single integer; by default the largest that `l1` and `l2` allow.

    Returns
    -------
    IntegerNoise
        ``add(values, generator)`` returns the values with noise. ``deviation`` is the standard
        deviation of the noise. The noise in a number is larger than ``half_width(failure)`` with a
        probability of at most `failure`. ``loss`` is the actual loss, at most the requested one.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or for a loss so small that its noise cannot be sampled.

    Notes
    -----
    NOT PRIVATE by itself: it spends nothing. Add the noise in a mechanism, and run the mechanism
    with `release`, which spends its loss.

    Examples
    --------
    >>> import dpfast as dp
    >>> noise = dp.extend.integer_noise(dp.privacy.Pure(1), 5, l0=1)
    >>> noise.distribution, round(noise.deviation, 2), noise.half_width(0.05)
    ('laplace', 7.06, 15)
    """
    if not isinstance(loss, privacy.Loss):
        checks.fail_type("loss", "a dpfast.privacy.Loss", loss)
    most = checks.whole("l1", l1)
    many = most if l0 is None else checks.whole("l0", l0, min(1, most))
    largest = most if linf is None else checks.whole("linf", linf, min(1, most))
    if not many <= most:
        checks.fail("l0", "at most l1", l0)
    if not largest <= most <= largest * many:
        checks.fail("linf", "between l1 / l0 and l1", linf)
    squared = Fraction(most * largest)  # an upper bound of the sum of squares (Hoelder)
    if l2 is not None:
        squared = checks.fraction("l2", l2) ** 2
        if not most**2 <= squared * max(many, 1) <= most**2 * max(many, 1):
            checks.fail("l2", "between l1 / sqrt(l0) and l1", l2)
    sensitivity = Sensitivity(many, most, min(most * largest, math.ceil(squared)), linf)
    return _integer_noise(loss, sensitivity)


def key_rule(
    loss: privacy.Loss, max_groups: int = 1, *, neighbors: Neighbors = "add-remove"
) -> PartitionSelection:
    """Return the partition selection rule that shows a private key from the fewest people on.

    Parameters
    ----------
    loss : Approx
        The loss of all keys together.
    max_groups : int, default 1
        The largest number of keys of a person.
    neighbors : {"add-remove", "replace"}, default "add-remove"
        Whether a person is added or removed, or is replaced.

    Returns
    -------
    PartitionSelection
        ``probability(people)`` is the probability that a key of `people` persons is shown.
        ``keep_one(people, generator.stream())`` draws whether it is shown, and ``keep`` draws for
        an array of such numbers.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For a bad argument, or a loss without a delta.

    Notes
    -----
    NOT PRIVATE by itself: `release` spends the `loss` of the rule. A key that nobody has is never
    shown. The proof is by Desfontaines, Voss, Gipson and Mandayam (PoPETs 2022) for one key a
    person, and in ``dpfast/selection/key_selection.py`` for more.

    Examples
    --------
    >>> import dpfast as dp
    >>> rule = dp.extend.key_rule(dp.privacy.Approx(1, 1e-5))
    >>> rule.keep_one(1000, dp.rng.default_generator().stream()), rule.probability(0)
    (True, 0.0)
    """
    if not isinstance(loss, privacy.Loss):
        checks.fail_type("loss", "a dpfast.privacy.Loss", loss)
    most = checks.whole("max_groups", max_groups, 1)
    return choose_rule(loss, most, checks.neighbors(neighbors))
