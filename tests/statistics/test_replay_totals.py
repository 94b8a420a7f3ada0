"""Record and replay for releases of exact integers: all neighbors of small datasets.

A release computes integers, adds noise, and makes an answer of what comes out. Recorded are the
integers and the noise; checked is, for all neighbors, that the noise covers how far the integers
move (the exact loss of the distribution that is drawn from), and that the same noisy integers make
the same answer, bit by bit, whichever of two neighbors they came from: so nothing else enters the
answer.
"""

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import dpfast as dp
from dpfast._core.once import forget
from dpfast.measurement import features, linear, statistic
from dpfast.noise.box import BoxNoise
from dpfast.noise.calibrated_integer import IntegerNoise, integer_noise
from dpfast.noise.sensitivity import Sensitivity
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.statistics.totals import count
from dpfast.statistics.totals.count import NONZERO
from dpfast.summaries.totals import Totals

from ..support.battery import same

AR, REP = "add-remove", "replace"
LOSSES = [Pure(1), Pure(4), Approx(1, 1e-6), Approx(0.03, 1e-4), ZCDP(0.02), ZCDP(30)]
#: Inside the bounds, at both, beyond, and what is no number.
NUMBERS = (-1.0, 0.3, 2.5, 1e308, math.nan)
BOUNDS = (-1.0, 2.5)


@dataclass
class Tape:
    """Stands in for the random bits: keeps noise and integers, and plays given noise."""

    played: list[int] = field(default_factory=list)
    noise: list[tuple[str, Fraction, int]] = field(default_factory=list)
    values: list[int] = field(default_factory=list)

    def __enter__(self):
        tape, add = self, IntegerNoise.add

        def recorded(noise, values, generator):
            if noise.scale:
                tape.values += values
            return add(noise, values, generator)

        def draw(noise, size, generator):
            tape.noise += [(noise.distribution, noise.scale, noise.shift)] * size
            return np.array([tape.played.pop(0) if tape.played else 0 for _ in range(size)])

        def box(noise, values, generator):
            tape.values += values
            sizes = noise.sensitivities[len(noise.independent) :]
            law, scales = noise.distribution, [x / noise.epsilon for x in sizes if x]
            tape.noise += [(law, scale, 0) for scale in scales]
            return [value + (tape.played.pop(0) if tape.played else 0) for value in values]

        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(IntegerNoise, "add", recorded)
        self.patch.setattr(IntegerNoise, "draw", draw)
        self.patch.setattr(BoxNoise, "_add_joint", box)
        self.patch.setattr(count, "below", lambda n, stream: 0)  # halves of counts
        return self

    def __exit__(self, *exception):
        self.patch.undo()


def columns(rows, width):
    return np.array(rows, float).reshape(len(rows), width)


def one(function, **kw):
    return lambda rows, **more: function(columns(rows, 1)[:, 0], **kw, **more)


def weighted(function, limits, bounds=BOUNDS):
    def call(rows, **kw):
        data, weights = columns(rows, 2).T
        return function(data, bounds=bounds, weights=weights, weight_bounds=limits, **kw)

    return call


def two(function, **kw):
    return lambda rows, **more: function(columns(rows, 2), **kw, **more)


def bins(call):
    """The counts are themselves the integers, where there is no noise."""

    def counts(rows, **kw):
        return call(rows, **kw)[0]

    counts.plain = True
    return counts


def words(rows, **kw):
    return dp.histogram([word for (word,) in rows], categories=["a", "b"], **kw)


ONE = [(x,) for x in NUMBERS]
TWO = [*itertools.product((-1.0, 9.0, math.nan), (-9.0, 1.0)), (0.3, 0.5)]
COLUMNS = [*TWO, (9.0, math.nan)]
ZEROS = [(0.0,), (-0.0,), (5e-324,), (math.nan,)]
WORDS = [("a",), ("b",), ("other",), (None,)]
#: Name: the release, what a row can be, and whether it has a policy for NaN.
CASES = {
    "count": (one(dp.count), ONE, ("keep", "drop")),
    "count_nonzero": (one(dp.count_nonzero), ZEROS, ("keep", "drop")),
    "sum": (one(dp.sum, bounds=BOUNDS), ONE, True),
    # With 0 beyond the bounds a row that leaves moves a sum by more than one that is replaced.
    "sum above 0": (one(dp.sum, bounds=(0.25, 2.5)), ONE, True),
    "sum below 0": (one(dp.sum, bounds=(-1.0, -0.25)), ONE, True),
    "mean": (one(dp.mean, bounds=BOUNDS), ONE, True),
    "variance": (one(dp.variance, bounds=BOUNDS), ONE, True),
    "sample variance": (one(dp.variance, bounds=BOUNDS, ddof=1), ONE, True),
    "weighted sum": (weighted(dp.sum, (-0.5, 1.0)), TWO, True),
    "weighted sum above 0": (weighted(dp.sum, (0.5, 1.0), (0.25, 2.5)), TWO, True),
    "weighted mean": (weighted(dp.mean, (0.25, 1.0)), TWO, True),
    "covariance": (two(dp.covariance, bounds=[(-1, 2.5), (0, 1)]), COLUMNS, True),
    "counts of columns": (two(dp.count, axis=0), COLUMNS, ("keep", "drop")),
    "sums of columns": (two(dp.sum, axis=0, bounds=[(-1, 2.5), (0, 1)]), COLUMNS, True),
    "sums of columns beside 0": (
        two(dp.sum, axis=0, bounds=[(0.5, 2.5), (-1, -0.5)]),
        COLUMNS,
        True,
    ),
    "means of columns": (two(dp.mean, axis=0, bounds=[(-1, 2.5), (0, 1)]), COLUMNS, True),
    "variances of columns": (two(dp.variance, axis=0, bounds=[(-1, 2.5), (0, 1)]), COLUMNS, True),
    "histogram": (bins(one(dp.histogram, bins=3, bounds=BOUNDS)), ONE, False),
    "categories": (bins(one(dp.histogram, categories=[0.3, 2.5])), ONE, False),
    "histogram of two": (
        bins(two(dp.histogram, bins=[2, 2], bounds=[(-1, 1), (0, 1)])),
        COLUMNS,
        False,
    ),
    "histogram of words": (bins(words), WORDS, False),
}
POLICIES = ("lower", 99.0, 0.3, "drop")
#: For these all policies are tried before a change is merged, and of others two.
ALL, FEW = ("sum", "mean", "variance"), (0.3, "drop")


def combinations():
    for name, (_, rows, policies) in CASES.items():
        some = [(AR, False), (REP, True)] if rows is ONE else [(AR, False)]
        for relation, masked in itertools.product((REP, AR), (False, True)):
            for policy in POLICIES if policies is True else policies or (None,):
                if policy == "drop" and policies is True and relation == REP:
                    continue
                given, mark = (name, relation, masked, policy), pytest.mark.full
                if (relation, masked) in some and policy in (0.3, "keep", None):
                    # By day two losses of six, others for each case.
                    yield pytest.param(*given, LOSSES[len(name) % 3 :: 3])
                elif policies is True and name not in ALL and policy not in FEW:
                    mark = pytest.mark.slow
                yield pytest.param(*given, LOSSES, marks=[mark])


class Played:
    """A release of datasets of (row, kept), with its noise recorded or given."""

    def __init__(self, name, relation, masked, policy):
        self.call, self.rows, _ = CASES[name]
        self.relation, self.masked = relation, masked
        self.kw = {} if policy is None else {"nan": policy}

    def datasets(self, most):
        kept = (True, False) if self.masked else (True,)
        rows = list(itertools.product(self.rows, kept))
        for size in range(most + 1):
            yield from itertools.combinations_with_replacement(rows, size)

    def neighbors(self, data):
        """Those that are one row smaller, or differ in their first row; the order is no matter."""
        for i in range(len(data)):
            rest = data[:i] + data[i + 1 :]
            if self.relation == AR:
                yield rest
            else:
                kept = (True, False) if self.masked else (True,)
                yield from ((row, *rest) for row in itertools.product(self.rows, kept))

    def run(self, data, loss, played=()):
        kw = {"where": np.array([keep for _, keep in data], bool)} if self.masked else {}
        asked = {"rho": loss.rho} if isinstance(loss, ZCDP) else {"epsilon": loss.epsilon}
        if isinstance(loss, Approx):
            asked["delta"] = loss.delta
        with Tape(list(played)) as tape:
            answer = self.call(
                [row for row, _ in data], neighbors=self.relation, **asked, **kw, **self.kw
            )
        values = tape.values
        if getattr(self.call, "plain", False):
            values = (answer.ravel() - np.array(list(played) or [0] * answer.size)).tolist()
        return tape.noise, values, answer


def moves(noise, a, b):
    """How far the noisy numbers of two vectors of integers are apart before noise."""
    return tuple(
        abs((x >> shift) - (y >> shift)) for x, y, (_, _, shift) in zip(a, b, noise, strict=True)
    )


def lost(noise, moved, loss, less=1):
    """By how much the exact loss between vectors that are so far apart passes what was asked.

    0 is exactly what was asked, below it is less. `less` shrinks the noise.
    """
    if not any(moved):
        return -1.0
    cells = moved
    moved = [move / (scale * less) for move, (_, scale, _) in zip(moved, noise, strict=True)]
    distributions = {distribution for distribution, _, _ in noise}
    if distributions in ({"laplace"}, {"box"}):
        epsilon = max(moved) if distributions == {"box"} else sum(moved)
        if isinstance(loss, ZCDP) and distributions == {"box"}:
            return float(epsilon) * math.tanh(epsilon / 2) / float(loss.rho) - 1
        if isinstance(loss, ZCDP):
            each = [(float(e), float(e / m)) for e, m in zip(moved, cells, strict=True) if m]
            rho = sum(e + math.expm1(-e) * h / math.sinh(h) for e, h in each)
            return rho / float(loss.rho) - 1
        return float(epsilon / loss.epsilon - 1)
    stairs = [math.ceil(move / loss.epsilon) for move in moved] if isinstance(loss, Pure) else []
    if distributions == {"staircase"}:
        return float(sum(stairs) - 1)
    if distributions == {"stairs"}:
        return float(max(stairs) - 1)
    squares = sum(m * m for m in moved)
    if distributions == {"gaussian"}:
        return float(squares / 2 / loss.rho - 1)
    assert distributions == {"rounded-gaussian"}
    with mpmath.workdps(40):
        s, e = mpmath.sqrt(float(squares)), mpmath.mpf(float(loss.epsilon))
        delta = mpmath.ncdf(s / 2 - e / s) - mpmath.exp(e) * mpmath.ncdf(-s / 2 - e / s)
        return float(delta / float(loss.delta) - 1)


#: Beyond it a loss is too much: what is computed here in floats is that far off.
SLACK = 1e-9


def neighboring(played, loss):
    """Runs on all datasets; the distinct integers of neighbors; a largest dataset of each size."""
    most = 2 if played.masked or len(played.rows) > 5 else 3
    found = {data: played.run(data, loss) for data in played.datasets(most)}
    pairs = set()
    for data in found:
        for other in played.neighbors(data):
            key = tuple(sorted(other, key=repr))
            if key not in found:
                key = next(d for d in itertools.permutations(other) if d in found)
            pairs.add((data, key))
    apart, largest = {}, {len(data): data for data in found}
    for data, other in sorted(pairs, key=repr):  # NaN has another hash in each process
        vectors = tuple(found[data][1]), tuple(found[other][1])
        apart.setdefault((len(data), *vectors), []).append((data, other))
    assert all(noise == found[largest[len(data)]][0] for data, (noise, _, _) in found.items())
    return found, apart, largest


@pytest.mark.parametrize("name, relation, masked, policy, losses", list(combinations()))
def test_neighbors_are_covered_and_noisy_integers_are_all_that_counts(
    name, relation, masked, policy, losses
):
    played, first = Played(name, relation, masked, policy), losses[0]
    _, apart, largest = neighboring(played, first)
    for loss in losses:
        # The noise of the datasets of a size: the size counts where it is public, else it is one.
        public = {size: played.run(data, loss)[0] for size, data in largest.items()}
        assert relation == REP or len(set(map(tuple, public.values()))) == 1
        # Of another loss they may be other integers.
        moved = apart if loss is first else neighboring(played, loss)[1]
        found_apart = {(size, moves(public[size], a, b)) for size, a, b in moved}
        assert max(lost(public[size], far, loss) for size, far in found_apart) <= SLACK, loss
        # The control: less than half of the noise is found out.
        less = max(lost(public[size], far, loss, Fraction(9, 20)) for size, far in found_apart)
        assert less > 0 or (relation == REP and not masked and policy == "keep"), loss
    # Noise that makes the same integers of both: the answers must be the same bits.
    rng = np.random.default_rng(4)
    # Of neighbors with the same integers several: a fault may show in the answers of few of them.
    some = [pair for alike in apart.values() for pair in (*alike[:2], *alike[2:][-2:])]
    for at in rng.permutation(len(some))[:100]:
        (noise, a, _), (_, b, _) = (played.run(data, first) for data in some[at])
        drawn = [int(z) for z in rng.integers(-(2**50), 2**50, len(a)) >> rng.integers(0, 50)]
        shifted = [
            z + (x >> shift) - (y >> shift)
            for z, x, y, (_, _, shift) in zip(drawn, a, b, noise, strict=True)
        ]
        pair = zip(some[at], (drawn, shifted), strict=True)
        assert same(*(played.run(data, first, noises)[2] for data, noises in pair))


def true_count(self, summary, generator):
    """A noisy sum over the number of rows as it is."""
    (totals,), (column,) = summary, self.columns
    noise = integer_noise(self.offered_loss, Sensitivity(2, column.span, column.span**2))
    upper, _ = noise.add([totals.sum, 0], generator)
    return column.at(upper, max(1, totals.rows) * column.span)


def dropped(found, *_):
    return Totals(found.rows, 0, found.sum, found.squares, found.read)


#: What is planted, and the case that finds it.
PUBLIC = "public", linear.Setting, "is_public", property(lambda setting: setting.neighbors == REP)
ENTER = "no row leaves", features.Feature, "sensitivity", lambda f, *_: f.hi - f.lo
HALF = "other relation", features.Feature, "sensitivity", lambda f, *_: (f.hi - f.lo) // 2
ONES = "ones", count.CountNonzero, "feature", NONZERO._replace(lo=1, missing=1)
FAULTS = [
    (*("a true count", linear.LinearMeasurement, "finish", true_count), "mean", AR, False),
    (*HALF, "sum", REP, False), (*ENTER, "sum above 0", REP, True),
    (*ENTER, "sum below 0", REP, True), (*ONES, "count_nonzero", REP, False),
    (*PUBLIC, "mean", REP, True), (*PUBLIC, "variance", REP, True),
    (*("missing rows go", linear, "with_missing", dropped), "mean", REP, False),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault[0]}-{fault[4]}")
def test_a_fault_is_found(fault, monkeypatch):
    _, home, name, planted, case, relation, masked = fault
    forget()  # what other tests made without the fault
    monkeypatch.setattr(linear, "plan", linear.plan.__wrapped__)
    monkeypatch.setattr(statistic, "mechanism_of", statistic.mechanism_of.__wrapped__)
    monkeypatch.setattr(home, name, planted)
    test = test_neighbors_are_covered_and_noisy_integers_are_all_that_counts
    with pytest.raises(AssertionError):
        test(case, relation, masked, "keep" if case == "count_nonzero" else "lower", LOSSES[:1])
    forget()  # and what is made with it


def test_two_laws_for_half_the_loss_each_would_not_pass_for_one():
    """A box of m numbers with noise for each as if it were alone."""
    noise = [("laplace", Fraction(1), 0)] * 2
    assert lost(noise, (1, 1), Pure(1)) > 0.9
    assert lost([("gaussian", Fraction(1), 0)] * 2, (1, 1), ZCDP(0.5)) > 0.9
    assert lost([("box", Fraction(1), 0)] * 2, (1, 1), Pure(1)) == 0
    assert lost([("box", Fraction(1), 0)] * 2, (1, 2), Pure(1)) == 1
    assert lost([("rounded-gaussian", Fraction(2), 0)], (3,), Approx(1, 1e-3)) > 0
