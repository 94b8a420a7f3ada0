"""Covariance matrices: exact without noise, sensitivities by enumeration, forms of data, errors."""

import itertools
import math
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

from dpfast.rng import InsecureGenerator
from dpfast.statistics import covariance as room
from dpfast.statistics.covariance import covariance

from ..support.noise import Recorder
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused
from ..support.views import quoted, replaced

BOUNDS = [(-1.0, 2.5), (0.0, 1.0), (-3.0, -1.0)]


@contextmanager
def only(way):
    """No other way to release the sums of a public number of rows."""
    other = room.OfEntries if way is room.OfGram else room.OfGram
    with replaced(other, "way", None):
        yield


def recorded(data, way=room.OfEntries, **kw):
    kept = Recorder()
    width = 3 if len(np.shape(data)) != 2 else np.shape(data)[1]
    given = {"neighbors": "replace", "epsilon": 1, "bounds": BOUNDS[:width], **kw}
    with only(way), replaced(room, "choose_noise", kept):
        found = covariance(data, **given)
    return kept.moves, kept.values, found


@every_value
@pytest.mark.parametrize("way", [room.OfEntries, room.OfGram])
@pytest.mark.parametrize("relation", ["replace", "add-remove"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("n", [2, 3])
def test_no_neighbor_moves_further_than_the_noise_is_made_for(way, relation, masked, n):
    domain = [*itertools.product([-1.0, 0.75, 2.5], [0.0, 0.5, 1.0]), (math.nan, 1e308)]
    draw, leaves = np.random.default_rng(n), relation == "add-remove"
    rests = [[domain[i]] * (n - 1) for i in (0, -2, 6)]
    rests += [[domain[i] for i in draw.integers(0, len(domain), n - 1)] for _ in range(6)]
    worst = None
    for rest in rests:
        found = []
        for first in [*domain, *([None] if leaves or masked else [])]:
            gone = first is None and leaves
            rows = rest if gone else [first or domain[0], *rest]
            where = np.array([first is not None, *[True] * (n - 1)])[int(gone) :]
            data = np.array(rows, np.float64).reshape(-1, 2)
            kw = {"where": where if masked else None, "nan": 0.5, "neighbors": relation}
            moves, values, _ = recorded(data, way, **kw)
            found.append((moves.sizes, values))
        pairs = itertools.combinations(found, 2)
        if leaves:
            pairs = [(one, found[-1]) for one in found[:-1]]
        for (asked, a), (other, b) in pairs:
            assert asked == other or (n == 2 and not (masked or leaves))
            share = [Fraction(abs(x - y), d) for x, y, d in zip(a, b, asked, strict=True)]
            assert max(share) <= 1
            worst = share if worst is None else list(map(max, worst, share))
    assert worst is not None and min(worst) >= Fraction(999, 1000)


def test_half_the_sensitivity_would_be_caught():
    """The control of the enumeration."""
    (moves, a, _), (_, b, _) = (
        recorded(np.array([first, (0.0, 0.0)])) for first in [(-1.0, 0.0), (2.5, 1.0)]
    )
    assert any(abs(x - y) > d / 2 for x, y, d in zip(a, b, moves.sizes, strict=True))


@pytest.mark.parametrize(
    "way, relation", [("entries", "replace"), ("entries", "add-remove"), ("gram", "replace")]
)
@pytest.mark.parametrize("ddof", [0, 1])
def test_without_noise_it_is_the_covariance(way, relation, ddof):
    rng, kw = np.random.default_rng(0), {"neighbors": relation, "ddof": ddof}
    data = rng.normal(0, 1, (10_000, 3)) @ rng.normal(0, 1, (3, 3)) + [0.5, 0.5, -2]
    clipped, call = np.clip(data, *np.array(BOUNDS).T), recorded_gram if way == "gram" else recorded
    _, kept, found = call(data, **kw)
    np.testing.assert_allclose(found, np.cov(clipped.T, ddof=ddof), rtol=1e-6, atol=1e-8)
    assert call(data[rng.permutation(len(data))], **kw)[1] == kept
    if way == "entries":
        where = data[:, 0] > 0
        masked, due = recorded(data, where=where, **kw)[2], np.cov(clipped[where].T, ddof=ddof)
        np.testing.assert_allclose(masked, due, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("kw", "words"), [
    ({"bounds": (0, 1)}, "a pair for each column"), ({"epsilon": 1000}, "epsilon"),
    ({"bounds": [(0, 1)]}, "one for each column of the data, 3"),
    ({"data": np.zeros(5)}, "one for each column of the data, 1"),
])  # fmt: skip
def test_bad_arguments_cost_nothing(kw, words):
    refused(covariance, words, **{"data": np.zeros((5, 3)), "bounds": BOUNDS, "epsilon": 0.5, **kw})


RHO = {"epsilon": None, "rho": 0.5}


def recorded_gram(data, **kw):
    """Axes of the ellipsoid, the integers that noise is added to, and the matrix without any."""
    moves, kept, found = recorded(data, room.OfGram, **{**RHO, **kw})
    return moves.axes, kept, found


def furthest(domain, change=1):
    """The largest sum of (d_i / a_i)^2 over all pairs of rows, beside a row that stays."""
    found = {row: recorded_gram(np.array([row, domain[0]])) for row in domain}
    axes = change * np.array([float(a) for a in found[domain[0]][0]])
    pairs = itertools.combinations([kept for _, kept, _ in found.values()], 2)
    return max(float(((np.subtract(*pair) / axes) ** 2).sum()) for pair in pairs)


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
    assert furthest(domain, width / (width + c2)) > 1


def test_the_gram_matrix_is_taken_where_it_has_less_error():
    rows, corners = np.random.default_rng(3).random((50, 2)), [(0, 1)] * 2

    def taken(**kw):
        given = {"bounds": corners, "neighbors": "replace", **RHO, **kw}
        return isinstance(quoted(covariance, rows, **given), room.OfGram)

    assert taken() and taken(epsilon=1, rho=None)
    assert not taken(epsilon=10, rho=None)  # a staircase for three numbers
    assert not taken(neighbors="add-remove")
    assert not taken(where=rows[:, 0] > 0.5)
    # Of a column between equal bounds nothing is to be known, under either relation.
    bounds = [(0, 1), (0.5, 0.5), (0, 1)]
    for relation, loss in (("replace", {"rho": 400}), ("add-remove", {"epsilon": 90})):
        kw = {"bounds": bounds, "neighbors": relation, "rng": InsecureGenerator(1), **loss}
        found = covariance(np.tile(rows[:, [0, 1, 1]], (20, 1)), **kw)
        assert found[1].tolist() == [0, 0, 0] and found[0, 0] == pytest.approx(1 / 12, abs=0.04)
