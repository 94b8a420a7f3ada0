"""Kinds of databases: how each computes with integers, times and bytes."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any, NamedTuple

from ..._core.extras import extra

OURS = "dpfast_md5"


class Dialect(NamedTuple):
    """The properties of a kind of database.

    A function is stated as its name and the arguments after a column. If `utf8` has no function, a
    cast of text to bytes gives the UTF-8 of the text.
    """

    #: Whether sums of int64 have more than 64 bits.
    sums_are_wide: bool = False
    #: Whether a cast to an integer rounds to nearest, with ties to even.
    cast_rounds: bool = False
    #: Whether differences of times are exact.
    subtracts_times: bool = False
    #: Whether a product that underflows float64 is 0, instead of an error.
    products_vanish: bool = False
    #: Whether dates and times can be keys and ids.
    has_dates: bool = True
    has_times: bool = True
    utf8: tuple[str, ...] = ()
    hex: tuple[str, ...] = ("hex",)
    md5: tuple[str, ...] = ("md5",)
    #: Operations of Ibis that never fail on a value, and groups of operations by the names that
    #: `failures` uses.
    never_fail: str = ""
    #: The name of a function that divides two integers with the bits of sums, and rounds towards
    #: zero.
    quotient: str = ""


#: What most dialects never fail on. Infinite times have no year, and booleans are numbers.
MOST = "TryCast times booleans IsNan IsInf BitwiseXor"
#: The same for dialects in which floats overflow to infinity, and a division by 0 is no error.
IEEE = f"{MOST} floats division"
#: The same for SQLite, which converts any value where it is used, and sums floats only.
LITE = """
integers floats decimals division casts Round Floor Ceil times booleans untyped First Last Arbitrary
"""
#: The dialects that have int64 and float64, and whose NaN Ibis can test, by the names of Ibis.
DIALECTS = {
    # A backslash in text is not cast to binary.
    "duckdb": Dialect(
        True, True, True, True, utf8=("encode",), quotient="divide",
        never_fail=f"{IEEE} sums logarithms powers largest First Last Arbitrary",
    ),
    "sqlite": Dialect(
        products_vanish=True, has_dates=False, has_times=False, md5=(OURS,), never_fail=LITE
    ),
    "postgres": Dialect(
        True, True, True, utf8=("convert_to", "UTF8"), hex=("encode", "hex"),
        quotient="div",
        never_fail="decimals sums logarithms largest IsNan IsInf BitwiseXor",
    ),
    "snowflake": Dialect(
        True, utf8=("to_binary", "UTF-8"), hex=("hex_encode",), never_fail=MOST
    ),
    "bigquery": Dialect(hex=("to_hex",), never_fail=f"{MOST} division"),
    "trino": Dialect(utf8=("to_utf8",), hex=("to_hex",), never_fail=IEEE),
    "databricks": Dialect(never_fail=IEEE),
    # Times would be converted by pandas, whose range of years is small.
    "pyspark": Dialect(has_times=False, never_fail=f"{MOST} floats"),
}  # fmt: skip


def bytes_of(text: Any, dialect: str) -> Any:
    """Return a text as its bytes in UTF-8."""
    function = DIALECTS[dialect].utf8
    return _call(function, text, "binary") if function else text.cast("binary")


def text_of(column: Any, dialect: str) -> Any:
    """Return a column as text that differs where entries do; hex digits for bytes."""
    is_binary = column.type().is_binary()
    return _call(DIALECTS[dialect].hex, column, "string") if is_binary else column.cast("string")


def md5(text: Any, dialect: str) -> Any:
    """Return the MD5 of a text, as text to sort by."""
    return _call(DIALECTS[dialect].md5, bytes_of(text, dialect), "string")


def quotient(whole: Any, by: Any, dialect: str) -> Any:
    """Return the quotient of two integers, rounded towards zero."""
    return _function(DIALECTS[dialect].quotient, "int64", "int64", "int64")(whole, by)


def _call(function: tuple[str, ...], column: Any, result: str) -> Any:
    name, *more = function
    kinds = str(column.type()).lstrip("!"), *["string" for _ in more]
    return _function(name, *kinds, result)(column, *more)


@cache
def _function(name: str, *kinds: str) -> Any:
    """Return a database function that Ibis does not know; MD5 in SQLite is our own."""
    scalar = extra("ibis", "data in a database").udf.scalar
    signature = kinds[:-1], kinds[-1]
    if name == OURS:
        return scalar.python(_md5, name=name, signature=signature)
    return scalar.builtin(_of_two if len(kinds) > 2 else _of_one, name=name, signature=signature)


def _of_one(column: Any) -> None:
    """Declare a database function of one argument for Ibis."""


def _of_two(column: Any, more: Any) -> None:
    """Declare a database function of two arguments for Ibis."""


def _md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()
