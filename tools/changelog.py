"""Check the form of CHANGELOG.md, and that a tag has its version there.

    python tools/changelog.py --check
    python tools/changelog.py --tag v0.2.0    # prints what that version changes

The form is that of Keep a Changelog: the newest version first, each with its date, and what is not
released before them all.
"""

from __future__ import annotations

import argparse
import datetime
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
HEADING = re.compile(r"^## (.*)\n", re.M)
VERSION = re.compile(r"\[(\d+)\.(\d+)\.(\d+)\] - (\d{4}-\d\d-\d\d)")


def sections(text: str) -> dict[str, str]:
    """Return the text under each heading of a version."""
    _, *parts = HEADING.split(text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def faults(text: str) -> Iterator[str]:
    """Yield what is wrong with the form."""
    headings = list(sections(text))
    if headings[:1] != ["[Unreleased]"]:
        yield "the first section is [Unreleased]"
    order = []
    for heading in headings[1:]:
        found = VERSION.fullmatch(heading)
        if found is None:
            yield f"{heading!r} is not '[0.1.0] - 2026-01-31'"
            continue
        order.append((*map(int, found.groups()[:3]), datetime.date.fromisoformat(found[4])))
    if order != sorted(order, reverse=True):
        yield "the newest version comes first"
    for heading, body in sections(text).items():
        kinds = re.findall(r"^### (.*)$", body, re.M)
        if unknown := set(kinds) - {*KINDS}:
            yield f"{heading} has {', '.join(sorted(unknown))}; sections are {', '.join(KINDS)}"
        if len(kinds) != len(set(kinds)):
            yield f"{heading} has a section twice"


def notes(text: str, tag: str) -> str:
    """Return what the version of a tag changes; an error if it is not told or not the one here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if tag != f"v{project['version']}":
        raise ValueError(f"the tag is {tag}, the version in pyproject.toml {project['version']}")
    if sections(text)["[Unreleased]"].strip():
        raise ValueError("CHANGELOG.md has entries under [Unreleased]; they belong to the version")
    for heading, body in sections(text).items():
        if heading.startswith(f"[{tag[1:]}] - "):
            return body.strip()
    raise ValueError(f"CHANGELOG.md has no section '## [{tag[1:]}] - ' and a date")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--check", action="store_true", help="check the form")
    which.add_argument("--tag", help="check its version, and print what it changes")
    given = parser.parse_args()
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if found := list(faults(text)):
        sys.exit("\n".join(f"CHANGELOG.md: {fault}" for fault in found))
    if given.tag:
        try:
            print(notes(text, given.tag))
        except ValueError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
