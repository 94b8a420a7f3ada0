"""Selection beside one read of the scores (`np.max`), NumPy's Gumbel argmax, and the rivals.

pytest benchmarks/test_bench_selection.py --benchmark-group-by=group
"""

import math

import numpy as np
import pytest

import dpfast as dp

from . import rivals
from .conftest import rows

N, FEWER, ROWS = rows(10_000_000), rows(1_000_000), rows(100_000, 500)
PATTERNS = {
    "normal scores": lambda n: np.random.default_rng(3).standard_normal(n) * 10,
    "equal scores": lambda n: np.full(n, 2.5),
    "sorted scores": lambda n: np.linspace(0.0, 100.0, n),
    "scores with one heavy winner": lambda n: np.where(np.arange(n) == n // 3, 100.0, 0.0),
}
LOSS = {"sensitivity": 1.0, "epsilon": 1.0}


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    monkeypatch.setenv("DPFAST_NUM_THREADS", "1")


@pytest.fixture(scope="module", params=PATTERNS)
def pattern(request):
    return PATTERNS[request.param](N)


@pytest.fixture(scope="module")
def normal():
    return PATTERNS["normal scores"](N)


def check(chosen, scores):
    """No draw is farther below the best than the utility theorem has it with 1 - e**-40."""
    chosen = np.atleast_1d(chosen)
    assert chosen.min() >= 0
    gap = scores.max() - scores[chosen].min()
    assert gap <= 2 * (math.log(len(scores)) + 40)


def gumbel_argmax(scores):
    """What a NumPy user writes; far candidates have probability 0."""
    return np.argmax(0.5 * scores + np.random.default_rng(4).gumbel(size=scores.shape), axis=-1)


@pytest.mark.benchmark(group="one draw")
def test_draw(benchmark, pattern):
    chosen = benchmark.pedantic(
        dp.selection.exponential, (pattern,), LOSS, rounds=9, warmup_rounds=1
    )
    check(chosen, pattern)


@pytest.mark.benchmark(group="one draw")
def test_draw_floor_max(benchmark, pattern):
    found = benchmark.pedantic(np.max, (pattern,), rounds=9, warmup_rounds=1)
    assert found in pattern


@pytest.mark.benchmark(group="one draw")
def test_draw_numpy(benchmark, pattern):
    check(benchmark.pedantic(gumbel_argmax, (pattern,), rounds=2), pattern)


@pytest.mark.parametrize("form", ["float32", "int64", "int8", "every third"])
@pytest.mark.benchmark(group="one draw, other forms")
def test_draw_of_a_form(benchmark, normal, form):
    scores = np.clip(normal, -120, 120)
    scores = np.repeat(scores, 3)[::3] if form == "every third" else scores.astype(form)
    chosen = benchmark.pedantic(
        dp.selection.exponential, (scores,), LOSS, rounds=5, warmup_rounds=1
    )
    check(chosen, scores.astype(np.float64))


@pytest.mark.benchmark(group="permute and flip")
def test_permute_and_flip(benchmark, pattern):
    chosen = benchmark.pedantic(
        dp.selection.permute_and_flip, (pattern,), LOSS, rounds=9, warmup_rounds=1
    )
    check(chosen, pattern)


@pytest.mark.benchmark(group="permute and flip")
def test_permute_and_flip_floor_max(benchmark, pattern):
    found = benchmark.pedantic(np.max, (pattern,), rounds=9, warmup_rounds=1)
    assert found in pattern


@pytest.mark.parametrize("epsilon", [1.0, 100.0])
@pytest.mark.benchmark(group="top 100")
def test_top(benchmark, pattern, epsilon):
    """Of a hundred draws, each has a hundredth of epsilon."""
    loss = LOSS | {"epsilon": epsilon}
    chosen = benchmark.pedantic(dp.selection.top_k, (pattern, 100), loss, rounds=7, warmup_rounds=1)
    assert len(set(chosen.tolist())) == 100
    gap = pattern.max() - pattern[chosen[0]]
    assert gap <= 200 / epsilon * (math.log(len(pattern)) + 40)


@pytest.mark.benchmark(group="top 100")
def test_top_floor_max(benchmark, pattern):
    assert benchmark.pedantic(np.max, (pattern,), rounds=7, warmup_rounds=1) in pattern


@pytest.mark.benchmark(group="a draw for each row of 100")
def test_rows(benchmark):
    scores = np.random.default_rng(5).standard_normal((ROWS, 100)) * 10
    chosen = benchmark.pedantic(
        dp.selection.exponential, (scores,), LOSS, rounds=5, warmup_rounds=1
    )
    check_rows(chosen, scores)


@pytest.mark.benchmark(group="a draw for each row of 100")
def test_rows_numpy(benchmark):
    scores = np.random.default_rng(5).standard_normal((ROWS, 100)) * 10
    check_rows(benchmark.pedantic(gumbel_argmax, (scores,), rounds=3, warmup_rounds=1), scores)


def check_rows(chosen, scores):
    assert chosen.shape == scores.shape[:1]
    gap = scores.max(axis=1) - np.take_along_axis(scores, chosen[:, None], 1)[:, 0]
    assert gap.max() <= 2 * (math.log(scores.size) + 40)


@pytest.mark.benchmark(group="a million draws of a thousand")
def test_many_draws(benchmark):
    scores = np.random.default_rng(6).standard_normal(1000)
    draws = rows(1_000_000)
    chosen = benchmark.pedantic(
        dp.selection.exponential, (scores,), LOSS | {"size": draws}, rounds=5, warmup_rounds=1
    )
    assert chosen.shape == (draws,)
    check(chosen, scores)


@pytest.mark.benchmark(group="a million draws of a thousand")
def test_many_draws_numpy(benchmark):
    scores = np.random.default_rng(6).standard_normal(1000)
    weight = np.exp(0.5 * scores)
    generator = np.random.default_rng(7)
    chosen = benchmark.pedantic(
        generator.choice,
        (len(scores),),
        {"size": rows(1_000_000), "p": weight / weight.sum()},
        rounds=5,
        warmup_rounds=1,
    )
    check(chosen, scores)


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
@pytest.mark.benchmark(group="10 candidates")
def test_small(benchmark, mechanism):
    scores = np.arange(10.0)
    chosen = benchmark(getattr(dp.selection, mechanism), scores, **LOSS)
    assert 0 <= chosen < 10


@pytest.mark.benchmark(group="10 candidates")
def test_small_with_a_budget(benchmark):
    chosen = benchmark(
        dp.selection.exponential, list(range(10)), **LOSS, budget=dp.Budget(epsilon=10**9)
    )
    assert 0 <= chosen < 10


@pytest.mark.benchmark(group="10 candidates")
def test_small_top(benchmark):
    assert len(benchmark(dp.selection.top_k, np.arange(10.0), 3, **LOSS)) == 3


@pytest.mark.benchmark(group="10 candidates")
def test_small_numpy(benchmark):
    assert 0 <= benchmark(gumbel_argmax, np.arange(10.0)) < 10


@pytest.mark.parametrize("mechanism", ["exponential", "permute_and_flip"])
@pytest.mark.benchmark(group="1e6 candidates, rivals")
def test_million(benchmark, mechanism):
    scores = PATTERNS["normal scores"](FEWER)
    call = getattr(dp.selection, mechanism)
    check(benchmark.pedantic(call, (scores,), LOSS, rounds=9, warmup_rounds=1), scores)


@pytest.mark.parametrize("mechanism", ["noisy_max", "permute_and_flip"])
@pytest.mark.parametrize("name", rivals.NAMES)
@pytest.mark.benchmark(group="1e6 candidates, rivals")
def test_rival_million(benchmark, name, mechanism):
    rival = rivals.load(name)
    if rival is None:
        pytest.skip(f"{name} is not installed")
    if not hasattr(rival, mechanism):
        pytest.skip(f"{name} has no {mechanism} that a million candidates do not choke")
    scores = PATTERNS["normal scores"](FEWER)
    call = getattr(rival, mechanism)
    check(benchmark.pedantic(call, (scores, 1.0, 1.0), rounds=2, warmup_rounds=1), scores)
