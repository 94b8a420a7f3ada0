"""Words of keys: equal ones are equal in every form, beside a twin that reads one at a time."""

import datetime as dt
import math

import numpy as np
import pyarrow as pa
import pytest

from dpfast._kernels import tables as kernel
from dpfast.errors import ArgumentTypeError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.tables.forms import column_form
from dpfast.tables.ids import as_ids
from dpfast.tables.key_words import NOTHING, KeyWords, key_kind, secret

from ..reference.tables import key_words as twin
from ..support.paths import on_every_path

SECRET = bytes(range(32))
KEY = kernel.Key(SECRET)
ODD = object()


def read(piece, words=None):
    low, high, present = (words or KeyWords(KEY)).of(piece)
    high = np.zeros(len(low), np.uint64) if high is None else high
    present = np.ones(len(low), bool) if present is None else present
    assert low.dtype == high.dtype == np.uint64 and present.dtype == bool
    rows = zip(low.tolist(), high.tolist(), present, strict=True)
    return [(a, b) if here else None for a, b, here in rows]


def due(keys):
    return [twin.words(SECRET, one) for one in keys]


def test_siphash_vectors_of_its_paper_and_program():
    """Of the key 00 .. 0f and the message 00 .. 0e, or 00."""
    key = kernel.Key(bytes(range(16)) + bytes(16))
    assert kernel.siphash(key, bytes(range(15)))[0] == 0xA129CA6149BE45E5
    wide = bytes.fromhex("da87c1d86b99af44347659119b22fc45")
    assert kernel.siphash(key, b"\0")[1] == tuple(np.frombuffer(wide, "<u8").tolist())


def test_siphash_equals_the_plain_twin():
    message = bytes(range(7, 47))
    for length in range(1, 41):
        narrow, wide = kernel.siphash(KEY, message[:length])
        assert (narrow,) == twin.siphash(SECRET[:16], message[:length])
        assert wide == twin.siphash(SECRET[:16], message[:length], wide=True)


HASHES = """
import numpy as np
from dpfast._kernels import tables as kernel
low, high = np.random.default_rng(0).integers(0, 2**64, (2, 99), np.uint64)
out = np.empty((2, 99), np.uint64)
key = kernel.Key(bytes(range(32)))
kernel.hashes(key, low, high, out[0])
kernel.hashes(key, low, None, out[1])
print(out.tolist())
"""


def test_hashes_of_words_equal_the_plain_twin_on_every_path():
    low, high = np.random.default_rng(0).integers(0, 2**64, (2, 99), np.uint64).tolist()
    both = [twin.hash_of(SECRET, a, b) for a, b in zip(low, high, strict=True)]
    assert on_every_path(HASHES) == str([both, [twin.hash_of(SECRET, a) for a in low]])


INTEGERS = [0, 1, -1, 127, -128, 2**31 - 1, -(2**63), 2**63 - 1, 2**63, 2**64 - 1, True]
TEXTS = ["", "a", "1", "anna", "sevenby", "eight by", "nine byte", "Zoë", "日本", "𝄞" * 9, "a\0b"]
TIMES = [
    *(dt.date(1970, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    *(dt.datetime(1969, 12, 31, 23, 59, 59, 999_999), dt.datetime(2024, 2, 29, 12, 30, 1, 5)),
    dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone(dt.timedelta(hours=-5, microseconds=1))),
]
DAYS = [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(2262, 1, 1), None]
FINE = [dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(1900, 1, 1, 0, 0, 0, 999_999), None]
MIXED = [*INTEGERS, *TEXTS, *[text.encode() for text in TEXTS], *TIMES, None, "\ud800"]
WORDS = ["b", None, "b", "a"]
#: Short texts are read 16 bytes at a time: what stands behind them must not count.
OF_EVERY_LENGTH = [
    [(letters * 40)[:n] for n in np.random.default_rng(len(letters)).permutation(43) % 40]
    for letters in ("a", "ab\0", "日é")
]


def numpy_forms(keys, *dtypes):
    """Arrays in either order of bytes, and amid others."""
    for dtype in dtypes:
        array = np.array(keys, dtype)
        yield from (array, np.repeat(array, 3)[::3])
        if array.dtype.kind in "iuMU":
            yield array.astype(array.dtype.newbyteorder())


def arrow_forms(keys, *kinds):
    """Columns of Arrow, and codes of their entries: whole, amid others, and in chunks."""
    for kind in kinds:
        some, coded = pa.array(keys, kind), pa.array(keys, kinds[0]).dictionary_encode()
        coded = pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.cast(kind))
        for form in (some, coded):
            yield from (form, pa.concat_arrays([form, form])[len(form) :])
            yield pa.chunked_array([form[:2], form[:0], form[2:]])


def of_integers():
    for dtype in (*"bhiqBHIQ", "?"):
        info = np.iinfo(dtype if dtype != "?" else "u1")
        keys = [k for k in (0, 1, 100, -100, info.min, info.max) if info.min <= k <= info.max]
        keys = [0, 1, True] if dtype == "?" else keys
        array, gone = np.array(keys, dtype), [None if k == 1 else k for k in keys]
        kind = pa.from_numpy_dtype(array.dtype)
        yield keys, [keys, *numpy_forms(keys, dtype), *arrow_forms(array.tolist(), kind)]
        some = [None if k is None else array.dtype.type(k).item() for k in gone]
        yield gone, [np.ma.array(array, mask=array == 1), *arrow_forms(some, kind)]


def of_texts():
    text = pa.string(), pa.large_string(), pa.string_view()
    for keys in (TEXTS, *OF_EVERY_LENGTH):
        raw, kinds = [one.encode() for one in keys], (pa.binary(), pa.large_binary())
        yield [None, *keys], arrow_forms([None, *keys], *text)
        yield [None, *raw], arrow_forms([None, *raw], *kinds, pa.binary_view())
    dtypes = None, ">U9", object, np.dtypes.StringDType()
    yield TEXTS, [TEXTS, tuple(TEXTS), *numpy_forms(TEXTS, *dtypes)]
    raw = [one.encode() for one in TEXTS]
    yield raw, [raw, *numpy_forms(raw, None, "S90")]
    yield ["", ""], numpy_forms(["", ""], None, "U0")
    yield [b"ab", None], [pa.array([b"ab", None], pa.binary(2)), [bytearray(b"ab"), None]]


def of_times():
    units = [f"M8[{unit}]" for unit in ("D", "h", "m", "s", "ms", "us", "ns")]
    arrays = [one.astype(unit) for unit in units for one in numpy_forms(DAYS, "M8[D]")]
    of_arrow = arrow_forms(DAYS, pa.date32(), pa.date64())
    yield DAYS, [DAYS, *arrays, *map(list, arrays), *of_arrow]
    yield [DAYS[0], dt.date(1969, 1, 1)], numpy_forms(["1970", "1969"], "M8[Y]")
    yield DAYS[:1], numpy_forms(DAYS[:1], "M8[W]")
    stored = [pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "Asia/Aden")]
    yield FINE, [*numpy_forms(FINE, "M8[us]", "M8[ns]"), *arrow_forms(FINE, *stored)]


def of_series():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    forms = [pd.Series(WORDS), pd.Series(WORDS, dtype="category"), pl.Series(WORDS)]
    yield WORDS, [*forms, pl.Series(WORDS, dtype=pl.Categorical)]
    yield [3, None], [pd.Series([3, None], dtype="Int64")]
    yield FINE, [pd.Series(FINE), [*map(pd.Timestamp, FINE[:2]), pd.NaT], pl.Series(FINE)]
    yield DAYS, [pl.Series(DAYS)]


def of_objects():
    yield MIXED, [MIXED, np.array(MIXED, object)]
    yield [], [[], pa.array([], "str"), pa.chunked_array([], pa.int8())]


@pytest.mark.parametrize("columns", [of_integers, of_texts, of_times, of_series, of_objects])
def test_equal_keys_meet_whatever_their_form_and_cut(columns):
    for keys, forms in columns():
        found = due(keys)
        for form in forms:
            assert read(form) == found
            words = KeyWords(KEY)
            for step in (7, 1)[: 1 + (len(keys) < 42)]:
                cut = [read(form[at : at + step], words) for at in range(0, len(keys), step)]
                assert [one for part in cut for one in part] == found


def test_keys_are_as_wide_as_they_must_be():
    assert len({*read(MIXED)}) == len(MIXED) - 1  # True is 1, and nothing else is anything else
    for dtype in "bhiqBHIQ":
        assert (KeyWords(KEY).of(np.ones(2, dtype)).high is None) == (dtype != "Q")
    for nano in (np.array([1], "M8[ns]"), [pytest.importorskip("pandas").Timestamp(1)]):
        ((_, high),) = read(nano)
        assert high == 2**32 + 1
    assert read(np.array([2**62, 0], "M8[W]"))[0] is None
    assert read(["a\0", "\0"]) == read(["a", ""]) == read(pa.array(["a\0\0", "\0"]))


NO_KEYS = [
    None, math.nan, 1.5, np.float64(2), 2**64, -(2**63) - 1, ODD, (1,), np.timedelta64(1, "s"),
    np.ma.masked, np.datetime64("NaT"), np.datetime64(1, "as"), np.datetime64(2**62, "W"),
]  # fmt: skip


def test_what_is_no_key_is_like_what_is_missing():
    assert read([*NO_KEYS, 5]) == [None] * len(NO_KEYS) + due([5])

    class Wild(str):
        def __eq__(self, other):
            raise RuntimeError("never asked")

        __hash__ = None

    class Zone(dt.tzinfo):
        def utcoffset(self, when):
            raise RuntimeError("no")

    assert read([Wild("a"), dt.datetime(2000, 1, 1, tzinfo=Zone())]) == [*due(["a"]), None]


def test_ids_that_are_none_are_an_error():
    ids = KeyWords(KEY, "ids", is_id=True)
    for one in (1.5, 2**64, ODD, dt.date(2000, 1, 1)):
        with pytest.raises(DataError, match="ids must be text, bytes or integers of at most 64"):
            ids.of([1, one])
    assert read([None, math.nan, 1], ids) == [None, None, *due([1])]


def test_dictionaries_are_read_once_each_and_forgotten():
    words = KeyWords(KEY)
    column = pa.array(["a", "b", "a"] * 50).dictionary_encode()
    for at in range(100):
        assert read(column[at : at + 3], words) == due(column[at : at + 3].to_pylist())
    assert len(words._looked_up) == 1
    for i in range(40):
        own = pa.array([f"x{i}", None, "y"]).dictionary_encode()
        assert read(own, words) == due([f"x{i}", None, "y"])
    assert len(words._looked_up) <= 16
    nulls = pa.array([None, None], pa.string()).dictionary_encode()
    assert read(nulls, words) == [None, None] and read(nulls[:0], words) == []
    inside = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None], pa.int8()), pa.array([None, "b"])
    )
    assert read(inside, words) == [None, *due(["b"]), None]
    for place in (7, -1):
        bad = pa.DictionaryArray.from_arrays(pa.array([0, place]), pa.array(["a"]), safe=False)
        with pytest.raises(DataError, match="keys must have only indices of their") as caught:
            words.of(bad)
        assert caught.value.__context__ is None


KINDS = {
    "integers": [np.zeros(2, "i2"), np.zeros(2, bool), pa.array([True])],
    "text": [np.array(["a"]), np.array(["a"], np.dtypes.StringDType()), pa.array(["a"])],
    "bytes": [np.array([b"a"]), pa.array([b"a"]), pa.array([b"a"]).dictionary_encode()],
    "times": [np.zeros(2, "M8[s]"), pa.array([1], pa.date32())],
    "objects": [["a"], (1,), np.array([1.5], object)],
    "nothing": [pa.nulls(2)],
}


def test_kinds_are_told_by_the_declared_type():
    for kind, columns in KINDS.items():
        for column in columns:
            assert key_kind(column_form(column, "by", ""), "by") == kind
    wrong = [np.zeros((2, 2), int), *(np.zeros(2, t) for t in ("f8", "m8[s]", "M8[25s]", "M8[as]"))]
    wrong += [np.zeros(2, complex), pa.array([1.5]), pa.array([1], pa.time32("s"))]
    wrong += [pa.array([None], pa.decimal128(3)), pa.array([1.5]).dictionary_encode()]
    for column in wrong:
        with pytest.raises(ArgumentTypeError, match="by must be a one-dimensional column of integ"):
            key_kind(column_form(column, "by", "x"), "by")
        with pytest.raises(ArgumentTypeError, match="keys must be a one-dimensional column of int"):
            KeyWords(KEY).of(column)
    for column in KINDS["times"]:
        with pytest.raises(ArgumentTypeError, match="ids must be"):
            as_ids(column)


def test_short_texts_are_words_by_themselves():
    """So no secret and no chance is in them, and no two of them meet, nor a longer one."""
    raw = [bytes(range(1, n + 1)) for n in range(41)]
    some = raw + [one.decode() for one in raw]
    found = read(some)
    assert len(set(found)) == len(some)
    assert found == [twin.words(SECRET, one) for one in some]
    for seed in (9, 8):
        other = read(some, KeyWords(secret(InsecureGenerator(seed).stream())))
        same = [a == b for a, b in zip(found, other, strict=True)]
        assert same == [len(one) < 16 for one in some]
    assert other == read(some, KeyWords(secret(InsecureGenerator(8).stream())))


def test_a_fault_in_the_words_would_be_caught():
    """The control: text beside its bytes, a number beside its digits, and the sign that is lost."""
    assert len({*read(["1", b"1", 1, dt.date(1970, 1, 1)])}) == 4
    assert read(np.array([-1])) != read(np.array([2**64 - 1], np.uint64))
    assert due([-1]) != due([2**64 - 1]) and NOTHING not in (high for _, high in due(INTEGERS))


def test_what_the_kernels_refuse():
    out = np.empty((2, 3), np.uint64)
    wild = np.array([[20, 0, 0, 0], [20, 0, 0, 5], [20, 0, 1, 0]], np.uint32).view(np.uint8)
    here, size = np.zeros(20, np.uint8), np.array([20])
    address = np.array([here.ctypes.data], np.uint64)
    few, none = np.empty((2, 1), np.uint64), np.zeros(1, np.uint8)
    kernel.view_words(KEY, wild[0], address, size, None, kernel.TEXT, *few)
    views, texts = (kernel.view_words, KEY), (kernel.byte_words, KEY, b"abc")
    for row in wild[1:]:
        kernel.view_words(KEY, row, address, size, none, kernel.TEXT, *few)
        assert not few.any()
    for words, (call, *given) in (
        *(("first must not fall", (*texts, np.array(first), kernel.TEXT, *out))
          for first in ([0, 2, 1, 4], [0, 1, 2, 4], [-1, 0, 0, 0])),
        ("one place more", (*texts, np.array([0, 1]), kernel.TEXT, *out)),
        *(("stay inside", (*views, bad, address, size, None, kernel.TEXT, *few)) for bad in
          wild[1:]),
        ("views and present", (*views, wild[0], address, size, None, kernel.TEXT, *out)),
        ("width", (kernel.padded_words, KEY, np.zeros(5, np.uint8), 2, *out)),
        ("width", (kernel.text_words, KEY, np.zeros(5, np.uint32), 2, *out)),
        ("one length", (kernel.hashes, KEY, out[0], out[1][:2], out[1])),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            call(*given)
