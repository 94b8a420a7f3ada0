"""Randomized response (local model): each record is randomized alone, so no curator is trusted.

Elsewhere in dpfast noise is added to an answer about all records. In the local model it is added to
each record. The result is a private answer for each record, which may be stored, shown and shared.
The loss is the record's loss. The price is accuracy: a fraction of n records is known to about ``1
/ (epsilon sqrt(n))``, not ``1 / (epsilon n)``. If one party may see the data, count them with noise
instead.

The distribution of every answer is exact. A coin decides whether an answer is true: it compares its
irrational probability with as many random bits as the comparison needs
(``csrc/statistics/response.c``; in one of 2**72 flips with mpmath).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import (
    Any,
    ClassVar,
    Generic,
    Literal,
    Required,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    overload,
)

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Floats, Number
from .._kernels import statistics as _native
from .._kernels.noise import Script
from .._kernels.rng import BitStream
from ..budget.budget import Budget
from ..budget.mechanism import Mechanism
from ..budget.release import Prepared, releases
from ..errors import ArgumentError
from ..noise.distributions.exact import Tail
from ..privacy import Draws, Loss, Pure
from ..privacy.enclosure import Interval, exp
from ..rng import Generator
from ..tables.untyped import truths
from .categories import Categories, Label, Labels, as_array, each_row, rows_of

__all__ = [
    "Estimate",
    "binary",
    "estimate_binary",
    "estimate_kary",
    "estimate_unary",
    "kary",
    "unary",
]

#: The type of an estimate: a float, or an array for several.
Value = TypeVar("Value", float, Floats)
#: The types of one value, in contrast to an array of values.
Scalar: TypeAlias = int | float | np.bool_ | np.number
Of: TypeAlias = Literal["data", "population"]
Stream: TypeAlias = BitStream | Script


class _Paid(TypedDict, total=False):
    budget: Budget | None
    rng: Generator | None


#: The number of bytes that are processed at a time: few enough to stay in the cache.
PART = 1 << 18


class Coin:
    """A coin that shows heads with probability ``others / (exp(epsilon) + others)``, exactly.

    `first` is the first 8 bits of that probability, and `second` the next 64 bits.
    """

    def __init__(self, epsilon: Fraction, others: int) -> None:
        self.epsilon = epsilon
        self.others = others
        self.first, self.second = divmod(leading(epsilon, others), 1 << 64)

    def probability(self, mp: Any) -> Any:
        # An absolute error of epsilon is a relative error of its exponential.
        extra = math.floor(self.epsilon).bit_length()
        with mp.extraprec(extra):
            grown = mp.exp(mp.mpf(self.epsilon.numerator) / self.epsilon.denominator)
        return self.others / (grown + self.others)

    def decide(self, stream: Stream) -> bool:
        """Decide a coin whose first 72 bits equal the first 72 bits of the probability of heads."""
        tail = Tail(self.first << 64 | self.second, stream.word)
        tail.bits = 72
        return tail.below(self.probability)

    def flip(self, bits: NDArray[np.uint8], stream: Stream) -> None:
        """Invert each of the contiguous `bits` (0 or 1) whose independent coin shows heads."""
        if _native.flip(self.first, self.second, bits, stream):
            self._settle(bits, stream)

    def answer(self, values: NDArray[Any], out: NDArray[Any], stream: Stream) -> None:
        """Write to `out` whether `values` are not 0, each bit inverted if its coin shows heads."""
        if _native.binary(self.first, self.second, values, out, stream):
            self._settle(out, stream)

    def _settle(self, bits: NDArray[Any], stream: Stream) -> None:
        for i in np.flatnonzero(bits & _native.OPEN).tolist():
            bits[i] ^= _native.OPEN | self.decide(stream)


coin = lru_cache(maxsize=256)(Coin)


def leading(epsilon: Fraction, others: int) -> int:
    """Return the first 72 bits of ``others / (exp(epsilon) + others)``.

    The number is irrational, so enough digits decide every bit.
    """
    near = Interval.of(others << 72) / (exp(Interval.of(epsilon)) + others)
    low, high = (math.floor(min(end, Decimal(1 << 72))) for end in (near.low, near.high))
    return low if low == high else leading_slowly(epsilon, others)


def leading_slowly(epsilon: Fraction, others: int) -> int:
    from mpmath import MPContext

    mp = MPContext()
    mp.prec = 256
    while True:
        x = mp.mpf(epsilon.numerator) / epsilon.denominator
        near = mp.ldexp(others / (mp.exp(x) + others), 72)
        slack = mp.ldexp(near * (1 + x), 8 - mp.prec)
        low, high = int(mp.floor(near - slack)), int(mp.floor(near + slack))
        if low == high:
            return low
        mp.prec *= 2


@dataclass(frozen=True, slots=True)
class Responses(Mechanism[Any]):
    """The mechanism of randomized response: a private answer for each row, under "replace"."""

    loss: Loss
    name: str
    answer: Callable[[Any, Stream], Any]
    neighbors: ClassVar[str] = "replace"
    _no_bar: ClassVar[str] = "each answer is about one row; estimates of all have intervals"

    def reduce(self, source: Any) -> Any:
        return source

    def finish(self, summary: Any, generator: Generator) -> Any:
        return self.answer(summary, generator.stream())


def _respond(
    data: Any,
    epsilon: Fraction,
    name: str,
    answer: Callable[[Any, Stream], NDArray[Any]],
    budget: Budget | None,
    rng: Generator | None,
    categories: int = 2,
) -> Prepared[Any]:
    """Return the prepared release of an answer for each entry of the data, with the loss of a row.

    A row is one index of the first axis, and its loss covers all answers at this index. The answer
    for a scalar is a NumPy scalar.
    """
    answers_per_row = max(1, math.prod(data.shape[1:])) if isinstance(data, np.ndarray) else 1
    loss = Pure(epsilon)
    if categories > 2:
        loss = Draws(answers_per_row * epsilon, answers_per_row, categories=categories)
    elif answers_per_row > 1:
        loss = Draws(answers_per_row * epsilon, answers_per_row)
    mechanism = Responses(loss, name, answer)

    def after(answers: NDArray[Any]) -> Any:
        return answers[()] if answers.ndim == 0 else answers

    return Prepared(mechanism, data, budget, rng, after)


def _unsigned(array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    """Return integers as a contiguous flat array of the unsigned dtype as wide as `kind`.

    A negative integer becomes a large integer, which is not a category.
    """
    fitting = np.ascontiguousarray(array, kind.newbyteorder("=")).reshape(-1)
    return fitting.view(f"u{kind.itemsize}")


def _like(out: NDArray[Any], kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return flat unsigned integers as an array of the dtype `kind` and of a shape."""
    return out.view(kind.newbyteorder("=")).astype(kind, copy=False).reshape(shape)


@overload
def binary(bits: Scalar, *, epsilon: Number, **others: Unpack[_Paid]) -> np.generic: ...
@overload
def binary(bits: Any, *, epsilon: Number, **others: Unpack[_Paid]) -> NDArray[Any]: ...
@releases
def binary(
    bits: Any, *, epsilon: Number, budget: Budget | None = None, rng: Generator | None = None
) -> Prepared[NDArray[Any] | np.generic]:
    """Randomize a yes-or-no answer for each record: the truth or, at random, its opposite.

    The truth is returned with probability ``exp(epsilon) / (1 + exp(epsilon))``, exactly, and
    independently for each entry.

    Privacy
    -------
    This is the local model: each answer is epsilon-differentially private about its own bit, for
    anyone with any knowledge of the other bits (Warner 1965; Dwork, McSherry, Nissim and Smith, TCC
    2006). Neighbors are datasets in which one row is replaced; the number of rows is public. For an
    array of one axis the loss of a row is epsilon. With more axes a row has d entries, each with
    its own answer, and the loss of the row is d epsilon. Losses of repeated calls add up.

    Parameters
    ----------
    bits : array_like of bool or integers
        An array of any shape, in which 0 counts as no and every other value as yes. Each entry of a
        list is one row: a number other than 0 is yes, and everything else is no, also a nested list
        and a null. No value raises an error.
    epsilon : float, Fraction or Decimal
        The loss of one answer, above 0.
    budget : Budget, optional
        A budget for these rows, which is charged the loss of one row. By default there is none,
        because in the local model each person would keep a budget.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    ndarray
        The answers, 0 and 1 or False and True, in the shape and dtype of `bits`, or bool if `bits`
        has no dtype. A scalar for a scalar.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bad arguments, such as bits of a dtype that is neither integer nor boolean. Nothing is
        spent.
    BudgetError
        If the budget refuses.

    See Also
    --------
    estimate_binary : Estimate the fraction of yes among all records from these answers.

    Notes
    -----
    Cost: one pass, with about 8 random bits an answer.

    Examples
    --------
    >>> import dpfast as dp
    >>> answers = dp.response.binary([True, False, True, True], epsilon=1.0)
    >>> answers.dtype, answers.shape
    (dtype('bool'), (4,))
    """
    amount = Pure(epsilon).epsilon
    rows = rows_of("bits", bits, "biu", "an array of booleans or integers")
    flipped = coin(amount, 1)

    def answer(rows: Any, stream: Stream) -> NDArray[Any]:
        data = _bits(rows)
        unsigned = _unsigned(data, data.dtype)
        out = np.empty_like(unsigned)
        for at in range(0, unsigned.size, PART):
            flipped.answer(unsigned[at : at + PART], out[at : at + PART], stream)
        return _like(out, data.dtype, data.shape)

    return _respond(rows, amount, "binary randomized response", answer, budget, rng)


def _bits(rows: Any) -> NDArray[Any]:
    """Return rows as an array that is not 0 where a row means yes, in the dtype of the answers."""
    if not isinstance(rows, np.ndarray):
        kind = np.bool_ if str(rows.type) == "bool" else np.int64
        chunks = [each_row(array, lambda values: values != 0, 0) for array in rows.chunks]
        return np.concatenate([np.empty(0, np.bool_), *chunks]).astype(kind)
    return truths(rows.ravel().tolist()).reshape(rows.shape) if rows.dtype.kind == "O" else rows


class _KaryKeywords(_Paid, total=False):
    categories: Required[Labels]
    epsilon: Required[Number]
    default: Label | None


@overload
def kary(values: Scalar | str | bytes, **others: Unpack[_KaryKeywords]) -> np.generic: ...
@overload
def kary(values: Any, **others: Unpack[_KaryKeywords]) -> NDArray[Any]: ...
@releases
def kary(
    values: Any,
    *,
    categories: Labels,
    epsilon: Number,
    default: Label | None = None,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[NDArray[Any] | np.generic]:
    """Randomize a category for each record: the true category or, at random, another category.

    The true category is returned with probability ``exp(epsilon) / (exp(epsilon) + k - 1)``,
    exactly, and each other category with ``1 / (exp(epsilon) + k - 1)``.

    Privacy
    -------
    This is the local model: each answer is epsilon-differentially private about its own value
    (Kairouz, Bonawitz and Ramage, ICML 2016). Neighbors are datasets in which one row is replaced;
    the number of rows is public. A row of d entries has d answers, and its loss is d epsilon. A
    budget in rho is charged the exact zCDP loss of an answer among k categories
    (`dpfast.privacy.Draws`). Losses of repeated calls add up.

    Parameters
    ----------
    values : array_like
        Integers 0 .. k - 1, or labels, in an array of any shape. Any other value, and a null,
        counts as `default`: no value raises an error, because an error would be an answer without
        noise. Each entry of a list is one row, in the category that the entry equals; a nested list
        equals no category.
    categories : int or array_like
        The number of categories, or their labels (integers or text), which are public.
    epsilon : float, Fraction or Decimal
        The loss of one answer, above 0.
    default : int or label, optional
        The category that stands for all other values; by default the first.
    budget : Budget, optional
        A budget for these rows, which is charged the loss of one row. By default there is none,
        because in the local model each person would keep a budget.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    ndarray
        The answers, in the shape of `values`: labels, or integers in the dtype of `values`, or in
        int64 if that dtype cannot hold all categories. A scalar for a scalar.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bad arguments. Nothing is spent.
    BudgetError
        If the budget refuses.

    See Also
    --------
    estimate_kary : Estimate the fraction of each category among all records from these answers.
    unary : A more accurate method for more than ``3 exp(epsilon) + 2`` categories.

    Notes
    -----
    Cost: one pass, with about 40 random bits an answer; labels also need a search.

    Examples
    --------
    >>> import dpfast as dp
    >>> answers = dp.response.kary([0, 2, 1, 1], categories=3, epsilon=2.0)
    >>> answers.shape, bool((answers < 3).all())
    ((4,), True)
    >>> str(dp.response.kary("tea", categories=["tea", "coffee"], epsilon=50.0))
    'tea'
    """
    amount = Pure(epsilon).epsilon
    labels = Categories(categories)
    rows = labels.rows("values", values)
    instead = 0 if default is None else labels.number("default", default)
    flipped = coin(amount, max(1, labels.count - 1))

    def answer(rows: Any, stream: Stream) -> NDArray[Any]:
        typed = isinstance(rows, np.ndarray) and rows.dtype.kind != "O"
        codes = rows if typed and labels.labels is None else labels.codes(rows)
        most = 1 if codes.dtype.kind == "b" else np.iinfo(codes.dtype).max
        kind = codes.dtype if labels.count - 1 <= most else np.dtype(np.int64)
        unsigned = _unsigned(codes, kind)
        out = np.zeros(unsigned.shape, unsigned.dtype)
        for at in range(0, unsigned.size if labels.count > 1 else 0, PART):
            part = unsigned[at : at + PART]
            other = np.zeros(part.size, np.uint8)
            flipped.flip(other, stream)
            _native.others(labels.count, instead, part, other, out[at : at + PART], stream)
        return labels.answers(_like(out, kind, codes.shape))

    name = f"{labels.count}-ary randomized response"
    return _respond(rows, amount, name, answer, budget, rng, labels.count)


@releases
def unary(
    values: Any,
    *,
    categories: Labels,
    epsilon: Number,
    budget: Budget | None = None,
    rng: Generator | None = None,
) -> Prepared[NDArray[np.bool_]]:
    """Randomize k bits for each record, one for each category (optimized unary encoding).

    The bit of the true category is a fair coin; each other bit is 1 with probability ``1 /
    (exp(epsilon) + 1)``, exactly. With many categories, estimates from these bits are more accurate
    than from answers of `kary`.

    Privacy
    -------
    This is the local model: the bits of a record together are epsilon-differentially private about
    its value (Wang, Blocki, Li and Jha, USENIX Security 2017; Dwork, McSherry, Nissim and Smith,
    TCC 2006). Neighbors are datasets in which one row is replaced; the number of rows is public. A
    row of d values has a loss of d epsilon. A budget in rho is charged about as much as for one
    answer of `kary` with exp(epsilon) + 3 categories. Losses of repeated calls add up.

    Parameters
    ----------
    values : array_like
        As in `kary`, except that a value that is not a category has no true bit: each of its bits
        is 1 with probability ``1 / (exp(epsilon) + 1)``. No value raises an error.
    categories : int or array_like
        The number of categories, or their labels (integers or text), which are public.
    epsilon : float, Fraction or Decimal
        The loss of one answer, above 0.
    budget : Budget, optional
        A budget for these rows, which is charged the loss of one row.
    rng : Generator, optional
        The source of random bits, by default the secure one. `InsecureGenerator` is for tests; a
        budget refuses it.

    Returns
    -------
    ndarray of bool
        The bits, in the shape of `values` with one more axis of length k.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bad arguments. Nothing is spent.
    BudgetError
        If the budget refuses.

    See Also
    --------
    estimate_unary : Estimate the fraction of each category among all records from these bits.

    Notes
    -----
    For two values, only the bits of their two categories differ in distribution: each is 1 with
    probability 1/2 for one value and q = 1 / (e^epsilon + 1) for the other. The largest ratio is
    (1/2)(1 - q) / (q (1/2)) = e^epsilon. A value that is not a category differs from others in one
    bit, by less.

    Cost: one pass over the bits, with about 8 random bits each.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.response.unary([0, 2, 1, 1], categories=3, epsilon=2.0).shape
    (4, 3)
    """
    amount = Pure(epsilon).epsilon
    labels = Categories(categories)
    rows = labels.rows("values", values)
    noisy = coin(amount, 1)

    def answer(rows: Any, stream: Stream) -> NDArray[Any]:
        indices = labels.codes(rows)
        codes = indices.reshape(-1)
        out = np.zeros((codes.size, labels.count), np.uint8)
        step = max(1, PART // labels.count)
        for at in range(0, codes.size, step):
            part = out[at : at + step]
            noisy.flip(part.reshape(-1), stream)
            _native.own(codes[at : at + step], part, stream)
        return out.view(np.bool_).reshape(*indices.shape, labels.count)

    name = f"unary encoding of {labels.count}"
    return _respond(rows, amount, name, answer, budget, rng, _alike(amount))


def _alike(epsilon: Fraction) -> int:
    """Return the k for which an answer of `kary` costs at least as much as the bits of `unary`.

    The likelihood ratio of the bits is e^epsilon, 1 or e^-epsilon, with the probabilities e^epsilon
    / N, 1/2 and 1 / N for N = 2 (e^epsilon + 1). The likelihood ratio of an answer of `kary` has
    the same form, for N = e^epsilon + k - 1. Rounding k down gives a larger loss.
    """
    return math.floor(exp(Interval.of(min(epsilon, Fraction(50)))).low) + 3


@dataclass(frozen=True, slots=True)
class Estimate(Generic[Value]):
    """A fraction of all records with its confidence interval, estimated from private answers.

    Attributes
    ----------
    value : float or ndarray
        The estimated fraction. It is unbiased, so it may lie outside 0 .. 1.
    variance : float or ndarray
        The estimated variance of `value`. It is unbiased, too.
    low, high : float or ndarray
        The ends of the confidence interval, within 0 .. 1.
    confidence : float
        The confidence of the interval.

    Examples
    --------
    >>> import dpfast as dp
    >>> answers = dp.response.binary([True, False] * 5000, epsilon=1)
    >>> found = dp.response.estimate_binary(answers, epsilon=1, confidence=1 - 1e-9)
    >>> bool(found.low < 0.5 < found.high)
    True
    """

    value: Value
    variance: Value
    low: Value
    high: Value
    confidence: float


def _estimate(
    count: Any, n: int, keep: float, stray: float, gap: float, of: str, confidence: Any
) -> Estimate[Any]:
    """Estimate the fraction of true yes among n records, from the `count` of private yes answers.

    A record answers yes with probability `keep` if yes is true, and otherwise with probability
    `stray`; `gap` is keep - stray.
    """
    checks.choice("of", of, get_args(Of))
    level = checks.positive("confidence", confidence)
    if level >= 1:
        checks.fail("confidence", "greater than 0 and less than 1", confidence)
    least = 1 if of == "data" else 2
    if n < least:
        checks.fail("responses", f"at least {least} responses", n)
    z = NormalDist().inv_cdf((1 + level) / 2)
    said = np.asarray(count, np.float64) / n
    value = (said - stray) / gap
    if of == "data":
        # The variance is linear in the fraction, so inserting the unbiased estimate gives an
        # unbiased one. It is positive for every count.
        spread, strays = keep * (1 - keep), stray * (1 - stray)
        steep = (spread - strays) / (n * gap * gap)
        variance = strays / (n * gap * gap) + value * steep
        # The score interval: every fraction f with (value - f)^2 <= z^2 times the variance at f.
        # With the variance at `value`, it would be far too short if a rare answer did not occur.
        middle = value + z * z * steep / 2
        reach = z * np.sqrt(variance + (z * steep / 2) ** 2)
        low, high = middle - reach, middle + reach
    else:
        variance = said * (1 - said) / ((n - 1) * gap * gap)
        # Wilson's interval (1927) for the fraction of answers.
        middle = (said + z * z / (2 * n)) / (1 + z * z / n)
        reach = z / (1 + z * z / n) * np.sqrt(said * (1 - said) / n + (z / (2 * n)) ** 2)
        low, high = (middle - reach - stray) / gap, (middle + reach - stray) / gap
    parts: list[Any] = [value, variance, np.clip(low, 0, 1), np.clip(high, 0, 1)]
    shown = [float(x) if np.ndim(x) == 0 else x for x in parts]
    return Estimate(shown[0], shown[1], shown[2], shown[3], level)


def _probabilities(epsilon: Any, others: int) -> tuple[float, float, float]:
    """Return the probability of the true answer, of each other answer, and their difference.

    The difference is computed without cancellation.
    """
    amount = float(Pure(epsilon).epsilon)
    if amount < 2.0**-500:
        checks.fail(
            "epsilon", "at least 2**-500, because float64 cannot hold an estimate below", epsilon
        )
    rare = math.exp(-amount)
    whole = 1 + others * rare
    return 1 / whole, rare / whole, -math.expm1(-amount) / whole


def _zeros_and_ones(responses: Any) -> NDArray[Any]:
    array = as_array("responses", responses, "biu", "an array of booleans or integers")
    if array.size and (array.min() < 0 or array.max() > 1):
        checks.fail("responses", "all 0 or 1", (array.min(), array.max()))
    return array


def _axes(axis: Any, dimensions: int) -> int | None:
    if axis is None:
        return None
    if not checks.is_whole(axis):
        checks.fail_type("axis", "None or an integer", axis)
    if not -dimensions <= axis < dimensions:
        checks.fail("axis", f"from {-dimensions} to {dimensions - 1}", axis)
    return int(axis) % dimensions


class _EstimateKeywords(TypedDict, total=False):
    epsilon: Required[Number]
    of: Of
    confidence: Number


@overload
def estimate_binary(
    responses: Any, *, axis: None = None, **others: Unpack[_EstimateKeywords]
) -> Estimate[float]: ...
@overload
def estimate_binary(
    responses: Any, *, axis: int, **others: Unpack[_EstimateKeywords]
) -> Estimate[Floats]: ...
def estimate_binary(
    responses: Any,
    *,
    epsilon: Number,
    of: Of = "data",
    confidence: Number = 0.95,
    axis: int | None = None,
) -> Estimate[float] | Estimate[Floats]:
    """Estimate the true fraction of yes from the answers of `binary`.

    Parameters
    ----------
    responses : array_like of bool or integers
        The answers, 0 or 1.
    epsilon : float, Fraction or Decimal
        The epsilon of the answers.
    of : {"data", "population"}, default "data"
        Which fraction the variance and the interval are about. "data" is the fraction among these
        records, of which only the answers are random. "population" is the fraction in a population
        from which the records are independent draws.
    confidence : float, default 0.95
        The confidence of the interval. The interval is a score interval (for a "population" it is
        Wilson's). It is approximate, and too short if fewer than about one untrue answer is
        expected.
    axis : int, optional
        The axes to count along; by default all.

    Returns
    -------
    Estimate
        The estimate, with scalars if all axes are counted along, and otherwise with arrays.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bad arguments, such as no responses, or a single response for a population.

    Notes
    -----
    This is post-processing and costs no loss. For "data" the standard deviation is ``1 / (2
    sinh(epsilon / 2) sqrt(n))``.

    Cost: one pass.

    Examples
    --------
    >>> import dpfast as dp
    >>> found = dp.response.estimate_binary([1, 0, 1, 1] * 1000, epsilon=2.0)
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3)
    (0.828, 0.815, 0.841)
    """
    array = _zeros_and_ones(responses)
    line = _axes(axis, array.ndim)
    n = array.size if line is None else array.shape[line]
    count = np.count_nonzero(array, axis=line)
    return _estimate(count, n, *_probabilities(epsilon, 1), of, confidence)


def estimate_kary(
    responses: Any,
    *,
    categories: Labels,
    epsilon: Number,
    of: Of = "data",
    confidence: Number = 0.95,
    axis: int | None = None,
) -> Estimate[Floats]:
    """Estimate the true fraction of each category from the answers of `kary`.

    Parameters
    ----------
    responses : array_like
        The answers, all of them categories.
    categories : int or array_like
        As for `kary`; at least 2.
    epsilon : float, Fraction or Decimal
        The epsilon of the answers.
    of, confidence, axis
        As in `estimate_binary`; `confidence` holds for each interval separately.

    Returns
    -------
    Estimate
        Arrays whose last axis is the categories.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bad arguments, such as no responses, or responses that are not categories.

    Notes
    -----
    This is post-processing and costs no loss. The fractions add up to 1.

    Cost: one pass.

    Examples
    --------
    >>> import dpfast as dp
    >>> found = dp.response.estimate_kary([0, 1, 2, 2] * 1000, categories=3, epsilon=2.0)
    >>> found.value.round(3)
    array([0.211, 0.211, 0.578])
    """
    labels = Categories(categories)
    if labels.count < 2:
        checks.fail("categories", "at least 2 for an estimate", categories)
    codes = labels.codes(labels.rows("responses", responses))
    if codes.size and codes.min() < 0:
        rule = f"responses must be among the categories, unlike the value at index {codes.argmin()}"
        raise ArgumentError(rule)
    line = _axes(axis, codes.ndim)
    lines = codes.reshape(1, -1) if line is None else np.moveaxis(codes, line, -1)
    others = () if line is None else lines.shape[:-1]
    n, k = lines.shape[-1], labels.count
    lines = lines.reshape(math.prod(others), n)
    cells = lines + k * np.arange(len(lines), dtype=np.int64)[:, None]
    count = np.bincount(cells.ravel(), minlength=k * len(lines)).reshape(*others, k)
    return _estimate(count, n, *_probabilities(epsilon, k - 1), of, confidence)


def estimate_unary(
    responses: Any,
    *,
    epsilon: Number,
    of: Of = "data",
    confidence: Number = 0.95,
    axis: int | None = None,
) -> Estimate[Floats]:
    """Estimate the true fraction of each category from the bits of `unary`.

    Parameters
    ----------
    responses : array_like of bool or integers, shape (..., k)
        The answers, 0 or 1; the last axis is the categories.
    epsilon : float, Fraction or Decimal
        The epsilon of the answers.
    of, confidence
        As in `estimate_kary`.
    axis : int, optional
        The axes to count along, without the last; by default all but the last.

    Returns
    -------
    Estimate
        Arrays whose last axis is the categories.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        For bad arguments, such as no responses.

    Notes
    -----
    This is post-processing and costs no loss. For a rare category the variance is about ``4
    exp(epsilon) / (n (exp(epsilon) - 1)**2)``, for any k.

    Cost: one pass.

    Examples
    --------
    >>> import dpfast as dp
    >>> answers = dp.response.unary([0, 2, 2, 1] * 500, categories=3, epsilon=2.0)
    >>> dp.response.estimate_unary(answers, epsilon=2.0).value.shape
    (3,)
    """
    array = _zeros_and_ones(responses)
    if array.ndim < 2:
        checks.fail("responses", "of 2 or more axes, the last for the categories", array.shape)
    line = _axes(axis, array.ndim)
    if line == array.ndim - 1:
        checks.fail("axis", "an axis other than the last, which has the categories", axis)
    over = tuple(range(array.ndim - 1)) if line is None else (line,)
    n = math.prod(array.shape[a] for a in over)
    _, stray, _ = _probabilities(epsilon, 1)
    gap = math.tanh(float(Pure(epsilon).epsilon) / 2) / 2
    return _estimate(np.count_nonzero(array, axis=over), n, 0.5, stray, gap, of, confidence)
