"""Propose-test-release: thresholds, exact losses, distances by definition, and the public face."""

import copy
import itertools
import math
import pickle
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
import pytest

import dpfast as dp
from dpfast import ptr
from dpfast.errors import DataError
from dpfast.noise import samplers
from dpfast.rng import InsecureGenerator
from dpfast.statistics.ptr import quantiles as in_ranks
from dpfast.statistics.ptr.proposal import DistanceTest, first_above, laplace_scale, threshold
from dpfast.statistics.ptr.statistics import mean_distance

from ..reference.sensitivity import quantile as ranks
from ..reference.sensitivity import statistics
from ..reference.statistics import ptr as reference
from ..reference.statistics.ptr import hockey_stick, pass_probability
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused
from .test_exponential_quantiles import near_pairs

HALF = Fraction(1, 2)
PAPER = dict(epsilon=20, delta=1e-6)  # so much that whatever passes the test comes out


@every_value
@pytest.mark.parametrize("epsilon", ["1/1000", "1/10", "1/2", "1", "3", "40"])
@pytest.mark.parametrize("delta", ["1/1000000000", "1/1000000", "1/20", "2/5", "9/10", "1e-300"])
def test_the_threshold_is_the_least_that_delta_allows(epsilon, delta):
    e, d = Fraction(epsilon), Fraction(delta)
    t = threshold(e, d)
    with mpmath.workdps(60):
        most = mpmath.mpf(d.numerator) / d.denominator
        assert reference.passes_at_zero(e, t) <= most
        assert t == 0 or reference.passes_at_zero(e, t - 1) > most


def loses_no_more_than(epsilon, delta, test, rest, t):
    """Whether no pair of distances and statistics loses more than (epsilon, delta)."""
    near = [(d, d + s) for d in range(3 * t) for s in (-1, 0, 1) if d + s >= 0]
    for d in near:
        worst = reference.hockey_stick(epsilon, d, 1.0, test, rest, t)
        if d == (0, 0):  # nothing is known of the statistics then
            worst = max(worst, reference.hockey_stick(epsilon, d, 1e6, test, rest, t))
        if worst > delta * (1 + 1e-9) + 1e-15:
            return False
    return True


@pytest.mark.parametrize("share", [0.5, 0.2, 0.8])
def test_the_loss_is_as_claimed_and_tight(share):
    epsilon, delta = 1.0, 1e-3
    test, rest = share * epsilon, (1 - share) * epsilon
    t = threshold(Fraction(str(test)), Fraction(str(delta)))
    assert loses_no_more_than(epsilon, delta, test, rest, t)
    # Neither number can be smaller.
    assert not loses_no_more_than(0.99 * epsilon, 0.0, test, rest, t)
    assert not loses_no_more_than(epsilon, delta / 2, test, rest, t)
    # Planted: one step less, a test whose epsilon is left out, and the threshold of the textbook.
    assert not loses_no_more_than(epsilon, delta, test, rest, t - 1)
    assert not loses_no_more_than(max(test, rest), delta, test, rest, t)
    wrong = math.ceil(reference.textbook_threshold(epsilon, delta))
    assert not loses_no_more_than(2 * epsilon, delta, epsilon, epsilon, wrong)


@pytest.mark.full
def test_the_test_has_its_law():
    test, rng = DistanceTest(HALF, Fraction(1, 20)), InsecureGenerator(5)
    t, size = test.threshold, 4000

    def fits(epsilon):
        worst = 0.0
        for d in range(0, 2 * t + 1, 2):
            p = reference.pass_probability(d, epsilon, t)
            hits = sum(test.passes(d, rng) for _ in range(size))
            worst = max(worst, abs(hits - size * p) / math.sqrt(size * p * (1 - p)))
        return worst < 5

    assert fits(0.5)
    assert not fits(1.0) and not fits(0.4)


def test_the_scale_of_the_noise_is_rounded_up():
    for b, e in ((1.0, Fraction(1, 3)), (0.005, HALF), (7e-9, Fraction(3, 7))):
        got = Fraction(laplace_scale(b, 0.0, e))
        assert Fraction(math.nextafter(b, math.inf)) / e <= got < Fraction(b) / e * (1 + 2**-40)
        assert Fraction(laplace_scale(b, 0.5, e)) >= (Fraction(b) + 1) / e


@every_value
@pytest.mark.parametrize("digits", [0, 1000, 9500])
@pytest.mark.parametrize("excess", ["1e3", "1", "1e-3", "3e-9", "7e-9", "1e-10", "1e-11"])
def test_the_noise_of_a_ratio_is_rounded_up(excess, digits, monkeypatch):
    """However the ratio is written: long fractions, ratios near 1, where logarithms cancel."""
    seen = []
    draw = lambda *_, value, scale, **__: seen.append(scale) or value  # noqa: E731
    monkeypatch.setattr("dpfast.noise.samplers.draw", draw)
    long = 3 ** (2 * digits)
    ratio = 1 + Fraction(int(Fraction(excess) * 10**20 * long), 10**20 * long + 1)
    x = np.repeat([3.0, 7.0], 100)
    ptr.iqr(x, bounds=(0, 10), ratio=ratio, **{"neighbors": "replace", **PAPER, "epsilon": 40})
    with mpmath.workdps(5000):
        exact = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator) / 20
        # Beside it stands the rounding of the logarithm of the answer, 2 * 2**-42.
        least = exact + mpmath.mpf(2) ** -41 / 20
        assert least <= seen[0] <= least * (1 + mpmath.mpf(2) ** -40)


def test_the_enumeration_of_the_scale_free_test_can_fail(recorded, monkeypatch):
    """A fault: the range is only ever widened, never narrowed."""
    every = statistics.Every(statistics.iqr, (0, 1, 2, 4, 7), [5])
    want = reference.chance_of_leaving(every.value, every.links, 2.0)

    def widened(lower, upper, n, ratio, most):
        def leaves(k):
            p = np.arange(k + 2)
            high = (upper(4 + k + 1 - p) - lower(2 - p)).max()
            return high >= 2 * (upper(np.array([4])) - lower(np.array([2])))[0]

        return first_above(leaves, 0.5, most, n)

    monkeypatch.setattr(in_ranks, "scale_free_distance", widened)
    assert [recorded.of(ptr.iqr, d, bounds=(0, 7), ratio=2) for d in every.datasets] != [*want]


def test_the_distance_of_a_mean():
    """Of ages between 0 and 100 and a proposal of 0.005; with a public n it is all or nothing."""
    for rows, proposed, neighbors, due in (
        (32_561, Fraction(1, 200), "add-remove", 12_562),
        (20_000, Fraction(1, 200), "add-remove", 1), (19_999, Fraction(1, 200), "add-remove", 0),
        (5, Fraction(50), "add-remove", 10**9), (20_000, Fraction(1, 200), "replace", 10**9),
        (19_999, Fraction(1, 200), "replace", 0),
    ):  # fmt: skip
        assert mean_distance(rows, 100, proposed, neighbors, 10**9) == due


class Recorded:
    """The value and the distance that a call finds, instead of an answer."""

    def __init__(self, monkeypatch):
        self.found = []

        def passes(test, distance, generator):
            self.found.append(min(distance, test.farthest))
            return False

        monkeypatch.setattr(DistanceTest, "passes", passes)

    def of(self, function, data, *args, **kw):
        kw = {"neighbors": "replace", **PAPER, **kw}
        assert function(data, *args, **kw) is dp.NO_ANSWER
        return self.found.pop()


@pytest.fixture
def recorded(monkeypatch):
    return Recorded(monkeypatch)


FAR = DistanceTest(Fraction(10), Fraction(1, 10**6)).farthest


def guards(distances, values, links, proposed):
    """Whether distances of neighbors are 1 apart at most, and 0 where one is beyond a proposal."""
    return all(
        abs(distances[i] - distances[j]) <= 1
        and (distances[i] == 0 or abs(values[i] - values[j]) <= proposed)
        for i, link in enumerate(links)
        for j in link
    )


@quick_rows(3)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("proposed", [1, 2.5, 4, 9, 10])
def test_quantile_distances_replace(n, proposed, recorded):
    domain = (-1, 0, 2, 5, 9)
    for m in range(1, n + 1):
        q = Fraction(m, n)
        every = ranks.Universe(domain, [n], q, "replace")
        for i, data in enumerate(every.datasets):
            want = reference.distance(every.at_distance, i, proposed)
            got = recorded.of(ptr.quantile, data, q, bounds=(-1, 9), proposed=proposed, delta=1e-40)
            assert got == want or (want == math.inf and got >= 4 * 4), (data, q)


@quick_rows(2)
@pytest.mark.parametrize("q", [0, Fraction(1, 3), HALF, Fraction(3, 4), 1])
@pytest.mark.parametrize("proposed", [1, 2.5, 6])
def test_quantile_distances_add_remove(q, proposed, recorded):
    every = ranks.Universe((0, 1, 3, 7), range(9), q, "add-remove")
    kw = {"bounds": (0, 7), "proposed": proposed, "neighbors": "add-remove", "delta": 1e-40}
    for i, data in enumerate(every.datasets):
        want = reference.distance(every.at_distance, i, proposed)
        if len(data) + want <= 8:  # else the ball of the enumeration is cut off
            assert recorded.of(ptr.quantile, data, q, **kw) == want, (data, q)


def test_a_distance_that_only_looks_for_gaps_is_no_distance(recorded):
    """The fault: gaps can be merged by changing the rows between them."""
    domain = tuple(range(6))
    every = ranks.Universe(domain, [5], HALF, "replace")
    value, place = [d[2] for d in every.datasets], {d: i for i, d in enumerate(every.datasets)}
    links = [[place[y] for y in set(ranks.replaced(d, domain))] for d in every.datasets]
    kw = {"bounds": (0, 5), "proposed": 1.0}
    ours = [recorded.of(ptr.quantile, d, HALF, **kw) for d in every.datasets]
    gaps = [min(reference.gap_distance(d, 3, 0, 5, 1.0), FAR) for d in every.datasets]
    assert guards(ours, value, links, 1.0) and not guards(gaps, value, links, 1.0)


@quick_rows(4)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("ratio", [Fraction(9, 8), Fraction(2), Fraction(5)])
def test_scale_free_distances(n, ratio, recorded):
    domain = (0, 1, 2, 4, 7) if n < 6 else (0, 2, 3, 7)
    every = statistics.Every(statistics.iqr, domain, [n])
    value = every.value
    want = reference.chance_of_leaving(value, every.links, float(ratio))
    got = [recorded.of(ptr.iqr, d, bounds=(0, 7), ratio=ratio, delta=1e-40) for d in every.datasets]
    assert all(g == w or (w == 10**6 and g >= 16) for g, w in zip(got, want, strict=True))
    for i, j in ((i, j) for i, link in enumerate(every.links) for j in link):
        near = value[j] < ratio * value[i] < ratio**2 * value[j] or value[i] == value[j] == 0
        assert abs(got[i] - got[j]) <= 1 and (near or not got[i])


def test_what_comes_out_of_few_or_equal_rows():
    given = {"bounds": (0, 9), **PAPER, "neighbors": "replace"}
    assert ptr.iqr(np.full(1000, 3.0), **given) == 0.0
    # At distance 0 of 2 that are asked for, for an epsilon of 10: passes by chance, exp(-20).
    assert ptr.iqr([1, 2, 3, 9], **given) is dp.NO_ANSWER
    assert ptr.iqr([], ratio=2, **given) > 0


def test_no_answer_is_one_of_its_kind():
    nothing = dp.NO_ANSWER
    assert repr(nothing) == "dpfast.NO_ANSWER" and not nothing and nothing is not None
    assert copy.deepcopy(nothing) is copy.copy(nothing) is nothing is type(nothing)()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(nothing, protocol)) is nothing
    with pytest.raises(TypeError):
        float(nothing)


def test_a_distance_of_your_own():
    seen, given = [], {"bounds": (0, 2.5), "proposed": 0.25, "neighbors": "replace", **PAPER}
    distance = lambda *asked: seen.append(asked) or math.inf  # noqa: E731
    assert 0 <= ptr.release([1, 2, 3], len, distance, **given) <= 2.5
    assert seen == [([1, 2, 3], 0.25)]
    assert ptr.release([1], len, lambda x, b: 0, **given) is dp.NO_ANSWER


@pytest.mark.parametrize("bad", [math.nan, "x", None, object()])
def test_what_is_no_number(bad):
    budget = dp.Budget(epsilon=60, delta=1e-5)
    for statistic, distance in ((lambda x: bad, 1), (len, bad), (len, -1)):
        with pytest.raises(DataError, match=r"not shown|negative"):
            given = {"bounds": (0, 9), "proposed": 1, "budget": budget, **PAPER}
            ptr.release([1], statistic, lambda x, b, own=distance: own, **given)
    assert len(budget.history) == 3


@pytest.mark.parametrize("call, change, match", [
    *((call, change, match) for call in (ptr.mean, ptr.iqr, partial(ptr.quantile, q=0.5))
      for change, match in (
        ({"delta": 0}, "delta must be greater than 0"), ({"test_share": 1e-15}, "test_share"),
        ({"nan": "drop", "neighbors": "replace"}, "nan"))),
    (ptr.iqr, {"ratio": 2, "neighbors": "replace"}, "ratio must be left"),
    (ptr.iqr, {"proposed": None, "neighbors": "add-remove"}, "neigh"),
])  # fmt: skip
def test_bad_arguments(call, change, match):
    given = {"data": [1.0], "bounds": (0, 1), "proposed": 0.5, **PAPER, **change}
    refused(call, match, budget=dp.Budget(epsilon=100, delta=0.5), **given)


AR, REP = "add-remove", "replace"
EPSILON, DELTA = 4.0, 0.05
DOMAIN = (0.0, 1.0, 3.0, 7.0, math.nan)
KW = {"bounds": (0, 7), "epsilon": EPSILON, "delta": DELTA}
CASES = {
    "median": (lambda x, **kw: dp.ptr.quantile(x, 0.5, proposed=2.0, **KW, **kw), (REP, AR)),
    "quantile": (lambda x, **kw: dp.ptr.quantile(x, 0.2, proposed=2.0, **KW, **kw), (REP, AR)),
    "iqr": (lambda x, **kw: dp.ptr.iqr(x, proposed=2.0, **KW, **kw), (REP, AR)),
    "mean": (lambda x, **kw: dp.ptr.mean(x, proposed=1.0, **KW, **kw), (REP, AR)),
    "iqr without a scale": (lambda x, **kw: dp.ptr.iqr(x, ratio=2.5, **KW, **kw), (REP,)),
}
SIZES = {"mean": 11, "iqr": 6}
COMBINATIONS = [
    (name, relation, policy)
    for name, (_, relations) in CASES.items()
    for relation in relations
    for policy in ("lower", "upper", 2.0, 99.0, *(["drop"] if relation == AR else []))
]


class Outcome:
    def __init__(self, call, data):
        self.value = self.scale = None  # where the answer is 0 without noise

        def passes(test, distance, generator):
            self.test, self.distance = test, min(distance, test.farthest)
            return True

        def draw(distribution, *, value, scale, granularity, generator):
            assert type(distribution).__name__ == "Laplace"
            self.value, self.scale = value, scale
            return value

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(DistanceTest, "passes", passes)
            patch.setattr(samplers, "draw", draw)
            call(np.array(data))
        self.seen = self.distance, self.value, self.scale


def beyond(a, b, shrink=1.0, lower=0):
    test = float(a.test.epsilon)
    threshold = a.test.threshold - lower
    if a.value is None or b.value is None:
        # An answer of 0 is a point; others are off it.
        p, q = (pass_probability(x.distance, test, threshold) for x in (a, b))
        none = max(0.0, (1 - p) - math.exp(EPSILON) * (1 - q))
        return none + (max(0.0, p - math.exp(EPSILON) * q) if a.value is b.value else p)
    assert a.scale == b.scale
    far = abs(a.value - b.value) / (a.scale * shrink)
    return hockey_stick(EPSILON, (a.distance, b.distance), far, test, 1.0, threshold)


@quick_rows(3)
@pytest.mark.parametrize(("name", "relation", "policy"), COMBINATIONS)
def test_answers_are_no_further_apart_than_epsilon_and_delta(name, relation, policy):
    call = CASES[name][0]
    found = {
        rows: Outcome(lambda x: call(x, neighbors=relation, nan=policy), rows)
        for n in range(SIZES.get(name, 5))
        for rows in itertools.combinations_with_replacement(DOMAIN, n)
        if name != "mean" or len(set(rows)) < 3
    }
    near = near_pairs(found, relation, DOMAIN, lambda x: (x != x, x))
    links = [(found[a], found[b]) for a, b in near]
    assert len(links) > 200
    pairs = {(a.seen, b.seen): (a, b) for a, b in links}.values()

    def worst(**fault):
        return max(beyond(*pair, **fault) for a, b in pairs for pair in ((a, b), (b, a)))

    assert worst() <= DELTA * (1 + 1e-9)
    assert len({a.distance for a, _ in pairs}) > 1 or relation == REP
    if (name, relation) != ("mean", REP):  # where n is public nothing is to be tested
        assert worst(lower=1) > DELTA
    assert worst(shrink=0.25) > DELTA
