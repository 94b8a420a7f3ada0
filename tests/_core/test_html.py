"""What notebooks show: of a budget, a mechanism, an estimator, counts, groups."""

import xml.etree.ElementTree as ET
from functools import partial

import numpy as np
import pytest

import dpfast as dp
from dpfast._core.html import LONGEST, facts, table

AGES = np.arange(18, 91).repeat(40)


def budget():
    paid = dp.Budget(epsilon=1, name="<a study>")
    dp.count(AGES, epsilon=0.25, budget=paid)
    return paid


def fitted():
    rows = np.stack([AGES, AGES], axis=1)
    return dp.learn.KMeans(2, bounds=[(0, 90)] * 2, epsilon=1).fit(rows)


MEAN = partial(dp.mechanism, bounds=(0, 90), epsilon=1)
GROUPS = partial(dp.group_by, {"who": AGES % 3, "age": AGES}, by="who", keys=[0, 1, 2])
SHOWN = {
    "budget": (budget, ["&lt;a study&gt;", "0.25", "count"]),
    "mean": (lambda: MEAN(dp.mean), ["add-remove", "deviation", "theorem"]),
    "median": (lambda: MEAN(dp.median), ["rows in order", "McSherry"]),
    "not fitted": (
        lambda: dp.learn.KMeans(2, bounds=[(0, 90)] * 2, epsilon=1),
        ["not fitted", "epsilon"],
    ),
    "fitted": (fitted, ["cluster_centers_"]),
    "tree": (
        lambda: dp.tree_histogram(AGES, bins=8, bounds=(0, 90), epsilon=1),
        ["8 bins", "laplace"],
    ),
    "groups": (lambda: GROUPS().count(epsilon=1), ["3 groups"]),
}


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_shows_it(name):
    make, words = SHOWN[name]
    text = make()._repr_html_()
    ET.fromstring(f"<p>{text.replace('<details open>', '<details>')}</p>")  # tags are closed
    assert [word for word in words if word not in text] == []


def test_nothing_of_a_value_is_a_tag():
    """Planted: text with a tag, which is not found in a table."""
    for text in (table(["<b>"], [["<i>"]]), facts("<u>", {"<s>": "<q>", "x": ["<a>"]})):
        assert not any(tag in text for tag in ("<b>x", "<i>", "<u>", "<s>", "<q>", "<a>"))
    assert "&lt;q&gt;" in facts("<u>", {"<s>": "<q>"})
    assert len(facts("", {"x": "y" * 999})) < LONGEST + 200
