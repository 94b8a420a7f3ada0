"""Scores in partitions of an engine: the draws of the same scores in memory."""

import numpy as np
import pandas as pd
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.selection import arguments

from ..support.lazy import da, dask, dd
from ..support.pairwise import quick_rows

RNG = np.random.default_rng(0)
N = 9_000
NEAR = np.round(RNG.normal(0, 2, N), 1)
SCORES = {
    "near": NEAR,
    "integers": (2**60 + RNG.integers(0, 9, N)).astype(np.int64),
    "small": RNG.integers(0, 20, N).astype(np.int16),
    "excluded": np.where(NEAR > 3, -np.inf, NEAR),
}
LOSS = {"sensitivity": 1, "rho": 1}
DRAWS = {
    "exponential": lambda s, g: dp.selection.exponential(s, **LOSS, size=40, rng=g),
    "permute-and-flip": lambda s, g: dp.selection.permute_and_flip(s, **LOSS, rng=g),
    "top-k": lambda s, g: dp.selection.top_k(s, 7, **LOSS, rng=g),
    "noisy max": lambda s, g: dp.selection.noisy_max(s, **LOSS, rng=g),
}


@pytest.fixture(autouse=True)
def many(monkeypatch):
    """Few scores are too many to be gathered; nothing is made an array; one thread."""
    monkeypatch.setattr(arguments, "FEW", 100)
    for kind in (da.Array, dd.Series, dd.DataFrame):
        monkeypatch.setattr(kind, "__array__", None)
    with dask.config.set(scheduler="synchronous"):
        yield


@quick_rows(2)
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", SCORES)
def test_draws_are_those_of_scores_in_memory(name, draw):
    scores = SCORES[name]
    due = DRAWS[draw](scores, InsecureGenerator(3))
    table = pd.DataFrame({"s": scores, "t": 0})
    uneven = (1, 255, 257, 0, 4000, N - 4513)
    forms = [
        da.from_array(scores, chunks=1234),
        da.from_array(scores, chunks=(uneven,)),
        dd.from_pandas(table, npartitions=4)["s"],
        dd.from_pandas(table.convert_dtypes(dtype_backend="pyarrow"), npartitions=3)["s"],
    ]
    for form in forms:
        np.testing.assert_array_equal(DRAWS[draw](form, InsecureGenerator(3)), due)


def test_few_scores_are_gathered(monkeypatch):
    held = da.from_array(NEAR, chunks=1000)
    with pytest.raises(ArgumentError, match="scores must be at most"):
        dp.selection.probabilities(held, sensitivity=1, epsilon=1)
    with pytest.raises(ArgumentTypeError, match="base must be left out"):
        dp.selection.exponential(held, base=np.zeros(N), sensitivity=1, epsilon=1)
    monkeypatch.setattr(arguments, "FEW", N)
    for more in ({}, {"base": np.linspace(0, 3, N)}):
        due, found = (
            dp.selection.exponential(some, **LOSS, size=9, rng=InsecureGenerator(1), **more)
            for some in (NEAR, held)
        )
        np.testing.assert_array_equal(found, due)
    assert dp.selection.probabilities(held, sensitivity=1, epsilon=1).shape == (N,)


def test_scores_that_change_are_an_error():
    calls = iter(range(1000))
    grown = lambda block: block + (next(calls) > 12)  # noqa: E731
    held = da.from_array(NEAR, chunks=1000).map_blocks(grown, dtype=float, meta=np.empty(0))
    with pytest.raises(DataError, match="changed between two reads"):
        dp.selection.exponential(held, sensitivity=1, epsilon=1, size=999)


def masked(rows):
    return da.ma.masked_equal(da.from_array(rows, chunks=7), 39)


def refused():
    """Scores, more arguments, and words of the error."""
    nulls = dd.from_pandas(pd.Series([1, 2, None, 4] * 9, dtype="Int64"), npartitions=3)
    zeros, line = np.zeros(40), da.zeros(40)
    return [
        *((masked(np.arange(40, dtype=kind)), {}, "without a mask") for kind in (float, int)),
        *((line, {"axis": axis}, "axis must be an integer") for axis in (0.0, np.array([0, 1]))),
        (line, {"axis": 1}, "axis must be 0 or -1"),
        ([da.zeros(4), da.zeros(4)], {}, "compute it first"),
        (zeros, {"base": line}, "compute it first"),
        (nulls, {}, "finite numbers.*got nan"),
        (da.zeros((30, 30)), {}, "scores must be of one dimension"),
        (da.zeros(0), {}, "at least one row and one candidate"),
        (da.full(500, np.nan, chunks=99), {}, "finite numbers"),
        (da.full(500, -np.inf, chunks=99), {}, "above minus infinity"),
        (dd.from_pandas(pd.DataFrame({"s": ["a"] * 500})), {}, "must be"),
        (dd.from_pandas(pd.DataFrame({"s": [1], "t": 2})), {}, "one dimension"),
    ]


@pytest.mark.parametrize("few", [10, 1 << 20])
def test_what_is_refused_before_the_spend(few, monkeypatch):
    monkeypatch.setattr(arguments, "FEW", few)
    budget = dp.Budget(epsilon=1)
    for scores, more, words in refused():
        with pytest.raises((ArgumentError, ArgumentTypeError), match=words):
            dp.selection.exponential(scores, sensitivity=1, epsilon=1, budget=budget, **more)
        assert not budget.history, words


def test_a_large_top_takes_few_passes():
    scores = np.full(N, -np.inf)
    scores[::64] = 0
    passes, held = [], da.from_array(scores, chunks=1000)
    counted = lambda block: passes.append(1) or block  # noqa: E731
    held = held.map_blocks(counted, dtype=float, meta=np.empty(0))
    with pytest.raises(ArgumentError, match="candidates not excluded, 141"):
        dp.selection.top_k(held, 142, sensitivity=1, epsilon=1)
    assert len(passes) <= 4 * 9
