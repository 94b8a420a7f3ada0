"""Values that no row should be able to hurt with, and one object that raises whatever it is asked.
`SECRET` is in each of them that can carry it, so that whoever shows a row is found."""

import datetime
import enum
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa

SECRET = "7654321"


class Hostile:
    """Raises at whatever it is asked, and says the secret."""

    def __getattr__(self, name):
        raise AttributeError(SECRET)

    def _raise(self, *_):
        raise ZeroDivisionError(SECRET)

    __array__ = __bool__ = __eq__ = __float__ = __getitem__ = __hash__ = __index__ = _raise  # type: ignore[assignment]
    __int__ = __iter__ = __len__ = __lt__ = __repr__ = __str__ = _raise  # type: ignore[assignment]


class HostileNumber(Fraction):
    """A number by its type, which raises when it is asked for its value."""

    def __float__(self):
        raise OverflowError(SECRET)

    def __gt__(self, other):
        raise ZeroDivisionError(SECRET)

    __int__ = __trunc__ = __eq__ = __float__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


class Text(str):
    """Text that has no hash."""

    __hash__ = None  # type: ignore[assignment]


class Colour(enum.StrEnum):
    RED = SECRET


def values():
    """The values by name."""
    number = int(SECRET)
    return {
        "none": None, "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "-0": -0.0,
        "tiny": 5e-324, "huge": 1e308, "half": 0.5, "true": True, "false": False, "0": 0,
        "-1": -1, "int": number, "2**53+1": 2**53 + 1, "2**63": 2**63, "-2**63-1": -(2**63) - 1,
        "2**64": 2**64, "10**400": 10**400, "-10**400": -(10**400), "third": Fraction(1, 3),
        "huge fraction": Fraction(10**400, 3), "decimal": Decimal("0.1"),
        "sNaN": Decimal("sNaN"), "decimal NaN": Decimal("NaN"), "1e400": Decimal("1e400"),
        "np.bool": np.True_, "float16": np.float16(0.1), "float32": np.float32(0.1),
        "signalling": np.frombuffer(b"\x01\x00\xa0\x7f", np.float32)[0],
        "longdouble": np.longdouble("1e4000"), "int8": np.int8(5), "uint64": np.uint64(2**64 - 1),
        "timedelta64": np.timedelta64(number, "s"), "datetime64": np.datetime64(number, "s"),
        "NaT": np.datetime64("NaT"), "date": datetime.date(2020, 1, 1),
        "timedelta": datetime.timedelta(number), "complex": complex(number),
        "np.complex": np.complex64(number), "text": SECRET, "empty text": "", "'1'": "1",
        "'nan'": "nan", "surrogate": "\ud800", "np.str": np.str_(SECRET),
        "text subclass": Text("a"), "enum": Colour.RED, "bytes": SECRET.encode(),
        "bytearray": bytearray(b"ab"),
        "void": np.void(b"ab"), "list": [number], "two": [number, 1.0], "empty": [], "tuple": (1,),
        "nested": [[number]], "ragged": [1.0, [number]], "dict": {number: 1}, "set": {number},
        "range": range(3), "array": np.array([number]), "0-d": np.array(5),
        "matrix": np.array([[number]]), "pd.NA": pd.NA, "pd.NaT": pd.NaT,
        "masked": np.ma.masked, "series": pd.Series([number]), "scalar": pa.scalar(number),
        "null scalar": pa.scalar(None), "object": object(), "type": int, "ellipsis": ...,
        "function": len, "hostile": Hostile(), "hostile number": HostileNumber(1, 3),
    }  # fmt: skip
