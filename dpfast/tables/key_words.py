"""Words of keys and ids: 128 bits for each row, equal for equal keys of any type.

===================================  ====================================  =======================
key                                  low word                              high word
===================================  ====================================  =======================
integer or boolean                   its value, modulo 2**64               0; 1 from 2**63 on
date or time                         seconds since 1970, modulo 2**64      `TIME` + nanoseconds
text, bytes, up to 15 of them        the first eight bytes                 the others, their number
longer text, bytes                   SipHash-2-4, 128 bits: the low ones   most of the others
===================================  ====================================  =======================

A number, the text of its digits, and the bytes of this text are three different keys. True is the
key 1. A date is the same key as its midnight, and a time without a zone is read in UTC. Text is
hashed as UTF-8 without normalization, so texts that look equal but have different code points are
different keys. Null characters at the end of text and bytes do not count, because NumPy drops them.
Public keys must not end in null characters.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels import tables as _native
from .._kernels.rng import BitStream, wipe
from ..errors import DataError
from .arrow import arrow_present, arrow_values, family
from .forms import Arrow, Objects, Values, column_form
from .untyped import is_missing

RULE = "a one-dimensional column of integers, text or bytes"
KEYS_RULE = "a one-dimensional column of integers, text, bytes or dates"

#: The high word of dates and times, to which their nanoseconds are added; the high word of values
#: that are no keys.
TIME, NOTHING = 1 << 32, 2
#: The kinds of times without and with a time zone. Such times are never equal.
TIMES, ZONED = "times", "zoned times"
TIME_TYPES = (datetime.date, np.datetime64)
#: Units of NumPy in which a value is a span of time instead of a moment.
SPANS = ("Y", "M", "W", "D", "h", "m")
#: The seconds of NumPy's units, and the number of finer units in a second.
SECONDS = {"W": 604_800, "D": 86_400, "h": 3600, "m": 60, "s": 1}
FINER = {"ms": 10**3, "us": 10**6, "ns": 10**9}
DAY_ONE = datetime.date(1970, 1, 1).toordinal()
#: Arrays of fixed width: the type of their characters, its size, and the kernel.
FIXED: dict[str, Any] = {
    "S": (np.uint8, 1, _native.padded_words),
    "U": (np.uint32, 4, _native.text_words),
}
#: The kinds of keys of NumPy's types, except times.
KINDS = {
    **dict.fromkeys("biu", "integers"),
    **{"U": "text", "T": "text", "S": "bytes", "O": "objects"},
}
#: The number of dictionaries whose words are remembered.
DICTIONARIES = 16


class WordPairs(NamedTuple):
    """The 128-bit words of some rows, as two halves of 64 bits.

    `high` is None if all are 0, and `present` if all rows have a key. The words of a row without
    a key are arbitrary.
    """

    low: NDArray[np.uint64]
    high: NDArray[np.uint64] | None
    present: NDArray[np.bool_] | None

    def highs(self) -> NDArray[np.uint64]:
        """Return the high words as an array, also where all are 0."""
        return np.zeros(len(self.low), np.uint64) if self.high is None else self.high

    def presence(self) -> NDArray[np.bool_]:
        """Return a mask of the rows that have a key, also where all rows have one."""
        return np.ones(len(self.low), np.bool_) if self.present is None else self.present

    def only(self, rows: NDArray[np.bool_]) -> WordPairs:
        """Return these words, with a key only in the rows that a mask selects."""
        present = rows if self.present is None else self.present & rows
        return WordPairs(self.low, self.high, present)


def secret(stream: BitStream) -> _native.Key:
    """Return a fresh secret key for labels, words and hashes."""
    raw = stream.take(32)
    try:
        return _native.Key(raw)
    finally:
        wipe(raw)


def kind_of(column: Objects | Values | Arrow) -> str | None:
    """Return the kind of the keys in a column, as `key_kind` does; None if they are no keys."""
    if isinstance(column, Values):
        kind = array_kind(column.array.dtype) if column.array.ndim == 1 else None
        return ZONED if kind == TIMES and column.aware else kind
    return arrow_kind(column.chunked.type) if isinstance(column, Arrow) else "objects"


def key_kind(column: Objects | Values | Arrow, name: str, is_id: bool = False) -> str:
    """Return the kind of the keys in a column, by its declared type: no row is read.

    Keys of different kinds are never equal. An id is not a date.

    Returns
    -------
    str
        "integers", "text", "bytes", "times" (without a zone), "zoned times", "objects" or
        "nothing".

    Raises
    ------
    ArgumentTypeError
        If equality of the values is unreliable, as for floats: 0.1 + 0.2 is not 0.3.
    """
    kind = kind_of(column)
    if kind is not None and not (is_id and kind in (TIMES, ZONED)):
        return kind
    rule = RULE if is_id else KEYS_RULE
    if isinstance(column, Values):
        wrong = f" of {column.array.ndim} dimensions and {column.array.dtype}"
        checks.fail_kind(name, rule, column.original, wrong)
    assert isinstance(column, Arrow)
    checks.fail_kind(name, rule, column.chunked, f" of Arrow type {column.chunked.type}")


def zone_kind(column: Objects | Values | Arrow, name: str) -> str | None:
    """Return the kind of public keys whose type declares a time zone or none; None for others.

    A list declares nothing, and times of NumPy have no zone or are in UTC.
    """
    kind = key_kind(column, name)
    is_numpy = isinstance(column, Values) and isinstance(column.original, np.ndarray)
    return kind if kind == ZONED or (kind == TIMES and not is_numpy) else None


def span_of(name: str, keys: NDArray[Any]) -> str | None:
    """Return the unit of public keys that stand for spans of time, such as days; else None.

    Raises
    ------
    ArgumentError
        If some keys are spans and others are not, or if they have different units.
    """
    if keys.dtype.kind != "O":
        units = {np.datetime_data(keys.dtype)[0] if keys.dtype.kind == "M" else None}
    else:
        units = {unit_of(key) for key in keys.tolist() if isinstance(key, TIME_TYPES)}
    spans = {unit if unit in SPANS else None for unit in units}
    if len(spans) > 1:
        checks.fail(name, "all dates or all times, because a date means the whole day", keys)
    return spans.pop() if spans else None


def unit_of(time: datetime.date | np.datetime64) -> str:
    """Return the unit of a public date or time."""
    if isinstance(time, np.datetime64):
        return np.datetime_data(time.dtype)[0]
    return "us" if isinstance(time, datetime.datetime) else "D"


def zone_of(time: datetime.date) -> str:
    """Return the kind of a Python date or time as a key: with or without a zone."""
    return TIMES if getattr(time, "tzinfo", None) is None else ZONED


def array_kind(dtype: np.dtype[Any]) -> str | None:
    """Return the kind of keys with a NumPy dtype; None if values of that dtype are no keys."""
    if dtype.kind == "M":
        unit, count = np.datetime_data(dtype)
        return TIMES if count == 1 and unit in {*SECONDS, *FINER, "Y", "M"} else None
    return KINDS[dtype.kind] if dtype.kind in KINDS else None  # noqa: SIM401  quicker


def arrow_kind(kind: Any) -> str | None:
    """Return the kind of keys with an Arrow type; None if values of that type are no keys."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return None if types.is_dictionary(kind.value_type) else arrow_kind(kind.value_type)
    if types.is_timestamp(kind) and kind.tz is not None:
        return ZONED
    return TIMES if types.is_date(kind) or types.is_timestamp(kind) else family(kind)


class KeyWords:
    """Converter of the keys of a column of any type to words; several threads may call it.

    Parameters
    ----------
    key : Key
        A secret key. Without it nobody can find different texts with equal words. `secret` creates
        a key.
    name : str
        The name of the argument that holds the keys, for errors.
    is_id : bool
        Whether the keys are ids. For ids, an object that is neither an integer, text, bytes nor
        missing is an error. For other keys, such an object counts as missing.
    is_lenient : bool
        Whether a row without an entry in its dictionary has no key, and is not an error.
    is_text : bool
        Whether bytes among objects stand for text, as in `text_key`.
    span : str, optional
        A unit, as `span_of` returns it. Times are rounded down to the beginning of their unit.

    Notes
    -----
    Integers cost nothing, and a short text costs 25 ns. Each entry of a dictionary is read once.
    """

    def __init__(
        self,
        key: _native.Key,
        name: str = "keys",
        is_id: bool = False,
        is_lenient: bool = False,
        is_text: bool = False,
        span: str | None = None,
    ) -> None:
        self.key, self.name, self.is_id, self.is_lenient = key, name, is_id, is_lenient
        self._of_bytes = _native.TEXT if is_text else _native.BYTES
        self._span = span
        self._looked_up: dict[Any, tuple[Any, WordPairs]] = {}

    def of(self, keys: Any) -> WordPairs:
        """Return the words of the keys in some rows.

        Raises
        ------
        ArgumentTypeError
            If they are of a type that `key_kind` refuses.
        """
        column = column_form(keys, self.name, RULE if self.is_id else KEYS_RULE)
        key_kind(column, self.name, self.is_id)
        if isinstance(column, Values):
            words = self._array(column.array)
            return words if column.mask is None else words.only(~column.mask)
        if isinstance(column, Arrow):
            return together([self._arrow(chunk) for chunk in column.chunked.chunks])
        return self._objects(column.rows)

    def _array(self, array: NDArray[Any]) -> WordPairs:
        kind = array.dtype.kind
        if kind in "biu":
            return integers(array)
        if kind == "M":
            return self._spanned(dated(array))
        if kind == "T" or not array.itemsize:
            return self._objects(array.tolist())
        plain = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
        unit_type, size, write = FIXED[kind]
        out = np.empty((2, len(array)), np.uint64)
        write(self.key, plain.view(unit_type), plain.itemsize // size, out[0], out[1])
        return WordPairs(out[0], out[1], None)

    def _spanned(self, words: WordPairs) -> WordPairs:
        """Return the words of times, rounded down to the beginning of their spans."""
        if self._span is None:
            return words
        low, high = words.low, words.highs()
        are_times = high >= TIME
        whole = np.where(are_times, floored(low, self._span), low)
        return WordPairs(whole, np.where(are_times, np.uint64(TIME), high), words.present)

    def _strings(self, some: Sequence[str | bytes | None], kind: int) -> WordPairs:
        """Return the words of texts or bytes; None has no key."""
        raw = [_utf8(text) if isinstance(text, str) else text or b"" for text in some]
        first = np.zeros(len(raw) + 1, np.int64)
        np.cumsum(list(map(len, raw)), out=first[1:])
        present = np.array([text is not None for text in some]) if None in some else None
        return self._bytes(np.frombuffer(b"".join(raw), np.uint8), first, kind, present)

    def _bytes(
        self,
        units: NDArray[np.uint8],
        first: NDArray[np.int64],
        kind: int,
        present: NDArray[np.bool_] | None,
    ) -> WordPairs:
        out = np.empty((2, len(first) - 1), np.uint64)
        _native.byte_words(self.key, units, first, kind, out[0], out[1])
        return WordPairs(out[0], out[1], present)

    def _objects(self, some: Sequence[Any]) -> WordPairs:
        """Return the words of Python objects, each read separately."""
        types = set(map(type, some))
        if types <= {str, type(None)}:
            return self._strings(some, _native.TEXT)
        if types <= {int, bool}:
            try:
                return integers(np.array(some, np.int64))
            except OverflowError:
                pass
        low, high = np.zeros((2, len(some)), np.uint64)
        read = [self._read(key) for key in some]
        present = np.array([key is not None for key in read], np.bool_)
        for kind, tag in ((str, _native.TEXT), (bytes, self._of_bytes)):
            where = [i for i, key in enumerate(read) if type(key) is kind]
            word_pairs = self._strings([read[i] for i in where], tag)
            low[where], high[where] = word_pairs.low, word_pairs.highs()
        where = [i for i, key in enumerate(read) if type(key) is tuple]
        word_pairs = self._spanned(_of_pairs([read[i] for i in where]))
        low[where], high[where] = word_pairs.low, word_pairs.highs()
        return WordPairs(low, high, present)

    def _read(self, key: Any) -> Any:
        """Return an object as text, bytes, or a pair of words; None if the object is no key."""
        as_python = None
        with suppress(Exception):  # an object may raise any error here
            as_python = plain(key)
        is_time = isinstance(as_python, tuple) and as_python[1] >= TIME
        if self.is_id and (is_time or (as_python is None and not is_missing(key, or_nan=True))):
            raise DataError(
                f"{self.name} must be text, bytes or integers of at most 64 bits, but some are not"
            )
        return as_python

    def _arrow(self, array: Any) -> WordPairs:
        import pyarrow as pa

        types = pa.types
        kind, nulls = array.type, array.null_count
        if types.is_null(kind):
            return WordPairs(np.zeros(len(array), np.uint64), None, np.zeros(len(array), np.bool_))
        if types.is_dictionary(kind):
            return self._dictionary(array)
        if types.is_boolean(kind):
            array = array.cast(pa.uint8())
        elif types.is_date32(kind):
            array = array.view(pa.int32())
        elif types.is_date64(kind) or types.is_timestamp(kind):
            array = array.view(pa.int64())
        if types.is_integer(array.type):
            values, present = arrow_values(array)
            if arrow_kind(kind) == "integers":
                return integers(values)._replace(present=present)
            unit = kind.unit if types.is_timestamp(kind) else "D" if types.is_date32(kind) else "ms"
            return self._spanned(times(values.astype(np.int64), unit, present))
        text = family(kind) == "text"
        if types.is_string_view(kind) or types.is_binary_view(kind):
            return self._views(array, _native.TEXT if text else _native.BYTES)
        array = array.cast(pa.large_string() if text else pa.large_binary())
        _, offsets, data = array.buffers()
        first = np.zeros(1, np.int64)
        if len(array):  # an empty array may lack offsets
            first = np.frombuffer(offsets, np.int64, len(array) + 1, 8 * array.offset)
            first = np.require(first, requirements="A")
        units = np.frombuffer(data, np.uint8) if data and data.size else np.empty(0, np.uint8)
        present = arrow_present(array) if nulls else None
        return self._bytes(units, first, _native.TEXT if text else _native.BYTES, present)

    def _views(self, array: Any, kind: int) -> WordPairs:
        """Return the words of an Arrow array of views, as Polars stores text, without a copy."""
        _, views, *buffers = array.buffers()
        rows = slice(16 * array.offset, 16 * (array.offset + len(array)))
        units = np.frombuffer(views, np.uint8)[rows] if len(array) else np.empty(0, np.uint8)
        addresses = np.array([buffer.address for buffer in buffers], np.uint64)
        sizes = np.array([buffer.size for buffer in buffers], np.int64)
        present = arrow_present(array) if array.null_count else None
        mask = None if present is None else present.view(np.uint8)
        out = np.empty((2, len(array)), np.uint64)
        _native.view_words(self.key, units, addresses, sizes, mask, kind, out[0], out[1])
        return WordPairs(out[0], out[1], present)

    def _dictionary(self, array: Any) -> WordPairs:
        """Return the words of a dictionary array, and read each entry of the dictionary once."""
        entries = array.dictionary
        parts = (None if buffer is None else buffer.address for buffer in entries.buffers())
        where = (*parts, entries.offset, len(entries), str(entries.type))
        entry = self._looked_up.get(where)
        if entry is None:
            if len(self._looked_up) >= DICTIONARIES:
                self._looked_up.clear()
            entry = entries, self._arrow(entries)
            self._looked_up[where] = entry  # keeps the entries, so that their address stays theirs
        dictionary_words = entry[1]
        codes, present = arrow_values(array.indices)
        used = codes if present is None else codes[present]
        if len(used) and not 0 <= used.min() <= used.max() < len(entries):
            if not self.is_lenient:
                raise DataError(
                    f"{self.name} must have only indices of their dictionary, but some are outside"
                )
            inside = (codes >= 0) & (codes < len(entries))
            present = inside if present is None else present & inside
        if present is not None:
            codes = np.where(present, codes, 0)
        if not len(entries):
            return WordPairs(np.zeros(len(array), np.uint64), None, present)
        high = None if dictionary_words.high is None else dictionary_words.high[codes]
        words = WordPairs(dictionary_words.low[codes], high, present)
        return (
            words
            if dictionary_words.present is None
            else words.only(dictionary_words.present[codes])
        )


def together(parts: Sequence[WordPairs]) -> WordPairs:
    """Return the words of several stretches of rows, one after the other, as one."""
    if len(parts) == 1:
        return parts[0]
    low = np.concatenate([np.empty(0, np.uint64), *(part.low for part in parts)])
    high = present = None
    if any(part.high is not None for part in parts):
        high = np.concatenate([part.highs() for part in parts])
    if any(part.present is not None for part in parts):
        present = np.concatenate([part.presence() for part in parts])
    return WordPairs(low, high, present)


def integers(values: NDArray[Any]) -> WordPairs:
    """Return the words of integers and booleans of any NumPy type."""
    if values.dtype.kind == "u" and values.itemsize == 8:
        low = np.ascontiguousarray(values, np.uint64)
        return WordPairs(low, low >> np.uint64(63), None)
    return WordPairs(np.ascontiguousarray(values, np.int64).view(np.uint64), None, None)


def times(values: NDArray[np.int64], unit: str, present: NDArray[np.bool_] | None) -> WordPairs:
    """Return the words of times since 1970; a time beyond int64 milliseconds is no key."""
    high = np.full(len(values), TIME, np.uint64)
    if unit in FINER:
        seconds = values // FINER[unit]
        high += ((values - seconds * FINER[unit]) * (10**9 // FINER[unit])).view(np.uint64)
        return WordPairs(seconds.view(np.uint64), high, present)
    scale = SECONDS[unit]
    most = (2**63 - 1) // (1000 * scale)
    fits = (values <= most) & (values >= -most)
    low = (np.where(fits, values, 0) * scale).view(np.uint64)
    return WordPairs(low, high, fits if present is None else present & fits)


def floored(seconds: NDArray[np.uint64], unit: str) -> NDArray[np.uint64]:
    """Return the low words of times, rounded down to whole units such as days."""
    spans = seconds.view("M8[s]").astype(f"M8[{unit}]")
    return spans.astype("M8[s]").view(np.uint64)


def _of_pairs(pairs: Sequence[tuple[int, int]]) -> WordPairs:
    both = np.array(pairs, np.uint64).reshape(-1, 2)
    return WordPairs(both[:, 0].copy(), both[:, 1].copy(), None)


def dated(array: NDArray[Any]) -> WordPairs:
    """Return the words of NumPy dates and times."""
    unit, _ = np.datetime_data(array.dtype)
    if unit in ("Y", "M"):
        array, unit = array.astype("M8[D]"), "D"
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    return times(plain.view(np.int64), unit, ~np.isnat(plain))


def plain(key: Any) -> str | bytes | tuple[int, int] | None:
    """Return a key as plain text, bytes, or its pair of words; None if it is not a key.

    Subclasses of these types may redefine equality, so the exact type is checked.
    """
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, bytes):
        return bytes.__getitem__(key, slice(None))
    if isinstance(key, bytearray):
        return bytes(memoryview(key))
    if isinstance(key, np.datetime64):
        if array_kind(key.dtype) is None or np.isnat(key):
            return None
        words = dated(np.array([key]))
        return (int(words.low[0]), int(words.highs()[0])) if words.presence()[0] else None
    if isinstance(key, (np.integer, np.bool_)) and not isinstance(key, np.timedelta64):
        key = int(key)
    elif isinstance(key, int):
        key = int.__int__(key)
    elif isinstance(key, datetime.date):
        try:
            return None if is_missing(key) else _moment(key)
        except Exception:  # a time zone of the caller may raise any error
            return None
    else:
        return None
    if not -(2**63) <= key < 2**64:
        return None
    return key % 2**64, int(key >= 2**63)


def _moment(date: datetime.date) -> tuple[int, int]:
    time, days = datetime.timedelta(0), date.toordinal() - DAY_ONE
    if isinstance(date, datetime.datetime):
        day = datetime.timedelta(hours=date.hour, minutes=date.minute, seconds=date.second)
        time = day - (date.utcoffset() or datetime.timedelta(0))
        time += datetime.timedelta(microseconds=date.microsecond)
    seconds = 86_400 * (days + time.days) + time.seconds
    # A pandas Timestamp has nanoseconds.
    finer = 1000 * time.microseconds + int(getattr(date, "nanosecond", 0))
    return seconds % 2**64, TIME + finer % 10**9


def text_key(raw: bytes) -> str | bytes:
    """Return the key of stored text: the text, or the bytes themselves if they are not UTF-8.

    So different texts are different keys, for any stored text.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:  # the message quotes the row
        return raw


def shown_key(key: str | bytes) -> str:
    """Return a key of text or bytes as text that differs from all other keys of the column.

    Text that is not UTF-8 is shown as Python writes bytes. So is text that begins like such bytes.
    """
    raw = _utf8(key) if isinstance(key, str) else key
    text = text_key(raw)
    is_plain = isinstance(text, str) and not text.startswith(("b'", 'b"'))
    return str(text) if is_plain else repr(raw)


def unit_bytes(unit: int) -> bytes:
    """Return the bytes as which one unit of NumPy text is hashed, a code point or not."""
    if unit <= 0x10FFFF:
        return _utf8(chr(unit))
    return bytes([0xF0 | unit >> 18 & 7, *(0x80 | unit >> shift & 63 for shift in (12, 6, 0))])


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
