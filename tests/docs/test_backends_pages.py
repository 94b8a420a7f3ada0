"""Pages on other tools run as they stand, and the index leads to each of them."""

import importlib
import re

import pytest

from dpfast.errors import MissingExtraError

from ..support.pages import GUIDE, runs

INDEX = GUIDE / "backends.md"
PAGES = sorted((GUIDE / "backends").glob("*.md"))


def run(page, folder):
    """Run a page, or skip with the name of the tool that is missing."""
    try:
        return runs(page, folder)
    except MissingExtraError as error:
        pytest.skip(str(error))
    except ModuleNotFoundError as error:
        pytest.skip(f"{page.name} needs {error.name}")


@pytest.mark.full
@pytest.mark.parametrize("page", [INDEX, *PAGES], ids=lambda page: page.stem)
def test_a_page_runs_and_prints_what_it_shows(page, tmp_path):
    text, shown = run(page, tmp_path)
    assert shown >= min(1, text.count("```python"))


def test_every_adapter_that_is_named_can_be_found():
    for page in [INDEX, *PAGES]:
        text = page.read_text(encoding="utf-8")
        for name in set(re.findall(r"`(dpfast\.adapters\.\w+)`", text)):
            assert importlib.util.find_spec(name) is not None, name


def test_the_index_leads_to_every_page():
    text = INDEX.read_text(encoding="utf-8")
    assert {f"backends/{page.name}" for page in PAGES} <= set(re.findall(r"\]\(([^)]+)\)", text))
