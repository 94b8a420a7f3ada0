"""NumPy's `Generator`, with secure bits and exact distributions.

It is for programs that draw their own noise. Noise from NumPy's generator is not safe: its low bits
reveal the number that the noise was added to (Mironov, CCS 2012), and the state of the generator
can be computed from its output. Here every number is a multiple of a public grid, and the bits are
secure. There are three kinds of methods.

* Normal, Laplace and logistic numbers come from tables (`distributions`). An exponential number is
  the absolute value of a Laplace number.
* Gumbel and geometric numbers are functions of a uniform number, of which 64 bits are drawn
  (`distributions/inverted.py`). They are computed in float64 with an error bound, and with more
  digits where that bound is not enough. So they are the same on every machine.
* Uniform numbers and choices are computed in integers, so they are exact. In a permutation each
  position gets any of the remaining entries (Durstenfeld, CACM 1964), so all orders are equally
  likely.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, MutableSequence
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Floats, Number, Numbers, Size
from .._kernels.rng import BitStream
from ..rng import Generator, InsecureGenerator, check
from . import choice as exact
from .distributions import Distribution, Gaussian, Laplace, Logistic
from .distributions.inverted import geometric, gumbel
from .samplers import draw, draw_array, in_chunks, saturated

Words = NDArray[np.uint64]

#: The most numbers that one call returns.
_MANY = 1 << 40
_NUMBERS = "a finite number, or an array of them"


class Sampler:
    """Random numbers with the method names of NumPy's `Generator`; returned by `generator`.

    Examples
    --------
    >>> rng = generator(0.25)
    >>> rng.normal(3, 1.5) % 0.25, rng.standard_normal(2).shape, rng.laplace([0.0, 9.0]).shape
    (0.0, (2,), (2,))
    >>> rng.logistic(0, 2) % 0.25, rng.gumbel([0, 9]).shape, rng.exponential(2.0) >= 0
    (0.0, (2,), True)
    >>> rng.standard_exponential(3).shape, rng.geometric(1.0).item()
    ((3,), 1)
    >>> 5 <= rng.uniform(5, 6) < 6, rng.random() < 1, rng.integers(6, endpoint=True) <= 6
    (True, True, np.True_)
    >>> rng.choice(["a", "b"], p=[0, 1]).item(), len(rng.bytes(4)), len(rng.spawn(2))
    ('b', 4, 2)
    >>> x = [1, 2, 3]
    >>> rng.shuffle(x)
    >>> sorted(x), rng.permutation(3).shape, rng.permuted([[1, 2], [3, 4]], axis=1).sum(1)
    ([1, 2, 3], (3,), array([3, 7]))
    """

    __slots__ = ("_grid", "_rng")

    def __init__(self, granularity: float, rng: Generator) -> None:
        self._grid, self._rng = granularity, rng

    def __repr__(self) -> str:
        return f"generator({self._grid}, rng={self._rng})"

    def __getattr__(self, name: str) -> Any:
        has = ", ".join(method for method in dir(type(self)) if method[0] != "_")
        raise AttributeError(f"a generator of dpfast has no exact {name!r}: it has {has}")

    # ---- Distributions of real numbers. ----

    def normal(self, loc: Numbers = 0.0, scale: Numbers = 1.0, size: Size = None) -> Any:
        """Draw normal numbers, correctly rounded to the grid.

        Parameters
        ----------
        loc : float or array_like
            The mean. It may be private, so no value is an error: values beyond float64 are clamped,
            and NaN counts as 0.
        scale : float or array_like
            The standard deviation, at most ``2**52 * granularity``; public.
        size : int or tuple of int, optional
            By default the shape to which `loc` and `scale` broadcast.

        Returns
        -------
        float or numpy.ndarray of float64
        """
        return self._around(Gaussian(), loc, scale, size)

    def standard_normal(self, size: Size = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw normal numbers of mean 0 and variance 1, correctly rounded to the grid.

        Parameters
        ----------
        size : int or tuple of int, optional
        dtype : dtype, optional
            float64, or float32, to which the numbers are rounded.
        out : numpy.ndarray, optional
            The array that is filled and returned.

        Returns
        -------
        float or numpy.ndarray
        """
        return _into(partial(self._around, Gaussian(), 0.0, 1.0), size, dtype, out)

    def laplace(self, loc: Numbers = 0.0, scale: Numbers = 1.0, size: Size = None) -> Any:
        """Draw Laplace numbers, correctly rounded to the grid.

        Parameters
        ----------
        loc : float or array_like
            The mean. It may be private, so no value is an error: values beyond float64 are clamped,
            and NaN counts as 0.
        scale : float or array_like
            At most ``2**52 * granularity``; public.
        size : int or tuple of int, optional
            By default the shape to which `loc` and `scale` broadcast.

        Returns
        -------
        float or numpy.ndarray of float64
        """
        return self._around(Laplace(), loc, scale, size)

    def logistic(self, loc: Numbers = 0.0, scale: Numbers = 1.0, size: Size = None) -> Any:
        """Draw logistic numbers, correctly rounded to the grid.

        Parameters
        ----------
        loc : float or array_like
            The mean. It may be private, so no value is an error: values beyond float64 are clamped,
            and NaN counts as 0.
        scale : float or array_like
            At most ``2**52 * granularity``; public.
        size : int or tuple of int, optional
            By default the shape to which `loc` and `scale` broadcast.

        Returns
        -------
        float or numpy.ndarray of float64
        """
        return self._around(Logistic(), loc, scale, size)

    def gumbel(self, loc: Numbers = 0.0, scale: Numbers = 1.0, size: Size = None) -> Any:
        """Draw Gumbel numbers, correctly rounded to the grid.

        Parameters
        ----------
        loc : float or array_like
            The mode. It may be private, so no value is an error: values beyond float64 are clamped,
            and NaN counts as 0.
        scale : float or array_like
            At most ``2**52 * granularity``; public.
        size : int or tuple of int, optional
            By default the shape to which `loc` and `scale` broadcast.

        Returns
        -------
        float or numpy.ndarray of float64
        """
        middle, width = self._middle(loc), self._width(scale)
        shape = _shape(size, loc=middle.shape, scale=width.shape)
        still = width == 0
        wide, grid = np.where(still, self._grid, width), self._grid

        def draw(part: slice, stream: BitStream) -> Floats:
            words = _words(part.stop - part.start, stream)
            center, width = (_part(value, shape, part) for value in (middle, wide))
            return gumbel(words, center, width, grid, stream.word)

        return self._placed(self._chunks(shape, draw), middle, still)

    def exponential(self, scale: Numbers = 1.0, size: Size = None) -> Any:
        """Draw exponential numbers, correctly rounded to the grid.

        Parameters
        ----------
        scale : float or array_like
            The mean, at most ``2**52 * granularity``; public.
        size : int or tuple of int, optional
            By default the shape of `scale`.

        Returns
        -------
        float or numpy.ndarray of float64
        """
        return abs(self._around(Laplace(), 0.0, scale, size))

    def standard_exponential(
        self, size: Size = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        """Draw exponential numbers of mean 1, correctly rounded to the grid.

        Parameters
        ----------
        size : int or tuple of int, optional
        dtype : dtype, optional
            float64, or float32, to which the numbers are rounded.
        method : {'zig', 'inv'}
            Ignored: there is only one method.
        out : numpy.ndarray, optional
            The array that is filled and returned.

        Returns
        -------
        float or numpy.ndarray
        """
        checks.choice("method", method, ("zig", "inv"))
        return _into(partial(self.exponential, 1.0), size, dtype, out)

    def uniform(self, low: Numbers = 0.0, high: Numbers = 1.0, size: Size = None) -> Any:
        """Draw uniform numbers between `low` and `high`, rounded down to the grid.

        Parameters
        ----------
        low : float or array_like
            Public. If `low` is between two multiples of the grid, the lower multiple is drawn too.
        high : float or array_like
            Public, and at least `low`. `high` itself is never drawn, unless it equals `low`.
        size : int or tuple of int, optional

        Returns
        -------
        float or numpy.ndarray of float64
        """
        ends = [_finite("low", low), _finite("high", high)]
        shape = _shape(size, low=ends[0].shape, high=ends[1].shape)
        for name, end in zip(("low", "high"), ends, strict=True):
            if np.any(np.abs(end) > 2.0**53 * self._grid):
                checks.fail(name, "at most granularity * 2**53 in size", end)
        if np.any(ends[0] > ends[1]):
            checks.fail("high", "at least low", high)
        pairs = np.stack([np.broadcast_to(end, shape).reshape(-1) for end in ends])
        if ends[0].size == ends[1].size == 1:
            pairs = pairs[:, :1]
        distinct, inverse, counts = np.unique(
            pairs, axis=1, return_inverse=True, return_counts=True
        )
        indices = np.split(np.argsort(inverse.reshape(-1), kind="stable"), np.cumsum(counts)[:-1])
        out, stream = np.empty(shape), self._rng.stream()
        flat = out.reshape(-1)
        for (a, b), where in zip(distinct.T.tolist(), indices, strict=False):
            at = where if distinct.shape[1] > 1 else slice(None)
            flat[at] = _between(a, b, self._grid, flat[at].size, stream)
        return out if shape else float(out[()])

    def random(self, size: Size = None, dtype: Any = np.float64, out: Any = None) -> Any:
        """Draw numbers of [0, 1), rounded down to the grid.

        Parameters
        ----------
        size : int or tuple of int, optional
        dtype : dtype, optional
            float64 or float32. The step of the grid is at least 2**-53, or 2**-24 for float32.
        out : numpy.ndarray, optional
            The array that is filled and returned.

        Returns
        -------
        float or numpy.ndarray
        """
        finest = 2.0**-24 if _dtype(dtype) == np.float32 else 2.0**-53
        step = max(self._grid, finest)

        def draw(size: Size) -> Any:
            shape = _shape(size)
            cells = self._indices(max(1, int(1 / step)), math.prod(shape))
            uniform = (cells * step).reshape(shape)
            return uniform if shape else float(uniform[()])

        return _into(draw, size, dtype, out)

    # ---- Integers and selections. ----

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        """Draw uniform integers.

        Parameters
        ----------
        low : int or array_like of int
            The least integer. If `high` is left out, integers from 0 to ``low - 1`` are drawn.
        high : int or array_like of int, optional
            The greatest integer plus one; with `endpoint`, the greatest integer.
        size : int or tuple of int, optional
        dtype : dtype, optional
            An integer type or bool.
        endpoint : bool, default False
            Whether `high` is drawn too.

        Returns
        -------
        integer of NumPy, or numpy.ndarray
        """
        kind, also = _dtype(dtype, "biu"), checks.flag("endpoint", endpoint)
        if high is None:
            low, high = 0, low
        limits = np.iinfo(kind) if kind.kind != "b" else None
        least, most = (int(limits.min), int(limits.max)) if limits else (0, 1)
        first = _whole("low", low, least, most)
        last = _whole("high", high, least, most + (not also))
        shape = _shape(size, low=first.shape, high=last.shape)
        if not np.all(first <= last if also else first < last):
            checks.fail("high", "at least low" if also else "greater than low", high)
        start = _modular(first)
        with np.errstate(over="ignore"):
            width = _modular(last) - start + np.uint64(also)  # where 0 stands for 2**64
            drawn = np.broadcast_to(start, shape) + self._below(width, shape)
        integers = drawn.astype(kind) if kind.kind != "b" else drawn.astype(np.bool_)
        return integers[()]

    def geometric(self, p: Numbers, size: Size = None) -> Any:
        """Draw exact geometric numbers: how many trials it takes until the first success.

        Parameters
        ----------
        p : float or array_like
            The probability of a success, above 0 and at most 1; public. It is not rounded.
        size : int or tuple of int, optional
            By default the shape of `p`.

        Returns
        -------
        int64 of NumPy, or numpy.ndarray
            At most 2**63 - 1: larger numbers are returned as this number.
        """
        chance = _finite("p", p)
        if not np.all((chance > 0) & (chance <= 1)):
            checks.fail("p", "above 0 and at most 1", p)
        shape = _shape(size, p=chance.shape)

        def draw(part: slice, stream: BitStream) -> NDArray[np.int64]:
            words = _words(part.stop - part.start, stream)
            return geometric(words, _part(chance, shape, part), stream.word)

        return self._chunks(shape, draw, np.int64)[()]

    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> Any:
        """Draw from ``0 .. a - 1`` or from a list, with probabilities exactly in proportion to `p`.

        Parameters
        ----------
        a : int or array_like
        size : int or tuple of int, optional
            One draw by default.
        replace : bool, default True
            If False, all draws are different.
        p : array_like, optional
            The weight of each candidate; by default all weights are equal. Candidate i is drawn
            with probability ``p[i] / sum(p)``, without rounding. The weights may be private, so no
            value is an error. A value that is not above 0 counts as 0. If no weight is above 0, all
            candidates are equally likely.
        axis : int, default 0
            The axis of `a` that is drawn from.
        shuffle : bool, default True
            Ignored: draws without replacement are always in random order.

        Returns
        -------
        object or numpy.ndarray
        """
        checks.flag("shuffle", shuffle)
        items = None if checks.is_whole(a) else _items("a", a)
        along = _axis(axis, 1 if items is None else items.ndim)
        rule = "a number above 0, or a list that is not empty"
        n = checks.whole("a", a, 1) if items is None else items.shape[along]
        if not 0 < n < 1 << 63:
            checks.fail("a", rule, a if items is None else "an empty array")
        if not checks.flag("replace", replace) and n > _MANY:
            checks.fail("a", f"at most {_MANY} without replacement", a)
        weights = None if p is None else weights_of(p, n)
        shape = _shape(size)
        k = math.prod(shape)
        if not replace and k > n:
            checks.fail("size", "at most the number of candidates", size)
        if weights is not None:
            drawn = np.array(_weighted(weights, k, replace, self._rng.stream()), np.int64)
        elif replace:
            drawn = self._indices(n, k)
        else:
            drawn = _different(n, k, self._rng.stream())
        at = drawn.reshape(shape)
        return at[()] if items is None else np.take(items, at[()], axis=along)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle an array or a list in place, and return None.

        Parameters
        ----------
        x : numpy.ndarray or mutable sequence
        axis : int, default 0
            Entries along the other axes move together.
        """
        rule = "a writable array, or a list"
        if isinstance(x, np.ndarray) and type(x) is np.ndarray:
            if not x.ndim or not x.flags.writeable:
                checks.fail_kind("x", rule, x)
            along = _axis(axis, x.ndim)
            x[...] = np.take(x, self._order(x.shape[along]), axis=along)
            return
        if not isinstance(x, MutableSequence):
            checks.fail_kind("x", rule, x)
        _axis(axis, 1)
        items = checks.items(x)
        for i, j in enumerate(self._order(len(items)).tolist()):
            x[i] = items[j]

    def permutation(self, x: Any, axis: int = 0) -> NDArray[Any]:
        """Return ``0 .. x - 1``, or a copy of an array, in random order.

        Parameters
        ----------
        x : int or array_like
        axis : int, default 0
            Entries along the other axes move together.

        Returns
        -------
        numpy.ndarray
        """
        if checks.is_whole(x):
            if checks.whole("x", x) > _MANY:
                checks.fail("x", f"at most {_MANY}", x)
            _axis(axis, 1)
            return self._order(int(x))
        items = _items("x", x)
        along = _axis(axis, items.ndim)
        return np.take(items, self._order(items.shape[along]), axis=along)

    def permuted(self, x: Any, *, axis: int | None = None, out: Any = None) -> NDArray[Any]:
        """Return a shuffled copy of an array: all entries, or along `axis` each line separately.

        Parameters
        ----------
        x : array_like
        axis : int, optional
            By default all entries of the array are permuted.
        out : numpy.ndarray, optional
            The array that is filled and returned; it may be `x`.

        Returns
        -------
        numpy.ndarray
        """
        items = _items("x", x)
        if axis is None:
            shuffled = items.reshape(-1)[self._order(items.size)].reshape(items.shape)
        else:
            along = _axis(axis, items.ndim)
            rows = np.moveaxis(items, along, -1)
            n = rows.shape[-1]
            orders = exact.orders(math.prod(rows.shape[:-1]), n, n, self._rng.stream())
            moved = np.take_along_axis(rows, orders.reshape(rows.shape), -1)
            shuffled = np.moveaxis(moved, -1, along)
        if out is None:
            return shuffled
        _fits(out, items.shape, items.dtype)[...] = shuffled
        return cast("NDArray[Any]", out)

    # ---- Bits. ----

    def bytes(self, length: int) -> builtins.bytes:
        """Draw random bytes.

        Parameters
        ----------
        length : int

        Returns
        -------
        bytes
        """
        if checks.whole("length", length) > _MANY:
            checks.fail("length", f"at most {_MANY}", length)
        return self._rng.bytes(int(length))

    def spawn(self, n_children: int) -> list[Sampler]:
        """Return new generators, independent of this generator and of each other.

        Parameters
        ----------
        n_children : int

        Returns
        -------
        list of Sampler
        """
        if checks.whole("n_children", n_children) > 1 << 20:
            checks.fail("n_children", "at most 2**20", n_children)
        return [Sampler(self._grid, self._child()) for _ in range(int(n_children))]

    def _child(self) -> Generator:
        # A secure generator can be shared: no bits are used twice. An insecure one is reproducible,
        # so the child gets a seed of its own.
        if not isinstance(self._rng, InsecureGenerator):
            return self._rng
        return InsecureGenerator(int.from_bytes(self._rng.bytes(16), "little"))

    # ---- How samples are drawn. ----

    def _around(self, distribution: Distribution, loc: Any, scale: Any, size: Any) -> Any:
        least, most = 2.0**-900, 2.0**52 * self._grid
        if size is None and type(loc) is type(scale) is float and least <= scale <= most:
            return draw(  # returns the same number as below, many times as fast
                distribution, value=loc, scale=scale, granularity=self._grid, generator=self._rng
            )
        middle, width = self._middle(loc), self._width(scale)
        shape = _shape(size, loc=middle.shape, scale=width.shape)
        still = width == 0
        drawn = draw_array(
            distribution,
            value=middle,
            scale=np.where(still, self._grid, width),
            granularity=np.array([self._grid]),
            shape=shape,
            generator=self._rng,
        )
        return self._placed(drawn, middle, still)

    def _placed(self, drawn: Floats, middle: Floats, still: NDArray[np.bool_]) -> Any:
        """Return drawn numbers, replaced by `middle` where the scale is 0."""
        if still.any():
            drawn = np.where(still, np.rint(middle / self._grid) * self._grid, drawn)
        return drawn if drawn.shape else float(drawn[()])

    def _chunks(
        self, shape: tuple[int, ...], draw: Callable[[slice, BitStream], Any], dtype: Any = float
    ) -> NDArray[Any]:
        """Fill an array in chunks, each from a separate stream of random bits."""
        out = np.empty(shape, dtype)
        flat = out.reshape(-1)

        def fill(start: int, stop: int, stream: BitStream) -> None:
            flat[start:stop] = draw(slice(start, stop), stream)

        in_chunks(flat.size, self._rng.stream(), fill)
        return out

    def _middle(self, loc: Any) -> Floats:
        return saturated(_private("loc", loc, _NUMBERS), self._grid)

    def _width(self, scale: Any) -> Floats:
        width = _finite("scale", scale)
        least, most = 2.0**-900, 2.0**52 * self._grid
        if np.any((width < least) & (width != 0)) or np.any(width > most):
            rule = f"0, or between 2**-900 and granularity * 2**52 = {most}"
            checks.fail("scale", rule, scale)
        return width

    def _indices(self, n: int, size: int) -> NDArray[np.int64]:
        """Draw `size` uniform integers of 0 .. n - 1."""
        return self._chunks(
            (size,), lambda part, stream: exact.uniform(n, part.stop - part.start, stream), np.int64
        )

    def _below(self, width: Words, shape: tuple[int, ...]) -> Words:
        """Draw a uniform integer below each limit of `width`, where 0 means 2**64."""
        stream = self._rng.stream()
        if width.size == 1 and 0 < int(width.reshape(())[()]) < 1 << 63:
            n = int(width.reshape(())[()])
            return self._indices(n, math.prod(shape)).astype(np.uint64).reshape(shape)
        limits = np.broadcast_to(width, shape).reshape(-1)
        out = np.empty(limits.size, np.uint64)
        narrow = (limits > 0) & (limits < 1 << 63)
        out[narrow] = exact.slots(limits[narrow].astype(np.int64), stream).astype(np.uint64)
        left = np.flatnonzero(~narrow)
        while left.size:  # each word is below its limit with probability of at least 1/2
            words = _words(left.size, stream)
            fits = (words < limits[left]) | (limits[left] == 0)
            out[left[fits]] = words[fits]
            left = left[~fits]
        return out.reshape(shape)

    def _order(self, n: int) -> NDArray[np.int64]:
        return exact.orders(1, n, n, self._rng.stream()).reshape(-1)


def generator(granularity: Number = 2**-20, *, rng: Generator | None = None) -> Sampler:
    """Return a replacement for NumPy's `Generator`: secure bits, exact samples, a public grid.

    NOT PRIVATE by itself: whether a sum is private depends on the sensitivity of the values to
    which the noise is added.

    ``dp.rng.generator`` is the same function. Every real number that is drawn is the multiple of
    `granularity` nearest to an ideal number (uniform numbers are rounded down). The rounding keeps
    the privacy of the ideal noise in two cases. Either the sum of value and noise is rounded, as in
    ``rng.normal(loc=x)``. Or the values are multiples of the grid, as integer counts are: then
    ``counts + rng.normal(0, scale, n)`` is exact, if it is below ``2**53 * granularity`` (by
    default 2**33).

    Parameters
    ----------
    granularity : float, default 2**-20
        A power of two, chosen from public parameters only.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    Sampler
        It has those methods of NumPy's generator that dpfast can draw exactly, with the same
        arguments in the same order. Any other method, such as ``poisson``, raises an error that
        lists the methods that exist.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above. The methods raise these errors too, before any bit is
        drawn.

    References
    ----------
    Mironov, "On significance of the least significant bits for differential privacy", CCS 2012.

    Notes
    -----
    Cost: 5 to 30 ns a number, and 15 ns an entry of a permutation. Choices with `p` are slower if
    they are without replacement, or if the weights as integers need more than 63 bits.

    Examples
    --------
    >>> import dpfast as dp
    >>> rng = dp.rng.generator()
    >>> counts = np.array([300, 0, 500])
    >>> noisy = counts + rng.laplace(0, 20, 3)
    >>> bool((noisy * 2**20 % 1 == 0).all())
    True
    """
    return Sampler(checks.power_of_two("granularity", granularity), check(rng))


def _private(name: str, value: Any, rule: str) -> NDArray[Any]:
    """Return private numbers as an array; only the type is checked, and no error shows a number."""
    array = checks.array(name, value, rule)
    kind = array.dtype.kind
    if isinstance(value, np.ma.MaskedArray) or kind not in "biufO":
        checks.fail_kind(name, rule, value)
    if not array.ndim and kind == "O" and checks.real(value) is None:
        checks.fail_kind(name, rule, value)
    return array


def _finite(name: str, value: Any) -> Floats:
    """Return public numbers as an array, checked to be finite."""
    array = checks.array(name, value, _NUMBERS)
    if array.dtype.kind not in "biuf" or not np.isfinite(array).all():
        if array.ndim or array.dtype.kind != "O":
            checks.fail(name, _NUMBERS, value)
        return np.asarray(checks.number(name, value, _NUMBERS))
    return array.astype(np.float64)


def _whole(name: str, value: Any, least: int, most: int) -> NDArray[Any]:
    """Return integers as an array, checked to be between `least` and `most`."""
    rule = f"an integer, or an array of them, from {least} to {most}"
    if checks.is_whole(value):
        n = int(value)
        if not least <= n <= most:
            checks.fail(name, rule, value)
        return np.asarray(n, np.int64 if n < 1 << 63 else np.uint64 if n < 1 << 64 else None)
    array = checks.array(name, value, rule)
    if array.dtype.kind not in "iu":
        checks.fail_type(name, rule, value)
    if array.size and not (least <= int(array.min()) and int(array.max()) <= most):
        checks.fail(name, rule, value)
    return array


def _modular(values: NDArray[Any]) -> Words:
    """Return integers modulo 2**64."""
    if values.dtype.kind == "O":  # only 2**64 itself is passed as an object
        return np.zeros(values.shape, np.uint64)
    return values.astype(np.uint64)


def _shape(size: Any, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of a result: `size`, or the shape that the arguments broadcast to."""
    names = " and ".join(shapes)
    try:
        common = np.broadcast_shapes(*shapes.values())
    except ValueError:
        checks.fail(
            list(shapes)[-1], f"an array such that {names} broadcast", list(shapes.values())[-1]
        )
    rule = "None, or a shape" + (f" that {names} broadcast to" if shapes else "")
    return checks.shape("size", size, rule, common)


def _dtype(value: Any, kinds: str = "f") -> np.dtype[Any]:
    """Return a dtype, checked to be one that can be drawn."""
    rule = "float64 or float32" if kinds == "f" else "a type of integers, or bool"
    try:
        dtype: np.dtype[Any] = np.dtype(value)
    except Exception:  # an object may raise any error here
        checks.fail_type("dtype", rule, value)
    if dtype.kind not in kinds or (kinds == "f" and dtype.itemsize not in (4, 8)):
        checks.fail("dtype", rule, value)
    return dtype.newbyteorder("=")


def _fits(out: Any, shape: tuple[int, ...] | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Check the shape and dtype of an array to fill."""
    rule = f"a writable array of {dtype}"
    if type(out) is not np.ndarray or out.dtype != dtype or not out.flags.writeable:
        checks.fail_kind("out", rule, out)
    if shape is not None and out.shape != shape:
        checks.fail("out", f"an array of shape {shape}", out.shape)
    return out


def _into(draw: Callable[[Any], Any], size: Size, dtype: Any, out: Any) -> Any:
    """Draw numbers of a dtype, into the array `out` if it is given."""
    kind = _dtype(dtype)
    if out is None:
        drawn = draw(size)
        return drawn if kind == np.float64 else np.asarray(drawn, kind)[()]
    _fits(out, None if size is None else _shape(size), kind)
    out[...] = draw(out.shape)
    return out


def _items(name: str, value: Any) -> NDArray[Any]:
    """Return items as an array of at least one axis; refuse masked arrays."""
    rule = "a number, or a list or an array"
    if isinstance(value, np.ma.MaskedArray):
        checks.fail_kind(name, rule, value)
    items = checks.array(name, value, rule)
    if not items.ndim:
        checks.fail_kind(name, rule, value)
    return items


def _axis(axis: Any, ndim: int) -> int:
    """Return the number of an axis, counted from the first one."""
    rule = f"an integer from {-ndim} to {ndim - 1}, because there are {ndim} axes"
    if not checks.is_whole(axis):
        checks.fail_type("axis", rule, axis)
    if not -ndim <= int(axis) < ndim:
        checks.fail("axis", rule, axis)
    return int(axis) % ndim


def _words(size: int, stream: BitStream) -> Words:
    words = np.empty(size, "<u8")
    stream.fill(words.view(np.uint8))
    return words.astype(np.uint64, copy=False)


def _part(values: Floats, shape: tuple[int, ...], part: slice) -> Floats:
    """Return a slice, in C order, of an array broadcast to a shape; a single number as it is."""
    return values.reshape(-1) if values.size == 1 else np.broadcast_to(values, shape).flat[part]


def _between(low: float, high: float, grid: float, size: int, stream: BitStream) -> Any:
    """Draw uniform numbers of [low, high), rounded down to the grid."""
    ends = [Fraction(end) / Fraction(grid) for end in (low, high)]
    # Denominators are powers of two, so the largest is a multiple of both.
    parts = max(end.denominator for end in ends)
    first, last = (int(end * parts) for end in ends)
    if first == last:
        return np.full(size, first // parts * grid)
    if max(-first, last, parts) < 1 << 62:
        return (first + exact.uniform(last - first, size, stream)) // parts * grid
    drawn = ((first + exact.below(last - first, stream)) // parts for _ in range(size))
    return np.fromiter((cell * grid for cell in drawn), np.float64, size)


def _different(n: int, k: int, stream: BitStream) -> NDArray[np.int64]:
    """Draw k different integers of 0 .. n - 1, in random order."""
    if 2 * k > n or k > 1 << 24:
        return exact.orders(1, n, k, stream).reshape(-1)
    indices = np.empty(0, np.int64)
    while indices.size < k:  # draw more, and keep the first of equal ones, until there are k
        indices = np.concatenate([indices, exact.uniform(n, k, stream)])
        indices = indices[np.sort(np.unique(indices, return_index=True)[1])]
    return indices[:k]


def weights_of(p: Any, size: int) -> list[int]:
    """Return probabilities, which may be private, as integers in the same proportions.

    An entry that is not a number above 0 counts as 0. If no entry is above 0, all have equal
    weights.
    """
    rule = f"an array of {size} numbers, one for each candidate"
    probabilities = _private("p", p, rule)
    if probabilities.shape != (size,):
        checks.fail_kind("p", rule, p)
    ratios = [Fraction(max(x, 0.0)) for x in saturated(probabilities).tolist()]
    # Denominators are powers of two, so the largest is a multiple of all.
    common = max(x.denominator for x in ratios)
    return [int(x * common) for x in ratios] if any(ratios) else [1] * size


def _weighted(weights: list[int], k: int, replace: bool, stream: BitStream) -> Any:
    sums = list(accumulate(weights))
    if replace and sums[-1] < 1 << 63:
        drawn = exact.uniform(sums[-1], k, stream)
        return np.searchsorted(np.array(sums, np.int64), drawn, side="right")
    likely = k if replace else min(k, sum(weight > 0 for weight in weights))
    first = exact.weighted(weights, likely, replace, stream)
    # The remaining draws are from candidates of weight 0.
    none = [int(weight == 0) for weight in weights]
    return first + exact.weighted(none, k - likely, replace, stream)
