"""Put the texts of `shared_parameters.toml` into the docstrings of the releases of dpfast.

python tools/shared_parameters.py writes them; with --check it fails if something would be written.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import dpfast  # noqa: E402

WIDTH = 100
SECTION = re.compile(r"(?ms)^( *)Parameters\n +-+\n(.*?)(?=\n\n *[A-Z][^\n]*\n *-+\n|\n *\Z)")
AS_THERE = re.compile(r"As (in|for) `[^`]+`\.?$|$")


@dataclass(frozen=True)
class Shared:
    """A shared parameter, or several that are said together; `others` are types of namesakes."""

    names: tuple[str, ...]
    type: str
    texts: tuple[str, ...]
    others: tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """A parameter of a docstring, or several that are said together."""

    names: tuple[str, ...]
    type: str
    text: str
    #: As it stands, where nothing of it is shared.
    written: str | None = None

    def lines(self, indent: str) -> list[str]:
        """Return the entry as it is written."""
        if self.written is not None:
            return [self.written]
        head = ", ".join(self.names) + (f" : {self.type}" if self.type else "")
        inner = indent + "    "
        body = textwrap.wrap(
            self.text,
            WIDTH,
            initial_indent=inner,
            subsequent_indent=inner,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [indent + head, *body]


def shared_parameters() -> list[Shared]:
    """Return the shared parameters; those of several names come first."""
    table = tomllib.loads((ROOT / "tools" / "shared_parameters.toml").read_text(encoding="utf-8"))
    return [
        Shared(
            tuple(each["names"].split(", ")),
            each["type"],
            tuple(each["texts"]),
            tuple(each.get("others", ())),
        )
        for each in table["parameter"]
    ]


SHARED = shared_parameters()
NAMES = {name for each in SHARED for name in each.names}


def entries(section: str, indent: str) -> list[Entry]:
    """Return the entries of a section of parameters."""
    parts = re.split(rf"\n(?={indent}\S)", section)
    made = []
    for part in parts:
        head, *body = part.split("\n")
        names, _, kind = head.strip().partition(" : ")
        text = " ".join(line.strip() for line in body)
        every = tuple(names.split(", "))
        made.append(Entry(every, kind, text, None if NAMES & set(every) else part))
    return made


def split(entry: Entry) -> Iterator[Entry]:
    """Yield the shared parameters of an entry that only points elsewhere, and then its others."""
    left = [name for name in entry.names if name in NAMES]
    if not left or not AS_THERE.match(entry.text):
        yield entry
        return
    others = tuple(name for name in entry.names if name not in NAMES)
    if others:
        yield Entry(others, entry.type, entry.text)
    for shared in SHARED:
        if set(shared.names) <= set(left):
            alone = entry.names == shared.names and bool(entry.type)
            if alone and entry.type in shared.others:
                yield entry
            else:
                yield Entry(shared.names, entry.type if alone else shared.type, shared.texts[0])
            left = [name for name in left if name not in shared.names]


def fault(entry: Entry) -> str | None:
    """Return what is wrong with an entry of shared parameters."""
    said = ", ".join(entry.names)
    if not entry.type and not entry.text and len(entry.names) > 1:
        return f"{said} say nothing"
    for shared in SHARED:
        if shared.names != entry.names or entry.type in shared.others:
            continue
        if entry.type != shared.type:
            return f"{said} is of another type: {entry.type!r}"
        if not any(entry.text.startswith(text) for text in shared.texts):
            return f"{said} begins with none of its texts: {entry.text!r}"
        return None
    known = {", ".join(each.names) for each in SHARED}
    return f"{said} are no shared entry" if NAMES & set(entry.names) and said not in known else None


def releases() -> set[tuple[str, str]]:
    """Return the modules and qualified names of all that is public and takes a budget."""
    modules, places = [dpfast], set()
    while modules:
        module = modules.pop()
        for name in module.__all__:
            each = getattr(module, name)
            if isinstance(each, ModuleType):
                modules.append(each)
            elif callable(each):
                members = vars(each).values() if isinstance(each, type) else ()
                for one in (each, *filter(inspect.isfunction, members)):
                    if takes_budget(one):
                        places.add((one.__module__, one.__qualname__))
    return places


def takes_budget(function: Callable[..., object]) -> bool:
    """Tell whether a function or class takes a budget and a generator."""
    try:
        return {"budget", "rng"} <= inspect.signature(function).parameters.keys()
    except ValueError:  # a built-in one
        return False


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Yield the functions, classes and methods of a module by their qualified names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef):
                    yield f"{node.name}.{each.name}", each


def mended(text: str, names: set[str]) -> tuple[str, list[str]]:
    """Return a module with shared texts in the docstrings of some names, and the faults left."""
    lines, faults, changes = text.split("\n"), [], []
    for name, node in functions(ast.parse(text)):
        if name not in names or ast.get_docstring(node) is None:
            continue
        place = node.body[0]
        assert isinstance(place, ast.Expr) and place.end_lineno is not None
        first, last = place.lineno - 1, place.end_lineno
        written = "\n".join(lines[first:last])
        if not (section := SECTION.search(written)):
            continue
        indent = section[1]
        every = [part for entry in entries(section[2], indent) for part in split(entry)]
        faults += [f"{name}, line {node.lineno}: {wrong}" for e in every if (wrong := fault(e))]
        body = "\n".join(line for entry in every for line in entry.lines(indent))
        start, end = section.span(2)
        changes.append((first, last, written[:start] + body + written[end:]))
    for first, last, written in sorted(changes, reverse=True):
        lines[first:last] = written.split("\n")
    return "\n".join(lines), faults


def main(check: bool) -> int:
    """Write the texts, or tell what would be written; return how many faults there are."""
    faults, places = 0, releases()
    for path in sorted((ROOT / "dpfast").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        names = {name for where, name in places if where == module.removesuffix(".__init__")}
        new, wrong = mended(text, names)
        faults += len(wrong)
        for each in wrong:
            print(f"{path.relative_to(ROOT)}: {each}")
        if new != text and check:
            faults += 1
            print(f"{path.relative_to(ROOT)} is not up to date: run tools/shared_parameters.py")
        elif new != text:
            path.write_text(new, encoding="utf-8")
    return faults


if __name__ == "__main__":
    sys.exit(min(1, main("--check" in sys.argv[1:])))
