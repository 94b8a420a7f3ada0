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
    """The two words of each row of a piece; None where there is no key."""
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


def test_objects_equal_the_plain_twin():
    keys = [*INTEGERS, *TEXTS, *[text.encode() for text in TEXTS], *TIMES, None, "\ud800"]
    assert read(keys) == due(keys)
    assert read(INTEGERS[:8]) == due(INTEGERS[:8]) and read(TEXTS) == due(TEXTS)
    assert read([bytearray(b"ab")]) == due([b"ab"])
    assert len({*read(keys)}) == len(keys) - 1  # True is 1, and nothing else is anything else
    for one in keys:  # each by itself is what it is among others
        assert read([one]) == due([one])


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


@pytest.mark.parametrize("dtype", [*"bhiqBHIQ", "?"])
def test_equal_integers_meet_whatever_their_type(dtype):
    info = np.iinfo(dtype if dtype != "?" else "u1")
    keys = [k for k in [0, 1, 100, -100, info.min, info.max] if info.min <= k <= info.max]
    keys = [0, 1, True] if dtype == "?" else keys
    array = np.array(keys, dtype)
    for form in (array, array.astype(array.dtype.newbyteorder(">")), np.repeat(array, 3)[::3]):
        assert read(form) == due(keys)
    assert read(pa.array(array)) == read(array.tolist()) == due(keys)
    assert read(np.ma.array(array, mask=array == 1)) == due([None if k == 1 else k for k in keys])
    some = pa.array([None, *array.tolist()], pa.array(array).type)
    for form in (some, some.dictionary_encode(), pa.chunked_array([some[:2], some[:0], some[2:]])):
        assert read(form) == due([None, *keys])
    assert (KeyWords(KEY).of(array).high is None) == (dtype != "Q")


def test_equal_texts_meet_whatever_their_form():
    assert read([]) == read(pa.array([], "str")) == read(pa.chunked_array([], pa.int8())) == []
    kinds = None, ">U9", object, np.dtypes.StringDType()
    forms = [tuple(TEXTS), np.repeat(np.array(TEXTS), 2)[::2]]
    for form in (*forms, *(np.array(TEXTS, kind) for kind in kinds)):
        assert read(form) == due(TEXTS)
    raw = [text.encode() for text in TEXTS]
    assert read(np.array(raw)) == read(np.array(raw, "S90")) == due(raw)
    assert read(np.array(["", ""])) == read(np.array(["", ""], "U0")) == due(["", ""])
    for keys, kinds in (
        (TEXTS, (pa.string(), pa.large_string(), pa.string_view())),
        (raw, (pa.binary(), pa.large_binary(), pa.binary_view())),
    ):
        for kind in kinds:
            some = pa.array([None, keys[2], *keys, None], kind)
            plain = [None, *due([keys[2], *keys]), None]
            coded = some.cast(kinds[0]).dictionary_encode()
            coded = pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.cast(kind))
            for form in (some, coded):
                assert read(form) == plain and read(form[2:-1]) == due(keys)
    assert read(pa.array([b"ab", None], pa.binary(2))) == [*due([b"ab"]), None]
    assert read(["a\0", "\0"]) == read(["a", ""]) == read(pa.array(["a\0\0", "\0"]))


@pytest.mark.parametrize("alphabet", ["a", "ab\0", "日é"])
def test_texts_of_every_length_at_every_place(alphabet):
    """Short texts are read 16 bytes at a time: what stands behind them must not count."""
    rng = np.random.default_rng(len(alphabet))
    texts = ["".join(rng.choice(list(alphabet), n)) for n in [*range(40), *range(15, 18)]]
    kinds = pa.string(), pa.large_string(), pa.string_view()
    for some in (texts, texts[::-1], rng.permutation(texts).tolist(), texts[-1:], texts[3:4]):
        for kind in kinds:
            assert read(pa.array(some, kind)) == due(some)
            assert read(pa.array([*some, "z", *some], kind)[len(some) + 1 :]) == due(some)


def test_equal_times_meet_whatever_their_form():
    days = [dt.date(1970, 1, 1), dt.date(1969, 12, 31), dt.date(2262, 1, 1), None]
    expected = due(days)
    assert read(pa.array(days, pa.date32())) == read(pa.array(days, pa.date64())) == expected
    for unit in ("D", "h", "m", "s", "ms", "us", "ns"):
        array = np.array(days, "M8[D]").astype(f"M8[{unit}]")
        assert read(array) == read(array.astype(array.dtype.newbyteorder(">"))) == expected
        assert read(list(array)) == expected
    assert read(np.array(["1970", "1969"], "M8[Y]")) == due([days[0], dt.date(1969, 1, 1)])
    assert read(np.array(["1970-01-01"], "M8[W]")) == expected[:1]
    fine = [dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(1900, 1, 1, 0, 0, 0, 999_999), None]
    for unit in ("us", "ns"):
        assert read(np.array(fine, f"M8[{unit}]")) == due(fine)
        for zone in (None, "America/New_York"):  # what is stored is UTC
            assert read(pa.array(fine, pa.timestamp(unit, zone))) == due(fine)
    ((_, high),) = read(np.array([1], "M8[ns]"))
    assert high == 2**32 + 1 and read(np.array([2**62, 0], "M8[W]"))[0] is None


def test_columns_of_pandas_and_polars():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    moment, words = dt.datetime(2024, 2, 29, 12), ["b", None, "b"]
    for column, keys in (
        (pd.Series([3, None], dtype="Int64"), [3, None]),
        (pd.Series(["b", None, "a"]), ["b", None, "a"]),
        (pd.Series(words, dtype="category"), words),
        (pd.Series([moment, None]), [moment, None]),
        ([pd.Timestamp(moment), pd.NaT, pd.NA], [moment, None, None]),
        (pl.Series(words, dtype=pl.Categorical), words),
        (pl.Series(words), words),
        (pl.Series([moment.date(), None]), [moment.date(), None]),
    ):
        assert read(column) == due(keys)
    ((_, high),) = read([pd.Timestamp(1)])
    assert high == 2**32 + 1


def test_any_cut_gives_the_same_words():
    rng = np.random.default_rng(1)
    keys = [f"k{i}" if i else None for i in rng.integers(0, 40, 300).tolist()]
    forms = [
        keys,
        np.array([*keys[:-1], 3], object),
        pa.array(keys),
        np.array(list(map(str, keys))),
    ]
    for column in (*forms, pa.array(keys).dictionary_encode(), rng.integers(-9, 9, 300)):
        whole, words = read(column), KeyWords(KEY)
        for step in (1, 7, 299):
            cut = [read(column[at : at + step], words) for at in range(0, 300, step)]
            assert [one for part in cut for one in part] == whole


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
        with pytest.raises(DataError, match="keys must be entries of their dictionary") as caught:
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
