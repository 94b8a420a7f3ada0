"""Private k-means: what a row moves in a round, by enumeration; what is kept, refused and paid."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from dpfast.errors import DataError
from dpfast.learn import KMeans, kmeans
from dpfast.learn.kmeans import Grid, centers_of, spread
from dpfast.learn.rows import matrices, unlabeled_rows
from dpfast.privacy import ZCDP, Approx, Pure
from dpfast.rng import InsecureGenerator
from dpfast.sulq import parts as round_parts
from dpfast.sulq import rounds as _rounds

from ..reference.learn import nearest as plain
from ..reference.sulq import noisy_sums as reference
from ..support import learners, transcript
from ..support.pairwise import every_value, quick_rows

RELATIONS = ["replace", "add-remove"]


def recorded(data, k, **kw):
    return learners.recorded(KMeans, np.asarray(data), **{"n_clusters": k, "bounds": (0, 1), **kw})


def mixture(n=3000, d=3, k=4, seed=0):
    g = np.random.default_rng(seed)
    centers = g.uniform(0.2, 0.8, (k, d))
    return np.clip(centers[g.integers(0, k, n)] + g.normal(0, 0.05, (n, d)), 0, 1), centers


# --- exact rounds ---------------------------------------------------------------------------------


def test_without_noise_it_is_k_means():
    data, centers = mixture()
    _, _, made = recorded(data, 4, init=centers + 0.05, max_iter=3)
    expected = plain.lloyd(data.tolist(), (centers + 0.05).tolist(), 3)
    assert made.cluster_centers_ == pytest.approx(np.array(expected), abs=1e-7)
    assert made.cluster_counts_.sum() == len(data)


def test_sums_of_more_rows_than_a_kernel_takes(monkeypatch):
    """They are integers of any size from then on."""
    data, centers = mixture(20_000)
    box, source = Grid([(0.0, 1.0)] * 3, "drop"), unlabeled_rows(np.asfortranarray(data))
    whole = box.totals(source, centers)
    monkeypatch.setattr("dpfast.learn.kmeans.MOST_ROWS", 1000)
    assert box.totals(source, centers) == whole
    most = (1 << 61) - 1

    class Full:
        def totals(self, rows, at, half, counts, sums):
            counts[...], sums[...] = most, most

    box._columns = Full()
    assert box.totals(source, centers) == [[20 * most] * len(centers)] * 4


@pytest.mark.parametrize("shift", [0, 1])
def test_records_of_float64_are_a_matrix_where_they_lie(shift):
    kind = np.dtype([("a", "f8"), ("b", "f8")])
    rows = np.zeros(16 * 50 + 8, np.uint8)[shift : shift + 16 * 50].view(kind)
    rows["a"], rows["b"] = np.arange(50), np.arange(50) + 0.5
    (result,) = matrices(rows, 2, 100)
    assert result.tolist() == [[i, i + 0.5] for i in range(50)]
    assert np.shares_memory(result, rows) == (not shift)  # a kernel reads whole numbers


def test_columns_with_bounds_of_their_own():
    data, _ = mixture()
    scale, shift = np.array([1.0, 10.0, 1e6]), np.array([0.0, -3.0, 1e7])
    bounds = [(b, a + b) for a, b in zip(scale, shift, strict=True)]
    made = KMeans(4, bounds=bounds, rho=1e-2, max_iter=1).fit(data * scale + shift)
    assert (made.cluster_centers_ >= shift).all()
    assert (made.cluster_centers_ <= shift + scale).all()
    # A column so narrow beside the others has no say in distances, nor much noise of its own.
    parts = kmeans._parts(Grid(bounds, "raise"), 4, "add-remove", ZCDP(1))
    assert sum(p.share for p in parts) == 1
    noises = [
        math.sqrt(p.l2_squared / p.share) * s / 2**30 for p, s in zip(parts[1:], scale, strict=True)
    ]
    assert sorted(noises) == noises


# --- sensitivity ----------------------------------------------------------------------------------

DOMAIN = [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.3, 0.6)]
CENTERS = [[0.1, 0.2], [0.9, 0.7], [0.2, 0.9]]


def worst_round(relation, loss, init=CENTERS):
    """The largest share of the first round's loss that a row takes, over all neighbors."""
    kw = {"init": init, "max_iter": 3, "neighbors": relation, "rho": None, **loss}

    def first(data):
        asked, values, _ = recorded(np.array(data).reshape(-1, 2), 3, **kw)
        return asked[:2], values[:2]  # counts, and the sums of two columns alike

    return 3 * reference.worst(first, DOMAIN, relation, 1, 3)  # of three rounds


@quick_rows(1)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", [{"rho": 1}, {"rho": 1e-3}], ids=["rho", "little rho"])
def test_no_row_uses_more_than_the_loss_of_a_round(relation, loss, monkeypatch):
    assert 0.98 < worst_round(relation, loss) <= 1
    assert 0.9 < worst_round(relation, loss, "cells") <= 1
    right = kmeans._parts

    def generous(*arguments):  # the planted fault: counts for nothing where they are not
        counts, *columns = right(*arguments)
        return [
            round_parts.Part(counts.size, counts.l1, counts.l2_squared, counts.l0, Fraction(1)),
            *columns,
        ]

    monkeypatch.setattr(kmeans, "_parts", generous)
    assert worst_round(relation, loss) > 1
    assert worst_round(relation, loss, "cells") > 1


@every_value
@pytest.mark.parametrize("init", [CENTERS, "cells"], ids=["centers", "cells"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_no_row_moves_a_center_out_of_its_box(relation, init, monkeypatch):
    """For an epsilon alone, over all rounds: the joint noise of a center, in what it has cost."""

    def fit(rows):
        made = KMeans(3, bounds=(0, 1), epsilon=1, init=init, max_iter=3, neighbors=relation)
        return made.fit(np.array(rows).reshape(-1, 2), rng=InsecureGenerator(2))

    def worst():
        found = []
        for rows in itertools.combinations_with_replacement(DOMAIN, 3):
            lines = transcript.recorded(lambda rows=rows: fit(rows))
            for other in reference.neighbors(list(rows), DOMAIN, relation):
                again = transcript.used(lines, lambda other=other: fit(other), Pure(1))
                found.append(float(again))
        return max(found)

    assert 0.98 < worst() <= 1
    right = kmeans._parts

    def narrow(*arguments):  # the planted fault: sums that go half as far
        (part,) = right(*arguments)
        count, *sums = part.moves.sizes
        return [replace(part, moves=replace(part.moves, sizes=(count, *(s // 2 for s in sums))))]

    monkeypatch.setattr(kmeans, "_parts", narrow)
    assert worst() > 1


@pytest.mark.parametrize("d", [1, 2, 9, 40])
def test_joint_noise_of_a_center_is_less_than_that_of_parts(d):
    """With `epsilon` alone, of counts and sums: as a center is off by both."""
    box = Grid([(0.0, 1.0)] * d, "raise")
    made, (part,) = learners.rounds_of(Pure(1)), kmeans._parts(box, 1, "add-remove", Pure(1))
    count, *sums = made.deviations(part)
    share = 1 / (1 + math.isqrt(4 * d))
    parts = [math.sqrt(8) / share, *[math.sqrt(8) * d / (1 - share) * box.span[0]] * d]
    weights = [d / 16, *[0.25 / box.span[0] ** 2] * d]
    error, before = (
        sum(w * x**2 for w, x in zip(weights, each, strict=True))
        for each in ([count, *sums], parts)
    )
    assert error < (0.75 if d == 1 else 0.5 if d < 9 else 0.25) * before


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("loss", [Approx(1, 1e-6), ZCDP(1), ZCDP(Fraction(1, 10**9))])
def test_columns_alike_share_one_part_and_have_the_noise_of_each(relation, loss):
    box = Grid([(0.0, 1.0)] * 5 + [(0.0, 3.0)] * 2 + [(0.0, 1.0)], "raise")
    counts, *columns = kmeans._parts(box, 3, relation, loss)
    assert [part.size for part in columns] == [15, 6, 3]
    for part, m in zip(columns, (5, 2, 1), strict=True):
        numbers = (part.l1, part.l2_squared, part.l0)
        alone = round_parts.Part(3, *(x // m for x in numbers), part.share / m)
        assert part.noise(loss, 4) == alone.noise(loss, 4)
    if relation == "add-remove":
        assert counts.share + sum(part.share for part in columns) == 1


def test_integers_too_large_for_the_samplers_are_divided_by_enough():
    """Standardized, with the unit that rounding down adds: one sum by 2 s, or two by s."""
    box = Grid([(0.0, 1.0)], "raise")
    parts = kmeans._parts(box, 2, "replace", ZCDP(Fraction(1, 10**9)))
    made = learners.rounds_of(ZCDP(Fraction(1, 10**9)), "replace", 5)
    counts, sums = (made.noise(part) for part in parts)
    assert sums.shift > 0
    s, unit = box.span[0], 1 << sums.shift
    stays = ((2 * s / unit + 1) / float(sums.scale)) ** 2
    goes = 2 * ((s / unit + 1) / float(sums.scale)) ** 2 + 2 / float(counts.scale) ** 2
    for used in (stays, goes):
        assert used * 5 <= 2e-9 * (1 + 1e-9)


def test_replayed_fits_go_the_same_way():
    """The same noise on a neighbor: as many rounds, and centers that hardly differ."""
    data, _ = mixture(2000)
    kw = {"bounds": (0, 1), "rho": 1, "max_iter": 4}
    one = KMeans(4, **kw).fit(data, rng=InsecureGenerator(2))
    other = KMeans(4, **kw).fit(np.vstack([data, [[1, 0, 1]]]), rng=InsecureGenerator(2))
    assert np.abs(one.cluster_counts_ - other.cluster_counts_).sum() <= 20
    assert abs(one.cluster_centers_ - other.cluster_centers_).max() < 0.01


@pytest.mark.parametrize("data", [np.zeros((0, 2)), np.zeros((1, 2)), np.full((500, 2), 0.3)])
def test_empty_clusters_change_no_control_flow(data):
    passes = []
    right = Grid.totals

    def counted(self, source, centers):
        passes.append(centers.shape)
        return right(self, source, centers)

    with patch.object(Grid, "totals", counted):
        made = KMeans(5, bounds=(0, 1), rho=1, max_iter=3).fit(data)
    assert passes == [(40, 2), (5, 2), (5, 2)]
    assert ((made.cluster_centers_ >= 0) & (made.cluster_centers_ <= 1)).all()


# --- what is learned ------------------------------------------------------------------------------


def inertia(data, centers):
    return ((data[:, None] - centers) ** 2).sum(axis=2).min(axis=1).mean()


def test_a_dead_center_takes_half_of_a_large_cluster():
    data = np.concatenate([np.full((4000, 2), 0.2), np.full((4000, 2), 0.4)])
    init = [[0.3, 0.3], [0.99, 0.99]]  # nobody is near the second
    made = KMeans(2, bounds=(0, 1), rho=1, init=init).fit(data)
    # Deviations of the noise are 4e-4.
    assert np.sort(made.cluster_centers_[:, 0]) == pytest.approx([0.2, 0.4], abs=0.01)


def test_points_to_start_with_keep_apart():
    for k, d in (1, 1), (2, 1), (7, 2), (16, 8), (40, 64):
        lo, hi = np.full(d, -1.0), np.full(d, 3.0)
        points = spread(k, lo, hi)
        assert points.shape == (k, d) and len(np.unique(points, axis=0)) == k
        assert (points > lo).all() and (points < hi).all()
        assert (points == spread(k, lo, hi)).all()
        margin = 4 * 0.5 * k ** (-1 / d)  # half of what lies between points on a lattice
        assert points == pytest.approx(np.clip(points, lo + margin, hi - margin))
    assert len(np.unique(spread(10**5, lo[:3], hi[:3]), axis=0)) == 10**5  # and it ends


def test_few_rows_are_counted_in_cells(monkeypatch):
    """Where sums of so few rows have too much noise; and where half of what is left is for them."""
    data, centers = mixture(600, 3, 6, 1)
    best = inertia(data, centers)

    def ratio(epsilon):
        fits = [
            KMeans(6, bounds=(0, 1), epsilon=epsilon).fit(data, rng=InsecureGenerator(s))
            for s in range(12)
        ]
        return np.mean([inertia(data, made.cluster_centers_) / best for made in fits]), fits

    counted = {epsilon: ratio(epsilon) for epsilon in (1, 6)}
    assert {made.n_iter_ for made in counted[1][1]} == {1}
    assert {made.n_iter_ for made in counted[6][1]} == {2}
    rows = counted[1][1][0].cluster_counts_
    assert rows.shape == (6,) and rows.sum() == pytest.approx(600, abs=200)
    monkeypatch.setattr(kmeans, "LITTLE_BESIDE_CELLS", math.inf)
    assert counted[1][0] < 0.95 * ratio(1)[0] and counted[6][0] < ratio(6)[0]


@pytest.mark.parametrize("n", [0, 3])
def test_too_few_rows_for_cells_are_no_error(n):
    for relation in ("add-remove", "replace"):
        made = KMeans(1, bounds=(0, 1), epsilon=400, neighbors=relation)
        made.fit(np.full((max(n, int(relation == "replace")), 1), 0.3), rng=InsecureGenerator(n))
        assert np.isfinite(made.cluster_centers_).all() and np.isfinite(made.cluster_counts_).all()


@quick_rows(1)
@pytest.mark.parametrize(("k", "d"), [(8, 5), (10, 4)])
def test_cells_keep_it_out_of_local_minima(k, d):
    """All clusters of mixtures are found, where steps from public points miss some."""
    ratios = {"cells": [], "spread": []}
    for seed in range(4):
        data, centers = mixture(20_000, d, k, seed)
        for init, result in ratios.items():
            made = KMeans(k, bounds=(0, 1), rho=1, init=init)
            made.fit(data, rng=InsecureGenerator(seed))
            result.append(inertia(data, made.cluster_centers_) / inertia(data, centers))
    assert np.mean(ratios["cells"]) < 1.05 < 1.15 < np.mean(ratios["spread"])


@pytest.mark.full
def test_rounds_and_cells():
    data, _ = mixture()
    shapes = []
    right = Grid.totals

    def seen(self, source, centers):
        shapes.append(len(centers))
        return right(self, source, centers)

    with patch.object(Grid, "totals", seen):
        for k, kw in (
            (2, {}),
            (2, {"max_iter": 1}),
            (2, {"init": "spread"}),
            (600, {}),
            (200, {}),
            (2, {"max_iter": 4}),
            (2, {"max_iter": None, "rho": 100}),
            (2, {"max_iter": None, "rho": 1e-9}),
        ):
            made = KMeans(k, **{"bounds": (0, 1), "rho": 1, "max_iter": 2, **kw})
            made.fit(data, rng=InsecureGenerator(1))
    two = [16, 2, 2, 2, 2, 600, 600, 512, 200]
    assert shapes == [*two, 16, 4, 2, 2, 1, 16, 4, 2, 2, 2, 1, 16, 2]


def asked_for(data, k, **kw):
    """How many rounds of the allocation each round has used, and the fitted object."""
    used, right = [], _rounds.Rounds.ask

    def seen(self, total, parts, uses=1):
        used.append(uses)
        assert sum(part.share for part in parts) == 1
        return right(self, total, parts, uses)

    with patch.object(_rounds.Rounds, "ask", seen):
        made = KMeans(k, bounds=(0, 1), **kw).fit(data, rng=InsecureGenerator(4))
    assert made.n_iter_ == len(used) - (used[0] == kmeans.COUNT)
    return used, made


def test_fewer_rounds_where_noise_is_large():
    """All of the loss is used, whatever the first round tells of how many rows there are."""
    data, _ = mixture(20_000, 4)
    for epsilon, uses in {0.001: [1, 4], 0.02: [1, 2, 2], 1.0: [1, 1, 1, 1, 1]}.items():
        assert asked_for(data, 4, epsilon=epsilon, init="spread")[0] == uses
        assert asked_for(data[:20], 4, epsilon=epsilon, init="spread")[0] == [1, 4]
        assert asked_for(data, 4, epsilon=epsilon, max_iter=3)[0] == [1, 1, 1]
    assert asked_for(np.zeros((0, 4)), 4, rho=1, init="spread")[0] == [1, 4]


def test_counts_of_cells_where_noise_is_large():
    """A tenth for the number of rows, and then sums, counts, counts and sums, or five rounds."""
    data, _ = mixture(20_000, 4)
    five = [9] * 5
    for epsilon, uses in {0.001: [9, 36], 0.03: [45], 0.1: [23, 22], 1.0: five}.items():
        assert asked_for(data, 4, epsilon=epsilon)[0] == [5, *uses]
    assert asked_for(np.zeros((0, 4)), 4, rho=1)[0] == [5, 9, 36]


def test_columns_without_width_have_no_noise_that_could_be_too_large():
    made = KMeans(2, bounds=[(1, 1), (3, 3)], epsilon=1).fit(np.ones((100, 2)))
    assert made.n_iter_ == 5 and (made.cluster_centers_ == [1, 3]).all()
    wide = KMeans(2, bounds=[(1, 1), (-1e270, 1e270)], epsilon=0.1)
    for n, rounds in (100_000, 5), (1, 2):
        assert wide.fit(np.ones((n, 2)), rng=InsecureGenerator(1)).n_iter_ == rounds


def test_cells_far_out_and_wide_apart():
    """Bounds whose squares overflow, and cells that are told apart by a column far from 0."""
    data, centers = mixture(20_000)
    for scale, shift in (1e200, 0.0), (1e-200, 0.0), (1.0, 1e6):
        bounds = (shift, shift + scale)
        made = KMeans(4, bounds=bounds, rho=1).fit(data * scale + shift, rng=InsecureGenerator(1))
        result = (made.cluster_centers_ - shift) / scale
        assert inertia(data, result) < 1.2 * inertia(data, centers)


def test_centers_of_a_summary_are_as_good_as_any():
    """Mostly no farther off than the best k of the points, which all subsets are tried for."""
    g = np.random.default_rng(0)
    worse = []
    for k in 1, 2, 3, 4:
        for _ in range(25):
            points, weights = g.uniform(-1, 1, (10, 2)), g.exponential(1, 10)
            squares = ((points[:, None] - points) ** 2).sum(axis=2)
            best = min(
                weights @ squares[list(own)].min(axis=0)
                for own in itertools.combinations(range(10), k)
            )
            centers = centers_of(points, weights, k)
            left = ((points[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
            assert centers.shape == (k, 2) and weights @ left <= 1.5 * best
            worse.append(weights @ left > best * (1 + 1e-12))
    assert sum(worse) <= 5
    assert (centers_of(points, weights, 10) == points).all()
    assert centers_of(points[:0], weights[:0], 3).shape == (0, 2)
    same = centers_of(np.zeros((9, 2)), np.ones(9), 3)
    assert (same == 0).all() and same.shape == (3, 2)


def means(box, centers, counts, sums, noise, enough=0.0):
    """What centers become for noisy counts and sums, all counts above `enough` being believed."""
    return kmeans._Answer(box, counts, sums, noise, enough).means(centers)


def test_means_are_drawn_together_as_far_as_noise_makes_them_differ():
    box = Grid([(0.0, 1.0)] * 40, "raise")
    g = np.random.default_rng(0)
    true = g.uniform(0.4, 0.6, (6, 40))
    counts = np.full(6, 100.0)
    deviation = 20.0  # of a sum, so 0.2 of a mean
    near, far = [], []
    for _ in range(20):
        sums = (counts[:, None] * (true - 0.5) + g.normal(0, deviation, (6, 40))) / (
            box.cell_width / 2
        )
        for noise, errors in (0.0, far), (40 * (deviation * box.unit) ** 2, near):
            errors.append(((means(box, true, counts, sums, noise) - true) ** 2).sum())
    assert np.mean(near) < 0.3 * np.mean(far)
    assert (means(box, true, counts, sums, 1.0, enough=math.inf) == true).all()
    few = Grid([(0.0, 1.0)] * 2, "raise")  # of two columns nothing is drawn anywhere
    args = few, true[:, :2], counts, sums[:, :2]
    assert (means(*args, 1.0) == means(*args, 0.0)).all()


def test_one_mean_is_drawn_to_the_middle_as_far_as_it_may_be_noise():
    """By the factor of James and Stein."""
    box = Grid([(0.0, 1.0)] * 6, "raise")
    place = np.array([0.1, -0.2, 0.05, 0.0, 0.3, -0.1])  # from the middle
    sums, noise = 50 * place[None] / (box.cell_width / 2), 1.7 * box.unit**2
    args = box, np.full((1, 6), 0.5), np.full(1, 50.0), sums
    factor = 1 - 4 / 6 * 1.7 / 50**2 / (place @ place)
    assert means(*args, noise)[0] == pytest.approx(0.5 + factor * place)
    assert (means(*args, 1e9)[0] == 0.5).all()


def test_a_narrow_column_has_a_share_of_its_own():
    box = Grid([(0.0, 1.0), (0.0, 1e-9)], "raise")
    _, wide, narrow = kmeans._parts(box, 3, "add-remove", ZCDP(1))
    assert float(narrow.share / wide.share) == pytest.approx(2.0**-10, rel=1e-6)


def test_centers_without_rows_go_towards_all():
    """So few rows for ten clusters that none has enough, but all together do."""
    data = np.full((300, 3), 0.9)
    kw = {"bounds": (0, 1), "init": "spread", "max_iter": 5}
    made = KMeans(10, rho=1e-3, **kw).fit(data, rng=InsecureGenerator(1))
    start = spread(10, np.zeros(3), np.ones(3))
    assert np.abs(made.cluster_centers_ - 0.9).mean() < 0.7 * np.abs(start - 0.9).mean()
    none = KMeans(10, rho=1e-9, **kw).fit(data, rng=InsecureGenerator(1))
    assert (none.cluster_centers_ == start).all()  # nor all together


def ratios(data, k, best, losses, runs=5):
    """The mean inertia of some runs for each loss, as a multiple of the best."""
    return [
        np.mean(
            [
                inertia(data, made.cluster_centers_) / best
                for made in (
                    KMeans(k, bounds=(0, 1), **loss).fit(data, rng=InsecureGenerator(s))
                    for s in range(runs)
                )
            ]
        )
        for loss in losses
    ]


def test_error_falls_with_epsilon_on_a_mixture_with_known_centers():
    data, centers = mixture(20_000, 4, 6, 3)
    low, middle, high = ratios(
        data, 6, inertia(data, centers), [{"epsilon": e} for e in (0.02, 0.2, 2.0)]
    )
    assert low > 1.5 * middle and middle > 1.01 * high and high < 1.02


def test_rounds_that_are_chosen_find_no_less():
    """Where five are too many they find much more; where they are not, hardly less."""
    data, centers = mixture(20_000, 4, 6, 3)
    best = inertia(data, centers)
    for epsilon, gain in ((0.02, 1.3), (0.1, 1.1), (2.0, 0.99)):
        five, chosen = ratios(
            data, 6, best, [{"epsilon": epsilon, "max_iter": 5}, {"epsilon": epsilon}]
        )
        assert five >= gain * chosen


@pytest.mark.full
def test_error_falls_with_epsilon_on_digits():
    """1797 rows of 64 columns, beside scikit-learn's best of ten; more rows, less noise each."""
    datasets = pytest.importorskip("sklearn.datasets")
    cluster = pytest.importorskip("sklearn.cluster")
    data = datasets.load_digits().data / 16
    rival = cluster.KMeans(10, n_init=10, random_state=0).fit(data)
    best = inertia(data, rival.cluster_centers_)
    low, middle, high = ratios(data, 10, best, [{"rho": r} for r in (0.01, 0.5, 50)], 4)
    assert low > 1.5 * middle and middle > high
    assert middle < 1.25 and high < 1.1
    # Of so little, five rounds would leave 2.2 and 3.7, and the mean of all rows leaves 1.85.
    few, less = ratios(data, 10, best, [{"epsilon": e} for e in (2, 0.5)], 4)
    assert few < 1.9 and less < 2.1
    many = np.repeat(data, 20, axis=0)
    result = ratios(many, 10, best, [{"epsilon": 1}, {"rho": 0.05}], 1)
    assert result[0] < 1.3 and result[1] < 1.15


# --- what is kept and what is refused -------------------------------------------------------------


def test_predictions_are_the_nearest_centers():
    data, centers = mixture()
    made = KMeans(4, bounds=(0, 1), rho=5, init=centers).fit(data)
    squares = ((data[:, None] - made.cluster_centers_) ** 2).sum(axis=2)
    assert (made.predict(data) == squares.argmin(axis=1)).all()
    expected = np.sqrt(squares)
    assert made.transform(data) == pytest.approx(expected)
    assert made.transform(np.array([[9.0, 9.0, 9.0]])).min() > 10  # which is not clipped
    data[7, 1] = np.nan
    with pytest.raises(DataError):
        made.transform(data)
    with pytest.raises(DataError):
        made.predict(data)
    labels = made.set_params(nan="drop").fit(data).predict(data)
    assert labels[7] == -1 and (np.delete(labels, 7) >= 0).all()
