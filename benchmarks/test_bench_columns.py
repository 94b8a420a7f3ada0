"""One answer a column beside `np.clip(x, lo, hi).sum(axis=0)`, and categories of text.

pytest benchmarks/test_bench_columns.py --benchmark-sort=fullname
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dpfast.measurement.choice import Moves, choose_noise
from dpfast.privacy import ZCDP, Pure
from dpfast.rng import InsecureGenerator
from dpfast.statistics.histogram import histogram
from dpfast.statistics.totals import api
from dpfast.tables.scan import scan

from .conftest import rows

pytest.importorskip("pytest_benchmark")

N = rows(20_000_000)
LO, HI = 20.0, 80.0
#: So much that few rows tell a wrong answer.
KW = {"axis": 0, "bounds": (LO, HI), "epsilon": 400.0, "neighbors": "replace"}


@pytest.fixture(scope="module", params=[2, 10, 50])
def wide(request):
    return np.random.default_rng(0).normal(50, 12, (N // request.param, request.param))


@pytest.fixture(params=["C", "F"])
def data(request, wide):
    return np.asarray(wide, order=request.param)


def test_floor_max(benchmark, data):
    assert benchmark.pedantic(lambda: data.max(axis=0), rounds=3).max() == data.max()


def test_rival_clip_sum(benchmark, data):
    found = benchmark.pedantic(lambda: np.clip(data, LO, HI).sum(axis=0), rounds=3)
    assert found.shape == (data.shape[1],)


@pytest.mark.parametrize("name", ["sum", "mean", "variance"])
def test_release(benchmark, data, name):
    generator = InsecureGenerator(1)
    found = benchmark.pedantic(
        lambda: getattr(api, name)(data, rng=generator, **KW), rounds=5, warmup_rounds=1
    )
    clipped = np.clip(data, LO, HI)
    exact = {"sum": clipped.sum, "mean": clipped.mean, "variance": clipped.var}[name](axis=0)
    assert found == pytest.approx(exact, rel=0.05)


def test_release_of_some_rows(benchmark, wide):
    where = wide[:, 0] > 50
    generator = InsecureGenerator(1)
    found = benchmark.pedantic(lambda: api.mean(wide, where=where, rng=generator, **KW), rounds=3)
    assert found == pytest.approx(np.clip(wide[where], LO, HI).mean(axis=0), rel=0.05)


def test_release_with_weights(benchmark, wide):
    weights = np.random.default_rng(1).uniform(0, 1, len(wide))
    kw = {**KW, "weights": weights, "weight_bounds": (0, 1), "rng": InsecureGenerator(1)}
    found = benchmark.pedantic(lambda: api.mean(wide, **kw), rounds=3)
    exact = np.average(np.clip(wide, LO, HI), axis=0, weights=weights)
    assert found == pytest.approx(exact, rel=0.05)


def test_release_of_a_file(benchmark, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    values = np.random.default_rng(0).normal(50, 12, (4, N // 4))
    pq.write_table(pa.table(dict(zip("abcd", values, strict=True))), tmp_path / "t.parquet")
    table = scan(tmp_path / "t.parquet", ["a", "c", "d"])
    generator = InsecureGenerator(1)
    found = benchmark.pedantic(lambda: api.sum(table, rng=generator, **KW), rounds=3)
    exact = np.clip(values[[0, 2, 3]], LO, HI).sum(axis=1)
    assert found == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("width", [2, 10, 1000])
@pytest.mark.parametrize("loss", [Pure(1), ZCDP(1)], ids=["box", "gaussian"])
def test_noise(benchmark, width, loss):
    noise = choose_noise(loss, Moves((1 << 40,) * width)).noise()
    generator = InsecureGenerator(1)
    found = benchmark(lambda: noise.add([0] * width, generator))
    assert 0 < max(map(abs, found)) < 50 * noise.deviation * 2**40


WORDS = [
    "Bachelors",
    "HS-grad",
    "11th",
    "Masters",
    "9th",
    "Some-college",
    "Assoc-acdm",
    "Doctorate",
]


@pytest.mark.parametrize("form", ["dictionary", "arrow", "objects", "numpy", "parquet"])
def test_words(benchmark, form, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    n = N // 10
    places = np.random.default_rng(2).integers(0, len(WORDS), n)
    coded = pa.DictionaryArray.from_arrays(places.astype(np.int32), pa.array(WORDS))
    plain = coded.cast(pa.string())
    pq.write_table(pa.table({"x": plain}), tmp_path / "t.parquet")
    data = {
        "dictionary": lambda: coded,
        "arrow": lambda: plain,
        "objects": lambda: np.array(WORDS, object)[places],
        "numpy": lambda: np.array(WORDS)[places],
        "parquet": lambda: scan(tmp_path / "t.parquet", "x"),
    }[form]()
    kw = {"categories": WORDS[:6], "epsilon": 1.0, "rng": InsecureGenerator(1)}
    counts, _ = benchmark.pedantic(lambda: histogram(data, **kw), rounds=3)
    assert abs(counts - np.bincount(places)[:6]).max() < 60


def test_words_rival(benchmark):
    places = np.random.default_rng(2).integers(0, len(WORDS), N // 10)
    data = np.array(WORDS, object)[places].tolist()
    found = benchmark.pedantic(lambda: Counter(data), rounds=3)
    assert found[WORDS[0]] == np.count_nonzero(places == 0)
