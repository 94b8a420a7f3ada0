"""What private keys look like: a function of the column's type and of the key, of no row."""

import datetime
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pytest

import dpfast as dp
from dpfast._core.once import forget
from dpfast.errors import DataError
from dpfast.groups import keys as keys_module
from dpfast.measurement import columns_by_name
from dpfast.rng import InsecureGenerator
from dpfast.tables.columns import Table

from ..support.hostile_engine import HostileEngine
from ..support.refused import refused

LOSS = {"epsilon": 5, "delta": 1e-9}
N = 400
DAY = datetime.datetime(2020, 1, 1)
ZONED = DAY.replace(tzinfo=datetime.UTC)
#: Two ways to write one key, for each form that has them, and the one way to show it.
TWICE = {
    "zeros in a list": (["a\0"] + ["a"] * N, "a"),
    "zeros of bytes": ([b"a\0\0"] + [bytearray(b"a")] * N, b"a"),
    "zeros in Arrow": (pa.array(["a\0"] + ["a"] * N), "a"),
    "zeros in a dictionary": (pa.array(["a\0"] + ["a"] * N).dictionary_encode(), "a"),
    "zeros in NumPy": (np.array(["a\0"] + ["a"] * N, np.dtypes.StringDType()), "a"),
    "truths": ([True] + [1] * N, 1),
    "a date and its midnight": ([DAY] + [DAY.date()] * N, np.datetime64(DAY)),
    "zones": ([ZONED] + [ZONED.astimezone()] * N, np.datetime64(DAY)),
    "pandas": ([pd.Timestamp(DAY)] + [np.datetime64(DAY, "s")] * N, np.datetime64(DAY)),
}


@pytest.mark.parametrize("name", TWICE)
def test_one_key_has_one_form_whichever_row_is_first(name):
    column, due = TWICE[name]
    order = [*range(1, N + 1), 0]
    last = column.take(order) if hasattr(column, "take") else [column[i] for i in order]
    for rows in (column, last):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", dp.errors.PrivacyAdvice)
            (found,) = dp.select_keys(rows, **LOSS)
        assert found == due and type(found) is type(due)


@pytest.mark.parametrize(
    ("key", "due"),
    [
        (pd.Timestamp(7), np.datetime64(7, "ns")),
        (np.datetime64(10**11, "D"), np.datetime64(864 * 10**16, "ms")),
        (np.datetime64(2**62 + 1, "ms"), np.datetime64(2**62 + 1, "ms")),
        (-(2**63), -(2**63)),
        (2**63, 2**63),
        (np.uint8(3), 3),
        ("\ud800", "\ud800"),
    ],
)
def test_objects_far_out(key, due):
    found = dp.select_keys([key] * N + [np.datetime64(1, "ns"), "b", b"c", 2], **LOSS)
    assert found.tolist() == [due]


def stored(raw):
    """Arrow's text of any bytes, which nobody has looked at."""
    return pa.array(raw, pa.binary()).view(pa.string())


#: Text as it is stored: some of it is no UTF-8, and decoders show much of that alike.
RAW = [b"caf\xe9", b"caf\xe8", b"\xff", b"\xff\xfe", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
RAW += [b"b'\\xff'", b"\\xff", b"caf\\xe9", "\ufffd".encode(), "caf\ufffd".encode(), b"tea"]
STORED = stored([one for one in RAW for _ in range(N)])
SOME = [*RAW[:2], b"tea", "\ufffd".encode()]
PARTS = [stored(some * N) for some in (SOME[:3], SOME[1:], SOME[:1])]
IN_ARROW = {
    "text": STORED,
    "large text": STORED.cast(pa.large_string()),
    "views": STORED.cast(pa.string_view()),
    "a dictionary": STORED.dictionary_encode(),
    "bytes": STORED.cast(pa.binary()),
}


@pytest.mark.parametrize("name", IN_ARROW)
def test_keys_that_are_no_utf8_stay_apart(name):
    table = pa.table({"k": IN_ARROW[name]})
    found = dp.group_by(table, "k").count(epsilon=400, delta=1e-9)
    raw = [key.encode() if isinstance(key, str) else key for key in found["k"].tolist()]
    assert sorted(raw) == sorted(RAW) and set(found["count"].tolist()) == {N}
    again = dp.group_by(table, "k", keys=found["k"]).count(epsilon=400)
    assert again["count"].tolist() == [N] * len(RAW)
    if name != "bytes":
        assert all(isinstance(key, str) for key in found["k"] if key in ("tea", "\ufffd"))
    rows = [line.rsplit(None, 2)[0] for line in repr(found).splitlines()[1:-1]]
    assert len(set(rows)) == len(set(found.to_dict()["k"])) == len(RAW)


@pytest.mark.parametrize("in_groups", [False, True])
def test_engines_have_the_same_keys_of_bytes_that_are_no_text(in_groups):
    frames = [pd.DataFrame({"k": pd.array(part, pd.ArrowDtype(pa.string()))}) for part in PARTS]
    engine = HostileEngine([frames[0][:0], *frames])
    held, whole = Table(engine, ["k"]), pa.table({"k": pa.concat_arrays(PARTS)})
    keys = ["tea", *SOME[:2], "ale"] if in_groups else None
    loss = {"epsilon": 2} if in_groups else {"epsilon": 2, "delta": 1e-9}
    answers = [
        dp.group_by(data, "k", keys=keys).count(**loss, rng=InsecureGenerator(4))
        for data in (held, whole)
    ]
    np.testing.assert_equal(*answers)
    assert len(answers[0]["k"]) == 4


@pytest.mark.parametrize(
    ("module", "name", "fault", "given"),
    [
        (keys_module, "_plain", lambda key: key, "zeros in a list"),
        (keys_module, "text_key", lambda raw: raw.decode(errors="replace"), "text"),
        (columns_by_name, "shown_key", lambda raw: raw.decode(errors="backslashreplace"), "bytes"),
    ],
)
def test_a_first_row_that_decides_and_keys_that_become_one_are_found(
    module, name, fault, given, monkeypatch
):
    monkeypatch.setattr(module, name, fault)
    with pytest.raises(AssertionError):
        if given in TWICE:
            test_one_key_has_one_form_whichever_row_is_first(given)
        test_keys_that_are_no_utf8_stay_apart(given)
    if given == "text":
        with pytest.raises(DataError, match="two groups of a partition have the same key"):
            test_engines_have_the_same_keys_of_bytes_that_are_no_text(False)


COLUMNS = {
    "integers": np.arange(N) % 2,
    "text": np.array(["a", "b"])[np.arange(N) % 2],
    "truths": np.arange(N) % 2 == 0,
    "times": np.array(["2020-01-01", "2021-01-01"], "M8[ns]")[np.arange(N) % 2],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_type_of_keys_is_that_of_the_column_with_rows_or_without(name):
    for form in ("arrays", "pandas", "categories", "arrow"):
        types = set()
        for rows in (N, 1, 0):
            column = pd.Series(COLUMNS[name][:rows])
            column = column.astype("category") if form == "categories" else column
            table = {"k": column.to_numpy()} if form == "arrays" else pd.DataFrame({"k": column})
            table = pa.table({"k": COLUMNS[name][:rows]}) if form == "arrow" else table
            types.add(dp.group_by(table, "k").count(**LOSS)["k"].dtype)
        assert len(types) == 1, form


def test_a_type_that_rows_tell_is_found(monkeypatch):
    """Planted: no key, no type."""
    make = keys_module.PrivateKeys.__init__

    def untyped(self, *given, **named):
        make(self, *given, **named)
        self.none = {name: np.empty(0, bool) for name in self.none}

    monkeypatch.setattr(keys_module.PrivateKeys, "__init__", untyped)
    forget()
    with pytest.raises(AssertionError):
        test_the_type_of_keys_is_that_of_the_column_with_rows_or_without("integers")
    forget()


def test_bytes_are_text_only_where_text_cannot_be_said_otherwise():
    for keys in ([b"tea"], ["tea", b"tea"], [1, RAW[0]], ["\ud800", b"\xed\xa0\x80"]):
        release = lambda keys=keys, **kw: dp.group_by({"k": STORED}, "k", keys=keys).count(**kw)  # noqa: E731
        refused(release, "^keys must be", epsilon=1)


def test_private_keys_of_several_columns_ascend_from_the_first_to_the_last():
    rng = np.random.default_rng(6)
    for kind in (str, np.int64, object, "M8[D]"):
        own = rng.integers(0, 3, 4000)
        first = own.astype(kind) if kind is not object else np.array([1, "a", "b"], object)[own]
        table = {"a": first, "b": rng.integers(0, 4, 4000).astype(str)}
        found = dp.group_by(table, ["a", "b"]).count(epsilon=50, delta=1e-3)
        rows = [(str(a), b) for a, b in zip(found["a"], found["b"], strict=True)]
        assert len(rows) == 12 and rows == sorted(rows)


def test_units_that_are_no_code_points_stay_apart():
    units = np.array([0x110000, 0x110001, 0xD800, 97, 0x210000] * N, np.uint32)
    for text in (units.view("U1"), units.byteswap().view(np.dtype("U1").newbyteorder())):
        found = dp.group_by({"k": text}, "k").count(epsilon=400, delta=1e-9)
        due = ["a", "\ud800", "\U00010000", b"\xf4\x90\x80\x80", b"\xf4\x90\x80\x81"]
        assert found["k"].tolist() == due and set(found["count"].tolist()) == {N}
    days = pa.array([3_600_000] * N, pa.int64()).view(pa.date64())
    assert dp.select_keys(days, **LOSS).tolist() == [datetime.datetime(1970, 1, 1, 1)]
