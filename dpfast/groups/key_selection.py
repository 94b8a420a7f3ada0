"""Which private keys to show: a coin for each, more probable the more people have it.

A *step* takes a person away or adds one ("add-remove"), or puts another in the place of one
("replace"). A person has at most L keys. So a step moves the number of people of at most t keys by
1 each, t = L or 2 L. A key that n people have is shown with probability pi(n), pi(0) = 0, by a coin
of its own. Two rules are made for an (epsilon, delta), and the one that reaches pi(n) = 1/2 first
is taken, which is a choice among public numbers.

Equal parts
-----------
Each key has a loss of (e, d), and pi is as large as that allows:

    pi(n) = min(e^e pi(n - 1) + d, 1 - e^-e (1 - pi(n - 1) - d), 1).

Of all rules that look at a key's number of people alone, none with this loss shows any key more
often (Desfontaines, Voss, Gipson and Mandayam, PoPETs 2022): not Laplace noise with a threshold
either. The first limit holds up to some n1, the second from there to n2, and then every key is
shown. In closed form, with s = d / (e^e - 1),

    pi(n) = s (e^(n e) - 1)                                              for n <= n1,
    pi(n1 + m) = 1 + s - e^(-m e) (1 + s - pi(n1))                       up to 1.

With e = epsilon / t and 1 - d = (1 - delta)^(1/t) all keys together lose no more than
(epsilon, delta): t mechanisms of (e, d) are (t e, 1 - (1 - d)^t)-DP (Kairouz, Oh and Viswanath,
ICML 2015). For t = 1 that is optimal.

Renyi divergence
----------------
Let a > 1 be a public order. t r is the Renyi divergence of order a that is (epsilon, delta)-DP:
with E(D) = exp((a - 1) (D - epsilon)) / a (1 - 1/a)^(a - 1), a divergence of at most D either way
is (epsilon, E(D))-DP (Canonne, Kamath and Steinke, NeurIPS 2020, Proposition 12 of
arXiv:2004.00010v4), and E(t r) = delta. Then

* pi(1) = d, where (1 - d)^L (1 - E(t r - L r)) = 1 - delta;
* pi(n) is the largest with D_a(pi(n), pi(n - 1)) <= r and D_a(pi(n - 1), pi(n)) <= r for each
  n > 1, where D_a is the Renyi divergence of two coins;
* and constant from where it is next to 1.

Proof. P and Q are the distributions of what is shown on either side of a step, and X the keys that
nobody has but those who come or go in it. On the side of P, j <= L keys of X belong to somebody,
and some key of X is shown with probability 1 - (1 - d)^j; on that of Q, with 1 - (1 - d)^i. Let
m = max(i, j) and x = 1 - (1 - d)^m. Let P' and Q' be the distributions of what is shown of all
other keys. At most t - m of those have one person more or less, and others all the while. Coins are
independent, so the divergence of P' and Q' is at most (t - m) r either way. Take any set S of
answers, and let S' be those of its answers in which no key of X is shown. Then

    P(S) - e^epsilon Q(S) <= 1 - (1 - d)^j + (1 - d)^j P'(S') - e^epsilon (1 - d)^i Q'(S')
                          <= x + (1 - x) (P'(S') - e^epsilon Q'(S'))
                          <= x + (1 - x) E((t - m) r) = 1 - (1 - d)^m (1 - delta e^(-(a - 1) r m)).

As a function of m that is 1 - e^(-u m) + delta e^(-v m) with v > u >= 0, which decreases up to
some m and increases from there. So it is at most what it is for m = 0 or for m = L: delta.

Gaussian noise with a threshold is a rule of this kind that bounds the divergences of every order,
which is more than the proof needs. Here pi grows faster where it is small: by up to a factor of
(e^((a - 1) r) / pi)^(1/a), for hardly ever are two keys of a person shown there. For (1, 1e-6) and
L = 5, 20 and 100 keys that many people have are shown from 39, 62 and 109 of them on, with Gaussian
noise from 52, 107 and 251 on. Noise on weights 1/sqrt(k) of people with k keys needs as many where
all have L, and fewer than 62 for L = 20 where most have less than 7. How many keys people have is
nothing public, so nobody's weight is changed.

In float64: pi(n) is a float64 number p. D_a is below r if, with q = pi(n - 1),
p^a q^(1-a) + (1 - p)^a (1 - q)^(1-a) <= e^((a - 1) r). Both sides are computed with a relative
error that is taken off the right side, and p is reduced until it holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

from .._core import checks
from .._core.types import Neighbors
from ..noise.distributions.base import context, ratio
from ..privacy import Approx, Loss, float_down
from ..privacy.enclosure import Interval, down, exp, expm1, log1p, log_of
from .key_coins import KeyRule

#: Public grid of orders: 1 + this times ln(1 / delta) / epsilon.
ORDERS = 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5

# The largest order, and the longest climb to 1/2. Beyond these, for an epsilon of less than about a
# thousandth, there are equal parts.
_HIGHEST, _LONGEST = 1 << 15, 1 << 16
_LEAST = Fraction(1, 10**60)  # of deltas, far from the ends of float64
_TOP = 1.0 - 2.0**-50
_ERROR = 2.0**-48


@lru_cache(maxsize=16)
def choose_rule(loss: Loss, max_groups: int, neighbors: Neighbors) -> KeyRule:
    """Return the rule that shows keys of the fewest people.

    Parameters
    ----------
    loss : Approx
        Of all keys together.
    max_groups : int
        How many keys a person may have.
    neighbors : {"add-remove", "replace"}
        Whether a person comes or goes, or is replaced.

    Returns
    -------
    KeyRule
        Of those in this module, the one with the least `half`.

    Raises
    ------
    ArgumentError
        If `max_groups` is not at least 1, or the loss has no delta. No key that one person has
        could then be shown, and so none at all. A loss in rho has none to give.
    """
    if not isinstance(loss, Approx):
        checks.fail("delta", "given, with epsilon, where keys are private", 0)
    checks.whole("max_groups", max_groups, 1)
    touched = max_groups if neighbors == "add-remove" else 2 * max_groups
    parts = EqualParts(loss, touched)
    best: KeyRule = parts
    fewest = min(parts.half, _LONGEST)
    unit = -float(log_of(loss.delta).low) / float(loss.epsilon)
    if touched > 1 and loss.delta >= _LEAST:  # one key alone has its optimal rule
        for factor in ORDERS:
            rule = Divergence(loss, max_groups, touched, 1.0 + factor * unit)
            people = rule.reach(0.5, fewest - 1) if rule.order <= _HIGHEST else 0
            if people:
                best, fewest = rule, people
    return best


def part_of(delta: Fraction, keys: int) -> Fraction:
    """Return 1 - (1 - delta)**(1 / keys), rounded down."""
    if keys == 1:
        return delta
    y = -log_of(1 - delta) / keys
    return down((expm1(y) / exp(y)).low)


@dataclass(frozen=True)
class EqualParts(KeyRule):
    """The optimal rule for one key, with an equal part of the loss for each key of a step."""

    loss: Approx
    touched: int = 1
    epsilon: Fraction = field(init=False)
    delta: Fraction = field(init=False)
    last: int = field(init=False)
    most: int = field(init=False)

    def __post_init__(self) -> None:
        epsilon, delta = self.loss.epsilon / self.touched, part_of(self.loss.delta, self.touched)
        last, more = _lasts(epsilon, delta)
        for name, value in zip(
            ("epsilon", "delta", "last", "most"), (epsilon, delta, last, last + more), strict=True
        ):
            object.__setattr__(self, name, value)

    def bits(self, people: Sequence[int]) -> list[int]:
        if self.most > _LONGEST:
            return super().bits(people)
        known = (self.table[n] for n in people)
        return [self._whole(n) if b < 0 else b for n, b in zip(people, known, strict=True)]

    @cached_property
    def table(self) -> list[int]:
        """The integer parts of 2**64 pi(n), by recursion in integers, far faster than each alone.

        Both ends of an interval are rounded outwards. Where they differ it says -1.
        """
        spare = 128 + self.delta.denominator.bit_length()
        mp, one = context(128 + spare + int(2 * self.epsilon)), 1 << (64 + spare)
        x = ratio(mp, self.epsilon)
        grow, shrink = ([int(one * mp.exp(y)) + side for side in (-1, 2)] for y in (x, -x))
        part = [self.delta.numerator * one // self.delta.denominator + side for side in (0, 1)]
        found = [0]
        low = high = 0
        for _ in range(self.most):
            low, high = (
                min(p * up // one + d + side, one - (one - p - d) * down // one + side, one)
                for p, up, down, d, side in zip(
                    (low, high), grow, reversed(shrink), part, (-1, 1), strict=True
                )
            )
            found.append(low >> spare if low >> spare == high >> spare else -1)
        return found

    def _whole(self, people: int) -> int:
        # One person's is the only rational probability, and may have so few bits that no precision
        # tells on which side of it the truth lies.
        return int(self.delta * (1 << 64)) if people == 1 else super()._whole(people)

    def precise(self, people: int, mp: Any) -> Any:
        if people <= 0:
            return mp.zero
        # Where e^eps - 1 is small, or a difference of nearly equal numbers is taken, digits go.
        bits = 64 + self.epsilon.denominator.bit_length() + self.delta.denominator.bit_length()
        with mp.extraprec(bits + people.bit_length()):
            epsilon = ratio(mp, self.epsilon)
            part = ratio(mp, self.delta) / mp.expm1(epsilon)
            low = part * mp.expm1(min(people, self.last) * epsilon)
            if people <= self.last:
                return min(low, mp.one)
            more = people - self.last
            return min(1 + part - mp.exp(-more * epsilon) * (1 + part - low), mp.one)


def _lasts(epsilon: Fraction, delta: Fraction) -> tuple[int, int]:
    """Return n1, and a bound of n2 - n1.

    At n1 the first limit is the lesser one for the last time. At equality both say the same, so a
    wrong choice there would change nothing.
    """
    mp = context(128 + epsilon.denominator.bit_length() + delta.denominator.bit_length())
    e, d = mp.exp(ratio(mp, epsilon)), ratio(mp, delta)
    x, y = mp.log((e + 2 * d - 1) / ((e + 1) * d)), mp.log(1 + (e - 1) / d)
    first, second = (int(mp.floor(z / ratio(mp, epsilon))) for z in (x, y))
    return 1 + max(0, first), 2 + second


@dataclass(frozen=True)
class Divergence(KeyRule):
    """The largest probabilities of which neighbors have at most a Renyi divergence of one order."""

    loss: Approx
    max_groups: int
    touched: int
    order: float

    @property
    def most(self) -> int:  # type: ignore[override]
        return len(self.table) - 1

    @cached_property
    def table(self) -> tuple[float, ...]:
        """pi(0), pi(1), ... up to the last that is another one."""
        return (0.0, *self.climb())

    @cached_property
    def _exponent(self) -> Interval:
        """(order - 1) t r."""
        a = Fraction(self.order)
        t = Interval.of(a - 1)
        return (
            t * Interval.of(self.loss.epsilon)
            + log_of(self.loss.delta)
            + log_of(a)
            + t * log1p(1 / t)
        )

    @property
    def first(self) -> float:
        """d, rounded down."""
        hidden = self.loss.delta * Fraction(
            exp(-self._exponent * self.max_groups / self.touched).high
        )
        return float_down(part_of((self.loss.delta - hidden) / (1 - hidden), self.max_groups))

    @property
    def bound(self) -> float:
        """e^((order - 1) r), less what the computation of `_terms` may be wrong by."""
        low = math.nextafter(float((self._exponent / self.touched).low), -math.inf)
        return math.exp(low) * (1.0 - _ERROR * (4.0 + self.order))

    def climb(self) -> Iterator[float]:
        """Yield pi(1), pi(2), ... while they grow."""
        last, growth, bound = 0.0, 2.0, self.bound
        p = self.first if bound > 1.0 else 0.0
        while last < p < _TOP:
            yield p
            last, p = p, _next(p, growth, self.order, bound)
            growth = p * (1.0 - last) / (last * (1.0 - p))
        if p > last:
            yield p

    def reach(self, probability: float, within: int) -> int:
        """Return the least n <= within with pi(n) >= probability, or 0 if there is none."""
        climb = islice(self.climb(), within)
        return next((n for n, p in enumerate(climb, 1) if p >= probability), 0)

    def bits(self, people: Sequence[int]) -> list[int]:
        return [int(math.ldexp(self.table[n], 64)) for n in people]

    def precise(self, people: int, mp: Any) -> Any:
        return mp.mpf(self.table[people])


def _next(q: float, growth: float, a: float, bound: float) -> float:
    """Return nearly the largest p of which `_terms` are at most `bound`, and no larger one.

    The larger of the terms is convex in p and increases from p = q on, so Newton's method descends
    to the bound from the right, after at most one step from the left. `growth` is that of the odds
    which it starts with. To the right of `most` the first part of a term alone is above the bound.
    """
    t, log_bound = a - 1.0, math.log(bound)
    most = min(
        math.exp((log_bound + t * math.log(q)) / a),
        -math.expm1((a * math.log1p(-q) - log_bound) / t),
        _TOP,
    )
    p = min(growth * q / (1.0 + (growth - 1.0) * q), most)
    for _ in range(100):
        if not p > q:
            return q
        up, down = p / q, (1.0 - p) / (1.0 - q)
        there, back = _terms(p, q, t)
        if there > back:
            off, slope = there - bound, a * (up**t - down**t)
        else:
            off, slope = back - bound, t * (down**-a - up**-a)
        if slope <= 0.0:  # by rounding, for an order next to 1
            return q
        new = min(p - off / slope, most)
        p, step = new, abs(new - p)
        if step <= 2.0**-32 * (p - q):
            break
    part = 2.0**-32
    while p > q and max(_terms(p, q, t)) > bound:
        p, part = q + (p - q) * (1.0 - part), 2.0 * part
    return p


def _terms(p: float, q: float, t: float) -> tuple[float, float]:
    """Return e^(t D) for the divergences D of order 1 + t of coins p and q, in both directions.

    The quotients have three errors of 2**-53 at most, and a power t times that and its own.
    """
    up, down = (p / q) ** t, ((1.0 - p) / (1.0 - q)) ** t
    return p * up + (1.0 - p) * down, q / up + (1.0 - q) / down
