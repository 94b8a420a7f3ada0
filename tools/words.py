"""Count the words of the house's dialect in names and sentences of dpfast.

    python tools/words.py            # how many in each room, and how often each word
    python tools/words.py --places   # and where they stand, with what to say in their place
    python tools/words.py --check    # fails where a room has more than `words.toml` allows
    python tools/words.py --keep     # lowers the limits there to what there is

A name counts where it is bound: once in each function, class or module. Sentences are the first of
each docstring, texts in a `raise`, and comments, in `dpfast/` and in `csrc/`. Pages are a room,
too, with the names in their blocks of Python and all text outside of blocks.
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


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """The blocks of a page: line, language, text."""
    for block in re.finditer(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.S | re.M):
        yield text.count("\n", 0, block.start(2)) + 1, block[1], block[2]


def paragraphs(text: str) -> Iterator[Word]:
    """Lines of a page outside of blocks, without code and addresses."""
    is_prose = True
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            is_prose = not is_prose
        elif is_prose:
            yield Word(number, re.sub(r"`[^`]*`|\]\([^)]*\)", "", line))


def count(text: str, kind: str, table: dict) -> list[Word]:
    """Every word of a table's dialect in the text of a file of a kind, such as ".py"."""
    words: list[Word] = []
    if kind == ".py":
        tree = ast.parse(text)
        words = [word for word in names(tree) if word.word in table["names"]]
        prose = sentences(text, tree)
    elif kind == ".md":
        for start, language, block in blocks(text):
            if language == "python":
                for line, name in names(ast.parse(block)):
                    if name in table["names"]:
                        words.append(Word(start + line - 1, name))
        prose = paragraphs(text)
    else:
        prose = comments(text)
    patterns = table["prose"] if kind == ".md" else table["prose"] | table["code_prose"]
    for line, sentence in prose:
        for pattern in patterns:
            words += [Word(line, pattern)] * len(re.findall(pattern, sentence))
    return sorted(words)


def files() -> Iterator[tuple[str, Path]]:
    """Every file that is read, with its room."""
    for path in sorted((ROOT / "dpfast").rglob("*.py")):
        yield path.relative_to(ROOT / "dpfast").parts[0].removesuffix(".py"), path
    for room, folder, pattern in (
        ("_kernels", "dpfast", "*.pyx"),
        ("csrc", "csrc", "*.[ch]"),
        ("pages", "docs", "*.md"),
    ):
        yield from ((room, path) for path in sorted((ROOT / folder).rglob(pattern)))
    yield from (("pages", path) for path in sorted(ROOT.glob("*.md")) if path.stem != "CHANGELOG")


def main(*options: str) -> int:
    """Print what there is; 1 where it is more than a limit and ``--check`` was asked for."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    instead = table["names"] | table["prose"] | table["code_prose"]
    rooms: Counter[str] = Counter()
    often: Counter[str] = Counter()
    for room, path in files():
        words = count(path.read_text(encoding="utf-8"), path.suffix, table)
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
