"""Samples of each noise distribution, by name."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Floats, Integers, Number, Numbers, Size
from .._kernels.rng import BitStream
from ..rng import Generator, check
from .distributions import (
    ArsinhNormal,
    Cauchy,
    Distribution,
    Gaussian,
    GeneralizedCauchy,
    Laplace,
    PolyPlace,
    StudentT,
)
from .distributions.discrete import gaussian_integers, laplace_noise
from .samplers import draw, draw_array, in_chunks
from .stairs import Staircase

_FINEST = 30  # bits of the default grid below the scale
_ZERO = np.zeros(1)


def _scales(name: str, value: Numbers) -> NDArray[np.float64]:
    rule = "a number, or an array of numbers, between 2**-900 and 2**900"
    scales = checks.array(name, value, rule)
    if scales.dtype.kind not in "iuf":
        # Fraction, Decimal and the like are numbers too; strings and booleans are not.
        if scales.ndim or scales.dtype.kind != "O":
            checks.fail_type(name, rule, value)
        scales = np.asarray(checks.number(name, value, rule))
    scales = scales.astype(np.float64)
    if not np.all((scales >= 2.0**-900) & (scales <= 2.0**900)):
        checks.fail(name, rule, value)
    return scales


def _shape(size: Size, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    rule = "None, or a shape that scale and granularity broadcast to"
    return checks.shape("size", size, rule, np.broadcast_shapes(*shapes))


def _grid(granularity: Numbers | None, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    if granularity is None:
        return np.asarray(np.maximum(np.ldexp(1.0, np.frexp(scale)[1] - 1 - _FINEST), 2.0**-1000))
    grids = checks.array("granularity", granularity, "a power of two, or an array of them")
    if grids.ndim == 0:
        grid = np.asarray(checks.power_of_two("granularity", granularity))
    else:
        flat = [checks.power_of_two("granularity", g) for g in grids.ravel().tolist()]
        grid = np.array(flat, np.float64).reshape(grids.shape)
    try:
        np.broadcast_shapes(scale.shape, grid.shape)
    except ValueError:
        checks.fail(
            "granularity", f"an array whose shape broadcasts with {scale.shape}", grid.shape
        )
    if np.any(scale / grid > 2.0**52):
        checks.fail("granularity", "at least scale * 2**-52", granularity)
    return grid


def _sample(
    distribution: Distribution,
    scale: Numbers,
    size: Size,
    granularity: Numbers | None,
    rng: Generator | None,
) -> float | Floats:
    width = _scales("scale", scale)
    grid = _grid(granularity, width)
    shape = _shape(size, np.broadcast_shapes(width.shape, grid.shape))
    generator = check(rng)
    if size is None and shape == ():
        return draw(
            distribution,
            value=0.0,
            scale=float(width),
            granularity=float(grid),
            generator=generator,
        )
    return draw_array(
        distribution, value=_ZERO, scale=width, granularity=grid, shape=shape, generator=generator
    )


def laplace(
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw Laplace noise, exactly rounded to a grid.

    The density is ``exp(-abs(z) / scale) / (2 * scale)``.

    NOT PRIVATE by itself: a release adds the noise to a statistic. With scale = sensitivity /
    epsilon the sum is epsilon-differentially private (Dwork, McSherry, Nissim and Smith, TCC 2006),
    rounding included.

    Parameters
    ----------
    scale : float or array_like
        Between 2**-900 and 2**900. It must be public, unless `granularity` is given.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    granularity : float or array_like, optional
        The step of the grid: a power of two, at least ``scale * 2**-52``, computed from public
        numbers only. By default it is 2**-30 times the largest power of two not above ``scale``. A
        finer grid takes longer: if the step is halved, twice as many samples need more digits than
        float64 has.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample. The standard deviation is sqrt(2) * scale.

    Examples
    --------
    >>> import dpfast.noise
    >>> from dpfast.rng import InsecureGenerator
    >>> z = dpfast.noise.laplace(3.0, 4, granularity=0.5, rng=InsecureGenerator(1))
    >>> z.shape, bool((z % 0.5 == 0).all())
    ((4,), True)
    """
    return _sample(Laplace(), scale, size, granularity, rng)


def gaussian(
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw normal noise with mean 0 and standard deviation `scale`, exactly rounded to a grid.

    NOT PRIVATE by itself: a release adds the noise to a statistic. With scale = l2 sensitivity /
    sqrt(2 rho) the sum is rho-zCDP (Bun and Steinke, TCC 2016), rounding included.

    Parameters
    ----------
    scale : float or array_like
        Between 2**-900 and 2**900. It must be public, unless `granularity` is given.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    granularity : float or array_like, optional
        A public power of two, at least ``scale * 2**-52``; the default is as in `laplace`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample, and some milliseconds for the first sample of a distribution.

    Examples
    --------
    >>> import dpfast.noise
    >>> from dpfast.rng import InsecureGenerator
    >>> dpfast.noise.gaussian(1.0, (2, 3), rng=InsecureGenerator(1)).shape
    (2, 3)
    """
    return _sample(Gaussian(), scale, size, granularity, rng)


def cauchy(
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw Cauchy noise, exactly rounded to a grid.

    The density is ``1 / (pi * scale * (1 + (z / scale)**2))``.

    NOT PRIVATE by itself: noise whose scale is proportional to a smooth sensitivity gives pure
    differential privacy (Nissim, Raskhodnikova and Smith, STOC 2007). The distribution has neither
    mean nor variance.

    Parameters
    ----------
    scale : float or array_like
        Between 2**-900 and 2**900. It must be public, unless `granularity` is given.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    granularity : float or array_like, optional
        A public power of two, at least ``scale * 2**-52``; the default is as in `laplace`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample, and some milliseconds for the first sample of a distribution.

    Examples
    --------
    >>> import dpfast.noise
    >>> isinstance(dpfast.noise.cauchy(), float)
    True
    """
    return _sample(Cauchy(), scale, size, granularity, rng)


def student_t(
    df: float,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw Student's t noise, exactly rounded to a grid.

    The density is proportional to ``(1 + (z / scale)**2 / df)**(-(df + 1) / 2)``.

    NOT PRIVATE by itself: noise whose scale is proportional to a smooth sensitivity gives pure
    differential privacy (Bun and Steinke, NeurIPS 2019).

    Parameters
    ----------
    df : float
        Degrees of freedom: 1, or from 2 to 1,000,000.
    scale : float or array_like
        Between 2**-900 and 2**900. It must be public, unless `granularity` is given.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    granularity : float or array_like, optional
        A public power of two, at least ``scale * 2**-52``; the default is as in `laplace`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample, and some milliseconds for the first sample of a distribution.

    Examples
    --------
    >>> import dpfast.noise
    >>> isinstance(dpfast.noise.student_t(3.0), float)
    True
    """
    return _sample(StudentT(df), scale, size, granularity, rng)


def generalized_cauchy(
    gamma: int,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw noise with density ~ ``1 / (1 + abs(z / scale)**gamma)``, exactly rounded to a grid.

    NOT PRIVATE by itself: noise whose scale is proportional to a smooth sensitivity gives pure
    differential privacy (Nissim, Raskhodnikova and Smith, STOC 2007).

    Parameters
    ----------
    gamma : int
        From 2 (Cauchy) to 100. The variance is finite from 4 on.
    scale : float or array_like
        Between 2**-900 and 2**900. It must be public, unless `granularity` is given.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    granularity : float or array_like, optional
        A public power of two, at least ``scale * 2**-52``; the default is as in `laplace`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample, and some milliseconds for the first sample of a distribution.

    Examples
    --------
    >>> import dpfast.noise
    >>> isinstance(dpfast.noise.generalized_cauchy(4), float)
    True
    """
    return _sample(GeneralizedCauchy(gamma), scale, size, granularity, rng)


def polyplace(
    shape: float,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw PolyPlace noise, exactly rounded to a grid: a Laplace-like center and power tails.

    For a scale of 1 the density is ``C (1 - |z|)**(shape - 1)`` where ``|z| <= 1 / shape``, and
    ``C_t (1 + |z|)**-(shape + 1)`` elsewhere (Hladik and Tetek, FORC 2025). C and C_t are
    constants.

    NOT PRIVATE by itself: let S be a beta-smooth upper bound of the local sensitivity. With scale =
    S / beta and shape = epsilon / beta, the noise gives pure epsilon-differential privacy.

    Parameters
    ----------
    shape : float
        From 1.001 to 1,000,000: epsilon / beta. The variance is finite above 2. Below about 1.5 a
        call takes longer, because more samples need more digits than float64 has.
    scale : float or array_like
        Between 2**-900 and 2**900. It must be public, unless `granularity` is given.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    granularity : float or array_like, optional
        A public power of two, at least ``scale * 2**-52``; the default is as in `laplace`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample, and some milliseconds for the first sample of a distribution.

    Examples
    --------
    >>> import dpfast.noise
    >>> isinstance(dpfast.noise.polyplace(10 / 3), float)
    True
    """
    return _sample(PolyPlace(shape), scale, size, granularity, rng)


def arsinh_normal(
    sigma: float,
    scale: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw arsinh-normal noise, exactly rounded to a grid.

    The noise is ``scale * sinh(sigma * Y) / sigma`` for a standard normal Y.

    NOT PRIVATE by itself: noise whose scale is proportional to a smooth sensitivity gives
    zero-concentrated differential privacy (Bun and Steinke, NeurIPS 2019).

    Parameters
    ----------
    sigma : float
        Shape, from 0.001 to 10.
    scale : float or array_like
        Between 2**-900 and 2**900. It must be public, unless `granularity` is given.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    granularity : float or array_like, optional
        A public power of two, at least ``scale * 2**-52``; the default is as in `laplace`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample, and some milliseconds for the first sample of a distribution.

    Examples
    --------
    >>> import dpfast.noise
    >>> isinstance(dpfast.noise.arsinh_normal(0.9), float)
    True
    """
    return _sample(ArsinhNormal(sigma), scale, size, granularity, rng)


def staircase(
    epsilon: Number,
    sensitivity: Numbers = 1.0,
    size: Size = None,
    *,
    granularity: Numbers | None = None,
    rng: Generator | None = None,
) -> float | Floats:
    """Draw staircase noise on a grid: the least noise for one number under pure epsilon-DP.

    Let the sensitivity be D times the `granularity`. The noise is k times the `granularity` with a
    probability proportional to ``exp(-epsilon * l)``: l is 0 for ``abs(k) <= core`` and grows by 1
    with each further D multiples. `core` is chosen so that the variance is the least.

    NOT PRIVATE by itself: a release adds the noise to a statistic of that sensitivity. First round
    the statistic to a multiple of `granularity`: otherwise the sum reveals how far the statistic is
    from a multiple. The rounded sum is epsilon-differentially private (proof in
    ``dpfast/noise/stairs.py``).

    Parameters
    ----------
    epsilon : float, Fraction or Decimal
        From 2**-30 to 500.
    sensitivity : float or array_like
        Between 2**-900 and 2**900. Must be public.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `sensitivity`.
    granularity : float or array_like, optional
        A public power of two, at least 2**-52 times the larger of `sensitivity` and `sensitivity /
        epsilon`. By default it is 2**-30 times the largest power of two not above that larger
        number. The sensitivity is rounded up to a multiple of it.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    float or numpy.ndarray of float64
        Multiples of `granularity`; above ``2**53 * granularity`` the float64 nearest to the
        multiple.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some tens of nanoseconds a sample; an array of sensitivities costs as much as one call for
    each distinct rounded sensitivity. For an epsilon of 1, 2, 3, 5 and 10, the standard deviation
    is .98, .92, .83, .61 and .21 times the standard deviation of `laplace` with scale = sensitivity
    / epsilon.

    References
    ----------
    Geng and Viswanath, "The optimal mechanism in differential privacy", ISIT 2014.

    Examples
    --------
    >>> import dpfast.noise
    >>> from dpfast.rng import InsecureGenerator
    >>> z = dpfast.noise.staircase(5.0, 1000, 4, granularity=1, rng=InsecureGenerator(1))
    >>> z.shape, bool((z % 1 == 0).all())
    ((4,), True)
    """
    exact = checks.fraction("epsilon", epsilon)
    if not Fraction(1, 2**30) <= exact <= 500:
        checks.fail("epsilon", "at least 2**-30 and at most 500", epsilon)
    width = _scales("sensitivity", sensitivity)
    grid = _grid(granularity, width / min(1.0, float(exact)))
    shape = _shape(size, np.broadcast_shapes(width.shape, grid.shape))
    generator = check(rng)
    out = np.empty(shape)
    cells, flat = np.broadcast_to(np.ceil(width / grid), shape).reshape(-1), out.reshape(-1)
    for step, where in _groups(cells):
        flat[where] = Staircase.of(exact, int(step)).draw(where.size, generator)
    out *= grid
    return float(out) if size is None and shape == () else out


def _integers(
    name: str,
    scale: Any,
    size: Size,
    rng: Generator | None,
    sampler: Callable[[NDArray[np.int64], Fraction, BitStream], None],
) -> int | Integers:
    rule = "a number, or an array of numbers, between 2**-40 and 2**40"

    def exact(number: Any) -> Fraction:
        value = checks.number(name, number, rule)
        if not 2.0**-40 <= value <= 2.0**40:
            checks.fail(name, rule, number)
        # A Fraction, Decimal or integer is exact; a float is its exact binary value.
        return checks.ratio(number if isinstance(number, numbers.Rational | Decimal) else value)

    generator = check(rng)
    if isinstance(scale, np.ndarray) and scale.ndim == 0:
        scale = scale.item()
    if np.isscalar(scale) or isinstance(scale, numbers.Number) or scale is None:
        shape = _shape(size)
        out = np.empty(shape, np.int64)
        ratio = exact(scale)
        whole = out.reshape(-1)
        in_chunks(whole.size, generator.stream(), lambda i, j, s: sampler(whole[i:j], ratio, s))
        return int(out) if size is None else out
    widths = _scales(name, scale)
    shape = _shape(size, widths.shape)
    out = np.empty(shape, np.int64)
    flat, scales = out.reshape(-1), np.broadcast_to(widths, shape).reshape(-1)
    for width, where in _groups(scales):
        part = np.empty(where.size, np.int64)
        sampler(part, exact(width), generator.stream())
        flat[where] = part
    return out


def _groups(values: NDArray[np.float64]) -> list[tuple[float, NDArray[np.intp]]]:
    """Return each distinct value, ascending, with its indices."""
    distinct, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    indices = np.split(np.argsort(inverse, kind="stable"), np.cumsum(counts)[:-1])
    return list(zip(distinct.tolist(), indices, strict=False))


def discrete_laplace(
    scale: Numbers = 1.0, size: Size = None, *, rng: Generator | None = None
) -> int | Integers:
    """Draw integers with probability proportional to ``exp(-abs(k) / scale)``, exactly.

    NOT PRIVATE by itself: a release adds the noise to an integer statistic. With scale =
    sensitivity / epsilon the sum is epsilon-differentially private (Ghosh, Roughgarden and
    Sundararajan, STOC 2009).

    Parameters
    ----------
    scale : float, int, Fraction, Decimal or array_like
        Between 2**-40 and 2**40. It is used exactly, without rounding, whatever its type.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `scale`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    int or numpy.ndarray of int64

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: some nanoseconds a sample; an array of scales costs as much as one call for each distinct
    value.

    Examples
    --------
    >>> import dpfast.noise
    >>> from dpfast.rng import InsecureGenerator
    >>> dpfast.noise.discrete_laplace(2.0, 3, rng=InsecureGenerator(1)).dtype
    dtype('int64')
    """
    return _integers("scale", scale, size, rng, laplace_noise)


def discrete_gaussian(
    sigma: Numbers = 1.0, size: Size = None, *, rng: Generator | None = None
) -> int | Integers:
    """Draw integers with probability proportional to ``exp(-k**2 / (2 * sigma**2))``, exactly.

    NOT PRIVATE by itself: a release adds the noise to integer statistics. With sigma = l2
    sensitivity / sqrt(2 rho) the sum is rho-zCDP (Canonne, Kamath and Steinke, NeurIPS 2020). The
    variance is at most sigma**2.

    Parameters
    ----------
    sigma : float, int, Fraction, Decimal or array_like
        Between 2**-40 and 2**40. It is used exactly, without rounding, whatever its type.
    size : int or tuple of int, optional
        Shape of the result; by default the shape of `sigma`.
    rng : SecureGenerator or InsecureGenerator, optional
        By default the secure generator of this thread.

    Returns
    -------
    int or numpy.ndarray of int64

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks a rule above.

    Notes
    -----
    Cost: about three times the cost of `discrete_laplace`.

    Examples
    --------
    >>> import dpfast.noise
    >>> isinstance(dpfast.noise.discrete_gaussian(10.0), int)
    True
    """
    return _integers("sigma", sigma, size, rng, gaussian_integers)
