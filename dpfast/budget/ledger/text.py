"""Entries as text: exact amounts, losses, answers, and seals that find damage."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from functools import lru_cache
from typing import Any

from ..._core import checks
from ...privacy import ZCDP, Approx, Draws, Loss, Pure

LOSSES: dict[str, type[Loss]] = {kind.__name__: kind for kind in (Pure, Draws, Approx, ZCDP)}
#: The rule for answers that can be recorded, as it stands in errors.
RULE = "a finite number of at most 3000 digits, a text, or a nested list or dict of these and None"


def exact(amount: Fraction) -> str:
    """Return a fraction as the text of a ratio: decimal, or hexadecimal if it is very long.

    Parameters
    ----------
    amount : Fraction

    Returns
    -------
    str

    Raises
    ------
    AttributeError
        If `amount` is not a fraction.

    Examples
    --------
    >>> import dpfast as dp
    >>> from fractions import Fraction
    >>> dp.extend.exact(Fraction("0.1"))
    '1/10'
    """
    parts = (amount.numerator, amount.denominator)
    return "/".join(hex(p) if p.bit_length() > checks.LONG else str(p) for p in parts)


@lru_cache(1024)
def number(text: str) -> Fraction:
    """Read a fraction from text that `exact` wrote."""
    above, below = text.split("/")
    return Fraction(int(above, 0), int(below, 0))


def loss(amount: Loss, period: str | None = None) -> str:
    """Return a loss as JSON text, with the period of a limit that renews."""
    parts = parts_of(amount, exact)
    return json.dumps(parts if period is None else {**parts, "every": period})


def limit(text: str) -> tuple[Loss, str | None]:
    """Read a limit, and its period if it renews, from text that `loss` wrote."""
    parts = json.loads(text)
    period = parts.pop("every", None)
    return unpack(json.dumps(parts)), period


def parts_of(amount: Loss, shown: Callable[[Fraction], Any]) -> dict[str, Any]:
    """Return the kind of a loss and its parameters, with amounts as `shown` formats them."""
    named = {f.name: getattr(amount, f.name) for f in fields(amount) if f.compare}
    formed = {n: shown(v) if isinstance(v, Fraction) else v for n, v in named.items()}
    return {"kind": type(amount).__name__, **formed}


@lru_cache(256)
def unpack(text: str) -> Loss:
    """Read a loss from text that `loss` wrote, or raise KeyError for an unknown kind of loss."""
    parts = json.loads(text)
    kind = LOSSES[parts.pop("kind")]
    return kind(**{n: number(v) if isinstance(v, str) else v for n, v in parts.items()})


def plain(answer: Any) -> Any:
    """Return an answer in the types of JSON, with all floats unchanged."""
    try:
        return _text(answer) if answer is None else checks.plain(answer, _text)
    except RecursionError:
        checks.fail("answer", RULE, answer)


def _text(answer: Any) -> Any:
    """Return a time as text and a named tuple as a list; refuse all other types in an answer."""
    if isinstance(answer, tuple):
        return checks.plain(list(answer), _text)
    if isinstance(answer, (dt.date, dt.timedelta)):
        return answer.isoformat() if isinstance(answer, dt.date) else str(answer)
    (checks.fail if isinstance(answer, (float, int)) else checks.fail_type)("answer", RULE, answer)


def of_people(*parts: str | int | None) -> tuple[str | int | None, ...]:
    """Return the privacy unit as the parts of a seal: no parts for rows."""
    return () if all(part is None for part in parts) else parts


def of_entry(ids: str | None, record: str | None) -> tuple[str | int | None, ...]:
    """Return the last parts of the seal of an entry: its privacy unit and its record, if any."""
    return of_people(ids) if record is None else (ids, record)


def record(facts: Mapping[str, Any]) -> str:
    """Return the public record of a release as JSON text."""
    try:
        return json.dumps(dict(facts), allow_nan=False)
    except Exception:  # a mapping of any class, which may raise any error
        checks.fail("record", "a dict of the types of JSON, without NaN", facts)


def seal(before: str, *parts: str | int | None) -> str:
    """Return a digest of parts and of the seal before them. It detects damage, but not forgery."""
    return hashlib.sha256(json.dumps([before, *parts]).encode()).hexdigest()
