"""Keys: the group of each row, and the names of groups.

Each key of a column is read as a word of 128 bits (`tables.key_words`), and each word gets a code.
For several columns, each combination of codes gets a code. *Public* keys have codes in the order in
which they are given. A row whose keys are not among them belongs to no group. *Private* keys get
codes in the order in which rows are read. Before anything random is drawn, they are put in the
order of their words, so the order of rows has no effect.

Code -1 means no group: for a null key, a key that is not public, or a row that is left out. With
`other_key` there is one more group, the last one, for rows with another key or null. So each row
still has one group or none, by its values alone, and a step between neighbors changes no more
groups than before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._core import checks
from .._kernels.groups import Codes, dense, pair
from .._kernels.tables import Key
from ..tables.arrow import looked_up
from ..tables.batches import Batch, Batches, MemoryColumn
from ..tables.columns import Columns
from ..tables.data import form_of
from ..tables.forms import (
    Arrow,
    Objects,
    Values,
    column_form,
    columns_of_table,
    is_distributed,
    is_lazy,
)
from ..tables.in_memory import named
from ..tables.key_words import (
    KEYS_RULE,
    TIME,
    TIMES,
    KeyWords,
    WordPairs,
    key_kind,
    plain,
    span_of,
    text_key,
    unit_bytes,
    zone_kind,
)
from ..tables.public_values import expect_matches
from ..tables.sql.keys import Listed

Int32s: TypeAlias = NDArray[np.int32]

RULE = "a list of public keys (for several columns, a table or lists)"
#: The most groups: codes are int32.
MOST = (1 << 31) - 2
#: The name of a single key column, and of the share of the loss for partition selection.
KEYS = "keys"


class Chain:
    """Codes of keys of several columns: each column has codes, and pairs of codes have codes."""

    def __init__(self, columns: int, key: Key) -> None:
        self.columns = [Codes(key) for _ in range(columns)]
        self.pairs = [Codes(key) for _ in range(columns - 1)]

    def __len__(self) -> int:
        return len(self.pairs[-1] if self.pairs else self.columns[0])

    def find(self, words: Sequence[WordPairs]) -> Int32s:
        """Return the code of each row's key, or -1 for a key without a code."""
        codes = self._of(self.columns[0], words[0])
        for table, column_words, pairs in zip(self.columns[1:], words[1:], self.pairs, strict=True):
            codes = self._of(pairs, paired(codes, self._of(table, column_words)))
        return codes

    def add(self, words: Sequence[WordPairs]) -> tuple[Int32s, NDArray[np.int64]]:
        """Return the code of each row's key, new or known, and the first row of each new key."""
        codes = np.empty(len(words[0].low), np.int32)
        first = self.columns[0].add(*words[0], codes)
        for table, column_words, pairs in zip(self.columns[1:], words[1:], self.pairs, strict=True):
            more = np.empty(len(codes), np.int32)
            table.add(*column_words, more)
            first = pairs.add(*paired(codes, more), codes)
        return codes, first

    @staticmethod
    def _of(table: Codes, words: WordPairs) -> Int32s:
        codes = np.empty(len(words.low), np.int32)
        table.find(*words, codes)
        return codes


def paired(a: Int32s, b: Int32s) -> WordPairs:
    """Return pairs of codes as words, which get codes in turn; a pair with a -1 is missing."""
    low = np.empty(len(a), np.uint64)
    present = np.empty(len(a), np.bool_)
    pair(a, b, low, present)
    return WordPairs(low, None, present)


class PublicKeys:
    """Public keys of one or several columns.

    Parameters
    ----------
    by : sequence of str
    keys : list, array or table
        For several columns: a table or a list of tuples, with a row for each key; or a list of
        lists, with the values of each column, where all combinations are keys.
    columns : Batches
        The columns of rows, whose types the keys must fit.
    other : key or sequence of keys, optional
        The key of one more group, for all rows without a public key: one for each column.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If values cannot be keys, if there are none, or if some are equal.
    """

    def __init__(self, by: Sequence[str], keys: Any, columns: Batches, other: Any = None) -> None:
        self.by = tuple(by)
        listed, self.is_product = _listed(self.by, keys)
        self.forms = {name: _alone(column_form(listed[name], "keys", RULE)) for name in self.by}
        zones = {name: zone_kind(keys, "keys") for name, keys in self.forms.items()}
        self._arrays = {name: _array(keys) for name, keys in self.forms.items()}
        self.forms = {name: _copied(keys, self._arrays[name]) for name, keys in self.forms.items()}
        self.lengths = list(map(len, self._arrays.values()))
        self.combined = math.prod(self.lengths) if self.is_product else self.lengths[0]
        if len(set(self.lengths)) > 1 and not self.is_product:
            checks.fail("keys", "lists of equal length", self.lengths)
        if not 0 < self.combined < MOST:
            checks.fail(
                "keys", f"at least one key and fewer than {MOST} keys", f"{self.combined} keys"
            )
        #: The public keys of each column.
        self.listed = Listed(self._arrays)
        self.listed.is_product = self.is_product
        self.listed.others = self.others = {} if other is None else self._others(other)
        self.groups = self.combined + bool(self.others)
        database = columns.adding([]) if self.others else None
        if database is not None:
            database.check_others(self.listed)
        #: Columns of text. Among their keys, bytes stand for text that is not valid UTF-8.
        self.text: set[str] = set()
        self.spans: dict[str, str | None] = {}
        self._chains(Key(bytes(32)))  # raises if a key is given twice
        for name in self.by:
            self._look_for(name, columns, zones[name])
        # Converted to the types of the columns, two different keys may be equal.
        self._chains(Key(bytes(32)))

    def _look_for(self, name: str, columns: Batches, zone: str | None) -> None:
        """Convert public keys to the type of a column, or refuse keys that no row could have.

        In a text file all cells are text, so integer keys are converted to text. In a column of
        text, keys that are bytes are text, too.
        """
        keys, typed = self._arrays[name], columns.typed(name, "by", True)
        kind, cells = key_kind(typed, f"column {name!r}"), columns.cells(name)
        values: list[Any] = list(keys) if keys.dtype.kind == "M" else keys.tolist()
        if cells and all(map(checks.is_whole, values)):
            values = [str(int(key)) for key in values]
            self.forms[name] = Objects(values)
        title = f"the column {name!r}"
        expect_matches("keys", values, typed, title, cells, is_key=True, kind=zone)
        self.spans[name] = span_of("keys", keys) if kind in (TIMES, "objects") else None
        if kind == "text":
            self.text.add(name)

    def _others(self, other: Any) -> dict[str, NDArray[Any]]:
        """Return the key of the group of all other rows, column by column."""
        labels, others = [other] if len(self.by) == 1 else other, {}
        if not isinstance(labels, (list, tuple)) or len(labels) != len(self.by):
            rule = f"a tuple with a key for each of {len(self.by)} columns"
            checks.fail("other_key", rule, labels)
        for (name, keys), label in zip(self._arrays.items(), labels, strict=True):
            title = "the column of keys"
            expect_matches("other_key", [label], self.forms[name], title, is_key=True)
            # The dtype may be too short for this text, so NumPy chooses the length.
            others[name] = np.array([label], keys.dtype.type)
            if others[name][0] in keys:
                checks.fail("other_key", "a key that is not among the public keys", label)
        return others

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the keys of each group, column by column."""
        key_columns, after = {}, self.combined
        for name, length in zip(self.by, self.lengths, strict=True):
            array = _in_common_units(self._arrays[name].copy())
            if self.is_product:
                before, after = self.combined // after, after // length
                array = np.tile(np.repeat(array, after), before)
            key_columns[name] = np.append(array, self.others[name]) if self.others else array
        return key_columns

    def coder(self, key: Key) -> PublicCoder:
        """Return the coder that finds the group of each row among these keys."""
        return CoderOfOthers(self, key) if self.others else PublicCoder(self, key)

    @cached_property
    def first_of_run(self) -> int | None:
        """The first key, if keys are consecutive integers of one column; None for other keys."""
        array = _array(next(iter(self.forms.values())))
        if len(self.by) > 1 or array.dtype.kind not in "iu" or not len(array):
            return None
        first = int(array[0])
        fits = -(1 << 62) < first < 1 << 62
        return first if fits and (array == np.arange(first, first + len(array))).all() else None

    def _chains(self, key: Key) -> list[Chain]:
        """Return the chains of codes: one for each column of a product, or one for all columns."""
        words = [
            KeyWords(key, is_text=name in self.text).of(keys) for name, keys in self.forms.items()
        ]
        chains = []
        for pairs, keys in zip(words, self.forms.values(), strict=True):
            if pairs.present is not None and not pairs.present.all():
                rule = "integers, text, bytes or dates, and none may be missing"
                at = int(np.argmin(pairs.present))
                checks.fail("keys", rule, keys.rows[at] if isinstance(keys, Objects) else None)
        for some in [[pairs] for pairs in words] if self.is_product else [words]:
            chain = Chain(len(some), key)
            _, first = chain.add(some)
            if len(first) < len(some[0].low):
                rule = "different from one another (a column of the data is not a list of keys)"
                checks.fail("keys", rule, "some keys twice")
            chains.append(chain)
        return chains


class PublicCoder:
    """The coder of rows by public keys, which several threads may use at once."""

    def __init__(self, keys: PublicKeys, key: Key) -> None:
        self.groups, self._keys, self._key = keys.groups, keys, key
        self._lock = Lock()
        self._chains: list[Chain] | None = None
        self._words = {
            name: KeyWords(key, f"column {name!r}", span=keys.spans.get(name)) for name in keys.by
        }

    def names(self) -> None:
        """Return None: codes of public keys are in the order in which the keys were given."""

    def codes(self, batch: Batch) -> Int32s:
        """Return the group code of each row of a batch, in an array that the caller may change."""
        columns = [batch.columns[name] for name in self._keys.by]
        first = self._keys.first_of_run
        if first is not None:
            dense_codes = _dense(columns[0], first, self._keys.lengths[0])
            if dense_codes is not None:
                return dense_codes
        words = [self._words[name].of(batch.columns[name]) for name in self._keys.by]
        with self._lock:
            if self._chains is None:  # built when the first rows need them
                self._chains = self._keys._chains(self._key)
            chains = self._chains
        if not self._keys.is_product:
            return chains[0].find(words)
        codes = np.zeros(batch.rows, np.int32)
        for chain, column_words, length in zip(chains, words, self._keys.lengths, strict=True):
            more = chain.find([column_words])
            none = (codes < 0) | (more < 0)
            codes = codes * np.int32(length) + more
            codes[none] = -1
        return codes


class CoderOfOthers(PublicCoder):
    """The coder of rows by public keys for which rows without a public key form the last group."""

    def codes(self, batch: Batch) -> Int32s:
        codes = super().codes(batch)
        codes[codes < 0] = self.groups - 1
        return codes


class PrivateKeys:
    """Private keys of one or several columns: the keys that occur in the rows.

    Parameters
    ----------
    by : sequence of str
    columns : Batches
        The columns of rows. A column whose type cannot hold keys is refused.
    named : bool, default True
        Whether the keys are stored, and not only their words.
    """

    def __init__(self, by: Sequence[str], columns: Batches, named: bool = True) -> None:
        self.by, self.named = tuple(by), named
        #: An empty array for each column, in the type that the answer has.
        self.none: dict[str, NDArray[Any]] = {}
        self.text: set[str] = set()
        for name in self.by:
            typed = columns.typed(name, "by", True)
            if key_kind(typed, f"column {name!r}") == "text":
                self.text.add(name)
            self.none[name] = _taken(typed, np.empty(0, np.int64))

    @property
    def listed(self) -> Mapping[str, None]:
        """The columns of keys, each with None: private keys are not known in advance."""
        return dict.fromkeys(self.by)

    def coder(self, key: Key) -> PrivateCoder:
        """Return the coder that gives a code to each private key as rows are read."""
        return PrivateCoder(self.none, key, self.named, self.text)


class PrivateCoder:
    """The coder of rows by private keys, which get codes as rows are read, under a lock.

    Parameters
    ----------
    by : mapping of str to array
        Columns of no keys, by their names.
    key : Key
    named : bool
        Whether keys are stored, for `columns`.
    text : set of str
        Columns of text, whose keys are converted by `text_key` if they are given as objects.
    """

    def __init__(
        self, by: Mapping[str, NDArray[Any]], key: Key, named: bool, text: Set[str] = frozenset()
    ) -> None:
        self._named = named
        self._by, self._chain, self._lock = tuple(by), Chain(len(by), key), Lock()
        self._words = {name: KeyWords(key, f"column {name!r}", is_text=name in text) for name in by}
        self._met = [[none] for none in by.values()]
        self._low: list[list[NDArray[np.uint64]]] = [[] for _ in by]
        self._high: list[list[NDArray[np.uint64]]] = [[] for _ in by]

    @property
    def groups(self) -> int:
        return len(self._chain)

    def codes(self, batch: Batch) -> Int32s:
        """Return the group code of each row of a batch, in an array that the caller may change."""
        words = [self._words[name].of(batch.columns[name]) for name in self._by]
        with self._lock:
            codes, first = self._chain.add(words)
            if len(first):
                for j, name in enumerate(self._by):
                    pairs, column = words[j], batch.columns[name]
                    if self._named:
                        self._met[j].append(_taken(column, first))
                    self._low[j].append(pairs.low[first])
                    none = np.zeros(len(first), np.uint64)
                    self._high[j].append(none if pairs.high is None else pairs.high[first])
        return codes

    def order(self) -> NDArray[np.int64]:
        """Return the codes sorted by the words of their keys, whatever the order of rows."""
        keys, none = [], np.empty(0, np.uint64)
        for low, high in zip(self._low, self._high, strict=True):
            keys += [np.concatenate([none, *low]), np.concatenate([none, *high])]
        if len(keys) == 2 and not keys[1].any():
            return np.argsort(keys[0], kind="stable")
        return np.lexsort(keys)

    def names(self) -> Int32s:
        """Return the rank of each code in the order of the keys' words."""
        order = self.order()
        ranks = np.empty(len(order), np.int32)
        ranks[order] = np.arange(len(order), dtype=np.int32)
        return ranks

    def columns(self, kept: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Return the keys of the kept codes, column by column."""
        return {
            name: _in_common_units(np.concatenate(met)[kept])
            for name, met in zip(self._by, self._met, strict=True)
        }


Coder: TypeAlias = PublicCoder | PrivateCoder


def ascending(columns: dict[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Return the order in which rows of keys ascend, the first column first."""
    ranks = [_ranks(column) for column in reversed(list(columns.values()))]
    return np.lexsort(ranks)


def _ranks(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers that ascend as the keys of a column do, kind by kind where kinds are mixed."""
    if column.dtype.kind != "O":
        return column if column.dtype.kind in "biuM" else np.unique(column, return_inverse=True)[1]
    listed = column.tolist()
    if not all(type(key) is str for key in listed):
        listed = list(map(_sortable, listed))
    ranks = {key: i for i, key in enumerate(sorted(set(listed)))}
    return np.fromiter(map(ranks.__getitem__, listed), np.int64, len(listed))


def _sortable(key: Any) -> tuple[int, Any]:
    """Return the sort key of a group key among Python objects: its kind, then its value."""
    kinds = (int, str, bytes, np.datetime64)
    kind_index = [isinstance(key, kind) for kind in kinds].index(True)
    return kind_index, _instant(plain(key)) if kind_index == 3 else key


def _taken(column: MemoryColumn, rows: NDArray[np.int64]) -> NDArray[Any]:
    """Return the keys of some rows as an array whose dtype depends on the column's type alone."""
    if isinstance(column, Objects):
        return _of_objects([_plain(column.rows[i]) for i in rows.tolist()])
    if isinstance(column, Values):
        taken: NDArray[Any] = column.array[rows]
        if taken.dtype.kind in "biuM":
            return taken
        return _of_objects(list(map(_plain, _texts_of(taken))))
    return _of_arrow(_without_views(column.chunked).take(rows))


def _without_views(column: Any) -> Any:
    """Return an Arrow column in a type that pyarrow can take rows of, and cast: without views."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        chunks = [looked_up(array) for array in column.chunks]
        column = pa.chunked_array(chunks, chunks[0].type if chunks else column.type.value_type)
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column.cast(pa.large_binary()) if pa.types.is_binary_view(column.type) else column


def _plain(key: Any) -> Any:
    """Return the canonical form of a key among Python objects: equal keys have one form."""
    plain_key = plain(key)
    if isinstance(plain_key, str):
        return plain_key.rstrip("\0")
    if isinstance(plain_key, bytes):
        return plain_key.rstrip(b"\0")
    assert plain_key is not None
    low, high = plain_key
    if high < TIME:
        return low if high or low < 1 << 63 else low - (1 << 64)
    seconds, finer = _instant(plain_key)
    for unit, parts in (("us", 10**6), ("ns", 10**9), ("ms", 10**3)):
        more, remainder = divmod(finer * parts, 10**9)
        if not remainder and abs(seconds * parts + more) < 1 << 63:
            return np.int64(seconds * parts + more).view(f"M8[{unit}]")
    raise AssertionError(plain_key)  # unreachable: every key is a time of one of these units


def _instant(words: Any) -> tuple[int, int]:
    """Return the seconds since 1970, and the nanoseconds, from the two words of a time."""
    low, high = words
    return low if low < 1 << 63 else low - (1 << 64), high - TIME


def _in_common_units(array: NDArray[Any]) -> NDArray[Any]:
    """Return dates in days and times in milliseconds or finer, the units of Polars and Arrow."""
    unit = np.datetime_data(array.dtype)[0] if array.dtype.kind == "M" else "D"
    coarse = {"Y": "D", "M": "D", "W": "D", "h": "ms", "m": "ms", "s": "ms"}
    return array.astype(f"M8[{coarse[unit]}]") if unit in coarse else array


def _texts_of(array: NDArray[Any]) -> list[Any]:
    """Return an array of text or bytes as a list of Python objects, also where text is invalid."""
    raw: dict[int, bytes] = {}
    if array.dtype.kind == "U" and array.nbytes:
        array = np.array(array, array.dtype.newbyteorder("="))
        units = array.view(np.uint32).reshape(len(array), -1)
        # Values that are not Unicode code points.
        odd = np.flatnonzero((units > 0x10FFFF).any(axis=1))
        raw = {i: b"".join(map(unit_bytes, units[i].tolist())) for i in odd.tolist()}
        units[odd] = 0
    texts: list[Any] = array.tolist()
    for i, text in raw.items():
        texts[i] = text_key(text)
    return texts


def _of_objects(listed: list[Any]) -> NDArray[Any]:
    out = np.empty(len(listed), object)
    out[:] = listed
    return out


def _of_arrow(column: Any, of_text: Callable[[Any], Any] = _plain) -> NDArray[Any]:
    """Return an Arrow column without nulls as an array; `of_text` converts each text."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return np.asarray(column.to_numpy())
    if pa.types.is_date32(kind):
        return np.asarray(column.cast(pa.int32()).to_numpy()).astype("M8[D]")
    if pa.types.is_date64(kind) or pa.types.is_timestamp(kind):
        unit = kind.unit if pa.types.is_timestamp(kind) else "ms"
        return np.asarray(column.cast(pa.int64()).to_numpy()).view(f"M8[{unit}]")
    return _of_objects(list(map(of_text, _texts(column))))


def _whole(key: Any) -> Any:
    """Return a public key, or refuse a key whose end a NumPy array would drop."""
    checks.keeps_end("keys", key)
    return key


def _texts(column: Any) -> list[Any]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:
        pass  # the message quotes the row, so the error must not even be the context of another one
    return [text_key(raw) for raw in column.cast("large_binary").to_pylist()]


def _listed(by: tuple[str, ...], keys: Any) -> tuple[dict[str, Any], bool]:
    """Return public keys by column, and whether all combinations of the columns' keys are keys."""
    table = columns_of_table(keys, "keys") if not isinstance(keys, (list, tuple)) else None
    if table is not None:
        missing = [name for name in by if name not in table]
        if missing:
            checks.fail("keys", f"a table with a column {missing[0]!r}", sorted(table))
        return {name: table[name] for name in by}, False
    if len(by) == 1:
        if isinstance(keys, (str, bytes)):
            checks.fail_type("keys", RULE, keys)
        return {by[0]: keys}, False
    if not isinstance(keys, (list, tuple)) or not len(keys):
        checks.fail_kind("keys", RULE, keys)
    if all(isinstance(row, tuple) for row in keys) and isinstance(keys, list):
        if any(len(row) != len(by) for row in keys):
            checks.fail("keys", f"tuples of {len(by)} keys each, one for each column", keys)
        return dict(zip(by, map(list, zip(*keys, strict=True)), strict=True)), False
    if len(keys) != len(by):
        checks.fail("keys", f"a list for each of {len(by)} columns", f"{len(keys)} lists")
    return dict(zip(by, keys, strict=True)), True


def _alone(column: MemoryColumn) -> MemoryColumn:
    """Return a copy of an Arrow column, whose memory may be shared, or any other column itself."""
    if not isinstance(column, Arrow):
        return column
    return Arrow(_without_views(column.chunked).take(np.arange(column.length)))


def _copied(column: MemoryColumn, array: NDArray[Any]) -> MemoryColumn:
    """Return a copy of public keys that the caller cannot change, typed if all have one type."""
    if isinstance(column, Arrow):
        return column
    if isinstance(column, Values):
        return Values(array, array, column.mask)
    return Values(array, array) if array.dtype.kind in "biuU" else Objects(list(column.rows))


def _array(column: MemoryColumn) -> NDArray[Any]:
    """Return public keys as an array that the caller cannot change."""
    if isinstance(column, Values):
        return column.array.copy()
    if isinstance(column, Arrow):
        return _of_arrow(column.chunked.drop_null(), _whole)
    kinds = set(map(type, column.rows))
    for key in column.rows:
        checks.keeps_end("keys", key)
    if kinds in ({int}, {bool}, {str}, {bytes}):
        array = np.array(column.rows)
        if array.dtype.kind in "biuUS":
            return array
    return _of_objects(list(column.rows))


def _dense(column: MemoryColumn, first: int, count: int) -> Int32s | None:
    """Return the codes of integer rows among consecutive integer keys; None for other types."""
    if (
        not isinstance(column, Values)
        or column.mask is not None
        or column.array.dtype.kind not in "iu"
    ):
        return None
    values = np.ascontiguousarray(column.array, column.array.dtype.newbyteorder("="))
    out = np.empty(len(values), np.int32)
    dense(values, first, count, out)
    return out


def one_column(column: Any, name: str) -> tuple[Any, str]:
    """Return a column of keys as a table of one column, and the name of that column."""
    table = column
    if is_distributed(column) or is_lazy(column):
        table = form_of(column, name, KEYS_RULE)
        if not isinstance(table, Columns) or len(table.names) != 1:
            checks.fail_kind(name, "one column, not a table", column)
    if isinstance(table, Columns) and len(table.names) == 1:
        return table, table.names[0]
    keys = column_form(column, name, KEYS_RULE)
    key_kind(keys, name)
    return named({KEYS: keys}), KEYS
