"""Laws of our own mechanisms, by their parameters, and draws that are compared with them."""

import itertools
import math
from functools import partial

import numpy as np
from scipy import special

import dpfast as dp
from dpfast.aggregate.aggregators.output_grid import sorted_cells
from dpfast.noise.distributions import Laplace
from dpfast.noise.distributions.base import context
from dpfast.tables import as_source

from .ways import (
    GENERATOR,
    PAID,
    RNG_OF,
    SEED,
    TWO,
    Recorder,
    by_law,
    fit,
)

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


# Quantiles: heaps of rows on a public grid, the same ones for both neighbors. A row that goes from
# one heap to another makes the cells before a gap worse, and those behind it better.

CELLS_OF_QUANTILES = 1000


def heaps(first, middle, last):
    cells = np.repeat([0.0, CELLS_OF_QUANTILES - 2, CELLS_OF_QUANTILES], [first, middle, last])
    return cells


def ranges(made, data):
    """Ranges of cells with one rank each: the first, what comes after the last, low and high."""
    cells = np.floor(data / made.grid)
    marks = np.unique(np.r_[made.base.first, cells, made.base.last]).astype(int).tolist()

    def heap(cell):
        half = 0.5 if made.base.first < cell < made.base.last else 0
        low, high = np.count_nonzero(cells < cell) + half, np.count_nonzero(cells <= cell) - half
        return cell, cell + 1, low, high

    found = [heap(marks[0])]
    for a, b in itertools.pairwise(marks):
        width = min(made.params.share * (b - a) >> 20, (b - a - 1) // 2)
        rank = np.count_nonzero(cells <= a)
        for first, stop, move in (
            (a + 1, a + 1 + width, -0.5),
            (a + 1 + width, b - width, 0),
            (b - width, b, 0.5),
        ):
            if first < stop:
                found.append((first, stop, rank + move, rank + move))
        found.append(heap(b))
    return found


def quantile_of(made, summary):
    """A quantile and its summary; those of the answers of blocks, if it is of these."""
    if not hasattr(made, "aggregator"):
        return made, summary
    quantile = made.aggregator.quantile
    outputs = np.ascontiguousarray(made.outputs(summary, GENERATOR)[:, 0])
    return quantile, quantile.reduce(as_source(outputs))


def by_ranks(call):
    """The exponential mechanism on ranks, from its rate, its target and the width of margins."""

    def run(data):
        return quantile_of(*Recorder().run(lambda: call(data))[-1][:2])

    def law(data):
        made, _ = run(data)
        target = made.target(len(data)) / 2**64
        weights = [
            made.base.weight(first, stop - 1)
            * math.exp(-made.rate * max(0.0, low - target, target - high))
            for first, stop, low, high in ranges(made, data)
        ]
        return np.array(weights) / sum(weights)

    def draw(data, size):
        made, summary = run(data)
        drawn = [made.finish(summary, GENERATOR) for _ in range(size // 10)]
        firsts = [first for first, *_ in ranges(made, data)]
        return np.searchsorted(firsts, np.rint(np.array(drawn) / made.grid), "right") - 1

    return by_law(law, draw)


def ranked(function, **given):
    options = {"bounds": (0, CELLS_OF_QUANTILES), "granularity": 1, **PAID, **given}
    return by_ranks(lambda data: function(data, **options))


# Noise scaled to the data: a law of cells around the middle of the bounds, and at their ends.


#: Edges of cells between 0 and 1, close to each other around the middle and at 0.
AROUND = np.geomspace(1e-7, 0.4999, 200)
EDGES = np.unique(np.r_[AROUND, np.arange(1, 400) / 400, 0.5 - AROUND, 0.5 + AROUND])


def cells_of(distribution, value, scale):
    """The law of a value with noise, by cells."""
    mp = context(128)
    far = [(mp.mpf(float(x)) - float(value)) / float(scale) for x in EDGES]
    above = [distribution.survival(mp, abs(z)) for z in far]
    above = [s if z >= 0 else 1 - s for s, z in zip(above, far, strict=True)]
    return np.array([float(a - b) for a, b in itertools.pairwise([1, *above, 0])])


def smooth_law(made, summary):
    """The law of a value with noise that is scaled to a smooth bound; there is always an answer."""
    aggregator = getattr(made, "aggregator", None)
    if aggregator is None or hasattr(aggregator, "quantile"):
        made, (value, bound) = quantile_of(made, summary)
        calibration = made.calibration
    else:
        x = sorted_cells(aggregator.grid, made.outputs(summary, GENERATOR)[:, 0])
        total, divisor = aggregator.statistic(x)
        value, bound = np.array([total, aggregator.sensitivity(x)]) / divisor / aggregator.grid.span
        calibration = aggregator.calibration
    answers = cells_of(calibration.distribution, value, bound / calibration.alpha)
    return np.r_[0, answers]


def proposed_law(made, summary):
    """The chance of no answer, and then the law of those that there are."""
    a, short = math.exp(-made.test.epsilon), made.test.threshold - summary.distance
    passed = a**short / (1 + a) if short > 0 else 1 - a ** (1 - short) / (1 + a)
    answers = cells_of(Laplace(), summary.value, made.scale)
    return np.r_[1 - passed, passed * answers]


def by_cells(law, call):
    """A release of which the law is known from its summary: no answer, or one from 0 to 1."""

    def run(data):
        return Recorder().run(lambda: call(data))[-1][:2]

    def draw(data, size):
        made, summary = run(data)
        drawn = [made.finish(summary, GENERATOR) for _ in range(size // 4)]
        none = np.array([answer is dp.NO_ANSWER for answer in drawn])
        cells = np.searchsorted(EDGES, [0 if x is dp.NO_ANSWER else x for x in drawn], "right")
        return np.where(none, 0, cells + 1)

    return by_law(lambda data: law(*run(data)), draw)


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

# Streams of linear queries: one path of answers, all of them known, which may be rare.


def path(kind, asked, hard, data, **given):
    """The stream, the distances in rows that it compares, and the exact answers, on a path.

    The queries with the numbers `hard` are hard on it, and told on the side of the exact answer.
    """
    made, distances, answers = kind(data, queries=len(asked), **given, **PAID), [], []
    for i, query in enumerate(asked):
        guess, exact = made._compare(query)
        distances.append(made._doubt(guess, exact) / 2**made._plan.bits)
        answers.append(exact / 2**made._plan.bits)
        if i in hard:
            made._learn(query, exact, exact > guess)
    return made, np.array(distances), np.array(answers)


def comparisons(made, distances, hard):
    """The logarithm of the chance that of some distances these are above the noisy threshold."""
    plan = made._plan
    assert not plan.scales.renewed
    threshold, query, bar = (
        float(x) / 2**plan.bits for x in (plan.scales.threshold, plan.scales.query, made._threshold)
    )
    rho = np.linspace(-400 * threshold, 400 * threshold, 200_001)
    prior = -np.abs(rho) / threshold
    total = prior.copy()
    for i, distance in enumerate(distances):
        k = (bar + rho - distance) * (-1 if i in hard else 1) / query
        total += np.where(k > 0, np.log1p(-np.exp(-np.abs(k)) / 2), -np.abs(k) - math.log(2))
    return special.logsumexp(total) - special.logsumexp(prior)


def by_path(kind, asked, hard, **given):
    """A path on either data: its comparisons, and hard answers beyond both of the exact ones.

    The place of the first hard answer, and that answer, are drawn, too.
    """

    def audit(row, samples):
        paths = [path(kind, asked, hard, data, **given) for data in row.pair]
        before, after = (comparisons(made, distances, hard) for made, distances, _ in paths)
        noise = paths[0][0]._plan.noise
        rate = 2 ** (paths[0][0]._plan.bits - noise.shift) / float(noise.scale)
        shown = abs(before - after) + rate * np.abs(paths[0][2] - paths[1][2])[list(hard)].sum()
        fits, size = [], samples // 200
        for (made, _, _), data in zip(paths, row.pair, strict=True):
            _, easy, exact = path(kind, asked, (), data, **given)
            law = [math.exp(comparisons(made, easy[: i + 1], (i,))) for i in range(len(asked))]
            drawn = [first_hard(kind, asked, data, **given) for _ in range(size)]
            places, told = map(np.array, zip(*drawn, strict=True))
            fits.append(fit(places, np.array(law)))
            some = places < len(asked)
            below = rate * (told[some] - exact[places[some]])
            fits.append(fit(np.searchsorted(BELOW, below), np.append(np.full(32, 1 / 64), 0.5)))
        return {
            "by": "distribution",
            "shown": shown,
            "samples": 2 * size,
            "p_value": min(1.0, 4 * min(fits)),
        }

    return audit


#: Edges of 32 cells with the same mass below the middle of Laplace noise. What is above may be
#: clipped.
BELOW = np.log(np.arange(1, 33) / 32)


def first_hard(kind, asked, data, **given):
    """The number of the first query that is hard and its answer in rows, or how many there are."""
    made = kind(data, queries=len(asked), **given, **PAID)
    for i, query in enumerate(asked):
        answer = made.answer(query)
        if answer.hard:
            return i, float(answer) * data.sum()
    return len(asked), math.nan


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
    from dpfast.measurement import outer_bounds as internal

    made, summary, _ = Recorder().run(lambda: dp.bounds(data, **PAID))[-1]
    lower, upper = internal.sides(summary[0], made.share, made.rate)
    below = np.append(0.0, np.cumsum(np.exp(-lower.about))[:-1])
    found = np.exp(-upper.about) * below
    return found / found.sum()


def draw_bounds(data, size):
    from dpfast.measurement import outer_bounds as internal

    made, summary, _ = Recorder().run(lambda: dp.bounds(data, **PAID))[-1]
    return internal.draw(summary[0], made.share, made.rate, GENERATOR.stream(), size=size)[:, 1]


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
            dp.selection.best_of(run, run_loss=each, **RARE_RUNS, **RNG_OF).answer
            for _ in range(size // 100)
        ]
    )
