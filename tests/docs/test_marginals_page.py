"""The page about marginals runs as it stands."""

from pathlib import Path

from ..support.pages import runs

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "marginals.md"


def test_the_page_runs(tmp_path):
    text, shown = runs(PAGE, tmp_path)
    assert shown == 1 and "marginals of 4 attributes" in text
