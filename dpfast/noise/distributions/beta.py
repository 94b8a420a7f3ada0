"""Distributions whose survival function is half an incomplete beta ratio.

They are Student's t and the generalized Cauchy distribution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .base import Distribution, Floats, context, ratio


@lru_cache(maxsize=1024)
def _parameters(a: Fraction, b: Fraction, precision: int) -> tuple[Any, ...]:
    """Return a, b and 2 B(a, b) as raw mpmath numbers."""
    mp = context(precision)
    x, y = ratio(mp, a), ratio(mp, b)
    # ln Gamma of a large argument loses as many bits as it has, and a few for its logarithm.
    mp.prec = precision + 50 + int(a + b).bit_length()
    x2, y2 = ratio(mp, a), ratio(mp, b)
    twice = 2 * mp.exp(mp.loggamma(x2) + mp.loggamma(y2) - mp.loggamma(x2 + y2))
    mp.prec = precision
    return x._mpf_, y._mpf_, (+twice)._mpf_


def beta_constant(mp: Any, a: Fraction, b: Fraction) -> Any:
    """Return the beta function B(a, b)."""
    full = mp.prec
    twice = mp.make_mpf(_parameters(a, b, full)[2])
    mp.prec = full
    return twice / 2


@lru_cache(maxsize=1024)
def _integers(start: Fraction, base: Fraction) -> tuple[int, int, int]:
    common = math.lcm(start.denominator, base.denominator)
    return int(start * common), int(base * common), common


def _sum(start: Fraction, base: Fraction, x: Any, bits: int, mp: Any) -> Any:
    """Return sum over n of x^n prod over i < n of (start + i) / (base + i), in fixed point.

    All terms are positive. The ratio of successive terms tends to x <= 1/2 from one side. As soon
    as it is below 3/4 it stays there, so the rest is at most three times the last term.
    """
    top, bottom, step = _integers(start, base)
    fixed = int(mp.ldexp(x, bits))
    unit = 1 << bits
    term = total = unit
    while term >= 4 or 4 * top * fixed >= 3 * bottom * unit:
        term = (term * fixed >> bits) * top // bottom
        total += term
        top += step
        bottom += step
    return mp.ldexp(mp.mpf(total), -bits)


def beta_tail(mp: Any, a: Fraction, b: Fraction, split: Callable[[], tuple[Any, Any]]) -> Any:
    """Return half the incomplete beta ratio I_w(a, b); `split` gives w and 1 - w to a few units.

    For small w it is computed from I_w(a, b) = w^a x^b F(a + b, 1; a + 1; w) / (a B(a, b)). For
    large w it is 1 - I_x(b, a), with as many further bits as the difference cancels.
    """
    full = mp.prec
    # A relative error of w or 1 - w is multiplied by at most a + b.
    guard = 40 + int(a + b).bit_length()
    while True:
        mp.prec = bits = full + guard
        p, q, twice = map(mp.make_mpf, _parameters(a, b, bits))
        mp.prec = bits
        w, x = split()
        if not x:
            result = mp.mpf(0.5)
            break
        front = mp.exp(p * mp.log(w) + q * mp.log(x)) / twice
        if 2 * w <= 1:
            result = front / p * _sum(a + b, a + 1, w, bits, mp)
            break
        result = 0.5 - front / q * _sum(a + b, b + 1, x, bits, mp)
        if result > 0 and mp.mag(result) > 20 - guard + int(a + b).bit_length():
            break
        guard += 40
    mp.prec = full
    return +result


def march(
    distribution: Distribution,
    mp: Any,
    p: Floats,
    density: Callable[[float], float],
    decline: Callable[[float], float],
) -> list[Any]:
    """Return Q at the ascending points p, to 2**-60 relative; `decline` is -f'/f.

    dQ / d ln p = -p / f(Q) is followed from the tail to the center (the direction in which errors
    shrink) by Runge-Kutta steps, and each value is then corrected by the survival function at full
    precision: with off = (P(Z > z) - p) / f(z), Q(p) = z + off + decline off^2 / 2 + c off^3.
    For the distributions here z^2 |c| < 2^13, so that off < 2^-25 z leaves less than 2^-60 z.
    """
    points = p.tolist()
    z = float(distribution.quantile(mp, mp.mpf(points[0])))
    quantiles: list[Any] = []
    last = points[0]
    for at in points:
        parts = 1 + int(20 * math.log(at / last))
        step = math.log(at / last) / parts
        for i in range(parts if step else 0):
            here = last * math.exp(i * step)
            middle, there = here * math.exp(step / 2), here * math.exp(step)
            k1 = -here / density(z)
            k2 = -middle / density(z + step / 2 * k1)
            k3 = -middle / density(z + step / 2 * k2)
            k4 = -there / density(z + step * k3)
            z += step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        last = at
        off = float(distribution.survival(mp, mp.mpf(z)) - at) / density(z)
        bend = decline(z)
        if abs(off) > 2.0**-25 * z:
            exact = distribution.quantile(mp, mp.mpf(at))
        else:
            exact = mp.mpf(z) + (off + off * off * bend / 2)
        quantiles.append(exact)
        z = float(exact)
    return quantiles
