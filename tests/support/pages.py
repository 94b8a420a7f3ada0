"""Pages of the documentation, and the programs beside them that make their figures."""

import importlib.util
import json
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDE, THEORY, GALLERY = DOCS / "guide", DOCS / "theory", DOCS / "gallery"
#: What pages show and programs of `benchmarks/` write.
FIGURES = DOCS / "figures"
#: What runs a page: `docs/gallery/build.py`.
build = runpy.run_path(str(GALLERY / "build.py"))


def program(name):
    """A program of `benchmarks/`, which is no package of the tests."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def figures(name, folder=FIGURES):
    """What a program of `benchmarks/` has measured."""
    result = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return result


def quick_run(module):
    """A fixture: the folder with what a program writes in a quick run."""

    @pytest.fixture(scope="module")
    def quick(tmp_path_factory):
        out = tmp_path_factory.mktemp(module.__name__)
        module.main(["--quick", "--out", str(out)])
        for picture in out.glob("*.png"):
            assert picture.read_bytes().startswith(b"\x89PNG")
        return out

    return quick


def runs(page, folder):
    """The text of a page that runs as it stands and leaves nothing behind, and its outputs."""
    build["run"](page, folder)
    assert list(folder.iterdir()) == []
    text = page.read_text(encoding="utf-8")
    blocks = list(build["BLOCK"].finditer(text))
    assert len(blocks) == text.count("```python")
    shown = sum(block[2] is not None for block in blocks)
    assert shown == text.count("```text")
    return text, shown
