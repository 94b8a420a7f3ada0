"""Plain audits of a calibration, independent of the closed forms: numeric suprema and integrals.
The pair is P = Z and Q = s + e^lam Z; see `dpfast.noise.smooth.pair`."""

import math

import mpmath as mp
import numpy as np

from dpfast.noise import distributions

# Points z = sinh(u) with u clustered at 0, |z| up to e^150.
_U = np.concatenate([np.geomspace(1e-9, 40, 4000), np.geomspace(40.1, 150, 100)])
_Z = np.sinh(_U)
SPREAD = np.concatenate([-_Z[::-1], [0.0], _Z])


def phi(kind, z):
    """-log density of `distribution` at z, up to a constant."""
    z = np.abs(np.asarray(z, dtype=float))
    with np.errstate(divide="ignore", over="ignore"):
        if isinstance(kind, distributions.Cauchy):
            return np.logaddexp(0.0, 2.0 * np.log(z))
        if isinstance(kind, distributions.StudentT):
            return 0.5 * (kind.df + 1) * np.logaddexp(0.0, 2.0 * np.log(z) - math.log(kind.df))
        if isinstance(kind, distributions.GeneralizedCauchy):
            return np.logaddexp(0.0, kind.gamma * np.log(z))
        if isinstance(kind, distributions.PolyPlace):
            a = kind.shape
            edge = 1.0 / a
            centre = -(a - 1) * np.log1p(-np.minimum(z, edge))
            tail = (a + 1) * (np.log1p(np.maximum(z, edge)) - math.log1p(edge))
            return centre + tail
        if isinstance(kind, distributions.ArsinhNormal):
            x = kind.sigma * z
            return 0.5 * (np.arcsinh(x) / kind.sigma) ** 2 + 0.5 * np.log1p(x * x)
        if isinstance(kind, distributions.Laplace):
            return z
        if isinstance(kind, distributions.Gaussian):
            return 0.5 * z * z
    raise TypeError(kind)


def _ratio(kind, s, lam):
    """log p/q as a function of z."""
    return lambda z: lam + phi(kind, (z - s) * math.exp(-lam)) - phi(kind, z)


def loss_of_pair(kind, s, lam, refine=True):
    """sup over z of |log p/q|."""
    f = _ratio(kind, s, lam)
    marks = [0.0, s]
    if isinstance(kind, distributions.PolyPlace):
        edge = 1.0 / kind.shape
        marks += [edge, -edge, s + edge * math.exp(lam), s - edge * math.exp(lam)]
    z = np.unique(np.concatenate([SPREAD, s + SPREAD, s * SPREAD, marks]))
    v = f(z)
    worst = 0.0
    for sign in (1.0, -1.0):
        i = int(np.argmax(sign * v))
        worst = max(worst, sign * v[i])
        low, high = z[max(i - 1, 0)], z[min(i + 1, len(z) - 1)]
        if refine and 0 < i < len(z) - 1:
            from scipy.optimize import minimize_scalar

            found = minimize_scalar(lambda t, sign=sign: -sign * float(f(t)), bounds=(low, high),
                method="bounded", options={"xatol": 1e-10 * (high - low)})  # fmt: skip
            worst = max(worst, -float(found.fun))
    return worst


def worst_loss(kind, alpha, beta, dilations=9):
    """The pure epsilon of the calibration: worst over lam in [0, beta] and shifts up to alpha."""
    lams = np.linspace(0.0, beta, dilations)
    loss = max(loss_of_pair(kind, alpha, lam) for lam in lams)
    return max(loss, *(loss_of_pair(kind, part * alpha, beta, False) for part in (0.0, 0.5, 0.9)))


def exact_deltas(kind, epsilon, s, lam, digits=60):
    """(H(P, Q), H(Q, P)) from the ends of the sets and the distribution functions, in mpmath."""
    with mp.workdps(digits):
        e, s, lam = mp.mpf(epsilon), mp.mpf(s), mp.mpf(lam)
        t = mp.exp(lam)
        if isinstance(kind, distributions.Gaussian):

            def sf(x):
                return mp.erfc(x / mp.sqrt(2)) / 2

            a, b, c = (1 / t**2 - 1) / 2, -s / t**2, lam + s * s / (2 * t**2)

            def ends(level):
                under = b * b - 4 * a * (c - level)
                if under <= 0:
                    return None
                root = mp.sqrt(under)
                return sorted([(-b - root) / (2 * a), (-b + root) / (2 * a)])
        else:

            def sf(x):
                return mp.exp(-x) / 2 if x >= 0 else 1 - mp.exp(x) / 2

            def ends(level):
                # log p/q = lam + |z - s|/t - |z| : up to 0, steeply down to s, down after.
                top, at_s = lam + s / t, lam - s
                if level >= top:
                    return None
                left = (level - top) / (1 - 1 / t)
                if level >= at_s:
                    right = (top - level) / (1 + 1 / t)
                else:
                    right = s + (at_s - level) / (1 - 1 / t)
                return [left, right]

        def outside(low, high):
            return sf(-low) + sf(high)

        first = second = mp.mpf(0)
        inside = ends(e)
        if inside:
            low, high = inside
            p = sf(low) - sf(high) if low > 0 else 1 - outside(low, high)
            q = 1 - outside((low - s) / t, (high - s) / t)
            first = p - mp.exp(e) * q
        inside = ends(-e)
        if inside:
            low, high = inside
            second = outside((low - s) / t, (high - s) / t) - mp.exp(e) * outside(low, high)
        return max(first, mp.mpf(0)), max(second, mp.mpf(0))


def renyi_rho(sigma, s, lam, orders, step=0.01):
    """max over the orders and both directions of D_a / a for arsinh-normal noise."""
    kind = distributions.ArsinhNormal(sigma)
    reach = 9.0 * sigma + lam * float(np.max(orders)) + 2.0
    v = np.arange(-reach, reach, step)
    z = np.unique(np.concatenate([np.sinh(v) / sigma, s + math.exp(lam) * np.sinh(v) / sigma]))
    mid, width = 0.5 * (z[1:] + z[:-1]), np.log(np.diff(z))
    p = -phi(kind, mid) + width
    q = -phi(kind, (mid - s) * math.exp(-lam)) + width
    p -= np.logaddexp.reduce(p)
    q -= np.logaddexp.reduce(q)
    worst = 0.5 * (lam / sigma) ** 2
    for x, y in ((p, q), (q, p)):
        for a in orders:
            d = np.logaddexp.reduce(a * x + (1 - a) * y) / (a - 1)
            worst = max(worst, d / a)
    return float(worst)


def renyi_limit(sigma, shift, dilation):
    """lim D_a / a / (e^2/2) for the pair (shift e, dilation e) as e -> 0, worst over a e = b. The
    log ratio becomes e times the score, so it is sup over b of 2 K(b) / b^2, K the cumulant
    generating function of the score shift phi'(z) + dilation (z phi'(z) - 1)."""
    v = np.arange(-140.0, 140.0, 0.01)
    x = np.sinh(v)
    slope = v / (sigma * np.cosh(v)) + sigma * x / np.cosh(v) ** 2
    score = shift * slope + dilation * (x / sigma * slope - 1.0)
    log_w = -0.5 * (v / sigma) ** 2
    log_w -= np.logaddexp.reduce(log_w)
    worst = (dilation / sigma) ** 2
    for b in np.geomspace(1e-2, 150, 120):
        for sign in (1.0, -1.0):
            worst = max(worst, 2 * np.logaddexp.reduce(log_w + sign * b * score) / b**2)
    return float(worst)


def hyperbolic(f1, s1, f2, s2):
    """The exact loss of two Cauchy releases with values f and scales s."""
    return 2 * math.asinh(math.sqrt(((f1 - f2) ** 2 + (s1 - s2) ** 2) / (4 * s1 * s2)))
