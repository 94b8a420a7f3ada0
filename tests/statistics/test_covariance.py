"""Covariance matrices: exact without noise, sensitivities by enumeration, forms of data, errors."""

from __future__ import annotations

import itertools
import math
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.statistics import covariance as room
from dpfast.statistics.covariance import covariance

from ..support.noise import Recorder
from ..support.pairwise import pairwise, quick_rows
from ..support.views import quoted, replaced
from .test_totals import recorded as of_one_column

BOUNDS = [(-1.0, 2.5), (0.0, 1.0), (-3.0, -1.0)]


@contextmanager
def only(way):
    """No other way to release the sums of a public number of rows."""
    other = room.OfEntries if way is room.OfGram else room.OfGram
    with replaced(other, "way", None):
        yield


def recorded(data, way=room.OfEntries, **kw):
    """The moves, the integers that noise is added to, and the matrix without any."""
    kept = Recorder()
    width = 3 if len(np.shape(data)) != 2 else np.shape(data)[1]
    given = {"neighbors": "replace", "epsilon": 1, "bounds": BOUNDS[:width], **kw}
    with only(way), replaced(room, "choose_noise", kept):
        found = covariance(data, **given)
    return kept.moves, kept.values, found


@pairwise
@pytest.mark.parametrize("way", [room.OfEntries, room.OfGram])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("n", [2, 3])
def test_no_neighbor_moves_further_than_the_noise_is_made_for(way, relation, masked, n):
    """By enumeration over corners, middles and what is no number; each bound is reached."""
    domain = list(itertools.product([-1.0, 0.75, 2.5], [0.0, 0.5, 1.0]))
    domain.append((math.nan, 1e308))
    rng = np.random.default_rng(n)
    rests = [[domain[0]] * (n - 1), [domain[-2]] * (n - 1), [domain[6]] * (n - 1)]
    rests += [[domain[i] for i in rng.integers(0, len(domain), n - 1)] for _ in range(6)]
    worst = None
    for rest in rests:
        found = []
        for first in [*domain, None]:
            if first is None and relation == "replace" and not masked:
                continue
            keep = [first is not None, *[True] * (n - 1)]
            if first is None and relation == "add-remove":
                rows, keep = rest, keep[1:]
            else:
                rows = [first or domain[0], *rest]
            where = np.array(keep) if masked else None
            data = np.array(rows, np.float64).reshape(-1, 2)
            kw = {"where": where, "nan": 0.5, "neighbors": relation}
            moves, values, _ = recorded(data, way, **kw)
            found.append((moves.sizes, values))
        pairs = itertools.combinations(found, 2)
        if relation == "add-remove":
            pairs = [(one, found[-1]) for one in found[:-1]]
        for (asked, a), (other, b) in pairs:
            assert asked == other or (n == 2 and not (masked or relation == "add-remove"))
            moved = [abs(x - y) for x, y in zip(a, b, strict=True)]
            assert all(m <= d for m, d in zip(moved, asked, strict=True))
            share = [Fraction(m, d) for m, d in zip(moved, asked, strict=True)]
            worst = share if worst is None else list(map(max, worst, share))
    assert worst is not None and min(worst) >= Fraction(999, 1000)


def test_half_the_sensitivity_would_be_caught():
    """The control of the enumeration."""
    (moves, a, _), (_, b, _) = (
        recorded(np.array([first, (0.0, 0.0)])) for first in [(-1.0, 0.0), (2.5, 1.0)]
    )
    assert any(abs(x - y) > d / 2 for x, y, d in zip(a, b, moves.sizes, strict=True))


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("ddof", [0, 1])
def test_without_noise_it_is_the_covariance(relation, ddof):
    rng = np.random.default_rng(0)
    data = rng.normal(0, 1, (40_000, 3)) @ rng.normal(0, 1, (3, 3)) + [0.5, 0.5, -2]
    clipped = np.clip(data, *np.array(BOUNDS).T)
    kw = {"neighbors": relation, "ddof": ddof}
    _, kept, found = recorded(data, **kw)
    np.testing.assert_allclose(found, np.cov(clipped.T, ddof=ddof), rtol=1e-6, atol=1e-8)
    order = rng.permutation(len(data))
    assert recorded(data[order], **kw)[1] == kept
    where = data[:, 0] > 0
    masked = recorded(data, where=where, **kw)[2]
    np.testing.assert_allclose(masked, np.cov(clipped[where].T, ddof=ddof), rtol=1e-6, atol=1e-8)


def test_the_diagonal_is_the_variance():
    """The very integer that `variance` adds noise to, with the same sensitivity."""
    data = np.random.default_rng(1).normal(0, 1, (500, 2))
    moves, kept, found = recorded(data, bounds=[(-1.0, 2.5)] * 2)
    for place, column in [(0, 0), (2, 1)]:
        (l1, *_), vector, exact = of_one_column("variance", data[:, column], neighbors="replace")
        assert (moves.sizes[place], kept[place], found[column, column]) == (l1, vector[0], exact)


def test_missing_numbers():
    data = np.array([[0.0, 0.5], [math.nan, 1.0], [1.0, math.nan], [2.0, 0.0]])
    kw = {"neighbors": "add-remove"}
    with pytest.raises(DataError, match="nan='raise'"):
        recorded(data, nan="raise", **kw)
    dropped = recorded(data, **kw)
    assert dropped[1] == recorded(data[[0, 3]], **kw)[1]
    lower = np.array([[0.0, 0.5], [-1.0, 1.0], [1.0, 0.0], [2.0, 0.0]])
    assert recorded(data, nan="lower", **kw)[1] == recorded(lower, **kw)[1]
    upper = np.array([[0.0, 0.5], [2.5, 1.0], [1.0, 1.0], [2.0, 0.0]])
    assert recorded(data, nan="upper", **kw)[1] == recorded(upper, **kw)[1]
    number = np.array([[0.0, 0.5], [2.0, 1.0], [1.0, 1.0], [2.0, 0.0]])
    assert recorded(data, nan=2, **kw)[1] == recorded(number, **kw)[1]


def test_bounds_that_are_one_number():
    data = np.random.default_rng(0).uniform(0, 1, (1000, 2))
    for relation in ["replace", "add-remove"]:
        found = covariance(
            data,
            bounds=[(0, 1), (0.3, 0.3)],
            epsilon=50,
            neighbors=relation,
            rng=InsecureGenerator(1),
        )
        assert found[0, 0] == pytest.approx(1 / 12, abs=0.01)
        assert found[1].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("kw", "error", "words"),
    [
        ({"bounds": (0, 1)}, ArgumentError, "a pair for each column"),
        ({"bounds": [(0, 1)]}, ArgumentError, "as many columns as the data have, 3"),
        ({"epsilon": 1000}, ArgumentError, "epsilon"),
        ({"data": np.zeros(5)}, ArgumentError, "as many columns as the data have, 1"),
    ],
)
def test_bad_arguments_cost_nothing(kw, error, words):
    budget = dp.Budget(epsilon=1)
    given = {"data": np.zeros((5, 3)), "bounds": BOUNDS, "epsilon": 0.5, "budget": budget, **kw}
    with pytest.raises(error, match=words) as caught:
        covariance(**given)
    assert "\n" not in str(caught.value)
    assert budget.remaining["epsilon"] == 1


# ---- The Gram matrix ----

RHO = {"epsilon": None, "rho": 0.5}


def recorded_gram(data, **kw):
    """Axes of the ellipsoid, the integers that noise is added to, and the matrix without any."""
    moves, kept, found = recorded(data, room.OfGram, **{**RHO, **kw})
    return moves.axes, kept, found


def furthest(domain, axes_of=lambda axes: axes):
    """The largest sum of (d_i / a_i)^2 over all pairs of rows, beside a row that stays."""
    found, rest = {}, [domain[0]]
    for row in domain:
        axes, kept, _ = recorded_gram(np.array([row, *rest]))
        found[row] = kept
    axes = np.array([float(a) for a in axes_of(axes)])
    return max(
        float(((np.subtract(*map(found.get, pair)) / axes) ** 2).sum())
        for pair in itertools.combinations(domain, 2)
    )


@quick_rows(1)
@pytest.mark.parametrize("width", [2, 3])
def test_no_replaced_row_leaves_the_ellipsoid(width):
    """All pairs of rows of a grid with its corners; the bound is nearly reached."""
    points = 5 if width == 2 else 3
    sides = [np.linspace(lo, hi, points).tolist() for lo, hi in BOUNDS[:width]]
    domain = list(itertools.product(*sides))
    assert 0.75 < furthest(domain) <= 1 + 1e-9
    # The control: squared lengths without the constant, as if a row had no 1 beside its columns.
    c2 = float(Fraction(round(32 * width**0.25 / math.sqrt(2)), 32)) ** 2
    assert furthest(domain, lambda axes: [float(a) * width / (width + c2) for a in axes]) > 1


def test_the_norm_of_a_difference_of_rows_is_bounded_at_random_and_at_its_worst():
    """|x x' - y y'|^2 <= 2 M^2 without n, as in the derivation, for many columns."""
    rng = np.random.default_rng(0)
    for d in (2, 4, 9):
        c2 = round(32 * d**0.25 / math.sqrt(2)) ** 2 / 32**2
        z = np.concatenate([rng.uniform(-1, 1, (2000, d)), rng.choice([-1, 1], (2000, d))])
        y = z[rng.permutation(len(z))]
        products = np.einsum("ri,rj->rij", z, z) - np.einsum("ri,rj->rij", y, y)
        moved = 2 * c2 * ((z - y) ** 2).sum(1) + (products**2).sum((1, 2))
        most = 2 * (c2 + d) ** 2
        assert 0.8 * most < moved.max() <= most * (1 + 1e-12)


@pytest.mark.parametrize("ddof", [0, 1])
def test_without_noise_the_gram_matrix_gives_the_covariance(ddof):
    rng = np.random.default_rng(0)
    data = rng.normal(0, 1, (4000, 3)) @ rng.normal(0, 1, (3, 3)) + [0.5, 0.5, -2]
    clipped = np.clip(data, *np.array(BOUNDS).T)
    found = recorded_gram(data, ddof=ddof)[2]
    np.testing.assert_allclose(found, np.cov(clipped.T, ddof=ddof), rtol=1e-6, atol=1e-8)
    kept = recorded_gram(data)[1]
    assert recorded_gram(data[rng.permutation(len(data))])[1] == kept


def errors(data, bounds, draws, **kw):
    truth = np.cov(data.T, ddof=0)
    given = {"neighbors": "replace", "bounds": bounds, **kw}
    return np.array(
        [covariance(data, rng=InsecureGenerator(i), **given) - truth for i in range(draws)]
    )


@quick_rows(1)
@pytest.mark.parametrize(
    ("kw", "ratio"),
    [(RHO, 0.295), ({"epsilon": 2, "delta": 1e-2}, 0.473), ({"epsilon": 1}, 0.606)],
    ids=["rho", "delta", "pure"],
)
def test_the_gram_matrix_has_less_noise_and_its_error_bars_hold(kw, ratio):
    """Ratios are those of the variances to first order, for the means of these columns."""
    data = np.random.default_rng(3).beta(2, 5, (3000, 3))
    bounds = [(0, 1)] * 3
    mechanism = quoted(covariance, data, bounds=bounds, neighbors="replace", **kw)
    assert isinstance(mechanism, room.OfGram) and mechanism.loss == dp.privacy.loss(
        kw["epsilon"], kw.get("delta", 0), kw.get("rho")
    )
    found = errors(data, bounds, 300, **kw)
    with only(room.OfEntries):
        entries = errors(data, bounds, 300, **kw)
    # 5.8 standard deviations, which are .069 at most; the ratio is below 1 at any such.
    assert abs(math.log((found**2).mean() / (entries**2).mean() / ratio)) < 0.4
    width = np.array(mechanism.error(len(data), 0.9).half_width)
    misses = (abs(found) > width).mean()
    assert misses < 0.1 + 0.03
    # The control, for bars that are for the worst means: .35 with a deviation of .015, or more.
    assert (abs(found) > width / 3).mean() > 0.15


def test_the_gram_matrix_is_taken_where_it_has_less_error():
    rows, corners = np.random.default_rng(3).random((50, 2)), [(0, 1)] * 2

    def taken(**kw):
        given = {"bounds": corners, "neighbors": "replace", **RHO, **kw}
        return isinstance(quoted(covariance, rows, **given), room.OfGram)

    assert taken() and taken(epsilon=1, rho=None)
    assert not taken(epsilon=10, rho=None)  # a staircase for three numbers
    assert not taken(neighbors="add-remove")
    assert not taken(where=rows[:, 0] > 0.5)
    found = covariance(
        rows[:, [0, 1, 1]],
        bounds=[(0, 1), (0.5, 0.5), (0, 1)],
        neighbors="replace",
        rho=400,
        rng=InsecureGenerator(1),
    )
    assert found[1].tolist() == [0, 0, 0] and found[0, 0] == pytest.approx(1 / 12, abs=0.04)
