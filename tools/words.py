"""Count the words of the house's dialect in names and sentences of dpfast.

    python tools/words.py            # how many in each room, and how often each word
    python tools/words.py --places   # and where they stand, with what to say in their place
    python tools/words.py --check    # fails where a room has more than `words.toml` allows
    python tools/words.py --keep     # lowers the limits there to what there is

A name counts where it is bound: once in each function, class or module. Sentences are the first of
each docstring, texts in a `raise`, and comments, in `dpfast/` and in `csrc/`.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).with_suffix(".toml")
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Word(NamedTuple):
    """A word of the dialect: which it is, and the line on which it stands."""

    line: int
    word: str


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Every node of a scope, without what stands in the scopes that it contains."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _inside(node)


def _bound(node: ast.AST) -> str | None:
    """The name that a node binds, if any."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
    return None


def names(tree: ast.Module) -> Iterator[Word]:
    """Names that a file binds, once in each scope."""
    for scope in ast.walk(tree):
        if isinstance(scope, _SCOPES):
            lines: dict[str, int] = {}
            for node in _inside(scope):
                if name := _bound(node):
                    lines.setdefault(name.strip("_").lower(), node.lineno)
            yield from (Word(line, name) for name, line in lines.items())


def sentences(text: str, tree: ast.Module) -> Iterator[Word]:
    """First sentences of docstrings, texts of errors, and comments of a Python file."""
    for node in ast.walk(tree):
        if isinstance(node, _SCOPES[:-1]) and (doc := ast.get_docstring(node)):
            yield Word(node.body[0].lineno, re.split(r"(?<=[.:])\s", doc, maxsplit=1)[0])
        elif isinstance(node, ast.Raise):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield Word(part.lineno, part.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Word(token.start[0], token.string)


def comments(text: str) -> Iterator[Word]:
    """Comments of a C or Cython file."""
    for comment in re.finditer(r"/\*.*?\*/|//[^\n]*|(?:^|  )# [^\n]*", text, re.S | re.M):
        yield Word(text.count("\n", 0, comment.start()) + 1, comment[0])


def count(text: str, *, is_python: bool, table: dict) -> list[Word]:
    """Every word of a table's dialect in the text of a file."""
    if is_python:
        tree = ast.parse(text)
        words = [word for word in names(tree) if word.word in table["names"]]
        prose = sentences(text, tree)
    else:
        words, prose = [], comments(text)
    for line, sentence in prose:
        for pattern in table["prose"]:
            words += [Word(line, pattern)] * len(re.findall(pattern, sentence))
    return sorted(words)


def main(*options: str) -> int:
    """Print what there is; 1 where it is more than a limit and ``--check`` was asked for."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    instead = table["names"] | table["prose"]
    rooms: Counter[str] = Counter()
    often: Counter[str] = Counter()
    for folder, kinds in (("dpfast", (".py", ".pyx")), ("csrc", (".c", ".h"))):
        for path in sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in kinds):
            if folder == "csrc" or path.suffix == ".pyx":
                room = folder if folder == "csrc" else "_kernels"
            else:
                room = path.relative_to(ROOT / folder).parts[0].removesuffix(".py")
            text = path.read_text(encoding="utf-8")
            words = count(text, is_python=path.suffix == ".py", table=table)
            rooms[room] += len(words)
            often.update(word for _, word in words)
            if "--places" in options:
                for line, word in words:
                    print(f"{path.relative_to(ROOT)}:{line}: {word} -> {instead[word]}")
    limits = table["limits"]
    above = {room: number for room, number in rooms.items() if number > limits.get(room, 0)}
    if "--check" in options:
        for room, number in above.items():
            print(f"{room} has {number} words of the dialect, at most {limits.get(room, 0)} are")
            print("allowed: `python tools/words.py --places` names them")
        return bool(above)
    if "--keep" in options:
        kept = {room: min(number, limits.get(room, number)) for room, number in rooms.items()}
        head = TABLE.read_text(encoding="utf-8").split("[limits]\n")[0]
        lines = (f"{room} = {number}\n" for room, number in sorted(kept.items()))
        TABLE.write_text(head + "[limits]\n" + "".join(lines), encoding="utf-8")
    for room, number in sorted(rooms.items()):
        print(f"{number:5} {room}")
    print(f"{sum(rooms.values()):5} in all:", ", ".join(f"{w} {n}" for w, n in often.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
