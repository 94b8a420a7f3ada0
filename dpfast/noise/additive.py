"""The least additive noise for a statistic of known sensitivity.

* Laplace of scale 1 / epsilon for sensitivity 1 is epsilon-DP (Dwork, McSherry, Nissim and Smith,
  TCC 2006). So it is also (epsilon, delta)-DP, without use of the delta. It is (epsilon +
  e^-epsilon - 1)-zCDP (Harrison and Manurangsi, FORC 2026; `privacy.Draws` with cells=0). All of
  this holds with and without rounding to a grid.
* Gaussian of standard deviation 1 / sqrt(2 rho) is rho-zCDP (Bun and Steinke, TCC 2016).
* Gaussian of standard deviation 1 / s is (epsilon, delta)-DP if and only if delta >= F(s/2 -
  epsilon/s) - e^epsilon F(-s/2 - epsilon/s), where F is the normal distribution function (Balle and
  Wang, ICML 2018). Let x = epsilon/s - s/2, let n be the normal density and M Mills' ratio. The
  right side is n(x) (M(x) - M(x + s)), because e^epsilon n(x + s) = n(x). Bisection finds the
  largest s that solves this with x >= 0.

If two of them are suitable, the one with the smaller standard deviation is used. This choice
depends on public numbers.

Several coordinates at once. Let coordinate i of d have the integer sensitivity D_i, and independent
noise of scale u D_i. Each coordinate divided by its scale has the sensitivity 1/u, so the vector
has d/u in L1 and sqrt(d)/u in L2, for any D_i, and the noise is standard. So
* Laplace with u = d / epsilon is epsilon-DP. Each coordinate has a loss of epsilon / d. In zCDP the
  loss is d times the loss of one coordinate;
* Gaussian with u = sqrt(d / (2 rho)) is rho-zCDP. Each coordinate has a loss of rho / d;
* Gaussian with u = sqrt(d) / s is (epsilon, delta)-DP, with s as above. A spherical Gaussian has
  the same distribution along every direction, so only the L2 length of the difference counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from .._core import checks
from .._core.error_bars import normal
from ..privacy import ZCDP, Approx, Draws, Loss, Pure, float_down, laplace_within
from .distributions import Distribution, Gaussian, Laplace
from .numeric import LOG_ROOT_2PI, bisect, mills_drop

LEAST, MOST = {"epsilon": Fraction(1, 2**30), "rho": Fraction(1, 2**60)}, 500


@dataclass(frozen=True, slots=True)
class Additive:
    """A noise distribution with its scale for coordinates of sensitivity 1, and its loss."""

    distribution: Distribution
    unit: float
    loss: Loss

    def scale(self, sensitivity: int) -> float:
        """Return the scale for an integer sensitivity below 2**53, rounded up."""
        return math.nextafter(self.unit * sensitivity, math.inf)

    @property
    def deviation(self) -> float:
        """The standard deviation for a sensitivity of 1."""
        return self.unit * (math.sqrt(2.0) if isinstance(self.distribution, Laplace) else 1.0)

    def half_width(self, sensitivity: int, failure: float) -> float:
        """Return a bound that the noise of a coordinate exceeds with probability `failure`."""
        is_laplace = isinstance(self.distribution, Laplace)
        return self.scale(sensitivity) * (-math.log(failure) if is_laplace else normal(failure))


def amount(loss: Loss, coordinates: int = 1) -> Fraction:
    """Return the epsilon or rho of a loss, checked to be in the range for its `coordinates`."""
    name, size = ("rho", loss.rho) if isinstance(loss, ZCDP) else ("epsilon", loss.epsilon)
    least = LEAST[name]
    if not least * coordinates <= size <= MOST:
        of_each = f" for each of {coordinates} coordinates" if coordinates > 1 else ""
        power = least.denominator.bit_length() - 1
        checks.fail(name, f"at least 2**-{power}{of_each} and at most {MOST}", float(size))
    if isinstance(loss, Approx) and loss.delta < Fraction(1, 10**300):
        checks.fail("delta", "0, or at least 1e-300 and less than 1", float(loss.delta))
    return size


def without_delta(loss: Loss) -> Pure | ZCDP:
    """Return a loss without its delta, for a mechanism that does not use delta."""
    return Pure(loss.epsilon) if isinstance(loss, Approx) else loss


def several(loss: Pure, times: int) -> Pure:
    """Return the loss of `times` independent releases, in a form that also has a rho."""
    if times == 1:
        return loss
    if isinstance(loss, Draws):
        return replace(loss, epsilon=times * loss.epsilon, draws=times * loss.draws)
    return Draws(times * loss.epsilon, draws=times)


def _laplace(epsilon: Fraction) -> float:
    return math.nextafter(1.0 / float_down(epsilon), math.inf)


def _log_delta(epsilon: float, s: float) -> float:
    x = epsilon / s - 0.5 * s
    return -0.5 * x * x - LOG_ROOT_2PI + math.log(mills_drop(x, s))


@lru_cache(maxsize=1024)
def analytic(epsilon: float, delta: float) -> float:
    """Return the Gaussian noise scale for (epsilon, delta) and L2 sensitivity 1, rounded up."""
    target = math.log(delta) - 1e-9
    most = math.sqrt(2.0 * epsilon) * (1.0 - 2.0**-40)
    if _log_delta(epsilon, most) > target:
        # _log_delta grows with s; below s = epsilon / 60, delta is less than 1e-700
        most, _ = bisect(lambda s: _log_delta(epsilon, s) <= target, epsilon / 60.0, most, 100)
    return 1.0 / most * (1.0 + 2.0**-40)


def of_gaussian(loss: Loss) -> Loss:
    """Return the loss of Gaussian noise that is calibrated to `loss`, with a rho for any loss.

    The standard deviation of the noise is the L2 sensitivity divided by s, rounded up, with s as
    above. So the noise is s^2 / 2-zCDP (Bun and Steinke, TCC 2016). Rounding is post-processing,
    which keeps this loss. Rounds of Gaussian differential privacy keep it too, because together
    they reveal no more than whether a standard normal variable was shifted by s.
    """
    if not isinstance(loss, Approx):
        return loss
    unit = Fraction(analytic(float_down(loss.epsilon), float_down(loss.delta)))
    return Approx(loss.epsilon, loss.delta, float(1 / (2 * unit**2)) * (1 + 2.0**-50))


def gaussian_scale(epsilon: float, delta: float) -> float:
    """Return the least standard deviation of Gaussian noise for an L2 sensitivity of 1.

    NOT PRIVATE by itself: it is a number computed from a loss, and nothing is drawn.

    Parameters
    ----------
    epsilon : float
        At least 2**-30; there is no upper limit.
    delta : float
        At least 1e-300, and less than 1.

    Returns
    -------
    float
        Rounded up.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `epsilon` or `delta` breaks its rule.

    Notes
    -----
    Up to an epsilon of 500 it is the exact solution of Balle and Wang (ICML 2018). Above 500 it is
    the smaller of two upper bounds: the solution for 500, which also satisfies a larger epsilon,
    and 1 / sqrt(2 rho) for the rho that gives this epsilon and delta (Bun and Steinke, TCC 2016).
    There, sqrt(rho) = sqrt(ln(1 / delta) + epsilon) - sqrt(ln(1 / delta)).

    Examples
    --------
    >>> import dpfast as dp
    >>> round(dp.noise.gaussian_scale(1.0, 1e-10), 3)
    5.868
    """
    size, share = checks.number("epsilon", epsilon), checks.number("delta", delta)
    if size < LEAST["epsilon"]:
        checks.fail("epsilon", "at least 2**-30 for Gaussian noise", epsilon)
    if not 1e-300 <= share < 1:
        checks.fail("delta", "at least 1e-300 and less than 1", delta)
    scale = analytic(min(size, float(MOST)), share)
    if size > MOST:
        log_chance = -math.log(share)
        root = math.sqrt(log_chance + size) - math.sqrt(log_chance)
        scale = min(scale, (1.0 + 2.0**-40) / (math.sqrt(2.0) * root))
    return scale


def additive(loss: Loss, coordinates: int = 1) -> Additive:
    """Return the better of Laplace and Gaussian noise for a loss.

    The noise is for one joint release of `coordinates` numbers of sensitivity 1 each.
    """
    size = amount(loss, coordinates)
    share = size / coordinates
    if isinstance(loss, ZCDP):
        laplace = Additive(Laplace(), _laplace(laplace_within(share, 1, 0)), loss)
        sigma = math.sqrt(0.5 / float_down(share))
    else:
        laplace = Additive(Laplace(), _laplace(share), Draws(size, draws=coordinates, cells=0))
        if isinstance(loss, Pure):
            return laplace
        root = math.nextafter(math.sqrt(coordinates), math.inf) if coordinates > 1 else 1.0
        sigma = root * analytic(float_down(size), float_down(loss.delta))
    gaussian = Additive(Gaussian(), sigma * (1.0 + 2.0**-50), of_gaussian(loss))
    return gaussian if gaussian.deviation < laplace.deviation else laplace
