"""Checks of arguments, what messages show, and what notebooks show."""

import xml.etree.ElementTree as ET
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast._core.html import LONGEST, facts, table
from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.extend import checks

from ..support.lazy import pl


@pytest.mark.parametrize("most, words", [(9, "at most 9"), (1 << 24, r"at most 2\*\*24")])
def test_an_integer_beyond_its_limit_is_refused(most, words):
    assert checks.whole("rows", most, 1, most) == checks.whole("rows", np.int64(most), 1, most)
    for value in (most + 1, np.int64(most + 1)):
        with pytest.raises(ArgumentError, match=f"rows must be {words}, got"):
            checks.whole("rows", value, 1, most)
    with pytest.raises(ArgumentError, match="at least 1"):
        checks.whole("rows", 0, 1, most)


def test_a_shape_of_more_axes_than_can_be_broadcast_is_refused():
    assert checks.shape("size", (1,) * 32, "a shape") == (1,) * 32
    for axes in (33, 34, 64, 99):
        with pytest.raises(ArgumentError, match="size must be a shape, got"):
            checks.shape("size", (1,) * axes, "a shape")


def test_an_array_of_another_kind_is_refused():
    assert checks.array("x", [1, 2.5], "numbers", "biuf").dtype == np.float64
    assert checks.array("x", ["a"], "anything").dtype.kind == "U"
    for value in (["7654321"], [1j], [None]):
        with pytest.raises(ArgumentTypeError, match="x must be numbers") as refused:
            checks.array("x", value, "numbers", "biuf")
        assert "7654321" not in str(refused.value)


ROWS = ["7654321", "7654322"]
FRAME = pd.DataFrame({"name": ROWS})
HOLD_ROWS = [
    *(FRAME["name"], FRAME, FRAME.count, partial(len, FRAME), pa.array(ROWS)),
    *(np.array(ROWS), [0, FRAME["name"]], {"column": [(FRAME,)]}),
]


@pytest.mark.parametrize("refuse", [checks.fail, checks.fail_type])
def test_a_message_shows_no_rows_that_stand_in_the_place_of_an_argument(refuse):
    for rows in (*HOLD_ROWS, pl.Series(ROWS)):
        said = f"got <{type(rows).__name__}>"
        with pytest.raises((ArgumentError, ArgumentTypeError), match=said) as refused:
            refuse("epsilon", "a number", rows)
        assert "765432" not in str(refused.value)


def test_a_message_shows_what_can_only_be_an_argument():
    for value in ((0, None), {"a": [2.5]}, np.float64(3), {1}, print, str):
        with pytest.raises(ArgumentError) as refused:
            checks.fail("epsilon", "a number", value)
        assert str(refused.value).endswith(repr(value))


def test_a_query_is_not_run_to_be_shown(monkeypatch):
    ibis = pytest.importorskip("ibis")
    monkeypatch.setattr(ibis.options, "interactive", True)
    rows = ibis.memtable(FRAME)
    for value in (rows, rows["name"], rows["name"].max()):
        with pytest.raises(ArgumentTypeError) as refused:
            checks.fail_type("by", "the name of a column", value)
        assert "765432" not in str(refused.value)


AGES = np.arange(18, 91).repeat(40)


def budget():
    paid = dp.Budget(epsilon=1, name="<a study>")
    dp.count(AGES, epsilon=0.25, budget=paid)
    return paid


MEAN = partial(dp.mechanism, bounds=(0, 90), epsilon=1)
MEANS = dp.learn.KMeans(2, bounds=[(0, 90)] * 2, epsilon=1)
TREE = {"bins": 8, "bounds": (0, 90), "epsilon": 1}
GROUPS = partial(dp.group_by, {"who": AGES % 3, "age": AGES}, by="who", keys=[0, 1, 2])


SHOWN = {
    "budget": (budget, ["&lt;a study&gt;", "0.25", "count"]),
    "mean": (lambda: MEAN(dp.mean), ["add-remove", "deviation", "theorem"]),
    "median": (lambda: MEAN(dp.median), ["rows in order", "McSherry"]),
    "not fitted": (lambda: MEANS, ["not fitted", "epsilon"]),
    "fitted": (lambda: MEANS.fit(np.stack([AGES, AGES], axis=1)), ["cluster_centers_"]),
    "tree": (lambda: dp.tree_histogram(AGES, **TREE), ["8 bins", "laplace"]),
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
