"""Partition selection: each private key is shown at random, more likely with more people.

Neighbors differ in a *step*. It adds or removes a person ("add-remove"), or replaces one person by
another ("replace"). A person has at most L keys. So a step changes the number of people of at most
t keys, by 1 each: t is L or 2 L. A key of n people is shown with probability pi(n), independently
of other keys, and pi(0) = 0.

For an (epsilon, delta), two rules are computed. The one that reaches pi(n) = 1/2 with fewer people
is used. This choice depends on public numbers. A third rule is for people with several keys.

Equal parts
-----------
Each of t keys gets a loss of (e, d), and pi is the largest function with this loss:

    pi(n) = min(e^e pi(n - 1) + d, 1 - e^-e (1 - pi(n - 1) - d), 1).

No rule with this loss that depends on a key's number of people alone shows any key more often
(Desfontaines, Voss, Gipson and Mandayam, PoPETs 2022). That includes Laplace noise with a
threshold. The first term is the least up to some n1, and the second from there to some n2. Beyond
n2 every key is shown. In closed form, with s = d / (e^e - 1),

    pi(n) = s (e^(n e) - 1)                                              for n <= n1,
    pi(n1 + m) = 1 + s - e^(-m e) (1 + s - pi(n1))                       up to 1.

We take e = epsilon / t and 1 - d = (1 - delta)^(1/t). Then all keys together lose no more than
(epsilon, delta), because t mechanisms of (e, d) are (t e, 1 - (1 - d)^t)-DP (Kairouz, Oh and
Viswanath, ICML 2015). For t = 1 the rule is optimal.

Renyi divergence
----------------
Let a > 1 be a public order. A divergence of order a of at most D, in both directions, is
(epsilon, E(D))-DP with

    E(D) = exp((a - 1) (D - epsilon)) / a (1 - 1/a)^(a - 1)

(Canonne, Kamath and Steinke, NeurIPS 2020, Proposition 12 of arXiv:2004.00010v4). Let r be such
that E(t r) = delta, so r is the divergence that each of t keys may have. D_a(p, q) is the Renyi
divergence of order a between two coins that show a key with probability p and q. The rule is

* pi(1) = d, where (1 - d)^L (1 - E(t r - L r)) = 1 - delta;
* for n > 1, pi(n) is the largest number with D_a(pi(n), pi(n - 1)) <= r and D_a(pi(n - 1), pi(n))
  <= r;
* pi is constant from where it is next to 1.

*Proof.* Let P and Q be the distributions of the shown keys on the two sides of a step. Let X be the
keys that nobody has but the people of the step. On the side of P let j <= L of these keys belong to
somebody: then some key of X is shown with probability 1 - (1 - d)^j. On the side of Q let it be i
keys. Let m = max(i, j) and x = 1 - (1 - d)^m.

Let P' and Q' be the distributions of the shown keys outside of X. The step changes the number of
people of at most t - m of these keys, and each has at least one person on both sides. The coins are
independent, so the divergence between P' and Q' is at most (t - m) r in both directions.

Take any set S of answers. Let S' be the answers of S in which no key of X is shown. An answer of S
either shows a key of X, or it is in S'. So

    P(S) <= 1 - (1 - d)^j + (1 - d)^j P'(S')    and    Q(S) >= (1 - d)^i Q'(S').

Here j and i may be replaced by m, which makes the first bound larger and the second smaller:

    P(S) - e^epsilon Q(S) <= x + (1 - x) (P'(S') - e^epsilon Q'(S'))
                          <= x + (1 - x) E((t - m) r) = 1 - (1 - d)^m (1 - delta e^(-(a - 1) r m)).

As a function of m, the last term is 1 - e^(-u m) + delta e^(-v m) with v > u >= 0. It decreases up
to some m and increases from there. So it is at most its value at m = 0 or at m = L. Both are delta,
the second by the choice of d.

*Compared with Gaussian noise.* Gaussian noise with a threshold is a rule of this kind, too, but it
bounds the divergences of every order, which is more than the proof needs. Where pi is small, the
rule here grows faster, by a factor of up to (e^((a - 1) r) / pi)^(1/a): it is improbable that two
keys of a person are shown there. For (1, 1e-6) and L = 5, 20 and 100 a key that many people have is
shown from 39, 62 and 109 people on, and with Gaussian noise from 52, 107 and 251 on.

Two rounds, by weight
---------------------
Most people have fewer keys than they may, and most of these keys are those that everybody has. So
for L > 1, but not in a database, keys are shown in two rounds. The second round leaves out the keys
that the first round has shown, before it bounds people to L keys.

In each round, a person with k keys adds the weight m(k) to the total of each. m(k) is g k^-b
rounded down, and at least 1; g and b are public, with b = 1/5 in the first round and b = 2/5 in the
second. pi is now a function of the total n of a key.

A round has a share s of the loss, and an order a. Let D be such that E(D) = delta / 2. If a person
has k keys, each gets the divergence c(k) = s D L / (t k), where t is L or 2 L as above. Let x =
(delta / 2) / (1 - delta / 2). Then pi is the largest function with

* pi(n) = 0 for n < m(L), and pi(n) <= 1 - (1 - x)^(s / k) for n <= m(k);
* for each k and each n > m(L), D_a(pi(n), pi(n')) <= c(k) and D_a(pi(n'), pi(n)) <= c(k), where n'
  = max(n - m(k), m(L)).

If several k have the same m(k), the largest of them counts, for which the limits are lowest. The
limits grow with n, so pi does.

*Proof.* P and Q are as above. In each round, let X be the keys to which only the people of the step
add a weight. Let P' and Q' be the distributions of the shown keys, given that neither round shows a
key of its X. Take the keys that the first round shows, and the hashes that bound people, as given.
Then the keys and weights of all other people are the same on both sides.

Divergence: in either round, a person of the step with k keys changes the total of each by m(k). A
key outside of X has a total of at least m(L) without this person. So its coin has a divergence of
at most c(k), and the coins of all k keys have at most k c(k) = s D L / t. If a person is replaced
by another, both add this divergence. In both cases the sum is at most s D. (If both people have a
key, both totals lie between the total without them and the total with one of them, and pi grows
with n.) The bound of the second round holds whatever the first round shows, so the divergences add
up. The divergence between P' and Q' is at most D.

Keys of X: in each round, whatever was shown before, no key of X is shown with probability at least
(1 - x)^s. The shares s add up to 1, so in both rounds together it is at least 1 - x.

Let S' be the answers of S without a key of X. Each answer without such a key has at least 1 - x
times its probability under P' or Q'. So

    P(S) - e^epsilon Q(S) <= 1 - (1 - x) P'(not S') - e^epsilon (1 - x) Q'(S')
                          <= x + (1 - x) (P'(S') - e^epsilon Q'(S')) <= x + (1 - x) delta / 2,

which is delta. The hashes have the same distribution on both sides, so this holds on average over
them.

*What is not done.* No weight depends on what other people have, unless a coin has paid for that.
The adaptive weights of Chen, Cohen-Addad, Epasto and Zadimoghaddam (ICML 2025) do depend on exact
totals, and bound what a person changes by an L2 norm. With Gaussian noise they show 0 to 3 % more
keys in one round. The rule here would need D_a <= r m^2 for all m, so m(k) ~ k^(-1/2), and would
then show fewer keys (`benchmarks/key_selection.py`).

With b = 2/5, one round, (1, 1e-5) and L = 100, people with k = 1, 10 and 100 keys show a key from
23, 58 and 145 of them on. With Gaussian noise on weights k^(-1/2) it is from 21, 66 and 208 on.
Other powers b have a larger geometric mean over k. Two rounds are also from that paper. Renyi
divergences for weighted keys are in Harrison and Manurangsi (arXiv:2603.09167).

*In float64.* pi(n) is a float64 number p. Let q = pi(n - 1). D_a is at most r if

    p^a q^(1-a) + (1 - p)^a (1 - q)^(1-a) <= e^((a - 1) r).

Both sides are computed with a bounded relative error, which is subtracted from the right side. p is
reduced until the inequality holds.
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

#: The orders that are tried are 1 plus these public numbers times ln(1 / delta) / epsilon.
ORDERS = 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0, 2.5

# The largest order, and the largest number of people with pi = 1/2. If a rule needs more than one
# of these, which happens for an epsilon below about a thousandth, `EqualParts` is used.
_HIGHEST, _LONGEST = 1 << 15, 1 << 16
_LEAST = Fraction(1, 10**60)  # powers of a smaller delta would come near the smallest float64
_TOP = 1.0 - 2.0**-50
_ERROR = 2.0**-48
# Numbers of the two rounds: the share of the first round; the weight g of a person with a single
# key in the first round, and in the second round for an epsilon of 1 or more; the powers b of the
# first and of the second round.
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
        If `max_groups` is below 1, or if the loss has no delta, as a loss in rho. Without a delta
        no key of one person can be shown, and so no key at all.
    """
    if not isinstance(loss, Approx):
        checks.fail("delta", "given with epsilon if keys are private", 0)
    checks.whole("max_groups", max_groups, 1)
    touched = max_groups if neighbors == "add-remove" else 2 * max_groups
    parts = EqualParts(loss, touched)
    best: PartitionSelection = parts
    fewest = min(parts.half, _LONGEST)
    unit = -float(log_of(loss.delta).low) / float(loss.epsilon)
    # For a single key per person, the other rule is optimal.
    if touched > 1 and loss.delta >= _LEAST:
        for factor in ORDERS:
            rule = Divergence(loss, max_groups, touched, 1.0 + factor * unit)
            people = rule.reach(0.5, fewest - 1) if rule.order <= _HIGHEST else 0
            if people:
                best, fewest = rule, people
    return best


@lru_cache(maxsize=16)
def choose_rounds(loss: Loss, max_groups: int, neighbors: Neighbors) -> PartitionSelection:
    """Return a rule of two rounds for people with several keys, or the rule of `choose_rule`.

    Parameters, errors
    ------------------
    As for `choose_rule`. There are two rounds if a person may have two or more keys, and if epsilon
    is above about .03. For a smaller epsilon, the weight that shows a key with a probability of 1/2
    is too large to compute.
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
        elif early is None:  # epsilon is too small for two rounds
            return rule
    assert early is not None
    grid = min(max(math.isqrt(int(_FINE**2 * loss.epsilon)), _ROUGH), _FINE)
    return replace(early, share=_EARLY, power=_FLAT, after=replace(early, grid=grid))


def part_of(delta: Fraction, keys: int | Fraction) -> Fraction:
    """Return the part of delta of each key, 1 - (1 - delta)**(1 / keys), rounded down."""
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

        They are computed as intervals, rounded outwards. If the ends of an interval differ, the
        entry is -1.
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
        # pi(1) is a rational number, which may be the number of so few bits itself. Then no
        # precision of an approximation would show on which side the exact value lies.
        return int(self.delta * (1 << 64)) if people == 1 else super()._whole(people)

    def precise(self, people: int, mp: Any) -> Any:
        if people <= 0:
            return mp.zero
        # A small e^eps - 1, or a difference of nearly equal numbers, loses digits.
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

    n1 is the last n for which the first limit is the smaller one. If both limits are equal, a wrong
    choice changes nothing.
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
        """The weights of a person, ascending, each with the largest number of keys for it."""
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
        """Return the limit of pi for a key of one person, who has `keys` keys."""
        hidden = self.loss.delta * Fraction(
            exp(-self._exponent * self.max_groups / self.touched).high
        )
        return float_down(part_of((self.loss.delta - hidden) / (1 - hidden), keys))

    def bound(self, keys: int) -> float:
        """Return e^((order - 1) r) for the divergence r of one of `keys` keys, rounded down."""
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
            # The tightest limit is checked first for the next n, so that the others hardly need a
            # step.
            limits.insert(0, limits.pop(tightest))
            # pi(n - 1) satisfies the limits of n, because pi(n - m) is at least pi(n - 1 - m).
            pi.append(max(p, pi[-1]))
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
    """A rule for one of two rounds, in which people with fewer keys have a larger weight.

    Parameters
    ----------
    grid : int
        The weight of a person with a single key.
    share : Fraction
        The share of this round in the divergence, and in the probability of new keys.
    power : Fraction
        p / q: a person with k keys has the weight grid / k^(p / q), rounded down.
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
    k = 1 + int(float(n) ** (1 / p))  # a float64 close to the root
    return k - 1 if k**p > n else k


def _exponent(epsilon: Fraction, delta: Fraction, order: Fraction) -> Interval:
    """Return (order - 1) D, where E(D) is delta."""
    t = Interval.of(order - 1)
    return t * Interval.of(epsilon) + log_of(delta) + log_of(order) + t * log1p(1 / t)


def _next(q: float, start: float, a: float, bound: float) -> float:
    """Return nearly the largest p <= start with `_terms` of at most `bound`; q if there is none.

    The larger term is convex in p, and increases from p = q on. So Newton's method comes down to
    the bound from the right. To the right of `most`, one summand of a term is above the bound.
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
        if slope <= 0.0:  # can happen by rounding, if the order is close to 1
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

    A quotient has at most three rounding errors of 2**-53. A power has t times these errors, and
    one more.
    """
    up, down = (p / q) ** t, ((1.0 - p) / (1.0 - q)) ** t
    return p * up + (1.0 - p) * down, q / up + (1.0 - q) / down
