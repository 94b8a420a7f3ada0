"""Make `dpfast/noise/smooth/arsinh_table.py`: the tight shifts of arsinh-normal noise under zCDP.

    python tools/make_arsinh_table.py > dpfast/noise/smooth/arsinh_table.py

For e = 2^-30 and each e in a geometric grid, with Z = sinh(sigma Y) / sigma, sigma = 0.9 and t =
0.6 e, it finds the shift s for which the pair P = Z, Q = s + e^lam Z, lam in [0, t], has Renyi
divergences
    sup over orders a > 1, both directions, lam, of  D_a / a  =  e^2 / 2,
and prints s / e times 0.998, after checking that value again on a finer grid of points, orders
and lam. In the variable v = asinh(sigma z) the wanted integrals are of analytic functions against
a normal density, so the trapezoidal rule converges geometrically. For a small e the divergence is
the logarithm of 1 + X with X tiny; X = E_q[(p/q)^a - 1 - a (p/q - 1)] is summed without
cancellation, in extended precision. It needs a platform whose long double has 64 bits of mantissa.
"""

from __future__ import annotations

import sys

import numpy as np

SIGMA, SHARE, SAFETY = 0.9, 0.6, 0.998
PER_OCTAVE, LOWEST, HIGHEST, TINY = 48, -4, 2, -30
X = np.longdouble


def _phi(v):
    a = np.abs(v)
    return v * v / (2 * X(SIGMA) ** 2) + a + np.log1p(np.exp(-2 * a))


def _orders(e: float, per_e_fold: float) -> np.ndarray:
    """Orders a from 1.0001 up to 200 / e; finer where a e is not small."""
    top = max(200.0 / e, 8.0)
    knee = max(0.02, 0.02 / e)
    fine = np.geomspace(knee, top, int(per_e_fold * np.log(top / knee)) + 2)
    return 1 + np.union1d(np.geomspace(1e-4, knee, 16), fine)


def worst(e: float, s: float, lams, step: float = 0.05, per_e_fold: float = 5.0) -> float:
    """max over lam, direction and order of D_a / (a e^2 / 2)."""
    e, s = X(e), X(s)
    orders = _orders(float(e), per_e_fold).astype(X)
    best = (X(SHARE) / X(SIGMA)) ** 2  # the limit of the order to infinity
    reach = 11 * SIGMA + float(orders[-1]) * SHARE * float(e)
    v = np.arange(-reach, reach + step, step).astype(X)
    log_w = -v * v / (2 * X(SIGMA) ** 2)
    log_w -= np.log(np.exp(log_w).sum())
    w = np.exp(log_w)
    sh, phi = np.sinh(v), _phi(v)
    for lam in lams:
        lam = X(lam)
        r_q = lam + phi - _phi(np.arcsinh(np.exp(lam) * sh + X(SIGMA) * s))  # log p/q under Q
        r_p = phi - _phi(np.arcsinh((sh - X(SIGMA) * s) * np.exp(-lam))) - lam  # log q/p under P
        for r in (r_q, r_p):
            tilt = w * np.expm1(r)
            for i, a in enumerate(orders):
                ar = a * r
                small = np.abs(ar) < 1
                terms = np.where(
                    small,
                    w * np.expm1(np.where(small, ar, 0)) - a * tilt,
                    np.exp(log_w + np.where(small, 0, ar)) - w - a * tilt,
                )
                # D_a grows with a: the first order, divided by 1, bounds all orders down to 1.
                value = np.log1p(terms.sum()) / ((a - 1) * (a if i else 1))
                best = max(best, 2 * value / (e * e))
    return float(best)


def tight(e: float, guess: float) -> float:
    """s / e at which the worst loss is e^2 / 2."""
    lams = (0.0, SHARE * e / 2, SHARE * e)

    def f(c: float) -> float:
        return worst(e, c * e, lams) - 1.0

    low, high = guess * 0.998, guess * 1.003
    f_low, f_high = f(low), f(high)
    while f_low > 0:
        low, high, f_high = low * 0.98, low, f_low
        f_low = f(low)
    while f_high < 0:
        low, high, f_low = high, high * 1.02, f_high
        f_high = f(high)
    while high - low > 2e-5 * high:
        share = min(max(f_low / (f_low - f_high), 0.02), 0.98)
        x = low + share * (high - low)
        for nudge in (1.0 - 8e-6, 1.0 + 8e-6):  # most often one point on each side of the root
            if low < x * nudge < high:
                y = f(x * nudge)
                if y <= 0:
                    low, f_low = x * nudge, y
                else:
                    high, f_high = x * nudge, y
    return low


def main() -> None:
    if np.finfo(X).nmant < 63:
        raise SystemExit("needs an 80-bit long double")
    count = (HIGHEST - LOWEST) * PER_OCTAVE
    exponents = [TINY, *(LOWEST + i / PER_OCTAVE for i in range(count + 1))]
    guess, entries = 0.856, []
    for exponent in exponents:
        e = 2.0**exponent
        guess = tight(e, guess)
        c = np.floor(guess * SAFETY * 1e6) / 1e6
        if exponent == int(exponent):
            fine = worst(e, c * e, np.linspace(0, SHARE * e, 9), 0.0125, 20.0)
            print(f"e = 2^{exponent:g}: s/e = {c}, finer {fine:.6f}", file=sys.stderr, flush=True)
            if not fine <= 1.0:
                raise ArithmeticError(f"the finer grid refutes {c} at {e}")
        entries.append(f"{c:.6f}")
    print('"""Tight shifts of arsinh-normal noise, made by tools/make_arsinh_table.py."""\n')
    print(f"SIGMA = {SIGMA}\nSHARE = {SHARE}\n")
    print(f"# s / e at e = 2**TINY.\nTINY = {TINY}\nTINY_SHIFT = {entries[0]}\n")
    print("# s / e at e = 2 ** (LOWEST + i / PER_OCTAVE).")
    print(f"LOWEST = {LOWEST}\nPER_OCTAVE = {PER_OCTAVE}")
    print("SHIFT = (")
    for i in range(1, len(entries), 9):
        print("    " + ", ".join(entries[i : i + 9]) + ",")
    print(")  # fmt: skip")


if __name__ == "__main__":
    main()
