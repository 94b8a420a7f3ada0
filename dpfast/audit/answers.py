"""Answers of any type as rows of numbers, and the statistics that define events."""

from __future__ import annotations

import contextlib
import inspect
import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast.extend import checks

Matrix = NDArray[np.float64]

#: The most answers of one call of a vectorized mechanism.
CHUNK = 1 << 18
#: The number of answers in each round that come from calls with size 1. Printed text and warnings
#: belong to a single call.
ALONE = 256
#: The first column of a row is the number of the answer's kind. At most this many numbers follow.
WIDEST = 256


def takes_size(mechanism: Callable[..., Any]) -> bool:
    """Return whether a mechanism has an argument `size`: then it returns many answers at once."""
    try:
        return "size" in inspect.signature(mechanism).parameters
    except Exception:  # for example, a function in C has no signature
        return False


@contextlib.contextmanager
def heard() -> Iterator[list[Any]]:
    """Collect the printed text and the warnings of a ``with`` block in a list."""
    said: list[Any] = []
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        # Only the first call in a process warns.
        warnings.filterwarnings("ignore", "no budget pays")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            yield said
    said += [out.getvalue(), [f"{w.category.__name__}: {w.message}" for w in warned]]


@dataclass
class Answers:
    """The answers of a mechanism as rows of numbers: the kind of an answer, then its numbers.

    An error is an answer too, and its type is the kind: whether a mechanism fails must be as
    private as its answers. Printed text and warnings are a part of the kind, but only of the first
    answer of a call, because answers are counted as independent.
    """

    mechanism: Callable[..., Any]
    workers: int
    kinds: dict[str, int] = field(default_factory=dict)
    width: int = 0

    def __post_init__(self) -> None:
        self.many = takes_size(self.mechanism)

    def kind(self, word: str) -> float:
        """Return the number of a kind of answers; a new kind gets a new number."""
        return float(self.kinds.setdefault(word, len(self.kinds)))

    def chunks(self, data: Any, size: int) -> Any:
        """Yield matrices of answers on some data, with `size` rows in all."""
        if not self.many:
            for length in _cut(size):
                yield self.rows(*zip(*(self._ask(data) for _ in range(length)), strict=True))
            return
        alone = min(size, ALONE)
        yield np.concatenate([self.array(*self._ask(data, 1), 1) for _ in range(alone)])
        sizes = _cut(size - alone)
        if self.workers == 1 or len(sizes) <= 1:
            for length in sizes:
                yield self.array(*self._ask(data, length), length)
            return
        with ThreadPoolExecutor(self.workers) as pool:
            # Then at most this many arrays are in memory.
            for first in range(0, len(sizes), self.workers):
                some = sizes[first : first + self.workers]
                with heard() as said:  # printed text and warnings of all threads
                    lists = list(pool.map(lambda n: self._answer(data, n), some))
                texts = [_text(said), *[""] * (len(some) - 1)]
                for answers, text, length in zip(lists, texts, some, strict=True):
                    yield self.array(answers, text, length)

    def _ask(self, data: Any, *size: int) -> tuple[Any, str]:
        """Call the mechanism, and return its answer with the printed text and warnings."""
        with heard() as said:
            answer = self._answer(data, *size)
        return answer, _text(said)

    def _answer(self, data: Any, *size: int) -> Any:
        try:
            return self.mechanism(data, *size)
        except Exception as error:
            return error

    def array(self, answer: Any, said: str, length: int) -> Matrix:
        """Return the answers of one call of a vectorized mechanism as a matrix, a row each."""
        texts = [said, *[""] * (length - 1)] if said else ()
        if isinstance(answer, Exception):
            return self.rows([answer] * length, texts)
        array = checks.array("mechanism", answer, _MANY)
        if array.shape[:1] != (length,):
            checks.fail("mechanism", _MANY, f"an array of shape {array.shape} for size={length}")
        if array.dtype.kind not in "biufc":
            return self.rows(list(array), texts)
        flat = array.reshape(length, -1)
        kind = f"{array.dtype} {array.shape[1:]}" if array.ndim > 1 else f"{array.dtype}"
        kinds = np.full(length, self.kind(kind))
        if said:
            kinds[0] = self.kind(kind + said)
        return self._matrix(kinds, flat)

    def rows(self, answers: Sequence[Any], said: Sequence[str] = ()) -> Matrix:
        """Return the answers of several calls as a matrix; `said` is the text each printed."""
        if not any(said) and all(
            type(answer) is type(answers[0]) and type(answer) in _PLAIN for answer in answers
        ):
            kind = self.kind(type(answers[0]).__name__)
            try:
                values = np.array(answers, np.float64)
            except OverflowError:
                values = np.array([_float(answer) for answer in answers])
            return self._matrix(np.full(len(answers), kind), values.reshape(-1, 1))
        words, numbers = zip(*map(_flat, answers), strict=True)
        values = np.full((len(answers), max(map(len, numbers))), np.nan)
        for row, row_numbers in zip(values, numbers, strict=True):
            row[: len(row_numbers)] = row_numbers
        kinds = map("".join, zip(words, said or [""] * len(words), strict=True))
        return self._matrix(np.array([self.kind(kind) for kind in kinds]), values)

    def _matrix(self, kinds: Matrix, values: NDArray[Any]) -> Matrix:
        """Return kinds and numbers of answers as one matrix, as wide as the first answers."""
        if values.dtype.kind == "c":
            values = np.concatenate([values.real, values.imag], axis=1)
        self.width = self.width or min(max(values.shape[1], 1), WIDEST)
        matrix = np.full((len(kinds), 1 + self.width), np.nan)
        matrix[:, 0] = kinds
        most = min(values.shape[1], self.width)
        matrix[:, 1 : 1 + most] = values[:, :most]
        return matrix


def _cut(size: int) -> list[int]:
    return [min(CHUNK, size - done) for done in range(0, size, CHUNK)]


def _text(said: list[Any]) -> str:
    """Return a short text of what a call printed and warned of, for the kind of its answer."""
    printed, warned = said
    text = f", with the output {printed[:40]!r}" if printed else ""
    return text + (f", with the warning {warned[0][:60]!r}" if warned else "")


_MANY = "a function that returns as many answers as its argument `size` says"
_PLAIN = {float, int, bool, np.float64, np.float32, np.int64, np.bool_}


def _float(value: Any) -> float:
    number = checks.real(value)
    return np.nan if number is None else number


def _flat(value: Any) -> tuple[str, list[float]]:
    """Return the kind of an answer as text, and all numbers in the answer as a list."""
    if isinstance(value, BaseException):
        return f"the error {type(value).__name__}", []
    if isinstance(value, str):
        return f"the text {value[:40]!r}", []
    if value is None:
        return "None", []
    if isinstance(value, Mapping):
        inside, numbers = _flat(list(value.values()))
        return f"a mapping of {list(map(str, value))[:8]} to {inside}", numbers
    if isinstance(value, (bool, np.bool_)):
        return type(value).__name__, [float(value)]
    if checks.real(value) is not None:
        return type(value).__name__, [_float(value)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return f"{value.dtype} {value.shape}", [float(item) for item in value.reshape(-1)[:WIDEST]]
    if isinstance(value, (list, tuple)):
        parts = [_flat(item) for item in value]
        words = sorted({word for word, _ in parts})
        name = f"{type(value).__name__} of {len(value)}: {', '.join(words)[:80]}"
        return name, [item for _, numbers in parts for item in numbers]
    try:
        shown = repr(value)[:60]
    except Exception:  # an object may raise any error here
        shown = ""
    return f"{type(value).__name__} {shown}".strip(), []


# --- statistics of answers -----------------------------------------------------------------------


@dataclass(frozen=True)
class Statistic:
    """A named function that maps each answer to a number, which defines events."""

    words: str
    of: Callable[[Matrix], Matrix]
    #: Whether the statistic does not depend on the data if noise is drawn on a public grid; see
    #: `support`.
    support: bool = False
    #: The names of the values, in order, if the values are categories.
    names: tuple[str, ...] = ()


def column(j: int) -> Callable[[Matrix], Matrix]:
    return lambda rows: rows[:, j]


def sort_of_number(v: Matrix) -> Matrix:
    """Return 0 for each finite number, 1 for NaN, 2 for inf, 3 for -inf, 4 for minus zero."""
    sorts = np.select([np.isnan(v), v == np.inf, v == -np.inf], [1.0, 2.0, 3.0], 0.0)
    sorts[(v == 0) & np.signbit(v)] = 4.0
    return sorts


def lowest_bit(v: Matrix) -> Matrix:
    """Return the exponent of the largest power of two that divides each number; 2000 for none."""
    whole = np.zeros(len(v), np.int64)
    usable = np.isfinite(v)
    fractions, exponents = np.frexp(np.where(usable, v, 0.0))
    whole[:] = np.ldexp(fractions, 53)
    low = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(usable & (whole != 0), exponents - 53 + low, 2000).astype(np.float64)


def last_bits(v: Matrix) -> Matrix:
    """Return the last four bits of the mantissa of each float."""
    return (np.ascontiguousarray(v).view(np.uint64) & np.uint64(15)).astype(np.float64)


SORTS = ("a finite number", "NaN", "inf", "-inf", "-0.0")


def statistics(a: Matrix, b: Matrix, kinds: tuple[str, ...]) -> list[Statistic]:
    """Return the statistics to define events by, for answers `a` and `b` on two neighbors."""
    listed = [Statistic("the kind of the answer", column(0), True, kinds)]
    width = a.shape[1] - 1
    gap = _gaps(a[:, 1:], b[:, 1:])
    for j in np.argsort(-gap, kind="stable")[:8] + 1:
        name = "the answer" if width == 1 else f"number {j} of the answer"
        entry = column(int(j))
        listed += [
            Statistic(name, entry),
            Statistic(f"what {name} is", _after(sort_of_number, entry), True, SORTS),
            Statistic(f"the exponent of the lowest bit of {name}", _after(lowest_bit, entry), True),
            Statistic(f"the last four bits of {name}", _after(last_bits, entry), True),
            Statistic(f"the fraction of {name}", _after(lambda v: v - np.floor(v), entry)),
        ]
    if width > 1:
        listed += [
            Statistic("the sum of the answer", lambda rows: np.nansum(rows[:, 1:], axis=1)),
            Statistic("the largest of the answer", lambda rows: _most(rows[:, 1:])),
            Statistic("the least of the answer", lambda rows: -_most(-rows[:, 1:])),
            Statistic("the norm of the answer", lambda r: np.nansum(r[:, 1:] ** 2, axis=1)),
            Statistic("a projection of the answer", _classifier(a[:, 1:], b[:, 1:])),
        ]
    return listed


def _after(f: Callable[[Matrix], Matrix], g: Callable[[Matrix], Matrix]) -> Any:
    return lambda rows: f(g(rows))


def _most(values: Matrix) -> Matrix:
    return np.asarray(np.max(np.where(np.isnan(values), -np.inf, values), axis=1))


def _usual(values: Matrix) -> Matrix:
    """Return numbers clipped so that their squares are finite, with 0 in place of NaN."""
    return np.clip(np.nan_to_num(values, nan=0.0), -1e150, 1e150)


def _gaps(a: Matrix, b: Matrix) -> Matrix:
    """Return the distance between the means of each column, in standard deviations."""
    a, b = _usual(a), _usual(b)
    return np.asarray(abs(a.mean(axis=0) - b.mean(axis=0)) / (a.std(axis=0) + b.std(axis=0) + 1e-9))


def _classifier(a: Matrix, b: Matrix) -> Callable[[Matrix], Matrix]:
    """Return Fisher's linear discriminant of two sets of answers, as a function of answers."""
    a, b = _usual(a), _usual(b)
    spread = np.cov(a, rowvar=False) + np.cov(b, rowvar=False)
    spread += np.eye(len(spread)) * (1e-9 + 1e-6 * np.trace(spread) / len(spread))
    weights = np.linalg.lstsq(spread, a.mean(axis=0) - b.mean(axis=0), rcond=None)[0]
    return lambda rows: _usual(rows[:, 1:]) @ weights
