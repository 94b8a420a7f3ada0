"""The pages "From pandas" and "From SQL": twenty questions, asked there and here."""

import contextlib
import io
import re

import numpy as np
import pytest

import dpfast as dp

from ..support.pages import GUIDE, build

PAGES = [GUIDE / f"from-{name}.md" for name in ("pandas", "sql")]
#: A number that is no part of a word.
NUMBER = re.compile(r"(?<![\w.])-?\d[\d,]*\.?\d*(?:e-?\d+)?(?!\w)")
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page):
    """The heading of each block in order, its code, and what it prints."""
    text = page.read_text(encoding="utf-8")
    for block in build["BLOCK"].finditer(text):
        yield re.findall(r"^#+ (.*)$", text[: block.start()], re.M)[-1], block[1], block[2]


def expect_near(text, shown):
    """Hold what is printed to what a page shows: the same words, and numbers nearby."""
    words, expected = (re.findall(r"\w+", NUMBER.sub("0", x)) for x in (text, shown))
    assert words == expected
    near, there = ([float(x.replace(",", "")) for x in NUMBER.findall(y)] for y in (text, shown))
    np.testing.assert_allclose(near, there, rtol=0.1, atol=0.05)


def expect_same(exact, private):
    """Hold a private answer to that of pandas or the database."""
    private = private.value if isinstance(private, dp.Release) else private
    if isinstance(private, dict) and list(private) == ["dest"]:  # names alone
        assert list(private["dest"]) == list(exact.get("dest", exact.index))
        return
    if isinstance(private, dict):
        private = np.column_stack([private[name] for name in private if f"{name} error" in private])
    private = np.asarray(private[0] if isinstance(private, tuple) else private, float)
    columns = private.shape[1] if private.ndim == 2 else 1
    exact = np.asarray(exact.iloc[:, -columns:] if np.ndim(exact) == 2 else exact, float)
    np.testing.assert_allclose(private.ravel(), exact.ravel(), rtol=0.05, atol=0.02)


@pytest.mark.full
@pages
def test_an_answer_is_near_that_of_the_other_tool_and_as_the_page_shows_it(page, monkeypatch):
    pytest.importorskip("ibis", reason="one page asks DuckDB by Ibis")
    monkeypatch.setattr(dp.rng, "_default", dp.rng.InsecureGenerator(1))
    names, compared = {"__name__": "questions"}, 0
    for title, code, shown in blocks(page):
        names.pop("private", None)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, title, "exec"), names)
        if shown is not None:
            expect_near(printed.getvalue(), shown)
        if "private" in names:
            expect_same(names["exact"], names["private"])
            compared += 1
    titles = [title for title, *_ in blocks(page)]
    assert [title for title in titles if re.match(r"\d+\. ", title)][19].startswith("20. ")
    assert compared == 20 and names["budget"].remaining["epsilon"] == 0.5


def test_what_is_far_off_is_caught():
    """Planted."""
    for text in ("mean 6.1", "sum 5.1", "mean 5.1\n(3 groups)"):
        with pytest.raises(AssertionError):
            expect_near(text, "mean 5.1")
    with pytest.raises(AssertionError):
        expect_same(3.0, 3.3)
