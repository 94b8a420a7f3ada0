"""The rules of the house, as tests: imports point down, randomness has one home."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "dpfast"

# A module may import from modules of a lower number only, or from its own package.
LEVEL = {
    "errors": 0,
    "_check": 1,
    "_expected": 1,
    "_memfd": 1,
    "_missing": 2,
    "_native": 2,
    "_progress": 2,
    "privacy": 3,
    "audit": 4,
    "_ledger": 8,
    "rng": 3,
    "_laws": 4,
    "noise": 5,
    "sources": 5,
    "_admissible": 5,
    "_choice": 5,
    "_jit": 5,
    "_pmf": 5,
    "_additive": 6,
    "_blocks": 6,
    "_workers": 6,
    "_grid": 6,
    "_cells": 6,
    "_whole_noise": 7,
    "_totals": 7,
    "_box_noise": 8,
    "_side_by_side": 8,
    "_one_column": 8,
    "_moments": 9,
    "_by_column": 9,
    "_each_column": 10,
    "_weighted": 10,
    "_scores": 6,
    "_race": 7,
    "_permute": 7,
    "_batch": 7,
    "_candidates": 8,
    "estimators": 7,
    "_layout": 6,
    "_brackets": 7,
    "order": 8,
    "sensitivity": 9,
    "_utility": 9,
    "_intervals": 9,
    "budget": 9,
    "release": 10,
    "_slice": 11,
    "_two_steps": 11,
    "_axis": 6,
    "_equal_parts": 11,
    "smooth": 11,
    "smooth_release": 12,
    "selection": 11,
    "totals": 11,
    "histograms": 11,
    "covariances": 11,
    "intervals": 11,
    "joint": 11,
    "response": 11,
    "online": 12,
    "_aggregators": 12,
    "quantile": 12,
    "trimmed": 12,
    "extremes": 13,
    "interquartile": 13,
    "aggregate": 13,
    "ptr": 13,
    "sulq": 12,
    "_block_count": 13,
    "_demo": 13,
    "_options": 13,
    "_spend_plot": 12,
    "job": 14,
    "_cli_budget": 14,
    "_cli_job": 15,
    "cli": 16,
    "__main__": 17,
}
SOURCES = sorted(PACKAGE.rglob("*.py"))


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported_rooms(path: Path):
    """Rooms of dpfast that a file imports, wherever the import stands."""
    package = ["dpfast", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names = [node.module] if node.module else [a.name for a in node.names]
            for name in names:
                full = [*base, *name.split(".")]
                if len(full) > 1:
                    yield full[1]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpfast."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("dpfast."):
                    yield alias.name.split(".")[1]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_point_down(path):
    if path == PACKAGE / "__init__.py":
        return
    own = room(path)
    assert own in LEVEL, f"{own} has no level: give it one in this test and in docs/architecture.md"
    for other in imported_rooms(path):
        if other.startswith("__") and other != "__main__":
            continue  # from . import __version__
        assert other == own or LEVEL[other] < LEVEL[own], f"{own} imports {other}"


def test_the_rule_catches_an_upward_import(tmp_path, monkeypatch):
    fake = PACKAGE / "errors.py"
    monkeypatch.setattr(Path, "read_text", lambda self, **kw: "from .smooth import median")
    assert list(imported_rooms(fake)) == ["smooth"] and LEVEL["smooth"] > LEVEL["errors"]


def listed():
    """Rooms by the line of the page that lists them, and files that it names in such a line."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    rooms = {}
    for number, (_, names, what, _) in enumerate(lines):
        for name in re.findall(r"`([^`]+)`", names):
            rooms[name.rstrip("/").removesuffix(".py")] = number
        if "`order.py`" in names:  # with what stands in its line
            rooms |= {n.removesuffix(".py"): number for n in re.findall(r"`(_\w+\.py)`", what)}
    return rooms


def test_the_page_lists_every_room_below_those_it_imports_from():
    rooms = listed()
    assert set(LEVEL) <= set(rooms)
    for path in SOURCES:
        for other in imported_rooms(path):
            if path != PACKAGE / "__init__.py" and not other.startswith("__"):
                assert rooms[other] <= rooms[room(path)], f"{room(path)} stands above {other}"


PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
FILE = re.compile(r"`((?:tests|benchmarks|docs|tools|csrc|dpfast)/[\w./-]+\w)`")


def anchors(path):
    """Of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_and_names_of_files_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        name, _, anchor = link.partition("#")
        if "://" in name:
            continue
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
    for name in FILE.findall(text):
        assert list(ROOT.glob(name)) or list(ROOT.glob(name + ".*")), name


def test_a_dead_link_is_caught(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    page = tmp_path / "page.md"
    page.write_text("# A page: of `x`, y\n\n[fine](page.md#a-page-of-x-y) [too](#a-page-of-x-y)\n")
    test_links_and_names_of_files_lead_somewhere(page)
    for dead in ("[no](none.md)", "[no](page.md#x)", "`tests/test_none.py`"):
        page.write_text(f"# A page\n\n{dead}\n")
        with pytest.raises(AssertionError):
            test_links_and_names_of_files_lead_somewhere(page)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_no_ambient_randomness(path):
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(np|numpy)\.random\b|^\s*import random\b|from random\b", text, re.M)


def test_no_flag_that_breaks_exactness():
    files = [*ROOT.glob("csrc/*"), *PACKAGE.rglob("*.pyx"), ROOT / "setup.py"]
    for path in files:
        text = path.read_text(encoding="utf-8").replace("-fno-fast-math", "")
        assert not re.search(r"fast-?math|-Ofast|march=native", text), path


def test_native_modules_have_stubs():
    for pyx in (PACKAGE / "_native").glob("*.pyx"):
        assert pyx.with_suffix(".pyi").exists(), pyx.name


def test_import_is_light():
    """Nothing heavy is loaded until it is needed, so importing costs little more than NumPy."""
    heavy = ["numba", "pyarrow", "mpmath", "typer", "rich", "matplotlib", "scipy", "pandas"]
    code = f"import sys, dpfast; print([m for m in {heavy!r} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
