"""The page on streams says what was measured, and can be measured again."""

import re

import numpy as np
import pytest

from ..support.pages import GUIDE, figures, program, quick_run

PAGE = GUIDE / "streams.md"
streams = program("streams")
quick = quick_run(streams)
KEPT = figures("streams")


def at(found, way, queries):
    (row,) = (row for row in found["ways"][way] if row["queries"] == queries)
    return row


def test_the_table_of_the_page_is_that_of_the_figures():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| ([\w ]+) \| ([\d.e-]+) \| ([\d.e-]+) \| ([\d.e-]+) \| ([\d.]*) \|$", text, re.M
    )
    assert [row[0] for row in rows] == list(streams.WAYS) == list(KEPT["ways"])
    for way, *errors, epsilon in rows:
        assert errors == [f"{at(KEPT, way, k)['error']:.2g}" for k in (1, 100, 10_000)]
        needs = at(KEPT, way, 10_000)["epsilon"]
        assert epsilon == ("" if needs is None else f"{needs:.2g}")
    last = {way: at(KEPT, way, 10_000) for way in streams.WAYS}
    assert f"{last['independent Laplace']['error']:.2g} times the number of rows" in text
    median = last["median mechanism"]
    words = " ".join(text.split())
    assert f"is {median['error']:.2g} of it, with {median['paid']:.2g} hard answers" in words
    assert f"its error is {last['noisy histogram']['error']:.2g} after" in words


@pytest.mark.full
def test_it_can_be_measured_again(quick):
    """Truth and promises are public and the same; errors of two runs are of the same kind."""
    again = figures("streams", quick)
    for way in streams.WAYS:
        for k in streams.QUICK:
            one, other = at(again, way, k), at(KEPT, way, k)
            assert (one["promised"], one["epsilon"]) == (other["promised"], other["epsilon"])
    assert again["accuracy"] == KEPT["accuracy"] and again["repeats"] == 2
    for way in streams.PROMISING:
        assert all(row["error"] <= row["promised"] for row in again["ways"][way])


def test_the_universe_of_the_page():
    counts, queries = streams.histogram(), streams.marginals()
    assert counts.shape == (8,) and counts.sum() == 32_561 and (counts > 0).all()
    assert queries.shape == (26, 8) and len(np.unique(queries, axis=0)) == 26
    assert sorted(queries.sum(axis=1).tolist()) == [1] * 8 + [2] * 12 + [4] * 6
    women = counts[4:].sum()
    assert women == 10_771
