"""Write the tables of docs/theory/proofs.md: what is proved by machine, on paper, or only tested.

    python tools/proved.py          # writes the page's tables
    python tools/proved.py --check  # fails where the page is not what it would write

`proofs/statistics.toml` says for each public function which theorems are about it. The tables of
theorems are read from `proofs/*.v`: each `Theorem` with the comment above it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import dpfast  # noqa: E402
from proofs.__main__ import theorems  # noqa: E402

PAGE = ROOT / "docs" / "theory" / "proofs.md"
TABLE = ROOT / "proofs" / "statistics.toml"


def wrong(table: dict[str, Any]) -> list[str]:
    """What the table names that is not there, and what it leaves out."""
    known = {theorem.file for theorem in theorems()}
    known |= {f"{theorem.file}.{theorem.name}" for theorem in theorems()}
    faults = [f"{name} has no entry" for name in dpfast.STATISTICS if name not in table]
    for name, entry in table.items():
        named = re.findall(r"`(tests/[^`]*)`", entry.get("tested", ""))
        files = [*entry.get("paper", []), *named]
        faults += [f"{name}: no theorem {t}" for t in entry.get("machine", []) if t not in known]
        faults += [f"{name}: no file {file}" for file in files if not (ROOT / file).exists()]
        if entry.get("like", name) not in table:
            faults.append(f"{name}: no entry {entry['like']}")
    return faults


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


def statements() -> str:
    """Each file with its theorems: what the comment says, then the statement."""
    parts, file = [], ""
    for theorem in theorems():
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
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    if faults := wrong(table):
        print("\n".join(faults))
        return 1
    page = PAGE.read_text(encoding="utf-8")
    new = written(page, {"statistics": statistics(table), "theorems": statements()})
    if "--check" not in sys.argv:
        PAGE.write_text(new, encoding="utf-8")
    elif new != page:
        print("docs/theory/proofs.md is old: python tools/proved.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
