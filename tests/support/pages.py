"""Pages of the documentation, and the programs beside them that make their figures."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDE, THEORY, GALLERY = DOCS / "guide", DOCS / "theory", DOCS / "gallery"
#: What pages show and programs of `benchmarks/` write.
FIGURES = DOCS / "figures"
#: What runs a page: `docs/gallery/build.py`.
build = runpy.run_path(str(GALLERY / "build.py"))


def program(name: str) -> ModuleType:
    """A program of `benchmarks/`, which is no package of the tests."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def runs(page: Path, folder: Path) -> tuple[str, int]:
    """The text of a page that runs as it stands and leaves nothing behind, and its outputs."""
    build["run"](page, folder)
    assert list(folder.iterdir()) == []
    text = page.read_text(encoding="utf-8")
    blocks = list(build["BLOCK"].finditer(text))
    assert len(blocks) == text.count("```python")
    shown = sum(block[2] is not None for block in blocks)
    assert shown == text.count("```text")
    return text, shown
