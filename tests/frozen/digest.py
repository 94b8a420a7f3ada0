"""The exact bits of an answer as sixteen letters: of numbers, types and shapes, and no words."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import dpfast as dp

#: Fields of answers and reports that hold words, names of files, times or inner objects.
WORDS = {
    *[
        "file",
        "key",
        "ledger",
        "name",
        "noise",
        "note",
        "path",
        "process",
        "time",
        "what",
        "witness",
    ]
}
PLAIN = (bool, int, str, bytes, Fraction, Decimal, type(None), slice, datetime.date, datetime.time)
PLAIN += (datetime.timedelta, datetime.datetime)


def digest(value: Any, digits: int | None = None) -> str:
    """Return sixteen letters for a value, with floats as exact bits or to so many digits."""
    return hashlib.sha256(b"|".join(_bytes(value, digits))).hexdigest()[:16]


def _bytes(value: Any, digits: int | None) -> Iterator[bytes]:
    if isinstance(value, (float, np.floating, np.ndarray)) and not isinstance(value, np.float16):
        kinds = (np.ndarray, np.floating, float)
        kind = next(kind.__name__ for kind in kinds if isinstance(value, kind))
        yield from _numbers(np.ma.asarray(value), kind, digits)
    elif isinstance(value, np.generic):
        yield value.dtype.str.encode() + value.tobytes()
    elif isinstance(value, PLAIN):
        yield f"{type(value).__name__} {value!r}".encode()
    elif isinstance(value, dp.ptr.NoAnswer):
        yield b"no answer"
    elif isinstance(value, Mapping):
        for key in sorted(value, key=repr):
            if key not in WORDS:
                yield repr(key).encode()
                yield from _bytes(value[key], digits)
    elif isinstance(value, (set, frozenset)):
        yield from _bytes(sorted(value), digits)
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        yield from _bytes(value._asdict(), digits)
    elif isinstance(value, (list, tuple, range)):
        yield f"{len(value)} of".encode()
        for item in value:
            yield from _bytes(item, digits)
    else:
        yield from _bytes(_public(value), digits)


def _numbers(array: Any, kind: str, digits: int | None) -> Iterator[bytes]:
    yield f"{kind} {array.dtype.str} {array.shape}".encode()
    if array.dtype.kind == "O":
        yield from _bytes(array.ravel().tolist(), digits)
    elif digits is not None and array.dtype.kind == "f":
        yield " ".join(f"{number + 0.0:.{digits}g}" for number in array.ravel().tolist()).encode()
    else:
        yield np.ascontiguousarray(array.data).tobytes()
    if np.ma.is_masked(array):
        yield np.ma.getmaskarray(array).tobytes()


def _public(value: Any) -> dict[str, Any]:
    """Return the public numbers of an object; of an estimator what it has learned."""
    if is_dataclass(value) and not hasattr(value, "fit"):
        names = [field.name for field in fields(value)]
    else:
        names = [*getattr(value, "__dict__", ())]
    if hasattr(value, "fit"):
        names = [name for name in names if name.endswith("_")]
    found = {name: getattr(value, name) for name in names if not name.startswith("_")}
    if not found.keys() - WORDS:
        raise TypeError(f"cannot be frozen: {value!r} shows no number")
    return found


def shown(value: Any) -> str:
    """Return numbers as a short text: to twelve digits, or exact where they are fractions."""
    if value is None:
        return "none"
    if isinstance(value, (Fraction, int)):
        text = str(value)
        return text if len(text) < 25 else f"{float(value):.9g}#{digest(value)[:8]}"
    if isinstance(value, Mapping):
        return " ".join(f"{key}={shown(value[key])}" for key in sorted(value))
    numbers = [f"{number + 0.0:.12g}" for number in np.ravel(np.asarray(value, float))]
    if len(set(numbers)) == 1:
        return f"{numbers[0]} x{len(numbers)}" if len(numbers) > 1 else numbers[0]
    more = "" if len(numbers) < 3 else f"..#{digest(numbers)[:8]}"
    return " ".join(numbers[:2]) + more
