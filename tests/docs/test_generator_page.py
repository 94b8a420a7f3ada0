"""The page on generators runs."""

import re

from ..support.pages import GUIDE

PAGE = GUIDE / "generator.md"


def test_the_page_runs():
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 4
    exec("\n".join(blocks), {})
