"""Checks of arguments that have a limit above, or kinds of dtypes."""

import numpy as np
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
