"""Refuse user expressions that may fail on a row, because the error would reveal the row.

An operation that never fails is allowed by its name. Arithmetic and casts are allowed by public
types: the types of columns, literals, and `clip` determine the range of a result, and the type of
the result in the database must include this range. Everything else is refused before the spend. SQL
that the user writes, in a view or a string, is not checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from ..._core import checks
from ..._core.extras import extra
from .dialects import DIALECTS
from .keys import expect_declared


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Operations that never fail on a value.
ALWAYS = _names(
    """
    Alias Field Literal ScalarParameter ExistsSubquery InSubquery SortKey
    IsNull NotNull Clip TypeOf And Or Xor Not Sign BitwiseAnd BitwiseOr Pi E Date Uppercase
    Lowercase Strip LStrip RStrip StringLength StringContains StartsWith EndsWith StringConcat
    Count CountStar CountDistinct CountDistinctStar Min Max Any All MinRank DenseRank RowNumber
    PercentRank CumeDist
    """
)
COMPARISONS = _names(
    "Equals NotEquals Greater GreaterEqual Less LessEqual IdenticalTo Between InValues Bucket"
)
#: Operations that return one of their operands, after a cast of all to one type.
CHOICES = _names("NullIf Coalesce Least Greatest SimpleCase SearchedCase IfElse")
LIKE = _names("StringSQLLike StringSQLILike")
#: Operations whose parameters are whole numbers, with the least number allowed.
OF_WHOLE = dict.fromkeys(_names("Substring StringSlice StrRight Lag Lead WindowBoundary"), 0)
OF_WHOLE["NTile"] = 1
#: Operations whose parameters must be literals, because text of columns could exhaust the memory.
OF_TEXT = _names("StringReplace StringFind")
#: Functions of a number, with the least number allowed.
OF_POSITIVE = {"Sqrt": 0.0, **dict.fromkeys(("Log", "Ln", "Log10"), 5e-324)}
ARITHMETIC = _names("Add Subtract Multiply Negate Abs Sum Mean")
OF_TIMES = _names(
    "ExtractYear ExtractMonth ExtractDay ExtractDayOfYear ExtractQuarter ExtractHour "
    "ExtractMinute ExtractSecond DayOfWeekIndex DayOfWeekName"
)
RULE = "an expression that never fails"
#: The hint for all other operations.
OTHERWISE = "define it in a view, if you know that it cannot fail"
MENDS = {
    "Cast": "clip at both ends, or use int32 or try_cast",
    "Divide": "divide by a number, or by x.nullif(0)",
    "Sample": "choose rows before",
    **dict.fromkeys(OF_POSITIVE, "use ln, log10, sqrt of clip(1, None), or a view"),
    **dict.fromkeys(_names("DateAdd DateSub TimestampAdd TimestampSub"), "write the other date"),
    **dict.fromkeys(
        OF_TIMES | _names("DateTruncate TimestampTruncate"), "compare with dates, or use a view"
    ),
    "IsNan": "use isnull, for NaN is NULL there",
    **dict.fromkeys(_names("First Last Arbitrary"), "use min or max"),
    **dict.fromkeys(("FloorDivide", "Modulus"), "divide integers, by 2 or more"),
    **dict.fromkeys(("Round", "Floor", "Ceil"), "round to digits, or clip at both ends"),
    **dict.fromkeys(COMPARISONS, "cast one side"),
    **dict.fromkeys(ARITHMETIC, "cast to float64 or clip before, or use a view"),
}


class Range(NamedTuple):
    """A range that contains all values: bounds, and the least size of a value that is not 0."""

    lo: float
    hi: float
    least: float = 1.0

    @property
    def most(self) -> float:
        return max(abs(self.lo), abs(self.hi))


ANY = Range(-math.inf, math.inf, 5e-324)


def expect_no_failures(expression: Any, dialect: str, argument: str) -> None:
    """Refuse an expression with an operation that may fail on some value, or that draws rows.

    In SQLite the expression may compute only with columns of declared types. For other columns, the
    type of the first row determines the statement that Ibis writes.

    Raises
    ------
    ArgumentTypeError
    """
    ops = extra("ibis", "data in a database").expr.operations
    never_fail = _names(DIALECTS[dialect].never_fail)
    try:
        nodes = expression.op().find((ops.Value, ops.Sample))
        if dialect == "sqlite":  # before types are read, because in SQLite a row decides them
            computed = [node for node in nodes if not isinstance(node, ops.Field)]
            for operand in chain.from_iterable(map(_operands, computed)):
                if isinstance(operand, ops.Field):
                    expect_declared(operand.to_expr(), argument)
        for node in nodes:
            if not _is_safe(node, never_fail):
                name = type(node).__name__
                more = f" with {name} in {dialect}: {MENDS.get(name, OTHERWISE)}"
                checks.fail_kind(argument, RULE, expression, more)
    finally:
        _range.cache_clear()  # the cache would keep connections open


def _is_safe(node: Any, never_fail: frozenset[str]) -> bool:
    """Tell whether an operation can fail on no value, by its name, types and ranges."""
    name, operands = type(node).__name__, _operands(node)
    kinds = [operand.dtype for operand in operands]
    if name in ALWAYS or name in never_fail:
        return True
    if name in COMPARISONS:
        return _are_alike(operands, never_fail)
    if name in CHOICES:
        values = (*node.results, node.default) if name == "SimpleCase" else operands
        tests = (node.base, *node.cases) if name == "SimpleCase" else ()
        if not node.dtype.is_boolean():
            values = [value for value in values if not value.dtype.is_boolean()]
        return _are_alike(values, never_fail) and _are_alike(tests, never_fail)
    if name in LIKE:  # a pattern that ends with the escape character raises an error
        ends = ("\\", node.escape or "\\")
        return _is_literal(node.pattern) and not str(node.pattern.value).endswith(ends)
    if name in OF_WHOLE:
        parameters = operands if name in ("NTile", "WindowBoundary") else operands[1:]
        return (name not in ("Lag", "Lead") or node.default is None) and all(
            _is_literal(value)
            and value.dtype.is_integer()
            and OF_WHOLE[name] <= value.value < 2**31
            for value in parameters
        )
    if name in OF_TEXT:
        return all(_is_literal(value) and value.dtype.is_string() for value in operands[1:])
    if name in OF_POSITIVE:  # PostgreSQL has only a decimal logarithm for a general base
        has_name = name != "Log" or ("floats" in never_fail and node.base is None)
        is_there = "logarithms" in never_fail and has_name and not kinds[0].is_decimal()
        return is_there and _range(operands[0]).lo >= OF_POSITIVE[name]
    if name in ("Power", "Exp"):
        return "powers" in never_fail and not any(kind.is_decimal() for kind in kinds)
    if name == "WindowFunction":
        return node.how == "rows" or node.start is node.end
    if name in OF_TIMES:
        return "times" in never_fail
    if name in ARITHMETIC:
        return _fits(node, operands, never_fail)
    if name in ("Round", "Floor", "Ceil"):
        kind, to = kinds[0], node.dtype
        has_digits = name == "Round" and node.digits and _is_literal(node.digits)
        if kind.is_decimal() and kind.precision and has_digits:
            # A carry still fits in the digits.
            return bool(0 <= node.digits.value <= (kind.scale or 0))
        to_digits = to.is_floating() and "floats" in never_fail
        is_small = kind.is_floating() and _is_safe_cast(operands[0], to, never_fail)
        return to_digits or kind.is_integer() or (to.is_integer() and is_small)
    if name in ("FloorDivide", "Modulus"):
        return all(kind.is_integer() for kind in kinds) and _range(operands[1]).lo >= 2
    if name == "Divide":
        may_be_zero = _range(operands[1]).lo <= 0 <= _range(operands[1]).hi
        if type(operands[1]).__name__ == "NullIf":
            none = operands[1].null_if_expr
            may_be_zero = may_be_zero and not (_is_literal(none) and none.value == 0)
        of, by = map(_range, operands)
        fits = of.most < 1e300 * min(by.least, 1) and of.least > 1e-300 * max(by.most, 1)
        fits = fits or "floats" in never_fail or not any(map(_is_endless, operands))
        return "division" in never_fail or (fits and not may_be_zero)
    return name == "Cast" and (
        "casts" in never_fail or _is_safe_cast(operands[0], node.to, never_fail)
    )


def _is_literal(node: Any) -> bool:
    return type(node).__name__ == "Literal"


def _operands(node: Any) -> list[Any]:
    """Return the values that an operation takes as arguments."""
    value = extra("ibis", "data in a database").expr.operations.Value
    flat = (operand for arg in node.args for operand in (arg if isinstance(arg, tuple) else (arg,)))
    return [operand for operand in flat if isinstance(operand, value)]


def _are_alike(operands: Sequence[Any], never_fail: frozenset[str]) -> bool:
    """Tell whether values can be compared without a cast that may fail.

    A literal that is text takes the type of the other values.
    """
    kinds = [
        _written(operand)
        for operand in operands
        if not (_is_literal(operand) and operand.dtype.is_string())
    ]
    kinds = [kind for kind in kinds if not kind.is_null()]
    if not all(kind.is_numeric() or kind.is_boolean() for kind in kinds):
        return len(set(map(_plain, kinds))) <= 1
    if "booleans" not in never_fail and len({kind.is_boolean() for kind in kinds}) > 1:
        return False
    kinds = [kind for kind in kinds if kind.is_numeric()]
    if any(kind.is_floating() for kind in kinds) and "casts" not in never_fail:
        return all(operand.dtype.is_floating() or not _is_endless(operand) for operand in operands)
    if not any(kind.is_decimal() for kind in kinds):
        return True
    digits = list(map(_digits, kinds))
    fit = max(whole for whole, _ in digits) + max(scale for _, scale in digits) <= 38
    return fit or "decimals" in never_fail


def _written(node: Any) -> Any:
    """Return the type of a value; a decimal literal is given the most digits it can have."""
    kind = node.dtype
    is_wide = _is_literal(node) and kind.is_decimal() and kind.precision is None
    return kind.copy(precision=38, scale=18) if is_wide else kind


def _plain(kind: Any) -> Any:
    """Return a type without the properties whose casts never fail, such as a time zone."""
    if kind.is_timestamp():
        return kind.copy(timezone=None, scale=max(kind.scale or 0, 6), nullable=True)
    return type(kind) if kind.is_string() else kind.copy(nullable=True)


def _digits(kind: Any) -> tuple[int, int]:
    """Return the number of digits before and after the point in a type of numbers."""
    if kind.is_decimal():
        return (kind.precision or 99) - (kind.scale or 0), kind.scale or 0
    return len(str(256**kind.nbytes)), 0


def _is_endless(node: Any) -> bool:
    """Tell whether values are floats, or decimals that may be too large for a float."""
    kind = _written(node)
    is_long = kind.is_decimal() and sum(_digits(kind)) > 38
    return bool(kind.is_floating() or (is_long and not _range(node).most < 1e300))


def _fits(node: Any, operands: Sequence[Any], never_fail: frozenset[str]) -> bool:
    """Tell whether an arithmetic operation has a result in the database for all its values."""
    kinds, name, result = [operand.dtype for operand in operands], type(node).__name__, _range(node)
    is_sum = name in ("Sum", "Mean")
    if not all(kind.is_numeric() or (kind.is_boolean() and is_sum) for kind in kinds):
        return False
    if "untyped" in never_fail and name in ("Sum", "Abs"):
        return _is_real(operands[0])
    kinds = [kind for kind in kinds if kind.is_numeric()]
    if any(kind.is_floating() for kind in kinds):
        never = "floats" in never_fail or name in ("Negate", "Abs")
        most = 1e150 if is_sum else 1e300  # a mean may also sum up squares
        return never or (result.most < most and result.least > 0)
    if any(kind.is_decimal() for kind in kinds):
        scales = [_digits(kind)[1] for kind in kinds]
        is_short = not is_sum and all(sum(_digits(kind)) <= 19 for kind in kinds)
        scale = sum(scales) if name == "Multiply" else max(scales)
        most = 1e12 * _range(operands[0]).most if is_sum else result.most
        most = most if max(sum(_digits(kind)) for kind in kinds) <= 38 else math.inf
        # DuckDB keeps up to 18 digits in int64, and products of such numbers, too.
        return "decimals" in never_fail or most * 10**scale < 10 ** (18 if is_short else 38)
    if is_sum:
        return "sums" in never_fail or (name == "Mean" and "integers" in never_fail)
    return "integers" in never_fail or result.most < 2 ** (max(map(_bits, operands)) - 1)


def _is_real(node: Any) -> bool:
    """Tell whether a value in SQLite cannot be a large integer, whose sums may overflow."""
    name, of = type(node).__name__, _sources(node)
    if of or name in ("Alias", "Clip"):
        ends = _operands(node)
        # With both ends of a clip, every real number is between.
        return all(map(_is_real, of or ends[len(ends) == 3 :]))
    if name in COMPARISONS:
        return True
    if name == "Literal":
        return node.value is not None and abs(node.value) < 2**20
    is_stored = name == "Field" and type(node.rel).__name__ == "DatabaseTable"
    return bool(node.dtype.is_floating() and (is_stored or name == "Cast"))


def _is_safe_cast(operand: Any, to: Any, never_fail: frozenset[str]) -> bool:
    """Tell whether a cast can fail on no value."""
    kind, values = operand.dtype, _range(operand)
    if to.is_string():
        return not kind.is_binary()
    if not (kind.is_numeric() or kind.is_boolean()):
        return bool(_plain(kind) == _plain(to) or (to.is_date() and kind.is_timestamp()))
    if kind.is_boolean() and "booleans" not in never_fail:
        return bool(to.is_int32())
    if to.is_floating():
        is_narrower = kind.is_float64() and not to.is_float64()
        return not is_narrower and (kind.is_floating() or not _is_endless(operand))
    # Decimals of unlimited precision may be NaN, as floats may. Databases that sort NaN as the
    # largest number clip it to the upper end.
    has_no_nan = "largest" in never_fail and type(operand).__name__ == "Clip" and operand.upper
    if kind.is_floating() and not (to.is_integer() and has_no_nan and _is_literal(operand.upper)):
        return False
    if kind.is_decimal() and to.is_integer() and "decimals" in never_fail:
        return False
    if to.is_integer():
        limits, more = _of_type(to), int(kind.is_decimal() or kind.is_floating())
        return limits.lo <= values.lo - more and values.hi + more <= limits.hi
    return to.is_decimal() and sum(_digits(to)) < 99 and values.most < _of_type(to).hi - 1


@cache
def _range(node: Any) -> Range:
    """Return a range that holds all values of an expression of numbers."""
    name, kind = type(node).__name__, node.dtype
    if kind.is_boolean() or kind.is_float32():
        return _of_type(kind)
    of = [_range(operand) for operand in _sources(node) or _operands(node)]
    if name == "Literal" and kind.is_numeric() and node.value is not None:
        value = float(node.value) if kind.is_decimal() else node.value
        return Range(value, value, abs(value) or 1.0)
    if name in ("Alias", "NullIf") or (name == "Cast" and kind.is_floating()):
        return of[0]
    if name == "Cast" and kind.is_numeric() and not node.arg.dtype.is_string():
        return Range(of[0].lo - 1, of[0].hi + 1, _of_type(kind).least)
    if name == "Clip" and all(map(_is_literal, _operands(node)[1:])):
        low = -math.inf if node.lower is None else _range(node.lower).lo
        high = math.inf if node.upper is None else _range(node.upper).hi
        lo, hi = max(of[0].lo, low), min(of[0].hi, high)
        return Range(min(lo, high), max(hi, low), min(term.least for term in of))
    if name == "Negate":
        return Range(-of[0].hi, -of[0].lo, of[0].least)
    if name == "Abs":
        return Range(0, of[0].most, of[0].least)
    if name in ("Add", "Subtract"):
        a, b = of[0], of[1] if name == "Add" else Range(-of[1].hi, -of[1].lo, of[1].least)
        return Range(a.lo + b.lo, a.hi + b.hi, max(min(a.least, b.least) * 2.0**-53, 5e-324))
    if name == "Multiply":
        ends = [x * y if x and y else 0 for x in of[0][:2] for y in of[1][:2]]
        return Range(min(ends), max(ends), of[0].least * of[1].least)
    if name in OF_TIMES:
        return Range(-1e7, 1e7)
    if name == "Modulus":
        return Range(1 - of[1].hi if of[0].lo < 0 else 0, of[1].hi - 1)
    if name == "FloorDivide" and of[1].lo >= 2:
        ends = [x / y for x in of[0][:2] for y in of[1][:2]]
        more = 1 + 1e-9 * max(map(abs, ends))  # allows for the rounding of the quotient in float64
        return Range(min(ends) - more, max(ends) + more)
    if name in ("Sum", "Mean"):  # for fewer than 1e12 rows
        is_float = kind.is_floating() and _operands(node)[0].dtype.is_floating()
        return Range(-1e12 * of[0].most, 1e12 * of[0].most, 5e-324) if is_float else ANY
    if name != "Field" or not of:
        of.append(_of_type(kind))
    return Range(
        min(some.lo for some in of), max(some.hi for some in of), min(some.least for some in of)
    )


def _of_type(kind: Any) -> Range:
    """Return a range that holds all values of a type."""
    if kind.is_boolean():
        return Range(0, 1)
    if kind.is_integer():
        bits = 8 * kind.nbytes
        is_signed = kind.is_signed_integer()
        return (
            Range(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else Range(0, 2**bits - 1)
        )
    if kind.is_decimal() and kind.precision:
        whole, scale = _digits(kind)
        return Range(-(10**whole), 10**whole, 10.0**-scale)
    return ANY


def _bits(node: Any) -> int:
    """Return the bits of the integers in which a database computes; Ibis may name more."""
    name, kind = type(node).__name__, node.dtype
    if name in ("Cast", "Literal", "FloorDivide") or not kind.is_integer():
        return 8 * kind.nbytes if kind.is_signed_integer() else 1
    of = _sources(node) or ([] if name == "Field" else _operands(node))
    inner = [_bits(operand) for operand in of if operand.dtype.is_integer()]
    if name in ARITHMETIC or name == "Modulus":
        return max(inner)
    return min([8 * kind.nbytes if kind.is_signed_integer() else 1, *inner])


def _sources(node: Any) -> list[Any]:
    """Return the values that a table's column is made of; empty for a stored column."""
    ops = extra("ibis", "data in a database").expr.operations
    if not isinstance(node, ops.Field):
        return []
    source = node.rel.values.get(node.name)
    if isinstance(node.rel, ops.PhysicalTable) or source == node:
        return []
    if source is not None:
        return [source]
    return [ops.Field(arg, node.name) for arg in node.rel.args if isinstance(arg, ops.Relation)]
