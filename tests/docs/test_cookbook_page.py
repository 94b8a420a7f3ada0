"""Each question of the cookbook has the same answer in pandas, in SQL and from dpfast."""

import re

import numpy as np
import pytest

from ..support.pages import GUIDE, build

TEXT = (GUIDE / "cookbook.md").read_text(encoding="utf-8")
#: How far a private answer may be off, as a part of the true one, but 0.005 at least.
TOLERANCE = 0.05


def questions():
    """The heading of each block in order, and its code."""
    for block in build["BLOCK"].finditer(TEXT):
        yield re.findall(r"^#+ (.*)$", TEXT[: block.start()], re.M)[-1], block[1]


def test_a_question_has_five_lines_at_most_in_each_language():
    asked = [(title, code) for title, code in questions() if re.match(r"\d+\. ", title)]
    assert [int(title.split(".")[0]) for title, _ in asked] == list(range(1, 21))
    for title, code in asked:
        assert len(code.splitlines()) <= 7, title


@pytest.mark.full
def test_three_ways_to_ask_have_one_answer():
    pytest.importorskip("duckdb", reason="the page asks DuckDB, too")
    names = {"__name__": "cookbook"}
    for title, code in questions():
        for name in ("pandas", "query", "private"):
            names.pop(name, None)
        exec(compile(code, title, "exec"), names)
        if "private" not in names:
            continue
        exact, query, private = (names[name] for name in ("pandas", "query", "private"))
        if isinstance(exact, list) and isinstance(exact[0], str):
            assert exact == query == private, title
            continue
        exact, query, private = (np.asarray(x, float) for x in (exact, query, private))
        np.testing.assert_allclose(query, exact, rtol=1e-9, err_msg=title)
        np.testing.assert_allclose(private, exact, rtol=TOLERANCE, atol=0.02, err_msg=title)
