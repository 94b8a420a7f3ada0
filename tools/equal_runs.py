"""Count the runs of six lines of code that stand more than once in some rooms of dpfast.

    python tools/equal_runs.py [--show] [FILE OR FOLDER ...]

By default in the rooms that once said one idea several times. Lines are those of the formatted
code; docstrings, comments, blanks and indentation count for nothing. Each run that stood before, in
whichever file, counts once more, so ten equal lines are five runs.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
ROOMS = ("dpfast/groups", "dpfast/statistics", "dpfast/noise/api.py")
#: How many lines make a run.
LINES = 6
#: Tokens that are no code.
NONE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of code of a module with their numbers."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NONE:
            numbers.update(range(token.start[0], token.end[0] + 1))
    lines = text.splitlines()
    return [(number, lines[number - 1].strip()) for number in sorted(numbers - docstrings)]


def runs(texts: dict[str, str]) -> Iterator[tuple[str, int, str, int]]:
    """Yield each run that stood before: its file and line, and those of the first one."""
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    for name, text in texts.items():
        lines = code_lines(text)
        for i in range(len(lines) - LINES + 1):
            run = tuple(line for _, line in lines[i : i + LINES])
            if run in seen:
                yield (name, lines[i][0], *seen[run])
            else:
                seen[run] = name, lines[i][0]


def read(places: Sequence[str]) -> dict[str, str]:
    """Return the modules of some files and folders, by their names."""
    found = [ROOT / place for place in places]
    paths = [p for one in found for p in (one.rglob("*.py") if one.is_dir() else [one])]
    return {p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8") for p in sorted(paths)}


def main(arguments: Sequence[str]) -> int:
    places = [one for one in arguments if one != "--show"] or list(ROOMS)
    found = list(runs(read(places)))
    if "--show" in arguments:
        for name, line, first, at in found:
            print(f"{name}:{line} as {first}:{at}")
    print(f"{len(found)} runs of {LINES} lines stand more than once in {', '.join(places)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
