"""Measure the cases of the speed table, and rewrite `docs/guide/speed.md` and the README table.

    python benchmarks/report.py [--rows 50000000] [--write]

Every pair is timed in turn in one process, on one thread unless it says how many; the figure is the
best of several rounds. The suite (`pytest benchmarks`) times the same calls and asserts their
answers. Rivals that are not installed are left out by name.
"""

import argparse
import fnmatch
import importlib.util
import os
import platform
import re
import sys
import time
import warnings
from pathlib import Path

os.environ.setdefault("DPFAST_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import dpfast as dp

sys.path.insert(0, str(Path(__file__).parent.parent))
from benchmarks import learners, rivals

ROOT = Path(__file__).parent.parent
#: What the README shows of the table: patterns of the work and of what is beside it.
HEADLINES = (
    ("private median, * unsorted float64", "*"),
    ("secure, exact `laplace`, per sample", "*"),
    ("exponential mechanism, * normal scores", "*"),
    ("9 private deciles, *", "*"),
    ("me* of random blocks, *", "*"),
    ("private sum, * float64", "`np*"),
    ("private variance, * float64", "`np*"),
    ("private histogram, 100 bins, * float64", "*"),
    ("randomized response, binary, uint8, *", "`np*"),
    ("smooth sensitivity of a trimmed mean, *", "*"),
    ("private k-means, * a round", "*"),
    ("private PCA, * float64", "*"),
    ("private median, 1e6 float64", "OpenDP*"),
    ("exact Laplace noise, per sample", "OpenDP*"),
    ("private histogram, 1e6 float64", "OpenDP*"),
)
BOUNDS = (0.0, 100.0)


def best(*functions, rounds=7):
    """Best time of each function, all in turn each round, so that a drift hits all alike."""
    times = [float("inf")] * len(functions)
    for _ in range(rounds + 1):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            times[i] = min(times[i], time.perf_counter() - start)
    return times


def show(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            return f"{seconds / size:.3g} {unit}"


def medians(n):
    data = np.random.default_rng(0).normal(50.0, 12.0, n)
    for dtype in ("float64", "float32", "int64", "int32", "uint8"):
        column = data if dtype == "float64" else np.clip(data, 0, 250).astype(dtype)
        ours, floor = best(
            lambda c=column: dp.median(c, bounds=BOUNDS, epsilon=1.0), lambda c=column: np.max(c)
        )
        yield f"private median, {n:.0e} unsorted {dtype}", ours, "`np.max`", floor
    middle = (n - 1) // 2
    ours, floor = best(
        lambda: dp.median(data, bounds=BOUNDS, epsilon=1.0),
        lambda: np.partition(data, middle),
        rounds=3,
    )
    yield f"private median, {n:.0e} unsorted float64", ours, "`np.partition` (not private)", floor


def samples(n):
    numpy = np.random.default_rng(0)
    base = {
        "laplace": ("`Generator.laplace`", lambda: numpy.laplace(size=n)),
        "gaussian": ("`Generator.normal`", lambda: numpy.normal(size=n)),
    }
    calls = {
        "laplace": lambda: dp.noise.laplace(1.0, n),
        "gaussian": lambda: dp.noise.gaussian(1.0, n),
        "cauchy": lambda: dp.noise.cauchy(1.0, n),
        "student_t": lambda: dp.noise.student_t(3, 1.0, n),
        "polyplace": lambda: dp.noise.polyplace(1 / 0.6, 1.0, n),
        "arsinh_normal": lambda: dp.noise.arsinh_normal(0.9, 1.0, n),
        "discrete_laplace": lambda: dp.noise.discrete_laplace(10.0, n),
        "discrete_gaussian": lambda: dp.noise.discrete_gaussian(10.0, n),
    }
    for name, call in calls.items():
        label, rival = base.get(name, base["laplace"])
        ours, floor = best(call, rival, rounds=3)
        yield f"secure, exact `{name}`, per sample", ours / n, label + " (neither)", floor / n


def gumbel_argmax(scores, generator):
    return np.argmax(0.5 * scores + generator.gumbel(size=scores.shape), axis=-1)


def selections(n):
    """The exponential mechanism and its kin, beside one read and beside what NumPy users write."""
    numpy = np.random.default_rng(0)
    loss = {"sensitivity": 1.0, "epsilon": 1.0}
    normal = numpy.standard_normal(n) * 10
    patterns = {
        "normal scores": normal,
        "equal scores": np.full(n, 2.5),
        "sorted scores": np.linspace(0.0, 100.0, n),
        "scores with one heavy winner": np.where(np.arange(n) == n // 3, 100.0, 0.0),
    }
    rival_name, floor_name = "`argmax(scores + gumbel)` (neither exact nor secure)", "`np.max`"
    for name, scores in patterns.items():
        ours, floor = best(
            lambda s=scores: dp.selection.exponential(s, **loss), lambda s=scores: np.max(s)
        )
        yield f"exponential mechanism, {n:.0e} {name}", ours, floor_name, floor
    ours, theirs = best(
        lambda: dp.selection.exponential(normal, **loss),
        lambda: gumbel_argmax(normal, numpy),
        rounds=2,
    )
    yield f"exponential mechanism, {n:.0e} normal scores", ours, rival_name, theirs
    for name, scores in patterns.items():
        ours, floor = best(
            lambda s=scores: dp.selection.permute_and_flip(s, **loss), lambda s=scores: np.max(s)
        )
        yield f"permute-and-flip, {n:.0e} {name}", ours, floor_name, floor
    for epsilon in (1.0, 100.0):
        for name, scores in patterns.items():
            ours, floor = best(
                lambda s=scores, e=epsilon: dp.selection.top_k(s, 100, sensitivity=1.0, epsilon=e),
                lambda s=scores: np.max(s),
            )
            yield f"top 100 of {n:.0e} {name}, epsilon {epsilon:g}", ours, floor_name, floor
    table = numpy.standard_normal((n // 100, 100)) * 10
    ours, theirs = best(
        lambda: dp.selection.exponential(table, **loss),
        lambda: gumbel_argmax(table, numpy),
        rounds=3,
    )
    yield f"exponential mechanism, {n // 100:.0e} rows of 100", ours, rival_name, theirs
    ten, many = np.arange(10.0), range(200)
    ours, theirs = best(
        lambda: [dp.selection.exponential(ten, **loss) for _ in many],
        lambda: [gumbel_argmax(ten, numpy) for _ in many],
    )
    yield "exponential mechanism, 10 candidates", ours / 200, rival_name, theirs / 200


def deciles(n):
    data = np.random.default_rng(0).normal(50.0, 12.0, n)
    tenths = [i / 10 for i in range(1, 10)]
    ours, floor = best(
        lambda: dp.quantiles(data, tenths, bounds=BOUNDS, epsilon=1.0),
        lambda: np.sort(data),
        rounds=3,
    )
    yield f"9 private deciles, {n:.0e} unsorted float64", ours, "`np.sort` (not private)", floor


def aggregates(n):
    """The targets of sample and aggregate: whole calls, one private number of all blocks."""
    data = np.random.default_rng(0).normal(50.0, 12.0, n)
    numpy, blocks = np.random.default_rng(1), 1000
    some, whole = data[: 2 * n // 5], n // blocks * blocks
    few = len(some) // blocks * blocks
    ours, floor = best(lambda: aggregate(data, "mean", blocks, "contiguous"), lambda: np.sum(data))
    work = f"{n:.0e} float64, {blocks} blocks"
    yield f"mean of contiguous blocks, {work}", ours, "`np.sum`", floor
    ours, theirs = best(
        lambda: aggregate(data, "mean", blocks),
        lambda: numpy.permutation(data[:whole]).reshape(blocks, -1).mean(1),
        rounds=1,
    )
    rival = "`permutation(x).reshape(1000, -1).mean(1)` (not private)"
    yield f"mean of random blocks, {work}", ours, rival, theirs
    ours, theirs = best(
        lambda: aggregate(some, "median", blocks),
        lambda: np.median(numpy.permutation(some[:few]).reshape(blocks, -1), axis=1),
        rounds=1,
    )
    work = f"{len(some):.0e} float64, {blocks} blocks"
    rival = "`np.median(permutation(x).reshape(1000, -1), axis=1)` (not private)"
    yield f"median of random blocks, {work}", ours, rival, theirs
    if importlib.util.find_spec("numba"):
        yield compiled(data[: n // 5], min(10_000, n // 500))
    yield called(data[: n // 50], min(10_000, n // 500))


def aggregate(data, estimator, blocks, partition="random", **more):
    more = {"bounds": BOUNDS, "epsilon": 1.0, "partition": partition, **more}
    return dp.sample_and_aggregate(data, estimator, blocks=blocks, **more)


def compiled(data, blocks):
    """A Numba estimator on all cores, beside a plain loop over blocks that are there already."""
    import numba

    from dpfast.aggregate.blocks import RandomLabels
    from dpfast.aggregate.blocks.labels import secret
    from dpfast.aggregate.blocks.layout import laid_out
    from dpfast.aggregate.blocks.partition import Partition
    from dpfast.sources.table import as_rows

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    source = as_rows(data)
    key = secret(dp.rng.default_generator().stream())
    partition = Partition(RandomLabels(blocks, key))

    @numba.njit(nogil=True)
    def softplus(block):
        total = 0.0
        for x in block:
            total += np.log1p(np.exp((x - 50.0) / 12.0))
        return total / len(block)

    @numba.njit(nogil=True)
    def loop(rows, offsets, out):
        for b in range(len(out)):
            if offsets[b] < offsets[b + 1]:
                out[b] = softplus(rows[offsets[b] : offsets[b + 1]])

    def scatter():
        with laid_out(source, partition, cores) as found:
            return next(iter(found.windows()))

    there = scatter()
    ours, moving, total = best(
        lambda: aggregate(data, softplus, blocks, workers=cores),
        scatter,
        lambda: loop(there.rows, there.offsets, np.empty(blocks)),
        rounds=5,
    )
    work = f"Numba estimator, {len(data):.0e} float64, {blocks:.0e} random blocks, {cores} threads"
    allowed = 1.15 * total / cores + moving
    return work, ours, f"1.15 (time of all calls in one thread) / {cores} + scatter", allowed


def called(data, blocks):
    """What a block costs a Python estimator beside its call: the whole less a loop of calls."""
    size = max(1, len(data) // blocks)
    parts = [data[i * size : (i + 1) * size] for i in range(blocks)]
    mean = lambda block: block.mean()  # noqa: E731
    ours, bare = best(
        lambda: aggregate(data, mean, blocks), lambda: [mean(part) for part in parts], rounds=5
    )
    work = f"Python estimator, {blocks:.0e} random blocks: overhead per block"
    return work, max(ours - bare, 0) / blocks, "the call itself, `block.mean()`", bare / blocks


def totals(n):
    """Exact sums of clamped rows beside NumPy's way, which makes a copy."""
    lo, hi = 20, 80
    normal = np.random.default_rng(0).normal(50.0, 12.0, n).clip(0, 100)
    loss = {"bounds": (lo, hi), "epsilon": 1.0}
    for dtype in ("float64", "float32", "int64", "int32", "int16", "uint8"):
        x = normal.astype(dtype)
        kind = x.dtype.type
        ours, theirs = best(
            lambda x=x: dp.sum(x, **loss),
            lambda x=x, kind=kind: np.clip(x, kind(lo), kind(hi)).sum(),
            rounds=3,
        )
        yield f"private sum, {n:.0e} {dtype}", ours, "`np.clip(x, lo, hi).sum()`", theirs
    ours, theirs = best(
        lambda: dp.mean(normal, **loss), lambda: np.clip(normal, lo, hi).mean(), rounds=3
    )
    yield f"private mean, {n:.0e} float64", ours, "`np.clip(x, lo, hi).mean()`", theirs
    ours, theirs = best(
        lambda: dp.variance(normal, **loss), lambda: np.clip(normal, lo, hi).var(), rounds=2
    )
    yield f"private variance, {n:.0e} float64", ours, "`np.clip(x, lo, hi).var()`", theirs
    some = normal[: n // 5]
    mask = some > 50
    ours, theirs = best(
        lambda: dp.sum(some, where=mask, **loss),
        lambda: np.clip(some[mask], lo, hi).sum(),
        rounds=3,
    )
    work = f"private sum of half the rows (`where`), {len(some):.0e} float64"
    yield work, ours, "`np.clip(x[mask], lo, hi).sum()`", theirs
    ours, theirs = best(
        lambda: dp.count(some, where=mask, epsilon=1.0),
        lambda: np.count_nonzero(mask),
        rounds=3,
    )
    yield f"private count of a mask, {len(some):.0e} rows", ours, "`np.count_nonzero`", theirs


def histograms(n):
    x = np.random.default_rng(0).normal(50.0, 12.0, n).clip(0, 100)
    edges = np.sort(np.random.default_rng(1).uniform(0, 100, 101))
    for dtype in ("float64", "float32", "int32", "uint8"):
        column = x.astype(dtype)
        ours, theirs = best(
            lambda c=column: dp.histogram(c, bins=100, bounds=BOUNDS, epsilon=1.0),
            lambda c=column: np.histogram(c, 100, BOUNDS),
            rounds=3,
        )
        yield f"private histogram, 100 bins, {n:.0e} {dtype}", ours, "`np.histogram`", theirs
    for count in (10, 100):
        own = edges[:: 100 // count]
        ours, theirs = best(
            lambda own=own: dp.histogram(x, bins=own, epsilon=1.0),
            lambda own=own: np.histogram(x, own),
            rounds=3,
        )
        work = f"private histogram, {count} bins of random widths, {n:.0e} float64"
        yield work, ours, "`np.histogram`", theirs
    pair = np.random.default_rng(2).normal(0.0, 1.0, (n // 10, 2))
    limits = [(-2, 2)] * 2
    ours, theirs = best(
        lambda: dp.histogram(pair, bins=20, bounds=limits, epsilon=1.0),
        lambda: np.histogram2d(*pair.T, 20, limits),
        rounds=2,
    )
    yield f"private histogram, 20 x 20 bins, {n // 10:.0e} rows", ours, "`np.histogram2d`", theirs


def responses(n):
    """Per answer, beside the random bits and the memory that they fill, and beside NumPy."""
    numpy, stream = np.random.default_rng(0), dp.rng.default_generator().stream()
    values = (10 * numpy.random(n) ** 2).astype(np.int64)
    calls = {
        "binary": (2, 1, lambda x: dp.response.binary(x, epsilon=1.0)),
        "10-ary": (10, 5, lambda x: dp.response.kary(x, categories=10, epsilon=1.0)),
    }
    for name, (k, each, call) in calls.items():
        rare = k / (np.e + k - 1)
        for dtype in ("uint8", "int32", "int64"):
            x = np.minimum(values, k - 1).astype(dtype)
            room = np.empty(1 << 18, np.uint8)

            def floor(each=each, dtype=dtype, room=room):
                np.empty(n, dtype).fill(1)
                for at in range(0, each * n, len(room)):
                    stream.fill(room[: each * n - at])

            ours, least, theirs = best(
                lambda call=call, x=x: call(x),
                floor,
                lambda x=x, k=k, rare=rare: np.where(
                    numpy.random(n) < rare, numpy.integers(0, k, n, dtype=x.dtype), x
                ),
                rounds=3,
            )
            work = f"randomized response, {name}, {dtype}, per answer"
            yield work, ours / n, "its random bits, and filling its array", least / n
            yield work, ours / n, "`np.where(random < p, integers, x)` (neither)", theirs / n
    x = values[: n // 16] % 16
    ours, least = best(
        lambda: dp.response.unary(x, categories=16, epsilon=1.0),
        lambda: stream.fill(np.empty(16 * len(x), np.uint8)),
        rounds=3,
    )
    bits = 16 * len(x)
    yield "randomized response, unary, per bit", ours / bits, "its random bits", least / bits


def robust(n):
    """Smooth sensitivities and propose-test-release beside the sort that the textbook asks for."""
    x = np.random.default_rng(0).normal(50.0, 12.0, n)
    given = {"bounds": BOUNDS}
    smooth = {"beta": 0.1, **given}
    test = {"proposed": 0.01, "epsilon": 1.0, "delta": 1e-9, **given}
    calls = {
        "smooth sensitivity of the median": lambda: dp.sensitivity.smooth_median(x, **smooth),
        "smooth sensitivity of a trimmed mean": (
            lambda: dp.sensitivity.smooth_trimmed_mean(x, **smooth)
        ),
        "smooth sensitivity of the interquartile range": (
            lambda: dp.sensitivity.smooth_iqr(x, **smooth)
        ),
        "propose-test-release of the median": lambda: dp.ptr.quantile(x, 0.5, **test),
        "propose-test-release of the interquartile range": (lambda: dp.ptr.iqr(x, **test)),
    }
    for name, call in calls.items():
        ours, theirs = best(call, lambda: np.sort(x), rounds=1)
        yield f"{name}, {n:.0e} float64", ours, "`np.sort`", theirs
    ours, theirs = best(lambda: dp.ptr.mean(x, **test), lambda: np.clip(x, *BOUNDS).mean())
    yield f"propose-test-release of the mean, {n:.0e} float64", ours, "`np.clip.mean`", theirs


def streams(n):
    """Queries and updates over a universe, over candidates, and beside a threshold."""
    g = np.random.default_rng(7)
    query, other, out = g.random(n), g.random(n), np.empty(n)
    weights = dp.online.PrivateMultiplicativeWeights(
        np.full(n, 100), epsilon=1, queries=1000, accuracy=0.3
    )
    ours, theirs = best(lambda: weights.answer(query), lambda: np.dot(query, other))
    yield f"multiplicative weights, a query, universe {n:.0e}", ours, "`np.dot`", theirs
    known = weights._weighted
    ours, theirs = best(lambda: known.move(1e-3, query, 24), lambda: np.exp(query, out=out))
    yield f"multiplicative weights, an update, universe {n:.0e}", ours, "`np.exp`", theirs
    median = dp.online.MedianMechanism(
        np.full(16, 10**6), epsilon=1, queries=1000, accuracy=0.2, size=8
    )
    even = np.where(np.arange(16) < 8, 0.25, 0.75)
    wide = np.ascontiguousarray(median._alive._counts.T, np.float32)
    single = even.astype(np.float32)
    ours, theirs = best(lambda: median.answer(even), lambda: wide @ single)
    yield f"median mechanism, a query, {len(wide):,} candidates", ours, "`counts @ query`", theirs
    values = g.integers(0, 200, n // 10)

    def asked():
        dp.online.SparseVector(positives=1, threshold=50_000, epsilon=1).answer_many(values)

    ours, theirs = best(asked, lambda: values + g.laplace(0, 50, len(values)) >= 50_000)
    each = len(values)
    label = "`Generator.laplace` and `>=` (neither exact nor secure)"
    yield "sparse vector, per value", ours / each, label, theirs / each
    universe, count, rounds = n // 100, 1_000, 30
    queries = g.integers(0, 2, (count, universe)).astype(np.float64)
    histogram = g.multinomial(10**7, g.dirichlet(np.ones(universe) / 50))
    ours, theirs = best(
        lambda: dp.online.MWEM(histogram, queries, rounds=rounds, epsilon=1),
        lambda: [queries @ out[:universe] for _ in range(rounds + 1)],
        rounds=2,
    )
    yield f"MWEM, universe {universe:.0e}, 1,000 queries, 30 rounds", ours, "its products", theirs


def noisy_sums(n):
    """Questions of a slice that has been paid for."""
    x = np.random.default_rng(0).uniform(0, 1, n)
    mask = np.random.default_rng(1).random(n) < 0.5
    sums = dp.sulq.NoisySums(x, rho=1, queries=1 << 12)
    loss = {"bounds": (0, 1)}
    for f in ("value", "square"):
        ours, floor = best(lambda f=f: sums.sum(f, **loss), lambda: np.sum(x))
        yield f"noisy sum, {f!r}, {n:.0e} float64", ours, "`np.sum`", floor
    ours, theirs = best(lambda: sums.sum("value", mask, **loss), lambda: x[mask].sum(), rounds=3)
    yield f"noisy sum of half the rows, {n:.0e} float64", ours, "`x[mask].sum()`", theirs


def clusters(n, d=8, k=16, iterations=5):
    """An iteration of k-means from given centres, and whole fits that find their own."""
    g = np.random.default_rng(0)
    data, centres = np.clip(g.normal(0.5, 0.2, (n, d)), 0, 1), g.uniform(0.3, 0.7, (k, d))
    if not importlib.util.find_spec("sklearn"):
        print("scikit-learn is not installed: left out", file=sys.stderr)
        return
    from sklearn.cluster import KMeans

    given = {"bounds": (0, 1), "rho": 1, "max_iter": iterations}
    lloyd = {"n_init": 1, "max_iter": iterations, "tol": 0, "algorithm": "lloyd"}
    ours, theirs, start = best(
        lambda: dp.sulq.KMeans(k, init=centres, **given).fit(data),
        lambda: KMeans(k, init=centres, **lloyd).fit(data),
        lambda: dp.sulq.KMeans(k, **given).fit(data),
        rounds=3,
    )
    work, rival = f"{n:.0e} x {d}, {k} centres", "Lloyd iteration of scikit-learn (not private)"
    yield f"private k-means, {work}, a round", ours / iterations, rival, theirs / iterations
    rival = f"{iterations} of them from given centres"
    yield f"private k-means, {work}, {iterations} rounds without centres", start, rival, theirs


def components(n):
    for d in (8, 64):
        x = np.clip(np.random.default_rng(0).normal(0.5, 0.1, (n, d)), 0, 1)
        ours, theirs = best(
            lambda x=x: dp.sulq.PCA(bounds=(0, 1), rho=1).fit(x),
            lambda x=x: np.linalg.eigh(x.T @ x),
        )
        yield f"private PCA, {n:.0e} x {d} float64", ours, "`X.T @ X` and `eigh`", theirs


def margins(n, d=8, rounds=5):
    """A round of the perceptron, on rows that no hyperplane has all right."""
    g = np.random.default_rng(0)
    x, w = np.clip(g.normal(0, 0.3, (n, d)), -1, 1), g.normal(size=d)
    y = np.where(x @ w + g.normal(0, 0.2, n) > 0, 1.0, -1.0)

    def numpy():
        own, bias = np.zeros(d), 0.0
        for t in range(1, rounds + 1):
            signs = np.where(y * (x @ own + bias) <= 0, y, 0.0)
            wrong = np.count_nonzero(signs)
            own, bias = own + signs @ x / (wrong * t), bias + signs.sum() / (wrong * t)

    for name, limits in (("in a box", {"bounds": (-1, 1)}), ("in a ball", {"radius": 1.5})):
        ours, theirs = best(
            lambda limits=limits: dp.sulq.Perceptron(rho=1, max_iter=rounds, **limits).fit(x, y),
            numpy,
        )
        work = f"private perceptron, rows {name}, {n:.0e} x {d} float64, a round"
        yield work, ours / rounds, "the same round by NumPy", theirs / rounds


def levels(n, d=8, values=4, depth=4):
    """A level of ID3: rows of each node, value and class of all columns."""
    g = np.random.default_rng(0)
    x = g.integers(0, values, (n, d))
    y = np.where(g.uniform(size=n) < 0.2, g.integers(0, values, n), (x[:, 2] + x[:, 5]) % values)
    nodes = [np.zeros(n, np.int64)]
    for a in range(depth):
        nodes.append(nodes[-1] * values + x[:, a])

    def numpy():
        for node in nodes[:-1]:
            base = (node * values + y) * values
            for a in range(d):
                np.bincount(base + x[:, a])
        np.bincount(nodes[-1] * values + y)

    given = {"classes": range(values), "rho": 1, "max_depth": depth, "criterion": "max"}
    for splits in ("exponential", "counts"):
        ours, theirs = best(
            lambda splits=splits: dp.sulq.ID3Classifier(range(values), splits=splits, **given).fit(
                x, y
            ),
            numpy,
            rounds=3,
        )
        work = f"private ID3, splits={splits!r}, {n:.0e} x {d} int64, a round"
        rival = "`np.bincount` of nodes that are handed over"
        yield work, ours / (depth + 1), rival, theirs / (depth + 1)


def questions(n):
    """Statistical queries of an oracle that has been paid for."""
    x = np.random.default_rng(0).uniform(0, 1, n)
    oracle = dp.sulq.StatisticalQueryOracle(x, tolerance=0.01, queries=1 << 12, rho=500, rows=n)
    ours, floor = best(lambda: oracle.ask("value", bounds=(0, 1)), lambda: np.mean(x))
    yield f"statistical query, 'value', {n:.0e} float64", ours, "`np.mean`", floor


def learners_of_rivals():
    """Whole fits; their errors are in the table of `benchmarks/learners.py`."""
    rival = rivals.load("diffprivlib")
    if rival is None:
        return
    for make in learners.CASES.values():
        for case in make(200_000, 1.0):
            ours, theirs = best(
                lambda case=case: case.ours(*case.large),
                lambda case=case: case.theirs(*case.large),
                rounds=1,
            )
            yield f"private {case.name}, 2e5 rows", ours, rivals.version(rival), theirs


def toolbox_of_rivals():
    data = np.random.default_rng(2).normal(50.0, 12.0, 1_000_000)
    ours = {
        "sum": lambda: dp.sum(data, bounds=BOUNDS, epsilon=1.0),
        "mean": lambda: dp.mean(data, bounds=BOUNDS, epsilon=1.0),
        "variance": lambda: dp.variance(data, bounds=BOUNDS, epsilon=1.0),
        "histogram": lambda: dp.histogram(data, bins=100, bounds=BOUNDS, epsilon=1.0),
    }
    truths = data > 50
    for name in rivals.NAMES:
        rival = rivals.load(name)
        if rival is None:
            continue
        for kind, call in ours.items():
            if hasattr(rival, kind):
                theirs = getattr(rival, kind)
                mine, other = best(call, lambda f=theirs: f(data, BOUNDS, 1.0), rounds=2)
                yield f"private {kind}, 1e6 float64", mine, rivals.version(rival), other
        if hasattr(rival, "response"):
            mine, other = best(
                lambda: dp.response.binary(truths, epsilon=1.0),
                lambda f=rival.response: f(truths[:2000], 1.0),
                rounds=2,
            )
            work = "randomized response, binary, per answer"
            yield work, mine / len(truths), rivals.version(rival), other / 2000


def selections_of_rivals():
    scores = np.random.default_rng(3).standard_normal(1_000_000) * 10
    kinds = {
        "noisy_max": dp.selection.exponential,
        "permute_and_flip": dp.selection.permute_and_flip,
    }
    for name in rivals.NAMES:
        rival = rivals.load(name)
        for kind, call in kinds.items():
            if rival is None or not hasattr(rival, kind):
                continue
            theirs = getattr(rival, kind)
            ours, other = best(
                lambda call=call: call(scores, sensitivity=1.0, epsilon=1.0),
                lambda theirs=theirs: theirs(scores, 1.0, 1.0),
                rounds=2,
            )
            words = call.__name__.replace("_", "-")
            yield f"{words}, 1e6 candidates from an array", ours, rivals.version(rival), other


def against_rivals():
    data = np.random.default_rng(2).normal(50.0, 12.0, 1_000_000)
    for name in rivals.NAMES:
        rival = rivals.load(name)
        if rival is None:
            print(f"{name} is not installed: left out", file=sys.stderr)
            continue
        label = rivals.version(rival)
        ours, theirs = best(
            lambda: dp.median(data, bounds=BOUNDS, epsilon=1.0),
            lambda rival=rival: rival.median(data, BOUNDS, 1.0),
            rounds=2,
        )
        yield "private median, 1e6 float64", ours, label, theirs
        ours, theirs = best(
            lambda: dp.noise.laplace(1.0, 1_000_000),
            lambda rival=rival: rival.laplace(1.0, 2000),
            rounds=2,
        )
        yield "exact Laplace noise, per sample", ours / 1e6, label, theirs / 2000


def small():
    data = np.random.default_rng(1).normal(50.0, 12.0, 100)
    many = range(200)
    ours, floor = best(
        lambda: [dp.median(data, bounds=BOUNDS, epsilon=1.0) for _ in many],
        lambda: [np.median(data) for _ in many],
    )
    yield "private median, 100 rows", ours / 200, "`np.median`", floor / 200


def table(n):
    rows = [
        *medians(n),
        *small(),
        *samples(10_000_000),
        *selections(10_000_000),
        *deciles(10_000_000),
        *aggregates(n),
        *totals(n),
        *histograms(n // 2),
        *responses(n // 5),
        *robust(n // 5),
        *streams(n // 5),
        *noisy_sums(n // 5),
        *clusters(n // 50),
        *components(n // 50),
        *margins(n // 50),
        *levels(n // 50),
        *questions(n // 5),
        *against_rivals(),
        *selections_of_rivals(),
        *toolbox_of_rivals(),
        *learners_of_rivals(),
    ]
    lines = [
        f"| {work} | {show(ours)} | {label} | {show(other)} | {ours / other:.2g} |"
        for work, ours, label, other in rows
    ]
    note = (
        "Best of several rounds in one run, one thread unless it says how many, "
        f"{os.cpu_count()} cores, {processor()}, instruction set {dp._kernels.rng.isa()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}; written by "
        "`benchmarks/report.py`."
    )
    return lines, note


def processor():
    """Its name where the system tells it, for NumPy has vector code for some only."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return ", ".join([platform.machine(), *names[:1]])


def is_headline(line):
    work, _, label = (cell.strip() for cell in line.split("|")[1:4])
    return any(fnmatch.fnmatchcase(work, a) and fnmatch.fnmatchcase(label, b) for a, b in HEADLINES)


def put(path, lines, note):
    """Rewrite the table between the two marks of a file."""
    head = ["| work | dpfast | beside it | | ratio |", "|---|---:|---|---:|---:|"]
    text = "\n".join([*head, *lines, "", note])
    new, count = re.subn(
        r"(<!-- speed -->\n).*?(<!-- /speed -->)",
        lambda m: f"{m[1]}{text}\n{m[2]}",
        path.read_text(encoding="utf-8"),
        flags=re.S,
    )
    if count != 1:
        sys.exit(f"{path.name} has no pair of <!-- speed --> marks")
    path.write_text(new, encoding="utf-8")


def write(lines, note):
    """Put all rows into the page, and the headlines into the README."""
    put(ROOT / "docs" / "guide" / "speed.md", lines, note)
    link = "[All rows](docs/guide/speed.md)."
    put(ROOT / "README.md", [line for line in lines if is_headline(line)], f"{note} {link}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--write", action="store_true", help="rewrite the tables")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    lines, note = table(options.rows)
    print("\n".join([*lines, "", note]))
    if options.write:
        write(lines, note)
