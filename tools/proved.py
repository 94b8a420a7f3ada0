"""Write the tables of docs/theory/proofs.md: what is proved by machine, on paper, or only tested.

    python tools/proved.py          # writes the page's tables
    python tools/proved.py --check  # fails where the page is not what it would write

`proofs/statistics.toml` says for each public function which theorems are about it. The tables of
theorems are read from `proofs/*.v`: each `Theorem` with the comment above it.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "theory" / "proofs.md"
TABLE = ROOT / "proofs" / "statistics.toml"


def proofs() -> ModuleType:
    """The module that lists the theorems."""
    spec = importlib.util.spec_from_file_location("proofs_main", ROOT / "proofs" / "__main__.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def wrong(table: dict[str, Any], theorems: list[Any]) -> list[str]:
    """What the table names that is not there, and what it leaves out."""
    known = {theorem.file for theorem in theorems}
    known |= {f"{theorem.file}.{theorem.name}" for theorem in theorems}
    found = [
        f"{name}: there is no theorem {theorem}"
        for name, entry in table.items()
        for theorem in entry.get("machine", [])
        if theorem not in known
    ]
    found += [
        f"{name}: there is no file {file}"
        for name, entry in table.items()
        for file in entry.get("paper", [])
        if not (ROOT / file).exists()
    ]
    found += [
        f"{name}: no test stands at {place}"
        for name, entry in table.items()
        for place in re.findall(r"`(tests/[^`]*)`", entry.get("tested", ""))
        if not (ROOT / place).exists()
    ]
    found += [
        f"{n}: no entry {e['like']}" for n, e in table.items() if e.get("like", n) not in table
    ]
    import dpfast

    found += [f"{name} has no entry" for name in dpfast.STATISTICS if name not in table]
    return found


def link(theorem: str) -> str:
    """A theorem, or a file of them, as a link."""
    file, _, name = theorem.partition(".")
    text = name or f"all of {file}"
    return f"[{text.replace('_', ' ')}](#{name.replace('_', '-') or file.replace('_', '-')})"


def statistics(table: dict[str, Any]) -> str:
    """The table of public functions."""
    lines = ["| function | proved by machine | on paper | tested only |", "|---|---|---|---|"]
    for name, entry in table.items():
        machine = ", ".join(link(theorem) for theorem in entry.get("machine", []))
        if "like" in entry:
            machine = f"as for {entry['like']}"
        paper = ", ".join(f"`{file.removeprefix('dpfast/')}`" for file in entry.get("paper", []))
        lines.append(f"| {name} | {machine} | {paper} | {entry.get('tested', '')} |")
    return "\n".join(lines)


def statements(theorems: list[Any]) -> str:
    """Each file with its theorems: what the comment says, then the statement."""
    parts, file = [], ""
    for theorem in theorems:
        if theorem.file != file:
            file = theorem.file
            parts.append(f"### {file.replace('_', ' ')}\n\n`proofs/{file}.v`")
        comment = theorem.comment.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")
        parts.append(f"#### {theorem.name.replace('_', ' ')}\n\n{comment}")
        parts.append(f"```coq\n{theorem.statement.strip()}\n```")
    return "\n\n".join(parts)


def written(page: str, parts: dict[str, str]) -> str:
    """The page with its generated parts, each between two comments."""
    for name, text in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        head, _, rest = page.partition(begin)
        _, _, tail = rest.partition(end)
        page = f"{head}{begin}\n{text}\n{end}{tail}"
    return page


def main() -> int:
    theorems = list(proofs().theorems())
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    faults = wrong(table, theorems)
    if faults:
        print("\n".join(faults))
        return 1
    page = PAGE.read_text(encoding="utf-8")
    parts = {"statistics": statistics(table), "theorems": statements(theorems)}
    new = written(page, parts)
    if "--check" in sys.argv:
        if new != page:
            print("docs/theory/proofs.md is old: python tools/proved.py")
            return 1
        return 0
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
