"""Codes of keys beside their twin, a dictionary, in every form and any cut into chunks."""

import datetime as dt
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from dpfast._kernels import groups as kernel
from dpfast._kernels.tables import Key
from dpfast.tables.key_words import KeyWords

from ..reference.groups import codes as twin
from ..support.pairwise import quick_rows

KEY = Key(bytes(range(32)))
WORDS = KeyWords(KEY)
DAY = dt.datetime(2020, 1, 1)

#: Some keys of each kind, and the forms that they come in.
FORMS = {
    "integers": (
        [None, 0, 1, -1, 5, 2**62, *range(40)],
        [list, lambda k: pa.array(k, pa.int64()), lambda k: np.array(k, object)],
    ),
    "large integers": ([None, 2**63, 2**64 - 1, 7], [list, lambda k: pa.array(k, pa.uint64())]),
    "text": (
        [None, "", "a", "b", "UA", "日本", *map(str, range(40))],
        [list, pa.array, lambda k: pa.array(k).dictionary_encode(), np.array],
    ),
    "times": (  # of one low word, and many high ones
        [None, *(DAY + dt.timedelta(microseconds=i) for i in range(60)), DAY + dt.timedelta(1)],
        [list, lambda k: pa.array(k, pa.timestamp("us")), lambda k: np.array(k, "M8[ns]")],
    ),
    "mixed": ([None, 1, "1", b"1", dt.date(1970, 1, 1), 2**63], [list]),
}
CASES = [(kind, i) for kind, (_, forms) in FORMS.items() for i in range(len(forms))]


def found(codes, piece):
    words = WORDS.of(piece)
    out = np.full(len(words.low), -7, np.int32)
    codes.find(*words, out)
    return out.tolist()


def added(codes, piece):
    words = WORDS.of(piece)
    out = np.full(len(words.low), -7, np.int32)
    fresh = codes.add(*words, out)
    return out.tolist(), fresh.tolist()


@quick_rows(5)
@pytest.mark.parametrize("kind, i", CASES)
def test_codes_are_those_of_the_twin_in_every_form_and_cut(kind, i):
    keys, forms = FORMS[kind]
    rng = random.Random(i)
    for size in (1, 17, 1000):
        codes, plain = kernel.Codes(KEY), twin.Codes()
        for at in range(0, 1000, size):
            some = rng.choices(keys, k=size)
            form = forms[i]
            if form is np.array and None in some:  # NumPy's text has no missing ones
                some = ["a" if one is None else one for one in some]
            assert found(codes, form(some)) == plain.find(some)
            assert added(codes, form(some)) == plain.add(some)
            if size == 1 and at > 60:
                break
        assert len(codes) == len(plain.numbers)
        for other in forms[:2]:
            assert found(codes, other(keys)) == plain.find(keys)


def test_keys_that_share_a_shortcut():
    """Of the first keys only one a place has a shortcut; the others are found as without it."""
    odd = int.from_bytes(bytes(range(8)), "little") | 1
    everything = np.arange(1 << 19, dtype=np.uint64)
    places = (everything * np.uint64(odd)) >> np.uint64(52)
    crowd = everything[np.isin(places, [3, 77, 4095])].astype(np.int64)
    assert len(crowd) > 300
    keys = np.concatenate([crowd[:300], np.arange(10**9, 10**9 + 900)])  # shortcuts end at 1,024
    codes, plain = kernel.Codes(KEY), twin.Codes()
    rng = np.random.default_rng(3)
    for least in (1, 5, 290, 300, 1000, 1024, 1025, 1200):
        rows = rng.integers(0, least, 700)
        assert found(codes, keys[rows]) == plain.find(keys[rows].tolist())
        assert added(codes, keys[rows]) == plain.add(keys[rows].tolist())
        assert found(codes, crowd) == plain.find(crowd.tolist())
        some = [None if i % 3 else key for i, key in enumerate(keys[rows].tolist())]
        assert found(codes, some) == plain.find(some)


def test_large_integers_after_small_ones():
    """The high words are looked at from the first one that is not 0 on."""
    codes = kernel.Codes(KEY)
    assert added(codes, np.arange(5000)) == (list(range(5000)), list(range(5000)))
    big = np.arange(5000, dtype=np.uint64) + np.uint64(2**63)
    assert found(codes, big) == [-1] * 5000
    low = big - np.uint64(2**63)  # the same low words would be those of small ones
    out = np.empty(5000, np.int32)
    codes.find(low, np.ones(5000, np.uint64), None, out)
    assert (out == -1).all()
    fresh = codes.add(low, np.ones(5000, np.uint64), None, out)
    assert out.tolist() == list(range(5000, 10_000)) and fresh.tolist() == list(range(5000))
    codes.find(low, None, None, out)
    assert out.tolist() == list(range(5000))
    codes.find(low, np.ones(5000, np.uint64), None, out)
    assert out.tolist() == list(range(5000, 10_000))
    codes.find(low, np.full(5000, 2, np.uint64), None, out)
    assert (out == -1).all()


def test_many_threads_may_find_at_once():
    keys = np.random.default_rng(1).integers(0, 10**9, 20_000)
    codes = kernel.Codes(KEY)
    due, _ = added(codes, keys)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: found(codes, keys), range(8))) == [due] * 8


@pytest.mark.parametrize("dtype", "bhiqBHIQ")
def test_dense_codes_are_those_of_the_twin(dtype):
    info = np.iinfo(dtype)
    edges = [info.min, info.min + 1, 0, 1, 2, 7, 99, 100, 101, info.max - 1, info.max]
    values = np.array([v for v in edges if info.min <= v <= info.max], dtype)
    present = np.arange(len(values)) % 3 > 0
    out = np.empty(len(values), np.int32)
    for first in (-(2**63), -200, -5, 0, 2, 99, 2**62, 2**63 - 1 - 101):
        for count in (0, 1, 101):
            kernel.dense(values, first, count, out)
            assert out.tolist() == twin.dense(values.tolist(), first, count)
            kernel.dense(values, first, count, out, present)
            some = [v if here else None for v, here in zip(values.tolist(), present, strict=True)]
            assert out.tolist() == twin.dense(some, first, count)
    kernel.dense(values, 0, 2**31 - 1, out)
    assert out.tolist() == twin.dense(values.tolist(), 0, 2**31 - 1)


def test_pairs_of_codes():
    a, b = (x.ravel().astype(np.int32) for x in np.meshgrid([-1, 0, 1, 2**31 - 1], [-1, 0, 1, 5]))
    low, present = np.empty(16, np.uint64), np.empty(16, bool)
    kernel.pair(a, b, low, present)
    keys = [None if -1 in both else both for both in zip(a.tolist(), b.tolist(), strict=True)]
    out, plain = np.empty(16, np.int32), twin.Codes()
    codes = kernel.Codes(KEY)
    fresh = codes.add(low, None, present, out)
    assert (out.tolist(), fresh.tolist()) == plain.add(keys)
    kernel.pair(b, a, low, present)
    codes.find(low, None, present, out)
    keys = [None if -1 in both else both for both in zip(b.tolist(), a.tolist(), strict=True)]
    assert out.tolist() == plain.find(keys)


def test_a_fault_in_the_codes_would_be_caught():
    """The control: null as a key, a number beside its digits, codes in the order of the keys."""
    keys = ["b", None, "a", 1, "1"]
    due = twin.Codes().add(keys)
    assert added(kernel.Codes(KEY), keys) == due == ([0, -1, 1, 2, 3], [0, 2, 3, 4])
    for faulty in (["b", "null", "a", 1, "1"], ["b", None, "a", "1", "1"]):
        assert twin.Codes().add(faulty) != due
    ordered = twin.Codes()
    ordered.add(["1", "a", "b"])
    assert ordered.find(keys) != due[0]
    assert twin.dense([2**63], -(2**63), 5) == [-1]  # as the difference modulo 2**64 is not


def test_what_is_refused():
    codes, out = kernel.Codes(KEY), np.empty(3, np.int32)
    low = np.zeros(3, np.uint64)
    for words in ((low[:2], None, None), (low, low[:2], None), (low, None, np.ones(2, bool))):
        for act in (codes.find, codes.add):
            with pytest.raises(ValueError, match="one length"):
                act(*words, out)
    with pytest.raises(ValueError, match="one length"):
        kernel.dense(np.zeros(2, np.int8), 0, 5, out)
    for first, count in ((0, -1), (0, 2**31), (2**63 - 1, 1)):
        with pytest.raises(ValueError, match="first and count"):
            kernel.dense(np.zeros(3, np.int8), first, count, out)
    with pytest.raises(ValueError, match="one length"):
        kernel.pair(out, out, low[:2], np.ones(3, bool))
    assert added(codes, []) == ([], []) and found(codes, []) == [] and len(codes) == 0
