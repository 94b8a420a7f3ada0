"""Post-processing: least squares by definition, nearest numbers, sums that rounding keeps."""

import itertools

import numpy as np
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.rng import InsecureGenerator

from ..support.pairwise import quick_rows

RANDOM = np.random.default_rng(5)


def sums(shape, total):
    rows = []
    for place in np.ndindex(total):
        cells = np.zeros(shape)
        cells[tuple(i if n > 1 else slice(None) for i, n in zip(place, total, strict=True))] = 1
        rows.append(cells.ravel())
    return np.array(rows)


SHAPES = [
    ((4,), [(1,)], [2, 3]),
    ((3, 4), [(3, 1), (1, 4), (1, 1)], [1, 2, 0.5, 7]),
    ((2, 3, 2), [(2, 1, 1), (1, 3, 2), (2, 3, 2)], [4, 1, 1, 3]),
]


@pytest.mark.parametrize(("shape", "totals", "variances"), SHAPES)
def test_parts_are_the_least_squares_of_all(shape, totals, variances):
    parts = RANDOM.normal(size=shape)
    given = [RANDOM.normal(size=total) for total in totals]
    matrices = [np.eye(parts.size), *(sums(shape, total) for total in totals)]
    scaled = [m / v**0.5 for m, v in zip(matrices, variances, strict=True)]
    wanted = [x.ravel() / v**0.5 for x, v in zip([parts, *given], variances, strict=True)]
    best = np.linalg.lstsq(np.concatenate(scaled), np.concatenate(wanted), rcond=None)[0]
    found = dp.consistent(parts, given, variances=variances)
    np.testing.assert_allclose(found.ravel(), best, atol=1e-12)


def test_parts_that_are_not_negative_are_the_nearest_of_their_sum():
    for parts in RANDOM.integers(-4, 5, (40, 3)):
        found = dp.consistent(parts, nonnegative=True)
        total = max(parts.sum(), 0)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(total)
        steps = np.arange(total + 1)
        for other in itertools.product(steps, repeat=2):
            third = total - sum(other)
            if third >= 0:
                off = np.square(np.array([*other, third]) - parts).sum()
                assert np.square(found - parts).sum() <= off + 1e-9


@pytest.mark.parametrize("total", [(3, 1), (1, 4), (1, 1), (3, 4)])
def test_exact_totals_are_kept_whatever_else_is_asked(total):
    for _ in range(20):
        parts = RANDOM.normal(0, 5, (3, 4))
        exact, noisy = RANDOM.integers(0, 9, total).astype(float), RANDOM.normal(5, 2, (1, 4))
        summed = tuple(i for i, n in enumerate(total) if n == 1)
        given = {"totals": [noisy, exact], "variances": [2, 1, 0]}
        plain = dp.consistent(parts, **given)
        for how in ({"nonnegative": True}, {"decimals": 0}, {"nonnegative": True, "decimals": 0}):
            found = dp.consistent(parts, **given, **how)
            np.testing.assert_allclose(found.sum(summed, keepdims=True), exact, atol=1e-9)
            assert found.shape == parts.shape
            assert "nonnegative" not in how or found.min() >= 0
            assert "decimals" not in how or (found == np.rint(found)).all()
            if total == (3, 1):
                alone = [dp.consistent(row, **how) for row in plain]
                np.testing.assert_allclose(found, alone, atol=1e-9)


@pytest.mark.parametrize("decimals", [2, -2])
def test_rounding_keeps_a_sum(decimals):
    unit = 10.0**-decimals
    parts = np.array([1.234, 5.678, 9.1, 0.444, 0.444, 0.444]) * unit * 100
    found = dp.consistent(parts, decimals=decimals)
    np.testing.assert_allclose(found / unit, np.rint(found / unit), atol=1e-9)
    assert np.abs(found - parts).max() < unit
    assert abs(found.sum() - parts.sum()) < 0.501 * unit


@pytest.mark.parametrize(("parts", "given", "error"), [
    *(([1, 2], given, ArgumentError) for given in (
        {"totals": [3], "variances": [1, 1e-200]}, {"totals": [[1, 2, 3]]}, {"decimals": 16},
        {"totals": [-3], "variances": [1, 0], "nonnegative": True},
        {"totals": [3], "variances": [1]}, {"totals": [3], "variances": [0, 1]},
        {"totals": [3, 3], "variances": [1, 0, 0]})),
    *(([1, 2], given, ArgumentTypeError) for given in (
        {"totals": 5}, {"totals": [3], "variances": 5}, {"decimals": 0.5},
        {"decimals": np.timedelta64(1, "s")}, {"nonnegative": "yes"})),
    ([1e300, 2e300], {"decimals": 15}, ArgumentError), ([1.0, np.nan], {}, ArgumentError),
    ([1e308, 1e308], {"totals": [1e308]}, ArgumentError), ([], {"totals": [5]}, ArgumentError),
    (5, {"totals": [5]}, ArgumentError), (["a"], {}, ArgumentTypeError),
    (10**400, {}, ArgumentTypeError),
])  # fmt: skip
def test_bad_arguments_are_refused(parts, given, error):
    with pytest.raises(error, match=" must be ") as caught:
        dp.consistent(parts, **given)
    assert len(str(caught.value).split()) < 30


TABLE = {"k": ["a", "b"] * 20, "x": [1.0, 0.0] * 20}
HISTOGRAM, BY_KEY = {"bins": 40, "bounds": (0, 400)}, dp.group_by(TABLE, "k", keys=list("abcdefgh"))
IDS = np.arange(40)
WEIGHTED = {"weights": IDS, "weight_bounds": (0, 40)}
WAYS = {
    "histogram": lambda **kw: dp.histogram(IDS, **HISTOGRAM, **kw)[0],
    "weights": lambda **kw: dp.histogram(IDS, **HISTOGRAM, **WEIGHTED, **kw)[0],
    "people": lambda **kw: dp.histogram(IDS, **HISTOGRAM, ids=IDS // 2, max_rows=2, **kw)[0],
    "count": lambda **kw: dp.count(TABLE["x"], nan="only", **kw),
    "columns": lambda **kw: dp.count_nonzero(np.zeros((9, 5)), axis=0, **kw),
    "groups": lambda **kw: BY_KEY.count(**kw)["count"],
    "bins of groups": lambda **kw: np.stack(
        list(BY_KEY.histogram("x", bins=4, bounds=(0, 9), **kw).values())[1:5]
    ),
}


@quick_rows(3)
@pytest.mark.parametrize("way", WAYS)
def test_a_release_is_the_same_but_for_numbers_below_0(way):
    below = False
    for seed in range(20):
        plain, cut = (
            np.asarray(WAYS[way](epsilon=0.2, rng=InsecureGenerator(seed), **more))
            for more in ({}, {"nonnegative": True})
        )
        np.testing.assert_array_equal(cut, np.maximum(plain, 0))
        assert cut.dtype == plain.dtype
        below |= bool((plain < 0).any())
    assert below
    negative = {"weights": [1], "weight_bounds": (-1, 1), "nonnegative": True}
    with pytest.raises(ArgumentError, match="nonnegative"):
        dp.histogram([1], bins=1, bounds=(0, 2), **negative, epsilon=1)
