"""Private k-means: what a row moves in a round, by enumeration; what is kept, refused and paid."""

import itertools
from unittest.mock import patch

import numpy as np
import pytest

from dpfast.errors import DataError
from dpfast.learn import KMeans, kmeans
from dpfast.learn.kmeans import Grid, centers_of, spread
from dpfast.learn.rows import unlabeled_rows
from dpfast.rng import InsecureGenerator
from dpfast.sulq import rounds as _rounds

from ..reference.learn import nearest as plain
from ..support import learners
from ..support.pairwise import quick_rows


def recorded(data, k, **kw):
    return learners.recorded(KMeans, np.asarray(data), **{"n_clusters": k, "bounds": (0, 1), **kw})


def mixture(n=3000, d=3, k=4, seed=0):
    g = np.random.default_rng(seed)
    centers = g.uniform(0.2, 0.8, (k, d))
    return np.clip(centers[g.integers(0, k, n)] + g.normal(0, 0.05, (n, d)), 0, 1), centers


def test_without_noise_it_is_k_means():
    data, centers = mixture(1000)
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
    assert len(np.unique(spread(20_000, lo[:3], hi[:3]), axis=0)) == 20_000  # and it ends


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


def asked_for(data, k, **kw):
    used, right = [], _rounds.Rounds.ask

    def seen(self, total, parts, uses=1):
        used.append(uses)
        assert sum(part.share for part in parts) == 1
        return right(self, total, parts, uses)

    with patch.object(_rounds.Rounds, "ask", seen):
        made = KMeans(k, bounds=(0, 1), **kw).fit(data, rng=InsecureGenerator(4))
    assert made.n_iter_ == len(used) - (used[0] == kmeans.COUNT)
    return used


def test_fewer_rounds_where_noise_is_large():
    """All of the loss is used, whatever the first round tells of how many rows there are.

    With cells a tenth is for the number of rows; then sums, counts, counts and sums, or five.
    """
    data, _ = mixture(20_000, 4)
    for epsilon, uses in {0.001: [1, 4], 0.02: [1, 2, 2], 1.0: [1, 1, 1, 1, 1]}.items():
        assert asked_for(data, 4, epsilon=epsilon, init="spread") == uses
        assert asked_for(data[:20], 4, epsilon=epsilon, init="spread") == [1, 4]
        assert asked_for(data, 4, epsilon=epsilon, max_iter=3) == [1, 1, 1]
    assert asked_for(data[:0], 4, rho=1, init="spread") == [1, 4]
    for epsilon, uses in {0.001: [9, 36], 0.03: [45], 0.1: [23, 22], 1.0: [9] * 5}.items():
        assert asked_for(data, 4, epsilon=epsilon) == [5, *uses]
    assert asked_for(data[:0], 4, rho=1) == [5, 9, 36]


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
    g, worse = np.random.default_rng(0), 0
    for k in [1, 2, 3, 4] * 25:
        points, weights = g.uniform(-1, 1, (10, 2)), g.exponential(1, 10)
        squares = ((points[:, None] - points) ** 2).sum(axis=2)
        subsets = itertools.combinations(range(10), k)
        best = min(weights @ squares[list(own)].min(axis=0) for own in subsets)
        centers = centers_of(points, weights, k)
        left = weights @ ((points[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
        assert centers.shape == (k, 2) and left <= 1.5 * best
        worse += left > best * (1 + 1e-12)
    assert worse <= 5 and (centers_of(points, weights, 10) == points).all()
    assert centers_of(points[:0], weights[:0], 3).shape == (0, 2)
    assert centers_of(np.zeros((9, 2)), np.ones(9), 3).tolist() == [[0, 0]] * 3


def test_one_mean_is_drawn_to_the_middle_as_far_as_it_may_be_noise():
    """By the factor of James and Stein."""
    box, centers = Grid([(0.0, 1.0)] * 6, "raise"), np.full((1, 6), 0.5)
    place = np.array([0.1, -0.2, 0.05, 0.0, 0.3, -0.1])  # from the middle
    sums = 50 * place[None] / (box.cell_width / 2)
    factor = 1 - 4 / 6 * 1.7 / 50**2 / (place @ place)
    for noise, expected in (1.7 * box.unit**2, 0.5 + factor * place), (1e9, centers[0]):
        answer = kmeans._Answer(box, np.full(1, 50.0), sums, noise, 0.0)
        assert answer.means(centers)[0] == pytest.approx(expected)


def test_predictions_are_the_nearest_centers():
    data, centers = mixture()
    made = KMeans(4, bounds=(0, 1), rho=5, init=centers).fit(data)
    squares = ((data[:, None] - made.cluster_centers_) ** 2).sum(axis=2)
    assert (made.predict(data) == squares.argmin(axis=1)).all()
    assert made.transform(data) == pytest.approx(np.sqrt(squares))
    assert made.transform([[9.0, 9.0, 9.0]]).min() > 10  # which is not clipped
    data[7, 1] = np.nan
    labels = made.set_params(nan="drop").fit(data).predict(data)
    assert labels[7] == -1 and (np.delete(labels, 7) >= 0).all()
    for call in made.transform, made.set_params(nan="raise").fit(data[:7]).predict:
        with pytest.raises(DataError):
            call(data)
