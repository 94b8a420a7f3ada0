"""The page on the house shows the rooms as they are."""

import importlib.util
import re

import pytest

from ..support.pages import DOCS, ROOT

TEXT = (DOCS / "architecture.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not (ROOT / "tools").exists(), reason="the tools are not here")
def test_the_table_of_rooms_is_the_list_of_floors():
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "tools" / "rooms.py")
    rooms = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(rooms)
    shown = re.findall(r"^\| (\d+) \| `(\w+)` \| \S", TEXT, re.M)
    floors = enumerate(rooms.FLOORS, 1)
    assert sorted(shown) == sorted((str(i), name) for i, names in floors for name in names)


def test_it_can_be_read_in_five_minutes():
    assert len(TEXT.split()) < 1_200
