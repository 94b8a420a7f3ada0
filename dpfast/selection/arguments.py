"""Check the arguments of a selection: scores and log-weights as arrays, the loss as a factor c."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.error_bars import BASE, ErrorBar, shortfall, unknown
from .._core.once import once
from .._core.types import Neighbors, Number
from .._kernels.rng import BitStream
from ..budget.release import relation_of, relation_of_proof
from ..budget.watched import OfNumbers
from ..privacy import ZCDP, Draws, Loss, float_down, loss, pure_within, range_within
from ..rng import Generator
from ..tables import chunk_dtype
from ..tables.engine import of_engine
from ..tables.forms import converted, is_distributed
from .scores import OneRow, real
from .scores.distributed import FEW, DistributedScores
from .scores.stored import REACH

#: c is between 1 / SCALE and SCALE. Then a product of c and a distance neither overflows nor
#: underflows unnoticed.
SCALE = 2.0**960
#: The only mechanism here without bounded range.
PERMUTE = "permute-and-flip"


@dataclass(frozen=True, slots=True)
class ReadScores:
    """Scores that were read and checked, and the sampler that draws from them."""

    scores: Any
    draw: Callable[[BitStream], NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Selection(OfNumbers[Any]):
    """The mechanism of a selection: its loss, and the factor `c` of its weights ``exp(c score)``.

    `candidates` is the number of candidates, or None if there is a base measure.
    """

    name: str
    c: float
    loss: Loss
    neighbors: str
    candidates: int | None

    def reduce(self, source: ReadScores) -> ReadScores:
        return source

    def finish(self, summary: ReadScores, generator: Generator) -> NDArray[np.int64]:
        return summary.draw(generator.stream())

    def excess(self, source: ReadScores, other: ReadScores) -> str:
        """Return an error message if the scores differ more than between neighbors, else ""."""
        scores, others = (np.asarray(s.scores, np.float64) for s in (source, other))
        if scores.shape != others.shape:
            return f"the scores have the shape {scores.shape} on x, and {others.shape} on x2"
        with np.errstate(invalid="ignore"):
            moves = np.atleast_2d(np.where(scores == others, 0.0, others - scores))
        spread = float((moves.max(axis=-1) - moves.min(axis=-1)).max()) if moves.size else 0.0
        share = self.c * spread / self._of_a_draw
        is_held = share <= 1 + 1e-9
        return "" if is_held else f"the scores differ by {share:.4g} times what sensitivity allows"

    @property
    def _of_a_draw(self) -> float:
        """The largest change of c times a score between neighbors, by the loss of a draw."""
        if isinstance(self.loss, ZCDP):
            return float(range_within(self.loss.rho))
        assert isinstance(self.loss, Draws)
        return float(self.loss.epsilon / self.loss.draws)

    def error(self, rows: int | None, confidence: float) -> ErrorBar:
        """Return the error bar: how far the score of a draw is below the best remaining score.

        The bar also holds for permute-and-flip, whose large errors are never more likely (McKenna
        and Sheldon, NeurIPS 2020).
        """
        if self.candidates is None:
            return unknown(confidence, BASE)
        return shortfall(self.candidates, self.c, confidence)


def _selection(
    name: str,
    sensitivity: Number,
    epsilon: Number | None,
    rho: Number | None,
    monotone: bool,
    neighbors: Neighbors,
    calls: int,
    picks: int = 1,
    candidates: int | None = None,
) -> Selection:
    """Check the public arguments of a selection, and return its mechanism.

    The requested loss is spent `calls` times. Each time, `picks` draws share it.
    """
    total_loss = loss(epsilon, 0, rho)
    ranged = name != PERMUTE
    stored = Fraction(checks.positive("sensitivity", sensitivity))
    # The larger of two numbers: the sensitivity as it is written, and its float64, by which float
    # scores may change.
    change = max(checks.fraction("sensitivity", sensitivity), stored)
    spread = change if checks.flag("monotone", monotone) else 2 * change
    total: Loss
    if isinstance(total_loss, ZCDP):
        of_pick = (range_within if ranged else pure_within)(total_loss.rho / picks)
        total = ZCDP(total_loss.rho * calls)
    else:
        of_pick = total_loss.epsilon / picks
        total = Draws(total_loss.epsilon * calls, picks * calls, ranged)
    ratio = of_pick / spread
    if not 1 / Fraction(SCALE) <= ratio <= Fraction(SCALE):
        rule = "at most 2**960 times larger or smaller than the epsilon of a draw"
        checks.fail("sensitivity", rule, sensitivity)
    return Selection(name, float_down(ratio), total, neighbors, candidates)


selection: Callable[..., Selection] = once(_selection)


def relation_of_scores(neighbors: Any, monotone: Any, budget: Any) -> Neighbors:
    """Return the neighboring relation for which `sensitivity` and `monotone` have to hold.

    For monotone scores, "replace" is not inherited from a budget: counts are not monotone under
    "replace".
    """
    find = relation_of_proof if checks.flag("monotone", monotone) else relation_of
    return find(neighbors, budget)


def array_of(scores: object, name: str = "scores") -> NDArray[Any]:
    """Return scores as an array, without a copy if they are an array."""
    first = scores[0] if isinstance(scores, (list, tuple)) and scores else scores
    if is_distributed(first):
        checks.fail_kind(name, "an array", first, " in Dask, Spark or a database: compute it first")
    if callable(scores):
        checks.fail_kind(name, "an array: only `exponential` takes a function", scores)
    if isinstance(scores, np.ma.MaskedArray):
        checks.fail_kind(name, "an array without a mask: use -inf to exclude a candidate", scores)
    array: NDArray[Any] = converted(scores, name, "an array of real numbers", np.asarray)
    typed = isinstance(getattr(scores, "dtype", None), np.dtype)
    if array.ndim and (array.dtype.kind == "O" or not typed):
        array = _exactly(scores, array, name)
    if array.dtype.kind != "O":
        chunk_dtype(array.dtype, name)
    if array.ndim == 0:
        checks.fail_kind(name, "an array of at least one dimension", scores)
    return array


def _exactly(scores: object, array: NDArray[Any], name: str) -> NDArray[Any]:
    """Return scores without a dtype as exact numbers, in the fastest kind of array.

    NumPy has read the scores as `array`, and may have converted integers to floats. The kind of
    array decides only how long a draw takes.
    """
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind not in "fO" or (kind == "f" and size > 8):  # integers, or a kind that is refused later
        return array
    if kind == "f" and not ((np.abs(array) >= 2.0**53) & (np.abs(array) < math.inf)).any():
        return array  # all integers in this array are exact floats
    objects = array
    with suppress(Exception):
        objects = np.array(scores, object)
    numbers = np.frompyfunc(real, 1, 1)(objects)
    kinds = {type(number) for number in numbers.ravel()}

    def only(*allowed: type[Any]) -> bool:
        return all(issubclass(kind, allowed) for kind in kinds)

    if objects.shape != array.shape or not only(int, float, Fraction):
        checks.fail_kind(name, "an array of real numbers", scores)
    if only(float):
        return np.array(numbers, np.float64)
    if only(int):
        for dtype in (np.int64, np.uint64):
            with suppress(OverflowError):
                return np.array(numbers, dtype)
    return np.array(numbers, object)


def candidates_last(scores: object, axis: int) -> NDArray[Any] | DistributedScores:
    """Return a view of the scores with the candidates along the last axis.

    Scores in an engine stay there, unless they are few.
    """
    if is_distributed(scores) or of_engine(scores):
        if checks.whole("axis", axis, -1) > 0:
            checks.fail("axis", "0 or -1 for scores in Dask or Spark", axis)
        held = DistributedScores(scores)
        if held.count > FEW:
            return held
        array = held.gathered()
    else:
        array = array_of(scores)
    if array.ndim == 1 and type(axis) is int and axis in (-1, 0):
        turned = array
    else:
        n = array.ndim
        axis = checks.whole("axis", axis, -n)
        if axis >= n:
            checks.fail("axis", f"an integer from {-n} to {n - 1}", axis)
        turned = np.moveaxis(array, axis, -1)
    if 0 in turned.shape:
        checks.fail("scores", "an array with at least one row and one candidate", array.shape)
    return turned


def log_weights(base: ArrayLike, turned: NDArray[Any] | OneRow) -> NDArray[np.float64]:
    """Return the log-weights of the public base measure, as a view in the shape of the scores."""
    if isinstance(turned, OneRow):
        checks.fail_kind("base", f"left out for more than {FEW} scores in Dask or Spark", base)
    array = array_of(base, "base")
    chunk_dtype(array.dtype, "base")
    rule = "minus infinity, or numbers from -2**40 to 2**40"
    part: Any
    for part in np.nditer(array, ["external_loop", "buffered", "zerosize_ok"], ["readonly"]):
        bad = part[~((np.abs(part) <= REACH) | (part == -math.inf))]
        if len(bad):
            checks.fail("base", rule, bad[0].item())
    try:
        return np.broadcast_to(array.astype(np.float64, copy=False), turned.shape)
    except ValueError:
        rule = f"an array that broadcasts to {turned.shape}, the scores with the candidates last"
        checks.fail("base", rule, array.shape)
