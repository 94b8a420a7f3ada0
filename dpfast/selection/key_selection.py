"""Partition selection: each private key is shown at random, more likely with more people.

A *step* adds or removes a person ("add-remove"), or replaces one by another ("replace"). A person
has at most L keys. So a step changes the number of people by 1 for at most t keys, t = L or 2 L. A
key that n people have is shown with probability pi(n), pi(0) = 0, independently of other keys. For
an (epsilon, delta) two rules are computed, and the one that reaches pi(n) = 1/2 first is used: a
choice by public numbers. A third rule is for people with several keys.

Equal parts
-----------
Each key has a loss of (e, d), and pi is as large as that allows:

    pi(n) = min(e^e pi(n - 1) + d, 1 - e^-e (1 - pi(n - 1) - d), 1).

Of all rules that depend on a key's number of people alone, none with this loss shows any key more
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

Proof. P and Q are the distributions of the shown keys on either side of a step, and X the keys that
nobody has but the people who are added or removed in it. On the side of P, j <= L keys of X belong
to somebody, and some key of X is shown with probability 1 - (1 - d)^j; on that of Q, with 1 - (1 -
d)^i. Let m = max(i, j) and x = 1 - (1 - d)^m. Let P' and Q' be the distributions of the shown keys
outside of X. The step changes the number of people for at most t - m of these keys, from at least 1
to at least 1. Coins are independent, so the divergence of P' and Q' is at most (t - m) r either
way. Take any set S of answers, and let S' be those of its answers in which no key of X is shown.
Then

    P(S) - e^epsilon Q(S) <= 1 - (1 - d)^j + (1 - d)^j P'(S') - e^epsilon (1 - d)^i Q'(S')
                          <= x + (1 - x) (P'(S') - e^epsilon Q'(S'))
                          <= x + (1 - x) E((t - m) r) = 1 - (1 - d)^m (1 - delta e^(-(a - 1) r m)).

As a function of m that is 1 - e^(-u m) + delta e^(-v m) with v > u >= 0, which decreases up to
some m and increases from there. So it is at most what it is for m = 0 or for m = L: delta.

Gaussian noise with a threshold is a rule of this kind that bounds the divergences of every order,
which is more than the proof needs. Here pi grows faster where it is small: by up to a factor of
(e^((a - 1) r) / pi)^(1/a), for hardly ever are two keys of a person shown there. For (1, 1e-6) and
L = 5, 20 and 100 keys that many people have are shown from 39, 62 and 109 of them on, with Gaussian
noise from 52, 107 and 251 on.

Two rounds, by weight
---------------------
Most people have fewer keys than they may, and most of these keys are those that everybody has. So
where L > 1, but not in a database, keys are shown in two rounds. In the second one the keys that
the first has shown are left out, before people are bounded to L keys. In either a person with k
keys counts in each of them for m(k), which is g k^-b rounded down and no less than 1; g and
b are public, and b is 1/5 in the first round and 2/5 in the second. pi is a function of the total
of a key. With a round's share s, order a and D with E(D) = delta / 2, let c(k) = s D L / (t k) be
the part of one key of k, where t is L or 2 L as above, and x = (delta / 2) / (1 - delta / 2). Then
pi is the largest with

* pi(n) <= 1 - (1 - x)^(s / k) for n <= m(k), and pi(n) = 0 for n < m(L);
* D_a(pi(n), pi(n')) <= c(k) and D_a(pi(n'), pi(n)) <= c(k), n' = max(n - m(k), m(L)), for each k
  and n > m(L).

Several k may have one m, of which the largest is meant. The right sides grow with n, so pi does.

Proof. Let P and Q be as above, X in each round the keys in which only the people who are added or
removed count, and P', Q' the distributions of the shown keys given that no key of X is ever shown.
Given the keys that the first round shows and the hashes that bound people, the keys and weights of
all others are the same on both sides. In either round a person who is added or removed, with k
keys, changes the total of each by m(k). A key outside of X has a total of at least m(L) before. So
its coins have a divergence of at most c(k), those of all k keys k c(k) = s D L / t, and those of
two people twice that: s D. (If both people have the key, both totals lie between the total without
them and that with one of them, and pi grows.) Divergences of the two rounds add up, as the second's
bound holds whatever the first shows: P' and Q' are within D. In each round, whatever was shown
before, no key of X is shown with probability at least (1 - x)^s: so in both with 1 - x. Let S' be
the answers of S without a key of X. Then, as above for each answer alone,

    P(S) - e^epsilon Q(S) <= 1 - (1 - x) P'(not S') - e^epsilon (1 - x) Q'(S')
                          <= x + (1 - x) (P'(S') - e^epsilon Q'(S')) <= x + (1 - x) delta / 2,

which is delta. Hashes have the same distribution on both sides, so it holds on average over them.

What is not done: no weight depends on what other people have, unless a coin has paid for that. The
adaptive weights of Chen, Cohen-Addad, Epasto and Zadimoghaddam (ICML 2025) depend on exact totals,
and an L2 norm bounds what a person changes in them. They show 0 to 3 % more keys in one round of
Gaussian noise, and would need a pi with D_a <= r m^2 for all m, that is m(k) ~ k^(-1/2), which
shows fewer: `benchmarks/key_selection.py`. With b = 2/5 people with k = 1, 10 and 100 of L = 100
keys at (1, 1e-5) show a key from 23, 58 and 145 of them on, in one round, Gaussian noise on weights
k^(-1/2) from 21, 66 and 208; other powers have a larger geometric mean over k. Two rounds are of
their paper, too. Renyi divergences for weighted keys are in Harrison and Manurangsi
(arXiv:2603.09167).

In float64: pi(n) is a float64 number p. D_a is below r if, with q = pi(n - 1),
p^a q^(1-a) + (1 - p)^a (1 - q)^(1-a) <= e^((a - 1) r). Both sides are computed with a relative
error that is taken off the right side, and p is reduced until it holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._core.types import Neighbors
from ..noise.distributions.base import context, ratio
from ..privacy import Approx, Loss, float_down
from ..privacy.enclosure import Interval, down, exp, expm1, log1p, log_of
from .key_coins import PartitionSelection

#: Public grid of orders: 1 + this times ln(1 / delta) / epsilon.
ORDERS = 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5

# The largest order, and the longest climb to 1/2. Beyond these, for an epsilon of less than about a
# thousandth, there are equal parts.
_HIGHEST, _LONGEST = 1 << 15, 1 << 16
_LEAST = Fraction(1, 10**60)  # of deltas, far from the ends of float64
_TOP = 1.0 - 2.0**-50
_ERROR = 2.0**-48
# Of two rounds: the share of the first one; what a person with a single key counts for there and,
# for an epsilon of 1 or more, in the second one; the powers of a person's number of keys.
_EARLY, _ROUGH, _FINE = Fraction(1, 16), 12, 64
_FLAT, _STEEP = Fraction(1, 5), Fraction(2, 5)


@lru_cache(maxsize=16)
def choose_rule(loss: Loss, max_groups: int, neighbors: Neighbors) -> PartitionSelection:
    """Return the partition selection rule that needs the fewest people to show a key.

    Parameters
    ----------
    loss : Approx
        The loss of all keys together.
    max_groups : int
        The largest number of keys of a person.
    neighbors : {"add-remove", "replace"}
        Whether a person is added or removed, or is replaced.

    Returns
    -------
    PartitionSelection
        The rule of this module with the least `half`.

    Raises
    ------
    ArgumentError
        If `max_groups` is not at least 1, or the loss has no delta. No key that one person has
        could then be shown, and so none at all. A loss in rho has none to give.
    """
    if not isinstance(loss, Approx):
        checks.fail("delta", "given with epsilon if keys are private", 0)
    checks.whole("max_groups", max_groups, 1)
    touched = max_groups if neighbors == "add-remove" else 2 * max_groups
    parts = EqualParts(loss, touched)
    best: PartitionSelection = parts
    fewest = min(parts.half, _LONGEST)
    unit = -float(log_of(loss.delta).low) / float(loss.epsilon)
    if touched > 1 and loss.delta >= _LEAST:  # one key alone has its optimal rule
        for factor in ORDERS:
            rule = Divergence(loss, max_groups, touched, 1.0 + factor * unit)
            people = rule.reach(0.5, fewest - 1) if rule.order <= _HIGHEST else 0
            if people:
                best, fewest = rule, people
    return best


@lru_cache(maxsize=16)
def choose_rounds(loss: Loss, max_groups: int, neighbors: Neighbors) -> PartitionSelection:
    """Return a rule of two rounds for people with several keys, or that of `choose_rule`.

    Parameters, errors
    ------------------
    The errors of `choose_rule`. Rounds are taken if a person may have two keys or more, and if a
    weight that can be counted to shows a key with a probability of 1/2: for an epsilon above about
    .03.
    """
    rule = choose_rule(loss, max_groups, neighbors)
    if max_groups == 1 or not isinstance(loss, Approx) or loss.delta < _LEAST:
        return rule
    touched = max_groups if neighbors == "add-remove" else 2 * max_groups
    unit, fewest = -float(log_of(loss.delta).low) / float(loss.epsilon), _LONGEST // 8
    early = None
    for factor in sorted(ORDERS, key=lambda factor: abs(factor - 1.2)):
        order = 1.0 + factor * unit
        tried = Round(loss, max_groups, touched, order, _ROUGH, 1 - _EARLY, _STEEP)
        weight = tried.reach(0.5, fewest - 1) if order <= _HIGHEST else 0
        if weight:
            early, fewest = tried, weight
        elif early is None:  # an epsilon that is too small
            return rule
    assert early is not None
    grid = min(max(math.isqrt(int(_FINE**2 * loss.epsilon)), _ROUGH), _FINE)
    return replace(early, share=_EARLY, power=_FLAT, after=replace(early, grid=grid))


def part_of(delta: Fraction, keys: int | Fraction) -> Fraction:
    """Return the part of delta for each key, 1 - (1 - delta)**(1 / keys), rounded down."""
    if keys == 1:
        return delta
    y = -log_of(1 - delta) / Interval.of(keys)
    return down((expm1(y) / exp(y)).low)


@dataclass(frozen=True)
class EqualParts(PartitionSelection):
    """Optimal partition selection for one key, with an equal part of the loss for each key."""

    loss: Approx
    touched: int = 1
    epsilon: Fraction = field(init=False)
    delta: Fraction = field(init=False)
    last: int = field(init=False)
    most: int = field(init=False)

    def __post_init__(self) -> None:
        epsilon, delta = self.loss.epsilon / self.touched, part_of(self.loss.delta, self.touched)
        last, more = _lasts(epsilon, delta)
        checks.assign(self, epsilon=epsilon, delta=delta, last=last, most=last + more)

    def bits(self, people: Sequence[int]) -> list[int]:
        if self.most > _LONGEST:
            return super().bits(people)
        integers = (self.table[n] for n in people)
        return [self._whole(n) if b < 0 else b for n, b in zip(people, integers, strict=True)]

    @cached_property
    def table(self) -> list[int]:
        """The integer parts of 2**64 pi(n) for all n, by one fast recursion in integers.

        Both ends of an interval are rounded outwards. If they differ the table has -1.
        """
        spare = 128 + self.delta.denominator.bit_length()
        mp, unit = context(128 + spare + int(2 * self.epsilon)), 1 << (64 + spare)
        x = ratio(mp, self.epsilon)
        grow, shrink = ([int(unit * mp.exp(y)) + side for side in (-1, 2)] for y in (x, -x))
        part = [self.delta.numerator * unit // self.delta.denominator + side for side in (0, 1)]
        table = [0]
        low = high = 0
        for _ in range(self.most):
            low, high = (
                min(p * up // unit + d + side, unit - (unit - p - d) * down // unit + side, unit)
                for p, up, down, d, side in zip(
                    (low, high), grow, reversed(shrink), part, (-1, 1), strict=True
                )
            )
            table.append(low >> spare if low >> spare == high >> spare else -1)
        return table

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
    """Return n1, up to which the first limit of pi(n) holds, and a bound of n2 - n1.

    At n1 the first limit is the smaller one for the last time. At equality both limits are the
    same, so a wrong choice there would change nothing.
    """
    mp = context(128 + epsilon.denominator.bit_length() + delta.denominator.bit_length())
    e, d = mp.exp(ratio(mp, epsilon)), ratio(mp, delta)
    x, y = mp.log((e + 2 * d - 1) / ((e + 1) * d)), mp.log(1 + (e - 1) / d)
    first, second = (int(mp.floor(z / ratio(mp, epsilon))) for z in (x, y))
    return 1 + max(0, first), 2 + second


@dataclass(frozen=True)
class Divergence(PartitionSelection):
    """Partition selection by a bound on the Renyi divergence, of one order, between neighbors."""

    loss: Approx
    max_groups: int
    touched: int
    order: float

    @property
    def steps(self) -> list[tuple[int, int]]:
        """The weights a person may have in a key, ascending, and the most keys of such a person."""
        return [(1, self.max_groups)]

    @property
    def most(self) -> int:  # type: ignore[override]
        return len(self.table) - 1

    @cached_property
    def table(self) -> tuple[float, ...]:
        """The probabilities pi(0), pi(1), ..., up to the number from which pi is constant."""
        return (0.0, *self.climb())

    @property
    def _exponent(self) -> Interval:
        """The exponent (order - 1) t r, where t r is the divergence of all touched keys."""
        return _exponent(self.loss.epsilon, self.loss.delta, Fraction(self.order))

    def first(self, keys: int) -> float:
        """Return the limit of pi for a key that only a person with `keys` keys has."""
        hidden = self.loss.delta * Fraction(
            exp(-self._exponent * self.max_groups / self.touched).high
        )
        return float_down(part_of((self.loss.delta - hidden) / (1 - hidden), keys))

    def bound(self, keys: int) -> float:
        """Return e^((order - 1) r) for the part r of one of `keys` keys, less `_terms` errors."""
        part = self._exponent * self.max_groups / (self.touched * keys)
        low = math.nextafter(float(part.low), -math.inf)
        return math.exp(low) * (1.0 - _ERROR * (4.0 + self.order))

    def climb(self) -> Iterator[float]:
        """Yield pi(1), pi(2), ... while they grow."""
        limits = [(m, self.first(keys), self.bound(keys)) for m, keys in self.steps]
        (least, *_), (largest, *_) = limits[0], limits[-1]
        if not limits[0][1] > 0.0 or not min(bound for *_, bound in limits) > 1.0:
            return
        pi = [0.0] * least
        yield from pi[1:]
        while pi[-1] < _TOP and (len(pi) <= 2 * largest or pi[-1] > pi[-1 - largest]):
            n, tightest = len(pi), 0
            p = min((first for m, first, _ in limits if m >= n), default=_TOP)
            for at, (m, _, bound) in enumerate(limits if n > least else ()):
                near = _next(pi[max(n - m, least)], p, self.order, bound)
                if near < p:
                    p, tightest = near, at
            limits.insert(0, limits.pop(tightest))  # so that others hardly ever need a step
            pi.append(max(p, pi[-1]))  # no farther from what is below it than pi(n - 1)
            yield pi[-1]

    def reach(self, probability: float, most: int) -> int:
        """Return the least n, at most `most`, with pi(n) >= probability, or 0 if there is none."""
        climb = islice(self.climb(), most)
        return next((n for n, p in enumerate(climb, 1) if p >= probability), 0)

    def bits(self, people: Sequence[int]) -> list[int]:
        return [int(math.ldexp(self.table[n], 64)) for n in people]

    def precise(self, people: int, mp: Any) -> Any:
        return mp.mpf(self.table[people])


@dataclass(frozen=True)
class Round(Divergence):
    """One of two rounds: people with fewer keys have a larger weight, and shown keys are left out.

    Parameters
    ----------
    grid : int
        The weight of a person with a single key.
    share : Fraction
        This round's share of the divergence, and of the probability of new keys.
    power : Fraction
        p / q: with k keys a person counts for grid / k^(p / q), rounded down.
    after : Round, optional
        The next round.
    """

    grid: int
    share: Fraction
    power: Fraction
    after: Round | None = None

    @cached_property
    def steps(self) -> list[tuple[int, int]]:
        p, q = self.power.as_integer_ratio()
        most = [_root(self.grid**q // m**q, p) for m in range(1, self.grid + 2)]
        most[0] = self.max_groups
        return [
            (m, min(keys, self.max_groups))
            for m, (keys, fewer) in enumerate(pairwise(most), 1)
            if keys > fewer and fewer < self.max_groups
        ]

    def weights(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the weight of a person in each key, from the number of `keys` of that person."""
        most = np.array([0, *(keys for _, keys in reversed(self.steps))])
        counts = np.array([0, *(m for m, _ in reversed(self.steps))])
        return counts[np.searchsorted(most, keys)]

    @property
    def _exponent(self) -> Interval:
        return _exponent(
            self.loss.epsilon, self.loss.delta / 2, Fraction(self.order)
        ) * Interval.of(self.share)

    def first(self, keys: int) -> float:
        shown = self.loss.delta / 2 / (1 - self.loss.delta / 2)
        return float_down(part_of(shown, keys / self.share))


def _root(n: int, p: int) -> int:
    """Return the largest k with k**p <= n, for n below 2**48."""
    k = 1 + int(float(n) ** (1 / p))  # a float64 next to the root
    return k - 1 if k**p > n else k


def _exponent(epsilon: Fraction, delta: Fraction, order: Fraction) -> Interval:
    """Return (order - 1) D, where E(D) is delta."""
    t = Interval.of(order - 1)
    return t * Interval.of(epsilon) + log_of(delta) + log_of(order) + t * log1p(1 / t)


def _next(q: float, start: float, a: float, bound: float) -> float:
    """Return nearly the largest p <= start with `_terms` of at most `bound`; q if there is none.

    The larger of the terms is convex in p and increases from p = q on, so Newton's method descends
    to the bound from the right. To the right of `most` the first part of a term alone is above it.
    """
    t, log_bound = a - 1.0, math.log(bound)
    most = min(
        math.exp((log_bound + t * math.log(q)) / a),
        -math.expm1((a * math.log1p(-q) - log_bound) / t),
    )
    p = min(start, most)
    for _ in range(100):
        if not p > q:
            return q
        up, down = p / q, (1.0 - p) / (1.0 - q)
        there, back = _terms(p, q, t)
        if max(there, back) <= bound:
            return p
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
