"""Samplers of noise, correctly rounded to a public grid."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.threads import run_in_threads, threads
from .._kernels.noise import fill, one
from .._kernels.rng import BitStream
from ..errors import ArgumentError
from ..rng import Generator, branch
from .distributions import Distribution
from .distributions.exact import decide, undecided
from .distributions.table import Prepared, prepare

#: The number of samples of a chunk: half a millisecond of work, which is worth a thread.
CHUNK = 1 << 17

#: An error does not show the scale, because the scale may be secret.
_FINITE = "scale must be finite and greater than 0"


def saturated(values: Any, granularity: Any = 1.0) -> NDArray[np.float64]:
    """Return private numbers as finite float64 that fit on the grid, and 0 for anything else.

    No value raises an error, because an error would be an answer without noise. Clamping does not
    increase the distance of two numbers.

    Parameters
    ----------
    values : number or array_like of numbers
    granularity : float or array of float64, default 1
        Powers of two.
    """
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":  # objects may be integers beyond 64 bits, or fractions
        array = np.asarray(np.frompyfunc(checks.real, 1, 1)(array), np.float64)  # None becomes NaN
    largest = np.minimum(granularity, 1.0) * sys.float_info.max
    with np.errstate(over="ignore"):  # wider floats may overflow
        floats = array.astype(np.float64)
    return np.clip(np.where(np.isnan(floats), 0.0, floats), -largest, largest)


def draw(
    distribution: Distribution,
    /,
    *,
    value: float,
    scale: float,
    granularity: float,
    generator: Generator,
) -> float:
    """Draw one sample of ``value + scale * Z``, correctly rounded to a multiple of `granularity`.

    Releases with a secret scale use this function, because neither the grid nor any error message
    depends on `value` or `scale`.

    Privacy: rounding to a public grid is post-processing of an ideal, real-valued sample, so the
    sample has the guarantee for which the caller calibrated the scale.

    Parameters
    ----------
    distribution : Distribution
        Distribution of Z, from `dpfast.noise.distributions`.
    value : float
        The number to which the noise is added; it need not lie on the grid. It is clamped if
        ``value / granularity`` would overflow. NaN counts as 0.
    scale : float
        Finite and above 0.
    granularity : float
        A power of two between 2**-1000 and 2**1000, chosen from public parameters only.
    generator : SecureGenerator or InsecureGenerator
        The source of the random bits: one 64-bit word for most samples, and more for a few.

    Returns
    -------
    float
        A multiple of `granularity`; above ``2**53 * granularity`` the float64 nearest to it.

    Raises
    ------
    ArgumentError
        If `scale` is out of range. The message does not show it.

    Notes
    -----
    Cost: a few microseconds. The first draw from a distribution builds its table, in some tens of
    milliseconds.

    Examples
    --------
    >>> from dpfast.noise.distributions import Laplace
    >>> from dpfast.rng import InsecureGenerator
    >>> rng = InsecureGenerator(1)
    >>> draw(Laplace(), value=10.0, scale=2.0, granularity=0.25, generator=rng) % 0.25
    0.0
    """
    if math.frexp(granularity)[0] != 0.5:
        checks.power_of_two("granularity", granularity)
    if not 0.0 < scale < math.inf:
        raise ArgumentError(_FINITE)
    if not abs(value) / granularity < math.inf:
        value = float(saturated(value, granularity))
    prepared = prepare(distribution)
    stream = generator.stream()
    result = one(stream, prepared.table, value, scale, granularity)
    if type(result) is int:
        return decide(prepared, result, value, scale, granularity, stream.word)
    return result


def draw_array(
    distribution: Distribution,
    /,
    *,
    value: NDArray[np.float64],
    scale: NDArray[np.float64],
    granularity: NDArray[np.float64],
    shape: tuple[int, ...],
    generator: Generator,
) -> NDArray[np.float64]:
    """Draw many samples, with the rules, errors and privacy of `draw`.

    Parameters
    ----------
    distribution : Distribution
        Distribution of Z, the same for all.
    value, scale, granularity : numpy.ndarray of float64
        As for `draw`; each broadcasts to `shape`.
    shape : tuple of int
        Shape of the result.
    generator : SecureGenerator or InsecureGenerator
        Source of the bits.

    Returns
    -------
    numpy.ndarray of float64

    Raises
    ------
    ArgumentError
        As `draw`.

    Notes
    -----
    Each sample uses one word of the stream, in C order. Samples that one word does not decide get
    further words, at the end or after each 4096 such samples. In large arrays each 131,072 samples
    have their own stream, with a key from the first stream, and threads share the work.

    Examples
    --------
    >>> from dpfast.noise.distributions import Laplace
    >>> from dpfast.rng import InsecureGenerator
    >>> one = np.ones(1)
    >>> draw_array(Laplace(), value=10 * one, scale=one, granularity=one, shape=(2, 3),
    ...            generator=InsecureGenerator(1)).shape
    (2, 3)
    """
    if not np.all(np.frexp(granularity)[0] == 0.5):
        checks.fail("granularity", "powers of two", granularity)
    with np.errstate(over="ignore", under="ignore"):
        fits = np.all(np.isfinite(value / granularity))
    if not np.all((scale > 0) & (scale < np.inf)):
        raise ArgumentError(_FINITE)
    if not fits:
        value = saturated(value, granularity)
    out = np.empty(shape)
    inputs = [_flat(x, shape) for x in (value, scale, granularity)]
    prepared, flat = prepare(distribution), out.reshape(-1)

    def fill(start: int, stop: int, stream: BitStream) -> None:
        chunk = [x if x.size == 1 else x[start:stop] for x in inputs]
        _fill(prepared, chunk, flat[start:stop], stream, None, stream.word)

    in_chunks(flat.size, generator.stream(), fill)
    return out


def in_chunks(size: int, stream: BitStream, draw: Callable[[int, int, BitStream], None]) -> None:
    """Draw many samples in chunks, each from a separate stream of random bits, on several threads.

    The offset of a chunk depends on `size` alone, so the number of threads does not change any bit.

    Parameters
    ----------
    size : int
    stream : BitStream
        The stream that gives the keys for the streams of the chunks. If all samples fit into one
        chunk, they use this stream directly.
    draw : callable
        ``draw(start, stop, stream)`` draws the samples ``start .. stop - 1``.
    """
    if size < 2 * CHUNK:
        draw(0, size, stream)
        return
    cuts = range(0, size, CHUNK)
    streams = [branch(stream) for _ in cuts]
    run_in_threads(
        lambda i: draw(cuts[i], min(cuts[i] + CHUNK, size), streams[i]), range(len(cuts)), threads()
    )


def _fill(
    prepared: Prepared,
    inputs: Sequence[NDArray[np.float64]],
    out: NDArray[np.float64],
    stream: BitStream | None,
    words: NDArray[np.uint64] | None,
    more: Callable[[], int],
) -> None:
    """Fill `out` with samples for value, scale and granularity, from a stream or given words."""
    at, width, grid = inputs
    with np.errstate(over="ignore", under="ignore"):
        ratio, steps = width / grid, at / grid
    whole = np.rint(steps)
    frac = steps - whole
    arguments = stream, words, prepared.table, ratio, grid, frac, whole, out
    for i, bits in undecided(out.size, lambda *at: fill(*arguments, *at)):
        v, s, g = (float(x[i % x.size]) for x in inputs)
        out[i] = decide(prepared, bits, v, s, g, more)


def _flat(x: NDArray[np.float64], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return an input as an array with one value, or with one value for each sample in C order."""
    if x.size == 1:
        return np.ascontiguousarray(x, np.float64).reshape(1)
    return np.ascontiguousarray(np.broadcast_to(x, shape), np.float64).reshape(-1)
