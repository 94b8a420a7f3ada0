"""Histograms: bins beside the plain twin and NumPy, forms, errors."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpfast as dp
from dpfast._kernels.statistics import MOST_CELLS, Axis, tally
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError, SourceError
from dpfast.noise.calibrated_integer import IntegerNoise
from dpfast.privacy import Draws
from dpfast.statistics import histogram as room
from dpfast.statistics.histogram import histogram
from dpfast.tables import Chunk
from dpfast.tables.memory import MemoryRows

from ..reference.statistics import histogram as reference
from ..summaries.test_quantise import DTYPES, sample
from ..support.pairwise import every_value, quick_rows
from ..support.paths import on_every_path
from ..support.views import replaced
from .test_totals import Stream

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

EDGES = {
    "even": np.linspace(-100, 100, 41),
    "odd width": np.linspace(0.1, 0.7, 8),
    "uneven": np.array([-128.0, -5, -4.5, 0, 1e-300, 3, 100, 1e9, 1e308]),
    "clustered": np.array([0.0, *(1 + 2.0**-52 * np.arange(50)), 1e15]),
    "twenty": np.linspace(-60, 60, 21),
    "thirty": np.linspace(-99, 60.5, 31),
    "one": np.array([-0.5, 0.5]),
    "many": np.linspace(-130, 130, 3001),
    "far": 2.0**60 + 256 * np.arange(9),
}


def plain(edges):
    return Axis(edges[:-1].copy(), edges[-1], len(edges) - 1, False)


def counted(axis, values):
    counts = np.zeros(axis.bins + 1, np.int64)
    axis.histogram(values, counts)
    return counts.tolist()


def twin(values, edges, exact=False):
    found = reference.counts([[x] for x in values.tolist()], [edges.tolist()], exact)
    bins = len(edges) - (not exact)
    return [found.get((k,), 0) for k in range(bins)] + [found.get((), 0)]


def around(edges, dtype):
    """Edges, and the numbers next to them, among other values."""
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


@pytest.mark.parametrize("dtype", DTYPES)
def test_categories_beside_the_plain_twin(dtype):
    for numbers in [[0.0], [-3.0, -2, 0, 0.5, 7], list(np.arange(-128.0, 128)), [0.0, 1e300]]:
        categories = np.array(numbers)
        values = around(categories, dtype)
        axis = Axis(categories, categories[-1], 4 * len(categories), True)
        assert counted(axis, values) == twin(values, categories, exact=True)


@pytest.mark.parametrize("bins", [1, 3, 10, 64, 1000, 1025, 50_000])
@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-1.7, 0.3), (1e6, 1e6 + 1)])
def test_the_same_counts_as_numpy(bins, bounds):
    rng = np.random.default_rng(bins)
    values = rng.uniform(bounds[0] - 0.1, bounds[1] + 0.1, 20_000)
    edges = np.linspace(*bounds, bins + 1)
    values[:2000] = rng.choice(edges, 2000)
    expected, _ = np.histogram(values, edges)
    assert counted(plain(edges), values)[:-1] == expected.tolist()


@quick_rows(3)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bins", [1, 2, 15, 16, 17, 24, 25, 32, 33, 300])
def test_few_and_many_bins(bins, dtype):
    """Comparisons, counts of each integer, and searches, which take turns as bins grow."""
    values = np.concatenate([sample(4000, dtype, bins), np.arange(100).astype(dtype)])
    for lo, hi in [(-60, 60), (-0.5, 1022.5), (-0.5, 1023.5), (-700, 700), (20, 24)]:
        edges = np.linspace(lo, hi, bins + 1)
        assert counted(plain(edges), values) == twin(values, edges)
    categories = np.arange(float(bins))
    axis = Axis(categories, categories[-1], 4 * bins, True)
    assert counted(axis, values) == twin(values, categories, exact=True)


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
    axis = Axis(edges, edges[-1], 4 * count, True)
    assert counted(axis, values) == twin(values, edges, exact=True)


def test_a_planted_fault_is_caught():
    """Bins by multiplication alone: the rows above, next to edges, tell them from bins by edges."""
    edges = EDGES["odd width"]
    values = around(edges, "<f8")
    values = values[(values >= edges[0]) & (values < edges[-1])]
    guess = np.minimum(((values - edges[0]) * (7 / (edges[-1] - edges[0]))).astype(int), 6)
    assert np.bincount(guess, minlength=7).tolist() != twin(values, edges)[:-1]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=9, unique=True),
    st.lists(st.floats(), max_size=20),
    st.integers(1, 50),
)
def test_any_edges(numbers, values, cells):
    edges = np.array(sorted(set(numbers)))
    if len(edges) < 2 or not math.isfinite(float(edges[-1]) - float(edges[0])):
        return
    data = np.array([*values, *edges])
    axis = Axis(edges[:-1].copy(), edges[-1], cells, False)
    assert counted(axis, data) == twin(data, edges)


def test_what_a_kernel_refuses():
    edges = np.array([0.0, 1.0])
    for bad in [edges[:0], edges[::-1].copy(), np.array([0.0, 0.0]), np.array([0.0, math.nan])]:
        with pytest.raises(ValueError, match=r"at least one bin|ascend"):
            Axis(bad, 5.0, 4, False)
    for hi in [0.5, math.inf, math.nan]:
        with pytest.raises(ValueError, match="hi must lie"):
            Axis(edges, hi, 4, False)
    axis = Axis(edges, 2.0, 4, False)
    with pytest.raises(ValueError, match="one number more"):
        axis.histogram(np.zeros(1), np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="contiguous native"):
        axis.histogram(np.zeros(4)[::2], np.zeros(3, np.int64))
    with pytest.raises(ValueError, match="as long as"):
        axis.place(np.zeros(2), 1, np.zeros(1, np.uint32))


PROBE = """
import json
import numpy as np
from dpfast._kernels.statistics import Axis
from tests.statistics.test_histogram import DTYPES, EDGES, around, counted, plain, tight
made = [*EDGES.values(), *map(tight, [127, 128, 255, 256])]
exact = lambda edges: Axis(edges, edges[-1], len(edges), True)
print(json.dumps([counted(axis(edges), around(edges, dtype))
                  for edges in made for dtype in DTYPES for axis in [plain, exact]]))
"""


@pytest.mark.full
def test_every_instruction_set_gives_the_same():
    assert json.loads(on_every_path(PROBE))


# ---- The release ----


def recorded(data, **kw):
    """What noise is calibrated to, and the counts without any."""
    asked = []

    class Silent(IntegerNoise):
        def draw(self, size, generator):
            return np.zeros(size, np.int64)

    def integer_noise(loss, sensitivity):
        asked.append((sensitivity.l1, sensitivity.l2_squared, sensitivity.l0))
        return Silent("laplace", room.integer_noise.__wrapped__, 0, loss)

    integer_noise.__wrapped__ = 1
    with replaced(room, "integer_noise", integer_noise):
        counts, edges = histogram(data, **{"neighbors": "replace", "epsilon": 1, **kw})
    assert len(set(asked)) == 1  # what is charged is what is drawn
    return asked[0], counts, edges


def test_without_noise_it_is_the_histogram_of_numpy():
    values = np.random.default_rng(0).integers(-3, 9, 3000).astype(float)
    for where in (None, values > 0):
        kept = values if where is None else values[where]
        expected, edges = np.histogram(kept, 5, (0, 7))
        for bins in ({"bins": 5, "bounds": (0, 7)}, {"bins": edges.tolist()}):
            _, counts, found = recorded(values, where=where, **bins)
            assert counts.tolist() == expected.tolist() and found.tolist() == edges.tolist()
        _, counts, found = recorded(values, where=where, categories=[0, 2, 2.5])
        assert counts.tolist() == [(kept == 0).sum(), (kept == 2).sum(), 0]
        assert found.tolist() == [0, 2, 2.5]


def test_delta_is_left_where_laplace_noise_is_less():
    budget = dp.Budget(epsilon=1, delta=1e-6)
    histogram(
        np.zeros(3),
        bins=4,
        bounds=(0, 1),
        epsilon=1,
        delta=1e-9,
        budget=budget,
        neighbors="replace",
    )
    assert budget.history[0].loss == Draws(1, 2, cells=1)  # a replaced row leaves a bin for another


def test_nulls_are_in_no_bin():
    data = pa.array([1.0, None, 3.0, math.nan, 1.5])
    kw = {"bins": [0, 2, 4]}
    assert recorded(data, **kw)[1].tolist() == [2, 1]
    where = np.array([False, True, True, True, True])
    assert recorded(data, where=where, **kw)[1].tolist() == [1, 1]


def test_several_columns():
    rng = np.random.default_rng(1)
    data = rng.normal(0, 1, (20_000, 3))
    data[5, 1] = math.nan
    edges = [np.linspace(-2, 2, 5), np.array([-1.0, 0.5, 3.0]), np.linspace(0, 1, 4)]
    clean = data[~np.isnan(data).any(axis=1)]
    expected, _ = np.histogramdd(clean, edges)
    _, counts, found = recorded(data, bins=[e.tolist() for e in edges])
    assert counts.shape == (4, 2, 3)
    assert (counts == expected).all()
    assert all((f == e).all() for f, e in zip(found, edges, strict=True))
    where = data[:, 0] > 0
    masked, _ = np.histogramdd(data[where & ~np.isnan(data[:, 1])], edges)
    table = {"a": data[:, 0], "b": data[:, 1], "c": data[:, 2]}
    for form in [data, np.asfortranarray(data), pa.table(table), pd.DataFrame(table), table]:
        assert (recorded(form, bins=edges, where=where)[1] == masked).all()
    records = np.rec.fromarrays(data.T, names="a,b,c")
    assert (recorded(records, bins=edges)[1] == expected).all()
    even = recorded(data, bins=2, bounds=[(-1, 1), (0, 1), (0, 2)])[1]
    assert (even == np.histogramdd(clean, 2, [(-1, 1), (0, 1), (0, 2)])[0]).all()
    mixed = recorded(data[:, :2], bins=[3, [0, 1]], bounds=[(0, 3), (0, 1)])[1]
    assert mixed.shape == (3, 1)
    whole = np.rint(data[:, :2])
    both = recorded(whole, categories=[[-1, 0, 1], [0, 1]])[1]
    assert both[1, 0] == ((whole[:, 0] == 0) & (whole[:, 1] == 0)).sum()


@pytest.mark.parametrize(
    ("kw", "words"),
    [
        ({}, "bins must be given"),
        ({"bins": 3, "categories": [1]}, "bins must be given, or categories instead: for"),
        ({"categories": [1], "bounds": (0, 1)}, "bounds"),
        ({"bins": 3}, "bounds"),
        ({"bins": MOST_CELLS + 1, "bounds": (0, 1)}, "bins must be at most"),
        ({"bins": 8, "bounds": (1, 1)}, "far enough apart for 8 bins"),
        ({"bins": [-1e308, 1e308]}, "bins"),
        ({"categories": ["a", "b"]}, "data must be a one-dimensional column of text"),
        ({"categories": ["a", 1]}, "categories"),
        ({"categories": ["a", "a"]}, "different texts"),
        ({"categories": ["\ud800"]}, "UTF-8"),
        ({"categories": [["a"], ["b"]]}, "for as many columns as the data have, 1"),
        ({"categories": [True, False]}, "ascending"),
        ({"categories": [["a"], None], "bins": [None, None]}, "one of the two"),
        ({"categories": [["a"], [1]], "bins": [None, 2]}, "one of the two"),
        ({"categories": ["a"], "bins": 3}, "one of the two"),
        ({"categories": [["a"], None], "bins": [None]}, "one of the two"),
        ({"categories": [None], "bins": [3]}, "known without looking"),
        ({"categories": [None], "bins": [3], "bounds": (0, 1)}, "as many axes"),
        ({"categories": [[1]], "bins": [None], "bounds": [(0, 1)]}, "or None, with categories"),
        ({"bins": 2, "bounds": [(0, 1), (0, 1)]}, "as many columns"),
        ({"bins": [2, 2, 2], "bounds": [(0, 1), (0, 1)]}, "axes"),
        ({"bins": [1 << 20] * 2, "bounds": [(0, 1)] * 2}, "in all"),
    ],
)
def test_bad_arguments_cost_nothing(kw, words):
    budget = dp.Budget(epsilon=1)
    with pytest.raises((ArgumentError, ArgumentTypeError), match=words) as caught:
        histogram(np.zeros(3), **{"neighbors": "replace", "epsilon": 0.5, "budget": budget, **kw})
    assert "\n" not in str(caught.value)
    assert budget.remaining["epsilon"] == 1


def test_a_mask_of_another_length_than_a_stream():
    stream = Stream([Chunk(np.ones(3), 0), Chunk(np.ones(3), 3)])
    assert recorded(stream, bins=[0, 2], where=np.arange(6) > 1)[1].tolist() == [4]
    for length in [4, 8]:
        with pytest.raises(DataError, match="one entry for each row"):
            recorded(stream, bins=[0, 2], where=np.ones(length, bool))


# ---- Categories of text ----


WORDS = ["no", "yes", "", "naïve", "no way", "日本"]
ROWS = [*WORDS[1:], "other", "No", "yes ", None] * 40 + ["no"] * 3


def tally_of(rows, words):
    return [sum(row == word for row in rows) for word in words]


def text_forms(rows):
    """The same text in everything that holds some."""
    column = pa.array(rows)
    plain = ["" if row is None else row for row in rows]
    yield "list", rows
    yield "tuple", tuple(rows)
    yield "objects", np.array(rows, object)
    yield "odd objects", np.array([[1, "yes"] if row is None else row for row in rows], object)
    yield "numpy", np.ma.array(np.array(plain), mask=[row is None for row in rows])
    yield "arrow", column
    yield "chunked", pa.chunked_array([column[:7], column[7:7], column[7:]])
    yield "large", column.cast(pa.large_string())
    yield "view", column.cast(pa.string_view())
    yield "bytes", column.cast(pa.binary())
    yield "byte objects", [None if row is None else row.encode() for row in rows]
    yield "dictionary", column.dictionary_encode()
    yield "sliced dictionary", pa.concat_arrays([column, column]).dictionary_encode()[len(rows) :]
    yield (
        "short pieces",
        pa.chunked_array(
            [column[i : i + 1].dictionary_encode() for i in range(9)]
            + [column[9:].dictionary_encode()]
        ),
    )
    words = pa.array([*WORDS, "other", "No", "yes ", None])
    places = pa.array([words.to_pylist().index(row) for row in rows])
    yield "null word", pa.DictionaryArray.from_arrays(places, words)
    yield "pandas", pd.Series(rows)
    yield "pandas objects", pd.Series(rows, dtype=object)
    yield "categorical", pd.Series(rows, dtype="category")


@every_value
@pytest.mark.parametrize("form", [name for name, _ in text_forms(ROWS)])
@pytest.mark.parametrize("masked", [False, True])
def test_text_in_every_form(form, masked, monkeypatch):
    monkeypatch.setattr(MemoryRows, "BUFFER", 1 << 10)  # 128 rows
    data = dict(text_forms(ROWS))[form]
    where = np.arange(len(ROWS)) % 3 > 0 if masked else None
    kept = [row for i, row in enumerate(ROWS) if where is None or where[i]]
    asked, counts, words = recorded(data, categories=WORDS, where=where)
    assert counts.tolist() == tally_of(kept, WORDS)
    assert words.tolist() == WORDS and asked == (2, 2, 2)
    turned = recorded(data, categories=WORDS[::-1], where=where)[1]
    assert turned.tolist() == tally_of(kept, WORDS[::-1])
    table = {"x": data}
    assert recorded(table, categories=[WORDS], where=where)[1].tolist() == counts.tolist()


def test_numpy_text():
    rows = [row for row in ROWS if row is not None]
    for array in [np.array(rows), np.array(rows)[::-1].copy()[::-1], np.array(rows, ">U8")]:
        assert recorded(array, categories=WORDS)[1].tolist() == tally_of(rows, WORDS)
    encoded = np.array([row.encode() for row in rows])
    assert recorded(encoded, categories=WORDS)[1].tolist() == tally_of(rows, WORDS)
    matrix = np.array([["a", "x"], ["b", "x"], ["a", "y"]])
    both = recorded(matrix, categories=[["a", "b"], ["x", "z"]])[1]
    assert both.tolist() == [[1, 0], [1, 0]]


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


def test_a_word_that_is_trimmed_would_be_caught():
    """The control of the forms above: they hold words that differ in blanks and in case only."""
    folded = [None if row is None else row.strip().lower() for row in ROWS]
    assert tally_of(folded, WORDS) != tally_of(ROWS, WORDS)


def text_files(table, path):
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet as pq

    pq.write_table(table, path / "t.parquet", row_group_size=100)
    pq.write_table(table, path / "plain.pq", use_dictionary=False)
    pyarrow.feather.write_feather(table, path / "t.feather", compression="zstd")
    coded = table.set_column(0, "x", table["x"].dictionary_encode())
    pyarrow.feather.write_feather(coded, path / "coded.arrow", compression="uncompressed")
    pyarrow.csv.write_csv(table, path / "t.csv")
    return [path / name for name in ("t.parquet", "plain.pq", "t.feather", "coded.arrow", "t.csv")]


def test_text_of_files(tmp_path):
    rows = [row or "other" for row in ROWS]  # an empty cell of a text file is missing
    number = np.arange(len(rows)) % 7
    table = pa.table({"x": rows, "y": number})
    kept = number > 2
    for path in text_files(table, tmp_path):
        words = [word for word in WORDS if word or path.suffix != ".csv"]  # where "" is missing
        expected = tally_of(rows, words)
        for data in [dp.scan(path, "x"), dp.scan(path, ["x"])]:
            categories = words if "Table" not in repr(type(data)) else [words]
            assert recorded(data, categories=categories)[1].tolist() == expected, path
            assert recorded(data, categories=categories, where=kept)[1].tolist() == tally_of(
                [row for row, own in zip(rows, kept, strict=True) if own], words
            )
        both = dp.scan(path, ["y", "x"])
        _, counts, edges = recorded(
            both, categories=[None, words], bins=[3, None], bounds=[(0, 6), None]
        )
        assert counts.sum(axis=0).tolist() == expected
        exact = np.histogram(
            [n for n, row in zip(number, rows, strict=True) if row == "yes"], 3, (0, 6)
        )
        assert counts[:, 1].tolist() == exact[0].tolist()
        assert edges[0].tolist() == [0, 2, 4, 6] and edges[1].tolist() == words
        with pytest.raises(ArgumentError, match="as many columns as the data have, 2"):
            histogram(both, categories=words, epsilon=1, neighbors="replace")
        if path.suffix != ".csv":  # whose cells are text before they are anything else
            with pytest.raises(SourceError, match=r"column 'y' of .* must hold text"):
                histogram(dp.scan(path, "y"), categories=["1"], epsilon=1, neighbors="replace")
    digits = recorded(dp.scan(tmp_path / "t.csv", "y"), categories=["1", "01", "6"])[1]
    assert digits.tolist() == [np.count_nonzero(number == 1), 0, np.count_nonzero(number == 6)]


@pytest.mark.parametrize("place", [11, -1])
@pytest.mark.parametrize("words", [["yes", "no"], ["yes", "no", *map(str, range(9))]])
def test_text_that_stands_in_no_dictionary_is_an_answer(place, words):
    places = pa.array([0, 1, place], pa.int32())
    data = pa.DictionaryArray.from_arrays(places, pa.array(words), safe=False)
    budget = dp.Budget(epsilon=1)
    with pytest.raises(DataError, match="must stand in its dictionary") as caught:
        histogram(data, categories=WORDS, epsilon=1, budget=budget, neighbors="replace")
    assert caught.value.__context__ is None and budget.remaining["epsilon"] == 0


def test_text_of_npy(tmp_path):
    records = np.zeros(4, [("name", "U5"), ("age", "i4")])
    records["name"], records["age"] = ["a", "b", "a", "c"], [1, 2, 3, 4]
    np.save(tmp_path / "t.npy", records)
    name = dp.scan(tmp_path / "t.npy", "name")
    assert "name" in repr(name) and name.length == 4
    assert recorded(name, categories=["a", "c"])[1].tolist() == [2, 1]
    for both in [dp.scan(tmp_path / "t.npy", ["name", "age"]), records, records.tolist()]:
        if isinstance(both, list):
            both = {"name": [n for n, _ in both], "age": [a for _, a in both]}
        kw = {"categories": [["a", "c"], None], "bins": [None, [0, 2, 5]]}
        assert recorded(both, **kw)[1].tolist() == [[1, 1], [0, 1]]
    for data in [dp.scan(tmp_path / "t.npy", "age"), dp.scan(tmp_path / "t.npy", ["age"])]:
        with pytest.raises(SourceError, match=r"column 'age' of t\.npy must hold text"):
            histogram(data, categories=["a"], epsilon=1, neighbors="replace")
    with pytest.raises(SourceError, match="must hold integers"):
        histogram(
            dp.scan(tmp_path / "t.npy", ["name", "age"]),
            categories=[[1.0], ["a"]],
            bins=None,
            epsilon=1,
            neighbors="replace",
        )


def test_truth_values():
    rows = np.array([True, False, True, True])
    for form in [rows, rows.tolist(), pa.array(rows), rows.astype(float)]:
        _, counts, found = recorded(form, categories=[False, True])
        assert counts.tolist() == [1, 3] and found.dtype == np.bool_
    assert recorded(rows, categories=[True])[1].tolist() == [3]
    both = recorded({"t": rows, "s": ["a", "b", "a", "b"]}, categories=[[False, True], ["a", "b"]])
    assert both[1].tolist() == [[0, 1], [2, 1]]
