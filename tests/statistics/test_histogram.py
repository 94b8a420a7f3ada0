"""Histograms: bins beside the plain twin and NumPy, forms, errors."""

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast._kernels.statistics import MOST_CELLS, Axis, tally
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError
from dpfast.noise.calibrated_integer import IntegerNoise, integer_noise
from dpfast.privacy import Draws
from dpfast.rng import InsecureGenerator
from dpfast.statistics import histogram as room
from dpfast.statistics.histogram import histogram, of_weights
from dpfast.tables.memory import MemoryRows

from ..reference.statistics import histogram as reference
from ..summaries.test_quantise import DTYPES, sample
from ..support.pairwise import every_value, quick_rows
from ..support.refused import refused
from ..support.views import prepared, replaced

EDGES = {
    "even": np.linspace(-100, 100, 41), "odd width": np.linspace(0.1, 0.7, 8),
    "uneven": np.array([-128.0, -5, -4.5, 0, 1e-300, 3, 100, 1e9, 1e308]),
    "clustered": np.array([0.0, *(1 + 2.0**-52 * np.arange(50)), 1e15]),
    "twenty": np.linspace(-60, 60, 21), "thirty": np.linspace(-99, 60.5, 31),
    "one": np.array([-0.5, 0.5]), "many": np.linspace(-130, 130, 3001),
    "far": 2.0**60 + 256 * np.arange(9),
}  # fmt: skip


def plain(edges):
    return Axis(edges[:-1].copy(), edges[-1], len(edges) - 1, False)


def exactly(categories):
    return Axis(categories, categories[-1], 4 * len(categories), True)


def counted(axis, values):
    counts = np.zeros(axis.bins + 1, np.int64)
    axis.histogram(values, counts)
    return counts.tolist()


def twin(values, edges, exact=False):
    found = reference.counts([[x] for x in values.tolist()], [edges.tolist()], exact)
    bins = len(edges) - (not exact)
    return [found.get((k,), 0) for k in range(bins)] + [found.get((), 0)]


def around(edges, dtype):
    kind = np.dtype(dtype)
    values = sample(500, dtype)
    if kind.kind == "f":
        near = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
        with np.errstate(over="ignore"):
            values = np.concatenate([values, near.astype(kind)])
    return values


@every_value
@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_bins_beside_the_plain_twin(name, dtype):
    edges = EDGES[name]
    values = around(edges, dtype)
    expected = twin(values, edges)
    for cells in [1, len(edges) - 1, 4 * len(edges), 1000]:
        axis = Axis(edges[:-1].copy(), edges[-1], cells, False)
        assert counted(axis, values) == expected
        place = np.zeros(len(values), np.uint32)
        axis.place(values, 1, place)
        counts = np.zeros(axis.bins + 1, np.int64)
        tally(place, counts)
        assert counts.tolist() == expected
    for numbers in [[0.0], [-3.0, -2, 0, 0.5, 7], np.arange(-128.0, 128), [0.0, 1e300]]:
        categories = np.array(numbers)
        axis, values = exactly(categories), around(categories, dtype)
        assert counted(axis, values) == twin(values, categories, exact=True)


@quick_rows(3, full=40)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bins", [1, 2, 15, 16, 17, 24, 25, 32, 33, 300])
def test_few_and_many_bins(bins, dtype):
    """Comparisons, counts of each integer, and searches, which take turns as bins grow."""
    values = np.concatenate([sample(4000, dtype, bins), np.arange(100).astype(dtype)])
    for lo, hi in [(-60, 60), (-0.5, 1022.5), (-0.5, 1023.5), (-700, 700), (20, 24)]:
        edges = np.linspace(lo, hi, bins + 1)
        assert counted(plain(edges), values) == twin(values, edges)
    categories = np.arange(float(bins))
    assert counted(exactly(categories), values) == twin(values, categories, exact=True)


def tight(count):
    """Edges between float32s, on them, several below one, and beyond all of them."""
    rng = np.random.default_rng(count)
    edges = np.unique(rng.normal(0, 30, count + 9))
    edges[: count // 3] = np.rint(edges[: count // 3] * 64) / 64
    edges = np.unique(np.concatenate([edges, 1 + 1e-12 * np.arange(3), [-1e300, -1e-300, 1e300]]))
    return np.delete(edges, rng.choice(len(edges), len(edges) - count, replace=False))


@quick_rows(6)
@pytest.mark.parametrize("dtype", ["<f4", "<f8"])
@pytest.mark.parametrize("count", [26, 63, 64, 65, 127, 128, 129, 130, 255, 256, 257, 258])
def test_edges_that_fill_registers(count, dtype):
    """A search in registers has room for 127 or 255 edges; categories take two each."""
    edges = tight(count)
    assert len(edges) == count
    values = np.concatenate([around(edges, dtype), [math.inf, -math.inf, math.nan, -0.0]])
    values = np.tile(values.astype(dtype), 5)[: 4099 + count % 16]
    assert counted(plain(edges), values) == twin(values, edges)
    assert counted(exactly(edges), values) == twin(values, edges, exact=True)
    # Planted: bins by multiplication alone. The rows above, next to edges, tell them from these.
    edges = EDGES["odd width"]
    values = around(edges, "<f8")
    values = values[(values >= edges[0]) & (values < edges[-1])]
    guess = np.minimum(((values - edges[0]) * (7 / (edges[-1] - edges[0]))).astype(int), 6)
    assert np.bincount(guess, minlength=7).tolist() != twin(values, edges)[:-1]


def test_what_a_kernel_refuses():
    edges, counts = np.array([0.0, 1.0]), np.zeros(3, np.int64)
    axis = Axis(edges, 2.0, 4, False)
    for call, text in (
        *((partial(Axis, np.array(bad), 5.0, 4, False), r"at least one bin|ascend")
          for bad in ([], [1.0, 0.0], [0.0, 0.0], [0.0, math.nan])),
        *((partial(Axis, edges, hi, 4, False), "hi must lie") for hi in (0.5, math.inf, math.nan)),
        (partial(axis.histogram, np.zeros(1), counts[:2]), "one number more"),
        (partial(axis.histogram, np.zeros(4)[::2], counts), "contiguous native"),
        (partial(axis.place, np.zeros(2), 1, np.zeros(1, np.uint32)), "as long as"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            call()


def recorded(data, **kw):
    asked = []

    class Silent(IntegerNoise):
        def draw(self, size, generator):
            return np.zeros(size, np.int64)

    def silent(loss, sensitivity):
        asked.append((sensitivity.l1, sensitivity.l2_squared, sensitivity.l0))
        return Silent("laplace", 1, 0, loss)

    with replaced(room, "integer_noise", silent):
        counts, edges = histogram(data, **{"neighbors": "replace", "epsilon": 1, **kw})
    assert len(set(asked)) == 1  # what is charged is what is drawn
    return asked[0], counts, edges


def test_without_noise_it_is_the_histogram_of_numpy():
    values = np.random.default_rng(0).integers(-3, 9, 3000).astype(float)
    for where in (None, values > 0):
        kept = values if where is None else values[where]
        expected, edges = np.histogram(kept, 5, (0, 7))
        for kw, due, ends in (
            ({"bins": 5, "bounds": (0, 7)}, expected, edges),
            ({"bins": edges.tolist()}, expected, edges),
            ({"categories": [0, 2, 2.5]}, [(kept == 0).sum(), (kept == 2).sum(), 0], [0, 2, 2.5]),
        ):
            _, counts, found = recorded(values, where=where, **kw)
            assert counts.tolist() == list(due) and found.tolist() == list(ends)
    nulls, where = pa.array([1.0, None, 3.0, math.nan, 1.5]), np.arange(5) > 0
    assert recorded(nulls, bins=[0, 2, 4])[1].tolist() == [2, 1]
    assert recorded(nulls, bins=[0, 2, 4], where=where)[1].tolist() == [1, 1]
    given = {"bins": 4, "bounds": (0, 1), "epsilon": 1, "neighbors": "replace", "delta": 1e-9}
    # A replaced row leaves a bin for another.
    assert prepared(dp.histogram, np.zeros(3), **given)[0].loss == Draws(1, 2, cells=1)


def test_several_columns():
    data = np.random.default_rng(1).normal(0, 1, (20_000, 3))
    data[5, 1] = math.nan
    edges = [np.linspace(-2, 2, 5), np.array([-1.0, 0.5, 3.0]), np.linspace(0, 1, 4)]
    there, where = ~np.isnan(data[:, 1]), data[:, 0] > 0
    _, counts, found = recorded(data, bins=[e.tolist() for e in edges])
    assert (counts == np.histogramdd(data[there], edges)[0]).all() and counts.shape == (4, 2, 3)
    assert all((f == e).all() for f, e in zip(found, edges, strict=True))
    masked = np.histogramdd(data[where & there], edges)[0]
    assert (recorded(data, bins=edges, where=where)[1] == masked).all()
    bounds = [(-1, 1), (0, 1), (0, 2)]
    even = recorded(data, bins=2, bounds=bounds)[1]
    assert (even == np.histogramdd(data[there], 2, bounds)[0]).all()
    assert recorded(data[:, :2], bins=[3, [0, 1]], bounds=bounds[:2])[1].shape == (3, 1)
    whole = np.rint(data[:, :2])
    both = recorded(whole, categories=[[-1, 0, 1], [0, 1]])[1]
    assert both[1, 0] == (whole == 0).all(axis=1).sum()


@pytest.mark.parametrize(("kw", "words"), [
    ({}, "bins must be given"), ({"bins": [-1e308, 1e308]}, "bins"), ({"bins": 3}, "bounds"),
    ({"bins": 3, "categories": [1]}, "bins must be given, or categories instead: for"),
    ({"categories": [1], "bounds": (0, 1)}, "bounds"),
    ({"bins": MOST_CELLS + 1, "bounds": (0, 1)}, "bins must be at most"),
    ({"bins": 8, "bounds": (1, 1)}, "far enough apart for 8 bins"),
    ({"categories": ["a", "b"]}, "data must be a one-dimensional column of text"),
    ({"categories": ["\ud800"]}, "UTF-8"), ({"categories": [True, False]}, "ascending"),
    ({"categories": [["a"], ["b"]]}, "one for each column of the data, 1"),
    *(({"categories": own, "bins": bins}, "one of the two") for own, bins in (
        ([["a"], None], [None, None]), ([["a"], [1]], [None, 2]), (["a"], 3),
        ([["a"], None], [None]))),
    ({"categories": [None], "bins": [3]}, "known without looking"),
    ({"categories": [None], "bins": [3], "bounds": (0, 1)}, "given for 1 axes"),
    ({"categories": [[1]], "bins": [None], "bounds": [(0, 1)]}, "or None, with categories"),
    ({"bins": 2, "bounds": [(0, 1), (0, 1)]}, "one for each"),
    ({"bins": [2, 2, 2], "bounds": [(0, 1), (0, 1)]}, "axes"),
    ({"bins": [1 << 20] * 2, "bounds": [(0, 1)] * 2}, "in total"),
    *(({"bins": [0, 1], **own}, "weight_bounds must be given") for own in (
        {"weights": np.ones(3)}, {"weight_bounds": (0, 1)})),
    ({"bins": [0, 1], "weights": np.ones((3, 2)), "weight_bounds": (0, 1)}, "weights must be"),
])  # fmt: skip
def test_bad_arguments_cost_nothing(kw, words):
    refused(histogram, words, data=np.zeros(3), **{"epsilon": 0.5, **kw})


WORDS = ["no", "yes", "", "naïve", "no way", "日本"]
ROWS = [*WORDS[1:], "other", "No", "yes ", None] * 40 + ["no"] * 3


def tally_of(rows, words):
    return [sum(row == word for row in rows) for word in words]


def text_forms(rows):
    """The same text in everything that holds some and is not in the battery."""
    column, plain = pa.array(rows), np.array(["" if row is None else row for row in rows])
    mask = [row is None for row in rows]
    pieces = [column[i : i + 1].dictionary_encode() for i in range(9)]
    words = pa.array([*WORDS, "other", "No", "yes ", None])
    places = pa.array([words.to_pylist().index(row) for row in rows])
    encoded = np.array([row.encode() for row in plain])
    return {
        "list": rows, "odd objects": np.array([[1, "yes"] if m else row for row, m in
                                               zip(rows, mask, strict=True)], object),
        "numpy": np.ma.array(plain, mask=mask),
        "strided": np.ma.array(np.repeat(plain, 2)[::2].astype(">U8"), mask=mask),
        "bytes of numpy": np.ma.array(encoded, mask=mask),
        "chunked": pa.chunked_array([column[:7], column[7:7], column[7:]]),
        "large": column.cast(pa.large_string()), "view": column.cast(pa.string_view()),
        "bytes": column.cast(pa.binary()), "dictionary": column.dictionary_encode(),
        "byte objects": [None if row is None else row.encode() for row in rows],
        "sliced dictionary": pa.concat_arrays([column] * 2).dictionary_encode()[len(rows) :],
        "short pieces": pa.chunked_array([*pieces, column[9:].dictionary_encode()]),
        "null word": pa.DictionaryArray.from_arrays(places, words),
        "pandas objects": pd.Series(rows, dtype=object),
        "categorical": pd.Series(rows, dtype="category"),
    }  # fmt: skip


@every_value
@pytest.mark.parametrize("form", text_forms(ROWS))
@pytest.mark.parametrize("masked", [False, True])
def test_text_in_every_form(form, masked, monkeypatch):
    monkeypatch.setattr(MemoryRows, "BUFFER", 1 << 10)  # 128 rows
    data, where = text_forms(ROWS)[form], np.arange(len(ROWS)) % 3 > 0 if masked else None
    kept = [row for i, row in enumerate(ROWS) if where is None or where[i]]
    asked, counts, words = recorded(data, categories=WORDS, where=where)
    assert counts.tolist() == tally_of(kept, WORDS)
    assert words.tolist() == WORDS and asked == (2, 2, 2)
    turned = recorded(data, categories=WORDS[::-1], where=where)[1]
    assert turned.tolist() == tally_of(kept, WORDS[::-1])
    assert recorded({"x": data}, categories=[WORDS], where=where)[1].tolist() == counts.tolist()
    # The control: the forms hold words that differ in blanks and in case only.
    folded = [None if row is None else row.strip().lower() for row in kept]
    assert tally_of(folded, WORDS) != tally_of(kept, WORDS)


def test_text_is_text_and_nothing_else_is():
    class Text(str):
        __hash__ = None

    data = ["a", ["a"], Text("a"), {}, np.str_("a"), b"a", 1, None]
    assert recorded(data, categories=["a", "b"])[1].tolist() == [4, 0]
    for none in [[1.0, None], pa.nulls(3), pa.array([], pa.string())]:
        assert recorded(none, categories=["a", "b"])[1].tolist() == [0, 0]
    for other in [np.zeros((2, 2, 2), "U1"), pa.array([1]), pd.Series([1]), {"x": np.ones(1)}]:
        with pytest.raises((ArgumentTypeError, ArgumentError), match=r"data must be"):
            histogram(other, categories=["a"], epsilon=1, neighbors="replace")


def test_text_of_files(tmp_path):
    rows = [row or "other" for row in ROWS]  # an empty cell of a text file is missing
    number = np.arange(len(rows)) % 7
    table = pa.table({"x": rows, "y": number})
    coded = table.set_column(0, "x", table["x"].dictionary_encode())
    paths = [tmp_path / name for name in ("plain.pq", "t.feather", "coded.arrow", "t.csv")]
    pq.write_table(table, paths[0], use_dictionary=False, row_group_size=100)
    pa.feather.write_feather(table, paths[1], compression="zstd")
    pa.feather.write_feather(coded, paths[2], compression="uncompressed")
    pa.csv.write_csv(table, paths[3])
    some = [row for row, own in zip(rows, number > 2, strict=True) if own]
    for path in paths:
        words = [word for word in WORDS if word or path.suffix != ".csv"]  # where "" is missing
        one, both = dp.scan(path, "x"), dp.scan(path, ["y", "x"])
        found = recorded(one, categories=words, where=number > 2)[1].tolist()
        assert found == tally_of(some, words)
        kw = {"categories": [None, words], "bins": [3, None], "bounds": [(0, 6), None]}
        _, counts, edges = recorded(both, **kw)
        exact = np.histogram(number[[row == "yes" for row in rows]], 3, (0, 6))[0]
        assert counts.sum(axis=0).tolist() == tally_of(rows, words)
        assert counts[:, 1].tolist() == exact.tolist() and edges[1].tolist() == words
        if path.suffix != ".csv":  # whose cells are text before they are anything else
            with pytest.raises(SourceError, match=r"column 'y' of .* must hold text"):
                histogram(dp.scan(path, "y"), categories=["1"], epsilon=1)
    with pytest.raises(ArgumentError, match="one for each column of the data, 2"):
        histogram(both, categories=words, epsilon=1)
    digits = recorded(dp.scan(paths[-1], "y"), categories=["1", "01", "6"])[1]
    assert digits.tolist() == [np.count_nonzero(number == 1), 0, np.count_nonzero(number == 6)]


def test_text_of_npy(tmp_path):
    records = np.array([("a", 1), ("b", 2), ("a", 3), ("c", 4)], [("name", "U5"), ("age", "i4")])
    np.save(tmp_path / "t.npy", records)
    name, age, both = (dp.scan(tmp_path / "t.npy", own) for own in ("name", "age", ["name", "age"]))
    assert "name" in repr(name) and name.length == 4
    assert recorded(name, categories=["a", "c"])[1].tolist() == [2, 1]
    kw = {"categories": [["a", "c"], None], "bins": [None, [0, 2, 5]]}
    for data in (both, records):
        assert recorded(data, **kw)[1].tolist() == [[1, 1], [0, 1]]
    for data, words, text in (
        (age, ["a"], r"column 'age' of t\.npy must hold text"),
        (both, [[1.0], ["a"]], "must hold integers"),
    ):
        with pytest.raises(SourceError, match=text):
            histogram(data, categories=words, epsilon=1, neighbors="replace")


def test_sums_of_weights_are_those_of_numpy():
    edges, clipped, where = np.linspace(0, 100, 8), np.clip(W, -1, 4), X > 30
    due = np.histogram(X, edges, weights=clipped)[0]
    for data, weights in ((X, W), (pa.array(X), W.astype("f4")), ({"x": X, "w": W}, "w")):
        assert exact(data, weights, **BINS)[0].tolist() == due.tolist()
    found = exact(X, W, where=where, **BINS)[0]
    assert found.tolist() == np.histogram(X[where], edges, weights=clipped[where])[0].tolist()
    missing = np.array([1.0, 2, math.nan, 3]), np.array([1.0, math.nan, 2, 0.5])
    assert exact(*missing, bins=[0, 2, 4])[0].tolist() == [1.0, 0.5]  # in no bin
    two = {"bins": [3, 2], "bounds": [(0, 100), (-1, 5)]}
    both = dp.histogram({"x": X, "y": W, "w": W}, weights="w", **two, epsilon=500, **LIMITS)[0]
    right = np.histogram2d(X, W, two["bins"], two["bounds"], weights=clipped)[0]
    words = np.array(["a", "b"])[(X > 40).astype(int)]
    found, labels = dp.histogram(words, categories=["b", "a"], weights=W, epsilon=500, **LIMITS)
    sums = [clipped[words == one].sum() for one in labels]
    # Fails by chance: 16 exp(-25) < 3e-10.
    assert both.shape == (3, 2) and np.abs(both - right).max() < 0.2 > np.abs(found - sums).max()


@pytest.mark.parametrize("place", [11, -1])
@pytest.mark.parametrize("words", [["yes", "no"], ["yes", "no", *map(str, range(9))]])
def test_text_that_stands_in_no_dictionary_is_an_answer(place, words):
    places = pa.array([0, 1, place], pa.int32())
    data = pa.DictionaryArray.from_arrays(places, pa.array(words), safe=False)
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="must have only indices of its dictionary") as caught:
        histogram(data, categories=WORDS, epsilon=1, budget=budget, neighbors="replace")
    assert caught.value.__context__ is None and budget.remaining["epsilon"] == 0


def test_truth_values():
    rows = np.array([True, False, True, True])
    for form in [rows, rows.tolist(), pa.array(rows), rows.astype(float)]:
        _, counts, found = recorded(form, categories=[False, True])
        assert counts.tolist() == [1, 3] and found.dtype == np.bool_
    assert recorded(rows, categories=[True])[1].tolist() == [3]
    both = recorded({"t": rows, "s": ["a", "b", "a", "b"]}, categories=[[False, True], ["a", "b"]])
    assert both[1].tolist() == [[0, 1], [2, 1]]


RNG = np.random.default_rng(17)
X = RNG.normal(40, 20, 3000)
W = RNG.integers(-8, 40, 3000) / 8
LIMITS = {"weight_bounds": (-1, 4)}
BINS = {"bins": 7, "bounds": (0, 100)}
RELATIONS = ["replace", "add-remove"]


def exact(data, weights, **kw):
    kw = {**LIMITS, **kw}
    made, rows = prepared(dp.histogram, data, weights=weights, epsilon=1, **kw)
    return made.reduce(rows) * made.cells.grid, made


def farthest(sums, rows, relation):
    """The largest L1, squared L2 and L-infinity norm of what a row moves, beside other rows."""
    found = [sums(row) for row in rows]
    if relation == "replace":
        pairs = itertools.combinations(found, 2)
    else:
        pairs = ((one, sums()) for one in found)
    moves = np.array([np.abs(a - b) for a, b in pairs])
    return moves.sum(axis=1).max(), (moves**2).sum(axis=1).max(), moves.max()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("limits", [(-1, 4), (2, 3), (-5, 5), (0, 1), (-3, -1)])
def test_no_neighbor_moves_further_than_the_noise_is_made_for(relation, limits):
    kw = {"bins": [0, 1, 2], "weight_bounds": limits, "neighbors": relation}
    made = exact(np.array([0.5]), np.array([0.0]), **kw)[1]

    def sums(*rows):
        data, weights = np.array([*rows, (0.5, 0.25)]).T
        return exact(data, weights, **kw)[0] / made.cells.grid

    rows = itertools.product((0.5, 1.5, 9.0, math.nan), (*limits, 0, 1e300, math.nan))
    said = of_weights(made.cells, relation)
    assert made.noise == integer_noise(made.loss, said)
    assert farthest(sums, rows, relation) == (said.l1, said.l2_squared, said.linf)
    # Planted: a histogram of rows, in cells of 1, and twice the square of a move of one bin.
    assert said.l1 > (2 if relation == "replace" else 1)
    if relation == "replace" and limits == (-5, 5):
        assert said.l2_squared > 2 * max(map(abs, (made.cells.first, made.cells.last))) ** 2


def test_answers_lie_on_a_public_grid_and_do_not_wrap():
    found = dp.histogram(X, weights=W, epsilon=1, **BINS, **LIMITS)[0]
    grid = exact(X, W, **BINS)[1].cells.grid
    assert all(Fraction(one) % Fraction(grid) == 0 for one in found.tolist())
    huge, _ = exact(np.full(9, 0.5), np.full(9, 2.0**50), bins=[0, 1], weight_bounds=(0, 2.0**50))
    assert huge.tolist() == [9 * 2.0**50]
    low, made = exact(np.full(9, 0.5), np.full(9, 1001.5), bins=[0, 1], weight_bounds=(1000, 1002))
    assert low[0] == pytest.approx(9 * 1001.5, abs=9 * made.cells.grid)


def test_noise_of_many_units_does_not_wrap():
    """Laplace noise of scale 2e9, of which one answer in a hundred is beyond 2**33."""
    asked = {"bins": 4000, "bounds": (0, 1), "weights": [1.0], "weight_bounds": (0, 1)}
    rng = InsecureGenerator(1)
    found, _ = dp.histogram([0.0], **asked, epsilon=1e-9, neighbors="replace", rng=rng)
    assert 1.2e10 < np.abs(found).max() < 3e10


def test_equal_parts_of_chunks_merge(monkeypatch):
    from dpfast.statistics.histogram import _WeightSums
    from dpfast.summaries.units import CARRY

    half = np.array([[2**63, 5], [7, 7]], np.uint64)  # the last is of rows in no bin
    both = _WeightSums(half.copy(), 1).merge(_WeightSums(half.copy(), 2))
    assert both.totals[:-1].tolist() == [[0, 10 + (1 << CARRY)]] and both.read == 3
    with dp.threads(3):
        many = exact(np.tile(X, 200), np.tile(W, 200), **BINS)[0]
    assert many.tolist() == (200 * exact(X, W, **BINS)[0]).tolist()


EACH = np.arange(200)


@pytest.mark.parametrize("more", [
    {}, {"weights": np.ones(200) / 2, "weight_bounds": (0, 1)}, {"ids": EACH // 4, "max_rows": 4},
], ids=["rows", "weights", "people"])  # fmt: skip
def test_the_record_has_the_deviation_of_the_noise(more):
    given = {"bins": np.arange(51), "neighbors": "add-remove", "rho": 0.125, **more}
    record = dp.extend.prepare(dp.histogram, EACH % 50, **given).to_record().to_dict()
    seeds = map(InsecureGenerator, range(50))
    counts = np.array([histogram(EACH % 50, **given, rng=seed)[0] for seed in seeds])
    assert record["noise"]["deviation"] == pytest.approx(counts.std(), rel=0.08)
