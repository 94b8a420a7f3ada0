"""The pages on groups name what there is, and their links lead somewhere."""

import inspect
import re

import pytest

import dpfast as dp
from dpfast.groups.api import GroupBy

from ..support.pages import DOCS, GALLERY, GUIDE, ROOT, THEORY

TEXT = (GUIDE / "groups.md").read_text(encoding="utf-8")


def test_every_statistic_is_named():
    methods = {name for name in dir(GroupBy) if not name.startswith("_")}
    methods -= {"agg", "keys"}
    assert methods - {"top_k"} == set(dp.stat.__all__)
    (listed,) = re.findall(r"^There are (.*?)\. They take", TEXT, re.M | re.S)
    assert methods == set(re.findall(r"`(\w+)`", listed))
    for name in inspect.signature(dp.group_by).parameters:
        assert name in TEXT


def anchors(text):
    """The headings of a page as what links call them."""
    lines = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    words = (
        re.sub(r"[^\w\- ]", "", line.lower()) for line in re.findall(r"^#+ (.*)$", lines, re.M)
    )
    return {word.replace(" ", "-") for word in words}


def broken(page, text):
    """The links of a page that lead nowhere."""
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        if "://" in link:
            continue
        to = (page.parent / path).resolve() if path else page
        if not to.exists() or (anchor and anchor not in anchors(to.read_text(encoding="utf-8"))):
            found.append(link)
    return found


@pytest.mark.skipif(not (ROOT / "CONTRIBUTING.md").exists(), reason="not all pages are here")
def test_every_link_leads_somewhere():
    pages = [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
    found = {str(page): broken(page, page.read_text(encoding="utf-8")) for page in pages}
    assert len(found) > 25 and not any(found.values()), found


def test_a_broken_link_is_caught():
    page = GUIDE / "groups.md"
    planted = "[a](keys.md) [b](no.md) [c](#people) [d](keys.md#nothing) [e](#no) [f](https://x.y)"
    assert broken(page, planted) == ["no.md", "keys.md#nothing", "#no"]


def test_the_warning_on_keys_is_linked_from_where_keys_are_given():
    for page in (GUIDE / "groups.md", GALLERY / "flights.md", THEORY / "threat-model.md"):
        assert "keys.md)" in page.read_text(encoding="utf-8")


def test_names_of_other_tools_are_in_the_table_of_words():
    for name in ("ids", "max_groups", "max_rows", "keys", "weights", "bounds"):
        assert re.search(rf"^\| [^|]*`{name}`[^|]*\|([^|]+\|){{4}}$", TEXT, re.M), name
