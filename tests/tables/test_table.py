"""Rows of every kind of data: each keeps its place and its id, and a missing number is NaN."""

import decimal
import functools
import itertools
import threading
from collections import UserList, deque
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfast as dp
from dpfast._kernels.tables import Key
from dpfast.aggregate.blocks.partition import KeyedLabels
from dpfast.errors import (
    ArgumentError,
    ArgumentTypeError,
    DataError,
    DpfastError,
)
from dpfast.tables import CHUNK_DTYPES, Chunk, Source, arrow, as_source
from dpfast.tables import memory as _memory
from dpfast.tables import table as _table
from dpfast.tables.arrow import arrow_chunk, arrow_values
from dpfast.tables.base import RowChunk, RowSource
from dpfast.tables.columns import Table
from dpfast.tables.data import as_rows
from dpfast.tables.forms import Objects, as_column
from dpfast.tables.memory import MemoryRows

from ..reference.tables import rows as plain
from ..support.battery import layouts
from ..support.memory import peak
from ..support.pairwise import every_value, pairwise, quick_rows
from ..support.refused import refused
from .test_key_words import arrow_forms, numpy_forms
from .test_scan import EVERY
from .test_scan import rows as read_column

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
ROWS = 1003
KEY = Key(bytes(range(32)))


@pytest.fixture(params=[pytest.param("as it is", marks=pytest.mark.full), "small chunks"])
def cut(request, monkeypatch):
    """Everything in many small chunks of odd sizes, and once more as it is."""
    if request.param == "small chunks":
        monkeypatch.setattr(MemoryRows, "BUFFER", 1000)
        monkeypatch.setattr(MemoryRows, "DIRECT", 808)
        monkeypatch.setattr(_memory, "BLOCK", 16)
        monkeypatch.setattr(arrow, "BATCH", 61)


def words(count):
    return np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)


def check_source(data, want):
    source, present = as_source(data), want[~np.isnan(want)].tolist()
    assert isinstance(source, Source) and source.dtype in CHUNK_DTYPES
    got, nulls = read_column(source)
    assert len(got) + nulls == len(want) and got[got == got].tolist() == present
    sample = source.sample(50, words)
    if sample is not None:
        assert sample.dtype == source.dtype and set(sample[sample == sample]) <= set(present)


def check(data, want, *, ids=None, workers=None, dtype=np.float64, width=None):
    source = as_rows(data, ids, workers, width=width)
    assert isinstance(source, RowSource)
    assert source.dtype.names is not None or source.dtype == dtype
    got, chunks = plain.gather(source)
    plain.same(got, want)
    return got, chunks


class Capsule:
    """Nothing but DLPack."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


@quick_rows(16)
@pairwise(drop=True)
@pytest.mark.parametrize("workers", [None, 1, 3])
@pytest.mark.parametrize("shape", [(ROWS,), (ROWS, 3), (0,), (0, 2), (1, 1)])
@pytest.mark.parametrize("dtype", [d.str for d in CHUNK_DTYPES] + ["<f2", "|b1"])
def test_arrays_of_every_form(cut, dtype, shape, workers, tmp_path):
    base = (np.random.default_rng(0).integers(0, 2, shape) * 3).astype(dtype)
    want = np.dtype({"<f2": np.float32, "|b1": np.uint8}.get(dtype, dtype))
    forms = {"plain": base, "subclass": base.view(type("Mine", (np.ndarray,), {}))}
    forms |= {"DLPack": Capsule(base) if base.dtype.kind != "b" else base}
    for name, array in [*forms.items(), *list(layouts(base, tmp_path))[1:]]:  # after a list
        check(array, base.astype(want), workers=workers, dtype=want)
        if len(shape) == 1:
            check_source(array, base.astype(want))
        source = as_rows(array, None, workers)
        in_place = source.array is not None
        if name in ("plain", "read-only", "subclass", "memmap"):
            assert in_place == (want == np.dtype(dtype) or dtype == "|b1")
            assert not in_place or np.shares_memory(source.array, array) or array.size == 0
        assert not (name == "byte-swapped" and base.dtype.itemsize > 1 and in_place)


def test_records(cut):
    base = np.zeros(ROWS, [("age", ">i4"), ("name", "U5"), ("pay", "f8"), ("ok", "?")])
    base["age"], base["pay"] = np.arange(ROWS), np.random.default_rng(1).normal(size=ROWS)
    base["name"] = [f"p{i % 100}" for i in range(ROWS)]
    source = as_rows(base)
    got, _ = plain.gather(source)
    assert got.dtype == [("age", "i4"), ("name", "U5"), ("pay", "f8"), ("ok", "?")]
    plain.same(got, base)
    assert source.array is None and as_rows(got).array is got
    got, chunks = plain.gather(as_rows(base, "name"))
    assert got.dtype == [("age", "i4"), ("pay", "f8"), ("ok", "?")]
    plain.same(got["pay"], base["pay"])
    together(chunks, base["name"].tolist())


def test_memory_maps_stay_mapped(cut, tmp_path):
    flat = np.random.default_rng(2).normal(size=(ROWS, 4))
    np.save(tmp_path / "t.npy", flat)
    mapped = np.load(tmp_path / "t.npy", mmap_mode="r")
    check(mapped, flat)
    assert np.shares_memory(as_rows(mapped).array, mapped)
    people = np.zeros(ROWS, [("user", "U4"), ("x", "<f4"), ("y", "i2")])
    people["user"], people["x"] = [str(i % 7) for i in range(ROWS)], flat[:, 1]
    np.save(tmp_path / "p.npy", people)
    assert as_rows(dp.scan(tmp_path / "p.npy", "x")).array is None  # if cut short, it is fatal
    for wanted in ("x", ["x", "y"], ["y", "x"]):
        _, chunks = plain.gather(as_rows(dp.scan(tmp_path / "p.npy", wanted), "user"))
        together(chunks, people["user"].tolist())


def test_columns_that_are_not_aligned_or_stand_in_no_dictionary():
    values = np.arange(5.0)
    for kind in ("f8", "f4", "i8", "i4", "i2", "u8"):
        some = values.astype(kind)
        bits = pa.py_buffer(b"\x15")
        raw = pa.py_buffer(b"." + some.tobytes() + b".").slice(1)
        arrow = pa.from_numpy_dtype(some.dtype)
        whole = pa.Array.from_buffers(arrow, 5, [None, raw])
        holes = pa.Array.from_buffers(arrow, 5, [bits, raw])
        for read in (arrow_values(whole)[0], arrow_values(holes)[0]):
            assert read.flags.aligned and read.tolist() == values.tolist()
        assert arrow_chunk(holes[1:], 1, some.dtype).values.tolist() == [2, 4]
    places = pa.array([0, 9], pa.int32())
    column = pa.DictionaryArray.from_arrays(places, pa.array([1.5, 2.5]), safe=False)
    with pytest.raises(DataError, match="must have only indices of its dictionary") as caught:
        plain.gather(as_rows(column))
    assert caught.value.__context__ is None


class Stream:
    """Someone else's data: nothing but the protocol."""

    def __init__(self, held):
        self.held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self.held.__arrow_c_stream__(requested_schema)


class Own:
    """A user's own source: chunks of ten rows, in an order of its own."""

    dtype = np.dtype(np.float64)
    nulls = None

    def __init__(self, cells, length=True, fields=4, shift=0):
        self.cells, self.fields, self.shift = cells, fields, shift
        self.length = len(cells) if length else None

    def sample(self, count, words):
        return None

    def reduce(self, summarise, merge):
        total = None
        for at in reversed(range(0, max(1, len(self.cells)), 10)):
            some = self.cells[at : at + 10]
            present = np.array([one is not None for one in some], bool)
            values = np.array([one for one in some if one is not None], float)
            fields = (values, at + self.shift * (at > 0), len(some) - len(values), present)
            part = summarise(Chunk(*fields[: self.fields]))
            total = part if total is None else merge(total, part)
        return total


def uneven(cells, kind=None):
    kind, cuts = kind or pa.array(cells).type, [0, 1, 1, len(cells) // 3, len(cells)]
    parts = [pa.array(cells[a:b], kind) for a, b in itertools.pairwise(cuts)]
    return pa.chunked_array([*parts, pa.array([], kind)], kind)


def masked(cells):
    return np.ma.array([c or 0 for c in cells], mask=[c is None for c in cells])


SINGLE = {
    "list": list, "masked": masked, "rows source": Objects, "own": Own,
    "own without a length": lambda c: Own(c, length=False),
    "arrow": lambda c: pa.array(c, pa.float64()), "int64": lambda c: pa.array(c, pa.int64()),
    "chunked": lambda c: uneven(c, pa.float64()), "int32": lambda c: uneven(c, pa.int32()),
    "half": lambda c: pa.array([c and np.float16(c) for c in c], pa.float16()),
    "decimal": lambda c: uneven([c and decimal.Decimal(c) for c in c], pa.decimal128(9, 1)),
    "dictionary": lambda c: uneven(c, pa.int16()).dictionary_encode(),
    "stream": lambda c: Stream(uneven(c, pa.float64())),
    "Int64": lambda c: pd.Series(c, dtype="Int64"),
    "Float64": lambda c: pd.Series(c, dtype="Float64"),
    "column source": lambda c: as_source(uneven(c, pa.int32())),
}  # fmt: skip


def cells(n=ROWS, every=7):
    return [None if i % every == 3 else (i * 37) % 1000 + 1 for i in range(n)]


@pytest.mark.parametrize("name", SINGLE)
def test_a_null_becomes_nan_in_its_place(cut, name):
    for some in (cells(), cells(100, 1000), [None] * 5, cells(10, 3)[:4], []):
        check(SINGLE[name](some), plain.single(some))
        check(SINGLE[name](some), plain.single(some), workers=3)
        check_source(SINGLE[name](some), plain.single(some))


def test_bits_of_nulls_from_any_offset():
    mask = np.random.default_rng(3).random(300) < 0.4
    whole = pa.array(np.arange(300.0), mask=mask)
    want = np.where(mask, np.nan, np.arange(300.0))
    for start, length in itertools.product(range(17), (0, 1, 7, 8, 9, 100)):
        got, _ = plain.gather(as_rows(whole.slice(start, length)))
        plain.same(got, want[start : start + length])
    for nothing in (pa.nulls(9, pa.int8()), pa.nulls(9)):
        check(nothing, np.full(9, np.nan))
    check(pa.array([True, None, False]), np.array([1, np.nan, 0]))


def test_lists_of_rows(cut):
    """What has no dtype is one column, or as wide as the call says."""
    rows = [None if i % 11 == 4 else [i, None if i % 3 else 2.5 * i] for i in range(ROWS)]
    objects = np.array([row or [None, None] for row in rows], object)
    of_tuples = [row and tuple(row) for row in rows]
    for form in (rows, tuple(rows), of_tuples, deque(rows), UserList(rows), objects):
        check(form, plain.matrix(rows, 2), width=2)
    check([np.arange(3), np.ones(3)], np.array([[0, 1, 2], [1, 1, 1.0]]), width=3)
    check([[None, None]], np.full((1, 2), np.nan), width=2)
    big = [2**53 + 1, 2**63, -(2**64), 10**400, -(10**400), True, np.float32(0.1), np.bool_(True)]
    big += [decimal.Decimal("0.1"), decimal.Decimal("sNaN"), float("nan")]
    floats = [float(2**53), 2.0**63, -(2.0**64), np.inf, -np.inf, 1, np.float32(0.1), 1, 0.1]
    check(big, np.array([*floats, np.nan, np.nan]))
    check([[one] for one in big], np.array([*floats, np.nan, np.nan])[:, None], width=1)


BAD = [
    [1.0] * 2000 + ["4711"], ["4711"] + [1.0] * 2000, [1.0, [4711]], [[4711], 1.0], ["4711"],
    [["4711"]], [[]], [1.0, 4711j], [1.0, np.timedelta64(4711, "s")],
    [1.0, np.datetime64(4711, "s")], np.array(["4711", None]), np.array([[4711], None], object),
    pd.Series([4711, "x"], dtype=object),
]  # fmt: skip
WIDE = [
    [[1.0, 4711], [1.0]], [[1.0], [1.0, 4711]], [[1.0, 2.0], "4711"], [[1.0, 2.0], ["4711", 1.0]],
    [[1.0, 2.0], [[4711], 1.0]], [[1.0, 2.0], {4711, 4712}], [[1.0, 2.0], np.zeros((2, 2))],
    [[1.0, 2.0], 4711],
]  # fmt: skip


def test_what_is_no_number_in_a_list_is_found_after_the_spend():
    budget = dp.Budget(epsilon=len(BAD))
    ask = {"estimator": "mean", "blocks": 1, "bounds": (0, 1), "epsilon": 1, "budget": budget}
    reads = [functools.partial(dp.sample_and_aggregate, bad, **ask) for bad in BAD]
    reads += [lambda bad=bad: plain.gather(as_rows(bad, width=2)) for bad in WIDE]
    for read in reads:
        with pytest.raises(DataError, match="is not refunded") as caught:
            read()
        assert "4711" not in str(caught.value) + repr(caught.value.__context__)
    assert budget.remaining["epsilon"] == 0


NUMBERS = st.one_of(st.none(), st.integers(-(10**30), 10**30), st.floats(), st.booleans())


@settings(max_examples=40)
@given(st.lists(NUMBERS, max_size=40), st.integers(8, 100))
def test_lists_against_the_plain_twin(some, buffer):
    source = as_rows(some)
    source.BUFFER = buffer
    plain.same(plain.gather(source)[0], plain.single(some))


def people(n=ROWS):
    return {
        "x": [None if i % 5 == 2 else i + 0.5 for i in range(n)],
        "user": [f"é{i % 97}" for i in range(n)],
        "n": [None if i % 7 == 1 else i for i in range(n)],
        "k": [i % 3 for i in range(n)],
    }


def as_pandas(columns):
    kinds = {"x": "float64", "user": "object", "n": "Int64", "k": "int16"}
    return pd.DataFrame({name: pd.Series(c, dtype=kinds[name]) for name, c in columns.items()})


def as_mapping(columns):
    own = {"x": uneven(columns["x"]), "user": np.array(columns["user"])}
    return {**columns, **own, "k": np.array(columns["k"], ">i2").repeat(2)[::2]}


def as_masked(columns):
    out = np.ma.zeros(len(columns["x"]), [("x", "f8"), ("user", "U6"), ("n", "i8"), ("k", "i2")])
    for name, some in columns.items():
        out[name] = [0 if one is None else one for one in some]
        out[name].mask = [one is None for one in some]
    return out


TABLES = {
    "pandas": as_pandas, "mapping": as_mapping, "masked": as_masked,
    "arrow": pa.table, "batch": pa.record_batch,
    "chunked": lambda c: pa.concat_tables([pa.table(c).slice(0, 300), pa.table(c).slice(300)]),
    "struct": lambda c: pa.record_batch(c).to_struct_array(),
    "stream": lambda c: Stream(pa.table(c)),
}  # fmt: skip


def test_columns_at_equal_distances_are_a_matrix():
    """However the columns of a table lie in memory, its records are those of each by itself."""
    for n in (9, 0):
        x = np.random.default_rng(0).integers(-99, 99, (2 * n, 4)).astype(float)[:, :3]
        whole = x.astype(np.int32)
        tables = {
            "rows": x.copy().T, "columns": np.asfortranarray(x).T, "apart": x.T,
            "backwards": x.T[::-1, ::-1], "every other": x[::2].T, "the same": [x[:, 1]] * 3,
            "unequal": [x[:, 0], x[:, 2], x[:, 1]], "whole": whole.T,
            "mixed": [x[:, 0], whole[:, 1], x[:, 2]], "one": [x[:, 2]],
        }  # fmt: skip
        for form, columns in tables.items():
            table = dict(zip("abc", columns, strict=False))
            source = as_rows(table)
            if n:  # numbers that already lie as records do are read where they are
                assert (source.array is not None) == (form == "rows")
            got = np.concatenate(source.reduce(lambda chunk: [chunk.rows.copy()], add))
            assert got.dtype == np.dtype([(name, "f8") for name in table])
            assert all(got[name].tolist() == list(table[name]) for name in table)


@quick_rows(4)
@pytest.mark.parametrize("name", TABLES)
def test_tables(cut, name):
    columns = people()
    want = plain.table({key: columns[key] for key in ("x", "n", "k")})
    for workers in (None, 4):
        got, chunks = check(TABLES[name](columns), want, ids="user", workers=workers)
        assert got.dtype.names == ("x", "n", "k") and chunks[0][1] is not None
        together(chunks, columns["user"])
    columns.pop("user")
    if name not in ("pandas", "mapping", "masked"):
        got, chunks = check(TABLES[name](columns), want)
        assert all(ids is None for _, ids in chunks)
    # A column of numbers may be the ids, and is then not given to the estimator.
    got, chunks = check(pa.table(columns), want[["x", "n"]], ids="k")
    together(chunks, columns["k"])


def write(columns, path, schema=None):
    EVERY[path.name](pa.table(columns, schema), path)
    return path


FILES = ["groups.parquet", "lz4.ipc", "stream.arrows", "t.csv"]


@quick_rows(4)
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("workers", [1, None, 3])
def test_files(cut, tmp_path, name, workers):
    columns = people()
    path, names = write(columns, tmp_path / name), list(columns)
    for wanted in ("x", ["k", "x"], ("n",), [0, 3], ["x", 2]):
        table = dp.scan(path, wanted)
        if wanted == "x":
            want = plain.single(columns["x"])
        else:
            some = [names[one] if isinstance(one, int) else one for one in wanted]
            want = plain.table({key: columns[key] for key in some})
            assert isinstance(table, Table) and not isinstance(table, Source)
            assert table.names == tuple(some) and some[0] in repr(table)
            assert table.length in (None, ROWS)
        check(table, want, workers=workers)
        for ids in ("user", np.array(columns["user"])):
            together(check(table, want, ids=ids, workers=workers)[1], columns["user"])
    for narrow in ("k", "n") if name != "t.csv" else ():
        _, chunks = check(dp.scan(path, ["x"]), plain.table({"x": columns["x"]}), ids=narrow)
        together(chunks, columns[narrow])
    check(dp.scan(path, ["x", "k"]), plain.table({"x": columns["x"]}), ids="k")


def test_a_column_without_nulls_by_its_schema_keeps_its_type(cut, tmp_path):
    for name in FILES[:2]:
        schema = pa.schema([pa.field("i", pa.int32(), nullable=False), pa.field("j", pa.int32())])
        path = write([pa.array(np.arange(300, dtype=np.int32))] * 2, tmp_path / name, schema)
        check(dp.scan(path, "i"), np.arange(300), dtype=np.int32)
        check(dp.scan(path, "j"), np.arange(300.0))
        assert dp.scan(path, "j").dtype == np.int32  # as a `Source`, which drops nulls


def together(chunks, ids):
    labels = KeyedLabels(10**9, KEY)
    got = np.concatenate([labels.read(some) for _, some in chunks])
    np.testing.assert_array_equal(got, labels.read(list(ids)))


GONE = [i % 13 == 5 for i in range(ROWS)]
NAMES = [None if i % 13 == 5 else f"u{i % 50}" for i in range(ROWS)]
WHOLE = [i % 50 - 7 for i in range(ROWS)]
KNOWN = [None if gone else i for gone, i in zip(GONE, WHOLE, strict=True)]
PRESENT = [str(name) for name in NAMES]
RAW = [name and name.encode() for name in NAMES]
#: Ids in every form, and the plain list of them.
IDS = [
    *((form, NAMES) for form in (NAMES, np.array(NAMES, object), pd.Series(NAMES))),
    *((form, NAMES) for form in arrow_forms(NAMES, pa.string(), pa.string_view())),
    (pd.Series(NAMES, dtype="category"), NAMES),
    *((form, WHOLE) for form in (*numpy_forms(WHOLE, "i2"), pd.Series(WHOLE, dtype="Int64"))),
    *((form, WHOLE) for form in arrow_forms(WHOLE, pa.int64())),
    (pd.Series(WHOLE, index=range(ROWS, 0, -1)), WHOLE),
    (np.ma.array(WHOLE, mask=GONE), KNOWN),
    *((form, PRESENT) for form in numpy_forms(PRESENT, None)),
    (np.array(PRESENT, "S"), [name.encode() for name in PRESENT]),
    (pa.array(RAW), RAW),
]


@quick_rows(16)
@every_value(drop=True)
@pytest.mark.parametrize("ids, want", IDS)
@pytest.mark.parametrize("workers", [1, 3])
def test_ids_stay_beside_their_rows(cut, ids, want, workers):
    data = np.arange(float(ROWS))
    for some in (data[::-1], data.reshape(ROWS, 1), data.tolist(), {"x": data}, Own(data)):
        together(plain.gather(as_rows(some, ids, workers))[1], want)


def test_other_ids_are_refused_before_the_spend():
    asked = {"data": np.zeros(ROWS), "estimator": "mean", "blocks": 5, "bounds": (0, 1)}
    wrong = [np.zeros(ROWS), pa.array([0.5] * ROWS), pd.Series([0.5] * ROWS), {1: 2}, object()]
    wrong += [np.zeros((ROWS, 1), int), np.zeros(ROWS, "M8[s]"), 3, iter([1])]
    for ids in [*wrong, pa.array([1] * ROWS, pa.date32())]:
        words = "ids must be a one-dimensional column"
        refused(dp.sample_and_aggregate, words, ArgumentTypeError, **asked, ids=ids, epsilon=1)


def test_ids_of_another_length_or_name(tmp_path):
    path = write(people(50), tmp_path / "groups.parquet")
    text = write(people(50), tmp_path / "t.csv")
    tables = [pa.table(people(50)).drop(["user"]), np.zeros(50), [1.0] * 50, np.zeros((50, 2))]
    late = [dp.scan(text, "x"), Own([1.0] * 50, length=False)]  # nobody has counted these yet
    for data in [*tables, dp.scan(path, "x"), dp.scan(path, ["x"]), Own([1.0] * 50), *late]:
        for wrong in (np.arange(49), list(range(51))):
            with pytest.raises(DataError, match="ids must have one entry for each row"):
                plain.gather(as_rows(data, wrong))
    records = np.zeros(50, [("user", "i8"), ("x", "f8")])
    for data, ids, words in (
        *((data, "usr", "ids must be the name of a column .did you mean")
          for data in (pa.table(people(50)), {"user": [1], "x": [2.0]}, records)),
        *((data, "usr", "column 'usr' is not in .*did you mean 'user'")
          for data in (dp.scan(path, "x"), dp.scan(path, ["x"]), dp.scan(text, "x"))),
        (dp.scan(path, "k"), "k", "ids must be one of several columns"),
        (dp.scan(path, ["k"]), "k", "ids must be one of several columns"),
        (dp.scan(path, "k"), "x", "ids must be a one-dimensional column of integers"),
        *((data, "user", "no columns with names") for data in (np.zeros(3), [1.0], pa.array([1]))),
        ({"user": ["a"]}, "user", "."),
    ):  # fmt: skip
        with pytest.raises(DpfastError, match=words):
            as_rows(data, ids)


def test_a_source_must_place_its_nulls_and_number_its_rows():
    with pytest.raises(DataError, match="say which rows are null, in the field `present`"):
        plain.gather(as_rows(Own(cells(50), fields=3)))
    plain.gather(as_rows(Own([1.0] * 50, fields=3)))  # no null, no need
    for shift in (-3, 3):
        with pytest.raises(DataError, match="number each row once"):
            plain.gather(as_rows(Own(cells(50), shift=shift)))
    short = Own(cells(50))
    short.length = 51
    with pytest.raises(DataError, match="as many rows as it says"):
        plain.gather(as_rows(short))


MADE = [
    ([(np.zeros(50), 0), (np.zeros(50), 50)], 80), ([(np.zeros(50), -5), (np.zeros(55), 45)], 100),
    ([(np.zeros(50), 2**63 - 3)], 50), ([(np.zeros(50), 2**63 - 3)], None),
    ([(np.array(["SECRET"] * 50), 0)], 50), ([(np.zeros((50, 2)), 0)], 50),
]  # fmt: skip


@pairwise(drop=True)
@pytest.mark.parametrize("estimator", ["mean", "median", len])
@pytest.mark.parametrize("partition", ["random", "contiguous", "key"])
@pytest.mark.parametrize("chunks, length", MADE, ids=range(6))
def test_a_wrong_chunk_is_one_error_whatever_reads_it(chunks, length, partition, estimator):
    source = Own([])
    source.length = length
    source.reduce = lambda summarise, merge: functools.reduce(
        merge, (summarise(Chunk(*chunk)) for chunk in chunks)
    )
    ids = np.arange(length or 50) if partition == "key" else None
    with pytest.raises(DataError, match="is not refunded") as caught:
        asked = {"blocks": 4, "bounds": (0, 1), "epsilon": 1, "neighbors": "replace"}
        dp.sample_and_aggregate(source, estimator, partition=partition, ids=ids, **asked)
    assert "SECRET" not in str(caught.value)


class Broken:
    """A source of rows with one planted fault."""

    width = array = None
    dtype = np.dtype(np.float64)
    length = 4

    def __init__(self, *passes):
        self.passes = list(passes)

    def reduce(self, summarise, merge):
        chunks = self.passes.pop(0) if len(self.passes) > 1 else self.passes[0]
        parts = [summarise(RowChunk(np.array(rows), start)) for rows, start in chunks]
        return sum(parts[1:], parts[0])


def test_the_checks_of_this_file_catch_planted_faults():
    plain.gather(Broken([([1.0, 2.0], 0), ([3.0, 4.0], 2)]))
    for passes in (
        [[([1.0, 2.0], 0), ([4.0], 2)]],  # a null was dropped
        [[([1.0, 2.0], 0), ([4.0], 3)]],  # and its number left out
        [[([1.0, 2.0], 0), ([2.0, 3.0, 4.0], 1)]],  # a row comes twice
        [[([1.0, 2.0], 0), ([3.0, 4.0], 2)], [([1.0, 2.0, 3.0], 0), ([4.0], 3)]],  # other chunks
        [[([1, 2], 0), ([3, 4], 2)]],  # another dtype
    ):
        with pytest.raises(AssertionError):
            plain.gather(Broken(*passes))
    with pytest.raises(AssertionError):
        plain.same(np.array([1.0, 2.0]), plain.single([1.0, None]))
    with pytest.raises(AssertionError):  # ids of the neighboring rows
        together([(0, NAMES[1:]), (ROWS - 1, NAMES[:1])], NAMES)


def test_threads_split_rows_only_where_it_pays(monkeypatch):
    monkeypatch.setattr(_memory, "SLICE", 10)
    monkeypatch.setenv("DPFAST_NUM_THREADS", "3")
    for rows, workers, want in [(15, None, 1), (1001, None, 3), (25, None, 2), (15, 4, 4)]:
        source = as_rows(np.arange(rows), None, workers)
        starts = [rows * i // want for i in range(want)]
        assert [start for start, _ in plain.gather(source)[1]] == starts
        if workers is None:
            column = as_source(np.arange(rows))
            assert column.reduce(lambda chunk: [chunk.start], add) == starts
        lock, names = threading.Barrier(want, timeout=60), set()

        def meet(chunk, lock=lock, names=names):
            lock.wait()  # nobody passes before all are there
            names.add(threading.get_ident())

        source.reduce(meet, lambda a, b: None)
        assert len(names) == want
    monkeypatch.setenv("DPFAST_NUM_THREADS", "two")
    for read in (as_rows, as_source):
        with pytest.raises(ArgumentError, match="DPFAST_NUM_THREADS"):
            read(np.arange(1001))
    for wrong in (0, 1.5, True):
        with pytest.raises((ArgumentError, ArgumentTypeError), match="workers must be"):
            as_rows(np.arange(5), None, wrong)


def unreadable(self, *args, **kwargs):
    """Of a column on another device, or one that needs a gradient: NumPy cannot have it."""
    raise BufferError("secret 4711")


Unreadable = type("Unreadable", (), {"__array__": unreadable})
UnreadableCapsule = type("UnreadableCapsule", (Capsule,), {"__dlpack__": unreadable})
NO_DATA = [
    "4711.csv", b"4711", 4711, None, {4711}, {}, {4711: [1.0]}, {"": [4711]},
    {"a": [4711], "b": [4711, 4711]}, (value for value in [4711]), np.array(["4711"]),
    np.array(4711), np.full((2, 2, 2), 4711), np.zeros((3, 0)), np.zeros(2, np.longdouble),
    np.zeros(2, [("a", "O")]), np.zeros((2, 2), [("a", "f8")]), pd.DataFrame([[4711, 4712]]),
    pd.DataFrame([[4711, 4712]], columns=["a", "a"]), pd.DataFrame({"a": ["4711"]}),
    pd.Series(["4711"]), pa.table([[4711], [4711]], names=["a", "a"]), pa.table({}),
    pa.array(["4711"]), pa.array([[4711]]), Unreadable(), UnreadableCapsule(np.arange(3.0)),
    np.array([1j]), np.array(["2020-01-01"], "M8[D]"), pa.array([1], pa.timestamp("s")),
    *({"good": [1.0], "bad": column} for column in (
        np.array([1j]), np.zeros((1, 2)), pa.array([{"a": 1}]), pd.Categorical(["a"]), "text", 3)),
]  # fmt: skip


def test_refusals_come_before_the_spend_and_repeat_no_value():
    """A value in an error would be an answer for nothing."""
    blocks = functools.partial(dp.sample_and_aggregate, estimator="mean", blocks=1)
    for data, release in itertools.product(NO_DATA, (dp.median, blocks)):
        caught = refused(release, data=data, bounds=(0, 1), epsilon=1)
        assert "4711" not in str(caught) + repr(caught.__context__)


def test_no_copy_of_the_whole():
    data = np.arange(2_000_000.0)
    half = data[::2]
    gone = np.ma.array(half, mask=half < 5)
    forms = [data, half, data.astype(">f8"), gone]
    columns = list(map(as_source, forms))
    forms += [np.asfortranarray(data.reshape(-1, 4)), {"a": half, "b": gone}, as_source(gone)]
    forms += [pa.table({"a": pa.array(half, mask=half < 5)})]
    for source in [*map(as_rows, forms), *columns]:
        rows = functools.partial(source.reduce, lambda chunk: len(chunk[0]), add)
        most, total = peak(rows)
        assert total == source.length - getattr(source, "nulls", 0)
        assert most < 4 * MemoryRows.BUFFER


def test_columns_with_memories_of_their_own_are_not_read_as_one(monkeypatch):
    """A matrix over two memories lets NumPy touch what lies between them."""
    whole = np.arange(12.0).reshape(6, 2)
    columns = [as_column(whole[:, j], "data", "numbers") for j in range(2)]
    assert _table.together(columns) is not None
    columns[1] = as_column(whole.copy()[:, 1], "data", "numbers")
    assert _table.together(columns) is None
    # Planted: with one owner for all, two columns are always at equal distances.
    monkeypatch.setattr(_table, "_owner", lambda array: None)
    assert _table.together(columns) is not None


@quick_rows(1)
@pytest.mark.parametrize("name", FILES)
def test_a_mask_and_ids_meet_their_rows(cut, tmp_path, name):
    """However the rows of files are cut; numbers that start anew are caught in `test_filtered`."""
    columns = {**people(), "v": [i % 7 + 0.5 for i in range(ROWS)]}
    path, where = write(columns, tmp_path / name), np.arange(ROWS) % 3 > 0
    kw = {"bounds": (0, 9), "epsilon": 1, "where": where}
    for release, most in itertools.product((dp.sum, dp.median), (None, 2)):
        found = []
        for data, ids in ((dp.scan(path, "v"), "user"), (columns["v"], np.array(columns["user"]))):
            unit = {"ids": ids, "max_rows": most} if most else {}
            found.append(release(data, rng=dp.rng.InsecureGenerator(1), **kw, **unit))
        assert found[0] == found[1]
