"""The page on the house shows the rooms as they are."""

import re
import runpy

import pytest

from ..support.pages import DOCS, ROOT

TEXT = (DOCS / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not (ROOT / "tools").exists(), reason="the tools are not here")
def test_the_table_of_rooms_is_the_list_of_floors():
    floors = runpy.run_path(str(ROOT / "tools" / "rooms.py"))["FLOORS"]
    shown = re.findall(r"^\| (\d+) \| `(\w+)` \| \S", TEXT, re.M)
    expected = [(str(i), name) for i, names in enumerate(floors, 1) for name in names]
    assert sorted(shown) == sorted(expected)


def test_it_can_be_read_in_five_minutes():
    assert len(TEXT.split()) < 1_200
