"""The format of a text file, as its owner declares it and never read from its rows."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from .._core import checks
from .pick import nearest
from .public_values import CellTexts

#: Cells that mean "no value", as R, pandas, SQL tools and spreadsheets write them.
MISSING = (
    "", "NA", "N/A", "n/a", "<NA>", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-NaN", "-nan",
    "NULL", "Null", "null", "None", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND",
)  # fmt: skip
#: Encodings in which an invalid sequence cannot swallow the line end, quote or delimiter after it.
ENCODINGS = frozenset([
    "utf-8", "ascii", "big5", "cp437", "cp850", "cp852", "cp866", "cp932", "cp949", "cp950",
    "euc_kr", "gbk", "shift_jis", "koi8-r", "koi8-u", "mac-cyrillic", "mac-greek", "mac-latin2",
    "mac-roman", "mac-turkish", *(f"cp125{i}" for i in range(9)),
    *(f"iso8859-{i}" for i in (*range(1, 12), *range(13, 17))),
])  # fmt: skip
DECIMALS = (".", ",")
THOUSANDS = (",", ".", " ", "'", "_", "\u2019", "\u00a0", "\u202f")
#: Directives of `strptime` for a time of day, which a format may have in addition to a date.
CLOCK = re.compile("%[HIMSfpcX]")
#: Every date has a year. A zone must be an offset from UTC, because names are ambiguous.
YEAR, ZONE = re.compile("%[YyGc]"), "%z"
NO_SYMBOL = re.compile(r'[-+.,\d"\r\n]|^\s|\s$|^[eE]?$')


class TextOptions(TypedDict, total=False):
    """The options of `dpfast.scan` that declare the format of a text file."""

    quotes: bool
    missing: Sequence[str]
    delimiter: str
    encoding: str
    decimal: str
    thousands: str
    symbols: Sequence[str]
    dates: Mapping[str, str]


@dataclass(frozen=True)
class TextFormat:
    """The checked options of `dpfast.scan` for a text file."""

    quotes: bool = True
    missing: tuple[str, ...] = MISSING
    delimiter: str = ""
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str | None = None
    symbols: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict)

    @property
    def declared(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return {name: value for name, value in vars(self).items() if value != vars(USUAL)[name]}

    @property
    def cells(self) -> CellTexts:
        """The texts that cells can be."""
        breaks = "" if self.quotes else f"\r\n{self.delimiter}"
        return CellTexts(frozenset(self.missing), self.encoding, breaks)

    @property
    def is_plain(self) -> bool:
        """Tell whether pyarrow's own parser can read numbers in this format."""
        return self.thousands is None and not self.symbols

    def reading(self, read: Callable[[int], Any]) -> Callable[[int], Any]:
        """Return a function like `read` that returns UTF-8 instead of the file's encoding.

        Bytes that are no letter become invalid in UTF-8, too: a fault of their cell alone.
        """
        if self.encoding == "utf-8":
            return read
        decoder = codecs.getincrementaldecoder(self.encoding)("surrogateescape")
        ready = b""

        def read_utf8(size: int) -> bytes:
            nonlocal ready
            more = b"\n"
            while more and len(ready) < size:
                more = bytes(read(size))
                ready += decoder.decode(more, not more).encode("utf-8", "surrogatepass")
            some, ready = ready[:size], ready[size:]
            return some

        return read_utf8

    def kind(self, column: str) -> Any:
        """Return the Arrow type of a column of dates; None for any other column."""
        import pyarrow as pa

        layout = self.dates.get(column)
        if layout is None:
            return None
        if ZONE in layout:
            return pa.timestamp("us", "UTC")
        return pa.timestamp("us") if CLOCK.search(layout) else pa.date32()

    def times(self, cells: Any, column: str) -> Any:
        """Return the dates of a column of cells, parsed once for each different cell.

        pyarrow's own parser makes March 2 of February 31.

        Raises
        ------
        ValueError, OverflowError
            For a cell that is no date of its format.
        """
        import pyarrow as pa

        coded = cells.dictionary_encode()
        layout = self.dates[column]
        times = [datetime.strptime(cell, layout) for cell in coded.dictionary.to_pylist()]
        return pa.array(times, self.kind(column)).take(coded.indices)

    def numbers(self, cells: Any) -> Any:
        """Return the numbers of a column of cells as float64.

        Raises
        ------
        ValueError
            For a cell that is no number.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.is_plain:
            bare = pc.utf8_trim(cells, " \t")
        else:
            if pc.all(pc.match_substring_regex(cells, self._pattern())).as_py() is False:
                raise ValueError
            bare = cells
            for text in (*sorted(self.symbols, key=len, reverse=True), self.thousands, " ", "\t"):
                bare = bare if text is None else pc.replace_substring(bare, text, "")
        if self.decimal != ".":
            bare = pc.replace_substring(bare, ".", "?")  # no number contains "?"
            bare = pc.replace_substring(bare, self.decimal, ".")
        return bare.cast(pa.float64())

    def _pattern(self) -> str:
        """Return the regular expression (RE2) of a number in this format."""
        group, point = re.escape(self.thousands or ""), re.escape(self.decimal)
        whole = rf"\d+|\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}" if group else r"\d+"
        number = rf"(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][-+]?\d+)?"
        blank, sign, after = r"[ \t]*", "[-+]?", ""
        if self.symbols:
            symbol = f"(?:{'|'.join(map(re.escape, self.symbols))})"
            sign = f"(?:{symbol}{blank}[-+]?|[-+]{symbol}{blank}|[-+]?)"
            after = f"{blank}{symbol}?"
        return f"^{blank}{sign}{number}{after}{blank}$"


USUAL = TextFormat()


def text_format(options: Mapping[str, Any]) -> TextFormat:
    """Check the options of a text file, and return its format."""
    for name in options:
        if name not in CHECKS:
            near = nearest(name, ("column", *CHECKS))
            checks.fail_type(name, f"one of {', '.join(CHECKS)}{near}, or left out", options[name])
    declared = {name: value for name, value in options.items() if value is not None}
    format = TextFormat(**{name: CHECKS[name](name, value) for name, value in declared.items()})
    if format.thousands == format.decimal:
        checks.fail("thousands", "another character than decimal", format.thousands)
    for word in format.declared.get("missing", ()):
        if not format.cells.can_be(word):
            checks.fail("missing", format.cells.rule, word)
    return format


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple, set, frozenset)) or not all(
        isinstance(text, str) for text in value
    ):
        checks.fail_type(name, 'a list of texts such as ["", "NA"]', value)
    return tuple(value)


def _symbols(name: str, value: Any) -> tuple[str, ...]:
    symbols = _texts(name, value)
    for symbol in symbols:
        if NO_SYMBOL.search(symbol):
            checks.fail(
                name, "texts such as '$' or 'EUR', without digits, signs and points", symbol
            )
    return symbols


def _delimiter(name: str, value: Any) -> str:
    rule = "one ASCII character that is not a letter, digit, quote or line end"
    if not isinstance(value, str):
        checks.fail_type(name, rule, value)
    if len(value) != 1 or not value.isascii() or value.isalnum() or value in '"\r\n\0':
        checks.fail(name, rule, value)
    return value


def _encoding(name: str, value: Any) -> str:
    codec = ""
    with suppress(LookupError):
        codec = codecs.lookup(checks.text(name, value)).name.removesuffix("-sig")
    if codec not in ENCODINGS:
        rule = "utf-8 or one that keeps ASCII, such as cp1252 or gbk (else convert the file)"
        checks.fail(name, rule, value)
    return codec


def _dates(name: str, value: Any) -> Mapping[str, str]:
    rule = 'a mapping of columns to formats such as {"day": "%d.%m.%Y"}'
    if not isinstance(value, Mapping):
        checks.fail_type(name, rule, value)
    for column, layout in value.items():
        if not isinstance(column, str) or not isinstance(layout, str):
            checks.fail_type(name, rule, value)
        is_format = bool(YEAR.search(layout)) and "%Z" not in layout
        try:
            datetime.strptime(datetime(2000, 2, 3).astimezone().strftime(layout), layout)
        except ValueError:
            is_format = False
        if not is_format:
            checks.fail(name, "formats of strptime with a year, and with %z for a zone", layout)
    return dict(value)


def _one_of(options: Sequence[str]) -> Callable[[str, Any], str]:
    return lambda name, value: checks.choice(name, value, options)


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "quotes": checks.flag,
    "missing": _texts,
    "delimiter": _delimiter,
    "encoding": _encoding,
    "decimal": _one_of(DECIMALS),
    "thousands": _one_of(THOUSANDS),
    "symbols": _symbols,
    "dates": _dates,
}
