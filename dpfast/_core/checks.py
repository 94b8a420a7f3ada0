"""Checks of arguments: each returns the checked value, or raises an error of one sentence.

The sentence names the argument, the rule and the value: ``epsilon must be a finite number greater
than 0, got -1``. A value that may contain rows is refused by `fail_kind`, whose message shows only
the type. The names in `dpfast.extend.checks` are for packages that extend dpfast.
"""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from types import NoneType
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from ..errors import fail as fail
from ..errors import fail_kind as fail_kind
from ..errors import fail_type as fail_type
from .types import Neighbors

__all__ = [
    "array",
    "bounds",
    "choice",
    "fail",
    "fail_kind",
    "fail_type",
    "flag",
    "fraction",
    "neighbors",
    "number",
    "path",
    "plain",
    "positive",
    "ratio",
    "real",
    "rows_each",
    "share",
    "text",
    "whole",
]

_REAL: tuple[type[Any], ...] = (numbers.Real, Decimal)
NEIGHBORS: dict[str, Neighbors] = {relation: relation for relation in get_args(Neighbors)}
#: The most bits of an integer that is printed. By default Python refuses to print integers of more
#: than 4300 decimal digits.
LONG = 10_000
_NOTHING = object()


def real(value: Any) -> float | None:
    """Return a real number as a float, or None for anything else. A too large number is infinite.

    Parameters
    ----------
    value : object

    Returns
    -------
    float or None

    Raises
    ------
    ArgumentError, ArgumentTypeError
        Never. If `value` is not a number, the result is None.

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.real(1), checks.real("1")
    (1.0, None)
    """
    if type(value) is float:  # the checks below take ten times as long
        return value
    # A time difference of NumPy is a subclass of its integers.
    if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, _REAL):
        return None
    try:
        return float(value)
    except ValueError:  # a signaling Decimal NaN
        return math.nan
    except OverflowError:
        pass
    except Exception:  # a number of another library may raise any error
        return None
    try:
        return math.inf if value > 0 else -math.inf
    except Exception:
        return None


def attribute(value: Any, name: str, default: Any = None) -> Any:
    """Return an attribute of a user's object, or `default` if looking it up raises an error."""
    try:
        return getattr(value, name, default)
    except Exception:
        # A __getattr__ or a property may raise any error; its text is not ours to show.
        return default


def has(value: Any, name: str) -> bool:
    """Tell whether a user's object has an attribute; an error in looking it up means no."""
    return attribute(value, name, _NOTHING) is not _NOTHING


def items(sequence: Iterable[Any]) -> list[Any]:
    """Return the items of a user's sequence as a list, whatever length it claims to have."""
    return list(iter(sequence))  # `list` would believe __len__, and ask for as much memory


def assign(frozen: object, **values: object) -> None:
    """Set checked fields of a frozen dataclass, in its ``__post_init__``."""
    for name, value in values.items():
        object.__setattr__(frozen, name, value)


def plain(value: Any, other: Callable[[Any], Any]) -> Any:
    """Return a value in the types of JSON, without a change of floats.

    Parameters
    ----------
    value : object
    other : callable
        A function that gets each value that JSON does not have, and returns a replacement or raises
        an error. Such values are NaN, infinity, named tuples, integers of more than 3000 digits,
        mappings with keys that are not text, and other objects.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Raises
    ------
    RecursionError
        If a list or dict contains itself.

    Examples
    --------
    >>> import dpfast as dp
    >>> import numpy as np
    >>> dp.extend.checks.plain({"a": np.array([1, 2]), "b": (0.5, float("nan"))}, str)
    {'a': [1, 2], 'b': [0.5, 'nan']}
    """
    if isinstance(value, (np.ndarray, np.generic)):
        is_time = value.dtype.kind in "Mm"
        value = (np.asarray(value).astype(str) if is_time else value).tolist()
    if isinstance(value, list) or type(value) is tuple:
        return [plain(item, other) for item in value]
    if isinstance(value, Mapping) and all(isinstance(name, str) for name in value):
        return {name: plain(item, other) for name, item in value.items()}
    is_finite = isinstance(value, float) and math.isfinite(value)
    is_short = isinstance(value, int) and value.bit_length() <= LONG
    return value if is_finite or is_short or isinstance(value, (str, NoneType)) else other(value)


def mapping(argument: str, value: Any) -> Mapping[Any, Any]:
    """Return a mapping as a dict. A list of pairs, as in statistics and jobs, is a mapping too."""
    kinds = tuple, list
    are_pairs = isinstance(value, kinds) and value != []
    if are_pairs and all(isinstance(entry, kinds) and len(entry) == 2 for entry in value):
        value = {tuple(name) if isinstance(name, list) else name: entry for name, entry in value}
    with suppress(Exception):  # an object may raise any error here
        if isinstance(value, Mapping | None):
            return dict(value or {})
    fail_type(argument, "a mapping by the names of columns", value)


def number(name: str, value: Any, rule: str = "a finite real number") -> float:
    """Return a finite real number as a float.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object
    rule : str
        The rule that a bad value breaks.

    Returns
    -------
    float

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.number("scale", 2)
    2.0
    """
    if type(value) is float and math.isfinite(value):
        return value
    result = real(value)
    if result is None:
        fail_type(name, rule, value)
    if not math.isfinite(result):
        fail(name, rule, value)
    return result


def positive(name: str, value: Any) -> float:
    """Return a finite number above zero as a float.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object

    Returns
    -------
    float

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.positive("scale", 2)
    2.0
    """
    rule = "a finite number greater than 0"
    result = number(name, value, rule)
    if not result > 0:
        fail(name, rule, value)
    return result


def scale(name: str, value: Any) -> float:
    """Return a positive number that is neither too small nor too large to compute with."""
    result = positive(name, value)
    if not 2.0**-900 <= result <= 2.0**900:
        fail(name, "between 2**-900 and 2**900", value)
    return result


def share(name: str, value: Any) -> float:
    """Return a number greater than 0 and less than 1 as a float.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object

    Returns
    -------
    float

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.share("confidence", 0.95)
    0.95
    """
    rule = "greater than 0 and less than 1"
    checked_number = number(name, value, rule)
    if not 0 < checked_number < 1:
        fail(name, rule, value)
    return checked_number


def is_whole(value: Any) -> bool:
    """Tell whether a value is an integer; a bool or a time difference of NumPy is not."""
    return isinstance(value, numbers.Integral) and real(value) is not None


def whole(name: str, value: Any, least: int = 0, most: int | None = None) -> int:
    """Return an integer from `least` to `most`.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object
    least : int, default 0
    most : int, optional
        The largest integer that is allowed; by default there is none.

    Returns
    -------
    int

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.whole("rows", 3, 1)
    3
    """
    if type(value) is int and value >= least and (most is None or value <= most):
        return value
    rule = f"an integer of at least {least}"
    if not is_whole(value):
        fail_type(name, rule, value)
    if int(value) < least:
        fail(name, rule, value)
    if most is not None and int(value) > most:
        power = most.bit_length() - 1
        is_large_power = power > 20 and most == 1 << power
        fail(name, f"at most {f'2**{power}' if is_large_power else most}", value)
    return int(value)


def shape(name: str, value: Any, rule: str, common: tuple[int, ...] = ()) -> tuple[int, ...]:
    """Return a shape of NumPy, for which a float64 array fits in memory.

    `common` must broadcast to the shape. If the value is None, `common` is returned.
    """
    if value is None:
        return common
    try:
        # The length that the object states is not trusted. `np.broadcast_shapes` takes 32 axes.
        sizes = tuple(islice(iter(value), 33)) if real(value) is None else (value,)
    except Exception:  # an object may raise any error here
        fail(name, rule, value)
    wanted = tuple(whole(name, length) for length in sizes)
    try:
        fits = len(wanted) < 33 and np.broadcast_shapes(wanted, common) == wanted
    except (ValueError, OverflowError):
        fits = False
    if not fits:
        fail(name, rule, value)
    try:
        if math.prod(wanted) > 1 << 40:
            raise MemoryError
        np.empty(wanted)  # takes no memory until it is written
    except (ValueError, MemoryError):
        fits = False
    if not fits:
        fail(name, "a shape that fits in memory", value)
    return wanted


def path(name: str, value: Any) -> str:
    """Return the path of a file as text.

    Parameters
    ----------
    name : str
        The name of the argument in error messages.
    value : str or path-like

    Returns
    -------
    str

    Raises
    ------
    ArgumentTypeError, ArgumentError
        If `value` is not the path of a file, or is the name of a database in memory.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.checks.path("path", "study.db")
    'study.db'
    """
    rule = "the path of a file on a disk"
    try:
        text = os.fsdecode(value)
        text.encode()
    except Exception:  # an object may raise any error here, and its text may not be UTF-8
        fail_type(name, rule, value)
    if not text or text == ":memory:" or "\0" in text:
        fail(name, rule, value)
    return text


def rows_each(value: Any, name: str = "max_rows") -> int:
    """Return a contribution bound: the largest number of rows of a person, an int below 2**63.

    Parameters
    ----------
    value : int
    name : str, default "max_rows"
        The name of the argument in error messages.

    Returns
    -------
    int

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If `value` is not an integer from 1 to 2**63 - 1.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.checks.rows_each(20)
    20
    """
    number = whole(name, value, 1)
    if number >= 1 << 63:
        fail(name, "less than 2**63", value)
    return number


def fraction(name: str, value: Any) -> Fraction:
    """Return a number as an exact fraction, by its decimal digits: 0.1 is one tenth.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object

    Returns
    -------
    Fraction

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.fraction("epsilon", 0.1)
    Fraction(1, 10)
    """
    number(name, value)
    if isinstance(value, Decimal) and value and value.adjusted() < -10_000:
        fail(name, "0 or at least 10**-10000 in size", value)  # it might fill the memory
    if isinstance(value, (numbers.Rational, Decimal)):
        return ratio(value) if value else Fraction(0)
    # str() of a NumPy float is the shortest decimal of its own precision, as the user saw it.
    return Fraction(str(value))


def ratio(value: Any) -> Fraction:
    """Return a finite number as an exact fraction; a float becomes its exact binary value.

    Numerator and denominator are Python integers. (`Fraction` keeps integers of NumPy, which
    overflow.)

    Parameters
    ----------
    value : number

    Returns
    -------
    Fraction

    Raises
    ------
    ArgumentError, ArgumentTypeError
        Never: the caller has checked the value.

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.ratio(0.5)
    Fraction(1, 2)
    """
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(*value.as_integer_ratio())


def choice(name: str, value: Any, options: Collection[str]) -> str:
    """Return a text that is one of the allowed options.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object
    options : collection of str

    Returns
    -------
    str

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.choice("method", "fast", ("fast", "exact"))
    'fast'
    """
    word = str.__str__(value) if isinstance(value, str) else None
    if word is None or word not in options:
        fail(name, "one of " + ", ".join(repr(o) for o in options), value)
    return word


def flag(name: str, value: Any) -> bool:
    """Return a bool. Other values, such as 0 and 1, are refused.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object

    Returns
    -------
    bool

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.flag("whole", True)
    True
    """
    if not isinstance(value, bool):
        fail_type(name, "True or False", value)
    return value


def text(name: str, value: Any) -> str:
    """Return a text that UTF-8 can encode.

    Parameters
    ----------
    name : str
        The name of the argument in error messages.
    value : str

    Returns
    -------
    str

    Raises
    ------
    ArgumentTypeError, ArgumentError
        If `value` is not a string, or if UTF-8 cannot encode it.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.extend.checks.text("name", "ages")
    'ages'
    """
    rule = "text"
    if not isinstance(value, str):
        fail_type(name, rule, value)
    try:
        str.encode(value)
    except UnicodeEncodeError:
        fail(name, "text that UTF-8 can encode", value)
    return str.__str__(value)


def keeps_end(name: str, value: Any) -> None:
    """Refuse text that ends in a null character, because NumPy drops it from the answer."""
    if isinstance(value, (str, bytes, bytearray)) and value[-1:] in ("\0", b"\0"):
        fail(name, "text without a null character at its end, which NumPy drops", value)


def columns(name: str, count: int, width: int) -> None:
    """Check that an argument has one entry for each column of the data."""
    if count != width:
        fail(name, f"one for each column of the data, {width}", f"{count} values")


def neighbors(value: Any) -> Neighbors:
    """Return a neighboring relation: "replace" or "add-remove".

    Parameters
    ----------
    value : object

    Returns
    -------
    str

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.neighbors("replace")
    'replace'
    """
    if type(value) is not str or value not in NEIGHBORS:
        choice("neighbors", value, NEIGHBORS)
    return NEIGHBORS[value]


def bounds(value: Any, name: str = "bounds") -> tuple[float, float]:
    """Return public bounds ``(lo, hi)``: finite, in order, and with a finite difference.

    Parameters
    ----------
    value : object
    name : str, default "bounds"

    Returns
    -------
    (float, float)

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.bounds((0, 120))
    (0.0, 120.0)
    """
    rule = "a pair (lo, hi) of finite numbers with lo <= hi"
    if value is None:
        fail(name, rule + ", known without looking at the data", value)
    try:
        # A set, a dict or an iterator has no first and second entry.
        lo, hi = value[0], value[1]
        if isinstance(value, str) or len(value) != 2:
            raise ValueError
    except Exception:  # an object may raise any error here
        fail(name, rule, value)
    low, high = number(f"{name}[0]", lo), number(f"{name}[1]", hi)
    if low > high:
        fail(name, rule, value)
    if not math.isfinite(high - low):
        fail(name, "such that hi - lo does not overflow float64", value)
    return low + 0.0, high + 0.0


def pairs(value: Any) -> tuple[tuple[tuple[float, float], ...], bool]:
    """Return public bounds of each coordinate of an answer, and whether it is a vector."""
    try:
        nested = len(value) > 0 and all(len(pair) == 2 for pair in value)
    except Exception:  # a number has no length, so it is not a list of pairs
        nested = False
    if not nested or isinstance(value, str):
        return (bounds(value),), False
    return tuple(bounds(pair) for pair in value), True


def is_auto(bounds: Any) -> bool:
    """Tell whether bounds are "auto": then a part of the loss pays for the search of bounds."""
    return isinstance(bounds, str) and bounds == "auto"


def pairs_given(bounds: Any) -> int | None:
    """Return how many columns have bounds of their own; None if one pair is for all columns."""
    if is_auto(bounds):
        return None
    column_pairs, several = pairs(bounds)
    return len(column_pairs) if several else None


def quantile(value: Any, name: str = "q") -> Fraction:
    """Return a quantile in [0, 1] as an exact fraction."""
    q = fraction(name, value)
    if not 0 <= q <= 1:
        fail(name, "a number between 0 and 1", value)
    return q


def power_of_two(name: str, value: Any) -> float:
    """Return a power of two between 2**-1000 and 2**1000."""
    rule = "a power of two between 2**-1000 and 2**1000"
    result = number(name, value, rule)
    if not (2.0**-1000 <= result <= 2.0**1000) or math.frexp(result)[0] != 0.5:
        fail(name, rule, value)
    return result


def nan_policy(value: Any, relation: str) -> str | float:
    """Return a checked policy for NaN and null."""
    words = ("raise", "lower", "upper", "drop")
    rule = "'raise', 'lower', 'upper', 'drop' or a public replacement number"
    if isinstance(value, str):
        word = str.__str__(value)
        if word not in words:
            fail("nan", rule, value)
        if word == "drop" and relation != "add-remove":
            rule = "another policy under replace, because dropping rows changes their number"
            fail("nan", rule, value)
        return word
    return number("nan", value, rule)


def array(name: str, value: Any, rule: str, kinds: str = "") -> NDArray[Any]:
    """Return a value as an array. Masked entries are refused.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object
    rule : str
        The rule that a bad value breaks.
    kinds : str, optional
        The kinds of dtypes that are allowed, such as ``"biuf"`` for real numbers.

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ArgumentError, ArgumentTypeError

    Examples
    --------
    >>> from dpfast.extend import checks
    >>> checks.array("counts", [1, 2], "an array of counts")
    array([1, 2])
    """
    try:
        values = np.asarray(value)
    except Exception:  # an object may raise any error here
        fail_kind(name, rule, value)
    if np.ma.is_masked(value) or (kinds and values.dtype.kind not in kinds):
        fail_kind(name, rule, value)
    return values


def entries(name: str, count: int, rows: int | None, relation: str) -> None:
    """Check that there is one entry for each row, if the number of rows is known and public.

    Under "add-remove" the number of rows is private, so whether it equals `count` is private too.
    There the check is made only after the spend, in the pass over the data.
    """
    if relation == "replace" and rows is not None and count != rows:
        fail(name, f"as long as the data, {rows} rows", f"{count} rows")
