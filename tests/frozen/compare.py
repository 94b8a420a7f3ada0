"""The file of what is kept, and what is another now, in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from .calls import REFUSED, calls
from .record import Call, record

FILE = Path(__file__).with_name("digests.json")
Kept = dict[str, dict[str, str]]


def read() -> Kept:
    """Return what is kept of each call, by its name."""
    lines = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: dict(zip(PARTS, parts, strict=False)) for name, parts in lines.items()}


#: What a line holds, in this order.
PARTS = ("answer", "price", "costs", "error")


def write(kept: Kept) -> None:
    """Write a line for each call, sorted."""
    lines = [f"{json.dumps(name)}: {json.dumps([*kept[name].values()])}" for name in sorted(kept)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def recorded(made: dict[str, Call], names: Iterable[str]) -> Kept:
    """Return what is to be kept of some calls now; of those that are refused, nothing.

    Any other error is shown where the answer would be.
    """
    found: Kept = {}
    for name in names:
        try:
            if name in made:
                found[name] = record(made[name])
        except REFUSED:
            continue
        except Exception as error:
            found[name] = {"answer": f"{type(error).__name__}: {error}"}
    return found


def differences(before: Kept, after: Kept) -> Iterator[str]:
    """Yield a line for each part of each call that is another now."""
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"{name}: is gone, or refused"
        elif name not in before:
            yield f"{name}: is new"
        else:
            for part in PARTS:
                old, new = before[name].get(part, "none"), after[name].get(part, "none")
                if old != new:
                    yield f"{name}: {part} was {old} and is {new}"


__all__ = ["calls", "differences", "read", "recorded", "write"]
