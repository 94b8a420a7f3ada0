"""Checks of arguments that have a limit above, or kinds of dtypes; what messages show."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpfast.errors import ArgumentError, ArgumentTypeError
from dpfast.extend import checks


@pytest.mark.parametrize("most, words", [(9, "at most 9"), (1 << 24, r"at most 2\*\*24")])
def test_an_integer_beyond_its_limit_is_refused(most, words):
    assert checks.whole("rows", most, 1, most) == checks.whole("rows", np.int64(most), 1, most)
    for value in (most + 1, np.int64(most + 1)):
        with pytest.raises(ArgumentError, match=f"rows must be {words}, got"):
            checks.whole("rows", value, 1, most)
    with pytest.raises(ArgumentError, match="at least 1"):
        checks.whole("rows", 0, 1, most)


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
    *(FRAME["name"], FRAME, FRAME.count, partial(len, FRAME), pl.Series(ROWS), pa.array(ROWS)),
    *(np.array(ROWS), [0, FRAME["name"]], {"column": [(FRAME,)]}),
]


@pytest.mark.parametrize("refuse", [checks.fail, checks.fail_type])
def test_a_message_shows_no_rows_that_stand_in_the_place_of_an_argument(refuse):
    for rows in HOLD_ROWS:
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
