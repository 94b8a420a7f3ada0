"""Every page runs, keeps its claims, makes the plots that it shows and leads somewhere."""

import importlib
import re
import runpy
from contextlib import nullcontext
from pathlib import Path

import pytest

import dpfast as dp
from dpfast.errors import MissingExtraError

from ..support.pages import DOCS, FIGURES, GALLERY, GUIDE, ROOT, THEORY, build, runs

PAGES = build["pages"]()


@pytest.mark.full
@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_a_page_runs_and_makes_its_plots(page, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for programs that a page starts
    build["run"](page, tmp_path, repeats=40)
    shown = build["images"](page.read_text(encoding="utf-8"))
    assert shown
    assert {p.name for p in tmp_path.iterdir()} == set(shown)
    for name in shown:
        kept = GALLERY / name
        assert kept.read_bytes().startswith(b"\x89PNG")
        assert kept.stat().st_size < 60_000


BACKENDS = sorted((GUIDE / "backends").glob("*.md"))


def test_an_index_lists_every_page_once_and_shows_what_exists():
    text = (GALLERY / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\)", text, re.M)
    assert sorted(listed) == [p.name for p in PAGES]
    assert all((GALLERY / name).is_file() for name in build["images"](text))
    links = re.findall(r"\]\(([^)]+)\)", (GUIDE / "backends.md").read_text(encoding="utf-8"))
    assert {f"backends/{page.name}" for page in BACKENDS} <= set(links)


@pytest.mark.full
@pytest.mark.parametrize("page", [GUIDE / "backends.md", *BACKENDS], ids=lambda page: page.stem)
def test_a_page_on_another_tool_runs_and_names_what_is_there(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    for name in set(re.findall(r"`(dpfast\.adapters\.\w+)`", text)):
        assert importlib.util.find_spec(name) is not None, name
    try:
        shown = runs(page, tmp_path)[1]
    except (MissingExtraError, ModuleNotFoundError) as error:
        pytest.skip(f"{page.name}: {error}")
    assert shown >= min(1, text.count("```python"))


def test_the_examples_of_the_readme_run():
    pytest.importorskip("ibis", reason="one example asks DuckDB by Ibis")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 900
    names = {}
    for block in build["BLOCK"].finditer(text):
        exec(block[1], names)
    assert names["budget"].remaining["epsilon"] == 0 and " to " in str(names["median"])
    assert "± " in str(names["mean"]) and abs(names["mean"].value - names["pay"].mean()) < 500
    visits = names["report"]["visits"]
    assert list(names["report"]["clinic"]) == ["north", "south"] and (visits > 40_000).all()
    long_waits = (names["visits"]["wait"] > 60).sum()
    assert abs(names["long_waits"]["count"].sum() - long_waits) < 100


def test_links_of_the_readme_lead_to_files_and_are_absolute_where_it_is_published():
    links = runpy.run_path(str(ROOT / "tools" / "absolute_links.py"))
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    paths = [path for *_, path in links["RELATIVE"].findall(text)]
    assert len(paths) > 20 and all((ROOT / path.partition("#")[0]).exists() for path in paths)
    made = links["absolute"](text, "https://git.example/a/b", "v1")
    for path in ("raw/v1/docs/figures/accuracy.png", "blob/v1/docs/start.md#install"):
        assert f"](https://git.example/a/b/{path})" in made
    assert not links["RELATIVE"].search(made)


def test_the_examples_at_a_glance_run(monkeypatch):
    """Noise for a smooth sensitivity has heavy tails, so it is drawn with a seed here."""
    monkeypatch.setattr(dp.rng, "_default", dp.rng.InsecureGenerator(1))
    names = {}
    for block in build["BLOCK"].finditer((GUIDE / "at-a-glance.md").read_text(encoding="utf-8")):
        exec(block[1], names)
    low, high = names["spread"]
    assert 28 < low < 36 and 44 < high < 52


@pytest.mark.full
@pytest.mark.parametrize("page, least, pictures", [
    (DOCS / "start.md", 3, []), (THEORY / "groups.md", 4, []),
    *((GUIDE / f"{name}.md", least, []) for name, least in {
        "epsilon": 7, "used-up": 3, "what-to-say": 1, "releases": 5, "sampling-error": 7,
        "proportions": 8, "scikit-learn": 4, "groups": 10, "contribution": 4, "marginals": 1,
        "generator": 0, "extending": 0, "keys": 6, "engines": 3, "sql": 2, "joins": 1, "ranges": 5,
        "workloads": 5, "sulq": 3, "audit": 11,
    }.items()),
    (GUIDE / "blocks.md", 0, ["blocks", "normality"]), (GUIDE / "streams.md", 0, ["streams"]),
    (GUIDE / "learn.md", 3, ["learned"]), (GUIDE / "attacks.md", 0, ["attacks"]),
    (THEORY / "local-sensitivity.md", 16, ["every-way-median", "every-way-mean"]),
], ids=lambda p: f"{p.parent.stem}-{p.stem}" if isinstance(p, Path) else None)  # fmt: skip
def test_a_page_of_the_documentation_runs_and_prints_what_it_shows(page, least, pictures, tmp_path):
    text, shown = runs(page, tmp_path)
    assert shown >= least
    assert set(build["images"](text)) == {f"../figures/{name}.png" for name in pictures}
    for name in pictures:
        picture = (FIGURES / f"{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG") and 20_000 < len(picture) < 300_000


def test_what_a_page_shows_is_what_it_prints(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n\nEnd.\n")
    with pytest.raises(AssertionError, match=r"page\.md, line 6: printed\n2"):
        build["run"](page, tmp_path)
    build["run"](page, tmp_path, keep=True)
    assert page.read_text().endswith("```text\n2\n```\n\nEnd.\n")
    build["run"](page, tmp_path)


def test_a_page_that_is_advised_is_caught(tmp_path):
    """Planted: a release that no budget pays for, however often the process was told before."""
    page = tmp_path / "page.md"
    for start, caught in (("", True), ("with dp.Budget(epsilon=1):\n    ", False), ("", True)):
        page.write_text(f"```python\nimport dpfast as dp\n\n{start}dp.count([1], epsilon=1)\n```\n")
        with pytest.raises(dp.PrivacyAdvice) if caught else nullcontext():
            build["run"](page, tmp_path)


def test_a_broken_claim_is_caught_with_its_line(tmp_path):
    page, block = tmp_path / "page.md", "```python\n{}\n```\n"
    claims = map(block.format, ("repeats = 7", "assert repeats == 3"))
    page.write_text("\n".join(["# A page\n", *claims]))
    build["run"](page, tmp_path, repeats=3)
    with pytest.raises(AssertionError) as caught:
        build["run"](page, tmp_path)
    assert caught.traceback[-1].lineno + 1 == 8
