"""The loss that an audit shows of our own mechanisms, over their claims, and faults that it finds.

    python benchmarks/audited.py [--quick] [--out folder] [names]

writes `audited.json` in `docs/figures`. Every public mechanism is audited on a pair of neighbors on
which it spends what it claims, or nearly; a ratio above 1 would be a fault of dpfast. Each planted
fault is audited at the claim that it breaks.

A row is audited in one of three ways.

* By *answers*: `dp.audit.measure` bounds the loss from below. The data of a release are read once,
  and what is drawn is drawn again for each answer.
* By its *law*: the probability of each answer on either data, from the parameters of the mechanism;
  `dp.audit.exact_epsilon` and `exact_rho` tell the loss. Answers of the mechanism are then tested
  against the law, by chi-square.
* By its *rounds*: a program of noisy integers runs twice, and is given the same answers. Of each
  integer the law of its noise tells what the shift costs. Fresh answers are tested against it.
"""

import argparse
import itertools
import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

import dpfast as dp
from dpfast.budget.release import TAPE
from dpfast.rng import InsecureGenerator

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
SEED = 2024
#: What is wrong with so small a probability that a law is said to be another.
FALSE_ALARM = 1e-6
#: What rounding of float64 may add to a ratio.
ROUNDING = 1e-9
GENERATOR = InsecureGenerator(SEED)


# --- three ways to audit --------------------------------------------------------------------------


@dataclass
class Recorder:
    """Keeps the releases of a program, and gives a second run the answers of the first."""

    first: Any = None
    turns: list[tuple[Any, Any, Any]] = field(default_factory=list)

    def turn(self, mechanism: Any, data: Any, summary: Any, answer: Any) -> Any:
        kept = answer
        if self.first is not None and hasattr(mechanism, "noises"):
            kept = self.first.turns[len(self.turns)][2]
        self.turns.append((mechanism, summary, kept))
        return kept

    def run(self, call: Callable[[], Any]) -> list[tuple[Any, Any, Any]]:
        token = TAPE.set(self)
        try:
            call()
        finally:
            TAPE.reset(token)
        return self.turns


@dataclass
class Row:
    """A mechanism, two neighbors, the claim, and what is said of a share below .95."""

    audit: Callable[..., dict[str, Any]]
    pair: tuple[Any, Any]
    claim: dict[str, float]
    #: Answers in a whole run.
    samples: int = 120_000
    note: str = ""


def again(call, tell=np.asarray):
    """Many answers of a release whose data are read once, each as `tell` shows it."""
    kept = {}

    def mechanism(data, size):
        if id(data) not in kept:
            kept[id(data)] = Recorder().run(lambda: call(data))[-1][:2]
        release, summary = kept[id(data)]
        return np.array([tell(release.finish(summary, GENERATOR)) for _ in range(size)])

    return by_answers(mechanism)


def by_answers(mechanism):
    """A mechanism as a black box."""

    def audit(row, samples):
        found = dp.audit.measure(mechanism, *row.pair, **row.claim, samples=samples)
        shown = found.rho if "rho" in row.claim else found.epsilon
        return {"shown": shown, "samples": found.samples, "p_value": found.p_value}

    return audit


def by_law(law, draw):
    """A mechanism by the probabilities of its answers 0, 1, ..., which are drawn, too."""

    def audit(row, samples):
        laws = [law(data) for data in row.pair]
        rare = np.maximum(*laws) < 1e-200  # what float64 may not hold of either
        known = [np.where(rare, 0.0, one) for one in laws]
        if "rho" in row.claim:
            shown = dp.audit.exact_rho(*known)
        else:
            shown = dp.audit.exact_epsilon(*known, delta=row.claim.get("delta", 0.0))
        size = min(samples, 200_000) // 2
        drawn = [draw(data, size) for data in row.pair]
        fits = map(fit, drawn, laws)
        return {"shown": shown, "samples": sum(map(len, drawn)), "p_value": min(1.0, 2 * min(fits))}

    return audit


def fit(answers, law):
    """The p-value of chi-square, of cells in which 25 answers or more are due."""
    due = np.append(law, max(0.0, 1 - law.sum())) * len(answers)
    seen = np.bincount(np.minimum(answers, len(law)), minlength=len(law) + 1)
    if seen[due == 0].any():
        return 0.0
    order = np.argsort(-due, kind="stable")
    cell = np.minimum(np.cumsum(due[order]) // 25, len(answers) // 25 - 1).astype(np.int64)
    due, seen = np.bincount(cell, due[order]), np.bincount(cell, seen[order])
    due, seen = due[due > 0], seen[due > 0]
    return float(special.chdtrc(max(1, len(due) - 1), ((seen - due) ** 2 / due).sum()))


#: Edges of 64 cells with the same mass of a standard normal variable.
CELLS = special.ndtri(np.arange(1, 64) / 64)


def by_rounds(program):
    """A program of Gaussian noise in integers, round by round; its rho is the sum over them all."""

    def audit(row, samples):
        x, x2 = row.pair
        first = Recorder()
        turns = first.run(lambda: program(x)), Recorder(first).run(lambda: program(x2))
        shown, fits, drawn = 0.0, [], 0
        for (made, before, _), (other, after, _) in zip(*turns, strict=True):
            if hasattr(made, "c"):  # a choice
                chances = (special.softmax(made.c * s, axis=1) for s in (before, after))
                shown += sum(itertools.starmap(dp.audit.exact_rho, zip(*chances, strict=True)))
                continue
            noises = noises_of(made, before)
            if not noises:
                continue
            assert noises == noises_of(other, after)  # public numbers
            moved, spread, unit = shifts(noises, before, after)
            shown += float((moved**2 / spread**2).sum()) / 2
            size = max(32, samples // len(before) // 4 // len(turns[0]))
            fresh = [noisy(noises, before) for _ in range(size)]
            wide = spread > 100  # integers that are nearly continuous
            if wide.any():
                scaled = (np.array(fresh, np.float64) - np.array(before, np.float64))[:, wide]
                z = (scaled / (spread * unit)[wide]).ravel()
                fits.append(fit(np.searchsorted(CELLS, z), np.full(64, 1 / 64)))
                drawn += z.size
            for scale in np.unique(spread[~wide]):
                same = spread == scale
                z = (np.array(fresh) - np.array(before))[:, same].ravel()
                most = math.ceil(12 * scale)
                law = np.exp(-(np.arange(-most, most + 1.0) ** 2) / (2 * scale**2))
                fits.append(fit(z + most, law / law.sum()))
                drawn += z.size
        return {
            "shown": shown,
            "samples": drawn,
            "p_value": min(1.0, len(fits) * min(fits)),
        }

    return audit


def noises_of(made, summary):
    """The noise of the integers of a round, and of how many of them it is."""
    noise = getattr(made, "noise", None)
    if isinstance(noise, dp.extend.IntegerNoise):
        return ((noise, len(summary)),)
    return getattr(made, "noises", ())


def noisy(noises, summary):
    """What a round tells."""
    left, found = list(summary), []
    for noise, size in noises:
        found += noise.add(left[:size], GENERATOR)
        left = left[size:]
    return found


def shifts(noises, before, after):
    """How far each integer moves, and the deviation of its noise, in units; and these."""
    assert all(noise.distribution == "gaussian" for noise, _ in noises)
    shift = np.repeat(*zip(*((noise.shift, size) for noise, size in noises), strict=True))
    spread = np.repeat(*zip(*((float(noise.scale), size) for noise, size in noises), strict=True))
    cells = [[int(x) >> int(s) for x, s in zip(one, shift, strict=True)] for one in (before, after)]
    return np.subtract(*cells, dtype=np.float64), spread, 2.0**shift


# --- our own mechanisms ---------------------------------------------------------------------------

#: Neighbors: one of the rows is there or not, or has another value.
GONE = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0]))
CHANGED = (np.array([0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0]))
WIDER = (np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, 0.0]))
ONE, TWO = {"epsilon": 1}, {"epsilon": 2}
RHO = {"rho": 0.5}
RNG_OF = {"rng": GENERATOR}
#: Arguments of most releases.
PAID = {**TWO, **RNG_OF}
IN_UNIT = {"bounds": (0, 1), **PAID}
REPLACE = {"neighbors": "replace"}


def with_noise(function, *args, **given):
    """A sum of rows with noise, many at once."""

    def mechanism(data, size):
        return data.sum() + function(*args, size, rng=GENERATOR, **given)

    return mechanism


def of(function, **given):
    """A release of the data that it is given."""
    return lambda data: function(data, **given)


# Integer and grid noise: the mass of a cell of the grid.


#: Parts of a deviation, and deviations around 0, that the cells of a normal law are.
PARTS, WIDE = 32, 14


def normal_cells(center):
    """The law of a Gaussian number around a center, in deviations, in cells."""
    edges = np.arange(-PARTS * WIDE, PARTS * WIDE + 2) / PARTS - 0.5 / PARTS - center
    low, high = edges[:-1], edges[1:]
    return special.ndtr(np.minimum(high, -low)) - special.ndtr(np.minimum(low, -high))


def cell_of(numbers):
    return np.rint((np.array(numbers) + WIDE) * PARTS).astype(np.int64)


def draw_normal_cells(data, size):
    return cell_of(data.sum() + dp.noise.gaussian(1.0, size, granularity=1 / PARTS, rng=GENERATOR))


def gaussian_release(**given):
    """A number with Gaussian noise, in deviations."""

    def made_of(value):
        call = partial(dp.additive_release, value, sensitivity=1, noise="gaussian", **given)
        made, summary, _ = Recorder().run(lambda: call(rng=GENERATOR))[-1]
        return made, summary, made.noise.deviation * made.grid

    def draw(value, size):
        made, summary, deviation = made_of(value)
        answers = [made.finish(summary, GENERATOR) for _ in range(size // 10)]
        return cell_of(np.array(answers) / deviation)

    return by_law(lambda value: normal_cells(value / made_of(value)[2]), draw)


def discrete_gaussian(data):
    return masses(lambda z: np.exp(-(z**2) / 8), 40, int(data.sum()))


def masses(weight, most, center):
    """The law of an integer around a center, as far as `most` from 0."""
    found = weight(np.arange(-2 * most, 2 * most + 1.0))
    found /= found.sum()
    return found[most - center : 3 * most - center + 1]


def draw_discrete_gaussian(data, size):
    return int(data.sum()) + dp.noise.discrete_gaussian(2, size, rng=GENERATOR) + 40


# Selections: one candidate gains all that the others lose, and is not chosen often.

UP = np.arange(1000) == 7
SCORES = (np.where(UP, 0.0, 1.0), np.where(UP, 1.0, 0.0))


def selected(function, mechanism, **given):
    options = {"sensitivity": 1, **TWO}
    return by_law(
        lambda scores: dp.selection.probabilities(scores, mechanism=mechanism, **options),
        lambda scores, size: function(scores, size=size, **options, **given, **RNG_OF),
    )


PAIRS = (np.where(np.arange(100) < 2, 0.0, 1.0), np.where(np.arange(100) < 2, 1.0, 0.0))


def top_two(scores):
    """The law of the two best, one after the other, each for half of the loss."""
    found, half = np.zeros((100, 100)), {"sensitivity": 1, "epsilon": 1}
    first = dp.selection.probabilities(scores, **half)
    for i in range(100):
        left = np.delete(scores, i)
        found[i, np.arange(100) != i] = first[i] * dp.selection.probabilities(left, **half)
    return found.ravel()


def draw_top_two(scores, size):
    many = np.broadcast_to(scores, (size, 100))
    chosen = dp.selection.top_k(many, 2, sensitivity=1, **PAID)
    return chosen[:, 0] * 100 + chosen[:, 1]


# Quantiles: three heaps of rows on a public lattice of a thousand cells. A row that goes from the
# first cell to the last makes the cells before the second heap worse, and the one behind it better.

CELLS_OF_QUANTILES = 1000


def heaps(first, middle, last):
    cells = np.repeat([0.0, CELLS_OF_QUANTILES - 2, CELLS_OF_QUANTILES], [first, middle, last])
    return cells


def quantile_law(call):
    """The exponential mechanism on ranks, from its rate, its target and the width of margins."""

    def law(data):
        made = Recorder().run(lambda: call(data))[-1][0]
        target = made.target(len(data)) / 2**64
        cells = np.arange(CELLS_OF_QUANTILES + 1.0)
        below = np.searchsorted(data, cells, side="left").astype(float)
        upto = np.searchsorted(data, cells, side="right").astype(float)
        low, high = below.copy(), upto.copy()
        inner = np.unique(data)[1:-1]
        on = np.isin(cells, inner)
        low[on], high[on] = below[on] + 0.5, upto[on] - 0.5
        marks = np.concatenate([[0.0], inner, [float(CELLS_OF_QUANTILES)]])
        for a, b in itertools.pairwise(marks):
            width = min(made.aim.share * int(b - a) >> 20, int(b - a - 1) // 2)
            gap = (cells > a) & (cells < b)
            move = np.where(cells - a <= width, -0.5, np.where(b - cells <= width, 0.5, 0.0))
            low[gap] = high[gap] = (below + move)[gap]
        far = np.maximum(0.0, np.maximum(low - target, target - high))
        weights = np.exp(-made.rate * far)
        return weights / weights.sum()

    return law


def ranked(function, **given):
    options = {"bounds": (0, CELLS_OF_QUANTILES), "granularity": 1, **PAID, **given}

    def call(data):
        return function(data, **options)

    def draw(data, size):
        made, summary, _ = Recorder().run(lambda: call(data))[-1]
        return np.array([round(made.finish(summary, GENERATOR)) for _ in range(size // 10)])

    return by_law(quantile_law(call), draw)


# Two quantiles in one draw: four heaps, with two wide gaps and a narrow one between them.

FEW_CELLS = 60


def four_heaps(*sizes):
    return np.repeat([0.0, 29.0, 58.0, 60.0], sizes)


JOINT = {"qs": [0.25, 0.5], "method": "joint", "bounds": (0, FEW_CELLS), "granularity": 1, **PAID}


def joint_law(data):
    made = Recorder().run(lambda: dp.quantiles(data, **JOINT))[-1][0]
    below = np.searchsorted(data, np.arange(FEW_CELLS + 1.0), side="left")
    first, second = np.triu_indices(FEW_CELLS + 1)
    n = len(data)
    wrong = np.abs(below[first] - n / 4) + np.abs(below[second] - below[first] - n / 4)
    weights = np.exp(-made.c * (wrong + np.abs(n - below[second] - n / 2)))
    return weights / weights.sum()


def draw_joint(data, size):
    made, summary, _ = Recorder().run(lambda: dp.quantiles(data, **JOINT))[-1]
    number = np.zeros((FEW_CELLS + 1,) * 2, np.int64)
    number[np.triu_indices(FEW_CELLS + 1)] = np.arange((FEW_CELLS + 1) * (FEW_CELLS + 2) // 2)
    drawn = np.array([made.finish(summary, GENERATOR) for _ in range(size // 20)]).astype(int)
    return number[drawn[:, 0], drawn[:, 1]]


# The sparse vector technique: the places of all positives, by sums over the noise of the threshold.


def places(scales, values, threshold=0):
    """The law of the places of the positives, as a dict."""
    most = math.ceil(60 * float(scales.threshold))
    rho = np.arange(-most, most + 1.0)
    mass = np.exp(-np.abs(rho) / float(scales.threshold))
    q = math.exp(-1 / float(scales.query))

    def below(k):
        """P(nu < k) of discrete Laplace noise."""
        return np.where(k > 0, 1 - q ** np.abs(k) / (1 + q), q ** (1 - np.minimum(k, 0)) / (1 + q))

    under, found = [below(threshold + rho - value) for value in values], {}

    def go(start, still, left, before):
        for i in range(start, len(values)):
            above = still * (1 - under[i])
            if left == 1:
                found[(*before, i)] = above.sum()
            else:
                go(i + 1, above, left - 1, (*before, i))
            still = still * under[i]
        found[before] = still.sum()

    go(0, mass / mass.sum(), scales.positives, ())
    return found


def stream(kind, **given):
    """Where a stream of values is above 0."""

    def law(values):
        scales = kind(**given, **PAID)._comparison.scales
        return np.array(list(places(scales, values).values()))

    def draw(values, size):
        number = {
            place: i
            for i, place in enumerate(places(kind(**given, **PAID)._comparison.scales, values))
        }
        found = []
        for _ in range(size // 20):
            above = kind(**given, **PAID).answer_many(values).above
            found.append(number[tuple(np.flatnonzero(above).tolist())])
        return np.array(found)

    return by_law(law, draw)


STREAMS = (np.array([0] * 40 + [0]), np.array([1] * 40 + [-1]))
TWICE = (np.array([0] * 40 + [0, 0]), np.array([1] * 40 + [-1, -1]))

# Bounds of a release: the law of the domain method, and private bounds.

DOMAIN = {"bounds": (0, 1), "sensitivity": 0.25}


def domain_law(value):
    """Discrete Laplace numbers that stay in the domain, in cells, put together after the first."""
    made, at, _ = Recorder().run(lambda: dp.bounded_release(value, **DOMAIN, **PAID))[-1]
    rate, most = 1 / float(made.domain.scale), made.cells.span
    edges = domain_edges(most)

    def upto(k):  # the weight of the numbers 0 .. k - 1
        left = np.exp(-rate * np.maximum(at - k + 1, 0)) * -np.expm1(-rate * np.minimum(k, at + 1))
        return left + np.exp(-rate) * -np.expm1(-rate * np.maximum(k - at - 1, 0))

    found = np.diff(upto(edges.astype(np.float64)))
    return found / found.sum()


def domain_edges(most):
    return np.concatenate([[0, 1], np.linspace(2, most + 1, 500).astype(np.int64)])


def draw_domain(value, size):
    made, at, _ = Recorder().run(lambda: dp.bounded_release(value, **DOMAIN, **PAID))[-1]
    drawn = [made.domain.draw(at, GENERATOR) for _ in range(size // 10)]
    return np.searchsorted(domain_edges(made.cells.span), drawn, side="right") - 1


def bounds_law(data):
    """The law of the upper bound, from what all pairs of public numbers weigh."""
    from dpfast.statistics.bounds import mechanism as internal

    made, summary, _ = Recorder().run(lambda: dp.bounds(data, **PAID))[-1]
    lower, upper = internal.sides(summary, made.share, made.rate)
    below = np.append(0.0, np.cumsum(np.exp(-lower.about))[:-1])
    found = np.exp(-upper.about) * below
    return found / found.sum()


def draw_bounds(data, size):
    from dpfast.statistics.bounds import mechanism as internal

    made, summary, _ = Recorder().run(lambda: dp.bounds(data, **PAID))[-1]
    return internal.draw(summary, made.share, made.rate, GENERATOR.stream(), size=size)[:, 1]


# Randomized response: one record.


def responses(function, **given):
    def mechanism(value, size):
        return function(np.full(size, value), **given, **PAID)

    return mechanism


def unary(value, size):
    bits = dp.response.unary(np.full(size, value), categories=[0, 1], **PAID)
    return bits[:, 0].astype(int) - bits[:, 1]


# Learners: rows at the bounds, one of which comes or goes.

S = dp.sulq
CORNER = (np.array([[0.0, 0.0]] * 20 + [[1.0, 1.0]]), np.array([[0.0, 0.0]] * 20))
LABELED = tuple(np.column_stack([rows, np.r_[np.full(20, -1), 1][: len(rows)]]) for rows in CORNER)
#: Two columns divide the classes, but for a row that the second has on the wrong side.
SPLIT = tuple(
    np.array([[0.0, 0.0, -1.0]] * 500 + [[1.0, 1.0, 1.0]] * 500 + [[1.0, 0.0, 1.0]] * more)
    for more in (1, 0)
)
#: A row among thousands that are as it is, but of the other class.
ODD = tuple(np.array([[1.0, 1.0, -1.0]] * 5000 + [[1.0, 1.0, 1.0]] * more) for more in (1, 0))


def fitted(kind, *args, **given):
    def program(rows):
        return kind(*args, **given, **RHO).fit(rows, rng=GENERATOR)

    return by_rounds(program)


def taught(kind, columns=2, **given):
    def program(rows):
        return kind(**given, **RHO).fit(rows[:, :columns], rows[:, 2], rng=GENERATOR)

    return by_rounds(program)


LABELS = {"bounds": (0, 1), "classes": [-1, 1]}
BINNED = {"bins": 2, "bounds": (0, 1)}


def asked(rows):
    sums = S.NoisySums(rows, queries=2, **RHO, **RNG_OF)
    sums.batch([S.Term("value", bounds=(0, 1), column=0)])
    sums.batch([S.Term("square", bounds=(0, 1), column=1)])


ORACLE = {"tolerance": 0.5, "queries": 2, "bounds": (0, 1)}


def questioned(rows):
    oracle = S.StatisticalQueryOracle(rows, rows=20, **ORACLE, **RHO, **RNG_OF)
    oracle.batch([S.Term(one, bounds=(0, 1), column=0) for one in ("value", "square")])


# The best of a random number of runs, each of which is private for 1.

RARE_RUNS = {"gamma": 0.01}
OUTCOMES = tuple(
    np.array([1 - a - b, b, a]) for a, b in ((0.27, 0.001), (0.27 / math.e, 0.001 * math.e))
)


def best_law(outcomes):
    """The law of the best of a geometric number of runs, by its generating function."""
    gamma, upto = RARE_RUNS["gamma"], np.cumsum(outcomes)
    return np.diff(gamma * upto / (1 - (1 - gamma) * upto), prepend=0.0)


def draw_best(outcomes, size):
    steps = np.cumsum(outcomes)[:-1].tolist()
    words = np.random.default_rng(SEED)

    def run():
        u = words.random()
        found = (u >= steps[0]) + (u >= steps[1])
        return found, found

    each = dp.privacy.Pure(1)
    return np.array(
        [
            dp.selection.best_of(run, each=each, **RARE_RUNS, **RNG_OF).answer
            for _ in range(size // 100)
        ]
    )


# Streams, groups, and what else is called answer by answer.


def answered(program):
    return by_answers(lambda data: program(data))


def running(data):
    count = dp.online.RunningCount(1, **PAID)
    return count.add(int(data.sum())).total


def linear(kind, **given):
    def program(histogram):
        stream = kind(histogram, **given, **PAID)
        answers = [stream.answer(np.arange(8) == 0) for _ in range(2)]
        return [float(x) for x in answers] + [float(x.hard) for x in answers]

    return answered(program)


def mwem(histogram):
    dp.online.MWEM(histogram, np.eye(2), rounds="all", **RHO, **RNG_OF)


def table_of(keys, values):
    return {"k": np.array(keys), "x": np.array(values)}


GROUPS = (table_of([1, 1, 2], [0.0, 1.0, 1.0]), table_of([1, 2], [0.0, 1.0]))


def by_group(tell, **statistics):
    def call(table):
        return dp.group_by(table, "k", keys=[1, 2]).agg(statistics, **PAID)

    return again(call, lambda answer: tell(answer)[0])


def first_median(method, **given):
    return again(of(dp.median, method=method, **IN_UNIT, **given))


SPREAD = (np.array([0.0, 0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
BLOCKS = (np.zeros(9), np.r_[np.zeros(8), 1.0])
HISTOGRAMS = tuple(np.array([830 - more, 70 + more, 0, 0, 0, 0, 0, 0]) for more in (0, 1))
ACCURACY = 0.8
#: Why less than .95 is shown.
LOOSE = "smooth noise pays for a shift and a change of scale; no pair that was tried has both"
TESTED = "the test and the answer are paid for apart, and no answer shows both losses in full"
RARE = "answers that show all of it are rare, as of the median, of which the law is known"
COMPARED = "a stream pays for all its hard answers; those of two questions show none of it"


def blocks(aggregator):
    return again(
        of(
            dp.sample_and_aggregate,
            estimator="mean",
            blocks=9,
            aggregator=aggregator,
            partition="contiguous",
            **REPLACE,
            **IN_UNIT,
        )
    )


PROPOSED = {"bounds": (0, 1), "epsilon": 2, "delta": 0.01, **RNG_OF}
FEW = {"epsilon": 2, "delta": 0.01}


def clusters(low, high):
    """Fifteen rows; what the median may reach lies a tenth away, or far off."""
    return np.repeat([0.4, 0.5, 1.0], [low, high, 15 - low - high])


def no_answer(answer):
    return 9.0 if answer is dp.NO_ANSWER else float(answer)


def at_least(cut):
    """The most telling event where noise is added: the density of a staircase falls at `cut`."""
    return lambda answer: answer >= cut


def added(noise, cut):
    return again(of(dp.additive_release, sensitivity=1, noise=noise, **PAID), at_least(cut))


def bounded(method):
    return again(of(dp.bounded_release, **DOMAIN, method=method, **PAID), at_least(0.67))


MOVED = (0.0, 1.0)
BETA = dp.smooth_beta(**TWO)
SMOOTH = ((0.5, 0.01), (0.51, 0.01 * math.exp(BETA)))
OURS = {
    "noise.discrete_laplace": Row(
        by_answers(with_noise(dp.noise.discrete_laplace, 0.5)), GONE, TWO, 8_000_000
    ),
    "noise.laplace": Row(by_answers(with_noise(dp.noise.laplace, 0.5)), GONE, TWO, 8_000_000),
    "noise.staircase": Row(
        by_answers(with_noise(dp.noise.staircase, 2, 1.0)), GONE, TWO, 8_000_000
    ),
    "noise.discrete_gaussian": Row(
        by_law(discrete_gaussian, draw_discrete_gaussian), GONE, {"rho": 0.125}
    ),
    "noise.gaussian": Row(
        by_law(lambda data: normal_cells(data.sum()), draw_normal_cells), GONE, RHO
    ),
    "selection.exponential": Row(selected(dp.selection.exponential, "exponential"), SCORES, TWO),
    "selection.permute_and_flip": Row(
        selected(dp.selection.permute_and_flip, "permute-and-flip"), SCORES, TWO
    ),
    "selection.noisy_max": Row(
        selected(dp.selection.noisy_max, "permute-and-flip", noise="exponential"), SCORES, TWO
    ),
    "selection.noisy_max (gumbel)": Row(
        selected(dp.selection.noisy_max, "exponential", noise="gumbel"), SCORES, TWO
    ),
    "selection.top_k": Row(by_law(top_two, draw_top_two), PAIRS, TWO),
    "selection.best_of": Row(by_law(best_law, draw_best), OUTCOMES, {"epsilon": 3}),
    "response.binary": Row(by_answers(responses(dp.response.binary)), (0, 1), TWO, 4_000_000),
    "response.kary": Row(
        by_answers(responses(dp.response.kary, categories=[0, 1, 2])), (0, 1), TWO, 4_000_000
    ),
    "response.unary": Row(by_answers(unary), (0, 1), TWO, 4_000_000),
    "count": Row(again(of(dp.count, **PAID)), GONE, TWO),
    "count_nonzero": Row(again(of(dp.count_nonzero, **PAID)), GONE, TWO),
    "count_distinct": Row(
        again(of(dp.count_distinct, **PAID)), (np.array([1, 2, 3]), np.array([1, 2])), TWO, 100_000
    ),
    "sum": Row(again(of(dp.sum, **IN_UNIT)), GONE, TWO),
    "mean": Row(again(of(dp.mean, **REPLACE, **IN_UNIT)), CHANGED, TWO),
    "variance": Row(again(of(dp.variance, **REPLACE, **IN_UNIT), at_least(0.148)), WIDER, TWO),
    "std": Row(again(of(dp.std, **REPLACE, **IN_UNIT), at_least(0.148**0.5)), WIDER, TWO),
    "covariance": Row(
        again(of(dp.covariance, bounds=[(0, 1)] * 2, **REPLACE, **PAID)),
        tuple(np.column_stack([x, x]) for x in WIDER),
        TWO,
        450_000,
    ),
    "histogram": Row(again(of(dp.histogram, bins=2, **IN_UNIT)), GONE, TWO),
    "tree_histogram": Row(
        again(of(dp.tree_histogram, bins=2, **IN_UNIT), lambda tree: tree.counts), GONE, TWO
    ),
    "bounds": Row(
        by_law(bounds_law, draw_bounds),
        (np.r_[np.full(40, 2.0**-39), 2.0**30], np.r_[np.full(40, 2.0**-39), 2.0**30, 2.0**30]),
        TWO,
    ),
    "median": Row(ranked(dp.median, **REPLACE), (heaps(7, 2, 6), heaps(6, 2, 7)), TWO),
    "median (smooth)": Row(first_median("smooth", **REPLACE), SPREAD, TWO, note=LOOSE),
    "quantile": Row(ranked(dp.quantile, q=0.25), (heaps(2, 6, 8), heaps(3, 6, 8)), TWO),
    "percentile": Row(ranked(dp.percentile, q=90), (heaps(28, 4, 1), heaps(28, 4, 2)), TWO),
    "minimum": Row(ranked(dp.minimum), (heaps(10, 10, 20), heaps(11, 10, 20)), TWO),
    "maximum": Row(ranked(dp.maximum), (heaps(25, 10, 5), heaps(25, 10, 6)), TWO),
    "iqr": Row(again(of(dp.iqr, **IN_UNIT)), SPREAD, TWO, note=LOOSE),
    "trimmed_mean": Row(again(of(dp.trimmed_mean, **REPLACE, **IN_UNIT)), SPREAD, TWO, note=LOOSE),
    "winsorized_mean": Row(
        again(of(dp.winsorized_mean, **REPLACE, **IN_UNIT)), SPREAD, TWO, note=LOOSE
    ),
    "quantiles": Row(
        by_law(joint_law, draw_joint), (four_heaps(3, 5, 4, 6), four_heaps(4, 5, 4, 6)), TWO
    ),
    "additive_release": Row(added("laplace", 1), MOVED, TWO, 250_000),
    "additive_release (staircase)": Row(added("staircase", 0.67), MOVED, TWO),
    "additive_release (gaussian)": Row(gaussian_release(**FEW), MOVED, FEW),
    "bounded_release": Row(by_law(domain_law, draw_domain), (0.0, 0.25), TWO),
    "bounded_release (truncated)": Row(bounded("truncated"), (0.5, 0.75), TWO),
    "bounded_release (folded)": Row(bounded("folded"), (0.5, 0.75), TWO),
    "smooth_release": Row(
        again(lambda x: dp.smooth_release(x[0], x[1], beta=BETA, **IN_UNIT)),
        SMOOTH,
        TWO,
        note=LOOSE,
    ),
    "ptr.mean": Row(
        again(of(dp.ptr.mean, proposed=0.001, **PROPOSED), no_answer),
        (np.zeros(1003), np.r_[np.zeros(1003), 1.0]),
        FEW,
        600_000,
        TESTED,
    ),
    "ptr.quantile": Row(
        again(of(dp.ptr.quantile, q=0.5, proposed=0.1, **REPLACE, **PROPOSED), no_answer),
        (clusters(8, 4), clusters(7, 5)),
        FEW,
        300_000,
        TESTED,
    ),
    "ptr.iqr": Row(
        again(of(dp.ptr.iqr, proposed=0.25, **REPLACE, **PROPOSED), no_answer),
        (
            np.r_[np.zeros(10), 0.25 * np.ones(20), 0.5 * np.ones(10)],
            np.r_[np.zeros(9), 0.25 * np.ones(21), 0.5 * np.ones(10)],
        ),
        FEW,
        note=TESTED,
    ),
    "ptr.release": Row(
        again(
            lambda given: dp.ptr.release(
                given,
                lambda given: given[0],
                lambda given, proposed: given[1],
                proposed=0.1,
                **REPLACE,
                **PROPOSED,
            ),
            no_answer,
        ),
        ((0.5, 4), (0.6, 5)),
        FEW,
        600_000,
        TESTED,
    ),
    "online.AboveThreshold": Row(stream(dp.online.AboveThreshold), STREAMS, TWO),
    "online.SparseVector": Row(stream(dp.online.SparseVector, positives=2), TWICE, TWO),
    "online.RunningCount": Row(answered(running), GONE, TWO, 60_000),
    "online.MWEM": Row(by_rounds(mwem), (np.array([4, 0]), np.array([3, 1])), RHO),
    "online.PrivateMultiplicativeWeights": Row(
        linear(dp.online.PrivateMultiplicativeWeights, queries=2, accuracy=ACCURACY),
        HISTOGRAMS,
        TWO,
        20_000,
        note=COMPARED,
    ),
    "online.MedianMechanism": Row(
        linear(dp.online.MedianMechanism, size=2, queries=2, accuracy=ACCURACY),
        HISTOGRAMS,
        TWO,
        4_000,
        note=COMPARED,
    ),
    "group_by": Row(by_group(lambda a: a["n"], n=dp.stat.count()), GROUPS, TWO, 90_000),
    "select_keys": Row(
        again(of(dp.select_keys, **FEW, **RNG_OF), lambda a: a.groups),
        (np.full(3, 1), np.full(2, 1)),
        FEW,
        150_000,
    ),
    "sulq.NoisySums": Row(by_rounds(asked), CORNER, RHO),
    "sulq.StatisticalQueryOracle": Row(
        by_rounds(questioned), CORNER, {"rho": float(S.oracle_cost(20, **ORACLE).rho)}
    ),
    "sulq.KMeans": Row(fitted(S.KMeans, 2, bounds=(0, 1), max_iter=2), CORNER, RHO),
    "sulq.PCA": Row(fitted(S.PCA, 1, bounds=(0, 1)), CORNER, RHO),
    "sulq.TruncatedSVD": Row(fitted(S.TruncatedSVD, 1, bounds=(0, 1)), CORNER, RHO),
    "sulq.StandardScaler": Row(fitted(S.StandardScaler, bounds=(0, 1)), CORNER, RHO),
    "sulq.Perceptron": Row(taught(S.Perceptron, bounds=(0, 1), max_iter=2), ODD, RHO),
    "sulq.LinearRegression": Row(
        taught(S.LinearRegression, bounds=(0, 1), y_bounds=(-1, 1)), LABELED, RHO
    ),
    "sulq.LogisticRegression": Row(taught(S.LogisticRegression, max_iter=50, **LABELS), ODD, RHO),
    "sulq.NaiveBayes": Row(taught(S.NaiveBayes, **LABELS), LABELED, RHO),
    "sulq.RandomForestClassifier": Row(
        taught(S.RandomForestClassifier, n_estimators=2, max_depth=1, **LABELS), LABELED, RHO
    ),
    "sulq.ID3Classifier": Row(taught(S.ID3Classifier, bins=2, max_depth=1, **LABELS), SPLIT, RHO),
    "sulq.AdditiveBoostingClassifier": Row(
        taught(S.AdditiveBoostingClassifier, bins=2, max_iter=50, **LABELS), ODD, RHO
    ),
    "sulq.AdditiveBoostingRegressor": Row(
        taught(S.AdditiveBoostingRegressor, y_bounds=(-1, 1), max_iter=20, **BINNED), ODD, RHO
    ),
}
for _name in (
    "mean",
    "trimmed-mean",
    "winsorized-mean",
    "smooth-median",
    "exponential-median",
    "attention",
):
    OURS[f"sample_and_aggregate ({_name})"] = Row(
        blocks(_name),
        BLOCKS,
        TWO,
        *((110_000,) if _name == "mean" else (20_000, RARE if "exp" in _name else LOOSE)),
    )


# --- faults ---------------------------------------------------------------------------------------


def plain():
    return np.random.default_rng(SEED)


def on_grid(values, step):
    return np.round(values / step) * step


def keys(threshold):
    """The count of a key if it is above a threshold, else 0: (1, delta)-private for the right one.

    A key that one row has is on x only.
    """

    def mechanism(data, size):
        count = int(np.count_nonzero(data == 1))
        noisy = count + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        return np.where((count > 0) & (noisy > threshold), noisy, 0)

    return mechanism


#: Of the largest delta of a key: P(1 + noise > threshold).
THRESHOLD = 7
DELTA = math.exp(-THRESHOLD) / (1 + math.exp(-1))
ALONE = (np.array([0.0, 1.0]), np.array([0.0]))
RNG = plain()

FAULTS = {
    "half of the noise": (with_noise(dp.noise.discrete_laplace, 0.5), GONE, ONE),
    "a sensitivity that is twice as large": (
        lambda data, size: (
            int((2 * data - 1).sum()) + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        ),
        CHANGED,
        ONE,
    ),
    "the low bits of floats (Laplace of NumPy)": (
        lambda data, size: data.sum() + RNG.laplace(0, 1, size),
        GONE,
        ONE,
    ),
    "the low bits of floats, one at a time": (
        lambda data: float(data.sum() + RNG.laplace(0, 1)),
        GONE,
        ONE,
    ),
    "a threshold that is off by one": (
        keys(THRESHOLD - 1),
        ALONE,
        {"epsilon": 1, "delta": DELTA},
    ),
    "one seed for all calls": (lambda data: data.sum() + plain().laplace(0, 1), GONE, ONE),
    "a seed of the data": (
        lambda data: data.sum() + np.random.default_rng(len(data)).laplace(0, 1),
        GONE,
        ONE,
    ),
    "a grid from the data": (
        lambda data, size: on_grid(RNG.laplace(0, 3, size), data.mean() / 10),
        GONE,
        ONE,
    ),
    "a count that leaks": (
        lambda data, size: (
            int(data.sum()) + dp.noise.discrete_laplace(1, size, rng=GENERATOR)
        ) / len(data),
        GONE,
        ONE,
    ),
    "an error for some data": (lambda data: 1 / (len(data) - 2), GONE, ONE),
}  # fmt: skip


def audited_fault(mechanism, pair, claim, samples):
    """A row of the table of faults."""
    begun = time.perf_counter()
    GENERATOR.__init__(SEED)
    found = dp.audit.measure(mechanism, *pair, **claim, samples=samples)
    shown, asked = ("rho", claim["rho"]) if "rho" in claim else ("epsilon", claim["epsilon"])
    return {
        "claim": repr(found.claim) if len(claim) == 1 else "Approx(epsilon=1, delta=0.000667)",
        "shown": round(getattr(found, shown), 4),
        "ratio": round(getattr(found, shown) / asked, 3),
        "refuted": found.refuted,
        "p_value": float(f"{found.p_value:.2g}"),
        "samples": found.samples,
        "seconds": round(time.perf_counter() - begun, 2),
        "witness": found.witness,
    }


def audited(row, samples):
    """A row of the table of our own."""
    begun = time.process_time()
    GENERATOR.__init__(SEED)  # the same bits, whatever rows came before
    found = row.audit(row, samples)
    ratio = found["shown"] / float(row.claim.get("rho", row.claim.get("epsilon")))
    return {
        "claim": repr(dp.privacy.loss(**row.claim)),
        "by": row.audit.__qualname__.partition(".")[0].removeprefix("by_"),
        "shown": round(found["shown"], 4),
        "ratio": round(ratio, 4),
        "refuted": bool(ratio > 1 + ROUNDING or found["p_value"] <= FALSE_ALARM),
        "p_value": float(f"{found['p_value']:.2g}"),
        "samples": found["samples"],
        "seconds": round(time.process_time() - begun, 2),
        "note": row.note,
    }


def measure(quick, names=()):
    global RNG
    RNG = plain()
    ours = {}
    for name, row in OURS.items():
        if not names or name.startswith(tuple(names)):
            ours[name] = audited(row, max(4_000, row.samples // 20) if quick else row.samples)
            print(f"{name}: {ours[name]['ratio']}", file=sys.stderr, flush=True)
    if names:
        return {"ours": ours, "faults": {}, "quick": quick}
    faults = {name: audited_fault(*row, 2_000_000) for name, row in FAULTS.items()}
    return {"ours": ours, "faults": faults, "quick": quick}


def table(result):
    """The tables of the page, as Markdown."""
    lines = [
        "| mechanism | claim | by | shown / claim | answers | seconds | |",
        "|---|---|---|---:|---:|---:|---|",
    ]
    for name, row in result["ours"].items():
        lines.append(
            f"| `{name}` | `{row['claim']}` | {row['by']} | {row['ratio']:.3f} "
            f"| {row['samples']:,} | {row['seconds']} | {row['note']} |"
        )
    lines += ["", "| fault | answers | p-value | seconds |", "|---|---:|---:|---:|"]
    for name, row in result["faults"].items():
        lines.append(f"| {name} | {row['samples']:,} | {row['p_value']:.0e} | {row['seconds']} |")
    return "\n".join(lines)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer answers")
    parser.add_argument("--out", type=Path, default=FIGURES, help="where the file goes")
    parser.add_argument("names", nargs="*", help="these of our mechanisms alone; writes no file")
    given = parser.parse_args(arguments)
    result = measure(given.quick, given.names)
    if not given.names:
        (given.out / "audited.json").write_text(json.dumps(result, indent=1) + "\n")
    print(table(result))


if __name__ == "__main__":
    main(sys.argv[1:])
