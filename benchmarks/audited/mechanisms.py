"""Every public mechanism, on neighbors on which it spends what it claims, or nearly."""

import math
from functools import partial

import numpy as np

import dpfast as dp

from . import laws
from .ways import (
    CHANGED,
    GENERATOR,
    GONE,
    IN_UNIT,
    PAID,
    REPLACE,
    RHO,
    RNG_OF,
    TWO,
    WIDER,
    Row,
    again,
    by_answers,
    by_law,
    by_rounds,
    of,
    with_noise,
)

# Randomized response: one record.


def responses(function, **given):
    def mechanism(value, size):
        return function(np.full(size, value), **given, **PAID)

    return mechanism


def unary(value, size):
    bits = dp.response.unary(np.full(size, value), categories=[0, 1], **PAID)
    return bits[:, 0].astype(int) - bits[:, 1]


# Learners: rows at the bounds, one of which comes or goes.

L = dp.learn
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
    sums = dp.sulq.NoisySums(rows, queries=2, **RHO, **RNG_OF)
    sums.batch([dp.sulq.Term("value", bounds=(0, 1), column=0)])
    sums.batch([dp.sulq.Term("square", bounds=(0, 1), column=1)])


ORACLE = {"tolerance": 0.5, "queries": 2, "bounds": (0, 1)}


def questioned(rows):
    oracle = dp.sulq.StatisticalQueryOracle(rows, rows=20, **ORACLE, **RHO, **RNG_OF)
    oracle.batch([dp.sulq.Term(one, bounds=(0, 1), column=0) for one in ("value", "square")])


# Streams, groups, and what else is called answer by answer.


def running(data):
    count = dp.online.RunningCount(1, **PAID)
    return count.add(int(data.sum())).total


def mwem(histogram):
    dp.online.MWEM(histogram, np.eye(2), rounds="all", **RHO, **RNG_OF)


def table_of(keys, values):
    return {"k": np.array(keys), "x": np.array(values)}


GROUPS = (table_of([1, 1, 2], [0.0, 1.0, 1.0]), table_of([1, 2], [0.0, 1.0]))


def by_group(tell, **statistics):
    def call(table):
        return dp.group_by(table, "k", keys=[1, 2]).agg(statistics, **PAID)

    return again(call, lambda answer: tell(answer)[0])


by_smooth_law = partial(laws.by_cells, laws.smooth_law)


def smoothed(function, **given):
    return by_smooth_law(of(function, **IN_UNIT, **given))


def proposed(function, **given):
    return laws.by_cells(laws.proposed_law, of(function, **PROPOSED, **given))


def thirds(*sizes, middle=0.5):
    """Heaps of rows at the least number, in the middle, and at the largest one."""
    return np.repeat([0.0, middle, 1.0], sizes)


def fifths(*sizes):
    return np.repeat([0.0, 0.25, 0.5, 0.75, 1.0], sizes)


NARROW = (thirds(6, 9, 6), thirds(6, 8, 7))
FAR = thirds(7, 2, 6, middle=0.998), thirds(6, 2, 7, middle=0.998)
ZEROS = np.zeros(1003)
SPREAD = (np.array([0.0, 0.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
BLOCKS = (np.zeros(9), np.r_[np.zeros(8), 1.0])
#: A row goes from the first element to the second. Queries are of elements whose distance from the
#: guess rises, and of those whose distance falls.
SIXTEEN = tuple(np.array([6 - more, 6 + more, 588] + [0] * 13) for more in (0, 1))
RISES, FALLS = np.isin(np.arange(16), [1, 2]), np.isin(np.arange(16), [0, 2])
FOUR = tuple(np.array([151 - more, 151 + more, 1, 1]) for more in (0, 1))
FIRST, SECOND, BOTH = np.eye(4)[0], np.eye(4)[1], np.array([0.0, 1.0, 1.0, 0.0])
LAST = (40, 41, 42)
#: Why less than .95 is shown.
HIDDEN = "a part of the loss pays for two quartiles, which the answer does not contain"
COMPARED = "at one of its three hard answers, the compared number changes as at easy answers"


def blocks(aggregator, way=again):
    """Blocks of one row each, in order."""

    def call(data):
        return dp.sample_and_aggregate(
            data,
            estimator="mean",
            blocks=len(data),
            aggregator=aggregator,
            partition="contiguous",
            **REPLACE,
            **IN_UNIT,
        )

    return way(call)


PROPOSED = {"bounds": (0, 1), "epsilon": 2, "delta": 0.01, **RNG_OF}
FEW = {"epsilon": 2, "delta": 0.01}


def clusters(low, high):
    """Fifteen rows; what the median may reach lies a tenth away, or far off."""
    return np.repeat([0.4, 0.5, 1.0], [low, high, 15 - low - high])


def at_least(cut):
    """The most telling event where noise is added: the density of a staircase falls at `cut`."""
    return lambda answer: answer >= cut


def added(noise, cut):
    return again(of(dp.additive_release, sensitivity=1, noise=noise, **PAID), at_least(cut))


def bounded(method):
    return again(of(dp.bounded_release, **laws.DOMAIN, method=method, **PAID), at_least(0.67))


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
        by_law(laws.discrete_gaussian, laws.draw_discrete_gaussian), GONE, {"rho": 0.125}
    ),
    "noise.gaussian": Row(
        by_law(lambda data: laws.normal_cells(data.sum()), laws.draw_normal_cells), GONE, RHO
    ),
    "selection.exponential": Row(
        laws.selected(dp.selection.exponential, "exponential"), laws.SCORES, TWO
    ),
    "selection.permute_and_flip": Row(
        laws.selected(dp.selection.permute_and_flip, "permute-and-flip"), laws.SCORES, TWO
    ),
    "selection.noisy_max": Row(
        laws.selected(dp.selection.noisy_max, "permute-and-flip", noise="exponential"),
        laws.SCORES,
        TWO,
    ),
    "selection.noisy_max (gumbel)": Row(
        laws.selected(dp.selection.noisy_max, "exponential", noise="gumbel"), laws.SCORES, TWO
    ),
    "selection.top_k": Row(by_law(laws.top_two, laws.draw_top_two), laws.PAIRS, TWO),
    "selection.best_of": Row(by_law(laws.best_law, laws.draw_best), laws.OUTCOMES, {"epsilon": 3}),
    "response.binary": Row(by_answers(responses(dp.response.binary)), (0, 1), TWO, 4_000_000),
    "response.kary": Row(
        by_answers(responses(dp.response.kary, categories=[0, 1, 2])), (0, 1), TWO, 4_000_000
    ),
    "response.unary": Row(by_answers(unary), (0, 1), TWO, 4_000_000),
    "count": Row(again(of(dp.count, **PAID)), GONE, TWO, 1_600_000),
    "count_nonzero": Row(again(of(dp.count_nonzero, **PAID)), GONE, TWO, 1_600_000),
    "count_distinct": Row(
        again(of(dp.count_distinct, **PAID)), (np.array([1, 2, 3]), np.array([1, 2])), TWO, 100_000
    ),
    "sum": Row(again(of(dp.sum, **IN_UNIT), at_least(1.67)), GONE, TWO, 1_000_000),
    "mean": Row(again(of(dp.mean, **REPLACE, **IN_UNIT)), CHANGED, TWO, 800_000),
    "variance": Row(
        again(of(dp.variance, **REPLACE, **IN_UNIT), at_least(0.148)), WIDER, TWO, 720_000
    ),
    "std": Row(again(of(dp.std, **REPLACE, **IN_UNIT), at_least(0.148**0.5)), WIDER, TWO, 720_000),
    "covariance": Row(
        again(of(dp.covariance, bounds=[(0, 1)] * 2, **REPLACE, **PAID)),
        tuple(np.column_stack([x, x]) for x in WIDER),
        TWO,
        450_000,
    ),
    "histogram": Row(
        again(of(dp.histogram, bins=2, **IN_UNIT), lambda found: found[0]), GONE, TWO, 1_000_000
    ),
    "tree_histogram": Row(
        again(of(dp.tree_histogram, bins=2, **IN_UNIT), lambda tree: tree.counts),
        GONE,
        TWO,
        600_000,
    ),
    "bounds": Row(
        by_law(laws.bounds_law, laws.draw_bounds),
        (np.r_[np.full(40, 2.0**-39), 2.0**30], np.r_[np.full(40, 2.0**-39), 2.0**30, 2.0**30]),
        TWO,
    ),
    "median": Row(
        laws.ranked(dp.median, **REPLACE), (laws.heaps(7, 2, 6), laws.heaps(6, 2, 7)), TWO
    ),
    "median (smooth)": Row(smoothed(dp.median, method="smooth", **REPLACE), NARROW, TWO),
    "quantile": Row(
        laws.ranked(dp.quantile, q=0.25), (laws.heaps(2, 6, 8), laws.heaps(3, 6, 8)), TWO
    ),
    "percentile": Row(
        laws.ranked(dp.percentile, q=90), (laws.heaps(28, 4, 1), laws.heaps(28, 4, 2)), TWO
    ),
    "minimum": Row(laws.ranked(dp.minimum), (laws.heaps(10, 10, 20), laws.heaps(11, 10, 20)), TWO),
    "maximum": Row(laws.ranked(dp.maximum), (laws.heaps(25, 10, 5), laws.heaps(25, 10, 6)), TWO),
    "iqr": Row(smoothed(dp.iqr), (thirds(17, 24, 4), thirds(17, 24, 3)), TWO),
    "trimmed_mean": Row(smoothed(dp.trimmed_mean, **REPLACE), SPREAD, TWO),
    "winsorized_mean": Row(smoothed(dp.winsorized_mean, **REPLACE), SPREAD, TWO),
    "quantiles": Row(
        by_law(laws.joint_law, laws.draw_joint),
        (laws.four_heaps(3, 5, 4, 6), laws.four_heaps(4, 5, 4, 6)),
        TWO,
    ),
    "additive_release": Row(added("laplace", 1), MOVED, TWO, 2_000_000),
    "additive_release (staircase)": Row(added("staircase", 0.67), MOVED, TWO, 2_000_000),
    "additive_release (gaussian)": Row(laws.gaussian_release(**FEW), MOVED, FEW),
    "bounded_release": Row(by_law(laws.domain_law, laws.draw_domain), (0.0, 0.25), TWO),
    "bounded_release (truncated)": Row(bounded("truncated"), (0.5, 0.75), TWO, 1_200_000),
    "bounded_release (folded)": Row(bounded("folded"), (0.5, 0.75), TWO, 1_200_000),
    "smooth_release": Row(
        laws.by_cells(
            laws.smooth_law, lambda x: dp.smooth_release(x[0], x[1], beta=BETA, **IN_UNIT)
        ),
        SMOOTH,
        TWO,
    ),
    "ptr.mean": Row(proposed(dp.ptr.mean, proposed=0.001), (ZEROS, np.append(ZEROS, 1.0)), FEW),
    "ptr.quantile": Row(
        proposed(dp.ptr.quantile, q=0.5, proposed=0.1, **REPLACE),
        (clusters(8, 5), clusters(7, 5)),
        FEW,
    ),
    "ptr.iqr": Row(
        proposed(dp.ptr.iqr, proposed=0.25, **REPLACE),
        (fifths(6, 13, 15, 4, 7), fifths(5, 13, 15, 5, 7)),
        FEW,
    ),
    "ptr.release": Row(
        laws.by_cells(
            laws.proposed_law,
            lambda given: dp.ptr.release(
                given,
                lambda given: given[0],
                lambda given, proposed: given[1],
                proposed=0.1,
                **REPLACE,
                **PROPOSED,
            ),
        ),
        ((0.5, 4), (0.6, 5)),
        FEW,
    ),
    "online.AboveThreshold": Row(laws.stream(dp.online.AboveThreshold), laws.STREAMS, TWO),
    "online.SparseVector": Row(laws.stream(dp.online.SparseVector, positives=2), laws.TWICE, TWO),
    "online.RunningCount": Row(by_answers(running), GONE, TWO, 60_000),
    "online.MWEM": Row(by_rounds(mwem), (np.array([4, 0]), np.array([3, 1])), RHO),
    "online.PrivateMultiplicativeWeights": Row(
        laws.by_path(
            dp.online.PrivateMultiplicativeWeights,
            [RISES * 1.0] * 40 + [FALLS * 1.0] * 3,
            LAST,
            accuracy=0.9,
            failure=0.9,
        ),
        SIXTEEN,
        TWO,
    ),
    "online.MedianMechanism": Row(
        laws.by_path(
            dp.online.MedianMechanism,
            [FIRST] * 40 + [BOTH, SECOND, SECOND],
            LAST,
            accuracy=0.6,
            failure=0.9,
            size=1,
        ),
        FOUR,
        TWO,
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
        by_rounds(questioned), CORNER, {"rho": float(dp.sulq.oracle_cost(20, **ORACLE).rho)}
    ),
    "learn.KMeans": Row(fitted(L.KMeans, 2, bounds=(0, 1), max_iter=2), CORNER, RHO),
    "learn.PCA": Row(fitted(L.PCA, 1, bounds=(0, 1)), CORNER, RHO),
    "learn.TruncatedSVD": Row(fitted(L.TruncatedSVD, 1, bounds=(0, 1)), CORNER, RHO),
    "learn.StandardScaler": Row(fitted(L.StandardScaler, bounds=(0, 1)), CORNER, RHO),
    "learn.Perceptron": Row(taught(L.Perceptron, bounds=(0, 1), max_iter=2), ODD, RHO),
    "learn.LinearRegression": Row(
        taught(L.LinearRegression, bounds=(0, 1), y_bounds=(-1, 1)), LABELED, RHO
    ),
    "learn.LogisticRegression": Row(taught(L.LogisticRegression, max_iter=50, **LABELS), ODD, RHO),
    "learn.NaiveBayes": Row(taught(L.NaiveBayes, **LABELS), LABELED, RHO),
    "learn.RandomForestClassifier": Row(
        taught(L.RandomForestClassifier, n_estimators=2, max_depth=1, **LABELS), LABELED, RHO
    ),
    "learn.ID3Classifier": Row(taught(L.ID3Classifier, bins=2, max_depth=1, **LABELS), SPLIT, RHO),
    "learn.AdditiveBoostingClassifier": Row(
        taught(L.AdditiveBoostingClassifier, bins=2, max_iter=50, **LABELS), ODD, RHO
    ),
    "learn.AdditiveBoostingRegressor": Row(
        taught(L.AdditiveBoostingRegressor, y_bounds=(-1, 1), max_iter=20, **BINNED), ODD, RHO
    ),
}
for _name, _audit, _pair, _note in (
    ("mean", blocks("mean"), BLOCKS, ""),
    (
        "trimmed-mean",
        blocks("trimmed-mean", by_smooth_law),
        (thirds(5, 0, 4), thirds(4, 0, 5)),
        "",
    ),
    ("winsorized-mean", blocks("winsorized-mean"), BLOCKS, HIDDEN),
    ("smooth-median", blocks("smooth-median", by_smooth_law), NARROW, ""),
    ("exponential-median", blocks("exponential-median", laws.by_ranks), FAR, ""),
    ("attention", blocks("attention", by_smooth_law), (thirds(6, 30, 6), thirds(6, 29, 7)), ""),
):
    OURS[f"sample_and_aggregate ({_name})"] = Row(_audit, _pair, TWO, 110_000, _note)
