"""Show the rooms of dpfast, floor by floor, and the imports between them.

    python tools/rooms.py
    python tools/rooms.py covariance learn.KMeans   # where names are defined, and what tests them

A room is a folder or a module at the top level of `dpfast/`. It imports from rooms on lower floors
only, and inside a room no files import one another in a circle. What is imported for type checkers
alone (under ``if TYPE_CHECKING``) counts as well, except in the doors, `__init__`, `__main__` and
`extend`, which stand over all floors. Guests come in by the doors: they use public names alone.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dpfast"

#: The rooms of each floor, from the ground up: the one list that says what may import what.
FLOORS = (
    ("errors",),
    ("_core", "_kernels"),
    ("privacy", "rng", "tables"),
    ("noise", "summaries", "budget"),
    ("measurement", "sensitivity", "selection", "native"),
    ("statistics", "online", "sulq"),
    ("groups", "aggregate", "learn", "audit"),
    ("app", "adapters"),
)
DOORS = ("__init__", "__main__", "extend")
#: An import of Python, wherever it stands: to read whole files as Python takes long.
IMPORT = re.compile(r"^ *((?:from [.\w]+ )?import (?:\([^)]*\)|[^(\n]+))(?: *#.*)?$", re.M)
#: Rooms that use public names, as another package would (`tests/test_public_names.py`).
GUESTS = ("adapters", "audit", "app")


def module(path: Path) -> str:
    """Name of the module in a file, without the name of the package."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def files() -> dict[str, Path]:
    """Every module of the package: Python files and Cython files."""
    return {module(p): p for p in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")])}


def room(name: str) -> str:
    """The room that a module is in."""
    return name.split(".")[0]


def _statements(path: Path) -> Iterator[tuple[str, list[str]]]:
    """(module as it is written, names) of every import of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".pyx":
        for found in re.finditer(r"^\s*from\s+(\S+)\s+c?import\s+\(?([\w, ]*)", text, re.M):
            yield found[1], [name.strip() for name in found[2].split(",")]
        return
    for found in IMPORT.finditer(text):
        (node,) = ast.parse(found[1]).body
        if isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, []


def imports(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """Modules of dpfast that a file imports, wherever and however the import is written."""
    here = ("dpfast", *path.relative_to(PACKAGE).parts[:-1])
    for written, names in _statements(path):
        dots = len(written) - len(written.lstrip("."))
        base = here[: len(here) - dots + 1] if dots else ()
        full = [*base, *(part for part in written.lstrip(".").split(".") if part)]
        if full[:1] != ["dpfast"]:
            continue
        for name in names or [""]:
            own = [*full[1:], name]
            while own and ".".join(own) not in modules:
                own.pop()
            yield ".".join(own) or "__init__"


def graph() -> dict[str, set[str]]:
    """Of each module those that it imports, itself left out."""
    modules = files()
    return {name: set(imports(path, modules)) - {name} for name, path in modules.items()}


def arrows(edges: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports from the second; all guests come by one door."""
    pairs = {(room(a), room(b)) for a, targets in edges.items() for b in targets}
    return {(a, DOORS[0] if a in GUESTS else b) for a, b in pairs if a != b}


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import one another in a circle, each circle once."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in sorted(edges.get(name, ())):
            # That a package is loaded before what is in it makes no circle.
            if name.startswith(other + ".") or other == "__init__":
                continue
            if other not in order:
                visit(other)
            if other in stack:
                low[name] = min(low[name], low[other])
        if low[name] == order[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(stack[at:])
            del stack[at:]

    for name in sorted(edges):
        if name not in order:
            visit(name)
    return found


def heights(pairs: set[tuple[str, str]]) -> dict[str, int]:
    """The floor of each room by its imports alone: one above the highest that it uses."""
    below: dict[str, set[str]] = {}
    for a, b in pairs:
        below.setdefault(b, set())
        below.setdefault(a, set())
        if b not in DOORS:
            below[a].add(b)
    found: dict[str, int] = {}
    while len(found) < len(below):
        ready = {a for a in below if a not in found and below[a] <= found.keys()}
        if not ready:
            raise SystemExit(f"rooms in a circle: {sorted(below.keys() - found.keys())}")
        found |= {a: 1 + max((found[b] for b in below[a]), default=0) for a in ready}
    return found


def definitions(name: str) -> Iterator[tuple[Path, int]]:
    """File and line of each definition of a name at the top level of a module, and of a module."""
    files = sorted(PACKAGE.rglob("*.py"), key=lambda path: (room(module(path)) in GUESTS, path))
    for path in files:
        text = path.read_text(encoding="utf-8")
        lines = [
            node.lineno
            for node in (ast.parse(text).body if name in text else ())
            if name == getattr(node, "name", None)
            or (isinstance(node, ast.Assign) and name in map(ast.unparse, node.targets))
        ]
        if lines or module(path).rpartition(".")[2] == name:
            yield path, lines[-1] if lines else 1  # the first ones may be overloads


def mentions(words: set[str], files: Iterable[Path]) -> list[Path]:
    """At most three of the files named after or using one of some words, the nearest first."""
    word = re.compile(rf"\b({'|'.join(map(re.escape, words))})\b")

    def rank(path: Path) -> tuple[bool, int]:
        is_named = path.stem.removeprefix("test_") in words
        return is_named, len(word.findall(path.read_text(encoding="utf-8")))

    ranks = {path: rank(path) for path in files}
    found = (path for path, one in ranks.items() if any(one))
    return sorted(found, key=lambda path: (*(-x for x in ranks[path]), path))[:3]


def kernels(path: Path) -> list[str]:
    """The compiled functions that a file calls; if none, those of the files that it imports."""

    def calls(path: Path) -> Iterator[str]:
        text = path.read_text(encoding="utf-8")
        for written, names in _statements(path):
            _, _, kernel = written.partition("_kernels")
            for name in names if "_kernels" in written else ():
                pattern = rf"\b{name}\(" if kernel else rf"\b(?:_native|{name})\.([a-z]\w*)\("
                for call in re.findall(pattern, text):
                    yield f"{kernel[1:] or name}.{call if not kernel else name}"

    if not (found := set(calls(path))):
        modules = files()
        found = {call for name in imports(path, modules) for call in calls(modules[name])}
    return sorted(
        call
        for call in found
        if not call.startswith(("rng.", "tables.Key", "bit_generator.", "calls."))
    )


def places_of(name: str) -> list[tuple[Path, int]]:
    """Files and lines that define a name; of a public name with a dot, the one that is meant."""
    places = list(definitions(name.rpartition(".")[2]))
    if "." in name:
        import dpfast

        with suppress(AttributeError):
            public = attrgetter(name.removeprefix("dp."))(dpfast)
            path = files()[public.__module__.removeprefix("dpfast.")]
            return [place for place in places if place[0] == path] or [(path, 1)]
    return places


def show(name: str) -> bool:
    """Print where a name is defined, its kernels, tests and slow twins; return False if nowhere."""
    tests, places, last = ROOT / "tests", places_of(name), name.rpartition(".")[2]
    for path, line in places:
        own_room, names = path.relative_to(PACKAGE).parts[0], {last, last.lower()}
        called = kernels(path)
        words = names | {path.stem, *(call.partition(".")[2] for call in called)}
        twins = tests / "reference"
        found = {
            "tests": mentions(names, (tests / own_room).rglob("test_*.py"))
            or mentions(names, tests.rglob("*.py")),
            "twins": mentions(words, (twins / own_room).rglob("*.py")),
        }
        print(f"{name}: {path.relative_to(ROOT)}:{line}")
        print(f"    kernels: {', '.join(called) or 'none'}")
        for title, files in found.items():
            print(f"    {title}: {', '.join(str(p.relative_to(ROOT)) for p in files) or 'none'}")
    if not places:
        print(f"{name}: no module of dpfast defines it", file=sys.stderr)
    return bool(places)


def main() -> int:
    if names := sys.argv[1:]:
        return 0 if all([show(name) for name in names]) else 1
    edges = graph()
    pairs = arrows(edges)
    rooms = {room(name) for name in edges}
    floor = heights(pairs)
    for level in range(max(floor.values()), 0, -1):
        for name in sorted(rooms):
            if floor.get(name) == level:
                own = [other for other in edges if room(other) == name]
                uses = ", ".join(sorted(b for a, b in pairs if a == name)) or "nothing"
                print(f"floor {level}  {name} ({len(own)} files) uses {uses}")
    inside = [a for a in floor if a not in DOORS]
    print(
        f"{len(rooms)} rooms, {len(pairs)} arrows, {max(floor[a] for a in inside)} floors", end=""
    )
    print(f" and the doors; {len(circles(edges))} circles")
    return 0


if __name__ == "__main__":
    sys.exit(main())
